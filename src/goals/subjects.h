// What the conditions of a goal can speak of in a problem: which predicates change, which facts can be reached, and which objects
// people have one word for.
//
// One pass over the ground actions and one over the facts that can be reached, for each of which its objects are looked up in the
// classes.
#ifndef METACTRL_SRC_GOALS_SUBJECTS_H_
#define METACTRL_SRC_GOALS_SUBJECTS_H_

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "goals/items.h"
#include "metactrl/task.h"
#include "pddl/ast.h"
#include "support/meter.h"
#include "task/definition.h"

namespace metactrl::goals {

struct Subjects {
  using Objects = std::vector<ObjectId>;
  struct Predicate {
    bool changes = false;
    std::vector<Objects> ranges;  // by argument
  };
  // Objects that people have one word for: a type, or those for which a predicate holds.
  struct Class {
    std::string binder;  // "(?x - ball)", "(?x)"
    std::string before;  // of a condition about all of them: "", "(imply (ball ?x) "
    std::string within;  // of a condition about some of them: "", "(and (ball ?x) "
    std::string after;   // ")"
    std::string name;    // "ball"
    Objects members;
  };
  struct Fact {
    pddl::PredicateId predicate{};
    Objects objects;
    bool reached = false;
    bool init = false;
    bool can_end = false;  // be false at some time
  };
  // Of how many members of a class a fact holds.
  struct Count {
    std::size_t reached = 0;  // at some time
    std::size_t init = 0;
  };

  std::vector<Predicate> predicates{};  // by PredicateId
  std::vector<Class> classes{};
  std::vector<ItemSet::Deed> deeds{};
  std::map<std::pair<pddl::PredicateId, Objects>, Fact> reached{};
  // By argument and class, and by the other arguments.
  std::map<std::tuple<pddl::PredicateId, std::size_t, std::size_t, Objects>, Count> counts{};

  // `one` is of `classes`; `others` are the arguments but for `bound`.
  Count count_of(pddl::PredicateId id, std::size_t bound, const Class& one, const Objects& others) const;
};

// `definition` is the ground task of `ast`, not simplified.
Subjects find_subjects(const pddl::Ast& ast, const task::Definition& definition, internal::Meter& meter);

}  // namespace metactrl::goals

#endif  // METACTRL_SRC_GOALS_SUBJECTS_H_
