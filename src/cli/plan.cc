// metactrl plan: a plan from a language model.
//
// Text streams as it is decided: on a terminal token by token, elsewhere action by action, so that a program that reads
// it never sees half an action. Results go to standard output; the closing line and everything that is wrong go to
// standard error.
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <span>
#include <string_view>

#include "cli/plan_input.h"
#include "cli/plan_report.h"
#include "cli/preferences.h"
#include "cli/schedules.h"
#include "support/list_some.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

constexpr const char* kDim = "\033[2m";
constexpr const char* kBright = "\033[1m";
constexpr const char* kPlain = "\033[0m";

bool has_colour() {
  const char* term = std::getenv("TERM");
  const char* no_colour = std::getenv("NO_COLOR");
  return (no_colour == nullptr || *no_colour == '\0') && term != nullptr && std::string_view(term) != "dumb";
}

// Prints a plan while it grows. Nothing appears before the model has read its prompt, so that progress and plan do not
// mix.
class Printer {
 public:
  // `scheduled`: with the times of the schedule, where actions take time.
  Printer(const PlanInput& input, const OutputOptions& output, bool show_prompt, bool scheduled)
      : input_(input),
        output_(output),
        show_prompt_(show_prompt),
        scheduled_((scheduled || output.form == OutputForm::kPddl) && has_durations(input.task.task)),
        terminal_(output.file.empty() && ::isatty(STDOUT_FILENO) != 0),
        colour_(terminal_ && has_colour()) {}

  Observer observer() {
    Observer observer;
    // Never where the plan goes.
    if (::isatty(STDERR_FILENO) != 0) {
      observer.thought = [this](std::string_view text) { put_thought(text); };
      observer.thought_end = [](std::span<const TokenId>) { std::cerr << '\n' << std::flush; };
    }
    if (show_prompt_) {
      observer.ready = [](const PlanResult& so_far, std::size_t) {
        std::cerr << as_shown(so_far.prompt_text) << '\n' << std::flush;
      };
    }
    if (output_.json() || !streams()) return observer;
    observer.phase = [this](Observer::Phase phase) {
      if (phase == Observer::Phase::kDecoding || phase == Observer::Phase::kChecking) open();
    };
    if (output_.form == OutputForm::kPddl) {
      observer.action = [this](ActionId action, std::string_view) { put(input_.task.task.text(action) + "\n"); };
    } else if (terminal_ || input_.options.guidance == Guidance::kNone) {
      observer.token = [this](const Observer::Token& event) { put_token(event); };
    } else {
      observer.action = [this](ActionId, std::string_view text) { put_up_to(text); };
    }
    return observer;
  }

  void finish(const PlanResult& result) {
    open();
    if (output_.json()) {
      print(output_, result_json(input_, result));
      return;
    }
    put_rest(result);
    if (!held_.empty()) print(output_, held_);
  }

 private:
  // Under a time limit there is a whole plan or none; what is left out at the end was not said before; and a schedule is
  // known when the plan is.
  bool streams() const { return !input_.options.time_limit && !input_.options.simplify && !scheduled_; }

  // What was not said while the plan grew.
  void put_rest(const PlanResult& result) {
    const bool plan = result.outcome == PlanOutcome::kPlan;
    const bool legal = result.reading.complete && result.validation.steps_executed == result.steps.size();
    if (plan && legal && scheduled_) {
      const Task& task = input_.task.task;
      const Schedule schedule = make_schedule(task, result.steps, input_.schedule);
      put(schedule_text(task, schedule));
      put(str_cat("; ", cost_text(task, schedule, result.validation.cost), guarantee_text(result)));
      return;
    }
    switch (output_.form) {
      case OutputForm::kJson:
        return;
      case OutputForm::kPddl:
        // Free text has no actions before it is read.
        if (plan && (!streams() || input_.options.guidance == Guidance::kNone)) {
          for (ActionId action : result.plan) put(input_.task.task.text(action) + "\n");
        }
        if (plan) put(str_cat("; cost = ", number_text(result.validation.cost), guarantee_text(result)));
        return;
      case OutputForm::kText:
        if (plan && !written_tokens_) put_up_to(result.text);
        if (!last_.empty() && last_.back() != '\n') put("\n");
        return;
    }
  }

  std::string guarantee_text(const PlanResult& result) const {
    return str_cat(", guarantee: ", to_string(result.guarantee), guaranteed_of(input_.goal), "\n");
  }

  void open() {
    if (!output_.file.empty()) return;  // which is written in one piece
    open_ = true;
    if (!held_.empty()) print(std::exchange(held_, {}));
  }

  void put_thought(std::string_view text) const {
    const bool colour = has_colour();
    std::cerr << (colour ? kDim : "") << harmless(text) << (colour ? kPlain : "") << std::flush;
  }

  void put(const std::string& text) {
    if (text.empty()) return;
    last_ = text;
    if (open_) {
      print(text);
    } else {
      held_ += text;
    }
  }

  void put_token(const Observer::Token& event) {
    const std::string_view bytes = event.bytes;
    written_tokens_ = true;
    if (bytes.empty()) return;
    if (!colour_) {
      put(terminal_ ? harmless(bytes) : std::string(bytes));
      return;
    }
    put(str_cat(event.forced ? kDim : kBright, harmless(bytes), kPlain));
    last_ = bytes;
  }

