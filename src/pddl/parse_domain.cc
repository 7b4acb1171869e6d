// Declarations of the domain: predicates, functions, actions, derived predicates.
//
// Actions are registered by name before any body is read, and so are the heads of derived predicates: a body may then
// be checked against all of them, wherever they stand in the file.
#include <algorithm>
#include <array>
#include <utility>

#include "pddl/parser.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

using internal::str_cat;

namespace {

// Names that the grammar of conditions and effects needs for itself.
constexpr std::array<std::string_view, 9> kReserved = {"and",    "or",   "not",    "imply",   "forall",
                                                       "exists", "when", "either", "increase"};

bool is_reserved(std::string_view name) {
  return std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
}

}  // namespace

void Parser::parse_predicates(SExpr section) {
  for (std::size_t i = 1; i < section.size() && !reporter_.exhausted(); ++i) {
    const SExpr declaration = section[i];
    const std::string_view name = declaration.head();
    if (name.empty()) {
      reporter_.error(declaration.where(),
                      str_cat("expected a predicate but found ", in_quotes(declaration.to_text(60))),
                      "predicates are declared as (name ?x ?y - type)");
      continue;
    }
    if (name == "=") {
      reporter_.warning(declaration.where(), "predicate '=' is declared although it always exists", "delete it");
      continue;
    }
    if (is_reserved(name) || name.starts_with('?') || name.starts_with(':')) {
      reporter_.error(declaration[0].where(), str_cat(in_quotes(name), " cannot be the name of a predicate"),
                      "rename it");
      continue;
    }
    Predicate predicate{std::string(name), parse_parameters(declaration), declaration.where()};
    const auto [found, is_new] = predicates_.emplace(name, ast_.predicates.next_id());
    if (!is_new) {
      report_declared_twice("predicate", declaration, ast_.predicates[found->second], predicate.parameters);
      continue;
    }
    ast_.predicates.push_back(std::move(predicate));
  }
}

void Parser::parse_functions(SExpr section) {
  for (std::size_t i = 1; i < section.size() && !reporter_.exhausted(); ++i) {
    const SExpr entry = section[i];
    if (entry.text() == "-number") continue;
    if (entry.text() == "-") {
      if (i + 1 < section.size() && section[i + 1].text() == "number") {
        ++i;
        continue;
      }
      reporter_.error(entry.where(), "functions whose values are objects are not supported",
                      "write '- number', or use a predicate with one more argument");
      ++i;
      continue;
    }
    add_function(entry);
  }
}

void Parser::add_function(SExpr declaration) {
  const std::string_view name = declaration.head();
  if (name.empty()) {
    reporter_.error(declaration.where(), str_cat("expected a function but found ", in_quotes(declaration.to_text(60))),
                    "functions are declared as (name ?x ?y - type) - number");
    return;
  }
  Function function{std::string(name), parse_parameters(declaration), declaration.where()};
  const auto [found, is_new] = functions_.emplace(name, ast_.functions.next_id());
  if (!is_new) {
    report_declared_twice("function", declaration, ast_.functions[found->second], function.parameters);
    return;
  }
  ast_.functions.push_back(std::move(function));
}

// Harmless when both say the same.
template <typename Declared>
void Parser::report_declared_twice(std::string_view kind, SExpr again, const Declared& first,
                                   const VariableTable& parameters) {
  const std::string what = str_cat(kind, " ", in_quotes(first.name), " is declared twice");
  const std::string where = str_cat("it is first declared at line ", first.where.line);
  const bool same = std::equal(first.parameters.begin(), first.parameters.end(), parameters.begin(), parameters.end(),
                               [](const Variable& a, const Variable& b) { return a.types == b.types; });
  if (same) {
    reporter_.warning(again.where(), what, where);
  } else {
    reporter_.error(again.where(), what + " with different parameters", where);
  }
}

void Parser::register_action(SExpr section) {
  if (section.size() < 2 || !section[1].is_name() || section[1].text().starts_with(':')) {
    reporter_.error(section.where(), "the action has no name", "write (:action NAME :parameters (...) ...)");
    return;
  }
  const std::string_view name = new_action_name(section);
  if (name.empty()) return;
  const ActionNameId id = ast_.actions.next_id();
  actions_.emplace(name, id);
  Action action;
  action.name = name;
  action.where = section.where();
  action_bodies_.emplace_back(id, section);
  ast_.actions.push_back(std::move(action));
}

