// Models that were trained, through metactrl/c.h: the same weights as in C++, and what is wrong is said.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "metactrl/c.h"
#include "metactrl/constraint.h"
#include "metactrl/decoder.h"
#include "metactrl/domain.h"
#include "metactrl/hmm.h"
#include "support/str_cat.h"
#include "support/test_data.h"

namespace metactrl::c_trained_test {
namespace {

using internal::str_cat;

constexpr const char* kContext = "Plan:\n";

template <typename T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

// Bytes, the words of the task, and the end of the turn.
struct Words {
  std::vector<std::string> tokens;
  std::int32_t end = 0;
};

Words words() {
  Words out;
  for (int byte = 1; byte < 128; ++byte) out.tokens.emplace_back(1, static_cast<char>(byte));
  for (const char* word : {"(open", "(grab", "(put", " dish", "washer", " blue", "_mug", ")\n", " white", "_cup"}) {
    out.tokens.emplace_back(word);
  }
  out.end = static_cast<std::int32_t>(out.tokens.size());
  out.tokens.emplace_back("");
  return out;
}

class Trained : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(file()); }

  Trained()
      : words_(words()),
        domain_((testing::source_dir() / "domains/tabletop/domain.pddl").string()),
        problem_((testing::source_dir() / "domains/tabletop/dishwasher.pddl").string()),
        task_(load_pddl(domain_, problem_)),
        table_(std::make_shared<TableVocabulary>(words_.tokens, std::vector<TokenId>{TokenId{words_.end}})) {
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < task_.num_action_names(); ++i) names.push_back(task_.action_name(ActionNameId{i}));
    plans_ = Hmm::random(Alphabet::meta(names, 6), 5, 11);
    tokens_ = Hmm::random(Alphabet::tokens(words_.tokens.size(), static_cast<std::uint32_t>(words_.end)), 4, 12);
  }
  static std::string file() {
    return (std::filesystem::temp_directory_path() / str_cat("c_trained_", ::getpid(), ".hmm")).string();
  }

  static Owned<metactrl_hmm> load(const Hmm& hmm) {
    hmm.save(file());
    metactrl_hmm* made = nullptr;
    EXPECT_EQ(metactrl_hmm_load(file().c_str(), &made, nullptr), METACTRL_OK);
    return {made, metactrl_hmm_free};
  }

  Owned<metactrl_vocabulary> vocabulary() const {
    std::string bytes;
    std::vector<std::uint64_t> offsets{0};
    for (const std::string& token : words_.tokens) {
      bytes += token;
      offsets.push_back(bytes.size());
    }
    metactrl_vocabulary_options options;
    metactrl_vocabulary_options_default(&options);
    options.num_tokens = words_.tokens.size();
    options.bytes = bytes.data();
    options.offsets = offsets.data();
    options.end_of_turn = &words_.end;
    options.num_end_of_turn = 1;
    metactrl_vocabulary* made = nullptr;
    EXPECT_EQ(metactrl_vocabulary_new(&options, &made, nullptr), METACTRL_OK);
    return {made, metactrl_vocabulary_free};
  }

  // The status of what went wrong, and null.
  Owned<metactrl_constraint> compile(const metactrl_hmm* hmm, metactrl_status& status, std::string& message) const {
    const Owned<metactrl_vocabulary> vocabulary = this->vocabulary();
    metactrl_task* task = nullptr;
    EXPECT_EQ(metactrl_task_load(domain_.c_str(), problem_.c_str(), nullptr, nullptr, &task, nullptr), METACTRL_OK);
    const Owned<metactrl_task> owned_task(task, metactrl_task_free);
    metactrl_format* format = nullptr;
    EXPECT_EQ(metactrl_format_builtin("pddl", &format, nullptr), METACTRL_OK);
    const Owned<metactrl_format> owned_format(format, metactrl_format_free);
    metactrl_constraint_options options;
    metactrl_constraint_options_default(&options);
    options.context = kContext;
    options.context_size = std::strlen(kContext);
    options.horizon = 12;
    options.hmm = hmm;
    metactrl_constraint* made = nullptr;
    metactrl_error* error = nullptr;
    status = metactrl_constraint_compile(task, format, vocabulary.get(), &options, nullptr, &made, &error);
    message = metactrl_error_message(error);
    metactrl_error_free(error);
    return {made, metactrl_constraint_free};
  }

  Owned<metactrl_constraint> compile(const metactrl_hmm* hmm) const {
    metactrl_status status = METACTRL_OK;
    std::string message;
    Owned<metactrl_constraint> made = compile(hmm, status, message);
    EXPECT_EQ(status, METACTRL_OK) << message;
    return made;
  }

  static metactrl_status make(const metactrl_constraint* constraint, int guidance, int bridge,
                              const metactrl_hmm* token_hmm, Owned<metactrl_decoder>& out, std::string& message) {
    metactrl_decoder_options options;
    metactrl_decoder_options_default(&options);
    options.guidance = guidance;
    options.bridge = bridge;
    options.token_hmm = token_hmm;
    metactrl_decoder* made = nullptr;
    metactrl_error* error = nullptr;
    const metactrl_status status = metactrl_decoder_new(constraint, &options, nullptr, &made, &error);
    message = metactrl_error_message(error);
    metactrl_error_free(error);
    out.reset(made);
    return status;
  }

  // A plan, by the first of the likeliest tokens of this side; whether both sides list the same weights all the way.
  void expect_equal_walks(metactrl_decoder* theirs, Decoder& ours) const {
    std::size_t steps = 0;
    for (; !ours.finished(); ++steps) {
      const std::span<const NextToken> expected = ours.next();
      ASSERT_FALSE(expected.empty());
      std::vector<std::int32_t> ids(words_.tokens.size());
      std::vector<float> weights(ids.size());
      std::size_t count = 0;
      ASSERT_EQ(metactrl_decoder_next(theirs, ids.data(), weights.data(), ids.size(), &count, nullptr), METACTRL_OK);
      ASSERT_EQ(count, expected.size());
      std::size_t best = 0;
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(ids[i], static_cast<std::int32_t>(expected[i].token));
        ASSERT_EQ(weights[i], static_cast<float>(expected[i].log_weight));
        if (weights[i] > weights[best]) best = i;
      }
      std::size_t taken = 0;
      ASSERT_EQ(metactrl_decoder_accept(theirs, &ids[best], 1, &taken, nullptr), METACTRL_OK);
      ASSERT_EQ(taken, 1U);
      ASSERT_TRUE(ours.accept(TokenId{ids[best]}));
    }
    EXPECT_GT(steps, 5U);
    EXPECT_NE(metactrl_decoder_status(theirs) & METACTRL_FINISHED, 0);
  }

  std::shared_ptr<const Constraint> own_constraint(const std::optional<Hmm>& hmm) const {
    ConstraintOptions options;
    options.context = kContext;
    options.lookahead.horizon = 12;
    options.max_actions = 12;
    options.lookahead.hmm = hmm;
    return Constraint::compile(task_, PlanFormat::builtin("pddl"), table_, options);
  }

  Words words_;
  std::string domain_;
  std::string problem_;
  Task task_;
  std::shared_ptr<const Vocabulary> table_;
  std::optional<Hmm> plans_;
  std::optional<Hmm> tokens_;
};

