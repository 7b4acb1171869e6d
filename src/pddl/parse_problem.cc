// The problem: initial state, goal, metric.
//
// Facts of the initial state are checked one by one. Ill-typed and repeated facts are kept (or dropped) with one
// warning per predicate and argument, not per fact: household problems contain dozens of the same kind.
#include <algorithm>
#include <utility>

#include "pddl/parser.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

using internal::str_cat;

template <typename Name>
std::size_t Parser::SymbolHash::operator()(const task::Symbol<Name>& symbol) const {
  std::uint64_t hash = 0x9e3779b97f4a7c15U + index(symbol.name);
  for (const ObjectId object : symbol.arguments) {
    hash ^= index(object);
    hash *= 0xff51afd7ed558ccdU;
    hash ^= hash >> 32U;
  }
  return static_cast<std::size_t>(hash);
}

void Parser::parse_init(SExpr section) {
  for (std::size_t i = 1; i < section.size() && !reporter_.exhausted(); ++i) parse_fact(section[i]);
}

// Reports what is not a fact of a known initial state.
bool Parser::refuse_fact(SExpr fact) {
  const std::string_view head = fact.head();
  if (fact.is_name() || head.empty()) {
    reporter_.error(fact.where(), str_cat("expected a fact but found ", in_quotes(fact.to_text(60))),
                    "write (predicate object ...)");
    return true;
  }
  if (predicates_.contains(head)) return false;
  if (head == "oneof" || head == "unknown" || head == "or") {
    reporter_.error(fact.where(), str_cat("uncertainty (", head, " ...) is not supported"),
                    "the initial state is fully known: list the facts that are true");
    return true;
  }
  if (head == "and") {
    reporter_.error(fact.where(), "(and ...) in the initial state", "list the facts directly: (:init (p) (q))");
    return true;
  }
  return false;
}

void Parser::parse_fact(SExpr fact) {
  if (is_timed_fact(fact)) return parse_timed_fact(fact);
  if (refuse_fact(fact)) return;
  if (fact.head() == "=") return parse_value(fact);
  if (fact.head() == "not") return parse_negative_fact(fact);
  std::optional<GroundAtom> atom = ground_atom(fact);
  if (!atom) return;
  if (!facts_.emplace(task::FactSymbol{atom->predicate, atom->arguments}, ast_.init.size()).second) {
    ++num_duplicate_facts_;
    if (!first_duplicate_) first_duplicate_ = std::move(*atom);
    return;
  }
  note_ill_typed(*atom);
  ast_.init.push_back(std::move(*atom));
}

// (not (p)) in the initial state: true already, since what is not listed is false. Only checked.
void Parser::parse_negative_fact(SExpr fact) {
  if (!has_size(fact, 2, "(not (predicate object ...))")) return;
  if (fact[1].head() == "not" || fact[1].head() == "=") {
    reporter_.error(fact.where(), str_cat("expected a fact but found ", fact.to_text(60)),
                    "facts that are false need not be listed");
    return;
  }
  if (!refuse_fact(fact[1])) ground_atom(fact[1]);
}

std::optional<std::vector<ObjectId>> Parser::ground_arguments(SExpr expr) {
  std::vector<ObjectId> out;
  out.reserve(expr.size());
  bool good = true;
  VariableTable none;
  const Scope scope(none);
  for (std::size_t i = 1; i < expr.size(); ++i) {
    if (expr[i].text().starts_with('?')) {
      reporter_.error(expr[i].where(), str_cat("variable ", in_quotes(expr[i].text()), " in the initial state"),
                      "name an object");
      good = false;
      continue;
    }
    const std::optional<Term> term = parse_term(expr[i], scope);
    good = good && term;
    if (term) out.push_back(term->object());
  }
  if (!good) return std::nullopt;
  return out;
}

std::optional<GroundAtom> Parser::ground_atom(SExpr fact) {
  const auto found = predicates_.find(fact.head());
  if (found == predicates_.end()) {
    report_unknown_head(fact);
    return std::nullopt;
  }
  const Predicate& predicate = ast_.predicates[found->second];
  if (predicate.derived) {
    reporter_.error(fact.where(), str_cat("derived predicate ", in_quotes(predicate.name), " in the initial state"),
                    "it follows from other facts: list those");
    return std::nullopt;
  }
  std::optional<std::vector<ObjectId>> arguments = ground_arguments(fact);
  if (fact.size() - 1 != predicate.parameters.size()) {
    reporter_.error(fact.where(),
                    str_cat("predicate ", in_quotes(predicate.name), " has ",
                            counted(predicate.parameters.size(), "argument"), ", not ", fact.size() - 1),
                    str_cat("it is declared at line ", predicate.where.line, " of the domain"));
    return std::nullopt;
  }
  if (!arguments) return std::nullopt;
  return GroundAtom{found->second, std::move(*arguments), fact.where()};
}

