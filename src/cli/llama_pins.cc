#include "cli/llama_pins.h"

#include <cstdlib>
#include <sstream>

#include "metactrl/error.h"
#include "support/files.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

const PinnedPackage* LlamaPins::find(std::string_view purpose) const {
  for (const PinnedPackage& package : packages) {
    if (package.purpose == purpose) return &package;
  }
  return nullptr;
}

LlamaPins parse_llama_pins(std::string_view text, const std::string& file) {
  LlamaPins pins;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    std::string key;
    std::string more;
    if (!(words >> key) || key.starts_with('#')) continue;
    bool read = false;
    if (key == "version") {
      read = static_cast<bool>(words >> pins.version);
    } else if (key == "registry") {
      read = static_cast<bool>(words >> pins.registry);
    } else if (key == "package") {
      PinnedPackage one;
      read = words >> one.purpose >> one.package.name >> one.package.version >> one.bytes >> one.sha512 &&
             one.sha512.size() == 128 && one.sha512.find_first_not_of("0123456789abcdef") == std::string::npos;
      words >> one.file;
      pins.packages.push_back(std::move(one));
    }
    if (!read || words >> more) {
      throw InputError(str_cat(file, ":", number), "this line does not pin anything", "see cmake/llama.pins");
    }
  }
  if (pins.version.empty() || pins.registry.empty()) {
    throw InputError(file, "there is no version or no registry in it", "see cmake/llama.pins");
  }
  return pins;
}

LlamaPins llama_pins() {
  const char* own = std::getenv("METACTRL_LLAMA_PINS");
  if (own == nullptr || *own == '\0') return parse_llama_pins(llama_pins_files()[0].text, "llama.pins");
  return parse_llama_pins(internal::read_file(own), own);
}

}  // namespace metactrl::cli
