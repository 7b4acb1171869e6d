// Small prompts in the form of the VirtualHome modules.
//
//     House house = living_room();
//     house.node_goals = "tv is OFF\n";
//     read_actions_prompt(house.prompt());
//
// The frames follow the prompt templates of the Embodied Agent Interface benchmark
// (https://github.com/embodied-agent-interface/embodied-agent-interface, MIT licence); the houses are our own.
#ifndef METACTRL_TESTS_SUPPORT_VIRTUALHOME_PROMPTS_H_
#define METACTRL_TESTS_SUPPORT_VIRTUALHOME_PROMPTS_H_

#include <string>

namespace metactrl::testing {

// A prompt of action sequencing. Every part is a list of lines that end with a line break.
struct House {
  std::string objects;
  std::string nodes;
  std::string edges;
  std::string node_goals;
  std::string edge_goals;
  std::string action_goals;

  std::string prompt() const {
    return "The input is given as follows.\n\nObjects in the scene:\n<object_name> (object_id)\n-----------------\n\n"
           "Input:\nThe relevant objects in the scene are:\nObjects in the scene:\n" +
           objects + "-----------------\n\n\nThe current environment state is\nNodes:\n" + nodes + "\nEdges:\n" +
           edges + "-----------------\n\n\nNode goals are:\n" + node_goals +
           "-----------------\n\n\nEdge goals are:\n" + edge_goals + "-----------------\n\n\nAction goals are:\n" +
           (action_goals.empty()
                ? "There is no action requirement.\n"
                : "The following action(s) should be included:\n" + action_goals + "-----------------\n") +
           "\n\nPlease output the list of action commands in json format.\n\nOutput:\n";
  }
};

inline const std::string kTvProperties = "['HAS_SWITCH', 'HAS_PLUG', 'LOOKABLE']";

// The television is off, and nobody knows whether the robot sits.
inline House living_room() {
  House house;
  house.objects =
      "character, id: 65, properties: []\n"
      "kitchen, id: 11, properties: []\n"
      "tv, id: 410, properties: " +
      kTvProperties +
      "\n"
      "couch, id: 352, properties: ['SITTABLE', 'LIEABLE', 'MOVABLE']\n";
  house.nodes = "tv, states: ['OFF', 'CLEAN', 'PLUGGED_IN'], properties:" + kTvProperties + "\n";
  house.edges = "<character> (65) is INSIDE to <kitchen> (11)\n";
  house.node_goals = "tv is ON\n";
  return house;
}

// A prompt of subgoal decomposition; the same television.
struct Flat {
  std::string objects = "| tv.410 | Electronics | ['HAS_PLUG', 'HAS_SWITCH'] |\n| character.65 | Characters | [] |\n";
  std::string states = "OFF(tv.410)\nPLUGGED_IN(tv.410)\n";
  std::string goals = "ON(tv.410)\n";
  std::string actions = "None\n";

  std::string prompt() const {
    return "Now, it is time for you to generate the subgoal plan for the following task.\n"
           "# Target Task: Task category is Watch TV\n\n## Relevant Objects in the Scene\n" +
           objects + "\n## Initial States\n" + states + "\n## Goal States\n[States]\n" + goals +
           "[Actions Must Include]: Actions are listed in the execution order.\n" + actions +
           "\n## Necessity to Use Actions\nNo\n\n## Output: Only output json object.\n";
  }
};

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_VIRTUALHOME_PROMPTS_H_
