// The plan is executed by the reference semantics on the paper's rules and the problem that the prompt reads as, where
// what is not stated is false. Beside the facts, it is kept which of them are only false because nobody said otherwise:
// atoms of certain predicates are not known until the prompt states one of them, or a step has changed it. Conditions
// are evaluated in Kleene's three values over the facts and what is known.
#include "benchmarks/prompt_knowledge.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/prompt_lines.h"
#include "metactrl/error.h"
#include "pddl/ast.h"
#include "pddl/interpret.h"
#include "pddl/parse.h"

namespace metactrl::benchmarks {

namespace {

using pddl::Condition;
using pddl::Fact;
using pddl::Facts;
using pddl::PredicateId;

// What the prompts of a benchmark hide, in the predicates of its domain.
struct Hidden {
  // Of each group at most one holds for the same objects, and none where the prompt shows none.
  std::vector<std::vector<std::string>> groups;
  // Known only of the atoms that the prompt states, with either sign.
  std::vector<std::string> unless_stated;
  // Never in a prompt.
  std::vector<std::string> never;
};

const Hidden* hidden_by(const Module& module) {
  static const Hidden kVirtualHome = {{{"is-open", "is-closed"},
                                       {"running", "stopped"},
                                       {"plugged", "unplugged"},
                                       {"clean", "dirty"},
                                       {"standing", "sitting", "lying"}},
                                      {},
                                      {}};
  static const Hidden kBehavior = {{},
                                   {"open", "toggled_on", "soaked", "dusty", "stained", "cooked", "frozen", "sliced"},
                                   {"graspable", "open-gated", "may-open", "toggleable", "sliceable", "soakable",
                                    "cookable", "freezable", "cleanable", "cleaner", "water", "passive"}};
  if (module.name.starts_with("vh-")) return &kVirtualHome;
  if (module.name.starts_with("beh-")) return &kBehavior;
  return nullptr;
}

enum class Truth { kFalse, kUnknown, kTrue };

Truth negated(Truth truth) {
  return truth == Truth::kTrue ? Truth::kFalse : truth == Truth::kFalse ? Truth::kTrue : Truth::kUnknown;
}

class Knowledge {
 public:
  Knowledge(std::shared_ptr<const pddl::Ast> ast, const Hidden& hidden, const std::vector<std::string>& stated_false)
      : ast_(std::move(ast)), interpreter_(ast_), facts_(interpreter_.initial()) {
    const auto find = [&](const std::string& name) {
      for (const PredicateId i : ast_->predicates.all()) {
        if (ast_->predicates[i].name == name) return i;
      }
      return kNone;
    };
    for (const std::vector<std::string>& names : hidden.groups) {
      std::vector<PredicateId> members;
      for (const std::string& name : names) {
        if (find(name) != kNone) members.push_back(find(name));
      }
      for (const PredicateId member : members) groups_[member] = members;
    }
    for (const std::string& name : hidden.unless_stated) groups_[find(name)] = {find(name)};
    for (const std::string& name : hidden.never) never_.push_back(find(name));
    for (const ObjectId i : ast_->objects.all()) objects_.emplace(ast_->objects[i].name, i);
    for (const std::string& text : stated_false) settle(text);
  }

  // False when the rules do not know the step.
  bool take(const PlanStep& step, DeclaredConditions& count) {
    for (const ActionNameId a : ast_->actions.all()) {
      const pddl::Action& action = ast_->actions[a];
      if (action.name != step.action || action.num_parameters != step.arguments.size()) continue;
      pddl::Instance instance{a, {}};
      for (const std::string& argument : step.arguments) {
        const auto object = objects_.find(argument);
        if (object == objects_.end()) return false;
        instance.arguments.push_back(object->second);
      }
      judge(action, instance, count);
      const Facts next = interpreter_.apply(facts_, instance);
      for (const Fact& fact : facts_) {
        if (!next.contains(fact)) settled_.insert(fact);
      }
      facts_ = next;
      return true;
    }
    return false;
  }

 private:
  static constexpr PredicateId kNone{0xffffffffU};
  static constexpr int kMostDepth = 40;
  using Binding = pddl::Binding;

  // "(open jar_0)": known to be false.
  void settle(const std::string& text) {
    const std::vector<std::string_view> words = split(between(text, "(", ")"), " ");
    for (const PredicateId i : ast_->predicates.all()) {
      if (ast_->predicates[i].name != words[0]) continue;
      Fact fact{i, {}};
      for (std::size_t k = 1; k < words.size(); ++k) {
        const auto object = objects_.find(std::string(words[k]));
        if (object == objects_.end()) return;
        fact.arguments.push_back(object->second);
      }
      settled_.insert(std::move(fact));
    }
  }

  void judge(const pddl::Action& action, const pddl::Instance& instance, DeclaredConditions& count) const {
    Binding binding(action.variables.size(), ObjectId{0});
    std::copy(instance.arguments.begin(), instance.arguments.end(), binding.begin());
    const Condition& whole = action.precondition;
    const auto one = [&](const Condition& condition) {
      if (condition.kind == Condition::Kind::kTrue) return;
      ++count.declared;
      if (truth(condition, action.variables, binding, 0) != Truth::kUnknown) ++count.derivable;
    };
    if (whole.kind == Condition::Kind::kAnd) {
      for (const Condition& child : whole.children) one(child);
    } else {
      one(whole);
    }
  }

