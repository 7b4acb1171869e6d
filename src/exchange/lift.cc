// From ground actions back to actions with parameters.
//
// In each ground action the arguments are replaced, wherever they occur in its conditions and effects, by parameters.
// Ground actions of one name that then look the same are one kind; usually there are only a few kinds. A predicate that
// never changes says which arguments are of which kind:
//
//     (:action unload :parameters (?p1 ?p2 ?p3)
//       :precondition (and (can-unload ?p1 ?p2 ?p3) (in ?p1 ?p2) (at ?p2 ?p3)) ...)
//
// With several kinds the precondition is a disjunction over them and each effect is conditional on its kind. Objects
// that are no arguments are written as constants. Two facts that read the same get predicates of their own. So do
// derived facts of one predicate in different layers, when together they would depend on their own negation. In the
// worst case each ground action is a kind of its own, and the text is as long as the ground task.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "exchange/plan_trace.h"
#include "exchange/standard.h"
#include "metactrl/error.h"
#include "pddl/strata.h"
#include "support/words.h"

namespace metactrl::exchange {

using task::Definition;
using task::Formula;

namespace {

constexpr std::size_t kMaxWays = 1000;

class Lifter {
 public:
  Lifter(const Definition& definition, bool by_layer) : definition_(definition), by_layer_(by_layer) {}

  Ast run() {
    ast_.domain_name = "exported";
    ast_.problem_name = definition_.name;
    ast_.types.push_back({"object"});
    ast_.has_metric = definition_.has_costs;
    for (const std::string& name : definition_.objects) ast_.objects.push_back({name, {pddl::kObjectType}, {}});
    add_facts();
    for (const task::AxiomDefinition& axiom : definition_.axioms) add_axiom(axiom);
    add_actions();
    for (const task::MonitorDefinition& monitor : definition_.monitors) add_monitor(monitor);
    std::vector<Condition> goals;
    for (const task::GoalDefinition& goal : definition_.goals) goals.push_back(condition(goal.condition, {}));
    ast_.goal.condition = condition_and(std::move(goals));
    return std::move(ast_);
  }

 private:
  // One way to look at the ground actions of one name.
  struct Shape {
    Condition precondition;
    std::vector<pddl::Effect> effects;
    std::vector<ActionId> actions;  // ground actions
  };

  static VariableTable parameters(std::size_t count) {
    VariableTable out;
    for (std::size_t i = 0; i < count; ++i) out.push_back({str_cat("?p", i + 1), {pddl::kObjectType}, {}});
    return out;
  }

  void add_facts() {
    std::map<std::tuple<PredicateId, std::size_t, std::int32_t, std::uint32_t>, PredicateId> predicates;
    std::map<task::FactSymbol, std::uint32_t> times_seen;
    for (const task::FactId i : definition_.facts.all()) {
      const task::FactSymbol& fact = definition_.facts[i];
      const bool derived = definition_.fact_layer[i] >= 0;
      const std::int32_t layer = derived && by_layer_ ? definition_.fact_layer[i] : derived ? 0 : -1;
      const std::uint32_t copy = times_seen[fact]++;
      const auto key = std::make_tuple(fact.name, fact.arguments.size(), layer, copy);
      auto place = predicates.find(key);
      if (place == predicates.end()) {
        const std::string& name = definition_.predicate_names[fact.name];
        place = predicates.emplace(key, add_predicate(ast_, name, parameters(fact.arguments.size()), derived)).first;
      }
      predicate_of_.push_back(place->second);
      if (definition_.init[i]) ast_.init.push_back({place->second, fact.arguments, {}});
    }
  }

  // --- conditions ----------------------------------------------------------------------------------------------------

  // Objects among `arguments` become parameters.
  std::vector<Term> terms(const std::vector<ObjectId>& objects, const std::vector<ObjectId>& arguments) const {
    std::vector<Term> out;
    for (const ObjectId object : objects) {
      const auto place = std::find(arguments.begin(), arguments.end(), object);
      out.push_back(place == arguments.end()
                        ? Term(object)
                        : Term(internal::to_id<VariableId>(static_cast<std::size_t>(place - arguments.begin()))));
    }
    return out;
  }

  Condition atom(task::FactId fact, const std::vector<ObjectId>& arguments) const {
    return condition_atom(predicate_of_[fact], terms(definition_.facts[fact].arguments, arguments));
  }

  Condition condition(const Formula& formula, const std::vector<ObjectId>& arguments) const {
    return plain(without_matching(formula, kMaxWays, "a condition of the task"), arguments);
  }

