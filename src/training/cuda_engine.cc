// E-steps and training on an NVIDIA GPU.
//
// The recursions are those of expectation.cc, over batches of sequences (cuda_batch.h). Where there are few hidden
// states a batch is one launch forward and one backward (cuda_tiles.cu). Else there is one product of matrices (cuBLAS)
// per position and one kernel that does everything else to a row (cuda_kernels.cu):
//
//   forward    A_t = A_(t-1) T, then o e(x_t) and scaling
//   backward   B_(t-1) = W_t T', then the posterior of position t - 1, the scale of W_t, and W_(t-1)
//
// Both products take the matrix in the layout that tensor cores read fastest; for the one forward that is a transposed
// copy. W_t is kept in the place of position t - 1. So the counts of transitions of the whole batch are one product, A'
// W over all rows; where H is small it is split by rows into parts that are added up, to give all of the GPU something
// to do. Tensor cores cannot read the two factors in this order in 32 bits; with TF32 and many hidden states they are
// rounded to bfloat16, which costs each term of the sums up to 0.4 %, by chance up or down.
//
// Posteriors are added to the counts of their symbols by lists of rows. All sums are 64-bit from there on, and every
// order of addition is fixed.
//
// A model in training stays on the GPU, and its M-step is done there (cuda_maximise.cu): a step launches its kernels,
// and waits once, for four numbers. A model that was copied from there is recognised when it comes back, so that its
// likelihood costs no way to and fro.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>

#include "hmm/cuda_device.h"
#include "hmm/cuda_memory.h"
#include "metactrl/training/train.h"
#include "support/str_cat.h"
#include "training/cuda_batch.h"
#include "training/cuda_kernels.h"
#include "training/cuda_parts.h"
#include "training/step_rules.h"

namespace metactrl {

using hmm::check;
using hmm::DeviceArray;
using hmm::download;
using internal::str_cat;
using training::Batch;

namespace {

// Of the GPU's memory, for the numbers of one batch.
constexpr std::size_t kMemoryShare = 8;
// Kept for each row of a position: a, w, the posterior, and two of half the size.
constexpr std::size_t kNumbersPerRow = 4;
// Numbers in all parts of the counts of transitions.
constexpr std::size_t kPartNumbers = std::size_t{1} << 22;
constexpr std::size_t kMaxParts = 64;

void check_launches() {
  if (const char* const error = training::launch_error()) throw std::runtime_error(str_cat("the GPU failed: ", error));
}

// A model's parameters on the GPU.
template <typename Real>
struct DeviceModel {
  explicit DeviceModel(const Hmm& hmm) : hidden(hmm.num_hidden()), symbols(hmm.num_symbols()), host(hmm) {
    const auto upload = [](DeviceArray<Real>& to, std::span<const float> values) {
      if constexpr (std::is_same_v<Real, float>) {
        to.upload(values);
      } else {
        const std::vector<Real> wide(values.begin(), values.end());
        to.upload(wide);
      }
    };
    upload(initial, hmm.initial());
    upload(transition, hmm.transition());
    // One more row, for what was not read: anything but the end.
    emission.reserve((symbols + 1) * hidden);
    upload(emission, hmm.emission());
    std::vector<Real> not_end;
    for (const float end : hmm.emission(hmm.alphabet().end)) not_end.push_back(Real{1} - static_cast<Real>(end));
    check(
        cudaMemcpy(emission.data() + symbols * hidden, not_end.data(), hidden * sizeof(Real), cudaMemcpyHostToDevice));
  }

  bool is(const Hmm& hmm) const { return host && host->initial().data() == hmm.initial().data(); }

  Hmm fetch(const Hmm& like, std::uint64_t step) const {
    const auto copy = [](const DeviceArray<Real>& from, std::size_t size) {
      std::vector<Real> values(size);
      download<Real>(from.data(), values);
      if constexpr (std::is_same_v<Real, float>) {
        return values;
      } else {
        return std::vector<float>(values.begin(), values.end());
      }
    };
    return Hmm(like.alphabet(), hidden, copy(initial, hidden), copy(transition, hidden * hidden),
               copy(emission, symbols * hidden), like.made_by())
        .with_step(step);
  }

