// The adapter under the chains that llama.cpp programs build, with logits that no model would give.
#include <gtest/gtest.h>
#include <llama.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "metactrl/constraint.h"
#include "metactrl/decoder.h"
#include "metactrl/domain.h"
#include "metactrl/language_model.h"
#include "metactrl_llama_sampler.h"
#include "support/tiny_gguf.h"

namespace metactrl::llama_sampler_test {
namespace {

constexpr const char* kDomain = R"((define (domain switches)
  (:requirements :strips)
  (:predicates (lamp ?x) (lit ?x) (dark ?x))
  (:action on :parameters (?x) :precondition (and (lamp ?x) (dark ?x)) :effect (and (lit ?x) (not (dark ?x))))
  (:action off :parameters (?x) :precondition (and (lamp ?x) (lit ?x)) :effect (and (dark ?x) (not (lit ?x))))))";
constexpr const char* kProblem = R"((define (problem two) (:domain switches)
  (:objects red blue)
  (:init (lamp red) (lamp blue) (dark red) (lit blue))
  (:goal (and (lit red) (dark blue)))))";

using SamplerPtr = std::unique_ptr<llama_sampler, decltype(&llama_sampler_free)>;

class LlamaSamplerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string file = ::testing::TempDir() + "metactrl_sampler_" + std::to_string(getpid()) + ".gguf";
    testing::write_tiny_gguf(file);
    vocabulary_ = load_vocabulary(file);
    std::remove(file.c_str());
    ConstraintOptions options;
    options.lookahead.horizon = 6;
    constraint_ =
        Constraint::compile(load_pddl_text(kDomain, kProblem), PlanFormat::builtin("pddl"), vocabulary_, options);
    sampler_.reset(metactrl_llama_sampler(Decoder(constraint_, {})));
  }

  // Candidates for every token, as llama.cpp makes them.
  std::vector<llama_token_data> candidates(float logit) const {
    std::vector<llama_token_data> all;
    for (std::size_t i = 0; i < vocabulary_->size(); ++i) all.push_back({static_cast<llama_token>(i), logit, 0.0F});
    return all;
  }

  // Runs the sampler on `all`, and gives what it leaves.
  static std::vector<llama_token_data> apply(llama_sampler* sampler, std::vector<llama_token_data> all) {
    llama_token_data_array array{all.data(), all.size(), -1, false};
    llama_sampler_apply(sampler, &array);
    return {array.data, array.data + array.size};
  }

  const Decoder& decoder() const { return *metactrl_llama_sampler_decoder(sampler_.get()); }

  // Follows the sampler with random logits until it ends the turn.
  void finish(llama_sampler* sampler, unsigned seed) {
    std::mt19937 random(seed);
    for (int step = 0; step < 500; ++step) {
      auto all = candidates(0.0F);
      for (auto& candidate : all) {
        candidate.logit = static_cast<float>(random() % 1000) / 100.0F;
        if (random() % 5 == 0) candidate.logit = std::numeric_limits<float>::quiet_NaN();
        if (random() % 7 == 0) candidate.logit = std::numeric_limits<float>::infinity();
        if (random() % 7 == 0) candidate.logit = -std::numeric_limits<float>::infinity();
      }
      const auto left = apply(sampler, all);
      ASSERT_FALSE(left.empty());
      const auto best =
          std::max_element(left.begin(), left.end(), [](const auto& a, const auto& b) { return a.logit < b.logit; });
      ASSERT_TRUE(std::isfinite(best->logit));
      llama_sampler_accept(sampler, best->id);
      if (std::binary_search(vocabulary_->end_of_turn().begin(), vocabulary_->end_of_turn().end(), TokenId{best->id}))
        return;
    }
    FAIL() << "no end";
  }

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::shared_ptr<const Constraint> constraint_;
  SamplerPtr sampler_{nullptr, llama_sampler_free};
};

