// Durative actions as instantaneous ones: what is true before and after when one of them runs alone.
#ifndef METACTRL_SRC_PDDL_GROUND_DURATIONS_H_
#define METACTRL_SRC_PDDL_GROUND_DURATIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pddl/ast.h"
#include "task/definition.h"

namespace metactrl::pddl {

// The same tree in which no action takes time, for relaxed reachability: an action can be taken there whenever it can in
// truth, and adds whatever it adds at either point. Conditions on what its effects at the start change are left out.
Ast without_time(const Ast& ast);

// One of the two points of a ground action.
struct GroundPoint {
  task::Formula condition;
  std::vector<task::EffectDefinition> effects;
};

// What a ground action is before it is known when it begins. Without a duration it is its start alone.
struct GroundRun {
  GroundPoint start;
  bool durative = false;
  task::Formula over_all;
  GroundPoint end;
  std::int64_t duration = 0;
};

// Which durations were left out that can lead elsewhere (durations.h).
class OtherDurations {
 public:
  explicit OtherDurations(const Ast& ast) : ast_(ast), possible_(ast.actions.size(), false) {}
  // With some objects it may be that the action begins.
  void note(ActionNameId action) { possible_[action] = true; }
  // The action hosts others, and takes so long.
  void note_host(const Action& action, const std::vector<ObjectId>& arguments, std::int64_t duration);
  // Once all is noted: "charge but for 2, 5, 9".
  std::vector<std::string> texts() const;
  bool any() const { return !texts().empty(); }
  // Do intervals of numbers cover them?
  bool within_intervals() const;

 private:
  bool matter(ActionNameId action) const;

  const Ast& ast_;
  IdVector<ActionNameId, bool> possible_;
  // The least and the largest duration of each host, by name and arguments.
  std::map<std::pair<std::string, std::vector<ObjectId>>, std::pair<std::int64_t, std::int64_t>> hosts_;
  bool may_nest_ = false;  // a host inside another
};

// The action that does both. The end's formulas speak of the state behind the effects at the start.
GroundPoint one_after_the_other(GroundPoint start, GroundPoint end);

// `formula` where the values of these facts are known.
task::Formula given(const task::Formula& formula, const std::map<task::FactId, bool>& known);
// The conjunction, where what its literals say is put into its other members.
task::Formula tidy(std::vector<task::Formula> parts);
// Of a conjunction its members, of anything else itself.
std::vector<task::Formula> conjuncts_of(const task::Formula& formula);

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_GROUND_DURATIONS_H_
