// metactrl serve: the HTTP service (src/serve), its options, and what signals do to it.
//
// SIGTERM and SIGINT close the door and let requests finish; a second one does not wait for them.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>

#include "cli/common.h"
#include "cli/config_file.h"
#include "cli/options.h"
#include "cli/service_options.h"
#include "serve/http_server.h"
#include "serve/service.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

enum class LogForm { kNone, kText, kJson };
constexpr auto enum_names(LogForm) {
  return internal::names<LogForm>({{LogForm::kNone, "none"}, {LogForm::kText, "text"}, {LogForm::kJson, "json"}});
}

struct ServeArguments {
  ServiceArguments service;
  serve::HttpOptions http;
  std::string api_key;
  std::string config;
  LogForm log = LogForm::kNone;
};

void add_options(CLI::App& app, ServeArguments& arguments) {
  add_service_options(app, arguments.service);
  serve::ServiceOptions& service = arguments.service.service;
  app.add_option("--host", arguments.http.host, "address to listen at; any but loopback needs --api-key")
      ->type_name("HOST")
      ->capture_default_str();
  add_number(app, "--port", "N", arguments.http.port, 0, 65535, "port to listen at; 0: one that is free");
  app.add_option(
         "--api-key", arguments.api_key,
         "what clients must send as 'Authorization: Bearer KEY'; better in the environment, as METACTRL_API_KEY")
      ->type_name("KEY");
  add_number(app, "--max-tokens", "N", service.limits.tokens, 1, 1e7, "longest text that is not a plan");
  add_number(app, "--max-waiting", "N", service.max_waiting, 0, 65536,
             "requests that wait for their turn; further ones are sent away with status 429");
  add_number(app, "--max-connections", "N", arguments.http.max_connections, 1, 65536, "open connections");
  app.add_option("--config", arguments.config,
                 "file with options of this command, as name = value; those given here count")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  add_choice(app, "--log", arguments.log, "a line on standard error for every request that was answered");
  add_number(app, "--drain", "SECONDS", arguments.http.drain_seconds, 0, 1e6,
             "how long requests may go on after SIGTERM");
}

// A line for each request, whole, whichever thread it comes from.
std::function<void(const serve::RequestRecord&)> logger(LogForm form) {
  if (form == LogForm::kNone) return {};
  return [form](const serve::RequestRecord& record) {
    const auto milliseconds =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count();
    if (form == LogForm::kJson) {
      note(serve::dump({{"time_ms", milliseconds},
                        {"trace", record.trace},
                        {"method", record.method},
                        {"route", record.route},
                        {"status", record.status},
                        {"seconds", record.seconds}}));
      return;
    }
    note(str_cat(milliseconds, ' ', record.trace, ' ', record.method, ' ', record.route, ' ', record.status, ' ',
                 number_text(record.seconds), " s"));
  };
}

serve::HttpServer* g_server = nullptr;
serve::Service* g_service = nullptr;
volatile std::sig_atomic_t g_signals = 0;

extern "C" void on_stop_signal(int /*signal*/) {
  if (g_server == nullptr || g_service == nullptr) return;
  g_signals = g_signals + 1;
  if (g_signals > 1) g_server->cancel_all();
  g_service->drain();
  g_server->stop();
}

void catch_signals(serve::Service* service, serve::HttpServer* server) {
  g_service = service;
  g_server = server;
  struct sigaction action = {};
  action.sa_handler = server != nullptr ? on_stop_signal : SIG_DFL;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
}

void check_access(ServeArguments& arguments) {
  if (arguments.api_key.empty()) {
    if (const char* key = std::getenv("METACTRL_API_KEY")) arguments.api_key = key;
  }
  const bool sendable =
      std::all_of(arguments.api_key.begin(), arguments.api_key.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (!sendable) throw UsageError("the API key must consist of visible ASCII characters, since a header carries it");
  if (arguments.api_key.empty() && !serve::is_loopback(arguments.http.host)) {
    throw UsageError(str_cat("--host ", arguments.http.host,
                             " can be reached from other machines, which needs an API key: set METACTRL_API_KEY, or "
                             "--api-key"));
  }
}

int run_server(ServeArguments arguments) {
  check_access(arguments);
  serve::ServiceOptions options = service_options(arguments.service);
  options.api_key = arguments.api_key;
  options.log = logger(arguments.log);
  arguments.http.limits.body_bytes = options.body_bytes;
  // That the port is taken is said now, and not when a large model has been loaded.
  serve::HttpServer(arguments.http, {}, {});
  std::vector<serve::ServedModel> models = load_service_models(arguments.service);
  std::string names;
  for (const serve::ServedModel& model : models) names += (names.empty() ? "" : ", ") + model.name;

  serve::Service service(std::move(models), std::move(options));
  serve::HttpServer server(
      arguments.http, [&service](serve::Exchange& exchange) { service.handle(exchange); }, serve::Service::refusal);
  catch_signals(&service, &server);
  const std::string host =
      arguments.http.host.find(':') == std::string::npos ? arguments.http.host : "[" + arguments.http.host + "]";
  note(str_cat("metactrl: listening at http://", host, ":", server.port(), " with ", names, "; Ctrl-C ends it"));
  server.run();
  catch_signals(nullptr, nullptr);
  note("metactrl: stopped");
  return kDone;
}

constexpr const char* kServeExamples =
    "\nExamples:\n"
    "\n"
    "  metactrl serve                                   the page at http://127.0.0.1:8080, the API at /v1\n"
    "  metactrl serve --model my-model.gguf --port 9000\n"
    "  METACTRL_API_KEY=secret metactrl serve --host 0.0.0.0\n"
    "\n"
    "  curl http://127.0.0.1:8080/v1/plans -H 'Content-Type: application/json' \\\n"
    "       -d '{\"domain\": \"tabletop\", \"problem\": \"dishwasher\"}'\n"
    "\n"
    "MCP clients find its tools at /mcp. docs/serve.md describes the API, docs/security.md what is defended.\n";

}  // namespace

Command add_serve(CLI::App& parent) {
  auto arguments = std::make_shared<ServeArguments>();
  CLI::App* app = parent.add_subcommand("serve", "answer requests for plans over HTTP, as OpenAI's API does for text");
  add_options(*app, *arguments);
  app->footer(kServeExamples);
  return {app, [app, arguments] {
            if (!arguments->config.empty()) apply_config_file(*app, arguments->config);
            return run_server(*arguments);
          }};
}

}  // namespace metactrl::cli
