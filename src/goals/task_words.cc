// An instruction is read from left to right. Names of the task are known, with blanks or without. Of what is left, something that looks like a
// name (block_7) is unknown as a whole; of other words each must be ordinary or have a counterpart: a word of a name, or with its
// neighbours a word of a name ("dish washer"). A known word with a number behind it must be a name, too, where names are numbered: with
// block_1 and block_2 there is no block 7.
//
// A goal is spoken of in the words of its objects, of their types and of the unary predicates that are always true of them; of its predicates
// and types; and of the actions that make its facts true or false: "lock" where (locked ?d) is wanted.
#include "goals/task_words.h"

#include <algorithm>
#include <optional>

#include "goals/problem_text.h"
#include "support/lower_case.h"
#include "support/nearest_name.h"
#include "support/str_cat.h"

namespace metactrl::goals {

namespace {

using internal::index;
using internal::is_digit;
using internal::str_cat;

// What is longer is nobody's word.
constexpr std::size_t kLongestTold = 40;
// Of fewer letters too many names are but a letter away.
constexpr std::size_t kShortestGuessed = 4;
// "coffee table lamp" is coffeetablelamp.
constexpr std::size_t kMostJoined = 3;

bool is_article(const std::string& word) {
  return word == "the" || word == "a" || word == "an" || word == "my" || word == "your";
}

// What follows says how, or from where.
bool is_of_means(const std::string& word) {
  return word == "with" || word == "using" || word == "by" || word == "from" || word == "via" || word == "through" ||
         word == "if" || word == "so" || word == "because";
}

// What stands between two words of one name, as people write it.
bool is_joint(std::string_view between, std::string_view marks) {
  return between.find_first_not_of(marks) == std::string_view::npos && between.size() <= 1;
}

}  // namespace

TaskWords::TaskWords(const pddl::Ast& ast) {
  words_.add(ast.domain_name);
  const auto add_all = [this](const auto& table) {
    for (const auto& one : table) add(one.name);
  };
  add_all(ast.objects);
  add_all(ast.types);
  add_all(ast.predicates);
  add_all(ast.actions);
  add_all(ast.functions);

  std::vector<bool> changes(ast.predicates.size(), false);
  const auto said_by = [&](const pddl::Action& action, const std::vector<pddl::Effect>& effects) {
    for (const pddl::Effect& effect : effects) {
      changes[index(effect.atom.predicate)] = true;
      said_[ast.predicates[effect.atom.predicate].name].add(action.name);
    }
  };
  for (const pddl::Action& action : ast.actions) {
    said_by(action, action.effects);
    if (action.durative) said_by(action, action.durative->end_effects);
  }
  for (const pddl::Predicate& predicate : ast.predicates) said_[predicate.name].add(predicate.name);
  for (const pddl::Type& type : ast.types) {
    said_[type.name].add(type.name);
    things_.add(type.name);
  }
  for (const pddl::Object& object : ast.objects) {
    WordSet& words = said_[object.name];
    words.add(object.name);
    things_.add(object.name);
    for (const pddl::TypeId type : object.types) {
      words.add(ast.types[type].name);
      said_[ast.types[type].name].add(object.name);  // "both bags" are all suitcases
    }
  }
  for (const pddl::GroundAtom& atom : ast.init) {
    if (atom.arguments.size() != 1 || changes[index(atom.predicate)]) continue;
    said_[ast.objects[atom.arguments[0]].name].add(ast.predicates[atom.predicate].name);
  }
}

void TaskWords::add(const std::string& name) {
  words_.add(name);
  names_.push_back(name);
  std::vector<std::string> words = words_of(name);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (is_digit(words[i][0]) || !is_digit(words[i + 1][0])) continue;
    numbered_.insert(words[i]);
    numbers_.emplace(words[i], words[i + 1]);
  }
  longest_name_ = std::max(longest_name_, words.size());
  as_words_.insert(std::move(words));
}

// As it is shown: cut short between two characters, with a guess.
std::string TaskWords::told(std::string_view said) const {
  std::string word = internal::lower_case(said);
  if (word.size() > kLongestTold) {
    std::size_t end = kLongestTold;
    while (end > 0 && (static_cast<unsigned char>(word[end]) & 0xC0U) == 0x80U) --end;
    return word.substr(0, end) + "...";
  }
  if (word.size() < kShortestGuessed) return word;
  std::string name = word;
  std::replace(name.begin(), name.end(), ' ', '_');
  std::string guess = internal::did_you_mean(name, names_);
  if (guess.empty()) {
    std::set<std::string> parts;
    for (const std::vector<std::string>& words : as_words_) parts.insert(words.begin(), words.end());
    guess = internal::did_you_mean(name, {parts.begin(), parts.end()});
  }
  return guess.empty() ? word : str_cat(word, " (", guess, ")");
}

