// What all actions share: derived notions, checks, and the history that tells a wrong order from a missing step.
//
// A missing step becomes a wrong order when its condition held in an earlier state. Instead of all states the executor
// keeps what was ever true: edges once present, containers once open, hands once empty.
#include "benchmarks/virtualhome/executor.h"

#include <algorithm>
#include <array>

#include "support/words.h"

namespace metactrl::benchmarks::virtualhome {
namespace {

struct Arity {
  std::string_view action;
  std::size_t arity;
};

constexpr std::array<Arity, 42> kAccepted = {{
    {"DRINK", 1},         {"EAT", 1},         {"CUT", 1},     {"TOUCH", 1},     {"LOOKAT", 1},   {"LOOKAT_SHORT", 1},
    {"LOOKAT_MEDIUM", 1}, {"LOOKAT_LONG", 1}, {"WATCH", 1},   {"READ", 1},      {"TYPE", 1},     {"PUSH", 1},
    {"PULL", 1},          {"MOVE", 1},        {"SQUEEZE", 1}, {"SLEEP", 0},     {"WAKEUP", 0},   {"RINSE", 1},
    {"SCRUB", 1},         {"WASH", 1},        {"GRAB", 1},    {"SWITCHOFF", 1}, {"SWITCHON", 1}, {"CLOSE", 1},
    {"FIND", 1},          {"WALK", 1},        {"OPEN", 1},    {"POINTAT", 1},   {"PUTBACK", 2},  {"PUTIN", 2},
    {"PUTOBJBACK", 1},    {"RUN", 1},         {"SIT", 1},     {"STANDUP", 0},   {"TURNTO", 1},   {"WIPE", 1},
    {"PUTON", 1},         {"PUTOFF", 1},      {"GREET", 1},   {"DROP", 1},      {"LIE", 1},      {"POUR", 2},
}};

}  // namespace

std::string to_script(const Action& action) {
  std::string result = str_cat("[", action.name, "]");
  for (const Argument& argument : action.arguments) result += str_cat(" <", argument.name, "> (", argument.id, ")");
  return result;
}

std::string to_text(const Action& action) {
  std::string result = action.name;
  for (const Argument& argument : action.arguments) result += str_cat(" ", argument.name, " ", argument.id);
  return result;
}

std::optional<std::size_t> accepted_arity(std::string_view action) {
  const auto found =
      std::find_if(kAccepted.begin(), kAccepted.end(), [&](const Arity& row) { return row.action == action; });
  if (found == kAccepted.end()) return std::nullopt;
  return found->arity;
}

Executor::Executor(const Scene& scene) : world_(scene) {
  for (const SceneNode& node : scene.nodes()) {
    for (const State state : {State::kOpen, State::kLying}) {
      if (world_.has_state(node.id, state)) past_states_.emplace(node.id, state);
    }
  }
  record();
}

StepResult Executor::execute(const Action& action) {
  Check failure = act(action);
  if (!failure) {
    world_.read_all();
    record();
    return {};
  }
  StepResult result{failure->outcome, std::move(failure->reason), false};
  if (result.outcome != Outcome::kMissingStep) return result;
  const std::vector<Condition>& missing = failure->missing;
  result.without_condition = missing.empty();
  const auto held = [&](const Condition& condition) { return ever_held(condition); };
  const bool before =
      !missing.empty() && (failure->all ? std::all_of(missing.begin(), missing.end(), held) : held(missing.front()));
  if (before) {
    result.outcome = Outcome::kWrongOrder;
    result.reason += ", though it was so earlier";
  }
  return result;
}

// History.

void Executor::record() {
  const int me = world_.character();
  for (const SceneEdge& edge : world_.take_new_edges()) {
    if (world_.has_edge_now(edge.from, edge.relation, edge.to)) past_edges_.insert(edge);
  }
  for (const int id : world_.changed_nodes()) {
    for (const State state : {State::kOpen, State::kLying}) {
      if (world_.has_state(id, state)) past_states_.emplace(id, state);
    }
  }
  if (!once_empty_handed_) {
    once_empty_handed_ =
        world_.targets(me, Relation::kHoldsRight).empty() && world_.targets(me, Relation::kHoldsLeft).empty();
  }
  once_not_sitting_ = once_not_sitting_ || !world_.has_state(me, State::kSitting);
  once_not_lying_ = once_not_lying_ || !world_.has_state(me, State::kLying);
}

bool Executor::ever_held(const Condition& condition) const {
  const Scene& scene = world_.scene();
  const int me = world_.character();
  const auto edge = [&](const SceneEdge& wanted) {
    return scene.has_edge(wanted.from, wanted.relation, wanted.to) || past_edges_.contains(wanted);
  };
  switch (condition.kind) {
    case Condition::Kind::kEdge:
      return edge(condition.edge);
    case Condition::Kind::kHolds:
      return edge({me, Relation::kHoldsRight, condition.edge.to}) ||
             edge({me, Relation::kHoldsLeft, condition.edge.to});
    case Condition::Kind::kHoldsAnything: {
      const auto any = [&](Relation hand) {
        if (!scene.targets(me, hand).empty()) return true;
        const auto first = past_edges_.lower_bound({me, hand, 0});
        return first != past_edges_.end() && first->from == me && first->relation == hand;
      };
      return any(Relation::kHoldsRight) || any(Relation::kHoldsLeft);
    }
    case Condition::Kind::kHoldsNothing:
      return once_empty_handed_;
    case Condition::Kind::kState:
      return past_states_.contains({condition.node, condition.state});
    case Condition::Kind::kNotState:
      break;
  }
  return condition.state == State::kSitting ? once_not_sitting_ : once_not_lying_;
}

// Derived notions.

std::string Executor::describe(int id) const {
  return id == world_.character() ? "the character" : virtualhome::describe(node(id));
}

bool Executor::is_near(int x) const {
  const int me = world_.character();
  if (world_.has_edge(me, Relation::kClose, x)) return true;
  for (const int y : world_.targets(me, Relation::kClose)) {
    if (world_.has_edge(y, Relation::kClose, x) || world_.has_edge(x, Relation::kOn, y)) return true;
  }
  return false;
}

bool Executor::faces(int x) const {
  const int me = world_.character();
  if (world_.has_edge(me, Relation::kFacing, x)) return true;
  for (const int y : world_.targets(me, Relation::kFacing)) {
    if (world_.has_edge(y, Relation::kFacing, x)) return true;
  }
  return false;
}

std::optional<int> Executor::room(int x) const {
  if (node(x).is_room()) return x;
  std::vector<int> inside = world_.targets(x, Relation::kInside);
  if (inside.size() > 1) {
    for (const int y : world_.targets(x, Relation::kInside)) {
      if (node(y).is_room()) return y;
    }
    return std::nullopt;
  }
  // A circle of containers would keep the evaluator busy for ever; here it is no room at all.
  for (std::size_t steps = 0; !inside.empty() && steps <= world_.scene().nodes().size(); ++steps) {
    const int y = inside.front();
    if (node(y).is_room()) return y;
    inside = world_.targets(y, Relation::kInside);
  }
  return std::nullopt;
}

bool Executor::is_shut(int x) const {
  const std::vector<int> inside = world_.targets(x, Relation::kInside);
  return std::any_of(inside.begin(), inside.end(),
                     [&](int y) { return !node(y).is_room() && world_.has_state(y, State::kClosed); });
}

std::optional<Relation> Executor::free_hand() const {
  for (const Relation hand : {Relation::kHoldsRight, Relation::kHoldsLeft}) {
    if (world_.targets(world_.character(), hand).empty()) return hand;
  }
  return std::nullopt;
}

bool Executor::holds(int x) const {
  return world_.has_edge(world_.character(), Relation::kHoldsRight, x) ||
         world_.has_edge(world_.character(), Relation::kHoldsLeft, x);
}

std::vector<int> Executor::held() const {
  std::vector<int> result = world_.targets(world_.character(), Relation::kHoldsLeft);
  for (const int x : world_.targets(world_.character(), Relation::kHoldsRight)) result.push_back(x);
  return result;
}

void Executor::link(int a, int b) {
  world_.add_edge(a, Relation::kClose, b);
  world_.add_edge(b, Relation::kClose, a);
}

// Checks that several actions share.

Executor::Failure Executor::missing(std::string reason, std::vector<Condition> conditions) {
  return {Outcome::kMissingStep, std::move(reason), std::move(conditions)};
}

Executor::Failure Executor::crash(std::string reason) {
  return {Outcome::kCrash, str_cat(reason, ", and the official evaluator stops on that"), {}};
}

Executor::Check Executor::need_near(int x) const {
  if (is_near(x)) return std::nullopt;
  return missing(str_cat("the character is not near ", describe(x)),
                 {{Condition::Kind::kEdge, {world_.character(), Relation::kClose, x}}});
}

Executor::Check Executor::need_holds(int x) const {
  if (holds(x)) return std::nullopt;
  return missing(str_cat("the character does not hold ", describe(x)),
                 {{Condition::Kind::kHolds, {world_.character(), Relation::kHoldsRight, x}}});
}

Executor::Check Executor::need_free_hand() const {
  if (free_hand()) return std::nullopt;
  return missing("the character has no free hand", {{Condition::Kind::kHoldsNothing, {}}});
}

Executor::Check Executor::need_access(int x) const {
  if (!is_shut(x)) return std::nullopt;
  return missing(str_cat(describe(x), " is inside something closed"), {{Condition::Kind::kState, {}, State::kOpen, x}});
}

Executor::Check Executor::need_facing(int x) const {
  if (faces(x)) return std::nullopt;
  return missing(str_cat("the character does not face ", describe(x)),
                 {{Condition::Kind::kEdge, {world_.character(), Relation::kFacing, x}}});
}

Executor::Check Executor::need_room(int x) const {
  if (room(x)) return std::nullopt;
  return crash(str_cat(describe(x), " is in no room"));
}

Executor::Check Executor::affordance(bool allowed, int x, std::string_view problem) const {
  if (allowed) return std::nullopt;
  return Failure{Outcome::kAffordance, str_cat(describe(x), " ", problem), {}};
}

Executor::Check Executor::need_property(int x, Property property) const {
  return affordance(node(x).has(property), x, str_cat("is not ", property_name(property)));
}

Executor::Check Executor::additional(bool superfluous, std::string reason) {
  if (!superfluous) return std::nullopt;
  return Failure{Outcome::kAdditionalStep, std::move(reason), {}};
}

}  // namespace metactrl::benchmarks::virtualhome
