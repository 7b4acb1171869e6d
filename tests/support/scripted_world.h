// What tests of the closed loop share: the scenes of domains/tabletop, a planner that searches, and a world made of answers.
#ifndef METACTRL_TESTS_SUPPORT_SCRIPTED_WORLD_H_
#define METACTRL_TESTS_SUPPORT_SCRIPTED_WORLD_H_

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "metactrl/robot/closed_loop.h"
#include "support/test_data.h"

namespace metactrl::testing {

inline std::string tabletop_file(const std::string& name) {
  return (source_dir() / "domains/tabletop" / name).string();
}
inline Scene tabletop(const std::string& problem) {
  return Scene::load(tabletop_file("domain.pddl"), tabletop_file(problem + ".pddl"));
}

inline LoopOptions searching() {
  LoopOptions options;
  options.plan.guidance = Guidance::kSearch;
  options.plan.lookahead.exact.states = 10'000;
  return options;
}

// The truth follows the rules, and each function can be replaced.
class ScriptedWorld : public World {
 public:
  explicit ScriptedWorld(Scene begin) : scene(std::move(begin)), truth(scene.initial_state()) {}

  Observation observe() override { return on_observe ? on_observe() : Observation::certain(truth); }
  Execution execute(const PlanStep& step) override {
    steps.push_back(to_string(step));
    if (on_execute) return on_execute(step);
    return follow(step);
  }
  bool can_look() const override { return static_cast<bool>(on_look); }
  Observation look(const std::string& object) override { return on_look(object); }

  Execution follow(const PlanStep& step) {
    auto after = scene.apply(truth, step);
    if (!after) return {false, "not possible"};
    truth = *std::move(after);
    return {true, ""};
  }
  void replace(const std::string& from, const std::string& to) {
    std::erase(truth, from);
    if (!to.empty()) truth.push_back(to);
    std::sort(truth.begin(), truth.end());
  }

  std::function<Observation()> on_observe;
  std::function<Execution(const PlanStep&)> on_execute;
  std::function<Observation(const std::string&)> on_look;
  std::vector<std::string> steps;
  Scene scene;
  SceneState truth;
};

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_SCRIPTED_WORLD_H_
