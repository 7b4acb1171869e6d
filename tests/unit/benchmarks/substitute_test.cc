#include "benchmarks/substitute.h"

#include <gtest/gtest.h>

#include <string>

#include "support/virtualhome_prompts.h"

namespace metactrl::benchmarks::substitute_test {
namespace {

using ::metactrl::testing::Flat;
using ::metactrl::testing::House;
using ::metactrl::testing::kTvProperties;
using ::metactrl::testing::living_room;

// The living room with a radio in the place of the television.
House radio_room() {
  House house = living_room();
  house.objects =
      "character, id: 65, properties: []\n"
      "kitchen, id: 11, properties: []\n"
      "radio, id: 410, properties: " +
      kTvProperties +
      "\n"
      "couch, id: 352, properties: ['SITTABLE', 'LIEABLE', 'MOVABLE']\n";
  house.nodes = "radio, states: ['OFF', 'CLEAN', 'PLUGGED_IN'], properties:" + kTvProperties + "\n";
  house.node_goals = "radio is ON\n";
  return house;
}

TEST(SubstituteTest, ObjectsAreReplacedByOthersOfTheirCategory) {
  House other = radio_room();
  other.node_goals = "radio is OFF\n";
  const PromptResampler resampler(*find_module("vh-as"), {{"1", living_room().prompt()}, {"2", other.prompt()}});
  unsigned made = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const std::optional<std::string> text = resampler.sample(0, seed);
    EXPECT_EQ(text, resampler.sample(0, seed));
    if (!text) continue;
    ++made;
    EXPECT_EQ(*text, radio_room().prompt());  // the couch is alone in its category
  }
  EXPECT_GT(made, 0U);
}

TEST(SubstituteTest, ABenchmarksOwnPromptIsNeverDrawn) {
  const PromptResampler resampler(*find_module("vh-as"), {{"1", living_room().prompt()}, {"2", radio_room().prompt()}});
  for (std::uint64_t seed = 0; seed < 10; ++seed) EXPECT_EQ(resampler.sample(0, seed), std::nullopt);
}

TEST(SubstituteTest, SubgoalPromptsAreReadToo) {
  Flat other;
  other.objects = "| radio.7 | Electronics | ['HAS_SWITCH', 'HAS_PLUG'] |\n| character.65 | Characters | [] |\n";
  other.states = "OFF(radio.7)\nPLUGGED_IN(radio.7)\n";
  other.goals = "ON(radio.7)\n";
  const PromptResampler resampler(*find_module("vh-sd"), {{"1", Flat().prompt()}, {"2", other.prompt()}});
  Flat expected;
  expected.objects = "| radio.410 | Electronics | ['HAS_PLUG', 'HAS_SWITCH'] |\n| character.65 | Characters | [] |\n";
  expected.states = "OFF(radio.410)\nPLUGGED_IN(radio.410)\n";
  expected.goals = "ON(radio.410)\n";
  EXPECT_EQ(resampler.sample(0, 1), expected.prompt());
}

TEST(SubstituteTest, APromptWithoutObjectsGivesNone) {
  const PromptResampler resampler(*find_module("vh-as"), {{"1", "what?"}});
  EXPECT_EQ(resampler.sample(0, 1), std::nullopt);
}

}  // namespace
}  // namespace metactrl::benchmarks::substitute_test
