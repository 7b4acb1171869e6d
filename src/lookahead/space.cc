// Forward breadth-first search over interned states writes the edges as compressed rows (row i belongs to state i,
// since states are expanded in the order of their ids). Then the edges are reversed once and a breadth-first search
// backwards from all goal states gives the distances. Last, states are renumbered so that live ones come first, and the
// rows are compacted in place to live sources and targets.
//
// A state is expanded in two steps: first all successors are computed, and the slot of each in the hash index is
// prefetched; then they are looked up. The cache misses of one expansion overlap instead of following each other.
#include "lookahead/space.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "lookahead/spending.h"

namespace metactrl::lookahead {

namespace {

using task::Program;
using task::Word;

// States between two reports of progress.
constexpr std::size_t kProgressInterval = std::size_t{1} << 16;

// The legal actions of one state after another, and their successors. Allocates only while its buffers grow.
class Expander {
 public:
  Expander(const Program& program, bool projected)
      : program_(program),
        projected_(projected),
        derived_(program.num_derived_bits() != 0),
        width_(projected ? program.relevant_words() : program.stored_words()),
        stride_(std::max<std::size_t>(1, program.total_words())),
        from_(stride_) {}

  std::size_t width() const { return width_; }

  // The projected (or full) initial state in slot 0. False when it breaks a trajectory constraint.
  bool start() {
    successors_.resize(std::max(successors_.size(), stride_));
    const bool legal = program_.initial(successors_.data());
    if (projected_) program_.project(successors_.data());
    return legal;
  }

  void expand(const Word* words, const StateTable& table) {
    std::copy_n(words, width_, from_.data());
    std::fill(from_.begin() + static_cast<std::ptrdiff_t>(width_), from_.end(), 0);
    if (derived_) program_.complete(from_.data());
    actions_.clear();
    if (projected_) {
      program_.relevant_actions(from_.data(), actions_);
    } else {
      program_.applicable_actions(from_.data(), actions_);
    }
    if (successors_.size() < actions_.size() * stride_) successors_.resize(actions_.size() * stride_);
    hashes_.clear();
    std::size_t legal = 0;
    for (const ActionId action : actions_) {
      Word* to = successors_.data() + legal * stride_;
      if (!program_.apply(from_.data(), action, to)) continue;
      if (projected_) program_.project(to);
      hashes_.push_back(table.hash(to));
      table.prefetch(hashes_.back());
      actions_[legal++] = action;
    }
    actions_.resize(legal);
  }

  std::size_t size() const { return actions_.size(); }
  ActionId action(std::size_t i) const { return actions_[i]; }
  const Word* successor(std::size_t i) const { return successors_.data() + i * stride_; }
  std::uint64_t hash(std::size_t i) const { return hashes_[i]; }

 private:
  const Program& program_;
  const bool projected_;
  const bool derived_;
  const std::size_t width_;
  const std::size_t stride_;
  std::vector<Word> from_;
  std::vector<Word> successors_;
  std::vector<ActionId> actions_;
  std::vector<std::uint64_t> hashes_;
};

// Reports progress as well.
class SpaceSpending {
 public:
  SpaceSpending(const Program& program, const Budget& budget, internal::Meter& meter, const Progress& progress)
      : spending_(budget, meter), progress_(progress), successor_work_(successor_work(program)) {}

  // After an expansion with `edges` edges.
  Limit check(std::size_t states, std::size_t bytes, std::size_t edges) {
    work_ += (edges + 1) * successor_work_;
    const Limit limit = spending_.check(states, bytes, work_);
    if (limit == Limit::kNone && progress_ && states >= next_report_) {
      progress_(states);
      next_report_ = states + kProgressInterval;
    }
    return limit;
  }

