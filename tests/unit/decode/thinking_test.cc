// Models that think first: whatever they think, and however they end it, the plan behind is the one that was promised.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "decode/think.h"
#include "lm/malice.h"
#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "metactrl/explain.h"
#include "metactrl/planner.h"
#include "support/thinker.h"

namespace metactrl::thinking_test {
namespace {

using testing::Thinker;

constexpr const char* kDomain = R"((define (domain lamps)
  (:requirements :strips :typing :negative-preconditions)
  (:types lamp)
  (:predicates (lit ?l - lamp) (broken ?l - lamp) (power))
  (:action press :parameters (?l - lamp) :precondition (and (power) (not (lit ?l)) (not (broken ?l))) :effect (lit ?l))
  (:action release :parameters (?l - lamp) :precondition (lit ?l) :effect (not (lit ?l)))
  (:action blow-fuse :parameters () :precondition (power) :effect (not (power)))))";

Task lamps() {
  return load_pddl_text(kDomain,
                        "(define (problem p) (:domain lamps) (:objects a b c - lamp) (:init (broken c) (power)) "
                        "(:goal (and (lit a) (lit b))))");
}

// Bytes, words, tokens that straddle the borders of a marker in letters; and, unless the marker is text, the marker.
std::shared_ptr<const Vocabulary> vocabulary(bool marker_is_token) {
  std::vector<std::string> tokens;
  for (int byte = 1; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  for (const char* word :
       {"press", "(press", " a", " b", ")\n", ".</", "</", "think", ">(", ">\n\n", "\n\n", "release"}) {
    tokens.emplace_back(word);
  }
  if (marker_is_token) tokens.emplace_back("</think>");
  tokens.emplace_back("");  // a control token
  tokens.emplace_back("");  // ends a turn
  return std::make_shared<TableVocabulary>(tokens,
                                           std::vector<TokenId>{TokenId{static_cast<std::int32_t>(tokens.size()) - 1}});
}

LanguageModel::ThinkingFormat format() { return {"<think>\n", "\n", "</think>", "\n\n", true}; }

struct Behaviour {
  const char* name;
  const char* text;
  bool forever;
  bool ends_turn;
  std::optional<Thought::End> end_with_token;  // where a single token closes
  std::optional<Thought::End> end_with_text;
};

// The marker as a token is written "\x01" here.
const Behaviour kBehaviours[] = {
    {"as it likes", "", false, false, std::nullopt, std::nullopt},
    {"never closes", "so and so ", true, false, Thought::End::kBudget, Thought::End::kBudget},
    {"closes at once", "\x01", false, false, Thought::End::kMarker, Thought::End::kMarker},
    {"closes early", "hm.\x01", false, false, Thought::End::kMarker, Thought::End::kMarker},
    {"closes on its own line", "hm\n\x01", false, false, Thought::End::kMarker, Thought::End::kMarker},
    {"closes twice", "hm\x01\n\nagain\x01", false, false, Thought::End::kMarker, Thought::End::kMarker},
    {"ends its turn", "hm", false, true, Thought::End::kTurn, Thought::End::kTurn},
    {"writes the plan inside", "(press a)\n(press b)\n;", true, false, Thought::End::kBudget, Thought::End::kBudget},
    {"opens again", "<think>\n", true, false, Thought::End::kBudget, Thought::End::kBudget},
    {"half a marker", "</think </think</think", true, false, Thought::End::kBudget, Thought::End::kBudget},
    {"no characters", "\xff\xc3\xe2\x82\xf0\x9f", true, false, Thought::End::kBudget, Thought::End::kBudget},
};

std::unique_ptr<Thinker> thinker(const std::shared_ptr<const Vocabulary>& words, std::unique_ptr<LanguageModel> inside,
                                 const Behaviour& behaviour, bool marker_is_token) {
  auto model = std::make_unique<Thinker>(std::move(inside), format());
  std::string text;
  for (const char* c = behaviour.text; *c != '\0'; ++c) {
    if (*c != '\x01') {
      text += *c;
      continue;
    }
    const std::vector<TokenId> before = words->encode(text, "");
    model->script.insert(model->script.end(), before.begin(), before.end());
    text.clear();
    const std::vector<TokenId> marker = words->encode("</think>", "");
    EXPECT_EQ(marker.size() == 1, marker_is_token);
    model->script.insert(model->script.end(), marker.begin(), marker.end());
  }
  const std::vector<TokenId> rest = words->encode(text, "");
  model->script.insert(model->script.end(), rest.begin(), rest.end());
  if (behaviour.ends_turn) model->script.push_back(words->end_of_turn()[0]);
  model->forever = behaviour.forever;
  return model;
}

PlanOptions options_for(std::uint64_t seed, std::size_t budget) {
  PlanOptions options;
  options.lookahead.horizon = 6;
  options.lookahead.fixed_horizon = true;
  options.generate.seed = seed;
  options.think.mode = ThinkOptions::Mode::kOn;
  options.think.max_tokens = budget;
  return options;
}

// The plan is what the model writes that was given prompt, thought and closing as its prompt, and nothing else.
void expect_same_behind(const PlanResult& result, LanguageModel& inside, const PlanOptions& options) {
  Decoder decoder(result.constraint, result.decoder);
  const auto session = inside.start(result.prompt, 1000);
  const Generation again = generate(decoder, *session, options.generate);
  EXPECT_EQ(again.tokens, result.tokens);
  EXPECT_EQ(again.text, result.text);
}

TEST(Thinking, ThousandsOfPlansBehindThoughtsOfEveryKind) {
  const Task task = lamps();
  std::size_t plans = 0;
  for (const bool marker_is_token : {true, false}) {
    const auto words = vocabulary(marker_is_token);
    for (const Behaviour& behaviour : kBehaviours) {
      for (std::uint64_t seed = 0; seed < 120; ++seed) {
        SCOPED_TRACE(std::string(behaviour.name) + ", seed " + std::to_string(seed));
        auto inside = seed % 3 == 0 ? random_model(words, seed) : hostile_model(words, seed);
        const auto model = thinker(words, std::move(inside), behaviour, marker_is_token);
        const std::size_t budget = seed % 40;
        PlanOptions options = options_for(seed, budget);
        if (seed % 4 == 1) options.generate.mode = DecodeMode::kSample;
        if (seed % 16 == 3) options.generate.mode = DecodeMode::kBeam;
        if (seed % 16 == 7) options.generate.mode = DecodeMode::kSmc;
        options.guidance = seed % 2 == 0 ? Guidance::kUniform : Guidance::kMask;
        if (seed % 5 == 4) options.tokenization = Tokenization::kAny;
        std::string told;
        std::size_t told_tokens = 0;
        std::vector<TokenId> between;
        Observer observer;
        observer.thought = [&](std::string_view text) { told += text; };
        observer.thought_end = [&](std::span<const TokenId> tokens) { between.assign(tokens.begin(), tokens.end()); };
        observer.token = [&](const Observer::Token&) { ++told_tokens; };
        const PlanResult result =
            plan(task, PlanFormat::builtin(seed % 3 == 1 ? "json" : "pddl"), model.get(), words, options, observer);
        ASSERT_EQ(result.outcome, PlanOutcome::kPlan) << result.reason;
        EXPECT_EQ(result.guarantee, Guarantee::kFull);
        EXPECT_TRUE(result.valid());
        EXPECT_TRUE(task.validate(result.plan).valid);
        ASSERT_TRUE(result.thought);
        EXPECT_EQ(told, result.thought->text);
        EXPECT_EQ(told_tokens, result.tokens.size());
        EXPECT_LE(result.thought->tokens, budget + 3 + 64);
        EXPECT_EQ(result.prompt.size(), result.prompt_tokens + between.size());
        EXPECT_EQ(between.size(), result.thought->tokens + result.thought->forced_tokens);
        if (options.tokenization == Tokenization::kCanonical) {
          std::vector<TokenId> expected = words->encode(result.text, "</think>\n\n");
          expected.push_back(result.tokens.back());
          EXPECT_EQ(result.tokens, expected);
        }
        if (!marker_is_token) {
          EXPECT_EQ(result.thought->text.find("</think>"), std::string::npos);
        }
        const auto& end = marker_is_token ? behaviour.end_with_token : behaviour.end_with_text;
        if (end && budget > 30) {
          EXPECT_EQ(result.thought->ended_by, *end);
        }
        const bool one_plan =
            options.generate.mode == DecodeMode::kGreedy || options.generate.mode == DecodeMode::kSample;
        if (one_plan && behaviour.text[0] == '\0') expect_same_behind(result, model->inside(), options);
        ++plans;
      }
    }
  }
  EXPECT_EQ(plans, 2640U);
}

// Letters are no marker where a token is; where letters are the marker, every way to cut them into tokens is.
TEST(Thinking, MarkersInLetters) {
  const Task task = lamps();
  {
    const auto words = vocabulary(true);
    const auto model = thinker(words, random_model(words, 1), kBehaviours[0], true);
    for (const char c : std::string("I write </think> and go on. "))
      model->script.push_back(words->encode(std::string(1, c), "")[0]);
    const PlanResult result = plan(task, PlanFormat::builtin("pddl"), model.get(), words, options_for(1, 28));
    EXPECT_EQ(result.thought->text, "I write </think> and go on. ");
    EXPECT_EQ(result.thought->ended_by, Thought::End::kBudget);
    EXPECT_TRUE(result.valid());
  }
  const auto words = vocabulary(false);
  const std::vector<std::vector<std::string>> spellings = {{"s", "o", ".</", "think", ">"},
                                                           {"s", "o", ".", "</", "think", ">("},
                                                           {"so", ".</", "think", ">\n\n"},
                                                           {"s", "o", ".", "<", "/", "t", "h", "i", "n", "k", ">"},
                                                           {"s", "o", ".</", "t", "hink", ">"}};
  for (const auto& spelling : spellings) {
    const auto model = thinker(words, random_model(words, 1), kBehaviours[0], false);
    for (const std::string& piece : spelling) {
      const std::vector<TokenId> tokens = words->encode(piece, "");
      model->script.insert(model->script.end(), tokens.begin(), tokens.end());
    }
    const PlanResult result = plan(task, PlanFormat::builtin("pddl"), model.get(), words, options_for(1, 100));
    EXPECT_EQ(result.thought->text, "so.");
    EXPECT_EQ(result.thought->ended_by, Thought::End::kMarker);
    EXPECT_TRUE(result.valid());
    std::string before;
    for (const TokenId token : std::span(result.prompt).subspan(result.prompt_tokens)) before += words->bytes(token);
    EXPECT_EQ(before, "so.\n</think>\n\n");
  }
}

TEST(Thinking, ModesAndBudgets) {
  const Task task = lamps();
  const auto words = vocabulary(true);
  const auto run = [&](ThinkOptions think, bool by_default) {
    LanguageModel::ThinkingFormat how = format();
    how.by_default = by_default;
    Thinker model(random_model(words, 3), how);
    PlanOptions options = options_for(3, 10);
    options.think = std::move(think);
    return plan(task, PlanFormat::builtin("pddl"), &model, words, options);
  };
  EXPECT_TRUE(run({.mode = ThinkOptions::Mode::kAuto, .max_tokens = 5}, true).thought);
  EXPECT_FALSE(run({.mode = ThinkOptions::Mode::kAuto, .max_tokens = 5}, false).thought);
  EXPECT_FALSE(run({.mode = ThinkOptions::Mode::kOff}, true).thought);
  const PlanResult on = run({.mode = ThinkOptions::Mode::kOn, .max_tokens = 5}, false);
  ASSERT_TRUE(on.thought);
  EXPECT_NE(on.prompt_text.find("<think>\n"), std::string::npos);
  EXPECT_LE(on.thought->tokens, 8U);
  const PlanResult empty = run({.mode = ThinkOptions::Mode::kOn, .max_tokens = 0}, true);
  ASSERT_TRUE(empty.thought);
  EXPECT_EQ(empty.thought->text, "");
  EXPECT_EQ(empty.thought->tokens, 0U);
  EXPECT_TRUE(empty.valid());
}

TEST(Thinking, WhatCannotBeIsRefused) {
  const Task task = lamps();
  const auto words = vocabulary(true);
  const auto plain = random_model(words, 1);
  EXPECT_THROW(plan(task, PlanFormat::builtin("pddl"), plain.get(), words, options_for(1, 10)), InputError);
  Thinker model(random_model(words, 1), format());
  PlanOptions raw = options_for(1, 10);
  raw.prompt = Prompt{.system = "", .user = "", .raw = "Plan:\n"};
  EXPECT_THROW(plan(task, PlanFormat::builtin("pddl"), &model, words, raw), InputError);
  raw.think.mode = ThinkOptions::Mode::kAuto;
  const PlanResult result = plan(task, PlanFormat::builtin("pddl"), &model, words, raw);
  EXPECT_FALSE(result.thought);
  EXPECT_TRUE(result.valid());
}

// The plan's room comes first; a thought takes what is left, and never makes a plan impossible that was possible.
TEST(Thinking, TheContextHoldsThePlanWhateverIsThought) {
  const Task task = lamps();
  const auto words = vocabulary(true);
  std::size_t cut = 0;
  for (const std::size_t spare : {0U, 50U, 100U, 200U, 400U, 2000U}) {
    Thinker model(random_model(words, 1), format());
    model.script = words->encode("on and on ", "");
    model.forever = true;
    const std::size_t prompt =
        model.encode_prompt(make_prompt(task, PlanSpelling(PlanFormat::builtin("pddl"), task), "")).size();
    model.context = prompt + 250 + spare;
    const PlanResult result = plan(task, PlanFormat::builtin("pddl"), &model, words, options_for(1, 500));
    EXPECT_TRUE(result.valid()) << spare;
    ASSERT_TRUE(result.thought);
    if (result.thought->tokens < 500) ++cut;
    EXPECT_LE(result.prompt.size() + result.tokens.size(), model.context);
  }
  EXPECT_GT(cut, 2U);
}

TEST(Thinking, CancelledInTheMiddleOfAThought) {
  const Task task = lamps();
  const auto words = vocabulary(true);
  Thinker model(random_model(words, 1), format());
  model.script = words->encode("on and on ", "");
  model.forever = true;
  bool stop = false;
  std::size_t pieces = 0;
  Observer observer;
  observer.thought = [&](std::string_view) { stop = ++pieces > 20; };
  observer.cancelled = [&] { return stop; };
  const PlanResult result = plan(task, PlanFormat::builtin("pddl"), &model, words, options_for(1, 1000), observer);
  EXPECT_EQ(result.outcome, PlanOutcome::kCancelled);
  ASSERT_TRUE(result.thought);
  EXPECT_EQ(result.thought->ended_by, Thought::End::kCancelled);
  EXPECT_TRUE(result.plan.empty());
}

TEST(Thinking, WithoutGuidanceTheAnswerIsReadBehindTheThought) {
  const Task task = lamps();
  const auto words = vocabulary(true);
  Thinker model(random_model(words, 1), format());
  const std::vector<TokenId> answer = words->encode("(press a)\n(press b)\n", "");
  model.script = words->encode("(press c)", "");
  const std::vector<TokenId> close = words->encode("\n</think>\n\n", "");
  model.script.insert(model.script.end(), close.begin(), close.end());
  model.script.insert(model.script.end(), answer.begin(), answer.end());
  model.script.push_back(words->end_of_turn()[0]);
  PlanOptions options = options_for(1, 100);
  options.guidance = Guidance::kNone;
  const PlanResult result = plan(task, PlanFormat::builtin("pddl"), &model, words, options);
  EXPECT_EQ(result.thought->text, "(press c)\n");
  EXPECT_EQ(result.text, "(press a)\n(press b)\n");
  EXPECT_TRUE(result.valid());
}

// What the model wanted at each step is asked behind the thought, too.
TEST(Thinking, ExplanationsReadTheThought) {
  const Task task = lamps();
  const auto words = vocabulary(true);
  Thinker model(random_model(words, 1), format());
  model.script = words->encode("well, well", "");
  const PlanOptions options = options_for(1, 10);
  std::unique_ptr<Explainer> explainer;
  std::vector<ExplainedStep> live;
  std::vector<TokenId> tokens;
  Observer observer;
  observer.ready = [&](const PlanResult& so_far, std::size_t reserve) {
    explainer = std::make_unique<Explainer>(task, so_far, &model.inside(), reserve);
  };
  observer.thought_end = [&](std::span<const TokenId> thought) { explainer->read(thought); };
  observer.token = [&](const Observer::Token& event) { tokens.push_back(event.token); };
  observer.action = [&](ActionId action, std::string_view) { live.push_back(explainer->step(action, tokens, false)); };
  const PlanResult result = plan(task, PlanFormat::builtin("pddl"), &model, words, options, observer);
  ASSERT_TRUE(result.valid());
  const std::vector<ExplainedStep> after = explain(task, result, &model.inside());
  ASSERT_LE(live.size(), after.size());
  ASSERT_FALSE(live.empty());
  for (std::size_t i = 0; i < live.size(); ++i) {
    ASSERT_TRUE(live[i].wish && after[i].wish);
    EXPECT_EQ(live[i].wish->token, after[i].wish->token) << i;
    EXPECT_EQ(live[i].wish->action, after[i].wish->action) << i;
  }
}

}  // namespace
}  // namespace metactrl::thinking_test
