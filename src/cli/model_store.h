// Where models are: built-ins that ship with the program, GGUF files that were put beside them or into the cache, those
// that were added (cli/model_registry.h), test models.
#ifndef METACTRL_SRC_CLI_MODEL_STORE_H_
#define METACTRL_SRC_CLI_MODEL_STORE_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/model_registry.h"
#include "metactrl/language_model.h"

namespace metactrl::cli {

// Used when --model is not given.
inline constexpr const char* kDefaultModel = "pocket";

struct StoredModel {
  std::string name;  // the file's name without .gguf, or the one it was added by
  std::filesystem::path file;
  std::uint64_t bytes = 0;
  bool built_in = false;                 // found where the program's own models are
  std::optional<RegisteredModel> entry;  // of a model that was added
};

// Folders that are searched, in this order: $METACTRL_MODELS; share/metactrl/models of the prefix that the program is
// installed in, or, for one that is not installed, ../models beside it and the source tree it was built from; models/
// in the user's cache.
struct ModelFolder {
  std::filesystem::path path;
  bool built_in = false;
};
std::vector<ModelFolder> model_folders();

// All GGUF files in those folders and all models that were added, sorted by name; of equal names the first found.
// Throws InputError when the list of those that were added is damaged.
std::vector<StoredModel> stored_models();

// The file that open_model would load; none for random: and hostile:. Throws as open_model does.
std::optional<std::filesystem::path> model_file(const std::string& name);
// Whether the name is meant as the path of a file, not as the name of a stored model.
bool looks_like_a_file(const std::string& name);

// A model that is ready to be asked.
struct LoadedModel {
  std::string name;  // as it was asked for
  std::shared_ptr<LanguageModel> model;
  std::shared_ptr<const Vocabulary> vocabulary;
  double seconds = 0;
};

// `name` is a GGUF file, a stored model, or random:SEED or hostile:SEED, whose vocabulary is that of the file
// `vocabulary`, or of the built-in model when that is empty. Throws InputError that says what there is.
LoadedModel open_model(const std::string& name, const std::string& vocabulary, const ModelOptions& options);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_MODEL_STORE_H_
