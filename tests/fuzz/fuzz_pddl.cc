// Fuzzes the PDDL reader. The input is a domain, a line "====", and a problem; without that line the problem is empty.
//
// With clang: -fsanitize=fuzzer,address,undefined, started with the folder corpus/pddl. Without libFuzzer link
// replay_main.cc.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "metactrl/error.h"
#include "pddl/parse.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using metactrl::Diagnostics;
  // Not a string view of `data`: a copy of its own lets the address sanitizer see a read past the end.
  const std::string input(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kSeparator = "====\n";
  std::size_t split = 0;
  while (true) {
    split = input.find(kSeparator, split);
    if (split == std::string::npos || split == 0 || input[split - 1] == '\n') break;
    ++split;
  }
  const std::string domain = input.substr(0, split);
  const std::string problem = split == std::string::npos ? std::string() : input.substr(split + kSeparator.size());

  Diagnostics diagnostics;
  const metactrl::pddl::Ast ast = metactrl::pddl::parse({"domain", domain}, {"problem", problem}, diagnostics);
  check(diagnostics.items().size() <= Diagnostics::kMaxItems + 1);
  for (const metactrl::Diagnostic& diagnostic : diagnostics.items()) {
    check(!diagnostic.message.empty());
    check(!metactrl::to_string(diagnostic).empty());
  }
  if (diagnostics.has_errors()) return 0;

  // A tree that was accepted can be printed from end to end, so all its indices are good.
  std::size_t length = to_string(ast, ast.goal.variables, ast.goal.condition).size();
  for (const metactrl::pddl::Action& action : ast.actions) {
    check(action.num_parameters <= action.variables.size());
    length += to_string(ast, action.variables, action.precondition).size();
    for (const metactrl::pddl::Effect& effect : action.effects) {
      length +=
          to_string(ast, action.variables, effect.when).size() + to_string(ast, action.variables, effect.atom).size();
    }
  }
  for (const metactrl::pddl::Axiom& axiom : ast.axioms) length += to_string(ast, axiom.variables, axiom.body).size();
  for (const metactrl::pddl::GroundAtom& atom : ast.init) length += to_string(ast, atom).size();
  for (const metactrl::pddl::Constraint& constraint : ast.constraints) {
    length += to_string(ast, constraint.variables, constraint.first).size();
    length += to_string(ast, constraint.variables, constraint.second).size();
    for (const auto& step : constraint.steps) check(!step.empty());
  }
  check(length > 0);
  return 0;
}
