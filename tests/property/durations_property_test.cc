// Actions that take time, also inside each other: the engine, for which each is one step, against the reference
// interpreter, which carries out its start and its end; what the lookahead says against brute force; and schedules of random plans against the judge of
// schedules, also when they are bent a little; actions that may take several durations against the judge, whatever they
// take; and trajectory constraints and preferences beside all that.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lookahead/preferences.h"
#include "metactrl/domain.h"
#include "metactrl/schedule.h"
#include "pddl/hosts.h"
#include "pddl/interpret.h"
#include "pddl/parse.h"
#include "pddl/why_not.h"
#include "support/engine_and_interpreter.h"
#include "support/random.h"
#include "support/repeats.h"
#include "task/program.h"

namespace metactrl::durations_property_test {
namespace {

using pddl::LiftedInterpreter;
using testing::Random;

class Generator {
 public:
  enum class Kind : std::uint8_t { kPlain, kTimed, kHosts, kTrajectories, kBounds };
  explicit Generator(std::uint64_t seed, Kind kind = Kind::kPlain)
      : random_(seed),
        timed_(kind == Kind::kTimed || (kind == Kind::kTrajectories && seed % 3 != 0) ||
               (kind == Kind::kBounds && seed % 3 == 1)),
        hosts_(kind == Kind::kHosts || (kind == Kind::kBounds && seed % 3 == 0)),
        bounds_(kind == Kind::kBounds) {}

  std::string domain() {
    numbers_ = bounds_ ? !one_in(3) : one_in(2);
    std::string out =
        "(define (domain d) (:requirements :adl :numeric-fluents :durative-actions :duration-inequalities "
        ":timed-initial-literals)\n"
        " (:predicates (p ?x) (q ?x) (r) (s ?x ?y))\n (:functions (f ?x) (g) (h ?x) (idle))\n";
    const std::uint32_t actions = 2 + random_.below(3);
    for (std::uint32_t i = 0; i < actions; ++i) out += one_in(6) && (i > 0 || !hosts_) ? plain(i) : durative(i);
    return out + ")\n";
  }

  std::string problem() {
    std::string out = "(define (problem d) (:domain d) (:objects a b)\n (:init (= (idle) 0) (= (g) 2)";
    for (const char* fact : {"(p a)", "(p b)", "(q a)", "(q b)", "(r)", "(s a b)", "(s b b)"}) {
      if (one_in(2)) out += std::string(" ") + fact;
    }
    for (const char* object : {"a", "b"}) {
      out += " (= (f " + std::string(object) + ") " + number() + ")";
      if (!one_in(8)) out += " (= (h " + std::string(object) + ") " + duration_number() + ")";
    }
    for (std::uint32_t i = timed_ ? 1 + random_.below(4) : 0; i > 0; --i) out += timed_literal();
    out += ")\n (:goal (and " + literal("a") + " " + literal("b") + " " + condition("a", 1) + ")))\n";
    return out;
  }

  // Of the same task, with constraints and preferences of the way and a goal that is easier to reach.
  std::string constrained(const std::string& problem) {
    std::string out = problem.substr(0, problem.find("(:goal")) + "(:goal " + literal("a") + ")\n (:constraints (and";
    for (std::uint32_t i = 1 + random_.below(2); i > 0; --i) out += " " + constraint();
    for (std::uint32_t i = random_.below(3); i > 0; --i)
      out += " (preference w" + std::to_string(i) + " " + constraint() + ")";
    return out + ")))\n";
  }

