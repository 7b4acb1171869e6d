// The two files as a whole. Sections are sorted by kind first and then resolved in the order of their dependencies
// (types, constants and objects, predicates, functions, actions, derived predicates, constraints; then the rest of the
// problem), because files in the wild list them in any order.
#include "pddl/parse.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include "pddl/hosts.h"
#include "pddl/parser.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

using internal::str_cat;

VariableId Scope::open(std::string_view name, Variable variable) {
  const VariableId slot = table_.next_id();
  table_.push_back(std::move(variable));
  slots_[name].push_back(slot);
  open_.push_back(name);
  return slot;
}

void Scope::close(std::size_t count) {
  for (; count > 0; --count) {
    slots_[open_.back()].pop_back();
    open_.pop_back();
  }
}

std::optional<VariableId> Scope::find(std::string_view name) const {
  const auto found = slots_.find(name);
  if (found == slots_.end() || found->second.empty()) return std::nullopt;
  return found->second.back();
}

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  // from_chars knows "inf" and "nan", which are names here.
  if (digits.empty() || !((digits[0] >= '0' && digits[0] <= '9') || digits[0] == '.')) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::size_t count_nodes(const Condition& condition) {
  std::size_t count = 1;
  for (const Condition& child : condition.children) count += count_nodes(child);
  return count;
}

