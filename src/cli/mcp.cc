// metactrl mcp: the service's tools for a client of the Model Context Protocol that started this program.
//
// Standard output carries messages and nothing else; whatever is said to people goes to standard error.
#include <unistd.h>

#include <csignal>
#include <memory>

#include "cli/common.h"
#include "cli/service_options.h"
#include "serve/mcp_stdio.h"

namespace metactrl::cli {

namespace {

int run_mcp(const ServiceArguments& arguments) {
  serve::ServiceOptions options = service_options(arguments);
  serve::Service service(load_service_models(arguments), std::move(options));
  // A client that is gone is noticed by the write that fails.
  std::signal(SIGPIPE, SIG_IGN);
  serve::McpStdio(service, STDIN_FILENO, STDOUT_FILENO).run();
  return kDone;
}

constexpr const char* kMcpExamples =
    "\nA client is told to run it. Most have a file like this:\n"
    "\n"
    "  {\"mcpServers\": {\"metactrl\": {\"command\": \"metactrl\", \"args\": [\"mcp\"]}}}\n"
    "\n"
    "By hand, a message a line:\n"
    "\n"
    "  echo '{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/list\"}' | metactrl mcp\n"
    "\n"
    "docs/mcp.md describes the tools. 'metactrl serve' offers the same over HTTP, at /mcp.\n";

}  // namespace

Command add_mcp(CLI::App& parent) {
  auto arguments = std::make_shared<ServiceArguments>();
  CLI::App* app =
      parent.add_subcommand("mcp", "offer planning as tools to a client of the Model Context Protocol, over stdio");
  add_service_options(*app, *arguments);
  app->footer(kMcpExamples);
  return {app, [arguments] { return run_mcp(*arguments); }};
}

}  // namespace metactrl::cli
