// metactrl models: what --model can be.
#include <algorithm>
#include <memory>

#include "cli/common.h"
#include "cli/model_store.h"
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

constexpr const char* kSeedling = "a small model that writes plans, with the mistakes that language models make";

std::string describe(const StoredModel& model) {
  if (model.built_in && model.name == kDefaultModel) return kSeedling;
  if (model_runtime().empty() || model.bytes > kDescribe) return {};
  try {
    return load_model(model.file.string())->description();
  } catch (const std::exception& error) {
    return str_cat("cannot be used: ", error.what());
  }
}

int list_json(const std::vector<StoredModel>& models) {
  Json json{{"runtime", model_runtime().empty() ? Json(nullptr) : Json(model_runtime())}, {"default", kDefaultModel}};
  json["models"] = Json::array();
  for (const StoredModel& model : models) {
    json["models"].push_back({{"name", model.name},
                              {"file", model.file.string()},
                              {"bytes", model.bytes},
                              {"built_in", model.built_in},
                              {"description", describe(model)}});
  }
  for (const TestKind& kind : kTestKinds)
    json["test_models"].push_back({{"name", kind.name}, {"description", kind.description}});
  json["folders"] = Json::array();
  for (const ModelFolder& folder : model_folders()) json["folders"].push_back(folder.path.string());
  print(json);
  return kDone;
}

void append_models(std::string& out, const std::vector<StoredModel>& models, bool built_in, const char* title,
                   const char* none) {
  out += str_cat(title, "\n");
  bool any = false;
  for (const StoredModel& model : models) {
    if (model.built_in != built_in) continue;
    any = true;
    std::string name = model.name;
    name.resize(std::max<std::size_t>(name.size() + 2, 16), ' ');
    const std::string description = describe(model);
    out += str_cat(
        "  ", name, bytes_text(static_cast<double>(model.bytes)), description.empty() ? "" : ", " + description,
        model.name == kDefaultModel ? " (used when --model is not given)" : "", "\n    ", model.file.string(), "\n");
  }
  if (!any) out += str_cat("  ", none, "\n");
}

int list(bool json) {
  const std::vector<StoredModel> models = stored_models();
  if (json) return list_json(models);
  std::string out;
  append_models(out, models, true, "Built in:", "none installed");
  append_models(out, models, false, "\nYours:",
                "none; GGUF files in ~/.cache/metactrl/models or $METACTRL_MODELS can be named without their path");
  out += "\nFor tests:\n";
  for (const TestKind& kind : kTestKinds) {
    std::string name = kind.name;
    name.resize(16, ' ');
    out += str_cat("  ", name, kind.description, "\n");
  }
  out += "\nAny other GGUF file: name its path.\n";
  out += model_runtime().empty()
             ? "This program was built without llama.cpp and cannot run GGUF files; plan with --guidance search.\n"
             : str_cat("GGUF files are run by ", model_runtime(), ".\n");
  print(out);
  return kDone;
}

}  // namespace

Command add_models(CLI::App& parent) {
  auto json = std::make_shared<bool>(false);
  CLI::App* app = parent.add_subcommand("models", "list what can be used as --model");
  app->add_flag("--json", *json, "print the list as JSON");
  return {app, [json] { return list(*json); }};
}

}  // namespace metactrl::cli
