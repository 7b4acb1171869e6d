// The planner plug-in for PlanSys2, by way of its base class alone, in a stand-in of ROS.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "metactrl/domain.h"
#include "metactrl/schedule.h"
#include "plansys2_core/PlanSolverBase.hpp"

std::shared_ptr<plansys2::PlanSolverBase> make_exported_class();

namespace metactrl::plansys2_test {
namespace {

// In the manner of the first tutorial: what PlanSys2's own nodes write.
constexpr const char* kDomain = R"((define (domain simple)
(:requirements :strips :typing :durative-actions)
(:types robot - object room - object)
(:predicates ( robot_at ?r - robot ?ro - room) (connected ?a ?b - room) (battery_full ?r - robot) (battery_low ?r - robot)
  (lamp_on ?ro - room))
(:durative-action move
    :parameters (?r - robot ?r1 ?r2 - room)
    :duration ( = ?duration 5)
    :condition (and (at start(connected ?r1 ?r2)) (at start(robot_at ?r ?r1)) (over all(battery_full ?r)))
    :effect (and (at start(not(robot_at ?r ?r1))) (at end(robot_at ?r ?r2))))
(:durative-action charge
    :parameters (?r - robot)
    :duration ( = ?duration 10.5)
    :condition (at start(battery_low ?r))
    :effect (and (at end(battery_full ?r)) (at end(not (battery_low ?r)))))
(:action switch_on
    :parameters (?ro - room)
    :precondition (not (lamp_on ?ro))
    :effect (lamp_on ?ro))
))";
constexpr const char* kProblem = R"(( define ( problem problem_1 )
( :domain simple )
( :objects leia - robot kitchen hall bedroom - room )
( :init ( robot_at leia kitchen ) ( connected kitchen hall ) ( connected hall bedroom ) ( battery_low leia ) )
( :goal ( and ( robot_at leia bedroom ) (lamp_on hall) ) ) ))";

struct Plugin {
  explicit Plugin(const std::string& schedule = "") {
    if (!schedule.empty()) node->parameters["METACTRL.schedule"] = schedule;
    solver->configure(node, "METACTRL");
  }
  rclcpp_lifecycle::LifecycleNode::SharedPtr node = std::make_shared<rclcpp_lifecycle::LifecycleNode>();
  std::shared_ptr<plansys2::PlanSolverBase> solver = make_exported_class();
};

// What PlanSys2 does with an item, turned around: the line that it would have read.
Schedule schedule_of(const plansys2_msgs::msg::Plan& plan) {
  std::string text;
  for (const plansys2_msgs::msg::PlanItem& item : plan.items) {
    text += std::to_string(item.time) + ": " + item.action;
    // Which of them take time is the domain's to say.
    if (item.duration > 0.0015F) text += " [" + std::to_string(item.duration) + "]";
    text += "\n";
  }
  return parse_schedule(text, "items").schedule;
}

TEST(PlanSys2, PlanIsValidInTime) {
  const Task task = load_pddl_text(kDomain, kProblem);
  for (const char* schedule : {"sequential", "concurrent"}) {
    SCOPED_TRACE(schedule);
    const Plugin plugin(schedule);
    const auto plan = plugin.solver->getPlan(kDomain, kProblem);
    ASSERT_TRUE(plan) << (plugin.node->log.empty() ? "" : plugin.node->log[0]);
    EXPECT_EQ(plan->items.size(), 4U);
    EXPECT_TRUE(plugin.node->log.empty());
    for (const plansys2_msgs::msg::PlanItem& item : plan->items) {
      EXPECT_GT(item.duration, 0.0F);
      EXPECT_EQ(item.action.front(), '(');
      EXPECT_EQ(item.action.back(), ')');
    }
    const Validation validation = validate(task, schedule_of(*plan));
    EXPECT_TRUE(validation.valid) << validation.reason;
  }
}

TEST(PlanSys2, ConcurrentPlanEndsEarlier) {
  const auto end = [](const std::string& schedule) {
    return makespan(schedule_of(*Plugin(schedule).solver->getPlan(kDomain, kProblem)));
  };
  EXPECT_LT(end("concurrent"), end("sequential"));
}

TEST(PlanSys2, SaysWhyThereIsNoPlan) {
  const Plugin plugin;
  std::string far = kProblem;
  far.replace(far.find("( connected hall bedroom )"), 26, "");
  EXPECT_FALSE(plugin.solver->getPlan(kDomain, far));
  ASSERT_GE(plugin.node->log.size(), 2U);
  EXPECT_NE(plugin.node->log[1].find("(robot_at leia bedroom) cannot become true"), std::string::npos)
      << plugin.node->log[1];
}

TEST(PlanSys2, BadTextIsNoPlanAndNoCrash) {
  const Plugin plugin;
  EXPECT_FALSE(plugin.solver->getPlan(kDomain, "(define (problem p)"));
  EXPECT_FALSE(plugin.solver->getPlan("", kProblem));
  EXPECT_EQ(plugin.node->log.size(), 2U);
}

TEST(PlanSys2, JudgesDomains) {
  const Plugin plugin;
  EXPECT_TRUE(plugin.solver->isDomainValid(kDomain));
  EXPECT_FALSE(plugin.solver->isDomainValid("(define (domain d) (:action a :effect (p)))"));
  EXPECT_EQ(plugin.node->log.size(), 1U);
}

TEST(PlanSys2, OddScheduleIsSaid) {
  const Plugin plugin("backwards");
  ASSERT_EQ(plugin.node->log.size(), 1U);
  EXPECT_NE(plugin.node->log[0].find("neither sequential nor concurrent"), std::string::npos);
}

TEST(PlanSys2, DomainWithoutTime) {
  const Plugin plugin;
  const auto plan = plugin.solver->getPlan(
      "(define (domain d) (:predicates (p) (q)) (:action a :effect (p)) (:action b :precondition (p) :effect (q)))",
      "(define (problem p) (:domain d) (:init) (:goal (q)))");
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->items.size(), 2U);
  EXPECT_EQ(plan->items[0].action, "(a)");
  EXPECT_FLOAT_EQ(plan->items[0].duration, 1);
  EXPECT_GT(plan->items[1].time, 1);
}

}  // namespace
}  // namespace metactrl::plansys2_test
