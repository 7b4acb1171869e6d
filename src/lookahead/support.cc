// Support: may this action still be taken?
//
// Tier A reads the enumerated space. Where it has no answer (tier B, or a state outside of the enumerated cone, as a
// robot that was pushed may observe) a witness is found by search and remembered.
//
// What was found is remembered (known_plans.h): following a witness never searches again.
//
// A new candidate is answered by the first of these that can:
//
//   1. What is refuted for the state it comes from: its own plan has one action less to go.
//   2. The witness of that state, adapted (adapt.h): linear in its length, no search.
//   3. The same behind one more action: most of what was done can be undone at once.
//   4. h_max, which refutes.
//   5. A search, if there is something left to search with.
//
// In a large task (LookaheadOptions::large_task) an evaluation takes as long as all of 1 to 3 for many candidates. There
// 4 is left out, 5 looks only at the actions that the goal asks for (focus.h) and only while more actions are left than
// the witness has: a search from nothing that must beat the best plan known fails a hundred times before it succeeds. And
// a plan is remembered at the state that was asked about alone, not at those behind it, each of which takes kilobytes.
//
// What 5 may cost is bounded, and nothing is lost but choice: the state that is asked about has a witness already, and
// its first action stays allowed. It is needed most where it helps least. While actions are to spare, 2 and 3 answer
// nearly everything. When as many actions are left as the witness has, nearly every other action is one too many, and
// to prove that a search would have to go through all interleavings of the goals. So the candidates of one question
// share the budget's states, or fewer where the task is so large that each of them is expensive: a search gets a quarter
// of what is left of them, the last ones nothing. A candidate that was passed over is not searched for again. And all
// of 3 to 5 ends when its work is spent; 1 and 2 go on. All of this is counted, nothing is timed, and a copy
// counts on by itself: an answer depends on the questions that were asked before it along the same plan, and on nothing
// else. Where a part of the plan is taken back, what was found out and spent behind it is forgotten (back_to).
#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>
#include <utility>

#include "lookahead/adapt.h"
#include "lookahead/belief.h"
#include "lookahead/data.h"
#include "lookahead/greedy_search.h"
#include "lookahead/known_plans.h"
#include "lookahead/needless.h"
#include "lookahead/no_return.h"
#include "lookahead/search.h"
#include "lookahead/spending.h"
#include "support/log_math.h"
#include "support/meter.h"
#include "task/program.h"

namespace metactrl {

using lookahead::GoOn;
using lookahead::kInfinite;
using lookahead::SearchResult;
using lookahead::StateId;
using lookahead::StoredId;
using lookahead::SurrogateBelief;
using task::Word;

namespace {

using internal::kMinusInfinity;

// For the candidates of one question: states to look at times operators of the relaxed task, each of which takes some
// nanoseconds; and the states that are looked at however many operators there are.
constexpr std::size_t kQuestionWork = 1'500'000;
constexpr std::size_t kFewStates = 64;

}  // namespace

class Support::Impl {
 public:
  Impl(std::shared_ptr<const Lookahead> lookahead, const SupportOptions& options, Stop stop)
      : lookahead_(std::move(lookahead)),
        options_(options),
        meter_(std::move(stop)),
        data_(lookahead_->data()),
        program_(lookahead_->task().program()),
        evaluator_(data_.relaxed),
        adapter_(program_),
        state_(program_.total_words()),
        successor_(program_.total_words()),
        walk_(program_.total_words()),
        walk_next_(program_.total_words()),
        large_(data_.large()),
        known_(program_, large_ && options_.detours),
        affordable_(std::max(large_ ? 0 : kFewStates, kQuestionWork / (candidate_task().num_operators() + 1))),
        successor_work_(lookahead::successor_work(program_)),
        log_alphabet_(std::log(static_cast<double>(lookahead::alphabet_size(program_)))) {
    if (data_.surrogate) cursor_.emplace(*data_.surrogate);
    if (data_.focus) focused_.emplace(data_.focus->relaxed);
    if (!options_.detours) {
      no_return_ = std::make_unique<lookahead::NoReturn>(program_, data_.space ? &*data_.space : nullptr);
    }
    // The compiled plan is the first witness: following it never needs a search.
    if (data_.space || data_.plan.empty()) return;
    program_.initial(state_.data());
    program_.project(state_.data());
    known_.remember(state_.data(), data_.plan);
  }

