// The VirtualHome tasks at hand, from prompt to verdict.
//
//     VirtualHome home("vh-as", Extent::kExcerpt);
//     home.expect_target(home.answer(home.prompts(), nullptr, nullptr, Guidance::kSearch));
#ifndef METACTRL_TESTS_SUPPORT_VIRTUALHOME_TASKS_H_
#define METACTRL_TESTS_SUPPORT_VIRTUALHOME_TASKS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "benchmarks/evaluate.h"
#include "benchmarks/files.h"
#include "benchmarks/module.h"
#include "support/test_data.h"

namespace metactrl::testing {

class VirtualHome {
 public:
  VirtualHome(const std::string& module, Extent extent)
      : module_(*benchmarks::find_module(module)),
        actions_(module == "vh-as"),
        extent_(extent),
        prompts_(benchmarks::read_prompts(file("_prompts.json"))) {
    if (!actions_) system_ = benchmarks::read_system_prompt(file("_system.json"));
    std::ifstream tasks(file(".jsonl"));
    for (std::string line; std::getline(tasks, line);) {
      nlohmann::json task = nlohmann::json::parse(line);
      const std::string id = task.at("id");
      tasks_.emplace(id, std::move(task));
    }
  }

  const benchmarks::Module& module() const { return module_; }
  const std::vector<benchmarks::PromptEntry>& prompts() const { return prompts_; }
  std::vector<benchmarks::PromptEntry> every(std::size_t nth, std::size_t first = 0) const {
    std::vector<benchmarks::PromptEntry> result;
    for (std::size_t i = first; i < prompts_.size(); i += nth) result.push_back(prompts_[i]);
    return result;
  }

  // By the task file: some tasks ask for nothing.
  bool has_goals(const std::string& identifier) const {
    const nlohmann::json& task = tasks_.at(identifier);
    if (!actions_) return !task.at("goal_states").empty() || !task.at("goal_actions").empty();
    return !task.at("node_goals").empty() || !task.at("edge_goals").empty() || !task.at("action_goals").empty();
  }

  // As the program answers them. Every answer is a plan that holds to the task, or to as much of it as can be reached.
  std::vector<benchmarks::Response> answer(const std::vector<benchmarks::PromptEntry>& prompts, LanguageModel* model,
                                           const std::shared_ptr<const Vocabulary>& vocabulary,
                                           Guidance guidance) const {
    benchmarks::EvaluateOptions options;
    options.system = system_;
    options.plan.guidance = guidance;
    options.plan.on_infeasible = PlanOptions::OnInfeasible::kDropGoals;
    options.plan.lookahead.exact.states = 10'000;
    options.plan.lookahead.search.states = 10'000;
    std::vector<benchmarks::Response> responses;
    for (const benchmarks::PromptEntry& prompt : prompts) {
      const benchmarks::Answer answer = benchmarks::answer_prompt(module_, prompt, model, vocabulary, options);
      EXPECT_EQ(answer.error, "") << prompt.identifier;
      EXPECT_FALSE(answer.steps.empty()) << prompt.identifier;
      EXPECT_EQ(answer.guarantee, answer.goals_dropped.empty() ? "full" : "goals dropped") << prompt.identifier;
      responses.push_back({prompt.identifier, answer.output});
    }
    return responses;
  }

  benchmarks::Score score(const std::vector<benchmarks::Response>& responses) const {
    return module_.score(file(".jsonl"), data_path("eai_vh", extent_).string(), responses);
  }

  // Scores in other houses that fit the prompts: what the prompts do not show of the listed objects is changed at
  // random (doors, switches, dirt, and in action sequencing whether the robot sits). `folder` is for their files.
  benchmarks::Score score_elsewhere(const std::vector<benchmarks::Response>& responses, std::mt19937& random,
                                    const std::filesystem::path& folder) const {
    std::filesystem::create_directories(folder);
    std::filesystem::copy_file(data_path("eai_vh/scene1_base.json", extent_), folder / "scene1_base.json",
                               std::filesystem::copy_options::overwrite_existing);
    std::ifstream in(data_path("eai_vh/graphs.jsonl", extent_));
    std::ofstream out(folder / "graphs.jsonl");
    for (std::string line; std::getline(in, line);) {
      nlohmann::json graph = nlohmann::json::parse(line);
      const std::string id = (actions_ ? "" : "scene_1_") + graph.at("id").get<std::string>();
      if (tasks_.contains(id)) change_hidden_states(tasks_.at(id), graph, random);
      out << graph.dump() << '\n';
    }
    out.close();
    return module_.score(file(".jsonl"), folder.string(), responses);
  }

  // What can be reached is reached, task by task: all goals, but in tasks that no answer can solve. An answer that
  // happens to be the reference plan, which the evaluator does not count, is a success.
  void expect_target(const std::vector<benchmarks::Response>& responses) const {
    const benchmarks::Score score = this->score(responses);
    EXPECT_TRUE(score.strangers.empty());
    std::size_t answered = 0;
    for (const benchmarks::TaskScore& task : score.tasks) {
      if (!task.answered) continue;
      ++answered;
      if (!task.scored) continue;
      EXPECT_FALSE(task.errors.contains("hallucination")) << task.identifier;
      const bool solved = task.equals_gold || task.success == 1;
      EXPECT_NE(solved, hopeless(tasks_.at(task.identifier))) << task.identifier << ": " << task.reason;
      EXPECT_TRUE(task.executable || (!actions_ && !solved)) << task.identifier << ": " << task.reason;
    }
    EXPECT_EQ(answered, responses.size());
  }

