// What a client asks for, read from JSON and held to the limits of the service.
#ifndef METACTRL_SRC_SERVE_PLAN_REQUEST_H_
#define METACTRL_SRC_SERVE_PLAN_REQUEST_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "metactrl/planner.h"
#include "serve/api_error.h"
#include "serve/fields.h"
#include "serve/goal_json.h"

namespace metactrl::serve {

// Goals from words that one request may ask for.
constexpr std::size_t kMaxHypotheses = 32;

// What one request may cost; a request may ask for less and not for more.
struct RequestLimits {
  std::size_t tokens = 2048;  // of text that is not a plan; a plan ends by itself
  double seconds = 60;        // altogether, waiting included
  std::size_t states = LookaheadOptions{}.search.states;
  std::size_t memory_bytes = std::size_t{256} << 20;
  unsigned horizon = 256;
  std::size_t ground_actions = 100'000;
  std::size_t ground_facts = 500'000;
  unsigned beam = 8;
  unsigned samples = 16;
  bool trained = false;  // guidance trained is offered
};

// A domain or a problem: the text, and its name if it is one that ships.
struct NamedText {
  std::string text;
  std::optional<std::string> name;
};

struct TaskRequest {
  NamedText domain;
  NamedText problem;
  std::optional<std::string> goal;  // PDDL, instead of the problem's own
};

struct PlanRequest {
  TaskRequest task;
  PlanOptions options;
  PlanFormat format;
  bool own_format = false;  // the request declares it
  bool trace = false;
  bool certificate = false;
  double seconds = 0;
  // For a problem that states no goal: what was said in words, how many goals are shown, and whether the likeliest is
  // planned for unseen.
  std::string said;
  std::size_t hypotheses = 3;
  bool yes = false;
  // Not where an agent goes on from what its tools returned: each turn plans from the present state.
  bool goal_may_look_back = true;
  // What was decided about the goal, where it is not the problem's own.
  std::optional<ChosenGoal> chosen;
  // Chat only: the messages as they are instead of the prompt that is made from the task.
  bool own_prompt = false;
};

// "domain" and "problem": PDDL text (whatever holds a parenthesis), or the name of one that ships; "goal", if there is
// one.
TaskRequest read_task(Fields& fields);
// The members of a plan object (docs/serve.md), `model` and `stream` excepted. `chat` also allows `prompt`.
PlanRequest read_plan(Fields& fields, const RequestLimits& limits, bool chat);

// "plan" of /v1/validate: text, or a list of texts or of {"action", "arguments"}.
std::vector<PlanStep> read_steps(Fields& fields);

// Throws ApiError where neither the problem nor the request says what is wanted.
void check_goal(const TaskRequest& task);
// The same task with its goal as part of the problem's text. Throws InputError where it is none.
TaskRequest with_goal_inside(const TaskRequest& task);

// Whether plans under this guidance keep the rules.
bool is_guaranteed(Guidance guidance);

// Everything that the page's menus show.
Json options_json(const RequestLimits& limits, std::size_t body_bytes, const std::string& version,
                  const std::string& model);
Json tasks_json();

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_PLAN_REQUEST_H_
