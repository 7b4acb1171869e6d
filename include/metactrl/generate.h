// Generating a plan: a language model, a decoder, and a way to choose.
//
//     auto session = model->start(prompt, 512);
//     metactrl::Decoder decoder(constraint, {});
//     metactrl::Generation g = metactrl::generate(decoder, *session, {});
//     std::cout << g.text << '\n';
//
// Tokens that have no alternative are collected and appended as one batch; the model is only asked where there is a
// choice. Logits that are not numbers never choose anything: NaN counts as minus infinity, and where every allowed
// token has minus infinity the weights alone decide.
#ifndef METACTRL_GENERATE_H_
#define METACTRL_GENERATE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metactrl/decoder.h"
#include "metactrl/error.h"
#include "metactrl/language_model.h"

namespace metactrl {

enum class DecodeMode {
  kGreedy,  // the best token, always
  kSample,  // at a temperature, from the smallest set of tokens with probability top_p, and of these by top_k and min_p
  kBeam,    // the best `beam` plans at every action, by the model's probability of whole actions times the lookahead
  kSmc,     // `samples` particles with the lookahead as twist: samples from p_LM(plan | constraint) itself
};
const char* to_string(DecodeMode mode);
std::optional<DecodeMode> decode_mode_named(std::string_view name);

struct PlanResult;

// Who watches a decoding, from generate() or plan(). Every function may be left out.
//
// A token is told before the actions that it completes. kBeam and kSmc know only at the end which tokens were those of
// the plan, and tell them then.
struct Observer {
  // A token, as it is decided.
  struct Token {
    // How likely the chosen token was.
    struct Probabilities {
      double model = 0;      // to the model, among all tokens
      double allowed = 0;    // to the model, among the tokens that were allowed
      double guided = 0;     // with the lookahead's weight: what it was chosen with, before temperature and top_p
      double favourite = 0;  // the favourite's, to the model, among all tokens
      bool favourite_allowed = true;
    };

    TokenId token{};
    bool forced = false;
    double log_weight = 0;  // of the chosen token
    std::size_t num_choices = 1;
    // The token the model liked best among all, when a choice was made: what it wanted.
    TokenId favourite{};
    // Where a choice was made and the observer asked for them.
    std::optional<Probabilities> probabilities{};
    // The token's text, empty for the end of the turn. Valid during the call.
    std::string_view bytes{};
    // What the model said, one value per token of the vocabulary; empty where it was not asked. Valid during the call.
    std::span<const float> logits{};
  };

  enum class Phase { kCompiling, kReadingPrompt, kDecoding, kChecking };

  // Work out the probabilities of every choice: linear in the vocabulary.
  bool probabilities = false;
  // A token was decided.
  std::function<void(const Token&)> token;
  // An action is complete; `text` is the plan's text up to here, what follows the action included. Not called where
  // the model writes what it likes.
  std::function<void(ActionId, std::string_view text)> action;
  // Only plan(), of a model that thinks first: a piece of the thought, in whole characters; and when it is over, all
  // tokens between the prompt and the plan, the closing included. Nothing of it is ever told as a token.
  std::function<void(std::string_view text)> thought;
  std::function<void(std::span<const TokenId> tokens)> thought_end;
  // Asked before every call of the model, by plan() also every few milliseconds while the lookahead is computed; true
  // ends the work where it is.
  Stop cancelled;

  // Only plan() has more to tell: where it stands; and before the first token what will be decoded with (pursued,
  // goals_dropped, lookahead, constraint, decoder, prompt, horizon), the rest is not known yet, and how many tokens the
  // longest answer takes. The result is valid during the call. `ready` is not called when there will be no plan.
  std::function<void(Phase)> phase;
  std::function<void(const PlanResult&, std::size_t answer_tokens)> ready;
};

struct GenerateOptions {
  DecodeMode mode = DecodeMode::kGreedy;
  double temperature = 1;
  double top_p = 1;
  // kSample: only the so many likeliest tokens, 0 for all; and only those that are at least so likely, as a share of the
  // likeliest one's probability.
  std::size_t top_k = 0;
  double min_p = 0;
  // kGreedy, kSample and the model alone: added to the logits of these tokens; taken away from those of a token for each
  // time that it was written, and once when it was. All rank what is allowed, and allow or forbid nothing.
  std::map<TokenId, double> logit_bias{};
  double frequency_penalty = 0;
  double presence_penalty = 0;
  unsigned beam = 4;
  unsigned samples = 16;
  std::uint64_t seed = 0;
  // Unconstrained generation only: give up after so many tokens.
  std::size_t max_tokens = 2048;
  // kGreedy and kSample under a constraint: also add up what the model thought of its choices. A pass over the
  // vocabulary at every choice.
  bool log_probability = false;
};

struct Generation {
  bool finished = false;  // false: cancelled, or (unconstrained) cut off
  std::vector<ActionId> plan;
  std::vector<std::uint32_t> separators;
  std::vector<TokenId> tokens;  // end of turn included
  std::string text;             // without it
  std::size_t forced_tokens = 0;
  std::size_t model_calls = 0;
  // kBeam and kSmc: log p_LM(tokens). With GenerateOptions::log_probability: the sum of log p_LM(token | text before
  // it) over the tokens that had an alternative; forced ones cost the model nothing and are not asked for. 0 otherwise.
  double log_probability = 0;
  // kSmc: every particle's plan text and normalised weight; the plan above is drawn from them.
  struct Particle {
    std::string text;
    double weight = 0;
  };
  std::vector<Particle> particles;
  double log_evidence = 0;  // kSmc: estimate of log p_LM(constraint)
};

// Decodes from where `decoder` and `session` are. Throws ModelError when the model fails.
Generation generate(Decoder& decoder, Session& session, const GenerateOptions& options, const Observer& observer = {});

// The model alone: greedy or sampled, until an end-of-turn token or max_tokens. `plan` stays empty: read the text with
// PlanSpelling::parse.
Generation generate_unconstrained(Session& session, const Vocabulary& vocabulary, const GenerateOptions& options,
                                  const Observer& observer = {});

}  // namespace metactrl

#endif  // METACTRL_GENERATE_H_
