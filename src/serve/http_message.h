// HTTP/1.1 messages: reading requests from bytes, writing the head of responses. No sockets here.
//
//     RequestReader reader({.head_bytes = 16384, .body_bytes = 1 << 20});
//     while (!reader.done() && !reader.failure()) reader.feed(more_bytes());
//     use(reader.request());
//
// Only what a service needs is understood, and everything else is refused with the status that says so: methods are
// tokens, targets begin with '/', header names and values hold no control characters, lines end in CRLF, a body has one
// Content-Length or is chunked, never both. What is read is bounded from the first byte on, so a request costs at most
// head_bytes + body_bytes of memory whatever the peer sends. Bytes may arrive in any portions.
#ifndef METACTRL_SRC_SERVE_HTTP_MESSAGE_H_
#define METACTRL_SRC_SERVE_HTTP_MESSAGE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace metactrl::serve {

struct HttpLimits {
  std::size_t head_bytes = std::size_t{16} << 10;
  std::size_t body_bytes = std::size_t{1} << 20;
};

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method;
  std::string path;  // without the query, as it was sent: nothing is unescaped
  std::string query;
  int minor_version = 1;
  HttpHeaders headers;  // names in lower case
  std::string body;
  bool keep_alive = true;

  // The value of the first header of that name (lower case); empty when there is none.
  std::string_view header(std::string_view name) const;
};

// Why a request cannot be read.
struct HttpFailure {
  int status = 400;
  std::string message;
};

class RequestReader {
 public:
  explicit RequestReader(const HttpLimits& limits) : limits_(limits) {}

  // Takes bytes up to the end of the request and returns how many; the rest belongs to the next one.
  std::size_t feed(std::string_view bytes);

  bool done() const { return state_ == State::kDone; }
  const std::optional<HttpFailure>& failure() const { return failure_; }
  // Nothing has arrived yet.
  bool empty() const { return state_ == State::kHead && head_.empty(); }
  // The head has been read, a body is to come, and the peer waits to be told "100 Continue".
  bool wants_continue() const { return expects_continue_ && !done() && !failure_ && state_ != State::kHead; }
  HttpRequest& request() { return request_; }

 private:
  enum class State { kHead, kBody, kChunkSize, kChunk, kChunkEnd, kTrailer, kDone, kFailed };

  void fail(int status, std::string message);
  std::size_t feed_head(std::string_view bytes);
  // Reads a line into line_; true when it is complete.
  bool feed_line(std::string_view bytes, std::size_t& used);
  void read_head();
  bool read_request_line(std::string_view line);
  bool read_header(std::string_view line);
  void read_framing();
  void read_chunk_size();
  void take_body(std::string_view bytes, std::size_t& used, State then);

  HttpLimits limits_;
  State state_ = State::kHead;
  std::string head_;
  std::string line_;
  std::size_t line_bytes_ = 0;  // of chunk sizes and trailers altogether
  std::size_t left_ = 0;        // of the body, or of the chunk
  bool expects_continue_ = false;
  HttpRequest request_;
  std::optional<HttpFailure> failure_;
};

const char* reason_phrase(int status);
// The status line and headers, the blank line included. `headers` must not hold line ends.
std::string response_head(int status, const HttpHeaders& headers);

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_HTTP_MESSAGE_H_
