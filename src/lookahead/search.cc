// Searches over the same kind of nodes: interned projected states with the action that led there.
//
// BoundedSearch: all states with g + h_max <= bound, ordered by g + kGreed * FF, reopened when reached by a shorter
// way. The order does not matter for completeness: h_max is admissible, so every state on a plan within the bound
// passes the test with its final g, and when nothing is left open none of them was a goal.
//
// ShortestSearch: breadth-first search while it is cheap, then A* with h_max.
//
// Goals are tested on generated states, except in A*, where only popping a goal proves that no shorter way exists.
#include "lookahead/search.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <optional>

#include "lookahead/focus.h"
#include "lookahead/greedy_search.h"
#include "lookahead/needless.h"
#include "lookahead/search_nodes.h"
#include "lookahead/spending.h"

namespace metactrl::lookahead {

namespace {

using task::Program;
using task::Word;

constexpr StoredId kRoot{0};
constexpr unsigned kGreed = 2;
constexpr std::size_t kFirstTurn = 256;        // evaluations
constexpr std::size_t kPatience = 2'048;       // evaluations in a turn before another way is tried, too
constexpr std::uint64_t kLargeTask = 50'000;   // steps for an evaluation that make a focus worth its price
constexpr std::size_t kFocusedTurn = 4'096;    // evaluations
constexpr std::size_t kEliminationCap = 1000;  // longest plan that is worth a quadratic pass

// States with g + h_max <= bound. With `optimal` it is A*: ordered by g + h_max, goals tested when popped.
class BoundedSearch {
 public:
  BoundedSearch(const Program& program, RelaxedEvaluator& evaluator, const Word* state, unsigned bound, bool optimal)
      : program_(program),
        evaluator_(evaluator),
        successor_work_(successor_work(program)),
        nodes_(program),
        bound_(bound),
        optimal_(optimal) {
    const std::vector<Word> root(state, state + program.total_words());
    nodes_.insert(state, kNoNode, kNoAction);
    admit(kRoot, root, 0);
  }

  Status run(std::size_t turn, Spending& spending, const Others& others, SearchResult& result) {
    const std::size_t stop = evaluated_ + turn;
    while (evaluated_ < stop) {
      result.limit = check(spending, *this, others);
      if (result.limit != Limit::kNone) return Status::kLimit;
      if (action_index_ == actions_.size() && !next_node(result)) {
        return result.plan.empty() ? Status::kExhausted : Status::kFound;
      }
      if (action_index_ == actions_.size()) continue;
      const ActionId action = actions_[action_index_++];
      ++successors_;
      if (!nodes_.successor(current_, action, next_)) continue;
      const auto [id, fresh] = nodes_.insert(next_.data(), node_, action);
      if (fresh && !optimal_ && program_.is_goal(next_.data())) {
        result.plan = nodes_.plan_to(id);
        return Status::kFound;
      }
      if (fresh) {
        admit(id, next_, depth_ + 1);
      } else if (depth_ + 1 < info_[id].g) {
        nodes_.redirect(id, node_, action);
        info_[id].g = depth_ + 1;
        if (fits(info_[id])) open(id);
      }
    }
    return Status::kRunning;
  }

  std::size_t evaluated() const { return evaluated_; }
  std::size_t expanded() const { return expanded_; }
  std::size_t size() const { return nodes_.size(); }
  // Most states are evaluated twice, by h_max and FF.
  std::uint64_t work() const {
    return 2 * evaluated_ * evaluator_.task().evaluation_work() + successors_ * successor_work_;
  }
  std::size_t memory_bytes() const {
    return nodes_.memory_bytes() + info_.capacity() * sizeof(Info) + open_.memory_bytes();
  }
  // After exhaustion: no plan, however long? (Nothing was left out for the bound's sake.)
  bool cut_nothing() const { return !cut_; }
  // With `optimal`: every plan has at least this many actions.
  unsigned frontier() {
    const unsigned opened = open_.empty() ? bound_ : static_cast<unsigned>(open_.lowest_key());
    return action_index_ == actions_.size() ? opened : std::min(opened, depth_ + info_[node_].h_max);
  }

