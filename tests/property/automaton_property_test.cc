// The token automaton against the tokenizers of real models: it accepts exactly their own encodings of plans.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <unordered_map>

#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "metactrl/language_model.h"
#include "support/household.h"
#include "support/named_task.h"
#include "support/random.h"
#include "support/test_data.h"
#include "support/token_walk.h"
#include "support/vocabularies.h"
#include "text/token_automaton.h"

namespace metactrl::automaton_property_test {
namespace {

using testing::Random;
using testing::walk;
using testing::WalkedPlan;

const std::vector<std::string>& vocabularies() {
  static const std::vector<std::string> kNames = {"llama-bpe", "qwen2", "qwen35",    "gemma-4",     "gpt-2",
                                                  "llama-spm", "phi-3", "command-r", "deepseek-llm"};
  return kNames;
}

struct Scene {
  std::string name;
  Task task;
};

// Names that are hard on tokenizers: digits, one letter, no letter, apostrophes, accents, other scripts, words that
// begin alike.
std::vector<std::string> odd_objects() {
  return {"a_1",       "a_11",          "b_0",
          "x1y2z3_77", "soap_1",        "soap_12",
          "soap_123",  "soap_1234",     "soapdish_1",
          "o'hara_2",  "caf\xc3\xa9_3", "\xe8\x8c\xb6_4",
          "t-shirt_5", "the_6",         "dvd.player_7",
          "__8",       "A1_9",          "i'm_10",
          "none_999",  "end_1000000",   "\xd1\x87\xd0\xb0\xd0\xb9_12"};
}

std::vector<Scene> scenes() {
  std::vector<Scene> out;
  out.push_back({"household", testing::household_task(testing::household_objects(30))});
  out.push_back({"odd names", testing::household_task(odd_objects())});
  out.push_back({"one object", testing::household_task({"cup_1"})});
  const std::filesystem::path folder = testing::source_dir() / "domains" / "tabletop";
  for (const std::string problem : {"dishwasher", "boxed_tools", "stack_dishes"}) {
    out.push_back({problem, load_pddl((folder / "domain.pddl").string(), (folder / (problem + ".pddl")).string())});
  }
  return out;
}

// The spelling, unless the format refuses the scene's names (formats that split an object's name into a word and a
// number).
std::optional<PlanSpelling> spell(const std::string& format, const Scene& scene) {
  try {
    return std::make_optional<PlanSpelling>(PlanFormat::builtin(format), scene.task);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

WalkedPlan random_plan(Random& random, const TokenAutomaton& automaton, std::size_t num_actions, std::size_t longest) {
  WalkedPlan plan;
  plan.actions.resize(random.below(longest + 1));
  for (ActionId& action : plan.actions) action = ActionId{random.below(num_actions)};
  if (plan.actions.size() > 1) plan.separators.resize(plan.actions.size() - 1);
  for (std::uint32_t& separator : plan.separators) separator = random.below(automaton.num_separators());
  return plan;
}

// Tokens by their bytes.
using Lexicon = std::unordered_map<std::string_view, TokenId>;

Lexicon lexicon(const Vocabulary& vocabulary) {
  Lexicon out;
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    const TokenId token{static_cast<std::int32_t>(i)};
    if (!vocabulary.bytes(token).empty()) out.try_emplace(vocabulary.bytes(token), token);
  }
  return out;
}

// The same bytes in other tokens: one token as two, or two as one. Empty when this place allows neither.
std::vector<TokenId> respell(Random& random, const Vocabulary& vocabulary, const Lexicon& lexicon,
                             std::vector<TokenId> tokens) {
  const std::size_t place = random.below(tokens.size());
  const auto at = tokens.begin() + static_cast<std::ptrdiff_t>(place);
  const std::string_view bytes = vocabulary.bytes(tokens[place]);
  if (random.chance(30) && place + 1 < tokens.size()) {
    const auto joined = lexicon.find(std::string(bytes) + std::string(vocabulary.bytes(tokens[place + 1])));
    if (joined != lexicon.end()) {
      *at = joined->second;
      tokens.erase(at + 1);
      return tokens;
    }
  }
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    const auto left = lexicon.find(bytes.substr(0, size));
    const auto right = lexicon.find(bytes.substr(size));
    if (left == lexicon.end() || right == lexicon.end() || random.chance(40)) continue;
    *at = left->second;
    tokens.insert(at + 1, right->second);
    return tokens;
  }
  return {};
}

std::string context_of(std::size_t number) {
  static const std::vector<std::string> kContexts = {"", "<|im_start|>assistant\n", "Plan:\n", "\n\n",
                                                     "assistant<|end_header_id|>\n\n"};
  return kContexts[number % kContexts.size()];
}

class AutomatonVocabularySlow : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    METACTRL_NEEDS_VOCABULARY(GetParam());
    vocabulary_ = load_vocabulary(testing::vocabulary_file(GetParam()));
    lexicon_ = lexicon(*vocabulary_);
  }

