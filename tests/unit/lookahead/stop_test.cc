// Budgets count work and a stop ends an answer: neither lets a clock, a thread or the order of questions change one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "lookahead/drop_goals.h"
#include "metactrl/constraint.h"
#include "metactrl/decoder.h"
#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "metactrl/lookahead.h"
#include "metactrl/vocabulary.h"
#include "support/counter_task.h"
#include "support/meter.h"
#include "text/token_automaton.h"

namespace metactrl::stop_test {
namespace {

Task counter(unsigned bits, bool impossible = false) {
  const testing::PddlTexts texts = testing::counter_task(bits, impossible);
  return load_pddl_text(texts.domain, texts.problem);
}

// Things that are to be brought to places; far too many orders to enumerate.
testing::PddlTexts errands_texts(unsigned things) {
  std::string objects = " start - place";
  std::string facts = "(at start)";
  std::string goal;
  for (unsigned i = 0; i < things; ++i) {
    const std::string n = std::to_string(i);
    objects += " t" + n + " - thing p" + n + " - place";
    facts += " (in t" + n + " p" + n + ")";
    goal += " (in t" + n + " p" + std::to_string((i + 1) % things) + ")";
  }
  return {R"((define (domain errands) (:requirements :adl :typing) (:types thing place)
    (:predicates (at ?p - place) (in ?t - thing ?p - place) (held ?t - thing) (busy))
    (:action grab :parameters (?t - thing ?p - place) :precondition (and (at ?p) (in ?t ?p) (not (busy)))
      :effect (and (held ?t) (busy) (not (in ?t ?p))))
    (:action put :parameters (?t - thing ?p - place) :precondition (and (at ?p) (held ?t))
      :effect (and (in ?t ?p) (not (held ?t)) (not (busy))))
    (:action walk :parameters (?from ?to - place) :precondition (at ?from) :effect (and (not (at ?from)) (at ?to)))))",
          "(define (problem errands-1) (:domain errands) (:objects" + objects + ") (:init " + facts + ") (:goal (and" +
              goal + ")))"};
}

Task errands(unsigned things) {
  const testing::PddlTexts texts = errands_texts(things);
  return load_pddl_text(texts.domain, texts.problem);
}

std::string text_of(const Lookahead& lookahead) {
  std::string text = std::string(to_string(lookahead.verdict())) + " " + lookahead.reason() + " " +
                     std::to_string(lookahead.horizon()) + " " + to_string(lookahead.tier());
  for (const ActionId action : lookahead.plan()) text += " " + lookahead.task().text(action);
  return text;
}

std::string text_of(const std::vector<Candidate>& candidates) {
  std::string text;
  for (const Candidate& candidate : candidates) {
    text += std::to_string(static_cast<std::uint32_t>(candidate.action)) + ":" +
            std::to_string(static_cast<int>(candidate.answer)) + ":" + std::to_string(candidate.remaining) + ":" +
            std::to_string(candidate.log_weight) + " ";
  }
  return text;
}

LookaheadOptions search_only() {
  LookaheadOptions options;
  options.exact.states = 10;
  return options;
}

// --- stops -----------------------------------------------------------------------------------------------------------

// Calls work(stop) with stops that come ever later, until one comes too late. Whatever was not stopped is the same.
template <typename Work>
void expect_all_or_nothing(const Work& work) {
  const std::string whole = work(Stop{});
  std::size_t stopped = 0;
  for (std::size_t patience = 0;; patience = patience * 2 + 1) {
    std::size_t asked = 0;
    bool ended = false;
    try {
      EXPECT_EQ(work([&] { return ++asked > patience; }), whole) << patience;
      ended = true;
    } catch (const Stopped&) {
      ++stopped;
    }
    EXPECT_EQ(ended, asked <= patience);
    if (ended) break;
  }
  EXPECT_GT(stopped, 0U);
}

TEST(Stop, EndsACompilationAndNeverChangesOne) {
  const Task solvable = counter(14);
  const Task impossible = counter(12, true);
  for (const Task* task : {&solvable, &impossible}) {
    for (const LookaheadOptions& options : {LookaheadOptions{}, search_only()}) {
      expect_all_or_nothing([&](const Stop& stop) { return text_of(*Lookahead::compile(*task, options, stop)); });
    }
  }
}

