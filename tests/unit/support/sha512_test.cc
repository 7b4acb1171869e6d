// SHA-512 against the vectors of FIPS 180-4 and of NIST's validation program.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/sha2.h"

namespace metactrl::sha512_test {
namespace {

using internal::Sha512;

std::string sha512(std::string_view text, std::size_t piece = 1000) {
  Sha512 sum;
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) sum.add(text.substr(0, piece));
  return sum.hex();
}

TEST(Sha512, KnownVectors) {
  EXPECT_EQ(sha512(""),
            "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
            "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e");
  EXPECT_EQ(sha512("abc"),
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
  EXPECT_EQ(sha512("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                   "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
            "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
            "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909");
  EXPECT_EQ(sha512(std::string(1'000'000, 'a')),
            "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb"
            "de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b");
}

// Lengths around the ends of a block are where padding goes wrong.
TEST(Sha512, EndsOfBlocks) {
  const auto begin = [](std::size_t length) { return sha512(std::string(length, 'x')).substr(0, 16); };
  EXPECT_EQ(begin(111), "9a2a120825c23198");
  EXPECT_EQ(begin(112), "a3722b515ef40c91");
  EXPECT_EQ(begin(119), "c5df60b24c746cda");
  EXPECT_EQ(begin(120), "13cdfbc65ba3c855");
  EXPECT_EQ(begin(127), "1d5a8893e7b7ed83");
  EXPECT_EQ(begin(128), "e2e22f8422b54b06");
  EXPECT_EQ(begin(240), "3e05caa7e0fddab6");
}

TEST(Sha512, PiecesMakeNoDifference) {
  for (std::size_t length = 0; length < 300; ++length) {
    const std::string text(length, static_cast<char>('a' + length % 26));
    const std::string whole = sha512(text);
    EXPECT_EQ(sha512(text, 1), whole) << length;
    EXPECT_EQ(sha512(text, 37), whole) << length;
  }
}

}  // namespace
}  // namespace metactrl::sha512_test
