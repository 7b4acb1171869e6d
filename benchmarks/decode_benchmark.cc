// What decoding costs beside the model: from logits to the chosen token, turning back, forking; and what it saves of
// the model's time.
//
// The vocabulary is that of Llama 3 (128,256 tokens), the logits are random. Every token of a plan is timed on its own,
// so that the counters p50_us and p99_us are quantiles over tokens (the clock's own 0.03 us included):
//
//   chosen    tokens with an alternative: next(), adding the logits, choosing, accept()
//   all       forced tokens, too: what the decoder takes of a plan
//   boundary  those that end an action: there the lookahead is asked for all actions that may come next
//
// Decoders are new for every plan, as they are for a request. Times of compilations are processor time.
//
// Needs the vocabularies that the set-up installs with llama.cpp, and the planning data (METACTRL_DATA) for the tasks
// of VirtualHome; what is missing is reported as an error, and the program goes on.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "decode/choose.h"
#include "household_files.h"
#include "metactrl/constraint.h"
#include "metactrl/decoder.h"
#include "metactrl/domain.h"
#include "metactrl/generate.h"
#include "metactrl/language_model.h"
#include "metactrl/planner.h"
#include "scene.h"
#include "support/vocabularies.h"
#include "text/token_automaton.h"

namespace metactrl {
namespace {

using Clock = std::chrono::steady_clock;

// Processor time of this thread, in milliseconds.
double cpu_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

double microseconds(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

// Loaded once; null when it is not installed.
std::shared_ptr<const Vocabulary> vocabulary() {
  static const std::shared_ptr<const Vocabulary> kVocabulary = []() -> std::shared_ptr<const Vocabulary> {
    const std::string file = testing::vocabulary_file("llama-bpe");
    if (file.empty()) return nullptr;
    return load_vocabulary(file);
  }();
  return kVocabulary;
}

// Rows of logits as a model might leave them: uniform in [-8, 8).
const std::vector<std::vector<float>>& logit_rows() {
  static const std::vector<std::vector<float>> kRows = [] {
    std::vector<std::vector<float>> rows;
    decode::Random random(7);
    for (int i = 0; i < 16; ++i) {
      std::vector<float> row(vocabulary()->size());
      for (float& logit : row) logit = static_cast<float>(random.uniform() * 16 - 8);
      rows.push_back(std::move(row));
    }
    return rows;
  }();
  return kRows;
}

double quantile(std::vector<double>& values, double q) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::size_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

// Times of tokens in microseconds.
struct TokenTimes {
  std::vector<double> chosen;
  std::vector<double> all;
  std::vector<double> boundary;
  std::size_t choices = 0;
  std::size_t plans = 0;

  void add(const Decoder& decoder, double time) {
    all.push_back(time);
    if (decoder.at_boundary()) boundary.push_back(time);
  }

  void report(benchmark::State& state) {
    state.counters["chosen_p50_us"] = quantile(chosen, 0.5);
    state.counters["chosen_p99_us"] = quantile(chosen, 0.99);
    state.counters["all_p50_us"] = quantile(all, 0.5);
    state.counters["all_p99_us"] = quantile(all, 0.99);
    state.counters["boundary_p50_us"] = quantile(boundary, 0.5);
    state.counters["boundary_p99_us"] = quantile(boundary, 0.99);
    state.counters["boundary_max_us"] = quantile(boundary, 1);
    state.counters["tokens"] = static_cast<double>(all.size());
    state.counters["plans"] = static_cast<double>(plans);
    state.counters["forced"] =
        1 - static_cast<double>(chosen.size()) / static_cast<double>(std::max<std::size_t>(1, all.size()));
    state.counters["choices"] =
        static_cast<double>(choices) / static_cast<double>(std::max<std::size_t>(1, chosen.size()));
  }
};

// One plan, or what is made of it until `deadline`.
void decode_plan(Decoder& decoder, DecodeMode mode, decode::Random& random, Clock::time_point deadline,
                 TokenTimes& times) {
  std::vector<TokenId> forced;
  std::vector<double> scores;
  while (!decoder.finished() && Clock::now() < deadline) {
    const std::vector<float>& logits = logit_rows()[random.next() % logit_rows().size()];
    auto start = Clock::now();
    const std::span<const TokenId> run = decoder.forced();
    forced.assign(run.begin(), run.end());
    for (const TokenId token : forced) {
      decoder.accept(token);
      const auto end = Clock::now();
      times.add(decoder, microseconds(end - start));
      start = end;
    }
    if (!forced.empty()) continue;
    const std::span<const NextToken> choices = decoder.next();
    if (choices.empty()) return;
    times.choices += choices.size();
    decode::score_choices(choices, logits, scores);
    const std::size_t chosen =
        mode == DecodeMode::kSample ? decode::choose_sample(scores, {1, 0.95}, random) : decode::choose_best(scores);
    decoder.accept(choices[chosen].token);
    times.chosen.push_back(microseconds(Clock::now() - start));
    times.add(decoder, times.chosen.back());
  }
  if (decoder.finished()) ++times.plans;
}

// --- household tasks -------------------------------------------------------------------------------------------------

constexpr const char* kContext = "assistant\n\n";

// `"WALK": ["soap"]`: these tasks' objects have no numbers.
PlanFormat household_format() {
  PlanFormat format = PlanFormat::builtin("virtualhome-actions");
  format.argument = "\"{object}\"";
  format.id_separator = "";
  return format;
}

// The twenty tasks of VirtualHome, compiled once.
const std::vector<std::shared_ptr<const Constraint>>& household() {
  static const std::vector<std::shared_ptr<const Constraint>> kConstraints = [] {
    std::vector<std::shared_ptr<const Constraint>> out;
    for (const benchmarks::HouseholdFiles& files : benchmarks::household_files()) {
      if (!files.virtualhome || vocabulary() == nullptr) continue;
      const Task task = load_pddl(files.domain, files.problem);
      out.push_back(Constraint::compile(task, household_format(), vocabulary(), {}));
    }
    return out;
  }();
  return kConstraints;
}

bool ready(benchmark::State& state) {
  if (vocabulary() == nullptr) {
    state.SkipWithError("no Llama 3 vocabulary; run scripts/llama --vocabularies");
  } else if (household().empty()) {
    state.SkipWithError("no household data; set METACTRL_DATA");
  } else {
    return true;
  }
  return false;
}

// gamma and beta of every task: the counters are medians and maxima over the tasks, each the best of the iterations.
void compile_household(benchmark::State& state) {
  if (!ready(state)) return;
  std::vector<double> gamma(household().size(), 1e9);
  std::vector<double> beta(household().size(), 1e9);
  std::vector<double> gamma_bytes;
  std::vector<double> beta_bytes;
  double exact = 0;
  for (auto _ : state) {
    for (std::size_t i = 0; i < household().size(); ++i) {
      const Task& task = household()[i]->task();
      const double start = cpu_ms();
      const PlanSpelling spelling(household_format(), task);
      benchmark::DoNotOptimize(TokenAutomaton::compile(spelling, *vocabulary(), {.context = kContext}));
      const double middle = cpu_ms();
      benchmark::DoNotOptimize(Lookahead::compile(task, {}));
      gamma[i] = std::min(gamma[i], middle - start);
      beta[i] = std::min(beta[i], cpu_ms() - middle);
    }
  }
  for (const auto& constraint : household()) {
    exact += constraint->lookahead()->tier() == Lookahead::Tier::kExact ? 1 : 0;
    beta_bytes.push_back(static_cast<double>(constraint->lookahead()->memory_bytes()));
    gamma_bytes.push_back(static_cast<double>(constraint->automaton().memory_bytes()));
  }
  state.counters["tasks"] = static_cast<double>(household().size());
  state.counters["tier_a"] = exact;
  state.counters["gamma_median_ms"] = quantile(gamma, 0.5);
  state.counters["gamma_max_ms"] = quantile(gamma, 1);
  state.counters["beta_median_ms"] = quantile(beta, 0.5);
  state.counters["beta_max_ms"] = quantile(beta, 1);
  state.counters["gamma_bytes_median"] = quantile(gamma_bytes, 0.5);
  state.counters["gamma_bytes_max"] = quantile(gamma_bytes, 1);
  state.counters["beta_bytes_median"] = quantile(beta_bytes, 0.5);
  state.counters["beta_bytes_max"] = quantile(beta_bytes, 1);
}
BENCHMARK(compile_household)->Unit(benchmark::kMillisecond)->Iterations(5);

// Tasks whose lookahead is exact (tier A), or those where it searches (tier B).
void token(benchmark::State& state, Guidance guidance, DecodeMode mode, Lookahead::Tier tier) {
  if (!ready(state)) return;
  TokenTimes times;
  decode::Random random(1);
  const auto never = Clock::time_point::max();
  for (auto _ : state) {
    for (const auto& constraint : household()) {
      if (constraint->lookahead()->tier() != tier) continue;
      // With guidance syntax a plan ends when the model likes it to, or at the horizon.
      Decoder decoder(constraint, {.guidance = guidance});
      decode_plan(decoder, mode, random, never, times);
    }
  }
  times.report(state);
}
#define METACTRL_TOKEN_BENCHMARK(name, guidance, mode, tier)                                  \
  BENCHMARK_CAPTURE(token, name, Guidance::guidance, DecodeMode::mode, Lookahead::Tier::tier) \
      ->Unit(benchmark::kMillisecond)
METACTRL_TOKEN_BENCHMARK(syntax_greedy, kSyntax, kGreedy, kExact);
METACTRL_TOKEN_BENCHMARK(syntax_sample, kSyntax, kSample, kExact);
METACTRL_TOKEN_BENCHMARK(mask_greedy, kMask, kGreedy, kExact);
METACTRL_TOKEN_BENCHMARK(mask_sample, kMask, kSample, kExact);
METACTRL_TOKEN_BENCHMARK(uniform_greedy, kUniform, kGreedy, kExact);
METACTRL_TOKEN_BENCHMARK(uniform_sample, kUniform, kSample, kExact);
METACTRL_TOKEN_BENCHMARK(uniform_greedy_by_search, kUniform, kGreedy, kWitness);
METACTRL_TOKEN_BENCHMARK(uniform_sample_by_search, kUniform, kSample, kWitness);
#undef METACTRL_TOKEN_BENCHMARK

// Taking back a whole plan, one token at a time.
void rollback(benchmark::State& state) {
  if (!ready(state)) return;
  TokenTimes times;
  decode::Random random(1);
  std::size_t tokens = 0;
  for (auto _ : state) {
    state.PauseTiming();
    Decoder decoder(household()[random.next() % household().size()], {});
    decode_plan(decoder, DecodeMode::kSample, random, Clock::time_point::max(), times);
    tokens += decoder.num_tokens();
    state.ResumeTiming();
    while (decoder.num_tokens() > 0) decoder.rollback(1);
  }
  state.counters["per_token"] =
      benchmark::Counter(static_cast<double>(tokens), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(rollback)->Iterations(2000);

// A copy of a decoder in the middle of a plan.
void fork(benchmark::State& state) {
  if (!ready(state)) return;
  TokenTimes times;
  decode::Random random(1);
  std::vector<Decoder> decoders;
  for (const auto& constraint : household()) {
    decoders.emplace_back(constraint, DecoderOptions{});
    decode_plan(decoders.back(), DecodeMode::kSample, random, Clock::time_point::max(), times);
    decoders.back().rollback(decoders.back().num_tokens() / 2);
  }
  std::size_t next = 0;
  for (auto _ : state) {
    const Decoder copy = decoders[next++ % decoders.size()];
    benchmark::DoNotOptimize(copy.num_tokens());
  }
}
BENCHMARK(fork)->Unit(benchmark::kMicrosecond);

// --- growing scenes --------------------------------------------------------------------------------------------------

// Everything at 20, 100, 300 and 1000 objects. Where the state space is too large to enumerate, candidates are decided
// by search (tier B), which is then the cost of a boundary; plans of large scenes are cut off after some seconds.
void scene_token(benchmark::State& state, Guidance guidance) {
  if (vocabulary() == nullptr) {
    state.SkipWithError("no Llama 3 vocabulary; run scripts/llama --vocabularies");
    return;
  }
  const Task task = load_pddl_text(benchmarks::kSceneDomain, benchmarks::scene(static_cast<int>(state.range(0))));
  ConstraintOptions options;
  if (guidance == Guidance::kSyntax) {
    // Nobody asks the lookahead.
    options.lookahead.weights = false;
    options.lookahead.exact.states = 1;
    options.lookahead.search.states = 1;
    options.lookahead.fixed_horizon = true;
  }
  const PlanFormat format = PlanFormat::builtin("pddl");
  const double start = cpu_ms();
  {
    const PlanSpelling spelling(format, task);
    benchmark::DoNotOptimize(TokenAutomaton::compile(spelling, *vocabulary(), {.context = kContext}));
  }
  const double middle = cpu_ms();
  benchmark::DoNotOptimize(Lookahead::compile(task, options.lookahead));
  const double end = cpu_ms();
  const auto constraint = Constraint::compile(task, format, vocabulary(), options);
  if (guidance != Guidance::kSyntax && constraint->lookahead()->verdict() != Verdict::kSolvable) {
    state.SkipWithError(constraint->lookahead()->reason().c_str());
    return;
  }
  TokenTimes times;
  decode::Random random(1);
  std::size_t decoders = 0;  // each begins with a boundary of its own
  const double before = cpu_ms();
  for (auto _ : state) {
    const auto deadline = Clock::now() + std::chrono::seconds(10);
    do {
      Decoder decoder(constraint, {.guidance = guidance});
      ++decoders;
      decode_plan(decoder, DecodeMode::kSample, random, std::max(deadline, Clock::now() + std::chrono::seconds(1)),
                  times);
    } while (times.all.size() < 2000 && Clock::now() < deadline);
  }
  // Nearly all of the time, and few of them are seen in large scenes: a mean of processor time.
  const std::size_t boundaries = times.boundary.size() + decoders;
  state.counters["boundaries"] = static_cast<double>(boundaries);
  state.counters["boundary_mean_ms"] = (cpu_ms() - before) / static_cast<double>(boundaries);
  times.report(state);
  state.counters["actions"] = static_cast<double>(task.num_actions());
  state.counters["tier_a"] = constraint->lookahead()->tier() == Lookahead::Tier::kExact ? 1 : 0;
  state.counters["gamma_ms"] = middle - start;
  state.counters["lookahead_ms"] = end - middle;
  state.counters["MiB"] = static_cast<double>(constraint->memory_bytes()) / (1 << 20);
}
BENCHMARK_CAPTURE(scene_token, syntax, Guidance::kSyntax)
    ->Arg(20)
    ->Arg(100)
    ->Arg(300)
    ->Arg(1000)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(scene_token, uniform, Guidance::kUniform)
    ->Arg(20)
    ->Arg(100)
    ->Arg(300)
    ->Arg(1000)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

// --- with a model ----------------------------------------------------------------------------------------------------

// The model that ships, on the robot's table: a plan with guidance uniform, then the same tokens as the model alone
// would write them, one call and one search for the largest logit each. Neither time has the prompt in it.
void against_unconstrained(benchmark::State& state) {
  static const std::array<const char*, 8> kProblems = {"boxed_tools", "breakfast_table", "clean_dishes",
                                                       "dishwasher",  "donut_canister",  "fridge_to_stove",
                                                       "green_block", "stack_dishes"};
  const std::string source = METACTRL_SOURCE_DIR;
  ModelOptions model_options;
  model_options.threads = 1;
  const std::shared_ptr<LanguageModel> model = load_model(source + "/models/pocket.gguf", model_options);
  const std::shared_ptr<const Vocabulary> words(model, &model->vocabulary());
  const PlanFormat format = PlanFormat::builtin("pddl");
  double constrained_ms = 0;
  double model_ms = 0;
  double alone_ms = 0;
  std::size_t tokens = 0;
  std::size_t forced = 0;
  std::size_t calls = 0;
  for (auto _ : state) {
    for (const char* name : kProblems) {
      const std::string folder = source + "/domains/tabletop/";
      const Task task = load_pddl(folder + "domain.pddl", folder + name + ".pddl");
      const PlanResult result = plan(task, format, model.get(), words, {});
      constrained_ms += 1e3 * result.times.decode;
      model_ms += 1e3 * (result.times.model - result.times.prompt);
      tokens += result.tokens.size();
      forced += result.forced_tokens;
      calls += result.model_calls;
      const std::unique_ptr<Session> session = model->start(result.prompt, result.tokens.size());
      benchmark::DoNotOptimize(session->logits().data());
      const auto start = Clock::now();
      for (std::size_t i = 0; i < result.tokens.size(); ++i) {
        benchmark::DoNotOptimize(decode::favourite(session->logits()));
        const std::array<TokenId, 1> next = {result.tokens[i]};
        if (i + 1 < result.tokens.size()) session->append(next);
      }
      alone_ms += microseconds(Clock::now() - start) / 1e3;
    }
  }
  const auto plans = static_cast<double>(state.iterations() * kProblems.size());
  state.counters["tokens_per_plan"] = static_cast<double>(tokens) / plans;
  state.counters["forced"] = static_cast<double>(forced) / static_cast<double>(tokens);
  state.counters["calls_per_token"] = static_cast<double>(calls) / static_cast<double>(tokens);
  state.counters["constrained_ms"] = constrained_ms / plans;
  state.counters["of_that_model_ms"] = model_ms / plans;
  state.counters["unconstrained_ms"] = alone_ms / plans;
  state.counters["speed_up"] = alone_ms / constrained_ms;
}
BENCHMARK(against_unconstrained)->Iterations(5)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace metactrl
