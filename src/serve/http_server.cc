// Sockets are never blocking: every wait is a poll with a deadline. The list of connections knows which of them are
// working on a request; the others may be shut down at any time, to make room or to drain. A connection's socket is
// closed only after it has left the list, so nobody shuts down a number that has a new owner.
//
// A refused peer may still be sending. Closing at once would make its system throw away the answer, so the connection
// is closed in one direction, and what still comes is read and dropped for a moment.
#include "serve/http_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <thread>
#include <utility>

#include "metactrl/error.h"
#include "support/str_cat.h"

namespace metactrl::serve {

namespace {

using internal::str_cat;
using Clock = std::chrono::steady_clock;

constexpr double kLingerSeconds = 5;
constexpr std::size_t kLingerBytes = std::size_t{128} << 20;
constexpr auto kRoomWait = std::chrono::milliseconds(200);
// A connection that has only just begun to speak is not made to give way.
constexpr auto kPatience = std::chrono::milliseconds(500);

Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

// Waits for one of `events`; false when the deadline passes first.
bool wait_for(int socket, short events, Clock::time_point deadline) {
  while (true) {
    pollfd entry{socket, events, 0};
    const int ready = ::poll(&entry, 1, milliseconds_until(deadline));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
    if (ready == 0 && Clock::now() >= deadline) return false;
  }
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Addresses resolve(const std::string& host, unsigned port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* list = nullptr;
  const int failure = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (failure != 0) {
    throw InputError("--host " + host, str_cat("is no address of this machine (", ::gai_strerror(failure), ")"),
                     "use 127.0.0.1, ::1, 0.0.0.0 or a name that resolves here");
  }
  return Addresses(list);
}

bool is_loopback(const addrinfo& address) {
  if (address.ai_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, address.ai_addr, sizeof(in));
    return (ntohl(in.sin_addr.s_addr) >> 24U) == 127;
  }
  if (address.ai_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, address.ai_addr, sizeof(in));
    return IN6_IS_ADDR_LOOPBACK(&in.sin6_addr);
  }
  return false;
}

int listen_at(const addrinfo& address) {
  const int socket = ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return -1;
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (::bind(socket, address.ai_addr, address.ai_addrlen) == 0 && ::listen(socket, 128) == 0) return socket;
  const int error = errno;
  ::close(socket);
  errno = error;
  return -1;
}

unsigned port_of(int socket) {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return 0;
  std::uint16_t port = 0;  // at the same place for both families
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  std::memcpy(&port, reinterpret_cast<const char*>(&storage) + offsetof(sockaddr_in, sin_port), sizeof(port));
  return ntohs(port);
}

void linger(int socket) {
  ::shutdown(socket, SHUT_WR);
  const Clock::time_point deadline = after(kLingerSeconds);
  std::array<char, 65536> buffer;
  std::size_t dropped = 0;
  while (dropped < kLingerBytes && wait_for(socket, POLLIN, deadline)) {
    const ssize_t count = ::recv(socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return;
    dropped += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
}

}  // namespace

bool is_loopback(const std::string& host) {
  const Addresses list = resolve(host, 0);
  for (const addrinfo* address = list.get(); address != nullptr; address = address->ai_next) {
    if (!is_loopback(*address)) return false;
  }
  return true;
}

// --- one connection --------------------------------------------------------------------------------------------------

class HttpServer::Connection : public Exchange {
 public:
  Connection(HttpServer& server, int socket, std::uint64_t id) : server_(server), socket_(socket), id_(id) {}

  // Requests, one after the other, until one side has had enough.
  void run() {
    std::string pending;
    bool again = true;
    while (again && !server_.draining_) {
      RequestReader reader(server_.options_.limits);
      // What was before must not decide how this one is refused.
      request_ = {};
      added_.clear();
      status_ = 0;
      server_.set_reading(id_, true);
      if (!read(reader, pending)) return;
      server_.set_reading(id_, false);
      if (reader.failure()) {
        refuse(reader.failure()->status, reader.failure()->message);
        return;
      }
      request_ = std::move(reader.request());
      again = request_.keep_alive;
      answer();
      again = again && !broken_ && !must_close_;
    }
  }

  HttpRequest& request() override { return request_; }
  void add_header(std::string name, std::string value) override {
    added_.emplace_back(std::move(name), std::move(value));
  }
  bool responded() const override { return status_ != 0; }
  int status() const override { return status_; }

  bool respond(int status, const std::string& content_type, std::string_view body,
               const HttpHeaders& headers) override {
    if (responded()) return false;
    HttpHeaders all = head(content_type, headers);
    all.emplace_back("Content-Length", std::to_string(body.size()));
    std::string out = response_head(status, all);
    if (request_.method != "HEAD") out += body;
    status_ = status;
    return send(out);
  }

  bool begin_stream(const std::string& content_type, const HttpHeaders& headers) override {
    if (responded()) return false;
    chunked_ = request_.minor_version == 1;
    must_close_ = must_close_ || !chunked_;
    HttpHeaders all = head(content_type, headers);
    all.emplace_back("Cache-Control", "no-store");
    if (chunked_) all.emplace_back("Transfer-Encoding", "chunked");
    const std::string out = response_head(200, all);
    status_ = 200;
    return send(out);
  }

  bool write(std::string_view bytes) override {
    if (bytes.empty()) return !broken_;
    if (!chunked_) return send(bytes);
    std::array<char, 16> size{};
    const int length = std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
    return send(std::string(size.data(), static_cast<std::size_t>(length)) + std::string(bytes) + "\r\n");
  }

  bool end_stream() override { return chunked_ ? send("0\r\n\r\n") : !broken_; }

  bool gone() override {
    if (broken_ || server_.cancelled_) return true;
    pollfd entry{socket_, POLLIN | POLLRDHUP, 0};
    if (::poll(&entry, 1, 0) <= 0) return false;
    if ((entry.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0) broken_ = true;
    return broken_;
  }

  // Answers with a refusal and ends the connection.
  void refuse(int status, const std::string& message) {
    must_close_ = true;
    respond(status, "application/json", server_.refusal_(status, message), {});
    server_.set_reading(id_, true);  // so that it gives way to others
    linger(socket_);
  }

 private:
  // False: there is no further request.
  bool read(RequestReader& reader, std::string& pending) {
    Clock::time_point deadline =
        after(pending.empty() ? server_.options_.idle_seconds : server_.options_.request_seconds);
    bool begun = !pending.empty();
    std::array<char, 16384> buffer;
    while (true) {
      if (!pending.empty()) {
        pending.erase(0, reader.feed(pending));
        if (reader.done() || reader.failure()) return true;
        pending.clear();
      }
      if (reader.wants_continue() && !std::exchange(continued_, true)) send("HTTP/1.1 100 Continue\r\n\r\n");
      if (!wait_for(socket_, POLLIN, deadline)) {
        if (reader.empty()) return false;
        refuse(408, "the request did not arrive in time");
        return false;
      }
      const ssize_t count = ::recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (count <= 0) return false;
      if (!std::exchange(begun, true)) deadline = after(server_.options_.request_seconds);
      pending.assign(buffer.data(), static_cast<std::size_t>(count));
    }
  }

  void answer() {
    continued_ = false;
    chunked_ = false;
    try {
      server_.handler_(*this);
    } catch (const std::exception& error) {
      if (!responded()) refuse(500, str_cat("internal error: ", error.what()));
      must_close_ = true;
    }
    if (!responded()) refuse(500, "internal error: the request was not answered");
  }

  HttpHeaders head(const std::string& content_type, const HttpHeaders& headers) const {
    HttpHeaders all = {{"Content-Type", content_type}, {"X-Content-Type-Options", "nosniff"}};
    all.insert(all.end(), headers.begin(), headers.end());
    all.insert(all.end(), added_.begin(), added_.end());
    const bool close = must_close_ || !request_.keep_alive || server_.draining_;
    all.emplace_back("Connection", close ? "close" : "keep-alive");
    return all;
  }

  bool send(std::string_view bytes) {
    Clock::time_point deadline = after(server_.options_.write_seconds);
    while (!bytes.empty() && !broken_) {
      const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count > 0) {
        bytes.remove_prefix(static_cast<std::size_t>(count));
      } else if (count < 0 && errno == EAGAIN) {
        // Not renewed by progress: a portion is small, and a peer that nibbles at it is as good as gone.
        broken_ = server_.cancelled_ || !wait_for(socket_, POLLOUT, deadline);
      } else if (count >= 0 || errno != EINTR) {
        broken_ = true;
      }
    }
    return !broken_;
  }

  HttpServer& server_;
  int socket_;
  std::uint64_t id_;
  HttpRequest request_;
  HttpHeaders added_;
  int status_ = 0;
  bool chunked_ = false;
  bool continued_ = false;
  bool broken_ = false;
  bool must_close_ = false;
};

// --- the server ------------------------------------------------------------------------------------------------------

HttpServer::HttpServer(HttpOptions options, Handler handler, Refusal refusal)
    : options_(std::move(options)), handler_(std::move(handler)), refusal_(std::move(refusal)) {
  const Addresses list = resolve(options_.host, options_.port);
  for (const addrinfo* address = list.get(); address != nullptr && listener_ < 0; address = address->ai_next) {
    listener_ = listen_at(*address);
  }
  if (listener_ < 0) {
    throw InputError(str_cat(options_.host, ':', options_.port),
                     str_cat("cannot be listened at: ", std::strerror(errno)), "choose another port or host");
  }
  port_ = port_of(listener_);
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_ < 0) throw std::runtime_error(str_cat("no eventfd: ", std::strerror(errno)));
}

HttpServer::~HttpServer() {
  stop();
  cancel_all();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return connections_.empty(); });
  if (listener_ >= 0) ::close(listener_);
  ::close(wake_);
}

