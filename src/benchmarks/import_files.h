// Reading the files of a benchmark's checkout, with messages that name the file and the place in it.
#ifndef METACTRL_SRC_BENCHMARKS_IMPORT_FILES_H_
#define METACTRL_SRC_BENCHMARKS_IMPORT_FILES_H_

#include <filesystem>
#include <string>
#include <vector>

#include "benchmarks/evaluate.h"
#include "benchmarks/import_eai.h"
#include "jobs/journal.h"

namespace metactrl::benchmarks {

using ImportJson = jobs::Json;

// Throws InputError when there is no such file: `hint` says how to get it.
ImportJson read_checkout_json(const std::filesystem::path& file, const std::string& hint);
bool has_file(const std::filesystem::path& file);

// The member of an object; throws InputError that names the file and `where`, the place in it.
const ImportJson& member(const ImportJson& object, const char* key, const std::filesystem::path& file,
                         const std::string& where);
const std::string& text_member(const ImportJson& object, const char* key, const std::filesystem::path& file,
                               const std::string& where);
int number_member(const ImportJson& object, const char* key, const std::filesystem::path& file,
                  const std::string& where);

// Writes folder/name and lists it in the result.
void write_import(const std::filesystem::path& folder, const char* name, const std::string& text, ImportResult& result);
void write_import(const std::filesystem::path& folder, const char* name, const std::vector<PromptEntry>& prompts,
                  ImportResult& result);
// One line per row.
std::string rows_text(const std::vector<ImportJson>& rows);

// The way to a whole checkout.
extern const char* const kCheckoutHint;

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_IMPORT_FILES_H_
