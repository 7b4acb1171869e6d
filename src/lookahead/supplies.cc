// Landmarks are the greatest solution of: those of a literal are itself and what each action that makes it true needs, with the
// landmarks of that; those of what holds at the start are none.
//
// How often a literal can be taken is found from what no action makes true outwards: one whose makers all take something
// that is counted already becomes true as often as the least of that for each maker, together, and once more where it holds at
// the start. Whether there is a supply for each taker is a matching of takers with supplies that are counted, found by
// augmenting paths. Where two landmarks have makers in common, the one with less to take counts.
#include "lookahead/supplies.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace metactrl::lookahead {

namespace {

class Landmarks {
 public:
  explicit Landmarks(const LiteralTask& task)
      : task_(task), known_(task.num_literals, false), of_(task.num_literals, LiteralSet(task.num_literals)) {
    for (const LiteralCode literal : task.initial) known_[literal] = true;
  }

  // False when `work` ends first.
  bool find(std::uint64_t& work, internal::Meter& meter) {
    const std::uint64_t words = (task_.num_literals + 63) / 64;
    for (changed_ = true; changed_;) {
      changed_ = false;
      for (const LiteralAction& action : task_.actions) {
        std::uint64_t lists = 2 + action.needs.size() + action.made.size();
        for (const LiteralAction::Change& change : action.conditional)
          lists += 2 + change.when.size() + change.made.size();
        meter.step(lists * words);
        if (lists * words > work) return false;
        work -= lists * words;
        learn(action);
      }
    }
    return true;
  }

  // Of a literal that can be reached; of one that cannot, nothing.
  const LiteralSet* of(LiteralCode literal) const { return known_[literal] ? &of_[literal] : nullptr; }

 private:
  void learn(const LiteralAction& action) {
    LiteralSet needed(task_.num_literals);
    if (!add(action.needs, needed)) return;
    for (const LiteralCode literal : action.made) narrow(literal, needed);
    for (const LiteralAction::Change& change : action.conditional) {
      LiteralSet with = needed;
      if (!add(change.when, with)) continue;
      for (const LiteralCode literal : change.made) narrow(literal, with);
    }
  }
  bool add(const std::vector<LiteralCode>& literals, LiteralSet& to) const {
    for (const LiteralCode literal : literals) {
      if (!known_[literal]) return false;
      to |= of_[literal];
    }
    return true;
  }
  void narrow(LiteralCode literal, LiteralSet to) {
    to.insert(literal);
    if (known_[literal]) to &= of_[literal];
    if (known_[literal] && to == of_[literal]) return;
    of_[literal] = std::move(to);
    known_[literal] = true;
    changed_ = true;
  }

  const LiteralTask& task_;
  std::vector<bool> known_;
  std::vector<LiteralSet> of_;
  bool changed_ = false;
};

// By literal: the actions that may make it true.
std::vector<std::vector<std::size_t>> makers_of(const LiteralTask& task) {
  std::vector<std::vector<std::size_t>> makers(task.num_literals);
  for (std::size_t a = 0; a < task.actions.size(); ++a) {
    const auto add = [&](LiteralCode literal) {
      if (makers[literal].empty() || makers[literal].back() != a) makers[literal].push_back(a);
    };
    for (const LiteralCode literal : task.actions[a].made) add(literal);
    for (const LiteralAction::Change& change : task.actions[a].conditional) {
      for (const LiteralCode literal : change.made) add(literal);
    }
  }
  return makers;
}

// What an action takes away, whenever it is taken.
std::vector<LiteralCode> taken_by(const LiteralAction& action) {
  std::vector<LiteralCode> taken;
  for (const LiteralCode literal : action.undone) {
    if (std::ranges::find(action.needs, literal) != action.needs.end()) taken.push_back(literal);
  }
  return taken;
}

// More than any set of goals takes.
constexpr std::size_t kPlenty = 1'000;

// By literal: how often it can be taken away; kPlenty where nobody knows, or `work` ends first.
std::vector<std::size_t> count_supplies(const LiteralTask& task, const std::vector<std::vector<std::size_t>>& makers,
                                        const std::vector<std::vector<LiteralCode>>& taken, std::uint64_t& work,
                                        internal::Meter& meter) {
  std::vector<std::size_t> count(task.num_literals, kPlenty);
  std::vector<bool> holds(task.num_literals, false);
  for (const LiteralCode literal : task.initial) holds[literal] = true;
  // What its makers take; nothing when one of them takes nothing that is counted.
  const auto count_one = [&](LiteralCode literal) -> std::size_t {
    std::vector<LiteralCode> least;
    for (const std::size_t a : makers[literal]) {
      const auto best = std::ranges::min_element(taken[a], {}, [&](LiteralCode one) { return count[one]; });
      if (best == taken[a].end() || count[*best] >= kPlenty) return kPlenty;
      if (std::ranges::find(least, *best) == least.end()) least.push_back(*best);
    }
    std::size_t sum = holds[literal] ? 1 : 0;
    for (const LiteralCode one : least) sum += count[one];
    return std::min(sum, kPlenty);
  };
  std::vector<LiteralCode> open;
  std::uint64_t round = task.num_literals;
  for (LiteralCode literal = 0; literal < task.num_literals; ++literal) {
    open.push_back(literal);
    round += makers[literal].size();
  }
  for (bool more = true; more && round <= work;) {
    work -= round;
    meter.step(round);
    more = std::erase_if(open, [&](LiteralCode literal) {
             count[literal] = count_one(literal);
             return count[literal] < kPlenty;
           }) > 0;
  }
  return count;
}

}  // namespace

