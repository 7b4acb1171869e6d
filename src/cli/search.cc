// metactrl search: a plan without a model.
//
// A first plan: small tasks are enumerated, so theirs are shortest without being asked for; larger ones are left to
// heuristic search. Then better ones, cheaper by the task's metric or shorter where it has none, until --improve is
// spent or none can be better. --optimal spends the whole budget on that, --shortest on the proof that no plan has fewer
// actions, whatever they cost. Every plan is judged by the reference semantics before it is shown.
#include "lookahead/search.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/certificate.h"
#include "cli/common.h"
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
  // Of a plan that was to be made better: that no plan costs less, what every plan costs at least, what came first.
  bool proved_optimal = false;
  double lower_bound = 0;
  std::size_t first_actions = 0;
  double first_cost = 0;
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
      outcome.proved_optimal = outcome.proved_shortest && !program.definition().has_metric;
      outcome.lower_bound = outcome.proved_optimal ? static_cast<double>(result.plan.size()) : 0;
      outcome.first_actions = result.plan.size();
      outcome.first_cost = task.validate(result.plan, stop).cost;
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
void improve(const Task& task, const SearchOptions& options, const Budget& budget, const Stop& stop, Outcome& outcome) {
  const task::Program& program = task.program();
  const lookahead::ActionCosts costs(program);
  outcome.first_actions = outcome.plan.size();
  outcome.first_cost = costs.in_words(costs.sum(outcome.plan));
  if (outcome.proved_shortest && !costs.has_metric()) {
    outcome.proved_optimal = true;
    outcome.lower_bound = outcome.first_cost;
    return;
  }
  const auto state = projected_initial_state(program);
  lookahead::RelaxedEvaluator evaluator(outcome.lookahead->data().relaxed);
  lookahead::ImproveOptions improve_options;
  improve_options.budget = budget;
  if (!options.optimal) improve_options.budget.work = std::min(budget.work, options.improve);
  improve_options.max_length = options.has_horizon() ? options.horizon : lookahead::kInfinite;
  improve_options.prove = options.optimal;
  internal::Meter meter(stop);
  lookahead::Improvement better =
      lookahead::improve_plan(program, evaluator, state->data(), std::move(outcome.plan), improve_options, meter);
  outcome.plan = std::move(better.plan);
  outcome.proved_optimal = better.optimal;
  outcome.lower_bound = costs.in_words(better.lower_bound);
  if (!program.definition().whole()) {
    outcome.proved_optimal = false;
    outcome.lower_bound =
        costs.has_metric() ? 0 : std::min<double>(outcome.lower_bound, program.definition().cut_depth + 1.0);
  }
  const auto shortest = outcome.lookahead->shortest_plan_length();
  outcome.proved_shortest = shortest ? *shortest == outcome.plan.size() : outcome.proved_optimal && !costs.has_metric();
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
    text += str_cat(": at least ", number_text(outcome.lower_bound));
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
Outcome find(const Task& task, const Budget& budget, const SearchOptions& options, const Stop& stop) {
  if (options.shortest) {
    Outcome outcome = find_shortest(task, options, budget, stop);
    add_why_not(task, stop, outcome);
    return outcome;
  }
  Outcome outcome = ask_lookahead(task, options, budget, stop);
  if (outcome.verdict == Verdict::kSolvable) improve(task, options, budget, stop, outcome);
  add_why_not(task, stop, outcome);
  return outcome;
}

// First which preferences, then a plan for those and the goals.
Outcome find_preferred(const Task& task, const Budget& budget, const SearchOptions& options, const Stop& stop) {
  PreferenceOptions wanted;
  wanted.lookahead = lookahead_options(options, budget);
  wanted.improve = options.improve;
  wanted.prove = options.optimal;
  const PreferenceChoice choice = choose_preferences(task, wanted, stop);
  Outcome outcome = find(choice.task, budget, options, stop);
  if (outcome.verdict != Verdict::kSolvable) return outcome;
  for (ActionId& action : outcome.plan) action = *task.find(choice.task.step(action));
  outcome.least_metric = choice.lower_bound;
  // By the metric of the whole, what the choice was made with may be the better one.
  if (metric_value(task, task.validate(outcome.plan)) > choice.value) {
    outcome.plan = choice.plan;
    outcome.proved_shortest = false;
    outcome.proved_optimal = false;
  }
  return outcome;
}

Outcome find(const LoadedTask& loaded, const SearchOptions& options) {
  const ProgressLine progress("searching");
  const Stop stop = loaded.time.stop();
  try {
    return has_preferences(loaded.task) ? find_preferred(loaded.task, loaded.budget, options, stop)
                                        : find(loaded.task, loaded.budget, options, stop);
  } catch (const Stopped&) {
    Outcome undecided;
    undecided.reason = loaded.time.reason();
    return undecided;
  }
}

int search(const SearchOptions& options) {
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
    "goals are out of reach; when the budget ends first, it is 11.\n";

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
