// The BEHAVIOR tasks at hand, from prompt to verdict.
//
//     for (const BehaviorPrompt& prompt : behavior_prompts(module, extent)) ...
//     BehaviorScorer scorer(module, extent);
//     TaskScore score = scorer.score(prompt.identifier, text);
#ifndef METACTRL_TESTS_SUPPORT_BEHAVIOR_TASKS_H_
#define METACTRL_TESTS_SUPPORT_BEHAVIOR_TASKS_H_

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "benchmarks/behavior/action_scorer.h"
#include "benchmarks/behavior/prompt_reader.h"
#include "benchmarks/behavior/subgoal_scorer.h"
#include "benchmarks/shipped_files.h"
#include "metactrl/domain.h"
#include "metactrl/lookahead.h"
#include "support/test_data.h"

namespace metactrl::testing {

enum class BehaviorModule { kActions, kSubgoals };

struct BehaviorPrompt {
  std::string identifier;
  std::string text;
};

inline std::vector<BehaviorPrompt> behavior_prompts(BehaviorModule module, Extent extent) {
  const char* const file = module == BehaviorModule::kActions ? "eai_beh/as_prompts.json" : "eai_beh/sd_prompts.json";
  std::ifstream in(data_path(file, extent));
  std::vector<BehaviorPrompt> out;
  for (const nlohmann::json& entry : nlohmann::json::parse(in)) {
    out.push_back({entry.at("identifier").get<std::string>(), entry.at("llm_prompt").get<std::string>()});
  }
  return out;
}

inline benchmarks::PromptTask read_behavior(BehaviorModule module, const std::string& prompt, benchmarks::Rules rules) {
  return module == BehaviorModule::kActions ? benchmarks::behavior::read_behavior_actions(prompt, rules)
                                            : benchmarks::behavior::read_behavior_subgoals(prompt, rules);
}

inline Task load_behavior(BehaviorModule module, const std::string& prompt, benchmarks::Rules rules) {
  std::string domain = module == BehaviorModule::kActions ? "behavior-actions/" : "behavior-subgoals/";
  domain += rules == benchmarks::Rules::kEnvironment ? "environment.pddl" : "paper.pddl";
  return load_pddl_text(benchmarks::shipped_file(domain), read_behavior(module, prompt, rules).problem);
}

// A test for both modules, on the excerpt and on the whole: ::testing::TestWithParam<BehaviorCase>.
using BehaviorCase = std::tuple<BehaviorModule, Extent>;

inline auto behavior_cases() {
  return ::testing::Combine(::testing::Values(BehaviorModule::kActions, BehaviorModule::kSubgoals),
                            ::testing::ValuesIn(kExtents));
}
inline std::string behavior_case_name(const ::testing::TestParamInfo<BehaviorCase>& info) {
  const bool actions = std::get<0>(info.param) == BehaviorModule::kActions;
  return (actions ? "Actions" : "Subgoals") + to_string(std::get<1>(info.param));
}

inline const char* behavior_format(BehaviorModule module) {
  return module == BehaviorModule::kActions ? "behavior-actions" : "behavior-subgoals";
}

// Small budgets: tier A where it is cheap, tier B elsewhere.
inline LookaheadOptions behavior_lookahead() {
  LookaheadOptions options;
  options.exact.states = 20'000;
  options.search.states = 20'000;
  options.weights = false;
  return options;
}

class BehaviorScorer {
 public:
  BehaviorScorer(BehaviorModule module, Extent extent)
      : actions_(benchmarks::behavior::load_action_tasks(data_path("eai_beh/as_tasks.jsonl", extent).string())) {
    if (module == BehaviorModule::kSubgoals) {
      subgoals_ =
          benchmarks::behavior::load_subgoal_tasks(data_path("eai_beh/sd_tasks.jsonl", extent).string(), actions_);
    }
  }

  benchmarks::TaskScore score(const std::string& identifier, const std::string& answer) const {
    return score(identifier, answer, [](benchmarks::behavior::ActionTask&) {});
  }

  // The same in a world that `change` has changed before.
  template <typename Change>
  benchmarks::TaskScore score(const std::string& identifier, const std::string& answer, Change change) const {
    for (const benchmarks::behavior::SubgoalTask& task : subgoals_) {
      if (task.id != identifier) continue;
      benchmarks::behavior::ActionTask world = actions_[task.world];
      change(world);
      return benchmarks::behavior::score_subgoal_answer(task, world, answer).score;
    }
    for (benchmarks::behavior::ActionTask task : actions_) {
      if (task.id != identifier) continue;
      change(task);
      return benchmarks::behavior::score_action_answer(task, answer);
    }
    ADD_FAILURE() << "no task " << identifier;
    return {};
  }

 private:
  std::vector<benchmarks::behavior::ActionTask> actions_;
  std::vector<benchmarks::behavior::SubgoalTask> subgoals_;
};

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_BEHAVIOR_TASKS_H_
