// Each check is a function of a state alone, so that the rule about the order of steps can ask it of every earlier
// state. History only grows: per action and object it is enough to look at the states that have been added since the
// last time, and a state that returned need not be looked at twice.
#include "benchmarks/behavior/executor.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "support/words.h"

namespace metactrl::benchmarks::behavior {

namespace {

using Check = std::optional<Fault>;  // the first thing that is wrong

// Why an action fails, where several checks say so.
constexpr std::string_view kHandEmpty = "the hand is empty";
constexpr std::string_view kTooBigInside = "{subject} does not fit into {object}";
constexpr std::string_view kTargetClosed = "{subject} is closed";
constexpr std::string_view kIntoFloor = "{subject} is a floor, on which the evaluator fails";
constexpr std::string_view kCircle = "an object stands in itself, on which the evaluator fails";

Check fail(ErrorClass error, std::string_view why, ObjectId subject = kNothing, ObjectId object = kNothing) {
  return Fault{error, why, subject, object, Property::kOpen};
}

Check fail(ErrorClass error, std::string_view why, ObjectId subject, Property property) {
  return Fault{error, why, subject, kNothing, property};
}

bool named(const Scene& scene, ObjectId id, std::string_view piece) {
  return scene.name(id).find(piece) != std::string::npos;
}

// Whether the object can be reached at all.
Check interact(const Scene& scene, const State& state, ObjectId o) {
  if (scene[o].floor) return std::nullopt;
  const auto up = state.ancestors(o);
  if (!up) return fail(ErrorClass::kCrash, kCircle, o);
  ObjectId child = o;
  for (const ObjectId p : *up) {
    if (state.is_not(p, Property::kOpen) && state.holding(child) == Holding::kInside) {
      return fail(ErrorClass::kMissingStep, "{subject}, in which {object} lies, is closed", p, o);
    }
    child = p;
  }
  if (state.is(o, Property::kSliced) && !named(scene, o, "part")) {
    return fail(ErrorClass::kAffordance, "{subject} is sliced: only its parts can be used", o);
  }
  return std::nullopt;
}

// What the hand holds can be put to `o`. The other hand does not matter.
Check place(const Scene& scene, const State& state, Hand hand, ObjectId o) {
  const ObjectId x = state.held(hand);
  if (x == kNothing) return fail(ErrorClass::kMissingStep, kHandEmpty);
  if (o == x) return fail(ErrorClass::kMissingStep, "{subject} is what the hand holds", x);
  if (!scene[o].floor) {
    const auto up = state.ancestors(o);
    if (!up) return fail(ErrorClass::kCrash, kCircle, o);
    if (std::find(up->begin(), up->end(), x) != up->end()) {
      return fail(ErrorClass::kMissingStep, "{object} is carried by {subject}, which the hand holds", x, o);
    }
  }
  return interact(scene, state, o);
}

// A floor has no box: asking for it is what makes the evaluator fail.
Check place_inside(const Scene& scene, const State& state, Hand hand, ObjectId o) {
  if (const ObjectId x = state.held(hand); x != kNothing) {
    if (scene[o].floor) return fail(ErrorClass::kCrash, kIntoFloor, o);
    if (scene[x].volume > scene[o].volume) return fail(ErrorClass::kAffordance, kTooBigInside, x, o);
    if (state.is_not(o, Property::kOpen)) return fail(ErrorClass::kMissingStep, kTargetClosed, o);
  }
  return place(scene, state, hand, o);
}

Check transfer_inside(const Scene& scene, const State& state, Hand hand, ObjectId o) {
  if (const ObjectId x = state.held(hand); x != kNothing) {
    for (const ObjectId child : state.children(x)) {
      if (scene[o].floor) return fail(ErrorClass::kCrash, kIntoFloor, o);
      if (scene[child].volume > scene[o].volume) return fail(ErrorClass::kAffordance, kTooBigInside, child, o);
    }
    if (state.is_not(o, Property::kOpen)) return fail(ErrorClass::kMissingStep, kTargetClosed, o);
  }
  return place(scene, state, hand, o);
}

Check transfer_ontop(const Scene& scene, const State& state, Hand hand, ObjectId o) {
  const ObjectId x = state.held(hand);
  if (x != kNothing && state.children(x).empty())
    return fail(ErrorClass::kAffordance, "there is nothing in or on {subject}, which the hand holds", x);
  return place(scene, state, hand, o);
}

Check grasp_check(const Scene& scene, const State& state, Hand hand, ObjectId o) {
  constexpr double kMaxGraspedVolume = 1.5;
  if (scene[o].floor) return fail(ErrorClass::kAffordance, "{subject} is a floor", o);
  if (scene[o].volume > kMaxGraspedVolume) return fail(ErrorClass::kAffordance, "{subject} is too big to grasp", o);
  if (state.held(hand) == o || state.held(other(hand)) == o) {
    return fail(ErrorClass::kAdditionalStep, "{subject} is in a hand already", o);
  }
  if (state.held(hand) != kNothing) return fail(ErrorClass::kMissingStep, "the hand holds {subject}", state.held(hand));
  return interact(scene, state, o);
}

// With an empty hand, an object that has an edge counts as one that was never picked up.
Check release_check(const Scene& scene, const State& state, Hand hand, ObjectId o) {
  if (state.held(hand) == kNothing) {
    return fail(state.has_edges(o) ? ErrorClass::kMissingStep : ErrorClass::kAdditionalStep, kHandEmpty);
  }
  if (state.held(hand) != o)
    return fail(ErrorClass::kMissingStep, "the hand holds {subject}, not {object}", state.held(hand), o);
  return interact(scene, state, o);
}

// The object can get the value and does not have it.
Check change(const State& state, ObjectId o, Property property, bool value) {
  if (!state.has(o, property)) return fail(ErrorClass::kAffordance, "{subject} cannot be {property}", o, property);
  if (state.is(o, property) == value)
    return fail(ErrorClass::kAdditionalStep, "{property} of {subject} has the wanted value already", o, property);
  return std::nullopt;
}

Check change_by_hand(const Scene& scene, const State& state, ObjectId o, Property property, bool value) {
  if (state.both_hands_full()) return fail(ErrorClass::kMissingStep, "both hands are full");
  if (Check found = change(state, o, property, value)) return found;
  return interact(scene, state, o);
}

template <typename Test>
bool any_held(const State& state, Test test) {
  const auto passes = [&](Hand hand) { return state.held(hand) != kNothing && test(state.held(hand)); };
  return passes(Hand::kRight) || passes(Hand::kLeft);
}

// Something around `o` at any distance passes the test. Circles were found before.
template <typename Test>
bool any_around(const Scene& scene, const State& state, ObjectId o, Test test) {
  if (scene[o].floor) return false;
  const auto up = state.ancestors(o);
  return up && std::any_of(up->begin(), up->end(), test);
}

Check slice_check(const Scene& scene, const State& state, ObjectId o) {
  if (!any_held(state, [&](ObjectId x) { return state.has(x, Property::kSlicer); })) {
    return fail(ErrorClass::kMissingStep, "no hand holds a slicer");
  }
  return change_by_hand(scene, state, o, Property::kSliced, true);
}

Check soak_check(const Scene& scene, const State& state, ObjectId o) {
  if (Check found = change_by_hand(scene, state, o, Property::kSoaked, true)) return found;
  const bool in_water = any_around(scene, state, o, [&](ObjectId p) {
    return (named(scene, p, "sink") || named(scene, p, "teapot")) && !state.is_not(p, Property::kToggledOn);
  });
  if (!in_water) return fail(ErrorClass::kMissingStep, "{subject} is in no toggled on sink and in no teapot", o);
  return std::nullopt;
}

Check cook_check(const Scene& scene, const State& state, ObjectId o) {
  if (Check found = change_by_hand(scene, state, o, Property::kCooked, true)) return found;
  if (!any_around(scene, state, o, [&](ObjectId p) { return named(scene, p, "saucepan"); })) {
    return fail(ErrorClass::kMissingStep, "{subject} is in or on no saucepan", o);
  }
  return std::nullopt;
}

Check dust_check(const Scene& scene, const State& state, ObjectId o) {
  if (Check found = change(state, o, Property::kDusty, false)) return found;
  if (Check found = interact(scene, state, o)) return found;
  const bool washed = any_around(scene, state, o, [&](ObjectId p) {
    return state.is(p, Property::kToggledOn) && (named(scene, p, "dishwasher") || named(scene, p, "sink"));
  });
  if (!washed && !any_held(state, [&](ObjectId x) { return state.has(x, Property::kCleaningTool); })) {
    return fail(ErrorClass::kMissingStep,
                "no hand holds a cleaning tool, and {subject} is in no toggled on sink or dishwasher", o);
  }
  return std::nullopt;
}

Check stain_check(const Scene& scene, const State& state, ObjectId o) {
  if (Check found = change(state, o, Property::kStained, false)) return found;
  if (Check found = interact(scene, state, o)) return found;
  const bool washed = any_around(
      scene, state, o, [&](ObjectId p) { return state.is(p, Property::kToggledOn) && named(scene, p, "sink"); });
  const bool wiped = any_held(state, [&](ObjectId x) {
    return (state.has(x, Property::kCleaningTool) && state.is(x, Property::kSoaked)) || named(scene, x, "detergent");
  });
  if (!washed && !wiped)
    return fail(ErrorClass::kMissingStep,
                "no hand holds a soaked cleaning tool or a detergent, and {subject} is in no toggled on sink", o);
  return std::nullopt;
}

Check open_check(const Scene& scene, const State& state, ObjectId o) {
  if (Check found = change_by_hand(scene, state, o, Property::kOpen, true)) return found;
  if (state.is(o, Property::kToggledOn)) return fail(ErrorClass::kMissingStep, "{subject} is toggled on", o);
  return std::nullopt;
}

Check toggle_on_check(const Scene& scene, const State& state, ObjectId o) {
  if (Check found = change_by_hand(scene, state, o, Property::kToggledOn, true)) return found;
  if (state.is(o, Property::kOpen)) return fail(ErrorClass::kMissingStep, "{subject} is open", o);
  return std::nullopt;
}

// All verbs but CLEAN, which is two checks, and the second object of PLACE_NEXTTO_ONTOP.
Check check(const Scene& scene, const State& state, Action action, ObjectId o) {
  switch (action.verb) {
    case Verb::kGrasp:
      return grasp_check(scene, state, action.hand, o);
    case Verb::kRelease:
      return release_check(scene, state, action.hand, o);
    case Verb::kPlaceOnTop:
    case Verb::kPlaceNextTo:
    case Verb::kPlaceUnder:
    case Verb::kPlaceNextToOnTop:
      return place(scene, state, action.hand, o);
    case Verb::kPlaceInside:
      return place_inside(scene, state, action.hand, o);
    case Verb::kTransferInside:
      return transfer_inside(scene, state, action.hand, o);
    case Verb::kTransferOnTop:
      return transfer_ontop(scene, state, action.hand, o);
    case Verb::kOpen:
      return open_check(scene, state, o);
    case Verb::kClose:
      return change_by_hand(scene, state, o, Property::kOpen, false);
    case Verb::kToggleOn:
      return toggle_on_check(scene, state, o);
    case Verb::kToggleOff:
      return change_by_hand(scene, state, o, Property::kToggledOn, false);
    case Verb::kSlice:
      return slice_check(scene, state, o);
    case Verb::kSoak:
      return soak_check(scene, state, o);
    case Verb::kDry:
      return change_by_hand(scene, state, o, Property::kSoaked, false);
    case Verb::kFreeze:
    case Verb::kUnfreeze:
      return change_by_hand(scene, state, o, Property::kFrozen, action.verb == Verb::kFreeze);
    case Verb::kCook:
      return cook_check(scene, state, o);
    case Verb::kClean:
    case Verb::kUnimplemented:
      break;
  }
  return fail(ErrorClass::kCrash, "the evaluator has no such action");
}

bool places(Verb verb) { return verb >= Verb::kPlaceOnTop && verb <= Verb::kTransferOnTop; }

struct NamedVerb {
  std::string_view name;
  Verb verb;
};

constexpr std::array<NamedVerb, 9> kHandVerbs = {{{"GRASP", Verb::kGrasp},
                                                  {"RELEASE", Verb::kRelease},
                                                  {"PLACE_ONTOP", Verb::kPlaceOnTop},
                                                  {"PLACE_INSIDE", Verb::kPlaceInside},
                                                  {"PLACE_NEXTTO", Verb::kPlaceNextTo},
                                                  {"PLACE_UNDER", Verb::kPlaceUnder},
                                                  {"PLACE_NEXTTO_ONTOP", Verb::kPlaceNextToOnTop},
                                                  {"TRANSFER_CONTENTS_INSIDE", Verb::kTransferInside},
                                                  {"TRANSFER_CONTENTS_ONTOP", Verb::kTransferOnTop}}};

constexpr std::array<NamedVerb, 13> kOtherVerbs = {{{"OPEN", Verb::kOpen},
                                                    {"CLOSE", Verb::kClose},
                                                    {"TOGGLE_ON", Verb::kToggleOn},
                                                    {"TOGGLE_OFF", Verb::kToggleOff},
                                                    {"SLICE", Verb::kSlice},
                                                    {"SOAK", Verb::kSoak},
                                                    {"DRY", Verb::kDry},
                                                    {"FREEZE", Verb::kFreeze},
                                                    {"UNFREEZE", Verb::kUnfreeze},
                                                    {"COOK", Verb::kCook},
                                                    {"CLEAN", Verb::kClean},
                                                    {"NAVIGATE_TO", Verb::kUnimplemented},
                                                    {"BURN", Verb::kUnimplemented}}};

template <std::size_t N>
std::optional<Verb> verb_of_name(const std::array<NamedVerb, N>& verbs, std::string_view name) {
  for (const NamedVerb& verb : verbs) {
    if (verb.name == name) return verb.verb;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Action> action_of_name(std::string_view name) {
  constexpr std::string_view kLeft = "LEFT_";
  constexpr std::string_view kRight = "RIGHT_";
  const bool left = name.substr(0, kLeft.size()) == kLeft;
  if (left || name.substr(0, kRight.size()) == kRight) {
    name.remove_prefix(left ? kLeft.size() : kRight.size());
    if (const auto verb = verb_of_name(kHandVerbs, name)) return Action{*verb, left ? Hand::kLeft : Hand::kRight};
    return std::nullopt;
  }
  if (const auto verb = verb_of_name(kOtherVerbs, name)) return Action{*verb, Hand::kRight};
  return std::nullopt;
}

std::string name_of(Action action) {
  for (const NamedVerb& verb : kHandVerbs) {
    if (verb.verb == action.verb) return str_cat(action.hand == Hand::kLeft ? "LEFT_" : "RIGHT_", verb.name);
  }
  const auto* found = std::find_if(kOtherVerbs.begin(), kOtherVerbs.end(),
                                   [action](const NamedVerb& verb) { return verb.verb == action.verb; });
  return std::string(found->name);
}

std::string error_names(const Outcome& outcome) {
  std::string names;
  for (const Fault& fault : outcome.faults) {
    if (!names.empty()) names += '+';
    names += name_of(fault.error);
  }
  return names;
}

bool contains(const Outcome& outcome, ErrorClass error) {
  return std::any_of(outcome.faults.begin(), outcome.faults.end(),
                     [error](const Fault& fault) { return fault.error == error; });
}

std::optional<ErrorClass> first_of(const Outcome& outcome, std::initializer_list<ErrorClass> order) {
  for (const ErrorClass error : order) {
    if (contains(outcome, error)) return error;
  }
  return std::nullopt;
}

std::string explain(const Scene& scene, const Fault& fault) {
  std::string out;
  for (std::string_view rest = fault.why; !rest.empty();) {
    const std::size_t open = std::min(rest.find('{'), rest.size());
    out += rest.substr(0, open);
    rest.remove_prefix(open);
    const std::size_t close = rest.find('}');
    if (close == std::string_view::npos) break;
    const std::string_view name = rest.substr(1, close - 1);
    out += name == "property" ? name_of(fault.property) : scene.name(name == "subject" ? fault.subject : fault.object);
    rest.remove_prefix(close + 1);
  }
  return out;
}

bool Executor::passes(Action action, ObjectId object, Part part, std::vector<Fault>& faults) {
  const auto test = [&](const State& state) {
    if (part == Part::kDust) return dust_check(*scene_, state, object);
    if (part == Part::kStain) return stain_check(*scene_, state, object);
    return check(*scene_, state, action, object);
  };
  const Check found = test(state_);
  if (!found) return true;
  faults.push_back(*found);
  if (found->error == ErrorClass::kCrash || places(action.verb)) return false;
  Search& search = searches_[{action.verb, action.hand, object, part}];
  while (!search.found && search.looked < history_.size()) search.found = !test(history_[search.looked++]);
  if (search.found) faults.push_back(*fail(ErrorClass::kWrongOrder, "it was possible in an earlier state"));
  return false;
}

// Dust and stain are cleaned together, and one of them is enough for a success.
Outcome Executor::clean(ObjectId object) {
  Outcome outcome;
  if (!state_.has(object, Property::kDusty) && !state_.has(object, Property::kStained)) {
    outcome.faults.push_back(*fail(ErrorClass::kAffordance, "{subject} can be neither dusty nor stained", object));
    return outcome;
  }
  const bool dusty = state_.is(object, Property::kDusty);
  const bool stained = state_.is(object, Property::kStained);
  if (!dusty && !stained) {
    outcome.faults.push_back(*fail(ErrorClass::kAdditionalStep, "{subject} is neither dusty nor stained", object));
    return outcome;
  }
  const Action action{Verb::kClean, Hand::kRight};
  if (dusty && passes(action, object, Part::kDust, outcome.faults)) {
    state_.set(object, Property::kDusty, false);
    outcome.ok = true;
  }
  if (stained && !contains(outcome, ErrorClass::kCrash) && passes(action, object, Part::kStain, outcome.faults)) {
    state_.set(object, Property::kStained, false);
    outcome.ok = true;
  }
  if (contains(outcome, ErrorClass::kCrash)) outcome.ok = false;
  return outcome;
}

Outcome Executor::apply(Action action, const std::vector<ObjectId>& objects) {
  Outcome outcome;
  State before = state_;
  if (action.verb == Verb::kClean) {
    outcome = clean(objects[0]);
  } else {
    outcome.ok = std::all_of(objects.begin(), objects.end(),
                             [&](ObjectId object) { return passes(action, object, Part::kWhole, outcome.faults); });
    if (outcome.ok) effect(action, objects, outcome);
  }
  if (outcome.ok) remember(std::move(before));
  return outcome;
}

void Executor::effect(Action action, const std::vector<ObjectId>& objects, Outcome& outcome) {
  const ObjectId o = objects[0];
  const ObjectId x = state_.held(action.hand);
  switch (action.verb) {
    case Verb::kGrasp:
      return grasp(action.hand, o);
    case Verb::kRelease:
      return state_.hold(action.hand, kNothing);
    case Verb::kPlaceOnTop:
      put_on(x, o);
      return state_.hold(action.hand, kNothing);
    case Verb::kPlaceInside:
      state_.attach(x, o, Holding::kInside);
      return state_.hold(action.hand, kNothing);
    case Verb::kPlaceNextTo:
      state_.set_edge(o, x, Relation::kNextTo);
      state_.set_edge(x, o, Relation::kNextTo);
      inherit_place(x, o);
      return state_.hold(action.hand, kNothing);
    case Verb::kPlaceUnder:
      state_.set_edge(x, o, Relation::kUnder);
      inherit_place(x, o);
      return state_.hold(action.hand, kNothing);
    case Verb::kPlaceNextToOnTop:
      state_.set_edge(x, o, Relation::kNextTo);
      state_.set_edge(o, x, Relation::kNextTo);
      put_on(x, objects[1]);
      return state_.hold(action.hand, kNothing);
    case Verb::kTransferInside:
      return pour(x, o, Holding::kInside, outcome);
    case Verb::kTransferOnTop:
      return pour(x, o, Holding::kOnTop, outcome);
    case Verb::kOpen:
    case Verb::kClose:
      return state_.set(o, Property::kOpen, action.verb == Verb::kOpen);
    case Verb::kToggleOn:
    case Verb::kToggleOff:
      return toggle(o, action.verb == Verb::kToggleOn);
    case Verb::kSlice:
      return slice(o);
    case Verb::kSoak:
    case Verb::kDry:
      return state_.set(o, Property::kSoaked, action.verb == Verb::kSoak);
    case Verb::kFreeze:
    case Verb::kUnfreeze:
      return state_.set(o, Property::kFrozen, action.verb == Verb::kFreeze);
    case Verb::kCook:
      return state_.set(o, Property::kCooked, true);
    case Verb::kClean:
    case Verb::kUnimplemented:
      break;
  }
}

// Things in or on the object come along unless they are far larger than it.
void Executor::grasp(Hand hand, ObjectId object) {
  constexpr double kMaxCarriedRatio = 5;
  state_.drop_edges(object);
  state_.detach(object);
  state_.hold(hand, object);
  for (const ObjectId child : state_.children(object)) {
    if ((*scene_)[child].volume > kMaxCarriedRatio * (*scene_)[object].volume) state_.detach(child);
  }
}

void Executor::put_on(ObjectId object, ObjectId target) {
  if ((*scene_)[target].floor) {
    state_.set_edge(object, target, Relation::kOnFloor);
  } else {
    state_.attach(object, target, Holding::kOnTop);
  }
}

// What is put next to or under a thing stands where the thing stands.
void Executor::inherit_place(ObjectId object, ObjectId target) {
  if ((*scene_)[target].floor) {
    state_.set_edge(object, target, Relation::kOnFloor);
  } else if (state_.parent(target) != kNothing) {
    state_.attach(object, state_.parent(target), state_.holding(target));
  } else if (const ObjectId floor = state_.first_floor(target); floor != kNothing) {
    state_.set_edge(object, floor, Relation::kOnFloor);
  }
}

// The evaluator changes the list it walks over, and fails after its first element.
void Executor::pour(ObjectId vessel, ObjectId target, Holding holding, Outcome& outcome) {
  const std::vector<ObjectId> carried = state_.children(vessel);
  if (carried.empty()) return;
  if (!(*scene_)[target].floor) state_.attach(carried[0], target, holding);
  outcome.ok = false;
  outcome.faults.push_back(
      *fail(ErrorClass::kCrash, "the evaluator fails after the first thing that {subject} carries", vessel));
}

// Parts are found as the evaluator finds them: every part whose name contains the object's name.
void Executor::slice(ObjectId object) {
  state_.set(object, Property::kSliced, true);
  std::vector<ObjectId> parts;
  for (ObjectId id = 0; id < static_cast<ObjectId>(scene_->size()); ++id) {
    if (named(*scene_, id, "_part_") && named(*scene_, id, scene_->name(object))) parts.push_back(id);
  }
  for (const ObjectId part : parts) state_.copy_properties(object, part);
  state_.move_edges(object, parts);
  if (state_.parent(object) == kNothing) return;
  for (const ObjectId part : parts) state_.attach(part, state_.parent(object), state_.holding(object));
  state_.detach(object);
}

// A dishwasher cleans what stands directly in it.
void Executor::toggle(ObjectId object, bool on) {
  state_.set(object, Property::kToggledOn, on);
  if (!on || !named(*scene_, object, "dishwasher")) return;
  for (const ObjectId child : state_.children(object)) {
    for (const Property dirt : {Property::kDusty, Property::kStained}) {
      if (state_.has(child, dirt)) state_.set(child, dirt, false);
    }
  }
}

void Executor::remember(State before) {
  if (history_.size() >= kMaxHistory) return;
  const std::size_t hash = before.hash();
  const auto [first, last] = seen_.equal_range(hash);
  if (std::any_of(first, last, [&](const auto& entry) { return history_[entry.second].same_as(before); })) return;
  seen_.emplace(hash, history_.size());
  history_.push_back(std::move(before));
}

}  // namespace metactrl::benchmarks::behavior
