// Random small tasks with arguments, formats and vocabularies for tests of the decoder.
#ifndef METACTRL_TESTS_SUPPORT_RANDOM_CONSTRAINT_H_
#define METACTRL_TESTS_SUPPORT_RANDOM_CONSTRAINT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "metactrl/constraint.h"

namespace metactrl::testing {

struct RandomConstraintOptions {
  unsigned horizon = 3;
  bool all_relevant = false;  // only tasks all of whose actions are goal-relevant
  std::size_t max_actions = 6;
  bool witness_tier = false;  // force tier B
  Tokenization tokenization = Tokenization::kCanonical;
  bool no_closing = false;  // only the end of the turn ends a plan
  // Token i is byte i alone, instead of a random vocabulary.
  bool byte_vocabulary = false;
  // A trained surrogate for the task.
  std::function<Hmm(const Task&)> hmm;
};

// Nothing when the seed gives a task without a plan (or one that the options exclude). The same seed gives the same
// constraint.
std::shared_ptr<const Constraint> random_constraint(std::uint64_t seed, const RandomConstraintOptions& options = {});

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_RANDOM_CONSTRAINT_H_
