// Decoding strategies on small random constraints with models that have no weights: what comes out is always a plan,
// and comes out as often as it should.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "metactrl/generate.h"
#include "support/random_constraint.h"

namespace metactrl::generate_property_test {
namespace {

std::shared_ptr<const Vocabulary> vocabulary_of(const std::shared_ptr<const Constraint>& constraint) {
  return {constraint, &constraint->vocabulary()};
}

// A model with milder opinions than another one: its logits divided. The exact distribution of a wild one is
// concentrated on a single plan, and says little about sampling.
class MildSession : public Session {
 public:
  explicit MildSession(std::unique_ptr<Session> wild) : wild_(std::move(wild)) {}
  void append(std::span<const TokenId> tokens) override { wild_->append(tokens); }
  std::span<const float> logits() override {
    const std::span<const float> wild = wild_->logits();
    logits_.assign(wild.begin(), wild.end());
    for (float& logit : logits_) logit /= 12;
    return logits_;
  }
  std::size_t size() const override { return wild_->size(); }
  void rollback(std::size_t size) override { wild_->rollback(size); }
  std::unique_ptr<Session> fork() override { return std::make_unique<MildSession>(wild_->fork()); }
  std::vector<std::vector<float>> score(std::span<const std::vector<TokenId>> paths) override {
    return wild_->score(paths);
  }
  std::size_t num_calls() const override { return wild_->num_calls(); }

 private:
  std::unique_ptr<Session> wild_;
  std::vector<float> logits_;
};

std::unique_ptr<Session> start(LanguageModel& model) { return model.start(model.encode_prompt({"", "", "go"}), 64); }

void expect_plan(const Constraint& constraint, const Generation& generation) {
  ASSERT_TRUE(generation.finished);
  State state = constraint.task().initial_state();
  for (ActionId action : generation.plan) {
    const std::optional<State> next = constraint.task().apply(state, action);
    ASSERT_TRUE(next.has_value()) << generation.text;
    state = *next;
  }
  EXPECT_TRUE(constraint.task().is_goal(state)) << generation.text;
  EXPECT_EQ(generation.text, constraint.spelling().render(generation.plan, generation.separators));
  const PlanSpelling::Parsed parsed = constraint.spelling().parse(generation.text);
  EXPECT_TRUE(parsed.complete);
  EXPECT_EQ(parsed.actions, generation.plan);
  EXPECT_LE(generation.forced_tokens, generation.tokens.size());
}

Generation run(const std::shared_ptr<const Constraint>& constraint, LanguageModel& model, const DecoderOptions& decoder,
               const GenerateOptions& options) {
  Decoder d(constraint, decoder);
  const std::unique_ptr<Session> session = start(model);
  return generate(d, *session, options);
}

TEST(Generate, EveryModelEveryModeGivesAPlan) {
  std::size_t plans = 0;
  for (std::uint64_t seed = 0; plans < 1500; ++seed) {
    testing::RandomConstraintOptions random;
    random.horizon = 2 + static_cast<unsigned>(seed % 4);
    random.witness_tier = seed % 3 == 0;
    random.no_closing = seed % 7 == 0;
    random.tokenization = seed % 4 == 1 ? Tokenization::kAny : Tokenization::kCanonical;
    const std::shared_ptr<const Constraint> constraint = testing::random_constraint(2000000 + seed, random);
    if (constraint == nullptr) continue;
    const auto model =
        seed % 2 == 0 ? random_model(vocabulary_of(constraint), seed) : hostile_model(vocabulary_of(constraint), seed);
    for (const Guidance guidance : {Guidance::kMask, Guidance::kUniform}) {
      for (const DecodeMode mode : {DecodeMode::kGreedy, DecodeMode::kSample, DecodeMode::kBeam, DecodeMode::kSmc}) {
        GenerateOptions options;
        options.mode = mode;
        options.beam = 2;
        options.samples = 3;
        options.seed = seed;
        DecoderOptions decoder;
        decoder.guidance = guidance;
        decoder.bridge = seed % 5 == 0 ? Bridge::kModel : Bridge::kUniform;
        const Generation generation = run(constraint, *model, decoder, options);
        expect_plan(*constraint, generation);
        ASSERT_FALSE(HasFatalFailure()) << "seed " << seed << ' ' << to_string(mode) << ' ' << to_string(guidance);
        ++plans;
      }
    }
  }
}

TEST(Generate, SyntaxAloneIsNotEnough) {
  std::size_t invalid = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const std::shared_ptr<const Constraint> constraint = testing::random_constraint(2000000 + seed);
    if (constraint == nullptr) continue;
    const auto model = hostile_model(vocabulary_of(constraint), seed);
    const Generation generation = run(constraint, *model, {Guidance::kSyntax, Bridge::kUniform, 0, false}, {});
    ASSERT_TRUE(generation.finished);
    // Well formed it is, in every case.
    ASSERT_TRUE(constraint->spelling().parse(generation.text).complete) << generation.text;
    State state = constraint->task().initial_state();
    bool legal = true;
    for (ActionId action : generation.plan) {
      const std::optional<State> next = constraint->task().apply(state, action);
      legal = legal && next.has_value();
      if (next) state = *next;
    }
    invalid += legal && constraint->task().is_goal(state) ? 0 : 1;
  }
  EXPECT_GT(invalid, 10U);
}

TEST(Generate, SamplingIsReproducible) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::shared_ptr<const Constraint> constraint = testing::random_constraint(2000000 + seed);
    if (constraint == nullptr) continue;
    const auto model = random_model(vocabulary_of(constraint), seed);
    GenerateOptions options;
    options.mode = seed % 2 == 0 ? DecodeMode::kSample : DecodeMode::kSmc;
    options.seed = 7;
    EXPECT_EQ(run(constraint, *model, {}, options).text, run(constraint, *model, {}, options).text);
  }
}

