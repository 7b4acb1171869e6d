#include "decode/answer_size.h"

#include <algorithm>
#include <cstdint>

#include "text/token_automaton.h"

namespace metactrl::decode {

AnswerSize answer_size(const Constraint& constraint, unsigned horizon) {
  const TokenAutomaton& automaton = constraint.automaton();
  std::size_t entry = 1;
  for (std::uint32_t rank = 0; rank < automaton.num_entries(); ++rank) {
    entry = std::max(entry, automaton.tokens(rank).size());
  }
  // Numbers behind the first thousands are longer by a digit or two at most, and nobody writes so many.
  std::size_t prefix = 0;
  for (std::size_t i = 2; i <= std::min<std::size_t>(horizon, automaton.max_actions()) && i < 2000; ++i) {
    prefix = std::max(prefix, automaton.prefix(i).size());
  }
  AnswerSize size;
  size.fixed = std::max(automaton.opening().size(), automaton.empty_plan().size()) + 1;
  size.per_action = entry + prefix;
  return size;
}

}  // namespace metactrl::decode
