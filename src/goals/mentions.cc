// An object is mentioned where the words of its name follow each other in the instruction: blood_sample in "the blood sample".
// Longer names go first, and their words are used up: "the lab door" is lab_door and not lab. Of what is left, a word that is in the name of one
// object alone is about that one: "the sample".
//
// Where the instruction says of how many of a kind it speaks ("all doors", "no door", "both doors"; "the doors" are all of them), none of them that
// it does not name is meant alone. So it is with "everything" and "nothing" and whatever else their clause speaks of.
//
// An item is worth more for every mentioned object that no item before it has, more again for two that are mentioned one after
// the other, and less for every object that is not mentioned, for objects that are mentioned in different clauses, and for a "never" that another clause says. Its predicate counts when words of it are in the instruction, more when
// all of them are: of "at" and "at-ferry" the one whose name is said. So does an action that is mentioned, for the facts that it makes true or
// false, of objects that it can do so with: "enter" speaks for (robot-at bedroom) where robots enter rooms, and for no sample.
// Conditions that say more than a plain fact ("all", "never", "three") are worth less unless a word for it is there; so is what holds
// already. A word of an object's name is no word for anything else. A goal may well end once all mentioned
// objects and predicates are in it, and hardly before.
#include "goals/mentions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "goals/words.h"
#include "support/lower_case.h"
#include "support/str_cat.h"

namespace metactrl::goals {

using internal::index;
using internal::to_id;

namespace {

// Of fewer letters too many are words of something else.
constexpr std::size_t kShortestNamePart = 3;

// In nats.
constexpr double kMentioned = 4;
constexpr double kNotMentioned = -3;
constexpr double kPredicate = 3;
constexpr double kWholePredicate = 1;  // more, for each word beyond the first
constexpr double kDeed = 4;
constexpr double kNeighbours = 5;
constexpr double kApart = -4;
constexpr double kUnusual = -10;
constexpr double kHoldsAlready = -3;
const double kLikely = std::log(0.999);
const double kUnlikely = std::log(0.001);

// "lock" and "locked", "load" and "loaded", "inside" and "in" not.
bool alike(std::string_view a, std::string_view b) {
  constexpr std::size_t kStem = 4;
  if (a == b) return true;
  if (a.size() < kStem || b.size() < kStem) return false;
  const std::size_t shorter = std::min(a.size(), b.size());
  return a.substr(0, shorter) == b.substr(0, shorter) && std::max(a.size(), b.size()) - shorter <= 3;
}

double share(std::size_t part, std::size_t whole) { return static_cast<double>(part) / static_cast<double>(whole); }

bool says_any(const std::vector<std::string>& words, std::initializer_list<std::string_view> any) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return std::find(any.begin(), any.end(), word) != any.end(); });
}

bool says_pronoun(const std::vector<std::string>& words) { return says_any(words, {"everything", "nothing"}); }

constexpr std::array<std::string_view, 11> kNumbers = {"zero", "one",   "two",   "three", "four", "five",
                                                       "six",  "seven", "eight", "nine",  "ten"};

// Whether the instruction has a word for what a condition of this kind says.
bool has_word_for(ItemSet::Kind kind, std::uint32_t count, const std::vector<std::string>& words) {
  switch (kind) {
    case ItemSet::Kind::kFact:
      return true;
    case ItemSet::Kind::kNot:
      return says_any(words, {"not", "no", "t", "without", "un"});
    case ItemSet::Kind::kAll:
      return says_any(words, {"all", "every", "each", "everything", "both"});
    case ItemSet::Kind::kNone:
      return says_any(words, {"no", "none", "nothing", "any", "without"});
    case ItemSet::Kind::kSome:
      return says_any(words, {"some", "any", "somewhere", "something"});
    case ItemSet::Kind::kAtLeast:
      return says_any(words, {kNumbers.at(count), std::to_string(count)});
    case ItemSet::Kind::kEither:
      return says_any(words, {"or", "either"});
    case ItemSet::Kind::kAlways:
      return says_any(words, {"always", "never", "throughout", "avoid", "keep"});
    case ItemSet::Kind::kSometime:
      return says_any(words, {"sometime", "visit", "once", "via", "point", "time", "way"});
    case ItemSet::Kind::kBefore:
      return says_any(words, {"before", "after", "first"});
  }
  return false;
}

}  // namespace

