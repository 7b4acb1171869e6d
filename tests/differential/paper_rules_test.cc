// The paper's rules on the benchmark's own tasks: how many answers of search, which has no model, each evaluator takes. On
// the excerpts that ship, and on all at hand, where they are the figures of docs/benchmarks.md.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "benchmarks/evaluate.h"
#include "benchmarks/files.h"
#include "benchmarks/module.h"
#include "support/test_data.h"

namespace metactrl::benchmarks::paper_rules_test {
namespace {

using testing::data_path;
using testing::Extent;

struct Counts {
  std::size_t scored = 0;
  std::size_t successful = 0;
  std::size_t executable = 0;
  bool operator==(const Counts&) const = default;
};

struct Case {
  const char* module;
  Rules rules;
  Extent extent;
  Counts expected;
};

void PrintTo(const Counts& counts, std::ostream* out) {
  *out << counts.scored << " scored, " << counts.successful << " successful, " << counts.executable << " executable";
}
void PrintTo(const Case& test, std::ostream* out) { *out << test.module << ", " << to_string(test.rules); }

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  std::string name = std::string(info.param.module) + "_" + to_string(info.param.rules) + "_";
  for (char& c : name) c = c == '-' ? '_' : c;
  return name + to_string(info.param.extent);
}

class PaperRules : public ::testing::TestWithParam<Case> {};

TEST_P(PaperRules, AnswersOfSearchScoreAsTheyDid) {
  const Case& test = GetParam();
  const Module& module = *find_module(test.module);
  METACTRL_NEEDS_EXTENT(test.extent, std::string(module.files.front()));
  const auto file = [&](std::size_t i) { return data_path(std::string(module.files.at(i)), test.extent).string(); };
  const std::string tasks = module.ask == nullptr ? file(1) : file(0);
  const std::string scenes = data_path(std::string(module.files.front()), test.extent).parent_path().string();
  const std::vector<PromptEntry> prompts =
      module.ask == nullptr ? read_prompts(file(0)) : module.ask({tasks, scenes, GoalSource::kOracle, 1});
  EvaluateOptions options;
  options.rules = test.rules;
  options.plan.guidance = Guidance::kSearch;
  options.plan.on_infeasible = PlanOptions::OnInfeasible::kDropGoals;
  options.plan.lookahead.exact.states = 10'000;
  options.plan.lookahead.search.states = 10'000;
  std::vector<Response> responses;
  for (const PromptEntry& prompt : prompts) {
    const Answer answer = answer_prompt(module, prompt, nullptr, nullptr, options);
    EXPECT_EQ(answer.error, "") << prompt.identifier;
    EXPECT_TRUE(answer.assumptions.empty()) << "these rules know of no hidden facts";
    responses.push_back({prompt.identifier, answer.output});
  }
  const Score score = module.score(tasks, scenes, responses);
  const auto count = [&](double percent) {
    return static_cast<std::size_t>(std::lround(percent * static_cast<double>(score.n) / 100));
  };
  EXPECT_EQ((Counts{score.n, count(score.task_success), count(score.execution_success)}), test.expected);
}

INSTANTIATE_TEST_SUITE_P(Modules, PaperRules,
                         ::testing::Values(Case{"vh-as", Rules::kPaper, Extent::kExcerpt, {13, 11, 13}},
                                           Case{"vh-as", Rules::kLiteral, Extent::kExcerpt, {13, 3, 3}},
                                           Case{"vh-sd", Rules::kPaper, Extent::kExcerpt, {14, 8, 11}},
                                           Case{"beh-as", Rules::kPaper, Extent::kExcerpt, {11, 5, 7}},
                                           Case{"beh-as", Rules::kLiteral, Extent::kExcerpt, {11, 6, 7}},
                                           Case{"beh-sd", Rules::kPaper, Extent::kExcerpt, {11, 4, 5}},
                                           Case{"wah", Rules::kPaper, Extent::kExcerpt, {4, 4, 4}},
                                           Case{"wah", Rules::kLiteral, Extent::kExcerpt, {4, 1, 1}},
                                           Case{"vh-as", Rules::kPaper, Extent::kWhole, {140, 129, 139}},
                                           Case{"vh-as", Rules::kLiteral, Extent::kWhole, {140, 30, 33}},
                                           Case{"vh-sd", Rules::kPaper, Extent::kWhole, {156, 119, 138}},
                                           Case{"beh-as", Rules::kPaper, Extent::kWhole, {54, 18, 46}},
                                           Case{"beh-as", Rules::kLiteral, Extent::kWhole, {54, 38, 41}},
                                           Case{"beh-sd", Rules::kPaper, Extent::kWhole, {54, 25, 31}},
                                           Case{"wah", Rules::kPaper, Extent::kWhole, {44, 44, 44}},
                                           Case{"wah", Rules::kLiteral, Extent::kWhole, {44, 0, 0}}),
                         case_name);

}  // namespace
}  // namespace metactrl::benchmarks::paper_rules_test
