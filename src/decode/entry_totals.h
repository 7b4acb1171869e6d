// EntryTotals: how likely a hidden Markov model of tokens finishes *some* entry of the token automaton, from every
// place inside one. By it the bridge of Bridge::kHmm is a distribution over all actions that can still be meant.
//
//     EntryTotals totals(automaton, hmm);
//     double log_total = totals.log_rest(rank, depth, belief);   // behind symbol `depth` of the entry
//
// B(place)[z] is the probability that a writer whose next token comes from hidden state z goes on to the end of one of
// the entries that pass this place. It does not depend on what was written before, so it is computed once, from the
// ends backwards; and places with the same continuations, of which there are many (`"], "`), share it.
//
// Costs: linear in the symbols of all entries, and H^2 for each distinct set of continuations; 4 bytes per symbol, 8 H
// per distinct set. Immutable; may be read from many threads.
#ifndef METACTRL_SRC_DECODE_ENTRY_TOTALS_H_
#define METACTRL_SRC_DECODE_ENTRY_TOTALS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "metactrl/hmm.h"
#include "text/token_automaton.h"

namespace metactrl::decode {

class EntryTotals {
 public:
  EntryTotals(const TokenAutomaton& automaton, const Hmm& hmm);

  // log of the probability that what follows symbol `depth` of the entry is what is left of it or of another entry with
  // the same beginning. `belief` is the distribution of the hidden state that emits the next token. Minus infinity
  // where the model holds that impossible.
  double log_rest(std::uint32_t rank, std::size_t depth, std::span<const double> belief) const;

  // Sets of continuations that differ.
  std::size_t num_distinct() const { return log_scale_.size(); }

 private:
  friend class EntryTotalsBuilder;

  std::size_t hidden_;
  std::vector<std::size_t> first_;    // per rank: where its symbols begin in place_
  std::vector<std::uint32_t> place_;  // per symbol: which continuations follow it
  std::vector<double> values_;        // [continuations * hidden + z], scaled to a maximum of 1
  std::vector<double> log_scale_;     // per set of continuations
};

}  // namespace metactrl::decode

#endif  // METACTRL_SRC_DECODE_ENTRY_TOTALS_H_
