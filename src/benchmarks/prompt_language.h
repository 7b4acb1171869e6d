// Whether an answer keeps to its prompt: whose fault it is that an evaluator rejects it.
//
//     const bool benchmark_side = keeps_to_prompt(*find_module("vh-as"), prompt, answer.output);
//
// The paper calls an error the benchmark's where the answer complies "with the prompt's stated grammar and vocabulary". That
// is judged by the answer's text, whoever wrote it and however: it is read as a plan over every action and condition that
// either of the module's rule sets knows, with every object that the prompt lists, whether or not it can be carried out. So
// an answer that was written under a constraint can be found to be the model's fault, which would be a mistake of ours.
//
// Names that no answer of ours can spell count as the model's: of subgoals, those that the evaluator cannot read
// (docs/benchmarks.md). The paper counts one such as the benchmark's.
// Cost: the prompt is read and grounded, some tens of milliseconds. Thread safety: pure.
#ifndef METACTRL_SRC_BENCHMARKS_PROMPT_LANGUAGE_H_
#define METACTRL_SRC_BENCHMARKS_PROMPT_LANGUAGE_H_

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "benchmarks/module.h"
#include "benchmarks/score.h"

namespace metactrl::benchmarks {

// False for modules without prompts of their own, and for a prompt that cannot be read.
bool keeps_to_prompt(const Module& module, std::string_view prompt, std::string_view output);

// Of the answers with a format error, those that keep to their prompts. Both maps are by identifier.
std::set<std::string> rejected_by_benchmark(const Module& module, const Score& score,
                                            const std::map<std::string, std::string>& prompts,
                                            const std::map<std::string, std::string>& outputs);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_PROMPT_LANGUAGE_H_
