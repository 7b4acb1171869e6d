// One request to a web server, made by the program curl.
//
//     HttpRequest request;
//     request.address = "https://example.org/list.json";
//     std::string text;
//     const auto take = [&](std::string_view piece) { text += piece; };
//     const HttpResult result = http_get(request, {.begin = {}, .take = take});
//     if (result.succeeded()) ...
//
// Addresses, tokens and headers reach curl through its standard input: lists of processes do not show them. Redirects
// are followed here and not by curl, so that it is certain who is told the token. curl's own settings (~/.curlrc) are
// not read; a proxy is taken from the environment (https_proxy, no_proxy), as curl does. Thread safety: calls are
// independent of each other.
#ifndef METACTRL_SRC_CLI_HTTP_REQUEST_H_
#define METACTRL_SRC_CLI_HTTP_REQUEST_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace metactrl::cli {

struct HttpRequest {
  std::string address;
  std::string token;                 // "Authorization: Bearer ...", for the address's own host alone
  std::vector<std::string> headers;  // "Range: bytes=5-"
};

// What stands in front of an answer's body.
struct HttpHead {
  int status = 0;                             // 0: none came, or the address is a file's
  std::map<std::string, std::string> fields;  // names in lower case

  std::string field(const std::string& name) const;
};

struct HttpResult {
  HttpHead head;       // of the last answer; what earlier ones said beyond that is kept, too
  int curl = 0;        // curl's exit code; 127 when it is not installed
  std::string errors;  // what curl said

  bool succeeded() const;
  // It may go better another time: the connection failed or was cut, or the server has too much to do.
  bool may_pass() const;
  // No server was reached at all.
  bool unreachable() const;
  // "the server answered 503", "could not resolve host: example.org"
  std::string reason() const;
};

// May throw: then the request is ended.
struct HttpReader {
  std::function<void(const HttpHead&)> begin;       // once, before the body; not called for redirects
  std::function<void(std::string_view)> take = {};  // the body, piece by piece
};

// Throws InputError for redirects that lead nowhere, or from https:// to something else.
HttpResult http_get(const HttpRequest& request, const HttpReader& reader);

// Throws UsageError unless the address is of a kind that may be asked: https://, file:// where `files` says so, and
// http:// on this very machine. `what` names the address in the message.
void check_address(const std::string& address, const std::string& what, bool files = false);
// For messages: without a password, and without what follows a question mark, which may be a key.
std::string shown_address(const std::string& address);
// One segment of a path or several: everything that could mean something else in an address becomes %XX.
std::string encoded_path(std::string_view path);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_HTTP_REQUEST_H_
