#include "pddl/atom_table.h"

#include <algorithm>

namespace metactrl::pddl {

template <typename Name, typename Id>
std::uint64_t TupleTable<Name, Id>::hash(Name name, std::span<const ObjectId> arguments) {
  std::uint64_t h = (index(name) + 1) * 0x9e3779b97f4a7c15ULL;
  for (ObjectId argument : arguments) {
    h ^= index(argument) + 1;
    h *= 0xbf58476d1ce4e5b9ULL;
    h ^= h >> 29;
  }
  return h ^ (h >> 32);
}

// Two objects and a name fit into a word.
template <typename Name, typename Id>
std::uint64_t TupleTable<Name, Id>::key_of(Name name, std::span<const ObjectId> arguments) {
  constexpr std::uint32_t kNames = 1U << 15;
  constexpr std::uint32_t kObjects = 1U << 24;
  const auto large = [](ObjectId object) { return index(object) >= kObjects; };
  if (arguments.size() > 2 || index(name) >= kNames || std::any_of(arguments.begin(), arguments.end(), large)) {
    return hash(name, arguments) | kHashed;
  }
  std::uint64_t key = index(name);
  for (const ObjectId argument : arguments) key = key << 24 | index(argument);
  return key;
}

template <typename Name, typename Id>
std::size_t TupleTable<Name, Id>::first_slot(std::uint64_t key) const {
  std::uint64_t mixed = key * 0x9e3779b97f4a7c15ULL;
  mixed ^= mixed >> 32;
  return mixed & (slots_.size() - 1);
}

// The slot that holds the tuple, or the empty one where it belongs.
template <typename Name, typename Id>
std::size_t TupleTable<Name, Id>::slot(std::uint64_t key, Name name, std::span<const ObjectId> arguments) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = first_slot(key);
  while (slots_[i].entry != 0) {
    const Id id{slots_[i].entry - 1};
    // A name has one arity, so equal words of short tuples are equal tuples only if the names are.
    if (slots_[i].key == key && names_[id] == name &&
        ((key & kHashed) == 0 || std::ranges::equal(this->arguments(id), arguments))) {
      break;
    }
    i = (i + 1) & mask;
  }
  return i;
}

template <typename Name, typename Id>
std::optional<std::size_t> TupleTable<Name, Id>::place(Name name, std::span<const ObjectId> arguments) const {
  if (!dense_.contains(name) || dense_[name].entries.empty()) return std::nullopt;
  if (arguments.size() == 2 && index(arguments[0]) < num_objects_ && index(arguments[1]) < num_objects_) {
    return index(arguments[0]) * num_objects_ + index(arguments[1]);
  }
  std::size_t result = 0;
  for (const ObjectId argument : arguments) {
    if (index(argument) >= num_objects_) return std::nullopt;
    result = result * num_objects_ + index(argument);
  }
  return result;
}

// One more tuple of this name, the last of all; from some number on they are in an array.
template <typename Name, typename Id>
void TupleTable<Name, Id>::count(Name name, std::size_t arity) {
  if (arity > 2 || num_objects_ == 0) return;
  if (!dense_.contains(name)) dense_.resize(index(name) + 1);
  Dense& dense = dense_[name];
  std::size_t possible = 1;
  for (std::size_t i = 0; i < arity; ++i) possible *= num_objects_;
  if (++dense.count * kSparse < possible || !dense.entries.empty()) return;
  dense.entries.assign(possible, 0);
  for (const Id id : all()) {
    if (names_[id] == name) dense.entries[*place(name, this->arguments(id))] = index(id) + 1;
  }
}

template <typename Name, typename Id>
std::pair<Id, bool> TupleTable<Name, Id>::insert(Name name, std::span<const ObjectId> arguments) {
  if (const std::optional<std::size_t> at = place(name, arguments)) {
    std::uint32_t& entry = dense_[name].entries[*at];
    if (entry != 0) return {Id{entry - 1}, false};
    const Id id = append(name, arguments);
    entry = index(id) + 1;
    return {id, true};
  }
  if (2 * (num_hashed_ + 1) > slots_.size()) grow();
  const std::uint64_t key = key_of(name, arguments);
  const std::size_t i = slot(key, name, arguments);
  if (slots_[i].entry != 0) return {Id{slots_[i].entry - 1}, false};
  const Id id = append(name, arguments);
  slots_[i] = {key, index(id) + 1};
  ++num_hashed_;
  count(name, arguments.size());
  return {id, true};
}

template <typename Name, typename Id>
Id TupleTable<Name, Id>::append(Name name, std::span<const ObjectId> arguments) {
  const Id id = names_.next_id();
  names_.push_back(name);
  arena_.insert(arena_.end(), arguments.begin(), arguments.end());
  first_.push_back(arena_.size());
  return id;
}

template <typename Name, typename Id>
std::optional<Id> TupleTable<Name, Id>::find(Name name, std::span<const ObjectId> arguments) const {
  std::uint32_t entry = 0;
  if (const std::optional<std::size_t> at = place(name, arguments)) {
    entry = dense_[name].entries[*at];
  } else if (!slots_.empty()) {
    entry = slots_[slot(key_of(name, arguments), name, arguments)].entry;
  }
  return entry == 0 ? std::nullopt : std::optional(Id{entry - 1});
}

template <typename Name, typename Id>
void TupleTable<Name, Id>::grow() {
  const std::vector<Slot> old = std::move(slots_);
  slots_.assign(std::max<std::size_t>(64, 2 * old.size()), {});
  for (const Slot& entry : old) {
    if (entry.entry == 0) continue;
    std::size_t i = first_slot(entry.key);
    while (slots_[i].entry != 0) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = entry;
  }
}

template class TupleTable<PredicateId, AtomId>;
template class TupleTable<ActionNameId, InstanceId>;

AtomIndex::AtomIndex(const IdVector<PredicateId, Predicate>& predicates, std::size_t num_objects)
    : num_objects_(num_objects), by_predicate_(predicates.size()), by_argument_(predicates.size()) {
  for (const Predicate& predicate : predicates) arity_.push_back(predicate.parameters.size());
}

void AtomIndex::add(const AtomTable& atoms, AtomId id) {
  const PredicateId predicate = atoms.name(id);
  by_predicate_[predicate].push_back(id);
  if (!contains_.contains(id)) contains_.resize(std::max<std::size_t>(index(id) + 1, 2 * contains_.size()), false);
  contains_[id] = true;
  if (arity_[predicate] < 2) return;  // a unary atom is found by lookup, never by scanning
  std::vector<std::vector<AtomId>>& lists = by_argument_[predicate];
  if (lists.empty()) lists.resize(arity_[predicate] * num_objects_);
  const std::span<const ObjectId> arguments = atoms.arguments(id);
  for (std::size_t p = 0; p < arguments.size(); ++p) lists[p * num_objects_ + index(arguments[p])].push_back(id);
}

const std::vector<AtomId>& AtomIndex::with_argument(PredicateId predicate, std::size_t position,
                                                    ObjectId object) const {
  static const std::vector<AtomId> kEmpty;
  const std::vector<std::vector<AtomId>>& lists = by_argument_[predicate];
  if (lists.empty()) return arity_[predicate] < 2 ? by_predicate_[predicate] : kEmpty;
  return lists[position * num_objects_ + index(object)];
}

}  // namespace metactrl::pddl
