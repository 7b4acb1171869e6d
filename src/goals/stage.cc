// The constraint begins where the thought ends: behind the closing marker, whose text is a constant of the template, as it
// is for plans (decode/planner.cc). Room for the longest goal comes first, a thought gets what that leaves.
#include "goals/stage.h"

#include <algorithm>
#include <utility>

#include "support/str_cat.h"
#include "text/token_automaton.h"

namespace metactrl::goals {

namespace {

std::size_t longest_goal(const TokenAutomaton& automaton, std::size_t max_items) {
  std::size_t entry = 1;
  for (std::uint32_t rank = 0; rank < automaton.num_entries(); ++rank) {
    entry = std::max(entry, automaton.tokens(rank).size());
  }
  return automaton.opening().size() + entry * max_items + 1;
}

}  // namespace

Stage::Stage(LanguageModel& model, const std::shared_ptr<const Vocabulary>& vocabulary, Options options,
             const Stop& stop)
    : model_(model),
      vocabulary_(vocabulary),
      options_(std::move(options)),
      stop_(stop),
      frame_(decode::decide_thinking(model, options_.think, false)) {}

Stage::Result Stage::held(Prompt prompt, const PlanSpelling& spelling, const Writer::Judge& judge,
                          const Writer::Options& writing) {
  Result result;
  decode::tell_template(model_, options_.think, frame_.has_value(), prompt);
  const auto automaton = TokenAutomaton::compile(spelling, *vocabulary_,
                                                 {frame_ ? frame_->context() : model_.render_prompt(prompt),
                                                  static_cast<unsigned>(writing.max_items), Tokenization::kCanonical},
                                                 stop_);
  const std::unique_ptr<Session> session = start(prompt, longest_goal(*automaton, writing.max_items), result);
  Writer writer(*automaton, *session, judge, writing, stop_);
  result.found = writer.run();
  result.refused = writer.refused();
  result.model_calls = session->num_calls();
  return result;
}

Stage::Result Stage::freely(Prompt prompt) {
  Result result;
  decode::tell_template(model_, options_.think, frame_.has_value(), prompt);
  const std::unique_ptr<Session> session = start(prompt, 1, result);
  GenerateOptions generate = options_.generate;
  generate.max_tokens = std::min(generate.max_tokens, model_.context_length() - session->size());
  Observer observer;
  observer.cancelled = stop_;
  result.free = generate_unconstrained(*session, *vocabulary_, generate, observer);
  if (stop_ && stop_()) throw Stopped(Stopped::kCancelled);
  result.model_calls = session->num_calls();
  return result;
}

// Where the answer begins, behind the thought.
std::unique_ptr<Session> Stage::start(const Prompt& prompt, std::size_t answer, Result& result) {
  const std::vector<TokenId> tokens = model_.encode_prompt(prompt, stop_);
  result.prompt_tokens = tokens.size();
  result.prompt_text = model_.render_prompt(prompt);
  const std::size_t least = answer + (frame_ ? frame_->room(0) : 0);
  if (tokens.size() + least > model_.context_length()) {
    throw ContextError(internal::str_cat("the instruction and the problem have ", tokens.size(),
                                         " tokens, but the context holds ", model_.context_length(), " with ", least,
                                         " for the goal; shorten the instruction or give the model a larger context"));
  }
  const std::size_t room = model_.context_length() - tokens.size();
  const std::size_t budget = frame_ ? decode::thought_budget(*frame_, options_.think, room, answer) : 0;
  std::unique_ptr<Session> session = model_.start(tokens, answer + (frame_ ? frame_->room(budget) : 0));
  if (frame_) {
    Observer observer;
    observer.cancelled = stop_;
    result.thought =
        decode::think(*session, *vocabulary_, *frame_, options_.think, budget, options_.generate.seed, observer)
            .thought;
    if (stop_ && stop_()) throw Stopped(Stopped::kCancelled);
  }
  return session;
}

}  // namespace metactrl::goals
