// Conditions as a robot is asked for them, or a reader told: numbers by what they are compared with, (>= (battery r) 3), and
// not by the values of which a ground task has a fact each.
#ifndef METACTRL_SRC_EXCHANGE_ASKED_H_
#define METACTRL_SRC_EXCHANGE_ASKED_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "metactrl/task.h"
#include "pddl/ast.h"
#include "task/definition.h"

namespace metactrl::exchange {

struct Asked {
  enum class Kind : std::uint8_t { kTrue, kFalse, kFact, kAnd, kOr, kAtLeast, kMatching };
  Kind kind = Kind::kTrue;
  bool negated = false;  // kFact, kMatching
  std::string fact;      // kFact: "(on a b)", "(>= (battery r) 3)"
  std::uint32_t count = 0;
  std::uint32_t columns = 0;  // kMatching
  std::vector<Asked> children;
};

// "(not (open box))", "(or (a) (b))". Counting, which PDDL lacks, is "(at-least 2 (a) (b) (c))" and "(pairs 2 ((a) (b))
// ((c) (d)))": so many of the facts in distinct rows and columns.
std::string to_string(const Asked& asked);

class AskedConditions {
 public:
  explicit AskedConditions(const Task& task);

  // The conjuncts of the action's precondition, which is this formula. Comparisons are those of the domain, where
  // they stand by themselves there.
  std::vector<Asked> precondition(const PlanStep& step, const task::Formula& formula) const;
  // Of a goal, or of what is always to hold, with its text.
  std::vector<Asked> goal(const std::string& text, const task::Formula& formula) const;
  // Is this text of a fact one of a number's value? Then what it says, "(= (battery r) 3)".
  std::optional<std::string> number_text(const std::string& fact) const;

 private:
  // A number with its values: those of the ground task, ascending.
  struct Number {
    std::string text;
    std::map<internal::Rational, task::FactId> values;
    bool given = false;  // has a value at the start, and so ever after
  };
  using Values = std::set<internal::Rational>;

  std::vector<Asked> conjuncts(const task::Formula& formula, const std::vector<std::string>* comparisons) const;
  Asked read(const task::Formula& formula) const;
  Asked any_of(const task::Formula& formula) const;
  Asked within(const Number& number, const Values& allowed) const;
  const Number* number_of(const task::Formula& literal) const;
  // Does it speak of numbers, and of nothing else?
  bool numbers_alone(const task::Formula& formula) const;

  const Task& task_;
  const pddl::Ast* ast_ = nullptr;
  std::map<std::string, Number> numbers_;
  std::map<task::FactId, std::pair<const Number*, internal::Rational>> facts_;
  std::map<std::string, std::string> texts_;  // of facts, as comparisons
};

}  // namespace metactrl::exchange

#endif  // METACTRL_SRC_EXCHANGE_ASKED_H_