Mentions::Mentions(std::string_view instruction, const ItemSet& items) : items_(items) {
  std::size_t end = 0;
  for (Word& word : words_in(instruction)) {
    marks_before_.push_back(instruction.substr(end, word.begin - end).find_first_of(",;.:\n") !=
                            std::string_view::npos);
    end = word.end;
    words_.push_back(std::move(word.text));
  }
  find_objects();
  find_deeds();
  std::vector<double> shapes;
  for (std::uint32_t shape = 0; shape < items.num_shapes(); ++shape) shapes.push_back(shape_weight(shape));
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    const ItemSet::Item& item = items.item(ActionId{i});
    const double deed = best_deed(item);
    // "unlock" says "not locked" without a word for "not".
    const bool undoes = deed > 0 && items.kind(item.shape) == ItemSet::Kind::kNot && !has_word(item.shape);
    item_weights_.push_back(shapes[item.shape] + deed - (undoes ? kUnusual : 0) +
                            (item.holds_already ? kHoldsAlready : 0) + out_of_place(item));
  }
}

bool Mentions::has_word(std::uint32_t shape) const {
  if (items_.kind(shape) == ItemSet::Kind::kAll && all_of_.contains(items_.quantified(shape))) return true;
  return has_word_for(items_.kind(shape), items_.count(shape), free_);
}

double Mentions::shape_weight(std::uint32_t shape) {
  double weight = has_word(shape) ? 0 : kUnusual;
  const std::vector<std::string> parts = words_of(items_.predicates(shape));
  const auto said = static_cast<std::size_t>(
      std::count_if(parts.begin(), parts.end(), [this](const std::string& part) { return says(part); }));
  if (said > 0) weight += kPredicate * (1 + share(said, parts.size())) / 2;
  if (said > 0 && said == parts.size()) {
    weight += kWholePredicate * static_cast<double>(said - 1);
    // "at" and "on" are in every other sentence.
    if (items_.kind(shape) == ItemSet::Kind::kFact && items_.predicates(shape).size() > 2) {
      predicates_.push_back(items_.predicates(shape));
    }
  }
  if (!items_.quantified(shape).empty()) {
    const std::vector<std::string> name = words_of(items_.quantified(shape));
    const bool mentioned =
        says_pronoun(free_) || std::any_of(name.begin(), name.end(), [this](const std::string& word) {
          return std::any_of(free_.begin(), free_.end(), [&](const std::string& other) { return alike(word, other); });
        });
    weight += mentioned ? kMentioned : kNotMentioned;
  }
  // Between two kinds that both have a word, the one that says more.
  if (items_.kind(shape) != ItemSet::Kind::kFact && weight >= 0) weight += 1;
  return weight;
}

// Actions of whose names the instruction has words that no object or kind of objects has. A preposition alone is none.
void Mentions::find_deeds() {
  std::set<std::string> nouns;
  const auto add = [&](std::string_view name) {
    for (std::string& word : words_of(name)) nouns.insert(std::move(word));
  };
  for (const std::string& object : items_.objects()) add(object);
  for (std::uint32_t shape = 0; shape < items_.num_shapes(); ++shape) add(items_.quantified(shape));
  for (const ItemSet::Deed& deed : items_.deeds()) {
    std::vector<std::string> verb = words_of(deed.action);
    std::erase_if(verb, [&](const std::string& word) { return nouns.contains(word); });
    std::size_t said = 0;
    bool more = false;
    for (const std::string& word : verb) {
      if (!says_verb(word)) continue;
      ++said;
      more = more || word.size() > 2;
    }
    if (more) deeds_.emplace_back(&deed, kDeed * share(said, verb.size()));
  }
}

