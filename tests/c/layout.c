/* Prints what a program that was compiled with metactrl/c.h knows of it besides the functions: numbers and places. */
#include <stddef.h>
#include <stdio.h>

#include "metactrl/c.h"

#define SIZE(type) printf("size %s %u\n", #type, (unsigned)sizeof(type))
#define PLACE(type, field) printf("place %s.%s %u\n", #type, #field, (unsigned)offsetof(type, field))
#define VALUE(name) printf("value %s %d\n", #name, (int)(name))

int main(void) {
  SIZE(metactrl_task_options);
  PLACE(metactrl_task_options, max_ground_actions);
  PLACE(metactrl_task_options, max_ground_facts);
  PLACE(metactrl_task_options, max_work);
  SIZE(metactrl_vocabulary_options);
  PLACE(metactrl_vocabulary_options, num_tokens);
  PLACE(metactrl_vocabulary_options, bytes);
  PLACE(metactrl_vocabulary_options, offsets);
  PLACE(metactrl_vocabulary_options, end_of_turn);
  PLACE(metactrl_vocabulary_options, num_end_of_turn);
  PLACE(metactrl_vocabulary_options, control_bytes);
  PLACE(metactrl_vocabulary_options, control_offsets);
  PLACE(metactrl_vocabulary_options, control_strips);
  PLACE(metactrl_vocabulary_options, num_controls);
  PLACE(metactrl_vocabulary_options, encode);
  PLACE(metactrl_vocabulary_options, user);
  PLACE(metactrl_vocabulary_options, release);
  PLACE(metactrl_vocabulary_options, name);
  SIZE(metactrl_constraint_options);
  PLACE(metactrl_constraint_options, context);
  PLACE(metactrl_constraint_options, context_size);
  PLACE(metactrl_constraint_options, tokenization);
  PLACE(metactrl_constraint_options, horizon);
  PLACE(metactrl_constraint_options, fixed_horizon);
  PLACE(metactrl_constraint_options, slack);
  PLACE(metactrl_constraint_options, weights);
  PLACE(metactrl_constraint_options, costs);
  PLACE(metactrl_constraint_options, exact_states);
  PLACE(metactrl_constraint_options, exact_bytes);
  PLACE(metactrl_constraint_options, search_states);
  PLACE(metactrl_constraint_options, search_bytes);
  PLACE(metactrl_constraint_options, search_work);
  PLACE(metactrl_constraint_options, hmm);
  PLACE(metactrl_constraint_options, improve);
  PLACE(metactrl_constraint_options, drop_goals);
  SIZE(metactrl_decoder_options);
  PLACE(metactrl_decoder_options, guidance);
  PLACE(metactrl_decoder_options, bridge);
  PLACE(metactrl_decoder_options, horizon);
  PLACE(metactrl_decoder_options, forbid_empty);
  PLACE(metactrl_decoder_options, candidate_states);
  PLACE(metactrl_decoder_options, candidate_bytes);
  PLACE(metactrl_decoder_options, candidate_work);
  PLACE(metactrl_decoder_options, idle_steps);
  PLACE(metactrl_decoder_options, no_detours);
  PLACE(metactrl_decoder_options, per_action);
  PLACE(metactrl_decoder_options, per_cost);
  PLACE(metactrl_decoder_options, token_hmm);
  VALUE(METACTRL_ABI_VERSION);
  VALUE(METACTRL_OK);
  VALUE(METACTRL_ERROR_ARGUMENT);
  VALUE(METACTRL_ERROR_INPUT);
  VALUE(METACTRL_ERROR_STOPPED);
  VALUE(METACTRL_ERROR_LIMIT);
  VALUE(METACTRL_ERROR_MEMORY);
  VALUE(METACTRL_ERROR_CALLBACK);
  VALUE(METACTRL_ERROR_BUSY);
  VALUE(METACTRL_ERROR_INTERNAL);
  VALUE(METACTRL_SEQUENTIAL);
  VALUE(METACTRL_CONCURRENT);
  VALUE(METACTRL_CANONICAL);
  VALUE(METACTRL_ANY_TOKENS);
  VALUE(METACTRL_SOLVABLE);
  VALUE(METACTRL_INFEASIBLE);
  VALUE(METACTRL_UNDECIDED);
  VALUE(METACTRL_GUIDANCE_SYNTAX);
  VALUE(METACTRL_GUIDANCE_MASK);
  VALUE(METACTRL_GUIDANCE_UNIFORM);
  VALUE(METACTRL_GUIDANCE_TRAINED);
  VALUE(METACTRL_BRIDGE_UNIFORM);
  VALUE(METACTRL_BRIDGE_SURROGATE);
  VALUE(METACTRL_BRIDGE_HMM);
  VALUE(METACTRL_FINISHED);
  VALUE(METACTRL_AT_BOUNDARY);
  VALUE(METACTRL_LOST);
  VALUE(METACTRL_BATCH_KEEP_ENDING);
  return 0;
}
