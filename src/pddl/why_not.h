// Why a PDDL task has no plan, where relaxed reachability shows it, and small changes that might give it one.
#ifndef METACTRL_SRC_PDDL_WHY_NOT_H_
#define METACTRL_SRC_PDDL_WHY_NOT_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pddl/ast.h"
#include "pddl/ground.h"
#include "task/source.h"

namespace metactrl::pddl {

class PddlSource : public task::Source {
 public:
  PddlSource(std::shared_ptr<const Ast> ast, const GroundLimits& limits) : ast_(std::move(ast)), limits_(limits) {}

  std::vector<std::string> why_unreachable(internal::Meter& meter) const override;
  void visit_changes(internal::Meter& meter, const Visitor& visit) const override;
  void start_early(Schedule& plan, internal::Meter& meter) const override;
  std::vector<std::pair<std::size_t, std::size_t>> orders(std::span<const PlanStep> plan,
                                                          internal::Meter& meter) const override;
  std::vector<std::string> unused_offers() const override;
  std::optional<Task> with_ends_apart(bool over_all, internal::Meter& meter) const override;
  std::optional<Schedule> with_times(std::span<const PlanStep> plan, internal::Meter& meter) const override;
  std::optional<Task> goal_part(std::string_view goal, internal::Meter& meter) const override;
  std::vector<std::string> beyond_facts() const override;

 private:
  std::shared_ptr<const Ast> ast_;
  GroundLimits limits_;
};

// The task of a tree. Where there are `diagnostics`, they get what grounding finds out.
Task make_task(std::shared_ptr<const Ast> ast, const GroundLimits& limits, internal::Meter& meter,
               Diagnostics* diagnostics = nullptr);

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_WHY_NOT_H_
