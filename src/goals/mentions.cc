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
// Of two different things to choose from, each is what its own clause says: "oil the press or stop the saw". Behind "or" a verb begins one.
// What is said before "before" comes first, and what is said behind it second; after "after" the other way round. Such an order asks for
// what comes second, too, unless it forbids something: "never", "only after".
// What an action undoes is so of none where the instruction says all: "stop all machines". What a clause says "not" of is not asked for, but its
// contrary: "do not start the press", "all lamps must not be on"; and "do not stop the press" keeps it running. Words of a clause are about the things in it: "print the report
// and sign the contract" has no contract printed.
// Conditions that say more than a plain fact ("all", "never", "three") are worth less unless a word for it is there; so is what holds
// already, and a plain fact in a clause that says "never". A word of an object's name is no word for anything else. A goal may well end once all mentioned
// objects and predicates are in it, and hardly before; where a clause that names an action has nothing in it, that is left to the model.
#include "goals/mentions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "goals/phrases.h"
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
constexpr double kNotMentioned = -9;
constexpr double kPredicate = 3;
constexpr double kWholePredicate = 1;  // more, for each word beyond the first
constexpr double kDeed = 4;
constexpr double kNeighbours = 5;
constexpr double kApart = -4;
constexpr double kElsewhere = -4;
constexpr double kUnusual = -10;
constexpr double kContrary = -20;      // to what is said in so many words
constexpr double kInSoManyWords = 12;  // what models rarely write of themselves
constexpr double kSynonym = 0.5;       // of what the action's own name is worth
constexpr double kHoldsAlready = -3;
constexpr double kSide = 3;
constexpr double kOrdered = 5;
const double kLikely = std::log(0.999);
const double kUnlikely = std::log(0.001);
const double kEven = std::log(0.5);
const double kHardly = std::log(1e-9);

double share(std::size_t part, std::size_t whole) { return static_cast<double>(part) / static_cast<double>(whole); }

}  // namespace

Mentions::Mentions(std::string_view instruction, const ItemSet& items) : items_(items) {
  std::size_t end = 0;
  for (Word& word : words_in(instruction)) {
    if (words_.size() == kMostHeard) break;
    marks_before_.push_back(instruction.substr(end, word.begin - end).find_first_of(",;.:!?\n") !=
                            std::string_view::npos);
    end = word.end;
    words_.push_back(std::move(word.text));
  }
  find_objects();
  find_deeds();
  find_orders();
  std::vector<double> shapes;
  std::vector<bool> said;  // is there a word of its predicates?
  for (std::uint32_t shape = 0; shape < items.num_shapes(); ++shape) {
    shapes.push_back(shape_weight(shape));
    shape_clauses_.push_back(clauses_saying(shape));
    said.push_back(share_said(items.predicates(shape)) > 0);
  }
  const bool never = has_word_for(ItemSet::Kind::kAlways, 0, free_);
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    const ItemSet::Item& item = items.item(ActionId{i});
    const bool denied = is_denied(item);
    const bool contrary = denied && asks_for_what_is_denied(item);
    const bool turned = denied && !contrary && !(never && is_said_of_the_way(item));
    const bool always = items.kind(item.shape) == ItemSet::Kind::kAlways;
    const double deed = item.choices.empty() ? best_deed(item, turned && !always) : deed_of_choices(item);
    const bool undoes =
        (deed > 0 || (turned && said[item.shape])) && !contrary && !has_word(item.shape) && is_undone(item.shape);
    // The name of what has no arguments is that of a thing.
    const bool names_itself = item.objects.empty() && items.quantified(item.shape).empty();
    const double named = names_itself ? kMentioned * share_said(items.predicates(item.shape)) : 0;
    item_weights_.push_back(shapes[item.shape] + deed + named + in_so_many_words(item) - (undoes ? kUnusual : 0) +
                            (contrary ? kContrary : 0) + (item.holds_already ? kHoldsAlready : 0) + out_of_place(item) +
                            order_weight(item));
  }
}

// Of the words of a name.
double Mentions::share_said(std::string_view name) const {
  const std::vector<std::string> parts = words_of(name);
  const auto said = std::count_if(parts.begin(), parts.end(), [this](const std::string& part) { return says(part); });
  return parts.empty() ? 0 : share(static_cast<std::size_t>(said), parts.size());
}

