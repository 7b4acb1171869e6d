#include "support/stop.h"

#include <utility>

namespace metactrl::internal {

thread_local StopScope* current_stop_scope = nullptr;

namespace {

const char* text_of(StopReason reason) {
  switch (reason) {
    case StopReason::kCancelled:
      return "cancelled";
    case StopReason::kSeconds:
      return "the time limit ended";
    case StopReason::kWork:
      return "the limit on work and memory ended";
  }
  return "";
}

}  // namespace

Stopped::Stopped(StopReason reason) : metactrl::Stopped(text_of(reason)), reason_(reason) {}

StopScope::StopScope(StopLimits limits)
    : limits_(std::move(limits)), start_(std::chrono::steady_clock::now()), outer_(current_stop_scope) {
  current_stop_scope = this;
}

StopScope::~StopScope() { current_stop_scope = outer_; }

void StopScope::count() {
  ++done_;
  if (limits_.work != 0 && done_ > limits_.work) throw Stopped(StopReason::kWork);
  if (done_ % kInterval == 0) check();
}

void StopScope::check() const {
  if (limits_.cancelled && limits_.cancelled()) throw Stopped(StopReason::kCancelled);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
  if (limits_.seconds > 0 && passed.count() > limits_.seconds) throw Stopped(StopReason::kSeconds);
}

}  // namespace metactrl::internal
