#include "decode/mass_bridge.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "decode/constraint_parts.h"
#include "lookahead/belief.h"
#include "lookahead/uniform.h"
#include "support/log_math.h"

namespace metactrl::decode {

using internal::kMinusInfinity;
using internal::log_add;

namespace {

// Sums below this are computed again by logarithms.
constexpr double kTiny = 1e-200;

}  // namespace

double uniform_log_end(const Task& task) {
  return -std::log(static_cast<double>(lookahead::alphabet_size(task.program())));
}

double log_not(double log_end) {
  return log_end >= 0 ? kLowestLogWeight : std::max(std::log1p(-std::exp(log_end)), kLowestLogWeight);
}

// --- the uniform surrogate -------------------------------------------------------------------------------------------

MassBridge::MassBridge(const Constraint& constraint, bool surrogate, bool counted)
    : automaton_(&constraint.automaton()),
      surrogate_(surrogate),
      mass_(constraint.parts().entry_counts, uniform_log_end(constraint.task()),
            std::log1p(-std::exp(uniform_log_end(constraint.task()))), counted) {}

double MassBridge::log_mass(std::uint32_t rank, const Candidate&) const { return mass_.log_mass(rank); }

void MassBridge::open(const Boundary& boundary, std::span<const Path> paths) {
  if (terms_.size() <= boundary.number) terms_.resize(boundary.number + 1);
  auto& [term, log_largest] = terms_[boundary.number];
  log_largest = kMinusInfinity;
  for (const Path& path : paths) log_largest = std::max(log_largest, path.log_mass + path.log_value);
  term.clear();
  for (const Path& path : paths) term.push_back(std::exp(path.log_mass + path.log_value - log_largest));
}

double MassBridge::log_weight(const Boundary& boundary, std::span<const Path> paths, const Choice& choice) const {
  return share(boundary, choice, log_live(boundary, paths, choice), mass_.log_total(choice.all_begin, choice.all_end));
}

double MassBridge::log_live(const Boundary& boundary, std::span<const Path> paths, const Choice& choice) const {
  assert(boundary.number < terms_.size() && terms_[boundary.number].term.size() == paths.size());
  const auto& [term, log_largest] = terms_[boundary.number];
  double sum = 0;
  for (std::uint32_t i = choice.begin; i < choice.end; ++i) sum += term[i];
  if (sum > kTiny) return std::log(sum) + log_largest;
  return internal::log_sum(choice.begin, choice.end,
                           [&](std::size_t i) { return paths[i].log_mass + paths[i].log_value; });
}

double MassBridge::share(const Boundary& boundary, const Choice& choice, double log_live, double log_total) const {
  if (choice.empty) {
    // Stopping has p_end, all entries together have what is left. The surrogate's masses are that already.
    const auto [begin, end] = automaton_->group(boundary.group);
    const double scale = surrogate_ ? 0 : boundary.log_go - mass_.log_total(begin, end);
    log_live = log_add(log_live + scale, boundary.log_end);
    log_total = log_add(log_total + scale, boundary.log_end);
  }
  return std::max(log_live - log_total, 2 * kLowestLogWeight);
}

// --- a trained surrogate ---------------------------------------------------------------------------------------------

TrainedBridge::TrainedBridge(const Constraint& constraint, bool surrogate)
    : MassBridge(constraint, surrogate, false), lookahead_(constraint.lookahead()) {}

double TrainedBridge::log_mass(std::uint32_t rank, const Candidate& candidate) const {
  double log_mass = automaton_->entry(rank).next == TokenAutomaton::kClose
                        ? std::max(candidate.log_end, kLowestLogWeight)
                        : log_not(candidate.log_end) - std::log(static_cast<double>(automaton_->num_separators()));
  if (surrogate_) log_mass += std::max(candidate.log_probability, kLowestLogWeight);
  return log_mass;
}

void TrainedBridge::open(const Boundary& boundary, std::span<const Path> paths) {
  MassBridge::open(boundary, paths);
  if (!surrogate_) return;
  if (sums_.size() <= boundary.number) sums_.resize(boundary.number + 1);
  auto& [probabilities, mass_before] = sums_[boundary.number];
  lookahead::action_probabilities(*lookahead_, boundary.belief, probabilities);
  const auto [begin, end] = automaton_->group(boundary.group);
  mass_before.assign(1, 0);
  for (std::uint32_t rank = begin; rank < end; ++rank) {
    mass_before.push_back(mass_before.back() + plain_mass(boundary, rank));
  }
}

double TrainedBridge::log_weight(const Boundary& boundary, std::span<const Path> paths, const Choice& choice) const {
  return share(boundary, choice, log_live(boundary, paths, choice), log_total(boundary, paths, choice));
}

// The mass of an entry that is not live.
double TrainedBridge::plain_mass(const Boundary& boundary, std::uint32_t rank) const {
  const double follows = std::exp(mass_.log_mass(rank));
  if (!surrogate_) return follows;
  return sums_[boundary.number].probabilities[static_cast<std::uint32_t>(automaton_->entry(rank).action)] * follows;
}

// The logarithm of the mass of all entries with the choice's prefix.
double TrainedBridge::log_total(const Boundary& boundary, std::span<const Path> paths, const Choice& choice) const {
  double largest = kMinusInfinity;
  for (std::uint32_t i = choice.begin; i < choice.end; ++i) largest = std::max(largest, paths[i].log_mass);
  double live = 0;  // relative to the largest
  double replaced = 0;
  for (std::uint32_t i = choice.begin; i < choice.end; ++i) {
    live += std::exp(paths[i].log_mass - largest);
    replaced += plain_mass(boundary, paths[i].rank);
  }
  if (choice.end - choice.begin == choice.all_end - choice.all_begin) return largest + std::log(live);
  double all = 0;
  if (surrogate_) {
    const std::uint32_t first = automaton_->group(boundary.group).first;
    const std::vector<double>& mass_before = sums_[boundary.number].mass_before;
    all = mass_before[choice.all_end - first] - mass_before[choice.all_begin - first];
  } else {
    all = std::exp(mass_.log_total(choice.all_begin, choice.all_end));
  }
  const double others = std::max(all - replaced, 0.0);
  return log_add(largest + std::log(live), others > 0 ? std::log(others) : kMinusInfinity);
}

}  // namespace metactrl::decode
