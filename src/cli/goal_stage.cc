// Which goal is planned for. A goal of the model's is shown in words and in PDDL; a person at a terminal says yes, takes
// another of the likeliest ones, or says no. Elsewhere it takes --yes: nothing is done about a goal that nobody saw. And --yes is
// for a goal of which nothing says that it is another one than was meant: where there is a doubt, somebody has to look all the same.
#include "cli/goal_stage.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <span>
#include <utility>

#include "cli/interrupt.h"
#include "cli/options.h"
#include "support/files.h"
#include "support/words.h"

namespace metactrl::cli {

namespace {

std::string percent(double share) { return str_cat(std::lround(100 * share), " %"); }

}  // namespace

const char* guaranteed_of(const std::optional<ChosenGoal>& goal) {
  return goal && goal->by_model ? " (of the goal shown)" : "";
}

void add_goal_options(CLI::App& app, GoalArguments& arguments) {
  arguments.goal_option = app.add_option("--goal", arguments.goal,
                                         "the goal in PDDL, instead of the problem's: \"(and (p a) (not (q b)))\"")
                              ->type_name("GOAL");
  app.add_flag("--yes,-y", arguments.yes,
               "plan for the goal that the model reads from the instruction, unasked, unless something speaks "
               "against it");
  add_number(app, "--hypotheses", "N", arguments.hypotheses, 1, 32, "goals to choose from, where the model writes one");
  app.add_flag("--show-prompt", arguments.show_prompt,
               "print what the model reads on standard error: the prompt, and that of the goal where it writes one");
}

GoalStage::GoalStage(const TaskFiles& files, const GoalArguments& arguments, const std::string& instruction,
                     const OutputOptions& output)
    : arguments_(arguments), instruction_(instruction), output_(output) {
  const bool given = arguments.goal_option->count() > 0;
  if (!files.sas.empty()) {
    if (given) throw UsageError("--goal is for --domain and --problem; a SAS file has a goal of its own");
    return;
  }
  const std::string problem = given ? "" : internal::read_file(files.problem);
  if (!given && GoalProblem::states_goal(problem)) return;
  if (!given && trim(instruction).empty()) {
    if (GoalProblem::asks_for_something(problem)) return;
    throw InputError(files.problem, "states no goal",
                     "add (:goal ...) to it or give --goal \"(...)\"; or say what you want in words: --instruction "
                     "\"...\"");
  }
  Diagnostics diagnostics;
  LoadOptions loading;
  loading.diagnostics = &diagnostics;
  problem_ = GoalProblem::load(files.domain, files.problem, loading);
  print_diagnostics(diagnostics);
}

ChosenGoal GoalStage::choose(const LoadedModel& model, const PlanOptions& options, const TimeLimit& time,
                             bool may_look_back) {
  if (!needs_model()) {
    problem_->problem_text(arguments_.goal);  // which throws where it is no list
    if (!GoalProblem::states_goal(str_cat("(define (:goal ", arguments_.goal, "\n))"))) {
      throw InputError("goal", "asks for nothing", "write for example (and (p a) (not (q b)))");
    }
    return {arguments_.goal};
  }
  ChosenGoal goal = write(model, options, time, may_look_back);
  const GoalProblem::Written& written = goal.written;
  if (written.goals.empty()) {
    const ExitCode code = written.undecided                     ? kUndecided
                          : options.guidance == Guidance::kNone ? kPlanInvalid
                                                                : kInfeasible;
    answer(goal, serve::no_goal_outcome(written, options.guidance), code,
           str_cat("no goal could be made of the instruction: ", written.reason,
                   "; say it in other words, or give --goal \"(...)\""));
  }
  goal.pddl = written.goals[0].pddl;
  if (!arguments_.yes || !written.doubt.empty()) {
    confirm(goal);
  } else if (!output_.json()) {
    show(goal);
  }
  return goal;
}

ChosenGoal GoalStage::write(const LoadedModel& model, const PlanOptions& options, const TimeLimit& time,
                            bool may_look_back) const {
  if (options.guidance == Guidance::kSearch) {
    throw UsageError(
        "the problem states no goal, and --guidance search has no model that could read the instruction; give --goal "
        "\"(...)\" or another --guidance");
  }
  GoalProblem::Options writing;
  writing.guidance = options.guidance;
  writing.lookahead = options.lookahead;
  writing.hypotheses = arguments_.hypotheses;
  writing.think = options.think;
  writing.seed = options.generate.seed;
  writing.may_look_back = may_look_back;
  const Stop out_of_time = time.stop();
  const Stop stop = [&] { return interrupted() || (out_of_time && out_of_time()); };
  const Stopwatch watch;
  const ProgressLine progress("the model reads the instruction");
  ChosenGoal goal;
  goal.by_model = true;
  set_stoppable(true);
  try {
    goal.written = problem_->write(instruction_, *model.model, model.vocabulary, writing, stop);
  } catch (const Stopped&) {
    if (interrupted()) throw EarlyAnswer(kInterrupted, "metactrl: stopped; no goal was decided");
    throw EarlyAnswer(kUndecided,
                      str_cat("undecided: ", time.reason(), " before the instruction was read; raise --time-limit"));
  } catch (const ContextError& error) {
    throw InputError("--instruction", error.what());
  } catch (const ModelError& error) {
    throw ResourceError(kOutOfMemory, str_cat("the model cannot go on: ", error.what()));
  }
  set_stoppable(false);
  if (arguments_.show_prompt) std::cerr << as_shown(goal.written.prompt_text) << '\n' << std::flush;
  goal.seconds = watch.seconds();
  return goal;
}

void GoalStage::answer(const ChosenGoal& goal, const char* outcome, ExitCode code, const std::string& message) const {
  if (output_.json()) {
    print(output_,
          Json{{"outcome", outcome}, {"plan", nullptr}, {"reason", message}, {"goal", serve::goal_json(goal)}});
  } else {
    show(goal);
  }
  throw EarlyAnswer(code, message);
}

// On standard error: it is not the plan.
void GoalStage::show(const ChosenGoal& goal) const {
  const GoalProblem::Written& written = goal.written;
  for (std::size_t i = 0; i < written.goals.size(); ++i) {
    const GoalProblem::Goal& one = written.goals[i];
    const bool several = written.goals.size() > 1;
    note(str_cat(i == 0 ? "goal" : "  or", several ? str_cat(" ", i + 1, " (", percent(one.probability), ")") : "",
                 ": ", join(one.words, "; "), one.holds_already ? "   (holds already)" : "",
                 one.mentioned ? "" : "   (no word of the instruction is about it)"));
    note("        " + one.pddl);
  }
  // More than two tell a person nothing; a program gets them all.
  for (const GoalProblem::Refused& refused :
       std::span(written.refused).first(std::min<std::size_t>(written.refused.size(), 2))) {
    note(str_cat("the model also thought of ", refused.condition, ", which ", refused.reason));
  }
  for (const std::string& name : written.unknown_names) {
    note(str_cat("the instruction says ", name, ": nothing here is called so"));
  }
  if (written.budget_ended) {
    note(str_cat("the budget of proofs ended before all that was tried was decided (", written.proofs, " searches, ",
                 written.work, " steps)"));
  }
  if (!written.doubt.empty() && !written.goals.empty()) note(str_cat("look at it: ", written.doubt));
}

void GoalStage::confirm(ChosenGoal& goal) const {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0) {
    const std::string why =
        arguments_.yes ? str_cat(goal.written.doubt,
                                 ", so --yes does not plan for it: say it in words of the task, or give --goal '")
                       : "nobody is there to confirm the goal: --yes plans for the likeliest unasked, --goal '";
    answer(goal, "not confirmed", kNotConfirmed, str_cat(why, goal.pddl, "' for this one"));
  }
  show(goal);
  const std::size_t count = goal.written.goals.size();
  while (true) {
    std::cerr << (count > 1 ? str_cat("plan for it? [y, n, or 1 to ", count, "] ") : "plan for it? [y, n] ")
              << std::flush;
    std::string line;
    const bool there = static_cast<bool>(std::getline(std::cin, line));
    const std::string word(trim(line));
    if (!there || word == "n" || word == "no") {
      throw EarlyAnswer(kNotConfirmed, "not confirmed; say it in other words, or give --goal \"(...)\"");
    }
    if (word.empty() || word == "y" || word == "yes") return;
    const bool number = std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
    const std::size_t chosen = number && word.size() < 4 ? std::stoul(word) : 0;
    if (chosen < 1 || chosen > count) continue;
    goal.choice = chosen - 1;
    goal.pddl = goal.written.goals[goal.choice].pddl;
    return;
  }
}

}  // namespace metactrl::cli
