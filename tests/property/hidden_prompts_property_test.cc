// Hostile models on prompts that hide something: names that no answer can spell, things whose place nobody shows, goals
// about many things that are in their place already. The houses are made up, with the prompt that shows a part of each;
// the scorers, which see the whole, judge what the model was allowed to write.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "benchmarks/behavior/action_scorer.h"
#include "benchmarks/evaluate.h"
#include "metactrl/language_model.h"
#include "support/behavior_kitchen.h"
#include "support/repeats.h"
#include "support/virtualhome_prompts.h"

namespace metactrl::testing::hidden_prompts_property_test {
namespace {

using benchmarks::Answer;
using benchmarks::EvaluateOptions;
using benchmarks::find_module;
using benchmarks::Rules;
using benchmarks::Score;
using nlohmann::json;

std::shared_ptr<const Vocabulary> bytes() {
  std::vector<std::string> tokens;
  for (int byte = 1; byte < 128; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  tokens.emplace_back("");  // ends a turn
  return std::make_shared<TableVocabulary>(tokens,
                                           std::vector<TokenId>{TokenId{static_cast<std::int32_t>(tokens.size()) - 1}});
}

struct Asked {
  Guidance guidance = Guidance::kMask;
  Rules rules = Rules::kEnvironment;
  std::size_t states = 10'000;
};

// Every third question is asked with weights.
Guidance guidance_of(std::uint64_t i) { return i % 3 == 2 ? Guidance::kUniform : Guidance::kMask; }

Answer answer(const char* module, const std::string& prompt, std::uint64_t seed, const Asked& asked) {
  EvaluateOptions options;
  options.rules = asked.rules;
  options.plan.guidance = asked.guidance;
  options.plan.on_infeasible = PlanOptions::OnInfeasible::kDropGoals;
  options.plan.lookahead.exact.states = asked.states;
  options.plan.lookahead.search.states = asked.states;
  const std::shared_ptr<const Vocabulary> vocabulary = bytes();
  const std::unique_ptr<LanguageModel> model = hostile_model(vocabulary, seed);
  return benchmarks::answer_prompt(*find_module(module), {"1_1", prompt}, model.get(), vocabulary, options);
}

// --- VirtualHome ----------------------------------------------------------------------------------------------------

struct Thing {
  std::string name;
  int id = 0;
  std::vector<std::string> properties;
  bool shown = false;  // on the table, and the prompt says so; else it is shut in where the prompt does not look
  bool free = false;   // not shown, and lies about all the same
};

struct World {
  std::vector<Thing> things;
  std::vector<std::string> wish;  // alternatives of an action goal; may be empty
  int carried = 0;                // a thing that a goal wants on the shelf, or none
};

constexpr int kTable = 10;
constexpr int kShelf = 11;
constexpr int kCupboard = 12;

std::string random_name(std::mt19937& random, bool hyphens) {
  static const std::string kLetters = "abcdenortx_0-";
  std::string name(1, kLetters[random() % 10]);
  for (std::size_t i = 1 + random() % 6; i > 0; --i) name += kLetters[random() % (hyphens ? 13 : 12)];
  if (name.back() == '-' || name.back() == '_') name += 'x';
  return name;
}

World random_world(std::mt19937& random, bool hyphens) {
  World world;
  const std::size_t count = 3 + random() % 5;
  for (std::size_t i = 0; i < count; ++i) {
    Thing thing{random_name(random, hyphens && i > 0), 100 + static_cast<int>(i), {"GRABBABLE"}, i == 0, false};
    for (const char* property : {"MOVABLE", "READABLE", "DRINKABLE", "LOOKABLE"}) {
      if (i == 0 || random() % 2 == 0) thing.properties.emplace_back(property);
    }
    thing.shown = thing.shown || random() % 4 == 0;
    world.things.push_back(thing);
  }
  static const std::vector<std::vector<std::string>> kWishes = {{"TOUCH"}, {"GRAB"},         {"READ", "LOOKAT"},
                                                                {"DRINK"}, {"PUSH", "PULL"}, {}};
  world.wish = kWishes[random() % kWishes.size()];
  if (random() % 3 == 0) {
    // What is wished for can be done with one thing only, whose place is not shown: others are no safer for that.
    world.wish = {"DRINK"};
    for (Thing& thing : world.things) std::erase(thing.properties, "DRINKABLE");
    Thing& drink = world.things[1];
    drink.name = random_name(random, false);
    drink.properties.emplace_back("DRINKABLE");
    drink.free = !drink.shown;
  }
  if (world.wish.empty() || random() % 2 == 0) {
    // One that the prompt does not show is needed: there is no way around an assumption about it.
    Thing& carried = world.things[random() % 2];
    carried.name = random_name(random, false);
    carried.free = !carried.shown;
    world.carried = carried.id;
  }
  return world;
}

std::string quoted_list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "'" : ", '") + word + "'";
  return "[" + text + "]";
}

std::string dotted(const Thing& thing) { return thing.name + "." + std::to_string(thing.id); }

class HiddenPlaces : public ::testing::TestWithParam<bool> {
 public:
  HiddenPlaces()
      : folder_(std::filesystem::temp_directory_path() /
                ("metactrl_hidden_" + std::to_string(::getpid()) + (GetParam() ? "_as" : "_sd"))) {
    std::filesystem::create_directories(folder_);
  }
  ~HiddenPlaces() override { std::filesystem::remove_all(folder_); }