double Mentions::best_deed(const ItemSet::Item& item) const {
  double best = 0;
  for (const auto& [deed, weight] : deeds_) {
    if (weight > best && items_.is_about(*deed, item)) best = weight;
  }
  return best;
}

bool Mentions::says(std::string_view part) const {
  return std::any_of(words_.begin(), words_.end(), [&](const std::string& word) { return alike(part, word); });
}

// Or as two words: "turn the lamp on" is turnon.
bool Mentions::says_verb(std::string_view verb) const {
  for (std::size_t i = 0; i < free_.size(); ++i) {
    if (alike(verb, free_[i])) return true;
    if (!verb.starts_with(free_[i])) continue;
    const auto behind = free_.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    if (std::find(behind, free_.end(), verb.substr(free_[i].size())) != free_.end()) return true;
  }
  return false;
}

// Words of the names of one object alone, which no predicate, no action and no kind of objects has.
std::map<std::string, ObjectId> Mentions::own_words() const {
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

void Mentions::find_objects() {
  const std::vector<std::string>& names = items_.objects();
  std::vector<std::pair<std::vector<std::string>, std::size_t>> by_length;
  std::size_t short_names = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    by_length.emplace_back(words_of(names[i]), i);
    const bool one_letter = names[i].size() == 1 && std::find(words_.begin(), words_.end(), names[i]) != words_.end();
    short_names += one_letter ? 1 : 0;
  }
  std::stable_sort(by_length.begin(), by_length.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  std::vector<bool> used(words_.size(), false);
  std::map<std::size_t, ObjectId> by_place;
  for (const auto& [name, number] : by_length) {
    // "a" alone is an article.
    if (name.empty() || (names[number] == "a" && short_names < 2)) continue;
    for (std::size_t i = 0; i + name.size() <= words_.size(); ++i) {
      const auto begin = words_.begin() + static_cast<std::ptrdiff_t>(i);
      if (!std::equal(name.begin(), name.end(), begin)) continue;
      const auto free = used.begin() + static_cast<std::ptrdiff_t>(i);
      const auto end = free + static_cast<std::ptrdiff_t>(name.size());
      if (std::find(free, end, true) != end) continue;
      std::fill(free, end, true);
      by_place.emplace(i, to_id<ObjectId>(number));
    }
  }
  const std::map<std::string, ObjectId> own = own_words();
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const auto owner = own.find(words_[i]);
    if (used[i] || owner == own.end()) continue;
    used[i] = true;
    by_place.emplace(i, owner->second);
  }
  for (const auto& [place, object] : by_place) mentioned_.push_back(object);
  find_clauses(by_place, used);
  find_counted(used);
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (!used[i]) free_.push_back(words_[i]);
  }
}

void Mentions::find_counted(const std::vector<bool>& used) {
  for (const ItemSet::Class& kind : items_.classes()) {
    const std::vector<std::string> name = words_of(kind.name);
    bool counted = false;
    for (std::size_t i = 0; !name.empty() && i + name.size() <= words_.size(); ++i) {
      const std::size_t last = i + name.size() - 1;
      const std::vector<std::string> forms = bases(words_[last]);
      if (used[last] || std::find(forms.begin(), forms.end(), name.back()) == forms.end()) continue;
      if (!std::equal(name.begin(), name.end() - 1, words_.begin() + static_cast<std::ptrdiff_t>(i))) continue;
      const Quantity quantity = quantity_before(i);
      const bool all = quantity == Quantity::kThese && words_[last] != name.back();
      if (all) all_of_.insert(kind.name);
      counted = counted || all || quantity == Quantity::kSaid;
    }
    if (counted) counted_.push_back(&kind);
  }
}

