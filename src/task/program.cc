// Running a compiled task: conditions, effects, axioms, monitors.
//
// apply: copy the state, clear what the firing effects delete, set what they add (conditions are read from the old
// state), then recompute derived facts, then step the monitors on the new state. A monitor that can never accept again
// makes the action illegal, so the states that are ever stored satisfy all safety constraints and need no "dead" flag.
#include "task/program.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "support/hash.h"
#include "task/remembers.h"

namespace metactrl::task {

// --- conditions ------------------------------------------------------------------------------------------------------

ConditionId ConditionPool::add(const Formula& formula, const IdVector<FactId, std::uint32_t>& bit_of_fact) {
  const auto literal_of = [&](const Formula& f) {
    return Literal{bit_of_fact[f.fact] << 1 | static_cast<std::uint32_t>(f.negated)};
  };
  const auto is_literal = [](const Formula& f) { return f.kind == Formula::Kind::kLiteral; };
  if (formula.is_true()) return kAlwaysTrue;
  Node node;
  node.negated = formula.negated;
  node.count = formula.count;
  node.count2 = formula.count2;
  if (formula.is_false()) {
    node.op = Op::kFalse;
    node.negated = false;
  } else if (is_literal(formula)) {
    node.op = Op::kAllOf;
    node.negated = false;
    node.first = static_cast<std::uint32_t>(literals_.size());
    node.size = 1;
    literals_.push_back(literal_of(formula));
  } else if ((formula.kind == Formula::Kind::kAnd || formula.kind == Formula::Kind::kOr) &&
             std::all_of(formula.children.begin(), formula.children.end(), is_literal)) {
    node.op = formula.kind == Formula::Kind::kAnd ? Op::kAllOf : Op::kAnyOf;
    node.first = static_cast<std::uint32_t>(literals_.size());
    node.size = static_cast<std::uint32_t>(formula.children.size());
    for (const Formula& child : formula.children) literals_.push_back(literal_of(child));
  } else {
    std::vector<ConditionId> children;
    for (const Formula& child : formula.children) children.push_back(add(child, bit_of_fact));
    node.op = formula.kind == Formula::Kind::kAnd       ? Op::kAnd
              : formula.kind == Formula::Kind::kOr      ? Op::kOr
              : formula.kind == Formula::Kind::kAtLeast ? Op::kAtLeast
                                                        : Op::kMatching;
    node.first = static_cast<std::uint32_t>(children_.size());
    node.size = static_cast<std::uint32_t>(children.size());
    children_.insert(children_.end(), children.begin(), children.end());
  }
  return intern(node);
}

ConditionId ConditionPool::add(const ConditionView& condition, const IdVector<FactId, std::uint32_t>& bit_of_fact) {
  if (condition.other != nullptr) return add(*condition.other, bit_of_fact);
  if (condition.is_true()) return kAlwaysTrue;
  Node node;
  node.op = Op::kAllOf;
  node.first = static_cast<std::uint32_t>(literals_.size());
  node.size = static_cast<std::uint32_t>(condition.literals.size());
  for (const FactLiteral literal : condition.literals) {
    literals_.push_back({bit_of_fact[literal.fact()] << 1 | static_cast<std::uint32_t>(literal.negated())});
  }
  return intern(node);
}

// The node's literals or children are the last ones in their list; they are taken back when the pool has its equal.
ConditionId ConditionPool::intern(const Node& node) {
  const bool over_literals = node.op == Op::kAllOf || node.op == Op::kAnyOf;
  std::uint64_t hash = internal::mix(static_cast<std::uint64_t>(node.op), node.negated ? 1 : 0);
  hash = internal::mix(hash, std::uint64_t{node.count} << 32 | node.count2);
  for (std::uint32_t i = node.first; i < node.first + node.size; ++i) {
    hash = internal::mix(hash, over_literals ? literals_[i].code : index(children_[i]));
  }
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto known = first; known != last; ++known) {
    if (!equal(nodes_[known->second], node)) continue;
    if (over_literals) {
      literals_.resize(literals_.size() - node.size);
    } else {
      children_.resize(children_.size() - node.size);
    }
    return known->second;
  }
  const ConditionId id = nodes_.next_id();
  nodes_.push_back(node);
  by_hash_.emplace(hash, id);
  return id;
}

bool ConditionPool::equal(const Node& a, const Node& b) const {
  if (a.op != b.op || a.negated != b.negated || a.count != b.count || a.count2 != b.count2) return false;
  if (a.op == Op::kAllOf || a.op == Op::kAnyOf) {
    return std::ranges::equal(literals(a), literals(b), {}, &Literal::code, &Literal::code);
  }
  return std::ranges::equal(children(a), children(b));
}

