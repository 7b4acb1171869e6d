// New tasks from those of Watch-And-Help: the same apartment, other things to fetch and other places to put them.
//
//     TaskResampler resampler(read_tasks(file, folder));
//     std::optional<HelpTask> other = resampler.sample(3, seed);     // in the fourth task's apartment
//
// Each class that a goal names may become another one that goals of the given tasks name in the same roles (a thing to
// carry, a surface, a container, a switch), and that this apartment has in these roles, as often as it is asked for: so
// every new goal can be reached (goal_problem.h). Two classes never become one. The instruction says what the goal
// says. A goal that one of the given tasks has is never the result.
//
// Immutable; the same seed gives the same task. Cost: linear in the apartment.
#ifndef METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_RESAMPLE_H_
#define METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_RESAMPLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/watch_and_help/goal.h"
#include "benchmarks/watch_and_help/task_file.h"

namespace metactrl::benchmarks::watch_and_help {

class TaskResampler {
 public:
  explicit TaskResampler(std::vector<HelpTask> tasks);

  std::size_t size() const { return tasks_.size(); }
  // The number of the task's family, in the order of their names.
  std::uint32_t family(std::size_t task) const { return families_.at(tasks_[task].family); }
  // Nothing when nothing in the goal has another like it.
  std::optional<HelpTask> sample(std::size_t task, std::uint64_t seed) const;

 private:
  std::vector<HelpTask> tasks_;
  std::map<std::string, std::uint32_t> families_;
  std::map<std::string, unsigned> roles_;  // of every class in the tasks' goals
  std::set<std::vector<GoalLine>> own_;    // goals, sorted
};

// The goal in plain words: "Put one apple on the coffeetable. Switch on the lamp."
std::string instruction_for(const std::vector<GoalLine>& goal);

}  // namespace metactrl::benchmarks::watch_and_help

#endif  // METACTRL_SRC_BENCHMARKS_WATCH_AND_HELP_RESAMPLE_H_
