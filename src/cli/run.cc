// metactrl run: a plan carried out, with eyes open.
//
// The loop is the library's (metactrl/robot/closed_loop.h); here it gets its options, a world, and somebody who listens. One
// episode streams what happens, several print a line each. --report keeps everything.
//
// With --cascade, several tasks are rolled out, guided and by the model alone, and where rollouts are lost becomes a table.
//
// A robot has moved when something is printed, so output that fails ends nothing: the episode goes on without it, the
// world is told its end, the report is written; then the failure is reported, with its exit code.
#include <csignal>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/goal_stage.h"
#include "cli/interrupt.h"
#include "cli/load_decoding.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/plan_input.h"
#include "cli/process_world.h"
#include "cli/run_cascade.h"
#include "cli/run_report.h"
#include "goals/problem_text.h"
#include "metactrl/robot/closed_loop.h"
#include "metactrl/robot/simulated_world.h"
#include "support/files.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

struct RunArguments : DecodingArguments {
  std::string domain;
  std::string problem;
  std::string format = "pddl";
  std::string instruction;
  GoalArguments goal;
  std::string world;
  CLI::Option* world_option = nullptr;
  double world_timeout = 30;
  std::string nature;
  std::vector<std::string> faults;
  bool state_probabilities = false;
  std::uint64_t episodes = 1;
  std::string report;
  CLI::Option* report_option = nullptr;
  std::string cascade;
  std::vector<std::string> also;
  bool quiet = false;  // the episodes of a cascade
  OutputOptions output;
  LoopOptions loop;
};

// "slip=0.1". Names that are not ours are nature's events.
void take_fault(const std::string& text, FaultRates& rates) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  char* end = nullptr;
  const std::string number = equals == std::string::npos ? "" : text.substr(equals + 1);
  const double rate = std::strtod(number.c_str(), &end);
  if (name.empty() || number.empty() || *end != '\0' || !(rate >= 0 && rate <= 1)) {
    throw UsageError(str_cat("--fault '", text, "' is not NAME=RATE with a rate from 0 to 1"));
  }
  if (name == "action-fails") {
    rates.action_fails = rate;
  } else if (name == "not-seen") {
    rates.not_seen = rate;
  } else if (name == "false-sighting") {
    rates.false_sighting = rate;
  } else if (name == "look-false-sighting") {
    rates.look_false_sighting = rate;
  } else {
    rates.events[name] = rate;
  }
}

class Runner {
 public:
  explicit Runner(const RunArguments& arguments) : arguments_(arguments) {}

  int run() {
    check_arguments();
    if (!arguments_.report.empty()) internal::check_writable(arguments_.report);
    catch_interrupts();
    catch_terminations();
    // A reader of our output that leaves is a message, not the end of the program: the world must be let go.
    ::signal(SIGPIPE, SIG_IGN);
    load();
    ClosedLoop loop(*scene_, options_, model_.model.get(), model_.vocabulary);
    roll(loop);
    finish();
    if (output_failure_) std::rethrow_exception(output_failure_);
    return exit_code();
  }

  // The rollouts of one task, for a table.
  CascadeRow cascade_row() {
    check_arguments();
    load();
    ClosedLoop loop(*scene_, options_, model_.model.get(), model_.vocabulary);
    roll(loop);
    return cli::cascade_row(std::filesystem::path(arguments_.problem).stem().string(), to_string(arguments_.guidance),
                            episodes_);
  }

 private:
  void roll(ClosedLoop& loop) {
    set_stoppable(true);
    for (std::uint64_t i = 0; i < arguments_.episodes && !interrupted() && !in_vain(); ++i) run_episode(loop, i);
  }

