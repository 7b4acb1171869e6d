#include "cli/model_registry.h"

#include <algorithm>
#include <system_error>

#include "cli/common.h"
#include "cli/model_parts.h"
#include "lm/model_facts.h"
#include "metactrl/error.h"
#include "metactrl/language_model.h"
#include "support/file_lock.h"
#include "support/files.h"
#include "support/sha2.h"
#include "support/str_cat.h"
#include "support/user_cache.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

namespace fs = std::filesystem;

fs::path list_file() {
  const fs::path folder = cached_models();
  return folder.empty() ? fs::path() : folder / "models.json";
}

std::int64_t time_of(const fs::path& file) {
  return static_cast<std::int64_t>(fs::last_write_time(file).time_since_epoch().count());
}

Json file_to_json(const RegisteredFile& file) {
  return {{"file", file.file.string()}, {"sha256", file.sha256}, {"bytes", file.bytes}, {"modified", file.modified}};
}

void file_from_json(const Json& json, RegisteredFile& file) {
  file.file = json.at("file").get<std::string>();
  json.at("sha256").get_to(file.sha256);
  json.at("bytes").get_to(file.bytes);
  json.at("modified").get_to(file.modified);
}

Json to_json(const RegisteredModel& model) {
  Json json{{"name", model.name}};
  json.update(file_to_json(model));
  json.update({{"context", model.context},
               {"title", model.title},
               {"licence", model.licence},
               {"source", model.source},
               {"revision", model.revision}});
  for (const RegisteredFile& part : model.more_parts) json["more_parts"].push_back(file_to_json(part));
  return json;
}

RegisteredModel from_json(const Json& json) {
  RegisteredModel model;
  json.at("name").get_to(model.name);
  file_from_json(json, model);
  json.at("context").get_to(model.context);
  json.at("title").get_to(model.title);
  json.at("licence").get_to(model.licence);
  json.at("source").get_to(model.source);
  model.revision = json.value("revision", "");
  for (const Json& part : json.value("more_parts", Json::array())) {
    file_from_json(part, model.more_parts.emplace_back());
  }
  return model;
}

// Size and time; the file must be there.
void measure(const std::string& path, RegisteredFile& file) {
  file.file = path;
  try {
    file.bytes = fs::file_size(file.file);
    file.modified = time_of(file.file);
  } catch (const fs::filesystem_error& error) {
    throw InputError(path, str_cat("cannot be read: ", error.code().message()),
                     parse_part_name(path) ? "all parts of the model must be beside each other" : "check the path");
  }
}

FileState state_of_file(const RegisteredFile& file) {
  std::error_code failure;
  const std::uintmax_t bytes = fs::file_size(file.file, failure);
  if (failure) return FileState::kMissing;
  if (bytes != file.bytes) return FileState::kChanged;
  if (time_of(file.file) == file.modified) return FileState::kPresent;
  try {
    return file_digest(file.file) == file.sha256 ? FileState::kPresent : FileState::kChanged;
  } catch (const InputError&) {
    return FileState::kMissing;
  }
}

// Changes the list under the lock.
template <typename Change>
void change_list(const Change& change) {
  const fs::path folder = make_cached_models();
  const internal::FileLock lock((folder / ".lock").string());
  std::vector<RegisteredModel> models = registered_models();
  change(models);
  std::sort(models.begin(), models.end(),
            [](const RegisteredModel& a, const RegisteredModel& b) { return a.name < b.name; });
  Json json{{"models", Json::array()}};
  for (const RegisteredModel& model : models) json["models"].push_back(to_json(model));
  internal::write_file((folder / "models.json").string(),
                       json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace

bool is_model_name(const std::string& name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name.front() != '.' && name.front() != '-' &&
         name.find_first_not_of(kLetters) == std::string::npos;
}

fs::path cached_models() {
  const fs::path cache = internal::user_cache();
  return cache.empty() ? cache : cache / "models";
}

fs::path make_cached_models() {
  const fs::path folder = cached_models();
  if (folder.empty()) {
    throw InputError("cache", "there is no folder for models: neither METACTRL_CACHE nor HOME is set",
                     "let METACTRL_CACHE name a folder");
  }
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) {
    throw InputError(folder.string(), str_cat("cannot be made: ", failure.message()),
                     "let METACTRL_CACHE name another folder");
  }
  return fs::absolute(folder);
}

std::vector<RegisteredModel> registered_models() {
  const fs::path file = list_file();
  std::error_code ignored;
  if (file.empty() || !fs::exists(file, ignored)) return {};
  std::vector<RegisteredModel> models;
  try {
    const Json json = Json::parse(internal::read_file(file.string()));
    for (const Json& entry : json.at("models")) models.push_back(from_json(entry));
  } catch (const Json::exception& error) {
    throw InputError(file.string(), str_cat("is damaged: ", error.what()), "remove it and add your models again");
  }
  return models;
}

void register_model(const RegisteredModel& model) {
  change_list([&](std::vector<RegisteredModel>& models) {
    std::erase_if(models, [&](const RegisteredModel& other) { return other.name == model.name; });
    models.push_back(model);
  });
}

bool unregister_model(const std::string& name) {
  bool found = false;
  change_list([&](std::vector<RegisteredModel>& models) {
    found = std::erase_if(models, [&](const RegisteredModel& model) { return model.name == name; }) > 0;
  });
  return found;
}

std::string file_digest(const fs::path& file) {
  std::error_code ignored;
  const std::uintmax_t bytes = fs::file_size(file, ignored);
  CountProgress progress("checked", ignored ? 0 : static_cast<double>(bytes), 0, bytes_text);
  return internal::sha256_of_file(file.string(),
                                  [&](std::uint64_t count) { progress.done(static_cast<double>(count)); });
}

std::uint64_t RegisteredModel::total_bytes() const {
  std::uint64_t total = bytes;
  for (const RegisteredFile& part : more_parts) total += part.bytes;
  return total;
}

RegisteredModel look_at_file(const std::string& name, const fs::path& file, const std::vector<std::string>& digests) {
  RegisteredModel model;
  model.name = name;
  const std::vector<std::string> files = all_parts(fs::absolute(file).lexically_normal().string());
  for (std::size_t i = 1; i < files.size(); ++i) measure(files[i], model.more_parts.emplace_back());
  measure(files[0], model);
  if (!model_runtime().empty()) {
    const lm::ModelFacts facts = lm::read_model_facts(model.file.string());
    model.context = facts.context;
    model.title = facts.name;
  }
  const auto digest = [&](std::size_t i) { return i < digests.size() ? digests[i] : file_digest(files[i]); };
  model.sha256 = digest(0);
  for (std::size_t i = 1; i < files.size(); ++i) model.more_parts[i - 1].sha256 = digest(i);
  return model;
}

FileState state_of(const RegisteredModel& model) {
  FileState state = state_of_file(model);
  for (const RegisteredFile& part : model.more_parts) {
    if (state == FileState::kPresent) state = state_of_file(part);
  }
  return state;
}

}  // namespace metactrl::cli
