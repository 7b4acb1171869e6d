#include "metactrl/training/corpus.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "metactrl/error.h"
#include "support/files.h"

namespace metactrl::corpus_test {
namespace {

// Without the care of internal::write_file, which waits for the disk.
void put(const std::string& path, std::string_view content) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << content;
  ASSERT_TRUE(out.flush());
}

class CorpusTest : public ::testing::Test {
 protected:
  void SetUp() override {
    file_ = (std::filesystem::path(::testing::TempDir()) /
             (std::string("corpus_") + ::testing::UnitTest::GetInstance()->current_test_info()->name()))
                .string();
    std::filesystem::remove(file_);
  }
  void TearDown() override { std::filesystem::remove(file_); }

  static CorpusHeader header() {
    return {"model m, seed 1", Alphabet::meta({"open", "grab"}, 2), Alphabet::tokens(500, 3)};
  }
  static CorpusRecord record(std::uint64_t i) {
    CorpusRecord result;
    result.prompt = i / 2;
    result.seed = i * 0x123456789abcdefULL;
    result.family = static_cast<std::uint32_t>(i % 3);
    result.parsed = i % 4 != 3;
    if (!result.parsed) return result;
    result.actions = 1;
    result.tokens = {SymbolId{static_cast<std::uint32_t>(100 + i)}, SymbolId{499}, SymbolId{3}};
    result.symbols = {SymbolId{0}, SymbolId{2}, header().meta.end};
    return result;
  }
  void write(std::size_t from, std::size_t to, bool resume) const {
    CorpusWriter writer(file_, header(), resume);
    EXPECT_EQ(writer.earlier().size(), from);
    for (std::size_t i = from; i < to; ++i) writer.add(record(i));
  }

  std::string file_;
};

TEST_F(CorpusTest, WhatIsWrittenIsRead) {
  write(0, 10, false);
  const Corpus corpus = Corpus::load(file_);
  EXPECT_EQ(corpus.header, header());
  ASSERT_EQ(corpus.records.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(corpus.records[i], record(i));
  EXPECT_EQ(corpus.bytes_cut_off, 0U);
  EXPECT_EQ(corpus.sequences(CorpusLevel::kMeta).size(), 8U);
  EXPECT_EQ(corpus.sequences(CorpusLevel::kToken)[1][1], SymbolId{499});
}

TEST_F(CorpusTest, ACutFileIsUsableUpToItsLastWholeRecordAndGoesOn) {
  write(0, 4, false);
  const std::string whole = internal::read_file(file_);
  std::size_t records = 4;
  for (std::size_t size = whole.size(); size-- > 0;) {
    put(file_, std::string_view(whole).substr(0, size));
    Corpus corpus;
    try {
      corpus = Corpus::load(file_);
    } catch (const InputError&) {
      EXPECT_LE(records, 0U) << size;  // not even the header is there
      continue;
    }
    ASSERT_LE(corpus.records.size(), records);
    records = corpus.records.size();
    for (std::size_t i = 0; i < records; ++i) ASSERT_EQ(corpus.records[i], record(i));
    if (size % 5 != 0) continue;
    write(records, 4, true);
    EXPECT_EQ(internal::read_file(file_), whole);
  }
  EXPECT_EQ(records, 0U);
}

TEST_F(CorpusTest, WholePromptsAreHeldOut) {
  Corpus corpus;
  for (std::uint64_t i = 0; i < 24; ++i) {
    CorpusRecord& record = corpus.records.emplace_back();
    record.prompt = i / 2;
  }
  EXPECT_EQ(held_out(corpus, 0), std::vector<bool>(24, false));
  EXPECT_EQ(held_out(corpus, 1), std::vector<bool>(24, true));
  const std::vector<bool> fifth = held_out(corpus, 5);
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(fifth[i], i / 2 == 4 || i / 2 == 9) << i;
}

// Families take turns in most corpora; every one of them is kept back from, whatever the two numbers have in common.
TEST_F(CorpusTest, EveryFamilyIsHeldOut) {
  for (const std::uint32_t families : {2U, 4U, 5U}) {
    Corpus corpus;
    for (std::uint32_t prompt = 0; prompt < 200; ++prompt) {
      CorpusRecord& record = corpus.records.emplace_back();
      record.prompt = prompt;
      record.family = prompt % families;
    }
    const std::vector<bool> kept = held_out(corpus, 20);
    std::vector<std::size_t> count(families);
    for (std::size_t i = 0; i < kept.size(); ++i) count[corpus.records[i].family] += kept[i] ? 1 : 0;
    for (std::uint32_t family = 0; family < families; ++family) {
      EXPECT_EQ(count[family], 200 / families / 20) << family << " of " << families;
    }
  }
}

TEST_F(CorpusTest, DamageIsRefused) {
  write(0, 3, false);
  const std::string whole = internal::read_file(file_);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char bit : {'\x01', '\x10', '\x40'}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ bit);
      put(file_, damaged);
      EXPECT_THROW(Corpus::load(file_), InputError) << at;
      // What is intact in it is not thrown away by going on, either.
      EXPECT_THROW(CorpusWriter(file_, header(), true), InputError) << at;
      EXPECT_EQ(internal::read_file(file_), damaged) << at;
    }
  }
}

TEST_F(CorpusTest, AnAlphabetWhoseSizesDoNotGoTogetherIsRefused) {
  CorpusHeader wrong = header();
  wrong.meta.num_actions = ~std::size_t{0};
  wrong.meta.num_slots += header().meta.num_actions + 1;
  { const CorpusWriter writer(file_, wrong, false); }
  EXPECT_THROW(Corpus::load(file_), InputError);
}

TEST_F(CorpusTest, AnotherRunIsNotMixedIn) {
  write(0, 2, false);
  EXPECT_THROW(CorpusWriter(file_, header(), false), InputError);
  CorpusHeader other = header();
  other.made_by = "model m, seed 2";
  EXPECT_THROW(CorpusWriter(file_, other, true), InputError);
  EXPECT_THROW(Corpus::load(file_ + ".none"), InputError);
  for (const char* file : {"", "/", "/dev/null"}) EXPECT_THROW(CorpusWriter(file, header(), true), InputError) << file;
}

}  // namespace
}  // namespace metactrl::corpus_test
