// From a program to its relaxation: an operator for each action and for each of its conditional effects, one for each
// part of a condition that is not a conjunction, one for each axiom and for each step of an action sequence.
//
// Why an action's effect with condition c is an operator of cost 1 with preconditions pre(a) and c, rather than one of
// cost 0 behind "a was applied": c has to hold before a. The same goes for the steps of an action sequence, so the
// second of two equal steps costs 2.
//
// Hundreds of thousands of actions: their preconditions wait in one array until all literals that matter are known.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "lookahead/relaxed.h"

namespace metactrl::lookahead {

namespace {

using task::ConditionId;
using task::ConditionPool;
using task::kNoAction;
using task::Literal;
using task::Monitor;
using task::MonitorDefinition;
using task::Word;

constexpr PropositionId kTrue = RelaxedTask::kTrue;
constexpr PropositionId kNever{1};  // the one that never does

}  // namespace

class RelaxedBuilder {
 public:
  RelaxedBuilder(RelaxedTask& out, std::span<const ActionId> actions, std::span<const std::uint32_t> weights)
      : out_(out),
        program_(out.program_),
        actions_(actions),
        weights_(weights),
        literal_(2 * program_.num_bits(), kNoProposition) {}

  void run() {
    out_.num_propositions_ = 2;
    add_goals();
    add_duties();
    add_preconditions();
    for (std::size_t i = 0; i < derived_.size(); ++i) add_axioms(derived_[i]);
    // All literals that matter are known now; effects on others are left out.
    add_action_effects();
    index_users();
    index_makers();
    index_achievers();
    out_.of_literal_ = std::move(literal_);
  }

 private:
  using Operator = RelaxedTask::Operator;
  static constexpr PropositionId kNoProposition = RelaxedTask::kNoProposition;
  using Propositions = std::vector<PropositionId>;

  PropositionId new_proposition() { return to_id<PropositionId>(out_.num_propositions_++); }

  // For duplicates in `preconditions` the caller cares: an "at least n of" may count a proposition twice.
  Operator& add_operator(const Propositions& preconditions, std::uint32_t needed, const Propositions& effects) {
    Operator op;
    op.needed = needed;
    op.first_precondition = static_cast<std::uint32_t>(out_.preconditions_.size());
    op.num_preconditions = static_cast<std::uint32_t>(preconditions.size());
    op.first_effect = static_cast<std::uint32_t>(out_.effects_.size());
    op.num_effects = static_cast<std::uint32_t>(effects.size());
    out_.preconditions_.insert(out_.preconditions_.end(), preconditions.begin(), preconditions.end());
    out_.effects_.insert(out_.effects_.end(), effects.begin(), effects.end());
    out_.operators_.push_back(op);
    return out_.operators_.back();
  }

  // Sorted, without duplicates and trivial entries, but never empty.
  static void normalise(Propositions& conjunction) {
    std::sort(conjunction.begin(), conjunction.end());
    conjunction.erase(std::unique(conjunction.begin(), conjunction.end()), conjunction.end());
    if (conjunction.size() > 1 && conjunction.front() == kTrue) conjunction.erase(conjunction.begin());
    if (conjunction.empty()) conjunction.push_back(kTrue);
  }

  // An operator that needs all of `conjunction`, or nothing when that is hopeless.
  Operator* add_all_of(Propositions conjunction, const Propositions& effects) {
    normalise(conjunction);
    return add_normalised(conjunction, effects);
  }
  Operator* add_normalised(const Propositions& conjunction, const Propositions& effects) {
    if (effects.empty() || std::find(conjunction.begin(), conjunction.end(), kNever) != conjunction.end())
      return nullptr;
    return &add_operator(conjunction, static_cast<std::uint32_t>(conjunction.size()), effects);
  }

  // One proposition for a conjunction.
  PropositionId conjoin(Propositions conjunction) {
    normalise(conjunction);
    if (conjunction.size() == 1) return conjunction.front();
    if (conjunction.front() == kNever) return kNever;
    const PropositionId proposition = new_proposition();
    add_all_of(std::move(conjunction), {proposition});
    return proposition;
  }

  PropositionId disjoin(Propositions disjunction) {
    std::sort(disjunction.begin(), disjunction.end());
    disjunction.erase(std::unique(disjunction.begin(), disjunction.end()), disjunction.end());
    if (disjunction.empty()) return kNever;
    if (disjunction.front() == kTrue) return kTrue;
    if (disjunction.size() == 1) return disjunction.front();
    const PropositionId proposition = new_proposition();
    for (const PropositionId choice : disjunction) add_all_of({choice}, {proposition});
    return proposition;
  }

