// What happened in a run, as JSON and in words.
#ifndef METACTRL_SRC_CLI_RUN_REPORT_H_
#define METACTRL_SRC_CLI_RUN_REPORT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/common.h"
#include "metactrl/robot/closed_loop.h"

namespace metactrl::cli {

// Which stages of a rollout were passed (run_cascade.h); each but `reached` presupposes those before it.
struct Stages {
  bool planning = false;
  bool perception = false;
  bool execution = false;
  bool reached = false;
};

struct Episode {
  std::uint64_t number = 0;
  std::uint64_t seed = 0;
  LoopReport report;
  // In a simulated world: what really is, and what went wrong.
  std::optional<bool> goal_is_true;
  std::map<std::string, std::size_t> faults;
  std::optional<Stages> stages;
};

Json to_json(const LoopEvent& event);
Json to_json(const Episode& episode);
// Rates and means over all episodes.
Json summary_json(const std::vector<Episode>& episodes);

// "goal observed: the goal holds ...; 9 actions, 2 re-plans, 1 look, 0.03 s"
std::string closing_line(const Episode& episode);
// "200 episodes: goal reached in 187 (93.5 %), ..."
std::string summary_line(const std::vector<Episode>& episodes);

// The exit code that an end stands for; `signal` is the one that interrupted it.
int exit_code(LoopEnd end, int signal);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_RUN_REPORT_H_
