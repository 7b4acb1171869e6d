// The table of a trained surrogate on an NVIDIA GPU.
//
// The recursion is that of hmm_table.h, and its numbers are scaled as there: every row has an exponent and is brought
// to a maximum in [1/2, 1) before each product. The trie (table_trie.h) is the same for every layer and goes to the GPU
// once. Then, for each layer and each block of states, deepest level first:
//
//   sum_rows       what a row's edges and children add up to (cuda_table_kernels.cu)
//   cuBLAS         one product of all rows of the level with the transitions, in 32 bits
//
// and behind level 0 finish_rows, which writes the layer and, of layers that are kept, the rows that decoding reads, in
// the place that they have in the finished table. Those come back at the end, through a few buffers that the GPU can
// write to directly; each has a thread that empties it, since touching so much new memory takes longer than all the
// work.
//
// A layer needs the states of its depth alone, which are the first so many, and so do all levels' rows. Blocks bound
// the memory for rows that are worked on, whatever the number of states.
//
// Costs: per layer and level one product, 2 H^2 operations per row, and 8 H bytes read per edge.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "hmm/cuda_device.h"
#include "hmm/cuda_memory.h"
#include "lookahead/cone.h"
#include "lookahead/cuda_table_kernels.h"
#include "lookahead/table_device.h"
#include "lookahead/table_trie.h"
#include "metactrl/lookahead.h"

namespace metactrl {

namespace {

using hmm::check;
using hmm::DeviceArray;
using internal::ids;
using internal::index;
using lookahead::ConeId;
using lookahead::DeviceRows;
using lookahead::kNoExponent;
using lookahead::TableInput;
using lookahead::TableTrie;

constexpr std::size_t kWorkBytes = std::size_t{1} << 30;      // rows of a block: sums, and as much for products
constexpr std::size_t kTransferBytes = std::size_t{8} << 20;  // of a buffer
constexpr std::size_t kTransfers = 8;                         // at a time

// Memory of this machine that the GPU can write to.
class PinnedBuffer {
 public:
  PinnedBuffer() { check(cudaHostAlloc(&data_, kTransferBytes, cudaHostAllocDefault)); }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  ~PinnedBuffer() { cudaFreeHost(data_); }
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// A stream and a handle of cuBLAS that works on it.
class Queue {
 public:
  Queue() {
    check(cublasCreate(&cublas_));
    check(cublasSetStream(cublas_, stream_.get()));
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue() { cublasDestroy(cublas_); }
  cudaStream_t stream() const { return stream_.get(); }
  cublasHandle_t cublas() const { return cublas_; }

 private:
  Stream stream_;
  cublasHandle_t cublas_ = nullptr;
};

// Brings parts of a piece of memory back, one after the other.
struct Transfer {
  PinnedBuffer buffer;
  Stream stream;

  void run(const char* from, char* to, std::size_t bytes, std::atomic<std::size_t>& next) const {
    for (std::size_t at = next.fetch_add(kTransferBytes); at < bytes; at = next.fetch_add(kTransferBytes)) {
      const std::size_t size = std::min(kTransferBytes, bytes - at);
      check(cudaMemcpyAsync(buffer.data(), from + at, size, cudaMemcpyDeviceToHost, stream.get()));
      check(cudaStreamSynchronize(stream.get()));
      std::memcpy(to + at, buffer.data(), size);
    }
  }
};

struct DeviceLevel {
  DeviceArray<std::uint32_t> first_edge;
  DeviceArray<std::uint32_t> first_child;
  DeviceArray<std::uint32_t> letter;
  DeviceArray<TableTrie::Edge> edges;
};

struct DeviceLayer {
  DeviceArray<float> values;
  DeviceArray<std::int32_t> exponents;
  DeviceRows rows() const { return {values.data(), exponents.data()}; }
  void reserve(std::size_t count, std::size_t width) {
    values.reserve(count * width);
    exponents.reserve(count);
  }
};

class CudaLookaheadDevice : public LookaheadDevice {
 public:
  explicit CudaLookaheadDevice(int number) : number_(number) {
    check(cudaSetDevice(number));
    queue_ = std::make_unique<Queue>();
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    for (std::size_t i = 0; i < std::min(kTransfers, cores); ++i) transfers_.push_back(std::make_unique<Transfer>());
  }

