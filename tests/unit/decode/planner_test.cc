// Requests and what becomes of them, with models that know nothing and models that mean harm.
#include "metactrl/planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "metactrl/explain.h"
#include "support/planner_setting.h"

namespace metactrl::planner_test {
namespace {

using testing::hostile_setting;
using testing::make;
using testing::random_setting;
using testing::Setting;
using testing::vocabulary;

// Three lamps; c is broken and can never be lit. Pressing the fuse is a dead end.
constexpr const char* kDomain = R"((define (domain lamps)
  (:requirements :strips :typing :negative-preconditions)
  (:types lamp)
  (:predicates (lit ?l - lamp) (broken ?l - lamp) (power))
  (:action press :parameters (?l - lamp) :precondition (and (power) (not (lit ?l)) (not (broken ?l))) :effect (lit ?l))
  (:action release :parameters (?l - lamp) :precondition (lit ?l) :effect (not (lit ?l)))
  (:action blow-fuse :parameters () :precondition (power) :effect (not (power)))))";

Task lamps(const std::string& goal) {
  return load_pddl_text(
      kDomain,
      "(define (problem three-lamps) (:domain lamps) (:objects a b c - lamp) (:init (broken c) (power)) (:goal " +
          goal + "))");
}

PlanOptions with(Guidance guidance, DecodeMode mode = DecodeMode::kGreedy) {
  PlanOptions options;
  options.guidance = guidance;
  options.generate.mode = mode;
  options.lookahead.horizon = 6;
  options.lookahead.fixed_horizon = true;
  return options;
}

std::string goal_texts(const Task& task, const std::vector<GoalId>& goals) {
  std::string out;
  for (GoalId goal : goals) out += task.goal_text(goal);
  return out;
}

// --- the guarantee -------------------------------------------------------------------------------------------------

class EveryMode : public ::testing::TestWithParam<std::tuple<Guidance, DecodeMode, Bridge>> {};

