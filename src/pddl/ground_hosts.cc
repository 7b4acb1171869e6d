// Facts. A state knows which hosts have begun and not ended, each at its place inside the one before, and how many of its
// parts are left: for each number that can be left, whether it is that or more, so that what an action asks for is one
// fact. There are as many places as hosts fit into each other by their durations.
//
// An action. Where so many hosts run and the outermost m do not end, it is the composition (one_after_the_other) of the
// ends of the others, its own points, and what it takes from the parts of host m; one that hosts begins instead, and takes
// the next place. The ends of a place are those of all hosts, each under the condition that it runs there. So there is one
// composition for each number of hosts that run and each m: three where there is one place, ten where there are three.
// Which of them is taken depends on which hosts run and on which conditions hold; the order is that of Ast::has_hosts.
//
// What all compositions ask for is the precondition, and what all of them do is done without a condition. All else is
// stated under the condition that its composition is the one; what a fact of a host says of the other hosts' facts makes
// most of these short.
#include "pddl/ground_hosts.h"

#include <algorithm>
#include <utility>

#include "metactrl/schedule.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

namespace {

using internal::str_cat;
using task::FactId;
using task::Formula;

// The disjunction; true where two of its members are each other's negation.
Formula one_of_them(std::vector<Formula> members) {
  Formula any = task::make_or(std::move(members));
  if (any.kind != Formula::Kind::kOr) return any;
  for (const Formula& member : any.children) {
    if (std::find(any.children.begin(), any.children.end(), task::negate(member)) != any.children.end())
      return Formula::constant(true);
  }
  return any;
}

bool changes_some_of(const std::vector<task::EffectDefinition>& effects, const Formula& formula) {
  const auto among = [&](const std::vector<FactId>& facts) {
    bool found = false;
    task::for_each_literal(formula, [&](FactId fact, bool) {
      found = found || std::find(facts.begin(), facts.end(), fact) != facts.end();
    });
    return found;
  };
  return std::any_of(effects.begin(), effects.end(),
                     [&](const task::EffectDefinition& effect) { return among(effect.add) || among(effect.del); });
}

// A change of one fact, and the ways of taking the action that it is part of.
struct ChangeOnWays {
  Formula when;
  FactId fact{};
  bool add = false;
  std::vector<std::size_t> ways;
};

// Changes under the same condition come one after the other.
void put_change(const Formula& when, FactId fact, bool add, std::vector<task::EffectDefinition>& effects) {
  if (effects.empty() || effects.back().when != when) effects.push_back({when, {}, {}});
  (add ? effects.back().add : effects.back().del).push_back(fact);
}

}  // namespace

std::size_t GroundHosts::announce(std::string name, std::vector<ObjectId> arguments, const GroundRun& run) {
  hosts_.push_back({std::move(name), std::move(arguments), run.over_all, run.end, run.duration});
  announce(run.duration);
  return hosts_.size() - 1;
}

std::optional<std::uint32_t> GroundHosts::parts(std::int64_t duration, std::int64_t host) {
  const std::int64_t room = host - kSeparation;
  if (room <= 0 || duration + kSeparation > room) return std::nullopt;
  __extension__ using Wide = __int128;
  const Wide share = Wide{duration + kSeparation} * Ast::kHostParts + room - 1;
  return static_cast<std::uint32_t>(share / room);
}

// The longest chain of hosts that fit into each other.
std::size_t GroundHosts::most_places() const {
  std::set<std::int64_t> lengths;
  for (const Host& host : hosts_) lengths.insert(host.duration);
  std::map<std::int64_t, std::size_t> chain;  // by the duration of the outermost one
  std::size_t most = 0;
  for (const std::int64_t outer : lengths) {
    std::size_t inner = 0;
    for (const auto& [length, places] : chain) inner = parts(length, outer) ? std::max(inner, places) : inner;
    chain[outer] = inner + 1;
    most = std::max(most, inner + 1);
  }
  return std::min(most, Ast::kMostHosts);
}

// How many parts can be left of a host, but for none.
std::set<std::uint32_t> GroundHosts::values(std::int64_t duration) const {
  std::set<std::uint32_t> takes;
  for (const std::int64_t guest : durations_) {
    if (const auto some = parts(guest, duration)) takes.insert(*some);
  }
  std::set<std::uint32_t> known = {Ast::kHostParts};
  for (std::uint32_t left = Ast::kHostParts; left > 0; --left) {
    if (!known.contains(left)) continue;
    for (const std::uint32_t some : takes) {
      if (some <= left) known.insert(left - some);
    }
  }
  known.erase(0);
  return known;
}

