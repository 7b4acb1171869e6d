// Any tokenization against brute force on small vocabularies, and against the parser on those of real models: exactly
// the token sequences whose bytes are a plan are accepted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "metactrl/decoder.h"
#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "metactrl/language_model.h"
#include "support/household.h"
#include "support/random.h"
#include "support/random_constraint.h"
#include "support/test_data.h"
#include "support/vocabularies.h"
#include "text/token_automaton.h"

namespace metactrl::any_tokens_property_test {
namespace {

using testing::Random;

std::string text_of(const Vocabulary& vocabulary, std::span<const TokenId> tokens) {
  std::string text;
  for (TokenId token : tokens) text += vocabulary.bytes(token);
  return text;
}

bool ends_turn(const Vocabulary& vocabulary, TokenId token) {
  return std::ranges::binary_search(vocabulary.end_of_turn(), token);
}

// --- small tasks, by enumeration -------------------------------------------------------------------------------------

// The texts of all plans of at most `left` actions that are legal and reach the goal (with kSyntax: of all plans), of
// those whose actions all change something unless idle steps are wanted.
std::set<std::string> all_texts(const Constraint& constraint, unsigned left, bool syntax, bool idle_steps) {
  std::set<std::string> texts;
  std::vector<ActionId> plan;
  std::vector<std::uint32_t> separators;
  const Task& task = constraint.task();
  const std::function<void(const State&)> visit = [&](const State& state) {
    if (syntax || task.is_goal(state)) texts.insert(constraint.spelling().render(plan, separators));
    if (plan.size() == left) return;
    for (std::uint32_t a = 0; a < task.num_actions(); ++a) {
      const std::optional<State> next = syntax ? std::optional<State>(state) : task.apply(state, ActionId{a});
      if (!next || (!syntax && !idle_steps && *next == state)) continue;
      const std::size_t ways = plan.empty() ? 1 : constraint.spelling().format().separators.size();
      plan.push_back(ActionId{a});
      for (std::uint32_t way = 0; way < ways; ++way) {
        if (plan.size() > 1) separators.push_back(way);
        visit(*next);
        if (plan.size() > 1) separators.pop_back();
      }
      plan.pop_back();
    }
  };
  visit(task.initial_state());
  return texts;
}

bool begins_some(const std::set<std::string>& texts, const std::string& text) {
  const auto found = texts.lower_bound(text);
  return found != texts.end() && found->starts_with(text);
}

class SmallCheck {
 public:
  SmallCheck(std::uint64_t seed, Guidance guidance) : random_(seed) {
    testing::RandomConstraintOptions options;
    options.horizon = guidance == Guidance::kSyntax ? 2 : 1 + static_cast<unsigned>(seed % 3);
    options.tokenization = Tokenization::kAny;
    options.no_closing = seed % 5 == 0;
    constraint_ = testing::random_constraint(seed, options);
    options.byte_vocabulary = true;
    if (constraint_ == nullptr) return;
    const bool idle_steps = seed % 3 == 0;
    const DecoderOptions decoder{.guidance = guidance,
                                 .bridge = seed % 2 == 0 ? Bridge::kUniform : Bridge::kSurrogate,
                                 .support = {.idle_steps = idle_steps}};
    decoder_.emplace(constraint_, decoder);
    bytes_.emplace(testing::random_constraint(seed, options), decoder);
    texts_ = all_texts(*constraint_, decoder_->left(), guidance == Guidance::kSyntax, idle_steps);
  }

  bool usable() const { return constraint_ != nullptr; }
  std::size_t comparisons() const { return comparisons_; }
  std::size_t straddling() const { return straddling_; }

