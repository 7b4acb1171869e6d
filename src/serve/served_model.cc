#include "serve/served_model.h"

#include <algorithm>

namespace metactrl::serve {

std::unique_ptr<Session> RequestModel::start(std::span<const TokenId> prompt, std::size_t reserve) {
  if (!lease_) {
    // While it chooses, a strategy that keeps several plans has each of them twice.
    const std::size_t grown = needs_.plans == 1 ? 1 : 2 * needs_.plans;
    const std::size_t sessions = grown + (needs_.trace ? 2 : 0);
    lease_ = shared_.memory().enter(prompt, {sessions, std::max<std::size_t>(reserve, 1)}, cancelled_);
  }
  const std::span<const TokenId> known = lease_.prompt();
  if (!std::equal(prompt.begin(), prompt.end(), known.begin(), known.end())) return model().start(prompt, reserve);
  return lease_.session();
}

}  // namespace metactrl::serve
