// Numbers: the engine, in which they are facts, against the reference interpreter, which computes with them; and what
// the lookahead says against brute force over the interpreter's states.
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "pddl/interpret.h"
#include "support/engine_and_interpreter.h"
#include "support/random.h"
#include "support/repeats.h"
#include "task/program.h"

namespace metactrl::numbers_property_test {
namespace {

using pddl::LiftedInterpreter;
using testing::Random;

// Random domains over (f ?x), (g), a constant (h ?x), a predicate and two or three objects. Most numbers are bounded by
// the actions that change them; some have no value at first.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::string domain() {
    std::string out =
        "(define (domain n) (:requirements :adl :numeric-fluents)\n"
        " (:predicates (p ?x) (q))\n (:functions (f ?x) (g) (h ?x) (idle))\n";
    const std::uint32_t actions = 2 + random_.below(3);
    for (std::uint32_t i = 0; i < actions; ++i) out += action(i);
    return out + ")\n";
  }

  std::string problem() {
    std::string out = "(define (problem n) (:domain n) (:objects a b)\n (:init";
    if (one_in(2)) out += " (p a)";
    if (one_in(2)) out += " (q)";
    for (const char* object : {"a", "b"}) {
      if (!one_in(6)) out += " (= (f " + std::string(object) + ") " + number() + ")";
      if (!one_in(6)) out += " (= (h " + std::string(object) + ") " + number() + ")";
    }
    if (!one_in(6)) out += " (= (g) " + number() + ")";
    out += " (= (idle) 0))\n (:goal (and " + condition("a", 1) + " " + condition("b", 1) + ")))\n";
    return out;
  }

 private:
  bool one_in(std::uint32_t count) { return random_.below(count) == 0; }
  std::string number() {
    static const std::vector<std::string> kNumbers = {"0", "1", "2", "3", "4", "0.5", "1.5", "-1"};
    return random_.pick(kNumbers);
  }
  std::string fluent(const std::string& x) {
    switch (random_.below(4)) {
      case 0:
        return "(g)";
      case 1:
        return "(h " + x + ")";
      default:
        return "(f " + x + ")";
    }
  }
  std::string expression(const std::string& x, int depth) {
    if (depth == 0 || one_in(2)) return one_in(2) ? number() : fluent(x);
    static const std::vector<std::string> kOperators = {"+", "-", "*", "/"};
    return "(" + random_.pick(kOperators) + " " + expression(x, depth - 1) + " " + expression(x, depth - 1) + ")";
  }
  std::string comparison(const std::string& x) {
    static const std::vector<std::string> kComparisons = {"<", "<=", "=", ">=", ">"};
    return "(" + random_.pick(kComparisons) + " " + fluent(x) + " " + expression(x, one_in(4) ? 1 : 0) + ")";
  }
  std::string condition(const std::string& x, int depth) {
    if (depth > 0 && one_in(4)) {
      static const std::vector<std::string> kHeads = {"or", "and"};
      return "(" + random_.pick(kHeads) + " " + condition(x, depth - 1) + " " + condition(x, depth - 1) + ")";
    }
    if (depth > 0 && one_in(6)) return "(not " + condition(x, depth - 1) + ")";
    if (depth > 0 && one_in(8)) return "(exists (?z) " + condition("?z", depth - 1) + ")";
    if (one_in(4)) return one_in(2) ? "(p " + x + ")" : "(q)";
    return comparison(x);
  }
  // A change with, mostly, a bound that the precondition keeps.
  std::string change(const std::string& x, std::string& bound) {
    const std::string target = one_in(3) ? "(g)" : "(f " + x + ")";
    static const std::vector<std::string> kSteps = {"1", "2", "0.5", "1.5"};
    const std::string step = random_.pick(kSteps);
    const std::string before = bound;
    const std::string effect = bounded_change(x, target, step, bound);
    if (one_in(12)) bound = before;  // which may have no end
    return effect;
  }
  std::string bounded_change(const std::string& x, const std::string& target, const std::string& step,
                             std::string& bound) {
    switch (random_.below(8)) {
      case 0:
      case 1:
      case 2:
        bound += " (<= " + target + " 3)";
        return "(increase " + target + " " + step + ")";
      case 3:
      case 4:
        bound += " (>= " + target + " 1)";
        return "(decrease " + target + " " + step + ")";
      case 5:
        return "(assign " + target + " " + (one_in(3) ? "(h " + x + ")" : number()) + ")";
      case 6:
        bound += " (<= " + target + " 4)  (>= " + target + " -4)";
        return "(scale-up " + target + " 2)";
      default:
        bound += " (<= " + target + " 3) (>= " + target + " 0)";
        return "(increase " + target + " (h " + x + "))";
    }
  }
  std::string action(std::uint32_t index) {
    std::string bound;
    std::string effects;
    const std::uint32_t count = 1 + random_.below(2);
    for (std::uint32_t i = 0; i < count; ++i) {
      std::string effect = change("?x", bound);
      if (one_in(4)) effect = "(when " + condition("?x", 0) + " " + effect + ")";
      effects += " " + effect;
    }
    if (one_in(6)) effects += " (forall (?y) (when (p ?y) (assign (f ?y) " + number() + ")))";
    if (one_in(3)) effects += one_in(2) ? " (p ?x)" : " (not (p ?x))";
    if (one_in(3)) effects += one_in(2) ? " (q)" : " (not (q))";
    effects += " (increase (idle) 1)";
    return " (:action a" + std::to_string(index) + " :parameters (?x) :precondition (and" + bound +
           (one_in(2) ? " " + condition("?x", 1) : "") + ") :effect (and" + effects + "))\n";
  }

