// Tries every way to execute a list of subgoals.
#ifndef METACTRL_SRC_BENCHMARKS_VIRTUALHOME_SUBGOAL_SEARCH_H_
#define METACTRL_SRC_BENCHMARKS_VIRTUALHOME_SUBGOAL_SEARCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/score.h"
#include "benchmarks/virtualhome/executor.h"
#include "benchmarks/virtualhome/scene.h"
#include "benchmarks/virtualhome/subgoal_formula.h"

namespace metactrl::benchmarks::virtualhome {

struct Subgoal {
  Formula atom;
  bool negated = false;  // the evaluator fails with an exception when it comes to one
};

enum class SearchVerdict : std::uint8_t { kCorrect, kGoalUnreachable, kRuntime, kException, kEndless };

struct SearchResult {
  SearchVerdict verdict = SearchVerdict::kException;
  std::string reason;  // for kException and kEndless
  // Otherwise the way the evaluator reports: all actions tried, those that were executed, and where they lead.
  std::vector<StepScore> steps;
  std::vector<Action> executed;
  std::optional<World> end;
};

// Breadth first, as the evaluator does: of several ways it reports the successful one with the fewest errors, else the
// complete one with the fewest, else the failed one with the fewest and then the longest. Time and memory grow with the
// number of ways; more than 4096 at once, or a million actions altogether, are kEndless.
SearchResult search_subgoals(const std::vector<Subgoal>& subgoals, const Goal& goal, const Scene& scene);

// The lists of actions that may bring about an atom in a state, with arguments of the right number. Nothing where the
// evaluator fails with an exception; an empty list where it skips the atom.
std::optional<std::vector<std::vector<Action>>> expand_subgoal(const Formula& atom, const World& world);

}  // namespace metactrl::benchmarks::virtualhome

#endif  // METACTRL_SRC_BENCHMARKS_VIRTUALHOME_SUBGOAL_SEARCH_H_
