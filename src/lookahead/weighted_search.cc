// As GreedySearch, with what was spent so far in the order, and with states opened again when a cheaper way to them is
// found. An entry of a queue carries the version of its node, so those of the dearer way are passed over.
#include "lookahead/weighted_search.h"

#include <algorithm>

namespace metactrl::lookahead {

namespace {

using task::Word;

constexpr int kProgressBoost = 1000;

}  // namespace

WeightedSearch::WeightedSearch(const ActionSpace& space, RelaxedEvaluator& evaluator, const ActionCosts& costs,
                               std::span<const std::uint32_t> weights, const Word* state, const Wanted& wanted,
                               unsigned greed)
    : space_(space),
      program_(space.program()),
      evaluator_(evaluator),
      costs_(costs),
      weights_(weights),
      successor_work_(copy_work(program_)),
      steps_before_(evaluator.steps()),
      wanted_(wanted),
      greed_(greed),
      nodes_(program_),
      next_(state, state + program_.total_words()) {
  const auto root = nodes_.insert(state, kNoNode, kNoAction).first;
  info_.push_back({0, 0, 0, kInfinite, 0});
  open(root);
}

Status WeightedSearch::run(std::size_t turn, Spending& spending, const Others& others, Limit& limit) {
  const std::size_t stop = evaluated_ + turn;
  while (evaluated_ < stop) {
    limit = check(spending, *this, others);
    if (limit != Limit::kNone) return Status::kLimit;
    StoredId parent = kNoNode;
    ActionId action = kNoAction;
    if (!pop(parent, action)) return Status::kExhausted;
    if (visit(parent, action)) return Status::kFound;
  }
  return Status::kRunning;
}

// Evaluates the state in next_, when it is new, and queues its successors.
void WeightedSearch::open(StoredId id) {
  Info& info = info_[id];
  ++evaluated_;
  info.h = evaluator_.h_ff(next_.data(), &preferred_);
  if (info.h == kInfinite) return;
  if (info.h < best_) {
    if (best_ != kInfinite) helpful_priority_ -= kProgressBoost;
    best_ = info.h;
  }
  const std::size_t key = info.weight + std::size_t{greed_} * info.h;
  all_.push(key, {id, info.version, 0});
  for (const ActionId action : preferred_) helpful_.push(key, {id, info.version, action});
}

// True when the successor is a goal and the plan to it better than the bound. current_ is the parent's state.
bool WeightedSearch::visit(StoredId parent, ActionId action) {
  const Info& from = info_[parent];
  const Measure reached{from.cost + costs_.of(action), std::size_t{from.length} + 1};
  // A way that is no better can only become worse.
  if (reached >= wanted_.bound || reached.length > wanted_.max_length) return false;
  ++successors_;
  if (!nodes_.successor(current_, action, next_)) return false;
  const auto [id, fresh] = nodes_.insert(next_.data(), parent, action);
  const std::uint32_t weight = from.weight + weights_[index(action)];
  const auto length = static_cast<std::uint32_t>(reached.length);
  if (fresh) {
    info_.push_back({reached.cost, length, weight, kInfinite, 0});
  } else {
    Info& known = info_[id];
    if (Measure{known.cost, known.length} <= reached) return false;
    nodes_.redirect(id, parent, action);
    known = {reached.cost, length, weight, known.h, known.version + 1};
    loaded_ = kNoNode;
  }
  if (arrived()) {
    plan_ = nodes_.plan_to(id);
    wanted_.bound = {costs_.sum(plan_), plan_.size()};
    return true;
  }
  open(id);
  return false;
}

bool WeightedSearch::arrived() const {
  if (wanted_.literals.empty()) return program_.is_goal(next_.data());
  return std::ranges::all_of(wanted_.literals,
                             [this](std::uint32_t code) { return task::Literal{code}.holds(next_.data()); });
}

bool WeightedSearch::pop(StoredId& node, ActionId& action) {
  for (;;) {
    if (!helpful_.empty() && (all_.empty() || helpful_priority_ < all_priority_)) {
      const Edge edge = helpful_.front();
      helpful_.pop();
      if (edge.version != info_[edge.node].version) continue;
      ++helpful_priority_;
      node = edge.node;
      action = edge.action;
      load(node);
      return true;
    }
    if (all_.empty()) return false;
    Cursor& cursor = all_.front();
    if (cursor.version != info_[cursor.node].version) {
      all_.pop();
      continue;
    }
    node = cursor.node;
    load(node);
    if (actions_of_ != node) {
      actions_.clear();
      space_.applicable(current_.data(), actions_);
      actions_of_ = node;
    }
    if (cursor.next == actions_.size()) {
      all_.pop();
      continue;
    }
    ++all_priority_;
    action = actions_[cursor.next++];
    return true;
  }
}

void WeightedSearch::load(StoredId node) {
  if (loaded_ == node) return;
  nodes_.load(node, current_);
  loaded_ = node;
}

}  // namespace metactrl::lookahead
