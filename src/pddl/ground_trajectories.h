// Trajectory constraints in terms of the last state, and of facts that remember what there was on the way.
#ifndef METACTRL_SRC_PDDL_GROUND_TRAJECTORIES_H_
#define METACTRL_SRC_PDDL_GROUND_TRAJECTORIES_H_

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pddl/ast.h"
#include "pddl/ground_durations.h"
#include "task/definition.h"

namespace metactrl::pddl {

// What one constraint has to remember.
struct TrajectoryMemory {
  // A change of a fact by whoever changes one of those that it concerns.
  struct Note {
    task::Formula when;
    task::FactId fact{};
    bool add = true;
    task::Formula also = task::Formula::constant(true);  // part of the condition, the same for all notes of a fact
    bool behind = false;  // worked out in the state that the change leads to; else in the one that it leaves
    std::vector<task::FactId> concerns = {};  // ascending
  };
  std::vector<Note> notes;
  // What must hold in the last state, when all states before it have been left.
  task::Formula at_end;
  bool for_good = false;  // `at_end` is false in all later states when it is false in one
};

// Makes a fact with this value at the start; the word says what it remembers.
using NewFact = std::function<task::FactId(std::string_view, bool)>;

// Of a constraint about states (any kind but kActionsInOrder) with these conditions. The definition has all facts in them.
TrajectoryMemory remember(Constraint::Kind kind, const task::Formula& c, const task::Formula& d,
                          const task::Definition& definition, const NewFact& new_fact);

// As effects: one for each fact that they change, in the order of the first.
std::vector<task::EffectDefinition> as_effects(std::span<const TrajectoryMemory::Note* const> notes);

// Counts what actions note. Where that is too much, TaskTooLarge names the constraint.
class NoteCount {
 public:
  explicit NoteCount(const std::string& file) : file_(file) {}
  // The fact remembers something for this constraint.
  void announce(task::FactId fact, const std::string& text) { texts_[fact] = text; }
  // A note is stated so many times. Returns how much it takes.
  std::size_t take(task::FactId fact, const task::Formula& when, std::size_t times);
  std::size_t take(std::span<const task::EffectDefinition> effects);
  void give_back(std::size_t taken) { taken_ -= taken; }

 private:
  const std::string& file_;
  std::unordered_map<task::FactId, std::string> texts_;
  std::size_t taken_ = 0;
};

// Takes the notes of several constraints at every point of an action.
class Lookout {
 public:
  void add(TrajectoryMemory memory);
  bool empty() const { return notes_.empty(); }
  // One point after another; the states before and behind the second are looked at where it changes what a constraint
  // reads.
  GroundPoint then(GroundPoint point, GroundPoint next) const;

 private:
  std::vector<TrajectoryMemory::Note> notes_;
  std::unordered_map<task::FactId, std::vector<std::size_t>> readers_;  // of each fact, the notes that it concerns
};

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_GROUND_TRAJECTORIES_H_
