// The clock. A state knows when the next action may begin: one fact for each such time, all of them multiples of the tick
// that come of starting at 0 and of the durations; and one for "later", when nothing happens by itself any more. What has
// happened by itself up to that time has happened in the state.
//
// An action. From a time t it begins at the first multiple c >= t at which it can be carried out: what happens by itself
// before c happens, then its start, then what happens by itself while it runs (what it needs over all is judged in
// between), then its end, and then all that comes before the next time. Which of these orders there is changes only
// where c or its end passes one of the events, so a few c stand for all, and the composition of the points
// (one_after_the_other) is made once for each order. Of several c the first whose condition holds is taken: the effects
// of the others happen where those before fail.
//
// What all times agree in is stated once. The rest is stated for each time, beside the effect that moves the clock.
#include "pddl/ground_timed.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "metactrl/schedule.h"
#include "support/hash.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

namespace {

using internal::str_cat;
using task::FactId;
using task::Formula;

// A change of one fact, and the times at which it is part of the action.
struct TimedChange {
  Formula when;
  FactId fact{};
  bool add = false;
  std::vector<std::size_t> values;
};

std::uint64_t hash(const Formula& formula, std::uint64_t seed) {
  seed = internal::mix(seed, static_cast<std::uint64_t>(formula.kind) << 33U |
                                 static_cast<std::uint64_t>(formula.negated) << 32U | index(formula.fact));
  for (const Formula& child : formula.children) seed = hash(child, seed);
  return seed;
}

// Finds what is in a list, by its hash.
template <typename Entry>
class Listed {
 public:
  // The entry for which `same` holds; else the one that `make` makes, at the end.
  template <typename Same, typename Make>
  Entry& find(std::uint64_t hash, std::vector<Entry>& list, const Same& same, const Make& make) {
    std::vector<std::size_t>& places = places_[hash];
    for (const std::size_t place : places) {
      if (same(list[place])) return list[place];
    }
    places.push_back(list.size());
    list.push_back(make());
    return list.back();
  }

 private:
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> places_;
};

// Effects of which no two have the same condition.
class Effects {
 public:
  task::EffectDefinition& under(const Formula& when) {
    return places_.find(
        hash(when, 0), all_, [&](const task::EffectDefinition& effect) { return effect.when == when; },
        [&] {
          return task::EffectDefinition{when, {}, {}};
        });
  }
  std::vector<task::EffectDefinition>& all() { return all_; }

 private:
  std::vector<task::EffectDefinition> all_;
  Listed<task::EffectDefinition> places_;
};

constexpr std::int64_t kLongest = 1'000'000'000;  // duration that is counted

}  // namespace

std::vector<GroundEvent> ground_events(const Ast& ast, const Reachable& reachable,
                                       const IdVector<AtomId, task::FactId>& fact_of_atom) {
  std::vector<GroundEvent> events;
  for (const TimedFact& timed : ast.timed) {
    if (events.empty() || events.back().time != timed.time) events.push_back({timed.time, {}, {}});
    const std::optional<AtomId> atom = reachable.atoms.find(timed.atom.predicate, timed.atom.arguments);
    if (!atom) continue;  // it is never true
    (timed.add ? events.back().add : events.back().del).push_back(fact_of_atom[*atom]);
  }
  return events;
}

std::optional<std::int64_t> duration_units(const Rational& duration) {
  if (duration < Rational(0) || duration > Rational(kLongest)) return std::nullopt;
  __extension__ using Wide = __int128;
  const Wide twice = Wide{duration.numerator()} * kTimeUnit * 2 + duration.denominator();
  const auto units = static_cast<std::int64_t>(twice / (Wide{duration.denominator()} * 2));
  return units == 0 && duration > Rational(0) ? 1 : units;
}

GroundClock::GroundClock(std::vector<GroundEvent> events, std::int64_t tick, const Lookout& lookout, NoteCount& noted,
                         internal::Meter& meter)
    : events_(std::move(events)), tick_(tick), lookout_(lookout), noted_(noted), meter_(meter) {}

std::size_t GroundClock::events_before(std::int64_t time) const {
  const auto end = std::find_if(events_.begin(), events_.end(),
                                [&](const GroundEvent& event) { return event.time > time - kSeparation; });
  return static_cast<std::size_t>(end - events_.begin());
}

bool GroundClock::is_free(std::int64_t time) const {
  return std::all_of(events_.begin(), events_.end(), [&](const GroundEvent& event) {
    return time - event.time >= kSeparation || event.time - time >= kSeparation;
  });
}

std::int64_t GroundClock::tick_from(std::int64_t time) const {
  return time <= 0 ? 0 : (time + tick_ - 1) / tick_ * tick_;
}

std::optional<std::int64_t> GroundClock::next_value(std::int64_t end) const {
  const std::int64_t value = tick_from(end + kSeparation);
  if (events_before(value) == events_.size()) return std::nullopt;
  return value;
}

