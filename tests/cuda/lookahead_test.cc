// The trained lookahead's table on a GPU: against brute force over all plans of small tasks, and against the CPU's
// table for small and large ones; ends with 77 where there is no GPU.
//
//     cuda_lookahead_test                   all but the last
//     cuda_lookahead_test quick             without the large tables, which take the CPU its time
//     cuda_lookahead_test small             what is quick under compute-sanitizer
//     cuda_lookahead_test full-memory       what happens where the GPU's memory is used up; uses it up
//
// Logarithms of weights agree to 1e-4 of their size, both in single precision; and to 1e-4 with a table in double.
// Which weights are zero is the same.
#include "metactrl/lookahead.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "cuda/full_memory.h"
#include "lookahead/hmm_table.h"
#include "metactrl/error.h"
#include "support/hmm_table_case.h"
#include "support/random.h"

namespace metactrl::lookahead {
namespace {

using ::metactrl::testing::HmmTableCase;
using ::metactrl::testing::lamps;
using ::metactrl::testing::PlainSurrogate;
using ::metactrl::testing::Random;
using ::metactrl::testing::task_with_tries;

constexpr double kTolerance = 1e-4;
constexpr std::size_t kAmple = std::size_t{8} << 30;

int failures = 0;

void expect(bool holds, const std::string& what) {
  if (holds) return;
  if (++failures < 20) std::printf("FAILED: %s\n", what.c_str());
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The largest difference of two logarithms, in all and relative to their size.
struct Difference {
  double absolute = 0;
  double relative = 0;
  std::size_t compared = 0;
  void add(double actual, double expected, const std::string& where) {
    ++compared;
    if (std::isinf(expected) || std::isinf(actual)) {
      expect(actual == expected, where + ": one of two weights is zero");
      return;
    }
    const double difference = std::abs(actual - expected);
    absolute = std::max(absolute, difference);
    relative = std::max(relative, difference / std::max(1.0, std::abs(expected)));
    expect(difference <= kTolerance * std::max(1.0, std::abs(expected)), where);  // false for NaN
  }
};

void against_brute_force(const LookaheadDevice& device, unsigned wanted) {
  Difference difference;
  unsigned tasks = 0;
  for (std::uint64_t seed = 0; seed < 400 && tasks < wanted; ++seed) {
    const HmmTableCase c(task_with_tries(seed), 1 + seed % 3, seed);
    const unsigned horizon = 1 + static_cast<unsigned>(seed % 3);
    const StateId initial = c.space->initial();
    if (c.space->distance(initial) > horizon || c.space->num_live_edges() > 60) continue;
    ++tasks;
    const auto table = HmmTable<float>::build(c.surrogate, *c.space, horizon, kAmple, &device);
    HmmTable<float>::Window window;
    BeliefCursor cursor(c.surrogate);
    cursor.begin(c.surrogate.start());
    for (std::size_t e = 0; e < c.space->targets(initial).size(); ++e) {
      const StateId target = c.space->targets(initial)[e];
      cursor.read(c.space->actions(initial)[e]);
      PlainSurrogate::Text text;
      c.plain.spell(c.space->actions(initial)[e], text);
      for (unsigned left = 0; left < horizon; ++left) {
        if (!table->holds(target, left)) continue;
        const double log_behind = cursor.log_probability() - std::log(cursor.total());
        difference.add(log_behind + table->log_value(target, left, cursor.behind(), window),
                       std::log(c.plans(target, left, text)), "brute force, seed " + std::to_string(seed));
      }
    }
  }
  expect(tasks == wanted, "too few small tasks");
  std::printf("%-46s %7zu weights  log differs by %.1e\n",
              ("all plans of " + std::to_string(wanted) + " small tasks").c_str(), difference.compared,
              difference.absolute);
}

// All states of the space, with a few numbers of actions left and a few beliefs.
template <typename Real>
Difference compare(const HmmTableCase& c, const HmmTable<float>& actual, const HmmTable<Real>& expected,
                   const std::string& name) {
  Difference difference;
  HmmTable<float>::Window window;
  typename HmmTable<Real>::Window other;
  Random random(1);
  std::vector<std::vector<double>> beliefs{c.surrogate.start()};
  beliefs.emplace_back(c.surrogate.hidden());
  beliefs.back()[random.below(c.surrogate.hidden())] = 1;
  for (unsigned left = expected.horizon() + 1; left-- > 0;) {
    const std::size_t step = std::max<std::size_t>(1, c.space->num_live() / 1000);
    for (std::uint32_t number = random.below(step); number < c.space->num_live();
         number += 1 + random.below(2 * step)) {
      const StateId state{number};
      if (!expected.holds(state, left)) continue;
      for (const std::vector<double>& belief : beliefs) {
        difference.add(actual.log_value(state, left, belief, window), expected.log_value(state, left, belief, other),
                       name);
      }
    }
  }
  return difference;
}

// Random tasks with more hidden states, so that rows have every shape; the CPU in double.
void against_double(const LookaheadDevice& device, const std::vector<std::size_t>& hiddens, std::uint64_t tasks) {
  for (const std::size_t hidden : hiddens) {
    Difference difference;
    for (std::uint64_t seed = 0; seed < (hidden > 200 ? tasks / 4 : tasks); ++seed) {
      const HmmTableCase c(task_with_tries(seed), hidden, seed);
      const auto table = HmmTable<float>::build(c.surrogate, *c.space, 25, kAmple, &device);
      const auto expected = HmmTable<double>::build(c.surrogate, *c.space, 25, kAmple);
      const Difference one = compare(c, *table, *expected, "H = " + std::to_string(hidden));
      difference.absolute = std::max(difference.absolute, one.absolute);
      difference.relative = std::max(difference.relative, one.relative);
      difference.compared += one.compared;
    }
    std::printf("%-46s %7zu weights  log differs by %.1e, %.1e of its size\n",
                ("random tasks, H = " + std::to_string(hidden)).c_str(), difference.compared, difference.absolute,
                difference.relative);
  }
}

// With less memory fewer layers come from the GPU, and the CPU makes the others from them.
void with_checkpoints(const LookaheadDevice& device) {
  const HmmTableCase c(lamps(6, 4, true), 48, 1);
  const auto expected = HmmTable<float>::build(c.surrogate, *c.space, 40, kAmple);
  unsigned strides = 0;
  Difference difference;
  for (std::size_t bytes = expected->memory_bytes(); bytes > 0; bytes -= bytes / 8 + 1) {
    const auto table = HmmTable<float>::build(c.surrogate, *c.space, 40, bytes, &device);
    if (!table) break;
    if (table->stride() == 1) continue;
    ++strides;
    const Difference one = compare(c, *table, *expected, "stride " + std::to_string(table->stride()));
    difference.absolute = std::max(difference.absolute, one.absolute);
    difference.compared += one.compared;
  }
  expect(strides > 0, "no table with checkpoints");
  std::printf("%-46s %7zu weights  log differs by %.1e\n", "checkpoints", difference.compared, difference.absolute);
}

void large(const LookaheadDevice& device, const std::string& name, task::Definition definition, std::size_t hidden,
           unsigned horizon) {
  const HmmTableCase c(std::move(definition), hidden, 6);  // 6: all names and objects are known
  auto start = std::chrono::steady_clock::now();
  const auto table = HmmTable<float>::build(c.surrogate, *c.space, horizon, kAmple, &device);
  const double on_device = seconds_since(start);
  start = std::chrono::steady_clock::now();
  const auto expected = HmmTable<float>::build(c.surrogate, *c.space, horizon, kAmple);
  const double on_cpu = seconds_since(start);
  expect(table.has_value() && expected.has_value(), name + " does not fit");
  if (!table || !expected) return;
  const Difference difference = compare(c, *table, *expected, name);
  std::printf("%-46s %7zu weights  log differs by %.1e, %.1e of its size; %zu states, GPU %.3f s, CPU %.3f s\n",
              name.c_str(), difference.compared, difference.absolute, difference.relative, table->num_cone_states(),
              on_device, on_cpu);
}

// Through the public interface: what is allowed is the same, and the first weights too; from several threads.
void whole_lookahead(const std::shared_ptr<const LookaheadDevice>& device) {
  const auto program = task::compile(lamps(5, 3, true));
  const Task task(program, nullptr);
  LookaheadOptions options;
  options.hmm = ::metactrl::testing::hmm_for(program->definition(), 20, 6);
  const auto expected = Lookahead::compile(task, options);
  options.device = device;
  std::vector<std::shared_ptr<const Lookahead>> lookaheads(4);
  {
    std::vector<std::jthread> threads;
    for (auto& lookahead : lookaheads) {
      threads.emplace_back([&lookahead, &task, &options] { lookahead = Lookahead::compile(task, options); });
    }
  }
  Difference difference;
  for (const auto& lookahead : lookaheads) {
    expect(lookahead->verdict() == expected->verdict() && lookahead->horizon() == expected->horizon() &&
               lookahead->weights_exact(),
           "another lookahead");
    Support a(lookahead);
    Support b(expected);
    for (const unsigned left : {5U, 12U, expected->horizon()}) {
      const auto actual = a.candidates(task.initial_state(), left);
      const auto wanted = b.candidates(task.initial_state(), left);
      expect(actual.size() == wanted.size(), "other candidates");
      for (std::size_t i = 0; i < std::min(actual.size(), wanted.size()); ++i) {
        expect(actual[i].answer == wanted[i].answer, "another answer");
        if (wanted[i].answer == Answer::kYes) difference.add(actual[i].log_weight, wanted[i].log_weight, "a candidate");
      }
    }
  }
  expect(difference.compared > 0, "no candidates");
  std::printf("%-46s %7zu weights  log differs by %.1e\n", "lookaheads of four threads", difference.compared,
              difference.absolute);
}

// A table that does not fit is refused, not computed wrong; and leaves the device as good as it was.
void full_memory(const LookaheadDevice& device) {
  const HmmTableCase c(lamps(9, 8, true), 128, 6);
  bool refused = false;
  {
    const ::metactrl::testing::FullMemory full;
    try {
      HmmTable<float>::build(c.surrogate, *c.space, 40, kAmple, &device);
    } catch (const std::bad_alloc& error) {
      refused = true;
      std::printf("with %zu MiB taken: %s\n", full.bytes() >> 20U, error.what());
    }
  }
  expect(refused, "a table was computed without memory");
  large(device, "lamps, H = 128, with memory again", lamps(9, 8, true), 128, 40);
}

int run(const std::string& part) {
  std::shared_ptr<const LookaheadDevice> device;
  try {
    device = make_cuda_lookahead_device();
  } catch (const InputError& error) {
    std::printf("skipped: %s\n", error.what());
    return 77;
  }
  if (part == "full-memory") {
    full_memory(*device);
  } else if (part == "small") {
    against_brute_force(*device, 3);
    against_double(*device, {1, 33, 128, 200}, 2);
    large(*device, "lamps, three arguments, H = 40", lamps(5, 3, true), 40, 20);
  } else {
    against_brute_force(*device, 60);
    against_double(*device, {1, 15, 16, 33, 64, 65, 100, 128, 200, 700}, 20);
    with_checkpoints(*device);
    whole_lookahead(device);
    large(*device, "lamps, three arguments, H = 40", lamps(7, 4, true), 40, 40);
    if (part != "quick") {
      large(*device, "many lamps, three arguments, H = 128", lamps(11, 8, true), 128, 40);
      large(*device, "many lamps, H = 512", lamps(11, 8, false), 512, 40);
    }
  }
  std::printf(failures == 0 ? "all hold\n" : "%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace metactrl::lookahead

int main(int argc, char** argv) { return metactrl::lookahead::run(argc > 1 ? argv[1] : ""); }
