// WeightedSearch: plans that are cheaper than one that is known.
//
//     WeightedSearch search(space, evaluator, costs, weights, state, {.bound = bound}, 3);
//     Status status = search.run(256, spending, {}, limit);        // kFound: search.plan() is better than the bound
//
// Lazy weighted A* with preferred operators: what was spent so far plus `greed` times the FF value decides what is looked
// at next. The smaller the greed, the better the plans and the longer it takes. It leaves out ways that already cost as
// much as the bound. That it is exhausted proves nothing.
#ifndef METACTRL_SRC_LOOKAHEAD_WEIGHTED_SEARCH_H_
#define METACTRL_SRC_LOOKAHEAD_WEIGHTED_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lookahead/action_costs.h"
#include "lookahead/focus.h"
#include "lookahead/relaxed.h"
#include "lookahead/search_nodes.h"
#include "lookahead/spending.h"

namespace metactrl::lookahead {

// Cheaper is better, and among equally cheap plans the shorter one.
struct Measure {
  Cost cost = kNoCost;
  std::size_t length = 0;
  auto operator<=>(const Measure&) const = default;
};

class WeightedSearch {
 public:
  // What it looks for: a plan better than the bound, of at most `max_length` actions; with `literals` (their codes), a
  // way to a state in which all of them hold, at which `evaluator` aims.
  struct Wanted {
    Measure bound;
    unsigned max_length = kInfinite;
    std::span<const std::uint32_t> literals;
  };
  // `evaluator` is one of the actions of `space` with these weights, those of `costs` by action.
  WeightedSearch(const ActionSpace& space, RelaxedEvaluator& evaluator, const ActionCosts& costs,
                 std::span<const std::uint32_t> weights, const task::Word* state, const Wanted& wanted, unsigned greed);

  // Goes on for at most `turn` evaluations, or until a plan is found that is better than the bound, which it then is.
  Status run(std::size_t turn, Spending& spending, const Others& others, Limit& limit);
  // After kFound.
  const std::vector<ActionId>& plan() const { return plan_; }
  // From now on only better plans count.
  void lower_bound_to(const Measure& bound) { wanted_.bound = std::min(wanted_.bound, bound); }

  std::size_t evaluated() const { return evaluated_; }
  std::size_t size() const { return nodes_.size(); }
  std::uint64_t work() const { return evaluator_.steps() - steps_before_ + successors_ * successor_work_; }
  std::size_t memory_bytes() const {
    return nodes_.memory_bytes() + info_.capacity() * sizeof(Info) + all_.memory_bytes() + helpful_.memory_bytes();
  }

 private:
  struct Info {
    Cost cost;              // of the cheapest way there that is known
    std::uint32_t length;   // of that way
    std::uint32_t weight;   // the same in the heuristic's unit
    std::uint32_t h;        // kInfinite: dead
    std::uint32_t version;  // how often a cheaper way was found
  };
  struct Cursor {
    StoredId node;
    std::uint32_t version;
    std::uint32_t next;  // index into the node's applicable actions
  };
  struct Edge {
    StoredId node;
    std::uint32_t version;
    ActionId action;
  };

  bool pop(StoredId& node, ActionId& action);
  void load(StoredId node);
  void open(StoredId id);
  bool visit(StoredId parent, ActionId action);
  bool arrived() const;

  const ActionSpace& space_;
  const task::Program& program_;
  RelaxedEvaluator& evaluator_;
  const ActionCosts& costs_;
  std::span<const std::uint32_t> weights_;
  std::uint64_t successor_work_;
  std::uint64_t steps_before_;  // of the evaluator
  Wanted wanted_;
  unsigned greed_;
  Nodes nodes_;
  IdVector<StoredId, Info> info_;
  std::vector<ActionId> plan_;
  std::vector<task::Word> current_;
  std::vector<task::Word> next_;
  StoredId loaded_ = kNoNode;
  StoredId actions_of_ = kNoNode;
  std::vector<ActionId> actions_;
  std::vector<ActionId> preferred_;
  BucketQueue<Cursor, true> all_;
  BucketQueue<Edge, true> helpful_;
  long all_priority_ = 0;
  long helpful_priority_ = 0;
  unsigned best_ = kInfinite;
  std::size_t evaluated_ = 0;
  std::size_t successors_ = 0;  // computed
};

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_WEIGHTED_SEARCH_H_
