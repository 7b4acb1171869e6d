// The trained lookahead of VirtualHome tasks: how long the tables take, and how large they are.
//
//     trained_benchmark                  every prompt of as_prompts.json, with models of 32, 128 and 512 states
//
// `tables/128/0` has a random model, `tables/128/1` one that was trained on a plan for each of the tasks: it knows what
// plans look like, so that long ones weigh more and rows settle later.
//
// The prompts are found as in the tests (METACTRL_DATA, folder eai_vh); without them the benchmark reports an error.
// One pass builds the table of every task once, for the horizon that the lookahead chose; of several passes the fastest
// of each task counts. Counters are over tasks, the 50th and the 95th percentile: `table` is the table alone, `compile`
// all that Lookahead::compile does, `MB` the table's memory with what it is built from. `exact` is how many tasks have
// a table; for the others a witness plan gives the weights. Time is that of a pass.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "lookahead/data.h"
#include "metactrl/lookahead.h"
#include "metactrl/training/train.h"
#include "prompt_tasks.h"

namespace metactrl {
namespace {

constexpr std::size_t kObjectSlots = 49;  // as in the paper's alphabet

const std::vector<Task>& tasks() { return benchmarks::virtualhome_prompt_tasks(); }

// A random model, or one that knows the tasks' plans.
Hmm make_model(std::size_t hidden, bool trained) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < tasks()[0].num_action_names(); ++i) {
    names.push_back(tasks()[0].action_name(ActionNameId{i}));
  }
  Hmm random = Hmm::random(Alphabet::meta(names, kObjectSlots), hidden, 1);
  if (!trained) return random;
  LookaheadOptions cheap;
  cheap.weights = false;
  SequenceSet sequences;
  const Alphabet& alphabet = random.alphabet();
  for (const Task& task : tasks()) {
    sequences.add(plan_symbols(task, alphabet, Lookahead::compile(task, cheap)->plan()));
  }
  const auto engine = make_cpu_engine({});
  TrainOptions options;
  options.schedule = {{20, 0}};
  Trainer trainer(random, sequences, *engine, options);
  while (trainer.step()) {
  }
  return trainer.hmm();
}

// range(0): hidden states; range(1): whether the model is trained.
void tables(benchmark::State& state) {
  if (tasks().empty()) {
    state.SkipWithError("no VirtualHome prompts; set METACTRL_DATA");
    return;
  }
  LookaheadOptions options;
  options.hmm = make_model(static_cast<std::size_t>(state.range(0)), state.range(1) != 0);
  std::vector<double> table_ms(tasks().size(), std::numeric_limits<double>::infinity());
  std::vector<double> compile_ms = table_ms;
  std::vector<double> megabytes;
  std::vector<double> states;
  double strides = 0;
  for (auto _ : state) {
    megabytes.clear();
    states.clear();
    strides = 0;
    for (std::size_t i = 0; i < tasks().size(); ++i) {
      auto start = std::chrono::steady_clock::now();
      const auto lookahead = Lookahead::compile(tasks()[i], options);
      compile_ms[i] = std::min(compile_ms[i], benchmarks::milliseconds_since(start));
      const LookaheadData& data = lookahead->data();
      if (!data.hmm_table) continue;
      start = std::chrono::steady_clock::now();
      const auto table = lookahead::HmmTable<float>::build(*data.surrogate, *data.space, data.hmm_table->horizon(),
                                                           options.weight_bytes);
      table_ms[i] = std::min(table_ms[i], benchmarks::milliseconds_since(start));
      megabytes.push_back(static_cast<double>(table->memory_bytes() + data.surrogate->memory_bytes()) / 1e6);
      states.push_back(static_cast<double>(table->num_cone_states()));
      strides += table->stride() > 1 ? 1 : 0;
    }
  }
  std::erase_if(table_ms, [](double ms) { return std::isinf(ms); });
  state.counters["tasks"] = static_cast<double>(tasks().size());
  state.counters["exact"] = static_cast<double>(table_ms.size());
  state.counters["with_checkpoints"] = strides;
  benchmarks::set_percentiles(state, "table_ms", table_ms);
  benchmarks::set_percentiles(state, "compile_ms", compile_ms);
  benchmarks::set_percentiles(state, "MB", megabytes);
  benchmarks::set_percentiles(state, "states", states);
}
BENCHMARK(tables)->ArgsProduct({{32, 128, 512}, {0, 1}})->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace metactrl
