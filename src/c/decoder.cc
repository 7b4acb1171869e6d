// Decoders. Whoever drives one keeps it where its engine is, by tokens and not by steps: `seek` rolls back to what the
// decoder's tokens and the engine's have in common and takes the rest, which serves beams, rows that are reused, drafts
// that are taken back, and an ordinary next token alike.
//
// A decoder that was sent where no plan can be is lost: it lists nothing, so that no engine goes on from there by mistake.
#include <algorithm>
#include <cmath>
#include <limits>

#include "c/handles.h"
#include "c/json.h"
#include "decode/choose.h"
#include "metactrl/explain.h"

namespace metactrl::c {

namespace {

using internal::str_cat;

metactrl_decoder_options default_decoder_options() {
  const DecoderOptions defaults;
  metactrl_decoder_options options = {};
  options.guidance = METACTRL_GUIDANCE_UNIFORM;
  options.bridge = METACTRL_BRIDGE_UNIFORM;
  options.candidate_states = defaults.support.candidates.states;
  options.candidate_bytes = defaults.support.candidates.bytes;
  options.candidate_work = defaults.support.candidates.work;
  return options;
}

DecoderOptions decoder_options(const metactrl_decoder_options& given) {
  DecoderOptions options;
  switch (given.guidance) {
    case METACTRL_GUIDANCE_SYNTAX:
      options.guidance = Guidance::kSyntax;
      break;
    case METACTRL_GUIDANCE_MASK:
      options.guidance = Guidance::kMask;
      break;
    case METACTRL_GUIDANCE_UNIFORM:
      options.guidance = Guidance::kUniform;
      break;
    case METACTRL_GUIDANCE_TRAINED:
      options.guidance = Guidance::kTrained;
      break;
    default:
      throw ArgumentError(str_cat("there is no guidance ", given.guidance));
  }
  switch (given.bridge) {
    case METACTRL_BRIDGE_UNIFORM:
      options.bridge = Bridge::kUniform;
      break;
    case METACTRL_BRIDGE_SURROGATE:
      options.bridge = Bridge::kSurrogate;
      break;
    case METACTRL_BRIDGE_HMM:
      options.bridge = Bridge::kHmm;
      break;
    default:
      throw ArgumentError(str_cat("there is no bridge ", given.bridge));
  }
  options.token_hmm = hmm_of(given.token_hmm, false, "token_hmm");
  options.horizon = given.horizon;
  options.forbid_empty = given.forbid_empty != 0;
  options.support.candidates = {given.candidate_states, given.candidate_bytes, given.candidate_work};
  options.support.idle_steps = given.idle_steps != 0;
  options.support.detours = given.no_detours == 0;
  if (!(given.per_action >= 0 && given.per_cost >= 0 && std::isfinite(given.per_action + given.per_cost))) {
    throw ArgumentError("per_action and per_cost must be finite, and at least 0");
  }
  options.per_action = given.per_action;
  options.per_cost = given.per_cost;
  return options;
}

unsigned horizon_of(const Decoder& decoder) {
  const unsigned longest = decoder.constraint().lookahead()->horizon();
  return decoder.options().horizon > 0 ? std::min(decoder.options().horizon, longest) : longest;
}

// As `explain` would tell a plan that was decoded so far, and what comes next where it is not finished.
std::vector<ExplainedStep> explained(const Decoder& decoder) {
  PlanResult so_far;
  const std::shared_ptr<const Lookahead>& lookahead = decoder.constraint().lookahead();
  const Task& task = decoder.constraint().task();
  so_far.pursued = task;
  so_far.decoder = decoder.options();
  so_far.horizon = horizon_of(decoder);
  if (so_far.decoder.guidance != Guidance::kSyntax) so_far.lookahead = lookahead;
  // Not an owner: the explainer is gone before the decoder is.
  so_far.constraint = std::shared_ptr<const Constraint>(std::shared_ptr<const Constraint>(), &decoder.constraint());
  Explainer explainer(task, so_far, nullptr, 0);
  std::vector<ExplainedStep> steps;
  const std::span<const ActionId> actions = decoder.actions();
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const bool stops = decoder.finished() && i + 1 == actions.size();
    steps.push_back(explainer.step(actions[i], decoder.tokens(), stops));
    if (!steps.back().chosen_is_legal) return steps;
  }
  if (!decoder.finished() || actions.empty()) {
    steps.push_back(explainer.step(std::nullopt, decoder.tokens(), decoder.finished()));
  }
  return steps;
}

// One of the choices, by the decoder's scores; -1 where there is none.
std::int32_t choose(metactrl_decoder& handle, std::span<const NextToken> choices, double temperature, double top_p,
                    std::uint64_t seed) {
  if (!(temperature >= 0) || !std::isfinite(temperature) || !(top_p > 0 && top_p <= 1)) {
    throw ArgumentError("temperature must not be negative, and top_p must be above 0 and at most 1");
  }
  if (choices.empty()) return -1;
  // Another number at every place, and the same one whenever it is asked there.
  decode::Random random(seed, handle.decoder.num_tokens());
  const std::size_t chosen = temperature == 0 ? decode::choose_best(handle.scores)
                                              : decode::choose_sample(handle.scores, {temperature, top_p}, random);
  return static_cast<std::int32_t>(choices[chosen].token);
}

std::string why_json(const Decoder& decoder, std::string_view action_text) {
  const Task& task = decoder.constraint().task();
  const std::vector<PlanStep> asked = parse_plan(action_text, "action");
  if (asked.size() != 1) throw InputError("action", "one action is asked about", "write it as (name argument ...)");
  JsonObject object;
  object.text("action", to_string(asked[0]));
  const std::vector<PlanStep> before = steps_of(task, decoder.actions());
  const std::optional<ActionId> action = task.find(asked[0]);
  ExplainedStep::Standing standing = ExplainedStep::Standing::kIllegal;
  std::string reason;
  if (!action) {
    // Nothing that can be reached allows it; the reference semantics know what it lacks here.
    std::vector<PlanStep> with = before;
    with.push_back(asked[0]);
    reason = task.validate(with).problem;
  } else {
    const std::vector<ExplainedStep> steps = explained(decoder);
    for (const ExplainedStep::Judged& judged : steps.back().legal) {
      if (judged.action == *action) standing = judged.standing;
    }
    reason = standing == ExplainedStep::Standing::kIllegal ? why_illegal(task, before, *action)
                                                           : why_not(standing, steps.back().left);
  }
  if (decoder.finished()) reason = "the plan has ended";
  const bool allowed = !decoder.finished() && (standing == ExplainedStep::Standing::kAllowed ||
                                               standing == ExplainedStep::Standing::kNotJudged);
  return object.flag("allowed", allowed).text("standing", to_string(standing)).text("reason", reason).done();
}

std::string plan_json(const metactrl_decoder& handle) {
  const Decoder& decoder = handle.decoder;
  const Task& task = decoder.constraint().task();
  std::string text;
  JsonList tokens;
  for (const TokenId token : decoder.tokens()) {
    text += decoder.constraint().vocabulary().bytes(token);
    tokens.add(str_cat(static_cast<std::int32_t>(token)));
  }
  JsonObject object;
  object.flag("finished", decoder.finished()).flag("lost", handle.lost).text("text", text);
  object.raw("actions", steps_json(steps_of(task, decoder.actions()))).raw("tokens", tokens.done());
  // The decoder's own state is that of the last boundary, which the end of the turn is none of.
  State state = task.initial_state();
  for (const ActionId action : decoder.actions()) {
    if (const std::optional<State> next = task.apply(state, action)) state = *next;
  }
  const std::size_t horizon = horizon_of(decoder);
  const std::size_t left = horizon - std::min(horizon, decoder.actions().size());
  return object.number("left", static_cast<double>(left)).flag("goal_holds", task.is_goal(state)).done();
}

}  // namespace

