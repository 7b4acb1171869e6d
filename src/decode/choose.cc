#include "decode/choose.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lm/log_softmax.h"

namespace metactrl::decode {

namespace {

// Far beyond any real logit, and small enough that adding a log-weight to it still means something.
constexpr double kLowest = -1e9;
constexpr double kHighest = 1e9;

// As the largest of all: then no entry has to be changed to be compared with it.
bool is_plain(double logit) { return std::abs(logit) < kHighest; }

}  // namespace

double sane_logit(float logit) noexcept {
  if (std::isnan(logit)) return kLowest;
  return std::clamp(static_cast<double>(logit), kLowest, kHighest);
}

void score_choices(std::span<const NextToken> choices, std::span<const float> logits, std::vector<double>& scores) {
  scores.clear();
  for (const NextToken& choice : choices) {
    const auto token = static_cast<std::size_t>(choice.token);
    scores.push_back((token < logits.size() ? sane_logit(logits[token]) : kLowest) + choice.log_weight);
  }
}

std::size_t choose_best(std::span<const double> scores) noexcept {
  return static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

double Adjustment::of(TokenId token) const {
  double out = 0;
  if (const auto bias = options_.logit_bias.find(token); bias != options_.logit_bias.end()) out += bias->second;
  if (const auto count = written_.find(token); count != written_.end()) {
    out -= options_.frequency_penalty * count->second + options_.presence_penalty;
  }
  return out;
}

void Adjustment::add_to(std::span<double> scores) const {
  const auto add = [&](TokenId token, double value) {
    const auto index = static_cast<std::size_t>(token);
    if (index < scores.size()) scores[index] += value;
  };
  for (const auto& [token, bias] : options_.logit_bias) add(token, bias);
  for (const auto& [token, count] : written_) {
    add(token, -(options_.frequency_penalty * count + options_.presence_penalty));
  }
}

std::size_t choose_sample(std::span<const double> scores, const SampleRule& rule, Random& random,
                          SampleBuffers& buffers) {
  // Drawn in any case, so that what follows does not depend on how many choices there were here.
  const double point = random.uniform();
  if (rule.temperature <= 0 || scores.size() == 1) return choose_best(scores);
  auto& [order, weights] = buffers;
  order.resize(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Nearly all of a vocabulary is too unlikely to change a sum of doubles that begins with 1, so it need not be sorted.
  constexpr double kNothing = 60;
  const double lowest = scores[choose_best(scores)] - kNothing * rule.temperature;
  std::erase_if(order, [&](std::size_t i) { return scores[i] < lowest; });
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; });
  weights.clear();
  const double largest = scores[order.front()];
  for (std::size_t i : order) weights.push_back(std::exp((scores[i] - largest) / rule.temperature));
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::size_t kept = 0;
  double mass = 0;
  // The first weight is 1: min_p is a share of it.
  const std::size_t most = rule.top_k == 0 ? weights.size() : std::min(rule.top_k, weights.size());
  while (kept < most && (kept == 0 || (mass < rule.top_p * total && weights[kept] >= rule.min_p))) {
    mass += weights[kept++];
  }
  double target = point * mass;
  for (std::size_t i = 0; i + 1 < kept; ++i) {
    if (target < weights[i]) return order[i];
    target -= weights[i];
  }
  return order[kept - 1];
}

TokenId favourite(std::span<const float> logits) {
  const lm::Largest largest = lm::largest(logits);
  std::size_t best = largest.index;
  if (!is_plain(largest.value)) {
    best = 0;
    for (std::size_t i = 1; i < logits.size(); ++i) {
      if (sane_logit(logits[i]) > sane_logit(logits[best])) best = i;
    }
  }
  return TokenId{static_cast<std::int32_t>(best)};
}

double log_normaliser(std::span<const float> logits) {
  const double plain = lm::log_sum_exp(logits);
  if (is_plain(plain)) return plain;
  // What no model says has to have a value all the same.
  const double largest = sane_logit(lm::largest(logits).value);
  double sum = 0;
  for (const float logit : logits) {
    if (!std::isnan(logit)) sum += std::exp(sane_logit(logit) - largest);
  }
  return largest + std::log(std::max(sum, 1e-300));
}

namespace {

double logit_of(TokenId token, std::span<const float> logits) {
  const auto index = static_cast<std::size_t>(token);
  return index < logits.size() ? sane_logit(logits[index]) : kLowest;
}

// exp(scores[chosen]) as a share of the sum.
double share(std::span<const double> scores, std::size_t chosen) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (const double score : scores) sum += std::exp(score - largest);
  return std::exp(scores[chosen] - largest) / sum;
}

}  // namespace

Observer::Token::Probabilities probabilities_of(std::span<const NextToken> choices, std::span<const float> logits,
                                                std::span<const double> scores, std::size_t chosen) {
  const double total = log_normaliser(logits);
  const TokenId best = favourite(logits);
  Observer::Token::Probabilities out;
  out.model = std::exp(logit_of(choices[chosen].token, logits) - total);
  out.favourite = std::exp(logit_of(best, logits) - total);
  std::vector<double> plain;
  plain.reserve(choices.size());
  out.favourite_allowed = false;
  for (const NextToken& choice : choices) {
    plain.push_back(logit_of(choice.token, logits));
    out.favourite_allowed = out.favourite_allowed || choice.token == best;
  }
  out.allowed = share(plain, chosen);
  out.guided = share(scores, chosen);
  return out;
}

Observer::Token::Probabilities probabilities_of(TokenId token, std::span<const float> logits) {
  const double total = log_normaliser(logits);
  Observer::Token::Probabilities out;
  out.model = std::exp(logit_of(token, logits) - total);
  out.allowed = out.model;
  out.guided = out.model;
  out.favourite = std::exp(logit_of(favourite(logits), logits) - total);
  return out;
}

}  // namespace metactrl::decode
