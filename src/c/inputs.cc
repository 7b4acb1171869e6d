// Tasks, formats and vocabularies: what a constraint is made from.
#include <algorithm>

#include "c/callback_vocabulary.h"
#include "c/handles.h"
#include "c/json.h"
#include "lookahead/infeasible.h"
#include "lookahead/preferences.h"
#include "metactrl/domain.h"
#include "metactrl/language_model.h"
#include "metactrl/lookahead.h"
#include "metactrl/planner.h"
#include "metactrl/schedule.h"

namespace metactrl::c {

namespace {

metactrl_task_options default_task_options() {
  const LoadOptions defaults;
  metactrl_task_options options = {};
  options.max_ground_actions = defaults.max_ground_actions;
  options.max_ground_facts = defaults.max_ground_facts;
  return options;
}

LoadOptions load_options(const metactrl_task_options* given, metactrl_stop* stop, Diagnostics& warnings) {
  const metactrl_task_options options = read_options(given, default_task_options());
  LoadOptions load;
  load.max_ground_actions = options.max_ground_actions;
  load.max_ground_facts = options.max_ground_facts;
  load.max_work = options.max_work;
  load.diagnostics = &warnings;
  load.stop = stop_of(stop);
  return load;
}

// A plan as lines, or in the words of a format, which say no times. A text that is none of the format sets `error`.
TimedPlan read_plan(const Task& task, const metactrl_format* format, std::string_view text, std::string& error) {
  if (format == nullptr) return parse_schedule(text, "plan");
  const PlanSpelling spelling(live(format, "format").format, task);
  const PlanSpelling::Parsed parsed = spelling.parse(text);
  TimedPlan plan;
  if (!parsed.complete) {
    error = parsed.error.empty() ? "the text ends before the plan does" : parsed.error;
    return plan;
  }
  for (PlanStep& step : steps_of(task, parsed.actions)) plan.schedule.push_back({std::move(step)});
  return plan;
}

ScheduleKind schedule_kind(std::int32_t kind) {
  if (kind == METACTRL_SEQUENTIAL) return ScheduleKind::kSequential;
  if (kind == METACTRL_CONCURRENT) return ScheduleKind::kConcurrent;
  throw ArgumentError(internal::str_cat("there is no kind of schedule ", kind));
}

}  // namespace

}  // namespace metactrl::c

using metactrl::c::guarded;
using metactrl::c::live;
using metactrl::c::required;

void metactrl_task_options_default(metactrl_task_options* options) {
  metactrl::c::write_options(metactrl::c::default_task_options(), options, sizeof *options);
}

metactrl_status metactrl_task_load(const char* domain_file, const char* problem_file,
                                   const metactrl_task_options* options, metactrl_stop* stop, metactrl_task** out,
                                   metactrl_error** error) {
  return guarded(error, [&] {
    required(out, "out");
    required(domain_file, "domain_file");
    required(problem_file, "problem_file");
    metactrl::Diagnostics warnings;
    metactrl::Task task =
        metactrl::load_pddl(domain_file, problem_file, metactrl::c::load_options(options, stop, warnings));
    *out = std::make_unique<metactrl_task>(std::move(task), std::move(warnings)).release();
  });
}

metactrl_status metactrl_task_parse(const char* domain, size_t domain_size, const char* problem, size_t problem_size,
                                    const metactrl_task_options* options, metactrl_stop* stop, metactrl_task** out,
                                    metactrl_error** error) {
  return guarded(error, [&] {
    required(out, "out");
    const std::string_view domain_text = metactrl::c::text_argument(domain, domain_size, "domain");
    const std::string_view problem_text = metactrl::c::text_argument(problem, problem_size, "problem");
    metactrl::Diagnostics warnings;
    metactrl::Task task =
        metactrl::load_pddl_text(domain_text, problem_text, metactrl::c::load_options(options, stop, warnings));
    *out = std::make_unique<metactrl_task>(std::move(task), std::move(warnings)).release();
  });
}

metactrl_status metactrl_task_info(const metactrl_task* task, metactrl_text** out, metactrl_error** error) {
  return guarded(error, [&] {
    required(out, "out");
    const metactrl_task& told = live(task, "task");
    *out = metactrl::c::make_text(metactrl::c::task_json(told.task, told.warnings));
  });
}

