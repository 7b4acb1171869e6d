// metactrl models add from the Hugging Face hub and from addresses, run as a program against a server on this machine
// that behaves like the hub (tests/support/fake_hub.py).
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/command_line.h"
#include "support/fake_hub.h"
#include "support/sha2.h"
#include "support/test_data.h"
#include "support/tiny_gguf.h"

namespace metactrl::models_hub_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Result = testing::CommandResult;

// Without printing models.
#define EXPECT_SAME_BYTES(found, expected) EXPECT_TRUE((found) == (expected)) << (found).size() << " bytes: "

constexpr const char* kToken = "hf_TheSecretToken";

class ModelsHub : public testing::CommandLineTest {
 protected:
  void SetUp() override {
    CommandLineTest::SetUp();
    write("catalogue.json", R"({"models": []})");
    testing::write_tiny_gguf(path("tiny.gguf"), {.context = 640});
    testing::write_tiny_gguf(path("other.gguf"), {.context = 640, .seed = 2});
    tiny_ = read("tiny.gguf");
    other_ = read("other.gguf");
    hub_ = std::make_unique<testing::FakeHub>(path("hub"));
    hub_->publish("acme/tiny-GGUF/tiny-Q4_K_M.gguf", tiny_);
    hub_->publish("acme/tiny-GGUF/tiny-Q8_0.gguf", other_);
    hub_->publish("acme/tiny-GGUF/mmproj-tiny-Q4_K_M.gguf", "GGUF of something else");
    hub_->publish("acme/tiny-GGUF/README.md", "a model");
  }
  void TearDown() override {
    hub_.reset();
    CommandLineTest::TearDown();
  }

  std::string settings(const std::string& environment = "") const {
    return "METACTRL_CATALOGUE='" + path("catalogue.json") + "' HF_ENDPOINT='" + hub_->address() +
           "' no_proxy='*' HF_TOKEN= " + environment;
  }
  Result run(const std::string& arguments, const std::string& environment = "") const {
    return CommandLineTest::run(arguments, settings(environment));
  }
  Json entry(const std::string& name) const {
    const Json list = Json::parse(run("models --output json").out);
    for (const Json& model : list["models"]) {
      if (model["name"] == name) return model;
    }
    return nullptr;
  }
  // What is in the cache besides locks and the list.
  std::vector<std::string> left_over() const {
    std::vector<std::string> files;
    if (!fs::exists(path("cache/models"))) return files;
    for (const fs::directory_entry& file : fs::recursive_directory_iterator(path("cache/models"))) {
      const std::string name = file.path().filename().string();
      if (file.is_regular_file() && !name.ends_with("lock") && name != "models.json") files.push_back(name);
    }
    std::sort(files.begin(), files.end());
    return files;
  }
  // One failure: its code, what it says, and nothing that was remembered.
  void expect_failure(const std::string& arguments, int code, const std::string& message,
                      const std::string& environment = "") const {
    const Result result = run("models add " + arguments, environment);
    EXPECT_EQ(result.code, code) << arguments << "\n" << result.err;
    EXPECT_CONTAINS(result.err, message);
    EXPECT_EQ(result.err.find(kToken), std::string::npos) << result.err;
    EXPECT_FALSE(fs::exists(path("cache/models/models.json"))) << arguments;
  }

  std::string tiny_;
  std::string other_;
  std::unique_ptr<testing::FakeHub> hub_;
};

