// Text, tags {{ }}, {% %} and {# #}, and what is in them. Which blanks around a tag belong to the text is decided here:
// all of them but those that a sign at the tag takes ({%- before it, -%} behind it), the blanks before a block or a
// comment that begins a line, and the new line behind one; {%+ and +%} keep these two.
#include "lm/jinja_lex.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include "lm/jinja_value.h"
#include "support/str_cat.h"

namespace metactrl::lm::jinja {

namespace {

using internal::str_cat;

constexpr std::string_view kTagBlanks = " \t\n\v\f\r";

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_name_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_utf8(std::uint32_t code, std::string& out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0U | code >> 6U);
    out += static_cast<char>(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0U | code >> 12U);
    out += static_cast<char>(0x80U | (code >> 6U & 0x3FU));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  } else {
    out += static_cast<char>(0xF0U | (code >> 18U & 7U));
    out += static_cast<char>(0x80U | (code >> 12U & 0x3FU));
    out += static_cast<char>(0x80U | (code >> 6U & 0x3FU));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  }
}

class Cutter {
 public:
  explicit Cutter(std::string_view source) : source_(source) {}

  std::vector<Word> expression() {
    cut_inside({}, WordKind::kEnd);
    return std::move(words_);
  }

  std::vector<Word> whole() {
    while (at_ < source_.size()) {
      const std::size_t tag = next_tag();
      std::string_view data = source_.substr(at_, tag - at_);
      if (tag == source_.size()) {
        add_data(data);
        break;
      }
      const char kind = source_[tag + 1];
      const char sign = tag + 2 < source_.size() ? source_[tag + 2] : ' ';
      // "{{-1}}" takes the sign for its own, too.
      const bool signed_tag = sign == '-' || sign == '+';
      add_data(before_tag(data, kind, sign));
      advance(tag + 2 + (signed_tag ? 1 : 0));
      tag_of(kind);
    }
    words_.push_back({WordKind::kEnd, line_, {}});
    return std::move(words_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Error(str_cat("line ", line_, ": ", what)); }

  std::size_t next_tag() const {
    for (std::size_t i = at_; i + 1 < source_.size(); ++i) {
      if (source_[i] == '{' && (source_[i + 1] == '{' || source_[i + 1] == '%' || source_[i + 1] == '#')) return i;
    }
    return source_.size();
  }

  std::string_view before_tag(std::string_view data, char kind, char sign) const {
    if (sign == '-') {
      const std::size_t last = data.find_last_not_of(kTagBlanks);
      return data.substr(0, last == std::string_view::npos ? 0 : last + 1);
    }
    if (sign == '+' || kind == '{') return data;
    const std::size_t line = data.rfind('\n') + 1;
    if (line == 0 && !line_starts_) return data;
    return data.find_first_not_of(" \t\v\f\r", line) == std::string_view::npos ? data.substr(0, line) : data;
  }

  void add_data(std::string_view data) {
    if (!data.empty()) words_.push_back({WordKind::kData, line_, std::string(data)});
  }

  void advance(std::size_t to) {
    line_ += static_cast<std::uint32_t>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                   source_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
    at_ = to;
  }

  void tag_of(char kind) {
    if (kind == '#') {
      const std::size_t end = source_.find("#}", at_);
      if (end == std::string_view::npos) fail("a comment has no end");
      const char sign = end > at_ ? source_[end - 1] : ' ';
      advance(end + 2);
      skip_behind(sign, true);
      return;
    }
    const bool block = kind == '%';
    const std::size_t first = words_.size();
    words_.push_back({block ? WordKind::kBlockBegin : WordKind::kPrintBegin, line_, {}});
    const char sign = cut_inside(block ? "%}" : "}}", block ? WordKind::kBlockEnd : WordKind::kPrintEnd);
    skip_behind(sign, block);
    if (block && words_.size() == first + 3 && words_[first + 1].text == "raw") raw(first);
  }

  void skip_behind(char sign, bool block) {
    const std::size_t before = at_;
    if (sign == '-') {
      advance(std::min(source_.find_first_not_of(kTagBlanks, at_), source_.size()));
    } else if (block && sign != '+' && at_ < source_.size() && source_[at_] == '\n') {
      advance(at_ + 1);
    }
    line_starts_ = at_ > before && source_[at_ - 1] == '\n';
  }

  // What stands between {% raw %} and {% endraw %} is text.
  void raw(std::size_t first) {
    words_.resize(first);
    const std::size_t from = at_;
    for (std::size_t tag = source_.find("{%", at_); tag != std::string_view::npos; tag = source_.find("{%", tag + 2)) {
      std::size_t name = tag + 2;
      const char before = name < source_.size() ? source_[name] : ' ';
      name = source_.find_first_not_of(kTagBlanks, name + (before == '-' || before == '+' ? 1 : 0));
      const std::size_t end = source_.find("%}", tag);
      if (name == std::string_view::npos || end == std::string_view::npos ||
          !source_.substr(name).starts_with("endraw"))
        continue;
      add_data(before_tag(source_.substr(from, tag - from), '%', before));
      const char behind = source_[end - 1];
      advance(end + 2);
      skip_behind(behind, true);
      return;
    }
    fail("{% raw %} has no {% endraw %}");
  }

  // Up to `closing`; returns the sign before it.
  char cut_inside(std::string_view closing, WordKind end_kind) {
    std::size_t brackets = 0;
    while (true) {
      advance(std::min(source_.find_first_not_of(kTagBlanks, at_), source_.size()));
      if (at_ == source_.size()) {
        if (!closing.empty()) fail("a tag has no end");
        words_.push_back({end_kind, line_, {}});
        return ' ';
      }
      const std::string_view rest = source_.substr(at_);
      if (brackets == 0 && !closing.empty()) {
        const bool has_sign = (rest.front() == '-' || rest.front() == '+') && rest.substr(1).starts_with(closing);
        if (has_sign || rest.starts_with(closing)) {
          const char sign = has_sign ? rest.front() : ' ';
          words_.push_back({end_kind, line_, {}});
          advance(at_ + closing.size() + (has_sign ? 1 : 0));
          return sign;
        }
      }
      word(rest);
      const Word& last = words_.back();
      if (last.kind != WordKind::kOperator) continue;
      if (last.text == "(" || last.text == "[" || last.text == "{") ++brackets;
      if ((last.text == ")" || last.text == "]" || last.text == "}") && brackets > 0) --brackets;
    }
  }

  void word(std::string_view rest) {
    const char first = rest.front();
    if (first == '"' || first == '\'') {
      string(rest);
    } else if (is_digit(first)) {
      number(rest);
    } else if (is_name_start(first)) {
      std::size_t size = 1;
      while (size < rest.size() && is_name_part(rest[size])) ++size;
      take(WordKind::kName, size);
    } else {
      constexpr std::array<std::string_view, 6> kDouble = {"**", "//", "==", "!=", ">=", "<="};
      const bool two = std::any_of(kDouble.begin(), kDouble.end(), [&](auto text) { return rest.starts_with(text); });
      if (!two && std::string_view("+-*/%~<>()[]{}.:|,=").find(first) == std::string_view::npos) {
        fail(str_cat("'", std::string(1, first), "' is not understood"));
      }
      take(WordKind::kOperator, two ? 2 : 1);
    }
  }

  void take(WordKind kind, std::size_t size) {
    words_.push_back({kind, line_, std::string(source_.substr(at_, size))});
    advance(at_ + size);
  }

  void number(std::string_view rest) {
    std::size_t size = 0;
    const auto digits = [&] {
      while (size < rest.size() && (is_digit(rest[size]) || rest[size] == '_')) ++size;
    };
    digits();
    bool is_float = false;
    if (size + 1 < rest.size() && rest[size] == '.' && is_digit(rest[size + 1])) {
      is_float = true;
      ++size;
      digits();
    }
    if (size + 1 < rest.size() && (rest[size] == 'e' || rest[size] == 'E')) {
      const std::size_t digit = size + (rest[size + 1] == '-' || rest[size + 1] == '+' ? 2 : 1);
      if (digit < rest.size() && is_digit(rest[digit])) {
        is_float = true;
        size = digit;
        digits();
      }
    }
    take(is_float ? WordKind::kFloat : WordKind::kInteger, size);
    std::erase(words_.back().text, '_');
  }

  void string(std::string_view rest) {
    const char quote = rest.front();
    std::string text;
    std::size_t i = 1;
    while (i < rest.size() && rest[i] != quote) {
      if (rest[i] != '\\' || i + 1 == rest.size()) {
        text += rest[i++];
        continue;
      }
      i = escape(rest, i + 1, text);
    }
    if (i >= rest.size()) fail("a string has no end");
    words_.push_back({WordKind::kString, line_, std::move(text)});
    advance(at_ + i + 1);
  }

  // What the letter at `at` stands for behind a backslash; returns what comes next.
  static std::size_t escape(std::string_view rest, std::size_t at, std::string& text) {
    constexpr std::string_view kLetters = "nrtbfav0\\'\"/";
    constexpr std::string_view kMeant("\n\r\t\b\f\a\v\0\\'\"/", kLetters.size());
    const char letter = rest[at];
    const std::size_t size = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    if (size > 0) {
      const std::string digits(rest.substr(at + 1, size));
      if (digits.size() == size && digits.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos) {
        append_utf8(static_cast<std::uint32_t>(std::stoul(digits, nullptr, 16)), text);
        return at + 1 + size;
      }
    }
    const std::size_t known = kLetters.find(letter);
    if (letter == '\n') return at + 1;
    if (known == std::string_view::npos) text += '\\';
    text += known == std::string_view::npos ? letter : kMeant[known];
    return at + 1;
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  bool line_starts_ = true;
  std::vector<Word> words_;
};

}  // namespace

std::vector<Word> cut_template(std::string_view source) {
  std::string lines;
  lines.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      lines += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      lines += source[i];
    }
  }
  // The last new line is that of the file.
  if (lines.ends_with('\n')) lines.pop_back();
  return Cutter(lines).whole();
}

std::vector<Word> cut_expression(std::string_view source) { return Cutter(source).expression(); }

}  // namespace metactrl::lm::jinja
