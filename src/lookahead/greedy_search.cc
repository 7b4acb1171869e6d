// Lazy best-first search. A node's successors are queued under its own FF value and evaluated only when they are popped,
// so of a hundred successors often one is evaluated. One queue holds all successors, another those by helpful actions;
// progress in the heuristic value gives the second one a run of turns. The first queue stores a node once, with a cursor
// over its applicable actions, instead of an entry for each of them.
#include "lookahead/greedy_search.h"

#include <algorithm>

namespace metactrl::lookahead {

namespace {

using task::Word;

constexpr int kBoost = 1000;

}  // namespace

GreedySearch::GreedySearch(const ActionSpace& space, RelaxedEvaluator& evaluator, const Word* state, Style style)
    : space_(space),
      program_(space.program()),
      evaluator_(evaluator),
      successor_work_(successor_work(program_)),
      follow_(style == kFollow),
      nodes_(program_),
      current_(state, state + program_.total_words()) {
  nodes_.insert(state, kNoNode, kNoAction);
}

Status GreedySearch::run(std::size_t turn, Spending& spending, const Others& others, Limit& limit) {
  const std::size_t stop = evaluated_ + turn;
  while (evaluated_ < stop) {
    limit = check(spending, *this, others);
    if (limit != Limit::kNone) return Status::kLimit;
    if (evaluated_ == 0) {
      next_ = current_;
      goal_ = visit(loaded_, next_);
    } else {
      StoredId parent = kNoNode;
      ActionId action = kNoAction;
      if (!pop(parent, action)) return Status::kExhausted;
      successors_ += 1;
      if (!nodes_.successor(current_, action, next_)) continue;
      const auto [id, fresh] = nodes_.insert(next_.data(), parent, action);
      if (!fresh) continue;
      goal_ = visit(id, next_);
    }
    if (goal_) return Status::kFound;
  }
  return Status::kRunning;
}

// Evaluates a new state and, as long as that gets closer to the goal, what following its relaxed plan leads to. The
// goal node when it was found. Overwrites `state`.
std::optional<StoredId> GreedySearch::visit(StoredId id, std::vector<Word>& state) {
  unsigned previous = kInfinite;
  for (;;) {
    if (program_.is_goal(state.data())) return id;
    const unsigned h = evaluate(id, state);
    if (h >= previous || !follow_) return std::nullopt;
    previous = h;
    follow_relaxed_plan(state);
    if (macro_.size() < 2) return std::nullopt;  // an ordinary successor
    const auto [end, fresh] = nodes_.insert(state.data(), id, macro_);
    if (!fresh) return std::nullopt;
    id = end;
  }
}

// The FF value, at least 1 (`state` is no goal); kInfinite for a dead end.
unsigned GreedySearch::evaluate(StoredId id, const std::vector<Word>& state) {
  ++evaluated_;
  unsigned h = evaluator_.h_ff(state.data(), &preferred_);
  if (h == kInfinite) return h;
  h = std::max(h, 1U);
  if (h < best_) {
    if (best_ != kInfinite) helpful_priority_ -= kBoost;
    best_ = h;
  }
  all_.push(h, {id, 0});
  for (const ActionId action : preferred_) helpful_.push(h, {id, action});
  return h;
}

// Executes the last relaxed plan as far as that goes: any action that is applicable, and when none is, in place of
// the first one another that makes true what it was meant for. Leaves the actions in macro_.
void GreedySearch::follow_relaxed_plan(std::vector<Word>& state) {
  pending_ = evaluator_.relaxed_plan();
  macro_.clear();
  while (execute_pending(state) || replace_pending(state)) {
  }
}

bool GreedySearch::execute(ActionId action, std::vector<Word>& state) {
  if (!program_.applicable(state.data(), action)) return false;
  ++successors_;
  if (!nodes_.successor(state, action, step_)) return false;
  state.swap(step_);
  macro_.push_back(action);
  return true;
}

// One pass over the plan; true when something was executed.
bool GreedySearch::execute_pending(std::vector<Word>& state) {
  const auto done = [&](const RelaxedStep& step) { return execute(step.action, state); };
  return std::erase_if(pending_, done) > 0;
}

bool GreedySearch::replace_pending(std::vector<Word>& state) {
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    const auto literal = evaluator_.task().literal(pending_[i].proposition);
    if (!literal || literal->holds(state.data())) continue;
    for (const ActionId action : evaluator_.task().achievers(pending_[i].proposition)) {
      if (!execute(action, state)) continue;
      pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
  }
  return false;
}

// The next edge to look at; loads its node into current_. False when there is none.
bool GreedySearch::pop(StoredId& node, ActionId& action) {
  for (;;) {
    const bool take_helpful = !helpful_.empty() && (all_.empty() || helpful_priority_ < all_priority_);
    if (take_helpful) {
      ++helpful_priority_;
      node = helpful_.front().node;
      action = helpful_.front().action;
      helpful_.pop();
      load(node);
      return true;
    }
    if (all_.empty()) return false;
    Cursor& cursor = all_.front();
    node = cursor.node;
    load(node);
    if (actions_of_ != node) {
      actions_.clear();
      space_.applicable(current_.data(), actions_);
      actions_of_ = node;
    }
    if (cursor.next == actions_.size()) {
      ++expanded_;
      all_.pop();
      continue;
    }
    ++all_priority_;
    action = actions_[cursor.next++];
    return true;
  }
}

void GreedySearch::load(StoredId node) {
  if (loaded_ == node) return;
  nodes_.load(node, current_);
  loaded_ = node;
}

}  // namespace metactrl::lookahead
