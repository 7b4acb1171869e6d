// HmmTable and Surrogate against brute force: on random small tasks the probability of every plan, letter by letter and
// walk by walk (support/naive_hmm.h), summed over all plans that reach the goal.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lookahead/data.h"
#include "lookahead/hmm_table.h"
#include "lookahead/table_trie.h"
#include "lookahead/uniform.h"
#include "metactrl/error.h"
#include "metactrl/lookahead.h"
#include "support/hmm_table_case.h"
#include "support/repeats.h"
#include "task/compile.h"

namespace metactrl::lookahead::hmm_table_property_test {
namespace {

using ::metactrl::testing::hmm_for;
using ::metactrl::testing::HmmTableCase;
using ::metactrl::testing::plain_apply;
using ::metactrl::testing::plain_goal;
using ::metactrl::testing::plain_initial;
using ::metactrl::testing::PlainState;
using ::metactrl::testing::PlainSurrogate;
using ::metactrl::testing::Random;
using ::metactrl::testing::task_with_tries;

const Budget kAmple;
constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
constexpr double kSingle = 2e-6;  // of the logarithms of what 32-bit numbers hold

HmmTableCase small_case(std::uint64_t seed) { return {task_with_tries(seed), 1 + seed % 3, seed}; }

template <typename Real>
void compare(const HmmTableCase& c, const HmmTable<Real>& table, unsigned horizon, double tolerance,
             std::uint64_t seed) {
  typename HmmTable<Real>::Window window;
  const StateId initial = c.space->initial();
  BeliefCursor cursor(c.surrogate);
  cursor.begin(c.surrogate.start());
  for (std::size_t e = 0; e < c.space->targets(initial).size(); ++e) {
    const ActionId action = c.space->actions(initial)[e];
    const StateId target = c.space->targets(initial)[e];
    cursor.read(action);
    PlainSurrogate::Text text;
    c.plain.spell(action, text);
    ASSERT_NEAR(cursor.log_probability(), std::log(c.plain.begins(text)), 1e-9) << "seed " << seed;
    ASSERT_NEAR(cursor.log_end(), std::log(c.plain.ends(text)) - cursor.log_probability(), 1e-9);
    for (unsigned left = horizon - 1; left + 1 > 0; --left) {
      const double expected = c.plans(target, left, text);
      if (!table.holds(target, left)) {
        // On no plan of at most `horizon` actions.
        ASSERT_EQ(expected, 0);
        continue;
      }
      const double log_behind = cursor.log_probability() - std::log(cursor.total());
      const double actual = log_behind + table.log_value(target, left, cursor.behind(), window);
      if (expected == 0) {
        ASSERT_EQ(actual, kMinusInfinity);
        ASSERT_GT(c.space->distance(target), left);
      } else {
        ASSERT_NEAR(actual, std::log(expected), tolerance) << "seed " << seed << ", left " << left;
      }
    }
  }
}

void compare_tables(std::uint64_t first_seed, unsigned tasks) {
  unsigned compared = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + 10 * tasks && compared < tasks; ++seed) {
    const HmmTableCase c = small_case(seed);
    if (c.space->distance(c.space->initial()) > 3 || c.space->num_live_edges() > 60) continue;
    const unsigned horizon = 1 + static_cast<unsigned>(seed % 3);
    const auto precise = HmmTable<double>::build(c.surrogate, *c.space, horizon, std::size_t{1} << 30);
    ASSERT_TRUE(precise);
    EXPECT_EQ(precise->stride(), 1U);
    if (c.space->distance(c.space->initial()) > horizon) continue;
    ++compared;
    compare(c, *precise, horizon, 1e-9, seed);
    compare(c, *HmmTable<float>::build(c.surrogate, *c.space, horizon, std::size_t{1} << 30), horizon, kSingle, seed);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_EQ(compared, tasks);
}

TEST(HmmTableTest, EqualsTheSumOverAllPlans) { compare_tables(0, testing::repeats(60)); }
TEST(HmmTableTest, EqualsTheSumOverAllPlansSlow) { compare_tables(1'000'000, testing::repeats(500)); }

// With less memory layers are left out, and the values are the same to the last bit.
TEST(HmmTableTest, CheckpointsChangeNothing) {
  unsigned compared = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const HmmTableCase c = small_case(seed);
    constexpr unsigned kHorizon = 40;
    const auto whole = HmmTable<double>::build(c.surrogate, *c.space, kHorizon, std::size_t{1} << 30);
    ASSERT_TRUE(whole);
    std::optional<HmmTable<double>> sparse;
    for (std::size_t bytes = whole->memory_bytes(); bytes > 0 && !(sparse && sparse->stride() > 2);
         bytes -= bytes / 16 + 1) {
      std::optional<HmmTable<double>> next = HmmTable<double>::build(c.surrogate, *c.space, kHorizon, bytes);
      if (!next) break;
      EXPECT_LE(next->memory_bytes(), bytes + 4096);
      sparse = std::move(next);
    }
    if (!sparse || sparse->stride() == 1) continue;
    ++compared;
    HmmTable<double>::Window window;
    HmmTable<double>::Window unused;
    Random random(seed);
    for (const StateId state : ids<StateId>(c.space->num_live())) {
      for (int i = 0; i < 20; ++i) {
        const unsigned left = random.below(kHorizon + 1);
        ASSERT_EQ(whole->holds(state, left), sparse->holds(state, left));
        if (!whole->holds(state, left)) continue;
        ASSERT_EQ(whole->log_value(state, left, c.surrogate.start(), unused),
                  sparse->log_value(state, left, c.surrogate.start(), window))
            << "seed " << seed << ", stride " << sparse->stride();
      }
    }
    EXPECT_TRUE(unused.layers.empty());
  }
  EXPECT_GT(compared, 10U);
}

// One hidden state, every letter alike: the uniform surrogate. Deep horizons leave the range of a double.
TEST(HmmTableTest, OneStateIsTheUniformTable) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto program = task::compile(task_with_tries(seed));
    std::vector<std::string> names;
    for (const task::ActionName& name : program->definition().action_names) names.push_back(name.name);
    const Alphabet alphabet = Alphabet::meta(names, 3);
    std::vector<float> emission(alphabet.size, 1.0F / static_cast<float>(alphabet.size - 1));
    emission[static_cast<std::size_t>(alphabet.unknown())] = 0;
    const Surrogate surrogate(*program, Hmm(alphabet, 1, {1}, {1}, emission, ""));
    const SpaceResult enumerated = Space::enumerate(*program, kAmple);
    const Space& space = *enumerated.space;
    constexpr unsigned kHorizon = 300;
    const auto uniform = UniformTable::build(*program, space, kHorizon, std::size_t{1} << 30);
    const auto table = HmmTable<double>::build(surrogate, space, kHorizon, std::size_t{1} << 30);
    ASSERT_TRUE(uniform && table);
    HmmTable<double>::Window window;
    const std::vector<double> one{1};
    for (const StateId state : ids<StateId>(space.num_live())) {
      for (const unsigned left : {0U, 1U, 2U, 5U, 30U, 200U, 290U}) {
        if (!table->holds(state, left)) continue;
        const double expected = uniform->log_weight(state, left);
        const double actual = table->log_value(state, left, one, window);
        if (expected == kMinusInfinity) {
          ASSERT_EQ(actual, kMinusInfinity);
        } else {
          // The model's numbers are 32-bit floats.
          ASSERT_NEAR(actual, expected, 1e-6 * (1 + std::abs(expected))) << "seed " << seed;
        }
      }
    }
  }
}

