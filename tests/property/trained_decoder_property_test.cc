// The decoder with a trained surrogate, against the formula of decoder.h. The surrogate's probabilities come from
// support/naive_hmm.h, walk by walk, and its lookahead from a plain recursion over all plans.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "metactrl/decoder.h"
#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "support/naive_hmm.h"
#include "support/random_constraint.h"
#include "support/token_level_case.h"
#include "task/program.h"
#include "text/token_automaton.h"

namespace metactrl::trained_decoder_property_test {
namespace {

using testing::NaiveHmm;
using testing::Random;
using testing::random_constraint;
using testing::RandomConstraintOptions;

constexpr std::uint32_t kClose = TokenAutomaton::kClose;

Alphabet alphabet_of(const Task& task) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < task.num_action_names(); ++i) names.push_back(task.action_name(ActionNameId{i}));
  return Alphabet::meta(names, task.num_objects());
}

constexpr double kExact = 1e-9;

Hmm random_hmm(const Task& task) { return Hmm::random(alphabet_of(task), 2, task.num_actions()); }

// Tables hold 32-bit numbers; with this one they are exact.
Hmm dyadic_hmm(const Task& task) { return testing::dyadic_meta_hmm(task, 3, task.num_actions()); }

// Three hidden states that all emit alike, and nothing unknown: the uniform surrogate in disguise.
Hmm uniform_hmm(const Task& task) {
  const Alphabet alphabet = alphabet_of(task);
  const Hmm random = Hmm::random(alphabet, 3, 1);
  std::vector<float> emission(alphabet.size * 3, 1.0F / static_cast<float>(alphabet.size - 1));
  for (std::size_t z = 0; z < 3; ++z) emission[static_cast<std::size_t>(alphabet.unknown()) * 3 + z] = 0;
  return {alphabet,
          3,
          {random.initial().begin(), random.initial().end()},
          {random.transition().begin(), random.transition().end()},
          emission,
          ""};
}

// What the surrogate makes of plans, letter by letter.
class Plain {
 public:
  Plain(const Task& task, const Hmm& hmm) : task_(task), alphabet_(hmm.alphabet()), naive_(hmm) {}

  std::vector<SymbolId> symbols(std::span<const ActionId> actions) const {
    std::vector<SymbolId> out;
    for (const ActionId action : actions) {
      out.push_back(alphabet_.action(task_.action_name(task_.name_of(action))));
      for (const ObjectId object : task_.arguments(action)) out.push_back(alphabet_.slot(slot_of(object)));
    }
    return out;
  }
  // Its place among the objects that actions take.
  std::size_t slot_of(ObjectId object) const {
    std::set<ObjectId> before;
    for (std::uint32_t a = 0; a < task_.num_actions(); ++a) {
      for (const ObjectId other : task_.arguments(ActionId{a})) {
        if (other < object) before.insert(other);
      }
    }
    return before.size();
  }
  // p(a plan begins with these)
  double begins(std::span<const ActionId> actions) const {
    return actions.empty() ? 1 : naive_.probability(symbols(actions));
  }
  // p(the plan is these)
  double is(std::span<const ActionId> actions) const {
    std::vector<SymbolId> all = symbols(actions);
    all.push_back(alphabet_.end);
    return naive_.probability(all);
  }
  double end(std::span<const ActionId> actions) const { return is(actions) / begins(actions); }
  // p(these, at least one more, and the goal)
  double goes_on(const State& state, unsigned left, std::vector<ActionId> actions) const {
    double sum = 0;
    for (std::uint32_t a = 0; left > 0 && a < task_.num_actions(); ++a) {
      const std::optional<State> next = task_.apply(state, ActionId{a});
      if (!next) continue;
      actions.push_back(ActionId{a});
      sum += (task_.is_goal(*next) ? is(actions) : 0) + goes_on(*next, left - 1, actions);
      actions.pop_back();
    }
    return sum;
  }
  // May another action be taken that changes something, such that the goal is still reached?
  bool may_go_on(const State& state, unsigned left) const {
    for (std::uint32_t a = 0; left > 0 && a < task_.num_actions(); ++a) {
      const std::optional<State> next = task_.apply(state, ActionId{a});
      if (next && *next != state && (task_.is_goal(*next) || may_go_on(*next, left - 1))) return true;
    }
    return false;
  }

 private:
  const Task& task_;
  Alphabet alphabet_;
  NaiveHmm naive_;
};

