// LlamaBatcher: evaluations of many threads as one batch.
//
// A thread of its own runs the model. While it does, those who want something line up; then whatever waits is the next
// batch. So one session alone waits for nobody, and the more there are the more of them share a run, whose cost hardly
// grows with them. A long prompt is read in portions, so that others do not wait until its end.
//
// Those who were let go by a run come back soon, having chosen their next tokens, or are through. The next run waits for
// them a little, at most a fraction of what a run takes: otherwise it begins with whoever is first, and everybody waits
// for two.
//
// A session that began while the model ran has waited for that. It is waited for like those who come back, or it would
// wait for the next run, too.
//
// Each takes its own rows of logits out of llama.cpp's memory, all at the same time; the next run waits until they have.
#ifndef METACTRL_SRC_LM_LLAMA_BATCHER_H_
#define METACTRL_SRC_LM_LLAMA_BATCHER_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <semaphore>
#include <thread>
#include <vector>

#include "lm/llama_engine.h"

namespace metactrl::lm {

class LlamaBatcher {
 public:
  explicit LlamaBatcher(LlamaEngine& engine);
  // Nobody may be waiting.
  ~LlamaBatcher();
  LlamaBatcher(const LlamaBatcher&) = delete;
  LlamaBatcher& operator=(const LlamaBatcher&) = delete;

  // Waits until all tokens of the evaluation have been run. Throws what running them threw.
  void evaluate(Evaluation& evaluation);
  // A session has ended: if the last run let it go, the next one need not wait for it.
  void leave(llama_seq_id sequence);
  // A session has begun: if the next run waits for others, it waits for this one, too. The engine's lock is held.
  void welcome(llama_seq_id sequence);
  // How many shared the last run, at least 1.
  std::size_t company() const { return company_.load(std::memory_order_relaxed); }

 private:
  // One that waits.
  struct Waiter {
    Evaluation* evaluation = nullptr;
    std::exception_ptr failure;
    std::binary_semaphore done{0};
  };

  void work();
  // Runs a portion of every waiter's tokens, and lets those go that are done. Nobody needs the rows any more when it
  // returns.
  void run_round(std::vector<Waiter*>& waiters);
  // Whoever holds mutex_: whether those who were let go are accounted for.
  bool is_complete() const { return stopping_ || (expected_.empty() && !arrivals_.empty()); }
  // The same: this one is no longer waited for.
  void account_for(llama_seq_id sequence);
  void take_rows(Evaluation& evaluation);
  void run_one_by_one(const std::vector<Waiter*>& waiters, std::size_t most);

  using Clock = std::chrono::steady_clock;

  LlamaEngine& engine_;
  std::vector<Evaluation*> evaluations_;  // of those who wait
  std::atomic<std::size_t> company_ = 1;

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Waiter*> arrivals_;
  std::vector<llama_seq_id> expected_;  // let go by the last run, and neither back nor gone
  std::size_t rows_ = 0;                // how many have yet to take theirs
  std::condition_variable taken_;       // all of them
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace metactrl::lm

#endif  // METACTRL_SRC_LM_LLAMA_BATCHER_H_
