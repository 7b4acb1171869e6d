// Fast Downward reads two files and writes a third, and leaves its translator's output where it runs. So each call has
// a folder of its own, which goes away with it. Its exit codes come in blocks: 0 to 9 a plan, 10 to 12 there is none,
// the rest a limit or a failure.
#include "benchmarks/classical_planner.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "support/child_process.h"
#include "support/files.h"
#include "support/stopwatch.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "metactrl-planner-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw InputError(pattern, str_cat("cannot be made: ", std::generic_category().message(errno)),
                       "make room, or let TMPDIR name another folder");
    }
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string file(const char* name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

enum class Finding { kPlan, kNone, kLimit, kFailure };

struct Found {
  Finding finding = Finding::kFailure;
  std::vector<PlanStep> plan;
  std::string reason;
};

constexpr int kFirstUnsolvable = 10;
constexpr int kLastUnsolvable = 12;
constexpr int kFirstLimit = 20;  // of memory or time
constexpr int kLastLimit = 24;

Found run_planner(const ClassicalPlanner& planner, std::string_view domain, const std::string& problem, double seconds,
                  const std::function<bool()>& cancelled) {
  const TemporaryFolder folder;
  internal::write_file(folder.file("domain.pddl"), domain);
  internal::write_file(folder.file("problem.pddl"), problem);
  internal::ChildOptions child;
  child.folder = folder.path();
  // It is told its limit, and keeps it; what does not is ended a little later.
  const internal::Stopwatch watch;
  const auto too_late = [&] { return watch.seconds() > seconds + planner.grace; };
  child.go_on = [&] { return !too_late() && (!cancelled || !cancelled()); };
  const auto limit = str_cat(std::max(1L, std::lround(std::ceil(seconds))), "s");
  const internal::ChildResult result =
      internal::run_child({planner.program, "--alias", "lama-first", "--overall-time-limit", limit, "--plan-file",
                           folder.file("plan"), folder.file("domain.pddl"), folder.file("problem.pddl")},
                          child);
  Found found;
  std::error_code ignored;
  if (result.code < kFirstUnsolvable && fs::exists(folder.file("plan"), ignored)) {
    found.finding = Finding::kPlan;
    found.plan = parse_plan(internal::read_file(folder.file("plan")), "the planner's plan");
  } else if (result.code >= kFirstUnsolvable && result.code <= kLastUnsolvable) {
    found.finding = Finding::kNone;
    found.reason = "the planner proved that there is no plan";
  } else if ((result.code >= kFirstLimit && result.code <= kLastLimit) || too_late()) {
    found.finding = Finding::kLimit;
    found.reason = str_cat("the planner ended at a limit of time (", limit, ") or memory");
  } else {
    found.reason =
        str_cat(planner.program, " ended with code ", result.code, result.errors.empty() ? "" : ": " + result.errors);
  }
  return found;
}

// The plan's text, once our own rules have executed it.
void take_plan(const Module& module, const PromptTask& prompt, std::string_view domain, std::size_t level,
               const Found& found, Answer& answer) {
  const Task task = load_pddl_text(domain, prompt.problem_assuming(level, false));
  answer.ground_actions = task.num_actions();
  const Validation validation = task.validate(found.plan);
  if (!validation.valid) {
    answer.error = str_cat("the planner's plan is not valid: ", validation.reason);
    return;
  }
  std::vector<ActionId> actions;
  for (const PlanStep& step : found.plan) {
    const std::optional<ActionId> action = task.find(step);
    if (!action) {
      answer.error = str_cat("the planner's plan has an unknown action ", to_string(step));
      return;
    }
    actions.push_back(*action);
    answer.steps.push_back(to_string(step));
  }
  answer.output = PlanSpelling(PlanFormat::builtin(std::string(module.format)), task).render(actions);
  answer.outcome = to_string(PlanOutcome::kPlan);
  answer.guarantee = to_string(Guarantee::kFull);
  answer.reason = "a plan of the classical planner, executed by our rules";
  answer.horizon = actions.size();
}

void plan_classically(const Module& module, const PromptEntry& entry, const ClassicalPlanner& planner,
                      const EvaluateOptions& options, Answer& answer) {
  const internal::Stopwatch watch;
  const PromptTask prompt = read_prompt(module, entry.prompt, options.rules);
  answer.times.read = watch.seconds();
  answer.title = prompt.title;
  answer.notes = prompt.notes;
  const std::string_view domain = domain_text(module, options.rules);
  Found found;
  std::size_t level = prompt.fewest_assumptions;
  for (; level <= prompt.assumptions.size(); ++level) {
    const double left = planner.seconds - watch.seconds();
    if (left <= 0) {  // that an earlier level has no plan says nothing about this one
      found.finding = Finding::kLimit;
      found.reason = str_cat("the planner's time (", planner.seconds, " s) ended");
      break;
    }
    found = run_planner(planner, domain, prompt.problem_assuming(level, false), left, options.cancelled);
    if (found.finding == Finding::kPlan && found.plan.empty() && !prompt.nonempty.empty()) {
      found = run_planner(planner, domain, prompt.problem_assuming(level, true), left, options.cancelled);
    }
    if (options.cancelled && options.cancelled()) {
      answer.cancelled = true;
      return;
    }
    if (found.finding != Finding::kNone) break;
  }
  answer.times.lookahead = watch.seconds() - answer.times.read;
  answer.reason = found.reason;
  switch (found.finding) {
    case Finding::kPlan:
      for (std::size_t i = 0; i < level; ++i) answer.assumptions.push_back(prompt.assumptions[i].text);
      take_plan(module, prompt, domain, level, found, answer);
      break;
    case Finding::kNone:
      answer.outcome = to_string(PlanOutcome::kInfeasible);
      break;
    case Finding::kLimit:
      answer.outcome = to_string(PlanOutcome::kUndecided);
      break;
    case Finding::kFailure:
      answer.error = found.reason;
  }
}

}  // namespace

std::string find_classical_planner(const std::string& wanted) {
  if (!wanted.empty()) return internal::find_program(wanted);
  for (const char* name : {"fast-downward.py", "fast-downward"}) {
    if (const std::string found = internal::find_program(name); !found.empty()) return found;
  }
  return {};
}

Answer answer_classically(const Module& module, const PromptEntry& entry, const ClassicalPlanner& planner,
                          const EvaluateOptions& options) {
  Answer answer;
  answer.identifier = entry.identifier;
  try {
    plan_classically(module, entry, planner, options, answer);
  } catch (const InputError& error) {
    answer.error = error.what();
  } catch (const std::system_error& error) {
    answer.error = error.what();
  }
  return answer;
}

}  // namespace metactrl::benchmarks
