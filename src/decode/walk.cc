// A stack of boundaries (frames), and steps as plain values.
//
// At a boundary, between two actions, the lookahead says which actions may come next and what each is worth. Those are
// the live *paths*: entries of the token automaton, that is an action with a separator (go on) or with the closing
// (stop), in the automaton's lexicographic order. Inside an action a step is a sub-range of the live paths, the
// corresponding range of *all* entries, and a depth. The next symbols are the distinct symbols of the live range at
// that depth; the value of one is
//
//     sum over its live paths of  m(path) S(path)   /   sum over all entries with the same prefix of  m(entry)
//
// with m(action, what follows) = pi(action) p(what follows): pi is the bridge (before normalisation), and p gives the
// closing the surrogate's probability of the end, p_end, and shares the rest among the separators. S is 1 for stopping
// at the goal and V_go for going on. Where only the two kinds of one action are left this gives S(stop) and V_go
// themselves; before that, p_end S(stop) + (1 - p_end) V_go, which is the V of lookahead.h: the equation of decoder.h
// in each case. The denominators are sums over a range of entries: differences of counts that were summed up once
// (entry_mass.h). The terms of the sums above are computed once per boundary, relative to the largest.
//
// A hidden Markov model of tokens as the bridge knows more: p(what is left of the path | text so far), for every path
// and every place in it. These are the m of the numerator, and those of all entries with the same prefix, which are
// summed backwards along the automaton once (entry_totals.h), the denominator; where the empty plan can still be meant,
// what is left of it is one more on both sides.
//
// A language model as the bridge says the same of the live paths alone. Then the denominator is 1, and what the model
// would write besides is lost.
//
// With a trained surrogate p_end differs from action to action. The live paths have its true values. In the
// denominators entries that are not live keep the uniform p_end: it cancels wherever a range holds all entries of an
// action, and no other ranges hold entries that are not live, but for tokens that spell the end of several actions at
// once.
#include "decode/walk.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "lookahead/uniform.h"
#include "metactrl/error.h"
#include "support/log_math.h"

namespace metactrl::decode {

namespace {

constexpr double kFloor = kLowestLogWeight;
// Sums below this are computed again by logarithms.
constexpr double kTiny = 1e-200;
using internal::kMinusInfinity;
constexpr std::uint32_t kClose = TokenAutomaton::kClose;

// log(e^a + e^b)
double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kMinusInfinity ? a : a + std::log1p(std::exp(b - a));
}

// log V_go: what it is worth to go on once that is decided, from what it is worth before, V = (1 - p_end) V_go.
double given_going_on(double log_value, double log_go) {
  return log_go <= kFloor ? kFloor : std::clamp(log_value - log_go, kFloor, 0.0);
}

// log(1 - e^log_end), at least kFloor.
double log_rest(double log_end) { return log_end >= 0 ? kFloor : std::max(std::log1p(-std::exp(log_end)), kFloor); }

}  // namespace

