// Sums in the order of a tree, within one process and over several; and an engine that divides the work of any other.
//
// Over processes: in round k a process whose number has bit k as its lowest one sends its nodes to the process 2^k
// before it, which adds them to its own; the two had leaves in a row, so the nodes join where they can. After the last
// round process 0 holds the root and sends it to all. Which nodes a process sends follows from its leaves, so messages
// are nothing but numbers.
#include "training/partial_sums.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace metactrl {

namespace training {

namespace {

// Calls `each` with every run of numbers in the counts.
template <typename Each>
void for_each_part(ExpectedCounts& counts, const Each& each) {
  for (std::vector<double>* part : {&counts.initial, &counts.transition, &counts.emission, &counts.unread}) {
    if (!part->empty()) each(std::span(*part));
  }
  std::array<double, 4> scalars = {counts.log_likelihood, counts.symbols, counts.weight, counts.impossible};
  each(std::span<double>(scalars));
  counts.log_likelihood = scalars[0];
  counts.symbols = scalars[1];
  counts.weight = scalars[2];
  counts.impossible = scalars[3];
}

}  // namespace

Range share_of(std::size_t count, std::size_t rank, std::size_t size) {
  const std::size_t each = count / size;
  const std::size_t more = count % size;  // the first so many have one more
  const std::size_t first = rank * each + std::min(rank, more);
  return {first, first + each + (rank < more ? 1 : 0)};
}

PartialSums::Node PartialSums::raised(Node node) const {
  while (!is_root(node) && node.index % 2 == 0 && ((node.index + 1) << node.level) >= leaves_) {
    ++node.level;
    node.index /= 2;
  }
  return node;
}

std::vector<PartialSums::Node> PartialSums::nodes_of(const Range& leaves) const {
  std::vector<Node> nodes;
  for (std::size_t leaf = leaves.first; leaf < leaves.last; ++leaf) {
    Node node = raised({0, leaf});
    while (!nodes.empty() && node.index % 2 == 1 && nodes.back() == Node{node.level, node.index - 1}) {
      nodes.pop_back();
      node = raised({node.level + 1, node.index / 2});
    }
    nodes.push_back(node);
  }
  return nodes;
}

void PartialSums::add(Node node, ExpectedCounts counts) {
  for (;;) {
    node = raised(node);
    std::optional<ExpectedCounts> other;
    {
      const std::lock_guard lock(mutex_);
      const auto found = is_root(node) ? nodes_.end() : nodes_.find({node.level, node.index ^ 1U});
      if (found == nodes_.end()) {
        nodes_.emplace(node, std::move(counts));
        return;
      }
      other.emplace(std::move(found->second));
      nodes_.erase(found);
    }
    if (node.index % 2 == 1) std::swap(*other, counts);
    counts.add(*other);
    node = {node.level + 1, node.index / 2};
  }
}

ExpectedCounts PartialSums::sum_over(ProcessGroup& group) {
  const unsigned rank = group.rank();
  const unsigned size = group.size();
  for (unsigned step = 1; step < size; step *= 2) {
    const unsigned last = std::min(rank + step, size);
    if (rank % (2 * step) != 0) {
      for (const Node& node : nodes_of({share_of(leaves_, rank, size).first, share_of(leaves_, last - 1, size).last})) {
        for_each_part(nodes_.at(node), [&](auto part) { group.send(rank - step, std::as_bytes(part)); });
      }
      nodes_.clear();
      break;
    }
    if (rank + step >= size) continue;
    const unsigned end = std::min(rank + 2 * step, size);
    for (const Node& node :
         nodes_of({share_of(leaves_, rank + step, size).first, share_of(leaves_, end - 1, size).last})) {
      ExpectedCounts counts(hidden_, symbols_);
      for_each_part(counts, [&](auto part) { group.receive(rank + step, std::as_writable_bytes(part)); });
      add(node, std::move(counts));
    }
  }
  ExpectedCounts result = rank == 0 ? std::move(nodes_.begin()->second) : ExpectedCounts(hidden_, symbols_);
  nodes_.clear();
  for_each_part(result, [&](auto part) { group.broadcast(std::as_writable_bytes(part)); });
  return result;
}

}  // namespace training

namespace {

// Every process asks its own engine about its share of the sequences.
class GroupEngine : public ExpectationEngine {
 public:
  GroupEngine(std::unique_ptr<ExpectationEngine> each, ProcessGroup& group) : each_(std::move(each)), group_(group) {}

  ExpectedCounts expectation(const Hmm& hmm, const SequenceSet& sequences, std::span<const std::uint32_t> chosen,
                             const Dropout& dropout) override {
    const training::Range share = training::share_of(chosen.size(), group_.rank(), group_.size());
    const std::span<const std::uint32_t> own = chosen.subspan(share.first, share.last - share.first);
    training::PartialSums sums(group_.size(), hmm.num_hidden(), hmm.num_symbols());
    sums.add(group_.rank(), own.empty() ? ExpectedCounts(hmm.num_hidden(), hmm.num_symbols())
                                        : each_->expectation(hmm, sequences, own, dropout));
    return sums.sum_over(group_);
  }

  ExpectedCounts likelihood(const Hmm& hmm, const SequenceSet& sequences) override {
    const training::Range share = training::share_of(sequences.size(), group_.rank(), group_.size());
    SequenceSet own;
    for (std::size_t i = share.first; i < share.last; ++i) own.add(sequences[i], sequences.weight(i));
    training::PartialSums sums(group_.size(), hmm.num_hidden(), 0);
    sums.add(group_.rank(), own.size() == 0 ? ExpectedCounts(hmm.num_hidden(), 0) : each_->likelihood(hmm, own));
    return sums.sum_over(group_);
  }

 private:
  std::unique_ptr<ExpectationEngine> each_;
  ProcessGroup& group_;
};

}  // namespace

std::unique_ptr<ExpectationEngine> make_group_engine(std::unique_ptr<ExpectationEngine> each, ProcessGroup& group) {
  return std::make_unique<GroupEngine>(std::move(each), group);
}

}  // namespace metactrl
