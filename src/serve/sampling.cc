#include "serve/sampling.h"

#include <limits>
#include <string_view>

#include "support/str_cat.h"

namespace metactrl::serve {

namespace {

// As OpenAI's API has them.
constexpr double kMostPenalty = 2;
constexpr double kMostBias = 100;

// A token's id, which JSON has as text where it is a key.
TokenId read_token(const Fields& fields, std::string_view text) {
  std::int64_t id = 0;
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  for (const char digit : text.substr(0, 11)) id = id * 10 + (digit - '0');
  if (!digits || text.size() > 10 || id > std::numeric_limits<std::int32_t>::max()) {
    fields.refuse("logit_bias", "must have ids of tokens as its names");
  }
  return TokenId{static_cast<std::int32_t>(id)};
}

}  // namespace

void read_sampling(Fields& fields, GenerateOptions& generate) {
  generate.top_k =
      static_cast<std::size_t>(fields.integer("top_k", 0, std::numeric_limits<std::int32_t>::max()).value_or(0));
  generate.min_p = fields.number("min_p", 0, 1).value_or(0);
  generate.frequency_penalty = fields.number("frequency_penalty", -kMostPenalty, kMostPenalty).value_or(0);
  generate.presence_penalty = fields.number("presence_penalty", -kMostPenalty, kMostPenalty).value_or(0);
  generate.logit_bias.clear();
  const Json* bias = fields.find("logit_bias");
  if (bias == nullptr) return;
  if (!bias->is_object()) fields.refuse("logit_bias", "must be an object of tokens and numbers");
  for (const auto& [token, value] : bias->members()) {
    if (!value.is_number() || !(value.number() >= -kMostBias && value.number() <= kMostBias)) {
      fields.refuse("logit_bias", internal::str_cat("must have numbers from -", kMostBias, " to ", kMostBias));
    }
    generate.logit_bias[read_token(fields, token)] = value.number();
  }
}

void inherit_sampling(const Json& object, const GenerateOptions& around, GenerateOptions& generate) {
  if (!object.contains("top_k")) generate.top_k = around.top_k;
  if (!object.contains("min_p")) generate.min_p = around.min_p;
  if (!object.contains("frequency_penalty")) generate.frequency_penalty = around.frequency_penalty;
  if (!object.contains("presence_penalty")) generate.presence_penalty = around.presence_penalty;
  if (!object.contains("logit_bias")) generate.logit_bias = around.logit_bias;
}

void check_sampling(const GenerateOptions& generate, const Vocabulary& vocabulary) {
  for (const auto& [token, bias] : generate.logit_bias) {
    if (static_cast<std::size_t>(token) < vocabulary.size()) continue;
    throw ApiError(400, "bad_request",
                   internal::str_cat("'logit_bias' names the token ", static_cast<std::int32_t>(token),
                                     ", and the model has ", vocabulary.size()),
                   "logit_bias");
  }
  if (generate.mode != DecodeMode::kBeam && generate.mode != DecodeMode::kSmc) return;
  const char* set = !generate.logit_bias.empty()      ? "logit_bias"
                    : generate.frequency_penalty != 0 ? "frequency_penalty"
                    : generate.presence_penalty != 0  ? "presence_penalty"
                                                      : nullptr;
  if (set == nullptr) return;
  throw ApiError(400, "bad_request", internal::str_cat("'", set, "' is for decode greedy and sample"), set);
}

}  // namespace metactrl::serve
