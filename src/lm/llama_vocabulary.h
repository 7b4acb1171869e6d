// The vocabulary of a GGUF file, with llama.cpp's tokenizer.
#ifndef METACTRL_SRC_LM_LLAMA_VOCABULARY_H_
#define METACTRL_SRC_LM_LLAMA_VOCABULARY_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lm/llama_runtime.h"
#include "lm/tokenizer_vocabulary.h"
#include "support/meter.h"

namespace metactrl::lm {

class LlamaVocabulary final : public TokenizerVocabulary {
 public:
  // `file` is for messages. Throws InputError when the vocabulary is of a kind that cannot write plans.
  LlamaVocabulary(ModelPtr model, const std::string& file);

  // llama.cpp's own encoding of a whole text, no beginning-of-text token added. With `parse_special`, control tokens
  // that are written out become those tokens. Words of thousands of letters may be encoded in pieces.
  std::vector<TokenId> tokenize(std::string_view text, bool parse_special,
                                internal::Meter& meter = internal::no_meter()) const;
  // The token that a text must begin with, if the model wants one.
  std::optional<TokenId> beginning_of_text() const { return beginning_of_text_; }

 private:
  void build_tokens();
  void build_controls();
  bool has_tokens_of_two_words() const;
  std::vector<TokenId> tokenize_plain(std::string_view text, internal::Meter& meter) const override {
    return tokenize(text, false, meter);
  }
  std::vector<TokenId> tokenize_whole(std::string_view text, bool parse_special) const;
  // A text that others precede.
  std::vector<TokenId> tokenize_next(std::string_view text, bool parse_special) const;

  ModelPtr model_;
  const llama_vocab* vocab_ = nullptr;
  std::optional<TokenId> beginning_of_text_;
  bool in_portions_ = false;  // long texts are encoded piece by piece
};

}  // namespace metactrl::lm

#endif  // METACTRL_SRC_LM_LLAMA_VOCABULARY_H_
