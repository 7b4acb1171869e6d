// A state machine over bytes. The head is collected up to its blank line and then taken apart; a body with a length is
// copied as it comes; a chunked body alternates between a line with the chunk's size, the chunk, and its line end.
#include "serve/http_message.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "support/lower_case.h"
#include "support/str_cat.h"

namespace metactrl::serve {

namespace {

using internal::lower_case;
using internal::str_cat;

constexpr std::size_t kMaxHeaders = 100;
constexpr std::size_t kMaxLine = 256;  // of a chunk's size or a trailer

bool is_token_char(char c) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kOthers.find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char); }

bool is_visible(char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Whether a comma-separated header value has the (lower-case) element.
bool lists(std::string_view value, std::string_view element) {
  while (!value.empty()) {
    const std::size_t comma = std::min(value.find(','), value.size());
    if (lower_case(trim(value.substr(0, comma))) == element) return true;
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
  return false;
}

std::optional<std::size_t> parse_number(std::string_view text, int base) {
  std::size_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (failure != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

}  // namespace

std::string_view HttpRequest::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

void RequestReader::fail(int status, std::string message) {
  state_ = State::kFailed;
  failure_ = HttpFailure{status, std::move(message)};
}

std::size_t RequestReader::feed(std::string_view bytes) {
  std::size_t used = 0;
  while (used < bytes.size() && state_ != State::kDone && state_ != State::kFailed) {
    const std::string_view rest = bytes.substr(used);
    switch (state_) {
      case State::kHead:
        used += feed_head(rest);
        break;
      case State::kBody:
        take_body(rest, used, State::kDone);
        break;
      case State::kChunk:
        take_body(rest, used, State::kChunkEnd);
        break;
      case State::kChunkSize:
        if (feed_line(rest, used)) read_chunk_size();
        break;
      case State::kChunkEnd:
        if (feed_line(rest, used)) {
          if (line_.empty()) {
            state_ = State::kChunkSize;
          } else {
            fail(400, "a chunk of the body is longer than its size says");
          }
        }
        break;
      case State::kTrailer:
        if (feed_line(rest, used)) {
          if (line_.empty()) state_ = State::kDone;
          line_.clear();
        }
        break;
      case State::kDone:
      case State::kFailed:
        break;
    }
  }
  return used;
}

std::size_t RequestReader::feed_head(std::string_view bytes) {
  // Line ends before a request are forgiven, as the standard asks.
  std::size_t used = 0;
  if (head_.empty()) {
    while (used < bytes.size() && (bytes[used] == '\r' || bytes[used] == '\n') && line_bytes_ < 4) {
      ++used;
      ++line_bytes_;
    }
    bytes.remove_prefix(used);
  }
  // The blank line may begin in what is there already.
  const std::size_t from = head_.size() < 3 ? 0 : head_.size() - 3;
  const std::size_t before = head_.size();
  head_.append(bytes.substr(0, limits_.head_bytes + 1 - std::min(before, limits_.head_bytes)));
  const std::size_t end = head_.find("\r\n\r\n", from);
  if (end == std::string::npos) {
    if (head_.size() > limits_.head_bytes) {
      fail(431, str_cat("the request's head is longer than ", limits_.head_bytes, " bytes"));
    }
    return used + (head_.size() - before);
  }
  head_.resize(end + 4);
  line_bytes_ = 0;
  read_head();
  return used + (end + 4 - before);
}

void RequestReader::read_head() {
  std::string_view rest(head_);
  bool first = true;
  while (rest != "\r\n") {
    const std::size_t end = rest.find("\r\n");
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 2);
    if (!(first ? read_request_line(line) : read_header(line))) return;
    first = false;
  }
  if (first) {
    fail(400, "the request is empty");
    return;
  }
  read_framing();
}

bool RequestReader::read_request_line(std::string_view line) {
  const std::size_t blank = line.find(' ');
  const std::size_t second = blank == std::string_view::npos ? blank : line.find(' ', blank + 1);
  if (second == std::string_view::npos || line.find(' ', second + 1) != std::string_view::npos) {
    fail(400, "the request line is not 'METHOD TARGET HTTP/1.1'");
    return false;
  }
  const std::string_view version = line.substr(second + 1);
  const std::string_view target = line.substr(blank + 1, second - blank - 1);
  request_.method = line.substr(0, blank);
  if (!is_token(request_.method) || target.empty() || !std::all_of(target.begin(), target.end(), is_visible)) {
    fail(400, "the request line is not 'METHOD TARGET HTTP/1.1'");
    return false;
  }
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    fail(505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
    return false;
  }
  request_.minor_version = version.back() - '0';
  if (target.front() != '/') {
    fail(400, "the target of the request must begin with '/'");
    return false;
  }
  const std::size_t mark = std::min(target.find('?'), target.size());
  request_.path = target.substr(0, mark);
  request_.query = target.substr(std::min(mark + 1, target.size()));
  return true;
}

bool RequestReader::read_header(std::string_view line) {
  const std::size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  // A line that begins with a blank would continue the one before; that was given up long ago.
  if (colon == std::string_view::npos || !is_token(name)) {
    fail(400, "a header is not 'Name: value'");
    return false;
  }
  const std::string_view value = trim(line.substr(colon + 1));
  const bool clean = std::all_of(value.begin(), value.end(), [](char c) {
    return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  });
  if (!clean) {
    fail(400, "a header's value holds a control character");
    return false;
  }
  if (request_.headers.size() == kMaxHeaders) {
    fail(431, str_cat("the request has more than ", kMaxHeaders, " headers"));
    return false;
  }
  request_.headers.emplace_back(lower_case(name), std::string(value));
  return true;
}

// How long is the body? What could be understood in two ways is refused.
void RequestReader::read_framing() {
  std::size_t lengths = 0;
  std::size_t codings = 0;
  std::size_t hosts = 0;
  for (const auto& [name, value] : request_.headers) {
    lengths += name == "content-length" ? 1 : 0;
    codings += name == "transfer-encoding" ? 1 : 0;
    hosts += name == "host" ? 1 : 0;
  }
  const std::string connection = lower_case(request_.header("connection"));
  request_.keep_alive = request_.minor_version == 1 ? !lists(connection, "close") : lists(connection, "keep-alive");
  expects_continue_ = request_.minor_version == 1 && lower_case(request_.header("expect")) == "100-continue";
  if (hosts > 1 || (hosts == 0 && request_.minor_version == 1)) {
    fail(400, "the request needs one Host header");
  } else if (lengths > 1 || codings > 1 || (lengths > 0 && codings > 0)) {
    fail(400, "the length of the body is given twice");
  } else if (codings == 1) {
    if (lower_case(request_.header("transfer-encoding")) != "chunked" || request_.minor_version == 0) {
      fail(501, "the body's only transfer encoding can be 'chunked'");
    } else {
      state_ = State::kChunkSize;
    }
  } else if (lengths == 1) {
    const std::optional<std::size_t> length = parse_number(request_.header("content-length"), 10);
    if (!length) {
      fail(400, "Content-Length is not a number");
    } else if (*length > limits_.body_bytes) {
      fail(413, str_cat("the body has ", *length, " bytes; at most ", limits_.body_bytes, " are accepted"));
    } else {
      left_ = *length;
      state_ = left_ == 0 ? State::kDone : State::kBody;
    }
  } else {
    state_ = State::kDone;
  }
}

bool RequestReader::feed_line(std::string_view bytes, std::size_t& used) {
  for (const char c : bytes) {
    ++used;
    ++line_bytes_;
    line_ += c;
    if (line_.ends_with("\r\n")) {
      line_.resize(line_.size() - 2);
      return true;
    }
    if (line_.size() > kMaxLine || line_bytes_ > limits_.head_bytes + limits_.body_bytes) {
      fail(400, "a line of the chunked body is too long");
      return false;
    }
  }
  return false;
}

void RequestReader::read_chunk_size() {
  const std::string_view text = trim(std::string_view(line_).substr(0, line_.find(';')));
  const std::optional<std::size_t> size = parse_number(text, 16);
  line_.clear();
  if (!size) {
    fail(400, "the size of a chunk is not a number");
  } else if (*size > limits_.body_bytes - request_.body.size()) {
    fail(413, str_cat("the body has more than ", limits_.body_bytes, " bytes"));
  } else {
    left_ = *size;
    state_ = left_ == 0 ? State::kTrailer : State::kChunk;
  }
}

void RequestReader::take_body(std::string_view bytes, std::size_t& used, State then) {
  const std::size_t taken = std::min(bytes.size(), left_);
  request_.body.append(bytes.substr(0, taken));
  left_ -= taken;
  used += taken;
  if (left_ == 0) {
    line_.clear();
    state_ = then;
  }
}

const char* reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Unknown";
  }
}

std::string response_head(int status, const HttpHeaders& headers) {
  std::string out = str_cat("HTTP/1.1 ", status, ' ', reason_phrase(status), "\r\n");
  for (const auto& [name, value] : headers) out += str_cat(name, ": ", value, "\r\n");
  return out + "\r\n";
}

}  // namespace metactrl::serve
