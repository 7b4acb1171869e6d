// Greedy and sampled decoding, and the model alone. Beam search and particles are in beam.cc and smc.cc.
#include "metactrl/generate.h"

#include <algorithm>

#include "decode/choose.h"
#include "decode/strategies.h"

namespace metactrl {

namespace decode {

std::string text_of(const Vocabulary& vocabulary, std::span<const TokenId> tokens) {
  std::string text;
  for (TokenId token : tokens) text += vocabulary.bytes(token);
  return text;
}

void take_result(const Decoder& decoder, Generation& result) {
  result.finished = decoder.finished();
  result.plan.assign(decoder.actions().begin(), decoder.actions().end());
  result.separators.assign(decoder.separators().begin(), decoder.separators().end());
  result.tokens.assign(decoder.tokens().begin(), decoder.tokens().end());
  result.text = text_of(decoder.constraint().vocabulary(),
                        decoder.tokens().first(decoder.num_tokens() - (decoder.finished() ? 1 : 0)));
}

}  // namespace decode

namespace {

// One decoding, token by token.
class TokenLoop {
 public:
  TokenLoop(Decoder& decoder, Session& session, const GenerateOptions& options, const Observer& observer)
      : decoder_(decoder), session_(session), options_(options), observer_(observer), random_(options.seed) {}

  Generation run() {
    Generation result;
    const std::size_t calls_before = session_.num_calls();
    while (!decoder_.finished()) {
      if (take_forced(result)) continue;
      if (decoder_.next().empty()) break;  // nothing was possible to begin with
      if (observer_.cancelled && observer_.cancelled()) break;
      if (decoder_.options().bridge == Bridge::kModel && decoder_.at_boundary()) score_paths();
      take_choice();
    }
    decode::take_result(decoder_, result);
    result.log_probability = log_probability_;
    result.model_calls = session_.num_calls() - calls_before;
    return result;
  }

 private:
  bool take_forced(Generation& result) {
    const std::span<const TokenId> run = decoder_.forced();
    if (run.empty()) return false;
    forced_.assign(run.begin(), run.end());
    for (TokenId token : forced_) {
      accept(token);
      if (observer_.token) observer_.token({token, true, 0, 1, token});
    }
    result.forced_tokens += forced_.size();
    return true;
  }

  // Brings the session up to date: everything decided since the last choice, as one batch.
  std::span<const float> logits() {
    if (!pending_.empty()) session_.append(pending_);
    pending_.clear();
    return session_.logits();
  }

  void score_paths() {
    if (!pending_.empty()) session_.append(pending_);
    pending_.clear();
    decoder_.set_path_scores(session_.score(decoder_.paths()));
  }

  void take_choice() {
    const std::span<const float> logits = this->logits();
    if (observer_.boundary && decoder_.at_boundary()) observer_.boundary(decoder_, logits);
    const std::span<const NextToken> choices = decoder_.next();
    decode::score_choices(choices, logits, scores_);
    const std::size_t chosen =
        options_.mode == DecodeMode::kSample
            ? decode::choose_sample(scores_, options_.temperature, options_.top_p, random_, buffers_)
            : decode::choose_best(scores_);
    const NextToken choice = choices[chosen];
    if (options_.log_probability) {
      const auto index = static_cast<std::size_t>(choice.token);
      log_probability_ += decode::sane_logit(logits[index]) - decode::log_normaliser(logits);
    }
    if (observer_.token) {
      TokenEvent event{choice.token, false, choice.log_weight, choices.size(), decode::favourite(logits)};
      if (observer_.probabilities) event.probabilities = decode::probabilities_of(choices, logits, scores_, chosen);
      observer_.token(event);
    }
    accept(choice.token);
  }

  void accept(TokenId token) {
    const std::size_t before = decoder_.actions().size();
    decoder_.accept(token);
    pending_.push_back(token);
    if (!observer_.action) return;
    for (ActionId action : decoder_.actions().subspan(before)) observer_.action(action);
  }

  Decoder& decoder_;
  Session& session_;
  const GenerateOptions& options_;
  const Observer& observer_;
  decode::Random random_;
  std::vector<TokenId> pending_;
  std::vector<TokenId> forced_;
  std::vector<double> scores_;
  decode::SampleBuffers buffers_;
  double log_probability_ = 0;
};

}  // namespace

Generation generate(Decoder& decoder, Session& session, const GenerateOptions& options, const Observer& observer) {
  switch (options.mode) {
    case DecodeMode::kBeam:
      return decode::beam_search(decoder, session, options, observer);
    case DecodeMode::kSmc:
      return decode::particle_filter(decoder, session, options, observer);
    case DecodeMode::kGreedy:
    case DecodeMode::kSample:
      break;
  }
  return TokenLoop(decoder, session, options, observer).run();
}

Generation generate_unconstrained(Session& session, const Vocabulary& vocabulary, const GenerateOptions& options,
                                  const Observer& observer) {
  Generation result;
  decode::Random random(options.seed);
  const std::vector<TokenId>& stops = vocabulary.end_of_turn();
  const std::size_t calls_before = session.num_calls();
  std::vector<double> scores;
  while (result.tokens.size() < options.max_tokens && !(observer.cancelled && observer.cancelled())) {
    const std::span<const float> logits = session.logits();
    const TokenId favourite = decode::favourite(logits);
    TokenId token = favourite;
    if (options.mode == DecodeMode::kSample && options.temperature > 0) {
      scores.clear();
      for (float logit : logits) scores.push_back(decode::sane_logit(logit));
      token =
          TokenId{static_cast<std::int32_t>(decode::choose_sample(scores, options.temperature, options.top_p, random))};
    }
    result.tokens.push_back(token);
    if (observer.token) {
      TokenEvent event{token, false, 0, logits.size(), favourite};
      if (observer.probabilities) event.probabilities = decode::probabilities_of(token, logits);
      observer.token(event);
    }
    if (std::find(stops.begin(), stops.end(), token) != stops.end()) {
      result.finished = true;
      break;
    }
    result.text += vocabulary.bytes(token);
    const TokenId appended[] = {token};
    session.append(appended);
  }
  result.model_calls = session.num_calls() - calls_before;
  return result;
}

}  // namespace metactrl
