// The service: what every path answers (docs/serve.md).
//
//     Service service(models, options);
//     HttpServer server(http, [&](Exchange& exchange) { service.handle(exchange); }, Service::refusal);
//
// A request runs on its connection's thread, from JSON to the last token; what is shared is the models, the caches and
// the gates that keep requests from taking more than there is. handle() may be called from many threads and throws
// nothing that is the request's fault. When memory ends, that request is answered with 503 (or, when its answer had
// begun, std::bad_alloc ends its connection); the caches, the gates and the
// models are as if it had not come.
#ifndef METACTRL_SRC_SERVE_SERVICE_H_
#define METACTRL_SRC_SERVE_SERVICE_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "metactrl/hmm.h"
#include "metactrl/planner.h"
#include "serve/api_error.h"
#include "serve/gate.h"
#include "serve/http_server.h"
#include "serve/metrics.h"
#include "serve/openapi.h"
#include "serve/plan_request.h"
#include "serve/plan_run.h"
#include "serve/served_model.h"
#include "serve/shared_cache.h"
#include "support/stopwatch.h"

namespace metactrl::serve {

// A request that was answered, for whoever keeps a log. Nothing of what it asked.
struct RequestRecord {
  std::string trace;  // 32 hexadecimal digits: those of the client's traceparent, or chosen here
  std::string method;
  std::string route;  // as in the table of routes, never what a client wrote
  int status = 0;     // 0: none was sent
  double seconds = 0;
};

struct ServiceOptions {
  RequestLimits limits;
  std::size_t body_bytes = std::size_t{1} << 20;
  std::size_t cache_bytes = std::size_t{256} << 20;
  std::size_t max_requests = 64;  // that work at the same time
  std::size_t max_waiting = 128;  // that wait for their turn; further ones are sent away
  std::string api_key;            // empty: none is asked for
  std::vector<Hmm> hmms;          // for guidance trained; a request gets the one that knows most of its task's actions
  std::shared_ptr<const LookaheadDevice> lookahead_device;  // for guidance trained; none: the CPU
  std::string version;
  // Told of every request when it is done, from its thread; empty: nobody is.
  std::function<void(const RequestRecord&)> log;
};

// A request while it is worked on: its client, and how much time is left.
class RequestContext {
 public:
  RequestContext(Exchange& exchange, double seconds) : exchange_(exchange), limit_(seconds) {}

  Exchange& exchange() { return exchange_; }
  void limit(double seconds) { limit_ = seconds; }
  double seconds() const { return watch_.seconds(); }                               // since it began
  double seconds_left() const { return std::max(0.0, limit_ - watch_.seconds()); }  // 0 when there are none
  bool timed_out() const { return seconds_left() <= 0; }
  // The client is gone or the time is up.
  bool cancelled() {
    left_ = left_ || exchange_.gone();
    return left_ || timed_out();
  }
  // It was found to be gone.
  bool client_left() const { return left_; }
  Stop asks() {
    return [this] { return cancelled(); };
  }

 private:
  Exchange& exchange_;
  internal::Stopwatch watch_;
  double limit_ = 0;
  bool left_ = false;
};

// A task as it was loaded, shared by the requests that name the same texts.
struct LoadedTask {
  Task task;
  std::string key;
  double seconds = 0;  // that loading took
};

// What became of a plan.
struct PlanAnswer {
  std::shared_ptr<const LoadedTask> task;
  PlanResult result;
  PlanClosing closing;
};

class Service {
 public:
  // At least one model; the first is the default.
  Service(std::vector<ServedModel> models, ServiceOptions options);

  void handle(Exchange& exchange);
  // For whoever asks /health, and to send new requests away. May be called from a signal handler.
  void drain() noexcept { draining_ = true; }

  // The body of a refusal that happens before the service sees the request.
  static std::string refusal(int status, const std::string& message);

  Metrics& metrics() { return metrics_; }
  CacheCounts constraint_counts() const { return constraints_.counts(); }
  const ServiceOptions& options() const { return options_; }