  // One random way to write a plan, looking at every token of the vocabulary at every step.
  void walk() {
    decoder_->reset();
    bytes_->reset();
    std::string text;
    while (!decoder_->finished()) {
      check_step(text);
      if (::testing::Test::HasFailure()) return;
      const std::span<const NextToken> choices = decoder_->next();
      const TokenId token = choices[random_.below(choices.size())].token;
      const std::size_t actions = decoder_->actions().size();
      ASSERT_TRUE(decoder_->accept(token));
      if (decoder_->actions().size() > actions && !decoder_->at_boundary() && !decoder_->finished()) ++straddling_;
      text += constraint_->vocabulary().bytes(token);
      if (decoder_->finished()) {
        ASSERT_TRUE(bytes_->accept(TokenId{256}));
      }
      for (char byte : constraint_->vocabulary().bytes(token))
        ASSERT_TRUE(bytes_->accept(TokenId{static_cast<unsigned char>(byte)}));
      ASSERT_TRUE(std::ranges::equal(decoder_->actions(), bytes_->actions()));
      ASSERT_TRUE(std::ranges::equal(decoder_->separators(), bytes_->separators()));
    }
    ASSERT_TRUE(texts_.contains(text)) << text;
    const PlanSpelling::Parsed parsed = constraint_->spelling().parse(text);
    ASSERT_TRUE(parsed.complete);
    ASSERT_TRUE(std::ranges::equal(parsed.actions, decoder_->actions()));
    ASSERT_TRUE(std::ranges::equal(parsed.separators, decoder_->separators()));
    take_back_and_again();
  }

 private:
  void check_step(const std::string& text) {
    const Vocabulary& vocabulary = constraint_->vocabulary();
    const std::vector<NextToken> choices(decoder_->next().begin(), decoder_->next().end());
    std::size_t allowed = 0;
    for (std::int32_t id = -1; id <= static_cast<std::int32_t>(vocabulary.size()); ++id) {
      const TokenId token{id};
      const std::string_view bytes = vocabulary.bytes(token);
      const bool expected = ends_turn(vocabulary, token)
                                ? texts_.contains(text)
                                : !bytes.empty() && begins_some(texts_, text + std::string(bytes));
      const auto choice = std::ranges::find(choices, token, &NextToken::token);
      ASSERT_EQ(choice != choices.end(), expected) << '"' << text << "\" and \"" << bytes << '"';
      const std::size_t actions = decoder_->actions().size();
      ASSERT_EQ(decoder_->accept(token), expected) << '"' << text << "\" and \"" << bytes << '"';
      if (expected) decoder_->rollback(1);
      ASSERT_EQ(decoder_->actions().size(), actions);
      if (!expected) continue;
      ++allowed;
      check_weight(*choice, bytes);
    }
    ASSERT_EQ(choices.size(), allowed);
    if (choices.size() == 1) {
      ASSERT_FALSE(decoder_->forced().empty());
      ASSERT_EQ(decoder_->forced()[0], choices[0].token);
    } else {
      ASSERT_TRUE(decoder_->forced().empty());
    }
  }

  // A token is worth what the text behind its last byte is worth.
  void check_weight(const NextToken& choice, std::string_view bytes) {
    const TokenId last{bytes.empty() ? 256 : static_cast<unsigned char>(bytes.back())};
    const std::string_view before = bytes.substr(0, bytes.empty() ? 0 : bytes.size() - 1);
    for (char byte : before) ASSERT_TRUE(bytes_->accept(TokenId{static_cast<unsigned char>(byte)}));
    const auto expected = std::ranges::find(bytes_->next(), last, &NextToken::token);
    ASSERT_NE(expected, bytes_->next().end());
    ASSERT_NEAR(choice.log_weight, expected->log_weight, 1e-12);
    bytes_->rollback(before.size());
    ++comparisons_;
  }

  // Taking back any number of tokens and going the same way again changes nothing; nor does a fork.
  void take_back_and_again() {
    const std::vector<TokenId> tokens(decoder_->tokens().begin(), decoder_->tokens().end());
    const std::vector<ActionId> actions(decoder_->actions().begin(), decoder_->actions().end());
    const std::size_t count = random_.below(tokens.size() + 1);
    decoder_->rollback(count);
    Decoder fork = *decoder_;
    for (Decoder* decoder : {&*decoder_, &fork}) {
      for (std::size_t i = tokens.size() - count; i < tokens.size(); ++i) ASSERT_TRUE(decoder->accept(tokens[i]));
      ASSERT_TRUE(decoder->finished());
      ASSERT_TRUE(std::ranges::equal(decoder->actions(), actions));
      ASSERT_TRUE(decoder->next().empty());
    }
  }

