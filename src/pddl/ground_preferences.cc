// What preferences want of the states on the way is remembered by facts (ground_trajectories.cc), so that all that is left
// to look at is the last state. A monitor that forbids steps will not do: a preference forbids nothing. Only actions that
// change a fact of the conditions take notes, so an action that has nothing to do with what is preferred stays as
// irrelevant as it was. Steps of action goals are noted by the actions that are such steps, each behind the one before.
#include "pddl/ground_preferences.h"

#include <set>
#include <utility>

#include "support/str_cat.h"
#include "task/remembers.h"

namespace metactrl::pddl {

using internal::str_cat;
using task::Formula;

GroundPreferences::GroundPreferences(const Ast& ast, FormulaBuilder& builder, const Condition& anything,
                                     NoteCount& noted, task::Definition& result, internal::Meter& meter)
    : ast_(ast), builder_(builder), anything_(anything), noted_(noted), result_(result), meter_(meter) {}

void GroundPreferences::find(Lookout* lookout) {
  lookout_ = lookout;
  for (const Preference& preference : ast_.preferences) {
    at_hand_ = &preference;
    ground(preference);
  }
}

void GroundPreferences::take_notes(const MatchingActions& matching) {
  for (const TrajectoryMemory& memory : memories_) take_notes(memory);
  for (const StepNote& step : steps_) {
    for (const ActionId action : matching(*step.step, step.binding)) taken_[action].push_back(&step.note);
  }
  for (const auto& [action, notes] : taken_) {
    const std::vector<task::EffectDefinition> effects = as_effects(notes);
    noted_.take(effects);
    result_.actions.change(action, [&](task::ActionDefinition& whole) {
      whole.effects.insert(whole.effects.end(), effects.begin(), effects.end());
    });
  }
}

void GroundPreferences::ground(const Preference& preference) {
  const Constraint& head = preference.parts[0];
  const std::span<const VariableId> outer = std::span(head.forall).first(preference.num_outer);
  Binding binding(head.variables.size(), kUnbound);
  for (const std::vector<ObjectId>& objects :
       builder_.bindings(head.variables, outer, anything_, false, nullptr, binding)) {
    task::PreferenceDefinition instance;
    instance.name = preference.name;
    instance.text = preference.text;
    instance.weight = preference.weight;
    for (std::size_t i = 0; i < objects.size(); ++i) {
      instance.text +=
          str_cat(i == 0 ? " for " : ", ", head.variables[outer[i]].name, " = ", ast_.objects[objects[i]].name);
    }
    std::vector<Formula> all;
    for (const Constraint& part : preference.parts) ground(part, objects, preference, all);
    instance.condition = task::make_and(std::move(all));
    result_.preferences.push_back(std::move(instance));
  }
}

void GroundPreferences::ground(const Constraint& part, const std::vector<ObjectId>& outer, const Preference& preference,
                               std::vector<Formula>& all) {
  const std::span<const VariableId> inner = std::span(part.forall).subspan(preference.num_outer);
  Binding binding(part.variables.size(), kUnbound);
  for (std::size_t i = 0; i < outer.size(); ++i) binding[part.forall[i]] = outer[i];
  for (const std::vector<ObjectId>& objects :
       builder_.bindings(part.variables, inner, anything_, false, nullptr, binding)) {
    for (std::size_t i = 0; i < objects.size(); ++i) binding[inner[i]] = objects[i];
    all.push_back(at_end(part, binding));
    for (const VariableId variable : inner) binding[variable] = kUnbound;
  }
}

Formula GroundPreferences::at_end(const Constraint& part, Binding& binding) {
  if (part.kind == Constraint::Kind::kActionsInOrder) return all_done(part, binding);
  TrajectoryMemory memory = remember(part.kind, builder_.build(part.variables, part.first, binding),
                                     builder_.build(part.variables, part.second, binding), result_,
                                     [this](auto what, bool at_start) { return new_fact(what, at_start); });
  Formula condition = std::move(memory.at_end);
  if (memory.notes.empty()) return condition;
  if (lookout_ != nullptr) {
    lookout_->add(std::move(memory));
  } else {
    memories_.push_back(std::move(memory));
  }
  return condition;
}

Formula GroundPreferences::all_done(const Constraint& part, const Binding& binding) {
  Formula before = Formula::constant(true);
  for (const std::vector<ActionPattern>& step : part.steps) {
    const task::FactId done = new_fact("done", false);
    steps_.push_back({&step, binding, {task::make_and({before, Formula::literal(done, true)}), done}});
    before = Formula::literal(done, false);
  }
  return before;
}

task::FactId GroundPreferences::new_fact(std::string_view what, bool at_start) {
  const std::string& name = at_hand_->name;
  const task::FactId fact =
      add_remembered(result_, str_cat(name.empty() ? "preference" : name, ':', what, ':', ++num_facts_), at_start);
  noted_.announce(fact, at_hand_->text);
  return fact;
}

// Lets every action take a note that can change what it concerns.
void GroundPreferences::take_notes(const TrajectoryMemory& memory) {
  for (const TrajectoryMemory::Note& note : memory.notes) {
    std::set<ActionId> lookers;
    bool all = false;
    for (const task::FactId fact : note.concerns) {
      if (result_.fact_layer[fact] >= 0) {
        all = true;
      } else {
        const std::vector<ActionId>& changing = changers(fact);
        lookers.insert(changing.begin(), changing.end());
      }
    }
    if (all) {
      for (const ActionId action : result_.actions.all()) lookers.insert(action);
    }
    for (const ActionId action : lookers) {
      meter_.piece();
      taken_[action].push_back(&note);
    }
  }
}

// The actions that change a fact.
const std::vector<ActionId>& GroundPreferences::changers(task::FactId fact) {
  if (changers_.empty()) {
    changers_.resize(result_.facts.size());
    const task::ActionTable& actions = result_.actions;
    for (const ActionId action : actions.all()) {
      for (const task::ActionTable::Effect& effect : actions.effects(action)) {
        for (const task::ActionTable::Range facts : {effect.add, effect.del}) {
          for (const task::FactId changed : actions.facts(facts)) changers_[changed].push_back(action);
        }
      }
    }
  }
  return changers_[fact];
}

}  // namespace metactrl::pddl
