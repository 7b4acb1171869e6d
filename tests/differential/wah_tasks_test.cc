// The benchmark's tasks, from task file to verdict: whoever chooses among the plans, every goal is reached and every
// step works; and a goal that a model writes itself can be reached, whatever it is.
//
// The slow test answers all tasks with several hostile and random models, the others a part of them with one.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/evaluate.h"
#include "benchmarks/module.h"
#include "benchmarks/watch_and_help/goal.h"
#include "metactrl/language_model.h"
#include "support/test_data.h"
#include "support/vocabularies.h"

namespace metactrl::benchmarks::wah_tasks_test {
namespace {

using testing::data_path;
using testing::Extent;
using testing::vocabulary_file;

const Module& wah() { return *find_module("wah"); }

// Not all of the builds of this file use it.
[[maybe_unused]] std::vector<PromptEntry> every(const std::vector<PromptEntry>& all, std::size_t nth,
                                                std::size_t first = 0) {
  std::vector<PromptEntry> result;
  for (std::size_t i = first; i < all.size(); i += nth) result.push_back(all[i]);
  return result;
}

EvaluateOptions with(Guidance guidance) {
  EvaluateOptions options;
  options.plan.guidance = guidance;
  options.plan.lookahead.exact.states = 10'000;
  options.plan.lookahead.search.states = 10'000;
  return options;
}

double figure(const Score& score, const std::string& name) {
  for (const auto& [key, value] : score.figures) {
    if (key == name) return value;
  }
  ADD_FAILURE() << "there is no figure " << name;
  return -1;
}

std::vector<Response> answer(const std::vector<PromptEntry>& entries, LanguageModel* model,
                             const std::shared_ptr<const Vocabulary>& vocabulary, Guidance guidance) {
  std::vector<Response> responses;
  for (const PromptEntry& entry : entries) {
    const Answer answer = answer_prompt(wah(), entry, model, vocabulary, with(guidance));
    EXPECT_EQ(answer.error, "") << entry.identifier;
    EXPECT_EQ(answer.guarantee, "full") << entry.identifier << ": " << answer.reason;
    responses.push_back({entry.identifier, answer.output});
  }
  return responses;
}

class WatchAndHelpTasks : public ::testing::TestWithParam<Extent> {
 protected:
  void SetUp() override { METACTRL_NEEDS_EXTENT(GetParam(), "wah_nl"); }

  bool whole() const { return GetParam() == Extent::kWhole; }
  std::string tasks_file() const { return data_path("wah_nl/tasks.jsonl", GetParam()).string(); }
  std::string scenes() const { return data_path("wah_nl", GetParam()).string(); }
  std::vector<PromptEntry> questions(GoalSource goals, std::size_t instruction = 1) const {
    return wah().ask({tasks_file(), scenes(), goals, instruction});
  }
  Score score(const std::vector<Response>& responses) const { return wah().score(tasks_file(), scenes(), responses); }

  void expect_all_reached(const std::vector<Response>& responses) const {
    for (const TaskScore& task : score(responses).tasks) {
      if (!task.answered) continue;
      EXPECT_TRUE(task.executable) << task.identifier << ": " << task.reason;
      EXPECT_EQ(task.success, 1) << task.identifier << ": " << task.reason;
    }
  }

  // Nobody knows whether the goals are those of the task; but the plans reach what was written.
  void expect_executed(const std::vector<Response>& responses) const {
    const Score result = score(responses);
    for (const TaskScore& task : result.tasks) {
      EXPECT_EQ(task.executable, task.answered) << task.identifier << ": " << task.reason;
    }
    EXPECT_GE(figure(result, "goal_precision"), 0);
  }
};

TEST_P(WatchAndHelpTasks, SearchReachesEveryGoal) {
  const std::vector<PromptEntry> all = questions(GoalSource::kOracle);
  ASSERT_EQ(all.size(), whole() ? 44U : 4U);
  const std::vector<Response> responses = answer(all, nullptr, nullptr, Guidance::kSearch);
  expect_all_reached(responses);
  const Score result = score(responses);
  EXPECT_EQ(result.n, all.size());
  EXPECT_EQ(figure(result, "sr"), 1);
  EXPECT_EQ(figure(result, "ssr"), 1);
  EXPECT_EQ(figure(result, "exec"), 1);
}

TEST_P(WatchAndHelpTasks, DoingNothingIsWorthALittle) {
  std::vector<Response> nothing;
  for (const PromptEntry& entry : questions(GoalSource::kOracle)) nothing.push_back({entry.identifier, "{}"});
  const Score result = score(nothing);
  EXPECT_EQ(figure(result, "sr"), 0);
  EXPECT_EQ(figure(result, "exec"), 1);
  EXPECT_EQ(figure(result, "ssr"), figure(result, "do_nothing_ssr"));
  EXPECT_NEAR(figure(result, "ssr"), whole() ? 1.7 / 44 : 0.5 / 4, 1e-6);
}

TEST_P(WatchAndHelpTasks, PromptsAreShort) {
  for (const GoalSource goals : {GoalSource::kOracle, GoalSource::kInstruction}) {
    for (const PromptEntry& entry : questions(goals, 2)) EXPECT_LT(entry.prompt.size(), 4000U) << entry.prompt;
  }
}

TEST_P(WatchAndHelpTasks, AHostileModelReachesEveryGoal) {
  METACTRL_NEEDS_VOCABULARY("gpt-2");
  if (model_runtime().empty()) GTEST_SKIP() << "built without llama.cpp, which reads vocabularies";
  const std::shared_ptr<const Vocabulary> vocabulary = load_vocabulary(vocabulary_file("gpt-2"));
  const auto model = hostile_model(vocabulary, 1);
  expect_all_reached(
      answer(every(questions(GoalSource::kOracle), whole() ? 15 : 1), model.get(), vocabulary, Guidance::kMask));
  expect_executed(
      answer(every(questions(GoalSource::kInstruction), whole() ? 22 : 2), model.get(), vocabulary, Guidance::kMask));
}

using WatchAndHelpTasksSlow = WatchAndHelpTasks;

// Each kind of model answers every question, one half of them with each seed.
TEST_P(WatchAndHelpTasksSlow, AnyModelReachesEveryGoal) {
  METACTRL_NEEDS_VOCABULARY("llama-bpe");
  if (model_runtime().empty()) GTEST_SKIP() << "built without llama.cpp, which reads vocabularies";
  const std::shared_ptr<const Vocabulary> vocabulary = load_vocabulary(vocabulary_file("llama-bpe"));
  for (const Guidance guidance : {Guidance::kMask, Guidance::kUniform}) {
    for (const std::uint64_t seed : {1U, 2U}) {
      for (const bool hostile : {true, false}) {
        SCOPED_TRACE(std::string(to_string(guidance)) + (hostile ? " hostile:" : " random:") + std::to_string(seed));
        const auto model = hostile ? hostile_model(vocabulary, seed) : random_model(vocabulary, seed);
        expect_all_reached(
            answer(every(questions(GoalSource::kOracle), 2, seed - 1), model.get(), vocabulary, guidance));
        expect_executed(
            answer(every(questions(GoalSource::kInstruction), 2, seed - 1), model.get(), vocabulary, guidance));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Data, WatchAndHelpTasks, ::testing::ValuesIn(testing::kExtents), testing::extent_name);
INSTANTIATE_TEST_SUITE_P(Data, WatchAndHelpTasksSlow, ::testing::ValuesIn(testing::kExtents), testing::extent_name);

}  // namespace
}  // namespace metactrl::benchmarks::wah_tasks_test
