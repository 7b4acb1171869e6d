// Watch-And-Help with a model: prompts, problems, and answers with the task's goal and with one that the model writes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "benchmarks/evaluate.h"
#include "benchmarks/module.h"
#include "benchmarks/virtualhome/action_scorer.h"
#include "benchmarks/watch_and_help/executor.h"
#include "benchmarks/watch_and_help/goal_problem.h"
#include "benchmarks/watch_and_help/listing.h"
#include "benchmarks/watch_and_help/plan_problem.h"
#include "benchmarks/watch_and_help/prompt.h"
#include "benchmarks/watch_and_help/question.h"
#include "benchmarks/watch_and_help/scorer.h"
#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "metactrl/language_model.h"
#include "support/small_apartment.h"
#include "support/test_data.h"

namespace metactrl::benchmarks::watch_and_help::watch_and_help_question_test {
namespace {

using testing::SmallApartment;
using Json = nlohmann::json;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Every character, and a few longer pieces.
std::shared_ptr<const Vocabulary> small_vocabulary() {
  std::vector<std::string> tokens;
  for (int byte = 1; byte < 128; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  for (const char* word : {"{\"", "\": [\"", "\", \"", "\"], \"", "WALK", "GRAB", "PUT", "BACK", "apple", "coffeetable",
                           "(", ", ", "goal", "on", "inside"}) {
    if (std::find(tokens.begin(), tokens.end(), word) == tokens.end()) tokens.emplace_back(word);
  }
  tokens.emplace_back("");  // ends a turn
  return std::make_shared<TableVocabulary>(tokens,
                                           std::vector<TokenId>{TokenId{static_cast<std::int32_t>(tokens.size()) - 1}});
}

EvaluateOptions with(Guidance guidance) {
  EvaluateOptions options;
  options.plan.guidance = guidance;
  options.plan.lookahead.exact.states = 10'000;
  options.plan.lookahead.search.states = 10'000;
  return options;
}

Answer search(const HelpTask& task, PlanOptions::OnInfeasible on_infeasible = PlanOptions::OnInfeasible::kError,
              Rules rules = Rules::kEnvironment) {
  EvaluateOptions options = with(Guidance::kSearch);
  options.rules = rules;
  options.plan.on_infeasible = on_infeasible;
  return answer_prompt(*find_module("wah"), ask(task, GoalSource::kOracle, 1), nullptr, nullptr, options);
}

// --- prompts --------------------------------------------------------------------------------------------------------

TEST(WatchAndHelpPrompt, ShowsWhatMattersToTheGoal) {
  SmallApartment home;
  home.add_task(
      {SmallApartment::goal("on", "fork", "coffeetable"), SmallApartment::goal("on", "apple", "coffeetable", 2)});
  home.edges().push_back({30, "ON", 22});  // also on the table; the cupboard, which can keep it, counts
  EXPECT_EQ(ask(home.task(), GoalSource::kOracle, 1).prompt,
            "Apartment:\n"
            "bathroom 11: nothing\n"
            "kitchen 12:\n"
            "- kitchentable 22 (surface)\n"
            "- cupboard 23 (container, surface, closed)\n"
            "- plate 32 (surface)\n"
            "livingroom 13:\n"
            "- coffeetable 25 (surface)\n"
            "- coffeetable 26 (surface)\n"
            "Things:\n"
            "- apple 31 on kitchentable 22\n"
            "- apple 30 in cupboard 23 (closed)\n"
            "- fork 33 on plate 32\n"
            "The robot is in the bathroom 11.\n"
            "Instruction: Please tidy up.\n"
            "Goal, for one and the same coffeetable:\n"
            "on(fork, coffeetable)\n"
            "on(apple, coffeetable)\n"
            "on(apple, coffeetable)");
}

TEST(WatchAndHelpPrompt, ShowsSwitchesHandsAndWhatHasNoPlace) {
  SmallApartment home;
  home.add_task({SmallApartment::goal("inside", "egg", "dishwasher"), SmallApartment::goal("turnOn", "", "dishwasher"),
                 SmallApartment::goal("on", "apple", "cupboard")})["init_room"] = "kitchen";
  home.nodes().push_back({{"id", 1},
                          {"class_name", "character"},
                          {"category", "Characters"},
                          {"properties", Json::array()},
                          {"states", Json::array()}});
  home.edges().push_back({1, "HOLDS_RH", 31});
  for (Json& edge : home.edges()) {
    if (edge[0] == 31 && edge[1] == "ON") edge = {31, "INSIDE", 12};
    if (edge[0] == 37 && edge[2] == 20) edge = {37, "INSIDE", 12};
  }
  const std::string prompt = ask(home.task(), GoalSource::kOracle, 1).prompt;
  EXPECT_TRUE(has(prompt, "- dishwasher 21 (container, closed, off)\n")) << prompt;
  EXPECT_TRUE(has(prompt, "- egg 37\n")) << prompt;
  EXPECT_TRUE(has(prompt, "The robot is in the kitchen 12 and holds apple 31.\n")) << prompt;
  EXPECT_TRUE(has(prompt, "for one and the same dishwasher and one and the same cupboard:\n")) << prompt;
}

TEST(WatchAndHelpPrompt, AnotherInstruction) {
  SmallApartment home;
  home.add_task("on", "apple", "coffeetable");
  const HelpTask task = home.task();
  EXPECT_TRUE(has(ask(task, GoalSource::kOracle, 2).prompt, "Instruction: Tidy up, now!\n"));
  EXPECT_TRUE(has(ask(task, GoalSource::kOracle, 9).prompt, "Instruction: Tidy up, now!\n")) << "the last one";
  EXPECT_EQ(ask(task, GoalSource::kInstruction, 2).prompt,
            "Things: apple, egg, fork, mug, plate, radio\n"
            "Containers: cupboard, dishwasher, fridge, shelf\n"
            "Surfaces: coffeetable, cupboard, kitchentable\n"
            "Switches: dishwasher, lamp, radio, safe\n"
            "Instruction: Tidy up, now!");
  EXPECT_TRUE(has(std::string(plan_system_prompt()), "PUTBACK x y"));
  EXPECT_TRUE(has(std::string(goal_system_prompt()), "turnOn(y)"));
}

// --- answers to the task's goal -------------------------------------------------------------------------------------

TEST(WatchAndHelpAnswer, SearchFindsAShortPlan) {
  SmallApartment home;
  home.add_task("on", "apple", "coffeetable");
  const HelpTask task = home.task();
  const Answer answer = search(task);
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(answer.identifier, "1");
  EXPECT_EQ(answer.title, "tidy_up");
  EXPECT_EQ(answer.guarantee, "full");
  EXPECT_EQ(answer.steps.size(), 4U);
  EXPECT_TRUE(has(answer.output, R"("GRAB": ["apple", "31"])")) << answer.output;
  EXPECT_EQ(score_answer(task, answer.output).success, 1);
}

// What the paper's appendix lists: nobody has to open what a thing is in, to be near what is switched on or where a thing is
// put. What it must have run besides are the environment's rules.
TEST(WatchAndHelpAnswer, LiteralRulesAskForWhatIsListedAndNoMore) {
  SmallApartment home;
  home.add_task("on", "egg", "coffeetable");
  home.add_task({SmallApartment::goal("turnOn", "", "lamp")});
  home.add_task("inside", "mug", "fridge");
  const std::vector<HelpTask> tasks = home.read();
  const auto plan = [&](std::size_t i, Rules rules) {
    return search(tasks[i], PlanOptions::OnInfeasible::kError, rules).steps;
  };
  const std::vector<std::string> egg = plan(0, Rules::kLiteral);
  ASSERT_EQ(egg.size(), 3U);
  EXPECT_EQ(egg[1], "(grab egg_37)");
  EXPECT_EQ(egg[2].find("(putback egg_37 coffeetable_"), 0U) << egg[2];
  EXPECT_EQ(plan(1, Rules::kLiteral), std::vector<std::string>{"(switchon lamp_28)"});
  // Into what is closed nothing is put, and nobody opens from afar.
  const std::vector<std::string> mug = plan(2, Rules::kLiteral);
  EXPECT_EQ(mug.size(), 5U);
  EXPECT_NE(std::find(mug.begin(), mug.end(), "(open fridge_20)"), mug.end());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    EXPECT_EQ(plan(i, Rules::kPaper), plan(i, Rules::kEnvironment));
    EXPECT_EQ(score_answer(tasks[i], search(tasks[i]).output).success, 1);
  }
  EXPECT_EQ(plan(0, Rules::kPaper).size(), 5U);
  EXPECT_EQ(plan(1, Rules::kPaper).size(), 2U);
}

TEST(WatchAndHelpAnswer, AllGoalsOnOneTarget) {
  SmallApartment home;
  home.add_task(
      {SmallApartment::goal("on", "apple", "coffeetable", 2), SmallApartment::goal("on", "plate", "coffeetable")});
  home.edges().push_back({32, "ON", 25});  // one already here, and the apples have to come here, too, or it has to move
  const HelpTask task = home.task();
  const Answer answer = search(task);
  EXPECT_EQ(answer.guarantee, "full") << answer.reason;
  const TaskScore score = score_answer(task, answer.output);
  EXPECT_TRUE(score.executable) << score.reason;
  EXPECT_EQ(score.success, 1) << score.reason;
}

TEST(WatchAndHelpAnswer, ADishwasherIsFilledClosedAndSwitchedOn) {
  SmallApartment home;
  home.add_task(
      {SmallApartment::goal("inside", "plate", "dishwasher"), SmallApartment::goal("inside", "fork", "dishwasher"),
       SmallApartment::goal("inside", "mug", "dishwasher"), SmallApartment::goal("turnOn", "", "dishwasher")});
  const HelpTask task = home.task();
  const Answer answer = search(task);
  EXPECT_EQ(answer.guarantee, "full") << answer.reason;
  EXPECT_EQ(answer.steps.back(), "(switchon dishwasher_21)");
  EXPECT_EQ(score_answer(task, answer.output).success, 1);
}

TEST(WatchAndHelpAnswer, WhatCannotBeIsNamed) {
  SmallApartment home;
  home.add_task("on", "pearl", "coffeetable");     // in a safe that nobody can open
  home.add_task("on", "unicorn", "coffeetable");   // there is none
  home.add_task("on", "apple", "coffeetable", 3);  // there are two
  home.add_task({SmallApartment::goal("inside", "apple", "stove"), SmallApartment::goal("on", "mug", "kitchentable")});
  const std::vector<HelpTask> tasks = home.read();
  for (const HelpTask& task : tasks) {
    const Answer answer = search(task);
    EXPECT_EQ(answer.error, "");
    EXPECT_EQ(answer.outcome, "infeasible") << task.id << ": " << answer.reason;
    EXPECT_NE(answer.reason, "");
  }
  const auto note = [&](std::size_t i) { return search(tasks[i]).notes.at(0); };
  EXPECT_EQ(note(1), "the goal on(unicorn, coffeetable) cannot be reached: the apartment has no unicorn");
  EXPECT_EQ(note(2),
            "the goal on(apple, coffeetable) cannot be reached: the apartment has 2 apple, and 3 are asked for");
  EXPECT_EQ(note(3), "the goal inside(apple, stove) cannot be reached: the apartment has no stove");
  const Answer rest = search(tasks[3], PlanOptions::OnInfeasible::kDropGoals);
  EXPECT_EQ(rest.guarantee, "goals dropped");
  EXPECT_TRUE(score_answer(tasks[3], rest.output).goals[1].reached);
}

TEST(WatchAndHelpAnswer, NamesThatAPlanCannotSpellAreRefused) {
  SmallApartment home;
  home.add_task("on", "Big Apple", "coffeetable");
  home.nodes().push_back({{"id", 50},
                          {"class_name", "Big Apple"},
                          {"category", "Props"},
                          {"properties", {"GRABBABLE"}},
                          {"states", Json::array()}});
  home.edges().push_back({50, "INSIDE", 12});
  EXPECT_TRUE(has(search(home.task()).error, "'Big Apple', which a plan cannot name"));
}

TEST(WatchAndHelpAnswer, AnyModelReachesTheGoal) {
  SmallApartment home;
  home.add_task({SmallApartment::goal("inside", "plate", "dishwasher"),
                 SmallApartment::goal("inside", "egg", "dishwasher"),
                 SmallApartment::goal("turnOn", "", "dishwasher")});
  home.add_task(
      {SmallApartment::goal("on", "mug", "coffeetable"), SmallApartment::goal("on", "apple", "coffeetable", 2)});
  const auto vocabulary = small_vocabulary();
  for (const HelpTask& task : home.read()) {
    for (const Guidance guidance : {Guidance::kMask, Guidance::kUniform}) {
      for (const bool hostile : {true, false}) {
        SCOPED_TRACE(task.id + " " + to_string(guidance) + (hostile ? " hostile" : " random"));
        const auto model = hostile ? hostile_model(vocabulary, 3) : random_model(vocabulary, 3);
        const Answer answer = answer_prompt(*find_module("wah"), ask(task, GoalSource::kOracle, 1), model.get(),
                                            vocabulary, with(guidance));
        EXPECT_EQ(answer.error, "");
        EXPECT_EQ(answer.guarantee, "full") << answer.reason;
        const TaskScore score = score_answer(task, answer.output);
        EXPECT_TRUE(score.executable) << score.reason;
        EXPECT_EQ(score.success, 1) << score.reason;
      }
    }
  }
}

// --- goals that a model writes --------------------------------------------------------------------------------------

// The state that a plan leads to grants the goal that was written before it.
void expect_granted(const HelpTask& task, const std::string& output) {
  std::string_view rest;
  const std::optional<std::vector<GoalLine>> goal = read_goal(output, rest);
  ASSERT_TRUE(goal) << output;
  HelpTask wanted = task;
  wanted.goal = *goal;
  const TaskScore score = score_answer(wanted, output);
  EXPECT_TRUE(score.executable) << score.reason;
  EXPECT_EQ(score.success, 1) << score.reason << "\n" << output;
}

TEST(WatchAndHelpGoalWriting, WhatAnyModelWritesIsReached) {
  SmallApartment home;
  home.add_task("on", "apple", "coffeetable");
  const HelpTask task = home.task();
  const auto vocabulary = small_vocabulary();
  for (const Guidance guidance : {Guidance::kMask, Guidance::kUniform}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(std::string(to_string(guidance)) + " " + std::to_string(seed));
      const auto model = seed == 1 ? hostile_model(vocabulary, seed) : random_model(vocabulary, seed);
      const Answer answer = answer_prompt(*find_module("wah"), ask(task, GoalSource::kInstruction, 1), model.get(),
                                          vocabulary, with(guidance));
      EXPECT_EQ(answer.error, "");
      EXPECT_EQ(answer.guarantee, "full") << answer.reason;
      EXPECT_FALSE(answer.goals_written.empty());
      EXPECT_LE(answer.goals_written.size(), kMostGoals);
      expect_granted(task, answer.output);
    }
  }
}

// Weights that favour short plans must not make the wish shorter.
TEST(WatchAndHelpGoalWriting, GuidanceDoesNotChangeWhatIsWished) {
  SmallApartment home;
  home.add_task("on", "apple", "coffeetable");
  const HelpTask task = home.task();
  const auto vocabulary = small_vocabulary();
  std::size_t lines = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    std::vector<std::string> wished[2];
    for (const Guidance guidance : {Guidance::kMask, Guidance::kUniform}) {
      const auto model = random_model(vocabulary, seed);
      wished[guidance == Guidance::kMask ? 0 : 1] =
          answer_prompt(*find_module("wah"), ask(task, GoalSource::kInstruction, 1), model.get(), vocabulary,
                        with(guidance))
              .goals_written;
    }
    EXPECT_EQ(wished[0], wished[1]) << seed;
    lines = std::max(lines, wished[1].size());
  }
  EXPECT_GT(lines, 1U);
}

