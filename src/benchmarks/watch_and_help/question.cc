// One stage or two: the goal is written, then the plan.
//
// Goals are written as they are for any domain (goals/stage.h), but in the benchmark's words, which speak of classes, not
// of things. Those are the actions of a domain of their own, goal.pddl, whose preconditions say what the apartment has
// left to grant (goal_problem.cc): what may be written behind other goals is what is legal behind them, and needs no proof
// one by one.
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
#include "goals/stage.h"
#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "support/stopwatch.h"

namespace metactrl::benchmarks {
namespace watch_and_help {

namespace {

constexpr const char* kPlanFormat = "virtualhome-actions";

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
    Answer answer;
    answer.times.read = watch.seconds();
    const internal::Stopwatch grounding;
    LoadOptions loading;
    loading.stop = options.cancelled;
    const Task lines = load_pddl_text(shipped_file("watch-and-help/goal.pddl"), problem.problem, loading);
    answer.times.ground = grounding.seconds();
    const PlanSpelling spelling(PlanFormat::parse(shipped_file("watch-and-help/goal.format"), "goal.format"), lines);
    const internal::Stopwatch writing;
    goals::Stage stage(*model, vocabulary, {options.plan.think, options.plan.generate}, options.cancelled);
    const bool free = options.plan.guidance == Guidance::kNone;
    const goals::Stage::Result result =
        free ? stage.freely(prompt) : stage.held(prompt, spelling, {}, line_by_line(lines, options.plan.guidance));
    answer.times.decode = writing.seconds();
    answer.prompt_tokens = result.prompt_tokens;
    answer.model_calls = result.model_calls;
    answer.thought = result.thought;
    answer.guarantee = to_string(Guarantee::kNone);
    answer.outcome = to_string(free || !result.found.empty() ? PlanOutcome::kPlan : PlanOutcome::kInfeasible);
    if (free) {
      answer.reason = "guidance none: the model wrote what it liked";
      answer.output = result.free.text;
      answer.tokens = result.free.tokens.size();
    } else if (result.found.empty()) {
      answer.reason = "nothing can be asked for in this apartment";
    } else {
      const goals::Writer::Hypothesis& goal = result.found.front();
      answer.output = spelling.render(goal.items);
      answer.tokens = goal.tokens;
      answer.forced_tokens = goal.tokens - goal.choices;
    }
    return answer;
  }

  // The likeliest goal, line by line; a line that is written twice asks for two things. Whatever the guidance, the model
  // alone says what is wanted.
  static goals::Writer::Options line_by_line(const Task& lines, Guidance guidance) {
    goals::Writer::Options out;
    out.width = 1;
    out.max_items = kMostGoals;
    out.repeats = true;
    if (guidance == Guidance::kSyntax) return out;
    out.offer = [&lines](const goals::Conjunction& before) {
      metactrl::State state = lines.initial_state();
      for (const ActionId line : before) state = lines.apply(state, line).value();
      std::vector<ActionId> legal = lines.applicable_actions(state);
      std::sort(legal.begin(), legal.end());
      return legal;
    };
    return out;
  }

  // Both stages in one answer.
  static void add(const Answer& written, const std::vector<GoalLine>& goal, Answer& answer) {
    for (const GoalLine& line : goal) answer.goals_written.push_back(to_text(line));
    answer.output = written.output + "\n" + answer.output;
    answer.tokens += written.tokens;
    answer.forced_tokens += written.forced_tokens;
    answer.model_calls += written.model_calls;
    answer.cancelled = answer.cancelled || written.cancelled;
    if (!answer.thought) answer.thought = written.thought;
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
