// Training an Hmm: expectation maximisation over a set of sequences.
//
//     metactrl::SequenceSet sequences = ...;
//     auto engine = metactrl::make_cpu_engine({});
//     metactrl::Trainer trainer(Hmm::random(alphabet, 128, 1), sequences, *engine, {});
//     while (trainer.step()) std::cerr << trainer.last().log_likelihood / trainer.last().symbols << '\n';
//     trainer.hmm().save("household.hmm");
//
// One step computes, for the sequences it looks at, how often each hidden state is expected to start, to follow another
// and to emit each symbol (the E-step), and makes these numbers the new probabilities (the M-step). Both are done by an
// ExpectationEngine, where it keeps the parameters. With all sequences in every step the likelihood never falls (up to
// the rounding of 32-bit floats).
//
// Everything is a function of the options, their seed, and the number of steps done: not of the number of threads or of
// processes, and not of whether the training was interrupted and resumed from a file.
#ifndef METACTRL_TRAINING_TRAIN_H_
#define METACTRL_TRAINING_TRAIN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metactrl/error.h"
#include "metactrl/hmm.h"
#include "metactrl/training/process_group.h"

namespace metactrl {

// Sequences of symbols, each with a weight (how often it occurred). Each should close with the alphabet's end.
class SequenceSet {
 public:
  // An empty sequence is ignored.
  void add(std::span<const SymbolId> sequence, double weight = 1);
  std::size_t size() const { return weights_.size(); }
  std::span<const SymbolId> operator[](std::size_t i) const {
    return {symbols_.data() + first_[i], first_[i + 1] - first_[i]};
  }
  double weight(std::size_t i) const { return weights_[i]; }
  std::size_t num_symbols() const { return symbols_.size(); }
  // Sum over sequences of weight and of weight times length.
  double total_weight() const;
  double total_symbols() const;
  // Each sequence once, in order of first occurrence, with the sum of its weights. A corpus sampled at a low
  // temperature shrinks by orders of magnitude, and training by as much.
  SequenceSet distinct() const;
  // Two sets of one version hold the same: a copy has the version of its original, and every change gives a new one.
  // For those who keep something that they made of a set.
  std::uint64_t version() const { return version_; }

 private:
  std::vector<SymbolId> symbols_;
  std::vector<std::size_t> first_{0};
  std::vector<double> weights_;
  std::uint64_t version_ = 0;
};

// Symbols that are hidden from the model, so that it does not rely on any single one: each symbol but the end, with
// this probability, as if it could not be read (it is then known only that it is not the end). Drawn from the seed, the
// sequence's number and the position.
struct Dropout {
  double probability = 0;
  std::uint64_t seed = 0;
};

// What one E-step finds. Additive: the counts of a whole are the sum of the counts of its parts.
struct ExpectedCounts {
  ExpectedCounts(std::size_t hidden, std::size_t symbols);
  std::size_t hidden;
  std::vector<double> initial;     // per state
  std::vector<double> transition;  // [from * hidden + to]
  std::vector<double> emission;    // [symbol * hidden + state]
  std::vector<double> unread;      // per state: emissions of symbols that were dropped
  double log_likelihood = 0;       // of the sequences that are possible
  double symbols = 0;              // in them, weighted
  double weight = 0;               // of them
  double impossible = 0;           // weight of the sequences that have probability zero