// Two actions of one name cannot be told apart in a plan: the second gets a number. Empty for a copy of the first.
std::string_view Parser::new_action_name(SExpr section) {
  const std::string_view name = section[1].text();
  const auto found = actions_.find(name);
  if (found == actions_.end()) return name;
  const std::string what = str_cat("action ", in_quotes(name), " is declared twice");
  const std::string first = str_cat("it is first declared at line ", ast_.actions[found->second].where.line);
  constexpr std::size_t kEverything = std::size_t{1} << 20U;
  const SExpr body = action_bodies_[index(found->second)].second;
  if (body.to_text(kEverything) == section.to_text(kEverything)) {
    reporter_.warning(section[1].where(), what, str_cat(first, ", word for word the same; delete one"));
    return {};
  }
  std::size_t number = 2;
  std::string numbered = str_cat(name, '-', number);
  while (actions_.contains(numbered)) numbered = str_cat(name, '-', ++number);
  reporter_.warning(section[1].where(), what,
                    str_cat(first, "; this one is called ", in_quotes(numbered), " in plans: rename one"));
  return new_names_.emplace_back(std::move(numbered));
}

namespace {

constexpr std::array<std::string_view, 3> kActionFields = {":parameters", ":precondition", ":effect"};

}  // namespace

std::vector<std::optional<SExpr>> Parser::action_fields(SExpr section, const std::string& name,
                                                        std::span<const std::string_view> fields) {
  std::vector<std::optional<SExpr>> out(fields.size());
  for (std::size_t i = 2; i < section.size(); ++i) {
    const SExpr key = section[i];
    const auto field = std::find(fields.begin(), fields.end(), key.text());
    if (field == fields.end()) {
      ClosestName closest(key.text());
      std::string expected;
      for (std::size_t f = 0; f < fields.size(); ++f) {
        closest.offer(fields[f]);
        expected += str_cat(f == 0 ? "" : f + 1 == fields.size() ? " or " : ", ", fields[f]);
      }
      const bool nested = key.head() == ":action" || key.head() == ":durative-action" || key.head() == ":derived";
      reporter_.error(
          key.where(),
          str_cat("action ", in_quotes(name), ": expected ", expected, " but found ", in_quotes(key.to_text(40))),
          closest.hint(nested ? "a ')' is missing before it" : ""));
      // An unknown keyword takes its value with it.
      if (key.text().starts_with(':') && i + 1 < section.size() && section[i + 1].is_list()) ++i;
      continue;
    }
    if (i + 1 >= section.size() || section[i + 1].text().starts_with(':')) {
      reporter_.error(key.where(), str_cat("action ", in_quotes(name), ": ", *field, " has no value"),
                      "delete the keyword or write '()' after it");
      continue;
    }
    std::optional<SExpr>& value = out[static_cast<std::size_t>(field - fields.begin())];
    if (value) reporter_.error(key.where(), str_cat("action ", in_quotes(name), ": a second ", *field), "keep one");
    ++i;
    if (!value) value = section[i];
  }
  return out;
}

void Parser::open_parameters(const std::optional<SExpr>& parameters, Scope& scope, Action& action,
                             std::vector<Condition>& same) {
  if (parameters && parameters->is_list()) {
    open_variables(*parameters, 0, scope, &same);
  } else if (parameters) {
    reporter_.error(parameters->where(), str_cat("action ", in_quotes(action.name), ": :parameters is not a list"),
                    "write :parameters (?x - type ...)");
  }
  action.num_parameters = static_cast<std::uint32_t>(action.variables.size());
}

