// metactrl search, run as a program: what it prints, proves and leaves out, and what is known when it is interrupted.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "support/lamps.h"
#include "support/random_pddl.h"
#include "support/test_data.h"

namespace metactrl::search_test {
namespace {

using Json = nlohmann::json;
using Result = testing::CommandResult;

class SearchCli : public testing::LampsTest {};

TEST_F(SearchCli, SearchPrintsAPlan) {
  const Result r = run("search -d d.pddl -p p.pddl");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, "(press a)\n(press b)\n; 2 actions, cost = 2, shortest\n");
  EXPECT_TRUE(r.err.empty()) << r.err;
  EXPECT_EQ(run("search -d d.pddl -p p.pddl --shortest").out, r.out);
  EXPECT_EQ(run("search -d d.pddl -p p.pddl --horizon 2").out, r.out);
}

TEST_F(SearchCli, SearchAsJson) {
  const Json json = Json::parse(run("search -d d.pddl -p p.pddl --output json").out);
  EXPECT_EQ(json["verdict"], "solvable");
  EXPECT_EQ(json["plan"], (Json{"(press a)", "(press b)"}));
  EXPECT_EQ(json["actions"], 2);
  EXPECT_EQ(json["proved_shortest"], true);
  EXPECT_EQ(json["proved_optimal"], true);
  EXPECT_EQ(json["lower_bound"], 2);
  EXPECT_EQ(json["least_actions"], 2);
  EXPECT_EQ(json["left_out"], 0);
  EXPECT_EQ(json["interrupted"], false);
  EXPECT_EQ(json["first"], (Json{{"actions", 2}, {"cost", 2}}));
}

// Directly is short and dear, around the corner long and cheap.
TEST_F(SearchCli, SearchObeysTheMetric) {
  write("ways.pddl", R"(
(define (domain ways) (:requirements :typing :action-costs)
  (:types place)
  (:predicates (at ?p - place) (road ?a ?b - place))
  (:functions (total-cost) - number (toll ?a ?b - place) - number)
  (:action go :parameters (?a ?b - place) :precondition (and (at ?a) (road ?a ?b))
    :effect (and (at ?b) (not (at ?a)) (increase (total-cost) (toll ?a ?b))))))");
  const std::string problem = R"(
(define (problem trip) (:domain ways)
  (:objects home corner bridge work - place)
  (:init (at home) (road home work) (road home corner) (road corner bridge) (road bridge work) (= (total-cost) 0)
         (= (toll home work) 9.5) (= (toll home corner) 2) (= (toll corner bridge) 0) (= (toll bridge work) 2.5))
  (:goal (at work)) )";
  write("cheap.pddl", problem + "(:metric minimize (total-cost)))");
  write("short.pddl", problem + ")");
  const std::string around = "(go home corner)\n(go corner bridge)\n(go bridge work)\n";
  const Result cheap = run("search -d ways.pddl -p cheap.pddl");
  EXPECT_EQ(cheap.code, 0) << cheap.err;
  EXPECT_EQ(cheap.out, around + "; 3 actions, cost = 4.5, not proved shortest, cheapest\n");
  EXPECT_EQ(run("search -d ways.pddl -p cheap.pddl --optimal").out, cheap.out);
  const Json json = Json::parse(run("search -d ways.pddl -p cheap.pddl --optimal --output json").out);
  EXPECT_EQ(json["cost"], 4.5);
  EXPECT_EQ(json["lower_bound"], 4.5);
  EXPECT_EQ(json["proved_optimal"], true);
  EXPECT_EQ(json["first"], (Json{{"actions", 1}, {"cost", 9.5}}));
  // A horizon that the cheapest plan does not fit into, no work at all, and the shortest plan: the dear one.
  for (const char* options :
       {"-p cheap.pddl --horizon 2", "-p cheap.pddl --improve 0", "-p cheap.pddl --shortest", "-p short.pddl"}) {
    SCOPED_TRACE(options);
    const Result dear = run(std::string("search -d ways.pddl ") + options);
    EXPECT_TRUE(dear.out.starts_with("(go home work)\n; 1 action, cost = 9.5, shortest")) << dear.out;
  }
  // Nobody asks for cheap plans: costs are told, and nothing is said of those of others.
  for (const char* options : {"", " --optimal", " --shortest", " --improve 0"}) {
    SCOPED_TRACE(options);
    const Json told = Json::parse(run(std::string("search -d ways.pddl -p short.pddl --output json") + options).out);
    EXPECT_EQ(told["cost"], 9.5);
    EXPECT_EQ(told["first"], (Json{{"actions", 1}, {"cost", 9.5}}));
    EXPECT_EQ(told["proved_optimal"], false);
    EXPECT_EQ(told["lower_bound"], 0);
    EXPECT_EQ(told["proved_shortest"], true);
    EXPECT_EQ(told["least_actions"], 1);
  }
  EXPECT_EQ(run("search -d ways.pddl -p cheap.pddl --optimal --shortest").code, 30);
}

TEST_F(SearchCli, SearchWritesAFile) {
  write("my.plan", "an older plan");
  const Result r = run("search -d d.pddl -p p.pddl --out my.plan");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(r.out.empty());
  EXPECT_EQ(r.err, "wrote 2 actions to my.plan\n");
  EXPECT_EQ(read("my.plan"), "(press a)\n(press b)\n; 2 actions, cost = 2, shortest\n");
  EXPECT_EQ(run("validate -d d.pddl -p p.pddl my.plan").out, "valid: 2 actions, cost 2\n");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    files += entry.path().filename().string().starts_with("my.plan") ? 1 : 0;
  }
  EXPECT_EQ(files, 1U) << "a temporary file was left behind";
}

