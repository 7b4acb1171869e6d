// A predicate changes where an action has an effect on it, or where it is derived. Those that no action changes are no goals. They
// say what objects are, though, where a domain has no types: "all balls" is then (forall (?x) (imply (ball ?x) ...)).
//
// A class of objects is a type, or a predicate of one argument that never changes. Of how many of its members a fact can be reached, the
// other arguments being given, and of how many it holds at the start, says what may be asked of all, some or none of them.
#include "goals/subjects.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "support/str_cat.h"

namespace metactrl::goals {

using internal::index;
using internal::str_cat;

namespace {

class SubjectFinder {
 public:
  SubjectFinder(const pddl::Ast& ast, const task::Definition& definition, internal::Meter& meter)
      : ast_(ast), definition_(definition), meter_(meter) {}

  Subjects run() {
    find_changes();
    find_deeds();
    find_classes();
    count_reached();
    return std::move(out_);
  }

 private:
  using Objects = Subjects::Objects;

  void find_changes() {
    std::set<task::FactId> deleted;
    const task::ActionTable& actions = definition_.actions;
    for (const ActionId action : actions.all()) {
      for (const task::ActionTable::Effect& effect : actions.effects(action)) {
        const std::span<const task::FactId> facts = actions.facts(effect.del);
        deleted.insert(facts.begin(), facts.end());
      }
    }
    out_.predicates.resize(ast_.predicates.size());
    for (const pddl::PredicateId id : ast_.predicates.all()) {
      out_.predicates[index(id)].changes = ast_.predicates[id].derived;
      for (const pddl::Variable& parameter : ast_.predicates[id].parameters) {
        out_.predicates[index(id)].ranges.push_back(ast_.objects_of(parameter.types));
      }
    }
    const auto changes = [this](const std::vector<pddl::Effect>& effects) {
      for (const pddl::Effect& effect : effects) out_.predicates[index(effect.atom.predicate)].changes = true;
    };
    for (const pddl::Action& action : ast_.actions) {
      changes(action.effects);
      if (action.durative) changes(action.durative->end_effects);
    }
    for (const task::FactId fact : definition_.facts.all()) {
      const task::FactSymbol& symbol = definition_.facts[fact];
      if (index(symbol.name) >= out_.predicates.size()) continue;  // a number's
      const bool derived = definition_.fact_layer[fact] >= 0;
      out_.reached[{symbol.name, symbol.arguments}] = {symbol.name, symbol.arguments, true, definition_.init[fact],
                                                       derived || !definition_.init[fact] || deleted.contains(fact)};
    }
  }

  void find_deeds() {
    for (const pddl::Action& action : ast_.actions) {
      if (!action.written.empty()) continue;  // said of the one that is
      find_deeds(action, action.effects);
      if (action.durative) find_deeds(action, action.durative->end_effects);
    }
  }
  void find_deeds(const pddl::Action& action, const std::vector<pddl::Effect>& effects) {
    for (const pddl::Effect& effect : effects) {
      ItemSet::Deed deed{action.name, effect.atom.predicate, effect.add, {}};
      for (const pddl::Term& term : effect.atom.arguments) {
        deed.ranges.push_back(term.is_variable() ? ast_.objects_of(action.variables[term.variable()].types)
                                                 : Objects{term.object()});
      }
      out_.deeds.push_back(std::move(deed));
    }
  }

  void find_classes() {
    for (const pddl::TypeId type : ast_.types.all()) {
      const Objects members = ast_.objects_of({type});
      if (members.size() < 2 || (type == pddl::kObjectType && ast_.types.size() > 1)) continue;
      const std::string& name = ast_.types[type].name;
      const bool all = type == pddl::kObjectType;
      out_.classes.push_back({all ? "(?x)" : str_cat("(?x - ", name, ")"), "", "", "", all ? "thing" : name, members});
    }
    for (const pddl::PredicateId id : ast_.predicates.all()) {
      if (out_.predicates[index(id)].changes || out_.predicates[index(id)].ranges.size() != 1) continue;
      Objects members;
      for (const pddl::GroundAtom& atom : ast_.init) {
        if (atom.predicate == id) members.push_back(atom.arguments[0]);
      }
      std::sort(members.begin(), members.end());
      if (members.size() < 2) continue;
      const std::string& name = ast_.predicates[id].name;
      out_.classes.push_back(
          {"(?x)", str_cat("(imply (", name, " ?x) "), str_cat("(and (", name, " ?x) "), ")", name, members});
    }
  }

  // Of how many members of a class a fact can be reached, the other arguments being given: where of none, nobody asks that it be so of
  // none; where not of all, all is out of reach. And of how many it holds at the start.
  void count_reached() {
    for (const auto& [key, fact] : out_.reached) {
      const Subjects::Predicate& predicate = out_.predicates[index(fact.predicate)];
      if (!predicate.changes) continue;
      for (std::size_t bound = 0; bound < fact.objects.size(); ++bound) {
        Objects others = fact.objects;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(bound));
        for (std::size_t i = 0; i < out_.classes.size(); ++i) {
          const Objects& members = out_.classes[i].members;
          if (!std::binary_search(members.begin(), members.end(), fact.objects[bound])) continue;
          meter_.piece();
          Subjects::Count& count = out_.counts[{fact.predicate, bound, i, others}];
          ++count.reached;
          count.init += fact.init ? 1 : 0;
        }
      }
    }
  }

  const pddl::Ast& ast_;
  const task::Definition& definition_;
  internal::Meter& meter_;
  Subjects out_;
};

}  // namespace

Subjects::Count Subjects::count_of(pddl::PredicateId id, std::size_t bound, const Class& one,
                                   const Objects& others) const {
  const auto place = static_cast<std::size_t>(&one - classes.data());
  const auto found = counts.find({id, bound, place, others});
  return found == counts.end() ? Count{} : found->second;
}

Subjects find_subjects(const pddl::Ast& ast, const task::Definition& definition, internal::Meter& meter) {
  return SubjectFinder(ast, definition, meter).run();
}

}  // namespace metactrl::goals