 private:
  struct Info {
    unsigned g;
    unsigned h_max;  // kInfinite: dead
    unsigned order;
  };
  struct Entry {
    StoredId node;
    unsigned g;
  };

  bool fits(const Info& info) const {
    return info.h_max != kInfinite && info.h_max <= bound_ && info.g <= bound_ - info.h_max;
  }

  void open(StoredId id) { open_.push(std::size_t{info_[id].g} + info_[id].order, {id, info_[id].g}); }

  // Evaluates a new state.
  void admit(StoredId id, const std::vector<Word>& state, unsigned g) {
    ++evaluated_;
    Info info{g, evaluator_.h_max(state.data()), 0};
    if (info.h_max == 0 && !program_.is_goal(state.data())) info.h_max = 1;
    if (fits(info)) {
      info.order = optimal_ ? info.h_max : kGreed * evaluator_.h_ff(state.data(), nullptr);
    } else if (info.h_max != kInfinite) {
      cut_ = true;
      // Should a shorter way bring it back, nothing better is known about it.
      info.order = optimal_ ? info.h_max : kGreed * info.h_max;
    }
    assert(info_.next_id() == id);
    info_.push_back(info);
    if (fits(info)) open(id);
  }

  // Loads the next node to expand; its actions may turn out to be none. False when nothing is open or a goal was
  // popped.
  bool next_node(SearchResult& result) {
    while (!open_.empty()) {
      const Entry entry = open_.front();
      if (entry.g != info_[entry.node].g) {
        open_.pop();
        continue;
      }
      nodes_.load(entry.node, current_);
      if (optimal_ && program_.is_goal(current_.data())) {
        result.plan = nodes_.plan_to(entry.node);
        return false;
      }
      open_.pop();
      ++expanded_;
      node_ = entry.node;
      depth_ = entry.g;
      actions_.clear();
      action_index_ = 0;
      program_.relevant_actions(current_.data(), actions_);
      return true;
    }
    return false;
  }

  const Program& program_;
  RelaxedEvaluator& evaluator_;
  std::uint64_t successor_work_;
  Nodes nodes_;
  unsigned bound_;
  bool optimal_;
  bool cut_ = false;
  IdVector<StoredId, Info> info_;
  BucketQueue<Entry, false> open_;
  // The node being expanded.
  std::vector<Word> current_;
  std::vector<Word> next_;
  StoredId node_ = kRoot;
  unsigned depth_ = 0;
  std::vector<ActionId> actions_;
  std::size_t action_index_ = 0;
  std::size_t evaluated_ = 0;
  std::size_t expanded_ = 0;
  std::size_t successors_ = 0;  // computed
};

// Answers what needs no search: the state is a goal, or h_max refutes. True when that settles it.
bool settle(const Program& program, RelaxedEvaluator& evaluator, const Word* state, unsigned max_length,
            SearchResult& result) {
  result.evaluated = 1;
  result.work = evaluator.task().evaluation_work();
  if (program.is_goal(state)) {
    result.outcome = SearchResult::Outcome::kFound;
    return true;
  }
  result.lower_bound = std::max(evaluator.h_max(state), 1U);
  if (result.lower_bound <= max_length && result.lower_bound != kInfinite) return false;
  result.outcome = SearchResult::Outcome::kRefuted;
  return true;
}

// How many steps it left out.
std::size_t shorten(const Program& program, const Word* state, std::vector<ActionId>& plan) {
  if (plan.size() > kEliminationCap) return 0;
  const std::vector<std::size_t> needless = needless_steps(program, state, plan);
  plan = without_steps(plan, needless);
  return needless.size();
}

// find_plan: the greedy and the bounded search in turns.
class PlanSearch {
 public:
  PlanSearch(const Program& program, RelaxedEvaluator& evaluator, const Word* state, unsigned max_length,
             const Budget& budget, internal::Meter& meter, SearchResult& result)
      : program_(program),
        all_(program),
        evaluator_(evaluator),
        state_(state),
        max_length_(max_length),
        spending_(budget, meter),
        result_(result) {}

