// The texts of conditions, for programs and for people, with holes for objects: what stands before, between and behind them.
//
//     atom_parts(ast, at, {})       // "(at ", " ", ")"
//     spoken_parts(ast, at, {})     // "", " at ", ""
//     surround(parts, "(not ", ")")
#ifndef METACTRL_SRC_GOALS_SHAPE_TEXT_H_
#define METACTRL_SRC_GOALS_SHAPE_TEXT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pddl/ast.h"

namespace metactrl::goals {

// "on-table" and "on_table" as people write it.
std::string spoken(std::string_view name);

// Of an atom; the argument `bound` is a variable and no hole.
std::vector<std::string> atom_parts(const pddl::Ast& ast, pddl::PredicateId id, std::optional<std::size_t> bound);
std::vector<std::string> spoken_parts(const pddl::Ast& ast, pddl::PredicateId id, std::optional<std::size_t> bound);

void surround(std::vector<std::string>& parts, const std::string& before, const std::string& after);
// One behind the other, with the holes of both.
std::vector<std::string> joined(std::vector<std::string> first, std::vector<std::string> second, const char* open,
                                const char* between, const char* close);

}  // namespace metactrl::goals

#endif  // METACTRL_SRC_GOALS_SHAPE_TEXT_H_
