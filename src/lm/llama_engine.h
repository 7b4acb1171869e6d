// LlamaEngine: one llama.cpp context, shared by the sessions of a model.
//
// The context holds one memory (KV cache) of `context` cells for all sequences; a cell may belong to several of them,
// which is what makes forks cheap. Sequence numbers 0 to max_sequences-1 belong to sessions (and their checkpoints),
// the rest are scratch for TokenTree evaluation. Every call that touches the context needs the lock.
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

class LlamaEngine {
 public:
  // Nodes of a tree, that is rows of logits, in one call. Bounds the memory for them: 64 MiB with 128K tokens.
  static constexpr std::size_t kMaxOutputs = 128;

  // Throws InputError for options that cannot be met, ModelError when memory does not suffice.
  LlamaEngine(ModelPtr model, const ModelOptions& options, const std::string& file);

  std::mutex& mutex() { return mutex_; }
  std::size_t context_length() const { return context_length_; }
  std::size_t vocabulary_size() const { return vocabulary_size_; }
  std::size_t max_batch() const { return max_batch_; }
  unsigned max_sequences() const { return max_sequences_; }
  // Whether tokens can be dropped from the end of a sequence; not in recurrent models.
  bool can_cut() const { return can_cut_; }

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
  // After run: the logits of the batch's entry number `index`, which must have wanted them.
  std::span<const float> logits(std::size_t index) const;
  // Remembers a prefix that many prompts will have, and forgets the one before it. It is read when it is first needed.
  void expect_prefix(std::span<const TokenId> prefix);
  // If `tokens` begin with that prefix and go on behind it: puts it into the empty `sequence` and returns its length; 0
  // otherwise. Adds to `calls` how often the model was run for it. Throws as run does.
  std::size_t begin_with_prefix(llama_seq_id sequence, std::span<const TokenId> tokens, std::size_t& calls);
  // One batch that sessions share, to keep its memory.
  LlamaBatch& batch() { return batch_; }

 private:
  struct FreeContext {
    void operator()(llama_context* context) const { llama_free(context); }
  };

  std::int32_t decode(LlamaBatch& batch);
  // Gives up the memory of the prefix, not the prefix: it may be read again. False when it has none.
  bool free_prefix();

  ModelPtr model_;
  std::unique_ptr<llama_context, FreeContext> context_;
  llama_memory_t memory_ = nullptr;
  std::mutex mutex_;
  std::size_t context_length_ = 0;
  std::size_t vocabulary_size_ = 0;
  std::size_t max_batch_ = 0;
  std::size_t sliding_window_ = 0;
  unsigned max_sequences_ = 0;
  bool can_cut_ = true;
  std::vector<llama_seq_id> free_;  // the smallest at the end
  std::vector<llama_seq_id> scratch_;
  std::vector<TokenId> prefix_;
  std::optional<llama_seq_id> prefix_sequence_;  // holds all of the prefix
  LlamaBatch batch_;
};

}  // namespace metactrl::lm

#endif  // METACTRL_SRC_LM_LLAMA_ENGINE_H_
