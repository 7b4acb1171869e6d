// Packages of an npm registry, from which models and llama.cpp's backends come.
#ifndef METACTRL_SRC_CLI_PACKAGE_H_
#define METACTRL_SRC_CLI_PACKAGE_H_

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "cli/growing_file.h"
#include "support/file_lock.h"

namespace metactrl::cli {

struct Package {
  std::string name;  // "@scope/name"
  std::string version;
};

// Where packages come from: $METACTRL_NPM_REGISTRY, $npm_config_registry, or the registry of cmake/llama.pins. Throws
// UsageError unless it is an address with https:// or file://.
std::string package_registry();
// The package's address: "https://example.org/@scope/name/-/name-1.0.0.tgz".
std::string package_address(const std::string& registry, const Package& package);
// What to call its archive in a folder: "@scope+name-1.0.0.tgz".
std::string archive_name(const Package& package);

// Throws InputError when curl or tar is not installed.
void require_package_tools();

// Gives what the file inside the archive holds, piece by piece. Throws InputError when there is no such file, or the
// archive is damaged: it is removed then. `address` is where it came from.
void unpack_file(const std::filesystem::path& archive, const std::string& file, const std::string& address,
                 const std::function<void(std::string_view)>& take);

// --- for what is fetched ---

// Throws InputError when it cannot be made.
std::filesystem::path make_folder(const std::filesystem::path& folder);
// Waits while another program fetches what is called `name`.
internal::FileLock lock_for(const std::filesystem::path& folder, const std::string& name);

// A file that is written to its end or not at all.
class NewFile {
 public:
  explicit NewFile(std::filesystem::path path);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();
  void write(std::string_view piece) const { file_.write(piece); }
  void finish(const std::filesystem::path& target);

 private:
  std::filesystem::path path_;
  GrowingFile file_;
  bool finished_ = false;
};

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_PACKAGE_H_
