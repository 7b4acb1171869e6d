// Limits of numbers that follow from facts: a truck's load falls when something is taken out of it, which must be in it.
#ifndef METACTRL_SRC_PDDL_NUMBER_LIMITS_H_
#define METACTRL_SRC_PDDL_NUMBER_LIMITS_H_

#include <map>
#include <optional>
#include <vector>

#include "pddl/ast.h"
#include "pddl/ground_numbers.h"
#include "pddl/reach.h"

namespace metactrl::pddl {

// Told of every instance of every action, then asked once.
class NumberLimits {
 public:
  NumberLimits(const Ast& ast, const Reachable& reachable);

  void add(const Action& action, const Binding& binding, const std::map<NumberId, std::vector<GroundChange>>& changes);
  // Tells the table what is known of each number.
  void apply(NumberTable& numbers) const;

 private:
  struct Instance {
    std::vector<AtomId> consumed;  // required and deleted, whatever else happens
    std::vector<AtomId> produced;
    std::map<NumberId, Rational> delta;
  };
  using Weights = std::map<AtomId, Rational>;

  static std::optional<Rational> total(const std::vector<GroundChange>& changes);
  void collect_required(const Condition& condition, const Binding& binding, std::vector<AtomId>& out) const;
  std::optional<AtomId> atom(const Atom& atom, const Binding& binding) const;
  // How much of the number, times `sign`, the facts of the initial state are worth in all: it falls no further than
  // that. Nothing when nothing is known.
  std::optional<Rational> fall(NumberId number, bool downwards) const;
  std::optional<Rational> delta(const Instance& instance, NumberId number, bool downwards) const;

  const Reachable& reachable_;
  IdVector<PredicateId, bool> plain_;  // no conditional or quantified effect adds it
  std::map<NumberId, bool> known_;     // every change of it adds or subtracts a constant, unconditionally
  std::vector<Instance> instances_;
  std::map<AtomId, std::vector<std::size_t>> producers_;  // places in instances_
  std::map<AtomId, bool> initial_;
};

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_NUMBER_LIMITS_H_
