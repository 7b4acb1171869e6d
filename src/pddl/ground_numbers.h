// Numbers of a ground task, as facts.
#ifndef METACTRL_SRC_PDDL_GROUND_NUMBERS_H_
#define METACTRL_SRC_PDDL_GROUND_NUMBERS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "pddl/ast.h"
#include "pddl/atom_table.h"
#include "support/meter.h"
#include "task/definition.h"

namespace metactrl::pddl {

// A function with objects for its parameters that some action changes.
enum class NumberId : std::uint32_t {};

// An expression under a binding. What no action changes is a number by now.
struct GroundExpression {
  Expression::Kind kind = Expression::Kind::kNumber;
  std::optional<Rational> number;  // kNumber; nothing: without a value
  NumberId fluent{};               // kFunction
  std::vector<GroundExpression> children;
};

struct GroundComparison {
  Condition::Comparison comparison = Condition::Comparison::kEqual;
  GroundExpression left;
  GroundExpression right;
};

// One change of a number by an instance of an action.
struct GroundChange {
  NumberId target{};
  NumericEffect::Change change = NumericEffect::Change::kAssign;
  GroundExpression amount;
  bool conditional = false;              // it has a `when`, which may fail
  std::vector<GroundComparison> guards;  // hold whenever it happens
  task::Formula when;                    // set once facts have numbers
};

// The values that numbers can take, and what comparisons and changes mean for them. First every change is announced,
// then `close` finds the values; the rest may be asked after that.
class NumberTable {
 public:
  NumberTable(const Ast& ast, internal::Meter& meter);

  GroundExpression ground(const Expression& expression, const Binding& binding);
  NumberId number(FunctionId function, std::vector<ObjectId> arguments);
  // The comparisons that hold whenever `condition` does.
  void guards(const Condition& condition, const Binding& binding, std::vector<GroundComparison>& out);
  // Does the comparison read one of the numbers?
  static bool reads(const GroundComparison& comparison, const std::set<NumberId>& numbers);

  // All changes that the instance makes, those of one target together: those that happen at once, and those `later`, of
  // the same target, that read what the first have left.
  void announce(InstanceId by, std::vector<GroundChange> changes, std::vector<GroundChange> later = {});
  // The number never leaves this range, which is known from elsewhere.
  void limit(NumberId number, std::optional<Rational> least, std::optional<Rational> largest);
  std::optional<Rational> initial(NumberId number) const { return numbers_[number].initial; }
  std::size_t size() const { return numbers_.size(); }
  // What was announced: changes of one target that an instance makes at once.
  struct Together {
    InstanceId by{};
    std::span<const GroundChange> changes;
  };
  std::vector<Together> announced() const;
  // Where numbers take more values than there is room for, some are followed (Definition::cut). Throws TaskTooLarge when
  // that is not enough.
  void close();
  // A fact for every number and value.
  void add_facts(task::Definition& definition);

  task::Formula compare(const Condition& condition, const Binding& binding);
  // Adds the effects of the changes, and to `precondition` what must hold for them to have a meaning.
  void add_effects(std::vector<GroundChange> changes, std::vector<task::EffectDefinition>& effects,
                   task::Formula& precondition);

 private:
  struct Number {
    task::Symbol<FunctionId> symbol;
    std::optional<Rational> initial;
    std::set<Rational> values;
    std::vector<Rational> order;  // the same, in the order in which they were found
    std::map<Rational, task::FactId> facts;
    std::optional<Rational> least;  // where known
    std::optional<Rational> largest;
    bool cut = false;                                            // there are more values than those
    std::size_t room = std::numeric_limits<std::size_t>::max();  // for so many values, where numbers share it
    bool rises = false;                                          // announced changes
    bool falls = false;
    bool jumps = false;
  };
  struct Announced {
    InstanceId by{};
    std::vector<GroundChange> changes;
    std::vector<GroundChange> later;
  };
  // Thresholds of a function that is only ever compared with what does not change, and never read by effects.
  struct Thresholds {
    bool known = true;
    std::optional<Rational> least;
    std::optional<Rational> largest;
  };
  using Values = std::map<NumberId, Rational>;