TEST_P(EveryMode, KeepsThePromiseWhateverTheModelWants) {
  const auto [guidance, mode, bridge] = GetParam();
  const Task task = lamps("(and (lit a) (lit b))");
  for (const char* format : {"pddl", "json", "sentences"}) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      PlanOptions options = with(guidance, mode);
      options.bridge = bridge;
      options.generate.seed = seed;
      options.generate.samples = 4;
      options.generate.beam = 2;
      const PlanResult result =
          make(task, seed % 2 == 0 ? hostile_setting(seed) : random_setting(seed), options, {}, format);
      ASSERT_EQ(result.outcome, PlanOutcome::kPlan);
      EXPECT_EQ(result.guarantee, Guarantee::kFull);
      EXPECT_TRUE(result.valid()) << result.text;
      EXPECT_TRUE(task.validate(result.plan).valid) << result.text;
      EXPECT_EQ(result.goals_met.size(), 2U);
      EXPECT_TRUE(result.goals_unmet.empty());
      EXPECT_LE(result.plan.size(), 6U);
      EXPECT_EQ(result.steps.size(), result.plan.size());
      EXPECT_EQ(result.tier, Lookahead::Tier::kExact);
      EXPECT_EQ(PlanSpelling(PlanFormat::builtin(format), task).render(result.plan, result.separators), result.text);
      EXPECT_LE(result.forced_tokens, result.tokens.size());
      EXPECT_GT(result.prompt_tokens, 0U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryMode,
                         ::testing::Combine(::testing::Values(Guidance::kMask, Guidance::kUniform),
                                            ::testing::Values(DecodeMode::kGreedy, DecodeMode::kSample,
                                                              DecodeMode::kBeam, DecodeMode::kSmc),
                                            ::testing::Values(Bridge::kUniform, Bridge::kSurrogate, Bridge::kModel)),
                         [](const auto& info) {
                           return std::string(to_string(std::get<0>(info.param))) + "_" +
                                  to_string(std::get<1>(info.param)) + "_" + to_string(std::get<2>(info.param));
                         });

// Tokens that reach from one action into the next, and formats that only the end of the turn ends.
Setting straddling_setting(std::uint64_t seed) {
  std::vector<std::string> tokens;
  for (int byte = 1; byte < 128; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  for (const char* word : {"press", "(press", " a)\n(p", ")\n(", ")\n", " b", "ress b)", "release", " a"}) {
    tokens.emplace_back(word);
  }
  const auto end = static_cast<std::int32_t>(tokens.size());
  tokens.resize(tokens.size() + 2);  // two that end a turn
  Setting setting;
  setting.words = std::make_shared<TableVocabulary>(tokens, std::vector<TokenId>{TokenId{end}, TokenId{end + 1}});
  setting.model = seed % 2 == 0 ? hostile_model(setting.words, seed) : random_model(setting.words, seed);
  return setting;
}

TEST_P(EveryMode, KeepsThePromiseInAnyTokensAndWithoutAClosing) {
  const auto [guidance, mode, bridge] = GetParam();
  const Task task = lamps("(and (lit a) (lit b))");
  PlanFormat lines = PlanFormat::builtin("pddl");
  lines.close.clear();
  lines.empty.clear();
  for (const PlanFormat& format : {PlanFormat::builtin("pddl"), lines, PlanFormat::builtin("sentences")}) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      PlanOptions options = with(guidance, mode);
      options.bridge = bridge;
      options.tokenization = Tokenization::kAny;
      options.generate.seed = seed;
      options.generate.samples = 4;
      options.generate.beam = 2;
      const Setting setting = straddling_setting(seed);
      std::string seen;
      std::vector<ActionId> actions;
      Observer observer;
      observer.token = [&](const Observer::Token& event) { seen += event.bytes; };
      observer.action = [&](ActionId action, std::string_view text) {
        actions.push_back(action);
        EXPECT_TRUE(seen.starts_with(text)) << text;
        // Up to what follows the action, and not into the next one.
        const PlanSpelling::Parsed parsed = PlanSpelling(format, task).parse(text);
        EXPECT_EQ(parsed.actions, actions) << text;
        EXPECT_EQ(parsed.error, "");
      };
      const PlanResult result = plan(task, format, setting.model.get(), setting.words, options, observer);
      ASSERT_EQ(result.guarantee, Guarantee::kFull);
      EXPECT_TRUE(result.valid()) << result.text;
      EXPECT_EQ(seen, result.text);
      EXPECT_EQ(actions, result.plan);
      const std::vector<ExplainedStep> steps = explain(task, result, setting.model.get());
      std::size_t tokens = 0;
      for (const ExplainedStep& step : steps) tokens += step.tokens.size();
      EXPECT_EQ(steps.size(), result.plan.size());
      EXPECT_EQ(tokens, result.tokens.size());
    }
  }
}

TEST(Planner, SearchNeedsNoModel) {
  const Task task = lamps("(and (lit a) (lit b))");
  std::vector<std::string> texts;
  Observer observer;
  observer.action = [&](ActionId, std::string_view text) { texts.emplace_back(text); };
  const PlanResult result =
      plan(task, PlanFormat::builtin("pddl"), nullptr, nullptr, with(Guidance::kSearch), observer);
  ASSERT_EQ(result.outcome, PlanOutcome::kPlan);
  EXPECT_EQ(result.guarantee, Guarantee::kFull);
  EXPECT_EQ(result.plan.size(), 2U);
  EXPECT_EQ(result.model_calls, 0U);
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_EQ(texts[1], result.text);
  EXPECT_TRUE(result.text.starts_with(texts[0]));
  EXPECT_EQ(texts[0].back(), '\n');
}

TEST(Planner, AnEmptyPlanIsAPlan) {
  const PlanResult result = make(lamps("(not (lit a))"), random_setting(1), with(Guidance::kUniform));
  EXPECT_EQ(result.outcome, PlanOutcome::kPlan);
  EXPECT_EQ(result.guarantee, Guarantee::kFull);
}

