// Delete relaxation of a task: lower bounds, relaxed plans and helpful actions.
//
//     RelaxedTask relaxed(program);               // once per task, immutable, shareable
//     RelaxedEvaluator evaluator(relaxed);        // one per thread
//     if (evaluator.h_max(state) > actions_left)  // a proof that the goal is out of reach
//     ...
//     std::vector<ActionId> helpful;
//     unsigned estimate = evaluator.h_ff(state, &helpful);
//
// A task of some of the actions, for a search that looks at no others (focus.h), and one whose relaxed plans are cheap
// rather than short:
//
//     RelaxedTask some(program, actions);
//     RelaxedTask cheap(program, actions, weights);
//
// In the relaxation nothing that was once true becomes false again. Propositions are the literals that conditions
// mention (a fact that is required to be false has a proposition of its own), the inner nodes of nested conditions, and
// the progress of the trajectory monitors. Operators are the effects of relevant actions (cost 1) and the ways to
// satisfy an inner node or to derive a fact (cost 0).
//
// What the relaxation does not model it takes for granted: negated derived facts, negated matchings, and the
// constraints that forbid (`always`, `at-most-once`, `sometime-before`). Every plan of the task is therefore a plan of
// the relaxation, which makes h_max admissible (never more than the number of actions needed) and an infinite value a
// proof that the goal is unreachable.
//
// Costs: an evaluation is linear in the reachable part of the relaxed task. An evaluator allocates nothing after the
// first few evaluations.
#ifndef METACTRL_SRC_LOOKAHEAD_RELAXED_H_
#define METACTRL_SRC_LOOKAHEAD_RELAXED_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "support/ids.h"
#include "task/program.h"

namespace metactrl::lookahead {

using internal::ids;
using internal::IdVector;
using internal::index;
using internal::next_of;
using internal::to_id;

// What can be reached in a RelaxedTask.
enum class PropositionId : std::uint32_t {};

// Of the propositions for "so many steps of a sequence are done", which follow one another, the one for `done`.
inline PropositionId step_done(PropositionId first, std::uint32_t done) { return PropositionId{index(first) + done}; }

// The value of a state from which the goal is unreachable even in the relaxation.
inline constexpr unsigned kInfinite = std::numeric_limits<unsigned>::max();

class RelaxedTask {
 public:
  // Keeps a reference: `program` must outlive this.
  explicit RelaxedTask(const task::Program& program);
  explicit RelaxedTask(const task::Program&& program) = delete;
  // Of these relevant actions only, ascending: what it says of distances holds for plans of them. `weights`, by action,
  // is what h_ff sums instead of counting actions; none: 1 each.
  RelaxedTask(const task::Program& program, std::span<const ActionId> actions,
              std::span<const std::uint32_t> weights = {});

  const task::Program& program() const { return program_; }
  std::size_t num_propositions() const { return num_propositions_; }
  std::size_t num_operators() const { return operators_.size(); }
  // Steps (Budget::work) for one evaluation, of a state from which everything can be reached.
  std::uint64_t evaluation_work() const { return operators_.size() + preconditions_.size() + effects_.size(); }
  std::size_t memory_bytes() const;

  // The proposition that always holds.
  static constexpr PropositionId kTrue{0};
  // Calls reach(proposition) for everything that holds in the state; for some more than once.
  template <typename Reach>
  void for_each_true(const task::Word* state, const Reach& reach) const;

  // The literal that a proposition stands for; nothing for inner nodes of conditions and for monitors.
  std::optional<task::Literal> literal(PropositionId proposition) const {
    if (literals_[proposition] == kNoLiteral) return std::nullopt;
    return task::Literal{literals_[proposition]};
  }
  // The proposition that stands for a literal, if a condition mentions it.
  std::optional<PropositionId> proposition(task::Literal literal) const {
    const PropositionId found = of_literal_[literal.code];
    return found == kNoProposition ? std::nullopt : std::optional(found);
  }
  // The actions that can make a proposition true, ascending.
  std::span<const ActionId> achievers(PropositionId proposition) const {
    const std::uint32_t first = first_achiever_[proposition];
    return {achievers_.data() + first, first_achiever_[next_of(proposition)] - first};
  }

 private:
  friend class RelaxedBuilder;
  friend class RelaxedEvaluator;
  friend class FocusFinder;
  friend class LandmarkCut;

  static constexpr std::uint32_t kNoLiteral = 0xffffffffU;
  static constexpr PropositionId kNoProposition{0xffffffffU};

  // Fires when `needed` of its preconditions are reached: all of them, or fewer for "at least n of".
  struct Operator {
    ActionId action = task::kNoAction;
    std::uint32_t needed = 0;
    std::uint32_t cost = 0;     // 1 for what an action does
    std::uint32_t weight = 0;   // what h_ff sums
    bool counts_alone = false;  // a step of an action sequence: the action is needed once for this step alone
    std::uint32_t first_precondition = 0;
    std::uint32_t num_preconditions = 0;
    std::uint32_t first_effect = 0;
    std::uint32_t num_effects = 0;
  };
  // True in a state in which the literal holds.
  struct Source {
    task::Literal literal;
    PropositionId proposition{};
  };
  // A trajectory monitor that has to accept at the end.
  struct Duty {
    std::uint32_t monitor = 0;
    PropositionId first_proposition{};  // kActionsInOrder: i steps done; otherwise: fulfilled
  };

