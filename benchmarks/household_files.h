// The PDDL tasks of the Embodied Agent Interface in the planning data (METACTRL_DATA, as in the tests).
#ifndef METACTRL_BENCHMARKS_HOUSEHOLD_FILES_H_
#define METACTRL_BENCHMARKS_HOUSEHOLD_FILES_H_

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace metactrl::benchmarks {

struct HouseholdFiles {
  std::string domain;
  std::string problem;
  std::string name;
  bool virtualhome = false;  // else BEHAVIOR
};

// Ten of BEHAVIOR, then twenty of VirtualHome; empty where the data is not there.
inline const std::vector<HouseholdFiles>& household_files() {
  namespace fs = std::filesystem;
  static const std::vector<HouseholdFiles> kFiles = [] {
    const char* from_environment = std::getenv("METACTRL_DATA");
    const fs::path data = from_environment != nullptr ? from_environment : METACTRL_DEFAULT_DATA;
    std::vector<HouseholdFiles> found;
    for (const std::string folder : {"behavior", "virtualhome"}) {
      const fs::path path = data / "household" / folder;
      if (!fs::exists(path)) continue;
      std::vector<fs::path> problems;
      for (const auto& entry : fs::directory_iterator(path)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with('p') && name.ends_with(".pddl")) problems.push_back(entry.path());
      }
      std::sort(problems.begin(), problems.end());
      for (const fs::path& problem : problems) {
        found.push_back(
            {(path / "domain.pddl").string(), problem.string(), problem.stem().string(), folder == "virtualhome"});
      }
    }
    return found;
  }();
  return kFiles;
}

}  // namespace metactrl::benchmarks

#endif  // METACTRL_BENCHMARKS_HOUSEHOLD_FILES_H_