 private:
  friend class ChatHandler;
  friend class McpTools;

  struct Route {
    ApiRoute api;
    void (Service::*handler)(RequestContext&);
  };
  static const std::vector<Route>& routes();

  void answer(Exchange& exchange);
  void dispatch(RequestContext& context, std::string& route);
  void get_asset(RequestContext& context);
  void get_models(RequestContext& context);
  void get_model(RequestContext& context);
  void get_options(RequestContext& context);
  void get_tasks(RequestContext& context);
  void get_health(RequestContext& context);
  void get_metrics(RequestContext& context);
  void get_openapi(RequestContext& context);
  void post_plans(RequestContext& context);
  void post_goals(RequestContext& context);  // goals.cc
  void post_validate(RequestContext& context);
  void post_check(RequestContext& context);   // check.cc
  void post_export(RequestContext& context);  // export.cc
  void post_chat(RequestContext& context);
  void post_completions(RequestContext& context);
  void post_responses(RequestContext& context);  // responses.cc
  void post_mcp(RequestContext& context);        // mcp_http.cc

  // --- shared by the handlers ---
  SharedModel& find_model(Fields& fields);
  Gate::Pass admit(RequestContext& context);
  SharedCache<LoadedTask>::Found load_task(const TaskRequest& request, RequestContext& context);
  // The limits of one request.
  LoadOptions loading(RequestContext& context) const;
  // The goal that the model makes of what was said.
  ChosenGoal write_goal(const PlanRequest& request, SharedModel& shared, RequestContext& context);
  // Before a plan is made: the goal, where the problem states none or another was given. An answer is all that there
  // will be: no goal was written, or nobody confirmed it. Throws ApiError where nobody says what is wanted.
  std::optional<Json> settle_goal(PlanRequest& request, SharedModel& shared, RequestContext& context,
                                  const std::function<void(const Json&)>& on_event);
  // Throws ApiError when none knows any of the task's actions.
  const Hmm& find_hmm(const Task& task) const;
  PlanAnswer make_plan(const PlanRequest& request, SharedModel& shared, RequestContext& context,
                       const std::function<void(const Json&)>& on_event,
                       const std::function<void(std::string_view)>& on_text,
                       const std::function<void(std::string_view)>& on_thought = {},
                       const std::function<void(const Observer::Token&)>& on_token = {});
  // Whole answers, for a request that was admitted, and for one that was not.
  Json answer_plan(PlanRequest request, SharedModel& shared, RequestContext& context,
                   std::function<void(const Json&)> on_event);
  Json answer_validate(Fields& fields, RequestContext& context);
  Json answer_goals(Fields& fields, RequestContext& context);
  // Pieces of work (support/meter.h) that loading one task may take.
  std::size_t max_work() const;

  ServiceOptions options_;
  std::vector<std::unique_ptr<SharedModel>> models_;
  Gate requests_;
  Gate compiling_;
  Gate writing_;  // of goals
  SharedCache<LoadedTask> tasks_;
  SharedCache<Constraint> constraints_;
  Metrics metrics_;
  std::atomic<bool> draining_{false};
};

// A piece of work takes up to about so much memory.
constexpr std::size_t kBytesPerWork = 64;

// Mistakes in a text, as what the client is told.
ApiError from_input_error(const InputError& error, int status, const char* code);

// Whatever was thrown, as what the client is told. `context` says whether its time was up.
ApiError to_api_error(const std::exception_ptr& failure, RequestContext& context);

// Why a request that was cancelled was.
ApiError cancelled_error(const RequestContext& context);

// Server-sent events: `data: {...}`. The response begins with the first one.
class EventStream {
 public:
  explicit EventStream(Exchange& exchange) : exchange_(exchange) {}
  bool begun() const { return begun_; }
  void send(const Json& event);
  void finish();

 private:
  void write(const std::string& text);

  Exchange& exchange_;
  bool begun_ = false;
};

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_SERVICE_H_
