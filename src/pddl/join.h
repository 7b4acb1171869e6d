// Enumerating bindings: all ways to choose objects for variables so that given atoms are in a table.
#ifndef METACTRL_SRC_PDDL_JOIN_H_
#define METACTRL_SRC_PDDL_JOIN_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "pddl/ast.h"
#include "pddl/atom_table.h"
#include "support/meter.h"

namespace metactrl::pddl {

// The objects a variable may take, as a list and as a membership test.
struct Range {
  std::vector<ObjectId> objects;  // ascending
  IdVector<ObjectId, bool> contains;
};

// Computes and shares ranges: variables with the same types have one. Variables must outlive the table.
class RangeTable {
 public:
  explicit RangeTable(const Ast& ast) : ast_(ast) {}
  const Range& of(const Variable& variable);

 private:
  const Ast& ast_;
  std::map<std::vector<TypeId>, std::unique_ptr<Range>> by_types_;
  std::unordered_map<const Variable*, const Range*> by_variable_;  // a shortcut past the comparison of type lists
};

// A conjunction of atoms that a binding must satisfy.
using Conjunction = std::vector<const Atom*>;

// The positive atoms that must hold for `condition` (for its negation when `negated`) to hold, as a short list of
// alternatives: each is a conjunction, and whenever the condition holds all atoms of at least one alternative hold. An
// empty conjunction means "nothing is known". Variables bound by quantifiers inside the condition that occur in the
// result are appended to `inner`.
std::vector<Conjunction> required_atoms(const Condition& condition, bool negated, std::vector<VariableId>& inner);

// Backtracking join, most constrained atom first. Calls `found` for every binding of `variables` (those unbound on
// entry) that is type-correct and makes every atom of `conjunction` a member of `atoms` as listed in `index`. Bindings
// may repeat.
class Joiner {
 public:
  // Every binding that is tried is counted.
  Joiner(const AtomTable& atoms, const AtomIndex& index, RangeTable& ranges, internal::Meter& meter)
      : atoms_(atoms), index_(index), ranges_(ranges), meter_(meter) {}

  void enumerate(const VariableTable& table, std::span<const VariableId> variables, const Conjunction& conjunction,
                 Binding& binding, const std::function<void()>& found);

  // Extends `binding` so that `atom` becomes atom number `id`; the slots set are appended to `trail`. False (and
  // nothing is undone: the caller resets the trail) when it does not fit.
  bool unify(const VariableTable& table, const Atom& atom, AtomId id, Binding& binding, std::vector<VariableId>& trail);

 private:
  struct Choice {
    std::size_t atom = 0;
    std::size_t cost = 0;
    const std::vector<AtomId>* candidates = nullptr;  // null: fully bound, a lookup
  };
  Choice cheapest(const Conjunction& conjunction, const std::vector<bool>& done, const Binding& binding) const;
  void match_atoms(std::size_t left);
  void match_variables(std::size_t next);

  const AtomTable& atoms_;
  const AtomIndex& index_;
  RangeTable& ranges_;
  internal::Meter& meter_;

  // The enumeration in progress.
  struct Frame {
    const VariableTable* table = nullptr;
    std::span<const VariableId> variables;
    const Conjunction* conjunction = nullptr;
    std::vector<bool> done;
    Binding* binding = nullptr;
    const std::function<void()>* found = nullptr;
  };
  Frame frame_;
  std::vector<ObjectId> lookup_;
};

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_JOIN_H_
