// Lays a ground task out as bits (program.h shows the order) and translates its conditions and effects.
//
// Preconditions are split: the literals of the top-level conjunction go to the decision tree, what remains
// (disjunctions, counting) is one residual condition tested for the few actions the tree leaves. Effects become word
// edits: an action that clears a thousand facts touches sixteen words.
#include "task/compile.h"

#include <algorithm>
#include <cassert>
#include <unordered_map>
#include <utility>

#include "task/simplify.h"

namespace metactrl::task {

namespace {

constexpr FactId kNoFact{0xffffffffU};

std::uint32_t monitor_bits(const MonitorDefinition& monitor) {
  switch (monitor.kind) {
    case MonitorDefinition::Kind::kAlways:
      return 0;
    case MonitorDefinition::Kind::kSometime:
    case MonitorDefinition::Kind::kSometimeAfter:
    case MonitorDefinition::Kind::kSometimeBefore:
      return 1;
    case MonitorDefinition::Kind::kAtMostOnce:
      return 2;
    case MonitorDefinition::Kind::kActionsInOrder:
      return static_cast<std::uint32_t>(monitor.steps.size());
  }
  return 0;
}

bool monitor_can_reject(MonitorDefinition::Kind kind) {
  return kind == MonitorDefinition::Kind::kSometime || kind == MonitorDefinition::Kind::kSometimeAfter ||
         kind == MonitorDefinition::Kind::kActionsInOrder;
}

std::size_t words_for(std::size_t bits) { return (bits + 63) / 64; }

}  // namespace

class Compiler {
 public:
  Compiler(Definition definition, internal::Meter& meter) : meter_(meter), program_(std::make_shared<Program>()) {
    program_->definition_ = simplify(std::move(definition), meter);
  }

  std::shared_ptr<const Program> run() {
    relevance_ = goal_relevance(definition());
    lay_out();
    compile_goal_and_monitors();
    compile_axioms();
    compile_actions();
    compile_initial();
    index_names();
    program_->conditions_.close();
    return program_;
  }

 private:
  const Definition& definition() const { return program_->definition_; }

  void place(FactId fact, std::uint32_t bit) {
    bit_of_fact_[fact] = bit;
    program_->fact_of_bit_.resize(std::max<std::size_t>(program_->fact_of_bit_.size(), bit + 1), kNoFact);
    program_->fact_of_bit_[bit] = fact;
  }

  void lay_out() {
    Program& p = *program_;
    bit_of_fact_.assign(definition().facts.size(), 0);
    std::uint32_t next = 0;
    const auto place_all = [&](bool derived, bool relevant) {
      for (const FactId fact : definition().facts.all()) {
        if ((definition().fact_layer[fact] >= 0) != derived || relevance_.fact[fact] != relevant) continue;
        place(fact, next++);
      }
    };
    for (const MonitorDefinition& monitor : definition().monitors) {
      monitor_first_bit_.push_back(next);
      next += monitor_bits(monitor);
    }
    place_all(false, true);
    p.num_relevant_bits_ = next;
    place_all(false, false);
    p.num_stored_bits_ = next;
    p.stored_words_ = std::max<std::size_t>(1, words_for(next));
    next = static_cast<std::uint32_t>(64 * p.stored_words_);
    p.first_derived_bit_ = next;
    place_all(true, true);
    place_all(true, false);
    p.num_bits_ = next;
    p.fact_of_bit_.resize(next, kNoFact);
    p.total_words_ = std::max(p.stored_words_, words_for(next));
    p.relevant_words_ = std::max<std::size_t>(1, words_for(p.num_relevant_bits_));
    const std::size_t tail = p.num_relevant_bits_ % 64;
    assert(p.relevant_words_ <= p.stored_words_ && p.stored_words_ <= p.total_words_);
    p.last_relevant_mask_ = tail == 0 && p.num_relevant_bits_ > 0 ? ~Word{0} : (Word{1} << tail) - 1;
  }

