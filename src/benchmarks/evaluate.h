// Answers to benchmark prompts.
//
//     Answer answer = answer_prompt(*find_module("vh-as"), {"some_id", prompt}, model.get(), vocabulary, options);
//
// A prompt is read, the problem grounded with as few assumptions as will do, and planned for (metactrl/planner.h).
// Anything that goes wrong with one prompt is part of its answer, not an exception: the other prompts go on.
//
// Thread safety: calls are independent of each other. A llama.cpp model works on one of them at a time.
#ifndef METACTRL_SRC_BENCHMARKS_EVALUATE_H_
#define METACTRL_SRC_BENCHMARKS_EVALUATE_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/module.h"
#include "benchmarks/plan_quality.h"
#include "benchmarks/prompt_knowledge.h"
#include "metactrl/planner.h"
#include "support/enum_names.h"

namespace metactrl::benchmarks {

// What the model reads: the benchmark's prompt, or the same facts in fewer words (benchmarks/compact_prompt.h).
enum class PromptStyle { kBenchmark, kCompact };
constexpr auto enum_names(PromptStyle) {
  return internal::names<PromptStyle>({{PromptStyle::kBenchmark, "benchmark"}, {PromptStyle::kCompact, "compact"}});
}
inline const char* to_string(PromptStyle value) { return internal::name_of(value); }

// Up to 40 actions, however few are needed.
inline PlanOptions as_in_paper() {
  PlanOptions options;
  options.lookahead = LookaheadOptions{};
  return options;
}

struct EvaluateOptions {
  Rules rules = Rules::kEnvironment;
  PromptStyle prompt = PromptStyle::kBenchmark;
  PlanOptions plan = as_in_paper();
  std::string system;             // the system's part of the prompt; not used by the compact style
  bool count_conditions = false;  // fill Answer::conditions
  // Asked before every call of the model, and every few milliseconds while a lookahead is computed; true ends the work.
  // `plan.time_limit` is for a whole answer.
  Stop cancelled;
};

// Seconds.
struct AnswerTimes {
  double read = 0;       // prompt to PDDL
  double ground = 0;     // PDDL to task, all attempts
  double lookahead = 0;  // all attempts
  double automaton = 0;
  double prompt = 0;  // the model reads the prompt
  double decode = 0;
  double compile() const { return read + ground + lookahead + automaton; }
};

struct Answer {
  std::string identifier;
  std::string output;  // what goes into the answer file; empty when there is no plan
  std::string title;
  // Empty if all went well; else what failed: the prompt could not be read, the model could not go on.
  std::string error;
  // False: the model's context is too short for the prompt and a plan, so it was not asked. The outcome is "no room",
  // the reason says how much is lacking.
  bool fits = true;
  std::string outcome;    // of the planner: "plan", "infeasible", ...; empty after an error
  std::string guarantee;  // "full", "goals dropped", "syntax only", "none"
  std::string reason;
  std::vector<std::string> steps;  // "(walk soap_1002)"
  std::vector<std::string> goals_dropped;
  std::vector<std::string> drop_reasons;   // one for each of these; empty where no reason is known
  std::vector<std::string> goals_written;  // by the model, where nobody told it the goal
  std::vector<std::string> assumptions;    // which the plan relies on
  std::vector<std::string> notes;
  std::string tier;     // which kind of lookahead certified it
  std::string weights;  // where its weights come from (Lookahead::weight_rule)
  std::size_t horizon = 0;
  std::optional<std::size_t> shortest;  // actions of a shortest plan, where it is known
  std::size_t ground_actions = 0;
  std::size_t prompt_tokens = 0;
  std::size_t tokens = 0;
  std::size_t forced_tokens = 0;
  std::size_t model_calls = 0;
  // Of a model that thought first; never part of the output.
  std::optional<Thought> thought;
  // Where a model chose: the sum of log p(token | what stands before it) over the tokens that had an alternative; with
  // beam and smc over all tokens.
  std::optional<double> log_probability;
  std::optional<PlanQuality> quality;  // of a plan that reaches what was pursued
  DeclaredConditions conditions;       // of its steps, by the paper's rules
  AnswerTimes times;
  bool cancelled = false;
};

// Over all plans, by the recursion (Lookahead::weights_exact), and not by one plan for each choice.
inline bool has_exact_weights(const Answer& answer) { return answer.weights.ends_with(", exact"); }

// Module::read; by the paper's rules, which do not know of hidden facts, without assumptions.
PromptTask read_prompt(const Module& module, std::string_view prompt, Rules rules);

// What the model reads. Throws InputError when a prompt is not of the form that the compact style needs.
Prompt model_prompt(const Module& module, const PromptEntry& entry, const EvaluateOptions& options);

// Tells the model what all these prompts begin with (LanguageModel::expect_prefix), so that it reads that once.
void expect_common_prefix(LanguageModel& model, const Module& module, const std::vector<PromptEntry>& entries,
                          const EvaluateOptions& options);

// Answers what a prompt file or a task asks (PromptEntry::question).
Answer answer_prompt(const Module& module, const PromptEntry& entry, LanguageModel* model,
                     const std::shared_ptr<const Vocabulary>& vocabulary, const EvaluateOptions& options);

// The part that all answers share: grounds `problem` for the domain, plans, and fills the answer but for identifier and
// title. The model reads `prompt`. Times are added to those that are there. Throws InputError and ModelError.
PlanResult answer_problem(const PromptTask& problem, std::string_view domain, const PlanFormat& format,
                          const Prompt& prompt, LanguageModel* model,
                          const std::shared_ptr<const Vocabulary>& vocabulary, const EvaluateOptions& options,
                          Answer& answer);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_EVALUATE_H_
