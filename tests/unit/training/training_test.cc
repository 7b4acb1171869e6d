#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "metactrl/error.h"
#include "metactrl/training/train.h"
#include "support/naive_hmm.h"

namespace metactrl::training_test {
namespace {

using testing::all_of;
using testing::NaiveHmm;
using testing::Random;
using testing::same_parameters;
using testing::sample_sequences;

// A model with structure: each state prefers one symbol and one successor.
Hmm peaked(std::size_t hidden, std::size_t symbols, std::uint64_t seed) {
  const Hmm base = Hmm::random(Alphabet::tokens(symbols, 0), hidden, seed);
  std::vector<float> initial(base.initial().begin(), base.initial().end());
  std::vector<float> transition(base.transition().begin(), base.transition().end());
  std::vector<float> emission(base.emission().begin(), base.emission().end());
  for (std::size_t z = 0; z < hidden; ++z) {
    for (std::size_t to = 0; to < hidden; ++to) transition[z * hidden + to] *= 0.2F;
    transition[z * hidden + (z + 1) % hidden] += 0.8F;
    for (std::size_t v = 0; v < symbols; ++v) emission[v * hidden + z] *= 0.2F;
    emission[(z % symbols) * hidden + z] += 0.8F;
  }
  return {base.alphabet(), hidden, std::move(initial), std::move(transition), std::move(emission), "peaked"};
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << "at " << i;
  }
}

TEST(ExpectationTest, AgreesWithTheNaiveImplementation) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Random random(seed);
    const std::size_t hidden = 1 + random.below(20);
    const std::size_t symbols = 2 + random.below(12);
    const Hmm source = peaked(hidden, symbols, seed);
    const Hmm hmm = Hmm::random(source.alphabet(), hidden, seed + 100);
    SequenceSet sequences;
    const SequenceSet sampled = sample_sequences(source, 1 + random.below(150), seed, 20);
    for (std::size_t i = 0; i < sampled.size(); ++i) sequences.add(sampled[i], 0.5 + random.below(3));
    ExpectedCounts expected(hidden, symbols);
    double log_likelihood = 0;
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      NaiveHmm(hmm).count(sequences[i], sequences.weight(i), expected);
      log_likelihood += sequences.weight(i) * hmm.log_likelihood(sequences[i]);
    }
    for (const bool precise : {true, false}) {
      const auto engine = make_cpu_engine({2, precise});
      const ExpectedCounts counts = engine->expectation(hmm, sequences, all_of(sequences), {});
      const double tolerance = precise ? 1e-10 : 1e-5;
      expect_near(counts.initial, expected.initial, tolerance);
      expect_near(counts.transition, expected.transition, tolerance);
      expect_near(counts.emission, expected.emission, tolerance);
      EXPECT_NEAR(counts.log_likelihood, log_likelihood, 1e-6 * std::abs(log_likelihood)) << "seed " << seed;
      EXPECT_NEAR(engine->likelihood(hmm, sequences).log_likelihood, log_likelihood, 1e-6 * std::abs(log_likelihood));
      EXPECT_DOUBLE_EQ(counts.weight, sequences.total_weight());
      EXPECT_DOUBLE_EQ(counts.symbols, sequences.total_symbols());
      EXPECT_EQ(counts.impossible, 0);
    }
  }
}

TEST(ExpectationTest, IsTheSameForAnyNumberOfThreads) {
  const Hmm hmm = peaked(17, 9, 3);
  const SequenceSet sequences = sample_sequences(hmm, 3000, 5);
  const Dropout dropout{0.1, 7};
  const ExpectedCounts one = make_cpu_engine({1, false})->expectation(hmm, sequences, all_of(sequences), dropout);
  for (const unsigned threads : {2U, 3U, 7U}) {
    const ExpectedCounts many =
        make_cpu_engine({threads, false})->expectation(hmm, sequences, all_of(sequences), dropout);
    EXPECT_EQ(one.initial, many.initial);
    EXPECT_EQ(one.transition, many.transition);
    EXPECT_EQ(one.emission, many.emission);
    EXPECT_EQ(one.unread, many.unread);
    EXPECT_EQ(one.log_likelihood, many.log_likelihood);
  }
}