TEST(Planner, AnInstructionNeedsAGoal) {
  PlanOptions options = with(Guidance::kUniform);
  EXPECT_TRUE(make(lamps("(and)"), random_setting(1), options).plan.size() <= 6U);
  options.instruction = "light the first lamp";
  try {
    make(lamps("(and)"), random_setting(1), options);
    FAIL() << "an empty goal and an instruction";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("goal is empty"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("(:goal ...)"), std::string::npos) << error.what();
  }
  EXPECT_EQ(make(lamps("(lit a)"), random_setting(1), options).guarantee, Guarantee::kFull);
  // Nothing makes it false, so nothing is asked for.
  for (const char* goal : {"(broken c)", "(not (broken a))", "(and (broken c) (or (lit a) (broken c)))"}) {
    EXPECT_THROW(make(lamps(goal), random_setting(1), options), InputError) << goal;
  }
  // What was done already may be asked for, though nothing undoes it.
  for (const char* goal : {"(clean cup)", "(not (dirty cup))"}) {
    const Task task = load_pddl_text(
        "(define (domain kitchen) (:requirements :adl) (:predicates (clean ?x) (dirty ?x))\n"
        "(:action wash :parameters (?x) :precondition (dirty ?x) :effect (and (clean ?x) (not (dirty ?x)))))",
        "(define (problem dishes) (:domain kitchen) (:objects cup pan) (:init (clean cup) (dirty pan)) (:goal " +
            std::string(goal) + "))");
    EXPECT_EQ(make(task, random_setting(1), options).guarantee, Guarantee::kFull) << goal;
  }
  // What promises nothing may be asked for all the same.
  options.guidance = Guidance::kSyntax;
  EXPECT_EQ(make(lamps("(and)"), random_setting(1), options).guarantee, Guarantee::kSyntaxOnly);
}

TEST(Planner, EqualRequestsGiveEqualPlans) {
  const Task task = lamps("(and (lit a) (lit b))");
  for (const DecodeMode mode : {DecodeMode::kSample, DecodeMode::kSmc}) {
    PlanOptions options = with(Guidance::kUniform, mode);
    options.generate.seed = 7;
    EXPECT_EQ(make(task, random_setting(3), options).text, make(task, random_setting(3), options).text);
  }
}

// --- without it ----------------------------------------------------------------------------------------------------

TEST(Planner, SyntaxIsReportedAsWhatItIs) {
  const Task task = lamps("(and (lit a) (lit b))");
  std::size_t invalid = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const PlanResult result = make(task, random_setting(seed), with(Guidance::kSyntax));
    EXPECT_EQ(result.outcome, PlanOutcome::kPlan);
    EXPECT_EQ(result.guarantee, Guarantee::kSyntaxOnly);
    EXPECT_TRUE(result.reading.complete);
    EXPECT_EQ(result.valid(), task.validate(result.plan).valid);
    if (result.valid()) continue;
    ++invalid;
    EXPECT_NE(result.reason.find("not valid: " + result.validation.reason), std::string::npos) << result.reason;
  }
  EXPECT_GT(invalid, 10U);
}

TEST(Planner, FreeTextIsReadAsFarAsItGoes) {
  const Task task = lamps("(and (lit a) (lit b))");
  PlanOptions options = with(Guidance::kNone);
  options.generate.max_tokens = 20;
  const PlanResult result = make(task, random_setting(2), options);
  EXPECT_EQ(result.outcome, PlanOutcome::kPlan);
  EXPECT_EQ(result.guarantee, Guarantee::kNone);
  EXPECT_FALSE(result.valid());
  EXPECT_FALSE(result.reading.error.empty());
  EXPECT_NE(result.reason.find(result.reading.error), std::string::npos) << result.reason;
  EXPECT_LE(result.tokens.size(), 20U);
}

