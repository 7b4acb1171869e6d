// Decoder: which tokens may come next, and how much each keeps of the future. One per request.
//
//     metactrl::Decoder decoder(constraint, {.guidance = Guidance::kUniform});
//     while (!decoder.finished()) {
//       TokenId best = ...;  // the token v of decoder.next() with the largest logits[v] + v.log_weight
//       decoder.accept(best);
//     }
//     std::span<const ActionId> plan = decoder.actions();
//
// The value of a next token v after the text x is
//
//     p_LM(v | x) * sum over actions a of  pi(a | x v) * S(a)
//
// where pi, the bridge, is a distribution over the actions that can still be meant, and S(a) is 0 when a may not be
// taken (support, a boolean with a proof) and otherwise the probability that a surrogate model finishes a plan that
// reaches the goal (lookahead.h). next() lists exactly the tokens with a positive value, with the logarithm of the
// second factor; accept() takes exactly those. Nothing is computed over the vocabulary.
//
// With a hidden Markov model of tokens (DecoderOptions::token_hmm) the second factor is the paper's final equation,
//
//     sum over actions a of  p(a | x v) * p(gamma | x v, a) * S(a)
//
// where the model says how likely what is left of a's text is written, and then the rest of a well-formed plan (gamma)
// to the end of the turn, with at most as many actions as the decoder allows. With kMask S is 0 or 1; with kSyntax the
// factor is p(gamma | x v), summed over all plans: Ctrl-G on gamma.
//
// With Tokenization::kAny the text x v is one of bytes. A token that goes past the end of an action commits to it: the
// sum is then over the actions behind that one, in the state that it leads to.
//
// Stopping. An action is spelled together with what follows it, a separator or the closing. Closing is allowed when the
// goal holds, and is worth 1; going on is worth the probability that the surrogate, having decided to go on, still
// succeeds.
//
// After the end every call is harmless: next() is empty, accept() returns false. rollback() takes back any number of
// tokens in constant time each, and what was found out behind them in no more than that took. The decoder is
// deterministic: what is offered depends on the tokens that it has, not on any that were taken back. After warm-up next()
// and accept() allocate nothing as long as the lookahead is exact (tier A); where it is not, they may search. They throw
// std::bad_alloc when memory ends, and Stopped when the decoder's Stop says so while they search; the decoder is then as
// it was before the call. Copying is a fork.
#ifndef METACTRL_DECODER_H_
#define METACTRL_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metactrl/constraint.h"
#include "metactrl/hmm.h"

namespace metactrl {

// What stands between the model and the plan; each level holds the one above it.
enum class Guidance {
  kNone,     // the model writes what it likes: plan() and generate_unconstrained(), no decoder
  kSyntax,   // well-formed plans over the task's actions, weighted by DecoderOptions::token_hmm where that is given
  kMask,     // only actions that are supported (legal, with the goal within reach), all alike but for Bridge::kHmm
  kUniform,  // the same, weighted by how much of the future each one keeps: the uniform lookahead
  kTrained,  // weighted by a trained surrogate, LookaheadOptions::hmm
  kSearch,   // no model at all, the lookahead's own plan: plan() and Lookahead::plan(), no decoder
};
const char* to_string(Guidance guidance);
std::optional<Guidance> guidance_named(std::string_view name);

// Which actions are meant while their text is incomplete.
enum class Bridge {
  kUniform,    // all actions that can still be meant are equally likely
  kSurrogate,  // as likely as the surrogate makes them; with it the factorisation is exact
  kModel,      // as likely as the language model makes them: see paths() and set_path_scores()
  kHmm,        // as likely as a hidden Markov model of tokens makes them, and a well-formed end: token_hmm
};
const char* to_string(Bridge bridge);
std::optional<Bridge> bridge_named(std::string_view name);

struct DecoderOptions {
  Guidance guidance = Guidance::kUniform;
  Bridge bridge = Bridge::kUniform;
  // At most so many actions; 0: the lookahead's horizon.
  unsigned horizon = 0;
  // The plan must have at least one action.
  bool forbid_empty = false;
  // For Bridge::kHmm and for kSyntax with any bridge; canonical tokenization only: a model at the token level, of the
  // constraint's vocabulary. Its table is made with the decoder, and shared by forks.
  std::optional<Hmm> token_hmm{};
  SupportOptions support{};
  // Plans with fewer actions, or cheaper ones, are preferred: a token's log-weight falls by `per_action` for each action,
  // and by `per_cost` for each unit of cost, that the best plan known behind it has more than the best one here. So 1 is
  // worth a factor e of the model's likelihood. Costs are those of LookaheadOptions::costs.
  double per_action = 0;
  double per_cost = 0;
};

struct NextToken {
  TokenId token{};
  double log_weight = 0;  // finite
};

class Decoder {
 public:
  // With a guidance above kSyntax the lookahead's verdict must be kSolvable; otherwise nothing is ever allowed. Throws
  // InputError for kNone and kSearch, which need no decoder; when guidance and lookahead are not of the same kind,
  // uniform or trained; for Bridge::kHmm without a model of the vocabulary's tokens; and for such a model with
  // Tokenization::kAny, or with another bridge above kSyntax. Throws Stopped when `stop` says so.
  Decoder(std::shared_ptr<const Constraint> constraint, const DecoderOptions& options, Stop stop = {});
  Decoder(const Decoder& other);
  Decoder& operator=(const Decoder& other);
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;
  ~Decoder();

  // The tokens that may come next, ascending. Empty exactly when finished(). (Or when there was nothing to begin with.)
  // Kept until the next accept() or rollback(): asking again costs nothing.
  std::span<const NextToken> next();
  // The longest run of tokens that have no alternative from here; may be empty. No model needs to be asked for them.
  std::span<const TokenId> forced();
  // Takes a token; false, and nothing happens, when it is not one of next().
  bool accept(TokenId token);
  // Takes back the last `tokens` tokens (all, when there are fewer), and what the lookahead found out behind them. Another
  // decoder takes what this one took, and offers the same behind it. Where no action is left, it holds no more than a new
  // one, either.
  void rollback(std::size_t tokens) noexcept;
  void reset() noexcept { rollback(num_tokens()); }

  // The end of the turn was accepted.
  bool finished() const;
  std::size_t num_tokens() const;
  std::span<const TokenId> tokens() const;
  // The actions whose text is complete.
  std::span<const ActionId> actions() const;
  std::span<const std::uint32_t> separators() const;
  // Between two actions: the state reached and how many actions are left.
  const State& state() const;
  unsigned left() const;
  // True right where an action begins (or the plan ends): the candidates are fresh. With Tokenization::kAny a token may
  // reach over that place; it is then not seen.
  bool at_boundary() const;

  // What the current boundary allows, for explanations: every legal action with its answer. Empty with kSyntax.
  std::span<const Candidate> candidates() const;

  // --- the model as its own bridge -----------------------------------------------------------------------------------

  // At a boundary: the token paths that are still possible, from here to the end of their action. At the very start,
  // the paths of the empty plan (end of turn included) come last, where it is allowed. A path whose plan the end of the
  // turn closes comes once for each end-of-turn token. With Tokenization::kAny a path is written as the tokenizer would
  // write it, one of many ways.
  std::vector<std::vector<TokenId>> paths() const;
  // The model's log-probability of every token of every path (Session::score), in the same order. From now to the next
  // boundary, Bridge::kModel weighs with them. Without scores it falls back to kUniform.
  void set_path_scores(const std::vector<std::vector<float>>& scores);

  const Constraint& constraint() const;
  const DecoderOptions& options() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace metactrl

#endif  // METACTRL_DECODER_H_