 private:
  Spending spending_;
  const Progress& progress_;
  const std::uint64_t successor_work_;
  std::size_t next_report_ = kProgressInterval;
  std::uint64_t work_ = 0;
};

template <typename T>
std::size_t bytes_of(const std::vector<T>& vector) {
  return vector.capacity() * sizeof(T);
}

}  // namespace

class SpaceBuilder {
 public:
  SpaceBuilder(const Program& program, const Budget& budget, unsigned max_depth, const Progress& progress,
               internal::Meter& meter)
      : program_(program),
        spending_(program, budget, meter, progress),
        expander_(program, true),
        max_depth_(max_depth),
        space_(expander_.width()) {}

  SpaceResult run() {
    SpaceResult result;
    result.limit = forward();
    result.states_seen = space_.table_.size();
    // The last layer is complete unless the budget ended while it was being found.
    if (result.limit != Limit::kNone) truncate();
    result.depth_seen = static_cast<unsigned>(space_.layers_.size()) - 2;
    if (result.limit != Limit::kNone && goals_.empty()) return result;
    backward();
    compact();
    result.space = std::move(space_);
    return result;
  }

 private:
  // Finds all states to max_depth_, in layers.
  Limit forward() {
    StateTable& table = space_.table_;
    const bool legal = expander_.start();
    table.insert(expander_.successor(0));
    if (legal && program_.is_goal(expander_.successor(0))) goals_.push_back(StoredId{0});
    space_.layers_ = {StoredId{0}, StoredId{1}};
    if (const Limit limit = spending_.check(1, charge(0), 0); limit != Limit::kNone) return limit;
    // An initial state in breach of a constraint is dead: it has no legal continuation.
    for (unsigned depth = 0; legal && depth < max_depth_; ++depth) {
      const StoredId end = space_.layers_[depth + 1];
      for (const StoredId id : ids(space_.layers_[depth], end)) {
        expander_.expand(table.words(id), table);
        if (const Limit limit = add_row(); limit != Limit::kNone) return limit;
      }
      if (table.size() == index(end)) return Limit::kNone;
      space_.layers_.push_back(to_id<StoredId>(table.size()));
    }
    space_.complete_ = !legal;
    return Limit::kNone;
  }

  Limit add_row() {
    const std::size_t edges = expander_.size();
    if (const Limit limit = spending_.check(space_.table_.size(), charge(edges), edges); limit != Limit::kNone)
      return limit;
    first_edge_.push_back(space_.targets_.size());
    for (std::size_t i = 0; i < edges; ++i) {
      const auto [target, fresh] = space_.table_.insert(expander_.successor(i), expander_.hash(i));
      if (fresh && program_.is_goal(expander_.successor(i))) goals_.push_back(target);
      space_.targets_.push_back(StateId{index(target)});
      space_.actions_.push_back(expander_.action(i));
    }
    return spending_.check(space_.table_.size(), 0, 0);
  }

  // Bytes in use now, or about to be when `edges` more edges are added and the edges reversed.
  std::size_t charge(std::size_t edges) const {
    const std::size_t states = space_.table_.size();
    const std::size_t needed = space_.targets_.size() + edges;
    std::size_t held = space_.targets_.capacity();
    if (needed > held) held += std::max(needed, 2 * held);  // both arrays exist while one is copied to the other
    return space_.table_.memory_bytes() + 2 * held * sizeof(std::uint32_t) + bytes_of(first_edge_) +
           needed * sizeof(std::uint32_t) + states * (sizeof(std::size_t) + 4 * sizeof(std::uint32_t));
  }

  // Keeps the depths whose states are all known, and the edges between them.
  void truncate() {
    const std::size_t depths = space_.layers_.size() - 1;
    const StoredId expanded = space_.layers_[depths - 1];
    if (first_edge_.size() > index(expanded)) {
      space_.targets_.resize(first_edge_[expanded]);
      space_.actions_.resize(first_edge_[expanded]);
      first_edge_.resize(index(expanded));
    }
    std::erase_if(goals_, [end = space_.layers_.back()](StoredId id) { return id >= end; });
    max_depth_ = static_cast<unsigned>(depths - 1);
    space_.complete_ = false;
  }