// A model that writes a given text.
class Script : public LanguageModel {
 public:
  Script(std::shared_ptr<const Vocabulary> words, std::string text)
      : words_(std::move(words)), answer_(words_->encode(text, "")) {
    answer_.push_back(words_->end_of_turn()[0]);
  }
  const Vocabulary& vocabulary() const override { return *words_; }
  std::string description() const override { return "script"; }
  std::size_t context_length() const override { return context; }
  std::string render_prompt(const Prompt& prompt) const override {
    return prompt.raw.empty() ? prompt.user : prompt.raw;
  }
  std::vector<TokenId> encode_prompt(const Prompt& prompt, const Stop& /*stop*/) const override {
    return words_->encode(render_prompt(prompt), "");
  }
  std::unique_ptr<Session> start(std::span<const TokenId> prompt, std::size_t reserve) override {
    if (prompt.size() + reserve > context) throw ModelError("does not fit");
    return std::make_unique<Reading>(*this, prompt.size());
  }
  std::size_t context = 100'000;

 private:
  class Reading : public Session {
   public:
    Reading(const Script& script, std::size_t prompt) : script_(script), prompt_(prompt), size_(prompt) {}
    void append(std::span<const TokenId> tokens) override { size_ += tokens.size(); }
    std::span<const float> logits() override {
      ++calls_;
      row_.assign(script_.words_->size(), 0);
      const std::size_t at = std::min(size_ - prompt_, script_.answer_.size() - 1);
      row_[static_cast<std::size_t>(script_.answer_[at])] = 50;
      return row_;
    }
    std::size_t size() const override { return size_; }
    void rollback(std::size_t size) override { size_ = std::min(size, size_); }
    std::unique_ptr<Session> fork() override { return std::make_unique<Reading>(*this); }
    std::vector<std::vector<float>> score(std::span<const std::vector<TokenId>> paths) override {
      std::vector<std::vector<float>> out;
      for (const auto& path : paths) out.emplace_back(path.size(), -1.0F);
      return out;
    }
    std::size_t num_calls() const override { return calls_; }

   private:
    const Script& script_;
    std::size_t prompt_;
    std::size_t size_;
    std::size_t calls_ = 0;
    std::vector<float> row_;
  };

  std::shared_ptr<const Vocabulary> words_;
  std::vector<TokenId> answer_;
};

PlanResult make_script(const Task& task, const std::string& text, const PlanOptions& options) {
  Setting setting;
  setting.model = std::make_unique<Script>(setting.words, text);
  return make(task, setting, options);
}

TEST(Planner, AMissingClosingIsForgivenAndSaid) {
  const Task task = lamps("(and (lit a) (lit b))");
  const PlanResult result = make_script(task, "\n(press a)\n(press b)\n", with(Guidance::kNone));
  EXPECT_TRUE(result.valid()) << result.reason;
  EXPECT_TRUE(result.reading.closing_added);
  EXPECT_EQ(result.guarantee, Guarantee::kNone);
  EXPECT_EQ(result.plan.size(), 2U);
}

TEST(Planner, FreeTextThatIsWrongNamesTheStep) {
  const Task task = lamps("(and (lit a) (lit b))");
  const PlanResult result = make_script(task, "(press a)\n(press a)\n(press b);\n", with(Guidance::kNone));
  EXPECT_TRUE(result.reading.complete);
  EXPECT_FALSE(result.valid());
  EXPECT_EQ(result.validation.steps_executed, 1U);
  EXPECT_EQ(goal_texts(task, result.goals_met), "(lit a)");
  EXPECT_NE(result.reason.find("step 2 (press a)"), std::string::npos) << result.reason;
}

TEST(Planner, TheModelsOwnPlanIsTakenWhereItIsRight) {
  const Task task = lamps("(and (lit a) (lit b))");
  const std::string text = "(press b)\n(release b)\n(press a)\n(press b);\n";
  const PlanResult result = make_script(task, text, with(Guidance::kMask));
  EXPECT_EQ(result.text, text);
  EXPECT_EQ(result.guarantee, Guarantee::kFull);
  EXPECT_GT(result.forced_tokens, 0U);
}

// --- no plan -------------------------------------------------------------------------------------------------------

