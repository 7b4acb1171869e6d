// SHA-512 (FIPS 180-4), by which packages of the npm registry are known.
//
//     Sha512 sum;
//     sum.add("abc");
//     sum.hex();  // "ddaf35a193617aba..."
//
// Cost: about 300 MB a second on one core. Thread safety: objects are independent of each other.
#ifndef METACTRL_SRC_SUPPORT_SHA512_H_
#define METACTRL_SRC_SUPPORT_SHA512_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace metactrl::internal {

class Sha512 {
 public:
  Sha512();
  void add(std::string_view bytes);
  // 128 lower-case digits. Nothing may be added afterwards.
  std::string hex();

 private:
  static constexpr std::size_t kBlock = 128;

  void take_block(const unsigned char* block);

  std::array<std::uint64_t, 8> state_;
  std::array<unsigned char, kBlock> rest_{};  // the beginning of a block that is not complete yet
  std::size_t rest_size_ = 0;
  std::uint64_t length_ = 0;  // bytes so far
};

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_SHA512_H_
