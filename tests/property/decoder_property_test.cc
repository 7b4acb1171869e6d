// The decoder against its definition. On small random tasks, formats and vocabularies every token path is walked, and
// at every step the weights are compared with two independent computations:
//
//   Definition: the formula of decoder.h, term by term over all entries, with the lookahead's values by plain
//   recursion. Monolith: one automaton over tokens for syntax and semantics together (the construction of the paper's
//   Appendix A) and the
//             backward recursion of Ctrl-G over it, with the surrogate spelled in tokens.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "metactrl/decoder.h"
#include "support/random_constraint.h"
#include "task/program.h"
#include "text/token_automaton.h"

namespace metactrl::decoder_property_test {
namespace {

constexpr std::uint32_t kClose = TokenAutomaton::kClose;

// Values of states by plain recursion over Task, without Space, UniformTable or Support. What is worth something
// counts all plans; what is allowed changes something, unless idle steps are wanted.
class PlainLookahead {
 public:
  PlainLookahead(const Task& task, bool idle_steps)
      : task_(task),
        idle_steps_(idle_steps),
        end_(1.0 / static_cast<double>(task.num_action_names() + task.num_objects() + 1)) {}

  double end() const { return end_; }
  double probability(ActionId action) const {
    return std::pow(end_, 1.0 + static_cast<double>(task_.arguments(action).size()));
  }
  bool relevant(ActionId action) const { return task_.program().action(action).relevant; }

  // V of lookahead.h: goal-relevant actions only.
  double value(const State& state, unsigned left) { return (task_.is_goal(state) ? end_ : 0) + sum(state, left, true); }
  // V_go: given that another action comes. Where no relevant one leads on, the others count.
  double going_on(const State& state, unsigned left) {
    const double relevant = sum(state, left, true);
    return (relevant > 0 ? relevant : sum(state, left, false)) / (1 - end_);
  }
  // The probability of an action that is, or is not, relevant, and of success behind it.
  double sum(const State& state, unsigned left, bool of_relevant) {
    double result = 0;
    if (left == 0) return result;
    for (ActionId action : task_.applicable_actions(state)) {
      if (relevant(action) == of_relevant) result += probability(action) * value(*task_.apply(state, action), left - 1);
    }
    return result;
  }
  // Where `action` leads, if it may be taken.
  std::optional<State> after(const State& state, ActionId action) const {
    std::optional<State> next = task_.apply(state, action);
    if (next && !idle_steps_ && *next == state) next.reset();
    return next;
  }
  bool supported(const State& state, unsigned left) { return task_.is_goal(state) || can_go_on(state, left); }
  bool can_go_on(const State& state, unsigned left) {
    if (left == 0) return false;
    for (ActionId action : task_.applicable_actions(state)) {
      const std::optional<State> next = after(state, action);
      if (next && supported(*next, left - 1)) return true;
    }
    return false;
  }

 private:
  const Task& task_;
  bool idle_steps_;
  double end_;
};

// What may be written from a boundary: each whole entry with its mass and its worth.
struct Option {
  std::vector<TokenId> tokens;
  double mass = 0;
  double worth = 0;
  bool allowed = false;
};

class DefinitionCheck {
 public:
  DefinitionCheck(const Constraint& constraint, Bridge bridge, bool idle_steps)
      : constraint_(constraint), bridge_(bridge), plain_(constraint.task(), idle_steps) {}

  PlainLookahead& plain() { return plain_; }

  // What an entry's mass is multiplied with so that all of them share 1 - p_end; the surrogate's masses need nothing.
  double entry_scale(std::uint32_t group) {
    if (bridge_ == Bridge::kSurrogate) return 1;
    double total = 0;
    for (const Option& option : options(constraint_.task().initial_state(), 0, group)) total += option.mass;
    return (1 - plain_.end()) / total;
  }

