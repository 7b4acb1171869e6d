/* A C99 program that plans through metactrl/c.h, and then does to it whatever a program should not do.
 *
 *     c_program DOMAIN PROBLEM
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metactrl/c.h"

static int failures = 0;

static void expect(int holds, const char* what, int line) {
  if (holds) return;
  fprintf(stderr, "program.c:%d: %s\n", line, what);
  ++failures;
}
#define EXPECT(condition) expect((condition) ? 1 : 0, #condition, __LINE__)
#define EXPECT_STATUS(status, call) expect((call) == (status), #call " is not " #status, __LINE__)

static void expect_ok(metactrl_status status, metactrl_error* error, const char* what, int line) {
  if (status == METACTRL_OK && error == NULL) return;
  fprintf(stderr, "program.c:%d: %s: status %d: %s\n", line, what, (int)status, metactrl_error_message(error));
  exit(1);
}
#define OK(call) expect_ok((call), error, #call, __LINE__)

/* --- a vocabulary: every byte is a token, token 256 ends the turn, 257 means nothing --------------------------------- */

enum { kTokens = 258, kEnd = 256 };
static int released = 0;

static int64_t encode_bytes(void* user, const char* text, size_t size, int32_t* ids, size_t capacity) {
  size_t i;
  const int* fail = (const int*)user;
  if (fail != NULL && *fail == 1) return -7;
  for (i = 0; i < size && i < capacity; ++i) ids[i] = (unsigned char)text[i];
  if (fail != NULL && *fail == 2 && size > 0) ids[0] = 100000;
  if (fail != NULL && *fail == 3) return INT64_MAX;
  if (fail != NULL && *fail == 4 && size > 0) ids[0] ^= 1;
  return (int64_t)size;
}

static void count_release(void* user) {
  (void)user;
  ++released;
}

static char all_bytes[256];
static uint64_t all_offsets[kTokens + 1];
static const int32_t ends[1] = {kEnd};

static metactrl_vocabulary_options byte_options(void) {
  metactrl_vocabulary_options options;
  int i;
  for (i = 0; i < 256; ++i) all_bytes[i] = (char)i;
  for (i = 0; i <= kTokens; ++i) all_offsets[i] = i < 256 ? (uint64_t)i : 256;
  metactrl_vocabulary_options_default(&options);
  options.num_tokens = kTokens;
  options.bytes = all_bytes;
  options.offsets = all_offsets;
  options.end_of_turn = ends;
  options.num_end_of_turn = 1;
  options.encode = encode_bytes;
  options.release = count_release;
  options.name = "bytes";
  return options;
}

/* --- planning ------------------------------------------------------------------------------------------------------- */

static uint32_t random_state = 1;
static float random_logit(void) {
  random_state = random_state * 1664525U + 1013904223U;
  return (float)(random_state >> 8) / 65536.0F;
}

static int contains(const metactrl_text* text, const char* part) { return strstr(metactrl_text_data(text), part) != NULL; }

static void plan(metactrl_constraint* constraint) {
  metactrl_error* error = NULL;
  metactrl_decoder* decoder = NULL;
  metactrl_text* text = NULL;
  static int32_t run[65536];
  size_t count = 0, taken = 0, forced = 0, steps = 0;
  float logits[kTokens];
  OK(metactrl_decoder_new(constraint, NULL, NULL, &decoder, &error));
  while ((metactrl_decoder_status(decoder) & METACTRL_FINISHED) == 0 && steps < 100000) {
    OK(metactrl_decoder_forced(decoder, run, 65536, &count, &error));
    forced += count;
    if (count == 0) {
      int i;
      for (i = 0; i < kTokens; ++i) logits[i] = random_logit();
      OK(metactrl_decoder_choose(decoder, logits, kTokens, 1.0, 1.0, 7, run, &error));
      count = 1;
    }
    OK(metactrl_decoder_accept(decoder, run, count, &taken, &error));
    EXPECT(taken > 0);
    ++steps;
  }
  EXPECT(forced > 0);
  OK(metactrl_decoder_tokens(decoder, run, 65536, &count, &error));
  EXPECT(count <= 65536);
  EXPECT(count <= metactrl_constraint_max_tokens(constraint));
  OK(metactrl_constraint_check(constraint, run, count, NULL, &text, &error));
  EXPECT(contains(text, "{\"valid\":true,"));
  metactrl_text_free(text);
  /* Without its end, or with a token more, it is no answer. */
  OK(metactrl_constraint_check(constraint, run, count - 1, NULL, &text, &error));
  EXPECT(contains(text, "{\"valid\":false,"));
  metactrl_text_free(text);
  OK(metactrl_decoder_plan(decoder, &text, &error));
  EXPECT(contains(text, "\"finished\":true"));
  EXPECT(contains(text, "\"goal_holds\":true"));
  EXPECT(metactrl_text_size(text) == strlen(metactrl_text_data(text)));
  metactrl_text_free(text);
  OK(metactrl_decoder_explain(decoder, &text, &error));
  EXPECT(contains(text, "\"standing\":\"allowed\""));
  metactrl_text_free(text);
  metactrl_decoder_free(decoder);
}

