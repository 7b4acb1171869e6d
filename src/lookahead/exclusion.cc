// Forgets all facts but a few, and looks at every state that can be reached as far as those few go.
//
// A condition on a forgotten fact is taken to hold, so every plan of the task is a plan for the few facts: goals that hold
// together in none of their states hold together nowhere. The few are at first the facts of the goals. A shortest plan
// for them is then carried out in the task; where an action lacks a fact that was forgotten, this is one of the few from now on,
// and so on until there is no plan for them any more, or one that can be carried out, or too many states. (This is
// refinement by counterexamples, of a projection.) Nothing about the few is guessed: with a fact come those that decide whether an effect
// changes it, and a fact of which that cannot be said stays forgotten.
//
// Before that, two things are asked that take no states: pairs of literals that never hold together (mutex_pairs.h), and what
// goals use up (supplies.h).
//
// Where all goals together come to no end, few of them are looked at, for which fewer facts count: two, three, then four.
// Sets that a plan was found to satisfy, or that contain a conflict, need not be looked at.
#include "lookahead/exclusion.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>

#include "lookahead/literal_actions.h"
#include "lookahead/mutex_pairs.h"
#include "lookahead/supplies.h"
#include "support/ids.h"

namespace metactrl::lookahead {

namespace {

using internal::ids;
using internal::index;
using internal::to_id;
using task::ConditionId;
using task::ConditionPool;
using task::Literal;
using task::Program;
using task::Word;

constexpr std::size_t kMostFacts = 64;
constexpr std::size_t kMostStates = 50'000;  // at a time
constexpr std::size_t kMostTogether = 4;
constexpr std::size_t kMostRelevantFacts = 2'000;  // where pairs of them are looked at

// A state as far as the few facts go: bit i is fact i.
using Few = std::uint64_t;

struct Change {
  Few with = 0;     // it happens where these hold
  Few without = 0;  // and these do not
  Few keep = ~Few{0};
  Few set = 0;

  bool happens(Few state) const { return (state & with) == with && (state & without) == 0; }
  bool none() const { return keep == ~Few{0} && set == 0; }
  auto operator<=>(const Change&) const = default;
};

// What some actions do to the few facts: the precondition and what always changes, then what changes under conditions.
struct Operator {
  std::vector<Change> changes;
  std::vector<ActionId> actions;

  bool applicable(Few state) const { return changes[0].happens(state); }
  // As Program::apply: what is set stays, whatever clears it.
  Few apply(Few state) const {
    Few keep = ~Few{0};
    Few set = 0;
    for (const Change& change : changes) {
      if (!change.happens(state)) continue;
      keep &= change.keep;
      set |= change.set;
    }
    return (state & keep) | set;
  }
};

// One set of goals.
class Refutation {
 public:
  Refutation(const Program& program, GoalSet wanted, std::uint64_t work, internal::Meter& meter)
      : program_(program), wanted_(wanted), most_work_(work), meter_(meter), place_(program.num_bits(), kForgotten) {}

  // Goals of those that are wanted; none where nothing was found out.
  std::vector<GoalSet> run() {
    for_each_wanted([&](ConditionId goal) { add_literals(goal); });
    while (work_ < most_work_) {
      make_operators();
      const std::optional<std::vector<std::size_t>> plan = explore();
      if (!plan) return exhausted_ ? smallest() : std::vector<GoalSet>();
      if (!refine(*plan)) return {};
    }
    return {};
  }

  std::uint64_t work() const { return work_; }
  // Goals that a plan was found to satisfy together, while looking.
  GoalSet satisfied() const { return satisfied_; }

 private:
  static constexpr std::uint8_t kForgotten = 0xff;

  template <typename Visit>
  void for_each_wanted(const Visit& visit) const {
    for (GoalSet rest = wanted_; rest != 0; rest &= rest - 1) visit(program_.goal_conditions()[std::countr_zero(rest)]);
  }

  // --- the few facts -------------------------------------------------------------------------------------------------

  static bool changes(std::span<const task::WordEdit> edits, std::uint32_t bit) {
    return std::any_of(edits.begin(), edits.end(), [&](const task::WordEdit& edit) {
      const Word mask = Word{1} << (bit & 63);
      return edit.word == bit >> 6 && ((edit.keep & mask) == 0 || (edit.set & mask) != 0);
    });
  }

  // The literals of a conjunction of stored facts, nothing of another condition.
  std::optional<std::span<const Literal>> conjunction(ConditionId condition) const {
    const ConditionPool::Node& node = program_.conditions().node(condition);
    if (node.op == ConditionPool::Op::kTrue) return std::span<const Literal>();
    if (node.op != ConditionPool::Op::kAllOf) return std::nullopt;
    const std::span<const Literal> literals = program_.conditions().literals(node);
    const bool stored = std::all_of(literals.begin(), literals.end(),
                                    [&](const Literal& literal) { return literal.bit() < program_.num_stored_bits(); });
    return stored ? std::optional(literals) : std::nullopt;
  }

