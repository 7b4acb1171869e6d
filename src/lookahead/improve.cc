// In this order, each with a part of the work that is left:
//
//   1. Steps that are not needed are left out, and corners are cut (neighbourhood.h), in growing neighbourhoods.
//   2. A greedy search that takes one action at a time, for a plan of another kind.
//   3. Weighted A*, less greedy each time, for plans that are better than the best known; 1 for each that is found.
//   4. A* with LM-cut, for the proof that no plan is cheaper, or for the cheapest one.
//
// In large tasks, where 4 is out of reach, parts of both plans are planned again first (windows.h), beginning with what
// pays most for what it costs; and shortcuts are looked for (shortcuts.h).
//
// 1 to 3 look at the actions that the goal asks for (focus.h) where those are fewer; 4, and who looks for shortcuts, at
// all.
#include "lookahead/improve.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "lookahead/focus.h"
#include "lookahead/greedy_search.h"
#include "lookahead/needless.h"
#include "lookahead/neighbourhood.h"
#include "lookahead/optimal_search.h"
#include "lookahead/shortcuts.h"
#include "lookahead/spending.h"
#include "lookahead/weighted_search.h"
#include "lookahead/windows.h"

namespace metactrl::lookahead {

namespace {

using task::Program;
using task::Word;

constexpr std::size_t kLongestCut = 2'000;        // steps of a plan that is worth a quadratic pass
constexpr std::size_t kFirstNeighbourhood = 400;  // states
constexpr std::size_t kTurn = 256;                // evaluations between two looks
constexpr unsigned kLongestShortcut = 3;          // actions
constexpr unsigned kGreeds[] = {5, 3, 2, 1};

struct WindowKind {
  std::size_t actions;
  std::size_t evaluations;
  unsigned greed;
};
constexpr WindowKind kWindows[] = {{40, 200, 3}, {30, 200, 2}, {80, 400, 5}, {60, 400, 5},
                                   {60, 600, 3}, {80, 600, 3}, {40, 600, 2}};

class Improver {
 public:
  Improver(const Program& program, RelaxedEvaluator& evaluator, const Word* state, const ImproveOptions& options,
           internal::Meter& meter, Improvement& result)
      : program_(program),
        evaluator_(evaluator),
        state_(state),
        options_(options),
        meter_(meter),
        costs_(program),
        all_(program),
        result_(result),
        now_(&result) {}

  void run(std::vector<ActionId> plan) {
    result_.plan = std::move(plan);
    result_.cost = costs_.sum(result_.plan);
    result_.left_out = options_.left_out;
    const std::uint64_t all = options_.budget.work;
    if (result_.plan.empty()) {
      result_.optimal = true;
      return;
    }
    if (!costs_.has_metric()) result_.lower_bound = std::max<Cost>(1, evaluator_.h_max(state_));
    focus();
    // What comes first is cheap and finds most of what there is to find.
    const std::uint64_t share = options_.prove ? all / 16 : can_prove() ? all / 4 : all / 2;
    if (can_prove()) {
      cut_corners(share / 8);
      if (!at_bound()) step_greedily(share);
    } else {
      replan_parts(share + share / 4);
      shorten(share / 4);
    }
    for (const unsigned greed : kGreeds) {
      if (!at_bound()) search_weighted(greed, share / 4);
    }
    if (!at_bound()) cut_corners(share);
    if (!can_prove()) shorten(share / 4);
    prove();
  }

 private:
  std::uint64_t left() const { return options_.budget.work - std::min(options_.budget.work, result_.work); }
  Measure measure() const { return {now_->cost, now_->plan.size()}; }
  bool at_bound() const { return now_->cost <= result_.lower_bound || left() == 0; }
  const ActionSpace& space() const { return focus_ ? focus_->space : all_; }

  void focus() {
    const std::uint64_t whole = evaluator_.task().evaluation_work();
    if (4 * whole > left()) return;
    result_.work += 2 * whole;
    focus_ = find_focus(evaluator_, state_, result_.plan);
    if (focus_) focused_.emplace(focus_->relaxed);
  }

