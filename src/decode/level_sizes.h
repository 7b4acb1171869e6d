// How large the two levels of a constraint are, beside one automaton over tokens that enforces both (the paper's "Why two
// levels").
//
//     LevelSizes sizes = measure_levels(constraint->automaton(), program, budget);
//     LevelCosts costs = level_costs(sizes, 40, 128);
//
// The joint automaton lifts the semantic one to tokens and intersects it with the syntactic one. Its states are pairs: a
// state of the task and a place in the spelling of the action that is being written there. Not every pair occurs: only
// spellings of actions that lead on are ever begun. `joint_states` counts the pairs that do, `product` all.
//
// What the lookahead costs with H hidden states and 4 bytes a number, by the recursion over (steps left, state, hidden
// state):
//
//                 steps                            states          edges            memory                operations
//   one level     N = horizon * tokens per action  S_gamma S_beta  E_gamma S_beta   N states H 4 B        N edges H^2
//   two levels    N, and the horizon               S_gamma+S_beta  E_gamma, E_beta  level by level, added
//
// Cost: that of enumerating the states, and of the length of the spellings for each of their edges.
#ifndef METACTRL_SRC_DECODE_LEVEL_SIZES_H_
#define METACTRL_SRC_DECODE_LEVEL_SIZES_H_

#include <cstddef>

#include "metactrl/lookahead.h"
#include "support/meter.h"
#include "task/program.h"
#include "text/token_automaton.h"

namespace metactrl::decode {

struct LevelSizes {
  double syntax_states = 0;
  double syntax_edges = 0;
  double tokens_per_action = 0;
  double semantic_states = 0;
  double semantic_edges = 0;
  double joint_states = 0;  // that occur, of those from which the goal can be reached
  bool exact = false;       // false: there are more semantic states than were counted
};

struct LevelCost {
  double states = 0;
  double dp_bytes = 0;
  double operations = 0;
};

struct LevelCosts {
  LevelCost one;
  LevelCost two;
};

// Throws Stopped when the meter says so.
LevelSizes measure_levels(const TokenAutomaton& automaton, const task::Program& program, const Budget& budget,
                          internal::Meter& meter = internal::no_meter());

LevelCosts level_costs(const LevelSizes& sizes, double horizon, double hidden);

}  // namespace metactrl::decode

#endif  // METACTRL_SRC_DECODE_LEVEL_SIZES_H_