  void compile_goal_and_monitors() {
    Program& p = *program_;
    for (const GoalDefinition& goal : definition().goals) {
      p.goals_.push_back(p.conditions_.add(goal.condition, bit_of_fact_));
    }
    for (std::size_t m = 0; m < definition().monitors.size(); ++m) {
      const MonitorDefinition& source = definition().monitors[m];
      Monitor monitor;
      monitor.kind = source.kind;
      monitor.first = p.conditions_.add(source.first, bit_of_fact_);
      monitor.second = p.conditions_.add(source.second, bit_of_fact_);
      monitor.first_bit = monitor_first_bit_[m];
      monitor.num_bits = monitor_bits(source);
      monitor.steps = source.steps;
      p.monitors_.push_back(std::move(monitor));
      if (monitor_can_reject(source.kind)) p.accepting_monitors_.push_back(static_cast<std::uint32_t>(m));
    }
    p.num_accepting_monitors_ = p.accepting_monitors_.size();
  }

  void compile_axioms() {
    Program& p = *program_;
    for (const AxiomDefinition& axiom : definition().axioms) {
      const auto layer = static_cast<std::size_t>(definition().fact_layer[axiom.head]);
      if (p.axiom_layers_.size() <= layer) p.axiom_layers_.resize(layer + 1);
      p.axiom_layers_[layer].push_back({bit_of_fact_[axiom.head], p.conditions_.add(axiom.body, bit_of_fact_)});
    }
  }

  // Appends the edits that clear `del` and set `add`, one per word, ascending.
  std::uint32_t add_edits(std::span<const FactId> add, std::span<const FactId> del) {
    bits_.clear();
    for (const FactId fact : del) bits_.emplace_back(bit_of_fact_[fact], false);
    for (const FactId fact : add) bits_.emplace_back(bit_of_fact_[fact], true);
    std::sort(bits_.begin(), bits_.end());
    const std::size_t first = program_->edits_.size();
    for (const auto& [bit, set] : bits_) {
      if (program_->edits_.size() == first || program_->edits_.back().word != bit >> 6) {
        program_->edits_.push_back({bit >> 6});
      }
      const Word mask = Word{1} << (bit & 63);
      WordEdit& edit = program_->edits_.back();
      if (set) {
        edit.set |= mask;
      } else {
        edit.keep &= ~mask;
      }
    }
    return static_cast<std::uint32_t>(program_->edits_.size() - first);
  }

  Literal literal(FactId fact, bool negated) const {
    return {bit_of_fact_[fact] << 1 | static_cast<std::uint32_t>(negated)};
  }

  // Takes the literals of the top-level conjunction; what remains is the result.
  Formula split(const ConditionView& precondition, std::vector<Literal>& literals) const {
    for (const FactLiteral one : precondition.literals) literals.push_back(literal(one.fact(), one.negated()));
    if (precondition.other == nullptr) return Formula::constant(true);
    if (precondition.other->kind != Formula::Kind::kAnd) return *precondition.other;
    std::vector<Formula> rest;
    for (const Formula& child : precondition.other->children) {
      if (child.kind == Formula::Kind::kLiteral) {
        literals.push_back(literal(child.fact, child.negated));
      } else {
        rest.push_back(child);
      }
    }
    return make_and(std::move(rest));
  }

  ActionProgram compile_action(ActionId id, std::vector<Literal>& literals) {
    Program& p = *program_;
    const ActionTable& source = definition().actions;
    ActionProgram action;
    const Formula rest = split(source.precondition(id), literals);
    std::sort(literals.begin(), literals.end(), [](Literal a, Literal b) { return a.code < b.code; });
    literals.erase(std::unique(literals.begin(), literals.end(), [](Literal a, Literal b) { return a.code == b.code; }),
                   literals.end());
    action.residual = p.conditions_.add(rest, bit_of_fact_);
    action.first_literal = static_cast<std::uint32_t>(p.literals_.size());
    action.num_literals = static_cast<std::uint32_t>(literals.size());
    p.literals_.insert(p.literals_.end(), literals.begin(), literals.end());

    action.first_edit = static_cast<std::uint32_t>(p.edits_.size());
    action.first_effect = static_cast<std::uint32_t>(p.effects_.size());
    const std::span<const ActionTable::Effect> effects = source.effects(id);
    if (effects.size() == 1 && source.view(effects[0].when).is_true()) {
      action.num_edits = add_edits(source.facts(effects[0].add), source.facts(effects[0].del));
      return action;
    }
    Changes always;
    for (const ActionTable::Effect& effect : effects) {
      if (source.view(effect.when).is_true()) always.take(source, effect);
    }
    action.num_edits = add_edits(always.add, always.del);
    compile_conditional_effects(source, effects, action);
    return action;
  }

  struct Changes {
    std::vector<FactId> add;
    std::vector<FactId> del;

