#include <gtest/gtest.h>

#include "metactrl/error.h"
#include "metactrl/vocabulary.h"

namespace metactrl::table_vocabulary_test {
namespace {

std::vector<TokenId> ids(const std::vector<int>& numbers) {
  std::vector<TokenId> out;
  for (const int number : numbers) out.push_back(static_cast<TokenId>(number));
  return out;
}

TEST(TableVocabulary, TakesTheLongestToken) {
  const TableVocabulary vocabulary({"a", "ab", "abcd", "b", "c", "<end>", "", "ab"}, ids({5}));
  EXPECT_EQ(vocabulary.size(), 8U);
  EXPECT_EQ(vocabulary.encode("abcd", ""), ids({2}));
  EXPECT_EQ(vocabulary.encode("abcab", ""), ids({1, 4, 1}));  // the first of two equal tokens
  EXPECT_EQ(vocabulary.encode("", ""), ids({}));
  EXPECT_EQ(vocabulary.bytes(TokenId{2}), "abcd");
  EXPECT_EQ(vocabulary.bytes(TokenId{99}), "");
  EXPECT_EQ(vocabulary.bytes(TokenId{-1}), "");
}

TEST(TableVocabulary, CutsAtTheBorder) {
  const TableVocabulary vocabulary({"a", "b", "ab", "."}, ids({3}));
  EXPECT_EQ(vocabulary.encode("b", "a"), ids({1}));  // "ab" would straddle the border
  EXPECT_EQ(vocabulary.encode("ab", "b"), ids({2}));
}

TEST(TableVocabulary, EndOfTurnIsNoText) {
  const TableVocabulary vocabulary({"<", "e", ">", "<e>", "x"}, ids({3, 4, 3}));
  EXPECT_EQ(vocabulary.end_of_turn(), ids({3, 4}));
  EXPECT_EQ(vocabulary.bytes(TokenId{3}), "");
  EXPECT_EQ(vocabulary.encode("<e>", ""), ids({0, 1, 2}));
  EXPECT_THROW(vocabulary.encode("x", ""), InputError);
}

TEST(TableVocabulary, HandlesAllBytes) {
  std::vector<std::string> tokens;
  for (int i = 0; i < 256; ++i) tokens.emplace_back(1, static_cast<char>(i));
  tokens.emplace_back("\xff\xfe");
  tokens.emplace_back();
  const TableVocabulary vocabulary(tokens, ids({257}));
  std::string text;
  for (int i = 0; i < 256; ++i) text += static_cast<char>(255 - i);
  const std::vector<TokenId> encoded = vocabulary.encode(text, "");
  std::string back;
  for (const TokenId token : encoded) back += vocabulary.bytes(token);
  EXPECT_EQ(back, text);
  EXPECT_EQ(encoded.size(), 255U);
  EXPECT_EQ(encoded[0], TokenId{256});
}

TEST(TableVocabulary, RefusesBadEndOfTurn) {
  EXPECT_THROW(TableVocabulary({"a"}, {}), InputError);
  EXPECT_THROW(TableVocabulary({"a"}, ids({1})), InputError);
  EXPECT_THROW(TableVocabulary({"a"}, ids({-1})), InputError);
}

TEST(TableVocabulary, FingerprintsDiffer) {
  const auto print = [](std::vector<std::string> tokens, const std::vector<int>& end) {
    return TableVocabulary(std::move(tokens), ids(end)).fingerprint();
  };
  EXPECT_EQ(print({"a", "b", ""}, {2}), print({"a", "b", ""}, {2}));
  EXPECT_NE(print({"a", "b", ""}, {2}), print({"b", "a", ""}, {2}));
  EXPECT_NE(print({"ab", "", ""}, {2}), print({"a", "b", ""}, {2}));
  EXPECT_NE(print({"a", "", ""}, {1}), print({"a", "", ""}, {2}));
}

}  // namespace
}  // namespace metactrl::table_vocabulary_test
