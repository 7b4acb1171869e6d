// What the programs that attack have in common: how much is asked of them, where their report goes, and when they have succeeded.
//
//     struct Options : CampaignOptions { ... };
//     if (options.take(name, value)) continue;     // --plans, --seconds, --seed or --report
//     publish(report, options, command, computing);
//     CampaignVerdict verdict(report, options, out_of_time());
//     verdict.expect(wrong > 0, "nothing went wrong without the guarantee");
//     return verdict.status();
#ifndef METACTRL_TESTS_ATTACK_CAMPAIGN_H_
#define METACTRL_TESTS_ATTACK_CAMPAIGN_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "attack/report.h"

namespace metactrl::attack {

struct CampaignOptions {
  std::size_t plans = 0;
  double seconds = 0;  // stop after so long; 0: when all plans are made
  std::uint64_t seed = 1;
  std::string report{};  // two files: with .md and .json behind it

  static constexpr const char* kNames = "--plans --seconds --seed --report";
  // False where it is none of these.
  bool take(const std::string& name, const std::string& value);
};

// On standard output, and in the files of its name where there is one. `computing` is in seconds.
void publish(const Report& report, const CampaignOptions& options, const std::string& command, double computing);

// Says on standard error what is not as it should be.
class CampaignVerdict {
 public:
  // Nothing is violated, and as many plans are made as were asked for, or as there was time for.
  CampaignVerdict(const Report& report, const CampaignOptions& options, bool out_of_time);

  void expect(bool holds, const std::string& what);
  int status() const { return status_; }  // of the program: 1 where something was not so

 private:
  int status_ = 0;
};

}  // namespace metactrl::attack

#endif  // METACTRL_TESTS_ATTACK_CAMPAIGN_H_
