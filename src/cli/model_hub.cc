// One question tells everything: .../api/models/OWNER/REPO/revision/main?blobs=true answers with the commit that `main`
// is now, the licence, and all files with their sizes and (for large ones) SHA-256. Files are then fetched at that
// commit,
// .../resolve/COMMIT/FILE, so that the parts of a model, and the parts of a download, are of one version.
//
// Which file is meant is decided as llama.cpp does for its option -hf: a quantization is a word of the file's name;
// without one Q4_K_M is taken, then Q8_0, then the only file there is. Where llama.cpp then takes the first, we ask.
#include "cli/model_hub.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <span>
#include <string_view>

#include "cli/common.h"
#include "cli/download.h"
#include "cli/http_request.h"
#include "cli/model_parts.h"
#include "cli/model_registry.h"
#include "support/lower_case.h"
#include "support/nearest_name.h"
#include "support/str_cat.h"
#include "support/words.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

// Where the hub is: $HF_ENDPOINT, or its own address. Without a slash at its end.
std::string endpoint() {
  const char* value = std::getenv("HF_ENDPOINT");
  std::string address = value == nullptr || *value == '\0' ? "https://huggingface.co" : value;
  while (address.ends_with('/')) address.pop_back();
  check_address(address, "HF_ENDPOINT");
  return address;
}

// --- references ----------------------------------------------------------------------------------------------------

std::vector<std::string> split(std::string_view text, char by) {
  std::vector<std::string> words;
  while (true) {
    const std::size_t end = std::min(text.find(by), text.size());
    words.emplace_back(text.substr(0, end));
    if (end == text.size()) return words;
    text.remove_prefix(end + 1);
  }
}

[[noreturn]] void malformed(const std::string& text) {
  throw UsageError(str_cat("'", text,
                           "' names no model of the hub; write hf:OWNER/REPO, hf:OWNER/REPO:QUANT or "
                           "hf:OWNER/REPO/FILE.gguf"));
}

// "OWNER/REPO", "OWNER/REPO:QUANT", "OWNER/REPO/FILE", "OWNER/REPO/resolve/main/FILE"
HubReference parse_path(const std::string& path, const std::string& text) {
  std::vector<std::string> words = split(path, '/');
  HubReference reference;
  if (words.size() < 2) malformed(text);
  if (const std::size_t colon = words[1].find(':'); words.size() == 2 && colon != std::string::npos) {
    reference.quant = words[1].substr(colon + 1);
    words[1].resize(colon);
    if (!is_model_name(reference.quant)) malformed(text);
  }
  if (!is_model_name(words[0]) || !is_model_name(words[1])) malformed(text);
  reference.repository = words[0] + "/" + words[1];
  if (words.size() == 2) return reference;
  const bool has_revision = words.size() > 4 && (words[2] == "resolve" || words[2] == "blob");
  if (has_revision) reference.revision = words[3];
  reference.file = internal::join(std::span(words).subspan(has_revision ? 4 : 2), "/");
  if (!is_model_name(reference.revision) || !reference.file.ends_with(".gguf")) malformed(text);
  return reference;
}

// The address of a repository's page, or of a file's. Others are what they are.
std::optional<HubReference> parse_page(const std::string& text) {
  for (const std::string& start :
       {std::string("https://hf.co/"), std::string("https://huggingface.co/"), endpoint() + "/"}) {
    if (!text.starts_with(start)) continue;
    std::string path = text.substr(start.size());
    path.resize(std::min(path.find_first_of("?#"), path.size()));
    const std::vector<std::string> words = split(path, '/');
    const bool repository = words.size() == 2 && !path.ends_with(".gguf");
    const bool file = words.size() > 4 && (words[2] == "resolve" || words[2] == "blob");
    if (repository || file) return parse_path(path, text);
  }
  return std::nullopt;
}

// --- files ---------------------------------------------------------------------------------------------------------

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Projectors of images, importance matrices and draft models are GGUF files, too.
bool is_language_model(const std::string& path) {
  if (!path.ends_with(".gguf")) return false;
  const std::string name = base_name(path);
  for (const char* word : {"mmproj", "imatrix", "mtp-", "eagle3-", "dflash-", "dspark-"}) {
    if (name.find(word) != std::string::npos) return false;
  }
  return true;
}

// Whether the quantization stands in the path as a word: F16 is not in "model-BF16.gguf".
bool has_quant(const std::string& path, const std::string& quant) {
  const std::string text = internal::lower_case(path);
  const std::string word = internal::lower_case(quant);
  constexpr std::string_view kAround = "-._/";
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || kAround.find(text[at - 1]) != std::string_view::npos;
    if (begins && (end == text.size() || kAround.find(text[end]) != std::string_view::npos)) return true;
  }
  return false;
}

