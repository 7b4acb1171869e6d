// --certificate: what search and plan write, and what scripts/check_certificate says about it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "support/command_line.h"

namespace metactrl::certificate_test {
namespace {

using Json = nlohmann::json;
using Result = testing::CommandResult;

class CertificateCli : public testing::CommandLineTest {
 protected:
  void SetUp() override {
    CommandLineTest::SetUp();
    write("d.pddl", R"((define (domain d) (:predicates (at ?x) (next ?x ?y) (locked ?x) (seen ?x))
      (:action move :parameters (?x ?y) :precondition (and (at ?x) (next ?x ?y) (not (locked ?y)))
        :effect (and (at ?y) (not (at ?x)) (seen ?y)))))");
    const std::string init = "(define (problem p) (:domain d) (:objects a b c) (:init (at a) (next a b) (next b c)";
    write("p.pddl", init + ") (:goal (at c)))");
    write("locked.pddl", init + " (locked c)) (:goal (at c)))");
    write("both.pddl", init + ") (:goal (and (at b) (at c))))");
    write("none.pddl", init + "))");
  }

  // The checker's exit code; its answer is in the file "answer".
  int check(const std::string& problem, const std::string& certificate) const {
    const std::string line = "cd '" + folder().string() + "' && '" +
                             (testing::source_dir() / "scripts/check_certificate").string() + "' d.pddl " + problem +
                             " " + certificate + " >answer 2>&1";
    const int status = std::system(line.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

TEST_F(CertificateCli, OfAPlan) {
  const Result result = run("search -d d.pddl -p p.pddl --certificate c.json");
  EXPECT_EQ(result.code, 0);
  EXPECT_CONTAINS(result.err, "wrote a certificate to c.json");
  EXPECT_EQ(check("p.pddl", "c.json"), 0);
  EXPECT_EQ(read("answer"), "accepted: a plan of 2 actions\n");
  EXPECT_EQ(check("locked.pddl", "c.json"), 1);
  EXPECT_EQ(read("answer"), "rejected: it is about another problem\n");
}

TEST_F(CertificateCli, OfInfeasibility) {
  EXPECT_EQ(run("search -d d.pddl -p locked.pddl --certificate c.json").code, 10);
  EXPECT_EQ(check("locked.pddl", "c.json"), 0);
  EXPECT_EQ(read("answer"), "accepted: no plan; 1 states over 0 facts\n");
  EXPECT_EQ(run("search -d d.pddl -p both.pddl --certificate c.json").code, 10);
  EXPECT_EQ(check("both.pddl", "c.json"), 0);
  EXPECT_EQ(read("answer"), "accepted: no plan; 3 states over 3 facts\n");
  EXPECT_EQ(run("search -d d.pddl -p p.pddl --horizon 1 --certificate c.json").code, 10);
  EXPECT_EQ(check("p.pddl", "c.json"), 0);
  EXPECT_EQ(read("answer"), "accepted: no plan of at most 1 actions; 2 states over 3 facts\n");
  EXPECT_EQ(run("search -d d.pddl -p p.pddl --shortest --horizon 1 --certificate d.json").code, 10);
  EXPECT_EQ(read("c.json"), read("d.json"));
}

TEST_F(CertificateCli, OfPlansByModelsAndOfGoalsGiven) {
  EXPECT_EQ(run("plan -d d.pddl -p p.pddl --guidance search --certificate c.json").code, 0);
  EXPECT_EQ(check("p.pddl", "c.json"), 0);
  const Result given = run("plan -d d.pddl -p none.pddl --guidance search --goal '(seen b)' --certificate c.json");
  EXPECT_EQ(given.code, 0) << given.err;
  EXPECT_EQ(check("none.pddl", "c.json"), 0);
  EXPECT_CONTAINS(read("answer"), "accepted: a plan of 1 actions; for the goal ");
  EXPECT_EQ(run("plan -d d.pddl -p locked.pddl --guidance search --certificate c.json").code, 10);
  EXPECT_EQ(check("locked.pddl", "c.json"), 0);
}

TEST_F(CertificateCli, NamesWhatItDoesNotKnow) {
  write("n.pddl", R"((define (domain d) (:predicates (done)) (:functions (fuel))
    (:action go :parameters () :precondition (>= (fuel) 1) :effect (and (done) (decrease (fuel) 1)))))");
  write("np.pddl", "(define (problem p) (:domain d) (:init (= (fuel) 3)) (:goal (done)))");
  const Result numbers = run("search -d n.pddl -p np.pddl --certificate c.json");
  EXPECT_EQ(numbers.code, 0);
  EXPECT_CONTAINS(numbers.err, "no certificate: certificates do not know numbers");
  write("cp.pddl", R"((define (problem p) (:domain d) (:objects a b c) (:init (at a) (next a b) (next b c))
    (:goal (at c)) (:constraints (sometime (at b)))))");
  EXPECT_CONTAINS(run("search -d d.pddl -p cp.pddl --certificate c.json").err,
                  "no certificate: certificates do not know trajectory constraints");
  EXPECT_FALSE(std::filesystem::exists(path("c.json")));
  // The checker by itself says so, too, and does not accept.
  write("c.json", "{}");
  EXPECT_EQ(check("p.pddl", "c.json"), 1);
}

TEST_F(CertificateCli, TheCheckerIsShort) {
  const std::string text = testing::read_text(testing::source_dir() / "scripts/check_certificate");
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 500);
}

}  // namespace
}  // namespace metactrl::certificate_test
