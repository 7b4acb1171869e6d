// The prompt is read and grounded as `metactrl eval` does it: without assumptions about what it hides first, then with
// one more at a time, until all goals are in reach. The search gets a small budget: what it does not solve at once is
// no example. Which of several plans it finds depends on the order of the objects, which generate.py draws afresh for
// every prompt.
//
// Goal by goal (Request::in_order) means: the search plans for the first goal, then from the state reached for the
// first two, and so on. Such plans are a little longer, and follow the prompt from line to line, which a small model
// can learn; where a step of that fails, all goals are planned for at once.
#include "reference_plan.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/module.h"
#include "metactrl/domain.h"
#include "metactrl/format.h"
#include "metactrl/goal.h"
#include "metactrl/lookahead.h"
#include "metactrl/planner.h"

namespace metactrl::pocket {

namespace {

using Plan = std::vector<ActionId>;

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

std::ptrdiff_t offset(std::size_t index) { return static_cast<std::ptrdiff_t>(index); }

enum class Order { kAtOnce, kGoalByGoal };

std::shared_ptr<const Lookahead> look_ahead(const Task& task) {
  LookaheadOptions options;
  options.weights = false;
  options.exact.states = 500;
  options.search.states = 20'000;
  options.search.work = 1'000'000'000;
  return Lookahead::compile(task, options);
}

// `plan`, continued such that the task's first `count` goals hold.
std::optional<Plan> reach_first_goals(const Task& task, std::size_t count, Plan plan) {
  std::vector<GoalId> later;
  for (std::size_t i = count; i < task.num_goals(); ++i) later.push_back(GoalId{static_cast<std::uint32_t>(i)});
  const Task part = task.without_goals(later);
  State state = part.initial_state();
  for (const ActionId action : plan) {
    std::optional<State> next = part.apply(state, action);
    if (!next) return std::nullopt;
    state = *std::move(next);
  }
  if (part.is_goal(state)) return plan;
  const auto lookahead = look_ahead(part);
  if (lookahead->verdict() != Verdict::kSolvable) return std::nullopt;
  const std::optional<Plan> more = Support(lookahead).plan(state, kMaxSteps);
  if (!more || plan.size() + more->size() > kMaxSteps) return std::nullopt;
  plan.insert(plan.end(), more->begin(), more->end());
  return plan;
}

std::optional<Plan> find_plan(const Task& task, Order order) {
  if (order == Order::kGoalByGoal && task.num_goals() > 1) {
    std::optional<Plan> plan = Plan();
    for (std::size_t i = 1; i <= task.num_goals() && plan; ++i) plan = reach_first_goals(task, i, *std::move(plan));
    if (plan) return plan;
  }
  const auto lookahead = look_ahead(task);
  if (lookahead->verdict() != Verdict::kSolvable) return std::nullopt;
  return lookahead->plan();
}

struct Solved {
  Task task;
  Plan plan;
};

std::optional<Solved> solve(const std::string& domain, const std::string& problem, Order order) {
  Task task = load_pddl_text(domain, problem);
  std::optional<Plan> plan = find_plan(task, order);
  if (!plan) return std::nullopt;
  return Solved{std::move(task), *std::move(plan)};
}

std::optional<Solved> solve_prompt(const benchmarks::Module& module, const std::string& prompt, Order order) {
  const benchmarks::PromptTask read = module.read(prompt, benchmarks::Rules::kEnvironment);
  const std::string domain(benchmarks::domain_text(module, benchmarks::Rules::kEnvironment));
  for (std::size_t level = read.fewest_assumptions; level <= read.assumptions.size(); ++level) {
    std::optional<Solved> solved = solve(domain, read.problem_assuming(level), order);
    if (!solved) continue;
    // An empty answer counts as unreadable, so an action is asked for.
    if (solved->plan.empty() && !read.nonempty.empty()) {
      return solve(domain, read.problem_assuming(level, true), order);
    }
    return solved;
  }
  return std::nullopt;
}

// Another action of the same name that differs in one argument.
std::optional<ActionId> with_other_object(const Task& task, ActionId action, Random& random) {
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

// A plan without one step, which a later step or the goal needs: of those, one is drawn.
void skip_step(const Task& task, Random& random, Plan& plan) {
  std::vector<Plan> spoiled;
  for (std::size_t i = 0; i < plan.size() && plan.size() > 1; ++i) {
    Plan shorter = plan;
    shorter.erase(shorter.begin() + offset(i));
    if (!task.validate(shorter).valid) spoiled.push_back(std::move(shorter));
  }
  if (!spoiled.empty()) plan = spoiled[random.below(spoiled.size())];
}

void forget_goal(const Task& task, Order order, Random& random, Plan& plan) {
  if (task.num_goals() < 2) return;
  const GoalId goal{static_cast<std::uint32_t>(random.below(task.num_goals()))};
  const std::optional<Plan> shorter = find_plan(task.without_goals({&goal, 1}), order);
  if (shorter && !shorter->empty()) plan = *shorter;
}

void change_order(const Task& task, Random& random, Plan& plan) {
  std::vector<Plan> spoiled;
  for (std::size_t i = 0; i + 1 < plan.size(); ++i) {
    Plan other = plan;
    std::swap(other[i], other[i + 1]);
    if (!task.validate(other).valid) spoiled.push_back(std::move(other));
  }
  if (!spoiled.empty()) plan = spoiled[random.below(spoiled.size())];
}

// grab, left_grasp, right_grasp.
bool grabs(const Task& task, ActionId action) {
  const std::string text = task.text(action);
  return std::string_view(text).substr(0, text.find(' ')).find("gra") != std::string_view::npos;
}

void grab_another(const Task& task, Random& random, Plan& plan) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (grabs(task, plan[i])) places.push_back(i);
  }
  if (places.empty()) return;
  const std::size_t at = places[random.below(places.size())];
  if (const auto other = with_other_object(task, plan[at], random)) plan.insert(plan.begin() + offset(at) + 1, *other);
}

// One step with another object; one that spoils the plan, if a few tries find one.
void change_object(const Task& task, Random& random, Plan& plan) {
  constexpr int kTries = 6;
  for (int i = 0; i < kTries; ++i) {
    Plan other = plan;
    ActionId& step = other[random.below(other.size())];
    const std::optional<ActionId> changed = with_other_object(task, step, random);
    if (!changed) continue;
    step = *changed;
    if (i + 1 == kTries || !task.validate(other).valid) {
      plan = std::move(other);
      return;
    }
  }
}

// One step does something else with the same objects.
void change_action(const Task& task, Random& random, Plan& plan) {
  ActionId& step = plan[random.below(plan.size())];
  const auto arguments = task.arguments(step);
  std::vector<ActionId> others;
  for (std::uint32_t i = 0; i < task.num_actions(); ++i) {
    if (task.name_of(ActionId{i}) == task.name_of(step)) continue;
    if (std::ranges::equal(task.arguments(ActionId{i}), arguments)) others.push_back(ActionId{i});
  }
  if (!others.empty()) step = others[random.below(others.size())];
}

void make_one_mistake(const Task& task, std::string_view mistake, Order order, Random& random, Plan& plan) {
  if (mistake == "skip") {
    skip_step(task, random, plan);
  } else if (mistake == "forget") {
    forget_goal(task, order, random, plan);
  } else if (mistake == "order") {
    change_order(task, random, plan);
  } else if (mistake == "object") {
    change_object(task, random, plan);
  } else if (mistake == "action") {
    change_action(task, random, plan);
  } else if (mistake == "grab") {
    grab_another(task, random, plan);
  } else if (mistake == "repeat") {
    const std::size_t at = random.below(plan.size());
    plan.insert(plan.begin() + offset(at), plan[at]);
  } else {
    throw std::invalid_argument("there is no mistake '" + std::string(mistake) + "'");
  }
}

// The mistake asked for, or where the plan has no room for it (one goal, one step) another.
void make_mistake(const Task& task, const std::string& mistake, Order order, Random& random, Plan& plan) {
  if (mistake.empty()) return;
  const Plan before = plan;
  make_one_mistake(task, mistake, order, random, plan);
  for (const std::string_view other : {"object", "skip", "action"}) {
    if (plan == before) make_one_mistake(task, other, order, random, plan);
  }
}

}  // namespace

