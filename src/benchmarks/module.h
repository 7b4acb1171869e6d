// The benchmark modules that the program knows, each a row of functions.
#ifndef METACTRL_SRC_BENCHMARKS_MODULE_H_
#define METACTRL_SRC_BENCHMARKS_MODULE_H_

#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/prompt_task.h"
#include "benchmarks/question.h"
#include "benchmarks/score.h"
#include "support/enum_names.h"

namespace metactrl::benchmarks {

struct Module {
  std::string_view name;         // "vh-as"
  std::string_view title;        // "VirtualHome, action sequencing"
  std::string_view domain = {};  // folder below domains/
  std::string_view format = {};  // a built-in plan format
  bool system_prompt = false;    // a part of the prompt that is the same for all tasks stands in a file of its own
  // Of a folder with all benchmarks' data; all of them are needed. With prompt files: prompts, tasks, the system prompt,
  // if any; else the tasks.
  std::vector<std::string_view> files = {};
  // Null for a benchmark without prompt files.
  PromptTask (*read)(std::string_view prompt, Rules rules) = nullptr;
  // `folder` holds what the task file refers to.
  Score (*score)(const std::string& tasks, const std::string& folder, const std::vector<Response>& responses) = nullptr;
  // Null for a benchmark with prompt files.
  std::vector<PromptEntry> (*ask)(const TaskSource& source) = nullptr;
};

constexpr auto enum_names(Rules) {
  return internal::names<Rules>(
      {{Rules::kEnvironment, "environment"}, {Rules::kPaper, "paper"}, {Rules::kLiteral, "literal"}});
}
inline const char* to_string(Rules value) { return internal::name_of(value); }

const std::vector<Module>& modules();
std::vector<std::string> module_names();
// Null if there is none.
const Module* find_module(std::string_view name);

// The PDDL domain that states these rules. Where the appendix lists all that the paper must have run, literal is paper;
// where that was all the environment asks for, paper is environment.
std::string_view domain_text(const Module& module, Rules rules);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_MODULE_H_
