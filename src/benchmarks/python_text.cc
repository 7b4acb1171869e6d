#include "benchmarks/python_text.h"

#include <algorithm>
#include <array>
#include <utility>

#include "support/lower_case.h"
#include "support/words.h"

namespace metactrl::benchmarks {
namespace {

constexpr std::uint32_t kNoCharacter = 0xFFFFFFFF;

// Blocks outside ASCII without letters or digits.
constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 22> kNoWord = {{
    {0x80, 0xA9},     {0xAB, 0xB1},     {0xB4, 0xB4},     {0xB6, 0xB8},       {0xBB, 0xBB},     {0xBF, 0xBF},
    {0xD7, 0xD7},     {0xF7, 0xF7},     {0x2C2, 0x2C5},   {0x300, 0x36F},     {0x2000, 0x206F}, {0x20A0, 0x20FF},
    {0x2190, 0x245F}, {0x2500, 0x2775}, {0x2794, 0x2BFF}, {0x2E00, 0x2E2E},   {0x2E30, 0x2FFF}, {0x3000, 0x3004},
    {0x3008, 0x3020}, {0xD800, 0xF8FF}, {0xFF01, 0xFF0F}, {0x1F000, 0x1FBEF},
}};

// json.loads, one value at a time. Python's own recursion limit is 1000 calls, some of which the evaluator has used.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  std::optional<PythonValue> read() {
    PythonValue value;
    skip_blanks();
    if (!read_value(value, 0)) return std::nullopt;
    skip_blanks();
    if (at_ != text_.size()) return std::nullopt;
    return value;
  }

 private:
  static constexpr std::size_t kMaxDepth = 980;
  static constexpr std::size_t kMaxDigits = 4300;  // of an integer, a limit of Python's

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char wanted) {
    if (peek() != wanted || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view wanted) {
    if (text_.substr(at_, wanted.size()) != wanted) return false;
    at_ += wanted.size();
    return true;
  }
  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\n\r").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  std::size_t skip_digits() {
    const std::size_t begin = at_;
    while (internal::is_digit(peek())) ++at_;
    return at_ - begin;
  }

  bool read_value(PythonValue& value, std::size_t depth) {
    using Kind = PythonValue::Kind;
    const auto constant = [&](std::string_view word, std::string_view python) {
      if (!take(word)) return false;
      value.text = python;
      return true;
    };
    if (depth > kMaxDepth) return false;
    if (take('"')) {
      value.kind = Kind::kString;
      return read_string(value.text);
    }
    if (take('[')) return read_list(value, depth);
    if (take('{')) return read_dict(value, depth);
    return constant("null", "None") || constant("true", "True") || constant("false", "False") ||
           constant("NaN", "nan") || constant("Infinity", "inf") || constant("-Infinity", "-inf") || read_number(value);
  }

  bool read_number(PythonValue& value) {
    const std::size_t begin = at_;
    take('-');
    if (take('0')) {
      // A number does not go on after a leading zero.
    } else if (skip_digits() == 0) {
      return false;
    }
    std::size_t end = at_;
    bool whole = true;
    if (take('.')) {
      if (skip_digits() > 0) {
        whole = false;
        end = at_;
      }
      at_ = end;
    }
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      if (skip_digits() > 0) {
        whole = false;
        end = at_;
      }
      at_ = end;
    }
    value.text = text_.substr(begin, end - begin);
    if (value.text == "-0") value.text = "0";
    return !whole || value.text.size() <= kMaxDigits;
  }

  bool read_list(PythonValue& value, std::size_t depth) {
    value.kind = PythonValue::Kind::kList;
    value.text = "[...]";
    skip_blanks();
    if (take(']')) return true;
    do {
      skip_blanks();
      if (!read_value(value.items.emplace_back(), depth + 1)) return false;
      skip_blanks();
    } while (take(','));
    return take(']');
  }

  bool read_dict(PythonValue& value, std::size_t depth) {
    value.kind = PythonValue::Kind::kDictionary;
    value.text = "{...}";
    skip_blanks();
    if (take('}')) return true;
    do {
      skip_blanks();
      PythonValue& key = value.items.emplace_back(PythonValue{PythonValue::Kind::kString, {}, {}});
      if (!take('"') || !read_string(key.text)) return false;
      skip_blanks();
      if (!take(':')) return false;
      skip_blanks();
      if (!read_value(value.items.emplace_back(), depth + 1)) return false;
      skip_blanks();
    } while (take(','));
    return take('}');
  }

  bool read_string(std::string& out) {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c != '\\') {
        out += c;
        continue;
      }
      constexpr std::string_view kEscapes = "\"\\/bfnrt";
      constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
      const std::size_t escape = at_ < text_.size() ? kEscapes.find(text_[at_]) : std::string_view::npos;
      if (escape != std::string_view::npos) {
        out += kMeanings[escape];
        ++at_;
      } else if (!take('u') || !read_unicode(out)) {
        return false;
      }
    }
    return false;
  }

  std::optional<std::uint32_t> read_hex() {
    if (at_ + 4 > text_.size()) return std::nullopt;
    std::uint32_t code = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const int digit = hex_value(text_[at_ + i]);
      if (digit < 0) return std::nullopt;
      code = code * 16 + static_cast<std::uint32_t>(digit);
    }
    at_ += 4;
    return code;
  }

  bool read_unicode(std::string& out) {
    std::optional<std::uint32_t> code = read_hex();
    if (!code) return false;
    if (*code >= 0xD800 && *code < 0xDC00 && text_.substr(at_, 2) == "\\u") {
      const std::size_t back = at_;
      at_ += 2;
      const std::optional<std::uint32_t> low = read_hex();
      if (!low) return false;
      if (*low >= 0xDC00 && *low < 0xE000) {
        code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
      } else {
        at_ = back;
      }
    }
    append_utf8(*code, out);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t first = byte(at);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
  if (length == 0 || at + length > text.size()) return {kNoCharacter, 1};
  std::uint32_t code = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) return {kNoCharacter, 1};
    code = code << 6 | (byte(at + i) & 0x3FU);
  }
  return {code, length};
}

