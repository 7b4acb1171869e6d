// Checkpoints of Ctrl-G: the hidden Markov models that other programs train and use, as safetensors.
//
//     metactrl::Hmm hmm = metactrl::import_ctrl_g("checkpoint/model.safetensors");
//     metactrl::export_ctrl_g(hmm, "out/model.safetensors");
#ifndef METACTRL_TRAINING_CTRL_G_H_
#define METACTRL_TRAINING_CTRL_G_H_

#include <optional>
#include <string>

#include "metactrl/hmm.h"

namespace metactrl {

// alpha_exp H x H, probabilities; beta H x V and gamma H, logarithms. The alphabet is given; or what export_ctrl_g wrote
// into the file's metadata; or token level with as many symbols as beta has columns and `end` from the config.json beside
// the file (eos_token_id). Rows of alpha_exp and beta must sum to 1 up to a hundredth, else InputError; gamma may have any
// sum, as it may there.
Hmm import_ctrl_g(const std::string& file, const std::optional<Alphabet>& alphabet = std::nullopt);
// Writes the file and config.json beside it; InputError where another model's config.json is there.
void export_ctrl_g(const Hmm& hmm, const std::string& file);

}  // namespace metactrl

#endif  // METACTRL_TRAINING_CTRL_G_H_