Walk::Walk(std::shared_ptr<const Constraint> constraint, const DecoderOptions& options)
    : constraint_(std::move(constraint)),
      automaton_(&constraint_->automaton()),
      options_(options),
      support_(constraint_->lookahead()),
      log_end_(-std::log(static_cast<double>(lookahead::alphabet_size(constraint_->task().program())))),
      log_go_(std::log1p(-std::exp(log_end_))),
      mass_(constraint_->entry_counts(), log_end_, log_go_,
            options.bridge == Bridge::kSurrogate && options.guidance != Guidance::kTrained) {
  const bool trained = constraint_->lookahead()->is_trained();
  if (weighs() && trained != weighs_by_trained()) {
    throw InputError(std::string("guidance ") + to_string(options_.guidance),
                     trained ? "the lookahead was compiled with a trained model"
                             : "the lookahead was compiled without a trained model",
                     "set LookaheadOptions::hmm for guidance trained, and for no other");
  }
  if (options_.horizon == 0) options_.horizon = constraint_->lookahead()->horizon();
  frames_.emplace_back();
  frames_[0].state = constraint_->task().initial_state();
  frames_[0].group = automaton_->first_group();
  if (weighs_by_trained()) frames_[0].belief = constraint_->lookahead()->start_belief();
  if (options_.bridge == Bridge::kHmm) {
    if (!options_.token_hmm) {
      throw InputError("bridge hmm", "needs a hidden Markov model of tokens", "set DecoderOptions::token_hmm");
    }
    if (automaton_->tokenization() != Tokenization::kCanonical) {
      throw InputError("bridge hmm", "reads the tokenizer's own tokens, and 'any' tokenization allows others",
                       "use canonical tokenization, or another bridge");
    }
    token_surrogate_ = std::make_shared<const TokenSurrogate>(*options_.token_hmm, constraint_->vocabulary());
    entry_totals_ = std::make_shared<const EntryTotals>(*automaton_, token_surrogate_->hmm());
    frames_[0].token_belief = token_surrogate_->start();
    std::vector<TokenId> empty(automaton_->empty_plan().begin(), automaton_->empty_plan().end());
    if (empty.empty() || empty.back() != TokenAutomaton::kEnd) empty.push_back(TokenAutomaton::kEnd);
    token_cursor_.begin(*token_surrogate_, frames_[0].token_belief);
    token_cursor_.read(empty, empty_rests_);
    token_surrogate_->advance(frames_[0].token_belief, automaton_->opening());
  }
  open_frame(options_.horizon, !constraint_->task().initially_violated());
}

Walk::Walk(const Walk& other)
    : constraint_(other.constraint_),
      automaton_(other.automaton_),
      options_(other.options_),
      token_surrogate_(other.token_surrogate_),
      entry_totals_(other.entry_totals_),
      empty_rests_(other.empty_rests_),
      support_(other.support_),
      log_end_(other.log_end_),
      log_go_(other.log_go_),
      mass_(other.mass_),
      frames_(other.frames_),
      num_frames_(other.num_frames_),
      paths_(other.paths_),
      path_scores_(other.path_scores_),
      path_scores_frame_(other.path_scores_frame_),
      actions_(other.actions_),
      separators_(other.separators_),
      go_on_allowed_(other.go_on_allowed_),
      stop_allowed_(other.stop_allowed_) {}

Walk::Step Walk::start() {
  Step step;
  step.phase = Phase::kStart;
  step.opening = go_on_allowed_;
  step.empty = stop_allowed_ && !options_.forbid_empty;
  enter(step);
  return step;
}

// --- boundaries ------------------------------------------------------------------------------------------------------

// Makes frames_[num_frames_], whose state is set, the current boundary. `legal` is false only for an initial state that
// breaks a constraint. The memory of a frame that was cut off is used again.
void Walk::open_frame(unsigned left, bool legal) {
  Frame& frame = frames_[num_frames_++];
  frame.left = left;
  frame.index = static_cast<std::uint32_t>(num_frames_);
  frame.all = false;
  frame.first_path = paths_.size();
  frame.log_end = log_end_;
  frame.log_go = log_go_;
  if (weighs_by_trained()) {
    frame.log_end = std::max(constraint_->lookahead()->log_end(frame.belief), kFloor);
    frame.log_go = log_rest(frame.log_end);
    if (options_.bridge == Bridge::kSurrogate) sum_masses(frame);
  }
  frame.log_go_on = 0;
  frame.candidates.clear();
  if (options_.guidance == Guidance::kSyntax) {
    open_all(frame);
  } else if (legal) {
    open_supported(frame);
  }
  finish_paths(frame);
  if (num_frames_ == 1) {
    go_on_allowed_ = frame.all || frame.num_paths > 0;
    stop_allowed_ = options_.guidance == Guidance::kSyntax || (legal && constraint_->task().is_goal(frame.state));
  }
}

void Walk::open_all(Frame& frame) {
  frame.all = frame.left > 1;
  if (frame.all || frame.left == 0) return;
  // The last action: only closing entries.
  const auto [begin, end] = automaton_->group(frame.group);
  for (std::uint32_t rank = begin; rank < end; ++rank) {
    if (automaton_->entry(rank).next == kClose)
      paths_.push_back({rank, mass_.log_mass(rank), mass_.log_mass(rank), 0, 0});
  }
}