  void run() {
    Status status = focused_turn();
    if (status == Status::kRunning) following_ = greedy(GreedySearch::kFollow);
    for (std::size_t turn = kFirstTurn; status == Status::kRunning; turn *= 2) {
      // Following relaxed plans finds some plan soonest. When that is too long, or long in coming, stepping carefully
      // often finds another one.
      if (following_) status = greedy_turn(following_, turn);
      if (status == Status::kRunning && (too_long_ || turn >= kPatience) && !stepped_) {
        stepping_ = greedy(GreedySearch::kStep);
        stepped_ = true;
      }
      if (status == Status::kRunning && stepping_) status = greedy_turn(stepping_, turn);
      if (status == Status::kRunning && max_length_ != kInfinite) status = bounded_turn(turn);
    }
    result_.outcome = status == Status::kFound       ? SearchResult::Outcome::kFound
                      : status == Status::kExhausted ? SearchResult::Outcome::kRefuted
                                                     : SearchResult::Outcome::kBudget;
    count(following_);
    count(stepping_);
    count(bounded_);
  }

 private:
  template <typename Search>
  void count(const std::unique_ptr<Search>& search) {
    result_.evaluated += search ? search->evaluated() : 0;
    result_.expanded += search ? search->expanded() : 0;
    result_.work += search ? search->work() : 0;
  }
  // What all but this one hold and have done.
  Others beside(const void* own) const {
    Others others{0, 0, result_.work};
    const auto add = [&](const auto& search) {
      if (!search || search.get() == own) return;
      others.states += search->size();
      others.bytes += search->memory_bytes();
      others.work += search->work();
    };
    add(following_);
    add(stepping_);
    add(bounded_);
    return others;
  }
  std::unique_ptr<GreedySearch> greedy(GreedySearch::Style style) {
    return std::make_unique<GreedySearch>(all_, evaluator_, state_, style);
  }

  // Where an evaluation takes long, the few actions that the goal asks for come first. What they do not settle is left
  // to the others.
  Status focused_turn() {
    const std::uint64_t whole = evaluator_.task().evaluation_work();
    if (whole < kLargeTask) return Status::kRunning;
    result_.work += 2 * whole;
    const std::unique_ptr<const Focus> focus = find_focus(evaluator_, state_);
    if (!focus) return Status::kRunning;
    RelaxedEvaluator evaluator(focus->relaxed);
    auto search = std::make_unique<GreedySearch>(focus->space, evaluator, state_, GreedySearch::kFollow);
    const Status status = search->run(kFocusedTurn, spending_, beside(nullptr), result_.limit);
    count(search);
    if (status == Status::kFound && accept(search->plan())) return status;
    return status == Status::kLimit ? status : Status::kRunning;
  }

  // Is the plan, without what it does not need, short enough?
  bool accept(std::vector<ActionId> plan) {
    const std::size_t left_out = shorten(program_, state_, plan);
    if (plan.size() > max_length_) return false;
    result_.plan = std::move(plan);
    result_.left_out = left_out;
    return true;
  }

  Status greedy_turn(std::unique_ptr<GreedySearch>& search, std::size_t turn) {
    const Status status = search->run(turn, spending_, beside(search.get()), result_.limit);
    if (status == Status::kExhausted) result_.lower_bound = kInfinite;
    if (status != Status::kFound || accept(search->plan())) return status;
    count(search);
    search = nullptr;
    too_long_ = true;
    return Status::kRunning;
  }

  Status bounded_turn(std::size_t turn) {
    if (!bounded_) bounded_ = std::make_unique<BoundedSearch>(program_, evaluator_, state_, max_length_, false);
    const Status status = bounded_->run(turn, spending_, beside(bounded_.get()), result_);
    if (status == Status::kFound) result_.left_out = shorten(program_, state_, result_.plan);
    if (status == Status::kExhausted) {
      result_.lower_bound = bounded_->cut_nothing() ? kInfinite : std::max(result_.lower_bound, max_length_ + 1);
    }
    return status;
  }