  // Scratch memory is not copied.
  Impl(const Impl& other) : Impl(other.lookahead_, other.options_, other.meter_.stop()) {
    known_ = lookahead::KnownPlans(other.known_);
    no_return_ = other.no_return_ ? std::make_unique<lookahead::NoReturn>(*other.no_return_) : nullptr;
    around_ = other.around_;
    around_changes_ = other.around_changes_;
    candidate_work_ = other.candidate_work_;
    searched_in_all_ = other.searched_in_all_;
  }
  Impl& operator=(const Impl&) = delete;

  void set_path(std::span<const State> states) {
    if (!no_return_) return;
    no_return_->set_path(states);
    own_plan_.reset();
  }

  Answer may(const State& state, ActionId action, unsigned left) {
    searched_ = 0;
    find_witness(state, left);
    const Examined examined = examine(state.words().data(), action, left, false);
    return examined.idle ? Answer::kNo : examined.answer;
  }

  void candidates(const State& state, unsigned left, const SurrogateBelief& belief, std::vector<Candidate>& out) {
    out.clear();
    searched_ = 0;
    find_witness(state, left);
    actions_.clear();
    begin(belief);
    program_.applicable_actions(state.words().data(), actions_);
    for (const ActionId action : actions_) {
      const Examined examined = examine(state.words().data(), action, left, data_.options.weights);
      if (!examined.legal) continue;
      const bool costs = data_.options.costs && examined.answer == Answer::kYes;
      out.push_back({action, examined.idle ? Answer::kNo : examined.answer, examined.remaining,
                     costs ? remaining_cost(left - 1) : 0, examined.log_weight, log_probability(action),
                     cursor_ ? cursor_->log_end() : -log_alphabet_});
    }
  }

  GoOn go_on(const State& state, unsigned left, const SurrogateBelief& belief) {
    const Onward onward = look_onward(state, left, belief);
    const bool relevant = onward.log_relevant != kMinusInfinity;
    return {onward.answer, relevant ? onward.log_relevant : onward.log_idle};
  }

  std::optional<std::vector<ActionId>> plan(const State& state, unsigned left) {
    load(state.words().data(), state_.data());
    if (const std::optional<StateId> id = exact(state_.data(), left)) {
      if (data_.space->distance(*id) > left) return std::nullopt;
      return data_.space->shortest_plan(*id);
    }
    const StoredId known = certify(state_.data(), left, nullptr);
    if (known_.of(known).length > left) return std::nullopt;
    return known_.follow(known);
  }

  double log_weight(const State& state, unsigned left) {
    if (data_.surrogate) return trained_log_weight(state, left);
    load(state.words().data(), state_.data());
    return look(state_.data(), left, nullptr, true).log_weight;
  }

  std::size_t states_searched() const { return searched_in_all_; }

  lookahead::SupportMark mark() noexcept {
    const lookahead::KnownPlans::Mark known = known_.mark();
    return {known.states, known.changes, known.whole_plans, around_changes_.size(), candidate_work_};
  }

  void back_to(const lookahead::SupportMark& mark) noexcept {
    known_.back_to({mark.states, mark.changes, mark.whole_plans});
    for (; around_changes_.size() > mark.around; around_changes_.pop_back()) {
      const auto found = around_.find(around_changes_.back().id);
      if (found != around_.end()) found->second.resize(around_changes_.back().before);
    }
    candidate_work_ = mark.work;
    own_plan_.reset();
  }

