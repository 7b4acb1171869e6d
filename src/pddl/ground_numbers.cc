// A number of the state becomes one fact for each value that it can take, of which exactly one is true while the number
// has a value. A comparison is the disjunction of the values that satisfy it, a change is a conditional effect for each
// value: "when the battery is 7, it is no longer 7 but 4". So all that knows facts knows numbers: projection, relaxed
// plans (which are then exact about values that can be reached, where intervals are not), enumeration, proofs.
//
// Which values? Those of the initial state, and with them whatever a change makes of values that can be there together
// and agree with the comparisons that the action and its condition ask for: a set for each number, grown until nothing
// is new. A number that only rises and is only ever compared with what never changes needs no value beyond the largest
// of these: all behind it are one (and likewise below).
//
// Otherwise, where a number takes too many values, or grows without end, some are followed: what up to so many actions
// make of the values at the start, as long as there is room: for each number, and for those together that a change reads
// or a condition compares. An action that would lead beyond cannot be taken. Plans of
// the task that is left are plans; that it has none is no proof, and says which numbers were cut. What intervals
// (number_reach.h) show to be out of reach is out of reach all the same.
//
// Changes of one number by one action. Increases and decreases add up; of two others, or one of them beside an increase,
// only one may happen, and an action of which two would is not applicable. Each subset of the conditional ones is a case
// of its own; there are seldom two.
#include "pddl/ground_numbers.h"

#include <algorithm>
#include <utility>

#include "metactrl/domain.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

namespace {

using internal::str_cat;
using task::Formula;

constexpr std::size_t kMostValues = 1000;
constexpr std::size_t kMostChoices = 100'000;
constexpr std::size_t kMostChanges = 6;  // of one number by one action
// Where not all values can be followed: of each number, and what so many actions make of those at the start.
constexpr std::size_t kFollowed = 100;
constexpr std::uint32_t kMostRounds = 50;

}  // namespace

NumberTable::NumberTable(const Ast& ast, internal::Meter& meter) : ast_(ast), meter_(meter) {
  for (const FunctionValue& value : ast.init_values) {
    if (ast.functions[value.function].matters) initial_[{value.function, value.arguments}] = *value.exact;
  }
  find_thresholds();
}

// --- thresholds ------------------------------------------------------------------------------------------------------

bool NumberTable::changing(const Expression& expression) const {
  if (expression.kind == Expression::Kind::kFunction) return ast_.functions[expression.function].changes;
  return std::any_of(expression.children.begin(), expression.children.end(),
                     [&](const Expression& child) { return changing(child); });
}

void NumberTable::note_read(const Expression& expression) {
  if (expression.kind == Expression::Kind::kFunction) thresholds_[expression.function].known = false;
  for (const Expression& child : expression.children) note_read(child);
}

// The least and the largest value that an expression without changing functions can have, where that is simple.
bool NumberTable::bounds(const Expression& expression, Thresholds& out) const {
  const auto include = [&](const Rational& value) {
    out.least = out.least ? std::min(*out.least, value) : value;
    out.largest = out.largest ? std::max(*out.largest, value) : value;
  };
  if (expression.kind == Expression::Kind::kNumber) {
    include(expression.number);
    return true;
  }
  if (expression.kind != Expression::Kind::kFunction) return false;
  for (const auto& [symbol, value] : initial_) {
    if (symbol.first == expression.function) include(value);
  }
  return true;
}

void NumberTable::note_comparison(const Condition& condition) {
  for (const Condition& child : condition.children) note_comparison(child);
  if (condition.kind != Condition::Kind::kCompare) return;
  std::vector<const Expression*> terms;
  for (const Expression& side : condition.sides) note_terms(side, terms);
  std::vector<FunctionId> functions;
  for (const Expression* term : terms) functions.push_back(term->function);
  std::sort(functions.begin(), functions.end());
  if (functions.size() > 1) compared_.insert(std::move(functions));
  for (std::size_t side = 0; side < 2; ++side) {
    const Expression& one = condition.sides[side];
    const Expression& other = condition.sides[1 - side];
    const bool alone = one.kind == Expression::Kind::kFunction && !changing(other);
    if (!alone) {
      note_read(one);
    } else if (!bounds(other, thresholds_[one.function])) {
      thresholds_[one.function].known = false;
    }
  }
}

