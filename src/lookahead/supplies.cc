// Landmarks are the greatest solution of: those of a literal are itself and what each action that makes it true needs, with the
// landmarks of that; those of what holds at the start are none. Whether all takers can have a supply of their own
// is a matching of the two, found by augmenting paths.
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

// By literal: is it a supply?
LiteralSet supplies_of(const LiteralTask& task) {
  LiteralSet supplies(task.num_literals);
  for (const LiteralCode literal : task.initial) supplies.insert(literal);
  for (const LiteralAction& action : task.actions) {
    for (const LiteralCode literal : action.made) supplies.erase(literal);
    for (const LiteralAction::Change& change : action.conditional) {
      for (const LiteralCode literal : change.made) supplies.erase(literal);
    }
  }
  return supplies;
}

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

// What an action takes whenever it is taken.
std::vector<LiteralCode> taken_by(const LiteralAction& action, const LiteralSet& supplies) {
  std::vector<LiteralCode> taken;
  for (const LiteralCode literal : action.undone) {
    if (supplies.contains(literal) && std::ranges::find(action.needs, literal) != action.needs.end())
      taken.push_back(literal);
  }
  return taken;
}

}  // namespace

std::optional<Supplies> Supplies::find(const LiteralTask& task, std::uint64_t& work, internal::Meter& meter) {
  Supplies out;
  const LiteralSet supplies = supplies_of(task);
  std::vector<std::vector<LiteralCode>> taken;
  bool some = false;
  for (const LiteralAction& action : task.actions) {
    taken.push_back(taken_by(action, supplies));
    some = some || !taken.back().empty();
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
  const std::vector<std::vector<std::size_t>> makers = makers_of(task);
  std::vector<bool> used(task.actions.size(), false);
  for (LiteralCode landmark = 0; landmark < task.num_literals; ++landmark) {
    const std::vector<std::size_t>& makes = makers[landmark];
    if (goals_with[landmark] == 0 || makes.empty()) continue;
    if (!std::ranges::all_of(makes, [&](std::size_t a) { return !taken[a].empty() && !used[a]; })) continue;
    Taker taker{landmark, goals_with[landmark], makes, {}};
    for (const std::size_t a : makes) {
      used[a] = true;
      taker.supplies.insert(taker.supplies.end(), taken[a].begin(), taken[a].end());
    }
    std::ranges::sort(taker.supplies);
    taker.supplies.erase(std::unique(taker.supplies.begin(), taker.supplies.end()), taker.supplies.end());
    out.takers_.push_back(std::move(taker));
  }
  return out;
}

bool Supplies::enough_for(GoalSet goals) const {
  std::vector<std::pair<LiteralCode, std::size_t>> given;  // a supply and the taker that has it
  for (std::size_t first = 0; first < takers_.size(); ++first) {
    if ((takers_[first].goals & goals) == 0) continue;
    std::vector<LiteralCode> asked;
    const std::function<bool(std::size_t)> give = [&](std::size_t taker) {
      for (const LiteralCode supply : takers_[taker].supplies) {
        if (std::ranges::find(asked, supply) != asked.end()) continue;
        asked.push_back(supply);
        const auto holder = std::ranges::find(given, supply, &std::pair<LiteralCode, std::size_t>::first);
        if (holder == given.end()) {
          given.emplace_back(supply, taker);
          return true;
        }
        const auto place = holder - given.begin();
        if (!give(holder->second)) continue;
        given[static_cast<std::size_t>(place)].second = taker;
        return true;
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