  void release_forgotten() {
    if (known_.empty()) return;
    known_ = lookahead::KnownPlans(std::as_const(known_));
    std::erase_if(around_, [](const auto& one) { return one.second.empty(); });
  }

 private:
  using PlansAround = std::unordered_map<StoredId, std::vector<std::vector<ActionId>>>;

  // How many plans around what was passed were known of a state.
  struct AroundChange {
    StoredId id{};
    std::size_t before = 0;
  };

  // What candidates are searched in.
  const lookahead::RelaxedTask& candidate_task() const { return data_.focus ? data_.focus->relaxed : data_.relaxed; }

  // How a state was reached: a state that may have a witness, and the action taken there.
  struct Origin {
    const Word* state = nullptr;
    ActionId action{};
  };

  struct Examined {
    bool legal = true;
    bool idle = false;  // and not wanted; the rest is as if it were
    Answer answer = Answer::kUnknown;
    unsigned remaining = 0;
    double log_weight = kMinusInfinity;
  };

  // What taking one more action is worth, of all that lead on.
  struct Onward {
    Answer answer = Answer::kNo;
    double log_relevant = kMinusInfinity;
    double log_idle = kMinusInfinity;  // of actions that change nothing relevant
  };

  Onward look_onward(const State& state, unsigned left, const SurrogateBelief& belief) {
    Onward result;
    find_witness(state, left);
    begin(belief);
    actions_.clear();
    program_.applicable_actions(state.words().data(), actions_);
    bool unknown = false;
    for (const ActionId action : actions_) {
      const Examined examined = examine(state.words().data(), action, left, data_.options.weights);
      unknown = unknown || (examined.legal && !examined.idle && examined.answer == Answer::kUnknown);
      if (!examined.legal || examined.answer != Answer::kYes) continue;
      if (!examined.idle) result.answer = Answer::kYes;
      const double log_term = examined.log_weight + log_probability(action);
      double& log_sum = program_.action(action).relevant ? result.log_relevant : result.log_idle;
      const double larger = std::max(log_sum, log_term);
      if (larger != kMinusInfinity) {
        log_sum = larger + std::log(std::exp(log_sum - larger) + std::exp(log_term - larger));
      }
      // Without an exact table each further answer may cost a search, and the sum is not exact anyway.
      if (!data_.space && result.answer == Answer::kYes) break;
    }
    if (result.answer == Answer::kNo && unknown) result.answer = Answer::kUnknown;
    return result;
  }

  // Of the state whose candidates are asked about. Whoever decodes comes from a state with a witness; others may ask
  // about any state, and one search for it helps all of its candidates.
  void find_witness(const State& state, unsigned left) {
    known_.begin_question();
    load(state.words().data(), state_.data());
    if (exact(state_.data(), left)) return;
    const StoredId id = certify(state_.data(), left, nullptr);
    if (no_return_ && known_.of(id).length <= left) own_plan_ = plan_around(id, state_.data(), left, true);
  }

  void begin(const SurrogateBelief& belief) {
    if (cursor_) cursor_->begin(belief.hidden.empty() ? data_.surrogate->start() : belief.hidden);
  }

  // log p(action), of a trained surrogate for the action read last.
  double log_probability(ActionId action) const {
    if (cursor_) return cursor_->log_probability();
    return -log_alphabet_ * static_cast<double>(1 + program_.definition().actions.arguments(action).size());
  }

  // From successor_, which reaches the goal within `left` actions.
  double remaining_cost(unsigned left) {
    const std::optional<StateId> id = exact(successor_.data(), left);
    if (id && data_.costs) return data_.costs->cost(*id);
    double sum = 0;
    for (const ActionId action :
         id ? data_.space->shortest_plan(*id) : known_.follow(known_.intern(successor_.data()))) {
      sum += program_.definition().actions.cost(action);
    }
    return sum;
  }

