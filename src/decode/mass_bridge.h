// Bridges whose m comes from a surrogate: m(action, what follows) = pi(action) p(what follows), where pi is 1 for every
// action or its probability by the surrogate (Bridge::kSurrogate), and p gives the closing the surrogate's probability
// of the end, p_end, and shares the rest among the separators.
#ifndef METACTRL_SRC_DECODE_MASS_BRIDGE_H_
#define METACTRL_SRC_DECODE_MASS_BRIDGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "decode/bridge.h"
#include "decode/entry_mass.h"
#include "text/token_automaton.h"

namespace metactrl::decode {

// log p_end of the uniform surrogate.
double uniform_log_end(const Task& task);
// log(1 - p_end) of a trained one, at least kLowestLogWeight.
double log_not(double log_end);

// The uniform surrogate. Denominators are sums over a range of entries: differences of counts that were summed up once
// (entry_mass.h). The terms of numerators are computed once per boundary, relative to the largest.
class MassBridge : public PathBridge {
 public:
  MassBridge(const Constraint& constraint, bool surrogate) : MassBridge(constraint, surrogate, surrogate) {}

  std::unique_ptr<PathBridge> fork() const override { return std::make_unique<MassBridge>(*this); }
  double log_mass(std::uint32_t rank, const Candidate& candidate) const override;
  void open(const Boundary& boundary, std::span<const Path> paths) override;
  double log_weight(const Boundary& boundary, std::span<const Path> paths, const Choice& choice) const override;

 protected:
  // `counted`: the masses of entries hold the uniform surrogate's pi.
  MassBridge(const Constraint& constraint, bool surrogate, bool counted);

  // The logarithm of the sum of m S over the choice's live paths.
  double log_live(const Boundary& boundary, std::span<const Path> paths, const Choice& choice) const;
  // That, as a share of what all entries have together; the empty plan, where it goes on, on both sides.
  double share(const Boundary& boundary, const Choice& choice, double log_live, double log_total) const;

  const TokenAutomaton* automaton_;
  bool surrogate_;  // pi is the surrogate's
  EntryMass mass_;  // by the uniform surrogate

 private:
  struct Terms {
    std::vector<double> term;  // m S of every path, divided by the largest
    double log_largest = 0;
  };
  std::vector<Terms> terms_;  // by boundary
};

// A trained surrogate. Its p_end differs from action to action, and the live paths have the true values. In the
// denominators entries that are not live keep the uniform p_end: it cancels wherever a range holds all entries of an
// action, and no other ranges hold entries that are not live, but for tokens that spell the end of several actions at
// once.
class TrainedBridge : public MassBridge {
 public:
  TrainedBridge(const Constraint& constraint, bool surrogate);

  std::unique_ptr<PathBridge> fork() const override { return std::make_unique<TrainedBridge>(*this); }
  double log_mass(std::uint32_t rank, const Candidate& candidate) const override;
  void open(const Boundary& boundary, std::span<const Path> paths) override;
  double log_weight(const Boundary& boundary, std::span<const Path> paths, const Choice& choice) const override;

 private:
  // With Bridge::kSurrogate: p(action) of every action, and the sum of the masses of the group's entries before each.
  struct Sums {
    std::vector<double> probabilities;
    std::vector<double> mass_before;
  };

  double plain_mass(const Boundary& boundary, std::uint32_t rank) const;
  double log_total(const Boundary& boundary, std::span<const Path> paths, const Choice& choice) const;

  std::shared_ptr<const Lookahead> lookahead_;
  std::vector<Sums> sums_;  // by boundary
};

}  // namespace metactrl::decode

#endif  // METACTRL_SRC_DECODE_MASS_BRIDGE_H_