  std::size_t hidden;
  std::size_t symbols;
  // The same parameters, where the CPU has them. It holds their memory, so that no other model can be in its place.
  std::optional<Hmm> host;
  DeviceArray<Real> initial;
  DeviceArray<Real> transition;
  DeviceArray<Real> emission;
  DeviceArray<Real> transposed;  // transitions, where they are needed so
  bool transposed_is_good = false;
};

template <typename Real>
class CudaEngine : public ExpectationEngine {
 public:
  CudaEngine(const CudaEngineOptions& options, training::OnPart on_part)
      : options_(options), on_part_(std::move(on_part)) {
    check(cudaSetDevice(options.device));
    check(cublasCreate(&cublas_));
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, options.device));
    batch_bytes_ = std::bit_floor(properties.totalGlobalMem / kMemoryShare);
  }
  CudaEngine(const CudaEngine&) = delete;
  CudaEngine& operator=(const CudaEngine&) = delete;
  ~CudaEngine() override { cublasDestroy(cublas_); }

  ExpectedCounts expectation(const Hmm& hmm, const SequenceSet& sequences, std::span<const std::uint32_t> chosen,
                             const Dropout& dropout) override {
    use(hmm);
    count(sequences, chosen, dropout, hmm.alphabet().end, true);
    ExpectedCounts result(model_->hidden, model_->symbols);
    take_totals(result);
    take_counts(hmm, result);
    return result;
  }

  ExpectedCounts likelihood(const Hmm& hmm, const SequenceSet& sequences) override {
    std::vector<std::uint32_t> all(sequences.size());
    std::iota(all.begin(), all.end(), 0U);
    use(hmm);
    count(sequences, all, {}, hmm.alphabet().end, false);
    ExpectedCounts result(model_->hidden, 0);
    take_totals(result);
    return result;
  }

  std::unique_ptr<ModelInTraining> begin(Hmm start, const TrainOptions& options) override {
    return std::make_unique<Training>(*this, std::move(start), options);
  }

 private:
  class Training : public ModelInTraining {
   public:
    Training(CudaEngine& engine, Hmm start, const TrainOptions& options)
        : engine_(engine), options_(options), step_(start.step()), fetched_(std::move(start)) {
      check(cudaSetDevice(engine_.options_.device));
      model_ = std::make_shared<DeviceModel<Real>>(fetched_);
    }

    ExpectedCounts step(const SequenceSet& sequences, std::span<const std::uint32_t> chosen,
                        const Dropout& dropout) override {
      check(cudaSetDevice(engine_.options_.device));
      engine_.model_ = model_;
      const Alphabet& alphabet = fetched_.alphabet();
      engine_.count(sequences, chosen, dropout, alphabet.end, true);
      model_->host.reset();
      model_->transposed_is_good = false;
      engine_.maximise_on_device(alphabet, options_, step_, dropout.probability > 0);
      ++step_;
      ExpectedCounts result(model_->hidden, 0);
      engine_.take_totals(result);
      return result;
    }

    const Hmm& hmm() override {
      if (!model_->host) {
        check(cudaSetDevice(engine_.options_.device));
        fetched_ = model_->fetch(fetched_, step_);
        model_->host = fetched_;
      }
      return fetched_;
    }

   private:
    CudaEngine& engine_;
    const TrainOptions options_;
    std::uint64_t step_;
    Hmm fetched_;  // of an earlier step where the model has no host
    std::shared_ptr<DeviceModel<Real>> model_;
  };

  void use(const Hmm& hmm) {
    check(cudaSetDevice(options_.device));
    if (model_ && model_->is(hmm)) return;
    model_.reset();
    model_ = std::make_shared<DeviceModel<Real>>(hmm);
  }

  // A part of the step begins; see cuda_parts.h.
  void part(const char* name, double operations, double numbers, const char* type = "") {
    if (on_part_) on_part_({name, operations, numbers * sizeof(Real), type});
  }
  // Of what cuBLAS multiplies.
  const char* type_name() const {
    if (std::is_same_v<Real, double>) return "fp64";
    return options_.precision == GpuPrecision::kTf32 ? "tf32" : "fp32";
  }

  bool uses_tiles() const { return std::is_same_v<Real, float> && hidden_ <= training::kTileHidden; }
  // Whether the factors of transition counts are rounded to 16 bits.
  bool is_narrow() const { return options_.precision == GpuPrecision::kTf32 && training::has_narrow_rows(hidden_); }

  // --- the E-step ----------------------------------------------------------------------------------------------------

  // What an E-step leaves, one behind the other: what add_totals() writes; where counts are asked for, emissions, what
  // was not read, and the first position; and transitions, before they are multiplied by the old ones.
  double* totals() const { return sums_.data(); }
  double* counts() const { return totals() + kTotals; }
  double* moves() const { return counts() + (model_->symbols + 2) * hidden_; }

