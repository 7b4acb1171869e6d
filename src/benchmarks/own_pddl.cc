// Two tables say which action of a domain is which of an answer: by its name, and by the places of the arguments that the
// answer names. A robot of BEHAVIOR's domain has one hand, which is taken to be the right one, and walks with an action of
// its own, which answers do without.
#include "benchmarks/own_pddl.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>

#include "benchmarks/behavior/prompt_reader.h"
#include "benchmarks/files.h"
#include "benchmarks/virtualhome/json_fields.h"
#include "benchmarks/virtualhome/prompt_reader.h"
#include "benchmarks/virtualhome/prompt_scene.h"
#include "support/files.h"
#include "support/lower_case.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace {

namespace fs = std::filesystem;
using virtualhome::for_each_json_line;
using virtualhome::JsonPlace;
using Names = std::set<std::string, std::less<>>;

// An action of a domain in an answer: the arguments at `places`, from 0; -1 ends them.
struct OwnAction {
  std::string_view own;
  std::string_view answer;
  std::array<int, 2> places;
};

const OwnAction* action_named(std::span<const OwnAction> actions, std::string_view own) {
  const auto found = std::find_if(actions.begin(), actions.end(), [&](const OwnAction& a) { return a.own == own; });
  return found == actions.end() ? nullptr : &*found;
}

std::vector<std::string> arguments_of(const OwnAction& action, const PlanStep& step) {
  std::vector<std::string> out;
  for (const int place : action.places) {
    if (place >= 0 && static_cast<std::size_t>(place) < step.arguments.size()) {
      out.push_back(step.arguments[static_cast<std::size_t>(place)]);
    }
  }
  return out;
}

std::string atom(std::string_view predicate, const std::vector<std::string>& arguments) {
  return str_cat("(", predicate, " ", join(arguments, " "), ")");
}

// --- VirtualHome -----------------------------------------------------------------------------------------------------

constexpr std::string_view kVirtualHomeDomain = "household/virtualhome/domain.pddl";

// The character is the first argument of every action. Of two with the same answer, the first is what a reference plan
// means by it.
constexpr std::array<OwnAction, 34> kVirtualHomeActions = {{{"walk_towards", "WALK", {1, -1}},
                                                            {"walk_into", "WALK", {1, -1}},
                                                            {"walk_towards", "RUN", {1, -1}},
                                                            {"find", "FIND", {1, -1}},
                                                            {"sit", "SIT", {1, -1}},
                                                            {"standup", "STANDUP", {-1, -1}},
                                                            {"grab", "GRAB", {1, -1}},
                                                            {"open", "OPEN", {1, -1}},
                                                            {"close", "CLOSE", {1, -1}},
                                                            {"put_on", "PUTBACK", {1, 2}},
                                                            {"put_on_character", "PUTON", {1, -1}},
                                                            {"put_inside", "PUTIN", {1, 2}},
                                                            {"switch_on", "SWITCHON", {1, -1}},
                                                            {"switch_off", "SWITCHOFF", {1, -1}},
                                                            {"drink", "DRINK", {1, -1}},
                                                            {"turn_to", "TURNTO", {1, -1}},
                                                            {"look_at", "LOOKAT", {1, -1}},
                                                            {"wipe", "WIPE", {1, -1}},
                                                            {"drop", "DROP", {1, -1}},
                                                            {"read", "READ", {1, -1}},
                                                            {"touch", "TOUCH", {1, -1}},
                                                            {"lie", "LIE", {1, -1}},
                                                            {"pour", "POUR", {1, 2}},
                                                            {"type", "TYPE", {1, -1}},
                                                            {"watch", "WATCH", {1, -1}},
                                                            {"move", "MOVE", {1, -1}},
                                                            {"wash", "WASH", {1, -1}},
                                                            {"squeeze", "SQUEEZE", {1, -1}},
                                                            {"plug_in", "PLUGIN", {1, -1}},
                                                            {"plug_out", "PLUGOUT", {1, -1}},
                                                            {"cut", "CUT", {1, -1}},
                                                            {"eat", "EAT", {1, -1}},
                                                            {"sleep", "SLEEP", {-1, -1}},
                                                            {"wake_up", "WAKEUP", {-1, -1}}}};

