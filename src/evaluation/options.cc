#include "evaluation/options.h"

#include <ctime>
#include <filesystem>
#include <optional>
#include <vector>

#include "benchmarks/files.h"
#include "cli/load_decoding.h"
#include "cli/options.h"
#include "evaluation/commands.h"
#include "support/words.h"

namespace metactrl::evaluation {

cli::Additions additions() {
  return {{add_eval, add_score, add_reproduce, add_import}, benchmark_source(), inspect_with_modules};
}

CLI::Option* add_module_option(CLI::App& app, const std::string& option, std::string& module, const std::string& help) {
  const std::vector<std::string> names = benchmarks::module_names();
  return app.add_option(option, module, help)->type_name(join(names, "|"))->check(cli::one_of(names));
}

CLI::Option* add_file(CLI::App& app, const std::string& option, std::string& file, const std::string& help) {
  return app.add_option(option, file, help)->type_name("FILE");
}

CLI::Option* add_folder(CLI::App& app, const std::string& option, std::string& folder, const std::string& help) {
  return app.add_option(option, folder, help)->type_name("DIR");
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[16];
  return {text, std::strftime(text, sizeof(text), "%Y-%m-%d", &parts)};
}

void set_benchmark_budgets(const cli::BudgetOptions& options, PlanOptions& plan) {
  constexpr std::size_t kStates = 500'000;
  constexpr std::size_t kBytes = std::size_t{1} << 30;  // for states, and as much for their weights
  cli::set_budgets(options, plan);
  if (options.states_option->count() == 0) plan.lookahead.exact.states = kStates;
  if (options.memory_option->count() == 0) plan.lookahead.exact.bytes = kBytes;
  plan.lookahead.weight_bytes = plan.lookahead.exact.bytes;
}

std::string scenes_folder(const std::string& scenes, const std::string& tasks_file) {
  if (!scenes.empty()) return scenes;
  const std::string folder = std::filesystem::path(tasks_file).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string system_prompt(const benchmarks::Module& module, const SystemPromptFiles& files,
                          benchmarks::PromptStyle style, bool needed) {
  if (!files.named.empty()) return benchmarks::read_system_prompt(files.named);
  if (!module.system_prompt || style == benchmarks::PromptStyle::kCompact) return "";
  if (const std::optional<std::string> found = benchmarks::system_prompt_beside(files.prompts)) return *found;
  if (!needed) return "";
  throw cli::UsageError(
      str_cat("the prompts of ", module.name,
              " have a part for the system in a file of its own; name it with --system, or put it beside "
              "the prompts as sd_system.json"));
}

}  // namespace metactrl::evaluation
