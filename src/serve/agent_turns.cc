// The state is followed in the compiled task, call by call. Where something was seen that the domain does not say, the
// problem is written anew with the facts that hold then, loaded as any other request's, and followed from there. So the
// limits and the cache of the service hold for every step of it.
#include "serve/agent_turns.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "goals/problem_text.h"
#include "pddl/parse.h"
#include "serve/api_error.h"
#include "support/lower_case.h"
#include "support/str_cat.h"

namespace metactrl::serve {

namespace {

using internal::str_cat;

constexpr std::string_view kNameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

[[noreturn]] void refuse_turn(const std::string& where, const std::string& message) {
  throw ApiError(400, "bad_request", str_cat("'", where, "' ", message), where);
}

// "(On cup  table)" as "(on cup table)"; nothing for what is more, or less, than a fact.
std::optional<std::string> plain_fact(const std::string& text) {
  if (text.size() < 3 || text.size() > 4096 || text.front() != '(' || text.back() != ')') return std::nullopt;
  const std::string inside = internal::lower_case(std::string_view(text).substr(1, text.size() - 2));
  if (inside.find_first_not_of(std::string(kNameCharacters) + " ") != std::string::npos) return std::nullopt;
  std::string out;
  for (std::size_t at = inside.find_first_not_of(' '); at != std::string::npos;) {
    const std::size_t end = std::min(inside.find(' ', at), inside.size());
    out += (out.empty() ? "(" : " ") + inside.substr(at, end - at);
    at = inside.find_first_not_of(' ', end);
  }
  if (out.empty()) return std::nullopt;
  return out + ")";
}

std::vector<std::string> read_facts(const Json& list, const std::string& where) {
  std::vector<std::string> out;
  if (list.is_null()) return out;
  if (!list.is_array()) refuse_turn(where, "must be a list of facts");
  for (const Json& one : list.list()) {
    const std::optional<std::string> fact = one.is_string() ? plain_fact(one.text()) : std::nullopt;
    if (!fact) refuse_turn(where, "must be a list of facts, like \"(open fridge)\"");
    out.push_back(*fact);
  }
  return out;
}

// Facts of predicates that follow from others are no part of an initial state.
std::set<std::string> derived_predicates(const TaskRequest& request) {
  Diagnostics diagnostics;
  const pddl::Ast ast = pddl::parse({"domain", request.domain.text}, {"problem", request.problem.text}, diagnostics);
  bool looks_back = std::any_of(ast.constraints.begin(), ast.constraints.end(), [](const pddl::Constraint& one) {
    return one.kind != pddl::Constraint::Kind::kAlways;
  });
  for (const pddl::Preference& preference : ast.preferences) {
    looks_back = looks_back || std::any_of(preference.parts.begin(), preference.parts.end(), [](const auto& part) {
                   return part.kind != pddl::Constraint::Kind::kAtEnd;
                 });
  }
  const bool counts = std::any_of(ast.functions.begin(), ast.functions.end(),
                                  [](const pddl::Function& one) { return one.changes && one.matters; });
  if (looks_back || counts) {
    throw ApiError(400, "bad_request",
                   str_cat("'messages' cannot go on from the results of tools: the task has ",
                           looks_back ? "trajectory constraints that look back" : "numbers that actions change",
                           "; state the problem as it is now, in a conversation of its own"),
                   "messages");
  }
  std::set<std::string> out;
  for (const pddl::Predicate& predicate : ast.predicates) {
    if (predicate.derived) out.insert(predicate.name);
  }
  return out;
}

std::string predicate_of(std::string_view fact) {
  return std::string(fact.substr(1, std::min(fact.find(' '), fact.size() - 1) - 1));
}

// A task and where it stands.
struct Standpoint {
  TaskRequest request;
  Task task;
  State state;
  std::set<std::string> derived;