  void compute(const TableInput& input, std::span<float> rows, std::span<std::int32_t> exponents) const override {
    const std::lock_guard lock(mutex_);
    check(cudaSetDevice(number_));
    const TableTrie trie(input.cone, input.surrogate);
    const std::vector<std::size_t> blocks = cut(input, trie);
    reserve(input, trie, blocks, exponents.size());
    upload(input, trie);
    for (unsigned k = 0; k <= input.cone.horizon(); ++k) {
      const std::size_t count = input.cone.num_states(k);
      for (std::size_t b = 0; b + 1 < blocks.size() && blocks[b] < count; ++b) {
        run_block(input, trie, k, blocks[b], std::min(count, blocks[b + 1]));
      }
    }
    check(cudaGetLastError());
    check(cudaStreamSynchronize(queue_->stream()));
    download(kept_.values.data(), rows.data(), rows.size_bytes());
    download(kept_.exponents.data(), exponents.data(), exponents.size_bytes());
  }

 private:
  // States [result[b], result[b + 1]) have at most as many rows in each level as fit into kWorkBytes; or are one state.
  static std::vector<std::size_t> cut(const TableInput& input, const TableTrie& trie) {
    const std::size_t most = std::max<std::size_t>(1, kWorkBytes / (input.width * sizeof(float)));
    const std::size_t num_states = input.cone.num_states();
    std::vector<std::size_t> blocks{0};
    for (std::size_t s = 0; s < num_states; ++s) {
      for (const TableTrie::Level& level : trie.levels) {
        if (level.first_row[s + 1] - level.first_row[blocks.back()] <= most || s == blocks.back()) continue;
        blocks.push_back(s);
        break;
      }
    }
    if (blocks.back() < num_states) blocks.push_back(num_states);
    return blocks;
  }

  void reserve(const TableInput& input, const TableTrie& trie, std::span<const std::size_t> blocks,
               std::size_t num_kept) const {
    std::size_t most = 0;
    for (const TableTrie::Level& level : trie.levels) {
      for (std::size_t b = 0; b + 1 < blocks.size(); ++b) {
        most = std::max<std::size_t>(most, level.first_row[blocks[b + 1]] - level.first_row[blocks[b]]);
      }
    }
    sums_.reserve(most * input.width);
    products_.reserve(most * input.width);
    for (DeviceArray<std::int32_t>& exponents : exponents_) exponents.reserve(most);
    for (DeviceLayer& layer : layers_) layer.reserve(input.cone.num_states() + 1, input.width);
    kept_.reserve(num_kept, input.width);
  }

  void upload(const TableInput& input, const TableTrie& trie) const {
    const cudaStream_t stream = queue_->stream();
    const std::size_t num_states = input.cone.num_states();
    emission_.upload(input.emission, stream);
    transposed_.upload(input.transposed, stream);
    std::vector<std::uint32_t> distance(num_states);
    for (const ConeId s : ids<ConeId>(num_states)) distance[index(s)] = input.cone.distance(s);
    distance_.upload(distance, stream);
    first_kept_.upload(input.first_kept, stream);
    while (levels_.size() < trie.levels.size()) levels_.emplace_back();
    for (std::size_t d = 0; d < trie.levels.size(); ++d) {
      levels_[d].first_edge.upload(trie.levels[d].first_edge, stream);
      levels_[d].first_child.upload(trie.levels[d].first_child, stream);
      levels_[d].letter.upload(trie.levels[d].letter, stream);
      levels_[d].edges.upload(trie.levels[d].edges, stream);
    }
    for (DeviceLayer& layer : layers_) {
      check(cudaMemsetAsync(layer.values.data(), 0, (num_states + 1) * input.width * sizeof(float), stream));
      lookahead::begin_layer(num_states, input.width, kNoExponent, layer.rows(), stream);
    }
    check(cudaStreamSynchronize(stream));  // what was uploaded may go
  }

