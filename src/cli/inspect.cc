// metactrl inspect: how large a task is, what is known about it, and what one token automaton for syntax and semantics
// together would cost beside two levels.
//
// Why two levels (decode/level_sizes.h): the semantic automaton has a state per world state; the syntactic one is here a
// trie over the bytes of all ground actions written as plan lines. metactrl-benchmarks has the token automaton's instead.
#include <algorithm>
#include <cmath>
#include <memory>

#include "cli/common.h"
#include "cli/options.h"
#include "cli/output.h"
#include "decode/level_sizes.h"
#include "lookahead/space.h"
#include "lookahead/spending.h"
#include "metactrl/schedule.h"
#include "support/meter.h"
#include "support/str_cat.h"
#include "task/program.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

struct InspectOptions {
  TaskFiles files;
  BudgetOptions budget;
  unsigned horizon = 40;
  CLI::Option* horizon_option = nullptr;
  unsigned hidden = 128;
  OutputOptions output;
};

// A trie over the bytes of all plan lines, its ends joined to its beginning.
struct SyntaxSize {
  std::size_t states = 1;
  std::size_t edges = 0;
  double mean_length = 0;
};

// Of the sorted lines each adds a node for every byte it does not share with the one before it.
SyntaxSize measure_syntax(const Task& task) {
  std::vector<std::string> lines;
  lines.reserve(task.num_actions());
  for (std::uint32_t action = 0; action < task.num_actions(); ++action) {
    lines.push_back(task.text(ActionId{action}) + "\n");
  }
  std::sort(lines.begin(), lines.end());
  SyntaxSize size;
  double length = 0;
  std::size_t ends = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    length += static_cast<double>(lines[i].size());
    if (i > 0 && lines[i] == lines[i - 1]) continue;
    std::size_t shared = 0;
    while (i > 0 && shared < std::min(lines[i].size(), lines[i - 1].size()) &&
           lines[i][shared] == lines[i - 1][shared]) {
      ++shared;
    }
    size.edges += lines[i].size() - shared;
    ++ends;
  }
  // Every line ends in a newline and has none inside, so the ends are leaves; they are the root again.
  size.states = 1 + size.edges - ends;
  size.mean_length = lines.empty() ? 0 : length / static_cast<double>(lines.size());
  return size;
}

struct TwoLevels {
  SyntaxSize syntax;
  double semantic_states = 0;
  double semantic_edges = 0;
  bool exact = false;  // false: there are more semantic states than were counted
  unsigned horizon = 0;
  unsigned hidden = 0;
  double token_steps = 0;
  decode::LevelCost one;
  decode::LevelCost two;
};

TwoLevels compare_levels(const Task& task, const lookahead::SpaceCount& semantics, unsigned horizon, unsigned hidden) {
  TwoLevels table;
  table.syntax = measure_syntax(task);
  table.semantic_states = static_cast<double>(semantics.states);
  table.semantic_edges = static_cast<double>(semantics.edges);
  table.exact = semantics.limit == lookahead::Limit::kNone;
  table.horizon = horizon;
  table.hidden = hidden;
  table.token_steps = horizon * table.syntax.mean_length;
  decode::LevelSizes sizes;
  sizes.syntax_states = static_cast<double>(table.syntax.states);
  sizes.syntax_edges = static_cast<double>(table.syntax.edges);
  sizes.tokens_per_action = table.syntax.mean_length;
  sizes.semantic_states = table.semantic_states;
  sizes.semantic_edges = table.semantic_edges;
  const decode::LevelCosts costs = decode::level_costs(sizes, horizon, hidden);
  table.one = costs.one;
  table.two = costs.two;
  return table;
}

struct Report {
  lookahead::SpaceCount full;
  lookahead::SpaceCount relevant;
  std::shared_ptr<const Lookahead> lookahead;
  TwoLevels levels;
  double load_seconds = 0;
  double count_seconds = 0;
  double lookahead_seconds = 0;
};