TEST_F(LlamaSamplerTest, LeavesExactlyTheAllowedTokens) {
  EXPECT_STREQ(llama_sampler_name(sampler_.get()), "metactrl");
  const auto left = apply(sampler_.get(), candidates(1.5F));
  Decoder reference(constraint_, {});
  ASSERT_EQ(left.size(), reference.next().size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    EXPECT_EQ(left[i].id, static_cast<llama_token>(reference.next()[i].token));
    EXPECT_NEAR(left[i].logit, 1.5 + reference.next()[i].log_weight, 1e-5);
  }
}

TEST_F(LlamaSamplerTest, OrderAndTruncationOfTheCandidatesDoNotMatter) {
  auto all = candidates(0.0F);
  for (auto& candidate : all) candidate.logit = static_cast<float>(candidate.id % 17);
  auto shuffled = all;
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(3));
  auto straight = apply(sampler_.get(), all);
  auto mixed = apply(sampler_.get(), shuffled);
  const auto by_id = [](const auto& a, const auto& b) { return a.id < b.id; };
  std::sort(mixed.begin(), mixed.end(), by_id);
  ASSERT_EQ(straight.size(), mixed.size());
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    EXPECT_EQ(straight[i].id, mixed[i].id);
    EXPECT_EQ(straight[i].logit, mixed[i].logit);
  }
  // Another sampler left one token, and it is not allowed.
  llama_token forbidden = 0;
  while (
      std::any_of(straight.begin(), straight.end(), [&](const auto& candidate) { return candidate.id == forbidden; }))
    ++forbidden;
  const auto rescued = apply(sampler_.get(), {{forbidden, 5.0F, 0.0F}});
  ASSERT_EQ(rescued.size(), 1U);
  EXPECT_TRUE(std::any_of(straight.begin(), straight.end(),
                          [&](const auto& candidate) { return candidate.id == rescued[0].id; }));
}

TEST_F(LlamaSamplerTest, EveryPlanIsValidWhateverTheLogits) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    llama_sampler_reset(sampler_.get());
    finish(sampler_.get(), seed);
    ASSERT_TRUE(decoder().finished());
    EXPECT_TRUE(constraint_->task().validate(decoder().actions()).valid) << seed;
  }
}

TEST_F(LlamaSamplerTest, ClonesAreIndependent) {
  const auto first = apply(sampler_.get(), candidates(0.0F));
  llama_sampler_accept(sampler_.get(), first[0].id);
  const SamplerPtr clone(llama_sampler_clone(sampler_.get()), llama_sampler_free);
  ASSERT_NE(metactrl_llama_sampler_decoder(clone.get()), nullptr);
  finish(clone.get(), 1);
  EXPECT_EQ(decoder().num_tokens(), 1U);
  EXPECT_TRUE(metactrl_llama_sampler_decoder(clone.get())->finished());
  finish(sampler_.get(), 2);
  EXPECT_TRUE(constraint_->task().validate(decoder().actions()).valid);
}

TEST_F(LlamaSamplerTest, AfterTheEndOrAForeignTokenOnlyTheEndIsLeft) {
  const auto ends = [&](llama_sampler* sampler) {
    std::vector<TokenId> ids;
    for (const auto& candidate : apply(sampler, candidates(0.0F))) ids.push_back(TokenId{candidate.id});
    return ids == vocabulary_->end_of_turn();
  };
  finish(sampler_.get(), 4);
  EXPECT_TRUE(ends(sampler_.get()));
  llama_sampler_accept(sampler_.get(), 5);
  EXPECT_TRUE(ends(sampler_.get()));
  llama_sampler_reset(sampler_.get());
  EXPECT_FALSE(ends(sampler_.get()));
  llama_token forbidden = 0;
  const auto allowed = apply(sampler_.get(), candidates(0.0F));
  while (std::any_of(allowed.begin(), allowed.end(), [&](const auto& candidate) { return candidate.id == forbidden; }))
    ++forbidden;
  llama_sampler_accept(sampler_.get(), forbidden);
  EXPECT_TRUE(ends(sampler_.get()));
  EXPECT_FALSE(decoder().finished());
}

