// How many tokens a plan can take, before it is written.
#ifndef METACTRL_SRC_DECODE_ANSWER_SIZE_H_
#define METACTRL_SRC_DECODE_ANSWER_SIZE_H_

#include <cstddef>

#include "metactrl/constraint.h"

namespace metactrl::decode {

struct AnswerSize {
  std::size_t fixed = 0;       // opening, closing and end of turn
  std::size_t per_action = 1;  // with what follows the action, and its number
  std::size_t of(std::size_t actions) const { return fixed + actions * per_action; }
};

// No plan of at most `horizon` actions takes more. Linear in the constraint's entries.
AnswerSize answer_size(const Constraint& constraint, unsigned horizon);

}  // namespace metactrl::decode

#endif  // METACTRL_SRC_DECODE_ANSWER_SIZE_H_
