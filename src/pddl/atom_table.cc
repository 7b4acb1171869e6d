#include "pddl/atom_table.h"

#include <algorithm>

namespace metactrl::pddl {

std::uint64_t AtomTable::hash(std::uint32_t symbol, std::span<const ObjectId> arguments) {
  std::uint64_t h = (symbol + 1) * 0x9e3779b97f4a7c15ULL;
  for (ObjectId argument : arguments) {
    h ^= argument + 1;
    h *= 0xbf58476d1ce4e5b9ULL;
    h ^= h >> 29;
  }
  return h ^ (h >> 32);
}

// The slot that holds the tuple, or the empty one where it belongs.
std::size_t AtomTable::slot(std::uint32_t symbol, std::span<const ObjectId> arguments) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = hash(symbol, arguments) & mask;
  while (slots_[i] != 0) {
    const std::uint32_t id = slots_[i] - 1;
    if (symbols_[id] == symbol && std::ranges::equal(this->arguments(id), arguments)) break;
    i = (i + 1) & mask;
  }
  return i;
}

std::pair<std::uint32_t, bool> AtomTable::insert(std::uint32_t symbol, std::span<const ObjectId> arguments) {
  if (2 * (size() + 1) > slots_.size()) grow();
  const std::size_t i = slot(symbol, arguments);
  if (slots_[i] != 0) return {slots_[i] - 1, false};
  const auto id = static_cast<std::uint32_t>(size());
  symbols_.push_back(symbol);
  arena_.insert(arena_.end(), arguments.begin(), arguments.end());
  first_.push_back(arena_.size());
  slots_[i] = id + 1;
  return {id, true};
}

std::optional<std::uint32_t> AtomTable::find(std::uint32_t symbol, std::span<const ObjectId> arguments) const {
  if (slots_.empty()) return std::nullopt;
  const std::uint32_t entry = slots_[slot(symbol, arguments)];
  return entry == 0 ? std::nullopt : std::optional<std::uint32_t>(entry - 1);
}

void AtomTable::grow() {
  slots_.assign(std::max<std::size_t>(64, 2 * slots_.size()), 0);
  for (std::uint32_t id = 0; id < size(); ++id) slots_[slot(symbols_[id], arguments(id))] = id + 1;
}

AtomIndex::AtomIndex(const std::vector<Predicate>& predicates, std::size_t num_objects)
    : num_objects_(num_objects), by_predicate_(predicates.size()), by_argument_(predicates.size()) {
  for (const Predicate& predicate : predicates) arity_.push_back(predicate.parameters.size());
}

void AtomIndex::add(const AtomTable& atoms, std::uint32_t id) {
  const std::uint32_t predicate = atoms.symbol(id);
  by_predicate_[predicate].push_back(id);
  if (contains_.size() <= id) contains_.resize(std::max<std::size_t>(id + 1, 2 * contains_.size()), false);
  contains_[id] = true;
  if (arity_[predicate] < 2) return;  // a unary atom is found by lookup, never by scanning
  std::vector<std::vector<std::uint32_t>>& lists = by_argument_[predicate];
  if (lists.empty()) lists.resize(arity_[predicate] * num_objects_);
  const std::span<const ObjectId> arguments = atoms.arguments(id);
  for (std::size_t p = 0; p < arguments.size(); ++p) lists[p * num_objects_ + arguments[p]].push_back(id);
}

const std::vector<std::uint32_t>& AtomIndex::with_argument(PredicateId predicate, std::size_t position,
                                                           ObjectId object) const {
  static const std::vector<std::uint32_t> kEmpty;
  const std::vector<std::vector<std::uint32_t>>& lists = by_argument_[predicate];
  if (lists.empty()) return arity_[predicate] < 2 ? by_predicate_[predicate] : kEmpty;
  return lists[position * num_objects_ + object];
}

}  // namespace metactrl::pddl