// A model that can be chosen: one file, or several that belong together.
struct Choice {
  std::string path;  // of its first file
  std::vector<HubFile> files;
  bool whole = true;  // all its parts are there

  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const HubFile& file : files) sum += file.bytes;
    return sum;
  }
};

std::vector<Choice> choices_in(const std::vector<HubFile>& files) {
  std::map<std::string, HubFile> by_path;
  for (const HubFile& file : files) {
    if (is_language_model(file.path)) by_path[file.path] = file;
  }
  std::vector<Choice> choices;
  for (const auto& [path, file] : by_path) {
    const std::optional<PartName> part = parse_part_name(path);
    if (part && part->index != 1) continue;
    Choice choice{path, {}};
    for (const std::string& one : all_parts(path)) {
      const auto found = by_path.find(one);
      choice.whole = choice.whole && found != by_path.end();
      if (found != by_path.end()) choice.files.push_back(found->second);
    }
    choices.push_back(std::move(choice));
  }
  return choices;
}

void list_choices(const std::string& repository, const std::vector<Choice>& choices) {
  note(str_cat("metactrl: ", repository, " has"));
  for (const Choice& choice : choices) {
    note(str_cat("  ", choice.path, ", ", bytes_text(static_cast<double>(choice.bytes())),
                 choice.files.size() > 1 ? str_cat(" in ", choice.files.size(), " files") : ""));
  }
}

class Chooser {
 public:
  Chooser(const HubReference& reference, std::vector<Choice> choices)
      : reference_(reference), name_("hf:" + reference.repository), choices_(std::move(choices)) {}

  const Choice& choose() const {
    if (choices_.empty()) {
      throw InputError(name_, "this repository has no GGUF file with a language model",
                       "look for one that has 'GGUF' in its name");
    }
    const Choice& choice = reference_.file.empty() ? by_quant() : by_file();
    if (choice.whole) return choice;
    throw InputError(str_cat(name_, "/", choice.path), "not all parts of this model are there", "choose another file");
  }

 private:
  const Choice& by_file() const {
    const std::string first = all_parts(reference_.file)[0];
    std::vector<std::string> names;
    for (const Choice& choice : choices_) {
      if (choice.path == first) return choice;
      names.push_back(choice.path);
    }
    list_choices(reference_.repository, choices_);
    const std::string guess = internal::did_you_mean(reference_.file, names);
    throw InputError(name_,
                     str_cat("this repository has no file '", reference_.file, "'", guess.empty() ? "" : "; ", guess),
                     how_to_name(choices_[0]));
  }

  const Choice& by_quant() const {
    if (!reference_.quant.empty()) {
      const std::vector<const Choice*> found = of_quant(reference_.quant);
      if (found.size() == 1) return *found[0];
      list_choices(reference_.repository, choices_);
      throw InputError(name_,
                       str_cat("this repository has ", found.empty() ? "no file" : "more than one file",
                               " of quantization '", reference_.quant, "'"),
                       how_to_name(found.empty() ? choices_[0] : *found[0]));
    }
    for (const char* usual : {"Q4_K_M", "Q8_0"}) {
      const std::vector<const Choice*> found = of_quant(usual);
      if (found.size() == 1) return *found[0];
      if (found.size() > 1) break;
    }
    if (choices_.size() == 1) return choices_[0];
    list_choices(reference_.repository, choices_);
    throw InputError(name_, "it is not clear which of these files is meant", how_to_name(choices_[0]));
  }

  std::vector<const Choice*> of_quant(const std::string& quant) const {
    std::vector<const Choice*> found;
    for (const Choice& choice : choices_) {
      if (has_quant(choice.path, quant)) found.push_back(&choice);
    }
    return found;
  }

  std::string how_to_name(const Choice& choice) const {
    return str_cat("name one: metactrl models add ", name_, "/", choice.path);
  }

  const HubReference& reference_;
  std::string name_;
  std::vector<Choice> choices_;
};

// --- the hub's answer ----------------------------------------------------------------------------------------------

std::vector<HubFile> read_files(const Json& json) {
  std::vector<HubFile> files;
  for (const Json& entry : json.at("siblings")) {
    HubFile file;
    entry.at("rfilename").get_to(file.path);
    file.bytes = entry.value("size", std::uint64_t{0});
    if (const auto large = entry.find("lfs"); large != entry.end() && large->is_object()) {
      file.bytes = large->value("size", file.bytes);
      file.sha256 = large->value("sha256", "");
    }
    files.push_back(std::move(file));
  }
  return files;
}

