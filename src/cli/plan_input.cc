#include "cli/plan_input.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "cli/interrupt.h"
#include "cli/load_decoding.h"
#include "lm/backends.h"
#include "support/files.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

// --- options -------------------------------------------------------------------------------------------------------

void add_format_option(CLI::App& app, std::string& format) {
  app.add_option("--format,-f", format, "how the plan is written: a built-in format's name, or a file")
      ->type_name("FORMAT")
      ->capture_default_str();
}

void add_instruction_option(CLI::App& app, std::string& instruction) {
  app.add_option(
         "--instruction,-i", instruction,
         "what to do, in words: the model reads it before the task, and writes the goal where the problem has none")
      ->type_name("TEXT");
}

void add_plan_options(CLI::App& app, PlanArguments& arguments, std::initializer_list<OutputForm> forms) {
  add_task_options(app, arguments.files);
  add_instruction_option(app, arguments.instruction);
  add_goal_options(app, arguments.goal);
  app.add_option("--prompt-file", arguments.prompt_file,
                 "file with a prompt of your own, sent through the model's chat template")
      ->type_name("FILE");
  app.add_option("--raw-prompt-file", arguments.raw_prompt_file, "file with a prompt of your own, sent as it is")
      ->type_name("FILE");
  add_format_option(app, arguments.format);
  add_decoding_options(app, arguments);
  add_output_options(app, arguments.output, forms);
  app.add_option("--trace", arguments.trace, "file for a record of every decision, as JSON lines")->type_name("FILE");
}

// --- loading -------------------------------------------------------------------------------------------------------

PlanFormat load_format(const std::string& name) {
  const std::vector<std::string> builtins = PlanFormat::builtin_names();
  if (std::find(builtins.begin(), builtins.end(), name) != builtins.end()) return PlanFormat::builtin(name);
  std::error_code ignored;
  if (name.find('/') != std::string::npos || name.find('.') != std::string::npos ||
      std::filesystem::exists(name, ignored)) {
    return PlanFormat::load(name);
  }
  return PlanFormat::builtin(name);  // which throws, and says what there is
}

namespace {

void check_combinations(const PlanArguments& arguments) {
  check_task_options(arguments.files);
  const bool own_prompt = !arguments.prompt_file.empty() || !arguments.raw_prompt_file.empty();
  if (!arguments.prompt_file.empty() && !arguments.raw_prompt_file.empty()) {
    throw UsageError("--prompt-file and --raw-prompt-file cannot be combined");
  }
  if (own_prompt && !arguments.instruction.empty()) {
    throw UsageError("--instruction is for the prompt that metactrl writes; put it into your own");
  }
}

// A model of plans that was trained on another domain is no help where names differ.
void warn_of_unknown_actions(const PlanOptions& options, const Task& task) {
  if (!options.lookahead.hmm) return;
  const Alphabet& alphabet = options.lookahead.hmm->alphabet();
  std::size_t unknown = 0;
  for (std::uint32_t i = 0; i < task.num_action_names(); ++i) {
    if (alphabet.action(task.action_name(ActionNameId{i})) == alphabet.unknown()) ++unknown;
  }
  if (unknown == 0 || unknown == task.num_action_names()) return;  // none at all is refused elsewhere
  note(str_cat("metactrl: warning: the model of plans knows ", task.num_action_names() - unknown, " of the task's ",
               task.num_action_names(), " action names; the others are all the same to it"));
}

}  // namespace

PlanInput load_plan_input(const PlanArguments& arguments) {
  check_combinations(arguments);
  catch_interrupts();
  PlanFormat format = load_format(arguments.format);
  PlanOptions options = plan_options(arguments);
  options.instruction = arguments.instruction;
  options.simplify = arguments.simplify;
  if (!arguments.prompt_file.empty()) options.prompt = Prompt{"", internal::read_file(arguments.prompt_file), ""};
  if (!arguments.raw_prompt_file.empty()) {
    options.prompt = Prompt{"", "", internal::read_file(arguments.raw_prompt_file)};
    if (options.prompt->raw.empty()) throw InputError(arguments.raw_prompt_file, "is empty", "write a prompt into it");
  }
  BudgetOptions budget = arguments.budget;
  const bool model_may = arguments.guidance != Guidance::kSearch && arguments.runtime.gpu_layers != 0U;
  budget.uses_gpu =
      arguments.lookahead_device == Device::kCuda || (model_may && budget.memory_option->count() > 0 && lm::has_gpu());
  const TimeLimit time(budget.time_limit());
  limit_memory(budget);
  set_budgets(budget, options);
  GoalStage stage(arguments.files, arguments.goal, arguments.instruction, arguments.output);
  std::optional<ChosenGoal> goal;
  LoadedModel model;
  TaskLoader loader;
  if (stage.needed()) {
    if (stage.needs_model()) model = load_model_for(arguments);
    goal = stage.choose(model, options, time);
    goal->written.take_from(options);
    loader = [&](const LoadOptions& loading) { return stage.problem().task(goal->pddl, loading); };
  }
  LoadedTask task = load_task(arguments.files, budget, time, loader);
  if (!stage.needed() || !stage.needs_model()) model = load_model_for(arguments);
  options.time_limit = task.time.left();
  expect_vocabulary(options, model);
  warn_of_unknown_actions(options, task.task);
  return {std::move(task),    std::move(format), std::move(model),
          std::move(options), std::move(goal),   arguments.schedule};
}

// --- running -------------------------------------------------------------------------------------------------------

PlanResult run_plan(const PlanInput& input, const Observer& observer) {
  std::optional<ProgressLine> progress;
  Observer outer = observer;
  outer.cancelled = [&observer] { return interrupted() || (observer.cancelled && observer.cancelled()); };
  outer.phase = [&](Observer::Phase phase) {
    progress.reset();
    if (phase == Observer::Phase::kCompiling) progress.emplace("computing what can still succeed");
    if (phase == Observer::Phase::kReadingPrompt) progress.emplace("the model reads the prompt");
    set_stoppable(phase == Observer::Phase::kDecoding);
    if (observer.phase) observer.phase(phase);
  };
  try {
    return plan(input.task.task, input.format, input.model.model.get(), input.model.vocabulary, input.options, outer);
  } catch (const ModelError& error) {
    std::string hint;
    if (input.options.generate.mode == DecodeMode::kSmc) hint = "; fewer --samples or a larger --context may help";
    if (input.options.generate.mode == DecodeMode::kBeam) hint = "; a smaller --beam or a larger --context may help";
    throw ResourceError(kOutOfMemory, str_cat("the model cannot go on: ", error.what(), hint));
  }
}

int exit_code(const PlanResult& result) {
  switch (result.outcome) {
    case PlanOutcome::kInfeasible:
      return kInfeasible;
    case PlanOutcome::kUndecided:
      return kUndecided;
    case PlanOutcome::kCancelled:
      return kInterrupted;
    case PlanOutcome::kPlan:
      break;
  }
  return result.valid() || result.guarantee == Guarantee::kGoalsDropped ? kDone : kPlanInvalid;
}

}  // namespace metactrl::cli
