/* metactrl/c.h: Meta-Ctrl for programs that are not written in C++. C99; one shared library, libmetactrl_c.
 *
 *     metactrl_error* error = NULL;
 *     metactrl_task* task = NULL;
 *     if (metactrl_task_load("domain.pddl", "problem.pddl", NULL, NULL, &task, &error) != METACTRL_OK) {
 *       fprintf(stderr, "%s\n", metactrl_error_message(error));    // every mistake, with its place
 *       metactrl_error_free(error);
 *       return 1;
 *     }
 *     ... metactrl_format_builtin, metactrl_vocabulary_new, metactrl_constraint_compile, metactrl_decoder_new ...
 *     while (!(metactrl_decoder_status(decoder) & METACTRL_FINISHED)) {
 *       metactrl_decoder_forced(decoder, run, 256, &count, NULL);                  // no model needed for these
 *       if (count == 0) metactrl_decoder_choose(decoder, logits(), vocab, 0, 1, 0, run, NULL), count = 1;
 *       metactrl_decoder_accept(decoder, run, count, &taken, NULL);
 *     }
 *     metactrl_decoder_plan(decoder, &json, NULL);
 *
 * docs/c-api.md walks through a whole program; every statement in it is that of the C++ headers beside this one.
 *
 * Results. What can fail returns a metactrl_status and takes a metactrl_error** last, which may be NULL; it is set to
 * NULL, or to an error that the caller frees. Nothing else is written to when a call fails, except where it says so. No
 * exception and no signal crosses this interface: memory that ends is METACTRL_ERROR_MEMORY. A NULL that is not allowed, a
 * handle of another kind, a number out of range are METACTRL_ERROR_ARGUMENT. (A pointer that was freed, or that points
 * nowhere, cannot be recognised with certainty.)
 *
 * Lifetime. Handles are freed by their `_free`, which takes NULL. What is made from others keeps what it needs of them:
 * free in any order.
 *
 * Text goes in as UTF-8 with a length in bytes, file names and names as C strings; it comes out as a metactrl_text, or as a
 * C string that lives as long as its handle. JSON is compact, UTF-8, keys as docs/c-api.md lists them.
 *
 * Arrays are the caller's: a call writes up to `capacity` elements and says in `*count` how many there are. Lengths count
 * elements. They may be NULL when the capacity is 0.
 *
 * Threads. A task, format, vocabulary, hmm or constraint may be used by many threads at a time, a stop too. A decoder is used by
 * one at a time; a second one gets METACTRL_ERROR_BUSY and changes nothing. A pool is used by one batch at a time; others
 * wait. An error or text is its owner's. Whatever a handle is, nobody may use it any more when it is freed. There is no
 * global state. Callbacks are called by the thread that is in the call.
 *
 * Options are structs that begin with their own size. Fill them with the `_default` function, then change what is to be
 * different; a program that was compiled with an older header works with a newer library.
 */
#ifndef METACTRL_C_H_
#define METACTRL_C_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define METACTRL_C_API __attribute__((visibility("default")))
#define METACTRL_C_MUST_USE __attribute__((visibility("default"), warn_unused_result))
#else
#define METACTRL_C_API
#define METACTRL_C_MUST_USE
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Names as C has them. NOLINTBEGIN(readability-identifier-naming) */

/* Changes when a program that was compiled with an older header would no longer work. */
#define METACTRL_ABI_VERSION 1
METACTRL_C_API uint32_t metactrl_abi_version(void);
/* "0.1.0" */
METACTRL_C_API const char* metactrl_version(void);

/* --- errors, texts, stops ------------------------------------------------------------------------------------------- */