  static const char* module() { return GetParam() ? "vh-as" : "vh-sd"; }

  static std::string prompt(const World& world) { return GetParam() ? actions_prompt(world) : subgoals_prompt(world); }

  static std::string actions_prompt(const World& world) {
    House house;
    house.objects =
        "character, id: 65, properties: []\nkitchen, id: 1, properties: []\ntable, id: 10, properties: ['SURFACES']\n"
        "shelf, id: 11, properties: ['SURFACES']\n";
    house.edges = "<character> (65) is INSIDE to <kitchen> (1)\n";
    for (const Thing& thing : world.things) {
      const std::string id = std::to_string(thing.id);
      house.objects += thing.name + ", id: " + id + ", properties: " + quoted_list(thing.properties) + "\n";
      if (thing.shown) house.edges += "<" + thing.name + "> (" + id + ") is ON to <table> (10)\n";
      if (thing.id == world.carried) house.edge_goals = thing.name + " is ON to shelf\n";
    }
    for (const std::string& action : world.wish)
      house.action_goals += (house.action_goals.empty() ? "" : " or ") + action;
    if (!house.action_goals.empty()) house.action_goals += "\n";
    return house.prompt();
  }

  static std::string subgoals_prompt(const World& world) {
    Flat flat;
    flat.objects =
        "| character.65 | Characters | [] |\n| kitchen.1 | Rooms | [] |\n| table.10 | Furniture | ['SURFACES'] |\n"
        "| shelf.11 | Furniture | ['SURFACES'] |\n";
    flat.states = "INSIDE(character.65, kitchen.1)\n";
    flat.goals = world.carried == 0 ? "None\n" : "";
    for (const Thing& thing : world.things) {
      flat.objects += "| " + dotted(thing) + " | Props | " + quoted_list(thing.properties) + " |\n";
      if (thing.shown) flat.states += "ONTOP(" + dotted(thing) + ", table.10)\n";
      if (thing.id == world.carried) flat.goals = "ONTOP(" + dotted(thing) + ", shelf.11)\n";
    }
    if (!world.wish.empty()) {
      flat.actions = world.wish.front();
      for (std::size_t i = 1; i < world.wish.size(); ++i) flat.actions += " or " + world.wish[i];
      flat.actions += "\n";
    }
    return flat.prompt();
  }

