// metactrl models: what --model can be, and how it gets there.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/model_catalogue.h"
#include "cli/model_fetch.h"
#include "cli/model_hub.h"
#include "cli/model_parts.h"
#include "cli/model_registry.h"
#include "cli/model_store.h"
#include "cli/options.h"
#include "cli/output.h"
#include "lm/model_facts.h"
#include "metactrl/error.h"
#include "support/list_some.h"
#include "support/nearest_name.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

// Larger files are described by their size alone: reading them takes a while.
constexpr std::uint64_t kDescribe = std::uint64_t{256} << 20U;

struct TestKind {
  const char* name;
  const char* description;
};
constexpr TestKind kTestKinds[] = {
    {"random:SEED", "no weights: every token is as likely as chance has it (--vocab names a vocabulary)"},
    {"hostile:SEED", "no weights: puts its mass on invalid, repeated, early-ending and endless text, NaN and infinity"},
};

constexpr const char* kPocket = "a small model that writes plans, with the mistakes that language models make";

std::string describe(const StoredModel& model) {
  if (model.built_in && model.name == kDefaultModel) return kPocket;
  if (model_runtime().empty() || model.bytes > kDescribe) return {};
  try {
    return load_model(model.file.string(), {.gpu_layers = 0})->description();
  } catch (const std::exception& error) {
    return str_cat("cannot be used: ", error.what());
  }
}

