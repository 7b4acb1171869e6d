// What every group can do by its messages: the largest of a number climbs a binary tree of processes and comes back to
// all.
#include "metactrl/training/process_group.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace metactrl {

void SingleProcess::send(unsigned /*to*/, std::span<const std::byte> /*bytes*/) {
  throw std::logic_error("a process that is alone has nobody to send to");
}

void SingleProcess::receive(unsigned /*from*/, std::span<std::byte> /*bytes*/) {
  throw std::logic_error("a process that is alone has nobody to receive from");
}

void SingleProcess::end_all(int exit_code) { std::_Exit(exit_code); }

std::uint64_t largest_of(ProcessGroup& group, std::uint64_t mine) {
  const std::span<std::uint64_t> bytes(&mine, 1);
  for (unsigned step = 1; step < group.size(); step *= 2) {
    if (group.rank() % (2 * step) != 0) {
      group.send(group.rank() - step, std::as_bytes(bytes));
      break;
    }
    if (group.size() - group.rank() <= step) continue;
    std::uint64_t other = 0;
    group.receive(group.rank() + step, std::as_writable_bytes(std::span(&other, 1)));
    mine = std::max(mine, other);
  }
  group.broadcast(std::as_writable_bytes(bytes));
  return mine;
}

}  // namespace metactrl
