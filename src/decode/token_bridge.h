// Bridge::kHmm: a hidden Markov model of tokens says how likely what is left of a path is, for every path and every
// place in it. These are the m of the numerator; those of all entries with the same prefix, which are summed backwards
// along the automaton once (entry_totals.h), are the denominator; where the empty plan can still be meant, what is left
// of it is one more on both sides.
#ifndef METACTRL_SRC_DECODE_TOKEN_BRIDGE_H_
#define METACTRL_SRC_DECODE_TOKEN_BRIDGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "decode/bridge.h"
#include "decode/entry_totals.h"
#include "decode/token_surrogate.h"
#include "text/token_automaton.h"

namespace metactrl::decode {

class TokenBridge : public PathBridge {
 public:
  TokenBridge(const Constraint& constraint, std::shared_ptr<const TokenSurrogate> surrogate);

  std::unique_ptr<PathBridge> fork() const override { return std::make_unique<TokenBridge>(*this); }
  double log_mass(std::uint32_t rank, const Candidate& candidate) const override;
  void open(const Boundary& boundary, std::span<const Path> paths) override;
  double log_weight(const Boundary& boundary, std::span<const Path> paths, const Choice& choice) const override;

 private:
  struct Known {
    std::vector<double> belief;  // where the entry begins
    // For every path, one after the other: the log-probability of what is left of it behind each of its symbols, and of
    // what is left of all entries that agree with it so far.
    std::vector<double> rests;
    std::vector<double> totals;
    std::vector<std::size_t> first_rest;
  };

  const TokenAutomaton* automaton_;
  std::shared_ptr<const TokenSurrogate> surrogate_;
  std::shared_ptr<const EntryTotals> totals_;
  std::vector<double> empty_rests_;  // what is left of the empty plan behind each of its symbols
  TokenSurrogate::Cursor cursor_;
  std::vector<Known> known_;  // by boundary
};

}  // namespace metactrl::decode

#endif  // METACTRL_SRC_DECODE_TOKEN_BRIDGE_H_