TEST_F(Trained, WeightsAreThoseOfCpp) {
  const Owned<metactrl_hmm> hmm = load(*plans_);
  const Owned<metactrl_constraint> constraint = compile(hmm.get());
  ASSERT_NE(constraint, nullptr);
  Owned<metactrl_decoder> theirs(nullptr, metactrl_decoder_free);
  std::string message;
  ASSERT_EQ(make(constraint.get(), METACTRL_GUIDANCE_TRAINED, METACTRL_BRIDGE_UNIFORM, nullptr, theirs, message),
            METACTRL_OK)
      << message;
  DecoderOptions options;
  options.guidance = Guidance::kTrained;
  Decoder ours(own_constraint(plans_), options);
  expect_equal_walks(theirs.get(), ours);
  // And not those of the uniform surrogate.
  options.guidance = Guidance::kUniform;
  Decoder uniform(own_constraint(std::nullopt), options);
  Decoder trained(own_constraint(plans_), {.guidance = Guidance::kTrained});
  bool differ = false;
  while (!uniform.finished() && !differ) {
    const std::span<const NextToken> a = uniform.next();
    const std::span<const NextToken> b = trained.next();
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) differ = differ || a[i].log_weight != b[i].log_weight;
    const TokenId token = a.front().token;
    ASSERT_TRUE(uniform.accept(token));
    ASSERT_TRUE(trained.accept(token));
  }
  EXPECT_TRUE(differ);
}

