// Cuts a chat template into words.
#ifndef METACTRL_SRC_LM_JINJA_LEX_H_
#define METACTRL_SRC_LM_JINJA_LEX_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace metactrl::lm::jinja {

enum class WordKind : std::uint8_t {
  kData,  // text between tags
  kPrintBegin,
  kPrintEnd,
  kBlockBegin,
  kBlockEnd,
  kName,
  kString,
  kInteger,
  kFloat,
  kOperator,
  kEnd,
};

struct Word {
  WordKind kind = WordKind::kEnd;
  std::uint32_t line = 1;
  std::string text{};
};

// Ends with kEnd. Throws Error.
std::vector<Word> cut_template(std::string_view source);
std::vector<Word> cut_expression(std::string_view source);

}  // namespace metactrl::lm::jinja

#endif  // METACTRL_SRC_LM_JINJA_LEX_H_
