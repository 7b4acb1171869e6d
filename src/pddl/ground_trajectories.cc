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
// value that the conditions take is seen by what changes it, or at the end. Of (always (and ...)) and (sometime (or ...))
// each member is looked at by itself, by what changes its own facts.
//
// (sometime (and <until t> c)) and its like: <until t> becomes false by itself and for good. So there is a state with both
// exactly where <until t> holds in a state in which c has just become true, or at the start. What changes c looks at the
// state behind the change, and what lets the time pass notes nothing, however many such constraints there are. What begins
// by itself, (always (or <until t> c)), needs nothing of the kind: where c is false when the time has passed, it is so in
// the state that is left by what changes c. A constraint that ends by itself as well is looked at when that time passes.
//
// Where actions take time, or something happens by itself, the states are those between the points, also within an action;
// the two points of one that takes no time are at the same time, with no state in between.
// A look is a point of its own then, that asks for nothing and changes what is remembered, before or behind a point that
// changes what the constraint reads; and one_after_the_other makes one step of them all.
#include "pddl/ground_trajectories.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "metactrl/domain.h"
#include "support/str_cat.h"
#include "task/remembers.h"

namespace metactrl::pddl {

namespace {

using internal::str_cat;
using task::FactId;
using task::Formula;

// What actions note, in literals: about a gigabyte.
constexpr std::size_t kMaxNoted = 10'000'000;

Formula is(FactId fact, bool value) { return Formula::literal(fact, !value); }

std::vector<FactId> facts_of(const std::vector<Formula>& formulas) {
  std::vector<FactId> facts;
  for (const Formula& formula : formulas)
    task::for_each_literal(formula, [&](FactId fact, bool) { facts.push_back(fact); });
  std::sort(facts.begin(), facts.end());
  facts.erase(std::unique(facts.begin(), facts.end()), facts.end());
  return facts;
}

// Nothing where it counts.
std::optional<bool> value_at_start(const Formula& formula, const task::Definition& definition) {
  if (formula.kind == Formula::Kind::kLiteral) return definition.init[formula.fact] != formula.negated;
  const bool all = formula.kind == Formula::Kind::kAnd;
  if (!all && formula.kind != Formula::Kind::kOr)
    return formula.children.empty() ? std::optional(formula.is_true()) : std::nullopt;
  bool result = all;
  for (const Formula& child : formula.children) {
    const std::optional<bool> value = value_at_start(child, definition);
    if (!value) return std::nullopt;
    result = all ? result && *value : result || *value;
  }
  return result;
}

// Notes that `c` has held in some state. Returns what says so in the last one.
Formula ever(const Formula& c, std::string_view what, const task::Definition& definition, const NewFact& new_fact,
             TrajectoryMemory& memory) {
  std::vector<Formula> times;
  std::vector<Formula> others;
  for (Formula& part : conjuncts_of(c)) {
    const bool is_time = part.kind == Formula::Kind::kLiteral && remembers(definition, part.fact);
    (is_time ? times : others).push_back(std::move(part));
  }
  std::vector<Formula> ending;
  std::copy_if(times.begin(), times.end(), std::back_inserter(ending),
               [](const Formula& time) { return !time.negated; });
  const std::optional<bool> at_start = value_at_start(c, definition);
  const bool behind = !times.empty() && ending.size() == times.size() && !others.empty() && at_start;
  if (behind) ending.clear();
  const Formula other = task::make_and(std::move(others));
  const FactId fact = new_fact(what, behind && *at_start);
  for (const Formula& way : other.kind == Formula::Kind::kOr ? other.children : std::vector<Formula>{other}) {
    if (way.is_false()) continue;
    std::vector<Formula> looked_at = ending;
    looked_at.push_back(way);
    memory.notes.push_back({way, fact, true, task::make_and(times), behind, facts_of(looked_at)});
  }
  return behind ? is(fact, true) : task::make_or({c, is(fact, true)});
}

}  // namespace

TrajectoryMemory remember(Constraint::Kind kind, const Formula& c, const Formula& d, const task::Definition& definition,
                          const NewFact& new_fact) {
  TrajectoryMemory memory;
  const auto note = [&](Formula when, FactId fact, bool add = true) {
    if (when.is_false()) return;
    memory.notes.push_back({std::move(when), fact, add});
    memory.notes.back().concerns = facts_of({c, d});
  };
  memory.at_end = c;
  switch (kind) {
    case Constraint::Kind::kAtEnd:
    case Constraint::Kind::kActionsInOrder:
      break;
    case Constraint::Kind::kAlways:
      memory.at_end = task::negate(ever(task::negate(c), "broken", definition, new_fact, memory));
      memory.for_good = true;
      break;
    case Constraint::Kind::kSometime:
      memory.at_end = ever(c, "seen", definition, new_fact, memory);
      break;
    case Constraint::Kind::kAtMostOnce: {
      const FactId begun = new_fact("begun", false);
      const FactId over = new_fact("over", false);
      const FactId broken = new_fact("broken", false);
      note(c, begun);
      note(task::make_and({is(begun, true), task::negate(c)}), over);
      note(task::make_and({is(over, true), c}), broken);
      memory.at_end = task::make_and({is(broken, false), task::make_or({is(over, false), task::negate(c)})});
      memory.for_good = true;
      break;
    }
    case Constraint::Kind::kSometimeAfter: {
      const FactId open = new_fact("open", false);
      note(task::make_and({c, task::negate(d)}), open);
      note(d, open, false);
      memory.at_end = task::make_or({d, task::make_and({is(open, false), task::negate(c)})});
      break;
    }
    case Constraint::Kind::kSometimeBefore: {
      const FactId seen = new_fact("seen", false);
      const FactId broken = new_fact("broken", false);
      note(d, seen);
      note(task::make_and({c, is(seen, false)}), broken);
      memory.at_end = task::make_and({is(broken, false), task::make_or({is(seen, true), task::negate(c)})});
      memory.for_good = true;
      break;
    }
  }
  return memory;
}

std::vector<task::EffectDefinition> as_effects(std::span<const TrajectoryMemory::Note* const> notes) {
  struct Change {
    const TrajectoryMemory::Note* first = nullptr;
    std::vector<Formula> when;
  };
  std::vector<Change> changes;
  std::map<std::pair<FactId, bool>, std::size_t> places;
  for (const TrajectoryMemory::Note* note : notes) {
    const auto [place, is_new] = places.try_emplace({note->fact, note->add}, changes.size());
    if (is_new) changes.push_back({note, {}});
    changes[place->second].when.push_back(note->when);
  }
  std::vector<task::EffectDefinition> effects;
  for (Change& change : changes) {
    task::EffectDefinition& effect = effects.emplace_back();
    effect.when = task::make_and({change.first->also, task::make_or(std::move(change.when))});
    (change.first->add ? effect.add : effect.del).push_back(change.first->fact);
  }
  return effects;
}

std::size_t NoteCount::take(FactId fact, const Formula& when, std::size_t times) {
  const auto text = texts_.find(fact);
  if (text == texts_.end()) return 0;
  std::size_t literals = 1;
  task::for_each_literal(when, [&](FactId, bool) { ++literals; });
  taken_ += literals * times;
  if (taken_ <= kMaxNoted) return literals * times;
  throw TaskTooLarge(file_,
                     str_cat("too many constraints and preferences of the way, or too large ones: what actions would "
                             "have to note takes more than ",
                             kMaxNoted, " literals, the last of them for ", text->second),
                     "use fewer objects, or constrain fewer of them");
}

std::size_t NoteCount::take(std::span<const task::EffectDefinition> effects) {
  std::size_t all = 0;
  if (texts_.empty()) return all;
  for (const task::EffectDefinition& effect : effects) {
    for (const FactId fact : effect.add) all += take(fact, effect.when, 1);
    for (const FactId fact : effect.del) all += take(fact, effect.when, 1);
  }
  return all;
}

void Lookout::add(TrajectoryMemory memory) {
  for (TrajectoryMemory::Note& note : memory.notes) {
    for (const FactId fact : note.concerns) readers_[fact].push_back(notes_.size());
    notes_.push_back(std::move(note));
  }
}

GroundPoint Lookout::then(GroundPoint point, GroundPoint next) const {
  std::set<std::size_t> looking;
  const auto change = [&](FactId fact) {
    const auto found = readers_.find(fact);
    if (found != readers_.end()) looking.insert(found->second.begin(), found->second.end());
  };
  for (const task::EffectDefinition& effect : next.effects) {
    std::for_each(effect.add.begin(), effect.add.end(), change);
    std::for_each(effect.del.begin(), effect.del.end(), change);
  }
  std::vector<const TrajectoryMemory::Note*> before;
  std::vector<const TrajectoryMemory::Note*> behind;
  for (const std::size_t note : looking) (notes_[note].behind ? behind : before).push_back(&notes_[note]);
  GroundPoint result = std::move(point);
  if (!before.empty()) result = one_after_the_other(std::move(result), {Formula::constant(true), as_effects(before)});
  result = one_after_the_other(std::move(result), std::move(next));
  if (!behind.empty()) result = one_after_the_other(std::move(result), {Formula::constant(true), as_effects(behind)});
  return result;
}

}  // namespace metactrl::pddl
