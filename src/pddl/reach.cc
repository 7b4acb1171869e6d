// Semi-naive evaluation of the task as a logic program.
//
// Rules. Each action schema gives, for each alternative of its precondition's required atoms (join.h), a rule whose
// head is the ground action. Plain add effects are added with the action. So are conditional and quantified ones whose
// condition needs nothing that changes but atoms without arguments; when such an atom comes later, the actions there
// are by then are gone through again. Other conditional effects give rules of their own (precondition and condition
// together) whose head is the added atom. Each axiom gives rules for its head.
//
// Evaluation. Atoms wait in a queue. One that leaves it enters the index and triggers every rule with a matching body
// atom: the atom is unified, the rest of the body is joined against the index. A body whose atoms are all static is
// joined once, at the start. Every combination of indexed atoms is found when its last member is taken from the queue,
// so nothing is missed.
//
// Cost: the number of rule instances found (each ground action once per changing body atom), times the arity. Nothing
// is instantiated that the positive preconditions exclude, so a scene of a thousand objects does not cost a million
// pairs.
#include "pddl/reach.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <memory_resource>
#include <utility>

#include "support/str_cat.h"

namespace metactrl::pddl {

namespace {

using internal::str_cat;

// An effect that is looked at once the action is there.
struct LateEffect {
  const Action* action = nullptr;
  const Effect* effect = nullptr;
  struct Alternative {
    Conjunction body;
    std::vector<VariableId> variables;
  };
  std::vector<Alternative> alternatives;
};

struct Rule {
  const VariableTable* table = nullptr;
  std::vector<VariableId> variables;  // all that must be bound
  Conjunction body;
  std::vector<const Condition*> checks;  // statically_possible must hold for each
  // Head: a ground action, or an atom.
  const Action* action = nullptr;
  ActionNameId name{};
  bool once = false;  // no instance of the action is found twice
  const Atom* head = nullptr;
  Atom owned_head;  // for axioms, whose head is not an Atom in the tree
};

class Reacher {
 public:
  Reacher(const Ast& ast, RangeTable& ranges, std::size_t max_actions, std::size_t max_atoms, internal::Meter& meter)
      : ast_(ast),
        max_actions_(max_actions),
        max_atoms_(max_atoms),
        result_{AtomTable(ast.objects.size()), AtomIndex(ast.predicates, ast.objects.size()), InstanceTable(), {}},
        joiner_(result_.atoms, result_.index, ranges, meter) {}

  Reachable run() {
    find_static_predicates();
    make_rules();
    for (const GroundAtom& atom : ast_.init) add_atom(atom.predicate, atom.arguments);
    for (const TimedFact& timed : ast_.timed) {
      if (timed.add) add_atom(timed.atom.predicate, timed.atom.arguments);
    }
    // Static atoms are complete before any rule looks at them.
    std::vector<AtomId> changing;
    for (const AtomId id : result_.atoms.all()) {
      if (result_.is_static[result_.atoms.name(id)]) {
        result_.index.add(result_.atoms, id);
      } else {
        changing.push_back(id);
      }
    }
    queue_ = std::move(changing);
    for (std::size_t r = 0; r < rules_.size(); ++r) {
      const bool triggered = std::any_of(rules_[r].body.begin(), rules_[r].body.end(),
                                         [&](const Atom* atom) { return !result_.is_static[atom->predicate]; });
      if (!triggered) join(rules_[r], nullptr, AtomId{});
    }
    apply_late_effects();
    for (std::size_t next = 0; next < queue_.size(); ++next) {
      const AtomId id = queue_[next];
      result_.index.add(result_.atoms, id);
      for (const Trigger& trigger : triggers_[result_.atoms.name(id)]) {
        join(rules_[trigger.rule], rules_[trigger.rule].body[trigger.atom], id);
      }
      for (const LatePlace& place : waiting_[result_.atoms.name(id)]) {
        for (const InstanceId action : ids(InstanceId{0}, late_done_)) {
          if (result_.actions.name(action) == place.action) apply(late_effects_[place.action][place.effect], action);
        }
      }
      apply_late_effects();
    }
    return std::move(result_);
  }

