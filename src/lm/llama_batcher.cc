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
  evaluations_.clear();
  for (Waiter* waiter : waiters) evaluations_.push_back(waiter->evaluation);
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
  std::erase_if(waiters, [](Waiter* waiter) {
    if (waiter->failure == nullptr && waiter->evaluation->left() > 0) return false;
    waiter->done.release();  // from here on it may be gone
    return true;
  });
}

void LlamaBatcher::run_one_by_one(const std::vector<Waiter*>& waiters, std::size_t most) {
  for (Waiter* waiter : waiters) {
    if (waiter->failure != nullptr) continue;
    try {
      Evaluation* const alone[] = {waiter->evaluation};
      engine_.run_portions(alone, most);
    } catch (...) {
      waiter->failure = std::current_exception();
    }
  }
}

}  // namespace metactrl::lm
