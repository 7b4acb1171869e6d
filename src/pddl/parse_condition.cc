// Conditions: preconditions, goals, bodies of derived predicates, the conditions of effects and of constraints.
//
// Sugar goes on the way: (imply a b) becomes (or (not a) b), (and) and () become true, (or) becomes false. Each
// quantifier opens new slots in the scope's variable table and closes their names at its end, so an inner ?x never
// meets an outer one.
#include <algorithm>
#include <charconv>
#include <utility>

#include "pddl/parser.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

using internal::str_cat;

namespace {

Condition make(Condition::Kind kind, Position where) {
  Condition out;
  out.kind = kind;
  out.where = where;
  return out;
}

bool is_trajectory_operator(std::string_view head) {
  return head == "always" || head == "sometime" || head == "at-most-once" || head == "sometime-after" ||
         head == "sometime-before" || head == "within" || head == "hold-during" || head == "hold-after" ||
         head == "always-within" || head == "actions-in-order";
}

}  // namespace

bool Parser::has_size(SExpr expr, std::size_t size, std::string_view usage) {
  if (expr.size() == size) return true;
  reporter_.error(expr.where(),
                  str_cat("(", expr.head(), " ...) has ", counted(expr.size() - 1, "member"), " instead of ", size - 1),
                  str_cat("write ", usage));
  return false;
}

bool Parser::check_depth(SExpr expr, std::size_t depth) {
  if (depth < kMaxConditionDepth) return true;
  if (reporter_.first("depth", "")) {
    reporter_.error(expr.where(), str_cat("conditions or effects are nested more than ", kMaxConditionDepth, " deep"),
                    "flatten them: (and a b c) takes any number of members");
  }
  return false;
}

Condition Parser::parse_condition(SExpr expr, Scope& scope, std::size_t depth) {
  Condition nothing = make(Condition::Kind::kTrue, expr.where());
  if (reporter_.exhausted() || !check_depth(expr, depth)) return nothing;
  if (expr.is_name()) {
    reporter_.error(expr.where(), str_cat("expected a condition in parentheses but found ", in_quotes(expr.text())),
                    str_cat("write (", cut(expr.text(), 40), " ...)"));
    return nothing;
  }
  if (expr.size() == 0) return nothing;
  const std::string_view head = expr.head();
  if (head.empty()) {
    reporter_.error(expr.where(), "expected a predicate or a keyword after '('",
                    "several conditions are joined as (and (...) (...))");
    return nothing;
  }
  const bool may_prefer = may_prefer_;
  may_prefer_ = may_prefer && (head == "and" || head == "forall" || is_preference(expr));
  Condition condition = parse_listed(expr, scope, depth);
  may_prefer_ = may_prefer;
  return condition;
}

Condition Parser::parse_listed(SExpr expr, Scope& scope, std::size_t depth) {
  const std::string_view head = expr.head();
  if (head == "and" || head == "or") return parse_junction(expr, scope, depth, head == "and");
  if (head == "not") return parse_not(expr, scope, depth);
  if (head == "imply") return parse_imply(expr, scope, depth);
  if (head == "forall" || head == "exists") return parse_quantifier(expr, scope, depth, head == "forall");
  if (head == "=") return parse_equals(expr, scope, depth);
  if (is_comparison(head)) return parse_compare(expr, scope, depth);
  if (is_preference(expr)) {
    if (!may_prefer_) refuse_preference(expr);
    return make(Condition::Kind::kTrue, expr.where());
  }
  const bool is_predicate = predicates_.contains(head);
  if (!is_predicate && (head == "forn" || head == "forpairs" || head == "fornpairs"))
    return parse_count(expr, scope, depth);
  return parse_atom_condition(expr, scope);
}

Condition Parser::parse_atom_condition(SExpr expr, Scope& scope) {
  std::optional<Atom> atom = parse_atom(expr, scope);
  if (!atom) return make(Condition::Kind::kTrue, expr.where());
  Condition out = make(Condition::Kind::kAtom, expr.where());
  out.atom = std::move(*atom);
  return out;
}

Condition Parser::parse_junction(SExpr expr, Scope& scope, std::size_t depth, bool is_and) {
  if (!is_and) use(Feature::kDisjunction, expr.where());
  if (expr.size() == 1) return make(is_and ? Condition::Kind::kTrue : Condition::Kind::kFalse, expr.where());
  Condition out = make(is_and ? Condition::Kind::kAnd : Condition::Kind::kOr, expr.where());
  out.children.reserve(expr.size() - 1);
  for (std::size_t i = 1; i < expr.size(); ++i) out.children.push_back(parse_condition(expr[i], scope, depth + 1));
  return out;
}

