// Models without weights. The logits after a prefix are a function of the seed and a hash of the prefix, so they are
// equal for equal prefixes, however one got there. The hashes of all prefixes are kept: a rollback is a truncation.
//
// A hostile model starts from the same noise and draws, from the prefix's hash, what to do at this place. Its tricks
// are strong enough that unconstrained decoding would follow them for certain.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lm/log_softmax.h"
#include "lm/malice.h"
#include "lm/token_tree.h"
#include "metactrl/language_model.h"
#include "support/str_cat.h"

namespace metactrl {

using lm::Malice;

namespace {

using internal::str_cat;

constexpr std::size_t kContext = std::size_t{1} << 20U;

// The finaliser of splitmix64: every input bit reaches every output bit.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

std::size_t index_of(TokenId token) { return static_cast<std::size_t>(static_cast<std::int32_t>(token)); }

// What both models share and sessions refer to. Immutable.
class Logits {
 public:
  Logits(std::shared_ptr<const Vocabulary> vocabulary, std::uint64_t seed)
      : vocabulary_(std::move(vocabulary)), seed_(mix(seed)) {}
  virtual ~Logits() = default;

  const Vocabulary& vocabulary() const { return *vocabulary_; }
  std::uint64_t empty_hash() const { return seed_; }
  // `prefix` is a hash of all tokens so far, `last` the last of them or -1.
  virtual void fill(std::uint64_t prefix, std::int32_t /*last*/, std::vector<float>& out) const { noise(prefix, out); }

 protected:
  // Uniform in [-8, 8).
  void noise(std::uint64_t prefix, std::vector<float>& out) const {
    out.resize(vocabulary_->size());
    // Two multiplications for two tokens: this loop is what a test with a large vocabulary spends its time in.
    constexpr float kScale = 16.0F / 4294967296.0F;
    const std::uint64_t key = mix(prefix);
    for (std::size_t i = 0; i < out.size(); i += 2) {
      std::uint64_t x = (key ^ i) * 0x9e3779b97f4a7c15ULL;
      x = (x ^ (x >> 32U)) * 0xd6e8feb86659fd93ULL;
      x ^= x >> 32U;
      out[i] = static_cast<float>(static_cast<std::uint32_t>(x)) * kScale - 8.0F;
      if (i + 1 < out.size())
        out[i + 1] = static_cast<float>(static_cast<std::uint32_t>(mix(x) >> 32U)) * kScale - 8.0F;
    }
  }

 private:
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::uint64_t seed_;
};

class HostileLogits : public Logits {
 public:
  HostileLogits(std::shared_ptr<const Vocabulary> vocabulary, std::uint64_t seed, Malice malice)
      : Logits(std::move(vocabulary), seed) {
    for (const Malice one : {Malice::kGarbage, Malice::kRepeat, Malice::kStopEarly, Malice::kNeverStop,
                             Malice::kNotANumber, Malice::kInfinity}) {
      if (includes(malice, one)) tricks_.push_back(one);
    }
    stops_ = this->vocabulary().end_of_turn();
    for (std::size_t i = 0; i < this->vocabulary().size(); ++i) {
      const TokenId token{static_cast<std::int32_t>(i)};
      const std::string_view bytes = this->vocabulary().bytes(token);
      if (bytes.empty()) continue;
      const bool closes = bytes.find_first_not_of("]})\"' \n") == std::string_view::npos;
      if (closes) stops_.push_back(token);
      if (!closes && bytes.find_first_of("{[(\"") == std::string_view::npos) garbage_.push_back(token);
    }
  }

