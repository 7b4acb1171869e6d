// Every PDDL file of the planning data: it loads, or is refused for a reason that is true of the file; what is known to
// be unsolvable is proved so; household tasks are solved, and every question about them is answered. Of PlanBench and the
// household tasks an excerpt ships.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/lookahead.h"
#include "support/test_data.h"

namespace metactrl::data_test {
namespace {

namespace fs = std::filesystem;

struct Pair {
  std::string name;  // folder/domain + problem, for messages
  std::string domain;
  std::string problem;
};

using testing::Extent;

// All domains of a folder with all of its problems, below data_path(root), by name.
std::vector<Pair> pairs_below(const std::string& root, Extent extent = Extent::kWhole) {
  std::map<std::string, std::vector<std::string>> files;  // folder -> file names
  for (const auto& entry : fs::recursive_directory_iterator(testing::data_path(root, extent))) {
    if (entry.path().extension() != ".pddl") continue;
    files[entry.path().parent_path().string()].push_back(entry.path().filename().string());
  }
  std::vector<Pair> pairs;
  for (auto& [folder, names] : files) {
    std::sort(names.begin(), names.end());
    const auto is_domain = [](const std::string& name) { return name.find("domain") != std::string::npos; };
    const std::string short_name = fs::relative(folder, testing::data_path("", extent)).string();
    for (const std::string& domain : names) {
      if (!is_domain(domain)) continue;
      for (const std::string& problem : names) {
        if (is_domain(problem)) continue;
        pairs.push_back({short_name + "/" + domain + " " + problem, folder + "/" + domain, folder + "/" + problem});
      }
    }
  }
  return pairs;
}

// Pairs that cannot be loaded, and what their files lack.
const std::map<std::string, std::string>& known_refusals() {
  static const std::map<std::string, std::string> refusals = {
      // The domain names objects that only problems of another generator declare.
      {"household/alfred/domain.pddl problem_0_0.pddl", "object 'sinkbasintype' is not declared"},
  };
  return refusals;
}

void load_all(const std::string& root, Extent extent, std::size_t count) {
  const std::vector<Pair> pairs = pairs_below(root, extent);
  EXPECT_EQ(pairs.size(), count);
  for (const Pair& pair : pairs) {
    SCOPED_TRACE(pair.name);
    const auto refusal = known_refusals().find(pair.name);
    Diagnostics diagnostics;
    LoadOptions options;
    options.diagnostics = &diagnostics;
    try {
      const Task task = load_pddl(pair.domain, pair.problem, options);
      EXPECT_EQ(refusal, known_refusals().end()) << "loads after all";
      EXPECT_FALSE(diagnostics.has_errors());
      EXPECT_GT(task.num_actions(), 0U);
      EXPECT_FALSE(task.initially_violated());
    } catch (const InputError& error) {
      ASSERT_NE(refusal, known_refusals().end()) << error.what();
      const auto& items = error.diagnostics().items();
      const auto names_it = [&](const Diagnostic& d) {
        return d.severity == Diagnostic::Severity::kError && d.message.find(refusal->second) != std::string::npos;
      };
      const auto reason = std::find_if(items.begin(), items.end(), names_it);
      ASSERT_NE(reason, items.end()) << error.what();
      EXPECT_EQ(reason->where.file, pair.domain);
      EXPECT_GT(reason->where.line, 0U);
      EXPECT_FALSE(reason->hint.empty());
    }
    for (const Diagnostic& warning : diagnostics.items()) {
      EXPECT_GT(warning.where.line, 0U) << to_string(warning);
      EXPECT_FALSE(warning.message.empty());
    }
  }
}

TEST(Data, IpcLoads) {
  METACTRL_NEEDS_DATA("ipc");
  load_all("ipc", Extent::kWhole, 130);
}

TEST(Data, LlmpLoads) {
  METACTRL_NEEDS_DATA("llmp");
  load_all("llmp", Extent::kWhole, 35);
}

class DataTasks : public ::testing::TestWithParam<Extent> {
 protected:
  static bool whole() { return GetParam() == Extent::kWhole; }
};

TEST_P(DataTasks, PlanbenchLoads) {
  METACTRL_NEEDS_EXTENT(GetParam(), "planbench");
  load_all("planbench", GetParam(), whole() ? 80 : 9);
}

TEST_P(DataTasks, HouseholdLoads) {
  METACTRL_NEEDS_EXTENT(GetParam(), "household");
  load_all("household", GetParam(), whole() ? 62 : 10);
}

TEST_P(DataTasks, UnsolvableTasksAreProvedInfeasible) {
  METACTRL_NEEDS_EXTENT(GetParam(), "planbench/unsolvable_blocksworld");
  for (const Pair& pair : pairs_below("planbench/unsolvable_blocksworld", GetParam())) {
    SCOPED_TRACE(pair.name);
    const Task task = load_pddl(pair.domain, pair.problem);
    const auto lookahead = Lookahead::compile(task, {});
    EXPECT_EQ(lookahead->verdict(), Verdict::kInfeasible);
    EXPECT_TRUE(lookahead->plan().empty());
    if (lookahead->unreachable_goals().empty()) {
      EXPECT_NE(lookahead->reason().find("jointly"), std::string::npos) << lookahead->reason();
    }
    for (const GoalId goal : lookahead->unreachable_goals()) {
      EXPECT_NE(lookahead->reason().find(task.goal_text(goal)), std::string::npos) << lookahead->reason();
    }
    // The same by search alone.
    LookaheadOptions search_only;
    search_only.exact.states = 0;
    const auto searched = Lookahead::compile(task, search_only);
    EXPECT_EQ(searched->tier(), Lookahead::Tier::kWitness);
    EXPECT_EQ(searched->verdict(), Verdict::kInfeasible) << searched->reason();
    Support support(searched);
    for (const Candidate& candidate : support.candidates(task.initial_state(), 40)) {
      EXPECT_EQ(candidate.answer, Answer::kNo) << task.text(candidate.action);
    }
  }
}

TEST_P(DataTasks, SolvablePlanbenchTasksAreSolved) {
  METACTRL_NEEDS_EXTENT(GetParam(), "planbench/blocksworld");
  for (const char* folder : {"planbench/blocksworld", "planbench/logistics"}) {
    for (const Pair& pair : pairs_below(folder, GetParam())) {
      SCOPED_TRACE(pair.name);
      const Task task = load_pddl(pair.domain, pair.problem);
      const auto lookahead = Lookahead::compile(task, {});
      ASSERT_EQ(lookahead->verdict(), Verdict::kSolvable) << lookahead->reason();
      const Validation validation = task.validate(lookahead->plan());
      EXPECT_TRUE(validation.valid) << validation.reason;
    }
  }
}

// Along a plan every legal action is either supported or refuted, and following the plan is supported.
void check_household(const Pair& pair) {
  const Task task = load_pddl(pair.domain, pair.problem);
  const auto lookahead = Lookahead::compile(task, {});
  ASSERT_EQ(lookahead->verdict(), Verdict::kSolvable) << lookahead->reason();
  const Validation validation = task.validate(lookahead->plan());
  ASSERT_TRUE(validation.valid) << validation.reason;
  Support support(lookahead);
  State state = task.initial_state();
  unsigned left = lookahead->horizon();
  for (const ActionId action : lookahead->plan()) {
    bool supported = false;
    for (const Candidate& candidate : support.candidates(state, left)) {
      EXPECT_NE(candidate.answer, Answer::kUnknown) << task.text(candidate.action) << ", " << left << " left";
      supported = supported || (candidate.action == action && candidate.answer == Answer::kYes);
    }
    EXPECT_TRUE(supported) << task.text(action);
    state = *task.apply(state, action);
    --left;
  }
  EXPECT_TRUE(task.is_goal(state));
}

TEST_P(DataTasks, HouseholdTasksAreSolvedAndEveryCandidateIsDecided) {
  METACTRL_NEEDS_EXTENT(GetParam(), "household/virtualhome");
  std::size_t tasks = 0;
  for (const char* folder : {"household/virtualhome", "household/behavior"}) {
    for (const Pair& pair : pairs_below(folder, GetParam())) {
      // domain_val.pddl is the same domain, without what one other program refuses.
      if (pair.domain.ends_with("_val.pddl")) continue;
      SCOPED_TRACE(pair.name);
      check_household(pair);
      ++tasks;
    }
  }
  EXPECT_EQ(tasks, whole() ? 30U : 10U);
}

INSTANTIATE_TEST_SUITE_P(Data, DataTasks, ::testing::ValuesIn(testing::kExtents), testing::extent_name);

}  // namespace
}  // namespace metactrl::data_test
