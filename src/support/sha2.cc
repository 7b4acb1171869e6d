// The text is cut into blocks of 16 words, after a 1 bit, zeros and its length in bits were appended to it. Each block is
// spread over as many words as there are rounds and stirred into the state of eight words: FIPS 180-4 section 6.2 for
// words of 32 bits, 6.4 for 64. Constants are roots of primes, of which a word has the first bits of the fraction.
#include "support/sha2.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "support/files.h"

namespace metactrl::internal {

namespace {

// Cube roots of the first 80 primes.
constexpr std::array<std::uint64_t, 80> kRounds = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc, 0x3956c25bf348b538,
    0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118, 0xd807aa98a3030242, 0x12835b0145706fbe,
    0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2, 0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235,
    0xc19bf174cf692694, 0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5, 0x983e5152ee66dfab,
    0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4, 0xc6e00bf33da88fc2, 0xd5a79147930aa725,
    0x06ca6351e003826f, 0x142929670a0e6e70, 0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed,
    0x53380d139d95b3df, 0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30, 0xd192e819d6ef5218,
    0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8, 0x19a4c116b8d2d0c8, 0x1e376c085141ab53,
    0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8, 0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373,
    0x682e6ff3d6b2b8a3, 0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b, 0xca273eceea26619c,
    0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178, 0x06f067aa72176fba, 0x0a637dc5a2c898a6,
    0x113f9804bef90dae, 0x1b710b35131c471b, 0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc,
    0x431d67c49c100d4c, 0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817};

// Square roots of the first eight.
constexpr std::array<std::uint64_t, 8> kStart = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                                 0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                                 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

template <typename Word>
constexpr unsigned kBits = std::numeric_limits<Word>::digits;

template <typename Word>
Word first_bits(std::uint64_t constant) {
  return static_cast<Word>(constant >> (64 - kBits<Word>));
}

template <typename Word>
Word word_at(const unsigned char* bytes) {
  Word word = 0;
  for (std::size_t i = 0; i < sizeof(Word); ++i) word = static_cast<Word>((word << 8U) | bytes[i]);
  return word;
}

// How far words are turned: of a block that is spread (and the last shifted), and of the state.
struct Turns {
  std::array<int, 3> early, late, a, e;
};
template <typename Word>
constexpr Turns kTurns = sizeof(Word) == 4 ? Turns{{7, 18, 3}, {17, 19, 10}, {2, 13, 22}, {6, 11, 25}}
                                           : Turns{{1, 8, 7}, {19, 61, 6}, {28, 34, 39}, {14, 18, 41}};

template <typename Word>
Word spread(Word word, const std::array<int, 3>& by) {
  return std::rotr(word, by[0]) ^ std::rotr(word, by[1]) ^ (word >> by[2]);
}
template <typename Word>
Word turned(Word word, const std::array<int, 3>& by) {
  return std::rotr(word, by[0]) ^ std::rotr(word, by[1]) ^ std::rotr(word, by[2]);
}

}  // namespace

template <typename Word>
Sha2<Word>::Sha2() {
  std::transform(kStart.begin(), kStart.end(), state_.begin(), first_bits<Word>);
}

template <typename Word>
void Sha2<Word>::take_block(const unsigned char* block) {
  constexpr std::size_t kCount = sizeof(Word) == 4 ? 64 : 80;
  constexpr const Turns& kBy = kTurns<Word>;
  std::array<Word, kCount> w;
  for (std::size_t i = 0; i < 16; ++i) w[i] = word_at<Word>(block + sizeof(Word) * i);
  for (std::size_t i = 16; i < kCount; ++i) {
    w[i] = w[i - 16] + spread(w[i - 15], kBy.early) + w[i - 7] + spread(w[i - 2], kBy.late);
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t i = 0; i < kCount; ++i) {
    const Word t1 = h + turned(e, kBy.e) + ((e & f) ^ (~e & g)) + first_bits<Word>(kRounds[i]) + w[i];
    const Word t2 = turned(a, kBy.a) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<Word, 8> stirred = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < stirred.size(); ++i) state_[i] += stirred[i];
}

template <typename Word>
void Sha2<Word>::add(std::string_view bytes) {
  length_ += bytes.size();
  while (!bytes.empty()) {
    if (rest_size_ == 0 && bytes.size() >= kBlock) {
      take_block(reinterpret_cast<const unsigned char*>(bytes.data()));
      bytes.remove_prefix(kBlock);
      continue;
    }
    const std::size_t count = std::min(bytes.size(), kBlock - rest_size_);
    std::memcpy(rest_.data() + rest_size_, bytes.data(), count);
    rest_size_ += count;
    bytes.remove_prefix(count);
    if (rest_size_ < kBlock) return;
    take_block(rest_.data());
    rest_size_ = 0;
  }
}

template <typename Word>
std::string Sha2<Word>::hex() {
  const std::uint64_t bits = 8 * length_;
  std::string padding(1, '\x80');
  // The length has two words, of which ours fills the last eight bytes.
  while ((length_ + padding.size()) % kBlock != kBlock - 2 * sizeof(Word)) padding += '\0';
  padding.append(2 * sizeof(Word) - 8, '\0');
  for (unsigned shift = 64; shift > 0; shift -= 8) padding += static_cast<char>((bits >> (shift - 8)) & 0xffU);
  add(padding);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const Word word : state_) {
    for (unsigned shift = kBits<Word>; shift > 0; shift -= 4) text += kDigits[(word >> (shift - 4)) & 0xfU];
  }
  return text;
}

template class Sha2<std::uint32_t>;
template class Sha2<std::uint64_t>;

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
