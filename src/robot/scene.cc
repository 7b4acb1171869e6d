// A domain and a problem whose initial state can be exchanged. States travel as text; here they become the atoms of
// the tree, the reference interpreter works on those, and a task is the same tree with other initial atoms, grounded
// anew: what can be reached from one state need not be reachable from another.
#include "metactrl/robot/scene.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "pddl/copies.h"
#include "pddl/ground.h"
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
  using Changing = internal::IdVector<pddl::PredicateId, bool>;

  Impl(const std::shared_ptr<const pddl::Ast>& ast, const LoadOptions& options)
      : Impl(ast, {options.max_ground_actions, options.max_ground_facts}, pddl::changing_predicates(*ast)) {}

  Impl(std::shared_ptr<const pddl::Ast> ast, const pddl::GroundLimits& limits, Changing changing)
      : ast_(std::move(ast)), limits_(limits), interpreter_(ast_), changing_(std::move(changing)) {
    for (const pddl::PredicateId p : ast_->predicates.all()) predicates_.emplace(ast_->predicates[p].name, p);
    for (const ObjectId o : ast_->objects.all()) objects_.emplace(ast_->objects[o].name, o);
    for (const pddl::GroundAtom& atom : ast_->init) {
      if (changing_[atom.predicate]) {
        initial_.push_back(to_string(*ast_, atom));
      } else {
        fixed_.insert(fact_of(atom));
      }
    }
    std::sort(initial_.begin(), initial_.end());
  }

  std::shared_ptr<const Impl> with_facts_of(const Impl& other) const {
    Changing changing = changing_;
    for (const pddl::PredicateId p : changing.all()) {
      const pddl::Predicate& predicate = ast_->predicates[p];
      if (predicate.derived) continue;
      const auto found = other.predicates_.find(predicate.name);
      const bool theirs = found != other.predicates_.end() && other.changing_[found->second];
      if (changing[p] && !theirs) {
        throw InputError(
            ast_->files[0],
            str_cat("changes '", predicate.name, "', which no action of ", other.ast_->files[0], " changes"),
            "events may change only what actions change");
      }
      changing[p] = theirs;
    }
    return std::make_shared<const Impl>(ast_, limits_, std::move(changing));
  }

  const pddl::Ast& ast() const { return *ast_; }
  const pddl::LiftedInterpreter& interpreter() const { return interpreter_; }
  const SceneState& initial() const { return initial_; }

  std::optional<pddl::GroundAtom> read(std::string_view text, std::string& problem) const {
    const std::vector<std::string> words = split(text);
    if (words.empty()) {
      problem = str_cat("'", text, "' is no fact; write it like (on cup table)");
      return std::nullopt;
    }
    const auto predicate = predicates_.find(words[0]);
    if (predicate == predicates_.end()) {
      problem = str_cat("there is no predicate '", words[0], "'", hint(words[0], predicates_));
      return std::nullopt;
    }
    const pddl::Predicate& declared = ast_->predicates[predicate->second];
    if (words.size() != declared.parameters.size() + 1) {
      problem =
          str_cat("predicate '", words[0], "' takes ", declared.parameters.size(), " objects, not ", words.size() - 1);
      return std::nullopt;
    }
    pddl::GroundAtom atom{predicate->second, {}, {}};
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto object = objects_.find(words[i]);
      if (object == objects_.end()) {
        problem = str_cat("there is no object '", words[i], "'", hint(words[i], objects_));
        return std::nullopt;
      }
      atom.arguments.push_back(object->second);
    }
    if (declared.derived) {
      problem = str_cat("'", words[0], "' follows from other facts; state those");
      return std::nullopt;
    }
    if (!changing_[predicate->second]) {
      problem = str_cat("no action changes '", words[0], "'; it is part of the problem file and never stated anew");
      return std::nullopt;
    }
    return atom;
  }

  // Throws InputError for what is no fact of a state.
  std::vector<pddl::GroundAtom> atoms(const SceneState& state) const {
    std::vector<pddl::GroundAtom> result;
    result.reserve(state.size());
    for (const std::string& fact : state) {
      std::string problem;
      std::optional<pddl::GroundAtom> atom = read(fact, problem);
      if (!atom) throw InputError("state", problem);
      result.push_back(*std::move(atom));
    }
    return result;
  }

  pddl::Facts facts(const SceneState& state) const {
    pddl::Facts result = fixed_;
    for (const pddl::GroundAtom& atom : atoms(state)) result.insert(fact_of(atom));
    return interpreter_.complete(std::move(result));
  }

  SceneState state(const pddl::Facts& facts) const {
    SceneState result;
    for (const pddl::Fact& fact : facts) {
      if (changing_[fact.name] && !ast_->predicates[fact.name].derived) result.push_back(interpreter_.fact_text(fact));
    }
    std::sort(result.begin(), result.end());
    return result;
  }

  Task task(std::span<const SceneState> states) const {
    std::vector<std::vector<pddl::GroundAtom>> atoms_of;
    for (const SceneState& state : states) atoms_of.push_back(atoms(state));
    auto product = std::make_shared<pddl::Ast>(pddl::with_states(*ast_, atoms_of));
    task::Definition definition = pddl::ground(*product, limits_);
    auto reference = std::make_shared<pddl::LiftedInterpreter>(std::move(product));
    return {task::compile(std::move(definition)), std::move(reference)};
  }

  std::vector<std::string> fixed_facts() const {
    std::vector<std::string> result;
    for (const pddl::GroundAtom& atom : ast_->init) {
      if (!changing_[atom.predicate]) result.push_back(to_string(*ast_, atom));
    }
    return result;
  }

  // Worked out when it is first asked for.
  const std::vector<std::string>& possible_facts() const {
    std::call_once(possible_once_, [this] {
      const task::Definition definition = pddl::ground(*ast_, limits_);
      for (const task::FactId fact : definition.facts.all()) {
        if (definition.fact_layer[fact] < 0) possible_.push_back(task::fact_text(definition, fact));
      }
      std::sort(possible_.begin(), possible_.end());
    });
    return possible_;
  }

 private:
  static pddl::Fact fact_of(const pddl::GroundAtom& atom) { return {atom.predicate, atom.arguments}; }

  // The words between the parentheses, in lower case; none when it does not look like that.
  static std::vector<std::string> split(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(kBlank);
    const std::size_t end = text.find_last_not_of(kBlank);
    if (begin == std::string_view::npos || text[begin] != '(' || text[end] != ')' || begin == end) return {};
    text = text.substr(begin + 1, end - begin - 1);
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
  std::erase_if(ast->preferences, [&](const pddl::Preference& preference) {
    const auto at_end = [](const pddl::Constraint& part) { return part.kind == pddl::Constraint::Kind::kAtEnd; };
    if (std::all_of(preference.parts.begin(), preference.parts.end(), at_end)) return false;
    diagnostics.warning({ast->files[preference.where.file], preference.where.line, preference.where.column},
                        str_cat("the preference ", preference.name, preference.name.empty() ? "" : " ",
                                "looks back, and is not pursued in a scene that is acted in"),
                        "prefer what is to hold at the end");
    return true;
  });
  for (const pddl::Constraint& constraint : ast->constraints) {
    if (constraint.kind == pddl::Constraint::Kind::kAlways) continue;
    diagnostics.error(
        {ast->files[constraint.where.file], constraint.where.line, constraint.where.column},
        str_cat("the constraint ", constraint.text, " looks back at what happened before the present state"),
        "a scene that changes while it is acted in understands (always ...) only; express the rest as facts");
  }
  if (!diagnostics.has_errors() && ast->has_numbers) {
    diagnostics.error({ast->files[0], 0, 0}, "numbers in conditions are not understood in a scene that is acted in",
                      "model the few values that matter by predicates");
  }
  if (!ast->timed.empty()) {
    const pddl::Position& where = ast->timed[0].atom.where;
    diagnostics.error({ast->files[where.file], where.line, where.column},
                      "timed initial literals are not understood in a scene that is acted in",
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
  const std::optional<pddl::GroundAtom> atom = impl_->read(text, problem);
  return atom ? std::optional<std::string>(to_string(impl_->ast(), *atom)) : std::nullopt;
}

std::string_view Scene::subject(std::string_view fact) {
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
  SceneState next = impl_->state(impl_->interpreter().apply(facts, *instance));
  if (impl_->ast().constraints.empty()) return next;
  return why_illegal(state, step).empty() ? std::optional<SceneState>(std::move(next)) : std::nullopt;
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
