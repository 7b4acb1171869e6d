// From a prompt to an answer.
//
// What the prompt hides is assumed as sparingly as possible: the problem is grounded without assumptions first, then
// with one more at a time, until all goals can be reached together. Assumptions only add facts that make more actions
// legal, so the first level that suffices is the most careful one. When none does, goals have to be dropped (where the
// options allow it), and the first level that drops the fewest is taken.
//
// Where the goals that remain hold from the start, the plan could be empty; benchmarks take an empty answer for an
// unreadable one, so it is asked for an action then.
#include "benchmarks/evaluate.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "benchmarks/compact_prompt.h"
#include "benchmarks/shipped_files.h"
#include "lookahead/drop_goals.h"
#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "support/list_some.h"
#include "support/stopwatch.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace {

struct Grounded {
  Task task;
  std::size_t level = 0;  // how many assumptions it makes
};

bool uses_lookahead(Guidance guidance) { return guidance != Guidance::kNone && guidance != Guidance::kSyntax; }

// Whether a level suffices is asked of a search, unless the state space is small: one plan is found sooner than all
// states. The planner enumerates them for the level that is taken.
constexpr std::size_t kProbeStates = 500;

class Grounder {
 public:
  Grounder(const PromptTask& prompt, std::string_view domain, const EvaluateOptions& options, const Stop& stop,
           AnswerTimes& times)
      : prompt_(prompt),
        domain_(domain),
        options_(options),
        stop_(stop),
        times_(times),
        lookahead_(options.plan.lookahead) {
    lookahead_.weights = false;
    lookahead_.hmm.reset();
    lookahead_.exact.states = std::min(lookahead_.exact.states, kProbeStates);
  }

  Grounded ground() {
    const std::size_t most = prompt_.assumptions.size();
    // Where there is nothing to choose, the planner's own lookahead will do.
    const bool one_way = most == 0 && prompt_.nonempty.empty();
    if (one_way || !uses_lookahead(options_.plan.guidance)) return load(most, false);
    std::vector<Grounded> failed;
    for (std::size_t level = std::min(prompt_.fewest_assumptions, most); level <= most; ++level) {
      Grounded grounded = load(level, false);
      const bool solvable = Lookahead::compile(grounded.task, lookahead_, stop_)->verdict() == Verdict::kSolvable;
      times_.lookahead += watch_.lap();
      if (!solvable) {
        failed.push_back(std::move(grounded));
        continue;
      }
      const Task pursued = grounded.task;
      return with_an_action(std::move(grounded), pursued);
    }
    if (options_.plan.on_infeasible != OnInfeasible::kDropGoals) return failed.back();
    return drop_fewest(failed);
  }

 private:
  Grounded load(std::size_t level, bool with_nonempty) {
    watch_.lap();
    Grounded grounded{load_pddl_text(domain_, prompt_.problem_assuming(level, with_nonempty)), level};
    times_.ground += watch_.lap();
    return grounded;
  }

  // `levels` are all of them, the most careful first.
  Grounded drop_fewest(const std::vector<Grounded>& levels) {
    const Grounded* best = nullptr;
    std::optional<ReducedTask> reduced;
    for (const Grounded& grounded : levels) {
      ReducedTask kept = drop_unreachable_goals(grounded.task, lookahead_, stop_);
      times_.lookahead += watch_.lap();
      if (reduced && kept.dropped.size() >= reduced->dropped.size()) continue;
      reduced = std::move(kept);
      best = &grounded;
    }
    return with_an_action(*best, reduced->task);
  }

  // `pursued` is the task without the goals that will be dropped.
  Grounded with_an_action(Grounded grounded, const Task& pursued) {
    if (prompt_.nonempty.empty() || !pursued.unmet_goals(pursued.initial_state()).empty()) return grounded;
    return load(grounded.level, true);
  }

  const PromptTask& prompt_;
  std::string_view domain_;
  const EvaluateOptions& options_;
  const Stop& stop_;
  AnswerTimes& times_;
  LookaheadOptions lookahead_;
  internal::Stopwatch watch_;
};

// Names the goals that were dropped, or that stand in the way of any plan, as the benchmark does.
void take_goals(const PlanResult& result, const Task& task, const PromptTask& problem, Answer& answer) {
  const std::vector<PromptGoal>& names = problem.goals;
  const bool all_dropped = result.goals_dropped.size() == task.num_goals();
  std::vector<std::string> sentences;
  for (const GoalId goal : result.goals_dropped) {
    const auto i = static_cast<std::size_t>(goal);
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
  if (names.empty()) return;
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

void take(const PlanResult& result, const Task& task, const PromptTask& problem, Answer& answer) {
  answer.cancelled = result.outcome == PlanOutcome::kCancelled;
  answer.outcome = to_string(result.outcome);
  answer.guarantee = to_string(result.guarantee);
  answer.reason = result.reason;
  if (result.outcome == PlanOutcome::kPlan) answer.output = result.text;
  for (const PlanStep& step : result.steps) answer.steps.push_back(to_string(step));
  take_goals(result, task, problem, answer);
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
  if (rules == Rules::kPaper) {
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
  const Grounded grounded = Grounder(problem, domain, options, options.cancelled, answer.times).ground();
  for (std::size_t i = 0; i < grounded.level; ++i) answer.assumptions.push_back(problem.assumptions[i].text);
  answer.ground_actions = grounded.task.num_actions();
  PlanOptions plan_options = options.plan;
  plan_options.prompt = prompt;
  plan_options.generate.log_probability = true;
  Observer observer;
  observer.cancelled = options.cancelled;
  PlanResult result = plan(grounded.task, format, model, vocabulary, plan_options, observer);
  take(result, grounded.task, problem, answer);
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
