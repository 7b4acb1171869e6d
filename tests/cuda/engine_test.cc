// E-steps, M-steps and training on a GPU against those on the CPU, in every precision; ends with 77 where there is no
// GPU.
//
//     cuda_engine_test                   all but the last
//     cuda_engine_test --small           what is quick under compute-sanitizer
//     cuda_engine_test --full-memory     what happens where the GPU's memory is used up; uses it up
//
// Errors are ||gpu - cpu|| / ||cpu|| of each kind of count, the CPU in double. 64-bit products agree to rounding;
// 32-bit ones to 1e-4; those of 10 bits (tf32) to 1e-2, and their likelihood to 1e-3. The M-step has the same counts on
// both, and agrees to the last bit but one of a 32-bit number.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <new>
#include <numeric>
#include <string>
#include <vector>

#include "cuda/full_memory.h"
#include "metactrl/error.h"
#include "metactrl/training/train.h"
#include "support/splitmix.h"

namespace metactrl {
namespace {

int failures = 0;

void expect(bool holds, const std::string& what) {
  if (holds) return;
  ++failures;
  std::printf("FAILED: %s\n", what.c_str());
}

template <typename Values>
double relative_error(const Values& actual, const Values& expected) {
  if (actual.size() != expected.size()) return HUGE_VAL;
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto a = static_cast<double>(actual[i]);
    const auto e = static_cast<double>(expected[i]);
    difference += (a - e) * (a - e);
    norm += e * e;
  }
  if (std::isnan(difference)) return HUGE_VAL;
  return norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

// The largest of |a - b| / |b|.
double largest_error(std::span<const float> actual, std::span<const float> expected) {
  double largest = actual.size() == expected.size() ? 0 : HUGE_VAL;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(static_cast<double>(actual[i]) - static_cast<double>(expected[i]));
    if (!(difference > 0)) {
      if (std::isnan(difference)) return HUGE_VAL;
      continue;
    }
    largest = std::max(largest, difference / std::abs(static_cast<double>(expected[i])));
  }
  return largest;
}

double parameter_error(const Hmm& actual, const Hmm& expected) {
  return std::max({relative_error(actual.initial(), expected.initial()),
                   relative_error(actual.transition(), expected.transition()),
                   relative_error(actual.emission(), expected.emission())});
}

bool same_parameters(const Hmm& a, const Hmm& b) {
  return a.step() == b.step() && std::ranges::equal(a.initial(), b.initial()) &&
         std::ranges::equal(a.transition(), b.transition()) && std::ranges::equal(a.emission(), b.emission());
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

SequenceSet random_sequences(const Case& c, std::uint64_t seed, std::size_t end = 0) {
  internal::Random random(seed);
  SequenceSet sequences;
  for (std::size_t i = 0; i < c.sequences; ++i) {
    std::vector<SymbolId> sequence;
    const std::size_t length = 1 + random.below(c.longest);
    // Few symbols are frequent: the square of a uniform number.
    while (sequence.size() + 1 < length) {
      const double u = random.uniform();
      const auto other = static_cast<std::size_t>(u * u * static_cast<double>(c.symbols - 1));
      sequence.push_back(SymbolId{static_cast<std::uint32_t>(other < end ? other : other + 1)});
    }
    sequence.push_back(SymbolId{static_cast<std::uint32_t>(end)});
    sequences.add(sequence, 0.5 + static_cast<double>(random.below(4)));
  }
  return sequences;
}

std::vector<std::uint32_t> all_of(const SequenceSet& sequences) {
  std::vector<std::uint32_t> all(sequences.size());
  std::iota(all.begin(), all.end(), 0U);
  return all;
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

// --- the E-step ------------------------------------------------------------------------------------------------------

void compare(const Case& c, GpuPrecision precision, double counts_limit, double likelihood_limit) {
  const Hmm hmm = random_model(c, 7);
  const SequenceSet sequences = random_sequences(c, 11);
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t n = 0; n < sequences.size(); n += 1 + n % 3) chosen.push_back(n);
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
  const double likelihood =
      std::abs(actual.log_likelihood - expected.log_likelihood) / std::max(1.0, std::abs(expected.log_likelihood));
  std::printf("%-40s initial %.1e  transition %.1e  emission %.1e  unread %.1e  log p %.1e\n", name.c_str(), initial,
              transition, emission, unread, likelihood);
  expect(initial < counts_limit && transition < counts_limit && emission < counts_limit && unread < counts_limit,
         name + ": counts");
  expect(likelihood < likelihood_limit, name + ": log-likelihood");
  expect(std::abs(actual.weight - expected.weight) < 1e-9 && std::abs(actual.impossible - expected.impossible) < 1e-9 &&
             std::abs(actual.symbols - expected.symbols) < 1e-6,
         name + ": weights");
  expect(!c.zeros || expected.impossible > 0, name + ": some sequences should be impossible");

  // The same again, also after another call, and of another set in the same place; and only the likelihood.
  SequenceSet other = random_sequences(c, 12);
  const ExpectedCounts others = gpu->expectation(hmm, other, chosen, {});
  other = sequences;
  const ExpectedCounts again = gpu->expectation(hmm, other, chosen, dropout);
  expect(again.transition == actual.transition && again.emission == actual.emission &&
             again.initial == actual.initial && again.unread == actual.unread &&
             again.log_likelihood == actual.log_likelihood,
         name + ": the same every time");
  other = random_sequences(c, 12);
  expect(gpu->expectation(hmm, other, chosen, {}).emission == others.emission, name + ": the other set again");
  const double all_gpu = gpu->likelihood(hmm, sequences).log_likelihood;
  const double all_cpu = cpu->likelihood(hmm, sequences).log_likelihood;
  expect(std::abs(all_gpu - all_cpu) <= likelihood_limit * std::max(1.0, std::abs(all_cpu)),
         name + ": likelihood alone");
}

// --- the M-step ------------------------------------------------------------------------------------------------------

constexpr double kOneBit = 1.3e-7;  // 2^-23 and a little

// From the counts that the GPU has found itself.
void maximise_agrees(const std::string& name, const Hmm& hmm, const SequenceSet& sequences, const Dropout& dropout,
                     GpuPrecision precision, const TrainOptions& options) {
  const auto engine = make_cuda_engine({0, precision});
  const std::vector<std::uint32_t> chosen = all_of(sequences);
  const ExpectedCounts counts = engine->expectation(hmm, sequences, chosen, dropout);
  const Hmm expected = maximise(hmm, counts, options, hmm.step());
  const std::unique_ptr<ModelInTraining> model = engine->begin(hmm, options);
  expect(same_parameters(model->hmm(), hmm), name + ": a model in training is what it began with");
  const ExpectedCounts found = model->step(sequences, chosen, dropout);
  expect(found.log_likelihood == counts.log_likelihood && found.symbols == counts.symbols &&
             found.weight == counts.weight && found.impossible == counts.impossible && found.emission.empty(),
         name + ": what a step finds");
  const Hmm& actual = model->hmm();
  const double initial = largest_error(actual.initial(), expected.initial());
  const double transition = largest_error(actual.transition(), expected.transition());
  const double emission = largest_error(actual.emission(), expected.emission());
  std::printf("%-40s initial %.1e  transition %.1e  emission %.1e\n", ("M: " + name).c_str(), initial, transition,
              emission);
  expect(initial < kOneBit && transition < kOneBit && emission < kOneBit, name + ": M-step");
  expect(actual.step() == hmm.step() + 1 && actual.alphabet() == hmm.alphabet(), name + ": step and alphabet");

  // The GPU knows the model that came from it; another engine has to be told, and finds the same.
  const double known = engine->likelihood(actual, sequences).log_likelihood;
  expect(known == make_cuda_engine({0, precision})->likelihood(actual, sequences).log_likelihood,
         name + ": likelihood of a model that is there");
  const double before = engine->likelihood(hmm, sequences).log_likelihood;
  expect(before == make_cuda_engine({0, precision})->likelihood(hmm, sequences).log_likelihood,
         name + ": likelihood of another model");
}

void maximise_cases(const Case& c, GpuPrecision precision) {
  const std::string name = c.name + ", " + to_string(precision);
  const SequenceSet sequences = random_sequences(c, 21);
  const Hmm hmm = random_model(c, 5);
  TrainOptions options;
  maximise_agrees(name, hmm, sequences, {}, precision, options);
  options.pseudocount = 0.5;
  options.step_size = 0.7;
  options.step_decay = 0.3;
  maximise_agrees(name + ", part of the way", hmm.with_step(4), sequences, {0.2, 3}, precision, options);
  if (c.symbols < 5) return;
  const Alphabet alphabet = Alphabet::meta({"a", "b"}, c.symbols - 4);
  const Hmm meta = Hmm::random(alphabet, c.hidden, 6);
  options.tie_slots = true;
  options.pseudocount = 0;
  maximise_agrees(name + ", tied slots", meta, random_sequences(c, 22, c.symbols - 1), {0.1, 4}, precision, options);
}

// State 2 is never reached.
void keeps_what_was_not_counted(GpuPrecision precision) {
  const std::string name = std::string("a state without counts, ") + to_string(precision);
  const std::vector<float> emission{0.25F, 0.5F, 0.125F, 0.5F, 0.25F, 0.25F, 0.25F, 0.25F, 0.625F};
  const Hmm hmm(Alphabet::tokens(3, 0), 3, {0.5F, 0.5F, 0}, {0.5F, 0.5F, 0, 0.25F, 0.75F, 0, 0.25F, 0.25F, 0.5F},
                emission, "");
  TrainOptions options;
  options.pseudocount = 0;
  const Case c{"", 3, 3, 60, 9, 0, false};
  const SequenceSet sequences = random_sequences(c, 9);
  maximise_agrees(name, hmm, sequences, {}, precision, options);
  const auto engine = make_cuda_engine({0, precision});
  const std::unique_ptr<ModelInTraining> model = engine->begin(hmm, options);
  model->step(sequences, all_of(sequences), {});
  const Hmm& after = model->hmm();
  expect(std::ranges::equal(after.transition().subspan(6, 3), hmm.transition().subspan(6, 3)), name + ": transitions");
  for (std::size_t v = 0; v < 3; ++v) {
    expect(after.emission()[v * 3 + 2] == hmm.emission()[v * 3 + 2], name + ": emissions");
    expect(after.emission()[v * 3] != hmm.emission()[v * 3], name + ": other states change");
  }
}

// --- training --------------------------------------------------------------------------------------------------------

TrainOptions many_options() {
  TrainOptions options;
  options.schedule = {{4, 70}, {3, 0}};
  options.pseudocount = 0.01;
  options.dropout = 0.1;
  options.step_size = 0.9;
  options.step_decay = 0.2;
  options.tie_slots = true;
  options.seed = 8;
  return options;
}

Hmm train(ExpectationEngine& engine, const Hmm& start, const SequenceSet& sequences, const TrainOptions& options) {
  Trainer trainer(start, sequences, engine, options);
  while (trainer.step()) {
  }
  return trainer.hmm();
}

void training_agrees(std::size_t hidden, GpuPrecision precision, double limit) {
  const std::string name = "training, H = " + std::to_string(hidden) + ", " + to_string(precision);
  const Alphabet alphabet = Alphabet::meta({"open", "close", "take"}, 6);
  const Case c{"", hidden, alphabet.size, 200, 15, 0, false};
  const SequenceSet sequences = random_sequences(c, 31, alphabet.size - 1);
  const Hmm start = Hmm::random(alphabet, hidden, 2);
  const TrainOptions options = many_options();
  const auto gpu = make_cuda_engine({0, precision});
  const auto cpu = make_cpu_engine({0, true});
  const Hmm expected = train(*cpu, start, sequences, options);
  const Hmm actual = train(*gpu, start, sequences, options);
  const double error = parameter_error(actual, expected);
  std::printf("%-40s %.1e\n", name.c_str(), error);
  expect(error < limit && actual.step() == expected.step(), name);
  expect(same_parameters(train(*make_cuda_engine({0, precision}), start, sequences, options), actual),
         name + ": the same in two runs");

  // Interrupted, looked at, and resumed; two trainings on one engine, in turns.
  Trainer half(start, sequences, *gpu, options);
  Trainer other(start, sequences, *gpu, options);
  for (int i = 0; i < 5; ++i) {
    half.step();
    other.step();
    if (i == 2) gpu->likelihood(half.hmm(), sequences);
  }
  expect(half.steps_done() == 5 && half.hmm().step() == 5, name + ": steps are counted");
  expect(same_parameters(half.hmm(), other.hmm()), name + ": two at a time");
  const Hmm stopped = half.hmm();
  expect(same_parameters(train(*make_cuda_engine({0, precision}), stopped, sequences, options), actual),
         name + ": resumed");
  while (half.step()) {
  }
  expect(same_parameters(half.hmm(), actual), name + ": after it was looked at");
}

void likelihood_never_falls(std::size_t hidden, GpuPrecision precision, double tolerance) {
  const Case c{"training", hidden, 40, 400, 20, 0, false};
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

// A model that does not fit is refused, and the engine is as good as it was.
void full_memory() {
  const Case c{"", 500, 20000, 50, 10, 0, false};
  const SequenceSet sequences = random_sequences(c, 12);
  const Hmm hmm = random_model(c, 13);
  const auto engine = make_cuda_engine({});
  bool refused = false;
  {
    const testing::FullMemory full;
    try {
      engine->begin(hmm, {})->step(sequences, all_of(sequences), {});
    } catch (const std::bad_alloc& error) {
      refused = true;
      std::printf("with %zu MiB taken: %s\n", full.bytes() >> 20U, error.what());
    }
  }
  expect(refused, "a step was made without memory");
  const double found = engine->likelihood(hmm, sequences).log_likelihood;
  expect(found == make_cuda_engine({})->likelihood(hmm, sequences).log_likelihood, "likelihood, with memory again");
  const ExpectedCounts step = engine->begin(hmm, {})->step(sequences, all_of(sequences), {});
  expect(step.log_likelihood == found, "a step, with memory again");
}

int run(const std::string& part) {
  try {
    make_cuda_engine({});
  } catch (const InputError& error) {
    std::printf("skipped: %s\n", error.what());
    return 77;
  }
  const bool small = part == "--small";
  if (part == "--full-memory") {
    full_memory();
    std::printf(failures == 0 ? "all hold\n" : "%d failures\n", failures);
    return failures == 0 ? 0 : 1;
  }
  const std::vector<Case> cases{
      {"one state", 1, 5, 10, 4, 0, false},
      {"one symbol", 3, 1, 10, 1, 0, false},
      {"a few", 3, 7, 50, 6, 0.2, false},
      {"impossible ones", 5, 9, 300, 8, 0, true},
      {"impossible ones, H = 130", 130, 9, 90, 8, 0, true},
      {"H = 64", 64, 20, 37, 11, 0.1, false},
      {"H = 127", 127, 40, 41, 9, 0.1, false},
      {"H = 129", 129, 40, 41, 9, 0.1, false},
      {"long", 17, 11, 3, small ? 200U : 2000U, 0, false},
      {"H = 100, odd sizes", 100, 133, 700, 25, 0.1, false},
      {"H = 128", 128, 132, 3000, 24, 0, false},
      {"H = 700, a block for a row", 700, 301, 300, 30, 0.05, false},
  };
  for (const Case& c : cases) {
    if (small && c.sequences * c.hidden > 40000) continue;
    compare(c, GpuPrecision::kDouble, 1e-10, 1e-12);
    compare(c, GpuPrecision::kSingle, 1e-4, 1e-5);
    compare(c, GpuPrecision::kTf32, 1e-2, 1e-3);
    maximise_cases(c, GpuPrecision::kDouble);
    maximise_cases(c, GpuPrecision::kSingle);
  }
  // Rows in two, four and eight vectors per thread.
  if (!small) {
    for (const Case& c : {Case{"H = 1100", 1100, 30, 40, 6, 0.1, false}, Case{"H = 2500", 2500, 20, 10, 4, 0.1, false},
                          Case{"H = 4100", 4100, 5, 4, 3, 0, false}}) {
      compare(c, GpuPrecision::kSingle, 1e-4, 1e-5);
      compare(c, GpuPrecision::kTf32, 1e-2, 1e-3);
    }
  }
  for (const GpuPrecision precision : {GpuPrecision::kDouble, GpuPrecision::kSingle}) {
    keeps_what_was_not_counted(precision);
    if (small) continue;
    maximise_cases({"many symbols", 33, 9000, 200, 30, 0, false}, precision);
    const bool precise = precision == GpuPrecision::kDouble;
    // Parameters are 32-bit in any case.
    for (const std::size_t hidden : {6U, 150U}) training_agrees(hidden, precision, precise ? 1e-5 : 1e-3);
    likelihood_never_falls(24, precision, precise ? 1e-7 : 1e-6);
    likelihood_never_falls(140, precision, precise ? 1e-7 : 1e-6);
  }
  std::printf(failures == 0 ? "all hold\n" : "%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace metactrl

int main(int argc, char** argv) { return metactrl::run(argc > 1 ? argv[1] : ""); }
