// The E-step on the CPU.
//
// Sequences are taken in batches; the batches, and the order in which their counts are added, are fixed by the input,
// so that the result is the same for any number of threads. A batch's sequences are sorted by length, longest first: at
// position t the first n_t rows are active, and a layer is a product of n_t x H and H x H.
//
//   forward    a_0 = initial o e(x_0);   a_t = (a_(t-1) T) o e(x_t);   each row scaled to sum 1, the scales are the
//              likelihood
//   backward   b_last = 1;   w_t = e(x_t) o b_t;   b_(t-1) = w_t T';   each row scaled to maximum 1
//   counts     emission(x_t) += a_t o b_t / (a_t . b_t);   transition += T o sum over rows of (a_(t-1) . b_(t-1))^-1
//              a_(t-1)' w_t, which is a product of H x n_t and n_t x H
//
// where o is elementwise. Forward and backward rows are scaled on their own, so neither overflows; a row whose product
// a . b is zero belongs to a sequence of probability zero (at the precision in use) and counts as impossible. A symbol
// that was dropped has the "emission" 1 - e(end): anything but the end.
//
// Batches are dealt out to lanes, each with counts of its own in double; lanes are summed in the order of a tree
// (partial_sums.h). How many lanes there are follows from the input. A process of a group works on its share of them.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include "hmm/gemm.h"
#include "metactrl/training/train.h"
#include "support/meter.h"
#include "training/names.h"
#include "training/partial_sums.h"
#include "training/step_rules.h"

