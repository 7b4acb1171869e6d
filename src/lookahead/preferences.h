// Which preferences a plan is to satisfy.
//
//     PreferenceChoice choice = choose_preferences(task, options);
//     plan(choice.task, ...);                                // the chosen ones are goals of it
//     choice.value, choice.lower_bound;                      // what the plan known costs, what every plan costs at least
//
// The value of a plan is its metric: the weights of the preferences that it violates, and what its actions cost where
// the metric counts that. Anytime: first one preference after the other, the heaviest first, as long as that makes a
// better plan; then whatever plan of the whole task is better, within a budget. Deterministic.
#ifndef METACTRL_SRC_LOOKAHEAD_PREFERENCES_H_
#define METACTRL_SRC_LOOKAHEAD_PREFERENCES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "metactrl/lookahead.h"

namespace metactrl {

struct PreferenceOptions {
  // Of the lookahead that will be asked for the task with the chosen preferences; weights are not computed.
  LookaheadOptions lookahead;
  // Steps (Budget::work) for plans that are better than what one preference after the other gives, and for a bound.
  std::uint64_t improve = 50'000'000;
  // Spend all of `lookahead.search` on the proof that no plan is better.
  bool prove = false;
  // Where `stop` asks for an end: return what is known.
  bool keep_when_stopped = false;
};

struct PreferenceChoice {
  Task task;                        // with the chosen preferences as goals
  std::vector<std::size_t> chosen;  // ascending; places in Validation::preferences
  std::vector<ActionId> plan;       // that satisfies them
  double value = 0;                 // of that plan
  double lower_bound = 0;           // no plan has a smaller value
  bool optimal = false;             // nor this one
  bool stopped = false;             // `task` may have no plan that is known
};

bool has_preferences(const Task& task);

// Of a task that has any. Where no plan is known for its goals alone, nothing is chosen and `plan` is empty; whoever asks
// the lookahead for the task hears why. Throws Stopped when `stop` says so, if no plan is known by then or none was asked
// for.
PreferenceChoice choose_preferences(const Task& task, const PreferenceOptions& options, const Stop& stop = {});

// The task with these preferences as goals.
Task with_preferences(const Task& task, std::span<const std::size_t> chosen);

// What a plan is worth by the task's metric; smaller is better.
double metric_value(const Task& task, const Validation& validation);

}  // namespace metactrl

#endif  // METACTRL_SRC_LOOKAHEAD_PREFERENCES_H_