// Reads an instruction once.
class TaskWords::Reader {
 public:
  Reader(const TaskWords& task, std::string_view text) : task_(task), text_(text), words_(words_in(text)) {
    for (const Word& word : words_) around_.insert(word.text);
  }

  TaskWords::Heard run(std::size_t most) {
    most_ = most;
    const std::size_t end = std::min(words_.size(), kMostHeard);
    for (std::size_t i = 0; i < end;) i = read(i);
    out_.foreign = 2 * strange_ > end;
    return std::move(out_);
  }

 private:
  // Reads on from a word; returns the first that is not read.
  std::size_t read(std::size_t i) {
    const std::size_t whole = end_of_piece(i, "_-");
    if (const std::size_t end = end_of_name(i); end > i) return end;
    if (looks_like_a_name(i, whole) && !falls_apart(i, whole)) return tell(i, whole);
    if (const std::size_t piece = end_of_piece(i, "_"); looks_like_a_name(i, piece)) {
      return is_name(i, piece) ? piece : tell(i, piece);
    }
    const Word& word = words_[i];
    if (i + 1 < words_.size() && words_[i + 1].is_number() && task_.numbered_.contains(word.text) && joint(i, " -")) {
      return task_.numbers_.contains({word.text, words_[i + 1].text}) ? i + 2 : tell(i, i + 2);
    }
    std::size_t count = 1;
    while (count < kMostJoined && i + count < words_.size() && joint(i + count - 1, " -")) ++count;
    while (count > 1 && !task_.words_.has_exactly(joined(i, i + count))) --count;
    if (count == 1 && !is_known(word)) tell(i, i + 1);
    return i + count;
  }

  bool is_known(const Word& word) {
    if (word.is_number() || is_ordinary(word.text)) return true;
    const auto [known, is_new] = known_.try_emplace(word.text, false);
    if (is_new) known->second = task_.words_.has(word.text, around_);
    return known->second;
  }

  // The longest name of several words that begins here and is not the beginning of something longer.
  std::size_t end_of_name(std::size_t i) const {
    std::size_t longest = 1;
    while (longest < task_.longest_name_ && i + longest < words_.size() && joint(i + longest - 1, " _-")) ++longest;
    for (std::size_t end = i + longest; end > i + 1; --end) {
      if (is_name(i, end) && end_of_piece(end - 1, "_-") == end) return end;
    }
    return i;
  }

  bool is_name(std::size_t first, std::size_t last) const {
    std::vector<std::string> words;
    for (std::size_t i = first; i < last; ++i) words.push_back(words_[i].text);
    return task_.as_words_.contains(words);
  }

  // With letters, and with a number or "_": "2nd" apart.
  bool looks_like_a_name(std::size_t first, std::size_t last) const {
    if (words_[first].is_number() && last == first + 2 && is_ordinary(words_[first + 1].text)) return false;
    bool number = said(first, last).find('_') != std::string_view::npos;
    bool letters = false;
    for (std::size_t i = first; i < last; ++i) (words_[i].is_number() ? number : letters) = true;
    return number && letters && last > first + 1;
  }

  // Into names and plain words, at each "-": "ball1-ball3".
  bool falls_apart(std::size_t first, std::size_t last) const {
    while (first < last) {
      const std::size_t end = end_of_piece(first, "_");
      if (end > first + 1 && !is_name(first, end)) return false;
      first = end;
    }
    return true;
  }

  // Behind the last word that is joined to this one by nothing but one of these marks.
  std::size_t end_of_piece(std::size_t i, std::string_view marks) const {
    while (i + 1 < words_.size() && joint(i, marks)) ++i;
    return i + 1;
  }

  // Are two words, one behind the other, parts of one name?
  bool joint(std::size_t i, std::string_view marks) const {
    return is_joint(text_.substr(words_[i].end, words_[i + 1].begin - words_[i].end), marks);
  }

  std::string joined(std::size_t first, std::size_t last) const {
    std::string all;
    for (std::size_t i = first; i < last; ++i) all += words_[i].text;
    return all;
  }

