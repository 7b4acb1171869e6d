// How long an E-step takes: on the GPU in each precision, and on the CPU.
//
//     hmm_device_benchmark DEVICES HIDDEN SYMBOLS LENGTH SEQUENCES...
//
// DEVICES is a list of cpu, single, tf32 and double, like single,tf32. For each number of sequences the step is done
// once to warm up and then several times; the line has the median. Everything that ExpectationEngine::expectation does
// is timed: parameters go to the GPU, counts come back. Between two numbers of sequences the difference in time is what
// the sequences themselves take.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "metactrl/hmm_training.h"
#include "support/splitmix.h"

namespace metactrl {
namespace {

// As Hmm::random in kind, and quick for models of gigabytes.
Hmm quick_model(std::size_t hidden, std::size_t symbols) {
  internal::Random random(1);
  const auto number = [&] { return 0.05F + static_cast<float>(random.uniform()); };
  std::vector<float> initial(hidden);
  std::vector<float> transition(hidden * hidden);
  std::vector<float> emission(symbols * hidden);
  double sum = 0;
  for (float& value : initial) sum += value = number();
  for (float& value : initial) value /= static_cast<float>(sum);
  for (std::size_t z = 0; z < hidden; ++z) {
    sum = 0;
    for (std::size_t to = 0; to < hidden; ++to) sum += transition[z * hidden + to] = number();
    for (std::size_t to = 0; to < hidden; ++to) transition[z * hidden + to] /= static_cast<float>(sum);
  }
  std::vector<double> sums(hidden);
  for (std::size_t v = 0; v < symbols; ++v) {
    for (std::size_t z = 0; z < hidden; ++z) sums[z] += emission[v * hidden + z] = number();
  }
  for (std::size_t v = 0; v < symbols; ++v) {
    for (std::size_t z = 0; z < hidden; ++z) emission[v * hidden + z] /= static_cast<float>(sums[z]);
  }
  return {Alphabet::tokens(symbols, 0), hidden, std::move(initial), std::move(transition), std::move(emission), ""};
}

SequenceSet random_sequences(std::size_t symbols, std::size_t length, std::size_t count) {
  internal::Random random(2);
  SequenceSet sequences;
  std::vector<SymbolId> sequence;
  for (std::size_t i = 0; i < count; ++i) {
    sequence.clear();
    while (sequence.size() + 1 < length) {
      sequence.push_back(SymbolId{static_cast<std::uint32_t>(1 + random.below(symbols - 1))});
    }
    sequence.push_back(SymbolId{0});
    sequences.add(sequence);
  }
  return sequences;
}

std::unique_ptr<ExpectationEngine> make_engine(const std::string& device) {
  if (device == "cpu") return make_cpu_engine({});
  if (device == "single") return make_cuda_engine({0, GpuPrecision::kSingle});
  if (device == "tf32") return make_cuda_engine({0, GpuPrecision::kTf32});
  return make_cuda_engine({0, GpuPrecision::kDouble});
}

void measure(const std::string& device, const Hmm& hmm, std::size_t length, const std::vector<std::size_t>& counts) {
  const std::size_t hidden = hmm.num_hidden();
  const std::size_t symbols = hmm.num_symbols();
  double before_tokens = 0;
  double before_seconds = 0;
  for (const std::size_t count : counts) {
    const SequenceSet sequences = random_sequences(symbols, length, count);
    std::vector<std::uint32_t> all(sequences.size());
    for (std::uint32_t n = 0; n < all.size(); ++n) all[n] = n;
    const auto engine = make_engine(device);
    std::vector<double> seconds;
    double log_likelihood = 0;
    double spent = 0;
    while (seconds.size() < 2 || (spent < 2 && seconds.size() < 12)) {
      const auto start = std::chrono::steady_clock::now();
      log_likelihood = engine->expectation(hmm, sequences, all, {}).log_likelihood;
      seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      spent += seconds.back();
    }
    seconds.erase(seconds.begin());
    std::sort(seconds.begin(), seconds.end());
    const double median = seconds[seconds.size() / 2];
    const auto tokens = static_cast<double>(sequences.num_symbols());
    const double operations = 6.0 * static_cast<double>(hidden) * static_cast<double>(hidden);
    std::printf("%-6s H %5zu V %6zu L %3zu  %7zu sequences  %9.3f ms  %9.3f Mtok/s  %7.1f TFLOP/s  log p/token %.8f",
                device.c_str(), hidden, symbols, length, sequences.size(), 1e3 * median, tokens / median / 1e6,
                operations * tokens / median / 1e12, log_likelihood / tokens);
    if (before_tokens > 0 && median > before_seconds) {
      const double rate = (tokens - before_tokens) / (median - before_seconds);
      std::printf("  more sequences: %.3f Mtok/s, %.1f TFLOP/s", rate / 1e6, operations * rate / 1e12);
    }
    std::printf("\n");
    std::fflush(stdout);
    before_tokens = tokens;
    before_seconds = median;
  }
}

int run(int argc, char** argv) {
  if (argc < 6) {
    std::fprintf(stderr, "usage: hmm_device_benchmark cpu,single,tf32,double HIDDEN SYMBOLS LENGTH SEQUENCES...\n");
    return 2;
  }
  const auto number = [&](int i) { return static_cast<std::size_t>(std::strtoull(argv[i], nullptr, 10)); };
  const Hmm hmm = quick_model(number(2), number(3));
  std::vector<std::size_t> counts;
  for (int i = 5; i < argc; ++i) counts.push_back(number(i));
  std::string device;
  for (const char c : std::string(argv[1]) + ",") {
    if (c != ',') {
      device += c;
    } else if (!device.empty()) {
      measure(std::exchange(device, {}), hmm, number(4), counts);
    }
  }
  return 0;
}

}  // namespace
}  // namespace metactrl

int main(int argc, char** argv) {
  try {
    return metactrl::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hmm_device_benchmark: %s\n", error.what());
    return 1;
  }
}
