// The sequences of an E-step as a GPU takes them: in batches that are worked on one after the other.
//
// In a batch the longest sequence comes first, so that at position t the first active[t] rows are still running; the
// rows of position t lie behind first[t] among all rows of the batch. What happens at a position and what is added to
// the counts of a symbol is laid out here, by the CPU, once; while the same sequences are asked for again, and none of
// their symbols is dropped, all of it stays on the GPU.
#ifndef METACTRL_SRC_TRAINING_CUDA_BATCH_H_
#define METACTRL_SRC_TRAINING_CUDA_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hmm/cuda_memory.h"
#include "metactrl/training/train.h"
#include "training/cuda_kernels.h"

namespace metactrl::training {

using hmm::DeviceArray;

struct Batch {
  std::vector<std::size_t> active;  // per position: rows that are so long
  std::vector<std::size_t> first;   // per position: its rows among all; one more at the end
  std::size_t num_partials = 0;     // rows of partial sums that the lists need
  BatchRows rows;                   // on the GPU
  RowLists lists;                   // on the GPU
  DeviceArray<unsigned char> memory;

  std::size_t length() const { return active.size(); }
  std::size_t num_rows() const { return active[0]; }
  std::size_t total() const { return first.back(); }
};

class BatchSet {
 public:
  // The batches of the chosen sequences. What is not read is symbol `num_symbols`. A batch has about `most` symbols, or
  // one sequence that is longer.
  std::span<const Batch> prepare(const SequenceSet& sequences, std::span<const std::uint32_t> chosen,
                                 const Dropout& dropout, std::size_t num_symbols, SymbolId end, std::size_t most);

 private:
  struct Key {
    std::uint64_t version = 0;
    std::size_t num_symbols = 0;
    std::size_t most = 0;
    bool operator==(const Key&) const = default;
  };
  struct Source;
  // Which rows are added to which target; see RowLists.
  struct Lists {
    std::vector<std::uint32_t> order;
    std::vector<Chunk> chunks;
    std::vector<Join> joins;
    std::uint32_t partials = 0;
  };

  void sort_by_length(const SequenceSet& sequences, std::span<const std::uint32_t> chosen);
  void make_lists(std::size_t num_symbols, std::size_t rows);
  void fill(const Source& source, std::span<const std::uint32_t> numbers, Batch& batch);

  std::vector<Batch> batches_;  // memory is kept: more than are in use
  std::size_t in_use_ = 0;
  bool good_ = false;  // for key_ and chosen_
  Key key_;
  std::vector<std::uint32_t> chosen_;
  // While batches are made; kept, for memory that is new is slow.
  std::vector<std::uint32_t> sorted_;
  std::vector<std::uint32_t> symbols_;
  std::vector<std::uint32_t> read_;
  std::vector<std::uint32_t> begin_;
  std::vector<std::uint32_t> next_;
  Lists lists_;
  std::vector<unsigned char> packed_;
};

}  // namespace metactrl::training

#endif  // METACTRL_SRC_TRAINING_CUDA_BATCH_H_
