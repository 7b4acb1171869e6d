// A session on a LlamaEngine.
#ifndef METACTRL_SRC_LM_LLAMA_SESSION_H_
#define METACTRL_SRC_LM_LLAMA_SESSION_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "lm/llama_engine.h"
#include "lm/token_tree.h"
#include "metactrl/language_model.h"

namespace metactrl::lm {

class LlamaSession : public Session {
 public:
  LlamaSession(std::shared_ptr<LlamaEngine> engine, std::span<const TokenId> prompt);
  ~LlamaSession() override;
  LlamaSession(const LlamaSession&) = delete;
  LlamaSession& operator=(const LlamaSession&) = delete;

  void append(std::span<const TokenId> tokens) override;
  std::span<const float> logits() override;
  std::size_t size() const override { return tokens_.size(); }
  void rollback(std::size_t size) override;
  std::unique_ptr<Session> fork() override;
  std::vector<std::vector<float>> score(std::span<const std::vector<TokenId>> paths) override;
  std::size_t num_calls() const override { return num_calls_; }
  // Tokens that were computed in these calls for this session, also those read ahead in vain; without what prompts have in common.
  std::size_t num_read() const { return num_read_; }
  std::size_t spare_tokens() const override { return engine_->spare_tokens(); }
  void expect(std::span<const std::vector<TokenId>> continuations) override;

  // Brings the logits of several sessions of one model up to date, as one batch for those that share a memory.
  static void prepare_together(std::span<LlamaSession* const> sessions);

 private:
  using Row = std::vector<float>;
  struct Checkpoint;

  // The fork's constructor; needs the lock.
  LlamaSession(const LlamaSession& other, llama_seq_id sequence);

  // Evaluates what is not in the memory yet. Takes the lock.
  void prepare_logits();
  // The same without a call, where what was appended is what was expected; and with one that reads `expected_`, too. False:
  // it is not so, and nothing has changed. Both take the lock.
  bool take_expected();
  bool read_expected();
  // In batches: what was guessed came true, or the beginning of it; true: its logits are those that are wanted.
  bool take_guess();
  // The memory is what was evaluated and nothing behind it. Takes the lock.
  void drop_guess();
  // What has to be evaluated for them; nothing where they are there. Takes the lock.
  std::optional<Evaluation> wanted_evaluation();
  void take_evaluation(Evaluation& evaluation);
  // Some of its tokens may have arrived. Takes the lock.
  void forget_evaluation(const Evaluation& evaluation);
  // Those after what was evaluated; may swap them for the last ones.
  void take_logits(Row& row);
  void keep_logits(std::span<const float> row);
  // Whether no fork has the same row, so that it may be changed.
  bool owns_logits() const;

  // --- these need the lock ---
  // Brings the memory to the first `size` tokens or fewer.
  void shorten(std::size_t size);
  void make_checkpoint();
  // Evaluates one group of the tree, and before it the session's tokens that are not evaluated yet; fills in the
  // log-probability of every child of the group's nodes.
  void run_group(const TokenTree& tree, const TokenTree::Group& group,
                 std::span<const std::vector<std::uint32_t>> children, std::vector<float>& log_probability);

  std::shared_ptr<LlamaEngine> engine_;
  llama_seq_id sequence_ = -1;
  std::vector<TokenId> tokens_;
  std::size_t evaluated_ = 0;    // how many of tokens_ are in the engine's memory
  std::shared_ptr<Row> logits_;  // changed only while it is not shared with forks
  std::size_t logits_size_ = 0;  // after how many tokens; 0: none
  std::shared_ptr<const Checkpoint> checkpoint_;
  std::size_t num_calls_ = 0;
  std::size_t num_read_ = 0;
  std::vector<std::vector<TokenId>> expected_;  // to be read with the next call
  // In batches: what the last run read behind evaluated_, in the session's own sequence.
  struct Guess {
    std::vector<TokenId> tokens;
    Row logits;
  } guess_;
  bool cut_ = false;  // the memory has tokens behind evaluated_ that did not come
  // What the last call read besides: behind how many tokens, in which run of the engine, and in which sequences.
  struct Ahead {
    std::size_t behind = 0;
    std::uint64_t run = 0;
    std::vector<std::vector<TokenId>> branches;
    std::vector<std::size_t> entries;  // of the batch: where each one's logits are
  } ahead_;
};

}  // namespace metactrl::lm

#endif  // METACTRL_SRC_LM_LLAMA_SESSION_H_