void NumberTable::find_thresholds() {
  thresholds_.resize(ast_.functions.size());
  for (const Action& action : ast_.actions) {
    note_comparison(action.precondition);
    for (const Effect& effect : action.effects) note_comparison(effect.when);
    for (const NumericEffect& effect : action.numeric_effects) {
      note_comparison(effect.when);
      note_read(effect.amount);
    }
  }
  for (const Axiom& axiom : ast_.axioms) note_comparison(axiom.body);
  for (const Constraint& constraint : ast_.constraints) {
    note_comparison(constraint.first);
    note_comparison(constraint.second);
  }
  for (const Preference& preference : ast_.preferences) {
    for (const Constraint& part : preference.parts) {
      note_comparison(part.first);
      note_comparison(part.second);
    }
  }
  note_comparison(ast_.goal.condition);
}

void NumberTable::note_terms(const Expression& expression, std::vector<const Expression*>& out) const {
  for (const Expression& child : expression.children) note_terms(child, out);
  if (expression.kind != Expression::Kind::kFunction || !ast_.functions[expression.function].changes) return;
  const auto same = [&](const Expression* other) {
    return other->function == expression.function && other->arguments == expression.arguments;
  };
  if (std::none_of(out.begin(), out.end(), same)) out.push_back(&expression);
}

bool NumberTable::clamps(NumberId number) const {
  const Number& n = numbers_[number];
  const Thresholds& thresholds = thresholds_[n.symbol.name];
  return thresholds.known && thresholds.largest && !n.jumps && !(n.rises && n.falls);
}

// One value stands for all beyond the last threshold, where the number never comes back from there.
Rational NumberTable::clamp(NumberId number, const Rational& value) const {
  if (!clamps(number)) return value;
  const Number& n = numbers_[number];
  const Thresholds& thresholds = thresholds_[n.symbol.name];
  const std::optional<Rational> above = add(*thresholds.largest, Rational(1));
  const std::optional<Rational> below = subtract(*thresholds.least, Rational(1));
  if (!above || !below) return value;
  if (!n.falls && value > *thresholds.largest) return *above;
  if (!n.rises && value < *thresholds.least) return *below;
  return value;
}

// --- ground expressions ----------------------------------------------------------------------------------------------

NumberId NumberTable::number(FunctionId function, std::vector<ObjectId> arguments) {
  const auto [found, is_new] = ids_.try_emplace({function, arguments}, numbers_.next_id());
  if (!is_new) return found->second;
  Number number;
  const auto value = initial_.find({function, arguments});
  if (value != initial_.end()) number.initial = value->second;
  number.symbol = {function, std::move(arguments)};
  numbers_.push_back(std::move(number));
  return found->second;
}

GroundExpression NumberTable::ground(const Expression& expression, const Binding& binding) {
  meter_.piece();
  GroundExpression out;
  out.kind = expression.kind;
  if (expression.kind == Expression::Kind::kNumber) {
    out.number = expression.number;
    return out;
  }
  if (expression.kind == Expression::Kind::kFunction) {
    std::vector<ObjectId> arguments;
    for (const Term& term : expression.arguments) arguments.push_back(term.under(binding));
    // Once the values are known, what no change has touched stays as it is.
    const bool fixed = closed_ && !ids_.contains({expression.function, arguments});
    if (ast_.functions[expression.function].changes && !fixed) {
      out.fluent = number(expression.function, std::move(arguments));
      return out;
    }
    const auto value = initial_.find({expression.function, arguments});
    out.kind = Expression::Kind::kNumber;
    if (value != initial_.end()) out.number = value->second;
    return out;
  }
  if (expression.kind == Expression::Kind::kDuration) return ground(expression.children[0], binding);
  for (const Expression& child : expression.children) out.children.push_back(ground(child, binding));
  const auto constant = [](const GroundExpression& child) { return child.kind == Expression::Kind::kNumber; };
  if (std::all_of(out.children.begin(), out.children.end(), constant)) {
    out.number = evaluate(out, {});
    out.kind = Expression::Kind::kNumber;
    out.children.clear();
  }
  return out;
}