std::vector<std::int64_t> GroundClock::starts(std::int64_t from, std::int64_t duration) const {
  std::vector<std::int64_t> result = {from};
  for (const GroundEvent& event : events_) {
    result.push_back(tick_from(event.time + kSeparation));
    result.push_back(tick_from(event.time + kSeparation - duration));
  }
  std::erase_if(result, [&](std::int64_t time) { return time < from || !is_free(time) || !is_free(time + duration); });
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::size_t GroundClock::add_facts(task::Definition& definition) {
  std::set<std::int64_t> known = {0};
  std::vector<std::int64_t> queue = {0};
  while (!queue.empty()) {
    const std::int64_t from = queue.back();
    queue.pop_back();
    for (const std::int64_t duration : durations_) {
      meter_.piece();
      for (const std::int64_t start : starts(from, duration)) {
        const std::optional<std::int64_t> next = next_value(start + duration);
        if (next && known.insert(*next).second) queue.push_back(*next);
      }
    }
  }
  values_.assign(known.begin(), known.end());
  values_.push_back(events_.back().time + kTimeUnit);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const bool later = i + 1 == values_.size();
    if (!later) places_[values_[i]] = i;
    facts_.push_back(task::add_fact(definition, later ? "now=later" : str_cat("now=", time_text(values_[i])), i == 0));
  }
  return values_.size();
}

std::vector<GroundClock::Way> GroundClock::ways(std::size_t value, std::int64_t duration) const {
  const std::size_t all = events_.size();
  const std::size_t later = values_.size() - 1;
  if (value == later) return {{{all, all, all, all}, later}};
  std::vector<Way> result;
  for (const std::int64_t start : starts(values_[value], duration)) {
    const std::optional<std::int64_t> next = next_value(start + duration);
    result.push_back({{events_before(values_[value]), events_before(start), events_before(start + duration),
                       next ? events_before(*next) : all},
                      next ? places_.at(*next) : later});
  }
  return result;
}

void GroundClock::happen(std::size_t from, std::size_t to, GroundPoint& point) const {
  for (std::size_t i = from; i < to; ++i) {
    GroundPoint event;
    event.effects.push_back({Formula::constant(true), events_[i].add, events_[i].del});
    point = lookout_.then(std::move(point), std::move(event));
  }
}

GroundPoint GroundClock::chain(const GroundRun& run, const std::array<std::size_t, 4>& before) const {
  GroundPoint point;
  happen(before[0], before[1], point);
  const bool at_once = run.durative && run.duration == 0;
  GroundPoint start = run.start;
  if (at_once) start = one_after_the_other(one_after_the_other(std::move(start), {run.over_all, {}}), run.end);
  point = lookout_.then(std::move(point), std::move(start));
  if (run.durative && !at_once) {
    point = one_after_the_other(std::move(point), {run.over_all, {}});
    for (std::size_t i = before[1]; i < before[2]; ++i) {
      happen(i, i + 1, point);
      point = one_after_the_other(std::move(point), {run.over_all, {}});
    }
    point = lookout_.then(std::move(point), run.end);
  }
  happen(before[2], before[3], point);
  return point;
}

Formula GroundClock::one_of(const std::vector<std::size_t>& values) const {
  std::vector<Formula> out;
  for (const std::size_t value : values) out.push_back(Formula::literal(facts_[value], false));
  return task::make_or(std::move(out));
}

// At each time the formula of its group; what all groups ask for is asked for once.
Formula GroundClock::by_value(std::vector<std::pair<Formula, std::vector<std::size_t>>> groups) const {
  if (groups.size() == 1 && groups[0].second.size() == values_.size()) return groups[0].first;
  std::erase_if(groups, [](const auto& group) { return group.first.is_false(); });
  if (groups.empty()) return Formula::constant(false);
  std::vector<Formula> common = conjuncts_of(groups[0].first);
  for (const auto& group : groups) {
    const std::vector<Formula> parts = conjuncts_of(group.first);
    std::erase_if(common,
                  [&](const Formula& part) { return std::find(parts.begin(), parts.end(), part) == parts.end(); });
  }
  std::vector<Formula> choices;
  for (const auto& group : groups) {
    std::vector<Formula> parts = conjuncts_of(group.first);
    std::erase_if(parts,
                  [&](const Formula& part) { return std::find(common.begin(), common.end(), part) != common.end(); });
    parts.push_back(one_of(group.second));
    choices.push_back(task::make_and(std::move(parts)));
  }
  common.push_back(task::make_or(std::move(choices)));
  return task::make_and(std::move(common));
}

