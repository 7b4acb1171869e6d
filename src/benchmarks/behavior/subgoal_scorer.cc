// Atoms are turned into actions one by one, because the actions depend on what the hands hold at that time: an object
// is taken with the right hand if it is free, else with the left one, else the right hand drops what it holds; and an
// action that needs a free hand makes the right one drop what it holds when both are full.
#include "benchmarks/behavior/subgoal_scorer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>

#include "benchmarks/behavior/executor.h"
#include "benchmarks/behavior/goal_report.h"
#include "benchmarks/behavior/subgoal_plan.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace behavior {

namespace {

struct Command {
  Action action;
  std::vector<ObjectId> objects;
};

bool is_onto(std::string_view name) { return name == "ontop" || name == "onfloor"; }
bool is_beside(std::string_view name) { return name == "nextto" || name == "touching"; }

// What is done for an atom; the verbs for its negation are those below.
std::optional<Verb> placing_verb(std::string_view name) {
  if (name == "inside") return Verb::kPlaceInside;
  if (is_onto(name)) return Verb::kPlaceOnTop;
  if (is_beside(name)) return Verb::kPlaceNextTo;
  if (name == "under") return Verb::kPlaceUnder;
  return std::nullopt;
}

struct ChangingVerb {
  std::string_view atom;
  bool negated;
  Verb verb;
};

std::optional<Verb> changing_verb(std::string_view name, bool negated) {
  constexpr std::array<ChangingVerb, 12> kVerbs = {{{"cooked", false, Verb::kCook},
                                                    {"burnt", false, Verb::kCook},
                                                    {"frozen", false, Verb::kFreeze},
                                                    {"frozen", true, Verb::kUnfreeze},
                                                    {"open", false, Verb::kOpen},
                                                    {"open", true, Verb::kClose},
                                                    {"sliced", false, Verb::kSlice},
                                                    {"soaked", false, Verb::kSoak},
                                                    {"toggledon", false, Verb::kToggleOn},
                                                    {"toggledon", true, Verb::kToggleOff},
                                                    {"dusty", true, Verb::kClean},
                                                    {"stained", true, Verb::kClean}}};
  for (const ChangingVerb& entry : kVerbs) {
    if (entry.atom == name && entry.negated == negated) return entry.verb;
  }
  return std::nullopt;
}

// One run of a plan through the executor.
class Run {
 public:
  Run(const SubgoalTask& task, const ActionTask& world) : world_(&world), executor_(world.scene, world.start) {
    for (const SubgoalObject& object : task.objects) ids_.emplace(object.name, object.id);
  }

  void execute(const std::vector<Formula>& atoms, SubgoalResult& result) {
    for (std::size_t i = 0; i < atoms.size(); ++i) {
      const Formula* next = i + 1 < atoms.size() ? &atoms[i + 1] : nullptr;
      std::optional<std::vector<Command>> commands = next == nullptr ? std::nullopt : combined(atoms[i], *next);
      const bool two = commands.has_value();
      if (!carry_out(two ? *commands : commands_of(atoms[i]), atoms[i], result)) return;
      if (two) ++i;
    }
    const GoalReport goals = test_goals(*world_, executor_.state());
    if (goals.crash) return crash("the evaluator fails when it tests the goal", result);
    result.score.goals = goals.goals;
    result.score.executable = true;
    result.score.success = goals.all ? 1 : 0;
    result.score.verdict = goals.all ? "Correct" : "GoalUnreachable";
    result.score.reason = missing_goals(goals.goals);
  }

 private:
  const State& state() const { return executor_.state(); }
  ObjectId id(const std::string& name) const { return ids_.find(name)->second; }

  // Names are compared as pieces of names, and the left hand comes first.
  std::optional<Hand> hand_with(ObjectId object) const {
    for (const Hand hand : {Hand::kLeft, Hand::kRight}) {
      const ObjectId held = state().held(hand);
      if (held != kNothing && world_->scene.name(held).find(world_->scene.name(object)) != std::string::npos) {
        return hand;
      }
    }
    return std::nullopt;
  }

  Command release(Hand hand) const { return {{Verb::kRelease, hand}, {state().held(hand)}}; }