  void fill(std::uint64_t prefix, std::int32_t last, std::vector<float>& out) const override {
    noise(prefix, out);
    if (tricks_.empty() || out.empty()) return;
    const std::uint64_t draw = mix(prefix ^ 0x5bd1e995ULL);
    switch (tricks_[draw % tricks_.size()]) {
      case Malice::kGarbage:
        for (std::uint64_t i = 0; i < 8 && !garbage_.empty(); ++i) {
          out[index_of(garbage_[mix(draw + i) % garbage_.size()])] += kPush;
        }
        break;
      case Malice::kRepeat:
        if (last >= 0 && static_cast<std::size_t>(last) < out.size()) out[static_cast<std::size_t>(last)] += kPush;
        break;
      case Malice::kStopEarly:
        for (const TokenId token : stops_) out[index_of(token)] += kPush;
        break;
      case Malice::kNeverStop:
        for (const TokenId token : stops_) out[index_of(token)] -= kPush;
        break;
      case Malice::kNotANumber:
        // Every entry, every other, or a few.
        scatter(draw, std::numeric_limits<float>::quiet_NaN(), out);
        break;
      case Malice::kInfinity:
        scatter(draw, -std::numeric_limits<float>::infinity(), out);
        if ((draw & 64U) != 0) scatter(mix(draw), std::numeric_limits<float>::infinity(), out);
        break;
      case Malice::kAll:
        break;
    }
  }

 private:
  static constexpr float kPush = 100.0F;

  static void scatter(std::uint64_t draw, float value, std::vector<float>& out) {
    constexpr std::array<std::uint64_t, 4> kPeriods = {1, 2, 3, 64};
    const std::uint64_t period = kPeriods[(draw >> 32U) % kPeriods.size()];
    for (std::uint64_t i = (draw >> 40U) % period; i < out.size(); i += period) out[i] = value;
  }

  std::vector<Malice> tricks_;
  std::vector<TokenId> stops_;
  std::vector<TokenId> garbage_;
};

class TestSession : public Session {
 public:
  TestSession(std::shared_ptr<const Logits> logits, std::span<const TokenId> prompt) : source_(std::move(logits)) {
    prefixes_.push_back(source_->empty_hash());
    append(prompt);
  }

  void append(std::span<const TokenId> tokens) override {
    if (size() + tokens.size() > kContext) {
      throw ModelError(
          str_cat("the context is full: ", size(), " tokens and ", tokens.size(), " more are beyond its ", kContext));
    }
    for (const TokenId token : tokens) check(token);
    for (const TokenId token : tokens) {
      tokens_.push_back(token);
      prefixes_.push_back(extend(prefixes_.back(), token));
    }
  }

  std::span<const float> logits() override {
    if (row_prefix_ != prefixes_.back() || row_.empty()) {
      source_->fill(prefixes_.back(), tokens_.empty() ? -1 : static_cast<std::int32_t>(tokens_.back()), row_);
      row_prefix_ = prefixes_.back();
      ++num_calls_;
    }
    return row_;
  }

  std::size_t size() const override { return tokens_.size(); }

  void rollback(std::size_t size) override {
    if (size >= tokens_.size()) return;
    tokens_.resize(size);
    prefixes_.resize(size + 1);
  }

  std::unique_ptr<Session> fork() override {
    auto copy = std::make_unique<TestSession>(*this);
    copy->num_calls_ = 0;
    return copy;
  }

  std::vector<std::vector<float>> score(std::span<const std::vector<TokenId>> paths) override {
    const lm::TokenTree tree(paths);
    const std::vector<lm::TokenTree::Node>& nodes = tree.nodes();
    std::vector<std::uint64_t> prefix(nodes.size(), prefixes_.back());
    std::vector<std::vector<std::size_t>> children(nodes.size());
    for (std::size_t i = 1; i < nodes.size(); ++i) {
      check(nodes[i].token);
      prefix[i] = extend(prefix[nodes[i].parent], nodes[i].token);
      children[nodes[i].parent].push_back(i);
    }
    std::vector<float> log_probability(nodes.size());
    std::vector<float> row;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!nodes[i].inner) continue;
      const TokenId last = i > 0 ? nodes[i].token : (tokens_.empty() ? TokenId{-1} : tokens_.back());
      source_->fill(prefix[i], static_cast<std::int32_t>(last), row);
      const double total = lm::log_sum_exp(row);
      for (const std::size_t child : children[i]) {
        log_probability[child] = static_cast<float>(row[index_of(nodes[child].token)] - total);
      }
    }
    if (nodes.size() > 1) ++num_calls_;
    std::vector<std::vector<float>> result(paths.size());
    for (std::size_t i = 0; i < paths.size(); ++i) {
      for (const std::uint32_t node : tree.nodes_of(i)) result[i].push_back(log_probability[node]);
    }
    return result;
  }

