// Where a plan's text is cut between entries.
//
// Between two items stands a separator; before the first, the opening. With the bytes that all items begin with
// (`common`), that is a stretch of text that does not depend on the actions around it:
//
//     {"WALK": ["soap"], "GRAB": ["soap"]}        stretch `, "` with the opening's `{"`
//     (open cup)\n(grab cup)\n                    stretch `\n(` with the opening's `(`
//
// Some plans are encoded, and the places inside the stretch at which every one of them has a border between two tokens
// are the candidates. What is left of a stretch behind its cut begins the next entry; all entries that begin alike are
// one group, so cuts that leave the same rest everywhere come first, and among those the latest, which leave the
// shortest.
//
// A number ("3. ") is a part of its own: one cut between the item before it and the number, one behind it.
//
// Candidates are a guess from samples. The compiler verifies the one it uses (automaton.cc) and comes back for the
// next.
#include <algorithm>
#include <string>
#include <utility>

#include "metactrl/error.h"
#include "support/str_cat.h"
#include "text/automaton.h"

namespace metactrl::text {

using internal::str_cat;

std::string_view tail_of(std::string_view text, std::size_t size) {
  if (text.size() <= size) return text;
  std::size_t begin = text.size() - size;
  while (begin > 0 && !is_character_border(text, begin)) --begin;
  return text.substr(begin);
}

std::vector<TokenId> encode_exactly(const Vocabulary& vocabulary, std::string_view text, std::string_view context,
                                    const std::string& what) {
  const std::string hint = "choose a format or names that the vocabulary can spell";
  std::vector<TokenId> tokens;
  try {
    tokens = vocabulary.encode(text, context);
  } catch (const InputError& error) {
    const std::vector<Diagnostic>& items = error.diagnostics().items();
    throw InputError(
        "", str_cat(what, " cannot be written in this vocabulary: ", items.empty() ? "" : items[0].message), hint);
  }
  std::size_t at = 0;
  for (const TokenId token : tokens) {
    const std::string_view bytes = vocabulary.bytes(token);
    if (bytes.empty() || text.substr(at, bytes.size()) != bytes) {
      at = 0;
      break;
    }
    at += bytes.size();
  }
  if (at != text.size())
    throw InputError("", str_cat(what, " cannot be written in this vocabulary: \"", text, '"'), hint);
  return tokens;
}

namespace {

constexpr std::size_t kContextBytes = 64;
constexpr std::size_t kMaxCommon = 64;
constexpr std::size_t kSamples = 6;
constexpr std::size_t kMaxCandidates = 24;

// A stretch of text between items, and at which of its offsets every sample has a border between tokens.
struct Gap {
  std::string text;
  std::vector<bool> possible;

  explicit Gap(std::string stretch) : text(std::move(stretch)), possible(text.size() + 1) {
    for (std::size_t at = 0; at <= text.size(); ++at) possible[at] = is_character_border(text, at);
  }
  void meet(const std::vector<bool>& borders, std::size_t begin) {
    for (std::size_t at = 0; at < possible.size(); ++at) possible[at] = possible[at] && borders[begin + at];
  }
  bool has_rest(const std::string& rest) const {
    return rest.size() <= text.size() && text.ends_with(rest) && possible[text.size() - rest.size()];
  }
  std::string before(const std::string& rest) const { return text.substr(0, text.size() - rest.size()); }
};

std::size_t common_length(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.begin() + std::min(a.size(), b.size()), b.begin()).first -
                                  a.begin());
}

class SeamFinder {
 public:
  SeamFinder(const PlanSpelling& spelling, const Vocabulary& vocabulary, const AutomatonOptions& options);
  std::vector<Seams> find();

 private:
  void encode_sample(std::span<const ActionId> plan, std::uint32_t separator);
  ActionId sample_action(std::size_t number) const;
  // All texts that may be left behind the cut in these gaps, those common to most gaps first, then the shortest.
  static std::vector<std::string> rests(const std::vector<const Gap*>& gaps);
  // For each gap the first of `rests`, from `start` on, that it may leave; empty when some gap may leave none.
  static std::vector<std::string> choose(const std::vector<const Gap*>& gaps, const std::vector<std::string>& rests,
                                         std::size_t start);
  void add_plain(std::vector<Seams>* out) const;
  void add_numbered(std::vector<Seams>* out) const;
  void add(Seams seams, std::vector<Seams>* out) const;
  Seams start_seams(const std::vector<std::string>& beginnings) const;

