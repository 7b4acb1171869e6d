// Text is produced directly, from the declarations down. Conditions are grown under a context that says which variables
// are in scope, which objects may be named (in the domain: the constants) and which derived predicates may be used with
// which polarity, so that every text is stratified.
#include "support/random_pddl.h"

#include <vector>

#include "support/random.h"

namespace metactrl::testing {

namespace {

struct Variable {
  std::string name;
  std::string type;
};

struct PredicateName {
  std::string name;
  std::vector<std::string> types;
  int stratum = -1;  // of a derived one
};

// Where a condition stands.
struct Context {
  std::vector<Variable> variables;
  std::vector<std::string> objects;
  int stratum = 99;      // derived predicates of lower strata may be used anyhow, those of this one only unnegated
  bool positive = true;  // under an even number of negations
};

class PddlGenerator {
 public:
  PddlGenerator(std::uint64_t seed, const PddlOptions& options) : random_(seed), options_(options) {}

  PddlText run() {
    declare();
    PddlText text;
    text.domain = domain();
    text.problem = problem();
    return text;
  }

 private:
  struct ActionName {
    std::string name;
    std::vector<std::string> types;
  };

  void declare() {
    types_ = {"object", "ta", "tb", "tc"};
    tb_parent_ = random_.chance(60) ? "ta" : "object";
    tc_parent_ = random_.chance(40) ? "tb" : "object";
    const std::uint32_t count = random_.between(options_.min_objects, options_.max_objects);
    num_constants_ = random_.below(std::min<std::uint32_t>(count, 2) + 1);
    for (std::uint32_t i = 0; i < count; ++i) {
      objects_.push_back("o" + std::to_string(i));
      object_types_.push_back(random_.chance(8) ? "(either tb tc)" : random_.pick(types_));
    }
    constants_.assign(objects_.begin(), objects_.begin() + num_constants_);
    const std::uint32_t predicates = random_.between(2, 5);
    for (std::uint32_t i = 0; i < predicates; ++i) {
      PredicateName predicate{"p" + std::to_string(i), {}, -1};
      const std::uint32_t arity = i == 0 ? 1 : random_.below(3);
      for (std::uint32_t k = 0; k < arity; ++k) predicate.types.push_back(type());
      predicates_.push_back(predicate);
    }
    const std::uint32_t derived = random_.chance(45) ? random_.between(1, 3) : 0;
    for (std::uint32_t i = 0; i < derived; ++i) {
      PredicateName predicate{"d" + std::to_string(i), {}, static_cast<int>(i < 2 ? 0 : 1)};
      if (i == 1 && random_.chance(50)) predicate.stratum = 1;
      const std::uint32_t arity = random_.below(3);
      for (std::uint32_t k = 0; k < arity; ++k) predicate.types.push_back(type());
      predicates_.push_back(predicate);
    }
    costs_ = random_.chance(25);
  }

  std::string type() {
    if (random_.chance(5)) return "(either ta tc)";
    return random_.chance(45) ? "object" : random_.pick(types_);
  }

  // --- conditions ----------------------------------------------------------------------------------------------------

  std::string term(const Context& context) {
    if (!context.variables.empty() && (context.objects.empty() || random_.chance(75))) {
      return random_.pick(context.variables).name;
    }
    return context.objects.empty() ? "" : random_.pick(context.objects);
  }

  // An atom that may stand here; empty when there is none (no term to fill it with).
  std::string atom(const Context& context, bool stored_only) {
    for (int tries = 0; tries < 12; ++tries) {
      const PredicateName& predicate = random_.pick(predicates_);
      if (predicate.stratum >= 0) {
        if (stored_only || predicate.stratum > context.stratum) continue;
        if (predicate.stratum == context.stratum && !context.positive) continue;
      }
      if (!predicate.types.empty() && context.variables.empty() && context.objects.empty()) continue;
      std::string out = "(" + predicate.name;
      for (std::size_t i = 0; i < predicate.types.size(); ++i) out += " " + term(context);
      return out + ")";
    }
    return "";
  }

  std::string bind(Context& context, bool may_shadow = true) {
    const std::string name = "?v" + std::to_string(next_variable_++);
    // Shadowing is legal; reuse an outer name now and then.
    const std::string used =
        may_shadow && !context.variables.empty() && random_.chance(6) ? context.variables.front().name : name;
    const std::string bound_type = type();
    if (used != name) context.variables.erase(context.variables.begin());
    context.variables.push_back({used, bound_type});
    return used + (bound_type == "object" && random_.chance(50) ? "" : " - " + bound_type);
  }

