#include "benchmarks/prompt_lines.h"

#include <utility>

#include "metactrl/error.h"
#include "support/words.h"

namespace metactrl::benchmarks {

PromptLines::PromptLines(std::string_view text) {
  for (const std::string_view line : split(text, "\n")) lines_.push_back(trim(line));
}

void PromptLines::skip_past_last(std::string_view header) {
  for (std::size_t i = lines_.size(); i-- > 0;) {
    if (lines_[i] != header) continue;
    next_ = i + 1;
    return;
  }
  fail_at(0, str_cat("the prompt has no line '", header, "'"), "is it a prompt of this module?");
}

void PromptLines::skip_past(std::string_view header) {
  const std::size_t from = next_;
  for (; next_ < lines_.size(); ++next_) {
    if (lines_[next_] != header) continue;
    ++next_;
    return;
  }
  fail_at(from, str_cat("no line '", header, "' follows"), "is the prompt complete?");
}

void PromptLines::fail(const std::string& message, const std::string& hint) const { fail_at(next_, message, hint); }

void PromptLines::fail_at(std::size_t line, const std::string& message, const std::string& hint) {
  // Messages quote lines, and a line may be megabytes of garbage.
  constexpr std::size_t kLongest = 400;
  std::string shown = message;
  if (shown.size() > kLongest) shown.replace(kLongest / 2, shown.size() - kLongest, " ... ");
  Diagnostics diagnostics;
  diagnostics.error({"prompt", static_cast<std::uint32_t>(line), line == 0 ? 0U : 1U}, std::move(shown), hint);
  throw InputError(std::move(diagnostics));
}

bool read_word_list(std::string_view text, std::vector<std::string>& words) {
  words.clear();
  text = trim(text);
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return false;
  text = trim(text.substr(1, text.size() - 2));
  if (text.empty()) return true;
  for (std::string_view word : split(text, ",")) {
    word = trim(word);
    if (word.size() < 2 || word.front() != word.back() || (word.front() != '\'' && word.front() != '"')) return false;
    words.emplace_back(word.substr(1, word.size() - 2));
  }
  return true;
}

std::string_view between(std::string_view text, std::string_view open, std::string_view close) {
  const std::size_t begin = text.find(open);
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin + open.size());
  const std::size_t end = text.find(close);
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end);
}

bool is_plain_name(std::string_view name) {
  if (name.empty() || name.front() < 'a' || name.front() > 'z') return false;
  for (const char c : name) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-')) return false;
  }
  return true;
}

bool is_word(std::string_view text) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  return !text.empty() && text.find_first_not_of(kLetters) == std::string_view::npos;
}

}  // namespace metactrl::benchmarks