  // Of model_.
  void count(const SequenceSet& sequences, std::span<const std::uint32_t> chosen, const Dropout& dropout, SymbolId end,
             bool with_counts) {
    hidden_ = model_->hidden;
    const std::size_t symbols = model_->symbols;
    const std::size_t most =
        std::clamp<std::size_t>(batch_bytes_ / (kNumbersPerRow * hidden_ * sizeof(Real)), 1, std::size_t{1} << 30);
    const std::span<const Batch> batches = batches_.prepare(sequences, chosen, dropout, symbols, end, most);
    const std::size_t num_sums = kTotals + (with_counts ? (symbols + 2 + hidden_) * hidden_ : 0);
    part("clear counts", 0, kPerSum * static_cast<double>(num_sums));
    sums_.zeros(num_sums);
    for (const Batch& batch : batches) {
      const std::size_t rows = batch.total() + num_parts();  // room for the last part
      forward_.reserve(rows * hidden_);
      log_likelihood_.reserve(batch.num_rows());
      possible_.reserve(batch.num_rows());
      if (with_counts) {
        weighted_.reserve(rows * hidden_);
        posterior_.reserve(batch.total() * hidden_);
      }
      if (with_counts && is_narrow()) {
        narrow_forward_.reserve(rows * hidden_);
        narrow_weighted_.reserve(rows * hidden_);
      }
      run_passes(batch, with_counts);
      if (with_counts) add_counts(batch);
      part("other", 0, 0);
      training::add_totals(batch.rows, log_likelihood_.data(), possible_.data(), totals());
      check_launches();
    }
    part(nullptr, 0, 0);
  }

  void run_passes(const Batch& batch, bool with_counts) {
    if constexpr (std::is_same_v<Real, float>) {
      if (uses_tiles()) {
        const training::TileBatch tiles{batch.rows,
                                        hidden_,
                                        model_->initial.data(),
                                        model_->transition.data(),
                                        model_->emission.data(),
                                        forward_.data(),
                                        log_likelihood_.data(),
                                        possible_.data()};
        const auto numbers = static_cast<double>(batch.total() * hidden_);
        const double operations = 2.0 * numbers * static_cast<double>(hidden_);
        part("forward", operations, 2 * numbers, "fp32");  // e in, a out
        training::forward_tiles(tiles);
        if (!with_counts) return;
        part("backward", operations, 4 * numbers, "fp32");  // e and a in, w and posterior out
        training::backward_tiles(tiles, weighted_.data(), posterior_.data());
        return;
      }
    }
    if (!model_->transposed_is_good) {
      model_->transposed.reserve(hidden_ * hidden_);
      training::transpose(hidden_, model_->transition.data(), model_->transposed.data());
      model_->transposed_is_good = true;
    }
    forward(batch, with_counts && is_narrow());
    if (with_counts) backward(batch, is_narrow());
  }

  training::Layer<Real> layer(const Batch& batch, std::size_t t) {
    return {batch.active[t], hidden_, model_->emission.data(), batch.rows.symbols + batch.first[t], possible_.data()};
  }

  void forward(const Batch& batch, bool narrow) {
    for (std::size_t t = 0; t < batch.length(); ++t) {
      Real* const values = forward_.data() + batch.first[t] * hidden_;
      const auto numbers = static_cast<double>(batch.active[t] * hidden_);
      if (t > 0) {
        part_product("forward product", batch.active[t]);
        multiply(model_->transposed, batch.active[t], forward_.data() + batch.first[t - 1] * hidden_, values);
      }
      part("forward rows", 0, (narrow ? 3.5 : 3) * numbers);  // a and e in, a out
      training::forward_rows(layer(batch, t), t == 0 ? model_->initial.data() : nullptr, values, log_likelihood_.data(),
                             narrow ? narrow_forward_.data() + batch.first[t] * hidden_ : nullptr);
    }
  }

