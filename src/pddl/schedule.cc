// A plan says in which order its points come: the start and the end of the first step, those of the second, and so on. Of
// these orders only those are kept that matter: between two points that touch, which is to say that one changes what the
// other reads or changes (two that add to a number do not); between a point that changes what a later step needs over all
// and that step's start; and between a step's end and a later point that changes what the step needs over all. Each
// kept order is a gap of kSeparation. So every condition finds its facts and numbers as the plan left them, whatever else
// has moved; and since all orders lead from earlier steps to later ones, one pass over the plan gives the earliest
// times: the longest chain behind each start. What happens by itself has its place among the steps as they run one
// after the other, and what came behind it stays there where the two touch.
//
// Where steps overlap as the plan was written, since one runs inside another, their points come in the order of those
// times, and an order can lead to an earlier step: the end of a step is tied to its start, so that what must come before
// the end holds the start back. The earliest times are then the least ones that satisfy all orders, found by letting each
// step begin later until none is broken.
//
// Cost: each pair of steps is looked at once, each of their sets is gone through.
#include "pddl/schedule.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "pddl/points.h"

namespace metactrl::pddl {

namespace {

// Lets step j begin later until no point of it is nearer than a gap to one of an earlier step, where one of the two has
// to be alone.
void keep_apart(Schedule& plan, std::span<const PlanPoints> points, std::span<const TimedFact> timed, std::size_t j) {
  for (bool moved = true; moved;) {
    moved = false;
    for (const TimedFact& fact : timed) {
      const auto apart = [&](const Touched& point, std::int64_t offset) {
        const std::int64_t gap = plan[j].start + offset - fact.time;
        if (!point.alone || gap >= kSeparation || gap <= -kSeparation) return;
        plan[j].start += kSeparation - gap;
        moved = true;
      };
      apart(points[j].start, 0);
      apart(points[j].end, plan[j].duration);
    }
    for (std::size_t i = 0; i < j; ++i) {
      const auto apart = [&](const Touched& x, std::int64_t from, const Touched& y, std::int64_t offset) {
        const std::int64_t gap = plan[j].start + offset - from;
        if ((!x.alone && !y.alone) || gap >= kSeparation || gap <= -kSeparation) return;
        plan[j].start += kSeparation - gap;
        moved = true;
      };
      const std::int64_t ends = plan[i].start + plan[i].duration;
      apart(points[i].start, plan[i].start, points[j].start, 0);
      apart(points[i].start, plan[i].start, points[j].end, plan[j].duration);
      apart(points[i].end, ends, points[j].start, 0);
      apart(points[i].end, ends, points[j].end, plan[j].duration);
    }
  }
}

// A later start of step `to` than that of step `from`, by `gap` at least.
struct Order {
  std::size_t from = 0;
  std::size_t to = 0;
  std::int64_t gap = 0;
};

// The orders of the points of two steps in a schedule. A point that would want to be alone keeps its place among all.
void add_orders(const Schedule& plan, std::span<const PlanPoints> points, std::size_t i, std::size_t j,
                std::vector<Order>& out) {
  const auto keep = [&](const Touched& x, std::int64_t x_offset, const Touched& y, std::int64_t y_offset) {
    if (!touch(x, y) && !x.alone && !y.alone) return;
    if (plan[i].start + x_offset < plan[j].start + y_offset) {
      out.push_back({i, j, x_offset + kSeparation - y_offset});
    } else {
      out.push_back({j, i, y_offset + kSeparation - x_offset});
    }
  };
  const PlanPoints& a = points[i];
  const PlanPoints& b = points[j];
  const std::array<std::pair<const Touched*, std::int64_t>, 2> ends_of_a = {
      {{&a.start, 0}, {&a.end, plan[i].duration}}};
  const std::array<std::pair<const Touched*, std::int64_t>, 2> ends_of_b = {
      {{&b.start, 0}, {&b.end, plan[j].duration}}};
  for (const auto& [x, x_offset] : ends_of_a) {
    for (const auto& [y, y_offset] : ends_of_b) {
      keep(*x, x_offset, *y, y_offset);
      // What changes something that is needed over all stays on its side of both points.
      keep(*x, x_offset, b.over_all, y_offset);
      keep(a.over_all, x_offset, *y, y_offset);
    }
  }
}

void start_early_overlapping(std::span<const PlanPoints> points, Schedule& plan, internal::Meter& meter) {
  std::vector<Order> orders;
  for (std::size_t j = 0; j < plan.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      meter.piece();
      add_orders(plan, points, i, j, orders);
    }
  }
  for (TimedStep& step : plan) step.start = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (const Order& order : orders) {
      const std::int64_t earliest = plan[order.from].start + order.gap;
      if (plan[order.to].start >= earliest) continue;
      plan[order.to].start = earliest;
      moved = true;
    }
    meter.piece();
  }
}

}  // namespace

