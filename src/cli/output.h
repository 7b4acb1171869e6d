// Where a command's result goes, and in which form: --output and --out, the same in every command.
#ifndef METACTRL_SRC_CLI_OUTPUT_H_
#define METACTRL_SRC_CLI_OUTPUT_H_

#include <initializer_list>
#include <string>
#include <string_view>

#include "cli/common.h"
#include "support/enum_names.h"

namespace metactrl::cli {

enum class OutputForm { kText, kJson, kPddl };
constexpr auto enum_names(OutputForm) {
  return internal::names<OutputForm>(
      {{OutputForm::kText, "text"}, {OutputForm::kJson, "json"}, {OutputForm::kPddl, "pddl"}});
}

struct OutputOptions {
  OutputForm form = OutputForm::kText;
  std::string file;  // empty: standard output

  bool json() const { return form == OutputForm::kJson; }
};

// --out, -o. `help` says what is written.
CLI::Option* add_out_option(CLI::App& app, std::string& file, const std::string& help, const char* type = "FILE");
// --output and --out, for commands whose result is printed unless a file is named.
void add_output_options(CLI::App& app, OutputOptions& options,
                        std::initializer_list<OutputForm> forms = {OutputForm::kText, OutputForm::kJson});

// All of the result, to where it belongs. Throws InputError when it cannot be written.
void print(const OutputOptions& options, const std::string& text);
void print(const OutputOptions& options, const Json& json);

// What a model writes or reads may not drive the terminal: without control characters. And for standard error: as it is
// where that is no terminal.
std::string harmless(std::string_view bytes);
std::string as_shown(const std::string& text);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_OUTPUT_H_