  // Thousands of plans: the tokenizer's encoding is the automaton's path; others of the same text are not accepted.
  void check(const std::string& format, const Scene& scene, const std::string& context, std::size_t num_plans) {
    SCOPED_TRACE(format + ", " + scene.name + ", after '" + context + "'");
    const std::optional<PlanSpelling> spelling = spell(format, scene);
    if (!spelling) return;
    const auto automaton = TokenAutomaton::compile(*spelling, *vocabulary_, {.context = context, .max_actions = 24});
    Random random(num_plans + scene.task.num_actions());
    for (std::size_t i = 0; i < num_plans; ++i) {
      const WalkedPlan plan = random_plan(random, *automaton, scene.task.num_actions(), i % 50 == 0 ? 24 : 6);
      const std::string text = spelling->render(plan.actions, plan.separators);
      const std::vector<TokenId> tokens = vocabulary_->encode(text, context);
      ASSERT_EQ(tokens, testing::tokens_of_plan(*automaton, plan)) << text;
      ASSERT_EQ(walk(*automaton, tokens), plan) << text;
      if (tokens.empty()) continue;
      const std::vector<TokenId> other = respell(random, *vocabulary_, lexicon_, tokens);
      if (other.empty() || other == tokens) continue;
      ASSERT_FALSE(walk(*automaton, other).has_value()) << text;
      ++num_respelled_;
    }
    num_plans_ += num_plans;
  }

  std::unique_ptr<Vocabulary> vocabulary_;
  Lexicon lexicon_;
  std::size_t num_plans_ = 0;
  std::size_t num_respelled_ = 0;
};

TEST_P(AutomatonVocabularySlow, AcceptsExactlyTheTokenizersOwnEncoding) {
  const std::vector<Scene> all = scenes();
  std::size_t number = 0;
  for (const std::string& format : PlanFormat::builtin_names()) {
    num_plans_ = 0;
    for (const Scene& scene : all) check(format, scene, context_of(number++), scene.name == "one object" ? 100 : 1000);
    EXPECT_GE(num_plans_, 2000U) << format;
  }
  EXPECT_GT(num_respelled_, 5000U);
}

// Most entries are put together from pieces; encoding each one as a whole gives the same.
TEST_P(AutomatonVocabularySlow, EveryEntryIsEncodedAsTheWholeWouldBe) {
  for (const Scene& scene : scenes()) {
    for (const std::string& format : PlanFormat::builtin_names()) {
      const std::optional<PlanSpelling> spelling = spell(format, scene);
      if (!spelling) continue;
      const auto automaton = TokenAutomaton::compile(*spelling, *vocabulary_, {.context = "Plan:\n", .max_actions = 3});
      for (std::uint32_t a = 0; a < scene.task.num_actions(); ++a) {
        for (std::uint32_t separator = 0; separator < automaton->num_separators(); ++separator) {
          // The action first and last in a plan, so that each of its entries is met.
          const WalkedPlan plan = {{ActionId{a}, ActionId{a}}, {separator}};
          const std::string text = spelling->render(plan.actions, plan.separators);
          ASSERT_EQ(vocabulary_->encode(text, "Plan:\n"), testing::tokens_of_plan(*automaton, plan)) << text;
        }
        const std::string alone = spelling->render(std::vector<ActionId>{ActionId{a}});
        ASSERT_EQ(vocabulary_->encode(alone, "Plan:\n"), testing::tokens_of_plan(*automaton, {{ActionId{a}}, {}}))
            << alone;
      }
    }
  }
}

