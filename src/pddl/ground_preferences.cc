// What a preference wants of the states on the way is remembered by facts, so that all that is left to look at is the last
// state. A monitor that forbids steps will not do: a preference forbids nothing.
//
// The facts are one state late. An effect looks at the state before its action, so when the effects of a plan a1 .. an have
// happened, the facts know S0 .. S(n-1), and the condition at the end looks at Sn itself besides:
//
//     (always c)             broken: not c                                    not broken and c
//     (sometime c)           seen: c                                          seen or c
//     (at-most-once c)       begun: c; over: begun and not c;
//                            broken: over and c                               not broken and not (over and c)
//     (sometime-after c d)   open: c and not d; no longer: d                  d, or neither open nor c
//     (sometime-before c d)  seen: d; broken: c and not seen                  not broken, and seen or not c
//     (actions-in-order ...) step i done: an action of step i, behind i - 1   all done
//
// None of the five can tell a repeated state from a single one, so only actions that change a fact of c or d have to look:
// each value that the conditions take is seen by the action that changes it, or at the end. So an action that has nothing
// to do with what is preferred stays as irrelevant as it was.
#include "pddl/ground_preferences.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "support/str_cat.h"

namespace metactrl::pddl {

namespace {

using internal::str_cat;
using task::Formula;

class PreferenceGrounder {
 public:
  PreferenceGrounder(const Ast& ast, FormulaBuilder& builder, const Condition& anything,
                     const MatchingActions& matching, task::Definition& result, internal::Meter& meter)
      : ast_(ast), builder_(builder), anything_(anything), matching_(matching), result_(result), meter_(meter) {}

  void run() {
    for (const Preference& preference : ast_.preferences) ground(preference);
    for (const auto& [action, notes] : taken_) {
      result_.actions.change(action, [&notes = notes](task::ActionDefinition& whole) {
        whole.effects.insert(whole.effects.end(), notes.begin(), notes.end());
      });
    }
  }

 private:
  // An effect of actions that look at the state before them.
  struct Note {
    Formula when;
    task::FactId fact;
    bool add = true;
  };

  void ground(const Preference& preference) {
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

  void ground(const Constraint& part, const std::vector<ObjectId>& outer, const Preference& preference,
              std::vector<Formula>& all) {
    const std::span<const VariableId> inner = std::span(part.forall).subspan(preference.num_outer);
    Binding binding(part.variables.size(), kUnbound);
    for (std::size_t i = 0; i < outer.size(); ++i) binding[part.forall[i]] = outer[i];
    for (const std::vector<ObjectId>& objects :
         builder_.bindings(part.variables, inner, anything_, false, nullptr, binding)) {
      for (std::size_t i = 0; i < objects.size(); ++i) binding[inner[i]] = objects[i];
      name_ = preference.name.empty() ? "preference" : preference.name;
      all.push_back(at_end(part, binding));
      for (const VariableId variable : inner) binding[variable] = kUnbound;
    }
  }

  Formula at_end(const Constraint& part, Binding& binding) {
    const Formula c = builder_.build(part.variables, part.first, binding);
    const Formula d = builder_.build(part.variables, part.second, binding);
    switch (part.kind) {
      case Constraint::Kind::kAtEnd:
        return c;
      case Constraint::Kind::kAlways: {
        const task::FactId broken = new_fact("broken");
        note({{task::negate(c), broken}}, {&c});
        return task::make_and({c, is(broken, false)});
      }
      case Constraint::Kind::kSometime: {
        const task::FactId seen = new_fact("seen");
        note({{c, seen}}, {&c});
        return task::make_or({c, is(seen, true)});
      }
      case Constraint::Kind::kAtMostOnce: {
        const task::FactId begun = new_fact("begun");
        const task::FactId over = new_fact("over");
        const task::FactId broken = new_fact("broken");
        note({{c, begun},
              {task::make_and({is(begun, true), task::negate(c)}), over},
              {task::make_and({is(over, true), c}), broken}},
             {&c});
        return task::make_and({is(broken, false), task::make_or({is(over, false), task::negate(c)})});
      }
      case Constraint::Kind::kSometimeAfter: {
        const task::FactId open = new_fact("open");
        note({{task::make_and({c, task::negate(d)}), open}, {d, open, false}}, {&c, &d});
        return task::make_or({d, task::make_and({is(open, false), task::negate(c)})});
      }
      case Constraint::Kind::kSometimeBefore: {
        const task::FactId seen = new_fact("seen");
        const task::FactId broken = new_fact("broken");
        note({{d, seen}, {task::make_and({c, is(seen, false)}), broken}}, {&c, &d});
        return task::make_and({is(broken, false), task::make_or({is(seen, true), task::negate(c)})});
      }
      case Constraint::Kind::kActionsInOrder:
        return all_done(part, binding);
    }
    return Formula::constant(true);
  }

  Formula all_done(const Constraint& part, const Binding& binding) {
    Formula before = Formula::constant(true);
    for (const std::vector<ActionPattern>& step : part.steps) {
      const task::FactId done = new_fact("done");
      for (const ActionId action : matching_(step, binding)) {
        add_note({task::make_and({before, is(done, false)}), done}, action);
      }
      before = is(done, true);
    }
    return before;
  }

  static Formula is(task::FactId fact, bool value) { return Formula::literal(fact, !value); }

  task::FactId new_fact(std::string_view what) {
    const task::FactId fact = result_.facts.next_id();
    result_.facts.push_back({result_.predicate_names.next_id(), {}});
    result_.predicate_names.push_back(str_cat(name_, ':', what, ':', ++num_facts_));
    result_.fact_layer.push_back(-1);
    result_.init.push_back(false);
    return fact;
  }

  void add_note(const Note& note, ActionId action) {
    if (note.when.is_false()) return;
    meter_.piece();
    task::EffectDefinition& effect = taken_[action].emplace_back();
    effect.when = note.when;
    (note.add ? effect.add : effect.del).push_back(note.fact);
  }

  // Lets every action take these notes that can change one of the conditions.
  void note(const std::vector<Note>& notes, const std::vector<const Formula*>& conditions) {
    std::set<ActionId> lookers;
    bool all = false;
    for (const Formula* condition : conditions) {
      task::for_each_literal(*condition, [&](task::FactId fact, bool) {
        if (result_.fact_layer[fact] >= 0) {
          all = true;
        } else {
          const std::vector<ActionId>& changing = changers(fact);
          lookers.insert(changing.begin(), changing.end());
        }
      });
    }
    if (all) {
      for (const ActionId action : result_.actions.all()) lookers.insert(action);
    }
    for (const ActionId action : lookers) {
      for (const Note& one : notes) add_note(one, action);
    }
  }

  // The actions that change a fact.
  const std::vector<ActionId>& changers(task::FactId fact) {
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

  const Ast& ast_;
  FormulaBuilder& builder_;
  const Condition& anything_;
  const MatchingActions& matching_;
  task::Definition& result_;
  internal::Meter& meter_;
  std::string name_;
  std::size_t num_facts_ = 0;
  IdVector<task::FactId, std::vector<ActionId>> changers_;
  std::map<ActionId, std::vector<task::EffectDefinition>> taken_;  // notes, by who takes them
};

}  // namespace

void ground_preferences(const Ast& ast, FormulaBuilder& builder, const Condition& anything,
                        const MatchingActions& matching, task::Definition& result, internal::Meter& meter) {
  PreferenceGrounder(ast, builder, anything, matching, result, meter).run();
}

}  // namespace metactrl::pddl
