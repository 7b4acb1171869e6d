// Bridge::kHmm, and guidance syntax with a model of tokens: a hidden Markov model of tokens weighs a text by how likely it
// goes on to the end of a well-formed plan.
//
//     syntax        p(gamma | text)
//     above it      sum over the live paths of  p(what is left of the path, and then gamma | text) S(path)
//
// The second is the paper's final equation. Its bridging and syntax terms are one product here, the probability of what
// is left of an action's text times that of a well-formed end behind it; S, its semantics term, is the lookahead's, or 1
// with guidance mask. No sum runs over what is not live: what the model would write besides counts as failure.
//
// Where the model of tokens gives nothing to any path, the weight is kLowestLogWeight and what the lookahead makes of
// the paths on the average: tokens the model knows nothing of are ranked by the lookahead and the language model alone.
#ifndef METACTRL_SRC_DECODE_TOKEN_BRIDGE_H_
#define METACTRL_SRC_DECODE_TOKEN_BRIDGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "decode/bridge.h"
#include "decode/syntax_table.h"
#include "decode/token_surrogate.h"
#include "text/token_automaton.h"

namespace metactrl::decode {

class TokenBridge : public PathBridge {
 public:
  // `horizon`: actions of the longest plan. `syntax`: guidance syntax, where every entry is live and worth 1.
  TokenBridge(const Constraint& constraint, std::shared_ptr<const TokenSurrogate> surrogate, unsigned horizon,
              bool syntax, const Stop& stop);

  std::unique_ptr<PathBridge> fork() const override { return std::make_unique<TokenBridge>(*this); }
  double log_mass(std::uint32_t rank, const Candidate& candidate) const override;
  void open(const Boundary& boundary, std::span<const Path> paths) override;
  double log_weight(const Boundary& boundary, std::span<const Path> paths, const Choice& choice) const override;
  double log_weight_before(const Boundary& boundary, std::span<const Path> paths, const Before& before) const override;

 private:
  // The text from a boundary on: what was read of an entry, and the beliefs behind each of its symbols. Known as far as
  // it was asked for.
  struct Text {
    std::vector<TokenId> read;
    std::vector<std::vector<double>> beliefs;  // beliefs[0]: where the entry begins
    std::vector<double> number_rests;          // behind each symbol of the number in front of the entry
  };

  unsigned left(const Boundary& boundary) const { return horizon_ - static_cast<unsigned>(boundary.number); }
  const std::vector<double>& belief_behind(Text& text, std::span<const TokenId> symbols) const;
  // The logarithm of what all that is live at the boundary is worth where its entry begins.
  double log_begin(const Boundary& boundary, std::span<const Path> paths) const;
  // The same for the paths [begin, end) behind their symbol `depth`, which emitted_ has emitted.
  double log_paths(const Boundary& boundary, std::span<const Path> paths, std::uint32_t begin, std::uint32_t end,
                   std::size_t depth) const;

  const TokenAutomaton* automaton_;
  std::shared_ptr<const TokenSurrogate> surrogate_;
  std::shared_ptr<const SyntaxTable> table_;
  unsigned horizon_;
  bool syntax_;
  std::vector<double> opening_rests_;  // what is left behind each symbol
  std::vector<double> empty_rests_;
  // What has been asked for is remembered.
  mutable std::vector<Text> texts_;  // by boundary
  mutable SyntaxTable::Memory memory_;
  mutable std::vector<double> emitted_;
  mutable std::vector<SyntaxTable::Scaled> terms_;
};

}  // namespace metactrl::decode

#endif  // METACTRL_SRC_DECODE_TOKEN_BRIDGE_H_
