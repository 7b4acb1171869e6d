// The words of an instruction and of names, and when two of them are the same.
//
//     words_in("Lock lab_door 7!")         // lock, lab, door, 7
//     WordSet names;
//     names.add("lab_door");
//     names.has("doors", {});              // true
//     is_ordinary("the")                   // true: says nothing about any task
//
// English as far as it goes: plurals, -ed, -ing and some forms that follow no rule; a few dozen groups of words that people use for one
// another. Other languages are words that nothing has.
#ifndef METACTRL_SRC_GOALS_WORDS_H_
#define METACTRL_SRC_GOALS_WORDS_H_

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace metactrl::goals {

// In small letters; letters and digits are never in one word.
struct Word {
  std::string text;
  std::size_t begin = 0;  // where it stands
  std::size_t end = 0;
  bool is_number() const;
};
std::vector<Word> words_in(std::string_view text);
// The same without the places: "block_7" and "block7" are block, 7.
std::vector<std::string> words_of(std::string_view name);

// Words of an instruction. Of one that is longer the rest is not looked at.
constexpr std::size_t kMostHeard = 2'000;

// What a word may be a form of, itself first: "carries" is of "carry".
std::vector<std::string> bases(const std::string& word);
// Articles, prepositions, numbers, "please", "make sure", "bring", "thing": what is in instructions about anything.
bool is_ordinary(const std::string& word);
// In some form: "entered" and "go".
bool are_used_for_one_another(const std::string& a, const std::string& b);
// What the name of a thing often stands behind: articles, "to", "into", "bring".
bool is_before_things(const std::string& word);

// What the words of some names say.
class WordSet {
 public:
  void add(std::string_view name);
  // One of its words, in any form; one that people use for it; or a part of one that is several words without a blank, such as
  // "handempty". `around` are the other words of the text: "dish" is a part of dishwasher where "washer" follows.
  bool has(const std::string& word, const std::set<std::string>& around) const;
  // This very word.
  bool has_exactly(const std::string& word) const { return words_.contains(word); }
  const std::set<std::string>& words() const { return words_; }

 private:
  bool is_part(const std::string& part, const std::set<std::string>& around) const;

  std::set<std::string> words_;
  std::set<std::string> bases_;
};

}  // namespace metactrl::goals

#endif  // METACTRL_SRC_GOALS_WORDS_H_