  const Program& program_;
  ActionSpace all_;
  RelaxedEvaluator& evaluator_;
  const Word* state_;
  unsigned max_length_;
  Spending spending_;
  SearchResult& result_;
  bool too_long_ = false;  // is a plan that was found
  bool stepped_ = false;
  std::unique_ptr<GreedySearch> following_;
  std::unique_ptr<GreedySearch> stepping_;
  std::unique_ptr<BoundedSearch> bounded_;  // the greedy search's first turn usually makes it unnecessary
};

// Level by level; a level is complete before the next begins, so goals are found at their distance.
void breadth_first(const Program& program, const Word* state, unsigned max_length, Spending& spending,
                   SearchResult& result) {
  Nodes nodes(program);
  nodes.insert(state, kNoNode, kNoAction);
  std::vector<Word> current;
  std::vector<Word> next;
  std::vector<ActionId> actions;
  std::size_t begin = 0;
  const std::uint64_t successor = successor_work(program);
  result.outcome = SearchResult::Outcome::kBudget;
  for (unsigned depth = 0; depth < max_length; ++depth) {
    const std::size_t end = nodes.size();
    for (const StoredId id : ids(to_id<StoredId>(begin), to_id<StoredId>(end))) {
      result.limit = spending.check(nodes.size(), nodes.memory_bytes(), result.work);
      if (result.limit != Limit::kNone) return;
      ++result.expanded;
      nodes.load(id, current);
      actions.clear();
      program.relevant_actions(current.data(), actions);
      for (const ActionId action : actions) {
        result.work += successor;
        if (!nodes.successor(current, action, next)) continue;
        const auto [child, fresh] = nodes.insert(next.data(), id, action);
        if (!fresh) continue;
        ++result.evaluated;
        if (program.is_goal(next.data())) {
          result.plan = nodes.plan_to(child);
          result.outcome = SearchResult::Outcome::kFound;
          result.lower_bound = depth + 1;
          return;
        }
        result.limit = spending.check(nodes.size(), nodes.memory_bytes(), result.work);
        if (result.limit != Limit::kNone) return;
      }
    }
    if (nodes.size() == end) {
      result.outcome = SearchResult::Outcome::kRefuted;
      result.lower_bound = kInfinite;
      return;
    }
    begin = end;
    result.lower_bound = std::max(result.lower_bound, depth + 2);
  }
  result.outcome = SearchResult::Outcome::kRefuted;
}

}  // namespace

SearchResult find_plan(const Program& program, RelaxedEvaluator& evaluator, const Word* state, unsigned max_length,
                       const Budget& budget, internal::Meter& meter) {
  SearchResult result;
  if (!settle(program, evaluator, state, max_length, result)) {
    PlanSearch(program, evaluator, state, max_length, budget, meter, result).run();
  }
  return result;
}

SearchResult find_shortest(const Program& program, RelaxedEvaluator& evaluator, const Word* state, unsigned max_length,
                           const Budget& budget, internal::Meter& meter) {
  SearchResult result;
  if (settle(program, evaluator, state, max_length, result)) return result;
  const Budget half{budget.states / 2, budget.bytes / 2, budget.work / 2};
  Spending blind(half, meter);
  breadth_first(program, state, max_length, blind, result);
  if (result.outcome != SearchResult::Outcome::kBudget) return result;

  Budget rest = budget;
  rest.states -= std::min(rest.states, half.states);
  Spending spending(rest, meter);
  BoundedSearch search(program, evaluator, state, max_length, true);
  Status status = Status::kRunning;
  while (status == Status::kRunning) status = search.run(kFirstTurn, spending, {0, 0, result.work}, result);
  result.work += search.work();
  result.evaluated += search.evaluated();
  result.expanded += search.expanded();
  if (status == Status::kFound) {
    result.outcome = SearchResult::Outcome::kFound;
    result.limit = Limit::kNone;
    result.lower_bound = static_cast<unsigned>(result.plan.size());
  } else if (status == Status::kExhausted) {
    result.outcome = SearchResult::Outcome::kRefuted;
    result.lower_bound = search.cut_nothing() ? kInfinite : std::max(result.lower_bound, max_length + 1);
  } else {
    result.lower_bound = std::max(result.lower_bound, search.frontier());
  }
  return result;
}

}  // namespace metactrl::lookahead
