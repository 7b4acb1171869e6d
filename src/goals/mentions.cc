// An object is mentioned where the words of its name follow each other in the instruction: blood_sample in "the blood sample".
// Longer names go first, and their words are used up: "the lab door" is lab_door and not lab.
//
// An item is worth more for every mentioned object that no item before it has, more again for two that are mentioned one after
// the other, and less for every object that is not mentioned. Its predicate counts when a word of it is in the instruction.
// Conditions that say more than a plain fact ("all",
// "never") are worth less unless a word for it is there; so is what holds already. A goal may well end once all mentioned
// objects and predicates are in it, and hardly before.
#include "goals/mentions.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "support/lower_case.h"

namespace metactrl::goals {

using internal::index;
using internal::to_id;

namespace {

// In nats.
constexpr double kMentioned = 4;
constexpr double kNotMentioned = -3;
constexpr double kPredicate = 3;
constexpr double kNeighbours = 5;
constexpr double kUnusual = -10;
constexpr double kHoldsAlready = -3;
const double kLikely = std::log(0.999);
const double kUnlikely = std::log(0.001);

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "block_7", "block7" and "block 7" are two words each.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  bool open = false;
  char last = ' ';
  for (const char c : internal::lower_case(text)) {
    const bool letter = is_letter(c);
    const bool digit = is_digit(c);
    if (letter || digit) {
      if (!open || is_digit(last) != digit) out.emplace_back();
      out.back() += c;
    }
    open = letter || digit;
    last = c;
  }
  return out;
}

// "lock" and "locked", "load" and "loaded", "inside" and "in" not.
bool alike(std::string_view a, std::string_view b) {
  constexpr std::size_t kStem = 4;
  if (a == b) return true;
  if (a.size() < kStem || b.size() < kStem) return false;
  const std::size_t shorter = std::min(a.size(), b.size());
  return a.substr(0, shorter) == b.substr(0, shorter) && std::max(a.size(), b.size()) - shorter <= 3;
}

bool says_any(const std::vector<std::string>& words, std::initializer_list<std::string_view> any) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return std::find(any.begin(), any.end(), word) != any.end(); });
}

// Whether the instruction has a word for what a condition of this kind says.
bool has_word_for(ItemSet::Kind kind, const std::vector<std::string>& words) {
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
      return says_any(words, {"least", "two", "three", "four", "2", "3", "4"});
    case ItemSet::Kind::kEither:
      return says_any(words, {"or", "either"});
    case ItemSet::Kind::kAlways:
      return says_any(words, {"always", "never", "throughout", "avoid", "keep"});
    case ItemSet::Kind::kSometime:
      return says_any(words, {"sometime", "visit", "once", "via"});
    case ItemSet::Kind::kBefore:
      return says_any(words, {"before", "after", "first"});
  }
  return false;
}

}  // namespace

Mentions::Mentions(std::string_view instruction, const ItemSet& items) : words_(words_of(instruction)), items_(items) {
  find_objects(items);
  for (std::uint32_t shape = 0; shape < items.num_shapes(); ++shape) {
    double weight = has_word_for(items.kind(shape), words_) ? 0 : kUnusual;
    if (says(items.predicates(shape))) {
      weight += kPredicate;
      // "at" and "on" are in every other sentence.
      if (items.kind(shape) == ItemSet::Kind::kFact && items.predicates(shape).size() > 2) {
        predicates_.push_back(items.predicates(shape));
      }
    }
    if (!items.quantified(shape).empty()) weight += says(items.quantified(shape)) ? kMentioned : kNotMentioned;
    // Between two kinds that both have a word, the one that says more.
    if (items.kind(shape) != ItemSet::Kind::kFact && weight >= 0) weight += 1;
    shape_weights_.push_back(weight);
  }
}

bool Mentions::says(std::string_view name) const {
  const std::vector<std::string> parts = words_of(name);
  return std::any_of(parts.begin(), parts.end(), [this](const std::string& part) {
    return std::any_of(words_.begin(), words_.end(), [&](const std::string& word) { return alike(part, word); });
  });
}

void Mentions::find_objects(const ItemSet& items) {
  const std::vector<std::string>& names = items.objects();
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
  for (const auto& [place, object] : by_place) mentioned_.push_back(object);
}

// Two arguments that are mentioned one after the other, in this order or, half as much, the other way round.
double Mentions::neighbours(const std::vector<ObjectId>& objects) const {
  double best = 0;
  for (std::size_t i = 0; i + 1 < mentioned_.size(); ++i) {
    for (std::size_t k = 0; k + 1 < objects.size(); ++k) {
      if (mentioned_[i] == objects[k] && mentioned_[i + 1] == objects[k + 1]) best = kNeighbours;
      if (mentioned_[i + 1] == objects[k] && mentioned_[i] == objects[k + 1]) best = std::max(best, kNeighbours / 2);
    }
  }
  return best;
}

Mentions::Weight Mentions::weight(std::span<const ActionId> before, ActionId item) const {
  const ItemSet::Item& what = items_.item(item);
  Weight out;
  out.item = shape_weights_[what.shape] + (what.holds_already ? kHoldsAlready : 0);
  std::vector<ObjectId> covered;
  for (const ActionId other : before) {
    const std::vector<ObjectId>& objects = items_.item(other).objects;
    covered.insert(covered.end(), objects.begin(), objects.end());
  }
  const auto is_mentioned = [this](ObjectId object) {
    return std::find(mentioned_.begin(), mentioned_.end(), object) != mentioned_.end();
  };
  for (std::size_t i = 0; i < what.objects.size(); ++i) {
    const ObjectId object = what.objects[i];
    const auto here = what.objects.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(what.objects.begin(), here, object) != here) continue;
    const bool new_one = std::find(covered.begin(), covered.end(), object) == covered.end();
    out.item += is_mentioned(object) ? (new_one ? kMentioned : 0) : (mentioned_.empty() ? 0 : kNotMentioned);
  }
  out.item += neighbours(what.objects);
  covered.insert(covered.end(), what.objects.begin(), what.objects.end());
  const auto is_about = [&](const std::string& predicate) {
    const auto has = [&](ActionId one) {
      return items_.predicates(items_.item(one).shape).find(predicate) != std::string::npos;
    };
    return has(item) || std::any_of(before.begin(), before.end(), has);
  };
  const bool objects = std::all_of(mentioned_.begin(), mentioned_.end(), [&](ObjectId object) {
    return std::find(covered.begin(), covered.end(), object) != covered.end();
  });
  const bool all = objects && std::all_of(predicates_.begin(), predicates_.end(), is_about);
  out.end = all ? kLikely : kUnlikely;
  out.go_on = all ? kUnlikely : kLikely;
  return out;
}

}  // namespace metactrl::goals
