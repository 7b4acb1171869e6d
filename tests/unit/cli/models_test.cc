// metactrl models add and remove, run as a program. A folder plays the package registry.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/command_line.h"
#include "support/sha2.h"
#include "support/test_data.h"
#include "support/tiny_gguf.h"

namespace metactrl::models_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Result = testing::CommandResult;

class ModelsCli : public testing::CommandLineTest {
 protected:
  void SetUp() override {
    CommandLineTest::SetUp();
    testing::write_tiny_gguf(path("tiny.gguf"), {.context = 640});
  }
  void TearDown() override {
    fs::permissions(folder(), fs::perms::owner_all, fs::perm_options::add);
    CommandLineTest::TearDown();
  }

  Result run(const std::string& arguments, const std::string& environment = "") const {
    return CommandLineTest::run(arguments, "METACTRL_CATALOGUE='" + path("catalogue.json") +
                                               "' METACTRL_NPM_REGISTRY='file://" + path("registry") + "' " +
                                               environment);
  }
  // A catalogue with one model, `toy`, whose file comes in two packages.
  void make_registry(const std::string& sha256 = "") {
    const std::string model = read("tiny.gguf");
    const std::size_t half = model.size() / 2;
    publish("toy-part1", model.substr(0, half));
    publish("@toys/part2", model.substr(half));
    const auto part = [](const std::string& package) {
      return Json{{"package", package}, {"version", "1.2.3"}, {"file", "model.part"}, {"archive_bytes", 1000}};
    };
    write_catalogue(sha256.empty() ? internal::sha256(model) : sha256, model.size(),
                    Json::array({part("toy-part1"), part("@toys/part2")}));
  }
  void write_catalogue(const std::string& sha256, std::uint64_t bytes, const Json& parts) const {
    const Json toy = {{"name", "toy"},    {"title", "A toy"}, {"licence", "MIT"},
                      {"sha256", sha256}, {"bytes", bytes},   {"parts", parts}};
    write("catalogue.json", Json{{"models", Json::array({toy})}}.dump());
  }
  void publish(const std::string& package, const std::string& content) const {
    write("pack/package/model.part", content);
    const std::string name = package.substr(package.find('/') + 1);
    const std::string archive = path("registry/" + package + "/-/" + name + "-1.2.3.tgz");
    fs::create_directories(fs::path(archive).parent_path());
    ASSERT_EQ(std::system(("tar -czf '" + archive + "' -C '" + path("pack") + "' package").c_str()), 0);
  }
  Json entry(const std::string& name) const {
    const Json list = Json::parse(run("models --output json").out);
    for (const Json& model : list["models"]) {
      if (model["name"] == name) return model;
    }
    return nullptr;
  }
  std::vector<std::string> left_over() const {
    std::vector<std::string> files;
    for (const fs::directory_entry& file : fs::recursive_directory_iterator(path("cache/models"))) {
      const std::string name = file.path().filename().string();
      if (file.is_regular_file() && !name.ends_with("lock") && name != "models.json") files.push_back(name);
    }
    return files;
  }
};

constexpr const char* kPlan = "plan -d d.pddl -p p.pddl --guidance mask --model ";

void write_task(const std::string& folder) {
  std::ofstream(folder + "/d.pddl") << "(define (domain d) (:predicates (p)) (:action go :parameters () "
                                       ":precondition (not (p)) :effect (p)))";
  std::ofstream(folder + "/p.pddl") << "(define (problem x) (:domain d) (:init) (:goal (p)))";
}

TEST_F(ModelsCli, AFileIsAddedListedUsedAndForgotten) {
  write("catalogue.json", R"({"models": []})");
  const Result added = run("models add tiny.gguf --name mine");
  ASSERT_EQ(added.code, 0) << added.err;
  EXPECT_CONTAINS(added.out, "mine is there");
  EXPECT_CONTAINS(added.out, internal::sha256(read("tiny.gguf")));
  const Json mine = entry("mine");
  EXPECT_EQ(mine["status"], "present");
  EXPECT_EQ(mine["context"], 640);
  EXPECT_EQ(mine["file"], path("tiny.gguf"));
  EXPECT_CONTAINS(run("models").out, "context 640");
  write_task(path(""));
  EXPECT_EQ(run(kPlan + std::string("mine")).code, 0) << read("err");
  // Again, and by another name.
  EXPECT_EQ(run("models add tiny.gguf --name mine").code, 0);
  EXPECT_EQ(run("models add tiny.gguf").code, 0);
  EXPECT_FALSE(entry("tiny").is_null());

  const Result removed = run("models remove mine");
  EXPECT_EQ(removed.code, 0) << removed.err;
  EXPECT_TRUE(fs::exists(path("tiny.gguf")));
  EXPECT_TRUE(entry("mine").is_null());
  const Result twice = run("models remove mine");
  EXPECT_EQ(twice.code, 31);
  EXPECT_CONTAINS(twice.err, "no model of this name was added");
}