TEST_F(ModelsHub, AModelIsFetchedCheckedAndUsed) {
  const Result added = run("models add hf:acme/tiny-GGUF", std::string("HF_TOKEN=") + kToken);
  ASSERT_EQ(added.code, 0) << added.err;
  EXPECT_CONTAINS(added.out, "tiny-Q4_K_M is there");
  EXPECT_CONTAINS(added.out, "chat template: chatml");
  EXPECT_EQ((added.out + added.err).find(kToken), std::string::npos);
  EXPECT_SAME_BYTES(read("cache/models/tiny-Q4_K_M.gguf"), tiny_);
  EXPECT_EQ(left_over(), std::vector<std::string>{"tiny-Q4_K_M.gguf"});
  const Json model = entry("tiny-Q4_K_M");
  EXPECT_EQ(model["sha256"], internal::sha256(tiny_));
  EXPECT_EQ(model["source"], "hf:acme/tiny-GGUF/tiny-Q4_K_M.gguf");
  EXPECT_EQ(model["revision"].get<std::string>().size(), 40U);
  EXPECT_EQ(model["licence"], "mit");
  EXPECT_EQ(model["chat_template"], Json({{"status", "understood"}, {"name", "chatml"}}));
  // The hub is told the token, the host it sends us to is not.
  const auto told = hub_->log("hub");
  ASSERT_EQ(told.size(), 2U);
  for (const Json& request : told) EXPECT_EQ(request["Authorization"], std::string("Bearer ") + kToken);
  const auto elsewhere = hub_->log("cdn");
  ASSERT_EQ(elsewhere.size(), 1U);
  EXPECT_TRUE(elsewhere[0]["Authorization"].is_null());

  // It is there: nothing is fetched again.
  hub_->clear_log();
  EXPECT_EQ(run("models add hf:acme/tiny-GGUF").code, 0) << read("err");
  EXPECT_TRUE(hub_->log("cdn").empty());
  // A file that is there and was not registered is checked and registered.
  fs::remove(path("cache/models/models.json"));
  EXPECT_EQ(run("models add hf:acme/tiny-GGUF").code, 0) << read("err");
  EXPECT_TRUE(hub_->log("cdn").empty());
  // Another version of it is fetched in its place.
  hub_->publish("acme/tiny-GGUF/tiny-Q4_K_M.gguf", other_);
  EXPECT_EQ(run("models add hf:acme/tiny-GGUF").code, 0) << read("err");
  EXPECT_SAME_BYTES(read("cache/models/tiny-Q4_K_M.gguf"), other_);

  EXPECT_EQ(run("models remove tiny-Q4_K_M").code, 0);
  EXPECT_TRUE(left_over().empty());
}

TEST_F(ModelsHub, AModelIsNamedInManyWays) {
  const auto fetches = [&](const std::string& what, const std::string& name, const std::string& content) {
    const Result added = run("models add " + what);
    EXPECT_EQ(added.code, 0) << what << added.err;
    EXPECT_SAME_BYTES(read("cache/models/" + name + ".gguf"), content) << what;
    EXPECT_EQ(run("models remove " + name).code, 0) << what;
  };
  fetches("acme/tiny-GGUF", "tiny-Q4_K_M", tiny_);
  fetches("acme/tiny-GGUF:q8_0", "tiny-Q8_0", other_);
  fetches("hf:acme/tiny-GGUF:Q8_0", "tiny-Q8_0", other_);
  fetches("hf.co/acme/tiny-GGUF:Q8_0", "tiny-Q8_0", other_);
  fetches("hf:acme/tiny-GGUF/tiny-Q8_0.gguf --name mine", "mine", other_);
  fetches("'" + hub_->address() + "/acme/tiny-GGUF/blob/main/tiny-Q8_0.gguf?download=true'", "tiny-Q8_0", other_);
  fetches("https://huggingface.co/acme/tiny-GGUF/resolve/main/tiny-Q8_0.gguf", "tiny-Q8_0", other_);
  // A repository that was renamed: the same host, told the token again.
  hub_->clear_log();
  hub_->rules({{{"server", "hub"},
                {"path", "/api/models/acme/old-GGUF"},
                {"status", 307},
                {"location", "/api/models/acme/tiny-GGUF/revision/main?blobs=true"}},
               {{"server", "hub"},
                {"path", "/acme/old-GGUF/resolve"},
                {"status", 307},
                {"location", hub_->address() + "/plain/moved.gguf"}}});
  hub_->publish_plain("moved.gguf", tiny_);
  EXPECT_EQ(run("models add acme/old-GGUF", std::string("HF_TOKEN=") + kToken).code, 0) << read("err");
  EXPECT_SAME_BYTES(read("cache/models/tiny-Q4_K_M.gguf"), tiny_);
  for (const Json& request : hub_->log()) EXPECT_FALSE(request["Authorization"].is_null()) << request;
  // Two repositories may have files of one name.
  hub_->publish("zeta/tiny-GGUF/tiny-Q4_K_M.gguf", other_);
  const Result taken = run("models add hf:zeta/tiny-GGUF");
  EXPECT_EQ(taken.code, 31);
  EXPECT_CONTAINS(taken.err, "there is a model of this name");
  EXPECT_EQ(run("models add hf:zeta/tiny-GGUF --name zeta").code, 0) << read("err");
  EXPECT_SAME_BYTES(read("cache/models/tiny-Q4_K_M.gguf"), tiny_);
}

