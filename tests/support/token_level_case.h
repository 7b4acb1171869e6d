// What the tests of the token level compare with: models of tokens, all texts of well-formed plans, and what an entry of
// the token automaton is worth to the lookahead. Spelled out in double, from the token automaton's entries and the task's
// rules alone. Without GoogleTest.
#ifndef METACTRL_TESTS_SUPPORT_TOKEN_LEVEL_CASE_H_
#define METACTRL_TESTS_SUPPORT_TOKEN_LEVEL_CASE_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "metactrl/decoder.h"
#include "support/random.h"
#include "text/token_automaton.h"

namespace metactrl::testing {

// --- models ----------------------------------------------------------------------------------------------------------

inline Hmm random_token_hmm(const Vocabulary& vocabulary, std::size_t hidden, std::uint64_t seed) {
  const auto end = static_cast<std::uint32_t>(vocabulary.end_of_turn().front());
  return Hmm::random(Alphabet::tokens(vocabulary.size(), end, vocabulary.fingerprint()), hidden, seed);
}

// The same with a quarter of all emissions left out: there are texts that it holds impossible.
inline Hmm sparse_token_hmm(const Vocabulary& vocabulary, std::size_t hidden, std::uint64_t seed) {
  const Hmm full = random_token_hmm(vocabulary, hidden, seed);
  std::vector<float> emission(full.emission().begin(), full.emission().end());
  Random random(seed);
  for (std::size_t z = 0; z < hidden; ++z) {
    double sum = 0;
    for (std::size_t x = 0; x < full.num_symbols(); ++x) {
      if (random.below(4) == 0) emission[x * hidden + z] = 0;
      sum += static_cast<double>(emission[x * hidden + z]);
    }
    for (std::size_t x = 0; x < full.num_symbols(); ++x) emission[x * hidden + z] /= static_cast<float>(sum);
  }
  return {full.alphabet(),
          hidden,
          {full.initial().begin(), full.initial().end()},
          {full.transition().begin(), full.transition().end()},
          emission,
          ""};
}

// Numbers that are powers of two and add up to 1.
inline std::vector<double> dyadic_distribution(std::size_t size, Random& random) {
  std::vector<double> shares{1};
  while (shares.size() < size) {
    const auto largest = std::max_element(shares.begin(), shares.end());
    *largest /= 2;
    shares.push_back(*largest);
  }
  for (std::size_t i = size; i > 1; --i) std::swap(shares[i - 1], shares[random.below(i)]);
  return shares;
}

// A model of plans over the names and objects of a task, on whose numbers 32 bits are exact: emissions are powers of two,
// and each hidden state leads to one other. So short plans have probabilities of a few binary digits, and a table of the
// trained lookahead, which holds such numbers, can be compared with sums in double.
inline Hmm dyadic_meta_hmm(const Task& task, std::size_t hidden, std::uint64_t seed) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < task.num_action_names(); ++i) names.push_back(task.action_name(ActionNameId{i}));
  const Alphabet alphabet = Alphabet::meta(names, task.num_objects());
  Random random(seed);
  std::vector<float> initial;
  std::vector<float> transition(hidden * hidden);
  std::vector<float> emission(alphabet.size * hidden);
  for (const double share : dyadic_distribution(hidden, random)) initial.push_back(static_cast<float>(share));
  for (std::size_t z = 0; z < hidden; ++z) {
    transition[z * hidden + random.below(hidden)] = 1;
    const std::vector<double> shares = dyadic_distribution(alphabet.size, random);
    for (std::size_t x = 0; x < alphabet.size; ++x) emission[x * hidden + z] = static_cast<float>(shares[x]);
  }
  return {alphabet, hidden, initial, transition, emission, ""};
}

inline double emission(const Hmm& hmm, SymbolId symbol, std::size_t z) {
  return static_cast<double>(hmm.emission(symbol)[z]);
}
inline double emission(const Hmm& hmm, TokenId token, std::size_t z) {
  return emission(hmm, token == TokenAutomaton::kEnd ? hmm.alphabet().end : SymbolId{static_cast<std::uint32_t>(token)},
                  z);
}

inline double transition(const Hmm& hmm, std::size_t from, std::size_t to) {
  return static_cast<double>(hmm.transition()[from * hmm.num_hidden() + to]);
}