Report examine(const LoadedTask& loaded, const InspectOptions& options) {
  Report report;
  report.load_seconds = loaded.load_seconds;
  const task::Program& program = loaded.task.program();
  const Stop stop = loaded.time.stop();
  const Stopwatch counting;
  internal::Meter meter(stop);
  for (const bool projected : {false, true}) {
    ProgressLine line(projected ? "counting goal-relevant states" : "counting reachable states");
    (projected ? report.relevant : report.full) = lookahead::count_reachable(
        program, loaded.budget, projected, [&](std::size_t states) { line.set_states(states); }, meter);
  }
  report.count_seconds = counting.seconds();
  const Stopwatch compiling;
  LookaheadOptions lookahead_options;
  lookahead_options.horizon = options.horizon;
  lookahead_options.fixed_horizon = options.horizon_option->count() > 0;
  lookahead_options.exact = loaded.budget;
  {
    const ProgressLine line("computing the lookahead");
    report.lookahead = Lookahead::compile(loaded.task, lookahead_options, stop);
  }
  report.lookahead_seconds = compiling.seconds();
  report.levels = compare_levels(loaded.task, report.relevant, report.lookahead->horizon(), options.hidden);
  return report;
}

// --- JSON ------------------------------------------------------------------------------------------------------------

Json level_json(const decode::LevelCost& cost) {
  return {{"states", cost.states}, {"dp_bytes", cost.dp_bytes}, {"operations", cost.operations}};
}

Json levels_json(const TwoLevels& table) {
  return {{"hidden_states", table.hidden},
          {"horizon", table.horizon},
          {"bytes_per_action", table.syntax.mean_length},
          {"token_steps", table.token_steps},
          {"syntax_states", table.syntax.states},
          {"syntax_edges", table.syntax.edges},
          {"semantic_states", table.semantic_states},
          {"semantic_edges", table.semantic_edges},
          {"semantic_counts_are_lower_bounds", !table.exact},
          {"one_level", level_json(table.one)},
          {"two_levels", level_json(table.two)}};
}

Json count_json(std::size_t count, lookahead::Limit limit) {
  return limit == lookahead::Limit::kNone ? Json(count) : Json(nullptr);
}

// What a task has besides facts, where it has any of it.
void add_beyond_facts(const task::Definition& definition, Json& json) {
  if (!definition.numbers.empty()) {
    json["numbers"] = Json::array();
    for (const task::NumberDefinition& number : definition.numbers) {
      json["numbers"].push_back({{"number", number.text},
                                 {"values", number.values},
                                 {"least", number.least},
                                 {"largest", number.largest},
                                 {"cut", number.cut}});
    }
  }
  if (definition.hosts > 0) json["hosts"] = {{"actions", definition.hosts}, {"at_once", definition.hosts_at_once}};
  if (definition.tick > 0)
    json["clock"] = {{"tick", static_cast<double>(definition.tick) / static_cast<double>(kTimeUnit)},
                     {"times", definition.times}};
  if (!definition.other_durations.empty()) json["durations_not_tried"] = definition.other_durations;
}

Json report_json(const Task& task, const Report& report) {
  const task::Program& program = task.program();
  const Lookahead& lookahead = *report.lookahead;
  Json json;
  json["task"] = task.name();
  json["objects"] = task.num_objects();
  json["action_names"] = task.num_action_names();
  json["ground_actions"] = task.num_actions();
  json["facts"] = program.definition().facts.size();
  json["derived_facts"] = program.num_derived_bits();
  json["bits_per_state"] = program.num_stored_bits();
  json["goal_relevant_bits"] = program.num_relevant_bits();
  json["goals"] = task.num_goals();
  json["trajectory_constraints"] = program.monitors().size();
  if (!program.definition().preferences.empty()) json["preferences"] = program.definition().preferences.size();
  add_beyond_facts(program.definition(), json);
  json["reachable_states"] = count_json(report.full.states, report.full.limit);
  json["edges"] = count_json(report.full.edges, report.full.limit);
  json["goal_relevant_states"] = count_json(report.relevant.states, report.relevant.limit);
  json["goal_relevant_edges"] = count_json(report.relevant.edges, report.relevant.limit);
  json["states_seen"] = {{"reachable", report.full.states}, {"goal_relevant", report.relevant.states}};
  json["limit"] = {{"reachable", internal::name_of(report.full.limit)},
                   {"goal_relevant", internal::name_of(report.relevant.limit)}};
  json["verdict"] = to_string(lookahead.verdict());
  json["reason"] = lookahead.reason();
  json["unreachable_goals"] = Json::array();
  for (const GoalId goal : lookahead.unreachable_goals()) json["unreachable_goals"].push_back(task.goal_text(goal));
  json["tier"] = to_string(lookahead.tier());
  json["horizon"] = lookahead.horizon();
  json["horizon_rule"] = lookahead.horizon_rule();
  json["weights"] = lookahead.weight_rule();
  const auto shortest = lookahead.shortest_plan_length();
  json["shortest_plan_length"] = shortest ? Json(*shortest) : Json(nullptr);
  json["memory_bytes"] = {{"task", task.memory_bytes()}, {"lookahead", lookahead.memory_bytes()}};
  json["seconds"] = {
      {"load", report.load_seconds}, {"count", report.count_seconds}, {"lookahead", report.lookahead_seconds}};
  json["two_levels"] = levels_json(report.levels);
  return json;
}

