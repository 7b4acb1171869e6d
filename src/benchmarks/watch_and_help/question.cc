// One or two plans: of the domain in which goals are written, and of the one in which they are reached.
#include "benchmarks/watch_and_help/question.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "benchmarks/evaluate.h"
#include "benchmarks/shipped_files.h"
#include "benchmarks/watch_and_help/goal_problem.h"
#include "benchmarks/watch_and_help/listing.h"
#include "benchmarks/watch_and_help/plan_problem.h"
#include "benchmarks/watch_and_help/prompt.h"
#include "metactrl/error.h"
#include "support/stopwatch.h"

namespace metactrl::benchmarks {
namespace watch_and_help {

namespace {

constexpr const char* kPlanFormat = "virtualhome-actions";

bool guides_by_weights(Guidance guidance) { return guidance == Guidance::kUniform || guidance == Guidance::kTrained; }

class HelpQuestion : public Question {
 public:
  HelpQuestion(HelpTask task, GoalSource goals, std::string instruction)
      : task_(std::move(task)), goals_(goals), instruction_(std::move(instruction)) {}

  void answer(LanguageModel* model, const std::shared_ptr<const Vocabulary>& vocabulary, const EvaluateOptions& options,
              Answer& answer) const override {
    answer.title = task_.family;
    if (goals_ == GoalSource::kOracle) {
      plan_for(task_.goal, model, vocabulary, options, answer);
      return;
    }
    const Answer written = write_goal(model, vocabulary, options);
    std::string_view rest;
    const std::optional<std::vector<GoalLine>> goal = read_goal(written.output, rest);
    if (!goal || goal->empty()) {
      std::string identifier = std::move(answer.identifier);
      answer = written;
      answer.identifier = std::move(identifier);
      answer.title = task_.family;
      answer.notes.emplace_back("no plan was asked for: the model wrote no goal that can be read");
      return;
    }
    plan_for(*goal, model, vocabulary, options, answer);
    add(written, *goal, answer);
  }

  // What the model reads first.
  std::string prompt() const {
    if (goals_ == GoalSource::kInstruction) return goal_prompt(Inventory(*task_.scene), instruction_);
    return plan_prompt(*task_.scene, list_things(*task_.scene, task_.goal), task_.goal, instruction_);
  }

 private:
  void plan_for(const std::vector<GoalLine>& goal, LanguageModel* model,
                const std::shared_ptr<const Vocabulary>& vocabulary, const EvaluateOptions& options,
                Answer& answer) const {
    const internal::Stopwatch watch;
    const Listing listing = list_things(*task_.scene, goal);
    const PromptTask problem = plan_problem(*task_.scene, listing, goal);
    const Prompt prompt{std::string(plan_system_prompt()), plan_prompt(*task_.scene, listing, goal, instruction_), ""};
    answer.times.read += watch.seconds();
    answer_problem(problem, domain_text(*find_module("wah"), options.rules), PlanFormat::builtin(kPlanFormat), prompt,
                   model, vocabulary, options, answer);
  }

  Answer write_goal(LanguageModel* model, const std::shared_ptr<const Vocabulary>& vocabulary,
                    const EvaluateOptions& options) const {
    if (options.plan.guidance == Guidance::kSearch) {
      throw InputError("", "guidance search has no model that could read an instruction",
                       "use another guidance, or the task's own goal (--goals oracle)");
    }
    const internal::Stopwatch watch;
    const Inventory inventory(*task_.scene);
    const PromptTask problem = goal_problem(inventory);
    const Prompt prompt{std::string(goal_system_prompt()), goal_prompt(inventory, instruction_), ""};
    EvaluateOptions writing = options;
    // Weights favour what is sure to end well, and one line is surest of all; but what is wanted is for the model to
    // say.
    if (guides_by_weights(writing.plan.guidance)) writing.plan.guidance = Guidance::kMask;
    writing.plan.lookahead.horizon = kMostGoals;
    writing.plan.lookahead.fixed_horizon = true;
    // Every state but the first is a goal state; there is nothing to enumerate.
    writing.plan.lookahead.exact.states = 1;
    Answer answer;
    answer.times.read = watch.seconds();
    answer_problem(problem, shipped_file("watch-and-help/goal.pddl"),
                   PlanFormat::parse(shipped_file("watch-and-help/goal.format"), "goal.format"), prompt, model,
                   vocabulary, writing, answer);
    return answer;
  }

  // Both stages in one answer.
  static void add(const Answer& written, const std::vector<GoalLine>& goal, Answer& answer) {
    for (const GoalLine& line : goal) answer.goals_written.push_back(to_text(line));
    answer.output = written.output + "\n" + answer.output;
    answer.tokens += written.tokens;
    answer.forced_tokens += written.forced_tokens;
    answer.model_calls += written.model_calls;
    answer.cancelled = answer.cancelled || written.cancelled;
    if (answer.log_probability && written.log_probability) *answer.log_probability += *written.log_probability;
    answer.times.read += written.times.read;
    answer.times.ground += written.times.ground;
    answer.times.lookahead += written.times.lookahead;
    answer.times.automaton += written.times.automaton;
    answer.times.prompt += written.times.prompt;
    answer.times.decode += written.times.decode;
  }

  HelpTask task_;
  GoalSource goals_;
  std::string instruction_;
};

}  // namespace

PromptEntry ask(HelpTask task, GoalSource goals, std::size_t instruction) {
  const std::size_t chosen = std::min(std::max<std::size_t>(instruction, 1), task.instructions.size()) - 1;
  std::string text = task.instructions[chosen];
  std::string identifier = task.id;
  auto question = std::make_shared<const HelpQuestion>(std::move(task), goals, std::move(text));
  std::string prompt = question->prompt();
  return {std::move(identifier), std::move(prompt), std::move(question)};
}

}  // namespace watch_and_help

std::vector<PromptEntry> ask_watch_and_help(const TaskSource& source) {
  std::vector<PromptEntry> entries;
  for (watch_and_help::HelpTask& task : watch_and_help::read_tasks(source.tasks, source.scenes)) {
    entries.push_back(watch_and_help::ask(std::move(task), source.goals, source.instruction));
  }
  return entries;
}

}  // namespace metactrl::benchmarks
