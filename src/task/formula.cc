#include "task/formula.h"

#include <utility>

namespace metactrl::task {

namespace {

// Shared by conjunction (neutral true, absorbing false) and disjunction (the other way round).
Formula make_junction(Formula::Kind kind, std::vector<Formula> children) {
  const Formula::Kind neutral = kind == Formula::Kind::kAnd ? Formula::Kind::kTrue : Formula::Kind::kFalse;
  const Formula::Kind absorbing = kind == Formula::Kind::kAnd ? Formula::Kind::kFalse : Formula::Kind::kTrue;
  Formula result;
  result.kind = kind;
  bool flat = true;
  for (Formula& child : children) {
    if (child.kind == absorbing) return std::move(child);
    flat = flat && child.kind != neutral && child.kind != kind;
  }
  if (flat) {
    result.children = std::move(children);
  } else {
    for (Formula& child : children) {
      if (child.kind == neutral) continue;
      if (child.kind == kind) {
        for (Formula& grandchild : child.children) result.children.push_back(std::move(grandchild));
      } else {
        result.children.push_back(std::move(child));
      }
    }
  }
  if (result.children.empty()) return Formula::constant(neutral == Formula::Kind::kTrue);
  if (result.children.size() == 1) {
    Formula only = std::move(result.children.front());
    return only;
  }
  return result;
}

}  // namespace

Formula make_and(std::vector<Formula> children) { return make_junction(Formula::Kind::kAnd, std::move(children)); }
Formula make_or(std::vector<Formula> children) { return make_junction(Formula::Kind::kOr, std::move(children)); }

Formula make_at_least(std::uint32_t count, std::vector<Formula> children) {
  std::vector<Formula> open;
  for (Formula& child : children) {
    if (child.is_true()) {
      if (count > 0) --count;
    } else if (!child.is_false()) {
      open.push_back(std::move(child));
    }
  }
  if (count == 0) return Formula::constant(true);
  if (count > open.size()) return Formula::constant(false);
  if (count == open.size()) return make_and(std::move(open));
  if (count == 1) return make_or(std::move(open));
  Formula result;
  result.kind = Formula::Kind::kAtLeast;
  result.count = count;
  result.children = std::move(open);
  return result;
}

Formula negate(const Formula& formula) {
  std::vector<Formula> children;
  switch (formula.kind) {
    case Formula::Kind::kTrue:
      return Formula::constant(false);
    case Formula::Kind::kFalse:
      return Formula::constant(true);
    case Formula::Kind::kLiteral:
      return Formula::literal(formula.fact, !formula.negated);
    case Formula::Kind::kMatching: {
      Formula result = formula;
      result.negated = !result.negated;
      return result;
    }
    case Formula::Kind::kAnd:
    case Formula::Kind::kOr:
    case Formula::Kind::kAtLeast:
      break;
  }
  children.reserve(formula.children.size());
  for (const Formula& child : formula.children) children.push_back(negate(child));
  if (formula.kind == Formula::Kind::kAnd) return make_or(std::move(children));
  if (formula.kind == Formula::Kind::kOr) return make_and(std::move(children));
  // Not "at least n of m" is "at least m - n + 1 do not".
  const auto total = static_cast<std::uint32_t>(children.size());
  return make_at_least(total - formula.count + 1, std::move(children));
}

Formula ConditionView::formula() const {
  if (other != nullptr) return *other;
  std::vector<Formula> children;
  children.reserve(literals.size());
  for (const FactLiteral literal : literals) children.push_back(Formula::literal(literal.fact(), literal.negated()));
  return make_and(std::move(children));
}

std::size_t heap_bytes(const Formula& formula) {
  std::size_t bytes = formula.children.size() * sizeof(Formula);
  for (const Formula& child : formula.children) bytes += heap_bytes(child);
  return bytes;
}

}  // namespace metactrl::task
