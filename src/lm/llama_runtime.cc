// llama.cpp logs through one global callback and gives no reasons otherwise: a load that fails returns null. So the
// callback keeps the error lines of the calling thread while an ErrorLog lives there, and drops everything else.
#include "lm/llama_runtime.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <system_error>

#include "support/str_cat.h"

namespace metactrl::lm {

namespace {

using internal::str_cat;

thread_local ErrorLog* current_log = nullptr;

void on_log(ggml_log_level level, const char* text, void* /*user_data*/) {
  if (level == GGML_LOG_LEVEL_ERROR && current_log != nullptr && text != nullptr) current_log->add(text);
}

bool is_memory_failure(const std::string& reason) {
  for (const char* word : {"alloc", "out of memory", "bad_alloc", "failed to reserve"}) {
    if (reason.find(word) != std::string::npos) return true;
  }
  return false;
}

[[noreturn]] void report_failure(const std::string& file, const std::string& reason) {
  if (is_memory_failure(reason)) {
    throw ModelError(str_cat(file, ": not enough memory for this model (", reason, ")"));
  }
  std::string hint = str_cat("it may be truncated, or need a newer llama.cpp than ", model_runtime());
  if (reason.find("not within the file bounds") != std::string::npos) {
    hint = "it is cut off; get it again";
  } else if (reason.find("token_embd.weight") != std::string::npos) {
    hint = "it may hold a vocabulary only; such a file gives a test model its tokens";
  } else if (reason.find("unknown model architecture") != std::string::npos) {
    hint = str_cat(model_runtime(), " cannot run this kind of model");
  }
  throw InputError(file, str_cat("the model cannot be loaded: ", reason), hint);
}

}  // namespace

void check_gguf_header(const std::string& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) {
    throw InputError(file, "there is no such model file",
                     "give the path of a GGUF file; 'metactrl models' lists the others");
  }
  if (std::filesystem::is_directory(status)) {
    throw InputError(file, "this is a folder, not a model file", "give the path of a GGUF file");
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError(file, str_cat("the model file cannot be read: ", std::strerror(errno)));
  std::array<char, 4> magic{};
  in.read(magic.data(), magic.size());
  if (in.gcount() != 4 || std::memcmp(magic.data(), "GGUF", 4) != 0) {
    throw InputError(file, "this is not a GGUF file",
                     "models in other formats can be converted with llama.cpp's convert_hf_to_gguf.py");
  }
}

void start_runtime() {
  static std::once_flag once;
  std::call_once(once, [] {
    llama_log_set(on_log, nullptr);
    load_library_backends();
    llama_backend_init();
  });
}

ErrorLog::ErrorLog() : outer_(current_log) { current_log = this; }

ErrorLog::~ErrorLog() { current_log = outer_; }

void ErrorLog::add(const char* text) {
  if (lines_.size() < kMaxLines) lines_.emplace_back(text);
}

std::string ErrorLog::reason() const {
  if (lines_.empty()) return "no reason given";
  // The loader's own line is the most telling one; otherwise the first is nearest to the cause.
  const std::string marker = "error loading model: ";
  std::string best = lines_.front();
  for (const std::string& line : lines_) {
    const std::size_t found = line.find(marker);
    if (found != std::string::npos) {
      best = line.substr(found + marker.size());
      break;
    }
  }
  while (!best.empty() && (best.back() == '\n' || best.back() == ' ')) best.pop_back();
  // "function_name: text"
  const std::size_t colon = best.find(": ");
  if (colon != std::string::npos && best.find(' ') > colon && best.compare(0, 5, "llama") == 0)
    best.erase(0, colon + 2);
  for (char& c : best) {
    if (c == '\n') c = ' ';
  }
  return best;
}

ModelPtr load_gguf(const std::string& file, Load what, const Placement& placement, const Stop& stop) {
  check_gguf_header(file);
  start_runtime();
  llama_model_params params = llama_model_default_params();
  params.vocab_only = what == Load::kVocabulary;
  params.no_alloc = what == Load::kHeader;
  if (params.no_alloc) params.load_mode = LLAMA_LOAD_MODE_NONE;  // nothing is mapped either
  // An empty list keeps all GPUs out of it; without a list llama.cpp would compute on them what it thinks worthwhile.
  std::vector<ggml_backend_dev_t> devices = placement.devices;
  devices.push_back(nullptr);
  params.devices = devices.data();
  params.n_gpu_layers = static_cast<std::int32_t>(placement.layers);
  // An exception must not pass through llama.cpp: what `stop` throws is kept until it has returned.
  struct Asking {
    const Stop& stop;
    bool stopped = false;
    std::exception_ptr failure;
  } asking{stop, false, nullptr};
  if (stop) {
    params.progress_callback_user_data = &asking;
    params.progress_callback = [](float, void* data) {
      auto& asked = *static_cast<Asking*>(data);
      try {
        asked.stopped = asked.stop();
      } catch (...) {
        asked.failure = std::current_exception();
      }
      return !asked.stopped && asked.failure == nullptr;
    };
  }
  ErrorLog log;
  llama_model* model = nullptr;
  try {
    model = llama_model_load_from_file(file.c_str(), params);
  } catch (const std::bad_alloc&) {
    throw ModelError(str_cat(file, ": not enough memory for this model"));
  } catch (const std::exception& error) {
    report_failure(file, error.what());
  }
  if (asking.failure) std::rethrow_exception(asking.failure);
  if (model == nullptr && asking.stopped) throw Stopped(Stopped::kCancelled);
  if (model == nullptr) report_failure(file, log.reason());
  return ModelPtr(model, llama_model_free);
}

}  // namespace metactrl::lm

namespace metactrl {

std::string model_runtime() { return internal::str_cat("llama.cpp ", llama_version()); }

void load_model_backends() { lm::start_runtime(); }

}  // namespace metactrl
