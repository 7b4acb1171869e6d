#include "benchmarks/module.h"

#include <stdexcept>

#include "benchmarks/behavior/action_scorer.h"
#include "benchmarks/behavior/prompt_reader.h"
#include "benchmarks/behavior/subgoal_scorer.h"
#include "benchmarks/shipped_files.h"
#include "benchmarks/virtualhome/action_scorer.h"
#include "benchmarks/virtualhome/prompt_reader.h"
#include "benchmarks/virtualhome/subgoal_scorer.h"
#include "benchmarks/watch_and_help/question.h"
#include "benchmarks/watch_and_help/scorer.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace {

const ShippedFile* find_shipped_file(std::string_view name) {
  for (const ShippedFile& file : shipped_files()) {
    if (file.name == name) return &file;
  }
  return nullptr;
}

}  // namespace

std::string_view shipped_file(std::string_view name) {
  if (const ShippedFile* file = find_shipped_file(name)) return file->text;
  throw std::logic_error(str_cat("the file domains/", name, " is not part of the program"));
}

// A further benchmark is a further row.
const std::vector<Module>& modules() {
  static const std::vector<Module> kModules = {
      {"vh-as",
       "VirtualHome, action sequencing",
       "virtualhome-actions",
       "virtualhome-actions",
       false,
       {"eai_vh/as_prompts.json", "eai_vh/as.jsonl"},
       virtualhome::read_actions_prompt,
       score_virtualhome_actions},
      {"vh-sd",
       "VirtualHome, subgoal decomposition",
       "virtualhome-subgoals",
       "virtualhome-subgoals",
       true,
       {"eai_vh/sd_prompts.json", "eai_vh/sd.jsonl", "eai_vh/sd_system.json"},
       [](std::string_view prompt, Rules) { return virtualhome::read_subgoals_prompt(prompt); },
       score_virtualhome_subgoals},
      {"beh-as",
       "BEHAVIOR, action sequencing",
       "behavior-actions",
       "behavior-actions",
       false,
       {"eai_beh/as_prompts.json", "eai_beh/as_tasks.jsonl"},
       behavior::read_behavior_actions,
       [](const std::string& tasks, const std::string&, const std::vector<Response>& responses) {
         return score_behavior_actions(tasks, responses);
       }},
      // Start states and goals stand in the tasks of action sequencing.
      {"beh-sd",
       "BEHAVIOR, subgoal decomposition",
       "behavior-subgoals",
       "behavior-subgoals",
       true,
       {"eai_beh/sd_prompts.json", "eai_beh/sd_tasks.jsonl", "eai_beh/sd_system.json", "eai_beh/as_tasks.jsonl"},
       behavior::read_behavior_subgoals,
       [](const std::string& tasks, const std::string& folder, const std::vector<Response>& responses) {
         return score_behavior_subgoals(tasks, folder + "/as_tasks.jsonl", responses);
       }},
      {"wah",
       "Watch-And-Help",
       "watch-and-help",
       "virtualhome-actions",
       false,
       {"wah_nl/tasks.jsonl"},
       nullptr,
       score_watch_and_help,
       ask_watch_and_help},
  };
  return kModules;
}

std::vector<std::string> module_names() {
  std::vector<std::string> names;
  for (const Module& module : modules()) names.emplace_back(module.name);
  return names;
}

const Module* find_module(std::string_view name) {
  for (const Module& module : modules()) {
    if (module.name == name) return &module;
  }
  return nullptr;
}

std::string_view domain_text(const Module& module, Rules rules) {
  const std::string name = str_cat(module.domain, "/", to_string(rules), ".pddl");
  if (rules != Rules::kEnvironment && find_shipped_file(name) == nullptr) {
    return domain_text(module, rules == Rules::kLiteral ? Rules::kPaper : Rules::kEnvironment);
  }
  return shipped_file(name);
}

}  // namespace metactrl::benchmarks
