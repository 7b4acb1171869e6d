// Trajectory constraints without (:constraints ...).
//
// A constraint speaks of the states s0, s1, ..., sn of a plan. Every action is carried out in one of s0 .. s(n-1), and
// the goal is asked in sn: between them they see each state once. So each action looks at the state before it, by
// additional preconditions and conditional effects on new facts that remember, and the goal looks at the last one:
//
//   always c             precondition c                                        goal c
//   sometime c           when c: seen                                          goal c or seen
//   at-most-once c       precondition not (c and ended)                        goal the same
//                        when c: seen; when seen and not c: ended
//   sometime-after c d   when c and not d: pending; when d: not pending        goal d or not (c or pending)
//   sometime-before c d  precondition seen or not c; when d: seen              goal seen or not c
//   actions-in-order     an action of step i, when done-(i-1): done-i          goal done-n
//
// A condition of preconditions and goals that is more than a conjunction of literals is a derived predicate,
// (constraint-1-ok): Fast Downward multiplies out disjunctions, and each constraint would double the actions.
//
// Under (forall (?x) ...) the new facts have ?x as an argument, and the effects and conditions are quantified. The
// plans are the same. An action that leads into a forbidden state is applicable here, but no action and no goal comes
// after it.
#include <algorithm>
#include <optional>
#include <utility>

#include "exchange/standard.h"
#include "support/words.h"

namespace metactrl::exchange {

using pddl::Constraint;

namespace {

VariableId shifted(VariableId variable, std::size_t offset) {
  return internal::to_id<VariableId>(internal::index(variable) + offset);
}

Condition for_all(const std::vector<VariableId>& variables, Condition child) {
  if (variables.empty() || child.kind == Kind::kTrue) return child;
  Condition result = condition_of(Kind::kForall, {std::move(child)});
  result.bound = variables;
  return result;
}

// Literals, or a conjunction of them.
bool is_plain(const Condition& condition) {
  if (condition.kind != Kind::kAnd) return is_literal(condition);
  return std::all_of(condition.children.begin(), condition.children.end(), is_plain);
}

// A constraint seen from an action or from the goal: its variables are appended to the table there.
struct View {
  std::vector<VariableId> forall;
  Condition first;
  Condition second;
  std::size_t offset = 0;

  View(const Constraint& constraint, VariableTable& table) : offset(table.size()) {
    table.insert(table.end(), constraint.variables.begin(), constraint.variables.end());
    const auto here = [this](VariableId variable) { return shifted(variable, offset); };
    forall = constraint.forall;
    for (VariableId& variable : forall) variable = here(variable);
    first = with_variables(constraint.first, here);
    second = with_variables(constraint.second, here);
  }
  Condition fact(PredicateId predicate) const {
    std::vector<Term> arguments;
    for (const VariableId variable : forall) arguments.push_back(Term(variable));
    return condition_atom(predicate, std::move(arguments));
  }
};

class ConstraintCompiler {
 public:
  explicit ConstraintCompiler(Ast& ast) : ast_(ast) {}

  void compile(const Constraint& constraint, std::size_t number) {
    number_ = number;
    switch (constraint.kind) {
      case Constraint::Kind::kAlways:
        return require(constraint, [](const View& view) { return view.first; });
      case Constraint::Kind::kSometime:
        return sometime(constraint);
      case Constraint::Kind::kAtMostOnce:
        return at_most_once(constraint);
      case Constraint::Kind::kSometimeAfter:
        return sometime_after(constraint);
      case Constraint::Kind::kSometimeBefore:
        return sometime_before(constraint);
      case Constraint::Kind::kActionsInOrder:
        return actions_in_order(constraint);
      case Constraint::Kind::kAtEnd:
        return at_the_end(constraint, [](const View& view) { return view.first; });
    }
  }

 private:
  PredicateId remember(const Constraint& constraint, const std::string& what) {
    VariableTable parameters;
    for (const VariableId variable : constraint.forall) parameters.push_back(constraint.variables[variable]);
    return add_predicate(ast_, str_cat("constraint-", number_, '-', what), std::move(parameters));
  }

  // The condition holds at the end, and before every action.
  template <typename Make>
  void at_the_end(const Constraint& constraint, const Make& make) {
    demand(constraint, make, ok_predicate(constraint, make), ast_.goal.condition, ast_.goal.variables);
  }
  template <typename Make>
  void require(const Constraint& constraint, const Make& make) {
    const std::optional<Condition> ok = ok_predicate(constraint, make);
    for (Action& action : ast_.actions) demand(constraint, make, ok, action.precondition, action.variables);
    demand(constraint, make, ok, ast_.goal.condition, ast_.goal.variables);
  }

