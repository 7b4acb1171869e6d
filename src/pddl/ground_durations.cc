// Regression. A fact holds behind the effects at the start if one of them adds it, or if it held before and none deletes
// it: putting that in the place of each literal says in terms of the state before what must hold over all and at the
// end, and when the effects at the end happen. Numbers are facts by then (ground_numbers.h) and need nothing of their
// own; derived facts that the start can change are refused by the parser.
//
// Effects. What the end does wins. A fact that the start adds and the end deletes is false afterwards, but of two effects
// of one action the addition wins: so the start's addition happens only where the end does not delete. The other way
// round nothing is needed.
#include "pddl/ground_durations.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "pddl/ground_hosts.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

namespace {

using task::FactId;
using task::Formula;

// --- without time ----------------------------------------------------------------------------------------------------

// By the effects at the start.
struct Changed {
  std::set<PredicateId> predicates;
  std::set<FunctionId> functions;
};

bool mentions_changed(const Expression& expression, const Changed& changed) {
  if (expression.kind == Expression::Kind::kFunction) return changed.functions.contains(expression.function);
  return std::any_of(expression.children.begin(), expression.children.end(),
                     [&](const Expression& child) { return mentions_changed(child, changed); });
}

bool mentions_changed(const Condition& condition, const Changed& changed) {
  if (condition.kind == Condition::Kind::kAtom) return changed.predicates.contains(condition.atom.predicate);
  return std::any_of(condition.sides.begin(), condition.sides.end(),
                     [&](const Expression& side) { return mentions_changed(side, changed); }) ||
         std::any_of(condition.children.begin(), condition.children.end(),
                     [&](const Condition& child) { return mentions_changed(child, changed); });
}

// Nothing that reachability could hold against an action, but the comparisons can still be found in it.
Condition relaxed(const Condition& condition) {
  Condition out;
  out.kind = Condition::Kind::kOr;
  out.where = condition.where;
  out.children.emplace_back();
  out.children.push_back(condition);
  return out;
}

void add_relaxed(const Condition& condition, const Changed& changed, std::vector<Condition>& out) {
  if (condition.kind == Condition::Kind::kAnd) {
    for (const Condition& child : condition.children) add_relaxed(child, changed, out);
  } else {
    out.push_back(mentions_changed(condition, changed) ? relaxed(condition) : condition);
  }
}

void take_time_away(Action& action) {
  const Durative durative = std::move(*action.durative);
  action.durative.reset();
  Changed changed;
  for (const Effect& effect : action.effects) changed.predicates.insert(effect.atom.predicate);
  for (const NumericEffect& effect : action.numeric_effects) changed.functions.insert(effect.function);
  Condition all;
  all.kind = Condition::Kind::kAnd;
  all.where = action.precondition.where;
  all.children.push_back(std::move(action.precondition));
  add_relaxed(durative.over_all, changed, all.children);
  // What runs inside it can make true what its end asks for.
  if (durative.hosts) {
    all.children.push_back(relaxed(durative.at_end));
  } else {
    add_relaxed(durative.at_end, changed, all.children);
  }
  action.precondition = std::move(all);
  for (Effect effect : durative.end_effects) {
    if (mentions_changed(effect.when, changed)) effect.when = relaxed(effect.when);
    action.effects.push_back(std::move(effect));
  }
  action.numeric_effects.insert(action.numeric_effects.end(), durative.end_numeric_effects.begin(),
                                durative.end_numeric_effects.end());
}

// --- regression ------------------------------------------------------------------------------------------------------

class Regression {
 public:
  explicit Regression(const std::vector<task::EffectDefinition>& effects) {
    for (const task::EffectDefinition& effect : effects) {
      for (const FactId fact : effect.add) changes_[fact].add.push_back(effect.when);
      for (const FactId fact : effect.del) changes_[fact].del.push_back(effect.when);
    }
  }

  Formula operator()(const Formula& formula) const {
    if (formula.kind == Formula::Kind::kLiteral) {
      const Formula holds = after(formula.fact);
      return formula.negated ? task::negate(holds) : holds;
    }
    if (formula.children.empty()) return formula;
    std::vector<Formula> children;
    children.reserve(formula.children.size());
    for (const Formula& child : formula.children) children.push_back((*this)(child));
    switch (formula.kind) {
      case Formula::Kind::kAnd:
        return tidy(std::move(children));
      case Formula::Kind::kOr:
        return task::make_or(std::move(children));
      case Formula::Kind::kAtLeast:
        return task::make_at_least(formula.count, std::move(children));
      default:
        break;
    }
    Formula result = formula;
    result.children = std::move(children);
    return result;
  }

 private:
  struct Changes {
    std::vector<Formula> add;
    std::vector<Formula> del;
  };

  Formula after(FactId fact) const {
    const auto found = changes_.find(fact);
    if (found == changes_.end()) return Formula::literal(fact, false);
    std::vector<Formula> ways = found->second.add;
    const Formula kept = task::negate(given(task::make_or(found->second.del), {{fact, true}}));
    ways.push_back(task::make_and({Formula::literal(fact, false), kept}));
    return task::make_or(std::move(ways));
  }

  std::map<FactId, Changes> changes_;
};

}  // namespace

