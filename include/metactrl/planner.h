// From a task and a language model to a plan that is checked before anybody sees it.
//
//     std::shared_ptr<LanguageModel> model = load_model("llama-3-8b.gguf", {});
//     std::shared_ptr<const Vocabulary> vocabulary(model, &model->vocabulary());
//     PlanResult result = plan(task, PlanFormat::builtin("pddl"), model.get(), vocabulary, {});
//     if (result.outcome == PlanOutcome::kPlan) std::cout << result.text;
//     std::cerr << to_string(result.guarantee) << ": " << result.reason << '\n';
//
// This is the one place where a request becomes a result: the program uses it, and so should a service. A plan that
// comes with a guarantee has been read back from its text, executed by the reference semantics against the task as it
// was given, and its tokens compared with the tokenizer's own encoding (unless any other is allowed). Should one of
// these checks fail, std::logic_error is thrown: nothing unchecked is returned. What comes without a guarantee
// (guidance none or syntax) is checked in the same way, and the result says what was found.
//
// That no plan exists, that the budget ended first, that somebody cancelled: these are answers, not exceptions.
// Equal input gives an equal result, at any load: budgets count work. A time limit, where there is one, can only make
// the whole answer kUndecided.
//
// InputError is thrown for options that cannot be, ModelError when the model fails.
//
// Cost: that of Constraint::compile and generate. Thread safety: calls are independent of each other.
#ifndef METACTRL_PLANNER_H_
#define METACTRL_PLANNER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metactrl/constraint.h"
#include "metactrl/decoder.h"
#include "metactrl/format.h"
#include "metactrl/generate.h"
#include "metactrl/language_model.h"
#include "metactrl/lookahead.h"
#include "metactrl/task.h"

namespace metactrl {

enum class Guarantee {
  kFull,          // every step is legal, every goal holds at the end
  kGoalsDropped,  // every step is legal, every goal that was not dropped holds at the end
  kSyntaxOnly,    // the text is a well-formed plan
  kNone,
};
// "full", "goals dropped", "syntax only", "none"
const char* to_string(Guarantee guarantee);

// Whether a model that can think before it answers does. The thought is free text; the constraint starts exactly behind
// its closing marker, so that the guarantee is the same with it and without.
struct ThinkOptions {
  enum class Mode {
    kAuto,  // as the model's chat template has it when nobody says
    kOff,
    kOn,
  };
  Mode mode = Mode::kAuto;
  // The thought is closed after so many tokens; earlier where the context would not hold it and the longest plan.
  std::size_t max_tokens = 1024;
  // Of the thought alone, whatever the plan is decoded with: greedy thoughts go in circles.
  double temperature = 0.6;
  double top_p = 0.95;
  // For the prompt: Prompt::effort and Prompt::template_arguments.
  std::string effort{};
  std::vector<std::pair<std::string, std::string>> template_arguments{};
};

const char* to_string(ThinkOptions::Mode mode);

struct Thought {
  enum class End {
    kMarker,     // the model closed it
    kBudget,     // ThinkOptions::max_tokens
    kTurn,       // the model wanted to end its turn
    kCancelled,  // Observer::cancelled
  };
  std::string text;
  std::size_t tokens = 0;         // of the text
  std::size_t forced_tokens = 0;  // closing, up to where the plan begins
  End ended_by = End::kBudget;
};
// "marker", "budget", "end of turn", "cancelled"
const char* to_string(Thought::End end);

struct PlanOptions {
  // What to do when not all goals can be reached together, or nobody knows within the budget.
  enum class OnInfeasible {
    kError,      // return no plan
    kDropGoals,  // reach as many as is certain, and say which were dropped
    kSyntax,     // let the model write any well-formed plan
  };
  // Compiles a constraint, or finds one that was compiled before from the same: a service keeps them.
  using ConstraintSource = std::function<std::shared_ptr<const Constraint>(
      const Task& task, const PlanFormat& format, const std::shared_ptr<const Vocabulary>& vocabulary,
      const ConstraintOptions& options)>;

  Guidance guidance = Guidance::kUniform;
  Bridge bridge = Bridge::kUniform;
  OnInfeasible on_infeasible = OnInfeasible::kError;
  Tokenization tokenization = Tokenization::kCanonical;
  // For Bridge::kHmm and Guidance::kSyntax: at the token level, of the model's vocabulary.
  std::optional<Hmm> token_hmm;
  // The most actions that a plan may have fit the best plan known; `horizon` counts where it is fixed, or not fitted.
  LookaheadOptions lookahead = fitted_lookahead();
  // Where and how the lookahead is asked while the plan is written.
  SupportOptions support;
  GenerateOptions generate;
  ThinkOptions think;
  // How much shorter or cheaper plans are preferred, as DecoderOptions::per_action; for `prefer_cheap` per what an action
  // of the best plan known costs on average.
  double prefer_short = 0;
  double prefer_cheap = 0;
  // Leave out the steps that the plan does not need, once it is written.
  bool simplify = false;
  // Said to the model in words, in front of the task.
  std::string instruction;
  // Instead of the prompt that make_prompt writes; the instruction is then not used.
  std::optional<Prompt> prompt;
  // Instead of Constraint::compile. It is not told when to stop: whoever provides it knows.
  ConstraintSource constraints;
  // For the check of the plan (Task::validate). Beyond it: Stopped. 0: no limit.
  std::size_t check_bytes = 0;
  // For the whole answer, in seconds; none: it takes as long as it takes. When they are over the outcome is kUndecided,
  // whatever was found by then.
  std::optional<double> time_limit;
};
const char* to_string(PlanOptions::OnInfeasible what);

enum class PlanOutcome { kPlan, kInfeasible, kUndecided, kCancelled };
const char* to_string(PlanOutcome outcome);

struct PlanResult {
  // Seconds. Loading the task and the model is the caller's.
  struct Times {
    double format = 0;
    double automaton = 0;
    double lookahead = 0;
    double prompt = 0;  // the model's first run, which reads the prompt
    double decode = 0;  // everything after it until the last token
    double model = 0;   // of prompt and decode together, spent in the model
    double think = 0;   // of decode, until the thought was closed
    double check = 0;
  };

