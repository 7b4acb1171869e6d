// A round takes tokens of all who wait, in the order in which they came, until the batch is full. When it fails, nobody
// knows whose fault it was (a full memory is mostly that of the longest); the sequences are cut back to where they
// were, and everyone gets a round alone. Only those whose own round fails are told.
#include "lm/llama_batcher.h"

#include <algorithm>

namespace metactrl::lm {

namespace {

// Of one sequence in one batch, while others wait: what llama.cpp computes in one go at most.
constexpr std::size_t kPortion = 256;
// Of what the last run took: how long the next one waits at most for those whom it let go.
constexpr int kPatience = 4;

}  // namespace

LlamaBatcher::LlamaBatcher(LlamaEngine& engine) : engine_(engine), thread_([this] { work(); }) {}

LlamaBatcher::~LlamaBatcher() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  arrived_.notify_one();
  thread_.join();
}

void LlamaBatcher::evaluate(Evaluation& evaluation) {
  if (evaluation.left() == 0) return;
  Waiter waiter;
  waiter.evaluation = &evaluation;
  bool complete = false;
  {
    const std::scoped_lock lock(mutex_);
    arrivals_.push_back(&waiter);
    account_for(evaluation.sequence);
    complete = is_complete();
  }
  // Not for everybody who comes: the thread that runs the model has nothing to do until the last one is there.
  if (complete) arrived_.notify_one();
  waiter.done.acquire();
  if (waiter.failure) std::rethrow_exception(waiter.failure);
  take_rows(evaluation);
}

void LlamaBatcher::take_rows(Evaluation& evaluation) {
  const auto took = [this] {
    const std::scoped_lock lock(mutex_);
    if (--rows_ == 0) taken_.notify_one();
  };
  try {
    evaluation.keep_rows();
  } catch (...) {
    took();
    throw;
  }
  took();
}

void LlamaBatcher::leave(llama_seq_id sequence) {
  bool complete = false;
  {
    const std::scoped_lock lock(mutex_);
    account_for(sequence);
    complete = is_complete();
  }
  if (complete) arrived_.notify_one();
}

void LlamaBatcher::welcome(llama_seq_id sequence) {
  const std::scoped_lock lock(mutex_);
  // While a run waits for others it ends by the clock; nobody but those it expects would wake it otherwise.
  if (!expected_.empty()) expected_.push_back(sequence);
}

void LlamaBatcher::account_for(llama_seq_id sequence) {
  const auto found = std::find(expected_.begin(), expected_.end(), sequence);
  if (found == expected_.end()) return;
  *found = expected_.back();
  expected_.pop_back();
}

void LlamaBatcher::work() {
  std::vector<Waiter*> waiters;
  Clock::duration round{};
  while (true) {
    {
      std::unique_lock lock(mutex_);
      // Those who wait already are worth waiting for company; the last one to come back says so.
      if (!expected_.empty()) arrived_.wait_for(lock, round / kPatience, [&] { return is_complete(); });
      expected_.clear();
      arrived_.wait(lock, [&] { return stopping_ || !arrivals_.empty() || !waiters.empty(); });
      if (stopping_) return;
      waiters.insert(waiters.end(), arrivals_.begin(), arrivals_.end());
      arrivals_.clear();
    }
    const std::scoped_lock lock(engine_.mutex());
    const Clock::time_point begin = Clock::now();
    run_round(waiters);
    round = Clock::now() - begin;
  }
}

void LlamaBatcher::run_round(std::vector<Waiter*>& waiters) {
  const std::size_t most = waiters.size() > 1 ? kPortion : engine_.max_batch();
  evaluations_.clear();
  for (Waiter* waiter : waiters) evaluations_.push_back(waiter->evaluation);
  company_.store(waiters.size(), std::memory_order_relaxed);
  try {
    engine_.run_portions(evaluations_, most);
  } catch (...) {
    for (const LlamaEngine::Portion& portion : engine_.portions()) {
      const auto of_portion = [&](const Waiter* waiter) { return waiter->evaluation == portion.evaluation; };
      if (engine_.cut(portion.evaluation->sequence, portion.evaluation->first)) continue;
      (*std::find_if(waiters.begin(), waiters.end(), of_portion))->failure = std::current_exception();
    }
    run_one_by_one(waiters, most);
  }
  const auto is_done = [](const Waiter* waiter) {
    return waiter->failure != nullptr || waiter->evaluation->left() == 0;
  };
  {
    const std::scoped_lock lock(mutex_);
    for (const Waiter* waiter : waiters) {
      if (is_done(waiter)) expected_.push_back(waiter->evaluation->sequence);
      rows_ += is_done(waiter) && waiter->failure == nullptr ? 1 : 0;
    }
  }
  std::erase_if(waiters, [&](Waiter* waiter) {
    if (!is_done(waiter)) return false;
    waiter->done.release();  // from here on it may be gone
    return true;
  });
  std::unique_lock lock(mutex_);
  taken_.wait(lock, [this] { return rows_ == 0; });
}

void LlamaBatcher::run_one_by_one(const std::vector<Waiter*>& waiters, std::size_t most) {
  for (Waiter* waiter : waiters) {
    if (waiter->failure != nullptr) continue;
    try {
      Evaluation* const alone[] = {waiter->evaluation};
      waiter->evaluation->guess.tokens = {};  // perhaps there is no room for more than what has to be
      engine_.run_portions(alone, most);
      waiter->evaluation->keep_rows();  // the next one's run overwrites it
    } catch (...) {
      waiter->failure = std::current_exception();
    }
  }
}

}  // namespace metactrl::lm
