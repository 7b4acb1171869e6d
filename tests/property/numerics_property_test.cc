// Numbers of the tables. Tables of trained models against sums that lose nothing: a float is a whole number times a power of
// two, a weight is made of such by adding and multiplying, so it is one, too, however long. And tables of many small tasks,
// with models at the edges of what a float can hold (denormal numbers, zeros, ones that are nearly certain), hold logarithms of
// probabilities and nothing else: never NaN, never plus infinity, above zero by no more than rounding where no two actions have
// one text, minus infinity where the goal is too far, and with an action more never less (in double).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "lookahead/hmm_table.h"
#include "lookahead/uniform.h"
#include "support/big_integer.h"
#include "support/hmm_table_case.h"
#include "support/random.h"
#include "support/repeats.h"
#include "task/compile.h"

namespace metactrl::lookahead::numerics_property_test {
namespace {

using ::metactrl::testing::action_names;
using ::metactrl::testing::BigInteger;
using ::metactrl::testing::PlainSurrogate;
using ::metactrl::testing::Random;
using ::metactrl::testing::repeats;
using ::metactrl::testing::task_with_tries;

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
constexpr std::size_t kBytes = std::size_t{1} << 28;

// A number of at least 0: digits * 2^exponent.
class Exact {
 public:
  Exact() = default;
  explicit Exact(float value) {
    int exponent = 0;
    const float share = std::frexp(value, &exponent);
    digits_ = BigInteger(static_cast<std::uint32_t>(std::ldexp(share, kBits)));
    exponent_ = exponent - kBits;
  }

  bool is_zero() const { return digits_.is_zero(); }

  Exact& operator+=(const Exact& other) {
    if (other.is_zero()) return *this;
    if (is_zero()) return *this = other;
    if (exponent_ > other.exponent_) {
      digits_ <<= static_cast<std::size_t>(exponent_ - other.exponent_);
      exponent_ = other.exponent_;
      digits_ += other.digits_;
    } else {
      BigInteger shifted = other.digits_;
      shifted <<= static_cast<std::size_t>(other.exponent_ - exponent_);
      digits_ += shifted;
    }
    return *this;
  }
  Exact times(float value) const {
    int exponent = 0;
    const float share = std::frexp(value, &exponent);
    Exact out = *this;
    out.digits_ *= static_cast<std::uint32_t>(std::ldexp(share, kBits));
    out.exponent_ += exponent - kBits;
    return out;
  }
  double log() const {
    if (is_zero()) return kMinusInfinity;
    return static_cast<double>(digits_.log() + static_cast<long double>(exponent_) * std::log(2.0L));
  }

 private:
  static constexpr int kBits = 24;  // of a float
  BigInteger digits_;
  long exponent_ = 0;
};

// A task, its space, and a model that has a symbol for everything.
struct Case {
  Case(std::uint64_t seed, const Hmm& model)
      : program(task::compile(task_with_tries(seed))), hmm(model), surrogate(*program, hmm) {
    SpaceResult result = Space::enumerate(*program, Budget{});
    space.emplace(*std::move(result.space));
  }

  std::vector<SymbolId> symbols(ActionId action) const {
    PlainSurrogate::Text text;
    PlainSurrogate(program->definition(), hmm).spell(action, text);
    return text.symbols;
  }

  std::shared_ptr<const task::Program> program;
  Hmm hmm;
  Surrogate surrogate;
  std::optional<Space> space;
};

Alphabet whole_alphabet(std::uint64_t seed) {
  const task::Definition definition = task_with_tries(seed);
  return Alphabet::meta(action_names(definition), definition.objects.size());
}

// values[z]: that a writer who is about to write from hidden state z reaches the goal with so many actions at most.
class ExactTable {
 public:
  explicit ExactTable(const Case& c) : case_(c), values_(c.space->num_live(), std::vector<Exact>(c.hmm.num_hidden())) {
    for (const ActionId action : ids<ActionId>(c.program->num_actions())) symbols_.push_back(c.symbols(action));
    values_ = next();
  }

  // One action more.
  void go_on() { values_ = next(); }

  // What the table keeps: the same behind a letter that was written from z.
  double log_behind(StateId state, std::size_t z) const { return moved(values_[internal::index(state)])[z].log(); }

 private:
  using Row = std::vector<Exact>;

  Row moved(const Row& row) const {
    const std::size_t hidden = case_.hmm.num_hidden();
    Row out(hidden);
    for (std::size_t z = 0; z < hidden; ++z) {
      for (std::size_t to = 0; to < hidden; ++to) out[z] += row[to].times(case_.hmm.transition()[z * hidden + to]);
    }
    return out;
  }
  void write(SymbolId symbol, Row& row) const {
    for (std::size_t z = 0; z < row.size(); ++z) row[z] = row[z].times(case_.hmm.emission(symbol)[z]);
  }