// The forward recursion, without scaling.
struct Forward {
  explicit Forward(const Hmm& hmm) : state(hmm.initial().begin(), hmm.initial().end()) {}
  template <typename Symbol>
  Forward(const Hmm& hmm, const std::vector<Symbol>& symbols) : Forward(hmm) {
    for (const Symbol symbol : symbols) read(hmm, symbol);
  }
  template <typename Symbol>
  void read(const Hmm& hmm, Symbol symbol) {
    std::vector<double> next(state.size());
    probability = 0;
    for (std::size_t z = 0; z < state.size(); ++z) {
      const double here = state[z] * emission(hmm, symbol, z);
      probability += here;
      for (std::size_t to = 0; to < state.size(); ++to) next[to] += here * transition(hmm, z, to);
    }
    state = next;
  }
  std::vector<double> state;  // p(the text, and this state comes next)
  double probability = 1;     // p(the text)
};

// --- texts -----------------------------------------------------------------------------------------------------------

struct PlanText {
  std::vector<TokenId> symbols;      // the end of the turn included
  std::vector<std::uint32_t> ranks;  // of its entries
  double probability = 0;
};

class AllTexts {
 public:
  AllTexts(const Constraint& constraint, const Hmm& hmm, unsigned horizon) : automaton_(constraint.automaton()) {
    PlanText text;
    append(text, automaton_.empty_plan());
    add(text);
    PlanText opening;
    append(opening, automaton_.opening());
    if (horizon > 0) extend(opening, automaton_.first_group(), horizon);
    for (PlanText& one : texts_) one.probability = Forward(hmm, one.symbols).probability;
  }
  const std::vector<PlanText>& texts() const { return texts_; }

 private:
  static void append(PlanText& text, std::span<const TokenId> symbols) {
    text.symbols.insert(text.symbols.end(), symbols.begin(), symbols.end());
  }
  void add(PlanText text) {
    if (text.symbols.empty() || text.symbols.back() != TokenAutomaton::kEnd)
      text.symbols.push_back(TokenAutomaton::kEnd);
    texts_.push_back(std::move(text));
  }
  void extend(const PlanText& text, std::uint32_t group, unsigned left) {
    for (auto [rank, end] = automaton_.group(group); rank < end; ++rank) {
      PlanText longer = text;
      append(longer, automaton_.tokens(rank));
      longer.ranks.push_back(rank);
      const std::uint32_t next = automaton_.entry(rank).next;
      if (next == TokenAutomaton::kClose) {
        add(longer);
      } else if (left > 1) {
        append(longer, automaton_.prefix(longer.ranks.size() + 1));
        extend(longer, automaton_.group_after(next), left - 1);
      }
    }
  }

  const TokenAutomaton& automaton_;
  std::vector<PlanText> texts_;
};

// A decoder's tokens with TokenAutomaton::kEnd for the end of the turn.
inline TokenId symbol_of(const Vocabulary& vocabulary, TokenId token) {
  const std::vector<TokenId>& ends = vocabulary.end_of_turn();
  return std::find(ends.begin(), ends.end(), token) != ends.end() ? TokenAutomaton::kEnd : token;
}

// --- what an entry is worth ------------------------------------------------------------------------------------------

// To the lookahead, behind what a decoder has written: 1 with guidance syntax; with mask whether a plan can still reach
// the goal; above it the surrogate's probability that it does, given that it goes on. Every action counts, also one that
// changes nothing.
class Worth {
 public:
  // `meta`: with guidance trained.
  Worth(const Task& task, Guidance guidance, std::optional<Hmm> meta = std::nullopt)
      : task_(task), guidance_(guidance), meta_(std::move(meta)) {
    uniform_ = 1.0 / static_cast<double>(task_.num_action_names() + task_.num_objects() + 1);
    if (!meta_) return;
    std::set<ObjectId> taken;  // by some action: others have no symbol
    for (std::uint32_t a = 0; a < task_.num_actions(); ++a) {
      taken.insert(task_.arguments(ActionId{a}).begin(), task_.arguments(ActionId{a}).end());
    }
    slots_.assign(taken.begin(), taken.end());
  }