TEST_F(ModelsHub, WhatIsNotClearIsListed) {
  hub_->publish("acme/many-GGUF/a-F16.gguf", tiny_);
  hub_->publish("acme/many-GGUF/a-BF16.gguf", other_);
  hub_->publish("acme/many-GGUF/sub/a-UD-F32.gguf", other_);
  hub_->publish("acme/many-GGUF/sub/a-F32.gguf", other_);
  hub_->publish("acme/weights/model.safetensors", "x");
  expect_failure("hf:acme/many-GGUF", 31,
                 "it is not clear which of these files is meant; name one: metactrl models add hf:");
  const std::string listed = read("err");
  for (const char* file : {"a-F16.gguf", "a-BF16.gguf", "sub/a-UD-F32.gguf", "sub/a-F32.gguf"})
    EXPECT_CONTAINS(listed, file);
  expect_failure("hf:acme/many-GGUF:Q5_K_M", 31, "has no file of quantization 'Q5_K_M'");
  EXPECT_CONTAINS(read("err"), "a-BF16.gguf");
  expect_failure("hf:acme/many-GGUF:F32", 31, "more than one file of quantization 'F32'");
  expect_failure("hf:acme/many-GGUF/b-F16.gguf", 31, "has no file 'b-F16.gguf'; did you mean 'a-F16.gguf'?");
  EXPECT_CONTAINS(read("err"), "sub/a-F32.gguf");
  expect_failure("hf:acme/weights", 31, "this repository has no GGUF file");
  EXPECT_TRUE(hub_->log("cdn").empty());
  // A quantization is a whole word.
  EXPECT_EQ(run("models add hf:acme/many-GGUF:F16").code, 0) << read("err");
  EXPECT_SAME_BYTES(read("cache/models/a-F16.gguf"), tiny_);
  // The only one, and the usual second choice.
  hub_->publish("acme/one/one.gguf", other_);
  EXPECT_EQ(run("models add hf:acme/one").code, 0) << read("err");
  hub_->publish("acme/two-GGUF/two-F16.gguf", tiny_);
  hub_->publish("acme/two-GGUF/two-Q8_0.gguf", other_);
  EXPECT_EQ(run("models add acme/two-GGUF").code, 0) << read("err");
  EXPECT_SAME_BYTES(read("cache/models/two-Q8_0.gguf"), other_);
}

TEST_F(ModelsHub, AModelInPartsIsFetchedAsAWhole) {
  testing::write_tiny_gguf_parts(path("big-Q4_K_M"), {.context = 640});
  const std::string first = read("big-Q4_K_M-00001-of-00002.gguf");
  const std::string second = read("big-Q4_K_M-00002-of-00002.gguf");
  hub_->publish("acme/big-GGUF/Q4_K_M/big-Q4_K_M-00001-of-00002.gguf", first);
  expect_failure("acme/big-GGUF", 31, "not all parts of this model are there");
  hub_->publish("acme/big-GGUF/Q4_K_M/big-Q4_K_M-00002-of-00002.gguf", second);
  const Result added = run("models add acme/big-GGUF --name big");
  ASSERT_EQ(added.code, 0) << added.err;
  EXPECT_SAME_BYTES(read("cache/models/big/big-00001-of-00002.gguf"), first);
  EXPECT_SAME_BYTES(read("cache/models/big/big-00002-of-00002.gguf"), second);
  EXPECT_EQ(entry("big")["bytes"], first.size() + second.size());
  EXPECT_EQ(entry("big")["status"], "present");
  EXPECT_CONTAINS(added.out, internal::sha256(second));
  fs::remove(path("cache/models/big/big-00002-of-00002.gguf"));
  EXPECT_EQ(entry("big")["status"], "missing");
  // What is there is not fetched again.
  hub_->clear_log();
  EXPECT_EQ(run("models add acme/big-GGUF --name big").code, 0) << read("err");
  EXPECT_EQ(hub_->log("cdn").size(), 1U);
  EXPECT_EQ(entry("big")["status"], "present");
  EXPECT_EQ(run("models remove big").code, 0);
  EXPECT_FALSE(fs::exists(path("cache/models/big")));
  // A file of the user's own, and from an address.
  EXPECT_EQ(run("models add big-Q4_K_M-00001-of-00002.gguf").code, 0) << read("err");
  EXPECT_EQ(entry("big-Q4_K_M")["bytes"], first.size() + second.size());
  EXPECT_EQ(run("models remove big-Q4_K_M").code, 0);
  EXPECT_TRUE(fs::exists(path("big-Q4_K_M-00002-of-00002.gguf")));
  hub_->publish_plain("p-00001-of-00002.gguf", first);
  hub_->publish_plain("p-00002-of-00002.gguf", second);
  EXPECT_EQ(run("models add " + hub_->address() + "/plain/p-00001-of-00002.gguf").code, 0) << read("err");
  EXPECT_SAME_BYTES(read("cache/models/p/p-00002-of-00002.gguf"), second);
  // Without its second part it is none.
  fs::remove(path("big-Q4_K_M-00002-of-00002.gguf"));
  EXPECT_EQ(run("models add big-Q4_K_M-00001-of-00002.gguf").code, 31);
}

