// A task as PDDL text. standard.cc has made the tree one of the common language; here it is printed.
//
// Names are kept where they are names for everybody: a letter, then letters, digits, '-' and '_'. Others are renamed
// and listed. Objects that the domain mentions are its constants, the rest belong to the problem. A condition that is
// false has no common form, so it is the fact `never`, which nothing makes true.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "exchange/names.h"
#include "exchange/standard.h"
#include "metactrl/exchange/export.h"
#include "pddl/interpret.h"
#include "support/json_text.h"
#include "support/lower_case.h"
#include "support/words.h"
#include "task/preferences.h"
#include "task/program.h"

namespace metactrl {

using pddl::Ast;
using pddl::Condition;
using pddl::Term;
using pddl::VariableTable;
using Kind = pddl::Condition::Kind;

namespace {

class PddlWriter {
 public:
  PddlWriter(const Ast& ast, std::vector<std::string> notes) : ast_(ast), notes_(std::move(notes)) {
    domain_name_ = exchange::pddl_name(ast.domain_name.empty() ? "exported" : ast.domain_name, "d-");
    find_double_words();
    types_ = name_all(ast.types, "type", "t-");
    objects_ = name_all(ast.objects, "object", "o-");
    actions_ = name_all(ast.actions, "action", "a-");
    predicates_ = name_all(ast.predicates, "predicate", "p-");
    exchange::UniqueNames names = unique_names();
    for (const std::string& name : predicates_) names.reserve(name);
    never_ = names.make("never");
    find_constants();
    find_costs();
    name_functions();
  }

  PddlTask run() {
    PddlTask result;
    // The body first: it finds out what is required and whether `never` is.
    std::string body = axioms() + actions();
    result.problem = problem();
    needs_never_ = needs_never_ || ast_.predicates.empty();  // VAL wants at least one
    result.domain = head() + requirements() + declarations() + body + ")\n";
    result.notes = std::move(notes_);
    return result;
  }

 private:
  using VariableNames = internal::IdVector<pddl::VariableId, std::string>;

  // --- names ---------------------------------------------------------------------------------------------------------

  // Some readers take "at start", "at end" and "over all" for one word each, also where another word begins with the
  // second half: (at start-room). With such objects nothing is called `at` or `over`.
  void find_double_words() {
    for (const pddl::Object& object : ast_.objects) {
      const std::string name = internal::lower_case(object.name);
      if (name.starts_with("start") || name.starts_with("end")) double_words_.insert("at");
      if (name.starts_with("all")) double_words_.insert("over");
    }
  }

  std::string name_for(std::string_view name, const std::string& prefix) const {
    std::string out = exchange::pddl_name(name, prefix);
    return double_words_.contains(internal::lower_case(out)) ? prefix + out : out;
  }

  // PDDL does not tell capital letters from small ones.
  static exchange::UniqueNames unique_names() {
    return exchange::UniqueNames("-", exchange::UniqueNames::Case::kIgnored);
  }

  template <typename Id, typename Item>
  internal::IdVector<Id, std::string> name_all(const internal::IdVector<Id, Item>& items, const std::string& what,
                                               const std::string& prefix) {
    // Those that can keep their names do, whatever the others are renamed to. The root of the types is known to all.
    const auto fits = [&](const std::string& name) {
      return name_for(name, prefix) == name || (what == "type" && name == "object");
    };
    exchange::UniqueNames names = unique_names();
    std::vector<bool> keep;
    for (const auto& item : items) keep.push_back(fits(item.name) && names.reserve(item.name));
    internal::IdVector<Id, std::string> out;
    for (const Item& item : items) {
      out.push_back(keep[out.size()] ? item.name : names.make(name_for(item.name, prefix)));
      if (out.back() != item.name) notes_.push_back(str_cat("the ", what, " ", item.name, " is called ", out.back()));
    }
    return out;
  }

  // To VAL the name of a function is one wherever it stands, so it differs from every other name.
  void name_functions() {
    exchange::UniqueNames names = unique_names();
    names.reserve("total-cost");
    using Names = std::vector<std::string>;
    for (const Names* list : std::initializer_list<const Names*>{&types_, &objects_, &actions_, &predicates_}) {
      for (const std::string& name : *list) names.reserve(name);
    }
    const auto reserve = [&](const VariableTable& variables) {
      for (const std::string& name : variable_names(variables)) names.reserve(name.substr(1));
    };
    for (const pddl::Predicate& predicate : ast_.predicates) reserve(predicate.parameters);
    for (const pddl::Action& action : ast_.actions) reserve(action.variables);
    for (const pddl::Axiom& axiom : ast_.axioms) reserve(axiom.variables);
    reserve(ast_.goal.variables);
    for (const pddl::FunctionId function : cost_functions_) {
      const std::string& name = ast_.functions[function].name;
      const auto at = functions_.emplace(function, names.make(name_for(name, "f-"))).first;
      if (at->second != name) notes_.push_back(str_cat("the function ", name, " is called ", at->second));
    }
  }

