// Which words of an instruction a task has no name for, and whether any is about a goal.
#include "goals/task_words.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "goals/words.h"
#include "pddl/parse.h"

namespace metactrl::task_words_test {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kDomain = R"((define (domain hospital)
  (:requirements :strips :typing :negative-preconditions)
  (:types place thing door)
  (:predicates (at ?t - thing ?p - place) (locked ?d - door) (robot-at ?p - place) (handempty) (heavy ?t - thing))
  (:action move-to :parameters (?p ?q - place) :precondition (robot-at ?p) :effect (and (not (robot-at ?p)) (robot-at ?q)))
  (:action seal :parameters (?d - door) :precondition (not (locked ?d)) :effect (locked ?d))
  (:action drop :parameters (?t - thing ?p - place) :precondition (robot-at ?p) :effect (and (at ?t ?p) (handempty)))))";
constexpr const char* kProblem = R"((define (problem p) (:domain hospital)
  (:objects ward lab bay_1 bay_2 - place blood_sample dishwasher - thing lab_door - door)
  (:init (robot-at ward) (heavy dishwasher)) (:goal (and))))";

goals::TaskWords hospital() {
  Diagnostics diagnostics;
  return goals::TaskWords(pddl::parse({"domain", kDomain}, {"problem", kProblem}, diagnostics));
}

Words unknown(const std::string& instruction) { return hospital().hear(instruction, 5).unknown; }
Words missing(const std::string& instruction) { return hospital().hear(instruction, 5).missing; }

TEST(Words, AreCutAtBlanksMarksAndDigits) {
  EXPECT_EQ(goals::words_of("Door_7 is-open, now!"), (Words{"door", "7", "is", "open", "now"}));
  EXPECT_EQ(goals::words_of("“lamp”—été… 点亮灯。"), (Words{"lamp", "été", "点亮灯"}));
  EXPECT_EQ(goals::words_of(" .;\n"), Words());
  const std::vector<goals::Word> words = goals::words_in("a  B2");
  ASSERT_EQ(words.size(), 3U);
  EXPECT_EQ(words[1].text, "b");
  EXPECT_EQ(words[1].begin, 3U);
  EXPECT_TRUE(words[2].is_number());
  EXPECT_EQ(words[2].end, 5U);
}

TEST(Words, FormsOfOneWordAreTheSame) {
  goals::WordSet names;
  for (const char* name : {"door", "lock", "carry", "knife", "used", "stop", "lit", "put-on"}) names.add(name);
  for (const char* word : {"doors", "locked", "locking", "unlocked", "carries", "carried", "knives", "using",
                           "stopping", "light", "putting"}) {
    EXPECT_TRUE(names.has(word, {})) << word;
  }
  for (const char* word : {"indoors", "clock", "card", "violin"}) EXPECT_FALSE(names.has(word, {})) << word;
  EXPECT_EQ(goals::bases("thing"), std::vector<std::string>{"thing"});  // what is before -ing has no vowel
}

TEST(Words, SomeAreUsedForOneAnother) {
  goals::WordSet names;
  names.add("clean");
  EXPECT_TRUE(names.has("wash", {}));
  EXPECT_TRUE(names.has("dirty", {}));
  EXPECT_FALSE(names.has("lock", {}));
}

TEST(Words, PartsOfWordsThatAreWrittenTogetherAreWords) {
  goals::WordSet names;
  for (const char* name : {"handempty", "ontable", "rooma", "roomb", "blocksworld", "cutleryfork"}) names.add(name);
  for (const char* word : {"fork", "hand", "empty", "table", "room", "block", "blocks"})
    EXPECT_TRUE(names.has(word, {})) << word;
  for (const char* word : {"blocker", "ty", "roo"}) EXPECT_FALSE(names.has(word, {})) << word;
}

