// Whose fault it is that an evaluator rejects an answer: what the prompt states is what counts, whoever wrote the answer.
#include "benchmarks/prompt_language.h"

#include <gtest/gtest.h>

#include <string>

#include "support/virtualhome_prompts.h"

namespace metactrl::benchmarks::prompt_language_test {
namespace {

bool kept(const std::string& output) {
  return keeps_to_prompt(*find_module("vh-as"), testing::living_room().prompt(), output);
}

TEST(PromptLanguage, AnAnswerHasTheFormTheActionsAndTheObjectsOfItsPrompt) {
  EXPECT_TRUE(kept(R"({"WALK": ["tv", "410"], "SWITCHON": ["tv", "410"]})"));
  // It need not be a plan that works; the evaluator takes no PLUGIN, but the prompt lists it; and no empty plan.
  EXPECT_TRUE(kept(R"({"SIT": ["couch", "352"], "SIT": ["couch", "352"]})"));
  EXPECT_TRUE(kept(R"({"PLUGIN": ["tv", "410"]})"));
  EXPECT_TRUE(kept("{}"));
  for (const char* wrong :
       {"", "Turn the television on.", R"({"WALK": ["tv", "410"])", R"({"WALK": ["unicorn", "410"]})",
        R"({"WALK": ["tv", "411"]})", R"({"FLY": ["tv", "410"]})", R"({"WALK": ["tv", "410", "couch", "352"]})",
        R"({"WALK": ["tv"]})", R"({"WALK": ["tv", "410"]} and so on)"}) {
    EXPECT_FALSE(kept(wrong)) << wrong;
  }
  EXPECT_FALSE(keeps_to_prompt(*find_module("vh-as"), "no prompt", R"({"WALK": ["tv", "410"]})"));
  EXPECT_FALSE(keeps_to_prompt(*find_module("wah"), "Apartment:", "{}")) << "it has no prompts of its own";
}

TEST(PromptLanguage, NamesThatNoAnswerCanSpellAreTheModels) {
  const std::string prompt =
      "Now, it is time for you to generate the subgoal plan for the following task.\n# Target Task: shop\n"
      "## Relevant objects in this scene\n{'name': '2x4_lumber.0', 'category': 'lumber_n_01'}\n"
      "{'name': 'book.1', 'category': 'book_n_02'}\n{'name': 'bed.6', 'category': 'bed_n_01'}\n\n## Initial "
      "States\nontop(2x4_lumber.0, bed.6)\n"
      "\n## Goal States\nontop(2x4_lumber.0, bed.6)\n\n## Output: \n";
  const Module& module = *find_module("beh-sd");
  const auto answer = [](const std::string& name) { return "{\"output\": [\"ontop(" + name + ", bed.6)\"]}"; };
  EXPECT_TRUE(keeps_to_prompt(module, prompt, answer("book.1")));
  EXPECT_FALSE(keeps_to_prompt(module, prompt, answer("book.2")));
  EXPECT_FALSE(keeps_to_prompt(module, prompt, answer("2x4_lumber.0")));
}

TEST(PromptLanguage, OnlyErrorsThatCountAreLookedAt) {
  Score score;
  for (const char* identifier : {"read", "invented", "works", "unknown", "left out"}) {
    TaskScore task;
    task.identifier = identifier;
    task.scored = task.identifier != "left out";
    if (task.identifier != "works") task.errors["hallucination"] = 1;
    score.tasks.push_back(task);
  }
  const std::string prompt = testing::living_room().prompt();
  const std::string plug = R"({"PLUGIN": ["tv", "410"]})";
  const auto found = rejected_by_benchmark(
      *find_module("vh-as"), score, {{"read", prompt}, {"invented", prompt}, {"works", prompt}, {"left out", prompt}},
      {{"read", plug},
       {"invented", R"({"WALK": ["unicorn", "1"]})"},
       {"works", plug},
       {"unknown", plug},
       {"left out", plug}});
  EXPECT_EQ(found, std::set<std::string>{"read"});
}

}  // namespace
}  // namespace metactrl::benchmarks::prompt_language_test
