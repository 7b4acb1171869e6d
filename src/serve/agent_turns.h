// What became of the calls that a plan was sent as: the part of a conversation that says where an agent stands.
//
//     AgentTurns turns;
//     turns.add_calls(message["tool_calls"], "messages[1].tool_calls");
//     turns.add_result("call_1", "{\"ok\": false}", "messages[2]");
//     TaskRequest now = turns.go_on(request, tools, load);      // the same task, from where the calls have led
//
// A result is what the client's tool returned, as it is. A JSON object may say `ok` (was it done?), `error` (anything but
// null: it was not), and `facts` and `not`: facts that hold now and such that do not, "(open fridge)". Any other text says
// that it was done, unless it begins with "error" or "fail". A call without a result was not made.
//
// What was done changes the state as the domain says; what was seen changes it as it says. Everything else is as it was.
#ifndef METACTRL_SRC_SERVE_AGENT_TURNS_H_
#define METACTRL_SRC_SERVE_AGENT_TURNS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "metactrl/task.h"
#include "serve/json.h"
#include "serve/plan_request.h"
#include "serve/tools.h"

namespace metactrl::serve {

// The problem with another initial state: `facts`, and the numbers that it has. Exposed for tests.
std::string with_initial_facts(const std::string& problem, const std::vector<std::string>& facts);

class AgentTurns {
 public:
  using Load = std::function<Task(const TaskRequest& request)>;

  // All throw ApiError for what is no such message.
  void add_calls(const Json& calls, const std::string& where);
  void add_result(const std::string& id, const std::string& content, const std::string& where);
  bool empty() const { return calls_.empty(); }

  // Throws ApiError where a call that was made was not legal, where a fact cannot be read, and for tasks that mean
  // something else from another state: with trajectory constraints that look back, or numbers that actions change.
  TaskRequest go_on(const TaskRequest& request, const Tools& tools, const Load& load) const;

 private:
  struct Call {
    std::string id;
    std::string where;
    std::string name;
    std::string arguments;  // JSON, as the call has them
    bool done = false;
    std::vector<std::string> facts;
    std::vector<std::string> not_facts;
  };
  std::vector<Call> calls_;
};

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_AGENT_TURNS_H_
