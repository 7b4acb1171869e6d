// Which llama.cpp this project runs models with, and the packages that hold it: cmake/llama.pins, part of the program.
// $METACTRL_LLAMA_PINS names another file in its place.
#ifndef METACTRL_SRC_CLI_LLAMA_PINS_H_
#define METACTRL_SRC_CLI_LLAMA_PINS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/package.h"

namespace metactrl::cli {

struct PinnedPackage {
  std::string purpose;  // "cuda-x86_64"
  Package package;
  std::uint64_t bytes = 0;  // of the archive
  std::string sha512;       // of the archive
  std::string file;         // of the backend in it; empty: bins/PACKAGE/libggml-NAME.so
};

struct LlamaPins {
  std::string version;   // of llama.cpp
  std::string registry;  // where packages are, unless the environment says otherwise
  std::vector<PinnedPackage> packages;

  // Null when there is none.
  const PinnedPackage* find(std::string_view purpose) const;
};

// Throws InputError, which names the line, about a text that is not of this form. `file` is for messages.
LlamaPins parse_llama_pins(std::string_view text, const std::string& file);
// The project's own, or those of $METACTRL_LLAMA_PINS.
LlamaPins llama_pins();

// What is embedded at build time.
struct LlamaPinsFile {
  std::string_view name;
  std::string_view text;
};
// Defined in the generated file.
std::span<const LlamaPinsFile> llama_pins_files();

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_LLAMA_PINS_H_
