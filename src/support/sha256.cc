// The text is cut into blocks of 64 bytes, after a 1 bit, zeros and its length in bits were appended to it. Each block
// is spread over 64 words and stirred into the state of eight words, as FIPS 180-4 section 6.2 has it.
#include "support/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "support/files.h"

namespace metactrl::internal {

namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t word_at(const unsigned char* bytes) {
  return (std::uint32_t{bytes[0]} << 24U) | (std::uint32_t{bytes[1]} << 16U) | (std::uint32_t{bytes[2]} << 8U) |
         std::uint32_t{bytes[3]};
}

}  // namespace

// The first 32 bits of the fractional parts of the square roots of the first eight primes.
Sha256::Sha256()
    : state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

void Sha256::take_block(const unsigned char* block) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t i = 0; i < 16; ++i) w[i] = word_at(block + 4 * i);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3U);
    const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10U);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> stirred = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < stirred.size(); ++i) state_[i] += stirred[i];
}

void Sha256::add(std::string_view bytes) {
  length_ += bytes.size();
  if (rest_size_ > 0) {
    const std::size_t count = std::min(bytes.size(), kBlock - rest_size_);
    std::memcpy(rest_.data() + rest_size_, bytes.data(), count);
    rest_size_ += count;
    bytes.remove_prefix(count);
    if (rest_size_ < kBlock) return;
    take_block(rest_.data());
    rest_size_ = 0;
  }
  for (; bytes.size() >= kBlock; bytes.remove_prefix(kBlock)) {
    take_block(reinterpret_cast<const unsigned char*>(bytes.data()));
  }
  if (bytes.empty()) return;
  std::memcpy(rest_.data(), bytes.data(), bytes.size());
  rest_size_ = bytes.size();
}

std::string Sha256::hex() {
  const std::uint64_t bits = 8 * length_;
  std::string padding(1, '\x80');
  while ((length_ + padding.size()) % kBlock != kBlock - 8) padding += '\0';
  for (unsigned shift = 64; shift > 0; shift -= 8) padding += static_cast<char>((bits >> (shift - 8)) & 0xffU);
  add(padding);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint32_t word : state_) {
    for (unsigned shift = 32; shift > 0; shift -= 4) text += kDigits[(word >> (shift - 4)) & 0xfU];
  }
  return text;
}

std::string sha256(std::string_view bytes) {
  Sha256 sum;
  sum.add(bytes);
  return sum.hex();
}

std::string sha256_of_file(const std::string& path, const std::function<void(std::uint64_t)>& progress) {
  Sha256 sum;
  std::uint64_t count = 0;
  read_pieces(path, [&](std::string_view piece) {
    sum.add(piece);
    count += piece.size();
    if (progress) progress(count);
  });
  return sum.hex();
}

}  // namespace metactrl::internal