// The whole way, with nothing shared but the task's text: states are vectors of bool, plans are tried action by action,
// and each has the probability of its symbols. Actions that have no part in any goal are left out, as the lookahead
// does.
class AllPlans {
 public:
  AllPlans(const task::Program& program, const Hmm& hmm)
      : program_(program), definition_(program.definition()), plain_(definition_, hmm) {}

  double from(const PlainState& state, unsigned left, const PlainSurrogate::Text& so_far) {
    if (++tried > kMost) return 0;
    double sum = plain_goal(definition_, state) ? plain_.ends(so_far) : 0;
    if (left == 0) return sum;
    for (const ActionId action : definition_.actions.all()) {
      if (!program_.action(action).relevant) continue;
      const std::optional<PlainState> next = plain_apply(definition_, state, action);
      if (!next) continue;
      PlainSurrogate::Text longer = so_far;
      plain_.spell(action, longer);
      sum += from(*next, left - 1, longer);
    }
    return sum;
  }

  const PlainSurrogate& plain() const { return plain_; }

  static constexpr std::size_t kMost = 300;
  std::size_t tried = 0;

 private:
  const task::Program& program_;
  const task::Definition& definition_;
  PlainSurrogate plain_;
};

TEST(TrainedLookaheadTest, EqualsAllPlansOfThePlainSemantics) {
  std::array<unsigned, 4> with_arity{};
  unsigned compared = 0;
  unsigned with_unknown = 0;
  for (std::uint64_t seed = 0; seed < 400 && compared < 80; ++seed) {
    const auto program = task::compile(task_with_tries(seed));
    const std::optional<PlainState> initial = plain_initial(program->definition());
    if (!initial || program->num_actions() != program->definition().actions.size()) continue;
    LookaheadOptions options;
    options.horizon = 1 + static_cast<unsigned>(seed % 3);
    options.fixed_horizon = true;
    options.hmm = hmm_for(program->definition(), 1 + seed % 2, seed);
    const auto lookahead = Lookahead::compile(Task(program, nullptr), options);
    if (lookahead->verdict() != Verdict::kSolvable) continue;
    ASSERT_EQ(lookahead->data().weight_rule, WeightRule::kTrainedExact);
    AllPlans all(*program, *options.hmm);
    const double expected = all.from(*initial, options.horizon, {});
    if (all.tried > AllPlans::kMost) continue;
    Support support(lookahead);
    const State& state = lookahead->task().initial_state();
    ASSERT_NEAR(support.log_weight(state, options.horizon), std::log(expected), kSingle) << "seed " << seed;
    for (const Candidate& candidate : support.candidates(state, options.horizon)) {
      // p(goal | this action), for actions that have no part in it, too.
      const ActionId action = candidate.action;
      PlainSurrogate::Text text;
      all.tried = 0;
      all.plain().spell(action, text);
      const double begins = all.plain().begins(text);
      const double goal = all.from(*plain_apply(program->definition(), *initial, action), options.horizon - 1, text);
      if (lookahead->task().apply(state, action) != state) {
        ASSERT_EQ(candidate.answer == Answer::kYes, goal > 0) << "seed " << seed;
      }
      if (goal > 0) {
        ASSERT_NEAR(candidate.log_weight, std::log(goal / begins), kSingle) << "seed " << seed;
        ASSERT_NEAR(candidate.log_probability, std::log(begins), 1e-9) << "seed " << seed;
      }
    }
    ++compared;
    for (const task::ActionName& name : program->definition().action_names) ++with_arity[name.arity];
    if (options.hmm->alphabet().num_slots < 3 || seed % 3 != 0) ++with_unknown;
  }
  EXPECT_EQ(compared, 80U);
  EXPECT_GT(with_unknown, 20U);
  for (const unsigned count : with_arity) EXPECT_GT(count, 10U);
}

