#include "goals/phrases.h"

#include <algorithm>
#include <array>
#include <optional>

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

constexpr std::array<std::string_view, 13> kBeyondGoals = {
    "where it was", "where they were", "as it was",  "except",     "excluding",      "unless", "instead",
    "rather than",  "other than",      "apart from", "aside from", "everything but", "all but"};

// What stands before a number, and how much more than the number is meant.
struct BoundWords {
  std::string_view said;
  Bound::Kind kind = Bound::Kind::kLeast;
  int more = 0;
};
// Longer ones first.
constexpr std::array<BoundWords, 20> kBounds = {{
    {"no more than", Bound::Kind::kMost, 0},   {"not more than", Bound::Kind::kMost, 0},
    {"no fewer than", Bound::Kind::kLeast, 0}, {"not fewer than", Bound::Kind::kLeast, 0},
    {"no less than", Bound::Kind::kLeast, 0},  {"not less than", Bound::Kind::kLeast, 0},
    {"more than", Bound::Kind::kLeast, 1},     {"fewer than", Bound::Kind::kMost, -1},
    {"less than", Bound::Kind::kMost, -1},     {"a maximum of", Bound::Kind::kMost, 0},
    {"maximum of", Bound::Kind::kMost, 0},     {"a minimum of", Bound::Kind::kLeast, 0},
    {"minimum of", Bound::Kind::kLeast, 0},    {"at most", Bound::Kind::kMost, 0},
    {"up to", Bound::Kind::kMost, 0},          {"at least", Bound::Kind::kLeast, 0},
    {"exactly", Bound::Kind::kExactly, 0},     {"precisely", Bound::Kind::kExactly, 0},
    {"only", Bound::Kind::kExactly, 0},        {"just", Bound::Kind::kExactly, 0},
}};

// The number that a word is; nothing where it is none, or more than anybody counts.
std::optional<int> number_of(const std::string& word) {
  for (std::size_t i = 0; i < kNumbers.size(); ++i) {
    if (word == kNumbers[i] || word == std::to_string(i)) return static_cast<int>(i);
  }
  return std::nullopt;
}

// Does this phrase end before a word?
bool ends_before(const std::vector<std::string>& words, std::size_t place, std::string_view phrase) {
  const std::vector<std::string> said = words_of(phrase);
  return said.size() <= place &&
         std::equal(said.begin(), said.end(), words.begin() + static_cast<std::ptrdiff_t>(place - said.size()));
}

// "At no time", "all the time"; "at any time" where it is denied.
bool says_of_all_times(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != "time" && words[i] != "times") continue;
    const std::size_t of = i > 1 && words[i - 1] == "the" ? i - 2 : i - 1;
    if (i > 0 && (says_any({words[of]}, {"no", "all"}) || (words[of] == "any" && denies(words)))) return true;
  }
  return false;
}

// "No more than two" denies nothing.
std::vector<std::string> without_bounds(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const std::string& word : words) {
    out.push_back(word);
    const auto denied = std::find_if(kBounds.begin(), kBounds.end(), [&](const BoundWords& one) {
      return one.said.starts_with("no") && ends_before(out, out.size(), one.said);
    });
    if (denied != kBounds.end()) out.resize(out.size() - words_of(denied->said).size());
  }
  return out;
}

}  // namespace

// "Two", "at least two", "two or more"; "one" alone is somebody.
std::vector<Bound> bounds_in(const std::vector<std::string>& words) {
  std::vector<Bound> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::optional<int> number = number_of(words[i]);
    const bool ordinal = i + 1 < words.size() && says_any({words[i + 1]}, {"st", "nd", "rd", "th"});
    if (!number || ordinal) continue;
    Bound bound{Bound::Kind::kLeast, *number, words[i], false};
    for (const BoundWords& one : kBounds) {
      if (!ends_before(words, i, one.said)) continue;
      bound = {one.kind, *number + one.more, internal::str_cat(one.said, ' ', words[i]), true};
      break;
    }
    const auto follows = [&](std::string_view phrase) {
      const std::size_t end = i + 1 + words_of(phrase).size();
      return end <= words.size() && ends_before(words, end, phrase);
    };
    if (follows("or fewer") || follows("or less") || follows("at most")) {
      bound = {Bound::Kind::kMost, *number, internal::str_cat(words[i], ' ', words[i + 1], ' ', words[i + 2]), true};
    }
    if (bound.said_so || *number > 1) out.push_back(std::move(bound));
  }
  return out;
}

bool says_limit(const std::vector<std::string>& words) {
  const std::vector<Bound> all = bounds_in(words);
  return std::any_of(all.begin(), all.end(), [](const Bound& one) { return one.kind != Bound::Kind::kLeast; });
}

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
  return says_any(without_bounds(words), {"never", "not", "no", "t", "cannot", "avoid"});
}

