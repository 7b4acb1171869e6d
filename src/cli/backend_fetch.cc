// In the folder:
//
//     libggml-NAME.so                 a backend, whole
//     .fetch/NAME.lock                held while NAME is fetched
//     .fetch/PACKAGE-VERSION.tgz      a whole package; .part and .part.json: what there is of one
//     .fetch/libggml-NAME.so          a backend while it is unpacked
#include "cli/backend_fetch.h"

#include <system_error>

#include "cli/common.h"
#include "cli/download.h"
#include "cli/http_request.h"
#include "lm/library_file.h"
#include "metactrl/error.h"
#include "support/files.h"
#include "support/sha2.h"
#include "support/str_cat.h"

namespace metactrl::cli {

namespace fs = std::filesystem;
using internal::str_cat;

namespace {

std::string sha512_of_file(const fs::path& file, std::uint64_t bytes) {
  internal::Sha512 sum;
  double count = 0;
  CountProgress progress("checked", static_cast<double>(bytes), 0, bytes_text);
  internal::read_pieces(file.string(), [&](std::string_view piece) {
    sum.add(piece);
    count += static_cast<double>(piece.size());
    progress.done(count);
  });
  return sum.hex();
}

// The package's archive, as it should be.
fs::path fetch_archive(const PinnedPackage& pinned, const fs::path& folder) {
  Download what;
  const std::string registry = package_registry();
  what.address = package_address(registry, pinned.package);
  what.target = folder / archive_name(pinned.package);
  what.title = pinned.package.name;
  what.bytes = pinned.bytes;
  what.never_changes = true;
  std::error_code ignored;
  // One that an earlier run fetched and did not unpack.
  if (fs::exists(what.target, ignored) && sha512_of_file(what.target, pinned.bytes) == pinned.sha512) {
    return what.target;
  }
  // The archive, and what it holds: twice as much at most, since code for GPUs is packed already.
  note(str_cat("metactrl: fetching ", pinned.package.name, " ", pinned.package.version, ", ",
               bytes_text(static_cast<double>(pinned.bytes))));
  check_room(folder, 3.5 * static_cast<double>(pinned.bytes) - static_cast<double>(bytes_present(what.target)));
  download(what);
  const std::string found = sha512_of_file(what.target, pinned.bytes);
  if (found == pinned.sha512) return what.target;
  fs::remove(what.target);
  throw InputError(shown_address(what.address),
                   str_cat("is not the package it should be: its SHA-512 is ", found, " and should be ", pinned.sha512),
                   str_cat("nothing was kept; is ", registry, " the registry you mean?"));
}

// node-llama-cpp's packages keep libraries in bins/, mostly in a folder that is called as the package is.
std::string file_in_package(const PinnedPackage& pinned, const fs::path& target) {
  if (!pinned.file.empty()) return pinned.file;
  const std::string& package = pinned.package.name;
  return str_cat("bins/", package.substr(package.rfind('/') + 1), "/", target.filename().string());
}

}  // namespace

fs::path backend_file(const fs::path& folder, const std::string& name) {
  return folder / str_cat("libggml-", name, ".so");
}

void fetch_backend(const std::string& name, const PinnedPackage& pinned, const fs::path& folder) {
  require_package_tools();
  const fs::path work = make_folder(folder / ".fetch");
  const internal::FileLock lock = lock_for(work, name);
  const fs::path target = backend_file(folder, name);
  // Another program may have fetched it while this one waited.
  if (lm::look_at_library(target.string()).problem.empty()) return;
  try {
    const fs::path archive = fetch_archive(pinned, work);
    NewFile file(backend_file(work, name));
    {
      const ProgressLine progress("unpacking");
      unpack_file(archive, "package/" + file_in_package(pinned, target), pinned.package.name,
                  [&](std::string_view piece) { file.write(piece); });
    }
    file.finish(target);
    fs::remove(archive);
  } catch (const fs::filesystem_error& error) {
    throw InputError(error.path1().string(), str_cat("cannot be moved or removed: ", error.code().message()),
                     "check the folder and its permissions");
  }
}

}  // namespace metactrl::cli
