// SyntaxTable: how likely a hidden Markov model of tokens finishes a text as a well-formed plan, from every place of the
// token automaton. The paper's first level, p(gamma | text), and its B_gamma.
//
//     SyntaxTable table(automaton, hmm, {.horizon = 40});
//     SyntaxTable::Layer layer = table.layer(actions_left, memory);
//     double log_rest = table.log_rest(layer, table.behind(rank, depth), emitted);
//
// A well-formed plan is what the automaton accepts, the end of the turn included, with at most `horizon` actions: the
// horizon is in actions, and so exact in tokens, however many an action has. `actions_left` counts the action that is
// being written. Nothing is cut off at the end of an entry: what follows it is the next number, the next entry, and so
// on to the end of the plan.
//
// `emitted` is a distribution of the hidden state that has emitted the token before the place, up to a factor: behind
// token x, belief(z) e(x | z).
//
// Places with the same continuations share their numbers, and layers that do not differ any more are one. Costs: 2 H^2
// operations for each distinct place and layer, done as products of matrices; 8 H bytes for each that is kept. A table
// that would be larger than its budget keeps no layers but what leads from one to the next, and layer() then computes
// one when it is asked for. Immutable; may be read from many threads.
#ifndef METACTRL_SRC_DECODE_SYNTAX_TABLE_H_
#define METACTRL_SRC_DECODE_SYNTAX_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "metactrl/error.h"
#include "metactrl/hmm.h"
#include "text/token_automaton.h"

namespace metactrl::internal {
class Meter;
}  // namespace metactrl::internal

namespace metactrl::decode {

class SyntaxTable {
 public:
  struct Options {
    unsigned horizon = 40;    // actions, at least 1
    bool each_entry = false;  // also entry by entry: behind_alone()
    std::size_t bytes = 256U << 20U;
  };
  // The places that depend on how many actions are left, with so many. Points into the table, or into the memory that
  // layer() was given.
  struct Layer {
    unsigned left = 0;
    const double* values = nullptr;
    const double* log_scales = nullptr;
  };
  // For a layer that the table did not keep. Belongs to one thread; a copy remembers nothing.
  struct Memory {
    Memory() = default;
    Memory(const Memory&) {}
    Memory& operator=(const Memory&) = delete;
    ~Memory() = default;

    unsigned left = 0;
    std::vector<double> values;
    std::vector<double> log_scales;
  };

  // Throws Stopped when `stop` says so.
  SyntaxTable(const TokenAutomaton& automaton, const Hmm& hmm, const Options& options, const Stop& stop = {});

  // With at least one action left.
  Layer layer(unsigned left, Memory& memory) const;
  // The place behind symbol `depth` of an entry: what is left of it, or of any other that begins like it.
  std::uint32_t behind(std::uint32_t rank, std::size_t depth) const { return together_[first_[rank] + depth]; }
  // The same place when it is this entry and no other.
  std::uint32_t behind_alone(std::uint32_t rank, std::size_t depth) const { return alone_[first_[rank] + depth]; }
  // log of the sum over z of emitted[z] p(well-formed from `place` on | z). Minus infinity where the model holds that
  // impossible. `emitted` has width() numbers.
  double log_rest(const Layer& layer, std::uint32_t place, std::span<const double> emitted) const;
  // The same number as value times e^log_scale.
  struct Scaled {
    double value = 0;
    double log_scale = 0;
  };
  Scaled rest(const Layer& layer, std::uint32_t place, std::span<const double> emitted) const;
  // The same where an entry of `group` begins; `belief` is the distribution of the state that emits its first token.
  double log_begin(unsigned left, std::uint32_t group, std::span<const double> belief) const;

  // Hidden states, and zeros up to a multiple of what a processor works on at once.
  std::size_t width() const { return width_; }
  std::size_t num_places() const { return slot_.size(); }
  unsigned num_layers() const { return num_layers_; }
  bool keeps_layers() const { return kept_; }
  std::size_t memory_bytes() const;

 private:
  friend class SyntaxTableBuilder;
  static constexpr std::uint32_t kFixed = 0x80000000U;

  // Places that are computed together: each depends on none but those of earlier levels.
  struct Level {
    std::uint32_t first = 0;  // into members_
    std::uint32_t end = 0;
  };
  struct Row {
    const double* values = nullptr;
    double log_scale = 0;
  };
  struct Child {
    std::uint32_t emission = 0;  // which row of emissions_
    std::uint32_t place = 0;
  };

  Row row(const Layer& layer, std::uint32_t place) const;
  void add_up(std::uint32_t place, const Layer& layer, double* out, double& log_scale) const;
  void compute_levels(std::span<const Level> levels, const Layer& layer, double* values, double* log_scales,
                      internal::Meter& meter) const;
  // The varying places of a layer; `roots_only`: those that the next layer depends on.
  void compute(unsigned left, bool roots_only, double* values, double* log_scales, internal::Meter& meter) const;

  std::size_t hidden_ = 0;
  std::size_t width_ = 0;
  unsigned horizon_ = 0;
  unsigned num_layers_ = 0;  // those above are as the last one
  bool kept_ = false;
  std::size_t num_fixed_ = 0;
  std::size_t num_varying_ = 0;
  std::vector<double> transposed_;  // transition, [to * width + from]
  std::vector<double> emissions_;   // [row * width + z] of every symbol that occurs
  std::vector<std::size_t> first_;  // per rank: where its symbols begin in the next two
  std::vector<std::uint32_t> together_;
  std::vector<std::uint32_t> alone_;
  // Per place: its row in a layer; with kFixed among those that are the same in every layer.
  std::vector<std::uint32_t> slot_;
  std::vector<std::uint32_t> first_child_;
  std::vector<Child> children_;
  std::vector<std::uint32_t> members_;  // places by level
  std::vector<Level> fixed_levels_;
  std::vector<Level> root_levels_;  // of what the beginnings of entries depend on
  std::vector<Level> other_levels_;
  std::vector<std::uint32_t> roots_;  // per group: the place where an entry begins, or kNone
  std::vector<double> fixed_values_;
  std::vector<double> fixed_log_scales_;
  std::vector<double> begin_values_;  // per layer and group: what the hidden state before a new entry's text has ahead
  std::vector<double> begin_log_scales_;
  std::vector<double> root_values_;  // per layer and group, for the state that emits the entry's first token
  std::vector<double> root_log_scales_;
  std::vector<double> values_;  // per layer and varying place, where layers are kept
  std::vector<double> log_scales_;
};

}  // namespace metactrl::decode

#endif  // METACTRL_SRC_DECODE_SYNTAX_TABLE_H_
