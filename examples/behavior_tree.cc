// A plan without a model, written as a behavior tree for BehaviorTree.CPP 4 and its editor Groot2.
//
//     behavior_tree [DOMAIN.pddl PROBLEM.pddl] > tree.xml
#include <metactrl/exchange/export.h>
#include <metactrl/metactrl.h>

#include <exception>
#include <iostream>
#include <vector>

using namespace metactrl;

int main(int argc, char** argv) try {
  if (argc != 1 && argc != 3) {
    std::cerr << "usage: behavior_tree [DOMAIN.pddl PROBLEM.pddl] > tree.xml\n";
    return 30;
  }
  const Task task = load_pddl(argc == 3 ? argv[1] : "domains/tabletop/domain.pddl",
                              argc == 3 ? argv[2] : "domains/tabletop/dishwasher.pddl");
  const auto lookahead = Lookahead::compile(task, {});
  if (lookahead->verdict() != Verdict::kSolvable) {
    std::cerr << lookahead->reason() << '\n';
    return 10;
  }
  std::vector<PlanStep> plan;
  for (const ActionId action : lookahead->plan()) plan.push_back(task.step(action));
  // Any plan will do: one that is not valid becomes a tree that fails where the plan fails.
  std::cout << behavior_tree_xml(task, plan);
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 31;
}
