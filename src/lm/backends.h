// What llama.cpp computes with: its backends, which are files (libggml-NAME.so) unless they were compiled in.
//
// The CPU's lie beside llama.cpp's library, one for each kind of processor, and the best is loaded. Those for GPUs lie
// there, too, or in the folder of added_backends(), which is looked at when a GPU may be used: the first time that a model
// is loaded without ModelOptions::gpu_layers = 0. The working directory is never searched.
#ifndef METACTRL_SRC_LM_BACKENDS_H_
#define METACTRL_SRC_LM_BACKENDS_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace metactrl::lm {

// $METACTRL_BACKENDS; unless set, backends/llama.cpp-VERSION-MACHINE in the user's cache. Empty when there is no cache,
// and where the backends are compiled in. Need not be there.
std::filesystem::path added_backends();

// Of llama.cpp, "0.5.0", without what a build may add to it; empty in a library that was built without llama.cpp.
std::string runtime_version();
// llama.cpp was built with its backends inside, and loads none.
bool backends_are_built_in();

// Whether there is a GPU that a model could be on. Loads the backends.
bool has_gpu();

struct BackendFile {
  std::string name;  // "cuda", "cpu-haswell"
  std::filesystem::path file;
  std::string problem;  // why it is not loaded; empty when it is
};
struct BackendDevice {
  std::string name;         // "CUDA0"
  std::string description;  // "NVIDIA H200"
  std::string kind;         // "cpu", "gpu", "integrated gpu", "accelerator"
  std::string backend;      // the name of the file it came with; empty where backends are compiled in
  std::uint64_t free_bytes = 0;
  std::uint64_t total_bytes = 0;
};
struct BackendReport {
  std::filesystem::path library;  // the folder that llama.cpp's library is in; empty where the backends are compiled in
  std::vector<BackendFile> files;  // of the CPU's, the one that is loaded
  std::vector<BackendDevice> devices;
};
// Loads the backends.
BackendReport report_backends();

}  // namespace metactrl::lm

#endif  // METACTRL_SRC_LM_BACKENDS_H_