TEST_F(Trained, ModelsOfTokensWeighWithinActions) {
  const Owned<metactrl_hmm> hmm = load(*plans_);
  const Owned<metactrl_hmm> token_hmm = load(*tokens_);
  const Owned<metactrl_constraint> constraint = compile(hmm.get());
  Owned<metactrl_decoder> theirs(nullptr, metactrl_decoder_free);
  std::string message;
  ASSERT_EQ(make(constraint.get(), METACTRL_GUIDANCE_TRAINED, METACTRL_BRIDGE_HMM, token_hmm.get(), theirs, message),
            METACTRL_OK)
      << message;
  DecoderOptions options;
  options.guidance = Guidance::kTrained;
  options.bridge = Bridge::kHmm;
  options.token_hmm = tokens_;
  Decoder ours(own_constraint(plans_), options);
  expect_equal_walks(theirs.get(), ours);
}

TEST_F(Trained, SaysWhatItIs) {
  const Owned<metactrl_hmm> hmm = load(*plans_);
  metactrl_text* text = nullptr;
  ASSERT_EQ(metactrl_hmm_info(hmm.get(), &text, nullptr), METACTRL_OK);
  const std::string info(metactrl_text_data(text), metactrl_text_size(text));
  metactrl_text_free(text);
  EXPECT_TRUE(info.starts_with("{\"level\":\"meta\",\"hidden\":5,")) << info;
  EXPECT_NE(info.find("\"putin\""), std::string::npos) << info;
  const Owned<metactrl_hmm> token_hmm = load(*tokens_);
  ASSERT_EQ(metactrl_hmm_info(token_hmm.get(), &text, nullptr), METACTRL_OK);
  const std::string tokens(metactrl_text_data(text), metactrl_text_size(text));
  metactrl_text_free(text);
  EXPECT_TRUE(tokens.starts_with("{\"level\":\"token\",\"hidden\":4,")) << tokens;
}