 private:
  bool one_in(std::uint32_t count) { return random_.below(count) == 0; }
  // Of one time each fact has one value.
  std::string timed_literal() {
    static const std::vector<std::string> kFacts = {"(p a)", "(p b)", "(q a)", "(q b)", "(r)", "(s a b)"};
    static const std::vector<std::string> kTimes = {"0", "0.5", "1", "2.5", "3.001", "4", "7.25"};
    const std::string time = random_.pick(kTimes);
    const std::string fact = random_.pick(kFacts);
    if (!used_.insert(time + fact).second) return "";
    return " (at " + time + " " + (one_in(2) ? fact : "(not " + fact + ")") + ")";
  }
  std::string constraint() {
    static const std::vector<std::string> kTimes = {"0", "1", "2.5", "4", "6.001", "9"};
    const std::string x = one_in(3) ? "?z" : one_in(2) ? "a" : "b";
    const std::string time = random_.pick(kTimes);
    std::string out;
    switch (random_.below(timed_ ? 9 : 6)) {
      case 0:
        out = "(always (or " + literal(x) + " " + literal("b") + "))";
        break;
      case 1:
        out = "(sometime (and " + literal(x) + " " + condition(x, 0) + "))";
        break;
      case 2:
        out = "(at-most-once " + condition(x, 1) + ")";
        break;
      case 3:
        out = "(sometime-after " + literal(x) + " " + condition("a", 0) + ")";
        break;
      case 4:
        out = "(sometime-before " + literal(x) + " " + condition("b", 0) + ")";
        break;
      case 5:
        return one_in(2) ? "(actions-in-order a0 a1)" : "(actions-in-order a1 (a0 b))";
      case 6:
        out = "(within " + time + " " + condition(x, 0) + ")";
        break;
      case 7:
        out = "(hold-after " + time + " " + literal(x) + ")";
        break;
      default:
        out = "(hold-during " + time + " 9.5 (or " + literal(x) + " " + literal("a") + "))";
    }
    return x == "?z" ? "(forall (?z) " + out + ")" : out;
  }
  std::string number() {
    static const std::vector<std::string> kNumbers = {"0", "1", "2", "3"};
    return random_.pick(kNumbers);
  }
  std::string duration_number() {
    static const std::vector<std::string> kNumbers = {"1", "2", "0.5", "3.25", "0", "7"};
    return random_.pick(kNumbers);
  }
  std::string atom(const std::string& x) {
    switch (random_.below(5)) {
      case 0:
        return "(r)";
      case 1:
        return "(s " + x + " b)";
      case 2:
        return "(p " + x + ")";
      case 3:
        return "(p a)";
      default:
        return "(q " + x + ")";
    }
  }
  std::string literal(const std::string& x) { return one_in(3) ? "(not " + atom(x) + ")" : atom(x); }
  std::string condition(const std::string& x, int depth) {
    if (depth > 0 && one_in(5)) {
      static const std::vector<std::string> kHeads = {"or", "and"};
      return "(" + random_.pick(kHeads) + " " + condition(x, depth - 1) + " " + condition(x, depth - 1) + ")";
    }
    if (depth > 0 && one_in(8)) return "(exists (?z) " + condition("?z", depth - 1) + ")";
    if (depth > 0 && one_in(8)) return "(forall (?z) " + condition("?z", depth - 1) + ")";
    if (numbers_ && one_in(4)) {
      static const std::vector<std::string> kComparisons = {"<", "<=", "=", ">=", ">"};
      return "(" + random_.pick(kComparisons) + " " + (one_in(2) ? "(g)" : "(f " + x + ")") + " " + number() + ")";
    }
    return literal(x);
  }
  std::string effect(const std::string& x) {
    std::string out = literal(x);
    if (one_in(6)) out = "(when " + condition(x, 0) + " " + out + ")";
    if (one_in(8)) out = "(forall (?y) (when " + condition("?y", 0) + " " + literal("?y") + "))";
    return out;
  }
  std::string change(const std::string& x) {
    const std::string target = one_in(2) ? "(g)" : "(f " + x + ")";
    if (bounds_ && !one_in(3)) {
      static const std::vector<std::string> kAmounts = {"?duration", "(* 2 ?duration)", "(/ ?duration 2)",
                                                        "(- 3 ?duration)"};
      static const std::vector<std::string> kChanges = {"increase", "decrease", "assign"};
      return "(" + random_.pick(kChanges) + " " + target + " " + random_.pick(kAmounts) + ")";
    }
    switch (random_.below(4)) {
      case 0:
        return "(assign " + target + " " + number() + ")";
      case 1:
        return "(increase " + target + " 1)";
      default:
        return "(decrease " + target + " 1)";
    }
  }
  // Numbers stay small by what every action asks for.
  static std::string bounds(const std::string& x) {
    return "(<= (g) 3) (>= (g) 0) (<= (f " + x + ") 3) (>= (f " + x + ") 0)";
  }
  std::string bounded() {
    static const std::vector<std::string> kLow = {"1", "2", "0.5", "(h ?x)", "(- 2 1)"};
    static const std::vector<std::string> kHigh = {"3", "2.5", "4", "(h ?x)", "(* 2 (h ?x))", "9"};
    std::string out = "(and (>= ?duration " + random_.pick(kLow) + ")";
    if (one_in(4)) out += " (at start (>= ?duration " + random_.pick(kLow) + "))";
    if (one_in(4)) out += " (at end (<= ?duration " + random_.pick(kHigh) + "))";
    if (!one_in(8)) out += " (<= ?duration " + random_.pick(kHigh) + ")";
    return out + ")";
  }
  std::string duration(const std::string& x) {
    if (bounds_ && !one_in(3)) return bounded();
    switch (random_.below(7)) {
      case 0:
        return "(= ?duration (h " + x + "))";
      case 1:
        return "(= ?duration (* 2 (h " + x + ")))";
      case 2:
        return "(and (>= ?duration " + duration_number() + ") (<= ?duration " + duration_number() + "))";
      case 3:
        return "(<= ?duration " + duration_number() + ")";
      case 4:
        return numbers_ && !timed_ ? "(= ?duration (+ 1 (g)))" : "(= ?duration (/ (h " + x + ") 3))";
      default:
        return "(= ?duration " + duration_number() + ")";
    }
  }
  // It makes something true that it takes away at its end.
  std::string host(std::uint32_t index) {
    static const std::vector<std::string> kOffers = {"(r)", "(q ?x)", "(p ?x)", "(s ?x b)"};
    static const std::vector<std::string> kLong = {"4", "6", "9", "(+ 3 (h ?x))"};
    const std::string offer = random_.pick(kOffers);
    std::string conditions;
    if (one_in(2)) conditions += " (at start " + condition("?x", 1) + ")";
    if (one_in(3)) conditions += " (over all " + condition("?x", 1) + ")";
    if (one_in(4)) conditions += " (at end " + condition("?x", 1) + ")";
    std::string effects = " (at start " + offer + ") (at end (not " + offer + "))";
    for (std::uint32_t i = random_.below(3); i > 0; --i)
      effects += (one_in(2) ? " (at start " : " (at end ") + effect("?x") + ")";
    if (numbers_ && one_in(3)) {
      conditions += " (at start (and " + bounds("?x") + "))";
      effects += " (at start " + change("?x") + ")";
    }
    const std::string taken = bounds_ && !one_in(4) ? bounded() : "(= ?duration " + random_.pick(kLong) + ")";
    return " (:durative-action a" + std::to_string(index) + " :parameters (?x) :duration " + taken +
           "\n  :condition (and" + conditions + ")\n  :effect (and" + effects + "))\n";
  }
  std::string durative(std::uint32_t index) {
    if (hosts_ && (index == 0 || one_in(3))) return host(index);
    std::string conditions;
    if (numbers_) conditions += " (at start (and " + bounds("?x") + ")) (at end (and " + bounds("?x") + "))";
    if (!one_in(3)) conditions += " (at start " + condition("?x", 1) + ")";
    if (one_in(2)) conditions += " (over all " + condition("?x", 1) + ")";
    if (one_in(3)) conditions += " (at end " + condition("?x", 1) + ")";
    if (one_in(8)) conditions += " (forall (?y) (over all " + literal("?y") + "))";
    std::string effects;
    const std::uint32_t count = 1 + random_.below(4);
    for (std::uint32_t i = 0; i < count; ++i) effects += (one_in(2) ? " (at start " : " (at end ") + effect("?x") + ")";
    if (numbers_) {
      const std::uint32_t changes = random_.below(3);
      for (std::uint32_t i = 0; i < changes; ++i)
        effects += (one_in(2) ? " (at start " : " (at end ") + change("?x") + ")";
    }
    if (one_in(4)) effects += one_in(2) ? " (at end (increase (idle) ?duration))" : " (at start (assign (idle) 1))";
    return " (:durative-action a" + std::to_string(index) + " :parameters (?x) :duration " + duration("?x") +
           "\n  :condition (and" + conditions + ")\n  :effect (and" + effects + "))\n";
  }
  std::string plain(std::uint32_t index) {
    return " (:action a" + std::to_string(index) + " :parameters (?x) :precondition " + condition("?x", 1) +
           " :effect (and " + effect("?x") + " " + effect("?x") + "))\n";
  }

