// Models of the Hugging Face hub: what a reference to one means, and which files it stands for.
//
//     hf:OWNER/REPO                  the repository's file of the usual quantization
//     hf:OWNER/REPO:Q8_0             of this one
//     hf:OWNER/REPO/some/file.gguf   this file
//     OWNER/REPO-GGUF[:QUANT]        the same without hf:, as are hf.co/... and the addresses of the hub's pages
#ifndef METACTRL_SRC_CLI_MODEL_HUB_H_
#define METACTRL_SRC_CLI_MODEL_HUB_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace metactrl::cli {

struct HubReference {
  std::string repository;  // "OWNER/REPO"
  std::string file;        // its path there, when one was named
  std::string quant;       // when one was named
  std::string revision = "main";
};

// Nothing when the text is not meant as one. Throws UsageError for what begins as one and is none.
std::optional<HubReference> parse_hub_reference(const std::string& text);

struct HubFile {
  std::string path;
  std::uint64_t bytes = 0;
  std::string sha256;
};

// A model at a commit of its repository.
struct HubModel {
  std::string repository;
  std::string commit;
  std::string licence;         // empty when it does not say
  std::vector<HubFile> files;  // the parts of one model, in order
};

// Asks the hub. Throws InputError when there is no such repository or file, when it is not for everybody, or when it is
// not clear which file is meant; standard error then says which there are. Throws as fetch_text does, too.
HubModel find_on_hub(const HubReference& reference);

// Where the file is, at its commit.
std::string hub_address(const HubModel& model, const HubFile& file);
// From HF_TOKEN; empty when there is none. Throws UsageError when it cannot be one.
std::string hub_token();

// Throws an InputError that says what a refusal of the hub (RefusedError) means and what to do.
[[noreturn]] void explain_refusal(const std::string& repository, int status, const std::string& code);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_MODEL_HUB_H_
