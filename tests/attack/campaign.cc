#include "attack/campaign.h"

#include <fstream>
#include <iostream>

#include "support/str_cat.h"

namespace metactrl::attack {

using internal::str_cat;

bool CampaignOptions::take(const std::string& name, const std::string& value) {
  if (name == "--plans") {
    plans = std::stoul(value);
  } else if (name == "--seconds") {
    seconds = std::stod(value);
  } else if (name == "--seed") {
    seed = std::stoull(value);
  } else if (name == "--report") {
    report = value;
  } else {
    return false;
  }
  return true;
}

void publish(const Report& report, const CampaignOptions& options, const std::string& command, double computing) {
  const std::string text = report.markdown(command, computing);
  std::cout << text;
  if (options.report.empty()) return;
  std::ofstream(options.report + ".md") << text;
  std::ofstream(options.report + ".json") << report.json(command, computing);
}

CampaignVerdict::CampaignVerdict(const Report& report, const CampaignOptions& options, bool out_of_time) {
  for (const Violation& violation : report.violations()) {
    std::cerr << violation.where << ": " << to_string(violation.finding.fault) << ": " << violation.finding.detail
              << '\n';
  }
  const Tally all = report.guaranteed();
  expect(all.violations() == 0 && report.violations().empty(), str_cat(all.violations(), " violations"));
  expect(all.plans >= options.plans || (out_of_time && all.plans > 0),
         str_cat("only ", all.plans, " of ", options.plans, " plans were made"));
}

void CampaignVerdict::expect(bool holds, const std::string& what) {
  if (holds) return;
  std::cerr << "FAILED: " << what << '\n';
  status_ = 1;
}

}  // namespace metactrl::attack
