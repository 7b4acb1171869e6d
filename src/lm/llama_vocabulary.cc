// Long texts. llama.cpp splits a text into words by regular expressions before it encodes them, for some vocabularies
// with std::regex, whose depth of recursion is the length of a word: some ten thousand letters without a blank end the
// program. Elsewhere the time grows with the square of the length. So a long text is given to it in portions, cut
// between two words, where no token is; only where there is no such place is a word cut. A vocabulary with tokens of
// several words (whole sentences of a prompt, in the model that ships) gets its texts whole.
#include "lm/llama_vocabulary.h"

#include <algorithm>
#include <limits>
#include <span>
#include <stdexcept>

#include "metactrl/error.h"
#include "support/utf8.h"

namespace metactrl::lm {

namespace {

// Of a text that is encoded in one go.
constexpr std::size_t kMaxPortion = 8192;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Does a word end before this blank, and another begin behind it?
bool between_words(std::string_view text, std::size_t blank) {
  return blank > 0 && blank + 1 < text.size() && text[blank] == ' ' && is_letter(text[blank - 1]) &&
         is_letter(text[blank + 1]);
}

// Where to cut a text of more than kMaxPortion bytes: not behind that.
std::size_t portion_of(std::string_view text) {
  for (std::size_t i = kMaxPortion; i > kMaxPortion / 2; --i) {
    if (between_words(text, i)) return i;
  }
  // Not in the middle of a character, nor of what may be a control token.
  constexpr std::size_t kLongestControl = 64;
  std::size_t cut = kMaxPortion;
  const std::size_t bracket = text.substr(0, kMaxPortion).find_last_of("<[");
  if (bracket != std::string_view::npos && bracket + kLongestControl > kMaxPortion) cut = bracket;
  while (cut > kMaxPortion / 2 && internal::is_continuation(text[cut])) --cut;
  return cut;
}

// "<think>" and "<|channel|>" in contrast to the runs of blanks, words and whole sentences that some vocabularies define
// in the same way.
bool looks_like_markup(std::string_view text) {
  const bool bracket = text.front() == '<' || text.front() == '[' || text.find('|') != std::string_view::npos;
  const bool one_word = text.find_first_of(" \t\n") == std::string_view::npos;
  return text.size() > 2 && bracket && one_word && std::any_of(text.begin(), text.end(), is_letter);
}

std::string metadata(const llama_model* model, const char* key) {
  std::string value(256, '\0');
  const std::int32_t length = llama_model_meta_val_str(model, key, value.data(), value.size());
  value.resize(length < 0 ? 0 : std::min<std::size_t>(static_cast<std::size_t>(length), value.size() - 1));
  return value;
}

}  // namespace

LlamaVocabulary::LlamaVocabulary(ModelPtr model, const std::string& file)
    : model_(std::move(model)), vocab_(llama_model_get_vocab(model_.get())) {
  if (llama_vocab_type(vocab_) == LLAMA_VOCAB_TYPE_NONE || llama_vocab_n_tokens(vocab_) <= 0) {
    throw InputError(file, "this model has no vocabulary", "use a GGUF file that carries its tokenizer");
  }
  build_tokens();
  build_controls();
  if (end_of_turn().empty()) {
    throw InputError(file, "this vocabulary has no token that ends a turn",
                     "set tokenizer.ggml.eos_token_id in the file's metadata");
  }
  const llama_token begin = llama_vocab_bos(vocab_);
  if (llama_vocab_get_add_bos(vocab_) && begin != LLAMA_TOKEN_NULL) beginning_of_text_ = TokenId{begin};
  const auto type = llama_vocab_type(vocab_);
  in_portions_ = (type == LLAMA_VOCAB_TYPE_BPE || type == LLAMA_VOCAB_TYPE_SPM) && !has_tokens_of_two_words();
  finish({metadata(model_.get(), "tokenizer.ggml.model"), metadata(model_.get(), "tokenizer.ggml.pre")}, file);
}

void LlamaVocabulary::build_tokens() {
  const std::int32_t count = llama_vocab_n_tokens(vocab_);
  std::string piece(64, '\0');
  for (llama_token token = 0; token < count; ++token) {
    std::int32_t length = 0;
    // Some vocabularies hold end-of-turn tokens as ordinary text; nothing that ends a turn is part of one here.
    if (llama_vocab_is_eog(vocab_, token)) {
      add_end_of_turn(TokenId{token});
    } else {
      length = llama_token_to_piece(vocab_, token, piece.data(), static_cast<std::int32_t>(piece.size()), 0, false);
      if (length < 0) {
        piece.resize(static_cast<std::size_t>(-length));
        length = llama_token_to_piece(vocab_, token, piece.data(), static_cast<std::int32_t>(piece.size()), 0, false);
      }
    }
    add_token({piece.data(), static_cast<std::size_t>(std::max(length, 0))});
  }
}

bool LlamaVocabulary::has_tokens_of_two_words() const {
  for (std::size_t i = 0; i < size(); ++i) {
    const std::string_view text = bytes(TokenId{static_cast<std::int32_t>(i)});
    for (std::size_t blank = text.find(' '); blank != std::string_view::npos; blank = text.find(' ', blank + 1)) {
      if (between_words(text, blank)) return true;
    }
  }
  return false;
}

void LlamaVocabulary::build_controls() {
  constexpr unsigned kControl = LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_UNKNOWN;
  const std::int32_t count = llama_vocab_n_tokens(vocab_);
  for (llama_token token = 0; token < count; ++token) {
    const auto attributes = static_cast<unsigned>(llama_vocab_get_attr(vocab_, token));
    const char* text = llama_vocab_get_text(vocab_, token);
    if (text == nullptr || *text == '\0') continue;
    const bool strips_right = (attributes & LLAMA_TOKEN_ATTR_RSTRIP) != 0;
    if ((attributes & kControl) != 0) {
      add_control(text, strips_right);
    } else if ((attributes & LLAMA_TOKEN_ATTR_USER_DEFINED) != 0 && looks_like_markup(text)) {
      add_control(text, strips_right, true);
    }
  }
}

std::vector<TokenId> LlamaVocabulary::tokenize(std::string_view text, bool parse_special,
                                               internal::Meter& meter) const {
  if (!in_portions_ || text.size() <= kMaxPortion + 1) return tokenize_whole(text, parse_special);
  std::vector<TokenId> tokens;
  while (!text.empty()) {
    meter.ask();
    const std::size_t cut = text.size() <= kMaxPortion + 1 ? text.size() : portion_of(text);
    const std::vector<TokenId> portion = tokens.empty() ? tokenize_whole(text.substr(0, cut), parse_special)
                                                        : tokenize_next(text.substr(0, cut), parse_special);
    tokens.insert(tokens.end(), portion.begin(), portion.end());
    text.remove_prefix(cut);
  }
  return tokens;
}

std::vector<TokenId> LlamaVocabulary::tokenize_next(std::string_view text, bool parse_special) const {
  if (!adds_blank()) return tokenize_whole(text, parse_special);
  // Behind a new line, which no token joins with what follows, there is no blank too many.
  const std::vector<TokenId> before = tokenize_whole("\n", parse_special);
  std::vector<TokenId> all = tokenize_whole("\n" + std::string(text), parse_special);
  if (!std::ranges::equal(before, std::span(all).first(std::min(before.size(), all.size())))) {
    return tokenize_whole(text, parse_special);
  }
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(before.size()));
  return all;
}