// Where the table has no room, the probability of one plan stands in for it: the result says so, what is allowed is the
// same, and no weight is larger.
TEST(TrainedLookaheadTest, NamesWhatStandsInForTheTable) {
  unsigned compared = 0;
  unsigned lowered = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto program = task::compile(task_with_tries(seed));
    LookaheadOptions options;
    options.hmm = hmm_for(program->definition(), 3, seed);
    const auto exact = Lookahead::compile(Task(program, nullptr), options);
    if (exact->verdict() != Verdict::kSolvable || exact->tier() != Lookahead::Tier::kExact) continue;
    ASSERT_EQ(exact->data().weight_rule, WeightRule::kTrainedExact);
    const State& state = exact->task().initial_state();
    const PlainSurrogate plain(program->definition(), *options.hmm);

    options.weight_bytes = 0;
    const auto without = Lookahead::compile(Task(program, nullptr), options);
    ASSERT_EQ(without->data().weight_rule, WeightRule::kTrainedWitnessPlan);
    EXPECT_STREQ(without->weight_rule(), "trained, witness plan only");
    ASSERT_EQ(without->horizon(), exact->horizon());
    options.weight_bytes = LookaheadOptions{}.weight_bytes;
    options.exact.states = 1;
    const auto by_search = Lookahead::compile(Task(program, nullptr), options);
    if (by_search->tier() == Lookahead::Tier::kWitness) {
      EXPECT_EQ(by_search->data().weight_rule, WeightRule::kTrainedWitnessPlan);
    }
    Support a(exact);
    Support b(without);
    const std::vector<Candidate> expected = a.candidates(state, exact->horizon());
    const std::vector<Candidate> actual = b.candidates(state, exact->horizon());
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(actual[i].answer, expected[i].answer);
      if (actual[i].answer != Answer::kYes) continue;
      ASSERT_LE(actual[i].log_weight, expected[i].log_weight + 1e-4) << "seed " << seed;
      // It is the plan that the support itself would follow.
      const std::optional<State> next = exact->task().apply(state, actual[i].action);
      PlainSurrogate::Text text;
      plain.spell(actual[i].action, text);
      const double begins = plain.begins(text);
      const std::optional<std::vector<ActionId>> rest = b.plan(*next, exact->horizon() - 1);
      ASSERT_TRUE(rest.has_value());
      for (const ActionId action : *rest) {
        plain.spell(action, text);
      }
      if (text.symbols.size() > 9) continue;  // brute force has its limits
      ASSERT_NEAR(actual[i].log_weight, std::log(plain.ends(text) / begins), 1e-6) << "seed " << seed;
      ++compared;
    }

    // Between the two: a shorter horizon, and an exact table.
    options.exact.states = LookaheadOptions{}.exact.states;
    for (std::size_t bytes = exact->memory_bytes(); bytes > 0; bytes -= bytes / 4 + 1) {
      options.weight_bytes = bytes;
      const auto shorter = Lookahead::compile(Task(program, nullptr), options);
      ASSERT_EQ(shorter->data().weight_rule == WeightRule::kTrainedExact,
                shorter->memory_bytes() > without->memory_bytes());
      if (shorter->data().horizon_rule != HorizonRule::kShortestPlusSlack) continue;
      ++lowered;
      ASSERT_EQ(shorter->data().weight_rule, WeightRule::kTrainedExact);
      ASSERT_EQ(shorter->horizon(), *exact->shortest_plan_length() + 8);
    }
  }
  EXPECT_GT(compared, 50U);
  EXPECT_GT(lowered, 0U);
}

