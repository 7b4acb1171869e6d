// What a batch costs: 256 rows, each of another of 64 tasks or at another place of its plan, as an engine that serves many
// requests has them. One step takes a token in every row and writes every row's mask, through the C interface and on one
// thread; the tokens are drawn beforehand from what was allowed.
//
// Where the build knows XGrammar (METACTRL_XGRAMMAR), the same tokens go through its matchers in the same run, each with a
// grammar of its task: which words may follow each other, with every thing in every place that its kind fits. That is what a
// grammar can say; that an action is possible, or leads to the goal, is not.
//
// The counters are per row and step: accept and mask, in microseconds. Llama 3's vocabulary (128,256 tokens).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "metactrl/c.h"
#include "scene.h"
#include "support/vocabularies.h"

#ifdef METACTRL_HAS_XGRAMMAR
#include <xgrammar/xgrammar.h>
#endif

namespace metactrl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kTasks = 64;
constexpr std::size_t kRows = 256;
constexpr std::size_t kSteps = 64;

int objects_of(std::size_t task) { return 24 + static_cast<int>(task); }

void must(metactrl_status status, metactrl_error* error) {
  if (status == METACTRL_OK) return;
  const std::string message = metactrl_error_message(error);
  metactrl_error_free(error);
  throw std::runtime_error(message);
}

struct FreeVocabulary {
  void operator()(metactrl_vocabulary* made) const { metactrl_vocabulary_free(made); }
};
struct FreeConstraint {
  void operator()(metactrl_constraint* made) const { metactrl_constraint_free(made); }
};
struct FreeDecoder {
  void operator()(metactrl_decoder* made) const { metactrl_decoder_free(made); }
};

// Everything that is made once.
class Setting {
 public:
  Setting() {
    metactrl_error* error = nullptr;
    metactrl_vocabulary* vocabulary = nullptr;
    must(metactrl_vocabulary_load_gguf(testing::vocabulary_file("llama-bpe").c_str(), &vocabulary, &error), error);
    vocabulary_.reset(vocabulary);
    metactrl_format* format = nullptr;
    must(metactrl_format_builtin("pddl", &format, &error), error);
    for (std::size_t i = 0; i < kTasks; ++i) {
      const std::string domain = benchmarks::kSceneDomain;
      const std::string problem = benchmarks::scene(objects_of(i));
      metactrl_task* task = nullptr;
      must(metactrl_task_parse(domain.data(), domain.size(), problem.data(), problem.size(), nullptr, nullptr, &task,
                               &error),
           error);
      metactrl_constraint* constraint = nullptr;
      must(metactrl_constraint_compile(task, format, vocabulary, nullptr, nullptr, &constraint, &error), error);
      constraints_.emplace_back(constraint);
      metactrl_task_free(task);
    }
    metactrl_format_free(format);
  }

  const metactrl_vocabulary* vocabulary() const { return vocabulary_.get(); }
  const metactrl_constraint* constraint(std::size_t row) const { return constraints_[row % kTasks].get(); }
  std::size_t num_words() const { return (metactrl_vocabulary_size(vocabulary()) + 31) / 32; }

 private:
  std::unique_ptr<metactrl_vocabulary, FreeVocabulary> vocabulary_;
  std::vector<std::unique_ptr<metactrl_constraint, FreeConstraint>> constraints_;
};

const Setting& setting() {
  static const Setting kSetting;
  return kSetting;
}

using Decoder = std::unique_ptr<metactrl_decoder, FreeDecoder>;

Decoder new_decoder(std::size_t row, int guidance) {
  metactrl_error* error = nullptr;
  metactrl_decoder_options options;
  metactrl_decoder_options_default(&options);
  options.guidance = guidance;
  metactrl_decoder* made = nullptr;
  must(metactrl_decoder_new(setting().constraint(row), &options, nullptr, &made, &error), error);
  return Decoder(made);
}

// The tokens of one row: those in front of the first step, then one per step. A plan that ends begins again, so a row may
// have several; `fresh` says at which steps one begins.
struct Row {
  std::vector<std::int32_t> before;
  std::vector<std::int32_t> tokens;
  std::vector<bool> fresh;
};

