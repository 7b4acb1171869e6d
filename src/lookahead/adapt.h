// A known plan, made to fit behind an action it did not foresee. Without search.
//
//     PlanAdapter adapter(program);
//     // `plan` leads to the goal from a state; `action` was taken there instead and led to `state`.
//     if (adapter.adapt(state, action, plan, actions_left)) follow(adapter.result());
//
// Every result was executed from `state` to the goal: it is a proof, like a plan that a search found. That nothing fits
// proves nothing.
//
// Costs: linear in the plan's length for each of a few ways to fit it (adapt.cc). Allocates nothing after the first few
// calls. One per thread.
#ifndef METACTRL_SRC_LOOKAHEAD_ADAPT_H_
#define METACTRL_SRC_LOOKAHEAD_ADAPT_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "task/program.h"

namespace metactrl::lookahead {

class PlanAdapter {
 public:
  // Keeps a reference: `program` must outlive this.
  explicit PlanAdapter(const task::Program& program);
  explicit PlanAdapter(const task::Program&& program) = delete;

  // A plan of at most `max_length` actions from the projected `state`, into result(). False when no way fits.
  bool adapt(const task::Word* state, ActionId action, const std::vector<ActionId>& plan, unsigned max_length);
  const std::vector<ActionId>& result() const { return result_; }

 private:
  // Two objects that change their places.
  struct Swap {
    ObjectId from{};
    ObjectId to{};
  };

  void append(const std::vector<ActionId>& plan, std::pair<std::size_t, std::size_t> range, const Swap& swap);
  bool take_place(const task::Word* state, const std::vector<ActionId>& plan, std::size_t place, const Swap& swap,
                  unsigned max_length, unsigned mends);
  bool execute(const task::Word* state, const std::vector<ActionId>& actions, unsigned max_length, unsigned mends);
  bool step(ActionId action);
  bool step_like(ActionId action);

  const task::Program& program_;
  std::vector<ActionId> result_;
  std::vector<ActionId> attempt_;
  std::vector<task::Word> state_;
  std::vector<task::Word> next_;
  std::vector<ActionId> possible_;
  task::ActionSymbol symbol_;
};

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_ADAPT_H_
