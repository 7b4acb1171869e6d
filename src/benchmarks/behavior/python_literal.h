// The value of a Python list that is written as a literal.
//
//     std::optional<PythonValue> plan = parse_python_list("[{'action': 'OPEN', 'object': 'jar_0'}, # first\n]");
//
// Strings with all prefixes and escapes, adjacent strings, numbers, True, False, None, `...`, tuples, sets and
// dictionaries; comments and trailing commas as in Python, so JSON is read too except for its true, false and null,
// which Python does not know. Anything that would have to be computed (a name, a call, an operator, a field of an
// f-string) is not read, and neither is what Python itself would reject. Linear in the text; brackets nest to the depth
// that Python allows. Thread safe.
#ifndef METACTRL_SRC_BENCHMARKS_BEHAVIOR_PYTHON_LITERAL_H_
#define METACTRL_SRC_BENCHMARKS_BEHAVIOR_PYTHON_LITERAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace metactrl::benchmarks::behavior {

struct PythonValue {
  enum class Kind : std::uint8_t { kString, kBytes, kOther, kList, kTuple, kSet, kDictionary };

  Kind kind = Kind::kOther;        // kOther: numbers and constants, whose values are not kept
  std::string text;                // of kString, in UTF-8, and kBytes
  std::vector<PythonValue> items;  // of kList, kTuple, kSet; keys and values in turn of kDictionary

  // The value under a string key, the last one when there are several; nullptr when there is none.
  const PythonValue* find(std::string_view key) const;
  bool hashable() const;
};

// `text` must hold one list and nothing else. nullopt when Python would raise an exception or compute something.
std::optional<PythonValue> parse_python_list(std::string_view text);

// str.strip(): without the white space of Unicode at both ends.
std::string_view python_strip(std::string_view text);

}  // namespace metactrl::benchmarks::behavior

#endif  // METACTRL_SRC_BENCHMARKS_BEHAVIOR_PYTHON_LITERAL_H_
