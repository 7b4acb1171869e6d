// An HTTP/1.1 server: a thread per connection, and a bound for everything a peer could spend.
//
//     HttpServer server({.host = "127.0.0.1", .port = 8080}, [&](Exchange& exchange) {
//       exchange.respond(200, "text/plain", "hello " + exchange.request().path);
//     });
//     server.run();          // until stop() is called, from any thread or from a signal handler
//
// Bounds. A request must have arrived whole within `request_seconds` of its first byte, however slowly its bytes
// trickle. A response must make progress: a peer that takes nothing for `write_seconds` is given up. There are at most
// `max_connections`; at that point the connection that has been idle or reading for longest gives way to a new one, so
// that slow peers cannot lock others out. What is refused is answered before the connection is closed.
//
// Draining. stop() closes the door: no new connections, no further requests on old ones. Requests in progress are
// finished; run() returns when they are. After cancel_all(), or `drain_seconds` after stop(), every exchange says that
// its peer is gone, so that handlers stop working.
//
// Handlers run on the connection's thread and may take as long as they like; an exception that leaves one is answered
// with status 500.
#ifndef METACTRL_SRC_SERVE_HTTP_SERVER_H_
#define METACTRL_SRC_SERVE_HTTP_SERVER_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "serve/http_message.h"

namespace metactrl::serve {

struct HttpOptions {
  std::string host = "127.0.0.1";
  unsigned port = 8080;  // 0: any that is free
  HttpLimits limits;
  std::size_t max_connections = 256;
  double request_seconds = 10;
  double idle_seconds = 30;
  double write_seconds = 10;
  double drain_seconds = 30;
};

// Whether every address of a host name is one that only this machine can reach. Throws InputError for a host that does
// not exist.
bool is_loopback(const std::string& host);

// One request and its response. Used by one thread.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual HttpRequest& request() = 0;
  // Goes with the response, whichever it is, if it was not begun.
  virtual void add_header(std::string /*name*/, std::string /*value*/) {}
  // The whole response. Only the first one of an exchange is sent. False when the peer is gone.
  virtual bool respond(int status, const std::string& content_type, std::string_view body,
                       const HttpHeaders& headers = {}) = 0;
  // A response whose length nobody knows yet: its head, then portions, then the end. False when the peer is gone or
  // takes nothing; the rest is then not sent.
  virtual bool begin_stream(const std::string& content_type, const HttpHeaders& headers = {}) = 0;
  virtual bool write(std::string_view bytes) = 0;
  virtual bool end_stream() = 0;
  virtual bool responded() const = 0;
  // The status that was sent; 0 when none was.
  virtual int status() const = 0;
  // The peer has closed the connection, or the server no longer waits. Costs a system call.
  virtual bool gone() = 0;
};

class HttpServer {
 public:
  using Handler = std::function<void(Exchange&)>;
  // Writes the body of a refusal: a request that could not be read, too many connections.
  using Refusal = std::function<std::string(int status, const std::string& message)>;

  // Binds and listens. Throws InputError when that is not possible.
  HttpServer(HttpOptions options, Handler handler, Refusal refusal);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  unsigned port() const { return port_; }
  void run();
  // May be called from a signal handler, and more than once.
  void stop() noexcept;
  void cancel_all() noexcept;
  bool draining() const { return draining_; }
  std::size_t num_connections() const;

 private:
  class Connection;
  friend class Connection;
  using Clock = std::chrono::steady_clock;
  struct Entry {
    int socket = -1;
    bool reading = true;  // no request is being worked on
    Clock::time_point since;
  };

  void accept_one();
  bool make_room();
  void refuse(int socket) const;
  void serve(int socket, std::uint64_t id);
  void set_reading(std::uint64_t id, bool reading);
  void close_idle();

  HttpOptions options_;
  Handler handler_;
  Refusal refusal_;
  int listener_ = -1;
  int wake_ = -1;  // an eventfd: stop() was called
  unsigned port_ = 0;
  std::atomic<bool> draining_{false};
  std::atomic<bool> cancelled_{false};

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, Entry> connections_;
  std::uint64_t next_id_ = 0;
};

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_HTTP_SERVER_H_
