// Reading what a model wrote when nobody held it.
#ifndef METACTRL_SRC_DECODE_FREE_TEXT_H_
#define METACTRL_SRC_DECODE_FREE_TEXT_H_

#include <string_view>

#include "metactrl/format.h"

namespace metactrl::decode {

struct FreeText {
  PlanSpelling::Parsed parsed;
  // The text ends without the format's closing, and is a plan with it.
  bool closing_added = false;
};

// Nobody told the model how the format ends, or whether it begins on the same line. That much is forgiven, and said.
FreeText read_free_text(const PlanSpelling& spelling, std::string_view text);

}  // namespace metactrl::decode

#endif  // METACTRL_SRC_DECODE_FREE_TEXT_H_