class VirtualHomeOwn : public OwnPddl {
 public:
  explicit VirtualHomeOwn(const std::string& data) {
    const fs::path folder(data);
    domain_ = internal::read_file((folder / kVirtualHomeDomain).string());
    for (const PromptEntry& entry : read_prompts((folder / "eai_vh/as_prompts.json").string())) {
      add(entry.identifier, virtualhome::read_actions_scene(entry.prompt));
    }
    for_each_json_line((folder / "eai_vh/as.jsonl").string(), [&](const JsonPlace& line) {
      const std::string identifier = line.field("id").text();
      const auto problem = std::find_if(problems_.begin(), problems_.end(),
                                        [&](const OwnProblem& p) { return p.identifier == identifier; });
      if (problem == problems_.end()) return;
      for (const std::string& step : line.field("gold").texts()) add_reference_step(step, *problem);
    });
  }

  std::string answer(const OwnProblem& problem, std::span<const PlanStep> plan) const override {
    std::string out;
    for (const PlanStep& step : plan) {
      const OwnAction* action = action_named(kVirtualHomeActions, step.action);
      if (action == nullptr) continue;
      std::vector<std::string> words;
      for (const std::string& argument : arguments_of(*action, step)) {
        const auto name = problem.names.find(argument);  // "soap 1002"
        const std::string text = name == problem.names.end() ? argument : name->second;
        for (const std::string_view word : split(std::string_view(text), " "))
          words.push_back(str_cat("\"", word, "\""));
      }
      out +=
          str_cat(out.empty() ? "" : ", ", "\"", action->answer, "\": [", words.empty() ? " " : join(words, ", "), "]");
    }
    return "{" + out + "}";
  }

  const Names& robot_predicates() const override {
    static const Names kNames = {"sitting",  "lying", "next_to", "facing", "holds_rh",
                                 "holds_lh", "ontop", "inside",  "on_char"};
    return kNames;
  }
  const Names& state_predicates() const override {
    static const Names kNames = {"closed",      "open",  "on",    "off",     "plugged_in",
                                 "plugged_out", "clean", "dirty", "sitting", "lying"};
    return kNames;
  }

 private:
  using Scene = virtualhome::PromptScene;

  // Nothing where the domain has no word for it.
  static std::optional<std::vector<std::string>> relation(const Scene& scene, const Scene::Edge& edge) {
    const Scene::Object& from = scene.objects[edge.from];
    const Scene::Object& to = scene.objects[edge.to];
    struct Word {
      std::string_view relation;
      std::string_view of_character;
      std::string_view of_thing;
    };
    static constexpr std::array<Word, 6> kWords = {{{"ON", "ontop", "obj_ontop"},
                                                    {"INSIDE", "inside", "obj_inside"},
                                                    {"CLOSE", "next_to", "obj_next_to"},
                                                    {"FACING", "facing", ""},
                                                    {"HOLDS_RH", "holds_rh", ""},
                                                    {"HOLDS_LH", "holds_lh", ""}}};
    for (const Word& word : kWords) {
      if (word.relation != edge.relation) continue;
      std::string_view predicate = from.character ? word.of_character : word.of_thing;
      if (predicate == "obj_inside" && to.room) predicate = "inside_room";
      if (predicate.empty() || to.character) return std::nullopt;
      return std::vector<std::string>{std::string(predicate), from.pddl(), to.pddl()};
    }
    return std::nullopt;
  }

  void add(const std::string& identifier, const Scene& scene) {
    OwnProblem problem;
    problem.identifier = identifier;
    std::string objects;
    std::string characters;
    std::string goals;
    for (const Scene::Object& o : scene.objects) {
      (o.character ? characters : objects) += " " + o.pddl();
      if (o.character) character_ = o.pddl();
      problem.names[o.pddl()] = o.name + " " + o.id;
      problem.with_properties.insert(o.pddl());
      problem.tags += o.properties.size();
      if (!o.states.empty() || (o.character && scene.posture_shown)) problem.with_states.insert(o.pddl());
      for (const std::vector<std::string>& words : {o.properties, o.states}) {
        for (const std::string& word : words) problem.stated.insert({internal::lower_case(word), o.pddl()});
      }
    }
    for (const Scene::Edge& edge : scene.edges) {
      if (auto found = relation(scene, edge)) problem.stated.insert(*found);
    }
    std::string facts;
    for (const std::vector<std::string>& words : problem.stated) {
      if (is_known(words)) facts += "\n    " + atom(words[0], {words.begin() + 1, words.end()});
    }
    for (const Scene::NodeGoal& goal : scene.node_goals) {
      const std::string predicate = internal::lower_case(goal.state);
      if (is_known({predicate, ""})) goals += "\n    " + atom(predicate, {scene.objects[goal.object].pddl()});
    }
    for (const Scene::Edge& edge : scene.edge_goals) {
      if (auto found = relation(scene, edge)) goals += "\n    " + atom(found->front(), {(*found)[1], (*found)[2]});
    }
    problem.text = str_cat("(define (problem p)\n  (:domain virtualhome)\n  (:objects", objects, " - object",
                           characters, " - character)\n  (:init", facts, ")\n  (:goal (and", goals, ")))\n");
    problems_.push_back(std::move(problem));
  }