TEST(Planner, InfeasibleIsAnAnswer) {
  const Task task = lamps("(and (lit a) (lit c))");
  for (const Guidance guidance : {Guidance::kMask, Guidance::kUniform, Guidance::kSearch}) {
    const PlanResult result = make(task, random_setting(1), with(guidance));
    EXPECT_EQ(result.outcome, PlanOutcome::kInfeasible);
    EXPECT_EQ(result.guarantee, Guarantee::kNone);
    EXPECT_NE(result.reason.find("(lit c)"), std::string::npos) << result.reason;
    EXPECT_TRUE(result.plan.empty());
    EXPECT_EQ(result.goals_unmet.size(), 2U);
    EXPECT_FALSE(result.valid());
  }
}

TEST(Planner, DroppedGoalsAreNamed) {
  const Task task = lamps("(and (lit a) (lit c) (lit b))");
  for (const Guidance guidance : {Guidance::kMask, Guidance::kUniform, Guidance::kSearch}) {
    PlanOptions options = with(guidance);
    options.on_infeasible = PlanOptions::OnInfeasible::kDropGoals;
    const PlanResult result = make(task, hostile_setting(5), options);
    ASSERT_EQ(result.outcome, PlanOutcome::kPlan) << result.reason;
    EXPECT_EQ(result.guarantee, Guarantee::kGoalsDropped);
    EXPECT_EQ(goal_texts(task, result.goals_dropped), "(lit c)");
    EXPECT_EQ(goal_texts(task, result.goals_unmet), "(lit c)");
    EXPECT_EQ(result.goals_met.size(), 2U);
    EXPECT_NE(result.reason.find("1 of 3 goals dropped: (lit c)"), std::string::npos) << result.reason;
    EXPECT_EQ(result.validation.steps_executed, result.plan.size());
  }
}

TEST(Planner, SyntaxAsALastResort) {
  const Task task = lamps("(and (lit a) (lit c))");
  for (const DecodeMode mode : {DecodeMode::kGreedy, DecodeMode::kBeam}) {
    PlanOptions options = with(Guidance::kUniform, mode);
    options.on_infeasible = PlanOptions::OnInfeasible::kSyntax;
    const PlanResult result = make(task, random_setting(5), options);
    EXPECT_EQ(result.outcome, PlanOutcome::kPlan);
    EXPECT_EQ(result.guarantee, Guarantee::kSyntaxOnly);
    EXPECT_NE(result.reason.find("the task is infeasible"), std::string::npos) << result.reason;
    EXPECT_FALSE(result.valid());
    EXPECT_TRUE(result.reading.complete);
  }
}

TEST(Planner, AHorizonThatIsTooShortIsInfeasible) {
  PlanOptions options = with(Guidance::kUniform);
  options.lookahead.horizon = 1;
  EXPECT_EQ(make(lamps("(and (lit a) (lit b))"), random_setting(1), options).outcome, PlanOutcome::kInfeasible);
}

// Counts in binary: nothing short of counting leads to the goal.
std::string counter_domain() {
  std::string text = "(define (domain counter) (:requirements :strips :negative-preconditions) (:predicates";
  for (int i = 0; i < 7; ++i) text += " (b" + std::to_string(i) + ")";
  text += ")";
  for (int i = 0; i < 7; ++i) {
    std::string condition = "(not (b" + std::to_string(i) + "))";
    std::string effect = "(b" + std::to_string(i) + ")";
    for (int j = 0; j < i; ++j) {
      condition += " (b" + std::to_string(j) + ")";
      effect += " (not (b" + std::to_string(j) + "))";
    }
    text += " (:action inc" + std::to_string(i) + " :parameters () :precondition (and " + condition +
            ") :effect (and " + effect + "))";
  }
  return text + ")";
}
constexpr const char* kCounterProblem =
    "(define (problem count) (:domain counter) (:init) (:goal (and (b0) (b1) (b2) (b3) (b4) (b5) (b6))))";

TEST(Planner, ABudgetThatEndsIsUndecided) {
  const Task task = load_pddl_text(counter_domain(), kCounterProblem);
  PlanOptions options = with(Guidance::kUniform);
  options.lookahead.horizon = 200;
  options.lookahead.exact.states = 2;
  options.lookahead.search.states = 2;
  const PlanResult result = make(task, random_setting(1), options);
  EXPECT_EQ(result.outcome, PlanOutcome::kUndecided);
  EXPECT_NE(result.reason.find("budget"), std::string::npos) << result.reason;
}

