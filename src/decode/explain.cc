// A second decoder walks the plan that was found, token by token; a third one, held to the form only, stands beside it
// at every boundary and is taken by the model wherever the model likes, one action far.
#include "metactrl/explain.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "decode/choose.h"
#include "lookahead/belief.h"
#include "support/list_some.h"
#include "support/str_cat.h"

namespace metactrl {

namespace {

using internal::str_cat;

std::string veto_of(const ExplainedStep::Wish& wish, const Task& task, std::span<const PlanStep> steps, unsigned left) {
  if (wish.action && wish.standing == ExplainedStep::Standing::kIllegal)
    return "illegal: " + why_illegal(task, steps, *wish.action);
  std::string veto = why_not(wish.standing, left);
  if (veto.empty() && wish.stops && !wish.unmet.empty()) {
    veto = str_cat("the plan would end", wish.action ? " there" : "", " without ", internal::list_some(wish.unmet, 3));
  }
  return veto;
}

}  // namespace

class Explainer::Impl {
 public:
  Impl(const Task& task, const PlanResult& result, LanguageModel* model, std::size_t reserve)
      : task_(task),
        pursued_(result.pursued ? *result.pursued : task),
        horizon_(result.horizon),
        prompt_size_(result.prompt.size()),
        lookahead_(result.lookahead),
        state_(pursued_.initial_state()) {
    if (lookahead_ != nullptr) {
      wanted_ = result.decoder.support;
      support_.emplace(lookahead_, wanted_);
      SupportOptions any = wanted_;
      any.idle_steps = any.detours = true;
      any_plan_.emplace(lookahead_, any);
      belief_ = lookahead::start_belief(*lookahead_);
    }
    if (result.constraint == nullptr) return;
    decoder_.emplace(result.constraint, result.decoder);
    if (model == nullptr) return;
    DecoderOptions form = result.decoder;
    form.guidance = Guidance::kSyntax;
    form_.emplace(result.constraint, form);
    session_ = model->start(result.prompt, reserve);
  }

  void read(std::span<const TokenId> tokens) {
    if (session_ != nullptr) session_->append(tokens);
    prompt_size_ += tokens.size();
  }

  ExplainedStep step(std::optional<ActionId> chosen, std::span<const TokenId> tokens, bool stops) {
    ExplainedStep step;
    step.left = horizon_ > index_ ? horizon_ - static_cast<unsigned>(index_) : 0;
    step.goal_holds = pursued_.is_goal(state_);
    judge(step);
    // Where the token that completed the action before this one completed this one, too, nothing was left to wish.
    if (session_ && form_->actions().size() == index_) step.wish = wish(step.left);
    step.chosen = chosen;
    step.stops = stops;
    // All that are left, where nothing follows.
    if (decoder_) walk_tokens(step, tokens, chosen && !stops ? index_ + 1 : std::numeric_limits<std::size_t>::max());
    if (chosen) step.chosen_is_legal = advance(*chosen);
    if (chosen) steps_.push_back(task_.step(*chosen));
    ++index_;
    return step;
  }

 private:
  ActionId original(ActionId pursued) const { return task_.find(pursued_.step(pursued)).value_or(pursued); }

  void judge(ExplainedStep& step) {
    if (!support_) {
      for (ActionId action : pursued_.applicable_actions(state_)) {
        step.legal.push_back({original(action), ExplainedStep::Standing::kNotJudged, 0, 0});
      }
      return;
    }
    std::vector<Candidate> candidates;
    if (!wanted_.detours) {
      path_.push_back(state_);
      support_->set_path(path_);
    }
    lookahead::candidates(*support_, state_, step.left, belief_, candidates);
    for (const Candidate& candidate : candidates) {
      ExplainedStep::Judged entry{original(candidate.action), ExplainedStep::Standing::kUndecided, candidate.remaining,
                                  candidate.log_weight};
      entry.standing = standing(candidate, step.left);
      step.legal.push_back(entry);
    }
    judged_ = step.legal;
  }

