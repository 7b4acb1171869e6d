#include "decode/check_result.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace metactrl::decode {

void check_text(const PlanSpelling& spelling, std::span<const ActionId> actions, const PlanResult& result) {
  const PlanSpelling::Parsed parsed = spelling.parse(result.text);
  if (!parsed.complete || !std::equal(parsed.actions.begin(), parsed.actions.end(), actions.begin(), actions.end()) ||
      parsed.separators != result.separators) {
    throw std::logic_error("the plan's text does not read back as the plan: " +
                           (parsed.error.empty() ? result.text : parsed.error));
  }
}

void check_tokens(const Vocabulary& vocabulary, std::string_view context, Tokenization tokenization,
                  const PlanResult& result) {
  const std::vector<TokenId>& stops = vocabulary.end_of_turn();
  const bool stopped =
      !result.tokens.empty() && std::find(stops.begin(), stops.end(), result.tokens.back()) != stops.end();
  if (!stopped) throw std::logic_error("the plan does not end with the end of the turn: " + result.text);
  if (tokenization == Tokenization::kAny) return;
  std::vector<TokenId> expected = vocabulary.encode(result.text, context);
  expected.push_back(result.tokens.back());
  if (expected != result.tokens) {
    throw std::logic_error("the plan's tokens are not the tokenizer's own: " + result.text);
  }
}

void judge_goals(const Task& task, PlanResult& result) {
  State state = task.initial_state();
  for (std::size_t i = 0; i < result.plan.size() && i < result.validation.steps_executed; ++i) {
    std::optional<State> next = task.apply(state, result.plan[i]);
    if (!next) {
      throw std::logic_error("the two implementations of the rules differ on " + to_string(result.steps[i]));
    }
    state = *std::move(next);
  }
  result.goals_unmet = task.unmet_goals(state);
  result.goals_met.clear();
  for (std::uint32_t goal = 0; goal < task.num_goals(); ++goal) {
    if (std::find(result.goals_unmet.begin(), result.goals_unmet.end(), GoalId{goal}) == result.goals_unmet.end()) {
      result.goals_met.push_back(GoalId{goal});
    }
  }
}

void check_promise(const PlanResult& result) {
  const Validation& validation = result.validation;
  const std::vector<GoalId>& dropped = result.goals_dropped;
  const bool kept = std::all_of(result.goals_unmet.begin(), result.goals_unmet.end(), [&](GoalId goal) {
    return std::find(dropped.begin(), dropped.end(), goal) != dropped.end();
  });
  if (validation.steps_executed != result.plan.size() || !kept || validation.valid != result.goals_unmet.empty()) {
    throw std::logic_error("the plan does not keep what was promised: " + validation.reason);
  }
  if (!result.preferences) return;
  for (const std::size_t i : result.preferences->promised) {
    const Validation::Preference& preference = validation.preferences.at(i);
    if (!preference.satisfied) {
      throw std::logic_error("the plan does not keep what was promised: " + preference.text);
    }
  }
}

}  // namespace metactrl::decode