// --- time and other ends -------------------------------------------------------------------------------------------

constexpr Guidance kAllGuidances[] = {Guidance::kNone, Guidance::kSyntax, Guidance::kMask, Guidance::kUniform,
                                      Guidance::kSearch};

TEST(Planner, TimeThatIsOverIsUndecided) {
  const Task task = lamps("(and (lit a) (lit b))");
  for (const Guidance guidance : kAllGuidances) {
    for (const PlanOptions::OnInfeasible what :
         {PlanOptions::OnInfeasible::kError, PlanOptions::OnInfeasible::kDropGoals}) {
      PlanOptions options = with(guidance);
      options.on_infeasible = what;
      options.time_limit = 0;
      const PlanResult result = make(task, random_setting(1), options);
      EXPECT_EQ(result.outcome, PlanOutcome::kUndecided) << to_string(guidance);
      EXPECT_TRUE(result.out_of_time);
      EXPECT_NE(result.reason.find("time limit"), std::string::npos) << result.reason;
      EXPECT_EQ(result.guarantee, Guarantee::kNone);
      EXPECT_TRUE(result.text.empty());
      EXPECT_TRUE(result.plan.empty());
      EXPECT_TRUE(result.goals_dropped.empty());
      EXPECT_EQ(result.goals_unmet.size(), 2U);
    }
  }
}

TEST(Planner, TimeThatIsNotOverChangesNothing) {
  const Task task = lamps("(and (lit a) (lit b))");
  for (const Guidance guidance : kAllGuidances) {
    PlanOptions options = with(guidance);
    const PlanResult without = make(task, random_setting(3), options);
    EXPECT_EQ(without.outcome, PlanOutcome::kPlan);
    for (const double seconds : {3600.0, 1e9}) {
      options.time_limit = seconds;
      const PlanResult result = make(task, random_setting(3), options);
      EXPECT_EQ(result.outcome, PlanOutcome::kPlan);
      EXPECT_FALSE(result.out_of_time);
      EXPECT_EQ(result.text, without.text);
      EXPECT_EQ(result.reason, without.reason);
    }
  }
}

// Whenever somebody cancels: the plan is the one that would have come anyway, or there is none. A beam that has a
// complete plan by then might have found a better one.
TEST(Planner, CancellingNeverMakesAnotherPlan) {
  const Task task = lamps("(and (lit a) (lit b))");
  for (const DecodeMode mode : {DecodeMode::kGreedy, DecodeMode::kSample, DecodeMode::kBeam, DecodeMode::kSmc}) {
    const PlanResult whole = make(task, random_setting(5), with(Guidance::kUniform, mode));
    ASSERT_EQ(whole.outcome, PlanOutcome::kPlan);
    for (int patience = 0;; ++patience) {
      int asked = 0;
      Observer observer;
      observer.cancelled = [&] { return ++asked > patience; };
      const PlanResult result = make(task, random_setting(5), with(Guidance::kUniform, mode), observer);
      EXPECT_EQ(result.outcome == PlanOutcome::kPlan, asked <= patience) << to_string(mode) << " " << patience;
      if (result.outcome == PlanOutcome::kPlan) {
        EXPECT_EQ(result.text, whole.text);
        break;
      }
      EXPECT_EQ(result.outcome, PlanOutcome::kCancelled);
      EXPECT_EQ(result.guarantee, Guarantee::kNone);
    }
  }
}

// --- observers, cancelling, the context ----------------------------------------------------------------------------

TEST(Planner, ObserversSeeTheTextInOrder) {
  const Task task = lamps("(and (lit a) (lit b))");
  for (const DecodeMode mode : {DecodeMode::kGreedy, DecodeMode::kSample, DecodeMode::kBeam, DecodeMode::kSmc}) {
    std::string seen;
    std::size_t forced = 0;
    std::vector<ActionId> actions;
    Observer observer;
    observer.token = [&](const Observer::Token& event) {
      seen += event.bytes;
      forced += event.forced ? 1 : 0;
      EXPECT_EQ(event.forced, event.num_choices == 1);
    };
    observer.action = [&](ActionId action, std::string_view text) {
      actions.push_back(action);
      EXPECT_EQ(text, seen) << to_string(mode);  // all tokens of an action come before it
    };
    const PlanResult result = make(task, random_setting(9), with(Guidance::kUniform, mode), observer);
    EXPECT_EQ(seen, result.text);
    EXPECT_EQ(actions, result.plan);
    EXPECT_EQ(forced, result.forced_tokens);
  }
}