// "Unlock" says "not locked" without a word for "not", and "unlock all doors" says it of every door.
bool Mentions::is_undone(std::uint32_t shape) const {
  const ItemSet::Kind kind = items_.kind(shape);
  if (kind == ItemSet::Kind::kNot) return true;
  return kind == ItemSet::Kind::kNone &&
         (all_of_.contains(items_.quantified(shape)) || has_word_for(ItemSet::Kind::kAll, 0, free_));
}

bool Mentions::has_word(std::uint32_t shape) const {
  if (items_.kind(shape) == ItemSet::Kind::kAll && all_of_.contains(items_.quantified(shape))) return true;
  return has_word_for(items_.kind(shape), items_.count(shape), free_);
}

double Mentions::shape_weight(std::uint32_t shape) {
  const bool orders = items_.kind(shape) == ItemSet::Kind::kBefore;
  const bool counted = !items_.quantified(shape).empty() && says_limit(free_);
  double weight = has_word(shape) ? 0 : orders || counted ? kContrary : kUnusual;
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
  std::set<std::string> all_verbs;
  for (const ItemSet::Deed& deed : items_.deeds()) {
    std::vector<std::string> verb = words_of(deed.action);
    std::erase_if(verb, [&](const std::string& word) { return nouns.contains(word); });
    all_verbs.insert(verb.begin(), verb.end());
    verbs_.emplace_back(&deed, std::move(verb));
  }
  // What names an action or a predicate is not used for another: "unlock" where there is "lock", too.
  for (std::uint32_t shape = 0; shape < items_.num_shapes(); ++shape) {
    for (std::string& word : words_of(items_.predicates(shape))) all_verbs.insert(std::move(word));
  }
  std::vector<std::string> others;
  for (const std::string& word : free_) {
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
    for (std::size_t i = 0; i < clause_words_.size(); ++i) {
      const bool here = std::any_of(verb.begin(), verb.end(), [&](const std::string& word) {
        return (!is_preposition(word) && says_verb(clause_words_[i], word)) ||
               std::any_of(others.begin(), others.end(), [&](const std::string& other) {
                 return says_any(clause_words_[i], {other}) && are_used_for_one_another(other, word);
               });
      });
      if (here) out.insert(i);
    }
    return out;
  };
  for (const auto& [deed, verb] : verbs_) {
    double said = 0;
    bool more = false;
    for (const std::string& word : verb) {
      const bool itself = says_verb(free_, word);
      if (!itself && !says_synonym(word)) continue;
      said += itself ? 1 : kSynonym;
      more = more || !is_preposition(word) || !itself;
    }
    if (more) deeds_.push_back({deed, kDeed * said / static_cast<double>(verb.size()), clauses_with(verb)});
  }
}

// The sides reach to the next mark, or the next such word. What begins with "before" has its other side behind the mark: "before you cut it,
// wash it". What must not be before something else comes behind it.
void Mentions::find_orders() {
  const auto is_order = [this](std::size_t i) { return says_any({words_[i]}, {"before", "after", "until"}); };
  const auto end_of_side = [&](std::size_t i) {
    while (i < words_.size() && !marks_before_[i] && !is_order(i)) ++i;
    return i;
  };
  bool forbids = false;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (!is_order(i)) continue;
    Range said{i, i};
    while (said.begin > 0 && !marks_before_[said.begin] && !is_order(said.begin - 1)) --said.begin;
    const Range behind{i + 1, i + 1 < words_.size() && !marks_before_[i + 1] ? end_of_side(i + 1) : i + 1};
    if (said.begin == said.end)
      said = {behind.end, behind.end < words_.size() ? end_of_side(behind.end + 1) : behind.end};
    if (said.begin == said.end || behind.begin == behind.end) continue;
    const bool never = denies(free_words(said));
    if (words_[i] == "until" && !never) continue;
    const bool said_first = words_[i] == "before" && !never;
    orders_.push_back(said_first ? Order{said, behind} : Order{behind, said});
    forbids = forbids || forbids_something(free_words(said)) || forbids_something(free_words(behind));
  }
  orders_forbid_ = orders_.empty() ? forbids_something(free_) : forbids;
}

