// Text and numbers as JSON has them, for the parts of the library that write it: it uses no package.
#ifndef METACTRL_SRC_SUPPORT_JSON_TEXT_H_
#define METACTRL_SRC_SUPPORT_JSON_TEXT_H_

#include <string>
#include <string_view>

namespace metactrl::internal {

// Two digits.
std::string hex(unsigned char byte);

// In double quotes, escaped. Bytes that are not UTF-8 become the replacement character.
std::string json_text(std::string_view text);

// 7 as "7", 2.5 as "2.5": as many digits as are needed to read the same number back.
std::string number_text(double value);

}  // namespace metactrl::internal

#endif  // METACTRL_SRC_SUPPORT_JSON_TEXT_H_