  Random random_;
  std::shared_ptr<const Constraint> constraint_;
  std::optional<Decoder> decoder_;
  std::optional<Decoder> bytes_;  // the same task, format and guidance, one byte at a time
  std::set<std::string> texts_;
  std::size_t comparisons_ = 0;
  std::size_t straddling_ = 0;
};

class AnyTokensSmall : public ::testing::TestWithParam<Guidance> {};

TEST_P(AnyTokensSmall, ExactlyTheTextsOfPlansInEverySegmentation) {
  std::size_t constraints = 0;
  std::size_t comparisons = 0;
  std::size_t straddling = 0;
  for (std::uint64_t seed = 8000000; constraints < 250; ++seed) {
    SmallCheck check(seed, GetParam());
    if (!check.usable()) continue;
    ++constraints;
    for (int i = 0; i < 4; ++i) {
      check.walk();
      ASSERT_FALSE(HasFailure()) << "seed " << seed;
    }
    comparisons += check.comparisons();
    straddling += check.straddling();
  }
  EXPECT_GT(comparisons, 10000U);
  EXPECT_GT(straddling, 200U);
}

INSTANTIATE_TEST_SUITE_P(Guidance, AnyTokensSmall,
                         ::testing::Values(Guidance::kSyntax, Guidance::kMask, Guidance::kUniform),
                         [](const auto& info) { return to_string(info.param); });

TEST(AnyTokens, AByteWithoutATokenOfItsOwnIsRefused) {
  const Task task = testing::household_task({"cup_1"});
  std::vector<std::string> tokens = {"", "walk"};
  for (char c = ' '; c <= '~'; ++c) {
    if (c != 'w') tokens.emplace_back(1, c);
  }
  const PlanSpelling spelling(PlanFormat::builtin("json"), task);
  const AutomatonOptions options{.context = "", .max_actions = 8, .tokenization = Tokenization::kAny};
  try {
    TokenAutomaton::compile(spelling, TableVocabulary(tokens, {TokenId{0}}), options);
    ADD_FAILURE() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("no token for 'w' alone"), std::string::npos) << error.what();
  }
}

// --- vocabularies of real models -------------------------------------------------------------------------------------

class AnyTokensReal : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    METACTRL_NEEDS_VOCABULARY(GetParam());
    vocabulary_ = load_vocabulary(testing::vocabulary_file(GetParam()));
    for (std::size_t i = 0; i < vocabulary_->size(); ++i) {
      const TokenId token{static_cast<std::int32_t>(i)};
      const std::string_view bytes = vocabulary_->bytes(token);
      if (bytes.empty() || ends_turn(*vocabulary_, token)) continue;
      by_bytes_[bytes].push_back(token);
      longest_ = std::max(longest_, bytes.size());
    }
  }

  std::shared_ptr<const Constraint> compile(const Task& task, const std::string& format, unsigned horizon) {
    ConstraintOptions options;
    options.tokenization = Tokenization::kAny;
    options.lookahead.horizon = horizon;
    return Constraint::compile(task, PlanFormat::builtin(format), vocabulary_, options);
  }

  // Any way to cut the text into tokens: at each place all tokens that fit are equally likely, or the long ones
  // likelier.
  std::vector<TokenId> segment(Random& random, std::string_view text) {
    std::vector<TokenId> tokens;
    const bool prefer_long = random.chance(50);
    while (!text.empty()) {
      std::vector<TokenId> fitting;
      for (std::size_t size = 1; size <= std::min(longest_, text.size()); ++size) {
        const auto found = by_bytes_.find(text.substr(0, size));
        if (found != by_bytes_.end()) fitting.insert(fitting.end(), found->second.begin(), found->second.end());
      }
      const std::size_t pick = random.below(fitting.size());
      tokens.push_back(fitting[prefer_long ? std::max<std::size_t>(pick, random.below(fitting.size())) : pick]);
      text.remove_prefix(vocabulary_->bytes(tokens.back()).size());
    }
    tokens.push_back(random.pick(vocabulary_->end_of_turn()));
    return tokens;
  }

  // What the tokens spell, if that is a plan: by the parser, and without the blanks that it forgives.
  std::optional<std::vector<ActionId>> plan_of(const PlanSpelling& spelling, const std::vector<TokenId>& tokens) {
    if (tokens.empty() || !ends_turn(*vocabulary_, tokens.back())) return std::nullopt;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (vocabulary_->bytes(tokens[i]).empty() || ends_turn(*vocabulary_, tokens[i])) return std::nullopt;
    }
    const std::string text = text_of(*vocabulary_, std::span(tokens).first(tokens.size() - 1));
    const PlanSpelling::Parsed parsed = spelling.parse(text);
    if (!parsed.complete || spelling.render(parsed.actions, parsed.separators) != text) return std::nullopt;
    return parsed.actions;
  }

  std::vector<TokenId> corrupt(Random& random, std::vector<TokenId> tokens) {
    const std::size_t place = random.below(tokens.size());
    const auto at = tokens.begin() + static_cast<std::ptrdiff_t>(place);
    switch (random.below(4)) {
      case 0:
        tokens.erase(at);
        break;
      case 1:
        tokens.insert(at, tokens[random.below(tokens.size())]);
        break;
      case 2:
        *at = tokens[random.below(tokens.size())];
        break;
      default:
        *at = TokenId{static_cast<std::int32_t>(random.below(vocabulary_->size()))};
        break;
    }
    return tokens;
  }

  static bool accepts(Decoder& decoder, const std::vector<TokenId>& tokens) {
    decoder.reset();
    for (TokenId token : tokens) {
      if (!decoder.accept(token)) return false;
    }
    return decoder.finished();
  }

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::unordered_map<std::string_view, std::vector<TokenId>> by_bytes_;
  std::size_t longest_ = 0;
};

