// From a goal backwards, through what could make it true, to what nothing can.
//
// Relaxed reachability (reach.h) has every atom that could ever hold. A goal that needs an atom outside of it is out of
// reach. What could make that atom true are the effects and axioms that unify with it; each of them is *blocked*: a part
// of its condition matches no reachable atom under what unifying has bound, or a parameter has no object. A blocked part
// is an atom again, with some arguments open, and has the same question asked of it, until one is found that no effect
// adds: the root. A part can also ask for the opposite of what always holds, and parts that can each be had may have no objects in common. Where only
// the types of open arguments keep an atom from being reachable, the question is asked for each of their objects. Of
// several ways one is told: one that lacks something before one that is forbidden, what is true of nothing before what is
// true of others, then the shortest. An atom that is being explained already explains nothing.
//
// The roots say what to try: the fact itself, for each choice of objects for its open arguments, or an object of the
// type that has none. Where that does not help, since more than one thing is missing, the atoms between the root and the
// goal are tried, from the root on: with a wet scalpel no sink is needed. Where there is no root, the goals are within
// reach one by one, and any fact that a condition mentions may be the one that is missing. Whether a change helps is for
// others to prove.
#include "pddl/why_not.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "metactrl/domain.h"
#include "pddl/durations.h"
#include "pddl/ends_apart.h"
#include "pddl/fit_times.h"
#include "pddl/goal_part.h"
#include "pddl/ground_durations.h"
#include "pddl/hosts.h"
#include "pddl/interpret.h"
#include "pddl/reach.h"
#include "pddl/schedule.h"
#include "support/str_cat.h"
#include "task/compile.h"

namespace metactrl::pddl {

namespace {

using internal::str_cat;

// An atom with open arguments, each with the types that it may have there.
struct Pattern {
  PredicateId predicate{};
  std::vector<ObjectId> arguments;
  std::vector<std::vector<TypeId>> types;
  std::vector<std::string> words;  // the arguments as they are written, "?s" where one is open
  std::string text;
};

void write(Pattern& pattern, const std::string& name) {
  pattern.text = "(" + name;
  for (const std::string& word : pattern.words) pattern.text += " " + word;
  pattern.text += ")";
}

// What is missing in the end.
struct Root {
  std::optional<Pattern> fact;
  bool holds = false;            // it is not missing: it holds, and should not
  bool of_others = false;        // its predicate is true of other objects
  std::optional<TypeId> object;  // of which there is none
};

// Why something can never be had.
struct Explanation {
  std::string need;                // what cannot be had: "(sterile scalpel)"
  std::vector<std::string> steps;  // "(wash scalpel ?s) could, but needs (sink ?s)"
  std::string root;                // "(sink ?s) does not hold at the start, and no action makes it true"
  Root missing;
  std::vector<Pattern> way;  // the atoms from behind the root to what is explained, itself included
  bool by_type = false;      // objects were looked at one by one
};

class Detective {
 public:
  Detective(const Ast& ast, const GroundLimits& limits, internal::Meter& meter)
      : ast_(ast), ranges_(ast), reachable_(reach(ast, ranges_, limits.max_actions, limits.max_atoms, meter)) {}

  void run() {
    Binding binding(ast_.goal.variables.size(), kUnbound);
    visit_goal(ast_.goal.condition, binding);
  }

  const std::vector<std::string>& sentences() const { return sentences_; }
  const std::vector<Root>& roots() const { return roots_; }
  // The atoms between each root and its goal, from the root on.
  const std::vector<Pattern>& ways() const { return ways_; }

 private:
  // --- goals ---------------------------------------------------------------------------------------------------------

