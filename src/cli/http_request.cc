// curl writes the answer's head and body to its standard output, one behind the other (--include). The head is cut off
// here, so that it is known what the body is before its first byte is used: a part of a file, a whole one, or a page
// that says why not.
#include "cli/http_request.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "cli/common.h"
#include "metactrl/error.h"
#include "support/child_process.h"
#include "support/lower_case.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

constexpr int kMostRedirects = 8;
constexpr std::size_t kMostHead = std::size_t{1} << 18U;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

bool is_file(std::string_view address) { return address.starts_with("file://"); }

// "https://example.org:8080", in lower case, without a user's name.
std::string origin(std::string_view address) {
  const std::size_t colon = address.find("://");
  if (colon == std::string_view::npos) return {};
  const std::size_t begin = colon + 3;
  std::string_view host = address.substr(begin, address.find_first_of("/?#", begin) - begin);
  if (const std::size_t at = host.rfind('@'); at != std::string_view::npos) host.remove_prefix(at + 1);
  return internal::lower_case(str_cat(address.substr(0, begin), host));
}

bool is_this_machine(std::string_view address) {
  std::string host = origin(address);
  host.erase(0, host.find("://") + 3);
  if (const std::size_t port = host.rfind(':'); port != std::string::npos && !host.ends_with(']')) host.resize(port);
  return host == "127.0.0.1" || host == "localhost" || host == "[::1]";
}

// A value in a file of curl's options.
std::string option_value(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"\n";
}

std::string options_for(const HttpRequest& request, const std::string& address) {
  const std::string scheme = address.substr(0, address.find(':'));
  std::string text =
      str_cat("url = ", option_value(address), "proto = ", option_value("=" + scheme), "globoff\n", "silent\n",
              "show-error\n", "no-buffer\n", "connect-timeout = 30\n",
              // A minute without a byte is a connection that was lost.
              "speed-limit = 1\n", "speed-time = 60\n", "user-agent = ", option_value("metactrl/" METACTRL_VERSION));
  if (is_file(address)) return text;
  text += "include\nsuppress-connect-headers\n";
  for (const std::string& header : request.headers) text += "header = " + option_value(header);
  if (!request.token.empty() && origin(address) == origin(request.address)) {
    text += "header = " + option_value("Authorization: Bearer " + request.token);
  }
  return text;
}

// "HTTP/1.1 206 Partial Content" and the fields below it.
HttpHead parse_head(std::string_view text) {
  HttpHead head;
  bool first = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (first) {
      const std::size_t blank = std::min(line.find(' '), line.size());
      const std::string_view status = trimmed(line.substr(blank));
      std::from_chars(status.data(), status.data() + status.size(), head.status);
      first = false;
    } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
      head.fields[internal::lower_case(line.substr(0, colon))] = std::string(trimmed(line.substr(colon + 1)));
    }
  }
  return head;
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// Cuts the head off what curl writes.
class Splitter {
 public:
  Splitter(const HttpReader& reader, HttpHead& head, bool has_head)
      : reader_(reader), head_(head), in_body_(!has_head) {}

  void take(std::string_view piece) {
    if (in_body_) return body(piece);
    text_ += piece;
    while (!in_body_) {
      const std::size_t unix_end = text_.find("\n\n");
      const std::size_t http_end = text_.find("\r\n\r\n");
      const std::size_t end = std::min(unix_end, http_end);
      if (end == std::string::npos) {
        if (text_.size() > kMostHead) throw InputError("curl", "an answer's head is longer than any should be");
        return;
      }
      HttpHead head = parse_head(std::string_view(text_).substr(0, end));
      text_.erase(0, end + (end == http_end ? 4 : 2));
      if (head.status >= 100 && head.status < 200) continue;  // the answer is still to come
      // What the first host said about the file (its size, its checksum) holds for where it sends us.
      for (const auto& [name, value] : head_.fields) {
        if (name.starts_with("x-")) head.fields.emplace(name, value);
      }
      head_ = std::move(head);
      in_body_ = true;
      if (!is_redirect(head_.status) && reader_.begin) reader_.begin(head_);
    }
    if (!text_.empty()) body(text_);
    text_.clear();
  }

