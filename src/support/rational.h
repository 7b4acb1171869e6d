// Exact numbers: fractions of 64-bit integers, in lowest terms. What does not fit is no number: operations return
// nothing then, as they do for a division by zero.
//
//     Rational::parse("0.25")            // 1/4
//     add(Rational(1, 4), Rational(1))   // 5/4
#ifndef METACTRL_SRC_SUPPORT_RATIONAL_H_
#define METACTRL_SRC_SUPPORT_RATIONAL_H_

#include <compare>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>

namespace metactrl::internal {

class Rational {
 public:
  constexpr Rational() = default;
  constexpr explicit Rational(std::int64_t whole) : numerator_(whole) {}

  std::int64_t numerator() const { return numerator_; }
  std::int64_t denominator() const { return denominator_; }

  // A decimal such as 3, -0.25 or +1.5; nothing for other text, an exponent, or more digits than fit.
  static std::optional<Rational> parse(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    Wide value = 0;
    Wide scale = 1;
    bool point = false;
    bool digits = false;
    for (const char c : text) {
      if (c == '.' && !point) {
        point = true;
        continue;
      }
      if (c < '0' || c > '9') return std::nullopt;
      digits = true;
      value = value * 10 + (c - '0');
      if (point) scale *= 10;
      if (value > kLargest || scale > kLargest) return std::nullopt;
    }
    if (!digits) return std::nullopt;
    return make(negative ? -value : value, scale);
  }

  // "7", "-1/3", "0.25": decimals where they end.
  std::string text() const;

  friend std::optional<Rational> add(const Rational& a, const Rational& b) {
    return make(Wide{a.numerator_} * b.denominator_ + Wide{b.numerator_} * a.denominator_,
                Wide{a.denominator_} * b.denominator_);
  }
  friend std::optional<Rational> subtract(const Rational& a, const Rational& b) {
    return make(Wide{a.numerator_} * b.denominator_ - Wide{b.numerator_} * a.denominator_,
                Wide{a.denominator_} * b.denominator_);
  }
  friend std::optional<Rational> multiply(const Rational& a, const Rational& b) {
    return make(Wide{a.numerator_} * b.numerator_, Wide{a.denominator_} * b.denominator_);
  }
  friend std::optional<Rational> divide(const Rational& a, const Rational& b) {
    return make(Wide{a.numerator_} * b.denominator_, Wide{a.denominator_} * b.numerator_);
  }
  bool operator==(const Rational&) const = default;
  std::strong_ordering operator<=>(const Rational& other) const {
    return Wide{numerator_} * other.denominator_ <=> Wide{other.numerator_} * denominator_;
  }

 private:
  __extension__ using Wide = __int128;
  static constexpr Wide kLargest = std::numeric_limits<std::int64_t>::max();

  static std::optional<Rational> make(Wide numerator, Wide denominator) {
    if (denominator == 0) return std::nullopt;
    if (denominator < 0) {
      numerator = -numerator;
      denominator = -denominator;
    }
    Wide a = numerator < 0 ? -numerator : numerator;
    Wide b = denominator;
    while (b != 0) {
      const Wide rest = a % b;
      a = b;
      b = rest;
    }
    numerator /= a;
    denominator /= a;
    if (numerator > kLargest || numerator < -kLargest || denominator > kLargest) return std::nullopt;
    Rational result;
    result.numerator_ = static_cast<std::int64_t>(numerator);
    result.denominator_ = static_cast<std::int64_t>(denominator);
    return result;
  }

  std::int64_t numerator_ = 0;
  std::int64_t denominator_ = 1;
};

std::optional<Rational> add(const Rational& a, const Rational& b);
std::optional<Rational> subtract(const Rational& a, const Rational& b);
std::optional<Rational> multiply(const Rational& a, const Rational& b);
std::optional<Rational> divide(const Rational& a, const Rational& b);

inline std::string Rational::text() const {
  std::int64_t rest = denominator_;
  unsigned places = 0;
  // Digits behind the point: as many as the larger power of 2 or 5 in the denominator.
  unsigned twos = 0;
  unsigned fives = 0;
  for (; rest % 2 == 0; rest /= 2) ++twos;
  for (; rest % 5 == 0; rest /= 5) ++fives;
  if (denominator_ == 1) return std::to_string(numerator_);
  places = twos > fives ? twos : fives;
  if (rest != 1 || places > 15) return std::to_string(numerator_) + "/" + std::to_string(denominator_);
  const bool negative = numerator_ < 0;
  Wide scaled = negative ? -Wide{numerator_} : Wide{numerator_};
  for (unsigned i = 0; i < places; ++i) scaled *= 10;
  scaled /= denominator_;
  std::string digits;
  for (; scaled > 0; scaled /= 10)
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(scaled % 10)));
  while (digits.size() <= places) digits.insert(digits.begin(), '0');
  digits.insert(digits.size() - places, ".");
  return (negative ? "-" : "") + digits;
}

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_RATIONAL_H_