typedef int32_t metactrl_status;
enum {
  METACTRL_OK = 0,
  METACTRL_ERROR_ARGUMENT = 1, /* the call itself is wrong */
  METACTRL_ERROR_INPUT = 2,    /* a file, text or option is; metactrl_error_details has every mistake */
  METACTRL_ERROR_STOPPED = 3,  /* a metactrl_stop said so */
  METACTRL_ERROR_LIMIT = 4,    /* what the options allow of work or memory was not enough */
  METACTRL_ERROR_MEMORY = 5,   /* there is no more */
  METACTRL_ERROR_CALLBACK = 6, /* the tokenizer's callback failed, or gave what cannot be */
  METACTRL_ERROR_BUSY = 7,     /* the decoder is in use by another thread */
  METACTRL_ERROR_INTERNAL = 8  /* a bug; please report the message */
};

typedef struct metactrl_error metactrl_error;
METACTRL_C_API metactrl_status metactrl_error_status(const metactrl_error* error);
/* One or more lines for a person; "" for NULL. */
METACTRL_C_API const char* metactrl_error_message(const metactrl_error* error);
/* [{"severity", "file", "line", "column", "message", "hint"}, ...] */
METACTRL_C_API const char* metactrl_error_details(const metactrl_error* error);
METACTRL_C_API void metactrl_error_free(metactrl_error* error);

/* A text that a call gives to its caller. There is a NUL behind it. */
typedef struct metactrl_text metactrl_text;
METACTRL_C_API const char* metactrl_text_data(const metactrl_text* text);
METACTRL_C_API size_t metactrl_text_size(const metactrl_text* text);
METACTRL_C_API void metactrl_text_free(metactrl_text* text);

/* Ends what takes long, from any thread: whoever was given it returns METACTRL_ERROR_STOPPED within milliseconds. */
typedef struct metactrl_stop metactrl_stop;
METACTRL_C_MUST_USE metactrl_status metactrl_stop_new(metactrl_stop** out, metactrl_error** error);
METACTRL_C_API void metactrl_stop_request(metactrl_stop* stop);
/* So many seconds from now; what is negative or no number is an error. */
METACTRL_C_MUST_USE metactrl_status metactrl_stop_after(metactrl_stop* stop, double seconds, metactrl_error** error);
/* 1 when it is time to stop, 0 otherwise and for NULL. */
METACTRL_C_API int32_t metactrl_stop_requested(const metactrl_stop* stop);
METACTRL_C_API void metactrl_stop_free(metactrl_stop* stop);

/* --- tasks ---------------------------------------------------------------------------------------------------------- */

typedef struct metactrl_task metactrl_task;
typedef struct metactrl_task_options {
  size_t struct_size;
  uint64_t max_ground_actions; /* more are METACTRL_ERROR_INPUT */
  uint64_t max_ground_facts;
  uint64_t max_work; /* in pieces of about a microsecond; 0: no limit. More is METACTRL_ERROR_LIMIT */
} metactrl_task_options;
METACTRL_C_API void metactrl_task_options_default(metactrl_task_options* options);

/* Options and stop may be NULL, here and everywhere. */
METACTRL_C_MUST_USE metactrl_status metactrl_task_load(const char* domain_file, const char* problem_file,
                                                       const metactrl_task_options* options, metactrl_stop* stop,
                                                       metactrl_task** out, metactrl_error** error);
METACTRL_C_MUST_USE metactrl_status metactrl_task_parse(const char* domain, size_t domain_size, const char* problem,
                                                        size_t problem_size, const metactrl_task_options* options,
                                                        metactrl_stop* stop, metactrl_task** out,
                                                        metactrl_error** error);
/* {"name", "objects", "action_names", "num_actions", "has_durations", "initial", "goals", "warnings"} */
METACTRL_C_MUST_USE metactrl_status metactrl_task_info(const metactrl_task* task, metactrl_text** out,
                                                       metactrl_error** error);
