// A small HTTP client for tests of the service: requests as they should be, and bytes as they should not.
#ifndef METACTRL_TESTS_SUPPORT_HTTP_CLIENT_H_
#define METACTRL_TESTS_SUPPORT_HTTP_CLIENT_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace metactrl::testing {

struct HttpResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  nlohmann::json json() const { return nlohmann::json::parse(body); }
  std::string code() const { return json().at("error").at("code").get<std::string>(); }
  // The objects of a stream of server-sent events, without the [DONE] at the end.
  std::vector<nlohmann::json> events() const {
    std::vector<nlohmann::json> out;
    std::size_t at = 0;
    while ((at = body.find("data: ", at)) != std::string::npos) {
      const std::size_t end = body.find("\n\n", at);
      const std::string text = body.substr(at + 6, end - at - 6);
      if (text != "[DONE]") out.push_back(nlohmann::json::parse(text));
      at = end;
    }
    return out;
  }
  bool done() const { return body.ends_with("data: [DONE]\n\n"); }
};

// One connection. Every wait ends after a minute with an exception.
class HttpClient {
 public:
  explicit HttpClient(unsigned port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
      ::close(socket_);
      throw std::runtime_error("cannot connect");
    }
  }
  ~HttpClient() { close(); }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }
  // False when the other side has closed the connection.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
  // Whether there is something to receive, the end included; waits so long for it.
  bool readable(int milliseconds) const {
    if (!pending_.empty()) return true;
    pollfd entry{socket_, POLLIN, 0};
    return ::poll(&entry, 1, milliseconds) > 0;
  }
  // The next bytes; empty at the end.
  std::string receive() {
    if (!pending_.empty()) return std::exchange(pending_, {});
    pollfd entry{socket_, POLLIN, 0};
    if (::poll(&entry, 1, 60'000) <= 0) throw std::runtime_error("the server says nothing");
    std::array<char, 65536> buffer;
    const ssize_t count = ::recv(socket_, buffer.data(), buffer.size(), 0);
    return count <= 0 ? std::string() : std::string(buffer.data(), static_cast<std::size_t>(count));
  }
  // Receives until the text has been seen; what came before it, and it.
  std::string receive_until(const std::string& text) {
    std::string all;
    while (all.find(text) == std::string::npos) {
      const std::string more = receive();
      if (more.empty()) return all;
      all += more;
    }
    const std::size_t end = all.find(text) + text.size();
    pending_ = all.substr(end);
    all.resize(end);
    return all;
  }
  HttpResponse response() {
    HttpResponse out;
    const std::string head = receive_until("\r\n\r\n");
    if (head.size() < 12) return out;
    out.status = std::atoi(head.substr(9, 3).c_str());
    std::size_t at = head.find("\r\n") + 2;
    while (at + 2 < head.size()) {
      const std::size_t end = head.find("\r\n", at);
      const std::string line = head.substr(at, end - at);
      std::string name = line.substr(0, line.find(':'));
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      out.headers[name] = line.substr(std::min(line.find(':') + 2, line.size()));
      at = end + 2;
    }
    if (out.status == 100) return response();
    if (out.headers.contains("content-length")) {
      const std::size_t length = std::stoul(out.headers["content-length"]);
      while (out.body.size() < length) {
        const std::string more = receive();
        if (more.empty()) return out;
        out.body += more;
      }
      pending_ = out.body.substr(length);
      out.body.resize(length);
    } else {
      while (true) {
        const std::string line = receive_until("\r\n");
        const std::size_t size = std::strtoul(line.c_str(), nullptr, 16);
        if (line.empty() || size == 0) break;
        std::string chunk;
        while (chunk.size() < size + 2) {
          const std::string more = receive();
          if (more.empty()) return out;
          chunk += more;
        }
        pending_ = chunk.substr(size + 2);
        out.body += chunk.substr(0, size);
      }
      receive_until("\r\n");
    }
    return out;
  }

  static std::string post(const std::string& path, const std::string& body,
                          const std::string& headers = "Content-Type: application/json\r\n") {
    return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  static std::string get(const std::string& path, const std::string& headers = "") {
    return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
  }

 private:
  int socket_;
  std::string pending_;
};

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_HTTP_CLIENT_H_
