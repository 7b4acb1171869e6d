#include "lm/cuda_driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "support/list_some.h"
#include "support/str_cat.h"

namespace metactrl::lm {

namespace {

using internal::str_cat;

// As in cuda.h, which need not be there.
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;

// Returns null for a function that the driver does not have.
template <typename Function>
Function* find_function(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

// The CUDA that a version of PTX came with: 131 for PTX 9.1.
unsigned cuda_of_ptx(unsigned ptx) {
  const unsigned major = ptx / 10;
  const unsigned minor = ptx % 10;
  // CUDA 12.6 brought no PTX of its own.
  if (major == 8) return 120 + minor + (minor >= 6 ? 1 : 0);
  return (major + 4) * 10 + minor;
}

// "9.0" of 90
std::string version_text(unsigned version) { return str_cat(version / 10, ".", version % 10); }

bool has_machine_code(const std::vector<GpuCode>& code, const CudaGpu& gpu) {
  return std::any_of(code.begin(), code.end(), [&](const GpuCode& one) {
    return one.ptx_version == 0 && one.capability / 10 == gpu.capability / 10 && one.capability <= gpu.capability;
  });
}

// The oldest PTX that could be translated for the GPU; 0 when there is none.
unsigned oldest_ptx(const std::vector<GpuCode>& code, const CudaGpu& gpu) {
  unsigned oldest = 0;
  for (const GpuCode& one : code) {
    if (one.ptx_version == 0 || one.capability > gpu.capability) continue;
    if (oldest == 0 || one.ptx_version < oldest) oldest = one.ptx_version;
  }
  return oldest;
}

std::string machine_code_text(const std::vector<GpuCode>& code) {
  std::vector<std::string> versions;
  for (const GpuCode& one : code) {
    if (one.ptx_version == 0) versions.push_back(version_text(one.capability));
  }
  return versions.empty() ? "it has no machine code"
                          : str_cat("it has machine code for ", internal::list_some(versions));
}

// "a driver for CUDA 13.1 (590 or newer)"
std::string driver_text(unsigned cuda) {
  std::string text = str_cat("a driver for CUDA ", version_text(cuda), " or newer");
  if (cuda == 130) text += " (580)";
  if (cuda == 131) text += " (590)";
  return text;
}

}  // namespace

CudaDriver ask_cuda_driver() {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {};
  auto* start = find_function<int(unsigned)>(library, "cuInit");
  auto* get_version = find_function<int(int*)>(library, "cuDriverGetVersion");
  auto* get_count = find_function<int(int*)>(library, "cuDeviceGetCount");
  auto* get_name = find_function<int(char*, int, int)>(library, "cuDeviceGetName");
  auto* get_attribute = find_function<int(int*, int, int)>(library, "cuDeviceGetAttribute");
  if (start == nullptr || get_version == nullptr || get_count == nullptr || get_name == nullptr ||
      get_attribute == nullptr) {
    return {};
  }
  CudaDriver driver;
  int version = 0;  // 13010 for 13.1
  int count = 0;
  if (start(0) != 0 || get_version(&version) != 0 || get_count(&count) != 0) return {};
  driver.cuda = static_cast<unsigned>(version / 1000 * 10 + version % 1000 / 10);
  for (int gpu = 0; gpu < count; ++gpu) {
    int major = 0;
    int minor = 0;
    std::array<char, 256> name{};
    if (get_attribute(&major, kCapabilityMajor, gpu) != 0 || get_attribute(&minor, kCapabilityMinor, gpu) != 0)
      continue;
    if (get_name(name.data(), static_cast<int>(name.size() - 1), gpu) != 0) name[0] = '\0';
    driver.gpus.push_back(
        {name[0] == '\0' ? str_cat("GPU ", gpu) : std::string(name.data()), static_cast<unsigned>(major * 10 + minor)});
  }
  return driver;
}

std::string why_gpus_cannot_run(const std::vector<GpuCode>& code, const CudaDriver& driver) {
  if (code.empty()) return {};
  for (const CudaGpu& gpu : driver.gpus) {
    if (has_machine_code(code, gpu)) continue;
    const unsigned ptx = oldest_ptx(code, gpu);
    if (ptx != 0 && cuda_of_ptx(ptx) <= driver.cuda) continue;
    std::string text = str_cat(gpu.name, " (compute capability ", version_text(gpu.capability),
                               ") cannot run it: ", machine_code_text(code), ", and ");
    std::string help;
    if (ptx == 0) {
      text += "nothing that could be translated for older GPUs";
    } else {
      text += str_cat("what the driver could translate is of CUDA ", version_text(cuda_of_ptx(ptx)),
                      ", while the driver knows ", version_text(driver.cuda));
      help = str_cat("install ", driver_text(cuda_of_ptx(ptx)), ", or ");
    }
    return str_cat(text, "; ", help,
                   "leave that GPU out with CUDA_VISIBLE_DEVICES, or build llama.cpp from source for it "
                   "(docs/backends.md)");
  }
  return {};
}

}  // namespace metactrl::lm