  const PlanSpelling& spelling_;
  const Vocabulary& vocabulary_;
  const AutomatonOptions& options_;
  const std::vector<std::string>& separators_;
  std::size_t common_ = 0;
  bool numbered_ = false;
  std::string before_number_;  // of the prefix
  std::string behind_number_;
  std::vector<Gap> gaps_;     // by separator: up to the number, or up to the item
  std::vector<Gap> number_;   // one in numbered formats: behind the number
  std::vector<Gap> opening_;  // one
};

SeamFinder::SeamFinder(const PlanSpelling& spelling, const Vocabulary& vocabulary, const AutomatonOptions& options)
    : spelling_(spelling), vocabulary_(vocabulary), options_(options), separators_(spelling.format().separators) {
  const std::string& first = spelling.action(ActionId{0}).pieces[0];
  common_ = std::min(first.size(), kMaxCommon);
  for (std::size_t a = 1; a < spelling.num_actions() && common_ > 0; ++a) {
    common_ =
        std::min(common_, common_length(first, spelling.action(ActionId{static_cast<std::uint32_t>(a)}).pieces[0]));
  }
  while (common_ > 0 && !is_character_border(first, common_)) --common_;
  const std::string shared = first.substr(0, common_);

  const std::string one = spelling.prefix(1);
  const std::string two = spelling.prefix(2);
  numbered_ = one != two;
  if (numbered_) {
    const std::size_t left = common_length(one, two);
    before_number_ = one.substr(0, left);
    const std::string one_back(one.rbegin(), one.rend() - static_cast<std::ptrdiff_t>(left));
    const std::string two_back(two.rbegin(), two.rend() - static_cast<std::ptrdiff_t>(std::min(left, two.size())));
    behind_number_ = one.substr(one.size() - common_length(one_back, two_back));
    number_.emplace_back(behind_number_ + shared);
  }
  const std::string before_first = one + shared;
  for (const std::string& separator : separators_) {
    gaps_.emplace_back(separator + (numbered_ ? before_number_ : before_first));
  }
  opening_.emplace_back(spelling.format().open + before_first);
}

ActionId SeamFinder::sample_action(std::size_t number) const {
  // Steps of an odd fraction of the whole, so that names and arguments both vary.
  const std::size_t count = spelling_.num_actions();
  return ActionId{static_cast<std::uint32_t>((number * (count * 5 / 13 + 1)) % count)};
}

void SeamFinder::encode_sample(std::span<const ActionId> plan, std::uint32_t separator) {
  std::string text = spelling_.format().open;
  std::vector<std::size_t> begins;
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (i > 0) text += separators_[separator];
    text += spelling_.prefix(i + 1);
    begins.push_back(text.size());
    text += spelling_.action(plan[i]).text();
    ends.push_back(text.size());
  }
  text += spelling_.format().close;

  const std::string_view context = tail_of(options_.context, kContextBytes);
  const std::vector<TokenId> tokens = encode_exactly(vocabulary_, text, context, "a plan");
  std::vector<bool> borders(text.size() + 1);
  std::size_t at = 0;
  borders[0] = true;
  for (const TokenId token : tokens) borders[at += vocabulary_.bytes(token).size()] = true;

  opening_[0].meet(borders, 0);
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (numbered_) number_[0].meet(borders, begins[i] - behind_number_.size());
    if (i > 0) gaps_[separator].meet(borders, ends[i - 1]);
  }
}

std::vector<std::string> SeamFinder::rests(const std::vector<const Gap*>& gaps) {
  std::map<std::string, std::size_t> counts;
  for (const Gap* gap : gaps) {
    for (std::size_t at = 0; at <= gap->text.size(); ++at) {
      if (gap->possible[at]) ++counts[gap->text.substr(at)];
    }
  }
  std::vector<std::string> out;
  for (const auto& [rest, count] : counts) out.push_back(rest);
  std::stable_sort(out.begin(), out.end(), [&](const std::string& a, const std::string& b) {
    return std::pair(counts.at(b), a.size()) < std::pair(counts.at(a), b.size());
  });
  return out;
}

std::vector<std::string> SeamFinder::choose(const std::vector<const Gap*>& gaps, const std::vector<std::string>& rests,
                                            std::size_t start) {
  std::vector<std::string> out;
  for (const Gap* gap : gaps) {
    const auto found = std::find_if(rests.begin() + static_cast<std::ptrdiff_t>(start), rests.end(),
                                    [&](const std::string& rest) { return gap->has_rest(rest); });
    if (found == rests.end()) return {};
    out.push_back(*found);
  }
  return out;
}