typedef struct metactrl_format metactrl_format;
/* Judges a plan by the reference semantics: {"valid", "reason", "problem", "steps_executed", "cost", "unmet_goals",
 * "actions", "makespan", "preferences"}, each preference with "name", "text", "weight" and "satisfied". Without a format, `plan`
 * has lines "(action argument ...)"; with one, it is read by it, and what is no plan of this format is not valid. Where actions
 * take time and lines say when, "0.000: (action argument ...) [5.000]", the plan is judged as a schedule, with these times, and
 * "makespan" is when it ends; null otherwise. */
METACTRL_C_MUST_USE metactrl_status metactrl_task_validate(const metactrl_task* task, const metactrl_format* format,
                                                           const char* plan, size_t plan_size, metactrl_stop* stop,
                                                           metactrl_text** out, metactrl_error** error);
enum { METACTRL_SEQUENTIAL = 0, METACTRL_CONCURRENT = 1 };
/* When each action of a plan begins and how long it takes, in the units of the task: one after the other, or each as early as
 * the plan's order allows. Of a task whose actions take time, and a plan whose steps are legal, written as for
 * metactrl_task_validate; its own times do not count. {"text", "makespan", "metric", "steps", "overlaps"}: text has a line
 * "0.000: (action argument ...) [5.000]" for each step, by start, without the bracket where it takes no time; steps the same as
 * {"start", "duration", "text", "action", "arguments"}; makespan: when the last has ended; metric: what the task's metric is
 * with these times where it counts time, else null; overlaps: pairs of places in steps that run at the same time. The schedule
 * was judged by the reference semantics. */
METACTRL_C_MUST_USE metactrl_status metactrl_task_schedule(const metactrl_task* task, const metactrl_format* format,
                                                           const char* plan, size_t plan_size, int32_t kind,
                                                           metactrl_stop* stop, metactrl_text** out,
                                                           metactrl_error** error);
/* A plan without a model, or the reason why there is none: {"verdict", "reason", "actions", "best_plan", "why_infeasible",
 * "would_help"}; best_plan says what the plan is worth, as metactrl_constraint_info does; where it is proved that there is no
 * plan the last two have sentences that say why, and single changes with which there would be one. `horizon` is the most
 * actions it may have; 0: as many as it needs. Where the task has preferences, the best that is found by its metric, with
 * "preferences" as above and "metric": {"value", "lower_bound"}. */
METACTRL_C_MUST_USE metactrl_status metactrl_task_search(const metactrl_task* task, uint32_t horizon,
                                                         metactrl_stop* stop, metactrl_text** out,
                                                         metactrl_error** error);
/* The task in words, for a prompt: actions, objects, facts, goals, the instruction where it is not empty, and how a plan is
 * written. Ends with "Plan:" and a new line. */
METACTRL_C_MUST_USE metactrl_status metactrl_task_prompt(const metactrl_task* task, const metactrl_format* format,
                                                         const char* instruction, size_t instruction_size,
                                                         metactrl_text** out, metactrl_error** error);
METACTRL_C_API void metactrl_task_free(metactrl_task* task);

/* --- formats: how plans are written --------------------------------------------------------------------------------- */

/* "pddl", "json", "sentences", ...; the error lists them. */
METACTRL_C_MUST_USE metactrl_status metactrl_format_builtin(const char* name, metactrl_format** out,
                                                            metactrl_error** error);
/* A declaration (docs/formats.md). */
METACTRL_C_MUST_USE metactrl_status metactrl_format_parse(const char* text, size_t size, metactrl_format** out,
                                                          metactrl_error** error);
METACTRL_C_API void metactrl_format_free(metactrl_format* format);

/* --- vocabularies --------------------------------------------------------------------------------------------------- */

typedef struct metactrl_vocabulary metactrl_vocabulary;
/* The tokenizer's own encoding of a whole text: nothing is added in front or behind, and special tokens that are written out
 * are plain text. Writes up to `capacity` ids and returns how many there are; negative: it failed. Called from any thread
 * that makes or uses a vocabulary or compiles or checks with it, several at a time. Must not throw. */
