// How loading, grounding, the first plan and the work between two actions scale with the number of objects in a household
// scene (scene.h).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/lookahead.h"
#include "scene.h"
#include "task/program.h"

namespace metactrl {
namespace {

using benchmarks::kSceneDomain;
using benchmarks::scene;

void load(benchmark::State& state) {
  const std::string problem = scene(static_cast<int>(state.range(0)));
  std::shared_ptr<Task> task;
  for (auto _ : state) task = std::make_shared<Task>(load_pddl_text(kSceneDomain, problem));
  state.counters["actions"] = static_cast<double>(task->num_actions());
  state.counters["facts"] = static_cast<double>(task->program().num_stored_bits());
  state.counters["relevant_facts"] = static_cast<double>(task->program().num_relevant_bits());
  state.counters["MiB"] = static_cast<double>(task->memory_bytes()) / (1 << 20);
  state.counters["actions/s"] =
      benchmark::Counter(static_cast<double>(task->num_actions()), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(load)->Arg(20)->Arg(100)->Arg(300)->Arg(1000)->Unit(benchmark::kMillisecond);

void first_plan(benchmark::State& state) {
  const Task task = load_pddl_text(kSceneDomain, scene(static_cast<int>(state.range(0))));
  LookaheadOptions options;
  options.exact.states = 0;  // search at once
  std::shared_ptr<const Lookahead> lookahead;
  for (auto _ : state) lookahead = Lookahead::compile(task, options);
  if (lookahead->verdict() != Verdict::kSolvable || !task.validate(lookahead->plan()).valid) {
    state.SkipWithError(("no plan: " + lookahead->reason()).c_str());
    return;
  }
  state.counters["plan"] = static_cast<double>(lookahead->plan().size());
  state.counters["MiB"] = static_cast<double>(lookahead->memory_bytes()) / (1 << 20);
}
BENCHMARK(first_plan)->Arg(20)->Arg(100)->Arg(300)->Arg(1000)->Unit(benchmark::kMillisecond);

// All candidates in the initial state, in a fresh support: the first question of a request.
void first_candidates(benchmark::State& state) {
  const Task task = load_pddl_text(kSceneDomain, scene(static_cast<int>(state.range(0))));
  LookaheadOptions options;
  options.exact.states = 0;
  const auto lookahead = Lookahead::compile(task, options);
  std::size_t count = 0;
  std::size_t unknown = 0;
  for (auto _ : state) {
    Support support(lookahead);
    count = 0;
    unknown = 0;
    for (const Candidate& candidate : support.candidates(task.initial_state(), lookahead->horizon())) {
      ++count;
      unknown += candidate.answer == Answer::kUnknown ? 1 : 0;
    }
  }
  state.counters["candidates"] = static_cast<double>(count);
  state.counters["unknown"] = static_cast<double>(unknown);
}
BENCHMARK(first_candidates)->Arg(20)->Arg(100)->Arg(300)->Arg(1000)->Unit(benchmark::kMillisecond);

// What is asked between two actions, all the way along plans of a model that takes any action that is allowed. The
// percentiles are of single questions.
void boundaries(benchmark::State& state) {
  using Clock = std::chrono::steady_clock;
  const Task task = load_pddl_text(kSceneDomain, scene(static_cast<int>(state.range(0))));
  LookaheadOptions options;
  options.exact.states = 0;
  options.fitted_horizon = true;
  options.improve = kImproveFirstPlan;
  options.weights = state.range(1) != 0;
  const auto lookahead = Lookahead::compile(task, options);
  std::vector<double> milliseconds;
  std::size_t candidates = 0;
  std::size_t allowed = 0;
  std::mt19937 random(1);
  for (auto _ : state) {
    Support support(lookahead);
    State now = task.initial_state();
    for (unsigned left = lookahead->horizon(); left > 0 && !task.is_goal(now); --left) {
      const auto begin = Clock::now();
      const std::vector<Candidate> found = support.candidates(now, left);
      milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
      std::vector<ActionId> choice;
      for (const Candidate& candidate : found) {
        if (candidate.answer == Answer::kYes) choice.push_back(candidate.action);
      }
      if (choice.empty()) {
        state.SkipWithError("no action is allowed");
        return;
      }
      candidates += found.size();
      allowed += choice.size();
      now = *task.apply(now, choice[random() % choice.size()]);
    }
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  const auto percentile = [&](std::size_t percent) { return milliseconds[percent * (milliseconds.size() - 1) / 100]; };
  state.counters["p50_ms"] = percentile(50);
  state.counters["p99_ms"] = percentile(99);
  state.counters["candidates"] = static_cast<double>(candidates) / static_cast<double>(milliseconds.size());
  state.counters["allowed"] = static_cast<double>(allowed) / static_cast<double>(milliseconds.size());
}
BENCHMARK(boundaries)
    ->ArgNames({"objects", "weights"})
    ->ArgsProduct({{100, 300, 1000}, {0, 1}})
    ->Iterations(8)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace metactrl
