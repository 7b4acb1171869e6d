// Where the instruction says of how many of a kind it speaks, none of them that it does not name is meant alone. So it is with
// "everything" and "nothing" and whatever else their clause speaks of.
//
// An item is worth more for every mentioned object that no item before it has, more again for two that are mentioned one after
// the other, and less for every object that is not mentioned, for objects that are mentioned in different clauses, and for a "never"
// that another clause says. Its predicate counts when words of it are in the instruction, more when all of them are: of "at" and
// "at-ferry" the one whose name is said. So does an action that is mentioned, for the facts that it makes true or false, of objects
// that it can do so with: "enter" speaks for (robot-at bedroom) where robots enter rooms, and for no sample.
//
// Of two different things to choose from, each is what its own clause says: "oil the press or stop the saw". What an action undoes is
// so of none where the instruction says all: "stop all machines". What a clause says "not" of is not asked for, but its contrary: "do
// not start the press", "all lamps must not be on"; and "do not stop the press" keeps it running. Words of a clause are about the
// things in it: "print the report and sign the contract" has no contract printed.
//
// Conditions that say more than a plain fact ("all", "never", "three") are worth less unless a word for it is there; so is what holds
// already, and a plain fact in a clause that says "never". A goal may well end once all mentioned objects and predicates are in it,
// and hardly before; where a clause that names an action has nothing in it, that is left to the model.
#include "goals/mentions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "goals/phrases.h"
#include "goals/words.h"
#include "support/str_cat.h"

namespace metactrl::goals {

using internal::index;

namespace {

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
constexpr double kHoldsAlready = -3;
constexpr double kSide = 3;
constexpr double kOrdered = 5;
const double kLikely = std::log(0.999);
const double kUnlikely = std::log(0.001);
const double kEven = std::log(0.5);
const double kHardly = std::log(1e-9);

double share(std::size_t part, std::size_t whole) { return static_cast<double>(part) / static_cast<double>(whole); }

}  // namespace

Mentions::Mentions(std::string_view instruction, const ItemSet& items)
    : items_(items), instruction_(read_instruction(instruction, items)) {
  std::vector<double> shapes;
  std::vector<bool> said;  // is there a word of its predicates?
  for (std::uint32_t shape = 0; shape < items.num_shapes(); ++shape) {
    has_word_.push_back(find_word(shape));
    shapes.push_back(shape_weight(shape));
    shape_clauses_.push_back(clauses_saying(shape));
    said.push_back(share_said(items.predicates(shape)) > 0);
  }
  const bool never = has_word_for(ItemSet::Kind::kAlways, 0, instruction_.free);
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    const ItemSet::Item& item = items.item(ActionId{i});
    const bool denied = is_denied(item);
    const bool contrary = denied && asks_for_what_is_denied(item);
    const bool turned = denied && !contrary && !(never && is_said_of_the_way(item));
    const bool always = items.kind(item.shape) == ItemSet::Kind::kAlways;
    const double deed = item.choices.empty() ? best_deed(item, turned && !always) : deed_of_choices(item);
    const bool undoes =
        (deed > 0 || (turned && said[item.shape])) && !contrary && !has_word_[item.shape] && is_undone(item.shape);
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
  return kind == ItemSet::Kind::kNone && (instruction_.all_of.contains(items_.quantified(shape)) ||
                                          has_word_for(ItemSet::Kind::kAll, 0, instruction_.free));
}

bool Mentions::find_word(std::uint32_t shape) const {
  if (items_.kind(shape) == ItemSet::Kind::kAll && instruction_.all_of.contains(items_.quantified(shape))) return true;
  return has_word_for(items_.kind(shape), items_.count(shape), instruction_.free);
}

double Mentions::shape_weight(std::uint32_t shape) {
  const bool orders = items_.kind(shape) == ItemSet::Kind::kBefore;
  const bool counted = !items_.quantified(shape).empty() && says_limit(instruction_.free);
  double weight = has_word_[shape] ? 0 : orders || counted ? kContrary : kUnusual;
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
    std::vector<std::string> name = words_of(items_.quantified(shape));
    if (const auto noun = instruction_.nouns.find(items_.quantified(shape)); noun != instruction_.nouns.end())
      name.push_back(noun->second);
    const bool mentioned =
        says_pronoun(instruction_.free) || std::any_of(name.begin(), name.end(), [this](const std::string& word) {
          return std::any_of(instruction_.free.begin(), instruction_.free.end(),
                             [&](const std::string& other) { return alike(word, other); });
        });
    weight += mentioned ? kMentioned : kNotMentioned;
  }
  // Between two kinds that both have a word, the one that says more.
  if (items_.kind(shape) != ItemSet::Kind::kFact && weight >= 0) weight += 1;
  return weight;
}

