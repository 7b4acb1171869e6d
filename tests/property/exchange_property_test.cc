// Random tasks are written as PDDL and read again: the plans must be the same. Random plans become behavior trees: they
// must succeed in the reference world exactly when the plan is valid, and fail where it fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/exchange/export.h"
#include "support/behavior_tree.h"
#include "support/lifted_world.h"
#include "support/random.h"
#include "support/random_definition.h"
#include "support/random_pddl.h"
#include "support/same_plans.h"
#include "task/compile.h"

namespace metactrl::exchange_property_test {
namespace {

using testing::PddlText;
using testing::Random;
using testing::random_pddl;

constexpr std::uint64_t kShards = 4;

// The words of a PDDL text: names and keywords.
std::set<std::string> words_of(const std::string& text) {
  std::set<std::string> words;
  std::string word;
  bool comment = false;
  for (const char c : text + "\n") {
    if (c == ';') comment = true;
    const bool part = !comment && c > ' ' && c != '(' && c != ')';
    if (part) {
      word += c;
    } else if (!word.empty()) {
      words.insert(word);
      word.clear();
    }
    if (c == '\n') comment = false;
  }
  return words;
}

// Nothing is left that the other programs do not read.
void expect_common_language(const PddlTask& text) {
  const std::set<std::string> requirements = {
      ":strips", ":typing", ":negative-preconditions", ":equality", ":adl", ":derived-predicates", ":action-costs"};
  const std::set<std::string> sections = {":requirements", ":types",      ":constants",    ":predicates", ":functions",
                                          ":action",       ":parameters", ":precondition", ":effect",     ":derived",
                                          ":domain",       ":objects",    ":init",         ":goal",       ":metric"};
  for (const std::string& word : words_of(text.domain + text.problem)) {
    EXPECT_FALSE(word == "either" || word == "forn" || word == "forpairs" || word == "fornpairs") << word;
    if (word[0] == ':') {
      EXPECT_TRUE(requirements.contains(word) || sections.contains(word)) << word;
    }
  }
  EXPECT_EQ(text.domain.find("(or)"), std::string::npos);
  EXPECT_EQ(text.problem.find("(or)"), std::string::npos);
}

class ExchangeProperty : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(ExchangeProperty, TasksComeBackTheSame) {
  constexpr std::uint64_t kTasks = 1000;
  std::size_t states = 0;
  std::size_t goals = 0;
  for (std::uint64_t seed = GetParam(); seed < kTasks; seed += kShards) {
    const bool constraints = seed % 2 == 0;
    const PddlText text = random_pddl(seed, {2, 3, constraints});
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text.domain + text.problem);
    const Task task = load_pddl_text(text.domain, text.problem);
    const PddlTask written = pddl_task(task);
    SCOPED_TRACE(written.domain + written.problem);
    expect_common_language(written);
    const Task again = load_pddl_text(written.domain, written.problem);
    testing::SamePlans same(task, again, constraints, 25, written.cost_factor);
    same.run();
    states += same.num_states();
    goals += same.num_goals();
    // Nothing is left to rewrite; only variables may get other names, once.
    const PddlTask twice = pddl_task(again);
    EXPECT_TRUE(twice.notes.empty());
    EXPECT_EQ(pddl_task(load_pddl_text(twice.domain, twice.problem)).domain, twice.domain);
    if (HasFailure()) return;
  }
  EXPECT_GT(states, 400U);
  EXPECT_GT(goals, 50U);
}

TEST_P(ExchangeProperty, GroundTasksComeBackTheSame) {
  constexpr std::uint64_t kTasks = 1000;
  std::size_t states = 0;
  std::size_t goals = 0;
  for (std::uint64_t seed = GetParam(); seed < kTasks; seed += kShards) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Task task(task::compile(testing::random_definition(seed)), nullptr);
    const PddlTask written = pddl_task(task);
    SCOPED_TRACE(written.domain + written.problem);
    expect_common_language(written);
    const Task again = load_pddl_text(written.domain, written.problem);
    testing::SamePlans same(task, again, true, 25, written.cost_factor);
    same.run();
    states += same.num_states();
    goals += same.num_goals();
    if (HasFailure()) return;
  }
  EXPECT_GT(states, 400U);
  EXPECT_GT(goals, 50U);
}

// Mostly legal steps.
std::vector<PlanStep> random_plan(const Task& task, const pddl::LiftedInterpreter& interpreter, Random& random) {
  std::vector<PlanStep> plan;
  const std::vector<pddl::Instance> instances = interpreter.instances();
  State state = task.initial_state();
  const std::uint32_t length = random.below(8);
  while (plan.size() < length) {
    const std::vector<ActionId> actions = task.applicable_actions(state);
    if (!actions.empty() && !random.chance(6)) {
      const ActionId action = random.pick(actions);
      plan.push_back(task.step(action));
      state = *task.apply(state, action);
      if (task.is_goal(state) && random.chance(60)) break;
    } else if (!instances.empty()) {
      plan.push_back(interpreter.step(random.pick(instances)));
    } else {
      break;
    }
  }
  return plan;
}

TEST_P(ExchangeProperty, TreesSucceedWherePlansDo) {
  constexpr std::uint64_t kTasks = 3000;
  std::size_t valid = 0;
  std::size_t invalid = 0;
  for (std::uint64_t seed = GetParam(); seed < kTasks; seed += kShards) {
    const PddlText text = random_pddl(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text.domain + text.problem);
    const Task task = load_pddl_text(text.domain, text.problem);
    const auto interpreter = testing::lifted_interpreter(text.domain, text.problem);
    Random random(seed);
    const std::vector<PlanStep> plan = random_plan(task, *interpreter, random);
    const Validation validation = task.validate(plan);
    const std::string xml = behavior_tree_xml(task, plan);
    SCOPED_TRACE(xml + validation.reason);
    testing::BehaviorTree tree(xml);
    testing::LiftedWorld world(interpreter, random.below(2));
    const testing::BehaviorTree::Outcome outcome = tree.run(world);
    EXPECT_EQ(outcome.success, validation.valid) << outcome.step << ' ' << outcome.leaf << ' ' << outcome.detail;
    EXPECT_EQ(outcome.actions, validation.steps_executed);
    ++(validation.valid ? valid : invalid);
    if (HasFailure()) return;
  }
  EXPECT_GT(valid, 30U);
  EXPECT_GT(invalid, 30U);
}

INSTANTIATE_TEST_SUITE_P(Shards, ExchangeProperty, ::testing::Range<std::uint64_t>(0, kShards));

}  // namespace
}  // namespace metactrl::exchange_property_test
