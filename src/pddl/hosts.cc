// The shape that is looked for is the envelope: an atom among the effects at the start that is taken away by the effects
// at the end, in the same terms, and that another action asks for.
//
// An action hosts others where everything that its end does can be put off. What it does to numbers at its end cannot,
// since how far they go is worked out for points that follow each other; nor can what happens by itself be told apart
// from what ends, nor can derived facts, or what trajectory constraints saw, be followed through an end that has not happened.
#include "pddl/hosts.h"

#include <algorithm>
#include <utility>

#include "support/str_cat.h"

namespace metactrl::pddl {

namespace {

using internal::str_cat;

bool same_terms(const Atom& a, const Atom& b) { return a.predicate == b.predicate && a.arguments == b.arguments; }

bool is_plain(const Effect& effect) { return effect.forall.empty() && effect.when.kind == Condition::Kind::kTrue; }

bool asks_for(const Condition& condition, PredicateId predicate) {
  if (condition.kind == Condition::Kind::kAtom) return condition.atom.predicate == predicate;
  if (condition.kind == Condition::Kind::kNot) return false;
  return std::any_of(condition.children.begin(), condition.children.end(),
                     [&](const Condition& child) { return asks_for(child, predicate); });
}

bool depends_on_state(const Ast& ast, const Expression& expression) {
  if (expression.kind == Expression::Kind::kFunction) return ast.functions[expression.function].changes;
  return std::any_of(expression.children.begin(), expression.children.end(),
                     [&](const Expression& child) { return depends_on_state(ast, child); });
}

}  // namespace

std::vector<Envelope> envelopes(const Ast& ast) {
  std::vector<Envelope> result;
  for (const ActionNameId a : ast.actions.all()) {
    const Action& action = ast.actions[a];
    if (!action.durative) continue;
    for (const Effect& start : action.effects) {
      const auto ends = [&](const Effect& end) {
        return !end.add && is_plain(end) && same_terms(start.atom, end.atom);
      };
      const std::vector<Effect>& end_effects = action.durative->end_effects;
      if (!start.add || !is_plain(start) || std::none_of(end_effects.begin(), end_effects.end(), ends)) continue;
      for (const ActionNameId b : ast.actions.all()) {
        const Action& other = ast.actions[b];
        if (!other.written.empty()) continue;  // as the one that it is written as
        const PredicateId fact = start.atom.predicate;
        const bool needs = asks_for(other.precondition, fact) ||
                           (other.durative && ast.written_name(a) != ast.written_name(b) &&
                            (asks_for(other.durative->over_all, fact) || asks_for(other.durative->at_end, fact)));
        if (needs) result.push_back({a, b, start.atom});
      }
    }
  }
  return result;
}

std::string to_string(const Ast& ast, const Envelope& envelope) {
  const Action& action = ast.actions[envelope.offers];
  std::string text = "(" + action.name;
  for (std::uint32_t i = 0; i < action.num_parameters; ++i) text += " " + action.variables[VariableId{i}].name;
  return str_cat(text, ") makes ", to_string(ast, action.variables, envelope.fact), " true only while it runs, and ",
                 ast.actions[envelope.needs].name, " needs it");
}

std::string why_no_host(const Ast& ast, ActionNameId action) {
  const Durative& durative = *ast.actions[action].durative;
  if (!ast.no_hosts.empty()) return ast.no_hosts;
  if (!ast.timed.empty()) return "facts change by themselves";
  if (!ast.axioms.empty()) return "the domain has derived predicates";
  if (!ast.constraints.empty() || std::any_of(ast.preferences.begin(), ast.preferences.end(), looks_back))
    return "there are trajectory constraints";
  if (!durative.fixed) return "its duration depends on the state";
  if (!durative.end_numeric_effects.empty()) return "it changes numbers at its end";
  return {};
}

void forget_hosts(Ast& ast, std::string why) {
  ast.no_hosts = std::move(why);
  ast.has_hosts = false;
  for (Action& action : ast.actions) {
    if (action.durative) action.durative->hosts = false;
  }
}

void find_hosts(Ast& ast) {
  for (Action& action : ast.actions) {
    if (action.durative) action.durative->fixed = !depends_on_state(ast, action.durative->duration);
  }
  for (const Envelope& envelope : envelopes(ast)) {
    if (!why_no_host(ast, envelope.offers).empty()) continue;
    ast.actions[envelope.offers].durative->hosts = true;
    ast.has_hosts = true;
  }
}

}  // namespace metactrl::pddl
