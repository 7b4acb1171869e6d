// "logprobs" of OpenAI's answers: what each token's probability was, in the shapes of chats and of completions.
//
//     TokenLog log(vocabulary, 3, true);              // and the three likeliest tokens beside each
//     log.add(event);                                 // of text: the model's probability among all tokens
//     choice["logprobs"] = log.take();                // those since the last time
#ifndef METACTRL_SRC_SERVE_LOGPROBS_H_
#define METACTRL_SRC_SERVE_LOGPROBS_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "metactrl/generate.h"
#include "metactrl/vocabulary.h"
#include "serve/json.h"

namespace metactrl::serve {

class TokenLog {
 public:
  // `top`: so many of the likeliest tokens are told beside each.
  TokenLog(const Vocabulary& vocabulary, std::size_t top, bool chat)
      : vocabulary_(vocabulary), top_(top), chat_(chat) {}

  // A token of free text, with the logits that it was chosen by.
  void add(const Observer::Token& event);
  // A token of a plan: its probability among what was allowed, the lookahead's weight included. One without an
  // alternative has the probability 1.
  void add_planned(const Observer::Token& event);
  // What was added since the last time.
  Json take();

 private:
  struct Entry {
    TokenId token;
    double log_probability;
    std::vector<std::pair<TokenId, double>> likeliest;
  };

  Json token_json(TokenId token, double log_probability) const;
  Json chat_json(const std::vector<Entry>& entries) const;
  Json completion_json(const std::vector<Entry>& entries);

  const Vocabulary& vocabulary_;
  std::size_t top_;
  bool chat_;
  std::vector<Entry> entries_;
  std::size_t text_bytes_ = 0;  // of what was taken
};

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_LOGPROBS_H_