namespace metactrl {

ExpectedCounts::ExpectedCounts(std::size_t hidden, std::size_t symbols)
    : hidden(hidden),
      initial(symbols > 0 ? hidden : 0),
      transition(symbols > 0 ? hidden * hidden : 0),
      emission(symbols * hidden),
      unread(symbols > 0 ? hidden : 0) {}

void ExpectedCounts::add(const ExpectedCounts& other) {
  const auto add_all = [](std::vector<double>& to, const std::vector<double>& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  add_all(initial, other.initial);
  add_all(transition, other.transition);
  add_all(emission, other.emission);
  add_all(unread, other.unread);
  log_likelihood += other.log_likelihood;
  symbols += other.symbols;
  weight += other.weight;
  impossible += other.impossible;
}

namespace {

constexpr std::size_t kBatchSequences = 96;
constexpr std::size_t kBatchSymbols = 16384;
constexpr std::size_t kLanes = 16;          // where there are as many batches
constexpr std::size_t kBatchesPerLane = 4;  // where there are more than so many in each
constexpr std::size_t kMostLanes = 256;
constexpr std::size_t kFewestLanes = 8;                     // even where the counts of one are large
constexpr std::size_t kCountBytes = std::size_t{2} << 30U;  // for all counts
using training::kUnread;

// The parameters, padded and in the layouts that the products need.
template <typename Real>
struct Layout {
  explicit Layout(const Hmm& hmm)
      : hidden(hmm.num_hidden()),
        width(hmm::padded(hidden)),
        initial(width),
        transition(width * width),
        transposed(width * width),
        emission(hmm.num_symbols() * width),
        not_end(width) {
    for (std::size_t z = 0; z < hidden; ++z) {
      initial[z] = static_cast<Real>(hmm.initial()[z]);
      for (std::size_t to = 0; to < hidden; ++to) {
        transition[z * width + to] = transposed[to * width + z] = static_cast<Real>(hmm.transition()[z * hidden + to]);
      }
      not_end[z] = static_cast<Real>(1) - static_cast<Real>(hmm.emission(hmm.alphabet().end)[z]);
    }
    for (std::size_t symbol = 0; symbol < hmm.num_symbols(); ++symbol) {
      const std::span<const float> row = hmm.emission(SymbolId{static_cast<std::uint32_t>(symbol)});
      for (std::size_t z = 0; z < hidden; ++z) emission[symbol * width + z] = static_cast<Real>(row[z]);
    }
  }
  const Real* emitted(std::uint32_t symbol) const {
    return symbol == kUnread ? not_end.data() : emission.data() + symbol * width;
  }

  std::size_t hidden;
  std::size_t width;
  std::vector<Real> initial;
  std::vector<Real> transition;
  std::vector<Real> transposed;
  std::vector<Real> emission;
  std::vector<Real> not_end;
};

// One batch at a time.
template <typename Real>
class BatchWorker {
 public:
  BatchWorker(const Layout<Real>& layout, const Hmm& hmm, const SequenceSet& sequences, const Dropout& dropout)
      : layout_(layout), width_(layout.width), end_(hmm.alphabet().end), sequences_(sequences), dropout_(dropout) {}

  // Adds to `counts`; only the likelihood when its vectors are empty.
  void run(std::span<const std::uint32_t> batch, ExpectedCounts& counts) {
    load(batch);
    forward();
    if (!counts.initial.empty()) {
      moves_.assign(width_ * width_, Real{0});
      backward(counts);
      for (std::size_t from = 0; from < layout_.hidden; ++from) {
        for (std::size_t to = 0; to < layout_.hidden; ++to) {
          const std::size_t at = from * width_ + to;
          counts.transition[from * layout_.hidden + to] +=
              static_cast<double>(moves_[at]) * static_cast<double>(layout_.transition[at]);
        }
      }
    }
    for (const Row& row : rows_) {
      if (row.possible) {
        counts.log_likelihood += row.weight * row.log_likelihood;
        counts.weight += row.weight;
        counts.symbols += row.weight * static_cast<double>(row.symbols.size());
      } else {
        counts.impossible += row.weight;
      }
    }
  }

 private:
  struct Row {
    std::vector<std::uint32_t> symbols;
    double weight = 0;
    double log_likelihood = 0;
    bool possible = true;
  };

  void load(std::span<const std::uint32_t> batch) {
    rows_.resize(batch.size());
    for (std::size_t n = 0; n < batch.size(); ++n) {
      const std::span<const SymbolId> sequence = sequences_[batch[n]];
      Row& row = rows_[n];
      row.weight = sequences_.weight(batch[n]);
      row.log_likelihood = 0;
      row.possible = true;
      row.symbols.clear();
      training::read_symbols(sequence, batch[n], dropout_, end_, row.symbols);
    }
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const Row& a, const Row& b) { return a.symbols.size() > b.symbols.size(); });
    const std::size_t length = rows_.front().symbols.size();
    first_.assign(length + 1, 0);
    active_.assign(length, 0);
    for (std::size_t t = 0; t < length; ++t) {
      while (active_[t] < rows_.size() && rows_[active_[t]].symbols.size() > t) ++active_[t];
      first_[t + 1] = first_[t] + active_[t];
    }
    forward_.resize(first_[length] * width_);
  }

  std::size_t length() const { return active_.size(); }
  Real* forward_at(std::size_t t) { return forward_.data() + first_[t] * width_; }

  void forward() {
    for (std::size_t t = 0; t < length(); ++t) {
      Real* const layer = forward_at(t);
      if (t == 0) {
        for (std::size_t n = 0; n < active_[0]; ++n) {
          std::copy(layout_.initial.begin(), layout_.initial.end(), layer + n * width_);
        }
      } else {
        hmm::multiply(active_[t], width_, width_, forward_at(t - 1), width_, std::size_t{1}, layout_.transition.data(),
                      width_, layer, width_, false);
      }
      for (std::size_t n = 0; n < active_[t]; ++n) scale_forward(rows_[n], t, layer + n * width_);
    }
  }

  void scale_forward(Row& row, std::size_t t, Real* values) {
    const Real* const emitted = layout_.emitted(row.symbols[t]);
    double sum = 0;
    for (std::size_t z = 0; z < width_; ++z) {
      values[z] *= emitted[z];
      sum += static_cast<double>(values[z]);
    }
    row.possible = row.possible && sum > 0;
    if (!row.possible) return;
    row.log_likelihood += std::log(sum);
    const auto scale = static_cast<Real>(1 / sum);
    for (std::size_t z = 0; z < width_; ++z) values[z] *= scale;
  }

  void backward(ExpectedCounts& counts) {
    backward_.resize(rows_.size() * width_);
    weighted_.resize(rows_.size() * width_);
    for (std::size_t t = length(); t-- > 0;) {
      const std::size_t from = t + 1 < length() ? active_[t + 1] : 0;
      std::fill(backward_.begin() + static_cast<std::ptrdiff_t>(from * width_),
                backward_.begin() + static_cast<std::ptrdiff_t>(active_[t] * width_), Real{1});
      for (std::size_t n = 0; n < active_[t]; ++n) count_row(n, t, counts);
      if (t == 0) return;
      hmm::multiply(active_[t], width_, width_, weighted_.data(), width_, std::size_t{1}, layout_.transposed.data(),
                    width_, backward_.data(), width_, false);
      for (std::size_t n = 0; n < active_[t]; ++n) scale_backward(n, t);
      hmm::multiply(width_, width_, active_[t], forward_at(t - 1), std::size_t{1}, width_, weighted_.data(), width_,
                    moves_.data(), width_, true);
    }
  }

  // The posterior at position t, and w_t for the layer below.
  void count_row(std::size_t n, std::size_t t, ExpectedCounts& counts) {
    const Row& row = rows_[n];
    const Real* const ahead = backward_.data() + n * width_;
    const Real* const behind = forward_at(t) + n * width_;
    const Real* const emitted = layout_.emitted(row.symbols[t]);
    Real* const weighted = weighted_.data() + n * width_;
    for (std::size_t z = 0; z < width_; ++z) weighted[z] = emitted[z] * ahead[z];
    double product = 0;
    for (std::size_t z = 0; z < width_; ++z) product += static_cast<double>(behind[z]) * static_cast<double>(ahead[z]);
    if (!row.possible || !(product > 0)) return;
    const double share = row.weight / product;
    double* const emission =
        row.symbols[t] == kUnread ? counts.unread.data() : counts.emission.data() + row.symbols[t] * layout_.hidden;
    for (std::size_t z = 0; z < layout_.hidden; ++z) {
      const double value = share * static_cast<double>(behind[z]) * static_cast<double>(ahead[z]);
      emission[z] += value;
      if (t == 0) counts.initial[z] += value;
    }
  }

  // Behind the product, backward_ holds b_(t-1) before scaling. Scales it, and w_t for the counts of transitions.
  void scale_backward(std::size_t n, std::size_t t) {
    Row& row = rows_[n];
    Real* const ahead = backward_.data() + n * width_;
    Real* const weighted = weighted_.data() + n * width_;
    const Real* const behind = forward_at(t - 1) + n * width_;
    double product = 0;
    Real largest = 0;
    for (std::size_t z = 0; z < width_; ++z) {
      product += static_cast<double>(behind[z]) * static_cast<double>(ahead[z]);
      largest = std::max(largest, ahead[z]);
    }
    row.possible = row.possible && product > 0;
    const auto share = static_cast<Real>(row.possible ? row.weight / product : 0);
    const Real scale = largest > 0 ? 1 / largest : Real{0};
    for (std::size_t z = 0; z < width_; ++z) {
      weighted[z] *= share;
      ahead[z] *= scale;
    }
  }

  const Layout<Real>& layout_;
  const std::size_t width_;
  const SymbolId end_;
  const SequenceSet& sequences_;
  const Dropout dropout_;
  std::vector<Row> rows_;            // longest first
  std::vector<std::size_t> active_;  // per position: rows that are so long
  std::vector<std::size_t> first_;   // per position: where its rows begin in forward_
  std::vector<Real> forward_;
  std::vector<Real> backward_;
  std::vector<Real> weighted_;
  std::vector<Real> moves_;
};

template <typename Real>
class CpuEngine : public ExpectationEngine {
 public:
  CpuEngine(unsigned threads, ProcessGroup* group)
      : threads_(threads > 0 ? threads : std::thread::hardware_concurrency()),
        group_(group != nullptr ? *group : alone_) {}

