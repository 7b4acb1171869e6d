// What the world is asked, and when. What it answers is read in cli/world_answer.cc.
#include "cli/process_world.h"

#include <utility>

#include "cli/world_answer.h"

namespace metactrl::cli {

ProcessWorld::ProcessWorld(const Scene& scene, Options options) : scene_(scene), options_(std::move(options)) {
  wait_ = {options_.timeout, options_.stop, "raise --world-timeout if it needs longer"};
}

ProcessWorld::~ProcessWorld() { release(); }

void ProcessWorld::release() {
  if (child_ == nullptr) return;
  child_.reset();
  if (options_.group) options_.group(0);
}

void ProcessWorld::start() {
  child_ = std::make_unique<robot::ChildProcess>(options_.command);
  if (options_.group) options_.group(child_->group());
  const std::string line = ask({{"type", "hello"},
                                {"protocol", 1},
                                {"task", scene_.name()},
                                {"objects", scene_.objects()},
                                {"fixed_facts", scene_.fixed_facts()},
                                {"initial_facts", scene_.initial_state()},
                                {"goals", scene_.goals()},
                                {"episode", options_.episode},
                                {"seed", options_.seed}});
  can_look_ = read_greeting(line, last_id_);
}

std::string ProcessWorld::ask(Json request) {
  request["id"] = ++last_id_;
  child_->write_line(request.dump(-1, ' ', false, Json::error_handler_t::replace), wait_);
  return child_->read_line(wait_);
}

Observation ProcessWorld::observe() {
  if (child_ == nullptr) start();
  const std::string line = ask({{"type", "observe"}});
  return read_observation(line, last_id_);
}

Execution ProcessWorld::execute(const PlanStep& step) {
  const std::string line = ask({{"type", "execute"}, {"action", step.action}, {"arguments", step.arguments}});
  return read_execution(line, last_id_);
}

Observation ProcessWorld::look(const std::string& object) {
  const std::string line = ask({{"type", "look"}, {"object", object}});
  return read_observation(line, last_id_);
}

void ProcessWorld::finish(const LoopReport& report) {
  if (child_ != nullptr && report.end != LoopEnd::kWorldFailed) {
    try {
      const Json request{{"type", "end"}, {"end", to_string(report.end)}, {"reason", report.reason}};
      child_->write_line(request.dump(-1, ' ', false, Json::error_handler_t::replace), {1});
    } catch (const WorldError&) {
      // It has left already.
    }
  }
  release();
}

}  // namespace metactrl::cli
