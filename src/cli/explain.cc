// metactrl explain: the plan again, with the reason for everything that was and was not allowed at each step.
//
// The plan is made as by metactrl plan, then replayed. Why an action is illegal is asked of the reference semantics, by
// appending it to the steps before; so it is the same sentence that metactrl validate would print. Many illegal actions
// are grouped by name, with one of them as an example: the sentence costs an execution of the plan each.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <map>
#include <memory>

#include "cli/plan_input.h"
#include "cli/plan_report.h"
#include "support/list_some.h"
#include "support/str_cat.h"
#include "task/program.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

// More than so many are grouped, or cut.
constexpr std::size_t kReadable = 12;

struct ExplainArguments {
  PlanArguments plan;
  bool all = false;
};

class Explanation {
 public:
  Explanation(const PlanInput& input, const PlanResult& result, bool all)
      : input_(input), task_(input.task.task), result_(result), all_(all) {}

  std::string text(const std::vector<ExplainedStep>& steps) {
    add_head();
    for (std::size_t i = 0; i < steps.size(); ++i) add_step(i, steps[i]);
    add_end();
    return std::move(out_);
  }

 private:
  void add_head() {
    std::vector<std::string> goals;
    for (std::uint32_t goal = 0; goal < task_.num_goals(); ++goal) goals.push_back(task_.goal_text(GoalId{goal}));
    out_ += str_cat("task      ", task_.name(), "\ngoal      ",
                    internal::list_some(goals, all_ ? goals.size() : kReadable), "\n");
    if (!result_.goals_dropped.empty()) {
      goals.clear();
      for (GoalId goal : result_.goals_dropped) goals.push_back(task_.goal_text(goal));
      out_ += str_cat("dropped   ", internal::list_some(goals, goals.size()), "\n");
    }
    if (result_.preferences) {
      std::vector<std::string> wishes;
      const auto& preferences = task_.program().definition().preferences;
      for (const std::size_t i : result_.preferences->promised) wishes.push_back(preferences[i].text);
      out_ += str_cat(
          "prefers   ",
          wishes.empty() ? "nothing that could be had" : internal::list_some(wishes, all_ ? wishes.size() : kReadable),
          " (", wishes.size(), " of ", preferences.size(), " preferences, as goals)\n");
    }
    if (input_.model.model != nullptr) out_ += str_cat("model     ", input_.model.model->description(), "\n");
    out_ += str_cat("guidance  ", to_string(input_.options.guidance));
    if (result_.lookahead != nullptr) out_ += ": " + result_.lookahead->reason();
    out_ += "\n";
  }

  void add_step(std::size_t index, const ExplainedStep& step) {
    out_ += str_cat("\nstep ", index + 1);
    if (step.left > 0) out_ += str_cat(", ", count_text(step.left, "action", "actions"), " left");
    if (step.goal_holds) out_ += "; the goal holds already";
    out_ += "\n";
    add_chosen(index, step);
    if (step.wish) add_wish(step);
    add_allowed(step);
    add_hopeless(step);
    add_illegal(index, step);
  }

  void line(std::string_view label, const std::string& text) {
    std::string padded(label);
    padded.resize(10, ' ');
    out_ += "  " + padded + text + "\n";
  }

  void add_chosen(std::size_t index, const ExplainedStep& step) {
    std::size_t forced = 0;
    for (const ExplainedStep::Token& token : step.tokens) forced += token.forced ? 1 : 0;
    std::string tokens;
    if (!step.tokens.empty())
      tokens = str_cat("   ", forced, " of ", count_text(step.tokens.size(), "token", "tokens"), " forced");
    if (!step.chosen) {
      line("chosen", step.stops ? "nothing: the plan is empty" + tokens : "nothing yet: stopped here");
      return;
    }
    std::string text = task_.text(*step.chosen) + (step.stops ? ", the last one" : "") + tokens;
    if (!step.chosen_is_legal) text += "\n            illegal: " + why(index, *step.chosen);
    line("chosen", text);
  }

  void add_wish(const ExplainedStep& step) {
    const ExplainedStep::Wish& wish = *step.wish;
    std::string text =
        wish.action ? task_.text(*wish.action) + (wish.stops ? ", and to end there" : "") : "to do nothing at all";
    if (!wish.veto.empty()) {
      text += "\n            " + wish.veto;
    } else if (wish.action == step.chosen) {
      text =
          wish.stops == step.stops ? "the same" : str_cat("the same, but ", wish.stops ? "to end there" : "to go on");
    } else {
      text += ", which was allowed";
    }
    line("wanted", text);
  }

  void add_allowed(const ExplainedStep& step) {
    std::vector<ExplainedStep::Judged> allowed;
    for (const ExplainedStep::Judged& entry : step.legal) {
      if (entry.standing == ExplainedStep::Standing::kAllowed || entry.standing == ExplainedStep::Standing::kNotJudged)
        allowed.push_back(entry);
    }
    if (allowed.empty()) return;
    const Guidance guidance = input_.options.guidance;
    const bool weighed =
        (guidance == Guidance::kUniform || guidance == Guidance::kTrained) && result_.lookahead != nullptr;
    double total = -std::numeric_limits<double>::infinity();
    for (const ExplainedStep::Judged& entry : allowed) total = std::max(total, entry.log_weight);
    double sum = 0;
    for (const ExplainedStep::Judged& entry : allowed) sum += std::exp(entry.log_weight - total);
    if (weighed) {
      std::stable_sort(
          allowed.begin(), allowed.end(),
          [](const ExplainedStep::Judged& a, const ExplainedStep::Judged& b) { return a.log_weight > b.log_weight; });
    }
    const std::size_t shown = all_ || allowed.size() <= kReadable ? allowed.size() : kReadable;
    const bool judged = allowed[0].standing == ExplainedStep::Standing::kAllowed;
    for (std::size_t i = 0; i < shown; ++i) {
      std::string text = task_.text(allowed[i].action);
      if (judged) text += str_cat("   then ", allowed[i].remaining, " more");
      if (weighed) text += ", weight " + percent(std::exp(allowed[i].log_weight - total) / sum);
      line(i == 0 ? (judged ? "allowed" : "legal") : "", text);
    }
    if (shown < allowed.size()) line("", str_cat("and ", allowed.size() - shown, " more (--all shows them)"));
  }

