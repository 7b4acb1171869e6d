#include "lookahead/literal_actions.h"

#include <algorithm>

namespace metactrl::lookahead {

namespace {

using task::ConditionId;
using task::ConditionPool;
using task::Literal;
using task::Program;
using task::Word;

LiteralCode code(std::uint32_t bit, bool negated) { return bit << 1 | static_cast<std::uint32_t>(negated); }

class Reader {
 public:
  explicit Reader(const Program& program) : program_(program) {}

  std::vector<LiteralCode> relevant(std::span<const Literal> literals) const {
    std::vector<LiteralCode> out;
    for (const Literal& literal : literals) {
      if (literal.bit() < program_.num_relevant_bits()) out.push_back(literal.code);
    }
    return out;
  }

  std::vector<LiteralCode> conjunction(ConditionId condition) const {
    const ConditionPool::Node& node = program_.conditions().node(condition);
    if (node.op != ConditionPool::Op::kAllOf) return {};
    return relevant(program_.conditions().literals(node));
  }

  // What is set stays, whatever clears it.
  std::vector<LiteralCode> made(std::span<const task::WordEdit> edits) const {
    std::vector<LiteralCode> out;
    for (const task::WordEdit& edit : edits) {
      for (std::uint32_t i = 0; i < 64; ++i) {
        const std::uint32_t bit = 64 * edit.word + i;
        const Word mask = Word{1} << i;
        if (bit >= program_.num_relevant_bits()) break;
        if ((edit.set & mask) != 0) {
          out.push_back(code(bit, false));
        } else if ((edit.keep & mask) == 0) {
          out.push_back(code(bit, true));
        }
      }
    }
    return out;
  }

  LiteralAction action(ActionId id) const {
    const task::ActionProgram& source = program_.action(id);
    LiteralAction out;
    out.needs = relevant(program_.precondition(source));
    out.made = made(program_.edits(source));
    for (const task::ConditionalEffect& effect : program_.effects(source))
      out.conditional.push_back({conjunction(effect.condition), made(program_.edits(effect))});
    for (const LiteralCode literal : out.made) {
      const bool set_again = std::ranges::any_of(out.conditional, [&](const LiteralAction::Change& change) {
        return (literal & 1) != 0 && std::ranges::find(change.made, opposite(literal)) != change.made.end();
      });
      if (!set_again) out.undone.push_back(opposite(literal));
    }
    return out;
  }

 private:
  const Program& program_;
};

}  // namespace

LiteralTask::LiteralTask(const Program& program) : num_literals(2 * program.num_relevant_bits()) {
  const Reader reader(program);
  std::vector<Word> state(program.total_words());
  program.initial(state.data());
  for (std::uint32_t bit = 0; bit < program.num_relevant_bits(); ++bit)
    initial.push_back(code(bit, !task::test_bit(state.data(), bit)));
  actions.reserve(program.relevant_action_list().size());
  for (const ActionId id : program.relevant_action_list()) actions.push_back(reader.action(id));
  for (const ConditionId goal : program.goal_conditions()) goals.push_back(reader.conjunction(goal));
}

}  // namespace metactrl::lookahead