TEST(TaskWords, WhatNothingIsCalledIsTold) {
  EXPECT_EQ(unknown("bring the blood sample to the morgue"), (Words{"morgue"}));
  EXPECT_EQ(unknown("wash the dishwasher, then fly to the moon"), (Words{"wash", "moon"}));
  EXPECT_EQ(unknown("bring the blood smaple to the lab"), (Words{"smaple (did you mean 'sample'?)"}));
  EXPECT_EQ(unknown("Apporte l'échantillon au laboratoire"),
            (Words{"apporte", "l", "échantillon", "au", "laboratoire"}));
  EXPECT_EQ(unknown("violin violin VIOLIN"), (Words{"violin"}));
  EXPECT_EQ(unknown(std::string(100'000, 'x')), (Words{std::string(40, 'x') + "..."}));
}

TEST(TaskWords, WhatIsThereIsNot) {
  for (const char* instruction :
       {"Bring the blood-sample to the LAB, please, and lock up behind you.", "make sure that all doors are locked",
        "seal every lab door", "the robot's hand should be empty at the end", "never enter the ward",
        "get at least two heavy things to bay 1", "put the blood_sample and the dish washer into bay_2 or bay1",
        "unlock lab_door", "drop it", "", "1, 2 and 3rd", "bay_1-bay_2"}) {
    EXPECT_EQ(unknown(instruction), Words()) << instruction;
  }
}

TEST(TaskWords, NamesAreKnownAsAWhole) {
  EXPECT_EQ(unknown("go to bay_3"), (Words{"bay_3 (did you mean 'bay_1'?)"}));
  EXPECT_EQ(unknown("go to bay 3 in 2 days"), (Words{"bay 3 (did you mean 'bay_1'?)", "days"}));
  EXPECT_EQ(unknown("hospitl"), (Words{"hospitl"}));  // the domain's name is nobody's
  EXPECT_EQ(unknown("lock ward_door and x9"), (Words{"ward_door (did you mean 'lab_door'?)", "x9"}));
}

TEST(TaskWords, OnlyTheFirstAreTold) {
  EXPECT_EQ(hospital().hear("violin, harp, flute", 2).unknown, (Words{"violin", "harp"}));
}

TEST(TaskWords, WhatIsMissingStandsWhereAThingIsNamed) {
  EXPECT_EQ(missing("bring the blood sample to the morgue"), (Words{"morgue"}));
  EXPECT_EQ(missing("bring walrus to lab"), (Words{"walrus"}));
  EXPECT_EQ(missing("drop it in bay_3"), (Words{"bay_3 (did you mean 'bay_1'?)"}));
  // How it is to be done, or what for, is unknown and no thing.
  EXPECT_EQ(missing("quickly drop the blood sample, because visitors laugh"), Words());
  EXPECT_EQ(unknown("quickly drop the blood sample, because visitors laugh"), (Words{"quickly", "visitors", "laugh"}));
  EXPECT_EQ(missing("bring the blood sample to the lab"), Words());
}

// Words that describe are no things, and what is to be done may be missing, too.
TEST(TaskWords, WhatIsMissingMayBeDescribedOrBeTheOrderItself) {
  EXPECT_EQ(missing("drop the heavy suitcases"), (Words{"suitcases"}));
  EXPECT_EQ(missing("wash the dishwasher"), (Words{"wash"}));
  EXPECT_EQ(missing("drop the blood sample, then hang it up"), (Words{"hang"}));
  EXPECT_EQ(missing("drop the blood sample carefully"), Words());
  EXPECT_EQ(missing("drop the dishwasher quickly"), Words());
}

TEST(TaskWords, WhatAGoalHasNothingAboutIsFound) {
  const goals::TaskWords words = hospital();
  const auto left = [&](const std::string& instruction) {
    return words.passed_over(instruction, "(and (at blood_sample lab))");
  };
  EXPECT_EQ(left("drop the blood sample in the lab"), "");
  EXPECT_EQ(left("bring the sample to the lab, please, as soon as possible"), "");
  EXPECT_EQ(left("drop the blood sample in the lab and lock the door"), "lock");
  EXPECT_EQ(left("drop the dishwasher and the blood sample in the lab"), "dishwasher");
  EXPECT_EQ(left("drop the blood sample from the ward in the lab"), "");
  EXPECT_EQ(left("drop the blood sample in the lab with the heavy dishwasher"), "");
  EXPECT_EQ(left("drop the violin in the lab"), "");  // which is told as unknown
}

TEST(TaskWords, MostWordsOfAnotherLanguageAreUnknown) {
  const auto foreign = [](const std::string& instruction) { return hospital().hear(instruction, 5).foreign; };
  for (const char* instruction : {"bringe die blood_sample bitte ins lab", "apporte l'échantillon au lab",
                                  "点亮灯，打开门 lab", "lleva la muestra al lab"}) {
    EXPECT_TRUE(foreign(instruction)) << instruction;
  }
  for (const char* instruction : {"bring the blood sample to the morgue", "never enter the ward", "", "drop it", "7",
                                  "wash the dishwasher, then fly to the moon"}) {
    EXPECT_FALSE(foreign(instruction)) << instruction;
  }
  // However long it is.
  std::string text;
  for (int i = 0; i < 30'000; ++i) text += "the w" + std::string(1, static_cast<char>('a' + i % 26)) + "q ";
  EXPECT_FALSE(foreign("drop it " + text));
}

TEST(TaskWords, AGoalIsSpokenOfInItsNamesItsTypesAndWhatChangesIt) {
  const goals::TaskWords words = hospital();
  for (const char* instruction : {"the sample!", "quickly, the blood", "zum lab damit"}) {
    EXPECT_TRUE(words.speaks_of(instruction, "(and (at blood_sample lab))")) << instruction;
  }
  EXPECT_TRUE(words.speaks_of("seal it", "(locked lab_door)"));
  EXPECT_TRUE(words.speaks_of("something heavy", "(at dishwasher lab)"));
  EXPECT_TRUE(words.speaks_of("no doors", "(forall (?x - door) (not (locked ?x)))"));
  for (const char* instruction : {"put it there", "fly", "wash the ward", "tout de suite", ""}) {
    EXPECT_FALSE(words.speaks_of(instruction, "(and (at blood_sample lab))")) << instruction;
  }
}

}  // namespace
}  // namespace metactrl::task_words_test
