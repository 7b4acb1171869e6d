// From the two texts that PlanSys2 hands over to the items of its plan message. Times are those of the schedule; an
// action that takes no time lasts 0.001, since PlanSys2 wants every action to last.
#include "metactrl_plan_solver.h"

#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "metactrl/planner.h"
#include "pluginlib/class_list_macros.hpp"

namespace metactrl_plansys2 {

namespace {

float seconds(std::int64_t time) {
  return static_cast<float>(static_cast<double>(time) / static_cast<double>(metactrl::kTimeUnit));
}

// Without durations in the domain, one action takes one second.
metactrl::Schedule schedule_of(const metactrl::Task& task, const std::vector<metactrl::PlanStep>& steps,
                               const std::string& kind) {
  if (metactrl::has_durations(task)) {
    return make_schedule(
        task, steps, kind == "concurrent" ? metactrl::ScheduleKind::kConcurrent : metactrl::ScheduleKind::kSequential);
  }
  metactrl::Schedule schedule;
  for (const metactrl::PlanStep& step : steps) {
    const auto place = static_cast<std::int64_t>(schedule.size());
    schedule.push_back({step, place * (metactrl::kTimeUnit + metactrl::kSeparation), metactrl::kTimeUnit, true});
  }
  return schedule;
}

plansys2_msgs::msg::Plan message_of(const metactrl::Schedule& schedule) {
  plansys2_msgs::msg::Plan message;
  for (const metactrl::TimedStep& step : metactrl::by_start(schedule)) {
    plansys2_msgs::msg::PlanItem item;
    item.time = seconds(step.start);
    item.action = to_string(step.step);
    item.duration = seconds(step.takes_time ? step.duration : metactrl::kSeparation);
    message.items.push_back(std::move(item));
  }
  return message;
}

}  // namespace

void PlanSolver::configure(rclcpp_lifecycle::LifecycleNode::SharedPtr node, const std::string& plugin_name) {
  node_ = std::move(node);
  name_ = plugin_name;
  for (const auto& [name, value] : {std::pair("model", ""), {"instruction", ""}, {"schedule", "sequential"}}) {
    node_->declare_parameter<std::string>(name_ + "." + name, value);
  }
  const std::string schedule = parameter("schedule");
  if (schedule != "sequential" && schedule != "concurrent") {
    RCLCPP_WARN(node_->get_logger(),
                "%s.schedule is '%s', which is neither sequential nor concurrent: sequential is taken", name_.c_str(),
                schedule.c_str());
  }
  const std::string file = parameter("model");
  if (file.empty()) return;
  try {
    model_ = metactrl::load_model(file, {});
  } catch (const std::exception& error) {
    RCLCPP_ERROR(node_->get_logger(), "the model %s cannot be loaded, so plans are searched for: %s", file.c_str(),
                 error.what());
  }
}

std::string PlanSolver::parameter(const std::string& name) const {
  return node_->get_parameter(name_ + "." + name).as_string();
}

std::optional<plansys2_msgs::msg::Plan> PlanSolver::getPlan(const std::string& domain, const std::string& problem,
                                                            const std::string&, rclcpp::Duration solver_timeout) {
  try {
    const metactrl::Task task = metactrl::load_pddl_text(domain, problem);
    metactrl::PlanOptions options;
    options.guidance = model_ ? metactrl::Guidance::kUniform : metactrl::Guidance::kSearch;
    options.instruction = parameter("instruction");
    options.time_limit = solver_timeout.seconds();
    std::shared_ptr<const metactrl::Vocabulary> vocabulary;
    if (model_) vocabulary = {model_, &model_->vocabulary()};
    const metactrl::PlanResult result =
        plan(task, metactrl::PlanFormat::builtin("pddl"), model_.get(), vocabulary, options);
    if (result.guarantee != metactrl::Guarantee::kFull) {
      RCLCPP_ERROR(node_->get_logger(), "no plan: %s", result.reason.c_str());
      for (const std::string& why : result.why_infeasible)
        RCLCPP_ERROR(node_->get_logger(), "  because %s", why.c_str());
      return std::nullopt;
    }
    return message_of(schedule_of(task, result.steps, parameter("schedule")));
  } catch (const std::exception& error) {
    RCLCPP_ERROR(node_->get_logger(), "no plan: %s", error.what());
  }
  return std::nullopt;
}

// A domain is judged with a problem that asks for nothing.
bool PlanSolver::isDomainValid(const std::string& domain, const std::string&) {
  try {
    metactrl::load_pddl_text(domain, "(define (problem void) (:init) (:goal (and)))");
    return true;
  } catch (const metactrl::TaskTooLarge&) {
    return true;
  } catch (const std::exception& error) {
    RCLCPP_ERROR(node_->get_logger(), "the domain is not valid: %s", error.what());
  }
  return false;
}

}  // namespace metactrl_plansys2

PLUGINLIB_EXPORT_CLASS(metactrl_plansys2::PlanSolver, plansys2::PlanSolverBase)
