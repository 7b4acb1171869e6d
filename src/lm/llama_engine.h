// LlamaEngine: one llama.cpp context, shared by the sessions of a model.
//
// The context holds one memory (KV cache) of `context` cells for all sequences; a cell may belong to several of them,
// which is what makes forks cheap. Sequence numbers 0 to max_sequences-1 belong to sessions (and their checkpoints),
// the rest are scratch for TokenTree evaluation. Every call that touches the context needs the lock.
//
// evaluate() runs one session's tokens. With ModelOptions::batched, evaluations of several threads that wait at the
// same time become one batch (llama_batcher.h).
#ifndef METACTRL_SRC_LM_LLAMA_ENGINE_H_
#define METACTRL_SRC_LM_LLAMA_ENGINE_H_

#include <llama.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lm/llama_runtime.h"
#include "metactrl/language_model.h"

namespace metactrl::lm {

class LlamaBatcher;

// A lock that is not taken twice in a row by the same thread while another one waits.
class FairMutex {
 public:
  void lock() {
    const std::scoped_lock turn(next_);
    mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex next_;
  std::mutex mutex_;
};

// Logits behind a token.
struct LogitsRow {
  std::vector<float> logits{};      // what it holds before is overwritten, its room used again
  std::span<const float> memory{};  // the same in llama.cpp's memory, until the engine runs again

  // Copies them, once.
  void keep() {
    if (!memory.empty()) logits.assign(memory.begin(), memory.end());
    memory = {};
  }
};

// Tokens of one sequence to be run, and what came of it.
struct Evaluation {
  llama_seq_id sequence = -1;
  std::span<const TokenId> tokens;  // the sequence's, from the beginning
  std::size_t first = 0;            // how many of them are in the memory already; grows
  bool cut = false;                 // the memory has others behind those, which go before anything is run
  LogitsRow row{};                  // after the last token
  std::size_t calls = 0;            // batches it was a part of
  std::size_t read = 0;             // tokens of it in them, the guess's included
  // What may come behind them: read in the same run where that has room.
  struct Guess {
    std::span<const TokenId> tokens{};
    bool read = false;
    LogitsRow row{};  // after its last token
  } guess{};

  std::size_t left() const { return tokens.size() - first; }
  void keep_rows() {
    row.keep();
    guess.row.keep();
  }
};

// The tokens of one call, each with its position, its sequences and whether its logits are wanted.
class LlamaBatch {
 public:
  void clear();
  void add(TokenId token, std::size_t position, std::span<const llama_seq_id> sequences, bool wants_logits);
  std::size_t size() const { return tokens_.size(); }
  // Valid until the next change.
  llama_batch view();

 private:
  std::vector<llama_token> tokens_;
  std::vector<llama_pos> positions_;
  std::vector<std::int32_t> sequence_counts_;
  std::vector<llama_seq_id> sequences_;
  std::vector<llama_seq_id*> sequence_lists_;
  std::vector<std::int8_t> wants_logits_;
};

// How long a session may become, and how many tokens the sessions share memory for.
struct ContextPlan {
  unsigned length = 0;
  unsigned cells = 0;
};
ContextPlan plan_context(const llama_model* model, const ModelOptions& options);
// About what that memory takes.
double context_bytes(const llama_model* model, unsigned cells);

class LlamaEngine {
 public:
  // Nodes of a tree, that is rows of logits, in one call. Bounds the memory for them: 64 MiB with 128K tokens.
  static constexpr std::size_t kMaxOutputs = 128;

  // ModelOptions::gpu_layers is how many the model has there. Throws InputError for options that cannot be met,
  // ModelError when memory does not suffice.
  LlamaEngine(ModelPtr model, const ModelOptions& options, const std::string& file);
  ~LlamaEngine();
  LlamaEngine(const LlamaEngine&) = delete;
  LlamaEngine& operator=(const LlamaEngine&) = delete;

  // Runs all tokens that are left. Needs the caller not to have the lock. Throws ModelError; the sequence may then hold
  // some of the tokens.
  void evaluate(Evaluation& evaluation);
  // The same for several sequences as one batch, and as few as hold them where there are more. What they are told depends on
  // which they are, by rounding, and on nobody else.
  void evaluate(std::span<Evaluation* const> evaluations);

  // Gives a sequence back without the lock, and so without waiting for a run that is under way; others can take it when
  // the lock is next had.
  void retire(llama_seq_id sequence);

  FairMutex& mutex() { return mutex_; }
  std::size_t context_length() const { return context_length_; }
  std::size_t vocabulary_size() const { return vocabulary_size_; }
  std::size_t max_batch() const { return max_batch_; }
  // That run the model.
  unsigned threads() const { return threads_; }
  unsigned max_sequences() const { return max_sequences_; }
  // Whether tokens can be dropped from the end of a sequence; not in recurrent models.
  bool can_cut() const { return can_cut_; }
  // Session::spare_tokens. Those who share a run share what it has to spare.
  std::size_t spare_tokens() const;
  // Whether sessions of several threads share runs.
  bool is_batched() const { return batcher_ != nullptr; }
  // A session has begun that is about to ask for something. Needs the lock.
  void welcome(llama_seq_id sequence);