TEST(Planner, CancellingKeepsWhatWasDecided) {
  const Task task = lamps("(and (lit a) (lit b))");
  for (const DecodeMode mode : {DecodeMode::kGreedy, DecodeMode::kBeam, DecodeMode::kSmc}) {
    int asked = 0;
    Observer observer;
    observer.cancelled = [&] { return ++asked > 1; };
    const PlanResult result = make(task, random_setting(4), with(Guidance::kUniform, mode), observer);
    if (result.outcome == PlanOutcome::kPlan) continue;  // it was done before it was asked twice
    EXPECT_EQ(result.outcome, PlanOutcome::kCancelled);
    EXPECT_EQ(result.guarantee, Guarantee::kNone);
    EXPECT_FALSE(result.valid());
  }
  Observer observer;
  observer.cancelled = [] { return true; };
  const PlanResult result = make(task, random_setting(4), with(Guidance::kUniform), observer);
  EXPECT_EQ(result.outcome, PlanOutcome::kCancelled);
  EXPECT_EQ(result.model_calls, 0U);
}

TEST(Planner, TheHorizonShrinksToTheContext) {
  const Task task = lamps("(and (lit a) (lit b))");
  Setting setting;
  auto script = std::make_unique<Script>(setting.words,
                                         "(press a)\n(release a)\n(press a)\n(release a)\n(press a)\n(press b);\n");
  Script* raw = script.get();
  setting.model = std::move(script);
  PlanOptions options = with(Guidance::kMask);
  options.prompt = Prompt{"", "", "Plan:\n"};
  const PlanResult roomy = make(task, setting, options);
  EXPECT_FALSE(roomy.horizon_cut_by_context);
  EXPECT_EQ(roomy.plan.size(), 6U);
  raw->context = roomy.prompt_tokens + roomy.tokens.size();
  const PlanResult tight = make(task, setting, options);
  EXPECT_TRUE(tight.horizon_cut_by_context);
  EXPECT_LT(tight.horizon, 6U);
  EXPECT_LE(tight.plan.size(), tight.horizon);
  EXPECT_EQ(tight.guarantee, Guarantee::kFull);
  raw->context = roomy.prompt_tokens + 10;
  EXPECT_THROW(make(task, setting, options), ModelError);
  raw->context = roomy.prompt_tokens;
  EXPECT_THROW(make(task, setting, options), ModelError);
}

