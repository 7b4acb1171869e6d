// The token level, p(gamma | text), and its product with what the lookahead says, against two references that share
// nothing with the decoder but the token automaton's entries:
//
//   - enumeration: every text of a well-formed plan within the horizon, with its probability by a forward recursion
//     without scaling; a token is worth what the texts that begin with it have together
//   - the joint automaton of syntax and semantics (the paper's Appendix A) with a hidden Markov model of tokens, by
//     Ctrl-G's recursion over its states. There the semantics term is the one that the model of tokens induces,
//     p(goal | actions, well-formed), and the sum over actions must give what the joint automaton gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "decode/syntax_table.h"
#include "decode/token_bridge.h"
#include "metactrl/decoder.h"
#include "support/random.h"
#include "support/random_constraint.h"
#include "support/repeats.h"
#include "text/token_automaton.h"

namespace metactrl::token_level_property_test {
namespace {

using testing::Random;
using testing::random_constraint;
using testing::RandomConstraintOptions;

constexpr std::uint32_t kClose = TokenAutomaton::kClose;
constexpr TokenId kEnd = TokenAutomaton::kEnd;

Hmm random_hmm(const Vocabulary& vocabulary, std::size_t hidden, std::uint64_t seed) {
  const auto end = static_cast<std::uint32_t>(vocabulary.end_of_turn().front());
  return Hmm::random(Alphabet::tokens(vocabulary.size(), end, vocabulary.fingerprint()), hidden, seed);
}

// The same with a quarter of all emissions left out: there are texts that it holds impossible.
Hmm sparse_hmm(const Vocabulary& vocabulary, std::size_t hidden, std::uint64_t seed) {
  const Hmm full = random_hmm(vocabulary, hidden, seed);
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

double emission(const Hmm& hmm, TokenId symbol, std::size_t z) {
  const SymbolId emitted = symbol == kEnd ? hmm.alphabet().end : SymbolId{static_cast<std::uint32_t>(symbol)};
  return static_cast<double>(hmm.emission(emitted)[z]);
}

double transition(const Hmm& hmm, std::size_t from, std::size_t to) {
  return static_cast<double>(hmm.transition()[from * hmm.num_hidden() + to]);
}

// The forward recursion, without scaling.
struct Forward {
  explicit Forward(const Hmm& hmm) : state(hmm.initial().begin(), hmm.initial().end()) {}
  Forward(const Hmm& hmm, std::span<const TokenId> symbols) : Forward(hmm) {
    for (const TokenId symbol : symbols) read(hmm, symbol);
  }
  void read(const Hmm& hmm, TokenId symbol) {
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

// --- enumeration -----------------------------------------------------------------------------------------------------

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
    if (text.symbols.empty() || text.symbols.back() != kEnd) text.symbols.push_back(kEnd);
    texts_.push_back(std::move(text));
  }
  void extend(const PlanText& text, std::uint32_t group, unsigned left) {
    for (auto [rank, end] = automaton_.group(group); rank < end; ++rank) {
      PlanText longer = text;
      append(longer, automaton_.tokens(rank));
      longer.ranks.push_back(rank);
      const std::uint32_t next = automaton_.entry(rank).next;
      if (next == kClose) {
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

// What an entry is worth behind some actions.
class Worth {
 public:
  Worth(const Constraint& constraint, Guidance guidance) : task_(constraint.task()), guidance_(guidance) {
    symbol_ = 1.0 / static_cast<double>(task_.num_action_names() + task_.num_objects() + 1);
  }

  double of(const State& state, unsigned left, const TokenAutomaton::Entry& entry) const {
    if (guidance_ == Guidance::kSyntax) return 1;
    const std::optional<State> next = task_.apply(state, entry.action);
    if (!next) return 0;
    if (entry.next == kClose) return task_.is_goal(*next) ? 1 : 0;
    const double going = goes_on(*next, left - 1);
    return guidance_ == Guidance::kMask ? (going > 0 ? 1 : 0) : going / (1 - symbol_);
  }

 private:
  // At least one more action, and the goal: by the uniform surrogate.
  double goes_on(const State& state, unsigned left) const {
    double sum = 0;
    for (std::uint32_t a = 0; left > 0 && a < task_.num_actions(); ++a) {
      const std::optional<State> next = task_.apply(state, ActionId{a});
      if (!next) continue;
      const double p = std::pow(symbol_, 1.0 + static_cast<double>(task_.arguments(ActionId{a}).size()));
      sum += p * ((task_.is_goal(*next) ? symbol_ : 0) + goes_on(*next, left - 1));
    }
    return sum;
  }

  const Task& task_;
  Guidance guidance_;
  double symbol_ = 0;  // the probability of every symbol
};

// A decoder's tokens with kEnd for the end of the turn.
TokenId symbol_of(const Vocabulary& vocabulary, TokenId token) {
  const std::vector<TokenId>& ends = vocabulary.end_of_turn();
  return std::find(ends.begin(), ends.end(), token) != ends.end() ? kEnd : token;
}

struct Compared {
  std::size_t tasks = 0;
  std::size_t weights = 0;
  std::size_t differing = 0;  // tokens whose weight is not that of another at the same place
};

void compare_with_enumeration(const std::shared_ptr<const Constraint>& constraint, const Hmm& hmm,
                              const DecoderOptions& options, Random& random, Compared& compared) {
  const Task& task = constraint->task();
  const unsigned horizon = constraint->lookahead()->horizon();
  const AllTexts all(*constraint, hmm, horizon);
  const Worth worth(*constraint, options.guidance);
  const bool may_be_empty = options.guidance == Guidance::kSyntax || task.is_goal(task.initial_state());
  Decoder decoder(constraint, options);
  std::vector<TokenId> text;
  while (!decoder.finished()) {
    const std::vector<NextToken> next(decoder.next().begin(), decoder.next().end());
    ASSERT_FALSE(next.empty());
    const std::size_t entry = decoder.separators().size();
    std::map<std::uint32_t, double> worths;  // of the entry at hand
    for (const NextToken& choice : next) {
      text.push_back(symbol_of(constraint->vocabulary(), choice.token));
      double sum = 0;
      for (const PlanText& one : all.texts()) {
        if (one.symbols.size() < text.size() || !std::equal(text.begin(), text.end(), one.symbols.begin())) continue;
        if (one.ranks.size() <= entry) {
          if (may_be_empty) sum += one.probability;
          continue;
        }
        const std::uint32_t rank = one.ranks[entry];
        if (!worths.contains(rank)) {
          // An entry whose text is complete was allowed.
          const bool complete = decoder.actions().size() > entry;
          worths[rank] = complete ? 1 : worth.of(decoder.state(), decoder.left(), constraint->automaton().entry(rank));
        }
        sum += one.probability * worths[rank];
      }
      const double before = Forward(hmm, text).probability;
      // Where the model holds the text impossible, the weight is only finite.
      ASSERT_TRUE(std::isfinite(choice.log_weight));
      if (before > 0 && sum > 0) {
        const double expected = std::log(sum / before);
        ASSERT_NEAR(choice.log_weight, expected, 1e-9 * (1 + std::abs(expected))) << "behind " << text.size();
        ++compared.weights;
        compared.differing += std::abs(choice.log_weight - next[0].log_weight) > 1e-3 ? 1 : 0;
      } else if (before > 0) {
        ASSERT_LE(choice.log_weight, kLowestLogWeight);
      }
      text.pop_back();
    }
    const TokenId token = next[random.below(next.size())].token;
    text.push_back(symbol_of(constraint->vocabulary(), token));
    ASSERT_TRUE(decoder.accept(token));
    // Behind a text that it holds impossible the model begins anew.
    if (Forward(hmm, text).probability == 0) break;
  }
  ++compared.tasks;
}

class TokenLevelEnumeration : public ::testing::TestWithParam<Guidance> {};

TEST_P(TokenLevelEnumeration, EqualsTheSumOverAllPlans) {
  Compared compared;
  for (std::uint64_t seed = 0; seed < 20000 && compared.tasks < testing::repeats(1200); ++seed) {
    RandomConstraintOptions options;
    options.horizon = 1 + static_cast<unsigned>(seed % 3);
    options.max_actions = options.horizon == 3 ? 3 : 5;
    options.all_relevant = true;
    options.no_closing = seed % 5 == 2;
    const auto constraint = random_constraint(seed, options);
    if (constraint == nullptr || constraint->lookahead()->horizon() > 3) continue;
    const std::size_t hidden = 1 + seed % 5;
    const Hmm hmm = seed % 4 == 3 ? sparse_hmm(constraint->vocabulary(), hidden, seed)
                                  : random_hmm(constraint->vocabulary(), hidden, seed);
    Random random(seed);
    compare_with_enumeration(
        constraint, hmm,
        {.guidance = GetParam(),
         .bridge = GetParam() == Guidance::kSyntax && seed % 2 == 0 ? Bridge::kUniform : Bridge::kHmm,
         .token_hmm = hmm,
         .support = {.idle_steps = true}},
        random, compared);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_EQ(compared.tasks, testing::repeats(1200));
  EXPECT_GT(compared.weights, testing::repeats(10000));
  EXPECT_GT(compared.differing, testing::repeats(1000));
}

INSTANTIATE_TEST_SUITE_P(Guidances, TokenLevelEnumeration,
                         ::testing::Values(Guidance::kSyntax, Guidance::kMask, Guidance::kUniform),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

// --- the joint automaton ---------------------------------------------------------------------------------------------

// Of each state of the automaton (where in the text, the state of the world, actions left) and each hidden state that
// emits the next token: the probability that the text is accepted. Without `semantics` every action is legal and every
// state is at the goal.
class JointAutomaton {
 public:
  JointAutomaton(const Constraint& constraint, const Hmm& hmm, bool semantics, unsigned horizon)
      : constraint_(constraint), hmm_(hmm), semantics_(semantics), horizon_(horizon) {}

  const std::vector<double>& inside(const State& state, unsigned left, std::uint32_t group,
                                    const std::vector<TokenId>& read) {
    const auto key =
        std::make_tuple(std::vector<std::uint64_t>(state.words().begin(), state.words().end()), left, group, read);
    if (const auto found = memory_.find(key); found != memory_.end()) return found->second;
    const TokenAutomaton& automaton = constraint_.automaton();
    std::map<TokenId, std::optional<std::uint32_t>> next;  // with the entry that is complete behind it
    for (auto [rank, end] = automaton.group(group); rank < end; ++rank) {
      const std::span<const TokenId> tokens = automaton.tokens(rank);
      if (tokens.size() <= read.size() || !std::equal(read.begin(), read.end(), tokens.begin())) continue;
      std::optional<std::uint32_t>& complete = next[tokens[read.size()]];
      if (tokens.size() == read.size() + 1) complete = rank;
    }
    std::vector<double> result(hmm_.num_hidden());
    for (const auto& [symbol, complete] : next) {
      std::vector<double> ahead(hmm_.num_hidden());
      if (complete) {
        ahead = behind(state, left, *complete);
      } else {
        std::vector<TokenId> longer = read;
        longer.push_back(symbol);
        ahead = before(inside(state, left, group, longer));
      }
      for (std::size_t z = 0; z < result.size(); ++z) result[z] += emission(hmm_, symbol, z) * ahead[z];
    }
    return memory_[key] = result;
  }

  // Of the hidden state that emitted the last symbol of an entry.
  std::vector<double> behind(const State& state, unsigned left, std::uint32_t rank) {
    const TokenAutomaton& automaton = constraint_.automaton();
    const TokenAutomaton::Entry& entry = automaton.entry(rank);
    std::vector<double> nothing(hmm_.num_hidden());
    State successor = state;
    if (semantics_) {
      const std::optional<State> next = constraint_.task().apply(state, entry.action);
      if (!next) return nothing;
      successor = *next;
    }
    if (entry.next == kClose) {
      if (semantics_ && !constraint_.task().is_goal(successor)) return nothing;
      if (automaton.tokens(rank).back() == kEnd) return std::vector<double>(hmm_.num_hidden(), 1);
      std::vector<double> end(hmm_.num_hidden());
      for (std::size_t z = 0; z < end.size(); ++z) end[z] = emission(hmm_, kEnd, z);
      return before(end);
    }
    if (left <= 1) return nothing;
    std::vector<double> ahead = before(inside(successor, left - 1, automaton.group_after(entry.next), {}));
    const std::span<const TokenId> number = automaton.prefix(horizon_ - left + 2);
    for (std::size_t i = number.size(); i-- > 0;) {
      for (std::size_t z = 0; z < ahead.size(); ++z) ahead[z] *= emission(hmm_, number[i], z);
      ahead = before(ahead);
    }
    return ahead;
  }

 private:
  // Of the hidden state before.
  std::vector<double> before(const std::vector<double>& ahead) const {
    std::vector<double> result(ahead.size());
    for (std::size_t z = 0; z < ahead.size(); ++z) {
      for (std::size_t to = 0; to < ahead.size(); ++to) result[z] += transition(hmm_, z, to) * ahead[to];
    }
    return result;
  }

  const Constraint& constraint_;
  const Hmm& hmm_;
  bool semantics_;
  unsigned horizon_;
  std::map<std::tuple<std::vector<std::uint64_t>, unsigned, std::uint32_t, std::vector<TokenId>>, std::vector<double>>
      memory_;
};

// The distribution of the state that emitted the last symbol of a text, times the text's probability.
std::vector<double> emitted_by(const Hmm& hmm, std::vector<TokenId> text) {
  const TokenId last = text.back();
  text.pop_back();
  std::vector<double> state = Forward(hmm, text).state;
  for (std::size_t z = 0; z < state.size(); ++z) state[z] *= emission(hmm, last, z);
  return state;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t z = 0; z < a.size(); ++z) sum += a[z] * b[z];
  return sum;
}

// One task: along a random plan that reaches the goal, every token of every entry that some goal-reaching plan has.
class JointComparison {
 public:
  JointComparison(const Constraint& constraint, const Hmm& hmm, unsigned horizon)
      : constraint_(constraint),
        hmm_(hmm),
        horizon_(horizon),
        syntax_(constraint, hmm, false, horizon),
        joint_(constraint, hmm, true, horizon),
        bridge_(constraint, std::make_shared<const decode::TokenSurrogate>(hmm, constraint.vocabulary()), horizon,
                false, {}) {}

  void run(Random& random, Compared& compared) {
    const TokenAutomaton& automaton = constraint_.automaton();
    State state = constraint_.task().initial_state();
    std::vector<TokenId> text(automaton.opening().begin(), automaton.opening().end());
    decode::Boundary boundary;
    boundary.group = automaton.first_group();
    for (unsigned left = horizon_; left > 0; --left) {
      const std::vector<decode::Path> paths = paths_of(state, left, boundary.group, text);
      if (paths.empty()) break;
      bridge_.open(boundary, paths);
      for (std::uint32_t i = 0; i < paths.size(); ++i) compare(boundary, paths, i, text, compared);
      if (::testing::Test::HasFatalFailure()) return;
      const std::uint32_t taken = paths[random.below(paths.size())].rank;
      const TokenAutomaton::Entry& entry = automaton.entry(taken);
      if (entry.next == kClose) break;
      state = *constraint_.task().apply(state, entry.action);
      text.insert(text.end(), automaton.tokens(taken).begin(), automaton.tokens(taken).end());
      ++boundary.number;
      const std::span<const TokenId> number = automaton.prefix(boundary.number + 1);
      text.insert(text.end(), number.begin(), number.end());
      boundary.group = automaton.group_after(entry.next);
      boundary.entered_by = taken;
      state_ = state;
    }
    ++compared.tasks;
  }

 private:
  // Entries that some accepted text has, with the semantics term that the model of tokens induces.
  std::vector<decode::Path> paths_of(const State& state, unsigned left, std::uint32_t group,
                                     const std::vector<TokenId>& text) {
    std::vector<decode::Path> paths;
    values_.clear();
    const TokenAutomaton& automaton = constraint_.automaton();
    for (auto [rank, end] = automaton.group(group); rank < end; ++rank) {
      std::vector<TokenId> whole = text;
      whole.insert(whole.end(), automaton.tokens(rank).begin(), automaton.tokens(rank).end());
      const std::vector<double> emitted = emitted_by(hmm_, whole);
      const double accepted = dot(emitted, joint_.behind(state, left, rank));
      if (!(accepted > 0)) continue;
      paths.push_back({rank, 0, std::log(accepted / dot(emitted, syntax_.behind(state, left, rank)))});
      values_.push_back(accepted);
    }
    return paths;
  }

  // Every prefix of a path: the sum over actions against the joint automaton.
  void compare(const decode::Boundary& boundary, std::span<const decode::Path> paths, std::uint32_t path,
               const std::vector<TokenId>& text, Compared& compared) {
    const TokenAutomaton& automaton = constraint_.automaton();
    const std::span<const TokenId> tokens = automaton.tokens(paths[path].rank);
    std::uint32_t all_begin = 0;
    std::uint32_t all_end = 0;
    std::tie(all_begin, all_end) = automaton.group(boundary.group);
    std::vector<TokenId> whole = text;
    std::vector<TokenId> read;
    for (std::uint32_t depth = 0; depth < tokens.size(); ++depth) {
      std::tie(all_begin, all_end) = automaton.narrow(all_begin, all_end, depth, tokens[depth]);
      whole.push_back(tokens[depth]);
      read.push_back(tokens[depth]);
      decode::Choice choice{0, 0, all_begin, all_end, depth, false, 0};
      const auto first =
          std::find_if(paths.begin(), paths.end(), [&](const auto& one) { return one.rank >= all_begin; });
      const auto last = std::find_if(first, paths.end(), [&](const auto& one) { return one.rank >= all_end; });
      choice.begin = static_cast<std::uint32_t>(first - paths.begin());
      choice.end = static_cast<std::uint32_t>(last - paths.begin());
      const Forward forward(hmm_, whole);
      const unsigned left = horizon_ - static_cast<unsigned>(boundary.number);
      const double accepted = depth + 1 == tokens.size()
                                  ? values_[path]
                                  : dot(forward.state, joint_.inside(state_, left, boundary.group, read));
      const double expected = std::log(accepted / forward.probability);
      ASSERT_NEAR(bridge_.log_weight(boundary, paths, choice), expected, 1e-9 * (1 + std::abs(expected)));
      ++compared.weights;
      compared.differing += choice.end - choice.begin > 1 ? 1 : 0;
    }
  }

  const Constraint& constraint_;
  const Hmm& hmm_;
  unsigned horizon_;
  JointAutomaton syntax_;
  JointAutomaton joint_;
  decode::TokenBridge bridge_;
  State state_ = constraint_.task().initial_state();
  std::vector<double> values_;  // of the paths: p(text, entry, accepted)
};

TEST(TokenLevelJointAutomaton, TheSumOverActionsIsItsProbability) {
  Compared compared;
  for (std::uint64_t seed = 0; seed < 20000 && compared.tasks < testing::repeats(1500); ++seed) {
    RandomConstraintOptions options;
    options.horizon = 1 + static_cast<unsigned>(seed % 5);
    options.no_closing = seed % 4 == 2;
    const auto constraint = random_constraint(seed, options);
    if (constraint == nullptr) continue;
    const Hmm hmm = random_hmm(constraint->vocabulary(), 1 + seed % 6, seed);
    Random random(seed);
    JointComparison comparison(*constraint, hmm, constraint->lookahead()->horizon());
    comparison.run(random, compared);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_EQ(compared.tasks, testing::repeats(1500));
  EXPECT_GT(compared.weights, testing::repeats(10000));
  EXPECT_GT(compared.differing, testing::repeats(2000));
}

// Syntax alone over longer plans than can be enumerated, from every place that a random text passes.
TEST(TokenLevelJointAutomaton, SyntaxAlone) {
  Compared compared;
  for (std::uint64_t seed = 0; seed < 20000 && compared.tasks < testing::repeats(1000); ++seed) {
    RandomConstraintOptions options;
    options.horizon = 1 + static_cast<unsigned>(seed % 8);
    options.no_closing = seed % 4 == 2;
    const auto constraint = random_constraint(seed, options);
    if (constraint == nullptr) continue;
    const Hmm hmm = random_hmm(constraint->vocabulary(), 1 + seed % 6, seed);
    const unsigned horizon = constraint->lookahead()->horizon();
    JointAutomaton syntax(*constraint, hmm, false, horizon);
    Random random(seed);
    Decoder decoder(constraint, {.guidance = Guidance::kSyntax, .forbid_empty = true, .token_hmm = hmm});
    const TokenAutomaton& automaton = constraint->automaton();
    std::vector<TokenId> text;
    std::vector<TokenId> read;
    std::size_t before = automaton.opening().size();  // symbols before the entry at hand
    const State state = constraint->task().initial_state();
    while (!decoder.finished()) {
      const std::vector<NextToken> next(decoder.next().begin(), decoder.next().end());
      const std::size_t entry = decoder.separators().size();
      const bool inside = text.size() >= before && decoder.actions().size() == entry;
      for (const NextToken& choice : next) {
        if (!inside) break;
        text.push_back(symbol_of(constraint->vocabulary(), choice.token));
        read.push_back(text.back());
        const std::uint32_t group =
            entry == 0 ? automaton.first_group() : automaton.group_after(decoder.separators().back());
        const auto [all_begin, all_end] = automaton.group(group);
        double accepted = 0;
        for (std::uint32_t rank = all_begin; rank < all_end; ++rank) {
          if (!std::equal(read.begin(), read.end(), automaton.tokens(rank).begin(), automaton.tokens(rank).end()))
            continue;
          accepted = dot(emitted_by(hmm, text), syntax.behind(state, decoder.left(), rank));
        }
        const Forward forward(hmm, text);
        if (accepted == 0) accepted = dot(forward.state, syntax.inside(state, decoder.left(), group, read));
        const double expected = std::log(accepted / forward.probability);
        ASSERT_NEAR(choice.log_weight, expected, 1e-9 * (1 + std::abs(expected))) << "seed " << seed;
        ++compared.weights;
        text.pop_back();
        read.pop_back();
      }
      const TokenId token = next[random.below(next.size())].token;
      text.push_back(symbol_of(constraint->vocabulary(), token));
      if (inside) read.push_back(text.back());
      ASSERT_TRUE(decoder.accept(token));
      if (decoder.separators().size() > entry) {
        read.clear();
        before = text.size() + automaton.prefix(decoder.separators().size() + 1).size();
      }
    }
    ++compared.tasks;
  }
  EXPECT_EQ(compared.tasks, testing::repeats(1000));
  EXPECT_GT(compared.weights, testing::repeats(15000));
}

// --- the table -------------------------------------------------------------------------------------------------------

// A table without room computes the layers again, with the same numbers.
TEST(SyntaxTable, NumbersDoNotDependOnTheBudget) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < 200 && compared < 2000; ++seed) {
    RandomConstraintOptions options;
    options.horizon = 6;
    const auto constraint = random_constraint(seed, options);
    if (constraint == nullptr) continue;
    const Hmm hmm = random_hmm(constraint->vocabulary(), 3, seed);
    const TokenAutomaton& automaton = constraint->automaton();
    const decode::SyntaxTable large(automaton, hmm, {.horizon = 6, .each_entry = true});
    const decode::SyntaxTable small(automaton, hmm, {.horizon = 6, .each_entry = true, .bytes = 0});
    EXPECT_TRUE(large.keeps_layers());
    EXPECT_FALSE(small.keeps_layers());
    decode::SyntaxTable::Memory memory;
    std::vector<double> emitted(large.width());
    emitted[seed % 3] = 1;
    for (const unsigned left : {6U, 1U, 3U, 6U}) {
      const auto a = large.layer(left, memory);
      const auto b = small.layer(left, memory);
      for (std::uint32_t rank = 0; rank < automaton.num_entries(); ++rank) {
        for (std::size_t depth = 0; depth < automaton.tokens(rank).size(); ++depth, ++compared) {
          ASSERT_EQ(large.log_rest(a, large.behind(rank, depth), emitted),
                    small.log_rest(b, small.behind(rank, depth), emitted));
          ASSERT_EQ(large.log_rest(a, large.behind_alone(rank, depth), emitted),
                    small.log_rest(b, small.behind_alone(rank, depth), emitted));
        }
      }
    }
  }
  EXPECT_GE(compared, 2000U);
}

// Layers become one when more actions add nothing, and what they hold does not depend on where that is.
TEST(SyntaxTable, SettlesWhereLongerPlansAddNothing) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto constraint = random_constraint(seed, {});
    if (constraint == nullptr || !constraint->automaton().prefix(2).empty()) continue;
    const Hmm hmm = random_hmm(constraint->vocabulary(), 4, seed);
    const decode::SyntaxTable table(constraint->automaton(), hmm, {.horizon = 1000});
    EXPECT_LT(table.num_layers(), 40U);
    const decode::SyntaxTable lower(constraint->automaton(), hmm, {.horizon = table.num_layers() - 1});
    std::vector<double> belief(table.width());
    std::copy(hmm.initial().begin(), hmm.initial().end(), belief.begin());
    const std::uint32_t group = constraint->automaton().first_group();
    EXPECT_NEAR(table.log_begin(1000, group, belief), lower.log_begin(1000, group, belief), 1e-12);
    return;
  }
  FAIL() << "no seed gives a task";
}

}  // namespace
}  // namespace metactrl::token_level_property_test