  void put_up_to(std::string_view text) {
    if (text.size() <= written_) return;
    const std::string more(text.substr(written_));
    written_ = text.size();
    put(terminal_ ? harmless(more) : more);
  }

  const PlanInput& input_;
  const OutputOptions& output_;
  bool show_prompt_;
  bool scheduled_;
  bool terminal_;
  bool colour_;
  bool open_ = false;
  bool written_tokens_ = false;
  std::size_t written_ = 0;  // bytes of the plan's text
  std::string held_;
  std::string last_;
};

void say(const PlanInput& input, const PlanResult& result) {
  switch (result.outcome) {
    case PlanOutcome::kInfeasible:
      note("infeasible: " + result.reason + "; --on-infeasible drop-goals plans for the goals that can be reached");
      say_why(result.why_infeasible, result.would_help);
      return;
    case PlanOutcome::kUndecided:
      note(str_cat("undecided: ", result.reason, "; raise ",
                   result.out_of_time ? "--time-limit" : "--max-states, --max-memory or --max-work"));
      return;
    case PlanOutcome::kCancelled:
      note(str_cat("metactrl: stopped; ", count_text(result.steps.size(), "action was", "actions were"), " decided",
                   result.text.empty() ? "" : ":"));
      if (!result.text.empty()) note(result.text);
      return;
    case PlanOutcome::kPlan:
      break;
  }
  if (result.guarantee != Guarantee::kFull) note(result.reason);
  if (result.horizon_cut_by_context) {
    note(str_cat("the plan could have at most ", result.horizon,
                 " actions, which is what the model's context holds; raise --context for more"));
  }
  if (!result.left_out.empty()) {
    std::vector<std::string> steps;
    for (const PlanStep& step : result.left_out) steps.push_back(to_string(step));
    note(str_cat("left out, because the goals are reached without: ", internal::list_some(steps)));
  }
  if (result.reading.complete) {
    const std::string lines = preference_lines(result.validation.preferences, "");
    if (!lines.empty()) note(lines.substr(0, lines.size() - 1));
  }
  note(closing_line(input, result));
}

// A plan that keeps all that was asked for, or that there is none.
void certify(const PlanArguments& arguments, const PlanInput& input, const PlanResult& result) {
  if (!arguments.certificate.wanted()) return;
  const bool infeasible = result.outcome == PlanOutcome::kInfeasible;
  if (!infeasible && !result.valid()) {
    note("no certificate: there is nothing to prove");
    return;
  }
  std::optional<unsigned> horizon;
  if (arguments.horizon_option->count() > 0) horizon = arguments.horizon;
  if (result.horizon_cut_by_context) horizon = result.horizon;
  write_certificate(arguments.certificate, arguments.files, input.task.task,
                    {!infeasible, result.plan, horizon, input.goal ? input.goal->pddl : ""}, input.task.time.stop());
}

int make_plan(const PlanArguments& arguments) {
  const PlanInput input = load_plan_input(arguments);
  Printer printer(input, arguments.output, arguments.goal.show_prompt, arguments.schedule_option->count() > 0);
  const PlanResult result = run_plan(input, printer.observer());
  printer.finish(result);
  if (!arguments.trace.empty()) write_trace(arguments.trace, input, result);
  certify(arguments, input, result);
  if (!arguments.output.json() || result.outcome != PlanOutcome::kPlan) say(input, result);
  return exit_code(result);
}

constexpr const char* kPlanExamples =
    "\nExamples, from the root of the source tree:\n"
    "\n"
    "  metactrl plan -d domains/tabletop/domain.pddl -p domains/tabletop/dishwasher.pddl\n"
    "  metactrl plan -d domains/tabletop/domain.pddl -p domains/tabletop/dishwasher.pddl \\\n"
    "                -i \"put the dishes into the dishwasher\" --model my-model.gguf --format json\n"
    "\n"
    "What the model does on its own, and what holding it to the form alone is worth:\n"
    "\n"
    "  metactrl plan -d domains/tabletop/domain.pddl -p domains/tabletop/dishwasher.pddl --guidance none\n"
    "  metactrl plan -d domains/tabletop/domain.pddl -p domains/tabletop/dishwasher.pddl --guidance syntax\n"
    "\n"
    "Ctrl-C stops the decoding: exit code 130, and what was decided so far on standard error.\n";

}  // namespace

Command add_plan(CLI::App& parent) {
  auto arguments = std::make_shared<PlanArguments>();
  CLI::App* app = parent.add_subcommand(
      "plan", "make a plan with a language model; every step is legal, every goal holds at the end");
  add_plan_options(*app, *arguments, {OutputForm::kText, OutputForm::kJson, OutputForm::kPddl});
  app->add_flag("--simplify", arguments->simplify, "leave out the steps that the plan turns out not to need");
  arguments->schedule_option = add_schedule_option(*app, arguments->schedule);
  add_certificate_option(*app, arguments->certificate);
  app->footer(kPlanExamples);
  return {app, [arguments] { return make_plan(*arguments); }};
}

}  // namespace metactrl::cli