  void add(const ExpectedCounts& other);
};

struct TrainOptions;

// A model while it is trained. It lives where its engine works, in the memory of a GPU for example, and comes from
// there only when it is asked for.
class ModelInTraining {
 public:
  virtual ~ModelInTraining() = default;
  // One step over the chosen sequences, E and M. What the E-step found; its vectors are empty.
  virtual ExpectedCounts step(const SequenceSet& sequences, std::span<const std::uint32_t> chosen,
                              const Dropout& dropout) = 0;
  // What the steps made of it. The reference holds until the next step. For a GPU: copied when a step was made since
  // the last call.
  virtual const Hmm& hmm() = 0;
};

// Computes E-steps, and trains. The seam for other machines: an engine for several processes has no more than the first
// two functions; one for a GPU keeps the model there and has the third as well.
class ExpectationEngine {
 public:
  virtual ~ExpectationEngine() = default;
  // The counts of the chosen sequences under `hmm`, added up in an order that depends on nothing but the arguments.
  virtual ExpectedCounts expectation(const Hmm& hmm, const SequenceSet& sequences,
                                     std::span<const std::uint32_t> chosen, const Dropout& dropout) = 0;
  // Only the likelihood of all sequences: no counts are made (their vectors are empty).
  virtual ExpectedCounts likelihood(const Hmm& hmm, const SequenceSet& sequences) = 0;
  // Training begins with `start`, whose steps are counted on. The engine must outlive the model. This one makes a step
  // by expectation() and maximise().
  virtual std::unique_ptr<ModelInTraining> begin(Hmm start, const TrainOptions& options);
};

struct CpuEngineOptions {
  unsigned threads = 0;  // 0: one per core
  // Products in 64-bit floats instead of 32: half the speed, for checks. Sums over sequences are 64-bit in either case.
  bool double_precision = false;
  // Processes that share the work; all of them call the engine alike, with all sequences, and get the same result. Must
  // outlive the engine. Without one, this process is alone.
  ProcessGroup* group = nullptr;
};
// Forward and backward passes over batches of sequences, each layer a product of matrices. The result does not depend
// on the number of threads and of processes, bit by bit, as long as their processors are of one kind. Threads of all
// processes together that a step over n sequences keeps busy: n / 384, and at least 16 where there are 16 batches of up
// to 96 sequences. Memory: at most about 2 GB for counts, or four sets of counts where that is larger.
std::unique_ptr<ExpectationEngine> make_cpu_engine(const CpuEngineOptions& options);

enum class GpuPrecision {
  kSingle,  // 32-bit products
  // 32-bit numbers, whose products keep 10 bits of each factor, or 7 for the counts of transitions: several times as
  // fast where hidden is large, and as kSingle up to 128 hidden states but for those counts
  kTf32,
  kDouble,  // for checks
};
const char* to_string(GpuPrecision precision);

// NVIDIA GPUs that this program can use, numbered from 0; none in a build without METACTRL_CUDA.
int num_cuda_devices();

struct CudaEngineOptions {
  int device = 0;  // which GPU
  GpuPrecision precision = GpuPrecision::kSingle;
};
// The same on an NVIDIA GPU, by cuBLAS and kernels of its own; sums over sequences are 64-bit. A model in training
// stays there, and so do the sequences of a step that is repeated. The result is the same every time, on cards with as
// much memory. Memory there: an eighth of it for a batch, 4 bytes per parameter and 8 per count; where that is not
// there, std::bad_alloc. Throws InputError in a build without METACTRL_CUDA, and where there is no such GPU.
std::unique_ptr<ExpectationEngine> make_cuda_engine(const CudaEngineOptions& options);

// Divides the work of an engine that knows nothing of groups (a GPU in each process): each process asks its own engine
// about its share of the sequences, and the counts are added up in the order of the processes. The result is the same
// every time and in all processes; between numbers of processes it differs by rounding.
std::unique_ptr<ExpectationEngine> make_group_engine(std::unique_ptr<ExpectationEngine> each, ProcessGroup& group);

// So many steps, each over so many sequences.
struct TrainPhase {
  std::size_t steps = 0;
  std::size_t sequences = 0;  // 0: all of them
  bool operator==(const TrainPhase&) const = default;
};
// "10,1000;5,all": ten steps over a thousand sequences each, then five over all. Throws InputError.
std::vector<TrainPhase> parse_schedule(std::string_view text);

struct TrainOptions {
  std::vector<TrainPhase> schedule{{50, 0}};
  // Added to each row of counts, spread evenly: keeps what was never seen possible.
  double pseudocount = 1e-3;
  double dropout = 0;
  // How far a step goes from the old parameters to the new ones: step_size * (step + 1)^-step_decay. 1 is plain EM.
  double step_size = 1;
  double step_decay = 0;
  // Every object slot has the same probability in a state (meta level): what is learned does not depend on an object's
  // place in its list.
  bool tie_slots = false;
  std::uint64_t seed = 0;
  // Asked before every step and, by the CPU's engine of a process that is alone, between batches of sequences; true ends
  // the step with Stopped, and the model is what the step before made of it. Where processes share the work, all of them
  // must say the same.
  Stop stop{};
};

class Trainer {
 public:
  // Goes on behind step `start.step()` of the schedule. `sequences` and `engine` must outlive the trainer. Throws
  // InputError for a symbol outside of the alphabet, and when there are no sequences.
  Trainer(Hmm start, const SequenceSet& sequences, ExpectationEngine& engine, const TrainOptions& options);

  // One step; false, and nothing happens, when the schedule is done. Throws Stopped when the options' stop says so.
  bool step();
  std::uint64_t steps_done() const { return done_; }
  std::uint64_t steps_total() const { return total_; }
  // The reference holds until the next step. See ModelInTraining::hmm() for what it costs.
  const Hmm& hmm() { return model_->hmm(); }
  // What the last step found under the parameters it began with; its vectors are empty. Only after step().
  const ExpectedCounts& last() const { return last_; }

 private:
  void choose();

  const SequenceSet& sequences_;
  TrainOptions options_;
  std::unique_ptr<ModelInTraining> model_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
  std::vector<std::uint32_t> chosen_;  // by the step at hand
  std::vector<std::uint32_t> order_;   // of pass pass_, once there was one
  std::uint64_t pass_ = 0;
  ExpectedCounts last_;
};

// The M-step: the model that the counts speak for. `step` is the number of the step, from 0.
Hmm maximise(const Hmm& before, const ExpectedCounts& counts, const TrainOptions& options, std::uint64_t step);

struct ClusterOptions {
  std::size_t hidden = 128;
  std::size_t iterations = 20;
  double pseudocount = 1e-3;
  std::uint64_t seed = 0;
  unsigned threads = 0;  // 0: one per core; the result is the same for any number
};
// Latent variable distillation: one vector per symbol of every sequence but its end (a language model's embedding at
// that place), one after the other in `vectors`, each of `dimension` numbers. They are clustered by k-means into hidden
// - 1 clusters; the cluster of a place is taken for its hidden state, the last state for the end; and the model is what
// these states, counted, speak for. A start for training that knows what the language model knows. Throws InputError
// when the numbers do not fit together.
Hmm cluster_hmm(const Alphabet& alphabet, const SequenceSet& sequences, std::span<const float> vectors,
                std::size_t dimension, const ClusterOptions& options);

}  // namespace metactrl

#endif  // METACTRL_TRAINING_TRAIN_H_
