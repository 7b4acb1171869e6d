// A model's chat template applied to prompts, and what it shows of how the model thinks.
#ifndef METACTRL_SRC_LM_PROMPT_TEMPLATE_H_
#define METACTRL_SRC_LM_PROMPT_TEMPLATE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lm/jinja.h"
#include "metactrl/language_model.h"

namespace metactrl::lm {

// A stretch of a prompt. Only the template's own text may hold control tokens.
struct PromptPart {
  std::string text;
  bool is_content = false;
};

std::string join(const std::vector<PromptPart>& parts);

class PromptTemplate {
 public:
  // `begin` and `end` are the texts of the tokens for the beginning and the end of a text. Throws jinja::Error for a
  // template that is not understood, refuses a question, or loses it.
  PromptTemplate(std::string_view source, std::string begin, std::string end);

  // Throws jinja::Error when the template refuses this prompt, or an argument is no value.
  std::vector<PromptPart> render(const Prompt& prompt) const;
  const std::optional<LanguageModel::ThinkingFormat>& thinking() const { return thinking_; }
  // A question and an answer, nothing behind it.
  std::string conversation(const std::string& question, const std::string& answer) const {
    return probe({{"user", question}, {"assistant", answer}}, false, std::nullopt);
  }

 private:
  struct Message {
    std::string role;
    std::string content;
    std::string thought{};
  };
  struct Request {
    std::vector<Message> messages;
    bool for_answer = true;  // ends where the model begins to write
    std::optional<bool> thinking{};
    const Prompt* prompt = nullptr;
  };

  jinja::Text apply(const Request& request) const;
  // The same; where the template has no place for system texts they go in front of the first user's.
  jinja::Text apply_somehow(Request request) const;
  std::string probe(std::vector<Message> messages, bool for_answer, std::optional<bool> thinking) const;

  void find_thinking(std::string_view source);
  // `asked` is a prompt for a model that is to think, `off` for one that is not to.
  bool find_by_example(const std::string& asked, const std::string& off);
  bool find_by_name(std::string_view source, const std::string& asked, const std::string& off);
  // What is to be added to the template's text so that the thought, or the answer, begins behind it.
  std::string to_thought(const jinja::Text& asked) const;
  std::string to_answer(const jinja::Text& asked) const;
  // Is the opening the last thing that the template itself has written?
  bool ends_with_opening(const jinja::Text& asked) const;

  jinja::Template program_;
  std::string begin_;
  std::string end_;
  std::string today_;
  std::optional<LanguageModel::ThinkingFormat> thinking_;
  bool without_tools_ = false;    // the template expects not to be told that there are none
  std::string before_answer_;     // written between prompt and answer by a template whose model does not think
  bool told_by_default_ = false;  // to think, by a system text that an own one replaces
  std::string effort_;  // that a model is to make before it thinks at all; empty: thinking is asked for otherwise
};

}  // namespace metactrl::lm

#endif  // METACTRL_SRC_LM_PROMPT_TEMPLATE_H_
