// An object is mentioned where the words of its name follow each other in the instruction: blood_sample in "the blood sample".
// Longer names go first, and their words are used up: "the lab door" is lab_door and not lab. Of what is left, a word that is in the
// name of one object alone is about that one: "the sample". A word of an object's name is no word for anything else.
//
// Of how many of a kind the instruction speaks is said before the kind's name: "all doors", "no door", "both doors"; "the doors" are
// all of them.
//
// Clauses begin at marks and at words that join; behind "or" a verb begins one. Each knows whether it says "not" of what it is about.
//
// What is said before "before" comes first, and what is said behind it second; after "after" the other way round. Such an order asks
// for what comes second, too, unless it forbids something: "never", "only after".
#include "goals/instruction.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "goals/phrases.h"
#include "goals/words.h"
#include "support/lower_case.h"

namespace metactrl::goals {

using internal::to_id;

namespace {

// Of fewer letters too many are words of something else.
constexpr std::size_t kShortestNamePart = 3;
// Of what the action's own name is worth.
constexpr double kSynonym = 0.5;

class InstructionReader {
 public:
  explicit InstructionReader(const ItemSet& items) : items_(items) {}

  Instruction run(std::string_view instruction) {
    std::size_t end = 0;
    for (Word& word : words_in(instruction)) {
      if (out_.words.size() == kMostHeard) break;
      out_.marks_before.push_back(instruction.substr(end, word.begin - end).find_first_of(",;.:!?\n") !=
                                  std::string_view::npos);
      end = word.end;
      out_.words.push_back(std::move(word.text));
    }
    find_objects();
    find_deeds();
    find_orders();
    return std::move(out_);
  }

 private:
  enum class Quantity : std::uint8_t { kNone, kSaid, kThese };

  void find_objects();
  std::map<std::string, ObjectId> own_words() const;
  void find_clauses(const std::map<std::size_t, ObjectId>& by_place, const std::vector<bool>& used);
  void find_nouns();
  void find_counted(const std::vector<bool>& used);
  bool is_counted(const ItemSet::Class& kind, const std::vector<std::string>& name, const std::vector<bool>& used);
  bool refers_back(std::size_t place) const;
  bool says_off(std::size_t place) const;
  Quantity quantity_before(std::size_t place) const;
  void find_deeds();
  void find_orders();

