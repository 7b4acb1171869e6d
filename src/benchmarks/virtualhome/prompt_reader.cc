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
//
// The user's part of the prompt of subgoal decomposition:
//
//     # Target Task: Task category is Watch TV
//
//     ## Relevant Objects in the Scene
//     | couch.352 | Furniture | ['LIEABLE', 'SITTABLE'] |
//
//     ## Initial States
//     OFF(television.410)
//     INSIDE(character.65, dining_room.201)
//
//     ## Goal States
//     [States]
//     ON(television.410)
//     [Actions Must Include]: Actions are listed in the execution order, ...
//     LOOKAT or WATCH
//
//     ## Necessity to Use Actions
//
// Objects have their numbers throughout, and rooms their category. "None" stands for an empty section.
#include "benchmarks/virtualhome/prompt_reader.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/prompt_lines.h"
#include "benchmarks/virtualhome/prompt_scene.h"
#include "support/words.h"

namespace metactrl::benchmarks::virtualhome {

namespace {

// Rooms, by the names that the environment gives them. Prompts of action sequencing do not show categories.
bool is_room_name(std::string_view name) {
  constexpr std::array<std::string_view, 9> kRooms = {"bathroom",      "bedroom",     "dining_room",
                                                      "entrance_hall", "home_office", "kids_bedroom",
                                                      "kitchen",       "living_room", "livingroom"};
  return std::find(kRooms.begin(), kRooms.end(), name) != kRooms.end();
}

bool is_rule(std::string_view line) {
  return line.size() >= 3 && line.find_first_not_of('-') == std::string_view::npos;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// In the words of the executor; empty for what is no relation.
std::string relation(std::string_view word) {
  if (word == "NEAR") return "CLOSE";
  constexpr std::array<std::string_view, 7> kSame = {"ON",       "INSIDE",   "CLOSE",  "FACING",
                                                     "HOLDS_RH", "HOLDS_LH", "BETWEEN"};
  return std::find(kSame.begin(), kSame.end(), word) == kSame.end() ? std::string() : std::string(word);
}

// The same of a relation between two things as subgoals write it.
std::string subgoal_relation(std::string_view predicate) {
  if (predicate == "ONTOP") return "ON";
  if (predicate == "NEXT_TO") return "CLOSE";
  return predicate == "ON" || predicate == "CLOSE" || predicate == "NEAR" ? std::string() : relation(predicate);
}

// The actions of a goal line.
std::vector<std::string> action_options(const PromptLines& lines, std::string_view line, std::string_view separator) {
  std::vector<std::string> options;
  for (const std::string_view option : split(line, separator)) {
    const std::string_view word = trim(option);
    if (word.empty() || word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != std::string_view::npos) {
      lines.fail(str_cat("'", line, "' is not an action goal"), "action goals are written ACTION or ACTION");
    }
    options.emplace_back(word);
  }
  return options;
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
  if (to == std::string_view::npos || relation(line.substr(is + 4, to - is - 4)).empty()) {
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
  if (to == std::string_view::npos || relation(line.substr(is + 4, to - is - 4)).empty()) {
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
  const bool raw = line.find('|') != std::string_view::npos;
  std::vector<std::string> options = action_options(lines_, line, raw ? "|" : " or ");
  const std::string joined = join(options, "|");
  if (joined == last_action_goal_) {
    last_action_goal_.clear();
    return;
  }
  last_action_goal_ = joined;
  if (std::find(scene_.action_goals.begin(), scene_.action_goals.end(), options) == scene_.action_goals.end()) {
    scene_.action_goals.push_back(std::move(options));
  }
}

class SubgoalPromptReader {
 public:
  explicit SubgoalPromptReader(std::string_view prompt) : lines_(prompt) {}

  PromptScene read() {
    read_title();
    while (!at_section()) read_object(lines_.take());
    lines_.skip_past("## Initial States");
    while (!at_section()) read_fact(lines_.take(), false);
    lines_.skip_past("## Goal States");
    lines_.skip_past("[States]");
    while (!at_section() && !lines_.peek().starts_with("[Actions Must Include]")) read_fact(lines_.take(), true);
    if (lines_.at_end() || lines_.peek().starts_with("##")) {
      lines_.fail("no line '[Actions Must Include]' follows", "is the prompt complete?");
    }
    lines_.take();
    while (!at_section()) read_actions(lines_.take());
    if (lines_.at_end()) lines_.fail("the goals have no end", "is the prompt complete?");
    return std::move(scene_);
  }

 private:
  bool at_section() const { return lines_.at_end() || lines_.peek().starts_with("## "); }

  void read_title() {
    constexpr std::string_view kTitle = "# Target Task: Task category is ";
    PromptLines from_start = lines_;
    lines_.skip_past_last("## Relevant Objects in the Scene");
    const std::size_t objects = lines_.line();
    while (from_start.line() < objects) {
      const std::string_view line = from_start.take();
      if (line.starts_with(kTitle)) scene_.title = trim(line.substr(kTitle.size()));
    }
  }

  void read_object(std::string_view line);
  void read_fact(std::string_view line, bool is_goal);
  void read_actions(std::string_view line);
  std::size_t find(std::string_view dotted) const;

  PromptLines lines_;
  PromptScene scene_;
  std::map<std::string, std::size_t, std::less<>> by_name_;  // "name.id" -> object
};

void SubgoalPromptReader::read_object(std::string_view line) {
  if (line.empty() || line.starts_with("| obj |") || line.starts_with("| --- |")) return;
  const std::vector<std::string_view> cells = split(line, "|");
  PromptScene::Object object;
  if (cells.size() != 5 || !read_word_list(cells[3], object.properties)) {
    lines_.fail(str_cat("'", line, "' is not an object"), "objects are listed as | NAME.NUMBER | CATEGORY | [...] |");
  }
  const std::string_view dotted = trim(cells[1]);
  const std::size_t dot = dotted.rfind('.');
  object.name = dotted.substr(0, dot);
  object.id = dot == std::string_view::npos ? std::string_view() : dotted.substr(dot + 1);
  if (!is_plain_name(object.name) || !is_number(object.id)) {
    lines_.fail(str_cat("'", dotted, "' cannot be an object"),
                "objects are written NAME.NUMBER; names are lower-case letters, digits and underscores");
  }
  if (!by_name_.emplace(dotted, scene_.objects.size()).second) {
    lines_.fail(str_cat(dotted, " is listed twice"), "remove one of the lines");
  }
  // A name in a condition begins with a letter, an underscore or a hyphen, and goes on without hyphens.
  object.spoken = object.name.find('-', 1) == std::string::npos;
  if (!object.spoken) scene_.notes.push_back(str_cat("no condition can name ", dotted, ": its name holds a hyphen"));
  object.character = trim(cells[2]) == "Characters" || object.name == "character";
  object.room = trim(cells[2]) == "Rooms";
  scene_.objects.push_back(std::move(object));
}

std::size_t SubgoalPromptReader::find(std::string_view dotted) const {
  const auto found = by_name_.find(dotted);
  return found == by_name_.end() ? scene_.objects.size() : found->second;
}

void SubgoalPromptReader::read_fact(std::string_view line, bool is_goal) {
  if (line.empty() || line == "None") return;
  const std::size_t open = line.find('(');
  if (open == std::string_view::npos || line.back() != ')' || !is_word(line.substr(0, open))) {
    lines_.fail(str_cat("'", line, "' is not a state"), "states are written STATE(NAME.NUMBER)");
  }
  const std::string_view predicate = line.substr(0, open);
  const std::vector<std::string_view> words = split(line.substr(open + 1, line.size() - open - 2), ",");
  std::vector<std::size_t> arguments;
  for (const std::string_view word : words) arguments.push_back(find(trim(word)));
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (arguments[i] != scene_.objects.size()) continue;
    if (!is_goal) {
      scene_.notes.push_back(str_cat("a state names an object that is not listed: ", line));
    } else {
      scene_.lost_goals.push_back({lines_.line(), std::string(line)});
    }
    return;
  }
  const std::string edge = subgoal_relation(predicate);
  if (arguments.size() == 1 && edge.empty()) {
    if (is_goal) {
      scene_.node_goals.push_back({arguments[0], std::string(predicate)});
    } else {
      scene_.objects[arguments[0]].states.emplace_back(predicate);
    }
  } else if (arguments.size() == 2 && !edge.empty()) {
    (is_goal ? scene_.edge_goals : scene_.edges).push_back({arguments[0], edge, arguments[1]});
  } else {
    lines_.fail(str_cat("'", line, "' is not a state of the vocabulary"),
                "a state has one argument, a relation (ONTOP, INSIDE, NEXT_TO, FACING, HOLDS_RH, HOLDS_LH) two");
  }
}

void SubgoalPromptReader::read_actions(std::string_view line) {
  if (line.empty() || line == "None") return;
  scene_.action_goals.push_back(action_options(lines_, line, " or "));
}

}  // namespace

PromptScene read_actions_scene(std::string_view prompt) { return ActionPromptReader(prompt).read(); }

// The paper's state has bits for "ordered action goals"; the evaluator's order is that of a hash.
PromptTask read_actions_prompt(std::string_view prompt, Rules rules) {
  return make_problem(read_actions_scene(prompt),
                      {.domain = "virtualhome-actions",
                       .character_is_object = false,
                       .order = rules == Rules::kEnvironment ? ActionOrder::kEither : ActionOrder::kPrompt,
                       .can_stand_up = true});
}

PromptTask read_subgoals_prompt(std::string_view prompt) {
  return make_problem(SubgoalPromptReader(prompt).read(), {.domain = "virtualhome-subgoals",
                                                           .character_is_object = true,
                                                           .order = ActionOrder::kTracked,
                                                           .can_stand_up = false});
}

}  // namespace metactrl::benchmarks::virtualhome
