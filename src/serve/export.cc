// POST /v1/export: a plan in the words of another program. The plan is judged first, by the reference semantics; one that
// breaks a rule or misses the goal is not written.
#include "metactrl/exchange/export.h"

#include "serve/service.h"
#include "support/str_cat.h"

namespace metactrl::serve {

void Service::post_export(RequestContext& context) {
  const Json body = parse_body(context.exchange().request().body);
  Fields fields(body, "");
  const TaskRequest request = read_task(fields);
  const std::vector<PlanStep> steps = read_steps(fields);
  const std::string format = fields.text("format").value_or("");
  if (format != "bt" && format != "plansys2") fields.refuse("format", "must be bt or plansys2");
  if (steps.size() > options_.limits.horizon) {
    fields.refuse("plan", internal::str_cat("must have at most ", options_.limits.horizon, " actions"));
  }
  fields.refuse_others();
  const Gate::Pass pass = admit(context);
  const std::shared_ptr<const LoadedTask> loaded = load_task(request, context).value;
  const Gate::Pass compiling = compiling_.enter(1, context.asks());
  const Task& task = loaded->task;
  const Validation validation = task.validate(steps, context.asks(), options_.limits.memory_bytes);
  Json answer{{"valid", validation.valid}, {"reason", validation.reason}, {"text", nullptr}};
  if (validation.valid && format == "bt") {
    answer["text"] = behavior_tree_xml(task, steps, context.asks(), options_.limits.memory_bytes);
  } else if (validation.valid && has_durations(task)) {
    answer["text"] = plansys2_plan(make_schedule(task, steps, ScheduleKind::kSequential));
  } else if (validation.valid) {
    answer["text"] = plansys2_plan(steps);
  }
  context.exchange().respond(200, "application/json", dump(answer));
}

}  // namespace metactrl::serve
