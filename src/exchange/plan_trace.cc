// The plan runs on the compiled task. What an action does is read off its edits: the bits it sets and clears, those of
// conditional effects where the condition holds in the state before. Adds count over deletes, as everywhere.
#include "exchange/plan_trace.h"

#include <set>

#include "metactrl/error.h"
#include "pddl/interpret.h"
#include "support/words.h"
#include "task/program.h"

namespace metactrl::exchange {

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

PlanTrace trace_plan(const Task& task, std::span<const PlanStep> plan, const Stop& stop) {
  PlanTrace trace;
  trace.validation = task.validate(plan, stop);
  std::optional<State> state = task.initial_state();
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (stop && stop()) throw Stopped(Stopped::kCancelled);
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

namespace {

// All ways to pick `count` entries in distinct rows, from `row` on, and columns; where there are more than `limit`, not
// all of them.
void add_matchings(const Formula& formula, std::size_t row, std::size_t limit, std::vector<bool>& used,
                   std::vector<Formula>& chosen, std::vector<Formula>& ways) {
  if (ways.size() > limit) return;
  if (chosen.size() == formula.count) {
    ways.push_back(task::make_and(chosen));
    return;
  }
  const std::size_t rows = formula.count2 == 0 ? 0 : formula.children.size() / formula.count2;
  if (row == rows || rows - row < formula.count - chosen.size()) return;
  add_matchings(formula, row + 1, limit, used, chosen, ways);
  for (std::size_t column = 0; column < formula.count2; ++column) {
    const Formula& entry = formula.children[row * formula.count2 + column];
    if (used[column] || entry.is_false()) continue;
    used[column] = true;
    chosen.push_back(entry);
    add_matchings(formula, row + 1, limit, used, chosen, ways);
    chosen.pop_back();
    used[column] = false;
  }
}

}  // namespace

Formula without_matching(const Formula& formula, std::size_t limit, const std::string& what) {
  if (formula.children.empty()) return formula;
  Formula result = formula;
  for (Formula& child : result.children) child = without_matching(child, limit, what);
  if (formula.kind == Formula::Kind::kAnd) return task::make_and(std::move(result.children));
  if (formula.kind == Formula::Kind::kOr) return task::make_or(std::move(result.children));
  if (formula.kind == Formula::Kind::kAtLeast) return task::make_at_least(result.count, std::move(result.children));
  if (formula.kind != Formula::Kind::kMatching) return result;
  std::vector<bool> used(result.count2, false);
  std::vector<Formula> chosen;
  std::vector<Formula> found;
  add_matchings(result, 0, limit, used, chosen, found);
  if (found.size() > limit) {
    throw InputError("export", str_cat(what, " counts pairs in more than ", limit, " ways"),
                     "state the pairs that matter, or use fewer objects");
  }
  Formula ways = task::make_or(std::move(found));
  return formula.negated ? task::negate(ways) : ways;
}

}  // namespace metactrl::exchange
