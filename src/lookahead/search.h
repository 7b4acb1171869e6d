// Heuristic search over projected states: a plan that is short enough, a proof that there is none, or which budget
// ended.
//
//     SearchResult result = find_plan(program, evaluator, state, actions_left, budget);
//     if (result.outcome == SearchResult::Outcome::kFound) follow(result.plan);
//
// States are projected states of program.total_words() words with their derived part up to date; plans consist of
// relevant actions and are legal in the full task, too (see task/program.h). Deterministic; both count what they do, and
// throw Stopped when the meter says so. A call allocates its own memory and frees it; the program may be shared, the evaluator may not.
#ifndef METACTRL_SRC_LOOKAHEAD_SEARCH_H_
#define METACTRL_SRC_LOOKAHEAD_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lookahead/relaxed.h"
#include "lookahead/spending.h"
#include "metactrl/lookahead.h"
#include "support/meter.h"
#include "task/program.h"

namespace metactrl::lookahead {

struct SearchResult {
  enum class Outcome : std::uint8_t {
    kFound,    // `plan` leads to the goal within the length asked for
    kRefuted,  // no plan of that length exists
    kBudget,   // `limit` ended the search first
  };
  Outcome outcome = Outcome::kBudget;
  std::vector<ActionId> plan;
  std::size_t left_out = 0;  // steps that `plan` had when it was found, and does not need
  Limit limit = Limit::kNone;
  std::size_t evaluated = 0;  // states whose heuristic value (or, without heuristic, goal test) was computed
  std::size_t expanded = 0;
  std::uint64_t work = 0;  // steps, as Budget::work
  // Every plan from the state has at least this many actions; kInfinite when there is none at all.
  unsigned lower_bound = 0;
};

// Any plan of at most `max_length` actions, preferring short ones but promising nothing. Pass kInfinite for no bound.
//
// In large tasks a greedy search among the actions that the goal asks for (focus.h) comes first. Then two searches take
// turns, each turn twice as long as the one before. The greedy one (lazy best-first with FF and
// preferred operators, following relaxed plans as far as they can be executed) ignores the bound and usually ends the
// matter after a few states; if it exhausts all states there is no plan of any length. The bounded one looks at states
// that some plan of the length asked for could visit (g + h_max <= max_length) and so proves, when it exhausts them,
// that there is none.
SearchResult find_plan(const task::Program& program, RelaxedEvaluator& evaluator, const task::Word* state,
                       unsigned max_length, const Budget& budget, internal::Meter& meter = internal::no_meter());

// A shortest plan, if it has at most `max_length` actions. Breadth-first on half of the budget (an expansion costs a
// small part of an evaluation), then A* with h_max.
SearchResult find_shortest(const task::Program& program, RelaxedEvaluator& evaluator, const task::Word* state,
                           unsigned max_length, const Budget& budget, internal::Meter& meter = internal::no_meter());

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_SEARCH_H_
