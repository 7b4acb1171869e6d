// Meta-Ctrl: plans from language models that keep the rules, by construction.
//
// Include this header for all of the library, or the parts you need:
//
//   error.h      what is wrong with an input, and where
//   task.h       a ground planning task: objects, actions, states, a goal; plans as text
//   domain.h     tasks from PDDL and SAS files
//   lookahead.h  which actions can still lead to the goal, and how much of the future each keeps
//   format.h     how a plan is spelled, and how its text is read back
//   vocabulary.h, language_model.h  tokens, and models that give logits for them
//   constraint.h, decoder.h         which tokens may come next, and what each is worth
//   generate.h, planner.h           from a model to a plan
//   goal.h       what is wanted, from words: goals that a model writes
//   explain.h    why an action was allowed or not, and what the model wanted instead
//   scene.h, closed_loop.h          from plans to actions in a world that changes; simulated_world.h is one
//   export.h     plans as behavior trees, PlanSys2 lines and JSON; tasks as PDDL for other planners
//
// From a file to a plan:
//
//     metactrl::Task task = metactrl::load_pddl("domain.pddl", "problem.pddl");  // or an InputError with every mistake
//     auto lookahead = metactrl::Lookahead::compile(task, {});
//     if (lookahead->verdict() == metactrl::Verdict::kSolvable) {
//       for (metactrl::ActionId action : lookahead->plan()) std::cout << task.text(action) << '\n';
//     }
//
// and step by step, with somebody else choosing:
//
//     metactrl::Support support(lookahead);
//     metactrl::State state = task.initial_state();
//     unsigned left = lookahead->horizon();
//     while (!task.is_goal(state)) {
//       std::vector<metactrl::Candidate> candidates = support.candidates(state, left--);
//       state = *task.apply(state, choose(candidates));     // any candidate whose answer is kYes
//     }
//
// The loop ends at the goal whatever `choose` does: after a candidate with the answer kYes there is always another one,
// and `left` counts down.
#ifndef METACTRL_METACTRL_H_
#define METACTRL_METACTRL_H_

#include "metactrl/constraint.h"
#include "metactrl/decoder.h"
#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "metactrl/explain.h"
#include "metactrl/format.h"
#include "metactrl/generate.h"
#include "metactrl/goal.h"
#include "metactrl/hmm.h"
#include "metactrl/language_model.h"
#include "metactrl/lookahead.h"
#include "metactrl/planner.h"
#include "metactrl/task.h"
#include "metactrl/vocabulary.h"

#endif  // METACTRL_METACTRL_H_