  // Whether the domain declares the predicate: the prompts have a few properties that it has not.
  bool is_known(const std::vector<std::string>& words) const {
    const std::string head = "(" + words[0];
    for (std::size_t at = domain_.find(head); at != std::string::npos; at = domain_.find(head, at + 1)) {
      if (domain_[at + head.size()] == ' ') return true;
    }
    return false;
  }

  // "[PUTBACK] <clothes_pants> (1001) <washing_machine> (1000)"
  void add_reference_step(std::string_view text, OwnProblem& problem) const {
    const std::size_t end = text.find(']');
    const std::string_view name = end == std::string_view::npos ? "" : text.substr(1, end - 1);
    std::vector<std::string> things;
    for (std::size_t open = text.find('<'); open != std::string_view::npos; open = text.find('<', open + 1)) {
      const std::size_t close = text.find('>', open);
      const std::size_t number = text.find('(', open);
      const std::size_t last = text.find(')', open);
      if (close == std::string_view::npos || number == std::string_view::npos || last == std::string_view::npos) break;
      things.push_back(
          str_cat(text.substr(open + 1, close - open - 1), "_", text.substr(number + 1, last - number - 1)));
    }
    const auto action = std::find_if(kVirtualHomeActions.begin(), kVirtualHomeActions.end(),
                                     [&](const OwnAction& a) { return a.answer == name; });
    if (action == kVirtualHomeActions.end()) {
      ++problem.foreign_steps;
      return;
    }
    PlanStep step{std::string(action->own), {character_}};
    step.arguments.insert(step.arguments.end(), things.begin(), things.end());
    problem.reference.push_back(std::move(step));
  }

  std::string character_;  // the same in all prompts
};

// --- BEHAVIOR --------------------------------------------------------------------------------------------------------

constexpr std::string_view kBehaviorDomain = "household/behavior/domain.pddl";

constexpr std::array<OwnAction, 18> kBehaviorActions = {{{"grasp", "RIGHT_GRASP", {0, -1}},
                                                         {"release", "RIGHT_RELEASE", {0, -1}},
                                                         {"place_ontop", "RIGHT_PLACE_ONTOP", {1, -1}},
                                                         {"place_onfloor", "RIGHT_PLACE_ONTOP", {1, -1}},
                                                         {"place_inside", "RIGHT_PLACE_INSIDE", {1, -1}},
                                                         {"place_nextto", "RIGHT_PLACE_NEXTTO", {1, -1}},
                                                         {"place_nextto_ontop", "RIGHT_PLACE_NEXTTO_ONTOP", {1, 2}},
                                                         {"place_under", "RIGHT_PLACE_UNDER", {1, -1}},
                                                         {"open", "OPEN", {0, -1}},
                                                         {"close", "CLOSE", {0, -1}},
                                                         {"slice", "SLICE", {0, -1}},
                                                         {"slice-carvingknife", "SLICE", {0, -1}},
                                                         {"soak", "SOAK", {0, -1}},
                                                         {"soak_teapot", "SOAK", {0, -1}},
                                                         {"toggle_on", "TOGGLE_ON", {0, -1}},
                                                         {"freeze", "FREEZE", {0, -1}},
                                                         {"cook", "COOK", {0, -1}},
                                                         {"clean", "CLEAN", {1, -1}}}};