std::span<const NextToken> next_of(metactrl_decoder& decoder) {
  return decoder.lost ? std::span<const NextToken>() : decoder.decoder.next();
}

std::size_t accept_all(metactrl_decoder& decoder, std::span<const std::int32_t> ids) {
  if (decoder.lost) return 0;
  std::size_t taken = 0;
  while (taken < ids.size() && decoder.decoder.accept(TokenId{ids[taken]})) ++taken;
  return taken;
}

std::size_t go_on(metactrl_decoder& decoder, std::size_t keep, std::span<const std::int32_t> ids) {
  const std::size_t before = decoder.decoder.num_tokens();
  decoder.lost = true;  // also when something throws
  if (before < keep) return before;
  decoder.decoder.rollback(before - keep);
  std::size_t taken = 0;
  while (taken < ids.size() && decoder.decoder.accept(TokenId{ids[taken]})) ++taken;
  decoder.lost = taken < ids.size();
  return keep + taken;
}

std::size_t seek(metactrl_decoder& decoder, std::span<const std::int32_t> ids) {
  const std::span<const TokenId> tokens = decoder.decoder.tokens();
  std::size_t common = 0;
  while (common < tokens.size() && common < ids.size() && static_cast<std::int32_t>(tokens[common]) == ids[common])
    ++common;
  return go_on(decoder, common, ids.subspan(common));
}

