// What planning adds to llama.cpp: the calls of whole plans beside llama.cpp alone on batches of the same sizes, and
// beside the same model writing as many tokens without a constraint.
//
//     llama_calls MODEL DOMAIN PROBLEM [RUNS] [HORIZON]
//
// Everything is on the GPU where llama.cpp has one. For guidance mask and uniform, with sampled plans: every call that
// runs the model behind the prompt is noted with the tokens that it computes and its time, and the time from the prompt's
// logits to the last token's choice; once with calls that read what has been decided and no more, and once with those that
// also read what each choice would force (Session::expect), of which there are fewer, and larger ones: what is read in vain
// counts. Then the model is loaded by llama.cpp alone, reads a prompt of the same length, and computes batches of the same
// sizes behind as many tokens, one after the other, the logits of each batch's last token wanted and waited for. All runs
// but the first are counted, since the first time that a batch size is seen costs more; the first is reported beside them.
#include <llama.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lm/llama_session.h"
#include "metactrl/domain.h"
#include "metactrl/generate.h"
#include "metactrl/language_model.h"
#include "metactrl/planner.h"

namespace metactrl {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

// A call behind the prompt: how many tokens it computes, and behind how many that stay, the prompt's included.
struct Call {
  std::size_t size = 0;
  std::size_t behind = 0;
};

// The calls of one session.
struct Record {
  std::size_t prompt = 0;
  std::vector<Call> calls{};
  double in_calls = 0;        // milliseconds
  Clock::time_point begin{};  // the prompt has been read
  Clock::time_point end{};    // of the last call on the session

  double whole() const { return milliseconds(end - begin); }
};

class RecordingSession : public Session {
 public:
  RecordingSession(std::unique_ptr<Session> session, bool ahead, Record& record)
      : session_(std::move(session)),
        computing_(dynamic_cast<const lm::LlamaSession&>(*session_)),
        ahead_(ahead),
        record_(record),
        known_(session_->size()) {}

  void append(std::span<const TokenId> tokens) override { session_->append(tokens); }
  std::span<const float> logits() override {
    const std::size_t calls = session_->num_calls();
    const std::size_t read = computing_.num_read();
    const Clock::time_point begin = Clock::now();
    const std::span<const float> logits = session_->logits();
    record_.end = Clock::now();
    record_.in_calls += milliseconds(record_.end - begin);
    if (session_->num_calls() > calls) record_.calls.push_back({computing_.num_read() - read, known_});
    known_ = session_->size();
    return logits;
  }
  std::size_t size() const override { return session_->size(); }
  void rollback(std::size_t size) override { session_->rollback(size); }
  std::unique_ptr<Session> fork() override { return session_->fork(); }
  std::vector<std::vector<float>> score(std::span<const std::vector<TokenId>> paths) override {
    return session_->score(paths);
  }
  std::size_t num_calls() const override { return session_->num_calls(); }
  std::size_t spare_tokens() const override { return ahead_ ? session_->spare_tokens() : 0; }
  void expect(std::span<const std::vector<TokenId>> continuations) override { session_->expect(continuations); }

 private:
  std::unique_ptr<Session> session_;
  const lm::LlamaSession& computing_;
  bool ahead_;
  Record& record_;
  std::size_t known_;
};

// The model, with what its last session did.
class RecordingModel : public LanguageModel {
 public:
  explicit RecordingModel(std::unique_ptr<LanguageModel> model) : model_(std::move(model)) {}

  const Vocabulary& vocabulary() const override { return model_->vocabulary(); }
  std::string description() const override { return model_->description(); }
  std::size_t context_length() const override { return model_->context_length(); }
  std::string device() const override { return model_->device(); }
  std::string render_prompt(const Prompt& prompt) const override { return model_->render_prompt(prompt); }
  std::vector<TokenId> encode_prompt(const Prompt& prompt, const Stop& stop) const override {
    return model_->encode_prompt(prompt, stop);
  }
  std::unique_ptr<Session> start(std::span<const TokenId> prompt, std::size_t reserve) override {
    std::unique_ptr<Session> session = model_->start(prompt, reserve);
    record = Record{prompt.size(), {}, 0, Clock::now(), Clock::now()};
    return std::make_unique<RecordingSession>(std::move(session), ahead, record);
  }

  bool ahead = false;  // calls read what may come, too
  Record record;

 private:
  std::unique_ptr<LanguageModel> model_;
};

// Of all runs but the first.
struct Times {
  std::size_t tokens = 0;
  std::vector<Record> records;

  double of(double (*value)(const Record&)) const {
    std::vector<double> values;
    for (std::size_t i = records.size() > 1 ? 1 : 0; i < records.size(); ++i) values.push_back(value(records[i]));
    return median(values);
  }
};

Times plan_times(const Task& task, RecordingModel& model, Guidance guidance, unsigned horizon, int runs) {
  const std::shared_ptr<const Vocabulary> vocabulary(std::shared_ptr<void>(), &model.vocabulary());
  PlanOptions options;
  options.guidance = guidance;
  options.generate.mode = DecodeMode::kSample;
  options.generate.seed = 7;
  if (horizon > 0) options.lookahead.horizon = horizon;
  Times times;
  for (int run = 0; run <= runs; ++run) {
    const PlanResult result = plan(task, PlanFormat::builtin("pddl"), &model, vocabulary, options);
    if (result.guarantee != Guarantee::kFull) throw std::runtime_error("no plan: " + result.reason);
    times.tokens = result.tokens.size();
    times.records.push_back(model.record);
  }
  return times;
}

// As many tokens by the model alone, behind a prompt of the same length.
Times free_times(RecordingModel& model, std::span<const TokenId> prompt, std::size_t tokens, int runs) {
  GenerateOptions options;
  Times times;
  for (int run = 0; run <= runs; ++run) {
    const std::unique_ptr<Session> session = model.start(prompt, tokens);
    options.max_tokens = tokens;
    times.tokens = generate_unconstrained(*session, model.vocabulary(), options).tokens.size();
    if (times.tokens < tokens) throw std::runtime_error("the model alone ended early");
    times.records.push_back(model.record);
  }
  return times;
}

class Alone {
 public:
  explicit Alone(const std::string& file) {
    llama_model_params model_params = llama_model_default_params();
    model_params.n_gpu_layers = 999;
    model_.reset(llama_model_load_from_file(file.c_str(), model_params));
    if (model_ == nullptr) throw std::runtime_error("llama.cpp alone cannot load the model");
    llama_context_params params = llama_context_default_params();
    params.n_ctx = 8192;
    params.no_perf = true;
    context_.reset(llama_init_from_model(model_.get(), params));
    if (context_ == nullptr) throw std::runtime_error("llama.cpp alone has no room for a context");
  }

