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
// (but for a model of tokens, token_bridge.h, which has no denominator) where m says how likely each is meant: the bridge
// (bridge.h), with m(action, what follows) = pi(action) p(what
// follows). S is 1 for stopping at the goal and V_go for going on. Where only the two kinds of one action are left this
// gives S(stop) and V_go themselves; before that, p_end S(stop) + (1 - p_end) V_go, which is the V of lookahead.h: the
// equation of decoder.h in each case.
#include "decode/walk.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>

#include "decode/mass_bridge.h"
#include "lookahead/belief.h"
#include "metactrl/error.h"
#include "support/log_math.h"
#include "task/program.h"

namespace metactrl::decode {

namespace {

constexpr double kFloor = kLowestLogWeight;
using internal::kMinusInfinity;
constexpr std::uint32_t kClose = TokenAutomaton::kClose;

// log V_go: what it is worth to go on once that is decided, from what it is worth before, V = (1 - p_end) V_go.
double given_going_on(double log_value, double log_go) {
  return log_go <= kFloor ? kFloor : std::clamp(log_value - log_go, kFloor, 0.0);
}

void check_guidance(const Constraint& constraint, Guidance guidance) {
  const std::string name = std::string("guidance ") + to_string(guidance);
  if (guidance == Guidance::kNone || guidance == Guidance::kSearch) {
    throw InputError(name, "has nothing to decode with",
                     guidance == Guidance::kNone ? "use generate_unconstrained" : "use Lookahead::plan");
  }
  const bool trained = lookahead::is_trained(*constraint.lookahead());
  if (guidance == (trained ? Guidance::kUniform : Guidance::kTrained)) {
    throw InputError(name,
                     trained ? "the lookahead was compiled with a trained model"
                             : "the lookahead was compiled without a trained model",
                     "set LookaheadOptions::hmm for guidance trained, and for no other");
  }
}

std::unique_ptr<PathBridge> bridge_for(const Constraint& constraint, const DecoderOptions& options, const Stop& stop) {
  check_guidance(constraint, options.guidance);
  return make_bridge(constraint, options, stop);
}

}  // namespace

Walk::Walk(std::shared_ptr<const Constraint> constraint, const DecoderOptions& options, Stop stop)
    : constraint_(std::move(constraint)),
      automaton_(&constraint_->automaton()),
      options_(options),
      bridge_(bridge_for(*constraint_, options, stop)),
      support_(constraint_->lookahead(), options.support, std::move(stop)),
      log_end_(uniform_log_end(constraint_->task())),
      log_go_(std::log1p(-std::exp(log_end_))) {
  if (options_.horizon == 0) options_.horizon = constraint_->lookahead()->horizon();
  frames_.emplace_back();
  frames_[0].state = constraint_->task().initial_state();
  frames_[0].boundary.group = automaton_->first_group();
  if (weighs_by_trained()) frames_[0].boundary.belief = lookahead::start_belief(*constraint_->lookahead());
  open_frame(options_.horizon, !constraint_->task().initially_violated());
}

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
  Boundary& boundary = frame.boundary;
  boundary.number = num_frames_ - 1;
  boundary.log_end = log_end_;
  boundary.log_go = log_go_;
  if (weighs_by_trained()) {
    boundary.log_end = std::max(lookahead::log_end(*constraint_->lookahead(), boundary.belief), kFloor);
    boundary.log_go = log_not(boundary.log_end);
  }
  frame.left = left;
  frame.all = false;
  frame.first_path = paths_.size();
  frame.candidates.clear();
  if (options_.guidance == Guidance::kSyntax) {
    open_all(frame);
  } else if (legal) {
    if (!options_.support.detours) {
      path_.resize(num_frames_ - 1);
      path_.push_back(frame.state);
      support_.set_path(path_);
    }
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
  const auto [begin, end] = automaton_->group(frame.boundary.group);
  for (std::uint32_t rank = begin; rank < end; ++rank) {
    if (automaton_->entry(rank).next == kClose) paths_.push_back({rank});
  }
}

void Walk::open_supported(Frame& frame) {
  if (constraint_->lookahead()->verdict() != Verdict::kSolvable) return;
  lookahead::candidates(support_, frame.state, frame.left, frame.boundary.belief, frame.candidates);
  for (const Candidate& candidate : frame.candidates) {
    if (candidate.answer != Answer::kYes) continue;
    constraint_->task().apply(frame.state, candidate.action, successor_);
    add_paths(candidate, frame.left - 1);
  }
}

// log V_go of the current boundary's state. Asked before the first entry and in front of numbers only.
double Walk::log_go_on() const {
  if (!weighs_future()) return 0;
  const std::vector<Candidate>& candidates = frame().candidates;
  const auto sum_of = [&](bool relevant) {
    return internal::log_sum(0, candidates.size(), [&](std::size_t i) {
      const Candidate& candidate = candidates[i];
      return constraint_->task().program().action(candidate.action).relevant == relevant
                 ? candidate.log_probability + candidate.log_weight
                 : kMinusInfinity;
    });
  };
  double log_sum = sum_of(true);
  if (log_sum == kMinusInfinity) log_sum = sum_of(false);  // by actions that change nothing relevant
  return given_going_on(log_sum, frame().boundary.log_go);
}

void Walk::finish_paths(Frame& frame) {
  const auto begin = paths_.begin() + static_cast<std::ptrdiff_t>(frame.first_path);
  frame.num_paths = paths_.size() - frame.first_path;
  std::sort(begin, paths_.end(), [](const Path& a, const Path& b) { return a.rank < b.rank; });
  assert(std::adjacent_find(begin, paths_.end(), [](const Path& a, const Path& b) { return a.rank == b.rank; }) ==
         paths_.end());
  if (is_frugal() && frame.num_paths > 0) {
    const auto cheaper = [](const Path& a, const Path& b) { return a.expense < b.expense; };
    frame.expense = std::min_element(begin, paths_.end(), cheaper)->expense;
  }
  if (bridge_) bridge_->open(frame.boundary, live_paths());
}

// The entries of a supported action that leads to successor_ with `left` actions left.
void Walk::add_paths(const Candidate& candidate, unsigned left) {
  const bool goal = constraint_->task().is_goal(successor_);
  const double cost = constraint_->task().cost(candidate.action);
  if (goal) add_path(candidate, kClose, 0, options_.per_action + options_.per_cost * cost);
  double log_go_on = candidate.log_weight;
  if (goal) {
    // The support of a goal state says nothing about leaving it again.
    if (weighs_by_trained()) {
      successor_belief_ = frame().boundary.belief;
      lookahead::advance(*constraint_->lookahead(), successor_belief_, candidate.action);
    }
    const lookahead::GoOn go_on = leave_goal(left);
    if (go_on.answer != Answer::kYes) return;
    log_go_on = go_on.log_weight;
  }
  const double log_go = weighs_by_trained() ? log_not(candidate.log_end) : log_go_;
  const double log_value = weighs_future() ? given_going_on(log_go_on, log_go) : 0;
  // Whoever leaves the goal comes back to it by at least one action.
  const double actions = 1 + std::max(1U, candidate.remaining);
  const double expense = options_.per_action * actions + options_.per_cost * (cost + candidate.remaining_cost);
  for (std::uint32_t separator = 0; separator < automaton_->num_separators(); ++separator) {
    add_path(candidate, separator, log_value, expense);
  }
}

// What it is worth to go on from successor_, at the goal.
lookahead::GoOn Walk::leave_goal(unsigned left) {
  if (options_.support.detours) return lookahead::go_on(support_, successor_, left, successor_belief_);
  path_.push_back(successor_);
  support_.set_path(path_);
  const lookahead::GoOn go_on = lookahead::go_on(support_, successor_, left, successor_belief_);
  path_.pop_back();
  support_.set_path(path_);
  return go_on;
}

void Walk::add_path(const Candidate& candidate, std::uint32_t next, double log_value, double expense) {
  const std::uint32_t rank = automaton_->rank(candidate.action, next, frame().boundary.group);
  paths_.push_back({rank, bridge_ ? bridge_->log_mass(rank, candidate) : 0, log_value, expense});
}

void Walk::restore(const Step& step) {
  assert(step.frame < num_frames_ && step.num_actions <= actions_.size() && step.num_separators <= separators_.size());
  if (num_frames_ > step.frame + 1U) {
    num_frames_ = step.frame + 1U;
    paths_.resize(frame().first_path + frame().num_paths);
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
  if (automaton_->tokens(rank).size() != step.depth + 1) return nullptr;
  // No entry is the beginning of another of its group.
  assert(edge.all_end - edge.all_begin == 1);
  return &automaton_->entry(rank);
}

bool Walk::may_begin(const TokenAutomaton::Entry& entry, TokenId symbol) const {
  if (entry.next == kClose) return false;
  const std::span<const TokenId> head = automaton_->prefix(frame().boundary.number + 2);
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
  assert(frame().left > 0);
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
  Boundary& boundary = frames_[num_frames_].boundary;
  boundary.group = automaton_->group_after(entry.next);
  boundary.entered_by = automaton_->rank(entry.action, entry.next, frame().boundary.group);
  if (weighs_by_trained()) {
    boundary.belief = frame().boundary.belief;
    lookahead::advance(*constraint_->lookahead(), boundary.belief, entry.action);
  }
  // With kSyntax the action need not be legal; the state then stays what it was.
  if (!constraint_->task().apply(frame().state, entry.action, successor)) successor = frame().state;
  if (begins_again_) {
    lookahead::release_forgotten(support_);
    begins_again_ = false;
  }
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
  std::tie(step.all_begin, step.all_end) = automaton_->group(frame().boundary.group);
}

// --- weights ---------------------------------------------------------------------------------------------------------

double Walk::log_weight(const Step& step, const Edge& edge) const {
  const double log_weight = weighs() ? log_worth(step, edge) : 0;
  return is_frugal() && step.phase == Phase::kEntry && edge.live && !all() ? log_weight - extra_expense(edge)
                                                                           : log_weight;
}

// Of the best path behind the edge, against the best of the boundary.
double Walk::extra_expense(const Edge& edge) const {
  const std::span<const Path> paths = live_paths().subspan(edge.begin, edge.end - edge.begin);
  const auto cheaper = [](const Path& a, const Path& b) { return a.expense < b.expense; };
  return std::min_element(paths.begin(), paths.end(), cheaper)->expense - frame().expense;
}

double Walk::log_worth(const Step& step, const Edge& edge) const {
  switch (step.phase) {
    case Phase::kStart:
    case Phase::kHead:
      return log_worth_before(step, edge);
    case Phase::kEntry:
      return edge.live ? log_worth_in_entry(step, edge) : log_worth_before(step, edge);
    case Phase::kEnd:
    case Phase::kDone:
      break;
  }
  return 0;
}

double Walk::log_worth_in_entry(const Step& step, const Edge& edge) const {
  const Choice choice{edge.begin, edge.end, edge.all_begin, edge.all_end, step.depth, edge.empty, step.empty_depth};
  const double log_weight = bridge_->log_weight(frame().boundary, live_paths(), choice);
  assert(std::isfinite(log_weight));
  return log_weight;
}

double Walk::log_worth_before(const Step& step, const Edge& edge) const {
  Before before{.depth = step.depth, .empty = edge.empty, .empty_depth = step.empty_depth, .log_go_on = log_go_on()};
  if (step.phase == Phase::kHead) before.part = Before::Part::kNumber;
  if (step.phase == Phase::kStart && edge.opening) before.part = Before::Part::kOpening;
  const double log_weight = bridge_->log_weight_before(frame().boundary, live_paths(), before);
  assert(std::isfinite(log_weight));
  return log_weight;
}

}  // namespace metactrl::decode