  // Of the whole from here: what it is worth to stop and what it is worth to go on.
  double trained_log_weight(const State& state, unsigned left) {
    load(state.words().data(), state_.data());
    if (look(state_.data(), left, nullptr, false).answer != Answer::kYes) return kMinusInfinity;
    const double go_on_weight = look_onward(state, left, {}).log_relevant;
    double sum = go_on_weight == kMinusInfinity ? 0 : std::exp(go_on_weight);
    if (program_.is_goal(state_.data())) sum += std::exp(data_.surrogate->log_end(data_.surrogate->start()));
    return std::max(sum > 0 ? std::log(sum) : go_on_weight, kLowestLogWeight);
  }

  // Behind the action that the cursor has read: the probability of one plan.
  double trained_plan_weight(const std::vector<ActionId>& plan) {
    if (cursor_->log_probability() == kMinusInfinity) return kLowestLogWeight;
    cursor_->after(belief_);
    return std::max(data_.surrogate->log_plan(belief_, plan), kLowestLogWeight);
  }

  // The same over all plans, from the table.
  double trained_table_weight(StateId id, unsigned left) {
    if (cursor_->log_probability() == kMinusInfinity) return kLowestLogWeight;
    const double log_value = data_.hmm_table->log_value(id, left, cursor_->behind(), window_);
    return std::max(log_value - std::log(cursor_->total()), kLowestLogWeight);
  }

  void load(const Word* full, Word* projected) {
    std::copy(full, full + program_.total_words(), projected);
    program_.project(projected);
  }

  // The candidate `action` in `full`, with `left` actions left, itself included.
  Examined examine(const Word* full, ActionId action, unsigned left, bool weigh) {
    Examined result;
    result.answer = Answer::kNo;
    if (!program_.apply(full, action, successor_.data())) {
      result.legal = false;
      return result;
    }
    if (cursor_ && weigh) cursor_->read(action);
    if (left == 0) return result;
    const bool idle = !options_.idle_steps && is_idle(full);
    // Without an exact table its weight is not worth a search.
    if (idle && !data_.space) return result;
    program_.project(successor_.data());
    if (no_return_ && no_return_->passed(successor_.data())) return result;
    load(full, state_.data());
    const Origin origin{state_.data(), action};
    result = look(successor_.data(), left - 1, &origin, weigh);
    if (no_return_ && result.answer == Answer::kYes) look_around(action, left - 1, result);
    result.idle = idle;
    return result;
  }

  // The action that led to the successor has changed nothing.
  bool is_idle(const Word* full) const { return std::equal(successor_.begin(), successor_.end(), full); }

  // --- without coming back to a state --------------------------------------------------------------------------------

  // The action leads to successor_, which can reach the goal: can it by states that were not passed? Where the space
  // does not say, one plan is tried, and the one that is known to do so from the state before goes on doing so.
  void look_around(ActionId action, unsigned left, Examined& result) {
    const Word* const state = successor_.data();
    if (const std::optional<StateId> id = exact(state, left)) {
      const std::optional<unsigned> distance = no_return_->distance(*id, left, meter_);
      result.answer = distance ? Answer::kYes : Answer::kNo;
      result.remaining = distance.value_or(0);
    } else {
      const StoredId stored = known_.intern(state);
      std::optional<std::vector<ActionId>> plan;
      if (own_plan_ && !own_plan_->empty() && own_plan_->front() == action) {
        plan.emplace(own_plan_->begin() + 1, own_plan_->end());
        keep_around(stored, *plan);
      } else {
        plan = plan_around(stored, state, left, false);
      }
      result.answer = plan ? Answer::kYes : Answer::kUnknown;
      if (plan) result.remaining = static_cast<unsigned>(plan->size());
    }
    if (result.answer != Answer::kYes) result.log_weight = kMinusInfinity;
  }

