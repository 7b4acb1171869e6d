// Stopping work that would take too long: grounding, and executing a plan, can cost more than anybody can wait for.
//
//     internal::StopScope scope({.cancelled = [&] { return client_is_gone(); }, .seconds = 10, .work = 5'000'000});
//     Task task = load_pddl_text(domain, problem);      // throws Stopped when one of them says so
//
// Long loops call count_work() for every piece of work (a binding that is tried, a part of a formula that is built). On
// a thread without a scope that costs a comparison and does nothing; with one, the piece is counted, and now and then
// the clock and the caller are asked. A piece allocates a few hundred bytes at most, so the limit on work is one on
// memory, too.
//
// A scope holds for its thread only, for as long as the object lives; scopes nest, and the innermost one counts.
#ifndef METACTRL_SRC_SUPPORT_STOP_H_
#define METACTRL_SRC_SUPPORT_STOP_H_

#include <chrono>
#include <cstdint>
#include <functional>

#include "metactrl/error.h"

namespace metactrl::internal {

enum class StopReason { kCancelled, kSeconds, kWork };

class Stopped : public metactrl::Stopped {
 public:
  explicit Stopped(StopReason reason);
  StopReason reason() const { return reason_; }

 private:
  StopReason reason_;
};

struct StopLimits {
  std::function<bool()> cancelled;  // may be empty
  double seconds = 0;               // 0: no limit
  std::uint64_t work = 0;           // 0: no limit
  std::uint64_t bytes = 0;          // that may be held at a time; 0: no limit
};

class StopScope {
 public:
  explicit StopScope(StopLimits limits);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

  void count();
  void check() const;
  void check_bytes(std::uint64_t held) const {
    if (limits_.bytes != 0 && held > limits_.bytes) throw Stopped(StopReason::kWork);
  }

 private:
  // How many pieces between two looks at the clock: some milliseconds.
  static constexpr std::uint64_t kInterval = 4096;

  StopLimits limits_;
  std::chrono::steady_clock::time_point start_;
  std::uint64_t done_ = 0;
  StopScope* outer_;
};

extern thread_local StopScope* current_stop_scope;

// For loops whose pieces take milliseconds: the clock and the caller are asked every time.
inline void check_stop() {
  if (current_stop_scope != nullptr) current_stop_scope->check();
}

// For what grows and shrinks again: about how much is held now.
inline void check_bytes(std::uint64_t held) {
  if (current_stop_scope != nullptr) current_stop_scope->check_bytes(held);
}

inline void count_work() {
  if (current_stop_scope != nullptr) current_stop_scope->count();
}

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_STOP_H_