// A device that follows the trie (table_trie.h) without any haste, in double.
class SlowDevice : public LookaheadDevice {
 public:
  void compute(const TableInput& input, std::span<float> rows, std::span<std::int32_t> exponents) const override {
    const TableTrie trie(input.cone, input.surrogate);
    const std::size_t num_states = input.cone.num_states();
    std::vector<std::vector<double>> layer(num_states + 1, std::vector<double>(input.width));
    for (unsigned k = 0; k <= input.cone.horizon(); ++k) {
      // "Behind the last state" is the end of the plan, where nothing more is to come.
      layer[num_states].assign(input.width, 1);
      std::vector<std::vector<double>> products;  // of the level below
      for (std::size_t d = trie.levels.size(); d-- > 0;) {
        std::vector<std::vector<double>> sums;
        for (std::size_t row = 0; row < trie.levels[d].num_rows(); ++row) {
          sums.push_back(times_transitions(input, sum(input, trie, d, row, layer, products)));
        }
        products = std::move(sums);
      }
      ASSERT_EQ(products.size(), num_states);
      layer = products;
      layer.emplace_back();
      for (const ConeId s : ids<ConeId>(num_states)) {
        const unsigned distance = input.cone.distance(s);
        if (k % input.stride != 0 || k < distance || k > input.cone.most_left(s)) continue;
        const std::size_t at =
            input.first_kept[index(s)] + k / input.stride - (distance + input.stride - 1) / input.stride;
        ASSERT_LT(at, input.first_kept[index(s) + 1]);
        exponents[at] = -100;  // any will do
        for (std::size_t z = 0; z < input.width; ++z) {
          rows[at * input.width + z] = static_cast<float>(std::ldexp(layer[index(s)][z], 100));
        }
      }
    }
    ++tables;
  }

  mutable unsigned tables = 0;

 private:
  static std::vector<double> sum(const TableInput& input, const TableTrie& trie, std::size_t d, std::size_t row,
                                 const std::vector<std::vector<double>>& below,
                                 const std::vector<std::vector<double>>& products) {
    std::vector<double> result(input.width);
    const auto add = [&](std::uint32_t letter, const std::vector<double>& values) {
      for (std::size_t z = 0; z < input.width; ++z) result[z] += input.emission[letter * input.width + z] * values[z];
    };
    const TableTrie::Level& level = trie.levels[d];
    for (std::uint32_t e = level.first_edge[row]; e < level.first_edge[row + 1]; ++e) {
      add(level.edges[e].letter, below[level.edges[e].target]);
    }
    for (std::uint32_t child = level.first_child[row]; child < level.first_child[row + 1]; ++child) {
      add(trie.levels[d + 1].letter[child], products[child]);
    }
    return result;
  }
  static std::vector<double> times_transitions(const TableInput& input, const std::vector<double>& values) {
    std::vector<double> result(input.width);
    for (std::size_t to = 0; to < input.width; ++to) {
      for (std::size_t z = 0; z < input.width; ++z) {
        result[z] += input.transposed[to * input.width + z] * values[to];
      }
    }
    return result;
  }
};