void GroundHosts::add_facts(task::Definition& definition) {
  std::set<std::int64_t> lengths;
  for (const Host& host : hosts_) lengths.insert(host.duration);
  places_.resize(most_places());
  std::map<std::string, task::PredicateId> names;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    Place& place = places_[i];
    const std::string suffix = i == 0 ? "" : str_cat('-', i + 1);
    const auto add = [&](const std::string& name, std::vector<ObjectId> arguments) {
      const FactId fact = definition.facts.next_id();
      const auto [entry, is_new] = names.try_emplace(name, definition.predicate_names.next_id());
      if (is_new) definition.predicate_names.push_back(name);
      definition.facts.push_back({entry->second, std::move(arguments)});
      definition.fact_layer.push_back(-1);
      definition.init.push_back(false);
      place.all.push_back(fact);
      place_of_[fact] = i;
      meter_.piece();
      return fact;
    };
    place.taken = add(str_cat("hosts=", i + 1), {});
    for (const Host& host : hosts_) place.runs.push_back(add(str_cat("runs", suffix, '=', host.name), host.arguments));
    for (const std::int64_t length : lengths) {
      const std::string of = lengths.size() == 1 ? "" : "-of-" + time_text(length);
      for (const std::uint32_t left : values(length))
        place.left[length][left] = add(str_cat("left", suffix, ">=", left, of), {});
    }
  }
}

void GroundHosts::learn(FactId fact, Known& known) const {
  const auto found = place_of_.find(fact);
  if (found == place_of_.end()) return;
  const Place& place = places_[found->second];
  for (std::size_t i = 0; i <= found->second; ++i) known[places_[i].taken] = true;
  if (std::find(place.runs.begin(), place.runs.end(), fact) == place.runs.end()) return;
  for (const FactId other : place.runs) known[other] = other == fact;
}

Formula GroundHosts::running_is(std::size_t count) const {
  std::vector<Formula> parts;
  if (count > 0) parts.push_back(literal(places_[count - 1].taken, true));
  if (count < places_.size()) parts.push_back(literal(places_[count].taken, false));
  return task::make_and(std::move(parts));
}

GroundPoint GroundHosts::end_of(std::size_t number) const {
  const Place& place = places_[number];
  GroundPoint point;
  std::vector<Formula> conditions;
  for (std::size_t h = 0; h < hosts_.size(); ++h) {
    const Formula runs = literal(place.runs[h], true);
    if (!hosts_[h].end.condition.is_true())
      conditions.push_back(task::make_or({task::negate(runs), hosts_[h].end.condition}));
    for (const task::EffectDefinition& effect : hosts_[h].end.effects)
      point.effects.push_back({task::make_and({runs, effect.when}), effect.add, effect.del});
  }
  point.condition = task::make_and(std::move(conditions));
  std::vector<Formula> kept;  // what those around it need over all
  for (std::size_t h = 0; h < hosts_.size(); ++h) {
    if (number == 0 || !changes_some_of(point.effects, hosts_[h].over_all)) continue;
    for (std::size_t around = 0; around < number; ++around)
      kept.push_back(task::make_or({literal(places_[around].runs[h], false), hosts_[h].over_all}));
  }
  point.effects.push_back({Formula::constant(true), {}, place.all});
  if (!kept.empty()) point = one_after_the_other(std::move(point), {task::make_and(std::move(kept)), {}});
  return point;
}

GroundPoint GroundHosts::after_ends(std::size_t running, std::size_t kept, GroundPoint rest) const {
  for (std::size_t place = kept; place < running; ++place) {
    meter_.piece();
    rest = one_after_the_other(end_of(place), std::move(rest));
  }
  return rest;
}

void GroundHosts::keep_hosts(const std::vector<task::EffectDefinition>& effects, const Guest& guest, std::size_t kept,
                             GroundPoint& point) const {
  std::vector<Formula> conditions;
  for (std::size_t h = 0; h < hosts_.size(); ++h) {
    const Formula& needed = hosts_[h].over_all;
    if (!guest.touches[h] || needed.is_true() || !changes_some_of(effects, needed)) continue;
    for (std::size_t place = 0; place < kept; ++place)
      conditions.push_back(task::make_or({literal(places_[place].runs[h], false), needed}));
  }
  if (!conditions.empty()) point = one_after_the_other(std::move(point), {task::make_and(std::move(conditions)), {}});
}

