// The table of CPython 3.11 for keys that are their own hash. A key's probe sequence starts at key mod size, looks at
// ten neighbouring slots where that many follow and at one slot otherwise, and then jumps to 5 * slot + 1 + key >> 5k.
#include "benchmarks/virtualhome/python_set.h"

namespace metactrl::benchmarks::virtualhome {
namespace {

constexpr std::size_t kLinearProbes = 9;
constexpr int kPerturbShift = 5;

// Calls `visit(slot)` along the probe sequence of `value` until it returns true.
template <typename Visit>
void probe(std::size_t size, int value, Visit visit) {
  const std::size_t mask = size - 1;
  auto perturb = static_cast<std::size_t>(value);
  std::size_t slot = perturb & mask;
  while (true) {
    const std::size_t run = slot + kLinearProbes <= mask ? kLinearProbes : 0;
    for (std::size_t step = 0; step <= run; ++step) {
      if (visit(slot + step)) return;
    }
    perturb >>= kPerturbShift;
    slot = (slot * 5 + 1 + perturb) & mask;
  }
}

}  // namespace

void PythonSet::insert(int value) {
  bool present = false;
  std::size_t free = 0;
  std::size_t deleted = slots_.size();
  probe(slots_.size(), value, [&](std::size_t slot) {
    if (slots_[slot] == kDeleted) deleted = slot;
    present = slots_[slot] == value;
    free = slot;
    return present || slots_[slot] == kFree;
  });
  if (present) return;
  ++used_;
  if (deleted < slots_.size()) {
    slots_[deleted] = value;
    return;
  }
  slots_[free] = value;
  ++fill_;
  if (fill_ * 5 >= (slots_.size() - 1) * 3) rehash();
}

void PythonSet::discard(int value) {
  probe(slots_.size(), value, [&](std::size_t slot) {
    if (slots_[slot] == value) {
      slots_[slot] = kDeleted;
      --used_;
      return true;
    }
    return slots_[slot] == kFree;
  });
}

void PythonSet::remove_all(const std::vector<int>& values) {
  for (const int value : values) discard(value);
  if (fill_ - used_ > (slots_.size() - 1) / 4) rehash();
}

bool PythonSet::contains(int value) const {
  bool present = false;
  probe(slots_.size(), value, [&](std::size_t slot) {
    present = slots_[slot] == value;
    return present || slots_[slot] == kFree;
  });
  return present;
}

std::vector<int> PythonSet::elements() const {
  std::vector<int> result;
  result.reserve(used_);
  for (const std::int32_t value : slots_) {
    if (value >= 0) result.push_back(value);
  }
  return result;
}

PythonSet PythonSet::deep_copy() const {
  PythonSet copy;
  for (const std::int32_t value : slots_) {
    if (value >= 0) copy.insert(value);
  }
  return copy;
}

void PythonSet::rehash() {
  std::size_t size = kSmallest;
  while (size <= used_ * 4) size *= 2;
  std::vector<std::int32_t> old(size, kFree);
  old.swap(slots_);
  for (const std::int32_t value : old) {
    if (value < 0) continue;
    probe(size, value, [&](std::size_t slot) {
      if (slots_[slot] != kFree) return false;
      slots_[slot] = value;
      return true;
    });
  }
  fill_ = used_;
}

}  // namespace metactrl::benchmarks::virtualhome
