// Models of real families without their weights: a real vocabulary, in which unused tokens have got the names of the
// family's markers, its real chat template, and logits of a model that knows nothing or means harm.
#ifndef METACTRL_TESTS_SUPPORT_FAMILY_MODEL_H_
#define METACTRL_TESTS_SUPPORT_FAMILY_MODEL_H_

#include <gguf.h>

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lm/llama_prompt.h"
#include "lm/llama_vocabulary.h"
#include "lm/prompt_template.h"
#include "metactrl/language_model.h"

namespace metactrl::testing {

struct MarkerToken {
  std::string from;  // what the token is called in the vocabulary file
  std::string to;
  std::int32_t type = 4;  // 3: control, 4: defined by whoever made the model
};

// Copies a vocabulary file with other names for some tokens.
inline void rename_tokens(const std::string& from, const std::string& to, const std::vector<MarkerToken>& markers) {
  using Header = std::unique_ptr<gguf_context, void (*)(gguf_context*)>;
  const Header source(gguf_init_from_file(from.c_str(), {true, nullptr}), gguf_free);
  if (source == nullptr) throw std::runtime_error("cannot read " + from);
  const std::int64_t names = gguf_find_key(source.get(), "tokenizer.ggml.tokens");
  const std::int64_t kinds = gguf_find_key(source.get(), "tokenizer.ggml.token_type");
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < gguf_get_arr_n(source.get(), names); ++i) {
    tokens.emplace_back(gguf_get_arr_str(source.get(), names, i));
  }
  const auto* first = static_cast<const std::int32_t*>(gguf_get_arr_data(source.get(), kinds));
  std::vector<std::int32_t> types(first, first + tokens.size());
  for (const MarkerToken& marker : markers) {
    bool found = false;
    for (std::size_t i = 0; i < tokens.size() && !found; ++i) {
      if (tokens[i] != marker.from) continue;
      tokens[i] = marker.to;
      types[i] = marker.type;
      found = true;
    }
    if (!found) throw std::runtime_error("no token " + marker.from);
  }
  std::vector<const char*> pointers;
  for (const std::string& token : tokens) pointers.push_back(token.c_str());
  const Header target(gguf_init_empty(), gguf_free);
  gguf_set_kv(target.get(), source.get());
  gguf_set_arr_str(target.get(), "tokenizer.ggml.tokens", pointers.data(), pointers.size());
  gguf_set_arr_data(target.get(), "tokenizer.ggml.token_type", GGUF_TYPE_INT32, types.data(), types.size());
  if (!gguf_write_to_file(target.get(), to.c_str(), false)) throw std::runtime_error("cannot write " + to);
}

class FamilyModel : public LanguageModel {
 public:
  FamilyModel(std::shared_ptr<const lm::LlamaVocabulary> vocabulary, const std::string& chat_template,
              std::unique_ptr<LanguageModel> logits)
      : vocabulary_(std::move(vocabulary)), template_(chat_template, "", ""), logits_(std::move(logits)) {}

  const lm::LlamaVocabulary& words() const { return *vocabulary_; }
  const Vocabulary& vocabulary() const override { return *vocabulary_; }
  std::string description() const override { return "family"; }
  std::size_t context_length() const override { return logits_->context_length(); }
  std::string render_prompt(const Prompt& prompt) const override { return lm::join(template_.render(prompt)); }
  using LanguageModel::encode_prompt;
  std::vector<TokenId> encode_prompt(const Prompt& prompt, const Stop& /*stop*/) const override {
    return lm::encode_parts(template_.render(prompt), *vocabulary_);
  }
  std::optional<ThinkingFormat> thinking_format() const override { return template_.thinking(); }
  std::vector<TokenId> encode_markup(const std::string& text) const override {
    return lm::encode_markup(text, *vocabulary_);
  }
  std::unique_ptr<Session> start(std::span<const TokenId> prompt, std::size_t reserve) override {
    return logits_->start(prompt, reserve);
  }

 private:
  std::shared_ptr<const lm::LlamaVocabulary> vocabulary_;
  lm::PromptTemplate template_;
  std::unique_ptr<LanguageModel> logits_;
};

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_FAMILY_MODEL_H_