Formula given(const Formula& formula, const std::map<FactId, bool>& known) {
  if (formula.kind == Formula::Kind::kLiteral) {
    const auto found = known.find(formula.fact);
    return found == known.end() ? formula : Formula::constant(formula.negated != found->second);
  }
  if (formula.kind != Formula::Kind::kAnd && formula.kind != Formula::Kind::kOr) return formula;
  std::vector<Formula> children;
  children.reserve(formula.children.size());
  for (const Formula& child : formula.children) children.push_back(given(child, known));
  return formula.kind == Formula::Kind::kAnd ? task::make_and(std::move(children)) : task::make_or(std::move(children));
}

Formula tidy(std::vector<Formula> parts) {
  Formula all = task::make_and(std::move(parts));
  while (all.kind == Formula::Kind::kAnd) {
    std::map<FactId, bool> known;
    std::vector<const Formula*> kept;  // each literal once
    for (const Formula& part : all.children) {
      if (part.kind == Formula::Kind::kLiteral) {
        const auto [literal, is_new] = known.try_emplace(part.fact, !part.negated);
        if (literal->second == part.negated) return Formula::constant(false);
        if (!is_new) continue;
      }
      kept.push_back(&part);
    }
    std::vector<Formula> others;
    for (const Formula* part : kept)
      others.push_back(part->kind == Formula::Kind::kLiteral ? *part : given(*part, known));
    // What others have become can be literals, too.
    Formula next = task::make_and(std::move(others));
    if (next == all) break;
    all = std::move(next);
  }
  return all;
}

std::vector<Formula> conjuncts_of(const Formula& formula) {
  if (formula.kind == Formula::Kind::kAnd) return formula.children;
  return formula.is_true() ? std::vector<Formula>{} : std::vector<Formula>{formula};
}

Ast without_time(const Ast& ast) {
  Ast out = ast;
  for (Action& action : out.actions) {
    if (action.durative) take_time_away(action);
  }
  out.has_durations = false;
  out.has_hosts = false;
  return out;
}

GroundPoint one_after_the_other(GroundPoint start, GroundPoint end) {
  const Regression before(start.effects);
  GroundPoint both;
  both.condition = tidy({std::move(start.condition), before(end.condition)});
  if (both.condition.is_false()) return both;
  std::map<FactId, std::vector<Formula>> deleted;  // by the end, and when
  for (task::EffectDefinition& effect : end.effects) {
    effect.when = before(effect.when);
    if (effect.when.is_false()) continue;
    for (const FactId fact : effect.del) deleted[fact].push_back(effect.when);
  }
  for (task::EffectDefinition& effect : start.effects) {
    task::EffectDefinition rest{effect.when, {}, std::move(effect.del)};
    for (const FactId fact : effect.add) {
      const auto found = deleted.find(fact);
      if (found == deleted.end()) {
        rest.add.push_back(fact);
        continue;
      }
      Formula when = tidy({effect.when, task::negate(task::make_or(found->second))});
      if (!when.is_false()) both.effects.push_back({std::move(when), {fact}, {}});
    }
    if (!rest.add.empty() || !rest.del.empty()) both.effects.push_back(std::move(rest));
  }
  std::copy_if(std::make_move_iterator(end.effects.begin()), std::make_move_iterator(end.effects.end()),
               std::back_inserter(both.effects),
               [](const task::EffectDefinition& effect) { return !effect.when.is_false(); });
  return both;
}

// --- other durations -------------------------------------------------------------------------------------------------

void OtherDurations::note_host(const Action& action, const std::vector<ObjectId>& arguments, std::int64_t duration) {
  const std::string& name = action.written.empty() ? action.name : action.written;
  auto& own = *hosts_.try_emplace({name, arguments}, duration, duration).first;
  auto& [least, most] = own.second;
  least = std::min(least, duration);
  most = std::max(most, duration);
  may_nest_ = may_nest_ || std::ranges::any_of(hosts_, [&, least = least, most = most](const auto& other) {
                return &other != &own &&
                       (GroundHosts::fits(least, other.second.second) || GroundHosts::fits(other.second.first, most));
              });
}

bool OtherDurations::matter(ActionNameId action) const {
  const std::optional<Durative>& durative = ast_.actions[action].durative;
  if (!durative || !ast_.actions[action].written.empty()) return false;
  // Of those that leave the room that is needed another one may cost less than the largest.
  if (durative->others == Durative::Others::kMatterInside) return may_nest_ || (ast_.has_hosts && ast_.has_metric);
  return durative->others == Durative::Others::kMatter;
}

// Where some objects give the action more than one.
std::vector<std::string> OtherDurations::texts() const {
  std::vector<std::string> out;
  for (const ActionNameId id : ast_.actions.all()) {
    if (!matter(id)) continue;
    const Action& action = ast_.actions[id];
    std::optional<ActionNameId> longest;
    for (const ActionNameId other : ast_.actions.all()) {
      if (ast_.actions[other].written == action.name && ast_.actions[other].durative->takes_longest) longest = other;
    }
    if (possible_[longest.value_or(id)])
      out.push_back(internal::str_cat(action.name, " but for ", action.durative->planned));
  }
  return out;
}

bool OtherDurations::within_intervals() const {
  return std::ranges::all_of(ast_.actions,
                             [](const Action& action) { return !action.durative || action.durative->spans; });
}

}  // namespace metactrl::pddl
