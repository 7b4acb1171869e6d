// A model that many requests share, and one request's view of it.
#ifndef METACTRL_SRC_SERVE_SERVED_MODEL_H_
#define METACTRL_SRC_SERVE_SERVED_MODEL_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "metactrl/language_model.h"
#include "serve/model_memory.h"

namespace metactrl::serve {

struct ServedModel {
  std::string name;
  std::shared_ptr<LanguageModel> model;
  std::shared_ptr<const Vocabulary> vocabulary;
  std::size_t memory_tokens = 0;  // what all sessions together may hold; 0: no limit
  std::size_t sequences = 0;      // how many sessions there may be; 0: no limit
};

class SharedModel {
 public:
  explicit SharedModel(ServedModel model)
      : model_(std::move(model)), memory_(model_.model, model_.memory_tokens, model_.sequences) {}

  const ServedModel& model() const { return model_; }
  ModelMemory& memory() { return memory_; }

 private:
  ServedModel model_;
  ModelMemory memory_;
};

// For one request, on one thread. The first session waits for room; others begin where it began.
class RequestModel : public LanguageModel {
 public:
  struct Needs {
    std::size_t plans = 1;  // sessions that grow side by side
    bool trace = false;     // a second session that reads along
  };
  RequestModel(SharedModel& shared, const Needs& needs, Stop cancelled)
      : shared_(shared), needs_(needs), cancelled_(std::move(cancelled)) {}

  const Vocabulary& vocabulary() const override { return model().vocabulary(); }
  std::string description() const override { return model().description(); }
  std::size_t context_length() const override { return model().context_length(); }
  std::string device() const override { return model().device(); }
  std::string render_prompt(const Prompt& prompt) const override { return model().render_prompt(prompt); }
  std::optional<ThinkingFormat> thinking_format() const override { return model().thinking_format(); }
  std::vector<TokenId> encode_markup(const std::string& text) const override { return model().encode_markup(text); }
  using LanguageModel::encode_prompt;
  std::vector<TokenId> encode_prompt(const Prompt& prompt, const Stop& stop) const override {
    return model().encode_prompt(prompt, stop);
  }
  // Throws Stopped when the request is cancelled.
  std::unique_ptr<Session> start(std::span<const TokenId> prompt, std::size_t reserve) override;

 private:
  LanguageModel& model() const { return *shared_.model().model; }

  SharedModel& shared_;
  Needs needs_;
  Stop cancelled_;
  ModelMemory::Lease lease_;
};

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_SERVED_MODEL_H_