    void take(const ActionTable& source, const ActionTable::Effect& effect) {
      const std::span<const FactId> adds = source.facts(effect.add);
      const std::span<const FactId> dels = source.facts(effect.del);
      add.insert(add.end(), adds.begin(), adds.end());
      del.insert(del.end(), dels.begin(), dels.end());
    }
  };

  // Effects under the same condition become one.
  void compile_conditional_effects(const ActionTable& source, std::span<const ActionTable::Effect> effects,
                                   ActionProgram& action) {
    Program& p = *program_;
    std::vector<std::pair<ConditionId, Changes>> merged;  // by condition, in order of appearance
    std::unordered_map<ConditionId, std::size_t> place;
    for (const ActionTable::Effect& effect : effects) {
      const ConditionView when = source.view(effect.when);
      if (when.is_true()) continue;
      const ConditionId condition = p.conditions_.add(when, bit_of_fact_);
      const auto [entry, is_new] = place.emplace(condition, merged.size());
      if (is_new) merged.push_back({condition, {}});
      merged[entry->second].second.take(source, effect);
    }
    for (const auto& [condition, effect] : merged) {
      ConditionalEffect conditional;
      conditional.condition = condition;
      conditional.first_edit = static_cast<std::uint32_t>(p.edits_.size());
      conditional.num_edits = add_edits(effect.add, effect.del);
      conditional.adds = !effect.add.empty();
      p.effects_.push_back(conditional);
    }
    action.num_effects = static_cast<std::uint32_t>(merged.size());
  }

  void compile_actions() {
    Program& p = *program_;
    std::vector<Literal> literals;
    std::vector<ActionId> all;
    const std::size_t count = definition().actions.size();
    p.actions_.reserve(count);
    p.edits_.reserve(std::min(relevance_.changes, 4 * count));
    p.literals_.reserve(4 * count);
    all.reserve(count);
    for (const ActionId a : definition().actions.all()) {
      meter_.step(kActionSteps);
      literals.clear();
      ActionProgram action = compile_action(a, literals);
      action.relevant = relevance_.action[a];
      p.has_residuals_ = p.has_residuals_ || action.residual != kAlwaysTrue;
      p.actions_.push_back(action);
      all.push_back(a);
      if (action.relevant) p.relevant_actions_.push_back(a);
    }
    const auto precondition = [&p](ActionId a) { return p.precondition(p.actions_[a]); };
    p.all_tree_.build(all, p.num_bits_, precondition);
    if (p.relevant_actions_.size() < all.size()) p.relevant_tree_.build(p.relevant_actions_, p.num_bits_, precondition);
  }

  void compile_initial() {
    Program& p = *program_;
    p.initial_.assign(p.total_words_, 0);
    for (const FactId fact : definition().facts.all()) {
      if (definition().init[fact]) set_bit(p.initial_.data(), bit_of_fact_[fact], true);
    }
    p.complete(p.initial_.data());
    p.initially_legal_ = p.step_monitors(kNoAction, p.initial_.data());
  }

  void index_names() {
    Program& p = *program_;
    for (const ActionNameId n : definition().action_names.all()) {
      p.action_name_index_.emplace(definition().action_names[n].name, n);
    }
    for (const ObjectId o : definition().objects.all()) p.object_index_.emplace(definition().objects[o], o);
    for (const ActionId a : definition().actions.all()) p.actions_by_symbol_.push_back(a);
    const auto before = [&p](ActionId x, ActionId y) {
      return p.symbol_order(x, p.definition_.actions.name(y), p.definition_.actions.arguments(y)) < 0;
    };
    // Grounding puts them in order.
    if (!std::is_sorted(p.actions_by_symbol_.begin(), p.actions_by_symbol_.end(), before)) {
      std::sort(p.actions_by_symbol_.begin(), p.actions_by_symbol_.end(), before);
    }
  }

  static constexpr std::uint64_t kActionSteps = 64;

  internal::Meter& meter_;
  std::shared_ptr<Program> program_;
  Relevance relevance_;
  IdVector<FactId, std::uint32_t> bit_of_fact_;
  std::vector<std::uint32_t> monitor_first_bit_;
  std::vector<std::pair<std::uint32_t, bool>> bits_;  // of the effect at hand, and whether they are set
};

std::shared_ptr<const Program> compile(Definition definition, internal::Meter& meter) {
  return Compiler(std::move(definition), meter).run();
}

}  // namespace metactrl::task
