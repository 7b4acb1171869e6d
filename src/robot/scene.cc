// A domain and a problem whose initial state can be exchanged. States travel as text; here they become the atoms of
// the tree, the reference interpreter works on those, and a task is the same tree with other initial atoms, grounded
// anew: what can be reached from one state need not be reachable from another.
#include "metactrl/robot/scene.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <variant>

#include "pddl/copies.h"
#include "pddl/ground.h"
#include "pddl/hosts.h"
#include "pddl/interpret.h"
#include "pddl/parse.h"
#include "support/files.h"
#include "support/lower_case.h"
#include "support/nearest_name.h"
#include "support/str_cat.h"
#include "task/compile.h"

namespace metactrl {

using internal::str_cat;

class Scene::Impl {
 public:
  // What states speak of.
  struct Changing {
    internal::IdVector<pddl::PredicateId, bool> predicates;
    internal::IdVector<pddl::FunctionId, bool> functions;
    // Numbers that these rules have no name for: whatever happens, they stay.
    std::set<std::string, std::less<>> others = {};
  };

  Impl(const std::shared_ptr<const pddl::Ast>& ast, const LoadOptions& options)
      : Impl(ast, {options.max_ground_actions, options.max_ground_facts}, changing_in(*ast)) {}

  Impl(std::shared_ptr<const pddl::Ast> ast, const pddl::GroundLimits& limits, Changing changing)
      : ast_(std::move(ast)), limits_(limits), interpreter_(ast_), changing_(std::move(changing)) {
    for (const pddl::FunctionId f : ast_->functions.all()) functions_.emplace(ast_->functions[f].name, f);
    for (const pddl::PredicateId p : ast_->predicates.all()) predicates_.emplace(ast_->predicates[p].name, p);
    for (const ObjectId o : ast_->objects.all()) objects_.emplace(ast_->objects[o].name, o);
    for (const pddl::GroundAtom& atom : ast_->init) {
      if (changing_.predicates[atom.predicate]) {
        initial_.push_back(to_string(*ast_, atom));
      } else {
        fixed_.insert(fact_of(atom));
      }
    }
    for (const pddl::FunctionValue& value : ast_->init_values) {
      if (changing_.functions[value.function]) {
        initial_.push_back(text_of(value));
      } else if (ast_->functions[value.function].matters) {
        fixed_.values.emplace(pddl::Fluent{value.function, value.arguments}, *value.exact);
      }
    }
    std::sort(initial_.begin(), initial_.end());
  }

  std::shared_ptr<const Impl> with_facts_of(const Impl& other) const {
    Changing changing = changing_;
    for (const pddl::PredicateId p : changing.predicates.all()) {
      const pddl::Predicate& predicate = ast_->predicates[p];
      if (predicate.derived) continue;
      const auto found = other.predicates_.find(predicate.name);
      const bool theirs = found != other.predicates_.end() && other.changing_.predicates[found->second];
      if (changing.predicates[p] && !theirs) {
        throw InputError(
            ast_->files[0],
            str_cat("changes '", predicate.name, "', which no action of ", other.ast_->files[0], " changes"),
            "events may change only what actions change");
      }
      changing.predicates[p] = theirs;
    }
    check_numbers_against(other);
    for (const pddl::FunctionId f : other.ast_->functions.all()) {
      const auto found = functions_.find(other.ast_->functions[f].name);
      if (found != functions_.end()) {
        changing.functions[found->second] = other.changing_.functions[f];
      } else if (other.changing_.functions[f]) {
        changing.others.insert(other.ast_->functions[f].name);
      }
    }
    return std::make_shared<const Impl>(ast_, limits_, std::move(changing));
  }

  const pddl::Ast& ast() const { return *ast_; }
  const pddl::LiftedInterpreter& interpreter() const { return interpreter_; }
  const SceneState& initial() const { return initial_; }

  // "(on cup table)" or "(= (battery r) 7)".
  using Entry = std::variant<pddl::GroundAtom, pddl::FunctionValue>;
  std::optional<Entry> read(std::string_view text, std::string& problem) const {
    const std::string_view inner = inside(text);
    if (!inner.starts_with('=')) return read_atom(text, problem);
    return read_value(text, trimmed(inner.substr(1)), problem);
  }

