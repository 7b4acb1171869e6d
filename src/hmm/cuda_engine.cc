// The E-step on an NVIDIA GPU.
//
// The recursions are those of expectation.cc. Sequences are sorted by length, longest first, and cut into batches whose
// numbers fit into kBatchBytes; in a batch, position t has active[t] rows, and its rows lie at first[t]. Per position
// there is one product of matrices (cuBLAS) and one kernel that does everything else to a row (cuda_kernels.cu):
//
//   forward    A_t = A_(t-1) T, then o e(x_t) and scaling
//   backward   B_(t-1) = W_t T', then the posterior of position t - 1, the scale of W_t, and W_(t-1)
//
// W_t is kept in the place of position t - 1. So the counts of transitions of the whole batch are one product, A' W
// over all rows; where H is small it is split by rows into parts that are added up, to give all of the GPU something to
// do. Posteriors are added to the counts of their symbols by lists that the CPU makes: the rows of each symbol in
// order, in chunks. All sums are 64-bit from there on, and every order of addition is fixed.
//
// What the lists and symbols of a batch are does not change from step to step unless symbols are dropped: they stay on
// the GPU, and are made again when the sequences are others.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <new>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "hmm/cuda_kernels.h"
#include "hmm/dropout.h"
#include "metactrl/error.h"
#include "metactrl/hmm_training.h"
#include "support/hash.h"
#include "support/str_cat.h"

namespace metactrl {

using internal::str_cat;

namespace {

constexpr std::size_t kBatchBytes = std::size_t{4} << 30;
constexpr std::size_t kBatchRows = std::size_t{1} << 16;
// Numbers in all parts of the counts of transitions.
constexpr std::size_t kPartNumbers = std::size_t{1} << 22;
constexpr std::size_t kMaxParts = 256;

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  if (error == cudaErrorMemoryAllocation) throw std::bad_alloc();
  throw std::runtime_error(str_cat("the GPU failed: ", cudaGetErrorString(error)));
}

void check(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  if (status == CUBLAS_STATUS_ALLOC_FAILED) throw std::bad_alloc();
  throw std::runtime_error(str_cat("the GPU failed: ", cublasGetStatusString(status)));
}

void check_launches() {
  if (const char* const error = hmm::launch_error()) throw std::runtime_error(str_cat("the GPU failed: ", error));
}

// Memory of the GPU. Grows, and keeps what it has.
template <typename T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~DeviceArray() { cudaFree(data_); }

  // At least so many; their values are not kept.
  T* reserve(std::size_t size) {
    if (size <= size_) return data_;
    check(cudaFree(std::exchange(data_, nullptr)));
    size_ = 0;
    void* memory = nullptr;
    check(cudaMalloc(&memory, size * sizeof(T)));
    data_ = static_cast<T*>(memory);
    size_ = size;
    return data_;
  }
  T* zeros(std::size_t size) {
    reserve(size);
    if (size > 0) check(cudaMemsetAsync(data_, 0, size * sizeof(T)));
    return data_;
  }
  T* upload(std::span<const T> values) {
    reserve(values.size());
    if (!values.empty()) check(cudaMemcpy(data_, values.data(), values.size_bytes(), cudaMemcpyHostToDevice));
    return data_;
  }
  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

template <typename T>
void download(const T* from, std::span<T> to) {
  if (!to.empty()) check(cudaMemcpy(to.data(), from, to.size_bytes(), cudaMemcpyDeviceToHost));
}

// Sequences that are worked on together.
struct Batch {
  std::vector<std::size_t> active;  // per position: rows that are so long
  std::vector<std::size_t> first;   // per position: its rows among all; one more at the end
  std::vector<double> row_weights;
  std::vector<std::size_t> row_lengths;
  std::size_t num_chunks = 0;
  std::size_t num_joins = 0;
  std::size_t num_partials = 0;
  DeviceArray<std::uint32_t> symbol;  // per row of every position
  DeviceArray<double> weight;         // per row of the first
  DeviceArray<std::uint32_t> order;
  DeviceArray<hmm::Chunk> chunks;
  DeviceArray<hmm::Join> joins;