metactrl_status metactrl_task_validate(const metactrl_task* task, const metactrl_format* format, const char* plan,
                                       size_t plan_size, metactrl_stop* stop, metactrl_text** out,
                                       metactrl_error** error) {
  return guarded(error, [&] {
    required(out, "out");
    const metactrl::Task& judged = live(task, "task").task;
    const std::string_view text = metactrl::c::text_argument(plan, plan_size, "plan");
    std::string unread;
    const metactrl::TimedPlan read = metactrl::c::read_plan(judged, format, text, unread);
    const std::vector<metactrl::PlanStep> steps = metactrl::plan_of(judged, read.schedule);
    // The times of a plan count where actions take time.
    const bool timed = read.is_timed && metactrl::has_durations(judged);
    metactrl::Validation verdict;
    if (!unread.empty()) {
      verdict.reason = verdict.problem = unread;
    } else if (timed) {
      verdict = metactrl::validate(judged, read.schedule, metactrl::c::stop_of(stop));
    } else {
      verdict = judged.validate(steps, metactrl::c::stop_of(stop));
    }
    *out = metactrl::c::make_text(metactrl::c::validation_json(
        verdict, steps, timed ? std::optional(metactrl::makespan(read.schedule)) : std::nullopt));
  });
}

metactrl_status metactrl_task_schedule(const metactrl_task* task, const metactrl_format* format, const char* plan,
                                       size_t plan_size, int32_t kind, metactrl_stop* stop, metactrl_text** out,
                                       metactrl_error** error) {
  return guarded(error, [&] {
    required(out, "out");
    const metactrl::Task& asked = live(task, "task").task;
    const std::string_view text = metactrl::c::text_argument(plan, plan_size, "plan");
    const metactrl::ScheduleKind chosen = metactrl::c::schedule_kind(kind);
    std::string unread;
    const metactrl::TimedPlan read = metactrl::c::read_plan(asked, format, text, unread);
    if (!unread.empty()) throw metactrl::InputError("plan", unread, "");
    const metactrl::Schedule schedule =
        metactrl::make_schedule(asked, metactrl::plan_of(asked, read.schedule), chosen, metactrl::c::stop_of(stop));
    *out = metactrl::c::make_text(metactrl::c::schedule_json(asked, schedule));
  });
}

metactrl_status metactrl_task_search(const metactrl_task* task, uint32_t horizon, metactrl_stop* stop,
                                     metactrl_text** out, metactrl_error** error) {
  return guarded(error, [&] {
    required(out, "out");
    const metactrl::Task& asked = live(task, "task").task;
    metactrl::LookaheadOptions options = metactrl::fitted_lookahead();
    options.weights = false;
    options.fixed_horizon = horizon > 0;
    if (horizon > 0) options.horizon = horizon;
    // Which preferences, then a plan for those and the goals.
    std::optional<metactrl::PreferenceChoice> choice;
    if (metactrl::has_preferences(asked)) {
      metactrl::PreferenceOptions wanted;
      wanted.lookahead = options;
      choice = metactrl::choose_preferences(asked, wanted, metactrl::c::stop_of(stop));
    }
    const metactrl::Task& pursued = choice ? choice->task : asked;
    const auto lookahead = metactrl::Lookahead::compile(pursued, options, metactrl::c::stop_of(stop));
    metactrl::c::JsonObject object;
    object.text("verdict", to_string(lookahead->verdict())).text("reason", lookahead->reason());
    const bool solved = lookahead->verdict() == metactrl::Verdict::kSolvable;
    const std::vector<metactrl::PlanStep> steps =
        metactrl::c::steps_of(pursued, solved ? lookahead->plan() : std::vector<metactrl::ActionId>());
    object.raw("actions", solved ? metactrl::c::steps_json(steps) : "null");
    object.raw("best_plan", metactrl::c::best_plan_json(*lookahead));
    metactrl::WhyInfeasible why;
    if (lookahead->verdict() == metactrl::Verdict::kInfeasible)
      why = metactrl::lookahead::why_infeasible(asked, *lookahead, metactrl::c::stop_of(stop));
    object.texts("why_infeasible", why.reasons).texts("would_help", why.would_help);
    if (choice && solved) {
      const metactrl::Validation judged = asked.validate(steps, metactrl::c::stop_of(stop));
      object.raw("preferences", metactrl::c::preferences_json(judged.preferences));
      object.raw("metric", metactrl::c::metric_json(metactrl::metric_value(asked, judged), choice->lower_bound));
    }
    *out = metactrl::c::make_text(object.done());
  });
}

metactrl_status metactrl_task_prompt(const metactrl_task* task, const metactrl_format* format, const char* instruction,
                                     size_t instruction_size, metactrl_text** out, metactrl_error** error) {
  return guarded(error, [&] {
    required(out, "out");
    const metactrl::Task& asked = live(task, "task").task;
    const metactrl::PlanSpelling spelling(live(format, "format").format, asked);
    const std::string_view words = metactrl::c::text_argument(instruction, instruction_size, "instruction");
    *out = metactrl::c::make_text(metactrl::make_prompt(asked, spelling, std::string(words)).user);
  });
}

