// Compiling the token automaton at 20, 100, 300 and 1000 objects of a household scene, in the format of VirtualHome's
// actions, with the Llama 3 vocabulary (128,256 tokens).
//
// Needs the vocabularies that the set-up installs with llama.cpp; METACTRL_VOCABS names another folder with
// ggml-vocab-*.gguf files.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "metactrl/language_model.h"
#include "support/household.h"
#include "support/vocabularies.h"
#include "text/token_automaton.h"

namespace metactrl {
namespace {

// Loaded once; null when it is not installed.
const Vocabulary* vocabulary() {
  static const std::unique_ptr<Vocabulary> kVocabulary = [] {
    const std::string file = testing::vocabulary_file("llama-bpe");
    return file.empty() ? nullptr : load_vocabulary(file);
  }();
  return kVocabulary.get();
}

void compile(benchmark::State& state, const std::string& format) {
  if (vocabulary() == nullptr) {
    state.SkipWithError("no Llama 3 vocabulary; run scripts/llama --vocabularies");
    return;
  }
  const Task task = testing::household_task(testing::household_objects(static_cast<std::size_t>(state.range(0))));
  const PlanSpelling spelling(PlanFormat::builtin(format), task);
  std::shared_ptr<const TokenAutomaton> automaton;
  for (auto _ : state) {
    automaton = TokenAutomaton::compile(spelling, *vocabulary(), {.context = "assistant\n\n"});
    benchmark::DoNotOptimize(automaton.get());
  }
  state.counters["actions"] = static_cast<double>(task.num_actions());
  state.counters["entries"] = static_cast<double>(automaton->num_entries());
  state.counters["states"] = static_cast<double>(automaton->num_states());
  state.counters["bytes"] = static_cast<double>(automaton->memory_bytes());
}

void compile_virtualhome(benchmark::State& state) { compile(state, "virtualhome-actions"); }
void compile_pddl(benchmark::State& state) { compile(state, "pddl"); }
void compile_sentences(benchmark::State& state) { compile(state, "sentences"); }

BENCHMARK(compile_virtualhome)->Arg(20)->Arg(100)->Arg(300)->Arg(1000)->Unit(benchmark::kMillisecond);
BENCHMARK(compile_pddl)->Arg(20)->Arg(100)->Arg(300)->Arg(1000)->Unit(benchmark::kMillisecond);
BENCHMARK(compile_sentences)->Arg(20)->Arg(300)->Unit(benchmark::kMillisecond);

// From a range to the sub-range that continues with a token: what every decoded token costs at least.
void narrow(benchmark::State& state) {
  if (vocabulary() == nullptr) {
    state.SkipWithError("no Llama 3 vocabulary; run scripts/llama --vocabularies");
    return;
  }
  const Task task = testing::household_task(testing::household_objects(static_cast<std::size_t>(state.range(0))));
  const PlanSpelling spelling(PlanFormat::builtin("virtualhome-actions"), task);
  const auto automaton = TokenAutomaton::compile(spelling, *vocabulary(), {});
  std::uint32_t rank = 0;
  std::size_t steps = 0;
  for (auto _ : state) {
    rank = (rank + 7919) % static_cast<std::uint32_t>(automaton->num_entries());
    auto range = automaton->group(0);
    const std::span<const TokenId> tokens = automaton->tokens(rank);
    for (std::size_t depth = 0; depth < tokens.size(); ++depth) {
      range = automaton->narrow(range.first, range.second, depth, tokens[depth]);
    }
    benchmark::DoNotOptimize(range);
    steps += tokens.size();
  }
  state.counters["per_token"] =
      benchmark::Counter(static_cast<double>(steps), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(narrow)->Arg(20)->Arg(300);

}  // namespace
}  // namespace metactrl