  Score score(const World& world, const std::string& output) const {
    json home = {{"character", 65}, {"nodes", json::array()}, {"edges", json::array()}};
    const auto node = [&](int id, const std::string& name, const char* category, const std::vector<std::string>& tags,
                          const std::vector<std::string>& states) {
      home["nodes"].push_back(
          {{"id", id}, {"name", name}, {"category", category}, {"properties", tags}, {"states", states}});
      if (id != 1) home["edges"].push_back({id, "INSIDE", 1});
    };
    node(1, "kitchen", "Rooms", {}, {});
    node(65, "character", "Characters", {}, {});
    node(kTable, "table", "Furniture", {"SURFACES"}, {});
    node(kShelf, "shelf", "Furniture", {"SURFACES"}, {});
    node(kCupboard, "cupboard", "Furniture", {"CAN_OPEN", "CONTAINERS"}, {"CLOSED"});
    json objects = json::array({{{"id", 65}, {"name", "character"}},
                                {{"id", 1}, {"name", "kitchen"}},
                                {{"id", kTable}, {"name", "table"}},
                                {{"id", kShelf}, {"name", "shelf"}}});
    json edge_goals = json::array();
    std::string state_goal;
    for (const Thing& thing : world.things) {
      node(thing.id, thing.name, "Props", thing.properties, {});
      if (thing.shown) home["edges"].push_back({thing.id, "ON", kTable});
      if (!thing.shown && !thing.free) home["edges"].push_back({thing.id, "INSIDE", kCupboard});
      objects.push_back({{"id", thing.id}, {"name", thing.name}});
      if (thing.id != world.carried) continue;
      edge_goals.push_back({thing.id, "ON", kShelf});
      state_goal = "(ONTOP(" + dotted(thing) + ", shelf.11))";
    }
    std::string alternatives;
    std::string formula;
    for (const std::string& action : world.wish) {
      alternatives += (alternatives.empty() ? "" : "|") + action;
      formula += (formula.empty() ? "" : " or ") + action + "(x0)";
    }
    if (!formula.empty()) formula = "exists x0. ((" + formula + "))";
    if (!formula.empty() && !state_goal.empty()) formula += " then ";
    const std::string graph = "1_1";
    std::ofstream(folder_ / "scene1_base.json") << home.dump();
    std::ofstream(folder_ / "graphs.jsonl") << json{{"id", graph},
                                                    {"nodes_del", json::array()},
                                                    {"nodes_add", json::array()},
                                                    {"states", json::object()},
                                                    {"edges_add", json::array()},
                                                    {"edges_del", json::array()}}
                                                   .dump()
                                            << "\n";
    const json action_goals = alternatives.empty() ? json::array() : json::array({alternatives});
    const json row = GetParam() ? json{{"id", graph},
                                       {"scene", 1},
                                       {"task", "Test"},
                                       {"scored", true},
                                       {"objects", objects},
                                       {"node_goals", json::array()},
                                       {"edge_goals", edge_goals},
                                       {"action_goals", action_goals},
                                       {"gold", json::array()}}
                                : json{{"id", "scene_1_1_1"},
                                       {"scene", 1},
                                       {"task", "Test"},
                                       {"tl_goal", "(" + formula + state_goal + ")"},
                                       {"goal_states", json::array()},
                                       {"goal_actions", json::array()}};
    const std::string tasks = (folder_ / "tasks.jsonl").string();
    std::ofstream(tasks) << row.dump() << "\n";
    return find_module(module())->score(tasks, folder_.string(), {{row["id"].get<std::string>(), output}});
  }

