#include "benchmarks/compact_prompt.h"

#include <gtest/gtest.h>

#include <string>

#include "benchmarks/evaluate.h"
#include "benchmarks/files.h"
#include "benchmarks/module.h"
#include "metactrl/error.h"
#include "support/test_data.h"
#include "support/virtualhome_prompts.h"

namespace metactrl::benchmarks::compact_prompt_test {
namespace {

TEST(CompactPrompt, SaysTheSameInFewerWords) {
  EXPECT_EQ(
      compact_facts("character, id: 65, properties: []\n"
                    "desk, id: 7, properties: ['MOVABLE', 'SURFACES']\n"
                    "-----------------\n\n"
                    "desk, states: ['CLEAN', 'CLOSED'], properties:['MOVABLE', 'SURFACES']\n"
                    "chair, states: [], properties:[]\n"
                    "<cup> (3) is NEAR to <desk> (7)\n"
                    "<desk> (7) is NEAR to <cup> (3)\n"
                    "<cup> (3) is ON to <desk> (7)\n"
                    "cup is CLEAN\n"),
      "character 65\ndesk 7: MOVABLE, SURFACES\ndesk: CLEAN, CLOSED\ncup 3 NEAR desk 7\ncup 3 ON desk 7\ncup is CLEAN");
  EXPECT_EQ(compact_facts("['not', 'sliced', 'peach_0']\n{'name': 'peach_0', 'category': 'peach.n.03'}\n"),
            "not sliced peach_0\npeach_0 (peach.n.03)");
  EXPECT_EQ(compact_facts("| tv.410 | Electronics | ['HAS_PLUG', 'HAS_SWITCH'] |\n| bath.1 | Rooms | [] |\n"),
            "tv.410 (Electronics): HAS_PLUG, HAS_SWITCH\nbath.1 (Rooms)");
}

TEST(CompactPrompt, LinesOfNoKnownFormStay) {
  for (const char* line :
       {"<cup is there", "| one | two |", "{'nom': 'x'}", "['a'", "x, id: ", "x, states: [", "|", "<"}) {
    EXPECT_FALSE(compact_facts(line).empty()) << line;
  }
  EXPECT_EQ(compact_facts(""), "");
}

TEST(CompactPrompt, FramesAndPromptsAreChecked) {
  EXPECT_EQ(compact_prompt("from: A\nto: B\n---\nx {task} y\n", "A\n1\nB\n\nA\n2\nB\n"), "x A\n2\n\ny");
  EXPECT_THROW(compact_prompt("from: A\nto: B\n---\nx {task} y\n", "nothing"), InputError);
  EXPECT_THROW(compact_prompt("from: A\n---\n{task}", "\nA\nB"), std::logic_error);
  EXPECT_THROW(compact_prompt("from: A\nto: B\n---\nno hole\n", "\nA\nB"), std::logic_error);
}

TEST(CompactPrompt, EveryModuleHasOne) {
  EvaluateOptions options;
  options.system = "long";
  options.prompt = PromptStyle::kCompact;
  const Prompt actions = model_prompt(*find_module("vh-as"), {"1", testing::living_room().prompt()}, options);
  EXPECT_EQ(actions.system, "");
  EXPECT_NE(actions.user.find("\ntv 410: HAS_SWITCH, HAS_PLUG, LOOKABLE\n"), std::string::npos) << actions.user;
  EXPECT_NE(actions.user.find("\ntv is ON\n"), std::string::npos);
  EXPECT_EQ(actions.user.find("Please output"), std::string::npos);
  const Prompt subgoals = model_prompt(*find_module("vh-sd"), {"1", testing::Flat().prompt()}, options);
  EXPECT_NE(subgoals.user.find("ON(tv.410)"), std::string::npos) << subgoals.user;
  options.prompt = PromptStyle::kBenchmark;
  EXPECT_EQ(model_prompt(*find_module("vh-sd"), {"1", "p"}, options).system, "long");
}

class CompactPromptData : public ::testing::TestWithParam<testing::Extent> {};

// Every object and every goal of every real prompt is still there.
TEST_P(CompactPromptData, RealPromptsGetShorter) {
  METACTRL_NEEDS_EXTENT(GetParam(), "eai_beh");
  EvaluateOptions options;
  options.prompt = PromptStyle::kCompact;
  for (const auto& [name, file] :
       {std::pair{"vh-as", "eai_vh/as_prompts.json"}, std::pair{"vh-sd", "eai_vh/sd_prompts.json"},
        std::pair{"beh-as", "eai_beh/as_prompts.json"}, std::pair{"beh-sd", "eai_beh/sd_prompts.json"}}) {
    for (const PromptEntry& entry : read_prompts(testing::data_path(file, GetParam()).string())) {
      const std::string compact = model_prompt(*find_module(name), entry, options).user;
      EXPECT_LT(compact.size(), 5500U) << name << " " << entry.identifier;
      EXPECT_EQ(compact.find("['"), std::string::npos) << name << " " << entry.identifier << "\n" << compact;
      EXPECT_EQ(compact.find("{'"), std::string::npos) << name << " " << entry.identifier;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Data, CompactPromptData, ::testing::ValuesIn(testing::kExtents), testing::extent_name);

}  // namespace
}  // namespace metactrl::benchmarks::compact_prompt_test
