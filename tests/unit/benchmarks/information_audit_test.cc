// What prompts state, counted by hand on a made-up benchmark, and on the excerpts of the real ones; and plans of the
// benchmarks' own domains as answers.
#include "benchmarks/information_audit.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/module.h"
#include "benchmarks/own_pddl.h"
#include "metactrl/domain.h"
#include "metactrl/lookahead.h"
#include "support/test_data.h"

namespace metactrl::benchmarks::information_audit_test {
namespace {

using Names = std::set<std::string, std::less<>>;

class KitchenOwn : public OwnPddl {
 public:
  KitchenOwn() {
    domain_ =
        "(define (domain kitchen) (:requirements :adl) (:predicates (can-open ?x) (closed ?x) (near ?x) (in ?x ?y))"
        " (:action open :parameters (?x) :precondition (and (can-open ?x) (closed ?x) (near ?x))"
        "  :effect (not (closed ?x)))"
        " (:action take :parameters (?x) :precondition (and (or (near ?x) (and (near ?x) (can-open ?x)))"
        "  (not (exists (?y) (and (in ?x ?y) (closed ?y))))) :effect ())"
        " (:action wait :parameters () :precondition () :effect ()))";
    OwnProblem problem;
    problem.identifier = "1";
    problem.with_properties = {"box", "cup"};
    problem.with_states = {"box"};
    problem.stated = {{"in", "cup", "box"}, {"can-open", "box"}};
    problem.tags = 3;
    problem.foreign_steps = 1;
    //                      can-open: yes, closed: yes, near: no
    problem.reference = {{"open", {"box"}},
                         // can-open: no, closed: no, near: no
                         {"open", {"door"}},
                         // near: no, can-open: yes; where the cup is: yes
                         {"take", {"cup"}},
                         // near: no, can-open: yes; where the box is: no
                         {"take", {"box"}},
                         {"wait", {}},
                         {"dance", {}}};
    problems_.push_back(problem);
  }
  std::string answer(const OwnProblem&, std::span<const PlanStep>) const override { return {}; }
  const Names& robot_predicates() const override { return robot_; }
  const Names& state_predicates() const override { return states_; }