// Things that are to be brought to places; far too many orders to enumerate.
constexpr const char* kErrands = R"((define (domain errands) (:requirements :adl :typing) (:types thing place)
  (:predicates (at ?p - place) (in ?t - thing ?p - place) (held ?t - thing) (busy))
  (:action grab :parameters (?t - thing ?p - place) :precondition (and (at ?p) (in ?t ?p) (not (busy)))
    :effect (and (held ?t) (busy) (not (in ?t ?p))))
  (:action put :parameters (?t - thing ?p - place) :precondition (and (at ?p) (held ?t))
    :effect (and (in ?t ?p) (not (held ?t)) (not (busy))))
  (:action walk :parameters (?from ?to - place) :precondition (at ?from) :effect (and (not (at ?from)) (at ?to)))))";
constexpr const char* kFourErrands = R"((define (problem four) (:domain errands)
  (:objects a b c d - thing p q r s - place)
  (:init (at p) (in a p) (in b q) (in c r) (in d s))
  (:goal (and (in a q) (in b r) (in c s) (in d p)))))";

// Where a call may search it may fail. That ends the text, and not the program.
TEST_F(LlamaSamplerTest, NoExceptionReachesLlama) {
  ConstraintOptions options;
  options.lookahead.exact.states = 10;
  const auto constraint =
      Constraint::compile(load_pddl_text(kErrands, kFourErrands), PlanFormat::builtin("pddl"), vocabulary_, options);
  bool stopped = false;
  sampler_.reset(metactrl_llama_sampler(Decoder(constraint, {}, [&stopped] { return stopped; })));
  const auto ends = [&] {
    const llama_token token = apply(sampler_.get(), candidates(0.0F)).back().id;
    llama_sampler_accept(sampler_.get(), token);
    const std::vector<TokenId>& all = vocabulary_->end_of_turn();
    return std::find(all.begin(), all.end(), TokenId{token}) != all.end();
  };
  EXPECT_FALSE(ends());
  stopped = true;
  for (int step = 0; step < 5000; ++step) {
    if (ends()) break;
  }
  EXPECT_TRUE(ends());
  EXPECT_FALSE(decoder().finished());
  stopped = false;
  EXPECT_TRUE(ends());
  llama_sampler_reset(sampler_.get());
  EXPECT_FALSE(ends());
}

TEST_F(LlamaSamplerTest, WorksInAChain) {
  const SamplerPtr chain(llama_sampler_chain_init(llama_sampler_chain_default_params()), llama_sampler_free);
  llama_sampler_chain_add(chain.get(), sampler_.release());
  llama_sampler_chain_add(chain.get(), llama_sampler_init_top_k(40));
  llama_sampler_chain_add(chain.get(), llama_sampler_init_temp(0.7F));
  llama_sampler_chain_add(chain.get(), llama_sampler_init_dist(9));
  for (int step = 0; step < 500; ++step) {
    auto all = candidates(0.0F);
    llama_token_data_array array{all.data(), all.size(), -1, false};
    llama_sampler_apply(chain.get(), &array);
    ASSERT_GE(array.selected, 0);
    const llama_token token = array.data[array.selected].id;
    llama_sampler_accept(chain.get(), token);
    if (metactrl_llama_sampler_decoder(llama_sampler_chain_get(chain.get(), 0))->finished()) break;
  }
  const Decoder* decoder = metactrl_llama_sampler_decoder(llama_sampler_chain_get(chain.get(), 0));
  EXPECT_TRUE(decoder->finished());
  EXPECT_TRUE(constraint_->task().validate(decoder->actions()).valid);
  EXPECT_EQ(metactrl_llama_sampler_decoder(chain.get()), nullptr);
  EXPECT_EQ(metactrl_llama_sampler_decoder(nullptr), nullptr);
}

}  // namespace
}  // namespace metactrl::llama_sampler_test
