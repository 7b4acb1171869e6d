// Backwards: what a step asks for, and what is needed behind it and not made true by it.
#include "lookahead/plan_needs.h"

#include <algorithm>

namespace metactrl::lookahead {

namespace {

using task::ConditionId;
using task::ConditionPool;
using task::Literal;
using task::Word;

void add_literals(const task::Program& program, ConditionId condition, std::vector<std::uint32_t>& needs) {
  const ConditionPool::Node& node = program.conditions().node(condition);
  if (node.op == ConditionPool::Op::kAllOf) {
    for (const Literal literal : program.conditions().literals(node)) needs.push_back(literal.code);
  } else if (node.op == ConditionPool::Op::kAnd) {
    for (const ConditionId child : program.conditions().children(node)) add_literals(program, child, needs);
  }
}

bool makes(const task::Program& program, const task::ActionProgram& action, Literal literal) {
  const Word mask = Word{1} << (literal.bit() & 63);
  for (const task::WordEdit& edit : program.edits(action)) {
    if (edit.word != literal.bit() >> 6) continue;
    return literal.negated() ? (edit.keep & mask) == 0 && (edit.set & mask) == 0 : (edit.set & mask) != 0;
  }
  return false;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> needs_along(const task::Program& program, std::span<const ActionId> plan) {
  std::vector<std::vector<std::uint32_t>> all(plan.size() + 1);
  for (const ConditionId goal : program.goal_conditions()) add_literals(program, goal, all.back());
  for (std::size_t i = plan.size(); i-- > 0;) {
    const task::ActionProgram& action = program.action(plan[i]);
    std::vector<std::uint32_t>& needs = all[i];
    for (const std::uint32_t code : all[i + 1]) {
      if (!makes(program, action, Literal{code})) needs.push_back(code);
    }
    for (const Literal literal : program.precondition(action)) needs.push_back(literal.code);
    add_literals(program, action.residual, needs);
    std::sort(needs.begin(), needs.end());
    needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
  }
  return all;
}

}  // namespace metactrl::lookahead