std::vector<TokenId> LlamaVocabulary::tokenize_whole(std::string_view text, bool parse_special) const {
  if (text.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max() / 2)) {
    throw std::length_error("text of more than 1 GiB cannot be encoded");
  }
  const auto length = static_cast<std::int32_t>(text.size());
  static_assert(sizeof(TokenId) == sizeof(llama_token));
  std::vector<llama_token> tokens(text.size() + 8);
  std::int32_t count = llama_tokenize(vocab_, text.data(), length, tokens.data(),
                                      static_cast<std::int32_t>(tokens.size()), false, parse_special);
  if (count < 0 && count != std::numeric_limits<std::int32_t>::min()) {
    tokens.resize(static_cast<std::size_t>(-count));
    count = llama_tokenize(vocab_, text.data(), length, tokens.data(), static_cast<std::int32_t>(tokens.size()), false,
                           parse_special);
  }
  std::vector<TokenId> result;
  result.reserve(static_cast<std::size_t>(std::max(count, 0)));
  for (std::int32_t i = 0; i < count; ++i) result.push_back(TokenId{tokens[static_cast<std::size_t>(i)]});
  return result;
}

}  // namespace metactrl::lm

namespace metactrl {

std::unique_ptr<Vocabulary> load_vocabulary(const std::string& file) {
  return std::make_unique<lm::LlamaVocabulary>(lm::load_gguf(file, lm::Load::kVocabulary, {}), file);
}

std::unique_ptr<Vocabulary> vocabulary_of(const llama_model* model) {
  // Only read, and not ours to free.
  lm::ModelPtr view(const_cast<llama_model*>(model), [](llama_model*) {});
  return std::make_unique<lm::LlamaVocabulary>(std::move(view), "model");
}

}  // namespace metactrl
