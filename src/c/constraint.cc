// Constraints, and the last check of an answer: from nothing but its tokens to what it is worth.
#include <algorithm>

#include "c/handles.h"
#include "c/json.h"
#include "decode/answer_size.h"
#include "lookahead/drop_goals.h"
#include "lookahead/preferences.h"

namespace metactrl::c {

namespace {

using internal::str_cat;

metactrl_constraint_options default_constraint_options() {
  const LookaheadOptions defaults;
  metactrl_constraint_options options = {};
  options.tokenization = METACTRL_CANONICAL;
  options.slack = -1;
  options.weights = 1;
  options.exact_states = defaults.exact.states;
  options.exact_bytes = defaults.exact.bytes;
  options.search_states = defaults.search.states;
  options.search_bytes = defaults.search.bytes;
  options.search_work = defaults.search.work;
  options.improve = kImproveFirstPlan;
  return options;
}

ConstraintOptions constraint_options(const metactrl_constraint_options& given) {
  if (given.tokenization != METACTRL_CANONICAL && given.tokenization != METACTRL_ANY_TOKENS) {
    throw ArgumentError(str_cat("there is no tokenization ", given.tokenization));
  }
  constexpr unsigned kMost = 1'000'000;
  if (given.horizon > kMost) {
    throw ArgumentError(str_cat("the horizon must be at most 1000000, not ", given.horizon));
  }
  if (given.slack < -1 || given.slack > static_cast<std::int32_t>(kMost)) {
    throw ArgumentError(str_cat("the slack must be between -1 and 1000000, not ", given.slack));
  }
  ConstraintOptions options;
  options.context = text_argument(given.context, given.context_size, "context");
  options.tokenization = given.tokenization == METACTRL_CANONICAL ? Tokenization::kCanonical : Tokenization::kAny;
  options.lookahead.fitted_horizon = given.horizon == 0;
  if (given.horizon > 0) options.lookahead.horizon = given.horizon;
  options.max_actions = options.lookahead.horizon;
  options.lookahead.fixed_horizon = given.horizon > 0 && given.fixed_horizon != 0;
  if (given.slack >= 0) options.lookahead.slack = static_cast<unsigned>(given.slack);
  options.lookahead.costs = given.costs != 0;
  options.lookahead.weights = given.weights != 0;
  options.lookahead.exact.states = given.exact_states;
  options.lookahead.exact.bytes = given.exact_bytes;
  options.lookahead.search.states = given.search_states;
  options.lookahead.search.bytes = given.search_bytes;
  options.lookahead.search.work = given.search_work;
  options.lookahead.improve = given.improve;
  options.lookahead.hmm = hmm_of(given.hmm, true, "hmm");
  return options;
}

// What is said of an answer. `valid` is all of the rest together.
struct AnswerCheck {
  bool ended = false;      // its last token, and no other, ends the turn
  bool complete = false;   // its text is a plan
  bool canonical = false;  // its tokens are the tokenizer's own, or need not be
  std::string text;
  std::string reason;
  std::vector<PlanStep> steps;
  Validation validation;  // against all goals
  bool holds = false;     // but for those that were dropped
};

void check_tokens(const metactrl_constraint& handle, std::span<const std::int32_t> ids, AnswerCheck& check) {
  const Vocabulary& vocabulary = handle.constraint->vocabulary();
  const std::vector<TokenId>& ends = vocabulary.end_of_turn();
  std::vector<TokenId> tokens;
  std::size_t num_ends = 0;
  for (const std::int32_t id : ids) {
    if (id < 0 || static_cast<std::size_t>(id) >= vocabulary.size()) {
      throw ArgumentError(str_cat("there is no token ", id));
    }
    const bool is_end = std::binary_search(ends.begin(), ends.end(), TokenId{id});
    num_ends += is_end ? 1 : 0;
    check.ended = is_end && num_ends == 1;
    if (is_end) continue;
    tokens.push_back(TokenId{id});
    check.text += vocabulary.bytes(TokenId{id});
  }
  check.canonical =
      handle.tokenization == Tokenization::kAny || tokens == vocabulary.encode(check.text, handle.context);
}

// Every step is legal, and every goal holds that was not dropped: the first by the reference semantics, which knows of none
// that were, the second also by the other.
bool holds_the_rest(const metactrl_constraint& handle, std::span<const ActionId> actions,
                    const Validation& validation) {
  if (handle.dropped.empty() || validation.steps_executed != actions.size() ||
      validation.unmet_goals.size() > handle.dropped.size()) {
    return false;
  }
  const Task& task = handle.constraint->task();
  State state = task.initial_state();
  for (const ActionId action : actions) {
    std::optional<State> next = task.apply(state, action);
    if (!next) return false;
    state = *std::move(next);
  }
  return task.is_goal(state);
}

AnswerCheck check_answer(const metactrl_constraint& handle, std::span<const std::int32_t> ids, const Stop& stop) {
  AnswerCheck check;
  check_tokens(handle, ids, check);
  const PlanSpelling::Parsed parsed = handle.constraint->spelling().parse(check.text);
  check.complete = parsed.complete;
  check.steps = steps_of(handle.constraint->task(), parsed.actions);
  check.validation = handle.constraint->task().validate(check.steps, stop);
  check.holds = check.validation.valid || holds_the_rest(handle, parsed.actions, check.validation);
  if (!check.complete) {
    check.reason = parsed.error.empty() ? "the text ends before the plan does" : parsed.error;
  } else if (!check.ended) {
    check.reason = "the answer does not end with the end of the turn";
  } else if (!check.canonical) {
    check.reason = "the tokens are not the tokenizer's own";
  } else if (!check.holds) {
    check.reason = check.validation.reason;
  }
  return check;
}

}  // namespace

}  // namespace metactrl::c