void Walk::open_supported(Frame& frame) {
  if (constraint_->lookahead()->verdict() != Verdict::kSolvable) return;
  support_.candidates(frame.state, frame.left, frame.candidates, frame.belief);
  double log_go_on = kMinusInfinity;
  double log_idle = kMinusInfinity;  // by actions that change nothing relevant
  for (const Candidate& candidate : frame.candidates) {
    if (candidate.answer != Answer::kYes) continue;
    constraint_->task().apply(frame.state, candidate.action, successor_);
    add_paths(candidate, frame.left - 1);
    const bool relevant = constraint_->task().program().action(candidate.action).relevant;
    double& log_sum = relevant ? log_go_on : log_idle;
    log_sum = log_add(log_sum, candidate.log_probability + candidate.log_weight);
  }
  if (log_go_on == kMinusInfinity) log_go_on = log_idle;
  if (weighs()) frame.log_go_on = given_going_on(log_go_on, frame.log_go);
}

void Walk::finish_paths(Frame& frame) {
  const auto begin = paths_.begin() + static_cast<std::ptrdiff_t>(frame.first_path);
  frame.num_paths = paths_.size() - frame.first_path;
  std::sort(begin, paths_.end(), [](const Path& a, const Path& b) { return a.rank < b.rank; });
  if (!weighs()) return;
  frame.log_largest = kMinusInfinity;
  for (auto path = begin; path != paths_.end(); ++path) frame.log_largest = std::max(frame.log_largest, path->log_term);
  for (auto path = begin; path != paths_.end(); ++path) path->term = std::exp(path->log_term - frame.log_largest);
  if (token_surrogate_ != nullptr) read_paths(frame);
}

// What the model of tokens says of each path. They are in lexicographic order.
void Walk::read_paths(Frame& frame) {
  frame.rests.clear();
  frame.totals.clear();
  frame.first_rest.clear();
  token_cursor_.begin(*token_surrogate_, frame.token_belief);
  for (std::size_t i = 0; i < frame.num_paths; ++i) {
    frame.first_rest.push_back(frame.rests.size());
    const std::uint32_t rank = paths_[frame.first_path + i].rank;
    const std::span<const TokenId> path = automaton_->tokens(rank);
    token_cursor_.read(path, frame.rests);
    for (std::size_t d = 0; d + 1 < path.size(); ++d) {
      frame.totals.push_back(entry_totals_->log_rest(rank, d, token_cursor_.belief(d + 1)));
    }
    frame.totals.push_back(0);
  }
}

// The entries of a supported action that leads to successor_ with `left` actions left.
void Walk::add_paths(const Candidate& candidate, unsigned left) {
  const bool goal = constraint_->task().is_goal(successor_);
  if (goal) add_path(candidate, kClose, 0);
  double log_go_on = candidate.log_weight;
  if (goal) {
    // The support of a goal state says nothing about leaving it again.
    if (weighs_by_trained()) {
      successor_belief_ = frame().belief;
      constraint_->lookahead()->advance(successor_belief_, candidate.action);
    }
    const GoOn go_on = support_.go_on(successor_, left, successor_belief_);
    if (go_on.answer != Answer::kYes) return;
    log_go_on = go_on.log_weight;
  }
  const double log_go = weighs_by_trained() ? log_rest(candidate.log_end) : log_go_;
  const double log_value = weighs() ? given_going_on(log_go_on, log_go) : 0;
  for (std::uint32_t separator = 0; separator < automaton_->num_separators(); ++separator) {
    add_path(candidate, separator, log_value);
  }
}

void Walk::add_path(const Candidate& candidate, std::uint32_t next, double log_value) {
  const std::uint32_t rank = automaton_->rank(candidate.action, next, frame().group);
  double log_mass = mass_.log_mass(rank);
  if (weighs_by_trained()) {
    log_mass = next == kClose
                   ? std::max(candidate.log_end, kFloor)
                   : log_rest(candidate.log_end) - std::log(static_cast<double>(automaton_->num_separators()));
    if (options_.bridge == Bridge::kSurrogate) log_mass += std::max(candidate.log_probability, kFloor);
  }
  paths_.push_back({rank, log_mass, log_mass + log_value, log_value, 0});
}

