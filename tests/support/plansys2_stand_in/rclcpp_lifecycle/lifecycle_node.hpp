#ifndef METACTRL_TESTS_SUPPORT_PLANSYS2_STAND_IN_RCLCPP_LIFECYCLE_LIFECYCLE_NODE_HPP_
#define METACTRL_TESTS_SUPPORT_PLANSYS2_STAND_IN_RCLCPP_LIFECYCLE_LIFECYCLE_NODE_HPP_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rclcpp/rclcpp.hpp"

namespace rclcpp_lifecycle {

class LifecycleNode {
 public:
  using SharedPtr = std::shared_ptr<LifecycleNode>;

  // A value that was given before it is declared stays, as with the parameters of a launch file.
  template <typename Value>
  void declare_parameter(const std::string& name, const Value& value) {
    parameters.try_emplace(name, value);
  }
  rclcpp::Parameter get_parameter(const std::string& name) const { return rclcpp::Parameter(parameters.at(name)); }
  rclcpp::Logger get_logger() { return {&log}; }

  std::map<std::string, std::string> parameters;
  std::vector<std::string> log;
};

}  // namespace rclcpp_lifecycle

#endif  // METACTRL_TESTS_SUPPORT_PLANSYS2_STAND_IN_RCLCPP_LIFECYCLE_LIFECYCLE_NODE_HPP_
