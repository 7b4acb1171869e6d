// The reference plans that models/pocket learns from: right by the rules when no mistake is asked for, wrong in the way
// asked for otherwise.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "benchmarks/files.h"
#include "benchmarks/module.h"
#include "metactrl/error.h"
#include "metactrl/goal.h"
#include "reference_plan.h"
#include "support/test_data.h"
#include "support/virtualhome_prompts.h"

namespace metactrl::testing::pocket_test {
namespace {

using pocket::Example;
using pocket::make_example;
using pocket::Request;

std::string text_of(const std::string& name) {
  std::ifstream in(source_dir() / name);
  EXPECT_TRUE(in) << name;
  return {std::istreambuf_iterator<char>(in), {}};
}

Request on_the_table(const std::string& problem) {
  Request request;
  request.domain = text_of("domains/tabletop/domain.pddl");
  request.problem = text_of("domains/tabletop/" + problem + ".pddl");
  request.format = "pddl";
  request.instruction = "Tidy up.";
  return request;
}

TEST(Pocket, WritesPromptAndPlanOfAPddlProblem) {
  const std::optional<Example> example = make_example(on_the_table("dishwasher"));
  ASSERT_TRUE(example);
  EXPECT_TRUE(example->valid);
  EXPECT_FALSE(example->spoiled);
  EXPECT_GT(example->steps, 3U);
  EXPECT_TRUE(example->prompt.starts_with("Task: Tidy up.\n")) << example->prompt;
  EXPECT_TRUE(example->prompt.ends_with("Plan:\n")) << example->prompt;
  EXPECT_NE(example->plan.find("(open dishwasher)"), std::string::npos) << example->plan;
}

TEST(Pocket, AGoalIsAskedForAsTheGoalStageAsksForIt) {
  Request request = on_the_table("dishwasher");
  request.instruction = "never open the dishwasher";
  request.goal = "(and (always (not (open dishwasher))))";
  const std::optional<Example> example = make_example(request);
  ASSERT_TRUE(example);
  EXPECT_EQ(example->prompt, GoalProblem::parse(request.domain, request.problem).prompt(request.instruction).user);
  EXPECT_TRUE(example->prompt.ends_with("Goal:\n")) << example->prompt;
  EXPECT_EQ(example->plan, request.goal);
  EXPECT_TRUE(example->valid);
  request.goal = "(and (opened dishwasher))";
  EXPECT_THROW(make_example(request), InputError);
}

TEST(Pocket, GoalsAreReachedInTheirOrder) {
  Request request = on_the_table("dishwasher");
  request.problem =
      "(define (problem p) (:domain tabletop) (:objects a b c shelf box)\n"
      "(:init (hand-empty) (graspable a) (graspable b) (graspable c) (surface shelf) (container box) (openable box))\n"
      "(:goal (and (on c shelf) (inside a box) (on b shelf))))\n";
  request.in_order = true;
  const std::optional<Example> example = make_example(request);
  ASSERT_TRUE(example);
  EXPECT_TRUE(example->valid);
  const std::size_t c = example->plan.find("(grab c)");
  const std::size_t a = example->plan.find("(grab a)");
  const std::size_t b = example->plan.find("(grab b)");
  ASSERT_NE(b, std::string::npos) << example->plan;
  EXPECT_LT(c, a) << example->plan;
  EXPECT_LT(a, b) << example->plan;
  request.mistake = "forget";
  const std::optional<Example> spoiled = make_example(request);
  ASSERT_TRUE(spoiled);
  EXPECT_FALSE(spoiled->valid);
}

TEST(Pocket, EveryMistakeSpoilsThePlan) {
  for (const char* mistake : {"skip", "forget", "order", "object", "action", "grab"}) {
    SCOPED_TRACE(mistake);
    Request request = on_the_table("dishwasher");
    request.mistake = mistake;
    for (request.seed = 1; request.seed <= 3; ++request.seed) {
      const std::optional<Example> example = make_example(request);
      ASSERT_TRUE(example);
      EXPECT_TRUE(example->spoiled);
      EXPECT_FALSE(example->valid) << example->plan;
    }
  }
}

TEST(Pocket, MistakesAreDrawnFromTheSeed) {
  Request request = on_the_table("dishwasher");
  request.mistake = "object";
  request.seed = 5;
  const std::optional<Example> first = make_example(request);
  const std::optional<Example> again = make_example(request);
  ASSERT_TRUE(first && again);
  EXPECT_EQ(first->plan, again->plan);
  request.mistake = "mix-up";
  EXPECT_THROW(make_example(request), std::invalid_argument);
}

TEST(Pocket, ReadsThePromptOfAModule) {
  Request request;
  request.module = "vh-as";
  request.prompt = living_room().prompt();
  const std::optional<Example> example = make_example(request);
  ASSERT_TRUE(example);
  EXPECT_TRUE(example->valid);
  EXPECT_EQ(example->prompt, request.prompt);
  EXPECT_NE(example->plan.find(R"("SWITCHON": ["tv", "410"])"), std::string::npos) << example->plan;

  House house = living_room();
  house.node_goals = "couch is ON\n";  // nothing switches a couch on
  request.prompt = house.prompt();
  EXPECT_FALSE(make_example(request));
  request.prompt = "Hello.";
  EXPECT_THROW(make_example(request), InputError);
  request.module = "vh-xx";
  EXPECT_THROW(make_example(request), std::invalid_argument);
}

struct Source {
  const char* module;
  const char* prompts;
  const char* tasks;
};

class PocketOnTheBenchmarks : public ::testing::TestWithParam<std::tuple<Source, Extent>> {};

// Judged by the scorer, which knows nothing of the domain.
TEST_P(PocketOnTheBenchmarks, ReferencePlansScore) {
  const auto [source, extent] = GetParam();
  METACTRL_NEEDS_EXTENT(extent, source.tasks);
  const benchmarks::Module& module = *benchmarks::find_module(source.module);
  const std::vector<benchmarks::PromptEntry> prompts =
      benchmarks::read_prompts(data_path(source.prompts, extent).string());
  constexpr std::size_t kAsked = 8;
  std::vector<benchmarks::Response> answers;
  for (std::size_t i = 0; i < kAsked; ++i) {
    const benchmarks::PromptEntry& entry = prompts[i * prompts.size() / kAsked];
    Request request;
    request.module = module.name;
    request.prompt = entry.prompt;
    if (const std::optional<Example> example = make_example(request)) {
      EXPECT_TRUE(example->valid) << entry.identifier;
      answers.push_back({entry.identifier, example->plan});
    }
  }
  ASSERT_GE(answers.size(), kAsked - 2);
  const std::filesystem::path tasks = data_path(source.tasks, extent);
  std::size_t answered = 0;
  for (const benchmarks::TaskScore& task : module.score(tasks.string(), tasks.parent_path().string(), answers).tasks) {
    if (!task.answered || !task.scored) continue;
    ++answered;
    EXPECT_EQ(task.success, 1) << task.identifier << ": " << task.reason;
  }
  EXPECT_GE(answered, kAsked - 3);
}

INSTANTIATE_TEST_SUITE_P(
    Modules, PocketOnTheBenchmarks,
    ::testing::Combine(::testing::Values(Source{"vh-as", "eai_vh/as_prompts.json", "eai_vh/as.jsonl"},
                                         Source{"vh-sd", "eai_vh/sd_prompts.json", "eai_vh/sd.jsonl"},
                                         Source{"beh-as", "eai_beh/as_prompts.json", "eai_beh/as_tasks.jsonl"},
                                         Source{"beh-sd", "eai_beh/sd_prompts.json", "eai_beh/sd_tasks.jsonl"}),
                       ::testing::ValuesIn(kExtents)),
    [](const auto& info) {
      std::string name = std::get<0>(info.param).module;
      name[name.find('-')] = '_';
      return name + "_" + to_string(std::get<1>(info.param));
    });

}  // namespace
}  // namespace metactrl::testing::pocket_test
