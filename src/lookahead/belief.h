// What decoders ask of a lookahead besides its public face: answers weighted by what a surrogate believes.
//
//     SurrogateBelief belief = start_belief(lookahead);
//     candidates(support, state, left, belief, out);
//     advance(lookahead, belief, action);             // it was taken
//     back_to(support, mark);                         // it was taken back
#ifndef METACTRL_SRC_LOOKAHEAD_BELIEF_H_
#define METACTRL_SRC_LOOKAHEAD_BELIEF_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "metactrl/lookahead.h"

namespace metactrl::lookahead {

// What a surrogate takes from the actions so far: the distribution of its hidden state. The uniform surrogate has none.
struct SurrogateBelief {
  std::vector<double> hidden;
};

// What it is worth to take at least one more action from a state.
struct GoOn {
  Answer answer = Answer::kNo;
  // log of the sum over goal-relevant actions a of p(a) * p(goal reached | a); where only irrelevant ones lead on, over
  // those.
  double log_weight = 0;
};

// The weights come from a trained surrogate.
bool is_trained(const Lookahead& lookahead);
SurrogateBelief start_belief(const Lookahead& lookahead);
// After one more action.
void advance(const Lookahead& lookahead, SurrogateBelief& belief, ActionId action);
// log p(the plan ends here)
double log_end(const Lookahead& lookahead, const SurrogateBelief& belief);
// p(action) of every action of the task, legal or not. hidden^2 for each beginning that actions have in common.
void action_probabilities(const Lookahead& lookahead, const SurrogateBelief& belief, std::vector<double>& out);

// Support::candidates into a vector that is reused, weighted by the belief; an empty one is that of a plan's start.
void candidates(Support& support, const State& state, unsigned left, const SurrogateBelief& belief,
                std::vector<Candidate>& out);
// Can at least one more action be taken from `state` such that the goal is still reached within `left` actions? Differs
// from plain support where the goal already holds.
GoOn go_on(Support& support, const State& state, unsigned left, const SurrogateBelief& belief = {});
// How much was found out and spent, and back to it: whatever came in between is forgotten, so that an answer depends on
// what was asked on the way to it and on nothing else. A mark is good as long as no earlier one was gone back to. In the
// time that it took to find out; needs no memory.
struct SupportMark {
  std::size_t states = 0;
  std::size_t changes = 0;
  std::size_t whole_plans = 0;
  std::size_t around = 0;
  std::uint64_t work = 0;
};
SupportMark mark(Support& support) noexcept;
void back_to(Support& support, const SupportMark& mark) noexcept;
// Gives back the memory of what was forgotten.
void release_forgotten(Support& support);

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_BELIEF_H_