 private:
  struct Trigger {
    std::uint32_t rule;
    std::uint32_t atom;
  };
  struct LatePlace {
    ActionNameId action;
    std::uint32_t effect;
  };

  void find_static_predicates() {
    result_.is_static.assign(ast_.predicates.size(), true);
    for (const Action& action : ast_.actions) {
      for (const Effect& effect : action.effects) result_.is_static[effect.atom.predicate] = false;
    }
    for (const Axiom& axiom : ast_.axioms) result_.is_static[axiom.head] = false;
    for (const TimedFact& timed : ast_.timed) result_.is_static[timed.atom.predicate] = false;
  }

  void add_rule(Rule rule, std::vector<Conjunction> alternatives, std::vector<VariableId> inner) {
    rule.variables.insert(rule.variables.end(), inner.begin(), inner.end());
    for (Conjunction& alternative : alternatives) {
      Rule copy = rule;
      copy.body = std::move(alternative);
      // A variable of a quantifier that this alternative does not mention need not be bound.
      std::erase_if(copy.variables, [&](VariableId variable) {
        const bool quantified = std::find(inner.begin(), inner.end(), variable) != inner.end();
        return quantified && !mentions(copy.body, variable);
      });
      rules_.push_back(std::move(copy));
    }
  }

  static bool mentions(const Conjunction& body, VariableId variable) {
    return std::any_of(body.begin(), body.end(), [&](const Atom* atom) {
      return std::any_of(atom->arguments.begin(), atom->arguments.end(),
                         [&](const Term& term) { return term == Term(variable); });
    });
  }

  void make_rules() {
    late_effects_.resize(ast_.actions.size());
    waiting_.resize(ast_.predicates.size());
    for (const ActionNameId a : ast_.actions.all()) {
      const Action& action = ast_.actions[a];
      Rule rule;
      rule.table = &action.variables;
      for (const VariableId v : ids<VariableId>(action.num_parameters)) rule.variables.push_back(v);
      if (!only_atoms(action.precondition)) rule.checks = {&action.precondition};
      rule.action = &action;
      rule.name = a;
      std::vector<VariableId> inner;
      const std::vector<Conjunction> precondition = required_atoms(action.precondition, false, inner);
      rule.once = precondition.size() == 1 && inner.empty() && are_different(precondition[0]);
      add_rule(rule, precondition, inner);
      for (const Effect& effect : action.effects) {
        if (!effect.add || is_plain(effect)) continue;
        make_effect_rule(rule, effect, precondition, inner);
      }
    }
    for (const Axiom& axiom : ast_.axioms) make_axiom_rule(axiom);
    triggers_.resize(ast_.predicates.size());
    for (std::uint32_t r = 0; r < rules_.size(); ++r) {
      for (std::uint32_t i = 0; i < rules_[r].body.size(); ++i) {
        const PredicateId predicate = rules_[r].body[i]->predicate;
        if (!result_.is_static[predicate]) triggers_[predicate].push_back({r, i});
      }
    }
  }

  // No two atoms that change have one predicate. Then no atom can be two of them, and an instance is found with the last
  // of its atoms and never again.
  bool are_different(const Conjunction& body) const {
    std::vector<PredicateId> changing;
    for (const Atom* atom : body) {
      if (!result_.is_static[atom->predicate]) changing.push_back(atom->predicate);
    }
    std::sort(changing.begin(), changing.end());
    return std::adjacent_find(changing.begin(), changing.end()) == changing.end();
  }

  // Then all of it is in the rule's body, and there is nothing left to check.
  static bool only_atoms(const Condition& condition) {
    return condition.kind == Condition::Kind::kAtom ||
           (condition.kind == Condition::Kind::kAnd && std::ranges::all_of(condition.children, only_atoms));
  }

  // Added whenever the action is: no rule of its own needed.
  static bool is_plain(const Effect& effect) {
    return effect.forall.empty() && effect.when.kind == Condition::Kind::kTrue;
  }

