#include "cli/output.h"

#include <unistd.h>

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

std::string harmless(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    const bool control = (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
    out += control ? '?' : c;
  }
  return out;
}

std::string as_shown(const std::string& text) { return ::isatty(STDERR_FILENO) != 0 ? harmless(text) : text; }

}  // namespace metactrl::cli
