// What the searches share: a queue with small integer keys, interned states that know how they were reached, and turns
// within one budget. Not for use elsewhere.
#ifndef METACTRL_SRC_LOOKAHEAD_SEARCH_NODES_H_
#define METACTRL_SRC_LOOKAHEAD_SEARCH_NODES_H_

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lookahead/spending.h"
#include "lookahead/state_table.h"
#include "task/program.h"

namespace metactrl::lookahead {

using task::kNoAction;
// Where the search began has no parent.
inline constexpr StoredId kNoNode{0xffffffffU};

// Where a search stands after a turn.
enum class Status : std::uint8_t { kRunning, kFound, kExhausted, kLimit };

// What is in use besides a search's own, by one that it takes turns with.
struct Others {
  std::size_t states = 0;
  std::size_t bytes = 0;
  std::uint64_t work = 0;
};

template <typename Search>
Limit check(Spending& spending, const Search& search, const Others& others) {
  return spending.check(others.states + search.size(), others.bytes + search.memory_bytes(),
                        others.work + search.work());
}

// Entries by small integer keys. Within a key first in first out, or last in first out.
template <typename Entry, bool kFifo>
class BucketQueue {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t memory_bytes() const { return size_ * sizeof(Entry) + buckets_.size() * sizeof(Bucket); }

  void push(std::size_t key, const Entry& entry) {
    if (key >= buckets_.size()) buckets_.resize(key + 1);
    buckets_[key].entries.push_back(entry);
    lowest_ = std::min(lowest_, key);
    ++size_;
  }
  std::size_t lowest_key() {
    while (buckets_[lowest_].head == buckets_[lowest_].entries.size()) ++lowest_;
    return lowest_;
  }
  Entry& front() {
    Bucket& bucket = buckets_[lowest_key()];
    return kFifo ? bucket.entries[bucket.head] : bucket.entries.back();
  }
  void pop() {
    Bucket& bucket = buckets_[lowest_key()];
    --size_;
    if (!kFifo) {
      bucket.entries.pop_back();
    } else if (++bucket.head == bucket.entries.size()) {
      bucket.entries.clear();
      bucket.head = 0;
    }
  }

 private:
  struct Bucket {
    std::vector<Entry> entries;
    std::size_t head = 0;
  };
  std::vector<Bucket> buckets_;
  std::size_t lowest_ = 0;
  std::size_t size_ = 0;
};

// Interned states and how they were reached.
class Nodes {
 public:
  explicit Nodes(const task::Program& program) : program_(program), table_(program.relevant_words()) {}

  std::pair<StoredId, bool> insert(const task::Word* state, StoredId parent, ActionId action) {
    assert(action == kNoAction || (index(action) & kMacro) == 0);
    return insert(state, Origin{parent, index(action)});
  }
  void redirect(StoredId id, StoredId parent, ActionId action) { origin_[id] = {parent, index(action)}; }

  void load(StoredId id, std::vector<task::Word>& out) const {
    out.assign(program_.total_words(), 0);
    std::copy_n(table_.words(id), program_.relevant_words(), out.begin());
    program_.complete(out.data());
  }
  // False when a trajectory constraint forbids the action.
  bool successor(const std::vector<task::Word>& from, ActionId action, std::vector<task::Word>& to) const {
    to.resize(program_.total_words());
    if (!program_.apply(from.data(), action, to.data())) return false;
    program_.project(to.data());
    return true;
  }
  // The same for a state reached by several actions at once.
  std::pair<StoredId, bool> insert(const task::Word* state, StoredId parent, const std::vector<ActionId>& actions) {
    const auto result = insert(state, Origin{parent, kMacro | static_cast<std::uint32_t>(macros_.size())});
    if (result.second) {
      macros_.push_back(static_cast<std::uint32_t>(actions.size()));
      for (const ActionId action : actions) macros_.push_back(index(action));
      assert(macros_.size() < kMacro);
    }
    return result;
  }
  std::vector<ActionId> plan_to(StoredId id) const {
    std::vector<ActionId> plan;
    for (; origin_[id].parent != kNoNode; id = origin_[id].parent) {
      const std::uint32_t step = origin_[id].step;
      if ((step & kMacro) == 0) {
        plan.push_back(ActionId{step});
        continue;
      }
      const std::uint32_t* macro = macros_.data() + (step & ~kMacro);
      for (std::uint32_t i = *macro; i > 0; --i) plan.push_back(ActionId{macro[i]});
    }
    std::reverse(plan.begin(), plan.end());
    return plan;
  }
  std::size_t size() const { return table_.size(); }
  std::size_t memory_bytes() const {
    return table_.memory_bytes() + origin_.capacity() * sizeof(Origin) + macros_.capacity() * sizeof(std::uint32_t);
  }

 private:
  // Marks a step that is an index into macros_. Neither ground actions nor the words of macros reach 2^31.
  static constexpr std::uint32_t kMacro = 0x80000000U;
  struct Origin {
    StoredId parent;
    std::uint32_t step;  // the number of an action; or kMacro and a place in macros_
  };

  std::pair<StoredId, bool> insert(const task::Word* state, const Origin& origin) {
    const auto result = table_.insert(state);
    if (result.second) origin_.push_back(origin);
    assert(origin_.size() == table_.size());
    return result;
  }

  const task::Program& program_;
  StateTable table_;
  IdVector<StoredId, Origin> origin_;
  std::vector<std::uint32_t> macros_;  // each: its length, its actions
};

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_SEARCH_NODES_H_