// One symbol dropped: the counts are those of the mixture over what it could have been.
TEST(ExpectationTest, ADroppedSymbolIsAnyButTheEnd) {
  const Hmm hmm = peaked(3, 4, 11);
  SequenceSet sequences;
  const std::vector<SymbolId> sequence{SymbolId{1}, SymbolId{2}, SymbolId{3}, SymbolId{1}, SymbolId{0}};
  sequences.add(sequence);
  const std::vector<std::uint32_t> all{0};
  // A probability of 1 drops every symbol but the end.
  const ExpectedCounts counts = make_cpu_engine({1, true})->expectation(hmm, sequences, all, {1, 1});
  ExpectedCounts expected(3, 4);
  double total = 0;
  for (std::uint32_t a = 1; a < 4; ++a) {
    for (std::uint32_t b = 1; b < 4; ++b) {
      for (std::uint32_t c = 1; c < 4; ++c) {
        for (std::uint32_t d = 1; d < 4; ++d) {
          const std::vector<SymbolId> x{SymbolId{a}, SymbolId{b}, SymbolId{c}, SymbolId{d}, SymbolId{0}};
          const double p = NaiveHmm(hmm).probability(x);
          total += p;
          NaiveHmm(hmm).count(x, p, expected);
        }
      }
    }
  }
  for (double& value : expected.transition) value /= total;
  expect_near(counts.transition, expected.transition, 1e-6);
  EXPECT_NEAR(counts.log_likelihood, std::log(total), 1e-6);
  // What was not read comes back by the model's own probabilities.
  TrainOptions options;
  options.pseudocount = 0;
  const Hmm next = maximise(hmm, counts, options, 0);
  for (std::size_t z = 0; z < 3; ++z) {
    double sum = 0;
    for (std::size_t v = 0; v < 4; ++v) sum += expected.emission[v * 3 + z];
    for (std::size_t v = 0; v < 4; ++v)
      EXPECT_NEAR(next.emission()[v * 3 + z], expected.emission[v * 3 + z] / sum, 1e-6);
  }
}

TEST(ExpectationTest, ImpossibleSequencesAreCountedAndLeftOut) {
  const Hmm hmm(Alphabet::tokens(3, 2), 1, {1}, {1}, {0.5F, 0, 0.5F}, "");
  SequenceSet sequences;
  sequences.add(std::vector<SymbolId>{SymbolId{0}, SymbolId{2}});
  sequences.add(std::vector<SymbolId>{SymbolId{1}, SymbolId{2}}, 3);
  const ExpectedCounts counts = make_cpu_engine({})->expectation(hmm, sequences, all_of(sequences), {});
  EXPECT_EQ(counts.impossible, 3);
  EXPECT_EQ(counts.weight, 1);
  EXPECT_NEAR(counts.log_likelihood, std::log(0.25), 1e-6);
  EXPECT_EQ(counts.emission[1], 0);
}

#ifndef METACTRL_HAS_CUDA
TEST(ExpectationTest, ABuildWithoutCudaSaysSo) {
  try {
    make_cuda_engine({});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("built without CUDA"), std::string::npos);
  }
}
#endif

TEST(TrainerTest, FullBatchNeverLosesLikelihood) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Hmm source = peaked(5, 8, seed);
    const SequenceSet sequences = sample_sequences(source, 200, seed);
    const auto engine = make_cpu_engine({2, true});
    TrainOptions options;
    options.schedule = {{40, 0}};
    options.pseudocount = 0;
    Trainer trainer(Hmm::random(source.alphabet(), 6, seed), sequences, *engine, options);
    double last = -1e300;
    while (trainer.step()) {
      // Parameters are rounded to 32 bits after each step.
      EXPECT_GE(trainer.last().log_likelihood, last - 1e-6 * std::abs(last)) << "seed " << seed;
      last = trainer.last().log_likelihood;
    }
    EXPECT_EQ(trainer.steps_done(), 40U);
    EXPECT_FALSE(trainer.step());
  }
}

TEST(TrainerTest, ReachesTheLikelihoodOfAKnownModel) {
  const Hmm source = peaked(4, 6, 2);
  const SequenceSet training = sample_sequences(source, 4000, 1);
  const SequenceSet held_out = sample_sequences(source, 2000, 2);
  const auto engine = make_cpu_engine({});
  TrainOptions options;
  options.schedule = {{120, 0}};
  Trainer trainer(Hmm::random(source.alphabet(), 8, 9), training, *engine, options);
  while (trainer.step()) {
  }
  const double truth = engine->likelihood(source, held_out).log_likelihood / held_out.total_symbols();
  const double learned = engine->likelihood(trainer.hmm(), held_out).log_likelihood / held_out.total_symbols();
  EXPECT_GT(learned, truth - 0.01);
  const Hmm uniform = Hmm::uniform(source.alphabet());
  EXPECT_GT(learned, engine->likelihood(uniform, held_out).log_likelihood / held_out.total_symbols() + 0.3);
}

