// Support against brute force, on random ground tasks and random PDDL.
//
// Brute force enumerates the full state space by Task::apply alone and computes goal distances backwards. It knows
// nothing of goal relevance, tiers, heuristics or caches, so agreement covers all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lookahead/belief.h"
#include "lookahead/data.h"
#include "metactrl/domain.h"
#include "metactrl/lookahead.h"
#include "support/random.h"
#include "support/random_definition.h"
#include "support/random_pddl.h"
#include "support/repeats.h"
#include "task/compile.h"
#include "task/reference.h"

namespace metactrl::support_property_test {
namespace {

using testing::PddlText;
using testing::Random;

constexpr std::uint64_t kShards = 4;
constexpr std::uint64_t kTasks = testing::repeats(2000);  // of each source
constexpr std::size_t kMaxStates = 1500;
constexpr std::size_t kSampledStates = 14;
constexpr std::size_t kAllStates = 64;
constexpr unsigned kMaxLeft = 6;
constexpr unsigned kNever = std::numeric_limits<unsigned>::max();

struct Edge {
  ActionId action;
  std::size_t target;
};

struct BruteForce {
  std::vector<State> states;
  std::vector<std::vector<Edge>> edges;
  std::vector<unsigned> distance;
};

// Nothing when there are too many states.
std::optional<BruteForce> explore(const Task& task) {
  BruteForce out;
  std::map<std::vector<std::uint64_t>, std::size_t> ids;
  const auto intern = [&](const State& state) {
    const auto [place, fresh] =
        ids.emplace(std::vector<std::uint64_t>(state.words().begin(), state.words().end()), out.states.size());
    if (fresh) out.states.push_back(state);
    return place->second;
  };
  intern(task.initial_state());
  std::vector<std::vector<std::size_t>> predecessors;
  for (std::size_t i = 0; i < out.states.size(); ++i) {
    if (out.states.size() > kMaxStates) return std::nullopt;
    out.edges.emplace_back();
    for (std::uint32_t a = 0; a < task.num_actions(); ++a) {
      const std::optional<State> next = task.apply(out.states[i], ActionId{a});
      if (!next) continue;
      const std::size_t target = intern(*next);
      out.edges[i].push_back({ActionId{a}, target});
      predecessors.resize(out.states.size());
      predecessors[target].push_back(i);
    }
  }
  predecessors.resize(out.states.size());
  out.distance.assign(out.states.size(), kNever);
  std::deque<std::size_t> queue;
  for (std::size_t i = 0; i < out.states.size(); ++i) {
    if (!task.is_goal(out.states[i])) continue;
    out.distance[i] = 0;
    queue.push_back(i);
  }
  for (; !queue.empty(); queue.pop_front()) {
    for (const std::size_t p : predecessors[queue.front()]) {
      if (out.distance[p] != kNever) continue;
      out.distance[p] = out.distance[queue.front()] + 1;
      queue.push_back(p);
    }
  }
  return out;
}

// How a lookahead is asked to work.
struct Mode {
  const char* name;
  std::size_t exact_states;
  std::size_t search_states;
  std::size_t candidate_states;
  std::uint64_t candidate_work;
  // Of all actions that may be taken, so many in a hundred must be answered with yes, of ground tasks and of PDDL. Less
  // than 100: it may give up.
  unsigned yes_of_ground = 100;
  unsigned yes_of_pddl = 100;
  bool large = false;

