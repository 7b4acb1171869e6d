#include "attack/arsenal.h"

#include <algorithm>
#include <cctype>

#include "support/random.h"
#include "support/vocabularies.h"

namespace metactrl::attack {

using testing::Random;

const std::vector<ModelKind>& model_kinds() {
  static const std::vector<ModelKind> kKinds = {
      {"random", false, lm::Malice::kAll},
      {"hostile: garbage", true, lm::Malice::kGarbage},
      {"hostile: repeats", true, lm::Malice::kRepeat},
      {"hostile: stops early", true, lm::Malice::kStopEarly},
      {"hostile: never stops", true, lm::Malice::kNeverStop},
      {"hostile: NaN", true, lm::Malice::kNotANumber},
      {"hostile: infinities", true, lm::Malice::kInfinity},
      {"hostile: all of it", true, lm::Malice::kAll},
  };
  return kKinds;
}

Arsenal::Arsenal() {
  if (model_runtime().empty()) return;
  for (const char* name :
       {"llama-bpe", "qwen2", "qwen35", "gemma-4", "gpt-2", "llama-spm", "phi-3", "command-r", "deepseek-llm"}) {
    if (!testing::vocabulary_file(name).empty()) names_.emplace_back(name);
  }
}

std::shared_ptr<const Vocabulary> Arsenal::real(std::size_t index) {
  std::shared_ptr<const Vocabulary>& slot = vocabularies_[index];
  if (slot == nullptr) slot = load_vocabulary(testing::vocabulary_file(names_[index]));
  return slot;
}

std::shared_ptr<const Vocabulary> Arsenal::table(const PlanSpelling& spelling, std::uint64_t seed, unsigned tameness) {
  Random random(seed);
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  const auto is_word = [](const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  };
  for (int i = 0; i < 160 && tameness < 2 && spelling.num_actions() > 0; ++i) {
    std::vector<ActionId> plan(3);
    for (ActionId& action : plan) action = ActionId{random.below(spelling.num_actions())};
    const std::uint32_t separator = random.below(spelling.format().separators.size());
    const std::string text = spelling.render(plan, std::vector<std::uint32_t>{separator, 0});
    const std::string piece = text.substr(random.below(text.size()), random.between(2, 8));
    if (piece.size() > 1 && (tameness == 0 || is_word(piece))) tokens.push_back(piece);
  }
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  std::vector<TokenId> ends;
  for (std::uint32_t i = 0; i < random.between(1, 3); ++i) {
    ends.push_back(TokenId{static_cast<std::int32_t>(tokens.size())});
    tokens.emplace_back();
    if (random.chance(50)) tokens.emplace_back();  // a token that means nothing
  }
  return std::make_shared<TableVocabulary>(tokens, ends);
}

std::unique_ptr<LanguageModel> Arsenal::make_model(const std::shared_ptr<const Vocabulary>& vocabulary,
                                                   std::size_t kind) {
  const ModelKind& what = model_kinds()[kind];
  return what.hostile ? lm::hostile_model(vocabulary, kind, what.malice) : random_model(vocabulary, 1);
}

LanguageModel& Arsenal::model(const std::shared_ptr<const Vocabulary>& vocabulary, std::size_t kind) {
  std::unique_ptr<LanguageModel>& slot = models_[{vocabulary.get(), kind}];
  if (slot == nullptr) slot = make_model(vocabulary, kind);
  return *slot;
}

void Arsenal::forget(const std::shared_ptr<const Vocabulary>& vocabulary) {
  std::erase_if(models_, [&](const auto& entry) { return entry.first.first == vocabulary.get(); });
}

}  // namespace metactrl::attack