// --- one meter -------------------------------------------------------------------------------------------------------

TEST(Meter, AsksAtTheFirstStepAndThenWithinEveryInterval) {
  using internal::Meter;
  std::size_t asked = 0;
  Meter meter([&] {
    ++asked;
    return false;
  });
  meter.step(1);
  EXPECT_EQ(asked, 1U);
  constexpr std::uint64_t kPieces = 10 * Meter::kInterval / Meter::kStepsPerPiece;
  for (std::uint64_t i = 0; i < kPieces; ++i) meter.piece();
  EXPECT_GE(asked, 10U);
  EXPECT_LE(asked, 12U);
  meter.ask();
  EXPECT_LE(asked, 13U);
  Meter().step(std::uint64_t{1} << 60);  // ends nothing
}

TEST(Meter, LimitsWorkAndMemory) {
  internal::Meter meter({}, {.work = 10, .bytes = 100});
  for (int i = 0; i < 10; ++i) meter.piece();
  meter.hold(100);
  for (const auto& beyond :
       {std::function<void()>([&] { meter.piece(); }), std::function<void()>([&] { meter.hold(101); })}) {
    try {
      beyond();
      ADD_FAILURE();
    } catch (const Stopped& stopped) {
      EXPECT_EQ(stopped.reason(), Stopped::kLimit);
    }
  }
}

// --- what is not the lookahead ---------------------------------------------------------------------------------------

TEST(Stop, EndsTheLoadingOfATask) {
  const testing::PddlTexts texts = errands_texts(40);
  const auto load = [&](const LoadOptions& options) { return load_pddl_text(texts.domain, texts.problem, options); };
  std::size_t asked = 0;
  const std::size_t actions = load({.stop = [&] {
                                ++asked;
                                return false;
                              }}).num_actions();
  expect_all_or_nothing([&](const Stop& stop) { return std::to_string(load({.stop = stop}).num_actions()); });
  // How much work it is, up to a factor of two; and that it was asked often enough on the way.
  std::uint64_t work = 1;
  for (bool enough = false; !enough;) {
    try {
      EXPECT_EQ(load({.max_work = work}).num_actions(), actions);
      enough = true;
    } catch (const Stopped& stopped) {
      EXPECT_EQ(stopped.reason(), Stopped::kLimit);
      work *= 2;
    }
  }
  EXPECT_GE(asked * internal::Meter::kInterval, work / 2 * internal::Meter::kStepsPerPiece);
  EXPECT_GE(asked, 4U);
}

