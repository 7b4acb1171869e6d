// The plan runs on the compiled task. What an action does is read off its edits: the bits it sets and clears, those of
// conditional effects where the condition holds in the state before. Adds count over deletes, as everywhere.
#include "exchange/plan_trace.h"

#include <algorithm>
#include <functional>
#include <set>

#include "metactrl/error.h"
#include "pddl/interpret.h"
#include "support/str_cat.h"
#include "task/program.h"

namespace metactrl::exchange {

using internal::str_cat;
using task::Formula;

namespace {

void collect(std::span<const task::WordEdit> edits, std::set<std::uint32_t>& set, std::set<std::uint32_t>& cleared) {
  for (const task::WordEdit& edit : edits) {
    for (std::uint32_t i = 0; i < 64; ++i) {
      const task::Word mask = task::Word{1} << i;
      if ((edit.set & mask) != 0) {
        set.insert(edit.word * 64 + i);
      } else if ((edit.keep & mask) == 0) {
        cleared.insert(edit.word * 64 + i);
      }
    }
  }
}

// `state` is null when it is not known.
void describe_effects(const Task& task, const State* state, TracedStep& step) {
  const task::Program& program = task.program();
  const task::ActionProgram& action = program.action(*step.action);
  std::set<std::uint32_t> set;
  std::set<std::uint32_t> cleared;
  collect(program.edits(action), set, cleared);
  for (const task::ConditionalEffect& effect : program.effects(action)) {
    if (state == nullptr || !program.conditions().holds(effect.condition, state->words().data())) continue;
    collect(program.edits(effect), set, cleared);
  }
  for (const std::uint32_t bit : set) {
    if (std::string text = program.bit_text(bit); !text.empty()) step.adds.push_back(std::move(text));
  }
  for (const std::uint32_t bit : cleared) {
    if (set.contains(bit)) continue;
    if (std::string text = program.bit_text(bit); !text.empty()) step.deletes.push_back(std::move(text));
  }
}

void describe_change(const Task& task, const State& from, const State& to, TracedStep& step) {
  const task::Program& program = task.program();
  for (std::uint32_t bit = 0; bit < program.num_bits(); ++bit) {
    const bool before = task::test_bit(from.words().data(), bit);
    const bool after = task::test_bit(to.words().data(), bit);
    if (before == after) continue;
    std::string text = program.bit_text(bit);
    if (text.empty()) continue;
    (after ? step.became_true : step.became_false).push_back(std::move(text));
  }
}

// "step 3 (putin cup box): precondition ..." without what is known anyway.
std::string without_place(const std::string& reason) {
  const std::size_t colon = reason.find("): ");
  return reason.starts_with("step ") && colon != std::string::npos ? reason.substr(colon + 3) : reason;
}

}  // namespace

PlanTrace trace_plan(const Task& task, std::span<const PlanStep> plan) {
  PlanTrace trace;
  trace.validation = task.validate(plan);
  std::optional<State> state = task.initial_state();
  for (std::size_t i = 0; i < plan.size(); ++i) {
    TracedStep step;
    step.step = plan[i];
    step.action = task.find(plan[i]);
    step.legal = i < trace.validation.steps_executed;
    if (i == trace.validation.steps_executed) step.problem = without_place(trace.validation.reason);
    const std::optional<State> next =
        step.legal && state && step.action ? task.apply(*state, *step.action) : std::nullopt;
    if (step.action) {
      describe_effects(task, state ? &*state : nullptr, step);
      step.breaks_constraint = !next && state && task.program().applicable(state->words().data(), *step.action);
    }
    if (next) describe_change(task, *state, *next, step);
    state = next;
    trace.steps.push_back(std::move(step));
  }
  trace.last = std::move(state);
  return trace;
}

std::vector<std::string> parameter_names(const Task& task, ActionNameId action) {
  std::vector<std::string> names;
  if (const auto* interpreter = dynamic_cast<const pddl::LiftedInterpreter*>(task.reference())) {
    for (const pddl::Action& declared : interpreter->ast().actions) {
      if (declared.name != task.action_name(action)) continue;
      for (const pddl::VariableId i : internal::ids<pddl::VariableId>(declared.num_parameters)) {
        const std::string& name = declared.variables[i].name;
        names.push_back(name.starts_with('?') ? name.substr(1) : name);
      }
    }
  }
  for (std::size_t i = names.size(); i < task.arity(action); ++i) names.push_back(str_cat("arg", i + 1));
  return names;
}

std::string formula_text(const task::Definition& definition, const Formula& formula) {
  const auto list = [&](const std::string& head) {
    std::string out = "(" + head;
    for (const Formula& child : formula.children) out += " " + formula_text(definition, child);
    return out + ")";
  };
  const auto negated = [&](const std::string& text) { return formula.negated ? "(not " + text + ")" : text; };
  switch (formula.kind) {
    case Formula::Kind::kTrue:
      return "(and)";
    case Formula::Kind::kFalse:
      return "(or)";
    case Formula::Kind::kLiteral:
      return negated(task::fact_text(definition, formula.fact));
    case Formula::Kind::kAnd:
      return list("and");
    case Formula::Kind::kOr:
      return list("or");
    case Formula::Kind::kAtLeast:
      return list(str_cat("at-least ", formula.count));
    case Formula::Kind::kMatching:
      break;
  }
  std::string out = str_cat("(pairs ", formula.count);
  for (std::size_t i = 0; i < formula.children.size(); ++i) {
    out += i % formula.count2 == 0 ? " (" : " ";
    out += formula_text(definition, formula.children[i]);
    if (i % formula.count2 + 1 == formula.count2) out += ")";
  }
  return negated(out + ")");
}

std::vector<const Formula*> conjuncts(const Formula& formula) {
  if (formula.is_true()) return {};
  if (formula.kind != Formula::Kind::kAnd) return {&formula};
  std::vector<const Formula*> out;
  for (const Formula& child : formula.children) {
    const std::vector<const Formula*> inner = conjuncts(child);
    out.insert(out.end(), inner.begin(), inner.end());
  }
  return out;
}

namespace {

// All ways to pick `count` entries in distinct rows and columns.
class Matchings {
 public:
  Matchings(const Formula& formula, std::size_t limit) : formula_(formula), limit_(limit) {}

