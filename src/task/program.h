// The compiled ground task: packed states and what actions do to them.
//
// A state is an array of 64-bit words, one bit per fact. The bits come in this order:
//
//     [ goal-relevant facts and monitor bits | other stored facts ] [ derived facts ]
//       <------ relevant_words() ----------->
//       <------------ stored_words() ----------------------------->
//       <------------------------- total_words() ------------------------------>
//
// so that the goal-relevance projection of a state is its prefix (with the last word masked), the full state is a
// longer prefix, and derived facts, which are a function of the others, are never stored. All functions take states of
// total_words() words whose derived part is up to date; `complete` brings it up to date.
//
// Projection. Relevant is the least set of facts that contains the facts of the goal and of the monitors and, with a
// fact, every fact in the precondition and effect condition of each action that changes it (and in the bodies of its
// axioms). An action is relevant when it changes a relevant fact or can move a monitor. Deciding whether the goal can
// still be reached, and in how many steps, needs relevant facts and relevant actions only: a plan without its
// irrelevant actions is still executable, reaches the goal and is no longer. So every function of the lookahead works
// on projected states: total_words() words in which the irrelevant stored bits are zero; relevant actions never read
// them.
//
// Immutable after compile(); all const functions may be called from many threads. Costs: apply is linear in the size of
// the action's effects plus, in tasks with axioms, in the size of the axioms; applicable is linear in the part of the
// decision tree whose facts hold.
#ifndef METACTRL_SRC_TASK_PROGRAM_H_
#define METACTRL_SRC_TASK_PROGRAM_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "task/definition.h"

namespace metactrl::task {

using Word = std::uint64_t;

inline bool test_bit(const Word* state, std::uint32_t bit) { return (state[bit >> 6] >> (bit & 63)) & 1; }
inline void set_bit(Word* state, std::uint32_t bit, bool value) {
  const Word mask = Word{1} << (bit & 63);
  if (value) {
    state[bit >> 6] |= mask;
  } else {
    state[bit >> 6] &= ~mask;
  }
}

// One literal over state bits.
struct Literal {
  std::uint32_t code = 0;  // bit << 1 | negated
  std::uint32_t bit() const { return code >> 1; }
  bool negated() const { return code & 1; }
  bool holds(const Word* state) const { return test_bit(state, bit()) != negated(); }
};

// A condition of a ConditionPool.
enum class ConditionId : std::uint32_t {};
constexpr ConditionId kAlwaysTrue{0};

// No action: the initial state came about by none.
constexpr ActionId kNoAction{0xffffffffU};

// Conditions as flat trees in one arena; the first is "true".
class ConditionPool {
 public:
  enum class Op : std::uint8_t { kTrue, kFalse, kAllOf, kAnyOf, kAnd, kOr, kAtLeast, kMatching };
  struct Node {
    Op op = Op::kTrue;
    bool negated = false;      // kMatching
    std::uint32_t count = 0;   // kAtLeast, kMatching
    std::uint32_t count2 = 0;  // kMatching: columns
    std::uint32_t first = 0;   // kAllOf, kAnyOf: range of literals; else range of children
    std::uint32_t size = 0;
  };

  ConditionPool() : nodes_(1) {}
  // `bit_of_fact` maps the formula's facts to bits. Equal conditions get the same number, so that what many actions
  // share ("the robot can reach the cup") is one node for whoever walks the pool.
  ConditionId add(const Formula& formula, const IdVector<FactId, std::uint32_t>& bit_of_fact);
  ConditionId add(const ConditionView& condition, const IdVector<FactId, std::uint32_t>& bit_of_fact);
  // Frees what only `add` needs.
  void close() { by_hash_ = {}; }
  bool holds(ConditionId condition, const Word* state) const;
  const Node& node(ConditionId condition) const { return nodes_[condition]; }
  std::span<const Literal> literals(const Node& node) const { return {literals_.data() + node.first, node.size}; }
  std::span<const ConditionId> children(const Node& node) const { return {children_.data() + node.first, node.size}; }
  std::size_t memory_bytes() const;

 private:
  ConditionId intern(const Node& node);
  bool equal(const Node& a, const Node& b) const;
  bool has_matching(const Node& node, const Word* state) const;

