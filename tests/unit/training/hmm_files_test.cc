#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "metactrl/error.h"
#include "metactrl/hmm.h"
#include "metactrl/training/ctrl_g.h"
#include "support/files.h"

namespace metactrl::hmm_files_test {
namespace {

// Without the care of internal::write_file, which waits for the disk.
void put(const std::string& path, std::string_view content) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << content;
  ASSERT_TRUE(out.flush());
}

class HmmFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              (std::string("hmm_files_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  static void expect_equal(const Hmm& a, const Hmm& b) {
    EXPECT_EQ(a.alphabet(), b.alphabet());
    ASSERT_EQ(a.num_hidden(), b.num_hidden());
    EXPECT_TRUE(std::equal(a.initial().begin(), a.initial().end(), b.initial().begin()));
    EXPECT_TRUE(std::equal(a.transition().begin(), a.transition().end(), b.transition().begin()));
    EXPECT_TRUE(std::equal(a.emission().begin(), a.emission().end(), b.emission().begin()));
  }

  std::filesystem::path folder_;
};

TEST_F(HmmFilesTest, SavedAndLoadedIsTheSame) {
  const Hmm hmm = Hmm::random(Alphabet::meta({"open", "grab"}, 3), 5, 1).with_step(17);
  hmm.save(path("a.hmm"));
  const Hmm loaded = Hmm::load(path("a.hmm"));
  expect_equal(hmm, loaded);
  EXPECT_EQ(loaded.step(), 17U);
  EXPECT_EQ(loaded.made_by(), "random, seed 1");
  const Hmm tokens = Hmm::random(Alphabet::tokens(300, 2, 0x1234567890abcdefULL), 3, 2);
  tokens.save(path("b.hmm"));
  expect_equal(tokens, Hmm::load(path("b.hmm")));
}

TEST_F(HmmFilesTest, EveryTruncationAndEveryDamagedByteIsRefused) {
  Hmm::random(Alphabet::meta({"open"}, 1), 2, 1).save(path("a.hmm"));
  const std::string bytes = internal::read_file(path("a.hmm"));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    put(path("b.hmm"), bytes.substr(0, size));
    EXPECT_THROW(Hmm::load(path("b.hmm")), InputError) << size;
  }
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    put(path("b.hmm"), damaged);
    EXPECT_THROW(Hmm::load(path("b.hmm")), InputError) << at;
  }
  EXPECT_THROW(Hmm::load(path("none.hmm")), InputError);
  EXPECT_THROW(Hmm::load(folder_.string()), InputError);
}

TEST_F(HmmFilesTest, AModelOutlivesItsReplacedFile) {
  const Hmm first = Hmm::random(Alphabet::tokens(5, 0), 2, 1);
  first.save(path("a.hmm"));
  const Hmm loaded = Hmm::load(path("a.hmm"));
  Hmm::random(Alphabet::tokens(5, 0), 2, 2).save(path("a.hmm"));
  expect_equal(first, loaded);
}

TEST_F(HmmFilesTest, SafetensorsRoundTrip) {
  const Hmm hmm = Hmm::random(Alphabet::tokens(7, 4), 3, 5);
  export_ctrl_g(hmm, path("model.safetensors"));
  const Hmm back = import_ctrl_g(path("model.safetensors"));
  EXPECT_EQ(back.alphabet(), hmm.alphabet());
  for (std::size_t i = 0; i < hmm.emission().size(); ++i) EXPECT_NEAR(back.emission()[i], hmm.emission()[i], 1e-6);
  for (std::size_t i = 0; i < hmm.transition().size(); ++i)
    EXPECT_NEAR(back.transition()[i], hmm.transition()[i], 1e-6);
  for (std::size_t i = 0; i < hmm.initial().size(); ++i) EXPECT_NEAR(back.initial()[i], hmm.initial()[i], 1e-6);
  const Alphabet meta = Alphabet::meta({"a", "b"}, 3);
  EXPECT_EQ(import_ctrl_g(path("model.safetensors"), meta).alphabet(), meta);
  EXPECT_THROW(import_ctrl_g(path("model.safetensors"), Alphabet::meta({"a"}, 3)), InputError);
}

// What the symbols mean comes back with the numbers: names, slots, the vocabulary's fingerprint.
TEST_F(HmmFilesTest, SafetensorsKeepTheAlphabet) {
  const std::vector<Alphabet> alphabets{Alphabet::meta({"open", "put-in", "a b", "\"%41\"", "\\", "caf\xc3\xa9"}, 3),
                                        Alphabet::meta({}, 2), Alphabet::tokens(7, 4, 0xfedcba9876543210ULL)};
  for (std::size_t i = 0; i < alphabets.size(); ++i) {
    const std::string folder = path("checkpoint" + std::to_string(i));
    std::filesystem::create_directories(folder);
    const Hmm hmm = Hmm::random(alphabets[i], 3, 5);
    export_ctrl_g(hmm, folder + "/model.safetensors");
    std::filesystem::remove(folder + "/config.json");
    EXPECT_EQ(import_ctrl_g(folder + "/model.safetensors").alphabet(), hmm.alphabet()) << i;
  }
}