TEST_F(Trained, WhatIsWrongIsSaid) {
  metactrl_hmm* made = nullptr;
  metactrl_error* error = nullptr;
  EXPECT_EQ(metactrl_hmm_load("/no/such/file.hmm", &made, &error), METACTRL_ERROR_INPUT);
  EXPECT_NE(std::string(metactrl_error_message(error)), "");
  metactrl_error_free(error);
  std::ofstream(file()) << "mctrlhmm, but nothing else";
  EXPECT_EQ(metactrl_hmm_load(file().c_str(), &made, nullptr), METACTRL_ERROR_INPUT);
  EXPECT_EQ(metactrl_hmm_load(nullptr, &made, nullptr), METACTRL_ERROR_ARGUMENT);
  EXPECT_EQ(made, nullptr);

  // One level in the place of the other, and a handle that is none.
  const Owned<metactrl_hmm> hmm = load(*plans_);
  const Owned<metactrl_hmm> token_hmm = load(*tokens_);
  metactrl_status status = METACTRL_OK;
  std::string message;
  EXPECT_EQ(compile(token_hmm.get(), status, message), nullptr);
  EXPECT_EQ(status, METACTRL_ERROR_INPUT);
  EXPECT_NE(message.find("model of tokens"), std::string::npos) << message;
  const Owned<metactrl_vocabulary> other = vocabulary();
  EXPECT_EQ(compile(reinterpret_cast<const metactrl_hmm*>(other.get()), status, message), nullptr);
  EXPECT_EQ(status, METACTRL_ERROR_ARGUMENT);
  // A model that knows none of the task's actions.
  const Owned<metactrl_hmm> foreign = load(Hmm::random(Alphabet::meta({"fly", "swim"}, 2), 2, 3));
  EXPECT_EQ(compile(foreign.get(), status, message), nullptr);
  EXPECT_EQ(status, METACTRL_ERROR_INPUT);

  const Owned<metactrl_constraint> plain = compile(nullptr);
  const Owned<metactrl_constraint> trained = compile(hmm.get());
  Owned<metactrl_decoder> decoder(nullptr, metactrl_decoder_free);
  const auto refused = [&](const Owned<metactrl_constraint>& constraint, int guidance, int bridge,
                           const metactrl_hmm* model) {
    const metactrl_status told = make(constraint.get(), guidance, bridge, model, decoder, message);
    EXPECT_EQ(decoder, nullptr);
    EXPECT_NE(message, "");
    return told;
  };
  EXPECT_EQ(refused(plain, METACTRL_GUIDANCE_TRAINED, METACTRL_BRIDGE_UNIFORM, nullptr), METACTRL_ERROR_INPUT);
  EXPECT_EQ(refused(trained, METACTRL_GUIDANCE_UNIFORM, METACTRL_BRIDGE_UNIFORM, nullptr), METACTRL_ERROR_INPUT);
  EXPECT_EQ(refused(plain, METACTRL_GUIDANCE_UNIFORM, METACTRL_BRIDGE_HMM, nullptr), METACTRL_ERROR_INPUT);
  EXPECT_EQ(refused(plain, METACTRL_GUIDANCE_UNIFORM, METACTRL_BRIDGE_HMM, hmm.get()), METACTRL_ERROR_INPUT);
  EXPECT_EQ(refused(plain, METACTRL_GUIDANCE_UNIFORM, METACTRL_BRIDGE_UNIFORM, token_hmm.get()), METACTRL_ERROR_INPUT);
  EXPECT_EQ(refused(plain, 5, METACTRL_BRIDGE_UNIFORM, nullptr), METACTRL_ERROR_ARGUMENT);
  EXPECT_EQ(refused(plain, METACTRL_GUIDANCE_UNIFORM, 3, nullptr), METACTRL_ERROR_ARGUMENT);
  // Mask and syntax go with either.
  EXPECT_EQ(make(trained.get(), METACTRL_GUIDANCE_MASK, METACTRL_BRIDGE_UNIFORM, nullptr, decoder, message),
            METACTRL_OK)
      << message;
}

TEST_F(Trained, ProgramsOfTheFirstVersionAreServed) {
  // Their options end before the model.
  metactrl_decoder_options options;
  metactrl_decoder_options_default(&options);
  options.struct_size = offsetof(metactrl_decoder_options, token_hmm);
  options.token_hmm = reinterpret_cast<const metactrl_hmm*>(&options);  // what lies behind them
  const Owned<metactrl_constraint> plain = compile(nullptr);
  metactrl_decoder* made = nullptr;
  EXPECT_EQ(metactrl_decoder_new(plain.get(), &options, nullptr, &made, nullptr), METACTRL_OK);
  metactrl_decoder_free(made);
}

}  // namespace
}  // namespace metactrl::c_trained_test
