// The first of two stages, whatever goals look like: the model reads a prompt, thinks where it does so, and writes
// conditions, under a constraint or as it likes.
//
//     Stage stage(model, vocabulary, {options.think}, stop);
//     Stage::Result result = stage.held(prompt, PlanSpelling(format, conditions), judge, writing);
//     // result.found: sequences of the conditions, which are the actions of a task, the likeliest first
//
// Thread safety: one thread at a time.
#ifndef METACTRL_SRC_GOALS_STAGE_H_
#define METACTRL_SRC_GOALS_STAGE_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decode/think.h"
#include "goals/writer.h"
#include "metactrl/format.h"
#include "metactrl/language_model.h"
#include "metactrl/planner.h"

namespace metactrl::goals {

class Stage {
 public:
  struct Options {
    ThinkOptions think{};
    GenerateOptions generate{};  // of what is written freely; the seed is the thought's, too
  };
  struct Result {
    std::vector<Writer::Hypothesis> found{};  // held()
    std::vector<Conjunction> refused{};       // held()
    Generation free{};                        // freely()
    std::optional<Thought> thought{};
    std::string prompt_text{};
    std::size_t prompt_tokens = 0;
    std::size_t model_calls = 0;
  };

  // All must outlive the stage. InputError where the model is told to think and cannot.
  Stage(LanguageModel& model, const std::shared_ptr<const Vocabulary>& vocabulary, Options options, const Stop& stop);

  // Both: ContextError when the prompt does not fit; Stopped when `stop` says so.
  Result held(Prompt prompt, const PlanSpelling& spelling, const Writer::Judge& judge, const Writer::Options& writing);
  Result freely(Prompt prompt);

 private:
  std::unique_ptr<Session> start(const Prompt& prompt, std::size_t answer, Result& result);

  LanguageModel& model_;
  const std::shared_ptr<const Vocabulary>& vocabulary_;
  Options options_;
  const Stop& stop_;
  std::optional<decode::ThinkingFrame> frame_;
};

}  // namespace metactrl::goals

#endif  // METACTRL_SRC_GOALS_STAGE_H_
