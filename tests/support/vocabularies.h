// Where tests find the vocabularies of real models: the folder METACTRL_VOCABS, else what the set-up installed with
// llama.cpp.
#ifndef METACTRL_TESTS_SUPPORT_VOCABULARIES_H_
#define METACTRL_TESTS_SUPPORT_VOCABULARIES_H_

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace metactrl::testing {

// Empty when there is none.
inline std::filesystem::path vocabulary_dir() {
  if (const char* given = std::getenv("METACTRL_VOCABS"); given != nullptr && *given != '\0') return given;
  std::filesystem::path cache;
  if (const char* given = std::getenv("METACTRL_CACHE"); given != nullptr && *given != '\0') {
    cache = given;
  } else if (const char* home = std::getenv("HOME"); home != nullptr) {
    cache = std::filesystem::path(home) / ".cache" / "metactrl";
  }
  std::vector<std::filesystem::path> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(cache, ignored)) {
    const std::filesystem::path folder = entry.path() / "share" / "metactrl-llama" / "vocabularies";
    if (entry.path().filename().string().starts_with("llama.cpp-") && std::filesystem::exists(folder))
      found.push_back(folder);
  }
  return found.empty() ? std::filesystem::path() : *std::max_element(found.begin(), found.end());
}

// The GGUF file of "llama-bpe", "qwen2", ...; empty when it is not there.
inline std::string vocabulary_file(const std::string& name) {
  const std::filesystem::path file = vocabulary_dir() / ("ggml-vocab-" + name + ".gguf");
  return !vocabulary_dir().empty() && std::filesystem::exists(file) ? file.string() : std::string();
}

}  // namespace metactrl::testing

#define METACTRL_NEEDS_VOCABULARY(name)                 \
  if (metactrl::testing::vocabulary_file(name).empty()) \
  GTEST_SKIP() << "no vocabulary '" << (name)           \
               << "'; run scripts/setup, or set METACTRL_VOCABS to the folder with ggml-vocab-*.gguf files"

#endif  // METACTRL_TESTS_SUPPORT_VOCABULARIES_H_
