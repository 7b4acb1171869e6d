// The plan is a sequence of points: begins and ends of actions, and what happens by itself, whose times are given. Of two
// points that touch, the earlier one stays the earlier one, by a gap; what touches what an action needs over all stays on
// its side of both ends. All of that says that one action begins at least so long behind another, or behind the start, or
// begins by some time. The least times that keep it are found by letting actions begin later until nothing is broken; more
// rounds than there are actions mean that each waits for the other.
//
// Then pairs that overlap are set apart one by one, as long as there are times for it: what overlaps in the end has to.
#include "pddl/fit_times.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "pddl/interpret.h"
#include "pddl/points.h"
#include "task/source.h"

namespace metactrl::pddl {

namespace {

struct Step {
  TimedStep timed;
  std::size_t begin = 0;  // places in the plan
  std::size_t end = 0;
  PlanPoints points;
};

class Fitter {
 public:
  Fitter(const Ast& ast, internal::Meter& meter) : ast_(ast), meter_(meter), reader_(ast, meter) {}

  std::optional<Schedule> run(std::span<const PlanStep> plan) {
    if (!read(plan)) return std::nullopt;
    for (std::size_t j = 0; j < steps_.size(); ++j) {
      for (std::size_t i = 0; i < j; ++i) order(steps_[i], i, steps_[j], j);
      for (const Literal& literal : literals_) order(literal, j);
    }
    if (!solve()) return std::nullopt;
    set_apart();
    Schedule schedule;
    for (const Step& step : steps_) schedule.push_back(step.timed);
    return schedule;
  }

 private:
  struct Literal {
    std::int64_t time = 0;
    std::size_t place = 0;
    Touched touched;
  };
  // Step `to` begins at least `gap` behind the beginning of step `from`.
  struct Order {
    std::size_t from = 0;
    std::size_t to = 0;
    std::int64_t gap = 0;
  };

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
            std::find_if(steps_.rbegin(), steps_.rend(), [&](const Step& one) { return one.timed.step == step; });
        open->end = place;
        continue;
      }
      const bool takes_time = step.action.starts_with(task::kBegin);
      if (takes_time) step.action.erase(0, task::kBegin.size());
      const std::optional<std::int64_t> duration = takes_time ? interpreter.fixed_duration(step) : 0;
      if (!duration || *duration > kLatestTime) return false;
      PlanPoints points = reader_.read(step);
      steps_.push_back({{std::move(step), 0, *duration, takes_time}, place, place, std::move(points)});
    }
    from_.assign(steps_.size(), 0);
    until_.assign(steps_.size(), kLatestTime);
    return true;
  }

  void order(const Step& a, std::size_t i, const Step& b, std::size_t j) {
    meter_.piece();
    const auto keep = [&](const Touched& x, std::size_t x_place, std::int64_t x_offset, const Touched& y,
                          std::size_t y_place, std::int64_t y_offset) {
      if (!touch(x, y) && !x.alone && !y.alone) return;
      if (x_place < y_place) {
        orders_.push_back({i, j, x_offset + kSeparation - y_offset});
      } else {
        orders_.push_back({j, i, y_offset + kSeparation - x_offset});
      }
    };
    for (const auto& [x, x_place, x_offset] : ends(a)) {
      for (const auto& [y, y_place, y_offset] : ends(b)) {
        keep(*x, x_place, x_offset, *y, y_place, y_offset);
        keep(*x, x_place, x_offset, b.points.over_all, y_place, y_offset);
        keep(a.points.over_all, x_place, x_offset, *y, y_place, y_offset);
      }
    }
  }

  void order(const Literal& literal, std::size_t j) {
    for (const auto& [y, y_place, y_offset] : ends(steps_[j])) {
      if (!touch(literal.touched, *y) && !touch(literal.touched, steps_[j].points.over_all) && !y->alone) continue;
      if (literal.place < y_place) {
        from_[j] = std::max(from_[j], literal.time + kSeparation - y_offset);
      } else {
        until_[j] = std::min(until_[j], literal.time - kSeparation - y_offset);
      }
    }
  }

  using End = std::tuple<const Touched*, std::size_t, std::int64_t>;
  static std::array<End, 2> ends(const Step& step) {
    return {End{&step.points.start, step.begin, 0}, End{&step.points.end, step.end, step.timed.duration}};
  }

  // The least times that keep all orders.
  bool solve() {
    for (std::size_t i = 0; i < steps_.size(); ++i) steps_[i].timed.start = from_[i];
    bool moved = true;
    for (std::size_t round = 0; moved; ++round) {
      if (round > steps_.size()) return false;
      moved = false;
      for (const Order& order : orders_) {
        meter_.piece();
        const std::int64_t earliest = steps_[order.from].timed.start + order.gap;
        if (steps_[order.to].timed.start >= earliest) continue;
        if (earliest > kLatestTime) return false;
        steps_[order.to].timed.start = earliest;
        moved = true;
      }
    }
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].timed.start > until_[i]) return false;
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
        const TimedStep& a = steps_[i].timed;
        const TimedStep& b = steps_[j].timed;
        const bool overlap = a.start <= b.start && b.start < a.start + a.duration;
        if (i == j || !overlap) continue;
        if (!add({i, j, a.duration + kSeparation})) add({j, i, b.duration + kSeparation});
      }
    }
  }

  const Ast& ast_;
  internal::Meter& meter_;
  PointReader reader_;
  std::vector<Step> steps_;
  std::vector<Literal> literals_;
  std::vector<Order> orders_;
  std::vector<std::int64_t> from_;
  std::vector<std::int64_t> until_;
};

}  // namespace

std::optional<Schedule> fit_times(const Ast& ast, std::span<const PlanStep> plan, internal::Meter& meter) {
  return Fitter(ast, meter).run(plan);
}

}  // namespace metactrl::pddl