  // How the text was read back.
  struct Reading {
    bool complete = false;  // it is a plan in the format
    // The text ends without the format's closing, and is a plan with it. Only without guidance, where nobody told the
    // model.
    bool closing_added = false;
    std::string error;  // why it is none
  };

  PlanOutcome outcome = PlanOutcome::kInfeasible;
  // kUndecided because of PlanOptions::time_limit, not of a budget. There is no plan then, not even a part of one.
  bool out_of_time = false;

  // The plan: for unguided text, as many actions as could be read. Ids are those of the task that was given.
  std::vector<ActionId> plan;
  std::vector<std::uint32_t> separators;
  std::vector<PlanStep> steps;
  std::string text;

  // With a guarantee, of the goals that were pursued. The best plan known before the model wrote anything: its length,
  // whether it is a shortest one, its cost, whether it is a cheapest one. The length of a shortest one, where that is known:
  // the best one may be longer, and cheaper. And what every plan costs at least, 0 where nothing is known of that; where
  // the task has no metric each action costs 1.
  std::optional<std::size_t> best_length;
  bool best_is_shortest = false;
  std::optional<std::size_t> shortest_length;
  double best_cost = 0;
  bool best_is_cheapest = false;
  double least_cost = 0;
  // Places of steps that could be left out, all of them together, and the goals would still be reached: proved by
  // execution. Not looked for in plans of more than a thousand steps.
  std::vector<std::size_t> needless;
  // With PlanOptions::simplify: the steps that were left out. Plan and text are without them; the tokens are those that
  // the model wrote.
  std::vector<PlanStep> left_out;

  Guarantee guarantee = Guarantee::kNone;
  std::string reason;  // one sentence: what holds and why, or why there is no plan
  // Where there is none: what why_infeasible says (lookahead.h).
  std::vector<std::string> why_infeasible;
  std::vector<std::string> would_help;
  // Goals of the task that was given, after the steps that are legal. Dropped ones may be met by chance.
  std::vector<GoalId> goals_met;
  std::vector<GoalId> goals_unmet;
  std::vector<GoalId> goals_dropped;
  // Of a task with preferences, with a guarantee: those that were chosen beforehand, as places in
  // Validation::preferences, hold at the end like goals. Others may hold by chance; `validation` says which do.
  struct Preferences {
    std::vector<std::size_t> promised;
    // By the metric, which counts violated preferences and, where it does, costs: what the plan is worth, and what every
    // plan is worth at least.
    double value = 0;
    double lower_bound = 0;
  };
  std::optional<Preferences> preferences;
  Reading reading;
  // By the reference semantics, against all goals.
  Validation validation;
  // All of the text is a plan, and it is valid.
  bool valid() const { return outcome == PlanOutcome::kPlan && reading.complete && validation.valid; }

  // What the model thought before; never part of the text or of the tokens.
  std::optional<Thought> thought;
  std::string prompt_text;  // as it was sent, up to where thought or plan begins
  std::size_t prompt_tokens = 0;
  std::vector<TokenId> tokens;  // end of turn included
  std::size_t forced_tokens = 0;
  std::size_t model_calls = 0;  // the one that reads the prompt included
  std::string device;           // what the model ran on (LanguageModel::device)
  Times times;

  // With a lookahead (guidance mask and above).
  std::optional<Lookahead::Tier> tier;
  std::string weight_rule = "none";
  std::string horizon_rule = "as asked";
  unsigned horizon = 0;  // actions a plan could have; 0 with guidance kNone
  // The horizon was lowered because the model's context holds no more.
  bool horizon_cut_by_context = false;

  // What the model thinks of the plan (see Generation::log_probability): with beam and smc log p_LM(text and end of
  // turn); with greedy and sample, if `generate.log_probability` asks for it, of the tokens that had an alternative.
  std::optional<double> log_probability;
  std::optional<double> log_evidence;  // kSmc
  std::vector<Generation::Particle> particles;

  // What was decoded with, for explanations (explain.h): the task that was pursued, without dropped goals, its
  // lookahead, and the rest where there is one.
  std::optional<Task> pursued;
  std::shared_ptr<const Lookahead> lookahead;
  std::shared_ptr<const Constraint> constraint;
  DecoderOptions decoder;
  std::vector<TokenId> prompt;  // all that stands before the plan, the thought included
};

// The task in words: actions with their arity, objects, every fact that is true at the start, the goals, the
// instruction (when there is one) and how the plan is to be written. Ends with "Plan:" and a newline, so that the plan
// begins on its own line.
//
//     Task: Put the dishes into the dishwasher.
//     Actions: open(1), close(1), grab(1), putin(2), ...
//     Objects: blue_mug, white_cup, ...
//     Facts: (hand-empty), (graspable blue_mug), ...
//     Goal: (inside blue_mug dishwasher), ...
//     Format: (open dishwasher)
//     Plan:
Prompt make_prompt(const Task& task, const PlanSpelling& spelling, const std::string& instruction);

// `model` and `vocabulary` may be null with guidance kSearch. The vocabulary is the model's own.
PlanResult plan(const Task& task, const PlanFormat& format, LanguageModel* model,
                std::shared_ptr<const Vocabulary> vocabulary, const PlanOptions& options,
                const Observer& observer = {});

}  // namespace metactrl

#endif  // METACTRL_PLANNER_H_
