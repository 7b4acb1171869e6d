// Which two literals never hold together? (The invariants of size two of planning graphs, known as h^2.)
//
// Exact in one direction: a pair that is excluded holds in no state that can be reached. Bits that the task's trajectory
// constraints keep for themselves are changed by no action here, and no condition asks for them.
#ifndef METACTRL_SRC_LOOKAHEAD_MUTEX_PAIRS_H_
#define METACTRL_SRC_LOOKAHEAD_MUTEX_PAIRS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "lookahead/literal_actions.h"
#include "support/meter.h"

namespace metactrl::lookahead {

class MutexPairs {
 public:
  // Takes what it uses from `work`. Nothing when that does not suffice.
  static std::optional<MutexPairs> find(const LiteralTask& task, std::uint64_t& work, internal::Meter& meter);

  bool exclude(LiteralCode a, LiteralCode b) const { return !together_[a].contains(b); }

 private:
  explicit MutexPairs(const LiteralTask& task);
  // Takes the action into account; true when it makes a pair possible that was not.
  bool learn(const LiteralAction& action);
  bool allow(LiteralCode made, const LiteralSet& others);

  const LiteralTask* task_;
  LiteralSet possible_;
  std::vector<LiteralSet> together_;  // by literal: those that may hold when it does
};

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_MUTEX_PAIRS_H_
