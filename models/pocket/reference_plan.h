// Reference plans for training, and plans that err as language models do.
//
//     Request request;
//     request.module = "vh-as";
//     request.prompt = text of a prompt;
//     if (const std::optional<Example> example = make_example(request)) std::cout << example->plan;
//
// A prompt of a benchmark module is read by the reader that answers it in `metactrl eval`; other requests bring a PDDL
// problem. The plan is the one that the search finds (for all goals at once, or goal by goal), written in the module's
// answer format. Where a mistake is asked
// for, it is made in the plan before it is written:
//
//     skip     a step is left out that a later one needs
//     forget   one of the goals is not planned for
//     order    two neighbouring steps change places
//     object   a step names another object of the task
//     action   a step does something else with the same objects
//     grab     a second thing is grabbed at once, whether a hand is free or not
//     repeat   a step is written twice
//
// A plan that has no room for the mistake asked for gets another (object, skip, action), or
// stays as it is.
//
// Where a goal is given, the answer is the goal itself, and the prompt is the one by which the model is asked to write goals
// (metactrl/goal.h).
//
// Thread safety: calls are independent of each other.
#ifndef METACTRL_MODELS_POCKET_REFERENCE_PLAN_H_
#define METACTRL_MODELS_POCKET_REFERENCE_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace metactrl::pocket {

struct Request {
  std::string module;  // of the benchmarks; empty: `domain`, `problem` and `format` say what is asked
  std::string prompt;  // the user's part; empty: make_prompt writes it
  std::string domain;  // PDDL text
  std::string problem;
  std::string format;       // a built-in plan format
  std::string instruction;  // for make_prompt, or for the goal stage
  std::string goal;         // what the instruction means: the answer is this goal, and the prompt the goal stage's
  std::string mistake;      // empty: none
  std::uint64_t seed = 0;   // of the mistake
  bool in_order = false;    // the goals are reached one after another, as the prompt lists them
};

struct Example {
  std::string prompt;
  std::string plan;  // as the model is to write it
  std::size_t steps = 0;
  // Whether the plan is legal and reaches all goals, by the rules of the domain; of a goal, whether the domain has all that is
  // in it.
  bool valid = false;
  // The mistake changed the plan.
  bool spoiled = false;
};

// Empty where no plan is found within a small budget, or only one that is empty or has more than kMaxSteps actions.
// Throws InputError for what cannot be read.
inline constexpr std::size_t kMaxSteps = 40;
std::optional<Example> make_example(const Request& request);

}  // namespace metactrl::pocket

#endif  // METACTRL_MODELS_POCKET_REFERENCE_PLAN_H_