TEST_F(ModelsCli, FilesThatChangeOrGoAreSaid) {
  write("catalogue.json", R"({"models": []})");
  write_task(path(""));
  ASSERT_EQ(run("models add tiny.gguf").code, 0);
  // Touched but the same.
  fs::last_write_time(path("tiny.gguf"), fs::file_time_type::clock::now() - std::chrono::hours(5));
  EXPECT_EQ(entry("tiny")["status"], "present");
  // Other content of the same size.
  testing::write_tiny_gguf(path("tiny.gguf"), {.context = 640, .seed = 2});
  EXPECT_EQ(entry("tiny")["status"], "changed");
  EXPECT_CONTAINS(run("models").out, "CHANGED");
  const Result changed = run(kPlan + std::string("tiny"));
  EXPECT_EQ(changed.code, 31);
  EXPECT_CONTAINS(changed.err, "is not the one that was added");
  // By its path it is any file.
  EXPECT_EQ(run(kPlan + std::string("./tiny.gguf")).code, 0);
  EXPECT_EQ(run("models add tiny.gguf").code, 0);
  EXPECT_EQ(entry("tiny")["status"], "present");
  fs::remove(path("tiny.gguf"));
  EXPECT_EQ(entry("tiny")["status"], "missing");
  EXPECT_CONTAINS(run("models").out, "MISSING");
  const Result gone = run(kPlan + std::string("tiny"));
  EXPECT_EQ(gone.code, 31);
  EXPECT_CONTAINS(gone.err, "is gone");
  EXPECT_EQ(run("models remove tiny").code, 0);
}

TEST_F(ModelsCli, AModelIsFetchedCheckedAndRemembered) {
  make_registry();
  EXPECT_CONTAINS(run("models").out, "toy");
  const Result added = run("models add toy");
  ASSERT_EQ(added.code, 0) << added.err;
  EXPECT_EQ(added.err, "");
  const Json toy = entry("toy");
  EXPECT_EQ(toy["status"], "present");
  EXPECT_EQ(toy["context"], 640);
  EXPECT_EQ(toy["licence"], "MIT");
  EXPECT_EQ(toy["source"], "npm toy-part1@1.2.3, @toys/part2@1.2.3");
  EXPECT_EQ(left_over(), std::vector<std::string>{"toy.gguf"});
  EXPECT_EQ(read("cache/models/toy.gguf"), read("tiny.gguf"));
  write_task(path(""));
  EXPECT_EQ(run(kPlan + std::string("toy")).code, 0) << read("err");
  // It is there: no network is needed.
  fs::remove_all(path("registry"));
  EXPECT_EQ(run("models add toy").code, 0);
  EXPECT_EQ(run("models remove toy").code, 0);
  EXPECT_TRUE(left_over().empty());
  const Result gone = run(kPlan + std::string("toy"));
  EXPECT_EQ(gone.code, 31);
  EXPECT_CONTAINS(gone.err, "metactrl models add toy");
}

TEST_F(ModelsCli, WhatIsNotWhatWasPromisedIsNotKept) {
  make_registry(std::string(64, '0'));
  const Result wrong = run("models add toy");
  EXPECT_EQ(wrong.code, 31);
  EXPECT_CONTAINS(wrong.err,
                  "what was fetched is not this model: its SHA-256 is " + internal::sha256(read("tiny.gguf")));
  EXPECT_TRUE(left_over().empty());
  EXPECT_TRUE(entry("toy").is_null());
  // A package that is not one.
  make_registry();
  write("registry/toy-part1/-/toy-part1-1.2.3.tgz", "garbage");
  const Result garbage = run("models add toy");
  EXPECT_EQ(garbage.code, 31);
  EXPECT_CONTAINS(garbage.err, "cannot be unpacked");
  EXPECT_TRUE(entry("toy").is_null());
  // Its bad package is gone, so the next try can succeed.
  make_registry();
  EXPECT_EQ(run("models add toy").code, 0) << read("err");
}