  Random random_;
  bool timed_;
  bool hosts_;
  bool bounds_;
  bool numbers_ = false;
  std::set<std::string> used_;
};

constexpr std::uint64_t kShards = 4;
constexpr std::uint64_t kHostShards = 8;
constexpr std::uint64_t kTasks = testing::repeats(4000);

class RandomDurations : public ::testing::TestWithParam<std::uint64_t> {};

// A random plan's goal is what it reaches: the same domain, so that its schedules can be judged.
struct Scheduled {
  std::size_t plans = 0;
  std::size_t inside = 0;  // with steps inside others
  std::size_t overlapping = 0;
  std::size_t refused = 0;  // bent ones
};

// May the action take one of several durations, as it is written?
bool is_flexible(const LiftedInterpreter& interpreter, const PlanStep& step) {
  const auto named = [&](const pddl::Action& action) { return action.name == step.action; };
  const auto found = std::find_if(interpreter.ast().actions.begin(), interpreter.ast().actions.end(), named);
  return found->durative && found->durative->flexible;
}

// A step of a valid schedule takes what is within its bounds. Whatever it takes then, the judge does not mind how long.
void bend_duration(const Task& task, const LiftedInterpreter& interpreter, Schedule bent, std::size_t place) {
  const auto too_long_or_short = [&](std::int64_t duration) {
    bent[place].duration = duration;
    const Validation judged = validate(task, bent);
    // Of this step: what others take may depend on what this one does to numbers.
    return judged.problem.starts_with("it takes") &&
           judged.reason.starts_with("step " + std::to_string(place + 1) + ' ');
  };
  PlanStep shortest = bent[place].step;
  const std::optional<LiftedInterpreter::Durations> all = interpreter.fixed_durations(shortest);
  if (!all) return;
  const std::int64_t longest = std::min(all->longest, all->shortest + 20 * kTimeUnit);
  for (const std::int64_t duration : {all->shortest, (all->shortest + longest) / 2, longest})
    ASSERT_FALSE(too_long_or_short(duration)) << time_text(duration);
}

void check_schedules(const std::string& domain, const std::string& problem, const LiftedInterpreter& interpreter,
                     const std::vector<PlanStep>& plan, Random& random, Scheduled& count) {
  const std::string anything = problem.substr(0, problem.find("(:goal")) + "(:goal (and)))";
  const Task task = load_pddl_text(domain, anything);
  if (!task.validate(plan).valid) return;  // something that has begun cannot end
  const Schedule one_by_one = make_schedule(task, plan, ScheduleKind::kSequential);
  const Schedule early = make_schedule(task, plan, ScheduleKind::kConcurrent);
  ++count.plans;
  if (!overlaps(one_by_one).empty()) ++count.inside;
  ASSERT_TRUE(validate(task, one_by_one).valid);
  ASSERT_TRUE(validate(task, early).valid);
  ASSERT_LE(makespan(early), makespan(one_by_one));
  for (std::size_t i = 0; i < plan.size(); ++i) {
    ASSERT_EQ(early[i].step.action, interpreter.written_name(plan[i].action));
    ASSERT_EQ(early[i].step.arguments, plan[i].arguments);
    ASSERT_EQ(early[i].duration, one_by_one[i].duration);
    ASSERT_LE(early[i].start, one_by_one[i].start);
  }
  if (!overlaps(early).empty()) ++count.overlapping;
  // What is printed is what is read.
  std::string text;
  for (const TimedStep& step : early) text += to_string(step) + "\n";
  ASSERT_EQ(parse_schedule(text, "plan").schedule, early);
  // Two steps change places: whatever the judge says of it, it says the same of the lines in another order.
  Schedule bent = early;
  if (bent.size() > 1) {
    const std::size_t i = random.below(static_cast<std::uint32_t>(bent.size() - 1));
    std::swap(bent[i].start, bent[i + 1].start);
    const Validation judged = validate(task, bent);
    count.refused += judged.valid ? 0 : 1;
    std::swap(bent[i], bent[i + 1]);
    ASSERT_EQ(validate(task, bent).valid, judged.valid);
  }
  bent = early;
  for (std::size_t i = 0; i < bent.size(); ++i) {
    if (!bent[i].takes_time) continue;
    if (is_flexible(interpreter, bent[i].step)) {
      bend_duration(task, interpreter, bent, i);
      continue;
    }
    bent[i].duration += kTimeUnit;
    ASSERT_FALSE(validate(task, bent).valid);
    break;
  }
}

// Facts change by themselves: both implementations wait for the same times, and what they say of the goal, the shortest
// plan and the schedules is the same.
class RandomTimedFacts : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomTimedFacts, EngineReferenceAndSchedulesAgree) {
  constexpr std::uint64_t kTimedTasks = testing::repeats(400);
  testing::Decided decided;
  std::size_t waits = 0;
  Scheduled count;
  for (const std::uint64_t seed : testing::seeds_of(GetParam(), kShards, kTimedTasks)) {
    Generator generator(seed, Generator::Kind::kTimed);
    const std::string domain = generator.domain();
    const std::string problem = generator.problem();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + domain + problem);
    const testing::Loaded loaded = testing::load_both(domain, problem);
    ASSERT_NE(loaded.ast, nullptr) << loaded.refused;
    if (!loaded.task) continue;
    const LiftedInterpreter interpreter(loaded.ast);
    const Task& task = *loaded.task;
    Random random(seed);
    for (int i = 0; i < 3; ++i) {
      const std::vector<PlanStep> plan = testing::walk_both(task, interpreter, 8, random);
      ASSERT_FALSE(HasFailure());
      check_schedules(domain, problem, interpreter, plan, random, count);
      ASSERT_FALSE(HasFailure());
      std::int64_t free = 0;
      for (const TimedStep& step : make_schedule(task, plan, ScheduleKind::kSequential)) {
        waits += step.start >= free + kTimeUnit ? 1 : 0;
        free = step.start + step.duration;
      }
    }
    decided.add(task, interpreter);
    ASSERT_FALSE(HasFailure());
  }
  const std::size_t all = kTimedTasks / kShards;
  EXPECT_GT(decided.all, all / 2);
  EXPECT_GT(waits, all / 10);
  EXPECT_GT(count.plans, all * 2);
  EXPECT_GT(count.overlapping, all / 4);
  // Of what is rarer a few tasks may have none.
  if (all >= 100 && GetParam() < kShards) {
    EXPECT_GT(decided.solvable, all / 10);
    EXPECT_GT(decided.longer, all / 100);
    EXPECT_GT(count.refused, all / 4);
  }
  std::cout << "decided " << decided.all << ", solvable " << decided.solvable << ", longer " << decided.longer
            << ", waits " << waits << ", plans " << count.plans << ", overlapping " << count.overlapping << ", refused "
            << count.refused << '\n';
}

