#include "evaluation/options.h"

#include <filesystem>
#include <optional>
#include <vector>

#include "benchmarks/files.h"
#include "cli/options.h"
#include "support/str_cat.h"

namespace metactrl::evaluation {

CLI::Option* add_module_option(CLI::App& app, const std::string& option, std::string& module, const std::string& help) {
  std::vector<std::string> names;
  for (const benchmarks::Module& one : benchmarks::modules()) names.emplace_back(one.name);
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : "|") + name;
  return app.add_option(option, module, help)->type_name(list)->check(cli::one_of(names));
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
      internal::str_cat("the prompts of ", module.name,
                        " have a part for the system in a file of its own; name it with --system, or put it beside "
                        "the prompts as sd_system.json"));
}

}  // namespace metactrl::evaluation
