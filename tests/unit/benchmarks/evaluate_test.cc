// Answers to prompts, whatever the model is, and the files that an evaluation reads and writes.
#include "benchmarks/evaluate.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "benchmarks/files.h"
#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "support/virtualhome_prompts.h"

namespace metactrl::benchmarks::evaluate_test {
namespace {

using testing::Flat;
using testing::House;
using testing::living_room;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool has(const std::vector<std::string>& list, const std::string& entry) {
  return std::find(list.begin(), list.end(), entry) != list.end();
}

const Module& module(const char* name) { return *find_module(name); }

// Every character, and a few longer pieces.
std::shared_ptr<const Vocabulary> small_vocabulary() {
  std::vector<std::string> tokens;
  for (int byte = 1; byte < 128; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  for (const char* word :
       {"{\"", "\": [", "\", \"", "\"], \"", "WALK", "SWITCH", "ON", "OFF", "tv", "410", " [ ], \""}) {
    tokens.emplace_back(word);
  }
  tokens.emplace_back("");  // ends a turn
  return std::make_shared<TableVocabulary>(tokens,
                                           std::vector<TokenId>{TokenId{static_cast<std::int32_t>(tokens.size()) - 1}});
}

EvaluateOptions with(Guidance guidance,
                     PlanOptions::OnInfeasible on_infeasible = PlanOptions::OnInfeasible::kDropGoals) {
  EvaluateOptions options;
  options.plan.guidance = guidance;
  options.plan.on_infeasible = on_infeasible;
  options.plan.lookahead.exact.states = 10'000;
  options.plan.lookahead.search.states = 10'000;
  return options;
}

Answer search(const char* name, const std::string& prompt,
              PlanOptions::OnInfeasible on_infeasible = PlanOptions::OnInfeasible::kDropGoals) {
  return answer_prompt(module(name), {"one", prompt}, nullptr, nullptr, with(Guidance::kSearch, on_infeasible));
}

// Something to carry; where it is, the prompt does not say.
House pantry() {
  House house = living_room();
  house.objects +=
      "milk, id: 7, properties: ['GRABBABLE']\ntable, id: 8, properties: ['SURFACES']\n"
      "jam, id: 9, properties: ['GRABBABLE']\n";
  house.node_goals.clear();
  house.edge_goals = "milk is ON to table\n";
  return house;
}

// --- answers --------------------------------------------------------------------------------------------------------

TEST(AnswerPrompt, SearchNeedsNoModel) {
  const Answer actions = search("vh-as", living_room().prompt());
  EXPECT_EQ(actions.error, "");
  EXPECT_EQ(actions.identifier, "one");
  EXPECT_EQ(actions.outcome, "plan");
  EXPECT_EQ(actions.guarantee, "full");
  EXPECT_EQ(actions.output, R"({"STANDUP": [ ], "WALK": ["tv", "410"], "SWITCHON": ["tv", "410"]})");
  EXPECT_EQ(actions.steps, (std::vector<std::string>{"(standup)", "(walk tv_410)", "(switchon tv_410)"}));
  EXPECT_EQ(actions.shortest, 3U);
  EXPECT_EQ(actions.tokens, 0U);
  EXPECT_EQ(actions.model_calls, 0U);
  EXPECT_TRUE(actions.goals_dropped.empty());
  EXPECT_GT(actions.ground_actions, 0U);
  EXPECT_GT(actions.times.compile(), 0);

  const Answer subgoals = search("vh-sd", Flat().prompt());
  EXPECT_EQ(subgoals.title, "Watch TV");
  EXPECT_EQ(subgoals.guarantee, "full");
  EXPECT_EQ(subgoals.output, R"json({"output": ["ON(tv.410)"]})json");
}

TEST(AnswerPrompt, NoMoreIsAssumedThanThePlanNeeds) {
  EXPECT_TRUE(search("vh-as", living_room().prompt()).assumptions.empty());
  const Answer carried = search("vh-as", pantry().prompt());
  EXPECT_EQ(carried.guarantee, "full");
  ASSERT_EQ(carried.assumptions.size(), 1U);
  EXPECT_TRUE(has(carried.assumptions[0], "the objects that goals name are not shut in"));
  // What is in a container that is shown is not shut in anywhere else.
  House house = pantry();
  house.objects += "fridge, id: 6, properties: ['CAN_OPEN']\n";
  house.edges += "<milk> (7) is INSIDE to <fridge> (6)\n";
  const Answer shown = search("vh-as", house.prompt());
  EXPECT_TRUE(shown.assumptions.empty());
  EXPECT_TRUE(has(shown.steps, "(open fridge_6)"));
  // No subgoal makes the robot stand up.
  EXPECT_EQ(search("vh-sd", Flat().prompt()).assumptions, std::vector<std::string>{"the robot stands at the start"});
}

TEST(AnswerPrompt, DroppedGoalsAreNamed) {
  House house = living_room();
  house.node_goals = "tv is ON\nunicorn is ON\ntv is PLUGGED_OUT\n";
  const Answer dropped = search("vh-as", house.prompt());
  EXPECT_EQ(dropped.guarantee, "goals dropped");
  ASSERT_EQ(dropped.goals_dropped.size(), 2U);
  EXPECT_TRUE(has(dropped.goals_dropped[0] + dropped.goals_dropped[1], "unplugged tv_410"));
  EXPECT_TRUE(has(dropped.goals_dropped[0] + dropped.goals_dropped[1], "names-an-unlisted-object"));
  EXPECT_EQ(dropped.steps.back(), "(switchon tv_410)");
  EXPECT_TRUE(dropped.assumptions.empty()) << "assuming more would not help";

  const Answer refused = search("vh-as", house.prompt(), PlanOptions::OnInfeasible::kError);
  EXPECT_EQ(refused.outcome, "infeasible");
  EXPECT_EQ(refused.output, "");
  EXPECT_EQ(refused.error, "");
  EXPECT_NE(refused.reason, "");
}

// The evaluators take an empty answer for an unreadable one.
TEST(AnswerPrompt, APlanHasAnActionEvenWhereAllGoalsHold) {
  House house = living_room();
  house.node_goals = "tv is OFF\n";
  Flat flat;
  flat.goals = "OFF(tv.410)\n";
  EXPECT_EQ(search("vh-as", house.prompt()).steps.size(), 1U);
  EXPECT_EQ(search("vh-sd", flat.prompt()).steps.size(), 1U);
  // Also where those that do not are dropped.
  house.node_goals += "unicorn is ON\n";
  const Answer dropped = search("vh-as", house.prompt());
  EXPECT_EQ(dropped.guarantee, "goals dropped");
  EXPECT_EQ(dropped.steps.size(), 1U);
}

class AnyModel : public ::testing::TestWithParam<Guidance> {};

TEST_P(AnyModel, AnswersAreValidPlans) {
  const auto vocabulary = small_vocabulary();
  House dropping = pantry();
  dropping.node_goals = "tv is ON\nunicorn is ON\n";
  House wishing = living_room();
  wishing.action_goals = "LOOKAT or WATCH\nLOOKAT|WATCH\nSWITCHOFF\nSWITCHOFF\n";
  struct Case {
    const char* module;
    std::string prompt;
    const char* guarantee;
  };
  for (const Case& c : {Case{"vh-as", living_room().prompt(), "full"}, Case{"vh-as", pantry().prompt(), "full"},
                        Case{"vh-as", dropping.prompt(), "goals dropped"}, Case{"vh-as", wishing.prompt(), "full"},
                        Case{"vh-sd", Flat().prompt(), "full"}}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      SCOPED_TRACE(std::string(c.module) + " " + c.guarantee + " " + std::to_string(seed));
      const auto model = seed % 2 == 0 ? random_model(vocabulary, seed) : hostile_model(vocabulary, seed);
      EvaluateOptions options = with(GetParam());
      options.plan.lookahead.horizon = 8;
      const Answer answer = answer_prompt(module(c.module), {"one", c.prompt}, model.get(), vocabulary, options);
      ASSERT_EQ(answer.error, "");
      EXPECT_EQ(answer.guarantee, c.guarantee);
      EXPECT_TRUE(Json::accept(answer.output)) << answer.output;
      EXPECT_GT(answer.tokens, 0U);
      EXPECT_GT(answer.model_calls, 0U);
      EXPECT_LE(answer.forced_tokens, answer.tokens);
      const Answer searched = search(c.module, c.prompt);
      EXPECT_EQ(answer.assumptions, searched.assumptions);
      EXPECT_EQ(answer.goals_dropped, searched.goals_dropped);

      // Read back and executed.
      const PromptTask prompt = module(c.module).read(c.prompt, Rules::kEnvironment);
      const Task task = load_pddl_text(domain_text(module(c.module), Rules::kEnvironment),
                                       prompt.problem_assuming(answer.assumptions.size()));
      const PlanSpelling spelling(PlanFormat::builtin(std::string(module(c.module).format)), task);
      const PlanSpelling::Parsed parsed = spelling.parse(answer.output);
      ASSERT_TRUE(parsed.complete) << parsed.error;
      ASSERT_FALSE(parsed.actions.empty());
      State state = task.initial_state();
      for (std::size_t i = 0; i < parsed.actions.size(); ++i) {
        EXPECT_EQ(task.text(parsed.actions[i]), answer.steps.at(i));
        const auto next = task.apply(state, parsed.actions[i]);
        ASSERT_TRUE(next.has_value()) << answer.output;
        state = *next;
      }
      EXPECT_EQ(task.unmet_goals(state).size(), answer.goals_dropped.size());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Guidance, AnyModel, ::testing::Values(Guidance::kMask, Guidance::kUniform),
                         [](const auto& info) { return std::string(to_string(info.param)); });

TEST(AnswerPrompt, WithoutALookaheadNothingIsPromised) {
  const auto vocabulary = small_vocabulary();
  const auto model = random_model(vocabulary, 1);
  EvaluateOptions options = with(Guidance::kSyntax);
  options.plan.lookahead.horizon = 3;
  const Answer answer =
      answer_prompt(module("vh-as"), {"one", living_room().prompt()}, model.get(), vocabulary, options);
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(answer.guarantee, "syntax only");
  EXPECT_TRUE(Json::accept(answer.output)) << answer.output;
  EXPECT_FALSE(answer.shortest.has_value());
}

TEST(AnswerPrompt, AnUnreadablePromptIsAnAnswerWithAnError) {
  const Answer empty = search("vh-as", "");
  EXPECT_TRUE(has(empty.error, "prompt: error: the prompt has no line 'Objects in the scene:'")) << empty.error;
  EXPECT_EQ(empty.identifier, "one");
  EXPECT_EQ(empty.output, "");
  EXPECT_EQ(empty.outcome, "");
  House house = living_room();
  house.node_goals = "what?\n";
  EXPECT_TRUE(has(search("vh-as", house.prompt()).error, "'what?' is not a node goal"));
  EXPECT_NE(search("vh-sd", house.prompt()).error, "") << "a prompt of the other module";
}

// A thing that is wanted in one place by one goal and in another by two.
TEST(AnswerPrompt, DropsTheFewestGoals) {
  const std::string prompt =
      "Input:\ninitial environment state:\n['ontop', 'bowl_0', 'bed_1']\n['ontop', 'cup_2', 'bed_1']\n\n\n"
      "target environment state:\n['ontop', 'bowl_0', 'desk_3']\n['ontop', 'bowl_0', 'shelf_4']\n"
      "['not', 'ontop', 'bowl_0', 'desk_3']\n['ontop', 'cup_2', 'desk_3']\n\n\ninteractable objects:\n"
      "{'name': 'bowl_0', 'category': 'bowl.n.01'}\n{'name': 'bed_1', 'category': 'bed.n.01'}\n"
      "{'name': 'cup_2', 'category': 'cup.n.01'}\n{'name': 'desk_3', 'category': 'desk.n.01'}\n"
      "{'name': 'shelf_4', 'category': 'shelf.n.01'}\n\n\nPlease output the list of action commands.\n\nOutput:\n";
  const Answer answer = search("beh-as", prompt);
  EXPECT_EQ(answer.error, "");
  ASSERT_EQ(answer.goals_dropped.size(), 1U) << answer.reason;
  EXPECT_TRUE(has(answer.goals_dropped[0], "(ontop bowl_0 desk_3)"));
}

TEST(AnswerPrompt, ThePapersRulesKnowOfNothingHidden) {
  EvaluateOptions options = with(Guidance::kSearch);
  options.rules = Rules::kPaper;
  for (const char* name : {"vh-as", "vh-sd"}) {
    const std::string prompt = name == std::string("vh-as") ? pantry().prompt() : Flat().prompt();
    const Answer answer = answer_prompt(module(name), {"one", prompt}, nullptr, nullptr, options);
    EXPECT_EQ(answer.guarantee, "full") << name << answer.reason << answer.error;
    EXPECT_TRUE(answer.assumptions.empty());
  }
}

class BrokenModel : public LanguageModel {
 public:
  explicit BrokenModel(std::shared_ptr<const Vocabulary> vocabulary) : vocabulary_(std::move(vocabulary)) {}
  const Vocabulary& vocabulary() const override { return *vocabulary_; }
  std::string description() const override { return "broken"; }
  std::size_t context_length() const override { return 100'000; }
  std::string render_prompt(const Prompt& prompt) const override { return prompt.user; }
  std::vector<TokenId> encode_prompt(const Prompt&, const Stop&) const override { return {TokenId{1}}; }
  std::unique_ptr<Session> start(std::span<const TokenId>, std::size_t) override { throw ModelError("out of ink"); }

 private:
  std::shared_ptr<const Vocabulary> vocabulary_;
};

TEST(AnswerPrompt, AModelThatFailsAndAUserWhoStopsAreAnswersToo) {
  const auto vocabulary = small_vocabulary();
  BrokenModel broken(vocabulary);
  const PromptEntry entry{"one", living_room().prompt()};
  EvaluateOptions options = with(Guidance::kMask);
  const Answer failed = answer_prompt(module("vh-as"), entry, &broken, vocabulary, options);
  EXPECT_EQ(failed.error, "the model cannot go on: out of ink");
  EXPECT_FALSE(failed.cancelled);
  EXPECT_EQ(failed.output, "");

  options.cancelled = [] { return true; };
  const auto model = random_model(vocabulary, 1);
  const Answer stopped = answer_prompt(module("vh-as"), entry, model.get(), vocabulary, options);
  EXPECT_TRUE(stopped.cancelled);
  EXPECT_EQ(stopped.output, "");
}

// --- files ----------------------------------------------------------------------------------------------------------

class EvaluationFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("metactrl_evaluate_" + std::to_string(::getpid()) + "_" + std::string(info->name()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  std::string text(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  // Expects an InputError that names the file and says `message`.
  template <typename Read>
  void expect_error(const Read& read, const std::string& content, const std::string& message) const {
    const std::string file = write("input.json", content);
    try {
      read(file);
      ADD_FAILURE() << "was read: " << content;
    } catch (const InputError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(file)) << error.what();
      EXPECT_TRUE(has(error.what(), message)) << error.what();
    }
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(EvaluationFiles, PromptsAreReadInTheirOrder) {
  const std::vector<PromptEntry> prompts = read_prompts(
      write("p.json",
            R"([{"identifier": "b", "llm_prompt": "say\nthis", "more": 1}, {"identifier": "a", "llm_prompt": ""}])"));
  ASSERT_EQ(prompts.size(), 2U);
  EXPECT_EQ(prompts[0].identifier, "b");
  EXPECT_EQ(prompts[0].prompt, "say\nthis");
  EXPECT_EQ(prompts[1].identifier, "a");
  EXPECT_TRUE(read_prompts(write("none.json", "[]")).empty());
  EXPECT_EQ(read_system_prompt(write("s.json", R"({"system_prompt": "be brief", "x": 1})")), "be brief");
}

TEST_F(EvaluationFiles, MistakesNameTheFileAndTheEntry) {
  expect_error(read_prompts, "", "the file is empty");
  expect_error(read_prompts, "[{]", "is not JSON");
  expect_error(read_prompts, R"({"identifier": "a", "llm_prompt": "b"})", "is not a list");
  expect_error(read_prompts, R"([{"identifier": "a", "llm_prompt": "x"}, 7])",
               "entry 2 has no 'identifier' that is a text or a whole number");
  expect_error(read_prompts, R"([{"identifier": "a"}])", "entry 1 has no text 'llm_prompt'");
  EXPECT_EQ(read_prompts(write("numbered.json", R"([{"identifier": 5, "llm_prompt": "x"}])")).at(0).identifier, "5");
  expect_error(read_prompts, R"([{"identifier": "a", "llm_output": "x"}])", "entry 1 has no text 'llm_prompt'");
  expect_error(read_prompts, R"([{"identifier": "a", "llm_prompt": "x"}, {"identifier": "a", "llm_prompt": "y"}])",
               "has two prompts for 'a'");
  expect_error(read_responses, R"([{"identifier": "a", "llm_output": null}])", "entry 1 has no text 'llm_output'");
  expect_error(read_responses, R"([{"identifier": 1.5, "llm_output": ""}])",
               "entry 1 has no 'identifier' that is a text or a whole number");
  expect_error(read_responses, "17", "is not a list");
  expect_error(read_system_prompt, "[]", "has no text 'system_prompt'");
  expect_error(read_system_prompt, R"({"system_prompt": ["x"]})", "has no text 'system_prompt'");
  EXPECT_THROW(read_prompts(path("missing.json")), InputError);
  EXPECT_THROW(read_system_prompt(path("missing.json")), InputError);
}

TEST_F(EvaluationFiles, AnswersComeBackAsTheyWereWritten) {
  const std::vector<Response> responses = {{"b", "{\"WALK\": [\"tv\", \"1\"]}"}, {"a", "\"\\\n\t"}, {"a", ""}};
  write_responses(path("r.json"), responses);
  const std::vector<Response> again = read_responses(path("r.json"));
  ASSERT_EQ(again.size(), 3U);
  for (std::size_t i = 0; i < again.size(); ++i) {
    EXPECT_EQ(again[i].identifier, responses[i].identifier);
    EXPECT_EQ(again[i].output, responses[i].output);
  }
  // A model without guidance may write bytes that are no text.
  write_responses(path("r.json"), {{"a", "\xff\xc3("}});
  EXPECT_NO_THROW(read_responses(path("r.json")));
}

Answer full_answer(const std::string& identifier) {
  Answer answer = search("vh-as", pantry().prompt());
  answer.identifier = identifier;
  answer.log_probability = -1.5;
  answer.notes = {"a note"};
  answer.tokens = 17;
  answer.thought = Thought{"first the pantry", 3, 2, Thought::End::kTurn};
  return answer;
}

TEST_F(EvaluationFiles, AnAnswerSurvivesTheJournal) {
  const Answer answer = full_answer("x");
  EXPECT_EQ(to_json(answer_from_json(to_json(answer))), to_json(answer));
  EXPECT_EQ(answer_from_json(to_json(answer)).shortest, answer.shortest);
  EXPECT_EQ(answer_from_json(to_json(answer)).times.lookahead, answer.times.lookahead);
  const std::optional<Thought> thought = answer_from_json(to_json(answer)).thought;
  ASSERT_TRUE(thought);
  EXPECT_EQ(thought->text, "first the pantry");
  EXPECT_EQ(thought->ended_by, Thought::End::kTurn);
}

TEST_F(EvaluationFiles, AJournalGoesOnWhereItWasCutOff) {
  const Json settings = {{"model", "m"}, {"seed", 1}};
  {
    Journal journal(path("r.json"), settings, false);
    EXPECT_TRUE(journal.earlier().empty());
    journal.add(full_answer("a"));
    journal.add(full_answer("b"));
  }
  const Answer third = full_answer("c");
  const std::string whole = text("r.json.partial");
  EXPECT_EQ(std::count(whole.begin(), whole.end(), '\n'), 3);
  const std::size_t first_line = whole.find('\n') + 1;
  const std::size_t second_line = whole.find('\n', first_line) + 1;
  // Wherever it was cut: the answers whose lines are complete are kept, and the file has no other.
  for (std::size_t length = 0; length <= whole.size(); length += 29) {
    write("r.json.partial", whole.substr(0, length));
    {
      Journal journal(path("r.json"), settings, true);
      const std::size_t expected = length < second_line ? 0 : length < whole.size() ? 1 : 2;
      ASSERT_EQ(journal.earlier().size(), expected) << length;
      if (expected > 0) {
        EXPECT_EQ(journal.earlier()[0].identifier, "a");
      }
      journal.add(third);
    }
    const Journal again(path("r.json"), settings, true);
    ASSERT_FALSE(again.earlier().empty());
    EXPECT_EQ(again.earlier().back().identifier, "c") << length;
  }
}

TEST_F(EvaluationFiles, AJournalWithOtherSettingsIsRefusedAndKept) {
  {
    Journal journal(path("r.json"), {{"seed", 1}}, false);
    journal.add(full_answer("a"));
  }
  const std::string before = text("r.json.partial");
  try {
    const Journal journal(path("r.json"), {{"seed", 2}}, true);
    FAIL() << "went on with other settings";
  } catch (const InputError& error) {
    EXPECT_TRUE(has(error.what(), path("r.json.partial")));
    EXPECT_TRUE(has(error.what(), "was begun with other settings"));
  }
  EXPECT_EQ(text("r.json.partial"), before);
  EXPECT_TRUE(Journal(path("r.json"), {{"seed", 2}}, false).earlier().empty());
  EXPECT_NE(text("r.json.partial"), before) << "without resume it begins anew";
}

TEST_F(EvaluationFiles, AJournalIsCheckedAndRemoved) {
  write("r.json.partial", "{\"seed\":1}\n{\"identifier\":\"a\"}\n");
  EXPECT_THROW(Journal(path("r.json"), {{"seed", 1}}, true), InputError);
  write("r.json.partial", "{\"seed\":1}\n[1,2]\n");
  EXPECT_THROW(Journal(path("r.json"), {{"seed", 1}}, true), InputError);
  EXPECT_THROW(Journal(path("no/such/folder/r.json"), {{"seed", 1}}, true), InputError);
  Journal journal(path("r.json"), {{"seed", 1}}, false);
  journal.remove();
  EXPECT_FALSE(std::filesystem::exists(path("r.json.partial")));
}

}  // namespace
}  // namespace metactrl::benchmarks::evaluate_test
