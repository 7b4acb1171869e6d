// What benchmarks over VirtualHome's prompts share: the tasks, and numbers over tasks.
#ifndef METACTRL_BENCHMARKS_PROMPT_TASKS_H_
#define METACTRL_BENCHMARKS_PROMPT_TASKS_H_

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "benchmarks/files.h"
#include "benchmarks/module.h"
#include "lookahead/drop_goals.h"
#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "metactrl/lookahead.h"

namespace metactrl::benchmarks {

// The tasks of all prompts of action sequencing, with as few assumptions as a goal needs, as `metactrl eval` reads them. Goals that are out
// of reach are left out.
inline const std::vector<Task>& virtualhome_prompt_tasks() {
  static const std::vector<Task> kAll = [] {
    const char* from_environment = std::getenv("METACTRL_DATA");
    const std::filesystem::path data = from_environment != nullptr ? from_environment : METACTRL_DEFAULT_DATA;
    const std::filesystem::path file = data / "eai_vh" / "as_prompts.json";
    std::vector<Task> found;
    if (!std::filesystem::exists(file)) return found;
    const Module& module = *find_module("vh-as");
    const std::string_view domain = domain_text(module, Rules::kEnvironment);
    LookaheadOptions cheap;
    cheap.weights = false;
    for (const PromptEntry& entry : read_prompts(file.string())) {
      try {
        const PromptTask prompt = module.read(entry.prompt, Rules::kEnvironment);
        for (std::size_t level = prompt.fewest_assumptions; level <= prompt.assumptions.size(); ++level) {
          const Task task = load_pddl_text(domain, prompt.problem_assuming(level));
          if (Lookahead::compile(task, cheap)->verdict() == Verdict::kSolvable) {
            found.push_back(task);
            break;
          }
          if (level == prompt.assumptions.size()) found.push_back(drop_unreachable_goals(task, cheap).task);
        }
      } catch (const InputError&) {  // which `metactrl eval` would say
      }
    }
    return found;
  }();
  return kAll;
}

inline double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

inline void set_percentiles(benchmark::State& state, const std::string& name, std::vector<double> values) {
  if (values.empty()) return;
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())))];
  };
  state.counters[name + "_p50"] = at(0.5);
  state.counters[name + "_p95"] = at(0.95);
  state.counters[name + "_max"] = values.back();
}

}  // namespace metactrl::benchmarks

#endif  // METACTRL_BENCHMARKS_PROMPT_TASKS_H_