void fill_bitmask(std::span<const NextToken> choices, std::span<std::int32_t> words) {
  std::fill(words.begin(), words.end(), 0);
  for (const NextToken& choice : choices) {
    const auto id = static_cast<std::uint32_t>(choice.token);
    words[id / 32] = static_cast<std::int32_t>(static_cast<std::uint32_t>(words[id / 32]) | (1U << (id % 32)));
  }
}

void fill_bias(std::span<const NextToken> choices, std::span<float> row) {
  std::fill(row.begin(), row.end(), -std::numeric_limits<float>::infinity());
  for (const NextToken& choice : choices) {
    row[static_cast<std::size_t>(choice.token)] = static_cast<float>(choice.log_weight);
  }
}

void check_bitmask_size(std::size_t words, const metactrl_decoder& decoder) {
  const std::size_t needed = (decoder.decoder.constraint().vocabulary().size() + 31) / 32;
  if (words < needed) throw ArgumentError(str_cat("the mask needs ", needed, " words, not ", words));
}

void check_row_size(std::size_t size, const metactrl_decoder& decoder) {
  const std::size_t needed = decoder.decoder.constraint().vocabulary().size();
  if (size < needed) throw ArgumentError(str_cat("the row needs ", needed, " elements, not ", size));
}

}  // namespace metactrl::c

using metactrl::c::guarded;
using metactrl::c::Held;
using metactrl::c::required;

void metactrl_decoder_options_default(metactrl_decoder_options* options) {
  metactrl::c::write_options(metactrl::c::default_decoder_options(), options, sizeof *options);
}

metactrl_status metactrl_decoder_new(const metactrl_constraint* constraint, const metactrl_decoder_options* options,
                                     metactrl_stop* stop, metactrl_decoder** out, metactrl_error** error) {
  return guarded(error, [&] {
    required(out, "out");
    const metactrl::DecoderOptions read =
        metactrl::c::decoder_options(metactrl::c::read_options(options, metactrl::c::default_decoder_options()));
    metactrl::Decoder decoder(metactrl::c::live(constraint, "constraint").constraint, read, metactrl::c::stop_of(stop));
    *out = std::make_unique<metactrl_decoder>(std::move(decoder)).release();
  });
}

metactrl_status metactrl_decoder_clone(metactrl_decoder* decoder, metactrl_decoder** out, metactrl_error** error) {
  return guarded(error, [&] {
    required(out, "out");
    const Held held(decoder);
    *out = std::make_unique<metactrl_decoder>(metactrl::Decoder(held->decoder), held->lost).release();
  });
}

