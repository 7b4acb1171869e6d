// How much of what a plan needs a prompt states: the paper's audit ("For each action in each gold plan, we look up its
// declared preconditions, taken from the benchmark's own action definitions ... and ask whether the predicate and its bound
// object can be read off the prompt directly").
//
//     for (const InformationAudit& audit : information_audits("data")) print(audit_markdown(...));
//
// A declared precondition is a literal of the action's precondition, or a part of it with a quantifier, each counted once
// for a step. It can be read off the prompt when
//
//   a property   the prompt lists the object's properties;
//   a state      the prompt shows the object's states;
//   a relation   the prompt states it of these objects, with either sign;
//   a quantifier the prompt states one of its relations of the object that it speaks of.
//
// What earlier steps of the plan bring about counts for nothing. Robots are a matter of their own: no prompt says of each
// step where the robot is and what it holds, and the paper does not say whether it counted such conditions. So there are two
// numbers, of all conditions and of those about things alone.
//
// Cost: linear in the reference plans, plus reading the prompts (a second for all tasks).
#ifndef METACTRL_SRC_BENCHMARKS_INFORMATION_AUDIT_H_
#define METACTRL_SRC_BENCHMARKS_INFORMATION_AUDIT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/own_pddl.h"

namespace metactrl::benchmarks {

struct InformationAudit {
  struct Count {
    std::size_t declared = 0;
    std::size_t derivable = 0;
    double percent() const {
      return declared == 0 ? 0 : 100 * static_cast<double>(derivable) / static_cast<double>(declared);
    }
  };

  std::string benchmark;  // "VirtualHome"
  std::size_t tasks = 0;
  std::size_t steps = 0;
  std::size_t foreign_steps = 0;  // that the benchmark's domain has no action for; not counted
  Count all;
  Count of_things;
  double tags_per_prompt = 0;
  // Of the things in reference plans: different names without their numbers, and those that the taxonomy of objects gives
  // an ability which some action asks for. Of benchmarks that have a taxonomy.
  std::size_t names = 0;
  std::size_t able_names = 0;
  // What the paper states, of all tasks.
  std::string_view paper_derivable;
  std::string_view paper_tags;
};

InformationAudit audit_information(const OwnPddl& own, std::string_view benchmark);
// Of every benchmark whose files are in the data folder.
std::vector<InformationAudit> information_audits(const std::string& data);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_INFORMATION_AUDIT_H_
