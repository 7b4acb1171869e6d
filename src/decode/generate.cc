// Greedy and sampled decoding, and the model alone. Beam search and particles are in beam.cc and smc.cc.
#include "metactrl/generate.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>

#include "decode/choose.h"
#include "decode/generate_together.h"
#include "decode/strategies.h"
#include "lm/together.h"

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

bool ends_turn(const Vocabulary& vocabulary, TokenId token) {
  const std::vector<TokenId>& ends = vocabulary.end_of_turn();
  return std::find(ends.begin(), ends.end(), token) != ends.end();
}

std::string_view bytes_of(const Vocabulary& vocabulary, TokenId token) {
  return ends_turn(vocabulary, token) ? std::string_view() : vocabulary.bytes(token);
}

// Lets a decoder take tokens, and tells of each before the actions that it completes.
class Teller {
 public:
  Teller(Decoder& decoder, const Observer& observer)
      : decoder_(decoder), observer_(observer), vocabulary_(decoder.constraint().vocabulary()) {}

  void take(Observer::Token event) {
    event.bytes = bytes_of(vocabulary_, event.token);
    if (observer_.token) observer_.token(event);
    const std::size_t before = decoder_.actions().size();
    if (!decoder_.accept(event.token)) throw std::logic_error("the decoder does not accept what it has offered");
    if (!observer_.action || decoder_.actions().size() == before) return;
    const std::string text = decode::text_of(vocabulary_, decoder_.tokens());
    for (std::size_t i = before; i < decoder_.actions().size(); ++i) {
      observer_.action(decoder_.actions()[i], std::string_view(text).substr(0, end_of(i)));
    }
  }

 private:
  // Where the text of action number `index` (from 0) ends, what follows it included. The last token may reach beyond.
  std::size_t end_of(std::size_t index) {
    const PlanSpelling& spelling = decoder_.constraint().spelling();
    const PlanFormat& format = spelling.format();
    const std::span<const std::uint32_t> separators = decoder_.separators();
    if (counted_ == 0) end_ = format.open.size();
    for (; counted_ <= index; ++counted_) {
      end_ += spelling.prefix(counted_ + 1).size() + spelling.action(decoder_.actions()[counted_]).text().size();
      end_ += counted_ < separators.size() ? format.separators[separators[counted_]].size() : format.close.size();
    }
    return end_;
  }

  Decoder& decoder_;
  const Observer& observer_;
  const Vocabulary& vocabulary_;
  std::size_t counted_ = 0;  // actions
  std::size_t end_ = 0;      // of their text
};

// One decoding, token by token.
class TokenLoop {
 public:
  TokenLoop(Decoder& decoder, Session& session, const GenerateOptions& options, const Observer& observer)
      : decoder_(decoder),
        session_(session),
        options_(options),
        observer_(observer),
        teller_(decoder, observer),
        random_(options.seed),
        adjustment_(options) {}

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
    for (TokenId token : forced_) take({token, true, 0, 1, token});
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

  // What each choice forces is known before the model has said anything: a call that has room for it reads it, too, and
  // the choice behind it needs no call of its own.
  void expect_choices() {
    constexpr std::size_t kMost = 8;
    const std::size_t spare = session_.spare_tokens();
    if (spare == 0 || decoder_.next().size() > kMost || decoder_.options().bridge == Bridge::kModel) return;
    // To look behind a choice must not spend what searches may: what is offered does not depend on the machine.
    const Lookahead* lookahead = decoder_.constraint().lookahead().get();
    if (lookahead != nullptr && lookahead->tier() != Lookahead::Tier::kExact) return;
    std::vector<NextToken> choices(decoder_.next().begin(), decoder_.next().end());
    const auto weighs_more = [](const NextToken& a, const NextToken& b) { return a.log_weight > b.log_weight; };
    std::stable_sort(choices.begin(), choices.end(), weighs_more);
    double total = 0;
    for (const NextToken& choice : choices) total += std::exp(choice.log_weight - choices[0].log_weight);
    std::vector<std::vector<TokenId>> continuations;
    std::size_t room = spare;
    for (const NextToken& choice : choices) {
      if (!decoder_.accept(choice.token)) throw std::logic_error("the decoder does not accept what it has offered");
      std::vector<TokenId> run = {choice.token};
      const std::span<const TokenId> forced = decoder_.forced();
      run.insert(run.end(), forced.begin(), forced.end());
      // Behind the end, and behind what is forced up to it, nobody asks.
      const bool ends = ends_turn(decoder_.constraint().vocabulary(), run.back());
      decoder_.rollback(1);
      // What the model thinks of it is not known yet; by the weights alone, does it spare more than it costs in vain?
      const double probability = std::exp(choice.log_weight - choices[0].log_weight) / total;
      const double in_vain = static_cast<double>(run.size()) * (1 - probability);
      if (ends || run.size() > room || in_vain > static_cast<double>(spare) * probability) continue;
      room -= run.size();
      continuations.push_back(std::move(run));
    }
    session_.expect(continuations);
  }

  void take_choice() {
    if (!pending_.empty()) expect_choices();
    const std::span<const float> logits = this->logits();
    const std::span<const NextToken> choices = decoder_.next();
    decode::score_choices(choices, logits, scores_);
    for (std::size_t i = 0; adjustment_.active() && i < choices.size(); ++i) {
      scores_[i] += adjustment_.of(choices[i].token);
    }
    const std::size_t chosen = options_.mode == DecodeMode::kSample
                                   ? decode::choose_sample(scores_, decode::rule_of(options_), random_, buffers_)
                                   : decode::choose_best(scores_);
    const NextToken choice = choices[chosen];
    if (options_.log_probability) {
      const auto index = static_cast<std::size_t>(choice.token);
      log_probability_ += decode::sane_logit(logits[index]) - decode::log_normaliser(logits);
    }
    Observer::Token event{choice.token, false, choice.log_weight, choices.size()};
    if (observer_.token) {
      event.favourite = decode::favourite(logits);
      event.logits = logits;
      if (observer_.probabilities) event.probabilities = decode::probabilities_of(choices, logits, scores_, chosen);
    }
    take(event);
  }