// Actions run inside others: both implementations let the same ones run and end, and what they say of the goal and the
// shortest plan is the same; every schedule passes the judge, who knows nothing of hosts. A plan that runs one action at a
// time is a plan of these tasks, too, and ends in the same state.
class RandomHosts : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomHosts, EngineReferenceAndSchedulesAgree) {
  constexpr std::uint64_t kHostTasks = testing::repeats(800);
  testing::Decided decided;
  std::size_t with_hosts = 0;
  Scheduled count;
  for (const std::uint64_t seed : testing::seeds_of(GetParam(), kHostShards, kHostTasks)) {
    Generator generator(seed, Generator::Kind::kHosts);
    const std::string domain = generator.domain();
    const std::string problem = generator.problem();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + domain + problem);
    Diagnostics diagnostics;
    auto ast = std::make_shared<pddl::Ast>(pddl::parse({"domain", domain}, {"problem", problem}, diagnostics));
    if (diagnostics.has_errors() || !ast->has_hosts) continue;
    const LiftedInterpreter interpreter(ast);
    auto alone = std::make_shared<pddl::Ast>(*ast);
    forget_hosts(*alone, "a test");
    const LiftedInterpreter one_by_one(alone);
    std::optional<Task> task;
    std::optional<Task> lone_task;
    try {
      task = load_pddl_text(domain, problem);
      internal::Meter meter;
      lone_task = pddl::make_task(alone, {LoadOptions().max_ground_actions, LoadOptions().max_ground_facts}, meter);
    } catch (const TaskTooLarge&) {
      continue;  // a number grows without end
    }
    ++with_hosts;
    Random random(seed);
    for (int i = 0; i < 4; ++i) {
      const std::vector<PlanStep> plan = testing::walk_both(*task, interpreter, 8, random);
      ASSERT_FALSE(HasFailure());
      check_schedules(domain, problem, interpreter, plan, random, count);
      ASSERT_FALSE(HasFailure());
    }
    for (int i = 0; i < 2; ++i) {
      const std::vector<PlanStep> plan = testing::walk_both(*lone_task, one_by_one, 8, random);
      ASSERT_FALSE(HasFailure());
      const Validation here = interpreter.validate(plan, {}, 0);
      ASSERT_EQ(here.steps_executed, plan.size()) << here.reason;
      ASSERT_EQ(here.unmet_goals, one_by_one.validate(plan, {}, 0).unmet_goals);
    }
    decided.add(*task, interpreter);
    ASSERT_FALSE(HasFailure());
  }
  const std::size_t all = kHostTasks / kHostShards;
  EXPECT_GT(with_hosts, all / 3);
  EXPECT_GT(decided.all, with_hosts / 3);
  EXPECT_GT(count.inside, GetParam() < kHostShards ? with_hosts / 4 : 0);
  std::cout << "with hosts " << with_hosts << ", decided " << decided.all << ", solvable " << decided.solvable
            << ", longer " << decided.longer << ", plans " << count.plans << ", with actions inside others "
            << count.inside << ", overlapping " << count.overlapping << ", refused " << count.refused << '\n';
}

