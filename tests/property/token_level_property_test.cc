// The token level, p(gamma | text), and its product with what the lookahead says, against a monolithic automaton with a
// hidden Markov model of tokens, by Ctrl-G's recursion over its states. It shares nothing with the decoder but the token
// automaton's entries:
//
//   - the joint automaton of syntax and semantics (the paper's Appendix A). There the semantics term is the one that the
//     model of tokens induces, p(goal | actions, well-formed), and the sum over actions must give what it gives.
//   - the automaton of the syntax, in which an entry is worth what the lookahead says.
//
// Against enumeration: token_level_enumeration_test.cc.
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
#include "support/token_level_case.h"
#include "text/token_automaton.h"

namespace metactrl::token_level_property_test {
namespace {

using testing::dyadic_meta_hmm;
using testing::emission;
using testing::Forward;
using testing::Random;
using testing::random_constraint;
using testing::random_token_hmm;
using testing::RandomConstraintOptions;
using testing::symbol_of;
using testing::transition;
using testing::Worth;

constexpr std::uint32_t kClose = TokenAutomaton::kClose;
constexpr TokenId kEnd = TokenAutomaton::kEnd;

struct Compared {
  std::size_t tasks = 0;
  std::size_t weights = 0;
  std::size_t several = 0;  // tokens with which more than one entry goes on
};

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
      compared.several += choice.end - choice.begin > 1 ? 1 : 0;
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

void compare_with_joint_automaton(std::uint64_t first_seed, std::size_t tasks) {
  Compared compared;
  for (std::uint64_t seed = first_seed; seed < first_seed + 20 * tasks && compared.tasks < tasks; ++seed) {
    RandomConstraintOptions options;
    options.horizon = 1 + static_cast<unsigned>(seed % 5);
    options.no_closing = seed % 4 == 2;
    const auto constraint = random_constraint(seed, options);
    if (constraint == nullptr) continue;
    const Hmm hmm = random_token_hmm(constraint->vocabulary(), 1 + seed % 6, seed);
    Random random(seed);
    JointComparison comparison(*constraint, hmm, constraint->lookahead()->horizon());
    comparison.run(random, compared);
    if (::testing::Test::HasFatalFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_EQ(compared.tasks, tasks);
  EXPECT_GT(compared.weights, 6 * tasks);
  EXPECT_GT(compared.several, tasks);
}

TEST(TokenLevelJointAutomaton, TheSumOverActionsIsItsProbability) {
  compare_with_joint_automaton(0, testing::repeats(150));
}

TEST(TokenLevelJointAutomaton, TheSumOverActionsIsItsProbabilitySlow) {
  compare_with_joint_automaton(1'000'000, testing::repeats(1000));
}

// A decoder along a random text, at every place inside an entry. With guidance syntax the automaton is asked at the place
// itself; above it, for each entry that begins like what was read, behind the entry, times what the entry is worth.
class WeightedAutomaton {
 public:
  WeightedAutomaton(const std::shared_ptr<const Constraint>& constraint, Guidance guidance,
                    const std::optional<Hmm>& meta, const Hmm& hmm)
      : constraint_(*constraint),
        guidance_(guidance),
        hmm_(hmm),
        syntax_(*constraint, hmm, false, constraint->lookahead()->horizon()),
        worth_(constraint->task(), guidance, meta),
        decoder_(constraint, {.guidance = guidance,
                              .bridge = Bridge::kHmm,
                              .forbid_empty = true,
                              .token_hmm = hmm,
                              .support = {.idle_steps = true}}) {}

  void run(Random& random, Compared& compared) {
    const TokenAutomaton& automaton = constraint_.automaton();
    std::vector<TokenId> text;
    std::vector<TokenId> read;
    std::size_t before = automaton.opening().size();  // symbols before the entry at hand
    while (!decoder_.finished()) {
      const std::vector<NextToken> next(decoder_.next().begin(), decoder_.next().end());
      if (next.empty() && text.empty()) return;  // nothing but the empty plan
      ASSERT_FALSE(next.empty());
      const std::size_t entry = decoder_.separators().size();
      const bool inside = text.size() >= before && decoder_.actions().size() == entry;
      for (const NextToken& choice : next) {
        if (!inside) break;
        text.push_back(symbol_of(constraint_.vocabulary(), choice.token));
        read.push_back(text.back());
        const double expected = std::log(accepted(text, read, compared) / Forward(hmm_, text).probability);
        ASSERT_NEAR(choice.log_weight, expected, 1e-9 * (1 + std::abs(expected)));
        ++compared.weights;
        text.pop_back();
        read.pop_back();
      }
      const TokenId token = next[random.below(next.size())].token;
      text.push_back(symbol_of(constraint_.vocabulary(), token));
      if (inside) read.push_back(text.back());
      ASSERT_TRUE(decoder_.accept(token));
      if (decoder_.separators().size() > entry) {
        read.clear();
        before = text.size() + automaton.prefix(decoder_.separators().size() + 1).size();
      }
    }
    ++compared.tasks;
  }

 private:
  // p(the text, and then it is accepted), times what is worth the entry.
  double accepted(const std::vector<TokenId>& text, const std::vector<TokenId>& read, Compared& compared) {
    const TokenAutomaton& automaton = constraint_.automaton();
    const State& state = constraint_.task().initial_state();  // any, to syntax
    const std::uint32_t group =
        decoder_.separators().empty() ? automaton.first_group() : automaton.group_after(decoder_.separators().back());
    double sum = 0;
    std::size_t entries = 0;
    bool complete = false;
    for (auto [rank, end] = automaton.group(group); rank < end; ++rank) {
      const std::span<const TokenId> tokens = automaton.tokens(rank);
      if (tokens.size() < read.size() || !std::equal(read.begin(), read.end(), tokens.begin())) continue;
      ++entries;
      complete = tokens.size() == read.size();
      const double worth = worth_.of(decoder_, automaton.entry(rank));
      if (worth == 0) continue;
      std::vector<TokenId> whole = text;
      whole.insert(whole.end(), tokens.begin() + static_cast<std::ptrdiff_t>(read.size()), tokens.end());
      sum += worth * dot(emitted_by(hmm_, whole), syntax_.behind(state, decoder_.left(), rank));
    }
    if (entries > 1) ++compared.several;
    if (guidance_ != Guidance::kSyntax || complete) return sum;
    return dot(Forward(hmm_, text).state, syntax_.inside(state, decoder_.left(), group, read));
  }

  const Constraint& constraint_;
  Guidance guidance_;
  const Hmm& hmm_;
  JointAutomaton syntax_;
  Worth worth_;
  Decoder decoder_;
};

class TokenLevelAutomaton : public ::testing::TestWithParam<Guidance> {};

void compare_with_automaton(Guidance guidance, std::uint64_t first_seed, std::size_t tasks) {
  Compared compared;
  // Longer plans than can be enumerated; with a trained lookahead as long as its 32-bit numbers are exact.
  const bool trained = guidance == Guidance::kTrained;
  for (std::uint64_t seed = first_seed; seed < first_seed + 20 * tasks && compared.tasks < tasks; ++seed) {
    RandomConstraintOptions options;
    options.horizon = 1 + static_cast<unsigned>(seed % (trained ? 3 : 8));
    options.no_closing = seed % 4 == 2;
    options.all_relevant = guidance != Guidance::kSyntax;
    std::optional<Hmm> meta;
    if (trained) {
      options.hmm = [&](const Task& task) { return *(meta = dyadic_meta_hmm(task, 1 + seed % 4, seed)); };
    }
    const auto constraint = random_constraint(seed, options);
    if (constraint == nullptr) continue;
    const Hmm hmm = random_token_hmm(constraint->vocabulary(), 1 + seed % 6, seed);
    Random random(seed);
    WeightedAutomaton(constraint, guidance, meta, hmm).run(random, compared);
    if (::testing::Test::HasFatalFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_EQ(compared.tasks, tasks);
  EXPECT_GT(compared.weights, 6 * tasks);
  EXPECT_GT(compared.several, tasks / 2);
}

TEST_P(TokenLevelAutomaton, WithEntriesWeighed) { compare_with_automaton(GetParam(), 0, testing::repeats(100)); }

TEST_P(TokenLevelAutomaton, WithEntriesWeighedSlow) {
  compare_with_automaton(GetParam(), 1'000'000, testing::repeats(1000));
}

INSTANTIATE_TEST_SUITE_P(Guidances, TokenLevelAutomaton,
                         ::testing::Values(Guidance::kSyntax, Guidance::kMask, Guidance::kUniform, Guidance::kTrained),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

// --- the table -------------------------------------------------------------------------------------------------------

// A table without room computes the layers again, with the same numbers.
TEST(SyntaxTable, NumbersDoNotDependOnTheBudget) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < 200 && compared < 2000; ++seed) {
    RandomConstraintOptions options;
    options.horizon = 6;
    const auto constraint = random_constraint(seed, options);
    if (constraint == nullptr) continue;
    const Hmm hmm = random_token_hmm(constraint->vocabulary(), 3, seed);
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
    const Hmm hmm = random_token_hmm(constraint->vocabulary(), 4, seed);
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