TEST(TrainerTest, MiniBatchesLearnAndResumeExactly) {
  const Hmm source = peaked(4, 6, 2);
  const SequenceSet sequences = sample_sequences(source, 1000, 1);
  const auto engine = make_cpu_engine({});
  TrainOptions options;
  options.schedule = {{7, 150}, {4, 400}, {2, 0}};
  options.dropout = 0.05;
  options.step_size = 0.9;
  options.step_decay = 0.1;
  options.seed = 4;
  const Hmm start = Hmm::random(source.alphabet(), 5, 3);
  Trainer whole(start, sequences, *engine, options);
  while (whole.step()) {
  }
  Trainer half(start, sequences, *engine, options);
  for (int i = 0; i < 6; ++i) half.step();
  Trainer rest(half.hmm(), sequences, *engine, options);
  while (rest.step()) {
  }
  EXPECT_EQ(rest.steps_done(), 13U);
  EXPECT_TRUE(std::equal(whole.hmm().emission().begin(), whole.hmm().emission().end(), rest.hmm().emission().begin()));
  EXPECT_TRUE(
      std::equal(whole.hmm().transition().begin(), whole.hmm().transition().end(), rest.hmm().transition().begin()));
  EXPECT_GT(engine->likelihood(whole.hmm(), sequences).log_likelihood,
            engine->likelihood(start, sequences).log_likelihood + 100);
}

// Does what the CPU's engine does, and remembers what it was asked.
class RecordingEngine : public ExpectationEngine {
 public:
  ExpectedCounts expectation(const Hmm& hmm, const SequenceSet& sequences, std::span<const std::uint32_t> chosen,
                             const Dropout& dropout) override {
    asked.emplace_back(chosen.begin(), chosen.end());
    models.push_back(hmm);
    counts.push_back(engine_->expectation(hmm, sequences, chosen, dropout));
    return counts.back();
  }
  ExpectedCounts likelihood(const Hmm& hmm, const SequenceSet& sequences) override {
    return engine_->likelihood(hmm, sequences);
  }

  std::vector<std::vector<std::uint32_t>> asked;
  std::vector<Hmm> models;
  std::vector<ExpectedCounts> counts;

 private:
  std::unique_ptr<ExpectationEngine> engine_ = make_cpu_engine({.threads = 1});
};

// An engine that has no more than its two functions trains by them and by maximise().
TEST(TrainerTest, AStepIsAnExpectationAndAMaximisation) {
  const Hmm source = peaked(4, 6, 2);
  const SequenceSet sequences = sample_sequences(source, 100, 1);
  RecordingEngine engine;
  TrainOptions options;
  options.schedule = {{4, 30}, {2, 0}};
  options.step_size = 0.8;
  options.dropout = 0.1;
  Trainer trainer(Hmm::random(source.alphabet(), 5, 3), sequences, engine, options);
  std::vector<Hmm> after{trainer.hmm()};
  while (trainer.step()) {
    after.push_back(trainer.hmm());
    EXPECT_EQ(trainer.hmm().step(), trainer.steps_done());
    EXPECT_EQ(trainer.last().log_likelihood, engine.counts.back().log_likelihood);
    EXPECT_EQ(trainer.last().symbols, engine.counts.back().symbols);
    EXPECT_TRUE(trainer.last().emission.empty() && trainer.last().transition.empty());
  }
  ASSERT_EQ(engine.models.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_TRUE(same_parameters(engine.models[i], after[i])) << i;
    EXPECT_TRUE(same_parameters(maximise(after[i], engine.counts[i], options, i), after[i + 1])) << i;
  }
  // Three steps of 30 and a third of the next make the first pass.
  std::vector<std::uint32_t> pass;
  for (std::size_t i = 0; i < 4; ++i) pass.insert(pass.end(), engine.asked[i].begin(), engine.asked[i].end());
  ASSERT_EQ(pass.size(), 120U);
  std::sort(pass.begin(), pass.begin() + 100);
  EXPECT_TRUE(std::equal(pass.begin(), pass.begin() + 100, all_of(sequences).begin()));
  EXPECT_EQ(engine.asked[5], all_of(sequences));
}

// A model that lives elsewhere, and counts how often it is fetched from there.
class DistantModel : public ModelInTraining {
 public:
  DistantModel(Hmm start, int& fetched) : hmm_(std::move(start)), fetched_(fetched) {}
  ExpectedCounts step(const SequenceSet& /*sequences*/, std::span<const std::uint32_t> chosen,
                      const Dropout& /*dropout*/) override {
    hmm_ = hmm_.with_step(hmm_.step() + 1);
    ExpectedCounts found(hmm_.num_hidden(), 0);
    found.weight = static_cast<double>(chosen.size());
    return found;
  }
  const Hmm& hmm() override {
    ++fetched_;
    return hmm_;
  }

