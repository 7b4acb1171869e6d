#include "cli/output.h"

#include "cli/options.h"
#include "support/files.h"

namespace metactrl::cli {

CLI::Option* add_out_option(CLI::App& app, std::string& file, const std::string& help, const char* type) {
  return app.add_option("--out,-o", file, help)->type_name(type);
}

void add_output_options(CLI::App& app, OutputOptions& options, std::initializer_list<OutputForm> forms) {
  add_choice(app, "--output", options.form, "the form of the result", forms);
  add_out_option(app, options.file, "file for the result, instead of standard output");
}

void print(const OutputOptions& options, const std::string& text) {
  if (options.file.empty()) {
    print(text);
  } else {
    internal::write_file(options.file, text);
  }
}

void print(const OutputOptions& options, const Json& json) {
  print(options, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace metactrl::cli