TEST_F(ModelsHub, ConnectionsThatAreCutAreTakenUp) {
  hub_->rules({{{"server", "cdn"}, {"cut", 50000}, {"times", 2}}});
  const Result added = run("models add acme/tiny-GGUF");
  ASSERT_EQ(added.code, 0) << added.err;
  EXPECT_CONTAINS(added.err, "trying again in 1 s");
  EXPECT_SAME_BYTES(read("cache/models/tiny-Q4_K_M.gguf"), tiny_);
  const auto requests = hub_->log("cdn");
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_TRUE(requests[0]["Range"].is_null());
  EXPECT_EQ(requests[1]["Range"], "bytes=50000-");
  EXPECT_EQ(requests[1]["If-Range"], "\"" + internal::sha256(tiny_).substr(0, 32) + "\"");
  EXPECT_EQ(requests[2]["Range"], "bytes=100000-");
  EXPECT_EQ(run("models remove tiny-Q4_K_M").code, 0);
  // A server that knows no ranges sends everything again; one that says no length is believed at the end.
  hub_->rules({{{"server", "cdn"}, {"cut", 50000}}, {{"server", "cdn"}, {"no_ranges", true}}});
  EXPECT_EQ(run("models add acme/tiny-GGUF").code, 0) << read("err");
  EXPECT_SAME_BYTES(read("cache/models/tiny-Q4_K_M.gguf"), tiny_);
  EXPECT_EQ(run("models remove tiny-Q4_K_M").code, 0);
  hub_->rules({{{"server", "cdn"}, {"no_length", true}, {"cut", 50000}}, {{"server", "cdn"}, {"no_length", true}}});
  EXPECT_EQ(run("models add acme/tiny-GGUF").code, 0) << read("err");
  EXPECT_SAME_BYTES(read("cache/models/tiny-Q4_K_M.gguf"), tiny_);
}

