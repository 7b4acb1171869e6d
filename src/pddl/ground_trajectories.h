// Trajectory constraints in terms of the last state, and of facts that remember what there was on the way.
#ifndef METACTRL_SRC_PDDL_GROUND_TRAJECTORIES_H_
#define METACTRL_SRC_PDDL_GROUND_TRAJECTORIES_H_

#include <cstddef>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pddl/ast.h"
#include "pddl/ground_durations.h"
#include "task/definition.h"

namespace metactrl::pddl {

// What one constraint has to remember.
struct TrajectoryMemory {
  // A change of a fact by whoever leaves a state, worked out in that state.
  struct Note {
    task::Formula when;
    task::FactId fact{};
    bool add = true;
  };
  std::vector<Note> notes;
  std::vector<task::FactId> concerns;  // what the constraint's conditions read, ascending
  // What must hold in the last state, when all states before it have been left.
  task::Formula at_end;
  bool for_good = false;  // `at_end` is false in all later states when it is false in one
};

// Makes a fact that is false at the start; the word says what it remembers.
using NewFact = std::function<task::FactId(std::string_view)>;

// Of a constraint about states (any kind but kActionsInOrder) with these conditions.
TrajectoryMemory remember(Constraint::Kind kind, const task::Formula& c, const task::Formula& d,
                          const NewFact& new_fact);

// Takes the notes of several constraints at every point of an action.
class Lookout {
 public:
  void add(TrajectoryMemory memory);
  bool empty() const { return memories_.empty(); }
  // One point after another; the state between the two is looked at where the second changes what a constraint reads.
  GroundPoint then(GroundPoint point, GroundPoint next) const;

 private:
  std::vector<TrajectoryMemory> memories_;
  std::unordered_map<task::FactId, std::vector<std::size_t>> readers_;  // of each fact, the memories that it concerns
};

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_GROUND_TRAJECTORIES_H_
