// As in task/relevance.cc, but of predicates and functions: what the goal reads matters; of an action that changes what
// matters, all that it reads for that matters. An action that changes none of it is left out, and so are effects on the
// rest. A plan without what is left out is still one: what is kept reads nothing of it.
#include "pddl/goal_part.h"

#include <algorithm>
#include <utility>

#include "pddl/durations.h"

namespace metactrl::pddl {

namespace {

class Closure {
 public:
  explicit Closure(const Ast& ast)
      : ast_(ast), predicates_(ast.predicates.size(), false), functions_(ast.functions.size(), false) {}

  void add(const Condition& condition) {
    if (condition.kind == Condition::Kind::kAtom) mark(predicates_, condition.atom.predicate);
    for (const Expression& side : condition.sides) add(side);
    for (const Condition& child : condition.children) add(child);
  }

  void close() {
    do {
      grown_ = false;
      for (const Axiom& axiom : ast_.axioms) {
        if (predicates_[axiom.head]) add(axiom.body);
      }
      for (const Action& action : ast_.actions) {
        if (matters(action)) add(action);
      }
    } while (grown_);
  }

  bool matters(const Effect& effect) const { return predicates_[effect.atom.predicate]; }
  bool matters(const NumericEffect& effect) const { return functions_[effect.function]; }
  bool matters(const Action& action) const {
    const auto one = [this](const auto& effect) { return matters(effect); };
    return std::ranges::any_of(action.effects, one) || std::ranges::any_of(action.numeric_effects, one) ||
           (action.durative && (std::ranges::any_of(action.durative->end_effects, one) ||
                                std::ranges::any_of(action.durative->end_numeric_effects, one)));
  }
  bool all() const {
    return std::ranges::all_of(ast_.actions, [this](const Action& action) { return whole(action); });
  }

 private:
  template <typename Marks, typename Id>
  void mark(Marks& marks, Id id) {
    grown_ = grown_ || !marks[id];
    marks[id] = true;
  }

  void add(const Expression& expression) {
    if (expression.kind == Expression::Kind::kFunction) mark(functions_, expression.function);
    for (const Expression& child : expression.children) add(child);
  }

  void add(const std::vector<Effect>& effects) {
    for (const Effect& effect : effects) {
      if (matters(effect)) add(effect.when);
    }
  }

  void add(const std::vector<NumericEffect>& effects) {
    for (const NumericEffect& effect : effects) {
      if (!matters(effect)) continue;
      add(effect.when);
      add(effect.amount);
    }
  }

  void add(const Action& action) {
    add(action.precondition);
    add(action.effects);
    add(action.numeric_effects);
    if (!action.durative) return;
    add(action.durative->duration);
    add(action.durative->over_all);
    add(action.durative->at_end);
    add(action.durative->end_effects);
    add(action.durative->end_numeric_effects);
  }

  // Nothing of it is left out.
  bool whole(const Action& action) const {
    const auto one = [this](const auto& effect) { return matters(effect); };
    return std::ranges::all_of(action.effects, one) && std::ranges::all_of(action.numeric_effects, one) &&
           (!action.durative || (std::ranges::all_of(action.durative->end_effects, one) &&
                                 std::ranges::all_of(action.durative->end_numeric_effects, one)));
  }

  const Ast& ast_;
  IdVector<PredicateId, bool> predicates_;
  IdVector<FunctionId, bool> functions_;
  bool grown_ = false;
};

const Condition* find_goal(const Ast& ast, const Condition& condition, std::string_view text) {
  if (condition.kind != Condition::Kind::kAnd)
    return to_string(ast, ast.goal.variables, condition) == text ? &condition : nullptr;
  for (const Condition& child : condition.children) {
    if (const Condition* found = find_goal(ast, child, text)) return found;
  }
  return nullptr;
}

}  // namespace

std::optional<Ast> goal_part(const Ast& ast, std::string_view goal) {
  if (!ast.timed.empty() || ast.has_hosts) return std::nullopt;
  const Condition* const condition = find_goal(ast, ast.goal.condition, goal);
  if (condition == nullptr) return std::nullopt;
  Closure closure(ast);
  closure.add(*condition);
  closure.close();
  if (closure.all()) return std::nullopt;
  Ast out = ast;
  out.goal.condition = *condition;
  out.constraints.clear();
  out.preferences.clear();
  out.has_metric = false;
  out.time_in_metric.reset();
  out.actions.clear();
  const auto idle = [&](const auto& effect) { return !closure.matters(effect); };
  for (Action action : ast.actions) {
    if (!closure.matters(action)) continue;
    std::erase_if(action.effects, idle);
    std::erase_if(action.numeric_effects, idle);
    if (action.durative) {
      std::erase_if(action.durative->end_effects, idle);
      std::erase_if(action.durative->end_numeric_effects, idle);
    }
    // By time alone nothing changes in it.
    if (action.durative && !changes_by_duration(action)) action.durative->others = Durative::Others::kDoNotMatter;
    action.costs.clear();
    action.metric_cost.reset();
    out.actions.push_back(std::move(action));
  }
  return out;
}

}  // namespace metactrl::pddl