std::shared_ptr<const Vocabulary> bytes_and_end() {
  std::vector<std::string> tokens = {""};
  for (int byte = 1; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  return std::make_shared<TableVocabulary>(tokens, std::vector<TokenId>{TokenId{0}});
}

TEST(Stop, EndsTheCompilationOfAnAutomaton) {
  const Task task = errands(24);
  const PlanSpelling spelling(PlanFormat::builtin("pddl"), task);
  const std::shared_ptr<const Vocabulary> vocabulary = bytes_and_end();
  for (const Tokenization tokenization : {Tokenization::kCanonical, Tokenization::kAny}) {
    AutomatonOptions options;
    options.tokenization = tokenization;
    expect_all_or_nothing([&](const Stop& stop) {
      return std::to_string(TokenAutomaton::compile(spelling, *vocabulary, options, stop)->num_states());
    });
  }
}

TEST(Stop, EndsTheCompilationOfAConstraint) {
  const Task task = errands(6);
  const std::shared_ptr<const Vocabulary> vocabulary = bytes_and_end();
  expect_all_or_nothing([&](const Stop& stop) {
    const auto constraint =
        Constraint::compile(task, PlanFormat::builtin("pddl"), vocabulary, {search_only(), {}}, stop);
    return text_of(*constraint->lookahead()) + std::to_string(constraint->automaton().num_states());
  });
}

TEST(Stop, EndsTheCheckOfAPlan) {
  const Task task = errands(4);
  const auto lookahead = Lookahead::compile(task, search_only());
  expect_all_or_nothing([&](const Stop& stop) {
    const Validation validation = task.validate(lookahead->plan(), stop);
    EXPECT_TRUE(validation.valid) << validation.reason;
    return std::to_string(validation.cost);
  });
}

// Decoding where every action may need a search.
TEST(Stop, ADecoderThatWasStoppedIsAsItWas) {
  const Task task = errands(4);
  const auto constraint = Constraint::compile(task, PlanFormat::builtin("pddl"), bytes_and_end(), {search_only(), {}});
  std::size_t stopped = 0;
  bool more = true;
  for (std::size_t at = 1; more; at = 2 * at - at / 2) {
    std::size_t asked = 0;
    more = false;
    // The first time it may be before there is a decoder.
    const auto make = [&] {
      const Stop once = [&] { return ++asked == at; };
      try {
        return Decoder(constraint, {}, once);
      } catch (const Stopped&) {
        more = true;
        return Decoder(constraint, {}, once);
      }
    };
    Decoder decoder = make();
    while (!decoder.finished()) {
      const std::vector<TokenId> before(decoder.tokens().begin(), decoder.tokens().end());
      const std::size_t actions = decoder.actions().size();
      try {
        const std::span<const NextToken> choices = decoder.next();
        ASSERT_FALSE(choices.empty());
        const TokenId last = choices.back().token;
        ASSERT_TRUE(decoder.accept(last));
        EXPECT_FALSE(decoder.accept(TokenId{-7}));
      } catch (const Stopped&) {
        more = true;
        EXPECT_TRUE(std::equal(before.begin(), before.end(), decoder.tokens().begin(), decoder.tokens().end()));
        EXPECT_EQ(decoder.actions().size(), actions);
      }
    }
    stopped += more ? 1 : 0;
    EXPECT_TRUE(task.validate(decoder.actions()).valid) << at;
  }
  EXPECT_GT(stopped, 0U);
}

TEST(Stop, DropsNoGoal) {
  const Task task = counter(10, true);
  expect_all_or_nothing([&](const Stop& stop) {
    const ReducedTask reduced = drop_unreachable_goals(task, search_only(), stop);
    std::string text = text_of(*reduced.lookahead);
    for (const GoalId goal : reduced.dropped) text += " without " + task.goal_text(goal);
    EXPECT_EQ(reduced.dropped.size(), 1U);
    return text;
  });
}

// --- budgets ---------------------------------------------------------------------------------------------------------

TEST(Budget, OfWorkEndsAtOnePlace) {
  const Task task = counter(12);
  LookaheadOptions options = search_only();
  std::uint64_t enough = 1;
  for (; options.search.work = enough, Lookahead::compile(task, options)->verdict() != Verdict::kSolvable;
       enough *= 2) {
    const auto undecided = Lookahead::compile(task, options);
    EXPECT_EQ(undecided->verdict(), Verdict::kUndecided);
    EXPECT_NE(undecided->reason().find("limit: work"), std::string::npos) << undecided->reason();
  }
  EXPECT_GT(enough, 1'000U);
  // To the step.
  std::uint64_t short_of = enough / 2;
  while (enough - short_of > 1) {
    options.search.work = (enough + short_of) / 2;
    (Lookahead::compile(task, options)->verdict() == Verdict::kSolvable ? enough : short_of) = options.search.work;
  }
  for (int again = 0; again < 3; ++again) {
    options.search.work = enough;
    EXPECT_EQ(Lookahead::compile(task, options)->verdict(), Verdict::kSolvable);
    options.search.work = enough - 1;
    EXPECT_EQ(Lookahead::compile(task, options)->verdict(), Verdict::kUndecided);
  }
}

TEST(Budget, OfWorkEndsAnEnumeration) {
  LookaheadOptions options;
  options.exact.work = 10'000;
  const auto lookahead = Lookahead::compile(counter(12), options);
  EXPECT_EQ(lookahead->tier(), Lookahead::Tier::kWitness);
  EXPECT_NE(lookahead->reason().find("limit: work"), std::string::npos) << lookahead->reason();
}

// `search` enumerates less before it searches than `plan` does. What the first finds the second finds.
TEST(Budget, MoreEnumerationLosesNoPlan) {
  for (unsigned bits = 4; bits <= 9; ++bits) {
    const Task task = counter(bits);
    std::size_t decided = 0;
    for (std::size_t states = 1; states <= std::size_t{4} << bits; states += 1 + states / 16) {
      LookaheadOptions little;
      little.weights = false;
      little.search.states = states;
      little.exact.states = std::min<std::size_t>(states, 8);
      little.horizon = 1'000'000'000;
      LookaheadOptions much;
      much.search.states = states;
      much.exact.states = states;
      if (Lookahead::compile(task, little)->verdict() != Verdict::kSolvable) continue;
      ++decided;
      EXPECT_EQ(Lookahead::compile(task, much)->verdict(), Verdict::kSolvable) << bits << " bits, " << states;
    }
    EXPECT_GT(decided, 0U);
  }
}

// --- copies ----------------------------------------------------------------------------------------------------------

LookaheadOptions few_states() {
  LookaheadOptions options = search_only();
  options.exact.states = 100;
  options.horizon = 20;
  return options;
}

// Spent in the middle of the plan.
constexpr SupportOptions kLittleWork{.candidates = {1'000, std::size_t{2} << 30, 2'000'000}};

// All that is said along the plan that takes the `turn`th of the actions that are allowed.
std::string walk(Support support, const Lookahead& lookahead, std::size_t turn) {
  std::string text;
  State state = lookahead.task().initial_state();
  for (unsigned left = lookahead.horizon(); left > 0 && !lookahead.task().is_goal(state); --left) {
    const std::vector<Candidate> candidates = support.candidates(state, left);
    text += text_of(candidates) + "\n";
    std::vector<ActionId> allowed;
    for (const Candidate& candidate : candidates) {
      if (candidate.answer == Answer::kYes) allowed.push_back(candidate.action);
    }
    state = *lookahead.task().apply(state, allowed.at(turn % allowed.size()));
  }
  return text;
}

TEST(Copies, AnswerAsIfTheyWereAlone) {
  const auto lookahead = Lookahead::compile(errands(4), few_states());
  ASSERT_EQ(lookahead->verdict(), Verdict::kSolvable);
  ASSERT_EQ(lookahead->tier(), Lookahead::Tier::kWitness);
  constexpr std::size_t kCopies = 6;
  std::vector<std::string> alone;
  for (std::size_t i = 0; i < kCopies; ++i) alone.push_back(walk(Support(lookahead, kLittleWork), *lookahead, 3 * i));
  // The work is spent before the end: with more of it, more is known.
  constexpr SupportOptions kAmple{.candidates = {1'000, std::size_t{2} << 30, ~std::uint64_t{0}}};
  EXPECT_NE(walk(Support(lookahead, kAmple), *lookahead, 0), alone[0]);
  // One behind the other, from one that has heard nothing.
  const Support origin(lookahead, kLittleWork);
  for (std::size_t i = kCopies; i-- > 0;) EXPECT_EQ(walk(origin, *lookahead, 3 * i), alone[i]);
  // All at once.
  std::vector<std::string> together(kCopies);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kCopies; ++i) {
      threads.emplace_back([&, i] { together[i] = walk(origin, *lookahead, 3 * i); });
    }
  }
  EXPECT_EQ(together, alone);
}

TEST(Copies, GoOnFromWhatTheOriginalHasSpent) {
  const Task task = errands(4);
  const auto lookahead = Lookahead::compile(task, few_states());
  Support original(lookahead, kLittleWork);
  State state = task.initial_state();
  unsigned left = lookahead->horizon();
  for (int i = 0; i < 3; ++i) {
    const std::vector<Candidate> candidates = original.candidates(state, left--);
    const auto allowed = std::find_if(candidates.begin(), candidates.end(),
                                      [](const Candidate& candidate) { return candidate.answer == Answer::kYes; });
    ASSERT_NE(allowed, candidates.end());
    state = *task.apply(state, allowed->action);
  }
  Support copy(original);
  EXPECT_EQ(text_of(copy.candidates(state, left)), text_of(original.candidates(state, left)));
  EXPECT_EQ(copy.states_searched(), original.states_searched());
}

}  // namespace
}  // namespace metactrl::stop_test
