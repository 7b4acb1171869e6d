#include "cli/model_store.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <system_error>

#include "cli/common.h"
#include "metactrl/error.h"
#include "support/nearest_name.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path cache_folder() {
  if (const std::string cache = environment("METACTRL_CACHE"); !cache.empty()) return cache;
  if (const std::string cache = environment("XDG_CACHE_HOME"); !cache.empty()) return fs::path(cache) / "metactrl";
  const std::string home = environment("HOME");
  return home.empty() ? fs::path() : fs::path(home) / ".cache" / "metactrl";
}

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

bool looks_like_a_file(const std::string& name) {
  std::error_code ignored;
  return name.find('/') != std::string::npos || name.ends_with(".gguf") || fs::is_regular_file(name, ignored);
}

fs::path find_stored(const std::string& name) {
  const std::vector<StoredModel> models = stored_models();
  std::vector<std::string> names;
  for (const StoredModel& model : models) {
    if (model.name == name) return model.file;
    names.push_back(model.name);
  }
  names.insert(names.end(), {"random:1", "hostile:1"});
  const std::string guess = internal::did_you_mean(name, names);
  std::string known;
  for (const std::string& one : names) known += (known.empty() ? "" : ", ") + one;
  throw InputError(name, str_cat("there is no such model", guess.empty() ? "" : "; " + guess),
                   str_cat("give a GGUF file, or one of ", known, ("; or plan without a model: --guidance search")));
}

// With the same checks as other input files have, before llama.cpp sees it.
std::string existing_file(const std::string& file) {
  std::error_code failure;
  const fs::file_status status = fs::status(file, failure);
  if (!fs::exists(status))
    throw InputError(file, "this model file does not exist", "'metactrl models' lists those there are");
  if (fs::is_directory(status)) throw InputError(file, "is a folder", "name a GGUF file");
  return file;
}

std::shared_ptr<const Vocabulary> test_vocabulary(const std::string& name, const std::string& file) {
  if (!file.empty()) return load_vocabulary(existing_file(looks_like_a_file(file) ? file : find_stored(file).string()));
  for (const StoredModel& model : stored_models()) {
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
  if (const std::string named = environment("METACTRL_MODELS"); !named.empty()) add(named, false);
  std::error_code failure;
  const fs::path program = fs::read_symlink("/proc/self/exe", failure);
  if (!failure) {
    add(program.parent_path() / ".." / "models", true);
    add(program.parent_path() / ".." / "share" / "metactrl" / "models", true);
  }
#ifdef METACTRL_SOURCE_MODELS
  add(METACTRL_SOURCE_MODELS, true);
#endif
  if (const fs::path cache = cache_folder(); !cache.empty()) add(cache / "models", false);
  return folders;
}

std::vector<StoredModel> stored_models() {
  std::vector<StoredModel> models;
  for (const ModelFolder& folder : model_folders()) {
    std::error_code failure;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder.path, failure)) {
      if (entry.path().extension() != ".gguf" || !entry.is_regular_file(failure)) continue;
      const std::string name = entry.path().stem().string();
      const bool known =
          std::any_of(models.begin(), models.end(), [&](const StoredModel& model) { return model.name == name; });
      const std::uint64_t bytes = entry.file_size(failure);
      if (!known) models.push_back({name, entry.path(), failure ? 0 : bytes, folder.built_in});
    }
  }
  std::sort(models.begin(), models.end(), [](const StoredModel& a, const StoredModel& b) { return a.name < b.name; });
  return models;
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
    loaded.model = load_model(existing_file(looks_like_a_file(name) ? name : find_stored(name).string()), options);
    loaded.vocabulary = std::shared_ptr<const Vocabulary>(loaded.model, &loaded.model->vocabulary());
  }
  loaded.seconds = watch.seconds();
  return loaded;
}

}  // namespace metactrl::cli