  ExpectedCounts expectation(const Hmm& hmm, const SequenceSet& sequences, std::span<const std::uint32_t> chosen,
                             const Dropout& dropout) override {
    return run(hmm, sequences, chosen, dropout, hmm.num_symbols(), stop_);
  }

  ExpectedCounts likelihood(const Hmm& hmm, const SequenceSet& sequences) override {
    std::vector<std::uint32_t> all(sequences.size());
    std::iota(all.begin(), all.end(), 0U);
    return run(hmm, sequences, all, {}, 0, {});
  }

  std::unique_ptr<ModelInTraining> begin(Hmm start, const TrainOptions& options) override {
    stop_ = options.stop;
    return ExpectationEngine::begin(std::move(start), options);
  }

 private:
  using Batch = std::span<const std::uint32_t>;

  static std::vector<Batch> batches(const SequenceSet& sequences, std::span<const std::uint32_t> chosen) {
    std::vector<Batch> result;
    std::size_t begin = 0;
    std::size_t symbols = 0;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const std::size_t length = sequences[chosen[i]].size();
      if (i > begin && (i - begin == kBatchSequences || symbols + length > kBatchSymbols)) {
        result.push_back(chosen.subspan(begin, i - begin));
        begin = i;
        symbols = 0;
      }
      symbols += length;
    }
    if (begin < chosen.size()) result.push_back(chosen.subspan(begin));
    return result;
  }

