// Every value has a name of its own, and is found again by it.
#include "decode/names.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace metactrl::names_test {

template <typename Enum>
void expect_both_directions(std::size_t values) {
  std::set<std::string> seen;
  for (const auto& [value, name] : enum_names(Enum{})) {
    EXPECT_STREQ(to_string(value), name);
    EXPECT_EQ(internal::value_named<Enum>(name), value) << name;
    EXPECT_TRUE(seen.insert(name).second) << name;
  }
  EXPECT_EQ(seen.size(), values);
  EXPECT_EQ(internal::value_named<Enum>("no such name"), std::nullopt);
}

TEST(Names, AreReadInBothDirections) {
  expect_both_directions<Guidance>(6);
  expect_both_directions<Bridge>(4);
  expect_both_directions<Tokenization>(2);
  expect_both_directions<DecodeMode>(4);
  expect_both_directions<PlanOptions::OnInfeasible>(3);
  expect_both_directions<Guarantee>(4);
  expect_both_directions<PlanOutcome>(4);
  expect_both_directions<ExplainedStep::Standing>(8);
  EXPECT_EQ(guidance_named("trained"), Guidance::kTrained);
  EXPECT_EQ(bridge_named("surrogate"), Bridge::kSurrogate);
  EXPECT_EQ(decode_mode_named("Greedy"), std::nullopt);
}

}  // namespace metactrl::names_test
