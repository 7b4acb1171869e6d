// The goal of a request: what its problem says, what it gives by hand, or what the model makes of what was said. A goal
// of the model's is planned for when the request says so beforehand ("yes"): a service cannot ask back, and nobody has
// seen the goal yet; and when nothing speaks against it. Otherwise the goal is the answer, and whoever finds it right
// comes back with it.
//
// Writing takes turns of its own, as compiling does: most of it is proofs. Both stages share the request's time and its
// budget, and each of its proofs is held to the limits that its plan is held to.
#include <utility>

#include "goals/problem_text.h"
#include "serve/service.h"
#include "support/str_cat.h"
#include "support/words.h"

namespace metactrl::serve {

namespace {

using internal::str_cat;

// An answer without a plan, with the members that every answer has.
Json without_plan(const char* outcome, const std::string& reason, const ChosenGoal& goal) {
  const Json none = Json::array();
  return {{"outcome", outcome},
          {"plan", nullptr},
          {"text", nullptr},
          {"guarantee", to_string(Guarantee::kNone)},
          {"reason", reason},
          {"valid", false},
          {"goals", {{"met", none}, {"unmet", none}, {"dropped", none}}},
          {"why_infeasible", none},
          {"would_help", none},
          {"cost", nullptr},
          {"goal", goal_json(goal)}};
}

}  // namespace

void check_goal(const TaskRequest& task) {
  if (task.goal) {
    // "(define (:goal (and)))" asks for nothing, wherever it comes from.
    if (goals::states_goal(str_cat("(define (:goal ", *task.goal, "\n))"))) return;
    throw ApiError(400, "no_goal", "'goal' asks for nothing; write for example (and (p a) (not (q b)))", "goal");
  }
  if (goals::asks_for_something(task.problem.text)) return;
  throw ApiError(
      400, "no_goal",
      "the problem states no goal: add (:goal ...) to it or give \"goal\": \"(...)\"; or say what you want in "
      "words, where a model makes the plan: \"instruction\": \"...\"",
      "problem");
}

TaskRequest with_goal_inside(const TaskRequest& task) {
  if (!task.goal) return task;
  TaskRequest out = task;
  try {
    out.problem.text = GoalProblem::parse(task.domain.text, task.problem.text).problem_text(*task.goal);
  } catch (const InputError& error) {
    throw from_input_error(error, 400, "bad_pddl");
  }
  out.goal.reset();
  return out;
}

LoadOptions Service::loading(RequestContext& context) const {
  LoadOptions out;
  out.stop = context.asks();
  out.max_work = max_work();
  out.max_ground_actions = options_.limits.ground_actions;
  out.max_ground_facts = options_.limits.ground_facts;
  return out;
}

ChosenGoal Service::write_goal(const PlanRequest& request, SharedModel& shared, RequestContext& context) {
  if (request.options.guidance == Guidance::kSearch) {
    throw ApiError(400, "bad_request", "'guidance' cannot be search: no model would read the instruction", "guidance");
  }
  if (request.options.think.mode == ThinkOptions::Mode::kOn && !shared.model().model->thinking_format()) {
    throw ApiError(400, "bad_request", "'think' is for models whose chat template has a place for a thought", "think");
  }
  GoalProblem::Options writing;
  writing.guidance = request.options.guidance;
  writing.lookahead = request.options.lookahead;
  writing.hypotheses = request.hypotheses;
  writing.think = request.options.think;
  writing.seed = request.options.generate.seed;
  writing.max_tokens = std::min(writing.max_tokens, options_.limits.tokens);
  writing.may_look_back = request.goal_may_look_back;
  const Gate::Pass pass = writing_.enter(1, context.asks());
  const internal::Stopwatch watch;
  RequestModel model(shared, {}, context.asks());
  ChosenGoal goal;
  goal.by_model = true;
  try {
    const GoalProblem problem =
        GoalProblem::parse(request.task.domain.text, request.task.problem.text, loading(context));
    goal.written = problem.write(request.said, model, shared.model().vocabulary, writing, context.asks());
  } catch (const TaskTooLarge&) {
    throw;
  } catch (const InputError& error) {
    throw from_input_error(error, 400, "bad_pddl");
  }
  goal.seconds = watch.seconds();
  metrics_.count_tokens(goal.written.prompt_tokens, 0, 0, goal.written.model_calls);
  return goal;
}

std::optional<Json> Service::settle_goal(PlanRequest& request, SharedModel& shared, RequestContext& context,
                                         const std::function<void(const Json&)>& on_event) {
  const bool given = request.task.goal.has_value();
  if (given) {
    check_goal(request.task);
    request.chosen = ChosenGoal{*request.task.goal};
    return std::nullopt;
  }
  if (goals::states_goal(request.task.problem.text)) return std::nullopt;
  if (internal::trim(request.said).empty()) {
    check_goal(request.task);
    return std::nullopt;
  }
  ChosenGoal goal = write_goal(request, shared, context);
  const GoalProblem::Written& written = goal.written;
  if (written.goals.empty()) {
    return without_plan(no_goal_outcome(written, request.options.guidance),
                        str_cat("no goal could be made of the instruction: ", written.reason,
                                "; say it in other words, or give \"goal\": \"(...)\""),
                        goal);
  }
  const bool doubted = !written.doubt.empty();
  if (!request.yes || doubted) {
    return without_plan("not confirmed",
                        str_cat(doubted ? written.doubt : "nobody has seen this goal",
                                ": \"goal\": ", dump(written.goals[0].pddl), " plans for it",
                                doubted ? "; \"yes\" is for goals that nothing speaks against"
                                        : ", \"yes\": true for the likeliest of whatever is written"),
                        goal);
  }
  goal.pddl = written.goals[0].pddl;
  request.task.goal = goal.pddl;
  written.take_from(request.options);
  if (on_event) {
    Json event{{"type", "goal"}};
    event.update(goal_json(goal));
    on_event(event);
  }
  request.chosen = std::move(goal);
  return std::nullopt;
}

Json Service::answer_goals(Fields& fields, RequestContext& context) {
  SharedModel& shared = find_model(fields);
  const PlanRequest request = read_plan(fields, options_.limits, false);
  if (internal::trim(request.said).empty()) fields.refuse("instruction", "is missing: say in words what is wanted");
  context.limit(request.seconds);
  const Gate::Pass pass = admit(context);
  const ChosenGoal goal = write_goal(request, shared, context);
  return goals_answer_json(goal.written, request.options.guidance, goal.seconds);
}

void Service::post_goals(RequestContext& context) {
  const Json body = parse_body(context.exchange().request().body);
  refuse_unlisted(body, goals_members());
  Fields fields(body, "");
  context.exchange().respond(200, "application/json", dump(answer_goals(fields, context)));
}

}  // namespace metactrl::serve
