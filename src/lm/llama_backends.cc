// Which file a backend came from is where its registration lies in memory: it is a static object of the library.
#include <dlfcn.h>
#include <llama.h>

#include <cstdlib>
#include <mutex>
#include <system_error>

#include "lm/backends.h"
#include "lm/cuda_driver.h"
#include "lm/library_file.h"
#include "lm/llama_placement.h"
#include "lm/llama_runtime.h"
#include "support/files.h"
#include "support/list_some.h"
#include "support/str_cat.h"
#include "support/user_cache.h"

namespace metactrl::lm {

namespace {

namespace fs = std::filesystem;
using internal::str_cat;

// The file that an object or function of a library came from.
fs::path file_of(const void* address) {
  Dl_info library{};
  if (::dladdr(address, &library) == 0 || library.dli_fname == nullptr) return {};
  return library.dli_fname;
}

fs::path library_folder() { return file_of(reinterpret_cast<const void*>(&llama_version)).parent_path(); }

// "cuda" of libggml-cuda.so; empty for other files, and for the library that backends share.
std::string backend_name(const fs::path& file) {
  constexpr std::string_view kBegin = "libggml-";
  const std::string name = file.filename().string();
  if (!name.starts_with(kBegin) || file.extension() != ".so" || name == "libggml-base.so") return {};
  return name.substr(kBegin.size(), name.size() - kBegin.size() - 3);
}

std::vector<fs::path> backend_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const std::string& name : internal::names_in(folder.string())) {
    if (!backend_name(name).empty()) files.push_back(folder / name);
  }
  return files;
}

std::vector<fs::path> loaded_files() {
  std::vector<fs::path> files;
  for (std::size_t i = 0; i < ggml_backend_reg_count(); ++i) files.push_back(file_of(ggml_backend_reg_get(i)));
  return files;
}

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored);
}

// "cuda", and "cuda12" with code for other GPUs and older drivers.
bool is_for_cuda(const fs::path& file) { return backend_name(file).starts_with("cuda"); }

// Why it cannot be, empty when it is loaded.
std::string load_backend(const fs::path& file) {
  for (const fs::path& loaded : loaded_files()) {
    if (is_same_file(loaded, file)) return {};
    if (loaded.filename() == file.filename()) return str_cat("another one is loaded already: ", loaded.string());
    // Two that are for the same GPUs: llama.cpp would count each GPU twice.
    if (is_for_cuda(loaded) && is_for_cuda(file)) {
      return str_cat(backend_name(loaded), " is loaded, which is for the same GPUs");
    }
  }
  const LibraryFile library = look_at_library(file.string());
  if (!library.problem.empty()) return library.problem;
  const std::vector<std::string> missing = missing_libraries(library.needed);
  if (!missing.empty()) {
    return str_cat(internal::list_some(missing), missing.size() == 1 ? " is" : " are", " not to be found");
  }
  if (!library.gpu_code.empty()) {
    std::string reason = why_gpus_cannot_run(library.gpu_code, ask_cuda_driver());
    if (!reason.empty()) return reason;
  }
  ErrorLog log;
  if (ggml_backend_load(file.c_str()) != nullptr) return {};
  std::string reason = log.reason();
  // "load_backend: failed to ..."
  if (const std::size_t colon = reason.find(": "); colon < reason.find(' ')) reason.erase(0, colon + 2);
  return reason;
}

// Backends that are there and cannot be loaded.
std::vector<BackendFile>& refused_files() {
  static std::vector<BackendFile> files;
  return files;
}

void load_or_refuse(const fs::path& file) {
  std::string problem = load_backend(file);
  if (!problem.empty()) refused_files().push_back({backend_name(file), file, std::move(problem)});
}

bool is_for_cpu(const fs::path& file) {
  const std::string name = backend_name(file);
  return name == "cpu" || name.starts_with("cpu-");
}

// How well a CPU's backend suits this one, as it says itself; 0 when it cannot run here. One that does not say is the only one.
int score_of(const fs::path& file) {
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 0;
  auto* score = reinterpret_cast<int (*)()>(::dlsym(library, "ggml_backend_score"));
  const int result = score != nullptr ? score() : backend_name(file) == "cpu" ? 1 : 0;
  ::dlclose(library);
  return result;
}

std::string kind_of(ggml_backend_dev_t device) {
  switch (ggml_backend_dev_type(device)) {
    case GGML_BACKEND_DEVICE_TYPE_CPU:
      return "cpu";
    case GGML_BACKEND_DEVICE_TYPE_GPU:
      return "gpu";
    case GGML_BACKEND_DEVICE_TYPE_IGPU:
      return "integrated gpu";
    default:
      return "accelerator";
  }
}

bool were_built_in = false;  // written once, by load_library_backends

}  // namespace

void load_library_backends() {
  were_built_in = ggml_backend_dev_count() > 0;
  if (were_built_in) return;
  // llama.cpp's own search would load any file of the right name, and abort with what it then computes.
  fs::path best;
  int best_score = 0;
  for (const fs::path& file : backend_files(library_folder())) {
    if (!is_for_cpu(file)) {
      load_or_refuse(file);
    } else if (const int score = score_of(file); score > best_score) {
      best = file;
      best_score = score;
    }
  }
  if (!best.empty()) load_or_refuse(best);
}

void load_added_backends() {
  start_runtime();
  static std::once_flag once;
  std::call_once(once, [] {
    if (were_built_in) return;
    for (const fs::path& file : backend_files(added_backends())) load_or_refuse(file);
  });
}

std::string refused_backends() {
  std::string text;
  for (const BackendFile& file : refused_files()) {
    text += str_cat(text.empty() ? "" : "; ", file.name, " cannot be loaded: ", file.problem);
  }
  return text;
}

fs::path added_backends() {
  if (backends_are_built_in()) return {};
  if (const char* named = std::getenv("METACTRL_BACKENDS"); named != nullptr && *named != '\0') {
    return fs::absolute(named);
  }
  const fs::path cache = internal::user_cache();
  if (cache.empty()) return {};
  return fs::absolute(cache) / "backends" / str_cat("llama.cpp-", runtime_version(), "-", machine_name());
}

std::string runtime_version() {
  const std::string version = llama_version();  // "0.5.0-dev"
  return version.substr(0, version.find_first_not_of("0123456789."));
}

bool backends_are_built_in() {
  start_runtime();
  return were_built_in;
}

bool has_gpu() {
  load_added_backends();
  return !gpu_devices().empty();
}

BackendReport report_backends() {
  load_added_backends();
  BackendReport report;
  if (!were_built_in) {
    report.library = library_folder();
    for (const fs::path& file : loaded_files()) report.files.push_back({backend_name(file), file, ""});
    const std::vector<BackendFile>& refused = refused_files();
    report.files.insert(report.files.end(), refused.begin(), refused.end());
  }
  for (std::size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    ggml_backend_dev_t device = ggml_backend_dev_get(i);
    std::size_t free = 0;
    std::size_t total = 0;
    ggml_backend_dev_memory(device, &free, &total);
    report.devices.push_back({ggml_backend_dev_name(device), ggml_backend_dev_description(device), kind_of(device),
                              backend_name(file_of(ggml_backend_dev_backend_reg(device))), free, total});
  }
  return report;
}

}  // namespace metactrl::lm
