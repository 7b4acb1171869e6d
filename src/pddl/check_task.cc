#include "pddl/check_task.h"

#include <memory>

#include "pddl/grounding_notes.h"
#include "task/compile.h"
#include "task/program.h"

namespace metactrl::pddl {

namespace {

// Which actions have an instance.
IdVector<ActionNameId, bool> taken_actions(const task::Program& program) {
  IdVector<ActionNameId, bool> taken(program.definition().action_names.size(), false);
  const task::ActionTable& actions = program.definition().actions;
  for (const ActionId action : actions.all()) taken[actions.name(action)] = true;
  return taken;
}

}  // namespace

TaskCheck check_task(const Source& domain, const Source& problem, const GroundLimits& limits, internal::Meter& meter,
                     Diagnostics& diagnostics) {
  meter.ask();
  Ast ast = parse(domain, problem, diagnostics);
  if (diagnostics.has_errors()) return {};
  const auto program = task::compile(ground_or_forget_hosts(ast, limits, meter, &diagnostics), meter);
  if (program->num_actions() == 0) {
    diagnostics.warning({problem.name, 0, 0}, "no action can ever be taken: the task has no ground action",
                        ast.actions.empty() ? "the domain declares none" : "the notes say what each of them lacks");
  }
  return {ast.types.size(),   ast.objects.size(),     ast.predicates.size(),
          ast.actions.size(), program->num_actions(), grounding_notes(ast, taken_actions(*program))};
}

}  // namespace metactrl::pddl
