// Sections with headings; objects are dictionaries as in action sequencing, facts and goals are written as functions:
// inside(jar.0, fridge.1), not open(jar.0), forall(jar_n_01, (not open(jar_n_01))). Names become those of action
// sequencing: jar_0, jar.n.01.
#include "benchmarks/behavior/subgoal_reader.h"

#include <string>
#include <utility>

#include "benchmarks/behavior/prompt_scene.h"
#include "benchmarks/prompt_lines.h"
#include "support/str_cat.h"

namespace metactrl::benchmarks::behavior {

namespace {

using internal::str_cat;
using prompt::Goal;
using prompt::PromptScene;

constexpr std::string_view kTitle = "# Target Task:";
constexpr std::string_view kOutput = "## Output";

Goal read_condition(const PromptLines& lines, std::string_view line) {
  try {
    return prompt::read_bracketed_goal(line);
  } catch (const prompt::ReadError& error) {
    lines.fail(str_cat("'", line, "': ", error.what()));
  }
}

void read_init(PromptLines& lines, PromptScene& scene) {
  while (!lines.at_end() && lines.peek() != "## Goal States") {
    const std::string_view line = lines.take();
    if (line.empty()) continue;
    Goal fact = read_condition(lines, line);
    const bool negated = fact.kind == Goal::Kind::kNot;
    if (negated) fact = Goal(std::move(fact.children[0]));
    if (fact.kind != Goal::Kind::kAtom) lines.fail(str_cat("'", line, "' is not a fact"));
    fact.atom.negated = negated;
    if (!fact.atom.arguments[0].starts_with("agent_n_01")) scene.init.push_back(std::move(fact.atom));
  }
}

}  // namespace

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
  read_init(lines, scene);
  lines.skip_past("## Goal States");
  while (!lines.at_end() && !lines.peek().starts_with(kOutput)) {
    const std::string_view line = lines.take();
    if (!line.empty()) scene.goals.push_back(read_condition(lines, line));
  }
  declare_missing_objects(scene);
  return scene;
}

PromptTask read_behavior_subgoals(std::string_view text, Rules rules) {
  const PromptScene scene = read_behavior_subgoals_scene(text);
  return rules == Rules::kEnvironment ? environment_problem(scene, prompt::Module::kSubgoals)
                                      : paper_problem(scene, prompt::Module::kSubgoals);
}

}  // namespace metactrl::benchmarks::behavior
