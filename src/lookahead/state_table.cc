// Open addressing over ids. The slot of a state is given by the top bits of its hash and the tag is the top half of the
// same hash, so a table of 2^k slots (k <= 32) can be rebuilt from its tags alone. That the tag shares its top k bits
// with the slot index costs little: 32 - k bits still tell neighbours apart, 8 of them at 16 million slots.
#include "lookahead/state_table.h"

#include <algorithm>
#include <cstring>

namespace metactrl::lookahead {

namespace {

constexpr unsigned kInitialSlotBits = 6;
constexpr std::size_t kChunkBytes = std::size_t{1} << 16;

// The finaliser of MurmurHash3 with the constants of David Stafford's variant 13.
std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// Two words of a wide state at once: the 128-bit product of both, folded.
std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace

std::uint64_t hash_words(const task::Word* words, std::size_t width) {
  std::uint64_t hash = 0x9e3779b97f4a7c15ULL * (width + 1);
  std::size_t i = 0;
  for (; i + 2 <= width; i += 2) {
    // The sum keeps a zero factor from wiping out what came before.
    hash = fold(words[i] ^ 0xa0761d6478bd642fULL ^ hash, words[i + 1] ^ 0xe7037ed1a0b428dbULL) + hash + words[i];
  }
  if (i < width) hash = mix(words[i] ^ hash);
  return mix(hash);
}

StateTable::StateTable(std::size_t width) : width_(width) {
  chunk_shift_ = 4;
  while (chunk_shift_ < 13 && ((std::size_t{2} << chunk_shift_) * width * sizeof(task::Word)) <= kChunkBytes)
    ++chunk_shift_;
  chunk_mask_ = (std::uint32_t{1} << chunk_shift_) - 1;
  slot_shift_ = 64 - kInitialSlotBits;
  slots_.resize(std::size_t{1} << kInitialSlotBits);
  limit_ = slots_.size() * 3 / 4;
}

bool StateTable::equal(const task::Word* a, const task::Word* b) const {
  for (std::size_t i = 0; i < width_; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

std::pair<StoredId, bool> StateTable::insert(const task::Word* words, std::uint64_t hash) {
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = slot_of(hash);
  while (slots_[i].id != kEmpty) {
    if (slots_[i].tag == tag && equal(this->words(slots_[i].id), words)) return {slots_[i].id, false};
    i = (i + 1) & mask;
  }
  const auto id = to_id<StoredId>(size_);
  assert(id != kEmpty);
  append(words);
  slots_[i] = {id, tag};
  if (size_ >= limit_) grow();
  return {id, true};
}

std::optional<StoredId> StateTable::find(const task::Word* words) const {
  const std::uint64_t hash = hash_words(words, width_);
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = slot_of(hash); slots_[i].id != kEmpty; i = (i + 1) & mask) {
    if (slots_[i].tag == tag && equal(this->words(slots_[i].id), words)) return slots_[i].id;
  }
  return std::nullopt;
}

void StateTable::append(const task::Word* words) {
  const std::size_t chunk = size_ >> chunk_shift_;
  if (chunk == chunks_.size()) {
    const std::size_t count = std::max<std::size_t>(1, (std::size_t{1} << chunk_shift_) * width_);
    chunks_.push_back(std::make_unique_for_overwrite<task::Word[]>(count));
  }
  if (width_ != 0) {
    std::memcpy(chunks_[chunk].get() + (size_ & chunk_mask_) * width_, words, width_ * sizeof(task::Word));
  }
  ++size_;
}

// Visits the old slots in order of their place in the new table (starting after a gap, where no run of the old table is
// cut in two), so both tables are walked almost sequentially.
void StateTable::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  --slot_shift_;
  limit_ = slots_.size() * 3 / 4;
  const std::size_t mask = slots_.size() - 1;
  std::size_t start = 0;
  while (old[start].id != kEmpty) ++start;
  for (std::size_t k = 1; k <= old.size(); ++k) {
    const Slot slot = old[(start + k) & (old.size() - 1)];
    if (slot.id == kEmpty) continue;
    std::size_t i = slot_of(static_cast<std::uint64_t>(slot.tag) << 32);
    while (slots_[i].id != kEmpty) i = (i + 1) & mask;
    slots_[i] = slot;
  }
}

std::size_t StateTable::memory_bytes() const {
  return slots_.capacity() * sizeof(Slot) + chunks_.capacity() * sizeof(chunks_[0]) +
         chunks_.size() * std::max<std::size_t>(1, (std::size_t{1} << chunk_shift_) * width_) * sizeof(task::Word);
}

void StateTable::clear() {
  std::fill(slots_.begin(), slots_.end(), Slot{});
  size_ = 0;
}

void StateTable::truncate(std::size_t size) noexcept {
  const std::size_t mask = slots_.size() - 1;
  while (size_ > size) {
    const auto id = to_id<StoredId>(size_ - 1);
    std::size_t i = slot_of(hash_words(words(id), width_));
    while (slots_[i].id != id) i = (i + 1) & mask;
    vacate(i);
    --size_;
  }
}

// What was put behind a slot because it was taken moves up, or it would not be found any more.
void StateTable::vacate(std::size_t slot) noexcept {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = (slot + 1) & mask; slots_[i].id != kEmpty; i = (i + 1) & mask) {
    const std::size_t home = slot_of(static_cast<std::uint64_t>(slots_[i].tag) << 32);
    if (((i - home) & mask) < ((i - slot) & mask)) continue;
    slots_[slot] = slots_[i];
    slot = i;
  }
  slots_[slot] = Slot{};
}

}  // namespace metactrl::lookahead
