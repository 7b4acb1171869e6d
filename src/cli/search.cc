// metactrl search: a plan without a model.
//
// A first plan: small tasks are enumerated, so theirs are shortest without being asked for; larger ones are left to
// heuristic search. Then better ones, cheaper by the task's metric or shorter where it has none, until --improve is
// spent or none can be better. --optimal spends the whole budget on that, --shortest on the proof that no plan has fewer
// actions, whatever they cost. Ctrl-C ends it with the best plan known. Every plan is judged by the reference semantics
// before it is shown.
//
// What is made small is the cost where there is a metric, and the number of actions where there is none, though they may
// cost something: then nothing is known of what other plans cost.
#include "lookahead/search.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/certificate.h"
#include "cli/common.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/preferences.h"
#include "cli/schedules.h"
#include "lookahead/concurrency.h"
#include "lookahead/data.h"
#include "lookahead/improve.h"
#include "lookahead/infeasible.h"
#include "lookahead/preferences.h"
#include "lookahead/relaxed.h"
#include "serve/plan_json.h"
#include "support/meter.h"
#include "support/str_cat.h"
#include "task/program.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

struct SearchOptions {
  TaskFiles files;
  BudgetOptions budget;
  bool shortest = false;
  bool optimal = false;
  std::uint64_t improve = 100'000'000;
  unsigned horizon = 0;
  CLI::Option* horizon_option = nullptr;
  ScheduleKind schedule = ScheduleKind::kSequential;
  CertificateOptions certificate;
  OutputOptions output;

  bool has_horizon() const { return horizon_option->count() > 0; }
};

struct Outcome {
  Verdict verdict = Verdict::kUndecided;
  std::vector<ActionId> plan;
  bool proved_shortest = false;
  std::string reason;
  std::vector<GoalId> unreachable_goals;
  WhyInfeasible why;
  std::shared_ptr<const Lookahead> lookahead;  // that it comes from, if any
  // That no plan costs less, and what every plan costs at least; how many actions it has at least; 0 where nothing is
  // known.
  bool proved_optimal = false;
  double lower_bound = 0;
  double least_actions = 0;
  // What came before it, and the steps that were left out because the goal is reached without.
  std::size_t first_actions = 0;
  double first_cost = 0;
  std::size_t left_out = 0;
  bool interrupted = false;
  // Where the task has preferences: what every plan is worth at least, by the metric.
  std::optional<double> least_metric;
};

// As good as no bound, and small enough to add to.
constexpr unsigned kNoHorizon = 1'000'000'000;
// Enumerating up to this many states takes less time than reading this sentence.
constexpr std::size_t kSmallSpace = 20'000;

LookaheadOptions lookahead_options(const SearchOptions& options, const Budget& budget) {
  LookaheadOptions result;
  result.horizon = options.has_horizon() ? options.horizon : kNoHorizon;
  result.fixed_horizon = options.has_horizon();
  result.weights = false;
  result.exact = budget;
  result.exact.states = std::min(budget.states, kSmallSpace);
  result.search = budget;
  return result;
}

Outcome ask_lookahead(const Task& task, const SearchOptions& options, const Budget& budget, const Stop& stop) {
  const auto lookahead = Lookahead::compile(task, lookahead_options(options, budget), stop);
  Outcome outcome;
  outcome.verdict = lookahead->verdict();
  outcome.reason = lookahead->reason();
  outcome.unreachable_goals = lookahead->unreachable_goals();
  if (outcome.verdict == Verdict::kSolvable) outcome.plan = lookahead->plan();
  outcome.left_out = lookahead->data().left_out;
  outcome.proved_shortest = lookahead->shortest_plan_length() == outcome.plan.size();
  outcome.lookahead = lookahead;
  return outcome;
}

// The initial state as the search wants it; nothing when a trajectory constraint is broken from the start.
std::optional<std::vector<task::Word>> projected_initial_state(const task::Program& program) {
  std::vector<task::Word> state(program.total_words());
  if (!program.initial(state.data())) return std::nullopt;
  program.project(state.data());
  return state;
}

// Where numbers were cut, longer plans may be missing, and with them cheaper ones.
bool certainly_shortest(const task::Program& program, std::size_t length) {
  const task::Definition& definition = program.definition();
  return definition.whole() || length <= definition.cut_depth + 1;
}