std::int32_t any_token(metactrl_decoder* decoder, std::mt19937_64& random) {
  metactrl_error* error = nullptr;
  std::vector<std::int32_t> ids(4096);
  std::size_t count = 0;
  must(metactrl_decoder_next(decoder, ids.data(), nullptr, ids.size(), &count, &error), error);
  return ids[random() % std::min(count, ids.size())];
}

void take(metactrl_decoder* decoder, std::int32_t token) {
  metactrl_error* error = nullptr;
  std::size_t taken = 0;
  must(metactrl_decoder_accept(decoder, &token, 1, &taken, &error), error);
}

std::vector<Row> draw_rows(int guidance) {
  std::mt19937_64 random(11);
  std::vector<Row> rows(kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    Decoder decoder = new_decoder(i, guidance);
    const auto step = [&](std::vector<std::int32_t>& tokens) {
      const std::int32_t token = any_token(decoder.get(), random);
      take(decoder.get(), token);
      tokens.push_back(token);
      if ((metactrl_decoder_status(decoder.get()) & METACTRL_FINISHED) == 0) return false;
      decoder = new_decoder(i, guidance);
      return true;
    };
    for (std::size_t place = i % 48; place > 0; --place) {
      if (step(rows[i].before)) rows[i].before.clear();
    }
    bool fresh = false;
    for (std::size_t s = 0; s < kSteps; ++s) {
      rows[i].fresh.push_back(fresh);
      fresh = step(rows[i].tokens);
    }
  }
  return rows;
}

struct Times {
  std::vector<double> steps;  // microseconds

  void add(Clock::time_point start) {
    steps.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  void report(benchmark::State& state) {
    std::sort(steps.begin(), steps.end());
    double sum = 0;
    for (const double step : steps) sum += step;
    state.counters["row_mean_us"] = sum / static_cast<double>(steps.size());
    state.counters["row_p50_us"] = steps[steps.size() / 2];
    state.counters["row_p90_us"] = steps[steps.size() * 9 / 10];
    state.counters["row_p99_us"] = steps[steps.size() * 99 / 100];
  }
};

void ours(benchmark::State& state, int guidance) {
  if (testing::vocabulary_file("llama-bpe").empty())
    return state.SkipWithError("no vocabulary: scripts/llama --vocabularies gets it");
  const std::vector<Row> rows = draw_rows(guidance);
  Times times;
  const std::size_t num_words = setting().num_words();
  std::vector<std::int32_t> words(num_words * kRows);
  std::vector<std::int32_t> counts(kRows);
  for (auto _ : state) {
    std::vector<Decoder> owned;
    std::vector<metactrl_decoder*> decoders;
    for (std::size_t i = 0; i < kRows; ++i) {
      owned.push_back(new_decoder(i, guidance));
      for (const std::int32_t token : rows[i].before) take(owned.back().get(), token);
    }
    for (std::size_t s = 0; s < kSteps; ++s) {
      std::vector<std::int32_t> tokens;
      decoders.clear();
      for (std::size_t i = 0; i < kRows; ++i) {
        if (rows[i].fresh[s]) owned[i] = new_decoder(i, guidance);
        decoders.push_back(owned[i].get());
        tokens.push_back(rows[i].tokens[s]);
      }
      metactrl_error* error = nullptr;
      for (std::size_t i = 0; i < kRows; ++i) {  // row by row, to see each
        const auto start = Clock::now();
        must(metactrl_batch_fill_bitmask(nullptr, &decoders[i], 1, &tokens[i], METACTRL_BATCH_KEEP_ENDING,
                                         &words[i * num_words], num_words, &counts[i], &error),
             error);
        times.add(start);
      }
      if (*std::min_element(counts.begin(), counts.end()) <= 0) throw std::runtime_error("a row has no token");
    }
  }
  times.report(state);
}

BENCHMARK_CAPTURE(ours, mask, METACTRL_GUIDANCE_MASK)->Iterations(3)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ours, uniform, METACTRL_GUIDANCE_UNIFORM)->Iterations(3)->Unit(benchmark::kMillisecond);

#ifdef METACTRL_HAS_XGRAMMAR

