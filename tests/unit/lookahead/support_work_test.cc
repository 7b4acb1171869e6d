// What support costs where only witnesses certify it, counted in states that searches looked at; no clock is read.
//
// The task: many things, each of several of them to be brought to a place of its own. The interleavings of the goals
// are far too many to enumerate, and, when no action is to spare, too many to exhaust for a refutation.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "lookahead/adapt.h"
#include "metactrl/domain.h"
#include "metactrl/lookahead.h"
#include "support/random.h"
#include "task/program.h"

namespace metactrl::support_work_test {
namespace {

constexpr const char* kDomain = R"((define (domain errands)
  (:requirements :adl :typing)
  (:types thing place)
  (:predicates (at ?p - place) (in ?t - thing ?p - place) (held ?t - thing) (busy))
  (:action grab :parameters (?t - thing ?p - place) :precondition (and (at ?p) (in ?t ?p) (not (busy)))
    :effect (and (held ?t) (busy) (not (in ?t ?p))))
  (:action put :parameters (?t - thing ?p - place) :precondition (and (at ?p) (held ?t))
    :effect (and (in ?t ?p) (not (held ?t)) (not (busy)))))";
// In PDDL of robots one walks from somewhere, in apartments only to something.
constexpr const char* kWalkFrom =
    "(:action walk :parameters (?from ?to - place) :precondition (at ?from)"
    " :effect (and (not (at ?from)) (at ?to)))";
constexpr const char* kWalkTo =
    "(:action walk :parameters (?to - place) :precondition (not (at ?to))"
    " :effect (and (at ?to) (forall (?p - place) (when (at ?p) (not (at ?p))))))";

// `things` things, thing i at place i; the first `goals` of them have to go to places of their own, thing i to place
// things + i.
Task errands(const std::string& walk, unsigned things, unsigned goals) {
  std::string objects;
  std::string facts = "(at p" + std::to_string(things + goals) + ")";
  std::string wanted;
  for (unsigned i = 0; i <= things + goals; ++i) objects += " p" + std::to_string(i) + " - place";
  for (unsigned i = 0; i < things; ++i) {
    const std::string thing = "t" + std::to_string(i);
    objects += " " + thing + " - thing";
    facts += " (in " + thing + " p" + std::to_string(i) + ")";
    if (i < goals) wanted += " (in " + thing + " p" + std::to_string(things + i) + ")";
  }
  return load_pddl_text(kDomain + walk + ")", "(define (problem errands-1) (:domain errands) (:objects" + objects +
                                                  ") (:init " + facts + ") (:goal (and" + wanted + ")))");
}

LookaheadOptions witness_options(unsigned horizon) {
  LookaheadOptions options;
  options.exact.states = 1'000;
  options.horizon = horizon;
  return options;
}

Budget ample_work() {
  Budget budget = SupportOptions{}.candidates;
  budget.work = ~std::uint64_t{0};
  return budget;
}

// A writer that takes any action that is allowed, all the way to the goal.
class Wanderer {
 public:
  explicit Wanderer(const Task& task, const Budget& budget = ample_work())
      : task_(task),
        budget_(budget),
        lookahead_(Lookahead::compile(task, witness_options(30))),
        support_(lookahead_, {.candidates = budget}) {}

  const Lookahead& lookahead() const { return *lookahead_; }

  void run(std::uint64_t seed) {
    testing::Random random(seed);
    State state = task_.initial_state();
    for (unsigned left = lookahead_->horizon(); left > 0 && !task_.is_goal(state); --left) {
      const std::size_t before = support_.states_searched();
      const std::vector<Candidate> candidates = support_.candidates(state, left);
      // The states of the searches, one for each h_max, and a few where a search ends in the middle of a plan.
      EXPECT_LE(support_.states_searched() - before, budget_.states + 8 * candidates.size());
      // What was passed over is not searched for again; what was found for others may help it.
      const std::size_t asked = support_.states_searched();
      const std::vector<Candidate> again = support_.candidates(state, left);
      EXPECT_EQ(support_.states_searched(), asked);

      std::vector<ActionId> allowed;
      for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (candidates[i].answer != Answer::kUnknown) {
          EXPECT_EQ(again[i].answer, candidates[i].answer);
        }
        if (candidates[i].answer == Answer::kYes) allowed.push_back(candidates[i].action);
      }
      ASSERT_FALSE(allowed.empty());
      const std::optional<std::vector<ActionId>> plan = support_.plan(state, left);
      ASSERT_TRUE(plan);
      if (plan->size() == left) {
        ++tight_;
        choices_ += allowed.size();
      }
      state = *task_.apply(state, allowed[random.below(allowed.size())]);
    }
    EXPECT_TRUE(task_.is_goal(state));
  }

  std::size_t states_searched() const { return support_.states_searched(); }
  std::size_t tight() const { return tight_; }      // questions with no action to spare
  std::size_t choices() const { return choices_; }  // actions that were allowed there, all together

 private:
  const Task& task_;
  Budget budget_;
  std::shared_ptr<const Lookahead> lookahead_;
  Support support_;
  std::size_t tight_ = 0;
  std::size_t choices_ = 0;
};

TEST(SupportWork, IsBoundedForEveryQuestion) {
  const Task task = errands(kWalkTo, 8, 6);
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Wanderer wanderer(task);
    ASSERT_EQ(wanderer.lookahead().tier(), Lookahead::Tier::kWitness);
    wanderer.run(seed);
    EXPECT_GT(wanderer.tight(), 5U);
  }
}