namespace {

Example make_goal_example(const Request& request) {
  const GoalProblem problem = GoalProblem::parse(request.domain, request.problem);
  Example example;
  example.prompt = problem.prompt(request.instruction).user;
  example.plan = request.goal;
  example.steps = problem.task(request.goal).num_goals();
  example.valid = true;
  return example;
}

}  // namespace

std::optional<Example> make_example(const Request& request) {
  if (!request.goal.empty()) return make_goal_example(request);
  const benchmarks::Module* module = nullptr;
  if (!request.module.empty()) {
    module = benchmarks::find_module(request.module);
    if (module == nullptr || module->read == nullptr) {
      throw std::invalid_argument("no module reads prompts under the name '" + request.module + "'");
    }
  }
  const Order order = request.in_order ? Order::kGoalByGoal : Order::kAtOnce;
  std::optional<Solved> solved =
      module != nullptr ? solve_prompt(*module, request.prompt, order) : solve(request.domain, request.problem, order);
  if (!solved || solved->plan.empty() || solved->plan.size() > kMaxSteps) return std::nullopt;
  Plan plan = solved->plan;
  Random random(request.seed);
  make_mistake(solved->task, request.mistake, order, random, plan);

  const PlanSpelling spelling(PlanFormat::builtin(module != nullptr ? std::string(module->format) : request.format),
                              solved->task);
  Example example;
  example.prompt =
      request.prompt.empty() ? make_prompt(solved->task, spelling, request.instruction).user : request.prompt;
  example.plan = spelling.render(plan);
  example.steps = plan.size();
  example.valid = solved->task.validate(plan).valid;
  example.spoiled = plan != solved->plan;
  return example;
}

}  // namespace metactrl::pocket
