// A model that many requests share, and one request's view of it.
//
// The sessions of a model share its memory, and there is only so much of it. A request waits until what it may need at
// most is free (its prompt, its longest answer, once for every plan it keeps at a time), so that no decoding ends in
// the middle because of another one.
#ifndef METACTRL_SRC_SERVE_SERVED_MODEL_H_
#define METACTRL_SRC_SERVE_SERVED_MODEL_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "metactrl/language_model.h"
#include "serve/gate.h"

namespace metactrl::serve {

struct ServedModel {
  std::string name;
  std::shared_ptr<LanguageModel> model;
  std::shared_ptr<const Vocabulary> vocabulary;
  std::size_t memory_tokens = 0;  // what all sessions together may hold; 0: no limit
  std::size_t sequences = 0;      // how many sessions there may be; 0: no limit
};

// The gates of one model. Waiting ends with the request's own time.
class ModelGates {
 public:
  explicit ModelGates(ServedModel model);

  const ServedModel& model() const { return model_; }
  Gate& tokens() { return tokens_; }
  Gate& sequences() { return sequences_; }

 private:
  ServedModel model_;
  Gate tokens_;
  Gate sequences_;
};

// For one request, on one thread. The first session waits for room; others begin where it began.
class RequestModel : public LanguageModel {
 public:
  struct Needs {
    std::size_t plans = 1;  // sessions that grow side by side
    bool trace = false;     // a second session that reads along
  };
  RequestModel(ModelGates& gates, const Needs& needs, std::function<bool()> cancelled)
      : gates_(gates), needs_(needs), cancelled_(std::move(cancelled)) {}

  const Vocabulary& vocabulary() const override { return gates_.model().model->vocabulary(); }
  std::string description() const override { return gates_.model().model->description(); }
  std::size_t context_length() const override { return gates_.model().model->context_length(); }
  std::string render_prompt(const Prompt& prompt) const override { return gates_.model().model->render_prompt(prompt); }
  std::vector<TokenId> encode_prompt(const Prompt& prompt) const override {
    return gates_.model().model->encode_prompt(prompt);
  }
  // Throws internal::Stopped when the request is cancelled while it waits.
  std::unique_ptr<Session> start(std::span<const TokenId> prompt, std::size_t reserve) override;

 private:
  ModelGates& gates_;
  Needs needs_;
  std::function<bool()> cancelled_;
  Gate::Pass tokens_;
  Gate::Pass sequences_;
  bool entered_ = false;
  std::vector<TokenId> prompt_;
  std::unique_ptr<Session> trunk_;  // has read the prompt; gone before the passes are
};

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_SERVED_MODEL_H_