// Where two errands are left and one is neither begun nor done, either may be next.
void expect_free_order(const std::string& walk) {
  const Task task = errands(walk, 8, 6);
  std::size_t tight = 0;
  std::size_t choices = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    Budget budget = ample_work();
    budget.states = 0;
    Wanderer wanderer(task, budget);
    wanderer.run(seed);
    tight += wanderer.tight();
    choices += wanderer.choices();
  }
  EXPECT_GT(tight, 50U);
  // Every fourth question is between two errands, and has several answers.
  EXPECT_GT(choices, tight + tight / 3);
}

TEST(SupportWork, OrderStaysFreeWithoutSearch) { expect_free_order(kWalkTo); }
TEST(SupportWork, OrderStaysFreeWithoutSearchFromPlaceToPlace) { expect_free_order(kWalkFrom); }

TEST(SupportWork, WorkThatIsSpentLeavesTheWitness) {
  const Task task = errands(kWalkTo, 8, 6);
  Budget budget = ample_work();
  budget.work = 0;
  Wanderer wanderer(task, budget);
  wanderer.run(1);
  EXPECT_EQ(wanderer.states_searched(), 0U);
}

TEST(SupportWork, CopiesGoOnCounting) {
  const Task task = errands(kWalkTo, 8, 6);
  const auto lookahead = Lookahead::compile(task, witness_options(24));
  Support support(lookahead, {.candidates = ample_work()});
  support.candidates(task.initial_state(), static_cast<unsigned>(lookahead->plan().size()));
  EXPECT_GT(support.states_searched(), 0U);
  const Support copy(support);
  EXPECT_EQ(copy.states_searched(), support.states_searched());
}

// --- plans made to fit -----------------------------------------------------------------------------------------------

class AdaptedPlans : public ::testing::Test {
 protected:
  ActionId action(const std::string& text) const {
    for (const ActionId a : internal::ids<ActionId>(task_.num_actions())) {
      if (task_.text(a) == text) return a;
    }
    ADD_FAILURE() << "there is no action " << text;
    return ActionId{0};
  }

  std::vector<ActionId> plan(const std::vector<std::string>& texts) const {
    std::vector<ActionId> result;
    for (const std::string& text : texts) result.push_back(action(text));
    return result;
  }

  // The plan that was made to fit behind `taken`, as texts; empty when none was.
  std::vector<std::string> adapted(const std::string& taken, const std::vector<std::string>& texts,
                                   unsigned max_length) {
    const State state = *task_.apply(task_.initial_state(), ActionId{action(taken)});
    std::vector<task::Word> words(state.words().begin(), state.words().end());
    task_.program().project(words.data());
    lookahead::PlanAdapter adapter(task_.program());
    std::vector<std::string> result;
    if (!adapter.adapt(words.data(), action(taken), plan(texts), max_length)) return result;
    for (const ActionId a : adapter.result()) result.push_back(task_.text(a));
    return result;
  }

  const Task task_ = errands(kWalkFrom, 2, 2);
  // t0 goes from p0 to p2, t1 from p1 to p3.
  const std::vector<std::string> first_ = {"(walk p4 p0)", "(grab t0 p0)", "(walk p0 p2)", "(put t0 p2)"};
  const std::vector<std::string> second_ = {"(walk p2 p1)", "(grab t1 p1)", "(walk p1 p3)", "(put t1 p3)"};

  static std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
};

TEST_F(AdaptedPlans, LeaveOutWhatIsDoneAlready) {
  const std::vector<std::string> witness = joined(first_, second_);
  EXPECT_EQ(adapted("(walk p4 p0)", witness, 7), std::vector<std::string>(witness.begin() + 1, witness.end()));
}

TEST_F(AdaptedPlans, AreNotLongerThanAskedFor) {
  const std::vector<std::string> witness = joined(first_, second_);
  EXPECT_TRUE(adapted("(walk p4 p4)", witness, 7).empty());
  EXPECT_EQ(adapted("(walk p4 p4)", witness, 8), witness);
}

TEST_F(AdaptedPlans, DoFirstWhatWasPlannedBehindTheAction) {
  // Second first: (walk p4 p1) instead of (walk p2 p1), and later (walk p3 p0) instead of (walk p4 p0).
  EXPECT_EQ(adapted("(walk p4 p1)", joined(first_, second_), 7),
            (std::vector<std::string>{"(grab t1 p1)", "(walk p1 p3)", "(put t1 p3)", "(walk p3 p0)", "(grab t0 p0)",
                                      "(walk p0 p2)", "(put t0 p2)"}));
}

TEST_F(AdaptedPlans, SwapObjects) {
  // By way of p1 was planned; now it is by way of p3.
  const std::vector<std::string> by_way = {"(walk p4 p1)", "(walk p1 p0)", "(grab t0 p0)", "(walk p0 p2)",
                                           "(put t0 p2)"};
  EXPECT_EQ(adapted("(walk p4 p3)", joined(by_way, second_), 8),
            joined({"(walk p3 p0)", "(grab t0 p0)", "(walk p0 p2)", "(put t0 p2)"}, second_));
}

TEST_F(AdaptedPlans, ThatDoNotFitAreNone) { EXPECT_TRUE(adapted("(walk p4 p3)", {"(put t0 p2)"}, 40).empty()); }

}  // namespace
}  // namespace metactrl::support_work_test
