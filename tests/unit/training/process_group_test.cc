// Training by several processes, here played by threads: the same as by one.
#include "metactrl/training/process_group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "metactrl/training/train.h"
#include "support/naive_hmm.h"
#include "support/thread_group.h"
#include "training/partial_sums.h"

namespace metactrl::process_group_test {
namespace {

using testing::all_of;
using testing::in_group;
using testing::Random;
using testing::same_parameters;
using testing::sample_sequences;

void expect_equal(const ExpectedCounts& a, const ExpectedCounts& b) {
  EXPECT_EQ(a.initial, b.initial);
  EXPECT_EQ(a.transition, b.transition);
  EXPECT_EQ(a.emission, b.emission);
  EXPECT_EQ(a.unread, b.unread);
  EXPECT_EQ(a.log_likelihood, b.log_likelihood);
  EXPECT_EQ(a.symbols, b.symbols);
  EXPECT_EQ(a.weight, b.weight);
  EXPECT_EQ(a.impossible, b.impossible);
}

// ||a - b|| / ||b||
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return std::sqrt(difference / norm);
}

TEST(ProcessGroupTest, TheLargestIsKnownToAll) {
  for (const unsigned size : {1U, 2U, 3U, 5U, 8U, 13U}) {
    for (unsigned holder = 0; holder < size; ++holder) {
      std::vector<std::uint64_t> found(size);
      in_group(size, [&](ProcessGroup& group) {
        found[group.rank()] = largest_of(group, group.rank() == holder ? 7 + holder : 0);
      });
      EXPECT_EQ(found, std::vector<std::uint64_t>(size, 7 + holder)) << "of " << size;
    }
  }
  SingleProcess alone;
  EXPECT_EQ(largest_of(alone, 3), 3U);
  EXPECT_THROW(alone.send(1, {}), std::logic_error);
  EXPECT_THROW(alone.receive(1, {}), std::logic_error);
}

TEST(ProcessGroupTest, SharesAreEvenAndComplete) {
  for (std::size_t count = 0; count < 40; ++count) {
    for (std::size_t size = 1; size < 12; ++size) {
      std::size_t next = 0;
      for (std::size_t rank = 0; rank < size; ++rank) {
        const training::Range share = training::share_of(count, rank, size);
        EXPECT_EQ(share.first, next);
        EXPECT_LE(share.last - share.first, count / size + 1);
        EXPECT_GE(share.last - share.first, count / size);
        next = share.last;
      }
      EXPECT_EQ(next, count);
    }
  }
}

// Numbers whose sum depends on the order: the tree gives one and the same for every order and every group.
TEST(PartialSumsTest, AreTheSameInAnyOrderAndAnyGroup) {
  for (const std::size_t leaves : {1U, 2U, 3U, 5U, 7U, 8U, 16U, 19U}) {
    const auto leaf = [](std::size_t i) {
      ExpectedCounts counts(1, 1);
      counts.initial[0] = std::pow(10.0, static_cast<double>(i % 7)) / 3;
      counts.emission[0] = 1.0 / (1.0 + static_cast<double>(i));
      counts.log_likelihood = std::sin(static_cast<double>(i)) * 1e10;
      counts.weight = 1;
      return counts;
    };
    std::optional<ExpectedCounts> expected;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      std::vector<std::size_t> order(leaves);
      std::iota(order.begin(), order.end(), std::size_t{0});
      Random random(seed);
      for (std::size_t i = leaves; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
      training::PartialSums sums(leaves, 1, 1);
      for (const std::size_t i : order) sums.add(i, leaf(i));
      SingleProcess alone;
      const ExpectedCounts found = sums.sum_over(alone);
      if (!expected) expected = found;
      expect_equal(found, *expected);
    }
    EXPECT_EQ(expected->weight, static_cast<double>(leaves));
    for (const unsigned size : {2U, 3U, 4U, 6U, 11U, 25U}) {
      in_group(size, [&](ProcessGroup& group) {
        training::PartialSums sums(leaves, 1, 1);
        const training::Range own = training::share_of(leaves, group.rank(), size);
        for (std::size_t i = own.first; i < own.last; ++i) sums.add(i, leaf(i));
        expect_equal(sums.sum_over(group), *expected);
      });
    }
  }
}

TEST(GroupEngineTest, CountsAreTheSameForAnyNumberOfProcesses) {
  const Hmm hmm = Hmm::random(Alphabet::tokens(9, 0), 6, 3);
  const Dropout dropout{0.1, 7};
  for (const std::size_t count : {1U, 95U, 700U, 6300U}) {
    const SequenceSet sequences = sample_sequences(hmm, count, 5);
    const auto engine = make_cpu_engine({.threads = 1});
    const ExpectedCounts one = engine->expectation(hmm, sequences, all_of(sequences), dropout);
    const ExpectedCounts likelihood = engine->likelihood(hmm, sequences);
    const auto precise = make_cpu_engine({.threads = 1, .double_precision = true});
    const ExpectedCounts single = precise->expectation(hmm, sequences, all_of(sequences), dropout);
    const double log_likelihood = precise->likelihood(hmm, sequences).log_likelihood;
    for (const unsigned size : {2U, 3U, 5U, 18U}) {
      in_group(size, [&](ProcessGroup& group) {
        const auto part = make_cpu_engine({.threads = 1 + group.rank() % 2, .group = &group});
        expect_equal(part->expectation(hmm, sequences, all_of(sequences), dropout), one);
        expect_equal(part->likelihood(hmm, sequences), likelihood);
        // An engine that knows of no group: equal up to rounding.
        const auto divided = make_group_engine(make_cpu_engine({.threads = 1, .double_precision = true}), group);
        const ExpectedCounts sum = divided->expectation(hmm, sequences, all_of(sequences), dropout);
        EXPECT_LT(distance(sum.transition, single.transition), 1e-13);
        EXPECT_LT(distance(sum.emission, single.emission), 1e-13);
        EXPECT_LT(distance(sum.initial, single.initial), 1e-13);
        EXPECT_NEAR(divided->likelihood(hmm, sequences).log_likelihood, log_likelihood,
                    1e-12 * std::abs(log_likelihood));
      });
      if (count == 6300U) break;  // more than 64 batches: the number of lanes grows with them
    }
  }
}

TEST(GroupEngineTest, TrainingEndsWithTheSameModelInEveryProcess) {
  const Hmm source = Hmm::random(Alphabet::tokens(12, 0), 5, 1);
  const SequenceSet sequences = sample_sequences(source, 1500, 2);
  TrainOptions options;
  options.schedule = {{5, 300}, {4, 0}};
  options.dropout = 0.05;
  options.step_size = 0.9;
  options.step_decay = 0.1;
  const Hmm start = Hmm::random(source.alphabet(), 7, 4);
  const auto engine = make_cpu_engine({.threads = 2});
  Trainer alone(start, sequences, *engine, options);
  while (alone.step()) {
  }
  for (const unsigned size : {2U, 3U}) {
    in_group(size, [&](ProcessGroup& group) {
      const auto part = make_cpu_engine({.threads = 1, .group = &group});
      Trainer trainer(start, sequences, *part, options);
      while (trainer.step()) {
      }
      EXPECT_TRUE(same_parameters(trainer.hmm(), alone.hmm())) << group.rank() << " of " << size;
      EXPECT_EQ(trainer.last().log_likelihood, alone.last().log_likelihood);
    });
  }
}

}  // namespace
}  // namespace metactrl::process_group_test
