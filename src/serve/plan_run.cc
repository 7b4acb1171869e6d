#include "serve/plan_run.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "metactrl/planner.h"
#include "serve/plan_json.h"
#include "serve/thinking.h"
#include "task/program.h"

namespace metactrl::serve {

namespace {

Json name_or_null(const std::optional<std::string>& name) { return name ? Json(*name) : Json(nullptr); }

std::vector<std::size_t> indices(const std::vector<GoalId>& goals) {
  std::vector<std::size_t> out;
  for (const GoalId goal : goals) out.push_back(static_cast<std::size_t>(goal));
  return out;
}

// What holds at the start, whether it changes or not, and what follows from it.
std::vector<std::string> facts_at_start(const Task& task) {
  std::vector<std::string> facts = task.initial_facts();
  const std::set<std::string> stated(facts.begin(), facts.end());
  for (std::string& fact : task.facts(task.initial_state())) {
    if (!stated.contains(fact)) facts.push_back(std::move(fact));
  }
  return facts;
}

Json counts_json(const Task& task, const ExplainedStep& step) {
  std::size_t allowed = 0;
  std::size_t hopeless = 0;
  for (const ExplainedStep::Judged& entry : step.legal) {
    const bool vetoed = !why_not(entry.standing, step.left).empty();
    (vetoed ? hopeless : allowed) += 1;
  }
  return {{"allowed", allowed},
          {"hopeless", hopeless},
          {"legal", step.legal.size()},
          {"illegal", task.num_actions() - step.legal.size()}};
}

Json wish_json(const Task& task, const ExplainedStep& step) {
  if (!step.wish) return nullptr;
  const ExplainedStep::Wish& wish = *step.wish;
  return {{"action", wish.action ? Json(task.text(*wish.action)) : Json(nullptr)},
          {"stops", wish.stops},
          {"same", wish.action.has_value() && wish.action == step.chosen},
          {"allowed", wish.veto.empty()},
          {"standing", to_string(wish.standing)},
          {"why_not", wish.veto}};
}

// The facts of `after` that `before` lacks; both in the task's order.
std::vector<std::string> missing(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  const std::set<std::string_view> known(before.begin(), before.end());
  std::vector<std::string> out;
  std::copy_if(after.begin(), after.end(), std::back_inserter(out),
               [&](const std::string& fact) { return !known.contains(fact); });
  return out;
}

}  // namespace

PlanRun::PlanRun(const PlanRequest& request, const Task& task, std::string model_name, LanguageModel* model,
                 std::shared_ptr<const Vocabulary> vocabulary)
    : request_(request),
      task_(task),
      model_name_(std::move(model_name)),
      model_(model),
      vocabulary_(std::move(vocabulary)),
      state_(task.initial_state()) {}

PlanResult PlanRun::run(const PlanOptions::ConstraintSource& constraints, const Stop& cancelled) {
  PlanOptions options = request_.options;
  options.constraints = constraints;
  options.lookahead.hmm = hmm;
  options.lookahead.device = lookahead_device;
  options.check_bytes = check_bytes;
  Observer observer;
  observer.cancelled = cancelled;
  observer.probabilities = on_event || on_token;
  const bool free_text = options.guidance == Guidance::kNone;
  if (on_event) {
    observer.ready = [this](const PlanResult& so_far, std::size_t answer_tokens) { start(so_far, answer_tokens); };
    if (!free_text) {
      observer.action = [this](ActionId action, std::string_view text) {
        const std::optional<ActionId> given = task_.find(pursued_->step(action));
        if (given) this->action(*given, text, closes(text));
      };
    }
  }
  if (on_event || on_text || on_token) {
    observer.token = [this](const Observer::Token& event) { token(event); };
  }
  if (on_event || on_thought) {
    observer.thought = [this](std::string_view text) { thought(text); };
    observer.thought_end = [this](std::span<const TokenId> tokens) {
      if (explainer_) explainer_->read(tokens);
    };
  }
  PlanResult result = plan(task_, request_.format, model_, vocabulary_, options, observer);
  if (on_text && options.guidance == Guidance::kSearch) on_text(result.text);
  if (!on_event) return result;
  if (!started_) start(result, 0);
  // Free text is read when it is complete.
  for (std::size_t i = 0; free_text && i < result.plan.size(); ++i) {
    action(result.plan[i], std::nullopt, i + 1 == result.plan.size());
  }
  return result;
}

bool PlanRun::closes(std::string_view text) const {
  const PlanFormat& format = request_.format;
  if (!format.close.empty()) return text.ends_with(format.close);
  return std::none_of(format.separators.begin(), format.separators.end(),
                      [&](const std::string& separator) { return text.ends_with(separator); });
}

std::vector<std::size_t> PlanRun::met() const {
  std::vector<bool> unmet(task_.num_goals(), false);
  for (const GoalId goal : task_.unmet_goals(state_)) unmet[static_cast<std::size_t>(goal)] = true;
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < unmet.size(); ++i) {
    if (!unmet[i]) out.push_back(i);
  }
  return out;
}

