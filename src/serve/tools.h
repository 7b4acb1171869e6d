// OpenAI's tools, for plans: the plan's actions as calls of the functions that the client has.
//
//     Tools tools(request["tools"]);
//     tools.check(task);                  // every action has a function of its name and number of parameters
//     Json calls = tools.calls(plan, 9);  // [{"id": ..., "type": "function", "function": {"name", "arguments"}}, ...]
//
// An action's arguments become the members of the function's arguments in the order in which `properties` lists them.
#ifndef METACTRL_SRC_SERVE_TOOLS_H_
#define METACTRL_SRC_SERVE_TOOLS_H_

#include <map>
#include <string>
#include <vector>

#include "metactrl/task.h"
#include "serve/api_error.h"

namespace metactrl::serve {

// Unlike numbers that count up, these say nothing about other requests.
std::string make_id(const char* prefix);

class Tools {
 public:
  // "tools" of a request. Throws ApiError for what is no list of functions.
  explicit Tools(const Json& tools);

  // Throws ApiError for an action that could not be called.
  void check(const Task& task) const;
  // The first `count` actions of `plan`, which is as the answer has it: [{"action": ..., "arguments": [...]}, ...]. All
  // must be of a task that was checked.
  Json calls(const Json& plan, std::size_t count) const;
  // The other way round: the action that a call stands for. Throws ApiError for one that could not be ours; `where` names
  // it.
  PlanStep step(const std::string& name, const std::string& arguments, const std::string& where) const;

 private:
  struct Function {
    std::string name;  // as the client writes it
    std::vector<std::string> parameters;
  };
  std::map<std::string, Function> functions_;  // by their names in lower case
};

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_TOOLS_H_
