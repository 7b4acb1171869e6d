// A beam over tokens, of goals that are judged late.
//
// Between two items every item may be written that is not known to be bad behind those before it. Inside an item the tokens
// that may come are those with which some such item goes on. An item is judged when its last token is there: a judgement is
// a search, and there are thousands of items, of which the model means few. What is found to be bad is left out from then
// on, and the writing begins again, until a round goes by without a refusal. Rounds cost little: what the model said about
// a beginning of the text is remembered.
//
// With a width of one, and where nothing is weighed, that writes the very text that would be written if every item were judged beforehand. Let A be the
// good items, and A' those offered in the last round, of which A is a part. The item written is in A, or it would have been
// refused. Each of its tokens was the likeliest of those with which items of A' go on; it is one with which an item of A
// goes on; and those are among them: so it is the likeliest of these, too.
//
// Nothing is a dead end. A goal may end behind every item; where an item was to follow and none may, the goal ends before
// it: then the separator would not have been offered.
#include "goals/writer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "decode/choose.h"

namespace metactrl::goals {

namespace {

constexpr std::uint32_t kClose = TokenAutomaton::kClose;
// After so many rounds what was known to be impossible before is no longer offered: it was so far, to be told.
constexpr std::size_t kLenientRounds = 32;
// What a weight takes from a token at most, and what a model that knows better cannot be talked into.
constexpr double kLowestWeight = -30;
constexpr double kLowestModel = -1000;

std::vector<ActionId> sorted(Conjunction items) {
  std::sort(items.begin(), items.end());
  return items;
}

}  // namespace

std::vector<Writer::Hypothesis> Writer::run() {
  for (std::size_t i = 0; i < options_.max_rounds && round(); ++i) strict_ = i + 1 >= kLenientRounds;
  std::vector<Hypothesis> out;
  for (auto& [items, hypothesis] : found_) out.push_back(std::move(hypothesis));
  // Rounds or proofs may end before the model does: what was good so far is a goal.
  if (out.empty() && !good_so_far_.empty()) out.push_back({good_so_far_, 0});
  std::stable_sort(out.begin(), out.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.log_probability > b.log_probability; });
  if (out.size() > options_.width) out.resize(options_.width);
  return out;
}

// True when something was refused: another round may find something likelier.
bool Writer::round() {
  found_.clear();
  refused_now_ = false;
  const std::span<const TokenId> opening = automaton_.opening();
  Place begin;
  begin.tokens.assign(opening.begin(), opening.end());
  std::vector<Place> places;
  if (std::optional<Place> first = open({}, automaton_.first_group(), begin)) places.push_back(std::move(*first));
  // Where one item alone may be written, the goal is complete before the model is asked.
  places = keep_best(std::move(places));
  while (!places.empty()) {
    if (stop_ && stop_()) throw Stopped(Stopped::kCancelled);
    std::vector<Place> next;
    for (const Place& place : places) expand(place, next);
    places = keep_best(std::move(next));
  }
  return refused_now_;
}

// Complete goals are put aside. The others go on as long as they may become likelier than what was put aside.
std::vector<Writer::Place> Writer::keep_best(std::vector<Place> places) {
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.log_probability > b.log_probability; });
  std::vector<Place> kept;
  for (Place& place : places) {
    if (kept.size() >= options_.width) break;
    if (found_.size() >= options_.width) {
      std::vector<double> known;
      for (const auto& [items, hypothesis] : found_) known.push_back(hypothesis.log_probability);
      std::sort(known.rbegin(), known.rend());
      if (place.log_probability <= known[options_.width - 1]) break;
    }
    const bool likeliest = kept.empty() && is_likeliest(place);
    if (!settle(place, likeliest)) continue;
    if (place.done) {
      keep(place);
    } else {
      kept.push_back(std::move(place));
    }
  }
  return kept;
}

// No goal that was put aside is likelier.
bool Writer::is_likeliest(const Place& place) const {
  return std::none_of(found_.begin(), found_.end(),
                      [&](const auto& one) { return one.second.log_probability > place.log_probability; });
}

