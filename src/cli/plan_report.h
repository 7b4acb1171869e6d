// A result in words and as JSON: what plan and explain print, and what --trace writes.
#ifndef METACTRL_SRC_CLI_PLAN_REPORT_H_
#define METACTRL_SRC_CLI_PLAN_REPORT_H_

#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/plan_input.h"
#include "metactrl/explain.h"

namespace metactrl::cli {

// "guarantee: full; goals met: 3 of 3; model calls: 12; tokens: 60, 45 of them forced; 0.42 s"
std::string closing_line(const PlanInput& input, const PlanResult& result);

Json result_json(const PlanInput& input, const PlanResult& result);

// One object per decision: {"event": "start"}, then for every step {"event": "step"} and its {"event": "token"}s, then
// {"event": "end"}.
std::vector<Json> trace_events(const PlanInput& input, const PlanResult& result,
                               const std::vector<ExplainedStep>& steps);
// Replays the plan and writes the trace.
void write_trace(const std::string& file, const PlanInput& input, const PlanResult& result);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_PLAN_REPORT_H_