Condition Parser::parse_not(SExpr expr, Scope& scope, std::size_t depth) {
  Condition out = make(Condition::Kind::kNot, expr.where());
  if (!has_size(expr, 2, "(not CONDITION)")) return make(Condition::Kind::kTrue, expr.where());
  // (not (= a b)) is commonly taken as part of :equality.
  if (expr[1].head() != "=") use(Feature::kNegation, expr.where());
  out.children.push_back(parse_condition(expr[1], scope, depth + 1));
  return out;
}

Condition Parser::parse_imply(SExpr expr, Scope& scope, std::size_t depth) {
  if (!has_size(expr, 3, "(imply CONDITION CONDITION)")) return make(Condition::Kind::kTrue, expr.where());
  use(Feature::kDisjunction, expr.where());
  Condition premise = make(Condition::Kind::kNot, expr[1].where());
  premise.children.push_back(parse_condition(expr[1], scope, depth + 1));
  Condition out = make(Condition::Kind::kOr, expr.where());
  out.children.push_back(std::move(premise));
  out.children.push_back(parse_condition(expr[2], scope, depth + 1));
  return out;
}

Condition Parser::parse_equals(SExpr expr, Scope& scope, std::size_t depth) {
  Condition nothing = make(Condition::Kind::kTrue, expr.where());
  if (!has_size(expr, 3, "(= TERM TERM)")) return nothing;
  const bool numeric =
      expr[1].is_list() || expr[2].is_list() || parse_number(expr[1].text()) || parse_number(expr[2].text());
  if (numeric && !objects_.contains(expr[1].text()) && !objects_.contains(expr[2].text()))
    return parse_compare(expr, scope, depth);
  use(Feature::kEquality, expr.where());
  const std::optional<Term> left = parse_term(expr[1], scope);
  const std::optional<Term> right = parse_term(expr[2], scope);
  if (!left || !right) return nothing;
  Condition out = make(Condition::Kind::kEquals, expr.where());
  out.terms = {*left, *right};
  return out;
}

Condition Parser::parse_quantifier(SExpr expr, Scope& scope, std::size_t depth, bool is_forall) {
  use(is_forall ? Feature::kUniversal : Feature::kExistential, expr.where());
  const std::string usage = str_cat("(", expr.head(), " (?x - type ...) CONDITION)");
  if (!has_size(expr, 3, usage)) return make(Condition::Kind::kTrue, expr.where());
  if (expr[1].is_name()) {
    reporter_.error(expr[1].where(), str_cat("expected a list of variables but found ", in_quotes(expr[1].text())),
                    str_cat("write ", usage));
    return make(Condition::Kind::kTrue, expr.where());
  }
  std::vector<VariableId> bound = open_variables(expr[1], 0, scope);
  const std::size_t opened = bound.size();
  Condition child = parse_condition(expr[2], scope, depth + 1);
  scope.close(opened);
  if (bound.empty()) return child;
  Condition out = make(is_forall ? Condition::Kind::kForall : Condition::Kind::kExists, expr.where());
  out.bound = std::move(bound);
  out.children.push_back(std::move(child));
  return out;
}

std::optional<std::uint32_t> Parser::parse_cardinality(SExpr expr) {
  // BDDL writes the number in parentheses.
  const SExpr number = expr.size() == 1 ? expr[0] : expr;
  const std::string_view text = number.text();
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!text.empty() && error == std::errc() && end == text.data() + text.size() && value < Condition::kAllPairs)
    return value;
  reporter_.error(expr.where(), str_cat("expected a number in parentheses but found ", in_quotes(expr.to_text(40))),
                  "write for example (forn (2) (?x - type) CONDITION)");
  return std::nullopt;
}