  void backward(const Batch& batch, bool narrow) {
    ahead_.reserve(batch.num_rows() * hidden_);
    for (std::size_t t = batch.length(); t-- > 0;) {
      const std::size_t rows_ahead = t + 1 < batch.length() ? batch.active[t + 1] : 0;
      const auto numbers = static_cast<double>(batch.active[t] * hidden_);
      Real* const weighted = weighted_.data() + batch.first[t] * hidden_;
      if (rows_ahead > 0) {
        part_product("backward product", rows_ahead);
        multiply(model_->transition, rows_ahead, weighted, ahead_.data());
      }
      part("backward rows", 0, (narrow ? 6.5 : 7) * numbers);  // a, b, e and w in; w, the next w and the posterior out
      training::backward_rows(
          layer(batch, t), {rows_ahead, batch.rows.weights, forward_.data() + batch.first[t] * hidden_, ahead_.data(),
                            weighted, narrow ? narrow_weighted_.data() + batch.first[t] * hidden_ : nullptr,
                            t > 0 ? weighted_.data() + batch.first[t - 1] * hidden_ : nullptr,
                            posterior_.data() + batch.first[t] * hidden_});
    }
  }

  // out (rows x H) = in (rows x H) M'. cuBLAS holds columns together, so it sees transposes everywhere.
  void multiply(const DeviceArray<Real>& matrix, std::size_t rows, const Real* in, Real* out) {
    const Real one = 1;
    const Real zero = 0;
    const auto h = static_cast<int>(hidden_);
    check(cublasGemmEx(cublas_, CUBLAS_OP_T, CUBLAS_OP_N, h, static_cast<int>(rows), h, &one, matrix.data(), kType, h,
                       in, kType, h, &zero, out, kType, h, compute_type(), CUBLAS_GEMM_DEFAULT));
  }

  void part_product(const char* name, std::size_t rows) {
    const auto numbers = static_cast<double>(rows * hidden_);
    const auto h = static_cast<double>(hidden_);
    part(name, 2 * numbers * h, 2 * numbers + h * h, type_name());
  }

  void add_counts(const Batch& batch) {
    partials_.reserve(batch.num_partials * hidden_);
    // Posteriors in; counts, of 64 bits, in and out where a batch has a symbol.
    const double sums = 2 * kPerSum * static_cast<double>((batch.lists.num_chunks + batch.lists.num_joins) * hidden_);
    part("emission counts", 0, sums + static_cast<double>((batch.total() + batch.num_rows()) * hidden_));
    training::add_rows(hidden_, posterior_.data(), batch.lists, partials_.data(), counts());
    part("transition counts", 2.0 * static_cast<double>(batch.total() * hidden_) * static_cast<double>(hidden_),
         static_cast<double>(((is_narrow() ? 1 : 2) * batch.total() + hidden_) * hidden_),
         is_narrow() ? "bf16" : type_name());
    if (is_narrow()) {
      add_moves(batch.total(), narrow_forward_, narrow_weighted_);
    } else {
      add_moves(batch.total(), forward_, weighted_);
    }
  }

  std::size_t num_parts() const { return std::clamp<std::size_t>(kPartNumbers / (hidden_ * hidden_), 1, kMaxParts); }

  // moves += A' W over all rows, in parts.
  template <typename Factor>
  void add_moves(std::size_t total, const DeviceArray<Factor>& forward, const DeviceArray<Factor>& weighted) {
    constexpr bool kNarrow = std::is_same_v<Factor, training::Bfloat16>;
    constexpr cudaDataType_t kFactor = kNarrow ? CUDA_R_16BF : kType;
    const std::size_t parts = std::min(num_parts(), total);
    const std::size_t per_part = (total + parts - 1) / parts;
    const std::size_t extra = parts * per_part - total;
    for (const DeviceArray<Factor>* array : {&forward, &weighted}) {
      if (extra > 0) check(cudaMemsetAsync(array->data() + total * hidden_, 0, extra * hidden_ * sizeof(Factor)));
    }
    const std::size_t size = hidden_ * hidden_;
    parts_.reserve(parts * size);
    const Real one = 1;
    const Real zero = 0;
    const auto h = static_cast<int>(hidden_);
    const auto stride = static_cast<long long>(per_part * hidden_);
    check(cublasGemmStridedBatchedEx(cublas_, CUBLAS_OP_N, CUBLAS_OP_T, h, h, static_cast<int>(per_part), &one,
                                     weighted.data(), kFactor, h, stride, forward.data(), kFactor, h, stride, &zero,
                                     parts_.data(), kType, h, static_cast<long long>(size), static_cast<int>(parts),
                                     kNarrow ? CUBLAS_COMPUTE_32F : compute_type(), CUBLAS_GEMM_DEFAULT));
    training::add_parts(size, parts, parts_.data(), moves());
  }

