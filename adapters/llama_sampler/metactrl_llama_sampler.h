// metactrl as a link in a llama.cpp program's own sampler chain.
//
//     auto vocabulary = metactrl::vocabulary_of(model);                       // of the program's own llama_model
//     auto constraint = metactrl::Constraint::compile(task, format, vocabulary, options);
//     llama_sampler* chain = llama_sampler_chain_init(llama_sampler_chain_default_params());
//     llama_sampler_chain_add(chain, metactrl_llama_sampler(metactrl::Decoder(constraint, {})));   // first
//     llama_sampler_chain_add(chain, llama_sampler_init_temp(0.8f));
//     llama_sampler_chain_add(chain, llama_sampler_init_dist(42));
//     ... llama_sampler_sample(chain, context, -1) until the token ends the turn ...
//
// The sampler leaves the tokens that may come next and adds to each one's logit what it is worth for the rest of the
// plan; what follows in the chain chooses among them. It must be the first link: others might drop every token that is
// allowed. (Should that happen, the allowed tokens are put back without the model's opinion. An invalid token is never
// left.) Logits that are not finite count as very large or very small.
//
// Accept generated tokens only (llama_sampler_sample does), not the prompt's. After the end of the plan, and after a
// token that was not allowed, end-of-turn tokens are all that is left, so that the program's loop ends. So it is when
// there is no memory, or the decoder's Stop says so, while the sampler works: no exception comes out of llama.cpp's calls,
// the text ends, and the decoder inside is not finished. llama_sampler_clone gives null when there is no memory.
//
// Not thread-safe, like every llama_sampler; clones are independent.
#ifndef METACTRL_ADAPTERS_LLAMA_SAMPLER_METACTRL_LLAMA_SAMPLER_H_
#define METACTRL_ADAPTERS_LLAMA_SAMPLER_METACTRL_LLAMA_SAMPLER_H_

#include <llama.h>

#include "metactrl/decoder.h"

// To be freed with llama_sampler_free, or by the chain that it is added to.
llama_sampler* metactrl_llama_sampler(metactrl::Decoder decoder);

// The decoder inside: the plan so far, whether it is finished. Null when `sampler` is not one of ours. (Of a chain,
// pass llama_sampler_chain_get(chain, 0).)
const metactrl::Decoder* metactrl_llama_sampler_decoder(const llama_sampler* sampler);

#endif  // METACTRL_ADAPTERS_LLAMA_SAMPLER_METACTRL_LLAMA_SAMPLER_H_
