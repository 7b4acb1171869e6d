// Models that think before they answer, made of models that do not: a format, and a script that the thought follows.
#ifndef METACTRL_TESTS_SUPPORT_THINKER_H_
#define METACTRL_TESTS_SUPPORT_THINKER_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "metactrl/language_model.h"

namespace metactrl::testing {

// A session that does what the one inside does.
class SessionAround : public Session {
 public:
  explicit SessionAround(std::unique_ptr<Session> inside) : inside_(std::move(inside)), begin_(inside_->size()) {}

  void append(std::span<const TokenId> tokens) override { inside_->append(tokens); }
  std::span<const float> logits() override { return inside_->logits(); }
  std::size_t size() const override { return inside_->size(); }
  void rollback(std::size_t size) override { inside_->rollback(size); }
  std::unique_ptr<Session> fork() override { return inside_->fork(); }
  std::vector<std::vector<float>> score(std::span<const std::vector<TokenId>> paths) override {
    return inside_->score(paths);
  }
  std::size_t num_calls() const override { return inside_->num_calls(); }

 protected:
  std::unique_ptr<Session> inside_;
  std::size_t begin_;  // where it starts to be watched
};

// Writes `script` first, `forever` again and again, and is then as the model inside.
class ScriptedSession : public SessionAround {
 public:
  ScriptedSession(std::unique_ptr<Session> inside, std::vector<TokenId> script, bool forever)
      : SessionAround(std::move(inside)), script_(std::move(script)), forever_(forever) {}

  std::span<const float> logits() override {
    const std::span<const float> logits = inside_->logits();
    row_.assign(logits.begin(), logits.end());
    const std::size_t at = inside_->size() - begin_;
    if (!script_.empty() && (forever_ || at < script_.size())) {
      row_.assign(logits.size(), 0);
      row_[static_cast<std::size_t>(script_[at % script_.size()])] = 1e6F;
    }
    return row_;
  }
  std::unique_ptr<Session> fork() override {
    auto copy = std::make_unique<ScriptedSession>(inside_->fork(), script_, forever_);
    copy->begin_ = begin_;
    return copy;
  }

 private:
  std::vector<TokenId> script_;
  bool forever_;
  std::vector<float> row_;
};

// A model with a template of its own, whose answers begin with a script.
class ScriptedModel : public LanguageModel {
 public:
  explicit ScriptedModel(LanguageModel& inside) : inside_(inside) {}

  std::vector<TokenId> script;
  bool forever = false;

  const Vocabulary& vocabulary() const override { return inside_.vocabulary(); }
  std::string description() const override { return inside_.description(); }
  std::size_t context_length() const override { return inside_.context_length(); }
  std::string render_prompt(const Prompt& prompt) const override { return inside_.render_prompt(prompt); }
  using LanguageModel::encode_prompt;
  std::vector<TokenId> encode_prompt(const Prompt& prompt, const Stop& stop) const override {
    return inside_.encode_prompt(prompt, stop);
  }
  std::optional<ThinkingFormat> thinking_format() const override { return inside_.thinking_format(); }
  std::vector<TokenId> encode_markup(const std::string& text) const override { return inside_.encode_markup(text); }
  std::unique_ptr<Session> start(std::span<const TokenId> prompt, std::size_t reserve) override {
    return std::make_unique<ScriptedSession>(inside_.start(prompt, reserve), script, forever);
  }

 private:
  LanguageModel& inside_;
};

class Thinker : public LanguageModel {
 public:
  Thinker(std::unique_ptr<LanguageModel> inside, ThinkingFormat format)
      : inside_(std::move(inside)), format_(std::move(format)) {}

  std::vector<TokenId> script;
  bool forever = false;
  std::size_t context = 0;  // 0: as much as the model inside

  LanguageModel& inside() { return *inside_; }
  const Vocabulary& vocabulary() const override { return inside_->vocabulary(); }
  std::string description() const override { return "thinker"; }
  std::size_t context_length() const override { return context > 0 ? context : inside_->context_length(); }
  std::string render_prompt(const Prompt& prompt) const override {
    std::string text = inside_->render_prompt(prompt);
    return prompt.thinking == true ? text + format_.open : text;
  }
  using LanguageModel::encode_prompt;
  std::vector<TokenId> encode_prompt(const Prompt& prompt, const Stop& /*stop*/) const override {
    return vocabulary().encode(render_prompt(prompt), "");
  }
  std::optional<ThinkingFormat> thinking_format() const override { return format_; }
  std::unique_ptr<Session> start(std::span<const TokenId> prompt, std::size_t reserve) override {
    if (prompt.size() + reserve > context_length()) throw ContextError("does not fit");
    return std::make_unique<ScriptedSession>(inside_->start(prompt, reserve), script, forever);
  }

 private:
  std::unique_ptr<LanguageModel> inside_;
  ThinkingFormat format_;
};

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_THINKER_H_
