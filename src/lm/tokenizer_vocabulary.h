// A vocabulary whose tokenizer is somebody else's, seen as a function from a text to tokens: what becomes of a text behind
// a context, which parts of a context count, and whether texts come back as they were.
//
// What it promises beyond Vocabulary: for every text that the tokenizer can write (all of ASCII, checked when it is made;
// all of UTF-8 for the usual ones), the bytes of encode(text, context) joined are `text`, whatever the context.
// SentencePiece tokenizers put a blank before the first word of a text; encode never does, since a plan continues a
// prompt.
#ifndef METACTRL_SRC_LM_TOKENIZER_VOCABULARY_H_
#define METACTRL_SRC_LM_TOKENIZER_VOCABULARY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metactrl/vocabulary.h"
#include "support/meter.h"

namespace metactrl::lm {

class TokenizerVocabulary : public Vocabulary {
 public:
  std::size_t size() const override { return first_byte_.size() - 1; }
  std::string_view bytes(TokenId token) const override;
  const std::vector<TokenId>& end_of_turn() const override { return end_of_turn_; }
  std::vector<TokenId> encode(std::string_view text, std::string_view context) const override {
    return encode(text, context, internal::no_meter());
  }
  // It is asked between portions of a long text whether to go on.
  std::vector<TokenId> encode(std::string_view text, std::string_view context, internal::Meter& meter) const;
  std::uint64_t fingerprint() const override { return fingerprint_; }

  // The first place at or after `from` where a control token is written out: (position, length).
  std::optional<std::pair<std::size_t, std::size_t>> find_control(std::string_view text, std::size_t from) const {
    return find_written(text, from, false);
  }
  // The same for those that the tokenizer recognises even in plain text.
  std::optional<std::pair<std::size_t, std::size_t>> find_recognised(std::string_view text, std::size_t from) const {
    return find_written(text, from, true);
  }

 protected:
  // A derived class says what its tokens are, one after the other, and then `finish`, which asks its tokenizer: all in
  // its constructor.
  TokenizerVocabulary() = default;
  void add_token(std::string_view bytes);
  void add_end_of_turn(TokenId token) { end_of_turn_.push_back(token); }
  // Where it is written out in a prompt, what follows is encoded afresh. `strips_right`: the tokenizer drops blanks
  // behind it. `recognised`: it is this token in plain text, too.
  void add_control(std::string text, bool strips_right, bool recognised = false);
  // `kind` tells tokenizers apart that have the same tokens; `file` is for messages. Throws InputError when a
  // text does not come back as it was.
  void finish(const std::vector<std::string>& kind, const std::string& file);
  bool adds_blank() const { return adds_blank_; }

  // The tokenizer's own encoding of a whole text, in which nothing is a control token; no beginning-of-text token added.
  virtual std::vector<TokenId> tokenize_plain(std::string_view text, internal::Meter& meter) const = 0;

 private:
  struct Control {
    std::string text;
    bool strips_right = false;
    bool recognised = false;
  };

  std::optional<std::pair<std::size_t, std::size_t>> find_written(std::string_view text, std::size_t from,
                                                                  bool recognised) const;

  void check_round_trips(const std::string& file) const;
  std::uint64_t compute_fingerprint(const std::vector<std::string>& kind) const;
  // The end of `context` that the encoding of what follows can depend on: behind its last control token, and not long.
  std::string_view plain_tail(std::string_view context) const;
  // The context's tokens; the last answer is remembered.
  std::vector<TokenId> tokenize_context(std::string_view context, internal::Meter& meter) const;
  // The tokens of `text` behind `context`, if no token straddles the border.
  std::optional<std::vector<TokenId>> encode_behind(std::string_view context, std::string_view text,
                                                    internal::Meter& meter) const;

  std::string all_bytes_;
  std::vector<std::uint32_t> first_byte_{0};  // of each token in all_bytes_, and the end
  std::vector<TokenId> end_of_turn_;
  std::vector<Control> controls_;                         // longest first
  std::array<std::vector<std::uint32_t>, 256> starting_;  // indices into controls_, by first byte
  std::array<std::vector<std::uint32_t>, 256> ending_;    // and by last byte
  bool adds_blank_ = false;                               // the tokenizer puts a blank before a text
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

#endif  // METACTRL_SRC_LM_TOKENIZER_VOCABULARY_H_
