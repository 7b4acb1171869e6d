#include "serve/access.h"

#include <arpa/inet.h>

#include <algorithm>
#include <random>

#include "serve/api_error.h"
#include "support/lower_case.h"

namespace metactrl::serve {

namespace {

// "localhost:8080" -> "localhost", "[::1]:8080" -> "::1"
std::string without_port(const std::string& host) {
  if (host.starts_with('[')) return host.substr(1, std::min(host.find(']'), host.size()) - 1);
  return host.substr(0, host.find(':'));
}

bool names_loopback(const std::string& host) {
  const std::string name = without_port(host);
  if (name == "localhost" || name.ends_with(".localhost") || name == "::1") return true;
  in_addr address{};
  return ::inet_pton(AF_INET, name.c_str(), &address) == 1 && (ntohl(address.s_addr) >> 24U) == 127;
}

}  // namespace

bool equal_in_constant_time(std::string_view given, std::string_view secret) {
  // The comparison goes on past the end of a shorter secret, with itself: there is no early way out.
  unsigned difference = given.size() == secret.size() ? 0U : 1U;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char other = secret.empty() ? '\0' : secret[i % secret.size()];
    difference |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(other);
  }
  return difference == 0;
}

void check_host(const HttpRequest& request, bool loopback_only) {
  const std::string host = internal::lower_case(request.header("host"));
  if (loopback_only && !host.empty() && !names_loopback(host)) {
    throw ApiError(403, "host_not_allowed", "without an API key this service answers to localhost only");
  }
  const std::string origin = internal::lower_case(request.header("origin"));
  if (!origin.empty() && origin != "http://" + host && origin != "https://" + host) {
    throw ApiError(403, "origin_not_allowed", "pages of other sites cannot use this service");
  }
}

void check_key(const HttpRequest& request, const std::string& key) {
  if (key.empty()) return;
  constexpr std::string_view kScheme = "bearer ";
  const std::string_view value = request.header("authorization");
  const bool bearer = value.size() > kScheme.size() && internal::lower_case(value.substr(0, kScheme.size())) == kScheme;
  if (bearer && equal_in_constant_time(value.substr(kScheme.size()), key)) return;
  throw ApiError(
      401, "invalid_api_key",
      value.empty() ? "an API key is needed: Authorization: Bearer KEY" : "the API key is not the right one");
}

void check_content_type(const HttpRequest& request) {
  const std::string type = internal::lower_case(request.header("content-type"));
  if (type == "application/json" || type.starts_with("application/json;")) return;
  throw ApiError(415, "unsupported_media_type", "send Content-Type: application/json");
}

std::string trace_of(const HttpRequest& request) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  // 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
  constexpr std::size_t kAt = 3;
  constexpr std::size_t kLength = 32;
  const std::string_view parent = request.header("traceparent");
  if (parent.size() == 55 && parent.starts_with("00-") && parent[35] == '-' && parent[52] == '-') {
    const std::string_view trace = parent.substr(kAt, kLength);
    const bool digits = trace.find_first_not_of(kDigits) == std::string_view::npos;
    if (digits && trace.find_first_not_of('0') != std::string_view::npos) return std::string(trace);
  }
  static thread_local std::mt19937_64 random(std::random_device{}());
  std::string trace;
  for (std::size_t i = 0; i < kLength; ++i) trace += kDigits[random() % kDigits.size()];
  return trace;
}

}  // namespace metactrl::serve