std::vector<std::string> Mentions::free_words(const Range& range) const {
  std::vector<std::string> out;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    if (!named_[i]) out.push_back(words_[i]);
  }
  return out;
}

// Which of two things comes first, as far as the sides say it.
double Mentions::order_weight(const ItemSet::Item& item) {
  if (!item.later || orders_.empty()) return 0;
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < orders_.size(); ++i) {
    const Order& order = orders_[i];
    const auto sides = [&](ActionId fact) {
      const auto [known, is_new] = sides_.try_emplace({fact, i});
      if (is_new) {
        known->second = {side_weight(fact, order.earlier, order.later), side_weight(fact, order.later, order.earlier)};
      }
      return known->second;
    };
    best = std::max(best, sides(*item.earlier)[0] + sides(*item.later)[1]);
  }
  return best;
}

// Names that are on the other side alone speak against it; so does what is done, and it speaks for the side on which it is said.
double Mentions::side_weight(ActionId id, const Range& side, const Range& other) const {
  const ItemSet::Item& fact = items_.item(id);
  double weight = 0;
  for (const ObjectId object : fact.objects) {
    bool here = false;
    bool there = false;
    for (std::size_t i = 0; i < mentioned_.size(); ++i) {
      if (mentioned_[i] != object) continue;
      here = here || side.has(places_[i]);
      there = there || other.has(places_[i]);
    }
    if (there && !here) weight -= kSide;
  }
  const auto is_done_in = [&](const std::vector<std::string>& words) {
    const std::vector<std::string> predicate = words_of(items_.predicates(fact.shape));
    return std::any_of(predicate.begin(), predicate.end(),
                       [&](const std::string& word) { return says_verb(words, word); }) ||
           std::any_of(verbs_.begin(), verbs_.end(), [&](const auto& verb) {
             return items_.is_about(*verb.first, fact) &&
                    std::any_of(verb.second.begin(), verb.second.end(),
                                [&](const std::string& word) { return word.size() > 2 && says_verb(words, word); });
           });
  };
  const bool here = is_done_in(free_words(side));
  const bool there = is_done_in(free_words(other));
  return weight + (here ? kSide : 0) - (there && !here ? kSide : 0);
}