TEST_F(HmmFilesTest, ACheckpointDoesNotReplaceAnother) {
  export_ctrl_g(Hmm::random(Alphabet::tokens(7, 4), 3, 5), path("a.safetensors"));
  const std::string config = internal::read_file(path("config.json"));
  EXPECT_THROW(export_ctrl_g(Hmm::random(Alphabet::tokens(8, 4), 3, 5), path("b.safetensors")), InputError);
  EXPECT_EQ(internal::read_file(path("config.json")), config);
  EXPECT_FALSE(std::filesystem::exists(path("b.safetensors")));
  EXPECT_THROW(export_ctrl_g(Hmm::random(Alphabet::tokens(7, 4), 3, 5), path("config.json")), InputError);
  export_ctrl_g(Hmm::random(Alphabet::tokens(7, 4), 3, 6), path("a.safetensors"));  // the same one, trained anew
}

// As another program writes it: other order, metadata, a third tensor type refused.
TEST_F(HmmFilesTest, ReadsWhatCtrlGWrites) {
  const auto write = [&](const std::string& header, const std::vector<float>& values) {
    std::string bytes;
    const std::uint64_t size = header.size();
    bytes.append(reinterpret_cast<const char*>(&size), sizeof(size));
    bytes += header;
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    put(path("model.safetensors"), bytes);
  };
  put(path("config.json"), R"({"hidden_states": 1, "vocab_size": 2, "eos_token_id": 1, "x": [1.5, null]})");
  const std::string header =
      R"({"__metadata__": {"format": "pt"}, "alpha_exp": {"dtype": "F32", "shape": [1, 1], "data_offsets": [0, 4]}, )"
      R"("beta": {"dtype": "F32", "shape": [1, 2], "data_offsets": [4, 12]}, )"
      R"("gamma": {"dtype": "F32", "shape": [1], "data_offsets": [12, 16]}})";
  // beta is a logarithm: one, nearly, and zero. Of gamma any sum will do.
  write(header, {1, 0.005F, -1e30F, 3});
  const Hmm hmm = import_ctrl_g(path("model.safetensors"));
  EXPECT_EQ(hmm.alphabet().end, SymbolId{1});
  EXPECT_FLOAT_EQ(hmm.emission()[0], 1);
  EXPECT_EQ(hmm.emission()[1], 0);
  const auto refused = [&](const std::string& from, const std::string& to, const std::vector<float>& values) {
    std::string changed = header;
    const std::size_t at = changed.find(from);
    changed.replace(at, from.size(), to);
    write(changed, values);
    EXPECT_THROW(import_ctrl_g(path("model.safetensors")), InputError) << to;
  };
  const std::vector<float> values{1, -0.6931472F, -0.6931472F, 0};
  refused("F32", "F16", values);
  refused("[12, 16]", "[12, 20]", values);
  refused("[12, 16]", "[8, 12]", values);
  refused("[4, 12]", "[4, 1e9]", values);
  refused("[1, 2]", "[1, 3]", values);
  refused("gamma", "delta", values);
  refused("}}", "}", values);
  refused("[1, 2]", "[99999999999, 99999999999]", values);
  refused("F32", "F32", {1, -0.6931472F, -0.6931472F});
  refused("F32", "F32", {1, -0.6931472F, -0.6931472F, 0, 0});
  refused("F32", "F32", {0, -0.6931472F, -0.6931472F, 0});
  // Rows that are no distributions: twice as much, negative, probabilities for logarithms, and nothing at all.
  refused("F32", "F32", {2, -0.6931472F, -0.6931472F, 0});
  refused("F32", "F32", {-1, -0.6931472F, -0.6931472F, 0});
  refused("F32", "F32", {1, 0.5F, 0.5F, 0});
  refused("F32", "F32", {1, -1e30F, -1e30F, 0});
  refused("F32", "F32", {1, -0.6931472F, -0.6931472F, -1e30F});
  for (const char* config : {"{}", "[]", R"({"eos_token_id": 2})", R"({"eos_token_id": 1, "hidden_states": 99})",
                             R"({"eos_token_id": 1, "vocab_size": 7})"}) {
    put(path("config.json"), config);
    refused("F32", "F32", values);
  }
  put(path("config.json"), R"({"eos_token_id": 1})");
  write(header, values);
  EXPECT_FLOAT_EQ(import_ctrl_g(path("model.safetensors")).emission()[0], 0.5F);
}

// Not by comparing each key with all before it.
TEST_F(HmmFilesTest, AHeaderOfManyKeysIsReadQuickly) {
  std::string header = "{";
  for (int i = 0; i < 300'000; ++i) header += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
  header += '}';
  std::string bytes;
  const std::uint64_t size = header.size();
  bytes.append(reinterpret_cast<const char*>(&size), sizeof(size));
  put(path("model.safetensors"), bytes + header);
  EXPECT_THROW(import_ctrl_g(path("model.safetensors")), InputError);
}

}  // namespace
}  // namespace metactrl::hmm_files_test
