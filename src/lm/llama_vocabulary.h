// The vocabulary of a GGUF file, with llama.cpp's tokenizer.
//
// What it promises beyond Vocabulary: for every text that the vocabulary can write (all of ASCII, checked at load; all
// of UTF-8 for the usual models), the bytes of encode(text, context) joined are `text`, whatever the context.
// SentencePiece tokenizers put a blank before the first word of a text; encode never does, since a plan continues a
// prompt.
#ifndef METACTRL_SRC_LM_LLAMA_VOCABULARY_H_
#define METACTRL_SRC_LM_LLAMA_VOCABULARY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lm/llama_runtime.h"
#include "metactrl/vocabulary.h"
#include "support/meter.h"

namespace metactrl::lm {

class LlamaVocabulary : public Vocabulary {
 public:
  // `file` is for messages. Throws InputError when the vocabulary is of a kind that cannot write plans.
  LlamaVocabulary(ModelPtr model, const std::string& file);

  std::size_t size() const override { return first_byte_.size() - 1; }
  std::string_view bytes(TokenId token) const override;
  const std::vector<TokenId>& end_of_turn() const override { return end_of_turn_; }
  std::vector<TokenId> encode(std::string_view text, std::string_view context) const override {
    return encode(text, context, internal::no_meter());
  }
  // It is asked between portions of a long text whether to go on.
  std::vector<TokenId> encode(std::string_view text, std::string_view context, internal::Meter& meter) const;
  std::uint64_t fingerprint() const override { return fingerprint_; }

  // llama.cpp's own encoding of a whole text, no beginning-of-text token added. With `parse_special`, control tokens
  // that are written out become those tokens. Words of thousands of letters may be encoded in pieces.
  std::vector<TokenId> tokenize(std::string_view text, bool parse_special,
                                internal::Meter& meter = internal::no_meter()) const;
  // The first place at or after `from` where a control token is written out: (position, length).
  std::optional<std::pair<std::size_t, std::size_t>> find_control(std::string_view text, std::size_t from) const;
  // The token that a text must begin with, if the model wants one.
  std::optional<TokenId> beginning_of_text() const { return beginning_of_text_; }

 private:
  struct Control {
    std::string text;
    bool strips_right = false;  // the tokenizer drops blanks behind it
  };

  void build_bytes();
  void build_controls();
  bool has_tokens_of_two_words() const;
  void check_round_trips(const std::string& file) const;
  std::uint64_t compute_fingerprint() const;
  // The end of `context` that the encoding of what follows can depend on: behind its last control token, and not long.
  std::string_view plain_tail(std::string_view context) const;
  std::vector<TokenId> tokenize_whole(std::string_view text, bool parse_special) const;
  // A text that others precede.
  std::vector<TokenId> tokenize_next(std::string_view text, bool parse_special) const;
  // tokenize(context, false); the last answer is remembered.
  std::vector<TokenId> tokenize_context(std::string_view context, internal::Meter& meter) const;
  // The tokens of `text` behind `context`, if no token straddles the border.
  std::optional<std::vector<TokenId>> encode_behind(std::string_view context, std::string_view text,
                                                    internal::Meter& meter) const;

  ModelPtr model_;
  const llama_vocab* vocab_ = nullptr;
  std::string all_bytes_;
  std::vector<std::uint32_t> first_byte_;  // of each token in all_bytes_, and the end
  std::vector<TokenId> end_of_turn_;
  std::vector<Control> controls_;                         // longest first
  std::array<std::vector<std::uint32_t>, 256> starting_;  // indices into controls_, by first byte
  std::array<std::vector<std::uint32_t>, 256> ending_;    // and by last byte
  std::optional<TokenId> beginning_of_text_;
  bool in_portions_ = false;  // long texts are encoded piece by piece
  bool adds_blank_ = false;   // the tokenizer puts a blank before a text
  std::uint64_t fingerprint_ = 0;
  // A compiler asks for thousands of texts behind the same context. Guarded by the mutex.
  struct Remembered {
    std::string context;
    std::vector<TokenId> tokens;
  };
  mutable std::mutex mutex_;
  mutable Remembered remembered_;
};

}  // namespace metactrl::lm

#endif  // METACTRL_SRC_LM_LLAMA_VOCABULARY_H_
