#include "cli/model_store.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <system_error>

#include "cli/common.h"
#include "cli/model_catalogue.h"
#include "cli/model_hub.h"
#include "cli/model_parts.h"
#include "cli/places.h"
#include "metactrl/error.h"
#include "support/files.h"
#include "support/nearest_name.h"
#include "support/str_cat.h"
#include "support/words.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

namespace fs = std::filesystem;

// "random:7": what precedes the colon, and the seed.
struct TestModel {
  bool hostile = false;
  std::uint64_t seed = 0;
};

std::optional<TestModel> parse_test_model(const std::string& name) {
  const std::size_t colon = name.find(':');
  const std::string kind = name.substr(0, colon);
  if (kind != "random" && kind != "hostile") return std::nullopt;
  TestModel model{kind == "hostile", 0};
  const std::string seed = colon == std::string::npos ? "" : name.substr(colon + 1);
  const auto [end, failure] = std::from_chars(seed.data(), seed.data() + seed.size(), model.seed);
  if (failure != std::errc() || end != seed.data() + seed.size()) {
    throw InputError(name, "is a test model that needs a number as its seed", str_cat("write ", kind, ":1"));
  }
  return model;
}

std::vector<StoredModel> models_in_folders() {
  std::vector<StoredModel> models;
  for (const ModelFolder& folder : model_folders()) {
    for (const std::string& file_name : internal::names_in(folder.path.string())) {
      const fs::path file = folder.path / file_name;
      std::error_code failure;
      if (file.extension() != ".gguf" || !fs::is_regular_file(file, failure)) continue;
      if (const auto part = parse_part_name(file.string()); part && part->index > 1) continue;  // not by itself
      const std::string name = file.stem().string();
      const bool known =
          std::any_of(models.begin(), models.end(), [&](const StoredModel& model) { return model.name == name; });
      const std::uint64_t bytes = fs::file_size(file, failure);
      if (!known) models.push_back({name, file, failure ? 0 : bytes, folder.built_in, std::nullopt});
    }
  }
  return models;
}

void add_registered(std::vector<StoredModel>& models) {
  for (const RegisteredModel& entry : registered_models()) {
    const auto known =
        std::find_if(models.begin(), models.end(), [&](const StoredModel& model) { return model.name == entry.name; });
    if (known == models.end()) {
      models.push_back({entry.name, entry.file, entry.total_bytes(), false, entry});
      continue;
    }
    std::error_code ignored;
    if (fs::equivalent(known->file, entry.file, ignored)) known->entry = entry;
  }
}

// A model that was added must still be the one that it was.
void check_entry(const RegisteredModel& entry) {
  const FileState state = state_of(entry);
  if (state == FileState::kPresent) return;
  const std::string what = entry.source.empty() ? entry.file.string() : entry.source;
  const std::string again = entry.source.starts_with("npm ")
                                ? str_cat("metactrl models add ", entry.name)
                                : str_cat("metactrl models add ", what, " --name ", entry.name);
  throw InputError(
      entry.name,
      str_cat("its file ", entry.file.string(),
              state == FileState::kMissing ? " is gone" : " is not the one that was added"),
      str_cat("add it again with '", again, "', or forget it with 'metactrl models remove ", entry.name, "'"));
}

fs::path find_stored(const std::string& name) {
  std::vector<StoredModel> models = models_in_folders();
  // The program's own models do not depend on the list of those that were added.
  for (const StoredModel& model : models) {
    if (model.name == name && model.built_in) return model.file;
  }
  add_registered(models);
  std::vector<std::string> names;
  for (const StoredModel& model : models) {
    if (model.name == name) {
      if (model.entry) check_entry(*model.entry);
      return model.file;
    }
    names.push_back(model.name);
  }
  std::sort(names.begin(), names.end());
  names.insert(names.end(), {"random:1", "hostile:1"});
  const std::string guess = internal::did_you_mean(name, names);
  std::string hint =
      str_cat("give a GGUF file, or one of ", internal::join(names, ", "), "; 'metactrl search' plans without a model");
  for (const CatalogueModel& model : catalogue()) {
    if (model.name == name) hint = str_cat("get it with 'metactrl models add ", name, "'");
  }
  throw InputError(name, str_cat("there is no such model", guess.empty() ? "" : "; " + guess), hint);
}

