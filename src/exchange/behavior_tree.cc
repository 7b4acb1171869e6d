// A plan as a behavior tree in the XML of BehaviorTree.CPP 4.
//
// Conditions are the ground preconditions of the compiled task, so nothing in them is constant: a conjunction is
// spliced into the Sequence around it, a disjunction is a Fallback, a negative literal is an Inverter around `Holds`,
// and "at least k of n" is a Parallel that succeeds with k children and fails as soon as k are out of reach. All of
// these finish in one tick, since conditions never return RUNNING.
//
// Numbers are asked for by what they are compared with (asked.h), before an action and at the end. What a number is behind
// an action is not: a battery is seldom what it was expected to be, and the next action that needs it asks again.
//
// A Sequence goes on where it stopped while an action is RUNNING: preconditions are asked once, before the action, and
// effects once, after it.
//
// Of a plan whose actions take time, a Parallel has what may go on side by side (plan_parts.h): two branches neither
// change what the other asks for, nor what it changes, so every condition finds its facts as the plan has them.
//
// Trajectory constraints: `always` is a condition like any other and is asked before the first action and after each
// one. The others speak of the past, which a tree does not remember; the plan was checked against them, and a step that
// breaks one, or a plan that leaves one unfulfilled, is an AlwaysFailure at that place.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "exchange/asked.h"
#include "exchange/names.h"
#include "exchange/plan_parts.h"
#include "exchange/plan_trace.h"
#include "metactrl/error.h"
#include "metactrl/exchange/export.h"
#include "support/meter.h"
#include "support/words.h"
#include "task/program.h"
#include "task/remembers.h"
#include "task/source.h"

namespace metactrl {

using exchange::Asked;
using exchange::xml_text;
using task::Formula;

namespace {

// What BehaviorTree.CPP reads is not nested deeper than this; ours stays below.
constexpr std::size_t kMaxDepth = 200;
constexpr std::size_t kMaxWays = 1000;

using Attributes = std::vector<std::pair<std::string, std::string>>;

class TreeWriter {
 public:
  TreeWriter(const Task& task, const exchange::PlanTrace& trace, exchange::PlanParts parts, const Stop& stop,
             std::size_t max_bytes)
      : task_(task), trace_(trace), asked_(task), parts_(std::move(parts)), stop_(stop), max_bytes_(max_bytes) {
    name_nodes();
  }

  std::string run() {
    out_ = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    open("root", {{"BTCPP_format", "4"}, {"main_tree_to_execute", tree_}});
    out_ +=
        "  <!-- Holds is SUCCESS when its fact is true in the world, FAILURE when it is not. Every other node that "
        "is declared at the end carries out one action. -->\n";
    open("BehaviorTree", {{"ID", tree_}});
    open("Sequence", {{"name", "plan"}});
    start();
    if (parts_.kind == exchange::PlanParts::Kind::kInTurn) {
      for (const exchange::PlanParts& part : parts_.parts) write(part);
    } else {
      write(parts_);
    }
    goal();
    close("Sequence");
    close("BehaviorTree");
    model();
    close("root");
    return std::move(out_);
  }

 private:
  // --- XML -----------------------------------------------------------------------------------------------------------

  void begin(const std::string& tag, const Attributes& attributes) {
    if (depth_ > kMaxDepth) {
      throw InputError("export", "a condition is nested too deeply for a behavior tree", "split it, or name its parts");
    }
    if (max_bytes_ != 0 && out_.size() > max_bytes_) throw Stopped(Stopped::kLimit);
    out_ += std::string(2 * depth_, ' ') + "<" + tag;
    for (const auto& [name, value] : attributes) out_ += " " + name + "=\"" + xml_text(value) + "\"";
  }
  void open(const std::string& tag, const Attributes& attributes) {
    begin(tag, attributes);
    out_ += ">\n";
    ++depth_;
  }
  void close(const std::string& tag) {
    --depth_;
    out_ += std::string(2 * depth_, ' ') + "</" + tag + ">\n";
  }
  void leaf(const std::string& tag, const Attributes& attributes) {
    begin(tag, attributes);
    out_ += "/>\n";
  }

  // --- names ---------------------------------------------------------------------------------------------------------

  struct ActionNode {
    std::string id;
    std::vector<std::string> ports;
  };

  void name_nodes() {
    exchange::UniqueNames ids("");
    exchange::reserve_tree_words(ids);
    for (std::uint32_t i = 0; i < task_.num_action_names(); ++i) {
      const ActionNameId action{i};
      ActionNode node{ids.make(exchange::class_name(task_.action_name(action))), {}};
      exchange::UniqueNames ports("_");
      for (const std::string& name : exchange::parameter_names(task_, action)) {
        node.ports.push_back(ports.make(exchange::port_name(name)));
      }
      nodes_.push_back(std::move(node));
    }
    // Trees and node types share their names.
    const std::string tree = exchange::class_name(task_.name());
    tree_ = ids.reserve(tree) ? tree : ids.make(tree + "Tree");
  }