  Condition plain(const Formula& formula, const std::vector<ObjectId>& arguments) const {
    std::vector<Condition> children;
    for (const Formula& child : formula.children) children.push_back(plain(child, arguments));
    switch (formula.kind) {
      case Formula::Kind::kTrue:
        return condition_true();
      case Formula::Kind::kLiteral: {
        Condition fact = atom(formula.fact, arguments);
        return formula.negated ? condition_not(std::move(fact)) : fact;
      }
      case Formula::Kind::kAnd:
        return condition_and(std::move(children));
      case Formula::Kind::kOr:
        return condition_or(std::move(children));
      case Formula::Kind::kAtLeast:
        return at_least(formula.count, children);
      case Formula::Kind::kFalse:
      case Formula::Kind::kMatching:
        break;
    }
    return condition_false();
  }

  // Some `count` of them hold, or: of any n - count + 1 some one holds. The shorter of the two.
  static Condition at_least(std::size_t count, const std::vector<Condition>& children) {
    const std::size_t other = children.size() - count + 1;
    const bool by_cases = count <= other;
    std::vector<Condition> ways;
    std::vector<Condition> chosen;
    choose(children, 0, by_cases ? count : other, by_cases, chosen, ways);
    return by_cases ? condition_or(std::move(ways)) : condition_and(std::move(ways));
  }

  static void choose(const std::vector<Condition>& children, std::size_t first, std::size_t count, bool by_cases,
                     std::vector<Condition>& chosen, std::vector<Condition>& ways) {
    if (count == 0) {
      if (ways.size() == kMaxWays) {
        throw InputError("export", str_cat("a condition of the task counts in more than ", kMaxWays, " ways"),
                         "state what matters, or use fewer objects");
      }
      ways.push_back(by_cases ? condition_and(chosen) : condition_or(chosen));
      return;
    }
    for (std::size_t i = first; i + count <= children.size(); ++i) {
      chosen.push_back(children[i]);
      choose(children, i + 1, count - 1, by_cases, chosen, ways);
      chosen.pop_back();
    }
  }

  void add_axiom(const task::AxiomDefinition& definition) {
    pddl::Axiom axiom;
    const std::vector<ObjectId>& objects = definition_.facts[definition.head].arguments;
    axiom.head = predicate_of_[definition.head];
    axiom.variables = parameters(objects.size());
    axiom.num_parameters = static_cast<std::uint32_t>(objects.size());
    std::vector<Condition> parts;
    for (std::uint32_t i = 0; i < objects.size(); ++i) {
      parts.push_back(condition_equals(Term(VariableId{i}), Term(objects[i])));
    }
    parts.push_back(condition(definition.body, {}));
    axiom.body = condition_and(std::move(parts));
    ast_.axioms.push_back(std::move(axiom));
  }

  // --- actions -------------------------------------------------------------------------------------------------------

  void add_actions() {
    std::map<ActionNameId, std::vector<ActionId>> by_name;
    for (const ActionId i : definition_.actions.all()) by_name[definition_.actions.name(i)].push_back(i);
    for (const auto& [name, actions] : by_name) {
      action_of_name_[name] = ast_.actions.next_id();
      add_action(definition_.action_names[name].name, actions);
    }
  }

  void add_action(const std::string& name, const std::vector<ActionId>& ground) {
    const std::size_t arity = definition_.actions.arguments(ground[0]).size();
    pddl::Action action;
    action.name = name;
    action.variables = parameters(arity);
    action.num_parameters = static_cast<std::uint32_t>(arity);
    const std::vector<Shape> shapes = shapes_of(ground, action.variables);
    std::vector<Condition> ways;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const Condition kind = arity == 0 ? condition_true() : kind_of(name, shapes, i);
      ways.push_back(condition_and({kind, shapes[i].precondition}));
      for (const pddl::Effect& effect : shapes[i].effects) {
        action.effects.push_back(effect);
        if (shapes.size() > 1) action.effects.back().when = condition_and({kind, effect.when});
      }
    }
    action.precondition = condition_or(std::move(ways));
    if (definition_.has_costs) add_cost(action, ground);
    ast_.actions.push_back(std::move(action));
  }

