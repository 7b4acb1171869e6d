// Goals of models that think first: whatever they think, the goal begins behind the thought and is one that can be reached.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "metactrl/goal.h"
#include "support/thinker.h"

namespace metactrl::goal_thinking_test {
namespace {

using testing::Thinker;

constexpr const char* kDomain = R"((define (domain lamps)
  (:requirements :strips :typing :negative-preconditions)
  (:types lamp)
  (:predicates (lit ?l - lamp) (broken ?l - lamp) (power))
  (:action press :parameters (?l - lamp) :precondition (and (power) (not (lit ?l)) (not (broken ?l))) :effect (lit ?l))
  (:action blow-fuse :parameters () :precondition (power) :effect (not (power)))))";
constexpr const char* kNow =
    "(define (problem now) (:domain lamps) (:objects a b c - lamp) (:init (power) (broken c)))";

std::shared_ptr<const Vocabulary> vocabulary(bool marker_is_token) {
  std::vector<std::string> tokens;
  for (int byte = 1; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  for (const char* word : {"(and (", "lit", " a", "))", ".</", "think", ">(", ">\n\n", "\n\n"}) {
    tokens.emplace_back(word);
  }
  if (marker_is_token) tokens.emplace_back("</think>");
  tokens.emplace_back("");  // ends a turn
  return std::make_shared<TableVocabulary>(tokens,
                                           std::vector<TokenId>{TokenId{static_cast<std::int32_t>(tokens.size()) - 1}});
}

// Keeps the longest text that a session has read behind the prompt.
class Spy : public testing::SessionAround {
 public:
  Spy(std::unique_ptr<Session> inside, std::vector<TokenId>& longest)
      : SessionAround(std::move(inside)), longest_(longest) {}
  void append(std::span<const TokenId> tokens) override {
    inside_->append(tokens);
    read_.insert(read_.end(), tokens.begin(), tokens.end());
    if (read_.size() > longest_.size()) longest_ = read_;
  }
  void rollback(std::size_t size) override {
    inside_->rollback(size);
    if (size < begin_ + read_.size()) read_.resize(size - begin_);
  }

 private:
  std::vector<TokenId>& longest_;
  std::vector<TokenId> read_;
};

class WatchedThinker : public Thinker {
 public:
  using Thinker::Thinker;
  std::unique_ptr<Session> start(std::span<const TokenId> prompt, std::size_t reserve) override {
    return std::make_unique<Spy>(Thinker::start(prompt, reserve), read);
  }
  std::vector<TokenId> read;
};

struct Behaviour {
  const char* name;
  const char* text;  // "\x01" is the closing marker
  bool forever;
  bool ends_turn;
  Thought::End end;
};
constexpr Behaviour kBehaviours[] = {
    {"never closes", "so and so ", true, false, Thought::End::kBudget},
    {"closes at once", "\x01", false, false, Thought::End::kMarker},
    {"closes early", "hm.\x01", false, false, Thought::End::kMarker},
    {"ends its turn", "hm", false, true, Thought::End::kTurn},
    {"writes the goal inside", "(and (lit c))", true, false, Thought::End::kBudget},
    {"opens again", "<think>\n", true, false, Thought::End::kBudget},
};

LanguageModel::ThinkingFormat format() { return {"<think>\n", "\n", "</think>", "\n\n", true}; }

std::unique_ptr<WatchedThinker> thinker(const std::shared_ptr<const Vocabulary>& words, const Behaviour& behaviour,
                                        std::uint64_t seed) {
  auto inside = seed % 2 == 0 ? random_model(words, seed) : hostile_model(words, seed);
  auto model = std::make_unique<WatchedThinker>(std::move(inside), format());
  std::string text = behaviour.text;
  const std::size_t mark = text.find('\x01');
  const auto add = [&](const std::vector<TokenId>& tokens) {
    model->script.insert(model->script.end(), tokens.begin(), tokens.end());
  };
  add(words->encode(text.substr(0, mark), ""));
  if (mark != std::string::npos) add(words->encode("</think>", ""));
  if (behaviour.ends_turn) model->script.push_back(words->end_of_turn()[0]);
  model->forever = behaviour.forever;
  return model;
}

TEST(GoalThinking, TheGoalBeginsBehindTheThought) {
  const GoalProblem problem = GoalProblem::parse(kDomain, kNow);
  std::size_t goals = 0;
  for (const bool marker_is_token : {true, false}) {
    const auto words = vocabulary(marker_is_token);
    for (const Behaviour& behaviour : kBehaviours) {
      for (std::uint64_t seed = 0; seed < 12; ++seed) {
        SCOPED_TRACE(std::string(behaviour.name) + ", seed " + std::to_string(seed));
        const auto model = thinker(words, behaviour, seed);
        GoalProblem::Options options;
        options.guidance = seed % 3 == 0 ? Guidance::kMask : Guidance::kUniform;
        options.think.max_tokens = 8 + seed;
        options.seed = seed;
        const GoalProblem::Written written = problem.write("light a and b", *model, words, options);
        ASSERT_FALSE(written.goals.empty()) << written.reason;
        EXPECT_TRUE(written.certified);
        ASSERT_TRUE(written.thought);
        EXPECT_EQ(written.thought->ended_by, behaviour.end);
        for (const GoalProblem::Goal& goal : written.goals) {
          ++goals;
          EXPECT_EQ(Lookahead::compile(problem.task(goal.pddl), {})->verdict(), Verdict::kSolvable) << goal.pddl;
        }
        // What was read behind the prompt: the thought, the closing, and then nothing but a goal.
        std::string read;
        for (const TokenId token : model->read) read += words->bytes(token);
        ASSERT_TRUE(read.starts_with(written.thought->text)) << read;
        std::string rest = read.substr(written.thought->text.size());
        if (rest.starts_with("\n")) rest.erase(0, 1);
        EXPECT_TRUE(rest.starts_with("</think>\n\n(and (")) << rest;
        EXPECT_EQ(problem.write("light a and b", *thinker(words, behaviour, seed), words, options).goals[0].pddl,
                  written.goals[0].pddl);
      }
    }
  }
  EXPECT_GE(goals, 2U * std::size(kBehaviours) * 12);
}

TEST(GoalThinking, OffIsOffAndFreeTextThinksToo) {
  const GoalProblem problem = GoalProblem::parse(kDomain, kNow);
  const auto words = vocabulary(true);
  GoalProblem::Options options;
  options.think.mode = ThinkOptions::Mode::kOff;
  const auto silent = thinker(words, {"none", "", false, false, Thought::End::kBudget}, 1);
  EXPECT_FALSE(problem.write("light a", *silent, words, options).thought);
  std::string read;
  for (const TokenId token : silent->read) read += words->bytes(token);
  EXPECT_TRUE(read.starts_with("(and (")) << read;

  options.think.mode = ThinkOptions::Mode::kOn;
  options.guidance = Guidance::kNone;
  options.max_tokens = 5;
  const auto free = thinker(words, kBehaviours[1], 2);
  const GoalProblem::Written written = problem.write("light a", *free, words, options);
  ASSERT_TRUE(written.thought);
  EXPECT_EQ(written.thought->ended_by, Thought::End::kMarker);

  // A model that has no thoughts cannot be told to; a context that holds no goal behind one is too small.
  const auto plain = random_model(words, 1);
  EXPECT_THROW(problem.write("light a", *plain, words, options), InputError);
  options.guidance = Guidance::kMask;
  const auto small = thinker(words, kBehaviours[0], 1);
  small->context = 200;
  EXPECT_THROW(problem.write("light a", *small, words, options), ContextError);
}

}  // namespace
}  // namespace metactrl::goal_thinking_test
