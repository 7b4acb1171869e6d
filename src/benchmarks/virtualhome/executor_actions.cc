// One function per action: its checks in the evaluator's order, each of which may end it, then its effects.
//
// Checks read the world before `begin_action`, effects after it, and only where the evaluator reads it: how often a set
// of targets is read can decide which object "the first" is (see world.h).
#include <algorithm>
#include <array>
#include <initializer_list>

#include "benchmarks/virtualhome/executor.h"
#include "support/words.h"

namespace metactrl::benchmarks::virtualhome {
namespace {

struct Capacity {
  std::string_view name;
  int number;
};

constexpr std::array<Capacity, 8> kSeats = {{{"couch", 4},
                                             {"bed", 4},
                                             {"chair", 1},
                                             {"loveseat", 2},
                                             {"sofa", 4},
                                             {"toilet", 1},
                                             {"pianobench", 2},
                                             {"bench", 2}}};
constexpr std::array<Capacity, 6> kBeds = {
    {{"couch", 2}, {"bathtub", 2}, {"bed", 3}, {"loveseat", 2}, {"sofa", 2}, {"bench", 1}}};

template <std::size_t N>
int capacity(const std::array<Capacity, N>& table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const Capacity& row) { return row.name == name; });
  return found == table.end() ? 1 : found->number;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Executor::Check Executor::act(const Action& action) {
  const std::string_view name = action.name;
  const int x = action.arguments.empty() ? -1 : action.arguments[0].id;
  const int y = action.arguments.size() < 2 ? -1 : action.arguments[1].id;
  const auto without_effect = [&](Check check) {
    if (!check) world_.begin_action();
    return check;
  };

  if (name == "WALK" || name == "RUN") return walk(x);
  if (name == "FIND") return find(x);
  if (name == "TURNTO") return turn_to(x);
  if (is_one_of(name, {"LOOKAT", "LOOKAT_MEDIUM", "POINTAT"})) return without_effect(need_facing(x));
  if (name == "WATCH") return without_effect(watch(x));
  if (name == "SIT" || name == "LIE") return settle(x, name == "LIE");
  if (name == "STANDUP") return stand_up();
  if (name == "SLEEP" || name == "WAKEUP") return without_effect(sleep());
  if (name == "GRAB") return grab(x);
  if (name == "PUTBACK") return put(x, y, Relation::kOn);
  if (name == "PUTIN") return put(x, y, Relation::kInside);
  if (name == "PUTOBJBACK") return put_object_back(x);
  if (name == "DROP" || name == "RELEASE") return drop(x);
  if (name == "OPEN") return open(x);
  if (name == "CLOSE") return close(x);
  if (name == "SWITCHON") return switch_on(x);
  if (name == "SWITCHOFF") return switch_off(x);
  if (name == "PLUGIN") return plug(x, true);
  if (name == "PLUGOUT") return plug(x, false);
  if (name == "DRINK") {
    const bool drinkable = node(x).has(Property::kDrinkable) || node(x).has(Property::kRecipient);
    if (Check failed = affordance(drinkable, x, "is neither DRINKABLE nor RECIPIENT")) return failed;
    return without_effect(need_holds(x));
  }
  if (name == "READ") {
    if (Check failed = need_property(x, Property::kReadable)) return failed;
    return without_effect(need_holds(x));
  }
  if (name == "EAT") return without_effect(eat(x));
  if (name == "CUT") return without_effect(cut(x));
  if (name == "POUR") return pour(x, y);
  if (name == "WIPE") return clean(x, true);
  if (is_one_of(name, {"WASH", "RINSE", "SCRUB"})) return clean(x, false);
  if (name == "SQUEEZE") return without_effect(squeeze(x));
  if (name == "TOUCH") return without_effect(touch(x));
  if (name == "TYPE") return without_effect(type(x));
  if (name == "PUSH") return without_effect(move(x, true));
  if (name == "PULL" || name == "MOVE") return without_effect(move(x, false));
  if (name == "GREET") return without_effect(need_property(x, Property::kPerson));
  if (name == "PUTON") return put_on(x);
  if (name == "PUTOFF") return put_off(x);
  return Failure{
      Outcome::kCrash, str_cat("the official evaluator accepts ", name, " but cannot execute it and stops"), {}};
}

Executor::Check Executor::walk(int x) {
  const int me = world_.character();
  const std::optional<int> to = room(x);
  if (world_.has_state(me, State::kSitting) || world_.has_state(me, State::kLying)) {
    return Failure{
        Outcome::kMissingStep,
        str_cat("the character is ", world_.has_state(me, State::kSitting) ? "sitting" : "lying"),
        {{Condition::Kind::kNotState, {}, State::kSitting, me}, {Condition::Kind::kNotState, {}, State::kLying, me}},
        true};
  }
  if (Check failed = need_room(me)) return failed;
  if (Check failed = need_room(x)) return failed;
  const int from = *room(me);
  const std::vector<int> hands = held();
  const auto leave = [&](int who) {
    for (const Relation relation : {Relation::kInside, Relation::kClose, Relation::kFacing}) {
      world_.delete_edges_from(who, relation);
      world_.delete_edges_to(who, relation);
    }
  };

  world_.begin_action();
  leave(me);
  world_.add_edge(me, Relation::kInside, *to);
  if (*to != x) {
    for (const int box : world_.targets(x, Relation::kInside)) {
      if (!node(box).is_room()) link(me, box);
    }
    for (const int part : world_.nodes()) {
      if (node(part).has(Property::kBodyPart)) link(me, part);
    }
    link(me, x);
  }
  for (const int object : hands) leave(object);
  for (const int object : hands) {
    link(me, object);
    world_.add_edge(object, Relation::kInside, from);
  }
  if (node(x).has(Property::kCanOpen)) {
    for (const int content : world_.nodes()) {
      if (world_.has_edge(content, Relation::kInside, x)) link(me, content);
    }
  }
  for (const int surface : world_.targets(x, Relation::kOn)) link(me, surface);
  return std::nullopt;
}

Executor::Check Executor::find(int x) {
  const int me = world_.character();
  const bool stay = world_.has_edge(x, Relation::kOn, me) || node(x).has(Property::kBodyPart) || is_near(x);
  if (!stay) return walk(x);
  if (Check failed = need_near(x)) return failed;
  world_.begin_action();
  world_.delete_edges_from(me, Relation::kFacing);
  link(me, x);
  return std::nullopt;
}

Executor::Check Executor::turn_to(int x) {
  world_.begin_action();
  world_.delete_edges_from(world_.character(), Relation::kFacing);
  world_.add_edge(world_.character(), Relation::kFacing, x);
  return std::nullopt;
}

Executor::Check Executor::watch(int x) const {
  const int me = world_.character();
  const std::optional<int> here = room(me);
  const std::optional<int> there = room(x);
  if (Check failed = need_property(x, Property::kLookable)) return failed;
  if (Check failed = need_room(x)) return failed;
  if (Check failed = need_room(me)) return failed;
  if (Check failed = affordance(*here == *there, x, "is in another room than the character")) return failed;
  if (Check failed = need_facing(x)) return failed;
  const bool seated = world_.has_state(me, State::kSitting) || world_.has_state(me, State::kLying);
  if (node(x).name != "computer" && seated && !world_.has_edge(me, Relation::kFacing, x)) {
    return missing(str_cat("the character, who is not standing, does not face ", describe(x)),
                   {{Condition::Kind::kEdge, {me, Relation::kFacing, x}}});
  }
  return need_access(x);
}

bool Executor::is_full(int x, int capacity) const {
  int count = 0;
  for (const int other : world_.nodes()) {
    if (world_.has_edge(other, Relation::kOn, x) && ++count >= capacity) return true;
  }
  return false;
}

Executor::Check Executor::settle(int x, bool lying) {
  const int me = world_.character();
  const State posture = lying ? State::kLying : State::kSitting;
  const std::string& name = node(x).name;
  if (Check failed = need_near(x)) return failed;
  if (Check failed =
          additional(world_.has_state(me, posture), str_cat("the character already ", lying ? "lies" : "sits"))) {
    return failed;
  }
  if (Check failed = need_property(x, lying ? Property::kLieable : Property::kSittable)) return failed;
  if (is_full(x, lying ? capacity(kBeds, name) : capacity(kSeats, name))) {
    return missing(str_cat("there is no place left on ", describe(x)));
  }
  world_.begin_action();
  world_.add_edge(me, Relation::kOn, x);
  if (!lying) {
    for (const int y : world_.targets(x, Relation::kFacing)) world_.add_edge(me, Relation::kFacing, y);
  }
  world_.change_state(me, lying ? State::kSitting : State::kLying, posture);
  return std::nullopt;
}

Executor::Check Executor::stand_up() {
  const int me = world_.character();
  const bool stands = !world_.has_state(me, State::kSitting) && !world_.has_state(me, State::kLying);
  if (Check failed = additional(stands, "the character already stands")) return failed;
  // The edge to the seat stays.
  world_.begin_action();
  world_.remove_state(me, State::kSitting);
  world_.remove_state(me, State::kLying);
  return std::nullopt;
}

Executor::Check Executor::sleep() const {
  const int me = world_.character();
  if (world_.has_state(me, State::kLying) || world_.has_state(me, State::kSitting)) return std::nullopt;
  return missing("the character neither lies nor sits", {{Condition::Kind::kState, {}, State::kLying, me}});
}

Executor::Check Executor::grab(int x) {
  const int me = world_.character();
  const bool grabbable = node(x).has(Property::kGrabbable) || is_one_of(node(x).name, {"water", "child"});
  if (Check failed = affordance(grabbable, x, "is not GRABBABLE")) return failed;
  if (Check failed = additional(world_.grabbed_from(x).has_value(), str_cat(describe(x), " is already grabbed"))) {
    return failed;
  }
  if (Check failed = need_near(x)) return failed;
  if (Check failed = need_access(x)) return failed;
  if (Check failed = need_free_hand()) return failed;
  if (Check failed = need_room(me)) return failed;
  const Relation hand = *free_hand();
  const int here = *room(me);
  std::optional<std::pair<int, Relation>> place;
  for (const Relation relation : {Relation::kOn, Relation::kInside, Relation::kClose}) {
    for (const int y : world_.targets(x, relation)) {
      if (!place && !node(y).is_room()) place = {y, relation};
    }
    if (place) break;
  }

  world_.begin_action();
  for (const Relation relation :
       {Relation::kOn, Relation::kInside, Relation::kClose, Relation::kHoldsLeft, Relation::kHoldsRight}) {
    world_.delete_edges_from(x, relation);
    world_.delete_edges_to(x, relation);
  }
  link(me, x);
  world_.add_edge(me, hand, x);
  world_.add_edge(x, Relation::kInside, here);
  if (place) {
    link(me, place->first);
    world_.remember_grab(x, place->first, place->second);
  }
  return std::nullopt;
}

void Executor::let_go(int x) {
  world_.delete_edge(world_.character(), Relation::kHoldsLeft, x);
  world_.delete_edge(world_.character(), Relation::kHoldsRight, x);
}

Executor::Check Executor::check_put(int x, int y, Relation relation) const {
  if (Check failed = need_holds(x)) return failed;
  if (Check failed = need_near(y)) return failed;
  const bool closed = node(y).has(Property::kCanOpen) && !world_.has_state(y, State::kOpen);
  return affordance(relation != Relation::kInside || !closed, y, "is not open");
}

Executor::Check Executor::put(int x, int y, Relation relation) {
  if (Check failed = check_put(x, y, relation)) return failed;
  const int me = world_.character();
  world_.begin_action();
  let_go(x);
  link(me, y);
  link(x, y);
  world_.add_edge(x, relation, y);
  world_.forget_grab(x);
  return std::nullopt;
}

Executor::Check Executor::put_object_back(int x) {
  const std::optional<std::pair<int, Relation>> place = world_.grabbed_from(x);
  if (!place) {
    return crash(str_cat(describe(x), " was never grabbed"));
  }
  // An object that cannot be put back stays where it is, and the step counts as done.
  if (check_put(x, place->first, place->second)) return std::nullopt;
  return put(x, place->first, place->second);
}

Executor::Check Executor::drop(int x) {
  const int me = world_.character();
  if (Check failed = need_holds(x)) return failed;
  if (Check failed = need_room(me)) return failed;
  const int here = *room(me);
  world_.begin_action();
  let_go(x);
  world_.add_edge(x, Relation::kInside, here);
  world_.forget_grab(x);
  return std::nullopt;
}

Executor::Check Executor::change(int x, State from, State to, std::string_view otherwise) {
  if (Check failed = additional(!world_.has_state(x, from), str_cat(describe(x), " ", otherwise))) return failed;
  world_.begin_action();
  world_.change_state(x, from, to);
  return std::nullopt;
}

Executor::Check Executor::open(int x) {
  const bool openable = node(x).has(Property::kCanOpen) || is_one_of(node(x).name, {"desk", "window"});
  if (Check failed = affordance(openable, x, "is not CAN_OPEN")) return failed;
  if (Check failed = need_near(x)) return failed;
  if (Check failed = need_free_hand()) return failed;
  if (Check failed = additional(!world_.has_state(x, State::kClosed), str_cat(describe(x), " is not closed"))) {
    return failed;
  }
  if (Check failed = additional(world_.has_state(x, State::kOn), str_cat(describe(x), " is still on"))) return failed;
  world_.begin_action();
  world_.change_state(x, State::kClosed, State::kOpen);
  return std::nullopt;
}

Executor::Check Executor::close(int x) {
  const bool openable = node(x).has(Property::kCanOpen) || is_one_of(node(x).name, {"desk", "window"});
  if (Check failed = affordance(openable, x, "is not CAN_OPEN")) return failed;
  if (Check failed = need_near(x)) return failed;
  return change(x, State::kOpen, State::kClosed, "is not open");
}

Executor::Check Executor::switch_on(int x) {
  if (Check failed = need_property(x, Property::kHasSwitch)) return failed;
  if (Check failed = need_near(x)) return failed;
  if (Check failed = additional(!world_.has_state(x, State::kOff), str_cat(describe(x), " is not off"))) return failed;
  if (Check failed = additional(world_.has_state(x, State::kPluggedOut), str_cat(describe(x), " is unplugged"))) {
    return failed;
  }
  world_.begin_action();
  world_.change_state(x, State::kOff, State::kOn);
  return std::nullopt;
}

Executor::Check Executor::switch_off(int x) {
  if (Check failed = need_property(x, Property::kHasSwitch)) return failed;
  if (Check failed = need_near(x)) return failed;
  return change(x, State::kOn, State::kOff, "is not on");
}

Executor::Check Executor::plug(int x, bool in) {
  const State before = in ? State::kPluggedOut : State::kPluggedIn;
  const State after = in ? State::kPluggedIn : State::kPluggedOut;
  if (Check failed = need_property(x, Property::kHasPlug)) return failed;
  if (Check failed = need_near(x)) return failed;
  if (Check failed = need_free_hand()) return failed;
  return change(x, before, after, str_cat("is not ", state_name(before)));
}

Executor::Check Executor::eat(int x) const {
  if (Check failed = need_near(x)) return failed;
  if (node(x).has(Property::kEatable)) return std::nullopt;
  bool served = false;
  for (const int other : world_.nodes()) {
    if (world_.has_edge(other, Relation::kOn, x) && node(other).has(Property::kEatable)) served = true;
  }
  return affordance(served, x, "is not EATABLE and nothing EATABLE is on it");
}

Executor::Check Executor::cut(int x) const {
  if (Check failed = need_free_hand()) return failed;
  if (Check failed = need_near(x)) return failed;
  if (Check failed = need_property(x, Property::kEatable)) return failed;
  if (Check failed = need_property(x, Property::kCuttable)) return failed;
  const std::vector<int> hands = held();
  const bool knife = std::any_of(hands.begin(), hands.end(),
                                 [&](int object) { return node(object).name.find("knife") != std::string::npos; });
  if (knife) return std::nullopt;
  return missing("the character holds no knife");
}

Executor::Check Executor::pour(int x, int y) {
  const bool pourable = node(x).has(Property::kPourable) || node(x).has(Property::kDrinkable);
  if (Check failed = affordance(pourable, x, "is neither POURABLE nor DRINKABLE")) return failed;
  const bool recipient = node(y).has(Property::kRecipient) || is_one_of(node(y).name, {"hands_both", "sponge", "face"});
  if (Check failed = affordance(recipient, y, "is not RECIPIENT")) return failed;
  if (Check failed = need_holds(x)) return failed;
  if (Check failed = need_near(y)) return failed;
  world_.begin_action();
  world_.add_edge(x, Relation::kInside, y);
  if (node(x).name == "water") let_go(x);
  return std::nullopt;
}

Executor::Check Executor::clean(int x, bool with_something) {
  if (Check failed = need_near(x)) return failed;
  if (with_something && held().empty()) {
    return missing("the character holds nothing to wipe with", {{Condition::Kind::kHoldsAnything, {}}});
  }
  world_.begin_action();
  world_.change_state(x, State::kDirty, State::kClean);
  return std::nullopt;
}

Executor::Check Executor::squeeze(int x) const {
  if (Check failed = need_free_hand()) return failed;
  if (Check failed = need_near(x)) return failed;
  const bool soft =
      node(x).has(Property::kClothes) ||
      is_one_of(node(x).name, {"cleaning_solution", "tooth_paste", "shampoo", "food_peanut_butter", "dish_soap", "soap",
                               "towel", "rag", "paper", "sponge", "food_lemon", "check"});
  return affordance(soft, x, "cannot be squeezed");
}

Executor::Check Executor::touch(int x) const {
  if (Check failed = need_near(x)) return failed;
  return need_access(x);
}

Executor::Check Executor::type(int x) const {
  if (Check failed = need_near(x)) return failed;
  return affordance(node(x).name == "keyboard" || node(x).has(Property::kHasSwitch), x, "is not HAS_SWITCH");
}

Executor::Check Executor::move(int x, bool push) const {
  const bool movable =
      push || node(x).has(Property::kMovable) || is_one_of(node(x).name, {"button", "chair", "curtain"});
  if (Check failed = affordance(movable, x, "is not MOVABLE")) return failed;
  if (Check failed = need_near(x)) return failed;
  if (Check failed = need_access(x)) return failed;
  return need_free_hand();
}

Executor::Check Executor::put_on(int x) {
  const int me = world_.character();
  if (Check failed = need_holds(x)) return failed;
  if (Check failed = need_property(x, Property::kClothes)) return failed;
  world_.begin_action();
  world_.add_edge(x, Relation::kOn, me);
  let_go(x);
  return std::nullopt;
}

Executor::Check Executor::put_off(int x) {
  const int me = world_.character();
  if (!world_.has_edge(x, Relation::kOn, me)) {
    return missing(str_cat("the character does not wear ", describe(x)),
                   {{Condition::Kind::kEdge, {x, Relation::kOn, me}}});
  }
  if (Check failed = need_property(x, Property::kClothes)) return failed;
  world_.begin_action();
  world_.delete_edge(x, Relation::kOn, me);
  return std::nullopt;
}

}  // namespace metactrl::benchmarks::virtualhome
