// Gate: so much of something at a time, first come first served.
//
//     Gate gate(64, 128);                                    // 64 units; at most 128 may wait
//     Gate::Pass pass = gate.enter(1, [&] { return client_is_gone(); });
//     ...                                                    // the units are back when the pass is gone
//
// Throws Gate::Full when as many wait already as may, Stopped when `cancelled` says so. One that asks for
// more than there are units is let in when nobody else is inside.
#ifndef METACTRL_SRC_SERVE_GATE_H_
#define METACTRL_SRC_SERVE_GATE_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "metactrl/error.h"

namespace metactrl::serve {

class Gate {
 public:
  class Full : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
  };

  class Pass {
   public:
    Pass() = default;
    Pass(Gate* gate, std::size_t units) : gate_(gate), units_(units) {}
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)), units_(other.units_) {}
    Pass& operator=(Pass&& other) noexcept {
      leave();
      gate_ = std::exchange(other.gate_, nullptr);
      units_ = other.units_;
      return *this;
    }
    ~Pass() { leave(); }
    void leave();

   private:
    Gate* gate_ = nullptr;
    std::size_t units_ = 0;
  };

  Gate(std::size_t units, std::size_t max_waiting) : units_(units), max_waiting_(max_waiting) {}

  Pass enter(std::size_t units, const Stop& cancelled);

  std::size_t used() const;
  std::size_t waiting() const;

 private:
  void leave(std::size_t units);
  bool fits(std::size_t units) const { return used_ == 0 || used_ + units <= units_; }

  const std::size_t units_;
  const std::size_t max_waiting_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t used_ = 0;
  std::list<std::uint64_t> queue_;
  std::uint64_t next_ = 0;
};

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_GATE_H_
