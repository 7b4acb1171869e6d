// The readers of VirtualHome prompts, and what the problems they write allow.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "benchmarks/module.h"
#include "benchmarks/shipped_files.h"
#include "benchmarks/virtualhome/prompt_reader.h"
#include "lookahead/drop_goals.h"
#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "metactrl/lookahead.h"
#include "support/virtualhome_prompts.h"

namespace metactrl::benchmarks::virtualhome::virtualhome_reader_test {
namespace {

using testing::Flat;
using testing::House;
using testing::living_room;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool has(const std::vector<std::string>& list, const std::string& entry) {
  return std::find(list.begin(), list.end(), entry) != list.end();
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++times;
  return times;
}

enum class Kind { kActions, kSubgoals };

PromptTask read(Kind kind, const std::string& prompt) {
  return kind == Kind::kActions ? read_actions_prompt(prompt) : read_subgoals_prompt(prompt);
}

Task load(Kind kind, const std::string& problem, const char* rules = "environment") {
  const std::string folder = kind == Kind::kActions ? "virtualhome-actions/" : "virtualhome-subgoals/";
  return load_pddl_text(shipped_file(folder + rules + ".pddl"), problem);
}

// With as few assumptions as will do; empty where no number of them does.
std::vector<std::string> plan_for(Kind kind, const std::string& prompt) {
  const PromptTask read_task = read(kind, prompt);
  for (std::size_t level = read_task.fewest_assumptions; level <= read_task.assumptions.size(); ++level) {
    const Task task = load(kind, read_task.problem_assuming(level));
    const auto lookahead = Lookahead::compile(task, {});
    if (lookahead->verdict() != Verdict::kSolvable) continue;
    std::vector<std::string> plan;
    for (const ActionId action : lookahead->plan()) plan.push_back(task.text(action));
    return plan;
  }
  return {};
}

// "prompt:LINE:" of the line that holds `text`.
std::string place_of(const std::string& prompt, const std::string& text) {
  const std::size_t at = prompt.rfind(text);
  EXPECT_NE(at, std::string::npos) << text;
  return "prompt:" + std::to_string(1 + std::count(prompt.begin(), prompt.begin() + static_cast<long>(at), '\n')) + ":";
}

std::string error_of(Kind kind, const std::string& prompt) {
  try {
    read(kind, prompt);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

void expect_error_at(Kind kind, const std::string& prompt, const std::string& text, const std::string& message) {
  const std::string error = error_of(kind, prompt);
  EXPECT_TRUE(error.starts_with(place_of(prompt, text))) << error << "\ninstead of " << place_of(prompt, text);
  EXPECT_TRUE(has(error, message)) << error;
}

std::string without(std::string text, const std::string& part) {
  const std::size_t at = text.rfind(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.erase(at, part.size());
}

// --- action sequencing: what is read --------------------------------------------------------------------------------

TEST(VirtualHomeActions, APromptIsAProblem) {
  House house = living_room();
  house.edge_goals = "character is FACING to tv\n";
  house.action_goals = "LOOKAT or WATCH\nLOOKAT|WATCH\n";
  const PromptTask task = read_actions_prompt(house.prompt());
  EXPECT_EQ(task.problem,
            "(define (problem prompt)\n"
            "  (:domain virtualhome-actions)\n"
            "  (:objects tv_410 couch_352 - thing kitchen_11 - room wish-1-lookat - wish wish-1-watch - wish)\n"
            "  (:init\n"
            "    (is-room kitchen_11)\n"
            "    (has_switch tv_410)\n"
            "    (has_plug tv_410)\n"
            "    (lookable tv_410)\n"
            "    (stopped tv_410)\n"
            "    (clean tv_410)\n"
            "    (plugged tv_410)\n"
            "    (sittable couch_352)\n"
            "    (lieable couch_352)\n"
            "    (movable couch_352)\n"
            "    (in-room kitchen_11)\n"
            "    (right-free)\n"
            "    (left-free)\n"
            "    (asks wish-1-lookat a_lookat)\n"
            "    (asks wish-1-watch a_watch))\n"
            "  (:goal (and\n"
            "    (or (did wish-1-lookat) (did wish-1-watch))\n"
            "    (running tv_410)\n"
            "    (facing tv_410))))\n");
  EXPECT_EQ(task.problem[task.init_end], ')');
  EXPECT_EQ(task.problem.substr(task.goal_end), ")))\n");
  EXPECT_EQ(task.fewest_assumptions, 0U);
  EXPECT_TRUE(task.notes.empty());
  EXPECT_TRUE(task.title.empty());
  const std::vector<std::string> plan = plan_for(Kind::kActions, house.prompt());
  ASSERT_EQ(plan.size(), 5U);
  EXPECT_EQ(plan[0], "(standup)");
  EXPECT_EQ(plan[1], "(walk tv_410)");
  for (const char* step : {"(switchon tv_410)", "(turnto tv_410)", "(lookat tv_410)"}) EXPECT_TRUE(has(plan, step));
}

TEST(VirtualHomeActions, AssumptionsBeginWithTheObjectsOfGoals) {
  House house = living_room();
  house.objects += "chair, id: 21, properties: ['SITTABLE']\n";
  house.edge_goals = "character is ON to couch\n";
  const PromptTask task = read_actions_prompt(house.prompt());
  ASSERT_EQ(task.assumptions.size(), 2U);
  EXPECT_FALSE(has(task.assumptions[0].facts, "chair"));
  EXPECT_TRUE(has(task.assumptions[1].facts, "(assumed-seat-free chair_21)"));
  EXPECT_TRUE(has(task.assumptions[0].facts, "(assumed-seat-free couch_352)"));
  EXPECT_FALSE(has(task.assumptions[0].facts, "kitchen"));
  const std::string one = task.problem_assuming(1);
  EXPECT_TRUE(has(one, task.assumptions[0].facts + ")\n  (:goal"));
  EXPECT_FALSE(has(one, "(acted)"));
  EXPECT_TRUE(has(task.problem_assuming(2, true), "(seat couch_352)\n    (acted))))"));
  EXPECT_EQ(task.problem_assuming(7), task.problem_assuming(2));
  EXPECT_FALSE(has(task.problem, "assumed"));
}

TEST(VirtualHomeActions, AGoalWithAnAmbiguousNameIsAboutAllOfThatName) {
  House house = living_room();
  house.objects += "light, id: 1, properties: ['HAS_SWITCH']\nlight, id: 2, properties: ['HAS_SWITCH']\n";
  house.node_goals = "light is ON\n";
  house.edge_goals = "character is CLOSE to light\n";
  const PromptTask task = read_actions_prompt(house.prompt());
  EXPECT_TRUE(has(task.problem, "(running light_1)"));
  EXPECT_TRUE(has(task.problem, "(running light_2)"));
  EXPECT_TRUE(has(task.problem, "(or (by light_2) (right light_2) (left light_2))"));
  EXPECT_EQ(task.notes, (std::vector<std::string>{
                            "the goal 'light is ON' fits 2 objects named light: all are meant",
                            "the goal 'character is CLOSE to light' fits 2 objects named light: all are meant"}));
  house.edge_goals.clear();
  const std::vector<std::string> plan = plan_for(Kind::kActions, house.prompt());
  EXPECT_TRUE(has(plan, "(switchon light_1)"));
  EXPECT_TRUE(has(plan, "(switchon light_2)"));
}

TEST(VirtualHomeActions, StatesOfSameNamedObjectsAreUsedWhereAllLinesAgree) {
  House house = living_room();
  house.objects += "jar, id: 1, properties: ['CAN_OPEN']\njar, id: 2, properties: ['CAN_OPEN']\n";
  const std::string shut = "jar, states: ['CLOSED', 'CLEAN'], properties:['CAN_OPEN']\n";
  const std::string open = "jar, states: ['CLEAN', 'OPEN'], properties:['CAN_OPEN']\n";
  const std::string nodes = house.nodes;

  house.nodes = nodes + shut + shut;
  PromptTask task = read_actions_prompt(house.prompt());
  EXPECT_TRUE(has(task.problem, "(is-closed jar_1)"));
  EXPECT_TRUE(has(task.problem, "(is-closed jar_2)"));
  EXPECT_TRUE(task.notes.empty());

  house.nodes = nodes + shut + open;
  task = read_actions_prompt(house.prompt());
  EXPECT_FALSE(has(task.problem, "(is-closed jar"));
  EXPECT_FALSE(has(task.problem, "(is-open jar"));
  EXPECT_TRUE(has(task.problem, "(clean jar_1)"));
  EXPECT_TRUE(has(task.problem, "(clean jar_2)"));

  house.nodes = nodes + shut;
  task = read_actions_prompt(house.prompt());
  EXPECT_FALSE(has(task.problem, "(is-closed jar"));
  ASSERT_EQ(task.notes.size(), 1U);
  EXPECT_TRUE(has(task.notes[0], "the states shown for jar fit 2 objects and stand 1 times"));

  // Properties tell two objects of one name apart; their order does not.
  house.objects += "jar, id: 3, properties: ['CAN_OPEN', 'MOVABLE']\n";
  house.nodes = nodes + "jar, states: ['OPEN'], properties:['MOVABLE', 'CAN_OPEN']\n";
  task = read_actions_prompt(house.prompt());
  EXPECT_TRUE(has(task.problem, "(is-open jar_3)"));
  EXPECT_FALSE(has(task.problem, "(is-open jar_1)"));
}

TEST(VirtualHomeActions, PostureIsKnownOnlyWhereTheCharacterIsShown) {
  House house = living_room();
  const std::string nodes = house.nodes;
  EXPECT_FALSE(has(read_actions_prompt(house.prompt()).problem, "(standing)"));
  house.nodes = nodes + "character, states: [], properties:[]\n";
  EXPECT_TRUE(has(read_actions_prompt(house.prompt()).problem, "(standing)"));
  EXPECT_EQ(plan_for(Kind::kActions, house.prompt()).front(), "(walk tv_410)");
  house.nodes = nodes + "character, states: ['SITTING'], properties:[]\n";
  const std::string sitting = read_actions_prompt(house.prompt()).problem;
  EXPECT_TRUE(has(sitting, "(sitting)"));
  EXPECT_FALSE(has(sitting, "(standing)"));
  EXPECT_EQ(plan_for(Kind::kActions, house.prompt()).front(), "(standup)");
}

TEST(VirtualHomeActions, EdgesSayWhatIsHeldAndWhereThingsAre) {
  House house = living_room();
  house.objects += "cup, id: 5, properties: ['GRABBABLE']\nfridge, id: 6, properties: ['CAN_OPEN']\n";
  house.edges =
      "<character> (65) is HOLDS_RH to <cup> (5)\n"
      "<tv> (410) is INSIDE to <kitchen> (11)\n"
      "<couch> (352) is CLOSE to <tv> (410)\n"
      "<couch> (352) is INSIDE to <fridge> (6)\n"
      "<couch> (352) is ON to <rug> (99)\n";
  const PromptTask task = read_actions_prompt(house.prompt());
  EXPECT_TRUE(has(task.problem, "(right cup_5)"));
  EXPECT_TRUE(has(task.problem, "(settled cup_5)"));
  EXPECT_FALSE(has(task.problem, "(right-free)"));
  EXPECT_TRUE(has(task.problem, "(left-free)"));
  EXPECT_TRUE(has(task.problem, "(home tv_410 kitchen_11)"));
  EXPECT_TRUE(has(task.problem, "(inside couch_352 fridge_6)"));
  EXPECT_TRUE(has(task.problem, "(settled couch_352)"));
  EXPECT_FALSE(has(task.problem, "(next ")) << "nearness of things is of no use without a goal about it";
  ASSERT_EQ(task.notes.size(), 1U);
  EXPECT_TRUE(has(task.notes[0], "<rug> (99)"));
  house.edge_goals = "cup is CLOSE to tv\n";
  EXPECT_TRUE(has(read_actions_prompt(house.prompt()).problem, "(next couch_352 tv_410)"));
}

TEST(VirtualHomeActions, GoalsThatNothingBringsAboutStayGoals) {
  House house = living_room();
  house.node_goals = "tv is ON\nunicorn is ON\ntv is BROKEN\nkitchen is CLEAN\n";
  house.edge_goals = "unicorn is ON to couch\ncharacter is ON to kitchen\ntv is ON to tv\n";
  house.action_goals = "FLY or SWIM\nFLY|SWIM\n";
  const std::string prompt = house.prompt();
  const PromptTask task = read_actions_prompt(prompt);
  const Task ground = load(Kind::kActions, task.problem);
  EXPECT_EQ(ground.num_goals(), 8U);
  EXPECT_EQ(count(task.problem, "(cannot "), 6U) << task.problem;
  EXPECT_TRUE(has(task.problem, "(cannot action-fly-swim)"));
  EXPECT_TRUE(has(task.problem, "(cannot tv_410-is-broken)"));
  EXPECT_TRUE(has(task.problem, "(on tv_410 tv_410)")) << "a goal about one object twice is not forgotten";
  const std::string line = place_of(prompt, "unicorn is ON\n");
  EXPECT_TRUE(has(task.problem, "(cannot line-" + line.substr(7, line.size() - 8) + "-names-an-unlisted-object)"));
  // All but the television are dropped.
  const ReducedTask reduced = drop_unreachable_goals(ground, {});
  EXPECT_EQ(reduced.dropped.size(), 7U);
  EXPECT_EQ(reduced.task.text(reduced.lookahead->plan().back()), "(switchon tv_410)");
}

TEST(VirtualHomeActions, AnUnknownActionAmongOthersIsIgnored) {
  House house = living_room();
  house.action_goals = "FLY or TOUCH\nFLY|TOUCH\n";
  const PromptTask task = read_actions_prompt(house.prompt());
  EXPECT_FALSE(has(task.problem, "cannot"));
  EXPECT_TRUE(has(task.problem, "(or (did wish-1-touch))"));
}

TEST(VirtualHomeActions, PropertiesNoRuleTestsAreNoted) {
  House house = living_room();
  house.objects += "ghost, id: 9, properties: ['SEE-THROUGH']\n";
  const PromptTask task = read_actions_prompt(house.prompt());
  ASSERT_EQ(task.notes.size(), 1U);
  EXPECT_TRUE(has(task.notes[0], "SEE-THROUGH of ghost"));
  EXPECT_NO_THROW(load(Kind::kActions, task.problem));
}

// --- action sequencing: what is planned -----------------------------------------------------------------------------

House kitchen() {
  House house;
  house.objects =
      "character, id: 65, properties: []\n"
      "fridge, id: 6, properties: ['CAN_OPEN', 'CONTAINERS']\n"
      "milk, id: 7, properties: ['GRABBABLE', 'DRINKABLE']\n"
      "table, id: 8, properties: ['SURFACES']\n";
  house.nodes = "character, states: [], properties:[]\n";
  house.edges = "<milk> (7) is INSIDE to <fridge> (6)\n";
  house.edge_goals = "milk is ON to table\n";
  return house;
}

TEST(VirtualHomeActions, AContainerIsOpenedWhetherItsDoorIsKnownShutOrNotKnown) {
  House house = kitchen();
  const std::vector<std::string> plan = {"(walk fridge_6)", "(open fridge_6)", "(walk milk_7)",
                                         "(grab milk_7)",   "(walk table_8)",  "(putback milk_7 table_8)"};
  EXPECT_EQ(plan_for(Kind::kActions, house.prompt()), plan);
  house.nodes += "fridge, states: ['CLOSED'], properties:['CAN_OPEN', 'CONTAINERS']\n";
  EXPECT_EQ(plan_for(Kind::kActions, house.prompt()), plan);
  house.nodes = "fridge, states: ['OPEN'], properties:['CAN_OPEN', 'CONTAINERS']\n";
  EXPECT_FALSE(has(plan_for(Kind::kActions, house.prompt()), "(open fridge_6)"));
}

TEST(VirtualHomeActions, TwoActionGoalsHoldInEitherOrder) {
  House house = kitchen();
  house.edges.clear();
  house.edge_goals.clear();
  house.action_goals = "WASH\nWASH\nGRAB\nGRAB\n";
  const PromptTask prompt = read_actions_prompt(house.prompt());
  EXPECT_TRUE(has(prompt.problem, "(imply (did wish-1-wash) (or (did-after wish-1-wash wish-2-grab)))"));
  EXPECT_TRUE(has(prompt.problem, "(imply (did wish-2-grab) (or (did-after wish-2-grab wish-1-wash)))"));
  const std::vector<std::string> plan = plan_for(Kind::kActions, house.prompt());
  std::string order;
  for (const std::string& step : plan) {
    if (step.starts_with("(wash")) order += 'w';
    if (step.starts_with("(grab")) order += 'g';
  }
  EXPECT_TRUE(order == "wgw" || order == "gwg") << order;
  EXPECT_EQ(plan.size(), 4U);
}

TEST(VirtualHomeActions, NobodySitsDownTwiceOnOneSeat) {
  House house = kitchen();
  house.edges.clear();
  house.edge_goals.clear();
  house.objects += "chair, id: 21, properties: ['SITTABLE']\n";
  house.action_goals = "SIT\nSIT\nSTANDUP\nSTANDUP\n";  // so SIT, STANDUP, SIT
  EXPECT_TRUE(plan_for(Kind::kActions, house.prompt()).empty());
  house.objects += "chair, id: 22, properties: ['SITTABLE']\n";
  const std::vector<std::string> plan = plan_for(Kind::kActions, house.prompt());
  EXPECT_EQ(plan.size(), 5U);
  EXPECT_TRUE(has(plan, "(sit chair_21)"));
  EXPECT_TRUE(has(plan, "(sit chair_22)"));
}

// --- subgoal decomposition ------------------------------------------------------------------------------------------

TEST(VirtualHomeSubgoals, APromptIsAProblem) {
  Flat flat;
  flat.objects += "| kitchen.11 | Rooms | [] |\n";
  flat.states += "INSIDE(character.65, kitchen.11)\n";
  flat.goals += "FACING(character.65, tv.410)\n";
  flat.actions = "LOOKAT or WATCH\nTURNTO\n";
  const PromptTask task = read_subgoals_prompt(flat.prompt());
  EXPECT_EQ(task.problem,
            "(define (problem prompt)\n"
            "  (:domain virtualhome-subgoals)\n"
            "  (:objects tv_410 - thing kitchen_11 - room character_65 - character wish-1 - wish wish-2 - wish)\n"
            "  (:init\n"
            "    (has_plug tv_410)\n"
            "    (has_switch tv_410)\n"
            "    (stopped tv_410)\n"
            "    (plugged tv_410)\n"
            "    (is-robot character_65)\n"
            "    (is-room kitchen_11)\n"
            "    (in-room kitchen_11)\n"
            "    (alone)\n"
            "    (right-free)\n"
            "    (left-free)\n"
            "    (asks wish-1 a_lookat)\n"
            "    (asks wish-1 a_watch)\n"
            "    (asks wish-2 a_turnto)\n"
            "    (before wish-1 wish-2))\n"
            "  (:goal (and\n"
            "    (did wish-1)\n"
            "    (did wish-2)\n"
            "    (running tv_410)\n"
            "    (facing tv_410))))\n");
  EXPECT_EQ(task.title, "Watch TV");
  EXPECT_TRUE(task.notes.empty());
}

TEST(VirtualHomeSubgoals, NothingIsPossibleUnlessTheRobotStands) {
  Flat flat;
  const PromptTask hidden = read_subgoals_prompt(flat.prompt());
  EXPECT_EQ(hidden.fewest_assumptions, 1U);
  EXPECT_EQ(hidden.assumptions.at(0).facts, "(standing)");
  EXPECT_EQ(plan_for(Kind::kSubgoals, flat.prompt()), std::vector<std::string>{"(on tv_410)"});
  flat.states += "SITTING(character.65)\n";
  const PromptTask sitting = read_subgoals_prompt(flat.prompt());
  EXPECT_EQ(sitting.fewest_assumptions, 0U);
  EXPECT_TRUE(has(sitting.problem, "(sitting)"));
  EXPECT_FALSE(has(sitting.problem_assuming(9), "(standing)"));
}

TEST(VirtualHomeSubgoals, RelationsHaveTheirOwnNames) {
  Flat flat;
  flat.objects +=
      "| cup.1 | Props | ['GRABBABLE'] |\n| shelf.2 | Furniture | ['SURFACES'] |\n"
      "| fridge.3 | Appliances | ['CAN_OPEN'] |\n";
  flat.states += "INSIDE(cup.1, fridge.3)\nONTOP(shelf.2, nowhere.9)\n";
  flat.goals = "ONTOP(cup.1, shelf.2)\nNEXT_TO(character.65, shelf.2)\n";
  const PromptTask task = read_subgoals_prompt(flat.prompt());
  EXPECT_TRUE(has(task.problem, "(inside cup_1 fridge_3)"));
  EXPECT_TRUE(has(task.problem, "(on cup_1 shelf_2)"));
  EXPECT_TRUE(has(task.problem, "(or (by shelf_2) (right shelf_2) (left shelf_2))"));
  ASSERT_EQ(task.notes.size(), 1U);
  EXPECT_TRUE(has(task.notes[0], "nowhere.9"));
  EXPECT_EQ(plan_for(Kind::kSubgoals, flat.prompt()),
            (std::vector<std::string>{"(open fridge_3)", "(ontop cup_1 shelf_2)"}));
}

TEST(VirtualHomeSubgoals, GoalsThatNothingBringsAboutStayGoals) {
  Flat flat;
  flat.goals = "ON(tv.410)\nON(unicorn.1)\nFLYING(tv.410)\nFLYING(tv.410)\nBETWEEN(tv.410, tv.410)\n";
  flat.actions = "FLY\nFLY\n";
  const PromptTask task = read_subgoals_prompt(flat.prompt());
  const Task ground = load(Kind::kSubgoals, task.problem_assuming(1));
  EXPECT_EQ(ground.num_goals(), 5U) << task.problem;
  const ReducedTask reduced = drop_unreachable_goals(ground, {});
  EXPECT_EQ(reduced.dropped.size(), 4U);
  EXPECT_EQ(reduced.lookahead->plan().size(), 1U);
}

// Under the paper's rules a thing is where it was put last, and nowhere while it is held: a goal about an earlier place
// has to be met again.
TEST(VirtualHomeSubgoals, PlacementsOfThePaperAreReplacedByLaterOnes) {
  Flat flat;
  flat.objects +=
      "| cup.1 | Props | ['GRABBABLE', 'CLOTHES'] |\n| shelf.2 | Furniture | ['SURFACES'] |\n"
      "| table.3 | Furniture | ['SURFACES'] |\n| box.4 | Props | ['CONTAINERS'] |\n"
      "| chair.5 | Furniture | ['SITTABLE'] |\n| couch.6 | Furniture | ['SITTABLE'] |\n";
  flat.states += "ONTOP(cup.1, table.3)\n";
  const auto reaches = [&](const std::string& goals, const std::string& plan) {
    flat.goals = goals;
    const Task task = load(Kind::kSubgoals, read_subgoals_prompt(flat.prompt()).problem, "paper");
    return task.validate(parse_plan(plan, "plan")).valid;
  };
  const std::string on_shelf = "ONTOP(cup.1, shelf.2)\n";
  EXPECT_TRUE(reaches(on_shelf, "(ontop cup_1 shelf_2)"));
  for (const char* later : {"(ontop cup_1 table_3)", "(inside cup_1 box_4)", "(ontop cup_1 character_65)",
                            "(grab cup_1)", "(holds_rh character_65 cup_1)", "(holds_lh character_65 cup_1)"}) {
    const std::string moved = std::string("(ontop cup_1 shelf_2)\n") + later + "\n";
    EXPECT_FALSE(reaches(on_shelf, moved)) << moved;
    EXPECT_TRUE(reaches(on_shelf, moved + "(ontop cup_1 shelf_2)")) << moved;
  }
  EXPECT_TRUE(reaches("INSIDE(cup.1, box.4)\n", "(ontop cup_1 shelf_2)\n(inside cup_1 box_4)"));
  EXPECT_FALSE(reaches("INSIDE(cup.1, box.4)\n", "(inside cup_1 box_4)\n(grab cup_1)"));
  EXPECT_FALSE(reaches("ONTOP(cup.1, character.65)\n", "(ontop cup_1 character_65)\n(ontop cup_1 shelf_2)"));
  EXPECT_FALSE(reaches("ONTOP(character.65, chair.5)\n", "(ontop character_65 chair_5)\n(ontop character_65 couch_6)"));
  // What other things do moves nothing.
  EXPECT_TRUE(reaches("ONTOP(cup.1, table.3)\n", "(ontop character_65 couch_6)"));
}

// Under the paper's rules the order is the prompt's.
TEST(VirtualHomeActions, TwoActionGoalsHoldInThePromptsOrder) {
  House house = kitchen();
  house.edges.clear();
  house.edge_goals.clear();
  house.action_goals = "WASH or RINSE\nWASH|RINSE\nGRAB\nGRAB\n";
  for (const Rules rules : {Rules::kPaper, Rules::kLiteral}) {
    const PromptTask prompt = read_actions_prompt(house.prompt(), rules);
    EXPECT_TRUE(has(prompt.problem, "(did wish-1)\n    (did wish-2)\n    (did-after wish-1 wish-2)"));
    const Task task = load(Kind::kActions, prompt.problem, to_string(rules));
    const auto lookahead = Lookahead::compile(task, {});
    ASSERT_EQ(lookahead->verdict(), Verdict::kSolvable);
    std::string order;
    for (const ActionId action : lookahead->plan()) order += task.action_name(task.name_of(action)) + " ";
    EXPECT_LT(std::min(order.find("wash "), order.find("rinse ")), order.find("grab ")) << order;
  }
}

std::vector<std::string> plan_under(Rules rules, const House& house) {
  const PromptTask prompt = read_actions_prompt(house.prompt(), rules);
  const Task task = load(Kind::kActions, prompt.problem, to_string(rules));
  const auto lookahead = Lookahead::compile(task, {});
  std::vector<std::string> plan;
  for (const ActionId action : lookahead->plan()) plan.push_back(task.text(action));
  return plan;
}

// What the paper's appendix lists, and what the paper must have run besides.
TEST(VirtualHomeActions, LiteralRulesAskForWhatIsListedAndNoMore) {
  using Plan = std::vector<std::string>;
  House house = living_room();
  EXPECT_EQ(plan_under(Rules::kLiteral, house), Plan({"(switchon tv_410)"}));
  EXPECT_EQ(plan_under(Rules::kPaper, house), Plan({"(walk tv_410)", "(switchon tv_410)"}));
  house.nodes = "tv, states: ['OFF'], properties:" + std::string(testing::kTvProperties) + "\n";
  EXPECT_EQ(plan_under(Rules::kLiteral, house), Plan({"(plugin tv_410)", "(switchon tv_410)"}));

  house = kitchen();
  house.nodes += "fridge, states: ['CLOSED'], properties:['CAN_OPEN', 'CONTAINERS']\n";
  EXPECT_EQ(plan_under(Rules::kLiteral, house), Plan({"(walk milk_7)", "(grab milk_7)", "(putback milk_7 table_8)"}));
  EXPECT_EQ(plan_under(Rules::kPaper, house), Plan({"(walk fridge_6)", "(open fridge_6)", "(walk milk_7)",
                                                    "(grab milk_7)", "(walk table_8)", "(putback milk_7 table_8)"}));
  // Into something closed nothing is put, and nobody opens from afar.
  house.edges.clear();
  house.edge_goals = "milk is INSIDE to fridge\n";
  const Plan into = plan_under(Rules::kLiteral, house);
  EXPECT_EQ(into.size(), 5U);
  EXPECT_TRUE(has(into, "(walk fridge_6)"));
  EXPECT_TRUE(has(into, "(open fridge_6)"));

  house = kitchen();
  house.edges.clear();
  house.edge_goals.clear();
  house.action_goals = "DRINK\nDRINK\n";
  EXPECT_EQ(plan_under(Rules::kLiteral, house), Plan({"(drink milk_7)"}));
  EXPECT_EQ(plan_under(Rules::kPaper, house), Plan({"(walk milk_7)", "(grab milk_7)", "(drink milk_7)"}));
}

TEST(VirtualHome, BothRuleSetsLoadEveryProblem) {
  House house = living_room();
  house.edge_goals = "character is ON to couch\n";
  house.action_goals = "SIT\nSIT\nLOOKAT or WATCH\nLOOKAT|WATCH\n";
  Flat flat;
  flat.actions = "LOOKAT or WATCH\n";
  for (const char* rules : {"environment", "paper"}) {
    SCOPED_TRACE(rules);
    for (const Kind kind : {Kind::kActions, Kind::kSubgoals}) {
      const PromptTask prompt = read(kind, kind == Kind::kActions ? house.prompt() : flat.prompt());
      const Task task = load(kind, prompt.problem_assuming(prompt.assumptions.size(), true), rules);
      EXPECT_GT(task.num_actions(), 0U);
      EXPECT_GT(task.num_goals(), 1U);
    }
  }
}

// --- prompts that cannot be read ------------------------------------------------------------------------------------

TEST(VirtualHomeActions, AMissingSectionIsNamed) {
  const std::string prompt = living_room().prompt();
  for (const char* header : {"Nodes:", "Node goals are:", "Edge goals are:", "Action goals are:", "Edges:"}) {
    const std::string error = error_of(Kind::kActions, without(prompt, std::string(header) + "\n"));
    EXPECT_TRUE(error.starts_with("prompt:")) << header;
    EXPECT_TRUE(header == std::string("Edges:") || has(error, "'" + std::string(header) + "'")) << error;
  }
  EXPECT_EQ(error_of(Kind::kActions, ""),
            "prompt: error: the prompt has no line 'Objects in the scene:'; is it a prompt of this module?");
  EXPECT_TRUE(has(error_of(Kind::kActions, Flat().prompt()), "is it a prompt of this module?"));
}

TEST(VirtualHomeActions, ALineThatCannotBeReadIsNamed) {
  const auto expect = [](std::string House::*part, const std::string& line, const std::string& message) {
    SCOPED_TRACE(line);
    House house = living_room();
    house.action_goals = "LOOKAT\nLOOKAT\n";
    (house.*part) += line + "\n";
    expect_error_at(Kind::kActions, house.prompt(), line + "\n", message);
  };
  expect(&House::objects, "hello", "is not an object");
  expect(&House::objects, "lamp, id: 1, properties: HAS_SWITCH", "is not an object");
  expect(&House::objects, "lamp, properties: [], id: 1", "is not an object");
  expect(&House::objects, "Lamp (old), id: 1, properties: []", "cannot be an object");
  expect(&House::objects, "lamp, id: one, properties: []", "cannot be an object");
  expect(&House::objects, "tv, id: 410, properties: []", "is listed twice");
  expect(&House::nodes, "tv is OFF", "is not a node");
  expect(&House::nodes, "tv, states: OFF, properties:[]", "is not a node");
  expect(&House::edges, "<tv> (410) near <couch> (352)", "is not an edge");
  expect(&House::edges, "<tv> (410) is UNDER to <couch> (352)", "is not an edge");
  expect(&House::node_goals, "tv ON", "is not a node goal");
  expect(&House::node_goals, "tv is ON) (sitting", "is not a node goal");
  expect(&House::edge_goals, "tv is ON", "is not an edge goal");
  expect(&House::edge_goals, "tv is UNDER to couch", "is not an edge goal");
  expect(&House::action_goals, "please look at it", "is not an action goal");
  expect(&House::action_goals, "LOOKAT or ", "is not an action goal");
}

TEST(VirtualHomeSubgoals, ALineThatCannotBeReadIsNamed) {
  const auto expect = [](std::string Flat::*part, const std::string& line, const std::string& message) {
    SCOPED_TRACE(line);
    Flat flat;
    (flat.*part) += line + "\n";
    expect_error_at(Kind::kSubgoals, flat.prompt(), line + "\n", message);
  };
  expect(&Flat::objects, "| lamp.1 | Electronics |", "is not an object");
  expect(&Flat::objects, "| lamp | Electronics | [] |", "cannot be an object");
  expect(&Flat::objects, "| Lamp.1 | Electronics | [] |", "cannot be an object");
  expect(&Flat::objects, "| tv.410 | Electronics | [] |", "is listed twice");
  expect(&Flat::states, "the tv is off", "is not a state");
  expect(&Flat::states, "INSIDE(tv.410)", "is not a state of the vocabulary");
  expect(&Flat::states, "OFF(tv.410, character.65)", "is not a state of the vocabulary");
  expect(&Flat::goals, "OFF tv.410)", "is not a state");
  expect(&Flat::goals, "OFF) (ON(tv.410)", "is not a state");
  expect(&Flat::actions, "Look at it", "is not an action goal");
}

// Wherever a prompt ends too early, its reader says so.
TEST(VirtualHome, TruncatedPromptsAreNoPrompts) {
  House house = living_room();
  house.action_goals = "LOOKAT\nLOOKAT\n";
  for (const Kind kind : {Kind::kActions, Kind::kSubgoals}) {
    const std::string prompt = kind == Kind::kActions ? house.prompt() : Flat().prompt();
    const std::size_t complete =
        kind == Kind::kActions ? prompt.rfind("---\n") + 3 : prompt.rfind("## Necessity to Use Actions");
    for (std::size_t length = 0; length < prompt.size(); ++length) {
      const std::string error = error_of(kind, prompt.substr(0, length));
      if (length + 20 < complete) {
        EXPECT_TRUE(error.starts_with("prompt:")) << prompt.substr(0, length) << error;
      } else if (length > complete + 3) {
        EXPECT_EQ(error, "") << prompt.substr(0, length);
      }
    }
  }
}

TEST(VirtualHome, TenMegabytesAreReadOrRefused) {
  const std::size_t size = 10'000'000;
  std::string noise(size, '\0');
  unsigned state = 1;
  for (char& c : noise) c = static_cast<char>((state = state * 1664525U + 1013904223U) >> 24);
  std::string one_line(size, '[');
  std::string lines = [&] {
    std::string text;
    while (text.size() < size) text += "\n| -";
    return text;
  }();
  for (const Kind kind : {Kind::kActions, Kind::kSubgoals}) {
    for (const std::string* garbage : {&noise, &one_line, &lines}) {
      EXPECT_NE(error_of(kind, *garbage), "");
      House house = living_room();
      house.objects += *garbage + "\n";
      Flat flat;
      flat.objects += *garbage + "\n";
      const std::string error = error_of(kind, kind == Kind::kActions ? house.prompt() : flat.prompt());
      EXPECT_TRUE(error.starts_with("prompt:"));
      EXPECT_LT(error.size(), 2000U) << "a message is for people";
    }
  }
  // Many objects and many edges are no reason to be slow either.
  House house = living_room();
  Flat flat;
  for (int i = 0; i < 50'000; ++i) {
    const std::string number = std::to_string(1000 + i);
    house.objects += "cup, id: " + number + ", properties: ['GRABBABLE']\n";
    house.edges += "<cup> (" + number + ") is INSIDE to <kitchen> (11)\n";
    flat.objects += "| cup." + number + " | Props | ['GRABBABLE'] |\n";
    flat.states += "ONTOP(cup." + number + ", tv.410)\n";
  }
  EXPECT_TRUE(has(read_actions_prompt(house.prompt()).problem, "(inside cup_50999 kitchen_11)"));
  EXPECT_TRUE(has(read_subgoals_prompt(flat.prompt()).problem, "(on cup_50999 tv_410)"));
}

}  // namespace
}  // namespace metactrl::benchmarks::virtualhome::virtualhome_reader_test