 private:
  Names robot_ = {"near"};
  Names states_ = {"closed"};
};

TEST(InformationAuditTest, CountsByHand) {
  const InformationAudit audit = audit_information(KitchenOwn(), "kitchen");
  EXPECT_EQ(audit.tasks, 1U);
  EXPECT_EQ(audit.steps, 5U);
  EXPECT_EQ(audit.foreign_steps, 2U) << "one that the benchmark counts, and the dance";
  EXPECT_EQ(audit.all.declared, 12U) << "a literal that stands twice in a precondition counts once";
  EXPECT_EQ(audit.all.derivable, 5U);
  EXPECT_EQ(audit.of_things.declared, 8U);
  EXPECT_EQ(audit.of_things.derivable, 5U);
  EXPECT_DOUBLE_EQ(audit.of_things.percent(), 62.5);
  EXPECT_DOUBLE_EQ(audit.tags_per_prompt, 3);
}

std::string excerpt() { return (testing::test_dir() / "data").string(); }

TEST(InformationAuditTest, OfTheExcerpts) {
  const std::vector<InformationAudit> audits = information_audits(excerpt());
  ASSERT_EQ(audits.size(), 2U);
  EXPECT_EQ(audits[0].benchmark, "VirtualHome");
  EXPECT_EQ(audits[0].tasks, 14U);
  EXPECT_GT(audits[0].tags_per_prompt, 5);
  EXPECT_EQ(audits[1].benchmark, "BEHAVIOR");
  EXPECT_EQ(audits[1].tasks, 11U);
  EXPECT_EQ(audits[1].tags_per_prompt, 0) << "its prompts list no properties";
  EXPECT_GT(audits[1].names, audits[1].able_names);
  EXPECT_GT(audits[0].of_things.percent(), 2 * audits[1].of_things.percent());
  EXPECT_TRUE(information_audits("/no/such/folder").empty());
}

// Every problem is one of its domain, and a plan for it becomes an answer that names the things as the prompt does.
TEST(OwnPddlTest, ProblemsAreRead) {
  for (const char* name : {"vh-as", "beh-as"}) {
    const std::unique_ptr<OwnPddl> own = OwnPddl::open(*find_module(name), excerpt());
    ASSERT_NE(own, nullptr) << name;
    std::size_t plans = 0;
    for (const OwnProblem& problem : own->problems()) {
      const Task task = load_pddl_text(own->domain(), problem.text);
      EXPECT_GT(task.num_actions(), 0U) << problem.identifier;
      LookaheadOptions options;
      options.weights = false;
      options.exact.states = 500;
      options.search.states = 20'000;
      const auto found = Lookahead::compile(task, options);
      if (found->verdict() != Verdict::kSolvable || found->plan().empty()) continue;
      std::vector<PlanStep> plan;
      for (const ActionId action : found->plan()) plan.push_back(task.step(action));
      const std::string answer = own->answer(problem, plan);
      EXPECT_EQ(answer.find("_n_0"), std::string::npos) << answer;
      ++plans;
    }
    EXPECT_GE(plans, 3U) << name;
  }
  EXPECT_EQ(OwnPddl::open(*find_module("vh-sd"), excerpt()), nullptr);
  EXPECT_EQ(OwnPddl::open(*find_module("vh-as"), "/no/such/folder"), nullptr);
}

TEST(OwnPddlTest, PlansBecomeAnswers) {
  const std::unique_ptr<OwnPddl> home = OwnPddl::open(*find_module("vh-as"), excerpt());
  ASSERT_NE(home, nullptr);
  OwnProblem problem;
  problem.names = {{"soap_1002", "soap 1002"}, {"sink_3", "sink 3"}};
  const std::vector<PlanStep> plan = {{"standup", {"character_65"}},
                                      {"walk_towards", {"character_65", "soap_1002"}},
                                      {"put_inside", {"character_65", "soap_1002", "sink_3"}}};
  EXPECT_EQ(home->answer(problem, plan),
            R"({"STANDUP": [ ], "WALK": ["soap", "1002"], "PUTIN": ["soap", "1002", "sink", "3"]})");
  const std::unique_ptr<OwnPddl> behavior = OwnPddl::open(*find_module("beh-as"), excerpt());
  ASSERT_NE(behavior, nullptr);
  problem.names = {{"jar_n_01_1", "jar_0"}, {"table_n_02_1", "table_3"}, {"rag_n_01_1", "rag_0"}};
  const std::vector<PlanStep> steps = {{"navigate_to", {"jar_n_01_1", "agent_n_01_1"}},
                                       {"grasp", {"jar_n_01_1", "agent_n_01_1"}},
                                       {"place_ontop", {"jar_n_01_1", "table_n_02_1", "agent_n_01_1"}},
                                       {"clean_dusty_rag", {"rag_n_01_1", "table_n_02_1", "agent_n_01_1"}}};
  EXPECT_EQ(behavior->answer(problem, steps),
            R"([{"action": "RIGHT_GRASP", "object": "jar_0"}, {"action": "RIGHT_PLACE_ONTOP", "object": "table_3"}, )"
            R"({"action": "CLEAN", "object": "table_3"}])");
}

// The figures of docs/benchmarks.md, on all tasks at hand.
TEST(InformationAuditSlow, IsAsTheDocumentsSay) {
  METACTRL_NEEDS_DATA("household/virtualhome/domain.pddl");
  METACTRL_NEEDS_DATA("eai_vh/as.jsonl");
  METACTRL_NEEDS_DATA("eai_beh/pddl_tasks.jsonl");
  const std::vector<InformationAudit> audits = information_audits(testing::data_path("").string());
  ASSERT_EQ(audits.size(), 2U);
  const InformationAudit& home = audits[0];
  EXPECT_EQ(home.tasks, 158U);
  EXPECT_EQ(home.steps, 1340U);
  EXPECT_EQ(home.all.declared, 3125U);
  EXPECT_EQ(home.all.derivable, 1094U);
  EXPECT_EQ(home.of_things.declared, 962U);
  EXPECT_EQ(home.of_things.derivable, 774U);
  EXPECT_NEAR(home.tags_per_prompt, 10.4, 0.05);
  const InformationAudit& behavior = audits[1];
  EXPECT_EQ(behavior.tasks, 54U);
  EXPECT_EQ(behavior.steps, 837U);
  EXPECT_EQ(behavior.all.declared, 1713U);
  EXPECT_EQ(behavior.all.derivable, 93U);
  EXPECT_EQ(behavior.of_things.declared, 334U);
  EXPECT_EQ(behavior.of_things.derivable, 93U);
  EXPECT_EQ(behavior.names, 102U);
  EXPECT_EQ(behavior.able_names, 64U);
}

}  // namespace
}  // namespace metactrl::benchmarks::information_audit_test
