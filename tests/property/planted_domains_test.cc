// The environment domains and the scorers share no rule (scripts/check_layers), so a wrong rule in one is noticed by the
// other. Here one is planted in a domain: whatever is legal there must work for the scorer, and where the domain says that
// the goals hold, the scorer must say so, too. Plans are drawn at random; with nothing planted there is nothing to notice.
// Rules that are wrong in a scorer: tests/planted/scorers.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/files.h"
#include "benchmarks/module.h"
#include "benchmarks/watch_and_help/listing.h"
#include "benchmarks/watch_and_help/plan_problem.h"
#include "benchmarks/watch_and_help/task_file.h"
#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "metactrl/format.h"
#include "support/random.h"
#include "support/test_data.h"

namespace metactrl::testing::planted_domains_test {
namespace {

using benchmarks::Module;
using benchmarks::Rules;

struct Planted {
  const char* module;
  const char* what;
  const char* rule;  // stands once in the domain
  const char* instead;
};

const std::vector<Planted> kPlanted = {
    {"vh-as", "who sits walks", "(:action walk\n    :parameters (?x - item)\n    :precondition (and\n      (standing)",
     "(:action walk\n    :parameters (?x - item)\n    :precondition (and"},
    {"vh-as", "walking leaves nothing behind",
     "(forall (?y - thing) (and (not (by ?y)) (not (with ?y))))\n      (forall (?y - item) (not (facing ?y)))\n      "
     "(forall (?r - room) (not (in-room ?r)))\n      (when (is-room ?x) (in-room ?x))\n      (when (not (is-room ?x)) "
     "(and (by ?x) (with ?x)))\n      (forall (?r - room) (when (and (home ?x ?r) (not (moved ?x))) (in-room ?r)))\n   "
     "   (forall (?y - thing) (when (and (body_part ?y) (not (is-room ?x))) (by ?y)))\n      (forall (?w - wish) (when "
     "(asks ?w a_walk)",
     "(when (is-room ?x) (in-room ?x))\n      (when (not (is-room ?x)) (and (by ?x) (with ?x)))\n      (forall (?w - "
     "wish) (when (asks ?w a_walk)"},
    {"vh-as", "putting needs nothing in the hand",
     "(or (right ?x) (left ?x))\n      (by ?y)\n      (not (right ?y))\n      (not (left ?y)))",
     "(by ?y)\n      (not (right ?y))\n      (not (left ?y)))"},
    {"vh-as", "everything has a switch",
     "(has_switch ?x)\n      (or (by ?x) (right ?x) (left ?x))\n      (not (running ?x))",
     "(or (by ?x) (right ?x) (left ?x))\n      (not (running ?x))"},
    {"vh-as", "switches are reached from afar",
     "(has_switch ?x)\n      (or (by ?x) (right ?x) (left ?x))\n      (not (running ?x))",
     "(has_switch ?x)\n      (not (running ?x))"},
    {"vh-as", "everything is opened",
     "(or (can_open ?x) (of-class ?x desk) (of-class ?x window))\n      (or (by ?x) (right ?x) (left ?x))\n      (or "
     "(right-free)",
     "(or (by ?x) (right ?x) (left ?x))\n      (or (right-free)"},
    {"vh-as", "what is not faced is looked at",
     "(:action lookat\n    :parameters (?x - item)\n    :precondition (and\n      (facing ?x))",
     "(:action lookat\n    :parameters (?x - item)\n    :precondition (and)"},
    {"vh-as", "wiping needs nothing in the hand",
     "(or (by ?x) (right ?x) (left ?x))\n      (or (not (right-free)) (not (left-free))))",
     "(or (by ?x) (right ?x) (left ?x)))"},
    {"vh-as", "what is far away is washed",
     "(:action wash\n    :parameters (?x - thing)\n    :precondition (and\n      (or (by ?x) (right ?x) (left ?x)))",
     "(:action wash\n    :parameters (?x - thing)\n    :precondition (and)"},
    {"beh-as", "everything is grasped", "(and (graspable ?o) (left-empty) (not (in-right ?o))",
     "(and (left-empty) (not (in-right ?o))"},
    {"beh-as", "a full hand grasps", "(and (graspable ?o) (left-empty) (not (in-right ?o))",
     "(and (graspable ?o) (not (in-left ?o)) (not (in-right ?o))"},
    {"beh-as", "what the other hand holds is grasped", "(and (graspable ?o) (left-empty) (not (in-right ?o))",
     "(and (graspable ?o) (left-empty)"},
    {"beh-as", "hands reach into what is closed", "(exists (?y) (or (and (inside ?x ?y) (openable ?y) (not (open ?y)))",
     "(exists (?y) (or (and (inside ?x ?y) (openable ?y) (closed ?y))"},
    {"beh-as", "things are put into what is closed",
     "(and (exists (?x) (and (in-left ?x) (fits ?x ?o))) (or (not (openable ?o)) (open ?o))",
     "(and (exists (?x) (and (in-left ?x) (fits ?x ?o)))"},
    {"beh-as", "big things fit into small ones", "(and (exists (?x) (and (in-right ?x) (fits ?x ?o))) (or",
     "(and (exists (?x) (and (in-right ?x) (target ?o))) (or"},
    {"beh-as", "opening needs no hand", "(and (openable ?o) (not (open ?o)) (or (left-empty) (right-empty))",
     "(and (openable ?o) (not (open ?o))"},
    {"beh-as", "everything is opened", "(and (openable ?o) (not (open ?o)) (or", "(and (not (open ?o)) (or"},
    {"beh-as", "everything has a switch", "(and (toggleable ?o) (not (on ?o)) (or", "(and (not (on ?o)) (or"},
    {"beh-as", "everything is soaked", "(and (soakable ?o) (not (soaked ?o)) (or", "(and (not (soaked ?o)) (or"},
    {"beh-as", "soaking needs no water",
     "(exists (?y)\n                         (and (water ?y) (or (inside ?o ?y) (ontop ?o ?y)) (or (not (toggleable "
     "?y)) (on ?y))))",
     ""},
    {"beh-as", "cleaning needs no tool",
     "(or (and (dusty ?o) (or (tool-in-hand) (washed ?o)))\n                           (and (stained ?o) (or "
     "(wet-tool-in-hand) (washed ?o))))",
     "(or (dusty ?o) (stained ?o))"},
    {"beh-as", "a dry cloth takes stains", "(or (detergent ?x) (and (cleaning-tool ?x) (soaked ?x)))",
     "(or (detergent ?x) (cleaning-tool ?x))"},
    {"beh-as", "slicing needs no knife", " (exists (?x) (and (slicer ?x) (or (in-left ?x) (in-right ?x))))", ""},
    {"wah", "what is far away is grabbed", "(grabbable ?x)\n      (near ?x)", "(grabbable ?x)"},
    {"wah", "everything is grabbed", "(grabbable ?x)\n      (near ?x)", "(near ?x)"},
    {"wah", "what is held is grabbed again", "(not (held ?x))\n      (not (two-held))", "(not (two-held))"},
    {"wah", "hands reach into what is closed", "(forall (?c - thing) (imply (inside ?x ?c) (not (is-closed ?c))))", ""},
    {"wah", "what is far away is closed", "(can-open ?x)\n      (near ?x)\n      (not (two-held))\n      (is-open ?x)",
     "(can-open ?x)\n      (not (two-held))\n      (is-open ?x)"},
    {"wah", "what is open is opened", "(not (two-held))\n      (is-closed ?x)", "(not (two-held))"},
    {"wah", "what is open is switched on", "(is-off ?x)\n      (or (not (can-open ?x)) (is-closed ?x)))",
     "(is-off ?x))"},
    {"wah", "things are put into anything", "(near ?y)\n      (container ?y)", "(near ?y)"},
    {"wah", "things are put into what is closed", "(not (is-closed ?y))\n      (or (not (can-open ?y)) (is-open ?y)))",
     ")"},
    {"wah", "things are put onto anything", "(near ?y)\n      (surface ?y)", "(near ?y)"},
    {"wah", "walking leaves nothing behind", "(forall (?y - thing) (not (near ?y)))", ""},
};

std::string planted_domain(const Planted& planted) {
  std::string text(domain_text(*benchmarks::find_module(planted.module), Rules::kEnvironment));
  const std::string rule = planted.rule;
  const std::size_t place = text.find(rule);
  EXPECT_NE(place, std::string::npos) << planted.what;
  EXPECT_EQ(text.find(rule, place + 1), std::string::npos) << planted.what;
  return text.replace(place, rule.size(), planted.instead);
}

struct Question {
  std::string identifier;
  std::string problem;
};

// The excerpt's tasks of a module, as PDDL. Nothing is assumed that the prompt does not say.
class Benchmark {
 public:
  explicit Benchmark(const std::string& name) : module_(*benchmarks::find_module(name)) {
    if (module_.read != nullptr) {
      const std::string prompts = data(module_.files.at(0));
      tasks_ = data(module_.files.at(1));
      for (const benchmarks::PromptEntry& entry : benchmarks::read_prompts(prompts)) {
        const benchmarks::PromptTask task = module_.read(entry.prompt, Rules::kEnvironment);
        questions_.push_back({entry.identifier, task.problem_assuming(task.fewest_assumptions)});
      }
    } else {
      tasks_ = data(module_.files.at(0));
      for (const auto& task : benchmarks::watch_and_help::read_tasks(tasks_, folder())) {
        const auto listing = benchmarks::watch_and_help::list_things(*task.scene, task.goal);
        questions_.push_back(
            {task.id, benchmarks::watch_and_help::plan_problem(*task.scene, listing, task.goal).problem});
      }
    }
  }

