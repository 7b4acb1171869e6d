// The models that were added with `metactrl models add`: models.json in the folder models/ of the user's cache.
//
// A change is made under a lock and written all or nothing, so that two programs may add models at once and a killed
// one leaves the list as it was.
#ifndef METACTRL_SRC_CLI_MODEL_REGISTRY_H_
#define METACTRL_SRC_CLI_MODEL_REGISTRY_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "support/enum_names.h"

namespace metactrl::cli {

struct RegisteredFile {
  std::filesystem::path file;  // absolute
  std::string sha256;
  std::uint64_t bytes = 0;
  std::int64_t modified = 0;  // when, in the file system's own count
};

struct RegisteredModel : RegisteredFile {
  std::string name;
  std::size_t context = 0;  // tokens; 0: the file does not say
  std::string title;
  std::string licence;                     // where it is known
  std::string source;                      // where it was fetched from; empty for a file of the user's own
  std::string revision;                    // of a repository: the commit
  std::vector<RegisteredFile> more_parts;  // of a model that comes in several files

  std::uint64_t total_bytes() const;
};

enum class FileState { kPresent, kMissing, kChanged };
constexpr auto enum_names(FileState) {
  return internal::names<FileState>(
      {{FileState::kPresent, "present"}, {FileState::kMissing, "missing"}, {FileState::kChanged, "changed"}});
}

// Letters, digits, '.', '_' and '-', not beginning with a dot or a hyphen.
bool is_model_name(const std::string& name);

// The folder models/ in $METACTRL_CACHE, $XDG_CACHE_HOME/metactrl or ~/.cache/metactrl; empty when none of these is
// set.
std::filesystem::path cached_models();
// The same, made where it is not there yet. Throws InputError when it cannot be.
std::filesystem::path make_cached_models();

// In the order of their names. Throws InputError when the list is damaged.
std::vector<RegisteredModel> registered_models();
// Adds it, or replaces the one of that name.
void register_model(const RegisteredModel& model);
// False when there is none of that name.
bool unregister_model(const std::string& name);

// What a file is like now: size and time, SHA-256 and context; and what its other parts are like, when it is the first
// of several. Throws InputError when one cannot be read. `digests` are the SHA-256 of its files, where they were
// computed already.
RegisteredModel look_at_file(const std::string& name, const std::filesystem::path& file,
                             const std::vector<std::string>& digests = {});
// Whether the files are those that were added. A file of the same size and another time is read to find out.
FileState state_of(const RegisteredModel& model);
// Of a file of any size, with a line of progress.
std::string file_digest(const std::filesystem::path& file);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_MODEL_REGISTRY_H_
