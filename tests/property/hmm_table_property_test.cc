// HmmTable and Surrogate against brute force: on random small tasks the probability of every plan, letter by letter and
// walk by walk (support/naive_hmm.h), summed over all plans that reach the goal.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "lookahead/hmm_table.h"
#include "lookahead/uniform.h"
#include "metactrl/error.h"
#include "support/naive_hmm.h"
#include "support/random_definition.h"
#include "task/compile.h"

namespace metactrl::lookahead {
namespace {

using ::metactrl::testing::NaiveHmm;
using ::metactrl::testing::Random;

const Budget kAmple;
constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// Actions with shared names and arguments, so that their letters form tries of different depths.
task::Definition random_task(std::uint64_t seed) {
  task::Definition definition = ::metactrl::testing::random_definition(seed);
  definition.objects = {"o0", "o1", "o2"};
  definition.action_names.clear();
  for (std::size_t a = 0; a < definition.actions.size(); ++a) {
    const auto name = static_cast<std::uint32_t>(a / 4);
    const std::uint32_t arity = (name + static_cast<std::uint32_t>(seed)) % 4;
    if (definition.action_names.size() <= name) {
      std::string text = "n";
      definition.action_names.push_back({text += std::to_string(name), arity});
    }
    definition.actions[a].symbol.name = name;
    definition.actions[a].symbol.arguments.clear();
    for (std::uint32_t i = 0; i < arity; ++i) {
      definition.actions[a].symbol.arguments.push_back(static_cast<std::uint32_t>(a >> i) % 3);
    }
  }
  return definition;
}

struct Case {
  explicit Case(std::uint64_t seed)
      : program(task::compile(random_task(seed))), hmm(random_hmm(seed)), naive(hmm), surrogate(*program, hmm) {
    SpaceResult result = Space::enumerate(*program, kAmple);
    space.emplace(*std::move(result.space));
  }

  Hmm random_hmm(std::uint64_t seed) const {
    std::vector<std::string> names;
    for (const task::ActionName& name : program->definition().action_names) names.push_back(name.name);
    if (seed % 3 == 0 && names.size() > 1) names.pop_back();  // becomes UNK
    return Hmm::random(Alphabet::meta(names, seed % 2 == 0 ? 3 : 1), 1 + seed % 3, seed);
  }

  // The symbols of an action; `share` is multiplied with what each of several unknown ones gets of UNK.
  void spell(std::uint32_t action, std::vector<SymbolId>& out, double& share) const {
    const Alphabet& alphabet = hmm.alphabet();
    const task::Symbol& symbol = program->definition().actions[action].symbol;
    out.push_back(alphabet.action(program->definition().action_names[symbol.name].name));
    for (const std::uint32_t object : symbol.arguments) {
      out.push_back(alphabet.slot(object));
      if (out.back() == alphabet.unknown()) share /= static_cast<double>(3 - alphabet.num_slots);
    }
  }

  // p(the symbols so far, then some plan to the goal, then the end)
  double plans(std::uint32_t state, unsigned left, const std::vector<SymbolId>& so_far, double share) const {
    double sum = 0;
    if (space->is_goal(state)) {
      std::vector<SymbolId> whole = so_far;
      whole.push_back(hmm.alphabet().end);
      sum += share * naive.probability(whole);
    }
    for (std::size_t e = 0; left > 0 && e < space->targets(state).size(); ++e) {
      std::vector<SymbolId> longer = so_far;
      double part = share;
      spell(space->actions(state)[e], longer, part);
      sum += plans(space->targets(state)[e], left - 1, longer, part);
    }
    return sum;
  }

  std::shared_ptr<const task::Program> program;
  Hmm hmm;
  NaiveHmm naive;
  Surrogate surrogate;
  std::optional<Space> space;
};

template <typename Real>
void compare(const Case& c, const HmmTable<Real>& table, unsigned horizon, double tolerance, std::uint64_t seed) {
  typename HmmTable<Real>::Window window;
  const std::uint32_t initial = c.space->initial();
  BeliefCursor cursor(c.surrogate);
  cursor.begin(c.surrogate.start());
  for (std::size_t e = 0; e < c.space->targets(initial).size(); ++e) {
    const std::uint32_t action = c.space->actions(initial)[e];
    const std::uint32_t target = c.space->targets(initial)[e];
    cursor.read(action);
    std::vector<SymbolId> symbols;
    double share = 1;
    c.spell(action, symbols, share);
    ASSERT_NEAR(cursor.log_probability(), std::log(share * c.naive.probability(symbols)), 1e-9) << "seed " << seed;
    std::vector<SymbolId> ended = symbols;
    ended.push_back(c.hmm.alphabet().end);
    ASSERT_NEAR(cursor.log_end(), std::log(share * c.naive.probability(ended)) - cursor.log_probability(), 1e-9);
    for (unsigned left = horizon - 1; left + 1 > 0; --left) {
      const double expected = c.plans(target, left, symbols, share);
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

TEST(HmmTableTest, EqualsTheSumOverAllPlans) {
  unsigned compared = 0;
  for (std::uint64_t seed = 0; seed < 400 && compared < 60; ++seed) {
    const Case c(seed);
    if (c.space->distance(c.space->initial()) > 3 || c.space->num_live_edges() > 60) continue;
    const unsigned horizon = 1 + static_cast<unsigned>(seed % 3);
    const auto precise = HmmTable<double>::build(c.surrogate, *c.space, horizon, std::size_t{1} << 30);
    ASSERT_TRUE(precise);
    EXPECT_EQ(precise->stride(), 1U);
    if (c.space->distance(c.space->initial()) > horizon) continue;
    ++compared;
    compare(c, *precise, horizon, 1e-9, seed);
    compare(c, *HmmTable<float>::build(c.surrogate, *c.space, horizon, std::size_t{1} << 30), horizon, 1e-4, seed);
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(compared, 60U);
}

// With less memory layers are left out, and the values are the same to the last bit.
TEST(HmmTableTest, CheckpointsChangeNothing) {
  unsigned compared = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Case c(seed);
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
    for (std::uint32_t state = 0; state < c.space->num_live(); ++state) {
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
    const auto program = task::compile(random_task(seed));
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
    for (std::uint32_t state = 0; state < space.num_live(); ++state) {
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

TEST(SurrogateTest, PlansHaveTheProbabilityOfTheirSymbols) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Case c(seed);
    if (c.program->num_actions() == 0) continue;
    Random random(seed);
    std::vector<std::uint32_t> plan;
    std::vector<SymbolId> symbols;
    double share = 1;
    for (int i = 0; i < 3; ++i) {
      plan.push_back(random.below(c.program->num_actions()));
      c.spell(plan.back(), symbols, share);
    }
    symbols.push_back(c.hmm.alphabet().end);
    EXPECT_NEAR(c.surrogate.log_plan(c.surrogate.start(), plan), std::log(share) + c.hmm.log_likelihood(symbols), 1e-9);
  }
}

TEST(SurrogateTest, RefusesAModelOfSomethingElse) {
  const auto program = task::compile(random_task(1));
  EXPECT_THROW(Surrogate(*program, Hmm::uniform(Alphabet::meta({"fly"}, 3))), InputError);
  EXPECT_THROW(Surrogate(*program, Hmm::uniform(Alphabet::tokens(100, 3))), InputError);
}

}  // namespace
}  // namespace metactrl::lookahead
