// Whole numbers without a limit, as far as tests need them: to add, to multiply by small ones, to shift, and to say how large
// they are.
#ifndef METACTRL_TESTS_SUPPORT_BIG_INTEGER_H_
#define METACTRL_TESTS_SUPPORT_BIG_INTEGER_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace metactrl::testing {

class BigInteger {
 public:
  BigInteger() = default;
  explicit BigInteger(std::uint32_t value) {
    if (value > 0) digits_.push_back(value);
  }

  bool is_zero() const { return digits_.empty(); }

  BigInteger& operator+=(const BigInteger& other) {
    if (digits_.size() < other.digits_.size()) digits_.resize(other.digits_.size());
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < digits_.size() && (carry > 0 || i < other.digits_.size()); ++i) {
      carry += std::uint64_t{digits_[i]} + (i < other.digits_.size() ? other.digits_[i] : 0);
      digits_[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry > 0) digits_.push_back(static_cast<std::uint32_t>(carry));
    return *this;
  }

  BigInteger& operator*=(std::uint32_t factor) {
    std::uint64_t carry = 0;
    for (std::uint32_t& digit : digits_) {
      carry += std::uint64_t{digit} * factor;
      digit = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry > 0) digits_.push_back(static_cast<std::uint32_t>(carry));
    if (factor == 0) digits_.clear();
    return *this;
  }

  BigInteger& operator<<=(std::size_t bits) {
    if (is_zero()) return *this;
    digits_.insert(digits_.begin(), bits / 32, 0);
    return *this *= std::uint32_t{1} << (bits % 32);
  }

  // By base^exponent.
  BigInteger times_power(std::uint32_t base, std::size_t exponent) const {
    BigInteger out = *this;
    for (std::size_t i = 0; i < exponent; ++i) out *= base;
    return out;
  }

  // To the last bit of a long double or so. Of a number above zero.
  long double log() const {
    long double top = 0;
    const std::size_t first = digits_.size() > 4 ? digits_.size() - 4 : 0;
    for (std::size_t i = digits_.size(); i > first; --i) top = top * 0x1p32L + digits_[i - 1];
    return std::log(top) + static_cast<long double>(32 * first) * std::log(2.0L);
  }

 private:
  std::vector<std::uint32_t> digits_;  // the lowest first; none above the highest that counts
};

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_BIG_INTEGER_H_
