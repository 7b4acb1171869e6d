#include "benchmarks/two_levels.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "benchmarks/evaluate.h"
#include "benchmarks/ground_prompt.h"
#include "benchmarks/report.h"
#include "metactrl/constraint.h"
#include "metactrl/error.h"
#include "support/stopwatch.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace {

using jobs::Json;

struct Measured {
  decode::LevelSizes sizes;
  decode::LevelCosts costs;
  double seconds = 0;
  double bytes = 0;
};

Measured measure(const Module& module, const PromptEntry& entry, const std::shared_ptr<const Vocabulary>& vocabulary,
                 const TwoLevelsOptions& options) {
  PlanOptions plan = as_in_paper();
  plan.on_infeasible = PlanOptions::OnInfeasible::kDropGoals;
  plan.lookahead.horizon = options.horizon;
  plan.lookahead.exact = options.budget;
  plan.lookahead.search.states = 10'000;
  GroundTimes times;
  const PromptTask prompt = read_prompt(module, entry.prompt, options.rules);
  const GroundedPrompt grounded = ground_prompt(prompt, domain_text(module, options.rules), plan, options.stop, times);
  ConstraintOptions constraint_options;
  constraint_options.lookahead = plan.lookahead;
  constraint_options.lookahead.search = grounded.search;
  const internal::Stopwatch watch;
  const auto constraint = Constraint::compile(grounded.task, PlanFormat::builtin(std::string(module.format)),
                                              vocabulary, constraint_options, options.stop);
  Measured out;
  out.seconds = watch.seconds();
  out.bytes = static_cast<double>(constraint->memory_bytes());
  internal::Meter meter(options.stop);
  out.sizes = decode::measure_levels(constraint->automaton(), grounded.task.program(), options.budget, meter);
  out.costs = decode::level_costs(out.sizes, constraint->lookahead()->horizon(), options.hidden);
  return out;
}

template <typename Value>
double median(const std::vector<Measured>& all, const Value& value) {
  std::vector<double> numbers;
  for (const Measured& one : all) numbers.push_back(value(one));
  std::sort(numbers.begin(), numbers.end());
  return quantile(numbers, 0.5);
}

// 350 M, 1.6 G, 57 K
std::string short_number(double value) {
  constexpr std::array<const char*, 6> kUnits = {"", " K", " M", " G", " T", " P"};
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fixed_text(value, value < 10 && unit > 0 ? 1 : 0) + kUnits[unit];
}

}  // namespace

TwoLevelsTable two_levels(const Module& module, const std::vector<PromptEntry>& prompts,
                          const std::shared_ptr<const Vocabulary>& vocabulary, const TwoLevelsOptions& options) {
  TwoLevelsTable table;
  table.module = module.name;
  std::vector<Measured> all;
  for (const PromptEntry& entry : prompts) {
    try {
      all.push_back(measure(module, entry, vocabulary, options));
    } catch (const InputError&) {  // which `eval` says
      continue;
    }
    table.uncounted += all.back().sizes.exact ? 0 : 1;
  }
  table.prompts = all.size();
  const auto size = [&](double decode::LevelSizes::*member) {
    table.sizes.*member = median(all, [&](const Measured& m) { return m.sizes.*member; });
  };
  for (double decode::LevelSizes::*member :
       {&decode::LevelSizes::syntax_states, &decode::LevelSizes::syntax_edges, &decode::LevelSizes::tokens_per_action,
        &decode::LevelSizes::semantic_states, &decode::LevelSizes::semantic_edges, &decode::LevelSizes::joint_states}) {
    size(member);
  }
  table.sizes.exact = table.uncounted == 0;
  for (decode::LevelCost decode::LevelCosts::*level : {&decode::LevelCosts::one, &decode::LevelCosts::two}) {
    for (double decode::LevelCost::*member :
         {&decode::LevelCost::states, &decode::LevelCost::dp_bytes, &decode::LevelCost::operations}) {
      table.costs.*level.*member = median(all, [&](const Measured& m) { return m.costs.*level.*member; });
    }
  }
  table.seconds = median(all, [](const Measured& m) { return m.seconds; });
  table.constraint_bytes = median(all, [](const Measured& m) { return m.bytes; });
  return table;
}

std::string two_levels_markdown(const std::vector<TwoLevelsTable>& tables) {
  std::string out =
      "Medians over prompts. `syntax` is the token automaton, `semantics` the goal-relevant states of the task; one "
      "level is their product, of which `joint` counts the pairs that occur on the way to the goal. Memory and "
      "operations are those of the recursion with the hidden states of the paper, by the formula; `held` is what our "
      "constraint takes up, and `compile` how long it takes. `more` counts prompts with more states than were "
      "counted.\n\n"
      "| | syntax | semantics | one level | joint | two levels | memory, one | two | operations, one | two | held | "
      "compile | prompts | more |\n"
      "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const TwoLevelsTable& t : tables) {
    out += str_cat("| ", t.module, " | ", short_number(t.sizes.syntax_states), " | ",
                   short_number(t.sizes.semantic_states), " | ", short_number(t.costs.one.states), " | ",
                   short_number(t.sizes.joint_states), " | ", short_number(t.costs.two.states), " | ",
                   short_number(t.costs.one.dp_bytes), "B | ", short_number(t.costs.two.dp_bytes), "B | ",
                   short_number(t.costs.one.operations), " | ", short_number(t.costs.two.operations), " | ",
                   short_number(t.constraint_bytes), "B | ", fixed_text(1000 * t.seconds, 1), " ms | ", t.prompts,
                   " | ", t.uncounted, " |\n");
  }
  return out + "| the paper, VirtualHome | | | 350 M | | 57 K | 107 TB | 1.6 GB | 1,720 T | 922 G | | | | |\n";
}

Json two_levels_json(const std::vector<TwoLevelsTable>& tables) {
  const auto level = [](const decode::LevelCost& cost) {
    return Json{{"states", cost.states}, {"dp_bytes", cost.dp_bytes}, {"operations", cost.operations}};
  };
  Json json = Json::array();
  for (const TwoLevelsTable& t : tables) {
    json.push_back({{"module", t.module},
                    {"prompts", t.prompts},
                    {"uncounted", t.uncounted},
                    {"syntax_states", t.sizes.syntax_states},
                    {"syntax_edges", t.sizes.syntax_edges},
                    {"tokens_per_action", t.sizes.tokens_per_action},
                    {"semantic_states", t.sizes.semantic_states},
                    {"semantic_edges", t.sizes.semantic_edges},
                    {"joint_states", t.sizes.joint_states},
                    {"one_level", level(t.costs.one)},
                    {"two_levels", level(t.costs.two)},
                    {"seconds", t.seconds},
                    {"constraint_bytes", t.constraint_bytes}});
  }
  return json;
}

}  // namespace metactrl::benchmarks
