// For programs an atom is "(" predicate arguments ")", where a variable is always ?x: a condition quantifies over one at most.
//
// For people it is the first argument, the predicate, the other arguments: "sample at lab", "door locked"; but "robot at lab" and
// "holding sample" where the one argument is what the predicate's last word asks for. A variable is "it".
#include "goals/shape_text.h"

#include <utility>

#include "support/str_cat.h"

namespace metactrl::goals {

namespace {

// "robot at", "holding"
bool asks_for_an_object(std::string_view predicate) {
  constexpr std::string_view kPrepositions = " at in on near by to of from with inside under behind above ";
  const std::string_view last = predicate.substr(predicate.find_last_of(' ') + 1);
  return last.ends_with("ing") || kPrepositions.find(internal::str_cat(" ", last, " ")) != std::string_view::npos;
}

}  // namespace

std::string spoken(std::string_view name) {
  std::string out(name);
  for (char& c : out) c = c == '-' || c == '_' ? ' ' : c;
  return out;
}

std::vector<std::string> atom_parts(const pddl::Ast& ast, pddl::PredicateId id, std::optional<std::size_t> bound) {
  std::vector<std::string> parts = {"(" + ast.predicates[id].name};
  for (std::size_t i = 0; i < ast.predicates[id].parameters.size(); ++i) {
    if (bound == i) {
      parts.back() += " ?x";
    } else {
      parts.back() += " ";
      parts.emplace_back();
    }
  }
  parts.back() += ")";
  return parts;
}

std::vector<std::string> spoken_parts(const pddl::Ast& ast, pddl::PredicateId id, std::optional<std::size_t> bound) {
  const std::size_t arity = ast.predicates[id].parameters.size();
  const std::string name = spoken(ast.predicates[id].name);
  if (arity == 0) return {name};
  if (arity == 1 && asks_for_an_object(name)) {
    return bound ? std::vector<std::string>{name + " it"} : std::vector<std::string>{name + " ", ""};
  }
  std::vector<std::string> parts = {""};
  for (std::size_t i = 0; i < arity; ++i) {
    if (i > 0) parts.back() += " ";
    if (bound == i) {
      parts.back() += "it";
    } else {
      parts.emplace_back();
    }
    if (i == 0) parts.back() += " " + name;
  }
  return parts;
}

void surround(std::vector<std::string>& parts, const std::string& before, const std::string& after) {
  parts.front().insert(0, before);
  parts.back() += after;
}

std::vector<std::string> joined(std::vector<std::string> first, std::vector<std::string> second, const char* open,
                                const char* between, const char* close) {
  surround(first, open, between);
  surround(second, "", close);
  first.back() += second.front();
  first.insert(first.end(), second.begin() + 1, second.end());
  return first;
}

}  // namespace metactrl::goals
