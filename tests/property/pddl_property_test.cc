// The ground engine against the reference semantics, on random PDDL.
//
// The two share the parser and nothing else: the engine grounds by relaxed reachability, simplifies and runs packed
// states; the interpreter walks the syntax tree. Every state of a task, up to a limit, is compared: which actions are
// legal, where they lead, whether the goal holds.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "metactrl/domain.h"
#include "pddl/interpret.h"
#include "pddl/parse.h"
#include "support/random.h"
#include "support/random_pddl.h"
#include "support/repeats.h"

namespace metactrl::pddl_property_test {
namespace {

using pddl::Facts;
using pddl::Instance;
using pddl::LiftedInterpreter;
using testing::PddlText;
using testing::Random;
using testing::random_pddl;

constexpr std::uint64_t kShards = 6;
constexpr std::uint64_t kTasks = testing::repeats(3000);
constexpr std::size_t kStates = 60;

std::shared_ptr<const LiftedInterpreter> interpreter_of(const PddlText& text) {
  Diagnostics diagnostics;
  auto ast = std::make_shared<pddl::Ast>(pddl::parse({"domain", text.domain}, {"problem", text.problem}, diagnostics));
  if (diagnostics.has_errors()) throw InputError(diagnostics);
  return std::make_shared<LiftedInterpreter>(std::move(ast));
}

std::set<std::string> texts_of(const LiftedInterpreter& interpreter, const Facts& facts) {
  std::set<std::string> out;
  for (const pddl::Fact& fact : facts) out.insert(interpreter.fact_text(fact));
  return out;
}

// A state of the engine, the same state in the interpreter, and the plan that led to it.
struct Node {
  State state;
  Facts facts;
  std::vector<PlanStep> plan;
};

class Comparison {
 public:
  Comparison(const PddlText& text, std::uint64_t seed)
      : task_(load_pddl_text(text.domain, text.problem)), interpreter_(interpreter_of(text)), random_(seed) {}

  void run() {
    const Validation empty = interpreter_->validate({});
    const bool violated = empty.reason.starts_with("the initial state breaks");
    ASSERT_EQ(task_.initially_violated(), violated) << empty.reason;
    if (violated) return;
    nodes_.push_back({task_.initial_state(), interpreter_->initial(), {}});
    seen_[key(nodes_[0].state)] = 0;
    for (std::size_t i = 0; i < nodes_.size() && !::testing::Test::HasFatalFailure(); ++i) compare(i);
  }

  // Plans of legal and, now and then, arbitrary steps.
  void walk() {
    if (task_.initially_violated()) return;
    const std::vector<Instance> instances = interpreter_->instances();
    State state = task_.initial_state();
    std::vector<PlanStep> plan;
    std::size_t executed = 0;
    double cost = 0;
    bool legal = true;
    const std::uint32_t length = random_.below(12);
    for (std::uint32_t i = 0; i < length; ++i) {
      const std::vector<ActionId> actions = task_.applicable_actions(state);
      PlanStep step;
      if (!actions.empty() && !random_.chance(5)) {
        step = task_.step(random_.pick(actions));
      } else if (!instances.empty()) {
        step = interpreter_->step(random_.pick(instances));
      } else {
        break;
      }
      plan.push_back(step);
      const std::optional<ActionId> action = task_.find(step);
      const std::optional<State> next = action && legal ? task_.apply(state, *action) : std::nullopt;
      legal = legal && next.has_value();
      if (!legal) continue;
      ++executed;
      cost += task_.cost(*action);
      state = *next;
    }
    const Validation validation = task_.validate(plan);
    EXPECT_EQ(validation.steps_executed, executed) << validation.reason;
    EXPECT_EQ(validation.cost, cost);
    EXPECT_EQ(validation.valid, legal && task_.is_goal(state)) << validation.reason;
    EXPECT_EQ(validation.valid, validation.reason.empty());
  }

  std::size_t num_states() const { return nodes_.size(); }
  std::size_t num_goals() const { return num_goals_; }
  std::size_t num_illegal() const { return num_illegal_; }

 private:
  static std::vector<std::uint64_t> key(const State& state) { return {state.words().begin(), state.words().end()}; }

