// The benchmark's own prompts: all are read, and the answers score as they should, whoever chooses among the plans.
//
// The slow test answers all tasks with several hostile and random models, the others a third of them with one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/language_model.h"
#include "support/virtualhome_tasks.h"
#include "support/vocabularies.h"

namespace metactrl::testing::virtualhome_prompts_test {
namespace {

using benchmarks::PromptEntry;
using benchmarks::PromptTask;
using benchmarks::Response;
using benchmarks::Rules;
using benchmarks::Score;

class VirtualHomePrompts : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { METACTRL_NEEDS_DATA("eai_vh"); }
};

TEST_P(VirtualHomePrompts, AreReadUnderBothRules) {
  const VirtualHome home(GetParam());
  ASSERT_GT(home.prompts().size(), 100U);
  for (const PromptEntry& entry : home.prompts()) {
    SCOPED_TRACE(entry.identifier);
    for (const Rules rules : {Rules::kEnvironment, Rules::kPaper}) {
      const PromptTask prompt = home.module().read(entry.prompt, rules);
      const Task task = load_pddl_text(domain_text(home.module(), rules), prompt.problem);
      EXPECT_EQ(task.num_goals() > 0, home.has_goals(entry.identifier));
    }
  }
}

// In the houses that the benchmark has, and in others that fit the prompts.
TEST_P(VirtualHomePrompts, AnswersFromSearchScore) {
  const VirtualHome home(GetParam());
  const std::vector<Response> answers = home.answer(home.prompts(), nullptr, nullptr, PlanGuidance::kSearch);
  home.expect_target(answers);
  const Score here = home.score(answers);
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("metactrl_houses_" + std::to_string(::getpid()) + "_" + GetParam());
  std::mt19937 random(1);
  bool different = false;
  for (int house = 0; house < 3; ++house) {
    const Score there = home.score_elsewhere(answers, random, folder);
    ASSERT_EQ(there.tasks.size(), here.tasks.size());
    different = different || there.errors != here.errors;
    for (std::size_t i = 0; i < here.tasks.size(); ++i) {
      if (!here.tasks[i].scored) continue;
      EXPECT_GE(there.tasks[i].executable, here.tasks[i].executable)
          << there.tasks[i].identifier << ": " << there.tasks[i].reason;
      EXPECT_GE(there.tasks[i].success, here.tasks[i].success)
          << there.tasks[i].identifier << ": " << there.tasks[i].reason;
    }
  }
  EXPECT_TRUE(different) << "no step is superfluous in one house and needed in another";
  std::filesystem::remove_all(folder);
}

TEST_P(VirtualHomePrompts, AnswersOfAHostileModelScore) {
  METACTRL_NEEDS_VOCABULARY("gpt-2");
  if (model_runtime().empty()) GTEST_SKIP() << "built without llama.cpp, which reads vocabularies";
  const VirtualHome home(GetParam());
  const std::shared_ptr<const Vocabulary> vocabulary = load_vocabulary(vocabulary_file("gpt-2"));
  const auto model = hostile_model(vocabulary, 1);
  home.expect_target(home.answer(home.every(3), model.get(), vocabulary, PlanGuidance::kMask));
}

using VirtualHomePromptsSlow = VirtualHomePrompts;

TEST_P(VirtualHomePromptsSlow, AnswersOfAnyModelScore) {
  METACTRL_NEEDS_VOCABULARY("llama-bpe");
  if (model_runtime().empty()) GTEST_SKIP() << "built without llama.cpp, which reads vocabularies";
  const VirtualHome home(GetParam());
  const std::shared_ptr<const Vocabulary> vocabulary = load_vocabulary(vocabulary_file("llama-bpe"));
  for (const PlanGuidance guidance : {PlanGuidance::kMask, PlanGuidance::kUniform}) {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      for (const bool hostile : {true, false}) {
        SCOPED_TRACE(std::string(to_string(guidance)) + (hostile ? " hostile:" : " random:") + std::to_string(seed));
        const auto model = hostile ? hostile_model(vocabulary, seed) : random_model(vocabulary, seed);
        home.expect_target(home.answer(home.prompts(), model.get(), vocabulary, guidance));
      }
    }
  }
}

std::string module_name(const ::testing::TestParamInfo<const char*>& info) {
  return info.param == std::string("vh-as") ? "Actions" : "Subgoals";
}
INSTANTIATE_TEST_SUITE_P(Modules, VirtualHomePrompts, ::testing::Values("vh-as", "vh-sd"), module_name);
INSTANTIATE_TEST_SUITE_P(Modules, VirtualHomePromptsSlow, ::testing::Values("vh-as", "vh-sd"), module_name);

}  // namespace
}  // namespace metactrl::testing::virtualhome_prompts_test
