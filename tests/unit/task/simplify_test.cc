#include "task/simplify.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/random.h"
#include "support/random_definition.h"
#include "support/small_definition.h"

namespace metactrl::task::simplify_test {
namespace {

using testing::matching;
using testing::negative;
using testing::PlainState;
using testing::positive;
using testing::Random;
using testing::SmallDefinition;
using testing::yes;

std::vector<std::string> fact_names(const Definition& definition) {
  std::vector<std::string> names;
  for (const FactId f : definition.facts.all()) names.push_back(fact_text(definition, f));
  return names;
}

std::vector<std::string> action_texts(const Definition& definition) {
  std::vector<std::string> names;
  for (const ActionId a : definition.actions.all()) names.push_back(action_text(definition, a));
  return names;
}

using Names = std::vector<std::string>;

TEST(Simplify, KeepsActionsThatChangeNothing) {
  SmallDefinition d;
  const auto p = d.fact("p", false);
  d.action("set", yes(), {{yes(), {p}, {}}});
  d.action("look", yes(), {});
  d.action("look-again", yes(), {{yes(), {}, {}}});
  d.goal(positive(p));
  const Definition simple = simplify(d.take());
  EXPECT_EQ(action_texts(simple), (Names{"(set)", "(look)", "(look-again)"}));
  EXPECT_TRUE(simple.actions[ActionId{1}].effects.empty());
  EXPECT_TRUE(simple.actions[ActionId{2}].effects.empty());
}

TEST(Simplify, FoldsFactsThatNeverChange) {
  SmallDefinition d;
  const auto yes_fact = d.fact("always-true", true);
  const auto no_fact = d.fact("always-false", false);
  const auto p = d.fact("p", false);
  d.action("set", make_and({positive(yes_fact), negative(no_fact)}), {{yes(), {p}, {}}});
  d.action("never", positive(no_fact), {{yes(), {p}, {}}});
  d.action("never-either", make_and({positive(p), negative(yes_fact)}), {{yes(), {}, {p}}});
  d.goal(make_or({positive(no_fact), positive(p)}));
  const Definition simple = simplify(d.take());
  EXPECT_EQ(fact_names(simple), (Names{"(p)"}));
  EXPECT_EQ(action_texts(simple), (Names{"(set)"}));
  EXPECT_TRUE(simple.actions[ActionId{0}].precondition.is_true());
  EXPECT_EQ(simple.goals[0].condition.kind, Formula::Kind::kLiteral);
  // The domain still declares them.
  EXPECT_EQ(simple.action_names.size(), 3U);
}

TEST(Simplify, FollowsChainsOfWhatIsPossible) {
  SmallDefinition d;
  const auto a = d.fact("a", false);
  const auto b = d.fact("b", false);
  const auto c = d.fact("c", false);
  const auto unreachable = d.fact("unreachable", false);
  d.action("make-c", positive(b), {{yes(), {c}, {}}});
  d.action("make-b", positive(a), {{yes(), {b}, {}}});
  d.action("make-a", yes(), {{yes(), {a}, {}}});
  d.action("circle", positive(unreachable), {{yes(), {unreachable}, {}}});
  d.goal(positive(c));
  const Definition simple = simplify(d.take());
  EXPECT_EQ(fact_names(simple), (Names{"(a)", "(b)", "(c)"}));
  EXPECT_EQ(action_texts(simple), (Names{"(make-c)", "(make-b)", "(make-a)"}));
}

TEST(Simplify, DropsEffectsThatNeverFireAndUnconditionsThoseThatAlwaysDo) {
  SmallDefinition d;
  const auto yes_fact = d.fact("always-true", true);
  const auto no_fact = d.fact("always-false", false);
  const auto p = d.fact("p", false);
  const auto q = d.fact("q", false);
  d.action("a", yes(), {{positive(no_fact), {}, {p}}, {positive(yes_fact), {p}, {}}, {positive(p), {q}, {}}});
  d.goal(positive(q));
  const Definition simple = simplify(d.take());
  ASSERT_EQ(simple.actions[ActionId{0}].effects.size(), 2U);
  EXPECT_TRUE(simple.actions[ActionId{0}].effects[0].when.is_true());
  EXPECT_EQ(simple.actions[ActionId{0}].effects[1].when.kind, Formula::Kind::kLiteral);
}

TEST(Simplify, ADeleteThatIsAlwaysUndoneDoesNotMakeAFactVary) {
  SmallDefinition d;
  const auto channel = d.fact("channel-free", true);
  const auto told = d.fact("told", false);
  d.action("tell", positive(channel), {{yes(), {channel, told}, {channel}}});
  d.goal(positive(told));
  const Definition simple = simplify(d.take());
  EXPECT_EQ(fact_names(simple), (Names{"(told)"}));
  EXPECT_TRUE(simple.actions[ActionId{0}].precondition.is_true());
}

TEST(Simplify, ADeleteThatIsSometimesUndoneStays) {
  SmallDefinition d;
  const auto p = d.fact("p", true);
  const auto q = d.fact("q", false);
  d.action("a", yes(), {{yes(), {q}, {p}}, {positive(q), {p}, {}}});
  d.goal(negative(p));
  const Definition simple = simplify(d.take());
  EXPECT_EQ(fact_names(simple), (Names{"(p)", "(q)"}));
}

TEST(Simplify, RenumbersTheStepsOfActionGoals) {
  SmallDefinition d;
  const auto p = d.fact("p", false);
  const auto no_fact = d.fact("always-false", false);
  const auto never = d.action("never", positive(no_fact), {});
  const auto set = d.action("set", yes(), {{yes(), {p}, {}}});
  const auto look = d.action("look", yes(), {});
  d.actions_in_order({{never, set}, {look}, {never}});
  d.goal(positive(p));
  const Definition simple = simplify(d.take());
  const std::vector<std::vector<ActionId>> expected{{ActionId{0}}, {ActionId{1}}, {}};
  EXPECT_EQ(simple.monitors[0].steps, expected);
}

TEST(Simplify, FoldsDerivedFactsThatCannotHold) {
  SmallDefinition d;
  const auto p = d.fact("p", false);
  const auto no_fact = d.fact("always-false", false);
  const auto can = d.derived("can", 0);
  const auto cannot = d.derived("cannot", 0);
  d.axiom(can, positive(p));
  d.axiom(can, positive(cannot));
  d.axiom(cannot, positive(no_fact));
  d.axiom(cannot, positive(cannot));
  d.action("set", negative(cannot), {{yes(), {p}, {}}});
  d.goal(positive(can));
  const Definition simple = simplify(d.take());
  EXPECT_EQ(fact_names(simple), (Names{"(p)", "(can)"}));
  EXPECT_EQ(simple.axioms.size(), 1U);
  EXPECT_TRUE(simple.actions[ActionId{0}].precondition.is_true());
}

TEST(Simplify, FoldsInsideCountingConditions) {
  SmallDefinition d;
  const auto yes_fact = d.fact("always-true", true);
  const auto p = d.fact("p", false);
  const auto q = d.fact("q", false);
  d.action("p", yes(), {{yes(), {p}, {}}});
  d.action("q", yes(), {{yes(), {q}, {}}});
  d.goal(make_at_least(2, {positive(yes_fact), positive(p), positive(q)}));
  d.goal(matching(2, 2, {positive(yes_fact), positive(p), positive(q), positive(yes_fact)}));
  const Definition simple = simplify(d.take());
  EXPECT_EQ(simple.goals[0].condition.kind, Formula::Kind::kOr);  // one of p, q
  const Formula& pairs = simple.goals[1].condition;
  ASSERT_EQ(pairs.kind, Formula::Kind::kMatching);
  EXPECT_TRUE(pairs.children[0].is_true());
  EXPECT_TRUE(pairs.children[3].is_true());
}

// Names of the facts that hold.
std::set<std::string> holding(const Definition& definition, const PlainState& state) {
  std::set<std::string> names;
  for (const FactId f : definition.facts.all()) {
    if (state.facts[f]) names.insert(fact_text(definition, f));
  }
  return names;
}

// Walks through both tasks at once: the same steps are legal, lead to the same facts, and reach the goal at the same
// time.
TEST(Simplify, PreservesLegalPlansAndGoals) {
  std::size_t steps = 0;
  std::size_t removed = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE(seed);
    const Definition original = testing::random_definition(seed);
    const Definition simple = simplify(original);
    removed += original.facts.size() - simple.facts.size() + original.actions.size() - simple.actions.size();
    // Each action has a name of its own.
    IdVector<ActionNameId, std::optional<ActionId>> in_simple(original.actions.size());
    for (const ActionId a : simple.actions.all()) in_simple[simple.actions[a].symbol.name] = a;
    std::optional<PlainState> state = testing::plain_initial(original);
    std::optional<PlainState> twin = testing::plain_initial(simple);
    ASSERT_EQ(state.has_value(), twin.has_value());
    Random random(seed);
    for (int step = 0; state && step < 25; ++step) {
      ASSERT_EQ(plain_goal(original, *state), plain_goal(simple, *twin));
      const std::set<std::string> all = holding(original, *state);
      const std::set<std::string> some = holding(simple, *twin);
      ASSERT_TRUE(std::includes(all.begin(), all.end(), some.begin(), some.end()));
      const ActionId action{random.below(original.actions.size())};
      const std::optional<PlainState> next = plain_apply(original, *state, action);
      std::optional<PlainState> twin_next;
      if (const std::optional<ActionId> same = in_simple[original.actions[action].symbol.name]) {
        twin_next = plain_apply(simple, *twin, *same);
      }
      ASSERT_EQ(next.has_value(), twin_next.has_value());
      if (!next) continue;
      state = next;
      twin = twin_next;
      ++steps;
    }
  }
  EXPECT_GT(steps, 5000U);
  EXPECT_GT(removed, 500U);
}

// Whether facts are numbered in the order in which they can come about or the other way round, the same is left.
TEST(Simplify, DoesNotDependOnTheNumbersOfFacts) {
  std::size_t removed = 0;
  std::size_t kept = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const std::uint32_t count = random.between(3, 12);
    const bool gaps = random.chance(40);  // some facts cannot come about
    SmallDefinition forwards;
    SmallDefinition backwards;
    std::vector<bool> init;
    for (std::uint32_t f = 0; f < count; ++f) {
      init.push_back(f == 0 || random.chance(20));
      forwards.fact("f" + std::to_string(f), init.back());
    }
    for (std::uint32_t f = count; f-- > 0;) backwards.fact("f" + std::to_string(f), init[f]);
    const auto add = [&](const std::string& name, const std::vector<std::uint32_t>& needed, bool unless,
                         std::uint32_t added, std::optional<std::uint32_t> deleted) {
      const auto build = [&](SmallDefinition& definition, const auto& number) {
        std::vector<Formula> parts;
        for (const std::uint32_t f : needed) parts.push_back(positive(number(f)));
        if (unless) parts.push_back(negative(number(added)));
        std::vector<FactId> del;
        if (deleted) del.push_back(FactId{number(*deleted)});
        definition.action(name, make_and(std::move(parts)), {{yes(), {FactId{number(added)}}, std::move(del)}});
      };
      build(forwards, [](std::uint32_t f) { return f; });
      build(backwards, [&](std::uint32_t f) { return count - 1 - f; });
    };
    for (std::uint32_t f = 1; f < count; ++f) {
      if (gaps && random.chance(15)) continue;
      std::vector<std::uint32_t> needed;
      for (std::uint32_t i = 0; i < random.between(0, 3); ++i) needed.push_back(random.below(f));
      add("a" + std::to_string(f), needed, !init[f] && random.chance(30), f,
          random.chance(30) ? std::optional(random.below(count)) : std::nullopt);
    }
    add("back", {count - 1}, false, 0, std::nullopt);
    forwards.goal(positive(count - 1));
    backwards.goal(positive(0U));
    const Definition one = simplify(forwards.take());
    const Definition other = simplify(backwards.take());
    Names reversed = fact_names(other);
    std::reverse(reversed.begin(), reversed.end());
    ASSERT_EQ(fact_names(one), reversed);
    ASSERT_EQ(action_texts(one), action_texts(other));
    for (const ActionId a : one.actions.all()) {
      const auto literals = [](const Definition& definition, const Formula& formula) {
        std::multiset<std::string> result;
        for_each_literal(formula, [&](FactId fact, bool negated) {
          result.insert((negated ? "not " : "") + fact_text(definition, fact));
        });
        return result;
      };
      ASSERT_EQ(literals(one, one.actions[a].precondition), literals(other, other.actions[a].precondition));
      ASSERT_EQ(one.actions[a].effects.size(), other.actions[a].effects.size());
    }
    removed += count - one.facts.size();
    kept += one.facts.size();
  }
  EXPECT_GT(removed, 1000U);
  EXPECT_GT(kept, 5000U);
}

}  // namespace
}  // namespace metactrl::task::simplify_test
