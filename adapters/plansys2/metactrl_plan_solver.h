// Meta-Ctrl as a planner of PlanSys2 (https://plansys2.github.io).
//
// In the parameters of the planner node:
//
//     planner:
//       ros__parameters:
//         plan_solver_plugins: ["METACTRL"]
//         METACTRL:
//           plugin: "metactrl/PlanSolver"
//           model: "/opt/models/llama-3-8b.gguf"   # empty: no model, the planner searches
//           instruction: "bring the tools to the bench first"
//           schedule: "sequential"                 # or concurrent
//
// A plan that comes back is valid: every step is legal, every goal holds at the end, and its times were judged by a
// second implementation. Where there is none the log says why: that no plan exists, that it needs concurrency, that the
// time was over. What POPF does not read, such as negative, disjunctive and quantified conditions, is read.
//
// The model is loaded when the node is configured. One plan is made at a time.
#ifndef METACTRL_ADAPTERS_PLANSYS2_METACTRL_PLAN_SOLVER_H_
#define METACTRL_ADAPTERS_PLANSYS2_METACTRL_PLAN_SOLVER_H_

#include <memory>
#include <optional>
#include <string>

#include "metactrl/language_model.h"
#include "metactrl/schedule.h"
#include "plansys2_core/PlanSolverBase.hpp"

namespace metactrl_plansys2 {

class PlanSolver : public plansys2::PlanSolverBase {
 public:
  void configure(rclcpp_lifecycle::LifecycleNode::SharedPtr node, const std::string& plugin_name) override;

  std::optional<plansys2_msgs::msg::Plan> getPlan(const std::string& domain, const std::string& problem,
                                                  const std::string& node_namespace,
                                                  rclcpp::Duration solver_timeout) override;

  bool isDomainValid(const std::string& domain, const std::string& node_namespace) override;

 private:
  std::string parameter(const std::string& name) const;

  rclcpp_lifecycle::LifecycleNode::SharedPtr node_;
  std::string name_;
  std::shared_ptr<metactrl::LanguageModel> model_;
};

}  // namespace metactrl_plansys2

#endif  // METACTRL_ADAPTERS_PLANSYS2_METACTRL_PLAN_SOLVER_H_