  std::string text_of(const Entry& entry) const {
    if (const auto* atom = std::get_if<pddl::GroundAtom>(&entry)) return to_string(*ast_, *atom);
    const auto& value = std::get<pddl::FunctionValue>(entry);
    return str_cat("(= ", interpreter_.fluent_text({value.function, value.arguments}), ' ', value.exact->text(), ')');
  }

  // Throws InputError for what is no fact of a state.
  pddl::GivenState given(const SceneState& state) const {
    pddl::GivenState result;
    for (const std::string& fact : state) {
      if (is_other(fact)) continue;
      std::string problem;
      std::optional<Entry> entry = read(fact, problem);
      if (!entry) throw InputError("state", problem);
      if (auto* atom = std::get_if<pddl::GroundAtom>(&*entry)) {
        result.atoms.push_back(std::move(*atom));
      } else {
        result.values.push_back(std::get<pddl::FunctionValue>(*std::move(entry)));
      }
    }
    return result;
  }

  pddl::Facts facts(const SceneState& state) const {
    pddl::Facts result = fixed_;
    const pddl::GivenState given_state = given(state);
    for (const pddl::GroundAtom& atom : given_state.atoms) result.insert(fact_of(atom));
    for (const pddl::FunctionValue& value : given_state.values) {
      if (!result.values.emplace(pddl::Fluent{value.function, value.arguments}, *value.exact).second) {
        throw InputError("state",
                         str_cat("gives ", interpreter_.fluent_text({value.function, value.arguments}), " two values"));
      }
    }
    return interpreter_.complete(std::move(result));
  }

  // The state behind another, which says what these rules do not speak of.
  SceneState state(const pddl::Facts& facts, const SceneState& before) const {
    SceneState result;
    for (const pddl::Fact& fact : facts) {
      if (changing_.predicates[fact.name] && !ast_->predicates[fact.name].derived)
        result.push_back(interpreter_.fact_text(fact));
    }
    for (const auto& [fluent, value] : facts.values) {
      if (!changing_.functions[fluent.name]) continue;
      result.push_back(str_cat("(= ", interpreter_.fluent_text(fluent), ' ', value.text(), ')'));
    }
    std::copy_if(before.begin(), before.end(), std::back_inserter(result),
                 [this](const std::string& fact) { return is_other(fact); });
    std::sort(result.begin(), result.end());
    return result;
  }

  Task task(std::span<const SceneState> states) const {
    std::vector<pddl::GivenState> given_states;
    for (const SceneState& state : states) given_states.push_back(given(state));
    auto product = std::make_shared<pddl::Ast>(pddl::with_states(*ast_, given_states));
    task::Definition definition = pddl::ground(*product, limits_);
    auto reference = std::make_shared<pddl::LiftedInterpreter>(std::move(product));
    return {task::compile(std::move(definition)), std::move(reference)};
  }

  std::vector<std::string> fixed_facts() const {
    std::vector<std::string> result;
    for (const pddl::GroundAtom& atom : ast_->init) {
      if (!changing_.predicates[atom.predicate]) result.push_back(to_string(*ast_, atom));
    }
    for (const pddl::FunctionValue& value : ast_->init_values) {
      const bool matters = ast_->functions[value.function].matters;
      if (matters && !changing_.functions[value.function]) result.push_back(text_of(value));
    }
    return result;
  }

  // Worked out when it is first asked for. Of a number, what it can be is not listed.
  const std::vector<std::string>& possible_facts() const {
    std::call_once(possible_once_, [this] {
      const task::Definition definition = pddl::ground(*ast_, limits_);
      for (const task::FactId fact : definition.facts.all()) {
        const bool is_number = internal::index(definition.facts[fact].name) >= ast_->predicates.size();
        if (definition.fact_layer[fact] < 0 && !is_number) possible_.push_back(task::fact_text(definition, fact));
      }
      std::sort(possible_.begin(), possible_.end());
    });
    return possible_;
  }

 private:
  static pddl::Fact fact_of(const pddl::GroundAtom& atom) { return {atom.predicate, atom.arguments}; }

  static Changing changing_in(const pddl::Ast& ast) {
    Changing changing{pddl::changing_predicates(ast), {}};
    for (const pddl::Function& function : ast.functions) {
      changing.functions.push_back(pddl::is_changing_number(function));
    }
    return changing;
  }

  bool is_other(std::string_view fact) const {
    if (changing_.others.empty()) return false;
    const std::string_view number = Scene::number(fact);
    return !number.empty() && changing_.others.contains(number.substr(1, number.find_first_of(" )") - 1));
  }