// Formats without a closing: the end of the turn takes its place.
TEST_P(AutomatonVocabularySlow, TheEndOfTheTurnCanBeTheClosing) {
  const std::vector<Scene> all = scenes();
  std::size_t num_plans = 0;
  for (const std::string format_name : {"pddl", "sentences"}) {
    PlanFormat format = PlanFormat::builtin(format_name);
    format.close.clear();
    format.empty.clear();
    for (const Scene& scene : all) {
      const PlanSpelling spelling(format, scene.task);
      const auto automaton = TokenAutomaton::compile(spelling, *vocabulary_, {.context = "Plan:\n", .max_actions = 24});
      Random random(3);
      for (int i = 0; i < 300; ++i) {
        const WalkedPlan plan = random_plan(random, *automaton, scene.task.num_actions(), i % 50 == 0 ? 24 : 6);
        const std::string text = spelling.render(plan.actions, plan.separators);
        const std::vector<TokenId> tokens = vocabulary_->encode(text, "Plan:\n");
        ASSERT_EQ(tokens, testing::tokens_of_plan(*automaton, plan)) << text;
        ASSERT_EQ(walk(*automaton, tokens), plan) << text;
        if (tokens.empty()) continue;
        const std::vector<TokenId> other = respell(random, *vocabulary_, lexicon_, tokens);
        if (other.empty() || other == tokens) continue;
        ASSERT_FALSE(walk(*automaton, other).has_value()) << text;
        ++num_plans;
      }
    }
  }
  EXPECT_GT(num_plans, 500U);
}