  bool may_give_up() const { return yes_of_ground < 100; }
};

constexpr std::uint64_t kAmpleWork = 1'000'000'000'000;

constexpr Mode kModes[] = {
    {"tier A", 100'000, 100'000, 100'000, kAmpleWork},
    {"tier A, no search", 100'000, 0, 0, kAmpleWork},
    {"tier A without room", 0, 100'000, 100'000, kAmpleWork},
    {"tier B", 1, 100'000, 100'000, kAmpleWork},
    {"a cone", 12, 100'000, 100'000, kAmpleWork},
    {"hardly any budget", 1, 3, 3, kAmpleWork, 95, 97},
    {"a small budget", 4, 20, 20, kAmpleWork, 99, 99},
    {"few states for candidates", 1, 100'000, 6, kAmpleWork, 99, 99},
    {"no work for candidates", 1, 100'000, 100'000, 0, 95, 94},
    {"little work for candidates", 1, 100'000, 100'000, 3'000, 97, 95},
    {"as in a large task", 1, 100'000, 100'000, kAmpleWork, 99, 99, true},
    {"as in a large task, few states for candidates", 1, 100'000, 6, kAmpleWork, 98, 98, true},
};
constexpr std::size_t kNumModes = std::size(kModes);

struct Answers {
  std::size_t yes = 0;  // true ones
  std::size_t no = 0;
  std::size_t unknown = 0;
  std::size_t unknown_yes = 0;  // of `unknown`: it may be taken

  Answers& operator+=(const Answers& other) {
    yes += other.yes;
    no += other.no;
    unknown += other.unknown;
    unknown_yes += other.unknown_yes;
    return *this;
  }
};

class Checker {
 public:
  Checker(const Task& task, const BruteForce& truth, std::uint64_t seed) : task_(task), truth_(truth), random_(seed) {}

  void check(const Mode& mode) {
    SCOPED_TRACE(mode.name);
    LookaheadOptions options;
    options.exact = {mode.exact_states, std::size_t{1} << 30};
    options.search = {mode.search_states, std::size_t{1} << 30};
    options.horizon = random_.chance(50) ? 40 : random_.below(8);
    options.fixed_horizon = random_.chance(30);
    options.fitted_horizon = !options.fixed_horizon && random_.chance(40);
    options.slack = random_.below(5);
    options.weights = random_.chance(85);
    if (mode.large) options.large_task = 0;
    const auto lookahead = Lookahead::compile(task_, options);
    check_verdict(mode, options, *lookahead);
    check_horizon(options, *lookahead);
    exact_ = lookahead->tier() == Lookahead::Tier::kExact;
    const Budget candidates{mode.candidate_states, std::size_t{1} << 30, mode.candidate_work};
    Support support(lookahead, {.candidates = candidates, .idle_steps = true});
    // Questions in any order, so that what is remembered from one is used for others.
    for (std::size_t i = 0; i < kSampledStates; ++i) {
      const std::size_t state = i == 0 ? 0 : random_.below(truth_.states.size());
      if (i % 2 == 0) {
        for (unsigned left = 0; left <= kMaxLeft; ++left) ask(mode, options, support, state, left);
      } else {
        for (unsigned left = kMaxLeft + 1; left-- > 0;) ask(mode, options, support, state, left);
      }
    }
    // Then, where they are few, every boundary that a plan could come to.
    if (truth_.states.size() > kAllStates) return;
    for (std::size_t state = 0; state < truth_.states.size(); ++state) {
      for (unsigned left = 0; left <= kMaxLeft; ++left) expect_answers(mode, support, state, left);
    }
  }

  // Since it was asked last.
  Answers take_answers() { return std::exchange(answers_, {}); }

 private:
  void check_verdict(const Mode& mode, const LookaheadOptions& options, const Lookahead& lookahead) {
    const unsigned shortest = truth_.distance[0];
    const bool solvable = shortest != kNever && (!options.fixed_horizon || shortest <= options.horizon);
    if (lookahead.verdict() == Verdict::kUndecided) {
      EXPECT_TRUE(mode.may_give_up());
      EXPECT_NE(lookahead.reason().find("limit"), std::string::npos) << lookahead.reason();
    } else {
      EXPECT_EQ(lookahead.verdict(), solvable ? Verdict::kSolvable : Verdict::kInfeasible) << lookahead.reason();
    }
    EXPECT_FALSE(lookahead.reason().empty());
    if (lookahead.shortest_plan_length()) {
      EXPECT_EQ(*lookahead.shortest_plan_length(), shortest);
    }
    if (lookahead.verdict() == Verdict::kSolvable) {
      EXPECT_TRUE(task_.validate(lookahead.plan()).valid);
      EXPECT_LE(lookahead.plan().size(), lookahead.horizon());
    }
    // A goal that is out of reach holds in no reachable state, and is named once.
    EXPECT_EQ(std::set<GoalId>(lookahead.unreachable_goals().begin(), lookahead.unreachable_goals().end()).size(),
              lookahead.unreachable_goals().size());
    for (const GoalId goal : lookahead.unreachable_goals()) {
      for (const State& state : truth_.states) {
        const std::vector<GoalId> unmet = task_.unmet_goals(state);
        EXPECT_TRUE(std::find(unmet.begin(), unmet.end(), goal) != unmet.end()) << task_.goal_text(goal);
      }
    }
  }

  void check_horizon(const LookaheadOptions& options, const Lookahead& lookahead) {
    switch (lookahead.data().horizon_rule) {
      case ::metactrl::lookahead::HorizonRule::kAsAsked:
        EXPECT_EQ(lookahead.horizon(), options.horizon);
        break;
      case ::metactrl::lookahead::HorizonRule::kGrown:
        EXPECT_FALSE(options.fixed_horizon);
        EXPECT_GT(lookahead.plan().size(), options.horizon);
        EXPECT_EQ(lookahead.horizon(), lookahead.plan().size() + *options.slack);
        break;
      case ::metactrl::lookahead::HorizonRule::kFitted:
        EXPECT_TRUE(options.fitted_horizon);
        EXPECT_EQ(lookahead.horizon(), lookahead.plan().size() + *options.slack);
        break;
      case ::metactrl::lookahead::HorizonRule::kShortestPlusSlack:
        EXPECT_FALSE(options.fixed_horizon);
        EXPECT_GE(lookahead.horizon(), truth_.distance[0] + *options.slack);
        EXPECT_LT(lookahead.horizon(), std::max<std::size_t>(options.horizon, truth_.distance[0] + *options.slack));
        break;
    }
    if (options.fixed_horizon) {
      EXPECT_EQ(lookahead.horizon(), options.horizon);
    }
  }

  bool reaches(std::size_t state, unsigned left) const { return truth_.distance[state] <= left; }

  // Compares an answer with the truth.
  void expect_answer(const Mode& mode, Answer answer, bool truth) {
    if (answer == Answer::kUnknown) {
      ++answers_.unknown;
      answers_.unknown_yes += truth ? 1 : 0;
      EXPECT_TRUE(mode.may_give_up());
      return;
    }
    ++(truth ? answers_.yes : answers_.no);
    EXPECT_EQ(answer, truth ? Answer::kYes : Answer::kNo);
  }

  void expect_answers(const Mode& mode, Support& support, std::size_t id, unsigned left) {
    SCOPED_TRACE("state " + std::to_string(id) + ", " + std::to_string(left) + " left");
    const std::vector<Candidate> candidates = support.candidates(truth_.states[id], left);
    ASSERT_EQ(candidates.size(), truth_.edges[id].size());
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const Edge& edge = truth_.edges[id][i];
      expect_answer(mode, candidates[i].answer, left > 0 && reaches(edge.target, left - 1));
    }
  }

  void ask(const Mode& mode, const LookaheadOptions& options, Support& support, std::size_t id, unsigned left) {
    SCOPED_TRACE("state " + std::to_string(id) + ", " + std::to_string(left) + " left");
    const State& state = truth_.states[id];
    std::optional<std::vector<ActionId>> plan;
    if (random_.chance(50)) plan = ask_plan(mode, support, id, left);
    if (random_.chance(50)) ask_go_on(mode, options, support, id, left);
    for (const Edge& edge : truth_.edges[id]) {
      const bool truth = left > 0 && reaches(edge.target, left - 1);
      if (random_.chance(60)) expect_answer(mode, support.may(state, edge.action, left), truth);
    }
    const std::vector<Candidate> candidates = support.candidates(state, left);
    ASSERT_EQ(candidates.size(), truth_.edges[id].size());
    check_invariant(plan, candidates);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const Edge& edge = truth_.edges[id][i];
      const Candidate& candidate = candidates[i];
      ASSERT_EQ(candidate.action, edge.action);
      const bool truth = left > 0 && reaches(edge.target, left - 1);
      expect_answer(mode, candidate.answer, truth);
      if (candidate.answer == Answer::kYes) {
        EXPECT_LT(candidate.remaining, left);
        EXPECT_GE(candidate.remaining, truth_.distance[edge.target]);
      }
      if (options.weights) {
        EXPECT_EQ(std::isfinite(candidate.log_weight), candidate.answer == Answer::kYes);
      }
      if (options.weights) {
        EXPECT_LT(candidate.log_weight, 0);
      }
    }
  }

  // Where a plan is known, its first action is allowed: whatever the budget, a way stays open.
  static void check_invariant(const std::optional<std::vector<ActionId>>& plan,
                              const std::vector<Candidate>& candidates) {
    if (!plan || plan->empty()) return;
    const auto first = std::find_if(candidates.begin(), candidates.end(),
                                    [&](const Candidate& candidate) { return candidate.action == plan->front(); });
    ASSERT_NE(first, candidates.end());
    EXPECT_EQ(first->answer, Answer::kYes);
  }

  void ask_go_on(const Mode& mode, const LookaheadOptions& options, Support& support, std::size_t id, unsigned left) {
    bool truth = false;
    for (const Edge& edge : truth_.edges[id]) truth = truth || (left > 0 && reaches(edge.target, left - 1));
    const lookahead::GoOn go_on = lookahead::go_on(support, truth_.states[id], left);
    expect_answer(mode, go_on.answer, truth);
    if (!options.weights) return;
    EXPECT_EQ(std::isfinite(go_on.log_weight), go_on.answer == Answer::kYes);
    if (go_on.answer == Answer::kYes && exact_) {
      EXPECT_NEAR(go_on.log_weight, sum_of_candidates(support, id, left), 1e-9);
    }
  }

  // The sum that GoOn documents, from the candidates.
  double sum_of_candidates(Support& support, std::size_t id, unsigned left) {
    const double log_alphabet = std::log(static_cast<double>(task_.num_action_names() + task_.num_objects() + 1));
    double sums[2] = {0, 0};  // of irrelevant and of relevant actions
    for (const Candidate& candidate : support.candidates(truth_.states[id], left)) {
      if (candidate.answer != Answer::kYes) continue;
      const auto symbols = static_cast<double>(1 + task_.arguments(candidate.action).size());
      const bool relevant = task_.program().action(candidate.action).relevant;
      sums[relevant ? 1 : 0] += std::exp(candidate.log_weight - symbols * log_alphabet);
    }
    return std::log(sums[1] > 0 ? sums[1] : sums[0]);
  }

  std::optional<std::vector<ActionId>> ask_plan(const Mode& mode, Support& support, std::size_t id, unsigned left) {
    const std::optional<std::vector<ActionId>> plan = support.plan(truth_.states[id], left);
    if (!mode.may_give_up()) {
      EXPECT_EQ(plan.has_value(), reaches(id, left));
    }
    const double weight = support.log_weight(truth_.states[id], left);
    EXPECT_EQ(std::isfinite(weight), plan.has_value());
    if (!plan) return plan;
    EXPECT_LE(plan->size(), left);
    State state = truth_.states[id];
    for (const ActionId action : *plan) {
      const std::optional<State> next = task_.apply(state, action);
      EXPECT_TRUE(next) << task_.text(action);
      if (!next) return std::nullopt;
      state = *next;
    }
    EXPECT_TRUE(task_.is_goal(state));
    if (id == 0) {
      EXPECT_TRUE(task_.validate(*plan).valid);
    }
    return plan;
  }

  const Task& task_;
  const BruteForce& truth_;
  Random random_;
  bool exact_ = false;
  Answers answers_;
};

struct Totals {
  std::size_t tasks = 0;
  Answers by_mode[kNumModes];

  Answers all() const {
    Answers sum;
    for (const Answers& answers : by_mode) sum += answers;
    return sum;
  }
};

void check_task(const Task& task, std::uint64_t seed, Totals& totals) {
  if (task.initially_violated()) {
    EXPECT_EQ(Lookahead::compile(task, {})->verdict(), Verdict::kInfeasible);
    return;
  }
  const std::optional<BruteForce> truth = explore(task);
  if (!truth) return;
  ++totals.tasks;
  Checker checker(task, *truth, seed);
  for (std::size_t i = 0; i < kNumModes; ++i) {
    checker.check(kModes[i]);
    totals.by_mode[i] += checker.take_answers();
  }
}

// Support on demand is not worth its name where it knows the first action of one plan and nothing else.
void expect_enough(const Totals& totals, unsigned Mode::*least) {
  for (std::size_t i = 0; i < kNumModes; ++i) {
    const Answers& answers = totals.by_mode[i];
    const auto percent =
        100.0 * static_cast<double>(answers.yes) / static_cast<double>(answers.yes + answers.unknown_yes);
    std::cout << kModes[i].name << ": " << percent << " % of " << answers.yes + answers.unknown_yes
              << " actions that may be taken\n";
    if (testing::kRareThingsHappen) {
      EXPECT_GE(percent, kModes[i].*least) << kModes[i].name;
    }
  }
}

class RandomTasks : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomTasks, GroundSupportEqualsBruteForce) {
  Totals totals;
  for (std::uint64_t seed = GetParam(); seed < kTasks && !HasFailure(); seed += kShards) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    check_task(testing::random_task(seed), seed, totals);
  }
  EXPECT_GT(totals.tasks, kTasks / kShards / 2);
  EXPECT_GT(totals.all().yes, testing::repeats(1000));
  EXPECT_GT(totals.all().no, testing::repeats(1000));
  EXPECT_GT(totals.all().unknown, testing::repeats(50));
  if (!HasFailure()) expect_enough(totals, &Mode::yes_of_ground);
}

TEST_P(RandomTasks, PddlSupportEqualsBruteForce) {
  Totals totals;
  for (std::uint64_t seed = GetParam(); seed < kTasks && !HasFailure(); seed += kShards) {
    const PddlText text = testing::random_pddl(seed + 1'000'000);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text.domain + text.problem);
    check_task(load_pddl_text(text.domain, text.problem), seed, totals);
  }
  EXPECT_GT(totals.tasks, kTasks / kShards / 2);
  EXPECT_GT(totals.all().yes, testing::repeats(1000));
  EXPECT_GT(totals.all().no, testing::repeats(1000));
  if (!HasFailure()) expect_enough(totals, &Mode::yes_of_pddl);
}

TEST_P(RandomTasks, InPlaceIsWhatApplyAndProjectDo) {
  std::size_t in_place = 0;
  for (std::uint64_t seed = GetParam(); seed < kTasks && !HasFailure(); seed += kShards) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Task task = testing::random_task(seed);
    const task::Program& program = task.program();
    std::vector<task::Word> state(program.total_words());
    if (!program.initial(state.data())) continue;
    program.project(state.data());
    Random random(seed);
    for (int step = 0; step < 20; ++step) {
      std::vector<ActionId> actions;
      program.relevant_actions(state.data(), actions);
      if (actions.empty()) break;
      const ActionId action = actions[random.below(actions.size())];
      std::vector<task::Word> next(program.total_words());
      if (!program.apply(state.data(), action, next.data())) break;
      program.project(next.data());
      std::vector<task::Word> changed = state;
      if (program.apply_in_place(changed.data(), action)) {
        ++in_place;
        EXPECT_EQ(changed, next);
      } else {
        EXPECT_EQ(changed, state);
      }
      state = next;
    }
  }
  EXPECT_GT(in_place, testing::repeats(500));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTasks, ::testing::Range<std::uint64_t>(0, kShards));

}  // namespace
}  // namespace metactrl::support_property_test