  // Events and actions must agree on what a number is.
  void check_numbers_against(const Impl& other) const {
    for (const pddl::Function& function : ast_->functions) {
      if (!function.changes) continue;
      const auto found = other.functions_.find(function.name);
      if (found == other.functions_.end() || !other.changing_.functions[found->second]) {
        if (!function.matters) continue;  // neither of them can tell its values apart
        throw InputError(ast_->files[0],
                         str_cat("changes '", function.name, "', which no action of ", other.ast_->files[0],
                                 " changes and compares"),
                         "events may change only what actions change");
      }
      if (function.matters) continue;
      throw InputError(ast_->files[0], str_cat("changes '", function.name, "', but no event compares it"),
                       str_cat("say when the event can happen, as in (>= (", function.name, " ...) 0)"));
    }
  }

  static std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(kBlank);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
  }

  // What is between its outermost parentheses, without blanks around it; nothing when there are none.
  static std::string_view inside(std::string_view text) {
    text = trimmed(text);
    if (text.size() < 2 || text.front() != '(' || text.back() != ')') return {};
    return trimmed(text.substr(1, text.size() - 2));
  }

  // What the first word names, with as many objects as there are further words; nothing, and why, when it is none.
  template <typename Id, typename Names, typename Item>
  std::optional<Id> named(const std::vector<std::string>& words, const char* kind, const Names& names,
                          const internal::IdVector<Id, Item>& items, std::string& problem) const {
    const auto found = names.find(words[0]);
    if (found == names.end()) {
      problem = str_cat("there is no ", kind, " '", words[0], "'", hint(words[0], names));
      return std::nullopt;
    }
    const std::size_t wanted = items[found->second].parameters.size();
    if (words.size() == wanted + 1) return found->second;
    problem = str_cat(kind, " '", words[0], "' takes ", wanted, " objects, not ", words.size() - 1);
    return std::nullopt;
  }

  std::optional<Entry> read_value(std::string_view text, std::string_view sides, std::string& problem) const {
    const std::size_t close = sides.find(')');
    const std::vector<std::string> words =
        close == std::string_view::npos ? std::vector<std::string>() : split(sides.substr(0, close + 1));
    if (words.empty()) {
      problem = str_cat("'", text, "' gives no number a value; write it like (= (battery robot) 7)");
      return std::nullopt;
    }
    const auto function = named(words, "function", functions_, ast_->functions, problem);
    if (!function) return std::nullopt;
    pddl::FunctionValue value{*function, {}};
    if (!read_objects(words, value.arguments, problem)) return std::nullopt;
    if (!changing_.functions[*function]) {
      problem =
          ast_->functions[*function].changes
              ? str_cat("no condition depends on '", words[0], "'; it is not part of states")
              : str_cat("no action changes '", words[0], "'; it is part of the problem file and never stated anew");
      return std::nullopt;
    }
    value.exact = read_number(trimmed(sides.substr(close + 1)));
    if (!value.exact) {
      problem = str_cat("'", trimmed(sides.substr(close + 1)), "' is no exact number; write it like 7, -0.25 or 1/3");
      return std::nullopt;
    }
    value.value = static_cast<double>(value.exact->numerator()) / static_cast<double>(value.exact->denominator());
    return value;
  }

  // As Rational::text writes it.
  static std::optional<internal::Rational> read_number(std::string_view text) {
    const std::size_t slash = text.find('/');
    const std::optional<internal::Rational> first = internal::Rational::parse(text.substr(0, slash));
    if (slash == std::string_view::npos || !first) return first;
    const std::optional<internal::Rational> second = internal::Rational::parse(text.substr(slash + 1));
    return second ? divide(*first, *second) : std::nullopt;
  }

