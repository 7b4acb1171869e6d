#include "decode/free_text.h"

#include <algorithm>
#include <string>
#include <utility>

namespace metactrl::decode {

FreeText read_free_text(const PlanSpelling& spelling, std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  FreeText result{spelling.parse(text), false};
  if (result.parsed.complete) return result;
  const std::size_t end = text.find_last_not_of(kBlanks);
  std::string closed(text.substr(0, end == std::string_view::npos ? 0 : end + 1));
  if (!closed.empty()) closed += spelling.format().close;
  PlanSpelling::Parsed again = spelling.parse(closed);
  if (again.complete) return {std::move(again), true};
  return result;
}

}  // namespace metactrl::decode
