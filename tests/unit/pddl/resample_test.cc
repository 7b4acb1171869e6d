#include "pddl/resample.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "metactrl/domain.h"
#include "metactrl/task.h"

namespace metactrl::pddl::resample_test {
namespace {

constexpr const char* kDomain = R"((define (domain table)
  (:requirements :typing) (:types thing place)
  (:predicates (cup ?t - thing) (on ?t - thing ?p - place) (near ?a ?b - place))
  (:action move :parameters (?t - thing ?a ?b - place) :precondition (and (on ?t ?a) (near ?a ?b))
    :effect (and (on ?t ?b) (not (on ?t ?a))))))";
constexpr const char* kProblem = R"((define (problem p) (:domain table) ; a comment with (brackets
  (:objects A b c - thing left right - place)
  (:init (cup a) (cup b) (on a left) (on b right) (on c left) (near left right) (near right left))
  (:goal (and (on a right) (on c right) (on b left)))))";

TEST(ResampleTest, DrawsOtherProblemsOfTheSameKind) {
  const ProblemResampler resampler(kProblem);
  const std::string own = ProblemResampler::canonical(kProblem);
  std::set<std::string> drawn;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::optional<std::string> text = resampler.sample(seed);
    EXPECT_EQ(text, resampler.sample(seed));
    if (!text) continue;
    const std::string canonical = ProblemResampler::canonical(*text);
    EXPECT_NE(canonical, own);
    drawn.insert(canonical);
    const Task task = load_pddl_text(kDomain, *text);
    EXPECT_EQ(task.num_objects(), 5U);
    EXPECT_GE(task.num_goals(), 1U);
    // c is no cup: it never trades places with a cup.
    EXPECT_NE(canonical.find(":init (on c "), std::string::npos);
    EXPECT_NE(canonical.find(":init (cup a)"), std::string::npos);
    EXPECT_EQ(canonical.find(":init (cup c)"), std::string::npos);
  }
  EXPECT_GT(drawn.size(), 20U);
}

TEST(ResampleTest, OrderDoesNotMakeAnotherProblem) {
  EXPECT_EQ(ProblemResampler::canonical("(define (problem a) (:init (p x) (q y)) (:goal (and (p y) (q x))))"),
            ProblemResampler::canonical("(define (problem b) (:init (Q y) (p x)) (:goal (and (q x) (p y))))"));
  EXPECT_NE(ProblemResampler::canonical("(define (problem a) (:init (p x)) (:goal (p y)))"),
            ProblemResampler::canonical("(define (problem a) (:init (p y)) (:goal (p y)))"));
}

TEST(ResampleTest, WhatHasNoOthersGivesNone) {
  const ProblemResampler resampler("(define (problem a) (:objects x - s y - t) (:init (p x y)) (:goal (q x)))");
  for (std::uint64_t seed = 0; seed < 20; ++seed) EXPECT_EQ(resampler.sample(seed), std::nullopt);
}

}  // namespace
}  // namespace metactrl::pddl::resample_test