  std::string condition(const Context& context, int depth) {
    const std::uint32_t kind = depth <= 0 ? random_.below(5) : random_.below(20);
    Context inner = context;
    if (kind < 5) return literal(context, kind == 0);
    if (kind < 10) return junction(context, depth, "and");
    if (kind < 12) return junction(context, depth, "or");
    if (kind == 12) {
      inner.positive = !inner.positive;
      return "(not " + condition(inner, depth - 1) + ")";
    }
    if (kind == 13) {
      inner.positive = !inner.positive;
      const std::string premise = condition(inner, depth - 1);
      return "(imply " + premise + " " + condition(context, depth - 1) + ")";
    }
    if (kind < 17) {
      const std::string head = random_.chance(50) ? "(exists (" : "(forall (";
      std::string variables = bind(inner);
      if (random_.chance(20)) variables += " " + bind(inner, false);
      return head + variables + ") " + condition(inner, depth - 1) + ")";
    }
    if (kind == 17) {
      const std::string variable = bind(inner);
      return "(forn (" + std::to_string(random_.below(4)) + ") (" + variable + ") " + condition(inner, depth - 1) + ")";
    }
    if (kind == 18) {
      const std::string first = bind(inner);
      const std::string second = bind(inner, false);
      const bool numbered = random_.chance(50);
      const std::string number = numbered ? "(" + std::to_string(random_.below(4)) + ") " : "";
      return "(" + std::string(numbered ? "fornpairs " : "forpairs ") + number + "(" + first + ") (" + second + ") " +
             condition(inner, depth - 1) + ")";
    }
    return random_.chance(50) ? "()" : "(and)";
  }

  std::string junction(const Context& context, int depth, const std::string& head) {
    std::string out = "(" + head;
    const std::uint32_t size = random_.between(1, 3);
    for (std::uint32_t i = 0; i < size; ++i) out += " " + condition(context, depth - 1);
    return out + ")";
  }

  std::string literal(const Context& context, bool equality) {
    Context inner = context;
    const bool negated = random_.chance(35);
    if (negated) inner.positive = !inner.positive;
    std::string out;
    if (equality) {
      const std::string left = term(inner);
      const std::string right = term(inner);
      if (!left.empty() && !right.empty()) out = "(= " + left + " " + right + ")";
    }
    if (out.empty()) out = atom(inner, false);
    if (out.empty()) return "(and)";
    return negated ? "(not " + out + ")" : out;
  }

  // --- effects -------------------------------------------------------------------------------------------------------

  std::string effect(const Context& context, int depth) {
    const std::uint32_t kind = depth <= 0 ? 0 : random_.below(10);
    Context inner = context;
    if (kind < 5) {
      const std::string out = atom(context, true);
      if (out.empty()) return "()";
      return random_.chance(45) ? "(not " + out + ")" : out;
    }
    if (kind < 7) {
      std::string out = "(and";
      const std::uint32_t size = random_.between(1, 3);
      for (std::uint32_t i = 0; i < size; ++i) out += " " + effect(context, depth - 1);
      return out + ")";
    }
    if (kind < 9) {
      const std::string when = condition(context, 1);
      return "(when " + when + " " + effect(context, depth - 1) + ")";
    }
    const std::string variable = bind(inner);
    return "(forall (" + variable + ") " + effect(inner, depth - 1) + ")";
  }

  // --- the domain ----------------------------------------------------------------------------------------------------

  static std::string declaration(const std::vector<Variable>& variables) {
    std::string out;
    for (const Variable& variable : variables) out += (out.empty() ? "" : " ") + variable.name + " - " + variable.type;
    return out;
  }

  std::vector<Variable> parameters(const std::vector<std::string>& types) {
    std::vector<Variable> out;
    for (std::size_t i = 0; i < types.size(); ++i) out.push_back({"?x" + std::to_string(i), types[i]});
    return out;
  }

  std::string axioms() {
    std::string out;
    for (const PredicateName& predicate : predicates_) {
      if (predicate.stratum < 0) continue;
      const std::uint32_t count = random_.between(1, 2);
      for (std::uint32_t i = 0; i < count; ++i) {
        Context context;
        context.variables = parameters(predicate.types);
        // An axiom's parameters may be narrower than the predicate's.
        if (!context.variables.empty() && random_.chance(15)) context.variables[0].type = type();
        context.objects = constants_;
        context.stratum = predicate.stratum;
        const std::string head = declaration(context.variables);
        out +=
            "  (:derived (" + predicate.name + (head.empty() ? "" : " " + head) + ") " + condition(context, 2) + ")\n";
      }
    }
    return out;
  }