  // A plan of at most `left` actions that meets no state that was passed, of those that are known. `here`: the state is
  // the last one that was passed.
  std::optional<std::vector<ActionId>> plan_around(StoredId id, const Word* state, unsigned left, bool here) {
    const std::vector<std::vector<ActionId>>& known = around_[id];
    const auto fits = [&](const std::vector<ActionId>& plan) {
      return plan.size() <= left && no_return_->avoids(state, plan, here);
    };
    const auto found = std::find_if(known.rbegin(), known.rend(), fits);
    if (found != known.rend()) return *found;
    // Lengths decrease along it, so it meets no state twice.
    std::vector<ActionId> plan = known_.follow(id);
    if (!fits(plan)) return std::nullopt;
    keep_around(id, plan);
    return plan;
  }

  void keep_around(StoredId id, const std::vector<ActionId>& plan) {
    std::vector<std::vector<ActionId>>& known = around_[id];
    around_changes_.push_back({id, known.size()});
    known.push_back(plan);
  }

  // Can the goal be reached from the projected `state` with `left` actions? A candidate's state has an origin.
  Examined look(const Word* state, unsigned left, const Origin* origin, bool weigh) {
    Examined result;
    if (const std::optional<StateId> id = exact(state, left)) {
      result.remaining = data_.space->distance(*id);
      result.answer = result.remaining <= left ? Answer::kYes : Answer::kNo;
      if (result.answer == Answer::kYes && weigh) result.log_weight = exact_weight(*id, state, left);
      return result;
    }
    const StoredId known_id = certify(state, left, origin);
    const lookahead::KnownPlans::Knowledge& known = known_.of(known_id);
    result.remaining = known.length;
    if (known.length <= left) {
      result.answer = Answer::kYes;
      if (weigh) result.log_weight = cursor_ ? trained_plan_weight(known_.follow(known_id)) : known.log_probability;
    } else {
      result.answer = known.refuted > left ? Answer::kNo : Answer::kUnknown;
    }
    return result;
  }

  // The enumerated state, when its distance decides the question.
  std::optional<StateId> exact(const Word* state, unsigned left) const {
    if (!data_.space) return std::nullopt;
    const std::optional<StateId> id = data_.space->find(state);
    return id && data_.space->decides(*id, left) ? id : std::nullopt;
  }

  double exact_weight(StateId id, const Word* state, unsigned left) {
    if (cursor_ && data_.hmm_table && data_.hmm_table->holds(id, left)) return trained_table_weight(id, left);
    if (cursor_) return trained_plan_weight(data_.space->shortest_plan(id));
    if (data_.table) return data_.table->log_weight(id, left);
    return known_.of(known_.remember(state, data_.space->shortest_plan(id))).log_probability;
  }

  // Makes sure that as much as the budget allows is known about the question; returns the state's index.
  StoredId certify(const Word* state, unsigned left, const Origin* origin) {
    const StoredId id = known_.intern(state);
    if (known_.of(id).answers(left)) return id;
    if (program_.is_goal(state)) return known_.remember(state, {});
    if (origin == nullptr) {
      if (!search(id, state, left, data_.options.search)) {
        known_.change(id).given_up = std::max(known_.of(id).given_up, left + 1);
      }
      return id;
    }
    known_.inherit(id, origin->state);
    if (known_.of(id).answers(left)) return id;
    const std::vector<ActionId>* const witness = known_.witness_of(origin->state);
    if (witness != nullptr && !witness->empty() && witness->front() == origin->action && witness->size() <= left + 1) {
      return known_.remember(state, {witness->begin() + 1, witness->end()});
    }
    if (witness != nullptr && adapter_.adapt(state, origin->action, *witness, left)) {
      return known_.remember(state, adapter_.result());
    }
    if (known_.of(id).passed_over > left || candidate_work_ >= options_.candidates.work) return id;
    if (witness != nullptr && witness->size() < left && detour(state, *witness)) return id;
    if (large_ && witness != nullptr && witness->size() >= left) return id;
    const std::size_t before = searched_in_all_;
    const std::uint64_t work_before = work_in_all_;
    const bool answered = focused_ ? search_in_focus(state, left) : search(id, state, left, candidate_budget());
    searched_ += searched_in_all_ - before;
    candidate_work_ += work_in_all_ - work_before;
    if (!answered) {
      known_.change(id).passed_over = std::max(known_.of(id).passed_over, left + 1);
    }
    return id;
  }