  ExplainedStep::Standing standing(const Candidate& candidate, unsigned left) {
    if (candidate.answer == Answer::kYes) return ExplainedStep::Standing::kAllowed;
    if (!wanted_.idle_steps && pursued_.apply(state_, candidate.action) == state_)
      return ExplainedStep::Standing::kIdle;
    const Answer otherwise = any_plan_->may(state_, candidate.action, left);
    if (otherwise == Answer::kYes && !wanted_.detours) return ExplainedStep::Standing::kDetour;
    if (candidate.answer == Answer::kUnknown) return ExplainedStep::Standing::kUndecided;
    const bool always = left >= horizon_ || any_plan_->may(state_, candidate.action, horizon_) == Answer::kNo;
    return always ? ExplainedStep::Standing::kDeadEnd : ExplainedStep::Standing::kTooLate;
  }

  ExplainedStep::Standing standing(ActionId action) const {
    for (const ExplainedStep::Judged& entry : judged_) {
      if (entry.action == action) return entry.standing;
    }
    return pursued_.legal(state_, *pursued_.find(task_.step(action))) ? ExplainedStep::Standing::kNotJudged
                                                                      : ExplainedStep::Standing::kIllegal;
  }

  // Brings the session up to the tokens walked so far.
  Session& session() {
    const std::span<const TokenId> walked = decoder_->tokens();
    const std::size_t read = session_->size() - prompt_size_;
    if (read < walked.size()) session_->append(walked.subspan(read));
    return *session_;
  }

  ExplainedStep::Wish wish(unsigned left) {
    ExplainedStep::Wish wish;
    wish.token = decode::favourite(session().logits());
    Decoder form = *form_;
    const std::unique_ptr<Session> branch = session_->fork();
    const std::size_t before = form.actions().size();
    std::vector<double> scores;
    while (form.actions().size() == before && !form.finished()) {
      const std::span<const NextToken> choices = form.next();
      if (choices.empty()) break;
      TokenId token = choices[0].token;
      if (choices.size() > 1) {
        decode::score_choices(choices, branch->logits(), scores);
        token = choices[decode::choose_best(scores)].token;
      }
      form.accept(token);
      const TokenId appended[] = {token};
      branch->append(appended);
    }
    wish.stops = form.separators().size() <= before;
    std::optional<State> reached = state_;
    if (form.actions().size() > before) {
      const ActionId action = form.actions()[before];
      wish.action = original(action);
      wish.standing = standing(*wish.action);
      reached = pursued_.apply(state_, action);
    } else {
      wish.standing = ExplainedStep::Standing::kAllowed;
    }
    if (wish.stops && reached) {
      for (GoalId goal : pursued_.unmet_goals(*reached)) wish.unmet.push_back(pursued_.goal_text(goal));
    }
    wish.veto = veto_of(wish, task_, steps_, left);
    return wish;
  }

  // The tokens until `actions` actions are complete, or all that are left.
  void walk_tokens(ExplainedStep& step, std::span<const TokenId> tokens, std::size_t actions) {
    while (decoder_->num_tokens() < tokens.size() && decoder_->actions().size() < actions) {
      const TokenId token = tokens[decoder_->num_tokens()];
      if (session_ && decoder_->options().bridge == Bridge::kModel && decoder_->at_boundary()) {
        decoder_->set_path_scores(session().score(decoder_->paths()));
      }
      const std::span<const NextToken> choices = decoder_->next();
      ExplainedStep::Token entry{token, choices.size() <= 1, choices.size(), 0, std::nullopt};
      for (const NextToken& choice : choices) {
        if (choice.token == token) entry.log_weight = choice.log_weight;
      }
      if (!entry.forced && session_) entry.favourite = decode::favourite(session().logits());
      step.tokens.push_back(entry);
      if (!decoder_->accept(token)) return;
      if (form_) form_->accept(token);
    }
  }

