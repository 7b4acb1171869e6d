// Where tests find the vocabularies of real models: the folder METACTRL_VOCABS, else what `scripts/llama --vocabularies` left in the cache; and their
// chat templates, which `scripts/llama --templates` left there.
#ifndef METACTRL_TESTS_SUPPORT_VOCABULARIES_H_
#define METACTRL_TESTS_SUPPORT_VOCABULARIES_H_

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace metactrl::testing {

// The folder llama.cpp-...-KIND of the cache; empty when there is none.
inline std::filesystem::path cached_dir(const std::string& kind) {
  const auto value = [](const char* name) {
    const char* found = std::getenv(name);
    return found != nullptr ? std::filesystem::path(found) : std::filesystem::path();
  };
  std::filesystem::path cache = value("METACTRL_CACHE");
  if (cache.empty()) {
    const std::filesystem::path caches = value("XDG_CACHE_HOME");
    cache = (caches.empty() ? value("HOME") / ".cache" : caches) / "metactrl";
  }
  std::vector<std::filesystem::path> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(cache, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("llama.cpp-") && name.ends_with("-" + kind)) found.push_back(entry.path());
  }
  return found.empty() ? std::filesystem::path() : *std::max_element(found.begin(), found.end());
}

// Empty when there is none.
inline std::filesystem::path vocabulary_dir() {
  if (const char* given = std::getenv("METACTRL_VOCABS"); given != nullptr && *given != '\0') return given;
  return cached_dir("vocabularies");
}
inline std::filesystem::path template_dir() { return cached_dir("templates"); }

// The GGUF file of "llama-bpe", "qwen2", ...; empty when it is not there.
inline std::string vocabulary_file(const std::string& name) {
  const std::filesystem::path file = vocabulary_dir() / ("ggml-vocab-" + name + ".gguf");
  return !vocabulary_dir().empty() && std::filesystem::exists(file) ? file.string() : std::string();
}

}  // namespace metactrl::testing

#define METACTRL_NEEDS_VOCABULARY(name)                 \
  if (metactrl::testing::vocabulary_file(name).empty()) \
  GTEST_SKIP()                                          \
      << "no vocabulary '" << (name)                    \
      << "'; run scripts/llama --vocabularies, or set METACTRL_VOCABS to the folder with ggml-vocab-*.gguf files"

#define METACTRL_NEEDS_TEMPLATES() \
  if (metactrl::testing::template_dir().empty()) GTEST_SKIP() << "no chat templates; run scripts/llama --templates"

#endif  // METACTRL_TESTS_SUPPORT_VOCABULARIES_H_
