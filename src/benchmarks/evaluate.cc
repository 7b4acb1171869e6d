// From a prompt to an answer: the prompt is read, grounded (ground_prompt.h) and planned for.
#include "benchmarks/evaluate.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "benchmarks/compact_prompt.h"
#include "benchmarks/ground_prompt.h"
#include "benchmarks/shipped_files.h"
#include "metactrl/error.h"
#include "support/list_some.h"
#include "support/stopwatch.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace {

// Names the goals that were dropped, or that stand in the way of any plan, as the benchmark does.
void take_goals(const PlanResult& result, const GroundedPrompt& grounded, const PromptTask& problem, Answer& answer) {
  const Task& task = grounded.task;
  const std::vector<PromptGoal>& names = problem.goals;
  const bool all_dropped = result.goals_dropped.size() == task.num_goals();
  std::vector<std::string> sentences;
  for (const GoalId goal : result.goals_dropped) {
    const auto i = static_cast<std::size_t>(goal);
    if (i >= grounded.num_goals) continue;  // a part of a goal that is dropped itself
    const bool named = i < names.size();
    const std::string text = named ? names[i].name : task.goal_text(goal);
    if (named &&
        std::find(answer.goals_dropped.begin(), answer.goals_dropped.end(), text) != answer.goals_dropped.end())
      continue;  // one goal of the benchmark can be several of the problem
    std::string why = named ? names[i].why : "";
    if (named && why.empty()) {
      why = all_dropped ? "no plan was found that reaches it"
                        : "no plan was found that reaches it together with the goals that are kept";
    }
    answer.goals_dropped.push_back(text);
    answer.drop_reasons.push_back(why);
    sentences.push_back(str_cat(text, " (", why, ")"));
  }
  if (names.empty()) {
    if (!answer.goals_dropped.empty() && result.outcome == PlanOutcome::kPlan &&
        task.num_goals() > grounded.num_goals) {
      answer.reason = str_cat(answer.goals_dropped.size(), " of ", grounded.num_goals,
                              " goals dropped: ", internal::list_some(answer.goals_dropped),
                              "; every step is legal and every other goal holds at the end");
    }
    return;
  }
  if (!sentences.empty() && result.outcome == PlanOutcome::kPlan) {
    answer.reason = str_cat("goals dropped: ", internal::list_some(sentences),
                            "; every step is legal and every other goal holds at the end");
  }
  if (result.outcome != PlanOutcome::kInfeasible) return;
  for (const PromptGoal& goal : names) {
    if (!goal.why.empty()) sentences.push_back(str_cat(goal.name, " (", goal.why, ")"));
  }
  if (!sentences.empty()) answer.reason = str_cat("cannot be reached: ", internal::list_some(sentences));
}

void take(const PlanResult& result, const GroundedPrompt& grounded, const PromptTask& problem, Answer& answer) {
  answer.cancelled = result.outcome == PlanOutcome::kCancelled;
  answer.outcome = to_string(result.outcome);
  answer.guarantee = to_string(result.guarantee);
  answer.reason = result.reason;
  if (result.outcome == PlanOutcome::kPlan) answer.output = result.text;
  for (const PlanStep& step : result.steps) answer.steps.push_back(to_string(step));
  take_goals(result, grounded, problem, answer);
  if (result.tier) answer.tier = to_string(*result.tier);
  answer.weights = result.weight_rule;
  if (result.lookahead != nullptr) answer.shortest = result.lookahead->shortest_plan_length();
  answer.horizon = result.horizon;
  answer.prompt_tokens = result.prompt_tokens;
  answer.tokens = result.tokens.size();
  answer.forced_tokens = result.forced_tokens;
  answer.model_calls = result.model_calls;
  answer.thought = result.thought;
  answer.log_probability = result.log_probability;
  if (result.outcome == PlanOutcome::kPlan && result.pursued) {
    std::vector<ActionId> plan;
    for (const PlanStep& step : result.steps) {
      if (const std::optional<ActionId> action = result.pursued->find(step)) plan.push_back(*action);
    }
    if (plan.size() == result.steps.size()) answer.quality = plan_quality(*result.pursued, plan);
  }
  answer.times.automaton = result.times.format + result.times.automaton;
  answer.times.lookahead += result.times.lookahead;
  answer.times.prompt = result.times.prompt;
  answer.times.decode = result.times.decode;
}

void plan_for(const Module& module, const PromptEntry& entry, LanguageModel* model,
              const std::shared_ptr<const Vocabulary>& vocabulary, const EvaluateOptions& options, Answer& answer) {
  internal::Stopwatch watch;
  const PromptTask prompt = read_prompt(module, entry.prompt, options.rules);
  answer.times.read = watch.lap();
  answer.title = prompt.title;
  const PlanResult result =
      answer_problem(prompt, domain_text(module, options.rules), PlanFormat::builtin(std::string(module.format)),
                     model_prompt(module, entry, options), model, vocabulary, options, answer);
  if (options.count_conditions) answer.conditions = declared_conditions(module, entry.prompt, result.steps);
}

