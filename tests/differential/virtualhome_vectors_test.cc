// Every recorded verdict of the official VirtualHome evaluator, reproduced: verdict, executability, success, errors.
// On the excerpt that ships, and on all that was recorded where that is at hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "benchmarks/score.h"
#include "benchmarks/virtualhome/action_scorer.h"
#include "benchmarks/virtualhome/subgoal_scorer.h"
#include "support/test_data.h"

namespace metactrl::benchmarks::virtualhome::virtualhome_vectors_test {
namespace {

using testing::Extent;

struct Vector {
  std::string set;
  std::string id;
  std::string output;
  std::string verdict;
  bool executable = false;
  bool success = false;
  std::vector<std::string> errors;  // in the order of the steps
};

std::vector<Vector> read_vectors(const std::string& file, Extent extent) {
  std::vector<Vector> vectors;
  std::ifstream in(testing::data_path(file, extent));
  for (std::string line; std::getline(in, line);) {
    const nlohmann::json row = nlohmann::json::parse(line);
    vectors.push_back({row.at("set"), row.at("id"), row.at("output"), row.at("verdict"), row.at("executable"),
                       row.at("success"), row.at("errors")});
  }
  return vectors;
}

std::vector<std::string> errors_in_order(const TaskScore& score) {
  std::vector<std::string> errors;
  for (const StepScore& step : score.steps) {
    if (step.outcome != "ok") errors.push_back(step.outcome);
  }
  return errors;
}

class VirtualHomeVectors : public ::testing::TestWithParam<Extent> {
 protected:
  void SetUp() override { METACTRL_NEEDS_EXTENT(GetParam(), "eai_vh"); }

  bool whole() const { return GetParam() == Extent::kWhole; }
  std::string folder() const { return testing::data_path("eai_vh", GetParam()).string(); }
};

TEST_P(VirtualHomeVectors, ActionSequencing) {
  const ActionScorer scorer(folder() + "/as.jsonl", folder());
  const std::vector<Vector> vectors = read_vectors("eai_vh/testvec_as.jsonl", GetParam());
  ASSERT_EQ(vectors.size(), whole() ? 1173U : 113U);
  for (const Vector& vector : vectors) {
    SCOPED_TRACE(vector.set + " " + vector.id + ": " + vector.output);
    // They were recorded with PYTHONHASHSEED=0.
    const TaskScore score = scorer.score(vector.id, vector.output, ActionGoalOrder::kSorted);
    EXPECT_EQ(score.verdict, vector.verdict);
    EXPECT_EQ(score.executable, vector.executable) << score.reason;
    EXPECT_EQ(score.success, vector.success ? 1 : 0) << score.reason;
    // The evaluator does not execute the plans of other verdicts.
    if (score.verdict == "run") {
      EXPECT_EQ(errors_in_order(score), vector.errors);
    } else {
      EXPECT_TRUE(vector.errors.empty());
    }
  }
}

TEST_P(VirtualHomeVectors, SubgoalDecomposition) {
  const SubgoalScorer scorer(folder() + "/sd.jsonl", folder());
  const std::vector<Vector> vectors = read_vectors("eai_vh/testvec_sd.jsonl", GetParam());
  ASSERT_EQ(vectors.size(), whole() ? 780U : 70U);
  for (const Vector& vector : vectors) {
    SCOPED_TRACE(vector.set + " " + vector.id + ": " + vector.output);
    const TaskScore score = scorer.score(vector.id, vector.output);
    EXPECT_EQ(score.verdict, vector.verdict);
    EXPECT_EQ(score.executable, vector.executable) << score.reason;
    EXPECT_EQ(score.success, vector.success ? 1 : 0) << score.reason;
    // The evaluator does not report the errors of an executable plan that misses its goal.
    if (score.verdict == "GoalUnreachable") {
      EXPECT_TRUE(vector.errors.empty());
    } else {
      EXPECT_EQ(errors_in_order(score), vector.errors);
    }
  }
}

std::size_t succeeded(const Score& score) {
  return static_cast<std::size_t>(
      std::count_if(score.tasks.begin(), score.tasks.end(), [](const TaskScore& task) { return task.success == 1; }));
}

// Per set of vectors, a whole file of answers at once.
TEST_P(VirtualHomeVectors, Totals) {
  std::vector<Response> gold;
  std::vector<Response> doubled;
  for (const Vector& vector : read_vectors("eai_vh/testvec_as.jsonl", GetParam())) {
    if (vector.set == "gold") gold.push_back({vector.id, vector.output});
    if (vector.set == "gold_first_step_doubled") doubled.push_back({vector.id, vector.output});
  }
  const Score as_they_are = score_virtualhome_actions(folder() + "/as.jsonl", folder(), gold);
  EXPECT_EQ(as_they_are.task_success, 0);
  EXPECT_EQ(as_they_are.equal_to_gold + static_cast<std::size_t>(as_they_are.errors.at("hallucination")),
            as_they_are.n);
  EXPECT_EQ(as_they_are.n_all, whole() ? 158U : 14U);
  EXPECT_EQ(as_they_are.n, whole() ? 140U : 13U) << "tasks with two edge goals are left out";
  const Score once_more = score_virtualhome_actions(folder() + "/as.jsonl", folder(), doubled);
  EXPECT_EQ(once_more.equal_to_gold, 0U);
  EXPECT_EQ(once_more.execution_success, as_they_are.execution_success);
  EXPECT_EQ(succeeded(once_more), whole() ? 123U : 10U);
}

INSTANTIATE_TEST_SUITE_P(Data, VirtualHomeVectors, ::testing::ValuesIn(testing::kExtents), testing::extent_name);

}  // namespace
}  // namespace metactrl::benchmarks::virtualhome::virtualhome_vectors_test
