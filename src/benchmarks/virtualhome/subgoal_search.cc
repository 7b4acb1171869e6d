// Subgoal by subgoal, all branches at once. A branch is copied for each list of actions that its subgoal may be
// replaced with; the goal is followed along the way, so that no states need to be kept, and the actions of all branches
// are one tree, of which a branch knows its leaf.
#include "benchmarks/virtualhome/subgoal_search.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "support/words.h"

namespace metactrl::benchmarks::virtualhome {
namespace {

constexpr std::size_t kMaxBranches = 4096;
constexpr std::size_t kMaxSteps = 1'000'000;
constexpr std::size_t kNoStep = static_cast<std::size_t>(-1);

struct StateAction {
  std::string_view state;
  std::string_view action;
};

constexpr std::array<StateAction, 6> kStateActions = {{{"CLOSED", "CLOSE"},
                                                       {"OPEN", "OPEN"},
                                                       {"ON", "SWITCHON"},
                                                       {"OFF", "SWITCHOFF"},
                                                       {"PLUGGED_IN", "PLUGIN"},
                                                       {"PLUGGED_OUT", "PLUGOUT"}}};

bool is_held(const World& world, int id) {
  return world.has_edge_now(world.character(), Relation::kHoldsRight, id) ||
         world.has_edge_now(world.character(), Relation::kHoldsLeft, id);
}

using ActionLists = std::vector<std::vector<Action>>;

ActionLists expand_action(const Formula& atom, const std::vector<Argument>& objects, const World& world) {
  const Action core{atom.name, objects};
  if (objects.empty()) return {{core}};
  const Action find{"FIND", {objects[0]}};
  const bool needs_hand = atom.name == "DRINK" || atom.name == "EAT" || atom.name == "READ";
  if (needs_hand && !is_held(world, objects[0].id)) return {{find, {"GRAB", {objects[0]}}, core}};
  if (atom.name == "LOOKAT" || atom.name == "WATCH") return {{find, {"TURNTO", {objects[0]}}, core}};
  return {{find, core}};
}

ActionLists expand_state(const Formula& atom, const Argument& x) {
  const Action find{"FIND", {x}};
  for (const StateAction& row : kStateActions) {
    if (row.state == atom.name) return {{find, {std::string(row.action), {x}}}};
  }
  if (atom.name == "CLEAN") return {{find, {"WIPE", {x}}}, {find, {"WASH", {x}}}};
  return {};
}

ActionLists expand_relation(const Formula& atom, const Argument& x, const Argument& y, const World& world) {
  const int me = world.character();
  const Action find{"FIND", {y}};
  std::vector<Action> bring;
  if (!is_held(world, x.id)) bring = {{"FIND", {x}}, {"GRAB", {x}}};
  bring.push_back(find);
  const auto bring_and = [&](const char* action) {
    std::vector<Action> list = bring;
    list.push_back({action, {x, y}});
    return list;
  };
  if (atom.name == "ONTOP") {
    if (x.id == me) return {{find, {"SIT", {y}}}, {find, {"LIE", {y}}}};
    if (y.id == me) return {{{"PUTON", {x}}}};
    return {bring_and("PUTBACK")};
  }
  if (atom.name == "INSIDE") {
    if (x.id == me) return {{{"WALK", {y}}}};
    return {bring_and("PUTIN"), bring_and("POUR")};
  }
  if (atom.name == "NEXT_TO" && x.id == me) return {{find}};
  if (atom.name == "FACING") return {{find, {"TURNTO", {y}}}};
  if (atom.name == "HOLDS_RH" || atom.name == "HOLDS_LH") return {{find, {"GRAB", {y}}}};
  return {};
}

struct TreeStep {
  std::size_t parent = kNoStep;
  Action action;
  Outcome outcome = Outcome::kOk;
  std::string reason;
};

// One way to execute the subgoals, as far as it went.
struct Branch {
  Executor executor;
  GoalProgress progress;
  std::size_t last_step = kNoStep;
  std::size_t num_executed = 0;
  std::size_t num_errors = 0;
};

// Fewer errors, then more actions.
bool is_better(const Branch& branch, const std::optional<Branch>& other) {
  if (!other) return true;
  if (branch.num_errors != other->num_errors) return branch.num_errors < other->num_errors;
  return branch.num_executed > other->num_executed;
}

class Search {
 public:
  Search(const std::vector<Subgoal>& subgoals, const Goal& goal, const Scene& scene)
      : subgoals_(subgoals), goal_(goal) {
    branches_.push_back({Executor(scene), {}, kNoStep, 0, 0});
  }

  SearchResult run() {
    for (const Subgoal& subgoal : subgoals_) {
      for (Branch& branch : std::exchange(branches_, {})) {
        if (!follow(subgoal, std::move(branch))) return std::move(result_);
      }
    }
    finish();
    return std::move(result_);
  }