// "all of the doors", "two doors"; "the doors"; of "some of the doors" and of "a door" nothing is known.
Mentions::Quantity Mentions::quantity_before(std::size_t place) const {
  bool these = false;
  while (place > 0 && says_any({words_[place - 1]}, {"of", "the", "these", "those", "my", "your", "our"})) {
    --place;
    these = these || words_[place] != "of";
  }
  const std::string before = place > 0 ? words_[place - 1] : "";
  const bool number = std::find(kNumbers.begin() + 2, kNumbers.end(), before) != kNumbers.end() ||
                      (!before.empty() && internal::is_digit(before[0]));
  if (number || says_any({before}, {"all", "every", "each", "both", "no", "none"})) return Quantity::kSaid;
  const bool some = says_any({before}, {"one", "some", "any", "most", "few", "many", "several"});
  return these && !some ? Quantity::kThese : Quantity::kNone;
}

// Nobody means one of those that are counted without saying which.
bool Mentions::is_one_of_many(ObjectId object) const {
  return !is_mentioned(object) && std::any_of(counted_.begin(), counted_.end(), [&](const ItemSet::Class* kind) {
    return std::binary_search(kind->members.begin(), kind->members.end(), object);
  });
}

bool Mentions::is_mentioned(ObjectId object) const {
  return std::find(mentioned_.begin(), mentioned_.end(), object) != mentioned_.end();
}

// A mark, or a word that joins clauses, begins a new one where something is said before the next name: "enter the ward, and bring the
// chart" has two, "the ward, the lab and the bay" one.
void Mentions::find_clauses(const std::map<std::size_t, ObjectId>& by_place, const std::vector<bool>& used) {
  clause_words_.emplace_back();
  bool joint = false;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    joint = joint || (i > 0 && marks_before_[i]) || says_any({words_[i]}, {"and", "then", "but"});
    if (joint && !used[i] &&
        !says_any({words_[i]}, {"and", "then", "but", "or", "the", "a", "an", "all", "both", "also"})) {
      clause_words_.emplace_back();
      joint = false;
    }
    if (used[i]) joint = false;
    if (!used[i]) clause_words_.back().push_back(words_[i]);
    if (by_place.contains(i)) clauses_.push_back(clause_words_.size() - 1);
  }
}

// Two arguments that are mentioned one after the other, in this order or, half as much, the other way round.
double Mentions::neighbours(const std::vector<ObjectId>& objects) const {
  double best = 0;
  for (std::size_t i = 0; i + 1 < mentioned_.size(); ++i) {
    if (clauses_[i] != clauses_[i + 1]) continue;
    for (std::size_t k = 0; k + 1 < objects.size(); ++k) {
      if (mentioned_[i] == objects[k] && mentioned_[i + 1] == objects[k + 1]) best = kNeighbours;
      if (mentioned_[i + 1] == objects[k] && mentioned_[i] == objects[k + 1]) best = std::max(best, kNeighbours / 2);
    }
  }
  return best;
}

// Those in which all of these objects are that are mentioned anywhere; nothing when none is.
std::optional<std::set<std::size_t>> Mentions::clauses_of(const std::vector<ObjectId>& objects) const {
  std::optional<std::set<std::size_t>> common;
  for (const ObjectId object : objects) {
    std::set<std::size_t> own;
    bool mentioned = false;
    for (std::size_t i = 0; i < mentioned_.size(); ++i) {
      if (mentioned_[i] != object) continue;
      mentioned = true;
      if (!common || common->contains(clauses_[i])) own.insert(clauses_[i]);
    }
    if (mentioned) common = std::move(own);
  }
  return common;
}

