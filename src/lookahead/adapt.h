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
#include <cstdint>
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
  bool adapt(const task::Word* state, std::uint32_t action, const std::vector<std::uint32_t>& plan,
             unsigned max_length);
  const std::vector<std::uint32_t>& result() const { return result_; }

 private:
  // Two objects that change their places.
  struct Swap {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
  };

  void append(const std::vector<std::uint32_t>& plan, std::pair<std::size_t, std::size_t> range, const Swap& swap);
  bool take_place(const task::Word* state, const std::vector<std::uint32_t>& plan, std::size_t place, const Swap& swap,
                  unsigned max_length, unsigned mends);
  bool execute(const task::Word* state, const std::vector<std::uint32_t>& actions, unsigned max_length, unsigned mends);
  bool step(std::uint32_t action);
  bool step_like(std::uint32_t action);

  const task::Program& program_;
  std::vector<std::uint32_t> result_;
  std::vector<std::uint32_t> attempt_;
  std::vector<task::Word> state_;
  std::vector<task::Word> next_;
  std::vector<std::uint32_t> possible_;
  task::Symbol symbol_;
};

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_ADAPT_H_