void Parser::parse_action(SExpr section, Action& action) {
  const std::vector<std::optional<SExpr>> fields = action_fields(section, action.name, kActionFields);
  const std::optional<SExpr>& precondition = fields[1];
  const std::optional<SExpr>& effect = fields[2];
  Scope scope(action.variables);
  std::vector<Condition> same;
  open_parameters(fields[0], scope, action, same);
  if (precondition) {
    if (precondition->is_list() && precondition->size() == 0) {
      reporter_.warning(precondition->where(),
                        str_cat("action ", in_quotes(action.name), " has an empty :precondition ()"),
                        "it is always applicable");
    }
    action.precondition = parse_condition(*precondition, scope);
  } else {
    action.precondition.where = section.where();
  }
  if (!same.empty()) {
    same.push_back(std::move(action.precondition));
    action.precondition = {};
    action.precondition.kind = Condition::Kind::kAnd;
    action.precondition.where = same.back().where;
    action.precondition.children = std::move(same);
  }
  if (!effect) {
    reporter_.warning(section.where(), str_cat("action ", in_quotes(action.name), " has no :effect"),
                      "it changes nothing");
    return;
  }
  if (effect->is_list() && effect->size() == 0) {
    reporter_.warning(effect->where(), str_cat("action ", in_quotes(action.name), " has an empty :effect ()"),
                      "it changes nothing");
    return;
  }
  parse_effect(*effect, scope, action, {}, 0);
}

void Parser::mark_derived(SExpr section) {
  use(Feature::kDerived, section.where());
  if (section.size() < 2 || section[1].head().empty()) return;
  if (!predicates_.contains(section[1].head())) declare_derived(section[1]);
  const auto found = predicates_.find(section[1].head());
  if (found != predicates_.end()) ast_.predicates[found->second].derived = true;
}

// The head says what a declaration would.
void Parser::declare_derived(SExpr head) {
  const std::string_view name = head.head();
  if (is_reserved(name) || name == "=" || name.starts_with('?') || name.starts_with(':')) return;
  reporter_.warning(head.where(), str_cat("derived predicate ", in_quotes(name), " is not declared"),
                    str_cat("add ", head.to_text(60), " to (:predicates ...)"));
  predicates_.emplace(name, ast_.predicates.next_id());
  ast_.predicates.push_back({std::string(name), parse_parameters(head), head.where()});
}

void Parser::parse_derived(SExpr section) {
  if (!has_size(section, 3, "(:derived (predicate ?x ...) CONDITION)")) return;
  const SExpr head = section[1];
  if (head.head().empty()) {
    reporter_.error(head.where(), "expected the head of a derived predicate",
                    "write (:derived (predicate ?x ...) CONDITION)");
    return;
  }
  const auto found = predicates_.find(head.head());
  if (found == predicates_.end()) {
    report_unknown_head(head);
    return;
  }
  Axiom axiom;
  axiom.head = found->second;
  axiom.where = section.where();
  Scope scope(axiom.variables);
  if (!open_head(head, ast_.predicates[found->second], axiom, scope)) return;
  axiom.body = parse_condition(section[2], scope);
  ast_.axioms.push_back(std::move(axiom));
}

bool Parser::open_head(SExpr head, const Predicate& predicate, Axiom& axiom, Scope& scope) {
  const std::vector<TypedName> names = typed_names(head, 1);
  bool good = true;
  for (const TypedName& entry : names) {
    if (!check_variable_name(entry.name)) {
      good = false;
      continue;
    }
    const std::string_view name = entry.name.text();
    if (scope.find(name)) {
      reporter_.error(entry.name.where(), str_cat("variable ", in_quotes(name), " is declared twice in one list"),
                      "use two variables and (= ...)");
      good = false;
    }
    const VariableId variable = axiom.variables.next_id();
    const bool declared = predicate.parameters.contains(variable);
    // A head without types means the declared ones.
    std::vector<TypeId> types =
        !entry.type && declared ? predicate.parameters[variable].types : resolve_types(entry.type);
    scope.open(name, {std::string(name), std::move(types), entry.name.where()});
    if (declared) {
      check_argument(variable, scope, predicate.parameters[variable].types, entry.name.where(), predicate.name,
                     index(variable) + std::size_t{1});
    }
  }
  axiom.num_parameters = static_cast<std::uint32_t>(axiom.variables.size());
  if (!good) return false;
  if (axiom.variables.size() == predicate.parameters.size()) return true;
  reporter_.error(head.where(),
                  str_cat("predicate ", in_quotes(predicate.name), " has ",
                          counted(predicate.parameters.size(), "argument"), ", not ", axiom.variables.size()),
                  str_cat("it is declared at line ", predicate.where.line));
  return false;
}

}  // namespace metactrl::pddl
