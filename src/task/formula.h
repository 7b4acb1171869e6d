// Conditions over facts.
#ifndef METACTRL_SRC_TASK_FORMULA_H_
#define METACTRL_SRC_TASK_FORMULA_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "metactrl/task.h"
#include "support/ids.h"

namespace metactrl::task {

using internal::ids;
using internal::IdVector;
using internal::index;
using internal::to_id;

// A ground atom that may be true or false.
enum class FactId : std::uint32_t {};

// A condition over facts in negation normal form.
struct Formula {
  enum class Kind : std::uint8_t {
    kTrue,
    kFalse,
    kLiteral,
    kAnd,
    kOr,
    kAtLeast,   // at least `count` children hold
    kMatching,  // children are a matrix with `count2` columns, row-major; `count` entries in distinct rows and columns
                // hold at once; `negated` turns the whole around (the only kind besides kLiteral that uses it)
  };
  Kind kind = Kind::kTrue;
  bool negated = false;
  FactId fact{};
  std::uint32_t count = 0;
  std::uint32_t count2 = 0;
  std::vector<Formula> children;

  static Formula literal(FactId fact, bool negated) {
    Formula formula;
    formula.kind = Kind::kLiteral;
    formula.fact = fact;
    formula.negated = negated;
    return formula;
  }
  static Formula constant(bool value) {
    Formula formula;
    formula.kind = value ? Kind::kTrue : Kind::kFalse;
    return formula;
  }
  bool is_true() const { return kind == Kind::kTrue; }
  bool is_false() const { return kind == Kind::kFalse; }
  // The same tree; formulas that mean the same may still differ.
  bool operator==(const Formula&) const = default;
};

// kAnd / kOr with constants folded and nested nodes of the same kind spliced in.
Formula make_and(std::vector<Formula> children);
Formula make_or(std::vector<Formula> children);
// kAtLeast with constant children folded.
Formula make_at_least(std::uint32_t count, std::vector<Formula> children);
// The negation, pushed to the literals.
Formula negate(const Formula& formula);
// Calls `visit(fact, negated)` for each literal, in order.
template <typename Visit>
void for_each_literal(const Formula& formula, const Visit& visit) {
  if (formula.kind == Formula::Kind::kLiteral) visit(formula.fact, formula.negated);
  for (const Formula& child : formula.children) for_each_literal(child, visit);
}

// A literal in a list of them.
class FactLiteral {
 public:
  FactLiteral() = default;
  FactLiteral(FactId fact, bool negated) : code_(index(fact) << 1 | static_cast<std::uint32_t>(negated)) {}
  FactId fact() const { return FactId{code_ >> 1}; }
  bool negated() const { return code_ & 1; }

 private:
  std::uint32_t code_ = 0;
};

// A condition where it stands: literals that all hold, or a formula of another kind.
struct ConditionView {
  std::span<const FactLiteral> literals;
  const Formula* other = nullptr;

  bool is_true() const { return other == nullptr ? literals.empty() : other->is_true(); }
  bool is_false() const { return other != nullptr && other->is_false(); }
  // The same as a tree.
  Formula formula() const;
};
template <typename Visit>
void for_each_literal(const ConditionView& condition, const Visit& visit) {
  for (const FactLiteral literal : condition.literals) visit(literal.fact(), literal.negated());
  if (condition.other != nullptr) for_each_literal(*condition.other, visit);
}

// What its children take.
std::size_t heap_bytes(const Formula& formula);

}  // namespace metactrl::task

#endif  // METACTRL_SRC_TASK_FORMULA_H_
