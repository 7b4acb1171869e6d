// State counts and shortest plans against the recorded numbers of another implementation (ipc/STATES.tsv), and of tasks of
// our own against what arithmetic says.
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
  EXPECT_EQ(full.limit, lookahead::Limit::kNone);
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
  EXPECT_EQ(projected.limit, lookahead::Limit::kNone);
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
    EXPECT_EQ(lookahead->tier(), Lookahead::Tier::kExact);
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

void check_all(const Row& row, const Task& task) {
  check_full(row, task);
  check_projection(row, task);
  check_shortest(row, task, kDefaultLimit);
}

// n discs on three pegs: every disc may be on any peg, and from any but three of the states three moves lead on.
TEST(States, OfTheTowersOfHanoi) {
  const std::string domain =
      "(define (domain towers) (:predicates (free ?x) (lies ?x ?y) (fits ?x ?y))"
      " (:action move :parameters (?disc ?from ?to)"
      " :precondition (and (fits ?disc ?to) (lies ?disc ?from) (free ?disc) (free ?to))"
      " :effect (and (free ?from) (lies ?disc ?to) (not (lies ?disc ?from)) (not (free ?to)))))";
  std::size_t states = 1;
  for (int discs = 1; discs <= 7; ++discs) {
    SCOPED_TRACE(discs);
    states *= 3;
    std::string objects = "a b c";
    std::string init = "(free b) (free c) (free d1)";
    std::string goal;
    for (int i = 1; i <= discs; ++i) {
      const std::string disc = "d" + std::to_string(i);
      const std::string below = "d" + std::to_string(i + 1);
      objects += " " + disc;
      for (const char* peg : {"a", "b", "c"}) init += " (fits " + disc + " " + peg + ")";
      for (int j = i + 1; j <= discs; ++j) init += " (fits " + disc + " d" + std::to_string(j) + ")";
      init += " (lies " + disc + " " + (i == discs ? "a" : below) + ")";
      goal += " (lies " + disc + " " + (i == discs ? "c" : below) + ")";
    }
    const Task task = load_pddl_text(domain, "(define (problem p) (:domain towers) (:objects " + objects + ") (:init " +
                                                 init + ") (:goal (and" + goal + ")))");
    Row row;
    row.states = row.relevant = states;
    row.edges = 3 * (states - 1);
    row.operators = task.num_actions();
    row.shortest = (1U << static_cast<unsigned>(discs)) - 1;
    check_all(row, task);
  }
}

// n blocks and a hand. There are a(n) ways to pile them up, a(n) = (2n - 1) a(n - 1) - (n - 1)(n - 2) a(n - 2), and the
// hand may hold one of them. To turn a pile over, every block is taken once and put once.
TEST(States, OfBlocks) {
  const std::string domain =
      "(define (domain piles) (:predicates (top ?x) (floor ?x) (on ?x ?y) (held ?x) (empty))"
      " (:action lift :parameters (?x) :precondition (and (top ?x) (floor ?x) (empty))"
      " :effect (and (held ?x) (not (top ?x)) (not (floor ?x)) (not (empty))))"
      " (:action lower :parameters (?x) :precondition (held ?x)"
      " :effect (and (top ?x) (floor ?x) (empty) (not (held ?x))))"
      " (:action take :parameters (?x ?y) :precondition (and (top ?x) (on ?x ?y) (empty))"
      " :effect (and (held ?x) (top ?y) (not (on ?x ?y)) (not (top ?x)) (not (empty))))"
      " (:action put :parameters (?x ?y) :precondition (and (held ?x) (top ?y))"
      " :effect (and (on ?x ?y) (top ?x) (empty) (not (held ?x)) (not (top ?y)))))";
  std::vector<std::size_t> piles = {1, 1};
  for (std::size_t n = 2; n <= 6; ++n) {
    SCOPED_TRACE(n);
    piles.push_back((2 * n - 1) * piles[n - 1] - (n - 1) * (n - 2) * piles[n - 2]);
    const auto block = [](std::size_t i) { return "b" + std::to_string(i); };
    std::string objects;
    std::string init = "(empty) (top b1) (floor " + block(n) + ")";
    std::string goal = " (floor b1)";
    for (std::size_t i = 1; i <= n; ++i) objects += " " + block(i);
    for (std::size_t i = 1; i < n; ++i) {
      init += " (on " + block(i) + " " + block(i + 1) + ")";
      goal += " (on " + block(i + 1) + " " + block(i) + ")";
    }
    const Task task = load_pddl_text(domain, "(define (problem p) (:domain piles) (:objects" + objects + ") (:init " +
                                                 init + ") (:goal (and" + goal + ")))");
    Row row;
    row.states = row.relevant = piles[n] + n * piles[n - 1];
    row.shortest = static_cast<unsigned>(2 * n);
    check_all(row, task);
  }
}

}  // namespace
}  // namespace metactrl::states_test