double cost_of(const Task& task, const std::vector<ActionId>& plan) {
  double cost = 0;
  for (const ActionId action : plan) cost += task.cost(action);
  return cost;
}

// The number of actions is what a plan costs, or nobody knows what others cost.
void bound_by_actions(const Task& task, Outcome& outcome) {
  if (task.has_costs()) return;
  outcome.proved_optimal = outcome.proved_shortest;
  outcome.lower_bound = outcome.least_actions;
}

Outcome find_shortest(const Task& task, const SearchOptions& options, const Budget& budget, const Stop& stop) {
  const task::Program& program = task.program();
  const auto state = projected_initial_state(program);
  const lookahead::RelaxedTask relaxed(program);
  lookahead::RelaxedEvaluator evaluator(relaxed);
  const unsigned horizon = options.has_horizon() ? options.horizon : lookahead::kInfinite;
  lookahead::SearchResult result;
  internal::Meter meter(stop);
  if (state) result = lookahead::find_shortest(program, evaluator, state->data(), horizon, budget, meter);
  Outcome outcome;
  switch (state ? result.outcome : lookahead::SearchResult::Outcome::kRefuted) {
    case lookahead::SearchResult::Outcome::kFound:
      outcome.verdict = Verdict::kSolvable;
      outcome.plan = result.plan;
      outcome.proved_shortest = certainly_shortest(program, result.plan.size());
      if (outcome.proved_shortest) outcome.least_actions = static_cast<double>(result.plan.size());
      bound_by_actions(task, outcome);
      outcome.first_actions = result.plan.size();
      outcome.first_cost = cost_of(task, result.plan);
      outcome.reason = str_cat("no plan has fewer than ", count_text(result.plan.size(), "action", "actions"));
      break;
    case lookahead::SearchResult::Outcome::kRefuted: {
      // The lookahead has the better words for why.
      outcome = ask_lookahead(task, options, budget, stop);
      if (outcome.verdict == Verdict::kInfeasible || !program.definition().whole()) break;
      outcome = {};
      outcome.verdict = Verdict::kInfeasible;
      outcome.reason = options.has_horizon() ? str_cat("no plan of at most ", options.horizon, " actions exists")
                                             : "no reachable state satisfies the goal";
      break;
    }
    case lookahead::SearchResult::Outcome::kBudget:
      outcome.reason =
          str_cat("no plan could be proved shortest within the budget (limit: ", internal::name_of(result.limit),
                  "); every plan has at least ", result.lower_bound, " actions; without --shortest any plan will do");
      break;
  }
  return outcome;
}

// Cheaper, or shorter where the task has no metric.
void improve(const Task& task, const SearchOptions& options, const Budget& budget, const Stop& stop,
             ProgressLine& progress, Outcome& outcome) {
  const task::Program& program = task.program();
  const lookahead::ActionCosts costs(program);
  const auto show = [&](const std::vector<ActionId>& plan) {
    progress.set_note(str_cat("best so far: ", count_text(plan.size(), "action", "actions"), ", cost ",
                              number_text(cost_of(task, plan))));
  };
  show(outcome.plan);
  outcome.first_actions = outcome.plan.size();
  outcome.first_cost = cost_of(task, outcome.plan);
  if (outcome.proved_shortest && !costs.has_metric()) {
    outcome.least_actions = static_cast<double>(outcome.plan.size());
    bound_by_actions(task, outcome);
    return;
  }
  const auto state = projected_initial_state(program);
  lookahead::RelaxedEvaluator evaluator(outcome.lookahead->data().relaxed);
  lookahead::ImproveOptions improve_options;
  improve_options.budget = budget;
  if (!options.optimal) improve_options.budget.work = std::min(budget.work, options.improve);
  improve_options.max_length = options.has_horizon() ? options.horizon : lookahead::kInfinite;
  improve_options.prove = options.optimal;
  improve_options.left_out = outcome.left_out;
  improve_options.keep_when_stopped = true;
  improve_options.on_better = [&](const std::vector<ActionId>& plan, lookahead::Cost) { show(plan); };
  internal::Meter meter(stop);
  lookahead::Improvement better =
      lookahead::improve_plan(program, evaluator, state->data(), std::move(outcome.plan), improve_options, meter);
  // When the time is over there is no answer.
  if (better.stopped && !interrupted()) throw Stopped(Stopped::kCancelled);
  outcome.interrupted = better.stopped;
  outcome.plan = std::move(better.plan);
  outcome.left_out = better.left_out;
  const bool whole = program.definition().whole();
  const auto shortest = outcome.lookahead->shortest_plan_length();
  if (costs.has_metric()) {
    outcome.proved_shortest = shortest == outcome.plan.size();
    outcome.proved_optimal = better.optimal && whole;
    if (whole) outcome.lower_bound = costs.in_words(better.lower_bound);
    if (shortest) outcome.least_actions = *shortest;
    return;
  }
  outcome.proved_shortest = shortest ? *shortest == outcome.plan.size() : better.optimal && whole;
  outcome.least_actions = shortest ? *shortest : static_cast<double>(better.lower_bound);
  if (!whole) outcome.least_actions = std::min(outcome.least_actions, program.definition().cut_depth + 1.0);
  bound_by_actions(task, outcome);
}

