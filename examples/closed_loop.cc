// A robot of your own in the closed loop. This one has a donut, a canister and an arm that misses every third time.
//
//     closed_loop        (from the root of the source tree)
#include <metactrl/robot/closed_loop.h>

#include <iostream>
#include <utility>

class Robot : public metactrl::World {
 public:
  explicit Robot(metactrl::Scene scene) : scene_(std::move(scene)), truth_(scene_.initial_state()) {}

  // What the camera sees: here everything, for certain.
  metactrl::Observation observe() override { return metactrl::Observation::certain(truth_); }

  // Moves the arm, and says when it is done or why it is not.
  metactrl::Execution execute(const metactrl::PlanStep& step) override {
    if (++moves_ % 3 == 0) return {false, "the arm missed"};
    truth_ = scene_.apply(truth_, step).value();
    return {true, ""};
  }

 private:
  metactrl::Scene scene_;
  metactrl::SceneState truth_;
  int moves_ = 0;
};

int main() {
  const metactrl::Scene scene =
      metactrl::Scene::load("domains/tabletop/domain.pddl", "domains/tabletop/donut_canister.pddl");
  metactrl::LoopOptions options;
  options.plan.guidance = metactrl::Guidance::kSearch;  // or a model, as in examples/dishwasher.cc
  metactrl::ClosedLoop loop(scene, options);
  Robot robot(scene);
  const metactrl::LoopReport report = loop.run(robot);
  for (const metactrl::LoopEvent& event : report.events) std::cout << to_string(event) << '\n';
  std::cout << to_string(report.end) << ": " << report.actions << " actions, " << report.replans << " re-plans\n";
  return is_success(report.end) ? 0 : 1;
}