  void check_arguments() {
    if (arguments_.domain.empty()) throw UsageError("--domain FILE is missing");
    if (arguments_.problem.empty()) throw UsageError("--problem FILE is missing");
    if (arguments_.on_infeasible != PlanOptions::OnInfeasible::kError) {
      throw UsageError("run pursues all goals or ends: --on-infeasible must be error");
    }
    if (arguments_.world_option->count() > 0 && arguments_.world.find_first_not_of(" \t\n") == std::string::npos) {
      throw UsageError("--world is empty: name the command of the world's program, or leave it out to simulate one");
    }
    if (arguments_.report_option->count() > 0 && arguments_.report.empty()) {
      throw UsageError("--report-file is empty: name a file");
    }
    for (const std::string& fault : arguments_.faults) take_fault(fault, rates_);
    rates_.state_probabilities = arguments_.state_probabilities;
    if (!arguments_.world.empty() && (!arguments_.faults.empty() || !arguments_.nature.empty())) {
      throw UsageError(
          "--fault and --nature are for the simulated world; with --world the world has faults of its own");
    }
  }

  void load() {
    options_ = arguments_.loop;
    options_.format = load_format(arguments_.format);
    options_.plan = plan_options(arguments_);
    options_.plan.instruction = arguments_.instruction;
    set_budgets(arguments_.budget, options_.plan);
    if (arguments_.budget.states_option->count() > 0)
      options_.belief_search_states = options_.plan.lookahead.search.states;
    options_.plan.time_limit = arguments_.budget.time_limit();
    GoalStage stage({arguments_.domain, arguments_.problem, ""}, arguments_.goal, arguments_.instruction,
                    arguments_.output);
    if (stage.needs_model() && !arguments_.cascade.empty()) {
      throw UsageError("--cascade compares rollouts towards one goal; state it in the problem, or with --goal");
    }
    if (stage.needs_model()) model_ = load_model_for(arguments_);
    if (stage.needed()) {
      // Who looks back sees a start that is long gone. What the goal has taken, the plan does not have.
      const TimeLimit time(options_.plan.time_limit);
      goal_ = stage.choose(model_, options_.plan, time, false);
      options_.plan.time_limit = time.left();
      goal_->written.take_from(options_.plan);
    }
    Diagnostics diagnostics;
    LoadOptions options;
    options.diagnostics = stage.needed() ? nullptr : &diagnostics;  // which were printed with the problem
    {
      const ProgressLine progress("loading");
      scene_ = load_scene(stage, arguments_.domain, options);
    }
    print_diagnostics(diagnostics);
    if (!rates_.events.empty()) nature_ = load_scene(stage, nature_file(), {});
    if (!stage.needs_model()) model_ = load_model_for(arguments_);
  }

  Scene load_scene(const GoalStage& stage, const std::string& domain, const LoadOptions& options) const {
    if (!stage.needed()) return Scene::load(domain, arguments_.problem, options);
    try {
      return Scene::load_text(internal::read_file(domain), stage.problem().problem_text(goal_->pddl), options);
    } catch (const TaskTooLarge&) {
      throw;
    } catch (const InputError& error) {
      throw InputError(errors_of_goal(error.diagnostics()));
    }
  }

  // The goal stands behind the last line of the problem, which nobody wrote there.
  Diagnostics errors_of_goal(const Diagnostics& all) const {
    const goals::Composed composed = goals::with_goal(internal::read_file(arguments_.problem), {"(and)", {}});
    const Diagnostics placed = goals::about_goal(all, "problem", composed.first_line);
    Diagnostics out;
    for (const Diagnostic& one : placed.items()) {
      if (one.severity == Diagnostic::Severity::kError) out.error(one.where, one.message, one.hint);
    }
    return out;
  }

  // nature/events.pddl beside the domain, unless one is named.
  std::string nature_file() const {
    if (!arguments_.nature.empty()) return arguments_.nature;
    const std::filesystem::path beside =
        std::filesystem::path(arguments_.domain).parent_path() / "nature" / "events.pddl";
    std::error_code ignored;
    if (std::filesystem::exists(beside, ignored)) return beside.string();
    throw UsageError(str_cat("--fault ", rates_.events.begin()->first,
                             ": there is no such fault, and no file of events (", beside.string(),
                             "); use action-fails, not-seen or false-sighting, or name --nature FILE"));
  }