  // --- all that follows needs the lock ---
  // Nothing when all are in use, or, with `spare`, when fewer than so many would be left.
  std::optional<llama_seq_id> take_sequence(std::size_t spare = 0);
  // Empties the sequence, and lets others take it.
  void give_back(llama_seq_id sequence);
  std::span<const llama_seq_id> scratch() const { return scratch_; }
  void empty(llama_seq_id sequence);
  void copy(llama_seq_id from, llama_seq_id to);
  // Drops the tokens from position `size` on. False when that is impossible; the sequence is empty then.
  bool cut(llama_seq_id sequence, std::size_t size);
  // Runs the model. Throws ModelError; sequences of the batch may then hold some of its tokens.
  void run(LlamaBatch& batch);
  // One batch with up to `most` of the tokens that are left of each, in this order, until it is full; and where room is
  // left, with the guesses of those that have none left. These get their rows. Throws as run does.
  void run_portions(std::span<Evaluation* const> evaluations, std::size_t most);
  // Who took part in the last one, also when it failed.
  struct Portion {
    Evaluation* evaluation = nullptr;
    std::size_t begin = 0;  // in the batch
    std::size_t count = 0;
    std::optional<std::size_t> guess_end{};  // the entry of the guess's last token
  };
  std::span<const Portion> portions() const { return portions_; }
  // After run: the logits of the batch's entry number `index`, which must have wanted them.
  std::span<const float> logits(std::size_t index) const;
  // Remembers a prefix that many prompts will have, and forgets the one before it. It is read when it is first needed.
  void expect_prefix(std::span<const TokenId> prefix);
  // If `tokens` begin with that prefix and go on behind it: puts it into the empty `sequence` and returns its length; 0
  // otherwise. Adds to `calls` how often the model was run for it. Throws as run does.
  std::size_t begin_with_prefix(llama_seq_id sequence, std::span<const TokenId> tokens, std::size_t& calls);
  // How often it was run.
  std::uint64_t num_runs() const { return num_runs_; }
  // What the last run read into the first `count` scratch sequences stays there until the next one begins.
  void keep_scratch(std::size_t count) { kept_scratch_ = count; }
  void drop_scratch();
  // Gives `to` the tokens from position `begin` on that `from` has.
  void append(llama_seq_id from, llama_seq_id to, std::size_t begin);
  // One batch that sessions share, to keep its memory.
  LlamaBatch& batch() { return batch_; }

 private:
  struct FreeContext {
    void operator()(llama_context* context) const { llama_free(context); }
  };

  std::int32_t decode(LlamaBatch& batch);
  // Adds up to `most` of the tokens that are left; how many. Those of the last one get logits.
  static std::size_t add(LlamaBatch& batch, const Evaluation& evaluation, std::size_t most);
  // Adds guesses to the portions that have one and are complete.
  void add_guesses();
  // Empties the sequences that were retired.
  void collect();
  // After run: takes what add() put into the batch.
  void take(const Portion& portion) const;
  // Gives up the memory of the prefix, not the prefix: it may be read again. False when it has none.
  bool free_prefix();

  ModelPtr model_;
  std::unique_ptr<llama_context, FreeContext> context_;
  llama_memory_t memory_ = nullptr;
  FairMutex mutex_;
  std::size_t context_length_ = 0;
  std::size_t memory_length_ = 0;  // of all sessions together
  std::size_t vocabulary_size_ = 0;
  std::size_t max_batch_ = 0;
  std::size_t max_pass_ = 0;  // tokens that the model computes in one go
  std::size_t sliding_window_ = 0;
  unsigned max_sequences_ = 0;
  unsigned threads_ = 0;
  bool can_cut_ = true;
  std::size_t spare_tokens_ = 0;
  std::uint64_t num_runs_ = 0;
  std::size_t kept_scratch_ = 0;
  std::vector<llama_seq_id> free_;  // the smallest at the end
  std::vector<llama_seq_id> scratch_;
  std::mutex retired_mutex_;
  std::vector<llama_seq_id> retired_;
  std::vector<TokenId> prefix_;
  std::optional<llama_seq_id> prefix_sequence_;  // holds all of the prefix
  LlamaBatch batch_;
  std::vector<Portion> portions_;
  std::unique_ptr<LlamaBatcher> batcher_;  // null: every thread runs its own
};

}  // namespace metactrl::lm

#endif  // METACTRL_SRC_LM_LLAMA_ENGINE_H_
