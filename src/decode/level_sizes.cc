// Entries of a group are sorted by their tokens, so that each adds a node of the trie for every token that it does not share
// with the one before it. The nodes that occur in one state of the task are marked from the end of each spelling upwards,
// until one is met that was marked for this state.
#include "decode/level_sizes.h"

#include <optional>
#include <vector>

#include "lookahead/space.h"

namespace metactrl::decode {

namespace {

using lookahead::Space;
using lookahead::StateId;

class SpellingTrie {
 public:
  explicit SpellingTrie(const TokenAutomaton& automaton) : automaton_(automaton) {
    const auto entries = static_cast<std::uint32_t>(automaton.num_entries());
    first_.reserve(entries + 1);
    for (std::uint32_t group = 0; group < automaton.num_groups(); ++group) {
      const auto [begin, end] = automaton.group(group);
      for (std::uint32_t rank = begin; rank < end; ++rank) add(rank, rank > begin);
    }
    first_.push_back(nodes_.size());
    stamps_.assign(num_nodes_, 0);
  }

  std::size_t num_nodes() const { return num_nodes_; }
  double mean_length() const {
    return first_.size() < 2 ? 0 : static_cast<double>(nodes_.size()) / static_cast<double>(first_.size() - 1);
  }

  // Marks the places inside an entry; how many were not marked with this stamp. Its end is the state behind the action.
  std::size_t mark(std::uint32_t rank, std::uint32_t stamp) {
    std::size_t fresh = 0;
    for (std::size_t at = first_[rank + 1] - 1; at > first_[rank]; --at) {
      std::uint32_t& mark = stamps_[nodes_[at - 1]];
      if (mark == stamp) break;
      mark = stamp;
      ++fresh;
    }
    return fresh;
  }

 private:
  void add(std::uint32_t rank, bool follows) {
    const std::span<const TokenId> tokens = automaton_.tokens(rank);
    const std::span<const TokenId> before = follows ? automaton_.tokens(rank - 1) : std::span<const TokenId>();
    const std::size_t last = first_.empty() ? 0 : first_.back();
    first_.push_back(nodes_.size());
    bool shared = true;
    for (std::size_t depth = 0; depth < tokens.size(); ++depth) {
      shared = shared && depth < before.size() && before[depth] == tokens[depth];
      nodes_.push_back(shared ? nodes_[last + depth] : num_nodes_++);
    }
  }

  const TokenAutomaton& automaton_;
  std::vector<std::size_t> first_;    // by rank, into nodes_; and the end
  std::vector<std::uint32_t> nodes_;  // the node behind each token of each entry
  std::uint32_t num_nodes_ = 0;
  std::vector<std::uint32_t> stamps_;  // by node
};

// The pairs that occur. Between two actions there is one for each group of entries.
double count_joint(const TokenAutomaton& automaton, const Space& space, SpellingTrie& trie) {
  double states = 0;
  for (const StateId id : lookahead::ids<StateId>(space.num_live())) {
    const auto stamp = lookahead::index(id) + 1;
    states += static_cast<double>(automaton.num_groups());
    const auto targets = space.targets(id);
    const auto actions = space.actions(id);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      for (std::uint32_t group = 0; group < automaton.num_groups(); ++group) {
        const auto enter = [&](std::uint32_t next) {
          states += static_cast<double>(trie.mark(automaton.rank(actions[i], next, group), stamp));
        };
        if (space.is_goal(targets[i])) enter(TokenAutomaton::kClose);
        if (space.targets(targets[i]).empty()) continue;
        for (std::uint32_t separator = 0; separator < automaton.num_separators(); ++separator) enter(separator);
      }
    }
  }
  return states;
}

}  // namespace

LevelSizes measure_levels(const TokenAutomaton& automaton, const task::Program& program, const Budget& budget,
                          internal::Meter& meter) {
  LevelSizes sizes;
  SpellingTrie trie(automaton);
  sizes.syntax_states = static_cast<double>(automaton.num_states());
  sizes.syntax_edges = static_cast<double>(trie.num_nodes());
  sizes.tokens_per_action = trie.mean_length();
  const lookahead::SpaceResult result = Space::enumerate(program, budget, Space::kNoDepthLimit, {}, meter);
  sizes.exact = result.limit == lookahead::Limit::kNone;
  sizes.semantic_states = static_cast<double>(result.states_seen);
  if (!result.space) return sizes;
  sizes.semantic_edges = static_cast<double>(result.space->num_edges());
  sizes.joint_states = count_joint(automaton, *result.space, trie);
  return sizes;
}

LevelCosts level_costs(const LevelSizes& sizes, double horizon, double hidden) {
  constexpr double kNumber = 4;
  const double steps = horizon * sizes.tokens_per_action;
  LevelCosts costs;
  costs.one.states = sizes.syntax_states * sizes.semantic_states;
  costs.one.dp_bytes = steps * costs.one.states * hidden * kNumber;
  costs.one.operations = steps * sizes.syntax_edges * sizes.semantic_states * hidden * hidden;
  costs.two.states = sizes.syntax_states + sizes.semantic_states;
  costs.two.dp_bytes = (steps * sizes.syntax_states + horizon * sizes.semantic_states) * hidden * kNumber;
  costs.two.operations = (steps * sizes.syntax_edges + horizon * sizes.semantic_edges) * hidden * hidden;
  return costs;
}

}  // namespace metactrl::decode