// Where actions take time, with the times of `schedule`.
std::string plan_text(const Task& task, const Outcome& outcome, const std::optional<Schedule>& schedule, double cost) {
  std::string text;
  if (schedule) {
    text = schedule_text(task, *schedule);
  } else {
    for (const ActionId action : outcome.plan) text += task.text(action) + "\n";
  }
  text += str_cat("; ", count_text(outcome.plan.size(), "action", "actions"), ", ", cost_text(task, schedule, cost),
                  ", ", outcome.proved_shortest ? "shortest" : "not proved shortest");
  // By the number of actions where the task has no metric: then the sentence says it all.
  if (task.program().definition().has_metric) {
    text += outcome.proved_optimal ? ", cheapest"
                                   : str_cat(", not proved cheapest: at least ", number_text(outcome.lower_bound));
  } else if (!outcome.proved_shortest) {
    text += str_cat(": at least ", number_text(outcome.least_actions));
  }
  if (outcome.left_out > 0) {
    text += str_cat("; ", count_text(outcome.left_out, "step", "steps"), " left out as not needed");
  }
  return text + "\n";
}

// What the plan is worth where the task has preferences; those that it satisfies were goals of the search.
std::string preferences_text(const Task& task, const Outcome& outcome, const Validation& validation) {
  if (!outcome.least_metric) return {};
  const auto holds = [](const Validation::Preference& one) { return one.satisfied; };
  const auto held = std::count_if(validation.preferences.begin(), validation.preferences.end(), holds);
  return str_cat("; preferences: ", held, " of ", validation.preferences.size(), " hold, ",
                 metric_text(metric_value(task, validation), *outcome.least_metric), "\n",
                 preference_lines(validation.preferences, ";   "));
}

Json outcome_json(const Task& task, const Outcome& outcome, double cost, double load_seconds, double search_seconds) {
  Json json{{"verdict", to_string(outcome.verdict)}, {"reason", outcome.reason}};
  const bool solved = outcome.verdict == Verdict::kSolvable;
  json["plan"] = solved ? Json::array() : Json(nullptr);
  for (const ActionId action : outcome.plan) json["plan"].push_back(task.text(action));
  json["actions"] = solved ? Json(outcome.plan.size()) : Json(nullptr);
  json["cost"] = solved ? Json(cost) : Json(nullptr);
  json["proved_shortest"] = solved && outcome.proved_shortest;
  json["proved_optimal"] = solved && outcome.proved_optimal;
  json["lower_bound"] = solved ? Json(outcome.lower_bound) : Json(nullptr);
  json["least_actions"] = solved ? Json(outcome.least_actions) : Json(nullptr);
  json["left_out"] = solved ? Json(outcome.left_out) : Json(nullptr);
  json["interrupted"] = outcome.interrupted;
  json["first"] = solved ? Json{{"actions", outcome.first_actions}, {"cost", outcome.first_cost}} : Json(nullptr);
  json["unreachable_goals"] = Json::array();
  for (const GoalId goal : outcome.unreachable_goals) json["unreachable_goals"].push_back(task.goal_text(goal));
  json["why_infeasible"] = outcome.why.reasons;
  json["would_help"] = outcome.why.would_help;
  json["seconds"] = {{"load", load_seconds}, {"search", search_seconds}};
  return json;
}

