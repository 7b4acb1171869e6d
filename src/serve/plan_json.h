// A plan's result as JSON: what the service answers, and what the program prints with --output json.
#ifndef METACTRL_SRC_SERVE_PLAN_JSON_H_
#define METACTRL_SRC_SERVE_PLAN_JSON_H_

#include <optional>
#include <vector>

#include "metactrl/error.h"
#include "metactrl/planner.h"
#include "metactrl/schedule.h"
#include "metactrl/task.h"
#include "serve/api_error.h"

namespace metactrl::serve {

// outcome, plan, text, guarantee, reason, valid, goals, why_infeasible, would_help, cost, best_known, needless_steps, left_out, check;
// where actions take time and every step is legal, also schedule; where the task has preferences, also preferences and,
// with a guarantee, metric.
Json outcome_json(const Task& task, const PlanResult& result, ScheduleKind kind = ScheduleKind::kSequential);
// [{"name", "text", "weight", "satisfied"}]; with `promised`, ascending places, also "promised".
Json preferences_json(const std::vector<Validation::Preference>& preferences,
                      const std::vector<std::size_t>* promised = nullptr);
// {"makespan": 5.001, "metric": 5.001, "steps": [{"start", "action", "duration"}], "overlaps": [["(a)", "(b)"]]}, times in the domain's units.
Json schedule_json(const Task& task, const Schedule& schedule);
// model_calls, prompt_tokens, tokens, forced_tokens, device, tier, weights, horizon, horizon_rule, log_probability; with smc
// also log_evidence and particles.
Json decoding_json(const PlanResult& result, Guidance guidance);
// Seconds: format, automaton, lookahead, prompt, decode, model, check.
Json times_json(const PlanResult::Times& times);

Json goals_json(const Task& task, const std::vector<GoalId>& goals);
Json diagnostics_json(const Diagnostics& diagnostics);
// Null for what is not a finite number.
Json number_or_null(const std::optional<double>& value);

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_PLAN_JSON_H_