  PropositionId at_least(std::uint32_t count, Propositions choices) {
    std::erase(choices, kNever);
    while (count > 0 && std::find(choices.begin(), choices.end(), kTrue) != choices.end()) {
      choices.erase(std::find(choices.begin(), choices.end(), kTrue));
      --count;
    }
    if (count == 0) return kTrue;
    if (count > choices.size()) return kNever;
    if (count == choices.size()) return conjoin(std::move(choices));
    if (count == 1) return disjoin(std::move(choices));
    const PropositionId proposition = new_proposition();
    add_operator(choices, count, {proposition});
    return proposition;
  }

  PropositionId literal(Literal l) {
    const bool derived = l.bit() >= program_.first_derived_bit();
    if (derived && l.negated()) return kTrue;
    PropositionId& proposition = literal_[l.code];
    if (proposition != kNoProposition) return proposition;
    proposition = new_proposition();
    out_.sources_.push_back({l, proposition});
    if (derived) derived_.push_back(l.bit());
    return proposition;
  }

  // Appends propositions that are all reached when the condition is.
  void collect(ConditionId condition, Propositions& out) {
    const ConditionPool::Node& node = program_.conditions().node(condition);
    switch (node.op) {
      case ConditionPool::Op::kTrue:
        return;
      case ConditionPool::Op::kAllOf:
        for (Literal l : program_.conditions().literals(node)) out.push_back(literal(l));
        return;
      case ConditionPool::Op::kAnd:
        for (const ConditionId child : program_.conditions().children(node)) collect(child, out);
        return;
      default:
        out.push_back(proposition_of(condition));
    }
  }

  PropositionId proposition_of(ConditionId condition) {
    const auto known = conditions_.find(condition);
    if (known != conditions_.end()) return known->second;
    const PropositionId proposition = translate(condition);
    conditions_.emplace(condition, proposition);
    return proposition;
  }

  PropositionId translate(ConditionId condition) {
    const ConditionPool::Node& node = program_.conditions().node(condition);
    Propositions parts;
    switch (node.op) {
      case ConditionPool::Op::kTrue:
        return kTrue;
      case ConditionPool::Op::kFalse:
        return kNever;
      case ConditionPool::Op::kAllOf:
      case ConditionPool::Op::kAnd:
        collect(condition, parts);
        return conjoin(std::move(parts));
      case ConditionPool::Op::kAnyOf:
        for (Literal l : program_.conditions().literals(node)) parts.push_back(literal(l));
        return disjoin(std::move(parts));
      case ConditionPool::Op::kOr:
      case ConditionPool::Op::kAtLeast:
        for (const ConditionId child : program_.conditions().children(node)) parts.push_back(proposition_of(child));
        return node.op == ConditionPool::Op::kOr ? disjoin(std::move(parts)) : at_least(node.count, std::move(parts));
      case ConditionPool::Op::kMatching:
        return matching(node);
    }
    return kTrue;
  }

  // n entries in distinct rows and columns need n rows and n columns that have an entry at all.
  PropositionId matching(const ConditionPool::Node& node) {
    if (node.negated || node.count == 0) return kTrue;
    if (node.count2 == 0) return kNever;
    const auto children = program_.conditions().children(node);
    const std::size_t columns = node.count2;
    const std::size_t rows = node.size / columns;
    Propositions by_row;
    Propositions by_column;
    for (std::size_t r = 0; r < rows; ++r) {
      Propositions row;
      for (std::size_t c = 0; c < columns; ++c) row.push_back(proposition_of(children[r * columns + c]));
      by_row.push_back(disjoin(std::move(row)));
    }
    for (std::size_t c = 0; c < columns; ++c) {
      Propositions column;
      for (std::size_t r = 0; r < rows; ++r) column.push_back(proposition_of(children[r * columns + c]));
      by_column.push_back(disjoin(std::move(column)));
    }
    return conjoin({at_least(node.count, std::move(by_row)), at_least(node.count, std::move(by_column))});
  }

  void add_goals() {
    for (const ConditionId goal : program_.goal_conditions()) out_.goal_propositions_.push_back(proposition_of(goal));
  }

