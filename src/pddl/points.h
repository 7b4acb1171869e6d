// What the two points of an action read and change, and what it needs in between.
#ifndef METACTRL_SRC_PDDL_POINTS_H_
#define METACTRL_SRC_PDDL_POINTS_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "metactrl/task.h"
#include "pddl/ast.h"
#include "pddl/join.h"
#include "support/meter.h"

namespace metactrl::pddl {

// What a point in time has to do with. Ascending, without repetition.
struct Touched {
  using Key = std::uint32_t;  // a fact, a number, or all facts of a predicate
  std::vector<Key> reads;
  std::vector<Key> writes;
  std::vector<Key> adds;
  std::vector<Key> sums;  // of `adds`, the numbers
  // It writes a fact twice, or reads under a condition what it writes. That has a meaning, but other judges of plans take
  // it for two points that touch as soon as anything else happens at the same time: so nothing does.
  bool alone = false;
  bool conditional = false;
};

struct PlanPoints {
  Touched start;
  Touched end;
  Touched over_all;
};

// Do the two lists have something in common?
bool meet(const std::vector<Touched::Key>& a, const std::vector<Touched::Key>& b);
// Does one change what the other reads or changes? Two that add to a number do not.
bool touch(const Touched& a, const Touched& b);
// Does the action touch the end of one that hosts it, or what that one needs over all?
bool touches_host(const PlanPoints& action, const PlanPoints& host);

// Keys are those of one reader. Quantifiers are tried for all objects. Points that change what the same trajectory constraint
// speaks of touch: in whatever order the others come, it sees the same states.
class PointReader {
 public:
  PointReader(const Ast& ast, internal::Meter& meter);

  PlanPoints read(ActionNameId name, std::span<const ObjectId> arguments);
  // It must name an action and objects of the task.
  PlanPoints read(const PlanStep& step);
  Touched read(const TimedFact& timed);

 private:
  enum class Sort : std::uint8_t { kFact, kNumber, kPredicate, kAnyNumber, kConstraint };
  struct KeyParts {
    Sort sort;
    std::uint32_t name;
    std::vector<ObjectId> objects;
    auto operator<=>(const KeyParts&) const = default;
  };

  // What a trajectory constraint speaks of.
  struct Watched {
    std::set<PredicateId> predicates;
    std::set<FunctionId> functions;
    std::set<ActionNameId> actions;
  };
  void watch(const Constraint& constraint);
  void add_watched(const std::vector<Effect>& effects, const std::vector<NumericEffect>& changes,
                   std::optional<ActionNameId> begins, Touched& out);

  Touched::Key key(Sort sort, std::uint32_t name, const std::vector<Term>& terms, const Binding& binding);
  template <typename Visit>
  void for_each(const VariableTable& table, std::span<const VariableId> variables, Binding& binding,
                const Visit& visit);
  // Whether anything below it can change: what cannot is not worth its quantifiers.
  bool can_change(const Condition& condition) const;
  // A derived fact can follow from any fact of the predicates below it.
  void add_predicate(PredicateId predicate, Touched& out);
  void add_body(const Condition& condition, Touched& out);
  void add_condition(const Action& action, const Condition& condition, Binding& binding, Touched& out);
  void add_expression(const Expression& expression, const Binding& binding, Touched& out);
  void add_effects(const Action& action, const std::vector<Effect>& effects, Binding& binding, Touched& out);
  void add_changes(const Action& action, const std::vector<NumericEffect>& effects, Binding& binding, Touched& out);

  const Ast& ast_;
  internal::Meter& meter_;
  RangeTable ranges_;
  IdVector<PredicateId, bool> changes_;
  std::map<std::string, ActionNameId, std::less<>> actions_;
  std::map<std::string, ObjectId, std::less<>> objects_;
  std::vector<Watched> watched_;
  std::map<KeyParts, Touched::Key> keys_;
};

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_POINTS_H_