// (forn (N) (?x - t) c), (forpairs (?x - t) (?y - u) c), (fornpairs (N) (?x - t) (?y - u) c)
Condition Parser::parse_count(SExpr expr, Scope& scope, std::size_t depth) {
  const Condition nothing = make(Condition::Kind::kTrue, expr.where());
  const std::string_view head = expr.head();
  const bool has_number = head != "forpairs";
  const bool has_pairs = head != "forn";
  const std::string usage =
      str_cat("(", head, has_number ? " (N)" : "", " (?x - type)", has_pairs ? " (?y - type)" : "", " CONDITION)");
  const std::size_t num_lists = has_pairs ? 2 : 1;
  if (!has_size(expr, (has_number ? 3 : 2) + num_lists, usage)) return nothing;
  std::size_t next = 1;
  std::uint32_t count = Condition::kAllPairs;
  if (has_number) {
    const std::optional<std::uint32_t> number = parse_cardinality(expr[next]);
    ++next;
    if (!number) return nothing;
    count = *number;
  }
  std::vector<VariableId> bound;
  for (std::size_t i = 0; i < num_lists; ++i, ++next) {
    const std::vector<VariableId> one = open_variables(expr[next], 0, scope);
    bound.insert(bound.end(), one.begin(), one.end());
    if (one.size() != 1) {
      reporter_.error(expr[next].where(), str_cat("(", head, " ...) needs exactly one variable here"),
                      str_cat("write ", usage));
    }
  }
  const std::size_t opened = bound.size();
  if (opened != num_lists) {
    scope.close(opened);
    return nothing;
  }
  Condition out = make(has_pairs ? Condition::Kind::kMatching : Condition::Kind::kAtLeast, expr.where());
  out.bound = std::move(bound);
  out.count = count;
  out.children.push_back(parse_condition(expr[next], scope, depth + 1));
  scope.close(opened);
  return out;
}

void Parser::report_unknown_head(SExpr expr) {
  const std::string_view head = expr.head();
  const Position where = expr.where();
  if (is_comparison(head)) {
    reporter_.error(where, str_cat("the comparison ", expr.to_text(60), " is no fact"),
                    "give the value: (= (function object ...) NUMBER)");
    return;
  }
  if (!reporter_.first("predicate", head)) return;
  const std::string what = str_cat("predicate ", in_quotes(head), " is not declared");
  if (head == "oneof" || head == "unknown" || head == "probabilistic") {
    reporter_.error(where, str_cat("uncertainty (", head, " ...) is not supported"),
                    "states are fully known and effects certain: pick one case");
  } else if (is_trajectory_operator(head)) {
    reporter_.error(where, str_cat("(", head, " ...) is not a condition but a trajectory constraint"),
                    "move it to (:constraints ...)");
  } else if (head == "implies" || head == "!=") {
    reporter_.error(where, str_cat("(", head, " ...) is not a condition"),
                    head == "!=" ? "write (not (= a b))" : "write (imply CONDITION CONDITION)");
  } else if (head == "when") {
    reporter_.error(where, "(when ...) is not a condition", "write (imply CONDITION CONDITION), or move it to :effect");
  } else if ((head == "at" || head == "over") && expr.size() == 3 &&
             (expr[1].text() == "start" || expr[1].text() == "end" || expr[1].text() == "all")) {
    reporter_.error(where,
                    str_cat("(", head, " ", expr[1].text(), " ...) belongs to the :condition of durative actions"),
                    "write the condition alone");
  } else if (functions_.contains(head)) {
    reporter_.error(where, str_cat(in_quotes(head), " is a function, not a predicate"),
                    str_cat("compare it with a number: (>= ", cut(expr.to_text(40), 40), " 1)"));
  } else {
    ClosestName closest(head);
    for (const Predicate& predicate : ast_.predicates) closest.offer(predicate.name);
    reporter_.error(where, what, closest.hint("add it to (:predicates ...) of the domain"));
  }
}

std::optional<Atom> Parser::parse_atom(SExpr expr, const Scope& scope) {
  const auto found = predicates_.find(expr.head());
  if (found == predicates_.end()) {
    report_unknown_head(expr);
    return std::nullopt;
  }
  const Predicate& predicate = ast_.predicates[found->second];
  Atom atom{found->second, {}, expr.where()};
  bool good = true;
  atom.arguments.reserve(expr.size() - 1);
  for (std::size_t i = 1; i < expr.size(); ++i) {
    const std::optional<Term> term = parse_term(expr[i], scope);
    good = good && term;
    if (term) atom.arguments.push_back(*term);
  }
  if (expr.size() - 1 != predicate.parameters.size()) {
    reporter_.error(expr.where(),
                    str_cat("predicate ", in_quotes(predicate.name), " has ",
                            counted(predicate.parameters.size(), "argument"), ", not ", expr.size() - 1),
                    str_cat("it is declared at line ", predicate.where.line, in_domain_ ? "" : " of the domain"));
    return std::nullopt;
  }
  if (!good) return std::nullopt;
  for (std::size_t i = 0; i < atom.arguments.size(); ++i) {
    check_argument(atom.arguments[i], scope, predicate.parameters[to_id<VariableId>(i)].types, expr[i + 1].where(),
                   predicate.name, i + 1);
  }
  return atom;
}

