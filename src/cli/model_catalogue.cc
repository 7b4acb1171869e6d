#include "cli/model_catalogue.h"

#include <cstdlib>

#include "cli/common.h"
#include "cli/model_registry.h"
#include "metactrl/error.h"
#include "support/files.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

// A package's name or version becomes part of an address and of file names.
void check_word(const std::string& text, std::string_view more, const std::string& what) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  for (const char c : text) {
    if (kLetters.find(c) == std::string_view::npos && more.find(c) == std::string_view::npos) {
      throw std::invalid_argument(str_cat(what, " '", text, "' has a character that is not allowed there"));
    }
  }
  if (text.empty() || text.find("..") != std::string::npos) {
    throw std::invalid_argument(str_cat(what, " '", text, "' is not a name"));
  }
}

CatalogueModel read_model(const Json& json) {
  CatalogueModel model;
  json.at("name").get_to(model.name);
  json.at("title").get_to(model.title);
  json.at("licence").get_to(model.licence);
  json.at("sha256").get_to(model.sha256);
  json.at("bytes").get_to(model.bytes);
  if (!is_model_name(model.name)) throw std::invalid_argument(str_cat("'", model.name, "' is not a model's name"));
  if (model.sha256.size() != 64) throw std::invalid_argument(str_cat(model.name, " has no SHA-256 of 64 digits"));
  for (const Json& entry : json.at("parts")) {
    CataloguePart part;
    entry.at("package").get_to(part.package);
    entry.at("version").get_to(part.version);
    entry.at("file").get_to(part.file);
    entry.at("archive_bytes").get_to(part.archive_bytes);
    check_word(part.package, "@/", "the package");
    check_word(part.version, "+", "the version");
    check_word(part.file, "/", "the file");
    model.parts.push_back(std::move(part));
  }
  if (model.parts.empty()) throw std::invalid_argument(str_cat(model.name, " has no parts"));
  return model;
}

}  // namespace

std::vector<CatalogueModel> catalogue() {
  const char* own = std::getenv("METACTRL_CATALOGUE");
  const std::string file = own == nullptr ? "" : own;
  const std::string text = file.empty() ? std::string(catalogue_files()[0].text) : internal::read_file(file);
  std::vector<CatalogueModel> models;
  try {
    const Json json = Json::parse(text);
    for (const Json& entry : json.at("models")) models.push_back(read_model(entry));
  } catch (const std::exception& error) {
    throw InputError(file, str_cat("is not a catalogue of models: ", error.what()), "see models/catalogue.json");
  }
  return models;
}

}  // namespace metactrl::cli
