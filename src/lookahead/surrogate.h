// Surrogate: a trained model's view of a task. It writes an action as a run of letters, the action's name and then one
// per argument, and knows how likely each is in each hidden state.
//
//     Surrogate surrogate(program, hmm);
//     std::vector<double> belief(surrogate.start());
//     surrogate.advance(belief, action);              // the action was taken
//
// A *belief* is the distribution of the hidden state that emits the next letter. A letter is a name or an object of the
// task; its emissions are those of the model's symbol for it. Several names, or several objects, without a symbol of
// their own share UNK evenly, so that all plans together have at most probability 1.
//
// Costs: 8 bytes * hidden * (names + objects + hidden). Immutable; may be read from many threads.
#ifndef METACTRL_SRC_LOOKAHEAD_SURROGATE_H_
#define METACTRL_SRC_LOOKAHEAD_SURROGATE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "metactrl/hmm.h"
#include "support/ids.h"
#include "task/program.h"

namespace metactrl::lookahead {

// Per object its place among those that some action takes as an argument, or kNoSlot: a domain's constants that only
// conditions name take none away from the objects that plans name.
constexpr std::uint32_t kNoSlot = 0xffffffffU;
internal::IdVector<ObjectId, std::uint32_t> object_slots(const task::Definition& definition);

class Surrogate {
 public:
  // Throws InputError when the model is not of the meta level, or knows none of the task's action names.
  Surrogate(const task::Program& program, const Hmm& hmm);

  std::size_t hidden() const { return hidden_; }
  std::size_t num_letters() const { return emission_.size() / hidden_; }
  // The letters of an action; the end of the plan is end_letter().
  std::span<const std::uint32_t> letters(ActionId action) const {
    return {letters_.data() + first_letter_[action], first_letter_[internal::next_of(action)] - first_letter_[action]};
  }
  std::size_t num_actions() const { return first_letter_.size() - 1; }
  std::uint32_t end_letter() const { return static_cast<std::uint32_t>(num_letters() - 1); }
  // Per hidden state.
  std::span<const double> emission(std::uint32_t letter) const {
    return {emission_.data() + letter * hidden_, hidden_};
  }
  // Row-major, from a row to a column.
  std::span<const double> transition() const { return transition_; }

  // --- beliefs -------------------------------------------------------------------------------------------------------
  const std::vector<double>& start() const { return start_; }
  double log_end(std::span<const double> belief) const;
  // Takes an action; log of its probability. After one that the model holds impossible it begins anew.
  double advance(std::vector<double>& belief, ActionId action) const;
  // log p(all of these actions, then the end). Linear in their number, hidden^2 per letter.
  double log_plan(std::vector<double> belief, std::span<const ActionId> plan) const;

  std::size_t memory_bytes() const {
    return (emission_.capacity() + transition_.capacity() + start_.capacity() + end_ahead_.capacity()) *
               sizeof(double) +
           (letters_.capacity() + first_letter_.capacity()) * sizeof(std::uint32_t);
  }

 private:
  friend class BeliefCursor;
  // out = in T
  void move(std::span<const double> in, std::vector<double>& out) const;

  std::size_t hidden_;
  std::vector<double> start_;
  std::vector<double> transition_;
  std::vector<double> emission_;   // [letter * hidden + state]
  std::vector<double> end_ahead_;  // per state: the probability that the next letter is the end
  std::vector<std::uint32_t> letters_;
  internal::IdVector<ActionId, std::uint32_t> first_letter_;  // and one more
};

// Asks about one action after the other from the same belief. Actions in ascending order share the work of common
// beginnings: hidden^2 for each new beginning, linear in hidden for each action.
class BeliefCursor {
 public:
  explicit BeliefCursor(const Surrogate& surrogate) : surrogate_(&surrogate) {}

  void begin(std::span<const double> belief);
  // Reads the action's letters.
  void read(ActionId action);

  // --- of the action read last ---------------------------------------------------------------------------------------
  // log p(action); minus infinity when it is impossible.
  double log_probability() const;
  // log p(end | action)
  double log_end() const;
  // The distribution of the hidden state that emitted the last letter, unnormalised; its sum is total().
  std::span<const double> behind() const { return behind_; }
  // The belief behind the action; that of the start when it is impossible.
  void after(std::vector<double>& belief) const;
  double total() const { return total_; }

 private:
  const Surrogate* surrogate_;
  std::vector<std::uint32_t> path_;           // letters behind which a belief is known
  std::vector<std::vector<double>> beliefs_;  // beliefs_[i] is the belief behind i of them, scaled to sum 1
  std::vector<double> log_scale_;             // and the logarithm of what it was scaled by
  std::vector<double> behind_;
  std::vector<double> scratch_;
  double total_ = 0;
  double log_total_scale_ = 0;
};

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_SURROGATE_H_