  // Explains each conjunct that cannot hold.
  void visit_goal(const Condition& condition, Binding& binding) {
    if (condition.kind == Condition::Kind::kAnd) {
      for (const Condition& child : condition.children) visit_goal(child, binding);
      return;
    }
    if (condition.kind == Condition::Kind::kForall && condition.bound.size() == 1) {
      for (const ObjectId object : ranges_.of(ast_.goal.variables[condition.bound[0]]).objects) {
        binding[condition.bound[0]] = object;
        visit_goal(condition.children[0], binding);
      }
      binding[condition.bound[0]] = kUnbound;
      return;
    }
    std::optional<Explanation> found = why_never(condition, ast_.goal.variables, binding);
    if (!found) return;
    std::string sentence = str_cat("the goal ", text(condition, ast_.goal.variables, binding), " cannot become true: ");
    for (const std::string& step : found->steps) sentence += step + "; ";
    sentence += found->root;
    if (std::find(sentences_.begin(), sentences_.end(), sentence) != sentences_.end()) return;
    sentences_.push_back(std::move(sentence));
    roots_.push_back(found->missing);
    if (!found->way.empty()) found->way.pop_back();  // the goal
    std::ranges::move(found->way, std::back_inserter(ways_));
  }

  // --- conditions ----------------------------------------------------------------------------------------------------

  // Nothing when the condition may hold, as far as one part of it after the other tells.
  std::optional<Explanation> why_never(const Condition& condition, const VariableTable& variables,
                                       const Binding& binding) {
    switch (condition.kind) {
      case Condition::Kind::kAtom:
        return why_no_atom(pattern(condition.atom, variables, binding));
      case Condition::Kind::kAnd: {
        std::optional<Explanation> shortest;
        for (const Condition& child : condition.children) {
          keep_shorter(why_never(child, variables, binding), shortest);
        }
        return shortest ? shortest : why_never_together(condition, variables, binding);
      }
      case Condition::Kind::kOr: {
        std::optional<Explanation> shortest;
        for (const Condition& child : condition.children) {
          std::optional<Explanation> one = why_never(child, variables, binding);
          if (!one) return std::nullopt;
          keep_shorter(std::move(one), shortest);
        }
        return shortest;
      }
      case Condition::Kind::kExists:
        for (const VariableId variable : condition.bound) {
          if (std::optional<Explanation> none = no_object(variables[variable])) return none;
        }
        return why_never(condition.children[0], variables, binding);
      case Condition::Kind::kNot:
        return why_always(condition.children[0], variables, binding);
      default:
        return std::nullopt;
    }
  }

  // Each part of the conjunction may hold, but not with the same objects: for each atom that one of them may be, another
  // part cannot hold. The part with the fewest such atoms is asked.
  std::optional<Explanation> why_never_together(const Condition& condition, const VariableTable& variables,
                                                const Binding& binding) {
    constexpr std::size_t kMostAtoms = 8;
    constexpr std::size_t kMostParts = 2;  // one inside the other
    if (parts_ == kMostParts) return std::nullopt;
    const Condition* part = nullptr;
    std::vector<Binding> choices;
    for (const Condition& child : condition.children) {
      if (child.kind != Condition::Kind::kAtom || !open_place(pattern(child.atom, variables, binding))) continue;
      std::vector<Binding> some = choices_for(child.atom, variables, binding);
      if (part != nullptr && some.size() >= choices.size()) continue;
      part = &child;
      choices = std::move(some);
    }
    if (part == nullptr || choices.size() > kMostAtoms) return std::nullopt;
    ++parts_;
    std::optional<Explanation> shortest;
    bool all = true;
    for (const Binding& choice : choices) {
      std::optional<Explanation> why = why_never(condition, variables, choice);
      all = all && why;
      if (!all) break;
      keep_shorter(std::move(why), shortest);
    }
    --parts_;
    return all ? shortest : std::nullopt;
  }

  // The binding with that of each reachable atom that this one may be.
  std::vector<Binding> choices_for(const Atom& atom, const VariableTable& variables, const Binding& binding) {
    std::vector<Binding> choices;
    for (const AtomId id : reachable_.index.with_predicate(atom.predicate)) {
      const std::span<const ObjectId> arguments = reachable_.atoms.arguments(id);
      Binding choice = binding;
      bool fits = true;
      for (std::size_t i = 0; fits && i < arguments.size(); ++i) {
        const Term term = atom.arguments[i];
        const ObjectId bound = term.under(choice);
        if (bound == kUnbound) {
          fits = ranges_.of(variables[term.variable()]).contains[arguments[i]];
          choice[term.variable()] = arguments[i];
        } else {
          fits = bound == arguments[i];
        }
      }
      if (fits) choices.push_back(std::move(choice));
    }
    return choices;
  }

