// Lookahead: what can still succeed.
//
// Two questions that must not be mixed:
//
//   Support: *may* this action be taken, with so many actions left? A boolean with a proof: yes comes with a plan (or
//            an exact distance), no comes with a refutation. When neither is found within the budget the answer is
//            "unknown", and whoever decodes treats it as no.
//   Weight:  *how much* of the future does it keep? A number that ranks supported actions and decides nothing else: the
//            probability that a surrogate model, the uniform one or a trained one (hmm.h), finishes with a plan that
//            reaches the goal.
//
//     auto lookahead = metactrl::Lookahead::compile(task, {});
//     if (lookahead->verdict() != metactrl::Verdict::kSolvable) std::cerr << lookahead->reason() << '\n';
//     metactrl::Support support(lookahead);
//     for (const metactrl::Candidate& c : support.candidates(task.initial_state(), lookahead->horizon()))
//       if (c.answer == metactrl::Answer::kYes) std::cout << task.text(c.action) << ' ' << c.log_weight << '\n';
//
// Two tiers certify support. Tier A (kExact) enumerates the goal-relevant projection of the state space and knows the
// exact goal distance of every state. Where that outgrows its budget, tier B (kWitness) finds a plan by heuristic
// search for each candidate, and refutes by h-max or by exhausting the states within the bound. docs/guarantees.md has
// the argument.
#ifndef METACTRL_LOOKAHEAD_H_
#define METACTRL_LOOKAHEAD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metactrl/error.h"
#include "metactrl/hmm.h"
#include "metactrl/task.h"

namespace metactrl {

enum class Verdict { kSolvable, kInfeasible, kUndecided };
enum class Answer : std::uint8_t { kNo, kYes, kUnknown };

const char* to_string(Verdict verdict);

// Running out of a budget is an answer (kUnknown, kUndecided), never an error. A budget is an amount of work: it ends at
// the same place on every machine, however busy. Who has to limit the time passes a Stop (error.h) instead.
struct Budget {
  std::size_t states = 1'000'000;
  std::size_t bytes = std::size_t{1} << 30;
  // In steps: a precondition or effect of the relaxed task that is looked at, a word of a state that is written, a rule
  // for a derived fact that is tried. Each takes some nanoseconds.
  std::uint64_t work = 40'000'000'000;

  friend bool operator==(const Budget&, const Budget&) = default;
};

// Where the weights of a trained surrogate are computed, when that is not the CPU. Shareable between threads and tasks.
class LookaheadDevice;
// An NVIDIA GPU, by its number. Throws InputError where there is none, or in a build without METACTRL_CUDA. Costly to
// make: make one and share it. Logarithms of weights agree with the CPU's to 1e-4 of their size; what is supported does
// not depend on them. Decoding does not need the GPU. A table for which it has too little memory is a std::bad_alloc.
std::shared_ptr<const LookaheadDevice> make_cuda_lookahead_device(int number = 0);

// For LookaheadOptions::improve where somebody will read the plan: about a tenth of a second, half a second in tasks with
// hundreds of thousands of actions.
constexpr std::uint64_t kImproveFirstPlan = 20'000'000;

struct LookaheadOptions {
  // A plan may have at most this many actions. When the shortest known plan needs more, the horizon grows to it plus
  // `slack` and `horizon_rule()` says so; `fixed_horizon` forbids that.
  unsigned horizon = 40;
  bool fixed_horizon = false;
  // Instead, unless it is fixed: as many actions as the best plan known has, plus `slack`, so that a model cannot wander.
  bool fitted_horizon = false;
  // Actions to spare beyond the best plan known. None: a quarter of it and at least 2 where the horizon is fitted, 8 where
  // it grows.
  std::optional<unsigned> slack;
  // Know the cost of going on, too (Candidate::remaining_cost), and a cheap plan beforehand: in tier A the cheapest one.
  bool costs = false;
  // For tier A: enumeration of the projected state space.
  Budget exact{200'000, std::size_t{256} << 20, 20'000'000'000};
  // For tier B: the search for a first plan, and for one from each state that is asked about and has none yet.
  Budget search{5'000'000, std::size_t{2} << 30, 40'000'000'000};
  // Steps (Budget::work) for making that first plan cheaper, or shorter where the task has no metric; up to 100 million
  // where so many are but 64 evaluations by the heuristics. 0: as it is found. Tier A, where any are given, takes the
  // cheapest plan where the task has a metric.
  std::uint64_t improve = 0;
  // A task is large when one evaluation by the heuristics takes at least so many steps. In tier B candidates are then
  // searched for among the actions that the goal asks for, and only while more actions are left than the best plan known
  // has: choice is lost, no guarantee.
  std::uint64_t large_task = 5'000;
  // The weight table: horizon layers over the enumerated states.
  std::size_t weight_bytes = std::size_t{256} << 20;
  bool weights = true;
  // The surrogate that weights come from; none: the uniform one.
  std::optional<Hmm> hmm;
  // Computes the weight table of a trained surrogate; none: the CPU.
  std::shared_ptr<const LookaheadDevice> device;
};

// For a plan that somebody will read: at most what the best plan known has and some to spare, and that one made good.
inline LookaheadOptions fitted_lookahead() {
  LookaheadOptions options;
  options.fitted_horizon = true;
  options.improve = kImproveFirstPlan;
  return options;
}

// What an action that is supported is worth at least: floats rank, they never decide.
constexpr double kLowestLogWeight = -1e4;

class LookaheadData;

// Everything about a task that is computed once: immutable, shareable between threads.
class Lookahead {
 public:
  enum class Tier { kExact, kWitness };

