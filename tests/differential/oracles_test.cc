// Against two programs by others: the plan validator VAL and the planner Fast Downward.
//
// The environment names them where they are installed: VAL_VALIDATE is VAL's `Validate`, FAST_DOWNWARD is
// `fast-downward.py`. Without them these tests are skipped, and say so.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/exchange/export.h"
#include "metactrl/exchange/sas.h"
#include "metactrl/lookahead.h"
#include "support/files.h"
#include "support/other_programs.h"
#include "support/random_pddl.h"
#include "support/test_data.h"

namespace metactrl::oracles_test {
namespace {

namespace fs = std::filesystem;

std::string program_named(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && ::access(value, X_OK) == 0 ? value : "";
}

#define METACTRL_NEEDS_PROGRAM(name, variable)      \
  const std::string name = program_named(variable); \
  if (name.empty()) GTEST_SKIP() << variable " names no program; set it to run this comparison"

using ProgramResult = testing::ProgramResult;
using testing::execute;
using testing::quoted;

// A folder that is gone at the end.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "metactrl-oracles-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

struct Pair {
  std::string domain;
  std::string problem;
};

// Tasks that both sides decide in seconds. The household domain is the copy that VAL can read.
std::vector<Pair> pairs() {
  std::vector<Pair> out;
  const auto add = [&](const std::string& folder, const std::string& domain, std::size_t count) {
    const fs::path path = testing::data_path(folder);
    if (!fs::exists(path)) return;
    std::vector<std::string> problems;
    for (const auto& entry : fs::directory_iterator(path)) {
      const std::string name = entry.path().filename().string();
      if (entry.path().extension() == ".pddl" && name.find("domain") == std::string::npos) {
        problems.push_back(entry.path().string());
      }
    }
    std::sort(problems.begin(), problems.end());
    problems.resize(std::min(problems.size(), count));
    for (const std::string& problem : problems) out.push_back({(path / domain).string(), problem});
  };
  for (const char* folder : {"blocks", "briefcaseworld", "driverlog", "ferry", "gripper", "hanoi", "logistics00",
                             "miconic", "miconic-simpleadl", "rovers", "satellite", "visitall"}) {
    add(std::string("ipc/") + folder, "domain.pddl", 3);
  }
  add("planbench/blocksworld", "generated_domain.pddl", 5);
  add("planbench/logistics", "generated_domain.pddl", 3);
  add("household/virtualhome", "domain_val.pddl", 20);
  add("household/behavior", "domain_val.pddl", 10);
  return out;
}

void write_file(const std::string& file, const std::string& text) { std::ofstream(file) << text; }

void write_plan(const std::string& file, const Task& task, const std::vector<ActionId>& plan) {
  std::ofstream out(file);
  for (const ActionId action : plan) out << task.text(action) << '\n';
}

std::vector<PlanStep> read_plan(const std::string& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return parse_plan(text.str(), file);
}

TEST(Oracles, ValAcceptsOurPlans) {
  METACTRL_NEEDS_PROGRAM(validate, "VAL_VALIDATE");
  METACTRL_NEEDS_DATA("ipc");
  const Scratch scratch;
  std::size_t decided = 0;
  std::size_t undecided = 0;
  for (const Pair& pair : pairs()) {
    SCOPED_TRACE(pair.problem);
    const Task task = load_pddl(pair.domain, pair.problem);
    const auto lookahead = Lookahead::compile(task, {});
    ASSERT_EQ(lookahead->verdict(), Verdict::kSolvable) << lookahead->reason();
    const std::string plan = scratch.file("plan");
    write_plan(plan, task, lookahead->plan());
    const std::string command =
        quoted(validate) + " " + quoted(pair.domain) + " " + quoted(pair.problem) + " " + quoted(plan);
    const ProgramResult good = execute(command);
    if (!testing::val_decides(good)) {
      ++undecided;
      continue;
    }
    ++decided;
    EXPECT_TRUE(testing::val_accepts(good)) << good.output;
    // Without its last step a shortest plan is none; VAL agrees.
    if (!lookahead->shortest_plan_length() || lookahead->plan().empty()) continue;
    write_plan(plan, task, {lookahead->plan().begin(), lookahead->plan().end() - 1});
    const ProgramResult bad = execute(command);
    EXPECT_FALSE(testing::val_accepts(bad)) << bad.output;
  }
  // It refuses some households for facts that are not of their predicates' types.
  EXPECT_GT(decided, 5 * undecided);
}

TEST(Oracles, FastDownwardFindsPlansOfTheSameLength) {
  METACTRL_NEEDS_PROGRAM(planner, "FAST_DOWNWARD");
  METACTRL_NEEDS_DATA("ipc");
  const Scratch scratch;
  for (const Pair& pair : pairs()) {
    SCOPED_TRACE(pair.problem);
    const Task task = load_pddl(pair.domain, pair.problem);
    const auto lookahead = Lookahead::compile(task, {});
    const std::string plan = scratch.file("plan");
    fs::remove(plan);
    const std::string translated = scratch.file("task.sas");
    const ProgramResult translation = execute(quoted(planner) + " --translate --sas-file " + quoted(translated) + " " +
                                              quoted(pair.domain) + " " + quoted(pair.problem));
    ASSERT_EQ(translation.status, 0) << translation.output;
    // The length of a plan is what counts here: without a metric an action costs 1.
    const std::string unit_costs = scratch.file("unit.sas");
    std::string text = internal::read_file(translated);
    if (const auto metric = text.find("begin_metric\n1\n"); metric != std::string::npos) text[metric + 13] = '0';
    write_file(unit_costs, text);
    const ProgramResult outcome = execute(quoted(planner) + " --overall-time-limit 20 --plan-file " + quoted(plan) +
                                          " " + quoted(unit_costs) + " --search 'astar(blind())'");
    if (outcome.status >= 20 && outcome.status < 30) continue;  // out of time or memory: no opinion
    ASSERT_EQ(outcome.status, 0) << outcome.output;
    ASSERT_EQ(lookahead->verdict(), Verdict::kSolvable) << lookahead->reason();
    const std::vector<PlanStep> theirs = read_plan(plan);
    const Validation validation = task.validate(theirs);
    EXPECT_TRUE(validation.valid) << validation.reason;
    if (lookahead->shortest_plan_length()) {
      EXPECT_EQ(theirs.size(), *lookahead->shortest_plan_length());
    } else {
      EXPECT_LE(theirs.size(), lookahead->plan().size());
    }
    // Its translation of the task is another input, with the same shortest plan.
    const auto again = Lookahead::compile(load_sas(translated), {});
    ASSERT_EQ(again->verdict(), Verdict::kSolvable) << again->reason();
    if (again->shortest_plan_length()) {
      EXPECT_EQ(*again->shortest_plan_length(), theirs.size());
    }
  }
}

TEST(Oracles, FastDownwardFindsNoPlanEither) {
  METACTRL_NEEDS_PROGRAM(planner, "FAST_DOWNWARD");
  METACTRL_NEEDS_DATA("planbench/unsolvable_blocksworld");
  const Scratch scratch;
  const fs::path folder = testing::data_path("planbench/unsolvable_blocksworld");
  for (int i = 0; i < 8; ++i) {
    const std::string domain = (folder / "generated_domain.pddl").string();
    const std::string problem = (folder / ("instance-" + std::to_string(i) + ".pddl")).string();
    SCOPED_TRACE(problem);
    EXPECT_EQ(Lookahead::compile(load_pddl(domain, problem), {})->verdict(), Verdict::kInfeasible);
    const ProgramResult outcome = execute(
        quoted(planner) + " --overall-time-limit 20 --sas-file " + quoted(scratch.file("task.sas")) + " --plan-file " +
        quoted(scratch.file("plan")) + " " + quoted(domain) + " " + quoted(problem) + " --search 'astar(blind())'");
    // 10: the translator proved it, 11: the search did, 12: the search found no plan.
    EXPECT_TRUE(outcome.status >= 10 && outcome.status <= 12) << outcome.output;
  }
}

// --- exported tasks --------------------------------------------------------------------------------------------------

// Tasks of the shipped domain, and random ones that use the whole language.
std::vector<Task> tasks_to_export() {
  std::vector<Task> out;
  const std::string folder = (testing::source_dir() / "domains/tabletop/").string();
  for (const char* name : {"clean_dishes", "dishwasher", "fridge_to_stove", "boxed_tools", "green_block"}) {
    out.push_back(load_pddl(folder + "domain.pddl", folder + name + ".pddl"));
  }
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const testing::PddlText text = testing::random_pddl(seed, {2, 3, true});
    out.push_back(load_pddl_text(text.domain, text.problem));
  }
  return out;
}

TEST(Oracles, ValReadsExportedTasks) {
  METACTRL_NEEDS_PROGRAM(validate, "VAL_VALIDATE");
  const Scratch scratch;
  std::size_t plans = 0;
  std::size_t unread = 0;
  for (const Task& task : tasks_to_export()) {
    const PddlTask text = pddl_task(task);
    SCOPED_TRACE(text.domain + text.problem);
    const auto lookahead = Lookahead::compile(task, {});
    if (lookahead->verdict() != Verdict::kSolvable) continue;
    write_file(scratch.file("domain.pddl"), text.domain);
    write_file(scratch.file("problem.pddl"), text.problem);
    const std::string plan = scratch.file("plan");
    write_plan(plan, task, lookahead->plan());
    const ProgramResult outcome = execute(quoted(validate) + " " + quoted(scratch.file("domain.pddl")) + " " +
                                          quoted(scratch.file("problem.pddl")) + " " + quoted(plan));
    if (!testing::val_decides(outcome)) {
      ++unread;
      continue;
    }
    EXPECT_TRUE(testing::val_accepts(outcome)) << outcome.output;
    ++plans;
  }
  // It has no sense of types where not every use of a predicate fits the declared ones.
  EXPECT_GT(plans, unread);
}

TEST(Oracles, FastDownwardSolvesExportedTasks) {
  METACTRL_NEEDS_PROGRAM(planner, "FAST_DOWNWARD");
  const Scratch scratch;
  std::size_t plans = 0;
  for (const Task& task : tasks_to_export()) {
    const PddlTask text = pddl_task(task);
    SCOPED_TRACE(text.domain + text.problem);
    write_file(scratch.file("domain.pddl"), text.domain);
    write_file(scratch.file("problem.pddl"), text.problem);
    const std::string plan = scratch.file("plan");
    fs::remove(plan);
    const ProgramResult outcome =
        execute(quoted(planner) + " --overall-time-limit 20 --sas-file " + quoted(scratch.file("task.sas")) +
                " --plan-file " + quoted(plan) + " " + quoted(scratch.file("domain.pddl")) + " " +
                quoted(scratch.file("problem.pddl")) + " --search 'astar(blind())'");
    if (outcome.status >= 20 && outcome.status < 30) continue;  // out of time or memory: no opinion
    const bool solvable = Lookahead::compile(task, {})->verdict() == Verdict::kSolvable;
    EXPECT_EQ(outcome.status == 0, solvable) << outcome.output;
    if (outcome.status != 0) continue;
    const Validation validation = task.validate(read_plan(plan));
    EXPECT_TRUE(validation.valid) << validation.reason;
    ++plans;
  }
  EXPECT_GT(plans, 10U);
}

}  // namespace
}  // namespace metactrl::oracles_test