  TaskRequest rewritten(const std::vector<std::string>& seen, const std::vector<std::string>& gone) const {
    const std::vector<std::string> before = task.facts(task.initial_state());
    std::set<std::string> holds;
    for (std::string& fact : task.initial_facts()) holds.insert(std::move(fact));
    for (const std::string& fact : before) holds.erase(fact);
    for (std::string& fact : task.facts(state)) holds.insert(std::move(fact));
    for (const std::string& fact : gone) holds.erase(fact);
    holds.insert(seen.begin(), seen.end());
    std::vector<std::string> facts;
    for (const std::string& fact : holds) {
      if (!fact.starts_with("(=") && !derived.contains(predicate_of(fact))) facts.push_back(fact);
    }
    TaskRequest out = request;
    out.problem = {with_initial_facts(request.problem.text, facts), std::nullopt};
    return out;
  }
};

}  // namespace

std::string with_initial_facts(const std::string& problem, const std::vector<std::string>& facts) {
  const std::string_view text = problem;
  const std::optional<goals::Piece> root = goals::first_list(text);
  if (!root) return problem;  // the parser will say what is wrong with it
  std::string init = "(:init";
  for (const std::string& fact : facts) init += "\n  " + fact;
  for (const goals::Piece section : goals::members(text, *root)) {
    if (goals::head(text, section) != ":init") continue;
    for (const goals::Piece inner : goals::members(text, section)) {
      if (goals::head(text, inner) == "=") init += str_cat("\n  ", inner.in(text));
    }
    return str_cat(text.substr(0, section.begin), init, ")", text.substr(section.end));
  }
  const std::size_t end = root->end - 1;
  return str_cat(text.substr(0, end), init, ")", text.substr(end));
}

void AgentTurns::add_calls(const Json& calls, const std::string& where) {
  if (!calls.is_array()) refuse_turn(where, "must be a list of calls");
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::string place = str_cat(where, "[", i, "]");
    const Json& call = calls[i];
    const bool is_call = call.is_object() && call["id"].is_string() && call["function"].is_object() &&
                         call["function"]["name"].is_string() && call["function"]["arguments"].is_string();
    if (!is_call) refuse_turn(place, "must be {\"id\", \"type\", \"function\": {\"name\", \"arguments\"}}");
    calls_.push_back({call["id"].text(),
                      place,
                      call["function"]["name"].text(),
                      call["function"]["arguments"].text(),
                      false,
                      {},
                      {}});
  }
}

void AgentTurns::add_result(const std::string& id, const std::string& content, const std::string& where) {
  const auto found = std::find_if(calls_.rbegin(), calls_.rend(), [&](const Call& call) { return call.id == id; });
  if (found == calls_.rend()) refuse_turn(where + ".tool_call_id", "is of no call in the messages before it");
  found->where = where;
  found->done = true;
  const std::size_t first = content.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return;
  if (content[first] != '{') {
    const std::string begin = internal::lower_case(std::string_view(content).substr(first, 5));
    found->done = begin != "error" && !begin.starts_with("fail");
    return;
  }
  Json result;
  try {
    result = parse_body(content);
  } catch (const ApiError&) {
    return;  // a text that begins like that
  }
  if (const Json& ok = result["ok"]; !ok.is_null()) {
    if (!ok.is_boolean()) refuse_turn(where + ".content", "says 'ok', which must be true or false");
    found->done = ok.flag();
  }
  if (!result["error"].is_null()) found->done = false;
  found->facts = read_facts(result["facts"], where + ".content.facts");
  found->not_facts = read_facts(result["not"], where + ".content.not");
}

TaskRequest AgentTurns::go_on(const TaskRequest& request, const Tools& tools, const Load& load) const {
  Task first = load(request);
  State begin = first.initial_state();
  Standpoint now{request, std::move(first), std::move(begin), derived_predicates(request)};
  for (const Call& call : calls_) {
    if (call.done) {
      const PlanStep step = tools.step(call.name, call.arguments, call.where);
      const std::optional<ActionId> action = now.task.find(step);
      std::optional<State> next = action ? now.task.apply(now.state, *action) : std::nullopt;
      if (!next) {
        refuse_turn(call.where, str_cat("says that ", to_string(step),
                                        " was done, which the domain does not allow there; let its result say what "
                                        "holds, as \"facts\" and \"not\", or \"ok\": false"));
      }
      now.state = *std::move(next);
    }
    if (call.facts.empty() && call.not_facts.empty()) continue;
    now.request = now.rewritten(call.facts, call.not_facts);
    now.task = load(now.request);
    now.state = now.task.initial_state();
  }
  return now.state == now.task.initial_state() ? now.request : now.rewritten({}, {});
}

}  // namespace metactrl::serve
