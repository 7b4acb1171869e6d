// Real vocabularies, as llama.cpp ships them for its own tests, each with texts and their encodings.
#include "lm/llama_vocabulary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "metactrl/error.h"
#include "metactrl/language_model.h"
#include "support/vocabularies.h"

namespace metactrl::llama_vocabulary_test {
namespace {

struct Case {
  const char* name;
  std::size_t size;
  bool sentence_piece;
  // What must end a turn, by its text in the file.
  std::vector<std::int32_t> end_of_turn;
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

std::string file_of(const Case& c) { return testing::vocabulary_file(c.name); }

std::string slurp(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  EXPECT_TRUE(in) << file;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string joined_bytes(const Vocabulary& vocabulary, const std::vector<TokenId>& tokens) {
  std::string text;
  for (const TokenId token : tokens) text += vocabulary.bytes(token);
  return text;
}

std::vector<std::int32_t> numbers(const std::vector<TokenId>& tokens) {
  std::vector<std::int32_t> result;
  for (const TokenId token : tokens) result.push_back(static_cast<std::int32_t>(token));
  return result;
}

std::vector<std::string> tricky_texts() {
  std::vector<std::string> texts = {
      "a",
      " ",
      "  ",
      "\n",
      "\n\n\n \n\t\n",
      " leading and trailing ",
      R"({"WALK": ["soap", "1002"], "GRAB": ["soap", "1002"]})",
      R"~(  {"output":["ON(light.411)"]}  )~",
      "1234567890 1 12 123 1234 12345",
      "<|im_start|>user<|im_end|></s><s><|endoftext|><unk>[INST]<bos><eos><end_of_turn><|eot_id|>",
      "don't I'LL we've they'd",
      "\xC3\xBC\xC3\x9F\xE2\x82\xAC \xE2\x9C\x85 \xF0\x9F\xA4\x96\xF0\x9F\x8F\xBD",
      "\xE6\x8A\x8A\xE7\x9B\x98\xE5\xAD\x90\xE6\x94\xBE\xE8\xBF\x9B\xE6\xB4\x97\xE7\xA2\x97\xE6\x9C\xBA",
      "caf\x65\xCC\x81 \xE2\x96\x82 nbsp\xC2\xA0here zero\xE2\x80\x8Bwidth",
      "x = \"]}, {\\\"\\n\\\"} \\ / ~ ` ^ % $ # @",
      std::string(300, ' ') + "end",
      std::string(100, 'a') + std::string(100, '\n'),
  };
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    std::string text;
    for (std::size_t length = 1 + random() % 60; text.size() < length;) {
      text += static_cast<char>(random() % 3 == 0 ? " \n\"],{}[()_.:"[random() % 13] : 32 + random() % 95);
    }
    texts.push_back(text);
  }
  return texts;
}

void check_recorded_encodings(const Case& c, const lm::LlamaVocabulary& vocabulary) {
  const std::string inputs = slurp(file_of(c) + ".inp");
  std::istringstream outputs(slurp(file_of(c) + ".out"));
  const std::string separator = "\n__ggml_vocab_test__\n";
  std::size_t begin = 0;
  std::size_t count = 0;
  for (;;) {
    const std::size_t end = inputs.find(separator, begin);
    if (end == std::string::npos) break;
    const std::string text = inputs.substr(begin, end - begin);
    begin = end + separator.size();
    std::string line;
    ASSERT_TRUE(std::getline(outputs, line)) << "no output for input " << count;
    std::istringstream fields(line);
    std::vector<std::int32_t> expected;
    for (std::int32_t id = 0; fields >> id;) expected.push_back(id);
    EXPECT_EQ(numbers(vocabulary.tokenize(text, false)), expected) << "'" << text << "'";
    if (!c.sentence_piece) {
      EXPECT_EQ(numbers(vocabulary.encode(text, "")), expected) << "'" << text << "'";
    }
    EXPECT_EQ(joined_bytes(vocabulary, vocabulary.encode(text, "")), text);
    ++count;
  }
  EXPECT_GT(count, 30U);
}

void check_that_texts_come_back(const lm::LlamaVocabulary& vocabulary) {
  const std::vector<std::string> contexts = {"",
                                             "\n",
                                             "\n\n",
                                             "text",
                                             "text ",
                                             "assistant\n",
                                             ": ",
                                             "<|im_start|>assistant\n",
                                             "<|assistant|>\n",
                                             std::string(1000, 'x') + " the plan:\n"};
  const std::vector<std::string> texts = tricky_texts();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (const std::string& context : {contexts[0], contexts[1 + i % (contexts.size() - 1)]}) {
      const auto tokens = vocabulary.encode(texts[i], context);
      ASSERT_EQ(joined_bytes(vocabulary, tokens), texts[i]) << "behind '" << context << "'";
      for (const TokenId token : tokens) ASSERT_FALSE(vocabulary.bytes(token).empty());
    }
  }
  EXPECT_TRUE(vocabulary.encode("", "context").empty());
}

void check_encoding_in_context(const lm::LlamaVocabulary& vocabulary) {
  for (const std::string& text : tricky_texts()) {
    for (const std::string before : {"The plan:\n", "x", " ", "{\"a\": "}) {
      const auto context = vocabulary.tokenize(before, false);
      const auto whole = vocabulary.tokenize(before + text, false);
      const bool splits = whole.size() >= context.size() && std::equal(context.begin(), context.end(), whole.begin());
      if (!splits) continue;
      const std::vector<TokenId> rest(whole.begin() + static_cast<std::ptrdiff_t>(context.size()), whole.end());
      ASSERT_EQ(vocabulary.encode(text, before), rest) << "'" << before << "' '" << text << "'";
    }
  }
}

void check_control_tokens(const lm::LlamaVocabulary& vocabulary) {
  const auto control = vocabulary.end_of_turn().front();
  const std::string text = "{\"WALK\": [\"soap\"]}";
  const auto found = vocabulary.find_control("", 0);
  EXPECT_FALSE(found.has_value());
  EXPECT_TRUE(vocabulary.bytes(control).empty());
  // Behind a control token a text begins afresh, whatever stands before the token.
  for (const std::string marker :
       {"<|eot_id|>", "<|im_end|>", "<|endoftext|>", "</s>", "<eos>", "<|END_OF_TURN_TOKEN|>"}) {
    if (!vocabulary.find_control(marker, 0)) continue;
    EXPECT_EQ(vocabulary.encode(text, "one" + marker + "\n\n"),
              vocabulary.encode(text, "another thing" + marker + "\n\n"));
    EXPECT_EQ(vocabulary.encode(text, "one" + marker), vocabulary.encode(text, ""));
  }
}

void check_size_and_end_of_turn(const Case& c, const lm::LlamaVocabulary& vocabulary) {
  EXPECT_EQ(vocabulary.size(), c.size);
  const auto ends = numbers(vocabulary.end_of_turn());
  EXPECT_TRUE(std::is_sorted(ends.begin(), ends.end()));
  for (const std::int32_t token : c.end_of_turn) {
    EXPECT_TRUE(std::find(ends.begin(), ends.end(), token) != ends.end())
        << token << " is not among " << ::testing::PrintToString(ends);
  }
  EXPECT_LE(ends.size(), 12U) << ::testing::PrintToString(ends);
  EXPECT_TRUE(vocabulary.bytes(TokenId{-1}).empty());
  EXPECT_TRUE(vocabulary.bytes(TokenId{static_cast<std::int32_t>(vocabulary.size())}).empty());
}

void check_single_bytes(const lm::LlamaVocabulary& vocabulary) {
  std::set<char> single;
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    const auto bytes = vocabulary.bytes(TokenId{static_cast<std::int32_t>(i)});
    if (bytes.size() == 1) single.insert(bytes[0]);
  }
  // Byte-level vocabularies leave out some bytes that UTF-8 never has.
  EXPECT_GE(single.size(), 243U);
}

// A request must not be able to end the program: words that would take all of the stack, and more text than there is
// time for.
void check_long_texts(const lm::LlamaVocabulary& vocabulary) {
  for (const std::string piece : {"a", "7", "!", "\n", " ", "<", "A1", "\xC3\xA9", "\xE6\xBC\xA2"}) {
    std::string text;
    while (text.size() < 40'000 * piece.size()) text += piece;
    EXPECT_EQ(joined_bytes(vocabulary, vocabulary.encode(text, "")), text) << piece;
  }
  // Where there are words, cutting changes nothing: every line alone has the same tokens.
  std::string plan;
  std::vector<TokenId> lines;
  const std::string line = "(putin blue_mug dishwasher) and then something more to do\n";
  const auto one = vocabulary.encode(line, "");
  for (int i = 0; i < 1000; ++i) {
    plan += line;
    lines.insert(lines.end(), one.begin(), one.end());
  }
  EXPECT_EQ(vocabulary.encode(plan, ""), lines);
  // Between two portions it is asked whether anybody still waits.
  internal::Meter meter([] { return true; });
  EXPECT_THROW(vocabulary.encode(plan, "", meter), Stopped);
}

// One case per vocabulary: loading is what takes time.
class LlamaVocabularyTest : public ::testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(
    Vocabularies, LlamaVocabularyTest,
    ::testing::Values(Case{"llama-bpe", 128256, false, {128001, 128009}},
                      Case{"qwen2", 151936, false, {151643, 151645}}, Case{"qwen35", 151936, false, {151643, 151645}},
                      Case{"gemma-4", 262144, false, {1, 106}}, Case{"gpt-2", 50257, false, {50256}},
                      Case{"llama-spm", 32000, true, {2}}, Case{"phi-3", 32064, true, {32000, 32007}},
                      Case{"command-r", 256000, false, {255001}}, Case{"deepseek-llm", 102400, false, {100001}}),
    [](const ::testing::TestParamInfo<Case>& info) {
      std::string name = info.param.name;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST_P(LlamaVocabularyTest, DoesWhatAVocabularyMust) {
  const lm::LlamaVocabulary vocabulary(lm::load_gguf(file_of(GetParam()), lm::Load::kVocabulary, {}),
                                       file_of(GetParam()));
  check_size_and_end_of_turn(GetParam(), vocabulary);
  check_recorded_encodings(GetParam(), vocabulary);
  check_that_texts_come_back(vocabulary);
  check_encoding_in_context(vocabulary);
  check_control_tokens(vocabulary);
  check_single_bytes(vocabulary);
  check_long_texts(vocabulary);
}

TEST(LlamaVocabularyFile, FingerprintsTellVocabulariesApart) {
  std::set<std::uint64_t> seen;
  for (const char* name : {"gpt-2", "llama-spm", "phi-3"}) {
    const std::string file = testing::vocabulary_file(name);
    const auto first = load_vocabulary(file);
    EXPECT_EQ(first->fingerprint(), load_vocabulary(file)->fingerprint());
    EXPECT_TRUE(seen.insert(first->fingerprint()).second) << name;
  }
}

TEST(LlamaVocabularyFile, AMissingFileIsAnInputError) {
  EXPECT_THROW(load_vocabulary("/nonexistent.gguf"), InputError);
}

}  // namespace
}  // namespace metactrl::llama_vocabulary_test
