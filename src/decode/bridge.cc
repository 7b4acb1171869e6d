// The choice among bridges, and the one that is a language model: it says what is left of the live paths alone. There is
// no denominator then, and what the model would write besides is lost. Without scores it is the bridge it was made with.
#include "decode/bridge.h"

#include <algorithm>
#include <cassert>
#include <string>

#include "decode/mass_bridge.h"
#include "decode/token_bridge.h"
#include "metactrl/error.h"
#include "support/log_math.h"

namespace metactrl::decode {

namespace {

class ModelBridge : public PathBridge {
 public:
  explicit ModelBridge(std::unique_ptr<PathBridge> otherwise) : otherwise_(std::move(otherwise)) {}

  std::unique_ptr<PathBridge> fork() const override { return std::make_unique<ModelBridge>(*this); }
  double log_mass(std::uint32_t rank, const Candidate& candidate) const override {
    return otherwise_->log_mass(rank, candidate);
  }
  void open(const Boundary& boundary, std::span<const Path> paths) override {
    if (boundary.number <= scored_) scores_.clear();
    otherwise_->open(boundary, paths);
  }
  double log_weight(const Boundary& boundary, std::span<const Path> paths, const Choice& choice) const override {
    if (scores_.empty() || scored_ != boundary.number) return otherwise_->log_weight(boundary, paths, choice);
    assert(scores_.size() == paths.size());
    const double result = internal::log_sum(
        choice.begin, choice.end, [&](std::size_t i) { return scores_[i][choice.depth] + paths[i].log_value; });
    return std::max(result, 2 * kLowestLogWeight);
  }
  void set_path_scores(const Boundary& boundary, std::vector<std::vector<double>> scores) override {
    scores_ = std::move(scores);
    scored_ = boundary.number;
  }

 private:
  OwnBridge otherwise_;
  std::vector<std::vector<double>> scores_;
  std::size_t scored_ = 0;  // the boundary whose paths they are of
};

// Null where no model of tokens takes part.
std::shared_ptr<const TokenSurrogate> token_surrogate(const Constraint& constraint, const DecoderOptions& options) {
  const std::string bridge = std::string("bridge ") + to_string(options.bridge);
  if (options.bridge == Bridge::kHmm && !options.token_hmm) {
    throw InputError(bridge, "needs a hidden Markov model of tokens", "set DecoderOptions::token_hmm");
  }
  if (!options.token_hmm) return nullptr;
  if (options.bridge != Bridge::kHmm && options.guidance != Guidance::kSyntax) {
    throw InputError(bridge, "has no use for a hidden Markov model of tokens", "use bridge hmm, or guidance syntax");
  }
  if (constraint.automaton().tokenization() != Tokenization::kCanonical) {
    throw InputError("model of tokens", "reads the tokenizer's own tokens, and 'any' tokenization allows others",
                     "use canonical tokenization, or do without the model of tokens");
  }
  return std::make_shared<const TokenSurrogate>(*options.token_hmm, constraint.vocabulary());
}

}  // namespace

double PathBridge::log_weight_before(const Boundary& boundary, std::span<const Path>, const Before& before) const {
  if (before.part == Before::Part::kEmpty) return 0;
  if (!before.empty) return before.log_go_on;
  return internal::log_add(boundary.log_end, boundary.log_go + before.log_go_on);
}

std::unique_ptr<PathBridge> make_bridge(const Constraint& constraint, const DecoderOptions& options, const Stop& stop) {
  if (std::shared_ptr<const TokenSurrogate> tokens = token_surrogate(constraint, options); tokens != nullptr) {
    const unsigned horizon = options.horizon > 0 ? options.horizon : constraint.lookahead()->horizon();
    return std::make_unique<TokenBridge>(constraint, std::move(tokens), horizon, options.guidance == Guidance::kSyntax,
                                         stop);
  }
  const bool trained = options.guidance == Guidance::kTrained;
  if (!trained && options.guidance != Guidance::kUniform) return nullptr;
  const bool surrogate = options.bridge == Bridge::kSurrogate;
  std::unique_ptr<PathBridge> bridge;
  if (trained) {
    bridge = std::make_unique<TrainedBridge>(constraint, surrogate);
  } else {
    bridge = std::make_unique<MassBridge>(constraint, surrogate);
  }
  if (options.bridge == Bridge::kModel) bridge = std::make_unique<ModelBridge>(std::move(bridge));
  return bridge;
}

}  // namespace metactrl::decode
