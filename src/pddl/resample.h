// New problems from a problem: the same domain, the same kinds of objects, another task.
//
//     ProblemResampler resampler(problem_text);
//     if (std::optional<std::string> other = resampler.sample(seed)) ...   // PDDL text
//
// Objects are of one kind when they have the same declared type and the same unary facts at the start. Within a kind
// they trade places, by one permutation in the initial facts and another one in the goal, and some of the goal's
// conjuncts are left out. What comes out is well formed for the same domain, and never the problem itself (its facts
// and goals as sets). Whether it has a plan is not looked at.
//
// Immutable; the same seed gives the same problem.
#ifndef METACTRL_SRC_PDDL_RESAMPLE_H_
#define METACTRL_SRC_PDDL_RESAMPLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace metactrl::pddl {

class ProblemResampler {
 public:
  // `problem` must be one that load_pddl accepts.
  explicit ProblemResampler(std::string_view problem);

  // Nothing when the draw is the problem itself. A problem without two objects of a kind and with a single goal has no
  // others.
  std::optional<std::string> sample(std::uint64_t seed) const;
  // Facts and goals as sorted text: equal for problems that differ in order only.
  static std::string canonical(std::string_view problem);

 private:
  // A name, or a list.
  struct Node {
    std::string name;
    std::vector<Node> members;
    bool is_list = false;
  };
  using Renaming = std::map<std::string, std::string>;

  static Node read(std::string_view text);
  static void write(const Node& node, std::string& out);
  static std::string canonical(const Node& root);
  static void rename(Node& node, const Renaming& renaming);
  static Node* section(Node& root, std::string_view head);
  void find_kinds();

  Node root_;
  std::string own_;                              // canonical
  std::vector<std::vector<std::string>> kinds_;  // of at least two objects
};

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_RESAMPLE_H_
