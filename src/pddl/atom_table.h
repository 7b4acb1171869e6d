// Interned ground atoms with an index for joins.
#ifndef METACTRL_SRC_PDDL_ATOM_TABLE_H_
#define METACTRL_SRC_PDDL_ATOM_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "pddl/ast.h"

namespace metactrl::pddl {

// A set of tuples (name, objects...) with dense ids in insertion order. Names are predicates or actions; all tuples of
// a name have the same arity. Open addressing, tuples in one arena; those of a name with up to two objects that has many
// of all that there could be are found in an array of all that there could be.
template <typename Name, typename Id>
class TupleTable {
 public:
  // Without the number of objects there are no such arrays.
  explicit TupleTable(std::size_t num_objects = 0) : num_objects_(num_objects) {}

  // The id and whether the tuple is new.
  std::pair<Id, bool> insert(Name name, std::span<const ObjectId> arguments);
  // For a tuple that is known to be new and will not be looked for.
  Id append(Name name, std::span<const ObjectId> arguments);
  std::optional<Id> find(Name name, std::span<const ObjectId> arguments) const;
  std::size_t size() const { return names_.size(); }
  internal::IdRange<Id> all() const { return names_.all(); }
  Name name(Id id) const { return names_[id]; }
  std::span<const ObjectId> arguments(Id id) const {
    return {arena_.data() + first_[id], first_[next_of(id)] - first_[id]};
  }

 private:
  // Where a tuple is looked for. `key` tells most tuples apart; that of a short tuple is the tuple itself, so that it is
  // found without a look at the arena.
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t entry = 0;  // id + 1, 0 when empty
  };
  static constexpr std::uint64_t kHashed = std::uint64_t{1} << 63;
  // An array is made for a name that has one of so many tuples that there could be.
  static constexpr std::size_t kSparse = 32;
  struct Dense {
    std::size_t count = 0;
    std::vector<std::uint32_t> entries;  // as in a slot; empty while there is no array
  };

  static std::uint64_t hash(Name name, std::span<const ObjectId> arguments);
  static std::uint64_t key_of(Name name, std::span<const ObjectId> arguments);
  std::size_t first_slot(std::uint64_t key) const;
  std::size_t slot(std::uint64_t key, Name name, std::span<const ObjectId> arguments) const;
  void grow();
  // Where the tuple is in the array of its name; nothing where there is no such array.
  std::optional<std::size_t> place(Name name, std::span<const ObjectId> arguments) const;
  void count(Name name, std::size_t arity);

  std::size_t num_objects_;
  std::size_t num_hashed_ = 0;
  IdVector<Name, Dense> dense_;
  IdVector<Id, Name> names_;
  IdVector<Id, std::size_t> first_{0};
  std::vector<ObjectId> arena_;
  std::vector<Slot> slots_;  // a power of two
};

// A ground atom.
enum class AtomId : std::uint32_t {};
using AtomTable = TupleTable<PredicateId, AtomId>;
extern template class TupleTable<PredicateId, AtomId>;

// An action with objects for its parameters.
enum class InstanceId : std::uint32_t {};
using InstanceTable = TupleTable<ActionNameId, InstanceId>;
extern template class TupleTable<ActionNameId, InstanceId>;

// For each predicate the ids of its atoms, and for each (predicate, position, object) those with that object there.
class AtomIndex {
 public:
  AtomIndex(const IdVector<PredicateId, Predicate>& predicates, std::size_t num_objects);
  void add(const AtomTable& atoms, AtomId id);
  bool contains(AtomId id) const { return contains_.contains(id) && contains_[id]; }
  const std::vector<AtomId>& with_predicate(PredicateId predicate) const { return by_predicate_[predicate]; }
  const std::vector<AtomId>& with_argument(PredicateId predicate, std::size_t position, ObjectId object) const;

 private:
  std::size_t num_objects_;
  IdVector<PredicateId, std::vector<AtomId>> by_predicate_;
  // [predicate][position * num_objects + object]; allocated when the predicate has its first atom.
  IdVector<PredicateId, std::vector<std::vector<AtomId>>> by_argument_;
  IdVector<PredicateId, std::size_t> arity_;
  IdVector<AtomId, bool> contains_;
};

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_ATOM_TABLE_H_