  std::vector<Option> options(const State& state, unsigned left, std::uint32_t group) {
    const TokenAutomaton& automaton = constraint_.automaton();
    const Task& task = constraint_.task();
    std::vector<Option> result;
    const auto [begin, end] = automaton.group(group);
    for (std::uint32_t rank = begin; rank < end; ++rank) {
      const TokenAutomaton::Entry& entry = automaton.entry(rank);
      Option option;
      option.tokens.assign(automaton.tokens(rank).begin(), automaton.tokens(rank).end());
      const bool close = entry.next == kClose;
      option.mass = close ? plain_.end() : (1 - plain_.end()) / static_cast<double>(automaton.num_separators());
      if (bridge_ == Bridge::kSurrogate) option.mass *= plain_.probability(entry.action);
      if (const std::optional<State> successor = plain_.after(state, entry.action); successor && left > 0) {
        option.allowed = close ? task.is_goal(*successor) : plain_.can_go_on(*successor, left - 1);
        option.worth = close ? (option.allowed ? 1 : 0) : plain_.going_on(*successor, left - 1);
      }
      result.push_back(std::move(option));
    }
    return result;
  }

 private:
  const Constraint& constraint_;
  Bridge bridge_;
  PlainLookahead plain_;
};

bool begins_with(const std::vector<TokenId>& tokens, const std::vector<TokenId>& prefix) {
  return tokens.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), tokens.begin());
}

// Walks every path of the decoder and compares.
class Walker {
 public:
  Walker(std::shared_ptr<const Constraint> constraint, Bridge bridge, bool idle_steps)
      : constraint_(constraint),
        check_(*constraint, bridge, idle_steps),
        decoder_(constraint,
                 {.guidance = Guidance::kUniform, .bridge = bridge, .support = {.idle_steps = idle_steps}}) {}

  void run() {
    at_start();
    EXPECT_GT(plans_, 0U);
  }

  std::size_t comparisons() const { return comparisons_; }

 private:
  std::map<TokenId, double> weights() {
    std::map<TokenId, double> result;
    for (const NextToken& choice : decoder_.next()) {
      EXPECT_TRUE(result.emplace(choice.token, choice.log_weight).second);
      EXPECT_TRUE(std::isfinite(choice.log_weight));
    }
    // A token has weight exactly when it is accepted.
    const auto size = static_cast<std::int32_t>(constraint_->vocabulary().size());
    for (std::int32_t token = -1; token <= size; ++token) {
      const std::size_t before = decoder_.num_tokens();
      const bool accepted = decoder_.accept(TokenId{token});
      EXPECT_EQ(accepted, result.contains(TokenId{token}));
      EXPECT_EQ(decoder_.num_tokens(), before + (accepted ? 1 : 0));
      if (accepted) decoder_.rollback(1);
    }
    return with_one_end(std::move(result));
  }

  // Where the end of the turn closes the plan, all tokens that end it are one symbol of the entries.
  bool has_one_end() const { return constraint_->spelling().format().close.empty(); }
  std::vector<TokenId> ends() const {
    return has_one_end() ? std::vector<TokenId>{TokenAutomaton::kEnd} : constraint_->automaton().end_of_turn();
  }
  std::map<TokenId, double> with_one_end(std::map<TokenId, double> weights) const {
    if (!has_one_end()) return weights;
    for (TokenId token : constraint_->automaton().end_of_turn()) {
      const auto found = weights.find(token);
      if (found == weights.end()) continue;
      const auto [end, added] = weights.emplace(TokenAutomaton::kEnd, found->second);
      EXPECT_EQ(end->second, found->second);
      weights.erase(token);
    }
    return weights;
  }
  bool accept(TokenId token) {
    return decoder_.accept(token == TokenAutomaton::kEnd ? constraint_->automaton().end_of_turn().back() : token);
  }

