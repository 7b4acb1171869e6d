// New prompts from a benchmark's: the same text, other objects of the same category.
//
//     PromptResampler resampler(*find_module("vh-as"), prompts);
//     std::optional<std::string> other = resampler.sample(3, seed);    // from the fourth prompt
//
// This is the paper's category-preserving substitution: every name of an object in a prompt may be replaced, all over
// its task part, by another name that some prompt gives to an object of the same category. In VirtualHome a category is
// a set of properties; in BEHAVIOR, the abilities that the taxonomy gives a synset. Rooms, the character and the agent
// stay. A result is never one of the prompts, and can be read (Module::read).
//
// Immutable; the same seed gives the same prompt.
#ifndef METACTRL_SRC_BENCHMARKS_SUBSTITUTE_H_
#define METACTRL_SRC_BENCHMARKS_SUBSTITUTE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/evaluate.h"
#include "benchmarks/module.h"

namespace metactrl::benchmarks {

class PromptResampler {
 public:
  PromptResampler(const Module& module, const std::vector<PromptEntry>& prompts);

  // Nothing when no object of the prompt has another of its category, or the draw cannot be read.
  std::optional<std::string> sample(std::size_t prompt, std::uint64_t seed) const;

 private:
  // What an object is called: its name without a number, and the word for its class where the prompt has one.
  struct Kind {
    std::string base;
    std::string word;
    auto operator<=>(const Kind&) const = default;
  };
  struct Object {
    std::string name;    // as in the prompt
    std::string suffix;  // what `name` has behind kind.base
    Kind kind;
    std::string category;  // empty: not to be replaced
  };
  struct Source {
    std::string text;
    std::size_t task = 0;  // where the part begins that belongs to the task
    std::vector<Object> objects;
  };

  static std::vector<Object> find_objects(std::string_view task);

  const Module& module_;
  std::vector<Source> sources_;
  std::map<std::string, std::set<Kind>> pool_;  // by category
  std::set<std::string> own_;                   // the prompts' task parts
};

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_SUBSTITUTE_H_