GroundPoint GroundClock::at_all_times(const GroundRun& run) {
  Chain chains;
  std::size_t noted = 0;  // in all chains
  std::vector<TimedChange> changes;
  Listed<TimedChange> places;
  std::vector<std::pair<Formula, std::vector<std::size_t>>> conditions;
  std::vector<Effects> moves(values_.size());
  const auto note = [&](const Formula& when, FactId fact, bool add, std::size_t value) {
    TimedChange& change = places.find(
        hash(when, index(fact) * 2 + (add ? 1 : 0)), changes,
        [&](const TimedChange& c) { return c.fact == fact && c.add == add && c.when == when; },
        [&] {
          return TimedChange{when, fact, add, {}};
        });
    // An action may state an effect several times; a time counts once.
    if (change.values.empty() || change.values.back() != value) change.values.push_back(value);
  };
  for (std::size_t value = 0; value < values_.size(); ++value) {
    meter_.piece();
    std::vector<std::pair<const GroundPoint*, std::size_t>> cases;
    for (const Way& way : ways(value, run.duration)) {
      auto found = chains.find(way.before);
      if (found == chains.end()) {
        found = chains.emplace(way.before, chain(run, way.before)).first;
        noted += noted_.take(found->second.effects);
      }
      const GroundPoint& point = found->second;
      const bool never = point.condition.is_false() ||
                         std::any_of(cases.begin(), cases.end(),
                                     [&](const auto& earlier) { return earlier.first->condition == point.condition; });
      if (!never) cases.emplace_back(&point, way.next);
      if (point.condition.is_true()) break;
    }
    std::vector<Formula> any;
    std::vector<Formula> none;  // of the earlier ones can be taken
    for (const auto& [point, next] : cases) {
      any.push_back(point->condition);
      std::vector<Formula> parts = none;
      if (cases.size() > 1) parts.push_back(point->condition);
      const Formula when = task::make_and(std::move(parts));
      for (const task::EffectDefinition& effect : point->effects) {
        const Formula both = task::make_and({when, effect.when});
        if (both.is_false()) continue;
        for (const FactId fact : effect.add) note(both, fact, true, value);
        for (const FactId fact : effect.del) note(both, fact, false, value);
      }
      if (next != value) {
        task::EffectDefinition& move =
            moves[value].under(task::make_and({Formula::literal(facts_[value], false), when}));
        move.add.push_back(facts_[next]);
        move.del.push_back(facts_[value]);
      }
      none.push_back(task::negate(point->condition));
    }
    Formula condition = task::make_or(std::move(any));
    const auto same = [&](const auto& group) { return group.first == condition; };
    auto group = std::find_if(conditions.begin(), conditions.end(), same);
    if (group == conditions.end()) {
      conditions.emplace_back(std::move(condition), std::vector<std::size_t>());
      group = std::prev(conditions.end());
    }
    group->second.push_back(value);
  }
  GroundPoint result;
  result.condition = by_value(std::move(conditions));
  if (result.condition.is_false()) return result;
  noted_.give_back(noted);
  Effects always;
  const auto add_under = [](const Formula& when, const TimedChange& change, Effects& effects) {
    task::EffectDefinition& effect = effects.under(when);
    (change.add ? effect.add : effect.del).push_back(change.fact);
  };
  for (const TimedChange& change : changes) {
    const bool at_all = change.values.size() == values_.size();
    noted_.take(change.fact, change.when, at_all ? 1 : change.values.size());
    if (at_all) {
      add_under(change.when, change, always);
      continue;
    }
    for (const std::size_t value : change.values)
      add_under(task::make_and({Formula::literal(facts_[value], false), change.when}), change, moves[value]);
  }
  result.effects = std::move(always.all());
  for (Effects& effects : moves)
    std::move(effects.all().begin(), effects.all().end(), std::back_inserter(result.effects));
  return result;
}

Formula GroundClock::in_the_end(const Formula& condition) {
  for (std::size_t done = rest_.size(); done <= events_.size(); ++done) {
    GroundPoint point;
    happen(done, events_.size(), point);
    rest_.push_back(std::move(point.effects));
  }
  std::unordered_set<FactId> concerns;
  task::for_each_literal(condition, [&](FactId fact, bool) { concerns.insert(fact); });
  const auto concerned = [&](const std::vector<FactId>& facts) {
    return std::any_of(facts.begin(), facts.end(), [&](FactId fact) { return concerns.contains(fact); });
  };
  std::vector<std::pair<Formula, std::vector<std::size_t>>> groups;
  for (std::size_t done = 0, value = 0; done <= events_.size(); ++done) {
    GroundPoint point;
    std::copy_if(rest_[done].begin(), rest_[done].end(), std::back_inserter(point.effects),
                 [&](const task::EffectDefinition& effect) { return concerned(effect.add) || concerned(effect.del); });
    point = one_after_the_other(std::move(point), {condition, {}});
    const auto same = [&](const auto& group) { return group.first == point.condition; };
    auto group = std::find_if(groups.begin(), groups.end(), same);
    if (group == groups.end()) {
      groups.emplace_back(std::move(point.condition), std::vector<std::size_t>());
      group = std::prev(groups.end());
    }
    while (value < values_.size() && events_before(values_[value]) == done) group->second.push_back(value++);
  }
  std::erase_if(groups, [](const auto& group) { return group.second.empty(); });
  return by_value(std::move(groups));
}

}  // namespace metactrl::pddl