  // `precondition` and `inner`: what the action's precondition requires.
  void make_effect_rule(const Rule& action_rule, const Effect& effect, const std::vector<Conjunction>& precondition,
                        const std::vector<VariableId>& inner) {
    std::vector<VariableId> when_inner;
    const std::vector<Conjunction> when = required_atoms(effect.when, false, when_inner);
    if (make_late_effect(action_rule, effect, when, when_inner)) return;
    Rule rule = action_rule;
    rule.head = &effect.atom;
    rule.checks.push_back(&effect.when);
    rule.variables.insert(rule.variables.end(), effect.forall.begin(), effect.forall.end());
    // As a conjunction of the two conditions, so that their alternatives are combined the same way.
    std::vector<Conjunction> both;
    for (const Conjunction& w : when) {
      for (const Conjunction& p : precondition) {
        both.push_back(w);
        both.back().insert(both.back().end(), p.begin(), p.end());
      }
    }
    rule.action = nullptr;
    when_inner.insert(when_inner.end(), inner.begin(), inner.end());
    add_rule(std::move(rule), std::move(both), std::move(when_inner));
  }

  bool make_late_effect(const Rule& action_rule, const Effect& effect, const std::vector<Conjunction>& when,
                        const std::vector<VariableId>& inner) {
    LateEffect late{action_rule.action, &effect, {}};
    std::vector<PredicateId> waits_for;
    for (const Conjunction& body : when) {
      for (const Atom* atom : body) {
        if (result_.is_static[atom->predicate]) continue;
        if (!atom->arguments.empty()) return false;
        waits_for.push_back(atom->predicate);
      }
      std::vector<VariableId> variables = effect.forall;
      std::copy_if(inner.begin(), inner.end(), std::back_inserter(variables),
                   [&](VariableId variable) { return mentions(body, variable); });
      late.alternatives.push_back({body, std::move(variables)});
    }
    std::vector<LateEffect>& effects = late_effects_[action_rule.name];
    std::sort(waits_for.begin(), waits_for.end());
    waits_for.erase(std::unique(waits_for.begin(), waits_for.end()), waits_for.end());
    for (PredicateId predicate : waits_for) {
      waiting_[predicate].push_back({action_rule.name, static_cast<std::uint32_t>(effects.size())});
    }
    effects.push_back(std::move(late));
    return true;
  }

  // Those of the actions that are new.
  void apply_late_effects() {
    for (; index(late_done_) < result_.actions.size(); late_done_ = next_of(late_done_)) {
      for (const LateEffect& late : late_effects_[result_.actions.name(late_done_)]) apply(late, late_done_);
    }
  }

  void apply(const LateEffect& late, InstanceId action) {
    const std::span<const ObjectId> parameters = result_.actions.arguments(action);
    Binding binding(late.action->variables.size(), kUnbound);
    std::copy(parameters.begin(), parameters.end(), binding.begin());
    for (const LateEffect::Alternative& alternative : late.alternatives) {
      joiner_.enumerate(late.action->variables, alternative.variables, alternative.body, binding, [&] {
        if (statically_possible(late.effect->when, false, binding, result_)) add_atom(late.effect->atom, binding);
      });
    }
  }

  void make_axiom_rule(const Axiom& axiom) {
    Rule rule;
    rule.table = &axiom.variables;
    rule.owned_head.predicate = axiom.head;
    for (const VariableId v : ids<VariableId>(axiom.num_parameters)) {
      rule.variables.push_back(v);
      rule.owned_head.arguments.emplace_back(v);
    }
    rule.checks = {&axiom.body};
    std::vector<VariableId> inner;
    std::vector<Conjunction> body = required_atoms(axiom.body, false, inner);
    add_rule(std::move(rule), std::move(body), std::move(inner));
  }

  // Finds all instances of the rule in which `trigger` (when given) is the atom `id`.
  void join(const Rule& rule, const Atom* trigger, AtomId id) {
    Binding binding(rule.table->size(), kUnbound);
    Conjunction rest;
    if (trigger != nullptr) {
      std::vector<VariableId> trail;
      if (!joiner_.unify(*rule.table, *trigger, id, binding, trail)) return;
    }
    for (const Atom* atom : rule.body) {
      if (atom != trigger) rest.push_back(atom);
    }
    joiner_.enumerate(*rule.table, rule.variables, rest, binding, [&] {
      for (const Condition* check : rule.checks) {
        if (!statically_possible(*check, false, binding, result_)) return;
      }
      conclude(rule, binding);
    });
  }

