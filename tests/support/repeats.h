// How often a property is tried.
#ifndef METACTRL_TESTS_SUPPORT_REPEATS_H_
#define METACTRL_TESTS_SUPPORT_REPEATS_H_

#include <cstdint>

#include "support/sanitized.h"

namespace metactrl::testing {

// `count`, and a fifth of it under sanitizers: they take ten times as long, and look for what the code does, not for
// which task it does it.
constexpr std::uint64_t repeats(std::uint64_t count) { return METACTRL_SANITIZED ? (count + 4) / 5 : count; }

// Whether that is often enough to ask for what is rare.
constexpr bool kRareThingsHappen = !METACTRL_SANITIZED;

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_REPEATS_H_
