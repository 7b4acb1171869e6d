#include "serve/constraint_key.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "metactrl/domain.h"
#include "support/service_fixture.h"

namespace metactrl::serve::constraint_key_test {
namespace {

using testing::kDomain;
using testing::problem;

class ConstraintKey : public ::testing::Test {
 protected:
  std::string key() const { return constraint_key(name_, task_, format_, *vocabulary_, options_); }

  std::string name_ = "lamps";
  Task task_ = load_pddl_text(kDomain, problem("(and (lit a) (lit b))"));
  PlanFormat format_ = PlanFormat::builtin("pddl");
  std::shared_ptr<const Vocabulary> vocabulary_ = testing::words();
  ConstraintOptions options_;
};

TEST_F(ConstraintKey, EveryFieldChangesIt) {
  const Hmm hmm = Hmm::random(Alphabet::tokens(4, 0), 2, 1);
  const Hmm other = Hmm::random(Alphabet::tokens(4, 0), 2, 1);
  LookaheadOptions& lookahead = options_.lookahead;
  // Each keeps what those before it did, so every key must be a new one.
  const std::vector<std::function<void()>> changes = {
      [&] { ++lookahead.horizon; },
      [&] { lookahead.fixed_horizon = !lookahead.fixed_horizon; },
      [&] { lookahead.slack = 0; },
      [&] { lookahead.slack = 3; },
      [&] { lookahead.fitted_horizon = true; },
      [&] { lookahead.costs = true; },
      [&] { ++lookahead.improve; },
      [&] { ++lookahead.exact.states; },
      [&] { ++lookahead.exact.bytes; },
      [&] { ++lookahead.exact.work; },
      [&] { ++lookahead.search.states; },
      [&] { ++lookahead.search.bytes; },
      [&] { ++lookahead.search.work; },
      [&] { ++lookahead.weight_bytes; },
      [&] { lookahead.weights = !lookahead.weights; },
      [&] { lookahead.hmm = hmm; },
      [&] { lookahead.hmm = other; },
      [&] {
        lookahead.device = {std::shared_ptr<void>(), reinterpret_cast<const LookaheadDevice*>(this)};
      },
      [&] { options_.context += "x"; },
      [&] { options_.tokenization = Tokenization::kAny; },
      [&] { ++options_.max_actions; },
      [&] { format_.name += "x"; },
      [&] { format_.open += "x"; },
      [&] { format_.close += "x"; },
      [&] { format_.separators.emplace_back("x"); },
      [&] { format_.empty += "x"; },
      [&] { format_.prefix += "x"; },
      [&] { format_.items["x"] = "x"; },
      [&] { format_.argument += "x"; },
      [&] { format_.argument_separator += "x"; },
      [&] { format_.id_separator += "x"; },
      [&] { format_.action_case = PlanFormat::Case::kUpper; },
      [&] { format_.hyphen += "x"; },
      [&] { format_.escape = PlanFormat::Escape::kJson; },
      [&] { format_.action_names["x"] = "x"; },
      [&] { format_.object_names["x"] = "x"; },
      [&] { name_ += "x"; },
      [&] { task_ = task_.without_goals(std::vector<GoalId>{GoalId{1}}); },
      [&] {
        vocabulary_ =
            std::make_shared<TableVocabulary>(std::vector<std::string>{"", "x"}, std::vector<TokenId>{TokenId{0}});
      },
  };
  std::set<std::string> keys = {key()};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    changes[i]();
    EXPECT_TRUE(keys.insert(key()).second) << "change number " << i;
    EXPECT_TRUE(keys.contains(key()));  // and it is the same when asked again
  }
}

TEST_F(ConstraintKey, TextsDoNotRunIntoEachOther) {
  format_.open = "ab";
  format_.close = "c";
  const std::string one = key();
  format_.open = "a";
  format_.close = "bc";
  EXPECT_NE(key(), one);
}

TEST_F(ConstraintKey, OnlyTheEndOfTheContextCounts) {
  options_.context = std::string(600, 'x');
  const std::string one = key();
  options_.context = "before " + options_.context;
  EXPECT_EQ(key(), one);
  options_.context += "behind";
  EXPECT_NE(key(), one);
}

TEST_F(ConstraintKey, CopiesOfAModelAreOne) {
  const Hmm hmm = Hmm::random(Alphabet::tokens(4, 0), 2, 1);
  options_.lookahead.hmm = hmm;
  const std::string one = key();
  const Hmm copy = hmm;
  options_.lookahead.hmm = copy;
  EXPECT_EQ(key(), one);
}

}  // namespace
}  // namespace metactrl::serve::constraint_key_test