  bool adopt(CostedPlan other) {
    if (other.plan.size() > options_.max_length || Measure{other.cost, other.plan.size()} >= measure()) return false;
    *now_ = std::move(other);
    if (options_.on_better && now_ == &result_) options_.on_better(now_->plan, now_->cost);
    return true;
  }
  // A part of the plan was done in another way.
  bool adopt_changed(std::vector<ActionId> plan, std::size_t left_out = 0) {
    const Cost cost = costs_.sum(plan);
    return adopt({std::move(plan), cost, now_->left_out + left_out});
  }
  // Found from the start.
  bool adopt_new(std::vector<ActionId> plan) {
    const Cost cost = costs_.sum(plan);
    return adopt({std::move(plan), cost});
  }

  void drop_needless() {
    const std::size_t length = now_->plan.size();
    if (length > kLongestCut) return;
    result_.work += length * length / 2 * copy_work(program_);
    std::vector<std::size_t> needless = needless_steps(program_, state_, now_->plan, meter_);
    if (!needless.empty()) adopt_changed(without_steps(now_->plan, needless), needless.size());
  }

  // Neighbourhoods that grow while they do not help.
  void cut_corners(std::uint64_t share) {
    const std::uint64_t until = result_.work + std::min(share, left());
    drop_needless();
    for (std::size_t states = kFirstNeighbourhood; result_.work < until && states <= options_.budget.states;) {
      NearbyLimits limits;
      limits.states = states + 2 * now_->plan.size();
      limits.work = until - result_.work;
      limits.length = options_.max_length;
      auto better = improve_nearby(space(), costs_, state_, now_->plan, limits, meter_, result_.work);
      if (better && adopt_changed(std::move(*better))) {
        drop_needless();
      } else {
        states *= 4;
      }
    }
  }

  // Shortcuts of one action, then of more, as long as they help.
  void shorten(std::uint64_t share) {
    const std::uint64_t until = result_.work + std::min(share, left());
    for (unsigned actions = 1; actions <= kLongestShortcut && result_.work < until;) {
      const ShortcutLimits limits{actions, until - result_.work};
      auto better = take_shortcuts(all_, costs_, state_, now_->plan, limits, meter_, result_.work);
      if (better && adopt_changed(std::move(*better))) {
        drop_needless();
      } else {
        ++actions;
      }
    }
  }

  void step_greedily(std::uint64_t share) {
    CostedPlan other = step_plan(share);
    // A plan of another kind may become the best one when its corners are cut.
    if (!other.plan.empty()) on_another(other, [&] { cut_corners(share / 4); });
  }

  // Of single steps; none when there is none within the share.
  CostedPlan step_plan(std::uint64_t share) {
    RelaxedEvaluator& evaluator = focused_ ? *focused_ : evaluator_;
    GreedySearch search(space(), evaluator, state_, GreedySearch::kStep);
    if (run(search, share, kTurn) != Status::kFound) return {};
    std::vector<ActionId> plan = search.plan();
    const Cost cost = costs_.sum(plan);
    return {std::move(plan), cost};
  }

  // Makes `other` better by `work`, and adopts it when it has become the best one. Whatever ends the work, the best plan
  // is where it was.
  template <typename Work>
  void on_another(CostedPlan& other, const Work& work) {
    now_ = &other;
    work();
    now_ = &result_;
    CostedPlan best = result_;
    if (adopt(other)) other = std::move(best);
  }

  // The plan, and one of another kind that is not much worse: first a little of both, then the better one, then the other.
  void replan_parts(std::uint64_t share) {
    const std::uint64_t until = result_.work + std::min(share, left());
    const auto rest = [&] { return until - std::min(until, result_.work); };
    const std::span<const WindowKind> kinds(kWindows);
    drop_needless();
    CostedPlan other = step_plan(rest() / 2);
    if (!other.plan.empty()) on_another(other, [] {});
    if (other.cost > result_.cost + result_.cost / 4) other.plan.clear();
    replan(kinds.first(1), rest() / 2);
    if (!other.plan.empty()) on_another(other, [&] { replan(kinds.first(1), rest() / 2); });
    replan(kinds.subspan(1), rest());
    if (!other.plan.empty()) on_another(other, [&] { replan(kinds.subspan(1), rest()); });
  }