  // What the scorer says against a plan that is legal in `domain`; empty when there is nothing.
  std::string difference(const std::string& domain, unsigned rounds) const {
    std::vector<Task> loaded;
    for (const Question& question : questions_) loaded.push_back(load_pddl_text(domain, question.problem));
    for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
      std::vector<benchmarks::Response> responses;
      std::set<std::string> reached;
      for (std::size_t i = 0; i < questions_.size(); ++i) {
        const auto [plan, goal] = draw(loaded[i], seed);
        if (plan.empty()) continue;
        const PlanSpelling spelling(PlanFormat::builtin(std::string(module_.format)), loaded[i]);
        responses.push_back({questions_[i].identifier, spelling.render(plan)});
        if (goal) reached.insert(questions_[i].identifier);
      }
      for (const benchmarks::TaskScore& score : module_.score(tasks_, folder(), responses).tasks) {
        if (!score.answered || !score.scored) continue;
        if (!score.executable) return score.identifier + " does not work: " + score.reason;
        if (reached.contains(score.identifier) && score.success != 1) return score.identifier + ": " + score.reason;
      }
    }
    return "";
  }

 private:
  std::string folder() const {
    return data_path(std::string(module_.files[0].substr(0, module_.files[0].find('/'))), Extent::kExcerpt).string();
  }
  static std::string data(std::string_view file) { return data_path(std::string(file), Extent::kExcerpt).string(); }