  void find_thresholds();
  void note_comparison(const Condition& condition);
  void note_read(const Expression& expression);
  void note_terms(const Expression& expression, std::vector<const Expression*>& out) const;
  bool changing(const Expression& expression) const;
  bool bounds(const Expression& expression, Thresholds& out) const;
  bool clamps(NumberId number) const;
  Rational clamp(NumberId number, const Rational& value) const;

  static std::optional<Rational> evaluate(const GroundExpression& expression, const Values& values);
  static void collect(const GroundExpression& expression, std::set<NumberId>& out);
  static bool holds(const GroundComparison& comparison, const Values& values);
  bool insert(NumberId id, const std::optional<Rational>& value);
  // Changes that happen together, and those behind them.
  struct Case {
    std::vector<const GroundChange*> happen;
    std::vector<GroundComparison> guards;
    std::vector<const GroundChange*> later;
    std::vector<GroundComparison> later_guards;
    std::set<NumberId> numbers;  // that they read
    std::size_t seen = 0;        // how many values these had in all
    bool tried = false;
  };
  void add_cases(const Announced& announced, std::vector<Case>& cases) const;
  // All values, until there are too many.
  void follow_all(std::vector<Case>& cases);
  // Some, round by round: what one action makes of the values from before. Ends early where numbers that a change reads
  // have too many together.
  void follow_some(std::vector<Case>& cases);
  void start_values();
  static std::size_t share(std::size_t numbers);
  bool make_room(const std::vector<Case>& cases);
  // What comes of new values of the only number that the case reads.
  bool take_new(Case& one);
  double num_choices(const std::set<NumberId>& numbers) const;
  // Enters what comes of these values; true when something is new.
  bool take(const Case& one, const Values& values);
  static std::vector<const GroundComparison*> judged_by(const std::set<NumberId>& numbers,
                                                        std::span<const GroundComparison> guards);
  // Calls visit(values) for every choice of values of the numbers that agrees with the guards on them.
  void for_each_choice(const std::set<NumberId>& numbers, std::span<const GroundComparison> guards,
                       const std::function<void(const Values&)>& visit);
  task::Formula literals(const Values& values) const;
  // What the changes that happen together make of their target; nothing when that has no value.
  std::optional<Rational> result(std::span<const GroundChange* const> changes, const Values& values) const;
  static bool adds(const GroundChange& change);
  static std::set<NumberId> reads(std::span<const GroundChange* const> changes);
  // Calls visit(the changes that happen, those that do not) for each way in which changes of one target can happen.
  void for_each_mode(std::span<const GroundChange> changes,
                     const std::function<void(const std::vector<const GroundChange*>&,
                                              const std::vector<const GroundChange*>&)>& visit) const;
  std::string text(NumberId number) const;
  [[noreturn]] void refuse(NumberId number, const std::string& what) const;

  const Ast& ast_;
  internal::Meter& meter_;
  std::map<std::pair<FunctionId, std::vector<ObjectId>>, Rational> initial_;
  std::map<std::pair<FunctionId, std::vector<ObjectId>>, NumberId> ids_;
  IdVector<NumberId, Number> numbers_;
  IdVector<FunctionId, Thresholds> thresholds_;
  std::set<std::vector<FunctionId>> compared_;  // with each other: one for each term, ascending
  std::vector<Announced> announced_;            // by instance and target
  bool closed_ = false;
  bool too_many_ = false;                                        // values
  std::uint32_t depth_ = 0;                                      // complete rounds, where some are followed
  std::vector<std::pair<NumberId, Rational>>* found_ = nullptr;  // in the round that is going on
};

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_GROUND_NUMBERS_H_
