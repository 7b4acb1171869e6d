// SHA-256 against the vectors of FIPS 180-4 and of NIST's validation program.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "metactrl/error.h"
#include "support/sha2.h"

namespace metactrl::internal::sha256_test {
namespace {

TEST(Sha256, KnownVectors) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                   "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  // SHA256ShortMsg.rsp: 8 bits, 512 bits of zero bytes.
  EXPECT_EQ(sha256("\xd3"), "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1");
  EXPECT_EQ(sha256(std::string(64, '\0')), "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b");
}

// Lengths around the ends of a block are where padding goes wrong.
TEST(Sha256, PiecesMakeNoDifference) {
  std::mt19937 random(7);
  for (std::size_t length = 0; length < 200; ++length) {
    std::string text;
    for (std::size_t i = 0; i < length; ++i) text += static_cast<char>(random() % 256);
    Sha256 sum;
    for (std::size_t at = 0; at < length;) {
      const std::size_t count = std::min<std::size_t>(length - at, 1 + random() % 70);
      sum.add(std::string_view(text).substr(at, count));
      at += count;
    }
    EXPECT_EQ(sum.hex(), sha256(text)) << length;
  }
}

TEST(Sha256, OfAFile) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("metactrl_sha256_" + std::to_string(::getpid()));
  const std::string text(300'000, 'x');
  std::ofstream(file, std::ios::binary) << text;
  std::uint64_t seen = 0;
  EXPECT_EQ(sha256_of_file(file.string(), [&](std::uint64_t count) { seen = count; }), sha256(text));
  EXPECT_EQ(seen, text.size());
  std::filesystem::remove(file);
  EXPECT_THROW(sha256_of_file(file.string()), InputError);
}

}  // namespace
}  // namespace metactrl::internal::sha256_test
