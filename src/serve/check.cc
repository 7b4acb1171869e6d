// POST /v1/check: every mistake in two texts, for whoever is writing them. Mistakes are its answer and no error. What it
// may cost is what loading the task may cost; no model is asked. That a problem states no goal is no mistake here, where
// goals come from words, too: it is checked with the goal that asks for nothing, which stands behind its last line.
#include <utility>

#include "goals/problem_text.h"
#include "metactrl/domain.h"
#include "metactrl/goal.h"
#include "pddl/check_task.h"
#include "serve/plan_json.h"
#include "serve/service.h"

namespace metactrl::serve {

namespace {

void add_all(Diagnostics& to, const Diagnostics& from) {
  for (const Diagnostic& one : from.items()) {
    if (one.severity == Diagnostic::Severity::kError) {
      to.error(one.where, one.message, one.hint);
    } else {
      to.warning(one.where, one.message, one.hint);
    }
  }
}

constexpr const char* kNoGoal = "(and)";

// The problem with the goal that was given, conditions on the way taken out of it where the domain can be read.
std::string with_given_goal(const TaskRequest& request) {
  try {
    return GoalProblem::parse(request.domain.text, request.problem.text).problem_text(*request.goal);
  } catch (const InputError&) {
    return goals::with_goal(request.problem.text, {*request.goal, {}}).text;
  }
}

}  // namespace

void Service::post_check(RequestContext& context) {
  const Json body = parse_body(context.exchange().request().body);
  Fields fields(body, "");
  const TaskRequest request = read_task(fields);
  fields.refuse_others();
  const Gate::Pass pass = admit(context);
  const Gate::Pass compiling = compiling_.enter(1, context.asks());
  internal::Meter meter(context.asks(), {.work = max_work()});
  Diagnostics diagnostics;
  pddl::TaskCheck check;
  goals::Composed problem{request.problem.text, 0};
  const bool readable_goal = request.goal && goals::only_list(*request.goal);
  if (request.goal && !readable_goal) {
    diagnostics.error({"goal", 0, 0}, "the goal is not one condition in parentheses",
                      "write for example (and (p a) (not (q b)))");
  } else if (!request.goal && !goals::asks_for_something(problem.text)) {
    diagnostics.warning({"problem", 0, 0}, "the problem states no goal",
                        "add (:goal ...), or say in words what is wanted");
  }
  const bool composed = request.goal || !goals::states_goal(problem.text);
  if (composed) problem = goals::with_goal(problem.text, {kNoGoal, {}});
  if (readable_goal) problem.text = with_given_goal(request);
  Diagnostics found;
  try {
    check = pddl::check_task({"domain", request.domain.text}, {"problem", problem.text},
                             {options_.limits.ground_actions, options_.limits.ground_facts}, meter, found);
  } catch (const TaskTooLarge&) {
    throw;
  } catch (const InputError& error) {
    add_all(found, error.diagnostics());
  }
  if (readable_goal) {
    add_all(diagnostics, goals::about_goal(found, "problem", problem.first_line));
  } else if (composed) {
    add_all(diagnostics, goals::without_goal(found, "problem", problem.first_line));
  } else {
    diagnostics = std::move(found);  // with the number of those that it did not keep
  }
  const Json answer{{"ok", !diagnostics.has_errors()},
                    {"errors", diagnostics.num_errors()},
                    {"warnings", diagnostics.num_warnings()},
                    {"diagnostics", diagnostics_json(diagnostics)},
                    {"diagnostics_not_shown", diagnostics.num_dropped()},
                    {"notes", check.notes},
                    {"types", check.types},
                    {"objects", check.objects},
                    {"predicates", check.predicates},
                    {"actions", check.actions},
                    {"ground_actions", check.ground_actions}};
  context.exchange().respond(200, "application/json", dump(answer));
}

}  // namespace metactrl::serve