typedef int64_t (*metactrl_encode_function)(void* user, const char* text, size_t size, int32_t* ids, size_t capacity);
typedef struct metactrl_vocabulary_options {
  size_t struct_size;
  size_t num_tokens;       /* as many as the model gives logits; those that mean nothing have no bytes */
  const char* bytes;       /* of all tokens, one behind the other: as they appear in generated text */
  const uint64_t* offsets; /* token i is bytes[offsets[i]] to bytes[offsets[i + 1]]; num_tokens + 1 of them */
  const int32_t* end_of_turn;
  size_t num_end_of_turn; /* at least 1 */
  /* Special tokens as they are written in a prompt ("<|im_end|>"): the text behind one is encoded afresh. */
  const char* control_bytes;
  const uint64_t* control_offsets; /* num_controls + 1 */
  const uint8_t* control_strips;   /* 1: the tokenizer drops blanks behind it; NULL: none does */
  size_t num_controls;
  metactrl_encode_function encode; /* NULL: the longest token that fits, again and again */
  void* user;
  void (*release)(
      void* user);  /* when nobody needs the callback any more; not called where metactrl_vocabulary_new fails */
  const char* name; /* for messages, and to tell apart tokenizers with the same tokens; may be NULL */
} metactrl_vocabulary_options;
METACTRL_C_API void metactrl_vocabulary_options_default(metactrl_vocabulary_options* options);

/* Copies the tokens. Checks that the tokenizer gives texts back as they were. */
METACTRL_C_MUST_USE metactrl_status metactrl_vocabulary_new(const metactrl_vocabulary_options* options,
                                                            metactrl_vocabulary** out, metactrl_error** error);
/* With llama.cpp's tokenizer; METACTRL_ERROR_INPUT where the library was built without it. */
METACTRL_C_MUST_USE metactrl_status metactrl_vocabulary_load_gguf(const char* file, metactrl_vocabulary** out,
                                                                  metactrl_error** error);
/* 0 for NULL. */
METACTRL_C_API size_t metactrl_vocabulary_size(const metactrl_vocabulary* vocabulary);
METACTRL_C_API uint64_t metactrl_vocabulary_fingerprint(const metactrl_vocabulary* vocabulary);
METACTRL_C_MUST_USE metactrl_status metactrl_vocabulary_end_of_turn(const metactrl_vocabulary* vocabulary, int32_t* ids,
                                                                    size_t capacity, size_t* count,
                                                                    metactrl_error** error);
/* The encoding of `text` where it continues a text that ends in `context`; and the bytes of tokens. */
METACTRL_C_MUST_USE metactrl_status metactrl_vocabulary_encode(const metactrl_vocabulary* vocabulary, const char* text,
                                                               size_t text_size, const char* context,
                                                               size_t context_size, int32_t* ids, size_t capacity,
                                                               size_t* count, metactrl_error** error);
METACTRL_C_MUST_USE metactrl_status metactrl_vocabulary_decode(const metactrl_vocabulary* vocabulary,
                                                               const int32_t* ids, size_t num_ids, metactrl_text** out,
                                                               metactrl_error** error);
METACTRL_C_API void metactrl_vocabulary_free(metactrl_vocabulary* vocabulary);

/* --- hidden Markov models that were trained --------------------------------------------------------------------------- */

typedef struct metactrl_hmm metactrl_hmm;
/* A file that `metactrl train` or `metactrl hmm` wrote (docs/trained-lookahead.md): of plans, level "meta", for
 * METACTRL_GUIDANCE_TRAINED; or of tokens, level "token", for METACTRL_BRIDGE_HMM. The file is mapped, not read: it may not
 * change while anything uses it. */