// With the same checks as other input files have, before llama.cpp sees it.
std::string existing_file(const std::string& file) {
  std::error_code failure;
  const fs::file_status status = fs::status(file, failure);
  if (!fs::exists(status)) {
    const bool fetchable = file.starts_with("https://") || parse_hub_reference(file).has_value();
    throw InputError(file, "this model file does not exist",
                     fetchable ? str_cat("get it with 'metactrl models add ", file, "', then name it as that says")
                               : "'metactrl models' lists those there are");
  }
  if (fs::is_directory(status)) throw InputError(file, "is a folder", "name a GGUF file");
  if (!fs::is_regular_file(status)) throw InputError(file, "is no plain file", "name a GGUF file");
  return file;
}

std::shared_ptr<const Vocabulary> test_vocabulary(const std::string& name, const std::string& file) {
  if (!file.empty()) return load_vocabulary(existing_file(looks_like_a_file(file) ? file : find_stored(file).string()));
  for (const StoredModel& model : models_in_folders()) {
    if (model.name == kDefaultModel) return load_vocabulary(model.file.string());
  }
  throw InputError(name, "a test model needs a vocabulary", "name a GGUF file with --vocab");
}

}  // namespace

std::vector<ModelFolder> model_folders() {
  std::vector<ModelFolder> folders;
  const auto add = [&folders](const fs::path& path, bool built_in) {
    std::error_code failure;
    const fs::path canonical = fs::canonical(path, failure);
    if (failure || !fs::is_directory(canonical, failure)) return;
    const bool known = std::any_of(folders.begin(), folders.end(),
                                   [&](const ModelFolder& folder) { return folder.path == canonical; });
    if (!known) folders.push_back({canonical, built_in});
  };
  if (const char* named = std::getenv("METACTRL_MODELS"); named != nullptr && *named != '\0') add(named, false);
  std::error_code failure;
  const fs::path program = fs::read_symlink("/proc/self/exe", failure);
  bool installed = false;
  if (!failure) {
    // Installed in bin; the program metactrl-benchmarks in libexec/metactrl.
    for (const char* prefix : {"..", "../.."}) {
      const fs::path share = program.parent_path() / prefix / "share" / "metactrl";
      installed = installed || fs::is_directory(share, failure);
      add(share / "models", true);
    }
    // What is installed has its own models, or none. What is not may be in a checkout, or have come from one.
    if (!installed) add(program.parent_path() / ".." / "models", true);
  }
  if (!installed && !source_models().empty()) add(source_models(), true);
  if (const fs::path cache = cached_models(); !cache.empty()) add(cache, false);
  return folders;
}

std::vector<StoredModel> stored_models() {
  std::vector<StoredModel> models = models_in_folders();
  add_registered(models);
  std::sort(models.begin(), models.end(), [](const StoredModel& a, const StoredModel& b) { return a.name < b.name; });
  return models;
}

bool looks_like_a_file(const std::string& name) {
  std::error_code ignored;
  return name.find('/') != std::string::npos || name.ends_with(".gguf") || fs::is_regular_file(name, ignored);
}

std::optional<fs::path> model_file(const std::string& name) {
  if (parse_test_model(name)) return std::nullopt;
  return existing_file(looks_like_a_file(name) ? name : find_stored(name).string());
}

LoadedModel open_model(const std::string& name, const std::string& vocabulary, const ModelOptions& options) {
  const Stopwatch watch;
  LoadedModel loaded;
  loaded.name = name;
  const ProgressLine progress("loading the model");
  if (const std::optional<TestModel> test = parse_test_model(name)) {
    loaded.vocabulary = test_vocabulary(name, vocabulary);
    loaded.model =
        test->hostile ? hostile_model(loaded.vocabulary, test->seed) : random_model(loaded.vocabulary, test->seed);
  } else {
    if (!vocabulary.empty())
      throw UsageError("--vocab is for the test models random:SEED and hostile:SEED; other models have their own");
    loaded.model = load_model(model_file(name)->string(), options);
    loaded.vocabulary = std::shared_ptr<const Vocabulary>(loaded.model, &loaded.model->vocabulary());
  }
  loaded.seconds = watch.seconds();
  return loaded;
}

}  // namespace metactrl::cli