TEST(TableDeviceTest, FillsTheSameTable) {
  const SlowDevice device;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const HmmTableCase c = small_case(seed);
    const unsigned horizon = 1 + static_cast<unsigned>(seed % 7);
    const auto expected = HmmTable<double>::build(c.surrogate, *c.space, horizon, std::size_t{1} << 30);
    // Less memory: every other layer, and those between from the CPU.
    for (const std::size_t bytes : {std::size_t{1} << 30, expected->memory_bytes() / 2}) {
      const auto actual = HmmTable<float>::build(c.surrogate, *c.space, horizon, bytes, &device);
      if (!actual) continue;
      HmmTable<double>::Window unused;
      HmmTable<float>::Window window;
      for (const StateId state : ids<StateId>(c.space->num_live())) {
        for (unsigned left = 0; left <= horizon; ++left) {
          ASSERT_EQ(actual->holds(state, left), expected->holds(state, left));
          if (!actual->holds(state, left)) continue;
          const double a = actual->log_value(state, left, c.surrogate.start(), window);
          const double e = expected->log_value(state, left, c.surrogate.start(), unused);
          if (e == kMinusInfinity) {
            ASSERT_EQ(a, e);
          } else {
            ASSERT_NEAR(a, e, 1e-4) << "seed " << seed << ", stride " << actual->stride();
          }
        }
      }
    }
  }
  EXPECT_GT(device.tables, 40U);
}

// A device that is out of its mind: every weight 0, or not a number.
class BrokenDevice : public LookaheadDevice {
 public:
  explicit BrokenDevice(float value, std::int32_t exponent) : value_(value), exponent_(exponent) {}
  void compute(const TableInput& /*input*/, std::span<float> rows, std::span<std::int32_t> exponents) const override {
    std::fill(rows.begin(), rows.end(), value_);
    std::fill(exponents.begin(), exponents.end(), exponent_);
  }

 private:
  float value_;
  std::int32_t exponent_;
};

TEST(TableDeviceTest, DecidesNothing) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto program = task::compile(task_with_tries(seed));
    LookaheadOptions options;
    options.hmm = hmm_for(program->definition(), 2, seed);
    const auto right = Lookahead::compile(Task(program, nullptr), options);
    for (const auto& device : {std::make_shared<BrokenDevice>(0.0F, kNoExponent),
                               std::make_shared<BrokenDevice>(std::numeric_limits<float>::quiet_NaN(), 0)}) {
      options.device = device;
      const auto wrong = Lookahead::compile(Task(program, nullptr), options);
      ASSERT_EQ(wrong->verdict(), right->verdict());
      ASSERT_EQ(wrong->horizon(), right->horizon());
      if (right->verdict() != Verdict::kSolvable) continue;
      Support a(right);
      Support b(wrong);
      for (const unsigned left : {1U, 3U, right->horizon()}) {
        const std::vector<Candidate> expected = a.candidates(right->task().initial_state(), left);
        const std::vector<Candidate> actual = b.candidates(right->task().initial_state(), left);
        ASSERT_EQ(actual.size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
          EXPECT_EQ(actual[i].answer, expected[i].answer);
          EXPECT_EQ(actual[i].remaining, expected[i].remaining);
          if (actual[i].answer == Answer::kYes) {
            EXPECT_GE(actual[i].log_weight, kLowestLogWeight);
          }
        }
      }
    }
  }
}

TEST(TableDeviceTest, IsRefusedWhereThereIsNone) {
  try {
    make_cuda_lookahead_device(1000);
    FAIL() << "no machine has so many";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("use the CPU"), std::string::npos) << error.what();
  }
}

TEST(SurrogateTest, PlansHaveTheProbabilityOfTheirSymbols) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const HmmTableCase c = small_case(seed);
    if (c.program->num_actions() == 0) continue;
    Random random(seed);
    std::vector<ActionId> plan;
    PlainSurrogate::Text text;
    for (int i = 0; i < 3; ++i) {
      plan.push_back(ActionId{random.below(c.program->num_actions())});
      c.plain.spell(plan.back(), text);
    }
    text.symbols.push_back(c.hmm.alphabet().end);
    EXPECT_NEAR(c.surrogate.log_plan(c.surrogate.start(), plan),
                std::log(text.share) + c.hmm.log_likelihood(text.symbols), 1e-9);
  }
}

TEST(SurrogateTest, RefusesAModelOfSomethingElse) {
  const auto program = task::compile(task_with_tries(1));
  EXPECT_THROW(Surrogate(*program, Hmm::uniform(Alphabet::meta({"fly"}, 3))), InputError);
  EXPECT_THROW(Surrogate(*program, Hmm::uniform(Alphabet::tokens(100, 3))), InputError);
}

}  // namespace
}  // namespace metactrl::lookahead::hmm_table_property_test
