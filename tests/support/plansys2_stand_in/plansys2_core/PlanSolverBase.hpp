// What the adapter of PlanSys2 is compiled with where there is no ROS: the same names and signatures, as far as it uses
// them.
#ifndef METACTRL_TESTS_SUPPORT_PLANSYS2_STAND_IN_PLANSYS2_CORE_PLANSOLVERBASE_HPP_
#define METACTRL_TESTS_SUPPORT_PLANSYS2_STAND_IN_PLANSYS2_CORE_PLANSOLVERBASE_HPP_

#include <memory>
#include <optional>
#include <string>

#include "plansys2_msgs/msg/plan.hpp"
#include "rclcpp/rclcpp.hpp"
#include "rclcpp_lifecycle/lifecycle_node.hpp"

namespace plansys2 {

class PlanSolverBase {
 public:
  using Ptr = std::shared_ptr<PlanSolverBase>;
  virtual ~PlanSolverBase() = default;
  virtual void configure(rclcpp_lifecycle::LifecycleNode::SharedPtr, const std::string&) {}
  virtual std::optional<plansys2_msgs::msg::Plan> getPlan(const std::string& domain, const std::string& problem,
                                                          const std::string& node_namespace = "",
                                                          rclcpp::Duration solver_timeout = rclcpp::Duration(15)) = 0;
  virtual bool isDomainValid(const std::string& domain, const std::string& node_namespace = "") = 0;
};

}  // namespace plansys2

#endif  // METACTRL_TESTS_SUPPORT_PLANSYS2_STAND_IN_PLANSYS2_CORE_PLANSOLVERBASE_HPP_
