// Texts of chat templates, cut and joined as Python's strings are; what a user said stays known as such.
#ifndef METACTRL_SRC_LM_JINJA_TEXT_H_
#define METACTRL_SRC_LM_JINJA_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "lm/jinja_builtins.h"
#include "lm/jinja_value.h"

namespace metactrl::lm::jinja {

inline constexpr std::string_view kPythonBlanks = " \t\n\v\f\r";

// The value as what it must be; `what` wants it.
const Text& text_in(const Value& value, std::string_view what);
std::int64_t integer_in(const Value& value, std::string_view what);

// Of ASCII alone.
inline char upper_letter(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
inline char lower_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
// The first letter in upper case, of the text or of every word.
Text title_of(const Text& text, bool every_word);

Text stripped(const Text& text, std::string_view blanks, bool left, bool right);
// The argument of strip().
std::string blanks_of(const Arguments& arguments);
Text joined(const List& parts, const Text& separator, Allowance& allowance);
// `count` < 0: all of them.
Text replaced(const Text& text, const Text& from, const Text& to, std::int64_t count, Allowance& allowance);
// split() and rsplit()
List split(const Text& text, const Arguments& arguments, bool from_right);
List lines_of(const Text& text);
// startswith() and endswith()
bool has_affix(const Text& text, const Value& affix, bool at_start);
// format() with "{}", "{0}" and "{name}", no formats behind a colon; and "%s", "%d", "%%" of the operator %.
Text formatted(const Text& text, const Arguments& arguments);
Text percent(const Text& text, const Value& value);
Text indented(const Text& text, const Arguments& arguments, Allowance& allowance);
// For HTML.
Text escaped(const Text& text);

}  // namespace metactrl::lm::jinja

#endif  // METACTRL_SRC_LM_JINJA_TEXT_H_