// `beginnings` by separator, then the first entry's.
Seams SeamFinder::start_seams(const std::vector<std::string>& beginnings) const {
  Seams seams;
  seams.common = common_;
  for (std::size_t i = 0; i < beginnings.size(); ++i) {
    const auto found = std::find(seams.beginnings.begin(), seams.beginnings.end(), beginnings[i]);
    const auto group = static_cast<std::uint32_t>(found - seams.beginnings.begin());
    if (found == seams.beginnings.end()) seams.beginnings.push_back(beginnings[i]);
    if (i < separators_.size()) {
      seams.group_after.push_back(group);
    } else {
      seams.first_group = group;
    }
  }
  seams.opening = opening_[0].before(beginnings.back());
  return seams;
}

void SeamFinder::add_plain(std::vector<Seams>* out) const {
  std::vector<const Gap*> gaps;
  for (const Gap& gap : gaps_) gaps.push_back(&gap);
  gaps.push_back(&opening_[0]);
  const std::vector<std::string> all = rests(gaps);
  for (std::size_t start = 0; start < all.size(); ++start) {
    const std::vector<std::string> chosen = choose(gaps, all, start);
    if (chosen.empty()) return;
    Seams seams = start_seams(chosen);
    for (std::size_t s = 0; s < separators_.size(); ++s) seams.endings.push_back(gaps_[s].before(chosen[s]));
    add(std::move(seams), out);
  }
}

void SeamFinder::add_numbered(std::vector<Seams>* out) const {
  // What is left of the separator stands before the number, whichever separator it was.
  std::vector<const Gap*> gaps;
  for (const Gap& gap : gaps_) gaps.push_back(&gap);
  const std::vector<const Gap*> behind = {&number_[0], &opening_[0]};
  const std::vector<std::string> all_behind = rests(behind);
  for (const std::string& left : rests(gaps)) {
    if (!std::all_of(gaps.begin(), gaps.end(), [&](const Gap* gap) { return gap->has_rest(left); })) continue;
    for (std::size_t start = 0; start < all_behind.size(); ++start) {
      const std::vector<std::string> chosen = choose(behind, all_behind, start);
      if (chosen.empty()) break;
      std::vector<std::string> beginnings(separators_.size(), chosen[0]);
      beginnings.push_back(chosen[1]);
      Seams seams = start_seams(beginnings);
      for (const Gap& gap : gaps_) seams.endings.push_back(gap.before(left));
      for (std::size_t index = 2; index <= std::max(2U, options_.max_actions); ++index) {
        std::string part = left + spelling_.prefix(index).substr(before_number_.size()) +
                           number_[0].text.substr(behind_number_.size());
        part.resize(part.size() - chosen[0].size());
        seams.prefixes.push_back(std::move(part));
      }
      add(std::move(seams), out);
    }
  }
}

void SeamFinder::add(Seams seams, std::vector<Seams>* out) const {
  const std::string& close = spelling_.format().close;
  for (std::size_t s = 0; s < seams.endings.size(); ++s) {
    // Then a reader would know the action's end too early.
    if (close.starts_with(seams.endings[s])) return;
    for (std::size_t t = 0; t < seams.endings.size(); ++t) {
      if (s != t && seams.endings[t].starts_with(seams.endings[s])) return;
    }
  }
  seams.endings.push_back(close);
  if (out->size() < kMaxCandidates) out->push_back(std::move(seams));
}

std::vector<Seams> SeamFinder::find() {
  std::size_t number = 0;
  for (std::uint32_t separator = 0; separator < separators_.size(); ++separator) {
    for (std::size_t i = 0; i < kSamples; ++i) {
      // One plan that reaches numbers of two digits.
      const std::size_t length = numbered_ && i == 0 ? std::clamp(options_.max_actions, 2U, 12U) : 3;
      std::vector<ActionId> plan;
      while (plan.size() < length) plan.push_back(sample_action(number++));
      encode_sample(plan, separator);
    }
  }
  std::vector<Seams> out;
  if (numbered_) {
    add_numbered(&out);
  } else {
    add_plain(&out);
  }
  return out;
}

}  // namespace

std::vector<Seams> find_seams(const PlanSpelling& spelling, const Vocabulary& vocabulary,
                              const AutomatonOptions& options) {
  return SeamFinder(spelling, vocabulary, options).find();
}

}  // namespace metactrl::text