  bool run() {
    const std::size_t rows = formula_.count2 == 0 ? 0 : formula_.children.size() / formula_.count2;
    used_.assign(formula_.count2, false);
    pick(0, rows);
    return ways_.size() <= limit_;
  }
  std::vector<Formula> take() { return std::move(ways_); }

 private:
  void pick(std::size_t row, std::size_t rows) {
    if (ways_.size() > limit_) return;
    if (chosen_.size() == formula_.count) {
      ways_.push_back(task::make_and(chosen_));
      return;
    }
    if (row == rows || rows - row < formula_.count - chosen_.size()) return;
    pick(row + 1, rows);
    for (std::size_t column = 0; column < formula_.count2; ++column) {
      const Formula& entry = formula_.children[row * formula_.count2 + column];
      if (used_[column] || entry.is_false()) continue;
      used_[column] = true;
      chosen_.push_back(entry);
      pick(row + 1, rows);
      chosen_.pop_back();
      used_[column] = false;
    }
  }

  const Formula& formula_;
  std::size_t limit_;
  std::vector<bool> used_;
  std::vector<Formula> chosen_;
  std::vector<Formula> ways_;
};

}  // namespace

Formula without_matching(const Formula& formula, std::size_t limit, const std::string& what) {
  if (formula.children.empty()) return formula;
  Formula result = formula;
  for (Formula& child : result.children) child = without_matching(child, limit, what);
  if (formula.kind == Formula::Kind::kAnd) return task::make_and(std::move(result.children));
  if (formula.kind == Formula::Kind::kOr) return task::make_or(std::move(result.children));
  if (formula.kind == Formula::Kind::kAtLeast) return task::make_at_least(result.count, std::move(result.children));
  if (formula.kind != Formula::Kind::kMatching) return result;
  Matchings matchings(result, limit);
  if (!matchings.run()) {
    throw InputError("export", str_cat(what, " counts pairs in more than ", limit, " ways"),
                     "state the pairs that matter, or use fewer objects");
  }
  Formula ways = task::make_or(matchings.take());
  return formula.negated ? task::negate(ways) : ways;
}

}  // namespace metactrl::exchange
