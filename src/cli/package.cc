#include "cli/package.h"

#include <cstdlib>
#include <system_error>
#include <utility>

#include "cli/common.h"
#include "cli/http_request.h"
#include "cli/llama_pins.h"
#include "metactrl/error.h"
#include "support/child_process.h"
#include "support/str_cat.h"

namespace metactrl::cli {

namespace fs = std::filesystem;
using internal::str_cat;

std::string package_registry() {
  for (const char* name : {"METACTRL_NPM_REGISTRY", "npm_config_registry"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string address = value;
    while (address.ends_with('/')) address.pop_back();
    check_address(address, name, true);
    return address;
  }
  return llama_pins().registry;
}

std::string package_address(const std::string& registry, const Package& package) {
  const std::size_t slash = package.name.rfind('/');  // of "@scope/name"
  const std::string name = slash == std::string::npos ? package.name : package.name.substr(slash + 1);
  return str_cat(registry, "/", package.name, "/-/", name, "-", package.version, ".tgz");
}

std::string archive_name(const Package& package) {
  std::string name = str_cat(package.name, "-", package.version, ".tgz");
  for (char& c : name) c = c == '/' ? '+' : c;
  return name;
}

void require_package_tools() {
  for (const char* program : {"curl", "tar"}) {
    if (!internal::find_program(program).empty()) continue;
    throw InputError(program, "is not installed, and packages are fetched with it",
                     str_cat("install it: apt-get install ", program));
  }
}

void unpack_file(const fs::path& archive, const std::string& file, const std::string& address,
                 const std::function<void(std::string_view)>& take) {
  internal::ChildOptions options;
  options.out = take;
  const internal::ChildResult result =
      internal::run_child({"tar", "-x", "-z", "-O", "-f", archive.string(), file}, options);
  if (result.code == 0) return;
  fs::remove(archive);
  throw InputError(address, str_cat("cannot be unpacked: ", result.errors), "run the command again to fetch it anew");
}

fs::path make_folder(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) throw InputError(folder.string(), str_cat("cannot be made: ", failure.message()));
  return folder;
}

internal::FileLock lock_for(const fs::path& folder, const std::string& name) {
  return internal::FileLock((folder / (name + ".lock")).string(), [&name] {
    note(str_cat("metactrl: another program is fetching ", name, "; waiting for it"));
  });
}

NewFile::NewFile(fs::path path) : path_(std::move(path)), file_(path_) { file_.empty(); }

NewFile::~NewFile() {
  std::error_code ignored;
  if (!finished_) fs::remove(path_, ignored);
}

void NewFile::finish(const fs::path& target) {
  file_.sync();
  fs::rename(path_, target);
  finished_ = true;
}

}  // namespace metactrl::cli
