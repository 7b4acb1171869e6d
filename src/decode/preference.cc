#include "decode/preference.h"

#include <cmath>
#include <cstdlib>
#include <string>

namespace metactrl::decode {

bool set_preference(std::string_view text, PlanOptions& options) {
  constexpr double kMost = 1e6;
  const std::size_t colon = text.find(':');
  double weight = 1;
  if (colon != std::string_view::npos) {
    const std::string number(text.substr(colon + 1));
    char* end = nullptr;
    weight = std::strtod(number.c_str(), &end);
    if (number.empty() || *end != '\0' || !(weight >= 0 && weight <= kMost)) return false;
  }
  const std::string_view name = text.substr(0, colon);
  if (name != "short" && name != "cheap" && (name != "model" || colon != std::string_view::npos)) return false;
  options.prefer_short = name == "short" ? weight : 0;
  options.prefer_cheap = name == "cheap" ? weight : 0;
  options.lookahead.costs = options.prefer_cheap > 0;
  return true;
}

}  // namespace metactrl::decode
