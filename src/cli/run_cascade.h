// Where rollouts of a robot are lost: planning, perception, execution; of several tasks, guided and by the model alone.
//
//     Cascade cascade;
//     cascade.add("donut_canister", "uniform", episodes);
//     write_cascade("out", cascade);            // out/cascade.md, .json, .svg
//
// A rollout passes a stage only if it passed those before it:
//
//   planning    its first plan is legal, and reaches the goal, in every believed state that it must hold in
//   perception  the same plan is one in the world's true state, as it was then
//   execution   the goal is reached, in truth, and the loop says so
//
// Re-planning rescues rollouts, so that the goal may be reached where the first plan was lost: `reached` counts all of
// them. What is true is known in a simulated world alone.
#ifndef METACTRL_SRC_CLI_RUN_CASCADE_H_
#define METACTRL_SRC_CLI_RUN_CASCADE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "cli/run_report.h"
#include "metactrl/robot/scene.h"

namespace metactrl::cli {

// `start` is the true state before the first observation.
Stages stages_of(const Scene& scene, const SceneState& start, const LoopReport& report, bool goal_is_true);

struct CascadeRow {
  std::string task;
  std::string guidance;
  std::size_t rollouts = 0;
  std::size_t planning = 0;
  std::size_t perception = 0;
  std::size_t execution = 0;
  std::size_t reached = 0;
};

CascadeRow cascade_row(const std::string& task, const std::string& guidance, const std::vector<Episode>& episodes);

std::string cascade_markdown(const std::vector<CascadeRow>& rows);
Json cascade_json(const std::vector<CascadeRow>& rows);
// Three bars for each row.
std::string cascade_plot(const std::vector<CascadeRow>& rows);
// cascade.md, cascade.json and cascade.svg, in a folder that is made if it is not there.
void write_cascade(const std::string& folder, const std::vector<CascadeRow>& rows);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_RUN_CASCADE_H_