GroundPoint GroundHosts::inside(const GroundRun& run, const Guest& guest, std::size_t kept) const {
  GroundPoint never;
  never.condition = Formula::constant(false);
  if ((kept > 0 && !guest.fits) || (guest.host && kept == places_.size())) return never;
  GroundPoint point = run.start;
  if (run.durative) point = one_after_the_other(std::move(point), {run.over_all, {}});
  keep_hosts(run.start.effects, guest, kept, point);
  if (guest.host) {
    const Place& place = places_[kept];
    std::vector<FactId> begins = {place.taken, place.runs[*guest.host]};
    for (const auto& [left, fact] : place.left.at(run.duration)) begins.push_back(fact);
    point.effects.push_back({Formula::constant(true), std::move(begins), {}});
  } else if (run.durative) {
    point = one_after_the_other(std::move(point), run.end);
    keep_hosts(run.end.effects, guest, kept, point);
  }
  if (kept == 0) return point;
  std::vector<Formula> fitting;
  for (const auto& [length, facts] : places_[kept - 1].left) {
    const std::optional<std::uint32_t> takes = parts(run.duration, length);
    if (!takes) continue;
    fitting.push_back(literal(facts.lower_bound(*takes)->second, true));
    // So much is left as there was, and as many parts as it takes besides.
    for (const auto& [left, fact] : facts) {
      const auto before = facts.lower_bound(left + *takes);
      Formula less = before == facts.end() ? Formula::constant(true) : literal(before->second, false);
      point.effects.push_back({std::move(less), {}, {fact}});
    }
  }
  point.condition = task::make_and({std::move(point.condition), task::make_or(std::move(fitting))});
  return point;
}

// All of them, and what all of them ask for; the rest of the condition follows in `condition`.
std::vector<GroundHosts::Way> GroundHosts::ways(const GroundRun& run, const Guest& guest,
                                                std::vector<Formula>& condition) const {
  std::vector<Way> result;
  for (std::size_t kept = 0; kept <= places_.size(); ++kept) {
    const GroundPoint there = inside(run, guest, kept);
    if (there.condition.is_false()) continue;
    for (std::size_t running = kept; running <= places_.size(); ++running) {
      Known known;
      for (std::size_t i = 0; i < places_.size(); ++i) {
        known[places_[i].taken] = i < running;
        if (i < running) continue;
        for (const FactId fact : places_[i].all) known[fact] = false;
      }
      GroundPoint point = after_ends(running, kept, there);
      point.condition = given(point.condition, known);
      if (point.condition.is_false()) continue;
      for (task::EffectDefinition& effect : point.effects) effect.when = given(effect.when, known);
      result.push_back({running, kept, std::move(point), Formula::constant(true), Formula::constant(false)});
    }
  }
  if (result.empty()) {
    condition.push_back(Formula::constant(false));
    return result;
  }
  condition = conjuncts_of(result[0].point.condition);
  for (const Way& way : result) {
    const std::vector<Formula> parts = conjuncts_of(way.point.condition);
    std::erase_if(condition,
                  [&](const Formula& part) { return std::find(parts.begin(), parts.end(), part) == parts.end(); });
  }
  for (Way& way : result) {
    std::vector<Formula> parts = conjuncts_of(way.point.condition);
    std::erase_if(parts, [&](const Formula& part) {
      return std::find(condition.begin(), condition.end(), part) != condition.end();
    });
    way.rest = task::make_and(std::move(parts));
  }
  return result;
}

void GroundHosts::count(const Formula& formula) {
  task::for_each_literal(formula, [&](FactId, bool) { ++literals_; });
  if (literals_ > kMostLiterals) throw TooManyHosts();
}

