// Plans of tasks in which actions run inside others, as Ast::has_hosts defines them: of the hosts that run, so many as are in
// the way end, and the action is carried out in the state that this leaves. Everything is tried as it is written there, one
// number of hosts after the other.
#include <algorithm>
#include <utility>

#include "metactrl/error.h"
#include "pddl/interpret.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

using internal::str_cat;

std::string LiftedInterpreter::end_host(Facts& facts, internal::Meter& meter) const {
  const Instance host = facts.hosts.back().instance;
  const Durative& durative = *ast_->actions[host.action].durative;
  const std::string text = violation(durative.at_end, host, FactView(facts), meter);
  if (!text.empty()) return str_cat(to_string(step(host)), " cannot end: condition at end ", text);
  facts.hosts.pop_back();
  happen(facts, host, durative.end_effects, durative.end_numeric_effects, meter);
  const std::string broken = host_problem(facts, meter);
  return broken.empty() ? broken : str_cat(to_string(step(host)), " cannot end: ", broken);
}

std::string LiftedInterpreter::host_problem(const Facts& facts, internal::Meter& meter) const {
  const FactView view(facts);
  for (const RunningHost& host : facts.hosts) {
    const std::string text =
        violation(ast_->actions[host.instance.action].durative->over_all, host.instance, view, meter);
    if (!text.empty()) return str_cat("condition over all of ", to_string(step(host.instance)), ' ', text);
  }
  return {};
}

// Out of the innermost host; nothing when it takes longer than that lasts.
std::optional<std::uint32_t> LiftedInterpreter::parts_taken(const Facts& facts, const Instance& instance,
                                                            internal::Meter& meter) const {
  const Action& action = ast_->actions[instance.action];
  if (action.durative && !action.durative->fixed) return std::nullopt;
  const std::optional<std::int64_t> length = units_of(instance, FactView(facts), meter);
  const std::optional<std::int64_t> host = units_of(facts.hosts.back().instance, FactView(facts), meter);
  if (!length || !host) return std::nullopt;
  const std::int64_t available = *host - kSeparation;
  const std::int64_t wanted = *length + kSeparation;
  if (wanted > available) return std::nullopt;
  // The smallest number of parts that covers it.
  std::uint32_t parts = 0;
  while (parts < Ast::kHostParts && internal::multiply(Rational(wanted), Rational(Ast::kHostParts)) >
                                        internal::multiply(Rational(available), Rational(parts))) {
    ++parts;
  }
  return parts;
}

LiftedInterpreter::Run LiftedInterpreter::run_inside(const Facts& facts, const Instance& instance, std::size_t kept,
                                                     internal::Meter& meter) const {
  const Action& action = ast_->actions[instance.action];
  Run result;
  result.inside = kept;
  Facts state = facts;
  while (state.hosts.size() > kept) {
    result.problem = end_host(state, meter);
    if (!result.problem.empty()) return result;
  }
  result.problem = start_problem(state, instance, meter);
  const bool begins_only = action.durative && action.durative->hosts;
  if (kept > 0 && result.problem.empty()) {
    const std::optional<std::uint32_t> parts = parts_taken(state, instance, meter);
    if (!parts || *parts > state.hosts.back().left) {
      result.problem = "it takes longer than is left";
    } else if (begins_only && kept == Ast::kMostHosts) {
      result.problem = str_cat("no more than ", Ast::kMostHosts, " actions run inside each other");
    } else {
      state.hosts.back().left -= *parts;
    }
  }
  if (!result.problem.empty()) return result;
  happen(state, instance, action.effects, action.numeric_effects, meter);
  if (action.durative) result.problem = over_all_problem(state, instance, meter);
  if (result.problem.empty()) result.problem = host_problem(state, meter);
  if (action.durative && !begins_only) {
    if (result.problem.empty()) result.problem = end_problem(state, instance, meter);
    if (!result.problem.empty()) return result;
    happen(state, instance, action.durative->end_effects, action.durative->end_numeric_effects, meter);
    result.problem = host_problem(state, meter);
  }
  if (!result.problem.empty()) return result;
  if (begins_only) state.hosts.push_back({instance, Ast::kHostParts});
  result.facts = std::move(state);
  return result;
}

LiftedInterpreter::Run LiftedInterpreter::run_among_hosts(const Facts& facts, const Instance& instance,
                                                          internal::Meter& meter) const {
  const std::vector<RunningHost>& hosts = facts.hosts;
  std::size_t free = 0;
  while (free < hosts.size() && !touches_host(instance, hosts[free].instance, meter)) ++free;
  Run failed;
  const auto succeeds = [&](std::size_t kept, Run& run) {
    run = run_inside(facts, instance, kept, meter);
    if (run.facts) return true;
    if (kept > 0) run.problem = str_cat("inside ", to_string(step(hosts[kept - 1].instance)), ' ', run.problem);
    if (failed.problem.find(run.problem) == std::string::npos)
      failed.problem += (failed.problem.empty() ? "" : "; ") + run.problem;
    return false;
  };
  Run run;
  for (std::size_t kept = free + 1; kept-- > 0;) {
    if (succeeds(kept, run)) return run;
  }
  for (std::size_t kept = free + 1; kept <= hosts.size(); ++kept) {
    if (succeeds(kept, run)) return run;
  }
  return failed;
}

std::optional<Facts> LiftedInterpreter::in_the_end(const Facts& facts, internal::Meter& meter, std::string& problem,
                                                   States* passed) const {
  if (!ast_->timed.empty()) return when_all_has_passed(facts, meter, passed);
  Facts last = facts;
  while (!last.hosts.empty()) {
    problem = end_host(last, meter);
    if (!problem.empty()) return std::nullopt;
  }
  return last;
}

Schedule LiftedInterpreter::with_hosts(const Facts& start, std::span<const PlanStep> plan,
                                       internal::Meter& meter) const {
  std::string problem;
  const auto carry_out = [&](bool alone) -> std::optional<Schedule> {
    Schedule result;
    Facts facts = start;
    std::int64_t free = 0;
    std::vector<std::int64_t> ends;  // of the hosts
    const auto end_until = [&](std::size_t kept) {
      for (; ends.size() > kept; ends.pop_back()) free = ends.back() + kSeparation;
    };
    for (const PlanStep& step : plan) {
      const std::optional<Instance> instance = resolve(step, problem);
      Run next = alone ? run_inside(facts, *instance, 0, meter) : run(facts, *instance, meter);
      if (!next.facts) return std::nullopt;
      end_until(next.inside);
      const std::int64_t units = *units_of(*instance, FactView(facts), meter);
      const std::optional<Durative>& durative = ast_->actions[instance->action].durative;
      result.push_back({written_step(*instance), free, units, durative.has_value()});
      if (units > kLatestTime - free) throw InputError("plan", "the plan takes longer than can be counted");
      const bool begins_only = durative && durative->hosts;
      if (begins_only) ends.push_back(free + units);
      free += kSeparation + (begins_only ? 0 : units);
      facts = std::move(*next.facts);
    }
    if (!in_the_end(facts, meter, problem)) return std::nullopt;
    return result;
  };
  // Where all of it works one after the other, nothing needs to overlap.
  if (std::optional<Schedule> one_by_one = carry_out(true)) return *one_by_one;
  if (std::optional<Schedule> overlapping = carry_out(false)) return *overlapping;
  throw InputError("plan", problem);
}

}  // namespace metactrl::pddl