// From the model's card, or from its tags: "license:mit".
std::string read_licence(const Json& json) {
  constexpr std::string_view kTag = "license:";
  if (const auto tags = json.find("tags"); tags != json.end() && tags->is_array()) {
    for (const Json& tag : *tags) {
      if (tag.is_string() && tag.get<std::string>().starts_with(kTag))
        return tag.get<std::string>().substr(kTag.size());
    }
  }
  return {};
}

bool is_commit(const std::string& text) {
  return text.size() >= 7 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

std::string hub_token() {
  const char* value = std::getenv("HF_TOKEN");
  const std::string token = value == nullptr ? "" : value;
  if (std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c <= '~' && c != '"' && c != '\\'; })) {
    return token;
  }
  throw UsageError("HF_TOKEN has a character that no token has; set it anew, or unset it");
}

std::optional<HubReference> parse_hub_reference(const std::string& text) {
  if (text.starts_with("hf:")) return parse_path(text.substr(3), text);
  for (const char* start : {"hf.co/", "huggingface.co/"}) {
    if (text.starts_with(start)) return parse_path(text.substr(std::string_view(start).size()), text);
  }
  if (text.find("://") != std::string::npos) return parse_page(text);
  // A path that may be meant as a file is not taken for a repository.
  const std::vector<std::string> words = split(text, '/');
  const bool two = words.size() == 2 && is_model_name(words[0]) && is_model_name(split(words[1], ':')[0]);
  const bool meant =
      two && !text.ends_with(".gguf") &&
      (internal::lower_case(words[1]).find("gguf") != std::string::npos || words[1].find(':') != std::string::npos);
  if (!meant) return std::nullopt;
  return parse_path(text, text);
}

HubModel find_on_hub(const HubReference& reference) {
  const std::string address =
      str_cat(endpoint(), "/api/models/", reference.repository, "/revision/", reference.revision, "?blobs=true");
  const auto not_a_hub = [&](const char* why) {
    throw InputError(shown_address(address), str_cat("does not answer as the hub does: ", why), "check HF_ENDPOINT");
  };
  HubModel model;
  model.repository = reference.repository;
  try {
    const Json json = Json::parse(fetch_text(address, hub_token()));
    json.at("sha").get_to(model.commit);
    if (!is_commit(model.commit)) not_a_hub("the commit is none");
    model.licence = read_licence(json);
    model.files = Chooser(reference, choices_in(read_files(json))).choose().files;
  } catch (const RefusedError& error) {
    explain_refusal(reference.repository, error.status(), error.code());
  } catch (const Json::exception& error) {
    not_a_hub(error.what());
  }
  return model;
}

std::string hub_address(const HubModel& model, const HubFile& file) {
  return str_cat(endpoint(), "/", model.repository, "/resolve/", model.commit, "/", encoded_path(file.path));
}

void explain_refusal(const std::string& repository, int status, const std::string& code) {
  const std::string name = "hf:" + repository;
  const std::string page = str_cat(endpoint(), "/", repository);
  const std::string set_token =
      str_cat("set HF_TOKEN to a token of an account that has access (", endpoint(), "/settings/tokens)");
  if (status == 404 && code == "RevisionNotFound") {
    throw InputError(name, "this repository has no such branch or commit", str_cat("see ", page));
  }
  if (status == 404 && code == "EntryNotFound") {
    throw InputError(name, "the file is gone from this repository", "run the command again to see what there is");
  }
  if (code == "GatedRepo") {
    throw InputError(name,
                     str_cat("this model is gated: it is given to those alone who accept its licence (", status, ")"),
                     hub_token().empty() ? str_cat("accept it at ", page, ", then ", set_token)
                                         : str_cat("accept it at ", page, " with the account that HF_TOKEN is of"));
  }
  // Whoever is not let in cannot tell a private repository from none.
  if (status == 401 || status == 403) {
    throw InputError(
        name, str_cat("there is no such repository, or it is gated or private (", status, ")"),
        hub_token().empty()
            ? str_cat("check the name; accept its licence at ", page, " where it asks for that, and ", set_token)
            : str_cat("check the name, and whether the account that HF_TOKEN is of has access: ", page));
  }
  if (status == 404) throw InputError(name, "the hub has no such repository", str_cat("check the name: ", page));
  throw InputError(name, str_cat("the hub refuses: it answered ", status), str_cat("see ", page));
}

}  // namespace metactrl::cli
