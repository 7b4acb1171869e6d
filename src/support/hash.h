// Hashing of bytes: fast, the same on every machine of one byte order. Not for adversaries.
#ifndef METACTRL_SRC_SUPPORT_HASH_H_
#define METACTRL_SRC_SUPPORT_HASH_H_

#include <cstdint>
#include <cstring>
#include <string_view>

namespace metactrl::internal {

inline std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 32U);
}

// Every bit of the bytes and of their number counts.
inline std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed = 0) {
  std::uint64_t hash = mix(seed, bytes.size() + 1);
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t word = 0;
  for (; left >= 8; left -= 8, at += 8) {
    std::memcpy(&word, at, 8);
    hash = mix(hash, word);
  }
  word = 0;
  if (left > 0) std::memcpy(&word, at, left);
  return mix(hash, word);
}

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_HASH_H_
