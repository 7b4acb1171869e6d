#include "cli/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "cli/common.h"
#include "support/nearest_name.h"
#include "support/str_cat.h"
#include "support/words.h"

namespace metactrl::cli {

using internal::str_cat;

CLI::Validator one_of(std::vector<std::string> names) {
  return {[names = std::move(names)](const std::string& text) {
            if (std::find(names.begin(), names.end(), text) != names.end()) return std::string();
            const std::string guess = internal::did_you_mean(text, names);
            return str_cat("'", text, "' is none of ", internal::join(names, ", "),
                           guess.empty() ? "" : " (" + guess + ")");
          },
          ""};
}

CLI::Validator in_range(double low, double high) {
  // CLI11's own Range would print itself into the help text, where the limits do not help.
  return {[low, high](const std::string& text) {
            char* end = nullptr;
            const double value = std::strtod(text.c_str(), &end);
            const bool number = !text.empty() && *end == '\0' && std::isfinite(value) && value >= low && value <= high;
            return number ? std::string()
                          : str_cat("'", text, "' is not a number from ", number_text(low), " to ", number_text(high));
          },
          ""};
}

std::optional<std::size_t> parse_size(std::string_view text) {
  std::size_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || number == 0) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (unit.ends_with("iB")) {
    unit.remove_suffix(2);
  } else if (unit.ends_with('B')) {
    unit.remove_suffix(1);
  }
  constexpr std::string_view kUnits = "KMGT";
  std::size_t shift = 0;
  if (!unit.empty()) {
    const char letter = unit[0] >= 'a' && unit[0] <= 'z' ? static_cast<char>(unit[0] - 'a' + 'A') : unit[0];
    const std::size_t power = kUnits.find(letter);
    if (unit.size() != 1 || power == std::string_view::npos) return std::nullopt;
    shift = 10 * (power + 1);
  }
  if (number > (std::numeric_limits<std::size_t>::max() >> shift)) return std::nullopt;
  return number << shift;
}

CLI::Option* add_size(CLI::App& app, const std::string& name, std::string& value, const std::string& help) {
  const auto is_size = [](const std::string& text) {
    return parse_size(text) ? std::string() : str_cat("'", text, "' is not a size; write it like 512M or 2G");
  };
  return app.add_option(name, value, help)
      ->type_name("SIZE")
      ->check(CLI::Validator(is_size, ""))
      ->capture_default_str();
}

}  // namespace metactrl::cli