  // The objects behind the first word.
  bool read_objects(const std::vector<std::string>& words, std::vector<ObjectId>& out, std::string& problem) const {
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto object = objects_.find(words[i]);
      if (object == objects_.end()) {
        problem = str_cat("there is no object '", words[i], "'", hint(words[i], objects_));
        return false;
      }
      out.push_back(object->second);
    }
    return true;
  }

  std::optional<Entry> read_atom(std::string_view text, std::string& problem) const {
    const std::vector<std::string> words = split(text);
    if (words.empty()) {
      problem = str_cat("'", text, "' is no fact; write it like (on cup table)");
      return std::nullopt;
    }
    const auto predicate = named(words, "predicate", predicates_, ast_->predicates, problem);
    if (!predicate) return std::nullopt;
    pddl::GroundAtom atom{*predicate, {}, {}};
    if (!read_objects(words, atom.arguments, problem)) return std::nullopt;
    if (ast_->predicates[*predicate].derived) {
      problem = str_cat("'", words[0], "' follows from other facts; state those");
      return std::nullopt;
    }
    if (!changing_.predicates[*predicate]) {
      problem = str_cat("no action changes '", words[0], "'; it is part of the problem file and never stated anew");
      return std::nullopt;
    }
    return atom;
  }

  // The words between the parentheses, in lower case; none when it does not look like that.
  static std::vector<std::string> split(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r\n";
    text = inside(text);
    std::vector<std::string> words;
    while (true) {
      const std::size_t start = text.find_first_not_of(kBlank);
      if (start == std::string_view::npos) return words;
      const std::size_t stop = std::min(text.find_first_of(kBlank, start), text.size());
      std::string word(text.substr(start, stop - start));
      for (char& c : word) {
        if (c == '(' || c == ')' || c == ';') return {};
        c = internal::lower_case(c);
      }
      words.push_back(std::move(word));
      text.remove_prefix(stop);
    }
  }

  template <typename Id>
  static std::string hint(const std::string& name, const std::map<std::string, Id>& known) {
    std::vector<std::string> names;
    for (const auto& entry : known) names.push_back(entry.first);
    const std::string guess = internal::did_you_mean(name, names);
    return guess.empty() ? guess : "; " + guess;
  }

  std::shared_ptr<const pddl::Ast> ast_;
  pddl::GroundLimits limits_;
  pddl::LiftedInterpreter interpreter_;
  Changing changing_;
  std::map<std::string, pddl::PredicateId> predicates_;
  std::map<std::string, pddl::FunctionId> functions_;
  std::map<std::string, ObjectId> objects_;
  SceneState initial_;
  pddl::Facts fixed_;
  mutable std::once_flag possible_once_;
  mutable std::vector<std::string> possible_;
};

namespace {

std::shared_ptr<const pddl::Ast> parse_scene(const pddl::Source& domain, const pddl::Source& problem,
                                             const LoadOptions& options) {
  Diagnostics local;
  Diagnostics& diagnostics = options.diagnostics != nullptr ? *options.diagnostics : local;
  auto ast = std::make_shared<pddl::Ast>(pddl::parse(domain, problem, diagnostics));
  forget_hosts(*ast, "a robot looks at what has become of one action before the next begins");
  for (const pddl::Preference& preference : ast->take_out_preferences_of_the_way()) {
    diagnostics.warning({ast->files[preference.where.file], preference.where.line, preference.where.column},
                        str_cat("the preference ", preference.name, preference.name.empty() ? "" : " ",
                                "looks back, and is not pursued in a scene that is acted in"),
                        "prefer what is to hold at the end");
  }
  for (const pddl::Constraint& constraint : ast->constraints) {
    if (constraint.kind == pddl::Constraint::Kind::kAlways) continue;
    diagnostics.error(
        {ast->files[constraint.where.file], constraint.where.line, constraint.where.column},
        str_cat("the constraint ", constraint.text, " looks back at what happened before the present state"),
        "a scene that changes while it is acted in understands (always ...) only; express the rest as facts");
  }
  if (!ast->timed.empty()) {
    const pddl::Position& where = ast->timed[0].atom.where;
    diagnostics.error({ast->files[where.file], where.line, where.column},
                      "timed initial literals and deadlines are not understood in a scene that is acted in",
                      "delete them: what changes by itself is observed");
  }
  if (diagnostics.has_errors()) throw InputError(diagnostics);
  return ast;
}

}  // namespace

Scene Scene::load(const std::string& domain_file, const std::string& problem_file, const LoadOptions& options) {
  const std::string domain = internal::read_file(domain_file);
  const std::string problem = internal::read_file(problem_file);
  return Scene(
      std::make_shared<const Impl>(parse_scene({domain_file, domain}, {problem_file, problem}, options), options));
}

Scene Scene::load_text(std::string_view domain, std::string_view problem, const LoadOptions& options) {
  return Scene(std::make_shared<const Impl>(parse_scene({"domain", domain}, {"problem", problem}, options), options));
}

