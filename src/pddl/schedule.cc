// A plan says in which order its points come: the start and the end of the first step, those of the second, and so on. Of
// these orders only those are kept that matter: between two points that touch, which is to say that one changes what the
// other reads or changes (two that add to a number do not); between a point that changes what a later step needs over all
// and that step's start; and between a step's end and a later point that changes what the step needs over all. Each
// kept order is a gap of kSeparation. So every condition finds its facts and numbers as the plan left them, whatever else
// has moved; and since all orders lead from earlier steps to later ones, one pass over the plan gives the earliest
// times: the longest chain behind each start. What happens by itself has its place among the steps as they run one
// after the other, and what came behind it stays there where the two touch.
//
// Cost: each pair of steps is looked at once, each of their sets is gone through.
#include "pddl/schedule.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "pddl/join.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

namespace {

using internal::str_cat;
using Key = std::uint32_t;  // a fact, a number, or all facts of a predicate

// What a point in time has to do with. Ascending, without repetition.
struct Touched {
  std::vector<Key> reads;
  std::vector<Key> writes;
  std::vector<Key> adds;
  std::vector<Key> sums;  // of `adds`, the numbers
  // It writes a fact twice, or reads under a condition what it writes. That has a meaning, but other judges of plans take
  // it for two points that touch as soon as anything else happens at the same time: so nothing does.
  bool alone = false;
  bool conditional = false;
};

struct PlanPoints {
  Touched start;
  Touched end;
  Touched over_all;
};

bool meet(const std::vector<Key>& a, const std::vector<Key>& b) {
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (*i == *j) return true;
    (*i < *j ? i : j)++;
  }
  return false;
}

bool touch(const Touched& a, const Touched& b) {
  return meet(a.writes, b.reads) || meet(a.writes, b.writes) || meet(a.writes, b.adds) || meet(a.adds, b.reads) ||
         meet(a.adds, b.writes) || meet(a.reads, b.writes) || meet(a.reads, b.adds);
}

class PointReader {
 public:
  PointReader(const Ast& ast, internal::Meter& meter)
      : ast_(ast), meter_(meter), ranges_(ast), changes_(ast.predicates.size(), false) {
    for (const Action& action : ast.actions) {
      for (const Effect& effect : action.effects) changes_[effect.atom.predicate] = true;
      if (!action.durative) continue;
      for (const Effect& effect : action.durative->end_effects) changes_[effect.atom.predicate] = true;
    }
    for (const Axiom& axiom : ast.axioms) changes_[axiom.head] = true;
    for (const TimedFact& timed : ast.timed) changes_[timed.atom.predicate] = true;
    for (const ActionNameId a : ast.actions.all()) actions_.emplace(ast.actions[a].name, a);
    for (const ObjectId o : ast.objects.all()) objects_.emplace(ast.objects[o].name, o);
  }

  PlanPoints read(const PlanStep& step) {
    const Action& action = ast_.actions[actions_.at(step.action)];
    Binding binding(action.variables.size(), kUnbound);
    for (std::size_t i = 0; i < step.arguments.size(); ++i)
      binding[to_id<VariableId>(i)] = objects_.at(step.arguments[i]);
    PlanPoints points;
    add_condition(action, action.precondition, binding, points.start);
    add_effects(action, action.effects, binding, points.start);
    add_changes(action, action.numeric_effects, binding, points.start);
    if (action.durative) {
      const Durative& durative = *action.durative;
      add_changes(action, durative.idle_start_effects, binding, points.start);
      add_condition(action, durative.over_all, binding, points.over_all);
      add_condition(action, durative.at_end, binding, points.end);
      add_effects(action, durative.end_effects, binding, points.end);
      add_changes(action, durative.end_numeric_effects, binding, points.end);
      add_changes(action, durative.idle_end_effects, binding, points.end);
    }
    for (Touched* point : {&points.start, &points.end, &points.over_all}) {
      std::sort(point->writes.begin(), point->writes.end());
      point->alone = std::adjacent_find(point->writes.begin(), point->writes.end()) != point->writes.end();
      for (std::vector<Key>* keys : {&point->reads, &point->writes, &point->adds, &point->sums}) {
        std::sort(keys->begin(), keys->end());
        keys->erase(std::unique(keys->begin(), keys->end()), keys->end());
      }
      point->alone = point->alone || (point->conditional && meet(point->writes, point->reads));
    }
    return points;
  }

