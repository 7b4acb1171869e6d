// Preferences: (preference NAME CONDITION) in the goal, (preference NAME CONSTRAINT) in :constraints.
//
// They stand in conjunctions and below `forall`, nowhere else. The goal is read twice: once as a condition, in which a
// preference counts as true, and once for the preferences in it. What a preference asks for is a list of constraints that
// are to hold together; one of the goal is a condition of the last state.
//
// The metric says what a violation costs: (is-violated NAME) is the number of violated instances. A preference that the
// metric does not name costs nothing; without a metric that names any, each instance counts 1.
#include <algorithm>
#include <utility>

#include "pddl/parser.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

using internal::str_cat;

namespace {

// The text tells preferences apart.
constexpr std::size_t kPreferenceTextLimit = 10'000;

}  // namespace

bool mentions_head(SExpr expr, std::string_view head) {
  std::vector<SExpr> todo = {expr};
  while (!todo.empty()) {
    const SExpr next = todo.back();
    todo.pop_back();
    if (!next.is_list()) continue;
    if (next.head() == head) return true;
    for (std::size_t i = 0; i < next.size(); ++i) todo.push_back(next[i]);
  }
  return false;
}

bool Parser::is_preference(SExpr expr) const {
  return expr.head() == "preference" && !predicates_.contains("preference");
}

void Parser::refuse_preference(SExpr expr) {
  const bool nested = parts_ != nullptr;
  reporter_.error(expr.where(),
                  nested       ? "a preference inside another one"
                  : in_domain_ ? "preferences in conditions of actions and of derived predicates are not supported"
                               : "a preference stands in (and ...) or (forall ...), nowhere else",
                  nested       ? "join what is preferred by (and ...)"
                  : in_domain_ ? "delete it: it forbids nothing; or prefer in (:goal ...) or (:constraints ...)"
                               : "move it to the top of the goal");
}

void Parser::parse_preference(SExpr expr, const ConstraintContext& context, bool of_goal) {
  if (parts_ != nullptr) return refuse_preference(expr);
  use(Feature::kPreferences, expr.where());
  const bool named = expr.size() == 3 && expr[1].is_name();
  if (!named && (expr.size() != 2 || !expr[1].is_list())) {
    reporter_.error(expr.where(), str_cat("expected a preference but found ", expr.to_text(60)),
                    of_goal ? "write (preference NAME CONDITION)" : "write (preference NAME CONSTRAINT)");
    return;
  }
  if (ast_.preferences.size() == kMaxConstraints) {
    reporter_.error(expr.where(), str_cat("more than ", kMaxConstraints, " preferences"),
                    "join those of one kind by (forall ...)");
  }
  if (ast_.preferences.size() >= kMaxConstraints) return;
  const SExpr body = expr[expr.size() - 1];
  Preference preference;
  if (named) preference.name = expr[1].text();
  preference.num_outer = context.forall.size();
  preference.where = expr.where();
  preference.text = body.to_text(kPreferenceTextLimit);
  parts_ = &preference.parts;
  if (!of_goal) parse_constraint(body, context);
  if (of_goal || preference.parts.empty()) {
    Constraint end;
    end.kind = Constraint::Kind::kAtEnd;
    end.where = body.where();
    Scope scope(end.variables);
    for (const auto& [name, variable] : context.forall) end.forall.push_back(scope.open(name, variable));
    if (of_goal) end.first = parse_condition(body, scope, context.depth);
    preference.parts.push_back(std::move(end));
  }
  parts_ = nullptr;
  ast_.preferences.push_back(std::move(preference));
}

void Parser::parse_goal_preferences(SExpr expr, const ConstraintContext& context) {
  if (reporter_.exhausted() || !mentions_head(expr, "preference") || context.depth > kMaxConditionDepth) return;
  if (is_preference(expr)) return parse_preference(expr, context, true);
  ConstraintContext inner = context;
  ++inner.depth;
  if (expr.head() == "and") {
    for (std::size_t i = 1; i < expr.size(); ++i) parse_goal_preferences(expr[i], inner);
  } else if (expr.head() == "forall" && expr.size() == 3 && open_context(expr, inner)) {
    parse_goal_preferences(expr[2], inner);
  }
}

void Parser::weigh_preferences(const std::map<std::string_view, Rational>* weights) {
  for (const auto& [name, where] : violated_) {
    const auto has_name = [name = name](const Preference& preference) { return preference.name == name; };
    if (std::any_of(ast_.preferences.begin(), ast_.preferences.end(), has_name)) continue;
    ClosestName closest(name);
    for (const Preference& preference : ast_.preferences) closest.offer(preference.name);
    reporter_.error(where.where(), str_cat("there is no preference ", in_quotes(name)),
                    closest.hint("name one that the goal or (:constraints ...) has"));
  }
  if (weights == nullptr) return;
  for (Preference& preference : ast_.preferences) {
    const auto weight = weights->find(preference.name);
    preference.weight = weight == weights->end() ? 0
                                                 : static_cast<double>(weight->second.numerator()) /
                                                       static_cast<double>(weight->second.denominator());
    if (preference.weight >= 0) continue;
    preference.weight = 0;
    if (!reporter_.first("rewarded preference", preference.name)) continue;
    reporter_.warning(preference.where, str_cat("the metric rewards the violation of ", in_quotes(preference.name)),
                      "it counts as 0; prefer the opposite instead");
  }
}

}  // namespace metactrl::pddl