  Truth truth(const Condition& condition, const pddl::VariableTable& variables, Binding& binding, int depth) const {
    using Kind = Condition::Kind;
    switch (condition.kind) {
      case Kind::kTrue:
        return Truth::kTrue;
      case Kind::kFalse:
        return Truth::kFalse;
      case Kind::kEquals:
        return condition.terms[0].under(binding) == condition.terms[1].under(binding) ? Truth::kTrue : Truth::kFalse;
      case Kind::kNot:
        return negated(truth(condition.children[0], variables, binding, depth));
      case Kind::kAtom: {
        Fact fact{condition.atom.predicate, {}};
        for (const pddl::Term& term : condition.atom.arguments) fact.arguments.push_back(term.under(binding));
        return truth_of(fact, depth);
      }
      case Kind::kAnd: {
        Truth worst = Truth::kTrue;
        for (const Condition& child : condition.children) {
          worst = std::min(worst, truth(child, variables, binding, depth));
          if (worst == Truth::kFalse) break;
        }
        return worst;
      }
      case Kind::kOr: {
        Truth best = Truth::kFalse;
        for (const Condition& child : condition.children) {
          best = std::max(best, truth(child, variables, binding, depth));
          if (best == Truth::kTrue) break;
        }
        return best;
      }
      case Kind::kForall:
        return negated(some(condition, variables, binding, depth, 0, /*negate=*/true));
      case Kind::kExists:
        return some(condition, variables, binding, depth, 0, /*negate=*/false);
      case Kind::kCompare:
      case Kind::kAtLeast:
      case Kind::kMatching:
        return Truth::kUnknown;  // of goals only
    }
    return Truth::kUnknown;
  }

  // Whether the child, or its negation, holds for some objects of the bound variables from `next` on.
  Truth some(const Condition& condition, const pddl::VariableTable& variables, Binding& binding, int depth,
             std::size_t next, bool negate) const {
    if (next == condition.bound.size()) {
      const Truth inner = truth(condition.children[0], variables, binding, depth);
      return negate ? negated(inner) : inner;
    }
    Truth best = Truth::kFalse;
    const pddl::VariableId variable = condition.bound[next];
    for (const pddl::ObjectId object : ast_->objects_of(variables[variable].types)) {
      binding[variable] = object;
      best = std::max(best, some(condition, variables, binding, depth, next + 1, negate));
      if (best == Truth::kTrue) break;
    }
    return best;
  }

  Truth truth_of(const Fact& fact, int depth) const {
    if (std::find(never_.begin(), never_.end(), fact.name) != never_.end()) return Truth::kUnknown;
    if (ast_->predicates[fact.name].derived) return derived(fact, depth);
    if (facts_.contains(fact)) return Truth::kTrue;
    const auto group = groups_.find(fact.name);
    if (group == groups_.end() || settled_.contains(fact)) return Truth::kFalse;
    for (const PredicateId member : group->second) {
      Fact other = fact;
      other.name = member;
      if (facts_.contains(other)) return Truth::kFalse;
    }
    return Truth::kUnknown;
  }

  Truth derived(const Fact& fact, int depth) const {
    if (depth > kMostDepth) return Truth::kUnknown;
    Truth best = Truth::kFalse;
    for (const pddl::Axiom& axiom : ast_->axioms) {
      if (axiom.head != fact.name) continue;
      Binding binding(axiom.variables.size(), ObjectId{0});
      std::copy(fact.arguments.begin(), fact.arguments.end(), binding.begin());
      best = std::max(best, truth(axiom.body, axiom.variables, binding, depth + 1));
      if (best == Truth::kTrue) break;
    }
    return best;
  }

  std::shared_ptr<const pddl::Ast> ast_;
  pddl::LiftedInterpreter interpreter_;
  Facts facts_;
  Facts settled_;  // false, and known to be
  std::map<PredicateId, std::vector<PredicateId>> groups_;
  std::vector<PredicateId> never_;
  std::map<std::string, ObjectId> objects_;
};

}  // namespace

DeclaredConditions declared_conditions(const Module& module, std::string_view prompt, std::span<const PlanStep> plan) {
  DeclaredConditions count;
  const Hidden* hidden = hidden_by(module);
  if (hidden == nullptr) return count;
  const PromptTask task = module.read(prompt, Rules::kLiteral);
  Diagnostics diagnostics;
  auto ast = std::make_shared<pddl::Ast>(
      pddl::parse({"domain", domain_text(module, Rules::kLiteral)}, {"problem", task.problem}, diagnostics));
  if (diagnostics.has_errors()) throw InputError(std::move(diagnostics));
  Knowledge knowledge(std::move(ast), *hidden, task.stated_false);
  for (const PlanStep& step : plan) knowledge.take(step, count);
  return count;
}

}  // namespace metactrl::benchmarks
