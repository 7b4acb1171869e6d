// The modules of the Embodied Agent Interface: a file of prompts, a file of tasks, and for some a system prompt.
// Watch-And-Help has a file of tasks alone, and its prompts are written from them.
#include "benchmarks/reproduce_modules.h"

#include <filesystem>
#include <set>

#include "benchmarks/files.h"
#include "benchmarks/own_pddl.h"
#include "benchmarks/prompt_language.h"
#include "metactrl/error.h"
#include "support/sha2.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace {

std::string in_folder(const std::string& folder, std::string_view file) {
  return (std::filesystem::path(folder) / file).string();
}

class ModuleTasks : public ReproduceTasks {
 public:
  // Of a module with prompts, the first file holds them, the second the tasks, the third, if any, the system prompt.
  ModuleTasks(const Module& module, const std::string& data) : module_(module) {
    const std::string first = in_folder(data, module.files.at(0));
    source_.tasks = asks() ? first : in_folder(data, module.files.at(1));
    source_.scenes = std::filesystem::path(source_.tasks).parent_path().string();
    prompts_ = asks() ? module.ask(source_) : read_prompts(first);
    if (module.system_prompt) system_ = read_system_prompt(in_folder(data, module.files.at(2)));
    if (prompts_.empty()) {
      throw InputError(first, asks() ? "holds no task" : "holds no prompt", "name other data with --data");
    }
    std::set<std::string> known;  // which also reads what scoring needs
    for (const TaskScore& task : ModuleTasks::score({}).tasks) known.insert(task.identifier);
    left_out_ = std::erase_if(prompts_, [&](const PromptEntry& prompt) { return !known.contains(prompt.identifier); });
    if (prompts_.empty()) {
      throw InputError(source_.tasks, str_cat("has no task for any prompt of ", first),
                       "they must be of one benchmark");
    }
    for (const PromptEntry& prompt : prompts_) identifiers_.push_back(prompt.identifier);
    own_ = OwnPddl::open(module, data);
  }

  const std::vector<std::string>& identifiers() const override { return identifiers_; }

  // Where prompts are a file, not of the tasks: they are what answers are judged by, and answers do not depend on them.
  std::string digest() const override {
    return internal::sha256(str_cat(benchmarks::digest(prompts_),
                                    asks() ? internal::sha256_of_file(source_.tasks) : internal::sha256(system_)));
  }

  std::size_t left_out() const override { return left_out_; }

  void expect_prefix(LanguageModel& model, const EvaluateOptions& options) const override {
    // What prompts have in common that are written from tasks is short.
    if (asks()) return model.expect_prefix({});
    expect_common_prefix(model, module_, prompts_, with_system(options));
  }

  Answer answer(std::size_t task, LanguageModel* model, const std::shared_ptr<const Vocabulary>& vocabulary,
                const EvaluateOptions& options) const override {
    return answer_prompt(module_, prompts_.at(task), model, vocabulary, with_system(options));
  }

  bool has_problems() const override { return own_ != nullptr; }
  Answer answer_classically(std::size_t task, const ClassicalPlanner& planner,
                            const EvaluateOptions& options) const override {
    return benchmarks::answer_classically(*own_, prompts_.at(task).identifier, planner, options);
  }

  std::optional<TwoLevelsTable> two_levels(const std::shared_ptr<const Vocabulary>& vocabulary,
                                           const TwoLevelsOptions& options) const override {
    if (asks()) return std::nullopt;
    return benchmarks::two_levels(module_, prompts_, vocabulary, options);
  }

  bool keeps_to_prompt(std::size_t task, const std::string& output) const override {
    return benchmarks::keeps_to_prompt(module_, prompts_.at(task).prompt, output);
  }

  Score score(const std::vector<Response>& responses) const override {
    return module_.score(source_.tasks, source_.scenes, responses);
  }

 private:
  // The prompts come from the tasks, with the benchmark's goals.
  bool asks() const { return module_.ask != nullptr; }
  EvaluateOptions with_system(EvaluateOptions options) const {
    options.system = system_;
    return options;
  }

  const Module& module_;
  TaskSource source_;
  std::vector<PromptEntry> prompts_;
  std::string system_;
  std::vector<std::string> identifiers_;
  std::unique_ptr<OwnPddl> own_;  // null: the benchmark has none
  std::size_t left_out_ = 0;
};

}  // namespace

std::string missing_file(const Module& module, const std::string& data) {
  std::error_code ignored;
  for (const std::string_view file : module.files) {
    if (!std::filesystem::is_regular_file(in_folder(data, file), ignored)) return in_folder(data, file);
  }
  return {};
}

std::unique_ptr<ReproduceTasks> open_tasks(const Module& module, const std::string& data) {
  return std::make_unique<ModuleTasks>(module, data);
}

}  // namespace metactrl::benchmarks
