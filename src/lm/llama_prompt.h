// Prompts: a model's chat template around what the user says.
#ifndef METACTRL_SRC_LM_LLAMA_PROMPT_H_
#define METACTRL_SRC_LM_LLAMA_PROMPT_H_

#include <string>
#include <string_view>
#include <vector>

#include "lm/llama_vocabulary.h"
#include "lm/prompt_template.h"
#include "metactrl/language_model.h"

namespace metactrl::lm {

// Without a template: what is said, in turn.
std::vector<PromptPart> plain_parts(const Prompt& prompt);
// What llama.cpp calls the template, "chatml" for example; "its own" for one that llama.cpp has no name for. Throws
// jinja::Error when it cannot be used.
std::string template_name(const std::string& chat_template);
std::vector<TokenId> encode_parts(const std::vector<PromptPart>& parts, const LlamaVocabulary& vocabulary,
                                  internal::Meter& meter = internal::no_meter());

// LanguageModel::encode_markup.
std::vector<TokenId> encode_markup(std::string_view text, const LlamaVocabulary& vocabulary);

}  // namespace metactrl::lm

#endif  // METACTRL_SRC_LM_LLAMA_PROMPT_H_
