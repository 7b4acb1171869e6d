// Fast Downward's translator output, version 3: finite-domain variables, operators, axioms.
//
//     Diagnostics diagnostics;
//     sas::SasTask task = sas::parse(text, "output.sas", diagnostics);
//     if (!diagnostics.has_errors()) task::Definition definition = sas::to_definition(task);
//
// Two things are made from a file: a task::Definition, with one fact per value of each variable, and a SasReference,
// which executes plans on the variables themselves and shares no code with the former.
//
// Operators that have the same name are one action. The translator writes them when it splits a disjunctive or
// existential precondition; the action is applicable when one of them is, and the first of those in the file takes
// effect.
#ifndef METACTRL_SRC_SAS_SAS_H_
#define METACTRL_SRC_SAS_SAS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metactrl/error.h"
#include "metactrl/task.h"
#include "task/definition.h"
#include "task/reference.h"

namespace metactrl::sas {

struct Variable {
  std::string name;
  std::int32_t axiom_layer = -1;    // >= 0: derived
  std::vector<std::string> values;  // "Atom at(p1, l1)", "NegatedAtom ...", "<none of those>"
  bool derived() const { return axiom_layer >= 0; }
};

// variable = value
struct Assignment {
  std::uint32_t variable = 0;
  std::uint32_t value = 0;
  bool operator==(const Assignment&) const = default;
};

struct Effect {
  std::vector<Assignment> conditions;
  Assignment result;
  bool operator==(const Effect&) const = default;
};

struct Operator {
  std::string name;  // lower case, "unload p1 t1 l1"
  std::vector<Assignment> precondition;
  std::vector<Effect> effects;  // in the order of the file; a later one wins
  double cost = 1;
  std::uint32_t line = 0;
};

struct Axiom {
  std::vector<Assignment> body;
  Assignment head;
};

struct SasTask {
  std::string file;
  bool has_costs = false;
  std::vector<Variable> variables;
  std::vector<std::uint32_t> initial;  // for a derived variable: its default value
  std::vector<Assignment> goal;
  std::vector<Operator> operators;
  std::vector<Axiom> axioms;
};

// Reads and checks a file. Errors go to `diagnostics`; when it holds errors the result is incomplete and must not be
// used. A value out of its range is reported and reading goes on, a file that does not keep to the format is given up
// at that line. Linear in the length of the text.
SasTask parse(std::string_view text, const std::string& file, Diagnostics& diagnostics);

// "(at p1 l1)", "(not (at p1 l1))", or "(var3 = <none of those>)".
std::string value_text(const SasTask& task, Assignment assignment);

// Operators by name, in the order of their first appearance; each list in the order of the file.
std::vector<std::vector<std::uint32_t>> group_operators(const SasTask& task);

// Throws InputError when operators of one name cannot be one action (different costs, different numbers of arguments),
// and when the facts would outgrow the file by far: more than `kMaxGuardLiterals` literals to say which of several
// operators or effects counts, more than `kMaxDeletes` facts to delete.
task::Definition to_definition(const SasTask& task);
constexpr std::size_t kMaxGuardLiterals = 4'000'000;
constexpr std::size_t kMaxDeletes = 50'000'000;

// The meaning of a plan over variable assignments. Immutable; may be used by many threads.
class SasReference : public task::ReferenceSemantics {
 public:
  explicit SasReference(std::shared_ptr<const SasTask> task);

  using task::ReferenceSemantics::validate;
  // A step is linear in the size of the task: it is asked before each whether to go on.
  Validation validate(std::span<const PlanStep> plan, const Stop& stop, std::size_t bytes) const override;
  std::vector<std::string> initial_facts() const override;

  // --- as an oracle --------------------------------------------------------------------------------------------------
  // A value for each variable, derived ones included.
  using Values = std::vector<std::uint32_t>;
  Values initial() const;
  std::size_t num_actions() const { return groups_.size(); }
  const std::string& action_name(std::size_t action) const { return task_->operators[groups_[action][0]].name; }
  // The successor, or nothing when no operator of this name is applicable.
  std::optional<Values> apply(const Values& values, std::size_t action) const;
  bool goal_holds(const Values& values) const;

 private:
  void derive(Values& values) const;
  std::optional<std::uint32_t> applicable_operator(const Values& values, std::size_t action) const;
  // Why `action` is not applicable.
  std::string explain(const Values& values, std::size_t action) const;
  std::string problem_with_name(const PlanStep& step) const;

  std::shared_ptr<const SasTask> task_;
  std::vector<std::vector<std::uint32_t>> groups_;
  std::map<std::string, std::size_t, std::less<>> actions_;
  std::vector<std::vector<std::uint32_t>> layers_;  // axioms of each layer
};

}  // namespace metactrl::sas

#endif  // METACTRL_SRC_SAS_SAS_H_