  // With those that decide about it. False: it stays forgotten.
  bool add(std::uint32_t bit) {
    if (bit >= program_.num_relevant_bits() || place_[bit] != kForgotten) return false;
    std::vector<std::uint32_t> more = {bit};
    for (std::size_t i = 0; i < more.size(); ++i) {
      if (bits_.size() + more.size() > kMostFacts) return false;
      for (const ActionId action : program_.relevant_action_list()) {
        for (const task::ConditionalEffect& effect : program_.effects(program_.action(action))) {
          ++work_;
          if (!changes(program_.edits(effect), more[i])) continue;
          const std::optional<std::span<const Literal>> literals = conjunction(effect.condition);
          if (!literals) return false;
          for (const Literal& literal : *literals) {
            if (place_[literal.bit()] != kForgotten || std::ranges::find(more, literal.bit()) != more.end()) continue;
            more.push_back(literal.bit());
          }
        }
      }
    }
    for (const std::uint32_t one : more) {
      place_[one] = static_cast<std::uint8_t>(bits_.size());
      bits_.push_back(one);
    }
    return true;
  }

  // The facts of a condition; true when one of them was forgotten and is not any more.
  bool add_literals(ConditionId condition) {
    const ConditionPool::Node& node = program_.conditions().node(condition);
    bool added = false;
    if (node.op == ConditionPool::Op::kAllOf || node.op == ConditionPool::Op::kAnyOf) {
      for (const Literal& literal : program_.conditions().literals(node)) added = add(literal.bit()) || added;
    } else {
      for (const ConditionId child : program_.conditions().children(node)) added = add_literals(child) || added;
    }
    return added;
  }

  Few few(const Word* state) const {
    Few out = 0;
    for (std::size_t i = 0; i < bits_.size(); ++i) out |= Few{task::test_bit(state, bits_[i])} << i;
    return out;
  }

  // --- what actions do to them ---------------------------------------------------------------------------------------

  void require(std::span<const Literal> literals, Change& change) const {
    for (const Literal& literal : literals) {
      if (place_[literal.bit()] == kForgotten) continue;
      (literal.negated() ? change.without : change.with) |= Few{1} << place_[literal.bit()];
    }
  }
  void edit(std::span<const task::WordEdit> edits, Change& change) const {
    for (std::size_t i = 0; i < bits_.size(); ++i) {
      const Word mask = Word{1} << (bits_[i] & 63);
      for (const task::WordEdit& edit : edits) {
        if (edit.word != bits_[i] >> 6) continue;
        if ((edit.keep & mask) == 0) change.keep &= ~(Few{1} << i);
        if ((edit.set & mask) != 0) change.set |= Few{1} << i;
      }
    }
  }

  void make_operators() {
    operators_.clear();
    std::map<std::vector<Change>, std::size_t> known;
    for (const ActionId action : program_.relevant_action_list()) {
      const task::ActionProgram& a = program_.action(action);
      std::vector<Change> changes(1);
      edit(program_.edits(a), changes[0]);
      bool does_something = !changes[0].none();
      for (const task::ConditionalEffect& effect : program_.effects(a)) {
        Change change;
        edit(program_.edits(effect), change);
        if (change.none()) continue;
        require(*conjunction(effect.condition), change);
        changes.push_back(change);
        does_something = true;
      }
      work_ += 1 + bits_.size() * (1 + program_.edits(a).size() + program_.effects(a).size());
      if (!does_something) continue;
      require(program_.precondition(a), changes[0]);
      const auto [place, fresh] = known.emplace(std::move(changes), operators_.size());
      if (fresh) operators_.push_back({place->first, {}});
      operators_[place->second].actions.push_back(action);
    }
    meter_.step(program_.relevant_action_list().size());
  }

  // --- their states --------------------------------------------------------------------------------------------------

  struct Node {
    Few state = 0;
    std::size_t parent = 0;
    std::size_t way = 0;  // operator
  };

