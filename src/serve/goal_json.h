// A goal that is not the problem's own, and what the service and the program say of it as JSON.
#ifndef METACTRL_SRC_SERVE_GOAL_JSON_H_
#define METACTRL_SRC_SERVE_GOAL_JSON_H_

#include <cstddef>
#include <string>

#include "metactrl/goal.h"
#include "serve/json.h"

namespace metactrl::serve {

// Given by hand, or written by a model from an instruction.
struct ChosenGoal {
  std::string pddl;  // empty: none could be written, or nobody confirmed one
  bool by_model = false;
  GoalProblem::Written written{};  // by_model
  std::size_t choice = 0;          // which of written.goals
  double seconds = 0;
};

// The member "goal" of a plan's answer: pddl, source; of one by the model also words, guarantee, certified, reason, doubt,
// hypotheses, refused, unknown_names, left_out, text, reasoning, model_calls, prompt_tokens, proofs, work,
// budget_ended, seconds.
Json goal_json(const ChosenGoal& goal);

// Why there is none, in a word: infeasible, undecided, or "no goal" where the model wrote what it liked.
const char* no_goal_outcome(const GoalProblem::Written& written, Guidance guidance);

// The answer of whoever asks for goals alone: outcome, goals, missing and the rest.
Json goals_answer_json(const GoalProblem::Written& written, Guidance guidance, double seconds);

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_GOAL_JSON_H_
