// A checkout of the Embodied Agent Interface with two tasks of our own, in the benchmark's layout.
//
//     EaiCheckout checkout(folder);       // writes folder/src/virtualhome_eval/..., folder/src/behavior_eval/...
#ifndef METACTRL_TESTS_SUPPORT_EAI_CHECKOUT_H_
#define METACTRL_TESTS_SUPPORT_EAI_CHECKOUT_H_

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace metactrl::testing {

class EaiCheckout {
 public:
  using Json = nlohmann::ordered_json;

  explicit EaiCheckout(std::filesystem::path root) : root_(std::move(root)) {
    std::filesystem::remove_all(root_);
    write_virtualhome();
    write_behavior();
  }

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path virtualhome() const { return root_ / "src" / "virtualhome_eval"; }
  std::filesystem::path behavior() const { return root_ / "src" / "behavior_eval"; }
  std::filesystem::path task_file() const {
    return virtualhome() / "resources" / "virtualhome" / "task_state_LTL_formula_accurate.json";
  }
  std::filesystem::path graph(const std::string& id) const {
    return data() / "init_and_final_graphs" / "TrimmedTestScene1_graph" / "results_intentions_march-13-18" /
           ("file" + id + ".json");
  }
  std::filesystem::path program(const std::string& id) const {
    return data() / "executable_programs" / "TrimmedTestScene1_graph" / "results_intentions_march-13-18" /
           ("file" + id + ".txt");
  }
  std::filesystem::path action_template() const {
    return virtualhome() / "evaluation" / "action_sequencing" / "prompts" / "one_shot.py";
  }

  static void write(const std::filesystem::path& file, const std::string& text) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }

  // Everything about a VirtualHome task but its goals and prompts.
  void add_scene(const std::string& id, const Json& before, const Json& after, const std::string& gold) const {
    write(graph(id), Json{{"init_graph", before}, {"final_graph", after}}.dump());
    write(program(id), gold);
  }

  static Json node(int id, const std::string& name, const std::string& category,
                   const std::vector<std::string>& properties, const std::vector<std::string>& states) {
    return {{"id", id},         {"class_name", name},     {"category", category},   {"properties", properties},
            {"states", states}, {"prefab_name", nullptr}, {"bounding_box", nullptr}};
  }
  static Json edge(int from, const std::string& relation, int to) {
    return {{"from_id", from}, {"relation_type", relation}, {"to_id", to}};
  }

 private:
  std::filesystem::path data() const {
    return virtualhome() / "dataset" / "programs_processed_precond_nograb_morepreconds";
  }

  // A lamp on a table is to be switched on; in the second task a cup is to be put on the table, and there are two
  // goals.
  void write_virtualhome() const {
    const Json household = {node(201, "dining_room", "Rooms", {}, {"CLEAN"}),
                            node(319, "home_office", "Rooms", {}, {"CLEAN"}),
                            node(65, "character", "Characters", {}, {}),
                            node(230, "table", "Furniture", {"SURFACES", "MOVABLE"}, {"CLEAN"})};
    const Json places = {edge(65, "INSIDE", 201), edge(230, "INSIDE", 201)};

    Json before = {{"nodes", household}, {"edges", places}};
    before["nodes"].push_back(node(1000, "lamp", "Lamps", {"HAS_SWITCH", "HAS_PLUG"}, {"OFF", "PLUGGED_IN", "CLEAN"}));
    before["edges"].push_back(edge(1000, "INSIDE", 201));
    before["edges"].push_back(edge(1000, "ON", 230));
    Json after = before;
    after["nodes"][4]["states"] = {"CLEAN", "PLUGGED_IN", "ON"};
    after["edges"].push_back(edge(65, "CLOSE", 1000));
    add_scene("1_1", before, after,
              "Turn on lamp\nGo and switch it on.\n\n\n[WALK] <lamp> (1.1000)\n[SWITCHON] <lamp> (1.1000)\n");

    before = {{"nodes", household}, {"edges", places}};
    before["nodes"][3]["states"] = {"DIRTY"};
    before["nodes"].push_back(node(1000, "cup", "placable_objects", {"GRABBABLE", "MOVABLE", "RECIPIENT"}, {"CLEAN"}));
    before["edges"].push_back(edge(1000, "INSIDE", 319));
    after = before;
    after["edges"].erase(2);
    after["edges"].push_back(edge(1000, "INSIDE", 201));
    after["edges"].push_back(edge(1000, "ON", 230));
    add_scene(
        "2_1", before, after,
        "Set up table\nPut the cup there.\n\n\n[WALK] <cup> (1.1000)\n[GRAB] <cup> (1.1000)\n[WALK] <table> (1.230)\n"
        "[PUTBACK] <cup> (1.1000) <table> (1.230)\n");

    const Json tasks = {
        {"scene_1",
         {{"Turn on lamp",
           {{"1_1",
             {{"vh_goal",
               {{"actions", Json::array()},
                {"goal",
                 {{{"id", 1000}, {"class_name", "lamp"}, {"state", "ON"}},
                  {{"id", 1000}, {"class_name", "lamp"}, {"state", "PLUGGED_IN"}}}}}},
              {"tl_goal", "(ON(lamp.1000) and PLUGGED_IN(lamp.1000))"}}}}},
          {"Set up table",
           {{"2_1",
             {{"vh_goal",
               {{"actions", {"GRAB"}}, {"goal", {{{"from_id", 1000}, {"relation_type", "ON"}, {"to_id", 230}}}}}},
              {"tl_goal", "(exists x0. (GRAB(x0)) then (ONTOP(cup.1000, table.230)))"}}}}}}}};
    write(task_file(), tasks.dump(1));
    write(action_template(),
          "prompt = \"\"\"\nWrite [object, object_id] pairs.\n\nInput:\nThe relevant objects in the scene "
          "are:\n<object_in_scene>\n\n"
          "The current environment state is\n<cur_change>\n\nNode goals are:\n<node_goals>\n\nEdge goals "
          "are:\n<edge_goals>\n\n"
          "Action goals are:\n<action_goals>\n\nOutput:\n\"\"\"\n\nif __name__ == \"__main__\":\n    pass\n");
    const auto subgoals = [](const std::string& task, const std::string& objects, const std::string& start,
                             const std::string& goal, const std::string& actions) {
      return "Now, it is time for you to generate the subgoal plan for the following task.\n# Target Task: Task "
             "category is " +
             task + "\n\n## Relevant Objects in the Scene\n" + objects + "\n## Initial States\n" + start +
             "\n## Goal States\n[States]\n" + goal +
             "\n[Actions Must Include]: Actions are listed in the execution order, each line is one action to satisfy. "
             "If "
             "\"A or B or ...\" is presented in one line, then only one of them needs to be satisfied.\n" +
             actions + "\n\n## Necessity to Use Actions\n" + (actions == "None" ? "No" : "Yes") +
             "\n\n## Output: Based on initial states in this task, achieve final goal states logically and "
             "reasonably.\n";
    };
    const Json prompts = {
        {{"identifier", "scene_1_1_1"},
         {"llm_prompt",
          subgoals("Turn on lamp",
                   "| character.65 | Characters | [] |\n| lamp.1000 | Lamps | ['HAS_PLUG', 'HAS_SWITCH'] |\n",
                   "CLEAN(lamp.1000)\nOFF(lamp.1000)\nPLUGGED_IN(lamp.1000)\n", "ON(lamp.1000)\nPLUGGED_IN(lamp.1000)",
                   "None")}},
        {{"identifier", "scene_1_2_1"},
         {"llm_prompt",
          subgoals(
              "Set up table",
              "| dining_room.201 | Rooms | [] |\n| home_office.319 | Rooms | [] |\n| table.230 | Furniture | "
              "['MOVABLE', 'SURFACES'] |\n| cup.1000 | placable_objects | ['GRABBABLE', 'MOVABLE', 'RECIPIENT'] |\n",
              "INSIDE(cup.1000, home_office.319)\n", "ONTOP(cup.1000, table.230)", "GRAB")}}};
    const std::filesystem::path folder = virtualhome() / "evaluation" / "subgoal_decomposition" / "prompts";
    write(folder / "helm_prompts.json", prompts.dump(1));
    write(folder / "system_setup.json", R"({"system_prompt": "You decompose goals.", "stop_sequences": ["}"]})");
  }

  // A printer is to stand on a table and to be on; a strawberry is to be in a jar.
  void write_behavior() const {
    const std::string printer = "installing_a_printer_0_Pomaria_0_int_0_2021-06-08_18-33-07";
    const Json actions = {
        {{"identifier", printer},
         {"llm_prompt",
          "Your task:\nInput:\ninitial environment state:\n['onfloor', 'printer_0', 'room_floor_home_office_0']\n"
          "['not', 'toggled_on', 'printer_0']\n['onfloor', 'agent.n.01_1', 'room_floor_home_office_0']\n\n\n"
          "target environment state:\n['ontop', 'printer_0', 'breakfast_table_3']\n['toggled_on', 'printer_0']\n\n\n"
          "interactable objects:\n{'name': 'printer_0', 'category': 'printer.n.03'}\n"
          "{'name': 'room_floor_home_office_0', 'category': 'floor.n.01'}\n"
          "{'name': 'breakfast_table_3', 'category': 'table.n.02'}\n\n\nPlease output the list.\n\nOutput:\n"}}};
    const Json subgoals = {
        {{"identifier", printer},
         {"llm_prompt",
          "Now, it is time.\n# Target Task: installing_a_printer\n## Relevant objects in this scene\n"
          "{'name': 'printer.0', 'category': 'printer_n_03'}\n"
          "{'name': 'room_floor_home_office.0', 'category': 'floor_n_01'}\n"
          "{'name': 'breakfast_table.3', 'category': 'table_n_02'}\n\n## Initial States\n"
          "onfloor(printer.0, room_floor_home_office.0)\nnot toggledon(printer.0)\n"
          "onfloor(agent_n_01.1, room_floor_home_office.0)\n\n## Goal States\nontop(printer.0, breakfast_table.3)\n"
          "toggledon(printer.0)\n\n## Output: Based on initial states.\n"}}};
    const std::filesystem::path evaluation = behavior() / "evaluation";
    write(evaluation / "action_sequencing" / "resources" / "prompts" / "helm_prompts.json", actions.dump(1));
    write(evaluation / "action_sequencing" / "resources" / "human_annotations" / (printer + ".json"),
          R"([{"action": "RIGHT_GRASP", "object": "printer_0"}, {"action": "TOGGLE_ON", "object": "printer_0"}])");
    const std::filesystem::path resources = evaluation / "subgoal_decomposition" / "resources";
    write(resources / "prompts" / "helm_prompts.json", subgoals.dump(1));
    write(resources / "prompts" / "system_setup.json", R"({"system_prompt": "You decompose goals."})");
    write(evaluation / "transition_modeling" / "resources" / "pddl_behavior" / (printer + ".pddl"),
          "(define (problem p) (:domain igibson) (:objects printer.n.03_1 - printer.n.03 floor.n.01_1 - floor.n.01 "
          "table.n.02_1 - table.n.02)\n(:init (onfloor printer.n.03_1 floor.n.01_1) (inroom floor.n.01_1 home_office) "
          "(inroom table.n.02_1 home_office)) (:goal (and)))");
  }

  std::filesystem::path root_;
};

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_EAI_CHECKOUT_H_
