// Encoding in context: the tokenizer is run on context + text and on the context alone; if the second is a prefix of
// the first, what remains is the answer. Three things make this less simple than it sounds:
//
//   - Control tokens. A chat prompt's end, "<|im_start|>assistant\n", holds control tokens; the text behind them is
//   encoded afresh. So only
//     the context's part behind its last control token counts, and that part and the text are encoded without parsing
//     control tokens: what looks like one in the text is plain text.
//   - A token may straddle the border ("\n" + "\n" is one token in many vocabularies). The prompt is there already, so
//     the text is encoded as if it began at the border.
//   - SentencePiece tokenizers begin a text with a blank that is not there. Texts that begin at the border are encoded
//   behind a
//     short context that no token joins with the text, found by trying.
//
// Long texts. llama.cpp splits a text into words by regular expressions before it encodes them, for some vocabularies
// with std::regex, whose depth of recursion is the length of a word: some ten thousand letters without a blank end the
// program. Elsewhere the time grows with the square of the length. So a long text is given to it in portions, cut
// between two words, where no token is; only where there is no such place is a word cut. A vocabulary with tokens of
// several words (whole sentences of a prompt, in the model that ships) gets its texts whole.
#include "lm/llama_vocabulary.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <span>
#include <stdexcept>

#include "metactrl/error.h"
#include "support/str_cat.h"
#include "support/utf8.h"