  Random random_;
};

constexpr std::uint64_t kShards = 8;
constexpr std::uint64_t kTasks = testing::repeats(4000);

// Of a task of which not all values are followed: plans are plans, none of at most `cut_depth` actions is lost, and what is
// refuted has none.
void compare_cut(const Task& task, const LiftedInterpreter& interpreter, std::size_t& found) {
  LookaheadOptions options;
  options.horizon = 100;
  const auto lookahead = Lookahead::compile(task, options);
  const std::optional<int> shortest = testing::shortest_interpreted(interpreter, 400);
  const unsigned depth = task.program().definition().cut_depth;
  if (lookahead->verdict() == Verdict::kSolvable) {
    ++found;
    EXPECT_TRUE(task.validate(lookahead->plan()).valid) << task.validate(lookahead->plan()).reason;
  }
  const auto length = lookahead->shortest_plan_length();
  if (shortest && *shortest >= 0) {
    EXPECT_NE(lookahead->verdict(), Verdict::kInfeasible) << lookahead->reason();
    if (static_cast<unsigned>(*shortest) <= depth) {
      EXPECT_EQ(lookahead->plan().size(), static_cast<std::size_t>(*shortest));
    }
    EXPECT_TRUE(!length || *length == static_cast<unsigned>(*shortest));
  } else if (shortest) {
    EXPECT_NE(lookahead->verdict(), Verdict::kSolvable);
  }
}

class RandomNumbers : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomNumbers, EngineAgreesWithReference) {
  std::size_t loaded = 0;
  testing::Decided decided;
  std::size_t endless = 0;  // a number grows without end
  std::size_t found = 0;    // a plan of those
  std::size_t too_large = 0;
  for (const std::uint64_t seed : testing::seeds_of(GetParam(), kShards, kTasks)) {
    Generator generator(seed);
    const std::string domain = generator.domain();
    const std::string problem = generator.problem();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + domain + problem);
    const testing::Loaded text = testing::load_both(domain, problem);
    ASSERT_NE(text.ast, nullptr) << text.refused;
    if (!text.task) {
      ++too_large;
      continue;
    }
    const LiftedInterpreter interpreter(text.ast);
    const Task& task = *text.task;
    if (!task.program().definition().cut.empty()) {
      ++endless;
      compare_cut(task, interpreter, found);
      ASSERT_FALSE(HasFailure());
      continue;
    }
    ++loaded;
    Random random(seed);
    for (int i = 0; i < 6; ++i) testing::walk_both(task, interpreter, 12, random);
    ASSERT_FALSE(HasFailure());
    decided.add(task, interpreter);
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(loaded, kTasks / kShards / 2);
  EXPECT_GT(decided.all, loaded / 2);
  EXPECT_GT(decided.solvable, decided.all / 10);
  EXPECT_GT(endless, 0U);
  EXPECT_GT(found, 0U);
  if (GetParam() < kShards) {
    EXPECT_GT(decided.longer, decided.solvable / 10);
  }
  std::cout << loaded << " loaded, " << endless << " without end (" << found << " with a plan), " << too_large
            << " too large, " << decided.all << " decided, " << decided.solvable << " solvable, " << decided.longer
            << " of them by more than one action\n";
}

INSTANTIATE_TEST_SUITE_P(Shards, RandomNumbers, ::testing::Range<std::uint64_t>(0, kShards));
INSTANTIATE_TEST_SUITE_P(Long, RandomNumbers, ::testing::Range(kShards, 10 * kShards));

}  // namespace
}  // namespace metactrl::numbers_property_test