void HttpServer::stop() noexcept {
  draining_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof(one));
}

void HttpServer::cancel_all() noexcept { cancelled_ = true; }

std::size_t HttpServer::num_connections() const {
  const std::scoped_lock lock(mutex_);
  return connections_.size();
}

void HttpServer::run() {
  while (!draining_) {
    std::array<pollfd, 2> entries = {pollfd{listener_, POLLIN, 0}, pollfd{wake_, POLLIN, 0}};
    const int ready = ::poll(entries.data(), entries.size(), -1);
    if (ready > 0 && (entries[0].revents & POLLIN) != 0 && !draining_) accept_one();
  }
  // Whoever knocks from now on is turned away by the system.
  ::close(std::exchange(listener_, -1));
  close_idle();
  std::unique_lock lock(mutex_);
  const auto all_gone = [this] { return connections_.empty(); };
  const Clock::time_point deadline = after(options_.drain_seconds);
  while (!all_gone() && !cancelled_ && Clock::now() < deadline) {
    changed_.wait_for(lock, std::chrono::milliseconds(100), all_gone);
  }
  cancelled_ = true;
  changed_.wait(lock, all_gone);
}

void HttpServer::accept_one() {
  const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket < 0) {
    // Out of descriptors or memory: a moment's rest instead of a loop at full speed.
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) std::this_thread::sleep_for(kRoomWait);
    return;
  }
  const int yes = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  if (!make_room()) {
    refuse(socket);
    return;
  }
  std::uint64_t id = 0;
  try {
    {
      const std::scoped_lock lock(mutex_);
      id = next_id_++;
      connections_[id] = {socket, true, Clock::now()};
    }
    std::thread([this, socket, id] { serve(socket, id); }).detach();
  } catch (const std::exception&) {  // no thread or no memory: this one is refused, the others are served on
    {
      const std::scoped_lock lock(mutex_);
      connections_.erase(id);
    }
    refuse(socket);
  }
}

