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

// A set of tuples (symbol, objects...) with dense ids in insertion order. Symbols are predicates or actions; all tuples
// of a symbol have the same arity. Open addressing, tuples in one arena.
class AtomTable {
 public:
  // The id and whether the tuple is new.
  std::pair<std::uint32_t, bool> insert(std::uint32_t symbol, std::span<const ObjectId> arguments);
  std::optional<std::uint32_t> find(std::uint32_t symbol, std::span<const ObjectId> arguments) const;
  std::size_t size() const { return symbols_.size(); }
  std::uint32_t symbol(std::uint32_t id) const { return symbols_[id]; }
  std::span<const ObjectId> arguments(std::uint32_t id) const {
    return {arena_.data() + first_[id], first_[id + 1] - first_[id]};
  }

 private:
  static std::uint64_t hash(std::uint32_t symbol, std::span<const ObjectId> arguments);
  std::size_t slot(std::uint32_t symbol, std::span<const ObjectId> arguments) const;
  void grow();

  std::vector<std::uint32_t> symbols_;
  std::vector<std::size_t> first_{0};
  std::vector<ObjectId> arena_;
  std::vector<std::uint32_t> slots_;  // id + 1, 0 when empty; power of two
};

// For each predicate the ids of its atoms, and for each (predicate, position, object) those with that object there.
class AtomIndex {
 public:
  AtomIndex(const std::vector<Predicate>& predicates, std::size_t num_objects);
  void add(const AtomTable& atoms, std::uint32_t id);
  bool contains(std::uint32_t id) const { return id < contains_.size() && contains_[id]; }
  const std::vector<std::uint32_t>& with_predicate(PredicateId predicate) const { return by_predicate_[predicate]; }
  const std::vector<std::uint32_t>& with_argument(PredicateId predicate, std::size_t position, ObjectId object) const;

 private:
  std::size_t num_objects_;
  std::vector<std::vector<std::uint32_t>> by_predicate_;
  // [predicate][position * num_objects + object]; allocated when the predicate has its first atom.
  std::vector<std::vector<std::vector<std::uint32_t>>> by_argument_;
  std::vector<std::size_t> arity_;
  std::vector<bool> contains_;
};

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_ATOM_TABLE_H_
