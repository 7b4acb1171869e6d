#include "attack/tasks.h"

#include <algorithm>
#include <map>

namespace metactrl::attack {

namespace fs = std::filesystem;

namespace {

bool is_domain(const std::string& name) { return name.find("domain") != std::string::npos; }

// 007-domain.pddl goes with 007-problem.pddl, where there is one, and any other domain with all problems beside it.
bool go_together(const std::string& domain, const std::string& problem, const std::vector<std::string>& names) {
  if (!domain.ends_with("-domain.pddl")) return true;
  const std::string own = domain.substr(0, domain.find("domain.pddl")) + "problem.pddl";
  return problem == own || !std::binary_search(names.begin(), names.end(), own);
}

// Folders below `root` with their PDDL files, each with the pairs of its domains and problems.
void add_pairs(const fs::path& root, const fs::path& named_from, TaskList& list) {
  std::map<std::string, std::vector<std::string>> files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".pddl") continue;
    files[entry.path().parent_path().string()].push_back(entry.path().filename().string());
  }
  for (auto& [folder, names] : files) {
    std::sort(names.begin(), names.end());
    const std::string family = fs::relative(folder, named_from).generic_string();
    const std::size_t before = list.tasks.size();
    for (const std::string& domain : names) {
      // domain_val.pddl is domain.pddl, written for VAL.
      if (!is_domain(domain) || domain.ends_with("_val.pddl")) continue;
      const fs::path for_val = fs::path(folder) / (fs::path(domain).stem().string() + "_val.pddl");
      for (const std::string& problem : names) {
        if (is_domain(problem) || !go_together(domain, problem, names)) continue;
        const std::string path = folder + "/" + domain;
        list.tasks.push_back({family, path, folder + "/" + problem, fs::exists(for_val) ? for_val.string() : path});
      }
    }
    if (list.tasks.size() == before) list.missing.push_back(family + ": has no pair of a domain and a problem");
  }
}

}  // namespace

std::string TaskFiles::name() const {
  const std::string domain_name = fs::path(domain).filename().string();
  return family + (domain_name == "domain.pddl" ? " " : " " + domain_name + " ") +
         fs::path(problem).filename().string();
}

TaskList find_tasks(const fs::path& source, const fs::path& data) {
  TaskList list;
  add_pairs(source / "domains", source, list);
  for (const char* set : {"household", "ipc", "llmp", "planbench", "pddl21", "wild"}) {
    if (fs::exists(data / set)) {
      add_pairs(data / set, data, list);
    } else {
      list.missing.push_back(std::string(set) + ": skipped, no " + (data / set).string() +
                             "; set METACTRL_DATA to the folder with the planning data");
    }
  }
  return list;
}

}  // namespace metactrl::attack
