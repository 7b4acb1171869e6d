// Vocabulary: the tokens of a language model, as bytes, and its own way to cut text into them.
//
// Three things are asked of a vocabulary: the exact bytes a token stands for, the tokenizer's encoding of a text, and
// which tokens end a turn. Implementations: a GGUF file through llama.cpp (language_model.h), and a table for tests and
// other hosts (below).
#ifndef METACTRL_VOCABULARY_H_
#define METACTRL_VOCABULARY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace metactrl {

enum class TokenId : std::int32_t {};

// Immutable; const functions may be called from many threads.
class Vocabulary {
 public:
  virtual ~Vocabulary() = default;

  // How many logits the model gives. May exceed the number of tokens that mean something (padding).
  virtual std::size_t size() const = 0;
  // The token's bytes as they appear in generated text; empty for control and unused tokens. Byte tokens are one byte.
  virtual std::string_view bytes(TokenId token) const = 0;
  // Every token that ends a turn, ascending; at least one.
  virtual const std::vector<TokenId>& end_of_turn() const = 0;
  // The tokenizer's encoding of `text` where it continues a text that ends in `context` (the context's own tokens are
  // not part of the result). Special tokens written out in the text are plain text. When a token would straddle the
  // border, the result is what the tokenizer gives for `text` beginning at the border.
  virtual std::vector<TokenId> encode(std::string_view text, std::string_view context) const = 0;
  // Names the vocabulary, so that what was compiled for it is not used with another one.
  virtual std::uint64_t fingerprint() const = 0;

  // What the library works out about the tokens once (text/token_index.h).
  class Index;
  const Index& index() const { return *index_; }

 protected:
  Vocabulary();

 private:
  // Shared with copies, which hold the same tokens.
  std::shared_ptr<Index> index_;
};

// Which token sequences stand for a plan.
enum class Tokenization {
  kCanonical,  // the tokenizer's own encoding of its text, and no other
  kAny,        // every sequence of tokens whose bytes are its text
};
const char* to_string(Tokenization tokenization);

// A vocabulary given as a list of byte strings; encodes by longest match. For tests, and for hosts that have no GGUF
// file.
class TableVocabulary : public Vocabulary {
 public:
  // `tokens[i]` is the bytes of token i. Throws InputError when `end_of_turn` is empty or out of range.
  TableVocabulary(std::vector<std::string> tokens, std::vector<TokenId> end_of_turn);

  std::size_t size() const override { return tokens_.size(); }
  std::string_view bytes(TokenId token) const override;
  const std::vector<TokenId>& end_of_turn() const override { return end_of_turn_; }
  std::vector<TokenId> encode(std::string_view text, std::string_view context) const override;
  std::uint64_t fingerprint() const override { return fingerprint_; }

 private:
  std::vector<std::string> tokens_;
  std::vector<TokenId> end_of_turn_;
  std::vector<std::uint32_t> by_bytes_;  // token ids sorted by their bytes
  std::size_t longest_ = 0;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace metactrl

#endif  // METACTRL_VOCABULARY_H_