void Writer::keep(const Place& place) {
  const auto [known, is_new] = found_.try_emplace(
      sorted(place.items), Hypothesis{place.items, place.log_probability, place.tokens.size(), place.choices});
  if (is_new) return;
  // The same in another order: both are ways to say it.
  double& log_probability = known->second.log_probability;
  const double high = std::max(log_probability, place.log_probability);
  const double low = std::min(log_probability, place.log_probability);
  log_probability = high + std::log1p(std::exp(low - high));
}

void Writer::expand(const Place& place, std::vector<Place>& out) {
  const std::vector<Branch> all = branches(place);
  const std::vector<double>& scores = log_probabilities(place, all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    Place next = place;
    next.begin = all[i].begin;
    next.end = all[i].end;
    ++next.depth;
    next.tokens.push_back(all[i].token);
    next.log_probability += scores[i];
    ++next.choices;
    out.push_back(std::move(next));
  }
}

// Where the next item begins; nothing when there is none.
std::optional<Writer::Place> Writer::open(Conjunction items, std::uint32_t group, const Place& before) {
  const auto live = std::make_shared<std::vector<std::uint32_t>>();
  const bool last = items.size() + 1 >= options_.max_items;
  const std::vector<ActionId> offered = options_.offer ? options_.offer(items) : std::vector<ActionId>();
  const auto is_offered = [&](ActionId item) {
    return !options_.offer || std::binary_search(offered.begin(), offered.end(), item);
  };
  const auto [begin, end] = automaton_.group(group);
  for (std::uint32_t rank = begin; rank < end; ++rank) {
    const TokenAutomaton::Entry& entry = automaton_.entry(rank);
    if (last && entry.next != kClose) continue;
    if (is_offered(entry.action) && may_join(items, entry.action)) live->push_back(rank);
  }
  if (live->empty()) return std::nullopt;
  Place place;
  place.end = live->size();
  place.mass = weigh(items, *live);
  place.items = std::move(items);
  place.live = live;
  place.tokens = before.tokens;
  place.log_probability = before.log_probability;
  place.choices = before.choices;
  return place;
}

// Takes what has no alternative, and judges what is complete. False: there is no way on.
bool Writer::settle(Place& place, bool likeliest) {
  while (!place.done) {
    const std::span<const TokenId> tokens = automaton_.tokens((*place.live)[place.begin]);
    if (place.depth == tokens.size()) {
      if (!finish_entry(place, likeliest)) return false;
      continue;
    }
    const std::vector<Branch> all = branches(place);
    if (all.size() > 1) return true;
    place.tokens.push_back(all[0].token);
    ++place.depth;
  }
  return true;
}

bool Writer::finish_entry(Place& place, bool likeliest) {
  const TokenAutomaton::Entry entry = automaton_.entry((*place.live)[place.begin]);
  Conjunction items = place.items;
  items.push_back(entry.action);
  if (!judge(items, likeliest)) return false;
  if (entry.next != kClose) {
    std::optional<Place> next = open(items, automaton_.group_after(entry.next), place);
    if (next) {
      place = std::move(*next);
      return true;
    }
  }
  place.items = std::move(items);
  place.done = true;
  return true;
}

std::vector<Writer::Branch> Writer::branches(const Place& place) const {
  std::vector<Branch> out;
  for (std::size_t i = place.begin; i < place.end; ++i) {
    const TokenId token = automaton_.tokens((*place.live)[i])[place.depth];
    if (out.empty() || out.back().token != token) out.push_back({token, i, i});
    out.back().end = i + 1;
  }
  return out;
}

bool Writer::may_join(const Conjunction& items, ActionId item) const {
  const std::optional<ActionId> opposite = options_.opposite ? options_.opposite(item) : std::nullopt;
  if (strict_ && is_impossible(item)) return false;
  for (const ActionId other : items) {
    if ((other == item && !options_.repeats) || (judge_ && opposite == other)) return false;
  }
  const auto found = bad_.find(item);
  if (found == bad_.end()) return true;
  const std::vector<ActionId> all = sorted(items);
  return std::none_of(found->second.begin(), found->second.end(), [&](const std::vector<ActionId>& with) {
    return std::includes(all.begin(), all.end(), with.begin(), with.end());
  });
}

