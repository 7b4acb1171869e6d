// The thought of a model that thinks before it answers: free text, within a budget, that ends where the constraint begins.
#ifndef METACTRL_SRC_DECODE_THINK_H_
#define METACTRL_SRC_DECODE_THINK_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "metactrl/generate.h"
#include "metactrl/language_model.h"
#include "metactrl/planner.h"

namespace metactrl::decode {

// How one model's thought is ended, worked out before it begins.
struct ThinkingFrame {
  ThinkingFrame(const LanguageModel& model, LanguageModel::ThinkingFormat how);

  LanguageModel::ThinkingFormat format;
  std::optional<TokenId> marker;   // where a single token closes: only it does, however its letters are written
  std::vector<TokenId> closing;    // what is forced: the marker and what comes before the answer
  std::vector<TokenId> with_lead;  // the same on a line of its own, or whatever the format wants
  std::string context() const { return format.close + format.answer; }
  // The most tokens that a thought with this budget takes, closing included.
  std::size_t room(std::size_t budget) const;
};

// How the model will think before its answer; nothing where it does not. InputError where it is told to and cannot. A
// `raw` prompt is sent as it is: nobody knows where a thought would begin in it.
std::optional<ThinkingFrame> decide_thinking(const LanguageModel& model, const ThinkOptions& options, bool raw);
// What the chat template is told about it.
void tell_template(const LanguageModel& model, const ThinkOptions& options, bool thinks, Prompt& prompt);
// The tokens of a thought for which the context has `room` when the answer takes up to `answer` of them.
std::size_t thought_budget(const ThinkingFrame& frame, const ThinkOptions& options, std::size_t room,
                           std::size_t answer);

struct ThoughtTokens {
  Thought thought;
  std::vector<TokenId> tokens;  // from the prompt to the answer
};

// Leaves the session where the answer begins, whatever the model does.
ThoughtTokens think(Session& session, const Vocabulary& vocabulary, const ThinkingFrame& frame,
                    const ThinkOptions& options, std::size_t budget, std::uint64_t seed, const Observer& observer);

}  // namespace metactrl::decode

#endif  // METACTRL_SRC_DECODE_THINK_H_