  // A monitor that can reject is a goal; those that forbid are left out.
  void add_duties() {
    for (std::uint32_t m = 0; m < program_.monitors().size(); ++m) {
      const Monitor& monitor = program_.monitors()[m];
      PropositionId goal = kNoProposition;
      if (monitor.kind == MonitorDefinition::Kind::kActionsInOrder) {
        const PropositionId first = new_proposition();
        for (std::size_t i = 0; i < monitor.steps.size(); ++i) new_proposition();
        out_.duties_.push_back({m, first});
        for (std::uint32_t i = 0; i < monitor.steps.size(); ++i) {
          for (const ActionId action : monitor.steps[i]) steps_.push_back({action, step_done(first, i)});
        }
        goal = step_done(first, static_cast<std::uint32_t>(monitor.steps.size()));
      } else if (monitor.kind == MonitorDefinition::Kind::kSometime ||
                 monitor.kind == MonitorDefinition::Kind::kSometimeAfter) {
        goal = new_proposition();
        out_.duties_.push_back({m, goal});
        const bool after = monitor.kind == MonitorDefinition::Kind::kSometimeAfter;
        add_all_of({proposition_of(after ? monitor.second : monitor.first)}, {goal});
      }
      if (goal != kNoProposition) out_.goal_propositions_.push_back(goal);
    }
    out_.goal_ = conjoin(out_.goal_propositions_);
    std::stable_sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) { return a.action < b.action; });
  }

  // Names the literals in all conditions of relevant actions, before any effect is looked at.
  void add_preconditions() {
    end_of_precondition_.reserve(actions_.size());
    for (const ActionId a : actions_) {
      const task::ActionProgram& action = program_.action(a);
      for (Literal l : program_.precondition(action)) preconditions_.push_back(literal(l));
      collect(action.residual, preconditions_);
      end_of_precondition_.push_back(preconditions_.size());
      for (const task::ConditionalEffect& effect : program_.effects(action)) {
        if (!changes_relevant(program_.edits(effect))) continue;
        Propositions ignored;
        collect(effect.condition, ignored);
      }
    }
  }

  bool changes_relevant(std::span<const task::WordEdit> edits) const {
    return std::any_of(edits.begin(), edits.end(), [this](const task::WordEdit& edit) {
      const Word touched = edit.set | ~edit.keep;
      const std::size_t first = std::size_t{64} * edit.word;
      if (first >= program_.num_relevant_bits()) return false;
      const std::size_t bits = program_.num_relevant_bits() - first;
      return (bits >= 64 ? touched : touched & ((Word{1} << bits) - 1)) != 0;
    });
  }

  void add_axioms(std::uint32_t bit) {
    if (axioms_.empty()) {
      for (const auto& layer : program_.axiom_layers()) {
        for (const task::AxiomProgram& axiom : layer) axioms_[axiom.bit].push_back(axiom.condition);
      }
    }
    const auto found = axioms_.find(bit);
    if (found == axioms_.end()) return;
    for (const ConditionId condition : found->second) {
      Propositions conjunction;
      collect(condition, conjunction);
      add_all_of(std::move(conjunction), {literal_[bit << 1]});
    }
  }

  // The propositions that an effect makes true.
  void collect_edits(std::span<const task::WordEdit> edits, Propositions& out) const {
    for (const task::WordEdit& edit : edits) {
      for (Word rest = edit.set | ~edit.keep; rest != 0; rest &= rest - 1) {
        const auto offset = static_cast<std::uint32_t>(__builtin_ctzll(rest));
        const std::uint32_t negated = ((edit.set >> offset) & 1) ? 0 : 1;
        const PropositionId proposition = literal_[(64 * edit.word + offset) << 1 | negated];
        if (proposition != kNoProposition) out.push_back(proposition);
      }
    }
  }

  void add_action_effects() {
    std::size_t step = 0;
    out_.operators_.reserve(out_.operators_.size() + actions_.size());
    out_.preconditions_.reserve(out_.preconditions_.size() + preconditions_.size());
    auto begin = preconditions_.cbegin();
    Propositions pre;
    Propositions effects;
    for (std::size_t i = 0; i < actions_.size(); ++i) {
      const ActionId a = actions_[i];
      const task::ActionProgram& action = program_.action(a);
      // Several operators share the precondition: one proposition for it.
      std::size_t first_step = step;
      while (step < steps_.size() && steps_[step].action == a) ++step;
      const auto end = preconditions_.cbegin() + static_cast<std::ptrdiff_t>(end_of_precondition_[i]);
      pre.assign(std::exchange(begin, end), end);
      if (action.num_effects + (step - first_step) > 1) pre = {conjoin(std::move(pre))};
      normalise(pre);

      effects.clear();
      collect_edits(program_.edits(action), effects);
      if (Operator* op = add_normalised(pre, effects)) *op = costing(*op, a, false);
      for (const task::ConditionalEffect& effect : program_.effects(action)) {
        effects.clear();
        collect_edits(program_.edits(effect), effects);
        if (effects.empty()) continue;
        Propositions both = pre;
        collect(effect.condition, both);
        if (Operator* op = add_all_of(std::move(both), effects)) *op = costing(*op, a, false);
      }
      for (; first_step < step; ++first_step) {
        Propositions both = pre;
        both.push_back(steps_[first_step].from);
        if (Operator* op = add_all_of(std::move(both), {next_of(steps_[first_step].from)})) *op = costing(*op, a, true);
      }
    }
  }

  Operator costing(Operator op, ActionId action, bool counts_alone) const {
    op.action = action;
    op.cost = 1;
    op.weight = weights_.empty() ? 1 : weights_[index(action)];
    op.counts_alone = counts_alone;
    return op;
  }

  // Which operators have a proposition, from those of each operator: `by` one proposition after the other, those of p from
  // first[p] on.
  template <typename Of>
  void invert(const Of& of, std::size_t size, IdVector<PropositionId, std::uint32_t>& first,
              std::vector<std::uint32_t>& by) const {
    first.assign(out_.num_propositions_ + 1, 0);
    for (const Operator& op : out_.operators_) {
      for (const PropositionId proposition : of(op)) ++first[next_of(proposition)];
    }
    for (const PropositionId p : ids<PropositionId>(out_.num_propositions_)) first[next_of(p)] += first[p];
    by.resize(size);
    IdVector<PropositionId, std::uint32_t> next(first.begin(), first.end() - 1);
    for (std::uint32_t o = 0; o < out_.operators_.size(); ++o) {
      for (const PropositionId proposition : of(out_.operators_[o])) by[next[proposition]++] = o;
    }
  }

  void index_users() {
    invert([this](const Operator& op) { return out_.preconditions(op); }, out_.preconditions_.size(), out_.first_user_,
           out_.users_);
    for (const Operator& op : out_.operators_) out_.needed_.push_back(op.needed);
  }

  void index_makers() {
    invert([this](const Operator& op) { return out_.effects(op); }, out_.effects_.size(), out_.first_maker_,
           out_.makers_);
    const IdVector<PropositionId, std::uint32_t>& first = out_.first_maker_;
    const std::uint32_t maker = first[out_.goal_];
    out_.goal_joined_ =
        first[next_of(out_.goal_)] == maker + 1 && out_.operators_[out_.makers_[maker]].action == kNoAction;
  }

  void index_achievers() {
    out_.literals_.assign(out_.num_propositions_, RelaxedTask::kNoLiteral);
    for (const RelaxedTask::Source& source : out_.sources_) out_.literals_[source.proposition] = source.literal.code;
    // Operators come in the order of their actions, and so do the makers of a proposition.
    for (const PropositionId p : ids<PropositionId>(out_.num_propositions_)) {
      out_.first_achiever_.push_back(static_cast<std::uint32_t>(out_.achievers_.size()));
      const std::size_t first = out_.achievers_.size();
      for (std::uint32_t m = out_.first_maker_[p]; m < out_.first_maker_[next_of(p)]; ++m) {
        const ActionId action = out_.operators_[out_.makers_[m]].action;
        if (action == kNoAction || (out_.achievers_.size() > first && out_.achievers_.back() == action)) continue;
        out_.achievers_.push_back(action);
      }
    }
    out_.first_achiever_.push_back(static_cast<std::uint32_t>(out_.achievers_.size()));
  }

  struct Step {
    ActionId action;
    PropositionId from;  // proposition: so many steps done; the next one: one more
  };

  RelaxedTask& out_;
  const task::Program& program_;
  std::span<const ActionId> actions_;
  std::span<const std::uint32_t> weights_;  // by action, or none
  Propositions literal_;                    // by literal code
  std::unordered_map<ConditionId, PropositionId> conditions_;
  std::unordered_map<std::uint32_t, std::vector<ConditionId>> axioms_;  // by bit; looked up, never iterated
  std::vector<std::uint32_t> derived_;                                  // bits whose axioms are still to be added
  Propositions preconditions_;                                          // one behind the other ...
  std::vector<std::size_t> end_of_precondition_;                        // ... to here; parallel to actions_
  std::vector<Step> steps_;                                             // ascending by action
};

RelaxedTask::RelaxedTask(const task::Program& program) : RelaxedTask(program, program.relevant_action_list()) {}

RelaxedTask::RelaxedTask(const task::Program& program, std::span<const ActionId> actions,
                         std::span<const std::uint32_t> weights)
    : program_(program) {
  RelaxedBuilder(*this, actions, weights).run();
}

std::size_t RelaxedTask::memory_bytes() const {
  return operators_.capacity() * sizeof(Operator) + sources_.capacity() * sizeof(Source) +
         (preconditions_.capacity() + effects_.capacity() + needed_.capacity() + first_user_.capacity() +
          first_maker_.capacity() + makers_.capacity() + of_literal_.capacity() + users_.capacity() +
          first_achiever_.capacity() + achievers_.capacity() + literals_.capacity() + goal_propositions_.capacity()) *
             sizeof(std::uint32_t) +
         duties_.capacity() * sizeof(Duty);
}

}  // namespace metactrl::lookahead