  void conclude(const Rule& rule, const Binding& binding) {
    if (rule.action == nullptr) {
      add_atom(rule.head != nullptr ? *rule.head : rule.owned_head, binding);
      return;
    }
    const std::span<const ObjectId> parameters(binding.data(), rule.action->num_parameters);
    if (rule.once) {
      result_.actions.append(rule.name, parameters);
    } else if (!result_.actions.insert(rule.name, parameters).second) {
      return;
    }
    if (result_.actions.size() > max_actions_) {
      throw GroundingLimit(
          str_cat("the task grounds to more than ", max_actions_, " actions (at action '", rule.action->name, "')"));
    }
    for (const Effect& effect : rule.action->effects) {
      if (effect.add && is_plain(effect)) add_atom(effect.atom, binding);
    }
  }

  void add_atom(const Atom& atom, const Binding& binding) {
    scratch_.clear();
    for (const Term& term : atom.arguments) scratch_.push_back(term.under(binding));
    add_atom(atom.predicate, scratch_);
  }

  void add_atom(PredicateId predicate, const std::vector<ObjectId>& arguments) {
    const auto [id, inserted] = result_.atoms.insert(predicate, arguments);
    if (!inserted) return;
    queue_.push_back(id);
    if (result_.atoms.size() > max_atoms_) {
      throw GroundingLimit(str_cat("the task grounds to more than ", max_atoms_, " facts (at predicate '",
                                   ast_.predicates[predicate].name, "')"));
    }
  }

  const Ast& ast_;
  std::size_t max_actions_;
  std::size_t max_atoms_;
  Reachable result_;
  Joiner joiner_;
  std::vector<Rule> rules_;
  IdVector<PredicateId, std::vector<Trigger>> triggers_;
  IdVector<ActionNameId, std::vector<LateEffect>> late_effects_;
  IdVector<PredicateId, std::vector<LatePlace>> waiting_;  // of those without arguments: effects that need it
  InstanceId late_done_{0};                                // the late effects of those before it were added
  std::vector<AtomId> queue_;
  std::vector<ObjectId> scratch_;
};

}  // namespace

bool statically_possible(const Condition& condition, bool negated, const Binding& binding, const Reachable& reachable) {
  using Kind = Condition::Kind;
  switch (condition.kind) {
    case Kind::kTrue:
      return !negated;
    case Kind::kFalse:
      return negated;
    case Kind::kAtom: {
      if (!reachable.is_static[condition.atom.predicate]) return true;
      std::array<std::byte, 64> few;  // no allocation for each of a million atoms
      std::pmr::monotonic_buffer_resource memory(few.data(), few.size());
      std::pmr::vector<ObjectId> objects(&memory);
      objects.reserve(condition.atom.arguments.size());
      for (const Term& term : condition.atom.arguments) {
        objects.push_back(term.under(binding));
        if (objects.back() == kUnbound) return true;
      }
      return reachable.atoms.find(condition.atom.predicate, objects).has_value() != negated;
    }
    case Kind::kEquals: {
      const ObjectId left = condition.terms[0].under(binding);
      const ObjectId right = condition.terms[1].under(binding);
      return left == kUnbound || right == kUnbound || (left == right) != negated;
    }
    case Kind::kNot:
      return statically_possible(condition.children[0], !negated, binding, reachable);
    case Kind::kAnd:
    case Kind::kOr: {
      const auto possible = [&](const Condition& child) {
        return statically_possible(child, negated, binding, reachable);
      };
      if ((condition.kind == Kind::kAnd) != negated) {
        return std::all_of(condition.children.begin(), condition.children.end(), possible);
      }
      return std::any_of(condition.children.begin(), condition.children.end(), possible);
    }
    case Kind::kForall:
    case Kind::kExists:
    case Kind::kCompare:
    case Kind::kAtLeast:
    case Kind::kMatching:
      return true;
  }
  return true;
}

Reachable reach(const Ast& ast, RangeTable& ranges, std::size_t max_actions, std::size_t max_atoms,
                internal::Meter& meter) {
  return Reacher(ast, ranges, max_actions, max_atoms, meter).run();
}

}  // namespace metactrl::pddl
