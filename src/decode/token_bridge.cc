#include "decode/token_bridge.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "support/log_math.h"

namespace metactrl::decode {

TokenBridge::TokenBridge(const Constraint& constraint, std::shared_ptr<const TokenSurrogate> surrogate)
    : automaton_(&constraint.automaton()),
      surrogate_(std::move(surrogate)),
      totals_(std::make_shared<const EntryTotals>(*automaton_, surrogate_->hmm())) {
  std::vector<TokenId> empty(automaton_->empty_plan().begin(), automaton_->empty_plan().end());
  if (empty.empty() || empty.back() != TokenAutomaton::kEnd) empty.push_back(TokenAutomaton::kEnd);
  known_.emplace_back();
  known_[0].belief = surrogate_->start();
  cursor_.begin(*surrogate_, known_[0].belief);
  cursor_.read(empty, empty_rests_);
  surrogate_->advance(known_[0].belief, automaton_->opening());
}

// The model knows what each path has; nothing is shared among kinds of entries.
double TokenBridge::log_mass(std::uint32_t, const Candidate&) const { return 0; }

void TokenBridge::open(const Boundary& boundary, std::span<const Path> paths) {
  if (known_.size() <= boundary.number) known_.resize(boundary.number + 1);
  Known& known = known_[boundary.number];
  if (boundary.number > 0) {
    known.belief = known_[boundary.number - 1].belief;
    surrogate_->advance(known.belief, automaton_->tokens(boundary.entered_by));
    surrogate_->advance(known.belief, automaton_->prefix(boundary.number + 1));
  }
  known.rests.clear();
  known.totals.clear();
  known.first_rest.clear();
  cursor_.begin(*surrogate_, known.belief);
  // In lexicographic order: paths share the work of common beginnings.
  for (const Path& one : paths) {
    known.first_rest.push_back(known.rests.size());
    const std::span<const TokenId> path = automaton_->tokens(one.rank);
    cursor_.read(path, known.rests);
    for (std::size_t d = 0; d + 1 < path.size(); ++d) {
      known.totals.push_back(totals_->log_rest(one.rank, d, cursor_.belief(d + 1)));
    }
    known.totals.push_back(0);
  }
  assert(known.totals.size() == known.rests.size());
}

double TokenBridge::log_weight(const Boundary& boundary, std::span<const Path> paths, const Choice& choice) const {
  const Known& known = known_[boundary.number];
  assert(known.first_rest.size() == paths.size());
  const auto rest = [&](std::size_t path) { return known.rests[known.first_rest[path] + choice.depth]; };
  double result =
      internal::log_sum(choice.begin, choice.end, [&](std::size_t i) { return rest(i) + paths[i].log_value; });
  // Rests of live paths are floored, totals are not: they are at least what the live paths have.
  double live = internal::kMinusInfinity;
  for (std::uint32_t i = choice.begin; i < choice.end; ++i) live = internal::log_add(live, rest(i));
  double total = std::max(known.totals[known.first_rest[choice.begin] + choice.depth], live);
  if (choice.empty) {
    result = internal::log_add(result, empty_rests_[choice.empty_depth]);
    total = internal::log_add(total, empty_rests_[choice.empty_depth]);
  }
  return std::max(result - total, 2 * kLowestLogWeight);
}

}  // namespace metactrl::decode
