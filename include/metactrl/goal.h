// Goals from words: the first of two stages, before a plan is made (planner.h).
//
//     GoalProblem problem = GoalProblem::load("hospital.pddl", "now.pddl");     // objects and facts, no goal
//     GoalProblem::Written written = problem.write("bring the blood sample to the lab", *model, vocabulary, {});
//     for (const GoalProblem::Goal& goal : written.goals) std::cout << goal.pddl << ' ' << goal.probability << '\n';
//     Task task = problem.task(written.goals.at(0).pddl);                        // what plan() takes
//
// The model writes a conjunction in the domain's own predicates. With any guidance but none and syntax it is held to
// what is well typed and can be reached from the initial state, all of it together: a condition becomes part of the goal
// only when it is proved that it can be reached with everything before it, and a goal is given back only with a plan. That says nothing about whether the goal is what
// was meant: show it to whoever asked. What is guaranteed of the plan is guaranteed of this goal.
//
// The language: facts and their negations; "all", "none", "some", "at least n", "at most n" and "exactly n" of a type, or of the
// objects for which a predicate that never changes holds; one of two facts; and what must hold throughout (always; also of all or none
// of a kind), at some time (sometime), or before something else (sometime-before). docs/goals.md has examples.
//
// Thread safety: const functions may be called from many threads. Equal input gives equal results.
#ifndef METACTRL_GOAL_H_
#define METACTRL_GOAL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metactrl/decoder.h"
#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "metactrl/language_model.h"
#include "metactrl/lookahead.h"
#include "metactrl/planner.h"
#include "metactrl/task.h"

namespace metactrl {

class GoalProblem {
 public:
  struct Options {
    // kNone: the model writes what it likes. kSyntax: what is well typed. kMask: what can be reached, too. kUniform and
    // kTrained: the same, and names that the instruction mentions count for more than others. There is no writing without
    // a model (kSearch).
    Guidance guidance = Guidance::kUniform;
    // How plans will be searched for. All proofs together may spend half of the work of such a search, one of them a small part
    // of a large budget; `Written::take_from` leaves the plan the rest.
    LookaheadOptions lookahead;
    // The best so many are looked for.
    std::size_t hypotheses = 3;
    // A goal has at most so many conjuncts.
    std::size_t max_conditions = 8;
    // The kinds of conditions of which there would be more are left out, plain facts last.
    std::size_t max_items = 20'000;
    // Conditions whose reachability is searched for. Those that are left then are not offered.
    std::size_t max_proofs = 64;
    // Without: nothing that looks back at how a state was reached (sometime, sometime-before), which cannot be pursued by who
    // plans again from wherever he is, as a robot does (robot/scene.h).
    bool may_look_back = true;
    // With guidance kNone: give up after so many tokens.
    std::size_t max_tokens = 256;
    // A model that thinks before it answers does so before it writes the goal, too, and again before the plan.
    ThinkOptions think;
    std::uint64_t seed = 0;  // of the thought
  };

  struct Goal {
    std::string pddl;                // "(and (at sample lab) (not (open door)))"; what task() takes
    std::vector<std::string> words;  // a line for each condition: "sample at lab", "not: door open"
    double probability = 1;          // the model's, shared out among the goals that are listed
    bool holds_already = false;      // in the initial state
    // A word of the instruction, articles and their like apart, is about something in it.
    bool mentioned = true;
  };

  // What the model would have written, and why it may not.
  struct Refused {
    std::string condition;
    std::string words;
    std::string reason;  // "cannot be reached", "cannot be reached together with (at sample lab)"
  };

  struct Written {
    std::vector<Goal> goals;  // the likeliest first; none: `reason` says why
    bool certified = false;   // each of them has a plan
    bool undecided = false;   // there is none because the budget ended
    std::string reason;       // one sentence
    std::vector<Refused> refused;
    // Words and names in the instruction for which the task has none, such as "morgue" and block_7, and what was perhaps
    // meant; the first five.
    std::vector<std::string> unknown_names;
    // Why somebody should look at the first goal before anything is done for it, whatever was agreed: no word of the instruction is
    // about it; most of its words are unknown here; it names things or deeds that are not there, says what no condition
    // can ("except"), or what this goal does not ("or", "at most two"); the goal is nothing but an order in time of things that nobody asks for,
    // is about a thing that nobody named, or has nothing about something that is said. Empty: nothing speaks against it.
    std::string doubt;
    // Kinds of conditions that could not be written: there are too many of them, or they look back.
    std::vector<std::string> left_out;
    std::string text;  // as the model wrote it, with guidance kNone
    std::optional<Thought> thought;
    std::string prompt_text;  // what the model read
    std::size_t prompt_tokens = 0;
    std::size_t model_calls = 0;
    std::size_t proofs = 0;  // searches
    std::uint64_t work = 0;  // steps (Budget::work) that they took
    // Something was not offered, or not shown, because a search for it ended with its budget, or none was left for it.
    bool budget_ended = false;

    // Goal and plan have one budget: what the goal has taken the plan does not have.
    void take_from(PlanOptions& options) const;
  };

  // Both files may have mistakes, all of which are in the InputError. The problem need not have a goal. The limits of
  // `options` hold for write(), too.
  static GoalProblem load(const std::string& domain_file, const std::string& problem_file,
                          const LoadOptions& options = {});
  static GoalProblem parse(std::string_view domain, std::string_view problem, const LoadOptions& options = {});
  // Does this text of a problem state a goal? (:goal (and)) is none.
  static bool states_goal(std::string_view problem);
  // Can it be planned for as it is? It states a goal, or its whole point is its constraints: (:goal (and)) with (:constraints ...).
  static bool asks_for_something(std::string_view problem);

  // The problem with this goal, instead of its own where it has one. Trajectory constraints may be conjuncts: they are
  // added to those of the problem. InputError where it is no condition of this domain, with places in "goal".
  Task task(std::string_view goal, const LoadOptions& options = {}) const;
  // The same as the text of a problem file.
  std::string problem_text(std::string_view goal) const;

  // What the model reads.
  Prompt prompt(const std::string& instruction) const;
  // InputError for an empty instruction, a guidance without a model, or thoughts of a model that has none; ContextError when the prompt does not fit;
  // Stopped when `stop` says so.
  Written write(const std::string& instruction, LanguageModel& model,
                const std::shared_ptr<const Vocabulary>& vocabulary, const Options& options,
                const Stop& stop = {}) const;

 private:
  class Impl;
  explicit GoalProblem(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace metactrl

#endif  // METACTRL_GOAL_H_
