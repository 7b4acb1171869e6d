// What Python's str methods, regular expressions, json module and compiler make of a text.
//
// The benchmarks' evaluators are Python programs, and what they accept as an answer depends on these. Texts are UTF-8; a
// byte that is not is a character of its own, neither a letter nor a space. All functions are linear in the text, and
// thread safe.
#ifndef METACTRL_SRC_BENCHMARKS_PYTHON_TEXT_H_
#define METACTRL_SRC_BENCHMARKS_PYTHON_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace metactrl::benchmarks {

struct Character {
  std::uint32_t code = 0;
  std::size_t length = 1;  // in bytes
};

// The character that starts at, or ends just before, `at`.
Character character_at(std::string_view text, std::size_t at);
Character character_before(std::string_view text, std::size_t at);

bool is_space(std::uint32_t code);  // str.isspace, \s
// \w. Outside ASCII a letter is what is not in a block of punctuation, symbols or unassigned codes: exact for what
// people write, not for every code point.
bool is_word_character(std::uint32_t code);

std::string_view python_strip(std::string_view text);  // str.strip()
std::string squeeze_spaces(std::string_view text);     // re.sub(r"\s+", " ", text)
std::size_t skip_spaces(std::string_view text, std::size_t at);
std::size_t skip_word(std::string_view text, std::size_t at);

std::string python_replace(std::string_view text, std::string_view from, std::string_view to);  // str.replace
// The first {...} without braces inside: re.search(r"{[^{}]*}", text).
std::optional<std::string_view> innermost_braces(std::string_view text);

// The code point in UTF-8. Surrogates are written like any other number: they can be part of a Python string.
void append_utf8(std::uint32_t code, std::string& out);
// Of a hexadecimal digit; -1 for any other character.
int hex_value(char c);

struct PythonValue {
  enum class Kind : std::uint8_t { kOther, kString, kBytes, kList, kTuple, kSet, kDictionary };

  Kind kind = Kind::kOther;        // kOther: numbers and constants
  std::string text;                // of kString and kBytes their content; of anything else from JSON what str() gives
  std::vector<PythonValue> items;  // of kList, kTuple, kSet; keys and values in turn of kDictionary

  // The value under a string key, the last one when there are several; nullptr when there is none.
  const PythonValue* find(std::string_view key) const;
  bool hashable() const;
};

// json.loads; nothing where it raises an exception, which includes nesting beyond Python's recursion limit.
std::optional<PythonValue> python_json(std::string_view text);

// The value of a Python list that is written as a literal: "[{'action': 'OPEN', 'object': 'jar_0'}, # first\n]".
//
// Strings with all prefixes and escapes, adjacent strings, numbers, True, False, None, `...`, tuples, sets and
// dictionaries; comments and trailing commas as in Python, so JSON is read too except for its true, false and null,
// which Python does not know. `text` must hold one list and nothing else. Nothing when Python would raise an exception
// or would have to compute something (a name, a call, an operator, a field of an f-string); brackets nest to the depth
// that Python allows.
std::optional<PythonValue> parse_python_list(std::string_view text);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_PYTHON_TEXT_H_
