// What the attacks are made with: vocabularies, models, formats.
#ifndef METACTRL_TESTS_ATTACK_ARSENAL_H_
#define METACTRL_TESTS_ATTACK_ARSENAL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lm/malice.h"
#include "metactrl/format.h"
#include "metactrl/language_model.h"

namespace metactrl::attack {

// The models: one that knows nothing, one for each kind of malice, one with all of them.
struct ModelKind {
  const char* name;
  bool hostile;
  lm::Malice malice;
};
const std::vector<ModelKind>& model_kinds();

class Arsenal {
 public:
  // Vocabularies of real models that are installed, by name.
  const std::vector<std::string>& real_names() const { return names_; }
  // Loaded when first asked for.
  std::shared_ptr<const Vocabulary> real(std::size_t index);

  // All bytes and some hundred longer tokens cut from the plans of this spelling, so that tokens straddle arguments,
  // actions and separators. Larger `tameness`: 1 cuts tokens from words only, 2 has no longer tokens at all. (A
  // vocabulary whose encoding cannot be cut between two actions is refused when it is compiled.)
  static std::shared_ptr<const Vocabulary> table(const PlanSpelling& spelling, std::uint64_t seed, unsigned tameness);

  // A model of its own.
  static std::unique_ptr<LanguageModel> make_model(const std::shared_ptr<const Vocabulary>& vocabulary,
                                                   std::size_t kind);
  // One model serves all plans of a vocabulary: what it does depends on the prompt. Kept as long as the arsenal.
  LanguageModel& model(const std::shared_ptr<const Vocabulary>& vocabulary, std::size_t kind);
  // Forgets the models of a vocabulary.
  void forget(const std::shared_ptr<const Vocabulary>& vocabulary);

  Arsenal();

 private:
  std::vector<std::string> names_;
  std::map<std::size_t, std::shared_ptr<const Vocabulary>> vocabularies_;
  std::map<std::pair<const Vocabulary*, std::size_t>, std::unique_ptr<LanguageModel>> models_;
};

}  // namespace metactrl::attack

#endif  // METACTRL_TESTS_ATTACK_ARSENAL_H_
