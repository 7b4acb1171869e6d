// What happens by itself: timed initial literals.
//
// Times are exact, to six decimals. The clock that states have (Ast::timed) counts in steps of 0.001, 0.002, 0.005, 0.01
// and so on: the first that needs no more than kMaxTicks of them until the last literal. What a clock of facts cannot
// tell is refused here: durations that depend on the state, and what is derived from a fact that changes by itself.
#include <algorithm>
#include <set>
#include <utility>

#include "metactrl/schedule.h"
#include "pddl/parser.h"
#include "support/remembered_name.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

using internal::str_cat;

namespace {

constexpr std::int64_t kMaxTicks = 1000;
constexpr std::int64_t kLargestTimed = 1'000'000'000 * kTimeUnit;

// Nothing where it is negative, too large or has more digits than are counted.
std::optional<std::int64_t> exact_units(std::string_view text) {
  const std::optional<Rational> time = Rational::parse(text);
  const std::optional<Rational> units = time ? multiply(*time, Rational(kTimeUnit)) : std::nullopt;
  if (!units || units->denominator() != 1 || units->numerator() < 0 || units->numerator() > kLargestTimed)
    return std::nullopt;
  return units->numerator();
}

std::int64_t smallest_tick(std::int64_t last) {
  for (std::int64_t decade = kSeparation;; decade *= 10) {
    for (const std::int64_t factor : {1, 2, 5}) {
      if (last / (decade * factor) < kMaxTicks) return decade * factor;
    }
  }
}

bool reads_changed(const Ast& ast, const Expression& expression) {
  if (expression.kind == Expression::Kind::kFunction && ast.functions[expression.function].changes) return true;
  return std::any_of(expression.children.begin(), expression.children.end(),
                     [&](const Expression& child) { return reads_changed(ast, child); });
}

bool reads_one_of(const Condition& condition, const std::set<PredicateId>& predicates) {
  if (condition.kind == Condition::Kind::kAtom && predicates.contains(condition.atom.predicate)) return true;
  return std::any_of(condition.children.begin(), condition.children.end(),
                     [&](const Condition& child) { return reads_one_of(child, predicates); });
}

}  // namespace

// A predicate `at` may well exist, but its arguments are never lists.
bool Parser::is_timed_fact(SExpr fact) {
  return fact.head() == "at" && fact.size() == 3 && fact[2].is_list() && parse_number(fact[1].text());
}

std::optional<std::int64_t> Parser::exact_time(SExpr expr) {
  const std::optional<std::int64_t> time = exact_units(expr.text());
  if (!time) {
    reporter_.error(expr.where(), str_cat("the time ", in_quotes(expr.to_text(60)), " cannot be counted"),
                    "write a time from 0 to 1000000000, with six decimals at most");
  }
  return time;
}

Condition Parser::until(const std::string& name, std::int64_t end, const Position& where) {
  const auto [entry, is_new] = deadlines_.try_emplace(name, ast_.predicates.next_id());
  if (is_new) {
    ast_.predicates.push_back({internal::remembered_name(name), {}, where});
    ast_.init.push_back({entry->second, {}, where});
    ast_.timed.push_back({end, {entry->second, {}, where}, false});
    ast_.has_durations = true;
  }
  Condition out;
  out.kind = Condition::Kind::kAtom;
  out.atom = {entry->second, {}, where};
  out.where = where;
  return out;
}

void Parser::parse_timed_fact(SExpr fact) {
  use(Feature::kTimedFacts, fact.where());
  const std::optional<std::int64_t> time = exact_time(fact[1]);
  if (!time) return;
  SExpr literal = fact[2];
  if (literal.head() == "=") {
    reporter_.error(literal.where(),
                    str_cat("a number that changes by itself, ", fact.to_text(60), ", is not supported"),
                    "model the few values that matter by predicates");
    return;
  }
  const bool add = literal.head() != "not";
  if (!add) {
    if (!has_size(literal, 2, "(not (predicate object ...))")) return;
    literal = literal[1];
  }
  if (refuse_fact(literal)) return;
  std::optional<GroundAtom> atom = ground_atom(literal);
  if (!atom) return;
  note_ill_typed(*atom);
  ast_.timed.push_back({*time, std::move(*atom), add});
  ast_.has_durations = true;
}

void Parser::finish_timed() {
  std::stable_sort(ast_.timed.begin(), ast_.timed.end(),
                   [](const TimedFact& a, const TimedFact& b) { return a.time < b.time; });
  ast_.tick = smallest_tick(ast_.timed.back().time);
  for (std::size_t i = 0; i < ast_.timed.size(); ++i) {
    const TimedFact& one = ast_.timed[i];
    for (std::size_t j = i + 1; j < ast_.timed.size() && ast_.timed[j].time == one.time; ++j) {
      const TimedFact& other = ast_.timed[j];
      const bool same = one.atom.predicate == other.atom.predicate && one.atom.arguments == other.atom.arguments;
      if (!same || one.add == other.add) continue;
      reporter_.error(
          other.atom.where,
          str_cat(to_string(ast_, other.atom), " becomes true and false at the same time, ", time_text(one.time)),
          "keep one of the two, or write another time");
    }
  }
  refuse_beside_timed();
}

void Parser::refuse_derived_beside_durations() {
  std::set<PredicateId> derived;
  for (const PredicateId id : ast_.predicates.all()) {
    if (ast_.predicates[id].derived) derived.insert(id);
  }
  const auto look = [&](const Constraint& constraint) {
    if (constraint.kind == Constraint::Kind::kAtEnd) return;
    if (!reads_one_of(constraint.first, derived) && !reads_one_of(constraint.second, derived)) return;
    reporter_.error(constraint.where,
                    "trajectory constraints on derived predicates are not supported beside durative actions",
                    "write what they are derived from instead");
  };
  for (const Constraint& constraint : ast_.constraints) look(constraint);
  for (const Preference& preference : ast_.preferences) {
    for (const Constraint& part : preference.parts) look(part);
  }
}

void Parser::refuse_beside_timed() {
  std::set<PredicateId> changed;
  for (const TimedFact& timed : ast_.timed) changed.insert(timed.atom.predicate);
  for (const Axiom& axiom : ast_.axioms) {
    if (!reads_one_of(axiom.body, changed)) continue;
    reporter_.error(axiom.where,
                    str_cat("the derived predicate ", in_quotes(ast_.predicates[axiom.head].name),
                            " depends on a timed initial literal, which is not supported"),
                    "write what it is derived from instead");
  }
  for (const Action& action : ast_.actions) {
    if (!action.durative || !reads_changed(ast_, action.durative->duration)) continue;
    reporter_.error(action.where,
                    str_cat("action ", in_quotes(action.name),
                            ": a duration that depends on the state is not supported beside timed initial literals and "
                            "deadlines"),
                    "write a number, or a function that no action changes");
  }
}

}  // namespace metactrl::pddl
