// CLI11 reads the file, and each value goes through the checks of its option, as if it had been given.
#include "cli/config_file.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "metactrl/error.h"
#include "support/files.h"
#include "support/nearest_name.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

std::vector<CLI::ConfigItem> read_items(const std::string& file) {
  std::istringstream text(internal::read_file(file));
  try {
    return CLI::ConfigTOML().from_config(text);
  } catch (const CLI::Error& error) {
    throw InputError(file, str_cat("cannot be read: ", error.what()), "write lines like: port = 9000");
  }
}

}  // namespace

void apply_config_file(CLI::App& app, const std::string& file) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      if (name != "help" && name != "config") known.push_back(name);
    }
  }
  for (const CLI::ConfigItem& item : read_items(file)) {
    const bool is_known = std::find(known.begin(), known.end(), item.name) != known.end();
    if (!item.parents.empty() || !is_known) {
      const std::string guess = internal::did_you_mean(item.name, known);
      throw InputError(file, str_cat("'", item.fullname(), "' is no option of metactrl ", app.get_name()),
                       guess.empty() ? "'--help' lists them; leave out the dashes" : guess);
    }
    CLI::Option* const option = app.get_option("--" + item.name);
    if (option->count() > 0) continue;
    try {
      option->add_result(item.inputs);
      option->run_callback();
    } catch (const CLI::ParseError& error) {
      throw InputError(file, str_cat("'", item.name, "': ", error.what()), "see --help");
    }
  }
}

}  // namespace metactrl::cli