void Walk::restore(const Step& step) {
  if (num_frames_ > step.frame + 1U) {
    num_frames_ = step.frame + 1U;
    paths_.resize(frame().first_path + frame().num_paths);
    if (path_scores_frame_ >= num_frames_) path_scores_.clear();
  }
  actions_.resize(step.num_actions);
  separators_.resize(step.num_separators);
}

// --- steps -----------------------------------------------------------------------------------------------------------

std::uint32_t Walk::path_from(std::uint32_t begin, std::uint32_t end, std::uint32_t rank) const {
  const auto first = paths_.begin() + static_cast<std::ptrdiff_t>(frame().first_path);
  const auto found = std::lower_bound(first + begin, first + end, rank,
                                      [](const Path& path, std::uint32_t wanted) { return path.rank < wanted; });
  return static_cast<std::uint32_t>(found - first);
}

std::optional<Walk::Edge> Walk::edge(const Step& step, TokenId symbol) const {
  Edge edge{.symbol = symbol, .empty = empty_goes_on(step, symbol)};
  switch (step.phase) {
    case Phase::kStart:
      edge.opening = step.opening && automaton_->opening()[step.depth] == symbol;
      if (!edge.opening && !edge.empty) return std::nullopt;
      return edge;
    case Phase::kHead:
      return head()[step.depth] == symbol ? std::optional<Edge>(edge) : std::nullopt;
    case Phase::kEntry:
      std::tie(edge.all_begin, edge.all_end) = automaton_->narrow(step.all_begin, step.all_end, step.depth, symbol);
      if (all()) {
        edge.live = edge.all_begin < edge.all_end;
      } else {
        edge.begin = path_from(step.begin, step.end, edge.all_begin);
        edge.end = path_from(edge.begin, step.end, edge.all_end);
        edge.live = edge.begin < edge.end;
      }
      if (!edge.live && !edge.empty) return std::nullopt;
      return edge;
    case Phase::kEnd:
      return symbol == TokenAutomaton::kEnd ? std::optional<Edge>(edge) : std::nullopt;
    case Phase::kDone:
      break;
  }
  return std::nullopt;
}

const TokenAutomaton::Entry* Walk::completes(const Step& step, const Edge& edge) const {
  if (step.phase != Phase::kEntry || !edge.live) return nullptr;
  const std::uint32_t rank = all() ? edge.all_begin : path_rank(edge.begin);
  return automaton_->tokens(rank).size() == step.depth + 1 ? &automaton_->entry(rank) : nullptr;
}

bool Walk::may_begin(const TokenAutomaton::Entry& entry, TokenId symbol) const {
  if (entry.next == kClose) return false;
  const std::span<const TokenId> head = automaton_->prefix(frame().index + 1);
  if (!head.empty()) return head[0] == symbol;
  const auto [begin, end] = automaton_->group(automaton_->group_after(entry.next));
  const auto [first, last] = automaton_->narrow(begin, end, 0, symbol);
  return first < last;
}

void Walk::take(Step& step, const Edge& edge) {
  switch (step.phase) {
    case Phase::kStart:
      step.opening = edge.opening;
      ++step.depth;
      take_empty(step, edge);
      break;
    case Phase::kHead:
      ++step.depth;
      break;
    case Phase::kEntry:
      take_in_entry(step, edge);
      break;
    case Phase::kEnd:
    case Phase::kDone:
      step.phase = Phase::kDone;
      break;
  }
  enter(step);
}

// Advances the empty plan; it is finished when the end of the turn was read behind it.
void Walk::take_empty(Step& step, const Edge& edge) const {
  if (edge.empty && edge.symbol == TokenAutomaton::kEnd) step.phase = Phase::kDone;
  step.empty = edge.empty;
  ++step.empty_depth;
}