  std::size_t num_calls() const override { return num_calls_; }

 private:
  static std::uint64_t extend(std::uint64_t prefix, TokenId token) {
    return mix(prefix ^ (static_cast<std::uint64_t>(static_cast<std::uint32_t>(token)) + 1) * 0xff51afd7ed558ccdULL);
  }

  void check(TokenId token) const {
    if (static_cast<std::int32_t>(token) < 0 || index_of(token) >= source_->vocabulary().size()) {
      throw std::invalid_argument(str_cat("token ", static_cast<std::int32_t>(token), " is not in the vocabulary of ",
                                          source_->vocabulary().size(), " tokens"));
    }
  }

  std::shared_ptr<const Logits> source_;
  std::vector<TokenId> tokens_;
  std::vector<std::uint64_t> prefixes_;  // of 0, 1, ... tokens
  std::vector<float> row_;
  std::uint64_t row_prefix_ = 0;
  std::size_t num_calls_ = 0;
};

class TestModel : public LanguageModel {
 public:
  TestModel(std::shared_ptr<const Logits> logits, std::string description)
      : logits_(std::move(logits)), description_(std::move(description)) {}

  const Vocabulary& vocabulary() const override { return logits_->vocabulary(); }
  std::string description() const override { return description_; }
  std::size_t context_length() const override { return kContext; }

  std::string render_prompt(const Prompt& prompt) const override {
    if (!prompt.raw.empty()) return prompt.raw;
    std::string text = prompt.system + (prompt.system.empty() ? "" : "\n\n");
    for (const Prompt::Turn& turn : prompt.earlier) text += turn.text + "\n\n";
    return text + prompt.user + "\n\n";
  }

  using LanguageModel::encode_prompt;
  std::vector<TokenId> encode_prompt(const Prompt& prompt, const Stop& /*stop*/) const override {
    return vocabulary().encode(render_prompt(prompt), "");
  }

  std::unique_ptr<Session> start(std::span<const TokenId> prompt, std::size_t reserve) override {
    if (prompt.size() + reserve > kContext) {
      throw ContextError(str_cat("the prompt has ", prompt.size(), " tokens and the answer may take ", reserve,
                                 ", but the context holds ", kContext));
    }
    return std::make_unique<TestSession>(logits_, prompt);
  }

 private:
  std::shared_ptr<const Logits> logits_;
  std::string description_;
};

}  // namespace

std::unique_ptr<LanguageModel> random_model(std::shared_ptr<const Vocabulary> vocabulary, std::uint64_t seed) {
  return std::make_unique<TestModel>(std::make_shared<const Logits>(std::move(vocabulary), seed),
                                     str_cat("random:", seed));
}

std::unique_ptr<LanguageModel> hostile_model(std::shared_ptr<const Vocabulary> vocabulary, std::uint64_t seed) {
  return lm::hostile_model(std::move(vocabulary), seed, Malice::kAll);
}

std::unique_ptr<LanguageModel> lm::hostile_model(std::shared_ptr<const Vocabulary> vocabulary, std::uint64_t seed,
                                                 Malice malice) {
  return std::make_unique<TestModel>(std::make_shared<const HostileLogits>(std::move(vocabulary), seed, malice),
                                     str_cat("hostile:", seed));
}

}  // namespace metactrl
