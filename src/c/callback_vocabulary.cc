// The tokens are copied; the tokenizer stays the host's, so that whatever its engine runs, plans are spelled as it spells
// them. What lm::TokenizerVocabulary makes of a tokenizer is the same as for GGUF files.
#include "c/callback_vocabulary.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "c/handles.h"
#include "lm/tokenizer_vocabulary.h"

namespace metactrl::c {

namespace {

using internal::str_cat;

// Texts by offsets into one; all of it is looked at before any of it is used.
class Pieces {
 public:
  Pieces(const char* bytes, const std::uint64_t* offsets, std::size_t count, const char* name)
      : bytes_(bytes), offsets_(offsets, count == 0 ? 0 : count + 1) {
    if (count == 0) return;
    required(offsets, name);
    for (std::size_t i = 0; i < count; ++i) {
      if (offsets[i] > offsets[i + 1]) throw ArgumentError(str_cat(name, " decrease at ", i + 1));
    }
    if (offsets[count] > PTRDIFF_MAX) throw ArgumentError(str_cat(name, " end beyond memory"));
    if (bytes == nullptr && offsets[count] > 0) throw ArgumentError(str_cat("what ", name, " point into is NULL"));
  }
  std::string_view operator[](std::size_t i) const {
    return offsets_[i] == offsets_[i + 1] ? std::string_view()
                                          : std::string_view(bytes_ + offsets_[i], offsets_[i + 1] - offsets_[i]);
  }

 private:
  const char* bytes_;
  std::span<const std::uint64_t> offsets_;
};

std::vector<TokenId> ends_of_turn(const metactrl_vocabulary_options& options) {
  check_array(options.end_of_turn, options.num_end_of_turn, "end_of_turn");
  std::vector<TokenId> ends;
  for (const std::int32_t id : std::span(options.end_of_turn, options.num_end_of_turn)) {
    if (id < 0 || static_cast<std::size_t>(id) >= options.num_tokens) {
      throw ArgumentError(str_cat("end-of-turn token ", id, " is not one of the ", options.num_tokens, " tokens"));
    }
    ends.push_back(TokenId{id});
  }
  if (ends.empty()) throw ArgumentError("no token ends a turn; name at least one");
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return ends;
}

class CallbackVocabulary final : public lm::TokenizerVocabulary {
 public:
  CallbackVocabulary(const metactrl_vocabulary_options& options, const std::vector<TokenId>& ends, const Pieces& tokens,
                     const Pieces& controls)
      : encode_(options.encode), user_(options.user) {
    for (std::size_t i = 0; i < options.num_tokens; ++i) {
      const bool ends_turn = std::binary_search(ends.begin(), ends.end(), TokenId{static_cast<std::int32_t>(i)});
      add_token(ends_turn ? std::string_view() : tokens[i]);
    }
    for (const TokenId end : ends) add_end_of_turn(end);
    for (std::size_t i = 0; i < options.num_controls; ++i) {
      add_control(std::string(controls[i]), options.control_strips != nullptr && options.control_strips[i] != 0);
    }
    const std::string name = options.name == nullptr ? "vocabulary" : options.name;
    finish({"callback", name}, name);
    release_ = options.release;
  }
  ~CallbackVocabulary() override {
    if (release_ != nullptr) release_(user_);
  }
  CallbackVocabulary(const CallbackVocabulary&) = delete;
  CallbackVocabulary& operator=(const CallbackVocabulary&) = delete;

 private:
  std::vector<TokenId> tokenize_plain(std::string_view text, internal::Meter& meter) const override {
    meter.ask();
    // A token has at least one byte, with a few in front where a tokenizer adds some: one call is enough, as a rule.
    std::vector<std::int32_t> ids(text.size() + 16);
    std::int64_t count = call(text, ids);
    if (count > static_cast<std::int64_t>(ids.size())) {
      ids.resize(static_cast<std::size_t>(count));
      if (call(text, ids) != count)
        throw CallbackError("the tokenizer's callback gives another number of tokens each time");
    }
    std::vector<TokenId> tokens;
    tokens.reserve(static_cast<std::size_t>(count));
    for (const std::int32_t id : std::span(ids).first(static_cast<std::size_t>(count))) {
      if (id < 0 || static_cast<std::size_t>(id) >= size()) {
        throw CallbackError(str_cat("the tokenizer's callback gives token ", id, ", and there are ", size()));
      }
      tokens.push_back(TokenId{id});
    }
    return tokens;
  }

  std::int64_t call(std::string_view text, std::span<std::int32_t> ids) const {
    const std::int64_t count = encode_(user_, text.data(), text.size(), ids.data(), ids.size());
    // More tokens than that no text has: what is meant is not known.
    const auto most = static_cast<std::int64_t>(8 * text.size() + 1024);
    if (count < 0) throw CallbackError(str_cat("the tokenizer's callback failed (", count, ")"));
    if (count > most)
      throw CallbackError(str_cat("the tokenizer's callback gives ", count, " tokens for ", text.size(), " bytes"));
    return count;
  }

  metactrl_encode_function encode_;
  void* user_;
  void (*release_)(void*) = nullptr;
};

// The longest token that fits needs no callback; what was given with it is released with it.
class LongestMatch final : public TableVocabulary {
 public:
  LongestMatch(const metactrl_vocabulary_options& options, const std::vector<TokenId>& ends,
               std::vector<std::string> tokens)
      : TableVocabulary(std::move(tokens), ends), user_(options.user), release_(options.release) {}
  ~LongestMatch() override {
    if (release_ != nullptr) release_(user_);
  }
  LongestMatch(const LongestMatch&) = delete;
  LongestMatch& operator=(const LongestMatch&) = delete;

 private:
  void* user_;
  void (*release_)(void*);
};

}  // namespace

std::shared_ptr<const Vocabulary> make_vocabulary(const metactrl_vocabulary_options& options) {
  if (options.num_tokens == 0 || options.num_tokens > INT32_MAX) {
    throw ArgumentError(str_cat("a vocabulary cannot have ", options.num_tokens, " tokens"));
  }
  const Pieces tokens(options.bytes, options.offsets, options.num_tokens, "offsets");
  const Pieces controls(options.control_bytes, options.control_offsets, options.num_controls, "control_offsets");
  const std::vector<TokenId> ends = ends_of_turn(options);
  if (options.encode != nullptr) return std::make_shared<CallbackVocabulary>(options, ends, tokens, controls);
  std::vector<std::string> copies;
  copies.reserve(options.num_tokens);
  for (std::size_t i = 0; i < options.num_tokens; ++i) copies.emplace_back(tokens[i]);
  return std::make_shared<LongestMatch>(options, ends, std::move(copies));
}

}  // namespace metactrl::c
