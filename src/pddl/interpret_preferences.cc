// Which preferences a plan satisfies, by their definition (PDDL 3): each instance is satisfied where all of its parts are,
// and each part is a trajectory constraint over the whole sequence of states (interpret_plan.cc), or a condition of the
// last one. Nothing is forbidden by any of them.
#include <algorithm>
#include <span>

#include "pddl/interpret.h"

namespace metactrl::pddl {

std::vector<LiftedInterpreter::Wish> LiftedInterpreter::start_wishes(internal::Meter& meter) const {
  std::vector<Wish> wishes;
  for (const Preference& preference : ast_->preferences) {
    const Constraint& head = preference.parts[0];
    Scope outer(head.variables, meter);
    for_each_binding(outer, std::span(head.forall).first(preference.num_outer), [&] {
      Wish wish{&preference, outer.binding, {}};
      for (const Constraint& part : preference.parts) {
        Scope scope(part.variables, meter);
        for (std::size_t i = 0; i < preference.num_outer; ++i) {
          scope.binding[part.forall[i]] = outer.binding[head.forall[i]];
        }
        for_each_binding(scope, std::span(part.forall).subspan(preference.num_outer), [&] {
          wish.parts.push_back({&part, scope.binding, {}, {}});
          return true;
        });
      }
      wishes.push_back(std::move(wish));
      meter.hold(wishes.size() * (sizeof(Wish) + wishes.back().parts.size() * sizeof(Trajectory)));
      return true;
    });
  }
  return wishes;
}

void LiftedInterpreter::record(const FactView& facts, std::vector<Wish>& wishes, internal::Meter& meter) const {
  for (Wish& wish : wishes) record(facts, wish.parts, meter);
}

std::vector<Validation::Preference> LiftedInterpreter::judged(std::span<const Wish> wishes,
                                                              std::span<const Instance> actions) const {
  std::vector<Validation::Preference> result;
  for (const Wish& wish : wishes) {
    const Preference& preference = *wish.preference;
    const Constraint& head = preference.parts[0];
    Validation::Preference judged;
    judged.name = preference.name;
    judged.weight = preference.weight;
    judged.text =
        preference.text + binding_text(head.variables, std::span(head.forall).first(preference.num_outer), wish.outer);
    judged.satisfied = std::all_of(wish.parts.begin(), wish.parts.end(), [&](const Trajectory& part) {
      return part.constraint->kind == Constraint::Kind::kActionsInOrder ? happened_in_order(part, actions)
                                                                        : satisfied(part, part.first.size());
    });
    result.push_back(std::move(judged));
  }
  return result;
}

}  // namespace metactrl::pddl
