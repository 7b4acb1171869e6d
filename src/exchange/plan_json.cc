// A plan as JSON, written by hand: the library uses no package. Keys and their meaning are in docs/exports.md.
#include <string>
#include <vector>

#include "exchange/asked.h"
#include "exchange/plan_trace.h"
#include "metactrl/exchange/export.h"
#include "support/json_text.h"
#include "support/words.h"
#include "task/program.h"

namespace metactrl {

using internal::json_text;

namespace {

std::string list(const std::vector<std::string>& items) {
  std::string out = "[";
  for (const std::string& item : items) out += (out.size() == 1 ? "" : ", ") + json_text(item);
  return out + "]";
}

std::string boolean(bool value) { return value ? "true" : "false"; }

class JsonPlan {
 public:
  JsonPlan(const Task& task, const exchange::PlanTrace& trace) : task_(task), trace_(trace), conditions_(task) {}

  std::string run() {
    const Validation& validation = trace_.validation;
    std::string out = "{\n";
    out += "  \"task\": " + json_text(task_.name()) + ",\n";
    out += "  \"valid\": " + boolean(validation.valid) + ",\n";
    out += "  \"reason\": " + json_text(validation.reason) + ",\n";
    out += str_cat("  \"steps_executed\": ", validation.steps_executed, ",\n");
    out += "  \"cost\": " + internal::number_text(validation.cost) + ",\n";
    out += "  \"initial\": " + list(task_.initial_facts()) + ",\n";
    out += "  \"steps\": [";
    for (std::size_t i = 0; i < trace_.steps.size(); ++i) out += (i == 0 ? "\n" : ",\n") + step(i);
    out += trace_.steps.empty() ? "],\n" : "\n  ],\n";
    out += "  \"goals\": [";
    for (const GoalId id : internal::ids<GoalId>(task_.num_goals())) out += (id == GoalId{0} ? "\n" : ",\n") + goal(id);
    return out + (task_.num_goals() == 0 ? "]\n}\n" : "\n  ]\n}\n");
  }

 private:
  std::string step(std::size_t index) const {
    const exchange::TracedStep& step = trace_.steps[index];
    const std::string indent(6, ' ');
    std::string out = "    {\n";
    out += indent + str_cat("\"index\": ", index + 1, ",\n");
    out += indent + "\"text\": " + json_text(to_string(step.step)) + ",\n";
    out += indent + "\"action\": " + json_text(step.step.action) + ",\n";
    out += indent + "\"arguments\": " + list(step.step.arguments) + ",\n";
    out += indent + "\"parameters\": " + list(parameters(step)) + ",\n";
    out += indent + "\"legal\": " + boolean(step.legal) + ",\n";
    if (!step.problem.empty()) out += indent + "\"problem\": " + json_text(step.problem) + ",\n";
    out += indent + "\"preconditions\": " + preconditions(step) + ",\n";
    out += indent + "\"effects\": {\"add\": " + facts(step.adds) + ", \"delete\": " + facts(step.deletes) + "},\n";
    out += indent + "\"changes\": {\"true\": " + facts(step.became_true) + ", \"false\": " + facts(step.became_false) +
           "}\n";
    return out + "    }";
  }

  std::vector<std::string> parameters(const exchange::TracedStep& step) const {
    if (!step.action) return {};
    return exchange::parameter_names(task_, task_.name_of(*step.action));
  }

  std::string preconditions(const exchange::TracedStep& step) const {
    if (!step.action) return "null";
    const task::Formula formula = task_.program().definition().actions.precondition(*step.action).formula();
    std::vector<std::string> texts;
    for (const exchange::Asked& part : conditions_.precondition(step.step, formula)) {
      texts.push_back(exchange::to_string(part));
    }
    return list(texts);
  }

  std::string goal(GoalId id) const {
    const bool met = trace_.last && task_.program().goal_holds(id, trace_.last->words().data());
    return str_cat("    {\"text\": ", json_text(task_.goal_text(id)), ", \"met\": ", boolean(met), "}");
  }

  // Numbers as comparisons.
  std::string facts(std::vector<std::string> texts) const {
    for (std::string& text : texts) text = conditions_.number_text(text).value_or(text);
    return list(texts);
  }

  const Task& task_;
  const exchange::PlanTrace& trace_;
  const exchange::AskedConditions conditions_;
};

}  // namespace

std::string plan_json(const Task& task, std::span<const PlanStep> plan) {
  const exchange::PlanTrace trace = exchange::trace_plan(task, plan);
  return JsonPlan(task, trace).run();
}

}  // namespace metactrl