  Touched read(const TimedFact& timed) {
    Touched out;
    const std::vector<Term> terms(timed.atom.arguments.begin(), timed.atom.arguments.end());
    out.writes.push_back(key(Sort::kFact, index(timed.atom.predicate), terms, {}));
    out.adds.push_back(key(Sort::kPredicate, index(timed.atom.predicate), {}, {}));
    return out;
  }

 private:
  enum class Sort : std::uint8_t { kFact, kNumber, kPredicate, kAnyNumber };

  Key key(Sort sort, std::uint32_t name, const std::vector<Term>& terms, const Binding& binding) {
    std::vector<ObjectId> objects;
    for (const Term& term : terms) objects.push_back(term.under(binding));
    return keys_.try_emplace({sort, name, std::move(objects)}, static_cast<Key>(keys_.size())).first->second;
  }

  template <typename Visit>
  void for_each(const VariableTable& table, std::span<const VariableId> variables, Binding& binding,
                const Visit& visit) {
    if (variables.empty()) return visit();
    for (const ObjectId object : ranges_.of(table[variables[0]]).objects) {
      meter_.piece();
      binding[variables[0]] = object;
      for_each(table, variables.subspan(1), binding, visit);
    }
    binding[variables[0]] = kUnbound;
  }

  // Whether anything below it can change: what cannot is not worth its quantifiers.
  bool can_change(const Condition& condition) const {
    if (condition.kind == Condition::Kind::kAtom) return changes_[condition.atom.predicate];
    if (condition.kind == Condition::Kind::kCompare) return true;
    return std::any_of(condition.children.begin(), condition.children.end(),
                       [&](const Condition& child) { return can_change(child); });
  }

  // A derived fact can follow from any fact of the predicates below it.
  void add_predicate(PredicateId predicate, Touched& out) {
    const Key all = key(Sort::kPredicate, index(predicate), {}, {});
    if (std::find(out.reads.begin(), out.reads.end(), all) != out.reads.end()) return;
    out.reads.push_back(all);
    for (const Axiom& axiom : ast_.axioms) {
      if (axiom.head == predicate) add_body(axiom.body, out);
    }
  }

  void add_body(const Condition& condition, Touched& out) {
    if (condition.kind == Condition::Kind::kAtom) add_predicate(condition.atom.predicate, out);
    if (condition.kind == Condition::Kind::kCompare) out.reads.push_back(key(Sort::kAnyNumber, 0, {}, {}));
    for (const Condition& child : condition.children) add_body(child, out);
  }

  void add_condition(const Action& action, const Condition& condition, Binding& binding, Touched& out) {
    if (!can_change(condition)) return;
    meter_.piece();
    if (condition.kind == Condition::Kind::kAtom) {
      if (ast_.predicates[condition.atom.predicate].derived) return add_predicate(condition.atom.predicate, out);
      out.reads.push_back(key(Sort::kFact, index(condition.atom.predicate), condition.atom.arguments, binding));
      return;
    }
    for (const Expression& side : condition.sides) add_expression(side, binding, out);
    for_each(action.variables, condition.bound, binding, [&] {
      for (const Condition& child : condition.children) add_condition(action, child, binding, out);
    });
  }

  void add_expression(const Expression& expression, const Binding& binding, Touched& out) {
    for (const Expression& child : expression.children) add_expression(child, binding, out);
    if (expression.kind != Expression::Kind::kFunction || !ast_.functions[expression.function].changes) return;
    out.reads.push_back(key(Sort::kNumber, index(expression.function), expression.arguments, binding));
  }