// A fact that a goal asks for, or that comes before one that it asks for. Two that are each to come before the other never do.
bool Mentions::is_done(ActionId fact, std::span<const ActionId> goal) const {
  const ItemSet::Item& wanted = items_.item(fact);
  for (std::size_t i = 0; i < goal.size(); ++i) {
    const ItemSet::Item& item = items_.item(goal[i]);
    const bool sometime = items_.kind(item.shape) == ItemSet::Kind::kSometime &&
                          items_.predicates(item.shape) == items_.predicates(wanted.shape) &&
                          item.objects == wanted.objects;
    if (goal[i] == fact || sometime) return true;
    if (item.earlier != fact) continue;
    std::vector<ActionId> others(goal.begin(), goal.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    if (is_done(*item.later, others)) return true;
  }
  return false;
}

// "At most two", "never any", or "or" between two different things of both of which something is said.
double Mentions::in_so_many_words(const ItemSet::Item& item) const {
  if (!has_word(item.shape)) return 0;
  const ItemSet::Kind kind = items_.kind(item.shape);
  if (is_rare(item)) {
    const bool named = !item.objects.empty() && std::all_of(item.objects.begin(), item.objects.end(),
                                                            [this](ObjectId object) { return is_mentioned(object); });
    const bool said = named || best_deed(item, false) > 0 || best_deed(item, true) > 0 ||
                      share_said(items_.predicates(item.shape)) > 0;
    const bool of_kind =
        kind != ItemSet::Kind::kAlways || says_any(words_, {"any", "all", "every", "each", "both", "no", "none"});
    return said && of_kind ? kInSoManyWords : 0;
  }
  if (item.choices.empty()) return 0;
  const bool both = std::all_of(item.choices.begin(), item.choices.end(), [this](ActionId choice) {
    const ItemSet::Item& one = items_.item(choice);
    return (best_deed(one, false) > 0 || share_said(items_.predicates(one.shape)) > 0) &&
           std::all_of(one.objects.begin(), one.objects.end(),
                       [this](ObjectId object) { return is_mentioned(object); });
  });
  return both ? kInSoManyWords : 0;
}

// Of all that is quantified: limits, and what holds of a kind on the way.
bool Mentions::is_rare(const ItemSet::Item& item) const {
  const ItemSet::Kind kind = items_.kind(item.shape);
  return !items_.quantified(item.shape).empty() &&
         (kind == ItemSet::Kind::kAtMost || kind == ItemSet::Kind::kExactly || kind == ItemSet::Kind::kAlways);
}

// Of two different things, that of which less is said.
double Mentions::deed_of_choices(const ItemSet::Item& item) const {
  double least = kDeed;
  for (const ActionId choice : item.choices) least = std::min(least, best_deed(items_.item(choice), false));
  return least;
}

double Mentions::best_deed(const ItemSet::Item& item, bool contrary) const {
  double best = 0;
  for (const SaidDeed& said : deeds_) {
    if (said.weight > best && items_.is_about(*said.deed, item, contrary)) best = said.weight;
  }
  return best;
}

// What is never to be is said of the way, but for what is so at the start.
bool Mentions::is_said_of_the_way(const ItemSet::Item& item) const {
  return items_.kind(item.shape) != ItemSet::Kind::kNot || item.holds_already;
}

// Does every clause with its objects that has a word for it say "not"? "Never" and orders are what they are.
bool Mentions::is_denied(const ItemSet::Item& item) const {
  if (items_.is_never(item.shape) || items_.kind(item.shape) == ItemSet::Kind::kBefore) return false;
  if (std::find(denied_.begin(), denied_.end(), true) == denied_.end()) return false;
  const std::optional<std::set<std::size_t>> named = clauses_of(item.objects);
  std::set<std::size_t> clauses = clauses_about(item, false);
  clauses.merge(clauses_about(item, true));
  if (named) {
    std::erase_if(clauses, [&](std::size_t clause) { return !named->contains(clause); });
    if (clauses.empty()) clauses = *named;
  }
  // "Lamps must not be on" has no word but prepositions.
  if (!named && clauses.empty() && !items_.quantified(item.shape).empty())
    return std::find(denied_.begin(), denied_.end(), false) == denied_.end();
  return !clauses.empty() &&
         std::all_of(clauses.begin(), clauses.end(), [this](std::size_t clause) { return denied_[clause]; });
}

// Of an item that is denied. Where an action is named that ends the fact, "not" keeps the fact.
bool Mentions::asks_for_what_is_denied(const ItemSet::Item& item) const {
  const ItemSet::Kind kind = items_.kind(item.shape);
  const bool negative = kind == ItemSet::Kind::kNot || kind == ItemSet::Kind::kNone;
  // "Always so" is about what ends it.
  const bool ended = negative || kind == ItemSet::Kind::kAlways;
  const bool keeps = best_deed(item, !ended) > best_deed(item, ended);
  return keeps == negative;
}

bool Mentions::says(std::string_view part) const {
  return std::any_of(words_.begin(), words_.end(), [&](const std::string& word) { return alike(part, word); });
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
  find_clauses(by_place, used);
  find_counted(used);
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (!used[i]) free_.push_back(words_[i]);
  }
  named_ = std::move(used);
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
  if (is_count(before) || says_any({before}, {"all", "every", "each", "both", "either", "no", "none"}))
    return Quantity::kSaid;
  // "Exactly one", "never any".
  if (before == "one" && has_word_for(ItemSet::Kind::kExactly, 1, words_)) return Quantity::kSaid;
  if (before == "one" && has_word_for(ItemSet::Kind::kAtMost, 1, words_)) return Quantity::kSaid;
  if (before == "any" && denies(words_)) return Quantity::kSaid;
  const bool some = says_any({before}, {"one", "some", "any", "most", "few", "many", "several"});
  return these && !some ? Quantity::kThese : Quantity::kNone;
}