/* Three ways to ask what may come, and all the ways to move. */
static void walk(metactrl_constraint* constraint) {
  metactrl_error* error = NULL;
  metactrl_decoder* decoder = NULL;
  metactrl_decoder* fork = NULL;
  metactrl_text* text = NULL;
  int32_t ids[kTokens], words[(kTokens + 31) / 32], path[64], kept[64];
  float weights[kTokens], bias[kTokens + 3];
  const int32_t nowhere[2] = {257, -5};
  size_t count = 0, taken = 0, i = 0, j = 0;
  OK(metactrl_decoder_new(constraint, NULL, NULL, &decoder, &error));
  for (i = 0; i < 40; ++i) {
    size_t set = 0, finite = 0;
    OK(metactrl_decoder_next(decoder, ids, weights, kTokens, &count, &error));
    OK(metactrl_decoder_fill_bitmask(decoder, words, (kTokens + 31) / 32, &error));
    OK(metactrl_decoder_fill_bias(decoder, bias, kTokens + 3, &error));
    if (count == 0) break;
    for (j = 0; j < kTokens + 3; ++j) finite += isfinite(bias[j]) ? 1 : 0;
    for (j = 0; j < kTokens; ++j) set += ((uint32_t)words[j / 32] >> (j % 32)) & 1U;
    EXPECT(set == count && finite == count);
    for (j = 0; j < count; ++j) {
      EXPECT(bias[ids[j]] == weights[j]);
      EXPECT((((uint32_t)words[ids[j] / 32] >> (ids[j] % 32)) & 1U) == 1U);
    }
    /* What was not offered is not taken. */
    for (j = 0; j < kTokens; ++j) {
      const int32_t id = (int32_t)j;
      OK(metactrl_decoder_validate(decoder, &id, 1, &taken, &error));
      EXPECT(taken == (isfinite(bias[j]) ? 1U : 0U));
    }
    path[i] = ids[count - 1];
    OK(metactrl_decoder_accept(decoder, &path[i], 1, &taken, &error));
    EXPECT(taken == 1);
  }
  /* Forks go their own ways. */
  OK(metactrl_decoder_clone(decoder, &fork, &error));
  OK(metactrl_decoder_rollback(fork, 3, &error));
  OK(metactrl_decoder_tokens(fork, kept, 64, &count, &error));
  EXPECT(count == i - 3);
  OK(metactrl_decoder_seek(fork, path, i, &taken, &error));
  EXPECT(taken == i);
  OK(metactrl_decoder_seek(fork, path, i / 2, &taken, &error));
  EXPECT(taken == i / 2);
  /* Lost, until it is somewhere else. */
  OK(metactrl_decoder_seek(fork, nowhere, 2, &taken, &error));
  EXPECT(taken == 0);
  EXPECT(metactrl_decoder_status(fork) == METACTRL_LOST);
  OK(metactrl_decoder_next(fork, ids, weights, kTokens, &count, &error));
  EXPECT(count == 0);
  OK(metactrl_decoder_forced(fork, ids, kTokens, &count, &error));
  EXPECT(count == 0);
  OK(metactrl_decoder_accept(fork, path, 1, &taken, &error));
  EXPECT(taken == 0);
  OK(metactrl_decoder_choose(fork, bias, kTokens, 0, 1, 0, ids, &error));
  EXPECT(ids[0] == -1);
  OK(metactrl_decoder_seek(fork, path, i, &taken, &error));
  EXPECT(taken == i && (metactrl_decoder_status(fork) & METACTRL_LOST) == 0);
  OK(metactrl_decoder_rollback(fork, 1000000, &error));
  OK(metactrl_decoder_tokens(fork, NULL, 0, &count, &error));
  EXPECT(count == 0);
  OK(metactrl_decoder_why(fork, "(no-such-action)", 16, &text, &error));
  EXPECT(contains(text, "\"allowed\":false"));
  metactrl_text_free(text);
  metactrl_decoder_free(fork);
  metactrl_decoder_free(decoder);
}