Scene Scene::with_facts_of(const Scene& other) const { return Scene(impl_->with_facts_of(*other.impl_)); }

const std::string& Scene::name() const { return impl_->ast().problem_name; }

std::vector<std::string> Scene::objects() const {
  std::vector<std::string> result;
  for (const pddl::Object& object : impl_->ast().objects) result.push_back(object.name);
  return result;
}

std::vector<std::string> Scene::actions() const {
  std::vector<std::string> result;
  for (const pddl::Action& action : impl_->ast().actions) result.push_back(action.name);
  return result;
}

std::vector<std::string> Scene::goals() const {
  const pddl::Goal& goal = impl_->ast().goal;
  std::vector<std::string> result;
  const auto collect = [&](const auto& self, const pddl::Condition& condition) -> void {
    if (condition.kind == pddl::Condition::Kind::kAnd) {
      for (const pddl::Condition& child : condition.children) self(self, child);
    } else if (condition.kind != pddl::Condition::Kind::kTrue) {
      result.push_back(to_string(impl_->ast(), goal.variables, condition));
    }
  };
  collect(collect, goal.condition);
  return result;
}

std::vector<std::string> Scene::fixed_facts() const { return impl_->fixed_facts(); }

std::optional<std::string> Scene::read_fact(std::string_view text, std::string& problem) const {
  const std::optional<Impl::Entry> entry = impl_->read(text, problem);
  return entry ? std::optional<std::string>(impl_->text_of(*entry)) : std::nullopt;
}

std::string_view Scene::number(std::string_view fact) {
  if (!fact.starts_with("(= (")) return {};
  return fact.substr(3, fact.find(')') - 2);
}

std::string_view Scene::subject(std::string_view fact) {
  if (const std::string_view number = Scene::number(fact); !number.empty()) fact = number;
  const std::size_t blank = fact.find(' ');
  if (blank == std::string_view::npos) return {};
  const std::size_t end = fact.find_first_of(" )", blank + 1);
  return fact.substr(blank + 1, end - blank - 1);
}

const std::vector<std::string>& Scene::possible_facts() const { return impl_->possible_facts(); }

SceneState Scene::initial_state() const { return impl_->initial(); }

std::optional<SceneState> Scene::apply(const SceneState& state, const PlanStep& step) const {
  std::string problem;
  const std::optional<pddl::Instance> instance = impl_->interpreter().resolve(step, problem);
  if (!instance) return std::nullopt;
  const pddl::Facts facts = impl_->facts(state);
  if (!impl_->interpreter().applicable(facts, *instance)) return std::nullopt;
  SceneState next = impl_->state(impl_->interpreter().apply(facts, *instance), state);
  if (impl_->ast().constraints.empty()) return next;
  return why_illegal(state, step).empty() ? std::optional<SceneState>(std::move(next)) : std::nullopt;
}

std::optional<std::int64_t> Scene::duration(const SceneState& state, const PlanStep& step) const {
  std::string problem;
  const std::optional<pddl::Instance> instance = impl_->interpreter().resolve(step, problem);
  return instance ? impl_->interpreter().time_taken(impl_->facts(state), *instance) : std::nullopt;
}

std::string Scene::why_illegal(const SceneState& state, const PlanStep& step) const {
  const Validation validation = validate(state, {&step, 1});
  return validation.steps_executed == 1 ? std::string() : validation.reason;
}

std::vector<PlanStep> Scene::legal_steps(const SceneState& state, const std::string& action) const {
  const pddl::Facts facts = impl_->facts(state);
  std::vector<PlanStep> result;
  for (const pddl::Instance& instance : impl_->interpreter().instances()) {
    if (impl_->ast().actions[instance.action].name != action) continue;
    if (impl_->interpreter().applicable(facts, instance)) result.push_back(impl_->interpreter().step(instance));
  }
  return result;
}

bool Scene::is_goal(const SceneState& state) const { return impl_->interpreter().goal_holds(impl_->facts(state)); }

std::vector<std::string> Scene::unmet_goals(const SceneState& state) const { return validate(state, {}).unmet_goals; }

Validation Scene::validate(const SceneState& state, std::span<const PlanStep> plan) const {
  return impl_->interpreter().validate(impl_->facts(state), plan);
}

Task Scene::at(const SceneState& state) const { return impl_->task({&state, 1}); }

Task Scene::at_all(std::span<const SceneState> states) const { return impl_->task(states); }

}  // namespace metactrl
