// Decoding strategies on small random constraints with models that have no weights: what comes out is always a plan,
// and comes out as often as it should.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "metactrl/generate.h"
#include "support/random_constraint.h"
#include "support/repeats.h"
#include "text/token_automaton.h"

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

// Every text of a plan, found by trying all sequences of actions, as a tree of tokens. Nothing of support, lookahead or
// automaton takes part: only Task::apply, the format's writer and the vocabulary's own encoding.
class PlanTexts {
 public:
  struct Node {
    std::map<TokenId, std::size_t> children;
    std::vector<double> up_to;  // sums of what the model gives the tokens 0 .. i
  };

  explicit PlanTexts(const Constraint& constraint) : constraint_(constraint), nodes_(1) {
    std::vector<ActionId> plan;
    walk(constraint.task().initial_state(), static_cast<unsigned>(constraint.lookahead()->horizon()), plan);
  }
  bool too_many() const { return nodes_.size() > kMost; }
  std::size_t num_plans() const { return num_plans_; }
  const Node& node(std::size_t n) const { return nodes_[n]; }
  // What the model says behind each beginning.
  void ask(Session& session, std::size_t n = 0) {
    double sum = 0;
    for (const float logit : session.logits()) nodes_[n].up_to.push_back(sum += std::exp(static_cast<double>(logit)));
    for (const auto& [token, child] : nodes_[n].children) {
      const TokenId appended[] = {token};
      session.append(appended);
      ask(session, child);
      session.rollback(session.size() - 1);
    }
  }
  // What the model gives a token behind a beginning, and what it gives all with which a plan goes on.
  double mass(std::size_t n, TokenId token) const {
    const auto i = static_cast<std::size_t>(token);
    return nodes_[n].up_to[i] - (i == 0 ? 0 : nodes_[n].up_to[i - 1]);
  }
  double allowed_mass(std::size_t n) const {
    double sum = 0;
    for (const auto& [token, child] : nodes_[n].children) sum += mass(n, token);
    return sum;
  }
  // Calls `use(tokens, probability)` for every text, with its probability where each token is drawn until one is drawn
  // with which a plan goes on.
  template <typename Use>
  void for_each_text(const Use& use, std::vector<TokenId> tokens = {}, std::size_t n = 0,
                     double probability = 1) const {
    if (nodes_[n].children.empty()) return use(tokens, probability);
    for (const auto& [token, child] : nodes_[n].children) {
      tokens.push_back(token);
      for_each_text(use, tokens, child, probability * mass(n, token) / allowed_mass(n));
      tokens.pop_back();
    }
  }

 private:
  static constexpr std::size_t kMost = 4000;

  void walk(const State& state, unsigned left, std::vector<ActionId>& plan) {
    if (too_many()) return;
    const Task& task = constraint_.task();
    if (task.is_goal(state)) add_spellings(plan);
    if (left == 0) return;
    for (const ActionId action : task.applicable_actions(state)) {
      const std::optional<State> next = task.apply(state, action);
      if (!next || *next == state) continue;  // what changes nothing is not offered
      plan.push_back(action);
      walk(*next, left - 1, plan);
      plan.pop_back();
    }
  }

  void add_spellings(const std::vector<ActionId>& plan) {
    const auto kinds = static_cast<std::uint32_t>(constraint_.automaton().num_separators());
    std::vector<std::uint32_t> separators(plan.empty() ? 0 : plan.size() - 1, 0);
    for (bool more = true; more;) {
      std::vector<TokenId> tokens =
          constraint_.vocabulary().encode(constraint_.spelling().render(plan, separators), "");
      for (const TokenId end : constraint_.vocabulary().end_of_turn()) {
        tokens.push_back(end);
        add(tokens);
        tokens.pop_back();
      }
      more = false;
      for (std::uint32_t& separator : separators) {
        if (++separator < kinds) {
          more = true;
          break;
        }
        separator = 0;
      }
    }
  }

  void add(const std::vector<TokenId>& tokens) {
    std::size_t n = 0;
    for (const TokenId token : tokens) {
      const auto [child, is_new] = nodes_[n].children.emplace(token, nodes_.size());
      n = child->second;  // before the nodes move
      if (is_new) nodes_.emplace_back();
    }
    ++num_plans_;
  }

  const Constraint& constraint_;
  std::vector<Node> nodes_;
  std::size_t num_plans_ = 0;
};

// With the space enumerated, or with every answer about support from a search.
std::shared_ptr<const Constraint> small_constraint(std::uint64_t seed) {
  testing::RandomConstraintOptions random;
  random.horizon = 1 + static_cast<unsigned>(seed % 3);
  random.witness_tier = seed % 2 == 0;
  random.no_closing = seed % 7 == 0;
  return testing::random_constraint(5000000 + seed, random);
}

