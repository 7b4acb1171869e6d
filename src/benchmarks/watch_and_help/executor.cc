// One function per action: its checks in order, each of which may end it, then its effects.
#include "benchmarks/watch_and_help/executor.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "support/words.h"

namespace metactrl::benchmarks::watch_and_help {

namespace {

constexpr std::size_t kHands = 2;

struct Arity {
  std::string_view action;
  std::size_t things;
};
constexpr std::array<Arity, 7> kArities = {
    {{"WALK", 1}, {"GRAB", 1}, {"OPEN", 1}, {"CLOSE", 1}, {"SWITCHON", 1}, {"PUTIN", 2}, {"PUTBACK", 2}}};

bool contains(const std::vector<int>& list, int x) { return std::find(list.begin(), list.end(), x) != list.end(); }

}  // namespace

std::optional<std::size_t> arity(std::string_view action) {
  const auto found =
      std::find_if(kArities.begin(), kArities.end(), [&](const Arity& row) { return row.action == action; });
  if (found == kArities.end()) return std::nullopt;
  return found->things;
}

Executor::Executor(const Scene& scene) : scene_(scene) {
  for (const SceneNode& node : scene.nodes()) {
    states_.push_back(node.states);
    on_.push_back(scene.targets(node.id, Relation::kOn));
    inside_.push_back(scene.targets(node.id, Relation::kInside));
  }
  for (const Relation hand : {Relation::kHoldsRight, Relation::kHoldsLeft}) {
    for (const int x : scene.targets(scene.character(), hand)) {
      if (!contains(held_, x)) held_.push_back(x);
    }
  }
  near_.insert(held_.begin(), held_.end());
}

std::optional<Failure> Executor::execute(const virtualhome::Action& action) {
  if (arity(action.name) != action.arguments.size()) throw std::logic_error("an action that was not checked");
  const int x = action.arguments.front().id;
  const int y = action.arguments.back().id;
  if (action.name == "WALK") return walk(x);
  if (action.name == "GRAB") return grab(x);
  if (action.name == "OPEN") return open(x);
  if (action.name == "CLOSE") return close(x);
  if (action.name == "SWITCHON") return switch_on(x);
  return put(x, y, action.name == "PUTIN" ? Relation::kInside : Relation::kOn);
}

bool Executor::has_state(int id, State state) const {
  return (states_[scene_.index(id)] >> static_cast<unsigned>(state) & 1U) != 0;
}

std::vector<int>& Executor::targets(int x, Relation relation) {
  return relation == Relation::kOn ? on_[scene_.index(x)] : inside_[scene_.index(x)];
}

const std::vector<int>& Executor::targets(int x, Relation relation) const {
  return relation == Relation::kOn ? on_[scene_.index(x)] : inside_[scene_.index(x)];
}

bool Executor::related(int x, Relation relation, int y) const { return contains(targets(x, relation), y); }

bool Executor::holds(int x) const { return contains(held_, x); }

GoalView Executor::view() const {
  return {[this](int x, Relation relation, int y) { return related(x, relation, y); },
          [this](int x) { return has_state(x, State::kOn); }};
}

void Executor::change_state(int x, State from, State to) {
  std::uint32_t& bits = states_[scene_.index(x)];
  bits &= ~(1U << static_cast<unsigned>(from));
  bits |= 1U << static_cast<unsigned>(to);
}

Executor::Check Executor::broken(bool is, std::string_view rule, int x, std::string_view problem) const {
  if (!is) return std::nullopt;
  return Failure{std::string(rule), str_cat(describe(scene_.node(x)), " ", problem)};
}

Executor::Check Executor::need_near(int x, std::string_view rule) const {
  return broken(!is_near(x), rule, x, "is not near");
}

Executor::Check Executor::need_hand() const {
  if (held_.size() < kHands) return std::nullopt;
  return Failure{"no free hand", str_cat("both hands are full: ", describe(scene_.node(held_[0])), ", ",
                                         describe(scene_.node(held_[1])))};
}

// As VirtualHome's executor finds it.
std::optional<int> Executor::room(int x) const {
  for (std::size_t steps = 0; steps <= scene_.nodes().size(); ++steps) {
    if (scene_.node(x).is_room()) return x;
    const std::vector<int>& around = targets(x, Relation::kInside);
    const auto found = std::find_if(around.begin(), around.end(), [&](int y) { return scene_.node(y).is_room(); });
    if (found != around.end()) return *found;
    if (around.size() != 1) return std::nullopt;
    x = around.front();
  }
  return std::nullopt;
}

Executor::Check Executor::walk(int x) {
  if (Check failed = broken(!room(x), "no room", x, "is in no room")) return failed;
  const int me = scene_.character();
  const bool stands = !has_state(me, State::kSitting) && !has_state(me, State::kLying);
  if (!stands) return Failure{"not standing", "the robot does not stand"};
  near_ = std::set<int>(held_.begin(), held_.end());
  if (scene_.node(x).is_room()) return std::nullopt;
  near_.insert(x);
  for (const Relation relation : {Relation::kOn, Relation::kInside}) {
    for (const int y : targets(x, relation)) {
      if (!scene_.node(y).is_room()) near_.insert(y);
    }
    if (relation == Relation::kInside && !has(x, Property::kCanOpen)) continue;
    for (const SceneNode& node : scene_.nodes()) {
      if (node.id != me && related(node.id, relation, x)) near_.insert(node.id);
    }
  }
  return std::nullopt;
}

Executor::Check Executor::grab(int x) {
  if (Check failed = broken(!has(x, Property::kGrabbable), "not grabbable", x, "cannot be grabbed")) return failed;
  if (Check failed = broken(holds(x), "already held", x, "is in a hand already")) return failed;
  if (Check failed = need_near(x, "not close")) return failed;
  for (const int y : targets(x, Relation::kInside)) {
    if (scene_.node(y).is_room() || !has_state(y, State::kClosed)) continue;
    return broken(true, "inside closed", x, str_cat("is in ", describe(scene_.node(y)), ", which is closed"));
  }
  if (Check failed = need_hand()) return failed;
  // Where it was comes near; of several supports VirtualHome's executor takes one, nobody knows which.
  for (const Relation relation : {Relation::kOn, Relation::kInside}) {
    std::vector<int> places = targets(x, relation);
    std::erase_if(places, [&](int y) { return scene_.node(y).is_room(); });
    if (places.size() == 1) near_.insert(places.front());
    if (!places.empty()) break;
  }
  const std::optional<int> here = room(scene_.character());
  for (const Relation relation : {Relation::kOn, Relation::kInside}) {
    targets(x, relation).clear();
    for (const SceneNode& node : scene_.nodes()) {
      // What was near only because x was is not any more.
      if (std::erase(targets(node.id, relation), x) > 0 && !holds(node.id)) near_.erase(node.id);
    }
  }
  if (here) targets(x, Relation::kInside).push_back(*here);
  held_.push_back(x);
  near_.insert(x);
  return std::nullopt;
}

Executor::Check Executor::open(int x) {
  if (Check failed = broken(!has(x, Property::kCanOpen), "not openable", x, "cannot be opened")) return failed;
  if (Check failed = need_near(x, "not close")) return failed;
  if (Check failed = need_hand()) return failed;
  if (Check failed = broken(!has_state(x, State::kClosed), "not closed", x, "is not closed")) return failed;
  if (Check failed = broken(has_state(x, State::kOn), "still on", x, "is still on")) return failed;
  change_state(x, State::kClosed, State::kOpen);
  return std::nullopt;
}

Executor::Check Executor::close(int x) {
  if (Check failed = broken(!has(x, Property::kCanOpen), "not openable", x, "cannot be closed")) return failed;
  if (Check failed = need_near(x, "not close")) return failed;
  if (Check failed = need_hand()) return failed;
  if (Check failed = broken(!has_state(x, State::kOpen), "not open", x, "is not open")) return failed;
  change_state(x, State::kOpen, State::kClosed);
  return std::nullopt;
}

Executor::Check Executor::switch_on(int x) {
  if (Check failed = broken(!has(x, Property::kHasSwitch), "no switch", x, "has no switch")) return failed;
  if (Check failed = need_near(x, "not close")) return failed;
  if (Check failed = need_hand()) return failed;
  if (Check failed = broken(!has_state(x, State::kOff), "not off", x, "is not off")) return failed;
  const bool open = has(x, Property::kCanOpen) && !has_state(x, State::kClosed);
  if (Check failed = broken(open, "not closed", x, "is not closed")) return failed;
  if (Check failed = broken(has_state(x, State::kPluggedOut), "plugged out", x, "is plugged out")) return failed;
  change_state(x, State::kOff, State::kOn);
  return std::nullopt;
}

Executor::Check Executor::put(int x, int y, Relation relation) {
  if (Check failed = broken(!holds(x), "not holding", x, "is not in a hand")) return failed;
  if (Check failed = need_near(y, "target not close")) return failed;
  if (Check failed = broken(x == y, "onto itself", x, "cannot be put onto itself")) return failed;
  if (relation == Relation::kOn) {
    if (Check failed = broken(!has(y, Property::kSurfaces), "no surface", y, "is no surface")) return failed;
  } else {
    if (Check failed = broken(!has(y, Property::kContainers), "no container", y, "is no container")) return failed;
    const bool shut = has_state(y, State::kClosed) || (has(y, Property::kCanOpen) && !has_state(y, State::kOpen));
    if (Check failed = broken(shut, "closed", y, "is not open")) return failed;
  }
  std::erase(held_, x);
  targets(x, relation).push_back(y);
  return std::nullopt;
}

}  // namespace metactrl::benchmarks::watch_and_help
