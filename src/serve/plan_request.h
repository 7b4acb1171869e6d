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

namespace metactrl::serve {

// What one request may cost; a request may ask for less and not for more.
struct RequestLimits {
  std::size_t tokens = 2048;  // of text that is not a plan; a plan ends by itself
  double seconds = 60;        // altogether, waiting included
  std::size_t states = 200'000;
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
};

struct PlanRequest {
  TaskRequest task;
  PlanOptions options;
  PlanFormat format;
  bool trace = false;
  double seconds = 0;
  // Chat only: the messages as they are instead of the prompt that is made from the task.
  bool own_prompt = false;
};

// "domain" and "problem": PDDL text (whatever holds a parenthesis), or the name of one that ships.
TaskRequest read_task(Fields& fields);
// The members of a plan object (docs/serve.md), `model` and `stream` excepted. `chat` also allows `prompt`.
PlanRequest read_plan(Fields& fields, const RequestLimits& limits, bool chat);

// "plan" of /v1/validate: text, or a list of texts or of {"action", "arguments"}.
std::vector<PlanStep> read_steps(Fields& fields);

// Whether plans under this guidance keep the rules.
bool is_guaranteed(Guidance guidance);

// Everything that the page's menus show.
Json options_json(const RequestLimits& limits, std::size_t body_bytes, const std::string& version,
                  const std::string& model);
Json tasks_json();

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_PLAN_REQUEST_H_