// What the file's header says, without loading the model; nothing when it cannot be read.
std::optional<lm::ModelFacts> facts_of(const std::filesystem::path& file) {
  if (model_runtime().empty()) return std::nullopt;
  try {
    return lm::read_model_facts(file.string());
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::size_t context_of(const StoredModel& model, const std::optional<lm::ModelFacts>& facts) {
  if (model.entry) return model.entry->context;
  return facts ? facts->context : 0;
}

std::string template_text(const lm::ModelFacts& facts) {
  switch (facts.chat_template) {
    case lm::ChatTemplate::kNone:
      return "no chat template, prompts are sent as plain text";
    case lm::ChatTemplate::kUnderstood:
      return "chat template: " + facts.chat_template_name;
    case lm::ChatTemplate::kNotUnderstood:
      return "chat template: cannot be used, so only raw prompts can be sent; " + facts.chat_template_name;
  }
  return {};
}

Json template_json(const std::optional<lm::ModelFacts>& facts) {
  if (!facts) return nullptr;
  switch (facts->chat_template) {
    case lm::ChatTemplate::kNone:
      return {{"status", "none"}};
    case lm::ChatTemplate::kUnderstood:
      return {{"status", "understood"}, {"name", facts->chat_template_name}};
    case lm::ChatTemplate::kNotUnderstood:
      return {{"status", "not understood"}, {"why", facts->chat_template_name}};
  }
  return nullptr;
}

FileState state_of(const StoredModel& model) { return model.entry ? cli::state_of(*model.entry) : FileState::kPresent; }

int list_json(const std::vector<StoredModel>& models, const OutputOptions& output) {
  Json json{{"runtime", model_runtime().empty() ? Json(nullptr) : Json(model_runtime())}, {"default", kDefaultModel}};
  json["models"] = Json::array();
  for (const StoredModel& model : models) {
    const FileState state = state_of(model);
    const std::optional<lm::ModelFacts> facts = facts_of(model.file);
    Json entry{{"name", model.name},
               {"file", model.file.string()},
               {"bytes", model.bytes},
               {"context", context_of(model, facts)},
               {"chat_template", template_json(facts)},
               {"built_in", model.built_in},
               {"status", internal::name_of(state)},
               {"description", state == FileState::kPresent ? describe(model) : ""}};
    if (model.entry) {
      entry["sha256"] = model.entry->sha256;
      entry["licence"] = model.entry->licence;
      entry["source"] = model.entry->source;
      entry["revision"] = model.entry->revision;
    }
    json["models"].push_back(entry);
  }
  json["can_be_added"] = Json::array();
  for (const CatalogueModel& model : catalogue()) {
    json["can_be_added"].push_back(
        {{"name", model.name}, {"title", model.title}, {"licence", model.licence}, {"bytes", model.bytes}});
  }
  for (const TestKind& kind : kTestKinds)
    json["test_models"].push_back({{"name", kind.name}, {"description", kind.description}});
  json["folders"] = Json::array();
  for (const ModelFolder& folder : model_folders()) json["folders"].push_back(folder.path.string());
  print(output, json);
  return kDone;
}

std::string padded(std::string name) {
  name.resize(std::max<std::size_t>(name.size() + 2, 16), ' ');
  return name;
}

void append_models(std::string& out, const std::vector<StoredModel>& models, bool built_in, const char* title,
                   const char* none) {
  out += str_cat(title, "\n");
  bool any = false;
  for (const StoredModel& model : models) {
    if (model.built_in != built_in) continue;
    any = true;
    const FileState state = state_of(model);
    out += str_cat("  ", padded(model.name), bytes_text(static_cast<double>(model.bytes)));
    const std::string description = state == FileState::kPresent ? describe(model) : "";
    const std::optional<lm::ModelFacts> facts = facts_of(model.file);
    const std::size_t context = context_of(model, facts);
    // Some descriptions have it.
    if (context > 0 && description.find("context") == std::string::npos) out += str_cat(", context ", context);
    if (!description.empty()) out += ", " + description;
    if (model.entry && !model.entry->licence.empty()) out += str_cat(", ", model.entry->licence);
    if (state == FileState::kMissing) out += "; MISSING: the file is gone, add it again";
    if (state == FileState::kChanged) out += "; CHANGED: not the file that was added, add it again";
    out += str_cat(model.name == kDefaultModel ? " (used when --model is not given)" : "", "\n    ",
                   model.file.string(), facts ? "\n    " + template_text(*facts) : "", "\n");
  }
  if (!any) out += str_cat("  ", none, "\n");
}

int list(const OutputOptions& output) {
  const std::vector<StoredModel> models = stored_models();
  if (output.json()) return list_json(models, output);
  std::string out;
  append_models(out, models, true, "Built in:", "none installed");
  append_models(out, models, false, "\nYours:",
                "none; 'metactrl models add' adds one, and GGUF files in ~/.cache/metactrl/models or "
                "$METACTRL_MODELS can be named without their path");
  std::string more;
  for (const CatalogueModel& model : catalogue()) {
    if (std::any_of(models.begin(), models.end(), [&](const StoredModel& one) { return one.name == model.name; })) {
      continue;
    }
    more += str_cat("  ", padded(model.name), bytes_text(static_cast<double>(model.bytes)), ", ", model.title, ", ",
                    model.licence, "\n");
  }
  if (!more.empty()) out += str_cat("\nCan be fetched with 'metactrl models add NAME':\n", more);
  out += "\nModels of the Hugging Face hub can be fetched with 'metactrl models add hf:OWNER/REPO'.\n";
  out += "\nFor tests:\n";
  for (const TestKind& kind : kTestKinds) out += str_cat("  ", padded(kind.name), kind.description, "\n");
  out += "\nAny other GGUF file: name its path.\n";
  out += model_runtime().empty()
             ? "This program was built without llama.cpp and cannot run GGUF files; plan with --guidance search.\n"
             : str_cat("GGUF files are run by ", model_runtime(), ".\n");
  print(output, out);
  return kDone;
}

// --- add and remove ------------------------------------------------------------------------------------------------

struct ModelsArguments {
  std::string action;
  std::string what;
  std::string name;
  OutputOptions output;
};

void report(const RegisteredModel& model) {
  std::string out = str_cat(model.name, " is there: ", bytes_text(static_cast<double>(model.total_bytes())),
                            model.context > 0 ? str_cat(", context ", model.context) : "",
                            model.licence.empty() ? "" : ", " + model.licence, "\n");
  const auto file = [&out](const RegisteredFile& one) {
    out += str_cat("  ", one.file.string(), "\n  SHA-256 ", one.sha256, "\n");
  };
  file(model);
  for (const RegisteredFile& part : model.more_parts) file(part);
  if (!model.revision.empty()) out += str_cat("  ", model.source, " at commit ", model.revision, "\n");
  if (const auto facts = facts_of(model.file)) out += str_cat("  ", template_text(*facts), "\n");
  print(out + str_cat("Use it with --model ", model.name, "\n"));
}

// Throws when the name stands for something else already. `source` is where the file comes from, empty for one of the
// user's own: equal names of files in two repositories are two models.
void check_free(const std::string& name, const std::string& file, const std::string& source = {}) {
  if (!is_model_name(name)) {
    throw UsageError(
        str_cat("'", name, "' cannot be a model's name: use letters, digits, '.', '_' and '-' with --name"));
  }
  if (name == "random" || name == "hostile" || name.ends_with(".gguf")) {
    throw UsageError(str_cat("'", name, "' cannot be a model's name: --model reads it as ",
                             name.ends_with(".gguf") ? "a file" : "a test model", "; choose another with --name"));
  }
  for (const StoredModel& model : stored_models()) {
    if (model.name != name) continue;
    std::error_code ignored;
    const bool same = std::filesystem::equivalent(model.file, file, ignored);
    const bool same_source = !model.entry || model.entry->source == source;
    if (!model.built_in && same && same_source) return;                 // added again
    if (model.entry && state_of(model) != FileState::kPresent) return;  // there is nothing behind the name
    throw InputError(name, str_cat("there is a model of this name: ", model.file.string()),
                     model.built_in
                         ? "choose another name with --name"
                         : str_cat("choose another with --name, or 'metactrl models remove ", name, "' first"));
  }
  for (const CatalogueModel& model : catalogue()) {
    if (model.name == name) {
      throw InputError(name, "this name is kept for the model that 'metactrl models add' fetches",
                       "choose another with --name");
    }
  }
}

// Loads it once. A small context is enough for that, and the CPU.
void check_loads(const std::string& file) {
  if (model_runtime().empty()) return;
  ModelOptions options;
  options.context = 64;
  options.gpu_layers = 0;
  const ProgressLine progress("loading the model");
  try {
    load_model(file, options);
  } catch (const ModelError& error) {
    throw ResourceError(kOutOfMemory, error.what());
  }
}

int add_file(const ModelsArguments& arguments) {
  const std::string file = all_parts(arguments.what)[0];
  std::error_code failure;
  if (!std::filesystem::is_regular_file(file, failure)) {
    throw InputError(
        file, std::filesystem::is_directory(file, failure) ? "is a folder" : "there is no such file",
        "name a GGUF file, a model that 'metactrl models' says can be fetched, or hf:OWNER/REPO for one of "
        "the Hugging Face hub");
  }
  const std::string name = arguments.name.empty() ? model_name_of(file) : arguments.name;
  check_free(name, file);
  check_loads(file);
  const RegisteredModel model = look_at_file(name, file);
  register_model(model);
  report(model);
  return kDone;
}

int add_remote(const RemoteModel& model) {
  const std::string file = local_file(model).string();
  check_free(model.name, file, model.source);
  for (const RegisteredModel& entry : registered_models()) {
    const bool same = entry.name == model.name && entry.source == model.source && entry.revision == model.revision;
    if (!same || state_of(entry) != FileState::kPresent) continue;
    report(entry);
    return kDone;
  }
  double bytes = 0;
  for (const RemoteFile& one : model.files) bytes += static_cast<double>(one.bytes);
  note(str_cat("metactrl: fetching ", model.source, bytes > 0 ? ", " + bytes_text(bytes) : "",
               model.licence.empty() ? "" : ", licence " + model.licence));
  const RegisteredModel entry = fetch_model(model);
  try {
    check_loads(file);
  } catch (const InputError& error) {
    note(str_cat("metactrl: ", model.name, " was fetched as it should be, and cannot be used; 'metactrl models remove ",
                 model.name, "' removes it"));
    throw;
  }
  report(entry);
  return kDone;
}

int add(const ModelsArguments& arguments) {
  const std::vector<CatalogueModel> known = catalogue();
  for (const CatalogueModel& model : known) {
    if (model.name != arguments.what) continue;
    if (!arguments.name.empty())
      throw UsageError("--name is for files and for models of the hub; a model of the catalogue keeps its own");
    for (const RegisteredModel& entry : registered_models()) {
      if (entry.name != model.name || entry.sha256 != model.sha256) continue;
      if (state_of(entry) != FileState::kPresent) continue;
      report(entry);
      return kDone;
    }
    report(fetch_model(model));
    return kDone;
  }
  std::error_code ignored;
  const bool exists = std::filesystem::exists(arguments.what, ignored);
  if (!exists) {
    if (const std::optional<HubReference> reference = parse_hub_reference(arguments.what)) {
      return add_remote(remote_model(find_on_hub(*reference), arguments.name));
    }
    if (arguments.what.find("://") != std::string::npos)
      return add_remote(remote_model(arguments.what, arguments.name));
  }
  if (looks_like_a_file(arguments.what)) return add_file(arguments);
  std::vector<std::string> names;
  for (const CatalogueModel& model : known) names.push_back(model.name);
  const std::string guess = internal::did_you_mean(arguments.what, names);
  throw InputError(
      arguments.what, str_cat("is neither a file nor a model that can be fetched", guess.empty() ? "" : "; " + guess),
      str_cat("name a GGUF file, hf:OWNER/REPO of the Hugging Face hub, or one of ", internal::list_some(names)));
}

void remove_file(const std::filesystem::path& file) {
  std::error_code failure;
  std::filesystem::remove(file, failure);
  if (failure) throw InputError(file.string(), str_cat("cannot be removed: ", failure.message()), "remove it by hand");
}

int remove(const std::string& name) {
  const std::vector<StoredModel> models = stored_models();
  std::vector<std::string> names;
  for (const StoredModel& model : models) {
    if (model.entry) names.push_back(model.name);
    if (model.name != name) continue;
    if (!model.entry) {
      throw InputError(name,
                       str_cat("was not added: it is there because its file is in ", model.file.parent_path().string()),
                       model.built_in ? "it is part of the program" : "remove the file");
    }
    unregister_model(name);
    if (model.entry->source.empty()) {
      print(str_cat(name, " is forgotten; its file ", model.file.string(), " is left as it is\n"));
      return kDone;
    }
    remove_file(model.file);
    for (const RegisteredFile& part : model.entry->more_parts) remove_file(part.file);
    // Parts have a folder of their own, which stays when there is anything else in it.
    std::error_code ignored;
    if (!model.entry->more_parts.empty()) std::filesystem::remove(model.file.parent_path(), ignored);
    print(str_cat(name, " is removed\n"));
    return kDone;
  }
  const std::string guess = internal::did_you_mean(name, names);
  throw InputError(name, str_cat("no model of this name was added", guess.empty() ? "" : "; " + guess),
                   names.empty() ? "none was" : str_cat("these were: ", internal::list_some(names)));
}

int run_models(const ModelsArguments& arguments) {
  if (arguments.action.empty()) return list(arguments.output);
  if (arguments.what.empty()) {
    throw UsageError(
        arguments.action == "add"
            ? "name what to add: a GGUF file, or a model that can be fetched (a name, hf:OWNER/REPO, https://...)"
            : "name the model to remove");
  }
  if (arguments.output.json() || !arguments.output.file.empty()) {
    throw UsageError("--output and --out are for the list");
  }
  if (arguments.action == "remove" && !arguments.name.empty()) throw UsageError("--name is for 'models add'");
  return arguments.action == "add" ? add(arguments) : remove(arguments.what);
}

constexpr const char* kModelsExamples =
    "\n"
    "  metactrl models                                    list them\n"
    "  metactrl models add tinyllama                      fetch a public model and check it\n"
    "  metactrl models add hf:OWNER/REPO                  from the Hugging Face hub: its Q4_K_M file, or the usual "
    "one\n"
    "  metactrl models add hf:OWNER/REPO:Q8_0             the one of this quantization\n"
    "  metactrl models add hf:OWNER/REPO/FILE.gguf        this file\n"
    "  metactrl models add https://example.org/x.gguf     from anywhere else\n"
    "  metactrl models add FILE --name mine               remember a GGUF file of your own\n"
    "  metactrl models remove mine\n"
    "\n"
    "HF_TOKEN is the token for models of the hub that are not for everybody, HF_ENDPOINT another hub. What was cut "
    "off\n"
    "goes on where it stopped.\n";

}  // namespace

Command add_models(CLI::App& parent) {
  auto arguments = std::make_shared<ModelsArguments>();
  CLI::App* app = parent.add_subcommand("models", "list the models there are, add one, remove one");
  app->add_option("action", arguments->action, "without it, the models are listed")
      ->type_name("add|remove")
      ->check(one_of({"add", "remove"}));
  app->add_option("what", arguments->what, "to add: a GGUF file, or a model that can be fetched; to remove: a name")
      ->type_name("FILE|NAME|hf:OWNER/REPO|URL");
  app->add_option("--name", arguments->name, "what to call a model that is added; without it, as its file is called")
      ->type_name("NAME");
  add_output_options(*app, arguments->output);
  app->footer(kModelsExamples);
  return {app, [arguments] { return run_models(*arguments); }};
}

}  // namespace metactrl::cli
