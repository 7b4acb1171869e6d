// What some words of an instruction say together: whether they forbid, count, name an action, or ask for a kind of condition. English.
#ifndef METACTRL_SRC_GOALS_PHRASES_H_
#define METACTRL_SRC_GOALS_PHRASES_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "goals/items.h"

namespace metactrl::goals {

// "lock" and "locked", "load" and "loaded", "washing" and "washed", "cutting" and "cut"; "into" and "inside", but not "inside" and "in".
bool alike(std::string_view a, std::string_view b);

bool says_any(const std::vector<std::string>& words, std::initializer_list<std::string_view> any);
bool denies(const std::vector<std::string>& words);
// Is the word at this place a "not" of what its clause is about: "do not", "isn't", "neither", "never", "no longer"? In "do not forget to" and "not only" it is none.
bool says_not(const std::vector<std::string>& words, std::size_t place);
// "Must", "isn't": the verb of what is named before.
bool is_modal(const std::string& word);
// Is there a verb among these words, or something else that is not in every order?
bool tells_what_to_do(const std::vector<std::string>& words);
// "Take", "get": with "off", what ends something.
bool tells_of_taking(const std::vector<std::string>& words);
// "If", "which": what follows describes, and asks for nothing.
bool begins_aside(const std::string& word);
// Of what is only to be kept apart in time, nothing is asked for.
bool forbids_something(const std::vector<std::string>& words);
bool says_pronoun(const std::vector<std::string>& words);
// "turn the lamp on" is turnon, too.
bool says_verb(const std::vector<std::string>& words, std::string_view verb);
// "At most two": how many, and whether there is more than the number.
struct Bound {
  enum class Kind : std::uint8_t { kLeast, kMost, kExactly };
  Kind kind = Kind::kLeast;
  int number = 0;
  std::string said{};
  bool said_so = false;
};
std::vector<Bound> bounds_in(const std::vector<std::string>& words);
// "At most two" or "exactly two" is among them.
bool says_limit(const std::vector<std::string>& words);

// A word for what a condition of this kind says; `count` is that of kAtLeast, kAtMost and kExactly.
bool has_word_for(ItemSet::Kind kind, std::uint32_t count, const std::vector<std::string>& words);

// What no condition of a goal says, as it is said: "except", "at most" without a number. Nothing where there is no such thing.
std::string beyond_goals(const std::vector<std::string>& words);
// What a goal could say and this one does not: "or" where it has no choice, "at most two" where it counts nothing. Nothing where
// there is no such thing.
std::string unsaid_in(std::string_view goal, const std::vector<std::string>& words);
// What is said of the way to a goal that only who looks back can keep: "before". Nothing where there is no such thing.
std::string looking_back(const std::vector<std::string>& words);

// What is in every other sentence, whatever it is about. "Off" and "out" say something: "the lamp should be off".
bool is_preposition(std::string_view word);
// Two or more: "two", "12".
bool is_count(const std::string& word);

}  // namespace metactrl::goals

#endif  // METACTRL_SRC_GOALS_PHRASES_H_