  std::size_t length() const { return active.size(); }
  std::size_t rows() const { return active[0]; }
  std::size_t total() const { return first.back(); }
};

// The lists of rows for each symbol. Behind the alphabet come two more targets: what was not read, and the first
// position.
void make_lists(const std::vector<std::uint32_t>& symbols, std::size_t num_symbols, Batch& batch) {
  const std::size_t total = symbols.size();
  std::vector<std::uint32_t> begin(num_symbols + 3);
  for (const std::uint32_t symbol : symbols) ++begin[symbol + 1];
  begin[num_symbols + 2] = static_cast<std::uint32_t>(batch.rows());
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::uint32_t> order(total + batch.rows());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (std::uint32_t i = 0; i < total; ++i) order[next[symbols[i]]++] = i;
  std::iota(order.begin() + static_cast<std::ptrdiff_t>(total), order.end(), 0U);
  std::vector<hmm::Chunk> chunks;
  std::vector<hmm::Join> joins;
  std::uint32_t partials = 0;
  for (std::uint32_t target = 0; target + 1 < begin.size(); ++target) {
    const std::uint32_t last = begin[target + 1];
    const bool several = last - begin[target] > hmm::kChunk;
    const std::uint32_t before = partials;
    for (std::uint32_t i = begin[target]; i < last; i += hmm::kChunk) {
      const std::int32_t partial = several ? static_cast<std::int32_t>(partials++) : -1;
      chunks.push_back({i, std::min(last, i + hmm::kChunk), target, partial});
    }
    if (several) joins.push_back({before, partials, target});
  }
  batch.num_chunks = chunks.size();
  batch.num_joins = joins.size();
  batch.num_partials = partials;
  batch.order.upload(order);
  batch.chunks.upload(chunks);
  batch.joins.upload(joins);
}

template <typename Real>
class CudaEngine : public ExpectationEngine {
 public:
  explicit CudaEngine(const CudaEngineOptions& options) : options_(options) {
    check(cudaSetDevice(options.device));
    check(cublasCreate(&cublas_));
  }
  CudaEngine(const CudaEngine&) = delete;
  CudaEngine& operator=(const CudaEngine&) = delete;
  ~CudaEngine() override { cublasDestroy(cublas_); }

  ExpectedCounts expectation(const Hmm& hmm, const SequenceSet& sequences, std::span<const std::uint32_t> chosen,
                             const Dropout& dropout) override {
    return run(hmm, sequences, chosen, dropout, true);
  }

  ExpectedCounts likelihood(const Hmm& hmm, const SequenceSet& sequences) override {
    std::vector<std::uint32_t> all(sequences.size());
    std::iota(all.begin(), all.end(), 0U);
    return run(hmm, sequences, all, {}, false);
  }

 private:
  ExpectedCounts run(const Hmm& hmm, const SequenceSet& sequences, std::span<const std::uint32_t> chosen,
                     const Dropout& dropout, bool count) {
    check(cudaSetDevice(options_.device));
    hidden_ = hmm.num_hidden();
    num_symbols_ = hmm.num_symbols();
    load(hmm);
    prepare(hmm, sequences, chosen, dropout);
    ExpectedCounts result(hidden_, count ? num_symbols_ : 0);
    if (count) {
      counts_.zeros((num_symbols_ + 2) * hidden_);
      moves_.zeros(hidden_ * hidden_);
    }
    for (const Batch& batch : batches_) {
      forward(batch);
      if (count) backward(batch);
      check_launches();
      take_likelihood(batch, result);
    }
    if (count) take_counts(hmm, result);
    return result;
  }

  void load(const Hmm& hmm) {
    const auto upload = [](DeviceArray<Real>& to, std::span<const float> values) {
      if constexpr (sizeof(Real) == sizeof(float)) {
        to.upload(values);
      } else {
        const std::vector<Real> wide(values.begin(), values.end());
        to.upload(wide);
      }
    };
    upload(initial_, hmm.initial());
    upload(transition_, hmm.transition());
    // One more row, for what was not read: anything but the end.
    emission_.reserve((num_symbols_ + 1) * hidden_);
    upload(emission_, hmm.emission());
    std::vector<Real> not_end;
    for (const float end : hmm.emission(hmm.alphabet().end)) not_end.push_back(Real{1} - static_cast<Real>(end));
    check(cudaMemcpy(emission_.data() + num_symbols_ * hidden_, not_end.data(), hidden_ * sizeof(Real),
                     cudaMemcpyHostToDevice));
  }

  // --- batches -------------------------------------------------------------------------------------------------------