bool ConditionPool::holds(ConditionId condition, const Word* state) const {
  const Node& node = nodes_[condition];
  const auto literal_holds = [state](Literal literal) { return literal.holds(state); };
  const auto child_holds = [this, state](ConditionId child) { return holds(child, state); };
  switch (node.op) {
    case Op::kTrue:
      return true;
    case Op::kFalse:
      return false;
    case Op::kAllOf:
      return std::ranges::all_of(literals(node), literal_holds);
    case Op::kAnyOf:
      return std::ranges::any_of(literals(node), literal_holds);
    case Op::kAnd:
      return std::ranges::all_of(children(node), child_holds);
    case Op::kOr:
      return std::ranges::any_of(children(node), child_holds);
    case Op::kAtLeast: {
      std::uint32_t missing = node.count;
      for (const ConditionId child : children(node)) {
        if (holds(child, state) && --missing == 0) return true;
      }
      return missing == 0;
    }
    case Op::kMatching:
      return has_matching(node, state) != node.negated;
  }
  return false;
}

// Augmenting paths; rows and columns are the two sides of a forpairs, a handful of objects each.
bool ConditionPool::has_matching(const Node& node, const Word* state) const {
  if (node.count == 0) return true;
  if (node.count2 == 0) return false;
  const std::size_t columns = node.count2;
  const std::size_t rows = node.size / columns;
  std::vector<char> edge(node.size);
  for (std::size_t i = 0; i < node.size; ++i) edge[i] = holds(children(node)[i], state) ? 1 : 0;
  std::vector<std::size_t> row_of(columns, rows);
  std::vector<char> seen(columns);
  const auto augment = [&](const auto& self, std::size_t row) -> bool {
    for (std::size_t c = 0; c < columns; ++c) {
      if (!edge[row * columns + c] || seen[c]) continue;
      seen[c] = 1;
      if (row_of[c] != rows && !self(self, row_of[c])) continue;
      row_of[c] = row;
      return true;
    }
    return false;
  };
  std::uint32_t size = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    std::fill(seen.begin(), seen.end(), 0);
    if (augment(augment, row) && ++size >= node.count) return true;
  }
  return false;
}

std::size_t ConditionPool::memory_bytes() const {
  return nodes_.size() * sizeof(Node) + literals_.size() * sizeof(Literal) + children_.size() * sizeof(ConditionId);
}

// --- states ----------------------------------------------------------------------------------------------------------

bool Program::initial(Word* state) const {
  std::copy(initial_.begin(), initial_.end(), state);
  return initially_legal_;
}

void Program::project(Word* state) const {
  state[relevant_words_ - 1] &= last_relevant_mask_;
  std::fill(state + relevant_words_, state + stored_words_, Word{0});
}

void Program::complete(Word* state) const {
  if (axiom_layers_.empty()) return;
  std::fill(state + stored_words_, state + total_words_, Word{0});
  for (const std::vector<AxiomProgram>& layer : axiom_layers_) {
    bool changed = true;
    while (changed) {
      changed = false;
      for (const AxiomProgram& axiom : layer) {
        if (test_bit(state, axiom.bit) || !conditions_.holds(axiom.condition, state)) continue;
        set_bit(state, axiom.bit, true);
        changed = true;
      }
    }
  }
}

bool Program::applicable(const Word* state, ActionId action) const {
  const ActionProgram& a = actions_[action];
  for (Literal literal : precondition(a)) {
    if (!literal.holds(state)) return false;
  }
  return a.residual == kAlwaysTrue || conditions_.holds(a.residual, state);
}

void Program::applicable_actions(const Word* state, std::vector<ActionId>& out) const {
  const std::size_t begin = out.size();
  all_tree_.match(state, out);
  keep_residual(state, begin, out);
  std::sort(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end());
}

void Program::relevant_actions(const Word* state, std::vector<ActionId>& out) const {
  const std::size_t begin = out.size();
  (relevant_actions_.size() == actions_.size() ? all_tree_ : relevant_tree_).match(state, out);
  keep_residual(state, begin, out);
  std::sort(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end());
}

// Removes from out[begin..] the actions whose residual precondition fails.
void Program::keep_residual(const Word* state, std::size_t begin, std::vector<ActionId>& out) const {
  if (!has_residuals_) return;
  const auto fails = [&](ActionId action) {
    const ConditionId residual = actions_[action].residual;
    return residual != kAlwaysTrue && !conditions_.holds(residual, state);
  };
  out.erase(std::remove_if(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(), fails), out.end());
}

