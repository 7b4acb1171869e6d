// What decoders ask of a lookahead besides its public face: answers weighted by what a surrogate believes.
//
//     SurrogateBelief belief = start_belief(lookahead);
//     candidates(support, state, left, belief, out);
//     advance(lookahead, belief, action);             // it was taken
#ifndef METACTRL_SRC_LOOKAHEAD_BELIEF_H_
#define METACTRL_SRC_LOOKAHEAD_BELIEF_H_

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
// What is known now is what every plan begins with; and another plan begins: what was found out and spent since then is
// forgotten. Nothing happens, and no memory is needed, where everything is enumerated.
void keep_as_beginning(Support& support);
void begin_again(Support& support);

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_BELIEF_H_
