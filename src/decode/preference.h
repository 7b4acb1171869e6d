// What a request prefers, as people write it: "model", "short", "cheap", "short:0.5".
#ifndef METACTRL_SRC_DECODE_PREFERENCE_H_
#define METACTRL_SRC_DECODE_PREFERENCE_H_

#include <string_view>

#include "metactrl/planner.h"

namespace metactrl::decode {

// Sets prefer_short or prefer_cheap and what that needs; without a number to 1. False, and nothing is changed, when the
// text is none of these.
bool set_preference(std::string_view text, PlanOptions& options);

constexpr const char* kPreferences = "model, short, cheap, or one of the last two with a weight, like cheap:0.5";

}  // namespace metactrl::decode

#endif  // METACTRL_SRC_DECODE_PREFERENCE_H_
