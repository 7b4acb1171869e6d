// How batches are made.
//
// Sequences are sorted by length, longest first, by counting, and cut into batches of about as many symbols each. What
// a batch needs on the GPU is laid out in one piece of memory and goes there in one copy.
//
// The posterior of every row is added to the counts of its symbol. So that many threads can do so in an order that is
// always the same, each symbol has the list of its rows, in order; lists longer than kChunk are cut into chunks with
// partial sums, which are joined afterwards. Behind the alphabet come two more targets: what was not read, and the
// first position.
#include "training/cuda_batch.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "training/step_rules.h"

namespace metactrl::training {

namespace {

constexpr std::size_t kBatchRows = std::size_t{1} << 16;

// Arrays one behind the other, each at a multiple of 16 bytes.
class Packer {
 public:
  explicit Packer(std::vector<unsigned char>& bytes) : bytes_(bytes) { bytes_.clear(); }

  template <typename T>
  std::size_t add(const std::vector<T>& values) {
    const std::size_t at = (bytes_.size() + 15) / 16 * 16;
    bytes_.resize(at + values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(bytes_.data() + at, values.data(), values.size() * sizeof(T));
    return at;
  }

 private:
  std::vector<unsigned char>& bytes_;
};

}  // namespace

struct BatchSet::Source {
  const SequenceSet& sequences;
  const Dropout& dropout;
  std::size_t num_symbols;
  SymbolId end;
};

std::span<const Batch> BatchSet::prepare(const SequenceSet& sequences, std::span<const std::uint32_t> chosen,
                                         const Dropout& dropout, std::size_t num_symbols, SymbolId end,
                                         std::size_t most) {
  const Key key{sequences.version(), num_symbols, most};
  const bool same = good_ && dropout.probability == 0 && key == key_ && std::ranges::equal(chosen, chosen_);
  if (same) return std::span(batches_).first(in_use_);
  good_ = false;
  in_use_ = 0;
  sort_by_length(sequences, chosen);
  const Source source{sequences, dropout, num_symbols, end};
  std::size_t left = 0;
  for (const std::uint32_t number : sorted_) left += sequences[number].size();
  for (std::size_t begin = 0; begin < sorted_.size();) {
    // As many batches as it takes, and each about as large as the others.
    const std::size_t share = left / ((left + most - 1) / most);
    std::size_t total = 0;
    std::size_t last = begin;
    while (last < sorted_.size() && last - begin < kBatchRows && (total < share || last == begin)) {
      total += sequences[sorted_[last++]].size();
    }
    if (in_use_ == batches_.size()) batches_.emplace_back();
    fill(source, std::span(sorted_).subspan(begin, last - begin), batches_[in_use_++]);
    left -= total;
    begin = last;
  }
  good_ = dropout.probability == 0;
  if (good_) {
    key_ = key;
    chosen_.assign(chosen.begin(), chosen.end());
  }
  return std::span(batches_).first(in_use_);
}

void BatchSet::sort_by_length(const SequenceSet& sequences, std::span<const std::uint32_t> chosen) {
  std::size_t longest = 0;
  for (const std::uint32_t number : chosen) longest = std::max(longest, sequences[number].size());
  std::vector<std::size_t> next(longest + 2);  // where the next sequence that is so much shorter than the longest goes
  for (const std::uint32_t number : chosen) ++next[longest - sequences[number].size() + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  sorted_.resize(chosen.size());
  for (const std::uint32_t number : chosen) sorted_[next[longest - sequences[number].size()]++] = number;
}

void BatchSet::make_lists(std::size_t num_symbols, std::size_t rows) {
  const std::size_t total = symbols_.size();
  begin_.assign(num_symbols + 3, 0);
  for (const std::uint32_t symbol : symbols_) ++begin_[symbol + 1];
  begin_[num_symbols + 2] = static_cast<std::uint32_t>(rows);
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  lists_.order.resize(total + rows);
  next_.assign(begin_.begin(), begin_.end() - 1);
  for (std::uint32_t i = 0; i < total; ++i) lists_.order[next_[symbols_[i]]++] = i;
  std::iota(lists_.order.begin() + static_cast<std::ptrdiff_t>(total), lists_.order.end(), 0U);
  lists_.chunks.clear();
  lists_.joins.clear();
  lists_.partials = 0;
  for (std::uint32_t target = 0; target + 1 < begin_.size(); ++target) {
    const std::uint32_t last = begin_[target + 1];
    const bool several = last - begin_[target] > kChunk;
    const std::uint32_t before = lists_.partials;
    for (std::uint32_t i = begin_[target]; i < last; i += kChunk) {
      const std::int32_t partial = several ? static_cast<std::int32_t>(lists_.partials++) : -1;
      lists_.chunks.push_back({i, std::min(last, i + kChunk), target, partial});
    }
    if (several) lists_.joins.push_back({before, lists_.partials, target});
  }
}

void BatchSet::fill(const Source& source, std::span<const std::uint32_t> numbers, Batch& batch) {
  std::vector<double> weights;
  std::vector<std::uint32_t> lengths;
  for (const std::uint32_t number : numbers) {
    weights.push_back(source.sequences.weight(number));
    lengths.push_back(static_cast<std::uint32_t>(source.sequences[number].size()));
  }
  batch.active.assign(lengths[0], 0);
  batch.first.assign(1, 0);
  std::vector<std::uint32_t> first(1, 0);
  std::size_t rows = numbers.size();
  for (std::size_t t = 0; t < batch.active.size(); ++t) {
    while (lengths[rows - 1] <= t) --rows;
    batch.active[t] = rows;
    batch.first.push_back(batch.first.back() + rows);
    first.push_back(static_cast<std::uint32_t>(batch.first.back()));
  }
  symbols_.resize(batch.total());
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    if (source.dropout.probability == 0) {
      const std::span<const SymbolId> sequence = source.sequences[numbers[n]];
      for (std::size_t t = 0; t < sequence.size(); ++t) {
        symbols_[batch.first[t] + n] = static_cast<std::uint32_t>(sequence[t]);
      }
      continue;
    }
    read_.clear();
    read_symbols(source.sequences[numbers[n]], numbers[n], source.dropout, source.end, read_);
    for (std::size_t t = 0; t < read_.size(); ++t) {
      symbols_[batch.first[t] + n] = read_[t] == kUnread ? static_cast<std::uint32_t>(source.num_symbols) : read_[t];
    }
  }
  make_lists(source.num_symbols, numbers.size());
  Packer packer(packed_);
  const std::size_t symbol_at = packer.add(symbols_);
  const std::size_t weight_at = packer.add(weights);
  const std::size_t length_at = packer.add(lengths);
  const std::size_t first_at = packer.add(first);
  const std::size_t order_at = packer.add(lists_.order);
  const std::size_t chunks_at = packer.add(lists_.chunks);
  const std::size_t joins_at = packer.add(lists_.joins);
  const unsigned char* const memory = batch.memory.upload(packed_);
  // The copy has left packed_ when the call returns: it is ordinary memory.
  const auto words = [&](std::size_t at) { return reinterpret_cast<const std::uint32_t*>(memory + at); };
  batch.rows = {numbers.size(), words(symbol_at), reinterpret_cast<const double*>(memory + weight_at), words(length_at),
                words(first_at)};
  batch.lists = {words(order_at), reinterpret_cast<const Chunk*>(memory + chunks_at), lists_.chunks.size(),
                 reinterpret_cast<const Join*>(memory + joins_at), lists_.joins.size()};
  batch.num_partials = lists_.partials;
}

}  // namespace metactrl::training