namespace {

struct FeatureName {
  std::string_view what;
  std::string_view requirement;
};

// In the order of enum Feature.
constexpr std::array<FeatureName, static_cast<std::size_t>(Feature::kCount)> kFeatures = {{
    {"types are", ":typing"},
    {"negative conditions are", ":negative-preconditions"},
    {"disjunctive conditions are", ":disjunctive-preconditions"},
    {"equality is", ":equality"},
    {"existential conditions are", ":existential-preconditions"},
    {"universal conditions are", ":universal-preconditions"},
    {"conditional or universal effects are", ":conditional-effects"},
    {"derived predicates are", ":derived-predicates"},
    {"action costs are", ":action-costs"},
    {"trajectory constraints are", ":constraints"},
    {"numbers are", ":numeric-fluents"},
    {"durative actions are", ":durative-actions"},
    {"bounds of durations are", ":duration-inequalities"},
    {"preferences are", ":preferences"},
    {"timed initial literals are", ":timed-initial-literals"},
}};

using FeatureSet = std::uint32_t;  // bit i: feature i

template <typename... Features>
constexpr FeatureSet set_of(Features... features) {
  return (0U | ... | (1U << static_cast<unsigned>(features)));
}

struct Requirement {
  std::string_view name;
  FeatureSet features = 0;
  bool supported = true;
};

constexpr FeatureSet kAdl = set_of(Feature::kTyping, Feature::kNegation, Feature::kDisjunction, Feature::kEquality,
                                   Feature::kExistential, Feature::kUniversal, Feature::kConditionalEffects);

constexpr Requirement kRequirements[] = {
    {":strips", 0},
    {":typing", set_of(Feature::kTyping)},
    {":negative-preconditions", set_of(Feature::kNegation)},
    {":disjunctive-preconditions", set_of(Feature::kDisjunction)},
    {":equality", set_of(Feature::kEquality)},
    {":existential-preconditions", set_of(Feature::kExistential)},
    {":universal-preconditions", set_of(Feature::kUniversal)},
    {":quantified-preconditions", set_of(Feature::kExistential, Feature::kUniversal)},
    {":conditional-effects", set_of(Feature::kConditionalEffects)},
    {":adl", kAdl},
    {":ucpop", kAdl | set_of(Feature::kDerived)},
    {":derived-predicates", set_of(Feature::kDerived)},
    {":domain-axioms", set_of(Feature::kDerived)},
    {":action-costs", set_of(Feature::kCosts)},
    {":constraints", set_of(Feature::kConstraints)},
    {":fluents", set_of(Feature::kCosts, Feature::kNumbers)},
    {":numeric-fluents", set_of(Feature::kCosts, Feature::kNumbers)},
    {":object-fluents", 0, false},
    {":durative-actions", set_of(Feature::kDurations)},
    {":duration-inequalities", set_of(Feature::kDurations, Feature::kInequalities)},
    {":continuous-effects", 0, false},
    {":time", 0, false},
    {":timed-initial-literals", set_of(Feature::kTimedFacts)},
    {":preferences", set_of(Feature::kPreferences)},
    {":goal-utilities", 0, false},
    {":non-deterministic", 0, false},
    {":probabilistic-effects", 0, false},
    {":hierarchy", 0, false},
};

const Requirement* find_requirement(std::string_view name) {
  const Requirement* found = std::find_if(std::begin(kRequirements), std::end(kRequirements),
                                          [&](const Requirement& r) { return r.name == name; });
  return found == std::end(kRequirements) ? nullptr : found;
}

constexpr std::array<std::string_view, 9> kDomainSections = {":requirements", ":types",       ":constants",
                                                             ":predicates",   ":functions",   ":action",
                                                             ":derived",      ":constraints", ":durative-action"};
constexpr std::array<std::string_view, 8> kProblemSections = {":domain", ":requirements", ":objects", ":init",
                                                              ":goal",   ":constraints",  ":metric",  ":length"};

template <std::size_t kSize>
bool contains(const std::array<std::string_view, kSize>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What (define (KIND ...) ...) says, or empty.
std::string_view definition_kind(const std::optional<SExpr>& root) {
  if (!root || root->head() != "define" || root->size() < 2) return {};
  return (*root)[1].head();
}

}  // namespace

void Parser::use(Feature feature, Position where) {
  const auto index = static_cast<std::size_t>(feature);
  if (used_[index]) return;
  used_[index] = true;
  if (declared_[index]) return;
  const FeatureName& name = kFeatures[index];
  reporter_.warning(where, str_cat(name.what, " used but (:requirements ...) does not declare ", name.requirement),
                    "add it there; the file is read as if it did");
}

void Parser::parse_requirements(SExpr section) {
  for (std::size_t i = 1; i < section.size(); ++i) {
    const SExpr entry = section[i];
    const Requirement* requirement = find_requirement(entry.text());
    if (requirement == nullptr) {
      if (entry.is_list()) {
        reporter_.error(entry.where(), "expected a keyword such as :typing in (:requirements ...) but found a list");
      } else if (reporter_.first("requirement", entry.text())) {
        reporter_.warning(entry.where(), str_cat("unknown requirement ", in_quotes(entry.text())), "it is ignored");
      }
      continue;
    }
    if (!requirement->supported) {
      reporter_.warning(entry.where(), str_cat("requirement ", in_quotes(requirement->name), " is not supported"),
                        "the file can be read only as far as it does not use it");
    }
    declared_ |= requirement->features;
  }
}

bool Parser::check_definition(SExpr root, std::string_view kind, std::string& name) {
  const std::string shape = str_cat("(define (", kind, " NAME) ...)");
  if (root.head() != "define" || root.size() < 2 || !root[1].is_list()) {
    reporter_.error(root.where(), str_cat("expected ", shape), str_cat("a ", kind, " file consists of one ", shape));
    return false;
  }
  const SExpr title = root[1];
  if (title.head() != kind) {
    const bool other = title.head() == "domain" || title.head() == "problem";
    reporter_.error(title.where(),
                    other ? str_cat("this file defines a ", title.head(), ", but a ", kind, " is expected here")
                          : str_cat("expected (", kind, " NAME)"),
                    other ? "give the domain file first and the problem file second" : str_cat("write ", shape));
    return false;
  }
  if (title.size() != 2 || !title[1].is_name()) {
    reporter_.error(title.where(), str_cat("expected one name in (", kind, " NAME)"));
  } else {
    name = title[1].text();
  }
  return true;
}

bool Parser::check_definitions(const std::optional<SExpr>& domain, const std::optional<SExpr>& problem) {
  if (definition_kind(domain) == "problem" && definition_kind(problem) == "domain") {
    reporter_.error((*domain)[1].where(), "the domain and the problem are swapped: this file defines a problem",
                    "give the domain file first and the problem file second");
    return false;
  }
  const bool domain_ok = !domain || check_definition(*domain, "domain", ast_.domain_name);
  const bool problem_ok = !problem || check_definition(*problem, "problem", ast_.problem_name);
  return domain_ok && problem_ok;
}

void Parser::check_section_name(SExpr section, bool is_domain) {
  const std::string_view name = section.head();
  if (name == ":process" || name == ":event") {
    reporter_.error(section.where(), str_cat("processes and events (", name, ") are not supported"),
                    "model the change as the effect of an action, or remove it");
  } else if (name == ":axiom") {
    reporter_.error(section.where(), "(:axiom ...) is not supported", "write (:derived (p ?x) CONDITION)");
  } else if (name == ":task" || name == ":method" || name == ":htn") {
    reporter_.error(section.where(), str_cat("hierarchical planning (", name, ") is not supported"),
                    "state the task as a goal and plain actions");
  } else if (is_domain && contains(kProblemSections, name)) {
    reporter_.error(section.where(), str_cat("section (", name, " ...) belongs in the problem file"),
                    name == ":objects" ? "use (:constants ...) for objects that actions name" : "move it there");
  } else if (!is_domain && contains(kDomainSections, name)) {
    reporter_.error(section.where(), str_cat("section (", name, " ...) belongs in the domain file"),
                    name == ":constants" ? "use (:objects ...)" : "move it there");
  } else {
    ClosestName closest(name);
    using Names = std::span<const std::string_view>;
    for (const std::string_view known : is_domain ? Names(kDomainSections) : Names(kProblemSections))
      closest.offer(known);
    reporter_.error(section.where(), str_cat("unknown section ", in_quotes(name)), closest.hint("remove it"));
  }
}

Parser::Sections Parser::sections(SExpr root, bool is_domain) {
  Sections out;
  for (std::size_t i = 2; i < root.size() && !reporter_.exhausted(); ++i) {
    const SExpr section = root[i];
    const std::string_view name = section.head();
    if (!name.starts_with(':')) {
      reporter_.error(section.where(),
                      section.is_name() ? str_cat("expected a section but found ", in_quotes(section.text()))
                                        : std::string("expected a section that starts with a keyword"),
                      is_domain ? "sections look like (:action NAME ...)" : "sections look like (:init ...)");
      continue;
    }
    if (!(is_domain ? contains(kDomainSections, name) : contains(kProblemSections, name))) {
      check_section_name(section, is_domain);
      continue;
    }
    std::vector<SExpr>& same = out[name];
    if (!same.empty() && name != ":action" && name != ":durative-action" && name != ":derived") {
      if (name == ":goal" || name == ":metric" || name == ":domain") {
        reporter_.error(section.where(), str_cat("a second (", name, " ...) section"),
                        str_cat("the first one is at line ", same[0].where().line));
        continue;
      }
      reporter_.warning(section.where(), str_cat("a second (", name, " ...) section"),
                        str_cat("it is read as part of the one at line ", same[0].where().line));
    }
    same.push_back(section);
  }
  return out;
}

void Parser::parse_domain(SExpr root, const std::optional<SExpr>& problem) {
  Sections of = sections(root, true);
  for (const SExpr section : of[":requirements"]) parse_requirements(section);
  parse_types(of[":types"]);
  for (const SExpr section : of[":constants"]) parse_objects(section, true);
  // Files in the wild name objects in the domain that only the problem declares. Their types are no concern of the
  // domain.
  const bool broken = types_broken_;
  for (std::size_t i = 2; problem && i < problem->size(); ++i) {
    if ((*problem)[i].head() == ":objects") parse_objects((*problem)[i], false);
  }
  object_types_broken_ = std::exchange(types_broken_, broken);
  for (const SExpr section : of[":predicates"]) parse_predicates(section);
  for (const SExpr section : of[":functions"]) parse_functions(section);
  for (const SExpr section : of[":derived"]) mark_derived(section);
  for (const SExpr section : of[":action"]) register_action(section);
  for (const SExpr section : of[":durative-action"]) register_action(section);
  for (const auto& [action, section] : action_bodies_) {
    if (reporter_.exhausted()) break;
    if (section.head() == ":action") {
      parse_action(section, ast_.actions[action]);
    } else {
      parse_durative(section, ast_.actions[action]);
    }
  }
  for (const SExpr section : of[":derived"]) {
    if (!reporter_.exhausted()) parse_derived(section);
  }
  check_strata();
  for (const Action& action : ast_.actions) {
    if (action.durative && !reporter_.has_errors()) check_durative(action);
  }
  check_durations_at_end();
  for (const SExpr section : of[":constraints"]) {
    use(Feature::kConstraints, section.where());
    if (has_size(section, 2, "(:constraints CONSTRAINT)")) parse_constraint(section[1], {});
  }
}

void Parser::parse_problem(SExpr root, bool domain_known) {
  in_domain_ = false;
  types_broken_ = types_broken_ || object_types_broken_;
  Sections of = sections(root, false);
  if (of[":goal"].empty()) {
    reporter_.error(root.where(), "the problem has no (:goal ...)",
                    "add one: the condition that holds when the task is done; or plan with an instruction in words, of "
                    "which a model makes one");
  }
  if (!domain_known) return;  // every name would be unknown
  if (of[":domain"].empty()) {
    reporter_.warning(root.where(), "the problem does not name its domain",
                      str_cat("add (:domain ", ast_.domain_name, ")"));
  }
  for (const SExpr section : of[":domain"]) {
    if (!has_size(section, 2, "(:domain NAME)")) continue;
    if (section[1].text() != ast_.domain_name) {
      reporter_.warning(section.where(),
                        str_cat("the problem is for domain ", in_quotes(section[1].text()), " but the domain is ",
                                in_quotes(ast_.domain_name)),
                        "check that the two files belong together");
    }
  }
  for (const SExpr section : of[":metric"]) parse_metric(section);
  if (of[":init"].empty()) {
    reporter_.warning(root.where(), "the problem has no (:init ...)", "nothing is true in the initial state");
  }
  for (const SExpr section : of[":init"]) parse_init(section);
  report_init_warnings();
  for (const SExpr section : of[":goal"]) parse_goal(section);
  for (const SExpr section : of[":constraints"]) {
    use(Feature::kConstraints, section.where());
    if (has_size(section, 2, "(:constraints CONSTRAINT)")) parse_constraint(section[1], {});
  }
  if (at_end_.empty()) return check_goal();
  Condition all;
  all.kind = Condition::Kind::kAnd;
  all.where = ast_.goal.condition.where;
  all.children.push_back(std::move(ast_.goal.condition));
  for (Condition& condition : at_end_) all.children.push_back(std::move(condition));
  ast_.goal.condition = std::move(all);
  check_goal();
}

void Parser::run(std::optional<SExpr> domain, std::optional<SExpr> problem) {
  ast_.types.push_back({"object"});
  types_.emplace("object", kObjectType);
  if (!check_definitions(domain, problem)) return;
  if (problem) {
    // The requirements of both files count for both, and costs are counted by the function that the metric names.
    for (std::size_t i = 2; i < problem->size(); ++i) {
      if ((*problem)[i].head() == ":requirements") parse_requirements((*problem)[i]);
    }
    find_metric(*problem, domain);
  }
  if (domain) parse_domain(*domain, problem);
  if (problem) parse_problem(*problem, domain.has_value());
  if (ast_.has_durations) refuse_derived_beside_durations();
  if (ast_.has_durations) let_what_varies_take_time();
  if (domain && problem && !reporter_.has_errors()) {
    if (metric_) {
      finish_metric();
    } else {
      weigh_preferences(nullptr);
    }
  }
  if (domain && problem) finish_numbers();
  if (ast_.has_durations && !reporter_.has_errors()) let_actions_host();
  if (!ast_.timed.empty()) finish_timed();
  if (ast_.has_durations && !reporter_.has_errors()) choose_durations();
  if (ast_.has_durations && !reporter_.has_errors()) find_hosts(ast_);
}

Ast parse(const Source& domain, const Source& problem, Diagnostics& diagnostics) {
  Ast ast;
  ast.files[0] = domain.name;
  ast.files[1] = problem.name;
  Reporter reporter(domain.name, problem.name);
  const SExprTree domain_tree = read_sexpr(0, domain.text, reporter);
  const SExprTree problem_tree = read_sexpr(1, problem.text, reporter);
  Parser(ast, reporter).run(domain_tree.root(), problem_tree.root());
  reporter.flush(diagnostics);
  return ast;
}

}  // namespace metactrl::pddl
