// SHA-256 and SHA-512 (FIPS 180-4), for telling files apart and for checking that one is what it should be.
//
//     sha256("abc")  // "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
//
//     Sha256 sum;    // the same in pieces
//     sum.add("a");
//     sum.add("bc");
//     sum.hex();
//
// Cost: about 200 MB a second on one core, 300 with SHA-512. Thread safety: objects are independent of each other.
#ifndef METACTRL_SRC_SUPPORT_SHA2_H_
#define METACTRL_SRC_SUPPORT_SHA2_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace metactrl::internal {

template <typename Word>  // std::uint32_t or std::uint64_t
class Sha2 {
 public:
  Sha2();
  void add(std::string_view bytes);
  // Lower-case digits, 64 or 128. Nothing may be added afterwards.
  std::string hex();

 private:
  static constexpr std::size_t kBlock = 16 * sizeof(Word);

  void take_block(const unsigned char* block);

  std::array<Word, 8> state_;
  std::array<unsigned char, kBlock> rest_{};  // the beginning of a block that is not complete yet
  std::size_t rest_size_ = 0;
  std::uint64_t length_ = 0;  // bytes so far
};

using Sha256 = Sha2<std::uint32_t>;
using Sha512 = Sha2<std::uint64_t>;  // by which packages of the npm registry are known

std::string sha256(std::string_view bytes);

// Of a file's bytes, which are read piece by piece; `progress`, where there is one, is told how many were read so far.
// Throws InputError when the file cannot be read.
std::string sha256_of_file(const std::string& path, const std::function<void(std::uint64_t)>& progress = {});

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_SHA2_H_
