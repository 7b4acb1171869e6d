// The relaxation is an AND/OR graph: an operator (AND) fires when enough of its preconditions are reached, a
// proposition (OR) is reached when one of its operators fires or when it holds in the state.
//
// h_max: the cost of an operator is its own plus the largest among its preconditions. All costs are 0 or 1, so a
// breadth-first sweep by levels suffices; "at least n of" fires with its n-th cheapest precondition, which the sweep
// reaches in that order.
//
// h_ff: the cost of an operator is its own plus the sum over its preconditions; a bucket queue settles propositions by
// cost. Each proposition remembers the operator that reached it (all of that operator's preconditions were settled
// before, so the supporters form no cycle) and the relaxed plan is collected backwards from the goal. Sums are cut off
// at kMaxSum, beyond which the order of settling no longer follows the cost exactly; the plan is still a relaxed plan.
#include "lookahead/relaxed.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace metactrl::lookahead {

namespace {

using task::kNoAction;
using task::Monitor;
using task::MonitorDefinition;
using task::Word;

constexpr std::uint32_t kNoOperator = 0xffffffffU;
constexpr std::uint32_t kNotSettled = 0xffffffffU;
constexpr std::uint32_t kMaxSum = 1U << 16;
constexpr std::uint64_t kCleared = 16;  // numbers that are reset in the time of a step

}  // namespace

RelaxedEvaluator::RelaxedEvaluator(const RelaxedTask& task)
    : task_(task),
      cost_(task.num_propositions()),
      supporter_(task.num_propositions()),
      rank_(task.num_propositions()),
      missing_(task.num_operators()),
      sum_(task.num_operators()),
      required_(task.num_propositions()),
      in_plan_(task.program().num_actions()),
      place_(task.program().num_actions()),
      alone_(task.program().num_actions()) {}

void RelaxedEvaluator::reset() {
  std::fill(cost_.begin(), cost_.end(), kInfinite);
  std::copy(task_.needed_.begin(), task_.needed_.end(), missing_.begin());
}

unsigned RelaxedEvaluator::h_max(const Word* state) {
  reset();
  now_.clear();
  next_.clear();
  task_.for_each_true(state, [this](PropositionId proposition) {
    cost_[proposition] = 0;
    now_.push_back(proposition);
  });
  for (std::uint32_t level = 0; !now_.empty(); ++level) {
    for (std::size_t i = 0; i < now_.size(); ++i) {
      const PropositionId proposition = now_[i];
      if (cost_[proposition] < level) continue;  // an operator of cost 0 got there on an earlier level
      if (proposition == task_.goal_) return level;
      for (std::uint32_t u = task_.first_user_[proposition]; u < task_.first_user_[next_of(proposition)]; ++u) {
        const std::uint32_t o = task_.users_[u];
        if (--missing_[o] != 0) continue;  // one that fired wraps around and never gets back to 0
        const RelaxedTask::Operator& op = task_.operators_[o];
        const std::uint32_t cost = level + op.cost;
        for (const PropositionId effect : task_.effects(op)) {
          if (cost_[effect] <= cost) continue;
          cost_[effect] = cost;
          (op.cost == 0 ? now_ : next_).push_back(effect);
        }
      }
    }
    now_.swap(next_);
    next_.clear();
  }
  return kInfinite;
}

void RelaxedEvaluator::enqueue(PropositionId proposition, std::uint32_t cost, std::uint32_t supporter) {
  if (cost_[proposition] <= cost) return;
  cost_[proposition] = cost;
  supporter_[proposition] = supporter;
  rank_[proposition] = kNotSettled;
  if (cost >= used_buckets_) used_buckets_ = cost + 1;
  if (used_buckets_ > buckets_.size()) buckets_.resize(used_buckets_);
  buckets_[cost].push_back(proposition);
}

void RelaxedEvaluator::aim_at(std::vector<PropositionId> propositions) {
  if (aimed_at_.empty()) aimed_at_.resize(task_.num_propositions());
  for (const PropositionId aim : aims_) aimed_at_[aim] = 0;
  aims_ = std::move(propositions);
  for (const PropositionId aim : aims_) ++aimed_at_[aim];
}

