// Plans that come back to no state that was passed before.
//
//     NoReturn no_return(program, space);
//     no_return.set_path(states);                      // what the plan so far has passed, the present state included
//     if (no_return.avoids(state, plan)) ...           // this plan meets none of them
//     no_return.distance(id, left, meter)              // of the shortest plan around them, of all there are
//
// A state is its goal-relevant part: an action that changes nothing else leads back to where it was taken.
//
// A shortest plan around a set of states meets no state twice, so whether a simple plan exists is a question of
// reachability. distance() answers it by A*, with the distance in the whole space as its estimate, which is exact until
// a passed state is in the way. What was found to lead nowhere is kept until the path changes: all candidates of one
// boundary together look at each state about once.
#ifndef METACTRL_SRC_LOOKAHEAD_NO_RETURN_H_
#define METACTRL_SRC_LOOKAHEAD_NO_RETURN_H_

#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lookahead/space.h"
#include "lookahead/state_table.h"
#include "metactrl/task.h"
#include "support/meter.h"
#include "task/program.h"

namespace metactrl::lookahead {

class NoReturn {
 public:
  // `space`, the task's own, where it was enumerated; otherwise null. Both must outlive this.
  NoReturn(const task::Program& program, const Space* space);
  NoReturn(const NoReturn& other);
  NoReturn& operator=(const NoReturn&) = delete;

  void set_path(std::span<const State> states);
  // Was the projected state passed?
  bool passed(const task::Word* state) const { return passed_.find(state).has_value(); }
  // Does the plan, which is legal from the projected `state`, meet no state that was passed? `from_here`: but the state
  // itself.
  bool avoids(const task::Word* state, std::span<const ActionId> plan, bool from_here = false);
  // Fewest actions from a state of the space to the goal by states that were not passed; nothing when that takes more
  // than `left`. Exact where the space decides about `left`.
  std::optional<unsigned> distance(StateId from, unsigned left, internal::Meter& meter);

 private:
  const task::Program& program_;
  const Space* space_;
  std::vector<State> path_;
  StateTable passed_;
  std::unordered_set<StateId> passed_ids_;        // the same, of the space
  std::unordered_map<StateId, unsigned> failed_;  // no plan around the path has so few actions or fewer
  std::vector<task::Word> current_;
  std::vector<task::Word> next_;
};

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_NO_RETURN_H_