// For objects that are nowhere mentioned together, for a "never" that is said of something else, and for one thing where everything is meant.
double Mentions::out_of_place(const ItemSet::Item& item) const {
  const bool one_of_many =
      std::any_of(item.objects.begin(), item.objects.end(), [this](ObjectId object) { return is_one_of_many(object); });
  double weight = one_of_many ? kUnusual : 0;
  const std::optional<std::set<std::size_t>> clauses = clauses_of(item.objects);
  const ItemSet::Kind kind = items_.kind(item.shape);
  if (kind == ItemSet::Kind::kFact || kind == ItemSet::Kind::kNot) {
    const auto speaks_of_all = [this](std::size_t clause) { return says_pronoun(clause_words_[clause]); };
    if (clauses && !clauses->empty() && std::all_of(clauses->begin(), clauses->end(), speaks_of_all))
      weight += kUnusual;
  }
  if (clause_words_.size() < 2 || !clauses) return weight;
  if (clauses->empty()) weight += kApart;
  const bool said_of_some = kind == ItemSet::Kind::kAlways || kind == ItemSet::Kind::kSometime;
  if (said_of_some && has_word(item.shape) && std::none_of(clauses->begin(), clauses->end(), [&](std::size_t clause) {
        return has_word_for(kind, items_.count(item.shape), clause_words_[clause]);
      })) {
    weight += kUnusual;
  }
  return weight;
}

// Is everything in it that is mentioned? `covered` are its objects.
bool Mentions::is_whole(std::span<const ActionId> goal, std::span<const ObjectId> covered) const {
  const auto shape_of = [this](ActionId item) { return items_.item(item).shape; };
  const auto has_predicate = [&](const std::string& predicate) {
    return std::any_of(goal.begin(), goal.end(), [&](ActionId item) {
      const std::string names = internal::str_cat(" ", items_.predicates(shape_of(item)), " ");
      return names.find(internal::str_cat(" ", predicate, " ")) != std::string::npos;
    });
  };
  const auto has_object = [&](ObjectId object) {
    return std::find(covered.begin(), covered.end(), object) != covered.end();
  };
  const auto has_kind = [&](const ItemSet::Class* kind) {
    return std::any_of(kind->members.begin(), kind->members.end(), has_object) ||
           std::any_of(goal.begin(), goal.end(),
                       [&](ActionId item) { return items_.quantified(shape_of(item)) == kind->name; });
  };
  const auto quantifies = [&](ActionId item) { return !items_.quantified(shape_of(item)).empty(); };
  return std::all_of(mentioned_.begin(), mentioned_.end(), has_object) &&
         std::all_of(predicates_.begin(), predicates_.end(), has_predicate) &&
         std::all_of(counted_.begin(), counted_.end(), has_kind) &&
         (!says_pronoun(free_) || std::any_of(goal.begin(), goal.end(), quantifies));
}

Mentions::Weight Mentions::weight(std::span<const ActionId> before, ActionId item) const {
  const ItemSet::Item& what = items_.item(item);
  Weight out;
  out.item = item_weights_[index(item)];
  std::vector<ObjectId> covered;
  for (const ActionId other : before) {
    const std::vector<ObjectId>& objects = items_.item(other).objects;
    covered.insert(covered.end(), objects.begin(), objects.end());
  }
  for (std::size_t i = 0; i < what.objects.size(); ++i) {
    const ObjectId object = what.objects[i];
    const auto here = what.objects.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(what.objects.begin(), here, object) != here) continue;
    const bool new_one = std::find(covered.begin(), covered.end(), object) == covered.end();
    out.item += is_mentioned(object) ? (new_one ? kMentioned : 0) : (mentioned_.empty() ? 0 : kNotMentioned);
  }
  out.item += neighbours(what.objects);
  covered.insert(covered.end(), what.objects.begin(), what.objects.end());
  std::vector<ActionId> goal(before.begin(), before.end());
  goal.push_back(item);
  const bool all = is_whole(goal, covered);
  out.end = all ? kLikely : kUnlikely;
  out.go_on = all ? kUnlikely : kLikely;
  return out;
}

}  // namespace metactrl::goals
