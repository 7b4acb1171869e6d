// Members that say how tokens are chosen, as other servers have them: top_k, min_p, frequency_penalty, presence_penalty,
// logit_bias. Under a constraint they rank what is allowed; what is allowed stays as it is.
#ifndef METACTRL_SRC_SERVE_SAMPLING_H_
#define METACTRL_SRC_SERVE_SAMPLING_H_

#include "metactrl/generate.h"
#include "metactrl/vocabulary.h"
#include "serve/fields.h"

namespace metactrl::serve {

void read_sampling(Fields& fields, GenerateOptions& generate);

// What `object` does not say of them, `around` does.
void inherit_sampling(const Json& object, const GenerateOptions& around, GenerateOptions& generate);

// Throws ApiError for a token that the model does not have, and where the way of decoding does not choose token by token.
void check_sampling(const GenerateOptions& generate, const Vocabulary& vocabulary);

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_SAMPLING_H_