  // Output that fails must not end an episode, nor one failure hide another output: the first is kept for the end.
  template <typename Work>
  void put_out(const Work& work) {
    try {
      work();
    } catch (const InputError&) {
      if (!output_failure_) output_failure_ = std::current_exception();
    }
  }
  // Once it cannot be written it stays so.
  void say(const std::string& text) {
    if (!arguments_.output.file.empty()) {
      said_ += text;
    } else if (!output_failure_) {
      put_out([&] { print(text); });
    }
  }
  // Nobody will hear of another episode.
  bool in_vain() const { return output_failure_ && arguments_.report.empty(); }

  bool streams() const { return arguments_.episodes == 1 && !arguments_.output.json() && !arguments_.quiet; }

  void run_episode(ClosedLoop& loop, std::uint64_t index) {
    Episode episode;
    episode.number = index;
    episode.seed = arguments_.generate.seed + index;
    std::optional<ProgressLine> progress;
    LoopObserver observer;
    observer.cancelled = [] { return interrupted(); };
    observer.phase = [&](Observer::Phase phase) {
      progress.reset();
      if (phase == Observer::Phase::kCompiling) progress.emplace("computing what can still succeed");
      if (phase == Observer::Phase::kReadingPrompt) progress.emplace("the model reads the prompt");
      if (phase == Observer::Phase::kDecoding) progress.emplace("the model writes");
    };
    observer.event = [&](const LoopEvent& event) {
      progress.reset();
      if (arguments_.goal.show_prompt && !event.prompt_text.empty()) {
        std::cerr << as_shown(event.prompt_text) << '\n' << std::flush;
      }
      if (streams()) say(to_string(event) + "\n");
    };
    observer.acting = [&](const PlanStep& step) { progress.emplace(str_cat("act ", to_string(step))); };
    if (arguments_.world.empty()) {
      SimulatedWorld world(*scene_, nature_, rates_, episode.seed);
      const SceneState start = world.truth();
      episode.report = loop.run(world, observer);
      episode.goal_is_true = scene_->is_goal(world.truth());
      episode.stages = stages_of(*scene_, start, episode.report, *episode.goal_is_true);
      episode.faults = world.faults();
    } else {
      const Stopwatch watch;
      ProcessWorld::Options options;
      options.command = arguments_.world;
      options.timeout = arguments_.world_timeout;
      options.episode = index;
      options.seed = episode.seed;
      options.stop = [&] { return interrupted() || (options_.seconds && watch.seconds() > *options_.seconds); };
      options.group = [](pid_t group) { set_child_group(group); };
      ProcessWorld world(*scene_, options);
      episode.report = loop.run(world, observer);
      world.finish(episode.report);
    }
    progress.reset();
    if (arguments_.episodes > 1 && !arguments_.output.json() && !arguments_.quiet) {
      say(str_cat("episode ", index + 1, " (seed ", episode.seed, "): ", closing_line(episode), "\n"));
    }
    // Events of thousands of episodes are kept for the report alone.
    if (arguments_.report.empty() && !arguments_.output.json()) {
      episode.report.events.clear();
      episode.report.belief.clear();
    }
    episodes_.push_back(std::move(episode));
  }