// Nobody means one of those that are counted without saying which.
bool Mentions::is_one_of_many(ObjectId object) const {
  return !is_mentioned(object) && std::any_of(counted_.begin(), counted_.end(), [&](const ItemSet::Class* kind) {
    return std::binary_search(kind->members.begin(), kind->members.end(), object);
  });
}

// Does it say at all what it is about?
bool Mentions::names_things() const { return !mentioned_.empty() || !counted_.empty() || says_pronoun(free_); }

bool Mentions::is_mentioned(ObjectId object) const {
  return std::find(mentioned_.begin(), mentioned_.end(), object) != mentioned_.end();
}

// A mark, or a word that joins clauses, begins a new one where something is said before the next name: "enter the ward, and bring the
// chart" has two, "the ward, the lab and the bay" one. So has "print and sign the report": what is said of nothing yet is said of what comes.
// A name behind a mark or "and" begins one, too, where it has a verb of its own: "do not enter the ward, the lab door must be locked".
// "It" is the one thing that the clause before names, where this one names nothing before: "wash the plate, then put it on the shelf".
void Mentions::find_clauses(const std::map<std::size_t, ObjectId>& by_place, const std::vector<bool>& used) {
  clause_words_.emplace_back();
  denied_.push_back(false);
  bool joint = false;
  bool aside = false;  // "the lamp that is not on", "if it is not on"
  bool about_something = false;
  std::set<ObjectId> here;
  std::set<ObjectId> before;
  const std::size_t nowhere = words_.size();
  std::size_t listed = nowhere;  // where the last name behind a mark or "and" is
  const auto mention = [&](std::size_t place, ObjectId object) {
    mentioned_.push_back(object);
    places_.push_back(place);
    clauses_.push_back(clause_words_.size() - 1);
    here.insert(object);
  };
  // Of the words up to `end`, those from `place` on are another clause.
  const auto split = [&](std::size_t place, std::size_t end) {
    const auto first = used.begin() + static_cast<std::ptrdiff_t>(place);
    const auto moved = std::count(first, used.begin() + static_cast<std::ptrdiff_t>(end), false);
    const std::vector<std::string> words(clause_words_.back().end() - moved, clause_words_.back().end());
    const bool tells =
        denied_.back() || tells_what_to_do({clause_words_.back().begin(), clause_words_.back().end() - moved});
    if (!tells) return;
    clause_words_.back().resize(clause_words_.back().size() - words.size());
    clause_words_.push_back(words);
    denied_.push_back(false);
    aside = false;
    before = std::exchange(here, {});
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i] < place) continue;
      clauses_[i] = clause_words_.size() - 1;
      here.insert(mentioned_[i]);
      before.erase(mentioned_[i]);
    }
  };
  const auto is_thing = [&](std::size_t i) {
    return used[i] || says_pronoun({words_[i]}) ||
           std::any_of(items_.classes().begin(), items_.classes().end(), [&](const ItemSet::Class& kind) {
             const std::vector<std::string> name = words_of(kind.name);
             const std::vector<std::string> forms = bases(words_[i]);
             return !name.empty() && std::find(forms.begin(), forms.end(), name.back()) != forms.end();
           });
  };
  for (std::size_t i = 0; i < words_.size(); ++i) {
    // "Lock the door or open the window", but "to the lab or to the ward".
    const bool or_else = i > 0 && words_[i - 1] == "or" && !used[i] && tells_what_to_do({words_[i]}) && !is_thing(i) &&
                         !is_modal(words_[i]);
    joint = joint || (i > 0 && marks_before_[i]) || or_else || says_any({words_[i]}, {"and", "then", "but", "without"});
    if (joint && about_something && !used[i] &&
        !says_any({words_[i]}, {"and", "then", "but", "or", "the", "a", "an", "all", "both", "also"})) {
      clause_words_.emplace_back();
      denied_.push_back(false);
      joint = false;
      about_something = false;
      aside = false;
      if (!here.empty()) before = std::exchange(here, {});
      listed = nowhere;
    }
    if (listed != nowhere && !used[i] && is_modal(words_[i])) {
      split(listed, i);
      listed = nowhere;
    }
    if (joint && used[i]) listed = i;
    aside = aside || (!used[i] && (begins_aside(words_[i]) || (words_[i] == "that" && i > 0 && is_thing(i - 1))));
    if (!used[i] && !aside && says_not(words_, i)) denied_.back() = true;
    about_something = about_something || is_thing(i);
    if (used[i]) joint = false;
    if (!used[i]) clause_words_.back().push_back(words_[i]);
    if (by_place.contains(i)) mention(i, by_place.at(i));
    if (words_[i] == "it" && !used[i] && here.empty() && before.size() == 1) {
      mention(i, *before.begin());
      about_something = true;
    }
  }
  // "Do not cut it before it is washed" is an order.
  for (std::size_t i = 0; i < clause_words_.size(); ++i) {
    if (has_word_for(ItemSet::Kind::kBefore, 0, clause_words_[i])) denied_[i] = false;
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

// Are there words for what an item says, and all of them in clauses about other things? "Print the report and sign the contract" has the
// contract signed.
bool Mentions::is_said_elsewhere(const ItemSet::Item& item, const std::set<std::size_t>& clauses) const {
  if (clauses.empty() || items_.kind(item.shape) == ItemSet::Kind::kBefore) return false;
  const std::set<std::size_t> said = clauses_about(item, false);
  return !said.empty() &&
         std::none_of(clauses.begin(), clauses.end(), [&](std::size_t clause) { return said.contains(clause); });
}

// Those that have a word for what an item says, or for an action that brings it about, or the contrary.
std::set<std::size_t> Mentions::clauses_about(const ItemSet::Item& item, bool contrary) const {
  std::set<std::size_t> out = shape_clauses_[item.shape];
  for (const SaidDeed& one : deeds_) {
    if (items_.is_about(*one.deed, item, contrary)) out.insert(one.clauses.begin(), one.clauses.end());
  }
  return out;
}

// In which clauses there is a word of the predicates; of those that are in every other sentence nothing is known.
std::set<std::size_t> Mentions::clauses_saying(std::uint32_t shape) const {
  std::set<std::size_t> out;
  for (const std::string& part : words_of(items_.predicates(shape))) {
    for (std::size_t i = 0; i < clause_words_.size() && !is_preposition(part); ++i) {
      const std::vector<std::string>& words = clause_words_[i];
      if (std::any_of(words.begin(), words.end(), [&](const std::string& word) { return alike(part, word); }))
        out.insert(i);
    }
  }
  return out;
}

// For objects that are nowhere mentioned together, for a "never" that is said of something else, and for one thing where everything is meant.
double Mentions::out_of_place(const ItemSet::Item& item) const {
  const bool one_of_many =
      std::any_of(item.objects.begin(), item.objects.end(), [this](ObjectId object) { return is_one_of_many(object); });
  double weight = one_of_many ? kUnusual : 0;
  const std::optional<std::set<std::size_t>> clauses = clauses_of(item.objects);
  const ItemSet::Kind kind = items_.kind(item.shape);
  const bool at_the_end = kind == ItemSet::Kind::kFact || kind == ItemSet::Kind::kNot;
  if (at_the_end) {
    const auto speaks_of_all = [this](std::size_t clause) { return says_pronoun(clause_words_[clause]); };
    const bool all = clauses ? !clauses->empty() && std::all_of(clauses->begin(), clauses->end(), speaks_of_all)
                             : std::all_of(clause_words_.begin(), clause_words_.end(), says_pronoun);
    if (all) weight += kContrary;
  }
  const auto says_always = [&](std::size_t clause) {
    return has_word_for(ItemSet::Kind::kAlways, 0, clause_words_[clause]);
  };
  if (at_the_end && clauses && !clauses->empty() && std::all_of(clauses->begin(), clauses->end(), says_always))
    weight += kApart;
  // "Never enter any room" is about the way.
  const bool of_all = kind == ItemSet::Kind::kAll || kind == ItemSet::Kind::kNone;
  if (of_all && !clauses) {
    std::set<std::size_t> about = clauses_about(item, false);
    about.merge(clauses_about(item, true));
    if (!about.empty() && std::all_of(about.begin(), about.end(), says_always)) weight += kUnusual;
  }
  if (clause_words_.size() < 2 || !clauses) return weight;
  for (const ActionId choice : item.choices) {
    const ItemSet::Item& one = items_.item(choice);
    const std::optional<std::set<std::size_t>> own = clauses_of(one.objects);
    if (own && is_said_elsewhere(one, *own)) weight += kElsewhere;
  }
  if (item.choices.empty() && is_said_elsewhere(item, *clauses)) weight += kElsewhere;
  // Two things, one after the other, are mostly said in two clauses, and so are two different ones to choose from.
  if (clauses->empty() && kind != ItemSet::Kind::kBefore && item.choices.empty()) weight += kApart;
  const bool said_of_some = kind == ItemSet::Kind::kAlways || kind == ItemSet::Kind::kSometime;
  if (said_of_some && has_word(item.shape) && std::none_of(clauses->begin(), clauses->end(), [&](std::size_t clause) {
        return has_word_for(kind, items_.count(item.shape), clause_words_[clause]);
      })) {
    weight += kContrary;
  }
  return weight;
}

// Is everything in it done that it puts in an order?
bool Mentions::is_pursued(std::span<const ActionId> goal) const {
  return orders_forbid_ || std::all_of(goal.begin(), goal.end(), [&](ActionId item) {
           const std::optional<ActionId> later = items_.item(item).later;
           return !later || is_done(*later, goal);
         });
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
         std::all_of(counted_.begin(), counted_.end(), has_kind) && is_pursued(goal) &&
         (!says_pronoun(free_) || std::any_of(goal.begin(), goal.end(), quantifies));
}

// Is something in it for every clause that says an action's name? What comes about on the way ("pick it up and bring it") need not be.
bool Mentions::has_every_deed(std::span<const ActionId> goal) const {
  const auto is_in = [&](std::size_t clause) {
    return std::any_of(goal.begin(), goal.end(), [&](ActionId id) {
      const ItemSet::Item& item = items_.item(id);
      return clauses_about(item, false).contains(clause) || clauses_about(item, true).contains(clause);
    });
  };
  return std::all_of(deeds_.begin(), deeds_.end(), [&](const SaidDeed& said) {
    return said.weight < kDeed || std::all_of(said.clauses.begin(), said.clauses.end(), is_in);
  });
}

Mentions::Weight Mentions::weight(std::span<const ActionId> before, ActionId item) const {
  const ItemSet::Item& what = items_.item(item);
  Weight out;
  out.item = item_weights_[index(item)];
  std::vector<ObjectId> covered;
  for (const ActionId other : before) {
    const std::vector<ObjectId>& objects = items_.item(other).objects;
    covered.insert(covered.end(), objects.begin(), objects.end());
    if (orders_forbid_) continue;
    if (items_.item(other).later == item) out.item += kOrdered;
    // What comes first is done on the way.
    if (items_.item(other).earlier == item) out.item -= kOrdered;
  }
  // As many orders as are said.
  const auto orders = std::count_if(before.begin(), before.end(),
                                    [this](ActionId other) { return items_.item(other).later.has_value(); });
  if (what.later && static_cast<std::size_t>(orders) >= std::max<std::size_t>(1, orders_.size())) out.item += kContrary;
  for (std::size_t i = 0; i < what.objects.size(); ++i) {
    const ObjectId object = what.objects[i];
    const auto here = what.objects.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(what.objects.begin(), here, object) != here) continue;
    const bool new_one = std::find(covered.begin(), covered.end(), object) == covered.end();
    out.item += is_mentioned(object) ? (new_one ? kMentioned : 0) : (names_things() ? kNotMentioned : 0);
  }
  out.item += neighbours(what.objects);
  covered.insert(covered.end(), what.objects.begin(), what.objects.end());
  std::vector<ActionId> goal(before.begin(), before.end());
  goal.push_back(item);
  const bool all = is_whole(goal, covered);
  if (all && !has_every_deed(goal)) {
    out.end = out.go_on = kEven;
    return out;
  }
  out.end = all ? kLikely : is_pursued(goal) ? kUnlikely : kHardly;
  out.go_on = all ? kUnlikely : kLikely;
  // Models that do not know it go on with what they know.
  if (all && is_rare(what) && has_word(what.shape)) out.go_on = kHardly;
  return out;
}

}  // namespace metactrl::goals
