// Kinds of options that commands declare: a choice, a number, a size, and where results go.
//
//     add_choice(app, "--decode", mode, "how tokens are chosen");
//     add_number(app, "--beam", "N", beam, 1, 4096, "plans kept at each action");
//
// What an option is called is the same in every command; docs/cli.md has the list, and a test compares.
#ifndef METACTRL_SRC_CLI_OPTIONS_H_
#define METACTRL_SRC_CLI_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "support/enum_names.h"
#include "support/words.h"

namespace metactrl::cli {

// Seeds are 64 bits wide; this is the largest number below 2^64 that option checks can tell from it.
constexpr double kLargestSeed = 0x1.fffffffffffffp63;

// A validator that lists what there is: "'fast' is none of greedy, sample, beam, smc".
CLI::Validator one_of(std::vector<std::string> names);
// A number between the two; not infinity, and not what is no number.
CLI::Validator in_range(double low, double high);

// An option whose values are the names of an enumeration (support/enum_names.h), or `some` of them.
template <typename Enum>
CLI::Option* add_choice(CLI::App& app, const std::string& name, Enum& value, const std::string& help,
                        std::initializer_list<Enum> some = {}) {
  std::vector<std::string> names;
  for (const auto& one : enum_names(value)) {
    if (some.size() == 0 || std::find(some.begin(), some.end(), one.value) != some.end()) names.emplace_back(one.name);
  }
  return app
      .add_option_function<std::string>(
          name, [&value](const std::string& chosen) { value = internal::value_named<Enum>(chosen).value(); }, help)
      ->type_name(internal::join(names, "|"))
      ->check(one_of(names))
      ->default_str(internal::name_of(value));
}

// `type` stands behind the name in the help: "N", "SECONDS".
template <typename Number>
CLI::Option* add_number(CLI::App& app, const std::string& name, const char* type, Number& value, double low,
                        double high, const std::string& help) {
  CLI::Option* option = app.add_option(name, value, help)->type_name(type)->check(in_range(low, high));
  // Without a default there is nothing to show.
  if constexpr (std::is_arithmetic_v<Number>) option->capture_default_str();
  return option;
}

// "512M", "2G", "1024": bytes. Nothing when it is not a size.
std::optional<std::size_t> parse_size(std::string_view text);
// The size is kept as it is written.
CLI::Option* add_size(CLI::App& app, const std::string& name, std::string& value, const std::string& help);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_OPTIONS_H_
