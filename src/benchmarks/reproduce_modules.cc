// The modules of the Embodied Agent Interface: a file of prompts, a file of tasks, and for some a system prompt.
// Watch-And-Help has a file of tasks alone, and its prompts are written from them.
#include "benchmarks/reproduce_modules.h"

#include <filesystem>
#include <set>
#include <utility>

#include "benchmarks/files.h"
#include "metactrl/error.h"
#include "support/sha2.h"
#include "support/str_cat.h"

namespace metactrl::benchmarks {

using internal::str_cat;

namespace {

std::string join(const std::string& folder, std::string_view file) {
  return (std::filesystem::path(folder) / file).string();
}

class PromptTasks : public ReproduceTasks {
 public:
  // The first file of the module holds the prompts, the second the tasks, the third, if any, the system prompt.
  PromptTasks(const Module& module, const std::string& data)
      : module_(module),
        tasks_(join(data, module.files.at(1))),
        prompts_(read_prompts(join(data, module.files.at(0)))) {
    if (module_.system_prompt) system_ = read_system_prompt(join(data, module.files.at(2)));
    const std::string prompts = join(data, module.files.at(0));
    if (prompts_.empty()) throw InputError(prompts, "holds no prompt", "name other data with --data");
    std::set<std::string> known;
    for (const TaskScore& task : PromptTasks::score({}).tasks) known.insert(task.identifier);
    left_out_ = std::erase_if(prompts_, [&](const PromptEntry& prompt) { return !known.contains(prompt.identifier); });
    if (prompts_.empty()) {
      throw InputError(tasks_, str_cat("has no task for any prompt of ", prompts), "they must be of one benchmark");
    }
    for (const PromptEntry& prompt : prompts_) identifiers_.push_back(prompt.identifier);
  }

  const std::vector<std::string>& identifiers() const override { return identifiers_; }

  // Not of the tasks: they are what answers are judged by, and answers do not depend on them.
  std::string digest() const override {
    return internal::sha256(str_cat(benchmarks::digest(prompts_), internal::sha256(system_)));
  }

  std::size_t left_out() const override { return left_out_; }

  void expect_prefix(LanguageModel& model, const EvaluateOptions& options) const override {
    expect_common_prefix(model, module_, prompts_, with_system(options));
  }

  Answer answer(std::size_t task, LanguageModel* model, const std::shared_ptr<const Vocabulary>& vocabulary,
                const EvaluateOptions& options) const override {
    return answer_prompt(module_, prompts_.at(task), model, vocabulary, with_system(options));
  }

  Answer answer_classically(std::size_t task, const ClassicalPlanner& planner,
                            const EvaluateOptions& options) const override {
    return benchmarks::answer_classically(module_, prompts_.at(task), planner, options);
  }

  Score score(const std::vector<Response>& responses) const override {
    return module_.score(tasks_, std::filesystem::path(tasks_).parent_path().string(), responses);
  }

 private:
  EvaluateOptions with_system(EvaluateOptions options) const {
    options.system = system_;
    return options;
  }

  const Module& module_;
  std::string tasks_;
  std::vector<PromptEntry> prompts_;
  std::string system_;
  std::vector<std::string> identifiers_;
  std::size_t left_out_ = 0;
};

// The prompts come from the tasks, with the benchmark's goals.
class AskedTasks : public ReproduceTasks {
 public:
  AskedTasks(const Module& module, const std::string& data)
      : module_(module),
        source_{join(data, module.files.at(0)), scenes_beside(join(data, module.files.at(0)))},
        prompts_(module_.ask(source_)) {
    if (prompts_.empty()) throw InputError(source_.tasks, "holds no task", "name other data with --data");
    AskedTasks::score({});  // reads what scoring needs
    for (const PromptEntry& prompt : prompts_) identifiers_.push_back(prompt.identifier);
  }

  const std::vector<std::string>& identifiers() const override { return identifiers_; }

  std::string digest() const override {
    return internal::sha256(str_cat(benchmarks::digest(prompts_), internal::sha256_of_file(source_.tasks)));
  }

  // What they have in common is short.
  void expect_prefix(LanguageModel& model, const EvaluateOptions& /*options*/) const override {
    model.expect_prefix({});
  }

  Answer answer(std::size_t task, LanguageModel* model, const std::shared_ptr<const Vocabulary>& vocabulary,
                const EvaluateOptions& options) const override {
    return answer_prompt(module_, prompts_.at(task), model, vocabulary, options);
  }

  bool has_problems() const override { return false; }
  Answer answer_classically(std::size_t task, const ClassicalPlanner& /*planner*/,
                            const EvaluateOptions& /*options*/) const override {
    Answer answer;
    answer.identifier = identifiers_.at(task);
    answer.error = "there is no PDDL problem for a classical planner";
    return answer;
  }

  Score score(const std::vector<Response>& responses) const override {
    return module_.score(source_.tasks, source_.scenes, responses);
  }

 private:
  static std::string scenes_beside(const std::string& tasks) {
    return std::filesystem::path(tasks).parent_path().string();
  }

  const Module& module_;
  TaskSource source_;
  std::vector<PromptEntry> prompts_;
  std::vector<std::string> identifiers_;
};

}  // namespace

std::string missing_file(const Module& module, const std::string& data) {
  std::error_code ignored;
  for (const std::string_view file : module.files) {
    if (!std::filesystem::is_regular_file(join(data, file), ignored)) return join(data, file);
  }
  return {};
}

std::unique_ptr<ReproduceTasks> open_tasks(const Module& module, const std::string& data) {
  if (module.ask != nullptr) return std::make_unique<AskedTasks>(module, data);
  return std::make_unique<PromptTasks>(module, data);
}

}  // namespace metactrl::benchmarks