bool HttpServer::make_room() {
  std::unique_lock lock(mutex_);
  if (connections_.size() < options_.max_connections) return true;
  const Entry* oldest = nullptr;
  for (const auto& [id, entry] : connections_) {
    if (entry.reading && (oldest == nullptr || entry.since < oldest->since)) oldest = &entry;
  }
  if (oldest == nullptr || Clock::now() - oldest->since < kPatience) return false;
  ::shutdown(oldest->socket, SHUT_RDWR);
  return changed_.wait_for(lock, kRoomWait, [this] { return connections_.size() < options_.max_connections; });
}

void HttpServer::refuse(int socket) const {
  try {
    const std::string body = refusal_(503, "too many connections");
    const std::string out = response_head(503, {{"Content-Type", "application/json"},
                                                {"Content-Length", std::to_string(body.size())},
                                                {"Retry-After", "1"},
                                                {"Connection", "close"}}) +
                            body;
    [[maybe_unused]] const ssize_t sent = ::send(socket, out.data(), out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  } catch (const std::bad_alloc&) {
    // Then it is closed without a word.
  }
  ::shutdown(socket, SHUT_WR);
  ::close(socket);
}

void HttpServer::serve(int socket, std::uint64_t id) {
  try {
    Connection(*this, socket, id).run();
  } catch (const std::exception&) {
    // Out of memory while reading: this connection ends, the others do not.
  }
  const std::scoped_lock lock(mutex_);
  connections_.erase(id);
  ::close(socket);
  // Under the lock: the server may be destroyed as soon as it is released.
  changed_.notify_all();
}

void HttpServer::set_reading(std::uint64_t id, bool reading) {
  const std::scoped_lock lock(mutex_);
  const auto entry = connections_.find(id);
  if (entry == connections_.end()) return;
  entry->second.reading = reading;
  entry->second.since = Clock::now();
  // Draining began just before: close_idle has not seen it.
  if (reading && draining_) ::shutdown(entry->second.socket, SHUT_RD);
}

void HttpServer::close_idle() {
  const std::scoped_lock lock(mutex_);
  for (const auto& [id, entry] : connections_) {
    if (entry.reading) ::shutdown(entry.socket, SHUT_RD);
  }
}

}  // namespace metactrl::serve