  IdVector<ConditionId, Node> nodes_;
  std::vector<Literal> literals_;
  std::vector<ConditionId> children_;
  std::unordered_multimap<std::uint64_t, ConditionId> by_hash_;
};

// state[word] = (state[word] & keep) | set
struct WordEdit {
  std::uint32_t word = 0;
  Word keep = ~Word{0};
  Word set = 0;
};

struct ConditionalEffect {
  ConditionId condition = kAlwaysTrue;
  std::uint32_t first_edit = 0;
  std::uint32_t num_edits = 0;
  bool adds = false;  // some edit sets a bit
};

struct ActionProgram {
  std::uint32_t first_literal = 0;  // conjunctive part of the precondition
  std::uint32_t num_literals = 0;
  ConditionId residual = kAlwaysTrue;  // the rest of it
  std::uint32_t first_edit = 0;        // unconditional effects
  std::uint32_t num_edits = 0;
  std::uint32_t first_effect = 0;  // conditional effects
  std::uint32_t num_effects = 0;
  bool relevant = false;
};

struct AxiomProgram {
  std::uint32_t bit = 0;
  ConditionId condition = kAlwaysTrue;
};

struct Monitor {
  MonitorDefinition::Kind kind = MonitorDefinition::Kind::kAlways;
  ConditionId first = kAlwaysTrue;
  ConditionId second = kAlwaysTrue;
  std::uint32_t first_bit =
      0;  // the automaton's own bits; one-hot progress for kActionsInOrder (bit i: i+1 steps done)
  std::uint32_t num_bits = 0;
  std::vector<std::vector<ActionId>> steps;
};

// Which actions have preconditions that hold? A decision tree over the facts that preconditions require; see
// successor.cc.
class SuccessorTree {
 public:
  // `precondition(a)` is the conjunctive part of the precondition of action a, for each of `actions`.
  using Precondition = std::function<std::span<const Literal>(ActionId)>;
  void build(std::span<const ActionId> actions, std::size_t num_bits, const Precondition& precondition);
  // Appends every action whose conjunctive precondition holds.
  void match(const Word* state, std::vector<ActionId>& out) const;
  std::size_t memory_bytes() const;

 private:
  struct Node {
    std::uint32_t bit = 0;  // tested to enter
    std::uint32_t first_action = 0;
    std::uint32_t num_actions = 0;
    std::uint32_t first_child = 0;
    std::uint32_t num_children = 0;
  };
  void match_below(const Node& node, const Word* state, std::vector<ActionId>& out) const;
  void add_actions(const Node& node, const Word* state, std::vector<ActionId>& out) const;

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> root_child_;  // per bit: node or 0
  std::vector<Word> root_mask_;            // bits that have a root child
  std::vector<ActionId> actions_;
  std::vector<std::uint32_t> first_negative_;  // per place in actions_, and one more: negative literals still to test
  std::vector<std::uint32_t> negatives_;       // bits that must be clear
};

class Program {
 public:
  // --- size and names ------------------------------------------------------------------------------------------------
  const Definition& definition() const { return definition_; }
  std::size_t num_actions() const { return actions_.size(); }
  std::size_t num_goals() const { return goals_.size() + num_accepting_monitors_; }
  std::size_t relevant_words() const { return relevant_words_; }
  std::size_t stored_words() const { return stored_words_; }
  std::size_t total_words() const { return total_words_; }
  std::size_t num_relevant_bits() const { return num_relevant_bits_; }
  std::size_t num_stored_bits() const { return num_stored_bits_; }
  std::size_t num_derived_bits() const { return num_bits_ - first_derived_bit_; }
  std::size_t num_bits() const { return num_bits_; }
  std::size_t first_derived_bit() const { return first_derived_bit_; }
  std::size_t memory_bytes() const;
  std::string bit_text(std::uint32_t bit) const;
  // The ground action with this name and these arguments, if the task has it. Logarithmic.
  std::optional<ActionId> find_action(const std::string& name, std::span<const std::string> arguments) const;
  std::optional<ActionId> find_action(const ActionSymbol& symbol) const;

