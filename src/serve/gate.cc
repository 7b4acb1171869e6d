#include "serve/gate.h"

#include <chrono>

namespace metactrl::serve {

void Gate::Pass::leave() {
  if (gate_ != nullptr) std::exchange(gate_, nullptr)->leave(units_);
}

Gate::Pass Gate::enter(std::size_t units, const Stop& cancelled) {
  std::unique_lock lock(mutex_);
  if (queue_.empty() && fits(units)) {
    used_ += units;
    return {this, units};
  }
  if (queue_.size() >= max_waiting_) throw Full("too many requests are waiting already");
  const std::uint64_t ticket = next_++;
  const auto place = queue_.insert(queue_.end(), ticket);
  const auto my_turn = [&] { return queue_.front() == ticket && fits(units); };
  constexpr auto kPoll = std::chrono::milliseconds(50);
  while (!my_turn()) {
    changed_.wait_for(lock, kPoll);
    if (!my_turn() && cancelled && cancelled()) {
      queue_.erase(place);
      changed_.notify_all();
      throw Stopped(Stopped::kCancelled);
    }
  }
  queue_.erase(place);
  used_ += units;
  changed_.notify_all();
  return {this, units};
}

void Gate::leave(std::size_t units) {
  const std::scoped_lock lock(mutex_);
  used_ -= units;
  changed_.notify_all();
}

std::size_t Gate::used() const {
  const std::scoped_lock lock(mutex_);
  return used_;
}

std::size_t Gate::waiting() const {
  const std::scoped_lock lock(mutex_);
  return queue_.size();
}

}  // namespace metactrl::serve