  // Adds what it takes to have the object in a hand, and says in which.
  Hand have(ObjectId object, std::vector<Command>& commands) const {
    if (const auto hand = hand_with(object)) return *hand;
    Hand hand = Hand::kRight;
    if (state().both_hands_full()) {
      commands.push_back(release(Hand::kRight));
    } else if (state().held(Hand::kRight) != kNothing) {
      hand = Hand::kLeft;
    }
    commands.push_back({{Verb::kGrasp, hand}, {object}});
    return hand;
  }

  // A placement on something and one beside something of the same object, directly after each other, are one action.
  std::optional<std::vector<Command>> combined(const Formula& first, const Formula& second) const {
    if (first.kind != Formula::Kind::kAtom || second.kind != Formula::Kind::kAtom) return std::nullopt;
    const bool onto_first = is_onto(first.name);
    const Formula& onto = onto_first ? first : second;
    const Formula& beside = onto_first ? second : first;
    if (!is_onto(onto.name) || !is_beside(beside.name)) return std::nullopt;
    const std::string& moved = onto.arguments[0];
    if (moved != beside.arguments[0] && moved != beside.arguments[1]) return std::nullopt;
    const std::string& neighbour = moved == beside.arguments[1] ? beside.arguments[0] : beside.arguments[1];
    std::vector<Command> commands;
    const Hand hand = have(id(moved), commands);
    commands.push_back({{Verb::kPlaceNextToOnTop, hand}, {id(neighbour), id(onto.arguments[1])}});
    return commands;
  }

  std::vector<Command> commands_of(const Formula& formula) const {
    const bool negated = formula.kind == Formula::Kind::kNot;
    const Formula& atom = negated ? formula.parts[0] : formula;
    const ObjectId object = id(atom.arguments[0]);
    std::vector<Command> commands;
    if (const auto verb = changing_verb(atom.name, negated)) {
      if (state().both_hands_full()) commands.push_back(release(Hand::kRight));
      commands.push_back({{*verb, Hand::kRight}, {object}});
    } else if (const auto placing = placing_verb(atom.name); placing && !negated) {
      const Hand hand = have(object, commands);
      commands.push_back({{*placing, hand}, {id(atom.arguments[1])}});
    } else if (negated && atom.name == "inside") {
      have(object, commands);
      commands.push_back({{Verb::kRelease, Hand::kRight}, {object}});
    } else if (atom.name == "holds_rh" || atom.name == "holds_lh") {
      const Hand hand = atom.name == "holds_rh" ? Hand::kRight : Hand::kLeft;
      const bool drop = negated ? hand_with(object) == hand : state().held(hand) != kNothing;
      if (drop) commands.push_back(release(hand));
      if (!negated) commands.push_back({{Verb::kGrasp, hand}, {object}});
    }
    return commands;
  }

  std::string objects_text(const Command& command) const {
    std::string text;
    for (const ObjectId object : command.objects) text += (text.empty() ? "" : ", ") + world_->scene.name(object);
    return text;
  }

  // False when the plan ends here.
  bool carry_out(const std::vector<Command>& commands, const Formula& subgoal, SubgoalResult& result) {
    std::vector<std::pair<std::string, std::string>> attempted;
    std::vector<std::pair<std::string, std::string>> succeeded;
    for (const Command& command : commands) {
      const std::string name = name_of(command.action);
      const std::string objects = objects_text(command);
      const Outcome outcome = executor_.apply(command.action, command.objects);
      StepScore step{str_cat(name, ' ', objects), "ok", {}};
      attempted.emplace_back(name, objects);
      if (outcome.ok) {
        succeeded.emplace_back(name, objects);
        result.score.steps.push_back(std::move(step));
        continue;
      }
      const ErrorClass error =
          *first_of(outcome, {ErrorClass::kCrash, ErrorClass::kAdditionalStep, ErrorClass::kWrongOrder,
                              ErrorClass::kMissingStep, ErrorClass::kAffordance});
      step.outcome = name_of(error);
      step.reason = str_cat("for ", to_text(subgoal), ": ", explain(world_->scene, outcome.faults[0]));
      const std::string reason = str_cat(step.action, ": ", step.outcome, ": ", step.reason);
      result.score.steps.push_back(std::move(step));
      if (error == ErrorClass::kCrash) {
        crash(reason, result);
        return false;
      }
      result.errors.push_back({to_text(subgoal), name, objects, std::string(name_of(error))});
      result.score.errors[std::string(name_of(error))] = 1;
      if (error == ErrorClass::kAdditionalStep) continue;
      result.actions.insert(result.actions.end(), succeeded.begin(), succeeded.end());
      runtime_failure(reason, result);
      return false;
    }
    result.actions.insert(result.actions.end(), attempted.begin(), attempted.end());
    return true;
  }