GroundPoint GroundHosts::among_hosts(const GroundRun& run, const Guest& guest) {
  std::vector<Formula> condition;
  std::vector<Way> all = ways(run, guest, condition);
  // `free`: of so many of the outermost hosts the action touches none.
  for (std::size_t running = 0; running <= places_.size(); ++running) {
    for (std::size_t free = 0; free <= running; ++free) {
      std::vector<Formula> here = {running_is(running)};
      std::vector<Formula> touched;
      for (std::size_t h = 0; h < hosts_.size(); ++h) {
        if (!guest.touches[h]) continue;
        for (std::size_t place = 0; place < free; ++place) here.push_back(literal(places_[place].runs[h], false));
        if (free < running) touched.push_back(literal(places_[free].runs[h], true));
      }
      if (free < running) here.push_back(task::make_or(std::move(touched)));
      const Formula context = tidy(std::move(here));
      if (context.is_false()) continue;
      Known known;
      for (const Formula& part : conjuncts_of(context)) {
        if (part.kind != Formula::Kind::kLiteral) continue;
        if (!part.negated) learn(part.fact, known);
        known[part.fact] = !part.negated;
      }
      std::vector<std::size_t> order;
      for (std::size_t kept = free + 1; kept-- > 0;) order.push_back(kept);
      for (std::size_t kept = free + 1; kept <= running; ++kept) order.push_back(kept);
      std::vector<std::pair<Way*, Formula>> choices;
      for (const std::size_t kept : order) {
        const auto way =
            std::find_if(all.begin(), all.end(), [&](const Way& w) { return w.running == running && w.kept == kept; });
        if (way == all.end()) continue;
        Formula rest = given(way->rest, known);
        if (rest.is_false()) continue;
        const bool last = rest.is_true();
        choices.emplace_back(&*way, std::move(rest));
        if (last) break;
      }
      std::vector<Formula> some;
      std::vector<Formula> none;  // of the earlier ones can be taken
      for (std::size_t i = 0; i < choices.size(); ++i) {
        auto& [way, rest] = choices[i];
        some.push_back(rest);
        std::vector<Formula> parts = none;
        parts.push_back(context);
        // That one of them can be taken is part of the precondition.
        if (i + 1 < choices.size()) parts.push_back(rest);
        way->chosen = one_of_them({std::move(way->chosen), tidy(std::move(parts))});
        none.push_back(task::negate(rest));
      }
      Formula possible = one_of_them(std::move(some));
      if (!possible.is_true()) condition.push_back(one_of_them({task::negate(context), std::move(possible)}));
    }
  }
  GroundPoint result;
  result.condition = tidy(std::move(condition));
  if (result.condition.is_false()) return result;
  std::erase_if(all, [](const Way& way) { return way.chosen.is_false(); });
  std::vector<ChangeOnWays> changes;
  std::map<std::pair<FactId, bool>, std::vector<std::size_t>> places;  // in `changes`
  for (std::size_t w = 0; w < all.size(); ++w) {
    const auto note = [&](const Formula& when, FactId fact, bool add) {
      std::vector<std::size_t>& known = places[{fact, add}];
      auto found =
          std::find_if(known.begin(), known.end(), [&](std::size_t place) { return changes[place].when == when; });
      if (found == known.end()) {
        found = known.insert(known.end(), changes.size());
        changes.push_back({when, fact, add, {}});
      }
      std::vector<std::size_t>& ways = changes[*found].ways;
      if (ways.empty() || ways.back() != w) ways.push_back(w);
    };
    for (const task::EffectDefinition& effect : all[w].point.effects) {
      if (effect.when.is_false()) continue;
      for (const FactId fact : effect.add) note(effect.when, fact, true);
      for (const FactId fact : effect.del) note(effect.when, fact, false);
    }
  }
  // When these ways are taken, where it is known which of them run.
  std::map<std::pair<std::vector<std::size_t>, std::vector<FactId>>, Formula> taken;
  for (const ChangeOnWays& change : changes) {
    meter_.piece();
    if (change.ways.size() == all.size()) {
      put_change(change.when, change.fact, change.add, result.effects);
      continue;
    }
    std::vector<FactId> hosts;
    Known known;
    for (const Formula& part : conjuncts_of(change.when)) {
      if (part.kind != Formula::Kind::kLiteral || part.negated || !place_of_.contains(part.fact)) continue;
      hosts.push_back(part.fact);
      learn(part.fact, known);
    }
    const auto [entry, is_new] = taken.try_emplace({change.ways, std::move(hosts)});
    if (is_new) {
      std::vector<Formula> chosen;
      for (const std::size_t w : change.ways) {
        count(all[w].chosen);
        chosen.push_back(given(all[w].chosen, known));
      }
      entry->second = one_of_them(std::move(chosen));
    }
    count(entry->second);
    Formula when = task::make_and({change.when, entry->second});
    if (!when.is_false()) put_change(when, change.fact, change.add, result.effects);
  }
  return result;
}

Formula GroundHosts::in_the_end(const Formula& condition) const {
  std::vector<Formula> parts;
  std::vector<Formula> all;
  for (std::size_t running = 0; running <= places_.size(); ++running) {
    all.push_back(after_ends(running, 0, {condition, {}}).condition);
    parts.push_back(task::make_or({task::negate(running_is(running)), all.back()}));
  }
  const bool same = std::all_of(all.begin(), all.end(), [&](const Formula& one) { return one == all[0]; });
  return same ? all[0] : tidy(std::move(parts));
}

bool GroundHosts::may_not_end() const {
  for (std::size_t place = 0; place < places_.size(); ++place) {
    if (!end_of(place).condition.is_true()) return true;
  }
  return false;
}

}  // namespace metactrl::pddl