  // Whatever the forgotten facts are.
  bool may_hold(const Literal& literal, Few state) const {
    const std::uint8_t place = place_[literal.bit()];
    return place == kForgotten || ((state >> place & 1) != 0) != literal.negated();
  }
  bool may_hold(ConditionId condition, Few state) const {
    const ConditionPool::Node& node = program_.conditions().node(condition);
    const auto literal_may = [&](const Literal& literal) { return may_hold(literal, state); };
    const auto child_may = [&](ConditionId child) { return may_hold(child, state); };
    switch (node.op) {
      case ConditionPool::Op::kFalse:
        return false;
      case ConditionPool::Op::kAllOf:
        return std::ranges::all_of(program_.conditions().literals(node), literal_may);
      case ConditionPool::Op::kAnyOf:
        return std::ranges::any_of(program_.conditions().literals(node), literal_may);
      case ConditionPool::Op::kAnd:
        return std::ranges::all_of(program_.conditions().children(node), child_may);
      case ConditionPool::Op::kOr:
        return std::ranges::any_of(program_.conditions().children(node), child_may);
      default:
        return true;
    }
  }
  GoalSet goals(Few state) const {
    GoalSet out = 0;
    for (GoalSet rest = wanted_; rest != 0; rest &= rest - 1) {
      const int goal = std::countr_zero(rest);
      if (may_hold(program_.goal_conditions()[goal], state)) out |= GoalSet{1} << goal;
    }
    return out;
  }

  // A shortest plan for the few facts, as operators. Nothing when there is none, or the states are too many.
  std::optional<std::vector<std::size_t>> explore() {
    std::vector<Word> initial(program_.total_words());
    program_.initial(initial.data());
    nodes_.assign(1, {few(initial.data()), 0, 0});
    std::unordered_set<Few> seen = {nodes_[0].state};
    if (goals(nodes_[0].state) == wanted_) return std::vector<std::size_t>();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Few state = nodes_[i].state;
      work_ += operators_.size();
      meter_.step(operators_.size());
      for (std::size_t way = 0; way < operators_.size(); ++way) {
        if (!operators_[way].applicable(state)) continue;
        const Few next = operators_[way].apply(state);
        if (!seen.insert(next).second) continue;
        nodes_.push_back({next, i, way});
        if (goals(next) == wanted_) return plan_to(nodes_.size() - 1);
      }
      if (nodes_.size() > kMostStates || work_ > most_work_) return std::nullopt;
    }
    exhausted_ = true;
    return std::nullopt;
  }

  std::vector<std::size_t> plan_to(std::size_t node) const {
    std::vector<std::size_t> plan;
    for (; node != 0; node = nodes_[node].parent) plan.push_back(nodes_[node].way);
    std::ranges::reverse(plan);
    return plan;
  }

  // --- what a plan for them lacks ------------------------------------------------------------------------------------

  // Carries it out, by whichever of an operator's actions is possible. True when that failed for want of a fact that was
  // forgotten and is not any more.
  bool refine(const std::vector<std::size_t>& plan) {
    std::vector<Word> state(program_.total_words());
    std::vector<Word> next(program_.total_words());
    if (!program_.initial(state.data())) return false;
    program_.project(state.data());
    for (const std::size_t way : plan) {
      const std::vector<ActionId>& actions = operators_[way].actions;
      work_ += actions.size();
      const auto possible = std::ranges::find_if(actions, [&](ActionId action) {
        return program_.applicable(state.data(), action) && program_.apply(state.data(), action, next.data());
      });
      if (possible == actions.end()) return add_missing(actions, state.data());
      program_.project(next.data());
      state.swap(next);
    }
    for (std::size_t goal = 0; goal < program_.goal_conditions().size(); ++goal) {
      const bool holds = program_.conditions().holds(program_.goal_conditions()[goal], state.data());
      satisfied_ |= GoalSet{holds} << goal;
    }
    bool added = false;
    for_each_wanted([&](ConditionId goal) {
      if (!program_.conditions().holds(goal, state.data())) added = add_literals(goal) || added;
    });
    return added;
  }

  // What keeps the action that lacks least.
  bool add_missing(const std::vector<ActionId>& actions, const Word* state) {
    std::vector<std::uint32_t> least;
    for (const ActionId action : actions) {
      std::vector<std::uint32_t> missing;
      for (const Literal& literal : program_.precondition(program_.action(action))) {
        if (!literal.holds(state) && place_[literal.bit()] == kForgotten) missing.push_back(literal.bit());
      }
      if (!missing.empty() && (least.empty() || missing.size() < least.size())) least = std::move(missing);
    }
    return std::ranges::any_of(least, [&](std::uint32_t bit) { return add(bit); });
  }

  // --- the answer ----------------------------------------------------------------------------------------------------