  std::string action(std::uint32_t index) {
    ActionName action{"a" + std::to_string(index), {}};
    const std::uint32_t arity = random_.chance(5) ? 3 : random_.below(3);
    for (std::uint32_t i = 0; i < arity; ++i) action.types.push_back(type());
    Context context;
    context.variables = parameters(action.types);
    context.objects = constants_;
    std::string out = "  (:action " + action.name + " :parameters (" + declaration(context.variables) + ")\n";
    if (!random_.chance(12)) out += "    :precondition " + condition(context, random_.chance(70) ? 1 : 2) + "\n";
    std::string effects = "(and";
    const std::uint32_t count = random_.chance(6) ? 0 : random_.between(1, 4);
    for (std::uint32_t i = 0; i < count; ++i) effects += " " + effect(context, 3);
    if (costs_ && random_.chance(70)) {
      const std::string name = term(context);
      const std::string weight =
          name.empty() || random_.chance(50) ? std::to_string(random_.below(5)) : "(w " + name + ")";
      effects += " (increase (total-cost) " + weight + ")";
    }
    actions_.push_back(action);
    return out + "    :effect " + effects + "))\n";
  }

  std::string domain() {
    std::string out = "(define (domain d)\n  (:types ta - object tb - " + tb_parent_ + " tc - " + tc_parent_ + ")\n";
    if (!constants_.empty()) {
      out += "  (:constants";
      for (std::uint32_t i = 0; i < num_constants_; ++i) out += " " + objects_[i] + " - " + object_types_[i];
      out += ")\n";
    }
    out += "  (:predicates";
    for (const PredicateName& predicate : predicates_) {
      const std::string variables = declaration(parameters(predicate.types));
      out += " (" + predicate.name + (variables.empty() ? "" : " " + variables) + ")";
    }
    out += ")\n";
    if (costs_) out += "  (:functions (total-cost) - number (w ?x - object) - number)\n";
    out += axioms();
    const std::uint32_t actions = random_.between(2, 5);
    for (std::uint32_t i = 0; i < actions; ++i) out += action(i);
    if (options_.constraints && random_.chance(10)) {
      Context context;
      context.objects = constants_;
      out += "  (:constraints " + constraint(context, 1) + ")\n";
    }
    return out + ")\n";
  }

  // --- the problem ---------------------------------------------------------------------------------------------------

  std::string constraint(const Context& context, int depth) {
    Context inner = context;
    if (depth > 0 && random_.chance(25)) {
      const std::string variable = bind(inner);
      return "(forall (" + variable + ") " + constraint(inner, depth - 1) + ")";
    }
    switch (random_.below(9)) {
      case 0:
        // Mostly a disjunction, or hardly any action would be left.
        return "(always (or " + condition(context, 1) + " " + condition(context, 1) + "))";
      case 1:
        return "(sometime " + condition(context, 1) + ")";
      case 2:
        return "(at-most-once " + condition(context, 1) + ")";
      case 3: {
        const std::string first = condition(context, 1);
        return "(sometime-after " + first + " " + condition(context, 1) + ")";
      }
      case 4: {
        const std::string first = condition(context, 1);
        return "(sometime-before " + first + " " + condition(context, 1) + ")";
      }
      case 5:
        return "(at end " + condition(context, 1) + ")";
      case 6:
        return "(and " + constraint(context, depth - 1) + " " + constraint(context, depth - 1) + ")";
      default:
        return actions_in_order(context);
    }
  }

  std::string step(const Context& context, bool may_nest) {
    if (may_nest && random_.chance(30)) return "(one-of " + step(context, false) + " " + step(context, false) + ")";
    const ActionName& action = random_.pick(actions_);
    if (random_.chance(40)) return action.name;
    std::string out = "(" + action.name;
    for (std::size_t i = 0; i < action.types.size(); ++i) {
      const std::string argument = random_.chance(40) ? "*" : term(context);
      out += " " + (argument.empty() ? "*" : argument);
    }
    return out + ")";
  }

