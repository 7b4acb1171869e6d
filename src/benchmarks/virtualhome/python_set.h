// The order in which CPython walks through a set of small integers.
//
// The benchmark's evaluator keeps the targets of an edge in Python sets and takes "the first" of them in a few places,
// so a verdict can depend on where CPython's hash table puts an integer. This is that table: open addressing, short
// linear runs, deleted slots that stay behind until the next rehash. Holds integers from 0 up.
//
//     PythonSet set;
//     set.insert(1002);
//     set.insert(65);
//     set.elements();  // {65, 1002}: 65 is in slot 1, 1002 in slot 2 of 8
//
// insert, discard and contains take constant time on average; the rest is linear in the table.
#ifndef METACTRL_SRC_BENCHMARKS_VIRTUALHOME_PYTHON_SET_H_
#define METACTRL_SRC_BENCHMARKS_VIRTUALHOME_PYTHON_SET_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace metactrl::benchmarks::virtualhome {

class PythonSet {
 public:
  PythonSet() : slots_(kSmallest, kFree) {}

  void insert(int value);   // set.add
  void discard(int value);  // set.discard
  // set.difference_update: discards, then clears deleted slots away if they are many.
  void remove_all(const std::vector<int>& values);
  bool contains(int value) const;
  std::size_t size() const { return used_; }

  // In the order of iteration.
  std::vector<int> elements() const;
  // set(list(this)): what copy.deepcopy makes of it. The order may differ.
  PythonSet deep_copy() const;

  // The same table, slot by slot.
  bool operator==(const PythonSet&) const = default;

 private:
  static constexpr std::size_t kSmallest = 8;
  static constexpr std::int32_t kFree = -1;
  static constexpr std::int32_t kDeleted = -2;

  void rehash();

  std::vector<std::int32_t> slots_;
  std::size_t fill_ = 0;  // slots that hold a value or are deleted
  std::size_t used_ = 0;  // slots that hold a value
};

}  // namespace metactrl::benchmarks::virtualhome

#endif  // METACTRL_SRC_BENCHMARKS_VIRTUALHOME_PYTHON_SET_H_
