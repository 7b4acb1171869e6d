// What is counted: every kept prompt with its tokens and one session, whether somebody uses it or not; every lease with
// its sessions and their longest answers. Prompts that begin alike share cells of the model's memory and are counted
// twice, which errs on the safe side.
//
// A long prompt is read in portions, and between them it is asked whether the client is still there. When it is not,
// one of those who wait for the same prompt reads it anew.
//
// A prompt that leaves is counted until its session is gone, since only then others can have its room. Sessions are
// made and destroyed without the lock: both wait for the model, which may be in the middle of a batch.
#include "serve/model_memory.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <new>

namespace metactrl::serve {

namespace {

constexpr auto kPoll = std::chrono::milliseconds(50);
// Below this it is not worth the way round.
constexpr std::size_t kCommonBeginning = 16;
// Of a prompt, between two looks at whether somebody still wants it.
constexpr std::size_t kPortion = 1024;
// However much room there is: every cell costs those who look past it a little.
constexpr std::size_t kMostKept = 32;

std::size_t or_unlimited(std::size_t units) { return units == 0 ? std::numeric_limits<std::size_t>::max() / 4 : units; }

std::size_t common_beginning(std::span<const TokenId> a, std::span<const TokenId> b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

}  // namespace

struct ModelMemory::Kept {
  explicit Kept(std::span<const TokenId> prompt) : tokens(prompt.begin(), prompt.end()) {}

  const std::vector<TokenId> tokens;
  std::size_t users = 0;
  bool read = false;
  std::exception_ptr failure;        // of reading it
  bool abandoned = false;            // it failed because its reader left
  std::mutex mutex;                  // a session is one thread's at a time
  std::unique_ptr<Session> session;  // once it is read

  std::unique_ptr<Session> fork() {
    const std::scoped_lock lock(mutex);
    return session->fork();
  }
};

// --- leases ----------------------------------------------------------------------------------------------------------

ModelMemory::Lease& ModelMemory::Lease::operator=(Lease&& other) noexcept {
  leave();
  memory_ = std::exchange(other.memory_, nullptr);
  kept_ = std::move(other.kept_);
  needs_ = other.needs_;
  return *this;
}

void ModelMemory::Lease::leave() {
  if (memory_ == nullptr) return;
  ModelMemory& memory = *std::exchange(memory_, nullptr);
  const std::scoped_lock lock(memory.mutex_);
  memory.release(*kept_, needs_);
}

std::unique_ptr<Session> ModelMemory::Lease::session() const { return kept_->fork(); }

std::span<const TokenId> ModelMemory::Lease::prompt() const { return kept_->tokens; }

// --- room ------------------------------------------------------------------------------------------------------------

ModelMemory::ModelMemory(std::shared_ptr<LanguageModel> model, std::size_t tokens, std::size_t sessions)
    : model_(std::move(model)), max_tokens_(or_unlimited(tokens)), max_sessions_(or_unlimited(sessions)) {}

ModelMemory::~ModelMemory() = default;

bool ModelMemory::fits(std::size_t tokens, std::size_t sessions) const {
  return used_tokens_ + kept_tokens_ + tokens <= max_tokens_ &&
         used_sessions_ + kept_sessions_ + sessions <= max_sessions_;
}

std::shared_ptr<ModelMemory::Kept> ModelMemory::find(std::span<const TokenId> prompt) const {
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const std::shared_ptr<Kept>& kept) {
    return std::equal(prompt.begin(), prompt.end(), kept->tokens.begin(), kept->tokens.end());
  });
  return found == kept_.end() ? nullptr : *found;
}

void ModelMemory::wait_for_room(Lock& lock, std::span<const TokenId> prompt, const Needs& needs,
                                const Stop& cancelled) {
  const auto place = queue_.insert(queue_.end(), next_ticket_++);
  while (true) {
    if (place == queue_.begin()) {
      const std::shared_ptr<Kept> mine = find(prompt);
      const std::size_t tokens = needs.sessions * needs.answer + (mine != nullptr ? 0 : prompt.size());
      const std::size_t sessions = needs.sessions + (mine != nullptr ? 0 : 1);
      const bool crowded = mine == nullptr && kept_.size() >= kMostKept;
      if (fits(tokens, sessions) && !crowded) break;
      if (drop_one(lock, mine.get())) continue;
      // Those that are kept are all in use, or there is nobody else at all.
      if (leases_ == 0 || fits(tokens, sessions)) break;
    }
    changed_.wait_for(lock, kPoll);
    if (cancelled && cancelled()) {
      queue_.erase(place);
      changed_.notify_all();
      throw Stopped(Stopped::kCancelled);
    }
  }
  queue_.erase(place);
  changed_.notify_all();
}

bool ModelMemory::drop_one(Lock& lock, const Kept* but) {
  const auto oldest = std::find_if(kept_.rbegin(), kept_.rend(), [&](const std::shared_ptr<Kept>& kept) {
    return kept->users == 0 && kept.get() != but;
  });
  if (oldest == kept_.rend()) return false;
  const std::shared_ptr<Kept> leaving = *oldest;
  kept_.erase(std::next(oldest).base());
  lock.unlock();
  leaving->session.reset();
  lock.lock();
  forget(*leaving);
  return true;
}