  VariableNames variable_names(const VariableTable& variables) const {
    exchange::UniqueNames names = unique_names();
    VariableNames out;
    for (const pddl::Variable& variable : variables) {
      const std::string_view plain = std::string_view(variable.name).substr(variable.name.starts_with('?') ? 1 : 0);
      out.push_back("?" + names.make(name_for(plain, "v-")));
    }
    return out;
  }

  // --- what belongs where --------------------------------------------------------------------------------------------

  void mention(const std::vector<Term>& terms) {
    for (const Term& term : terms) {
      if (!term.is_variable()) constants_.insert(term.object());
    }
  }
  void mention(const Condition& condition) {
    mention(condition.atom.arguments);
    mention(condition.terms);
    for (const Condition& child : condition.children) mention(child);
  }

  void find_constants() {
    for (const pddl::Action& action : ast_.actions) {
      mention(action.precondition);
      for (const pddl::Effect& effect : action.effects) {
        mention(effect.when);
        mention(effect.atom.arguments);
      }
      for (const pddl::CostTerm& cost : action.costs) mention(cost.arguments);
    }
    for (const pddl::Axiom& axiom : ast_.axioms) mention(axiom.body);
  }

  void find_costs() {
    has_costs_ = ast_.has_metric;
    for (const pddl::Action& action : ast_.actions) {
      has_costs_ = has_costs_ || !action.costs.empty();
      for (const pddl::CostTerm& cost : action.costs) {
        if (cost.function) cost_functions_.insert(*cost.function);
      }
    }
  }

  // --- pieces --------------------------------------------------------------------------------------------------------

  // "?x - block ?y - object"
  std::string declaration(const VariableTable& variables, const VariableNames& names,
                          const std::vector<pddl::VariableId>& which) {
    // A list in which some have no type would give them the type of what follows.
    const bool typed =
        std::any_of(which.begin(), which.end(), [&](auto v) { return variables[v].types[0] != pddl::kObjectType; });
    typing_ = typing_ || typed;
    std::string out;
    for (const pddl::VariableId variable : which) {
      out += (out.empty() ? "" : " ") + names[variable];
      if (typed) out += " - " + types_[variables[variable].types[0]];
    }
    return out;
  }
  std::string terms(const std::vector<Term>& terms, const VariableNames& names) const {
    std::string out;
    for (const Term& term : terms) out += " " + (term.is_variable() ? names[term.variable()] : objects_[term.object()]);
    return out;
  }
  std::string atom(const pddl::Atom& atom, const VariableNames& names) const {
    return "(" + predicates_[atom.predicate] + terms(atom.arguments, names) + ")";
  }

  std::string condition(const Condition& condition, const VariableTable& variables, const VariableNames& names) {
    const auto list = [&](const std::string& head) {
      std::string out = "(" + head;
      for (const Condition& child : condition.children) out += " " + this->condition(child, variables, names);
      return out + ")";
    };
    switch (condition.kind) {
      case Kind::kTrue:
        return "(and)";
      case Kind::kAtom:
        return atom(condition.atom, names);
      case Kind::kEquals:
        equality_ = true;
        return "(=" + terms(condition.terms, names) + ")";
      case Kind::kNot: {
        const Kind inner = condition.children[0].kind;
        (inner == Kind::kAtom || inner == Kind::kEquals ? negative_ : adl_) = true;
        return list("not");
      }
      case Kind::kAnd:
        return list("and");
      case Kind::kOr:
        adl_ = true;
        return list("or");
      case Kind::kForall:
      case Kind::kExists:
        adl_ = true;
        return list(str_cat(condition.kind == Kind::kForall ? "forall (" : "exists (",
                            declaration(variables, names, condition.bound), ")"));
      case Kind::kFalse:
      case Kind::kCompare:
      case Kind::kAtLeast:
      case Kind::kMatching:
        break;
    }
    needs_never_ = true;
    return "(" + never_ + ")";
  }

  // The conjuncts of a condition on lines of their own.
  std::string block(const Condition& condition, const VariableTable& variables, const VariableNames& names,
                    const std::string& indent) {
    if (condition.kind != Kind::kAnd) return this->condition(condition, variables, names);
    std::string out = "(and";
    for (const Condition& child : condition.children) out += "\n" + indent + this->condition(child, variables, names);
    return out + ")";
  }

