// The text of a PDDL problem, taken apart as far as it takes to give it another goal, or other facts.
#ifndef METACTRL_SRC_GOALS_PROBLEM_TEXT_H_
#define METACTRL_SRC_GOALS_PROBLEM_TEXT_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metactrl/error.h"

namespace metactrl::goals {

// A list or a name in a text, as it is written.
struct Piece {
  std::size_t begin = 0;
  std::size_t end = 0;  // behind it
  std::string_view in(std::string_view text) const { return text.substr(begin, end - begin); }
};

// The list that a file begins with; what follows it is not read. Nothing when it does not begin with one.
std::optional<Piece> first_list(std::string_view text);
// The one list that a text consists of, blanks and comments around it apart; nothing when it is anything else.
std::optional<Piece> only_list(std::string_view text);
// The members of a list that one of these has found.
std::vector<Piece> members(std::string_view text, Piece list);
// The first member in small letters when it is a name; else empty.
std::string head(std::string_view text, Piece piece);

// A goal in two parts: PDDL keeps conditions on the way to the goal in a section of their own.
struct GoalParts {
  std::string condition;
  std::vector<std::string> constraints;
};
// Takes a goal apart. `is_predicate` knows the domain's names, which go before those of operators. Nothing when the text is
// not one list.
std::optional<GoalParts> split_goal(std::string_view goal, const std::function<bool(std::string_view)>& is_predicate);

// A problem with another goal. Preferences that stand in its own goal are kept: the metric may name them. Its own lines
// keep their numbers; what is new comes behind the last of them, from line `first_line` on. The text is returned as it is
// when it does not begin with a list.
struct Composed {
  std::string text;
  std::size_t first_line = 0;
};
Composed with_goal(std::string_view problem, const GoalParts& goal);

// What was found in such a text, read by this name: behind the problem's own lines it is about the goal, as a whole,
// since nobody has seen those lines.
Diagnostics about_goal(const Diagnostics& all, std::string_view problem_name, std::size_t first_line);
// The same without what is behind the problem's own lines.
Diagnostics without_goal(const Diagnostics& all, std::string_view problem_name, std::size_t first_line);

// Whether a problem has a goal that asks for something. True for a text that is no list at all.
bool states_goal(std::string_view problem);
// Whether it can be planned for as it is: so can (:goal (and)) where there are constraints to keep.
bool asks_for_something(std::string_view problem);

// Is one of its constraints about more than each state by itself, as all but (always ...) are?
bool looks_back(const GoalParts& goal);

}  // namespace metactrl::goals

#endif  // METACTRL_SRC_GOALS_PROBLEM_TEXT_H_
