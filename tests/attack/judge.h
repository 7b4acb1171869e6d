// Judging a plan by its text, with nothing that made it.
//
// The text is read by the format's parser, which knows bytes and no tokens; the steps are written as a PDDL plan, that
// is read again, and executed by the interpreter of `metactrl validate` on files that were parsed anew. What has times is
// judged by them. Where VAL is installed, it judges the same PDDL plan.
//
// Not thread safe. Cost: that of the interpreter, some microseconds to a millisecond per step.
#ifndef METACTRL_TESTS_ATTACK_JUDGE_H_
#define METACTRL_TESTS_ATTACK_JUDGE_H_

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attack/tasks.h"
#include "metactrl/constraint.h"
#include "metactrl/generate.h"
#include "pddl/interpret.h"
#include "support/other_programs.h"

namespace metactrl::attack {

// What a plan can get wrong, the first of these that applies.
enum class Fault {
  kNone,
  kException,   // something was thrown
  kDecoder,     // next() and accept() do not agree, or a decoder changed that should not
  kUnfinished,  // no end of the turn
  kForm,        // the text is no plan in the format
  kTokens,      // the tokens are not the tokenizer's own encoding of the text
  kReading,     // the text says other actions than the result does
  kLength,      // more actions than were allowed
  kStep,        // a precondition or trajectory constraint is broken
  kGoal,        // all steps are legal, a goal does not hold
  kVal,         // VAL does not agree that the plan is valid
};
inline constexpr std::size_t kNumFaults = 11;
const char* to_string(Fault fault);

struct Finding {
  Fault fault = Fault::kNone;
  std::string detail;
  std::size_t actions = 0;
};

class Judge {
 public:
  // Throws InputError when the files cannot be read. `val` is VAL's program, or empty. `problem` is the text of one that
  // takes the place of the file's.
  Judge(const TaskFiles& files, std::string val, const std::optional<std::string>& problem = {});

  struct Claim {
    const Generation& generation;
    std::string context;      // the end of the prompt's text
    std::size_t horizon = 0;  // the most actions that were allowed
    bool guided = true;       // the generation names its actions
  };
  Finding judge(const Constraint& constraint, const Claim& claim) const;
  // The steps alone. Goals whose text is in `dropped` need not hold.
  Finding judge_steps(const std::vector<PlanStep>& steps, const std::vector<std::string>& dropped = {}) const;
  // Lines such as "0.000: (move a b) [5.000]".
  Finding judge_schedule(const std::string& schedule) const;
  // Steps or a schedule, as PDDL. Starts a process. Nothing where VAL is not there, does not read the files as we do, or
  // comes to no verdict.
  std::optional<Finding> ask_val(const std::string& plan) const;
  // The actions that a text says, however much of it is a plan.
  static std::vector<PlanStep> steps_of(const Constraint& constraint, const std::string& text);

 private:
  testing::ProgramResult run_val(const std::string& plan) const;

  TaskFiles files_;
  std::string val_;
  bool sections_twice_ = false;  // VAL leaves the second out, and we read both
  std::unique_ptr<pddl::LiftedInterpreter> interpreter_;
};

// A line for each.
std::string pddl_text(const std::vector<PlanStep>& steps);

// VAL_VALIDATE, else `Validate` on the PATH, else nothing.
std::string find_val();

}  // namespace metactrl::attack

#endif  // METACTRL_TESTS_ATTACK_JUDGE_H_