METACTRL_C_MUST_USE metactrl_status metactrl_hmm_load(const char* file, metactrl_hmm** out, metactrl_error** error);
/* {"level", "hidden", "symbols", "actions", "slots", "vocabulary", "made_by", "step"}: actions are the names it knows, of
 * plans only; vocabulary is a metactrl_vocabulary_fingerprint, of tokens only, null where nobody knows it. */
METACTRL_C_MUST_USE metactrl_status metactrl_hmm_info(const metactrl_hmm* hmm, metactrl_text** out,
                                                      metactrl_error** error);
METACTRL_C_API void metactrl_hmm_free(metactrl_hmm* hmm);

/* --- constraints: task, format and vocabulary, compiled ------------------------------------------------------------- */

typedef struct metactrl_constraint metactrl_constraint;
enum { METACTRL_CANONICAL = 0, METACTRL_ANY_TOKENS = 1 };
enum { METACTRL_SOLVABLE = 0, METACTRL_INFEASIBLE = 1, METACTRL_UNDECIDED = 2 };
typedef struct metactrl_constraint_options {
  size_t struct_size;
  const char* context; /* the end of the prompt's text; copied */
  size_t context_size;
  int32_t tokenization;  /* METACTRL_CANONICAL: only the tokenizer's own encoding of a plan */
  uint32_t horizon;      /* the most actions a plan may have; 0: as many as the best plan known has, and the slack */
  int32_t fixed_horizon; /* 1: not even more when the shortest plan needs more */
  int32_t slack;         /* actions to spare; -1: a quarter of the best plan known, at least 2; 8 beyond a horizon */
  int32_t weights;       /* 0: none are computed; for guidance mask */
  int32_t costs;         /* 1: know what going on costs; for per_cost */
  uint64_t exact_states; /* budgets of the lookahead, see metactrl/lookahead.h */
  uint64_t exact_bytes;
  uint64_t search_states;
  uint64_t search_bytes;
  uint64_t search_work;
  const metactrl_hmm*
      hmm;          /* of plans: what decoders with METACTRL_GUIDANCE_TRAINED, and no others, weigh by; or NULL */
  uint64_t improve; /* steps of work for making the best plan known better; 0: as it is found */
  int32_t
      drop_goals; /* 1: where not all goals can be reached together, as many as is certain; info says which are not */
} metactrl_constraint_options;
METACTRL_C_API void metactrl_constraint_options_default(metactrl_constraint_options* options);

METACTRL_C_MUST_USE metactrl_status metactrl_constraint_compile(
    const metactrl_task* task, const metactrl_format* format, const metactrl_vocabulary* vocabulary,
    const metactrl_constraint_options* options, metactrl_stop* stop, metactrl_constraint** out, metactrl_error** error);
/* METACTRL_SOLVABLE ...; -1 for NULL. */
METACTRL_C_API int32_t metactrl_constraint_verdict(const metactrl_constraint* constraint);
/* {"verdict", "reason", "tier", "horizon", "horizon_rule", "weight_rule", "shortest_plan", "best_plan", "goals_dropped",
 * "states", "memory_bytes", "max_tokens", "promised_preferences", "metric_lower_bound"}. best_plan: null, or {"actions",
 * "shortest", "cost", "cheapest", "cost_at_least"} of the best plan known before anything is written; goals_dropped: those that
 * the constraint does not hold to; promised_preferences: those that it does, by their places in "preferences" of
 * metactrl_task_validate, and metric_lower_bound: below which no plan's metric is; both null where the task has none. */
METACTRL_C_MUST_USE metactrl_status metactrl_constraint_info(const metactrl_constraint* constraint, metactrl_text** out,
                                                             metactrl_error** error);
/* No answer takes more tokens, the end of the turn included. 0 for NULL. */
METACTRL_C_API size_t metactrl_constraint_max_tokens(const metactrl_constraint* constraint);
/* The last check of an answer, by nothing but its tokens: its text is read back, judged by the reference semantics, and its
 * tokens are compared with the tokenizer's own. {"valid", "reason", "text", "actions", "complete", "canonical", "ended",
 * "validation"}: valid is all of it, but for goals that were dropped, of which validation knows nothing. */
