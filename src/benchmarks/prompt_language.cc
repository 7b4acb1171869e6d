// The prompt's problem is grounded for the module's domain without preconditions (pddl/well_formed.h), and the answer
// parsed as a plan of it. The environment's domain lacks actions that its evaluator rejects, though prompts list them, and
// the paper's some that it did not use. An answer that either reads is one that the prompt allows. A domain whose actions
// have no types has nothing to read by, and says so with an error.
#include "benchmarks/prompt_language.h"

#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "metactrl/format.h"
#include "pddl/well_formed.h"

namespace metactrl::benchmarks {

bool keeps_to_prompt(const Module& module, std::string_view prompt, std::string_view output) {
  if (module.read == nullptr) return false;
  for (const Rules rules : {Rules::kLiteral, Rules::kEnvironment}) {
    try {
      const PromptTask read = module.read(prompt, rules);
      const Task task = load_pddl_text(pddl::well_formed_domain(domain_text(module, rules)), read.problem);
      const PlanSpelling spelling(PlanFormat::builtin(std::string(module.format)), task);
      if (spelling.parse(output).complete) return true;
    } catch (const InputError&) {
      continue;
    }
  }
  return false;
}

std::set<std::string> rejected_by_benchmark(const Module& module, const Score& score,
                                            const std::map<std::string, std::string>& prompts,
                                            const std::map<std::string, std::string>& outputs) {
  std::set<std::string> out;
  for (const TaskScore& task : score.tasks) {
    if (!task.scored || format_error(task) == FormatError::kNone) continue;
    const auto prompt = prompts.find(task.identifier);
    const auto output = outputs.find(task.identifier);
    if (prompt == prompts.end() || output == outputs.end()) continue;
    if (keeps_to_prompt(module, prompt->second, output->second)) out.insert(task.identifier);
  }
  return out;
}

}  // namespace metactrl::benchmarks