std::optional<Supplies> Supplies::find(const LiteralTask& task, std::uint64_t& work, internal::Meter& meter) {
  Supplies out;
  const std::vector<std::vector<std::size_t>> makers = makers_of(task);
  std::vector<std::vector<LiteralCode>> taken;
  for (const LiteralAction& action : task.actions) taken.push_back(taken_by(action));
  out.count_ = count_supplies(task, makers, taken, work, meter);
  bool some = false;
  for (std::vector<LiteralCode>& literals : taken) {
    std::erase_if(literals, [&](LiteralCode literal) { return out.count_[literal] >= kMostGoals; });
    some = some || !literals.empty();
  }
  if (!some) return out;
  Landmarks landmarks(task);
  if (!landmarks.find(work, meter)) return std::nullopt;
  std::vector<GoalSet> goals_with(task.num_literals, 0);
  for (std::size_t goal = 0; goal < task.goals.size(); ++goal) {
    for (const LiteralCode literal : task.goals[goal]) {
      const LiteralSet* all = landmarks.of(literal);
      if (all == nullptr) continue;  // this goal cannot be reached at all
      all->for_each([&](LiteralCode landmark) { goals_with[landmark] |= GoalSet{1} << goal; });
    }
  }
  std::vector<Taker> takers;
  for (LiteralCode landmark = 0; landmark < task.num_literals; ++landmark) {
    const std::vector<std::size_t>& makes = makers[landmark];
    if (goals_with[landmark] == 0 || makes.empty()) continue;
    if (!std::ranges::all_of(makes, [&](std::size_t a) { return !taken[a].empty(); })) continue;
    Taker taker{landmark, goals_with[landmark], makes, {}, 0};
    for (const std::size_t a : makes) taker.supplies.insert(taker.supplies.end(), taken[a].begin(), taken[a].end());
    std::ranges::sort(taker.supplies);
    taker.supplies.erase(std::unique(taker.supplies.begin(), taker.supplies.end()), taker.supplies.end());
    for (const LiteralCode supply : taker.supplies) taker.most += out.count_[supply];
    takers.push_back(std::move(taker));
  }
  std::ranges::stable_sort(takers, {}, &Taker::most);
  std::vector<bool> used(task.actions.size(), false);
  for (Taker& taker : takers) {
    if (std::ranges::any_of(taker.actions, [&](std::size_t a) { return used[a]; })) continue;
    for (const std::size_t a : taker.actions) used[a] = true;
    out.takers_.push_back(std::move(taker));
  }
  return out;
}

bool Supplies::enough_for(GoalSet goals) const {
  std::vector<std::pair<LiteralCode, std::size_t>> given;  // a supply and a taker that has one of it
  for (std::size_t first = 0; first < takers_.size(); ++first) {
    if ((takers_[first].goals & goals) == 0) continue;
    std::vector<LiteralCode> asked;
    const std::function<bool(std::size_t)> give = [&](std::size_t taker) {
      for (const LiteralCode supply : takers_[taker].supplies) {
        if (std::ranges::find(asked, supply) != asked.end()) continue;
        asked.push_back(supply);
        std::vector<std::size_t> holders;  // places
        for (std::size_t place = 0; place < given.size(); ++place) {
          if (given[place].first == supply) holders.push_back(place);
        }
        if (holders.size() < count_[supply]) {
          given.emplace_back(supply, taker);
          return true;
        }
        for (const std::size_t place : holders) {
          if (!give(given[place].second)) continue;
          given[place].second = taker;
          return true;
        }
      }
      return false;
    };
    if (!give(first)) return false;
  }
  return true;
}

GoalSet Supplies::exceeded_by(GoalSet goals) const {
  if (enough_for(goals)) return 0;
  for (GoalSet rest = goals; rest != 0; rest &= rest - 1) {
    const GoalSet fewer = goals & ~(rest & -rest);
    if (!enough_for(fewer)) goals = fewer;
  }
  return goals;
}

}  // namespace metactrl::lookahead
