#include "serve/served_model.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace metactrl::serve {

namespace {

std::size_t or_unlimited(std::size_t units) { return units == 0 ? std::numeric_limits<std::size_t>::max() / 2 : units; }

}  // namespace

ModelGates::ModelGates(ServedModel model)
    : model_(std::move(model)),
      tokens_(or_unlimited(model_.memory_tokens), std::numeric_limits<std::size_t>::max()),
      sequences_(or_unlimited(model_.sequences), std::numeric_limits<std::size_t>::max()) {}

std::unique_ptr<Session> RequestModel::start(std::span<const TokenId> prompt, std::size_t reserve) {
  LanguageModel& model = *gates_.model().model;
  if (!entered_) {
    // While it chooses, a strategy that keeps several plans has each of them twice.
    const std::size_t grown = needs_.plans == 1 ? 1 : 2 * needs_.plans;
    const std::size_t branches = grown + (needs_.trace ? 2 : 0);
    sequences_ = gates_.sequences().enter(branches + (needs_.trace ? 1 : 0), cancelled_);
    tokens_ = gates_.tokens().enter(prompt.size() + branches * std::max<std::size_t>(reserve, 1), cancelled_);
    entered_ = true;
  }
  if (!needs_.trace) return model.start(prompt, reserve);
  if (trunk_ == nullptr || !std::equal(prompt.begin(), prompt.end(), prompt_.begin(), prompt_.end())) {
    trunk_ = model.start(prompt, reserve);
    prompt_.assign(prompt.begin(), prompt.end());
  }
  return trunk_->fork();
}

}  // namespace metactrl::serve
