// A benchmark module as `metactrl reproduce` sees it: something that lists its tasks, answers one of them, and scores
// all answers. What is behind it (prompts, task files) is the module's own business.
//
//     std::unique_ptr<ReproduceTasks> tasks = open_tasks(*find_module("vh-as"), "data");
//     Answer answer = tasks->answer(0, model.get(), vocabulary, options);
//     Score score = tasks->score({{answer.identifier, answer.output}});
#ifndef METACTRL_SRC_BENCHMARKS_REPRODUCE_MODULES_H_
#define METACTRL_SRC_BENCHMARKS_REPRODUCE_MODULES_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/classical_planner.h"
#include "benchmarks/evaluate.h"
#include "benchmarks/module.h"
#include "benchmarks/score.h"
#include "benchmarks/two_levels.h"
#include "metactrl/language_model.h"

namespace metactrl::benchmarks {

// Thread safety: all functions may be called at once.
class ReproduceTasks {
 public:
  virtual ~ReproduceTasks() = default;

  // In the order of the task file, each different.
  virtual const std::vector<std::string>& identifiers() const = 0;
  // Tells apart the data that answers depend on.
  virtual std::string digest() const = 0;
  // Prompts that are left out of identifiers(), since there is no task to judge an answer by.
  virtual std::size_t left_out() const { return 0; }
  // Tells the model what the prompts of all tasks begin with.
  virtual void expect_prefix(LanguageModel& model, const EvaluateOptions& options) const = 0;
  // Number `task` of identifiers(). What goes wrong is part of the answer.
  virtual Answer answer(std::size_t task, LanguageModel* model, const std::shared_ptr<const Vocabulary>& vocabulary,
                        const EvaluateOptions& options) const = 0;
  // Whether the benchmark has PDDL of its own, which a classical planner could be given.
  virtual bool has_problems() const { return false; }
  virtual Answer answer_classically(std::size_t task, const ClassicalPlanner& planner,
                                    const EvaluateOptions& options) const = 0;
  // With the token automaton of a vocabulary; nothing where there are no prompts to read.
  virtual std::optional<TwoLevelsTable> two_levels(const std::shared_ptr<const Vocabulary>& /*vocabulary*/,
                                                   const TwoLevelsOptions& /*options*/) const {
    return std::nullopt;
  }
  // Whether an output keeps to what its prompt states (prompt_language.h).
  virtual bool keeps_to_prompt(std::size_t /*task*/, const std::string& /*output*/) const { return false; }
  // Of all tasks, also of those without a response, which are failures.
  virtual Score score(const std::vector<Response>& responses) const = 0;
};

// The first of a module's files that is not in the data folder; empty when all are.
std::string missing_file(const Module& module, const std::string& data);
// Reads everything that answering and scoring need; throws InputError about a file that cannot be read.
std::unique_ptr<ReproduceTasks> open_tasks(const Module& module, const std::string& data);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_REPRODUCE_MODULES_H_