// What a sampler that draws from the whole vocabulary and draws again until a plan can go on has in the long run,
// p(v) / sum of p over the tokens with which one can, is what the mask's choices have: the same tokens, all of one
// weight. On every beginning of every plan.
TEST(Rejection, HasTheDistributionOfTheMask) {
  std::size_t tasks = 0;
  std::size_t beginnings = 0;
  std::size_t with_a_choice = 0;
  for (std::uint64_t seed = 0; tasks < testing::repeats(2000); ++seed) {
    const std::shared_ptr<const Constraint> constraint = small_constraint(seed);
    if (constraint == nullptr) continue;
    const PlanTexts texts(*constraint);
    if (texts.too_many()) continue;
    ++tasks;
    ASSERT_GT(texts.num_plans(), 0U) << "seed " << seed;
    DecoderOptions options;
    options.guidance = Guidance::kMask;
    Decoder decoder(constraint, options);
    const auto compare = [&](const auto& self, std::size_t n) -> void {
      const std::vector<NextToken> choices(decoder.next().begin(), decoder.next().end());
      ASSERT_EQ(choices.size(), texts.node(n).children.size());
      ++beginnings;
      with_a_choice += choices.size() > 1 ? 1 : 0;
      for (const NextToken& choice : choices) {
        const auto child = texts.node(n).children.find(choice.token);
        ASSERT_NE(child, texts.node(n).children.end());
        ASSERT_EQ(choice.log_weight, choices.front().log_weight);
        ASSERT_TRUE(decoder.accept(choice.token));
        self(self, child->second);
        if (::testing::Test::HasFatalFailure()) return;
        decoder.rollback(1);
      }
    };
    compare(compare, 0);
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
  }
  EXPECT_GT(beginnings, testing::repeats(50000));
  EXPECT_GT(with_a_choice, testing::repeats(5000));
}

// How far counts are from what is expected of them, in standard deviations of the chi-square statistic; texts that are
// expected fewer than five times are counted together.
double excess(const std::map<std::vector<TokenId>, double>& expected,
              std::map<std::vector<TokenId>, std::size_t>& seen) {
  double statistic = 0;
  double cells = 0;
  double rare_expected = 0;
  double rare_seen = 0;
  const auto add = [&](double count, double mean) {
    statistic += (count - mean) * (count - mean) / mean;
    ++cells;
  };
  for (const auto& [tokens, mean] : expected) {
    if (mean >= 5) {
      add(static_cast<double>(seen[tokens]), mean);
    } else {
      rare_expected += mean;
      rare_seen += static_cast<double>(seen[tokens]);
    }
  }
  if (rare_expected >= 5) add(rare_seen, rare_expected);
  return cells < 2 ? 0 : (statistic - (cells - 1)) / std::sqrt(2 * (cells - 1));
}

// Both samplers themselves, drawing: thousands of plans each, against the distribution as it is computed.
TEST(Rejection, DrawsWhatTheMaskDraws) {
  constexpr std::size_t kDraws = 1500;
  std::size_t tasks = 0;
  std::size_t redrawn = 0;
  for (std::uint64_t seed = 0; tasks < testing::repeats(12); ++seed) {
    const std::shared_ptr<const Constraint> constraint = small_constraint(seed);
    if (constraint == nullptr) continue;
    PlanTexts texts(*constraint);
    if (texts.too_many() || texts.num_plans() < 4 || texts.num_plans() > 40) continue;
    ++tasks;
    const auto model = random_model(vocabulary_of(constraint), seed);
    MildSession session(start(*model));
    texts.ask(session);
    std::map<std::vector<TokenId>, double> expected;
    texts.for_each_text([&](const std::vector<TokenId>& tokens, double probability) {
      expected[tokens] = probability * static_cast<double>(kDraws);
    });
    std::map<std::vector<TokenId>, std::size_t> rejected;
    std::map<std::vector<TokenId>, std::size_t> masked;
    std::mt19937_64 engine(seed);
    for (std::size_t draw = 0; draw < kDraws; ++draw) {
      std::vector<TokenId> tokens;
      for (std::size_t n = 0; !texts.node(n).children.empty();) {
        const std::vector<double>& up_to = texts.node(n).up_to;
        const double at = static_cast<double>(engine() >> 11U) * 0x1p-53 * up_to.back();
        const auto found = std::upper_bound(up_to.begin(), up_to.end(), at) - up_to.begin();
        const auto child = texts.node(n).children.find(TokenId{static_cast<std::int32_t>(found)});
        if (child == texts.node(n).children.end()) {
          ++redrawn;
          continue;
        }
        tokens.push_back(child->first);
        n = child->second;
      }
      ++rejected[tokens];
      GenerateOptions options;
      options.mode = DecodeMode::kSample;
      options.seed = draw;
      DecoderOptions mask;
      mask.guidance = Guidance::kMask;
      Decoder decoder(constraint, mask);
      MildSession fresh(start(*model));
      const Generation generation = generate(decoder, fresh, options);
      ASSERT_TRUE(expected.contains(generation.tokens)) << "seed " << seed << ": " << generation.text;
      ++masked[generation.tokens];
    }
    EXPECT_LT(excess(expected, rejected), 5) << "seed " << seed;
    EXPECT_LT(excess(expected, masked), 5) << "seed " << seed;
  }
  EXPECT_GT(redrawn, testing::repeats(100000));
}

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