void NumberTable::guards(const Condition& condition, const Binding& binding, std::vector<GroundComparison>& out) {
  if (condition.kind == Condition::Kind::kAnd) {
    for (const Condition& child : condition.children) guards(child, binding, out);
  } else if (condition.kind == Condition::Kind::kCompare) {
    out.push_back({condition.comparison, ground(condition.sides[0], binding), ground(condition.sides[1], binding)});
  }
}

std::optional<Rational> NumberTable::evaluate(const GroundExpression& expression, const Values& values) {
  if (expression.kind == Expression::Kind::kNumber) return expression.number;
  if (expression.kind == Expression::Kind::kFunction) return values.at(expression.fluent);
  const std::optional<Rational> left = evaluate(expression.children[0], values);
  const std::optional<Rational> right = evaluate(expression.children[1], values);
  return left && right ? combined(expression.kind, *left, *right) : std::nullopt;
}

void NumberTable::collect(const GroundExpression& expression, std::set<NumberId>& out) {
  if (expression.kind == Expression::Kind::kFunction) out.insert(expression.fluent);
  for (const GroundExpression& child : expression.children) collect(child, out);
}

bool NumberTable::holds(const GroundComparison& comparison, const Values& values) {
  const std::optional<Rational> left = evaluate(comparison.left, values);
  const std::optional<Rational> right = evaluate(comparison.right, values);
  return left && right && compares(comparison.comparison, *left, *right);
}

bool NumberTable::reads(const GroundComparison& comparison, const std::set<NumberId>& numbers) {
  std::set<NumberId> read;
  collect(comparison.left, read);
  collect(comparison.right, read);
  return std::any_of(read.begin(), read.end(), [&](NumberId number) { return numbers.contains(number); });
}

// Only guards on these numbers can be judged.
std::vector<const GroundComparison*> NumberTable::judged_by(const std::set<NumberId>& numbers,
                                                            std::span<const GroundComparison> guards) {
  std::vector<const GroundComparison*> judged;
  for (const GroundComparison& guard : guards) {
    std::set<NumberId> on;
    collect(guard.left, on);
    collect(guard.right, on);
    if (std::includes(numbers.begin(), numbers.end(), on.begin(), on.end())) judged.push_back(&guard);
  }
  return judged;
}

void NumberTable::for_each_choice(const std::set<NumberId>& numbers, std::span<const GroundComparison> guards,
                                  const std::function<void(const Values&)>& visit) {
  if (num_choices(numbers) > static_cast<double>(kMostChoices)) {
    refuse(*numbers.begin(), str_cat("takes part in a condition or change with ", numbers.size(),
                                     " numbers that have too many values together"));
  }
  const std::vector<const GroundComparison*> judged = judged_by(numbers, guards);
  // A copy: what is visited may add values.
  std::vector<std::pair<NumberId, std::vector<Rational>>> domains;
  for (const NumberId number : numbers)
    domains.emplace_back(number, std::vector<Rational>(numbers_[number].values.begin(), numbers_[number].values.end()));
  Values values;
  const auto choose = [&](const auto& self, std::size_t next) -> void {
    if (next < domains.size()) {
      for (const Rational& value : domains[next].second) {
        values[domains[next].first] = value;
        self(self, next + 1);
      }
      return;
    }
    meter_.piece();
    if (std::all_of(judged.begin(), judged.end(), [&](const auto* guard) { return holds(*guard, values); }))
      visit(values);
  };
  choose(choose, 0);
}

// --- values ----------------------------------------------------------------------------------------------------------

bool NumberTable::adds(const GroundChange& change) {
  return change.change == NumericEffect::Change::kIncrease || change.change == NumericEffect::Change::kDecrease;
}

