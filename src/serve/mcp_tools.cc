// The tools do what the paths of the service do: they read their arguments with the same functions, wait at the same
// gates and use the same caches. Before that, an argument that the tool's schema does not list is refused by its name.
//
// explain looks at one state: the one behind the steps that were taken. The lookahead is compiled from the start of the
// task, which search does anyway, and then asked about every action that is legal there.
#include "serve/mcp_tools.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "metactrl/explain.h"
#include "metactrl/lookahead.h"
#include "serve/api_members.h"
#include "serve/plan_json.h"
#include "support/str_cat.h"

namespace metactrl::serve {

namespace {

using internal::str_cat;

// Of the actions that are legal and of the facts that hold, explain lists at most so many.
constexpr std::size_t kMaxListed = 200;

constexpr ApiMember kModelOfTool = {"model", "string", "the model that writes the plan; the first one if not given"};
constexpr ApiMember kAskedAction = {"action", "string", "one (action argument ...): why may it come next, or why not?"};

std::vector<ApiMember> plan_tool_members() {
  return joined({task_members(), {&kModelOfTool, 1}, plan_option_members()});
}
std::vector<ApiMember> write_goal_tool_members() { return goals_members(); }
std::vector<ApiMember> validate_tool_members() { return joined({task_members(), {&steps_member(), 1}}); }
std::vector<ApiMember> explain_tool_members() {
  ApiMember steps = steps_member();
  steps.required = false;
  return joined({task_members(),
                 {&steps, 1},
                 {&kAskedAction, 1},
                 selected(plan_option_members(), {"horizon", "max_states", "time_limit"})});
}
std::vector<ApiMember> search_tool_members() {
  return joined({task_members(), selected(plan_option_members(), {"horizon", "slack", "on_infeasible", "format",
                                                                  "max_states", "time_limit"})});
}

Json typed(const char* type) { return {{"type", type}}; }
Json nullable(const char* type) { return {{"type", Json::array({type, "null"})}}; }
Json texts() { return {{"type", "array"}, {"items", typed("string")}}; }

Json described(Json properties) {
  Json required = Json::array();
  for (const Json::Member& member : properties.members()) required.push_back(member.name);
  return {{"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
}

Json plan_result() {
  return described(
      {{"outcome",
        {{"type", "string"}, {"enum", Json::array({"plan", "infeasible", "undecided", "not confirmed", "no goal"})}}},
       {"plan", nullable("array")},
       {"text", nullable("string")},
       {"guarantee", typed("string")},
       {"reason", typed("string")},
       {"valid", typed("boolean")},
       {"goals", described({{"met", texts()}, {"unmet", texts()}, {"dropped", texts()}})},
       {"why_infeasible", texts()},
       {"would_help", texts()},
       {"cost", nullable("number")},
       {"goal", nullable("object")}});
}

Json goals_result() {
  Json goal = described({{"goal", typed("string")},
                         {"words", typed("string")},
                         {"probability", typed("number")},
                         {"holds_already", typed("boolean")},
                         {"mentioned", typed("boolean")}});
  Json refused = described({{"condition", typed("string")}, {"words", typed("string")}, {"reason", typed("string")}});
  return described(
      {{"outcome", {{"type", "string"}, {"enum", Json::array({"goals", "infeasible", "undecided", "no goal"})}}},
       {"goals", {{"type", "array"}, {"items", std::move(goal)}}},
       {"missing", texts()},
       {"guarantee", typed("string")},
       {"certified", typed("boolean")},
       {"reason", typed("string")},
       {"doubt", nullable("string")},
       {"refused", {{"type", "array"}, {"items", std::move(refused)}}},
       {"left_out", texts()}});
}

Json validate_result() {
  return described({{"valid", typed("boolean")},
                    {"actions", typed("integer")},
                    {"steps_executed", typed("integer")},
                    {"cost", typed("number")},
                    {"reason", typed("string")},
                    {"unmet_goals", texts()}});
}

Json explain_result() {
  Json action = described({{"action", typed("string")}, {"standing", typed("string")}, {"why", typed("string")}});
  return described({{"outcome", typed("string")},
                    {"reason", typed("string")},
                    {"why_infeasible", texts()},
                    {"would_help", texts()},
                    {"steps_executed", typed("integer")},
                    {"problem", typed("string")},
                    {"facts", texts()},
                    {"facts_left_out", typed("integer")},
                    {"goals", described({{"met", texts()}, {"unmet", texts()}})},
                    {"actions", {{"type", "array"}, {"items", std::move(action)}}},
                    {"actions_left_out", typed("integer")},
                    {"asked", nullable("object")}});
}

const char* standing_of(Answer answer) {
  switch (answer) {
    case Answer::kYes:
      return "allowed";
    case Answer::kNo:
      return "hopeless";
    case Answer::kUnknown:
      return "undecided";
  }
  return "";
}

std::string why(const Candidate& candidate, unsigned left) {
  switch (candidate.answer) {
    case Answer::kYes:
      return str_cat("the goal can be reached with ", candidate.remaining, " more behind it");
    case Answer::kNo:
      return str_cat("no plan of at most ", left, " actions begins with it");
    case Answer::kUnknown:
      return "whether the goal can still be reached behind it was not found out within the budget";
  }
  return "";
}

// Where the steps lead, as far as they are legal.
struct Situation {
  State state;
  std::vector<PlanStep> executed;
};

Situation execute(const Task& task, const std::vector<PlanStep>& steps) {
  Situation out{task.initial_state(), {}};
  for (const PlanStep& step : steps) {
    const std::optional<ActionId> action = task.find(step);
    std::optional<State> next = action ? task.apply(out.state, *action) : std::nullopt;
    if (!next) break;
    out.state = *std::move(next);
    out.executed.push_back(step);
  }
  return out;
}

Json situation_json(const Task& task, const State& state) {
  std::vector<std::string> facts = task.facts(state);
  const std::size_t listed = std::min(facts.size(), kMaxListed);
  const std::size_t left_out = facts.size() - listed;
  facts.resize(listed);
  const std::vector<GoalId> unmet = task.unmet_goals(state);
  std::vector<GoalId> met;
  for (std::uint32_t goal = 0; goal < task.num_goals(); ++goal) {
    if (std::find(unmet.begin(), unmet.end(), GoalId{goal}) == unmet.end()) met.push_back(GoalId{goal});
  }
  return {{"facts", facts},
          {"facts_left_out", left_out},
          {"goals", {{"met", goals_json(task, met)}, {"unmet", goals_json(task, unmet)}}}};
}

// What may be said about every action that is legal in `state`, with `left` actions left.
std::vector<Candidate> judge(const Task& task, const State& state, const PlanResult& result, SupportOptions options,
                             unsigned left, const Stop& stop) {
  if (result.lookahead != nullptr) {
    options.idle_steps = true;
    return Support(result.lookahead, options, stop).candidates(state, left);
  }
  // From the start nothing leads to the goal, or nobody knows; nor does it from here.
  std::vector<Candidate> out;
  for (const ActionId action : task.applicable_actions(state)) {
    Candidate& candidate = out.emplace_back();
    candidate.action = action;
    candidate.answer = result.outcome == PlanOutcome::kInfeasible ? Answer::kNo : Answer::kUnknown;
  }
  return out;
}

}  // namespace

struct McpTools::Tool {
  const char* name;
  const char* title;
  const char* description;
  std::vector<ApiMember> (*members)();
  Json (*result)();
  Json (McpTools::*call)(Fields&, RequestContext&, const Progress&);
};

std::span<const McpTools::Tool> McpTools::tools() {
  static constexpr Tool kTable[] = {
      {"plan", "Make a plan",
       "Makes a plan for a PDDL task with a language model that cannot leave the rules: every action is legal and the "
       "goal is reached, or the answer says that there is no plan and why. Follow the actions in their order.",
       plan_tool_members, plan_result, &McpTools::plan},
      {"search", "Search for a plan",
       "Finds a plan for a PDDL task without asking a model, or proves that there is none and says why and what would "
       "help.",
       search_tool_members, plan_result, &McpTools::search},
      {"write_goal", "Make a goal of words",
       "Reads an instruction in words and writes what it asks for as PDDL goals of this problem, the likeliest first, "
       "each with a plan behind it; says what was named and is not there, and what cannot be reached. Look at them: "
       "nothing guarantees that they are what was meant. Then call `plan` with one as `goal`.",
       write_goal_tool_members, goals_result, &McpTools::write_goal},
      {"validate", "Check a plan",
       "Judges a plan for a PDDL task: is every action legal in its turn, and does the goal hold at the end? Says "
       "which step fails and which precondition is false.",
       validate_tool_members, validate_result, &McpTools::validate},
      {"explain", "Explain a situation",
       "Executes the steps of `plan` (none: stays at the start) and says what holds then, which goals are unmet, and "
       "of every action that is legal there whether the goal can still be reached behind it. `action` asks about one "
       "more, also an illegal one.",
       explain_tool_members, explain_result, &McpTools::explain},
  };
  return kTable;
}

Json McpTools::list() const {
  Json out = Json::array();
  for (const Tool& tool : tools()) {
    out.push_back({{"name", tool.name},
                   {"title", tool.title},
                   {"description", tool.description},
                   {"inputSchema", object_schema(tool.members(), service_.options_.limits)},
                   {"outputSchema", tool.result()},
                   {"annotations", {{"readOnlyHint", true}, {"openWorldHint", false}}}});
  }
  return out;
}

bool McpTools::has(const std::string& name) const {
  return std::any_of(tools().begin(), tools().end(), [&](const Tool& tool) { return name == tool.name; });
}

Json McpTools::call(const std::string& name, const Json& arguments, RequestContext& context, const Progress& progress) {
  const auto tool = std::find_if(tools().begin(), tools().end(), [&](const Tool& one) { return name == one.name; });
  refuse_unlisted(arguments, tool->members());
  Fields fields(arguments, "");
  return (this->*(tool->call))(fields, context, progress);
}

// --- the tools -------------------------------------------------------------------------------------------------------

Json McpTools::plan(Fields& fields, RequestContext& context, const Progress& progress) {
  SharedModel& shared = service_.find_model(fields);
  const PlanRequest request = read_plan(fields, service_.options_.limits, false);
  context.limit(request.seconds);
  const Gate::Pass pass = service_.admit(context);
  std::function<void(const Json&)> on_event;
  if (progress) {
    on_event = [&progress](const Json& event) {
      if (event["type"] == "action") progress(event["action"].text());
    };
  }
  return service_.answer_plan(request, shared, context, std::move(on_event));
}

Json McpTools::write_goal(Fields& fields, RequestContext& context, const Progress& /*progress*/) {
  return service_.answer_goals(fields, context);
}

Json McpTools::validate(Fields& fields, RequestContext& context, const Progress& /*progress*/) {
  return service_.answer_validate(fields, context);
}

Json McpTools::search(Fields& fields, RequestContext& context, const Progress& /*progress*/) {
  PlanRequest request = read_plan(fields, service_.options_.limits, false);
  request.options.guidance = Guidance::kSearch;
  context.limit(request.seconds);
  const Gate::Pass pass = service_.admit(context);
  return service_.answer_plan(request, *service_.models_[0], context, {});
}

Json McpTools::explain(Fields& fields, RequestContext& context, const Progress& /*progress*/) {
  const RequestLimits& limits = service_.options_.limits;
  PlanRequest request = read_plan(fields, limits, false);
  LookaheadOptions& lookahead = request.options.lookahead;
  request.options.guidance = Guidance::kSearch;
  lookahead.weights = false;
  if (lookahead.fitted_horizon) lookahead.horizon = limits.horizon;
  lookahead.fitted_horizon = false;
  const std::vector<PlanStep> steps = fields.find("plan") == nullptr ? std::vector<PlanStep>() : read_steps(fields);
  std::optional<PlanStep> asked;
  if (const std::optional<std::string> text = fields.text("action")) {
    const std::vector<PlanStep> one = parse_plan(*text, "action");
    if (one.size() != 1) fields.refuse("action", "must be one (action argument ...)");
    asked = one.front();
  }
  context.limit(request.seconds);
  const Gate::Pass pass = service_.admit(context);
  const PlanAnswer answer = service_.make_plan(request, *service_.models_[0], context, {}, {});
  if (answer.result.outcome == PlanOutcome::kCancelled) throw cancelled_error(context);

  const Task& task = answer.task->task;
  const Situation situation = execute(task, steps);
  const auto taken = static_cast<unsigned>(situation.executed.size());
  Json out{{"outcome", to_string(answer.result.outcome)},
           {"reason", answer.result.reason},
           {"why_infeasible", answer.result.why_infeasible},
           {"would_help", answer.result.would_help},
           {"steps_executed", taken},
           {"problem", ""}};
  // The words of the reference semantics for a step that cannot be taken behind those that were.
  const auto problem_of = [&](const PlanStep& step) {
    std::vector<PlanStep> with = situation.executed;
    with.push_back(step);
    return task.validate(with, context.asks(), limits.memory_bytes).problem;
  };
  if (taken < steps.size()) out["problem"] = problem_of(steps[taken]);
  out.update(situation_json(task, situation.state));
  const unsigned horizon = answer.result.lookahead != nullptr ? answer.result.horizon : lookahead.horizon;
  const unsigned left = horizon > taken ? horizon - taken : 0;
  const std::vector<Candidate> candidates =
      judge(task, situation.state, answer.result, request.options.support, left, context.asks());
  out["actions"] = Json::array();
  out["asked"] = nullptr;
  for (const Candidate& candidate : candidates) {
    Json judged{{"action", task.text(candidate.action)},
                {"standing", standing_of(candidate.answer)},
                {"why", why(candidate, left)}};
    if (asked && task.step(candidate.action) == *asked) out["asked"] = judged;
    if (out["actions"].size() < kMaxListed) out["actions"].push_back(std::move(judged));
  }
  out["actions_left_out"] = candidates.size() - out["actions"].size();
  if (asked && out["asked"].is_null()) {
    out["asked"] = {{"action", to_string(*asked)}, {"standing", "illegal"}, {"why", problem_of(*asked)}};
  }
  return out;
}

}  // namespace metactrl::serve
