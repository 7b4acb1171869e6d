#include "metactrl/hmm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hmm/gemm.h"
#include "hmm/row_ops.h"
#include "metactrl/error.h"
#include "support/naive_hmm.h"

namespace metactrl::hmm_test {
namespace {

using testing::NaiveHmm;
using testing::Random;

TEST(AlphabetTest, OrdersActionsSlotsUnknownAndEnd) {
  const Alphabet alphabet = Alphabet::meta({"putin", "grab", "open"}, 2);
  EXPECT_EQ(alphabet.size, 7U);
  EXPECT_EQ(alphabet.text(alphabet.action("grab")), "grab");
  EXPECT_EQ(alphabet.action("putin"), SymbolId{2});
  EXPECT_EQ(alphabet.action("fly"), alphabet.unknown());
  EXPECT_EQ(alphabet.text(alphabet.slot(1)), "ID1");
  EXPECT_EQ(alphabet.slot(2), alphabet.unknown());
  EXPECT_EQ(alphabet.text(alphabet.unknown()), "UNK");
  EXPECT_EQ(alphabet.text(alphabet.end), "EOS");
  EXPECT_THROW(Alphabet::meta({"open", "open"}, 1), InputError);
  EXPECT_THROW(Alphabet::tokens(3, 3), InputError);
}

TEST(AlphabetTest, TranslatesByMeaning) {
  const Alphabet small = Alphabet::meta({"open", "grab"}, 2);
  const Alphabet large = Alphabet::meta({"close", "open", "walk"}, 4);
  EXPECT_EQ(large.translate(small, small.action("open")), large.action("open"));
  EXPECT_EQ(large.translate(small, small.action("grab")), large.unknown());
  EXPECT_EQ(large.translate(small, small.slot(1)), large.slot(1));
  EXPECT_EQ(small.translate(large, large.slot(3)), small.unknown());
  EXPECT_EQ(large.translate(small, small.unknown()), large.unknown());
  EXPECT_EQ(large.translate(small, small.end), large.end);
  const Alphabet tokens = Alphabet::tokens(9, 2);
  EXPECT_EQ(tokens.translate(tokens, SymbolId{7}), SymbolId{7});
}

TEST(HmmTest, RefusesWhatIsNoDistribution) {
  const Alphabet alphabet = Alphabet::tokens(2, 1);
  EXPECT_NO_THROW(Hmm(alphabet, 1, {1}, {1}, {0.25F, 0.75F}, ""));
  EXPECT_THROW(Hmm(alphabet, 1, {1}, {1}, {0.25F, 0.25F}, ""), InputError);
  EXPECT_THROW(Hmm(alphabet, 1, {1}, {1}, {1.5F, -0.5F}, ""), InputError);
  EXPECT_THROW(Hmm(alphabet, 1, {0.5F}, {1}, {0.25F, 0.75F}, ""), InputError);
  EXPECT_THROW(Hmm(alphabet, 1, {1}, {std::numeric_limits<float>::quiet_NaN()}, {0.25F, 0.75F}, ""), InputError);
  EXPECT_THROW(Hmm(alphabet, 2, {1}, {1}, {0.25F, 0.75F}, ""), InputError);
}

TEST(HmmTest, RefusesAnAlphabetWhoseSizesDoNotGoTogether) {
  const std::size_t most = std::numeric_limits<std::size_t>::max();
  const auto make = [](const Alphabet& alphabet) {
    return Hmm(alphabet, 1, {1}, {1}, std::vector<float>(5, 0.2F), "");
  };
  const Alphabet good = Alphabet::meta({"grab", "open"}, 1);
  make(good);
  Alphabet wrapped = good;
  wrapped.num_actions = most;
  wrapped.num_slots = 4;
  EXPECT_THROW(make(wrapped), InputError);
  Alphabet nameless = good;
  nameless.names[4] = "";
  EXPECT_THROW(make(nameless), InputError);
  Alphabet tokens = Alphabet::tokens(5, 4);
  tokens.num_actions = 3;
  EXPECT_THROW(make(tokens), InputError);
}

TEST(HmmTest, LikelihoodIsTheSumOverAllWalks) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const std::size_t hidden = 1 + random.below(4);
    const Hmm hmm = Hmm::random(Alphabet::tokens(2 + random.below(5), 0), hidden, seed);
    std::vector<SymbolId> sequence;
    for (std::size_t i = random.below(6); i-- > 0;) sequence.push_back(SymbolId{random.below(hmm.num_symbols())});
    const double expected = std::log(NaiveHmm(hmm).probability(sequence));
    EXPECT_NEAR(hmm.log_likelihood(sequence), sequence.empty() ? 0 : expected, 1e-9) << "seed " << seed;
  }
}

TEST(HmmTest, LongSequencesDoNotUnderflow) {
  const Hmm hmm = Hmm::uniform(Alphabet::tokens(50, 0));
  const std::vector<SymbolId> sequence(5000, SymbolId{7});
  EXPECT_NEAR(hmm.log_likelihood(sequence), -5000 * std::log(50), 1e-3);
}

