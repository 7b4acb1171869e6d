// A service whose model knows single bytes, with limits that keep every request short, and an exchange without a peer.
#ifndef METACTRL_TESTS_FUZZ_BYTE_SERVICE_H_
#define METACTRL_TESTS_FUZZ_BYTE_SERVICE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metactrl/language_model.h"
#include "metactrl/vocabulary.h"
#include "serve/service.h"

// Keeps what is answered.
class SilentExchange : public metactrl::serve::Exchange {
 public:
  metactrl::serve::HttpRequest& request() override { return request_; }
  bool respond(int status, const std::string& /*content_type*/, std::string_view body,
               const metactrl::serve::HttpHeaders& /*headers*/) override {
    status_ = status;
    body_ = body;
    return true;
  }
  bool begin_stream(const std::string& /*content_type*/, const metactrl::serve::HttpHeaders& /*headers*/) override {
    status_ = 200;
    return true;
  }
  bool write(std::string_view bytes) override {
    body_ += bytes;
    return true;
  }
  bool end_stream() override { return true; }
  bool responded() const override { return status_ != 0; }
  int status() const override { return status_; }
  bool gone() override { return false; }
  const std::string& body() const { return body_; }

 private:
  metactrl::serve::HttpRequest request_;
  int status_ = 0;
  std::string body_;
};

inline std::vector<metactrl::serve::ServedModel> byte_model() {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  tokens.emplace_back("");
  const std::vector<metactrl::TokenId> ends{metactrl::TokenId{256}};
  const auto vocabulary = std::make_shared<metactrl::TableVocabulary>(tokens, ends);
  return {{"bytes", metactrl::random_model(vocabulary, 7), vocabulary}};
}

inline metactrl::serve::ServiceOptions small_options() {
  metactrl::serve::ServiceOptions options;
  options.limits.seconds = 0.2;
  options.limits.tokens = 200;
  options.limits.states = 200;
  options.limits.horizon = 8;
  options.limits.ground_actions = 500;
  options.limits.ground_facts = 500;
  options.cache_bytes = 1 << 20;
  return options;
}

#endif  // METACTRL_TESTS_FUZZ_BYTE_SERVICE_H_
