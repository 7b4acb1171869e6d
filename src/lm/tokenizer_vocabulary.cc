// Encoding in context: the tokenizer is run on context + text and on the context alone; if the second is a prefix of
// the first, what remains is the answer. Three things make this less simple than it sounds:
//
//   - Control tokens. A chat prompt's end, "<|im_start|>assistant\n", holds control tokens; the text behind them is
//     encoded afresh. So only the context's part behind its last control token counts, and that part and the text are
//     encoded without parsing control tokens: what looks like one in the text is plain text.
//   - A token may straddle the border ("\n" + "\n" is one token in many vocabularies). The prompt is there already, so
//     the text is encoded as if it began at the border.
//   - SentencePiece tokenizers begin a text with a blank that is not there. Texts that begin at the border are encoded
//     behind a short context that no token joins with the text, found by trying.
#include "lm/tokenizer_vocabulary.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <utility>

#include "metactrl/error.h"
#include "support/str_cat.h"

namespace metactrl::lm {

namespace {

using internal::str_cat;

// As much of the context as can matter: longer than any word or run of blanks in a prompt's last line.
constexpr std::size_t kMaxContext = 256;

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

}  // namespace

void TokenizerVocabulary::add_token(std::string_view bytes) {
  if (bytes.size() > std::numeric_limits<std::uint32_t>::max() - all_bytes_.size()) {
    throw InputError("vocabulary", "its tokens have more than 4 GiB of text", "use another vocabulary");
  }
  all_bytes_ += bytes;
  first_byte_.push_back(static_cast<std::uint32_t>(all_bytes_.size()));
}

void TokenizerVocabulary::add_control(std::string text, bool strips_right, bool recognised) {
  if (!text.empty()) controls_.push_back({std::move(text), strips_right, recognised});
}

void TokenizerVocabulary::finish(const std::vector<std::string>& kind, const std::string& file) {
  std::stable_sort(controls_.begin(), controls_.end(),
                   [](const Control& a, const Control& b) { return a.text.size() > b.text.size(); });
  for (std::uint32_t i = 0; i < controls_.size(); ++i) {
    starting_[static_cast<unsigned char>(controls_[i].text.front())].push_back(i);
    ending_[static_cast<unsigned char>(controls_[i].text.back())].push_back(i);
  }
  const std::vector<TokenId> probe = tokenize_plain("a", internal::no_meter());
  adds_blank_ = !probe.empty() && bytes(probe.front()).starts_with(' ');
  check_round_trips(file);
  fingerprint_ = compute_fingerprint(kind);
}

void TokenizerVocabulary::check_round_trips(const std::string& file) const {
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

std::uint64_t TokenizerVocabulary::compute_fingerprint(const std::vector<std::string>& kind) const {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::string& part : kind) hash = hash_bytes(hash, part);
  hash = hash_bytes(hash, adds_blank_ ? "blank" : "");
  for (std::size_t i = 0; i < size(); ++i) hash = hash_bytes(hash, bytes(TokenId{static_cast<std::int32_t>(i)}));
  for (const TokenId token : end_of_turn_) hash = hash_bytes(hash, str_cat(static_cast<std::int32_t>(token)));
  // Stands for what is not seen from the tokens alone: the order of merges.
  for (const std::string_view sample : kSamples) {
    for (const TokenId token : encode(sample, "")) hash = hash_bytes(hash, str_cat(static_cast<std::int32_t>(token)));
  }
  return hash;
}

std::string_view TokenizerVocabulary::bytes(TokenId token) const {
  const auto index = static_cast<std::size_t>(static_cast<std::int32_t>(token));
  if (static_cast<std::int32_t>(token) < 0 || index >= size()) return {};
  return std::string_view(all_bytes_).substr(first_byte_[index], first_byte_[index + 1] - first_byte_[index]);
}

std::optional<std::pair<std::size_t, std::size_t>> TokenizerVocabulary::find_written(std::string_view text,
                                                                                     std::size_t from,
                                                                                     bool recognised) const {
  for (std::size_t i = from; i < text.size(); ++i) {
    for (const std::uint32_t index : starting_[static_cast<unsigned char>(text[i])]) {
      const std::string& control = controls_[index].text;
      if (recognised && !controls_[index].recognised) continue;
      if (text.substr(i).starts_with(control)) return std::pair{i, control.size()};
    }
  }
  return std::nullopt;
}

std::string_view TokenizerVocabulary::plain_tail(std::string_view context) const {
  if (context.size() > kMaxContext) {
    context.remove_prefix(context.size() - kMaxContext);
    // Not in the middle of a character, and better not of a word.
    const std::size_t blank = context.find_first_of(" \n");
    std::size_t cut = blank == std::string_view::npos ? 0 : blank;
    while (cut < context.size() && (static_cast<unsigned char>(context[cut]) & 0xC0U) == 0x80U) ++cut;
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

std::vector<TokenId> TokenizerVocabulary::tokenize_context(std::string_view context, internal::Meter& meter) const {
  {
    const std::scoped_lock lock(mutex_);
    if (remembered_.context == context) return remembered_.tokens;
  }
  std::vector<TokenId> tokens = tokenize_plain(context, meter);
  const std::scoped_lock lock(mutex_);
  remembered_.context = context;
  remembered_.tokens = tokens;
  return tokens;
}

std::optional<std::vector<TokenId>> TokenizerVocabulary::encode_behind(std::string_view context, std::string_view text,
                                                                       internal::Meter& meter) const {
  std::string both(context);
  both += text;
  const std::vector<TokenId> before = tokenize_context(context, meter);
  std::vector<TokenId> all = tokenize_plain(both, meter);
  if (all.size() < before.size() || !std::equal(before.begin(), before.end(), all.begin())) return std::nullopt;
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(before.size()));
  return all;
}

std::vector<TokenId> TokenizerVocabulary::encode(std::string_view text, std::string_view context,
                                                 internal::Meter& meter) const {
  if (text.empty()) return {};
  const std::string_view tail = plain_tail(context);
  if (!tail.empty()) {
    if (auto tokens = encode_behind(tail, text, meter)) return *std::move(tokens);
  }
  if (!adds_blank_) return tokenize_plain(text, meter);
  for (const std::string_view before : {"\n", ".", "0", "a", "\"", "("}) {
    if (auto tokens = encode_behind(before, text, meter)) return *std::move(tokens);
  }
  return tokenize_plain(text, meter);
}

}  // namespace metactrl::lm
