#include "goals/phrases.h"

#include <algorithm>
#include <array>

#include "goals/words.h"
#include "support/lower_case.h"
#include "support/str_cat.h"
#include "support/words.h"

namespace metactrl::goals {

namespace {

constexpr std::array<std::array<std::string_view, 2>, 3> kDirections = {
    {{"into", "in"}, {"into", "inside"}, {"onto", "on"}}};

constexpr std::array<std::string_view, 11> kNumbers = {"zero", "one",   "two",   "three", "four", "five",
                                                       "six",  "seven", "eight", "nine",  "ten"};

constexpr std::array<std::string_view, 15> kBeyondGoals = {
    "except",    "excluding", "unless",     "instead", "rather than", "other than",     "apart from", "aside from",
    "less than", "more than", "fewer than", "at most", "exactly",     "everything but", "all but"};

}  // namespace

bool alike(std::string_view a, std::string_view b) {
  constexpr std::size_t kStem = 4;
  if (a == b) return true;
  for (const auto& [where_to, where] : kDirections) {
    if ((a == where_to && b == where) || (a == where && b == where_to)) return true;
  }
  if (a.empty() || b.empty() || a[0] != b[0]) return false;
  const std::size_t shorter = std::min(a.size(), b.size());
  if (shorter >= kStem && a.substr(0, shorter) == b.substr(0, shorter) && std::max(a.size(), b.size()) - shorter <= 3)
    return true;
  const std::vector<std::string> forms = bases(std::string(a));
  const std::vector<std::string> others = bases(std::string(b));
  return std::find_first_of(forms.begin(), forms.end(), others.begin(), others.end()) != forms.end();
}

bool says_any(const std::vector<std::string>& words, std::initializer_list<std::string_view> any) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return std::find(any.begin(), any.end(), word) != any.end(); });
}

bool denies(const std::vector<std::string>& words) {
  return says_any(words, {"never", "not", "no", "t", "cannot", "avoid"});
}

bool says_not(const std::vector<std::string>& words, std::size_t place) {
  const std::string next = place + 1 < words.size() ? words[place + 1] : "";
  if (words[place] == "no") return next == "longer";
  return says_any({words[place]}, {"not", "t", "cannot", "neither", "nor", "never", "avoid"}) &&
         !says_any({next}, {"forget", "mind", "fail", "hesitate", "only", "just", "less", "fewer", "you"});
}

bool is_modal(const std::string& word) {
  return says_any({word}, {"must", "mustn", "should", "shouldn", "shall", "may",    "is",   "isn",   "are",  "aren",
                           "has",  "have",  "will",   "won",     "can",   "cannot", "need", "needs", "does", "doesn"});
}

bool tells_what_to_do(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return is_modal(word) || !is_ordinary(word) ||
           says_any({word}, {"bring", "take", "get", "put", "move", "go", "send", "give", "keep", "leave", "set",
                             "place", "pick", "drop", "deliver", "return", "remove"});
  });
}

bool begins_aside(const std::string& word) {
  return says_any({word}, {"if", "which", "who", "when", "while", "where", "because", "although", "unless"});
}

bool forbids_something(const std::vector<std::string>& words) { return denies(words) || says_any(words, {"only"}); }

bool says_pronoun(const std::vector<std::string>& words) { return says_any(words, {"everything", "nothing"}); }

bool says_verb(const std::vector<std::string>& words, std::string_view verb) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (alike(verb, words[i])) return true;
    if (!verb.starts_with(words[i])) continue;
    const auto behind = words.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    if (std::find(behind, words.end(), verb.substr(words[i].size())) != words.end()) return true;
  }
  return false;
}

std::string beyond_goals(const std::vector<std::string>& words) {
  const std::string all = internal::str_cat(" ", internal::join(words, " "), " ");
  for (const std::string_view phrase : kBeyondGoals) {
    const std::size_t place = all.find(internal::str_cat(" ", phrase, " "));
    if (place == std::string::npos) continue;
    // "No fewer than two" are at least two.
    const std::string before = all.substr(0, place);
    const bool at_least = phrase == "less than" || phrase == "fewer than";
    if (!at_least || !(before.ends_with(" no") || before.ends_with(" not"))) return std::string(phrase);
  }
  return {};
}

bool is_preposition(std::string_view word) {
  constexpr std::string_view kAll = " at by from in into of on onto to up ";
  return kAll.find(internal::str_cat(" ", word, " ")) != std::string_view::npos;
}

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
      return says_any(words, {"some", "any", "somewhere", "something", "either"});
    case ItemSet::Kind::kAtLeast:
      return says_any(words, {kNumbers.at(count), std::to_string(count)});
    case ItemSet::Kind::kEither:
      return says_any(words, {"or", "either"});
    case ItemSet::Kind::kAlways:
      return says_any(words, {"always", "never", "throughout", "avoid", "keep", "ever", "without"});
    case ItemSet::Kind::kSometime:
      return says_any(words, {"sometime", "visit", "once", "via", "point", "time", "way"});
    case ItemSet::Kind::kBefore:
      return says_any(words, {"before", "after", "first", "until"});
  }
  return false;
}

bool is_count(const std::string& word) {
  return std::find(kNumbers.begin() + 2, kNumbers.end(), word) != kNumbers.end() ||
         (!word.empty() && internal::is_digit(word[0]));
}

}  // namespace metactrl::goals