  // Nothing when the condition may be false.
  std::optional<Explanation> why_always(const Condition& condition, const VariableTable& variables,
                                        const Binding& binding) {
    if (condition.kind == Condition::Kind::kEquals) return why_equal(condition, variables, binding);
    if (condition.kind != Condition::Kind::kAtom || !reachable_.is_static[condition.atom.predicate])
      return std::nullopt;
    Pattern fact = pattern(condition.atom, variables, binding);
    if (open_place(fact) || !is_reachable(fact)) return std::nullopt;
    Explanation out;
    out.need = str_cat("(not ", fact.text, ")");
    out.root = str_cat(fact.text, " holds at the start, and no action makes it false");
    out.missing = {std::move(fact), true, true, std::nullopt};
    return out;
  }

  std::optional<Explanation> why_equal(const Condition& condition, const VariableTable& variables,
                                       const Binding& binding) const {
    const ObjectId one = condition.terms[0].under(binding);
    if (one == kUnbound || one != condition.terms[1].under(binding)) return std::nullopt;
    Explanation out;
    out.need = str_cat("(not ", text(condition, variables, binding), ")");
    out.root = str_cat("both are ", ast_.objects[one].name);
    out.missing.holds = true;
    return out;
  }

  static void keep_shorter(std::optional<Explanation> one, std::optional<Explanation>& shortest) {
    const auto worth = [](const Explanation& why) {
      return std::make_tuple(why.missing.holds, why.missing.of_others, why.by_type, why.steps.size());
    };
    if (one && (!shortest || worth(*one) < worth(*shortest))) shortest = std::move(one);
  }

  std::optional<Explanation> no_object(const Variable& variable) {
    if (!ranges_.of(variable).objects.empty()) return std::nullopt;
    Explanation out;
    const TypeId type = variable.types.empty() ? kObjectType : variable.types[0];
    out.need = str_cat("an object of type ", ast_.types[type].name);
    out.root = "there is none";
    out.missing.object = type;
    return out;
  }

  // --- atoms ---------------------------------------------------------------------------------------------------------

  std::optional<Explanation> why_no_atom(const Pattern& wanted) {
    if (is_reachable(wanted)) return std::nullopt;
    if (const std::optional<std::size_t> open = open_place(wanted); open && is_reachable(wanted, false)) {
      return why_no_object(wanted, *open);
    }
    const auto key = std::make_tuple(wanted.predicate, wanted.arguments, wanted.types);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    // While it is being explained it explains nothing itself.
    known_[key] = std::nullopt;
    std::optional<Explanation> shortest;
    bool produced = false;
    for (const Action& action : ast_.actions) {
      for (const Effect& effect : action.effects) {
        if (!effect.add || effect.atom.predicate != wanted.predicate) continue;
        Binding binding(action.variables.size(), kUnbound);
        if (!unify(effect.atom, action.variables, wanted, binding)) continue;
        produced = true;
        keep_shorter(why_blocked(action, effect, binding), shortest);
      }
    }
    for (const Axiom& axiom : ast_.axioms) {
      if (axiom.head != wanted.predicate) continue;
      Binding binding(axiom.variables.size(), kUnbound);
      for (std::size_t i = 0; i < wanted.arguments.size(); ++i) {
        binding[VariableId{static_cast<std::uint32_t>(i)}] = wanted.arguments[i];
      }
      produced = true;
      std::optional<Explanation> why = why_never(axiom.body, axiom.variables, binding);
      if (why) {
        why->steps.insert(why->steps.begin(),
                          str_cat(wanted.text, " is derived from ", text(axiom.body, axiom.variables, binding)));
      }
      keep_shorter(std::move(why), shortest);
    }
    if (!produced) {
      Explanation root;
      root.need = wanted.text;
      root.root = str_cat(wanted.text, " does not hold at the start, and no action makes it true");
      root.missing.fact = wanted;
      root.missing.of_others = !reachable_.index.with_predicate(wanted.predicate).empty();
      shortest = std::move(root);
    }
    if (shortest) {
      shortest->need = wanted.text;
      if (produced) shortest->way.push_back(wanted);
    }
    known_[key] = shortest;
    return shortest;
  }

