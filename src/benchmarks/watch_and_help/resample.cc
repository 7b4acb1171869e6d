// A class in a goal has a set of roles. It may become any class that has all of them, both in the tasks' goals and in
// the apartment; about four of five do.
#include "benchmarks/watch_and_help/resample.h"

#include <algorithm>
#include <utility>

#include "benchmarks/watch_and_help/goal_problem.h"
#include "support/splitmix.h"
#include "support/words.h"

namespace metactrl::benchmarks::watch_and_help {

namespace {

enum Role : unsigned { kCarried = 1, kSurface = 2, kContainer = 4, kSwitch = 8 };

constexpr int kAttempts = 8;
constexpr std::size_t kReplacedPercent = 80;

std::map<std::string, unsigned> roles_in(const std::vector<GoalLine>& goal) {
  std::map<std::string, unsigned> roles;
  for (const GoalLine& line : goal) {
    if (line.kind == GoalKind::kTurnOn) {
      roles[line.target] |= kSwitch;
      continue;
    }
    roles[line.object] |= kCarried;
    roles[line.target] |= line.kind == GoalKind::kOn ? kSurface : kContainer;
  }
  return roles;
}

std::vector<GoalLine> sorted(std::vector<GoalLine> goal) {
  std::sort(goal.begin(), goal.end());
  return goal;
}

// Whether the apartment has the class in these roles, and `count` of it to carry.
bool offers(const Inventory& inventory, const std::string& name, unsigned roles, std::size_t count) {
  const auto among = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const auto available = inventory.available.find(name);
  return ((roles & kCarried) == 0 || (available != inventory.available.end() && available->second >= count)) &&
         ((roles & kSurface) == 0 || among(inventory.surfaces)) &&
         ((roles & kContainer) == 0 || among(inventory.containers)) &&
         ((roles & kSwitch) == 0 || among(inventory.switches));
}

}  // namespace

TaskResampler::TaskResampler(std::vector<HelpTask> tasks) : tasks_(std::move(tasks)) {
  for (const HelpTask& task : tasks_) {
    families_.emplace(task.family, 0);
    own_.insert(sorted(task.goal));
    for (const auto& [name, roles] : roles_in(task.goal)) roles_[name] |= roles;
  }
  std::uint32_t next = 0;
  for (auto& [family, number] : families_) number = next++;
}

std::optional<HelpTask> TaskResampler::sample(std::size_t task, std::uint64_t seed) const {
  const HelpTask& source = tasks_[task];
  const Inventory inventory(*source.scene);
  const std::map<std::string, unsigned> wanted = roles_in(source.goal);
  std::map<std::string, std::size_t> counts;
  for (const GoalLine& line : source.goal) ++counts[line.object];
  internal::Random random(seed);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::set<std::string> used;
    for (const auto& [name, roles] : wanted) used.insert(name);
    std::map<std::string, std::string> chosen;
    for (const auto& [name, roles] : wanted) {
      std::vector<std::string> others;
      for (const auto& [other, all] : roles_) {
        if ((all & roles) == roles && !used.contains(other) && offers(inventory, other, roles, counts[name])) {
          others.push_back(other);
        }
      }
      const bool replace = !others.empty() && random.below(100) < kReplacedPercent;
      chosen[name] = replace ? others[random.below(others.size())] : name;
      used.insert(chosen[name]);
    }
    HelpTask result = source;
    for (GoalLine& line : result.goal) {
      if (line.kind != GoalKind::kTurnOn) line.object = chosen.at(line.object);
      line.target = chosen.at(line.target);
    }
    if (own_.contains(sorted(result.goal))) continue;
    result.instructions = {instruction_for(result.goal)};
    return result;
  }
  return std::nullopt;
}

std::string instruction_for(const std::vector<GoalLine>& goal) {
  std::string text;
  std::set<GoalLine> said;
  for (const GoalLine& line : goal) {
    if (!text.empty()) text += ' ';
    if (line.kind == GoalKind::kTurnOn) {
      text += str_cat("Switch on the ", line.target, ".");
      continue;
    }
    text += str_cat("Put ", said.insert(line).second ? "one " : "another ", line.object,
                    line.kind == GoalKind::kOn ? " on the " : " into the ", line.target, ".");
  }
  return text;
}

}  // namespace metactrl::benchmarks::watch_and_help
