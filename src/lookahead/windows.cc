// From the start to the end of the plan, each window begins in the middle of the one before. Where a way that is cheaper
// was found, and the rest of the plan could be executed behind it, the same place is looked at again.
#include "lookahead/windows.h"

#include <algorithm>
#include <utility>

#include "lookahead/plan_needs.h"
#include "lookahead/spending.h"
#include "lookahead/weighted_search.h"

namespace metactrl::lookahead {

namespace {

using task::Literal;
using task::Word;

class WindowFinder {
 public:
  WindowFinder(const WindowTools& tools, const WindowLimits& limits, internal::Meter& meter)
      : tools_(tools), program_(tools.space.program()), limits_(limits), meter_(meter) {}

  bool run(const Word* state, std::vector<ActionId>& plan) {
    bool found = false;
    now_.assign(state, state + program_.total_words());
    find_needs(plan);
    const std::size_t stride = std::max<std::size_t>(1, limits_.actions / 2);
    for (std::size_t place = 0; place < plan.size() && work_ < limits_.work;) {
      const std::size_t end = std::min(place + limits_.actions, plan.size());
      if (replace(plan, place, end)) {
        found = true;
        find_needs(plan);
        continue;
      }
      if (end == plan.size()) break;
      for (const std::size_t until = place + stride; place < until; ++place) {
        step(plan[place]);
      }
    }
    tools_.evaluator.aim_at({});
    return found;
  }

  std::uint64_t work() const { return work_; }

 private:
  void find_needs(std::span<const ActionId> plan) {
    needs_ = needs_along(program_, plan);
    for (const std::vector<std::uint32_t>& needs : needs_) work_ += 1 + needs.size();
  }

  bool step(ActionId action) {
    work_ += copy_work(program_);
    next_.resize(now_.size());
    if (!program_.applicable(now_.data(), action) || !program_.apply(now_.data(), action, next_.data())) return false;
    program_.project(next_.data());
    now_.swap(next_);
    return true;
  }

  bool replace(std::vector<ActionId>& plan, std::size_t place, std::size_t end) {
    const auto window = std::span(plan).subspan(place, end - place);
    WeightedSearch::Wanted wanted;
    wanted.bound = {tools_.costs.sum(window), window.size()};
    wanted.max_length = limits_.length - static_cast<unsigned>(plan.size() - window.size());
    std::vector<PropositionId> aims;
    if (end < plan.size()) {
      wanted.literals = needs_[end];
      for (const std::uint32_t code : needs_[end]) {
        if (const auto aim = tools_.evaluator.task().proposition(Literal{code})) aims.push_back(*aim);
      }
    }
    tools_.evaluator.aim_at(std::move(aims));
    WeightedSearch search(tools_.space, tools_.evaluator, tools_.costs, tools_.weights, now_.data(), wanted,
                          limits_.greed);
    Budget budget;
    budget.work = limits_.work - work_;
    Spending spending(budget, meter_);
    Limit limit = Limit::kNone;
    const Status status = search.run(limits_.evaluations, spending, {}, limit);
    work_ += search.work();
    return status == Status::kFound && put_in(plan, place, end, search.plan());
  }

  // Puts `path` in place of the window, unless the rest cannot be executed behind it.
  bool put_in(std::vector<ActionId>& plan, std::size_t place, std::size_t end, std::span<const ActionId> path) {
    std::vector<ActionId> better(plan.begin(), plan.begin() + static_cast<std::ptrdiff_t>(place));
    better.insert(better.end(), path.begin(), path.end());
    better.insert(better.end(), plan.begin() + static_cast<std::ptrdiff_t>(end), plan.end());
    const std::vector<Word> before = now_;
    const bool good = std::all_of(better.begin() + static_cast<std::ptrdiff_t>(place), better.end(),
                                  [this](ActionId action) { return step(action); }) &&
                      program_.is_goal(now_.data());
    now_ = before;
    if (good) plan = std::move(better);
    return good;
  }

  const WindowTools& tools_;
  const task::Program& program_;
  const WindowLimits& limits_;
  internal::Meter& meter_;
  std::vector<Word> now_;  // before the window
  std::vector<Word> next_;
  std::vector<std::vector<std::uint32_t>> needs_;
  std::uint64_t work_ = 0;
};

}  // namespace

std::optional<std::vector<ActionId>> replan_windows(const WindowTools& tools, const Word* state,
                                                    std::vector<ActionId> plan, const WindowLimits& limits,
                                                    internal::Meter& meter, std::uint64_t& spent) {
  WindowFinder finder(tools, limits, meter);
  const bool found = finder.run(state, plan);
  spent += finder.work();
  return found ? std::optional(std::move(plan)) : std::nullopt;
}

}  // namespace metactrl::lookahead
