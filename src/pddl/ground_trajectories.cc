// The facts are one state late. A note looks at the state that is left, so behind the changes that lead from S0 to Sn the
// facts know S0 .. S(n-1), and the condition at the end looks at Sn itself besides:
//
//     (always c)             broken: not c                                    not broken and c
//     (sometime c)           seen: c                                          seen or c
//     (at-most-once c)       begun: c; over: begun and not c;
//                            broken: over and c                               not broken and not (over and c)
//     (sometime-after c d)   open: c and not d; no longer: d                  d, or neither open nor c
//     (sometime-before c d)  seen: d; broken: c and not seen                  not broken, and seen or not c
//
// None of the five can tell a repeated state from a single one, so only what changes a fact of c or d has to look: each
// value that the conditions take is seen by what changes it, or at the end.
//
// Where actions take time, or something happens by itself, the states are those between the points, also within an action;
// the two points of one that takes no time are at the same time, with no state in between.
// A look is a point of its own then, that asks for nothing and changes what is remembered, before a point that changes what
// the constraint reads; and one_after_the_other makes one step of them all.
#include "pddl/ground_trajectories.h"

#include <algorithm>
#include <set>
#include <utility>

namespace metactrl::pddl {

namespace {

using task::Formula;

Formula is(task::FactId fact, bool value) { return Formula::literal(fact, !value); }

}  // namespace

TrajectoryMemory remember(Constraint::Kind kind, const Formula& c, const Formula& d, const NewFact& new_fact) {
  TrajectoryMemory memory;
  for (const Formula* condition : {&c, &d})
    task::for_each_literal(*condition, [&](task::FactId fact, bool) { memory.concerns.push_back(fact); });
  std::sort(memory.concerns.begin(), memory.concerns.end());
  memory.concerns.erase(std::unique(memory.concerns.begin(), memory.concerns.end()), memory.concerns.end());
  const auto note = [&](Formula when, task::FactId fact, bool add = true) {
    if (!when.is_false()) memory.notes.push_back({std::move(when), fact, add});
  };
  memory.at_end = c;
  switch (kind) {
    case Constraint::Kind::kAtEnd:
    case Constraint::Kind::kActionsInOrder:
      break;
    case Constraint::Kind::kAlways: {
      const task::FactId broken = new_fact("broken");
      note(task::negate(c), broken);
      memory.at_end = task::make_and({c, is(broken, false)});
      memory.for_good = true;
      break;
    }
    case Constraint::Kind::kSometime: {
      const task::FactId seen = new_fact("seen");
      note(c, seen);
      memory.at_end = task::make_or({c, is(seen, true)});
      break;
    }
    case Constraint::Kind::kAtMostOnce: {
      const task::FactId begun = new_fact("begun");
      const task::FactId over = new_fact("over");
      const task::FactId broken = new_fact("broken");
      note(c, begun);
      note(task::make_and({is(begun, true), task::negate(c)}), over);
      note(task::make_and({is(over, true), c}), broken);
      memory.at_end = task::make_and({is(broken, false), task::make_or({is(over, false), task::negate(c)})});
      memory.for_good = true;
      break;
    }
    case Constraint::Kind::kSometimeAfter: {
      const task::FactId open = new_fact("open");
      note(task::make_and({c, task::negate(d)}), open);
      note(d, open, false);
      memory.at_end = task::make_or({d, task::make_and({is(open, false), task::negate(c)})});
      break;
    }
    case Constraint::Kind::kSometimeBefore: {
      const task::FactId seen = new_fact("seen");
      const task::FactId broken = new_fact("broken");
      note(d, seen);
      note(task::make_and({c, is(seen, false)}), broken);
      memory.at_end = task::make_and({is(broken, false), task::make_or({is(seen, true), task::negate(c)})});
      memory.for_good = true;
      break;
    }
  }
  return memory;
}

void Lookout::add(TrajectoryMemory memory) {
  for (const task::FactId fact : memory.concerns) readers_[fact].push_back(memories_.size());
  memories_.push_back(std::move(memory));
}

GroundPoint Lookout::then(GroundPoint point, GroundPoint next) const {
  std::set<std::size_t> looking;
  const auto change = [&](task::FactId fact) {
    const auto found = readers_.find(fact);
    if (found != readers_.end()) looking.insert(found->second.begin(), found->second.end());
  };
  for (const task::EffectDefinition& effect : next.effects) {
    std::for_each(effect.add.begin(), effect.add.end(), change);
    std::for_each(effect.del.begin(), effect.del.end(), change);
  }
  GroundPoint look;
  for (const std::size_t memory : looking) {
    for (const TrajectoryMemory::Note& note : memories_[memory].notes) {
      task::EffectDefinition& effect = look.effects.emplace_back();
      effect.when = note.when;
      (note.add ? effect.add : effect.del).push_back(note.fact);
    }
  }
  if (!look.effects.empty()) point = one_after_the_other(std::move(point), std::move(look));
  return one_after_the_other(std::move(point), std::move(next));
}

}  // namespace metactrl::pddl
