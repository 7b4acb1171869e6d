// The tools that clients of the Model Context Protocol can call: plan, search, write_goal, validate, explain.
#ifndef METACTRL_SRC_SERVE_MCP_TOOLS_H_
#define METACTRL_SRC_SERVE_MCP_TOOLS_H_

#include <functional>
#include <span>
#include <string>

#include "serve/json.h"
#include "serve/service.h"

namespace metactrl::serve {

class McpTools {
 public:
  // Called with the text of each action as it is decided.
  using Progress = std::function<void(const std::string& action)>;

  explicit McpTools(Service& service) : service_(service) {}

  // As tools/list has them: name, title, description, inputSchema, outputSchema, annotations.
  Json list() const;
  bool has(const std::string& name) const;
  // What the tool found: an object as its outputSchema says. Throws what handlers throw.
  Json call(const std::string& name, const Json& arguments, RequestContext& context, const Progress& progress);

 private:
  struct Tool;
  static std::span<const Tool> tools();

  Json plan(Fields& fields, RequestContext& context, const Progress& progress);
  Json write_goal(Fields& fields, RequestContext& context, const Progress& progress);
  Json validate(Fields& fields, RequestContext& context, const Progress& progress);
  Json explain(Fields& fields, RequestContext& context, const Progress& progress);
  Json search(Fields& fields, RequestContext& context, const Progress& progress);

  Service& service_;
};

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_MCP_TOOLS_H_
