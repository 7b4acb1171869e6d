// Preferences of a task as conditions of its last state.
#ifndef METACTRL_SRC_PDDL_GROUND_PREFERENCES_H_
#define METACTRL_SRC_PDDL_GROUND_PREFERENCES_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pddl/ast.h"
#include "pddl/ground_formula.h"
#include "pddl/ground_trajectories.h"
#include "support/meter.h"
#include "task/definition.h"

namespace metactrl::pddl {

// The ground actions that a step of an action goal names.
using MatchingActions =
    std::function<std::vector<ActionId>(const std::vector<ActionPattern>& step, const Binding& binding)>;

// First `find`, which needs the facts, axioms and numbers; then, when the actions are complete, `take_notes`.
class GroundPreferences {
 public:
  // `anything` is true, and outlives the builder. All of these are kept by reference.
  GroundPreferences(const Ast& ast, FormulaBuilder& builder, const Condition& anything, NoteCount& noted,
                    task::Definition& result, internal::Meter& meter);

  // Adds the preferences to the definition, and facts that remember what happened on the way. With a lookout the notes of
  // states are given to that, and are not taken by actions.
  void find(Lookout* lookout);
  // Lets actions remember it.
  void take_notes(const MatchingActions& matching);

 private:
  // A step of an action goal, and what is noted when it happens.
  struct StepNote {
    const std::vector<ActionPattern>* step = nullptr;
    Binding binding;
    TrajectoryMemory::Note note;
  };

  void ground(const Preference& preference);
  void ground(const Constraint& part, const std::vector<ObjectId>& outer, const Preference& preference,
              std::vector<task::Formula>& all);
  task::Formula at_end(const Constraint& part, Binding& binding);
  task::Formula all_done(const Constraint& part, const Binding& binding);
  task::FactId new_fact(std::string_view what, bool at_start);
  void take_notes(const TrajectoryMemory& memory);
  const std::vector<ActionId>& changers(task::FactId fact);

  const Ast& ast_;
  FormulaBuilder& builder_;
  const Condition& anything_;
  NoteCount& noted_;
  task::Definition& result_;
  internal::Meter& meter_;
  Lookout* lookout_ = nullptr;
  const Preference* at_hand_ = nullptr;
  std::size_t num_facts_ = 0;
  std::vector<TrajectoryMemory> memories_;
  std::vector<StepNote> steps_;
  IdVector<task::FactId, std::vector<ActionId>> changers_;
  std::map<ActionId, std::vector<const TrajectoryMemory::Note*>> taken_;  // by who takes them
};

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_GROUND_PREFERENCES_H_
