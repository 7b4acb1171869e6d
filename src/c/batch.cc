// Batches: rows are independent, so they are handed out one by one to whichever thread is free. The threads of a pool sleep
// between batches; the caller works, too, and a small batch is its own: waking somebody takes as long as a few rows.
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "c/handles.h"

namespace metactrl::c {

namespace {

// Rows for which another thread is woken.
constexpr std::size_t kRowsPerThread = 4;

class Workers {
 public:
  explicit Workers(unsigned threads) : process_(::getpid()) {
    for (unsigned i = 1; i < threads; ++i) threads_.emplace_back([this] { serve(); });
  }
  ~Workers() {
    {
      const std::scoped_lock lock(mutex_);
      over_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Not in a process that was forked since: it has none of the threads, and what they wait on can be in any state.
  bool is_ours() const { return ::getpid() == process_; }

  // work(i) for all i below `rows`; it must not throw.
  void run(std::size_t rows, const std::function<void(std::size_t)>& work) {
    const std::size_t helpers = std::min(threads_.size(), rows / kRowsPerThread);
    if (helpers == 0 || !is_ours()) {
      for (std::size_t row = 0; row < rows; ++row) work(row);
      return;
    }
    const std::scoped_lock one_batch(batch_mutex_);
    {
      const std::scoped_lock lock(mutex_);
      work_ = &work;
      rows_ = rows;
      next_.store(0, std::memory_order_relaxed);
      wanted_ = helpers;
      ++batch_;
    }
    wake_.notify_all();
    drain(work, rows);
    std::unique_lock lock(mutex_);
    wanted_ = 0;  // whoever is not awake yet need not come
    idle_.wait(lock, [this] { return working_ == 0; });
    work_ = nullptr;
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    std::uint64_t seen = 0;
    while (true) {
      wake_.wait(lock, [&] { return over_ || (batch_ != seen && wanted_ > 0); });
      if (over_) return;
      seen = batch_;
      --wanted_;
      ++working_;
      const std::function<void(std::size_t)>& work = *work_;
      const std::size_t rows = rows_;
      lock.unlock();
      drain(work, rows);
      lock.lock();
      if (--working_ == 0) idle_.notify_all();
    }
  }

  void drain(const std::function<void(std::size_t)>& work, std::size_t rows) {
    for (std::size_t row = next_.fetch_add(1); row < rows; row = next_.fetch_add(1)) work(row);
  }

  const pid_t process_;
  std::vector<std::thread> threads_;
  std::mutex batch_mutex_;
  std::mutex mutex_;  // guards all below but next_
  std::condition_variable wake_;
  std::condition_variable idle_;
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::size_t rows_ = 0;
  std::atomic<std::size_t> next_{0};
  std::size_t wanted_ = 0;
  std::size_t working_ = 0;
  std::uint64_t batch_ = 0;
  bool over_ = false;
};

}  // namespace

}  // namespace metactrl::c

// NOLINTNEXTLINE(readability-identifier-naming): named by the C interface.
struct metactrl_pool : metactrl::c::Handle<metactrl::c::Kind::kPool> {
  explicit metactrl_pool(unsigned threads) : workers(std::make_unique<metactrl::c::Workers>(threads)) {}
  std::unique_ptr<metactrl::c::Workers> workers;
};

namespace metactrl::c {

namespace {

struct Batch {
  metactrl_pool* pool;
  metactrl_decoder* const* decoders;
  std::size_t num_rows;
  const std::int32_t* tokens;
  std::uint32_t flags;
  std::int32_t* counts;
};

// A decoder that is in two rows would depend on which of them comes first.
void check_decoders(metactrl_decoder* const* decoders, std::size_t num_rows) {
  check_array(decoders, num_rows, "decoders");
  std::vector<const metactrl_decoder*> sorted;
  for (std::size_t row = 0; row < num_rows; ++row) {
    if (decoders[row] != nullptr) sorted.push_back(&live(decoders[row], "decoder"));
  }
  std::sort(sorted.begin(), sorted.end(), std::less<>());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    throw ArgumentError("a decoder is in two rows");
  }
}

// Everything that can be wrong with the call is found before the first row is touched.
template <typename CheckRow>
void check_batch(const Batch& batch, const CheckRow& check_row) {
  if (batch.pool != nullptr) live(batch.pool, "pool");
  check_decoders(batch.decoders, batch.num_rows);
  check_array(batch.counts, batch.num_rows, "counts");
  if ((batch.flags & ~static_cast<std::uint32_t>(METACTRL_BATCH_KEEP_ENDING)) != 0) {
    throw ArgumentError(internal::str_cat("there are no such flags: ", batch.flags));
  }
  for (std::size_t row = 0; row < batch.num_rows; ++row) {
    if (batch.decoders[row] != nullptr) check_row(*batch.decoders[row]);
  }
}

template <typename Work>
void run_rows(metactrl_pool* pool, std::size_t rows, const Work& work) {
  if (pool == nullptr) {
    for (std::size_t row = 0; row < rows; ++row) work(row);
  } else {
    pool->workers->run(rows, work);
  }
}

// The tokens that may come behind what the row takes first.
std::span<const NextToken> step_row(metactrl_decoder& decoder, const Batch& batch, std::size_t row,
                                    std::vector<NextToken>& endings) {
  const std::int32_t token = batch.tokens == nullptr ? -1 : batch.tokens[row];
  const bool was_finished = decoder.decoder.finished();
  if (token >= 0 && !decoder.lost && !was_finished && !decoder.decoder.accept(TokenId{token})) decoder.lost = true;
  const bool keep = (batch.flags & METACTRL_BATCH_KEEP_ENDING) != 0 && !decoder.lost && decoder.decoder.finished();
  if (!keep) return next_of(decoder);
  for (const TokenId end : decoder.decoder.constraint().vocabulary().end_of_turn()) endings.push_back({end, 0});
  return endings;
}

// write(row, choices) for every row that has a decoder; with no choices, and after them, where something goes wrong.
template <typename Write>
void step_rows(const Batch& batch, const Write& write) {
  run_rows(batch.pool, batch.num_rows, [&](std::size_t row) {
    if (batch.decoders[row] == nullptr) {
      batch.counts[row] = 0;
      return;
    }
    const metactrl_status status = guarded(nullptr, [&] {
      const Held held(batch.decoders[row]);
      std::vector<NextToken> endings;
      const std::span<const NextToken> choices = step_row(*held, batch, row, endings);
      write(row, choices);
      batch.counts[row] = static_cast<std::int32_t>(choices.size());
    });
    if (status == METACTRL_OK) return;
    write(row, {});
    batch.counts[row] = -status;
  });
}

// Where the rows of a batch are sent: row i's tokens are ids[offsets[i]] to ids[offsets[i + 1]].
struct Moves {
  metactrl_pool* pool;
  metactrl_decoder* const* decoders;
  std::size_t num_rows;
  const std::int32_t* ids;
  const std::uint64_t* offsets;
  std::int64_t* reached;
};

// send(decoder, row, tokens) for every row that has a decoder: behind how many tokens it is then.
template <typename Send>
void send_rows(const Moves& moves, const Send& send) {
  if (moves.pool != nullptr) live(moves.pool, "pool");
  check_decoders(moves.decoders, moves.num_rows);
  if (moves.num_rows == 0) return;
  required(moves.offsets, "offsets");
  for (std::size_t row = 0; row < moves.num_rows; ++row) {
    if (moves.offsets[row] > moves.offsets[row + 1]) throw ArgumentError("offsets decrease");
  }
  check_array(moves.ids, moves.offsets[moves.num_rows], "ids");
  run_rows(moves.pool, moves.num_rows, [&](std::size_t row) {
    moves.reached[row] = 0;
    if (moves.decoders[row] == nullptr) return;
    const metactrl_status status = guarded(nullptr, [&] {
      const Held held(moves.decoders[row]);
      const std::uint64_t begin = moves.offsets[row];
      const std::span<const std::int32_t> tokens(moves.ids + begin, moves.offsets[row + 1] - begin);
      moves.reached[row] = static_cast<std::int64_t>(send(*held, row, tokens));
    });
    if (status != METACTRL_OK) moves.reached[row] = -status;
  });
}

}  // namespace

}  // namespace metactrl::c

using metactrl::c::guarded;

metactrl_status metactrl_pool_new(uint32_t threads, metactrl_pool** out, metactrl_error** error) {
  return guarded(error, [&] {
    metactrl::c::required(out, "out");
    if (threads > 1024) throw metactrl::c::ArgumentError("a pool has at most 1024 threads");
    const unsigned count = threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
    *out = std::make_unique<metactrl_pool>(count).release();
  });
}

void metactrl_pool_free(metactrl_pool* pool) {
  if (pool == nullptr || !pool->is_live()) return;
  // The parent's threads cannot be ended from here; their memory is left to the end of the process.
  if (!pool->workers->is_ours()) static_cast<void>(pool->workers.release());
  delete pool;
}

metactrl_status metactrl_batch_next(metactrl_pool* pool, metactrl_decoder* const* decoders, size_t num_rows,
                                    const int32_t* tokens, uint32_t flags, int32_t* ids, float* log_weights,
                                    size_t capacity, int32_t* counts, metactrl_error** error) {
  return guarded(error, [&] {
    const metactrl::c::Batch batch{pool, decoders, num_rows, tokens, flags, counts};
    metactrl::c::check_batch(batch, [](const metactrl_decoder&) {});
    if (capacity > 0 && num_rows > PTRDIFF_MAX / sizeof(float) / capacity) {
      throw metactrl::c::ArgumentError("so many rows of this capacity cannot be");
    }
    metactrl::c::check_array(ids, num_rows * capacity, "ids");
    metactrl::c::step_rows(batch, [&](std::size_t row, std::span<const metactrl::NextToken> choices) {
      for (std::size_t i = 0; i < choices.size() && i < capacity; ++i) {
        ids[row * capacity + i] = static_cast<std::int32_t>(choices[i].token);
        if (log_weights != nullptr) log_weights[row * capacity + i] = static_cast<float>(choices[i].log_weight);
      }
    });
  });
}

metactrl_status metactrl_batch_fill_bitmask(metactrl_pool* pool, metactrl_decoder* const* decoders, size_t num_rows,
                                            const int32_t* tokens, uint32_t flags, int32_t* words, size_t words_per_row,
                                            int32_t* counts, metactrl_error** error) {
  return guarded(error, [&] {
    const metactrl::c::Batch batch{pool, decoders, num_rows, tokens, flags, counts};
    metactrl::c::check_batch(batch, [&](const metactrl_decoder& decoder) {
      metactrl::c::check_array(words, words_per_row, "words");
      metactrl::c::check_bitmask_size(words_per_row, decoder);
    });
    metactrl::c::step_rows(batch, [&](std::size_t row, std::span<const metactrl::NextToken> choices) {
      metactrl::c::fill_bitmask(choices, std::span(words + row * words_per_row, words_per_row));
    });
  });
}

metactrl_status metactrl_batch_fill_bias(metactrl_pool* pool, metactrl_decoder* const* decoders, size_t num_rows,
                                         const int32_t* tokens, uint32_t flags, float* rows, size_t row_size,
                                         int32_t* counts, metactrl_error** error) {
  return guarded(error, [&] {
    const metactrl::c::Batch batch{pool, decoders, num_rows, tokens, flags, counts};
    metactrl::c::check_batch(batch, [&](const metactrl_decoder& decoder) {
      metactrl::c::check_array(rows, row_size, "rows");
      metactrl::c::check_row_size(row_size, decoder);
    });
    metactrl::c::step_rows(batch, [&](std::size_t row, std::span<const metactrl::NextToken> choices) {
      metactrl::c::fill_bias(choices, std::span(rows + row * row_size, row_size));
    });
  });
}

metactrl_status metactrl_batch_seek(metactrl_pool* pool, metactrl_decoder* const* decoders, size_t num_rows,
                                    const int32_t* ids, const uint64_t* offsets, int64_t* taken,
                                    metactrl_error** error) {
  return guarded(error, [&] {
    metactrl::c::check_array(taken, num_rows, "taken");
    metactrl::c::send_rows({pool, decoders, num_rows, ids, offsets, taken},
                           [](metactrl_decoder& decoder, std::size_t, std::span<const std::int32_t> wanted) {
                             return metactrl::c::seek(decoder, wanted);
                           });
  });
}

metactrl_status metactrl_batch_move(metactrl_pool* pool, metactrl_decoder* const* decoders, size_t num_rows,
                                    const uint64_t* keep, const int32_t* ids, const uint64_t* offsets, int64_t* reached,
                                    metactrl_error** error) {
  return guarded(error, [&] {
    metactrl::c::check_array(keep, num_rows, "keep");
    metactrl::c::check_array(reached, num_rows, "reached");
    metactrl::c::send_rows({pool, decoders, num_rows, ids, offsets, reached},
                           [&](metactrl_decoder& decoder, std::size_t row, std::span<const std::int32_t> added) {
                             return metactrl::c::go_on(decoder, keep[row], added);
                           });
  });
}