  // Where too many sets of goals are met to compare them all, that all goals exclude each other is all that is said.
  std::vector<GoalSet> smallest() {
    std::vector<GoalSet> met;  // the largest
    for (const Node& node : nodes_) {
      work_ += met.size();
      if (work_ > most_work_) return {wanted_};
      add_largest(met, goals(node.state));
    }
    std::vector<GoalSet> small = smallest_unmet(met, wanted_);
    if (!small.empty()) return small;
    GoalSet left = wanted_;
    for (GoalSet rest = wanted_; rest != 0; rest &= rest - 1) {
      const GoalSet fewer = left & ~(rest & -rest);
      if (std::ranges::none_of(met, [&](GoalSet met) { return (fewer & ~met) == 0; })) left = fewer;
    }
    return {left};
  }

  const Program& program_;
  GoalSet wanted_;
  std::uint64_t most_work_;
  internal::Meter& meter_;
  std::vector<std::uint8_t> place_;  // by bit of the program: among the few, or kForgotten
  std::vector<std::uint32_t> bits_;  // the few
  std::vector<Operator> operators_;
  std::vector<Node> nodes_;
  GoalSet satisfied_ = 0;
  std::uint64_t work_ = 0;
  bool exhausted_ = false;
};

// One set of goals after the other.
class Sweep {
 public:
  Sweep(const Program& program, std::uint64_t work, bool every, internal::Meter& meter)
      : program_(program), work_(work), every_(every), meter_(meter) {}

  std::vector<GoalSet> run(GoalSet all) {
    if (program_.num_relevant_bits() <= kMostRelevantFacts) look_at_literals();
    if (!done()) look_at(all, work_ / 4);
    for (std::size_t size = 2; size <= kMostTogether && !done(); ++size) choose(all, size, 0);
    return std::move(conflicts_);
  }

 private:
  bool done() const { return work_ == 0 || (!every_ && !conflicts_.empty()); }

  void look_at_literals() {
    const LiteralTask task(program_);
    std::uint64_t work = work_ / 4;
    work_ -= work;
    if (const std::optional<MutexPairs> pairs = MutexPairs::find(task, work, meter_)) find_pairs(task, *pairs);
    if (!done()) supplies_ = Supplies::find(task, work, meter_);
    work_ += work;
  }

  void find_pairs(const LiteralTask& task, const MutexPairs& pairs) {
    const auto excluded = [&](std::size_t i, std::size_t j) {
      return std::ranges::any_of(task.goals[i], [&](LiteralCode a) {
        return std::ranges::any_of(task.goals[j], [&](LiteralCode b) { return pairs.exclude(a, b); });
      });
    };
    for (std::size_t i = 0; i < task.goals.size(); ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        if (!excluded(i, i) && !excluded(j, j) && excluded(i, j))
          conflicts_.push_back(GoalSet{1} << i | GoalSet{1} << j);
      }
      if (excluded(i, i)) conflicts_.push_back(GoalSet{1} << i);
    }
  }

  void choose(GoalSet rest, std::size_t more, GoalSet chosen) {
    if (more == 0) {
      constexpr std::uint64_t kMostEach = 2'000'000;
      look_at(chosen, std::min(work_, kMostEach));
      return;
    }
    for (; rest != 0 && !done(); rest &= rest - 1) {
      const GoalSet goal = rest & -rest;
      choose(rest & ~goal, more - 1, chosen | goal);
    }
  }

  void look_at(GoalSet goals, std::uint64_t work) {
    const auto part_of = [](GoalSet part, GoalSet whole) { return (part & ~whole) == 0; };
    if (std::ranges::any_of(conflicts_, [&](GoalSet conflict) { return part_of(conflict, goals); })) return;
    if (std::ranges::any_of(satisfied_, [&](GoalSet set) { return part_of(goals, set); })) return;
    if (const GoalSet exceeding = supplies_ ? supplies_->exceeded_by(goals) : 0; exceeding != 0) {
      conflicts_.push_back(exceeding);
      return;
    }
    Refutation refutation(program_, goals, work, meter_);
    const std::vector<GoalSet> found = refutation.run();
    conflicts_.insert(conflicts_.end(), found.begin(), found.end());
    add_largest(satisfied_, refutation.satisfied());
    work_ -= std::min(work_, refutation.work());
  }

  const Program& program_;
  std::uint64_t work_;
  bool every_;
  internal::Meter& meter_;
  std::vector<GoalSet> conflicts_;
  std::vector<GoalSet> satisfied_;
  std::optional<Supplies> supplies_;
};

}  // namespace

std::vector<GoalSet> find_exclusion(const Program& program, std::uint64_t work, bool every, internal::Meter& meter) {
  const std::size_t count = program.goal_conditions().size();
  std::vector<Word> initial(program.total_words());
  if (count < 2 || count > kMostGoals || !program.initial(initial.data())) return {};
  const GoalSet all = count == kMostGoals ? ~GoalSet{0} : (GoalSet{1} << count) - 1;
  return Sweep(program, work, every, meter).run(all);
}

}  // namespace metactrl::lookahead
