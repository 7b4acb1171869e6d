// What a VirtualHome prompt says, for both modules, and the PDDL problem it makes.
//
// The two modules show the same things in different words: objects with properties, states of a few of them, a few
// edges, goals. Their readers fill a PromptScene; make_problem writes it down for the domains virtualhome-actions and
// virtualhome-subgoals, whose predicates say what is known.
#ifndef METACTRL_SRC_BENCHMARKS_VIRTUALHOME_PROMPT_SCENE_H_
#define METACTRL_SRC_BENCHMARKS_VIRTUALHOME_PROMPT_SCENE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/prompt_task.h"

namespace metactrl::benchmarks::virtualhome {

struct PromptScene {
  struct Object {
    std::string name;
    std::string id;
    std::vector<std::string> properties;
    bool room = false;
    bool character = false;
    // False where the evaluator cannot read the name in an answer. Such an object is not part of the problem; what is known
    // about others because of it is.
    bool spoken = true;
    std::vector<std::string> states;  // those that are known
    std::string pddl() const { return name + "_" + id; }
  };
  struct Edge {
    std::size_t from;
    std::string relation;  // in the words of the executor: ON, INSIDE, CLOSE, FACING, HOLDS_RH, HOLDS_LH, BETWEEN
    std::size_t to;
  };
  struct NodeGoal {
    std::size_t object;
    std::string state;
  };
  // A goal line about an object that is not listed.
  struct LostGoal {
    std::size_t line;
    std::string text;
  };

  std::string title;
  std::vector<Object> objects;
  bool posture_shown = false;  // the character's states are complete
  std::vector<Edge> edges;
  std::vector<NodeGoal> node_goals;
  std::vector<Edge> edge_goals;
  std::vector<LostGoal> lost_goals;
  std::vector<std::vector<std::string>> action_goals;  // lines of alternatives, in order
  std::vector<std::string> notes;
};

// How the order of two action goals is held.
enum class ActionOrder {
  kEither,   // the evaluator does not fix it: both orders at once
  kPrompt,   // by goals
  kTracked,  // by the domain, which grants a wish only after those before it
};

// How a module wants its problem.
struct ProblemStyle {
  std::string domain;
  bool character_is_object = false;  // atoms name the character
  ActionOrder order = ActionOrder::kEither;
  bool can_stand_up = false;  // there is an action for it
};

PromptTask make_problem(const PromptScene& scene, const ProblemStyle& style);

}  // namespace metactrl::benchmarks::virtualhome

#endif  // METACTRL_SRC_BENCHMARKS_VIRTUALHOME_PROMPT_SCENE_H_