TEST(WatchAndHelpGoalWriting, WithoutGuidanceThereMayBeNoGoal) {
  SmallApartment home;
  home.add_task("on", "apple", "coffeetable");
  const HelpTask task = home.task();
  const auto vocabulary = small_vocabulary();
  const auto model = random_model(vocabulary, 1);
  EvaluateOptions options = with(Guidance::kNone);
  options.plan.generate.max_tokens = 20;
  const Answer answer =
      answer_prompt(*find_module("wah"), ask(task, GoalSource::kInstruction, 1), model.get(), vocabulary, options);
  EXPECT_EQ(answer.identifier, "1");
  EXPECT_EQ(answer.guarantee, "none");
  EXPECT_TRUE(answer.goals_written.empty());
  EXPECT_EQ(score_answer(task, answer.output).verdict, "parsing");
  EXPECT_TRUE(has(answer_prompt(*find_module("wah"), ask(task, GoalSource::kInstruction, 1), nullptr, nullptr,
                                with(Guidance::kSearch))
                      .error,
                  "guidance search has no model that could read an instruction"));
}

TEST(WatchAndHelpGoalWriting, OnlyWhatTheApartmentCanGrant) {
  SmallApartment home;
  home.add_task("on", "apple", "coffeetable");
  const HelpTask task = home.task();
  const Inventory inventory(*task.scene);
  EXPECT_EQ(inventory.available.at("apple"), 2U);
  EXPECT_FALSE(inventory.available.contains("pearl")) << "nobody can open the safe";
  const Task writing = load_pddl(testing::source_dir().string() + "/domains/watch-and-help/goal.pddl",
                                 (home.write("goal.pddl", goal_problem(inventory).problem), home.path("goal.pddl")));
  const auto valid = [&](const std::string& plan) { return writing.validate(parse_plan(plan, "goal")).valid; };
  EXPECT_TRUE(valid("(on apple coffeetable)\n(inside apple fridge)\n(turnon lamp)\n"));
  EXPECT_FALSE(valid("(on apple coffeetable)\n(inside apple fridge)\n(on apple kitchentable)\n")) << "two apples";
  EXPECT_FALSE(valid("")) << "nothing is no goal";
  for (const char* plan :
       {"(on pearl coffeetable)", "(inside apple coffeetable)", "(on apple fridge)", "(turnon fridge)",
        "(inside apple safe)", "(on mug plate)", "(turnon lamp)\n(turnon lamp)", "(on coffeetable cupboard)"}) {
    bool accepted = true;
    try {
      accepted = valid(plan);
    } catch (const InputError&) {
      accepted = false;  // such an action does not even exist
    }
    EXPECT_FALSE(accepted) << plan;
  }
}

