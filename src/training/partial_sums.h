// Counts that are added up in one fixed order, whoever makes them and whenever they are ready.
//
//     PartialSums sums(16, hidden, symbols);
//     sums.add(3, std::move(counts));                       // from any thread, in any order, each leaf once
//     ExpectedCounts all = sums.sum_over(group);            // the sum of all leaves, in every process of the group
//
// The sum is a binary tree over the leaves: (((0 + 1) + (2 + 3)) + ...). A node is made as soon as its two halves are
// there, so that what is kept is one set of counts for each level of the tree and for each leaf in the making. A
// process that has some leaves in a row makes the nodes that lie within them; the processes then hand these on, and so
// complete the tree. Additions are the same for any number of threads and processes, and so is the result, bit by bit.
#ifndef METACTRL_SRC_TRAINING_PARTIAL_SUMS_H_
#define METACTRL_SRC_TRAINING_PARTIAL_SUMS_H_

#include <compare>
#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

#include "metactrl/training/process_group.h"
#include "metactrl/training/train.h"

namespace metactrl::training {

// Some things in a row: from `first` to before `last`.
struct Range {
  std::size_t first = 0;
  std::size_t last = 0;
};
// The part of `count` things that process `rank` of `size` has: they are dealt out in order, and as evenly as can be.
Range share_of(std::size_t count, std::size_t rank, std::size_t size);

class PartialSums {
 public:
  // `leaves` is at least 1; `symbols` as in ExpectedCounts.
  PartialSums(std::size_t leaves, std::size_t hidden, std::size_t symbols)
      : leaves_(leaves), hidden_(hidden), symbols_(symbols) {}

  void add(std::size_t leaf, ExpectedCounts counts) { add({0, leaf}, std::move(counts)); }
  // To be called once, behind add() of every leaf of share_of(leaves, group.rank(), group.size()).
  ExpectedCounts sum_over(ProcessGroup& group);

 private:
  // Stands for the leaves from index * 2^level to before (index + 1) * 2^level, those of them that there are.
  struct Node {
    std::size_t level = 0;
    std::size_t index = 0;
    auto operator<=>(const Node&) const = default;
  };

  bool is_root(const Node& node) const { return node.index == 0 && leaves_ <= std::size_t{1} << node.level; }
  // The same leaves, as far up as no other ones join them.
  Node raised(Node node) const;
  // The nodes that are left when these leaves were added.
  std::vector<Node> nodes_of(const Range& leaves) const;
  void add(Node node, ExpectedCounts counts);

  const std::size_t leaves_;
  const std::size_t hidden_;
  const std::size_t symbols_;
  std::mutex mutex_;
  std::map<Node, ExpectedCounts> nodes_;
};

}  // namespace metactrl::training

#endif  // METACTRL_SRC_TRAINING_PARTIAL_SUMS_H_
