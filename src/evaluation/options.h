// What the commands share whose input is a benchmark's files.
#ifndef METACTRL_SRC_EVALUATION_OPTIONS_H_
#define METACTRL_SRC_EVALUATION_OPTIONS_H_

#include <string>

#include "benchmarks/evaluate.h"
#include "benchmarks/module.h"
#include "cli/common.h"

namespace metactrl::evaluation {

// An option whose values are the names of the benchmarks.
CLI::Option* add_module_option(CLI::App& app, const std::string& option, std::string& module, const std::string& help);

// Options that name a file, and a folder.
CLI::Option* add_file(CLI::App& app, const std::string& option, std::string& file, const std::string& help);
CLI::Option* add_folder(CLI::App& app, const std::string& option, std::string& folder, const std::string& help);

// The budgets as the options have them. States are enumerated as far as memory of some gigabytes goes, whatever a search
// may cost, unless an option says otherwise: weights are then those of the recursion for nearly all tasks.
void set_benchmark_budgets(const cli::BudgetOptions& options, PlanOptions& plan);

// "2026-11-16", in universal time.
std::string today();

// The folder that was named, or that of the tasks.
std::string scenes_folder(const std::string& scenes, const std::string& tasks_file);

struct SystemPromptFiles {
  std::string named;    // empty: look beside the prompts
  std::string prompts;  // sd_system.json or system_setup.json may be beside this file
};
// The system's part of a benchmark's prompts; empty where they have none. Throws UsageError when it is `needed` and not
// there.
std::string system_prompt(const benchmarks::Module& module, const SystemPromptFiles& files,
                          benchmarks::PromptStyle style, bool needed = true);

}  // namespace metactrl::evaluation

#endif  // METACTRL_SRC_EVALUATION_OPTIONS_H_
