// Both modules list objects as Python dictionaries.
//
// Action sequencing writes facts and goals as Python lists of words. The prompt's constant part holds an example in the
// same form, so the last section of each kind counts.
//
// Subgoal decomposition has sections with headings, and writes facts and goals as functions: inside(jar.0, fridge.1),
// not open(jar.0), forall(jar_n_01, (not open(jar_n_01))). Names become those of action sequencing: jar_0, jar.n.01.
#include "benchmarks/behavior/prompt_reader.h"

#include <string>
#include <utility>
#include <vector>

#include "benchmarks/prompt_lines.h"
#include "support/words.h"

namespace metactrl::benchmarks::behavior {

namespace {

using prompt::Atom;
using prompt::Goal;
using prompt::PromptScene;

constexpr std::string_view kTitle = "# Target Task:";

// Calls read(line) for what stands before the line `end`, empty lines left out.
template <typename Read>
void read_lines(PromptLines& lines, std::string_view end, const Read& read) {
  while (!lines.at_end() && lines.peek() != end) {
    if (const std::string_view line = lines.take(); !line.empty()) read(line);
  }
}

std::vector<std::string> words_of(const PromptLines& lines, std::string_view line) {
  std::vector<std::string> words;
  if (!read_word_list(line, words) || words.empty()) {
    lines.fail(str_cat("'", line, "' is not a list of words"), "write for example ['inside', 'jar_0', 'fridge_1']");
  }
  return words;
}

Atom read_fact(const PromptLines& lines, std::string_view line) {
  std::vector<std::string> words = words_of(lines, line);
  Atom atom;
  atom.negated = words.front() == "not";
  if (atom.negated) words.erase(words.begin());
  if (!words.empty()) atom.predicate = words.front();
  const std::optional<std::size_t> arguments = prompt::arity(atom.predicate);
  if (!arguments || words.size() != *arguments + 1) lines.fail(str_cat("'", line, "' is not a fact"));
  atom.arguments.assign(words.begin() + 1, words.end());
  return atom;
}

Goal read_condition(const PromptLines& lines, std::string_view line) {
  try {
    return prompt::read_bracketed_goal(line);
  } catch (const prompt::ReadError& error) {
    lines.fail(str_cat("'", line, "': ", error.what()));
  }
}

PromptTask problem(const PromptScene& scene, Rules rules, prompt::Module module) {
  return rules == Rules::kEnvironment ? environment_problem(scene, module) : paper_problem(scene, module, rules);
}

}  // namespace

PromptScene read_behavior_actions_scene(std::string_view text) {
  PromptLines lines(text);
  PromptScene scene;
  lines.skip_past_last("initial environment state:");
  read_lines(lines, "target environment state:", [&](std::string_view line) {
    Atom atom = read_fact(lines, line);
    if (!atom.arguments[0].starts_with("agent.n.01")) scene.init.push_back(std::move(atom));
  });
  lines.skip_past("target environment state:");
  read_lines(lines, "interactable objects:", [&](std::string_view line) {
    try {
      scene.goals.push_back(prompt::read_flat_goal(words_of(lines, line)));
    } catch (const prompt::ReadError& error) {
      lines.fail(str_cat("goal ", line, ": ", error.what()));
    }
  });
  lines.skip_past("interactable objects:");
  prompt::read_objects(lines, scene, "Please output");
  declare_missing_objects(scene);
  return scene;
}

PromptScene read_behavior_subgoals_scene(std::string_view text) {
  PromptLines lines(text);
  PromptScene scene;
  while (!lines.at_end() && !lines.peek().starts_with(kTitle)) lines.take();
  if (lines.at_end()) PromptLines::fail_at(0, str_cat("no line begins with '", kTitle, "'"));
  scene.title = trim(lines.take().substr(kTitle.size()));
  lines.skip_past("## Relevant objects in this scene");
  prompt::read_objects(lines, scene, "## Initial States");
  for (prompt::PromptObject& object : scene.objects) {
    object.name = prompt::object_from_dotted(object.name);
    object.synset = prompt::synset_from_underscored(object.synset);
  }
  lines.skip_past("## Initial States");
  read_lines(lines, "## Goal States", [&](std::string_view line) {
    Goal fact = read_condition(lines, line);
    const bool negated = fact.kind == Goal::Kind::kNot;
    if (negated) fact = Goal(std::move(fact.children[0]));
    if (fact.kind != Goal::Kind::kAtom) lines.fail(str_cat("'", line, "' is not a fact"));
    fact.atom.negated = negated;
    if (!fact.atom.arguments[0].starts_with("agent_n_01")) scene.init.push_back(std::move(fact.atom));
  });
  lines.skip_past("## Goal States");
  while (!lines.at_end() && !lines.peek().starts_with("## Output")) {
    if (const std::string_view line = lines.take(); !line.empty()) scene.goals.push_back(read_condition(lines, line));
  }
  declare_missing_objects(scene);
  return scene;
}

PromptTask read_behavior_actions(std::string_view text, Rules rules) {
  return problem(read_behavior_actions_scene(text), rules, prompt::Module::kActions);
}

PromptTask read_behavior_subgoals(std::string_view text, Rules rules) {
  return problem(read_behavior_subgoals_scene(text), rules, prompt::Module::kSubgoals);
}

}  // namespace metactrl::benchmarks::behavior
