// GreedySearch: some plan, soon. Lazy best-first search with FF values; it knows nothing of bounds and costs.
//
//     GreedySearch search(space, evaluator, state, GreedySearch::kFollow);
//     while (status == Status::kRunning) status = search.run(256, spending, {}, result);
//
// It goes on where it stopped, so it can take turns with others.
#ifndef METACTRL_SRC_LOOKAHEAD_GREEDY_SEARCH_H_
#define METACTRL_SRC_LOOKAHEAD_GREEDY_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lookahead/focus.h"
#include "lookahead/relaxed.h"
#include "lookahead/search_nodes.h"
#include "lookahead/spending.h"
#include "task/program.h"

namespace metactrl::lookahead {

class GreedySearch {
 public:
  // With kFollow, relaxed plans are executed as far as they can be: a plan after a few states, with detours. Without,
  // one action at a time.
  enum Style : std::uint8_t { kFollow, kStep };

  // `evaluator` is one of the actions of `space`; both must outlive this, and nobody else may use the evaluator while
  // this runs.
  GreedySearch(const ActionSpace& space, RelaxedEvaluator& evaluator, const task::Word* state, Style style);

  // Goes on for at most `turn` evaluations. kExhausted: there is no plan of actions of the space.
  Status run(std::size_t turn, Spending& spending, const Others& others, Limit& limit);
  // After kFound.
  std::vector<ActionId> plan() const { return nodes_.plan_to(*goal_); }

  std::size_t size() const { return nodes_.size(); }
  std::size_t evaluated() const { return evaluated_; }
  std::size_t expanded() const { return expanded_; }
  std::uint64_t work() const {
    return evaluated_ * evaluator_.task().evaluation_work() + successors_ * successor_work_;
  }
  std::size_t memory_bytes() const { return nodes_.memory_bytes() + all_.memory_bytes() + helpful_.memory_bytes(); }

 private:
  struct Cursor {
    StoredId node;
    std::uint32_t next;  // index into the node's applicable actions
  };
  struct Edge {
    StoredId node;
    ActionId action;
  };

  std::optional<StoredId> visit(StoredId id, std::vector<task::Word>& state);
  unsigned evaluate(StoredId id, const std::vector<task::Word>& state);
  void follow_relaxed_plan(std::vector<task::Word>& state);
  bool execute(ActionId action, std::vector<task::Word>& state);
  bool execute_pending(std::vector<task::Word>& state);
  bool replace_pending(std::vector<task::Word>& state);
  bool pop(StoredId& node, ActionId& action);
  void load(StoredId node);

  const ActionSpace& space_;
  const task::Program& program_;
  RelaxedEvaluator& evaluator_;
  std::uint64_t successor_work_;
  bool follow_;  // relaxed plans
  Nodes nodes_;
  std::optional<StoredId> goal_;
  std::vector<task::Word> current_;
  std::vector<task::Word> next_;
  StoredId loaded_{0};
  StoredId actions_of_ = kNoNode;
  std::vector<ActionId> actions_;
  std::vector<ActionId> preferred_;
  std::vector<RelaxedStep> pending_;
  std::vector<ActionId> macro_;
  std::vector<task::Word> step_;
  BucketQueue<Cursor, true> all_;
  BucketQueue<Edge, true> helpful_;
  long all_priority_ = 0;
  long helpful_priority_ = 0;
  unsigned best_ = kInfinite;
  std::size_t evaluated_ = 0;
  std::size_t expanded_ = 0;
  std::size_t successors_ = 0;  // computed
};

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_GREEDY_SEARCH_H_
