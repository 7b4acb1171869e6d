// From a PDDL tree to a ground task.
#ifndef METACTRL_SRC_PDDL_GROUND_H_
#define METACTRL_SRC_PDDL_GROUND_H_

#include <cstddef>

#include "metactrl/error.h"
#include "pddl/ast.h"
#include "support/meter.h"
#include "task/definition.h"

namespace metactrl::pddl {

struct GroundLimits {
  std::size_t max_actions = 0;
  std::size_t max_atoms = 0;
};

// Instantiates every action that relaxed reachability cannot exclude. Quantifiers are expanded over the bindings that
// can matter; conditional effects stay conditional effects. Every binding that is tried is counted. An action whose cost
// has no value is left out, with a warning per function to `warnings` where given. Throws TaskTooLarge when a limit is
// passed, TooManyHosts (ground_hosts.h) where `ground_or_forget_hosts` would give up.
task::Definition ground(const Ast& ast, const GroundLimits& limits, internal::Meter& meter = internal::no_meter(),
                        Diagnostics* warnings = nullptr);
// The same; where it would take too long to say what runs inside others, that is given up in the tree, too.
task::Definition ground_or_forget_hosts(Ast& ast, const GroundLimits& limits, internal::Meter& meter,
                                        Diagnostics* warnings);

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_GROUND_H_