void metactrl_task_free(metactrl_task* task) {
  if (task != nullptr && task->is_live()) delete task;
}

metactrl_status metactrl_format_builtin(const char* name, metactrl_format** out, metactrl_error** error) {
  return guarded(error, [&] {
    required(out, "out");
    required(name, "name");
    *out = std::make_unique<metactrl_format>(metactrl::PlanFormat::builtin(name)).release();
  });
}

metactrl_status metactrl_format_parse(const char* text, size_t size, metactrl_format** out, metactrl_error** error) {
  return guarded(error, [&] {
    required(out, "out");
    const std::string_view declaration = metactrl::c::text_argument(text, size, "text");
    *out = std::make_unique<metactrl_format>(metactrl::PlanFormat::parse(declaration, "format")).release();
  });
}

void metactrl_format_free(metactrl_format* format) {
  if (format != nullptr && format->is_live()) delete format;
}

void metactrl_vocabulary_options_default(metactrl_vocabulary_options* options) {
  metactrl::c::write_options(metactrl_vocabulary_options{}, options, sizeof *options);
}

metactrl_status metactrl_vocabulary_new(const metactrl_vocabulary_options* options, metactrl_vocabulary** out,
                                        metactrl_error** error) {
  return guarded(error, [&] {
    required(out, "out");
    required(options, "options");
    const metactrl_vocabulary_options read = metactrl::c::read_options(options, metactrl_vocabulary_options{});
    // The handle first: what is released belongs to the caller as long as this can fail.
    auto handle = std::make_unique<metactrl_vocabulary>();
    handle->vocabulary = metactrl::c::make_vocabulary(read);
    *out = handle.release();
  });
}

metactrl_status metactrl_vocabulary_load_gguf(const char* file, metactrl_vocabulary** out, metactrl_error** error) {
  return guarded(error, [&] {
    required(out, "out");
    required(file, "file");
    auto handle = std::make_unique<metactrl_vocabulary>();
    handle->vocabulary = metactrl::load_vocabulary(file);
    *out = handle.release();
  });
}

size_t metactrl_vocabulary_size(const metactrl_vocabulary* vocabulary) {
  return vocabulary != nullptr && vocabulary->is_live() ? vocabulary->vocabulary->size() : 0;
}

uint64_t metactrl_vocabulary_fingerprint(const metactrl_vocabulary* vocabulary) {
  return vocabulary != nullptr && vocabulary->is_live() ? vocabulary->vocabulary->fingerprint() : 0;
}

metactrl_status metactrl_vocabulary_end_of_turn(const metactrl_vocabulary* vocabulary, int32_t* ids, size_t capacity,
                                                size_t* count, metactrl_error** error) {
  return guarded(error, [&] {
    required(count, "count");
    metactrl::c::check_array(ids, capacity, "ids");
    metactrl::c::write_ids(live(vocabulary, "vocabulary").vocabulary->end_of_turn(), ids, capacity, *count);
  });
}

metactrl_status metactrl_vocabulary_encode(const metactrl_vocabulary* vocabulary, const char* text, size_t text_size,
                                           const char* context, size_t context_size, int32_t* ids, size_t capacity,
                                           size_t* count, metactrl_error** error) {
  return guarded(error, [&] {
    required(count, "count");
    metactrl::c::check_array(ids, capacity, "ids");
    const std::vector<metactrl::TokenId> tokens =
        live(vocabulary, "vocabulary")
            .vocabulary->encode(metactrl::c::text_argument(text, text_size, "text"),
                                metactrl::c::text_argument(context, context_size, "context"));
    metactrl::c::write_ids(tokens, ids, capacity, *count);
  });
}

metactrl_status metactrl_vocabulary_decode(const metactrl_vocabulary* vocabulary, const int32_t* ids, size_t num_ids,
                                           metactrl_text** out, metactrl_error** error) {
  return guarded(error, [&] {
    required(out, "out");
    metactrl::c::check_array(ids, num_ids, "ids");
    const metactrl::Vocabulary& known = *live(vocabulary, "vocabulary").vocabulary;
    std::string text;
    for (const std::int32_t id : std::span(ids, num_ids)) {
      if (id < 0 || static_cast<std::size_t>(id) >= known.size()) {
        throw metactrl::c::ArgumentError(metactrl::internal::str_cat("there is no token ", id));
      }
      text += known.bytes(metactrl::TokenId{id});
    }
    *out = metactrl::c::make_text(std::move(text));
  });
}

void metactrl_vocabulary_free(metactrl_vocabulary* vocabulary) {
  if (vocabulary != nullptr && vocabulary->is_live()) delete vocabulary;
}