// --- text ------------------------------------------------------------------------------------------------------------

class Lines {
 public:
  void add(const std::string& label, const std::string& value) {
    text_ += label + std::string(label.size() < kWidth ? kWidth - label.size() : 1, ' ') + value + "\n";
  }
  void add(const std::string& line) { text_ += line + "\n"; }
  // Three columns: what, one level, two levels.
  void add_row(const std::string& label, const std::string& one, const std::string& two) {
    const auto padded = [](const std::string& cell) {
      return std::string(cell.size() < kCell ? kCell - cell.size() : 1, ' ') + cell;
    };
    text_ +=
        label + std::string(label.size() < kWidth ? kWidth - label.size() : 1, ' ') + padded(one) + padded(two) + "\n";
  }
  const std::string& text() const { return text_; }

 private:
  static constexpr std::size_t kWidth = 24;
  static constexpr std::size_t kCell = 20;
  std::string text_;
};

std::string seconds_text(double seconds) { return number_text(std::round(seconds * 1e4) / 1e4); }

// 2370, 67 M
std::string ratio_text(double ratio) {
  return ratio < 10    ? number_text(std::round(ratio * 10) / 10)
         : ratio < 1e6 ? number_text(std::round(ratio))
                       : quantity_text(ratio);
}

std::string states_text(const lookahead::SpaceCount& count) {
  if (count.limit != lookahead::Limit::kNone)
    return str_cat("more than ", count.states, " (limit: ", internal::name_of(count.limit), ")");
  return str_cat(count.states, ", ", count_text(count.edges, "edge", "edges"));
}

void add_levels(const TwoLevels& table, Lines& lines) {
  const std::string more = table.exact ? "" : "> ";
  const auto quantity = [&](double value) { return more + quantity_text(value); };
  const auto bytes = [&](double value) { return more + bytes_text(value); };
  lines.add("");
  lines.add("Why two levels: one token automaton for syntax and semantics, beside one for each");
  lines.add_row("", "one level", "two levels");
  lines.add_row("states", quantity(table.one.states), quantity(table.two.states));
  lines.add_row("operations", quantity(table.one.operations), quantity(table.two.operations));
  lines.add_row("lookahead memory", bytes(table.one.dp_bytes), bytes(table.two.dp_bytes));
  if (table.two.operations > 0 && table.two.dp_bytes > 0) {
    lines.add(str_cat("two levels take ", ratio_text(table.one.operations / table.two.operations),
                      " times less work and ", ratio_text(table.one.dp_bytes / table.two.dp_bytes),
                      " times less memory"));
  }
  lines.add(str_cat("from: syntax ", table.syntax.states, " states, ", table.syntax.edges,
                    " edges (a byte is a token); semantics ", table.exact ? "" : "more than ",
                    quantity_text(table.semantic_states), " states, ", quantity_text(table.semantic_edges), " edges;"));
  lines.add(str_cat("horizon ", table.horizon, " actions of ", quantity_text(table.syntax.mean_length), " bytes = ",
                    quantity_text(table.token_steps), " token steps; H = ", table.hidden, " hidden states"));
  lines.add("one level: states = syntax * semantics; memory = token steps * states * H * 4 B;");
  lines.add("           operations = token steps * syntax edges * semantic states * H^2");
  lines.add(
      "two levels: states = syntax + semantics; memory = (token steps * syntax + horizon * semantics) * H * 4 B;");
  lines.add("           operations = (token steps * syntax edges + horizon * semantic edges) * H^2");
}

// "(fuel): 101 values, 0 .. 100, not all"
std::string number_line(const task::NumberDefinition& number) {
  return str_cat(number.text, ": ", count_text(number.values, "value", "values"),
                 number.values == 0 ? "" : str_cat(", ", number.least, " .. ", number.largest),
                 number.cut ? ", not all" : "");
}