  // The node type for a step, if the domain has such an action with so many arguments.
  const ActionNode* node_of(const PlanStep& step) const {
    for (std::uint32_t i = 0; i < task_.num_action_names(); ++i) {
      if (task_.action_name(ActionNameId{i}) == step.action && nodes_[i].ports.size() == step.arguments.size()) {
        return &nodes_[i];
      }
    }
    return nullptr;
  }

  // --- conditions ----------------------------------------------------------------------------------------------------

  void holds(const std::string& fact, bool negated) {
    if (negated) open("Inverter", {});
    leaf("Holds", {{"fact", fact}});
    if (negated) close("Inverter");
  }

  // One node.
  void condition(const Asked& asked) {
    switch (asked.kind) {
      case Asked::Kind::kTrue:
        leaf("AlwaysSuccess", {});
        return;
      case Asked::Kind::kFalse:
        leaf("AlwaysFailure", {});
        return;
      case Asked::Kind::kFact:
        holds(asked.fact, asked.negated);
        return;
      case Asked::Kind::kAnd:
        return control("Sequence", {}, asked);
      case Asked::Kind::kOr:
        return control("Fallback", {}, asked);
      case Asked::Kind::kAtLeast: {
        const std::size_t failures = asked.children.size() - asked.count + 1;
        return control("Parallel",
                       {{"success_count", std::to_string(asked.count)}, {"failure_count", std::to_string(failures)}},
                       asked);
      }
      case Asked::Kind::kMatching:
        return;  // expanded before
    }
  }

  void control(const std::string& tag, const Attributes& attributes, const Asked& asked) {
    open(tag, attributes);
    for (const Asked& child : asked.children) condition(child);
    close(tag);
  }

  // Several nodes, for a Sequence.
  void conditions(const std::vector<Asked>& parts) {
    for (const Asked& part : parts) condition(part);
  }
  void goal_conditions(const std::string& text, const Formula& formula, const std::string& what) {
    conditions(asked_.goal(text, exchange::without_matching(formula, kMaxWays, what)));
  }

  void invariants() {
    for (const task::MonitorDefinition& monitor : definition().monitors) {
      if (monitor.kind == task::MonitorDefinition::Kind::kAlways) goal_conditions("", monitor.first, monitor.text);
    }
  }

  // --- the plan ------------------------------------------------------------------------------------------------------

  void fail(const std::string& why) { leaf("AlwaysFailure", {{"name", exchange::label(why)}}); }

  void start() {
    if (task_.initially_violated()) return fail("the initial state breaks a trajectory constraint");
    invariants();
  }

  void write(const exchange::PlanParts& part) {
    if (part.kind == exchange::PlanParts::Kind::kStep) return step(part.step);
    const bool parallel = part.kind == exchange::PlanParts::Kind::kSideBySide;
    if (parallel) {
      open("Parallel",
           {{"name", "side by side"}, {"success_count", std::to_string(part.parts.size())}, {"failure_count", "1"}});
    } else {
      open("Sequence", {{"name", "in turn"}});
    }
    for (const exchange::PlanParts& child : part.parts) write(child);
    close(parallel ? "Parallel" : "Sequence");
  }

  void step(std::size_t index) {
    if (stop_ && stop_()) throw Stopped(Stopped::kCancelled);
    const exchange::TracedStep& step = trace_.steps[index];
    std::string name = str_cat(index + 1, ' ', step.step.action);
    for (const std::string& argument : step.step.arguments) name += " " + argument;
    open("Sequence", {{"name", exchange::label(name)}});
    if (step.action) {
      const Formula formula = definition().actions.precondition(*step.action).formula();
      conditions(asked_.precondition(step.step, exchange::without_matching(formula, kMaxWays, to_string(step.step))));
    }
    // What no condition would notice.
    if (!step.action || step.breaks_constraint) {
      fail(step.problem.empty() ? "no reachable state allows this action" : step.problem);
    }
    action(step.step);
    for (const std::string& fact : step.adds) {
      if (!asked_.number_text(fact)) holds(fact, false);
    }
    for (const std::string& fact : step.deletes) {
      if (asked_.number_text(fact)) continue;
      // An action that clears everything would ask about everything; what was false is of no interest.
      const auto& changed = step.became_false;
      if (!step.legal || std::find(changed.begin(), changed.end(), fact) != changed.end()) holds(fact, true);
    }
    if (step.action) invariants();
    close("Sequence");
  }

