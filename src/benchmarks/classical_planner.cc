// Fast Downward reads two files and writes a third, and leaves its translator's output where it runs. So each call has
// a folder of its own, which goes away with it. Its exit codes come in blocks: 0 to 9 a plan, 10 to 12 there is none,
// the rest a limit or a failure. Without it a plan comes from the search that looks for a first plan (tier B).
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

// Any plan, as Fast Downward is asked for.
Found search_plan(const Task& task, const EvaluateOptions& options) {
  constexpr std::size_t kFewStates = 500;  // as many as are enumerated sooner than a search begins
  LookaheadOptions lookahead = options.plan.lookahead;
  lookahead.weights = false;
  lookahead.hmm.reset();
  lookahead.exact.states = kFewStates;
  const std::shared_ptr<const Lookahead> compiled = Lookahead::compile(task, lookahead, options.cancelled);
  Found found;
  found.reason = compiled->reason();
  found.finding = compiled->verdict() == Verdict::kSolvable     ? Finding::kPlan
                  : compiled->verdict() == Verdict::kInfeasible ? Finding::kNone
                                                                : Finding::kLimit;
  if (found.finding != Finding::kPlan) return found;
  for (const ActionId action : compiled->plan()) found.plan.push_back(task.step(action));
  return found;
}

void plan_classically(const OwnPddl& own, const OwnProblem& problem, const ClassicalPlanner& planner,
                      const EvaluateOptions& options, Answer& answer) {
  internal::Stopwatch watch;
  const Task task = load_pddl_text(own.domain(), problem.text);
  answer.times.ground = watch.lap();
  answer.ground_actions = task.num_actions();
  const Found found = planner.program.empty()
                          ? search_plan(task, options)
                          : run_planner(planner, own.domain(), problem.text, planner.seconds, options.cancelled);
  answer.times.lookahead = watch.lap();
  if (options.cancelled && options.cancelled()) {
    answer.cancelled = true;
    return;
  }
  answer.reason = found.reason;
  switch (found.finding) {
    case Finding::kPlan: {
      const Validation validation = task.validate(found.plan);
      if (!validation.valid) {
        answer.error = str_cat("the planner's plan is not valid: ", validation.reason);
        return;
      }
      for (const PlanStep& step : found.plan) answer.steps.push_back(to_string(step));
      answer.output = own.answer(problem, found.plan);
      answer.outcome = to_string(PlanOutcome::kPlan);
      answer.guarantee = to_string(Guarantee::kNone);
      answer.reason = "a plan of the benchmark's own domain";
      answer.horizon = found.plan.size();
      break;
    }
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

Answer answer_classically(const OwnPddl& own, const std::string& identifier, const ClassicalPlanner& planner,
                          const EvaluateOptions& options) {
  Answer answer;
  answer.identifier = identifier;
  const OwnProblem* problem = own.find(identifier);
  if (problem == nullptr) {
    answer.outcome = to_string(PlanOutcome::kUndecided);
    answer.reason = "the benchmark has no PDDL problem for this task";
    return answer;
  }
  try {
    plan_classically(own, *problem, planner, options, answer);
  } catch (const Stopped&) {
    answer.cancelled = true;
  } catch (const InputError& error) {
    answer.error = error.what();
  } catch (const std::system_error& error) {
    answer.error = error.what();
  }
  return answer;
}

}  // namespace metactrl::benchmarks
