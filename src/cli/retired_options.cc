#include "cli/retired_options.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

struct RetiredOption {
  std::string_view commands;  // each between two blanks
  std::string_view old;
  std::string_view replacement;  // empty: it happens without
  std::string_view value;        // of the replacement, where the old one had none
};

constexpr std::array kRetired = {
    RetiredOption{" backends check hmm inspect models run score search validate ", "--json", "--output", "json"},
    RetiredOption{" plan explain ", "--prompt", "--prompt-file", ""},
    RetiredOption{" plan explain ", "--raw-prompt", "--raw-prompt-file", ""},
    RetiredOption{" run ", "--report", "--report-file", ""},
    RetiredOption{" eval ", "--instruction", "--instruction-number", ""},
    RetiredOption{" eval ", "--resume", "", ""},
    RetiredOption{" train ", "--schedule", "--stages", ""},
};

bool is_form(std::string_view text) { return text == "text" || text == "json" || text == "pddl"; }

// -o was short for --output in these two; a file of such a name is written with its folder, as in ./json.
bool had_short_output(std::string_view command) { return command == "plan" || command == "explain"; }

const RetiredOption* find_retired(std::string_view command, std::string_view option) {
  const auto* const found = std::find_if(kRetired.begin(), kRetired.end(), [&](const RetiredOption& retired) {
    return retired.old == option && retired.commands.find(str_cat(" ", command, " ")) != std::string_view::npos;
  });
  return found == kRetired.end() ? nullptr : found;
}

}  // namespace

ModernArguments without_retired_options(const std::vector<std::string>& arguments) {
  ModernArguments modern;
  if (arguments.empty()) return modern;
  const std::string& command = arguments[0];
  const auto replace = [&](const std::string& old, const std::string& replacement) {
    std::string warning =
        replacement.empty()
            ? str_cat("metactrl: warning: '", command, "' does without '", old, "', which goes with the next release")
            : str_cat("metactrl: warning: '", command, " ", old, "' is now '", command, " ", replacement,
                      "'; the old spelling goes with the next release");
    if (std::find(modern.warnings.begin(), modern.warnings.end(), warning) == modern.warnings.end()) {
      modern.warnings.push_back(std::move(warning));
    }
  };
  modern.arguments.push_back(command);
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      modern.arguments.insert(modern.arguments.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i),
                              arguments.end());
      break;
    }
    if (had_short_output(command) && argument.starts_with("-o")) {
      const bool apart = argument == "-o" && i + 1 < arguments.size();
      const std::string form = apart ? arguments[i + 1] : argument.substr(argument.find('=') == 2 ? 3 : 2);
      if (is_form(form)) {
        replace("-o " + form, "--output " + form);
        modern.arguments.insert(modern.arguments.end(), {"--output", form});
        if (apart) ++i;
        continue;
      }
    }
    const std::size_t equals = argument.find('=');
    const RetiredOption* retired = find_retired(command, std::string_view(argument).substr(0, equals));
    if (retired == nullptr) {
      modern.arguments.push_back(argument);
      continue;
    }
    const std::string replacement(retired->replacement);
    if (replacement.empty()) {
      replace(std::string(retired->old), "");
      continue;
    }
    if (!retired->value.empty()) {
      replace(std::string(retired->old), str_cat(replacement, " ", retired->value));
      modern.arguments.insert(modern.arguments.end(), {replacement, std::string(retired->value)});
    } else {
      replace(std::string(retired->old), replacement);
      modern.arguments.push_back(replacement + (equals == std::string::npos ? "" : argument.substr(equals)));
    }
  }
  return modern;
}

}  // namespace metactrl::cli
