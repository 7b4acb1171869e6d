// Templates: text with {placeholders}, and what may be wrong with a plan format.
#ifndef METACTRL_SRC_TEXT_TEMPLATE_H_
#define METACTRL_SRC_TEXT_TEMPLATE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metactrl/format.h"

namespace metactrl::text {

struct TemplatePart {
  bool placeholder = false;
  std::string text;        // literal text, or what stands between the braces
  std::size_t offset = 0;  // where the part begins in the template
};

// "{word}" (letters, digits, '_', '-') is a placeholder, "{{" is a literal brace, as is every other '{'. Literal parts
// are not empty and never adjacent.
std::vector<TemplatePart> split_template(std::string_view text);

// The number in {1}, {2}, ... or in "/1", "/2", ...; nothing when it is no number, or a monstrous one.
std::optional<std::size_t> parse_number(std::string_view digits);

// A mistake in a format, wherever that came from. `key` is the line of the declaration that is to blame ("item
// pick-up", "separator 2"), empty when a line is missing; `offset` is the place in its value.
struct FormatProblem {
  std::string key;
  std::size_t offset = 0;
  std::string message;
  std::string hint;
};

// Everything that is wrong with a format whatever the task is.
std::vector<FormatProblem> check_format(const PlanFormat& format);

}  // namespace metactrl::text

#endif  // METACTRL_SRC_TEXT_TEMPLATE_H_
