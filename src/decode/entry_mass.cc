#include "decode/entry_mass.h"

#include <algorithm>

namespace metactrl {

EntryCounts::EntryCounts(const TokenAutomaton& automaton, const Task& task)
    : num_separators_(automaton.num_separators()) {
  for (std::uint32_t name = 0; name < task.num_action_names(); ++name) {
    num_arities_ = std::max(num_arities_, task.arity(ActionNameId{name}) + 1);
  }
  kind_.reserve(automaton.num_entries());
  running_.assign(num_kinds(), 0);
  running_.reserve((automaton.num_entries() + 1) * num_kinds());
  for (std::uint32_t rank = 0; rank < automaton.num_entries(); ++rank) {
    const TokenAutomaton::Entry& entry = automaton.entry(rank);
    const std::size_t arity = task.arguments(entry.action).size();
    kind_.push_back(static_cast<std::uint32_t>(2 * arity + (entry.next == TokenAutomaton::kClose ? 1 : 0)));
    const std::size_t last = running_.size() - num_kinds();
    for (std::size_t kind = 0; kind < num_kinds(); ++kind) running_.push_back(running_[last + kind]);
    ++running_[running_.size() - num_kinds() + kind_.back()];
  }
}

}  // namespace metactrl