struct Option {
  std::vector<TokenId> tokens;
  double mass = 0;
  double worth = 0;
};

// All entries behind `actions`, with their mass and their worth.
std::vector<Option> options_of(const Constraint& constraint, const Plain& plain, const Decoder& decoder,
                               Bridge bridge) {
  const TokenAutomaton& automaton = constraint.automaton();
  const Task& task = constraint.task();
  const double uniform_end = 1.0 / static_cast<double>(task.num_action_names() + task.num_objects() + 1);
  std::vector<ActionId> actions(decoder.actions().begin(), decoder.actions().end());
  const double before = plain.begins(actions);
  const std::uint32_t group =
      decoder.separators().empty() ? automaton.first_group() : automaton.group_after(decoder.separators().back());
  std::vector<Option> result;
  const auto [begin, end] = automaton.group(group);
  for (std::uint32_t rank = begin; rank < end; ++rank) {
    const TokenAutomaton::Entry& entry = automaton.entry(rank);
    Option option;
    option.tokens.assign(automaton.tokens(rank).begin(), automaton.tokens(rank).end());
    actions.push_back(entry.action);
    const bool close = entry.next == kClose;
    const double p_end = plain.end(actions);
    const std::optional<State> next = task.apply(decoder.state(), entry.action);
    if (next && *next != decoder.state() && decoder.left() > 0) {
      const double going = plain.goes_on(*next, decoder.left() - 1, actions) / plain.begins(actions) / (1 - p_end);
      option.worth = close ? (task.is_goal(*next) ? 1 : 0) : going;
      if (!close && !plain.may_go_on(*next, decoder.left() - 1)) option.worth = 0;
    }
    // What is not allowed has the uniform surrogate's probability of the end in denominators: see walk.cc.
    const double follows_end = option.worth > 0 ? p_end : uniform_end;
    option.mass = close ? follows_end : (1 - follows_end) / static_cast<double>(automaton.num_separators());
    if (bridge == Bridge::kSurrogate) option.mass *= plain.begins(actions) / before;
    actions.pop_back();
    result.push_back(std::move(option));
  }
  return result;
}

void check_entry(const Constraint& constraint, const Plain& plain, Decoder& decoder, Bridge bridge, double tolerance,
                 Random& random) {
  const std::vector<Option> options = options_of(constraint, plain, decoder, bridge);
  const std::size_t actions = decoder.actions().size();
  std::vector<TokenId> read;
  while (!decoder.finished() && decoder.actions().size() == actions) {
    const std::vector<NextToken> next(decoder.next().begin(), decoder.next().end());
    ASSERT_FALSE(next.empty());
    for (const NextToken& choice : next) {
      read.push_back(choice.token);
      double sum = 0;
      double total = 0;
      for (const Option& option : options) {
        if (option.tokens.size() < read.size() || !std::equal(read.begin(), read.end(), option.tokens.begin()))
          continue;
        sum += option.mass * option.worth;
        total += option.mass;
      }
      const double expected = std::log(sum / total);
      ASSERT_NEAR(choice.log_weight, expected, tolerance * (1 + std::abs(expected)));
      read.pop_back();
    }
    read.push_back(next[random.below(next.size())].token);
    ASSERT_TRUE(decoder.accept(read.back()));
  }
}

void check_decoders(Hmm (*model)(const Task&), double tolerance) {
  unsigned checked = 0;
  for (std::uint64_t seed = 0; seed < 4000 && checked < 40; ++seed) {
    RandomConstraintOptions options;
    options.all_relevant = true;
    options.max_actions = 4;
    options.hmm = model;
    const auto constraint = random_constraint(seed, options);
    // The empty plan mixes with entries in a way that decoder_property_test covers.
    if (constraint == nullptr || constraint->automaton().opening().empty() ||
        constraint->task().is_goal(constraint->task().initial_state()) ||
        constraint->automaton().prefix(1).size() + constraint->automaton().prefix(2).size() > 0) {
      continue;
    }
    ++checked;
    Random random(seed);
    const Plain plain(constraint->task(), model(constraint->task()));
    for (const Bridge bridge : {Bridge::kUniform, Bridge::kSurrogate}) {
      Decoder decoder(constraint, {Guidance::kTrained, bridge, 0, false});
      while (decoder.num_tokens() < constraint->automaton().opening().size()) {
        ASSERT_TRUE(decoder.accept(constraint->automaton().opening()[decoder.num_tokens()]));
      }
      for (int i = 0; i < 3 && decoder.at_boundary() && !decoder.finished(); ++i) {
        check_entry(*constraint, plain, decoder, bridge, tolerance, random);
        if (::testing::Test::HasFatalFailure()) FAIL() << "seed " << seed << ", bridge " << to_string(bridge);
      }
    }
  }
  EXPECT_EQ(checked, 40U);
}

