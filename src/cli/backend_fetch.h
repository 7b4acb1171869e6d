// Gets a backend of llama.cpp from the package that holds it.
#ifndef METACTRL_SRC_CLI_BACKEND_FETCH_H_
#define METACTRL_SRC_CLI_BACKEND_FETCH_H_

#include <filesystem>
#include <string>

#include "cli/llama_pins.h"

namespace metactrl::cli {

// Where the backend's file is, or would be, in that folder: libggml-NAME.so.
std::filesystem::path backend_file(const std::filesystem::path& folder, const std::string& name);

// Fetches the package, checks its size and SHA-512, and puts the backend's file into the folder, whole or not at all. Half
// a package is kept and gone on with. Throws InputError when curl or tar is missing, there is no room, or the package is
// not the one it should be; ResourceError when there is no network.
void fetch_backend(const std::string& name, const PinnedPackage& pinned, const std::filesystem::path& folder);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_BACKEND_FETCH_H_