// Which of two things comes first, as far as the sides say it.
double Mentions::order_weight(const ItemSet::Item& item) {
  if (!item.later || instruction_.orders.empty()) return 0;
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < instruction_.orders.size(); ++i) {
    const Instruction::Order& order = instruction_.orders[i];
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
double Mentions::side_weight(ActionId id, const Instruction::Range& side, const Instruction::Range& other) const {
  const ItemSet::Item& fact = items_.item(id);
  double weight = 0;
  for (const ObjectId object : fact.objects) {
    bool here = false;
    bool there = false;
    for (std::size_t i = 0; i < instruction_.mentioned.size(); ++i) {
      if (instruction_.mentioned[i] != object) continue;
      here = here || side.has(instruction_.places[i]);
      there = there || other.has(instruction_.places[i]);
    }
    if (there && !here) weight -= kSide;
  }
  const auto is_done_in = [&](const std::vector<std::string>& words) {
    const std::vector<std::string> predicate = words_of(items_.predicates(fact.shape));
    return std::any_of(predicate.begin(), predicate.end(),
                       [&](const std::string& word) { return says_verb(words, word); }) ||
           std::any_of(instruction_.verbs.begin(), instruction_.verbs.end(), [&](const auto& verb) {
             return items_.is_about(*verb.first, fact) &&
                    std::any_of(verb.second.begin(), verb.second.end(),
                                [&](const std::string& word) { return word.size() > 2 && says_verb(words, word); });
           });
  };
  const bool here = is_done_in(instruction_.free_words(side));
  const bool there = is_done_in(instruction_.free_words(other));
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
  if (!has_word_[item.shape]) return 0;
  const ItemSet::Kind kind = items_.kind(item.shape);
  if (is_rare(item)) {
    const bool named = !item.objects.empty() && std::all_of(item.objects.begin(), item.objects.end(),
                                                            [this](ObjectId object) { return is_mentioned(object); });
    if (is_always_of_others(item)) return 0;
    const bool said = named || best_deed(item, false) > 0 || best_deed(item, true) > 0 ||
                      share_said(items_.predicates(item.shape)) > 0;
    const bool of_kind = kind != ItemSet::Kind::kAlways ||
                         says_any(instruction_.words, {"any", "all", "every", "each", "both", "no", "none"});
    return said && of_kind ? kInSoManyWords : 0;
  }
  if (item.choices.empty()) return 0;
  // "Either the red or the blue one is to be washed" is one thing to do, of two.
  const auto first = clauses_of(items_.item(item.choices[0]).objects);
  const auto second = clauses_of(items_.item(item.choices[1]).objects);
  if (first && second && *first == *second && first->size() == 1) return 0;
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

// Is something said of all of a kind where nothing is said of "always", and that of something else? "Clean all rooms, and never enter the
// attic" has none that is always clean.
bool Mentions::is_always_of_others(const ItemSet::Item& item) const {
  if (items_.kind(item.shape) != ItemSet::Kind::kAlways || items_.quantified(item.shape).empty()) return false;
  const auto says_always = [](const Instruction::Clause& clause) {
    return has_word_for(ItemSet::Kind::kAlways, 0, clause.words);
  };
  std::set<std::size_t> about = clauses_about(item, false);
  about.merge(clauses_about(item, true));
  const bool said_here = std::any_of(about.begin(), about.end(),
                                     [&](std::size_t clause) { return says_always(instruction_.clauses[clause]); });
  return !about.empty() && !said_here &&
         std::any_of(instruction_.clauses.begin(), instruction_.clauses.end(), says_always);
}

// Of two different things, that of which less is said.
double Mentions::deed_of_choices(const ItemSet::Item& item) const {
  double least = kDeed;
  for (const ActionId choice : item.choices) least = std::min(least, best_deed(items_.item(choice), false));
  return least;
}

double Mentions::best_deed(const ItemSet::Item& item, bool contrary) const {
  double best = 0;
  for (const Instruction::SaidDeed& said : instruction_.deeds) {
    const double weight = kDeed * said.share;
    if (weight > best && items_.is_about(*said.deed, item, contrary)) best = weight;
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
  const auto says_so = [](const Instruction::Clause& clause) { return clause.denied; };
  if (std::none_of(instruction_.clauses.begin(), instruction_.clauses.end(), says_so)) return false;
  const std::optional<std::set<std::size_t>> named = clauses_of(item.objects);
  std::set<std::size_t> clauses = clauses_about(item, false);
  clauses.merge(clauses_about(item, true));
  if (named) {
    std::erase_if(clauses, [&](std::size_t clause) { return !named->contains(clause); });
    if (clauses.empty()) clauses = *named;
  }
  // "Lamps must not be on" has no word but prepositions.
  if (!named && clauses.empty() && !items_.quantified(item.shape).empty())
    return std::all_of(instruction_.clauses.begin(), instruction_.clauses.end(), says_so);
  return !clauses.empty() && std::all_of(clauses.begin(), clauses.end(),
                                         [this](std::size_t clause) { return instruction_.clauses[clause].denied; });
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
  return std::any_of(instruction_.words.begin(), instruction_.words.end(),
                     [&](const std::string& word) { return alike(part, word); });
}

// Nobody means one of those that are counted without saying which.
bool Mentions::is_one_of_many(ObjectId object) const {
  return !is_mentioned(object) &&
         std::any_of(instruction_.counted.begin(), instruction_.counted.end(), [&](const ItemSet::Class* kind) {
           return std::binary_search(kind->members.begin(), kind->members.end(), object);
         });
}

// Does it say at all what it is about?
bool Mentions::names_things() const {
  return !instruction_.mentioned.empty() || !instruction_.counted.empty() || says_pronoun(instruction_.free);
}

bool Mentions::is_mentioned(ObjectId object) const {
  return std::find(instruction_.mentioned.begin(), instruction_.mentioned.end(), object) !=
         instruction_.mentioned.end();
}

// Of how many of a kind it speaks, where the goal is about neither the kind nor every one of it.
std::string Mentions::uncounted_in(std::span<const ActionId> goal) const {
  for (const ItemSet::Class* kind : instruction_.counted) {
    const auto is_one = [&](ObjectId object) {
      return std::binary_search(kind->members.begin(), kind->members.end(), object);
    };
    const auto is_of_kind = [&](const std::string& name) {
      const auto other = std::find_if(items_.classes().begin(), items_.classes().end(),
                                      [&](const ItemSet::Class& one) { return one.name == name; });
      return other == items_.classes().end() || std::any_of(other->members.begin(), other->members.end(), is_one);
    };
    std::set<ObjectId> members;
    bool quantified = false;
    for (const ActionId item : goal) {
      const std::string& name = items_.quantified(items_.item(item).shape);
      quantified = quantified || (!name.empty() && is_of_kind(name));
      for (const ObjectId object : items_.item(item).objects) {
        if (is_one(object)) members.insert(object);
      }
    }
    if (!quantified && members.size() < kind->members.size()) return kind->name;
  }
  return {};
}

// The first object of a goal of which the instruction says nothing, neither its name nor its kind, although it names things, and there are
// others of the kind.
std::string Mentions::unnamed_in(std::span<const ActionId> goal) const {
  if (instruction_.mentioned.empty() && instruction_.counted.empty()) return {};
  // Of a name a part will do: "to the lab, and lock up" may be about lab_door.
  const auto is_said = [](const std::string& name, const std::vector<std::string>& words) {
    const std::vector<std::string> parts = words_of(name);
    return std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
      return std::any_of(words.begin(), words.end(), [&](const std::string& word) { return alike(part, word); });
    });
  };
  for (const ActionId item : goal) {
    for (const ObjectId object : items_.item(item).objects) {
      const std::string& name = items_.objects()[index(object)];
      if (is_mentioned(object) || is_said(name, instruction_.words)) continue;
      bool has_others = false;
      bool kind_said = false;
      for (const ItemSet::Class& kind : items_.classes()) {
        if (!std::binary_search(kind.members.begin(), kind.members.end(), object)) continue;
        has_others = true;
        kind_said = kind_said || is_said(kind.name, instruction_.free);
      }
      if (has_others && !kind_said) return name;
    }
  }
  return {};
}

// Two arguments that are mentioned one after the other, in this order or, half as much, the other way round.
double Mentions::neighbours(const std::vector<ObjectId>& objects) const {
  double best = 0;
  for (std::size_t i = 0; i + 1 < instruction_.mentioned.size(); ++i) {
    if (instruction_.clause_of[i] != instruction_.clause_of[i + 1]) continue;
    for (std::size_t k = 0; k + 1 < objects.size(); ++k) {
      if (instruction_.mentioned[i] == objects[k] && instruction_.mentioned[i + 1] == objects[k + 1])
        best = kNeighbours;
      if (instruction_.mentioned[i + 1] == objects[k] && instruction_.mentioned[i] == objects[k + 1])
        best = std::max(best, kNeighbours / 2);
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
    for (std::size_t i = 0; i < instruction_.mentioned.size(); ++i) {
      if (instruction_.mentioned[i] != object) continue;
      mentioned = true;
      if (!common || common->contains(instruction_.clause_of[i])) own.insert(instruction_.clause_of[i]);
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
  for (const Instruction::SaidDeed& one : instruction_.deeds) {
    if (items_.is_about(*one.deed, item, contrary)) out.insert(one.clauses.begin(), one.clauses.end());
  }
  return out;
}

// In which clauses there is a word of the predicates; of those that are in every other sentence nothing is known.
std::set<std::size_t> Mentions::clauses_saying(std::uint32_t shape) const {
  std::set<std::size_t> out;
  for (const std::string& part : words_of(items_.predicates(shape))) {
    for (std::size_t i = 0; i < instruction_.clauses.size() && !is_preposition(part); ++i) {
      const std::vector<std::string>& words = instruction_.clauses[i].words;
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
    const auto speaks_of_all = [](const Instruction::Clause& clause) { return says_pronoun(clause.words); };
    const auto does_so = [&](std::size_t clause) { return speaks_of_all(instruction_.clauses[clause]); };
    const bool all = clauses ? !clauses->empty() && std::all_of(clauses->begin(), clauses->end(), does_so)
                             : std::all_of(instruction_.clauses.begin(), instruction_.clauses.end(), speaks_of_all);
    if (all) weight += kContrary;
  }
  const auto says_always = [&](std::size_t clause) {
    return has_word_for(ItemSet::Kind::kAlways, 0, instruction_.clauses[clause].words);
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
  if (is_always_of_others(item)) weight += kContrary;
  if (instruction_.clauses.size() < 2 || !clauses) return weight;
  for (const ActionId choice : item.choices) {
    const ItemSet::Item& one = items_.item(choice);
    const std::optional<std::set<std::size_t>> own = clauses_of(one.objects);
    if (own && is_said_elsewhere(one, *own)) weight += kElsewhere;
  }
  if (item.choices.empty() && is_said_elsewhere(item, *clauses)) weight += kElsewhere;
  // Two things, one after the other, are mostly said in two clauses, and so are two different ones to choose from.
  if (clauses->empty() && kind != ItemSet::Kind::kBefore && item.choices.empty()) weight += kApart;
  const bool said_of_some = kind == ItemSet::Kind::kAlways || kind == ItemSet::Kind::kSometime;
  if (said_of_some && has_word_[item.shape] && std::none_of(clauses->begin(), clauses->end(), [&](std::size_t clause) {
        return has_word_for(kind, items_.count(item.shape), instruction_.clauses[clause].words);
      })) {
    weight += kContrary;
  }
  return weight;
}

// Is everything in it done that it puts in an order?
bool Mentions::is_pursued(std::span<const ActionId> goal) const {
  return instruction_.orders_forbid || std::all_of(goal.begin(), goal.end(), [&](ActionId item) {
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
  for (std::size_t i = 0; i < instruction_.mentioned.size(); ++i) {
    if (!has_object(instruction_.mentioned[i]) && !instruction_.is_means(instruction_.places[i])) return false;
  }
  return std::all_of(predicates_.begin(), predicates_.end(), has_predicate) &&
         std::all_of(instruction_.counted.begin(), instruction_.counted.end(), has_kind) && is_pursued(goal) &&
         (!says_pronoun(instruction_.free) || std::any_of(goal.begin(), goal.end(), quantifies));
}

// Is something in it for every clause that says an action's name? What comes about on the way ("pick it up and bring it") need not be.
bool Mentions::has_every_deed(std::span<const ActionId> goal) const {
  const auto is_in = [&](std::size_t clause) {
    return std::any_of(goal.begin(), goal.end(), [&](ActionId id) {
      const ItemSet::Item& item = items_.item(id);
      return clauses_about(item, false).contains(clause) || clauses_about(item, true).contains(clause);
    });
  };
  return std::all_of(instruction_.deeds.begin(), instruction_.deeds.end(), [&](const Instruction::SaidDeed& said) {
    return said.share < 1 || std::all_of(said.clauses.begin(), said.clauses.end(), is_in);
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
    if (instruction_.orders_forbid) continue;
    if (items_.item(other).later == item) out.item += kOrdered;
    // What comes first is done on the way.
    if (items_.item(other).earlier == item) out.item -= kOrdered;
  }
  // As many orders as are said.
  const auto orders = std::count_if(before.begin(), before.end(),
                                    [this](ActionId other) { return items_.item(other).later.has_value(); });
  if (what.later && static_cast<std::size_t>(orders) >= std::max<std::size_t>(1, instruction_.orders.size()))
    out.item += kContrary;
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
  if (all && is_rare(what) && has_word_[what.shape]) out.go_on = kHardly;
  return out;
}

}  // namespace metactrl::goals