  void action(const PlanStep& step) {
    const ActionNode* node = node_of(step);
    if (node == nullptr) return;
    Attributes attributes;
    for (std::size_t i = 0; i < node->ports.size(); ++i) {
      const std::string& value = step.arguments[i];
      if (value.starts_with('{') && value.ends_with('}')) {
        throw InputError("export", str_cat("the object '", value, "' would be read as an entry of the blackboard"),
                         "rename it: a port's value must not be in braces");
      }
      attributes.emplace_back(node->ports[i], value);
    }
    leaf(node->id, attributes);
  }

  void goal() {
    const task::Program& program = task_.program();
    open("Sequence", {{"name", "goal"}});
    const std::size_t before = out_.size();
    for (std::size_t i = 0; i < definition().goals.size(); ++i) {
      const task::GoalDefinition& one = definition().goals[i];
      goal_conditions(one.text, one.condition, "the goal " + one.text);
    }
    // Constraints that must be fulfilled in the end; behind an illegal step nobody asks.
    for (std::size_t i = definition().goals.size(); i < program.num_goals() && trace_.last; ++i) {
      const auto goal = internal::to_id<GoalId>(i);
      if (!program.goal_holds(goal, trace_.last->words().data())) fail(program.goal_text(goal) + " is not fulfilled");
    }
    if (out_.size() == before) leaf("AlwaysSuccess", {});
    close("Sequence");
  }

  void model() {
    open("TreeNodesModel", {});
    open("Condition", {{"ID", "Holds"}});
    leaf("input_port", {{"name", "fact"}, {"type", "std::string"}});
    close("Condition");
    for (const ActionNode& node : nodes_) {
      if (node.ports.empty()) {
        leaf("Action", {{"ID", node.id}});
        continue;
      }
      open("Action", {{"ID", node.id}});
      for (const std::string& port : node.ports) leaf("input_port", {{"name", port}, {"type", "std::string"}});
      close("Action");
    }
    close("TreeNodesModel");
  }

  const task::Definition& definition() const { return task_.program().definition(); }

  const Task& task_;
  const exchange::PlanTrace& trace_;
  const exchange::AskedConditions asked_;
  const exchange::PlanParts parts_;
  const Stop& stop_;
  std::size_t max_bytes_;
  std::vector<ActionNode> nodes_;
  std::string tree_;  // its name
  std::string out_;
  std::size_t depth_ = 0;
};

// What a constraint saw while actions ran is no fact that a robot could be asked for.
void refuse_remembered(const task::Definition& definition) {
  const auto look = [&](const Formula& formula, const std::string& text) {
    task::for_each_literal(formula, [&](task::FactId fact, bool) {
      if (!remembers(definition, fact)) return;
      throw InputError("export",
                       str_cat("what ", text, " has seen while actions ran cannot be asked for in a behavior tree"),
                       "export the schedule as lines of PlanSys2");
    });
  };
  for (const task::GoalDefinition& goal : definition.goals) look(goal.condition, goal.text);
  for (const task::MonitorDefinition& monitor : definition.monitors) look(monitor.first, monitor.text);
}

}  // namespace

std::string behavior_tree_xml(const Task& task, std::span<const PlanStep> plan, const Stop& stop, std::size_t max_bytes,
                              ScheduleKind kind) {
  const task::Source* const source = task.source();
  const std::vector<std::string> beyond = source != nullptr ? source->beyond_facts() : std::vector<std::string>();
  if (std::find(beyond.begin(), beyond.end(), "timed initial literals") != beyond.end()) {
    throw InputError("export", "timed initial literals and deadlines cannot be asked for in a behavior tree",
                     "export the schedule as lines of PlanSys2");
  }
  refuse_remembered(task.program().definition());
  const exchange::PlanTrace trace = exchange::trace_plan(task, plan, stop);
  exchange::PlanParts parts = exchange::in_turn(plan.size());
  const bool legal = trace.validation.steps_executed == plan.size();
  if (legal && has_durations(task)) {
    const Schedule schedule = make_schedule(task, plan, ScheduleKind::kSequential, stop);
    const auto both = overlaps(schedule);
    if (!both.empty()) {
      throw InputError("export",
                       str_cat(to_string(schedule[both[0].second].step), " runs inside ",
                               to_string(schedule[both[0].first].step), ", which a behavior tree cannot ask for"),
                       "export the schedule as lines of PlanSys2");
    }
  }
  if (kind == ScheduleKind::kConcurrent && source != nullptr && has_durations(task) && legal) {
    internal::Meter meter(stop);
    parts = exchange::side_by_side(plan.size(), source->orders(plan, meter));
  }
  return TreeWriter(task, trace, std::move(parts), stop, max_bytes).run();
}

}  // namespace metactrl