METACTRL_C_MUST_USE metactrl_status metactrl_constraint_check(const metactrl_constraint* constraint, const int32_t* ids,
                                                              size_t num_ids, metactrl_stop* stop, metactrl_text** out,
                                                              metactrl_error** error);
METACTRL_C_API void metactrl_constraint_free(metactrl_constraint* constraint);

/* --- decoders: one per request -------------------------------------------------------------------------------------- */

typedef struct metactrl_decoder metactrl_decoder;
enum {
  METACTRL_GUIDANCE_SYNTAX = 1,
  METACTRL_GUIDANCE_MASK = 2,
  METACTRL_GUIDANCE_UNIFORM = 3,
  METACTRL_GUIDANCE_TRAINED = 4 /* the constraint has a metactrl_hmm */
};
enum { METACTRL_BRIDGE_UNIFORM = 0, METACTRL_BRIDGE_SURROGATE = 1, METACTRL_BRIDGE_HMM = 2 };
typedef struct metactrl_decoder_options {
  size_t struct_size;
  int32_t guidance;
  int32_t bridge;
  uint32_t horizon;     /* at most so many actions; 0: the constraint's */
  int32_t forbid_empty; /* 1: at least one action */
  uint64_t candidate_states;
  uint64_t candidate_bytes;
  uint64_t candidate_work;
  int32_t idle_steps; /* 1: take actions that change nothing, too */
  int32_t no_detours; /* 1: come back to no state that was passed */
  /* Shorter, or cheaper, plans are preferred: a token's log-weight falls by so much for each action, or unit of cost, that
   * the best plan known behind it has more than the best one here. */
  double per_action;
  double per_cost;
  const metactrl_hmm* token_hmm; /* of tokens: for METACTRL_BRIDGE_HMM and METACTRL_GUIDANCE_SYNTAX; or NULL */
} metactrl_decoder_options;
METACTRL_C_API void metactrl_decoder_options_default(metactrl_decoder_options* options);

/* `stop`, where given, ends calls of this decoder and of its clones that search. */
METACTRL_C_MUST_USE metactrl_status metactrl_decoder_new(const metactrl_constraint* constraint,
                                                         const metactrl_decoder_options* options, metactrl_stop* stop,
                                                         metactrl_decoder** out, metactrl_error** error);
/* A fork: both go on from here, independently. */
METACTRL_C_MUST_USE metactrl_status metactrl_decoder_clone(metactrl_decoder* decoder, metactrl_decoder** out,
                                                           metactrl_error** error);

/* What may come next, three ways. All agree, and list nothing for a decoder that is finished or lost.
 * Ids, ascending, with log weights to be added to the logits (may be NULL). */
METACTRL_C_MUST_USE metactrl_status metactrl_decoder_next(metactrl_decoder* decoder, int32_t* ids, float* log_weights,
                                                          size_t capacity, size_t* count, metactrl_error** error);
/* Token t is bit t % 32 of word t / 32; 1: allowed. All words are written; fewer than the vocabulary needs are an error. */
METACTRL_C_MUST_USE metactrl_status metactrl_decoder_fill_bitmask(metactrl_decoder* decoder, int32_t* words,
                                                                  size_t num_words, metactrl_error** error);
/* To be added to the logits: log weights, minus infinity for all other tokens. As many as there are logits, at least. */
METACTRL_C_MUST_USE metactrl_status metactrl_decoder_fill_bias(metactrl_decoder* decoder, float* row, size_t size,
                                                               metactrl_error** error);
/* The token to take, given the model's logits. NaN counts as minus infinity, and whatever they are, the token is one that is
 * allowed. Temperature 0 is the best, otherwise one drawn (top_p 1: from all); equal seeds draw equally. -1, and no error,
 * where nothing may come. */
