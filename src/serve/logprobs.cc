#include "serve/logprobs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "decode/choose.h"

namespace metactrl::serve {

namespace {

// What OpenAI's API says of tokens that are hardly possible.
constexpr double kHardly = -9999;

double log_of(double probability) { return probability > 0 ? std::log(probability) : kHardly; }

}  // namespace

void TokenLog::add(const Observer::Token& event) {
  const double total = decode::log_normaliser(event.logits);
  const auto log_probability = [&](std::size_t token) {
    return std::max(decode::sane_logit(event.logits[token]) - total, kHardly);
  };
  Entry entry{event.token, log_probability(static_cast<std::size_t>(event.token)), {}};
  const std::size_t count = std::min(top_, event.logits.size());
  if (count > 0) {
    std::vector<std::size_t> order(event.logits.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                      [&](std::size_t a, std::size_t b) {
                        const double first = decode::sane_logit(event.logits[a]);
                        const double second = decode::sane_logit(event.logits[b]);
                        return first != second ? first > second : a < b;
                      });
    for (std::size_t i = 0; i < count; ++i) {
      entry.likeliest.emplace_back(TokenId{static_cast<std::int32_t>(order[i])}, log_probability(order[i]));
    }
  }
  entries_.push_back(std::move(entry));
}

void TokenLog::add_planned(const Observer::Token& event) {
  entries_.push_back({event.token, event.probabilities ? log_of(event.probabilities->guided) : 0, {}});
}

Json TokenLog::take() {
  const std::vector<Entry> entries = std::exchange(entries_, {});
  return chat_ ? chat_json(entries) : completion_json(entries);
}

Json TokenLog::token_json(TokenId token, double log_probability) const {
  const std::string_view bytes = vocabulary_.bytes(token);
  Json list = Json::array();
  for (const char byte : bytes) list.push_back(static_cast<unsigned char>(byte));
  return {{"token", bytes}, {"logprob", log_probability}, {"bytes", std::move(list)}};
}

Json TokenLog::chat_json(const std::vector<Entry>& entries) const {
  Json content = Json::array();
  for (const Entry& entry : entries) {
    Json& one = content.push_back(token_json(entry.token, entry.log_probability));
    Json likeliest = Json::array();
    for (const auto& [token, log_probability] : entry.likeliest)
      likeliest.push_back(token_json(token, log_probability));
    one["top_logprobs"] = std::move(likeliest);
  }
  return {{"content", std::move(content)}, {"refusal", nullptr}};
}

Json TokenLog::completion_json(const std::vector<Entry>& entries) {
  Json tokens = Json::array();
  Json values = Json::array();
  Json tops = Json::array();
  Json offsets = Json::array();
  for (const Entry& entry : entries) {
    const std::string_view bytes = vocabulary_.bytes(entry.token);
    tokens.push_back(bytes);
    values.push_back(entry.log_probability);
    offsets.push_back(text_bytes_);
    text_bytes_ += bytes.size();
    Json likeliest = Json::object();
    for (const auto& [token, log_probability] : entry.likeliest) {
      likeliest[vocabulary_.bytes(token)] = log_probability;
    }
    tops.push_back(top_ > 0 ? std::move(likeliest) : Json(nullptr));
  }
  return {{"tokens", std::move(tokens)},
          {"token_logprobs", std::move(values)},
          {"top_logprobs", std::move(tops)},
          {"text_offset", std::move(offsets)}};
}

}  // namespace metactrl::serve