 private:
  void body(std::string_view piece) const {
    if (!is_redirect(head_.status) && reader_.take) reader_.take(piece);
  }

  const HttpReader& reader_;
  HttpHead& head_;
  bool in_body_;
  std::string text_;
};

std::string redirected(const std::string& address, const std::string& location) {
  std::string to = location;
  if (location.starts_with("//")) {
    to = address.substr(0, address.find("//")) + location;
  } else if (location.starts_with('/')) {
    to = origin(address) + location;
  }
  const bool safe = to.starts_with("https://") ||
                    (to.starts_with("http://") && address.starts_with("http://") && is_this_machine(to));
  if (!safe || to.find_first_of("\"\\\r\n ") != std::string::npos) {
    throw InputError(shown_address(address),
                     str_cat("sends us on to '", shown_address(to), "', which is no address with https://"),
                     "check the address");
  }
  return to;
}

}  // namespace

std::string HttpHead::field(const std::string& name) const {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string() : found->second;
}

bool HttpResult::succeeded() const {
  return curl == 0 && (head.status == 0 || (head.status >= 200 && head.status < 300));
}

bool HttpResult::unreachable() const {
  constexpr int kNoProxy = 5;
  constexpr int kNoHost = 6;
  constexpr int kNoConnection = 7;
  return curl == kNoProxy || curl == kNoHost || curl == kNoConnection;
}

bool HttpResult::may_pass() const {
  if (curl == 0) return head.status == 408 || head.status == 429 || head.status >= 500;
  // Cut short, timed out, TLS did not come about, an empty answer, sending or receiving failed, HTTP/2 or 3 broke.
  for (const int code : {16, 18, 28, 35, 52, 55, 56, 92, 95, 96}) {
    if (curl == code) return true;
  }
  return unreachable();
}

std::string HttpResult::reason() const {
  if (curl == 0) return str_cat("the server answered ", head.status);
  std::string text = errors;
  if (const std::size_t end = text.find(") "); text.starts_with("curl: (") && end != std::string::npos) {
    text.erase(0, end + 2);
  }
  if (text.empty()) return str_cat("curl ended with code ", curl);
  if (text[0] >= 'A' && text[0] <= 'Z' && text.size() > 1 && text[1] >= 'a') text[0] = internal::lower_case(text)[0];
  return text;
}

HttpResult http_get(const HttpRequest& request, const HttpReader& reader) {
  HttpResult result;
  std::string address = request.address;
  for (int redirects = 0; redirects <= kMostRedirects; ++redirects) {
    Splitter splitter(reader, result.head, !is_file(address));
    result.head.status = 0;
    internal::ChildOptions options;
    options.in = options_for(request, address);
    options.out = [&](std::string_view piece) { splitter.take(piece); };
    const internal::ChildResult child = internal::run_child({"curl", "-q", "--config", "-"}, options);
    result.curl = child.code;
    result.errors = child.errors;
    const std::string location = result.head.field("location");
    if (result.curl != 0 || !is_redirect(result.head.status) || location.empty()) return result;
    address = redirected(address, location);
  }
  throw InputError(shown_address(request.address), "sends us round in circles", "check the address");
}

void check_address(const std::string& address, const std::string& what, bool files) {
  const auto is_odd = [](char c) { return c <= ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>'; };
  if (std::any_of(address.begin(), address.end(), is_odd)) {
    throw UsageError(str_cat(what, " has a character that no address has; write it as %XX"));
  }
  const bool has_host = origin(address).size() > origin(address).find("://") + 3;
  if (address.starts_with("https://") && has_host) return;
  if (files && is_file(address)) return;
  if (address.starts_with("http://") && is_this_machine(address)) return;
  throw UsageError(str_cat(what, " is '", shown_address(address), "'; such an address begins with https://",
                           files ? " or file://" : "", ", or with http:// and this machine's own name"));
}

std::string shown_address(const std::string& address) {
  const std::string start = origin(address);
  if (start.empty()) return address.substr(0, address.find('?'));
  const std::size_t path = address.find('/', address.find("://") + 3);
  return path == std::string::npos ? start : start + address.substr(path, address.find_first_of("?#", path) - path);
}

std::string encoded_path(std::string_view path) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-~/@+=,";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    if (kPlain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return out;
}

}  // namespace metactrl::cli
