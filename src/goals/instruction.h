// What an instruction says, before anything is weighed: the objects that it names, its clauses and what they deny, the kinds of which it
// says how many, the actions that it names, and what is to come before what.
//
//     const Instruction said = read_instruction("lock the lab door, do not start the press", items);
//     said.mentioned              // lab_door, press
//     said.clauses[1].denied      // true
//
// Of the instruction kMostHeard words are read.
#ifndef METACTRL_SRC_GOALS_INSTRUCTION_H_
#define METACTRL_SRC_GOALS_INSTRUCTION_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "goals/items.h"

namespace metactrl::goals {

struct Instruction {
  // Words of the instruction: the first, and the one behind the last.
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool has(std::size_t place) const { return begin <= place && place < end; }
  };
  // What is said on the two sides of "before" or "after".
  struct Order {
    Range earlier;
    Range later;
  };
  struct Clause {
    std::vector<std::string> words{};  // those that are free
    bool denied = false;               // it says "not" of what it is about
  };
  // An action that is mentioned, how much of its name, and in which clauses.
  struct SaidDeed {
    const ItemSet::Deed* deed = nullptr;
    double share = 0;
    std::set<std::size_t> clauses{};
  };

  std::vector<std::string> words{};      // of the instruction, in small letters
  std::vector<bool> marks_before{};      // is there a comma or its like before this word?
  std::vector<bool> named{};             // is this word of an object's name?
  std::vector<std::string> free{};       // the words that are not
  std::vector<ObjectId> mentioned{};     // once for each time
  std::vector<std::size_t> places{};     // where each of them is
  std::vector<std::size_t> clause_of{};  // and in which clause
  std::vector<Clause> clauses{};
  std::vector<const ItemSet::Class*> counted{};  // of which the instruction says how many
  std::set<std::string> all_of{};                // those that it says so of by "the" alone
  std::map<std::string, std::string> nouns{};    // by kind: a word that its names share
  std::vector<SaidDeed> deeds{};
  std::vector<std::pair<const ItemSet::Deed*, std::vector<std::string>>> verbs{};  // words of actions that no name has
  std::vector<Order> orders{};
  bool orders_forbid = false;  // an order of two things asks for none of them

  std::vector<std::string> free_words(const Range& range) const;
  // "With the mop" says how, and is nothing that is wanted.
  bool is_means(std::size_t place) const;
};

// What comes back points into `items`.
Instruction read_instruction(std::string_view text, const ItemSet& items);

}  // namespace metactrl::goals

#endif  // METACTRL_SRC_GOALS_INSTRUCTION_H_