METACTRL_C_MUST_USE metactrl_status metactrl_decoder_choose(metactrl_decoder* decoder, const float* logits, size_t size,
                                                            double temperature, double top_p, uint64_t seed,
                                                            int32_t* token, metactrl_error** error);
/* The same, given the logits of only those tokens that metactrl_decoder_next lists, in that order and as many: for engines
 * whose logits are on another device. */
METACTRL_C_MUST_USE metactrl_status metactrl_decoder_choose_next(metactrl_decoder* decoder, const float* logits,
                                                                 size_t size, double temperature, double top_p,
                                                                 uint64_t seed, int32_t* token, metactrl_error** error);
/* The longest run of tokens without an alternative. */
METACTRL_C_MUST_USE metactrl_status metactrl_decoder_forced(metactrl_decoder* decoder, int32_t* ids, size_t capacity,
                                                            size_t* count, metactrl_error** error);
/* Takes tokens as far as they are allowed; `*taken` says how many. None are taken of a decoder that is lost. */
METACTRL_C_MUST_USE metactrl_status metactrl_decoder_accept(metactrl_decoder* decoder, const int32_t* ids,
                                                            size_t num_ids, size_t* taken, metactrl_error** error);
/* How many would be taken; nothing changes. */
METACTRL_C_MUST_USE metactrl_status metactrl_decoder_validate(metactrl_decoder* decoder, const int32_t* ids,
                                                              size_t num_ids, size_t* taken, metactrl_error** error);
/* Takes back the last tokens, all when there are fewer. A decoder that was lost no longer is; one without an action left is
 * as new, and serves another request without a trace of this one. What is offered depends on the tokens that are left alone:
 * what was taken once is taken again, here and by another decoder. */
METACTRL_C_MUST_USE metactrl_status metactrl_decoder_rollback(metactrl_decoder* decoder, size_t tokens,
                                                              metactrl_error** error);
/* Be exactly behind these tokens, wherever it was: rolls back to what both have in common and takes the rest. Where they are
 * not allowed, `*taken` is less than num_ids and the decoder is lost: nothing may come until it is somewhere else. */
METACTRL_C_MUST_USE metactrl_status metactrl_decoder_seek(metactrl_decoder* decoder, const int32_t* ids, size_t num_ids,
                                                          size_t* taken, metactrl_error** error);

enum { METACTRL_FINISHED = 1, METACTRL_AT_BOUNDARY = 2, METACTRL_LOST = 4 };
/* Bits of the above; 0 for NULL or while another thread uses it. */
METACTRL_C_API int32_t metactrl_decoder_status(metactrl_decoder* decoder);
METACTRL_C_MUST_USE metactrl_status metactrl_decoder_tokens(metactrl_decoder* decoder, int32_t* ids, size_t capacity,
                                                            size_t* count, metactrl_error** error);
/* {"finished", "lost", "text", "actions", "tokens", "left", "goal_holds"}; actions are {"text", "action", "arguments"}. */
METACTRL_C_MUST_USE metactrl_status metactrl_decoder_plan(metactrl_decoder* decoder, metactrl_text** out,
                                                          metactrl_error** error);
/* Every step so far and the one that comes: what was legal, what was allowed and why not, what was chosen.
 * {"steps": [{"left", "goal_holds", "chosen", "stops", "legal", "tokens"}]} */
METACTRL_C_MUST_USE metactrl_status metactrl_decoder_explain(metactrl_decoder* decoder, metactrl_text** out,
                                                             metactrl_error** error);
/* Why an action, "(open dishwasher)", may not come next: {"action", "allowed", "standing", "reason"}. */
METACTRL_C_MUST_USE metactrl_status metactrl_decoder_why(metactrl_decoder* decoder, const char* action,
                                                         size_t action_size, metactrl_text** out,
                                                         metactrl_error** error);
