// The models for tests: reproducible, and as hostile as they claim.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "lm/log_softmax.h"
#include "lm/malice.h"
#include "lm/token_tree.h"
#include "metactrl/language_model.h"

namespace metactrl::test_models_test {
namespace {

using Paths = std::vector<std::vector<TokenId>>;

// Token i is the byte i; 256 ends the turn, and there are some unused tokens behind it.
class ByteVocabulary : public Vocabulary {
 public:
  ByteVocabulary() {
    for (int i = 0; i < 256; ++i) bytes_.push_back(static_cast<char>(i));
  }
  std::size_t size() const override { return 261; }
  std::string_view bytes(TokenId token) const override {
    const auto i = static_cast<std::size_t>(token);
    return i < 256 ? std::string_view(bytes_).substr(i, 1) : std::string_view();
  }
  const std::vector<TokenId>& end_of_turn() const override { return end_of_turn_; }
  std::vector<TokenId> encode(std::string_view text, std::string_view /*context*/) const override {
    std::vector<TokenId> tokens;
    for (const char c : text) tokens.push_back(TokenId{static_cast<unsigned char>(c)});
    return tokens;
  }
  std::uint64_t fingerprint() const override { return 1; }

 private:
  std::string bytes_;
  std::vector<TokenId> end_of_turn_ = {TokenId{256}};
};

std::shared_ptr<const Vocabulary> vocabulary() { return std::make_shared<ByteVocabulary>(); }

std::vector<TokenId> tokens_of(const std::string& text) { return ByteVocabulary().encode(text, ""); }

std::vector<float> copy_of(std::span<const float> values) { return {values.begin(), values.end()}; }

// Equal bit by bit, NaN included.
bool same(std::span<const float> a, std::span<const float> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](float x, float y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

TEST(RandomModel, IsAFunctionOfSeedAndPrefix) {
  auto model = random_model(vocabulary(), 7);
  auto session = model->start(tokens_of("plan: "));
  session->append(tokens_of("ab"));
  const auto first = copy_of(session->logits());
  EXPECT_EQ(first.size(), 261U);
  EXPECT_TRUE(same(first, random_model(vocabulary(), 7)->start(tokens_of("plan: ab"))->logits()));
  EXPECT_FALSE(same(first, random_model(vocabulary(), 8)->start(tokens_of("plan: ab"))->logits()));
  EXPECT_FALSE(same(first, model->start(tokens_of("plan: ba"))->logits()));
  session->append(tokens_of("c"));
  EXPECT_FALSE(same(first, session->logits()));
  auto fork = session->fork();
  fork->rollback(8);
  EXPECT_TRUE(same(first, fork->logits()));
  EXPECT_EQ(session->size(), 9U);
}

TEST(RandomModel, LogitsAreSpreadEvenly) {
  auto model = random_model(vocabulary(), 1);
  auto session = model->start(tokens_of("x"));
  double sum = 0;
  double squares = 0;
  std::set<float> distinct;
  std::size_t count = 0;
  for (int i = 0; i < 200; ++i) {
    session->append(std::vector{TokenId{i}});
    for (const float value : session->logits()) {
      ASSERT_GE(value, -8.0F);
      ASSERT_LT(value, 8.0F);
      sum += value;
      squares += static_cast<double>(value) * value;
      distinct.insert(value);
      ++count;
    }
  }
  const double mean = sum / static_cast<double>(count);
  EXPECT_NEAR(mean, 0.0, 0.1);
  EXPECT_NEAR(squares / static_cast<double>(count) - mean * mean, 16.0 * 16.0 / 12.0, 0.5);
  EXPECT_GT(distinct.size(), count * 9 / 10);
}

TEST(RandomModel, ScoresAreLogProbabilities) {
  auto model = random_model(vocabulary(), 3);
  auto session = model->start(tokens_of("p"));
  const Paths paths = {tokens_of("open"), tokens_of("opal"), tokens_of("x"), {}};
  const auto scores = session->score(paths);
  EXPECT_EQ(session->size(), 1U);
  EXPECT_EQ(session->num_calls(), 1U);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    ASSERT_EQ(scores[i].size(), paths[i].size());
    auto walk = model->start(tokens_of("p"));
    for (std::size_t j = 0; j < paths[i].size(); ++j) {
      double sum = 0;
      for (const float value : walk->logits()) sum += std::exp(static_cast<double>(value));
      EXPECT_NEAR(scores[i][j], walk->logits()[static_cast<std::size_t>(paths[i][j])] - std::log(sum), 1e-5);
      walk->append(std::vector{paths[i][j]});
    }
  }
}

TEST(RandomModel, ChecksItsTokens) {
  auto session = random_model(vocabulary(), 3)->start(tokens_of("p"));
  EXPECT_THROW(session->append(std::vector{TokenId{261}}), std::invalid_argument);
  EXPECT_THROW(session->append(std::vector{TokenId{-1}}), std::invalid_argument);
  EXPECT_THROW(session->score(Paths{{TokenId{261}}}), std::invalid_argument);
  EXPECT_EQ(session->size(), 1U);
}

TEST(RandomModel, RendersPromptsPlainly) {
  auto model = random_model(vocabulary(), 3);
  EXPECT_EQ(model->render_prompt({.system = "S", .user = "U", .raw = ""}), "S\n\nU\n\n");
  EXPECT_EQ(model->render_prompt({.system = "S", .user = "U", .raw = "R"}), "R");
  EXPECT_EQ(model->encode_prompt({.system = "", .user = "U", .raw = ""}), tokens_of("U\n\n"));
  EXPECT_EQ(model->description(), "random:3");
  EXPECT_THROW(model->start(tokens_of("p"), model->context_length()), ModelError);
}

std::size_t argmax(std::span<const float> logits) {
  return static_cast<std::size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

TEST(HostileModel, RepeatsWhenAskedTo) {
  auto session = lm::hostile_model(vocabulary(), 5, lm::Malice::kRepeat)->start(tokens_of("q"));
  for (const char c : std::string("abcdefgh")) {
    session->append(tokens_of(std::string(1, c)));
    EXPECT_EQ(argmax(session->logits()), static_cast<std::size_t>(c));
  }
}

TEST(HostileModel, StopsOrNeverStops) {
  for (int i = 0; i < 20; ++i) {
    const auto prompt = tokens_of("q" + std::to_string(i));
    const std::size_t early =
        argmax(lm::hostile_model(vocabulary(), 5, lm::Malice::kStopEarly)->start(prompt)->logits());
    EXPECT_TRUE(early == 256 || std::string("]})\"' \n").find(static_cast<char>(early)) != std::string::npos) << early;
    const std::size_t never =
        argmax(lm::hostile_model(vocabulary(), 5, lm::Malice::kNeverStop)->start(prompt)->logits());
    EXPECT_TRUE(never != 256 && std::string("]})\"' \n").find(static_cast<char>(never)) == std::string::npos) << never;
  }
}

TEST(HostileModel, PushesGarbage) {
  for (int i = 0; i < 20; ++i) {
    const auto logits = copy_of(
        lm::hostile_model(vocabulary(), 5, lm::Malice::kGarbage)->start(tokens_of("q" + std::to_string(i)))->logits());
    EXPECT_GT(logits[argmax(logits)], 50.0F);
    EXPECT_EQ(std::string("{[(\"").find(static_cast<char>(argmax(logits))), std::string::npos);
  }
}

TEST(HostileModel, GivesNumbersThatAreNone) {
  std::size_t all_nan = 0;
  std::size_t some_nan = 0;
  std::size_t plus = 0;
  std::size_t minus = 0;
  std::size_t everywhere = 0;
  for (int i = 0; i < 200; ++i) {
    const auto prompt = tokens_of("q" + std::to_string(i));
    const auto nan = copy_of(lm::hostile_model(vocabulary(), 5, lm::Malice::kNotANumber)->start(prompt)->logits());
    const auto nans =
        static_cast<std::size_t>(std::count_if(nan.begin(), nan.end(), [](float x) { return std::isnan(x); }));
    ASSERT_GT(nans, 0U);
    (nans == nan.size() ? all_nan : some_nan) += 1;
    const auto inf = copy_of(lm::hostile_model(vocabulary(), 5, lm::Malice::kInfinity)->start(prompt)->logits());
    const auto plus_here = std::count(inf.begin(), inf.end(), INFINITY);
    const auto minus_here = std::count(inf.begin(), inf.end(), -INFINITY);
    plus += plus_here > 0 ? 1 : 0;
    minus += minus_here > 0 ? 1 : 0;
    everywhere += static_cast<std::size_t>(plus_here + minus_here) == inf.size() ? 1 : 0;
  }
  EXPECT_GT(all_nan, 10U);
  EXPECT_GT(some_nan, 10U);
  EXPECT_GT(plus, 10U);
  EXPECT_GT(minus, 10U);
  EXPECT_GT(everywhere, 10U);
}

TEST(HostileModel, IsReproducibleAndMixesItsTricks) {
  auto a = hostile_model(vocabulary(), 9)->start(tokens_of("q"));
  auto b = hostile_model(vocabulary(), 9)->start(tokens_of("q"));
  std::size_t with_nan = 0;
  std::size_t finite = 0;
  for (int i = 0; i < 100; ++i) {
    a->append(std::vector{TokenId{i}});
    b->append(std::vector{TokenId{i}});
    ASSERT_TRUE(same(a->logits(), b->logits()));
    const auto logits = copy_of(a->logits());
    with_nan += std::any_of(logits.begin(), logits.end(), [](float x) { return std::isnan(x); }) ? 1 : 0;
    finite += std::all_of(logits.begin(), logits.end(), [](float x) { return std::isfinite(x); }) ? 1 : 0;
  }
  EXPECT_GT(with_nan, 5U);
  EXPECT_GT(finite, 20U);
}

// --- parts ---

TEST(LogSumExp, AgreesWithTheDefinition) {
  std::mt19937 random(1);
  for (const std::size_t size : {1U, 2U, 3U, 4U, 7U, 64U, 257U, 1000U, 128256U}) {
    for (const float spread : {0.001F, 1.0F, 10.0F, 60.0F, 1000.0F}) {
      std::vector<float> logits(size);
      for (float& value : logits) value = spread * (static_cast<float>(random()) / 2147483648.0F - 1.0F) + 3.0F;
      const double top = *std::max_element(logits.begin(), logits.end());
      double sum = 0;
      for (const float value : logits) sum += std::exp(value - top);
      EXPECT_NEAR(lm::log_sum_exp(logits), top + std::log(sum), 2e-6) << size << " " << spread;
    }
  }
}

TEST(LogSumExp, IgnoresWhatIsNotANumber) {
  const float nan = std::nanf("");
  EXPECT_NEAR(lm::log_sum_exp(std::vector<float>{nan, 0, nan, 0, -INFINITY, nan, nan, nan, nan}), std::log(2.0), 1e-6);
  EXPECT_EQ(lm::log_sum_exp(std::vector<float>(9, nan)), -INFINITY);
  EXPECT_EQ(lm::log_sum_exp(std::vector<float>(9, -INFINITY)), -INFINITY);
  EXPECT_EQ(lm::log_sum_exp(std::vector<float>{1, INFINITY, nan, 2, 3}), INFINITY);
  EXPECT_EQ(lm::log_sum_exp(std::vector<float>{}), -INFINITY);
}

TEST(Largest, IsTheFirstOfThem) {
  std::mt19937 random(2);
  for (const std::size_t size : {1U, 3U, 15U, 16U, 17U, 1023U, 1024U, 1025U, 5000U}) {
    std::vector<float> logits(size);
    for (float& value : logits) value = static_cast<float>(random() % 50);
    for (std::size_t i = 0; i < size; i += 7) logits[i] = std::nanf("");
    std::size_t best = size;
    for (std::size_t i = 0; i < size; ++i) {
      if (!std::isnan(logits[i]) && (best == size || logits[i] > logits[best])) best = i;
    }
    const lm::Largest found = lm::largest(logits);
    EXPECT_EQ(found.index, best == size ? 0 : best) << size;
    EXPECT_EQ(found.value, best == size ? -INFINITY : logits[best]) << size;
  }
  EXPECT_EQ(lm::largest(std::vector<float>{1, INFINITY, 3}).index, 1U);
  EXPECT_EQ(lm::largest(std::vector<float>{}).value, -INFINITY);
}

TEST(TokenTree, JoinsCommonPrefixes) {
  const Paths paths = {tokens_of("abc"), tokens_of("abd"), tokens_of("ab"), {}, tokens_of("x"), tokens_of("abc")};
  const lm::TokenTree tree(paths);
  EXPECT_EQ(tree.nodes().size(), 6U);  // root, a, b, c, d, x
  for (std::size_t i = 0; i < paths.size(); ++i) {
    ASSERT_EQ(tree.nodes_of(i).size(), paths[i].size());
    std::uint32_t parent = 0;
    for (std::size_t j = 0; j < paths[i].size(); ++j) {
      const auto& node = tree.nodes()[tree.nodes_of(i)[j]];
      EXPECT_EQ(node.token, paths[i][j]);
      EXPECT_EQ(node.parent, parent);
      EXPECT_EQ(node.depth, j + 1);
      parent = tree.nodes_of(i)[j];
    }
  }
  EXPECT_EQ(tree.nodes_of(0)[2], tree.nodes_of(5)[2]);
  EXPECT_EQ(std::count_if(tree.nodes().begin(), tree.nodes().end(), [](const auto& node) { return node.inner; }), 3);
}

TEST(TokenTree, GroupsCoverAllInnerNodesWithTheirAncestors) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    Paths paths(1 + random() % 12);
    for (auto& path : paths) {
      for (std::size_t length = random() % 6; length > 0; --length)
        path.push_back(TokenId{static_cast<std::int32_t>(random() % 3)});
    }
    const lm::TokenTree tree(paths);
    const std::size_t max_leaves = 1 + random() % 4;
    std::set<std::uint32_t> seen;
    for (const auto& group : tree.groups(max_leaves)) {
      EXPECT_LE(group.leaves.size(), max_leaves);
      EXPECT_TRUE(std::is_sorted(group.nodes.begin(), group.nodes.end()));
      const std::set<std::uint32_t> here(group.nodes.begin(), group.nodes.end());
      EXPECT_EQ(here.size(), group.nodes.size());
      for (const std::uint32_t node : group.nodes) {
        EXPECT_TRUE(tree.nodes()[node].inner);
        EXPECT_TRUE(tree.nodes()[node].parent == 0 || here.contains(tree.nodes()[node].parent));
        seen.insert(node);
      }
    }
    for (std::uint32_t i = 1; i < tree.nodes().size(); ++i) EXPECT_EQ(seen.contains(i), tree.nodes()[i].inner);
  }
}

TEST(TestModels, HaveNoEmbeddings) {
  for (const bool hostile : {false, true}) {
    const auto model = hostile ? hostile_model(vocabulary(), 1) : random_model(vocabulary(), 1);
    EXPECT_EQ(model->embedding_size(), 0U);
    EXPECT_THROW(model->embed(tokens_of("a")), ModelError);
  }
}

}  // namespace
}  // namespace metactrl::test_models_test
