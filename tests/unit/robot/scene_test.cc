// Scenes: states as text, tasks at other states, and the product of several states against a search over all of them.
#include "metactrl/robot/scene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "metactrl/lookahead.h"
#include "support/scripted_world.h"
#include "support/splitmix.h"

namespace metactrl::scene_test {
namespace {

using testing::tabletop;

TEST(Scene, StatesAreTheFactsThatChange) {
  const Scene scene = tabletop("donut_canister");
  EXPECT_EQ(scene.initial_state(), (SceneState{"(hand-empty)", "(on donut table)"}));
  EXPECT_EQ(scene.goals(), (std::vector<std::string>{"(inside donut canister)"}));
  const std::vector<std::string> fixed = scene.fixed_facts();
  EXPECT_NE(std::find(fixed.begin(), fixed.end(), "(graspable donut)"), fixed.end());
  EXPECT_EQ(Scene::subject("(on donut table)"), "donut");
  EXPECT_EQ(Scene::subject("(open canister)"), "canister");
  EXPECT_EQ(Scene::subject("(hand-empty)"), "");
  const std::vector<std::string>& possible = scene.possible_facts();
  EXPECT_TRUE(std::binary_search(possible.begin(), possible.end(), "(inside donut canister)"));
  EXPECT_FALSE(std::binary_search(possible.begin(), possible.end(), "(inside donut table)"));
}

TEST(Scene, StepsAndGoals) {
  const Scene scene = tabletop("donut_canister");
  const SceneState start = scene.initial_state();
  EXPECT_FALSE(scene.apply(start, {"putin", {"donut", "canister"}}));
  EXPECT_NE(scene.why_illegal(start, {"putin", {"donut", "canister"}}).find("precondition"), std::string::npos);
  EXPECT_FALSE(scene.apply(start, {"fly", {"donut"}}));
  const auto opened = scene.apply(start, {"open", {"canister"}});
  ASSERT_TRUE(opened);
  EXPECT_EQ(*opened, (SceneState{"(hand-empty)", "(on donut table)", "(open canister)"}));
  EXPECT_EQ(scene.legal_steps(*opened, "grab"), (std::vector<PlanStep>{{"grab", {"donut"}}}));
  EXPECT_FALSE(scene.is_goal(*opened));
  EXPECT_EQ(scene.unmet_goals(*opened), (std::vector<std::string>{"(inside donut canister)"}));
  const std::vector<PlanStep> rest{{"grab", {"donut"}}, {"putin", {"donut", "canister"}}};
  EXPECT_TRUE(scene.validate(*opened, rest).valid);
  EXPECT_FALSE(scene.validate(start, rest).valid);
}

TEST(Scene, FactsAreReadWithCare) {
  const Scene scene = tabletop("donut_canister");
  std::string problem;
  EXPECT_EQ(scene.read_fact(" ( ON donut  Table ) ", problem), "(on donut table)");
  for (const char* bad :
       {"", "()", "on donut table", "(on donut table", "(on (donut) table)", "(on donut)", "(on donut spoon)",
        "(graspable donut)", "(supported donut table)", "(near donut table)", "(on donut table))"}) {
    problem.clear();
    EXPECT_FALSE(scene.read_fact(bad, problem)) << bad;
    EXPECT_FALSE(problem.empty()) << bad;
  }
  EXPECT_THROW(scene.at({"(on donut spoon)"}), InputError);
}

TEST(Scene, ConstraintsThatLookBackAreRefused) {
  const std::string domain =
      "(define (domain d) (:requirements :constraints) (:predicates (a) (b)) (:action go "
      ":parameters () :precondition () :effect (a)))";
  const auto problem = [](const std::string& constraint) {
    return "(define (problem p) (:domain d) (:init) (:goal (a)) (:constraints " + constraint + "))";
  };
  EXPECT_THROW(Scene::load_text(domain, problem("(sometime (b))")), InputError);
  const Scene scene = Scene::load_text(domain, problem("(always (not (b)))"));
  EXPECT_TRUE(scene.apply(scene.initial_state(), {"go", {}}));
}

TEST(Scene, EventsMayChangeOnlyWhatActionsChange) {
  const std::string problem = "(define (problem p) (:domain d) (:objects x) (:init (fixed x)) (:goal (a x)))";
  const Scene scene = Scene::load_text(
      "(define (domain d) (:predicates (a ?x) (fixed ?x)) (:action go :parameters (?x) "
      ":precondition (fixed ?x) :effect (a ?x)))",
      problem);
  const Scene good = Scene::load_text(
      "(define (domain d) (:predicates (a ?x) (fixed ?x)) (:action lose :parameters (?x) "
      ":precondition (a ?x) :effect (not (a ?x))))",
      problem);
  EXPECT_EQ(*good.with_facts_of(scene).apply({"(a x)"}, {"lose", {"x"}}), SceneState{});
  const Scene bad = Scene::load_text(
      "(define (domain d) (:predicates (a ?x) (fixed ?x)) (:action rot :parameters (?x) "
      ":precondition (a ?x) :effect (not (fixed ?x))))",
      problem);
  EXPECT_THROW(bad.with_facts_of(scene), InputError);
}

TEST(Scene, ATaskAtAnotherStateIsThatTask) {
  const Scene scene = tabletop("dishwasher");
  SceneState state = scene.initial_state();
  for (const PlanStep& step : {PlanStep{"open", {"dishwasher"}}, {"grab", {"blue_mug"}}}) {
    state = *scene.apply(state, step);
    const Task task = scene.at(state);
    const auto lookahead = Lookahead::compile(task, {});
    ASSERT_EQ(lookahead->verdict(), Verdict::kSolvable);
    std::vector<PlanStep> plan;
    for (ActionId action : lookahead->plan()) plan.push_back(task.step(action));
    EXPECT_TRUE(scene.validate(state, plan).valid);
    EXPECT_TRUE(task.validate(plan).valid);
  }
}

// The fewest actions that lead from every state to the goal, by looking at all of them; 0 when there are none. States
// that an action does not allow forbid it.
std::size_t shortest_by_hand(const Scene& scene, std::vector<SceneState> start, std::size_t limit) {
  std::set<std::vector<SceneState>> seen{start};
  std::vector<std::vector<SceneState>> layer{start};
  const auto all_goal = [&](const std::vector<SceneState>& states) {
    return std::all_of(states.begin(), states.end(), [&](const SceneState& state) { return scene.is_goal(state); });
  };
  if (all_goal(start)) return 0;
  for (std::size_t length = 1; length <= limit && !layer.empty(); ++length) {
    std::vector<std::vector<SceneState>> next;
    for (const std::vector<SceneState>& states : layer) {
      for (const std::string& action : scene.actions()) {
        for (const PlanStep& step : scene.legal_steps(states[0], action)) {
          std::vector<SceneState> after;
          for (const SceneState& state : states) {
            auto one = scene.apply(state, step);
            if (one) after.push_back(*std::move(one));
          }
          if (after.size() != states.size() || !seen.insert(after).second) continue;
          if (all_goal(after)) return length;
          next.push_back(std::move(after));
        }
      }
    }
    layer = std::move(next);
  }
  return 0;
}

// Rooms with keys: some pairs of states have no plan in common, some a longer one than each alone.
constexpr const char* kRooms = R"((define (domain rooms)
  (:requirements :adl :derived-predicates)
  (:constants hall)
  (:predicates (in ?r) (door ?r ?s) (open ?r) (lamp ?r) (bright) (broken))
  (:derived (bright) (exists (?r) (and (in ?r) (lamp ?r))))
  (:action go :parameters (?r ?s) :precondition (and (in ?r) (door ?r ?s) (open ?s)) :effect (and (in ?s) (not (in ?r))))
  (:action unlock :parameters (?r) :precondition (not (open ?r)) :effect (open ?r))
  (:action press :parameters (?r) :precondition (and) :effect (and (when (lamp ?r) (not (lamp ?r))) (when (not (lamp ?r)) (lamp ?r))))
  (:action kick :parameters () :precondition (not (bright)) :effect (broken))
  (:action home :parameters () :precondition (not (broken)) :effect (forall (?r) (when (in ?r) (and (not (in ?r)) (in hall)))))))";