TEST_F(ModelsCli, AFetchThatWasCutOffGoesOn) {
  make_registry();
  // As a killed program leaves it: half a package, and half a model.
  const std::string package = read("registry/toy-part1/-/toy-part1-1.2.3.tgz");
  write("cache/models/.fetch/toy-part1-1.2.3.tgz.part", package.substr(0, package.size() / 2));
  write("cache/models/.fetch/toy.gguf", "half");
  EXPECT_TRUE(entry("toy").is_null());
  EXPECT_EQ(run("models add toy").code, 0) << read("err");
  EXPECT_EQ(read("cache/models/toy.gguf"), read("tiny.gguf"));
  EXPECT_EQ(run("models remove toy").code, 0);
  // A whole package that was not renamed yet, and one that is another's beginning.
  write("cache/models/.fetch/toy-part1-1.2.3.tgz.part", package);
  write("cache/models/.fetch/@toys+part2-1.2.3.tgz.part", "not the beginning of this one");
  const Result odd = run("models add toy");
  if (odd.code != 0) {
    EXPECT_EQ(run("models add toy").code, 0) << "at the latest the second try begins anew";
  }
  EXPECT_EQ(read("cache/models/toy.gguf"), read("tiny.gguf"));
  // A model that was moved into place and not registered is registered without fetching it.
  write("cache/models/models.json", R"({"models": []})");
  fs::remove_all(path("registry"));
  EXPECT_EQ(run("models add toy").code, 0) << read("err");
  EXPECT_EQ(entry("toy")["licence"], "MIT");
}

TEST_F(ModelsCli, MistakesGetOneLine) {
  make_registry();
  const auto expect = [&](const std::string& arguments, int code, const std::string& message,
                          const std::string& environment = "") {
    const Result r = run(arguments, environment);
    EXPECT_EQ(r.code, code) << arguments << r.err;
    EXPECT_CONTAINS(r.err, message);
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  };
  expect("models ad toy", 30, "'ad' is none of add, remove");
  expect("models add", 30, "name what to add");
  expect("models remove", 30, "name the model to remove");
  expect("models add toi", 31, "did you mean 'toy'?");
  expect("models add no.gguf", 31, "there is no such file");
  expect("models add .", 31, "is neither a file nor a model");
  expect("models add toy --name x", 30, "--name is for files");
  expect("models add tiny.gguf --name 'a b'", 30, "cannot be a model's name");
  expect("models add tiny.gguf --name random", 30, "--model reads it as a test model");
  expect("models add tiny.gguf --name x.gguf", 30, "--model reads it as a file");
  expect("models add tiny.gguf --name toy", 31, "this name is kept");
  expect("models add tiny.gguf --name pocket", 31, "there is a model of this name");
  expect("models remove pocket", 31, "was not added");
  write("text.gguf", "no model");
  expect("models add text.gguf", 31, "not a GGUF file");
  write("cut.gguf", read("tiny.gguf").substr(0, read("tiny.gguf").size() / 2));
  expect("models add cut.gguf", 31, "cut.gguf");
  expect("models add toy", 31, "cannot be fetched", "METACTRL_NPM_REGISTRY=file:///no/such/folder");
  expect("models add toy", 30, "begins with https:// or file://", "METACTRL_NPM_REGISTRY=http://example.org");
  expect("models add toy", 31, "curl: error: is not installed", "PATH=/no/such/folder");
  expect("models", 31, "is not a catalogue of models", "METACTRL_CATALOGUE=text.gguf");
  // More than any disk has.
  const Json part = {{"package", "toy-part1"}, {"version", "1.2.3"}, {"file", "model.part"}, {"archive_bytes", 1}};
  write_catalogue(std::string(64, '0'), std::uint64_t{1} << 60U, Json::array({part}));
  expect("models add toy", 31, "there is not enough room");
  // Nothing of all this was remembered.
  EXPECT_FALSE(fs::exists(path("cache/models/models.json")));
  write("cache/models/models.json", "{");
  expect("models", 31, "is damaged");
  write_task(path(""));
  EXPECT_EQ(run("plan -d d.pddl -p p.pddl --guidance mask").code, 0) << "the built-in model does not need the list";
}

TEST_F(ModelsCli, TwoAtOnceBothSucceed) {
  make_registry();
  const std::string one = "METACTRL_CACHE='" + path("cache") + "' METACTRL_CATALOGUE='" + path("catalogue.json") +
                          "' METACTRL_NPM_REGISTRY='file://" + path("registry") + "' '" + testing::program() +
                          "' models add ";
  const std::string both = "( " + one + "toy >'" + path("o1") + "' 2>&1 & a=$!; " + one + "toy >'" + path("o2") +
                           "' 2>&1 & b=$!; cd '" + path("") + "' && " + one + "tiny.gguf >'" + path("o3") +
                           "' 2>&1 & c=$!; wait $a && wait $b && wait $c )";
  EXPECT_EQ(std::system(both.c_str()), 0) << read("o1") << read("o2") << read("o3");
  EXPECT_EQ(entry("toy")["status"], "present");
  EXPECT_EQ(entry("tiny")["status"], "present");
  EXPECT_EQ(left_over(), std::vector<std::string>{"toy.gguf"});
}

}  // namespace
}  // namespace metactrl::models_test