  // Throws InputError when options.hmm knows nothing of the task's actions, Stopped when `stop` says so.
  static std::shared_ptr<const Lookahead> compile(const Task& task, const LookaheadOptions& options,
                                                  const Stop& stop = {});
  ~Lookahead();

  const Task& task() const { return task_; }
  // Can the goal be reached from the initial state within horizon() actions?
  Verdict verdict() const;
  // One sentence for a person: why infeasible, which budget ended, or which tier certified it.
  const std::string& reason() const;
  // The goals that cannot be reached even on their own, when the verdict is kInfeasible (may be empty: only their
  // conjunction is unreachable).
  const std::vector<GoalId>& unreachable_goals() const;
  Tier tier() const;
  unsigned horizon() const;
  // How the horizon in use came about: "as asked", "shortest plan plus slack" where the table for more did not fit, "grown
  // to the shortest known plan plus slack", "the best known plan plus slack" where it is fitted.
  const char* horizon_rule() const;
  // Where the weights come from: "uniform, exact" (over all plans, by backward recursion), "uniform, witness plan only"
  // (the probability of one plan, a lower bound), the same two "trained", or "none".
  const char* weight_rule() const;
  // Over all plans, not by one.
  bool weights_exact() const;
  // Length of a shortest plan, when it is known.
  std::optional<unsigned> shortest_plan_length() const;
  // What every plan costs at least, by the task's metric, or in actions where it has none; 0 where nothing is known.
  double least_cost() const;
  // Nor is there a plan that costs less than plan().
  bool plan_is_cheapest() const;
  // Enumerated goal-relevant states (tier A only).
  std::optional<std::size_t> num_states() const;
  // A plan from the initial state; empty when none is known.
  const std::vector<ActionId>& plan() const;
  std::size_t memory_bytes() const;
  // Steps (Budget::work) that compile() took, all its computations together.
  std::uint64_t work() const;

  // What the library itself asks (lookahead/data.h).
  const LookaheadData& data() const { return *data_; }