  void take(const Observer::Token& event) {
    teller_.take(event);
    pending_.push_back(event.token);
    adjustment_.wrote(event.token);
  }

  Decoder& decoder_;
  Session& session_;
  const GenerateOptions& options_;
  const Observer& observer_;
  Teller teller_;
  decode::Random random_;
  decode::Adjustment adjustment_;
  std::vector<TokenId> pending_;
  std::vector<TokenId> forced_;
  std::vector<double> scores_;
  decode::SampleBuffers buffers_;
  double log_probability_ = 0;
};

}  // namespace

Generation generate(Decoder& decoder, Session& session, const GenerateOptions& options, const Observer& observer) {
  if (options.mode == DecodeMode::kGreedy || options.mode == DecodeMode::kSample) {
    return TokenLoop(decoder, session, options, observer).run();
  }
  Generation result = options.mode == DecodeMode::kBeam ? decode::beam_search(decoder, session, options, observer)
                                                        : decode::particle_filter(decoder, session, options, observer);
  Teller teller(decoder, observer);
  for (std::size_t i = decoder.num_tokens(); i < result.tokens.size(); ++i) {
    const TokenId token = result.tokens[i];
    const std::span<const NextToken> choices = decoder.next();
    Observer::Token event{token, choices.size() == 1, 0, choices.size(), token};
    for (const NextToken& choice : choices) {
      if (choice.token == token) event.log_weight = choice.log_weight;
    }
    result.forced_tokens += event.forced ? 1 : 0;
    teller.take(event);
  }
  return result;
}

namespace {

// A text that the model writes alone, token by token.
class FreeWriting {
 public:
  FreeWriting(const Vocabulary& vocabulary, const GenerateOptions& options, std::uint64_t seed)
      : vocabulary_(vocabulary), options_(options), random_(seed), adjustment_(options) {}

  bool ended() const { return result_.finished || result_.tokens.size() >= options_.max_tokens; }

  // Chooses one more token.
  void write(Session& session, const Observer& observer) {
    const std::span<const float> logits = session.logits();
    const TokenId favourite = decode::favourite(logits);
    const TokenId token = choose(logits, favourite);
    result_.tokens.push_back(token);
    adjustment_.wrote(token);
    if (observer.token) {
      Observer::Token event{token, false, 0, logits.size(), favourite};
      event.bytes = bytes_of(vocabulary_, token);
      event.logits = logits;
      if (observer.probabilities) event.probabilities = decode::probabilities_of(token, logits);
      observer.token(event);
    }
    if (ends_turn(vocabulary_, token)) {
      result_.finished = true;
      return;
    }
    result_.text += vocabulary_.bytes(token);
    const TokenId appended[] = {token};
    session.append(appended);
  }

  Generation& result() { return result_; }

 private:
  TokenId choose(std::span<const float> logits, TokenId favourite) {
    const bool samples = options_.mode == DecodeMode::kSample && options_.temperature > 0;
    if (!samples && !adjustment_.active()) return favourite;
    scores_.clear();
    for (const float logit : logits) scores_.push_back(decode::sane_logit(logit));
    adjustment_.add_to(scores_);
    const std::size_t chosen = samples ? decode::choose_sample(scores_, decode::rule_of(options_), random_, buffers_)
                                       : decode::choose_best(scores_);
    return TokenId{static_cast<std::int32_t>(chosen)};
  }

  const Vocabulary& vocabulary_;
  const GenerateOptions& options_;
  decode::Random random_;
  decode::Adjustment adjustment_;
  std::vector<double> scores_;
  decode::SampleBuffers buffers_;
  Generation result_;
};

bool is_cancelled(const Observer& observer) { return observer.cancelled && observer.cancelled(); }

}  // namespace

Generation generate_unconstrained(Session& session, const Vocabulary& vocabulary, const GenerateOptions& options,
                                  const Observer& observer) {
  FreeWriting text(vocabulary, options, options.seed);
  const std::size_t calls_before = session.num_calls();
  while (!text.ended() && !is_cancelled(observer)) text.write(session, observer);
  text.result().model_calls = session.num_calls() - calls_before;
  return std::move(text.result());
}

namespace decode {

std::vector<Generation> generate_together(Session& prompt, std::span<const std::uint64_t> seeds,
                                          const Vocabulary& vocabulary, const GenerateOptions& options,
                                          const std::function<bool()>& cancelled) {
  const Observer observer;
  std::vector<FreeWriting> texts;
  texts.reserve(seeds.size());
  std::vector<std::unique_ptr<Session>> sessions;
  for (const std::uint64_t seed : seeds) {
    texts.emplace_back(vocabulary, options, seed);
    sessions.push_back(prompt.fork());
  }
  std::vector<Session*> writing;
  while (!(cancelled && cancelled())) {
    writing.clear();
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (sessions[i] == nullptr) continue;
      if (!texts[i].ended()) texts[i].write(*sessions[i], observer);
      if (texts[i].ended()) {
        texts[i].result().model_calls = sessions[i]->num_calls();
        sessions[i].reset();  // its memory is for others
      } else {
        writing.push_back(sessions[i].get());
      }
    }
    if (writing.empty()) break;
    lm::prepare_together(writing);
  }
  std::vector<Generation> results;
  for (FreeWriting& text : texts) results.push_back(std::move(text.result()));
  return results;
}

}  // namespace decode

}  // namespace metactrl