// Which words follow each other in plans of a scene.
std::string grammar_of(const std::string& problem) {
  const auto things = [&](const std::string& kind) {
    std::string out;
    for (int i = 0; problem.find(" " + kind + std::to_string(i) + " ") != std::string::npos; ++i) {
      out += (out.empty() ? "\"" : " | \"") + kind + std::to_string(i) + "\"";
    }
    return out;
  };
  return "root ::= line (\"\\n\" line)* \"\\n\"?\n"
         "line ::= \"(walk \" room \" \" room \")\" | \"(approach \" place \" \" room \")\" | \"(open \" container "
         "\")\" | "
         "\"(close \" container \")\" | \"(grab \" item \" \" place \")\" | \"(puton \" item \" \" surface \")\" | "
         "\"(putin \" item \" \" container \")\" | \"(search \" container \")\"\n"
         "place ::= surface | container\n"
         "room ::= " +
         things("room") + "\nsurface ::= " + things("table") + "\ncontainer ::= " + things("box") +
         "\nitem ::= " + things("item") + "\n";
}

void xgrammar_rows(benchmark::State& state) {
  if (testing::vocabulary_file("llama-bpe").empty())
    return state.SkipWithError("no vocabulary: scripts/llama --vocabularies gets it");
  const std::vector<Row> rows = draw_rows(METACTRL_GUIDANCE_MASK);
  metactrl_error* error = nullptr;
  std::vector<std::string> encoded;
  for (std::size_t i = 0; i < metactrl_vocabulary_size(setting().vocabulary()); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    metactrl_text* text = nullptr;
    must(metactrl_vocabulary_decode(setting().vocabulary(), &id, 1, &text, &error), error);
    encoded.emplace_back(metactrl_text_data(text), metactrl_text_size(text));
    metactrl_text_free(text);
  }
  std::vector<std::int32_t> ends(8);
  std::size_t num_ends = 0;
  must(metactrl_vocabulary_end_of_turn(setting().vocabulary(), ends.data(), ends.size(), &num_ends, &error), error);
  ends.resize(num_ends);
  xgrammar::GrammarCompiler compiler(
      xgrammar::TokenizerInfo(encoded, xgrammar::VocabType::RAW, static_cast<int>(encoded.size()), ends), 1);
  std::vector<xgrammar::CompiledGrammar> compiled;
  for (std::size_t i = 0; i < kTasks; ++i) {
    compiled.push_back(compiler.CompileGrammar(grammar_of(benchmarks::scene(objects_of(i)))));
  }
  Times times;
  const auto num_words = static_cast<std::int64_t>(setting().num_words());
  std::vector<std::int32_t> words(static_cast<std::size_t>(num_words) * kRows);
  std::int64_t shape[2] = {static_cast<std::int64_t>(kRows), num_words};
  DLTensor mask{};
  mask.data = words.data();
  mask.device = {kDLCPU, 0};
  mask.ndim = 2;
  mask.dtype = xgrammar::GetBitmaskDLType();
  mask.shape = shape;
  std::int64_t strides[2] = {num_words, 1};
  mask.strides = strides;
  for (auto _ : state) {
    std::vector<xgrammar::GrammarMatcher> matchers;
    for (std::size_t i = 0; i < kRows; ++i) {
      matchers.emplace_back(compiled[i % kTasks]);
      for (const std::int32_t token : rows[i].before) {
        if (!matchers.back().AcceptToken(token)) throw std::runtime_error("the grammar does not know the plan");
      }
    }
    for (std::size_t s = 0; s < kSteps; ++s) {
      for (std::size_t i = 0; i < kRows; ++i) {
        if (rows[i].fresh[s]) matchers[i] = xgrammar::GrammarMatcher(compiled[i % kTasks]);
      }
      for (std::size_t i = 0; i < kRows; ++i) {
        const auto start = Clock::now();
        if (!matchers[i].AcceptToken(rows[i].tokens[s])) throw std::runtime_error("the grammar does not know the plan");
        if (!matchers[i].IsTerminated()) matchers[i].FillNextTokenBitmask(&mask, static_cast<int>(i));
        times.add(start);
      }
    }
  }
  times.report(state);
}

BENCHMARK(xgrammar_rows)->Iterations(3)->Unit(benchmark::kMillisecond);

#endif  // METACTRL_HAS_XGRAMMAR

}  // namespace
}  // namespace metactrl
