// Spellings of an earlier release that are still understood, with a warning that names the one to use. What is here goes
// with the release after this one; it is in no help text, and the commands know nothing of it.
#ifndef METACTRL_SRC_CLI_RETIRED_OPTIONS_H_
#define METACTRL_SRC_CLI_RETIRED_OPTIONS_H_

#include <string>
#include <vector>

namespace metactrl::cli {

struct ModernArguments {
  std::vector<std::string> arguments;
  std::vector<std::string> warnings;  // one for each spelling that was replaced
};

// `arguments`: the command, then what follows it.
ModernArguments without_retired_options(const std::vector<std::string>& arguments);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_RETIRED_OPTIONS_H_