  void compare(std::size_t index) {
    const Node node = nodes_[index];
    compare_facts(node);
    const bool valid = interpreter_->validate(node.plan).valid;
    ASSERT_EQ(task_.is_goal(node.state), valid) << "after " << node.plan.size() << " steps";
    ASSERT_EQ(task_.unmet_goals(node.state).empty(), valid);
    num_goals_ += valid ? 1 : 0;

    std::map<std::string, Node> expected;
    for (auto& [instance, facts] : interpreter_->successors(node.facts)) {
      Node next{{}, std::move(facts), node.plan};
      next.plan.push_back(interpreter_->step(instance));
      // The step is legal when no trajectory constraint stops the plan before its end.
      if (interpreter_->validate(next.plan).steps_executed != next.plan.size()) {
        ++num_illegal_;
        continue;
      }
      const std::string text = to_string(next.plan.back());
      const std::optional<ActionId> action = task_.find(next.plan.back());
      ASSERT_TRUE(action) << text << " is legal but not an action of the task";
      ASSERT_EQ(task_.cost(*action), interpreter_->cost(instance)) << text;
      expected.emplace(text, std::move(next));
    }
    const std::vector<ActionId> actions = task_.applicable_actions(node.state);
    ASSERT_TRUE(std::is_sorted(actions.begin(), actions.end()));
    std::set<std::string> found;
    for (const ActionId action : actions) found.insert(task_.text(action));
    std::set<std::string> wanted;
    for (const auto& entry : expected) wanted.insert(entry.first);
    ASSERT_EQ(found, wanted) << "legal actions after " << node.plan.size() << " steps";
    for (const ActionId action : actions) {
      ASSERT_TRUE(task_.legal(node.state, action));
      follow(expected.at(task_.text(action)), node.state, action);
    }
  }

  // Facts that never change are not part of the engine's states: what it leaves out must be the same in every state.
  void compare_facts(const Node& node) {
    const std::set<std::string> wanted = texts_of(*interpreter_, node.facts);
    std::set<std::string> constant = wanted;
    for (const std::string& fact : task_.facts(node.state)) {
      ASSERT_TRUE(wanted.contains(fact)) << fact << " holds in the engine only";
      constant.erase(fact);
    }
    if (node.plan.empty()) constant_ = constant;
    ASSERT_EQ(constant, constant_) << "a fact that the engine takes for constant changed";
  }

  void follow(Node& next, const State& state, ActionId action) {
    const std::optional<State> successor = task_.apply(state, action);
    ASSERT_TRUE(successor);
    next.state = *successor;
    const auto [place, fresh] = seen_.emplace(key(next.state), nodes_.size());
    if (!fresh) {
      // The same packed state must mean the same facts.
      if (place->second >= nodes_.size()) return;
      ASSERT_EQ(nodes_[place->second].facts, next.facts);
      return;
    }
    if (nodes_.size() < kStates) nodes_.push_back(next);
  }

  Task task_;
  std::shared_ptr<const LiftedInterpreter> interpreter_;
  Random random_;
  std::deque<Node> nodes_;
  std::map<std::vector<std::uint64_t>, std::size_t> seen_;
  std::set<std::string> constant_;
  std::size_t num_goals_ = 0;
  std::size_t num_illegal_ = 0;
};

// Sharded so that one case stays short.
class RandomPddl : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomPddl, EngineAgreesWithReference) {
  std::size_t states = 0;
  std::size_t goals = 0;
  std::size_t illegal = 0;
  for (std::uint64_t seed = GetParam(); seed < kTasks; seed += kShards) {
    const PddlText text = random_pddl(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text.domain + text.problem);
    Comparison comparison(text, seed);
    comparison.run();
    for (int i = 0; i < 8; ++i) comparison.walk();
    if (HasFailure()) return;
    states += comparison.num_states();
    goals += comparison.num_goals();
    illegal += comparison.num_illegal();
  }
  // The generator is of use only while tasks have states, goals and forbidden steps.
  constexpr std::uint64_t kShare = kTasks / kShards;
  EXPECT_GT(states, 8 * kShare);
  EXPECT_GT(goals, kShare / 2);
  EXPECT_GT(illegal, kShare / 20);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPddl, ::testing::Range<std::uint64_t>(0, kShards));

}  // namespace
}  // namespace metactrl::pddl_property_test
