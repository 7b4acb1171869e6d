// KnownPlans: what is known about states that no enumeration covers.
//
//     KnownPlans known(program, whole);
//     StoredId id = known.remember(state, plan);        // an executed plan from the projected `state` to the goal
//     if (known.of(id).length <= left) plan = known.follow(id);
//     KnownPlans::Mark mark = known.mark();
//     known.back_to(mark);                              // forgets what came in between
//
// For a state it holds the best plan known, as its length and first action (the rest hangs at the successor), and the
// longest bound for which a plan was refuted. It is filled along whole plans, so following a plan never searches again.
// With `whole` a plan is noted at the state that was asked about alone, in one piece: where states take kilobytes, those
// along the plan are more than whoever asks will ever see.
//
// Costs: remember and follow are linear in the plan's length, with one lookup each action; with `whole` with one in all.
// Forgetting takes no longer than remembering did. Keeps its memory until it is destroyed; a copy has what it needs. One
// per thread.
#ifndef METACTRL_SRC_LOOKAHEAD_KNOWN_PLANS_H_
#define METACTRL_SRC_LOOKAHEAD_KNOWN_PLANS_H_

#include <cstddef>
#include <vector>

#include "lookahead/relaxed.h"
#include "lookahead/state_table.h"
#include "support/ids.h"
#include "support/log_math.h"
#include "task/program.h"

namespace metactrl::lookahead {

class KnownPlans {
 public:
  // What is known about a state.
  struct Knowledge {
    // There is a plan of at most `left` actions, or there is none, or a search of its own found neither.
    bool answers(unsigned left) const { return length <= left || refuted > left || given_up > left; }

    unsigned length = kInfinite;                        // of the best plan known
    ActionId first_action{};                            // of that plan
    double log_probability = internal::kMinusInfinity;  // of that plan under the uniform surrogate, the end included
    unsigned refuted = 0;                               // no plan has fewer actions than this
    unsigned given_up = 0;         // a search for a plan of less than this many actions ran out of budget
    unsigned passed_over = 0;      // the same, of a search with a candidate's part of the budget
    std::size_t whole = kNowhere;  // where the plan stands in one piece; nowhere: action by action
  };

  // How much is known. As long as it was not gone back behind.
  struct Mark {
    std::size_t states = 0;
    std::size_t changes = 0;
    std::size_t whole_plans = 0;
  };

  // Keeps a reference: `program` must outlive this.
  KnownPlans(const task::Program& program, bool whole);
  KnownPlans(const task::Program&& program, bool whole) = delete;
  KnownPlans(const KnownPlans& other);
  KnownPlans& operator=(const KnownPlans&) = delete;
  KnownPlans(KnownPlans&&) = default;
  KnownPlans& operator=(KnownPlans&&) = default;
  ~KnownPlans() = default;

  bool empty() const { return table_.size() == 0; }
  // The index of a projected state, which is new if nothing was known about it.
  StoredId intern(const task::Word* state);
  const Knowledge& of(StoredId id) const { return knowledge_[id]; }
  // To note something about a state of which there is something new to say.
  Knowledge& change(StoredId id);

  Mark mark() noexcept;
  void back_to(const Mark& mark) noexcept;

  // Notes that `plan`, which was executed, leads from the projected `state` to the goal; returns the state's index.
  StoredId remember(const task::Word* state, const std::vector<ActionId>& plan);
  // A plan from `id` takes one action less than one from `before` that begins with the action between them.
  void inherit(StoredId id, const task::Word* before);

  // The best plan known from a state that has one.
  std::vector<ActionId> follow(StoredId id);
  // The same, or null when there is none. Valid until the next call. It is looked up once for a question: the rest of it may
  // be improved meanwhile, and a copy, which has not seen it, must find the same for the next one.
  const std::vector<ActionId>* witness_of(const task::Word* state);
  void begin_question() { witness_.clear(); }

 private:
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
  struct Change {
    StoredId id{};
    Knowledge before;
  };

  StoredId remember_whole(const task::Word* state, const std::vector<ActionId>& plan);
  void advance(ActionId action);

  const task::Program* program_;
  bool whole_;
  double log_alphabet_;
  StateTable table_;
  internal::IdVector<StoredId, Knowledge> knowledge_;  // of the states in table_
  std::vector<std::vector<ActionId>> whole_plans_;
  // Of states that were there when a mark was set last: with the others goes what is known about them.
  std::vector<Change> changes_;
  std::size_t marked_ = 0;
  std::vector<task::Word> walk_;
  std::vector<task::Word> walk_next_;
  StoredId witness_id_{};
  std::vector<ActionId> witness_;  // of the state witness_id_
};

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_KNOWN_PLANS_H_