// Why there is no plan, or none was found.
void add_why_not(const Task& task, const Stop& stop, Outcome& outcome) {
  if (outcome.verdict == Verdict::kInfeasible) {
    outcome.why = outcome.lookahead != nullptr ? lookahead::why_infeasible(task, *outcome.lookahead, stop)
                                               : why_infeasible(task, stop);
  }
  if (outcome.verdict != Verdict::kUndecided) return;
  const std::string why = lookahead::why_undecided(task, stop);
  if (!why.empty()) outcome.reason += "; " + why;
}

// Of the goals alone.
Outcome find(const Task& task, const Budget& budget, const SearchOptions& options, const Stop& stop,
             ProgressLine& progress) {
  if (options.shortest) {
    Outcome outcome = find_shortest(task, options, budget, stop);
    add_why_not(task, stop, outcome);
    return outcome;
  }
  Outcome outcome = ask_lookahead(task, options, budget, stop);
  if (outcome.verdict == Verdict::kSolvable) improve(task, options, budget, stop, progress, outcome);
  add_why_not(task, stop, outcome);
  return outcome;
}

// First which preferences, then a plan for those and the goals.
Outcome find_preferred(const Task& task, const Budget& budget, const SearchOptions& options, const Stop& stop,
                       ProgressLine& progress) {
  PreferenceOptions wanted;
  wanted.lookahead = lookahead_options(options, budget);
  wanted.improve = options.improve;
  wanted.prove = options.optimal;
  wanted.keep_when_stopped = true;
  const PreferenceChoice choice = choose_preferences(task, wanted, stop);
  if (choice.stopped && !interrupted()) throw Stopped(Stopped::kCancelled);
  Outcome outcome;
  bool by_choice = choice.stopped;
  try {
    if (!by_choice) outcome = find(choice.task, budget, options, stop, progress);
  } catch (const Stopped&) {
    if (!interrupted() || !task.validate(choice.plan).valid) throw;
    by_choice = true;
  }
  if (by_choice) {
    outcome.verdict = Verdict::kSolvable;
    outcome.interrupted = true;
    outcome.first_actions = choice.plan.size();
    outcome.first_cost = cost_of(task, choice.plan);
  }
  if (outcome.verdict != Verdict::kSolvable) return outcome;
  for (ActionId& action : outcome.plan) action = *task.find(choice.task.step(action));
  outcome.least_metric = choice.lower_bound;
  // By the metric of the whole, what the choice was made with may be the better one.
  if (by_choice || metric_value(task, task.validate(outcome.plan)) > choice.value) {
    outcome.plan = choice.plan;
    outcome.proved_shortest = false;
    outcome.proved_optimal = false;
    outcome.left_out = 0;
  }
  return outcome;
}

Outcome find(const LoadedTask& loaded, const SearchOptions& options) {
  ProgressLine progress("searching");
  const Stop out_of_time = loaded.time.stop();
  const Stop stop = [&] { return interrupted() || (out_of_time && out_of_time()); };
  Outcome outcome;
  set_stoppable(true);
  try {
    outcome = has_preferences(loaded.task) ? find_preferred(loaded.task, loaded.budget, options, stop, progress)
                                           : find(loaded.task, loaded.budget, options, stop, progress);
  } catch (const Stopped&) {
    outcome.interrupted = interrupted();
    outcome.reason = outcome.interrupted ? "stopped before a plan was found" : loaded.time.reason();
  }
  set_stoppable(false);
  return outcome;
}