Character character_before(std::string_view text, std::size_t at) {
  for (std::size_t length = 1; length <= 4 && length <= at; ++length) {
    const Character found = character_at(text, at - length);
    if (found.length == length && found.code != kNoCharacter) return found;
  }
  return {kNoCharacter, 1};
}

bool is_space(std::uint32_t code) {
  return (code >= 0x09 && code <= 0x0D) || (code >= 0x1C && code <= 0x20) || code == 0x85 || code == 0xA0 ||
         code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F ||
         code == 0x205F || code == 0x3000;
}

bool is_word_character(std::uint32_t code) {
  if (code < 0x80) {
    return (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') || (code >= 'a' && code <= 'z') || code == '_';
  }
  if (code > 0x10FFFF) return false;
  return std::none_of(kNoWord.begin(), kNoWord.end(),
                      [&](const auto& block) { return code >= block.first && code <= block.second; });
}

std::size_t skip_spaces(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const Character c = character_at(text, at);
    if (!is_space(c.code)) break;
    at += c.length;
  }
  return at;
}

std::size_t skip_word(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const Character c = character_at(text, at);
    if (!is_word_character(c.code)) break;
    at += c.length;
  }
  return at;
}

std::string_view python_strip(std::string_view text) {
  text.remove_prefix(skip_spaces(text, 0));
  while (!text.empty()) {
    const Character last = character_before(text, text.size());
    if (!is_space(last.code)) break;
    text.remove_suffix(last.length);
  }
  return text;
}

std::string squeeze_spaces(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (is_space(c.code)) {
      result += ' ';
      at = skip_spaces(text, at);
    } else {
      result += text.substr(at, c.length);
      at += c.length;
    }
  }
  return result;
}

std::string python_replace(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (const std::string_view part : split(text, from)) {
    if (part.data() != text.data()) out += to;
    out += part;
  }
  return out;
}

std::optional<std::string_view> innermost_braces(std::string_view text) {
  std::size_t open = std::string_view::npos;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{') open = i;
    if (text[i] == '}' && open != std::string_view::npos) return text.substr(open, i - open + 1);
  }
  return std::nullopt;
}

void append_utf8(std::uint32_t code, std::string& out) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

int hex_value(char c) {
  if (internal::is_digit(c)) return c - '0';
  c = internal::lower_case(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

const PythonValue* PythonValue::find(std::string_view key) const {
  const PythonValue* found = nullptr;
  if (kind != Kind::kDictionary) return found;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i].kind == Kind::kString && items[i].text == key) found = &items[i + 1];
  }
  return found;
}

bool PythonValue::hashable() const {
  if (kind == Kind::kTuple) {
    return std::all_of(items.begin(), items.end(), [](const PythonValue& item) { return item.hashable(); });
  }
  return kind == Kind::kString || kind == Kind::kBytes || kind == Kind::kOther;
}

std::optional<PythonValue> python_json(std::string_view text) { return JsonReader(text).read(); }

}  // namespace metactrl::benchmarks