// Starts the program, waits until so much is there, and kills it.
TEST_F(ModelsHub, AKilledProgramIsGoneOnWith) {
  hub_->rules({{{"server", "cdn"}, {"cut", 100000}, {"hold", "go"}}});
  const std::string line = command("models add acme/tiny-GGUF", settings(std::string("HF_TOKEN=") + kToken)) + " >'" +
                           path("killed") + "' 2>&1";
  const pid_t program = ::fork();
  if (program == 0) {
    ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    ::_exit(127);
  }
  const std::string part = path("cache/models/.fetch/tiny-Q4_K_M.gguf.part");
  std::error_code missing;
  for (int i = 0; i < 3000 && (!fs::exists(part) || fs::file_size(part, missing) < 100000); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(fs::file_size(part, missing), 100000U) << read("killed");
  // Nobody sees the token in the list of processes.
  bool curl = false;
  for (const fs::directory_entry& process : fs::directory_iterator("/proc", missing)) {
    std::ifstream file(process.path() / "cmdline");
    const std::string words{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    EXPECT_EQ(words.find(kToken), std::string::npos);
    curl = curl || words.starts_with("curl");
  }
  EXPECT_TRUE(curl);
  ::kill(program, SIGKILL);
  ::waitpid(program, nullptr, 0);
  hub_->release("go");
  EXPECT_TRUE(entry("tiny-Q4_K_M").is_null());
  hub_->clear_log();
  // The commit has changed since, the file has not.
  hub_->publish("acme/tiny-GGUF/README.md", "a better model");
  ASSERT_EQ(run("models add acme/tiny-GGUF").code, 0) << read("err");
  EXPECT_SAME_BYTES(read("cache/models/tiny-Q4_K_M.gguf"), tiny_);
  ASSERT_EQ(hub_->log("cdn").size(), 1U);
  EXPECT_EQ(hub_->log("cdn")[0]["Range"], "bytes=100000-");
  EXPECT_EQ(left_over(), std::vector<std::string>{"tiny-Q4_K_M.gguf"});
}

TEST_F(ModelsHub, PartsOfTwoVersionsAreNotGluedTogether) {
  const auto leave_part = [&] {
    hub_->rules({{{"server", "cdn"}, {"cut", 100000}},
                 {{"server", "cdn"}, {"status", 503}, {"headers", {{"Retry-After", "3600"}}}}});
    EXPECT_EQ(run("models add acme/tiny-GGUF").code, 22) << read("err");
    EXPECT_EQ(fs::file_size(path("cache/models/.fetch/tiny-Q4_K_M.gguf.part")), 100000U);
    hub_->rules(Json::array());
    hub_->clear_log();
  };
  // Another file by now.
  leave_part();
  hub_->publish("acme/tiny-GGUF/tiny-Q4_K_M.gguf", other_);
  EXPECT_EQ(run("models add acme/tiny-GGUF").code, 0) << read("err");
  EXPECT_SAME_BYTES(read("cache/models/tiny-Q4_K_M.gguf"), other_);
  EXPECT_EQ(run("models remove tiny-Q4_K_M").code, 0);
  // The part was damaged on the disk.
  leave_part();
  std::string damaged = read("cache/models/.fetch/tiny-Q4_K_M.gguf.part");
  damaged[500] = static_cast<char>(damaged[500] ^ 1);
  write("cache/models/.fetch/tiny-Q4_K_M.gguf.part", damaged);
  EXPECT_EQ(run("models add acme/tiny-GGUF").code, 0) << read("err");
  EXPECT_CONTAINS(read("err"), "is damaged; fetching it anew");
  EXPECT_SAME_BYTES(read("cache/models/tiny-Q4_K_M.gguf"), other_);
  EXPECT_EQ(run("models remove tiny-Q4_K_M").code, 0);
  // So was the record of what it is.
  leave_part();
  write("cache/models/.fetch/tiny-Q4_K_M.gguf.part.json", "{");
  EXPECT_EQ(run("models add acme/tiny-GGUF").code, 0) << read("err");
  EXPECT_TRUE(hub_->log("cdn")[0]["Range"].is_null());
  EXPECT_EQ(run("models remove tiny-Q4_K_M").code, 0);
  // Whole, and killed before it was moved.
  leave_part();
  write("cache/models/.fetch/tiny-Q4_K_M.gguf.part", other_);
  EXPECT_EQ(run("models add acme/tiny-GGUF").code, 0) << read("err");
  EXPECT_TRUE(hub_->log("cdn").empty());
  fs::rename(path("cache/models/tiny-Q4_K_M.gguf"), path("cache/models/.fetch/tiny-Q4_K_M.gguf"));
  EXPECT_EQ(run("models add acme/tiny-GGUF").code, 0) << read("err");
  EXPECT_TRUE(hub_->log("cdn").empty());

  // Without a hub there is no SHA-256 to know the file by; the server is asked for the same version.
  const std::string plain = "models add " + hub_->address() + "/plain/x.gguf";
  hub_->publish_plain("x.gguf", tiny_);
  hub_->rules({{{"server", "hub"}, {"cut", 100000}},
               {{"server", "hub"}, {"status", 503}, {"headers", {{"Retry-After", "3600"}}}}});
  EXPECT_EQ(run(plain).code, 22);
  hub_->publish_plain("x.gguf", other_);
  hub_->clear_log();
  EXPECT_EQ(run(plain).code, 0) << read("err");
  EXPECT_EQ(hub_->log()[0]["Range"], "bytes=100000-");
  EXPECT_SAME_BYTES(read("cache/models/x.gguf"), other_);
  EXPECT_EQ(entry("x")["source"], hub_->address() + "/plain/x.gguf");
}

TEST_F(ModelsHub, RefusalsSayWhatToDo) {
  hub_->publish("acme/gated-GGUF/gated-Q4_K_M.gguf", tiny_);
  hub_->publish("acme/gated-GGUF/.gated", kToken);
  hub_->publish("acme/private-GGUF/private-Q4_K_M.gguf", tiny_);
  hub_->publish("acme/private-GGUF/.private", kToken);
  const std::string page = hub_->address() + "/acme/gated-GGUF";
  expect_failure("acme/gated-GGUF", 31, "this model is gated");
  EXPECT_CONTAINS(read("err"), "accept it at " + page + ", then set HF_TOKEN");
  expect_failure("acme/gated-GGUF", 31, "with the account that HF_TOKEN is of", "HF_TOKEN=hf_other");
  expect_failure("acme/private-GGUF", 31, "there is no such repository, or it is gated or private (401)");
  EXPECT_CONTAINS(read("err"), "set HF_TOKEN");
  expect_failure("acme/private-GGUF", 31, "the hub has no such repository", "HF_TOKEN=hf_other");
  expect_failure("acme/nothing-GGUF", 31, "check the name");
  hub_->rules(
      {{{"server", "hub"}, {"path", "resolve"}, {"status", 404}, {"headers", {{"X-Error-Code", "EntryNotFound"}}}}});
  expect_failure("acme/tiny-GGUF", 31, "the file is gone from this repository");
  hub_->rules({{{"server", "hub"}, {"path", "api"}, {"status", 403}}});
  expect_failure("acme/tiny-GGUF", 31, "gated or private (403)");
  EXPECT_TRUE(left_over().empty());
  EXPECT_EQ(run("models add acme/gated-GGUF", std::string("HF_TOKEN=") + kToken).code, 0) << read("err");
  EXPECT_EQ(run("models add acme/private-GGUF", std::string("HF_TOKEN=") + kToken).code, 0) << read("err");
}

TEST_F(ModelsHub, ServersThatAreBusyAreAskedAgain) {
  const Json at_once = {{"Retry-After", "0"}};
  hub_->rules({{{"server", "hub"}, {"path", "api"}, {"status", 429}, {"headers", at_once}},
               {{"server", "hub"}, {"path", "resolve"}, {"status", 500}, {"headers", at_once}},
               {{"server", "cdn"}, {"status", 503}, {"headers", at_once}, {"times", 2}}});
  EXPECT_EQ(run("models add acme/tiny-GGUF").code, 0) << read("err");
  EXPECT_CONTAINS(read("err"), "the server answered 429; trying again");
  EXPECT_EQ(run("models remove tiny-Q4_K_M").code, 0);
  fs::remove(path("cache/models/models.json"));
  // Not for ever.
  for (const int status : {429, 500, 502, 504}) {
    hub_->rules({{{"server", "hub"}, {"path", "api"}, {"status", status}, {"headers", at_once}, {"times", -1}}});
    expect_failure("acme/tiny-GGUF", 22, "cannot be fetched: the server answered " + std::to_string(status));
  }
  hub_->rules({{{"server", "cdn"}, {"status", 503}, {"headers", at_once}, {"times", -1}}});
  expect_failure("acme/tiny-GGUF", 22, "the server answered 503; run the command again later");
  hub_->rules({{{"server", "hub"}, {"status", 429}, {"headers", {{"Retry-After", "3600"}}}}});
  expect_failure("acme/tiny-GGUF", 22, "run the command again in 3600 s");
  // No network: nobody listens there.
  expect_failure("acme/tiny-GGUF", 22, "check the network", "HF_ENDPOINT=http://127.0.0.1:1");
  expect_failure("http://127.0.0.1:1/x.gguf", 22, "check the network");
}

TEST_F(ModelsHub, WhatIsNotWhatWasPromisedIsNotKept) {
  const std::string tiny = internal::sha256(tiny_);
  hub_->rules({{{"server", "cdn"}, {"flip", true}}});
  expect_failure("acme/tiny-GGUF", 31, " and should be " + tiny);
  hub_->rules({{{"server", "hub"}, {"path", "resolve"}, {"sha256", std::string(64, '0')}}});
  expect_failure("acme/tiny-GGUF", 31, " and should be " + tiny);
  hub_->rules({{{"server", "hub"}, {"path", "resolve"}, {"size", 5}}});
  expect_failure("acme/tiny-GGUF", 31, "bytes and it should have 5");
  hub_->publish("acme/false-GGUF/false.gguf", "<html>no model</html>");
  expect_failure("acme/false-GGUF", 31, "is not a GGUF file; nothing was kept");
  hub_->publish_plain("page.gguf", "<html>no model</html>");
  expect_failure(hub_->address() + "/plain/page.gguf", 31, "is not a GGUF file; nothing was kept");
  expect_failure(hub_->address() + "/plain/none.gguf", 31, "there is no such file");
  hub_->rules({{{"server", "hub"}, {"path", "api"}, {"location", "/api/models/x"}, {"times", -1}}});
  expect_failure("acme/tiny-GGUF", 31, "sends us round in circles");
  hub_->rules({{{"server", "hub"}, {"path", "resolve"}, {"location", "http://example.org/x?key=1"}}});
  expect_failure("acme/tiny-GGUF", 31, "sends us on to 'http://example.org/x', which is no address with https://");
  hub_->rules({{{"server", "hub"}, {"path", "resolve"}, {"location", "file:///etc/passwd"}}});
  expect_failure("acme/tiny-GGUF", 31, "which is no address with https://");
  hub_->rules({{{"server", "hub"}, {"path", "api"}, {"status", 200}}});
  expect_failure("acme/tiny-GGUF", 31, "does not answer as the hub does");
  EXPECT_TRUE(left_over().empty());
}

TEST_F(ModelsHub, MistakesAreSaid) {
  expect_failure("hf:acme", 30, "names no model of the hub; write hf:OWNER/REPO");
  expect_failure("hf:acme/tiny-GGUF/README.md", 30, "names no model of the hub");
  expect_failure("hf:acme/../x.gguf", 30, "names no model of the hub");
  expect_failure("'hf:acme/tiny GGUF'", 30, "names no model of the hub");
  expect_failure("acme/tiny", 31, "hf:OWNER/REPO for one of the Hugging Face hub");
  expect_failure("acme/tiny-GGUF", 30, "HF_TOKEN has a character that no token has", "HF_TOKEN='hf_a b'");
  expect_failure("acme/tiny-GGUF", 30, "HF_ENDPOINT is 'http://example.org'", "HF_ENDPOINT=http://example.org");
  expect_failure("http://example.org/x.gguf", 30, "begins with https://");
  expect_failure("ftp://example.org/x.gguf", 30, "begins with https://");
  expect_failure("acme/tiny-GGUF --name pocket", 31, "there is a model of this name");
  expect_failure("acme/tiny-GGUF", 31, "curl: error: is not installed", "PATH=/no/such/folder");
  EXPECT_TRUE(hub_->log("cdn").empty());
  // A model that llama.cpp cannot run was fetched all the same.
  std::string odd = tiny_;
  odd.replace(odd.find("llama"), 5, "lamma");
  hub_->publish("acme/odd-GGUF/odd.gguf", odd);
  const Result result = run("models add acme/odd-GGUF");
  EXPECT_EQ(result.code, 31);
  EXPECT_CONTAINS(result.err, "'metactrl models remove odd' removes it");
  EXPECT_EQ(run("models remove odd").code, 0);
  EXPECT_TRUE(left_over().empty());
  const Result unknown = run("plan -d d.pddl -p p.pddl --guidance mask --model acme/tiny-GGUF");
  EXPECT_EQ(unknown.code, 31);
}

TEST_F(ModelsHub, AFullDiskKeepsWhatIsThere) {
  // The system's limit for the size of a file stands for the disk's.
  const std::string full = "( trap '' XFSZ; ulimit -f 100; " + command("models add acme/tiny-GGUF", settings()) +
                           " ) >'" + path("out") + "' 2>'" + path("err") + "'";
  const int status = std::system(full.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 31) << read("err");
  EXPECT_CONTAINS(read("err"), "cannot be written: File too large; make room");
  EXPECT_CONTAINS(read("err"), "what was fetched is kept");
  const std::uintmax_t kept = fs::file_size(path("cache/models/.fetch/tiny-Q4_K_M.gguf.part"));
  EXPECT_GT(kept, 0U);
  hub_->clear_log();
  EXPECT_EQ(run("models add acme/tiny-GGUF").code, 0) << read("err");
  EXPECT_EQ(hub_->log("cdn")[0]["Range"], "bytes=" + std::to_string(kept) + "-");
  EXPECT_SAME_BYTES(read("cache/models/tiny-Q4_K_M.gguf"), tiny_);
}

TEST_F(ModelsHub, TwoAtOnceFetchOnce) {
  const std::string one = "( " + command("models add acme/tiny-GGUF", settings()) + " ) >'" + path("o1") + "' 2>&1";
  const std::string two = "( " + command("models add acme/tiny-GGUF", settings()) + " ) >'" + path("o2") + "' 2>&1";
  const std::string both = one + " & a=$!; " + two + " & b=$!; wait $a && wait $b";
  EXPECT_EQ(std::system(both.c_str()), 0) << read("o1") << read("o2");
  EXPECT_EQ(hub_->log("cdn").size(), 1U);
  EXPECT_EQ(entry("tiny-Q4_K_M")["status"], "present");
}

TEST_F(ModelsHub, ATerminalShowsHowFarItIs) {
  if (std::system("command -v script >/dev/null") != 0) GTEST_SKIP() << "no program 'script'";
  hub_->rules({{{"server", "cdn"}, {"slow", 0.02}}});
  write("add", command("models add acme/tiny-GGUF", settings()));
  const std::string line = "script -qec 'sh " + path("add") + "' /dev/null </dev/null >'" + path("seen") + "' 2>&1";
  EXPECT_EQ(std::system(line.c_str()), 0) << read("seen");
  EXPECT_CONTAINS(read("seen"), "of tiny-Q4_K_M.gguf fetched, ");
  EXPECT_CONTAINS(read("seen"), " per second, ");
  EXPECT_CONTAINS(read("seen"), "%");
}

TEST_F(ModelsHub, ChatTemplatesAreNamed) {
  testing::write_tiny_gguf(path("bare.gguf"), {.chat_template = false});
  testing::write_tiny_gguf(path("strange.gguf"), {.template_text = "{{ messages[0].content | reverse }}"});
  testing::write_tiny_gguf(path("three.gguf"),
                           {.template_text = "{% for m in messages %}<|start_header_id|>{{ m.role }}"
                                             "<|end_header_id|>\n\n{{ m.content | trim }}<|eot_id|>{% endfor %}"});
  testing::write_tiny_gguf(path("new.gguf"), {.template_text = "{% for m in messages %}@{{ m.content }}{% endfor %}"});
  const auto says = [&](const std::string& name, const std::string& text, const Json& json) {
    const Result added = run("models add " + name + ".gguf");
    EXPECT_EQ(added.code, 0) << added.err;
    EXPECT_CONTAINS(added.out, "\n  " + text + "\n");
    EXPECT_CONTAINS(run("models").out, "\n    " + text + "\n");
    EXPECT_EQ(entry(name)["chat_template"], json);
    EXPECT_EQ(run("models remove " + name).code, 0);
  };
  says("tiny", "chat template: chatml", {{"status", "understood"}, {"name", "chatml"}});
  says("three", "chat template: llama3", {{"status", "understood"}, {"name", "llama3"}});
  says("new", "chat template: its own", {{"status", "understood"}, {"name", "its own"}});
  says("strange",
       "chat template: cannot be used, so only raw prompts can be sent; it does not write what the user says",
       {{"status", "not understood"}, {"why", "it does not write what the user says"}});
  says("bare", "no chat template, prompts are sent as plain text", {{"status", "none"}});
}

}  // namespace
}  // namespace metactrl::models_hub_test