// All plans with their probability under the model alone, and under the proposal of the particles.
class Enumeration {
 public:
  struct Plan {
    double log_probability = 0;
    double log_proposal = 0;
  };

  Enumeration(const std::shared_ptr<const Constraint>& constraint, Session& session) : decoder_(constraint, {}) {
    walk(session, {});
  }
  // There were more than this can hold.
  bool too_many() const { return plans_.size() > kMost; }
  // By all tokens, the end of the turn included.
  const std::map<std::vector<TokenId>, Plan>& plans() const { return plans_; }

 private:
  static constexpr std::size_t kMost = 2000;

  void walk(Session& session, Plan so_far) {
    if (too_many()) return;
    if (decoder_.finished()) {
      plans_[std::vector<TokenId>(decoder_.tokens().begin(), decoder_.tokens().end())] = so_far;
      return;
    }
    const std::vector<NextToken> choices(decoder_.next().begin(), decoder_.next().end());
    const std::vector<float> logits(session.logits().begin(), session.logits().end());
    double all = 0;
    for (float logit : logits) all += std::exp(static_cast<double>(logit));
    const auto logit_of = [&](const NextToken& choice) {
      return static_cast<double>(logits[static_cast<std::size_t>(choice.token)]);
    };
    double proposed = 0;
    for (const NextToken& choice : choices) proposed += std::exp(logit_of(choice) + choice.log_weight);
    for (const NextToken& choice : choices) {
      decoder_.accept(choice.token);
      const TokenId appended[] = {choice.token};
      session.append(appended);
      walk(session, {so_far.log_probability + logit_of(choice) - std::log(all),
                     so_far.log_proposal + logit_of(choice) + choice.log_weight - std::log(proposed)});
      session.rollback(session.size() - 1);
      decoder_.rollback(1);
    }
  }

  Decoder decoder_;
  std::map<std::vector<TokenId>, Plan> plans_;
};

class Particles : public ::testing::TestWithParam<Tokenization> {};