void ModelMemory::forget(const Kept& kept) {
  kept_tokens_ -= kept.tokens.size();
  --kept_sessions_;
  changed_.notify_all();
}

void ModelMemory::release(Kept& kept, const Needs& needs) {
  --leases_;
  used_tokens_ -= needs.sessions * needs.answer;
  used_sessions_ -= needs.sessions;
  --kept.users;
  changed_.notify_all();
}

// --- prompts ---------------------------------------------------------------------------------------------------------

ModelMemory::Lease ModelMemory::enter(std::span<const TokenId> prompt, Needs needs, const Stop& cancelled) {
  // The model says it best.
  if (prompt.empty() || prompt.size() + needs.answer > model_->context_length()) model_->start(prompt, needs.answer);
  while (true) {
    bool known = false;
    Lease lease = take_room(prompt, needs, cancelled, known);
    if (!known) {
      read(lease.kept_, needs, cancelled);
      return lease;
    }
    if (wait_until_read(*lease.kept_, cancelled)) return lease;
  }
}

ModelMemory::Lease ModelMemory::take_room(std::span<const TokenId> prompt, const Needs& needs, const Stop& cancelled,
                                          bool& known) {
  Lock lock(mutex_);
  wait_for_room(lock, prompt, needs, cancelled);
  std::shared_ptr<Kept> kept = find(prompt);
  known = kept != nullptr;
  if (known) {
    kept_.splice(kept_.begin(), kept_, std::find(kept_.begin(), kept_.end(), kept));
    ++counts_.prompts_reused;
    counts_.tokens_reused += prompt.size();
  } else {
    kept = std::make_shared<Kept>(prompt);
    kept_.push_front(kept);
    kept_tokens_ += prompt.size();
    ++kept_sessions_;
    ++counts_.prompts_read;
  }
  ++leases_;
  ++kept->users;
  used_tokens_ += needs.sessions * needs.answer;
  used_sessions_ += needs.sessions;
  return {this, kept, needs};
}

void ModelMemory::read(const std::shared_ptr<Kept>& kept, const Needs& needs, const Stop& cancelled) {
  std::unique_ptr<Session> session;
  std::exception_ptr failure;
  bool abandoned = false;
  try {
    session = begin(kept->tokens, needs.answer, cancelled);
  } catch (const Stopped&) {
    failure = std::current_exception();
    abandoned = true;
  } catch (const std::bad_alloc&) {
    failure = std::current_exception();
    abandoned = true;
  } catch (...) {
    failure = std::current_exception();
  }
  const Lock lock(mutex_);
  kept->session = std::move(session);
  kept->failure = failure;
  kept->abandoned = abandoned;
  kept->read = true;
  changed_.notify_all();
  if (failure == nullptr) return;
  kept_.remove(kept);
  forget(*kept);
  std::rethrow_exception(failure);
}

std::unique_ptr<Session> ModelMemory::begin(std::span<const TokenId> prompt, std::size_t answer,
                                            const Stop& cancelled) {
  std::shared_ptr<Kept> nearest;
  std::size_t common = 0;
  {
    const Lock lock(mutex_);
    for (const std::shared_ptr<Kept>& kept : kept_) {
      if (kept->session == nullptr) continue;
      const std::size_t length = common_beginning(prompt, kept->tokens);
      if (length < kCommonBeginning || length <= common) continue;
      nearest = kept;
      common = length;
    }
    if (nearest != nullptr) {
      ++nearest->users;  // so that it stays
      counts_.tokens_reused += common;
    }
  }
  std::unique_ptr<Session> session;
  std::size_t done = common;
  if (nearest == nullptr) {
    done = std::min(kPortion, prompt.size());
    session = model_->start(prompt.first(done), answer);
  } else {
    session = fork_of(*nearest);
    session->rollback(common);
    if (common == prompt.size()) session->logits();  // once, and not by everyone behind it
  }
  while (done < prompt.size()) {
    if (cancelled && cancelled()) throw Stopped(Stopped::kCancelled);
    const std::size_t portion = std::min(kPortion, prompt.size() - done);
    session->append(prompt.subspan(done, portion));
    session->logits();
    done += portion;
  }
  return session;
}

std::unique_ptr<Session> ModelMemory::fork_of(Kept& kept) {
  std::unique_ptr<Session> session;
  std::exception_ptr failure;
  try {
    session = kept.fork();
  } catch (...) {
    failure = std::current_exception();
  }
  const Lock lock(mutex_);
  --kept.users;
  changed_.notify_all();
  if (failure != nullptr) std::rethrow_exception(failure);
  return session;
}

bool ModelMemory::wait_until_read(const Kept& kept, const Stop& cancelled) {
  Lock lock(mutex_);
  while (!kept.read) {
    changed_.wait_for(lock, kPoll);
    if (!kept.read && cancelled && cancelled()) throw Stopped(Stopped::kCancelled);
  }
  if (kept.failure != nullptr && !kept.abandoned) std::rethrow_exception(kept.failure);
  return kept.failure == nullptr;
}

ModelMemory::Counts ModelMemory::counts() const {
  const Lock lock(mutex_);
  Counts out = counts_;
  out.waiting = queue_.size();
  out.tokens = used_tokens_ + kept_tokens_;
  out.prompts_kept = kept_.size();
  return out;
}

}  // namespace metactrl::serve