TEST_F(SearchCli, AnUnwritablePathLosesNothing) {
  for (const char* out : {"no/such/folder/my.plan", ".", "/dev/full"}) {
    const Result r = run("search -d d.pddl -p p.pddl --out " + std::string(out));
    EXPECT_EQ(r.code, 31) << out;
    EXPECT_CONTAINS(r.err, out);
  }
  const Result full = run("search -d d.pddl -p p.pddl >/dev/full");
  EXPECT_EQ(full.code, 31);
  EXPECT_CONTAINS(full.err, "standard output: error: cannot be written");
}

TEST_F(SearchCli, InfeasibleNamesTheGoals) {
  write("p.pddl", problem("(and (lit a) (lit b))", "(broken b)"));
  for (const char* more : {"", " --shortest", " --horizon 5", " --shortest --horizon 5"}) {
    const Result r = run(std::string("search -d d.pddl -p p.pddl") + more);
    EXPECT_EQ(r.code, 10) << more << r.err;
    EXPECT_TRUE(r.out.empty());
    EXPECT_CONTAINS(r.err, "infeasible: ");
    EXPECT_CONTAINS(r.err, "(lit b)");
  }
  const Json json = Json::parse(run("search -d d.pddl -p p.pddl --output json").out);
  EXPECT_EQ(json["verdict"], "infeasible");
  EXPECT_TRUE(json["plan"].is_null());
  EXPECT_EQ(json["unreachable_goals"], Json{"(lit b)"});
}

TEST_F(SearchCli, AHorizonTooShortIsInfeasible) {
  for (const char* more : {"", " --shortest"}) {
    const Result r = run(std::string("search -d d.pddl -p p.pddl --horizon 1") + more);
    EXPECT_EQ(r.code, 10) << r.err;
  }
}

TEST_F(SearchCli, UndecidedNamesTheLimit) {
  // Thirty lamps, exactly the odd ones lit: more states than the budget allows to prove that no plan is shorter.
  std::string objects;
  std::string goal;
  for (int i = 0; i < 30; ++i) {
    objects += " l" + std::to_string(i);
    goal += " (lit l" + std::to_string(i) + ")";
  }
  write("big.pddl",
        "(define (problem big) (:domain lamps) (:objects" + objects + " - lamp) (:init) (:goal (and" + goal + ")))");
  const Result r = run("search -d d.pddl -p big.pddl --shortest --max-states 10");
  EXPECT_EQ(r.code, 11) << r.err;
  EXPECT_CONTAINS(r.err, "undecided: ");
  EXPECT_CONTAINS(r.err, "states");
  // Any plan will do: found without enumerating.
  EXPECT_EQ(run("search -d d.pddl -p big.pddl").code, 0);
  const Json json = Json::parse(run("inspect -d d.pddl -p big.pddl --max-states 1000 --output json").out);
  EXPECT_TRUE(json["reachable_states"].is_null());
  EXPECT_TRUE(json["goal_relevant_states"].is_null());
  EXPECT_EQ(json["limit"]["reachable"], "states");
  EXPECT_CONTAINS(run("inspect -d d.pddl -p big.pddl --max-states 1000").out, "more than ");
}

