// StateTable: packed states of one width, stored once, numbered densely in order of first insertion.
//
//     StateTable table(program.relevant_words());
//     auto [id, fresh] = table.insert(words);   // copies the words when they are new
//     const task::Word* stored = table.words(id);
//
// The words of the states lie in chunks that never move, so pointers from words() stay valid until the table is
// destroyed or cleared. The index is open addressing with linear probing over 32-bit ids, each beside 32 bits of its
// hash: a probe touches the arena only when those bits agree, and growing the index needs no state to be read again.
//
// Costs: insert and find are O(width) on average. Memory per state: width * 8 bytes plus 11 to 21 bytes of index. At
// most 3 * 2^30 states. Not thread-safe for writing; const functions may be called from many threads.
#ifndef METACTRL_SRC_LOOKAHEAD_STATE_TABLE_H_
#define METACTRL_SRC_LOOKAHEAD_STATE_TABLE_H_

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "support/ids.h"
#include "task/program.h"

namespace metactrl::lookahead {

using internal::ids;
using internal::IdVector;
using internal::index;
using internal::next_of;
using internal::to_id;

// A state of a StateTable: 0, 1, 2, ... in order of first insertion.
enum class StoredId : std::uint32_t {};

// A 64-bit hash of `width` words; every input bit reaches every output bit.
std::uint64_t hash_words(const task::Word* words, std::size_t width);

class StateTable {
 public:
  // `width` words per state; a width of 0 is allowed (all states are then the same one).
  explicit StateTable(std::size_t width);

  // The id of the state and whether it is new.
  std::pair<StoredId, bool> insert(const task::Word* words) { return insert(words, hash_words(words, width_)); }
  std::optional<StoredId> find(const task::Word* words) const;
  const task::Word* words(StoredId id) const {
    assert(index(id) < size_);
    return chunks_[index(id) >> chunk_shift_].get() + static_cast<std::size_t>(index(id) & chunk_mask_) * width_;
  }

  // The two halves of an insertion, for callers that have other work to do while the index line is fetched.
  std::uint64_t hash(const task::Word* words) const { return hash_words(words, width_); }
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[slot_of(hash)], 1); }
  std::pair<StoredId, bool> insert(const task::Word* words, std::uint64_t hash);

  std::size_t size() const { return size_; }
  std::size_t width() const { return width_; }
  std::size_t memory_bytes() const;
  // Forgets all states; keeps the memory.
  void clear();
  // Forgets the states that were inserted behind the first `size`; keeps the memory.
  void truncate(std::size_t size) noexcept;

 private:
  struct Slot {
    StoredId id = kEmpty;
    std::uint32_t tag = 0;  // the upper half of the hash
  };
  static constexpr StoredId kEmpty{0xffffffffU};

  // The index uses the top bits, so that a slot's place can be computed from its tag alone when the index grows to at
  // most 2^32 slots.
  std::size_t slot_of(std::uint64_t hash) const { return static_cast<std::size_t>(hash >> slot_shift_); }
  bool equal(const task::Word* a, const task::Word* b) const;
  void grow();
  void vacate(std::size_t slot) noexcept;
  void append(const task::Word* words);

  std::size_t width_;
  unsigned chunk_shift_;
  std::uint32_t chunk_mask_;
  unsigned slot_shift_;
  std::size_t size_ = 0;
  std::size_t limit_;  // grow the index when size_ reaches it
  std::vector<Slot> slots_;
  std::vector<std::unique_ptr<task::Word[]>> chunks_;
};

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_STATE_TABLE_H_