  std::string_view said(std::size_t first, std::size_t last) const {
    return text_.substr(words_[first].begin, words_[last - 1].end - words_[first].begin);
  }

  std::size_t tell(std::size_t first, std::size_t last) {
    strange_ += last - first;
    if (out_.unknown.size() == most_ || !told_.insert(internal::lower_case(said(first, last))).second) return last;
    out_.unknown.push_back(task_.told(said(first, last)));
    if (last > first + 1 || names_a_thing(first)) out_.missing.push_back(out_.unknown.back());
    return last;
  }

  bool names_a_thing(std::size_t i) const {
    if (begins_an_order(i)) return true;
    // "The white clothes": what is of a thing already is described no more.
    while (i > 0 && joint(i - 1, " ") && !is_ordinary(words_[i - 1].text) && !words_[i - 1].is_number() &&
           task_.words_.has(words_[i - 1].text, around_) && !task_.things_.has(words_[i - 1].text, around_)) {
      --i;
    }
    return i > 0 && joint(i - 1, " ") && is_before_things(words_[i - 1].text);
  }

  // "Hang the picture", "then hang it": first in what is said, and followed by what it is to be done to.
  bool begins_an_order(std::size_t i) const {
    constexpr std::string_view kBefore = " and then please now also first finally but ";
    constexpr std::string_view kBehind = " the a an all both every each it them my your this these those everything ";
    const auto is_in = [](std::string_view list, const std::string& word) {
      return list.find(str_cat(" ", word, " ")) != std::string_view::npos;
    };
    if (i + 1 >= words_.size() || !joint(i, " ") || words_[i].text.ends_with("ly")) return false;
    const bool first = i == 0 || !joint(i - 1, " ") || is_in(kBefore, words_[i - 1].text);
    return first && (is_in(kBehind, words_[i + 1].text) || end_of_name(i + 1) > i + 1 || is_name(i + 1, i + 2));
  }

  const TaskWords& task_;
  std::string_view text_;
  std::vector<Word> words_;
  std::set<std::string> around_;
  std::map<std::string, bool> known_;
  std::set<std::string> told_;
  std::size_t most_ = 0;
  std::size_t strange_ = 0;  // words that are unknown
  TaskWords::Heard out_;
};

TaskWords::Heard TaskWords::hear(std::string_view instruction, std::size_t most) const {
  return Reader(*this, instruction).run(most);
}

WordSet TaskWords::words_about(std::string_view goal, bool ordinary_ones) const {
  WordSet wanted;
  const auto visit = [&](const auto& self, Piece piece) -> void {
    if (goal[piece.begin] == '(') {
      for (const Piece part : members(goal, piece)) self(self, part);
      return;
    }
    const auto found = said_.find(internal::lower_case(piece.in(goal)));
    if (found == said_.end()) return;
    for (const std::string& word : found->second.words()) {
      if (ordinary_ones || !is_ordinary(word)) wanted.add(word);
    }
  };
  if (const std::optional<Piece> whole = only_list(goal)) visit(visit, *whole);
  return wanted;
}

std::string TaskWords::passed_over(std::string_view instruction, std::string_view goal) const {
  const WordSet wanted = words_about(goal, true);
  const std::vector<std::string> words = words_of(instruction);
  const std::set<std::string> around(words.begin(), words.end());
  bool aside = false;  // behind "with", up to the next word that is in every sentence
  for (std::size_t i = 0; i < std::min(words.size(), kMostHeard); ++i) {
    const std::string& word = words[i];
    if (is_ordinary(word) && !is_article(word)) aside = is_of_means(word);
    const std::vector<std::string> forms = bases(word);
    if (aside || is_digit(word[0]) || std::any_of(forms.begin(), forms.end(), is_ordinary)) continue;
    if (!words_.has(word, around)) continue;
    if (!wanted.has(word, around)) return word;
  }
  return {};
}

bool TaskWords::speaks_of(std::string_view instruction, std::string_view goal) const {
  const WordSet wanted = words_about(goal, false);
  std::set<std::string> around;
  for (const Word& word : words_in(instruction)) around.insert(word.text);
  return std::any_of(around.begin(), around.end(), [&](const std::string& word) {
    return !is_digit(word[0]) && !is_ordinary(word) && wanted.has(word, around);
  });
}

}  // namespace metactrl::goals
