#include "goals/reached.h"

#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "support/ids.h"
#include "task/program.h"

namespace metactrl::goals {

namespace {

constexpr std::size_t kMostStates = 4'096;
constexpr std::size_t kMostSteps = 100'000;

void set(std::vector<std::uint64_t>& bits, std::size_t at) { bits[at / 64] |= std::uint64_t{1} << (at % 64); }

struct Walked {
  std::vector<State> states;
  bool complete = false;
};

Walked walk(const Task& task, unsigned horizon, const Stop& stop) {
  Walked out;
  if (task.initially_violated()) return out;
  std::set<std::vector<std::uint64_t>> seen;
  const auto is_new = [&](const State& state) {
    return seen.insert({state.words().begin(), state.words().end()}).second;
  };
  out.states.push_back(task.initial_state());
  is_new(out.states[0]);
  std::size_t steps = 0;
  std::size_t layer_end = 1;
  unsigned depth = 0;
  for (std::size_t i = 0; i < out.states.size(); ++i) {
    if (i == layer_end) {
      layer_end = out.states.size();
      ++depth;
    }
    if (depth == horizon) return out;
    if (stop && stop()) throw Stopped(Stopped::kCancelled);
    const State state = out.states[i];
    for (const ActionId action : task.applicable_actions(state)) {
      if (out.states.size() == kMostStates || ++steps == kMostSteps) return out;
      State next;
      if (task.apply(state, action, next) && is_new(next)) out.states.push_back(std::move(next));
    }
  }
  out.complete = true;
  return out;
}

}  // namespace

Reached::Reached(const Task& task, const ItemSet& items, unsigned horizon, const Stop& stop) : items_(items) {
  const Walked walked = walk(task, horizon, stop);
  complete_ = walked.complete;
  const std::size_t words = (walked.states.size() + 63) / 64;
  good_.assign(words, 0);
  for (std::size_t i = 0; i < walked.states.size(); ++i) {
    if (task.is_goal(walked.states[i])) set(good_, i);
  }
  std::unordered_map<std::string, std::uint32_t> bit_of;
  for (std::uint32_t bit = 0; bit < task.program().num_bits(); ++bit) bit_of.emplace(task.program().bit_text(bit), bit);
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    const ActionId item{i};
    if (items.kind(items.item(item).shape) != ItemSet::Kind::kFact) continue;
    const auto bit = bit_of.find(items.text(item));
    if (bit == bit_of.end()) continue;
    Bits& holds = holds_.emplace(item, Bits(words, 0)).first->second;
    for (std::size_t state = 0; state < walked.states.size(); ++state) {
      if (task::test_bit(walked.states[state].words().data(), bit->second)) set(holds, state);
    }
  }
}

Answer Reached::together(std::span<const ActionId> items) const {
  Bits all = good_;
  for (const ActionId item : items) {
    const ItemSet::Item& what = items_.item(item);
    const ItemSet::Kind kind = items_.kind(what.shape);
    if (kind != ItemSet::Kind::kFact && kind != ItemSet::Kind::kNot) return Answer::kUnknown;
    const bool negated = kind == ItemSet::Kind::kNot;
    const auto holds = holds_.find(negated ? what.opposite.value_or(item) : item);
    if (holds == holds_.end()) return Answer::kUnknown;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] &= negated ? ~holds->second[i] : holds->second[i];
  }
  for (const std::uint64_t word : all) {
    if (word != 0) return Answer::kYes;
  }
  return complete_ ? Answer::kNo : Answer::kUnknown;
}

}  // namespace metactrl::goals