  cublasComputeType_t compute_type() const {
    if constexpr (std::is_same_v<Real, double>) return CUBLAS_COMPUTE_64F;
    return options_.precision == GpuPrecision::kTf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  }

  // --- the M-step ----------------------------------------------------------------------------------------------------

  // Of model_, by what count() left.
  void maximise_on_device(const Alphabet& alphabet, const TrainOptions& options, std::uint64_t step, bool unread) {
    const std::size_t symbols = model_->symbols;
    const std::size_t first_slot = options.tie_slots ? alphabet.num_actions : 0;
    const std::size_t last_slot = options.tie_slots ? first_slot + alphabet.num_slots : 0;
    const double rate = training::step_size(options, step);
    const auto parameters = static_cast<double>((symbols + hidden_) * hidden_);
    part("M-step", 0, (2 * kPerSum + (unread ? 3 : rate < 1 ? 2 : 1)) * parameters);  // counts are read twice
    scratch_.reserve(training::maximise_scratch(hidden_, symbols));
    training::maximise_parameters<Real>(
        {hidden_, symbols, static_cast<std::size_t>(alphabet.end), first_slot, last_slot, options.pseudocount, rate,
         unread, counts(), moves(), model_->initial.data(), model_->transition.data(), model_->emission.data()},
        scratch_.data());
    part(nullptr, 0, 0);
    check_launches();
  }

  // --- results -------------------------------------------------------------------------------------------------------

  void take_totals(ExpectedCounts& result) {
    std::array<double, kTotals> found{};
    download<double>(totals(), found);
    result.log_likelihood = found[0];
    result.symbols = found[1];
    result.weight = found[2];
    result.impossible = found[3];
  }

  void take_counts(const Hmm& hmm, ExpectedCounts& result) {
    const double* const behind = counts() + model_->symbols * hidden_;
    download<double>(counts(), result.emission);
    download<double>(behind, result.unread);
    download<double>(behind + hidden_, result.initial);
    download<double>(moves(), result.transition);
    for (std::size_t i = 0; i < result.transition.size(); ++i) {
      result.transition[i] *= static_cast<double>(hmm.transition()[i]);
    }
  }

  static constexpr cudaDataType_t kType = std::is_same_v<Real, double> ? CUDA_R_64F : CUDA_R_32F;
  static constexpr std::size_t kTotals = 4;
  static constexpr double kPerSum = static_cast<double>(sizeof(double)) / static_cast<double>(sizeof(Real));

  const CudaEngineOptions options_;
  const training::OnPart on_part_;
  cublasHandle_t cublas_ = nullptr;
  std::size_t batch_bytes_ = 0;
  std::shared_ptr<DeviceModel<Real>> model_;  // that was used last
  std::size_t hidden_ = 0;                    // its
  training::BatchSet batches_;
  DeviceArray<Real> forward_;                       // a, all positions
  DeviceArray<Real> weighted_;                      // w of position t + 1 in the place of t
  DeviceArray<Real> posterior_;                     // all positions
  DeviceArray<Real> ahead_;                         // b of one position
  DeviceArray<training::Bfloat16> narrow_forward_;  // a and w once more, where is_narrow()
  DeviceArray<training::Bfloat16> narrow_weighted_;
  DeviceArray<Real> parts_;  // of the counts of transitions
  DeviceArray<double> log_likelihood_;
  DeviceArray<unsigned char> possible_;
  DeviceArray<double> partials_;
  DeviceArray<double> sums_;     // see totals(), counts() and moves()
  DeviceArray<double> scratch_;  // of the M-step
};

std::unique_ptr<ExpectationEngine> make_engine(const CudaEngineOptions& options, training::OnPart on_part) {
  hmm::open_device("device cuda", options.device, training::kernels_error);
  if (options.precision == GpuPrecision::kDouble) {
    return std::make_unique<CudaEngine<double>>(options, std::move(on_part));
  }
  return std::make_unique<CudaEngine<float>>(options, std::move(on_part));
}

}  // namespace

int num_cuda_devices() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess) return devices;
  cudaGetLastError();
  return 0;
}

std::unique_ptr<ExpectationEngine> make_cuda_engine(const CudaEngineOptions& options) {
  return make_engine(options, {});
}

std::unique_ptr<ExpectationEngine> training::make_watched_cuda_engine(const CudaEngineOptions& options,
                                                                      OnPart on_part) {
  return make_engine(options, std::move(on_part));
}

}  // namespace metactrl
