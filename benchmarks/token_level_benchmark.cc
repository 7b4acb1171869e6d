// The token level on VirtualHome's prompts, with the vocabulary of Llama 3 (128,256 tokens): how long the tables take, how
// large they are, and what a token costs.
//
//     tables/H/M/E    every prompt of as_prompts.json: the table of the token automaton (E = 0: guidance syntax), or also
//                     of each entry (E = 1: with a lookahead)
//     tokens/.../H/M  plans for every eighth prompt, sampled with random logits; every token is timed on its own
//
// H is the number of hidden states. M = 0 is the uniform model; M = 1 one that was trained on a plan for each of the tasks:
// it expects plans, so that long ones have weight and layers settle late.
//
// The prompts are found as in the tests (METACTRL_DATA, folder eai_vh). Counters are over tasks (tables), or over tokens:
// `chosen` are those with an alternative (next(), choosing, accept()), `all` the forced ones, too. Tokens are timed by this
// thread's processor time, with the clock's own part of a microsecond. A forced run is one question and shared among its
// tokens.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/module.h"
#include "decode/choose.h"
#include "decode/syntax_table.h"
#include "metactrl/constraint.h"
#include "metactrl/decoder.h"
#include "metactrl/language_model.h"
#include "metactrl/training/train.h"
#include "prompt_tasks.h"
#include "support/vocabularies.h"
#include "text/token_automaton.h"

