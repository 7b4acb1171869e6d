// Random small ground tasks for property tests, and their meaning spelled out over plain vectors of bool: a second,
// slow implementation to compare the compiled one with.
#ifndef METACTRL_TESTS_SUPPORT_RANDOM_DEFINITION_H_
#define METACTRL_TESTS_SUPPORT_RANDOM_DEFINITION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "metactrl/task.h"
#include "task/definition.h"

namespace metactrl::testing {

struct RandomOptions {
  std::uint32_t min_facts = 3;  // at least 3
  std::uint32_t max_facts = 8;
  std::uint32_t max_derived = 3;
  std::uint32_t max_actions = 14;
  std::uint32_t max_monitors = 2;
};

// The same seed gives the same task, on every platform. Fact i is "(p<i>)", action i is "(a<i>)".
task::Definition random_definition(std::uint64_t seed, const RandomOptions& options = {});

// A state of the plain semantics: the stored and derived facts, and for each monitor what it has to remember.
struct PlainState {
  internal::IdVector<task::FactId, bool> facts;
  std::vector<std::uint32_t> memory;
  auto operator<=>(const PlainState&) const = default;
};

// Nothing when the initial state violates a constraint.
std::optional<PlainState> plain_initial(const task::Definition& definition);
// Nothing when the action is not legal.
std::optional<PlainState> plain_apply(const task::Definition& definition, const PlainState& state, ActionId action);
bool plain_goal(const task::Definition& definition, const PlainState& state);
bool plain_holds(const task::Formula& formula, const internal::IdVector<task::FactId, bool>& facts);

// The compiled task of random_definition(seed, options); its plans are validated by the plain semantics.
Task random_task(std::uint64_t seed, const RandomOptions& options = {});

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_RANDOM_DEFINITION_H_