void Program::apply_effects(const Word* from, ActionId action, Word* to) const {
  std::copy(from, from + total_words_, to);
  const ActionProgram& a = actions_[action];
  if (a.num_effects == 0) {
    for (const WordEdit& edit : edits(a)) to[edit.word] = (to[edit.word] & edit.keep) | edit.set;
    return;
  }
  for (const WordEdit& edit : edits(a)) to[edit.word] &= edit.keep;
  for (const ConditionalEffect& effect : effects(a)) {
    if (!conditions_.holds(effect.condition, from)) continue;
    for (const WordEdit& edit : edits(effect)) to[edit.word] &= edit.keep;
  }
  for (const WordEdit& edit : edits(a)) to[edit.word] |= edit.set;
  for (const ConditionalEffect& effect : effects(a)) {
    if (!effect.adds || !conditions_.holds(effect.condition, from)) continue;
    for (const WordEdit& edit : edits(effect)) to[edit.word] |= edit.set;
  }
}

bool Program::apply(const Word* from, ActionId action, Word* to) const {
  apply_effects(from, action, to);
  complete(to);
  return monitors_.empty() || step_monitors(action, to);
}

bool Program::apply_in_place(Word* projected, ActionId action) const {
  constexpr std::uint32_t kMaxEffects = 64;
  const ActionProgram& a = actions_[action];
  if (num_derived_bits() != 0 || !monitors_.empty() || a.num_effects > kMaxEffects) return false;
  Word happens = 0;  // bit i: the condition of effect i holds
  const std::span<const ConditionalEffect> conditional = effects(a);
  for (std::size_t i = 0; i < conditional.size(); ++i) {
    if (conditions_.holds(conditional[i].condition, projected)) happens |= Word{1} << i;
  }
  const auto clear = [&](std::span<const WordEdit> all) {
    for (const WordEdit& edit : all) projected[edit.word] &= edit.keep;
  };
  const auto set = [&](std::span<const WordEdit> all) {
    for (const WordEdit& edit : all) {
      if (edit.word + 1 < relevant_words_) {
        projected[edit.word] |= edit.set;
      } else if (edit.word + 1 == relevant_words_) {
        projected[edit.word] |= edit.set & last_relevant_mask_;
      }
    }
  };
  clear(edits(a));
  for (Word rest = happens; rest != 0; rest &= rest - 1) clear(edits(conditional[std::countr_zero(rest)]));
  set(edits(a));
  for (Word rest = happens; rest != 0; rest &= rest - 1) set(edits(conditional[std::countr_zero(rest)]));
  return true;
}

// --- monitors and goal -----------------------------------------------------------------------------------------------

bool Program::step_monitors(ActionId action, Word* state) const {
  return std::all_of(monitors_.begin(), monitors_.end(),
                     [&](const Monitor& monitor) { return step_monitor(monitor, action, state); });
}

// Bits of each automaton: kSometime: seen. kSometimeAfter: pending. kSometimeBefore: second was seen in an earlier
// state. kAtMostOnce: {the stretch has begun, it has ended}. kActionsInOrder: bit i says that i + 1 steps are done.
bool Program::step_monitor(const Monitor& monitor, ActionId action, Word* state) const {
  const std::uint32_t bit = monitor.first_bit;
  switch (monitor.kind) {
    case MonitorDefinition::Kind::kAlways:
      return conditions_.holds(monitor.first, state);
    case MonitorDefinition::Kind::kSometime:
      if (conditions_.holds(monitor.first, state)) set_bit(state, bit, true);
      return true;
    case MonitorDefinition::Kind::kAtMostOnce: {
      const bool now = conditions_.holds(monitor.first, state);
      if (now && test_bit(state, bit + 1)) return false;
      if (now) set_bit(state, bit, true);
      if (!now && test_bit(state, bit)) set_bit(state, bit + 1, true);
      return true;
    }
    case MonitorDefinition::Kind::kSometimeAfter:
      if (conditions_.holds(monitor.second, state)) {
        set_bit(state, bit, false);
      } else if (conditions_.holds(monitor.first, state)) {
        set_bit(state, bit, true);
      }
      return true;
    case MonitorDefinition::Kind::kSometimeBefore:
      if (conditions_.holds(monitor.first, state) && !test_bit(state, bit)) return false;
      if (conditions_.holds(monitor.second, state)) set_bit(state, bit, true);
      return true;
    case MonitorDefinition::Kind::kActionsInOrder: {
      if (action == kNoAction) return true;
      std::uint32_t done = 0;
      while (done < monitor.num_bits && test_bit(state, bit + done)) ++done;
      if (done < monitor.num_bits &&
          std::binary_search(monitor.steps[done].begin(), monitor.steps[done].end(), action)) {
        set_bit(state, bit + done, true);
      }
      return true;
    }
  }
  return true;
}