  // False when the budget ended before there was an answer.
  bool search(StoredId id, const Word* state, unsigned left, const Budget& budget) {
    const SearchResult result = find_plan(program_, evaluator_, state, left, budget, meter_);
    searched_in_all_ += result.evaluated;
    work_in_all_ += result.work;
    const bool refuted = result.outcome == SearchResult::Outcome::kRefuted;
    const unsigned bound = std::max(result.lower_bound, refuted ? left + 1 : 0);
    if (bound > known_.of(id).refuted) known_.change(id).refuted = bound;
    if (result.outcome == SearchResult::Outcome::kFound) known_.remember(state, result.plan);
    return result.outcome != SearchResult::Outcome::kBudget;
  }

  // In a large task. False when there is no answer, which is always so where there is no plan.
  bool search_in_focus(const Word* state, unsigned left) {
    const Budget budget = candidate_budget();
    lookahead::Spending spending(budget, meter_);
    lookahead::GreedySearch search(data_.focus->space, *focused_, state, lookahead::GreedySearch::kFollow);
    lookahead::Limit limit = lookahead::Limit::kNone;
    const lookahead::Status status = search.run(budget.states, spending, {}, limit);
    searched_in_all_ += search.evaluated();
    work_in_all_ += search.work();
    if (status != lookahead::Status::kFound) return false;
    std::vector<ActionId> plan = search.plan();
    plan = lookahead::without_steps(plan, lookahead::needless_steps(program_, state, plan, meter_));
    if (plan.size() > left) return false;
    known_.remember(state, plan);
    return true;
  }

  // A part of what the question has left; it may be nothing, which is enough for h_max.
  Budget candidate_budget() const {
    constexpr std::size_t kLittle = 64;
    Budget budget = data_.options.search;
    const std::size_t all = std::min({budget.states, options_.candidates.states, affordable_});
    const std::size_t left = all > searched_ ? all - searched_ : 0;
    budget.states = std::min(left, std::max(left / 4, kLittle));
    budget.bytes = std::min(budget.bytes, options_.candidates.bytes);
    budget.work = std::min(budget.work, options_.candidates.work - std::min(options_.candidates.work, candidate_work_));
    return budget;
  }

  // Tries the witness behind one more action.
  bool detour(const Word* state, const std::vector<ActionId>& witness) {
    detours_.clear();
    program_.relevant_actions(state, detours_);
    detour_state_.resize(program_.total_words());
    for (const ActionId action : detours_) {
      candidate_work_ += successor_work_;
      meter_.step(successor_work_);
      if (!program_.apply(state, action, detour_state_.data())) continue;
      program_.project(detour_state_.data());
      const std::optional<std::size_t> used = replay(detour_state_.data(), witness);
      if (!used) continue;
      std::vector<ActionId> plan{action};
      plan.insert(plan.end(), witness.begin(), witness.begin() + static_cast<std::ptrdiff_t>(*used));
      known_.remember(state, plan);
      return true;
    }
    return false;
  }

  // How many actions of `plan` lead from `state` to the goal; nothing if they do not.
  std::optional<std::size_t> replay(const Word* state, const std::vector<ActionId>& plan) {
    std::copy(state, state + program_.total_words(), walk_.begin());
    for (std::size_t i = 0; i < plan.size(); ++i) {
      if (program_.is_goal(walk_.data())) return i;
      if (!program_.applicable(walk_.data(), plan[i])) return std::nullopt;
      if (!program_.apply_in_place(walk_.data(), plan[i])) {
        if (!program_.apply(walk_.data(), plan[i], walk_next_.data())) return std::nullopt;
        program_.project(walk_next_.data());
        walk_.swap(walk_next_);
      }
      candidate_work_ += successor_work_;
      meter_.step(successor_work_);
    }
    if (!program_.is_goal(walk_.data())) return std::nullopt;
    return plan.size();
  }