TEST_P(AnyTokensReal, AcceptsEverySegmentationAndNothingElse) {
  std::size_t other = 0;
  std::size_t rejected = 0;
  for (const std::string& format : PlanFormat::builtin_names()) {
    const Task task = testing::household_task(testing::household_objects(12));
    const auto constraint = compile(task, format, 24);
    const PlanSpelling& spelling = constraint->spelling();
    Decoder decoder(constraint, {Guidance::kSyntax, Bridge::kUniform, 24, false});
    Random random(17);
    for (int i = 0; i < 300; ++i) {
      std::vector<ActionId> plan(random.below(i % 10 == 0 ? 24 : 5));
      for (ActionId& action : plan) action = ActionId{random.below(task.num_actions())};
      std::vector<std::uint32_t> separators(plan.empty() ? 0 : plan.size() - 1);
      for (std::uint32_t& separator : separators) separator = random.below(spelling.format().separators.size());
      const std::string text = spelling.render(plan, separators);
      const std::vector<TokenId> tokens = segment(random, text);
      ASSERT_EQ(text_of(*vocabulary_, tokens), text);
      ASSERT_TRUE(accepts(decoder, tokens)) << format << ": " << text;
      ASSERT_TRUE(std::ranges::equal(decoder.actions(), plan)) << text;
      ASSERT_TRUE(std::ranges::equal(decoder.separators(), separators)) << text;
      std::vector<TokenId> own = vocabulary_->encode(text, "");
      own.push_back(tokens.back());
      other += own == tokens ? 0 : 1;
      ASSERT_TRUE(accepts(decoder, own)) << format << ": " << text;
      for (int j = 0; j < 3; ++j) {
        const std::vector<TokenId> wrong = corrupt(random, tokens);
        const std::optional<std::vector<ActionId>> read = plan_of(spelling, wrong);
        ASSERT_EQ(accepts(decoder, wrong), read.has_value() && read->size() <= 24) << text_of(*vocabulary_, wrong);
        rejected += read ? 0 : 1;
        if (!read) continue;
        ASSERT_TRUE(std::ranges::equal(decoder.actions(), *read));
      }
    }
  }
  EXPECT_GT(other, 1500U);
  EXPECT_GT(rejected, 4000U);
}