namespace metactrl {
namespace {

using Clock = std::chrono::steady_clock;

// Null when it is not installed.
std::shared_ptr<const Vocabulary> vocabulary() {
  static const std::shared_ptr<const Vocabulary> kVocabulary = []() -> std::shared_ptr<const Vocabulary> {
    const std::string file = testing::vocabulary_file("llama-bpe");
    if (file.empty()) return nullptr;
    return load_vocabulary(file);
  }();
  return kVocabulary;
}

const std::vector<std::shared_ptr<const Constraint>>& constraints() {
  static const std::vector<std::shared_ptr<const Constraint>> kConstraints = [] {
    std::vector<std::shared_ptr<const Constraint>> out;
    if (vocabulary() == nullptr) return out;
    const PlanFormat format = PlanFormat::builtin(std::string(benchmarks::find_module("vh-as")->format));
    for (const Task& task : benchmarks::virtualhome_prompt_tasks()) {
      out.push_back(Constraint::compile(task, format, vocabulary(), {}));
    }
    return out;
  }();
  return kConstraints;
}

// Of all tokens, uniform or trained on a plan for each task.
const Hmm& model(std::size_t hidden, bool trained) {
  static std::map<std::pair<std::size_t, bool>, Hmm> models;
  if (const auto found = models.find({hidden, trained}); found != models.end()) return found->second;
  const Alphabet alphabet =
      Alphabet::tokens(vocabulary()->size(), static_cast<std::uint32_t>(vocabulary()->end_of_turn().front()),
                       vocabulary()->fingerprint());
  if (!trained) return models.emplace(std::pair(hidden, trained), Hmm::uniform(alphabet, hidden)).first->second;
  SequenceSet sequences;
  for (const auto& constraint : constraints()) {
    std::vector<SymbolId> symbols;
    const std::string text = constraint->spelling().render(constraint->lookahead()->plan());
    for (const TokenId token : vocabulary()->encode(text, "")) {
      symbols.push_back(SymbolId{static_cast<std::uint32_t>(token)});
    }
    symbols.push_back(alphabet.end);
    sequences.add(symbols);
  }
  const auto engine = make_cpu_engine({});
  TrainOptions options;
  options.schedule = {{20, 0}};
  Trainer trainer(Hmm::random(alphabet, hidden, 1), sequences, *engine, options);
  while (trainer.step()) {
  }
  return models.emplace(std::pair(hidden, trained), trainer.hmm()).first->second;
}

bool ready(benchmark::State& state) {
  if (!constraints().empty()) return true;
  state.SkipWithError(
      "no Llama 3 vocabulary (scripts/llama --vocabularies), or no VirtualHome prompts (METACTRL_DATA)");
  return false;
}

void tables(benchmark::State& state) {
  if (!ready(state)) return;
  const Hmm& hmm = model(static_cast<std::size_t>(state.range(0)), state.range(1) != 0);
  decode::SyntaxTable::Options options;
  options.each_entry = state.range(2) != 0;
  std::vector<double> ms(constraints().size(), std::numeric_limits<double>::infinity());
  std::vector<double> megabytes;
  std::vector<double> places;
  std::vector<double> layers;
  std::vector<double> entries;
  double on_demand = 0;
  for (auto _ : state) {
    megabytes.clear();
    places.clear();
    layers.clear();
    entries.clear();
    on_demand = 0;
    for (std::size_t i = 0; i < constraints().size(); ++i) {
      options.horizon = constraints()[i]->lookahead()->horizon();
      const auto start = Clock::now();
      const decode::SyntaxTable table(constraints()[i]->automaton(), hmm, options);
      ms[i] = std::min(ms[i], benchmarks::milliseconds_since(start));
      megabytes.push_back(static_cast<double>(table.memory_bytes()) / 1e6);
      places.push_back(static_cast<double>(table.num_places()));
      layers.push_back(table.num_layers());
      entries.push_back(static_cast<double>(constraints()[i]->automaton().num_entries()));
      on_demand += table.keeps_layers() ? 0 : 1;
    }
  }
  state.counters["tasks"] = static_cast<double>(constraints().size());
  state.counters["on_demand"] = on_demand;
  benchmarks::set_percentiles(state, "table_ms", ms);
  benchmarks::set_percentiles(state, "MB", megabytes);
  benchmarks::set_percentiles(state, "places", places);
  benchmarks::set_percentiles(state, "layers", layers);
  benchmarks::set_percentiles(state, "entries", entries);
}
BENCHMARK(tables)->ArgsProduct({{128}, {0, 1}, {0, 1}})->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(3);

double quantile(std::vector<double>& values, double q) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

// Microseconds of each token of one plan.
void decode_plan(Decoder& decoder, decode::Random& random, std::vector<double>& chosen, std::vector<double>& all) {
  static const std::vector<float> kLogits = [] {
    std::vector<float> row(vocabulary()->size());
    decode::Random numbers(7);
    for (float& logit : row) logit = static_cast<float>(numbers.uniform() * 16 - 8);
    return row;
  }();
  std::vector<double> scores;
  const auto cpu_us = [] {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
  };
  std::vector<TokenId> forced;
  while (!decoder.finished()) {
    const double start = cpu_us();
    forced.assign(decoder.forced().begin(), decoder.forced().end());
    for (const TokenId token : forced) decoder.accept(token);
    if (!forced.empty()) {
      all.insert(all.end(), forced.size(), (cpu_us() - start) / static_cast<double>(forced.size()));
      continue;
    }
    const std::span<const NextToken> choices = decoder.next();
    if (choices.empty()) return;
    decode::score_choices(choices, kLogits, scores);
    decoder.accept(choices[decode::choose_sample(scores, {}, random)].token);
    chosen.push_back(cpu_us() - start);
    all.push_back(chosen.back());
  }
}

void tokens(benchmark::State& state, Guidance guidance) {
  if (!ready(state)) return;
  const Hmm& hmm = model(static_cast<std::size_t>(state.range(0)), state.range(1) != 0);
  std::vector<double> chosen;
  std::vector<double> all;
  decode::Random random(1);
  std::size_t plans = 0;
  for (auto _ : state) {
    for (std::size_t i = 0; i < constraints().size(); i += 8) {
      Decoder decoder(constraints()[i],
                      {.guidance = guidance, .bridge = Bridge::kHmm, .forbid_empty = true, .token_hmm = hmm});
      for (int plan = 0; plan < 5; ++plan, ++plans) {
        decoder.reset();
        decode_plan(decoder, random, chosen, all);
      }
    }
  }
  state.counters["plans"] = static_cast<double>(plans);
  state.counters["tokens"] = static_cast<double>(all.size());
  state.counters["chosen_p50_us"] = quantile(chosen, 0.5);
  state.counters["chosen_p99_us"] = quantile(chosen, 0.99);
  state.counters["all_p50_us"] = quantile(all, 0.5);
  state.counters["all_p99_us"] = quantile(all, 0.99);
}
BENCHMARK_CAPTURE(tokens, syntax, Guidance::kSyntax)
    ->ArgsProduct({{128}, {0, 1}})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(tokens, mask, Guidance::kMask)
    ->ArgsProduct({{128}, {0, 1}})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(tokens, uniform, Guidance::kUniform)
    ->ArgsProduct({{128}, {0, 1}})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

}  // namespace
}  // namespace metactrl