  void runtime_failure(const std::string& reason, SubgoalResult& result) {
    const GoalReport goals = test_goals(*world_, executor_.state());
    if (goals.crash) return crash("the evaluator fails when it tests the goal", result);
    result.score.verdict = "Runtime";
    result.score.reason = reason;
    result.score.goals = goals.goals;
  }

  void crash(const std::string& reason, SubgoalResult& result) const {
    result.score.verdict = kNotParseable;
    result.score.reason = reason;
    result.score.errors[std::string(kNotParseable)] = 1;
    result.score.goals = untested_goals(*world_);
    result.actions.clear();
    result.errors.clear();
  }

  const ActionTask* world_;
  Executor executor_;
  std::map<std::string, ObjectId> ids_;
};

SubgoalResult blank(const SubgoalTask& task, const ActionTask& world) {
  SubgoalResult result{answered(task.id, task.title), {}, {}};
  result.score.goals = untested_goals(world);
  return result;
}

SubgoalResult rejected(SubgoalResult result, std::string_view verdict, std::string reason) {
  result.score.verdict = verdict;
  result.score.reason = std::move(reason);
  result.score.errors[std::string(verdict)] = 1;
  return result;
}

SubgoalResult one_outcome(const SubgoalTask& task, const ActionTask& world, const std::vector<std::string>& strings,
                          Choices& choices) {
  SubgoalResult result = blank(task, world);
  SubgoalPlan plan = plan_of_strings(task, strings, choices);
  if (!plan.verdict.empty()) return rejected(std::move(result), plan.verdict, std::move(plan.reason));
  Run(task, world).execute(plan.atoms, result);
  return result;
}

bool worse(const TaskScore& a, const TaskScore& b) {
  return std::pair(a.executable, a.success) < std::pair(b.executable, b.success);
}

}  // namespace

SubgoalResult score_subgoal_answer(const SubgoalTask& task, const ActionTask& world, std::string_view answer) {
  const std::optional<std::vector<std::string>> strings = read_subgoal_strings(answer);
  if (!strings) {
    return rejected(blank(task, world), kNotParseable, "there is no {\"output\": [strings]} that is JSON");
  }
  // All outcomes of the random choices, or the first so many of them when the answer is long.
  constexpr std::size_t kMaxOutcomes = 1000;
  constexpr std::size_t kMaxWork = 20'000'000;
  const std::size_t outcomes = std::clamp<std::size_t>(kMaxWork / (answer.size() + 1), 1, kMaxOutcomes);
  Choices choices;
  SubgoalResult worst = one_outcome(task, world, *strings, choices);
  double covered = choices.probability();
  double success = covered * worst.score.success;
  for (std::size_t i = 1; i < outcomes && choices.next(); ++i) {
    SubgoalResult result = one_outcome(task, world, *strings, choices);
    covered += choices.probability();
    success += choices.probability() * result.score.success;
    if (worse(result.score, worst.score)) worst = std::move(result);
  }
  // Outcomes that agree give exactly 0 or 1, however their probabilities were rounded.
  worst.score.success = worst.score.success == 1 || success == 0 ? worst.score.success : success / covered;
  return worst;
}

}  // namespace behavior

Score score_behavior_subgoals(const std::string& tasks_path, const std::string& action_tasks_path,
                              const std::vector<Response>& responses) {
  const std::vector<behavior::ActionTask> worlds = behavior::load_action_tasks(action_tasks_path);
  Score score;
  behavior::Answers answers(responses, behavior::Repeated::kFirst);
  for (const behavior::SubgoalTask& task : behavior::load_subgoal_tasks(tasks_path, worlds)) {
    const behavior::ActionTask& world = worlds[task.world];
    if (const Response* response = answers.take(task.id, task.title)) {
      score.tasks.push_back(behavior::score_subgoal_answer(task, world, response->output).score);
      score.tasks.back().response = static_cast<std::size_t>(response - responses.data());
    } else {
      score.tasks.push_back(unanswered(task.id, task.title));
      score.tasks.back().goals = behavior::untested_goals(world);
    }
  }
  behavior::finish_score(score, answers);
  return score;
}

}  // namespace metactrl::benchmarks
