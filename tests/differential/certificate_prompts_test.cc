// Certificates of what benchmark prompts become, in every domain that ships for them, judged by scripts/check_certificate.
#include <gtest/gtest.h>

#include <string>

#include "benchmarks/files.h"
#include "benchmarks/module.h"
#include "lookahead/certificate.h"
#include "metactrl/domain.h"
#include "metactrl/lookahead.h"
#include "support/certificate_court.h"

namespace metactrl::certificate_prompts_test {

using benchmarks::Module;
using benchmarks::PromptEntry;
using benchmarks::Rules;
using testing::PddlText;

void certify_prompts(std::size_t most, testing::Court& court) {
  std::size_t modules = 0;
  for (const Module& module : benchmarks::modules()) {
    if (module.read == nullptr) continue;
    ++modules;
    const auto file = testing::data_path(std::string(module.files[0]), testing::Extent::kExcerpt);
    std::size_t left = most;
    for (const PromptEntry& entry : benchmarks::read_prompts(file.string())) {
      if (left-- == 0) break;
      for (const Rules rules : {Rules::kEnvironment, Rules::kPaper}) {
        SCOPED_TRACE(std::string(module.name) + " " + entry.identifier + " " + to_string(rules));
        const PddlText text{std::string(domain_text(module, rules)), module.read(entry.prompt, rules).problem};
        const Task task = load_pddl_text(text.domain, text.problem);
        LookaheadOptions options;
        options.weights = false;
        options.search.work = 1'000'000'000;  // those that are hard to decide have no certificate here
        const auto lookahead = Lookahead::compile(task, options);
        const lookahead::CertificateTexts texts{text.domain, text.problem, ""};
        if (lookahead->verdict() == Verdict::kUndecided) continue;
        const bool infeasible = lookahead->verdict() == Verdict::kInfeasible;
        const lookahead::Certificate certificate =
            infeasible ? lookahead::certify_infeasible(task, std::nullopt, lookahead::certificate_budget(), texts)
                       : lookahead::certify_plan(task, lookahead->plan(), texts);
        // Prompts that ask for actions in an order have trajectory constraints.
        if (certificate.missing == "certificates do not know trajectory constraints") continue;
        ASSERT_EQ(certificate.missing, "");
        court.add(text, certificate.text, true, infeasible ? "proofs" : "plans");
      }
    }
  }
  EXPECT_EQ(modules, 4U);
  court.judge();
  court.report();
}

TEST(CertificatesOfPrompts, AreAccepted) {
  testing::Court court;
  certify_prompts(2, court);
  EXPECT_GE(court.count("plans") + court.count("proofs"), 8U);
}

TEST(CertificatesOfPrompts, AreAcceptedSlow) {
  testing::Court court;
  certify_prompts(1'000, court);
  EXPECT_GE(court.count("plans") + court.count("proofs"), 50U);
}

}  // namespace metactrl::certificate_prompts_test
