// What tests of the planner share: a small vocabulary, and models over it that know nothing or mean harm.
#ifndef METACTRL_TESTS_SUPPORT_PLANNER_SETTING_H_
#define METACTRL_TESTS_SUPPORT_PLANNER_SETTING_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "metactrl/planner.h"

namespace metactrl::testing {

inline std::shared_ptr<const Vocabulary> vocabulary() {
  std::vector<std::string> tokens;
  for (int byte = 1; byte < 128; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  for (const char* word : {"press", "release", "(", "(press", " a", " b", ")\n", "fuse", "blow-", "action", "\": \"",
                           "{\"", "arguments"}) {
    tokens.emplace_back(word);
  }
  tokens.emplace_back("");  // ends a turn
  return std::make_shared<TableVocabulary>(tokens,
                                           std::vector<TokenId>{TokenId{static_cast<std::int32_t>(tokens.size()) - 1}});
}

struct Setting {
  std::shared_ptr<const Vocabulary> words = vocabulary();
  std::unique_ptr<LanguageModel> model;
};

inline Setting random_setting(std::uint64_t seed) {
  Setting setting;
  setting.model = random_model(setting.words, seed);
  return setting;
}

inline Setting hostile_setting(std::uint64_t seed) {
  Setting setting;
  setting.model = hostile_model(setting.words, seed);
  return setting;
}

inline PlanResult make(const Task& task, const Setting& setting, const PlanOptions& options,
                       const Observer& observer = {}, const std::string& format = "pddl") {
  return plan(task, PlanFormat::builtin(format), setting.model.get(), setting.words, options, observer);
}

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_PLANNER_SETTING_H_
