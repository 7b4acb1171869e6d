// The families of models that think first: whose chat template, which vocabulary, and which of its tokens are markers. Templates are the models'
// own, but for Phi-4-reasoning, for which ours does the same in other words: what asks for thoughts is a system text, always there.
#ifndef METACTRL_TESTS_SUPPORT_THINKING_FAMILIES_H_
#define METACTRL_TESTS_SUPPORT_THINKING_FAMILIES_H_

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "lm/prompt_template.h"
#include "support/family_model.h"
#include "support/files.h"
#include "support/vocabularies.h"

namespace metactrl::testing {

struct ThinkingFamily {
  std::string name;
  std::string chat_template;  // empty: the one below
  const char* vocabulary;
  std::vector<MarkerToken> tokens;
  bool marker_is_token;
};

// Unused tokens of the vocabularies stand for the families' own. Where there are none the markers are letters.
inline std::vector<ThinkingFamily> thinking_families() {
  const std::vector<MarkerToken> think = {{"[PAD151667]", "<think>", 4}, {"[PAD151668]", "</think>", 4}};
  const auto reserved = [](int number) { return "<|reserved_special_token_" + std::to_string(number) + "|>"; };
  return {
      {"Qwen3", "Qwen-Qwen3-0.6B", "qwen2", think, true},
      {"Qwen35", "Qwen3.5-4B", "qwen35", think, true},
      {"GLM", "GLM-4.7-Flash", "qwen2", think, true},
      {"Nemotron", "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "qwen2", think, true},
      {"GptOss",
       "openai-gpt-oss-120b",
       "llama-bpe",
       {{reserved(10), "<|start|>", 3},
        {reserved(11), "<|end|>", 3},
        {reserved(12), "<|message|>", 3},
        {reserved(13), "<|channel|>", 3},
        {reserved(14), "<|constrain|>", 3},
        {reserved(15), "<|return|>", 3}},
       true},
      {"Gemma4", "google-gemma-4-31B-it", "gemma-4", {}, true},
      {"R1DistillLlama",
       "deepseek-ai-DeepSeek-R1-Distill-Llama-8B",
       "llama-bpe",
       {{reserved(8), "<think>", 4}, {reserved(9), "</think>", 4}},
       true},
      {"R1InLetters", "deepseek-ai-DeepSeek-R1-Distill-Llama-8B", "llama-bpe", {}, false},
      {"DeepSeekV31", "deepseek-ai-DeepSeek-V3.1", "deepseek-llm", {}, false},
      {"Magistral", "mistralai-Ministral-3-14B-Reasoning-2512", "llama-spm", {}, false},
      {"Command", "Cohere2MoE", "command-r", {}, false},
      {"GLM46", "GLM-4.6", "qwen2", think, true},
      {"QwQ", "Qwen-QwQ-32B", "qwen2", think, true},
      {"R1DistillQwen", "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B", "qwen2", think, true},
      {"DeepSeekV4", "deepseek-ai-DeepSeek-V4", "deepseek-llm", {}, false},
      {"SmolLm3",
       "HuggingFaceTB-SmolLM3-3B",
       "llama-bpe",
       {{reserved(8), "<think>", 4}, {reserved(9), "</think>", 4}},
       true},
      {"SeedOss",
       "ByteDance-Seed-OSS",
       "qwen2",
       {{"[PAD151667]", "<seed:think>", 4}, {"[PAD151668]", "</seed:think>", 4}},
       true},
      {"Solar",
       "upstage-Solar-Open-100B",
       "qwen2",
       {{"[PAD151667]", "<|think|>", 3},
        {"[PAD151668]", "<|end|>", 3},
        {"[PAD151669]", "<|begin|>", 3},
        {"[PAD151670]", "<|content|>", 3}},
       true},
      {"KimiK3",
       "Kimi-K3",
       "qwen35",
       {{"[PAD151667]", "<|open|>", 3}, {"[PAD151668]", "<|close|>", 3}, {"[PAD151669]", "<|sep|>", 3}},
       true},
      {"KimiK2", "Kimi-K2-Thinking", "qwen2", think, true},
      {"MiniMaxM3", "MiniMax-M3", "gpt-2", {}, false},
      {"Granite33", "ibm-granite-granite-3.3-2B-Instruct", "gpt-2", {}, false},
      {"Phi4Reasoning", "", "qwen2", think, true},
      {"Apertus",
       "Apertus-8B-Instruct",
       "llama-bpe",
       {{reserved(8), "<|inner_prefix|>", 3}, {reserved(9), "<|inner_suffix|>", 3}},
       true},
      {"Hy3",
       "tencent-Hy3",
       "qwen2",
       {{"[PAD151667]", "<think:opensource>", 4}, {"[PAD151668]", "</think:opensource>", 4}},
       true},
      {"Apriel16", "Apriel-1.6-15b-Thinker-fixed", "llama-bpe", {}, false},
      {"Apriel15", "unsloth-Apriel-1.5", "llama-bpe", {}, false},
  };
}

// These, and every other template there is in which thoughts are found: by turns with the closing marker as a token, and in letters.
inline std::vector<ThinkingFamily> every_thinking_family() {
  std::vector<ThinkingFamily> out = thinking_families();
  std::set<std::string> known;
  for (const ThinkingFamily& family : out) known.insert(family.chat_template);
  std::set<std::string> others;
  if (template_dir().empty()) return out;
  for (const auto& entry : std::filesystem::directory_iterator(template_dir())) {
    if (entry.path().extension() == ".jinja") others.insert(entry.path().stem().string());
  }
  for (const std::string& name : others) {
    if (known.contains(name)) continue;
    std::optional<LanguageModel::ThinkingFormat> format;
    try {
      const std::string source = internal::read_file((template_dir() / (name + ".jinja")).string());
      format = lm::PromptTemplate(source, "<BOS>", "<EOS>").thinking();
    } catch (const lm::jinja::Error&) {
      continue;  // which cannot be used, as a test of templates says
    }
    if (!format) continue;
    const bool token = out.size() % 2 == 0;
    out.push_back({name, name, token ? "qwen2" : "gpt-2", {}, token});
    if (token) out.back().tokens = {{"[PAD151668]", format->close, 4}};
  }
  return out;
}

constexpr const char* kToldToThink =
    "<|im_start|>system<|im_sep|>Answer in two parts: <think> {Thought} </think> {Solution}.<|im_end|>"
    "{% for m in messages %}<|im_start|>{{ m.role }}<|im_sep|>{{ m.content }}<|im_end|>{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant<|im_sep|>{% endif %}";

inline std::string template_of(const ThinkingFamily& family) {
  if (family.chat_template.empty()) return kToldToThink;
  return internal::read_file((template_dir() / (family.chat_template + ".jinja")).string());
}

// Writes the family's vocabulary, markers and all, as a GGUF file.
inline void write_vocabulary_of(const ThinkingFamily& family, const std::string& file) {
  rename_tokens(vocabulary_file(family.vocabulary), file, family.tokens);
}

inline std::shared_ptr<const lm::LlamaVocabulary> load_vocabulary_of(const ThinkingFamily& family,
                                                                     const std::filesystem::path& folder) {
  const std::string file = (folder / (family.name + ".gguf")).string();
  write_vocabulary_of(family, file);
  std::unique_ptr<Vocabulary> loaded = load_vocabulary(file);
  std::filesystem::remove(file);
  return std::shared_ptr<const lm::LlamaVocabulary>(dynamic_cast<lm::LlamaVocabulary*>(loaded.release()));
}

// Of this process alone: others run beside it.
struct TemporaryFolder {
  std::filesystem::path path;
  explicit TemporaryFolder(const std::string& name)
      : path(std::filesystem::temp_directory_path() / (name + "_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_THINKING_FAMILIES_H_
