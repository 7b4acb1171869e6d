// Export: a plan or a task in the words of other programs.
//
//     Task task = load_pddl("domain.pddl", "problem.pddl");
//     std::vector<PlanStep> plan = parse_plan("(open dishwasher)\n(grab cup)\n(putin cup dishwasher)\n", "plan");
//     std::cout << behavior_tree_xml(task, plan);      // for BehaviorTree.CPP 4 and its editor Groot2
//     std::cout << plansys2_plan(plan);                // 0.000: (open dishwasher) [1.000] ...
//     std::cout << plan_json(task, plan);              // steps, preconditions, effects, what changes
//     PddlTask text = pddl_task(task);                 // domain and problem for VAL, Fast Downward, ...
//
// None of these functions refuses a plan: ask `Task::validate` first. A plan that is not valid becomes a tree that
// fails where the plan fails.
//
// **The tree.** One Sequence per step, in order, and one for the goal:
//
//     <Sequence name="1 open dishwasher">
//       <Holds fact="(hand-empty)"/>                                     what the action needs
//       <Inverter><Holds fact="(open dishwasher)"/></Inverter>           ... and what must be false
//       <Open x="dishwasher"/>                                           the action; ports are its parameters
//       <Holds fact="(open dishwasher)"/>                                what it is expected to change
//     </Sequence>
//
// A robot implements `Holds`, which says whether a fact is true now, and one action node per action of the domain;
// everything else is part of BehaviorTree.CPP. `or` becomes Fallback, counting becomes Parallel. Facts that no action
// can change are not asked about. docs/exports.md has the details.
//
// **The task.** What the other programs do not know is rewritten so that the plans stay the same: trajectory
// constraints become facts that remember, counting becomes quantifiers, `either` becomes facts. A task that was read
// from a SAS file is written with one action per name, so that its plans stay the same, too.
//
// All functions are deterministic, linear in what they write, and may be called from many threads. They throw
// InputError for what cannot be written, with the reason: a name that is no text, a condition that would explode.
#ifndef METACTRL_EXCHANGE_EXPORT_H_
#define METACTRL_EXCHANGE_EXPORT_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "metactrl/schedule.h"
#include "metactrl/task.h"

namespace metactrl {

// BehaviorTree.CPP version 4, with the TreeNodesModel that Groot2 reads. `stop` is asked at every step, and a tree of more
// than `max_bytes` (0: no limit) is not written; both end it with Stopped. A concurrent tree has Parallel nodes where
// actions that take time may go on side by side; a sequential one, or one of a plan that is not legal, has none.
std::string behavior_tree_xml(const Task& task, std::span<const PlanStep> plan, const Stop& stop = {},
                              std::size_t max_bytes = 0, ScheduleKind kind = ScheduleKind::kSequential);

// "(open dishwasher)" lines, and the plan's cost as a comment.
std::string pddl_plan(const Task& task, std::span<const PlanStep> plan);

// "0.000: (open dishwasher) [1.000]" lines: one action after the other, each as long as `duration`, as PlanSys2 and
// other temporal planners write plans.
std::string plansys2_plan(std::span<const PlanStep> plan, double duration = 1);
// The same with the times of a schedule, in the order of their starts. PlanSys2 wants a duration of every action: one that
// takes no time has 0.001.
std::string plansys2_plan(const Schedule& schedule);

// One JSON object: the task, whether the plan is valid and why not, the initial facts, every step with arguments,
// preconditions, effects and what changes, and the goals with whether each is met. docs/exports.md lists the keys.
std::string plan_json(const Task& task, std::span<const PlanStep> plan);

struct PddlTask {
  std::string domain;
  std::string problem;
  // What was rewritten or renamed, one sentence each; the same sentences are comments in the domain.
  std::vector<std::string> notes;
  // Costs are written as whole numbers: what a plan costs there is this number times what it costs here.
  double cost_factor = 1;
};

// The task as PDDL that VAL and Fast Downward read. `load_pddl_text(text.domain, text.problem)` is a task with the same
// plans; without trajectory constraints every reachable state has the same legal actions as well.
PddlTask pddl_task(const Task& task);

}  // namespace metactrl

#endif  // METACTRL_EXCHANGE_EXPORT_H_