  void backward() {
    const std::vector<StateId>& targets = space_.targets_;
    const std::size_t states = index(space_.layers_.back());
    first_edge_.resize(states + 1, targets.size());  // states that were not expanded have empty rows
    std::vector<std::size_t> first(states + 1, 0);
    for (const StateId target : targets) ++first[index(target)];
    std::exclusive_scan(first.begin(), first.end(), first.begin(), std::size_t{0});
    // Writing the sources of t moves first[t] from the begin of its list to its end, which is the begin of the next.
    std::vector<StoredId> sources(targets.size());
    for (const StoredId id : ids<StoredId>(states)) {
      for (std::size_t e = first_edge_[id]; e < first_edge_[next_of(id)]; ++e) sources[first[index(targets[e])]++] = id;
    }
    distance_.assign(states, Space::kUnreachable);
    std::vector<StoredId> queue = goals_;
    queue.reserve(states);
    for (const StoredId id : queue) distance_[id] = 0;
    for (std::size_t next = 0; next < queue.size(); ++next) {
      const StoredId id = queue[next];
      const unsigned distance = distance_[id] + 1;
      for (std::size_t e = index(id) == 0 ? 0 : first[index(id) - 1]; e < first[index(id)]; ++e) {
        if (distance_[sources[e]] != Space::kUnreachable) continue;
        distance_[sources[e]] = distance;
        queue.push_back(sources[e]);
      }
    }
    if (!space_.complete_) forget_long_distances();
  }

  // In a cone a distance is known only as far as the cone reaches below its state.
  void forget_long_distances() {
    for (std::size_t depth = 0; depth + 1 < space_.layers_.size(); ++depth) {
      for (const StoredId id : ids(space_.layers_[depth], space_.layers_[depth + 1])) {
        if (distance_[id] > max_depth_ - depth) distance_[id] = Space::kUnreachable;
      }
    }
  }

  void compact() {
    space_.num_states_ = distance_.size();
    space_.num_edges_ = space_.targets_.size();
    space_.max_depth_ = max_depth_;
    number();
    if (space_.public_id_.empty()) {
      for (const StoredId first : space_.layers_) space_.live_layers_.push_back(StateId{index(first)});
      space_.distance_ = IdVector<StateId, std::uint32_t>(std::move(distance_));
      space_.first_edge_ = IdVector<StateId, std::size_t>(std::move(first_edge_));
    } else {
      keep_live_rows();
    }
    space_.targets_.shrink_to_fit();
    space_.actions_.shrink_to_fit();
    assert(space_.first_edge_.size() == space_.distance_.size() + 1);
    assert(space_.first_edge_.back() == space_.targets_.size());
  }

  // Fills public_id_ and live_layers_ when there are dead states.
  void number() {
    const auto live = static_cast<std::uint32_t>(
        std::count_if(distance_.begin(), distance_.end(), [](unsigned d) { return d != Space::kUnreachable; }));
    if (live == distance_.size()) return;
    space_.public_id_.resize(distance_.size());
    space_.live_layers_.assign(1, StateId{0});
    std::uint32_t next_live = 0;
    std::uint32_t next_dead = live;
    for (std::size_t depth = 0; depth + 1 < space_.layers_.size(); ++depth) {
      for (const StoredId id : ids(space_.layers_[depth], space_.layers_[depth + 1])) {
        space_.public_id_[id] = distance_[id] != Space::kUnreachable ? StateId{next_live++} : StateId{next_dead++};
      }
      space_.live_layers_.push_back(StateId{next_live});
    }
  }