class BehaviorOwn : public OwnPddl {
 public:
  explicit BehaviorOwn(const std::string& data) {
    const fs::path folder(data);
    domain_ = internal::read_file((folder / kBehaviorDomain).string());
    for_each_json_line((folder / "eai_beh/pddl_tasks.jsonl").string(), [&](const JsonPlace& line) {
      OwnProblem problem;
      problem.identifier = line.field("id").text();
      problem.text = line.field("problem").text();
      for (const std::string& step : line.field("plan").texts()) {
        const std::vector<std::string_view> words = split(std::string_view(step), " ");
        problem.reference.push_back({internal::lower_case(words[0]), {}});
        for (std::size_t i = 1; i < words.size(); ++i) {
          problem.reference.back().arguments.push_back(internal::lower_case(words[i]));
        }
      }
      problems_.push_back(std::move(problem));
    });
    for_each_json_line((folder / "eai_beh/as_tasks.jsonl").string(), [&](const JsonPlace& line) {
      OwnProblem* problem = mutable_problem(line.field("id").text());
      if (problem == nullptr) return;
      for (const JsonPlace& object : line.field("objects").items()) {
        std::string own = internal::lower_case(object.field("bddl").text());
        std::replace(own.begin(), own.end(), '.', '_');
        problem->names[own] = object.field("name").text();
      }
    });
    for (const PromptEntry& entry : read_prompts((folder / "eai_beh/as_prompts.json").string())) {
      OwnProblem* problem = mutable_problem(entry.identifier);
      if (problem == nullptr) continue;
      std::map<std::string, std::string> own_names;
      for (const auto& [own, name] : problem->names) own_names[name] = own;
      for (const behavior::prompt::Atom& fact : behavior::read_behavior_actions_scene(entry.prompt).init) {
        std::vector<std::string> words = {fact.predicate};
        for (const std::string& argument : fact.arguments) {
          const auto found = own_names.find(argument);
          words.push_back(found == own_names.end() ? argument : found->second);
        }
        problem->stated.insert(std::move(words));
      }
    }
  }

  std::string answer(const OwnProblem& problem, std::span<const PlanStep> plan) const override {
    std::string out;
    for (const PlanStep& step : plan) {
      const bool cleans = step.action.starts_with("clean_");
      const OwnAction* action = action_named(kBehaviorActions, cleans ? "clean" : step.action);
      if (action == nullptr) continue;  // navigate_to
      std::vector<std::string> words;
      for (const std::string& argument : arguments_of(*action, step)) {
        const auto name = problem.names.find(argument);
        words.push_back(name == problem.names.end() ? argument : name->second);
      }
      out += str_cat(out.empty() ? "" : ", ", "{\"action\": \"", action->answer, "\", \"object\": \"",
                     join(words, ", "), "\"}");
    }
    return "[" + out + "]";
  }

  const Names& robot_predicates() const override {
    static const Names kNames = {"in_reach_of_agent", "holding", "handsfull"};
    return kNames;
  }
  // Its prompts state each of them or do not; none is a property.
  const Names& state_predicates() const override {
    static const Names kNames;
    return kNames;
  }

 private:
  OwnProblem* mutable_problem(const std::string& identifier) {
    const auto found = std::find_if(problems_.begin(), problems_.end(),
                                    [&](const OwnProblem& p) { return p.identifier == identifier; });
    return found == problems_.end() ? nullptr : &*found;
  }
};

bool all_there(const std::string& data, std::initializer_list<std::string_view> files) {
  return std::all_of(files.begin(), files.end(), [&](std::string_view file) {
    std::error_code ignored;
    return fs::is_regular_file(fs::path(data) / file, ignored);
  });
}

}  // namespace

std::unique_ptr<OwnPddl> OwnPddl::open(const Module& module, const std::string& data) {
  if (module.name == "vh-as" && all_there(data, {kVirtualHomeDomain, "eai_vh/as_prompts.json", "eai_vh/as.jsonl"})) {
    return std::make_unique<VirtualHomeOwn>(data);
  }
  if (module.name == "beh-as" && all_there(data, {kBehaviorDomain, "eai_beh/pddl_tasks.jsonl", "eai_beh/as_tasks.jsonl",
                                                  "eai_beh/as_prompts.json"})) {
    return std::make_unique<BehaviorOwn>(data);
  }
  return nullptr;
}

const OwnProblem* OwnPddl::find(std::string_view identifier) const {
  const auto found = std::find_if(problems_.begin(), problems_.end(),
                                  [&](const OwnProblem& problem) { return problem.identifier == identifier; });
  return found == problems_.end() ? nullptr : &*found;
}

}  // namespace metactrl::benchmarks
