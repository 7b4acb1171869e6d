// A task is read and planned through the installed shared library.
#include <metactrl/c.h>

#include <cstring>

int main() {
  const char* domain = "(define (domain d) (:predicates (done)) (:action act :parameters () :effect (done)))";
  const char* problem = "(define (problem p) (:domain d) (:init) (:goal (done)))";
  metactrl_task* task = nullptr;
  metactrl_text* text = nullptr;
  if (metactrl_abi_version() != METACTRL_ABI_VERSION) return 1;
  if (metactrl_task_parse(domain, std::strlen(domain), problem, std::strlen(problem), nullptr, nullptr, &task,
                          nullptr) != METACTRL_OK ||
      metactrl_task_search(task, 0, nullptr, &text, nullptr) != METACTRL_OK) {
    return 1;
  }
  const bool planned = std::strstr(metactrl_text_data(text), "\"(act)\"") != nullptr;
  metactrl_text_free(text);
  metactrl_task_free(task);
  return planned ? 0 : 1;
}