void start_early(const Ast& ast, Schedule& plan, internal::Meter& meter) {
  PointReader reader(ast, meter);
  std::vector<PlanPoints> points;
  for (const TimedStep& step : plan) points.push_back(reader.read(step.step));
  if (!overlaps(plan).empty()) return start_early_overlapping(points, plan, meter);
  std::vector<Touched> by_itself;
  for (const TimedFact& timed : ast.timed) by_itself.push_back(reader.read(timed));
  const Schedule sequential = plan;
  for (std::size_t j = 0; j < plan.size(); ++j) {
    std::int64_t& start = plan[j].start;
    start = 0;
    // `from` is over, and the gap behind it, before the start, or before the end.
    const auto behind = [&](std::int64_t from, bool is_end) {
      start = std::max(start, from + kSeparation - (is_end ? plan[j].duration : 0));
    };
    const PlanPoints& later = points[j];
    for (std::size_t i = 0; i < j; ++i) {
      meter.piece();
      const PlanPoints& earlier = points[i];
      const std::int64_t begins = plan[i].start;
      const std::int64_t ends = plan[i].start + plan[i].duration;
      if (touch(earlier.start, later.start) || touch(earlier.start, later.over_all)) behind(begins, false);
      if (touch(earlier.end, later.start) || touch(earlier.end, later.over_all)) behind(ends, false);
      if (touch(earlier.start, later.end)) behind(begins, true);
      if (touch(earlier.end, later.end)) behind(ends, true);
      if (touch(earlier.over_all, later.start)) behind(ends, false);
      if (touch(earlier.over_all, later.end)) behind(ends, true);
    }
    for (std::size_t i = 0; i < by_itself.size(); ++i) {
      const std::int64_t time = ast.timed[i].time;
      const bool before_start = time < sequential[j].start;
      if (before_start && (touch(by_itself[i], later.start) || touch(by_itself[i], later.over_all)))
        behind(time, false);
      if (time < sequential[j].start + sequential[j].duration && touch(by_itself[i], later.end)) behind(time, true);
    }
    keep_apart(plan, points, ast.timed, j);
    // What comes before a literal stays before it, unless it had to make room.
    if (!ast.timed.empty() && start > sequential[j].start) {
      plan = sequential;
      return;
    }
  }
}

std::vector<std::pair<std::size_t, std::size_t>> orders(const Ast& ast, std::span<const PlanStep> plan,
                                                        internal::Meter& meter) {
  PointReader reader(ast, meter);
  std::vector<PlanPoints> points;
  for (const PlanStep& step : plan) points.push_back(reader.read(step));
  std::vector<std::pair<std::size_t, std::size_t>> result;
  for (std::size_t j = 0; j < points.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      meter.piece();
      const PlanPoints& a = points[i];
      const PlanPoints& b = points[j];
      // What two sums are in between depends on which comes first.
      const auto share = [](const PlanPoints& x, const PlanPoints& y) {
        return meet(x.start.sums, y.start.sums) || meet(x.start.sums, y.end.sums) || meet(x.end.sums, y.start.sums) ||
               meet(x.end.sums, y.end.sums);
      };
      const bool meet_points = share(a, b) || touch(a.start, b.start) || touch(a.start, b.end) ||
                               touch(a.end, b.start) || touch(a.end, b.end) || touch(a.over_all, b.start) ||
                               touch(a.over_all, b.end) || touch(a.start, b.over_all) || touch(a.end, b.over_all);
      if (meet_points) result.emplace_back(i, j);
    }
  }
  return result;
}

}  // namespace metactrl::pddl
