// Several sessions of one model, asked at once by one thread.
//
// Where threads meet by chance, ModelOptions::batched joins what they ask; which sessions share a batch then depends on
// the clock, and so does the last bit of what they are told. Here the caller says who goes together, and equal calls are
// told the same.
#ifndef METACTRL_SRC_LM_TOGETHER_H_
#define METACTRL_SRC_LM_TOGETHER_H_

#include <span>

#include "metactrl/language_model.h"

namespace metactrl::lm {

// After it the logits of all of them are there: what was appended to them is one batch of the model. Sessions of models that
// have no batches answer when they are asked, as before. Throws as Session::logits does.
void prepare_together(std::span<Session* const> sessions);

}  // namespace metactrl::lm

#endif  // METACTRL_SRC_LM_TOGETHER_H_
