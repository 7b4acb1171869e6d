// SHA-256 (FIPS 180-4), for telling files apart and for checking that one is what it should be.
//
//     sha256("abc")  // "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
//
//     Sha256 sum;    // the same in pieces
//     sum.add("a");
//     sum.add("bc");
//     sum.hex();
//
// Cost: about 200 MB a second on one core. Thread safety: objects are independent of each other.
#ifndef METACTRL_SRC_SUPPORT_SHA256_H_
#define METACTRL_SRC_SUPPORT_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace metactrl::internal {

class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  // 64 lower-case digits. Nothing may be added afterwards.
  std::string hex();

 private:
  static constexpr std::size_t kBlock = 64;

  void take_block(const unsigned char* block);

  std::array<std::uint32_t, 8> state_;
  std::array<unsigned char, kBlock> rest_{};  // the beginning of a block that is not complete yet
  std::size_t rest_size_ = 0;
  std::uint64_t length_ = 0;  // bytes so far
};

std::string sha256(std::string_view bytes);

// Of a file's bytes, which are read piece by piece; `progress`, where there is one, is told how many were read so far.
// Throws InputError when the file cannot be read.
std::string sha256_of_file(const std::string& path, const std::function<void(std::uint64_t)>& progress = {});

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_SHA256_H_
