#include "pddl/check_task.h"

#include <memory>

#include "pddl/grounding_notes.h"
#include "task/asks_nothing.h"
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
  // One that is empty as it is written was told where it was read.
  if (!program->goal_conditions().empty() && task::asks_nothing(*program) && ast.preferences.empty()) {
    const Position where = ast.goal.condition.where;
    diagnostics.warning(
        {ast.files[where.file], where.line, where.column},
        "the goal holds whatever is done, so the empty plan reaches it",
        "it is about what never changes, or about objects that there are not: state what is to be done");
  }
  return {ast.types.size(),   ast.objects.size(),     ast.predicates.size(),
          ast.actions.size(), program->num_actions(), grounding_notes(ast, taken_actions(*program))};
}

}  // namespace metactrl::pddl