void NumberTable::announce(InstanceId by, std::vector<GroundChange> changes, std::vector<GroundChange> later) {
  if (changes.empty()) std::swap(changes, later);
  if (changes.empty()) return;
  const auto note = [&](const GroundChange& change) {
    Number& number = numbers_[change.target];
    const bool constant = change.amount.kind == Expression::Kind::kNumber && change.amount.number;
    if (!adds(change) || !constant) {
      number.jumps = true;
      return;
    }
    const bool up = (*change.amount.number >= Rational(0)) == (change.change == NumericEffect::Change::kIncrease);
    (up ? number.rises : number.falls) = true;
  };
  std::for_each(changes.begin(), changes.end(), note);
  std::for_each(later.begin(), later.end(), note);
  announced_.push_back({by, std::move(changes), std::move(later)});
}

std::vector<NumberTable::Together> NumberTable::announced() const {
  std::vector<Together> out;
  for (const Announced& one : announced_) {
    out.push_back({one.by, one.changes});
    if (!one.later.empty()) out.push_back({one.by, one.later});
  }
  return out;
}

std::set<NumberId> NumberTable::reads(std::span<const GroundChange* const> changes) {
  std::set<NumberId> out;
  for (const GroundChange* change : changes) {
    collect(change->amount, out);
    if (change->change != NumericEffect::Change::kAssign) out.insert(change->target);
  }
  return out;
}

std::optional<Rational> NumberTable::result(std::span<const GroundChange* const> changes, const Values& values) const {
  const NumberId target = changes.front()->target;
  std::optional<Rational> out;
  if (changes.front()->change != NumericEffect::Change::kAssign) out = values.at(target);
  for (const GroundChange* change : changes) {
    const std::optional<Rational> amount = evaluate(change->amount, values);
    if (!amount) return std::nullopt;
    switch (change->change) {
      case NumericEffect::Change::kAssign:
        out = amount;
        break;
      case NumericEffect::Change::kIncrease:
        out = add(*out, *amount);
        break;
      case NumericEffect::Change::kDecrease:
        out = subtract(*out, *amount);
        break;
      case NumericEffect::Change::kScaleUp:
        out = multiply(*out, *amount);
        break;
      case NumericEffect::Change::kScaleDown:
        out = divide(*out, *amount);
        break;
    }
    if (!out) return std::nullopt;
  }
  return clamp(target, *out);
}

void NumberTable::for_each_mode(std::span<const GroundChange> changes,
                                const std::function<void(const std::vector<const GroundChange*>&,
                                                         const std::vector<const GroundChange*>&)>& visit) const {
  if (changes.size() > kMostChanges) {
    refuse(changes.front().target, str_cat("is changed by ", changes.size(), " effects of one action"));
  }
  for (std::size_t mode = 1; mode < (std::size_t{1} << changes.size()); ++mode) {
    std::vector<const GroundChange*> happen;
    std::vector<const GroundChange*> not_happen;
    for (std::size_t i = 0; i < changes.size(); ++i)
      ((mode >> i & 1U) != 0 ? happen : not_happen).push_back(&changes[i]);
    const auto certain = [](const GroundChange* change) { return !change->conditional; };
    if (std::none_of(not_happen.begin(), not_happen.end(), certain)) visit(happen, not_happen);
  }
}

void NumberTable::limit(NumberId number, std::optional<Rational> least, std::optional<Rational> largest) {
  if (clamps(number)) return;  // the one value may lie outside
  numbers_[number].least = least;
  numbers_[number].largest = largest;
}

void NumberTable::close() {
  closed_ = true;
  std::vector<Case> cases;
  for (const Announced& announced : announced_) add_cases(announced, cases);
  start_values();
  follow_all(cases);
  if (!too_many_ && !make_room(cases)) return;
  do {
    follow_some(cases);
  } while (make_room(cases));
}