// Constraints and preferences speak of the states within actions: for the engine they are facts that actions remember, for
// the interpreter the states themselves. Both say the same of every step, of the goal and of each preference; the lookahead
// finds a plan exactly where trying all short ones does; and a schedule's judge, who goes from point to point whatever
// order they come in, agrees on the same plans.
class RandomTrajectories : public ::testing::TestWithParam<std::uint64_t> {};

constexpr std::uint64_t kWatchedShards = 20;

struct Watched {
  std::size_t tasks = 0;
  std::size_t refused = 0;   // steps that break a constraint
  std::size_t unmet = 0;     // plans that reach the goal but for a constraint
  std::size_t violated = 0;  // preferences
  std::size_t solvable = 0;
  std::size_t useless = 0;  // no plan of a few steps
  std::size_t schedules = 0;
};

Task with_all_preferences(const Task& task) {
  std::vector<std::size_t> all(task.program().definition().preferences.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return with_preferences(task, all);
}

// All plans of at most `longest` steps, by the interpreter; every step is asked of the engine, too. Returns how many steps
// the shortest takes that is valid; nothing when there are too many.
std::optional<std::size_t> try_all(const Task& task, const LiftedInterpreter& interpreter, std::size_t longest,
                                   Watched& count) {
  const Task all = with_all_preferences(task);
  const std::size_t num_goals = task.program().definition().goals.size();
  std::vector<PlanStep> instances;
  for (const pddl::Instance& instance : interpreter.instances()) instances.push_back(interpreter.step(instance));
  std::vector<std::pair<std::vector<PlanStep>, State>> plans = {{{}, all.initial_state()}};
  std::optional<std::size_t> shortest;
  for (std::size_t i = 0; i < plans.size() && plans.size() < 120; ++i) {
    const auto [plan, state] = plans[i];
    const Validation here = interpreter.validate(plan, {}, 0);
    EXPECT_EQ(here.steps_executed, plan.size()) << here.reason;
    EXPECT_EQ(here.valid, task.validate(plan).valid);
    bool goal = true;
    for (std::uint32_t g = 0; g < num_goals; ++g)
      goal = goal && all.program().goal_holds(GoalId{g}, state.words().data());
    for (std::size_t g = num_goals + here.preferences.size(); g < all.num_goals(); ++g)
      goal = goal && all.program().goal_holds(GoalId{static_cast<std::uint32_t>(g)}, state.words().data());
    EXPECT_EQ(goal, here.valid) << "after " << plan.size() << " steps: " << here.reason;
    for (std::size_t w = 0; w < here.preferences.size(); ++w) {
      const GoalId wish{static_cast<std::uint32_t>(num_goals + w)};
      EXPECT_EQ(here.preferences[w].satisfied, all.program().goal_holds(wish, state.words().data()))
          << here.preferences[w].text << " after " << plan.size() << " steps";
      count.violated += here.preferences[w].satisfied ? 0 : 1;
    }
    count.unmet += here.valid ? 0 : 1;
    if (here.valid && !shortest) shortest = plan.size();
    if (has_durations(task) && !plan.empty()) {
      ++count.schedules;
      for (const ScheduleKind kind : {ScheduleKind::kSequential, ScheduleKind::kConcurrent})
        EXPECT_EQ(validate(task, make_schedule(task, plan, kind)).valid, here.valid);
    }
    if (plan.size() == longest || ::testing::Test::HasFailure()) continue;
    for (const PlanStep& step : instances) {
      std::vector<PlanStep> next = plan;
      next.push_back(step);
      const Validation longer = interpreter.validate(next, {}, 0);
      const std::optional<ActionId> action = all.find(step);
      const std::optional<State> reached = action ? all.apply(state, *action) : std::nullopt;
      EXPECT_EQ(reached.has_value(), longer.steps_executed == next.size())
          << to_string(step) << " after " << plan.size() << " steps: " << longer.reason;
      count.refused += longer.reason.find("breaks the constraint") != std::string::npos ? 1 : 0;
      if (reached) plans.emplace_back(std::move(next), *reached);
      if (::testing::Test::HasFailure()) return shortest;
    }
  }
  return shortest;
}

TEST_P(RandomTrajectories, EngineReferenceAndSchedulesAgree) {
  constexpr std::uint64_t kWatchedTasks = testing::repeats(1000);
  constexpr std::size_t kLongest = 3;
  Watched count;
  for (const std::uint64_t seed : testing::seeds_of(GetParam(), kWatchedShards, kWatchedTasks)) {
    Generator generator(seed, Generator::Kind::kTrajectories);
    const std::string domain = generator.domain();
    const std::string problem = generator.constrained(generator.problem());
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + domain + problem);
    const testing::Loaded loaded = testing::load_both(domain, problem);
    if (!loaded.task) continue;
    const LiftedInterpreter interpreter(loaded.ast);
    const Task& task = *loaded.task;
    if (interpreter.validate(std::vector<PlanStep>(), {}, 0).reason.starts_with("the initial state")) {
      ASSERT_TRUE(task.initially_violated());
      continue;
    }
    ASSERT_FALSE(task.initially_violated());
    ++count.tasks;
    const std::optional<std::size_t> shortest = try_all(task, interpreter, kLongest, count);
    ASSERT_FALSE(HasFailure());
    LookaheadOptions options;
    options.horizon = 100;
    options.search = {20'000, std::size_t{64} << 20, 5'000'000};
    const auto lookahead = Lookahead::compile(task, options);
    if (lookahead->verdict() == Verdict::kSolvable) {
      ASSERT_TRUE(task.validate(lookahead->plan()).valid);
      ASSERT_LE(shortest.value_or(0), lookahead->plan().size());
      ++count.solvable;
    } else {
      ASSERT_FALSE(shortest.has_value() && lookahead->verdict() == Verdict::kInfeasible) << lookahead->reason();
      ++count.useless;
    }
  }
  const std::size_t all = kWatchedTasks / kWatchedShards;
  EXPECT_GT(count.tasks, all / 3);
  // Of what is rarer a few tasks may have little.
  EXPECT_GT(count.solvable, 0U);
  EXPECT_GT(count.useless, 0U);
  EXPECT_GT(count.refused, 0U);
  EXPECT_GT(count.unmet, all);
  EXPECT_GT(count.violated, 0U);
  EXPECT_GT(count.schedules, all);
  std::cout << "tasks " << count.tasks << ", steps refused " << count.refused << ", unmet " << count.unmet
            << ", preferences violated " << count.violated << ", solvable " << count.solvable << ", not "
            << count.useless << ", schedules " << count.schedules << '\n';
}

// Actions that may take several durations. The task has some of them as actions of their own, of which both
// implementations say the same. The judge knows nothing of these: he is shown short plans with durations from a grid, and
// where he accepts one, nobody may say that there is none.
class RandomBounds : public ::testing::TestWithParam<std::uint64_t> {};

struct Accepted {
  std::optional<Schedule> schedule;
  std::size_t judged = 0;
};

// Schedules of at most `longest` steps, one after the other, with durations in quarters.
void find_accepted(const Task& task, const LiftedInterpreter& interpreter, std::size_t longest, Schedule& schedule,
                   Accepted& out) {
  constexpr std::size_t kMostJudged = 500;
  constexpr std::int64_t kGrid = kTimeUnit / 4;
  if (out.schedule || out.judged == kMostJudged) return;
  ++out.judged;
  const Validation judged = validate(task, schedule);
  if (judged.valid) out.schedule = schedule;
  if (out.schedule || judged.steps_executed < schedule.size() || schedule.size() == longest) return;
  const std::int64_t free = schedule.empty() ? 0 : makespan(schedule) + kSeparation;
  for (const pddl::Instance& instance : interpreter.instances()) {
    const pddl::Action& action = interpreter.ast().actions[instance.action];
    if (!action.written.empty()) continue;
    const PlanStep step = interpreter.step(instance);
    if (!action.durative) {
      schedule.push_back({step, free, 0, false});
      find_accepted(task, interpreter, longest, schedule, out);
      schedule.pop_back();
      continue;
    }
    const std::optional<std::int64_t> least = interpreter.fixed_duration(step);
    std::set<std::int64_t> durations;
    if (least) durations.insert(*least);
    for (std::int64_t grid = kGrid; action.durative->flexible && grid <= 9 * kTimeUnit; grid += kGrid) {
      if (least && grid > *least) durations.insert(grid);
    }
    for (const std::int64_t duration : durations) {
      schedule.push_back({step, free, duration, true});
      find_accepted(task, interpreter, longest, schedule, out);
      schedule.pop_back();
    }
  }
}

TEST_P(RandomBounds, NobodySaysThatThereIsNoPlanWhereTheJudgeAcceptsOne) {
  constexpr std::uint64_t kBoundedTasks = testing::repeats(800);
  testing::Decided decided;
  Scheduled count;
  std::size_t tasks = 0;
  std::size_t open = 0;
  std::size_t accepted = 0;
  std::size_t planned = 0;  // of these
  for (const std::uint64_t seed : testing::seeds_of(GetParam(), kHostShards, kBoundedTasks)) {
    Generator generator(seed, Generator::Kind::kBounds);
    const std::string domain = generator.domain();
    const std::string problem = generator.problem();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + domain + problem);
    const testing::Loaded loaded = testing::load_both(domain, problem);
    if (!loaded.task) continue;
    const LiftedInterpreter interpreter(loaded.ast);
    const Task& task = *loaded.task;
    ++tasks;
    open += task.program().definition().other_durations.empty() ? 0 : 1;
    Random random(seed);
    for (int i = 0; i < 3 && task.program().definition().cut.empty(); ++i) {
      const std::vector<PlanStep> plan = testing::walk_both(task, interpreter, 6, random);
      ASSERT_FALSE(HasFailure());
      if (has_durations(task)) check_schedules(domain, problem, interpreter, plan, random, count);
      ASSERT_FALSE(HasFailure());
    }
    if (task.program().definition().cut.empty()) decided.add(task, interpreter);
    ASSERT_FALSE(HasFailure());
    Accepted judged;
    Schedule schedule;
    find_accepted(task, interpreter, 2, schedule, judged);
    if (!judged.schedule) continue;
    ++accepted;
    LookaheadOptions options;
    options.horizon = 100;
    options.exact = {5'000, std::size_t{64} << 20, 50'000'000};
    options.search = {5'000, std::size_t{64} << 20, 50'000'000};
    const auto lookahead = Lookahead::compile(task, options);
    planned += lookahead->verdict() == Verdict::kSolvable ? 1 : 0;
    std::string text;
    for (const TimedStep& step : *judged.schedule) text += to_string(step) + "\n";
    ASSERT_NE(lookahead->verdict(), Verdict::kInfeasible) << lookahead->reason() << '\n' << text;
  }
  const std::size_t all = kBoundedTasks / kHostShards;
  EXPECT_GT(tasks, all / 2);
  EXPECT_GT(open, all / 4);
  if (testing::kRareThingsHappen && GetParam() < kHostShards) {
    EXPECT_GT(accepted, all / 20);
    EXPECT_GT(planned, accepted * 3 / 4);
  }
  std::cout << "tasks " << tasks << ", with other durations " << open << ", decided " << decided.all << ", solvable "
            << decided.solvable << ", plans " << count.plans << ", accepted by the judge " << accepted
            << ", found of these " << planned << '\n';
}

INSTANTIATE_TEST_SUITE_P(Shards, RandomBounds, ::testing::Range<std::uint64_t>(0, kHostShards));
INSTANTIATE_TEST_SUITE_P(Long, RandomBounds, ::testing::Range(kHostShards, 2 * kHostShards));

INSTANTIATE_TEST_SUITE_P(Shards, RandomTrajectories, ::testing::Range<std::uint64_t>(0, kWatchedShards));
INSTANTIATE_TEST_SUITE_P(Long, RandomTrajectories, ::testing::Range(kWatchedShards, 3 * kWatchedShards));

INSTANTIATE_TEST_SUITE_P(Shards, RandomHosts, ::testing::Range<std::uint64_t>(0, kHostShards));
INSTANTIATE_TEST_SUITE_P(Long, RandomHosts, ::testing::Range(kHostShards, 4 * kHostShards));

INSTANTIATE_TEST_SUITE_P(Shards, RandomTimedFacts, ::testing::Range<std::uint64_t>(0, kShards));
INSTANTIATE_TEST_SUITE_P(Long, RandomTimedFacts, ::testing::Range(kShards, 3 * kShards));

TEST_P(RandomDurations, EngineReferenceAndSchedulesAgree) {
  testing::Decided decided;
  std::size_t endless = 0;
  std::size_t not_read = 0;
  Scheduled count;
  for (const std::uint64_t seed : testing::seeds_of(GetParam(), kShards, kTasks)) {
    Generator generator(seed);
    const std::string domain = generator.domain();
    const std::string problem = generator.problem();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + domain + problem);
    const testing::Loaded loaded = testing::load_both(domain, problem);
    if (loaded.ast == nullptr) {
      // The one thing among these that is refused.
      ASSERT_NE(loaded.refused.find("?duration at the end depends on a number that changes at the start"),
                std::string::npos)
          << loaded.refused;
      ++not_read;
      continue;
    }
    if (!loaded.task) {
      ++endless;
      continue;
    }
    const LiftedInterpreter interpreter(loaded.ast);
    const Task& task = *loaded.task;
    Random random(seed);
    for (int i = 0; i < 4; ++i) {
      const std::vector<PlanStep> plan = testing::walk_both(task, interpreter, 8, random);
      ASSERT_FALSE(HasFailure());
      if (has_durations(task)) check_schedules(domain, problem, interpreter, plan, random, count);
      ASSERT_FALSE(HasFailure());
    }
    decided.add(task, interpreter);
    ASSERT_FALSE(HasFailure());
  }
  const std::size_t all = kTasks / kShards;
  EXPECT_LT(endless, all / 10);
  EXPECT_LT(not_read, all / 20);
  EXPECT_GT(decided.all, all / 2);
  EXPECT_GT(decided.solvable, all / 10);
  EXPECT_GT(count.plans, all * 2);
  EXPECT_GT(count.overlapping, all / 4);
  EXPECT_GT(count.refused, all / 4);
  if (GetParam() < kShards) {
    EXPECT_GT(decided.solvable, all / 5);
    EXPECT_GT(decided.longer, all / 100);
  }
  std::cout << "decided " << decided.all << ", solvable " << decided.solvable << ", longer " << decided.longer
            << ", endless " << endless << ", plans " << count.plans << ", overlapping " << count.overlapping
            << ", refused " << count.refused << '\n';
}

INSTANTIATE_TEST_SUITE_P(Shards, RandomDurations, ::testing::Range<std::uint64_t>(0, kShards));
INSTANTIATE_TEST_SUITE_P(Long, RandomDurations, ::testing::Range(kShards, 10 * kShards));

}  // namespace
}  // namespace metactrl::durations_property_test