// False when the goal is unreachable. Ends when the goal is reached, unless `everything` is asked for.
bool RelaxedEvaluator::explore_sums(const Word* state, bool everything) {
  reset();
  std::fill(sum_.begin(), sum_.end(), 0);
  steps_ += (cost_.size() + 2 * sum_.size()) / kCleared;
  for (std::size_t cost = 0; cost < used_buckets_; ++cost) buckets_[cost].clear();
  used_buckets_ = 0;
  task_.for_each_true(state, [this](PropositionId proposition) { enqueue(proposition, 0, kNoOperator); });
  std::uint32_t settled = 0;
  std::size_t to_come = aims_.size();
  for (std::uint32_t cost = 0; cost < used_buckets_; ++cost) {
    for (std::size_t i = 0; i < buckets_[cost].size(); ++i) {
      const PropositionId proposition = buckets_[cost][i];
      if (cost_[proposition] < cost) continue;
      rank_[proposition] = settled++;
      if (to_come != 0) {
        to_come -= aimed_at_[proposition];
        if (to_come == 0 && !everything) return true;
      } else if (proposition == task_.goal_ && !everything) {
        return true;
      }
      steps_ += 1 + task_.first_user_[next_of(proposition)] - task_.first_user_[proposition];
      for (std::uint32_t u = task_.first_user_[proposition]; u < task_.first_user_[next_of(proposition)]; ++u) {
        const std::uint32_t o = task_.users_[u];
        sum_[o] = std::min(sum_[o] + cost, kMaxSum);
        if (--missing_[o] != 0) continue;
        const RelaxedTask::Operator& op = task_.operators_[o];
        const std::uint32_t reached = std::min(sum_[o] + op.weight, kMaxSum);
        steps_ += op.num_effects;
        for (const PropositionId effect : task_.effects(op)) enqueue(effect, reached, o);
        // All that it needs is settled, and nothing else leads there: no need to settle what is cheaper than the sum.
        if (task_.goal_joined_ && aims_.empty() && cost_[task_.goal_] != kInfinite && !everything) return true;
      }
    }
  }
  return aims_.empty() ? cost_[task_.goal_] != kInfinite : to_come == 0;
}

void RelaxedEvaluator::require(PropositionId proposition) {
  if (required_[proposition] == generation_) return;
  required_[proposition] = generation_;
  stack_.push_back(proposition);
}

void RelaxedEvaluator::require_preconditions(const RelaxedTask::Operator& op) {
  const auto preconditions = task_.preconditions(op);
  if (op.needed == op.num_preconditions) {
    for (const PropositionId precondition : preconditions) require(precondition);
    return;
  }
  // Those that made it fire: the ones settled first.
  by_rank_.clear();
  for (const PropositionId precondition : preconditions) {
    if (cost_[precondition] != kInfinite) by_rank_.push_back(precondition);
  }
  std::sort(by_rank_.begin(), by_rank_.end(), [this](PropositionId a, PropositionId b) { return rank_[a] < rank_[b]; });
  assert(op.needed <= by_rank_.size());
  for (std::size_t i = 0; i < op.needed; ++i) require(by_rank_[i]);
}

// Leaves the plan in plan_, each action once, earliest first, and returns the sum of its weights.
unsigned RelaxedEvaluator::extract_plan() {
  if (++generation_ == 0) {
    std::fill(required_.begin(), required_.end(), 0);
    std::fill(in_plan_.begin(), in_plan_.end(), 0);
    std::fill(alone_.begin(), alone_.end(), 0);
    generation_ = 1;
  }
  plan_.clear();
  stack_.clear();
  unsigned length = 0;
  if (aims_.empty()) require(task_.goal_);
  for (const PropositionId aim : aims_) require(aim);
  while (!stack_.empty()) {
    const PropositionId proposition = stack_.back();
    stack_.pop_back();
    if (supporter_[proposition] == kNoOperator) continue;
    const RelaxedTask::Operator& op = task_.operators_[supporter_[proposition]];
    if (op.action != kNoAction) {
      const bool known = in_plan_[op.action] == generation_;
      // A step of a sequence needs an occurrence of its own, which then serves the action's other effects, too.
      const bool served = op.counts_alone && known && alone_[op.action] != generation_;
      if (!known || (op.counts_alone && !served)) length += op.weight;
      if (!known) {
        place_[op.action] = static_cast<std::uint32_t>(plan_.size());
        plan_.push_back({op.action, proposition});
      } else if (rank_[proposition] < rank_[plan_[place_[op.action]].proposition]) {
        plan_[place_[op.action]].proposition = proposition;
      }
      in_plan_[op.action] = generation_;
      if (op.counts_alone) alone_[op.action] = generation_;
    }
    require_preconditions(op);
  }
  // A proposition has one supporter, so no two steps have the same: no ties.
  std::sort(plan_.begin(), plan_.end(),
            [this](const RelaxedStep& a, const RelaxedStep& b) { return rank_[a.proposition] < rank_[b.proposition]; });
  return length;
}

unsigned RelaxedEvaluator::h_ff(const Word* state, std::vector<ActionId>* preferred) {
  if (preferred != nullptr) preferred->clear();
  if (!explore_sums(state)) return kInfinite;
  const unsigned length = extract_plan();
  if (preferred != nullptr) {
    for (const RelaxedStep& step : plan_) {
      if (task_.program().applicable(state, step.action)) preferred->push_back(step.action);
    }
    std::sort(preferred->begin(), preferred->end());
  }
  return length;
}

std::size_t RelaxedEvaluator::memory_bytes() const {
  std::size_t words = cost_.capacity() + supporter_.capacity() + rank_.capacity() + missing_.capacity() +
                      sum_.capacity() + now_.capacity() + next_.capacity() + required_.capacity() +
                      in_plan_.capacity() + place_.capacity() + alone_.capacity() + stack_.capacity() +
                      2 * plan_.capacity() + by_rank_.capacity();
  for (const std::vector<PropositionId>& bucket : buckets_) words += bucket.capacity();
  return words * sizeof(std::uint32_t) + buckets_.capacity() * sizeof(buckets_[0]);
}

}  // namespace metactrl::lookahead
