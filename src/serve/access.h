// Who may ask.
#ifndef METACTRL_SRC_SERVE_ACCESS_H_
#define METACTRL_SRC_SERVE_ACCESS_H_

#include <string>
#include <string_view>

#include "serve/http_message.h"

namespace metactrl::serve {

// Takes the same time wherever the two differ; the time depends on the length of `given` alone.
bool equal_in_constant_time(std::string_view given, std::string_view secret);

// All throw ApiError.

// A page on another site must not use this service through a visitor's browser: its origin must be this host. Without a
// key the host must be called by a name of the loopback interface, so that no name of theirs can be pointed at it.
void check_host(const HttpRequest& request, bool loopback_only);
// `Authorization: Bearer KEY`; nothing is asked for when the key is empty.
void check_key(const HttpRequest& request, const std::string& key);
// Only application/json: a browser asks first before it sends that to another site.
void check_content_type(const HttpRequest& request);

// What a request is called in logs: the trace of its `traceparent` header, where it has a right one (W3C Trace Context),
// otherwise one that is made up.
std::string trace_of(const HttpRequest& request);

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_ACCESS_H_