  // With each kind of window as long as it helps.
  void replan(std::span<const WindowKind> kinds, std::uint64_t share) {
    const std::uint64_t until = result_.work + std::min(share, left());
    weigh();
    const WindowTools tools{space(), *weighted_evaluator_, costs_, weights_};
    for (std::size_t i = 0; i < kinds.size() && result_.work < until;) {
      WindowLimits limits;
      limits.actions = kinds[i].actions;
      limits.evaluations = kinds[i].evaluations;
      limits.greed = kinds[i].greed;
      limits.length = options_.max_length;
      limits.work = until - result_.work;
      auto better = replan_windows(tools, state_, now_->plan, limits, meter_, result_.work);
      if (better && adopt_changed(std::move(*better))) {
        drop_needless();
      } else {
        ++i;
      }
    }
  }

  // The relaxed task of what is looked at, with weights.
  void weigh() {
    if (weighted_) return;
    weights_ = costs_.weights();
    weighted_ = std::make_unique<RelaxedTask>(program_, space().actions(), weights_);
    weighted_evaluator_ = std::make_unique<RelaxedEvaluator>(*weighted_);
    result_.work += weighted_->evaluation_work();
  }

  void search_weighted(unsigned greed, std::uint64_t share) {
    weigh();
    WeightedSearch search(space(), *weighted_evaluator_, costs_, weights_, state_, {measure(), options_.max_length, {}},
                          greed);
    const std::uint64_t until = result_.work + std::min(share, left());
    while (result_.work < until && run(search, until - result_.work, kTurn) == Status::kFound) {
      adopt_new(search.plan());
      cut_corners((until - std::min(until, result_.work)) / 4);
      search.lower_bound_to(measure());
    }
  }

  // Where one estimate would take a good part of the work, only when it is asked for.
  bool can_prove() const {
    constexpr std::uint64_t kRounds = 1'000;
    return options_.prove || kRounds * evaluator_.task().evaluation_work() <= left();
  }

  void prove() {
    if (!costs_.exact() || at_bound() || !can_prove()) {
      result_.optimal = costs_.exact() && result_.cost <= result_.lower_bound;
      return;
    }
    OptimalSearch search(program_, evaluator_.task(), costs_, state_, result_.cost, left());
    const auto learn = [&] { result_.lower_bound = std::max(result_.lower_bound, search.lower_bound()); };
    try {
      if (run(search, left(), 0) == Status::kFound) adopt_new(search.plan());
    } catch (const Stopped&) {
      learn();
      throw;
    }
    learn();
    result_.optimal = result_.lower_bound >= result_.cost;
  }

  // Until it is decided or its part of the work is spent.
  template <typename Search>
  Status run(Search& search, std::uint64_t share, std::size_t turn) {
    const std::uint64_t before = search.work();
    Budget budget = options_.budget;
    budget.work = before + std::min(share, left());
    Spending spending(budget, meter_);
    Limit limit = Limit::kNone;
    Status status = Status::kRunning;
    if constexpr (requires { search.run(turn, spending, Others{}, limit); }) {
      while (status == Status::kRunning) status = search.run(turn, spending, {}, limit);
    } else {
      status = search.run(spending, {}, limit);
    }
    result_.work += search.work() - before;
    return status;
  }

  const Program& program_;
  RelaxedEvaluator& evaluator_;
  const Word* state_;
  const ImproveOptions& options_;
  internal::Meter& meter_;
  ActionCosts costs_;
  ActionSpace all_;
  Improvement& result_;
  CostedPlan* now_;  // what is worked on: the best plan, or another one
  std::unique_ptr<const Focus> focus_;
  std::optional<RelaxedEvaluator> focused_;
  std::vector<std::uint32_t> weights_;  // of `weighted_`
  std::unique_ptr<RelaxedTask> weighted_;
  std::unique_ptr<RelaxedEvaluator> weighted_evaluator_;
};

}  // namespace

Improvement improve_plan(const Program& program, RelaxedEvaluator& evaluator, const Word* state,
                         std::vector<ActionId> plan, const ImproveOptions& options, internal::Meter& meter) {
  Improvement result;
  try {
    Improver(program, evaluator, state, options, meter, result).run(std::move(plan));
  } catch (const Stopped&) {
    if (!options.keep_when_stopped) throw;
    result.stopped = true;
  }
  return result;
}

}  // namespace metactrl::lookahead