int search(const SearchOptions& options) {
  catch_interrupts();
  const LoadedTask loaded = load_task(options.files, options.budget);
  const Task& task = loaded.task;
  const Stopwatch watch;
  const Outcome outcome = find(loaded, options);
  double cost = 0;
  Validation validation;
  std::optional<Schedule> schedule;
  if (outcome.verdict == Verdict::kSolvable) {
    validation = task.validate(outcome.plan);
    if (!validation.valid) throw std::logic_error("the plan found does not pass its own check: " + validation.reason);
    cost = validation.cost;
    if (has_durations(task)) {
      std::vector<PlanStep> steps;
      for (const ActionId action : outcome.plan) steps.push_back(task.step(action));
      schedule = make_schedule(task, steps, options.schedule);
    }
    const std::string text = plan_text(task, outcome, schedule, cost) + preferences_text(task, outcome, validation);
    if (!options.output.json()) print(options.output, text);
    if (!options.output.file.empty()) {
      note(str_cat("wrote ", count_text(outcome.plan.size(), "action", "actions"), " to ", options.output.file));
    }
  }
  if (options.output.json()) {
    Json json = outcome_json(task, outcome, cost, loaded.load_seconds, watch.seconds());
    if (schedule) json["schedule"] = serve::schedule_json(task, *schedule);
    if (outcome.least_metric) {
      const double value = metric_value(task, validation);
      json["preferences"] = serve::preferences_json(validation.preferences);
      json["metric"] = {{"value", value},
                        {"lower_bound", *outcome.least_metric},
                        {"proved_optimal", is_least(value, *outcome.least_metric)}};
    }
    print(options.output, json);
  }
  const bool infeasible = outcome.verdict == Verdict::kInfeasible;
  if (outcome.verdict == Verdict::kSolvable || infeasible) {
    const auto horizon = options.has_horizon() ? std::optional<unsigned>(options.horizon) : std::nullopt;
    write_certificate(options.certificate, options.files, task, {!infeasible, outcome.plan, horizon, ""},
                      loaded.time.stop());
  }
  if (outcome.interrupted) {
    note(str_cat("metactrl: stopped; ",
                 outcome.verdict == Verdict::kSolvable ? "the plan is the best one known" : "no plan is known"));
    return kInterrupted;
  }
  if (outcome.verdict == Verdict::kSolvable) return kDone;
  note(str_cat(infeasible ? "infeasible: " : "undecided: ", outcome.reason));
  say_why(outcome.why.reasons, outcome.why.would_help);
  return infeasible ? kInfeasible : kUndecided;
}

constexpr const char* kSearchExamples =
    "\nExamples, from the root of the source tree:\n"
    "\n"
    "  metactrl search -d domains/tabletop/domain.pddl -p domains/tabletop/dishwasher.pddl\n"
    "  metactrl search -d domains/tabletop/domain.pddl -p domains/tabletop/dishwasher.pddl --shortest --out my.plan\n"
    "  metactrl search -d domains/tabletop/domain.pddl -p domains/tabletop/dishwasher.pddl --optimal\n"
    "\n"
    "The plan is printed as (action object ...) lines. When there is none, the exit code is 10 and the message says "
    "which\n"
    "goals are out of reach; when the budget ends first, it is 11. Ctrl-C ends the search with the best plan known:\n"
    "exit code 130.\n";

}  // namespace

Command add_search(CLI::App& parent) {
  auto options = std::make_shared<SearchOptions>();
  CLI::App* app = parent.add_subcommand("search", "find a plan without a model, or prove that there is none");
  add_task_options(*app, options->files);
  CLI::Option* const shortest = app->add_flag("--shortest", options->shortest, "prove that no plan has fewer actions");
  CLI::Option* const optimal =
      app->add_flag("--optimal", options->optimal,
                    "spend the whole budget on the cheapest plan, by (:metric ...) or by the number of actions")
          ->excludes(shortest);
  add_number(*app, "--improve", "N", options->improve, 0, 1e18,
             "steps of work for making the first plan better; 0: only without what it does not need")
      ->excludes(shortest)
      ->excludes(optimal);
  options->horizon_option = app->add_option("--horizon", options->horizon, "allow at most N actions")
                                ->type_name("N")
                                ->check(in_range(0, kNoHorizon));
  add_schedule_option(*app, options->schedule);
  add_certificate_option(*app, options->certificate);
  add_output_options(*app, options->output, {OutputForm::kText, OutputForm::kJson, OutputForm::kPddl});
  add_budget_options(*app, options->budget, LookaheadOptions{}.search);
  app->footer(kSearchExamples);
  return {app, [options] { return search(*options); }};
}

}  // namespace metactrl::cli