metactrl_status metactrl_decoder_next(metactrl_decoder* decoder, int32_t* ids, float* log_weights, size_t capacity,
                                      size_t* count, metactrl_error** error) {
  return guarded(error, [&] {
    required(count, "count");
    metactrl::c::check_array(ids, capacity, "ids");
    const Held held(decoder);
    const std::span<const metactrl::NextToken> choices = metactrl::c::next_of(*held);
    for (std::size_t i = 0; i < choices.size() && i < capacity; ++i) {
      ids[i] = static_cast<std::int32_t>(choices[i].token);
      if (log_weights != nullptr) log_weights[i] = static_cast<float>(choices[i].log_weight);
    }
    *count = choices.size();
  });
}

metactrl_status metactrl_decoder_fill_bitmask(metactrl_decoder* decoder, int32_t* words, size_t num_words,
                                              metactrl_error** error) {
  return guarded(error, [&] {
    metactrl::c::check_array(words, num_words, "words");
    const Held held(decoder);
    metactrl::c::check_bitmask_size(num_words, *held);
    metactrl::c::fill_bitmask(metactrl::c::next_of(*held), std::span(words, num_words));
  });
}

metactrl_status metactrl_decoder_fill_bias(metactrl_decoder* decoder, float* row, size_t size, metactrl_error** error) {
  return guarded(error, [&] {
    metactrl::c::check_array(row, size, "row");
    const Held held(decoder);
    metactrl::c::check_row_size(size, *held);
    metactrl::c::fill_bias(metactrl::c::next_of(*held), std::span(row, size));
  });
}

metactrl_status metactrl_decoder_choose(metactrl_decoder* decoder, const float* logits, size_t size, double temperature,
                                        double top_p, uint64_t seed, int32_t* token, metactrl_error** error) {
  return guarded(error, [&] {
    required(token, "token");
    metactrl::c::check_array(logits, size, "logits");
    const Held held(decoder);
    metactrl::c::check_row_size(size, *held);
    const std::span<const metactrl::NextToken> choices = metactrl::c::next_of(*held);
    metactrl::decode::score_choices(choices, std::span(logits, size), held->scores);
    *token = metactrl::c::choose(*held, choices, temperature, top_p, seed);
  });
}

metactrl_status metactrl_decoder_choose_next(metactrl_decoder* decoder, const float* logits, size_t size,
                                             double temperature, double top_p, uint64_t seed, int32_t* token,
                                             metactrl_error** error) {
  return guarded(error, [&] {
    required(token, "token");
    metactrl::c::check_array(logits, size, "logits");
    const Held held(decoder);
    const std::span<const metactrl::NextToken> choices = metactrl::c::next_of(*held);
    if (size != choices.size()) {
      throw metactrl::c::ArgumentError(
          metactrl::internal::str_cat("there are ", choices.size(), " tokens that may come, and ", size, " logits"));
    }
    held->scores.clear();
    for (std::size_t i = 0; i < size; ++i) {
      held->scores.push_back(metactrl::decode::sane_logit(logits[i]) + choices[i].log_weight);
    }
    *token = metactrl::c::choose(*held, choices, temperature, top_p, seed);
  });
}

metactrl_status metactrl_decoder_forced(metactrl_decoder* decoder, int32_t* ids, size_t capacity, size_t* count,
                                        metactrl_error** error) {
  return guarded(error, [&] {
    required(count, "count");
    metactrl::c::check_array(ids, capacity, "ids");
    const Held held(decoder);
    *count = 0;
    if (held->lost) return;
    const std::span<const metactrl::TokenId> run = held->decoder.forced();
    for (std::size_t i = 0; i < run.size() && i < capacity; ++i) ids[i] = static_cast<std::int32_t>(run[i]);
    *count = run.size();
  });
}

