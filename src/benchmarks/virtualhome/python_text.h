// What Python's str methods, regular expressions and json module make of a text.
//
// The benchmark's evaluator is a Python program, and what it accepts as an answer depends on these. Texts are UTF-8; a
// byte that is not is a character of its own, neither a letter nor a space. All functions are linear in the text.
#ifndef METACTRL_SRC_BENCHMARKS_VIRTUALHOME_PYTHON_TEXT_H_
#define METACTRL_SRC_BENCHMARKS_VIRTUALHOME_PYTHON_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace metactrl::benchmarks::virtualhome {

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

std::string_view strip(std::string_view text);      // str.strip()
std::string squeeze_spaces(std::string_view text);  // re.sub(r"\s+", " ", text)
std::size_t skip_spaces(std::string_view text, std::size_t at);
std::size_t skip_word(std::string_view text, std::size_t at);

// A value as json.loads returns it.
struct PythonValue {
  enum class Kind : std::uint8_t { kNone, kBool, kInteger, kFloat, kString, kList, kDict };
  Kind kind = Kind::kNone;
  std::string text;  // of a string its content, of anything else what str() gives
  std::vector<PythonValue> items;
  std::vector<std::string> keys;  // of a dict, one per item; repeated keys are kept

  // The value that counts for a key of a dict: the last one. Null: none.
  const PythonValue* find(std::string_view key) const;
};

// json.loads; nothing where it raises an exception, which includes nesting beyond Python's recursion limit.
std::optional<PythonValue> python_json(std::string_view text);

}  // namespace metactrl::benchmarks::virtualhome

#endif  // METACTRL_SRC_BENCHMARKS_VIRTUALHOME_PYTHON_TEXT_H_
