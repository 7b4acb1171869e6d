// How long a step of training takes, E and M: on the GPU in each precision, and on the CPU.
//
//     hmm_device_benchmark [--parts] [--fresh] DEVICES HIDDEN SYMBOLS LENGTH SEQUENCES...
//
// DEVICES is a list of cpu, single, tf32 and double, like single,tf32. For each number of sequences steps are made by
// ModelInTraining::step, the first ones to warm up; the line has the median of the others, and log p of the model at
// the start and behind three steps. Between two numbers of sequences the difference in time is what the
// sequences themselves take.
//
// With --parts also what the parts of a step take, by events on the GPU, and how near they come to what an H200 can do:
// 4.8 TB/s; 67 TFLOP/s in 32 and 64 bits, 495 in TF32, 990 in bfloat16. With --fresh every step is over another list of
// sequences than the one before, so that they are laid out and sent to the GPU again.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "hmm/cuda_memory.h"
#include "metactrl/training/train.h"
#include "support/splitmix.h"
#include "training/cuda_parts.h"

namespace metactrl {
namespace {

constexpr double kMemory = 4.8e12;

// As Hmm::random in kind, and quick for models of gigabytes. torch_em.py draws the same.
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

bool is_gpu(const std::string& device) { return device != "cpu"; }

CudaEngineOptions gpu_options(const std::string& device) {
  return {0, device == "single" ? GpuPrecision::kSingle
             : device == "tf32" ? GpuPrecision::kTf32
                                : GpuPrecision::kDouble};
}

struct Size {
  std::size_t hidden;
  std::size_t symbols;
  std::size_t length;
};

struct Setting {
  std::string device;
  bool parts = false;
  bool fresh = false;
};

// Times steps over `count` of the sequences each.
class Steps {
 public:
  Steps(const Hmm& start, const SequenceSet& sequences, std::size_t count, bool fresh)
      : start_(start), sequences_(sequences), chosen_(count), fresh_(fresh) {
    std::iota(chosen_.begin(), chosen_.end(), 0U);
  }

  // Seconds of one step, in the middle of several.
  double median(ExpectationEngine& engine) {
    const std::unique_ptr<ModelInTraining> model = engine.begin(start_, options_);
    std::vector<double> seconds;
    double spent = 0;
    while (seconds.size() < 5 || (spent < 1 && seconds.size() < 60)) {
      if (spent > 4 && seconds.size() >= 4) break;
      const auto begin = std::chrono::steady_clock::now();
      const ExpectedCounts found = model->step(sequences_, chosen_, {});
      seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      spent += seconds.back();
      if (seconds.size() == 1) at_start_ = found.log_likelihood / found.symbols;
      if (seconds.size() == 4) behind_three_ = found.log_likelihood / found.symbols;
      if (fresh_) std::rotate(chosen_.begin(), chosen_.begin() + 1, chosen_.end());
    }
    seconds.erase(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() > 5 ? 3 : 1));
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
  }
  // log p per symbol, of the model at the start and behind three steps.
  double at_start() const { return at_start_; }
  double behind_three() const { return behind_three_; }

 private:
  const Hmm& start_;
  const SequenceSet& sequences_;
  std::vector<std::uint32_t> chosen_;
  bool fresh_;
  TrainOptions options_;
  double at_start_ = 0;
  double behind_three_ = 0;
};

// What the parts of a step take, by events between the launches: an event is recorded where a part begins, and the part's
// time is that until the next event. They cost time themselves, a few microseconds for each launch: with few hidden states
// the sum of the parts is more than a step without them.
class PartTimes {
 public:
  struct Sum : training::StepPart {
    double milliseconds = 0;
  };

  PartTimes() = default;
  PartTimes(const PartTimes&) = delete;
  PartTimes& operator=(const PartTimes&) = delete;
  ~PartTimes() {
    for (const Mark& mark : marks_) cudaEventDestroy(mark.event);
  }

  void begin(const training::StepPart& part) {
    marks_.push_back({part, nullptr});
    hmm::check(cudaEventCreate(&marks_.back().event));
    hmm::check(cudaEventRecord(marks_.back().event));
  }

  // Waits for the GPU. The sums of each part since the last call, in the order of their first calls.
  std::vector<Sum> read() {
    hmm::check(cudaDeviceSynchronize());
    std::vector<Sum> parts;
    for (std::size_t i = 0; i + 1 < marks_.size(); ++i) {
      const training::StepPart& part = marks_[i].part;
      if (part.name == nullptr) continue;
      float milliseconds = 0;
      hmm::check(cudaEventElapsedTime(&milliseconds, marks_[i].event, marks_[i + 1].event));
      auto found = std::find_if(parts.begin(), parts.end(),
                                [&](const Sum& sum) { return std::strcmp(sum.name, part.name) == 0; });
      if (found == parts.end()) found = parts.insert(parts.end(), Sum{{part.name, 0, 0, part.type}, 0});
      found->milliseconds += static_cast<double>(milliseconds);
      found->operations += part.operations;
      found->bytes += part.bytes;
    }
    for (const Mark& mark : marks_) cudaEventDestroy(mark.event);
    marks_.clear();
    return parts;
  }

