// A folder with domain.pddl is one domain, and its other files are problems of it; in a folder without, every file is a
// domain of its own.
#include "serve/shipped_tasks.h"

#include <algorithm>
#include <map>

namespace metactrl::serve {

namespace {

std::vector<ShippedDomain> collect() {
  constexpr std::string_view kExtension = ".pddl";
  std::map<std::string, std::vector<ShippedProblem>> folders;
  for (const ShippedTaskFile& file : shipped_task_files()) {
    const std::size_t slash = file.name.find('/');
    std::string_view base = file.name.substr(slash + 1);
    base.remove_suffix(kExtension.size());
    folders[std::string(file.name.substr(0, slash))].push_back({std::string(base), file.text});
  }
  std::vector<ShippedDomain> domains;
  for (auto& [folder, files] : folders) {
    const auto domain =
        std::find_if(files.begin(), files.end(), [](const ShippedProblem& file) { return file.name == "domain"; });
    if (domain == files.end()) {
      for (const ShippedProblem& file : files) domains.push_back({folder + "/" + file.name, file.text, {}});
      continue;
    }
    ShippedDomain out{folder, domain->text, {}};
    files.erase(domain);
    out.problems = std::move(files);
    domains.push_back(std::move(out));
  }
  std::stable_sort(domains.begin(), domains.end(), [](const ShippedDomain& a, const ShippedDomain& b) {
    return a.problems.empty() < b.problems.empty();
  });
  return domains;
}

}  // namespace

const std::vector<ShippedDomain>& shipped_domains() {
  static const std::vector<ShippedDomain> kDomains = collect();
  return kDomains;
}

}  // namespace metactrl::serve
