// tests/support/fake_hub.py as an object: a hub of its own for each test, which ends with it.
#ifndef METACTRL_TESTS_SUPPORT_FAKE_HUB_H_
#define METACTRL_TESTS_SUPPORT_FAKE_HUB_H_

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/test_data.h"

namespace metactrl::testing {

class FakeHub {
 public:
  explicit FakeHub(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    const std::string script = (source_dir() / "tests/support/fake_hub.py").string();
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      ::execlp("python3", "python3", script.c_str(), folder_.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    input_ = in[1];
    std::FILE* answer = ::fdopen(out[0], "r");
    const int read = std::fscanf(answer, "%d %d", &port_, &cdn_port_);
    std::fclose(answer);
    if (read != 2) throw std::runtime_error("the hub does not start; is python3 there?");
  }
  FakeHub(const FakeHub&) = delete;
  FakeHub& operator=(const FakeHub&) = delete;
  ~FakeHub() {
    ::close(input_);
    ::waitpid(process_, nullptr, 0);
  }

  std::string address() const { return "http://127.0.0.1:" + std::to_string(port_); }

  void publish(const std::string& path, const std::string& content) const { put("repos/" + path, content); }
  void publish_plain(const std::string& path, const std::string& content) const { put("plain/" + path, content); }
  void rules(const nlohmann::json& rules) const { put("rules.json", rules.dump()); }
  // What a rule's `hold` waits for.
  void release(const std::string& name) const { put(name, ""); }

  // The requests so far, of one server or of both.
  std::vector<nlohmann::json> log(const std::string& server = "") const {
    std::ifstream file(folder_ / "log");
    std::vector<nlohmann::json> requests;
    for (std::string line; std::getline(file, line);) {
      const nlohmann::json request = nlohmann::json::parse(line);
      if (server.empty() || request["server"] == server) requests.push_back(request);
    }
    return requests;
  }
  void clear_log() const { std::filesystem::remove(folder_ / "log"); }

 private:
  void put(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    // All at once: the server may be reading.
    std::ofstream(folder_ / (name + ".new"), std::ios::binary) << content;
    std::filesystem::rename(folder_ / (name + ".new"), folder_ / name);
  }

  std::filesystem::path folder_;
  pid_t process_ = -1;
  int input_ = -1;
  int port_ = 0;
  int cdn_port_ = 0;
};

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_FAKE_HUB_H_
