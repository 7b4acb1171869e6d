// A benchmark prompt, read: a PDDL problem for the module's domain.
//
// A reader uses the prompt's text and nothing else. What it cannot read is an InputError that names the line of the
// prompt; it never guesses.
#ifndef METACTRL_SRC_BENCHMARKS_PROMPT_TASK_H_
#define METACTRL_SRC_BENCHMARKS_PROMPT_TASK_H_

#include <cstddef>
#include <string>
#include <vector>

namespace metactrl::benchmarks {

// Whose rules a domain states: those the benchmark's executor and evaluator really follow, those that the paper must have
// run, or only those that its appendix lists.
enum class Rules { kEnvironment, kPaper, kLiteral };

// Something the prompt hides and no action can establish, taken for granted only where the goals are out of reach
// otherwise.
struct Assumption {
  std::string facts;  // PDDL atoms for :init; may be empty
  std::string text;   // for people, e.g. "the objects named in goals are not shut in"
};

// A goal of the problem, for people.
struct PromptGoal {
  std::string name;  // in the benchmark's words: "on(apple, coffeetable)"
  std::string why;   // why it cannot be reached; empty where nothing is known to be in the way
};

struct PromptTask {
  std::string title;         // what the prompt calls the task, where it does
  std::string problem;       // PDDL, for the domain of the module and the rules, without assumptions
  std::size_t init_end = 0;  // where in `problem` further atoms of :init can stand
  // Where further goals can stand.
  std::size_t goal_end = 0;
  // The problem's goals one by one, in its order; empty where they have no names but their formulas.
  std::vector<PromptGoal> goals;
  // What each of the problem's goals consists of, in its order, as atoms and their negations: where a goal has to be
  // dropped, those that hold from the start are kept if that costs no other goal. May be shorter than the goals are many.
  std::vector<std::vector<std::string>> keep;
  // A goal that holds once the plan has an action, for benchmarks that take an empty answer for an unreadable one. Used
  // only where all goals hold from the start.
  std::string nonempty;
  // Each goes further than the ones before it, which it presupposes.
  std::vector<Assumption> assumptions;
  // With fewer of them no action at all is possible.
  std::size_t fewest_assumptions = 0;
  // Atoms of the problem that the prompt says do not hold, where its domain has no word for that: "(open jar_0)".
  std::vector<std::string> stated_false;
  // For people: goal lines that name several objects, lines that have no effect, and the like.
  std::vector<std::string> notes;

  // Sets the problem: `head` ends before :init, facts and goals are lines.
  void set_problem(const std::string& head, const std::string& facts, const std::string& goal_lines) {
    problem = head + "\n  (:init" + facts;
    init_end = problem.size();
    problem += ")\n  (:goal (and" + goal_lines;
    goal_end = problem.size();
    problem += ")))\n";
  }

  // The problem with the first `count` assumptions, and on request with the goal `nonempty`.
  std::string problem_assuming(std::size_t count, bool with_nonempty = false) const {
    std::string facts;
    for (std::size_t i = 0; i < count && i < assumptions.size(); ++i) facts += "\n    " + assumptions[i].facts;
    return problem_with(facts, with_nonempty ? "\n    " + nonempty : "");
  }

  // The problem with further atoms of :init and further goals.
  std::string problem_with(const std::string& facts, const std::string& more_goals) const {
    std::string text = problem;
    return text.insert(goal_end, more_goals).insert(init_end, facts);
  }
};

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_PROMPT_TASK_H_
