// In place of everything that needs llama.cpp, in a library that was built without it.
#include <memory>
#include <span>
#include <string>

#include "lm/backends.h"
#include "lm/model_facts.h"
#include "lm/together.h"
#include "metactrl/error.h"
#include "metactrl/language_model.h"

namespace metactrl {

namespace {

[[noreturn]] void report_absence(const std::string& file) {
  throw InputError(file, "GGUF files cannot be read, since metactrl was built without llama.cpp",
                   "run scripts/llama and configure again with -DMETACTRL_LLAMA=ON");
}

}  // namespace

std::unique_ptr<LanguageModel> load_model(const std::string& file, const ModelOptions& /*options*/) {
  report_absence(file);
}

std::unique_ptr<Vocabulary> load_vocabulary(const std::string& file) { report_absence(file); }

std::unique_ptr<Vocabulary> vocabulary_of(const llama_model* /*model*/) { report_absence("model"); }

std::string model_runtime() { return {}; }

void load_model_backends() {}

}  // namespace metactrl

namespace metactrl::lm {

ModelFacts read_model_facts(const std::string& file) { report_absence(file); }

std::filesystem::path added_backends() { return {}; }
std::string runtime_version() { return {}; }
bool backends_are_built_in() { return false; }
bool has_gpu() { return false; }
BackendReport report_backends() { return {}; }
void prepare_together(std::span<Session* const> /*sessions*/) {}

}  // namespace metactrl::lm
