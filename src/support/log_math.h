// Numbers that stand for their logarithm.
#ifndef METACTRL_SRC_SUPPORT_LOG_MATH_H_
#define METACTRL_SRC_SUPPORT_LOG_MATH_H_

#include <limits>

namespace metactrl::internal {

inline constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();  // the logarithm of 0

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_LOG_MATH_H_
