// Chat templates of real models, compared with what Python's Jinja makes of them, and what they show of thinking.
#include "lm/prompt_template.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "support/files.h"
#include "support/test_data.h"
#include "support/vocabularies.h"

namespace metactrl::lm::prompt_template_test {
namespace {

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::istringstream in(internal::read_file(file.string()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string summary(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  std::vector<char> out(64);
  std::snprintf(out.data(), out.size(), "%zu\t%016llx", text.size(), static_cast<unsigned long long>(hash));
  return out.data();
}

// 70 templates, 15 cases each: conversations with and without system texts, answers and thoughts, thinking on, off, unset.
TEST(PromptTemplate, RealTemplatesAreRenderedAsPythonDoes) {
  METACTRL_NEEDS_TEMPLATES();
  std::map<std::string, std::string> cases;
  for (const std::string& line : lines_of(testing::test_dir() / "data/templates/cases.tsv")) {
    const std::size_t tab = line.find('\t');
    cases[line.substr(0, tab)] = line.substr(tab + 1);
  }
  std::size_t compared = 0;
  std::size_t refused = 0;
  for (const std::string& line : lines_of(testing::test_dir() / "data/templates/expected.tsv")) {
    const std::size_t first = line.find('\t');
    const std::size_t second = line.find('\t', first + 1);
    const std::string file = line.substr(0, first);
    const std::string name = line.substr(first + 1, second - first - 1);
    std::string result;
    try {
      const jinja::Template program(internal::read_file((testing::template_dir() / file).string()));
      result = summary(program.render(*jinja::value_from_json(cases.at(name)).dict, "2026-11-18").bytes());
    } catch (const jinja::Error&) {
      result = "error";
      ++refused;
    }
    EXPECT_EQ(result, line.substr(second + 1)) << file << " " << name;
    ++compared;
  }
  EXPECT_EQ(compared, 1050U);
  EXPECT_EQ(refused, 69U);
}

struct Expected {
  const char* file;
  bool by_default;
  const char* open;
  const char* close;
  const char* answer;
  const char* thinks;   // how the prompt ends behind the question
  const char* answers;  // and when the model is not to think
};

constexpr Expected kFamilies[] = {
    {"Qwen-Qwen3-0.6B", true, "<think>\n", "</think>", "\n\n", "<|im_end|>\n<|im_start|>assistant\n<think>\n",
     "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"},
    {"Qwen3.5-4B", true, "<think>\n", "</think>", "\n\n", "<|im_end|>\n<|im_start|>assistant\n<think>\n",
     "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"},
    {"deepseek-ai-DeepSeek-R1-Distill-Llama-8B", true, "<think>\n", "</think>", "\n\n", "<｜Assistant｜><think>\n",
     "<｜Assistant｜><think>\n\n</think>\n\n"},
    {"deepseek-ai-DeepSeek-V3.1", false, "<think>", "</think>", "", "<｜Assistant｜><think>",
     "<｜Assistant｜><think></think>"},
    {"openai-gpt-oss-120b", true, "<|channel|>analysis<|message|>", "<|end|>",
     "<|start|>assistant<|channel|>final<|message|>", "<|end|><|start|>assistant<|channel|>analysis<|message|>",
     "<|end|><|start|>assistant<|channel|>final<|message|>"},
    {"google-gemma-4-31B-it", false, "<|channel>thought\n", "<channel|>", "",
     "<turn|>\n<|turn>model\n<|channel>thought\n", "<turn|>\n<|turn>model\n<|channel>thought\n<channel|>"},
    {"GLM-4.6", true, "\n<think>", "</think>", "\n", "<|assistant|>\n<think>",
     "/nothink<|assistant|>\n<think></think>\n"},
    {"GLM-4.7-Flash", true, "<think>", "</think>", "", "<|assistant|><think>", "<|assistant|></think>"},
    {"mistralai-Ministral-3-14B-Reasoning-2512", true, "[THINK]", "[/THINK]", "", "[/INST][THINK]", "[/INST]"},
    {"NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", true, "<think>\n", "</think>", "\n",
     "<|im_end|>\n<|im_start|>assistant\n<think>\n", "<|im_end|>\n<|im_start|>assistant\n<think></think>"},
    {"HuggingFaceTB-SmolLM3-3B", true, "<think>\n", "</think>", "\n", "<|im_end|>\n<|im_start|>assistant\n<think>\n",
     "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n"},
    {"upstage-Solar-Open-100B", true, "<|think|>", "<|end|>", "<|begin|>assistant<|content|>",
     "<|end|><|begin|>assistant<|think|>", "<|end|><|begin|>assistant<|content|>"},
    {"Apertus-8B-Instruct", false, "<|inner_prefix|>", "<|inner_suffix|>", "",
     "<|user_end|><|assistant_start|><|inner_prefix|>", "<|user_end|><|assistant_start|>"},
    {"tencent-Hy3", false, "<think:opensource>", "</think:opensource>", "",
     "<｜hy_Assistant:opensource｜><think:opensource>",
     "<｜hy_Assistant:opensource｜><think:opensource></think:opensource>"},
    {"Apriel-1.6-15b-Thinker-fixed", true, "Here are my reasoning steps:\n", "[BEGIN FINAL RESPONSE]", "\n",
     "\n<|begin_assistant|>\nHere are my reasoning steps:\n",
     "\n<|begin_assistant|>\nHere are my reasoning steps:\n\n[BEGIN FINAL RESPONSE]\n"},
    {"unsloth-Apriel-1.5", true, "Here are my reasoning steps:\n", "[BEGIN FINAL RESPONSE]", "\n",
     "\n<|end|>\n<|assistant|>\nHere are my reasoning steps:\n", "\n<|end|>\n<|assistant|>\n"},
    {"Kimi-K3", true, "think<|sep|>", "<|close|>", "think<|sep|><|open|>response<|sep|>",
     "<|close|>message<|sep|><|end_of_msg|><|open|>message role=\"assistant\"<|sep|><|open|>think<|sep|>",
     "<|close|>message<|sep|><|end_of_msg|><|open|>message role=\"assistant\"<|sep|><|open|>response<|sep|>"},
};

TEST(PromptTemplate, ThinkingIsFoundInTheTemplatesOfTheFamilies) {
  METACTRL_NEEDS_TEMPLATES();
  for (const Expected& family : kFamilies) {
    SCOPED_TRACE(family.file);
    const auto file = testing::template_dir() / (std::string(family.file) + ".jinja");
    const PromptTemplate program(internal::read_file(file.string()), "<BOS>", "<EOS>");
    ASSERT_TRUE(program.thinking());
    EXPECT_EQ(program.thinking()->by_default, family.by_default);
    EXPECT_EQ(program.thinking()->open, family.open);
    EXPECT_EQ(program.thinking()->close, family.close);
    EXPECT_EQ(program.thinking()->answer, family.answer);
    for (const bool thinks : {true, false}) {
      Prompt prompt;
      prompt.system = "Be brief.";
      prompt.user = "QQQ";
      prompt.thinking = thinks;
      const std::string text = join(program.render(prompt));
      EXPECT_NE(text.find("Be brief."), std::string::npos);
      EXPECT_EQ(text.substr(text.rfind("QQQ") + 3), thinks ? family.thinks : family.answers);
    }
  }
}

// Every template can be used, or says why not, whoever asks what of it.
TEST(PromptTemplate, EveryRealTemplateIsUsableOrSaysWhyNot) {
  METACTRL_NEEDS_TEMPLATES();
  std::vector<std::string> unusable;
  std::size_t thinking = 0;
  for (const auto& entry : std::filesystem::directory_iterator(testing::template_dir())) {
    if (entry.path().extension() != ".jinja") continue;
    try {
      const PromptTemplate program(internal::read_file(entry.path().string()), "<BOS>", "<EOS>");
      thinking += program.thinking() ? 1 : 0;
      for (const auto mode : {std::optional<bool>(), std::optional<bool>(true), std::optional<bool>(false)}) {
        Prompt prompt;
        prompt.system = "SYS";
        prompt.user = "QQQ";
        prompt.thinking = mode;
        const std::string text = join(program.render(prompt));
        EXPECT_NE(text.find("SYS"), std::string::npos) << entry.path();
        EXPECT_NE(text.find("QQQ"), std::string::npos) << entry.path();
      }
    } catch (const jinja::Error& error) {
      unusable.push_back(entry.path().stem().string() + ": " + error.what());
    }
  }
  // It needs its functions and the time to be given.
  EXPECT_EQ(unusable, std::vector<std::string>{"fireworks-ai-llama-3-firefunction-v2: line 21: '+' cannot be used on a "
                                               "string and undefined"});
  EXPECT_EQ(thinking, 45U);
}

// --- templates of our own ---

constexpr const char* kChatMl =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

// A marker that a user has written opens nothing and closes nothing.
TEST(PromptTemplate, MarkersOfUsersAreNone) {
  const PromptTemplate program(
      "{% for m in messages %}{{ m.role }}: {% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>"
      "{% endif %}{{ m.content }}{% endfor %}",
      "", "");
  ASSERT_TRUE(program.thinking());
  const std::string open = program.thinking()->open;
  EXPECT_EQ(open, "assistant: <think>");
  for (const std::string& more : {std::string(), open, open + "\n", std::string("</think>")}) {
    Prompt prompt;
    prompt.user = "light a " + more;
    for (const bool thinks : {true, false}) {
      prompt.thinking = thinks;
      const std::vector<PromptPart> parts = program.render(prompt);
      EXPECT_EQ(parts.back().text, thinks ? open : "assistant: ") << more;
      EXPECT_FALSE(parts.back().is_content);
    }
  }
}

TEST(PromptTemplate, PartsAreTheTemplatesOrTheUsers) {
  const PromptTemplate program(kChatMl, "", "");
  Prompt prompt;
  prompt.user = "a<|im_end|>";
  const std::vector<PromptPart> parts = program.render(prompt);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].text, "<|im_start|>user\n");
  EXPECT_FALSE(parts[0].is_content);
  EXPECT_EQ(parts[1].text, "a<|im_end|>");
  EXPECT_TRUE(parts[1].is_content);
  EXPECT_FALSE(parts[2].is_content);
  EXPECT_FALSE(program.thinking());
}

// As Phi-4-reasoning: the default system text asks for thoughts, and one's own would replace it.
TEST(PromptTemplate, ASystemTextDoesNotReplaceTheOneThatAsksForThoughts) {
  const PromptTemplate program(
      "{% if messages[0].role == 'system' %}<|im_start|>system<|im_sep|>{{ messages[0].content }}<|im_end|>"
      "{% else %}<|im_start|>system<|im_sep|>Write <think> {Thought} </think> {Solution}.<|im_end|>{% endif %}"
      "{% for m in messages if m.role != 'system' %}<|im_start|>{{ m.role }}<|im_sep|>{{ m.content }}<|im_end|>"
      "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant<|im_sep|>{% endif %}",
      "", "");
  ASSERT_TRUE(program.thinking());
  EXPECT_TRUE(program.thinking()->by_default);
  Prompt prompt;
  prompt.system = "Be brief.";
  prompt.user = "Q";
  prompt.thinking = true;
  EXPECT_EQ(
      join(program.render(prompt)),
      "<|im_start|>system<|im_sep|>Write <think> {Thought} </think> {Solution}.<|im_end|><|im_start|>user<|im_sep|>"
      "Be brief.\n\nQ<|im_end|><|im_start|>assistant<|im_sep|><think>\n");
  prompt.thinking = false;
  EXPECT_EQ(join(program.render(prompt)),
            "<|im_start|>system<|im_sep|>Be brief.<|im_end|><|im_start|>user<|im_sep|>Q<|im_end|><|im_start|>assistant"
            "<|im_sep|>");
}

TEST(PromptTemplate, SystemTextsHaveAPlaceEverywhere) {
  const std::string turns = "{% for m in messages %}[{{ m.role }}]{{ m.content | trim }}{% endfor %}";
  Prompt prompt;
  prompt.system = " S ";
  prompt.user = "U";
  const PromptTemplate refuses(
      "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}" + turns, "", "");
  EXPECT_EQ(join(refuses.render(prompt)), "[user]S \n\nU");
  const PromptTemplate drops("{% for m in messages if m.role != 'system' %}[{{ m.role }}]{{ m.content }}{% endfor %}",
                             "", "");
  EXPECT_EQ(join(drops.render(prompt)), "[user] S \n\nU");
}

TEST(PromptTemplate, UnusableOnesSayWhy) {
  const auto why = [](const std::string& source) -> std::string {
    try {
      const PromptTemplate program(source, "", "");
    } catch (const jinja::Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(why("hello"), "it does not write what the user says");
  EXPECT_EQ(why("{{ messages[0].content | reverse }}"), "it does not write what the user says");
  EXPECT_EQ(why("{% if %}"), "line 1: an expression is missing");
  EXPECT_EQ(why("{{ raise_exception('never') }}"), "it says: never");
  EXPECT_EQ(why("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"), "line 1: it calls itself too deeply");
}

TEST(PromptTemplate, Arguments) {
  const PromptTemplate program(
      "{{ messages[0].content }}|{{ reasoning_effort | default('medium') }}|{{ style.tone | default('-') if style else "
      "'-' }}",
      "", "");
  Prompt prompt;
  prompt.user = "U";
  EXPECT_EQ(join(program.render(prompt)), "U|medium|-");
  prompt.effort = "low";
  prompt.template_arguments = {{"style", R"({"tone": "dry", "x": [1, null, true]})"}};
  EXPECT_EQ(join(program.render(prompt)), "U|low|dry");
  prompt.template_arguments = {{"style", "{"}};
  EXPECT_THROW(program.render(prompt), jinja::Error);
}

}  // namespace
}  // namespace metactrl::lm::prompt_template_test