std::string Parser::closest_object(std::string_view name, Position where) const {
  ClosestName closest(name);
  for (const Object& object : ast_.objects) closest.offer(object.name);
  return closest.hint(where.file == 0 ? "add it to (:constants ...) of the domain" : "add it to (:objects ...)");
}

std::optional<Term> Parser::parse_term(SExpr expr, const Scope& scope) {
  const std::string_view name = expr.text();
  if (expr.is_list()) {
    reporter_.error(expr.where(), str_cat("expected an object or a variable but found ", expr.to_text(60)),
                    "functions cannot be arguments; a missing ')' may be the cause");
    return std::nullopt;
  }
  if (name.starts_with('?')) {
    const std::optional<VariableId> variable = scope.find(name);
    if (variable) return Term(*variable);
    ClosestName closest(name);
    scope.for_each_name([&](std::string_view known) { closest.offer(known); });
    reporter_.error(expr.where(), str_cat("variable ", in_quotes(name), " is not declared here"),
                    closest.hint(in_domain_ ? "add it to :parameters, or bind it by forall or exists"
                                            : "bind it by forall or exists"));
    return std::nullopt;
  }
  const auto found = objects_.find(name);
  if (found != objects_.end()) {
    const Position declared = ast_.objects[found->second].where;
    if (in_domain_ && declared.file == 1 && reporter_.first("object of the problem", name)) {
      reporter_.warning(expr.where(),
                        str_cat("object ", in_quotes(name), " is named here but declared only in the problem, at line ",
                                declared.line),
                        "add it to (:constants ...): another problem may not have it");
    }
    return Term(found->second);
  }
  if (reporter_.first("object", name)) {
    const bool is_variable = scope.find(str_cat('?', name)).has_value();
    reporter_.error(expr.where(), str_cat("object ", in_quotes(name), " is not declared"),
                    is_variable ? str_cat("did you mean the variable ", in_quotes(str_cat('?', name)), "?")
                                : closest_object(name, expr.where()));
  }
  return std::nullopt;
}

bool Parser::object_fits(ObjectId object, const std::vector<TypeId>& wanted) const {
  const std::vector<TypeId>& own = ast_.objects[object].types;
  return std::any_of(own.begin(), own.end(), [&](TypeId type) {
    return std::any_of(wanted.begin(), wanted.end(), [&](TypeId ancestor) { return ast_.is_subtype(type, ancestor); });
  });
}

bool Parser::may_fit(const Term& term, const Scope& scope, const std::vector<TypeId>& wanted) const {
  if (types_broken_) return true;
  if (!term.is_variable()) return object_fits(term.object(), wanted);
  const std::vector<TypeId>& own = scope[term.variable()].types;
  return std::any_of(own.begin(), own.end(), [&](TypeId type) {
    return std::any_of(wanted.begin(), wanted.end(), [&](TypeId other) {
      return ast_.is_subtype(type, other) || ast_.is_subtype(other, type) ||
             (may_overlap_[type] && may_overlap_[other]);
    });
  });
}

void Parser::check_argument(const Term& term, const Scope& scope, const std::vector<TypeId>& wanted, Position where,
                            std::string_view of, std::size_t number) {
  if (may_fit(term, scope, wanted)) return;
  if (!reporter_.wants_warnings()) return reporter_.count_warning();
  const std::string name = term.is_variable() ? scope[term.variable()].name : ast_.objects[term.object()].name;
  const std::vector<TypeId>& own =
      term.is_variable() ? scope[term.variable()].types : ast_.objects[term.object()].types;
  reporter_.warning(where,
                    str_cat("argument ", number, " of ", in_quotes(of), " is ", in_quotes(name), " of type ",
                            type_names(own), ", expected ", type_names(wanted)),
                    "it can never be of that type");
}

}  // namespace metactrl::pddl
