// The plan is a sequence of points: begins and ends of actions, and what happens by itself, whose times are given. Of two
// points that touch, the earlier one stays the earlier one, by a gap; what touches what an action needs over all stays on
// its side of both ends. An end comes behind its begin by what the action takes: where it may take several durations, and
// none of its effects says which, by any of them. All of that says that one point comes at least so long behind another, or
// behind the start, or comes by some time. The least times that keep it are found by letting points come later until
// nothing is broken; more rounds than there are points mean that each waits for the other.
//
// Then pairs that overlap are set apart one by one, as long as there are times for it: what overlaps in the end has to.
#include "pddl/fit_times.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pddl/interpret.h"
#include "pddl/points.h"
#include "task/source.h"

namespace metactrl::pddl {

namespace {

struct Step {
  PlanStep planned;
  TimedStep timed;        // under the name that schedules have for it
  std::size_t begin = 0;  // places in the plan
  std::size_t end = 0;
  PlanPoints points;
  std::int64_t longest = 0;
};

class Fitter {
 public:
  Fitter(const Ast& ast, internal::Meter& meter) : ast_(ast), meter_(meter), reader_(ast, meter) {}

  std::optional<Schedule> run(std::span<const PlanStep> plan) {
    if (!read(plan)) return std::nullopt;
    for (std::size_t j = 0; j < steps_.size(); ++j) {
      for (std::size_t i = 0; i < j; ++i) order(i, j);
      for (const Literal& literal : literals_) order(literal, j);
    }
    if (!solve()) return std::nullopt;
    set_apart();
    Schedule schedule;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      TimedStep& timed = steps_[i].timed;
      timed.start = times_[begin_of(i)];
      timed.duration = times_[end_of(i)] - timed.start;
      schedule.push_back(timed);
    }
    return schedule;
  }

 private:
  struct Literal {
    std::int64_t time = 0;
    std::size_t place = 0;
    Touched touched;
  };
  // Point `to` comes at least `gap` behind point `from`.
  struct Order {
    std::size_t from = 0;
    std::size_t to = 0;
    std::int64_t gap = 0;
  };

  static std::size_t begin_of(std::size_t step) { return 2 * step; }
  static std::size_t end_of(std::size_t step) { return 2 * step + 1; }

  bool read(std::span<const PlanStep> plan) {
    const LiftedInterpreter interpreter(std::shared_ptr<const Ast>(std::shared_ptr<const Ast>(), &ast_));
    std::size_t next = 0;  // of the timed facts
    for (std::size_t place = 0; place < plan.size(); ++place) {
      meter_.piece();
      PlanStep step = plan[place];
      if (step.action.starts_with(task::kHappens)) {
        const std::int64_t time = ast_.timed[next].time;
        for (; next < ast_.timed.size() && ast_.timed[next].time == time; ++next)
          literals_.push_back({time, place, reader_.read(ast_.timed[next])});
        continue;
      }
      if (step.action.starts_with(task::kEnd)) {
        step.action.erase(0, task::kEnd.size());
        const auto open =
            std::find_if(steps_.rbegin(), steps_.rend(), [&](const Step& one) { return one.planned == step; });
        open->end = place;
        continue;
      }
      const bool takes_time = step.action.starts_with(task::kBegin);
      if (takes_time) step.action.erase(0, task::kBegin.size());
      const std::optional<LiftedInterpreter::Durations> durations =
          takes_time ? interpreter.fixed_durations(step) : LiftedInterpreter::Durations{};
      if (!durations || durations->shortest > kLatestTime) return false;
      PlanPoints points = reader_.read(step);
      const PlanStep written{interpreter.written_name(step.action), step.arguments};
      steps_.push_back({std::move(step),
                        {written, 0, durations->shortest, takes_time},
                        place,
                        place,
                        std::move(points),
                        std::min(durations->longest, kLatestTime)});
    }
    from_.assign(2 * steps_.size(), 0);
    until_.assign(2 * steps_.size(), kLatestTime);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      orders_.push_back({begin_of(i), end_of(i), steps_[i].timed.duration});
      orders_.push_back({end_of(i), begin_of(i), -steps_[i].longest});
    }
    return true;
  }

  void order(std::size_t i, std::size_t j) {
    meter_.piece();
    const Step& a = steps_[i];
    const Step& b = steps_[j];
    const auto keep = [&](const Touched& x, const End& at, const Touched& y, const End& and_at) {
      if (!touch(x, y) && !x.alone && !y.alone) return;
      if (at.place < and_at.place) {
        orders_.push_back({at.point, and_at.point, kSeparation});
      } else {
        orders_.push_back({and_at.point, at.point, kSeparation});
      }
    };
    for (const End& x : ends(i)) {
      for (const End& y : ends(j)) {
        keep(*x.touched, x, *y.touched, y);
        keep(*x.touched, x, b.points.over_all, y);
        keep(a.points.over_all, x, *y.touched, y);
      }
    }
  }

  void order(const Literal& literal, std::size_t j) {
    for (const End& y : ends(j)) {
      if (!touch(literal.touched, *y.touched) && !touch(literal.touched, steps_[j].points.over_all) &&
          !y.touched->alone)
        continue;
      if (literal.place < y.place) {
        from_[y.point] = std::max(from_[y.point], literal.time + kSeparation);
      } else {
        until_[y.point] = std::min(until_[y.point], literal.time - kSeparation);
      }
    }
  }

  struct End {
    const Touched* touched = nullptr;
    std::size_t place = 0;
    std::size_t point = 0;
  };
  std::array<End, 2> ends(std::size_t i) const {
    const Step& step = steps_[i];
    return {End{&step.points.start, step.begin, begin_of(i)}, End{&step.points.end, step.end, end_of(i)}};
  }

  // The least times that keep all orders.
  bool solve() {
    times_ = from_;
    bool moved = true;
    for (std::size_t round = 0; moved; ++round) {
      if (round > times_.size()) return false;
      moved = false;
      for (const Order& order : orders_) {
        meter_.piece();
        const std::int64_t earliest = times_[order.from] + order.gap;
        if (times_[order.to] >= earliest) continue;
        if (earliest > kLatestTime) return false;
        times_[order.to] = earliest;
        moved = true;
      }
    }
    for (std::size_t i = 0; i < times_.size(); ++i) {
      if (times_[i] > until_[i]) return false;
    }
    return true;
  }

  // Only where there are times for it.
  bool add(const Order& order) {
    orders_.push_back(order);
    if (solve()) return true;
    orders_.pop_back();
    solve();
    return false;
  }

  void set_apart() {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      for (std::size_t j = 0; j < steps_.size(); ++j) {
        const bool overlap = times_[begin_of(i)] <= times_[begin_of(j)] && times_[begin_of(j)] < times_[end_of(i)];
        if (i == j || !overlap) continue;
        if (!add({end_of(i), begin_of(j), kSeparation})) add({end_of(j), begin_of(i), kSeparation});
      }
    }
  }

  const Ast& ast_;
  internal::Meter& meter_;
  PointReader reader_;
  std::vector<Step> steps_;
  std::vector<Literal> literals_;
  std::vector<Order> orders_;
  std::vector<std::int64_t> from_;  // by point
  std::vector<std::int64_t> until_;
  std::vector<std::int64_t> times_;
};

}  // namespace

std::optional<Schedule> fit_times(const Ast& ast, std::span<const PlanStep> plan, internal::Meter& meter) {
  return Fitter(ast, meter).run(plan);
}

}  // namespace metactrl::pddl