bool says_not(const std::vector<std::string>& words, std::size_t place) {
  const std::string next = place + 1 < words.size() ? words[place + 1] : "";
  if (words[place] == "no") return next == "longer" || next == "time";
  return says_any({words[place]}, {"not", "t", "cannot", "neither", "nor", "never", "avoid"}) &&
         !says_any({next}, {"forget", "mind", "fail", "hesitate", "only", "just", "less", "fewer", "more", "you"});
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

bool tells_of_taking(const std::vector<std::string>& words) {
  return says_any(words, {"take", "takes", "taken", "get", "gets", "come", "comes", "remove", "lift"});
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
    if (all.find(internal::str_cat(" ", phrase, " ")) != std::string::npos) return std::string(phrase);
  }
  // A number that is too large, or none: "at most half of them".
  constexpr std::array<std::string_view, 6> kOfNumbers = {"at most",   "exactly",   "precisely",
                                                          "less than", "more than", "fewer than"};
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const std::string_view phrase : kOfNumbers) {
      if (!ends_before(words, i + 1, phrase)) continue;
      const bool counts = i + 1 < words.size() && number_of(words[i + 1]);
      const bool behind = phrase == "at most" && i >= 2 && number_of(words[i - 2]);
      if (!counts && !behind) return std::string(phrase);
    }
  }
  return {};
}

std::string unsaid_in(std::string_view goal, const std::vector<std::string>& words) {
  const auto has = [&](std::string_view text) { return goal.find(text) != std::string_view::npos; };
  for (const Bound& bound : bounds_in(words)) {
    // All are at least so many, and none are at most none.
    const bool least = has("(forn ") || has("(forall ") || (bound.number == 1 && has("(exists "));
    const bool most = has("(not (forn ") || has("(not (exists ") || (bound.number == 0 && has("(forall "));
    if (bound.said_so && !(bound.kind == Bound::Kind::kLeast ? least : most)) return bound.said;
  }
  if (has("(or ") || has("(exists ") || has("(forn ")) return {};
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != "or" || i == 0) continue;
    if (i + 1 < words.size() && says_any({words[i + 1]}, {"more", "fewer", "less", "so", "not"})) continue;
    // "Never enter the lab or the ward" says both.
    std::size_t begin = i;
    while (begin > 0 && !says_any({words[begin - 1]}, {"and", "then", "but"})) --begin;
    const std::vector<std::string> before(words.begin() + static_cast<std::ptrdiff_t>(begin),
                                          words.begin() + static_cast<std::ptrdiff_t>(i));
    if (!denies(before) && !says_any(before, {"without", "neither", "nor", "none", "nothing", "if", "whether"}))
      return "or";
  }
  return {};
}

std::string looking_back(const std::vector<std::string>& words) {
  for (const std::string_view word : {"before", "after", "until", "sometime"}) {
    if (says_any(words, {word})) return std::string(word);
  }
  return {};
}

bool is_preposition(std::string_view word) {
  constexpr std::string_view kAll = " at by from in into of on onto to up ";
  return kAll.find(internal::str_cat(" ", word, " ")) != std::string_view::npos;
}

bool has_word_for(ItemSet::Kind kind, std::uint32_t count, const std::vector<std::string>& words) {
  const auto says_bound = [&](Bound::Kind bound) {
    const std::vector<Bound> all = bounds_in(words);
    return std::any_of(all.begin(), all.end(),
                       [&](const Bound& one) { return one.kind == bound && one.number == static_cast<int>(count); });
  };
  switch (kind) {
    case ItemSet::Kind::kFact:
      return true;
    case ItemSet::Kind::kNot:
      return says_any(without_bounds(words), {"not", "no", "t", "without", "un"});
    case ItemSet::Kind::kAll:
      return says_any(words, {"all", "every", "each", "everything", "both"});
    case ItemSet::Kind::kNone:
      return says_any(without_bounds(words), {"no", "none", "nothing", "any", "without"});
    case ItemSet::Kind::kSome:
      return says_any(words, {"some", "any", "somewhere", "something", "either"});
    case ItemSet::Kind::kAtLeast:
      return says_bound(Bound::Kind::kLeast);
    case ItemSet::Kind::kAtMost:
      return says_bound(Bound::Kind::kMost);
    case ItemSet::Kind::kExactly:
      return says_bound(Bound::Kind::kExactly);
    case ItemSet::Kind::kEither:
      return says_any(words, {"or", "either"});
    case ItemSet::Kind::kAlways:
      return says_any(words, {"always", "never", "throughout", "avoid", "keep", "ever", "without"}) ||
             says_of_all_times(words);
    case ItemSet::Kind::kSometime:
      return says_any(words, {"sometime", "visit", "once", "via", "point", "way"}) ||
             (says_any(words, {"time"}) && !says_of_all_times(words));
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