  Json report() const {
    const GenerateOptions& generate = arguments_.generate;
    Json faults{{"action-fails", rates_.action_fails},
                {"not-seen", rates_.not_seen},
                {"false-sighting", rates_.false_sighting},
                {"look-false-sighting", rates_.look_false_sighting}};
    for (const auto& [name, rate] : rates_.events) faults[name] = rate;
    Json json{{"task", scene_->name()},
              {"world", arguments_.world.empty() ? Json("simulated") : Json(arguments_.world)},
              {"guidance", to_string(arguments_.guidance)},
              {"model", model_.model == nullptr ? Json(nullptr) : Json(model_.name)},
              {"decode", to_string(generate.mode)},
              {"seed", generate.seed},
              {"goal", goal_ ? serve::goal_json(*goal_) : serve::Json(nullptr)},
              {"confidence", options_.confidence},
              {"max_replans", options_.max_replans},
              {"max_actions", options_.max_actions},
              {"max_looks", options_.max_looks},
              {"run_time", options_.seconds ? Json(*options_.seconds) : Json(nullptr)}};
    if (arguments_.world.empty()) json["faults"] = std::move(faults);
    json["summary"] = summary_json(episodes_);
    json["episodes"] = Json::array();
    for (const Episode& episode : episodes_) json["episodes"].push_back(to_json(episode));
    return json;
  }