  std::vector<Row> next() const {
    const Space& space = *case_.space;
    std::vector<Row> out(values_.size(), Row(case_.hmm.num_hidden()));
    for (const StateId state : ids<StateId>(space.num_live())) {
      Row& row = out[internal::index(state)];
      if (space.is_goal(state)) {
        for (Exact& value : row) value = Exact(1.0F);
        write(case_.hmm.alphabet().end, row);
      }
      for (std::size_t e = 0; e < space.targets(state).size(); ++e) {
        const StateId target = space.targets(state)[e];
        if (internal::index(target) >= values_.size()) continue;
        Row behind = values_[internal::index(target)];
        const std::vector<SymbolId>& letters = symbols_[internal::index(space.actions(state)[e])];
        for (std::size_t i = letters.size(); i-- > 0;) {
          behind = moved(behind);
          write(letters[i], behind);
        }
        for (std::size_t z = 0; z < row.size(); ++z) row[z] += behind[z];
      }
    }
    return out;
  }

  const Case& case_;
  std::vector<std::vector<SymbolId>> symbols_;  // per action
  std::vector<Row> values_;                     // per live state; at first none can be reached
};

std::vector<double> only(std::size_t z, std::size_t hidden) {
  std::vector<double> out(hidden);
  out[z] = 1;
  return out;
}

template <typename Real>
void expect_exact(const Case& c, const HmmTable<Real>& table, const ExactTable& exact, unsigned left, double tolerance,
                  std::size_t& compared) {
  typename HmmTable<Real>::Window window;
  for (const StateId state : ids<StateId>(c.space->num_live())) {
    if (!table.holds(state, left)) continue;
    for (std::size_t z = 0; z < c.hmm.num_hidden(); ++z) {
      const double got = table.log_value(state, left, only(z, c.hmm.num_hidden()), window);
      const double expected = exact.log_behind(state, z);
      ASSERT_EQ(std::isfinite(got), std::isfinite(expected)) << "left " << left << ": " << got << ", " << expected;
      if (!std::isfinite(expected)) continue;
      ASSERT_NEAR(got, expected, tolerance * std::max(1.0, std::abs(expected) / 100)) << "left " << left;
      ++compared;
    }
  }
}

void compare_with_whole_numbers(std::uint64_t first, std::uint64_t count) {
  std::size_t compared = 0;
  std::size_t tasks = 0;
  for (std::uint64_t seed = first; seed < first + 4 * count && tasks < count; ++seed) {
    SCOPED_TRACE(seed);
    const std::size_t hidden = 1 + seed % 3;
    const Case c(seed, Hmm::random(whole_alphabet(seed), hidden, seed));
    if (c.space->num_live() == 0 || c.space->num_live_edges() > 120) continue;
    ++tasks;
    constexpr unsigned kHorizon = 24;
    const auto precise = HmmTable<double>::build(c.surrogate, *c.space, kHorizon, kBytes);
    const auto single = HmmTable<float>::build(c.surrogate, *c.space, kHorizon, kBytes);
    ASSERT_TRUE(precise && single);
    ExactTable exact(c);
    for (unsigned left = 0; left <= kHorizon; ++left) {
      if (left > 0) exact.go_on();
      expect_exact(c, *precise, exact, left, 1e-11, compared);
      expect_exact(c, *single, exact, left, 1e-5, compared);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_EQ(tasks, count);
  EXPECT_GT(compared, 300 * count);
}

TEST(Numerics, TrainedTablesAreWhatWholeNumbersSay) { compare_with_whole_numbers(0, repeats(25)); }
TEST(Numerics, TrainedTablesAreWhatWholeNumbersSaySlow) { compare_with_whole_numbers(1'000'000, repeats(1'500)); }

// A model with rows that are ordinary, nearly certain, full of denormal numbers, or with zeros.
Hmm model_at_the_edge(const Alphabet& alphabet, std::size_t hidden, Random& random) {
  const auto row = [&](std::size_t count) {
    const std::uint32_t kind = random.below(4);
    std::vector<float> out(count);
    for (float& value : out) {
      const auto some = static_cast<float>(1 + random.below(1000)) / 1000.0F;
      value = kind == 0 || random.chance(20) ? some
              : kind == 1                    ? some * 1e-30F
              : kind == 2                    ? some * 1e-43F  // denormal
                                             : 0.0F;
    }
    out[random.below(static_cast<std::uint32_t>(count))] = 1;
    double sum = 0;
    for (const float value : out) sum += static_cast<double>(value);
    for (float& value : out) value = static_cast<float>(static_cast<double>(value) / sum);
    return out;
  };
  const std::vector<float> initial = row(hidden);
  std::vector<float> transition;
  std::vector<float> emission(alphabet.size * hidden);
  for (std::size_t z = 0; z < hidden; ++z) {
    for (const float value : row(hidden)) transition.push_back(value);
    const std::vector<float> letters = row(alphabet.size);
    for (std::size_t v = 0; v < alphabet.size; ++v) emission[v * hidden + z] = letters[v];
  }
  return {alphabet, hidden, initial, transition, emission, ""};
}

// Where two actions are written alike, a text counts once for each of them.
bool all_written_differently(const Case& c) {
  std::set<std::vector<SymbolId>> texts;
  for (const ActionId action : ids<ActionId>(c.program->num_actions())) {
    if (!texts.insert(c.symbols(action)).second) return false;
  }
  return true;
}

struct Counts {
  std::size_t tables = 0;
  std::size_t distinct = 0;  // of tasks whose actions are all written differently
  std::size_t values = 0;
  std::size_t denormal = 0;  // as a double
  std::size_t impossible = 0;
};

// What a weight may be.
struct Bounds {
  double rounding = 0;
  bool at_most_one = true;
  bool impossible = true;  // the model may hold every way for impossible
  // A float loses bits of what is 10^38 times smaller than the largest of its row, which is what a model at the edge makes of
  // hidden states: there a table of floats may say less with an action more, or nothing.
  bool grows = true;
};

// Of a state that is `far` from the goal, where `before` is what was said of one action less.
void expect_logarithm(double now, double before, bool far, const Bounds& bounds, Counts& counts) {
  const double rounding = bounds.rounding;
  ++counts.values;
  ASSERT_FALSE(std::isnan(now));
  ASSERT_LT(now, std::numeric_limits<double>::infinity());
  if (bounds.at_most_one) {
    ASSERT_LE(now, rounding) << "more than certain";
  }
  if (far) {
    ASSERT_EQ(now, kMinusInfinity);
  } else if (!bounds.impossible) {
    ASSERT_TRUE(std::isfinite(now));
  }
  if (now == kMinusInfinity) {
    if (bounds.grows) {
      ASSERT_EQ(before, kMinusInfinity) << "nothing with an action more";
    }
    counts.impossible += far ? 0 : 1;
    return;
  }
  counts.denormal += now < -709 ? 1 : 0;
  if (!bounds.grows) return;
  ASSERT_GE(now, before - rounding * (1 + std::abs(before))) << "less with an action more";
}

template <typename Real>
void look_at_table(const Case& c, unsigned horizon, const Bounds& bounds, Counts& counts) {
  const auto table = HmmTable<Real>::build(c.surrogate, *c.space, horizon, kBytes);
  if (!table) return;
  ++counts.tables;
  typename HmmTable<Real>::Window window;
  for (const StateId state : ids<StateId>(c.space->num_live())) {
    double before = kMinusInfinity;
    for (unsigned left = 0; left <= horizon && table->holds(state, left); ++left) {
      const double now = table->log_value(state, left, c.surrogate.start(), window);
      expect_logarithm(now, before, c.space->distance(state) > left, bounds, counts);
      if (::testing::Test::HasFatalFailure()) return;
      before = now;
    }
  }
}

void look_at_tables(std::uint64_t first, std::uint64_t count) {
  Counts counts;
  for (std::uint64_t seed = first; counts.tables < count; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Case c(seed, model_at_the_edge(whole_alphabet(seed), random.between(1, 3), random));
    const unsigned horizon = random.chance(10) ? 400 : random.between(1, 40);
    const bool distinct = all_written_differently(c);
    counts.distinct += distinct ? 1 : 0;
    const auto uniform = UniformTable::build(*c.program, *c.space, horizon, kBytes);
    ASSERT_TRUE(uniform);
    ++counts.tables;
    for (const StateId state : ids<StateId>(c.space->num_live())) {
      double before = kMinusInfinity;
      for (unsigned left = 0; left + c.space->depth(state) <= horizon; ++left) {
        const double now = uniform->log_weight(state, left);
        expect_logarithm(now, before, c.space->distance(state) > left, {1e-12, distinct, false}, counts);
        if (::testing::Test::HasFatalFailure()) return;
        before = now;
      }
    }
    // The model's own numbers are floats, whose rows add up to one as far as floats can.
    look_at_table<double>(c, horizon, {1e-5, distinct}, counts);
    look_at_table<float>(c, horizon, {1e-4, distinct, true, false}, counts);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(counts.values, count);
  EXPECT_GT(counts.distinct, count / 100);
  EXPECT_GT(counts.denormal, 0U);
  EXPECT_GT(counts.impossible, 0U);
}

TEST(Numerics, TablesHoldLogarithmsOfProbabilities) { look_at_tables(0, repeats(600)); }
TEST(Numerics, TablesHoldLogarithmsOfProbabilitiesSlow) { look_at_tables(1'000'000, repeats(100'000)); }

}  // namespace
}  // namespace metactrl::lookahead::numerics_property_test
