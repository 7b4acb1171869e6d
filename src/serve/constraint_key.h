// What a compiled constraint is kept by: everything that it depends on, and everything that is asked of it later.
//
// Each struct of options is taken apart into all of its members, by a structured binding, which does not compile when
// there is one more: none can be forgotten. Stops, and what only one request may spend, are no members of these structs.
#ifndef METACTRL_SRC_SERVE_CONSTRAINT_KEY_H_
#define METACTRL_SRC_SERVE_CONSTRAINT_KEY_H_

#include <string>
#include <string_view>

#include "metactrl/constraint.h"
#include "metactrl/format.h"
#include "metactrl/task.h"
#include "metactrl/vocabulary.h"

namespace metactrl::serve {

// Equal exactly when the constraint is. `task` names the task as it was loaded, `pursued` has the goals that were kept
// of it. Of the options' context only the end counts that a tokenizer looks back at. Hidden Markov models and devices
// are told apart by where they are: they must live as long as the key is used.
std::string constraint_key(std::string_view task, const Task& pursued, const PlanFormat& format,
                           const Vocabulary& vocabulary, const ConstraintOptions& options);

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_CONSTRAINT_KEY_H_
