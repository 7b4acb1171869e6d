// Small GGUF models with random weights, so that sessions are tested against the real thing without a download.
//
// The vocabulary is byte-level BPE: the 256 bytes, a few dozen merges as plans have them, and three control tokens;
// every text can be written. The chat template is ChatML. Weights depend on the seed alone.
#ifndef METACTRL_TESTS_SUPPORT_TINY_GGUF_H_
#define METACTRL_TESTS_SUPPORT_TINY_GGUF_H_

#include <cstdint>
#include <string>
#include <vector>

namespace metactrl::testing {

struct TinyGgufOptions {
  enum class Kind {
    kTransformer,    // the architecture "llama"
    kSlidingWindow,  // "gemma2": every other layer sees the last 16 tokens only
    kRecurrent,      // "mamba": a state and no past
  };
  Kind kind = Kind::kTransformer;
  std::uint32_t context = 512;
  bool chat_template = true;
  std::string template_text = {};         // in place of ChatML
  std::string vocabulary = {};            // a GGUF file whose vocabulary it has; for kTransformer
  std::vector<std::string> markers = {};  // further tokens, which the tokenizer knows wherever they are written out
  bool padding = false;  // 13 unused tokens at the end, as in models whose vocabulary size was rounded up
  std::uint64_t seed = 1;
};

// Throws std::runtime_error when the file cannot be written.
void write_tiny_gguf(const std::string& file, const TinyGgufOptions& options = {});
// The same model in two files, as llama.cpp splits them: PREFIX-00001-of-00002.gguf and the second.
void write_tiny_gguf_parts(const std::string& prefix, const TinyGgufOptions& options = {});

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_TINY_GGUF_H_
