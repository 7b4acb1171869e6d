// A join over ground atoms.
//
// At each level the atom with the fewest candidates is matched next: one that is fully bound costs a hash lookup, one
// with a bound argument the shortest list of atoms with that object in that place, one without the list of its
// predicate. Variables that no atom binds run over their types at the end. For the conjunctions of planning domains
// (two to six atoms, most of them functional) this visits little more than the results.
#include "pddl/join.h"

#include <optional>
#include <utility>

namespace metactrl::pddl {

const Range& RangeTable::of(const Variable& variable) {
  const Range*& shortcut = by_variable_[&variable];
  if (shortcut != nullptr) return *shortcut;
  std::unique_ptr<Range>& range = by_types_[variable.types];
  if (range == nullptr) {
    range = std::make_unique<Range>();
    range->objects = ast_.objects_of(variable.types);
    range->contains.assign(ast_.objects.size(), false);
    for (ObjectId object : range->objects) range->contains[object] = true;
  }
  shortcut = range.get();
  return *shortcut;
}

namespace {

// More alternatives than this are not tracked: the condition then requires nothing.
constexpr std::size_t kMaxAlternatives = 16;

std::vector<Conjunction> nothing_known() { return {Conjunction{}}; }

std::vector<Conjunction> product(const std::vector<Conjunction>& left, const std::vector<Conjunction>& right) {
  // Too many combinations: what the left side says alone is still right.
  if (left.size() * right.size() > kMaxAlternatives) return left;
  std::vector<Conjunction> result;
  for (const Conjunction& l : left) {
    for (const Conjunction& r : right) {
      Conjunction both = l;
      both.insert(both.end(), r.begin(), r.end());
      result.push_back(std::move(both));
    }
  }
  return result;
}

}  // namespace

std::vector<Conjunction> required_atoms(const Condition& condition, bool negated, std::vector<VariableId>& inner) {
  using Kind = Condition::Kind;
  switch (condition.kind) {
    case Kind::kAtom:
      return negated ? nothing_known() : std::vector<Conjunction>{{&condition.atom}};
    case Kind::kNot:
      return required_atoms(condition.children[0], !negated, inner);
    case Kind::kAnd:
    case Kind::kOr: {
      const bool conjunctive = (condition.kind == Kind::kAnd) != negated;
      std::vector<Conjunction> result = conjunctive ? nothing_known() : std::vector<Conjunction>{};
      for (const Condition& child : condition.children) {
        std::vector<Conjunction> part = required_atoms(child, negated, inner);
        if (conjunctive) {
          result = product(result, part);
        } else {
          result.insert(result.end(), part.begin(), part.end());
          if (result.size() > kMaxAlternatives) return nothing_known();
        }
      }
      return result;
    }
    case Kind::kForall:
    case Kind::kExists: {
      const bool existential = (condition.kind == Kind::kExists) != negated;
      if (!existential) return nothing_known();
      inner.insert(inner.end(), condition.bound.begin(), condition.bound.end());
      return required_atoms(condition.children[0], negated, inner);
    }
    case Kind::kTrue:
    case Kind::kFalse:
    case Kind::kEquals:
    case Kind::kCompare:
    case Kind::kAtLeast:
    case Kind::kMatching:
      return nothing_known();
  }
  return nothing_known();
}

bool Joiner::unify(const VariableTable& table, const Atom& atom, AtomId id, Binding& binding,
                   std::vector<VariableId>& trail) {
  const std::span<const ObjectId> objects = atoms_.arguments(id);
  for (std::size_t p = 0; p < objects.size(); ++p) {
    const Term& term = atom.arguments[p];
    const ObjectId object = term.under(binding);
    if (object != kUnbound) {
      if (object != objects[p]) return false;
    } else {
      if (!ranges_.of(table[term.variable()]).contains[objects[p]]) return false;
      binding[term.variable()] = objects[p];
      trail.push_back(term.variable());
    }
  }
  return true;
}

void Joiner::enumerate(const VariableTable& table, std::span<const VariableId> variables,
                       const Conjunction& conjunction, Binding& binding, const std::function<void()>& found) {
  // Enumerations nest (a quantifier inside an action), so the outer one's frame is put aside.
  Frame outer = std::exchange(
      frame_, Frame{&table, variables, &conjunction, std::vector<bool>(conjunction.size(), false), &binding, &found});
  match_atoms(conjunction.size());
  frame_ = std::move(outer);
}

Joiner::Choice Joiner::cheapest(const Conjunction& conjunction, const std::vector<bool>& done,
                                const Binding& binding) const {
  Choice best;
  best.cost = static_cast<std::size_t>(-1);
  for (std::size_t i = 0; i < conjunction.size(); ++i) {
    if (done[i]) continue;
    const Atom& atom = *conjunction[i];
    Choice choice{i, index_.with_predicate(atom.predicate).size(), &index_.with_predicate(atom.predicate)};
    bool ground = true;
    for (std::size_t p = 0; p < atom.arguments.size(); ++p) {
      const Term& term = atom.arguments[p];
      const ObjectId object = term.under(binding);
      if (object == kUnbound) {
        ground = false;
        continue;
      }
      const std::vector<AtomId>& list = index_.with_argument(atom.predicate, p, object);
      if (list.size() < choice.cost) choice = {i, list.size(), &list};
    }
    if (ground) return {i, 0, nullptr};
    if (choice.cost < best.cost) best = choice;
  }
  return best;
}

void Joiner::match_atoms(std::size_t left) {
  if (left == 0) {
    match_variables(0);
    return;
  }
  Binding& binding = *frame_.binding;
  const Choice choice = cheapest(*frame_.conjunction, frame_.done, binding);
  const Atom& atom = *(*frame_.conjunction)[choice.atom];
  frame_.done[choice.atom] = true;
  if (choice.candidates == nullptr) {
    lookup_.clear();
    for (const Term& term : atom.arguments) lookup_.push_back(term.under(binding));
    const std::optional<AtomId> id = atoms_.find(atom.predicate, lookup_);
    if (id && index_.contains(*id)) match_atoms(left - 1);
  } else {
    std::vector<VariableId> trail;
    for (const AtomId id : *choice.candidates) {
      meter_.piece();
      if (unify(*frame_.table, atom, id, binding, trail)) match_atoms(left - 1);
      for (VariableId variable : trail) binding[variable] = kUnbound;
      trail.clear();
    }
  }
  frame_.done[choice.atom] = false;
}

void Joiner::match_variables(std::size_t next) {
  Binding& binding = *frame_.binding;
  while (next < frame_.variables.size() && binding[frame_.variables[next]] != kUnbound) ++next;
  if (next == frame_.variables.size()) {
    (*frame_.found)();
    return;
  }
  const VariableId variable = frame_.variables[next];
  for (ObjectId object : ranges_.of((*frame_.table)[variable]).objects) {
    meter_.piece();
    binding[variable] = object;
    match_variables(next + 1);
  }
  binding[variable] = kUnbound;
}

}  // namespace metactrl::pddl
