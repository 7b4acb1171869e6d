// An action that has no instance misses an object for a parameter, or a fact that its precondition asks for and that
// neither the initial state has nor an effect or an axiom makes true; otherwise no single cause is looked for.
#include "pddl/grounding_notes.h"

#include <algorithm>

#include "support/list_some.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

namespace {

using internal::str_cat;

IdVector<PredicateId, bool> ever_true(const Ast& ast) {
  IdVector<PredicateId, bool> result(ast.predicates.size(), false);
  for (const GroundAtom& atom : ast.init) result[atom.predicate] = true;
  for (const TimedFact& timed : ast.timed) result[timed.atom.predicate] = true;
  for (const Axiom& axiom : ast.axioms) result[axiom.head] = true;
  for (const Action& action : ast.actions) {
    for (const Effect& effect : action.effects)
      result[effect.atom.predicate] = result[effect.atom.predicate] || effect.add;
    if (!action.durative) continue;
    for (const Effect& effect : action.durative->end_effects)
      result[effect.atom.predicate] = result[effect.atom.predicate] || effect.add;
  }
  return result;
}

// An atom that `condition` asks for and that is never true; null when there is none.
const Atom* never_true(const Condition& condition, const IdVector<PredicateId, bool>& possible) {
  if (condition.kind == Condition::Kind::kAtom) return possible[condition.atom.predicate] ? nullptr : &condition.atom;
  if (condition.kind != Condition::Kind::kAnd && condition.kind != Condition::Kind::kExists) return nullptr;
  for (const Condition& child : condition.children) {
    if (const Atom* atom = never_true(child, possible)) return atom;
  }
  return nullptr;
}

// The first parameter for which there is no object.
const Variable* without_objects(const Ast& ast, const Action& action) {
  for (const VariableId v : ids<VariableId>(action.num_parameters)) {
    if (ast.objects_of(action.variables[v].types).empty()) return &action.variables[v];
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> grounding_notes(const Ast& ast, const IdVector<ActionNameId, bool>& taken) {
  std::vector<std::string> notes;
  for (const TypeId type : ids(next_of(kObjectType), ast.types.next_id())) {
    if (!ast.objects_of({type}).empty()) continue;
    std::vector<std::string> need;
    for (const Action& action : ast.actions) {
      const Variable* variable = without_objects(ast, action);
      if (variable != nullptr && variable->types == std::vector<TypeId>{type}) need.push_back(action.name);
    }
    notes.push_back(str_cat("no object is of type '", ast.types[type].name, "'",
                            need.empty() ? "" : ", so these actions can never be taken: " + internal::list_some(need)));
  }
  const IdVector<PredicateId, bool> possible = ever_true(ast);
  for (const ActionNameId a : ast.actions.all()) {
    const Action& action = ast.actions[a];
    if (taken[a]) continue;
    const Variable* variable = without_objects(ast, action);
    if (variable != nullptr && variable->types.size() == 1) continue;  // said above
    std::string why = "its precondition holds for no objects in any state that can be reached";
    if (variable != nullptr) {
      why = str_cat("there is no object for ", variable->name);
    } else if (const Atom* atom = never_true(action.precondition, possible)) {
      why = str_cat(to_string(ast, action.variables, *atom), " is true of nothing, and no effect makes it so");
    }
    notes.push_back(str_cat("action '", action.name, "' can never be taken: ", why));
  }
  return notes;
}

}  // namespace metactrl::pddl