  // The condition as a derived predicate, where it is worth one.
  template <typename Make>
  std::optional<Condition> ok_predicate(const Constraint& constraint, const Make& make) {
    VariableTable variables;
    const View view(constraint, variables);
    const Condition condition = for_all(view.forall, make(view));
    if (is_plain(condition)) return std::nullopt;
    return define_predicate(ast_, str_cat("constraint-", number_, "-ok"), condition, variables);
  }

  template <typename Make>
  void demand(const Constraint& constraint, const Make& make, const std::optional<Condition>& ok, Condition& condition,
              VariableTable& variables) {
    if (ok) {
      condition = condition_and({std::move(condition), *ok});
      return;
    }
    const View view(constraint, variables);
    condition = condition_and({std::move(condition), for_all(view.forall, make(view))});
  }

  // Every action makes the fact true (or false) where the condition held before it.
  template <typename Make>
  void note(const Constraint& constraint, PredicateId predicate, bool value, const Make& when) {
    for (Action& action : ast_.actions) {
      const View view(constraint, action.variables);
      action.effects.push_back({view.forall, when(view), value, view.fact(predicate).atom});
    }
  }

  void sometime(const Constraint& constraint) {
    const PredicateId seen = remember(constraint, "seen");
    note(constraint, seen, true, [](const View& view) { return view.first; });
    at_the_end(constraint, [&](const View& view) { return condition_or({view.first, view.fact(seen)}); });
  }

  void at_most_once(const Constraint& constraint) {
    const PredicateId seen = remember(constraint, "seen");
    const PredicateId ended = remember(constraint, "ended");
    note(constraint, seen, true, [](const View& view) { return view.first; });
    note(constraint, ended, true, [&](const View& view) {
      return condition_and({view.fact(seen), condition_not(view.first)});
    });
    require(constraint, [&](const View& view) {
      return condition_or({condition_not(view.first), condition_not(view.fact(ended))});
    });
  }

  void sometime_after(const Constraint& constraint) {
    const PredicateId pending = remember(constraint, "pending");
    note(constraint, pending, true, [](const View& view) {
      return condition_and({view.first, condition_not(view.second)});
    });
    note(constraint, pending, false, [](const View& view) { return view.second; });
    at_the_end(constraint, [&](const View& view) {
      return condition_or({view.second, condition_and({condition_not(view.first), condition_not(view.fact(pending))})});
    });
  }

  void sometime_before(const Constraint& constraint) {
    const PredicateId seen = remember(constraint, "seen");
    note(constraint, seen, true, [](const View& view) { return view.second; });
    require(constraint, [&](const View& view) { return condition_or({view.fact(seen), condition_not(view.first)}); });
  }

  void actions_in_order(const Constraint& constraint) {
    std::vector<PredicateId> done;
    for (std::size_t i = 0; i < constraint.steps.size(); ++i) {
      done.push_back(remember(constraint, str_cat("done-", i + 1)));
      for (const pddl::ActionPattern& pattern : constraint.steps[i]) {
        Action& action = ast_.actions[pattern.action];
        const View view(constraint, action.variables);
        std::vector<Condition> when;
        if (i > 0) when.push_back(view.fact(done[i - 1]));
        for (std::uint32_t k = 0; k < pattern.arguments.size(); ++k) {
          if (!pattern.arguments[k]) continue;
          Term term = *pattern.arguments[k];
          if (term.is_variable()) term = shifted(term.variable(), view.offset);
          when.push_back(condition_equals(Term(VariableId{k}), term));
        }
        action.effects.push_back({view.forall, condition_and(std::move(when)), true, view.fact(done[i]).atom});
      }
    }
    if (done.empty()) return;
    at_the_end(constraint, [&](const View& view) { return view.fact(done.back()); });
  }

  Ast& ast_;
  std::size_t number_ = 0;
};

}  // namespace

void compile_constraints(Ast& ast, std::vector<std::string>& notes) {
  if (ast.constraints.empty()) return;
  const std::vector<Constraint> constraints = std::move(ast.constraints);
  ast.constraints.clear();
  ConstraintCompiler compiler(ast);
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    compiler.compile(constraints[i], i + 1);
    notes.push_back(str_cat("constraint ", i + 1, " is written as preconditions, effects and goals: ",
                            constraints[i].text.empty() ? "(no text)" : constraints[i].text));
  }
}

}  // namespace metactrl::exchange