  // Milliseconds for batches of these sizes, one after the other, each behind as many tokens.
  std::vector<double> runs(const Record& record, int runs) {
    std::vector<double> out;
    for (int run = 0; run <= runs; ++run) {
      llama_memory_clear(llama_get_memory(context_.get()), true);
      compute(record.prompt);
      const Clock::time_point begin = Clock::now();
      std::size_t known = record.prompt;
      for (const Call& call : record.calls) {
        if (known > call.behind) forget(call.behind);
        compute(call.size);
        known = call.behind + call.size;
      }
      out.push_back(milliseconds(Clock::now() - begin));
    }
    return out;
  }

 private:
  struct Free {
    void operator()(llama_model* model) const { llama_model_free(model); }
    void operator()(llama_context* context) const { llama_free(context); }
  };

  void forget(std::size_t behind) {
    if (!llama_memory_seq_rm(llama_get_memory(context_.get()), 0, static_cast<llama_pos>(behind), -1)) {
      throw std::runtime_error("llama.cpp alone cannot forget what was read in vain");
    }
  }

  void compute(std::size_t size) {
    tokens_.resize(size);
    std::iota(tokens_.begin(), tokens_.end(), 100);
    const llama_batch batch = llama_batch_get_one(tokens_.data(), static_cast<int>(size));
    if (llama_decode(context_.get(), batch) != 0) throw std::runtime_error("llama.cpp alone failed");
    if (llama_get_logits_ith(context_.get(), -1) == nullptr) throw std::runtime_error("llama.cpp alone has no logits");
  }

  std::unique_ptr<llama_model, Free> model_;
  std::unique_ptr<llama_context, Free> context_;
  std::vector<llama_token> tokens_;
};

double median_but_first(std::vector<double> values) {
  values.erase(values.begin());
  return median(values);
}

void measure(const std::string& file, const Task& task, int runs, unsigned horizon) {
  struct Line {
    const char* name;
    Times times;
  };
  std::vector<Line> lines;
  {
    RecordingModel model(load_model(file));
    std::printf("%s; %s\n", model.description().c_str(), model.device().c_str());
    for (const bool ahead : {false, true}) {
      model.ahead = ahead;
      lines.push_back({ahead ? "mask, ahead" : "mask", plan_times(task, model, Guidance::kMask, horizon, runs)});
      lines.push_back(
          {ahead ? "uniform, ahead" : "uniform", plan_times(task, model, Guidance::kUniform, horizon, runs)});
    }
    const std::vector<TokenId> prompt(lines[0].times.records[0].prompt, TokenId{100});
    for (std::size_t i = 0; i < 4; ++i)
      lines.push_back({"free", free_times(model, prompt, lines[i].times.tokens, runs)});
  }
  Alone alone(file);
  std::printf(
      "| run | tokens | calls | tokens a call | ms | in calls | ms a call | llama.cpp alone | ratio | first run, alone "
      "|\n");
  std::printf("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
  std::vector<double> whole;
  for (const Line& line : lines) {
    const Record& record = line.times.records.back();
    const std::vector<double> alone_runs = alone.runs(record, runs);
    const double alone_ms = median_but_first(alone_runs);
    whole.push_back(line.times.of([](const Record& one) { return one.whole(); }));
    const double in_calls = line.times.of([](const Record& one) { return one.in_calls; });
    const auto calls = static_cast<double>(record.calls.size());
    std::size_t computed = 0;
    for (const Call& call : record.calls) computed += call.size;
    std::printf("| %s | %zu | %zu | %.1f | %.1f | %.1f | %.2f | %.1f | %.3f | %.1f, %.1f |\n", line.name,
                line.times.tokens, record.calls.size(), static_cast<double>(computed) / calls, whole.back(), in_calls,
                whole.back() / calls, alone_ms, whole.back() / alone_ms, line.times.records.front().whole(),
                alone_runs.front());
    std::printf("sizes:");
    for (const Call& call : record.calls) std::printf(" %zu", call.size);
    std::printf("\n");
  }
  for (std::size_t i = 0; i < 4; ++i) {
    std::printf("%s: %.2f times as fast as the same number of tokens without a constraint\n", lines[i].name,
                whole[i + 4] / whole[i]);
  }
}

}  // namespace
}  // namespace metactrl

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: llama_calls MODEL DOMAIN PROBLEM [RUNS] [HORIZON]\n");
    return 2;
  }
  try {
    const metactrl::Task task = metactrl::load_pddl(argv[2], argv[3]);
    const int runs = argc > 4 ? std::max(1, std::atoi(argv[4])) : 5;
    metactrl::measure(argv[1], task, runs, argc > 5 ? static_cast<unsigned>(std::atoi(argv[5])) : 0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "llama_calls: %s\n", error.what());
    return 1;
  }
}
