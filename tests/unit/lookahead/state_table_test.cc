#include "lookahead/state_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace metactrl::lookahead::state_table_test {
namespace {

using task::Word;

TEST(StateTable, NumbersStatesInOrderOfFirstInsertion) {
  StateTable table(2);
  const std::vector<std::vector<Word>> states = {{1, 2}, {2, 1}, {0, 0}};
  for (std::uint32_t i = 0; i < states.size(); ++i) {
    EXPECT_EQ(table.insert(states[i].data()), std::make_pair(StoredId{i}, true));
  }
  for (std::uint32_t i = 0; i < states.size(); ++i) {
    EXPECT_EQ(table.insert(states[i].data()), std::make_pair(StoredId{i}, false));
    EXPECT_EQ(table.find(states[i].data()), StoredId{i});
  }
  EXPECT_EQ(table.size(), 3U);
}

TEST(StateTable, DoesNotFindWhatWasNotInserted) {
  StateTable table(1);
  const Word present = 5;
  const Word absent = 6;
  EXPECT_FALSE(table.find(&present).has_value());
  table.insert(&present);
  EXPECT_TRUE(table.find(&present).has_value());
  EXPECT_FALSE(table.find(&absent).has_value());
}

TEST(StateTable, HasOneStateOfNoWords) {
  StateTable table(0);
  const Word nothing = 0;
  EXPECT_FALSE(table.find(&nothing).has_value());
  EXPECT_EQ(table.insert(&nothing), std::make_pair(StoredId{0}, true));
  EXPECT_EQ(table.insert(&nothing), std::make_pair(StoredId{0}, false));
  EXPECT_EQ(table.size(), 1U);
}

TEST(StateTable, ForgetsWhatWasInsertedLast) {
  std::mt19937_64 random(7);
  StateTable table(1);
  std::vector<Word> known;  // by id
  std::set<Word> forgotten;
  for (int turn = 0; turn < 300; ++turn) {
    for (std::uint64_t i = random() % 60; i-- > 0;) {
      const Word word = random() % 4096;
      const auto [id, fresh] = table.insert(&word);
      ASSERT_EQ(fresh, index(id) == known.size());
      if (fresh) known.push_back(word);
      forgotten.erase(word);
      ASSERT_EQ(known[index(id)], word);
    }
    const std::size_t size = known.size() - random() % (known.size() / 2 + 1) / (turn % 10 == 0 ? 1 : 8);
    forgotten.insert(known.begin() + static_cast<std::ptrdiff_t>(size), known.end());
    known.resize(size);
    table.truncate(size);
    ASSERT_EQ(table.size(), size);
    for (std::uint32_t i = 0; i < known.size(); ++i) ASSERT_EQ(table.find(&known[i]), StoredId{i});
    for (const Word word : forgotten) ASSERT_FALSE(table.find(&word).has_value());
  }
  EXPECT_GT(known.size(), 500U);
}

TEST(StateTable, KeepsPointersValidWhileItGrows) {
  StateTable table(3);
  std::vector<const Word*> stored;
  for (Word i = 0; i < 50'000; ++i) {
    const Word words[3] = {i, i * i, ~i};
    const auto [id, fresh] = table.insert(words);
    ASSERT_TRUE(fresh);
    stored.push_back(table.words(id));
  }
  for (Word i = 0; i < stored.size(); ++i) {
    ASSERT_EQ(table.words(to_id<StoredId>(i)), stored[i]);
    ASSERT_EQ(stored[i][0], i);
    ASSERT_EQ(stored[i][1], i * i);
    ASSERT_EQ(stored[i][2], ~i);
  }
}

TEST(StateTable, ForgetsEverythingWhenCleared) {
  StateTable table(1);
  for (Word i = 0; i < 1000; ++i) table.insert(&i);
  table.clear();
  EXPECT_EQ(table.size(), 0U);
  const Word word = 17;
  EXPECT_FALSE(table.find(&word).has_value());
  EXPECT_EQ(table.insert(&word), std::make_pair(StoredId{0}, true));
  EXPECT_EQ(*table.words(StoredId{0}), word);
}

TEST(StateTable, CountsTheMemoryOfItsStates) {
  StateTable table(4);
  for (Word i = 0; i < 100'000; ++i) {
    const Word words[4] = {i, 0, 0, i};
    table.insert(words);
  }
  const std::size_t payload = table.size() * 4 * sizeof(Word);
  EXPECT_GE(table.memory_bytes(), payload);
  EXPECT_LE(table.memory_bytes(), payload + table.size() * 24 + 100'000);
}

TEST(StateTable, AgreesWithAMap) {
  std::mt19937_64 random(7);
  for (std::size_t width : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{9}}) {
    StateTable table(width);
    std::map<std::vector<Word>, StoredId> expected;
    for (int i = 0; i < 30'000; ++i) {
      std::vector<Word> words(width);
      for (Word& word : words) word = random() % 12;  // many repetitions, few bits
      const auto [id, fresh] = table.insert(words.data());
      const auto [place, added] = expected.emplace(words, to_id<StoredId>(expected.size()));
      ASSERT_EQ(fresh, added);
      ASSERT_EQ(id, place->second);
    }
    ASSERT_EQ(table.size(), expected.size());
    for (const auto& [words, id] : expected) {
      ASSERT_EQ(table.find(words.data()), id);
      ASSERT_EQ(std::vector<Word>(table.words(id), table.words(id) + width), words);
    }
  }
}

// States of a task differ in few bits, often in the same word.
TEST(HashWords, SpreadsStatesThatDifferInTwoBits) {
  for (std::size_t width : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{4}}) {
    std::set<std::uint64_t> upper_halves;
    std::size_t states = 0;
    for (std::size_t a = 0; a < 64 * width; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        std::vector<Word> words(width);
        words[a / 64] |= Word{1} << (a % 64);
        words[b / 64] |= Word{1} << (b % 64);
        upper_halves.insert(hash_words(words.data(), width) >> 32);
        ++states;
      }
    }
    // With 2^32 values and at most 32,640 states about 0.12 collisions are expected.
    EXPECT_GE(upper_halves.size() + 3, states) << "width " << width;
  }
}

TEST(HashWords, DependsOnTheOrderOfTheWords) {
  const Word forward[4] = {1, 2, 3, 4};
  const Word swapped[4] = {3, 4, 1, 2};
  const Word exchanged[4] = {2, 1, 3, 4};
  EXPECT_NE(hash_words(forward, 4), hash_words(swapped, 4));
  EXPECT_NE(hash_words(forward, 4), hash_words(exchanged, 4));
}

}  // namespace
}  // namespace metactrl::lookahead::state_table_test