void Walk::take_in_entry(Step& step, const Edge& edge) {
  if (!edge.live) {
    // Nothing but the empty plan is left.
    step.phase = Phase::kStart;
    step.opening = false;
    take_empty(step, edge);
    return;
  }
  const TokenAutomaton::Entry* const complete = completes(step, edge);
  step.begin = edge.begin;
  step.end = edge.end;
  step.all_begin = edge.all_begin;
  step.all_end = edge.all_end;
  step.empty = edge.empty;
  ++step.empty_depth;
  ++step.depth;
  if (complete == nullptr) return;
  finish_entry(step, *complete);
  if (complete->next == kClose && edge.symbol == TokenAutomaton::kEnd) step.phase = Phase::kDone;
}

void Walk::finish_entry(Step& step, const TokenAutomaton::Entry& entry) {
  step.empty = false;
  actions_.push_back(entry.action);
  step.num_actions = static_cast<std::uint32_t>(actions_.size());
  if (entry.next == kClose) {
    step.phase = Phase::kEnd;
    return;
  }
  separators_.push_back(entry.next);
  step.num_separators = static_cast<std::uint32_t>(separators_.size());
  if (frames_.size() == num_frames_) frames_.emplace_back();
  State& successor = frames_[num_frames_].state;
  frames_[num_frames_].group = automaton_->group_after(entry.next);
  if (weighs_by_trained()) {
    frames_[num_frames_].belief = frame().belief;
    constraint_->lookahead()->advance(frames_[num_frames_].belief, entry.action);
  }
  if (token_surrogate_ != nullptr) {
    std::vector<double>& belief = frames_[num_frames_].token_belief;
    belief = frame().token_belief;
    token_surrogate_->advance(belief, automaton_->tokens(automaton_->rank(entry.action, entry.next, frame().group)));
    token_surrogate_->advance(belief, automaton_->prefix(num_frames_ + 1));
  }
  // With kSyntax the action need not be legal; the state then stays what it was.
  if (!constraint_->task().apply(frame().state, entry.action, successor)) successor = frame().state;
  open_frame(frame().left - 1, true);
  step.frame = static_cast<std::uint32_t>(num_frames_ - 1);
  step.phase = Phase::kHead;
  step.depth = 0;
}

// Moves a step past everything that needs no symbol.
void Walk::enter(Step& step) const {
  if (step.phase == Phase::kStart && step.opening && step.depth == automaton_->opening().size()) begin_entry(step);
  if (step.phase == Phase::kHead && step.depth == head().size()) begin_entry(step);
}

void Walk::begin_entry(Step& step) const {
  step.phase = Phase::kEntry;
  step.depth = 0;
  step.begin = 0;
  step.end = static_cast<std::uint32_t>(frame().num_paths);
  std::tie(step.all_begin, step.all_end) = automaton_->group(frame().group);
}

// --- weights ---------------------------------------------------------------------------------------------------------

double Walk::log_weight(const Step& step, const Edge& edge) const {
  if (!weighs()) return 0;
  switch (step.phase) {
    case Phase::kStart:
      if (!edge.opening) return 0;
      return edge.empty ? log_add(frame().log_end, frame().log_go + frame().log_go_on) : frame().log_go_on;
    case Phase::kHead:
      return frame().log_go_on;
    case Phase::kEntry:
      return edge.live ? log_weight_in_entry(step, edge) : 0;
    case Phase::kEnd:
    case Phase::kDone:
      break;
  }
  return 0;
}

double Walk::log_weight_in_entry(const Step& step, const Edge& edge) const {
  if (options_.bridge == Bridge::kHmm) return log_weight_by_tokens(step, edge);
  const bool scored = has_scores();
  double result = log_sum(step, edge, scored);
  // With a model's own probabilities there is nothing to normalise: what it would write besides is lost.
  if (!scored) {
    double total = weighs_by_trained() ? log_total(edge) : mass_.log_total(edge.all_begin, edge.all_end);
    if (edge.empty) {
      // Stopping has p_end, all entries together have what is left.
      const double scale = log_entry_scale();
      result = log_add(result + scale, frame().log_end);
      total = log_add(total + scale, frame().log_end);
    }
    result -= total;
  }
  return std::max(result, 2 * kFloor);
}