  struct Counts {
    std::size_t scored = 0;
    std::size_t successful = 0;  // as the evaluator counts
    std::size_t executable = 0;

    bool operator==(const Counts&) const = default;
    friend void PrintTo(const Counts& counts, std::ostream* out) {
      *out << counts.scored << " scored, " << counts.successful << " successful, " << counts.executable
           << " executable";
    }
  };
  static Counts count(const benchmarks::Score& score) {
    Counts counts;
    for (const benchmarks::TaskScore& task : score.tasks) {
      if (!task.scored) continue;
      ++counts.scored;
      counts.successful += task.success == 1 ? 1 : 0;
      counts.executable += task.executable ? 1 : 0;
    }
    return counts;
  }

 private:
  std::string file(const std::string& ending) const {
    return data_path((actions_ ? "eai_vh/as" : "eai_vh/sd") + ending, extent_).string();
  }

  bool states_shown(const nlohmann::json& task, const nlohmann::json& object) const {
    if (actions_) {
      const nlohmann::json& shown = task.at("prompt_state_nodes");
      return std::find(shown.begin(), shown.end(), object.at("id")) != shown.end();
    }
    const std::string about =
        "(" + object.at("name").get<std::string>() + "." + std::to_string(object.at("id").get<int>()) + ")";
    for (const nlohmann::json& state : task.at("initial_states")) {
      if (state.get<std::string>().ends_with(about)) return true;
    }
    return false;
  }

  void change_hidden_states(const nlohmann::json& task, nlohmann::json& graph, std::mt19937& random) const {
    for (const nlohmann::json& object : task.at("objects")) {
      if (object.at("category") == "Rooms" || states_shown(task, object)) continue;
      std::vector<std::string> states = object.at("states").get<std::vector<std::string>>();
      for (std::string& state : states) {
        static const std::map<std::string, std::string> kOpposite = {{"OPEN", "CLOSED"}, {"CLOSED", "OPEN"},
                                                                     {"ON", "OFF"},      {"OFF", "ON"},
                                                                     {"CLEAN", "DIRTY"}, {"DIRTY", "CLEAN"}};
        const auto other = kOpposite.find(state);
        if (other != kOpposite.end() && random() % 2 == 0) state = other->second;
      }
      if (object.at("category") == "Characters") {
        if (!actions_) continue;
        states = random() % 2 == 0 ? std::vector<std::string>{} : std::vector<std::string>{"SITTING"};
      }
      bool added = false;
      for (nlohmann::json& node : graph.at("nodes_add")) {
        if (node.at("id") != object.at("id")) continue;
        node["states"] = states;
        added = true;
      }
      if (!added) graph["states"][std::to_string(object.at("id").get<int>())] = states;
    }
  }

  // Tasks that no answer can solve. In action sequencing: a thing shall be plugged in that is not, and the evaluator
  // rejects PLUGIN. In subgoal decomposition: the evaluator cannot read the word POUR in a goal, no subgoal makes a
  // robot stand up that sits at the start, and nothing is in both hands at once.
  bool hopeless(const nlohmann::json& task) const {
    if (actions_) return wants_plug(task);
    if (task.at("tl_goal").get<std::string>().find("POUR") != std::string::npos) return true;
    for (const nlohmann::json& object : task.at("objects")) {
      const auto states = object.at("states").get<std::vector<std::string>>();
      const bool sits = std::find(states.begin(), states.end(), "SITTING") != states.end();
      if (object.at("name") == "character" && sits) return true;
    }
    const auto goals = task.at("goal_states").get<std::vector<std::string>>();
    return std::any_of(goals.begin(), goals.end(), [&](const std::string& goal) {
      return goal.starts_with("HOLDS_RH(") &&
             std::find(goals.begin(), goals.end(), "HOLDS_LH(" + goal.substr(9)) != goals.end();
    });
  }

  static bool wants_plug(const nlohmann::json& task) {
    for (const nlohmann::json& goal : task.at("node_goals")) {
      if (goal[2] != "PLUGGED_IN") continue;
      for (const nlohmann::json& object : task.at("objects")) {
        const auto states = object.at("states").get<std::vector<std::string>>();
        const bool unplugged = std::find(states.begin(), states.end(), "PLUGGED_OUT") != states.end();
        if (object.at("id") == goal[0] && unplugged) return true;
      }
    }
    return false;
  }

  const benchmarks::Module& module_;
  bool actions_;
  Extent extent_;
  std::vector<benchmarks::PromptEntry> prompts_;
  std::string system_;
  std::map<std::string, nlohmann::json> tasks_;
};

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_VIRTUALHOME_TASKS_H_
