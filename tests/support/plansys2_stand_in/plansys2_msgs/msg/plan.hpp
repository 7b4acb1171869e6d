#ifndef METACTRL_TESTS_SUPPORT_PLANSYS2_STAND_IN_PLANSYS2_MSGS_MSG_PLAN_HPP_
#define METACTRL_TESTS_SUPPORT_PLANSYS2_STAND_IN_PLANSYS2_MSGS_MSG_PLAN_HPP_

#include <string>
#include <vector>

namespace plansys2_msgs::msg {

struct PlanItem {
  float time = 0;
  std::string action;
  float duration = 0;
};

struct Plan {
  std::vector<PlanItem> items;
};

}  // namespace plansys2_msgs::msg

#endif  // METACTRL_TESTS_SUPPORT_PLANSYS2_STAND_IN_PLANSYS2_MSGS_MSG_PLAN_HPP_