  // A lane for every few batches. Sums keep one set of counts for each level of their tree: at most half of what there
  // is memory for.
  static std::size_t num_lanes(std::size_t batches, std::size_t bytes) {
    std::size_t lanes = std::clamp(batches / kBatchesPerLane, kLanes, kMostLanes);
    while (lanes > kFewestLanes && 2 * std::bit_width(lanes - 1) * bytes > kCountBytes) lanes = (lanes + 1) / 2;
    return std::clamp<std::size_t>(batches, 1, lanes);
  }

  // `symbols` is 0 when no counts are wanted.
  ExpectedCounts run(const Hmm& hmm, const SequenceSet& sequences, std::span<const std::uint32_t> chosen,
                     const Dropout& dropout, std::size_t symbols, const Stop& stop) {
    const Layout<Real> layout(hmm);
    const std::vector<Batch> all = batches(sequences, chosen);
    const std::size_t bytes = (symbols + hmm.num_hidden()) * hmm.num_hidden() * sizeof(double);
    const std::size_t lanes = num_lanes(all.size(), bytes);
    const training::Range own = training::share_of(lanes, group_.rank(), group_.size());
    training::PartialSums sums(lanes, hmm.num_hidden(), symbols);
    std::atomic<std::size_t> next = own.first;
    std::exception_ptr failure;
    std::mutex mutex;
    std::atomic<bool> over = false;
    const auto work = [&](const internal::Meter& meter) {
      try {
        BatchWorker<Real> worker(layout, hmm, sequences, dropout);
        for (std::size_t lane = next++; lane < own.last; lane = next++) {
          ExpectedCounts counts(hmm.num_hidden(), symbols);
          for (std::size_t batch = lane; batch < all.size() && !over; batch += lanes) {
            meter.ask();
            worker.run(all[batch], counts);
          }
          if (over) return;
          sums.add(lane, std::move(counts));
        }
      } catch (...) {
        over = true;
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
      }
    };
    const std::size_t sets = kCountBytes / bytes;
    const auto levels = static_cast<std::size_t>(std::bit_width(lanes - 1));
    const std::size_t busy = std::min<std::size_t>({threads_, own.last - own.first, sets > levels ? sets - levels : 1});
    {
      std::vector<std::jthread> helpers;
      for (std::size_t i = 1; i < busy; ++i) helpers.emplace_back([&work] { work(internal::Meter()); });
      // Others would wait for this process: with them, nobody stops in the middle.
      work(internal::Meter(group_.size() == 1 ? stop : Stop()));
    }
    if (failure) std::rethrow_exception(failure);
    return sums.sum_over(group_);
  }

  SingleProcess alone_;
  unsigned threads_;
  ProcessGroup& group_;
  Stop stop_;
};

}  // namespace

const char* to_string(GpuPrecision precision) { return internal::name_of(precision); }

std::unique_ptr<ExpectationEngine> make_cpu_engine(const CpuEngineOptions& options) {
  if (options.double_precision) return std::make_unique<CpuEngine<double>>(options.threads, options.group);
  return std::make_unique<CpuEngine<float>>(options.threads, options.group);
}

}  // namespace metactrl
