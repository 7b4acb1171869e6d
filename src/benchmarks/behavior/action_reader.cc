// The prompt's constant part holds an example in the same form, so the last section of each kind counts: facts and
// goals as Python lists of words, objects as Python dictionaries.
#include "benchmarks/behavior/action_reader.h"

#include <string>
#include <utility>
#include <vector>

#include "benchmarks/behavior/prompt_scene.h"
#include "benchmarks/prompt_lines.h"
#include "support/str_cat.h"

namespace metactrl::benchmarks::behavior {

namespace {

using internal::str_cat;
using prompt::Atom;
using prompt::PromptScene;

bool names_agent(const Atom& atom) { return !atom.arguments.empty() && atom.arguments[0].starts_with("agent.n.01"); }

std::vector<std::string> words_of(const PromptLines& lines, std::string_view line) {
  std::vector<std::string> words;
  if (!read_word_list(line, words) || words.empty()) {
    lines.fail(str_cat("'", line, "' is not a list of words"), "write for example ['inside', 'jar_0', 'fridge_1']");
  }
  return words;
}

void read_init(PromptLines& lines, PromptScene& scene) {
  while (!lines.at_end() && lines.peek() != "target environment state:") {
    const std::string_view line = lines.take();
    if (line.empty()) continue;
    std::vector<std::string> words = words_of(lines, line);
    Atom atom;
    atom.negated = words.front() == "not";
    if (atom.negated) words.erase(words.begin());
    if (!words.empty()) atom.predicate = words.front();
    const std::optional<std::size_t> arguments = prompt::arity(atom.predicate);
    if (!arguments || words.size() != *arguments + 1) lines.fail(str_cat("'", line, "' is not a fact"));
    atom.arguments.assign(words.begin() + 1, words.end());
    if (!names_agent(atom)) scene.init.push_back(std::move(atom));
  }
}

void read_goals(PromptLines& lines, PromptScene& scene) {
  while (!lines.at_end() && lines.peek() != "interactable objects:") {
    const std::string_view line = lines.take();
    if (line.empty()) continue;
    try {
      scene.goals.push_back(prompt::read_flat_goal(words_of(lines, line)));
    } catch (const prompt::ReadError& error) {
      lines.fail(str_cat("goal ", line, ": ", error.what()));
    }
  }
}

}  // namespace

PromptScene read_behavior_actions_scene(std::string_view text) {
  PromptLines lines(text);
  PromptScene scene;
  lines.skip_past_last("initial environment state:");
  read_init(lines, scene);
  lines.skip_past("target environment state:");
  read_goals(lines, scene);
  lines.skip_past("interactable objects:");
  prompt::read_objects(lines, scene, "Please output");
  declare_missing_objects(scene);
  return scene;
}

PromptTask read_behavior_actions(std::string_view text, Rules rules) {
  const PromptScene scene = read_behavior_actions_scene(text);
  return rules == Rules::kEnvironment ? environment_problem(scene, prompt::Module::kActions)
                                      : paper_problem(scene, prompt::Module::kActions);
}

}  // namespace metactrl::benchmarks::behavior