  std::span<const PropositionId> preconditions(const Operator& op) const {
    return {preconditions_.data() + op.first_precondition, op.num_preconditions};
  }
  std::span<const PropositionId> effects(const Operator& op) const {
    return {effects_.data() + op.first_effect, op.num_effects};
  }

  const task::Program& program_;
  std::size_t num_propositions_ = 0;
  std::vector<Operator> operators_;
  std::vector<PropositionId> preconditions_;
  std::vector<PropositionId> effects_;
  std::vector<std::uint32_t> needed_;                      // per operator, contiguous for resetting the counters
  IdVector<PropositionId, std::uint32_t> first_user_;      // one more at the end: range of users_
  std::vector<std::uint32_t> users_;                       // operators that have the proposition as a precondition
  IdVector<PropositionId, std::uint32_t> first_achiever_;  // one more at the end: range of achievers_
  std::vector<ActionId> achievers_;
  IdVector<PropositionId, std::uint32_t> first_maker_;  // one more at the end: range of makers_
  std::vector<std::uint32_t> makers_;                   // operators that have the proposition as an effect
  IdVector<PropositionId, std::uint32_t> literals_;     // code
  std::vector<PropositionId> of_literal_;               // by code
  std::vector<Source> sources_;
  std::vector<Duty> duties_;
  IdVector<GoalId, PropositionId> goal_propositions_;
  PropositionId goal_{};      // all of them
  bool goal_joined_ = false;  // goal_ is reached by one operator, which costs nothing
};

template <typename Reach>
void RelaxedTask::for_each_true(const task::Word* state, const Reach& reach) const {
  reach(kTrue);
  for (const Source& source : sources_) {
    if (source.literal.holds(state)) reach(source.proposition);
  }
  for (const Duty& duty : duties_) {
    const task::Monitor& monitor = program_.monitors()[duty.monitor];
    if (monitor.kind == task::MonitorDefinition::Kind::kActionsInOrder) {
      std::uint32_t done = monitor.num_bits;
      while (done > 0 && !task::test_bit(state, monitor.first_bit + done - 1)) --done;
      reach(step_done(duty.first_proposition, done));
    } else if (program_.monitor_accepts(monitor, state)) {
      reach(duty.first_proposition);
    }
  }
}

// An action of a relaxed plan and the first thing it is needed for.
struct RelaxedStep {
  ActionId action{};
  PropositionId proposition{};
};

class RelaxedEvaluator {
 public:
  // Keeps a reference: `task` must outlive this.
  explicit RelaxedEvaluator(const RelaxedTask& task);
  explicit RelaxedEvaluator(const RelaxedTask&& task) = delete;

  // All states are projected states of total_words() words with their derived part up to date.

  // At most the number of actions needed to reach the goal.
  unsigned h_max(const task::Word* state);
  // The length (with weights: their sum) of a relaxed plan built from the cheapest achievers (by sums of costs).
  // kInfinite exactly when h_max is.
  // `preferred`, unless null, is overwritten with the actions of that plan that are applicable in `state`, ascending.
  unsigned h_ff(const task::Word* state, std::vector<ActionId>* preferred);
  // From now on h_ff estimates the way to all of these instead of to the goal; none: to the goal again.
  void aim_at(std::vector<PropositionId> propositions);
  // After a finite h_ff: the relaxed plan, each action once, in an order in which they achieve what later ones
  // need.
  const std::vector<RelaxedStep>& relaxed_plan() const { return plan_; }
  // After an evaluation: is this goal of the program reachable on its own in the relaxation?
  bool goal_reachable(GoalId goal) const { return cost_[task_.goal_propositions_[goal]] != kInfinite; }

  const RelaxedTask& task() const { return task_; }
  // Steps (Budget::work) that all calls of h_ff together took: fewer than evaluation_work() each where the goal is near.
  std::uint64_t steps() const { return steps_; }
  std::size_t memory_bytes() const;

 private:
  friend class FocusFinder;

  void reset();
  bool explore_sums(const task::Word* state, bool everything = false);
  void enqueue(PropositionId proposition, std::uint32_t cost, std::uint32_t supporter);
  unsigned extract_plan();
  void require(PropositionId proposition);
  void require_preconditions(const RelaxedTask::Operator& op);

  const RelaxedTask& task_;
  IdVector<PropositionId, std::uint32_t> cost_;
  IdVector<PropositionId, std::uint32_t> supporter_;  // the operator that reached it
  IdVector<PropositionId, std::uint32_t> rank_;       // place in the order in which they were settled, or none yet
  std::vector<std::uint32_t> missing_;                // per operator: preconditions still to be reached
  std::vector<std::uint32_t> sum_;                    // per operator: costs of those that were
  std::vector<std::vector<PropositionId>> buckets_;
  std::size_t used_buckets_ = 0;
  std::uint64_t steps_ = 0;
  std::vector<PropositionId> now_;
  std::vector<PropositionId> next_;
  std::vector<PropositionId> aims_;                  // none: the goal
  IdVector<PropositionId, std::uint32_t> aimed_at_;  // how many of them are this one; empty until there are some
  // Plan extraction.
  std::uint32_t generation_ = 0;
  IdVector<PropositionId, std::uint32_t> required_;  // generation
  IdVector<ActionId, std::uint32_t> in_plan_;        // generation
  IdVector<ActionId, std::uint32_t> place_;          // of those in the plan: index into plan_
  IdVector<ActionId, std::uint32_t> alone_;          // generation, when a step of a sequence already counts it
  std::vector<PropositionId> stack_;
  std::vector<RelaxedStep> plan_;
  std::vector<PropositionId> by_rank_;
};

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_RELAXED_H_
