// What is attacked: every PDDL task that ships with the project, and those of the planning data where it is there.
#ifndef METACTRL_TESTS_ATTACK_TASKS_H_
#define METACTRL_TESTS_ATTACK_TASKS_H_

#include <filesystem>
#include <string>
#include <vector>

namespace metactrl::attack {

struct TaskFiles {
  std::string family;  // the folder, as reports name it: "domains/tabletop", "ipc/gripper"
  std::string domain;
  std::string problem;
  // The same domain without what the validator VAL refuses; mostly the domain itself.
  std::string val_domain;
  std::string name() const;
};

struct TaskList {
  std::vector<TaskFiles> tasks;      // by family, then file name
  std::vector<std::string> missing;  // what could not be looked at, and what to do about it
};

// All domains in and below `source`/domains with their problems, and below `data` the sets household, ipc, llmp,
// planbench, pddl21 (numbers, durations, preferences) and wild.
TaskList find_tasks(const std::filesystem::path& source, const std::filesystem::path& data);

}  // namespace metactrl::attack

#endif  // METACTRL_TESTS_ATTACK_TASKS_H_