using metactrl::c::guarded;
using metactrl::c::live;
using metactrl::c::required;

void metactrl_constraint_options_default(metactrl_constraint_options* options) {
  metactrl::c::write_options(metactrl::c::default_constraint_options(), options, sizeof *options);
}

#if defined(__ELF__)
// A program that was linked when `improve` was not there yet calls this one.
extern "C" METACTRL_C_API void metactrl_constraint_options_default_1(metactrl_constraint_options* options) {
  metactrl::c::write_options(metactrl::c::default_constraint_options(), options,
                             offsetof(metactrl_constraint_options, improve));
}
__asm__(".symver metactrl_constraint_options_default_1, metactrl_constraint_options_default@METACTRL_1");
// Linkers differ in which of two versions they give a symbol that says none; this one is for whoever links today.
__asm__(".symver metactrl_constraint_options_default, metactrl_constraint_options_default@@@METACTRL_1_2");
#endif

metactrl_status metactrl_constraint_compile(const metactrl_task* task, const metactrl_format* format,
                                            const metactrl_vocabulary* vocabulary,
                                            const metactrl_constraint_options* options, metactrl_stop* stop,
                                            metactrl_constraint** out, metactrl_error** error) {
  return guarded(error, [&] {
    required(out, "out");
    const metactrl_constraint_options given =
        metactrl::c::read_options(options, metactrl::c::default_constraint_options());
    const metactrl::ConstraintOptions read = metactrl::c::constraint_options(given);
    auto handle = std::make_unique<metactrl_constraint>();
    // Preferences are chosen before anything is written; then they are as certain as goals.
    metactrl::Task pursued = live(task, "task").task;
    if (metactrl::has_preferences(pursued)) {
      metactrl::PreferenceOptions wanted;
      wanted.lookahead = read.lookahead;
      wanted.lookahead.weights = false;
      metactrl::PreferenceChoice choice = metactrl::choose_preferences(pursued, wanted, metactrl::c::stop_of(stop));
      handle->promised = std::move(choice.chosen);
      handle->lower_bound = choice.lower_bound;
      pursued = std::move(choice.task);
    }
    const auto compile = [&] {
      handle->constraint =
          metactrl::Constraint::compile(pursued, live(format, "format").format,
                                        live(vocabulary, "vocabulary").vocabulary, read, metactrl::c::stop_of(stop));
    };
    compile();
    const auto lookahead = handle->constraint->lookahead();
    if (given.drop_goals != 0 && lookahead->verdict() != metactrl::Verdict::kSolvable) {
      metactrl::LookaheadOptions plain = read.lookahead;
      plain.hmm.reset();
      plain.weights = false;
      metactrl::ReducedTask reduced =
          metactrl::drop_unreachable_goals(pursued, plain, metactrl::c::stop_of(stop), lookahead);
      if (reduced.lookahead->verdict() == metactrl::Verdict::kSolvable) {
        for (const metactrl::GoalId goal : reduced.dropped) handle->dropped.push_back(pursued.goal_text(goal));
        pursued = std::move(reduced.task);
        compile();
      }
    }
    handle->context = read.context;
    handle->tokenization = read.tokenization;
    const unsigned horizon = handle->constraint->lookahead()->horizon();
    handle->max_tokens = metactrl::decode::answer_size(*handle->constraint, horizon).of(horizon);
    *out = handle.release();
  });
}