bool Program::monitor_accepts(const Monitor& monitor, const Word* state) const {
  switch (monitor.kind) {
    case MonitorDefinition::Kind::kSometime:
      return test_bit(state, monitor.first_bit);
    case MonitorDefinition::Kind::kSometimeAfter:
      return !test_bit(state, monitor.first_bit);
    case MonitorDefinition::Kind::kActionsInOrder:
      return monitor.num_bits == 0 || test_bit(state, monitor.first_bit + monitor.num_bits - 1);
    case MonitorDefinition::Kind::kAlways:
    case MonitorDefinition::Kind::kAtMostOnce:
    case MonitorDefinition::Kind::kSometimeBefore:
      return true;
  }
  return true;
}

bool Program::is_goal(const Word* state) const {
  for (const ConditionId goal : goals_) {
    if (!conditions_.holds(goal, state)) return false;
  }
  for (std::uint32_t monitor : accepting_monitors_) {
    if (!monitor_accepts(monitors_[monitor], state)) return false;
  }
  return true;
}

bool Program::goal_holds(GoalId goal, const Word* state) const {
  assert(index(goal) < num_goals());
  if (index(goal) < goals_.size()) return conditions_.holds(goals_[index(goal)], state);
  return monitor_accepts(monitors_[accepting_monitors_[index(goal) - goals_.size()]], state);
}

std::string Program::goal_text(GoalId goal) const {
  assert(index(goal) < num_goals());
  if (index(goal) < goals_.size()) return definition_.goals[index(goal)].text;
  return definition_.monitors[accepting_monitors_[index(goal) - goals_.size()]].text;
}

Definition Program::definition_without(const IdVector<GoalId, bool>& dropped) const {
  assert(dropped.size() == num_goals());
  Definition result = definition_;
  result.goals.clear();
  for (std::size_t goal = 0; goal < goals_.size(); ++goal) {
    if (!dropped[to_id<GoalId>(goal)]) result.goals.push_back(definition_.goals[goal]);
  }
  // From the back, so that the positions of the others stay right.
  for (std::size_t i = accepting_monitors_.size(); i-- > 0;) {
    if (!dropped[to_id<GoalId>(goals_.size() + i)]) continue;
    result.monitors.erase(result.monitors.begin() + static_cast<std::ptrdiff_t>(accepting_monitors_[i]));
  }
  return result;
}

std::string Program::bit_text(std::uint32_t bit) const {
  const FactId fact = fact_of_bit_[bit];
  return definition_.facts.contains(fact) && !remembers(definition_, fact) ? fact_text(definition_, fact)
                                                                           : std::string();
}

std::optional<ActionId> Program::find_action(const std::string& name, std::span<const std::string> arguments) const {
  const auto name_entry = action_name_index_.find(name);
  if (name_entry == action_name_index_.end()) return std::nullopt;
  ActionSymbol symbol{name_entry->second, {}};
  for (const std::string& argument : arguments) {
    const auto object = object_index_.find(argument);
    if (object == object_index_.end()) return std::nullopt;
    symbol.arguments.push_back(object->second);
  }
  return find_action(symbol);
}

std::optional<ActionId> Program::find_action(const ActionSymbol& symbol) const {
  const auto order = [&](ActionId action) { return symbol_order(action, symbol.name, symbol.arguments); };
  const auto found = std::partition_point(actions_by_symbol_.begin(), actions_by_symbol_.end(),
                                          [&](ActionId action) { return order(action) < 0; });
  return found != actions_by_symbol_.end() && order(*found) == 0 ? std::optional(*found) : std::nullopt;
}

std::strong_ordering Program::symbol_order(ActionId action, ActionNameId name,
                                           std::span<const ObjectId> arguments) const {
  const std::strong_ordering by_name = definition_.actions.name(action) <=> name;
  if (by_name != 0) return by_name;
  const std::span<const ObjectId> own = definition_.actions.arguments(action);
  return std::lexicographical_compare_three_way(own.begin(), own.end(), arguments.begin(), arguments.end());
}

namespace {

std::size_t definition_bytes(const Definition& definition) {
  std::size_t bytes = definition.actions.memory_bytes();
  for (const FactSymbol& fact : definition.facts) bytes += sizeof(FactSymbol) + fact.arguments.capacity() * 4;
  return bytes;
}

}  // namespace

std::size_t Program::memory_bytes() const {
  return definition_bytes(definition_) + conditions_.memory_bytes() + actions_.size() * sizeof(ActionProgram) +
         literals_.size() * sizeof(Literal) + edits_.size() * sizeof(WordEdit) +
         effects_.size() * sizeof(ConditionalEffect) + all_tree_.memory_bytes() + relevant_tree_.memory_bytes() +
         (initial_.size() * sizeof(Word)) + (fact_of_bit_.size() + relevant_actions_.size()) * 4;
}

}  // namespace metactrl::task
