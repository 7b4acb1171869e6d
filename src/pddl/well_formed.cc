// Preconditions and effects go; instead, each action makes one new fact true, since one that changes nothing might be left
// out. Without derived predicates and constraints nothing else depends on what was taken away.
#include "pddl/well_formed.h"

#include <limits>
#include <optional>

#include "pddl/report.h"
#include "pddl/sexpr.h"

namespace metactrl::pddl {

namespace {

constexpr std::size_t kWholeText = std::numeric_limits<std::size_t>::max();
// No other file has a predicate of this name.
constexpr const char* kWritten = "(metactrl-well-formed)";

std::string bare_action(SExpr action) {
  std::string out = "(:action";
  for (std::size_t i = 1; i < action.size(); ++i) {
    const std::string_view key = action[i].text();
    if (key == ":precondition" || key == ":effect") {
      ++i;
    } else {
      out += " " + action[i].to_text(kWholeText);
    }
  }
  return out + " :effect " + kWritten + ")";
}

}  // namespace

std::string well_formed_domain(std::string_view domain) {
  Reporter reporter("domain", "problem");
  const SExprTree tree = read_sexpr(0, domain, reporter);
  const std::optional<SExpr> root = tree.root();
  if (!root || root->head() != "define") return std::string(domain);
  std::string out = "(define";
  for (std::size_t i = 1; i < root->size(); ++i) {
    const SExpr section = (*root)[i];
    if (section.head() == ":derived" || section.head() == ":constraints") continue;
    out += "\n  ";
    if (section.head() == ":action") {
      out += bare_action(section);
    } else if (section.head() == ":predicates") {
      out += std::string("(:predicates ") + kWritten;
      for (std::size_t j = 1; j < section.size(); ++j) out += " " + section[j].to_text(kWholeText);
      out += ")";
    } else {
      out += section.to_text(kWholeText);
    }
  }
  return out + ")\n";
}

}  // namespace metactrl::pddl
