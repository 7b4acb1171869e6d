// llama.cpp as a library: started once, silent, with its error messages kept for ours.
#ifndef METACTRL_SRC_LM_LLAMA_RUNTIME_H_
#define METACTRL_SRC_LM_LLAMA_RUNTIME_H_

#include <llama.h>

#include <memory>
#include <string>
#include <vector>

#include "lm/llama_placement.h"
#include "metactrl/error.h"

namespace metactrl::lm {

// Collects the errors that llama.cpp logs on this thread while the object lives. Objects nest.
class ErrorLog {
 public:
  ErrorLog();
  ~ErrorLog();
  ErrorLog(const ErrorLog&) = delete;
  ErrorLog& operator=(const ErrorLog&) = delete;

  // The line that says what went wrong, without the function's name; "no reason given" when there was none.
  std::string reason() const;
  void add(const char* text);

 private:
  static constexpr std::size_t kMaxLines = 16;

  std::vector<std::string> lines_;
  ErrorLog* outer_ = nullptr;
};

// Once for the program; more often has no effect. Until then llama.cpp prints what it logs.
void start_runtime();

// Throws an InputError that says in plain words what llama.cpp would say less plainly: the file is missing, a folder,
// not GGUF.
void check_gguf_header(const std::string& file);

// Of lm/backends.h: the files beside llama.cpp's library, which start_runtime loads; and, once for the program, those in
// the folder of added ones.
void load_library_backends();
void load_added_backends();
// "cuda cannot be loaded: ..."; empty when all that were found are.
std::string refused_backends();

using ModelPtr = std::shared_ptr<llama_model>;

enum class Load {
  kVocabulary,
  kHeader,  // and the vocabulary: how large it is, no weights
  kAll,
};
// Loads the file, or some of it. Throws InputError (missing, not GGUF, truncated, unsupported) or ModelError (out of
// memory), Stopped when `stop` says so while it reads.
ModelPtr load_gguf(const std::string& file, Load what, const Placement& placement, const Stop& stop = {});

}  // namespace metactrl::lm

#endif  // METACTRL_SRC_LM_LLAMA_RUNTIME_H_