// Fifteen tiles to be moved into order: a plan is found at once, that none is shorter is proved by nobody.
std::string tiles_domain() {
  return "(define (domain tiles) (:requirements :strips :typing) (:types tile place)\n"
         "(:predicates (at ?t - tile ?p - place) (free ?p - place) (next ?p ?q - place))\n"
         "(:action move :parameters (?t - tile ?p ?q - place) :precondition (and (at ?t ?p) (free ?q) (next ?p ?q))\n"
         ":effect (and (at ?t ?q) (free ?p) (not (at ?t ?p)) (not (free ?q)))))";
}
std::string tiles_problem() {
  constexpr int kSide = 4;
  constexpr int kTiles[] = {14, 13, 15, 7, 11, 12, 9, 5, 6, 0, 2, 1, 4, 8, 10, 3};
  std::string tiles;
  std::string places;
  std::string init;
  std::string goal;
  const auto name = [](char kind, int number) { return std::string(" ") + kind + std::to_string(number); };
  for (int place = 0; place < kSide * kSide; ++place) {
    places += name('p', place);
    if (kTiles[place] == 0) init += "(free" + name('p', place) + ")";
    if (kTiles[place] > 0) init += "(at" + name('t', kTiles[place]) + name('p', place) + ")";
    if (place > 0) tiles += name('t', place);
    if (place > 0) goal += "(at" + name('t', place) + name('p', place) + ")";
    for (int other = 0; other < kSide * kSide; ++other) {
      const int rows = std::abs(place / kSide - other / kSide);
      const int columns = std::abs(place % kSide - other % kSide);
      if (rows + columns == 1) init += "(next" + name('p', place) + name('p', other) + ")";
    }
  }
  return "(define (problem tiles) (:domain tiles) (:objects" + tiles + " - tile" + places + " - place) (:init " + init +
         ") (:goal (and " + goal + ")))";
}

// Ten balls for two hands: the first plan found goes back and forth more often than it has to.
TEST_F(SearchCli, SearchSaysWhatItLeftOut) {
  std::string balls;
  std::string here;
  std::string there;
  for (int i = 0; i < 10; ++i) {
    const std::string ball = " b" + std::to_string(i);
    balls += ball;
    here += "(at" + ball + " a)";
    there += "(at" + ball + " b)";
  }
  write("gripper.pddl", R"((define (domain gripper) (:requirements :strips :typing) (:types room ball hand)
  (:predicates (in ?r - room) (at ?b - ball ?r - room) (free ?h - hand) (carry ?b - ball ?h - hand))
  (:action move :parameters (?from ?to - room) :precondition (in ?from) :effect (and (in ?to) (not (in ?from))))
  (:action pick :parameters (?b - ball ?r - room ?h - hand) :precondition (and (at ?b ?r) (in ?r) (free ?h))
    :effect (and (carry ?b ?h) (not (at ?b ?r)) (not (free ?h))))
  (:action drop :parameters (?b - ball ?r - room ?h - hand) :precondition (and (carry ?b ?h) (in ?r))
    :effect (and (at ?b ?r) (free ?h) (not (carry ?b ?h))))))");
  write("balls.pddl", "(define (problem g) (:domain gripper) (:objects a b - room" + balls +
                          " - ball left right - hand) (:init (in a) (free left) (free right) " + here +
                          ") (:goal (and " + there + ")))");
  const std::string search = "search -d gripper.pddl -p balls.pddl --improve 0";
  const Json json = Json::parse(run(search + " --output json").out);
  const auto left_out = json["left_out"].get<std::size_t>();
  ASSERT_GT(left_out, 1U);
  EXPECT_EQ(json["first"]["actions"], json["actions"]);
  EXPECT_CONTAINS(run(search).out, "; " + std::to_string(left_out) + " steps left out as not needed\n");
}

