// The public models that `metactrl models add NAME` knows, and where a package registry carries them. The list is
// models/catalogue.json, part of the program; $METACTRL_CATALOGUE names another file in its place.
#ifndef METACTRL_SRC_CLI_MODEL_CATALOGUE_H_
#define METACTRL_SRC_CLI_MODEL_CATALOGUE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace metactrl::cli {

// A file inside a package of the npm registry.
struct CataloguePart {
  std::string package;
  std::string version;
  std::string file;                 // its path inside the package
  std::uint64_t archive_bytes = 0;  // of the package as it is sent
};

// The parts' files, one behind the other, are the GGUF file.
struct CatalogueModel {
  std::string name;
  std::string title;
  std::string licence;
  std::string sha256;       // of the GGUF file
  std::uint64_t bytes = 0;  // its size
  std::vector<CataloguePart> parts;
};

// Throws InputError about a file of your own that is not of this form.
std::vector<CatalogueModel> catalogue();

// What is embedded at build time.
struct CatalogueFile {
  std::string_view name;
  std::string_view text;
};
// Defined in the generated file.
std::span<const CatalogueFile> catalogue_files();

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_MODEL_CATALOGUE_H_