namespace metactrl::lm {

namespace {

using internal::str_cat;

// As much of the context as can matter: longer than any word or run of blanks in a prompt's last line.
constexpr std::size_t kMaxContext = 256;
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

// Texts as plans have them. Every vocabulary that is to write plans must give them back byte for byte.
constexpr std::string_view kSamples[] = {
    R"({"WALK": ["soap", "1002"], "GRAB": ["soap", "1002"]})",
    R"~({"output": ["ON(light.411)", "a(x) and b(y)"]})~",
    R"([{"action": "OPEN", "object": "jar_0"}, {"action": "LEFT_GRASP", "object": "jar_0"}])",
    "(open dishwasher)\n(grab cup)\n; cost = 2 (unit cost)\n",
    "1. Pick up the red block.\n2. Stack  it on the blue one!\n",
    " \t~!@#$%^&*()_+-=[]{}|;':\",./<>?`\\\n\n\n  0123456789",
};

std::uint64_t hash_bytes(std::uint64_t hash, std::string_view bytes) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return (hash ^ bytes.size()) * 0x100000001b3ULL;
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
  build_bytes();
  build_controls();
  if (end_of_turn_.empty()) {
    throw InputError(file, "this vocabulary has no token that ends a turn",
                     "set tokenizer.ggml.eos_token_id in the file's metadata");
  }
  const llama_token begin = llama_vocab_bos(vocab_);
  if (llama_vocab_get_add_bos(vocab_) && begin != LLAMA_TOKEN_NULL) beginning_of_text_ = TokenId{begin};
  const auto type = llama_vocab_type(vocab_);
  in_portions_ = (type == LLAMA_VOCAB_TYPE_BPE || type == LLAMA_VOCAB_TYPE_SPM) && !has_tokens_of_two_words();
  const std::vector<TokenId> probe = tokenize("a", false);
  adds_blank_ = !probe.empty() && bytes(probe.front()).starts_with(' ');
  check_round_trips(file);
  fingerprint_ = compute_fingerprint();
}

void LlamaVocabulary::build_bytes() {
  const std::int32_t count = llama_vocab_n_tokens(vocab_);
  first_byte_.reserve(static_cast<std::size_t>(count) + 1);
  first_byte_.push_back(0);
  std::string piece(64, '\0');
  for (llama_token token = 0; token < count; ++token) {
    std::int32_t length = 0;
    // Some vocabularies hold end-of-turn tokens as ordinary text; nothing that ends a turn is part of one here.
    if (llama_vocab_is_eog(vocab_, token)) {
      end_of_turn_.push_back(TokenId{token});
    } else {
      length = llama_token_to_piece(vocab_, token, piece.data(), static_cast<std::int32_t>(piece.size()), 0, false);
      if (length < 0) {
        piece.resize(static_cast<std::size_t>(-length));
        length = llama_token_to_piece(vocab_, token, piece.data(), static_cast<std::int32_t>(piece.size()), 0, false);
      }
    }
    all_bytes_.append(piece.data(), static_cast<std::size_t>(std::max(length, 0)));
    first_byte_.push_back(static_cast<std::uint32_t>(all_bytes_.size()));
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
    if ((attributes & kControl) == 0) continue;
    const char* text = llama_vocab_get_text(vocab_, token);
    if (text == nullptr || *text == '\0') continue;
    controls_.push_back({text, (attributes & LLAMA_TOKEN_ATTR_RSTRIP) != 0});
  }
  std::stable_sort(controls_.begin(), controls_.end(),
                   [](const Control& a, const Control& b) { return a.text.size() > b.text.size(); });
  for (std::uint32_t i = 0; i < controls_.size(); ++i) {
    starting_[static_cast<unsigned char>(controls_[i].text.front())].push_back(i);
    ending_[static_cast<unsigned char>(controls_[i].text.back())].push_back(i);
  }
}

void LlamaVocabulary::check_round_trips(const std::string& file) const {
  for (const std::string_view sample : kSamples) {
    std::string back;
    for (const TokenId token : encode(sample, "")) back += bytes(token);
    if (back != sample) {
      throw InputError(
          file, str_cat("this vocabulary does not give a text back as it was: '", sample, "' became '", back, "'"),
          "plans need a tokenizer that keeps every byte; use another model");
    }
  }
}

std::uint64_t LlamaVocabulary::compute_fingerprint() const {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  hash = hash_bytes(hash, metadata(model_.get(), "tokenizer.ggml.model"));
  hash = hash_bytes(hash, metadata(model_.get(), "tokenizer.ggml.pre"));
  hash = hash_bytes(hash, adds_blank_ ? "blank" : "");
  for (std::size_t i = 0; i < size(); ++i) hash = hash_bytes(hash, bytes(TokenId{static_cast<std::int32_t>(i)}));
  for (const TokenId token : end_of_turn_) hash = hash_bytes(hash, str_cat(static_cast<std::int32_t>(token)));
  // Stands for what is not seen from the tokens alone: the order of merges.
  for (const std::string_view sample : kSamples) {
    for (const TokenId token : encode(sample, "")) hash = hash_bytes(hash, str_cat(static_cast<std::int32_t>(token)));
  }
  return hash;
}

std::string_view LlamaVocabulary::bytes(TokenId token) const {
  const auto index = static_cast<std::size_t>(static_cast<std::int32_t>(token));
  if (static_cast<std::int32_t>(token) < 0 || index >= size()) return {};
  return std::string_view(all_bytes_).substr(first_byte_[index], first_byte_[index + 1] - first_byte_[index]);
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
  if (!adds_blank_) return tokenize_whole(text, parse_special);
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

std::optional<std::pair<std::size_t, std::size_t>> LlamaVocabulary::find_control(std::string_view text,
                                                                                 std::size_t from) const {
  for (std::size_t i = from; i < text.size(); ++i) {
    for (const std::uint32_t index : starting_[static_cast<unsigned char>(text[i])]) {
      const std::string& control = controls_[index].text;
      if (text.substr(i).starts_with(control)) return std::pair{i, control.size()};
    }
  }
  return std::nullopt;
}

std::string_view LlamaVocabulary::plain_tail(std::string_view context) const {
  if (context.size() > kMaxContext) {
    context.remove_prefix(context.size() - kMaxContext);
    // Not in the middle of a character, and better not of a word.
    const std::size_t blank = context.find_first_of(" \n");
    std::size_t cut = blank == std::string_view::npos ? 0 : blank;
    while (cut < context.size() && internal::is_continuation(context[cut])) ++cut;
    context.remove_prefix(cut);
  }
  for (std::size_t end = context.size(); end > 0; --end) {
    for (const std::uint32_t index : ending_[static_cast<unsigned char>(context[end - 1])]) {
      const Control& control = controls_[index];
      if (!context.substr(0, end).ends_with(control.text)) continue;
      context.remove_prefix(end);
      if (control.strips_right) {
        while (!context.empty() && std::isspace(static_cast<unsigned char>(context.front())) != 0)
          context.remove_prefix(1);
      }
      return context;
    }
  }
  return context;
}

std::vector<TokenId> LlamaVocabulary::tokenize_context(std::string_view context, internal::Meter& meter) const {
  {
    const std::scoped_lock lock(mutex_);
    if (remembered_.context == context) return remembered_.tokens;
  }
  std::vector<TokenId> tokens = tokenize(context, false, meter);
  const std::scoped_lock lock(mutex_);
  remembered_.context = context;
  remembered_.tokens = tokens;
  return tokens;
}

std::optional<std::vector<TokenId>> LlamaVocabulary::encode_behind(std::string_view context, std::string_view text,
                                                                   internal::Meter& meter) const {
  std::string both(context);
  both += text;
  const std::vector<TokenId> before = tokenize_context(context, meter);
  std::vector<TokenId> all = tokenize(both, false, meter);
  if (all.size() < before.size() || !std::equal(before.begin(), before.end(), all.begin())) return std::nullopt;
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(before.size()));
  return all;
}

std::vector<TokenId> LlamaVocabulary::encode(std::string_view text, std::string_view context,
                                             internal::Meter& meter) const {
  if (text.empty()) return {};
  const std::string_view tail = plain_tail(context);
  if (!tail.empty()) {
    if (auto tokens = encode_behind(tail, text, meter)) return *std::move(tokens);
  }
  if (!adds_blank_) return tokenize(text, false, meter);
  for (const std::string_view before : {"\n", ".", "0", "a", "\"", "("}) {
    if (auto tokens = encode_behind(before, text, meter)) return *std::move(tokens);
  }
  return tokenize(text, false, meter);
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