  // The same with each object that the argument can be.
  std::optional<Explanation> why_no_object(const Pattern& wanted, std::size_t place) {
    constexpr std::size_t kMostObjects = 8;
    const std::vector<ObjectId> objects = ast_.objects_of(wanted.types[place]);
    if (objects.size() > kMostObjects) return std::nullopt;
    std::optional<Explanation> shortest;
    for (const ObjectId object : objects) {
      Pattern one = wanted;
      one.arguments[place] = object;
      one.words[place] = ast_.objects[object].name;
      write(one, ast_.predicates[one.predicate].name);
      std::optional<Explanation> why = why_no_atom(one);
      if (!why) return std::nullopt;
      keep_shorter(std::move(why), shortest);
    }
    if (!shortest) return std::nullopt;
    shortest->by_type = true;
    if (objects.size() > 1) shortest->need = wanted.text;
    return shortest;
  }

  static std::optional<std::size_t> open_place(const Pattern& pattern) {
    const auto open = std::ranges::find(pattern.arguments, kUnbound);
    if (open == pattern.arguments.end()) return std::nullopt;
    return static_cast<std::size_t>(open - pattern.arguments.begin());
  }

  // The action could make something true, but can never be taken.
  std::optional<Explanation> why_blocked(const Action& action, const Effect& effect, const Binding& binding) {
    std::optional<Explanation> why;
    for (std::uint32_t i = 0; i < action.num_parameters; ++i)
      keep_shorter(no_object(action.variables[VariableId{i}]), why);
    if (!why) why = why_never(action.precondition, action.variables, binding);
    if (!why) why = why_never(effect.when, action.variables, binding);
    if (!why) return std::nullopt;
    std::string step = "(" + action.name;
    for (std::uint32_t i = 0; i < action.num_parameters; ++i) {
      step += " " + name_of(Term(VariableId{i}), action.variables, binding);
    }
    why->steps.insert(why->steps.begin(), str_cat(step, ") could, but needs ", why->need));
    return why;
  }

  // Whether an atom with these arguments is, and with objects of their types for those that are open, unless `typed` is
  // false.
  bool is_reachable(const Pattern& wanted, bool typed = true) const {
    std::vector<std::vector<bool>> may(wanted.arguments.size(), std::vector<bool>(ast_.objects.size(), !typed));
    for (std::size_t i = 0; i < may.size(); ++i) {
      if (wanted.arguments[i] != kUnbound) {
        may[i].assign(may[i].size(), false);
        may[i][index(wanted.arguments[i])] = true;
      } else if (typed) {
        for (const ObjectId object : ast_.objects_of(wanted.types[i])) may[i][index(object)] = true;
      }
    }
    const auto fits = [&](AtomId id) {
      const std::span<const ObjectId> arguments = reachable_.atoms.arguments(id);
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (!may[i][index(arguments[i])]) return false;
      }
      return true;
    };
    const std::vector<AtomId>& all = reachable_.index.with_predicate(wanted.predicate);
    return std::any_of(all.begin(), all.end(), fits);
  }

  // --- patterns ------------------------------------------------------------------------------------------------------

  Pattern pattern(const Atom& atom, const VariableTable& variables, const Binding& binding) const {
    Pattern out;
    out.predicate = atom.predicate;
    const Predicate& predicate = ast_.predicates[atom.predicate];
    for (std::size_t i = 0; i < atom.arguments.size(); ++i) {
      const Term term = atom.arguments[i];
      out.arguments.push_back(term.under(binding));
      out.types.push_back(term.is_variable() ? variables[term.variable()].types
                                             : predicate.parameters[VariableId{static_cast<std::uint32_t>(i)}].types);
      out.words.push_back(name_of(term, variables, binding));
    }
    write(out, predicate.name);
    return out;
  }