  void expect_weights(const std::map<TokenId, double>& actual, const std::map<TokenId, double>& expected) {
    ASSERT_EQ(actual.size(), expected.size());
    for (const auto& [token, value] : expected) {
      ASSERT_TRUE(actual.contains(token));
      ++comparisons_;
      if (value > 1e-300) {
        ASSERT_NEAR(actual.at(token), std::log(value), 1e-9 * std::max(1.0, std::abs(std::log(value))));
      }
    }
  }

  void at_start() {
    const Task& task = constraint_->task();
    const TokenAutomaton& automaton = constraint_->automaton();
    const State state = task.initial_state();
    const unsigned left = decoder_.left();
    std::vector<TokenId> opening(automaton.opening().begin(), automaton.opening().end());
    std::vector<TokenId> empty(automaton.empty_plan().begin(), automaton.empty_plan().end());
    std::vector<std::vector<TokenId>> stops;
    if (task.is_goal(state)) {
      for (TokenId token : ends()) {
        stops.push_back(empty);
        stops.back().push_back(token);
      }
    }
    start(opening, stops, check_.plain().can_go_on(state, left), {});
  }

  // The tokens before the first entry.
  void start(const std::vector<TokenId>& opening, const std::vector<std::vector<TokenId>>& stops, bool go,
             std::vector<TokenId> read) {
    if (go && begins_with(opening, read) && read.size() == opening.size()) {
      inside(constraint_->task().initial_state(), decoder_.left(), constraint_->automaton().first_group(), {}, stops,
             read);
      return;
    }
    const double end = check_.plain().end();
    std::map<TokenId, std::pair<double, double>> sums;  // weighted worth, weight
    const auto add = [&](const std::vector<TokenId>& path, double mass, double worth) {
      if (!begins_with(path, read) || path.size() == read.size()) return;
      auto& [top, bottom] = sums[path[read.size()]];
      top += mass * worth;
      bottom += mass;
    };
    // All end-of-turn tokens together are one way to stop.
    for (const auto& stop : stops) add(stop, end, 1);
    if (go) {
      add(opening, 1 - end, check_.plain().going_on(constraint_->task().initial_state(), decoder_.left()));
    }
    std::map<TokenId, double> expected;
    for (const auto& [token, sum] : sums) expected[token] = shared_stops(stops, read, token, sum, end);
    const std::map<TokenId, double> actual = weights();
    expect_weights(actual, expected);
    if (::testing::Test::HasFatalFailure()) return;
    for (const auto& [token, weight] : actual) {
      ASSERT_TRUE(accept(token));
      std::vector<TokenId> longer = read;
      longer.push_back(token);
      if (decoder_.finished()) {
        finish();
      } else {
        start(opening, stops, go && begins_with(opening, longer), longer);
      }
      decoder_.rollback(1);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }

  // Several end-of-turn tokens share one stop: count it once where they have the token in common.
  static double shared_stops(const std::vector<std::vector<TokenId>>& stops, const std::vector<TokenId>& read,
                             TokenId token, std::pair<double, double> sum, double end) {
    std::size_t same = 0;
    for (const auto& stop : stops) {
      if (begins_with(stop, read) && stop.size() > read.size() && stop[read.size()] == token) ++same;
    }
    if (same > 1) {
      sum.first -= static_cast<double>(same - 1) * end;
      sum.second -= static_cast<double>(same - 1) * end;
    }
    return sum.first / sum.second;
  }

  // Inside an entry, `read` tokens of it. `stops` are ways to write the empty plan that are still open, `before` what
  // was read of them.
  void inside(const State& state, unsigned left, std::uint32_t group, const std::vector<TokenId>& read,
              const std::vector<std::vector<TokenId>>& stops, const std::vector<TokenId>& before) {
    std::map<TokenId, std::tuple<double, double, bool>> sums;
    for (const Option& option : check_.options(state, left, group)) {
      if (!begins_with(option.tokens, read) || option.tokens.size() == read.size()) continue;
      auto& [top, bottom, allowed] = sums[option.tokens[read.size()]];
      top += option.allowed ? option.mass * option.worth : 0;
      bottom += option.mass;
      allowed = allowed || option.allowed;
    }
    std::vector<TokenId> position = before;
    position.insert(position.end(), read.begin(), read.end());
    std::map<TokenId, double> expected;
    const double end = check_.plain().end();
    for (auto& [token, sum] : sums) {
      auto& [top, bottom, allowed] = sums[token];
      for (const auto& stop : stops) {
        if (!begins_with(stop, position) || stop.size() <= position.size() || stop[position.size()] != token) continue;
        // Where the empty plan shares a token with an entry: p_end against all entries together.
        const double scale = check_.entry_scale(group);
        if (allowed) {
          top = top * scale + end;
          bottom = bottom * scale + end;
        }
        break;
      }
      if (allowed) expected[token] = top / bottom;
    }
    for (const auto& stop : stops) {
      if (begins_with(stop, position) && stop.size() > position.size()) expected.emplace(stop[position.size()], 1);
    }
    const std::map<TokenId, double> actual = weights();
    expect_weights(actual, expected);
    if (::testing::Test::HasFatalFailure()) return;
    for (const auto& [token, weight] : actual) {
      const std::size_t actions = decoder_.actions().size();
      ASSERT_TRUE(accept(token));
      std::vector<TokenId> longer = read;
      longer.push_back(token);
      if (decoder_.finished()) {
        finish();
      } else if (decoder_.actions().size() == actions) {
        inside(state, left, group, longer, stops, before);
      } else {
        after_entry(state, left);
      }
      decoder_.rollback(1);
      ASSERT_EQ(decoder_.actions().size(), actions);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }

  void after_entry(const State& state, unsigned left) {
    const Task& task = constraint_->task();
    const std::optional<State> successor = task.apply(state, decoder_.actions().back());
    ASSERT_TRUE(successor.has_value());
    std::size_t forced = 0;
    // Numbers, which have no alternative.
    const auto number_follows = [&] {
      const std::size_t index = decoder_.actions().size() + 1;
      return forced < constraint_->automaton().prefix(index).size();
    };
    const auto closed = [&] { return decoder_.separators().size() < decoder_.actions().size(); };
    while (closed() || number_follows()) {
      const std::map<TokenId, double> actual = weights();
      if (closed()) {  // the end of the turn
        ASSERT_EQ(actual.size(), constraint_->automaton().end_of_turn().size());
        for (const auto& [token, weight] : actual) {
          ASSERT_TRUE(decoder_.accept(token));
          finish();
          decoder_.rollback(1);
        }
        decoder_.rollback(forced);
        return;
      }
      ASSERT_EQ(actual.size(), 1U);
      ASSERT_TRUE(decoder_.accept(actual.begin()->first));
      ++forced;
    }
    const std::uint32_t group = constraint_->automaton().group_after(decoder_.separators().back());
    inside(*successor, left - 1, group, {}, {}, {});
    decoder_.rollback(forced);
  }

  void finish() {
    ++plans_;
    ASSERT_TRUE(decoder_.next().empty());
    ASSERT_FALSE(decoder_.accept(decoder_.tokens().back()));
    // The text is that of the plan, in the tokenizer's own encoding, and the plan is legal and reaches the goal.
    std::string text;
    for (TokenId token : decoder_.tokens()) text += constraint_->vocabulary().bytes(token);
    ASSERT_EQ(text, constraint_->spelling().render(decoder_.actions(), decoder_.separators()));
    const std::vector<TokenId> canonical = constraint_->vocabulary().encode(text, "");
    ASSERT_EQ(std::vector<TokenId>(decoder_.tokens().begin(), decoder_.tokens().end() - 1), canonical);
    State state = constraint_->task().initial_state();
    for (ActionId action : decoder_.actions()) {
      const std::optional<State> next = constraint_->task().apply(state, action);
      ASSERT_TRUE(next.has_value());
      state = *next;
    }
    ASSERT_TRUE(constraint_->task().is_goal(state));
  }

  std::shared_ptr<const Constraint> constraint_;
  DefinitionCheck check_;
  Decoder decoder_;
  std::size_t comparisons_ = 0;
  std::size_t plans_ = 0;
};

class DecoderDefinition : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(DecoderDefinition, WeightsEqualTheFormulaOnEveryPath) {
  std::size_t constraints = 0;
  std::size_t comparisons = 0;
  for (std::uint64_t seed = 200 * GetParam(); seed < 200 * (GetParam() + 1); ++seed) {
    testing::RandomConstraintOptions options;
    options.horizon = 1 + static_cast<unsigned>(seed % 3);
    options.no_closing = seed % 5 == 0;
    const std::shared_ptr<const Constraint> constraint = testing::random_constraint(seed, options);
    if (constraint == nullptr) continue;
    ++constraints;
    Walker walker(constraint, seed % 2 == 0 ? Bridge::kUniform : Bridge::kSurrogate, seed % 3 != 0);
    walker.run();
    comparisons += walker.comparisons();
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
    ASSERT_FALSE(HasNonfatalFailure()) << "seed " << seed;
  }
  EXPECT_GT(constraints, 20U);
  EXPECT_GT(comparisons, 1000U);
}

// Any tokenization where each token is one byte: the automaton over bytes, its walk and its weights.
TEST_P(DecoderDefinition, WeightsEqualTheFormulaOnEveryPathOverBytes) {
  std::size_t constraints = 0;
  std::size_t comparisons = 0;
  for (std::uint64_t seed = 100 * GetParam(); seed < 100 * (GetParam() + 1); ++seed) {
    testing::RandomConstraintOptions options;
    options.horizon = 1 + static_cast<unsigned>(seed % 3);
    options.tokenization = Tokenization::kAny;
    options.byte_vocabulary = true;
    options.no_closing = seed % 5 == 0;
    const std::shared_ptr<const Constraint> constraint = testing::random_constraint(7000000 + seed, options);
    if (constraint == nullptr) continue;
    ++constraints;
    Walker walker(constraint, seed % 2 == 0 ? Bridge::kUniform : Bridge::kSurrogate, seed % 3 != 0);
    walker.run();
    comparisons += walker.comparisons();
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
    ASSERT_FALSE(HasNonfatalFailure()) << "seed " << seed;
  }
  EXPECT_GT(constraints, 10U);
  EXPECT_GT(comparisons, 1000U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, DecoderDefinition, ::testing::Range<std::uint64_t>(0, 12));

// --- the monolith ----------------------------------------------------------------------------------------------------

// A state of the joint automaton: where in the text (the boundary's group and the tokens read since; or the start, or
// the end) and the state of the world with the actions left. Probabilities of the surrogate spelled in tokens: at the
// start the empty plan has p_end; an entry has m(entry) of the mass 1 - p_end of "another action comes"; each token has
// the conditional probability of its entries. What the surrogate would write outside of the language is lost at the
// first token of an action.
class Monolith {
 public:
  explicit Monolith(const Constraint& constraint)
      : constraint_(constraint), check_(constraint, Bridge::kSurrogate, true), plain_(constraint.task(), true) {}

  // p(constraint | another action comes, and `read` tokens of its entry were written).
  double inside(const State& state, unsigned left, std::uint32_t group, const std::vector<TokenId>& read) {
    const auto key =
        std::make_tuple(std::vector<std::uint64_t>(state.words().begin(), state.words().end()), left, group, read);
    if (const auto found = memory_.find(key); found != memory_.end()) return found->second;
    double mass_here = read.empty() ? 1 - plain_.end() : 0;
    std::map<TokenId, double> mass;
    double result = 0;
    const TokenAutomaton& automaton = constraint_.automaton();
    const auto [begin, end] = automaton.group(group);
    for (std::uint32_t rank = begin; rank < end; ++rank) {
      const std::vector<TokenId> tokens(automaton.tokens(rank).begin(), automaton.tokens(rank).end());
      if (!begins_with(tokens, read)) continue;
      const double m = entry_mass(automaton.entry(rank));
      if (tokens.size() == read.size()) return memory_[key] = completed(state, left, automaton.entry(rank));
      if (!read.empty()) mass_here += m;
      mass[tokens[read.size()]] += m;
    }
    for (const auto& [token, m] : mass) {
      std::vector<TokenId> longer = read;
      longer.push_back(token);
      result += m / mass_here * inside(state, left, group, longer);
    }
    return memory_[key] = result;
  }

 private:
  double entry_mass(const TokenAutomaton::Entry& entry) {
    const double follows = entry.next == kClose
                               ? plain_.end()
                               : (1 - plain_.end()) / static_cast<double>(constraint_.automaton().num_separators());
    return plain_.probability(entry.action) * follows;
  }

  double completed(const State& state, unsigned left, const TokenAutomaton::Entry& entry) {
    const std::optional<State> successor = constraint_.task().apply(state, entry.action);
    if (!successor || left == 0) return 0;
    if (entry.next == kClose) return constraint_.task().is_goal(*successor) ? 1 : 0;
    return inside(*successor, left - 1, constraint_.automaton().group_after(entry.next), {});
  }

  const Constraint& constraint_;
  DefinitionCheck check_;
  PlainLookahead plain_;
  std::map<std::tuple<std::vector<std::uint64_t>, unsigned, std::uint32_t, std::vector<TokenId>>, double> memory_;
};

// Compares along random paths.
TEST(DecoderMonolith, SurrogateBridgeEqualsTheJointAutomaton) {
  std::size_t comparisons = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    testing::RandomConstraintOptions options;
    options.horizon = 2 + static_cast<unsigned>(seed % 4);
    options.all_relevant = true;
    const std::shared_ptr<const Constraint> constraint = testing::random_constraint(1000000 + seed, options);
    if (constraint == nullptr) continue;
    Monolith monolith(*constraint);
    Decoder decoder(constraint, {.guidance = Guidance::kUniform,
                                 .bridge = Bridge::kSurrogate,
                                 .forbid_empty = true,
                                 .support = {.idle_steps = true}});
    // Where the goal holds at the start and no action leads back to it, there is nothing but the empty plan.
    if (decoder.next().empty()) continue;
    std::uint64_t random = seed;
    std::vector<TokenId> read;
    std::size_t actions = 0;
    while (!decoder.finished()) {
      const std::vector<NextToken> choices(decoder.next().begin(), decoder.next().end());
      ASSERT_FALSE(choices.empty());
      random = random * 6364136223846793005ULL + 1442695040888963407ULL;
      const NextToken choice = choices[(random >> 33) % choices.size()];
      const bool entry = decoder.at_boundary() || !read.empty();
      const bool first_opening = decoder.num_tokens() < constraint->automaton().opening().size();
      if (entry && !first_opening) {
        const std::uint32_t group = decoder.separators().empty()
                                        ? constraint->automaton().first_group()
                                        : constraint->automaton().group_after(decoder.separators().back());
        for (const NextToken& each : choices) {
          std::vector<TokenId> longer = read;
          longer.push_back(each.token);
          const double exact = monolith.inside(decoder.state(), decoder.left(), group, longer);
          ASSERT_GT(exact, 0) << "seed " << seed;
          ASSERT_NEAR(each.log_weight, std::log(exact), 1e-9 * std::max(1.0, -std::log(exact))) << "seed " << seed;
          ++comparisons;
        }
        read.push_back(choice.token);
      }
      ASSERT_TRUE(decoder.accept(choice.token));
      if (decoder.actions().size() != actions) {
        actions = decoder.actions().size();
        read.clear();
      }
      if (!decoder.finished() && decoder.separators().size() < decoder.actions().size()) break;  // closed
    }
  }
  EXPECT_GT(comparisons, 5000U);
}

}  // namespace
}  // namespace metactrl::decoder_property_test