  // Each kind of action is as likely as another, so that rare ones are seen.
  static std::pair<std::vector<ActionId>, bool> draw(const Task& task, std::uint64_t seed) {
    Random random(seed);
    State state = task.initial_state();
    std::vector<ActionId> plan;
    for (unsigned step = random.between(1, 24); step > 0; --step) {
      std::map<std::string, std::vector<ActionId>> by_name;
      for (const ActionId action : task.applicable_actions(state)) by_name[task.step(action).action].push_back(action);
      if (by_name.empty()) break;
      auto kind = by_name.begin();
      std::advance(kind, random.below(by_name.size()));
      plan.push_back(random.pick(kind->second));
      state = *task.apply(state, plan.back());
    }
    return {plan, task.is_goal(state)};
  }

  const Module& module_;
  std::string tasks_;
  std::vector<Question> questions_;
};

class PlantedDomains : public ::testing::TestWithParam<const char*> {};

TEST_P(PlantedDomains, AreNoticedByTheScorer) {
  const Benchmark benchmark(GetParam());
  constexpr unsigned kRounds = 60;
  EXPECT_EQ(benchmark.difference(std::string(domain_text(*benchmarks::find_module(GetParam()), Rules::kEnvironment)),
                                 kRounds),
            "");
  std::size_t count = 0;
  for (const Planted& planted : kPlanted) {
    if (planted.module != std::string(GetParam())) continue;
    ++count;
    EXPECT_NE(benchmark.difference(planted_domain(planted), kRounds), "") << planted.what;
  }
  EXPECT_GE(count, 9U);
}

INSTANTIATE_TEST_SUITE_P(Benchmarks, PlantedDomains, ::testing::Values("vh-as", "beh-as", "wah"), [](const auto& info) {
  std::string name = info.param;
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace metactrl::testing::planted_domains_test
