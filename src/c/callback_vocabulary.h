// A vocabulary that its host describes: tokens as bytes, and a function that encodes.
#ifndef METACTRL_SRC_C_CALLBACK_VOCABULARY_H_
#define METACTRL_SRC_C_CALLBACK_VOCABULARY_H_

#include <memory>

#include "metactrl/c.h"
#include "metactrl/vocabulary.h"

namespace metactrl::c {

// Throws ArgumentError for numbers that cannot be, InputError when texts do not come back as they were, CallbackError when
// the callback fails.
std::shared_ptr<const Vocabulary> make_vocabulary(const metactrl_vocabulary_options& options);

}  // namespace metactrl::c

#endif  // METACTRL_SRC_C_CALLBACK_VOCABULARY_H_