  // "(can-unload ?p1 ?p2)", with the ground actions of that shape as initial facts.
  Condition kind_of(const std::string& name, const std::vector<Shape>& shapes, std::size_t place) {
    const Shape& shape = shapes[place];
    const std::size_t arity = definition_.actions.arguments(shape.actions[0]).size();
    const std::string wanted = str_cat("can-", name, shapes.size() == 1 ? "" : str_cat('-', place + 1));
    const PredicateId predicate = add_predicate(ast_, wanted, parameters(arity));
    for (const ActionId action : shape.actions) {
      ast_.init.push_back({predicate, definition_.actions.symbol(action).arguments, {}});
    }
    std::vector<Term> arguments;
    for (std::uint32_t i = 0; i < arity; ++i) arguments.push_back(Term(VariableId{i}));
    return condition_atom(predicate, std::move(arguments));
  }

  std::vector<Shape> shapes_of(const std::vector<ActionId>& ground, const VariableTable& variables) const {
    std::vector<Shape> shapes;
    std::map<std::string, std::size_t> known;
    for (const ActionId action : ground) {
      Shape shape = shape_of(action);
      std::string key = pddl::to_string(ast_, variables, shape.precondition);
      for (const pddl::Effect& effect : shape.effects) {
        key += str_cat(effect.add ? " +" : " -", pddl::to_string(ast_, variables, effect.atom), '?',
                       pddl::to_string(ast_, variables, effect.when));
      }
      const auto [place, fresh] = known.emplace(std::move(key), shapes.size());
      if (fresh) shapes.push_back(std::move(shape));
      shapes[place->second].actions.push_back(action);
    }
    return shapes;
  }

  Shape shape_of(ActionId id) const {
    const task::ActionDefinition action = definition_.actions[id];
    const std::vector<ObjectId>& arguments = action.symbol.arguments;
    Shape shape;
    shape.precondition = condition(action.precondition, arguments);
    for (const task::EffectDefinition& effect : action.effects) {
      const Condition when = condition(effect.when, arguments);
      for (const task::FactId fact : effect.add) shape.effects.push_back({{}, when, true, atom(fact, arguments).atom});
      for (const task::FactId fact : effect.del) shape.effects.push_back({{}, when, false, atom(fact, arguments).atom});
    }
    return shape;
  }

  void add_cost(pddl::Action& action, const std::vector<ActionId>& ground) {
    const double first = definition_.actions.cost(ground[0]);
    const bool same =
        std::all_of(ground.begin(), ground.end(), [&](ActionId a) { return definition_.actions.cost(a) == first; });
    pddl::CostTerm term;
    if (same) {
      term.constant = first;
    } else {
      term.function = ast_.functions.next_id();
      ast_.functions.push_back({"cost-of-" + action.name, action.variables, {}});
      for (std::uint32_t i = 0; i < action.num_parameters; ++i) term.arguments.push_back(Term(VariableId{i}));
      for (const ActionId a : ground) {
        ast_.init_values.push_back(
            {*term.function, definition_.actions.symbol(a).arguments, definition_.actions.cost(a)});
      }
    }
    action.costs = {std::move(term)};
  }

  void add_monitor(const task::MonitorDefinition& monitor) {
    pddl::Constraint constraint;
    constraint.kind = static_cast<pddl::Constraint::Kind>(monitor.kind);
    constraint.text = monitor.text;
    constraint.first = condition(monitor.first, {});
    constraint.second = condition(monitor.second, {});
    for (const std::vector<ActionId>& step : monitor.steps) {
      std::vector<pddl::ActionPattern> patterns;
      for (const ActionId action : step) {
        const task::ActionSymbol symbol = definition_.actions.symbol(action);
        pddl::ActionPattern pattern{action_of_name_.at(symbol.name), {}};
        for (const ObjectId object : symbol.arguments) pattern.arguments.emplace_back(Term(object));
        patterns.push_back(std::move(pattern));
      }
      constraint.steps.push_back(std::move(patterns));
    }
    ast_.constraints.push_back(std::move(constraint));
  }

  const Definition& definition_;
  bool by_layer_;
  Ast ast_;
  internal::IdVector<task::FactId, PredicateId> predicate_of_;
  std::map<ActionNameId, ActionNameId> action_of_name_;  // of the definition: in the tree
};

static_assert(static_cast<int>(pddl::Constraint::Kind::kActionsInOrder) ==
              static_cast<int>(task::MonitorDefinition::Kind::kActionsInOrder));

}  // namespace

Ast lift(const Definition& definition) {
  Ast ast = Lifter(definition, false).run();
  return pddl::stratified(ast) ? ast : Lifter(definition, true).run();
}

}  // namespace metactrl::exchange
