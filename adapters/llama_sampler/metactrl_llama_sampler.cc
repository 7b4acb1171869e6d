// llama.cpp hands a sampler an array of all candidates, 128K of them, and lets it shorten the array in place. The
// allowed tokens come sorted and are few; a candidate array that nobody touched has token i at index i, so they are
// picked out directly, and otherwise found by binary search while the array is read once.
//
// llama.cpp is called from C as well: no exception leaves a callback. After one the text can only end.
#include "metactrl_llama_sampler.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace {

using metactrl::NextToken;
using metactrl::TokenId;

constexpr float kHuge = 1e9F;

struct SamplerState {
  metactrl::Decoder decoder;
  bool lost = false;               // a token came that was not allowed, or there was no memory or time to go on
  std::vector<NextToken> allowed;  // for the current step
  std::vector<llama_token_data> kept;
};

SamplerState& state_of(llama_sampler* sampler) { return *static_cast<SamplerState*>(sampler->ctx); }
const SamplerState& state_of(const llama_sampler* sampler) { return *static_cast<const SamplerState*>(sampler->ctx); }

float finite(float logit) {
  if (std::isnan(logit)) return -kHuge;
  return std::clamp(logit, -kHuge, kHuge);
}

llama_token_data weighted(const NextToken& next, float logit) {
  const double value =
      std::max(static_cast<double>(finite(logit)) + next.log_weight, -2.0 * static_cast<double>(kHuge));
  return {static_cast<llama_token>(next.token), static_cast<float>(value), 0.0F};
}

void collect_allowed(SamplerState& state) {
  state.allowed.clear();
  if (!state.lost) {
    const std::span<const NextToken> next = state.decoder.next();
    state.allowed.assign(next.begin(), next.end());
  }
  if (state.allowed.empty()) {
    for (const TokenId token : state.decoder.constraint().vocabulary().end_of_turn())
      state.allowed.push_back({token, 0.0});
  }
}

void leave_allowed(SamplerState& state, llama_token_data_array* candidates) {
  collect_allowed(state);
  state.kept.clear();
  bool untouched = true;
  for (const NextToken& next : state.allowed) {
    const auto index = static_cast<std::size_t>(static_cast<llama_token>(next.token));
    if (index >= candidates->size || candidates->data[index].id != static_cast<llama_token>(next.token)) {
      untouched = false;
      break;
    }
    state.kept.push_back(weighted(next, candidates->data[index].logit));
  }
  if (!untouched) {
    state.kept.clear();
    for (std::size_t i = 0; i < candidates->size; ++i) {
      const llama_token_data& candidate = candidates->data[i];
      const auto found = std::lower_bound(
          state.allowed.begin(), state.allowed.end(), candidate.id,
          [](const NextToken& next, llama_token id) { return static_cast<llama_token>(next.token) < id; });
      if (found == state.allowed.end() || static_cast<llama_token>(found->token) != candidate.id) continue;
      state.kept.push_back(weighted(*found, candidate.logit));
    }
    if (state.kept.empty()) {
      for (const NextToken& next : state.allowed) state.kept.push_back(weighted(next, 0.0F));
    }
  }
  // The array is as long as it is: of more tokens than it has room for, the best stay.
  if (state.kept.size() > candidates->size) {
    std::stable_sort(state.kept.begin(), state.kept.end(),
                     [](const llama_token_data& a, const llama_token_data& b) { return a.logit > b.logit; });
    state.kept.resize(candidates->size);
  }
  std::copy(state.kept.begin(), state.kept.end(), candidates->data);
  candidates->size = state.kept.size();
  candidates->selected = -1;
  candidates->sorted = false;
}

// Without memory.
void leave_end(const SamplerState& state, llama_token_data_array* candidates) {
  const std::vector<TokenId>& ends = state.decoder.constraint().vocabulary().end_of_turn();
  if (ends.empty()) return;
  candidates->data[0] = {static_cast<llama_token>(ends.front()), 0.0F, 0.0F};
  candidates->size = 1;
  candidates->selected = -1;
  candidates->sorted = false;
}

void apply(llama_sampler* sampler, llama_token_data_array* candidates) {
  SamplerState& state = state_of(sampler);
  if (candidates->size == 0) return;
  try {
    leave_allowed(state, candidates);
  } catch (...) {
    state.lost = true;
    leave_end(state, candidates);
  }
}

void accept(llama_sampler* sampler, llama_token token) {
  SamplerState& state = state_of(sampler);
  if (state.lost || state.decoder.finished()) return;
  try {
    state.lost = !state.decoder.accept(TokenId{token});
  } catch (...) {
    state.lost = true;
  }
}

void reset(llama_sampler* sampler) {
  state_of(sampler).decoder.reset();
  state_of(sampler).lost = false;
}

const char* name(const llama_sampler* /*sampler*/) { return "metactrl"; }

llama_sampler* clone(const llama_sampler* sampler);

void destroy(llama_sampler* sampler) { delete static_cast<SamplerState*>(sampler->ctx); }

void copy_state(const llama_sampler* from, llama_sampler* to) {
  try {
    state_of(to).decoder = state_of(from).decoder;
    state_of(to).lost = state_of(from).lost;
  } catch (...) {
    state_of(to).lost = true;
  }
}

llama_sampler_i* sampler_interface() {
  static llama_sampler_i table = [] {
    llama_sampler_i t{};
    t.name = name;
    t.accept = accept;
    t.apply = apply;
    t.reset = reset;
    t.clone = clone;
    t.free = destroy;
    t.copy_state = copy_state;
    return t;
  }();
  return &table;
}

llama_sampler* make(std::unique_ptr<SamplerState> state) {
  llama_sampler* sampler = llama_sampler_init(sampler_interface(), state.get());
  state.release();
  return sampler;
}

llama_sampler* clone(const llama_sampler* sampler) {
  const SamplerState& state = state_of(sampler);
  try {
    return make(std::make_unique<SamplerState>(SamplerState{state.decoder, state.lost, {}, {}}));
  } catch (...) {
    return nullptr;
  }
}

}  // namespace

llama_sampler* metactrl_llama_sampler(metactrl::Decoder decoder) {
  return make(std::make_unique<SamplerState>(SamplerState{std::move(decoder), false, {}, {}}));
}

const metactrl::Decoder* metactrl_llama_sampler_decoder(const llama_sampler* sampler) {
  if (sampler == nullptr || sampler->iface != sampler_interface()) return nullptr;
  return &state_of(sampler).decoder;
}