void add_beyond_facts(const task::Definition& definition, Lines& lines) {
  constexpr std::size_t kMostNumbers = 20;
  for (std::size_t i = 0; i < std::min(definition.numbers.size(), kMostNumbers); ++i)
    lines.add(i == 0 ? "numbers" : "", number_line(definition.numbers[i]));
  if (definition.numbers.size() > kMostNumbers) {
    std::size_t cut = 0;
    for (const task::NumberDefinition& number : definition.numbers) cut += number.cut ? 1 : 0;
    lines.add("", str_cat("and ", definition.numbers.size() - kMostNumbers, " more; of all, ", cut,
                          " have values that are not followed"));
  }
  if (definition.hosts > 0)
    lines.add("hosts", str_cat(count_text(definition.hosts, "action", "actions"), " inside which others run, ",
                               definition.hosts_at_once, " at once at most"));
  if (definition.tick > 0)
    lines.add("clock", str_cat("actions begin at multiples of ", time_text(definition.tick), ", ",
                               count_text(definition.times, "time", "times")));
  for (const std::string& others : definition.other_durations) lines.add("not tried", "durations of " + others);
}

std::string report_text(const Task& task, const Report& report) {
  const task::Program& program = task.program();
  const Lookahead& lookahead = *report.lookahead;
  Lines lines;
  lines.add("task", task.name());
  lines.add("objects", str_cat(task.num_objects()));
  lines.add("action names", str_cat(task.num_action_names()));
  lines.add("ground actions", str_cat(task.num_actions()));
  lines.add("facts", str_cat(program.definition().facts.size(), ", ", program.num_derived_bits(), " of them derived"));
  lines.add("bits per state", str_cat(program.num_stored_bits(), ", goal-relevant: ", program.num_relevant_bits()));
  add_beyond_facts(program.definition(), lines);
  lines.add("reachable states", states_text(report.full));
  lines.add("goal-relevant states", states_text(report.relevant));
  lines.add("verdict", str_cat(to_string(lookahead.verdict()), ": ", lookahead.reason()));
  const auto shortest = lookahead.shortest_plan_length();
  lines.add("shortest plan", shortest ? count_text(*shortest, "action", "actions") : "not known");
  lines.add("tier", to_string(lookahead.tier()));
  lines.add("horizon", str_cat(lookahead.horizon(), " (", lookahead.horizon_rule(), ")"));
  lines.add("weights", lookahead.weight_rule());
  lines.add("memory", str_cat("task ", bytes_text(static_cast<double>(task.memory_bytes())), ", lookahead ",
                              bytes_text(static_cast<double>(lookahead.memory_bytes()))));
  lines.add("seconds",
            str_cat("load ", seconds_text(report.load_seconds), ", count ", seconds_text(report.count_seconds),
                    ", lookahead ", seconds_text(report.lookahead_seconds)));
  add_levels(report.levels, lines);
  return lines.text();
}

int inspect(const InspectOptions& options) {
  const LoadedTask loaded = load_task(options.files, options.budget);
  Report report;
  try {
    report = examine(loaded, options);
  } catch (const Stopped&) {
    note(str_cat("undecided: ", loaded.time.reason(), "; raise it, or lower --max-states"));
    return kUndecided;
  }
  if (options.output.json()) {
    print(options.output, report_json(loaded.task, report));
  } else {
    print(options.output, report_text(loaded.task, report));
  }
  return kDone;
}

constexpr const char* kInspectExamples =
    "\nExample, from the root of the source tree:\n"
    "\n"
    "  metactrl inspect -d domains/tabletop/domain.pddl -p domains/tabletop/dishwasher.pddl\n";

}  // namespace

Command add_inspect(CLI::App& parent) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* app = parent.add_subcommand("inspect", "show how large a task is and what is known about it");
  add_task_options(*app, options->files);
  options->horizon_option =
      app->add_option("--horizon", options->horizon, "allow at most N actions; without it, 40 or what a plan needs")
          ->type_name("N")
          ->check(in_range(0, 1e6));
  add_number(*app, "--hidden", "H", options->hidden, 1, 1e6, "hidden states of the surrogate model in the comparison");
  add_output_options(*app, options->output);
  add_budget_options(*app, options->budget, Budget{});
  app->footer(kInspectExamples);
  return {app, [options] { return inspect(*options); }};
}

}  // namespace metactrl::cli
