#include "benchmarks/prompt_task.h"

namespace metactrl::benchmarks {

std::string PromptTask::problem_assuming(std::size_t count, bool with_nonempty) const {
  std::string facts;
  for (std::size_t i = 0; i < count && i < assumptions.size(); ++i) facts += "\n    " + assumptions[i].facts;
  std::string text = problem;
  if (with_nonempty) text.insert(goal_end, "\n    " + nonempty);
  return text.insert(init_end, facts);
}

}  // namespace metactrl::benchmarks
