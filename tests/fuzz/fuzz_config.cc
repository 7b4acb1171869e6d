// Arbitrary bytes as a file of options: a value is taken as the option takes it, or the file is refused.
#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "cli/config_file.h"
#include "memory_file.h"
#include "metactrl/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  CLI::App app("fuzz", "serve");
  std::string host;
  unsigned port = 0;
  std::vector<std::string> models;
  bool quiet = false;
  app.add_option("--host", host);
  app.add_option("--port", port)->check(CLI::Range(0, 65535));
  app.add_option("--model", models);
  app.add_flag("--quiet", quiet);
  const MemoryFile file(data, size);
  try {
    metactrl::cli::apply_config_file(app, file.path());
    if (port > 65535) std::abort();
  } catch (const metactrl::InputError& error) {
    if (!error.diagnostics().has_errors()) std::abort();
  }
  return 0;
}