void Parser::note_ill_typed(const GroundAtom& atom) {
  if (types_broken_) return;
  const Predicate& predicate = ast_.predicates[atom.predicate];
  for (std::size_t i = 0; i < atom.arguments.size(); ++i) {
    if (object_fits(atom.arguments[i], predicate.parameters[to_id<VariableId>(i)].types)) continue;
    IllTyped& entry = ill_typed_[{atom.predicate, i}];
    if (entry.count == 0) entry.first = atom;
    ++entry.count;
  }
}

void Parser::report_init_warnings() {
  for (const auto& [key, entry] : ill_typed_) {
    const auto& [predicate, index] = key;
    const Object& object = ast_.objects[entry.first.arguments[index]];
    std::string more;
    if (entry.count > 1)
      more = str_cat(" (and ", entry.count - 1, entry.count > 2 ? " more facts" : " more fact", " like it)");
    reporter_.warning(entry.first.where,
                      str_cat("ill-typed fact ", to_string(ast_, entry.first), more, ": argument ", index + 1, " is ",
                              in_quotes(object.name), " of type ", type_names(object.types), ", expected ",
                              type_names(ast_.predicates[predicate].parameters[to_id<VariableId>(index)].types)),
                      "it is kept");
  }
  if (!first_duplicate_) return;
  std::string more;
  if (num_duplicate_facts_ > 1) more = str_cat(" (", num_duplicate_facts_, " repeated facts in all)");
  reporter_.warning(first_duplicate_->where,
                    str_cat("fact ", to_string(ast_, *first_duplicate_), " is listed twice", more));
}

// A value of a function that nothing declares and nothing uses says nothing. Where a declared name is near, it is a
// misspelling, and find_function says so.
bool Parser::is_idle_function(SExpr left) {
  const std::string_view name = left.head();
  if (name.empty() || functions_.contains(name) || is_cost_name(name)) return false;
  if (idle_functions_.contains(name)) return true;
  ClosestName closest(name);
  for (const Function& function : ast_.functions) closest.offer(function.name);
  if (closest.found() || !reporter_.first("function", name)) return false;
  idle_functions_.insert(name);
  reporter_.warning(left.where(), str_cat("function ", in_quotes(name), " is not declared, and nothing uses it"),
                    "its values are ignored; add it to (:functions ...) of the domain, or delete them");
  return true;
}

// (= (distance a b) 3)
void Parser::parse_value(SExpr fact) {
  if (!has_size(fact, 3, "(= (function object ...) NUMBER)")) return;
  const std::optional<double> number = parse_number(fact[2].text());
  if (!fact[1].is_list() || !number) {
    reporter_.error(fact.where(), str_cat("expected the value of a function but found ", fact.to_text(60)),
                    "write (= (function object ...) NUMBER)");
    return;
  }
  const SExpr left = fact[1];
  if (is_idle_function(left)) return;
  const std::optional<FunctionId> id = find_function(left);
  if (!id) return;
  std::optional<std::vector<ObjectId>> arguments = ground_arguments(left);
  const Function& function = ast_.functions[*id];
  if (left.size() - 1 != function.parameters.size()) {
    reporter_.error(left.where(),
                    str_cat("function ", in_quotes(function.name), " has ",
                            counted(function.parameters.size(), "argument"), ", not ", left.size() - 1),
                    str_cat("it is declared at line ", function.where.line, " of the domain"));
    return;
  }
  if (!arguments) return;
  if (*number < 0 && cost_functions_.contains(*id)) {
    reporter_.error(fact.where(),
                    str_cat("function ", in_quotes(function.name), " is the cost of an action and negative here"),
                    "costs are not negative");
    return;
  }
  const auto [found, is_new] = values_.emplace(task::Symbol<FunctionId>{*id, *arguments}, ast_.init_values.size());
  if (is_new) {
    ast_.init_values.push_back({*id, std::move(*arguments), *number, Rational::parse(fact[2].text()), fact.where()});
  } else if (ast_.init_values[found->second].value == *number) {
    reporter_.warning(fact.where(), str_cat("the value of ", left.to_text(60), " is given twice"));
  } else {
    reporter_.error(fact.where(), str_cat("two values for ", left.to_text(60)), "keep one");
  }
}

