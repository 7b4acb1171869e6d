// A round takes tokens of all who wait, in the order in which they came, until the batch is full. When it fails, nobody
// knows whose fault it was (a full memory is mostly that of the longest); the sequences are cut back to where they
// were, and everyone gets a round alone. Only those whose own round fails are told.
#include "lm/llama_batcher.h"

#include <algorithm>

namespace metactrl::lm {

namespace {

// Of one sequence in one batch, while others wait: what llama.cpp computes in one go at most.
constexpr std::size_t kPortion = 256;

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
  {
    const std::scoped_lock lock(mutex_);
    arrivals_.push_back(&waiter);
  }
  arrived_.notify_one();
  waiter.done.acquire();
  if (waiter.failure) std::rethrow_exception(waiter.failure);
}

void LlamaBatcher::work() {
  std::vector<Waiter*> waiters;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [&] { return stopping_ || !arrivals_.empty() || !waiters.empty(); });
      if (stopping_) return;
      waiters.insert(waiters.end(), arrivals_.begin(), arrivals_.end());
      arrivals_.clear();
    }
    const std::scoped_lock lock(engine_.mutex());
    run_round(waiters);
  }
}

void LlamaBatcher::run_round(std::vector<Waiter*>& waiters) {
  const std::size_t most = waiters.size() > 1 ? kPortion : engine_.max_batch();
  try {
    run_portions(waiters, most);
  } catch (...) {
    for (const Portion& portion : portions_) {
      Evaluation& evaluation = *portion.waiter->evaluation;
      if (!engine_.cut(evaluation.sequence, evaluation.first)) portion.waiter->failure = std::current_exception();
    }
    run_one_by_one(waiters, most);
  }
  std::erase_if(waiters, [](Waiter* waiter) {
    if (waiter->failure == nullptr && waiter->evaluation->left() > 0) return false;
    waiter->done.release();  // from here on it may be gone
    return true;
  });
}

void LlamaBatcher::run_portions(const std::vector<Waiter*>& waiters, std::size_t most) {
  batch_.clear();
  portions_.clear();
  for (Waiter* waiter : waiters) {
    const std::size_t room = engine_.max_batch() - batch_.size();
    const bool full = room == 0 || portions_.size() == LlamaEngine::kMaxOutputs;
    if (full || waiter->failure != nullptr) continue;
    const std::size_t begin = batch_.size();
    portions_.push_back({waiter, begin, engine_.add(batch_, *waiter->evaluation, std::min(room, most))});
  }
  if (portions_.empty()) return;
  engine_.run(batch_);
  for (const Portion& portion : portions_) engine_.take(*portion.waiter->evaluation, portion.begin, portion.count);
}

void LlamaBatcher::run_one_by_one(const std::vector<Waiter*>& waiters, std::size_t most) {
  for (Waiter* waiter : waiters) {
    if (waiter->failure != nullptr) continue;
    try {
      run_portions({waiter}, most);
    } catch (...) {
      waiter->failure = std::current_exception();
    }
  }
}

}  // namespace metactrl::lm
