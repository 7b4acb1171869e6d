// The robot's table: plans that language models wrote without constraint break where they are known to break, and every
// task has a plan that keeps the rules.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/lookahead.h"
#include "support/test_data.h"

namespace metactrl::tabletop_test {
namespace {

Task load(const std::string& problem) {
  const std::string folder = testing::source_dir().string() + "/domains/tabletop/";
  return load_pddl(folder + "domain.pddl", folder + problem + ".pddl");
}

struct Baseline {
  std::string problem;
  std::string plan;
  std::size_t legal_steps;  // before the first that is not; the plan's length when only the goal is missed
  std::string reason;       // part of the explanation
};

class TabletopBaseline : public ::testing::TestWithParam<Baseline> {};

TEST_P(TabletopBaseline, BreaksWhereItIsKnownToBreak) {
  const Baseline& baseline = GetParam();
  const std::vector<PlanStep> plan = parse_plan(baseline.plan, "baseline");
  const Validation validation = load(baseline.problem).validate(plan);
  EXPECT_FALSE(validation.valid);
  EXPECT_EQ(validation.steps_executed, baseline.legal_steps);
  EXPECT_NE(validation.reason.find(baseline.reason), std::string::npos) << validation.reason;
}

INSTANTIATE_TEST_SUITE_P(
    Paper, TabletopBaseline,
    ::testing::Values(
        Baseline{"clean_dishes", "(grab orange_rag)\n(clean plate)\n(clean bowl)\n(puton orange_rag stool)\n", 1,
                 "(soaped plate)"},
        Baseline{"dishwasher",
                 "(grab blue_mug)\n(putin blue_mug dishwasher)\n(grab white_cup)\n(putin white_cup dishwasher)\n"
                 "(grab gray_pot)\n(putin gray_pot dishwasher)\n",
                 1, "(open dishwasher)"},
        Baseline{"fridge_to_stove",
                 "(grab orange)\n(putin orange pot)\n(grab syrup)\n(putin syrup pot)\n(grab pot)\n(puton pot stove)\n"
                 "(toggleon stove)\n",
                 0, "(shut-in orange)"},
        Baseline{"breakfast_table",
                 "(grab bowl)\n(puton bowl stool)\n(grab bread)\n(grab oat_milk_carton)\n(grab blue_tuna_can)\n"
                 "(puton blue_tuna_can stool)\n",
                 3, "(hand-empty)"},
        Baseline{"boxed_tools",
                 "(open box_1)\n(open shelf_1)\n(grab box_1)\n(putin box_1 shelf_1)\n(close shelf_1)\n(open box_2)\n"
                 "(open shelf_2)\n(grab box_2)\n(putin box_2 shelf_2)\n(close shelf_2)\n",
                 10, "goal"}),
    [](const auto& info) { return info.param.problem; });

class TabletopTask : public ::testing::TestWithParam<std::string> {};

TEST_P(TabletopTask, HasAPlanWithinTheHorizon) {
  const Task task = load(GetParam());
  const auto lookahead = Lookahead::compile(task, {});
  ASSERT_EQ(lookahead->verdict(), Verdict::kSolvable) << lookahead->reason();
  const Validation validation = task.validate(lookahead->plan());
  EXPECT_TRUE(validation.valid) << validation.reason;
  EXPECT_EQ(lookahead->plan().size(), lookahead->shortest_plan_length());
}

INSTANTIATE_TEST_SUITE_P(Eight, TabletopTask,
                         ::testing::Values("clean_dishes", "dishwasher", "fridge_to_stove", "breakfast_table",
                                           "boxed_tools", "donut_canister", "green_block", "stack_dishes"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace metactrl::tabletop_test
