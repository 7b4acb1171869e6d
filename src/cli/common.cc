#include "cli/common.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <limits>
#include <mutex>
#include <sstream>
#include <thread>

#include "cli/options.h"
#include "cli/schedules.h"
#include "metactrl/domain.h"
#include "metactrl/exchange/sas.h"
#include "serve/plan_json.h"
#include "support/files.h"
#include "support/sanitized.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

// --- time ------------------------------------------------------------------------------------------------------------

// A thread that wakes up once a second until it is told to stop.
class ProgressLine::Ticker {
 public:
  explicit Ticker(std::function<void(unsigned)> tick) : thread_([this, tick = std::move(tick)] { run(tick); }) {}
  ~Ticker() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  bool ticked() const { return ticked_; }

 private:
  void run(const std::function<void(unsigned)>& tick) {
    std::unique_lock lock(mutex_);
    for (unsigned seconds = 1; !wake_.wait_for(lock, std::chrono::seconds(1), [this] { return stop_; }); ++seconds) {
      ticked_ = true;
      tick(seconds);
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::atomic<bool> ticked_{false};
  std::thread thread_;  // last: it uses the others
};

namespace {

constexpr const char* kEraseLine = "\r\033[K";

}  // namespace

ProgressLine::ProgressLine(std::string label, std::string unit) {
  if (::isatty(STDERR_FILENO) == 0) return;
  ticker_ = std::make_unique<Ticker>([this, label = std::move(label), unit = std::move(unit)](unsigned seconds) {
    const std::size_t states = states_;
    std::string line = str_cat(label, ": ", states > 0 ? str_cat(states, ' ', unit, ", ") : "", seconds, " s");
    {
      const std::lock_guard lock(mutex_);
      if (!note_.empty()) line += "; " + note_;
    }
    std::cerr << kEraseLine + line << std::flush;
  });
}

void ProgressLine::set_note(std::string note) {
  const std::lock_guard lock(mutex_);
  note_ = std::move(note);
}

ProgressLine::~ProgressLine() {
  const bool visible = ticker_ && ticker_->ticked();
  ticker_.reset();
  if (visible) std::cerr << kEraseLine << std::flush;
}

CountProgress::CountProgress(std::string what, double total, double earlier, std::string (*text)(double),
                             std::string start)
    : what_(std::move(what)),
      total_(total),
      earlier_(earlier),
      text_(text),
      start_(std::move(start)),
      terminal_(::isatty(STDERR_FILENO) != 0) {}

std::string CountProgress::quantity(double value) { return number_text(std::round(value * 10) / 10); }

void CountProgress::done(double count, const std::string& more) {
  const double seconds = watch_.seconds();
  const double pause = terminal_ ? 0.1 : 60;
  if (count <= earlier_ || seconds - shown_ < pause) return;
  shown_ = seconds;
  const double rate = (count - earlier_) / seconds;
  const bool slow = rate < 1;
  const std::string line =
      str_cat(start_, text_(count), " of ", text_(total_), " ", what_, ", ", text_(slow ? 60 * rate : rate),
              slow ? " per minute, " : " per second, ", duration_text((total_ - count) / rate), " left", more);
  clear();
  std::fputs(terminal_ ? line.c_str() : (line + "\n").c_str(), stderr);
  if (terminal_) width_ = line.size();
}

void CountProgress::clear() {
  if (width_ == 0) return;
  std::fputs(kEraseLine, stderr);
  width_ = 0;
}

std::string duration_text(double seconds) {
  if (seconds < 120) return str_cat(std::lround(seconds), " s");
  if (seconds < 7200) return str_cat(std::lround(seconds / 60), " min");
  return str_cat(number_text(std::round(seconds / 360) / 10), " h");
}

// --- input -----------------------------------------------------------------------------------------------------------

void add_pddl_options(CLI::App& app, std::string& domain, std::string& problem) {
  app.add_option("--domain,-d", domain, "PDDL domain file")->type_name("FILE");
  app.add_option("--problem,-p", problem, "PDDL problem file")->type_name("FILE");
}

void add_task_options(CLI::App& app, TaskFiles& files) {
  add_pddl_options(app, files.domain, files.problem);
  app.add_option("--sas", files.sas, "instead of both: Fast Downward's translator output")->type_name("FILE");
}

void check_task_options(const TaskFiles& files) {
  const bool pddl = !files.domain.empty() || !files.problem.empty();
  if (pddl && !files.sas.empty()) throw UsageError("--sas cannot be combined with --domain and --problem");
  if (!files.sas.empty()) return;
  if (files.domain.empty() && files.problem.empty()) {
    throw UsageError("no task given: name --domain FILE and --problem FILE, or --sas FILE");
  }
  if (files.domain.empty()) throw UsageError("--domain FILE is missing");
  if (files.problem.empty()) throw UsageError("--problem FILE is missing");
}

Budget BudgetOptions::budget() const { return {states, parse_size(memory).value_or(0), work}; }

std::optional<double> BudgetOptions::time_limit() const {
  return seconds_option->count() > 0 ? std::optional<double>(seconds) : std::nullopt;
}

std::optional<double> TimeLimit::left() const {
  return seconds_ ? std::optional<double>(std::max(0.0, *seconds_ - watch_.seconds())) : std::nullopt;
}

Stop TimeLimit::stop() const {
  if (!seconds_) return {};
  return [copy = *this] { return *copy.left() <= 0; };
}

std::string TimeLimit::reason() const { return str_cat("the time limit of ", number_text(*seconds_), " s ended"); }

void add_budget_options(CLI::App& app, BudgetOptions& options, const Budget& defaults) {
  options.states = defaults.states;
  options.memory = str_cat(defaults.bytes >> 20, 'M');
  options.work = defaults.work;
  options.states_option = add_number(app, "--max-states", "N", options.states, 1, 1e18, "states to look at");
  options.memory_option = add_size(app, "--max-memory", options.memory, "memory for states, like 512M or 2G");
  options.work_option =
      add_number(app, "--max-work", "N", options.work, 1, 1e18, "steps of work, each of some nanoseconds");
  options.seconds_option =
      app.add_option("--time-limit", options.seconds,
                     "seconds for the whole answer, which is 'undecided' when they are over; without it, no limit")
          ->type_name("SECONDS")
          ->check(in_range(1e-3, 1e9));
}

namespace {

// What the program and its libraries take before there is anything to work on: gigabytes, with those of CUDA.
std::size_t mapped_bytes() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

Task load_files(const TaskFiles& files, Diagnostics& diagnostics, const Stop& stop, const TaskLoader& load = {}) {
  LoadOptions options;
  options.diagnostics = &diagnostics;
  options.stop = stop;
  const ProgressLine progress("loading");
  if (load) return load(options);
  return files.sas.empty() ? load_pddl(files.domain, files.problem, options) : load_sas(files.sas, options);
}

}  // namespace

void limit_memory(const BudgetOptions& options) {
  // Sanitizers need all addresses there are.
  if (options.memory_option->count() == 0 || options.uses_gpu || METACTRL_SANITIZED) return;
  const std::size_t bytes = options.budget().bytes;
  const std::size_t slack = mapped_bytes() + (std::size_t{512} << 20);
  if (bytes > (std::numeric_limits<std::size_t>::max() - slack) / 2) return;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, 2 * bytes + slack);
  ::setrlimit(RLIMIT_AS, &limit);
}

LoadedTask load_task(const TaskFiles& files, const BudgetOptions& options, const TaskLoader& load) {
  return load_task(files, options, TimeLimit(options.time_limit()), load);
}

LoadedTask load_task(const TaskFiles& files, const BudgetOptions& options, const TimeLimit& time,
                     const TaskLoader& load) {
  check_task_options(files);
  const Stopwatch watch;
  const Budget budget = options.budget();
  limit_memory(options);
  Diagnostics diagnostics;
  const auto load_in_time = [&] {
    try {
      return load_files(files, diagnostics, time.stop(), load);
    } catch (const Stopped&) {
      throw ResourceError(kOutOfTime, str_cat(time.reason(), " while the task was being loaded; raise --time-limit"));
    }
  };
  Task task = load_in_time();
  print_diagnostics(diagnostics);
  const double load_seconds = watch.seconds();
  if (options.memory_option->count() > 0 && task.memory_bytes() > budget.bytes) {
    throw ResourceError(kOutOfMemory,
                        str_cat("the ground task alone needs ", bytes_text(static_cast<double>(task.memory_bytes())),
                                ", more than --max-memory ", options.memory));
  }
  return {std::move(task), budget, time, load_seconds};
}

Task load_task(const TaskFiles& files) {
  check_task_options(files);
  Diagnostics diagnostics;
  Task task = load_files(files, diagnostics, {});
  print_diagnostics(diagnostics);
  return task;
}

// --- output ----------------------------------------------------------------------------------------------------------

void print(const std::string& text) {
  std::cout << text << std::flush;
  if (!std::cout)
    throw InputError("standard output", "cannot be written", "check the disk or the program that reads it");
}

Json parse_shallow(const std::string& text) {
  constexpr int kDeepest = 100;
  bool deep = false;
  Json json = Json::parse(
      text,
      [&deep](int depth, Json::parse_event_t /*event*/, const Json& /*parsed*/) {
        deep = deep || depth > kDeepest;
        return !deep;
      },
      false);
  return deep ? Json(Json::value_t::discarded) : json;
}

void print(const Json& json) { print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"); }

void note(const std::string& text) { std::cerr << text + "\n" << std::flush; }

std::vector<std::string> why_lines(const std::vector<std::string>& why, const std::vector<std::string>& would_help) {
  std::vector<std::string> lines;
  for (const std::string& reason : why) lines.push_back("  because " + reason);
  for (const std::string& change : would_help) lines.push_back("  there is a plan " + change);
  return lines;
}

void say_why(const std::vector<std::string>& why, const std::vector<std::string>& would_help) {
  for (const std::string& line : why_lines(why, would_help)) note(line);
}

void print_diagnostics(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics.items()) note(to_string(diagnostic));
  if (diagnostics.num_dropped() > 0) note(str_cat("(and ", diagnostics.num_dropped(), " more)"));
}

Json to_json(const Diagnostics& diagnostics) { return serve::diagnostics_json(diagnostics); }

std::string number_text(double value) {
  std::ostringstream out;
  out << std::setprecision(15) << value;
  return out.str();
}

std::string count_text(std::size_t count, std::string_view singular, std::string_view plural) {
  return str_cat(count, ' ', count == 1 ? singular : plural);
}

namespace {

template <std::size_t N>
std::string scaled(double value, double base, const std::array<const char*, N>& units) {
  std::size_t unit = 0;
  while (value >= base && unit + 1 < N) {
    value /= base;
    ++unit;
  }
  std::ostringstream out;
  const bool whole = unit == 0 && value == std::floor(value);
  out << std::setprecision(whole || value >= 1e6 ? 6 : 3) << value << units[unit];
  return out.str();
}

}  // namespace

std::string bytes_text(double bytes) { return scaled<6>(bytes, 1000, {" B", " kB", " MB", " GB", " TB", " PB"}); }

std::string quantity_text(double value) { return scaled<6>(value, 1000, {"", " K", " M", " G", " T", " P"}); }

}  // namespace metactrl::cli