double Walk::log_weight_by_tokens(const Step& step, const Edge& edge) const {
  double result = log_sum(step, edge, true);
  // Rests of live paths are floored, totals are not: they are at least what the live paths have.
  double total = frame().totals[frame().first_rest[edge.begin] + step.depth];
  double live = kMinusInfinity;
  for (std::uint32_t i = edge.begin; i < edge.end; ++i) live = log_add(live, log_rest_of(i, step.depth));
  total = std::max(total, live);
  if (edge.empty) {
    result = log_add(result, empty_rests_[step.empty_depth]);
    total = log_add(total, empty_rests_[step.empty_depth]);
  }
  return std::max(result - total, 2 * kFloor);
}

// The logarithm of the sum of m S over the edge's live paths, with a model's scores as m where `scored`.
double Walk::log_sum(const Step& step, const Edge& edge, bool scored) const {
  const Path* paths = paths_.data() + frame().first_path;
  if (!scored) {
    double sum = 0;
    for (std::uint32_t i = edge.begin; i < edge.end; ++i) sum += paths[i].term;
    if (sum > kTiny) return std::log(sum) + frame().log_largest;
  }
  const auto term = [&](std::uint32_t i) {
    return scored ? log_rest_of(i, step.depth) + paths[i].log_value : paths[i].log_term;
  };
  double largest = kMinusInfinity;
  for (std::uint32_t i = edge.begin; i < edge.end; ++i) largest = std::max(largest, term(i));
  double sum = 0;
  for (std::uint32_t i = edge.begin; i < edge.end; ++i) sum += std::exp(term(i) - largest);
  return largest + std::log(sum);
}

// Makes the mass of entries comparable with that of the empty plan. The surrogate's already is.
double Walk::log_entry_scale() const {
  if (options_.bridge == Bridge::kSurrogate) return 0;
  const auto [begin, end] = automaton_->group(frame().group);
  return frame().log_go - mass_.log_total(begin, end);
}

// --- denominators with a trained surrogate ---------------------------------------------------------------------------

// The mass of an entry that is not live.
double Walk::plain_mass(std::uint32_t rank) const {
  const double follows = std::exp(mass_.log_mass(rank));
  if (options_.bridge != Bridge::kSurrogate) return follows;
  return frame().probabilities[static_cast<std::uint32_t>(automaton_->entry(rank).action)] * follows;
}

void Walk::sum_masses(Frame& frame) const {
  constraint_->lookahead()->action_probabilities(frame.belief, frame.probabilities);
  const auto [begin, end] = automaton_->group(frame.group);
  frame.mass_before.assign(1, 0);
  for (std::uint32_t rank = begin; rank < end; ++rank) {
    frame.mass_before.push_back(frame.mass_before.back() + plain_mass(rank));
  }
}

// The logarithm of the mass of all entries with the edge's prefix.
double Walk::log_total(const Edge& edge) const {
  const Path* paths = paths_.data() + frame().first_path;
  double largest = kMinusInfinity;
  for (std::uint32_t i = edge.begin; i < edge.end; ++i) largest = std::max(largest, paths[i].log_mass);
  double live = 0;  // relative to the largest
  double replaced = 0;
  for (std::uint32_t i = edge.begin; i < edge.end; ++i) {
    live += std::exp(paths[i].log_mass - largest);
    replaced += plain_mass(paths[i].rank);
  }
  if (edge.end - edge.begin == edge.all_end - edge.all_begin) return largest + std::log(live);
  double all = 0;
  if (options_.bridge == Bridge::kSurrogate) {
    const std::uint32_t first = automaton_->group(frame().group).first;
    all = frame().mass_before[edge.all_end - first] - frame().mass_before[edge.all_begin - first];
  } else {
    all = std::exp(mass_.log_total(edge.all_begin, edge.all_end));
  }
  const double others = std::max(all - replaced, 0.0);
  return log_add(largest + std::log(live), others > 0 ? std::log(others) : kMinusInfinity);
}

}  // namespace metactrl::decode
