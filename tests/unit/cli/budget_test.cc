// One question, one budget: search and plan agree on whether there is a plan, and a time limit only ever ends in
// "undecided".
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "support/command_line.h"
#include "support/counter_task.h"
#include "support/sanitized.h"
#include "support/test_data.h"

namespace metactrl::budget_test {
namespace {

using Json = nlohmann::json;
using Result = testing::CommandResult;

class BudgetCli : public testing::CommandLineTest {
 protected:
  void write_counter(unsigned bits, bool impossible = false) const {
    const testing::PddlTexts texts = testing::counter_task(bits, impossible);
    write("d.pddl", texts.domain);
    write("p.pddl", texts.problem);
  }
  Result search(const std::string& more = "") const { return run("search -d d.pddl -p p.pddl " + more); }
  Result plan(const std::string& more = "") const {
    return run("plan -d d.pddl -p p.pddl --guidance search --output pddl " + more);
  }
};

TEST_F(BudgetCli, SearchAndPlanHaveTheSameDefaults) {
  const auto defaults = [](const std::string& help) {
    std::string out;
    const std::regex option("--max-(states|memory|work) \\S+=\\S+");
    for (auto match = std::sregex_iterator(help.begin(), help.end(), option); match != std::sregex_iterator();
         ++match) {
      out += match->str() + "\n";
    }
    return out;
  };
  const std::string of_search = defaults(run("search --help").out);
  EXPECT_EQ(std::count(of_search.begin(), of_search.end(), '\n'), 3) << of_search;
  for (const char* command : {"plan", "explain"}) {
    EXPECT_EQ(defaults(run(std::string(command) + " --help").out), of_search) << command;
  }
}

TEST_F(BudgetCli, SearchAndPlanAgree) {
  for (const unsigned bits : {3U, 7U, 11U}) {
    for (const bool impossible : {false, true}) {
      write_counter(bits, impossible);
      EXPECT_EQ(search().code, impossible ? 10 : 0);
      EXPECT_EQ(plan().code, impossible ? 10 : 0);
    }
  }
}

// The fewest states that do for one of them do for the other, and one less for neither.
TEST_F(BudgetCli, SearchAndPlanAgreeAtTheEdge) {
  write_counter(7);
  for (const std::string option : {"--max-states ", "--max-work "}) {
    unsigned enough = 1U << 20U;
    ASSERT_EQ(search(option + std::to_string(enough)).code, 0);
    for (unsigned short_of = 0; enough - short_of > 1;) {
      const unsigned middle = short_of + (enough - short_of) / 2;
      const Result result = search(option + std::to_string(middle));
      ASSERT_TRUE(result.code == 0 || result.code == 11) << result.err;
      (result.code == 0 ? enough : short_of) = middle;
    }
    EXPECT_EQ(plan(option + std::to_string(enough)).code, 0) << option << enough;
    const Result undecided = plan(option + std::to_string(enough - 1));
    EXPECT_EQ(undecided.code, 11) << option << enough - 1;
    EXPECT_NE(undecided.err.find("limit: " + option.substr(6, option.size() - 7)), std::string::npos) << undecided.err;
  }
}

TEST_F(BudgetCli, TimeThatIsOverIsUndecidedAndNothingElse) {
  write_counter(40, true);
  for (const std::string command :
       {"search", "search --shortest", "inspect", "plan --guidance search", "plan --guidance search --output json",
        "plan --guidance search --on-infeasible drop-goals"}) {
    const Result result = run(command + " -d d.pddl -p p.pddl --time-limit 0.3 --max-states 1000000000");
    EXPECT_TRUE(result.code == 11 || result.code == 21) << command << "\n" << result.err;
    EXPECT_NE(result.err.find("time limit"), std::string::npos) << result.err;
    if (result.code == 11 && command.find("json") != std::string::npos) {
      const Json json = Json::parse(result.out);
      EXPECT_EQ(json["outcome"], "undecided");
      EXPECT_TRUE(json.at("goals").at("dropped").empty());
    } else {
      EXPECT_EQ(result.out, "") << command;
    }
  }
}

TEST_F(BudgetCli, TimeThatIsNotOverChangesNothing) {
  write_counter(6);
  for (const std::string command :
       {"search", "plan --guidance search --output pddl", "plan --guidance uniform --model random:1",
        "plan --guidance uniform --model random:1 --output pddl", "plan --guidance none --model random:1"}) {
    const std::string all = command + " -d d.pddl -p p.pddl";
    const Result without = run(all);
    for (const std::string limit : {"60", "1e9"}) {
      const Result with = run(all + " --time-limit " + limit);
      EXPECT_EQ(with.code, without.code) << all << with.err;
      EXPECT_EQ(with.out, without.out) << all;
    }
  }
}

// With every amount of memory that suffices to start the program, up to the one that suffices for the answer: exit code 20
// and nothing else. Sanitizers need all addresses there are.
#if !METACTRL_SANITIZED
TEST_F(BudgetCli, TooLittleMemoryIsExitCode20) {
  write_counter(12);
  const std::string tasks = testing::data_path("wah_nl/tasks.jsonl", testing::Extent::kExcerpt).string();
  const std::vector<std::string> commands = {
      "search -d d.pddl -p p.pddl --max-memory 1G",
      "plan -d d.pddl -p p.pddl --guidance search --output json --max-memory 1G",
      "eval wah --guidance search --max-memory 1G --out r.json --tasks '" + tasks + "'",
  };
  constexpr std::size_t kStep = 512;
  for (const std::string& command : commands) {
    const auto within = [&](const std::string& arguments, std::size_t kilobytes) {
      std::filesystem::remove(path("r.json"));
      return run(arguments, "prlimit --as=" + std::to_string(kilobytes << 10U));
    };
    const std::string start = command.substr(0, command.find(' ')) + " --help";
    std::size_t kilobytes = 16 << 10U;
    while (within(start, kilobytes).code != 0) ASSERT_LT(kilobytes += kStep, std::size_t{16} << 20U);
    std::size_t refused = 0;
    Result result;
    for (; (result = within(command, kilobytes)).code != 0; ++refused) {
      ASSERT_EQ(result.code, 20) << command << " with " << kilobytes << " KB: " << result.err;
      EXPECT_CONTAINS(result.err, "out of memory");
      ASSERT_LT(kilobytes += kStep, std::size_t{16} << 20U);
    }
    EXPECT_GT(refused, 0U) << command;
  }
}
#endif

}  // namespace
}  // namespace metactrl::budget_test
