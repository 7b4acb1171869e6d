// Decoding strategies that keep several plans at once; generate.cc chooses among them.
#ifndef METACTRL_SRC_DECODE_STRATEGIES_H_
#define METACTRL_SRC_DECODE_STRATEGIES_H_

#include <span>
#include <string>

#include "metactrl/generate.h"

namespace metactrl::decode {

std::string text_of(const Vocabulary& vocabulary, std::span<const TokenId> tokens);
// Copies plan, tokens and text of a decoder into a result.
void take_result(const Decoder& decoder, Generation& result);

// Both leave the decoder where it is: the result says which tokens it is to take. Of the observer they ask `cancelled`.
Generation beam_search(const Decoder& decoder, Session& session, const GenerateOptions& options,
                       const Observer& observer);
Generation particle_filter(const Decoder& decoder, Session& session, const GenerateOptions& options,
                           const Observer& observer);

}  // namespace metactrl::decode

#endif  // METACTRL_SRC_DECODE_STRATEGIES_H_
