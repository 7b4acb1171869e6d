// Prompts: a model's chat template around what the user says.
#ifndef METACTRL_SRC_LM_LLAMA_PROMPT_H_
#define METACTRL_SRC_LM_LLAMA_PROMPT_H_

#include <string>
#include <vector>

#include "lm/llama_vocabulary.h"
#include "metactrl/language_model.h"

namespace metactrl::lm {

// A stretch of a prompt. Only the template's own text may hold control tokens.
struct PromptPart {
  std::string text;
  bool is_content = false;
};

// `chat_template` is the GGUF file's, null when it has none.
std::vector<PromptPart> prompt_parts(const Prompt& prompt, const char* chat_template);
// What llama.cpp calls the template, "chatml" for example; empty when prompt_parts does without it.
std::string template_name(const char* chat_template);
std::string join(const std::vector<PromptPart>& parts);
std::vector<TokenId> encode_parts(const std::vector<PromptPart>& parts, const LlamaVocabulary& vocabulary,
                                  internal::Meter& meter = internal::no_meter());

}  // namespace metactrl::lm

#endif  // METACTRL_SRC_LM_LLAMA_PROMPT_H_