constexpr const char* kRoomsProblem = R"((define (problem rooms-1) (:domain rooms) (:objects cellar attic)
  (:init (in hall) (door hall cellar) (door cellar hall) (door hall attic) (open hall))
  (:goal (and (in attic) (bright) (not (lamp cellar))))))";

TEST(Scene, PlansOfTheProductAreThePlansThatHoldInEveryState) {
  const Scene scene = Scene::load_text(kRooms, kRoomsProblem);
  const std::vector<std::string> loose{"(open cellar)", "(open attic)", "(lamp cellar)", "(lamp attic)", "(broken)"};
  std::map<std::string, int> kinds;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    internal::Random random(seed, 2);
    std::vector<SceneState> states;
    const std::size_t count = 1 + random.below(3);
    for (std::size_t i = 0; i < count; ++i) {
      SceneState state{random.chance(0.5)   ? "(in hall)"
                       : random.chance(0.5) ? "(in cellar)"
                                            : "(in attic)",
                       "(open hall)"};
      for (const std::string& fact : loose) {
        if (random.chance(fact == "(broken)" ? 0.2 : 0.5)) state.push_back(fact);
      }
      std::sort(state.begin(), state.end());
      states.push_back(std::move(state));
    }
    const std::size_t wanted = shortest_by_hand(scene, states, 12);
    const bool already = std::all_of(states.begin(), states.end(), [&](const auto& s) { return scene.is_goal(s); });
    const Task task = scene.at_all(states);
    const auto lookahead = Lookahead::compile(task, {});
    if (wanted == 0 && !already) {
      EXPECT_EQ(lookahead->verdict(), Verdict::kInfeasible) << "seed " << seed;
      ++kinds["none"];
      continue;
    }
    ASSERT_EQ(lookahead->verdict(), Verdict::kSolvable) << "seed " << seed;
    EXPECT_EQ(lookahead->shortest_plan_length(), static_cast<unsigned>(wanted)) << "seed " << seed;
    std::vector<PlanStep> plan;
    for (ActionId action : lookahead->plan()) plan.push_back(task.step(action));
    EXPECT_TRUE(task.validate(plan).valid);
    for (const SceneState& state : states) EXPECT_TRUE(scene.validate(state, plan).valid) << "seed " << seed;
    ++kinds["some"];
  }
  EXPECT_GT(kinds["none"], 2);
  EXPECT_GT(kinds["some"], 10);
}

TEST(Scene, TheSamePlanForTwoBoxes) {
  const Scene scene = tabletop("boxed_tools");
  SceneState other = scene.initial_state();
  for (std::string& fact : other) {
    if (fact == "(inside pliers box_1)") fact = "(inside pliers box_2)";
  }
  std::sort(other.begin(), other.end());
  const std::vector<SceneState> states{scene.initial_state(), other};
  const Task task = scene.at_all(states);
  const auto lookahead = Lookahead::compile(task, {});
  ASSERT_EQ(lookahead->verdict(), Verdict::kSolvable);
  std::vector<PlanStep> plan;
  for (ActionId action : lookahead->plan()) plan.push_back(task.step(action));
  for (const SceneState& state : states) EXPECT_TRUE(scene.validate(state, plan).valid);
}

}  // namespace
}  // namespace metactrl::scene_test