  std::string name_of(Term term, const VariableTable& variables, const Binding& binding) const {
    const ObjectId object = term.under(binding);
    return object == kUnbound ? variables[term.variable()].name : ast_.objects[object].name;
  }

  std::string text(const Condition& condition, const VariableTable& variables, const Binding& binding) const {
    if (condition.kind == Condition::Kind::kAtom) return pattern(condition.atom, variables, binding).text;
    return to_string(ast_, variables, condition);
  }

  // Can the effect's atom be the one that is wanted? Binds what that takes.
  bool unify(const Atom& atom, const VariableTable& variables, const Pattern& wanted, Binding& binding) {
    for (std::size_t i = 0; i < wanted.arguments.size(); ++i) {
      if (wanted.arguments[i] == kUnbound) continue;
      const Term term = atom.arguments[i];
      const ObjectId bound = term.under(binding);
      if (bound != kUnbound && bound != wanted.arguments[i]) return false;
      if (!term.is_variable()) continue;
      if (!ranges_.of(variables[term.variable()]).contains[wanted.arguments[i]]) return false;
      binding[term.variable()] = wanted.arguments[i];
    }
    return true;
  }

  const Ast& ast_;
  RangeTable ranges_;
  Reachable reachable_;
  std::map<std::tuple<PredicateId, std::vector<ObjectId>, std::vector<std::vector<TypeId>>>, std::optional<Explanation>>
      known_;
  std::size_t parts_ = 0;  // parts of conjunctions whose atoms are being gone through
  std::vector<std::string> sentences_;
  std::vector<Root> roots_;
  std::vector<Pattern> ways_;
};

// --- changes ---------------------------------------------------------------------------------------------------------

// Tries changes of the tree until the visitor has seen enough.
class Changer {
 public:
  Changer(std::shared_ptr<const Ast> ast, const GroundLimits& limits, internal::Meter& meter,
          const task::Source::Visitor& visit)
      : ast_(std::move(ast)), limits_(limits), meter_(meter), visit_(visit) {}

  // For each choice of objects for what is open.
  void add_fact(const Pattern& pattern) {
    std::vector<ObjectId> arguments = pattern.arguments;
    choose(pattern, 0, arguments);
  }

  void remove_fact(const Pattern& pattern) {
    const auto changed = std::make_shared<Ast>(*ast_);
    std::erase_if(changed->init, [&](const GroundAtom& atom) {
      return atom.predicate == pattern.predicate && atom.arguments == pattern.arguments;
    });
    visit(str_cat("without ", pattern.text, " at the start"), changed);
  }

  void add_object(TypeId type) {
    const auto changed = std::make_shared<Ast>(*ast_);
    std::string name = str_cat("new-", ast_->types[type].name);
    changed->objects.push_back({name, {type}, {}});
    visit(str_cat("with an object of type ", ast_->types[type].name), changed);
  }

  void remove_constraints() {
    for (std::size_t i = 0; i < ast_->constraints.size() && !done_; ++i) {
      const auto changed = std::make_shared<Ast>(*ast_);
      changed->constraints.erase(changed->constraints.begin() + static_cast<std::ptrdiff_t>(i));
      visit("without the constraint " + ast_->constraints[i].text, changed);
    }
  }

  // Without the effects at the end that take away what the start has made true.
  void keep(const Envelope& envelope) {
    const auto changed = std::make_shared<Ast>(*ast_);
    Action& action = changed->actions[envelope.offers];
    std::erase_if(action.durative->end_effects, [&](const Effect& effect) {
      return !effect.add && effect.atom.predicate == envelope.fact.predicate &&
             effect.atom.arguments == envelope.fact.arguments;
    });
    visit(str_cat("if ", to_string(*ast_, action.variables, envelope.fact), " stayed true behind the end of ",
                  action.name),
          changed);
  }

  bool done() const { return done_; }
  bool helped() const { return helped_; }

 private:
  static constexpr std::size_t kMostTries = 100;

