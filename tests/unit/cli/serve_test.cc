// metactrl serve as a program: who may ask, what it says when it cannot start, how signals end it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/command_line.h"
#include "support/files.h"
#include "support/http_client.h"
#include "support/test_data.h"

namespace metactrl::serve_test {
namespace {

using testing::CommandResult;
using testing::HttpClient;
using testing::HttpResponse;

class ServeCli : public testing::CommandLineTest {
 protected:
  void TearDown() override {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
    CommandLineTest::TearDown();
  }

  // Starts it with a port that is free, and waits until it listens. False when it ended instead.
  bool start(const std::string& arguments, const std::string& environment = "") {
    const std::string line = command("serve --port 0 " + arguments, environment) + " 2>'" + path("served") + "'";
    process_ = ::fork();
    if (process_ == 0) {
      ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      ::_exit(127);
    }
    for (int i = 0; i < 6000; ++i) {
      const std::string said = read("served");
      const std::size_t at = said.find("listening at http://");
      if (at != std::string::npos && said.find('\n', at) != std::string::npos) {
        port_ = static_cast<unsigned>(std::atoi(said.c_str() + said.find(':', at + sizeof("listening at http:")) + 1));
        return true;
      }
      if (::waitpid(process_, nullptr, WNOHANG) == process_) {
        process_ = -1;
        ADD_FAILURE() << said;
        return false;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << "does not listen: " << read("served");
    return false;
  }
  void signal(int number) const { ::kill(process_, number); }
  // The exit code once it has ended; -1 when a signal ended it.
  int wait() {
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  bool running() const { return ::waitpid(process_, nullptr, WNOHANG) == 0; }

  HttpResponse ask(const std::string& bytes) const {
    HttpClient client(port_);
    client.send(bytes);
    return client.response();
  }
  int status_with(const std::string& path, const std::string& headers) const {
    return ask(HttpClient::get(path, headers)).status;
  }

  pid_t process_ = -1;
  unsigned port_ = 0;
};

// A text that is long enough to be interrupted.
std::string long_text() {
  return HttpClient::post("/v1/completions", R"({"prompt": "a", "max_tokens": 2048, "stream": true})");
}

TEST_F(ServeCli, OtherMachinesNeedAKey) {
  for (const char* host : {"0.0.0.0", "::", "192.0.2.1"}) {
    const CommandResult result =
        run(std::string("serve --port 0 --model random:1 --host ") + host, "METACTRL_API_KEY=");
    EXPECT_EQ(result.code, 30) << result.err;
    EXPECT_CONTAINS(result.err, std::string("--host ") + host);
    EXPECT_CONTAINS(result.err, "METACTRL_API_KEY");
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err.find("listening"), std::string::npos) << result.err;
  }
}

// The unit for systemd starts what there is, and waits longer than requests have to finish.
TEST_F(ServeCli, TheUnitStartsTheService) {
  const std::string unit = internal::read_file((testing::source_dir() / "docs/deploy/metactrl.service").string());
  const auto value = [&](const std::string& name) {
    const std::size_t at = unit.find("\n" + name + "=");
    EXPECT_NE(at, std::string::npos) << name;
    const std::size_t begin = at + name.size() + 2;
    return unit.substr(begin, unit.find('\n', begin) - begin);
  };
  std::string command = value("ExecStart");
  const std::string program = "/usr/bin/metactrl serve ";
  ASSERT_EQ(command.find(program), 0U) << command;
  command.erase(0, program.size());
  const std::string conf = "/etc/metactrl/serve.conf";
  ASSERT_NE(command.find(conf), std::string::npos) << command;
  command.replace(command.find(conf), conf.size(), "serve.conf");
  write("serve.conf", "model = [\"random:1\"]\n");
  ASSERT_TRUE(start(command, "METACTRL_API_KEY="));
  EXPECT_EQ(status_with("/health", ""), 200);
  signal(SIGTERM);
  EXPECT_EQ(wait(), 0);
  const std::string help = run("serve --help").out;
  const std::size_t drain = help.find("--drain");
  ASSERT_NE(drain, std::string::npos) << help;
  const std::size_t number = help.find_first_of("0123456789", drain);
  EXPECT_GT(std::stod(value("TimeoutStopSec")), std::stod(help.substr(number))) << help.substr(drain, 80);
}

TEST_F(ServeCli, OptionsFromAFileAndALogOfRequests) {
  write("serve.conf", "# options\nmodel = [\"random:1\"]\nmax-horizon = 17\nlog = \"json\"\nport = 1\n");
  ASSERT_TRUE(start("--config serve.conf", "METACTRL_API_KEY="));
  EXPECT_EQ(nlohmann::json::parse(ask(HttpClient::get("/v1/options")).body)["limits"]["horizon"], 17);
  const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  const HttpResponse traced = ask(HttpClient::get("/health", "traceparent: 00-" + trace + "-00f067aa0ba902b7-01\r\n"));
  EXPECT_EQ(traced.headers.at("x-trace-id"), trace);
  const HttpResponse secret = ask(HttpClient::get("/secret/path", "traceparent: 00-what-01\r\n"));
  EXPECT_EQ(secret.headers.at("x-trace-id").size(), 32U);
  signal(SIGTERM);
  EXPECT_EQ(wait(), 0);
  const std::string said = read("served");
  EXPECT_EQ(said.find("secret"), std::string::npos) << "nothing that a client wrote";
  const std::size_t line = said.find("{\"time_ms\"");
  ASSERT_NE(line, std::string::npos) << said;
  bool found = false;
  for (std::size_t at = line; at != std::string::npos; at = said.find("{\"time_ms\"", at + 1)) {
    const nlohmann::json record = nlohmann::json::parse(said.substr(at, said.find('\n', at) - at));
    if (record["trace"] != trace) continue;
    found = true;
    EXPECT_EQ(record["route"], "/health");
    EXPECT_EQ(record["status"], 200);
  }
  EXPECT_TRUE(found) << said;
  const auto refused = [&](const std::string& text, const std::string& message) {
    write("bad.conf", text);
    const CommandResult result = run("serve --config bad.conf --model random:1");
    EXPECT_EQ(result.code, 31) << result.err;
    EXPECT_CONTAINS(result.err, "bad.conf");
    EXPECT_CONTAINS(result.err, message);
  };
  refused("prot = 3\n", "did you mean 'port'?");
  refused("port = 70000\n", "'port'");
  refused("[serve]\nport = 3\n", "is no option");
  refused("config = \"x\"\n", "is no option");
  EXPECT_EQ(run("serve --config nothing.conf").code, 30);
}

TEST_F(ServeCli, ToolsOverAPipe) {
  write(
      "in",
      R"({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})"
      "\n"
      R"({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "search", "arguments": {"domain": "tabletop", "problem": "dishwasher"}}})"
      "\n");
  const CommandResult result = run("mcp --model random:1 < '" + path("in") + "'");
  EXPECT_EQ(result.code, 0) << result.err;
  const nlohmann::json tools = nlohmann::json::parse(result.out.substr(0, result.out.find('\n')));
  EXPECT_EQ(tools["result"]["tools"].size(), 5U);
  const nlohmann::json found = nlohmann::json::parse(result.out.substr(result.out.find('\n') + 1));
  EXPECT_EQ(found["result"]["structuredContent"]["outcome"], "plan");
}

TEST_F(ServeCli, AKeyThatNobodyCanSendIsRefused) {
  for (const char* key : {"'two words'", "'a\nb'", "'schlüssel'"}) {
    const CommandResult result = run("serve --port 0 --model random:1", std::string("METACTRL_API_KEY=") + key);
    EXPECT_EQ(result.code, 30) << result.err;
    EXPECT_CONTAINS(result.err, "API key");
  }
}

TEST_F(ServeCli, TheKeyIsAskedFor) {
  ASSERT_TRUE(start("--model random:1 --host 0.0.0.0", "METACTRL_API_KEY=sesame"));
  for (const char* path : {"/v1/models", "/v1/options", "/v1/tasks", "/metrics"}) {
    EXPECT_EQ(status_with(path, ""), 401) << path;
    EXPECT_EQ(status_with(path, "Authorization: Bearer sesam\r\n"), 401) << path;
    EXPECT_EQ(status_with(path, "Authorization: Bearer sesamesesame\r\n"), 401) << path;
    EXPECT_EQ(status_with(path, "Authorization: Basic sesame\r\n"), 401) << path;
    EXPECT_EQ(status_with(path, "Authorization: Bearer sesame\r\n"), 200) << path;
  }
  const std::string plan = R"({"domain": "tabletop", "problem": "dishwasher", "guidance": "search"})";
  const std::string json = "Content-Type: application/json\r\n";
  EXPECT_EQ(ask(HttpClient::post("/v1/plans", plan, json)).code(), "invalid_api_key");
  EXPECT_EQ(ask(HttpClient::post("/v1/plans", plan, json + "Authorization: Bearer x\r\n")).status, 401);
  const HttpResponse made = ask(HttpClient::post("/v1/plans", plan, json + "Authorization: Bearer sesame\r\n"));
  EXPECT_EQ(made.status, 200) << made.body;
  EXPECT_EQ(made.json()["valid"], true);
  EXPECT_EQ(status_with("/health", ""), 200);
  EXPECT_EQ(status_with("/", ""), 200);
  signal(SIGTERM);
  EXPECT_EQ(wait(), 0) << read("served");
}

TEST_F(ServeCli, TheOptionCountsBeforeTheEnvironment) {
  ASSERT_TRUE(start("--model random:1 --api-key other", "METACTRL_API_KEY=sesame"));
  EXPECT_EQ(status_with("/v1/models", "Authorization: Bearer sesame\r\n"), 401);
  EXPECT_EQ(status_with("/v1/models", "Authorization: Bearer other\r\n"), 200);
}

TEST_F(ServeCli, APortInUseIsNamed) {
  ASSERT_TRUE(start("--model random:1"));
  const std::string port = std::to_string(port_);
  // Before the model is loaded, which may take long: this one does not exist.
  const CommandResult result = run("serve --model nowhere.gguf --port " + port);
  EXPECT_EQ(result.code, 31) << result.err;
  EXPECT_EQ(result.err.find("127.0.0.1:" + port + ": error: cannot be listened at: Address already in use; "), 0U)
      << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_EQ(status_with("/health", ""), 200);
}

TEST_F(ServeCli, BadOptionsAreNamed) {
  const auto fails = [this](const std::string& arguments, int code, const std::string& message) {
    const CommandResult result = run("serve " + arguments);
    EXPECT_EQ(result.code, code) << arguments << ": " << result.err;
    EXPECT_CONTAINS(result.err, message);
  };
  fails("--port 70000", 30, "--port");
  fails("--host no.such.host.invalid", 31, "--host no.such.host.invalid");
  fails("--max-body 1X", 30, "--max-body");
  fails("--max-seconds nan", 30, "--max-seconds");
  fails("--port 0 --model nowhere.gguf", 31, "nowhere.gguf");
  // Requests could not tell them apart.
  fails("--port 0 --model random:1 --model random:1", 30, "random:1");
  fails("--port 0 --model random:1 --hmm nowhere.hmm", 31, "nowhere.hmm");
}

TEST_F(ServeCli, SigtermLetsRequestsFinish) {
  ASSERT_TRUE(start("--model random:1"));
  HttpClient idle(port_);
  HttpClient client(port_);
  ASSERT_TRUE(client.send(long_text()));
  std::string all = client.receive_until("\n\n");
  EXPECT_CONTAINS(all, "data: ");
  signal(SIGTERM);
  while (true) {
    const std::string more = client.receive();
    if (more.empty()) break;
    all += more;
  }
  EXPECT_CONTAINS(all, "data: [DONE]");
  EXPECT_EQ(all.find("\"error\""), std::string::npos);
  EXPECT_EQ(idle.receive(), "");
  EXPECT_EQ(wait(), 0) << read("served");
  EXPECT_CONTAINS(read("served"), "metactrl: stopped\n");
  EXPECT_THROW(HttpClient late(port_), std::runtime_error);
}

TEST_F(ServeCli, TheSecondSignalDoesNotWait) {
  // Its time would be an hour.
  ASSERT_TRUE(start("--model random:1 --max-tokens 10000000 --context 100000000 --max-seconds 3600 --drain 3600"));
  // A text may end by itself at any token. Not all of these do: some run, others wait for room and begin then.
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 32; ++i) {
    clients.push_back(std::make_unique<HttpClient>(port_));
    ASSERT_TRUE(clients.back()->send(
        HttpClient::post("/v1/completions", R"({"prompt": "a", "max_tokens": 10000000, "stream": true})")));
    // The first is at work before the others come, which may have to wait.
    if (i == 0) clients.front()->receive_until("\n\n");
  }
  signal(SIGINT);
  // Whoever does not listen any more has understood the first one.
  for (bool open = true; open; std::this_thread::sleep_for(std::chrono::milliseconds(5))) {
    try {
      const HttpClient probe(port_);
    } catch (const std::runtime_error&) {
      open = false;
    }
  }
  EXPECT_TRUE(running());
  signal(SIGINT);
  EXPECT_EQ(wait(), 0) << read("served");
}

TEST_F(ServeCli, HalfARequestDoesNotKeepItFromStopping) {
  ASSERT_TRUE(start("--model random:1"));
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (const char* beginning :
       {"", "GET /hea", "POST /v1/plans HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"}) {
    clients.push_back(std::make_unique<HttpClient>(port_));
    clients.back()->send(beginning);
  }
  signal(SIGTERM);
  EXPECT_EQ(wait(), 0) << read("served");
}

}  // namespace
}  // namespace metactrl::serve_test
