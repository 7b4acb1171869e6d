// Backwards from the goal: for each fact that is wanted and does not hold, its kWays cheapest makers (by the sums of
// h_ff) are looked at, and what they need is wanted, too. A fact that holds is not asked for: what takes it away usually
// is what gives it back (the hand that is free again when the thing is put down). For the same reason an action belongs
// to the focus when all that it needs is wanted or holds, and it makes something that is wanted.
#include "lookahead/focus.h"

#include <algorithm>

namespace metactrl::lookahead {

namespace {

// Walking to a room is possible from every neighbour; freeing a hand by putting down any of a thousand things in any of
// two hundred places is not worth more than the nearest.
constexpr std::size_t kWays = 8;

}  // namespace

ActionSpace::ActionSpace(const task::Program& program, std::vector<ActionId> actions)
    : program_(program), some_(true), actions_(std::move(actions)) {
  tree_.build(actions_, program.num_bits(),
              [&](ActionId action) { return program.precondition(program.action(action)); });
}

void ActionSpace::applicable(const task::Word* state, std::vector<ActionId>& out) const {
  if (!some_) {
    program_.relevant_actions(state, out);
    return;
  }
  const auto begin = static_cast<std::ptrdiff_t>(out.size());
  tree_.match(state, out);
  const auto fails = [&](ActionId action) {
    const task::ConditionId residual = program_.action(action).residual;
    return residual != task::kAlwaysTrue && !program_.conditions().holds(residual, state);
  };
  out.erase(std::remove_if(out.begin() + begin, out.end(), fails), out.end());
  std::sort(out.begin() + begin, out.end());
}

class FocusFinder {
 public:
  explicit FocusFinder(RelaxedEvaluator& evaluator)
      : evaluator_(evaluator), task_(evaluator.task_), wanted_(task_.num_propositions(), false) {}

  std::vector<ActionId> run(const task::Word* state) {
    if (!evaluator_.explore_sums(state, true)) return {};
    want(task_.goal_);
    while (!queue_.empty()) {
      const PropositionId proposition = queue_.back();
      queue_.pop_back();
      if (evaluator_.cost_[proposition] != 0) look_at_makers(proposition);
    }
    return collect();
  }

 private:
  void want(PropositionId proposition) {
    if (wanted_[proposition]) return;
    wanted_[proposition] = true;
    queue_.push_back(proposition);
  }

  // What an operator costs, when it can fire at all.
  std::uint32_t cost_of(std::uint32_t o) const { return evaluator_.sum_[o] + task_.operators_[o].weight; }
  // An operator that fired counted down to 0, or beyond when more was reached than it needs.
  bool fired(std::uint32_t o) const {
    const std::uint32_t missing = evaluator_.missing_[o];
    return missing == 0 || missing > task_.operators_[o].needed;
  }

  void look_at_makers(PropositionId proposition) {
    ways_.clear();
    for (std::uint32_t m = task_.first_maker_[proposition]; m < task_.first_maker_[next_of(proposition)]; ++m) {
      const std::uint32_t o = task_.makers_[m];
      if (!fired(o)) continue;
      if (task_.operators_[o].action == task::kNoAction) {
        want_preconditions(o);
      } else {
        ways_.push_back(o);
      }
    }
    if (ways_.size() > kWays) {
      std::nth_element(ways_.begin(), ways_.begin() + kWays, ways_.end(), [this](std::uint32_t a, std::uint32_t b) {
        return cost_of(a) != cost_of(b) ? cost_of(a) < cost_of(b) : a < b;
      });
      ways_.resize(kWays);
    }
    for (const std::uint32_t o : ways_) want_preconditions(o);
  }

  void want_preconditions(std::uint32_t o) {
    for (const PropositionId precondition : task_.preconditions(task_.operators_[o])) {
      if (evaluator_.cost_[precondition] != kInfinite) want(precondition);
    }
  }

  std::vector<ActionId> collect() const {
    const IdVector<PropositionId, bool> at_hand = find_at_hand();
    std::vector<ActionId> actions;
    for (const RelaxedTask::Operator& op : task_.operators_) {
      if (op.action == task::kNoAction || (!actions.empty() && actions.back() == op.action)) continue;
      const auto effects = task_.effects(op);
      if (std::any_of(effects.begin(), effects.end(), [this](PropositionId p) { return wanted_[p]; }) &&
          enough(op, at_hand)) {
        actions.push_back(op.action);
      }
    }
    return actions;
  }

  bool enough(const RelaxedTask::Operator& op, const IdVector<PropositionId, bool>& at_hand) const {
    const auto preconditions = task_.preconditions(op);
    const auto count =
        std::count_if(preconditions.begin(), preconditions.end(), [&](PropositionId p) { return at_hand[p]; });
    return static_cast<std::uint32_t>(count) >= op.needed;
  }

  // What is wanted or holds, and what follows from that without an action.
  IdVector<PropositionId, bool> find_at_hand() const {
    IdVector<PropositionId, bool> at_hand = wanted_;
    for (const PropositionId p : at_hand.all()) at_hand[p] = at_hand[p] || evaluator_.cost_[p] == 0;
    std::vector<const RelaxedTask::Operator*> rest;
    for (const RelaxedTask::Operator& op : task_.operators_) {
      if (op.action == task::kNoAction) rest.push_back(&op);
    }
    for (std::size_t before = rest.size() + 1; before != rest.size();) {
      before = rest.size();
      std::erase_if(rest, [&](const RelaxedTask::Operator* op) {
        if (!enough(*op, at_hand)) return false;
        for (const PropositionId effect : task_.effects(*op)) at_hand[effect] = true;
        return true;
      });
    }
    return at_hand;
  }

  RelaxedEvaluator& evaluator_;
  const RelaxedTask& task_;
  IdVector<PropositionId, bool> wanted_;
  std::vector<PropositionId> queue_;
  std::vector<std::uint32_t> ways_;
};

std::unique_ptr<const Focus> find_focus(RelaxedEvaluator& evaluator, const task::Word* state,
                                        std::span<const ActionId> besides) {
  std::vector<ActionId> actions = FocusFinder(evaluator).run(state);
  const task::Program& program = evaluator.task().program();
  if (!actions.empty() && !besides.empty()) {
    actions.insert(actions.end(), besides.begin(), besides.end());
    std::sort(actions.begin(), actions.end());
    actions.erase(std::unique(actions.begin(), actions.end()), actions.end());
  }
  if (actions.empty() || actions.size() > program.relevant_action_list().size() / 2) return nullptr;
  return std::make_unique<const Focus>(program, std::move(actions));
}

}  // namespace metactrl::lookahead
