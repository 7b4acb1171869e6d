// A round takes tokens of all who wait, in the order in which they came, until the batch is full. When it fails, nobody
// knows whose fault it was (a full memory is mostly that of the longest); the sequences are cut back to where they
// were, and everyone gets a round alone. Only those whose own round fails are told.
#include "lm/llama_batcher.h"

#include <algorithm>

namespace metactrl::lm {

namespace {

// Of one sequence in one batch, while others wait: what llama.cpp computes in one go at most.
constexpr std::size_t kPortion = 256;
// Of what the last run took: how long the next one waits for those whom it let go.
constexpr int kPatience = 8;

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
  try {
    evaluation.keep_row();
  } catch (...) {
    taken_.release();
    throw;
  }
  taken_.release();
}

void LlamaBatcher::work() {
  std::vector<Waiter*> waiters;
  std::size_t gone = 0;  // in the last round
  Clock::duration round{};
  while (true) {
    {
      std::unique_lock lock(mutex_);
      const std::size_t all = arrivals_.size() + gone;
      arrived_.wait(lock, [&] { return stopping_ || !arrivals_.empty() || !waiters.empty(); });
      if (all > 1) arrived_.wait_for(lock, round / kPatience, [&] { return stopping_ || arrivals_.size() >= all; });
      if (stopping_) return;
      waiters.insert(waiters.end(), arrivals_.begin(), arrivals_.end());
      arrivals_.clear();
    }
    const std::scoped_lock lock(engine_.mutex());
    const Clock::time_point begin = Clock::now();
    gone = run_round(waiters);
    round = Clock::now() - begin;
  }
}

std::size_t LlamaBatcher::run_round(std::vector<Waiter*>& waiters) {
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
  std::size_t rows = 0;
  const std::size_t gone = std::erase_if(waiters, [&](Waiter* waiter) {
    if (waiter->failure == nullptr && waiter->evaluation->left() > 0) return false;
    rows += waiter->failure == nullptr ? 1 : 0;
    waiter->done.release();  // from here on it may be gone
    return true;
  });
  for (; rows > 0; --rows) taken_.acquire();
  return gone;
}

void LlamaBatcher::run_one_by_one(const std::vector<Waiter*>& waiters, std::size_t most) {
  for (Waiter* waiter : waiters) {
    if (waiter->failure != nullptr) continue;
    try {
      Evaluation* const alone[] = {waiter->evaluation};
      engine_.run_portions(alone, most);
      waiter->evaluation->keep_row();  // the next one's run overwrites it
    } catch (...) {
      waiter->failure = std::current_exception();
    }
  }
}

}  // namespace metactrl::lm