TEST_P(Particles, FollowTheConstrainedDistribution) {
  constexpr unsigned kParticles = 200;
  constexpr int kRuns = 30;
  std::size_t tested = 0;
  for (std::uint64_t seed = 0; tested < 15; ++seed) {
    testing::RandomConstraintOptions random;
    random.tokenization = GetParam();
    // In any tokens a plan has many spellings, and all of them count.
    random.horizon = GetParam() == Tokenization::kAny ? 1 : 2;
    const std::shared_ptr<const Constraint> constraint = testing::random_constraint(3000000 + seed, random);
    if (constraint == nullptr) continue;
    const auto model = random_model(vocabulary_of(constraint), seed);
    MildSession session(start(*model));
    const Enumeration exact(constraint, session);
    if (exact.too_many()) continue;
    double total = 0;
    for (const auto& [tokens, plan] : exact.plans()) total += std::exp(plan.log_probability);
    // Statistics need visits: every plan that matters is proposed a few times in a run.
    bool visited = exact.plans().size() >= 2;
    for (const auto& [tokens, plan] : exact.plans()) {
      const bool matters = std::exp(plan.log_probability) / total > 0.02;
      visited = visited && (!matters || std::exp(plan.log_proposal) * kParticles > 4);
    }
    if (!visited) continue;
    ++tested;
    std::map<std::string, double> target;
    for (const auto& [tokens, plan] : exact.plans()) {
      std::string text;
      for (TokenId token : tokens) text += constraint->vocabulary().bytes(token);
      target[text] += std::exp(plan.log_probability) / total;
    }
    std::map<std::string, double> found;
    double evidence = 0;
    for (int i = 0; i < kRuns; ++i) {
      GenerateOptions options;
      options.mode = DecodeMode::kSmc;
      options.samples = kParticles;
      options.seed = static_cast<std::uint64_t>(i);
      Decoder decoder(constraint, {});
      const Generation generation = generate(decoder, session, options);
      evidence += std::exp(generation.log_evidence) / kRuns;
      for (const Generation::Particle& particle : generation.particles) found[particle.text] += particle.weight / kRuns;
    }
    double distance = 0;
    for (const auto& [text, probability] : target) distance += std::abs(probability - found[text]) / 2;
    EXPECT_LT(distance, 0.06) << "seed " << seed;
    EXPECT_NEAR(std::log(evidence), std::log(total), 0.12) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Tokens, Particles, ::testing::Values(Tokenization::kCanonical, Tokenization::kAny),
                         [](const auto& info) { return to_string(info.param); });

TEST(Generate, AWideBeamFindsTheMostLikelyPlan) {
  std::size_t tested = 0;
  for (std::uint64_t seed = 0; tested < 40; ++seed) {
    testing::RandomConstraintOptions random;
    random.horizon = 2;
    const std::shared_ptr<const Constraint> constraint = testing::random_constraint(4000000 + seed, random);
    if (constraint == nullptr) continue;
    const auto model = random_model(vocabulary_of(constraint), seed);
    const Enumeration exact(constraint, *start(*model));
    if (exact.plans().size() < 2 || exact.plans().size() > 200) continue;
    ++tested;
    double best = -1e300;
    for (const auto& [tokens, plan] : exact.plans()) best = std::max(best, plan.log_probability);
    GenerateOptions options;
    options.mode = DecodeMode::kBeam;
    options.beam = 1000;
    const Generation generation = run(constraint, *model, {}, options);
    expect_plan(*constraint, generation);
    EXPECT_NEAR(generation.log_probability, best, 1e-3) << "seed " << seed;
  }
}

// Decoders on one constraint, many threads: the same plans as one after the other.
TEST(GenerateThreads, DecodersShareACompiledConstraint) {
  std::shared_ptr<const Constraint> constraint;
  for (std::uint64_t seed = 0; constraint == nullptr; ++seed) {
    testing::RandomConstraintOptions random;
    random.horizon = 5;
    random.max_actions = 12;
    constraint = testing::random_constraint(5000000 + seed, random);
  }
  const auto plan = [&](std::uint64_t seed) {
    const auto model = random_model(vocabulary_of(constraint), seed);
    return run(constraint, *model, {}, {}).text;
  };
  std::vector<std::string> expected;
  for (std::uint64_t seed = 0; seed < 16; ++seed) expected.push_back(plan(seed));
  std::vector<std::string> found(expected.size());
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t seed = t; seed < found.size(); seed += 4) found[seed] = plan(seed);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace metactrl::generate_property_test