// Sets of goals drawn from what the constraint allows: all can be reached together.
TEST(WatchAndHelpGoalWriting, WhatCanBeWrittenCanBeReached) {
  SmallApartment home;
  home.add_task("on", "apple", "coffeetable");
  const HelpTask task = home.task();
  const Inventory inventory(*task.scene);
  std::mt19937 random(5);
  const auto pick = [&](const std::vector<std::string>& from) { return from[random() % from.size()]; };
  for (int i = 0; i < 25; ++i) {
    std::map<std::string, std::size_t> left = inventory.available;
    std::vector<GoalLine> goal;
    for (std::size_t n = 1 + random() % 4; goal.size() < n;) {
      GoalLine one;
      one.kind = static_cast<GoalKind>(random() % 3);
      one.target = pick(one.kind == GoalKind::kOn       ? inventory.surfaces
                        : one.kind == GoalKind::kInside ? inventory.containers
                                                        : inventory.switches);
      if (one.kind == GoalKind::kTurnOn) {
        if (std::find(goal.begin(), goal.end(), one) == goal.end()) goal.push_back(one);
        continue;
      }
      one.object = pick(inventory.things());
      if (left[one.object] == 0) continue;
      --left[one.object];
      goal.push_back(one);
    }
    HelpTask wanted = task;
    wanted.goal = goal;
    std::string text;
    for (const GoalLine& one : goal) text += to_text(one) + " ";
    SCOPED_TRACE(text);
    const Answer answer = search(wanted);
    ASSERT_EQ(answer.guarantee, "full") << answer.reason;
    const TaskScore score = score_answer(wanted, answer.output);
    EXPECT_TRUE(score.executable) << score.reason;
    EXPECT_EQ(score.success, 1) << score.reason;
  }
}

}  // namespace
}  // namespace metactrl::benchmarks::watch_and_help::watch_and_help_question_test
