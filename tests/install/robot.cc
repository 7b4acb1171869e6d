// A scene changes through the installed component.
#include <metactrl/robot/closed_loop.h>
#include <metactrl/robot/scene.h>

int main() {
  const metactrl::Scene scene =
      metactrl::Scene::load_text("(define (domain d) (:predicates (done)) (:action act :parameters () :effect (done)))",
                                 "(define (problem p) (:domain d) (:init) (:goal (done)))");
  return scene.is_goal(*scene.apply(scene.initial_state(), {"act", {}})) ? 0 : 1;
}