  void keep_live_rows() {
    std::vector<StateId>& targets = space_.targets_;
    std::vector<ActionId>& actions = space_.actions_;
    space_.distance_.reserve(index(space_.live_layers_.back()));
    space_.first_edge_.reserve(index(space_.live_layers_.back()) + std::size_t{1});
    std::size_t kept = 0;
    std::size_t begin = 0;
    for (const StoredId id : distance_.all()) {
      const std::size_t end = first_edge_[next_of(id)];
      if (distance_[id] != Space::kUnreachable) {
        space_.distance_.push_back(distance_[id]);
        space_.first_edge_.push_back(kept);
        for (std::size_t e = begin; e < end; ++e) {
          const StoredId target{index(targets[e])};
          if (distance_[target] == Space::kUnreachable) continue;
          actions[kept] = actions[e];
          targets[kept++] = space_.public_id_[target];
        }
      }
      begin = end;
    }
    space_.first_edge_.push_back(kept);
    targets.resize(kept);
    actions.resize(kept);
  }

  const Program& program_;
  SpaceSpending spending_;
  Expander expander_;
  unsigned max_depth_;
  Space space_;
  IdVector<StoredId, std::size_t> first_edge_;
  std::vector<StoredId> goals_;
  IdVector<StoredId, unsigned> distance_;
};

SpaceResult Space::enumerate(const Program& program, const Budget& budget, unsigned max_depth, const Progress& progress,
                             internal::Meter& meter) {
  return SpaceBuilder(program, budget, max_depth, progress, meter).run();
}

std::optional<StateId> Space::find(const Word* projected) const {
  const std::optional<StoredId> id = table_.find(projected);
  if (!id || index(*id) >= num_states_) return std::nullopt;
  return public_id(*id);
}

unsigned Space::depth(StateId id) const {
  assert(index(id) < num_states_);
  if (is_live(id)) {
    return static_cast<unsigned>(std::upper_bound(live_layers_.begin(), live_layers_.end(), id) -
                                 live_layers_.begin()) -
           1;
  }
  // The dead states of a depth are those of its states that are not live, so their ids are cut into layers by the
  // differences.
  std::size_t low = 0;
  std::size_t high = layers_.size() - 1;
  const std::size_t dead = index(id) - num_live();
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    (index(layers_[middle]) - index(live_layers_[middle]) <= dead ? low : high) = middle;
  }
  return static_cast<unsigned>(low);
}

bool Space::decides(StateId id, unsigned left) const {
  return complete_ || is_live(id) || left <= max_depth_ - depth(id);
}

std::vector<ActionId> Space::shortest_plan(StateId id) const {
  std::vector<ActionId> plan;
  if (!is_live(id)) return plan;
  while (distance_[id] != 0) {
    std::size_t e = first_edge_[id];
    while (distance_[targets_[e]] + 1 != distance_[id]) ++e;
    assert(e < first_edge_[next_of(id)]);
    plan.push_back(actions_[e]);
    id = targets_[e];
  }
  return plan;
}

std::size_t Space::num_live_within(unsigned depth) const {
  return index(live_layers_[std::min<std::size_t>(std::size_t{depth} + 1, live_layers_.size() - 1)]);
}

std::size_t Space::memory_bytes() const {
  return table_.memory_bytes() + bytes_of(public_id_) + bytes_of(distance_) + bytes_of(first_edge_) +
         bytes_of(targets_) + bytes_of(actions_) + bytes_of(layers_) + bytes_of(live_layers_);
}

SpaceCount count_reachable(const Program& program, const Budget& budget, bool projected, const Progress& progress,
                           internal::Meter& meter) {
  Expander expander(program, projected);
  SpaceSpending spending(program, budget, meter, progress);
  StateTable table(expander.width());
  SpaceCount count;
  const bool legal = expander.start();
  table.insert(expander.successor(0));
  count.limit = spending.check(1, table.memory_bytes(), 0);
  for (std::size_t id = 0; legal && id < table.size() && count.limit == Limit::kNone; ++id) {
    expander.expand(table.words(to_id<StoredId>(id)), table);
    for (std::size_t i = 0; i < expander.size(); ++i) table.insert(expander.successor(i), expander.hash(i));
    count.edges += expander.size();
    count.limit = spending.check(table.size(), table.memory_bytes(), expander.size());
  }
  count.states = table.size();
  return count;
}

}  // namespace metactrl::lookahead