METACTRL_C_API void metactrl_decoder_free(metactrl_decoder* decoder);

/* --- batches: many decoders in one call ----------------------------------------------------------------------------- */

/* Threads that wait for batches. In a process that was forked from the one that made it, batches run on the caller alone. */
typedef struct metactrl_pool metactrl_pool;
/* `threads` counts the caller; 0: as many as there are processors. */
METACTRL_C_MUST_USE metactrl_status metactrl_pool_new(uint32_t threads, metactrl_pool** out, metactrl_error** error);
METACTRL_C_API void metactrl_pool_free(metactrl_pool* pool);

/* A row whose decoder is finished lists the end-of-turn tokens, with weight 0, instead of nothing: for engines that keep
 * sampling rows that have ended. */
enum { METACTRL_BATCH_KEEP_ENDING = 1 };

/* Row i is decoders[i]; where that is NULL, the row is left as it is. No decoder may be in two rows. If `tokens` is not NULL, decoder i first takes
 * tokens[i], unless it is negative; one that is not allowed makes it lost, and one that comes after its end changes nothing.
 * `counts[i]` becomes the number of tokens that may come, or minus the metactrl_status of what went wrong in this row, which
 * is then written as one where nothing may come; the other rows do not notice. The call itself fails when its arguments are
 * wrong, before anything happens. `pool` may be NULL: all is done by the caller. */

/* ids and log_weights have `capacity` elements per row. A row that has more tokens is cut off: ask metactrl_decoder_next. */
METACTRL_C_MUST_USE metactrl_status metactrl_batch_next(metactrl_pool* pool, metactrl_decoder* const* decoders,
                                                        size_t num_rows, const int32_t* tokens, uint32_t flags,
                                                        int32_t* ids, float* log_weights, size_t capacity,
                                                        int32_t* counts, metactrl_error** error);
/* `words_per_row`, `row_size`: elements between the beginnings of two rows; all of a row is written. */
METACTRL_C_MUST_USE metactrl_status metactrl_batch_fill_bitmask(metactrl_pool* pool, metactrl_decoder* const* decoders,
                                                                size_t num_rows, const int32_t* tokens, uint32_t flags,
                                                                int32_t* words, size_t words_per_row, int32_t* counts,
                                                                metactrl_error** error);
METACTRL_C_MUST_USE metactrl_status metactrl_batch_fill_bias(metactrl_pool* pool, metactrl_decoder* const* decoders,
                                                             size_t num_rows, const int32_t* tokens, uint32_t flags,
                                                             float* rows, size_t row_size, int32_t* counts,
                                                             metactrl_error** error);
/* metactrl_decoder_seek for all rows: row i's tokens are ids[offsets[i]] to ids[offsets[i + 1]]. `taken[i]` is how many it
 * took, or minus the status of what went wrong. */
METACTRL_C_MUST_USE metactrl_status metactrl_batch_seek(metactrl_pool* pool, metactrl_decoder* const* decoders,
                                                        size_t num_rows, const int32_t* ids, const uint64_t* offsets,
                                                        int64_t* taken, metactrl_error** error);
/* The same for who remembers where the rows were, at the cost of what is new: row i keeps the first keep[i] of its tokens and
 * takes ids[offsets[i]] to ids[offsets[i + 1]] behind them. `reached[i]` is how many tokens it is behind then, or minus the
 * status of what went wrong. That is keep[i] and all that were given, or the row is lost: it has no keep[i] tokens, or one of
 * these is not allowed. */
METACTRL_C_MUST_USE metactrl_status metactrl_batch_move(metactrl_pool* pool, metactrl_decoder* const* decoders,
                                                        size_t num_rows, const uint64_t* keep, const int32_t* ids,
                                                        const uint64_t* offsets, int64_t* reached,
                                                        metactrl_error** error);

/* NOLINTEND(readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif /* METACTRL_C_H_ */
