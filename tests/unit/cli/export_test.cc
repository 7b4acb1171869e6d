// metactrl export, run as a program.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "metactrl/domain.h"
#include "support/behavior_tree.h"
#include "support/command_line.h"
#include "support/lifted_world.h"
#include "support/test_data.h"

namespace metactrl::export_test {
namespace {

using Json = nlohmann::json;
using Result = testing::CommandResult;

class ExportCli : public testing::CommandLineTest {
 protected:
  void SetUp() override {
    CommandLineTest::SetUp();
    const std::filesystem::path table = testing::source_dir() / "domains/tabletop";
    std::filesystem::copy_file(table / "domain.pddl", folder() / "d.pddl");
    std::filesystem::copy_file(table / "donut_canister.pddl", folder() / "p.pddl");
    write("good.plan", "(open canister)\n(grab donut)\n(putin donut canister)\n");
    write("bad.plan", "(grab donut)\n(putin donut canister)\n");
  }

  // Runs in the test's folder; `arguments` go through a shell, in which $M is the program.
  Result shell(const std::string& command) const {
    const std::string line = "cd '" + folder().string() + "' && M='" + testing::program() + "' && ( " + command + " )";
    const int status = std::system(("( " + line + " ) >'" + path("out") + "' 2>'" + path("err") + "'").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out"), read("err")};
  }
  Result run(const std::string& arguments) const { return shell("\"$M\" export " + arguments); }

  testing::BehaviorTree::Outcome tick(const std::string& xml) const {
    testing::BehaviorTree tree(xml);
    testing::LiftedWorld world(testing::lifted_interpreter(read("d.pddl"), read("p.pddl")));
    return tree.run(world);
  }
};

TEST_F(ExportCli, ATreeThatSucceeds) {
  const Result r = run("bt good.plan -d d.pddl -p p.pddl");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err, "");
  EXPECT_TRUE(tick(r.out).success);
  const Result to_file = run("bt good.plan -d d.pddl -p p.pddl --out tree.xml");
  EXPECT_EQ(to_file.code, 0);
  EXPECT_EQ(to_file.out, "");
  EXPECT_CONTAINS(to_file.err, "wrote 3 actions to tree.xml");
  EXPECT_EQ(read("tree.xml"), r.out);
}

TEST_F(ExportCli, PlansComeThroughAPipe) {
  const Result r = shell("\"$M\" search -d d.pddl -p p.pddl | \"$M\" export bt -d d.pddl -p p.pddl -");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(tick(r.out).success);
  // Every input may be a pipe: each is read once.
  const Result pipes =
      shell("mkfifo a b; cat d.pddl >a & cat p.pddl >b & cat good.plan | \"$M\" export pddl -d a -p b -");
  EXPECT_EQ(pipes.code, 0) << pipes.err;
  EXPECT_EQ(pipes.out, "(open canister)\n(grab donut)\n(putin donut canister)\n; cost = 3\n");
}

TEST_F(ExportCli, OtherFormats) {
  EXPECT_EQ(run("plansys2 good.plan -d d.pddl -p p.pddl").out,
            "0.000: (open canister) [1.000]\n1.000: (grab donut) [1.000]\n2.000: (putin donut canister) [1.000]\n");
  EXPECT_CONTAINS(run("plansys2 good.plan -d d.pddl -p p.pddl --duration 5").out, "5.000: (grab donut) [5.000]\n");
  const Json json = Json::parse(run("json good.plan -d d.pddl -p p.pddl").out);
  EXPECT_EQ(json["valid"], true);
  EXPECT_EQ(json["steps"].size(), 3U);
  // What PlanSys2 reads is also read here.
  const Result again =
      shell("\"$M\" export plansys2 good.plan -d d.pddl -p p.pddl | \"$M\" validate -d d.pddl -p p.pddl -");
  EXPECT_EQ(again.code, 0) << again.out;
}

TEST_F(ExportCli, AnInvalidPlanIsRefused) {
  for (const char* format : {"bt", "pddl", "plansys2", "json"}) {
    const Result r = run(std::string(format) + " bad.plan -d d.pddl -p p.pddl --out x");
    EXPECT_EQ(r.code, 12);
    EXPECT_EQ(r.out, "");
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
    EXPECT_CONTAINS(r.err, "invalid: step 2 (putin donut canister): precondition");
    EXPECT_CONTAINS(r.err, "--allow-invalid");
    EXPECT_FALSE(std::filesystem::exists(folder() / "x"));
  }
}

TEST_F(ExportCli, OnRequestTheTreeFailsWhereThePlanDoes) {
  const Result r = run("bt bad.plan -d d.pddl -p p.pddl --allow-invalid");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_CONTAINS(r.err, "warning: the plan is invalid: step 2");
  const testing::BehaviorTree::Outcome outcome = tick(r.out);
  EXPECT_FALSE(outcome.success);
  EXPECT_EQ(outcome.step, "2 putin donut canister");
  EXPECT_EQ(outcome.leaf, "Holds");
  EXPECT_EQ(outcome.detail, "(open canister)");
}

TEST_F(ExportCli, TheTaskGoesIntoAFolder) {
  const Result r = run("task -d d.pddl -p p.pddl --out exported/here");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_CONTAINS(r.err, "wrote domain.pddl and problem.pddl to exported/here");
  const std::string files = "-d exported/here/domain.pddl -p exported/here/problem.pddl";
  EXPECT_EQ(shell("\"$M\" check " + files).code, 0);
  EXPECT_EQ(shell("\"$M\" validate good.plan " + files).code, 0);
  EXPECT_EQ(shell("\"$M\" validate bad.plan " + files).code, 12);
  const Result printed = run("task -d d.pddl -p p.pddl");
  EXPECT_EQ(printed.out, read("exported/here/domain.pddl") + "\n" + read("exported/here/problem.pddl"));
  EXPECT_EQ(run("task -d d.pddl -p p.pddl --out d.pddl").code, 31);
}

TEST_F(ExportCli, WhatIsRewrittenIsSaid) {
  write("p2.pddl",
        "(define (problem q) (:domain tabletop) (:objects a b) (:init (hand-empty) (openable a)) (:goal (open a))"
        "(:constraints (always (not (open b)))))");
  const Result r = run("task -d d.pddl -p p2.pddl");
  EXPECT_EQ(r.code, 0);
  EXPECT_CONTAINS(r.err, "note: constraint 1 is written as preconditions, effects and goals: (always (not (open b)))");
}

// What search writes is read again, whatever the objects are called.
TEST_F(ExportCli, OddNamesGoThrough) {
  write("p2.pddl",
        "(define (problem q) (:domain tabletop) (:objects e\"f [z] c<d) (:init (hand-empty) (openable e\"f) (openable "
        "[z])"
        " (openable c<d)) (:goal (and (open e\"f) (open [z]) (open c<d))))");
  const std::string task = " -d d.pddl -p p2.pddl";
  ASSERT_EQ(shell("\"$M\" search" + task + " --out odd.plan").code, 0);
  const Result valid = shell("\"$M\" validate odd.plan" + task);
  EXPECT_EQ(valid.code, 0) << valid.err;
  for (const char* format : {"pddl", "plansys2"}) {
    const Result r = run(format + std::string(" odd.plan") + task);
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_CONTAINS(r.out, "(open [z])");
    EXPECT_CONTAINS(r.err, "note: not every program reads the names [z], c<d, e\"f; ");
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
    write("again.plan", r.out);
    EXPECT_EQ(shell("\"$M\" validate again.plan" + task).code, 0);
  }
  EXPECT_EQ(run("bt odd.plan" + task).code, 0);
  EXPECT_EQ(run("pddl good.plan -d d.pddl -p p.pddl").err, "");
}

TEST_F(ExportCli, WrongUsageIsOneLine) {
  const auto expect_usage = [&](const std::string& arguments, const std::string& message) {
    const Result r = run(arguments);
    EXPECT_EQ(r.code, 30) << arguments;
    EXPECT_EQ(r.out, "") << arguments;
    EXPECT_CONTAINS(r.err, message);
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  };
  expect_usage("", "FORMAT");
  expect_usage("xml good.plan -d d.pddl -p p.pddl", "'xml' is none of bt, pddl, plansys2, json, task");
  expect_usage("bt -d d.pddl -p p.pddl", "needs a plan: name a file, or - for standard input");
  expect_usage("task good.plan -d d.pddl -p p.pddl", "takes no plan");
  expect_usage("task --allow-invalid -d d.pddl -p p.pddl", "--allow-invalid is for plans");
  expect_usage("bt good.plan --duration 3 -d d.pddl -p p.pddl", "--duration is for export plansys2");
  expect_usage("plansys2 good.plan --duration 0 -d d.pddl -p p.pddl", "'0' is not a number");
  expect_usage("plansys2 good.plan --duration nan -d d.pddl -p p.pddl", "'nan' is not a number");
  expect_usage("plansys2 good.plan --duration inf -d d.pddl -p p.pddl", "'inf' is not a number");
  expect_usage("bt good.plan -d d.pddl", "--problem FILE is missing");
}

TEST_F(ExportCli, BadInput) {
  write("none.plan", "open the canister\n");
  for (const char* arguments :
       {"bt none.plan -d d.pddl -p p.pddl", "bt missing.plan -d d.pddl -p p.pddl", "bt . -d d.pddl -p p.pddl",
        "bt good.plan -d missing.pddl -p p.pddl", "bt good.plan -d d.pddl -p p.pddl --out missing/tree.xml",
        "bt good.plan -d d.pddl -p p.pddl --out .", "bt good.plan --sas d.pddl"}) {
    const Result r = run(arguments);
    EXPECT_EQ(r.code, 31) << arguments;
    EXPECT_EQ(r.out, "") << arguments;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  }
  // An empty plan is a plan; it does not reach the goal.
  EXPECT_EQ(shell("\"$M\" export bt -d d.pddl -p p.pddl - </dev/null").code, 12);
}

TEST_F(ExportCli, TheHelpHasAnExampleThatWorks) {
  const Result help = run("--help");
  EXPECT_EQ(help.code, 0);
  for (const char* part : {"BehaviorTree.CPP 4", "PlanSys2", "--allow-invalid", "Fast Downward"})
    EXPECT_CONTAINS(help.out, part);
  // The two lines of the example, with `search` in the place of `plan`, which needs a model.
  const std::size_t begin = help.out.find("  D=domains");
  ASSERT_NE(begin, std::string::npos);
  std::string example = help.out.substr(begin, help.out.find("dishwasher.xml", begin) + 14 - begin);
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"metactrl plan", "\"$M\" search"}, {"metactrl export", "\"$M\" export"}}) {
    const std::size_t at = example.find(from);
    ASSERT_NE(at, std::string::npos) << example;
    example.replace(at, from.size(), to);
  }
  std::filesystem::create_directory_symlink(testing::source_dir() / "domains", folder() / "domains");
  const Result r = shell(example);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NO_THROW(testing::BehaviorTree{read("dishwasher.xml")});
}

}  // namespace
}  // namespace metactrl::export_test
