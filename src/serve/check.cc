// POST /v1/check: every mistake in two texts, for whoever is writing them. Mistakes are its answer and no error. What it
// may cost is what loading the task may cost; no model is asked. That a problem states no goal is no mistake here, where
// goals come from words, too: it is checked with the goal that asks for nothing, which stands behind its last line.
#include "goals/problem_text.h"
#include "metactrl/domain.h"
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
  std::string problem = request.problem.text;
  if (request.goal) {
    problem = goals::with_goal(problem, {*request.goal, {}}).text;
  } else if (!goals::states_goal(problem)) {
    problem = goals::with_goal(problem, {"(and)", {}}).text;
    diagnostics.warning({"problem", 0, 0}, "the problem states no goal",
                        "add (:goal ...), or say in words what is wanted");
  }
  try {
    check = pddl::check_task({"domain", request.domain.text}, {"problem", problem},
                             {options_.limits.ground_actions, options_.limits.ground_facts}, meter, diagnostics);
  } catch (const TaskTooLarge&) {
    throw;
  } catch (const InputError& error) {
    add_all(diagnostics, error.diagnostics());
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