/* Rows that go on, stay, are taken back and written anew, and rows that cannot, are where metactrl_decoder_seek sends one. */
static void moves(metactrl_pool* pool, metactrl_decoder** decoders, int rows, metactrl_constraint* constraint) {
  enum { kRows = 33, kLength = 20 };
  metactrl_error* error = NULL;
  metactrl_decoder* sought = NULL;
  int32_t path[kLength], given[2 * kRows];
  uint64_t keep[kRows], offsets[kRows + 1];
  int64_t reached[kRows];
  size_t places[kRows];
  size_t taken = 0, count = 0, other = 0;
  int row, step, i;
  EXPECT(rows == kRows);
  OK(metactrl_decoder_new(constraint, NULL, NULL, &sought, &error));
  for (i = 0; i < kLength; ++i) {
    int32_t ids[kTokens];
    OK(metactrl_decoder_next(sought, ids, NULL, kTokens, &count, &error));
    path[i] = ids[(uint32_t)random_logit() % (uint32_t)count];
    OK(metactrl_decoder_accept(sought, &path[i], 1, &taken, &error));
  }
  for (row = 0; row < kRows; ++row) places[row] = 0;
  for (step = 0; step < 60; ++step) {
    offsets[0] = 0;
    for (row = 0; row < kRows; ++row) {
      const size_t back = (uint32_t)random_logit() % 5 == 0 ? (uint32_t)random_logit() % 6 : 0;
      size_t size = (uint32_t)random_logit() % 3;
      keep[row] = places[row] - (back < places[row] ? back : places[row]);
      if (size > kLength - keep[row]) size = kLength - keep[row];
      for (i = 0; i < (int)size; ++i) given[offsets[row] + (uint64_t)i] = path[keep[row] + (uint64_t)i];
      offsets[row + 1] = offsets[row] + size;
      places[row] = keep[row] + size;
    }
    if (step % 10 == 9) {
      keep[2] = kLength + 1; /* it has not so many */
      if (offsets[4] > offsets[3]) given[offsets[3]] = 257;
    }
    OK(metactrl_batch_move(step % 2 == 0 ? pool : NULL, decoders, kRows, keep, given, offsets, reached, &error));
    for (row = 0; row < kRows; ++row) {
      const int wrong = step % 10 == 9 && (row == 2 || (row == 3 && offsets[4] > offsets[3]));
      if (decoders[row] == NULL) {
        EXPECT(reached[row] == 0);
        continue;
      }
      EXPECT(((metactrl_decoder_status(decoders[row]) & METACTRL_LOST) != 0) == wrong);
      EXPECT((reached[row] == (int64_t)(keep[row] + (offsets[row + 1] - offsets[row]))) == !wrong);
      if (wrong) {
        places[row] = 0; /* sent back, it is found again */
        continue;
      }
      OK(metactrl_decoder_seek(sought, path, places[row], &taken, &error));
      OK(metactrl_decoder_tokens(decoders[row], NULL, 0, &count, &error));
      EXPECT(count == places[row] && taken == count);
      {
        int32_t ids[kTokens], others[kTokens];
        OK(metactrl_decoder_next(decoders[row], ids, NULL, kTokens, &count, &error));
        OK(metactrl_decoder_next(sought, others, NULL, kTokens, &other, &error));
        EXPECT(count == other && memcmp(ids, others, count * sizeof ids[0]) == 0);
      }
    }
  }
  metactrl_decoder_free(sought);
}

