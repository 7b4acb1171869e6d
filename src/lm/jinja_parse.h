// The text of a chat template as a tree.
#ifndef METACTRL_SRC_LM_JINJA_PARSE_H_
#define METACTRL_SRC_LM_JINJA_PARSE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lm/jinja_value.h"

namespace metactrl::lm::jinja {

enum class NodeKind : std::uint8_t {
  // Statements. A block is a list of them.
  kBlock,
  kData,      // text
  kPrint,     // kids: expression
  kIf,        // kids: condition, block, condition, block, ..., and a last block for `else`
  kFor,       // kids: target, sequence, condition or kNothing, body, block for `else`
  kSet,       // kids: target, expression
  kSetBlock,  // kids: target, expression with kPiped in it, body
  kMacro,     // text: name; kids: body, then kParameter
  kCall,      // kids: the call, then what a macro has: body, kParameter
  kFilter,    // kids: expression with kPiped in it, body
  kBreak,
  kContinue,
  // Expressions.
  kNothing,
  kLiteral,  // value
  kName,     // text
  kTuple,    // of names, or of values: a list
  kList,
  kDict,       // key, value, key, value, ...
  kAttribute,  // text; kids: of what
  kItem,       // kids: of what, which
  kSlice,      // kids: of what, begin, end, step
  kInvoke,     // kids: function, then arguments; kNamed among them
  kNamed,      // text; kids: value
  kPipe,       // text: filter; kids: of what, then arguments
  kPiped,      // the text of the block that is filtered
  kTest,       // text; kids: of what, then arguments
  kNot,
  kNegative,
  kBinary,   // text: the operator; kids: left, right
  kCompare,  // text: the operators, a blank behind each; kids: one more than operators
  kAnd,
  kOr,
  kEither,     // kids: condition, then, else or kNothing
  kParameter,  // text; kids: the default, or none
};

struct Node {
  NodeKind kind = NodeKind::kNothing;
  std::uint32_t line = 0;
  std::uint32_t depth = 1;  // of the tree below it
  std::string text{};
  Value value{};
  std::vector<Node> kids{};
};

// Jinja as chat templates have it: blanks before a block at the beginning of a line and the new line behind a block
// are not part of the text. Throws Error, with the line, for what is not understood, is longer than 256 KiB, or
// nested more deeply than any template that somebody wrote by hand.
Node parse_template(std::string_view source);
// A single expression.
Node parse_expression(std::string_view source);

}  // namespace metactrl::lm::jinja

#endif  // METACTRL_SRC_LM_JINJA_PARSE_H_