void PlanRun::start(const PlanResult& so_far, std::size_t answer_tokens) {
  started_ = true;
  pursued_ = so_far.pursued ? *so_far.pursued : task_;
  horizon_ = so_far.horizon;
  const PlanOptions& options = request_.options;
  const bool with_model = model_ != nullptr && options.guidance != Guidance::kSearch;
  // Before the event: a model that cannot be asked is an error, and no stream begins.
  // With answer_tokens 0 there is no model to ask: the plan is the lookahead's own, or there is none.
  if (request_.trace && (so_far.constraint != nullptr || so_far.lookahead != nullptr)) {
    explainer_.emplace(task_, so_far, answer_tokens > 0 ? model_ : nullptr, answer_tokens);
  }
  Json goals = Json::array();
  for (std::uint32_t goal = 0; goal < task_.num_goals(); ++goal) goals.push_back(task_.goal_text(GoalId{goal}));
  Json objects = Json::array();
  for (std::uint32_t i = 0; i < task_.num_objects(); ++i) objects.push_back(task_.object_name(ObjectId{i}));
  Json prompt = nullptr;
  if (with_model && options.prompt) {
    prompt = options.prompt->raw.empty() ? options.prompt->user : options.prompt->raw;
  } else if (with_model) {
    prompt = make_prompt(*pursued_, PlanSpelling(request_.format, *pursued_), options.instruction).user;
  }
  Json event{{"type", "start"},
             {"task", task_.name()},
             {"domain", name_or_null(request_.task.domain.name)},
             {"problem", name_or_null(request_.task.problem.name)},
             {"model", with_model ? Json(model_name_) : Json(nullptr)},
             {"guidance", to_string(options.guidance)},
             {"format", request_.format.name},
             {"decode", to_string(options.generate.mode)},
             {"seed", options.generate.seed},
             {"horizon", horizon_},
             {"objects", std::move(objects)},
             {"facts", facts_at_start(task_)},
             {"goals", std::move(goals)},
             {"goals_dropped", indices(so_far.goals_dropped)},
             {"constraints", task_.program().monitors().size()},
             {"met", met()},
             {"prompt", std::move(prompt)},
             {"prompt_tokens", so_far.prompt.size()}};
  const std::optional<unsigned> shortest =
      so_far.lookahead != nullptr ? so_far.lookahead->shortest_plan_length() : std::nullopt;
  event["shortest"] = shortest ? Json(*shortest) : Json(nullptr);
  on_event(event);
}

void PlanRun::thought(std::string_view text) {
  if (on_thought) on_thought(text);
  if (on_event) on_event({{"type", "thought"}, {"text", text}});
}

void PlanRun::token(const Observer::Token& event) {
  if (on_token) on_token(event);
  if (on_text && !event.bytes.empty()) on_text(event.bytes);
  if (!on_event) return;
  tokens_.push_back(event.token);
  const std::vector<TokenId>& stops = vocabulary_->end_of_turn();
  const bool end = std::find(stops.begin(), stops.end(), event.token) != stops.end();
  Json json{{"type", "token"},
            {"index", tokens_.size() - 1},
            {"id", static_cast<std::int32_t>(event.token)},
            {"text", std::string(event.bytes)},
            {"end", end},
            {"forced", event.forced},
            {"choices", event.num_choices}};
  const bool known = event.probabilities.has_value();
  const bool guided = known && request_.options.guidance != Guidance::kNone;
  const Observer::Token::Probabilities p = event.probabilities.value_or(Observer::Token::Probabilities{});
  json["p_model"] = known ? Json(p.model) : Json(nullptr);
  json["p_allowed"] = guided ? Json(p.allowed) : Json(nullptr);
  json["p_guided"] = guided ? Json(p.guided) : Json(nullptr);
  json["moved"] = guided ? Json(p.guided - p.allowed) : Json(nullptr);
  json["preferred"] = nullptr;
  if (known) {
    json["preferred"] = {{"id", static_cast<std::int32_t>(event.favourite)},
                         {"text", std::string(vocabulary_->bytes(event.favourite))},
                         {"p", p.favourite},
                         {"allowed", p.favourite_allowed}};
  }
  on_event(json);
}