INSTANTIATE_TEST_SUITE_P(Real, AutomatonVocabularySlow, ::testing::ValuesIn(vocabularies()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

// Save, load, and the same automaton again.
TEST_P(AutomatonVocabularySlow, SavesAndLoads) {
  const Scene scene = {"household", testing::household_task(testing::household_objects(12))};
  const std::string file =
      (std::filesystem::path(::testing::TempDir()) / ("automaton_" + GetParam() + ".bin")).string();
  for (const std::string& format : PlanFormat::builtin_names()) {
    const std::optional<PlanSpelling> spelling = spell(format, scene);
    ASSERT_TRUE(spelling.has_value()) << format;
    const AutomatonOptions options = {.context = "Plan:\n", .max_actions = 12};
    const auto saved = TokenAutomaton::compile(*spelling, *vocabulary_, options);
    saved->save(file);
    const auto loaded = TokenAutomaton::load(file, *spelling, *vocabulary_, options);
    ASSERT_EQ(loaded->num_entries(), saved->num_entries());
    EXPECT_EQ(loaded->num_states(), saved->num_states());
    Random random(7);
    for (std::size_t i = 0; i < 200; ++i) {
      const WalkedPlan plan = random_plan(random, *saved, scene.task.num_actions(), 12);
      const std::vector<TokenId> tokens = testing::tokens_of_plan(*saved, plan);
      ASSERT_EQ(testing::tokens_of_plan(*loaded, plan), tokens);
      ASSERT_EQ(walk(*loaded, tokens), plan);
    }
  }
  std::filesystem::remove(file);
}

// Vocabularies made of pieces of plans, so that tokens straddle every border there is; the encoding takes the longest
// match, which looks further ahead than any real tokenizer. Either the automaton is exact, or there is none.
class RandomVocabulary {
 public:
  explicit RandomVocabulary(std::uint64_t seed) : random_(seed), task_(make_task()), format_(make_format()) {}

  // False when there was no automaton to check.
  bool check() {
    std::optional<PlanSpelling> spelling;
    std::shared_ptr<const TokenAutomaton> automaton;
    std::optional<TableVocabulary> vocabulary;
    try {
      spelling.emplace(format_, task_);
      vocabulary.emplace(make_vocabulary(*spelling));
      automaton = TokenAutomaton::compile(*spelling, *vocabulary, {.context = "", .max_actions = 6});
    } catch (const InputError&) {
      return false;
    }
    for (int i = 0; i < 200; ++i) {
      const WalkedPlan plan = random_plan(random_, *automaton, task_.num_actions(), 6);
      const std::string text = spelling->render(plan.actions, plan.separators);
      const std::vector<TokenId> tokens = vocabulary->encode(text, "");
      EXPECT_EQ(tokens, testing::tokens_of_plan(*automaton, plan)) << text;
      EXPECT_EQ(walk(*automaton, tokens), plan) << text;
    }
    return true;
  }

 private:
  std::string word(const std::string& letters, std::size_t longest) {
    std::string out(1 + random_.below(longest), ' ');
    for (char& c : out) c = letters[random_.below(letters.size())];
    return out;
  }

  Task make_task() {
    std::vector<std::string> objects(2 + random_.below(6));
    for (std::string& object : objects) object = word("ab1_", 4);
    std::vector<PlanStep> steps;
    for (char last = 'p'; last < static_cast<char>('q' + random_.below(4)); ++last) {
      const std::string name = word("abc", 3) + last;
      const std::size_t arity = random_.below(3);
      for (int i = 0; i < 8; ++i) {
        PlanStep step = {name, {}};
        while (step.arguments.size() < arity) step.arguments.push_back(random_.pick(objects));
        if (std::find(steps.begin(), steps.end(), step) == steps.end()) steps.push_back(std::move(step));
      }
    }
    return testing::named_task(steps);
  }

  PlanFormat make_format() {
    const std::vector<std::string> separators = {"\", \"", ",", "; ", " and ", "\n"};
    PlanFormat format;
    format.name = "random";
    format.open = random_.pick<std::string>({"[\"", "[", "", "{"});
    format.close = random_.pick<std::string>({"\"]", "]", ".", ";\n", "}"});
    format.separators = {random_.pick(separators)};
    if (random_.chance(30)) format.separators.push_back(random_.pick(separators));
    format.items = {{"*", random_.chance(50) ? "{action}({arguments})" : "({action} {arguments})"}};
    format.argument_separator = random_.chance(50) ? " " : ", ";
    if (random_.chance(20)) format.prefix = "{index}. ";
    return format;
  }

  TableVocabulary make_vocabulary(const PlanSpelling& spelling) {
    std::vector<std::string> tokens = {"", "\n"};
    for (char c = ' '; c <= '~'; ++c) tokens.emplace_back(1, c);
    const std::size_t count = tokens.size() + random_.below(30);
    while (tokens.size() < count) {
      std::vector<ActionId> plan(3);
      for (ActionId& action : plan) action = ActionId{random_.below(task_.num_actions())};
      std::vector<std::uint32_t> separators(2);
      for (std::uint32_t& separator : separators) separator = random_.below(format_.separators.size());
      const std::string text = spelling.render(plan, separators);
      tokens.push_back(text.substr(random_.below(text.size()), 2 + random_.below(5)));
    }
    return TableVocabulary(tokens, {TokenId{0}});
  }

  Random random_;
  Task task_;
  PlanFormat format_;
};

TEST(AutomatonRandom, IsExactOrRefused) {
  std::size_t num_checked = 0;
  for (std::uint64_t seed = 0; seed < 2000 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    if (RandomVocabulary(seed).check()) ++num_checked;
  }
  EXPECT_GT(num_checked, 500U);
}

// The tokenizer would write "Plan: {" with one token for the blank and the bracket.
TEST(AutomatonBorder, ATokenAcrossThePromptsEndIsRefused) {
  METACTRL_NEEDS_VOCABULARY("llama-bpe");
  const auto vocabulary = load_vocabulary(testing::vocabulary_file("llama-bpe"));
  const Task task = testing::household_task(testing::household_objects(5));
  const PlanSpelling spelling(PlanFormat::builtin("virtualhome-actions"), task);
  EXPECT_NO_THROW(TokenAutomaton::compile(spelling, *vocabulary, {.context = "Plan:\n"}));
  try {
    TokenAutomaton::compile(spelling, *vocabulary, {.context = "Plan: "});
    ADD_FAILURE() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("joins the end of the prompt"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace metactrl::automaton_property_test
