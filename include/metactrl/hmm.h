// Hmm: a hidden Markov model over a finite alphabet, the surrogate that the lookahead asks instead of the language
// model.
//
//     metactrl::Hmm hmm = metactrl::Hmm::load("household.hmm");
//     double nats = -hmm.log_likelihood(symbols);          // of a whole sequence, its end included
//
// A sequence is written by a walk over hidden states: the first is drawn from initial(), each state emits a symbol by
// its row of emissions and then moves on by its row of transition(). Every sequence closes with the symbol
// alphabet().end.
//
//     p(x_1 ... x_n) = sum over z_1 ... z_n of  initial(z_1) e(z_1, x_1)  t(z_1, z_2) e(z_2, x_2)  ...  e(z_n, x_n)
//
// Two kinds of alphabet. At the meta level a plan is a sequence of grounded actions, and an action is its name followed
// by one symbol per argument: the slot of the object (plan_symbols in lookahead.h says which). What has no
// symbol of its own, a name or an object, is UNK. At the token level the symbols are the tokens of a vocabulary.
//
// Probabilities are stored as 32-bit floats, the emissions by symbol, so that the column of one symbol is contiguous.
// Zero is zero: nothing is smoothed behind the caller's back, and no guarantee of this library depends on these
// numbers.
//
// An Hmm is a handle to shared immutable data: copying is cheap, all functions are const and may be called from many
// threads. A loaded model is mapped, not read: pages come in as they are used. Training: the component
// metactrl::training.
#ifndef METACTRL_HMM_H_
#define METACTRL_HMM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace metactrl {

enum class SymbolId : std::uint32_t {};

// What the symbols of a model stand for.
struct Alphabet {
  std::size_t size = 0;
  SymbolId end{};  // closes every sequence
  // Meta level: the names of all symbols: actions, then object slots "ID0", "ID1", ..., then "UNK" and "EOS". Token
  // level: empty.
  std::vector<std::string> names;
  std::size_t num_actions = 0;
  std::size_t num_slots = 0;
  // Token level: the fingerprint of the vocabulary; 0 when unknown.
  std::uint64_t vocabulary = 0;

  // Throws InputError for two equal action names.
  static Alphabet meta(const std::vector<std::string>& action_names, std::size_t num_slots);
  // Throws InputError unless `end` is one of the `size` tokens.
  static Alphabet tokens(std::size_t size, std::uint32_t end, std::uint64_t vocabulary = 0);

  bool is_meta() const { return !names.empty(); }
  // Meta level only.
  SymbolId unknown() const { return SymbolId{static_cast<std::uint32_t>(num_actions + num_slots)}; }
  // The symbol of an action name, or unknown(). Logarithmic.
  SymbolId action(std::string_view name) const;
  // The symbol of this slot, or unknown().
  SymbolId slot(std::size_t number) const {
    return number < num_slots ? SymbolId{static_cast<std::uint32_t>(num_actions + number)} : unknown();
  }
  // The symbol that means here what `symbol` means in `other`, an alphabet of the same level; unknown() where there is
  // none.
  SymbolId translate(const Alphabet& other, SymbolId symbol) const;
  // "open", "ID3", "UNK", "EOS"; "token 17".
  std::string text(SymbolId symbol) const;
  bool operator==(const Alphabet&) const = default;
};

class Hmm {
 public:
  // Row-major: transition[from * hidden + to]; emission[symbol * hidden + state]. Every row of transition, every column
  // of emission (all symbols of one state) and initial must sum to 1 up to rounding, else InputError. `made_by` is for
  // people: what the model was trained on.
  Hmm(Alphabet alphabet, std::size_t hidden, std::vector<float> initial, std::vector<float> transition,
      std::vector<float> emission, std::string made_by);

  // Every hidden state emits every symbol alike and moves on to every state alike. One is enough: with more of them the
  // probabilities are the same.
  static Hmm uniform(Alphabet alphabet, std::size_t hidden = 1);
  // Parameters drawn at random, away from zero: where training begins. The same seed gives the same model everywhere.
  static Hmm random(Alphabet alphabet, std::size_t hidden, std::uint64_t seed);

  // The file: "mctrlhmm", version, sizes, alphabet, made_by, `step`, then the parameters from a multiple of 64 bytes
  // on, and a checksum; little-endian. Throws InputError for a file that is missing, damaged, cut off, or of another
  // version.
  static Hmm load(const std::string& file);
  // All of the file or nothing (see support/files.h).
  void save(const std::string& file) const;

  const Alphabet& alphabet() const;
  std::size_t num_hidden() const;
  std::size_t num_symbols() const { return alphabet().size; }
  const std::string& made_by() const;
  // Training steps behind these parameters; what a resumed training goes on from.
  std::uint64_t step() const;
  Hmm with_step(std::uint64_t step) const;

  std::span<const float> initial() const;
  std::span<const float> transition() const;
  std::span<const float> emission() const;
  // Of all states, for one symbol.
  std::span<const float> emission(SymbolId symbol) const {
    return emission().subspan(static_cast<std::size_t>(symbol) * num_hidden(), num_hidden());
  }

  // log p(sequence): minus infinity when the model cannot write it. O(length * hidden^2), in double.
  double log_likelihood(std::span<const SymbolId> sequence) const;

  std::size_t num_parameters() const { return num_hidden() * (1 + num_hidden() + num_symbols()); }
  std::size_t memory_bytes() const { return num_parameters() * sizeof(float); }

 private:
  struct Data;
  explicit Hmm(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  std::shared_ptr<const Data> data_;
};

}  // namespace metactrl

#endif  // METACTRL_HMM_H_
