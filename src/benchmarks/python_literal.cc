// Python literals, by a recursive descent over characters. Every function returns false on the first thing that is not a
// literal, and the whole text counts as unreadable then, as an exception in Python would make it.
#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "benchmarks/python_text.h"
#include "support/lower_case.h"

namespace metactrl::benchmarks {

namespace {

using internal::is_digit;
using internal::lower_case;

constexpr int kMaxBrackets = 200;

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name(char c) { return is_name_start(c) || is_digit(c); }

class LiteralParser {
 public:
  explicit LiteralParser(std::string_view text) : text_(text) {}

  bool whole_list(PythonValue& value) {
    if (text_.find('\0') != std::string_view::npos) return false;
    return skip_space() && peek() == '[' && element(value, 0) && skip_space() && at_ == text_.size();
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  // Space, line ends, comments and joined lines between tokens.
  bool skip_space() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\f' || c == '\n' || c == '\r') {
        ++at_;
      } else if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
      } else if (c == '\\') {
        if (peek(1) != '\n' && peek(1) != '\r') return false;
        at_ += peek(1) == '\r' && peek(2) == '\n' ? 3 : 2;
      } else {
        return true;
      }
    }
    return true;
  }

  bool element(PythonValue& value, int depth) {
    if (!skip_space()) return false;
    const char c = peek();
    switch (c) {
      case '[':
        return brackets(value, PythonValue::Kind::kList, ']', depth);
      case '(':
        return brackets(value, PythonValue::Kind::kTuple, ')', depth);
      case '{':
        return brackets(value, PythonValue::Kind::kSet, '}', depth);
      default:
        break;
    }
    if (c == '.' && peek(1) == '.' && peek(2) == '.') {
      at_ += 3;
      return true;
    }
    if (is_digit(c) || c == '.') return number();
    if (c == '-' || c == '+' || c == '~') return signed_number();
    if (c == '"' || c == '\'' || starts_string()) return strings(value);
    return constant();
  }

  bool signed_number() {
    const bool inverted = peek() == '~';
    while (peek() == '-' || peek() == '+' || peek() == '~') {
      if ((peek() == '~') != inverted) return false;
      ++at_;
      if (!skip_space()) return false;
    }
    return (is_digit(peek()) || peek() == '.') && number() && !(inverted && fractional_);
  }

  bool constant() {
    std::size_t end = at_;
    while (end < text_.size() && is_name(text_[end])) ++end;
    const std::string_view name = text_.substr(at_, end - at_);
    at_ = end;
    return name == "True" || name == "False" || name == "None";
  }

  // A dictionary is told from a set by its first colon, a tuple from a value in brackets by its first comma.
  bool brackets(PythonValue& value, PythonValue::Kind kind, char close, int depth) {
    if (depth >= kMaxBrackets) return false;
    ++at_;
    value.kind = kind;
    bool comma = false;
    while (true) {
      if (!skip_space()) return false;
      if (peek() == close) break;
      if (!value.items.empty() && !comma) return false;
      comma = false;
      PythonValue item;
      if (!element(item, depth + 1) || !skip_space()) return false;
      const bool first = value.items.empty();
      value.items.push_back(std::move(item));
      if (kind == PythonValue::Kind::kSet && peek() == ':' && first) value.kind = PythonValue::Kind::kDictionary;
      if (value.kind == PythonValue::Kind::kDictionary && !colon_value(value, depth)) return false;
      if (peek() == ',') {
        comma = true;
        ++at_;
      }
    }
    ++at_;
    return finish(value, comma);
  }

  bool colon_value(PythonValue& value, int depth) {
    if (peek() != ':') return false;
    ++at_;
    PythonValue item;
    if (!element(item, depth + 1) || !skip_space()) return false;
    value.items.push_back(std::move(item));
    return true;
  }

  static bool finish(PythonValue& value, bool trailing_comma) {
    using Kind = PythonValue::Kind;
    if (value.kind == Kind::kSet && value.items.empty()) value.kind = Kind::kDictionary;
    if (value.kind == Kind::kTuple && value.items.size() == 1 && !trailing_comma) {
      PythonValue inner = std::move(value.items[0]);
      value = std::move(inner);
      return true;
    }
    const std::size_t step = value.kind == Kind::kDictionary ? 2 : 1;
    if (value.kind != Kind::kSet && value.kind != Kind::kDictionary) return true;
    for (std::size_t i = 0; i < value.items.size(); i += step) {
      if (!value.items[i].hashable()) return false;
    }
    return true;
  }

  // Digits with single underscores between them.
  template <typename Test>
  bool digits(Test test) {
    const std::size_t begin = at_;
    const auto underscore = [&] { return text_[at_] == '_' && at_ > begin && text_[at_ - 1] != '_' && test(peek(1)); };
    while (at_ < text_.size() && (test(text_[at_]) || underscore())) ++at_;
    return at_ > begin;
  }

  bool number() {
    fractional_ = false;
    const char marker = lower_case(peek(1));
    if (peek() == '0' && (marker == 'x' || marker == 'o' || marker == 'b')) {
      at_ += 2;
      if (peek() == '_') ++at_;
      const int base = marker == 'x' ? 16 : marker == 'o' ? 8 : 2;
      return digits([base](char c) { return hex_value(c) >= 0 && hex_value(c) < base; }) && !is_name(peek());
    }
    const std::size_t begin = at_;
    bool any = digits(is_digit);
    const std::string_view whole = text_.substr(begin, at_ - begin);
    const bool octal_looking =
        whole.size() > 1 && whole[0] == '0' && whole.find_first_not_of("0_") != std::string_view::npos;
    if (peek() == '.') {
      ++at_;
      fractional_ = true;
      any = digits(is_digit) || any;
    }
    if (!any) return false;
    if (lower_case(peek()) == 'e') {
      ++at_;
      fractional_ = true;
      if (peek() == '+' || peek() == '-') ++at_;
      if (!digits(is_digit)) return false;
    }
    if (lower_case(peek()) == 'j') {
      ++at_;
      fractional_ = true;
    }
    return !(octal_looking && !fractional_) && !is_name(peek());
  }

  // The length of a string prefix such as rb before a quote; nullopt when there is none.
  std::optional<std::size_t> prefix_length() const {
    constexpr std::array<std::string_view, 9> kPrefixes = {"", "r", "b", "u", "f", "rb", "br", "rf", "fr"};
    std::string prefix;
    while (prefix.size() < 3 && is_name_start(peek(prefix.size()))) prefix += lower_case(peek(prefix.size()));
    const char quote = peek(prefix.size());
    if ((quote != '"' && quote != '\'') || std::find(kPrefixes.begin(), kPrefixes.end(), prefix) == kPrefixes.end()) {
      return std::nullopt;
    }
    return prefix.size();
  }

  bool starts_string() const { return prefix_length().has_value(); }

  // Adjacent strings are one; bytes and text do not mix.
  bool strings(PythonValue& value) {
    value.kind = PythonValue::Kind::kOther;
    while (const auto length = prefix_length()) {
      Style style;
      for (std::size_t i = 0; i < *length; ++i) {
        const char c = lower_case(peek(i));
        style.raw |= c == 'r';
        style.bytes |= c == 'b';
        style.format |= c == 'f';
      }
      at_ += *length;
      const PythonValue::Kind kind = style.bytes ? PythonValue::Kind::kBytes : PythonValue::Kind::kString;
      if (value.kind != PythonValue::Kind::kOther && value.kind != kind) return false;
      value.kind = kind;
      if (!one_string(style, value.text) || !skip_space()) return false;
    }
    return true;
  }

  struct Style {
    bool raw = false;
    bool bytes = false;
    bool format = false;
  };

  bool one_string(const Style& style, std::string& out) {
    const char quote = peek();
    const bool triple = peek(1) == quote && peek(2) == quote;
    at_ += triple ? 3 : 1;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == quote && (!triple || (peek(1) == quote && peek(2) == quote))) {
        at_ += triple ? 3 : 1;
        return true;
      }
      if ((c == '\n' || c == '\r') && !triple) return false;
      if (style.bytes && static_cast<unsigned char>(c) >= 0x80) return false;
      if (c == '\\') {
        if (!escape(style, out)) return false;
      } else if (style.format && (c == '{' || c == '}')) {
        if (peek(1) != c) return false;
        out += c;
        at_ += 2;
      } else {
        out += c;
        ++at_;
      }
    }
    return false;
  }

  bool escape(const Style& style, std::string& out) {
    const char c = peek(1);
    if (at_ + 1 >= text_.size()) return false;
    if (style.raw) {
      out += '\\';
      out += c;
      at_ += 2;
      return true;
    }
    constexpr std::string_view kLetters = "\\'\"abfnrtv";
    constexpr std::string_view kMeanings = "\\'\"\a\b\f\n\r\t\v";
    at_ += 2;
    if (const std::size_t i = kLetters.find(c); i != std::string_view::npos) {
      out += kMeanings[i];
    } else if (c == '\n' || c == '\r') {
      if (c == '\r' && peek() == '\n') ++at_;
    } else if (c >= '0' && c <= '7') {
      std::uint32_t code = static_cast<std::uint32_t>(c - '0');
      for (int i = 0; i < 2 && peek() >= '0' && peek() <= '7'; ++i) {
        code = code * 8 + static_cast<std::uint32_t>(text_[at_++] - '0');
      }
      append_code(style, code, out);
    } else if (c == 'x') {
      return hexadecimal(style, 2, out);
    } else if (!style.bytes && (c == 'u' || c == 'U')) {
      return hexadecimal(style, c == 'u' ? 4 : 8, out);
    } else if (!style.bytes && c == 'N') {
      return false;  // a character by its name; no object name needs one
    } else {
      out += '\\';
      out += c;
    }
    return true;
  }

  bool hexadecimal(const Style& style, int length, std::string& out) {
    std::uint32_t code = 0;
    for (int i = 0; i < length; ++i) {
      const int digit = hex_value(peek());
      if (digit < 0) return false;
      code = code * 16 + static_cast<std::uint32_t>(digit);
      ++at_;
    }
    if (code > 0x10FFFF) return false;
    append_code(style, code, out);
    return true;
  }

  static void append_code(const Style& style, std::uint32_t code, std::string& out) {
    if (style.bytes) {
      out += static_cast<char>(code & 0xFF);
    } else {
      append_utf8(code, out);
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool fractional_ = false;
};

}  // namespace

std::optional<PythonValue> parse_python_list(std::string_view text) {
  PythonValue value;
  if (!LiteralParser(text).whole_list(value)) return std::nullopt;
  return value;
}

}  // namespace metactrl::benchmarks
