// Ground tasks in which facts change by themselves: the time as facts, and what actions mean at each time.
#ifndef METACTRL_SRC_PDDL_GROUND_TIMED_H_
#define METACTRL_SRC_PDDL_GROUND_TIMED_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pddl/ast.h"
#include "pddl/ground_durations.h"
#include "pddl/ground_trajectories.h"
#include "pddl/reach.h"
#include "support/meter.h"
#include "task/definition.h"

namespace metactrl::pddl {

// Facts that change by themselves at one time.
struct GroundEvent {
  std::int64_t time = 0;
  std::vector<task::FactId> add;
  std::vector<task::FactId> del;
};

// By time. `fact_of_atom` numbers the reachable atoms.
std::vector<GroundEvent> ground_events(const Ast& ast, const Reachable& reachable,
                                       const IdVector<AtomId, task::FactId>& fact_of_atom);

// A duration in the units of schedules; nothing when it cannot be counted.
std::optional<std::int64_t> duration_units(const Rational& duration);

// First all durations are announced; then `add_facts`; the rest may be asked after that.
class GroundClock {
 public:
  // By time, one for each; at least one. The lookout is complete when points are asked for.
  GroundClock(std::vector<GroundEvent> events, std::int64_t tick, const Lookout& lookout, NoteCount& noted,
              internal::Meter& meter);

  void announce(std::int64_t duration) { durations_.insert(duration); }
  // A fact for every time at which an action may begin. Returns how many.
  std::size_t add_facts(task::Definition& definition);
  // The action as one that takes no time, in terms of the facts when the one before it has ended.
  GroundPoint at_all_times(const GroundRun& run);
  // What must hold now for the condition to hold when everything that happens by itself has happened.
  task::Formula in_the_end(const task::Formula& condition);

 private:
  // Times at which an action can be carried out, as far as it matters: so many events come before the clock's present
  // time, before the start, before the end, before the clock's next time.
  struct Way {
    std::array<std::size_t, 4> before{};
    std::size_t next = 0;  // place in values_
  };
  using Chain = std::map<std::array<std::size_t, 4>, GroundPoint>;

  std::size_t events_before(std::int64_t time) const;
  bool is_free(std::int64_t time) const;
  std::int64_t tick_from(std::int64_t time) const;
  // The clock behind an action that ends then; nothing when nothing happens by itself any more.
  std::optional<std::int64_t> next_value(std::int64_t end) const;
  // When an action may begin at a time, or later, earliest first: behind each event, or so that it ends behind it.
  std::vector<std::int64_t> starts(std::int64_t from, std::int64_t duration) const;
  std::vector<Way> ways(std::size_t value, std::int64_t duration) const;
  void happen(std::size_t from, std::size_t to, GroundPoint& point) const;
  GroundPoint chain(const GroundRun& run, const std::array<std::size_t, 4>& before) const;
  task::Formula one_of(const std::vector<std::size_t>& values) const;
  task::Formula by_value(std::vector<std::pair<task::Formula, std::vector<std::size_t>>> groups) const;

  std::vector<GroundEvent> events_;
  std::int64_t tick_;
  const Lookout& lookout_;
  NoteCount& noted_;
  internal::Meter& meter_;
  std::set<std::int64_t> durations_;
  std::vector<std::int64_t> values_;  // ascending; the last is "later": it stands for all times behind the events
  std::map<std::int64_t, std::size_t> places_;
  std::vector<task::FactId> facts_;  // by value
  // What happens from each event on; and nothing, behind the last.
  std::vector<std::vector<task::EffectDefinition>> rest_;
};

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_GROUND_TIMED_H_