  void choose(const Pattern& pattern, std::size_t place, std::vector<ObjectId>& arguments) {
    if (done_) return;
    if (place == arguments.size()) {
      const GroundAtom atom{pattern.predicate, arguments, {}};
      const auto same = [&](const GroundAtom& other) {
        return other.predicate == atom.predicate && other.arguments == atom.arguments;
      };
      if (std::any_of(ast_->init.begin(), ast_->init.end(), same)) return;
      const auto changed = std::make_shared<Ast>(*ast_);
      changed->init.push_back(atom);
      visit(str_cat("with ", to_string(*ast_, atom), " at the start"), changed);
      return;
    }
    if (arguments[place] != kUnbound) return choose(pattern, place + 1, arguments);
    for (const ObjectId object : ast_->objects_of(pattern.types[place])) {
      arguments[place] = object;
      choose(pattern, place + 1, arguments);
    }
    arguments[place] = kUnbound;
  }

  void visit(const std::string& text, const std::shared_ptr<const Ast>& changed) {
    if (!visited_.insert(text).second) return;
    done_ = visited_.size() > kMostTries;
    if (done_) return;
    try {
      const task::Source::Tried tried = visit_(text, make_task(changed, limits_, meter_));
      helped_ = helped_ || tried == task::Source::Tried::kHelps;
      done_ = tried == task::Source::Tried::kEnough;
    } catch (const TaskTooLarge&) {
      // Then this is no help.
    }
  }

  std::shared_ptr<const Ast> ast_;
  GroundLimits limits_;
  internal::Meter& meter_;
  const task::Source::Visitor& visit_;
  std::set<std::string> visited_;
  bool helped_ = false;
  bool done_ = false;
};

// Predicates that conditions of actions mention, and that are not derived.
std::set<PredicateId> wanted_predicates(const Ast& ast) {
  std::set<PredicateId> out;
  const std::function<void(const Condition&)> collect = [&](const Condition& condition) {
    if (condition.kind == Condition::Kind::kAtom && !ast.predicates[condition.atom.predicate].derived) {
      out.insert(condition.atom.predicate);
    }
    if (condition.kind == Condition::Kind::kNot) return;
    for (const Condition& child : condition.children) collect(child);
  };
  for (const Action& action : ast.actions) collect(action.precondition);
  return out;
}

}  // namespace

namespace {

void warn_of_envelopes(const Ast& ast, Diagnostics& diagnostics) {
  for (const Envelope& envelope : envelopes(ast)) {
    const std::string why = why_no_host(ast, envelope.offers);
    if (why.empty() || !ast.actions[envelope.offers].written.empty()) continue;
    const Position where = ast.actions[envelope.offers].where;
    diagnostics.warning({ast.files[where.file], where.line, where.column}, to_string(ast, envelope),
                        str_cat("plans run one action at a time here, since ", why, ", so none uses it"));
  }
}

}  // namespace

Task make_task(std::shared_ptr<const Ast> ast, const GroundLimits& limits, internal::Meter& meter,
               Diagnostics* diagnostics) {
  task::Definition definition;
  if (ast->has_hosts) {
    auto decided = std::make_shared<Ast>(*ast);
    definition = ground_or_forget_hosts(*decided, limits, meter, diagnostics);
    ast = std::move(decided);
  } else {
    definition = ground(*ast, limits, meter, diagnostics);
  }
  if (ast->has_durations && diagnostics != nullptr) warn_of_envelopes(*ast, *diagnostics);
  auto source = std::make_shared<PddlSource>(ast, limits);
  auto reference = std::make_shared<LiftedInterpreter>(std::move(ast));
  return {task::compile(std::move(definition), meter), std::move(reference), std::move(source)};
}

std::vector<std::string> PddlSource::why_unreachable(internal::Meter& meter) const {
  const auto timeless = ast_->has_durations ? std::make_shared<const Ast>(without_time(*ast_)) : ast_;
  Detective detective(*timeless, limits_, meter);
  detective.run();
  return detective.sentences();
}

void PddlSource::start_early(Schedule& plan, internal::Meter& meter) const { pddl::start_early(*ast_, plan, meter); }

std::vector<std::pair<std::size_t, std::size_t>> PddlSource::orders(std::span<const PlanStep> plan,
                                                                    internal::Meter& meter) const {
  return pddl::orders(*ast_, plan, meter);
}

