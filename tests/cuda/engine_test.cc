// The E-step on a GPU against the one on the CPU, in every precision; ends with 77 where there is no GPU.
//
// Errors are ||gpu - cpu|| / ||cpu|| of each kind of count, the CPU in double. 64-bit products agree to rounding;
// 32-bit ones to 1e-4; those of 10 bits (tf32) to 1e-2, and their likelihood to 1e-3.
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "metactrl/error.h"
#include "metactrl/hmm_training.h"
#include "support/splitmix.h"

namespace metactrl {
namespace {

int failures = 0;

void expect(bool holds, const std::string& what) {
  if (holds) return;
  ++failures;
  std::printf("FAILED: %s\n", what.c_str());
}

double relative_error(const std::vector<double>& actual, const std::vector<double>& expected) {
  if (actual.size() != expected.size()) return HUGE_VAL;
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += (actual[i] - expected[i]) * (actual[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  if (std::isnan(difference)) return HUGE_VAL;
  return norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

struct Case {
  std::string name;
  std::size_t hidden = 0;
  std::size_t symbols = 0;
  std::size_t sequences = 0;
  std::size_t longest = 0;
  double dropout = 0;
  bool zeros = false;  // some symbols cannot be emitted
};

SequenceSet random_sequences(const Case& c, std::uint64_t seed) {
  internal::Random random(seed);
  SequenceSet sequences;
  for (std::size_t i = 0; i < c.sequences; ++i) {
    std::vector<SymbolId> sequence;
    const std::size_t length = 1 + random.below(c.longest);
    // Few symbols are frequent: the square of a uniform number.
    while (sequence.size() + 1 < length) {
      const double u = random.uniform();
      sequence.push_back(SymbolId{
          static_cast<std::uint32_t>(1 + static_cast<std::size_t>(u * u * static_cast<double>(c.symbols - 1)))});
    }
    sequence.push_back(SymbolId{0});
    sequences.add(sequence, 0.5 + static_cast<double>(random.below(4)));
  }
  return sequences;
}

Hmm random_model(const Case& c, std::uint64_t seed) {
  const Hmm hmm = Hmm::random(Alphabet::tokens(c.symbols, 0), c.hidden, seed);
  if (!c.zeros) return hmm;
  // The last symbol is impossible everywhere, the one before it in all states but one.
  std::vector<float> emission(hmm.emission().begin(), hmm.emission().end());
  for (std::size_t z = 0; z < c.hidden; ++z) {
    float lost = 0;
    for (std::size_t v = c.symbols - 2; v < c.symbols; ++v) {
      if (v == c.symbols - 2 && z == 0) continue;
      lost += emission[v * c.hidden + z];
      emission[v * c.hidden + z] = 0;
    }
    emission[c.hidden + z] += lost;
  }
  return {hmm.alphabet(),
          c.hidden,
          {hmm.initial().begin(), hmm.initial().end()},
          {hmm.transition().begin(), hmm.transition().end()},
          emission,
          ""};
}

void compare(const Case& c, GpuPrecision precision, double counts_limit, double likelihood_limit) {
  const Hmm hmm = random_model(c, 7);
  const SequenceSet sequences = random_sequences(c, 11);
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t i = 0; i < sequences.size(); ++i) {
    if (i % 7 != 3) chosen.push_back(i);
  }
  const Dropout dropout{c.dropout, 5};
  const auto gpu = make_cuda_engine({0, precision});
  const auto cpu = make_cpu_engine({0, true});
  const ExpectedCounts actual = gpu->expectation(hmm, sequences, chosen, dropout);
  const ExpectedCounts expected = cpu->expectation(hmm, sequences, chosen, dropout);
  const std::string name = c.name + ", " + to_string(precision);
  const double initial = relative_error(actual.initial, expected.initial);
  const double transition = relative_error(actual.transition, expected.transition);
  const double emission = relative_error(actual.emission, expected.emission);
  const double unread = relative_error(actual.unread, expected.unread);
  const double likelihood = std::abs(actual.log_likelihood / expected.log_likelihood - 1);
  std::printf("%-40s initial %.1e  transition %.1e  emission %.1e  unread %.1e  log p %.1e\n", name.c_str(), initial,
              transition, emission, unread, likelihood);
  expect(initial < counts_limit && transition < counts_limit && emission < counts_limit && unread < counts_limit,
         name + ": counts");
  expect(likelihood < likelihood_limit, name + ": log-likelihood");
  expect(std::abs(actual.weight - expected.weight) < 1e-9 && std::abs(actual.impossible - expected.impossible) < 1e-9 &&
             std::abs(actual.symbols - expected.symbols) < 1e-6,
         name + ": weights");
  expect(!c.zeros || expected.impossible > 0, name + ": some sequences should be impossible");

  // The same again, also after another call; and only the likelihood.
  gpu->expectation(hmm, random_sequences(c, 12), chosen, {});
  const ExpectedCounts again = gpu->expectation(hmm, sequences, chosen, dropout);
  expect(again.transition == actual.transition && again.emission == actual.emission &&
             again.initial == actual.initial && again.unread == actual.unread &&
             again.log_likelihood == actual.log_likelihood,
         name + ": the same every time");
  const double all_gpu = gpu->likelihood(hmm, sequences).log_likelihood;
  const double all_cpu = cpu->likelihood(hmm, sequences).log_likelihood;
  expect(std::abs(all_gpu / all_cpu - 1) < likelihood_limit, name + ": likelihood alone");
}

void likelihood_never_falls(GpuPrecision precision, double tolerance) {
  const Case c{"training", 24, 40, 400, 20, 0, false};
  const SequenceSet sequences = random_sequences(c, 3);
  const auto gpu = make_cuda_engine({0, precision});
  TrainOptions options;
  options.schedule = {{30, 0}};
  options.pseudocount = 0;
  Trainer trainer(random_model(c, 1), sequences, *gpu, options);
  double before = -HUGE_VAL;
  double first = 0;
  while (trainer.step()) {
    const double now = trainer.last().log_likelihood;
    if (trainer.steps_done() == 1) first = now;
    expect(now >= before - tolerance * std::abs(now), std::string("the likelihood falls, ") + to_string(precision));
    before = now;
  }
  expect(before > first + 1, "training changes nothing");
}

int run() {
  try {
    make_cuda_engine({});
  } catch (const InputError& error) {
    std::printf("skipped: %s\n", error.what());
    return 77;
  }
  const std::vector<Case> cases{
      {"one state", 1, 5, 10, 4, 0, false},       {"a few", 3, 7, 50, 6, 0.2, false},
      {"impossible ones", 5, 9, 300, 8, 0, true}, {"H = 100, odd sizes", 100, 133, 700, 25, 0.1, false},
      {"H = 128", 128, 132, 3000, 24, 0, false},  {"H = 700, a block for a row", 700, 301, 300, 30, 0.05, false},
      {"long", 17, 11, 3, 2000, 0, false},
  };
  for (const Case& c : cases) {
    compare(c, GpuPrecision::kDouble, 1e-10, 1e-12);
    compare(c, GpuPrecision::kSingle, 1e-4, 1e-5);
    compare(c, GpuPrecision::kTf32, 1e-2, 1e-3);
  }
  likelihood_never_falls(GpuPrecision::kDouble, 1e-7);  // parameters are 32-bit in any case
  likelihood_never_falls(GpuPrecision::kSingle, 1e-6);
  std::printf(failures == 0 ? "all hold\n" : "%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace metactrl

int main() { return metactrl::run(); }