  // --- the domain ----------------------------------------------------------------------------------------------------

  std::string head() const {
    std::string out = "; Written by metactrl. Names and plans are those of the task it was made from.\n";
    for (const std::string& note : notes_) out += "; " + exchange_comment(note) + "\n";
    return out + "(define (domain " + domain_name_ + ")\n";
  }

  static std::string exchange_comment(std::string text) {
    for (char& c : text) c = static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    return text;
  }

  std::string requirements() const {
    std::string out = "  (:requirements";
    if (adl_) {
      out += " :adl";
    } else {
      out += " :strips";
      if (typing_ || ast_.types.size() > 1) out += " :typing";
      if (negative_) out += " :negative-preconditions";
      if (equality_) out += " :equality";
    }
    if (!ast_.axioms.empty()) out += " :derived-predicates";
    if (has_costs_) out += " :action-costs";
    return out + ")\n";
  }

  std::string declarations() {
    std::string out;
    if (ast_.types.size() > 1) {
      out += "  (:types";
      for (const pddl::TypeId i : internal::ids(internal::next_of(pddl::kObjectType), ast_.types.next_id())) {
        for (const pddl::TypeId parent : ast_.types[i].parents)
          out += str_cat("\n    ", types_[i], " - ", types_[parent]);
      }
      out += ")\n";
    }
    if (!constants_.empty()) out += "  (:constants" + object_list(true) + ")\n";
    out += "  (:predicates";
    for (const pddl::PredicateId i : ast_.predicates.all()) {
      out += "\n    (" + predicates_[i] + parameter_list(ast_.predicates[i].parameters) + ")";
    }
    if (needs_never_) out += "\n    (" + never_ + ")";
    out += ")\n";
    if (!has_costs_) return out;
    out += "  (:functions (total-cost) - number";
    for (const pddl::FunctionId function : cost_functions_) {
      out += "\n    (" + functions_.at(function) + parameter_list(ast_.functions[function].parameters) + ") - number";
    }
    return out + ")\n";
  }

  std::string parameter_list(const VariableTable& parameters) {
    const std::string text =
        declaration(parameters, variable_names(parameters), exchange::first_variables(parameters.size()));
    return text.empty() ? text : " " + text;
  }

  std::string object_list(bool constants) const {
    const bool typed = ast_.types.size() > 1;
    std::string out;
    for (const pddl::ObjectId i : ast_.objects.all()) {
      if (constants_.contains(i) != constants) continue;
      out += "\n    " + objects_[i];
      if (typed) out += " - " + types_[ast_.objects[i].types[0]];
    }
    return out;
  }

  std::string axioms() {
    std::string out;
    for (const pddl::Axiom& axiom : ast_.axioms) {
      const VariableNames names = variable_names(axiom.variables);
      const std::string head = declaration(axiom.variables, names, exchange::first_variables(axiom.num_parameters));
      std::string body = block(axiom.body, axiom.variables, names, "      ");
      if (body == "(and)") {  // VAL reads it in preconditions and goals alone
        needs_never_ = negative_ = true;
        body = "(not (" + never_ + "))";
      }
      out += "\n  (:derived (" + predicates_[axiom.head] + (head.empty() ? "" : " " + head) + ")\n    " + body + ")\n";
    }
    return out;
  }

  std::string actions() {
    std::string out;
    if (ast_.actions.empty()) {  // VAL wants at least one
      needs_never_ = true;
      return "\n  (:action nothing\n    :parameters ()\n    :precondition (" + never_ + ")\n    :effect (and))\n";
    }
    for (const ActionNameId i : ast_.actions.all()) {
      const pddl::Action& action = ast_.actions[i];
      const VariableNames names = variable_names(action.variables);
      out += "\n  (:action " + actions_[i] + "\n    :parameters (" +
             declaration(action.variables, names, exchange::first_variables(action.num_parameters)) +
             ")\n    :precondition " + block(action.precondition, action.variables, names, "      ") +
             "\n    :effect (and";
      for (const pddl::Effect& effect : action.effects) {
        out += "\n      " + this->effect(effect, action.variables, names);
      }
      for (const pddl::CostTerm& cost : action.costs)
        out += "\n      (increase (total-cost) " + amount(cost, names) + ")";
      out += "))\n";
    }
    return out;
  }

