// NVIDIA's driver as far as it is asked about GPUs. What it has is in the environment: METACTRL_FAKE_CUDA=13000, and
// METACTRL_FAKE_GPUS=90,86 for compute capability 9.0 and 8.6.
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int kNoDevice = 100;

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<int> gpus() {
  std::vector<int> all;
  std::istringstream list(setting("METACTRL_FAKE_GPUS"));
  for (std::string one; std::getline(list, one, ',');) all.push_back(std::stoi(one));
  return all;
}

}  // namespace

extern "C" {

int cuInit(unsigned /*flags*/) { return gpus().empty() ? kNoDevice : 0; }

int cuDriverGetVersion(int* version) {
  *version = std::stoi(setting("METACTRL_FAKE_CUDA"));
  return 0;
}

int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(gpus().size());
  return 0;
}

int cuDeviceGetName(char* name, int bytes, int device) {
  std::snprintf(name, static_cast<std::size_t>(bytes), "Toy %d", device);
  return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  const int capability = gpus().at(static_cast<std::size_t>(device));
  *value = attribute == 75 ? capability / 10 : capability % 10;
  return attribute == 75 || attribute == 76 ? 0 : 1;
}
}
