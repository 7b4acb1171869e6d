#include "benchmarks/score.h"

namespace metactrl::benchmarks {

void summarize(Score& score) {
  score.n = 0;
  score.n_all = score.tasks.size();
  score.equal_to_gold = 0;
  score.errors.clear();
  double successes = 0;
  double executables = 0;
  for (const TaskScore& task : score.tasks) {
    if (!task.scored) continue;
    ++score.n;
    successes += task.success;
    executables += task.executable ? 1 : 0;
    if (task.equals_gold && task.executable && task.success == 0) ++score.equal_to_gold;
    for (const auto& [error, count] : task.errors) score.errors[error] += count;
  }
  const double n = static_cast<double>(score.n);
  score.task_success = score.n == 0 ? 0 : 100 * successes / n;
  score.execution_success = score.n == 0 ? 0 : 100 * executables / n;
}

}  // namespace metactrl::benchmarks
