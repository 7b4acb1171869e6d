// Meter: what a computation has done so far, and whether it may go on.
//
//     internal::Meter meter(stop, {.work = 5'000'000});
//     for (...) {
//       meter.piece();   // throws Stopped when the caller says so, or when the work is spent
//       ...
//     }
//
// Loops that can take long are handed a meter by reference, all the way down, and count what they do. Now and then, some
// milliseconds apart, the caller's Stop (error.h) is asked; a loop whose work is counted in pieces or steps is so never
// far from the next question. Two units: a step takes some nanoseconds (an effect of the relaxed task that is looked
// at), a piece about a microsecond (a binding that is tried, a part of a formula that is built). A piece allocates a few
// hundred bytes at most, so a limit on work is one on memory, too.
//
// A meter belongs to one computation on one thread.
#ifndef METACTRL_SRC_SUPPORT_METER_H_
#define METACTRL_SRC_SUPPORT_METER_H_

#include <cstdint>
#include <limits>
#include <utility>

#include "metactrl/error.h"

namespace metactrl::internal {

struct MeterLimits {
  std::uint64_t work = 0;   // in pieces; 0: no limit
  std::uint64_t bytes = 0;  // that may be held at a time; 0: no limit
};

class Meter {
 public:
  static constexpr std::uint64_t kStepsPerPiece = 256;
  // Steps between two questions: some milliseconds.
  static constexpr std::uint64_t kInterval = 1'000'000;

  // Ends nothing.
  Meter() = default;
  explicit Meter(Stop stop, const MeterLimits& limits = {});
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  void step(std::uint64_t steps) {
    done_ += steps;
    if (done_ >= next_) look();
  }
  void piece() { step(kStepsPerPiece); }
  const Stop& stop() const { return stop_; }
  std::uint64_t steps() const { return done_; }

  // For what takes milliseconds by itself: the caller is asked now.
  void ask() const;
  // For what grows and shrinks again: about how much is held now.
  void hold(std::uint64_t bytes) const {
    if (bytes > max_bytes_) throw Stopped(Stopped::kLimit);
  }

 private:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  void look();

  Stop stop_;
  std::uint64_t done_ = 0;  // steps
  std::uint64_t next_ = kNever;
  std::uint64_t max_steps_ = kNever;
  std::uint64_t max_bytes_ = kNever;
};

// For default arguments: a meter of the call's own, which ends nothing and lives as long as the call.
inline Meter& no_meter(Meter&& own = Meter()) { return own; }

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_METER_H_