  bool advance(ActionId chosen) {
    const std::optional<ActionId> action = pursued_.find(task_.step(chosen));
    std::optional<State> next = action ? pursued_.apply(state_, *action) : std::nullopt;
    if (!next) return false;
    state_ = *std::move(next);
    if (lookahead_ != nullptr) lookahead::advance(*lookahead_, belief_, *action);
    return true;
  }

  const Task& task_;
  const Task pursued_;
  unsigned horizon_;
  std::size_t prompt_size_;
  std::shared_ptr<const Lookahead> lookahead_;
  std::size_t index_ = 0;  // of the next step
  std::vector<PlanStep> steps_;
  State state_;
  SupportOptions wanted_;
  std::optional<Support> support_;
  std::optional<Support> any_plan_;  // whatever it does on its way
  std::vector<State> path_;
  lookahead::SurrogateBelief belief_;  // of the surrogate
  std::optional<Decoder> decoder_;
  std::optional<Decoder> form_;
  std::unique_ptr<Session> session_;
  std::vector<ExplainedStep::Judged> judged_;
};

Explainer::Explainer(const Task& task, const PlanResult& result, LanguageModel* model, std::size_t reserve)
    : impl_(std::make_unique<Impl>(task, result, model, reserve)) {}
Explainer::~Explainer() = default;
void Explainer::read(std::span<const TokenId> tokens) { impl_->read(tokens); }
ExplainedStep Explainer::step(std::optional<ActionId> chosen, std::span<const TokenId> tokens, bool stops) {
  return impl_->step(chosen, tokens, stops);
}

std::vector<ExplainedStep> explain(const Task& task, const PlanResult& result, LanguageModel* model,
                                   const Stop& cancelled) {
  if (result.outcome == PlanOutcome::kInfeasible || result.outcome == PlanOutcome::kUndecided) return {};
  Explainer explainer(task, result, model, result.tokens.size());
  std::vector<ExplainedStep> steps;
  const bool stopped_short = result.outcome == PlanOutcome::kCancelled;
  const std::size_t boundaries = std::max<std::size_t>(1, result.plan.size() + (stopped_short ? 1 : 0));
  for (std::size_t i = 0; i < boundaries && !(cancelled && cancelled()); ++i) {
    const bool has_action = i < result.plan.size();
    const bool stops = !stopped_short && i + 1 >= result.plan.size();
    steps.push_back(explainer.step(has_action ? std::optional(result.plan[i]) : std::nullopt, result.tokens, stops));
    if (!steps.back().chosen_is_legal) break;
  }
  return steps;
}

std::string why_not(ExplainedStep::Standing standing, unsigned left) {
  switch (standing) {
    case ExplainedStep::Standing::kAllowed:
    case ExplainedStep::Standing::kNotJudged:
      return "";
    case ExplainedStep::Standing::kIllegal:
      return "illegal";
    case ExplainedStep::Standing::kTooLate:
      return str_cat("legal, but the goal cannot be reached within the ", left, left == 1 ? " action" : " actions",
                     " left");
    case ExplainedStep::Standing::kDeadEnd:
      return "legal, but a dead end: the goal is out of reach behind it";
    case ExplainedStep::Standing::kIdle:
      return "legal, but it changes nothing";
    case ExplainedStep::Standing::kDetour:
      return "legal, but a detour: the plan would come back to where it was";
    case ExplainedStep::Standing::kUndecided:
      return "legal, but whether the goal stays within reach was not decided within the budget";
  }
  return "";
}

std::string why_illegal(const Task& task, std::span<const PlanStep> steps, ActionId action) {
  std::vector<PlanStep> plan(steps.begin(), steps.end());
  plan.push_back(task.step(action));
  const Validation validation = task.validate(plan);
  if (validation.steps_executed > steps.size()) return {};
  // A step before it, or the initial state, may be what is wrong.
  return validation.steps_executed == steps.size() && !validation.problem.empty() ? validation.problem
                                                                                  : validation.reason;
}

}  // namespace metactrl
