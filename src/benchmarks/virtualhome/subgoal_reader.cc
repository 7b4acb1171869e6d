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
#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "benchmarks/prompt_lines.h"
#include "benchmarks/virtualhome/prompt_reader.h"
#include "benchmarks/virtualhome/prompt_scene.h"
#include "support/str_cat.h"

namespace metactrl::benchmarks::virtualhome {

using internal::str_cat;

namespace {

// A relation in the words of the executor; empty for other names.
std::string relation(std::string_view predicate) {
  if (predicate == "ONTOP") return "ON";
  if (predicate == "NEXT_TO") return "CLOSE";
  constexpr std::array<std::string_view, 5> kSame = {"INSIDE", "FACING", "HOLDS_RH", "HOLDS_LH", "BETWEEN"};
  for (const std::string_view name : kSame) {
    if (predicate == name) return std::string(name);
  }
  return {};
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
  if (!is_plain_name(object.name) || object.id.empty() ||
      object.id.find_first_not_of("0123456789") != std::string::npos) {
    lines_.fail(str_cat("'", dotted, "' cannot be an object"),
                "objects are written NAME.NUMBER; names are lower-case letters, digits and underscores");
  }
  if (!by_name_.emplace(dotted, scene_.objects.size()).second) {
    lines_.fail(str_cat(dotted, " is listed twice"), "remove one of the lines");
  }
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
  const std::string edge = relation(predicate);
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
  std::vector<std::string> options;
  for (const std::string_view option : split(line, " or ")) {
    const std::string_view word = trim(option);
    if (word.empty() || word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != std::string_view::npos) {
      lines_.fail(str_cat("'", line, "' is not an action goal"), "action goals are written ACTION or ACTION");
    }
    options.emplace_back(word);
  }
  scene_.action_goals.push_back(std::move(options));
}

}  // namespace

PromptTask read_subgoals_prompt(std::string_view prompt) {
  ProblemStyle style;
  style.domain = "virtualhome-subgoals";
  style.character_is_object = true;
  return make_problem(SubgoalPromptReader(prompt).read(), style);
}

}  // namespace metactrl::benchmarks::virtualhome