std::vector<std::string> PddlSource::unused_offers() const {
  std::vector<std::string> sentences;
  if (!ast_->has_durations) return sentences;
  for (const Envelope& envelope : envelopes(*ast_)) {
    const Action& action = ast_->actions[envelope.offers];
    if (action.durative->hosts || !action.written.empty()) continue;
    const std::string why = why_no_host(*ast_, envelope.offers);
    sentences.push_back(str_cat(to_string(*ast_, envelope), "; nothing runs inside it, since ", why));
  }
  return sentences;
}

std::optional<Task> PddlSource::with_ends_apart(bool over_all, internal::Meter& meter) const {
  // What trajectory constraints saw is not followed there.
  if (!ast_->has_durations || !ast_->constraints.empty()) return std::nullopt;
  const auto depends_on_begin = [](const Action& action) {
    return action.durative && !action.durative->fixed && !action.durative->end_numeric_effects.empty();
  };
  // Other durations than those that are there could do other things.
  const auto has_others = [](const Action& action) {
    return action.durative && action.durative->flexible && changes_by_duration(action);
  };
  if (!over_all && (std::any_of(ast_->actions.begin(), ast_->actions.end(), depends_on_begin) ||
                    std::any_of(ast_->actions.begin(), ast_->actions.end(), has_others)))
    return std::nullopt;
  try {
    return make_task(std::make_shared<const Ast>(ends_apart(*ast_, over_all)), limits_, meter);
  } catch (const TaskTooLarge&) {
    return std::nullopt;
  }
}

std::optional<Schedule> PddlSource::with_times(std::span<const PlanStep> plan, internal::Meter& meter) const {
  return fit_times(*ast_, plan, meter);
}

std::optional<Task> PddlSource::goal_part(std::string_view goal, internal::Meter& meter) const {
  std::optional<Ast> part = pddl::goal_part(*ast_, goal);
  if (!part) return std::nullopt;
  try {
    return make_task(std::make_shared<const Ast>(*std::move(part)), limits_, meter);
  } catch (const TaskTooLarge&) {
    return std::nullopt;
  }
}

std::vector<std::string> PddlSource::beyond_facts() const {
  std::vector<std::string> beyond;
  if (ast_->has_durations) beyond.emplace_back("durations");
  if (ast_->has_numbers) beyond.emplace_back("numbers");
  if (!ast_->timed.empty()) beyond.emplace_back("timed initial literals");
  if (!ast_->preferences.empty()) beyond.emplace_back("preferences");
  return beyond;
}

void PddlSource::visit_changes(internal::Meter& meter, const Visitor& visit) const {
  Changer changer(ast_, limits_, meter, visit);
  changer.remove_constraints();
  for (const Envelope& envelope : envelopes(*ast_)) {
    if (!changer.done() && ast_->actions[envelope.offers].written.empty()) changer.keep(envelope);
  }
  const auto timeless = ast_->has_durations ? std::make_shared<const Ast>(without_time(*ast_)) : ast_;
  Detective detective(*timeless, limits_, meter);
  detective.run();
  for (const Root& root : detective.roots()) {
    if (changer.done()) return;
    if (root.fact && root.holds) changer.remove_fact(*root.fact);
    if (root.fact && !root.holds) changer.add_fact(*root.fact);
    if (root.object) changer.add_object(*root.object);
  }
  for (const Pattern& fact : detective.ways()) {
    if (changer.done() || changer.helped()) return;
    if (!ast_->predicates[fact.predicate].derived) changer.add_fact(fact);
  }
  if (!detective.roots().empty()) return;
  for (const PredicateId id : wanted_predicates(*ast_)) {
    if (changer.done()) return;
    const Predicate& predicate = ast_->predicates[id];
    Pattern any{id, std::vector<ObjectId>(predicate.parameters.size(), kUnbound), {}, {}, {}};
    for (const Variable& parameter : predicate.parameters) any.types.push_back(parameter.types);
    changer.add_fact(any);
  }
}

}  // namespace metactrl::pddl