  const ItemSet& items_;
  Instruction out_;
};

// Words of the names of one object alone, which no predicate, no action and no kind of objects has.
std::map<std::string, ObjectId> InstructionReader::own_words() const {
  std::vector<std::string> shared;
  const auto add = [&](std::string_view names) {
    for (std::string& word : words_of(names)) shared.push_back(std::move(word));
  };
  for (std::uint32_t shape = 0; shape < items_.num_shapes(); ++shape) add(items_.predicates(shape));
  for (const ItemSet::Deed& deed : items_.deeds()) add(deed.action);
  for (const ItemSet::Class& kind : items_.classes()) add(kind.name);
  std::sort(shared.begin(), shared.end());
  shared.erase(std::unique(shared.begin(), shared.end()), shared.end());

  std::map<std::string, std::set<ObjectId>> owners;
  for (std::size_t i = 0; i < items_.objects().size(); ++i) {
    for (std::string& word : words_of(items_.objects()[i])) owners[std::move(word)].insert(to_id<ObjectId>(i));
  }
  std::map<std::string, ObjectId> out;
  for (const auto& [word, objects] : owners) {
    if (objects.size() > 1 || word.size() < kShortestNamePart || internal::is_digit(word[0]) || is_ordinary(word))
      continue;
    const auto is_like = [&word = word](const std::string& other) { return alike(word, other); };
    if (std::none_of(shared.begin(), shared.end(), is_like)) out.emplace(word, *objects.begin());
  }
  return out;
}

void InstructionReader::find_objects() {
  const std::vector<std::string>& names = items_.objects();
  std::vector<std::pair<std::vector<std::string>, std::size_t>> by_length;
  std::size_t short_names = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    by_length.emplace_back(words_of(names[i]), i);
    const bool one_letter =
        names[i].size() == 1 && std::find(out_.words.begin(), out_.words.end(), names[i]) != out_.words.end();
    short_names += one_letter ? 1 : 0;
  }
  std::stable_sort(by_length.begin(), by_length.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  std::vector<bool> used(out_.words.size(), false);
  std::map<std::size_t, ObjectId> by_place;
  for (const auto& [name, number] : by_length) {
    // "a" alone is an article.
    if (name.empty() || (names[number] == "a" && short_names < 2)) continue;
    for (std::size_t i = 0; i + name.size() <= out_.words.size(); ++i) {
      const auto begin = out_.words.begin() + static_cast<std::ptrdiff_t>(i);
      if (!std::equal(name.begin(), name.end(), begin)) continue;
      const auto free = used.begin() + static_cast<std::ptrdiff_t>(i);
      const auto end = free + static_cast<std::ptrdiff_t>(name.size());
      if (std::find(free, end, true) != end) continue;
      std::fill(free, end, true);
      by_place.emplace(i, to_id<ObjectId>(number));
    }
  }
  const std::map<std::string, ObjectId> own = own_words();
  for (std::size_t i = 0; i < out_.words.size(); ++i) {
    const auto owner = own.find(out_.words[i]);
    if (used[i] || owner == own.end()) continue;
    used[i] = true;
    by_place.emplace(i, owner->second);
  }
  find_clauses(by_place, used);
  find_nouns();
  find_counted(used);
  for (std::size_t i = 0; i < out_.words.size(); ++i) {
    if (!used[i]) out_.free.push_back(out_.words[i]);
  }
  out_.named = std::move(used);
}

// A word that all names of a kind have, and no other name: "both bags" are red_bag and black_bag, whatever their type is called.
void InstructionReader::find_nouns() {
  std::map<std::string, std::set<ObjectId>> owners;
  for (std::size_t i = 0; i < items_.objects().size(); ++i) {
    for (std::string& word : words_of(items_.objects()[i])) owners[std::move(word)].insert(to_id<ObjectId>(i));
  }
  for (const ItemSet::Class& kind : items_.classes()) {
    for (const auto& [word, objects] : owners) {
      const bool all = std::equal(objects.begin(), objects.end(), kind.members.begin(), kind.members.end());
      if (all && word.size() >= kShortestNamePart && !internal::is_digit(word[0])) out_.nouns.emplace(kind.name, word);
    }
  }
}

void InstructionReader::find_counted(const std::vector<bool>& used) {
  for (const ItemSet::Class& kind : items_.classes()) {
    std::vector<std::vector<std::string>> names = {words_of(kind.name)};
    if (const auto noun = out_.nouns.find(kind.name); noun != out_.nouns.end()) names.push_back({noun->second});
    const bool counted =
        std::any_of(names.begin(), names.end(), [&](const auto& name) { return is_counted(kind, name, used); });
    if (counted) out_.counted.push_back(&kind);
  }
}

bool InstructionReader::is_counted(const ItemSet::Class& kind, const std::vector<std::string>& name,
                                   const std::vector<bool>& used) {
  bool counted = false;
  for (std::size_t i = 0; !name.empty() && i + name.size() <= out_.words.size(); ++i) {
    const std::size_t last = i + name.size() - 1;
    const std::vector<std::string> forms = bases(out_.words[last]);
    if (used[last] || std::find(forms.begin(), forms.end(), name.back()) == forms.end()) continue;
    if (!std::equal(name.begin(), name.end() - 1, out_.words.begin() + static_cast<std::ptrdiff_t>(i))) continue;
    const Quantity quantity = quantity_before(i);
    const bool all = quantity == Quantity::kThese && out_.words[last] != name.back();
    if (all) out_.all_of.insert(kind.name);
    counted = counted || all || quantity == Quantity::kSaid;
  }
  return counted;
}

// "all of the doors", "two doors"; "the doors"; of "some of the doors" and of "a door" nothing is known.
InstructionReader::Quantity InstructionReader::quantity_before(std::size_t place) const {
  bool these = false;
  while (place > 0 && says_any({out_.words[place - 1]}, {"of", "the", "these", "those", "my", "your", "our"})) {
    --place;
    these = these || out_.words[place] != "of";
  }
  const std::string before = place > 0 ? out_.words[place - 1] : "";
  if (is_count(before) || says_any({before}, {"all", "every", "each", "both", "either", "no", "none"}))
    return Quantity::kSaid;
  // "Exactly one", "never any".
  if (before == "one" && has_word_for(ItemSet::Kind::kExactly, 1, out_.words)) return Quantity::kSaid;
  if (before == "one" && has_word_for(ItemSet::Kind::kAtMost, 1, out_.words)) return Quantity::kSaid;
  if (before == "any" && denies(out_.words)) return Quantity::kSaid;
  const bool some = says_any({before}, {"one", "some", "any", "more", "most", "few", "many", "several"});
  return these && !some ? Quantity::kThese : Quantity::kNone;
}

// A mark, or a word that joins clauses, begins a new one where something is said before the next name: "enter the ward, and bring the
// chart" has two, "the ward, the lab and the bay" one. So has "print and sign the report": what is said of nothing yet is said of what comes.
// A name behind a mark or "and" begins one, too, where it has a verb of its own: "do not enter the ward, the lab door must be locked".
// "It" is the one thing that the clause before names, where this one names nothing before: "wash the plate, then put it on the shelf".
void InstructionReader::find_clauses(const std::map<std::size_t, ObjectId>& by_place, const std::vector<bool>& used) {
  out_.clauses.emplace_back();
  bool joint = false;
  bool aside = false;  // "the lamp that is not on", "if it is not on"
  bool about_something = false;
  std::set<ObjectId> here;
  std::set<ObjectId> before;
  const std::size_t nowhere = out_.words.size();
  std::size_t listed = nowhere;  // where the last name behind a mark or "and" is
  const auto mention = [&](std::size_t place, ObjectId object) {
    out_.mentioned.push_back(object);
    out_.places.push_back(place);
    out_.clause_of.push_back(out_.clauses.size() - 1);
    here.insert(object);
  };
  // Of the words up to `end`, those from `place` on are another clause.
  const auto split = [&](std::size_t place, std::size_t end) {
    const auto first = used.begin() + static_cast<std::ptrdiff_t>(place);
    const auto moved = std::count(first, used.begin() + static_cast<std::ptrdiff_t>(end), false);
    Instruction::Clause& whole = out_.clauses.back();
    const std::vector<std::string> words(whole.words.end() - moved, whole.words.end());
    if (!whole.denied && !tells_what_to_do({whole.words.begin(), whole.words.end() - moved})) return;
    whole.words.resize(whole.words.size() - words.size());
    out_.clauses.push_back({words});
    aside = false;
    before = std::exchange(here, {});
    for (std::size_t i = 0; i < out_.places.size(); ++i) {
      if (out_.places[i] < place) continue;
      out_.clause_of[i] = out_.clauses.size() - 1;
      here.insert(out_.mentioned[i]);
      before.erase(out_.mentioned[i]);
    }
  };
  const auto is_thing = [&](std::size_t i) {
    return used[i] || says_pronoun({out_.words[i]}) ||
           std::any_of(items_.classes().begin(), items_.classes().end(), [&](const ItemSet::Class& kind) {
             const std::vector<std::string> name = words_of(kind.name);
             const std::vector<std::string> forms = bases(out_.words[i]);
             return !name.empty() && std::find(forms.begin(), forms.end(), name.back()) != forms.end();
           });
  };
  for (std::size_t i = 0; i < out_.words.size(); ++i) {
    // "Lock the door or open the window", but "to the lab or to the ward".
    const bool or_else = i > 0 && out_.words[i - 1] == "or" && !used[i] && tells_what_to_do({out_.words[i]}) &&
                         !is_thing(i) && !is_modal(out_.words[i]);
    joint = joint || (i > 0 && out_.marks_before[i]) || or_else ||
            says_any({out_.words[i]}, {"and", "then", "but", "without"});
    if (joint && about_something && !used[i] &&
        !says_any({out_.words[i]}, {"and", "then", "but", "or", "the", "a", "an", "all", "both", "also"})) {
      out_.clauses.emplace_back();
      joint = false;
      about_something = false;
      aside = false;
      if (!here.empty()) before = std::exchange(here, {});
      listed = nowhere;
    }
    if (listed != nowhere && !used[i] && is_modal(out_.words[i])) {
      split(listed, i);
      listed = nowhere;
    }
    if (joint && used[i]) listed = i;
    aside =
        aside || (!used[i] && (begins_aside(out_.words[i]) || (out_.words[i] == "that" && i > 0 && is_thing(i - 1))));
    if (!used[i] && !aside && says_not(out_.words, i)) out_.clauses.back().denied = true;
    if (!used[i] && says_off(i) && tells_of_taking(out_.clauses.back().words))
      out_.clauses.back().denied = !out_.clauses.back().denied;
    about_something = about_something || is_thing(i);
    if (used[i]) joint = false;
    if (!used[i]) out_.clauses.back().words.push_back(out_.words[i]);
    if (by_place.contains(i)) mention(i, by_place.at(i));
    if (!used[i] && refers_back(i) && here.empty() && before.size() == 1) {
      mention(i, *before.begin());
      about_something = true;
    }
  }
  // "Do not cut it before it is washed" is an order.
  for (Instruction::Clause& clause : out_.clauses) {
    if (has_word_for(ItemSet::Kind::kBefore, 0, clause.words)) clause.denied = false;
  }
}

// "It", "let her out", but not "her cup".
bool InstructionReader::refers_back(std::size_t place) const {
  if (says_any({out_.words[place]}, {"it", "him", "he", "she"})) return true;
  if (out_.words[place] != "her") return false;
  const std::size_t next = place + 1;
  return next == out_.words.size() || out_.marks_before[next] || is_preposition(out_.words[next]) ||
         says_any({out_.words[next]}, {"and", "then", "back", "out", "off", "over", "down", "again"});
}

// "Take the lid off" ends what put it there; "take off" may be the name of something else.
bool InstructionReader::says_off(std::size_t place) const {
  if (out_.words[place] != "off") return false;
  return std::none_of(items_.deeds().begin(), items_.deeds().end(), [](const ItemSet::Deed& deed) {
    const std::vector<std::string> action = words_of(deed.action);
    return says_any(action, {"off"}) && tells_of_taking(action);
  });
}

// Actions of whose names the instruction has words that no object or kind of objects has. A preposition alone is none.
void InstructionReader::find_deeds() {
  std::set<std::string> nouns;
  const auto add = [&](std::string_view name) {
    for (std::string& word : words_of(name)) nouns.insert(std::move(word));
  };
  for (const std::string& object : items_.objects()) add(object);
  for (std::uint32_t shape = 0; shape < items_.num_shapes(); ++shape) add(items_.quantified(shape));
  std::set<std::string> all_verbs;
  for (const ItemSet::Deed& deed : items_.deeds()) {
    std::vector<std::string> verb = words_of(deed.action);
    std::erase_if(verb, [&](const std::string& word) { return nouns.contains(word); });
    all_verbs.insert(verb.begin(), verb.end());
    out_.verbs.emplace_back(&deed, std::move(verb));
  }
  // What names an action or a predicate is not used for another: "unlock" where there is "lock", too.
  for (std::uint32_t shape = 0; shape < items_.num_shapes(); ++shape) {
    for (std::string& word : words_of(items_.predicates(shape))) all_verbs.insert(std::move(word));
  }
  std::vector<std::string> others;
  for (const std::string& word : out_.free) {
    const bool names_one = std::any_of(all_verbs.begin(), all_verbs.end(),
                                       [&](const std::string& verb) { return says_verb({word}, verb); });
    // Every order has words such as "bring" and "take"; who goes is who walks or drives.
    if (!names_one && (!is_ordinary(word) || word == "go")) others.push_back(word);
  }
  const auto says_synonym = [&](const std::string& verb) {
    return std::any_of(others.begin(), others.end(),
                       [&](const std::string& word) { return are_used_for_one_another(word, verb); });
  };
  const auto clauses_with = [&](const std::vector<std::string>& verb) {
    std::set<std::size_t> out;
    for (std::size_t i = 0; i < out_.clauses.size(); ++i) {
      const bool here = std::any_of(verb.begin(), verb.end(), [&](const std::string& word) {
        return (!is_preposition(word) && says_verb(out_.clauses[i].words, word)) ||
               std::any_of(others.begin(), others.end(), [&](const std::string& other) {
                 return says_any(out_.clauses[i].words, {other}) && are_used_for_one_another(other, word);
               });
      });
      if (here) out.insert(i);
    }
    return out;
  };
  for (const auto& [deed, verb] : out_.verbs) {
    double said = 0;
    bool more = false;
    for (const std::string& word : verb) {
      const bool itself = says_verb(out_.free, word);
      if (!itself && !says_synonym(word)) continue;
      said += itself ? 1 : kSynonym;
      more = more || !is_preposition(word) || !itself;
    }
    if (more) out_.deeds.push_back({deed, said / static_cast<double>(verb.size()), clauses_with(verb)});
  }
}

// The sides reach to the next mark, or the next such word. What begins with "before" has its other side behind the mark: "before you cut it,
// wash it". What must not be before something else comes behind it.
void InstructionReader::find_orders() {
  const auto is_order = [this](std::size_t i) { return says_any({out_.words[i]}, {"before", "after", "until"}); };
  const auto end_of_side = [&](std::size_t i) {
    while (i < out_.words.size() && !out_.marks_before[i] && !is_order(i)) ++i;
    return i;
  };
  bool forbids = false;
  for (std::size_t i = 0; i < out_.words.size(); ++i) {
    if (!is_order(i)) continue;
    Instruction::Range said{i, i};
    while (said.begin > 0 && !out_.marks_before[said.begin] && !is_order(said.begin - 1)) --said.begin;
    const Instruction::Range behind{
        i + 1, i + 1 < out_.words.size() && !out_.marks_before[i + 1] ? end_of_side(i + 1) : i + 1};
    if (said.begin == said.end)
      said = {behind.end, behind.end < out_.words.size() ? end_of_side(behind.end + 1) : behind.end};
    if (said.begin == said.end || behind.begin == behind.end) continue;
    const bool never = denies(out_.free_words(said));
    if (out_.words[i] == "until" && !never) continue;
    const bool said_first = out_.words[i] == "before" && !never;
    out_.orders.push_back(said_first ? Instruction::Order{said, behind} : Instruction::Order{behind, said});
    forbids = forbids || forbids_something(out_.free_words(said)) || forbids_something(out_.free_words(behind));
  }
  out_.orders_forbid = out_.orders.empty() ? forbids_something(out_.free) : forbids;
}

}  // namespace

std::vector<std::string> Instruction::free_words(const Range& range) const {
  std::vector<std::string> out;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    if (!named[i]) out.push_back(words[i]);
  }
  return out;
}

bool Instruction::is_means(std::size_t place) const {
  while (place > 0 && says_any({words[place - 1]}, {"the", "a", "an", "my", "your", "this", "that"})) --place;
  return place > 0 && says_any({words[place - 1]}, {"with", "using"});
}

Instruction read_instruction(std::string_view text, const ItemSet& items) { return InstructionReader(items).run(text); }

}  // namespace metactrl::goals
