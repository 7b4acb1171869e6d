// State counts and shortest plans against the recorded numbers of another implementation (ipc/STATES.tsv).
//
// Columns: reachable states and edges of the full task, states of the goal-relevant projection, length of a shortest
// plan, number of ground operators. What it could not enumerate is given as ">n". Rows of more than 300,000 states are a slow
// test of their own.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "lookahead/search.h"
#include "lookahead/space.h"
#include "metactrl/domain.h"
#include "metactrl/lookahead.h"
#include "support/test_data.h"
#include "task/program.h"

namespace metactrl::states_test {
namespace {

constexpr std::size_t kDefaultLimit = 300'000;
constexpr std::size_t kSlowLimit = 1'000'000;

struct Row {
  std::string domain;
  std::string file;
  std::optional<std::size_t> states;
  std::optional<std::size_t> edges;
  std::optional<std::size_t> relevant;
  std::optional<unsigned> shortest;
  std::optional<std::size_t> operators;
};

std::optional<std::size_t> number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return std::stoull(text);
}

std::vector<Row> read_rows() {
  std::ifstream in(testing::data_path("ipc/STATES.tsv"));
  std::vector<Row> rows;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line) && !line.starts_with('#')) {
    std::vector<std::string> cells(9);
    std::istringstream stream(line);
    for (std::string& cell : cells) std::getline(stream, cell, '\t');
    Row row{cells[0], cells[1], number(cells[2]), number(cells[3]), number(cells[4]), {}, number(cells[6])};
    if (const auto shortest = number(cells[5])) row.shortest = static_cast<unsigned>(*shortest);
    rows.push_back(std::move(row));
  }
  return rows;
}

Budget budget_of(std::size_t states) { return {states, std::size_t{3} << 30}; }

// The full state space: the counts are equal. Edges are, too, where both have the same actions: the recorded task lacks
// actions that change nothing, which are legal here.
void check_full(const Row& row, const Task& task) {
  const lookahead::SpaceCount full =
      lookahead::count_reachable(task.program(), budget_of(*row.states + 1), /*projected=*/false);
  EXPECT_EQ(full.limit, Limit::kNone);
  EXPECT_EQ(full.states, *row.states);
  if (task.num_actions() == row.operators) {
    EXPECT_EQ(full.edges, row.edges);
  } else {
    EXPECT_GE(full.edges, row.edges.value_or(0));
  }
}

// Our projection drops single facts, the recorded one whole finite-domain variables: ours is never larger. In rovers
// some facts of a relevant variable ("the camera is calibrated for a target nobody asked about") are irrelevant; in the
// other domains all facts of a relevant variable are.
void check_projection(const Row& row, const Task& task) {
  const lookahead::SpaceCount projected =
      lookahead::count_reachable(task.program(), budget_of(*row.relevant + 1), /*projected=*/true);
  EXPECT_EQ(projected.limit, Limit::kNone);
  EXPECT_LE(projected.states, *row.relevant);
  if (row.domain != "rovers") {
    EXPECT_EQ(projected.states, *row.relevant);
  }
}

// Tier A where the projection fits, else search for a shortest plan.
void check_shortest(const Row& row, const Task& task, std::size_t limit) {
  if (row.relevant && *row.relevant <= limit) {
    LookaheadOptions options;
    options.exact = budget_of(*row.relevant + 1);
    options.weights = false;
    const auto lookahead = Lookahead::compile(task, options);
    EXPECT_EQ(lookahead->verdict(), Verdict::kSolvable);
    EXPECT_EQ(lookahead->tier(), Tier::kExact);
    EXPECT_EQ(lookahead->shortest_plan_length(), row.shortest);
    EXPECT_EQ(lookahead->plan().size(), *row.shortest);
    const Validation validation = task.validate(lookahead->plan());
    EXPECT_TRUE(validation.valid) << validation.reason;
  }
  lookahead::RelaxedTask relaxed(task.program());
  lookahead::RelaxedEvaluator evaluator(relaxed);
  std::vector<task::Word> state(task.program().total_words());
  task.program().initial(state.data());
  task.program().project(state.data());
  const lookahead::SearchResult result =
      find_shortest(task.program(), evaluator, state.data(), lookahead::kInfinite, budget_of(2 * limit));
  if (result.outcome == lookahead::SearchResult::Outcome::kBudget) {
    EXPECT_TRUE(!row.relevant || *row.relevant > limit);
    EXPECT_LE(result.lower_bound, *row.shortest);
    return;
  }
  EXPECT_EQ(result.outcome, lookahead::SearchResult::Outcome::kFound);
  EXPECT_EQ(result.plan.size(), *row.shortest);
}

// Compares the rows of more than `from` and up to `to` states; how many there were.
std::size_t compare_rows(std::size_t from, std::size_t to) {
  const auto in_range = [&](const std::optional<std::size_t>& states) {
    return states && *states > from && *states <= to;
  };
  std::size_t compared = 0;
  for (const Row& row : read_rows()) {
    // A row without any number in range has nothing to compare here; the slow run also looks for the plans of rows
    // whose projection was too large to count.
    const bool only_plan = from > 0 && row.shortest && !row.relevant;
    if (!in_range(row.states) && !in_range(row.relevant) && !only_plan) continue;
    SCOPED_TRACE(row.domain + "/" + row.file);
    const std::string folder = testing::data_path("ipc/" + row.domain).string();
    const Task task = load_pddl(folder + "/domain.pddl", folder + "/" + row.file);
    if (in_range(row.states)) check_full(row, task);
    if (in_range(row.relevant)) check_projection(row, task);
    if (row.shortest && (in_range(row.relevant) || only_plan)) check_shortest(row, task, to);
    ++compared;
  }
  return compared;
}

TEST(States, AgreeWithRecordedNumbers) {
  METACTRL_NEEDS_DATA("ipc/STATES.tsv");
  EXPECT_GE(compare_rows(0, kDefaultLimit), 60U);
}

TEST(StatesSlow, AgreeWithRecordedNumbers) {
  METACTRL_NEEDS_DATA("ipc/STATES.tsv");
  EXPECT_GE(compare_rows(kDefaultLimit, kSlowLimit), 15U);
}

}  // namespace
}  // namespace metactrl::states_test