// The largest share of each of so many numbers.
std::size_t NumberTable::share(std::size_t numbers) {
  std::size_t share = 1;
  const auto fits = [&](std::size_t each) {
    double choices = 1;
    for (std::size_t i = 0; i < numbers; ++i) choices *= static_cast<double>(each);
    return choices <= static_cast<double>(kMostChoices);
  };
  while (fits(share + 1)) ++share;
  return share;
}

// Of numbers that a change reads together, or that are compared with each other, all choices are looked at. Where there
// are too many, each of them gets its share; true where one has more now.
bool NumberTable::make_room(const std::vector<Case>& cases) {
  bool less = false;
  const auto limit = [&](NumberId id, std::size_t room) {
    less = less || numbers_[id].values.size() > room;
    numbers_[id].room = std::min(numbers_[id].room, room);
  };
  for (const Case& one : cases) {
    if (num_choices(one.numbers) <= static_cast<double>(kMostChoices)) continue;
    for (const NumberId id : one.numbers) limit(id, share(one.numbers.size()));
  }
  IdVector<FunctionId, std::size_t> most(ast_.functions.size(), 0);
  for (const Number& number : numbers_) {
    std::size_t& known = most[number.symbol.name];
    known = std::max(known, number.values.size());
  }
  for (const std::vector<FunctionId>& functions : compared_) {
    double choices = 1;
    for (const FunctionId function : functions) choices *= static_cast<double>(most[function]);
    if (choices <= static_cast<double>(kMostChoices)) continue;
    for (const NumberId id : numbers_.all()) {
      if (std::find(functions.begin(), functions.end(), numbers_[id].symbol.name) != functions.end())
        limit(id, share(functions.size()));
    }
  }
  return less;
}

void NumberTable::start_values() {
  for (const NumberId id : numbers_.all()) {
    numbers_[id].values.clear();
    numbers_[id].order.clear();
    if (numbers_[id].initial) insert(id, clamp(id, *numbers_[id].initial));
  }
}

// Rounds over all changes. One that reads a single number looks at its new values only; one that reads several is tried
// again when one of them has new values.
void NumberTable::follow_all(std::vector<Case>& cases) {
  for (bool changed = true; changed && !too_many_;) {
    changed = false;
    for (Case& one : cases) {
      if (too_many_) break;
      if (one.numbers.size() == 1) {
        changed = take_new(one) || changed;
        continue;
      }
      std::size_t now = 0;
      for (const NumberId number : one.numbers) now += numbers_[number].order.size();
      if (one.tried && now == one.seen) continue;
      one.tried = true;
      one.seen = now;
      too_many_ = num_choices(one.numbers) > static_cast<double>(kMostChoices);
      if (too_many_) break;
      for_each_choice(one.numbers, one.guards, [&](const Values& values) { changed = take(one, values) || changed; });
    }
  }
}

void NumberTable::follow_some(std::vector<Case>& cases) {
  too_many_ = false;
  depth_ = 0;
  for (Number& number : numbers_) number.cut = false;
  start_values();
  for (Case& one : cases) one.seen = 0;
  bool complete = true;
  for (std::uint32_t round = 1; round <= kMostRounds; ++round) {
    std::vector<std::pair<NumberId, Rational>> found;
    found_ = &found;
    for (Case& one : cases) {
      std::size_t now = 0;
      for (const NumberId number : one.numbers) now += numbers_[number].order.size();
      if (one.numbers.size() == 1) {
        take_new(one);
      } else if (round == 1 || now != one.seen) {
        one.seen = now;
        if (num_choices(one.numbers) > static_cast<double>(kMostChoices)) {
          found_ = nullptr;
          return;
        }
        for_each_choice(one.numbers, one.guards, [&](const Values& values) { take(one, values); });
      }
    }
    found_ = nullptr;
    bool changed = false;
    for (const auto& [id, value] : found) {
      Number& number = numbers_[id];
      if (number.values.contains(value)) continue;
      number.cut = number.cut || round == kMostRounds || number.values.size() >= std::min(kFollowed, number.room);
      if (number.cut) {
        complete = false;
      } else {
        changed = insert(id, value) || changed;
      }
    }
    if (complete) depth_ = round;
    if (!changed) break;
  }
}