  // --- states --------------------------------------------------------------------------------------------------------
  // False when the initial state itself violates a trajectory constraint.
  bool initial(Word* state) const;
  // Zeroes the irrelevant stored bits.
  void project(Word* state) const;
  void complete(Word* state) const;
  bool applicable(const Word* state, ActionId action) const;
  // Appends, ascending, all actions whose precondition holds (a trajectory constraint may still forbid one: see apply).
  void applicable_actions(const Word* state, std::vector<ActionId>& out) const;
  // The same among relevant actions only.
  void relevant_actions(const Word* state, std::vector<ActionId>& out) const;
  // The successor of an applicable action. False when it breaks a trajectory constraint beyond repair; `to` is then
  // undefined. `to` must not alias `from`.
  bool apply(const Word* from, ActionId action, Word* to) const;
  // apply and project in one, in place: costs what the action changes, not what a state has. False, and nothing is done,
  // where that cannot be: with derived facts, with monitors, with very many conditional effects.
  bool apply_in_place(Word* projected, ActionId action) const;
  bool is_goal(const Word* state) const;
  // Does the goal hold? Goals are the top-level conjuncts of the goal, then the monitors that must accept.
  bool goal_holds(GoalId goal, const Word* state) const;
  std::string goal_text(GoalId goal) const;
  // The definition without the goals marked in `dropped`.
  Definition definition_without(const IdVector<GoalId, bool>& dropped) const;

  // --- parts, for the heuristics -------------------------------------------------------------------------------------
  const ConditionPool& conditions() const { return conditions_; }
  const ActionProgram& action(ActionId action) const { return actions_[action]; }
  std::span<const Literal> precondition(const ActionProgram& a) const {
    return {literals_.data() + a.first_literal, a.num_literals};
  }
  std::span<const WordEdit> edits(const ActionProgram& a) const { return {edits_.data() + a.first_edit, a.num_edits}; }
  std::span<const WordEdit> edits(const ConditionalEffect& e) const {
    return {edits_.data() + e.first_edit, e.num_edits};
  }
  std::span<const ConditionalEffect> effects(const ActionProgram& a) const {
    return {effects_.data() + a.first_effect, a.num_effects};
  }
  const std::vector<ActionId>& relevant_action_list() const { return relevant_actions_; }
  std::span<const std::vector<AxiomProgram>> axiom_layers() const { return axiom_layers_; }
  const std::vector<ConditionId>& goal_conditions() const { return goals_; }
  const std::vector<Monitor>& monitors() const { return monitors_; }
  bool monitor_accepts(const Monitor& monitor, const Word* state) const;

 private:
  friend class Compiler;

  // Steps all monitors in place after `action` (kNoAction: for the initial state); false when one is violated.
  bool step_monitors(ActionId action, Word* state) const;
  bool step_monitor(const Monitor& monitor, ActionId action, Word* state) const;
  void apply_effects(const Word* from, ActionId action, Word* to) const;
  void keep_residual(const Word* state, std::size_t begin, std::vector<ActionId>& out) const;
  // Whether the action comes before, at or behind this symbol: by name, then by objects.
  std::strong_ordering symbol_order(ActionId action, ActionNameId name, std::span<const ObjectId> arguments) const;

  Definition definition_;
  ConditionPool conditions_;
  IdVector<ActionId, ActionProgram> actions_;
  std::vector<Literal> literals_;
  std::vector<WordEdit> edits_;
  std::vector<ConditionalEffect> effects_;
  std::vector<std::vector<AxiomProgram>> axiom_layers_;
  std::vector<ConditionId> goals_;  // parallel to definition_.goals
  std::vector<Monitor> monitors_;   // parallel to definition_.monitors
  std::vector<std::uint32_t> accepting_monitors_;
  std::size_t num_accepting_monitors_ = 0;
  SuccessorTree all_tree_;
  SuccessorTree relevant_tree_;  // empty where all actions are relevant
  std::vector<ActionId> relevant_actions_;
  std::vector<FactId> fact_of_bit_;  // kNoFact for monitor bits and padding
  std::unordered_map<std::string, ActionNameId> action_name_index_;
  std::unordered_map<std::string, ObjectId> object_index_;
  std::vector<ActionId> actions_by_symbol_;  // sorted by name and arguments
  std::vector<Word> initial_;
  std::size_t num_relevant_bits_ = 0;
  std::size_t num_stored_bits_ = 0;
  std::size_t num_bits_ = 0;
  std::size_t first_derived_bit_ = 0;
  std::size_t relevant_words_ = 0;
  std::size_t stored_words_ = 0;
  std::size_t total_words_ = 0;
  Word last_relevant_mask_ = 0;
  bool initially_legal_ = true;
  bool has_residuals_ = false;
};

}  // namespace metactrl::task

#endif  // METACTRL_SRC_TASK_PROGRAM_H_
