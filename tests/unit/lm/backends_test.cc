// Shared libraries as files, and how many layers of a model a GPU gets.
#include "lm/backends.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "lm/cuda_driver.h"
#include "lm/library_file.h"
#include "lm/llama_placement.h"
#include "lm/llama_runtime.h"
#include "metactrl/error.h"
#include "metactrl/language_model.h"
#include "support/tiny_gguf.h"

namespace metactrl::backends_test {
namespace {

namespace fs = std::filesystem;
using lm::BackendDevice;
using lm::BackendReport;
using lm::CudaDriver;
using lm::GpuCode;
using lm::layers_that_fit;
using lm::LibraryFile;
using lm::Load;
using lm::load_gguf;
using lm::look_at_library;
using lm::MemoryNeed;
using lm::missing_libraries;
using lm::ModelPtr;
using lm::Placement;
using lm::why_gpus_cannot_run;

class TemporaryFolder {
 public:
  TemporaryFolder() : path_(fs::temp_directory_path() / ("metactrl_backends_" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return (path_ / name).string();
  }

 private:
  fs::path path_;
};

std::string content_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST(LibraryFile, SaysWhatALibraryNeeds) {
  const LibraryFile plain = look_at_library(METACTRL_NO_BACKEND);
  EXPECT_EQ(plain.problem, "");
  const LibraryFile needy = look_at_library(METACTRL_NEEDY_BACKEND);
  EXPECT_EQ(needy.problem, "");
  EXPECT_NE(std::find(needy.needed.begin(), needy.needed.end(), "libmetactrl_elsewhere.so"), needy.needed.end());
  EXPECT_EQ(missing_libraries(needy.needed), std::vector<std::string>{"libmetactrl_elsewhere.so"});
  EXPECT_EQ(missing_libraries({"libc.so.6"}), std::vector<std::string>{});
}

TEST(LibraryFile, WhatIsCutOffIsNotLoaded) {
  const TemporaryFolder folder;
  const std::string whole = content_of(METACTRL_NO_BACKEND);
  ASSERT_GT(whole.size(), 1000U);
  for (std::size_t length = 0; length < whole.size(); length += 1 + length / 10) {
    const std::string file = folder.file("cut.so", whole.substr(0, length));
    EXPECT_NE(look_at_library(file).problem, "") << length;
  }
  EXPECT_EQ(look_at_library(folder.file("cut.so", whole.substr(0, whole.size() - 1))).problem, "it is cut off");
  EXPECT_EQ(look_at_library(folder.file("text.so", std::string(5000, 'x'))).problem, "it is not a shared library");
  EXPECT_EQ(look_at_library("/nonexistent/libggml-cuda.so").problem, "it cannot be read");
  EXPECT_EQ(look_at_library("/tmp").problem, look_at_library("/").problem);
  EXPECT_NE(look_at_library("/tmp").problem, "");
  // The machine's number, in its header.
  std::string other = whole;
  other[18] = static_cast<char>(8);
  EXPECT_EQ(look_at_library(folder.file("other.so", other)).problem, "it is for another kind of processor");
}

TEST(LibraryFile, DamagedHeadersAreNotFollowed) {
  const TemporaryFolder folder;
  const std::string whole = content_of(METACTRL_NO_BACKEND);
  // Bytes of the headers and of the tables behind them, turned around: it may not matter, and is said or not.
  for (std::size_t at = 0; at < std::min<std::size_t>(whole.size(), 512); at += at < 64 ? 1 : 3) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(~damaged[at]);
    const LibraryFile library = look_at_library(folder.file("damaged.so", damaged));
    EXPECT_TRUE(at >= 4 || library.problem == "it is not a shared library") << at << library.problem;
  }
}

TEST(LibraryFile, SaysWhichGpusItHasCodeFor) {
  const std::vector<GpuCode> expected = {{75, 91}, {86, 0}, {120, 0}};
  const LibraryFile library = look_at_library(METACTRL_GPU_BACKEND);
  EXPECT_EQ(library.problem, "");
  EXPECT_EQ(library.gpu_code, expected);
  EXPECT_TRUE(look_at_library(METACTRL_NO_BACKEND).gpu_code.empty());
  // What is not understood is not judged, and leads nowhere: each byte of the two headers in turn.
  const TemporaryFolder folder;
  const std::string whole = content_of(METACTRL_GPU_BACKEND);
  const std::size_t at = whole.find("\x50\xed\x55\xba");
  ASSERT_NE(at, std::string::npos);
  for (std::size_t i = 0; i < 32; ++i) {
    std::string damaged = whole;
    damaged[at + i] = static_cast<char>(~damaged[at + i]);
    const LibraryFile other = look_at_library(folder.file("damaged.so", damaged));
    EXPECT_EQ(other.problem, "");
    const bool is_a_length = i < 16 || i >= 20;
    EXPECT_EQ(other.gpu_code.empty(), is_a_length) << i;
  }
}

TEST(CudaDriver, KnowsWhichGpusCanRunALibrary) {
  // As in the ready-made backend.
  const std::vector<GpuCode> code = {{75, 91}, {80, 91}, {86, 0}, {89, 0}, {90, 91}, {120, 0}, {121, 0}};
  const auto one = [&](unsigned cuda, unsigned capability) {
    return why_gpus_cannot_run(code, {cuda, {{"Toy", capability}}});
  };
  EXPECT_EQ(
      one(130, 90),
      "Toy (compute capability 9.0) cannot run it: it has machine code for 8.6, 8.9, 12.0, 12.1, and what the driver "
      "could translate is of CUDA 13.1, while the driver knows 13.0; install a driver for CUDA 13.1 or newer (590), or "
      "leave that GPU out with CUDA_VISIBLE_DEVICES, or build llama.cpp from source for it (docs/backends.md)");
  for (const unsigned capability : {75U, 80U, 90U, 100U, 103U, 110U}) {
    EXPECT_NE(one(130, capability), "") << capability;
    EXPECT_EQ(one(131, capability), "") << capability;
    EXPECT_EQ(one(140, capability), "") << capability;
  }
  // Machine code is for newer minor versions, too.
  for (const unsigned capability : {86U, 87U, 89U, 120U, 121U}) EXPECT_EQ(one(130, capability), "") << capability;
  const std::string old = one(131, 70);
  EXPECT_NE(old.find("(compute capability 7.0)"), std::string::npos) << old;
  EXPECT_EQ(old.find("install"), std::string::npos) << old;
  // Each GPU that is there counts.
  EXPECT_NE(why_gpus_cannot_run(code, {130, {{"Good", 86}, {"Bad", 90}}}).find("Bad (compute"), std::string::npos);
  EXPECT_EQ(why_gpus_cannot_run(code, {130, {}}), "");
  EXPECT_EQ(why_gpus_cannot_run({}, {130, {{"Toy", 90}}}), "");
}

TEST(CudaDriver, OlderCodeIsTranslatedForEveryGpuSince) {
  // As in the ready-made backend of CUDA 12.4.
  const std::vector<GpuCode> code = {{50, 84}, {61, 84}, {70, 84}, {75, 84}, {80, 84}, {86, 0}};
  for (const unsigned capability : {50U, 52U, 61U, 70U, 75U, 80U, 86U, 89U, 90U, 100U, 120U}) {
    EXPECT_EQ(why_gpus_cannot_run(code, {124, {{"Toy", capability}}}), "") << capability;
    EXPECT_EQ(why_gpus_cannot_run(code, {130, {{"Toy", capability}}}), "") << capability;
    const bool has_its_own = capability / 10 == 8 && capability >= 86;
    EXPECT_EQ(why_gpus_cannot_run(code, {123, {{"Toy", capability}}}).empty(), has_its_own) << capability;
  }
  EXPECT_NE(why_gpus_cannot_run(code, {130, {{"Toy", 37}}}), "");
}

TEST(CudaDriver, KnowsTheVersionsOfPtx) {
  const auto runs = [](unsigned ptx, unsigned cuda) {
    return why_gpus_cannot_run({{75, ptx}}, {cuda, {{"Toy", 90}}}).empty();
  };
  for (const auto& [ptx, cuda] : std::vector<std::pair<unsigned, unsigned>>{
           {70, 110}, {78, 118}, {80, 120}, {85, 125}, {86, 127}, {87, 128}, {88, 129}, {90, 130}, {91, 131}}) {
    EXPECT_TRUE(runs(ptx, cuda)) << ptx;
    EXPECT_FALSE(runs(ptx, cuda - 1)) << ptx;
  }
}

TEST(Placement, AsManyLayersAsFit) {
  constexpr double kGigabyte = 1e9;
  MemoryNeed need;
  need.layers = 33;
  need.per_layer = 0.5 * kGigabyte;
  need.per_device = 1.5 * kGigabyte;
  EXPECT_EQ(layers_that_fit(need, {80 * kGigabyte}), 33U);
  EXPECT_EQ(layers_that_fit(need, {18 * kGigabyte}), 33U);
  EXPECT_EQ(layers_that_fit(need, {17.9 * kGigabyte}), 32U);
  EXPECT_EQ(layers_that_fit(need, {8 * kGigabyte}), 13U);
  EXPECT_EQ(layers_that_fit(need, {1.9 * kGigabyte}), 0U);
  EXPECT_EQ(layers_that_fit(need, {0}), 0U);
  EXPECT_EQ(layers_that_fit(need, {}), 0U);
  // Each of two pays for what it computes.
  EXPECT_EQ(layers_that_fit(need, {8 * kGigabyte, 8 * kGigabyte}), 26U);
  EXPECT_EQ(layers_that_fit(need, {8 * kGigabyte, 0}), 13U);
}

TEST(Placement, WhatIsTooMuchBecomesLessAndEnds) {
  Placement placement{{nullptr}, 33};
  unsigned tries = 0;
  while (placement.layers > 0) {
    const Placement less = lm::smaller(placement);
    EXPECT_LT(less.layers, placement.layers);
    EXPECT_EQ(less.devices.empty(), less.layers == 0);
    placement = less;
    ++tries;
  }
  EXPECT_LT(tries, 10U);
  EXPECT_EQ(lm::smaller({{nullptr}, 1}).layers, 0U);
}

TEST(Placement, TheHeaderSaysHowLargeAModelIs) {
  const TemporaryFolder folder;
  const std::string file = folder.file("tiny.gguf", "");
  testing::write_tiny_gguf(file);
  const ModelPtr header = load_gguf(file, Load::kHeader, {});
  const ModelPtr whole = load_gguf(file, Load::kAll, {});
  EXPECT_GT(llama_model_size(header.get()), 0U);
  EXPECT_EQ(llama_model_size(header.get()), llama_model_size(whole.get()));
  EXPECT_EQ(llama_model_n_layer(header.get()), llama_model_n_layer(whole.get()));
  EXPECT_EQ(lm::device_text({}, whole.get()), "CPU");
}

TEST(Placement, WithoutAGpuTheCpuIsUsed) {
  if (lm::has_gpu()) GTEST_SKIP() << "there is a GPU";
  const TemporaryFolder folder;
  const std::string file = folder.file("tiny.gguf", "");
  testing::write_tiny_gguf(file);
  EXPECT_EQ(load_model(file)->device(), "CPU");
  EXPECT_EQ(load_model(file, {.gpu_layers = 0})->device(), "CPU");
  try {
    load_model(file, {.gpu_layers = 7});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("7 layers were asked to be on a GPU"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("metactrl backends"), std::string::npos) << error.what();
  }
}

TEST(Backends, TheCpuIsAlwaysThere) {
  const BackendReport report = lm::report_backends();
  bool cpu = false;
  for (const BackendDevice& device : report.devices) {
    if (device.kind != "cpu") continue;
    cpu = true;
    EXPECT_EQ(device.name, "CPU");
    EXPECT_EQ(device.backend.empty(), lm::backends_are_built_in());
    EXPECT_GT(device.total_bytes, 0U);
  }
  EXPECT_TRUE(cpu);
  if (lm::backends_are_built_in()) return;
  ASSERT_FALSE(report.files.empty());
  EXPECT_TRUE(report.files[0].name.starts_with("cpu")) << report.files[0].name;
  EXPECT_EQ(report.files[0].problem, "");
  EXPECT_TRUE(fs::equivalent(report.files[0].file.parent_path(), report.library));
}

}  // namespace
}  // namespace metactrl::backends_test