 private:
  Lookahead(Task task, std::unique_ptr<LookaheadData> data);
  Task task_;
  std::unique_ptr<LookaheadData> data_;
};
const char* to_string(Lookahead::Tier tier);

// A plan as a surrogate of the meta level reads it, its end included: each action's name, then the slots of its
// arguments. An object's slot is its place among those objects of the task that some action takes as an argument.
std::vector<SymbolId> plan_symbols(const Task& task, const Alphabet& alphabet, std::span<const ActionId> plan);

// An action that is legal now, and what becomes of it.
struct Candidate {
  ActionId action{};
  Answer answer = Answer::kUnknown;
  // Actions needed after this one: exact in tier A, the witness's length in tier B. Meaningful when answer is kYes.
  unsigned remaining = 0;
  // What those cost at least, in tier B by the witness; with LookaheadOptions::costs.
  double remaining_cost = 0;
  // log p(goal reached | this action taken), of all plans, those with idle steps included. Finite when answer is kYes, and
  // for an idle action that is not wanted; -infinity otherwise.
  double log_weight = 0;
  // log p(this action) and log p(the plan ends behind it), by the surrogate. Where weights are computed.
  double log_probability = 0;
  double log_end = 0;
};

// What a request wants of its plan, and what it may spend to get it.
struct SupportOptions {
  // For candidates, where the lookahead is not exact. `states`: the searches for all candidates of one question look at
  // about so many together, in large tasks at fewer; `bytes`: what one of them remembers; `work`: for all questions
  // together. When it is spent, plans that are known are still followed and adapted, and nothing is searched for: choice
  // is lost, no guarantee.
  Budget candidates{1'000, std::size_t{2} << 30, 4'000'000'000};
  // Take actions that change nothing, too. Without them no plan is lost but those that contain one.
  bool idle_steps = false;
  // Plans may come back to a state that they have passed. Where they may not, a state is what matters for the goal, so
  // that every action does something for it; and where the lookahead is not exact, choice is lost besides, no guarantee.
  bool detours = true;
};

// Per-request view of a Lookahead: caches witnesses along a plan. Cheap to make, one per thread.
class Support {
 public:
  // Answers that need a search throw Stopped when `stop` says so; what was known before still is.
  explicit Support(std::shared_ptr<const Lookahead> lookahead, const SupportOptions& options = {}, Stop stop = {});
  ~Support();
  // The copy knows every witness that the original knows: what was supported there is supported here. It goes on from
  // what the original has spent and counts for itself: its answers do not depend on what others are asked.
  Support(const Support& other);
  Support& operator=(const Support& other);
  Support(Support&&) noexcept;
  Support& operator=(Support&&) noexcept;

  // With SupportOptions::detours off: the states that the plan has passed, the one that is asked about next included.
  void set_path(std::span<const State> states);
  // May `action`, which must be legal in `state`, be taken when `left` actions (this one included) are left?
  Answer may(const State& state, ActionId action, unsigned left);
  // All legal actions in `state` with their answers, ascending by action.
  std::vector<Candidate> candidates(const State& state, unsigned left);
  // A plan from `state` of at most `left` actions, when support for it is known.
  std::optional<std::vector<ActionId>> plan(const State& state, unsigned left);
  // log p(goal reached with at most `left` actions) from `state`, as at the start of a plan; -infinity when
  // unsupported.
  double log_weight(const State& state, unsigned left);
  // How many states searches have looked at for all answers so far, those of the Support that this is a copy of
  // included.
  std::size_t states_searched() const;

  // What the library's decoders ask besides (lookahead/belief.h).
  class Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// Why a task has no plan, and what would help.
struct WhyInfeasible {
  // In the words of its domain, a sentence for each: what nothing can make true and what would need it, or the smallest
  // set of goals that exclude each other. Empty when it has a plan, or nothing was found out.
  std::vector<std::string> reasons;
  // Single changes with which it would have a plan, each proved by one: "without the goal (lit c)", "with (sink basin)
  // at the start". Some, not all.
  std::vector<std::string> would_help;
};

// Looks at the state space some more times, within a budget of its own. When `stop` asks for an end: what was found.
WhyInfeasible why_infeasible(const Task& task, const Stop& stop = {});

}  // namespace metactrl

#endif  // METACTRL_LOOKAHEAD_H_
