// Hostile models by what they do (hostile_model does all of it).
#ifndef METACTRL_SRC_LM_MALICE_H_
#define METACTRL_SRC_LM_MALICE_H_

#include <cstdint>
#include <memory>

#include "metactrl/language_model.h"

namespace metactrl::lm {

// What a hostile model puts its mass on, changing from token to token.
enum class Malice : std::uint32_t {
  kGarbage = 1,      // tokens that have no place in a plan
  kRepeat = 2,       // the token it saw last, again and again
  kStopEarly = 4,    // the end of the turn, closing brackets
  kNeverStop = 8,    // anything but those
  kNotANumber = 16,  // NaN, here and there or everywhere
  kInfinity = 32,    // plus and minus infinity
  kAll = 63,
};
constexpr Malice operator|(Malice a, Malice b) {
  return static_cast<Malice>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr bool includes(Malice all, Malice one) {
  return (static_cast<std::uint32_t>(all) & static_cast<std::uint32_t>(one)) != 0;
}

std::unique_ptr<LanguageModel> hostile_model(std::shared_ptr<const Vocabulary> vocabulary, std::uint64_t seed,
                                             Malice malice);

}  // namespace metactrl::lm

#endif  // METACTRL_SRC_LM_MALICE_H_
