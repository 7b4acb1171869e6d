// The words with which a task can be spoken of, and those of an instruction that are none of them.
//
//     TaskWords words(ast);
//     words.hear("bring the sample to the morgue", 5).unknown;                   // {"morgue"}
//     words.speaks_of("bring the sample to the lab", "(and (at sample lab))");   // true
//
// That a word is unknown is certain as far as names go: nothing in the task is called so, in any form that words.h knows. That all are
// known says nothing about whether the task can do what is meant.
//
// Immutable.
#ifndef METACTRL_SRC_GOALS_TASK_WORDS_H_
#define METACTRL_SRC_GOALS_TASK_WORDS_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "goals/words.h"
#include "pddl/ast.h"

namespace metactrl::goals {

class TaskWords {
 public:
  explicit TaskWords(const pddl::Ast& ast);

  // What an instruction says that the task has no counterpart for.
  struct Heard {
    // The first words and names, each once, in small letters; with the name that is most like it: "lamp_3 (did you mean 'lamp_1'?)".
    std::vector<std::string> unknown;
    // Those of them that stand where a thing is named: behind an article, a preposition of place or "bring" and its like, with what
    // describes it or without; or where an order begins ("hang the picture"); or written like a name.
    std::vector<std::string> missing;
    // More than half of its words are unknown, as in another language.
    bool foreign = false;
  };
  Heard hear(std::string_view instruction, std::size_t most) const;

  // Whether some word of the instruction, the ordinary ones apart, is about an object, a predicate or a type in this goal, or an action
  // that changes such a fact.
  bool speaks_of(std::string_view instruction, std::string_view goal) const;
  // The first word that the task has a counterpart for and this goal has none: "bags" of a goal in which there is none. What is said
  // with "with" or "from" a goal need not have. Nothing where there is no such word.
  std::string passed_over(std::string_view instruction, std::string_view goal) const;

 private:
  class Reader;

  void add(const std::string& name);
  WordSet words_about(std::string_view goal, bool ordinary_ones) const;
  std::string told(std::string_view said) const;

  WordSet words_;
  std::vector<std::string> names_;               // as they are written
  std::set<std::vector<std::string>> as_words_;  // each name's words
  std::size_t longest_name_ = 0;
  // Where a number follows a word in a name: block_7.
  std::set<std::string> numbered_;
  std::set<std::pair<std::string, std::string>> numbers_;
  // By name in a goal: what people may say to mean it.
  std::map<std::string, WordSet, std::less<>> said_;
  WordSet things_;  // objects and types
};

}  // namespace metactrl::goals

#endif  // METACTRL_SRC_GOALS_TASK_WORDS_H_