  void prepare(const Hmm& hmm, const SequenceSet& sequences, std::span<const std::uint32_t> chosen,
               const Dropout& dropout) {
    std::uint64_t digest = internal::mix(num_symbols_, hidden_);
    for (const std::uint32_t i : chosen) {
      const std::span<const SymbolId> sequence = sequences[i];
      const double weight = sequences.weight(i);
      digest = internal::hash_bytes({reinterpret_cast<const char*>(sequence.data()), sequence.size_bytes()}, digest);
      digest = internal::hash_bytes({reinterpret_cast<const char*>(&weight), sizeof(weight)}, digest);
    }
    if (dropout.probability == 0 && batches_are_good_ && digest == digest_) return;
    batches_.clear();
    batches_are_good_ = false;
    std::vector<std::uint32_t> sorted(chosen.begin(), chosen.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return sequences[a].size() > sequences[b].size(); });
    const std::size_t most = std::max<std::size_t>(1, kBatchBytes / (4 * hidden_ * sizeof(Real)));
    std::size_t begin = 0;
    std::size_t total = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const std::size_t length = sequences[sorted[i]].size();
      if (i > begin && (i - begin == kBatchRows || total + length > most)) {
        add_batch(hmm, sequences, std::span(sorted).subspan(begin, i - begin), dropout);
        begin = i;
        total = 0;
      }
      total += length;
    }
    if (begin < sorted.size()) add_batch(hmm, sequences, std::span(sorted).subspan(begin), dropout);
    digest_ = digest;
    batches_are_good_ = dropout.probability == 0;
  }

  void add_batch(const Hmm& hmm, const SequenceSet& sequences, std::span<const std::uint32_t> numbers,
                 const Dropout& dropout) {
    Batch batch;
    batch.active.assign(sequences[numbers[0]].size(), 0);
    for (const std::uint32_t number : numbers) {
      batch.row_weights.push_back(sequences.weight(number));
      batch.row_lengths.push_back(sequences[number].size());
    }
    std::size_t rows = numbers.size();
    batch.first.push_back(0);
    for (std::size_t t = 0; t < batch.active.size(); ++t) {
      while (batch.row_lengths[rows - 1] <= t) --rows;
      batch.active[t] = rows;
      batch.first.push_back(batch.first.back() + rows);
    }
    std::vector<std::uint32_t> symbols(batch.total());
    std::vector<std::uint32_t> own;
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      own.clear();
      hmm::read_symbols(sequences[numbers[n]], numbers[n], dropout, hmm.alphabet().end, own);
      for (std::size_t t = 0; t < own.size(); ++t) {
        symbols[batch.first[t] + n] = own[t] == hmm::kUnread ? static_cast<std::uint32_t>(num_symbols_) : own[t];
      }
    }
    batch.symbol.upload(symbols);
    batch.weight.upload(batch.row_weights);
    make_lists(symbols, num_symbols_, batch);
    batches_.push_back(std::move(batch));
  }

  // --- the recursions ------------------------------------------------------------------------------------------------

  hmm::Layer<Real> layer(const Batch& batch, std::size_t t) {
    return {batch.active[t], hidden_, emission_.data(), batch.symbol.data() + batch.first[t], possible_.data()};
  }

  std::size_t num_parts() const { return std::clamp<std::size_t>(kPartNumbers / (hidden_ * hidden_), 1, kMaxParts); }

  void forward(const Batch& batch) {
    const std::size_t rows = batch.total() + num_parts();  // room for the last part
    forward_.reserve(rows * hidden_);
    log_likelihood_.reserve(batch.rows());
    possible_.reserve(batch.rows());
    for (std::size_t t = 0; t < batch.length(); ++t) {
      Real* const values = forward_.data() + batch.first[t] * hidden_;
      if (t > 0) {
        multiply(CUBLAS_OP_N, batch.active[t], transition_.data(), forward_.data() + batch.first[t - 1] * hidden_,
                 values);
      }
      hmm::forward_rows(layer(batch, t), t == 0 ? initial_.data() : nullptr, values, log_likelihood_.data());
    }
  }

  void backward(const Batch& batch) {
    const std::size_t total = batch.total();
    weighted_.reserve((total + num_parts()) * hidden_);
    posterior_.reserve(total * hidden_);
    ahead_.reserve(batch.rows() * hidden_);
    for (std::size_t t = batch.length(); t-- > 0;) {
      const std::size_t rows_ahead = t + 1 < batch.length() ? batch.active[t + 1] : 0;
      Real* const weighted = weighted_.data() + batch.first[t] * hidden_;
      if (rows_ahead > 0) multiply(CUBLAS_OP_T, rows_ahead, transition_.data(), weighted, ahead_.data());
      hmm::backward_rows(layer(batch, t),
                         {rows_ahead, batch.weight.data(), forward_.data() + batch.first[t] * hidden_, ahead_.data(),
                          weighted, t > 0 ? weighted_.data() + batch.first[t - 1] * hidden_ : nullptr,
                          posterior_.data() + batch.first[t] * hidden_});
    }
    partials_.reserve(batch.num_partials * hidden_);
    hmm::add_rows(hidden_, posterior_.data(), batch.order.data(), batch.chunks.data(), batch.num_chunks,
                  batch.joins.data(), batch.num_joins, partials_.data(), counts_.data());
    add_moves(total);
  }

  // out (rows x H) = in (rows x H) M, M = T or its transpose. cuBLAS holds columns together, so it sees transposes
  // everywhere.
  void multiply(cublasOperation_t operation, std::size_t rows, const Real* matrix, const Real* in, Real* out) {
    const Real one = 1;
    const Real zero = 0;
    const auto h = static_cast<int>(hidden_);
    check(cublasGemmEx(cublas_, operation, CUBLAS_OP_N, h, static_cast<int>(rows), h, &one, matrix, kType, h, in, kType,
                       h, &zero, out, kType, h, compute_type(), CUBLAS_GEMM_DEFAULT));
  }

  // moves += A' W over all rows, in parts.
  void add_moves(std::size_t total) {
    const std::size_t parts = std::min(num_parts(), total);
    const std::size_t per_part = (total + parts - 1) / parts;
    const std::size_t extra = parts * per_part - total;
    for (DeviceArray<Real>* array : {&forward_, &weighted_}) {
      if (extra > 0) check(cudaMemsetAsync(array->data() + total * hidden_, 0, extra * hidden_ * sizeof(Real)));
    }
    const std::size_t size = hidden_ * hidden_;
    parts_.reserve(parts * size);
    const Real one = 1;
    const Real zero = 0;
    const auto h = static_cast<int>(hidden_);
    const auto stride = static_cast<long long>(per_part * hidden_);
    check(cublasGemmStridedBatchedEx(cublas_, CUBLAS_OP_N, CUBLAS_OP_T, h, h, static_cast<int>(per_part), &one,
                                     weighted_.data(), kType, h, stride, forward_.data(), kType, h, stride, &zero,
                                     parts_.data(), kType, h, static_cast<long long>(size), static_cast<int>(parts),
                                     compute_type(), CUBLAS_GEMM_DEFAULT));
    hmm::add_parts(size, parts, parts_.data(), moves_.data());
  }

  cublasComputeType_t compute_type() const {
    if constexpr (sizeof(Real) == sizeof(double)) return CUBLAS_COMPUTE_64F;
    return options_.precision == GpuPrecision::kTf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  }

  // --- results -------------------------------------------------------------------------------------------------------

  void take_likelihood(const Batch& batch, ExpectedCounts& result) {
    std::vector<double> log_likelihood(batch.rows());
    std::vector<unsigned char> possible(batch.rows());
    download<double>(log_likelihood_.data(), log_likelihood);
    download<unsigned char>(possible_.data(), possible);
    for (std::size_t n = 0; n < batch.rows(); ++n) {
      const double weight = batch.row_weights[n];
      if (possible[n] != 0) {
        result.log_likelihood += weight * log_likelihood[n];
        result.weight += weight;
        result.symbols += weight * static_cast<double>(batch.row_lengths[n]);
      } else {
        result.impossible += weight;
      }
    }
  }

  void take_counts(const Hmm& hmm, ExpectedCounts& result) {
    const double* const behind = counts_.data() + num_symbols_ * hidden_;
    download<double>(counts_.data(), result.emission);
    download<double>(behind, result.unread);
    download<double>(behind + hidden_, result.initial);
    download<double>(moves_.data(), result.transition);
    for (std::size_t i = 0; i < result.transition.size(); ++i) {
      result.transition[i] *= static_cast<double>(hmm.transition()[i]);
    }
  }

  static constexpr cudaDataType_t kType = sizeof(Real) == sizeof(double) ? CUDA_R_64F : CUDA_R_32F;

  CudaEngineOptions options_;
  cublasHandle_t cublas_ = nullptr;
  std::size_t hidden_ = 0;
  std::size_t num_symbols_ = 0;
  DeviceArray<Real> initial_;
  DeviceArray<Real> transition_;
  DeviceArray<Real> emission_;
  std::vector<Batch> batches_;
  std::uint64_t digest_ = 0;  // of what batches_ hold
  bool batches_are_good_ = false;
  DeviceArray<Real> forward_;    // a, all positions
  DeviceArray<Real> weighted_;   // w of position t + 1 in the place of t
  DeviceArray<Real> posterior_;  // all positions
  DeviceArray<Real> ahead_;      // b of one position
  DeviceArray<Real> parts_;      // of the counts of transitions
  DeviceArray<double> log_likelihood_;
  DeviceArray<unsigned char> possible_;
  DeviceArray<double> partials_;
  DeviceArray<double> counts_;  // emissions, what was not read, the first position
  DeviceArray<double> moves_;
};

}  // namespace

std::unique_ptr<ExpectationEngine> make_cuda_engine(const CudaEngineOptions& options) {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess || options.device < 0 || options.device >= devices) {
    throw InputError("device cuda",
                     error != cudaSuccess
                         ? str_cat("there is no GPU that this program can use: ", cudaGetErrorString(error))
                         : str_cat("there is no GPU number ", options.device, "; there are ", devices),
                     "use the CPU");
  }
  if (options.precision == GpuPrecision::kDouble) return std::make_unique<CudaEngine<double>>(options);
  return std::make_unique<CudaEngine<float>>(options);
}

}  // namespace metactrl