  // Layer k of the states [begin, end).
  void run_block(const TableInput& input, const TableTrie& trie, unsigned k, std::size_t begin, std::size_t end) const {
    const DeviceRows below = layers_[(k + 1) % 2].rows();
    // In layer 0 there are no actions: only the end of the plan, in level 0.
    const std::size_t num_levels = k == 0 ? 1 : trie.levels.size();
    std::uint32_t first_product = 0;
    for (std::size_t d = num_levels; d-- > 0;) {
      const TableTrie::Level& level = trie.levels[d];
      const std::uint32_t first = level.first_row[begin];
      const std::uint32_t last = level.first_row[end];
      const std::size_t count = last - first;
      const bool children = d + 1 < num_levels;
      if (count > 0) {
        const auto* const edges = reinterpret_cast<const uint2*>(levels_[d].edges.data());
        lookahead::sum_rows({.width = input.width,
                             .none = kNoExponent,
                             .begin = first,
                             .end = last,
                             .emission = emission_.data(),
                             .first_edge = levels_[d].first_edge.data(),
                             .edges = edges,
                             .below = below,
                             .first_child = children ? levels_[d].first_child.data() : nullptr,
                             .child_letter = children ? levels_[d + 1].letter.data() : nullptr,
                             .first_product = first_product,
                             .products = {products_.data(), exponents_[(d + 1) % 2].data()},
                             .sums = {sums_.data(), exponents_[d % 2].data()}},
                            queue_->stream());
        multiply(count, input.width);
      }
      first_product = first;
    }
    const bool keep = k % input.stride == 0;
    lookahead::finish_rows({.width = input.width,
                            .none = kNoExponent,
                            .begin = static_cast<std::uint32_t>(begin),
                            .end = static_cast<std::uint32_t>(end),
                            .products = {products_.data(), exponents_[0].data()},
                            .layer = layers_[k % 2].rows(),
                            .kept = keep ? kept_.rows() : DeviceRows{nullptr, nullptr},
                            .k = k,
                            .stride = input.stride,
                            .distance = distance_.data(),
                            .first_kept = first_kept_.data()},
                           queue_->stream());
  }

  // products = sums T', row by row.
  void multiply(std::size_t count, std::size_t width) const {
    const float one = 1;
    const float zero = 0;
    const auto n = static_cast<int>(width);
    check(cublasSgemm(queue_->cublas(), CUBLAS_OP_N, CUBLAS_OP_N, n, static_cast<int>(count), n, &one,
                      transposed_.data(), n, sums_.data(), n, &zero, products_.data(), n));
  }

  void download(const void* from, void* to, std::size_t bytes) const {
    std::atomic<std::size_t> next = 0;
    std::vector<std::exception_ptr> failures(transfers_.size());
    const auto work = [&](std::size_t i) noexcept {
      try {
        check(cudaSetDevice(number_));
        transfers_[i]->run(static_cast<const char*>(from), static_cast<char*>(to), bytes, next);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    };
    {
      std::vector<std::jthread> helpers;
      for (std::size_t i = 1; i < transfers_.size() && i * kTransferBytes < bytes; ++i) helpers.emplace_back(work, i);
      work(0);
    }
    for (const std::exception_ptr& failure : failures) {
      if (failure) std::rethrow_exception(failure);
    }
  }

  int number_;
  mutable std::mutex mutex_;
  std::unique_ptr<Queue> queue_;
  std::vector<std::unique_ptr<Transfer>> transfers_;
  // Of one table at a time; the memory is used again.
  mutable DeviceArray<float> emission_;
  mutable DeviceArray<float> transposed_;
  mutable DeviceArray<std::uint32_t> distance_;
  mutable DeviceArray<std::size_t> first_kept_;
  mutable std::vector<DeviceLevel> levels_;
  mutable std::array<DeviceLayer, 2> layers_;                   // the last and the one at work, by k
  mutable DeviceArray<float> sums_;                             // of a level
  mutable DeviceArray<float> products_;                         // of a level, and then of the one above
  mutable std::array<DeviceArray<std::int32_t>, 2> exponents_;  // of both, by depth
  mutable DeviceLayer kept_;
};

}  // namespace

std::shared_ptr<const LookaheadDevice> make_cuda_lookahead_device(int number) {
  hmm::open_device("lookahead device cuda", number, lookahead::kernels_error);
  return std::make_shared<CudaLookaheadDevice>(number);
}

}  // namespace metactrl