  static std::string percent(double share) {
    if (!(share >= 0.001)) return "below 0.1 %";
    return number_text(std::round(share * 1000) / 10) + " %";
  }

  // Legal, and not allowed all the same.
  void add_hopeless(const ExplainedStep& step) {
    std::map<ExplainedStep::Standing, std::vector<std::string>> by_standing;
    for (const ExplainedStep::Judged& entry : step.legal) {
      if (why_not(entry.standing, step.left).empty()) continue;
      by_standing[entry.standing].push_back(task_.text(entry.action));
    }
    for (const auto& [standing, actions] : by_standing) {
      line("hopeless", internal::list_some(actions, all_ ? actions.size() : kReadable));
      line("", "  " + why_not(standing, step.left));
    }
  }

  void add_illegal(std::size_t index, const ExplainedStep& step) {
    std::vector<ActionId> illegal;
    auto next_legal = step.legal.begin();
    for (std::uint32_t i = 0; i < task_.num_actions(); ++i) {
      while (next_legal != step.legal.end() && next_legal->action < ActionId{i}) ++next_legal;
      if (next_legal == step.legal.end() || next_legal->action != ActionId{i}) illegal.push_back(ActionId{i});
    }
    bool first = true;
    const auto add = [&](const std::string& text) { line(std::exchange(first, false) ? "illegal" : "", text); };
    if (all_ || illegal.size() <= kReadable) {
      for (ActionId action : illegal) add(str_cat(task_.text(action), ": ", why(index, action)));
      return;
    }
    std::map<std::uint32_t, std::vector<ActionId>> by_name;
    for (ActionId action : illegal) by_name[static_cast<std::uint32_t>(task_.name_of(action))].push_back(action);
    for (const auto& [name, actions] : by_name) {
      const std::string text = str_cat(task_.text(actions[0]), ": ", why(index, actions[0]));
      add(actions.size() == 1
              ? text
              : str_cat(task_.action_name(ActionNameId{name}), ", ", actions.size(), " times, such as ", text));
    }
  }

  std::string why(std::size_t index, ActionId action) const {
    return why_illegal(task_, std::span(result_.steps).first(index), action);
  }

  void add_end() {
    if (result_.outcome == PlanOutcome::kInfeasible || result_.outcome == PlanOutcome::kUndecided) {
      out_ += str_cat("\nno plan: ", to_string(result_.outcome), ": ", result_.reason, "\n");
      for (const std::string& line : why_lines(result_.why_infeasible, result_.would_help)) out_ += line + "\n";
      return;
    }
    if (!result_.reading.complete && result_.outcome == PlanOutcome::kPlan) {
      out_ += "\nthe model wrote:\n" + result_.text + "\n";
    }
    out_ += str_cat("\n", to_string(result_.guarantee), guaranteed_of(input_.goal), ": ", result_.reason, "\n",
                    closing_line(input_, result_), "\n");
  }

  const PlanInput& input_;
  const Task& task_;
  const PlanResult& result_;
  bool all_;
  std::string out_;
};

int explain(const ExplainArguments& arguments) {
  const PlanInput input = load_plan_input(arguments.plan);
  Observer observer;
  if (arguments.plan.goal.show_prompt) {
    observer.ready = [](const PlanResult& so_far, std::size_t) {
      std::cerr << as_shown(so_far.prompt_text) << '\n' << std::flush;
    };
  }
  const PlanResult result = run_plan(input, observer);
  std::vector<ExplainedStep> steps;
  {
    const ProgressLine progress("asking the model what it wanted");
    try {
      steps = explain(input.task.task, result, input.model.model.get());
    } catch (const ModelError& error) {
      throw ResourceError(kOutOfMemory, str_cat("the model cannot go on: ", error.what()));
    }
  }
  if (arguments.plan.output.json()) {
    print(arguments.plan.output, Json(trace_events(input, result, steps)));
  } else {
    print(arguments.plan.output, Explanation(input, result, arguments.all).text(steps));
  }
  if (!arguments.plan.trace.empty()) write_trace(arguments.plan.trace, input, result);
  return exit_code(result);
}

constexpr const char* kExplainExamples =
    "\nExample, from the root of the source tree:\n"
    "\n"
    "  metactrl explain -d domains/tabletop/domain.pddl -p domains/tabletop/dishwasher.pddl\n";

}  // namespace

Command add_explain(CLI::App& parent) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App* app =
      parent.add_subcommand("explain", "make a plan and say why each action was, or was not, allowed at each step");
  add_plan_options(*app, arguments->plan, {OutputForm::kText, OutputForm::kJson});
  app->add_flag("--all", arguments->all, "show every action, and why, instead of examples");
  app->footer(kExplainExamples);
  return {app, [arguments] { return explain(*arguments); }};
}

}  // namespace metactrl::cli