  std::string actions_in_order(const Context& context) {
    std::string out = "(actions-in-order";
    const std::uint32_t steps = random_.between(1, 3);
    for (std::uint32_t i = 0; i < steps; ++i) out += " " + step(context, true);
    return out + ")";
  }

  std::string problem() {
    std::string out = "(define (problem p) (:domain d)\n  (:objects";
    for (std::size_t i = num_constants_; i < objects_.size(); ++i) out += " " + objects_[i] + " - " + object_types_[i];
    out += ")\n  (:init";
    // Arguments are drawn from all objects, whatever their types.
    for (const PredicateName& predicate : predicates_) {
      if (predicate.stratum >= 0) continue;
      const std::uint32_t facts = random_.below(predicate.types.empty() ? 2 : objects_.size() + 1);
      for (std::uint32_t i = 0; i < facts; ++i) {
        out += " (" + predicate.name;
        for (std::size_t k = 0; k < predicate.types.size(); ++k) out += " " + random_.pick(objects_);
        out += ")";
      }
    }
    if (costs_) {
      for (const std::string& object : objects_)
        out += " (= (w " + object + ") " + std::to_string(random_.below(7)) + ")";
    }
    Context context;
    context.objects = objects_;
    out += ")\n  (:goal (and";
    // What is preferred is mostly out of reach where much is asked for.
    const std::uint32_t goals = options_.preferences ? random_.below(2) : random_.between(1, 3);
    for (std::uint32_t i = 0; i < goals; ++i)
      out += " " + (random_.chance(50) ? literal(context, false) : condition(context, 2));
    if (options_.preferences) return out + preferences(context);
    out += "))\n";
    if (options_.constraints && random_.chance(45)) {
      out += "  (:constraints (and";
      const std::uint32_t count = random_.between(1, 2);
      for (std::uint32_t i = 0; i < count; ++i) out += " " + constraint(context, 2);
      out += "))\n";
    }
    if (costs_ && random_.chance(70)) out += "  (:metric minimize (total-cost))\n";
    return out + ")\n";
  }

  // "(preference q1 ...)", mostly with a name, now and then below `forall`.
  std::string preference(const Context& context, bool of_goal) {
    Context inner = context;
    if (random_.chance(30)) {
      const std::string variable = bind(inner);
      return "(forall (" + variable + ") " + preference(inner, of_goal) + ")";
    }
    const std::string name = random_.chance(90) ? "q" + std::to_string(random_.below(4)) : "";
    if (!name.empty()) names_.push_back(name);
    std::string body = of_goal ? condition(inner, 2) : constraint(inner, 1);
    if (!of_goal && random_.chance(20)) body = "(and " + body + " " + constraint(inner, 1) + ")";
    return "(preference " + name + (name.empty() ? "" : " ") + body + ")";
  }

  std::string preferences(const Context& context) {
    std::string out;
    for (std::uint32_t i = random_.between(1, 3); i > 0; --i) out += " " + preference(context, true);
    out += "))\n  (:constraints (and";
    if (random_.chance(25)) out += " " + constraint(context, 1);
    for (std::uint32_t i = random_.between(1, 2); i > 0; --i) out += " " + preference(context, false);
    out += "))\n";
    if (names_.empty() || random_.chance(20)) return out + ")\n";
    std::string sum = costs_ && random_.chance(70) ? " (total-cost)" : "";
    for (const std::string& name : names_) {
      if (random_.chance(75)) sum += " (* " + std::to_string(random_.between(1, 9)) + " (is-violated " + name + "))";
    }
    if (sum.empty()) sum = " (is-violated " + names_[0] + ")";
    if (random_.chance(30)) return out + "  (:metric maximize (- 50 (+" + sum + "))))\n";
    return out + "  (:metric minimize (+" + sum + ")))\n";
  }

  Random random_;
  PddlOptions options_;
  std::vector<std::string> names_;  // of preferences
  std::vector<std::string> types_;
  std::string tb_parent_;
  std::string tc_parent_;
  std::vector<std::string> objects_;
  std::vector<std::string> object_types_;
  std::vector<std::string> constants_;
  std::uint32_t num_constants_ = 0;
  std::vector<PredicateName> predicates_;
  std::vector<ActionName> actions_;
  bool costs_ = false;
  std::uint32_t next_variable_ = 0;
};

}  // namespace

PddlText random_pddl(std::uint64_t seed, const PddlOptions& options) { return PddlGenerator(seed, options).run(); }

}  // namespace metactrl::testing