bool NumberTable::take_new(Case& one) {
  const NumberId number = *one.numbers.begin();
  const std::vector<const GroundComparison*> judged = judged_by(one.numbers, one.guards);
  bool changed = false;
  for (; one.seen < numbers_[number].order.size() && !too_many_; ++one.seen) {
    meter_.piece();
    const Values values = {{number, numbers_[number].order[one.seen]}};
    if (std::all_of(judged.begin(), judged.end(), [&](const auto* guard) { return holds(*guard, values); }))
      changed = take(one, values) || changed;
  }
  return changed;
}

double NumberTable::num_choices(const std::set<NumberId>& numbers) const {
  double choices = 1;
  for (const NumberId number : numbers) choices *= static_cast<double>(numbers_[number].values.size());
  return choices;
}

void NumberTable::add_cases(const Announced& announced, std::vector<Case>& cases) const {
  const auto excluded = [](const std::vector<const GroundChange*>& happen) {
    const auto not_adding = [](const GroundChange* change) { return !adds(*change); };
    return happen.size() > 1 && std::any_of(happen.begin(), happen.end(), not_adding);
  };
  const auto guards_of = [](const std::vector<const GroundChange*>& happen) {
    std::vector<GroundComparison> guards;
    for (const GroundChange* change : happen) guards.insert(guards.end(), change->guards.begin(), change->guards.end());
    return guards;
  };
  const auto conditional = [](const GroundChange& change) { return change.conditional; };
  // The later ones alone, where none of the first need happen; the first alone, where none of the later need.
  const bool first_may_fail = std::all_of(announced.changes.begin(), announced.changes.end(), conditional);
  for_each_mode(announced.changes, [&](const auto& happen, const auto&) {
    if (!excluded(happen)) cases.push_back({happen, guards_of(happen), {}, {}, reads(happen), 0, false});
  });
  if (announced.later.empty()) return;
  for_each_mode(announced.later, [&](const auto& later, const auto&) {
    if (excluded(later)) return;
    if (first_may_fail) cases.push_back({later, guards_of(later), {}, {}, reads(later), 0, false});
    for_each_mode(announced.changes, [&](const auto& happen, const auto&) {
      if (excluded(happen)) return;
      Case one{happen, guards_of(happen), later, guards_of(later), reads(happen), 0, false};
      one.numbers.merge(reads(later));
      cases.push_back(std::move(one));
    });
  });
}

bool NumberTable::take(const Case& one, const Values& values) {
  const NumberId target = one.happen.front()->target;
  const std::optional<Rational> first = result(one.happen, values);
  bool changed = insert(target, first);
  if (one.later.empty() || !first) return changed;
  Values then = values;
  then[target] = *first;
  const std::vector<const GroundComparison*> judged = judged_by(one.numbers, one.later_guards);
  if (std::all_of(judged.begin(), judged.end(), [&](const auto* guard) { return holds(*guard, then); }))
    changed = insert(target, result(one.later, then)) || changed;
  return changed;
}

bool NumberTable::insert(NumberId id, const std::optional<Rational>& value) {
  Number& number = numbers_[id];
  if (!value || (number.least && *value < *number.least) || (number.largest && *value > *number.largest)) return false;
  if (number.values.contains(*value)) return false;
  if (found_ != nullptr) {
    found_->emplace_back(id, *value);
    return true;
  }
  number.values.insert(*value);
  number.order.push_back(*value);
  too_many_ = too_many_ || number.values.size() > kMostValues;
  return true;
}

std::string NumberTable::text(NumberId number) const {
  std::string out = "(" + ast_.functions[numbers_[number].symbol.name].name;
  for (const ObjectId object : numbers_[number].symbol.arguments) out += " " + ast_.objects[object].name;
  return out + ")";
}

void NumberTable::refuse(NumberId number, const std::string& what) const {
  throw TaskTooLarge(ast_.files[1], str_cat("the number ", text(number), " ", what),
                     "bound it by preconditions such as (<= (f) 100), or change it in larger steps");
}

}  // namespace metactrl::pddl
