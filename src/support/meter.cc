#include "support/meter.h"

#include <algorithm>

namespace metactrl::internal {

Meter::Meter(Stop stop, const MeterLimits& limits) : stop_(std::move(stop)) {
  if (limits.work != 0 && limits.work <= kNever / kStepsPerPiece) max_steps_ = limits.work * kStepsPerPiece;
  if (limits.bytes != 0) max_bytes_ = limits.bytes;
  // The first step asks: who does not wait any more from the beginning is not worked for.
  if (stop_ || max_steps_ != kNever) next_ = 0;
}

void Meter::ask() const {
  if (stop_ && stop_()) throw Stopped(Stopped::kCancelled);
}

void Meter::look() {
  if (done_ > max_steps_) throw Stopped(Stopped::kLimit);
  ask();
  next_ = stop_ ? done_ + kInterval : kNever;
  if (max_steps_ != kNever) next_ = std::min(next_, max_steps_ + 1);
}

}  // namespace metactrl::internal
