// Options of a command from a file: for programs that are started by a machine.
//
//     # metactrl.conf
//     host = "0.0.0.0"
//     model = ["pocket", "/srv/models/large.gguf"]
//
// TOML without tables: the long names of options without their dashes. What the command line says counts.
#ifndef METACTRL_SRC_CLI_CONFIG_FILE_H_
#define METACTRL_SRC_CLI_CONFIG_FILE_H_

#include <CLI/CLI.hpp>
#include <string>

namespace metactrl::cli {

// Throws InputError for a file that cannot be read, for options that the command does not have and for values that they
// do not take.
void apply_config_file(CLI::App& app, const std::string& file);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_CONFIG_FILE_H_
