// How much of what an action needs does a prompt tell?
//
//     DeclaredConditions c = declared_conditions(module, prompt, plan);
//     c.derivable; c.declared;      // 41 of 50
//
// For every step of a plan, each conjunct of the precondition that the paper's rules (Rules::kLiteral) declare for
// the action, with the step's objects, is a declared condition. It is derivable when the prompt decides it: from the
// prompt's own lines and from what the plan's earlier steps did, the conjunct comes out true or false. It is not
// derivable when that needs something the prompt does not show:
//
//   VirtualHome  whether a thing is open or closed, runs or stands still, is plugged in, is clean; the robot's posture:
//                where no line shows it. Properties are on the prompt's object lines.
//   BEHAVIOR     what a thing can do at all (opened, switched, soaked, ...), which no line says; and the states of
//                things that no line mentions.
//
// A conjunct with several atoms is evaluated in three values: true, false, not known.
//
// Cost: some milliseconds. Thread safety: pure.
#ifndef METACTRL_SRC_BENCHMARKS_PROMPT_KNOWLEDGE_H_
#define METACTRL_SRC_BENCHMARKS_PROMPT_KNOWLEDGE_H_

#include <cstddef>
#include <span>
#include <string_view>

#include "benchmarks/module.h"
#include "metactrl/task.h"

namespace metactrl::benchmarks {

struct DeclaredConditions {
  std::size_t declared = 0;
  std::size_t derivable = 0;
};

// Steps whose action or object the paper's rules do not know are left out. Throws InputError when the prompt cannot be
// read. All zero for a module without a table of what its prompts hide.
DeclaredConditions declared_conditions(const Module& module, std::string_view prompt, std::span<const PlanStep> plan);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_PROMPT_KNOWLEDGE_H_