 private:
  Hmm hmm_;
  int& fetched_;
};

class DistantEngine : public RecordingEngine {
 public:
  std::unique_ptr<ModelInTraining> begin(Hmm start, const TrainOptions& /*options*/) override {
    return std::make_unique<DistantModel>(std::move(start), fetched);
  }
  int fetched = 0;
};

TEST(TrainerTest, AStepThatIsStoppedDidNotHappen) {
  const Hmm source = peaked(4, 6, 1);
  const SequenceSet sequences = sample_sequences(source, 700, 1, 20);
  const Hmm start = Hmm::random(source.alphabet(), 4, 2);
  const auto engine = make_cpu_engine({1});
  TrainOptions options;
  options.schedule = {{3, 0}};
  Trainer whole(start, sequences, *engine, options);
  while (whole.step()) {
  }
  std::size_t most = 0;  // questions that one step asks
  for (std::size_t patience = 0; patience < 30; ++patience) {
    std::size_t asked = 0;
    options.stop = [&] { return ++asked == patience + 1; };
    Trainer trainer(start, sequences, *engine, options);
    std::size_t stopped = 0;
    for (bool more = true; more;) {
      const std::uint64_t before = trainer.steps_done();
      const std::size_t first = asked;
      try {
        more = trainer.step();
        if (more) most = std::max(most, asked - first);
      } catch (const Stopped&) {
        ++stopped;
        EXPECT_EQ(trainer.steps_done(), before);
      }
    }
    EXPECT_EQ(stopped, asked > patience ? 1U : 0U) << patience;
    EXPECT_TRUE(same_parameters(trainer.hmm(), whole.hmm())) << patience;
  }
  // Before the step, and before each batch of up to 96 sequences.
  EXPECT_GE(most, 1 + 700 / 96);
}

TEST(TrainerTest, FetchesTheModelOnlyWhenAsked) {
  const SequenceSet sequences = sample_sequences(peaked(4, 6, 2), 100, 1);
  DistantEngine engine;
  TrainOptions options;
  options.schedule = {{7, 40}};
  Trainer trainer(Hmm::random(Alphabet::tokens(6, 0), 3, 1).with_step(2), sequences, engine, options);
  while (trainer.step()) EXPECT_EQ(trainer.last().weight, 40);
  EXPECT_EQ(trainer.steps_done(), 7U);
  EXPECT_EQ(engine.fetched, 0);
  EXPECT_TRUE(engine.asked.empty());
  EXPECT_EQ(trainer.hmm().step(), 7U);
  EXPECT_EQ(engine.fetched, 1);
}

TEST(TrainerTest, TiedSlotsAreAlike) {
  const Alphabet alphabet = Alphabet::meta({"a", "b"}, 4);
  const Hmm source = Hmm::random(alphabet, 3, 1);
  const SequenceSet sequences = sample_sequences(source, 200, 1);
  const auto engine = make_cpu_engine({});
  TrainOptions options;
  options.schedule = {{3, 0}};
  options.tie_slots = true;
  Trainer trainer(Hmm::random(alphabet, 3, 2), sequences, *engine, options);
  while (trainer.step()) {
  }
  for (std::size_t slot = 1; slot < 4; ++slot) {
    for (std::size_t z = 0; z < 3; ++z) {
      EXPECT_FLOAT_EQ(trainer.hmm().emission(alphabet.slot(slot))[z], trainer.hmm().emission(alphabet.slot(0))[z]);
    }
  }
}

TEST(TrainerTest, RefusesForeignSymbolsAndNothingAtAll) {
  const auto engine = make_cpu_engine({});
  SequenceSet sequences;
  const Hmm hmm = Hmm::uniform(Alphabet::tokens(3, 0));
  EXPECT_THROW(Trainer(hmm, sequences, *engine, {}), InputError);
  sequences.add(std::vector<SymbolId>{SymbolId{3}, SymbolId{0}});
  EXPECT_THROW(Trainer(hmm, sequences, *engine, {}), InputError);
}