namespace {

// Nothing but (and) and ().
bool asks_nothing(const Condition& condition) {
  if (condition.kind == Condition::Kind::kTrue) return true;
  return condition.kind == Condition::Kind::kAnd &&
         std::all_of(condition.children.begin(), condition.children.end(), asks_nothing);
}

// Where preferences stood nothing is asked for, and `forall` around them says nothing.
void drop_what_asks_nothing(Condition& condition) {
  const bool forall = condition.kind == Condition::Kind::kForall;
  if (!forall && condition.kind != Condition::Kind::kAnd) return;
  for (Condition& child : condition.children) drop_what_asks_nothing(child);
  if (forall && !asks_nothing(condition.children[0])) return;
  std::erase_if(condition.children, asks_nothing);
  if (!condition.children.empty()) return;
  const Position where = condition.where;
  condition = Condition();
  condition.where = where;
}

}  // namespace

void Parser::parse_goal(SExpr section) {
  if (section.size() == 1) {
    reporter_.error(section.where(), "the goal is missing in (:goal)", "write the condition to be reached");
    return;
  }
  if (section.size() > 2) {
    reporter_.error(section[2].where(), "(:goal ...) holds more than one condition",
                    "join them: (:goal (and ... ...))");
  }
  Scope scope(ast_.goal.variables);
  may_prefer_ = true;
  ast_.goal.condition = parse_condition(section[1], scope);
  may_prefer_ = false;
  parse_goal_preferences(section[1], {});
  if (!ast_.preferences.empty()) drop_what_asks_nothing(ast_.goal.condition);
}

void Parser::check_goal() {
  // A constraint may be the task's whole point. A condition with a mistake in it is read as true.
  if (!ast_.constraints.empty() || !ast_.preferences.empty() || reporter_.has_errors()) return;
  if (!asks_nothing(ast_.goal.condition)) return;
  reporter_.warning(ast_.goal.condition.where, "the goal is empty, so the empty plan reaches it",
                    "state what is to hold when the task is done");
}

namespace {

// Does an effect somewhere below do anything else to the function than increase it?
bool otherwise_changed(SExpr root, std::string_view function) {
  std::vector<SExpr> todo = {root};
  while (!todo.empty()) {
    const SExpr expr = todo.back();
    todo.pop_back();
    const std::string_view head = expr.head();
    const bool change = head == "assign" || head == "decrease" || head == "scale-up" || head == "scale-down";
    if (change && expr.size() > 1 && (expr[1].head() == function || expr[1].text() == function)) return true;
    for (std::size_t i = 0; i < expr.size(); ++i) {
      if (expr[i].is_list()) todo.push_back(expr[i]);
    }
  }
  return false;
}

}  // namespace

void Parser::find_metric(SExpr root, const std::optional<SExpr>& domain) {
  for (std::size_t i = 2; i < root.size(); ++i) {
    const SExpr section = root[i];
    if (section.head() != ":metric" || section.size() != 3) continue;
    const SExpr what = section[2];
    metric_has_preferences_ = metric_has_preferences_ || mentions_head(what, "is-violated");
    if (section[1].text() != "minimize" || (what.is_list() && what.size() != 1)) continue;
    const std::string_view name = what.is_list() ? what.head() : what.text();
    if (name != "total-time" && !(domain && otherwise_changed(*domain, name))) metric_function_ = name;
  }
}

void Parser::parse_metric(SExpr section) {
  if (section.size() != 3 || (section[1].text() != "minimize" && section[1].text() != "maximize")) {
    reporter_.error(section.where(), str_cat("expected a metric but found ", section.to_text(60)),
                    "write (:metric minimize (total-cost))");
    return;
  }
  const SExpr what = section[2];
  const std::string_view name = what.is_list() ? what.head() : what.text();
  if (section[1].text() == "maximize" || name != metric_function_ || metric_function_.empty()) {
    metric_ = section;
    return;
  }
  const std::optional<FunctionId> function = find_function(what);
  if (!function) return;
  if (!ast_.functions[*function].parameters.empty()) {
    reporter_.error(section.where(), str_cat("the metric's function ", in_quotes(name), " takes arguments"),
                    "write (:metric minimize (total-cost))");
    return;
  }
  use(Feature::kCosts, section.where());
  ast_.has_metric = true;
}

}  // namespace metactrl::pddl
