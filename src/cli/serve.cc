// metactrl serve: the HTTP service (src/serve), its options, and what signals do to it.
//
// SIGTERM and SIGINT close the door and let requests finish; a second one does not wait for them.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>

#include "cli/common.h"
#include "cli/decoding_options.h"
#include "cli/load_decoding.h"
#include "cli/model_store.h"
#include "cli/options.h"
#include "serve/http_server.h"
#include "serve/service.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

// Sessions of a model at a time; a request has one, or a few with a trace or several plans at once.
constexpr unsigned kSequences = 64;
// Besides, recurrent models keep the states that sessions go back to, as long as half of all are free.
constexpr unsigned kCheckpoints = 32;

struct ServeArguments {
  std::vector<std::string> models = {kDefaultModel};
  std::string vocabulary;
  ModelOptions runtime;
  serve::HttpOptions http;
  serve::ServiceOptions service;
  std::string api_key;
  std::string max_body = "1M";
  std::string max_memory = "256M";
  std::string cache = "256M";
  unsigned parallel = 4;
  std::vector<std::string> hmms;
  Device lookahead_device = Device::kCpu;
};

void add_options(CLI::App& app, ServeArguments& arguments) {
  app.add_option("--model,-m", arguments.models,
                 "as for 'metactrl plan'; may be given more than once, the first one is the default")
      ->type_name("MODEL")
      ->capture_default_str();
  add_vocabulary_option(app, arguments.vocabulary);
  app.add_option("--hmm", arguments.hmms,
                 "hidden Markov model of plans, for requests with guidance trained; may be given more than once, and "
                 "a request gets the one that knows most of its actions")
      ->type_name("FILE");
  add_lookahead_device_option(app, arguments.lookahead_device);
  add_number(app, "--threads", "N", arguments.runtime.threads, 0, 4096, "threads that run a model; 0: one per core");
  add_gpu_layers_option(app, arguments.runtime, "layers of a model to keep on the GPU; auto: all that fit");
  add_number(app, "--context", "N", arguments.runtime.context, 0, 1e8,
             "tokens one request can hold; 0: what the model was trained for, at most 8192");
  add_number(app, "--parallel", "N", arguments.parallel, 1, 1024,
             "how many requests of that size a model's memory holds at a time; shorter ones count for less");
  app.add_option("--host", arguments.http.host, "address to listen at; any but loopback needs --api-key")
      ->type_name("HOST")
      ->capture_default_str();
  add_number(app, "--port", "N", arguments.http.port, 0, 65535, "port to listen at; 0: one that is free");
  app.add_option(
         "--api-key", arguments.api_key,
         "what clients must send as 'Authorization: Bearer KEY'; better in the environment, as METACTRL_API_KEY")
      ->type_name("KEY");
  add_size(app, "--max-body", arguments.max_body, "longest request");
  add_number(app, "--max-tokens", "N", arguments.service.limits.tokens, 1, 1e7, "longest text that is not a plan");
  add_number(app, "--max-horizon", "N", arguments.service.limits.horizon, 1, 1e6, "most actions a request may ask for");
  add_number(app, "--max-seconds", "SECONDS", arguments.service.limits.seconds, 0.01, 1e6,
             "longest time for a request");
  add_number(app, "--max-states", "N", arguments.service.limits.states, 1, 1e9, "states to look at for a request");
  add_size(app, "--max-memory", arguments.max_memory, "memory for a request's task and its states");
  add_number(app, "--max-requests", "N", arguments.service.max_requests, 1, 4096,
             "requests that are worked on at a time");
  add_number(app, "--max-waiting", "N", arguments.service.max_waiting, 0, 65536,
             "requests that wait for their turn; further ones are sent away with status 429");
  add_number(app, "--max-connections", "N", arguments.http.max_connections, 1, 65536, "open connections");
  add_size(app, "--cache", arguments.cache, "memory for tasks and constraints that were compiled before");
  add_number(app, "--drain", "SECONDS", arguments.http.drain_seconds, 0, 1e6,
             "how long requests may go on after SIGTERM");
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

std::vector<serve::ServedModel> load_models(const ServeArguments& arguments) {
  std::vector<serve::ServedModel> models;
  for (const std::string& name : arguments.models) {
    ModelOptions options = arguments.runtime;
    options.shared_contexts = arguments.parallel;
    options.max_sequences = kSequences + kCheckpoints;
    options.batched = true;
    try {
      LoadedModel loaded = open_model(name, arguments.vocabulary, options);
      serve::ServedModel served;
      served.name = std::filesystem::path(name).stem().string();
      const bool known = std::any_of(models.begin(), models.end(),
                                     [&served](const serve::ServedModel& other) { return other.name == served.name; });
      if (known) throw UsageError(str_cat("two models are called ", served.name, "; requests could not choose"));
      served.model = std::move(loaded.model);
      served.vocabulary = std::move(loaded.vocabulary);
      served.memory_tokens = arguments.parallel * served.model->context_length();
      served.sequences = kSequences;
      models.push_back(std::move(served));
    } catch (const ModelError& error) {
      throw ResourceError(kOutOfMemory, error.what());
    }
  }
  return models;
}

int run_server(ServeArguments arguments) {
  check_access(arguments);
  serve::ServiceOptions& options = arguments.service;
  options.body_bytes = parse_size(arguments.max_body).value_or(0);
  options.limits.memory_bytes = parse_size(arguments.max_memory).value_or(0);
  options.cache_bytes = parse_size(arguments.cache).value_or(0);
  options.api_key = arguments.api_key;
  options.version = METACTRL_VERSION;
  arguments.http.limits.body_bytes = options.body_bytes;
  for (const std::string& file : arguments.hmms) {
    options.hmms.push_back(Hmm::load(file));
    if (!options.hmms.back().alphabet().is_meta()) {
      throw InputError(file, "is a model of tokens, and plans need one of actions", "train it with --level meta");
    }
  }
  options.lookahead_device = open_lookahead_device(arguments.lookahead_device);
  // That the port is taken is said now, and not when a large model has been loaded.
  serve::HttpServer(arguments.http, {}, {});
  std::vector<serve::ServedModel> models = load_models(arguments);
  std::string names;
  for (const serve::ServedModel& model : models) names += (names.empty() ? "" : ", ") + model.name;

  serve::Service service(std::move(models), options);
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
    "docs/serve.md describes the API, docs/security.md what is defended.\n";

}  // namespace

Command add_serve(CLI::App& parent) {
  auto arguments = std::make_shared<ServeArguments>();
  CLI::App* app = parent.add_subcommand("serve", "answer requests for plans over HTTP, as OpenAI's API does for text");
  add_options(*app, *arguments);
  app->footer(kServeExamples);
  return {app, [arguments] { return run_server(*arguments); }};
}

}  // namespace metactrl::cli
