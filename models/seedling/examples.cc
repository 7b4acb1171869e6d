// Turns scenes into training examples: reads scenes (scenes.h) on standard input, prints one JSON object per scene that
// has a plan of 1 to 16 actions.
//
//     {"prompt": "Actions: ...\nPlan:\n", "plan": "(open jar);\n", "valid": true, "steps": 1}
//
// The prompt is make_prompt's, the plan a short one (Lookahead::plan), written in the scene's format. Where the scene
// asks for a mistake, it is one that language models make:
//
//     drop     a step is left out, most often one that a later step needs
//     forget   one of the goals is not planned for
//     swap     two neighbouring steps change places
//     object   a step names another object
//     repeat   a step is written twice
//
// A scene whose plan cannot be spoiled in the way asked for keeps its plan. "valid" says what became of it.
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <optional>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/format.h"
#include "metactrl/lookahead.h"
#include "metactrl/prompt.h"
#include "scenes.h"

namespace {

using metactrl::ActionId;
using Plan = std::vector<ActionId>;

constexpr std::size_t kMaxSteps = 16;

// SplitMix64: the same numbers everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t bound) {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return static_cast<std::size_t>((z ^ (z >> 31)) % bound);
  }

 private:
  std::uint64_t state_;
};

std::optional<Plan> find_plan(const metactrl::Task& task) {
  metactrl::LookaheadOptions options;
  options.weights = false;
  options.exact.states = 500;
  options.search.states = 10'000;
  const auto lookahead = metactrl::Lookahead::compile(task, options);
  if (lookahead->verdict() != metactrl::Verdict::kSolvable) return std::nullopt;
  return lookahead->plan();
}

// Another action of the same name that differs in one argument.
std::optional<ActionId> with_other_object(const metactrl::Task& task, ActionId action, Random& random) {
  std::vector<ActionId> others;
  const auto arguments = task.arguments(action);
  for (std::uint32_t i = 0; i < task.num_actions(); ++i) {
    if (task.name_of(ActionId{i}) != task.name_of(action)) continue;
    const auto other = task.arguments(ActionId{i});
    std::size_t differences = 0;
    for (std::size_t k = 0; k < arguments.size(); ++k) differences += other[k] != arguments[k] ? 1 : 0;
    if (differences == 1) others.push_back(ActionId{i});
  }
  if (others.empty()) return std::nullopt;
  return others[random.below(others.size())];
}

void make_mistake(const metactrl::Task& task, const std::string& mistake, Random& random, Plan& plan) {
  const std::size_t at = random.below(plan.size());
  if (mistake == "drop" && plan.size() > 1) {
    plan.erase(plan.begin() + static_cast<std::ptrdiff_t>(at));
  } else if (mistake == "forget" && task.num_goals() > 1) {
    const metactrl::GoalId goal{static_cast<std::uint32_t>(random.below(task.num_goals()))};
    const auto shorter = find_plan(task.without_goals({&goal, 1}));
    if (shorter && !shorter->empty()) plan = *shorter;
  } else if (mistake == "swap" && plan.size() > 1) {
    const std::size_t first = random.below(plan.size() - 1);
    std::swap(plan[first], plan[first + 1]);
  } else if (mistake == "object") {
    if (const auto other = with_other_object(task, plan[at], random)) plan[at] = *other;
  } else if (mistake == "repeat") {
    plan.insert(plan.begin() + static_cast<std::ptrdiff_t>(at), plan[at]);
  }
}

std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

void print_example(const seedling::Scene& scene, const std::string& domain) {
  const metactrl::Task task = metactrl::load_pddl_text(domain, scene.problem);
  const metactrl::PlanSpelling spelling(metactrl::PlanFormat::builtin(scene.format), task);
  std::optional<Plan> plan = find_plan(task);
  if (!plan || plan->empty() || plan->size() > kMaxSteps) return;
  Random random(scene.seed);
  make_mistake(task, scene.mistake, random, *plan);
  const metactrl::Prompt prompt = metactrl::make_prompt(task, spelling, scene.instruction);
  std::cout << "{\"prompt\": " << json_string(prompt.user) << ", \"plan\": " << json_string(spelling.render(*plan))
            << ", \"valid\": " << (task.validate(*plan).valid ? "true" : "false") << ", \"steps\": " << plan->size()
            << "}\n";
}

}  // namespace

int main() {
  try {
    seedling::Files files;
    seedling::Scene scene;
    while (seedling::read_scene(std::cin, scene)) print_example(scene, files.text(scene.domain_file));
  } catch (const std::exception& error) {
    std::cerr << "examples: " << error.what() << '\n';
    return 31;
  }
  return 0;
}