  double of(const Decoder& decoder, const TokenAutomaton::Entry& entry) {
    if (guidance_ == Guidance::kSyntax) return 1;
    const std::optional<State> next = task_.apply(decoder.state(), entry.action);
    if (!next) return 0;
    if (entry.next == TokenAutomaton::kClose) return task_.is_goal(*next) ? 1 : 0;
    const unsigned left = decoder.left() - 1;
    if (guidance_ == Guidance::kTrained) return trained(decoder, entry.action, *next, left);
    const double going = uniform(*next, left);
    return guidance_ == Guidance::kMask ? (going > 0 ? 1 : 0) : going / (1 - uniform_);
  }

 private:
  using Key = std::pair<std::vector<std::uint64_t>, unsigned>;
  static Key key(const State& state, unsigned left) { return {{state.words().begin(), state.words().end()}, left}; }

  // At least one more action, and the goal: every symbol alike.
  double uniform(const State& state, unsigned left) {
    const auto [found, added] = uniform_known_.try_emplace(key(state, left), 0);
    if (!added) return found->second;
    double sum = 0;
    for (std::uint32_t a = 0; left > 0 && a < task_.num_actions(); ++a) {
      const std::optional<State> next = task_.apply(state, ActionId{a});
      if (!next) continue;
      const double p = std::pow(uniform_, 1.0 + static_cast<double>(task_.arguments(ActionId{a}).size()));
      sum += p * ((task_.is_goal(*next) ? uniform_ : 0) + uniform(*next, left - 1));
    }
    return uniform_known_[key(state, left)] = sum;
  }

  double trained(const Decoder& decoder, ActionId action, const State& next, unsigned left) {
    std::vector<SymbolId> symbols;
    for (const ActionId before : decoder.actions()) spell(before, symbols);
    spell(action, symbols);
    const Forward behind(*meta_, symbols);
    const std::vector<double>& ahead = goes_on(next, left);
    double begins = 0;
    double ends = 0;
    double going = 0;
    for (std::size_t z = 0; z < ahead.size(); ++z) {
      begins += behind.state[z];
      ends += behind.state[z] * emission(*meta_, meta_->alphabet().end, z);
      going += behind.state[z] * ahead[z];
    }
    return going / (begins - ends);
  }

  // The same with the model of plans, of each hidden state that emits the next symbol.
  const std::vector<double>& goes_on(const State& state, unsigned left) {
    const auto [found, added] = trained_known_.try_emplace(key(state, left));
    if (!added) return found->second;
    std::vector<double> sum(meta_->num_hidden());
    for (std::uint32_t a = 0; left > 0 && a < task_.num_actions(); ++a) {
      const std::optional<State> next = task_.apply(state, ActionId{a});
      if (!next) continue;
      std::vector<double> ahead = goes_on(*next, left - 1);
      for (std::size_t z = 0; task_.is_goal(*next) && z < ahead.size(); ++z) {
        ahead[z] += emission(*meta_, meta_->alphabet().end, z);
      }
      std::vector<SymbolId> symbols;
      spell(ActionId{a}, symbols);
      for (std::size_t i = symbols.size(); i-- > 0;) {
        std::vector<double> before(ahead.size());
        for (std::size_t z = 0; z < ahead.size(); ++z) {
          for (std::size_t to = 0; to < ahead.size(); ++to) before[z] += transition(*meta_, z, to) * ahead[to];
          before[z] *= emission(*meta_, symbols[i], z);
        }
        ahead = before;
      }
      for (std::size_t z = 0; z < sum.size(); ++z) sum[z] += ahead[z];
    }
    return trained_known_[key(state, left)] = sum;
  }

  void spell(ActionId action, std::vector<SymbolId>& symbols) const {
    const Alphabet& alphabet = meta_->alphabet();
    symbols.push_back(alphabet.action(task_.action_name(task_.name_of(action))));
    for (const ObjectId object : task_.arguments(action)) {
      const auto slot = std::lower_bound(slots_.begin(), slots_.end(), object) - slots_.begin();
      symbols.push_back(alphabet.slot(static_cast<std::size_t>(slot)));
    }
  }

  const Task& task_;
  Guidance guidance_;
  std::optional<Hmm> meta_;
  double uniform_ = 0;  // the probability of every symbol
  std::vector<ObjectId> slots_;
  std::map<Key, double> uniform_known_;
  std::map<Key, std::vector<double>> trained_known_;
};

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_TOKEN_LEVEL_CASE_H_