int32_t metactrl_constraint_verdict(const metactrl_constraint* constraint) {
  if (constraint == nullptr || !constraint->is_live()) return -1;
  switch (constraint->constraint->lookahead()->verdict()) {
    case metactrl::Verdict::kSolvable:
      return METACTRL_SOLVABLE;
    case metactrl::Verdict::kInfeasible:
      return METACTRL_INFEASIBLE;
    case metactrl::Verdict::kUndecided:
      break;
  }
  return METACTRL_UNDECIDED;
}

metactrl_status metactrl_constraint_info(const metactrl_constraint* constraint, metactrl_text** out,
                                         metactrl_error** error) {
  return guarded(error, [&] {
    required(out, "out");
    const metactrl_constraint& handle = live(constraint, "constraint");
    metactrl::c::JsonList promised;
    if (handle.promised) {
      for (const std::size_t place : *handle.promised) promised.add(std::to_string(place));
    }
    *out = metactrl::c::make_text(metactrl::c::constraint_json(*handle.constraint, handle.max_tokens,
                                                               handle.promised ? promised.done() : "null",
                                                               handle.lower_bound, handle.dropped));
  });
}

size_t metactrl_constraint_max_tokens(const metactrl_constraint* constraint) {
  return constraint != nullptr && constraint->is_live() ? constraint->max_tokens : 0;
}

metactrl_status metactrl_constraint_check(const metactrl_constraint* constraint, const int32_t* ids, size_t num_ids,
                                          metactrl_stop* stop, metactrl_text** out, metactrl_error** error) {
  return guarded(error, [&] {
    required(out, "out");
    metactrl::c::check_array(ids, num_ids, "ids");
    const metactrl::c::AnswerCheck check =
        metactrl::c::check_answer(live(constraint, "constraint"), std::span(ids, num_ids), metactrl::c::stop_of(stop));
    metactrl::c::JsonObject object;
    object.flag("valid", check.ended && check.complete && check.canonical && check.holds);
    object.text("reason", check.reason).text("text", check.text);
    object.raw("actions", metactrl::c::steps_json(check.steps)).flag("complete", check.complete);
    object.flag("canonical", check.canonical).flag("ended", check.ended);
    object.raw("validation", metactrl::c::validation_json(check.validation, check.steps));
    *out = metactrl::c::make_text(object.done());
  });
}

void metactrl_constraint_free(metactrl_constraint* constraint) {
  if (constraint != nullptr && constraint->is_live()) delete constraint;
}
