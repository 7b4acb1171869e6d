// From a request to its handler and back: who may ask, which path, what an exception becomes. Then what the plan and
// chat handlers share: admission, loading, compiling, planning.
//
// Order matters for what a request can cost. Reading is bounded by the HTTP layer. Then a request waits for its turn
// (requests_), loads its task and compiles its constraint among few others (compiling_; both cached, both under a limit
// on time and work), waits for room in the model's memory (ModelMemory), and decodes. At every step it is asked whether
// the client is still there and the time not up.
#include "serve/service.h"

#include <algorithm>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "goals/problem_text.h"
#include "metactrl/domain.h"
#include "pddl/interpret.h"
#include "pddl/parse.h"
#include "serve/access.h"
#include "serve/chat.h"
#include "serve/constraint_key.h"
#include "serve/own_format.h"
#include "serve/page_assets.h"
#include "serve/plan_json.h"
#include "serve/sampling.h"
#include "support/list_some.h"
#include "support/str_cat.h"

namespace metactrl::serve {

namespace {

using internal::str_cat;

constexpr const char* kJson = "application/json";
// What to_api_error says of std::bad_alloc.
constexpr const char* kNoMemory =
    R"({"error":{"message":"there is not enough memory for this request now","type":"server_error","param":null,"code":"out_of_memory"}})";
// The page asks nobody but its own server.
constexpr const char* kPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri "
    "'none'; "
    "form-action 'none'; frame-ancestors 'none'";

Json model_json(const ServedModel& model) {
  return {{"id", model.name},
          {"object", "model"},
          {"created", 0},
          {"owned_by", "metactrl"},
          {"description", model.model->description()}};
}

void respond(RequestContext& context, const Json& json) { context.exchange().respond(200, kJson, dump(json)); }

const char* content_type(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  if (name.ends_with(".json")) return kJson;
  return "text/plain; charset=utf-8";
}

}  // namespace

// --- errors ----------------------------------------------------------------------------------------------------------

ApiError from_input_error(const InputError& error, int status, const char* code) {
  std::string message;
  for (const Diagnostic& diagnostic : error.diagnostics().items()) {
    if (diagnostic.severity != Diagnostic::Severity::kError) continue;
    message = to_string(diagnostic);
    break;
  }
  if (error.diagnostics().num_errors() > 1) {
    message += str_cat(" (and ", error.diagnostics().num_errors() - 1, " more)");
  }
  ApiError out(status, code, message);
  out.details()["diagnostics"] = diagnostics_json(error.diagnostics());
  return out;
}

ApiError cancelled_error(const RequestContext& context) {
  // Nobody reads this; the status, which nginx uses for the same, is for the metrics.
  if (context.client_left()) return {499, "cancelled", "the client went away"};
  return {408, "time_limit", "the request's time is up; ask for less, or for more time"};
}

ApiError to_api_error(const std::exception_ptr& failure, RequestContext& context) {
  try {
    std::rethrow_exception(failure);
  } catch (const ApiError& error) {
    return error;
  } catch (const TaskTooLarge& error) {
    return from_input_error(error, 422, "task_too_large");
  } catch (const InputError& error) {
    return from_input_error(error, 400, "bad_request");
  } catch (const Stopped& stopped) {
    if (stopped.reason() == Stopped::kLimit) {
      return {422, "task_too_large", "the task needs more than the memory that one request may take"};
    }
    return cancelled_error(context);
  } catch (const Gate::Full& error) {
    return {429, "too_many_requests", error.what()};
  } catch (const ContextError& error) {
    return {400, "context_length_exceeded", error.what()};
  } catch (const ModelError& error) {
    return {503, "model_failed", error.what()};
  } catch (const std::bad_alloc&) {
    return {503, "out_of_memory", "there is not enough memory for this request now"};
  } catch (const std::exception& error) {
    return {500, "internal", str_cat("internal error: ", error.what())};
  }
}

std::string Service::refusal(int status, const std::string& message) {
  const char* code = status == 413   ? "body_too_large"
                     : status == 431 ? "headers_too_large"
                     : status == 408 ? "request_timeout"
                     : status == 503 ? "too_many_connections"
                     : status == 500 ? "internal"
                                     : "bad_http";
  return dump(error_json(ApiError(status, code, message)));
}

// --- events ----------------------------------------------------------------------------------------------------------

void EventStream::write(const std::string& text) {
  if (!begun_) exchange_.begin_stream("text/event-stream");
  begun_ = true;
  exchange_.write(text);
}

void EventStream::send(const Json& event) { write("data: " + dump(event) + "\n\n"); }

void EventStream::finish() {
  write("data: [DONE]\n\n");
  exchange_.end_stream();
}

// --- from path to handler --------------------------------------------------------------------------------------------

Service::Service(std::vector<ServedModel> models, ServiceOptions options)
    : options_(std::move(options)),
      requests_(options_.max_requests, options_.max_waiting),
      compiling_(std::max(1U, std::thread::hardware_concurrency()), std::size_t{1} << 20),
      writing_(std::max(1U, std::thread::hardware_concurrency()), std::size_t{1} << 20),
      // What is kept is worth its memory: a task is a part of its constraints.
      tasks_(options_.cache_bytes / 4),
      constraints_(options_.cache_bytes - options_.cache_bytes / 4) {
  options_.limits.trained = !options_.hmms.empty();
  for (ServedModel& model : models) models_.push_back(std::make_unique<SharedModel>(std::move(model)));
}

const std::vector<Service::Route>& Service::routes() {
  static const std::vector<Route> kTable = {
      {{"GET", "/v1/models", "the models", true}, &Service::get_models},
      {{"GET", "/v1/models/", "one model", true}, &Service::get_model},
      {{"GET", "/v1/options", "what can be asked for, and the limits", true}, &Service::get_options},
      {{"GET", "/v1/tasks", "the domains and problems that ship", true}, &Service::get_tasks},
      {{"GET", "/health", "whether it answers", false}, &Service::get_health},
      {{"GET", "/metrics", "counters, in Prometheus' text format", true}, &Service::get_metrics},
      {{"GET", "/openapi.json", "this description", true}, &Service::get_openapi},
      {{"POST", "/v1/plans", "a plan, as actions", true, plans_members}, &Service::post_plans},
      {{"POST", "/v1/goals", "goals that a model makes of an instruction", true, goals_members}, &Service::post_goals},
      {{"POST", "/v1/validate", "is this plan legal, and does it reach the goal?", true, validate_members},
       &Service::post_validate},
      {{"POST", "/v1/check", "what is wrong with these texts?", true, check_members}, &Service::post_check},
      {{"POST", "/v1/export", "a plan in the words of another program", true, export_members}, &Service::post_export},
      {{"POST", "/v1/chat/completions", "OpenAI's chat, or a guaranteed plan", true, chat_members},
       &Service::post_chat},
      {{"POST", "/v1/completions", "OpenAI's completions, or a guaranteed plan", true, completions_members},
       &Service::post_completions},
      {{"POST", "/v1/responses", "OpenAI's responses, or a guaranteed plan", true, responses_members},
       &Service::post_responses},
      {{"POST", "/mcp", "the Model Context Protocol, a message at a time", true}, &Service::post_mcp},
  };
  return kTable;
}

void Service::handle(Exchange& exchange) {
  try {
    answer(exchange);
  } catch (const std::bad_alloc&) {
    // There was no room even to say so. Everything that the request had taken is free again by now. Where an answer had
    // begun, all that is left is to end the connection.
    if (exchange.responded()) throw;
    exchange.respond(503, kJson, kNoMemory, {{"Retry-After", "1"}});
  }
}

void Service::answer(Exchange& exchange) {
  RequestContext context(exchange, options_.limits.seconds);
  std::string route = "other";
  std::string trace = trace_of(exchange.request());
  exchange.add_header("X-Trace-Id", trace);
  try {
    dispatch(context, route);
  } catch (...) {
    const ApiError error = to_api_error(std::current_exception(), context);
    HttpHeaders headers;
    if (error.status() == 429 || error.status() == 503) headers.emplace_back("Retry-After", "1");
    if (error.status() == 401) headers.emplace_back("WWW-Authenticate", "Bearer");
    if (const Json& allow = error.details()["allow"]; !allow.is_null()) headers.emplace_back("Allow", allow.text());
    exchange.respond(error.status(), kJson, dump(error_json(error)), headers);
  }
  if (context.client_left()) metrics_.count_cancelled();
  metrics_.count_request(route, exchange.status(), context.seconds());
  if (options_.log) {
    options_.log({std::move(trace), exchange.request().method, route, exchange.status(), context.seconds()});
  }
}

void Service::dispatch(RequestContext& context, std::string& route) {
  const HttpRequest& request = context.exchange().request();
  check_host(request, options_.api_key.empty());
  const std::string method = request.method == "HEAD" ? "GET" : request.method;
  std::string allowed;
  for (const auto& [api, handler] : routes()) {
    const std::string_view path = api.path;
    if (path.ends_with('/') ? !request.path.starts_with(path) : request.path != path) continue;
    if (method != api.method) {
      allowed = api.method;
      continue;
    }
    route = api.path;
    if (api.needs_key) check_key(request, options_.api_key);
    if (method == "POST") check_content_type(request);
    if (method == "POST" && draining_) throw ApiError(503, "draining", "the service is shutting down");
    (this->*handler)(context);
    return;
  }
  if (!allowed.empty()) {
    ApiError error(405, "method_not_allowed", str_cat("only ", allowed, " is answered here"));
    error.details()["allow"] = allowed;
    throw ApiError(error);
  }
  if (method == "GET" && !request.path.starts_with("/v1/")) {
    route = "page";
    get_asset(context);
    return;
  }
  throw ApiError(404, "not_found", "there is nothing at this path; docs/serve.md lists what there is");
}

// --- small answers ---------------------------------------------------------------------------------------------------

void Service::get_asset(RequestContext& context) {
  // A name is compared with those of a list; it is never a path.
  const std::string& path = context.exchange().request().path;
  const std::string_view name = path == "/" ? std::string_view("index.html") : std::string_view(path).substr(1);
  for (const PageAsset& asset : page_assets()) {
    if (asset.name != name) continue;
    context.exchange().respond(
        200, content_type(name), asset.text,
        {{"Content-Security-Policy", kPagePolicy}, {"Referrer-Policy", "no-referrer"}, {"Cache-Control", "no-cache"}});
    return;
  }
  throw ApiError(404, "not_found", "there is nothing at this path; docs/serve.md lists what there is");
}

void Service::get_models(RequestContext& context) {
  Json data = Json::array();
  for (const auto& shared : models_) data.push_back(model_json(shared->model()));
  respond(context, {{"object", "list"}, {"data", std::move(data)}});
}

void Service::get_model(RequestContext& context) {
  const std::string_view name = std::string_view(context.exchange().request().path).substr(sizeof("/v1/models/") - 1);
  for (const auto& shared : models_) {
    if (shared->model().name != name) continue;
    respond(context, model_json(shared->model()));
    return;
  }
  throw ApiError(404, "model_not_found", "this service has no such model; /v1/models lists those it has", "model");
}

void Service::get_options(RequestContext& context) {
  respond(context, options_json(options_.limits, options_.body_bytes, options_.version, models_[0]->model().name));
}

void Service::get_openapi(RequestContext& context) {
  std::vector<ApiRoute> all;
  for (const Route& route : routes()) all.push_back(route.api);
  respond(context, openapi_json(all, options_.limits, options_.version));
}

void Service::get_tasks(RequestContext& context) { respond(context, tasks_json()); }

void Service::get_health(RequestContext& context) {
  if (draining_) {
    context.exchange().respond(503, kJson, dump({{"status", "draining"}}));
    return;
  }
  respond(context, {{"status", "ok"}});
}

void Service::get_metrics(RequestContext& context) {
  const CacheCounts tasks = tasks_.counts();
  const CacheCounts constraints = constraints_.counts();
  ModelMemory::Counts memory;
  for (const auto& shared : models_) {
    const ModelMemory::Counts counts = shared->memory().counts();
    memory.prompts_read += counts.prompts_read;
    memory.prompts_reused += counts.prompts_reused;
    memory.tokens_reused += counts.tokens_reused;
    memory.waiting += counts.waiting;
  }
  const auto number = [](auto value) { return static_cast<double>(value); };
  std::vector<Metrics::Gauge> gauges = {
      {"metactrl_requests_running", "Requests that are worked on.", "gauge", number(requests_.used())},
      {"metactrl_requests_waiting", "Requests that wait for their turn.", "gauge", number(requests_.waiting())},
      {"metactrl_task_cache_hits_total", "Tasks found in the cache.", "counter", number(tasks.hits)},
      {"metactrl_task_cache_misses_total", "Tasks that had to be loaded.", "counter", number(tasks.misses)},
      {"metactrl_constraint_cache_hits_total", "Constraints found in the cache.", "counter", number(constraints.hits)},
      {"metactrl_constraint_cache_misses_total", "Constraints that had to be compiled.", "counter",
       number(constraints.misses)},
      {"metactrl_cache_evictions_total", "Things that left a cache.", "counter",
       number(tasks.evictions + constraints.evictions)},
      {"metactrl_cache_bytes", "Memory of what is cached.", "gauge", number(tasks.bytes + constraints.bytes)},
      {"metactrl_prompt_cache_hits_total", "Prompts that the model had read before.", "counter",
       number(memory.prompts_reused)},
      {"metactrl_prompt_cache_misses_total", "Prompts that had to be read.", "counter", number(memory.prompts_read)},
      {"metactrl_prompt_tokens_reused_total", "Tokens of prompts that were not read again.", "counter",
       number(memory.tokens_reused)},
      {"metactrl_model_waiting", "Requests that wait for room in a model's memory.", "gauge", number(memory.waiting)},
      {"process_resident_memory_bytes", "Resident memory.", "gauge", resident_bytes()},
  };
  context.exchange().respond(200, "text/plain; version=0.0.4; charset=utf-8", metrics_.text(gauges));
}

// --- shared ----------------------------------------------------------------------------------------------------------

SharedModel& Service::find_model(Fields& fields) {
  const std::optional<std::string> name = fields.text("model");
  if (!name || name->empty()) return *models_[0];
  std::vector<std::string> known;
  for (const auto& shared : models_) {
    if (shared->model().name == *name) return *shared;
    known.push_back(shared->model().name);
  }
  throw ApiError(404, "model_not_found", str_cat("this service has no such model; it has ", internal::list_some(known)),
                 fields.path() + "model");
}

std::size_t Service::max_work() const { return options_.limits.memory_bytes / kBytesPerWork; }

Gate::Pass Service::admit(RequestContext& context) { return requests_.enter(1, context.asks()); }

SharedCache<LoadedTask>::Found Service::load_task(const TaskRequest& request, RequestContext& context) {
  check_goal(request);
  const std::string& domain = request.domain.text;
  const std::string& problem = request.problem.text;
  // With the lengths in front, no two tasks have one key.
  const std::string key =
      str_cat(domain.size(), ' ', problem.size(), request.goal ? "g" : ":", domain, problem, request.goal.value_or(""));
  const auto load = [&]() -> std::shared_ptr<const LoadedTask> {
    const Gate::Pass pass = compiling_.enter(1, context.asks());
    const internal::Stopwatch watch;
    const LoadOptions options = loading(context);
    Task task = request.goal ? GoalProblem::parse(domain, problem, options).task(*request.goal, options)
                             : load_pddl_text(domain, problem, options);
    return std::make_shared<const LoadedTask>(LoadedTask{std::move(task), key, watch.seconds()});
  };
  const auto bytes_of = [](const LoadedTask& loaded) { return loaded.task.memory_bytes() + loaded.key.size(); };
  try {
    return tasks_.get(key, load, bytes_of, context.asks());
  } catch (const TaskTooLarge&) {
    throw;
  } catch (const InputError& error) {
    throw from_input_error(error, 400, "bad_pddl");
  }
}

const Hmm& Service::find_hmm(const Task& task) const {
  const auto known_actions = [&task](const Hmm& hmm) {
    std::size_t known = 0;
    for (std::uint32_t i = 0; i < task.num_action_names(); ++i) {
      const Alphabet& alphabet = hmm.alphabet();
      known += alphabet.action(task.action_name(ActionNameId{i})) != alphabet.unknown() ? 1 : 0;
    }
    return known;
  };
  const auto best = std::max_element(options_.hmms.begin(), options_.hmms.end(),
                                     [&](const Hmm& a, const Hmm& b) { return known_actions(a) < known_actions(b); });
  if (best == options_.hmms.end() || known_actions(*best) == 0) {
    throw ApiError(
        400, "bad_request",
        "'guidance' cannot be trained for this task: no HMM that the service was started with knows any of its actions",
        "guidance");
  }
  return *best;
}

PlanAnswer Service::make_plan(const PlanRequest& request, SharedModel& shared, RequestContext& context,
                              const std::function<void(const Json&)>& on_event,
                              const std::function<void(std::string_view)>& on_text,
                              const std::function<void(std::string_view)>& on_thought,
                              const std::function<void(const Observer::Token&)>& on_token) {
  PlanAnswer answer;
  const SharedCache<LoadedTask>::Found loaded = load_task(request.task, context);
  answer.task = loaded.value;
  const Task& task = answer.task->task;
  answer.closing.load_seconds = loaded.hit ? 0 : answer.task->seconds;
  if (request.own_format) check_format_size(request.format, task, options_.limits.memory_bytes);
  check_sampling(request.options.generate, *shared.model().vocabulary);
  const bool with_model = request.options.guidance != Guidance::kSearch;

  RequestModel::Needs needs;
  if (request.options.generate.mode == DecodeMode::kBeam) needs.plans = request.options.generate.beam;
  if (request.options.generate.mode == DecodeMode::kSmc) needs.plans = request.options.generate.samples;
  needs.trace = request.trace && on_event && request.options.guidance != Guidance::kNone;
  RequestModel model(shared, needs, context.asks());

  const PlanOptions::ConstraintSource source = [&](const Task& pursued, const PlanFormat& format,
                                                   const std::shared_ptr<const Vocabulary>& vocabulary,
                                                   const ConstraintOptions& options) {
    const auto compile = [&] {
      const Gate::Pass pass = compiling_.enter(1, context.asks());
      return Constraint::compile(pursued, format, vocabulary, options, context.asks());
    };
    const auto bytes_of = [](const Constraint& constraint) { return constraint.memory_bytes(); };
    auto found = constraints_.get(constraint_key(answer.task->key, pursued, format, *vocabulary, options), compile,
                                  bytes_of, context.asks());
    answer.closing.cached = found.hit;
    return found.value;
  };

  PlanRun run(request, task, shared.model().name, with_model ? &model : nullptr,
              with_model ? shared.model().vocabulary : nullptr);
  run.on_event = on_event;
  run.on_text = on_text;
  run.on_thought = on_thought;
  run.on_token = on_token;
  if (request.options.guidance == Guidance::kTrained) {
    run.hmm = find_hmm(task);
    run.lookahead_device = options_.lookahead_device;
  }
  run.check_bytes = options_.limits.memory_bytes;
  answer.result = run.run(source, context.asks());
  if (request.certificate && answer.result.outcome != PlanOutcome::kCancelled) {
    answer.closing.certificate = certify(task, request, answer.result, context.asks());
  }
  answer.closing.total_seconds = context.seconds();
  metrics_.count_plan(answer.result);
  return answer;
}

// --- plans -----------------------------------------------------------------------------------------------------------

Json Service::answer_plan(PlanRequest request, SharedModel& shared, RequestContext& context,
                          std::function<void(const Json&)> on_event) {
  Json trace = Json::array();
  if (request.trace) {
    on_event = [&trace, tell = std::move(on_event)](const Json& event) {
      trace.push_back(event);
      if (tell) tell(event);
    };
  }
  if (std::optional<Json> early = settle_goal(request, shared, context, on_event)) return *std::move(early);
  const PlanAnswer answer = make_plan(request, shared, context, on_event, {});
  if (answer.result.outcome == PlanOutcome::kCancelled) throw cancelled_error(context);
  Json json = closing_json(answer.task->task, request, answer.result, answer.closing);
  if (request.trace) json["trace"] = std::move(trace);
  return json;
}

void Service::post_plans(RequestContext& context) {
  const Json body = parse_body(context.exchange().request().body);
  Fields fields(body, "");
  SharedModel& shared = find_model(fields);
  PlanRequest request = read_plan(fields, options_.limits, false);
  const bool stream = fields.flag("stream").value_or(false);
  fields.refuse_others();
  context.limit(request.seconds);
  const Gate::Pass pass = admit(context);

  if (!stream) {
    respond(context, answer_plan(request, shared, context, {}));
    return;
  }
  EventStream events(context.exchange());
  const auto send = [&events](const Json& event) { events.send(event); };
  try {
    Json json{{"type", "end"}};
    if (std::optional<Json> early = settle_goal(request, shared, context, send)) {
      json.update(*std::move(early));
    } else {
      const PlanAnswer answer = make_plan(request, shared, context, send, {});
      if (answer.result.outcome == PlanOutcome::kCancelled) throw cancelled_error(context);
      json.update(closing_json(answer.task->task, request, answer.result, answer.closing));
    }
    events.send(json);
  } catch (...) {
    if (!events.begun()) throw;
    Json json{{"type", "error"}};
    json.update(error_json(to_api_error(std::current_exception(), context)));
    events.send(json);
  }
  events.finish();
}

Json Service::answer_validate(Fields& fields, RequestContext& context) {
  const TaskRequest given = read_task(fields);
  const std::vector<PlanStep> steps = read_steps(fields);
  fields.refuse_others();
  const Gate::Pass pass = admit(context);
  const Gate::Pass compiling = compiling_.enter(1, context.asks());
  check_goal(given);
  Diagnostics diagnostics;
  const TaskRequest request = with_goal_inside(given);
  auto ast = std::make_shared<const pddl::Ast>(
      pddl::parse({"domain", request.domain.text}, {"problem", request.problem.text}, diagnostics));
  if (given.goal) {
    const std::size_t first_line = goals::with_goal(given.problem.text, {"(and)", {}}).first_line;
    diagnostics = goals::about_goal(diagnostics, "problem", first_line);
  }
  if (diagnostics.has_errors()) throw from_input_error(InputError(diagnostics), 400, "bad_pddl");
  const Validation result =
      pddl::LiftedInterpreter(std::move(ast)).validate(steps, context.asks(), options_.limits.memory_bytes);
  return {{"valid", result.valid}, {"actions", steps.size()}, {"steps_executed", result.steps_executed},
          {"cost", result.cost},   {"reason", result.reason}, {"unmet_goals", result.unmet_goals}};
}

void Service::post_validate(RequestContext& context) {
  const Json body = parse_body(context.exchange().request().body);
  Fields fields(body, "");
  respond(context, answer_validate(fields, context));
}

void Service::post_chat(RequestContext& context) { ChatHandler(*this, context, true).run(); }
void Service::post_completions(RequestContext& context) { ChatHandler(*this, context, false).run(); }

}  // namespace metactrl::serve
