// What a BEHAVIOR prompt says: objects, facts at the start, goals. Both modules' prompts read into this form, and both
// rules' problems are written from it.
//
//     PromptScene scene = ...;                      // prompt_reader.h
//     PromptTask task = environment_problem(scene, Module::kActions);
//
// Thread safety: plain values.
#ifndef METACTRL_SRC_BENCHMARKS_BEHAVIOR_PROMPT_SCENE_H_
#define METACTRL_SRC_BENCHMARKS_BEHAVIOR_PROMPT_SCENE_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/behavior/prompt_goal.h"
#include "benchmarks/behavior/taxonomy.h"
#include "benchmarks/prompt_lines.h"
#include "benchmarks/prompt_task.h"

namespace metactrl::benchmarks::behavior::prompt {

enum class Module : std::uint8_t { kActions, kSubgoals };

struct PromptObject {
  std::string name;    // "bottom_cabinet_28"
  std::string synset;  // "cabinet.n.01"; empty when the prompt names the object without declaring it
};

struct PromptScene {
  std::string title;
  std::vector<PromptObject> objects;
  std::vector<Atom> init;  // the agent's own place left out
  std::vector<Goal> goals;
  std::vector<std::string> notes;
};

// Reads lines like {'name': 'jar_0', 'category': 'jar.n.01'} up to one that begins with `end`. Throws InputError.
void read_objects(PromptLines& lines, PromptScene& scene, std::string_view end);

// Adds the objects that facts and goals name and the prompt does not declare, with a note each.
void declare_missing_objects(PromptScene& scene);

// The name without its number: the simulator's category.
std::string_view category_of(std::string_view name);

// Whether the evaluator of subgoals can read the name in an answer: it reads an identifier, a dot and a number, takes
// "t-shirt" for "shirt", drops conditions with certain words, and reads a hyphen only as a first character. `name` is as
// in problems, with an underscore in place of the dot.
bool readable_subgoal_name(std::string_view name);

// A scene with everything looked up that both rules ask for.
class SceneIndex {
 public:
  explicit SceneIndex(const PromptScene& scene);

  const PromptScene& scene() const { return scene_; }
  const Kinds& kinds() const { return kinds_; }
  // Stated with this sign.
  bool stated(const Atom& atom) const { return init_.contains(atom); }
  bool stated(std::string_view predicate, const std::string& x) const;
  bool stated(std::string_view predicate, const std::string& x, const std::string& y) const;
  // Every ground atom of any goal.
  const std::set<Atom>& wanted() const { return wanted_; }
  bool is_floor(const std::string& x) const { return floors_.contains(x); }
  // The prompt says where x is at the start. It does so for all things that can be moved, and for no furniture.
  bool placed(const std::string& x) const { return placed_.contains(x); }

 private:
  const PromptScene& scene_;
  Kinds kinds_;
  std::set<Atom> init_;
  std::set<Atom> wanted_;
  std::set<std::string> floors_;
  std::set<std::string> placed_;
};

bool is_place(std::string_view predicate);  // inside, ontop, onfloor, under

// Goals in PDDL. `literal` gives the text of an atom with its sign; variables are written ?x1, ?x2.
using LiteralText = std::string (*)(const Atom& atom);
// "(ontop a b)"
std::string atom_text(std::string_view predicate, const std::vector<std::string>& arguments);
std::string goal_text(const Goal& goal, const Kinds& kinds, LiteralText literal);
std::string options_text(const std::vector<std::vector<Atom>>& options, LiteralText literal);
// "At least n" under a negation, which PDDL has no word for: such a goal is written as its options.
bool counts_negated(const Goal& goal, bool negated = false);

// The problem's text around its parts. Sets `init_end` and `goal_end`. Objects in `spoken` are of that type, all others
// are things.
PromptTask write_problem(const PromptScene& scene, std::string_view domain, const std::vector<std::string>& init,
                         const std::vector<std::string>& goals, const std::set<std::string>& spoken = {});

// The problem under the rules of the benchmark's evaluator: domains/behavior-*/environment.pddl.
PromptTask environment_problem(const PromptScene& scene, Module module);
// The problem under the rules of the paper, as it ran them or as its appendix lists them: domains/behavior-*/paper.pddl.
PromptTask paper_problem(const PromptScene& scene, Module module, Rules rules);

}  // namespace metactrl::benchmarks::behavior::prompt

#endif  // METACTRL_SRC_BENCHMARKS_BEHAVIOR_PROMPT_SCENE_H_