TEST(TrainedDecoderTest, FollowsItsDefinition) { check_decoders(dyadic_hmm, kExact); }
// Of this model every hidden state leads to every other, and tables round its numbers.
TEST(TrainedDecoderTest, FollowsItsDefinitionWithAnyModel) { check_decoders(random_hmm, 1e-5); }

// Numbers and times are facts to the lookahead: the weights are those of the definition, in every state.
TEST(TrainedDecoderTest, NumbersAndDurations) {
  const Task task = load_pddl_text(
      "(define (domain d) (:requirements :typing :durative-actions :numeric-fluents) (:types place)\n"
      "(:predicates (at ?p - place)) (:functions (charge) (way ?a ?b - place))\n"
      "(:durative-action drive :parameters (?a ?b - place) :duration (= ?duration (way ?a ?b))\n"
      " :condition (and (at start (at ?a)) (at start (>= (charge) (way ?a ?b))))\n"
      " :effect (and (at start (not (at ?a))) (at end (at ?b)) (at end (decrease (charge) ?duration))))\n"
      "(:durative-action fill :parameters () :duration (= ?duration (- 4 (charge))) :condition (at start (< (charge) "
      "4))\n"
      " :effect (at end (assign (charge) 4))))",
      "(define (problem p) (:domain d) (:objects a b - place) (:init (at a) (= (charge) 2.5) (= (way a b) 2.5) (= (way "
      "b "
      "a) 1)) (:goal (and (at b) (>= (charge) 1))))");
  std::vector<std::string> bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.emplace_back(1, static_cast<char>(byte));
  bytes.emplace_back();
  const auto vocabulary = std::make_shared<const TableVocabulary>(bytes, std::vector<TokenId>{TokenId{256}});
  ConstraintOptions options;
  options.lookahead.horizon = 4;
  options.lookahead.fixed_horizon = true;
  options.lookahead.hmm = dyadic_hmm(task);
  const auto constraint = Constraint::compile(task, PlanFormat::builtin("pddl"), vocabulary, options);
  ASSERT_TRUE(constraint->lookahead()->weights_exact()) << constraint->lookahead()->reason();
  const Plain plain(task, *options.lookahead.hmm);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    Decoder decoder(constraint, {Guidance::kTrained, Bridge::kSurrogate, 0, false});
    while (decoder.num_tokens() < constraint->automaton().opening().size()) {
      ASSERT_TRUE(decoder.accept(constraint->automaton().opening()[decoder.num_tokens()]));
    }
    while (decoder.at_boundary() && !decoder.finished()) {
      check_entry(*constraint, plain, decoder, Bridge::kSurrogate, kExact, random);
      if (HasFatalFailure()) FAIL() << "seed " << seed;
    }
    EXPECT_TRUE(task.validate(decoder.actions()).valid);
  }
}

// One and the same surrogate, by the uniform table and by the trained one.
TEST(TrainedDecoderTest, TheUniformModelGivesUniformWeights) {
  unsigned checked = 0;
  for (std::uint64_t seed = 0; seed < 400 && checked < 60; ++seed) {
    RandomConstraintOptions options;
    options.witness_tier = seed % 4 == 0;
    options.tokenization = seed % 5 == 0 ? Tokenization::kAny : Tokenization::kCanonical;
    const auto plain = random_constraint(seed, options);
    options.hmm = uniform_hmm;
    const auto trained = random_constraint(seed, options);
    if (plain == nullptr || trained == nullptr) continue;
    ++checked;
    for (const Bridge bridge : {Bridge::kUniform, Bridge::kSurrogate}) {
      Random random(seed);
      Decoder a(plain, {Guidance::kUniform, bridge, 0, false});
      Decoder b(trained, {Guidance::kTrained, bridge, 0, false});
      while (!a.finished()) {
        const std::span<const NextToken> expected = a.next();
        const std::span<const NextToken> actual = b.next();
        ASSERT_EQ(expected.size(), actual.size()) << "seed " << seed;
        for (std::size_t i = 0; i < expected.size(); ++i) {
          ASSERT_EQ(expected[i].token, actual[i].token);
          ASSERT_NEAR(expected[i].log_weight, actual[i].log_weight, 1e-3) << "seed " << seed;
        }
        const TokenId token = expected[random.below(expected.size())].token;
        ASSERT_TRUE(a.accept(token));
        ASSERT_TRUE(b.accept(token));
      }
      EXPECT_TRUE(b.finished());
    }
  }
  EXPECT_EQ(checked, 60U);
}

