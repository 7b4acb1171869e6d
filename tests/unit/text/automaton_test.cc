// The token automaton on vocabularies made by hand.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "metactrl/error.h"
#include "support/named_task.h"
#include "support/random.h"
#include "support/token_walk.h"
#include "text/token_automaton.h"

namespace metactrl::automaton_test {
namespace {

using testing::named_task;
using testing::Random;
using testing::tokens_of_plan;
using testing::walk;
using testing::WalkedPlan;

// Token 0 ends a turn, token 1 as well; then every printable ASCII character and a new line, then `more`.
TableVocabulary vocabulary_with(const std::vector<std::string>& more, const std::string& without = "") {
  std::vector<std::string> tokens = {"", ""};
  for (char c = ' '; c <= '~'; ++c) {
    if (without.find(c) == std::string::npos) tokens.emplace_back(1, c);
  }
  tokens.emplace_back("\n");
  tokens.insert(tokens.end(), more.begin(), more.end());
  return TableVocabulary(tokens, {TokenId{0}, TokenId{1}});
}

std::vector<std::string> shown(const Vocabulary& vocabulary, std::span<const TokenId> tokens) {
  std::vector<std::string> out;
  for (const TokenId token : tokens) out.emplace_back(vocabulary.bytes(token));
  return out;
}

Task kitchen() {
  return named_task(
      {{"open", {"box"}}, {"open", {"jar"}}, {"put", {"cup", "box"}}, {"put", {"cup", "jar"}}, {"wait", {}}});
}

PlanFormat quoted_list() {
  return PlanFormat::parse(
      "open: \"[\\\"\"\nitem: \"{action} {arguments}\"\nitem /0: \"{action}\"\nargument-separator: \" \"\n"
      "separator: \"\\\", \\\"\"\nclose: \"\\\"]\"\nempty: \"[]\"\n",
      "quoted.format");
}

using Strings = std::vector<std::string>;

std::string what(const auto& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(TokenAutomaton, CutsBehindTheQuoteThatOpensTheNextItem) {
  const TableVocabulary vocabulary = vocabulary_with({"[\"", "\", \"", "\"]", "[]", "open", " box", "put", " cup"});
  const PlanSpelling spelling(quoted_list(), kitchen());
  const auto automaton = TokenAutomaton::compile(spelling, vocabulary, {});
  EXPECT_EQ(automaton->num_entries(), 10U);
  EXPECT_EQ(automaton->num_groups(), 1U);
  EXPECT_EQ(shown(vocabulary, automaton->opening()), (Strings{"[\""}));
  EXPECT_EQ(shown(vocabulary, automaton->empty_plan()), (Strings{"[]"}));
  EXPECT_EQ(shown(vocabulary, automaton->tokens(automaton->rank(ActionId{0}, 0))), (Strings{"open", " box", "\", \""}));
  EXPECT_EQ(shown(vocabulary, automaton->tokens(automaton->rank(ActionId{0}, TokenAutomaton::kClose))),
            (Strings{"open", " box", "\"]"}));
  EXPECT_EQ(automaton->end_of_turn(), (std::vector<TokenId>{TokenId{0}, TokenId{1}}));
  EXPECT_TRUE(automaton->prefix(2).empty());
  EXPECT_GT(automaton->memory_bytes(), 10 * sizeof(TokenAutomaton::Entry));
}

// `, "p` is one token where the next name begins with p: the cut moves to where no token straddles it.
TEST(TokenAutomaton, TokensThatReachIntoTheNextItemMoveTheCut) {
  const TableVocabulary vocabulary = vocabulary_with({"[\"", " \"p", " \"", "\"]", "open", "ut"});
  const PlanSpelling spelling(quoted_list(), kitchen());
  const auto automaton = TokenAutomaton::compile(spelling, vocabulary, {});
  const WalkedPlan plan = {{ActionId{0}, ActionId{2}}, {0}};
  const std::vector<TokenId> tokens = tokens_of_plan(*automaton, plan);
  EXPECT_EQ(tokens, vocabulary.encode(spelling.render(plan.actions), ""));
  EXPECT_EQ(walk(*automaton, tokens), plan);
  EXPECT_EQ(shown(vocabulary, automaton->tokens(automaton->rank(ActionId{0}, 0))).back(), ",");
}

TEST(TokenAutomaton, EntriesAreSortedAndNarrowFindsThem) {
  const TableVocabulary vocabulary = vocabulary_with({"open", " box", "\", \""});
  const PlanSpelling spelling(quoted_list(), kitchen());
  const auto automaton = TokenAutomaton::compile(spelling, vocabulary, {});
  for (std::uint32_t rank = 0; rank < automaton->num_entries(); ++rank) {
    const auto tokens = automaton->tokens(rank);
    const TokenAutomaton::Entry& entry = automaton->entry(rank);
    EXPECT_EQ(automaton->rank(entry.action, entry.next), rank);
    if (rank > 0) {
      const auto before = automaton->tokens(rank - 1);
      EXPECT_TRUE(std::lexicographical_compare(before.begin(), before.end(), tokens.begin(), tokens.end()));
    }
    auto range = automaton->group(0);
    for (std::size_t depth = 0; depth < tokens.size(); ++depth) {
      range = automaton->narrow(range.first, range.second, depth, tokens[depth]);
      ASSERT_TRUE(range.first <= rank && rank < range.second);
    }
    EXPECT_EQ(range, std::pair(rank, rank + 1));
  }
  const auto none = automaton->narrow(0, static_cast<std::uint32_t>(automaton->num_entries()), 0, TokenId{0});
  EXPECT_EQ(none.first, none.second);
  const auto negative = automaton->narrow(0, static_cast<std::uint32_t>(automaton->num_entries()), 0, TokenId{-1});
  EXPECT_EQ(negative.first, negative.second);
}

// ` and ` leaves its blank to the word behind it, `", "` does not: two groups.
TEST(TokenAutomaton, SeparatorsThatLeaveDifferentBeginningsMakeGroups) {
  const TableVocabulary vocabulary =
      vocabulary_with({" and", " open", " put", " wait", "open", "put", "wait", "\", \"", "[\""});
  PlanFormat format = quoted_list();
  format.separators.emplace_back(" and ");
  const PlanSpelling spelling(format, kitchen());
  const auto automaton = TokenAutomaton::compile(spelling, vocabulary, {});
  ASSERT_EQ(automaton->num_groups(), 2U);
  EXPECT_NE(automaton->group_after(0), automaton->group_after(1));
  EXPECT_EQ(automaton->first_group(), automaton->group_after(0));
  Random random(1);
  for (int i = 0; i < 500; ++i) {
    WalkedPlan plan;
    plan.actions.resize(1 + random.below(5));
    for (ActionId& action : plan.actions) action = ActionId{random.below(5)};
    plan.separators.resize(plan.actions.size() - 1);
    for (std::uint32_t& separator : plan.separators) separator = random.below(2);
    const std::vector<TokenId> tokens = tokens_of_plan(*automaton, plan);
    ASSERT_EQ(tokens, vocabulary.encode(spelling.render(plan.actions, plan.separators), ""));
    ASSERT_EQ(walk(*automaton, tokens), plan);
  }
}

TEST(TokenAutomaton, NumbersArePartsOfTheirOwn) {
  const TableVocabulary vocabulary = vocabulary_with({"10", " open", ".\n", ". "});
  const PlanFormat format = PlanFormat::parse(
      "prefix: \"{index}.\"\nitem: \" {action} {arguments}\"\nitem /0: \" {action}\"\nargument-separator: \" "
      "\"\nseparator: \"\\n\"\n"
      "close: \"!\"\n",
      "numbered.format");
  const PlanSpelling spelling(format, kitchen());
  const auto automaton = TokenAutomaton::compile(spelling, vocabulary, {.context = "", .max_actions = 12});
  EXPECT_EQ(automaton->max_actions(), 12U);
  WalkedPlan plan;
  for (std::uint32_t i = 0; i < 12; ++i) {
    plan.actions.push_back(ActionId{i % 5});
    if (i > 0) plan.separators.push_back(0);
    const std::vector<TokenId> tokens = tokens_of_plan(*automaton, plan);
    EXPECT_EQ(tokens, vocabulary.encode(spelling.render(plan.actions), "")) << i;
    EXPECT_EQ(walk(*automaton, tokens), plan);
  }
}

TEST(TokenAutomaton, OtherSpellingsInTokensAreNotAccepted) {
  const TableVocabulary vocabulary = vocabulary_with({"open", "op", "en", " box", "\", \"", "\","});
  const PlanSpelling spelling(quoted_list(), kitchen());
  const auto automaton = TokenAutomaton::compile(spelling, vocabulary, {});
  const std::string text = spelling.render(std::vector<ActionId>{ActionId{0}, ActionId{4}});
  const std::vector<TokenId> tokens = vocabulary.encode(text, "");
  EXPECT_TRUE(walk(*automaton, tokens).has_value());
  std::vector<TokenId> letters;
  for (const char c : text) letters.push_back(vocabulary.encode(std::string(1, c), "").front());
  EXPECT_FALSE(walk(*automaton, letters).has_value());
  for (std::size_t size = 0; size < tokens.size(); ++size) {
    EXPECT_FALSE(walk(*automaton, std::span(tokens).first(size)).has_value()) << size;
  }
}

TEST(TokenAutomaton, TextThatCannotBeWrittenIsAnError) {
  const TableVocabulary vocabulary = vocabulary_with({}, "j");
  const PlanSpelling spelling(quoted_list(), kitchen());
  const std::string message = what([&] { TokenAutomaton::compile(spelling, vocabulary, {}); });
  EXPECT_NE(message.find("cannot be written in this vocabulary"), std::string::npos) << message;
}

// Every name is joined with the separator before it, and no place in between is a border in every plan.
TEST(TokenAutomaton, AnEncodingThatCannotBeCutIsAnError) {
  const Task task = named_task({{"a", {"x"}}, {"b", {"x"}}, {"c", {"x"}}});
  const PlanFormat format =
      PlanFormat::parse("item: \"{action}({arguments})\"\nseparator: \",\"\nclose: \".\"\n", "tight.format");
  const PlanSpelling spelling(format, task);
  // The separator belongs to the item before it in front of `a`, and to the one behind it in front of `b` and `c`.
  const TableVocabulary vocabulary = vocabulary_with({"x),a", "x)", ",b", ",c"});
  const std::string message = what([&] { TokenAutomaton::compile(spelling, vocabulary, {}); });
  EXPECT_NE(message.find("cannot be cut between two actions"), std::string::npos) << message;
}

TEST(TokenAutomaton, ATaskWithoutActionsHasOnlyTheEmptyPlan) {
  const TableVocabulary vocabulary = vocabulary_with({"[]"});
  const PlanSpelling spelling(quoted_list(), named_task({}));
  const auto automaton = TokenAutomaton::compile(spelling, vocabulary, {});
  EXPECT_EQ(automaton->num_entries(), 0U);
  EXPECT_EQ(walk(*automaton, vocabulary.encode("[]", "")), WalkedPlan{});
  EXPECT_FALSE(walk(*automaton, vocabulary.encode("[\"", "")).has_value());
}

// --- files -----------------------------------------------------------------------------------------------------------

class AutomatonFile : public ::testing::Test {
 protected:
  AutomatonFile() : spelling_(quoted_list(), kitchen()) {
    TokenAutomaton::compile(spelling_, vocabulary_, options_)->save(file_);
    std::ifstream in(file_, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
  }
  ~AutomatonFile() override { std::filesystem::remove(file_); }

  std::string error_for(const std::string& bytes) {
    std::ofstream(file_, std::ios::binary) << bytes;
    return what([&] { TokenAutomaton::load(file_, spelling_, vocabulary_, options_); });
  }

  TableVocabulary vocabulary_ = vocabulary_with({"open", " box", "\", \""});
  AutomatonOptions options_ = {.context = "Plan:\n"};
  PlanSpelling spelling_;
  std::string file_ = (std::filesystem::path(::testing::TempDir()) /
                       (std::string("automaton_") + ::testing::UnitTest::GetInstance()->current_test_info()->name()))
                          .string();
  std::string bytes_;
};

TEST_F(AutomatonFile, LoadsAsItWasSaved) {
  const auto saved = TokenAutomaton::compile(spelling_, vocabulary_, options_);
  const auto loaded = TokenAutomaton::load(file_, spelling_, vocabulary_, options_);
  ASSERT_EQ(loaded->num_entries(), saved->num_entries());
  EXPECT_EQ(loaded->num_states(), saved->num_states());
  EXPECT_EQ(loaded->num_separators(), saved->num_separators());
  EXPECT_EQ(loaded->first_group(), saved->first_group());
  EXPECT_TRUE(std::ranges::equal(loaded->opening(), saved->opening()));
  EXPECT_TRUE(std::ranges::equal(loaded->empty_plan(), saved->empty_plan()));
  EXPECT_EQ(loaded->end_of_turn(), saved->end_of_turn());
  for (std::uint32_t rank = 0; rank < saved->num_entries(); ++rank) {
    EXPECT_TRUE(std::ranges::equal(loaded->tokens(rank), saved->tokens(rank)));
    EXPECT_EQ(loaded->entry(rank).action, saved->entry(rank).action);
    EXPECT_EQ(loaded->entry(rank).next, saved->entry(rank).next);
  }
}

TEST_F(AutomatonFile, EveryTruncationIsRefused) {
  for (std::size_t size = 0; size < bytes_.size(); size += size < 100 ? 1 : 13) {
    ASSERT_NE(error_for(bytes_.substr(0, size)).find("not a usable token automaton"), std::string::npos) << size;
  }
}

TEST_F(AutomatonFile, EveryChangedByteIsRefused) {
  for (std::size_t at = 0; at < bytes_.size(); at += at < 100 ? 1 : 11) {
    std::string damaged = bytes_;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    ASSERT_NE(error_for(damaged).find("not a usable token automaton"), std::string::npos) << at;
  }
  EXPECT_NE(error_for(bytes_ + "x").find("not a usable token automaton"), std::string::npos);
}

TEST_F(AutomatonFile, OtherVersionsAndKindsAreNamed) {
  std::string other = bytes_;
  other[8] = 9;
  EXPECT_NE(error_for(other).find("it has version 9"), std::string::npos);
  EXPECT_NE(error_for("GGUF, or something else altogether").find("another kind of file"), std::string::npos);
}

TEST_F(AutomatonFile, AFileMadeForSomethingElseIsRefused) {
  const std::string foreign = "made for another vocabulary, format, task or prompt";
  const auto error = [&](const PlanSpelling& spelling, const Vocabulary& vocabulary, const AutomatonOptions& options) {
    return what([&] { TokenAutomaton::load(file_, spelling, vocabulary, options); });
  };
  EXPECT_EQ(error(spelling_, vocabulary_, options_), "no error");
  EXPECT_NE(error(spelling_, vocabulary_with({"open", " box"}), options_).find(foreign), std::string::npos);
  EXPECT_NE(error(spelling_, vocabulary_, {.context = "Plan: \n"}).find(foreign), std::string::npos);
  EXPECT_NE(error(spelling_, vocabulary_, {.context = "Plan:\n", .max_actions = 3}).find(foreign), std::string::npos);
  PlanFormat format = quoted_list();
  format.close = "\"].";
  EXPECT_NE(error(PlanSpelling(format, kitchen()), vocabulary_, options_).find(foreign), std::string::npos);
  const PlanSpelling other_task(quoted_list(), named_task({{"open", {"box"}}}));
  EXPECT_NE(error(other_task, vocabulary_, options_).find(foreign), std::string::npos);
}

TEST_F(AutomatonFile, MissingFilesAreErrors) {
  std::filesystem::remove(file_);
  EXPECT_NE(what([&] { TokenAutomaton::load(file_, spelling_, vocabulary_, options_); }).find(file_),
            std::string::npos);
}

}  // namespace
}  // namespace metactrl::automaton_test
