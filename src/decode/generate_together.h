// Many texts behind one prompt, as parallel sequences of the model.
#ifndef METACTRL_SRC_DECODE_GENERATE_TOGETHER_H_
#define METACTRL_SRC_DECODE_GENERATE_TOGETHER_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "metactrl/generate.h"
#include "metactrl/language_model.h"

namespace metactrl::decode {

// One text for each seed, in that order, as generate_unconstrained writes it behind a fork of `prompt`: each token of all
// of them is one batch. The seeds and the prompt decide: what a text is like does not depend, not even by rounding, on what
// other threads ask the model, if they have memories of their own (ModelOptions::separate_contexts).
// Cancelled, it returns what was written by then.
std::vector<Generation> generate_together(Session& prompt, std::span<const std::uint64_t> seeds,
                                          const Vocabulary& vocabulary, const GenerateOptions& options,
                                          const std::function<bool()>& cancelled);

}  // namespace metactrl::decode

#endif  // METACTRL_SRC_DECODE_GENERATE_TOGETHER_H_