  void finish() {
    if (!arguments_.report.empty()) {
      put_out([&] {
        internal::write_file(arguments_.report, report().dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
      });
    }
    if (arguments_.output.json()) put_out([&] { print(arguments_.output, report()); });
    if (!said_.empty()) put_out([&] { print(arguments_.output, said_); });
    if (episodes_.empty()) return;
    const bool one = episodes_.size() == 1 && arguments_.episodes == 1;
    note(str_cat(one ? closing_line(episodes_[0]) : summary_line(episodes_),
                 goal_ && goal_->by_model ? "; what is guaranteed is so of the goal shown" : ""));
  }

  // Of the first episode that did not reach its goal.
  int exit_code() const {
    if (interrupted()) return cli::exit_code(LoopEnd::kInterrupted, interrupt_signal());
    for (const Episode& episode : episodes_) {
      if (!is_success(episode.report.end)) return cli::exit_code(episode.report.end, 0);
    }
    return kDone;
  }

  const RunArguments& arguments_;
  FaultRates rates_;
  std::optional<Scene> scene_;
  std::optional<Scene> nature_;
  LoopOptions options_;
  LoadedModel model_;
  std::optional<ChosenGoal> goal_;
  std::vector<Episode> episodes_;
  std::string said_;  // for --out, which is written at the end
  std::exception_ptr output_failure_;
};

// Every task with its guidance and, unless that is none, by the model alone.
int run_cascade(const RunArguments& arguments) {
  if (!arguments.world.empty()) {
    throw UsageError("--cascade needs to know what is true; leave out --world, so that the world is simulated");
  }
  if (!arguments.report.empty()) throw UsageError("--cascade writes its own files; leave out --report-file");
  std::vector<std::string> problems = {arguments.problem};
  problems.insert(problems.end(), arguments.also.begin(), arguments.also.end());
  std::vector<Guidance> guidances = {arguments.guidance};
  if (arguments.guidance != Guidance::kNone) guidances.push_back(Guidance::kNone);
  catch_interrupts();
  std::vector<CascadeRow> rows;
  for (const std::string& problem : problems) {
    for (const Guidance guidance : guidances) {
      RunArguments one = arguments;
      one.problem = problem;
      one.guidance = guidance;
      one.quiet = true;
      rows.push_back(Runner(one).cascade_row());
      if (interrupted()) return kInterrupted;
    }
  }
  write_cascade(arguments.cascade, rows);
  if (arguments.output.json()) {
    print(arguments.output, cascade_json(rows));
  } else {
    print(arguments.output, cascade_markdown(rows));
  }
  return kDone;
}

void add_loop_options(CLI::App& app, LoopOptions& loop) {
  add_number(app, "--max-replans", "N", loop.max_replans, 0, 1e6, "plans after the first; 0: carry out one plan");
  add_number(app, "--max-actions", "N", loop.max_actions, 0, 1e6, "actions to execute");
  add_number(app, "--max-looks", "N", loop.max_looks, 0, 1e6, "close looks; 0: never look first");
  add_number(app, "--run-time", "SECONDS", loop.seconds, 1e-3, 1e9,
             "seconds for one episode; also ends a search or an answer under way; without it, no limit");
  add_number(app, "--confidence", "P", loop.confidence, 1e-6, 1,
             "a plan must hold in states with this probability together, and so must the goal");
  add_number(app, "--change-rate", "P", loop.change_rate, 0, 1, "chance that what is observed has changed by itself");
  add_number(app, "--failure-rate", "P", loop.failure_rate, 0, 1,
             "chance that a legal action fails, as the loop assumes it");
  add_number(app, "--belief-states", "N", loop.max_states, 1, 10000, "states that are kept as possible");
  add_number(app, "--look-cost", "C", loop.look_cost, 0, 1e6, "what a look costs, in actions");
  add_number(app, "--failure-cost", "C", loop.failure_cost, 0, 1e6,
             "what a plan that misses the true state costs, in actions");
}

void add_world_options(CLI::App& app, RunArguments& arguments) {
  arguments.world_option =
      app.add_option("--world", arguments.world, "command of a program that is the world; without it, one is simulated")
          ->type_name("COMMAND");
  add_number(app, "--world-timeout", "SECONDS", arguments.world_timeout, 1e-3, 1e6,
             "seconds the world has for each answer");
  app.add_option("--fault", arguments.faults,
                 "NAME=RATE, again for each: action-fails, not-seen, false-sighting, look-false-sighting, or an event")
      ->type_name("FAULT");
  app.add_option("--nature", arguments.nature,
                 "PDDL file whose actions are events; without it, nature/events.pddl beside the domain")
      ->type_name("FILE");
  app.add_flag("--state-probabilities", arguments.state_probabilities,
               "the simulated world says how often its sightings are false");
  add_number(app, "--episodes", "N", arguments.episodes, 1, 1e7, "runs, with the seeds S, S+1, ...");
}

constexpr const char* kRunExamples =
    "\n"
    "  metactrl run -d domains/tabletop/domain.pddl -p domains/tabletop/dishwasher.pddl --guidance search \\\n"
    "    --fault action-fails=0.1 --fault slip=0.1 --fault found-closed=0.05 --seed 1\n"
    "  metactrl run -d domains/tabletop/domain.pddl -p domains/tabletop/boxed_tools.pddl --guidance search \\\n"
    "    --world 'python3 examples/robot_world.py'\n"
    "\n"
    "docs/closed-loop.md explains what is believed, and what a world program has to say.\n";

}  // namespace

Command add_run(CLI::App& parent) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* app =
      parent.add_subcommand("run", "carry out plans in a world that may surprise: observe, plan, act, compare");
  add_pddl_options(*app, arguments->domain, arguments->problem);
  add_instruction_option(*app, arguments->instruction);
  add_goal_options(*app, arguments->goal);
  add_format_option(*app, arguments->format);
  add_world_options(*app, *arguments);
  add_loop_options(*app, arguments->loop);
  arguments->report_option =
      app->add_option("--report-file", arguments->report, "file for everything that happened, as JSON")
          ->type_name("FILE");
  CLI::Option* cascade =
      app->add_option("--cascade", arguments->cascade,
                      "folder for a table and a plot: in which of planning, perception and execution "
                      "rollouts are lost, guided and by the model alone")
          ->type_name("DIR");
  app->add_option("--also", arguments->also, "with --cascade: a further problem of the domain; may be repeated")
      ->type_name("FILE")
      ->needs(cascade);
  add_output_options(*app, arguments->output);
  add_decoding_options(*app, *arguments);
  app->footer(kRunExamples);
  return {app, [arguments] { return arguments->cascade.empty() ? Runner(*arguments).run() : run_cascade(*arguments); }};
}

}  // namespace metactrl::cli