TEST(HmmTest, ZeroIsZero) {
  const Hmm hmm(Alphabet::tokens(2, 1), 1, {1}, {1}, {0, 1}, "");
  const std::vector<SymbolId> never{SymbolId{0}, SymbolId{1}};
  EXPECT_EQ(hmm.log_likelihood(never), -std::numeric_limits<double>::infinity());
  const std::vector<SymbolId> foreign{SymbolId{2}};
  EXPECT_EQ(hmm.log_likelihood(foreign), -std::numeric_limits<double>::infinity());
}

template <typename Real>
void compare_products(std::uint64_t seed) {
  Random random(seed);
  const bool one_row = seed % 3 == 0;  // which has kernels of its own
  const std::size_t m = one_row ? 1 : 1 + random.below(40);
  const std::size_t n = hmm::padded(1 + random.below(one_row ? 200 : 60));
  const std::size_t k = random.below(600);
  const bool transposed = random.chance(50);
  const bool accumulate = random.chance(50);
  const auto numbers = [&](std::size_t count) {
    std::vector<Real> out(count);
    for (Real& value : out) value = static_cast<Real>(random.below(1000)) / 1000;
    return out;
  };
  const std::vector<Real> a = numbers(m * k + 1);
  const std::vector<Real> b = numbers(k * n + 1);
  const std::vector<Real> before = numbers(m * n);
  const std::size_t a_row = transposed ? 1 : k;
  const std::size_t a_column = transposed ? m : 1;
  const auto check = [&](const auto& multiply, const char* name) {
    std::vector<Real> c = before;
    multiply(m, n, k, a.data(), a_row, a_column, b.data(), n, c.data(), n, accumulate);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double sum = accumulate ? static_cast<double>(before[i * n + j]) : 0;
        for (std::size_t p = 0; p < k; ++p) {
          sum += static_cast<double>(a[i * a_row + p * a_column]) * static_cast<double>(b[p * n + j]);
        }
        ASSERT_NEAR(c[i * n + j], sum, sum * (sizeof(Real) == 4 ? 1e-5 : 1e-12) + 1e-12) << name << ", seed " << seed;
      }
    }
  };
  check(hmm::multiply<Real>, "the one in use");
  const auto check_kernel = [&](auto kernel, const char* name) {
    using Kernel = decltype(kernel);
    if (k == 0) return;
    check(hmm::multiply_with<Kernel, Real>, name);
    if (m > 1) return;
    const auto row = [](std::size_t, std::size_t columns, std::size_t depth, const Real* left, std::size_t,
                        std::size_t left_column, const Real* right, std::size_t ldb, Real* c, std::size_t, bool add) {
      hmm::multiply_row_with<Kernel>(columns, depth, left, left_column, right, ldb, c, add);
    };
    check(row, name);
  };
  check_kernel(hmm::PlainKernel{}, "plain");
#if defined(__x86_64__)
  if (hmm::has_avx2()) check_kernel(hmm::Avx2Kernel{}, "AVX2");
  if (hmm::has_avx512()) check_kernel(hmm::Avx512Kernel{}, "AVX-512");
#endif
}

TEST(GemmTest, AgreesWithThreeLoops) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    compare_products<float>(seed);
    compare_products<double>(seed);
  }
}

template <typename Real>
void compare_rows(const hmm::RowOps<Real>& ops, std::uint64_t seed) {
  Random random(seed);
  const std::size_t width = hmm::padded(1 + random.below(200));
  const auto numbers = [&] {
    std::vector<Real> out(width);
    for (Real& value : out) value = static_cast<Real>(random.below(1000)) / 1000;
    return out;
  };
  std::vector<Real> out = numbers();
  const std::vector<Real> before = out;
  const std::vector<Real> emitted = numbers();
  const std::vector<Real> values = numbers();
  const Real keep = static_cast<Real>(0.25);
  const Real scale = static_cast<Real>(0.5);
  ops.add(out.data(), keep, emitted.data(), values.data(), scale, width);
  for (std::size_t z = 0; z < width; ++z) {
    ASSERT_NEAR(out[z], before[z] * keep + emitted[z] * values[z] * scale, 1e-6) << "seed " << seed;
  }
  ASSERT_EQ(ops.largest(values.data(), width), *std::max_element(values.begin(), values.end()));
  const std::vector<Real> zeros(width);
  ASSERT_EQ(ops.largest(zeros.data(), width), 0);
  out = values;
  ops.scale(out.data(), scale, width);
  for (std::size_t z = 0; z < width; ++z) ASSERT_EQ(out[z], values[z] * scale);
  double sum = 0;
  for (std::size_t z = 0; z < width; ++z) sum += static_cast<double>(emitted[z]) * static_cast<double>(values[z]);
  const Real product = ops.dot(emitted.data(), values.data(), width);
  ASSERT_NEAR(product, sum, sum * (sizeof(Real) == 4 ? 1e-5 : 1e-13)) << "seed " << seed;
  // To the last bit on every processor of the architecture.
  ASSERT_EQ(product, hmm::plain_row_ops<Real>().dot(emitted.data(), values.data(), width));
}

TEST(RowOpsTest, AgreeWithPlainLoops) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    for (const auto& ops : {hmm::row_ops<float>(), hmm::plain_row_ops<float>()}) compare_rows(ops, seed);
    for (const auto& ops : {hmm::row_ops<double>(), hmm::plain_row_ops<double>()}) compare_rows(ops, seed);
  }
}

}  // namespace
}  // namespace metactrl::hmm_test