 private:
  struct Mark {
    training::StepPart part;
    cudaEvent_t event;
  };
  std::vector<Mark> marks_;
};

void print_parts(const Setting& setting, const Hmm& hmm, const SequenceSet& sequences) {
  PartTimes times;
  const auto engine = training::make_watched_cuda_engine(gpu_options(setting.device),
                                                         [&](const training::StepPart& part) { times.begin(part); });
  const std::unique_ptr<ModelInTraining> model = engine->begin(hmm, {});
  std::vector<std::uint32_t> all(sequences.size());
  std::iota(all.begin(), all.end(), 0U);
  std::vector<PartTimes::Sum> parts;
  for (int i = 0; i < 2; ++i) {
    model->step(sequences, all, {});
    parts = times.read();
  }
  const auto peak = [](const std::string& type) { return type == "bf16" ? 990e12 : type == "tf32" ? 495e12 : 67e12; };
  double sum = 0;
  for (const PartTimes::Sum& part : parts) sum += part.milliseconds;
  for (const PartTimes::Sum& part : parts) {
    const double seconds = part.milliseconds / 1e3;
    std::printf("    %-18s %9.3f ms  %5.1f %%  %6.2f TB/s, %3.0f %%", part.name, part.milliseconds,
                100 * part.milliseconds / sum, part.bytes / seconds / 1e12, 100 * part.bytes / seconds / kMemory);
    if (part.operations > 0) {
      std::printf("  %6.1f TFLOP/s, %3.0f %% of %s", part.operations / seconds / 1e12,
                  100 * part.operations / seconds / peak(part.type), part.type);
    }
    std::printf("\n");
  }
}

void measure(const Setting& setting, const Hmm& hmm, std::size_t length, const std::vector<std::size_t>& counts) {
  const Size size{hmm.num_hidden(), hmm.num_symbols(), length};
  double before_tokens = 0;
  double before_seconds = 0;
  for (const std::size_t count : counts) {
    const SequenceSet sequences = random_sequences(size.symbols, length, count);
    Steps steps(hmm, sequences, count, setting.fresh);
    double median = 0;
    {
      const auto engine = is_gpu(setting.device) ? make_cuda_engine(gpu_options(setting.device)) : make_cpu_engine({});
      median = steps.median(*engine);
    }
    const auto tokens = static_cast<double>(sequences.num_symbols());
    const double operations = 6.0 * static_cast<double>(size.hidden) * static_cast<double>(size.hidden);
    std::printf(
        "%-6s H %5zu V %6zu L %3zu  %7zu sequences%s  %9.3f ms  %9.3f Mtok/s  %7.1f TFLOP/s  log p/token %.8f, then "
        "%.8f",
        setting.device.c_str(), size.hidden, size.symbols, size.length, count, setting.fresh ? ", fresh" : "",
        1e3 * median, tokens / median / 1e6, operations * tokens / median / 1e12, steps.at_start(),
        steps.behind_three());
    if (before_tokens > 0 && median > before_seconds) {
      const double rate = (tokens - before_tokens) / (median - before_seconds);
      std::printf("  more sequences: %.3f Mtok/s, %.1f TFLOP/s", rate / 1e6, operations * rate / 1e12);
    }
    std::printf("\n");
    if (setting.parts && is_gpu(setting.device)) print_parts(setting, hmm, sequences);
    std::fflush(stdout);
    before_tokens = tokens;
    before_seconds = median;
  }
}

int run(std::vector<std::string> arguments) {
  Setting setting;
  while (!arguments.empty() && arguments[0].starts_with("--")) {
    (arguments[0] == "--parts" ? setting.parts : setting.fresh) = true;
    arguments.erase(arguments.begin());
  }
  if (arguments.size() < 5) {
    std::fprintf(stderr,
                 "usage: hmm_device_benchmark [--parts] [--fresh] cpu,single,tf32,double HIDDEN SYMBOLS LENGTH "
                 "SEQUENCES...\n");
    return 2;
  }
  const auto number = [&](std::size_t i) {
    return static_cast<std::size_t>(std::strtoull(arguments[i].c_str(), nullptr, 10));
  };
  const Hmm hmm = quick_model(number(1), number(2));
  std::vector<std::size_t> counts;
  for (std::size_t i = 4; i < arguments.size(); ++i) counts.push_back(number(i));
  std::string device;
  for (const char c : arguments[0] + ",") {
    if (c != ',') {
      device += c;
    } else if (!device.empty()) {
      setting.device = std::exchange(device, {});
      measure(setting, hmm, number(3), counts);
    }
  }
  return 0;
}

}  // namespace
}  // namespace metactrl

int main(int argc, char** argv) {
  try {
    return metactrl::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hmm_device_benchmark: %s\n", error.what());
    return 1;
  }
}