// Whatever was found in the meantime: how far one comes in so much time is another matter on another machine.
void take_late(Answer& answer) {
  Answer undecided;
  undecided.identifier = answer.identifier;
  undecided.title = answer.title;
  undecided.outcome = to_string(PlanOutcome::kUndecided);
  undecided.guarantee = to_string(Guarantee::kNone);
  undecided.reason = "the time limit ended before the answer was complete";
  undecided.times = answer.times;
  answer = std::move(undecided);
}

}  // namespace

PromptTask read_prompt(const Module& module, std::string_view prompt, Rules rules) {
  PromptTask task = module.read(prompt, rules);
  if (rules != Rules::kEnvironment) {
    task.assumptions.clear();
    task.fewest_assumptions = 0;
  }
  return task;
}

Prompt model_prompt(const Module& module, const PromptEntry& entry, const EvaluateOptions& options) {
  if (options.prompt == PromptStyle::kBenchmark) return {options.system, entry.prompt, ""};
  return {"", compact_prompt(shipped_file(str_cat(module.domain, "/compact.txt")), entry.prompt), ""};
}

void expect_common_prefix(LanguageModel& model, const Module& module, const std::vector<PromptEntry>& entries,
                          const EvaluateOptions& options) {
  std::optional<std::vector<TokenId>> common;
  for (const PromptEntry& entry : entries) {
    Prompt prompt;
    try {
      prompt = model_prompt(module, entry, options);
    } catch (const InputError&) {  // which its answer will say
      continue;
    }
    const std::vector<TokenId> tokens = model.encode_prompt(prompt);
    if (!common) common = tokens;
    const auto [end, other] = std::mismatch(common->begin(), common->end(), tokens.begin(), tokens.end());
    common->erase(end, common->end());
  }
  model.expect_prefix(common.value_or(std::vector<TokenId>()));
}

PlanResult answer_problem(const PromptTask& problem, std::string_view domain, const PlanFormat& format,
                          const Prompt& prompt, LanguageModel* model,
                          const std::shared_ptr<const Vocabulary>& vocabulary, const EvaluateOptions& options,
                          Answer& answer) {
  answer.notes.insert(answer.notes.end(), problem.notes.begin(), problem.notes.end());
  GroundTimes times;
  const GroundedPrompt grounded = ground_prompt(problem, domain, options.plan, options.cancelled, times);
  answer.times.ground += times.ground;
  answer.times.lookahead += times.lookahead;
  answer.assumptions.insert(answer.assumptions.end(), grounded.assumptions.begin(), grounded.assumptions.end());
  answer.ground_actions = grounded.task.num_actions();
  PlanOptions plan_options = options.plan;
  plan_options.prompt = prompt;
  plan_options.lookahead.search = grounded.search;
  plan_options.generate.log_probability = true;
  Observer observer;
  observer.cancelled = options.cancelled;
  PlanResult result = plan(grounded.task, format, model, vocabulary, plan_options, observer);
  take(result, grounded, problem, answer);
  return result;
}

Answer answer_prompt(const Module& module, const PromptEntry& entry, LanguageModel* model,
                     const std::shared_ptr<const Vocabulary>& vocabulary, const EvaluateOptions& options) {
  Answer answer;
  answer.identifier = entry.identifier;
  // One limit for all that an answer takes: grounding with more and more assumptions, goals that are dropped, plans.
  internal::Stopwatch watch;
  double seconds = 0;
  bool late = false;
  EvaluateOptions limited = options;
  limited.plan.time_limit.reset();
  limited.cancelled = [&] {
    if (options.cancelled && options.cancelled()) return true;
    seconds += watch.lap();
    late = late || (options.plan.time_limit && seconds >= *options.plan.time_limit);
    return late;
  };
  try {
    if (entry.question != nullptr) {
      entry.question->answer(model, vocabulary, limited, answer);
    } else {
      plan_for(module, entry, model, vocabulary, limited, answer);
    }
  } catch (const Stopped&) {
    answer.cancelled = true;
  } catch (const InputError& error) {
    answer.error = error.what();
  } catch (const ContextError& error) {
    answer.fits = false;
    answer.outcome = "no room";
    answer.guarantee = to_string(Guarantee::kNone);
    answer.reason = error.what();
  } catch (const ModelError& error) {
    answer.error = str_cat("the model cannot go on: ", error.what());
  }
  if (late) take_late(answer);
  return answer;
}

}  // namespace metactrl::benchmarks