metactrl_status metactrl_decoder_accept(metactrl_decoder* decoder, const int32_t* ids, size_t num_ids, size_t* taken,
                                        metactrl_error** error) {
  return guarded(error, [&] {
    required(taken, "taken");
    metactrl::c::check_array(ids, num_ids, "ids");
    const Held held(decoder);
    *taken = metactrl::c::accept_all(*held, std::span(ids, num_ids));
  });
}

metactrl_status metactrl_decoder_validate(metactrl_decoder* decoder, const int32_t* ids, size_t num_ids, size_t* taken,
                                          metactrl_error** error) {
  return guarded(error, [&] {
    required(taken, "taken");
    metactrl::c::check_array(ids, num_ids, "ids");
    const Held held(decoder);
    const std::size_t before = held->decoder.num_tokens();
    try {
      *taken = metactrl::c::accept_all(*held, std::span(ids, num_ids));
    } catch (...) {
      held->decoder.rollback(held->decoder.num_tokens() - before);
      throw;
    }
    held->decoder.rollback(held->decoder.num_tokens() - before);
  });
}

metactrl_status metactrl_decoder_rollback(metactrl_decoder* decoder, size_t tokens, metactrl_error** error) {
  return guarded(error, [&] {
    const Held held(decoder);
    held->decoder.rollback(tokens);
    held->lost = false;
  });
}

metactrl_status metactrl_decoder_seek(metactrl_decoder* decoder, const int32_t* ids, size_t num_ids, size_t* taken,
                                      metactrl_error** error) {
  return guarded(error, [&] {
    required(taken, "taken");
    metactrl::c::check_array(ids, num_ids, "ids");
    const Held held(decoder);
    *taken = metactrl::c::seek(*held, std::span(ids, num_ids));
  });
}

int32_t metactrl_decoder_status(metactrl_decoder* decoder) {
  int32_t status = 0;
  const metactrl_status asked = guarded(nullptr, [&] {
    const Held held(decoder);
    if (held->lost) status |= METACTRL_LOST;
    if (!held->lost && held->decoder.finished()) status |= METACTRL_FINISHED;
    if (!held->lost && held->decoder.at_boundary()) status |= METACTRL_AT_BOUNDARY;
  });
  return asked == METACTRL_OK ? status : 0;
}

metactrl_status metactrl_decoder_tokens(metactrl_decoder* decoder, int32_t* ids, size_t capacity, size_t* count,
                                        metactrl_error** error) {
  return guarded(error, [&] {
    required(count, "count");
    metactrl::c::check_array(ids, capacity, "ids");
    const Held held(decoder);
    const std::span<const metactrl::TokenId> tokens = held->decoder.tokens();
    for (std::size_t i = 0; i < tokens.size() && i < capacity; ++i) ids[i] = static_cast<std::int32_t>(tokens[i]);
    *count = tokens.size();
  });
}

metactrl_status metactrl_decoder_plan(metactrl_decoder* decoder, metactrl_text** out, metactrl_error** error) {
  return guarded(error, [&] {
    required(out, "out");
    const Held held(decoder);
    *out = metactrl::c::make_text(metactrl::c::plan_json(*held));
  });
}

metactrl_status metactrl_decoder_explain(metactrl_decoder* decoder, metactrl_text** out, metactrl_error** error) {
  return guarded(error, [&] {
    required(out, "out");
    const Held held(decoder);
    const std::vector<metactrl::ExplainedStep> steps = metactrl::c::explained(held->decoder);
    *out = metactrl::c::make_text(metactrl::c::explained_json(held->decoder.constraint(), steps));
  });
}

metactrl_status metactrl_decoder_why(metactrl_decoder* decoder, const char* action, size_t action_size,
                                     metactrl_text** out, metactrl_error** error) {
  return guarded(error, [&] {
    required(out, "out");
    const Held held(decoder);
    *out = metactrl::c::make_text(
        metactrl::c::why_json(held->decoder, metactrl::c::text_argument(action, action_size, "action")));
  });
}

void metactrl_decoder_free(metactrl_decoder* decoder) {
  if (decoder != nullptr && decoder->is_live()) delete decoder;
}
