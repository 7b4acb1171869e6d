// The prompt of action sequencing, behind its constant part:
//
//     Objects in the scene:
//     couch, id: 352, properties: ['SITTABLE', 'MOVABLE']
//     -----------------
//     Nodes:
//     television, states: ['OFF', 'PLUGGED_IN'], properties:['HAS_SWITCH']
//     Edges:
//     <character> (65) is INSIDE to <dining_room> (201)
//     -----------------
//     Node goals are:
//     television is ON
//     -----------------
//     Edge goals are:
//     character is FACING to television
//     -----------------
//     Action goals are:
//     The following action(s) should be included:
//     LOOKAT or WATCH
//     LOOKAT|WATCH
//     -----------------
//
// Node lines and goals name objects without their numbers. A node line is about an object of that name and those
// properties; if there are as many lines as such objects, a state that all lines show is known of all of them,
// otherwise of none. A goal is taken to be about every object of its name: whichever was meant is among them.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "benchmarks/prompt_lines.h"
#include "benchmarks/virtualhome/prompt_reader.h"
#include "benchmarks/virtualhome/prompt_scene.h"
#include "support/str_cat.h"

namespace metactrl::benchmarks::virtualhome {

using internal::str_cat;

namespace {

bool is_rule(std::string_view line) {
  return line.size() >= 3 && line.find_first_not_of('-') == std::string_view::npos;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// In the words of the executor.
std::string relation(std::string_view word) { return word == "NEAR" ? "CLOSE" : std::string(word); }

bool is_relation(std::string_view word) {
  static const std::set<std::string_view> kRelations = {"ON",     "INSIDE",   "CLOSE",    "NEAR",
                                                        "FACING", "HOLDS_RH", "HOLDS_LH", "BETWEEN"};
  return kRelations.contains(word);
}

class ActionPromptReader {
 public:
  explicit ActionPromptReader(std::string_view prompt) : lines_(prompt) {}

  PromptScene read() {
    lines_.skip_past_last("Objects in the scene:");
    until_rule([&](std::string_view line) { read_object(line); });
    lines_.skip_past("Nodes:");
    while (!lines_.at_end() && lines_.peek() != "Edges:") {
      if (const std::string_view line = lines_.take(); !line.empty()) read_node(line);
    }
    if (lines_.at_end()) lines_.fail("no line 'Edges:' follows", "is the prompt complete?");
    lines_.take();
    until_rule([&](std::string_view line) { read_edge(line); });
    settle_states();
    lines_.skip_past("Node goals are:");
    until_rule([&](std::string_view line) { read_node_goal(line); });
    lines_.skip_past("Edge goals are:");
    until_rule([&](std::string_view line) { read_edge_goal(line); });
    lines_.skip_past("Action goals are:");
    read_action_goals();
    return std::move(scene_);
  }

 private:
  template <typename Read>
  void until_rule(const Read& read) {
    while (!lines_.at_end()) {
      const std::string_view line = lines_.take();
      if (is_rule(line)) return;
      if (!line.empty()) read(line);
    }
    lines_.fail("the section has no end", "a line of dashes ends each section");
  }

  void read_object(std::string_view line);
  void read_node(std::string_view line);
  void read_edge(std::string_view line);
  void settle_states();
  void read_node_goal(std::string_view line);
  void read_edge_goal(std::string_view line);
  void read_action_goals();
  void read_action_goal(std::string_view line);
  std::vector<std::size_t> objects_named(std::string_view name) const;
  std::size_t endpoint(std::string_view text) const;
  void note_if_ambiguous(std::string_view line, std::string_view name, std::size_t count);

  PromptLines lines_;
  PromptScene scene_;
  std::map<std::string, std::size_t, std::less<>> by_endpoint_;  // "<name> (id)" -> object
  // (name, sorted properties) -> the states of each node line
  std::map<std::pair<std::string, std::vector<std::string>>, std::vector<std::vector<std::string>>> nodes_;
  std::string last_action_goal_;
};

void ActionPromptReader::read_object(std::string_view line) {
  constexpr std::string_view kForm = "NAME, id: NUMBER, properties: ['A', 'B']";
  const std::size_t id = line.find(", id: ");
  const std::size_t properties = line.find(", properties:");
  PromptScene::Object object;
  if (id == std::string_view::npos || properties == std::string_view::npos || properties < id ||
      !read_word_list(line.substr(properties + 13), object.properties)) {
    lines_.fail(str_cat("'", line, "' is not an object"), str_cat("objects are listed as ", kForm));
  }
  object.name = line.substr(0, id);
  object.id = trim(line.substr(id + 6, properties - id - 6));
  if (!is_plain_name(object.name) || !is_number(object.id)) {
    lines_.fail(str_cat("'", object.name, "' with number '", object.id, "' cannot be an object"),
                "names are lower-case letters, digits and underscores");
  }
  if (!by_endpoint_.emplace(str_cat("<", object.name, "> (", object.id, ")"), scene_.objects.size()).second) {
    lines_.fail(str_cat(object.name, " (", object.id, ") is listed twice"), "remove one of the lines");
  }
  object.character = object.name == "character";
  object.room = object.properties.empty() && is_room_name(object.name);
  scene_.objects.push_back(std::move(object));
}

void ActionPromptReader::read_node(std::string_view line) {
  const std::size_t states = line.find(", states:");
  const std::size_t properties = line.find(", properties:");
  std::vector<std::string> shown;
  std::vector<std::string> tags;
  if (states == std::string_view::npos || properties == std::string_view::npos || properties < states ||
      !read_word_list(line.substr(states + 9, properties - states - 9), shown) ||
      !read_word_list(line.substr(properties + 13), tags)) {
    lines_.fail(str_cat("'", line, "' is not a node"), "nodes are listed as NAME, states: [...], properties:[...]");
  }
  std::sort(tags.begin(), tags.end());
  nodes_[{std::string(line.substr(0, states)), std::move(tags)}].push_back(std::move(shown));
}

void ActionPromptReader::settle_states() {
  for (const auto& [key, lines] : nodes_) {
    std::vector<PromptScene::Object*> meant;
    for (PromptScene::Object& object : scene_.objects) {
      std::vector<std::string> tags = object.properties;
      std::sort(tags.begin(), tags.end());
      if (object.name == key.first && tags == key.second) meant.push_back(&object);
    }
    if (meant.size() != lines.size()) {
      scene_.notes.push_back(str_cat("the states shown for ", key.first, " fit ", meant.size(), " objects and stand ",
                                     lines.size(), " times: they are not used"));
      continue;
    }
    for (const std::string& state : lines.front()) {
      const bool all = std::all_of(lines.begin(), lines.end(), [&](const std::vector<std::string>& shown) {
        return std::find(shown.begin(), shown.end(), state) != shown.end();
      });
      if (!all) continue;
      for (PromptScene::Object* object : meant) object->states.push_back(state);
    }
    if (key.first == "character") scene_.posture_shown = true;
  }
}

// "<name> (id)"
std::size_t ActionPromptReader::endpoint(std::string_view text) const {
  const auto found = by_endpoint_.find(text);
  return found == by_endpoint_.end() ? scene_.objects.size() : found->second;
}

void ActionPromptReader::read_edge(std::string_view line) {
  const std::size_t is = line.find(" is ");
  const std::size_t to = is == std::string_view::npos ? is : line.find(" to ", is + 4);
  if (to == std::string_view::npos || !is_relation(line.substr(is + 4, to - is - 4))) {
    lines_.fail(str_cat("'", line, "' is not an edge"),
                "edges are listed as <NAME> (NUMBER) is RELATION to <NAME> (NUMBER)");
  }
  const std::size_t first = endpoint(line.substr(0, is));
  const std::size_t second = endpoint(line.substr(to + 4));
  if (first == scene_.objects.size() || second == scene_.objects.size()) {
    scene_.notes.push_back(str_cat("an edge names an object that is not listed: ", line));
    return;
  }
  scene_.edges.push_back({first, relation(line.substr(is + 4, to - is - 4)), second});
}

std::vector<std::size_t> ActionPromptReader::objects_named(std::string_view name) const {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < scene_.objects.size(); ++i) {
    if (scene_.objects[i].name == name) result.push_back(i);
  }
  return result;
}

void ActionPromptReader::note_if_ambiguous(std::string_view line, std::string_view name, std::size_t count) {
  if (count < 2) return;
  scene_.notes.push_back(str_cat("the goal '", line, "' fits ", count, " objects named ", name, ": all are meant"));
}

void ActionPromptReader::read_node_goal(std::string_view line) {
  const std::size_t is = line.find(" is ");
  if (is == std::string_view::npos || !is_word(trim(line.substr(is + 4)))) {
    lines_.fail(str_cat("'", line, "' is not a node goal"), "node goals are written NAME is STATE");
  }
  const std::string_view name = line.substr(0, is);
  const std::vector<std::size_t> meant = objects_named(name);
  note_if_ambiguous(line, name, meant.size());
  if (meant.empty()) scene_.lost_goals.push_back({lines_.line(), std::string(line)});
  for (const std::size_t object : meant) scene_.node_goals.push_back({object, std::string(trim(line.substr(is + 4)))});
}

void ActionPromptReader::read_edge_goal(std::string_view line) {
  const std::size_t is = line.find(" is ");
  const std::size_t to = is == std::string_view::npos ? is : line.find(" to ", is + 4);
  if (to == std::string_view::npos || !is_relation(line.substr(is + 4, to - is - 4))) {
    lines_.fail(str_cat("'", line, "' is not an edge goal"), "edge goals are written NAME is RELATION to NAME");
  }
  const std::string_view from_name = line.substr(0, is);
  const std::string_view to_name = trim(line.substr(to + 4));
  const std::vector<std::size_t> first = objects_named(from_name);
  const std::vector<std::size_t> second = objects_named(to_name);
  note_if_ambiguous(line, from_name, first.size());
  note_if_ambiguous(line, to_name, second.size());
  if (first.empty() || second.empty()) scene_.lost_goals.push_back({lines_.line(), std::string(line)});
  // Of an object to itself only where the goal can mean nothing else.
  const bool only_pair = first.size() == 1 && second.size() == 1;
  for (const std::size_t a : first) {
    for (const std::size_t b : second) {
      if (a != b || only_pair) scene_.edge_goals.push_back({a, relation(line.substr(is + 4, to - is - 4)), b});
    }
  }
}

// The section has no line of dashes when there is no goal.
void ActionPromptReader::read_action_goals() {
  while (!lines_.at_end()) {
    const std::string_view line = lines_.take();
    if (is_rule(line) || line == "There is no action requirement.") return;
    if (!line.empty() && line != "The following action(s) should be included:") read_action_goal(line);
  }
  lines_.fail("the action goals have no end", "a line of dashes ends each section");
}

// Each goal stands on two lines: in words, with " or ", and as the benchmark writes it, with "|".
void ActionPromptReader::read_action_goal(std::string_view line) {
  std::vector<std::string> options;
  const bool raw = line.find('|') != std::string_view::npos;
  std::string joined;
  for (const std::string_view option : split(line, raw ? "|" : " or ")) {
    const std::string_view word = trim(option);
    if (word.empty() || word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != std::string_view::npos) {
      lines_.fail(str_cat("'", line, "' is not an action goal"), "action goals are written ACTION or ACTION");
    }
    options.emplace_back(word);
    joined += (joined.empty() ? "" : "|") + options.back();
  }
  if (joined == last_action_goal_) {
    last_action_goal_.clear();
    return;
  }
  last_action_goal_ = joined;
  if (std::find(scene_.action_goals.begin(), scene_.action_goals.end(), options) == scene_.action_goals.end()) {
    scene_.action_goals.push_back(std::move(options));
  }
}

}  // namespace

PromptTask read_actions_prompt(std::string_view prompt) {
  ProblemStyle style;
  style.domain = "virtualhome-actions";
  style.actions_in_either_order = true;
  style.can_stand_up = true;
  return make_problem(ActionPromptReader(prompt).read(), style);
}

}  // namespace metactrl::benchmarks::virtualhome