void PlanRun::action(ActionId chosen, std::optional<std::string_view> text, bool stops) {
  if (illegal_) return;
  const PlanStep step = task_.step(chosen);
  const std::optional<State> next = task_.apply(state_, chosen);
  illegal_ = !next;
  const bool spelled = text.has_value() && !tokens_.empty();
  Json event{{"type", "action"},
             {"index", steps_.size()},
             {"action", task_.text(chosen)},
             {"name", step.action},
             {"arguments", step.arguments},
             {"first_token", spelled ? Json(told_tokens_) : Json(nullptr)},
             {"num_tokens", spelled ? Json(tokens_.size() - told_tokens_) : Json(nullptr)},
             {"text_end", text ? Json(text->size()) : Json(nullptr)},
             {"legal", !illegal_},
             {"why_illegal", illegal_ ? why_illegal(task_, steps_, chosen) : ""},
             {"left", horizon_ > steps_.size() ? horizon_ - steps_.size() : 0},
             {"candidates", nullptr},
             {"wanted", nullptr}};
  told_tokens_ = tokens_.size();
  if (explainer_) {
    const ExplainedStep explained = explainer_->step(chosen, tokens_, false);
    event["candidates"] = counts_json(task_, explained);
    event["wanted"] = wish_json(task_, explained);
  }
  event["added"] = Json::array();
  event["removed"] = Json::array();
  if (next) {
    const std::vector<std::string> before = task_.facts(state_);
    const std::vector<std::string> after = task_.facts(*next);
    event["added"] = missing(before, after);
    event["removed"] = missing(after, before);
    state_ = *next;
  }
  event["met"] = met();
  event["stops"] = stops;
  steps_.push_back(step);
  on_event(event);
}

lookahead::Certificate certify(const Task& task, const PlanRequest& request, const PlanResult& result,
                               const Stop& stop) {
  const bool infeasible = result.outcome == PlanOutcome::kInfeasible;
  if (!infeasible && !result.valid()) return {"", "there is nothing to prove"};
  std::string goal = request.task.goal.value_or("");
  if (request.chosen) goal = request.chosen->pddl;
  const lookahead::CertificateTexts texts{request.task.domain.text, request.task.problem.text, goal};
  if (!infeasible) return lookahead::certify_plan(task, result.plan, texts, stop);
  std::optional<unsigned> horizon;
  if (request.options.lookahead.fixed_horizon) horizon = request.options.lookahead.horizon;
  if (result.horizon_cut_by_context) horizon = result.horizon;
  return lookahead::certify_infeasible(task, horizon, request.options.lookahead.exact, texts, stop);
}

Json closing_json(const Task& task, const PlanRequest& request, const PlanResult& result, const PlanClosing& closing) {
  Json json = outcome_json(task, result);
  json["goal"] = request.chosen ? goal_json(*request.chosen) : Json(nullptr);
  json.update(decoding_json(result, request.options.guidance));
  if (result.thought) json["reasoning"] = reasoning_json(result.thought);
  json["timings"] = {{"load_task", closing.load_seconds}};
  json["timings"].update(times_json(result.times));
  json["timings"]["total"] = closing.total_seconds;
  json["cached"] = closing.cached;
  if (closing.certificate) {
    const bool missing = !closing.certificate->missing.empty();
    json["certificate"] = missing ? Json(nullptr) : parse_json(closing.certificate->text);
    if (missing) json["no_certificate"] = closing.certificate->missing;
  }
  return json;
}

}  // namespace metactrl::serve