TEST(Planner, RefusesWhatCannotBe) {
  const Task task = lamps("(lit a)");
  const auto expect_refusal = [&](const PlanOptions& options, bool model, const std::string& part) {
    try {
      const Setting setting = random_setting(1);
      plan(task, PlanFormat::builtin("pddl"), model ? setting.model.get() : nullptr, setting.words, options);
      ADD_FAILURE() << part;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  expect_refusal(with(Guidance::kTrained), true, "needs a hidden Markov model of plans");
  expect_refusal(with(Guidance::kUniform), false, "needs a language model");
  expect_refusal(with(Guidance::kNone, DecodeMode::kSmc), true, "greedy or sample");
  expect_refusal(with(Guidance::kSyntax, DecodeMode::kBeam), true, "beam");
  PlanOptions options = with(Guidance::kUniform);
  options.bridge = Bridge::kHmm;
  expect_refusal(options, true, "needs a hidden Markov model of tokens");
  options.token_hmm = Hmm::uniform(Alphabet::meta({"press"}, 3));
  expect_refusal(options, true, "one of actions");
  options.token_hmm = Hmm::uniform(Alphabet::tokens(7, 0));
  expect_refusal(options, true, "another vocabulary");
  options.tokenization = Tokenization::kAny;
  expect_refusal(options, true, "canonical");
  options = with(Guidance::kSearch);
  options.on_infeasible = PlanOptions::OnInfeasible::kSyntax;
  expect_refusal(options, true, "no model");
}

// --- replay --------------------------------------------------------------------------------------------------------

TEST(Explain, SaysWhyEachActionWasOrWasNotAllowed) {
  const Task task = lamps("(and (lit a) (lit b))");
  Setting setting;
  // Wants the dead end first, then a lamp that is lit already, then to stop too early.
  setting.model = std::make_unique<Script>(setting.words, "(blow-fuse)\n(press a);\n");
  const PlanResult result = make(task, setting, with(Guidance::kUniform));
  ASSERT_EQ(result.guarantee, Guarantee::kFull);
  const std::vector<ExplainedStep> steps = explain(task, result, setting.model.get());
  ASSERT_EQ(steps.size(), result.plan.size());
  ASSERT_TRUE(steps[0].wish.has_value());
  ASSERT_TRUE(steps[0].wish->action.has_value());
  EXPECT_EQ(task.text(*steps[0].wish->action), "(blow-fuse)");
  EXPECT_EQ(steps[0].wish->standing, ExplainedStep::Standing::kDeadEnd);
  std::map<std::string, ExplainedStep::Standing> standing;
  for (const ExplainedStep::Judged& entry : steps[0].legal) standing[task.text(entry.action)] = entry.standing;
  EXPECT_EQ(standing["(press a)"], ExplainedStep::Standing::kAllowed);
  EXPECT_EQ(standing["(blow-fuse)"], ExplainedStep::Standing::kDeadEnd);
  EXPECT_FALSE(standing.contains("(release a)"));
  EXPECT_EQ(why_illegal(task, {}, *task.find({"release", {"a"}})), "precondition (lit a) is false");
  EXPECT_EQ(why_illegal(task, {}, *task.find({"press", {"a"}})), "");
  std::size_t tokens = 0;
  for (const ExplainedStep& step : steps) tokens += step.tokens.size();
  EXPECT_EQ(tokens, result.tokens.size());
  EXPECT_TRUE(steps.back().stops);
}

TEST(Explain, TheLastActionsMustLeadToTheGoal) {
  const Task task = lamps("(and (lit a) (lit b))");
  PlanOptions options = with(Guidance::kMask);
  options.lookahead.horizon = 3;
  Setting setting;
  setting.model = std::make_unique<Script>(setting.words, "(press a)\n(release a)\n(press b);\n");
  const PlanResult result = make(task, setting, options);
  ASSERT_EQ(result.guarantee, Guarantee::kFull);
  const std::vector<ExplainedStep> steps = explain(task, result, setting.model.get());
  ASSERT_GE(steps.size(), 2U);
  ASSERT_TRUE(steps[1].wish && steps[1].wish->action);
  EXPECT_EQ(task.text(*steps[1].wish->action), "(release a)");
  EXPECT_EQ(steps[1].wish->standing, ExplainedStep::Standing::kTooLate);
}

TEST(Explain, EndsAtTheFirstIllegalStep) {
  const Task task = lamps("(lit a)");
  const PlanResult result = make_script(task, "(press a)\n(press a)\n(press b);\n", with(Guidance::kSyntax));
  ASSERT_EQ(result.plan.size(), 3U);
  const std::vector<ExplainedStep> steps = explain(task, result, nullptr);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_TRUE(steps[0].chosen_is_legal);
  EXPECT_FALSE(steps[1].chosen_is_legal);
  EXPECT_EQ(steps[0].legal[0].standing, ExplainedStep::Standing::kNotJudged);
}

TEST(Explain, NothingToTellWithoutAPlan) {
  const Task task = lamps("(lit c)");
  const Setting setting = random_setting(1);
  const PlanResult result = make(task, setting, with(Guidance::kUniform));
  EXPECT_TRUE(explain(task, result, setting.model.get()).empty());
}

}  // namespace
}  // namespace metactrl::planner_test
