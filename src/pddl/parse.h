// Reading PDDL text into a resolved tree (ast.h).
#ifndef METACTRL_SRC_PDDL_PARSE_H_
#define METACTRL_SRC_PDDL_PARSE_H_

#include <string>
#include <string_view>

#include "metactrl/error.h"
#include "pddl/ast.h"

namespace metactrl::pddl {

// A text and the name it has in messages.
struct Source {
  std::string name;
  std::string_view text;
};

// Parses and checks a domain and a problem. Errors and warnings go to `diagnostics`; when it holds errors afterwards
// the returned tree is incomplete and must not be used. Never throws for bad input, linear in the length of the text.
Ast parse(const Source& domain, const Source& problem, Diagnostics& diagnostics);

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_PARSE_H_
