// llama.cpp aborts the program for some mistakes (a batch larger than announced, a sequence number out of range), so
// all limits are checked on this side of the border.
#include "lm/llama_engine.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <new>
#include <thread>
#include <utility>

#include "lm/llama_batcher.h"
#include "metactrl/error.h"
#include "support/str_cat.h"

namespace metactrl::lm {

namespace {

using internal::str_cat;

constexpr std::uint64_t kSmallModel = std::uint64_t{64} << 20;
constexpr unsigned kDefaultContext = 8192;
constexpr unsigned kScratchSequences = 64;
constexpr unsigned kBatch = 2048;
// A GPU reads the weights once for a run, which is what takes the time, as long as the tokens are few: as long as it takes to
// compute so many tokens.
constexpr unsigned kSpareTokens = 256;

struct SequencePlan {
  unsigned sessions;
  unsigned scratch;
};

SequencePlan plan_sequences(const ModelOptions& options, bool can_cut, const std::string& file) {
  const auto most = static_cast<unsigned>(llama_max_parallel_sequences());
  // A recurrent model keeps a whole state per sequence, so there are few, and a tree's branches are evaluated one by
  // one.
  const unsigned scratch = can_cut ? kScratchSequences : 1;
  const unsigned sessions = options.max_sequences != 0 ? options.max_sequences : (can_cut ? 64 : 16);
  if (sessions + 1 > most) {
    throw InputError(file, str_cat(sessions, " sessions were asked for, but llama.cpp allows ", most - 1),
                     "lower ModelOptions::max_sequences");
  }
  return {sessions, std::min(scratch, most - sessions)};
}

// llama.cpp would ask for the memory of a context, get the promise of it, and be killed when it uses it.
void check_memory(const llama_model* model, unsigned context, const std::string& file) {
  const double needed = context_bytes(model, context);
  const double present = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (present <= 0 || needed < present) return;
  constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;
  throw ModelError(str_cat(file, ": a context of ", context, " tokens takes about ", std::ceil(needed / kGibibyte),
                           " GiB and this machine has ", std::floor(present / kGibibyte), "; ask for a smaller one"));
}

}  // namespace

ContextPlan plan_context(const llama_model* model, const ModelOptions& options) {
  const auto trained = static_cast<unsigned>(std::max(llama_model_n_ctx_train(model), 0));
  unsigned length = options.context;
  if (length == 0) length = trained == 0 ? kDefaultContext : std::min(trained, kDefaultContext);
  return {length, length * std::max(1U, options.shared_contexts)};
}

double context_bytes(const llama_model* model, unsigned cells) {
  const std::int32_t heads = std::max(llama_model_n_head(model), 1);
  const double head_width = static_cast<double>(llama_model_n_embd(model)) / heads;
  const double per_layer = 2.0 * head_width * llama_model_n_head_kv(model) * sizeof(std::uint16_t);
  constexpr double kBookkeeping = 64;
  return cells * (per_layer * llama_model_n_layer(model) + kBookkeeping);
}

void LlamaBatch::clear() {
  tokens_.clear();
  positions_.clear();
  sequence_counts_.clear();
  sequences_.clear();
  wants_logits_.clear();
}

void LlamaBatch::add(TokenId token, std::size_t position, std::span<const llama_seq_id> sequences, bool wants_logits) {
  tokens_.push_back(static_cast<llama_token>(token));
  positions_.push_back(static_cast<llama_pos>(position));
  sequence_counts_.push_back(static_cast<std::int32_t>(sequences.size()));
  sequences_.insert(sequences_.end(), sequences.begin(), sequences.end());
  wants_logits_.push_back(wants_logits ? 1 : 0);
}

llama_batch LlamaBatch::view() {
  sequence_lists_.clear();
  std::size_t first = 0;
  for (const std::int32_t count : sequence_counts_) {
    sequence_lists_.push_back(sequences_.data() + first);
    first += static_cast<std::size_t>(count);
  }
  llama_batch batch{};
  batch.n_tokens = static_cast<std::int32_t>(tokens_.size());
  batch.token = tokens_.data();
  batch.pos = positions_.data();
  batch.n_seq_id = sequence_counts_.data();
  batch.seq_id = sequence_lists_.data();
  batch.logits = wants_logits_.data();
  return batch;
}

LlamaEngine::LlamaEngine(ModelPtr model, const ModelOptions& options, const std::string& file)
    : model_(std::move(model)) {
  can_cut_ = !llama_model_is_recurrent(model_.get()) && !llama_model_is_hybrid(model_.get());
  const SequencePlan sequences = plan_sequences(options, can_cut_, file);
  const auto [wanted, cells] = plan_context(model_.get(), options);
  if (options.gpu_layers.value_or(0) == 0) check_memory(model_.get(), cells, file);
  unsigned threads = options.threads;
  if (threads == 0) {
    // Threads meet after every layer; below this size they wait longer than they work.
    const bool small = llama_model_size(model_.get()) < kSmallModel;
    threads = small ? 1U : std::max(1U, std::thread::hardware_concurrency());
  }

  threads_ = threads;
  llama_context_params params = llama_context_default_params();
  params.n_ctx = cells;
  params.n_batch = std::min(wanted, kBatch);
  params.n_ubatch = std::min(params.n_batch, params.n_ubatch);
  max_pass_ = params.n_ubatch;
  params.n_seq_max = sequences.sessions + sequences.scratch;
  // Rows of logits are what costs memory here; llama.cpp wants at least one per sequence.
  params.n_outputs_max = std::max<std::uint32_t>(params.n_seq_max, kMaxOutputs);
  params.n_threads = static_cast<std::int32_t>(threads);
  params.n_threads_batch = static_cast<std::int32_t>(threads);
  // One memory for all sequences, and all of it kept where a model attends to a window only: forks share, and the end
  // can be cut.
  params.kv_unified = true;
  params.swa_full = true;
  params.no_perf = true;
  {
    ErrorLog log;
    try {
      context_.reset(llama_init_from_model(model_.get(), params));
    } catch (const std::exception& error) {
      throw ModelError(str_cat(file, ": a context of ", wanted, " tokens cannot be made: ", error.what()));
    }
    if (context_ == nullptr) {
      throw ModelError(str_cat(file, ": a context of ", wanted, " tokens cannot be made (", log.reason(),
                               "); if memory is short, ask for a smaller one"));
    }
  }
  memory_ = llama_get_memory(context_.get());
  if (memory_ == nullptr)
    throw InputError(file, "this model does not generate text", "use a generative language model");
  context_length_ = std::min<std::size_t>(llama_n_ctx(context_.get()), wanted);
  memory_length_ = llama_n_ctx(context_.get());
  vocabulary_size_ = static_cast<std::size_t>(llama_vocab_n_tokens(llama_model_get_vocab(model_.get())));
  max_batch_ = llama_n_batch(context_.get());
  sliding_window_ = static_cast<std::size_t>(std::max(llama_model_n_swa(model_.get()), 0));
  max_sequences_ = sequences.sessions;
  const bool on_gpus =
      options.gpu_layers.value_or(0) > static_cast<unsigned>(std::max(llama_model_n_layer(model_.get()), 0));
  if (can_cut_) spare_tokens_ = options.spare_tokens.value_or(on_gpus ? kSpareTokens : 0);
  retired_.reserve(sequences.sessions);
  for (unsigned i = sequences.sessions; i-- > 0;) free_.push_back(static_cast<llama_seq_id>(i));
  for (unsigned i = 0; i < sequences.scratch; ++i)
    scratch_.push_back(static_cast<llama_seq_id>(sequences.sessions + i));
  if (options.batched) batcher_ = std::make_unique<LlamaBatcher>(*this);
}

LlamaEngine::~LlamaEngine() = default;

std::size_t LlamaEngine::spare_tokens() const {
  return batcher_ == nullptr ? spare_tokens_ : spare_tokens_ / batcher_->company();
}

void LlamaEngine::welcome(llama_seq_id sequence) {
  if (batcher_ != nullptr) batcher_->welcome(sequence);
}

void LlamaEngine::evaluate(Evaluation& evaluation) {
  if (batcher_ != nullptr) {
    batcher_->evaluate(evaluation);
    return;
  }
  Evaluation* const alone[] = {&evaluation};
  evaluate(alone);
}

void LlamaEngine::evaluate(std::span<Evaluation* const> evaluations) {
  const std::scoped_lock lock(mutex_);
  const auto unfinished = [](const Evaluation* evaluation) { return evaluation->left() > 0; };
  while (std::any_of(evaluations.begin(), evaluations.end(), unfinished)) {
    run_portions(evaluations, max_batch_);
    for (const Portion& portion : portions_) {
      if (portion.evaluation->left() == 0) portion.evaluation->keep_rows();
    }
  }
}

void LlamaEngine::run_portions(std::span<Evaluation* const> evaluations, std::size_t most) {
  batch_.clear();
  portions_.clear();
  for (Evaluation* evaluation : evaluations) {
    const std::size_t room = max_batch_ - batch_.size();
    if (room == 0 || portions_.size() == kMaxOutputs) break;
    if (evaluation->left() == 0) continue;
    // Where that is impossible the sequence is read again.
    if (std::exchange(evaluation->cut, false) && !cut(evaluation->sequence, evaluation->first)) evaluation->first = 0;
    const std::size_t begin = batch_.size();
    portions_.push_back({evaluation, begin, add(batch_, *evaluation, std::min(room, most))});
  }
  if (portions_.empty()) return;
  add_guesses();
  run(batch_);
  for (const Portion& portion : portions_) take(portion);
}

std::size_t LlamaEngine::add(LlamaBatch& batch, const Evaluation& evaluation, std::size_t most) {
  const std::size_t count = std::min(evaluation.left(), most);
  const std::array<llama_seq_id, 1> own = {evaluation.sequence};
  for (std::size_t i = evaluation.first; i < evaluation.first + count; ++i) {
    batch.add(evaluation.tokens[i], i, own, i + 1 == evaluation.tokens.size());
  }
  return count;
}

void LlamaEngine::add_guesses() {
  std::size_t outputs = portions_.size();
  for (Portion& portion : portions_) {
    const Evaluation& evaluation = *portion.evaluation;
    const std::span<const TokenId> guess = evaluation.guess.tokens;
    const bool fits = outputs < kMaxOutputs && batch_.size() + guess.size() <= std::min(max_pass_, max_batch_);
    if (guess.empty() || portion.count < evaluation.left() || !fits) continue;
    const std::array<llama_seq_id, 1> own = {evaluation.sequence};
    for (std::size_t i = 0; i < guess.size(); ++i) {
      batch_.add(guess[i], evaluation.tokens.size() + i, own, i + 1 == guess.size());
    }
    portion.guess_end = batch_.size() - 1;
    ++outputs;
  }
}

void LlamaEngine::take(const Portion& portion) const {
  Evaluation& evaluation = *portion.evaluation;
  evaluation.first += portion.count;
  ++evaluation.calls;
  evaluation.read += portion.count;
  if (evaluation.left() == 0) evaluation.row.memory = logits(portion.begin + portion.count - 1);
  if (!portion.guess_end) return;
  evaluation.read += evaluation.guess.tokens.size();
  evaluation.guess.read = true;
  evaluation.guess.row.memory = logits(*portion.guess_end);
}

void LlamaEngine::retire(llama_seq_id sequence) {
  {
    const std::scoped_lock lock(retired_mutex_);
    retired_.push_back(sequence);
  }
  if (batcher_ != nullptr) batcher_->leave(sequence);
}

void LlamaEngine::collect() {
  const std::scoped_lock lock(retired_mutex_);
  for (const llama_seq_id sequence : retired_) give_back(sequence);
  retired_.clear();
}

std::optional<llama_seq_id> LlamaEngine::take_sequence(std::size_t spare) {
  collect();
  if (free_.empty() && spare == 0) free_prefix();
  if (free_.size() <= spare) return std::nullopt;
  const llama_seq_id sequence = free_.back();
  free_.pop_back();
  return sequence;
}

void LlamaEngine::give_back(llama_seq_id sequence) {
  empty(sequence);
  // In order, so that the numbers in use depend on what is alive and not on the past.
  free_.insert(std::upper_bound(free_.begin(), free_.end(), sequence, std::greater<>()), sequence);
}

void LlamaEngine::empty(llama_seq_id sequence) { llama_memory_seq_rm(memory_, sequence, -1, -1); }

void LlamaEngine::drop_scratch() {
  for (; kept_scratch_ > 0; --kept_scratch_) empty(scratch_[kept_scratch_ - 1]);
}

void LlamaEngine::append(llama_seq_id from, llama_seq_id to, std::size_t begin) {
  llama_memory_seq_cp(memory_, from, to, static_cast<llama_pos>(begin), -1);
}

void LlamaEngine::copy(llama_seq_id from, llama_seq_id to) { llama_memory_seq_cp(memory_, from, to, -1, -1); }

bool LlamaEngine::cut(llama_seq_id sequence, std::size_t size) {
  if (size == 0) {
    empty(sequence);
    return true;
  }
  if (can_cut_ && llama_memory_seq_rm(memory_, sequence, static_cast<llama_pos>(size), -1)) {
    const llama_pos first = llama_memory_seq_pos_min(memory_, sequence);
    const llama_pos last = llama_memory_seq_pos_max(memory_, sequence);
    // A sliding window's memory may have dropped what the window showed when it was further back.
    const bool whole =
        first == 0 || (sliding_window_ > 0 && first >= 0 && static_cast<std::size_t>(first) + sliding_window_ <= size);
    if (whole && static_cast<std::size_t>(last) + 1 == size) return true;
  }
  empty(sequence);
  return false;
}

void LlamaEngine::expect_prefix(std::span<const TokenId> prefix) {
  if (std::equal(prefix.begin(), prefix.end(), prefix_.begin(), prefix_.end())) return;
  free_prefix();
  prefix_.assign(prefix.begin(), prefix.end());
}

bool LlamaEngine::free_prefix() {
  if (!prefix_sequence_) return false;
  give_back(*std::exchange(prefix_sequence_, std::nullopt));
  return true;
}

std::size_t LlamaEngine::begin_with_prefix(llama_seq_id sequence, std::span<const TokenId> tokens, std::size_t& calls) {
  // At least one token has to be left: its logits are what the session begins with.
  if (prefix_.empty() || tokens.size() <= prefix_.size()) return 0;
  if (!std::equal(prefix_.begin(), prefix_.end(), tokens.begin())) return 0;
  if (!prefix_sequence_) {
    // Not when sessions are scarce: it saves time, not more.
    const auto taken = take_sequence(max_sequences_ / 2);
    if (!taken) return 0;
    const std::array<llama_seq_id, 1> own = {*taken};
    try {
      for (std::size_t begin = 0; begin < prefix_.size(); begin += max_batch_) {
        batch_.clear();
        for (std::size_t i = begin; i < std::min(prefix_.size(), begin + max_batch_); ++i) {
          batch_.add(prefix_[i], i, own, false);
        }
        run(batch_);
        ++calls;
      }
    } catch (...) {
      give_back(*taken);
      throw;
    }
    prefix_sequence_ = taken;
  }
  copy(*prefix_sequence_, sequence);
  return prefix_.size();
}

std::int32_t LlamaEngine::decode(LlamaBatch& batch) {
  try {
    return llama_decode(context_.get(), batch.view());
  } catch (const std::bad_alloc&) {
    throw ModelError("not enough memory to run the model");
  } catch (const std::exception& error) {
    throw ModelError(str_cat("the model failed: ", error.what()));
  }
}

void LlamaEngine::run(LlamaBatch& batch) {
  collect();
  drop_scratch();
  ++num_runs_;
  ErrorLog log;
  std::int32_t status = decode(batch);
  // Where there is no room (1), the prefix is the first to go. Sessions that began with it keep their share.
  if (status == 1 && free_prefix()) status = decode(batch);
  if (status == 0) return;
  if (status == 1) {
    throw ModelError(str_cat("the model's memory of ", memory_length_,
                             " tokens, which all sessions share, has no room for ", batch.size(),
                             " more; use a larger context or fewer sessions"));
  }
  throw ModelError(str_cat("the model failed with status ", status, ": ", log.reason()));
}

std::span<const float> LlamaEngine::logits(std::size_t index) const {
  const float* row = llama_get_logits_ith(context_.get(), static_cast<std::int32_t>(index));
  if (row == nullptr) throw ModelError("the model gave no logits");
  return {row, vocabulary_size_};
}

}  // namespace metactrl::lm
