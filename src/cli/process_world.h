// A world that is another program: JSON, one message a line. docs/closed-loop.md has the protocol.
#ifndef METACTRL_SRC_CLI_PROCESS_WORLD_H_
#define METACTRL_SRC_CLI_PROCESS_WORLD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "cli/common.h"
#include "metactrl/robot/closed_loop.h"
#include "robot/child_process.h"

namespace metactrl::cli {

class ProcessWorld : public World {
 public:
  struct Options {
    std::string command;
    double timeout = 30;  // seconds per message
    std::function<bool()> stop;
    std::uint64_t episode = 0;
    std::uint64_t seed = 0;
    // Told the process group when it begins, and 0 when it is gone.
    std::function<void(pid_t)> group;
  };

  ProcessWorld(const Scene& scene, Options options);
  ~ProcessWorld() override;

  // The first message starts the program and greets it.
  Observation observe() override;
  Execution execute(const PlanStep& step) override;
  bool can_look() const override { return can_look_; }
  Observation look(const std::string& object) override;

  // Tells the world how it ended, and lets it go. Nothing is reported when that fails: the run is over.
  void finish(const LoopReport& report);

 private:
  void start();
  // Sends a request with the next id and returns the answer's line.
  std::string ask(Json request);
  void release();

  const Scene& scene_;
  Options options_;
  robot::ChildProcess::Wait wait_;
  std::unique_ptr<robot::ChildProcess> child_;
  std::uint64_t last_id_ = 0;
  bool can_look_ = false;
};

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_PROCESS_WORLD_H_
