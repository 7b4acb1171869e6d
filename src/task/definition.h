// A ground task as plain data: what the PDDL grounder and the SAS reader produce, and what compile.h turns into a
// Program.
//
// A `Definition` names facts (ground atoms that may be true or false), actions over them, axioms that derive facts from
// others, trajectory monitors and the goal. It is not optimised: facts may be constant and actions may never become
// applicable. `simplify` (simplify.h) removes what relaxed reachability proves useless.
#ifndef METACTRL_SRC_TASK_DEFINITION_H_
#define METACTRL_SRC_TASK_DEFINITION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "metactrl/task.h"
#include "support/ids.h"
#include "task/action_table.h"
#include "task/formula.h"
#include "task/symbol.h"

namespace metactrl::task {

struct AxiomDefinition {
  FactId head{};
  Formula body;
};

// A trajectory constraint: a small automaton beside the state, stepped after every action and once for the initial
// state.
struct MonitorDefinition {
  enum class Kind : std::uint8_t {
    kAlways,          // `first` in every state
    kSometime,        // `first` in some state
    kAtMostOnce,      // `first` during at most one uninterrupted stretch
    kSometimeAfter,   // after `first`, then or later, `second`
    kSometimeBefore,  // `first` only after a strictly earlier `second`
    kActionsInOrder,  // the steps happen in order, one action each
  };
  Kind kind = Kind::kAlways;
  Formula first;
  Formula second;
  std::vector<std::vector<ActionId>> steps;  // each: ascending
  std::string text;
};

struct GoalDefinition {
  Formula condition;
  std::string text;
  bool never = false;   // proved to be false in every state that can be reached, even if numbers were not cut
  bool anyway = false;  // it holds by what never changes alone, or is about objects of which there are none
};

// A number of the state: each value that it can take is a fact.
struct NumberDefinition {
  std::string text;  // "(battery r1)"
  std::size_t values = 0;
  std::string least;  // of them; empty where there are none
  std::string largest;
  bool cut = false;  // there are more, see Definition::cut
};

// What is to hold at the end if it can be, and what it costs where it does not. Preferences of what happens on the way
// look at facts that remember it.
struct PreferenceDefinition {
  std::string name;
  Formula condition;
  std::string text;
  double weight = 1;
};

struct ActionName {
  std::string name;
  std::uint32_t arity = 0;
};

struct Definition {
  std::string name;
  IdVector<ObjectId, std::string> objects;
  IdVector<PredicateId, std::string> predicate_names;
  IdVector<ActionNameId, ActionName> action_names;  // every action the domain declares, grounded or not
  IdVector<FactId, FactSymbol> facts;
  IdVector<FactId, std::int32_t> fact_layer;  // -1: stored in the state; >= 0: derived, in this stratum
  IdVector<FactId, bool> init;                // false for derived ones
  ActionTable actions;
  std::vector<AxiomDefinition> axioms;  // of layer fact_layer[head]
  std::vector<MonitorDefinition> monitors;
  std::vector<GoalDefinition> goals;  // all must hold at the end
  std::vector<PreferenceDefinition> preferences;
  // Numbers of which not all values are facts, each with what is: "(x boat) beyond -30 .. 30". An action that would lead
  // beyond cannot be taken, so plans are plans, but that there is none proves nothing; of plans of at most `cut_depth`
  // actions none is lost.
  std::vector<std::string> cut;
  std::uint32_t cut_depth = 0;
  // Actions that could take other durations, which may lead elsewhere: "charge but for 2, 5, 9". Of these plans none proves
  // anything either.
  std::vector<std::string> other_durations;
  // Is a plan of what the files say one of the task?
  bool whole() const { return cut.empty() && other_durations.empty(); }
  std::vector<NumberDefinition> numbers;
  // Ground actions inside which others run, and how many run inside each other at most.
  std::size_t hosts = 0;
  std::size_t hosts_at_once = 0;
  // Where something happens by itself: at so many times actions can begin, multiples of `tick` (metactrl/schedule.h).
  std::size_t times = 0;
  std::int64_t tick = 0;
  bool has_costs = false;   // some action states one
  bool has_metric = false;  // the sum of costs is to be small; without, the number of actions
};

// A new stored fact, of a new predicate without arguments.
FactId add_fact(Definition& definition, std::string predicate, bool at_start);

// "(at truck1 depot)". A symbol without arguments prints its name in parentheses.
std::string fact_text(const Definition& definition, FactId fact);
std::string action_text(const Definition& definition, ActionId action);

}  // namespace metactrl::task

#endif  // METACTRL_SRC_TASK_DEFINITION_H_
