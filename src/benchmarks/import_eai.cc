// The two halves of the benchmark are packages side by side, in a checkout below src/, in an installed one below its
// site-packages. Each is imported by itself.
#include "benchmarks/import_eai.h"

#include <system_error>

#include "benchmarks/files.h"
#include "benchmarks/import_files.h"
#include "metactrl/error.h"
#include "support/files.h"
#include "support/words.h"

namespace metactrl::benchmarks {

const char* const kCheckoutHint =
    "clone https://github.com/embodied-agent-interface/embodied-agent-interface and name its folder with --root";

ImportJson read_checkout_json(const std::filesystem::path& file, const std::string& hint) {
  if (!has_file(file)) throw InputError(file.string(), "is missing from the checkout", hint);
  ImportJson json = ImportJson::parse(internal::read_file(file.string()), nullptr, false);
  if (json.is_discarded()) {
    throw InputError(file.string(), "is not JSON",
                     "fetch it again; a file kept by Git LFS has to be downloaded with 'git lfs pull'");
  }
  return json;
}

bool has_file(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(file, ignored);
}

const ImportJson& member(const ImportJson& object, const char* key, const std::filesystem::path& file,
                         const std::string& where) {
  if (!object.is_object() || !object.contains(key)) {
    throw InputError(file.string(), str_cat(where, " has no '", key, "'"), kCheckoutHint);
  }
  return object.at(key);
}

const std::string& text_member(const ImportJson& object, const char* key, const std::filesystem::path& file,
                               const std::string& where) {
  const ImportJson& value = member(object, key, file, where);
  if (!value.is_string()) throw InputError(file.string(), str_cat(where, ": '", key, "' is not a text"), kCheckoutHint);
  return value.get_ref<const std::string&>();
}

int number_member(const ImportJson& object, const char* key, const std::filesystem::path& file,
                  const std::string& where) {
  const ImportJson& value = member(object, key, file, where);
  if (!value.is_number_integer() || value.get<long long>() < 0 || value.get<long long>() >= 1'000'000) {
    throw InputError(file.string(), str_cat(where, ": '", key, "' is not a number below a million"), kCheckoutHint);
  }
  return value.get<int>();
}

void write_import(const std::filesystem::path& folder, const char* name, const std::string& text,
                  ImportResult& result) {
  const std::string file = (folder / name).string();
  internal::write_file(file, text);
  result.files.push_back(file);
}

void write_import(const std::filesystem::path& folder, const char* name, const std::vector<PromptEntry>& prompts,
                  ImportResult& result) {
  result.files.push_back((folder / name).string());
  write_prompts(result.files.back(), prompts);
}

std::string rows_text(const std::vector<ImportJson>& rows) {
  std::string text;
  for (const ImportJson& row : rows) text += jobs::dump(row, -1) + "\n";
  return text;
}

ImportResult import_eai(const ImportOptions& options) {
  const std::filesystem::path root(options.root);
  std::error_code error;
  if (!std::filesystem::is_directory(root, error)) throw InputError(options.root, "is not a folder", kCheckoutHint);
  ImportResult result;
  bool found = false;
  const auto half = [&](const char* package, const char* name, auto import) {
    std::filesystem::path folder = root / "src" / package;
    if (!std::filesystem::is_directory(folder, error)) folder = root / package;
    if (!std::filesystem::is_directory(folder, error)) {
      result.notes.push_back(str_cat("there is no src/", package, " in ", options.root, ": nothing for ", name));
      return;
    }
    found = true;
    const std::filesystem::path out = std::filesystem::path(options.out) / name;
    std::filesystem::create_directories(out, error);
    if (error) {
      throw InputError(out.string(), str_cat("cannot be made a folder: ", error.message()), "name another with --out");
    }
    if (!result.cancelled) import(options, folder, out, result);
  };
  half("virtualhome_eval", "eai_vh", import_virtualhome);
  half("behavior_eval", "eai_beh", import_behavior);
  if (!found) {
    throw InputError(options.root, "has neither src/virtualhome_eval nor src/behavior_eval", kCheckoutHint);
  }
  return result;
}

}  // namespace metactrl::benchmarks