  void add_effects(const Action& action, const std::vector<Effect>& effects, Binding& binding, Touched& out) {
    for (const Effect& effect : effects) {
      for_each(action.variables, effect.forall, binding, [&] {
        add_condition(action, effect.when, binding, out);
        out.conditional = out.conditional || effect.when.kind != Condition::Kind::kTrue;
        out.writes.push_back(key(Sort::kFact, index(effect.atom.predicate), effect.atom.arguments, binding));
      });
      // Whoever reads all facts of the predicate meets every change of one; two changes of it do not meet here.
      out.adds.push_back(key(Sort::kPredicate, index(effect.atom.predicate), {}, {}));
    }
  }

  void add_changes(const Action& action, const std::vector<NumericEffect>& effects, Binding& binding, Touched& out) {
    for (const NumericEffect& effect : effects) {
      const bool adds =
          effect.change == NumericEffect::Change::kIncrease || effect.change == NumericEffect::Change::kDecrease;
      for_each(action.variables, effect.forall, binding, [&] {
        add_condition(action, effect.when, binding, out);
        add_expression(effect.amount, binding, out);
        const Key number = key(Sort::kNumber, index(effect.function), effect.arguments, binding);
        (adds ? out.adds : out.writes).push_back(number);
        if (adds) out.sums.push_back(number);
      });
      out.adds.push_back(key(Sort::kAnyNumber, 0, {}, {}));
    }
  }

  struct KeyParts {
    Sort sort;
    std::uint32_t name;
    std::vector<ObjectId> objects;
    auto operator<=>(const KeyParts&) const = default;
  };

  const Ast& ast_;
  internal::Meter& meter_;
  RangeTable ranges_;
  IdVector<PredicateId, bool> changes_;
  std::map<std::string, ActionNameId, std::less<>> actions_;
  std::map<std::string, ObjectId, std::less<>> objects_;
  std::map<KeyParts, Key> keys_;
};

bool same_terms(const Atom& a, const Atom& b) { return a.predicate == b.predicate && a.arguments == b.arguments; }

bool is_plain(const Effect& effect) { return effect.forall.empty() && effect.when.kind == Condition::Kind::kTrue; }

bool asks_for(const Condition& condition, PredicateId predicate) {
  if (condition.kind == Condition::Kind::kAtom) return condition.atom.predicate == predicate;
  if (condition.kind == Condition::Kind::kNot) return false;
  return std::any_of(condition.children.begin(), condition.children.end(),
                     [&](const Condition& child) { return asks_for(child, predicate); });
}

}  // namespace

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

}  // namespace

void start_early(const Ast& ast, Schedule& plan, internal::Meter& meter) {
  PointReader reader(ast, meter);
  std::vector<PlanPoints> points;
  for (const TimedStep& step : plan) points.push_back(reader.read(step.step));
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

std::vector<Envelope> envelopes(const Ast& ast) {
  std::vector<Envelope> result;
  for (const ActionNameId a : ast.actions.all()) {
    const Action& action = ast.actions[a];
    if (!action.durative) continue;
    for (const Effect& start : action.effects) {
      const auto ends = [&](const Effect& end) {
        return !end.add && is_plain(end) && same_terms(start.atom, end.atom);
      };
      const std::vector<Effect>& end_effects = action.durative->end_effects;
      if (!start.add || !is_plain(start) || std::none_of(end_effects.begin(), end_effects.end(), ends)) continue;
      for (const ActionNameId b : ast.actions.all()) {
        const Action& other = ast.actions[b];
        const PredicateId fact = start.atom.predicate;
        const bool needs = asks_for(other.precondition, fact) ||
                           (other.durative && a != b &&
                            (asks_for(other.durative->over_all, fact) || asks_for(other.durative->at_end, fact)));
        if (needs) result.push_back({a, b, start.atom});
      }
    }
  }
  return result;
}

std::string to_string(const Ast& ast, const Envelope& envelope) {
  const Action& action = ast.actions[envelope.offers];
  std::string text = "(" + action.name;
  for (std::uint32_t i = 0; i < action.num_parameters; ++i) text += " " + action.variables[VariableId{i}].name;
  return str_cat(text, ") makes ", to_string(ast, action.variables, envelope.fact), " true only while it runs, and ",
                 ast.actions[envelope.needs].name, " needs it");
}

}  // namespace metactrl::pddl