// A model that holds impossible what the task needs: everything stays allowed and finite.
TEST(TrainedDecoderTest, SupportDoesNotDependOnTheModel) {
  const auto blind = [](const Task& task) {
    const Alphabet alphabet = alphabet_of(task);
    std::vector<float> emission(alphabet.size);
    emission[static_cast<std::size_t>(alphabet.end)] = 1;
    return Hmm(alphabet, 1, {1}, {1}, emission, "");
  };
  unsigned checked = 0;
  for (std::uint64_t seed = 0; seed < 400 && checked < 40; ++seed) {
    RandomConstraintOptions options;
    options.witness_tier = seed % 3 == 0;
    const auto plain = random_constraint(seed, options);
    options.hmm = blind;
    const auto trained = random_constraint(seed, options);
    if (plain == nullptr || trained == nullptr) continue;
    ++checked;
    for (const Bridge bridge : {Bridge::kUniform, Bridge::kSurrogate}) {
      Random random(seed);
      Decoder mask(plain, {Guidance::kMask, bridge, 0, false});
      Decoder decoder(trained, {Guidance::kTrained, bridge, 0, false});
      while (!mask.finished()) {
        const std::span<const NextToken> expected = mask.next();
        const std::span<const NextToken> actual = decoder.next();
        ASSERT_EQ(expected.size(), actual.size()) << "seed " << seed;
        for (const NextToken& choice : actual) ASSERT_TRUE(std::isfinite(choice.log_weight));
        const TokenId token = expected[random.below(expected.size())].token;
        ASSERT_TRUE(mask.accept(token));
        ASSERT_TRUE(decoder.accept(token));
      }
    }
  }
  EXPECT_EQ(checked, 40U);
}

TEST(TrainedDecoderTest, RollbackAndForkRestoreTheBelief) {
  unsigned checked = 0;
  for (std::uint64_t seed = 0; seed < 400 && checked < 30; ++seed) {
    RandomConstraintOptions options;
    options.horizon = 5;
    options.hmm = random_hmm;
    const auto constraint = random_constraint(seed, options);
    if (constraint == nullptr) continue;
    ++checked;
    Random random(seed);
    Decoder decoder(constraint, {Guidance::kTrained, Bridge::kSurrogate, 0, false});
    std::vector<std::vector<NextToken>> seen;
    while (!decoder.finished()) {
      seen.emplace_back(decoder.next().begin(), decoder.next().end());
      ASSERT_TRUE(decoder.accept(seen.back()[random.below(seen.back().size())].token));
    }
    Decoder fork = decoder;
    for (std::size_t i = seen.size(); i-- > 0;) {
      decoder.rollback(1);
      ASSERT_EQ(decoder.next().size(), seen[i].size());
      for (std::size_t j = 0; j < seen[i].size(); ++j) {
        ASSERT_EQ(decoder.next()[j].token, seen[i][j].token);
        ASSERT_EQ(decoder.next()[j].log_weight, seen[i][j].log_weight);
      }
    }
    EXPECT_TRUE(fork.finished());
  }
  EXPECT_EQ(checked, 30U);
}

TEST(TrainedDecoderTest, GuidanceAndLookaheadMustAgree) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomConstraintOptions options;
    const auto plain = random_constraint(seed, options);
    options.hmm = random_hmm;
    const auto trained = random_constraint(seed, options);
    if (plain == nullptr || trained == nullptr) continue;
    EXPECT_THROW(Decoder(plain, {Guidance::kTrained, Bridge::kUniform, 0, false}), InputError);
    EXPECT_THROW(Decoder(trained, {Guidance::kUniform, Bridge::kUniform, 0, false}), InputError);
    return;
  }
  FAIL() << "no seed gives a task";
}

}  // namespace
}  // namespace metactrl::trained_decoder_property_test