  std::filesystem::path folder_;
};

// Whatever the model would like to lay hands on: it can be named, and it is within reach.
TEST_P(HiddenPlaces, AreLeftAloneWhereNothingNeedsThem) {
  std::mt19937 random(GetParam() ? 7 : 8);
  std::size_t hyphens = 0;
  for (std::uint64_t i = 0; i < testing::repeats(120); ++i) {
    const World world = random_world(random, true);
    const std::string text = prompt(world);
    const Answer written = answer(module(), text, random(), {.guidance = guidance_of(i)});
    SCOPED_TRACE(text.substr(text.size() > 1500 ? text.size() - 1500 : 0) + written.output);
    ASSERT_EQ(written.error, "");
    EXPECT_TRUE(written.goals_dropped.empty());
    const Score judged = score(world, written.output);
    ASSERT_EQ(judged.tasks.size(), 1U);
    EXPECT_TRUE(judged.tasks[0].executable) << judged.tasks[0].verdict << ": " << judged.tasks[0].reason;
    EXPECT_EQ(judged.tasks[0].success, 1) << judged.tasks[0].verdict << ": " << judged.tasks[0].reason;
    for (const Thing& thing : world.things) hyphens += thing.name.find('-') != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(hyphens, testing::repeats(20));
}

INSTANTIATE_TEST_SUITE_P(Modules, HiddenPlaces, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Actions" : "Subgoals"; });

// --- BEHAVIOR -------------------------------------------------------------------------------------------------------

std::string listed(const std::vector<std::string>& words) { return quoted_list(words) + "\n"; }

struct Shop {
  std::string init;
  std::string goals;
  std::string objects;
  json row = {{"id", "1_1"}, {"task", "shop"}, {"objects", json::array()}, {"goal", json::array()}};
  json tree = json::array();

  std::string add(const std::string& name, const std::string& synset, const std::vector<std::string>& properties,
                  double volume) {
    objects += "{'name': '" + name + "', 'category': '" + synset + "'}\n";
    json object = {{"name", name}, {"synset", synset}, {"props", properties}, {"true", json::array()}};
    if (synset == "floor.n.01") {
      object["floor"] = true;
    } else {
      object["vol"] = volume;
    }
    row["objects"].push_back(std::move(object));
    return name;
  }
  void place(const std::string& x, const std::string& relation, const std::string& y) {
    init += listed({relation, x, y});
    tree.push_back({x, y, relation});
  }
  std::string prompt() const {
    return "Input:\ninitial environment state:\n" + init + "\n\ntarget environment state:\n" + goals +
           "\n\ninteractable objects:\n" + objects + "\n\nPlease output the list of action commands.\n\nOutput:\n";
  }
  benchmarks::TaskScore score(const std::string& output, const json& wanted) const {
    json task = row;
    task["sim_init"] = {{"tree", tree}, {"edges", json::array()}};
    task["goal"] = wanted;
    task["gold"] = json::array();
    return benchmarks::behavior::score_action_answer(benchmarks::behavior::load(task), output);
  }
};

// Things on tables and in cupboards, and goals that want them there; one thing to be carried besides. The search has so
// few states that it does not decide at once.
TEST(HiddenGoals, ThatHoldFromTheStartHoldInTheEnd) {
  std::mt19937 random(9);
  std::size_t undecided = 0;
  for (int i = 0; i < 12; ++i) {
    Shop shop;
    json wanted = json::array();
    shop.add("room_floor_hall_0", "floor.n.01", {}, 0);
    const bool inside = random() % 2 == 0;
    const std::string holder = inside ? shop.add("bottom_cabinet_1", "cabinet.n.01", {"open"}, 1.2)
                                      : shop.add("breakfast_table_1", "table.n.02", {}, 1.2);
    const std::string relation = inside ? "inside" : "ontop";
    const std::size_t count = 3 + random() % 4;
    for (std::size_t k = 0; k < count; ++k) {
      const std::string x = shop.add("bowl_" + std::to_string(10 + k), "bowl.n.01", {}, 0.001);
      shop.place(x, relation, holder);
      wanted.push_back({relation, x, holder});
    }
    if (random() % 2 == 0) {
      shop.goals += listed({"forall", "bowl.n.01", "-", "bowl.n.01", relation, "bowl.n.01", holder});
    } else {
      const std::string kind = inside ? "cabinet.n.01" : "table.n.02";
      shop.goals +=
          listed({"exists", kind, "-", kind, "forall", "bowl.n.01", "-", "bowl.n.01", relation, "bowl.n.01", kind});
    }
    const std::string book = shop.add("notebook_2", "notebook.n.01", {}, 0.001);
    const std::string desk = shop.add("desk_3", "desk.n.01", {}, 1.0);
    shop.init += listed({"onfloor", book, "room_floor_hall_0"});
    shop.goals += listed({"ontop", book, desk});
    wanted.push_back({"ontop", book, desk});

    const Asked asked{.guidance = guidance_of(static_cast<std::uint64_t>(i)), .states = 40};
    const Answer written = answer("beh-as", shop.prompt(), random(), asked);
    SCOPED_TRACE(shop.prompt() + written.output);
    ASSERT_EQ(written.error, "");
    EXPECT_TRUE(written.goals_dropped.empty()) << written.reason;
    undecided += written.tier == "witness" ? 1 : 0;
    const benchmarks::TaskScore judged = shop.score(written.output, wanted);
    EXPECT_TRUE(judged.executable) << judged.reason;
    EXPECT_EQ(judged.success, 1) << judged.reason;
  }
  EXPECT_GT(undecided, 6U);
}

// A goal that cannot be reached, for there is nothing to wipe dust with; but what holds of it is no fair game.
TEST(HiddenGoals, ThatAreDroppedAreNotBroken) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Shop shop;
    json wanted = json::array();
    shop.add("room_floor_hall_0", "floor.n.01", {}, 0);
    const std::string table = shop.add("breakfast_table_1", "table.n.02", {}, 1.2);
    for (int k = 0; k < 4; ++k) {
      const std::string x = shop.add("bowl_" + std::to_string(10 + k), "bowl.n.01", {"dusty"}, 0.001);
      shop.place(x, "ontop", table);
      if (k == 0) {
        shop.init += listed({"dusty", x});
        shop.row["objects"].back()["true"] = {"dusty"};
      }
      wanted.push_back({"ontop", x, table});
    }
    shop.goals = listed(
        {"forall", "bowl.n.01", "-", "bowl.n.01", "and", "ontop", "bowl.n.01", table, "not", "dusty", "bowl.n.01"});
    const std::string book = shop.add("notebook_2", "notebook.n.01", {}, 0.001);
    const std::string desk = shop.add("desk_3", "desk.n.01", {}, 1.0);
    shop.init += listed({"onfloor", book, "room_floor_hall_0"});
    shop.goals += listed({"ontop", book, desk});
    wanted.push_back({"ontop", book, desk});
    const Answer written = answer("beh-as", shop.prompt(), seed, {.guidance = guidance_of(seed)});
    SCOPED_TRACE(shop.prompt() + written.output);
    ASSERT_EQ(written.error, "");
    EXPECT_EQ(written.goals_dropped.size(), 1U);
    EXPECT_EQ(written.guarantee, "goals dropped");
    EXPECT_EQ(written.reason.find("1 of 2 goals dropped"), 0U) << written.reason;
    const benchmarks::TaskScore judged = shop.score(written.output, wanted);
    EXPECT_TRUE(judged.executable) << judged.reason;
    EXPECT_EQ(judged.success, 1) << judged.reason;
  }
}

// Names that the reader of conditions does not read, or reads as something else.
TEST(HiddenNames, AreNotInSubgoals) {
  const std::vector<std::string> unreadable = {"2x4_lumber.7", "t-shirt.0", "agent.5", "x-ray_film.3", "existsy.4"};
  std::string objects =
      "{'name': 'notebook.2', 'category': 'notebook_n_01'}\n{'name': 'desk.3', 'category': 'desk_n_01'}\n"
      "{'name': 'bed.6', 'category': 'bed_n_01'}\n";
  std::string init = "ontop(notebook.2, bed.6)\n";
  for (const std::string& name : unreadable) {
    objects += "{'name': '" + name + "', 'category': 'hat_n_01'}\n";
    init += "ontop(" + name + ", bed.6)\n";
  }
  const std::string prompt =
      "Now, it is time for you to generate the subgoal plan for the following task.\n# Target Task: shop\n"
      "## Relevant objects in this scene\n" +
      objects + "\n## Initial States\n" + init + "\n## Goal States\nontop(notebook.2, desk.3)\n\n## Output: \n";
  for (const Rules rules : {Rules::kEnvironment, Rules::kPaper}) {
    for (std::uint64_t seed = 1; seed <= 9; ++seed) {
      const Answer written = answer("beh-sd", prompt, seed, {.guidance = guidance_of(seed), .rules = rules});
      ASSERT_EQ(written.error, "");
      EXPECT_TRUE(written.goals_dropped.empty());
      for (const std::string& name : unreadable) {
        EXPECT_EQ(written.output.find(name), std::string::npos) << to_string(rules) << ": " << written.output;
      }
    }
  }
}

// The paper's rules know of no hidden places; but a name that cannot be read is no name for them either.
TEST(HiddenNames, WithHyphensAreNotInSubgoalsByAnyRules) {
  std::mt19937 random(10);
  std::size_t hyphens = 0;
  for (std::uint64_t i = 0; i < 40; ++i) {
    const World world = random_world(random, true);
    const std::string text = HiddenPlaces::subgoals_prompt(world);
    const Answer written = answer("vh-sd", text, random(),
                                  {.guidance = guidance_of(i), .rules = i % 2 == 0 ? Rules::kPaper : Rules::kLiteral});
    ASSERT_EQ(written.error, "");
    EXPECT_NE(written.output, "");
    for (const Thing& thing : world.things) {
      if (thing.name.find('-') == std::string::npos) continue;
      ++hyphens;
      EXPECT_EQ(written.output.find(dotted(thing)), std::string::npos) << written.output;
    }
  }
  EXPECT_GT(hyphens, 20U);
}

}  // namespace
}  // namespace metactrl::testing::hidden_prompts_property_test
