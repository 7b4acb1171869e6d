// metactrl backends, run as a program. A folder plays the package registry; a copy of the CPU's backend plays one for
// GPUs, since it can be loaded anywhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/llama_pins.h"
#include "lm/library_file.h"
#include "metactrl/error.h"
#include "support/command_line.h"
#include "support/fake_hub.h"
#include "support/sha2.h"
#include "support/tiny_gguf.h"

namespace metactrl::backends_cli_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Result = testing::CommandResult;

std::string sha512(const std::string& text) {
  internal::Sha512 sum;
  sum.add(text);
  return sum.hex();
}

class BackendsCli : public testing::CommandLineTest {
 protected:
  void SetUp() override {
    CommandLineTest::SetUp();
    list_ = Json::parse(CommandLineTest::run("backends --output json").out);
    if (list_["built_in"].get<bool>()) return;
    // "llama.cpp 0.5.0-dev"
    const std::string runtime = list_["runtime"].get<std::string>().substr(std::string("llama.cpp ").size());
    version_ = runtime.substr(0, runtime.find_first_not_of("0123456789."));
  }

  Result run(const std::string& arguments, const std::string& environment = "") const {
    return CommandLineTest::run(arguments, "METACTRL_LLAMA_PINS='" + path("pins") + "' METACTRL_NPM_REGISTRY='file://" +
                                               path("registry") + "' " + environment);
  }
  bool is_built_in() const { return list_["built_in"].get<bool>(); }
  const Json& before() const { return list_; }
  std::string content_of(const std::string& file) const {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  // The CPU's backend that is in use.
  std::string cpu_backend() const { return content_of(list_["files"][0]["file"]); }

  // A registry with a package for `cuda`, and pins for it.
  void make_registry(const std::string& library, const std::string& sum = "") {
    write("pack/package/bins/linux-toy-cuda/libggml-cuda.so", library);
    write("pack/package/bins/linux-toy-cuda/libggml-base.so", "not wanted");
    fs::create_directories(path("registry/@toys/linux-toy-cuda/-"));
    ASSERT_EQ(std::system(("tar -czf '" + path(archive_) + "' -C '" + path("pack") + "' package").c_str()), 0);
    write_pins(read(archive_).size(), sum.empty() ? sha512(read(archive_)) : sum);
  }
  void write_pins(std::size_t bytes, const std::string& sum, const std::string& machine = lm::machine_name()) const {
    write("pins", "# a comment\nversion " + version_ + "\nregistry https://example.org\npackage cuda-" + machine +
                      " @toys/linux-toy-cuda 1.2.3 " + std::to_string(bytes) + " " + sum + "\n");
  }
  std::string added() const { return path("cache/backends/llama.cpp-" + version_ + "-" + lm::machine_name()); }
  std::vector<std::string> left_over() const {
    std::vector<std::string> files;
    if (!fs::exists(added())) return files;
    for (const fs::directory_entry& file : fs::recursive_directory_iterator(added())) {
      const std::string name = file.path().filename().string();
      if (file.is_regular_file() && !name.ends_with("lock")) files.push_back(name);
    }
    return files;
  }
  Json file_named(const std::string& name, const std::string& environment = "") const {
    const Json list = Json::parse(run("backends --output json", environment).out);
    for (const Json& file : list["files"]) {
      if (file["name"] == name) return file;
    }
    return nullptr;
  }
  void write_task() const {
    write("d.pddl",
          "(define (domain d) (:predicates (p)) (:action go :parameters () :precondition (not (p)) :effect (p)))");
    write("p.pddl", "(define (problem x) (:domain d) (:init) (:goal (p)))");
    testing::write_tiny_gguf(path("tiny.gguf"), {.context = 640});
  }

  std::string archive_ = "registry/@toys/linux-toy-cuda/-/linux-toy-cuda-1.2.3.tgz";

 private:
  Json list_;
  std::string version_;
};

constexpr const char* kPlan = "plan -d d.pddl -p p.pddl --guidance mask --model tiny.gguf ";

TEST(LlamaPins, TheProjectsOwnAreRead) {
  const cli::LlamaPins pins = cli::llama_pins();
  EXPECT_FALSE(pins.version.empty());
  EXPECT_TRUE(pins.registry.starts_with("https://")) << pins.registry;
  const cli::PinnedPackage* cuda = pins.find("cuda-x86_64");
  ASSERT_NE(cuda, nullptr);
  EXPECT_EQ(cuda->sha512.size(), 128U);
  EXPECT_GT(cuda->bytes, 1'000'000U);
  EXPECT_TRUE(cuda->package.name.ends_with("cuda")) << cuda->package.name;
  EXPECT_NE(pins.find("vulkan-x86_64"), nullptr);
  ASSERT_NE(pins.find("cuda12-x86_64"), nullptr);
  EXPECT_TRUE(pins.find("cuda12-x86_64")->file.ends_with("libggml-cuda.so"));
  EXPECT_EQ(pins.find("cuda"), nullptr);
}

TEST(LlamaPins, MistakesNameTheLine) {
  const std::string start = "# comment\n\nversion 1\nregistry https://example.org\n";
  const std::string sum(128, 'a');
  EXPECT_EQ(cli::parse_llama_pins(start + "package x @a/b 1.0 17 " + sum, "f").find("x")->bytes, 17U);
  EXPECT_EQ(cli::parse_llama_pins(start + "package x @a/b 1.0 17 " + sum, "f").find("x")->file, "");
  EXPECT_EQ(cli::parse_llama_pins(start + "package x @a/b 1.0 17 " + sum + " c/b.so", "f").find("x")->file, "c/b.so");
  const auto failure = [](const std::string& text) -> std::string {
    try {
      cli::parse_llama_pins(text, "f");
    } catch (const InputError& error) {
      return error.what();
    }
    return "read";
  };
  for (const std::string& line :
       {std::string("package x @a/b 1.0 17"), "package x @a/b 1.0 many " + sum, "package x @a/b 1.0 17 " + sum + "0",
        "package x @a/b 1.0 17 " + std::string(128, 'z'), "package x @a/b 1.0 17 " + sum + " b.so more",
        std::string("version"), std::string("sum 1")}) {
    EXPECT_CONTAINS(failure(start + line), "f:5");
  }
  EXPECT_CONTAINS(failure("version 1\n"), "no registry");
}

TEST_F(BackendsCli, ListsWhatIsThere) {
  if (is_built_in()) GTEST_SKIP() << "llama.cpp was built with its backends inside";
  EXPECT_EQ(before()["machine"], lm::machine_name());
  EXPECT_EQ(before()["devices"][0]["kind"], "cpu");
  EXPECT_EQ(before()["files"][0]["name"], before()["devices"][0]["backend"]);
  EXPECT_EQ(before()["files"][0]["loaded"], true);
  EXPECT_EQ(before()["added"], added());
  make_registry("x");
  const Result text = run("backends");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_CONTAINS(text.out, "Devices:\n  CPU");
  EXPECT_CONTAINS(text.out, "Can be fetched with 'metactrl backends add NAME':\n  cuda        NVIDIA GPUs, ");
  const Json list = Json::parse(run("backends --output json").out);
  ASSERT_EQ(list["can_be_added"].size(), 1U);
  EXPECT_EQ(list["can_be_added"][0]["name"], "cuda");
  EXPECT_EQ(list["can_be_added"][0]["bytes"], read(archive_).size());
  for (const Json& library : list["can_be_added"][0]["needs"]) {
    const std::string missing = "missing: " + library["library"].get<std::string>() + " (";
    EXPECT_EQ(text.out.find(missing) == std::string::npos, library["found"].get<bool>()) << text.out;
  }
}

TEST_F(BackendsCli, ABackendIsFetchedCheckedLoadedAndRemoved) {
  if (is_built_in()) GTEST_SKIP() << "llama.cpp was built with its backends inside";
  make_registry(cpu_backend());
  const Result result = run("backends add cuda");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_CONTAINS(result.out, "cuda is there: " + added() + "/libggml-cuda.so\n  CPU");
  EXPECT_EQ(left_over(), std::vector<std::string>{"libggml-cuda.so"});
  EXPECT_EQ(content_of(added() + "/libggml-cuda.so"), cpu_backend());
  EXPECT_EQ(file_named("cuda")["loaded"], true);
  EXPECT_EQ(run("backends").out.find("Can be fetched"), std::string::npos);
  // It is there: no network is needed.
  fs::remove_all(path("registry"));
  EXPECT_EQ(run("backends add cuda").code, 0);
  const Result removed = run("backends remove cuda");
  EXPECT_EQ(removed.code, 0) << removed.err;
  EXPECT_TRUE(left_over().empty());
  EXPECT_TRUE(file_named("cuda").is_null());
  EXPECT_EQ(run("backends remove cuda").code, 31);
}

TEST_F(BackendsCli, OfTwoForTheSameGpusOneIsLoaded) {
  if (is_built_in()) GTEST_SKIP() << "llama.cpp was built with its backends inside";
  // The package of `cuda12` has it in a folder of its own, and under the other's name.
  make_registry(cpu_backend());
  fs::create_directories(path("pack/package/bins/linux-toy-cuda/older"));
  fs::rename(path("pack/package/bins/linux-toy-cuda/libggml-cuda.so"),
             path("pack/package/bins/linux-toy-cuda/older/libggml-cuda.so"));
  ASSERT_EQ(std::system(("tar -czf '" + path(archive_) + "' -C '" + path("pack") + "' package").c_str()), 0);
  const std::string pin = std::to_string(read(archive_).size()) + " " + sha512(read(archive_)) +
                          " bins/linux-toy-cuda/older/libggml-cuda.so\n";
  write_pins(read(archive_).size(), sha512(read(archive_)));
  write("pins", read("pins") + "package cuda12-" + lm::machine_name() + " @toys/linux-toy-cuda 1.2.3 " + pin);
  const Result first = run("backends add cuda12");
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_CONTAINS(first.out, "cuda12 is there: " + added() + "/libggml-cuda12.so\n  CPU");
  EXPECT_EQ(content_of(added() + "/libggml-cuda12.so"), cpu_backend());
  EXPECT_EQ(file_named("cuda12")["loaded"], true);
  // With both there, `cuda` is the one, and the other says why it is not.
  fs::copy_file(added() + "/libggml-cuda12.so", added() + "/libggml-cuda.so");
  EXPECT_EQ(file_named("cuda")["loaded"], true);
  EXPECT_EQ(file_named("cuda12")["loaded"], false);
  EXPECT_EQ(file_named("cuda12")["problem"], "cuda is loaded, which is for the same GPUs");
  // Where `cuda` cannot be loaded, the other is, and is named where it is not there.
  write("cache" + added().substr(path("cache").size()) + "/libggml-cuda.so", "no library");
  EXPECT_EQ(file_named("cuda")["loaded"], false);
  EXPECT_EQ(file_named("cuda12")["loaded"], true);
  EXPECT_CONTAINS(run("backends").out, "for other GPUs and older drivers: metactrl backends add cuda12\n");
}

TEST_F(BackendsCli, WhatIsNotThePackageIsNotKept) {
  if (is_built_in()) GTEST_SKIP() << "llama.cpp was built with its backends inside";
  make_registry(cpu_backend(), std::string(128, '0'));
  const Result wrong = run("backends add cuda");
  EXPECT_EQ(wrong.code, 31);
  EXPECT_CONTAINS(wrong.err, "its SHA-512 is " + sha512(read(archive_)) + " and should be 000");
  EXPECT_TRUE(left_over().empty());
  // Longer than it should be.
  write_pins(read(archive_).size() - 1, sha512(read(archive_)));
  const Result longer = run("backends add cuda");
  EXPECT_EQ(longer.code, 31);
  EXPECT_CONTAINS(longer.err, "is not the file it should be");
  EXPECT_TRUE(left_over().empty());
  // A package without the file.
  make_registry(cpu_backend());
  fs::remove(path("pack/package/bins/linux-toy-cuda/libggml-cuda.so"));
  ASSERT_EQ(std::system(("tar -czf '" + path(archive_) + "' -C '" + path("pack") + "' package").c_str()), 0);
  write_pins(read(archive_).size(), sha512(read(archive_)));
  const Result empty = run("backends add cuda");
  EXPECT_EQ(empty.code, 31);
  EXPECT_CONTAINS(empty.err, "cannot be unpacked");
  EXPECT_TRUE(left_over().empty());
}

TEST_F(BackendsCli, AFetchThatWasCutOffGoesOn) {
  if (is_built_in()) GTEST_SKIP() << "llama.cpp was built with its backends inside";
  make_registry(cpu_backend());
  const std::string package = read(archive_);
  const std::string work = "cache" + added().substr(path("cache").size()) + "/.fetch/";
  // As a killed program leaves it: half a package, half a library.
  write(work + "@toys+linux-toy-cuda-1.2.3.tgz.part", package.substr(0, package.size() / 2));
  write(work + "libggml-cuda.so", "half");
  EXPECT_EQ(run("backends add cuda").code, 0) << read("err");
  EXPECT_EQ(content_of(added() + "/libggml-cuda.so"), cpu_backend());
  // A whole package that was not unpacked yet is not fetched again; one that is damaged is.
  EXPECT_EQ(run("backends remove cuda").code, 0);
  write(work + "@toys+linux-toy-cuda-1.2.3.tgz", package);
  fs::rename(path("registry"), path("elsewhere"));
  EXPECT_EQ(run("backends add cuda").code, 0) << read("err");
  EXPECT_EQ(run("backends remove cuda").code, 0);
  write(work + "@toys+linux-toy-cuda-1.2.3.tgz", package.substr(1));
  EXPECT_EQ(run("backends add cuda").code, 31);
  fs::rename(path("elsewhere"), path("registry"));
  EXPECT_EQ(run("backends add cuda").code, 0) << read("err");
  EXPECT_EQ(left_over(), std::vector<std::string>{"libggml-cuda.so"});
}

// A registry need not say which version of a file it has: a package of a certain version never changes.
TEST_F(BackendsCli, ACutConnectionIsTakenUpWithoutAVersionOfTheFile) {
  if (is_built_in()) GTEST_SKIP() << "llama.cpp was built with its backends inside";
  make_registry(cpu_backend());
  const std::string package = read(archive_);
  const std::string half = std::to_string(package.size() / 2);
  const testing::FakeHub server(path("hub"));
  server.publish_plain(archive_.substr(std::string("registry/").size()), package);
  server.rules({{{"server", "hub"}, {"cut", package.size() / 2}, {"etag", ""}}, {{"server", "hub"}, {"etag", ""}}});
  const std::string registry = "METACTRL_NPM_REGISTRY='" + server.address() + "/plain'";
  EXPECT_EQ(run("backends add cuda", registry).code, 0) << read("err");
  EXPECT_EQ(content_of(added() + "/libggml-cuda.so"), cpu_backend());
  ASSERT_EQ(server.log().size(), 2U);
  EXPECT_EQ(server.log()[1]["Range"], "bytes=" + half + "-");
  EXPECT_TRUE(server.log()[1]["If-Range"].is_null());
  // As a killed program leaves it.
  EXPECT_EQ(run("backends remove cuda").code, 0);
  server.clear_log();
  const std::string part =
      "cache" + added().substr(path("cache").size()) + "/.fetch/@toys+linux-toy-cuda-1.2.3.tgz.part";
  write(part, package.substr(0, package.size() / 2));
  write(part + ".json", Json{{"address", server.address() + "/plain" + archive_.substr(std::string("registry").size())},
                             {"tag", ""},
                             {"bytes", package.size()},
                             {"sha256", ""}}
                            .dump());
  EXPECT_EQ(run("backends add cuda", registry).code, 0) << read("err");
  EXPECT_EQ(content_of(added() + "/libggml-cuda.so"), cpu_backend());
  ASSERT_EQ(server.log().size(), 1U);
  EXPECT_EQ(server.log()[0]["Range"], "bytes=" + half + "-");
}

// Neither a damaged file nor one that needs what is not there stops the program; the list says what is wrong.
TEST_F(BackendsCli, WhatCannotBeLoadedIsSaid) {
  if (is_built_in()) GTEST_SKIP() << "llama.cpp was built with its backends inside";
  write_task();
  make_registry("x");
  const std::string library = content_of(METACTRL_NO_BACKEND);
  write("mine/libggml-toy.so", library);
  write("mine/libggml-cut.so", library.substr(0, library.size() / 2));
  write("mine/libggml-text.so", "not a library");
  write("mine/libggml-cuda.so", content_of(METACTRL_NEEDY_BACKEND));
  write("mine/libother.so", "not looked at");
  fs::create_directory(path("mine/libggml-folder.so"));
  const std::string mine = "METACTRL_BACKENDS='" + path("mine") + "'";
  EXPECT_CONTAINS(file_named("toy", mine)["problem"].get<std::string>(), "ggml_backend_init");
  EXPECT_EQ(file_named("cut", mine)["problem"], "it is cut off");
  EXPECT_EQ(file_named("text", mine)["problem"], "it is not a shared library");
  EXPECT_EQ(file_named("cuda", mine)["problem"], "libmetactrl_elsewhere.so is not to be found");
  EXPECT_FALSE(file_named("folder", mine)["problem"].get<std::string>().empty());
  EXPECT_TRUE(file_named("other", mine).is_null());
  const Result text = run("backends", mine);
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_CONTAINS(text.out, "cut         CANNOT BE LOADED: it is cut off");
  const Result plan = run(kPlan, mine);
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_CONTAINS(plan.err, "; on CPU\n");
  // From the folder where the program is started, nothing is loaded.
  write("libggml-cuda.so", cpu_backend());
  EXPECT_TRUE(file_named("cuda").is_null());
  // What was fetched and cannot be loaded here stays, and says why.
  make_registry(content_of(METACTRL_NEEDY_BACKEND));
  const Result needy = run("backends add cuda");
  EXPECT_EQ(needy.code, 0) << needy.err;
  EXPECT_CONTAINS(needy.out, "It cannot be loaded here: libmetactrl_elsewhere.so is not to be found");
}

// A backend without code for a GPU that is there would end the program at the first thing that it computes.
TEST_F(BackendsCli, WhatAGpuCannotRunIsNotLoaded) {
  if (is_built_in()) GTEST_SKIP() << "llama.cpp was built with its backends inside";
  write_task();
  make_registry(content_of(METACTRL_GPU_BACKEND));
  const auto driver = [](const std::string& cuda, const std::string& gpus) {
    return std::string("LD_LIBRARY_PATH='") + METACTRL_FAKE_CUDA_DRIVER + "' METACTRL_FAKE_CUDA=" + cuda +
           " METACTRL_FAKE_GPUS=" + gpus;
  };
  const std::string reason =
      "Toy 1 (compute capability 9.0) cannot run it: it has machine code for 8.6, 12.0, and what the driver could "
      "translate "
      "is of CUDA 13.1, while the driver knows 13.0; install a driver for CUDA 13.1 or newer (590), or leave that GPU "
      "out "
      "with CUDA_VISIBLE_DEVICES, or build llama.cpp from source for it (docs/backends.md)";
  const std::string old = driver("13000", "86,90");
  const Result add = run("backends add cuda", old);
  EXPECT_EQ(add.code, 0) << add.err;
  EXPECT_CONTAINS(add.out, "It cannot be loaded here: " + reason + "\n");
  EXPECT_EQ(file_named("cuda", old)["problem"], reason);
  EXPECT_CONTAINS(run("backends", old).out, "cuda        CANNOT BE LOADED: " + reason);
  for (const char* layers : {"", "--gpu-layers auto"}) {
    const Result plan = run(std::string(kPlan) + layers, old);
    EXPECT_EQ(plan.code, 0) << plan.err;
    EXPECT_CONTAINS(plan.err, "; on CPU\n");
  }
  const Result asked = run(std::string(kPlan) + "--gpu-layers 9", old);
  EXPECT_EQ(asked.code, 31);
  EXPECT_CONTAINS(asked.err, "llama.cpp knows of none; cuda cannot be loaded: " + reason);
  // With another driver, another GPU, or none, it is loaded: this one is no backend, and that is what is said then.
  for (const std::string& fits : {driver("13010", "86,90"), driver("13000", "86"), driver("13000", "''")}) {
    EXPECT_CONTAINS(file_named("cuda", fits)["problem"].get<std::string>(), "ggml_backend_init");
  }
}

TEST_F(BackendsCli, MistakesGetOneLine) {
  const auto expect = [&](const std::string& arguments, int code, const std::string& message,
                          const std::string& environment = "") {
    const Result r = run(arguments, environment);
    EXPECT_EQ(r.code, code) << arguments << r.err;
    EXPECT_CONTAINS(r.err, message);
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  };
  make_registry("x");
  expect("backends ad cuda", 30, "'ad' is none of add, remove");
  expect("backends add", 30, "name the backend to add: cuda, cuda12, vulkan");
  expect("backends add cude", 31, "did you mean 'cuda'?");
  expect("backends remove metal", 31, "name one of cuda, cuda12, vulkan");
  expect("backends add cuda --output json", 30, "--output and --out are for the list");
  if (is_built_in()) {
    expect("backends add cuda", 31, "with its backends inside");
    return;
  }
  expect("backends add vulkan", 31, "there is no ready-made vulkan backend for " + lm::machine_name());
  expect("backends add cuda", 31, "curl: error: is not installed", "PATH=/no/such/folder");
  expect("backends remove cuda", 31, "was not added");
  write("bad", "version 1\nnonsense\n");
  expect("backends", 31, "bad:2", "METACTRL_LLAMA_PINS=bad");
  write_pins(17, std::string(128, '0'), "pdp11");
  expect("backends add cuda", 31, "scripts/llama --source --cuda");
  EXPECT_CONTAINS(run("backends").out, "there are no ready-made GPU backends for " + lm::machine_name());
}

TEST_F(BackendsCli, AModelSaysWhereItRan) {
  write_task();
  make_registry("x");
  for (const char* layers : {"", "--gpu-layers auto", "--gpu-layers 0"}) {
    const Result plan = run(std::string(kPlan) + layers);
    ASSERT_EQ(plan.code, 0) << plan.err;
    if (before()["devices"].size() == 1 || layers == std::string("--gpu-layers 0")) {
      EXPECT_CONTAINS(plan.err, " s; on CPU\n");
      EXPECT_EQ(Json::parse(run(std::string(kPlan) + layers + " --output json").out)["device"], "CPU");
    }
  }
  // A limit on memory still holds where there is no GPU.
  EXPECT_EQ(run(std::string(kPlan) + "--max-memory 1G").code, 0) << read("err");
  const Result search = run("plan -d d.pddl -p p.pddl --guidance search --output json");
  EXPECT_TRUE(Json::parse(search.out)["device"].is_null()) << search.out;
  const Result odd = run(std::string(kPlan) + "--gpu-layers some");
  EXPECT_EQ(odd.code, 30);
  EXPECT_CONTAINS(odd.err, "'some' is neither 'auto' nor a number of layers");
  if (before()["devices"].size() > 1) GTEST_SKIP() << "there is a GPU";
  const Result none = run(std::string(kPlan) + "--gpu-layers 9");
  EXPECT_EQ(none.code, 31);
  EXPECT_CONTAINS(none.err, "9 layers were asked to be on a GPU, and llama.cpp knows of none");
}

}  // namespace
}  // namespace metactrl::backends_cli_test
