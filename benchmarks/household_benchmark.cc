// Household tasks of the planning data: loading, compiling the lookahead, and all candidates in every state along a
// plan.
//
// The data is found as in the tests (METACTRL_DATA); without it the benchmarks report an error and the program goes on.
// Times of `candidates` are per state: the counters are the median and the maximum over all states along the plan of
// the task, or of all tasks.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "household_files.h"
#include "metactrl/domain.h"
#include "metactrl/lookahead.h"

namespace metactrl {
namespace {

using benchmarks::household_files;
using Files = benchmarks::HouseholdFiles;

constexpr int kTasks = 30;

// The task number of a benchmark, or nothing, after an error was noted.
const Files* files_of(benchmark::State& state) {
  const auto index = static_cast<std::size_t>(state.range(0));
  if (index < household_files().size()) {
    state.SetLabel(household_files()[index].name);
    return &household_files()[index];
  }
  state.SkipWithError("no household data; set METACTRL_DATA");
  return nullptr;
}

void set_median_and_max(benchmark::State& state, std::vector<double>& times_us) {
  if (times_us.empty()) return;
  std::sort(times_us.begin(), times_us.end());
  state.counters["states"] = static_cast<double>(times_us.size());
  state.counters["median_us"] = times_us[times_us.size() / 2];
  state.counters["max_us"] = times_us.back();
}

// Times candidates() in each state along the plan, in a fresh support. Of repeated walks the best time of each state
// counts, or the maximum would show the operating system's time slices. `best_us[first]` and on are the states of this
// plan; returns the index after them.
std::size_t walk(const std::shared_ptr<const Lookahead>& lookahead, std::size_t first, std::vector<double>& best_us) {
  const Task& task = lookahead->task();
  Support support(lookahead);
  std::vector<Candidate> candidates;
  State at = task.initial_state();
  unsigned left = lookahead->horizon();
  best_us.resize(std::max(best_us.size(), first + lookahead->plan().size()), std::numeric_limits<double>::max());
  for (const ActionId action : lookahead->plan()) {
    const auto start = std::chrono::steady_clock::now();
    candidates = support.candidates(at, left);
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    best_us[first] = std::min(best_us[first], time.count());
    ++first;
    at = *task.apply(at, action);
    --left;
  }
  return first;
}

void load(benchmark::State& state) {
  const Files* files = files_of(state);
  if (files == nullptr) return;
  std::size_t actions = 0;
  for (auto _ : state) actions = load_pddl(files->domain, files->problem).num_actions();
  state.counters["actions"] = static_cast<double>(actions);
}
BENCHMARK(load)->DenseRange(0, kTasks - 1)->Unit(benchmark::kMillisecond);

void compile(benchmark::State& state) {
  const Files* files = files_of(state);
  if (files == nullptr) return;
  const Task task = load_pddl(files->domain, files->problem);
  std::shared_ptr<const Lookahead> lookahead;
  for (auto _ : state) lookahead = Lookahead::compile(task, {});
  state.counters["tier_a"] = lookahead->tier() == Lookahead::Tier::kExact ? 1 : 0;
  state.counters["states"] = static_cast<double>(lookahead->num_states().value_or(0));
  state.counters["horizon"] = lookahead->horizon();
  state.counters["plan"] = static_cast<double>(lookahead->plan().size());
}
BENCHMARK(compile)->DenseRange(0, kTasks - 1)->Unit(benchmark::kMillisecond);

void candidates(benchmark::State& state) {
  const Files* files = files_of(state);
  if (files == nullptr) return;
  const auto lookahead = Lookahead::compile(load_pddl(files->domain, files->problem), {});
  std::vector<double> best_us;
  for (auto _ : state) walk(lookahead, 0, best_us);
  set_median_and_max(state, best_us);
}
BENCHMARK(candidates)->DenseRange(0, kTasks - 1)->Unit(benchmark::kMillisecond);

// All tasks at once, with either tier: range(0) is the number of states that may be enumerated.
void candidates_of_all(benchmark::State& state) {
  if (household_files().empty()) {
    state.SkipWithError("no household data; set METACTRL_DATA");
    return;
  }
  std::vector<std::shared_ptr<const Lookahead>> lookaheads;
  for (const Files& files : household_files()) {
    LookaheadOptions options;
    options.exact.states = static_cast<std::size_t>(state.range(0));
    lookaheads.push_back(Lookahead::compile(load_pddl(files.domain, files.problem), options));
  }
  std::vector<double> best_us;
  for (auto _ : state) {
    std::size_t next = 0;
    for (const auto& lookahead : lookaheads) next = walk(lookahead, next, best_us);
  }
  set_median_and_max(state, best_us);
}
BENCHMARK(candidates_of_all)->Arg(200'000)->Arg(0)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace metactrl
