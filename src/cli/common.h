// What the subcommands share: exit codes, loading, budgets, output.
#ifndef METACTRL_SRC_CLI_COMMON_H_
#define METACTRL_SRC_CLI_COMMON_H_

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "metactrl/lookahead.h"
#include "metactrl/task.h"
#include "support/stopwatch.h"

namespace metactrl::cli {

using Json = nlohmann::ordered_json;

// In blocks: 0 done, 10-19 no plan, 20-29 a resource ran out, 30-39 something is wrong with the call, the input or us.
enum ExitCode : int {
  kDone = 0,
  kInfeasible = 10,
  kUndecided = 11,
  kPlanInvalid = 12,
  kNotReached = 13,
  kNotConfirmed = 14,
  kOutOfMemory = 20,
  kOutOfTime = 21,
  kNoNetwork = 22,
  kUsage = 30,
  kBadInput = 31,
  kInternal = 32,
  kWorldFailed = 33,
};

// A wrong combination of options: exit code kUsage.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A resource ran out outside a search, where it is an error and not an answer.
class ResourceError : public std::runtime_error {
 public:
  ResourceError(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// An answer, and not a plan, found before planning: the message, and its exit code.
class EarlyAnswer : public std::runtime_error {
 public:
  EarlyAnswer(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

class SampleSource;  // cli/sample_prompts.h

// A subcommand: its options are declared on `app`; `run` does the work and returns the exit code.
struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;
};

// Inside of a catch clause: says on standard error what failed, and returns the exit code that it stands for. `command`
// is the subcommand's name.
int report_failure(const std::string& command);

Command add_check(CLI::App& parent);
Command add_search(CLI::App& parent);
Command add_validate(CLI::App& parent);
Command add_inspect(CLI::App& parent);
Command add_plan(CLI::App& parent);
Command add_run(CLI::App& parent);
Command add_explain(CLI::App& parent);
Command add_models(CLI::App& parent);
Command add_backends(CLI::App& parent);
Command add_export(CLI::App& parent);
Command add_serve(CLI::App& parent);
Command add_mcp(CLI::App& parent);
Command add_train(CLI::App& parent);
Command add_corpus(CLI::App& parent);
Command add_hmm(CLI::App& parent);
// Prompts are made from PDDL files, or from what `other` takes; it may be null.
Command add_sample(CLI::App& parent, std::unique_ptr<SampleSource> other);

// --- time ------------------------------------------------------------------------------------------------------------

using internal::Stopwatch;

// Shows on standard error, if that is a terminal, that long work goes on: "searching: 120000 states, 3 s", and what was
// found so far, where it is told. Says nothing during the first second and leaves no trace at the end.
class ProgressLine {
 public:
  explicit ProgressLine(std::string label, std::string unit = "states");
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();
  void set_states(std::size_t states) { states_ = states; }
  // Behind the rest of the line.
  void set_note(std::string note);

 private:
  class Ticker;
  std::atomic<std::size_t> states_{0};
  std::mutex mutex_;  // of the note
  std::string note_;
  std::unique_ptr<Ticker> ticker_;
};

// How far long work with a known end has come: "42 of 150 answered, 3.1 per second, 35 s left". On a terminal, a line
// that is written anew and leaves no trace; elsewhere one line a minute, for logs. Calls must not overlap.
class CountProgress {
 public:
  // The `earlier` ones were there from the start and say nothing about the rate. `text` writes a count, `start` stands
  // in front of the line.
  CountProgress(std::string what, double total, double earlier = 0, std::string (*text)(double) = quantity,
                std::string start = {});
  CountProgress(const CountProgress&) = delete;
  CountProgress& operator=(const CountProgress&) = delete;
  ~CountProgress() { clear(); }

  // `more` stands behind the line: "; 2.1 nats per symbol".
  void done(double count, const std::string& more = {});
  // For counts: "42"; rates with one digit behind the point.
  static std::string quantity(double value);

 private:
  void clear();

  std::string what_;
  double total_;
  double earlier_;
  std::string (*text_)(double);
  std::string start_;
  bool terminal_;
  Stopwatch watch_;
  double shown_ = 0;  // when
  std::size_t width_ = 0;
};

// "35 s", "12 min", "3.5 h"
std::string duration_text(double seconds);

// --- input -----------------------------------------------------------------------------------------------------------

struct TaskFiles {
  std::string domain;
  std::string problem;
  std::string sas;
};

// --domain and --problem
void add_pddl_options(CLI::App& app, std::string& domain, std::string& problem);
// Those, and --sas.
void add_task_options(CLI::App& app, TaskFiles& files);
// Throws UsageError unless it is a domain and a problem, or a SAS file.
void check_task_options(const TaskFiles& files);

struct BudgetOptions {
  std::size_t states = 0;
  std::string memory;  // as written, "512M"
  std::uint64_t work = 0;
  double seconds = 0;  // no limit unless the option was given
  CLI::Option* states_option = nullptr;
  CLI::Option* memory_option = nullptr;  // when it was given, it also holds for loading
  CLI::Option* work_option = nullptr;
  CLI::Option* seconds_option = nullptr;
  // With a GPU no limit is set on the address space: its driver reserves far more than there is memory.
  bool uses_gpu = false;

  Budget budget() const;
  // For an answer that is worked on from now on.
  std::optional<double> time_limit() const;
};

void add_budget_options(CLI::App& app, BudgetOptions& options, const Budget& defaults);

// With a limit on memory that the user set: a backstop far above it, so that a task that explodes while it is grounded
// ends in std::bad_alloc and not in a machine that swaps.
void limit_memory(const BudgetOptions& options);

// The time that a command has, from its beginning: none, unless the user set a limit. When it is over there is no
// answer; what was found by then is not shown.
class TimeLimit {
 public:
  explicit TimeLimit(std::optional<double> seconds = {}) : seconds_(seconds) {}
  std::optional<double> left() const;
  // Empty without a limit. A copy: it may outlive this.
  Stop stop() const;
  // "the time limit of 5 s ended"
  std::string reason() const;

 private:
  std::optional<double> seconds_;
  Stopwatch watch_;
};

struct LoadedTask {
  Task task;
  Budget budget;
  TimeLimit time;       // since before loading
  double load_seconds;  // reading and grounding
};

// Loads the task, prints warnings on standard error. Memory and time limits given on the command line hold here, too.
// `load` reads it in another way than from the files; `time` goes on where it was begun before.
using TaskLoader = std::function<Task(const LoadOptions& options)>;
LoadedTask load_task(const TaskFiles& files, const BudgetOptions& options, const TaskLoader& load = {});
LoadedTask load_task(const TaskFiles& files, const BudgetOptions& options, const TimeLimit& time,
                     const TaskLoader& load = {});
// The same without limits, for commands that have no budget.
Task load_task(const TaskFiles& files);

// What is no JSON is discarded, and so is what is nested deeper than anything that we read: who writes JSON goes down into
// it, and stacks have an end.
Json parse_shallow(const std::string& text);

// --- output ----------------------------------------------------------------------------------------------------------

// Writes to standard output; throws InputError when that is not possible (a full disk).
void print(const std::string& text);
void print(const Json& json);
// One line on standard error.
void note(const std::string& text);
// Why there is no plan, and what would help (lookahead.h), a line each.
std::vector<std::string> why_lines(const std::vector<std::string>& why, const std::vector<std::string>& would_help);
void say_why(const std::vector<std::string>& why, const std::vector<std::string>& would_help);
void print_diagnostics(const Diagnostics& diagnostics);
Json to_json(const Diagnostics& diagnostics);

// 7 as "7", 2.5 as "2.5".
std::string number_text(double value);
// "1 action", "2 actions"
std::string count_text(std::size_t count, std::string_view singular, std::string_view plural);
// "1.6 GB"
std::string bytes_text(double bytes);
// "350 M"
std::string quantity_text(double value);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_COMMON_H_
