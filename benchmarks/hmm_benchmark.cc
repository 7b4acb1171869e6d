// Hidden Markov models: expectation maximisation, and the tables of the trained lookahead.
//
//     hmm_benchmark --benchmark_filter=expectation     symbols per second of an E-step (H = 128, V = 132, length 24)
//     hmm_benchmark --benchmark_filter=table           lookahead of the VirtualHome tasks with H = 128, time and memory
//
// The tasks are found as in the tests (METACTRL_DATA); without them the benchmarks report an error and the program goes
// on.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "household_files.h"
#include "metactrl/domain.h"
#include "metactrl/lookahead.h"
#include "metactrl/training/train.h"
#include "support/splitmix.h"

namespace metactrl {
namespace {

using benchmarks::household_files;

// range(0): hidden states; range(1): symbols; range(2): threads.
void expectation(benchmark::State& state) {
  constexpr std::size_t kLength = 24;
  constexpr std::size_t kSequences = 8192;
  const auto hidden = static_cast<std::size_t>(state.range(0));
  const auto symbols = static_cast<std::size_t>(state.range(1));
  const Hmm hmm = Hmm::random(Alphabet::tokens(symbols, 0), hidden, 1);
  internal::Random random(2);
  SequenceSet sequences;
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < kSequences; ++i) {
    std::vector<SymbolId> sequence;
    while (sequence.size() + 1 < kLength) {
      sequence.push_back(SymbolId{static_cast<std::uint32_t>(1 + random.below(symbols - 1))});
    }
    sequence.push_back(SymbolId{0});
    sequences.add(sequence);
    all.push_back(i);
  }
  const auto engine = make_cpu_engine({static_cast<unsigned>(state.range(2)), false});
  for (auto _ : state) benchmark::DoNotOptimize(engine->expectation(hmm, sequences, all, {}).log_likelihood);
  state.counters["symbols/s"] =
      benchmark::Counter(static_cast<double>(kSequences * kLength), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(expectation)
    ->Args({128, 132, 1})
    ->Args({128, 132, 0})
    ->Args({32, 132, 1})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// Compiling the lookahead of a VirtualHome task with a random model of 128 hidden states. range(0): which task.
void table(benchmark::State& state) {
  const auto index = static_cast<std::size_t>(state.range(0));
  std::vector<benchmarks::HouseholdFiles> files;
  for (const auto& one : household_files()) {
    if (one.virtualhome) files.push_back(one);
  }
  if (index >= files.size()) {
    state.SkipWithError("no household data; set METACTRL_DATA");
    return;
  }
  const Task task = load_pddl(files[index].domain, files[index].problem);
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < task.num_action_names(); ++i) names.push_back(task.action_name(ActionNameId{i}));
  LookaheadOptions options;
  options.hmm = Hmm::random(Alphabet::meta(names, 49), 128, 1);
  std::shared_ptr<const Lookahead> lookahead;
  for (auto _ : state) lookahead = Lookahead::compile(task, options);
  state.SetLabel(files[index].name + ": " + lookahead->weight_rule());
  state.counters["MB"] = static_cast<double>(lookahead->memory_bytes()) / 1e6;
  state.counters["states"] = static_cast<double>(lookahead->num_states().value_or(0));
  state.counters["horizon"] = lookahead->horizon();
}
BENCHMARK(table)->DenseRange(0, 19)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace metactrl