// Nobody outside sees when a plan is known, so the search is given more and more time.
TEST_F(SearchCli, InterruptedWhileItSearches) {
  write("tiles.pddl", tiles_domain());
  write("order.pddl", tiles_problem());
  const std::string command = "search -d tiles.pddl -p order.pddl --optimal --output json";
  for (useconds_t microseconds = 50'000; microseconds < 100'000'000; microseconds *= 2) {
    const std::optional<int> code = interrupted_after(microseconds, command);
    ASSERT_FALSE(HasFailure());
    if (!code) continue;
    ASSERT_EQ(*code, 130) << read("err");
    EXPECT_CONTAINS(read("err"), "metactrl: stopped");
    if (read("out").empty()) continue;  // while the task was read
    const Json json = Json::parse(read("out"));
    EXPECT_EQ(json["interrupted"], true);
    if (json["verdict"] == "undecided") continue;
    EXPECT_CONTAINS(read("err"), "the plan is the best one known");
    EXPECT_EQ(json["verdict"], "solvable");
    EXPECT_EQ(json["proved_shortest"], false);
    EXPECT_GE(json["least_actions"], 1);
    EXPECT_LE(json["least_actions"], json["actions"]);
    std::string lines;
    for (const Json& action : json["plan"]) lines += action.get<std::string>() + "\n";
    write("known.plan", lines);
    EXPECT_EQ(run("validate -d tiles.pddl -p order.pddl known.plan").code, 0);
    return;
  }
  FAIL() << "no plan is known";
}

// By Ctrl-C, once the terminal shows what is known.
TEST_F(SearchCli, ATerminalShowsTheBestPlanSoFar) {
  if (std::system("command -v script >/dev/null") != 0) GTEST_SKIP() << "no program 'script'";
  write("tiles.pddl", tiles_domain());
  write("order.pddl", tiles_problem());
  write("go", "cd '" + folder().string() + "' && exec '" + testing::program() +
                  "' search -d tiles.pddl -p order.pddl --optimal >plan\n");
  ASSERT_EQ(::mkfifo(path("keys").c_str(), 0600), 0);
  const std::string line =
      "exec script -qec 'sh " + path("go") + "' /dev/null <'" + path("keys") + "' >'" + path("seen") + "' 2>&1";
  const pid_t pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    ::execl("/bin/sh", "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  std::ofstream keys(path("keys"));
  while (read("seen").find("best so far: ") == std::string::npos) ::usleep(50'000);
  keys << '\003' << std::flush;
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(WEXITSTATUS(status), 130) << read("seen");
  EXPECT_CONTAINS(read("seen"), "searching: ");
  EXPECT_CONTAINS(read("seen"), " actions, cost ");
  EXPECT_CONTAINS(read("seen"), "metactrl: stopped; the plan is the best one known");
  EXPECT_EQ(run("validate -d tiles.pddl -p order.pddl plan").code, 0) << read("plan");
  EXPECT_CONTAINS(read("plan"), ", not proved shortest: at least ");
}

// A time limit is no question of what is known by then.
TEST_F(SearchCli, NothingIsShownWhenTheTimeIsOver) {
  write("tiles.pddl", tiles_domain());
  write("order.pddl", tiles_problem());
  const Result r = run("search -d tiles.pddl -p order.pddl --optimal --time-limit 0.5");
  EXPECT_TRUE(r.code == 11 || r.code == 21) << r.err;
  EXPECT_EQ(r.out, "");
}

// One engine, one budget: random tasks with less and less of it, down to where neither finds anything.
class SearchAndPlan : public SearchCli {
 protected:
  void compare(std::uint64_t tasks) const {
    std::size_t found = 0;
    std::size_t undecided = 0;
    for (std::uint64_t seed = 0; seed < tasks; ++seed) {
      const testing::PddlText text = testing::random_pddl(seed);
      write("rd.pddl", text.domain);
      write("rp.pddl", text.problem);
      for (const char* budget : {"", " --max-states 30", " --max-states 6", " --max-states 2", " --max-work 3000",
                                 " --max-work 300", " --max-work 30"}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + budget);
        const std::string files = std::string(" -d rd.pddl -p rp.pddl") + budget;
        const Result searched = run("search" + files);
        undecided += searched.code == 11 ? 1 : 0;
        if (searched.code != 0) continue;
        ++found;
        EXPECT_EQ(run("plan -g search" + files).code, 0) << text.domain << text.problem;
      }
    }
    EXPECT_GT(found, tasks);
    EXPECT_GT(undecided, 0U);
  }
};

TEST_F(SearchAndPlan, WhereOneFindsAPlanTheOtherDoes) { compare(12); }

TEST_F(SearchAndPlan, SlowWhereOneFindsAPlanTheOtherDoes) { compare(150); }

TEST_F(SearchCli, MemoryForTheTaskItself) {
  const Result r = run("search -d d.pddl -p p.pddl --max-memory 1");
  EXPECT_EQ(r.code, 20) << r.err;
  EXPECT_CONTAINS(r.err, "more than --max-memory 1");
}

}  // namespace
}  // namespace metactrl::search_test