// Through tasks with a goal, at random: what is offered is accepted, what is not offered is not, and every way through
// ends in a valid plan.
TEST_P(AnyTokensReal, EveryWayThroughIsAValidPlan) {
  const std::filesystem::path folder = testing::source_dir() / "domains" / "tabletop";
  std::size_t tokens_seen = 0;
  for (const std::string problem : {"dishwasher", "boxed_tools"}) {
    const Task task = load_pddl((folder / "domain.pddl").string(), (folder / (problem + ".pddl")).string());
    for (const std::string format : {"pddl", "json", "sentences"}) {
      const auto constraint = compile(task, format, 12);
      Random random(5);
      for (int i = 0; i < 6; ++i) {
        Decoder decoder(constraint, {i % 2 == 0 ? Guidance::kMask : Guidance::kUniform, Bridge::kUniform, 0, false});
        while (!decoder.finished()) {
          const std::vector<NextToken> choices(decoder.next().begin(), decoder.next().end());
          ASSERT_FALSE(choices.empty());
          for (const NextToken& choice : choices) {
            ASSERT_TRUE(std::isfinite(choice.log_weight));
            ASSERT_TRUE(decoder.accept(choice.token));
            decoder.rollback(1);
          }
          for (int j = 0; j < 20; ++j) {
            const TokenId token{static_cast<std::int32_t>(random.below(vocabulary_->size()))};
            if (std::ranges::find(choices, token, &NextToken::token) != choices.end()) continue;
            ASSERT_FALSE(decoder.accept(token));
          }
          ASSERT_TRUE(decoder.accept(choices[random.below(choices.size())].token));
          ++tokens_seen;
        }
        const std::string text = text_of(*vocabulary_, decoder.tokens());
        const PlanSpelling::Parsed parsed = constraint->spelling().parse(text);
        ASSERT_TRUE(parsed.complete) << text;
        ASSERT_TRUE(std::ranges::equal(parsed.actions, decoder.actions()));
        std::vector<PlanStep> steps;
        for (ActionId action : decoder.actions()) steps.push_back(task.step(action));
        ASSERT_TRUE(task.validate(steps).valid) << text;
      }
    }
  }
  EXPECT_GT(tokens_seen, 2000U);
}

// The automaton over bytes, saved and loaded, is the same one; and is not taken for a canonical one.
TEST_P(AnyTokensReal, SavesAndLoads) {
  const std::string file = (std::filesystem::path(::testing::TempDir()) / ("any_" + GetParam() + ".bin")).string();
  const Task task = testing::household_task(testing::household_objects(6));
  const PlanSpelling spelling(PlanFormat::builtin("sentences"), task);
  AutomatonOptions options{.context = "", .max_actions = 12, .tokenization = Tokenization::kAny};
  const auto saved = TokenAutomaton::compile(spelling, *vocabulary_, options);
  saved->save(file);
  const auto loaded = TokenAutomaton::load(file, spelling, *vocabulary_, options);
  EXPECT_EQ(loaded->tokenization(), Tokenization::kAny);
  ASSERT_EQ(loaded->num_entries(), saved->num_entries());
  EXPECT_EQ(loaded->num_states(), saved->num_states());
  for (std::uint32_t rank = 0; rank < saved->num_entries(); ++rank) {
    ASSERT_TRUE(std::ranges::equal(loaded->tokens(rank), saved->tokens(rank)));
    ASSERT_EQ(loaded->entry(rank).action, saved->entry(rank).action);
  }
  options.tokenization = Tokenization::kCanonical;
  EXPECT_THROW(TokenAutomaton::load(file, spelling, *vocabulary_, options), InputError);
  std::filesystem::remove(file);
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, AnyTokensReal,
                         ::testing::Values("llama-bpe", "qwen2", "gpt-2", "llama-spm", "phi-3"), [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace metactrl::any_tokens_property_test