TEST(SequenceSetTest, DistinctKeepsTheWeight) {
  SequenceSet sequences;
  sequences.add({});
  sequences.add(std::vector<SymbolId>{SymbolId{1}, SymbolId{0}});
  sequences.add(std::vector<SymbolId>{SymbolId{0}});
  sequences.add(std::vector<SymbolId>{SymbolId{1}, SymbolId{0}}, 2);
  const SequenceSet distinct = sequences.distinct();
  ASSERT_EQ(distinct.size(), 2U);
  EXPECT_EQ(distinct.weight(0), 3);
  EXPECT_EQ(distinct[0].size(), 2U);
  EXPECT_EQ(distinct.total_weight(), sequences.total_weight());
}

TEST(SequenceSetTest, VersionsTellSetsApart) {
  const std::vector<SymbolId> one{SymbolId{1}, SymbolId{0}};
  SequenceSet a;
  SequenceSet b;
  EXPECT_EQ(a.version(), b.version());  // both empty
  a.add(one);
  b.add(one);
  EXPECT_NE(a.version(), b.version());
  SequenceSet copy = a;
  EXPECT_EQ(copy.version(), a.version());
  copy.add({});  // changes nothing
  EXPECT_EQ(copy.version(), a.version());
  copy.add(one);
  EXPECT_NE(copy.version(), a.version());
  const std::uint64_t before = copy.version();
  const SequenceSet distinct = copy.distinct();
  EXPECT_NE(distinct.version(), before);
  EXPECT_NE(distinct.version(), a.version());
  copy = b;
  EXPECT_EQ(copy.version(), b.version());
}

TEST(ScheduleTest, IsReadOrRefused) {
  EXPECT_EQ(parse_schedule("10,1000;5,all"), (std::vector<TrainPhase>{{10, 1000}, {5, 0}}));
  EXPECT_EQ(parse_schedule("1,1;"), (std::vector<TrainPhase>{{1, 1}}));
  for (const char* bad : {"", ";", "10", "0,1", "1,0", "x,1", "1,x", "1,2,3", "1, 2"}) {
    EXPECT_THROW(parse_schedule(bad), InputError) << bad;
  }
}

// Three kinds of places far apart: the clusters find them, and the model is what they speak for.
TEST(ClusterTest, FindsTheHiddenStates) {
  const Alphabet alphabet = Alphabet::tokens(4, 3);
  SequenceSet sequences;
  std::vector<float> vectors;
  Random random(1);
  for (int i = 0; i < 60; ++i) {
    std::vector<SymbolId> sequence;
    for (std::uint32_t symbol = 0; symbol < 3; ++symbol) {
      sequence.push_back(SymbolId{symbol});
      vectors.push_back(static_cast<float>(symbol) * 10 + static_cast<float>(random.below(100)) / 100);
      vectors.push_back(-static_cast<float>(symbol) * 10);
    }
    sequence.push_back(SymbolId{3});
    sequences.add(sequence);
  }
  ClusterOptions options;
  options.hidden = 4;
  const Hmm hmm = cluster_hmm(alphabet, sequences, vectors, 2, options);
  EXPECT_GT(hmm.log_likelihood(sequences[0]), std::log(0.99));
  const Hmm again = cluster_hmm(alphabet, sequences, vectors, 2, options);
  EXPECT_TRUE(std::equal(hmm.emission().begin(), hmm.emission().end(), again.emission().begin()));
  EXPECT_EQ(hmm.step(), 0U);
  vectors.pop_back();
  EXPECT_THROW(cluster_hmm(alphabet, sequences, vectors, 2, options), InputError);
}

TEST(ClusterTest, IsTheSameForAnyNumberOfThreads) {
  const Hmm source = peaked(6, 9, 2);
  const SequenceSet sequences = sample_sequences(source, 300, 4);
  constexpr std::size_t kDimension = 7;
  Random random(8);
  std::vector<float> vectors;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    for (const SymbolId symbol : sequences[i]) {
      for (std::size_t d = 0; d < kDimension && symbol != source.alphabet().end; ++d) {
        vectors.push_back(static_cast<float>(random.below(1000)) / 100 + static_cast<float>(symbol));
      }
    }
  }
  ASSERT_GT(vectors.size() / kDimension, 1024U);  // places enough for four threads
  ClusterOptions options;
  options.hidden = 12;
  options.threads = 1;
  const Hmm one = cluster_hmm(source.alphabet(), sequences, vectors, kDimension, options);
  for (const unsigned threads : {2U, 4U, 9U}) {
    options.threads = threads;
    const Hmm many = cluster_hmm(source.alphabet(), sequences, vectors, kDimension, options);
    EXPECT_TRUE(std::equal(one.emission().begin(), one.emission().end(), many.emission().begin()));
    EXPECT_TRUE(std::equal(one.transition().begin(), one.transition().end(), many.transition().begin()));
  }
}

}  // namespace
}  // namespace metactrl::training_test