  std::shared_ptr<const Lookahead> lookahead_;
  SupportOptions options_;
  internal::Meter meter_;
  const LookaheadData& data_;
  const task::Program& program_;
  lookahead::RelaxedEvaluator evaluator_;
  std::optional<lookahead::RelaxedEvaluator> focused_;  // of the focus
  lookahead::PlanAdapter adapter_;
  std::vector<Word> state_;
  std::vector<Word> successor_;
  std::vector<Word> walk_;
  std::vector<Word> walk_next_;
  std::vector<ActionId> actions_;
  std::vector<ActionId> detours_;
  std::vector<Word> detour_state_;
  // With SupportOptions::detours off.
  std::unique_ptr<lookahead::NoReturn> no_return_;
  std::optional<std::vector<ActionId>> own_plan_;  // of the state that is asked about, around what was passed
  PlansAround around_;                             // plans that were found so
  std::vector<AroundChange> around_changes_;
  std::size_t searched_ = 0;  // states evaluated for the question at hand
  std::size_t searched_in_all_ = 0;
  bool large_;
  lookahead::KnownPlans known_;
  std::size_t affordable_;  // states for the candidates of one question
  std::uint64_t successor_work_;
  std::uint64_t work_in_all_ = 0;     // of searches
  std::uint64_t candidate_work_ = 0;  // spent on candidates
  double log_alphabet_;
  // With a trained surrogate.
  std::optional<lookahead::BeliefCursor> cursor_;
  lookahead::HmmTable<float>::Window window_;
  std::vector<double> belief_;
};

Support::Support(std::shared_ptr<const Lookahead> lookahead, const SupportOptions& options, Stop stop)
    : impl_(std::make_unique<Impl>(std::move(lookahead), options, std::move(stop))) {}
Support::~Support() = default;
Support::Support(const Support& other) : impl_(std::make_unique<Impl>(*other.impl_)) {}
Support& Support::operator=(const Support& other) {
  if (this != &other) impl_ = std::make_unique<Impl>(*other.impl_);
  return *this;
}
Support::Support(Support&&) noexcept = default;
Support& Support::operator=(Support&&) noexcept = default;

void Support::set_path(std::span<const State> states) { impl_->set_path(states); }

Answer Support::may(const State& state, ActionId action, unsigned left) { return impl_->may(state, action, left); }

std::vector<Candidate> Support::candidates(const State& state, unsigned left) {
  std::vector<Candidate> result;
  impl_->candidates(state, left, {}, result);
  return result;
}

std::optional<std::vector<ActionId>> Support::plan(const State& state, unsigned left) {
  return impl_->plan(state, left);
}

std::size_t Support::states_searched() const { return impl_->states_searched(); }

double Support::log_weight(const State& state, unsigned left) { return impl_->log_weight(state, left); }

namespace lookahead {

void candidates(Support& support, const State& state, unsigned left, const SurrogateBelief& belief,
                std::vector<Candidate>& out) {
  support.impl().candidates(state, left, belief, out);
}

GoOn go_on(Support& support, const State& state, unsigned left, const SurrogateBelief& belief) {
  return support.impl().go_on(state, left, belief);
}

SupportMark mark(Support& support) noexcept { return support.impl().mark(); }

void back_to(Support& support, const SupportMark& mark) noexcept { support.impl().back_to(mark); }

void release_forgotten(Support& support) { support.impl().release_forgotten(); }

}  // namespace lookahead

}  // namespace metactrl
