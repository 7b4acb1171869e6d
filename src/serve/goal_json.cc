#include "serve/goal_json.h"

#include <utility>

#include "serve/thinking.h"
#include "support/words.h"

namespace metactrl::serve {

namespace {

// What is said of every plan for a goal that a model wrote, in JSON.
constexpr const char* kRelative = "of the goal shown; nothing guarantees that it is what was meant";

// What both answers say about the writing.
Json writing_json(const GoalProblem::Written& written, double seconds) {
  Json refused = Json::array();
  for (const GoalProblem::Refused& one : written.refused) {
    refused.push_back({{"condition", one.condition}, {"words", one.words}, {"reason", one.reason}});
  }
  Json json{{"guarantee", kRelative},
            {"certified", written.certified},
            {"reason", written.reason},
            {"doubt", written.doubt.empty() ? Json(nullptr) : Json(written.doubt)},
            {"refused", std::move(refused)}};
  json["left_out"] = written.left_out;
  if (!written.text.empty()) json["text"] = written.text;
  if (written.thought) json["reasoning"] = reasoning_json(written.thought);
  json["model_calls"] = written.model_calls;
  json["prompt_tokens"] = written.prompt_tokens;
  json["proofs"] = written.proofs;
  json["work"] = written.work;
  json["budget_ended"] = written.budget_ended;
  json["seconds"] = seconds;
  return json;
}

}  // namespace

Json goal_json(const ChosenGoal& goal) {
  Json json{{"pddl", goal.pddl.empty() ? Json(nullptr) : Json(goal.pddl)},
            {"source", goal.by_model ? "instruction" : "given"}};
  if (!goal.by_model) return json;
  const GoalProblem::Written& written = goal.written;
  json["words"] = goal.pddl.empty() ? Json::array() : Json(written.goals[goal.choice].words);
  Json hypotheses = Json::array();
  for (const GoalProblem::Goal& one : written.goals) {
    hypotheses.push_back({{"pddl", one.pddl},
                          {"words", one.words},
                          {"probability", one.probability},
                          {"holds_already", one.holds_already},
                          {"mentioned", one.mentioned}});
  }
  json["hypotheses"] = std::move(hypotheses);
  json["unknown_names"] = written.unknown_names;
  json.update(writing_json(written, goal.seconds));
  return json;
}

const char* no_goal_outcome(const GoalProblem::Written& written, Guidance guidance) {
  if (written.undecided) return "undecided";
  return guidance == Guidance::kNone ? "no goal" : "infeasible";
}

Json goals_answer_json(const GoalProblem::Written& written, Guidance guidance, double seconds) {
  Json goals = Json::array();
  for (const GoalProblem::Goal& one : written.goals) {
    goals.push_back({{"goal", one.pddl},
                     {"words", internal::join(one.words, "; ")},
                     {"probability", one.probability},
                     {"holds_already", one.holds_already},
                     {"mentioned", one.mentioned}});
  }
  Json json{{"outcome", goals.empty() ? no_goal_outcome(written, guidance) : "goals"},
            {"goals", std::move(goals)},
            {"missing", written.unknown_names}};
  json.update(writing_json(written, seconds));
  return json;
}

}  // namespace metactrl::serve