static void batch(metactrl_constraint* constraint) {
  enum { kRows = 33, kWords = (kTokens + 31) / 32 };
  metactrl_error* error = NULL;
  metactrl_pool* pool = NULL;
  metactrl_decoder* decoders[kRows];
  int32_t tokens[kRows], counts[kRows], finished = 0, rounds = 0;
  static int32_t ids[kRows][kTokens], words[kRows][kWords];
  static float weights[kRows][kTokens], bias[kRows][kTokens];
  int row;
  size_t count = 0;
  OK(metactrl_pool_new(3, &pool, &error));
  for (row = 0; row < kRows; ++row) {
    tokens[row] = -1;
    decoders[row] = NULL;
    if (row != 5) OK(metactrl_decoder_new(constraint, NULL, NULL, &decoders[row], &error));
  }
  while (finished < kRows - 2 && rounds < 5000) {
    finished = 0;
    OK(metactrl_batch_next(pool, decoders, kRows, tokens, METACTRL_BATCH_KEEP_ENDING, &ids[0][0], &weights[0][0], kTokens,
                           counts, &error));
    OK(metactrl_batch_fill_bitmask(NULL, decoders, kRows, NULL, METACTRL_BATCH_KEEP_ENDING, &words[0][0], kWords, counts,
                                   &error));
    OK(metactrl_batch_fill_bias(pool, decoders, kRows, NULL, METACTRL_BATCH_KEEP_ENDING, &bias[0][0], kTokens, counts,
                                &error));
    for (row = 0; row < kRows; ++row) {
      int i;
      if (decoders[row] == NULL) {
        EXPECT(counts[row] == 0);
        continue;
      }
      if (row == 6 && rounds > 2) {
        EXPECT(counts[row] == 0); /* it was given a token that was not allowed */
        EXPECT((metactrl_decoder_status(decoders[row]) & METACTRL_LOST) != 0);
        continue;
      }
      EXPECT(counts[row] > 0);
      for (i = 0; i < counts[row]; ++i) {
        EXPECT(bias[row][ids[row][i]] == weights[row][i]);
        EXPECT((((uint32_t)words[row][ids[row][i] / 32] >> (ids[row][i] % 32)) & 1U) == 1U);
      }
      if ((metactrl_decoder_status(decoders[row]) & METACTRL_FINISHED) != 0) {
        ++finished;
        EXPECT(counts[row] == 1 && ids[row][0] == kEnd);
      }
      tokens[row] = ids[row][(uint32_t)random_logit() % (uint32_t)counts[row]];
      if (row == 6 && rounds == 2) tokens[row] = 257;
    }
    ++rounds;
  }
  EXPECT(finished == kRows - 2);
  {
    uint64_t offsets[kRows + 1];
    int64_t taken[kRows];
    for (row = 0; row <= kRows; ++row) offsets[row] = 0;
    OK(metactrl_batch_seek(pool, decoders, kRows, NULL, offsets, taken, &error));
    for (row = 0; row < kRows; ++row) {
      EXPECT(taken[row] == 0);
      if (decoders[row] == NULL) continue;
      OK(metactrl_decoder_tokens(decoders[row], NULL, 0, &count, &error));
      EXPECT(count == 0);
    }
    offsets[3] = 9;
    EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_batch_seek(pool, decoders, kRows, NULL, offsets, taken, NULL));
    EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_batch_move(pool, decoders, kRows, offsets, NULL, offsets, taken, NULL));
  }
  moves(pool, decoders, kRows, constraint);
  decoders[5] = decoders[4];
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT,
                metactrl_batch_next(pool, decoders, kRows, NULL, 0, &ids[0][0], NULL, kTokens, counts, NULL));
  decoders[5] = NULL;
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT,
                metactrl_batch_next(pool, decoders, kRows, NULL, 64, &ids[0][0], NULL, kTokens, counts, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT,
                metactrl_batch_next(pool, decoders, kRows, NULL, 0, NULL, NULL, kTokens, counts, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT,
                metactrl_batch_next(pool, decoders, kRows, NULL, 0, &ids[0][0], NULL, SIZE_MAX / 2, counts, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT,
                metactrl_batch_fill_bitmask(pool, decoders, kRows, NULL, 0, &words[0][0], 2, counts, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT,
                metactrl_batch_fill_bias(pool, decoders, kRows, NULL, 0, &bias[0][0], 2, counts, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT,
                metactrl_batch_fill_bias(pool, decoders, kRows, NULL, 0, NULL, kTokens, counts, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_batch_fill_bias(pool, NULL, 3, NULL, 0, NULL, 0, counts, NULL));
  EXPECT_STATUS(METACTRL_OK, metactrl_batch_fill_bias(pool, NULL, 0, NULL, 0, NULL, 0, NULL, NULL));
  for (row = 0; row < kRows; ++row) metactrl_decoder_free(decoders[row]);
  metactrl_pool_free(pool);
}

/* --- what should not be done ---------------------------------------------------------------------------------------- */

static void misuse_inputs(void) {
  metactrl_error* error = NULL;
  metactrl_task* task = NULL;
  metactrl_format* format = NULL;
  metactrl_vocabulary* vocabulary = NULL;
  metactrl_text* text = NULL;
  metactrl_task_options task_options;
  metactrl_vocabulary_options options = byte_options();
  int fail = 0;
  size_t count = 0;
  const int32_t bad_end[1] = {kTokens};
  const char* broken = "(define (domain d) (:predicates (p)) (:action a :effect (q)))";
  EXPECT_STATUS(METACTRL_ERROR_INPUT, metactrl_task_parse(broken, strlen(broken), "(", 1, NULL, NULL, &task, &error));
  EXPECT(task == NULL && metactrl_error_status(error) == METACTRL_ERROR_INPUT);
  EXPECT(strlen(metactrl_error_message(error)) > 0);
  EXPECT(strstr(metactrl_error_details(error), "\"line\":1") != NULL);
  metactrl_error_free(error);
  error = NULL;
  EXPECT_STATUS(METACTRL_ERROR_INPUT, metactrl_task_load("/no/such/file", "/no/such/file", NULL, NULL, &task, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_task_load(NULL, "x", NULL, NULL, &task, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_task_load("x", NULL, NULL, NULL, &task, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_task_load("x", "x", NULL, NULL, NULL, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_task_parse(NULL, 3, "x", 1, NULL, NULL, &task, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_task_parse("x", SIZE_MAX, "x", 1, NULL, NULL, &task, NULL));
  EXPECT_STATUS(METACTRL_ERROR_INPUT, metactrl_task_parse(NULL, 0, NULL, 0, NULL, NULL, &task, NULL));
  metactrl_task_options_default(&task_options);
  task_options.struct_size = 1;
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_task_parse("x", 1, "x", 1, &task_options, NULL, &task, NULL));
  task_options.struct_size = SIZE_MAX;
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_task_parse("x", 1, "x", 1, &task_options, NULL, &task, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_task_info(NULL, &text, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_task_validate(NULL, NULL, "", 0, NULL, &text, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_task_search(NULL, 0, NULL, &text, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_format_builtin(NULL, &format, NULL));
  EXPECT_STATUS(METACTRL_ERROR_INPUT, metactrl_format_builtin("no such format", &format, &error));
  EXPECT(strstr(metactrl_error_message(error), "sentences") != NULL);
  metactrl_error_free(error);
  error = NULL;
  EXPECT_STATUS(METACTRL_ERROR_INPUT, metactrl_format_parse("what is this", 12, &format, NULL));
  EXPECT_STATUS(METACTRL_ERROR_INPUT, metactrl_vocabulary_load_gguf("/no/such/file", &vocabulary, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_vocabulary_new(NULL, &vocabulary, NULL));
  options.user = &fail;
  for (fail = 1; fail <= 3; ++fail) EXPECT_STATUS(METACTRL_ERROR_CALLBACK, metactrl_vocabulary_new(&options, &vocabulary, NULL));
  EXPECT_STATUS(METACTRL_ERROR_INPUT, metactrl_vocabulary_new(&options, &vocabulary, NULL)); /* other bytes come back */
  fail = 0;
  options.num_tokens = 0;
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_vocabulary_new(&options, &vocabulary, NULL));
  options.num_tokens = SIZE_MAX;
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_vocabulary_new(&options, &vocabulary, NULL));
  options = byte_options();
  options.offsets = NULL;
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_vocabulary_new(&options, &vocabulary, NULL));
  options = byte_options();
  options.bytes = NULL;
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_vocabulary_new(&options, &vocabulary, NULL));
  options = byte_options();
  all_offsets[3] = 200;
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_vocabulary_new(&options, &vocabulary, NULL));
  options = byte_options();
  options.end_of_turn = bad_end;
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_vocabulary_new(&options, &vocabulary, NULL));
  options = byte_options();
  options.num_end_of_turn = 0;
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_vocabulary_new(&options, &vocabulary, NULL));
  EXPECT(released == 0);
  EXPECT(metactrl_vocabulary_size(NULL) == 0 && metactrl_vocabulary_fingerprint(NULL) == 0);
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_vocabulary_encode(NULL, "a", 1, "", 0, NULL, 0, &count, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_vocabulary_decode(NULL, NULL, 0, &text, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_vocabulary_end_of_turn(NULL, NULL, 0, &count, NULL));
}

static void misuse_decoders(metactrl_task* task, metactrl_format* format, metactrl_vocabulary* vocabulary,
                            metactrl_constraint* constraint) {
  metactrl_error* error = NULL;
  metactrl_decoder* decoder = NULL;
  metactrl_constraint* compiled = NULL;
  metactrl_text* text = NULL;
  metactrl_stop* stop = NULL;
  metactrl_pool* pool = NULL;
  metactrl_constraint_options constraint_options;
  metactrl_decoder_options options;
  int32_t ids[4] = {-1, -2147483647 - 1, 2147483647, 40};
  float logits[kTokens];
  size_t count = 0, taken = 0;
  int i;
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_constraint_compile(NULL, format, vocabulary, NULL, NULL, &compiled, NULL));
  /* A handle of another kind. */
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_constraint_compile((metactrl_task*)(void*)format, format, vocabulary, NULL,
                                                                     NULL, &compiled, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_decoder_new((metactrl_constraint*)(void*)task, NULL, NULL, &decoder, NULL));
  metactrl_constraint_options_default(&constraint_options);
  constraint_options.tokenization = 9;
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT,
                metactrl_constraint_compile(task, format, vocabulary, &constraint_options, NULL, &compiled, NULL));
  metactrl_constraint_options_default(&constraint_options);
  constraint_options.horizon = 1000001;
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT,
                metactrl_constraint_compile(task, format, vocabulary, &constraint_options, NULL, &compiled, NULL));
  metactrl_constraint_options_default(&constraint_options);
  constraint_options.context_size = 3;
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT,
                metactrl_constraint_compile(task, format, vocabulary, &constraint_options, NULL, &compiled, NULL));
  OK(metactrl_stop_new(&stop, &error));
  EXPECT(metactrl_stop_requested(stop) == 0 && metactrl_stop_requested(NULL) == 0);
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_stop_after(stop, NAN, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_stop_after(stop, -1, NULL));
  OK(metactrl_stop_after(stop, 1e300, &error));
  EXPECT(metactrl_stop_requested(stop) == 0);
  metactrl_stop_request(stop);
  EXPECT(metactrl_stop_requested(stop) == 1);
  EXPECT_STATUS(METACTRL_ERROR_STOPPED, metactrl_constraint_compile(task, format, vocabulary, NULL, stop, &compiled, &error));
  EXPECT(metactrl_error_status(error) == METACTRL_ERROR_STOPPED);
  metactrl_error_free(error);
  error = NULL;
  metactrl_stop_free(stop);
  metactrl_decoder_options_default(&options);
  options.guidance = 77;
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_decoder_new(constraint, &options, NULL, &decoder, NULL));
  metactrl_decoder_options_default(&options);
  options.bridge = -1;
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_decoder_new(constraint, &options, NULL, &decoder, NULL));
  EXPECT(metactrl_constraint_verdict(NULL) == -1 && metactrl_constraint_max_tokens(NULL) == 0);
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_constraint_check(constraint, ids, 4, NULL, &text, NULL));
  OK(metactrl_decoder_new(constraint, NULL, NULL, &decoder, &error));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_decoder_next(decoder, NULL, NULL, 3, &count, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_decoder_next(decoder, NULL, NULL, 0, NULL, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_decoder_next(NULL, NULL, NULL, 0, &count, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_decoder_fill_bitmask(decoder, ids, 4, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_decoder_fill_bias(decoder, logits, 4, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_decoder_fill_bias(decoder, NULL, kTokens, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_decoder_accept(decoder, NULL, 2, &taken, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_decoder_clone(NULL, &decoder, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_decoder_why(decoder, NULL, 5, &text, NULL));
  EXPECT_STATUS(METACTRL_ERROR_INPUT, metactrl_decoder_why(decoder, "((((", 4, &text, NULL));
  EXPECT_STATUS(METACTRL_ERROR_INPUT, metactrl_decoder_why(decoder, "", 0, &text, NULL));
  EXPECT(metactrl_decoder_status(NULL) == 0);
  for (i = 0; i < 3; ++i) {
    OK(metactrl_decoder_accept(decoder, &ids[i], 1, &taken, &error));
    EXPECT(taken == 0);
    OK(metactrl_decoder_seek(decoder, &ids[i], 1, &taken, &error));
    EXPECT(taken == 0);
    OK(metactrl_decoder_seek(decoder, NULL, 0, &taken, &error));
  }
  for (i = 0; i < kTokens; ++i) logits[i] = i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -INFINITY;
  OK(metactrl_decoder_choose(decoder, logits, kTokens, 0, 1, 0, ids, &error));
  OK(metactrl_decoder_accept(decoder, ids, 1, &taken, &error));
  EXPECT(taken == 1);
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_decoder_choose(decoder, logits, kTokens, NAN, 1, 0, ids, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_decoder_choose(decoder, logits, kTokens, 1, 0, 0, ids, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_decoder_choose(decoder, logits, 12, 0, 1, 0, ids, NULL));
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_decoder_choose_next(decoder, logits, kTokens, 0, 1, 0, ids, NULL));
  OK(metactrl_decoder_next(decoder, NULL, NULL, 0, &count, &error));
  for (i = 0; i < kTokens; ++i) logits[i] = i + 1 == (int)count ? 100.0F : NAN;
  OK(metactrl_decoder_choose_next(decoder, logits, count, 0, 1, 0, &ids[1], &error));
  {
    int32_t listed[kTokens];
    OK(metactrl_decoder_next(decoder, listed, NULL, kTokens, &count, &error));
    EXPECT(ids[1] == listed[count - 1]);
  }
  EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_pool_new(100000, &pool, NULL));
  metactrl_decoder_free(decoder);
  metactrl_error_free(NULL);
  metactrl_text_free(NULL);
  metactrl_stop_free(NULL);
  metactrl_task_free(NULL);
  metactrl_format_free(NULL);
  metactrl_vocabulary_free(NULL);
  metactrl_constraint_free(NULL);
  metactrl_decoder_free(NULL);
  metactrl_pool_free(NULL);
  EXPECT(strcmp(metactrl_error_message(NULL), "") == 0 && metactrl_error_status(NULL) == METACTRL_OK);
  EXPECT(strcmp(metactrl_text_data(NULL), "") == 0 && metactrl_text_size(NULL) == 0);
}

/* Preferences are chosen before anything is written, promised, and judged one by one. */
static void prefer(const metactrl_format* format, const metactrl_vocabulary* vocabulary) {
  static const char domain[] =
      "(define (domain d) (:requirements :preferences :action-costs) (:predicates (p) (q) (r)) (:functions (total-cost))"
      "(:action a :parameters () :precondition (not (r)) :effect (and (p) (increase (total-cost) 1)))"
      "(:action b :parameters () :effect (and (q) (r) (increase (total-cost) 1))))";
  static const char problem[] =
      "(define (problem d) (:domain d) (:init (= (total-cost) 0))"
      "(:goal (and (q) (preference early (p)) (preference quiet (not (r))) (preference dear (p))))"
      "(:metric minimize (+ (total-cost) (* 5 (is-violated early)) (* 2 (is-violated quiet)))))";
  metactrl_error* error = NULL;
  metactrl_task* task = NULL;
  metactrl_constraint* constraint = NULL;
  metactrl_text* text = NULL;
  OK(metactrl_task_parse(domain, sizeof domain - 1, problem, sizeof problem - 1, NULL, NULL, &task, &error));
  OK(metactrl_task_validate(task, NULL, "(b)\n", 4, NULL, &text, &error));
  EXPECT(contains(text, "{\"valid\":true,"));
  EXPECT(contains(text, "{\"name\":\"early\",\"text\":\"(p)\",\"weight\":5,\"satisfied\":false}"));
  metactrl_text_free(text);
  OK(metactrl_task_search(task, 0, NULL, &text, &error));
  EXPECT(contains(text, "\"name\":\"early\",\"text\":\"(p)\",\"weight\":5,\"satisfied\":true"));
  EXPECT(contains(text, "\"name\":\"quiet\",\"text\":\"(not (r))\",\"weight\":2,\"satisfied\":false"));
  EXPECT(contains(text, "\"metric\":{\"value\":4,\"lower_bound\":4}"));
  metactrl_text_free(text);
  OK(metactrl_constraint_compile(task, format, vocabulary, NULL, NULL, &constraint, &error));
  OK(metactrl_constraint_info(constraint, &text, &error));
  EXPECT(contains(text, "\"promised_preferences\":[0"));
  metactrl_text_free(text);
  metactrl_constraint_free(constraint);
  metactrl_task_free(task);
}

/* A finished plan whose actions take time becomes a schedule, which is judged as one when it comes back. */
static void schedule(const metactrl_format* format, const metactrl_vocabulary* vocabulary) {
  static const char domain[] =
      "(define (domain d) (:requirements :durative-actions :typing) (:types machine) (:predicates (done ?m - machine))"
      "(:functions (time ?m - machine))"
      "(:durative-action work :parameters (?m - machine) :duration (= ?duration (time ?m)) :condition ()"
      " :effect (at end (done ?m))))";
  static const char problem[] =
      "(define (problem d) (:domain d) (:objects x y - machine) (:init (= (time x) 2) (= (time y) 1.5))"
      "(:goal (and (done x) (done y))) (:metric minimize (total-time)))";
  static const char early[] = "0.000: (work x) [2.000]\n0.000: (work y) [1.500]\n";
  static const char wrong[] = "0.000: (work x) [2.500]\n3.000: (work y) [1.500]\n";
  metactrl_error* error = NULL;
  metactrl_task* task = NULL;
  metactrl_constraint* constraint = NULL;
  metactrl_decoder* decoder = NULL;
  metactrl_text* text = NULL;
  metactrl_stop* stop = NULL;
  int32_t run[4096];
  size_t count = 0, taken = 0;
  float logits[kTokens] = {0};
  OK(metactrl_task_parse(domain, sizeof domain - 1, problem, sizeof problem - 1, NULL, NULL, &task, &error));
  OK(metactrl_task_info(task, &text, &error));
  EXPECT(contains(text, "\"has_durations\":true"));
  metactrl_text_free(text);
  /* "x" before "y": the plan of a model that likes it better. */
  logits['x'] = 1;
  OK(metactrl_constraint_compile(task, format, vocabulary, NULL, NULL, &constraint, &error));
  OK(metactrl_decoder_new(constraint, NULL, NULL, &decoder, &error));
  while ((metactrl_decoder_status(decoder) & METACTRL_FINISHED) == 0) {
    OK(metactrl_decoder_choose(decoder, logits, kTokens, 0, 1, 0, run, &error));
    OK(metactrl_decoder_accept(decoder, run, 1, &taken, &error));
  }
  OK(metactrl_decoder_tokens(decoder, run, 4096, &count, &error));
  OK(metactrl_vocabulary_decode(vocabulary, run, count, &text, &error));
  {
    metactrl_text* made = NULL;
    const char* const plan = metactrl_text_data(text);
    const size_t size = metactrl_text_size(text);
    EXPECT(strncmp(plan, "(work x)\n(work y)", 17) == 0);
    OK(metactrl_task_schedule(task, format, plan, size, METACTRL_SEQUENTIAL, NULL, &made, &error));
    EXPECT(contains(made, "{\"text\":\"0.000: (work x) [2.000]\\n2.001: (work y) [1.500]\\n\",\"makespan\":3.501,\"metric\":3.501,"));
    EXPECT(contains(made, "{\"start\":2.001,\"duration\":1.5,\"text\":\"(work y)\",\"action\":\"work\",\"arguments\":[\"y\"]}"));
    EXPECT(contains(made, "\"overlaps\":[]}"));
    metactrl_text_free(made);
    OK(metactrl_task_schedule(task, NULL, plan, size, METACTRL_CONCURRENT, NULL, &made, &error));
    EXPECT(contains(made, "0.000: (work y) [1.500]") && contains(made, "\"makespan\":2,\"metric\":2,"));
    EXPECT(contains(made, "\"overlaps\":[[0,1]]}"));
    metactrl_text_free(made);
    EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_task_schedule(task, NULL, plan, size, 2, NULL, &made, NULL));
    EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_task_schedule(task, NULL, plan, size, 0, NULL, NULL, NULL));
    EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_task_schedule(NULL, NULL, plan, size, 0, NULL, &made, NULL));
    EXPECT_STATUS(METACTRL_ERROR_ARGUMENT, metactrl_task_schedule(task, NULL, NULL, size, 0, NULL, &made, NULL));
    EXPECT_STATUS(METACTRL_ERROR_INPUT, metactrl_task_schedule(task, NULL, "(rest)\n", 7, 0, NULL, &made, NULL));
    EXPECT_STATUS(METACTRL_ERROR_INPUT, metactrl_task_schedule(task, format, plan, size - 2, 0, NULL, &made, NULL));
    OK(metactrl_stop_new(&stop, &error));
    metactrl_stop_request(stop);
    EXPECT_STATUS(METACTRL_ERROR_STOPPED, metactrl_task_schedule(task, NULL, plan, size, 1, stop, &made, NULL));
    metactrl_stop_free(stop);
  }
  metactrl_text_free(text);
  OK(metactrl_task_validate(task, NULL, early, sizeof early - 1, NULL, &text, &error));
  EXPECT(contains(text, "{\"valid\":true,") && contains(text, "\"makespan\":2,"));
  metactrl_text_free(text);
  OK(metactrl_task_validate(task, NULL, wrong, sizeof wrong - 1, NULL, &text, &error));
  EXPECT(contains(text, "{\"valid\":false,") && contains(text, "(work x)"));
  metactrl_text_free(text);
  metactrl_decoder_free(decoder);
  metactrl_constraint_free(constraint);
  metactrl_task_free(task);
}

/* What cannot be reached together is told, or dropped; what the best plan known is worth is told. */
static void drop_goals(const metactrl_format* format, const metactrl_vocabulary* vocabulary) {
  static const char domain[] =
      "(define (domain d) (:requirements :negative-preconditions :action-costs) (:predicates (p) (q))"
      "(:functions (total-cost))"
      "(:action a :parameters () :precondition (not (q)) :effect (and (p) (increase (total-cost) 3)))"
      "(:action b :parameters () :precondition (not (p)) :effect (and (q) (increase (total-cost) 2))))";
  static const char problem[] =
      "(define (problem d) (:domain d) (:init (= (total-cost) 0)) (:goal (and (p) (q)))"
      "(:metric minimize (total-cost)))";
  metactrl_error* error = NULL;
  metactrl_task* task = NULL;
  metactrl_constraint* constraint = NULL;
  metactrl_constraint_options options;
  metactrl_text* text = NULL;
  OK(metactrl_task_parse(domain, sizeof domain - 1, problem, sizeof problem - 1, NULL, NULL, &task, &error));
  OK(metactrl_task_search(task, 0, NULL, &text, &error));
  EXPECT(contains(text, "\"verdict\":\"infeasible\"") && contains(text, "\"best_plan\":null"));
  EXPECT(contains(text, "these goals exclude each other: (p), (q)"));
  EXPECT(contains(text, "\"would_help\":[\"without the goal (p)\",\"without the goal (q)\"]"));
  metactrl_text_free(text);
  metactrl_constraint_options_default(&options);
  EXPECT(options.improve > 0 && options.drop_goals == 0);
  OK(metactrl_constraint_compile(task, format, vocabulary, &options, NULL, &constraint, &error));
  EXPECT(metactrl_constraint_verdict(constraint) == METACTRL_INFEASIBLE);
  metactrl_constraint_free(constraint);
  options.drop_goals = 1;
  OK(metactrl_constraint_compile(task, format, vocabulary, &options, NULL, &constraint, &error));
  EXPECT(metactrl_constraint_verdict(constraint) == METACTRL_SOLVABLE);
  OK(metactrl_constraint_info(constraint, &text, &error));
  EXPECT(contains(text, "\"goals_dropped\":[\"(q)\"]"));
  EXPECT(contains(text, "\"best_plan\":{\"actions\":1,\"shortest\":true,\"cost\":3,\"cheapest\":true,\"cost_at_least\":3}"));
  metactrl_text_free(text);
  metactrl_constraint_free(constraint);
  metactrl_task_free(task);
}

int main(int count, char** arguments) {
  metactrl_error* error = NULL;
  metactrl_task* task = NULL;
  metactrl_format* format = NULL;
  metactrl_vocabulary* vocabulary = NULL;
  metactrl_constraint* constraint = NULL;
  metactrl_decoder* last = NULL;
  metactrl_text* text = NULL;
  metactrl_constraint_options options;
  metactrl_vocabulary_options tokens;
  if (count != 3) return 2;
  if (metactrl_abi_version() != METACTRL_ABI_VERSION) return 3;
  misuse_inputs();
  OK(metactrl_task_load(arguments[1], arguments[2], NULL, NULL, &task, &error));
  OK(metactrl_task_info(task, &text, &error));
  EXPECT(contains(text, "\"goals\":[\"("));
  metactrl_text_free(text);
  OK(metactrl_task_search(task, 0, NULL, &text, &error));
  EXPECT(contains(text, "\"verdict\":\"solvable\""));
  metactrl_text_free(text);
  OK(metactrl_task_search(task, 1, NULL, &text, &error));
  EXPECT(contains(text, "\"verdict\":\"infeasible\"") && contains(text, "\"actions\":null"));
  metactrl_text_free(text);
  OK(metactrl_task_validate(task, NULL, "(open nothing)\n", 15, NULL, &text, &error));
  EXPECT(contains(text, "{\"valid\":false,"));
  metactrl_text_free(text);
  OK(metactrl_format_builtin("pddl", &format, &error));
  OK(metactrl_task_validate(task, format, "gibberish", 9, NULL, &text, &error));
  EXPECT(contains(text, "{\"valid\":false,"));
  metactrl_text_free(text);
  tokens = byte_options();
  OK(metactrl_vocabulary_new(&tokens, &vocabulary, &error));
  EXPECT(metactrl_vocabulary_size(vocabulary) == kTokens);
  metactrl_constraint_options_default(&options);
  options.context = "Plan:\n";
  options.context_size = 6;
  OK(metactrl_constraint_compile(task, format, vocabulary, &options, NULL, &constraint, &error));
  EXPECT(metactrl_constraint_verdict(constraint) == METACTRL_SOLVABLE);
  OK(metactrl_constraint_info(constraint, &text, &error));
  EXPECT(contains(text, "\"tier\":\"exact\""));
  metactrl_text_free(text);
  OK(metactrl_task_prompt(task, format, "Tidy up.", 8, &text, &error));
  EXPECT(contains(text, "Task: Tidy up.") && contains(text, "Plan:"));
  metactrl_text_free(text);
  misuse_decoders(task, format, vocabulary, constraint);
  prefer(format, vocabulary);
  drop_goals(format, vocabulary);
  schedule(format, vocabulary);
  EXPECT_STATUS(METACTRL_ERROR_INPUT, metactrl_task_schedule(task, NULL, "", 0, METACTRL_SEQUENTIAL, NULL, &text, NULL));
  plan(constraint);
  walk(constraint);
  batch(constraint);
  /* Free in any order. */
  OK(metactrl_decoder_new(constraint, NULL, NULL, &last, &error));
  metactrl_task_free(task);
  metactrl_vocabulary_free(vocabulary);
  metactrl_format_free(format);
  metactrl_constraint_free(constraint);
  EXPECT(released == 0);
  {
    size_t number = 0;
    OK(metactrl_decoder_next(last, NULL, NULL, 0, &number, &error));
    EXPECT(number > 0);
  }
  metactrl_decoder_free(last);
  EXPECT(released == 1);
  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
