// A task is written and a plan exported through the installed component.
#include <metactrl/domain.h>
#include <metactrl/exchange/export.h>

int main() {
  const metactrl::Task task =
      metactrl::load_pddl_text("(define (domain d) (:predicates (done)) (:action act :parameters () :effect (done)))",
                               "(define (problem p) (:domain d) (:init) (:goal (done)))");
  return metactrl::pddl_task(task).domain.empty() ? 1 : 0;
}
