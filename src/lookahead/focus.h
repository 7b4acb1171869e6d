// Focus: the actions that the goal asks for from a state, and a search space of them alone.
//
//     std::unique_ptr<Focus> focus = find_focus(evaluator, state);
//     if (focus) GreedySearch(*focus, ...);      // may miss a plan; what it finds is one
//
// In a flat of a thousand things the goals speak of six, but every thing could be taken up to be put down again, so
// every thing counts for whoever wants to be complete. A focus leaves out what only undoes itself. It is a guess: a plan
// that is found in it is a plan, and that there is none in it says nothing.
//
// Costs: one evaluation of the whole relaxed task, then the size of what is kept.
#ifndef METACTRL_SRC_LOOKAHEAD_FOCUS_H_
#define METACTRL_SRC_LOOKAHEAD_FOCUS_H_

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "lookahead/relaxed.h"
#include "task/program.h"

namespace metactrl::lookahead {

// Which actions a search looks at: all relevant ones, or some.
class ActionSpace {
 public:
  // All relevant actions of the program.
  explicit ActionSpace(const task::Program& program) : program_(program) {}
  // These relevant actions, ascending.
  ActionSpace(const task::Program& program, std::vector<ActionId> actions);

  const task::Program& program() const { return program_; }
  bool complete() const { return !some_; }
  std::span<const ActionId> actions() const { return some_ ? actions_ : program_.relevant_action_list(); }
  // Appends, ascending, those whose precondition holds.
  void applicable(const task::Word* state, std::vector<ActionId>& out) const;

 private:
  const task::Program& program_;
  bool some_ = false;
  std::vector<ActionId> actions_;
  task::SuccessorTree tree_;
};

// An ActionSpace with the relaxed task of its actions. Shareable.
struct Focus {
  Focus(const task::Program& program, std::vector<ActionId> actions)
      : space(program, std::move(actions)), relaxed(program, space.actions()) {}
  ActionSpace space;
  RelaxedTask relaxed;
};

// The actions that the goal asks for from `state`, and `besides`; nothing when they are more than half of all, or when
// the goal is out of reach even in the relaxation. `evaluator` is one of the whole task.
std::unique_ptr<const Focus> find_focus(RelaxedEvaluator& evaluator, const task::Word* state,
                                        std::span<const ActionId> besides = {});

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_FOCUS_H_
