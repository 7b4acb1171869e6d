// What a benchmark asks: a prompt from its prompt file, or a task for which we write the prompts ourselves.
#ifndef METACTRL_SRC_BENCHMARKS_QUESTION_H_
#define METACTRL_SRC_BENCHMARKS_QUESTION_H_

#include <cstddef>
#include <memory>
#include <string>

#include "metactrl/language_model.h"
#include "metactrl/vocabulary.h"
#include "support/enum_names.h"

namespace metactrl::benchmarks {

struct Answer;
struct EvaluateOptions;

// A task of a benchmark that has no prompt files. Immutable, so it may be asked from several threads.
class Question {
 public:
  Question() = default;
  virtual ~Question() = default;
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

  // Fills everything but the identifier. Throws InputError and ModelError as a plan does (metactrl/planner.h).
  virtual void answer(LanguageModel* model, const std::shared_ptr<const Vocabulary>& vocabulary,
                      const EvaluateOptions& options, Answer& answer) const = 0;
};

struct PromptEntry {
  std::string identifier;
  std::string prompt;                                  // the user's part of what the model reads first
  std::shared_ptr<const Question> question = nullptr;  // null: the prompt says it all
};

// Whether a plan is held to the task's goal, or to what the model makes of the instruction.
enum class GoalSource { kOracle, kInstruction };
constexpr auto enum_names(GoalSource) {
  return internal::names<GoalSource>({{GoalSource::kOracle, "oracle"}, {GoalSource::kInstruction, "instruction"}});
}
inline const char* to_string(GoalSource value) { return internal::name_of(value); }

// Where the questions of a benchmark without prompt files come from.
struct TaskSource {
  std::string tasks;   // file
  std::string scenes;  // folder
  GoalSource goals = GoalSource::kOracle;
  // Which of a task's instructions, from 1; a task that has fewer is asked with its last.
  std::size_t instruction = 1;
};

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_QUESTION_H_