bool Writer::judge(const Conjunction& items, bool likeliest) {
  if (!judge_) return true;
  const std::vector<ActionId> all = sorted(items);
  if (good_.contains(all)) return true;
  if (judge_(items)) {
    good_.insert(all);
    if (likeliest) good_so_far_ = items;
    return true;
  }
  std::vector<ActionId> with = sorted({items.begin(), items.end() - 1});
  // What is out of reach alone is so with anything.
  bad_[items.back()].push_back(is_impossible(items.back()) ? std::vector<ActionId>() : std::move(with));
  refused_now_ = true;
  if (likeliest) refused_.push_back(items);
  return false;
}

// Sums, so that the share of any range is a difference. Largest first to the limits of what a double can tell apart: what is
// lost there is worth nothing beside the rest.
std::shared_ptr<const std::vector<double>> Writer::weigh(const Conjunction& items,
                                                         const std::vector<std::uint32_t>& live) const {
  if (!options_.weigh) return nullptr;
  std::vector<double> logs;
  logs.reserve(live.size());
  for (const std::uint32_t rank : live) {
    const TokenAutomaton::Entry& entry = automaton_.entry(rank);
    const Mentions::Weight weight = options_.weigh(items, entry.action);
    logs.push_back(weight.item + (entry.next == kClose ? weight.end : weight.go_on));
  }
  const double high = *std::max_element(logs.begin(), logs.end());
  const auto mass = std::make_shared<std::vector<double>>(1, 0.0);
  for (const double one : logs) mass->push_back(mass->back() + std::exp(std::max(one - high, kLowestWeight)));
  return mass;
}

// log p of each branch, among all of them.
const std::vector<double>& Writer::log_probabilities(const Place& place, const std::vector<Branch>& branches) {
  ask_model(place.tokens, branches);
  const auto normalise = [this] {
    const double high = *std::max_element(scores_.begin(), scores_.end());
    double sum = 0;
    for (const double score : scores_) sum += std::exp(score - high);
    for (double& score : scores_) score -= high + std::log(sum);
  };
  normalise();
  if (!place.mass) return scores_;
  const std::vector<double>& mass = *place.mass;
  const double whole = mass[place.end] - mass[place.begin];
  for (std::size_t i = 0; i < branches.size(); ++i) {
    const double share = whole > 0 ? (mass[branches[i].end] - mass[branches[i].begin]) / whole : 1;
    scores_[i] =
        std::max(scores_[i], kLowestModel) + std::max(share > 0 ? std::log(share) : kLowestWeight, kLowestWeight);
  }
  normalise();
  return scores_;
}

// The branches' logits, into scores_.
void Writer::ask_model(const std::vector<TokenId>& tokens, const std::vector<Branch>& branches) {
  const auto found = logits_.find(tokens);
  if (found != logits_.end()) {
    scores_.clear();
    std::size_t at = 0;
    const std::vector<std::pair<TokenId, double>>& all = found->second;
    for (const Branch& branch : branches) {
      while (at < all.size() && all[at].first < branch.token) ++at;
      if (at == all.size() || all[at].first != branch.token) break;
      scores_.push_back(all[at].second);
    }
    if (scores_.size() == branches.size()) return;
  }
  std::size_t same = 0;
  while (same < tokens.size() && same < read_.size() && tokens[same] == read_[same]) ++same;
  session_.rollback(prompt_size_ + same);
  if (same < tokens.size()) session_.append(std::span(tokens).subspan(same));
  read_ = tokens;
  const std::span<const float> logits = session_.logits();
  std::vector<std::pair<TokenId, double>>& all = logits_[tokens];
  all.clear();
  scores_.clear();
  for (const Branch& branch : branches) {
    const double logit = decode::sane_logit(logits[static_cast<std::size_t>(branch.token)]);
    all.emplace_back(branch.token, logit);
    scores_.push_back(logit);
  }
}

}  // namespace metactrl::goals