  std::string effect(const pddl::Effect& effect, const VariableTable& variables, const VariableNames& names) {
    std::string out = atom(effect.atom, names);
    if (!effect.add) out = "(not " + out + ")";
    if (effect.when.kind != Kind::kTrue) {
      adl_ = true;
      out = "(when " + condition(effect.when, variables, names) + " " + out + ")";
    }
    if (!effect.forall.empty()) {
      adl_ = true;
      out = "(forall (" + declaration(variables, names, effect.forall) + ") " + out + ")";
    }
    return out;
  }

  std::string amount(const pddl::CostTerm& cost, const VariableNames& names) const {
    if (!cost.function) return internal::number_text(cost.constant);
    return "(" + functions_.at(*cost.function) + terms(cost.arguments, names) + ")";
  }

  // --- the problem ---------------------------------------------------------------------------------------------------

  std::string ground(const std::string& head, const std::vector<pddl::ObjectId>& arguments) const {
    std::string out = "(" + head;
    for (const pddl::ObjectId object : arguments) out += " " + objects_[object];
    return out + ")";
  }

  std::string problem() {
    std::string out = "(define (problem " +
                      exchange::pddl_name(ast_.problem_name.empty() ? "exported" : ast_.problem_name, "p-") +
                      ")\n  (:domain " + domain_name_ + ")\n";
    if (constants_.size() < ast_.objects.size()) out += "  (:objects" + object_list(false) + ")\n";
    out += "  (:init";
    for (const pddl::GroundAtom& fact : ast_.init) {
      out += "\n    " + ground(predicates_[fact.predicate], fact.arguments);
    }
    if (has_costs_) out += "\n    (= (total-cost) 0)";
    for (const pddl::FunctionValue& value : ast_.init_values) {
      if (!cost_functions_.contains(value.function)) continue;
      out += "\n    (= " + ground(functions_.at(value.function), value.arguments) + " " +
             internal::number_text(value.value) + ")";
    }
    const VariableNames names = variable_names(ast_.goal.variables);
    out += ")\n  (:goal " + block(ast_.goal.condition, ast_.goal.variables, names, "    ") + ")";
    if (ast_.has_metric) out += "\n  (:metric minimize (total-cost))";
    return out + ")\n";
  }

  const Ast& ast_;
  std::vector<std::string> notes_;
  std::string domain_name_;
  std::set<std::string> double_words_;
  internal::IdVector<pddl::TypeId, std::string> types_;
  internal::IdVector<pddl::ObjectId, std::string> objects_;
  internal::IdVector<ActionNameId, std::string> actions_;
  std::map<pddl::FunctionId, std::string> functions_;  // those that costs name
  internal::IdVector<pddl::PredicateId, std::string> predicates_;
  std::string never_;
  std::set<pddl::ObjectId> constants_;
  std::set<pddl::FunctionId> cost_functions_;
  bool has_costs_ = false;
  bool needs_never_ = false;
  bool typing_ = false;
  bool negative_ = false;
  bool equality_ = false;
  bool adl_ = false;
};

// As it was read, or made from the ground task.
Ast source_of(const Task& task, std::vector<std::string>& notes) {
  const auto* interpreter = dynamic_cast<const pddl::LiftedInterpreter*>(task.reference());
  // Numbers, and the time where it matters, go out as the facts that they are in the ground task, and an action that takes
  // time as the one step that it is there.
  const task::Definition& definition = task.program().definition();
  const bool as_written = interpreter != nullptr && !task.goals_dropped() && !interpreter->ast().has_numbers &&
                          !interpreter->ast().has_durations && definition.preferences.empty();
  if (as_written) return interpreter->ast();
  notes.emplace_back("made from a ground task: what can never happen is left out");
  if (interpreter != nullptr && interpreter->ast().has_hosts) {
    notes.emplace_back("actions take no time: facts say which of them have begun, and what runs inside them");
  } else if (interpreter != nullptr && interpreter->ast().has_durations) {
    notes.emplace_back("actions take no time: each is over before the next one begins");
  }
  if (definition.preferences.empty()) return exchange::lift(definition);
  notes.emplace_back(
      "preferences are costs: a plan ends with finish and one of collect-N (it holds) or forgo-N (it costs its weight) "
      "for "
      "each of them, which are no actions of the task");
  return exchange::lift(task::preferences_as_costs(definition).definition);
}

}  // namespace

PddlTask pddl_task(const Task& task) {
  std::vector<std::string> notes;
  const exchange::StandardTask standard = exchange::standard_task(source_of(task, notes), notes);
  PddlTask result = PddlWriter(standard.ast, std::move(notes)).run();
  result.cost_factor = standard.cost_factor;
  return result;
}

}  // namespace metactrl
