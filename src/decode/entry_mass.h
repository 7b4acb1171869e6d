// How much of the bridge's mass lies on a range of the token automaton's entries.
#ifndef METACTRL_SRC_DECODE_ENTRY_MASS_H_
#define METACTRL_SRC_DECODE_ENTRY_MASS_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "text/token_automaton.h"

namespace metactrl {

// Entries by kind: number of arguments, and whether they close the plan. A range's mass is a sum over kinds of counts
// times the mass of one entry of that kind, and counts are differences of running counts: exact integers, whatever the
// range.
class EntryCounts {
 public:
  EntryCounts(const TokenAutomaton& automaton, const Task& task);

  std::size_t num_kinds() const { return 2 * num_arities_; }
  std::uint32_t kind(std::uint32_t rank) const { return kind_[rank]; }
  std::uint32_t count(std::uint32_t kind, std::uint32_t begin, std::uint32_t end) const {
    return running_[end * num_kinds() + kind] - running_[begin * num_kinds() + kind];
  }
  static std::size_t arity(std::uint32_t kind) { return kind / 2; }
  static bool closes(std::uint32_t kind) { return kind % 2 == 1; }
  std::size_t num_separators() const { return num_separators_; }
  std::size_t memory_bytes() const { return (kind_.size() + running_.size()) * sizeof(std::uint32_t); }

 private:
  std::size_t num_arities_ = 1;
  std::size_t num_separators_ = 1;
  std::vector<std::uint32_t> kind_;
  std::vector<std::uint32_t> running_;  // [rank * num_kinds + kind]: entries of that kind below rank
};

// The counts with masses: m = pi * p(what follows).
class EntryMass {
 public:
  // pi is 1 for every action, or with `surrogate` the uniform surrogate's probability of its symbols.
  EntryMass(std::shared_ptr<const EntryCounts> counts, double log_end, double log_go, bool surrogate)
      : counts_(std::move(counts)) {
    for (std::uint32_t kind = 0; kind < counts_->num_kinds(); ++kind) {
      double log_mass =
          EntryCounts::closes(kind) ? log_end : log_go - std::log(static_cast<double>(counts_->num_separators()));
      if (surrogate) log_mass += log_end * static_cast<double>(1 + EntryCounts::arity(kind));
      log_mass_.push_back(log_mass);
      mass_.push_back(std::exp(log_mass));
    }
  }

  double log_mass(std::uint32_t rank) const { return log_mass_[counts_->kind(rank)]; }
  double log_total(std::uint32_t begin, std::uint32_t end) const {
    double sum = 0;
    for (std::uint32_t kind = 0; kind < mass_.size(); ++kind) {
      sum += static_cast<double>(counts_->count(kind, begin, end)) * mass_[kind];
    }
    return std::log(sum);
  }

 private:
  std::shared_ptr<const EntryCounts> counts_;
  std::vector<double> log_mass_;  // per kind
  std::vector<double> mass_;
};

}  // namespace metactrl

#endif  // METACTRL_SRC_DECODE_ENTRY_MASS_H_
