// How much of what a model can write a corpus shows: distinct plans, their entropy, and which actions occur how often.
//
//     Diversity found = diversity(corpora);
//     std::vector<NeededAction> rare = coverage(found, {"sleep", "walk"});
//
// Plans are compared as symbols of the meta level, texts as tokens. What could not be read as a plan counts as a generation
// and for nothing else.
#ifndef METACTRL_SRC_TRAINING_DIVERSITY_H_
#define METACTRL_SRC_TRAINING_DIVERSITY_H_

#include <cstddef>
#include <string>
#include <vector>

#include "training/corpora.h"

namespace metactrl::training {

struct Diversity {
  struct Action {
    std::string name;
    std::size_t times = 0;
    std::size_t plans = 0;  // that have it
  };
  // The first plans of a corpus, in the order in which they were written, and how many of them differ.
  struct Growth {
    std::size_t plans = 0;
    std::size_t distinct = 0;
  };

  std::size_t generations = 0;
  std::size_t plans = 0;
  std::size_t prompts = 0;  // with at least one plan
  std::size_t actions = 0;  // of all plans
  std::size_t tokens = 0;
  std::size_t distinct_plans = 0;
  std::size_t distinct_texts = 0;
  // Means over the prompts: of how many plans differ, as symbols and as tokens, and of the entropy of the plans.
  double distinct_plans_per_prompt = 0;
  double distinct_texts_per_prompt = 0;
  double entropy_per_prompt = 0;
  // In nats, of a plan drawn from all of them: 0 when all are equal, log(plans) when all differ.
  double entropy = 0;
  std::vector<Growth> growth;  // an eighth, a quarter, half and all of the plans
  // Every action of the alphabet, the most frequent first, then by name; those that never occur at the end.
  std::vector<Action> by_frequency;
};

// Of several corpora as one, one after the other. Their prompts are different ones.
Diversity diversity(const std::vector<NamedCorpus>& corpora);

// An action that a plan needs, and how often the corpus has it. Names are compared without case, '-' and '_'.
struct NeededAction {
  std::string name;
  std::size_t times = 0;
  double share = 0;  // of all actions
};
// The rarest first. A name that the alphabet does not have occurs zero times.
std::vector<NeededAction> coverage(const Diversity& found, const std::vector<std::string>& needed);
// As names are compared.
std::string plain_action_name(const std::string& name);

}  // namespace metactrl::training

#endif  // METACTRL_SRC_TRAINING_DIVERSITY_H_