 private:
  // False: an exception, or too much, which ends everything.
  bool follow(const Subgoal& subgoal, Branch branch) {
    const std::string name = to_string(subgoal.atom);
    if (subgoal.negated) {
      return stop(SearchVerdict::kException, str_cat("the official evaluator cannot execute 'not ", name, "'"));
    }
    std::optional<ActionLists> lists = expand_subgoal(subgoal.atom, branch.executor.world());
    if (!lists) return stop(SearchVerdict::kException, str_cat("an object of ", name, " has no number"));
    if (lists->empty()) {
      branch.executor.copy_sets();
      branch.executor.copy_sets();
      branches_.push_back(std::move(branch));
      return true;
    }
    while (lists->size() > 1) {
      if (!follow(lists->front(), branch)) return false;
      lists->erase(lists->begin());
    }
    return follow(lists->front(), std::move(branch));
  }

  bool follow(const std::vector<Action>& actions, Branch branch) {
    branch.executor.copy_sets();
    for (const Action& action : actions) {
      bool alive = true;
      if (!execute(action, branch, alive)) return false;
      if (alive) continue;
      if (is_better(branch, failed_)) failed_ = std::move(branch);
      return true;
    }
    branch.executor.copy_sets();
    branches_.push_back(std::move(branch));
    if (branches_.size() <= kMaxBranches) return true;
    return stop(SearchVerdict::kEndless, str_cat("there are more than ", kMaxBranches, " ways to execute the answer, ",
                                                 "all of which the official evaluator would try"));
  }

  bool execute(const Action& action, Branch& branch, bool& alive) {
    const GoalProgress before = branch.progress;
    goal_.advance(branch.progress, branch.executor.world(), &action);
    StepResult step = branch.executor.execute(action);
    if (step.outcome == Outcome::kCrash) {
      return stop(SearchVerdict::kException, str_cat(to_text(action), ": ", step.reason));
    }
    if (step.without_condition) {
      return stop(SearchVerdict::kException,
                  str_cat(to_text(action), ": ", step.reason, ", and the official evaluator stops on that"));
    }
    tree_.push_back({branch.last_step, action, step.outcome, std::move(step.reason)});
    branch.last_step = tree_.size() - 1;
    if (step.outcome == Outcome::kOk) {
      ++branch.num_executed;
    } else {
      branch.progress = before;
      ++branch.num_errors;
      alive = step.outcome == Outcome::kAdditionalStep;
    }
    if (tree_.size() <= kMaxSteps) return true;
    return stop(SearchVerdict::kEndless, str_cat("the answer stands for more than ", kMaxSteps, " actions"));
  }

  bool stop(SearchVerdict verdict, std::string reason) {
    result_.verdict = verdict;
    result_.reason = std::move(reason);
    return false;
  }

  void finish() {
    std::optional<Branch> correct;
    std::optional<Branch> complete;
    for (Branch& branch : branches_) {
      goal_.advance(branch.progress, branch.executor.world(), nullptr);
      if (!goal_.is_reached(branch.progress)) {
        if (is_better(branch, complete)) complete = std::move(branch);
      } else if (!correct || branch.num_errors < correct->num_errors) {
        correct = std::move(branch);
      }
    }
    if (correct) {
      result_.verdict = SearchVerdict::kCorrect;
      report(*correct);
    } else if (complete) {
      result_.verdict = SearchVerdict::kGoalUnreachable;
      report(*complete);
    } else if (failed_) {
      result_.verdict = SearchVerdict::kRuntime;
      report(*failed_);
    }
  }

  void report(const Branch& branch) {
    for (std::size_t i = branch.last_step; i != kNoStep; i = tree_[i].parent) {
      const TreeStep& step = tree_[i];
      result_.steps.push_back({to_text(step.action), std::string(outcome_name(step.outcome)), step.reason});
      if (step.outcome == Outcome::kOk) result_.executed.push_back(step.action);
    }
    std::reverse(result_.steps.begin(), result_.steps.end());
    std::reverse(result_.executed.begin(), result_.executed.end());
    result_.end = branch.executor.world();
  }

  const std::vector<Subgoal>& subgoals_;
  const Goal& goal_;
  std::vector<TreeStep> tree_;
  std::vector<Branch> branches_;
  std::optional<Branch> failed_;
  SearchResult result_;
};

}  // namespace

std::optional<ActionLists> expand_subgoal(const Formula& atom, const World& world) {
  std::vector<Argument> objects;
  for (const std::string& argument : atom.arguments) {
    const ObjectName object = split_object(argument);
    if (!object.id) return std::nullopt;
    objects.push_back({object.name, *object.id});
  }
  switch (atom_kind(atom.name)) {
    case AtomKind::kAction:
      return expand_action(atom, objects, world);
    case AtomKind::kRelation:
      return expand_relation(atom, objects[0], objects[1], world);
    default:
      return expand_state(atom, objects[0]);
  }
}

SearchResult search_subgoals(const std::vector<Subgoal>& subgoals, const Goal& goal, const Scene& scene) {
  return Search(subgoals, goal, scene).run();
}

}  // namespace metactrl::benchmarks::virtualhome
