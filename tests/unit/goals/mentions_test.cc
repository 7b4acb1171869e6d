// What the words of an instruction are worth.
#include "goals/mentions.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "goals/items.h"
#include "pddl/ground.h"
#include "pddl/parse.h"

namespace metactrl::mentions_test {
namespace {

constexpr const char* kDomain = R"((define (domain rooms)
  (:requirements :strips :typing :negative-preconditions)
  (:types place thing door)
  (:predicates (at ?t - thing ?p - place) (locked ?d - door) (robot-at ?p - place) (at-hand ?t - thing))
  (:action move :parameters (?t - thing ?p ?q - place) :precondition (at ?t ?p) :effect (and (not (at ?t ?p)) (at ?t ?q)))
  (:action enter-place :parameters (?p ?q - place) :precondition (robot-at ?p) :effect (and (not (robot-at ?p)) (robot-at ?q)))
  (:action grab :parameters (?t - thing) :precondition () :effect (at-hand ?t))
  (:action lock :parameters (?d - door) :precondition (not (locked ?d)) :effect (locked ?d))))";
constexpr const char* kProblem = R"((define (problem p) (:domain rooms)
  (:objects ward lab - place blood_sample a b - thing lab_door door7 - door)
  (:init (at blood_sample ward) (at a ward) (at b ward) (robot-at lab)) (:goal (and))))";

goals::ItemSet items_of(const char* domain, const char* problem) {
  Diagnostics diagnostics;
  const pddl::Ast ast = pddl::parse({"domain", domain}, {"problem", problem}, diagnostics);
  internal::Meter meter;
  return {ast, pddl::ground(ast, {10'000, 10'000}, meter), {}, meter};
}
goals::ItemSet rooms() { return items_of(kDomain, kProblem); }

// What can be undone by an action that has a name of its own; and no types.
constexpr const char* kMachines = R"((define (domain machines)
  (:requirements :strips :negative-preconditions)
  (:predicates (machine ?x) (desk ?x) (running ?x) (oiled ?x) (on ?x ?y) (alarm-set))
  (:action start :parameters (?m) :precondition (machine ?m) :effect (running ?m))
  (:action stop :parameters (?m) :precondition (running ?m) :effect (not (running ?m)))
  (:action oil :parameters (?m) :precondition (machine ?m) :effect (oiled ?m))
  (:action lay :parameters (?m ?d) :precondition (and (machine ?m) (desk ?d)) :effect (on ?m ?d))
  (:action arm :parameters () :precondition (not (alarm-set)) :effect (alarm-set))))";
constexpr const char* kTwoMachines = R"((define (problem p) (:domain machines)
  (:objects press saw top shelf) (:init (machine press) (machine saw) (desk top) (desk shelf) (running saw)) (:goal (and))))";

constexpr const char* kLamps = R"((define (domain lamps)
  (:requirements :strips :typing :negative-preconditions)
  (:types lamp)
  (:predicates (on ?l - lamp))
  (:action switch-on :parameters (?l - lamp) :precondition (not (on ?l)) :effect (on ?l))
  (:action switch-off :parameters (?l - lamp) :precondition (on ?l) :effect (not (on ?l)))))";
constexpr const char* kTwoLamps =
    "(define (problem p) (:domain lamps) (:objects desk_lamp floor_lamp - lamp) (:init (on desk_lamp)) (:goal (and)))";

std::vector<std::string> mentioned(const std::string& instruction) {
  const goals::ItemSet items = rooms();
  std::vector<std::string> out;
  const goals::Mentions mentions(instruction, items);
  for (const ObjectId object : mentions.objects()) {
    out.push_back(items.objects()[static_cast<std::size_t>(object)]);
  }
  return out;
}

// The item that is written like this.
ActionId item_saying(const goals::ItemSet& items, const std::string& text) {
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    if (items.text(ActionId{i}) == text) return ActionId{i};
  }
  ADD_FAILURE() << text;
  return ActionId{};
}

goals::Mentions::Weight weight_of(const goals::ItemSet& items, const std::string& instruction,
                                  const std::string& text) {
  return goals::Mentions(instruction, items).weight({}, item_saying(items, text));
}

// The item that is worth most as the first.
std::string best(const std::string& instruction, const goals::ItemSet& items = rooms()) {
  const goals::Mentions mentions(instruction, items);
  ActionId winner{};
  for (std::uint32_t i = 1; i < items.size(); ++i) {
    if (mentions.weight({}, ActionId{i}).item > mentions.weight({}, winner).item) winner = ActionId{i};
  }
  return items.text(winner);
}

TEST(Mentions, NamesAreFoundAsPeopleWriteThem) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(mentioned("Bring the Blood Sample to the LAB!"), (Names{"blood_sample", "lab"}));
  EXPECT_EQ(mentioned("close the lab door"), (Names{"lab_door"}));
  EXPECT_EQ(mentioned("door 7, door7 and door_7"), (Names{"door7", "door7", "door7"}));
  EXPECT_EQ(mentioned("put a thing away"), Names());
  EXPECT_EQ(mentioned("put a and b into the lab"), (Names{"a", "b", "lab"}));
  EXPECT_EQ(mentioned("laboratory, samples"), Names());
  EXPECT_EQ(mentioned(""), Names());
}

TEST(Mentions, WhatIsTooLongIsNotReadToTheEnd) {
  std::string much;
  for (int i = 0; i < 2'000; ++i) much += "so, ";
  EXPECT_EQ(mentioned("the lab: " + much), std::vector<std::string>{"lab"});
  EXPECT_EQ(mentioned(much + "the lab"), std::vector<std::string>());
}

TEST(Mentions, AWordOfOneNameAloneIsEnough) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(mentioned("bring the sample to the lab"), (Names{"blood_sample", "lab"}));
  EXPECT_EQ(mentioned("bring the blood to the lab"), (Names{"blood_sample", "lab"}));
  EXPECT_EQ(mentioned("lock the door"), Names());  // of several, and a kind
  EXPECT_EQ(mentioned("number 7"), Names());       // a number is no name
  EXPECT_EQ(mentioned("a samples"), Names());      // as it is written
  EXPECT_EQ(best("bring the sample to the lab"), "(at blood_sample lab)");
}

TEST(Mentions, HowManyAreMeantIsSaidBeforeTheirKind) {
  const goals::ItemSet items = rooms();
  const char* all = "(forall (?x - door) (locked ?x))";
  for (const char* instruction :
       {"lock both doors", "lock all of the doors", "lock the doors", "every door is locked"}) {
    EXPECT_EQ(best(instruction), all) << instruction;
    const auto weight = [&](const std::string& text) { return weight_of(items, instruction, text); };
    EXPECT_GT(weight(all).item, weight("(locked door7)").item + 10) << instruction;
    EXPECT_GT(weight(all).end, weight(all).go_on) << instruction;
    EXPECT_LT(weight("(robot-at lab)").end, weight("(robot-at lab)").go_on) << instruction;
  }
  EXPECT_EQ(best("lock no door"), "(forall (?x - door) (not (locked ?x)))");
  EXPECT_NE(best("lock the door"), all);
  EXPECT_NE(best("lock one of the doors"), all);
}

TEST(Mentions, EverythingAndNothingAreOfAnyKind) {
  EXPECT_EQ(best("nothing should be at the ward"), "(forall (?x - thing) (not (at ?x ward)))");
  EXPECT_EQ(best("move everything to the lab"), "(forall (?x - thing) (at ?x lab))");
  // In another clause one thing may be meant.
  const goals::ItemSet items = rooms();
  const char* instruction = "bring everything to the lab, then enter the ward";
  EXPECT_GT(weight_of(items, instruction, "(robot-at ward)").item,
            weight_of(items, instruction, "(robot-at lab)").item + 9);
}

TEST(Mentions, WhatIsMentionedIsWorthMost) {
  EXPECT_EQ(best("bring the blood sample to the lab"), "(at blood_sample lab)");
  EXPECT_EQ(best("lock the lab door"), "(locked lab_door)");
  EXPECT_EQ(best("lock all doors"), "(forall (?x - door) (locked ?x))");
  EXPECT_EQ(best("never lock the lab door"), "(always (not (locked lab_door)))");
}

TEST(Mentions, AnActionSpeaksForWhatItChanges) {
  EXPECT_EQ(best("enter the ward"), "(robot-at ward)");
  EXPECT_EQ(best("never enter the ward"), "(always (not (robot-at ward)))");
  EXPECT_EQ(best("grab the blood sample"), "(at-hand blood_sample)");
  // And so do words that people use for its name.
  EXPECT_EQ(best("walk to the ward"), "(robot-at ward)");
  EXPECT_EQ(best("never walk to the ward"), "(always (not (robot-at ward)))");
}

TEST(Mentions, WhatIsSaidInOneClauseBelongsTogether) {
  const goals::ItemSet items = rooms();
  const char* clauses = "never enter the ward, and bring the blood sample to the lab";
  const auto two = [&](const std::string& text) { return weight_of(items, clauses, text).item; };
  EXPECT_GT(two("(always (not (robot-at ward)))"), two("(at blood_sample ward)"));
  EXPECT_GT(two("(at blood_sample lab)"), two("(at blood_sample ward)"));
  EXPECT_GT(two("(always (not (robot-at ward)))"), two("(always (not (at blood_sample lab)))"));
  // A list is no clause of its own.
  const char* list = "bring door7, lab_door and the blood sample to the lab";
  EXPECT_GT(weight_of(items, list, "(at blood_sample lab)").item, two("(at blood_sample lab)") - 1);
}

// What is said of one thing is not said of the other; what is said of nothing yet is said of what comes.
TEST(Mentions, WhatIsSaidInAClauseIsAboutTheThingsInIt) {
  const goals::ItemSet items = rooms();
  const auto weight = [&](const char* instruction, const char* text) {
    return weight_of(items, instruction, text).item;
  };
  const char* two = "grab a and lock door7, and grab b";
  EXPECT_GT(weight(two, "(locked door7)"), weight(two, "(locked lab_door)") + 5);
  const char* other = "lock door7 and leave the lab door";
  EXPECT_GT(weight(other, "(locked door7)"), weight(other, "(locked lab_door)") + 3);
  const char* both = "close and lock the lab door";
  EXPECT_DOUBLE_EQ(weight(both, "(locked lab_door)"), weight("lock the lab door", "(locked lab_door)"));
}

// What a clause says of "it" is said of the one thing that the clause before names.
TEST(Mentions, ItIsTheThingOfTheClauseBefore) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(mentioned("grab the blood sample and bring it to the lab"), (Names{"blood_sample", "blood_sample", "lab"}));
  EXPECT_EQ(mentioned("bring the blood sample to the lab, then lock it"), (Names{"blood_sample", "lab"}));  // which?
  EXPECT_EQ(mentioned("grab it, then put it down"), Names());
  const goals::ItemSet items = rooms();
  const auto weight = [&](const char* instruction) {
    return weight_of(items, instruction, "(at blood_sample lab)").item;
  };
  EXPECT_DOUBLE_EQ(weight("grab the blood sample and bring it to the lab"),
                   weight("grab b and bring the blood sample to the lab"));
  const goals::ItemSet machines = items_of(kMachines, kTwoMachines);
  const char* denied = "oil the press, but do not start it";
  EXPECT_GT(weight_of(machines, denied, "(not (running press))").item,
            weight_of(machines, denied, "(running press)").item + 5);
}

TEST(Mentions, WhatIsUndoneOfAllIsSoOfNone) {
  const goals::ItemSet items = items_of(kMachines, kTwoMachines);
  const std::string none = "(forall (?x) (imply (machine ?x) (not (running ?x))))";
  const std::string all = "(forall (?x) (imply (machine ?x) (running ?x)))";
  EXPECT_EQ(best("stop all machines", items), none);
  EXPECT_EQ(best("stop the machines", items), none);
  EXPECT_EQ(best("start all machines", items), all);
  EXPECT_EQ(best("oil both machines", items), "(forall (?x) (imply (machine ?x) (oiled ?x)))");
}

// "Not" turns round what is named, be it a fact, what brings it about, or what ends it.
TEST(Mentions, WhatIsDeniedIsNotAskedFor) {
  const goals::ItemSet items = items_of(kMachines, kTwoMachines);
  EXPECT_EQ(best("do not start the press", items), "(not (running press))");
  EXPECT_EQ(best("don't stop the saw", items), "(running saw)");
  EXPECT_EQ(best("do not set the alarm", items), "(not (alarm-set))");
  EXPECT_EQ(best("the press should no longer be oiled", items), "(not (oiled press))");
  EXPECT_EQ(best("do not lay the press on the shelf", items), "(not (on press shelf))");
  const std::string none = "(forall (?x) (imply (machine ?x) (not (running ?x))))";
  EXPECT_EQ(best("all machines must not be running", items), none);
  EXPECT_EQ(best("do not start any machine", items), none);
  const auto weight = [&](const char* instruction, const char* text) {
    return weight_of(items, instruction, text).item;
  };
  const char* neither = "neither the press nor the saw should be running";
  for (const char* machine : {"press", "saw"}) {
    const std::string running = std::string("(running ") + machine + ")";
    EXPECT_GT(weight(neither, ("(not " + running + ")").c_str()), weight(neither, running.c_str()) + 5);
  }
  const char* other = "oil the press and do not start the saw";
  EXPECT_GT(weight(other, "(oiled press)"), weight(other, "(not (oiled press))") + 5);
  EXPECT_GT(weight(other, "(not (running saw))"), weight(other, "(running saw)") + 5);
  const char* same = "oil the press, do not start the press";
  EXPECT_GT(weight(same, "(oiled press)"), weight(same, "(not (oiled press))") + 5);
  EXPECT_GT(weight(same, "(not (running press))"), weight(same, "(running press)") + 5);
}

// What has a verb of its own is a clause of its own, before "not" and behind it.
TEST(Mentions, NotIsSaidOfItsOwnSentence) {
  const goals::ItemSet items = items_of(kMachines, kTwoMachines);
  const auto weight = [&](const char* instruction, const char* text) {
    return weight_of(items, instruction, text).item;
  };
  for (const char* instruction :
       {"do not start the press, the saw must be oiled", "Do not start the press! The saw should be oiled.",
        "the saw must be oiled and the press must not be running", "oil the saw, the press must not be running"}) {
    EXPECT_GT(weight(instruction, "(oiled saw)"), weight(instruction, "(not (oiled saw))") + 3) << instruction;
    EXPECT_GT(weight(instruction, "(not (running press))"), weight(instruction, "(running press)") + 3) << instruction;
  }
  const char* both = "the press and the saw must not be oiled";
  for (const char* machine : {"press", "saw"}) {
    const std::string oiled = std::string("(oiled ") + machine + ")";
    EXPECT_GT(weight(both, ("(not " + oiled + ")").c_str()), weight(both, oiled.c_str()) + 5);
  }
}

// Where "not" is said of something else, nothing changes.
TEST(Mentions, NotEveryNotDenies) {
  const goals::ItemSet items = items_of(kMachines, kTwoMachines);
  for (const char* instruction : {"do not forget to oil the press", "if the press is not oiled, oil it",
                                  "oil the press that is not running", "why don't you oil the press"}) {
    EXPECT_EQ(best(instruction, items), "(oiled press)") << instruction;
  }
  EXPECT_EQ(best("not less than two machines should be running", items),
            "(forn (2) (?x) (and (machine ?x) (running ?x)))");
}

TEST(Mentions, OffIsEnoughToSayWhatIsUndone) {
  const goals::ItemSet items = items_of(kLamps, kTwoLamps);
  EXPECT_EQ(best("the desk lamp should be off", items), "(not (on desk_lamp))");
  EXPECT_EQ(best("the floor lamp should be on", items), "(on floor_lamp)");
  EXPECT_EQ(best("all lamps should be off", items), "(forall (?x - lamp) (not (on ?x)))");
  EXPECT_EQ(best("the lamps must be off", items), "(forall (?x - lamp) (not (on ?x)))");
}

TEST(Mentions, TheNameOfWhatHasNoArgumentsIsThatOfAThing) {
  EXPECT_EQ(best("set the alarm", items_of(kMachines, kTwoMachines)), "(alarm-set)");
}

TEST(Mentions, WhatIsAlwaysSoIsNotAskedOfTheEndAlone) {
  const goals::ItemSet items = items_of(kMachines, kTwoMachines);
  EXPECT_EQ(best("always keep the saw running", items), "(always (running saw))");
  // What is so at the start cannot be kept from being so on the way.
  EXPECT_EQ(best("the desk lamp must never be on", items_of(kLamps, kTwoLamps)), "(not (on desk_lamp))");
  EXPECT_EQ(best("never switch off the desk lamp", items_of(kLamps, kTwoLamps)), "(always (on desk_lamp))");
  EXPECT_GT(weight_of(items, "never oil the saw", "(always (not (oiled saw)))").item,
            weight_of(items, "never oil the saw", "(not (running saw))").item + 15);
  const char* never = "oil the saw and never start the press";
  EXPECT_GT(weight_of(items, never, "(always (not (running press)))").item,
            weight_of(items, never, "(running press)").item);
}

TEST(Mentions, OneOfAKindIsSome) {
  const goals::ItemSet items = items_of(kMachines, kTwoMachines);
  const auto weight = [&](const char* text) { return weight_of(items, "lay the press on either desk", text).item; };
  const double some = weight("(exists (?x) (and (desk ?x) (on press ?x)))");
  for (const char* other :
       {"(on press shelf)", "(exists (?x) (on press ?x))", "(exists (?x) (and (machine ?x) (on press ?x)))"})
    EXPECT_GT(some, weight(other) + 3) << other;
}

// What can never be so of any of a kind need not be ruled out, and what not all of them can be is out of reach.
TEST(Items, KindsAreCountedByWhatCanBeReached) {
  const goals::ItemSet items = items_of(kMachines, kTwoMachines);
  std::set<std::string> offered;
  std::set<std::string> impossible;
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    offered.insert(items.text(ActionId{i}));
    if (items.item(ActionId{i}).impossible) impossible.insert(items.text(ActionId{i}));
  }
  EXPECT_TRUE(offered.contains("(forall (?x) (imply (machine ?x) (not (running ?x))))"));
  EXPECT_FALSE(offered.contains("(forall (?x) (imply (desk ?x) (not (running ?x))))"));
  EXPECT_TRUE(impossible.contains("(forall (?x) (imply (desk ?x) (running ?x)))"));
  EXPECT_TRUE(impossible.contains("(exists (?x) (and (desk ?x) (running ?x)))"));
  EXPECT_TRUE(impossible.contains("(forn (3) (?x) (and (machine ?x) (running ?x)))"));
  EXPECT_FALSE(impossible.contains("(forall (?x) (imply (machine ?x) (running ?x)))"));
  EXPECT_FALSE(impossible.contains("(exists (?x) (and (machine ?x) (running ?x)))"));
}

TEST(Mentions, OfPredicatesThatShareAWordTheOneThatIsSaidIsMeant) {
  EXPECT_EQ(best("the blood sample should be at hand"), "(at-hand blood_sample)");
  EXPECT_EQ(best("the blood sample should be at the lab"), "(at blood_sample lab)");
  EXPECT_EQ(best("the robot must be at the ward"), "(robot-at ward)");
}

TEST(Mentions, NumbersAreThoseThatAreSaid) {
  EXPECT_EQ(best("at least two things in the lab"), "(forn (2) (?x - thing) (at ?x lab))");
  EXPECT_EQ(best("at least 3 things in the lab"), "(forn (3) (?x - thing) (at ?x lab))");
  EXPECT_EQ(best("two doors should be locked"), "(forn (2) (?x - door) (locked ?x))");
  // The 7 is a name's.
  EXPECT_EQ(best("door 7 is locked"), "(locked door7)");
}

TEST(Mentions, WhatIsSaidBeforeComesFirst) {
  const char* lock_first = "(sometime-before (at blood_sample lab) (locked door7))";
  const char* bring_first = "(sometime-before (locked door7) (at blood_sample lab))";
  EXPECT_EQ(best("lock door 7 before you bring the blood sample to the lab"), lock_first);
  EXPECT_EQ(best("before bringing the blood sample to the lab, lock door 7"), lock_first);
  EXPECT_EQ(best("bring the blood sample to the lab after locking door 7"), lock_first);
  EXPECT_EQ(best("lock door 7 after you bring the blood sample to the lab"), bring_first);
  for (const char* instruction : {"never bring the blood sample to the lab before door 7 is locked",
                                  "do not bring the blood sample to the lab until door 7 is locked"}) {
    EXPECT_EQ(best(instruction), lock_first) << instruction;
  }
}

TEST(Mentions, AnOrderAsksForWhatComesSecond) {
  const goals::ItemSet items = rooms();
  const auto find = [&](const std::string& text) { return item_saying(items, text); };
  const ActionId order = find("(sometime-before (at blood_sample lab) (locked door7))");
  const ActionId later = find("(at blood_sample lab)");
  const ActionId sometime = find("(sometime (at blood_sample lab))");
  const ActionId elsewhere = find("(at blood_sample ward)");
  const goals::Mentions wish("lock door 7 before you bring the blood sample to the lab", items);
  EXPECT_TRUE(wish.orders_are_wishes());
  const goals::Mentions::Weight alone = wish.weight({}, order);
  EXPECT_LT(alone.end, alone.go_on);
  for (const ActionId fact : {later, sometime}) {
    const goals::Mentions::Weight both = wish.weight({&order, 1}, fact);
    EXPECT_GT(both.end, both.go_on);
    const goals::Mentions::Weight turned = wish.weight({&fact, 1}, order);
    EXPECT_GT(turned.end, turned.go_on);
  }
  const ActionId turned_round = find("(sometime-before (locked door7) (at blood_sample lab))");
  const goals::Mentions::Weight circle = wish.weight({&order, 1}, turned_round);
  EXPECT_LT(circle.end, circle.go_on);
  EXPECT_LT(circle.item, wish.weight({}, turned_round).item - 10);
  EXPECT_GT(wish.weight({&order, 1}, later).item, wish.weight({&order, 1}, elsewhere).item + 5);
  // What comes first is done on the way.
  const ActionId earlier = find("(locked door7)");
  EXPECT_LT(wish.weight({&order, 1}, earlier).item, wish.weight({}, earlier).item - 4);
  for (const char* instruction : {"never bring the blood sample to the lab before door 7 is locked",
                                  "the blood sample may be at the lab only after door 7 is locked"}) {
    const goals::Mentions order_alone(instruction, items);
    EXPECT_FALSE(order_alone.orders_are_wishes());
    EXPECT_GT(order_alone.weight({}, order).end, order_alone.weight({}, order).go_on) << instruction;
  }
  // What is forbidden elsewhere is nothing to this order.
  EXPECT_TRUE(goals::Mentions("never enter the ward; lock door 7 before you bring the blood sample to the lab", items)
                  .orders_are_wishes());
}

TEST(Mentions, FormsOfAVerbAreOne) {
  EXPECT_EQ(best("locking the lab door"), "(locked lab_door)");
  EXPECT_EQ(best("grabbing the blood sample"), "(at-hand blood_sample)");
}

TEST(Mentions, PredicatesThatAreMentionedBelongToAWholeGoal) {
  const goals::ItemSet items = rooms();
  const goals::Mentions mentions("blood sample to the lab, then lock up", items);
  const ActionId brought = item_saying(items, "(at blood_sample lab)");
  const goals::Mentions::Weight half = mentions.weight({}, brought);
  EXPECT_LT(half.end, half.go_on);
  const goals::Mentions::Weight whole = mentions.weight({&brought, 1}, item_saying(items, "(locked door7)"));
  EXPECT_GT(whole.end, whole.go_on);
}

// "Then start it" names nothing new, and is not to be forgotten.
TEST(Mentions, AnActionThatIsNamedIsReasonToGoOn) {
  const goals::ItemSet items = items_of(kMachines, kTwoMachines);
  const goals::Mentions mentions("oil the press, then start it", items);
  const ActionId oiled = item_saying(items, "(oiled press)");
  const goals::Mentions::Weight half = mentions.weight({}, oiled);
  EXPECT_DOUBLE_EQ(half.end, half.go_on);
  const goals::Mentions::Weight whole = mentions.weight({&oiled, 1}, item_saying(items, "(running press)"));
  EXPECT_GT(whole.end, whole.go_on);
}

TEST(Mentions, AGoalEndsWhenEverythingIsInIt) {
  const goals::ItemSet items = rooms();
  const goals::Mentions mentions("blood sample to the lab", items);
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    const goals::Mentions::Weight weight = mentions.weight({}, ActionId{i});
    const std::string text = items.text(ActionId{i});
    // An order of two things does not ask for the second.
    const bool both = text.find("blood_sample") != std::string::npos && text.find(" lab)") != std::string::npos &&
                      !text.starts_with("(sometime-before");
    EXPECT_EQ(weight.end > weight.go_on, both) << text;
  }
}

// How many, said as a limit; and a "never" that is about a kind.
TEST(Mentions, LimitsAndKindsOfTheWay) {
  const goals::ItemSet items = items_of(kMachines, R"((define (problem p) (:domain machines)
    (:objects press saw drill top shelf) (:init (machine press) (machine saw) (machine drill) (desk top) (desk shelf)) (:goal (and))))");
  const std::string some = "(?x) (and (machine ?x) (running ?x)))";
  EXPECT_EQ(best("start at least two machines", items), "(forn (2) " + some);
  EXPECT_EQ(best("start two machines", items), "(forn (2) " + some);
  EXPECT_EQ(best("start more than one machine", items), "(forn (2) " + some);
  EXPECT_EQ(best("start at most two machines", items), "(not (forn (3) " + some + ")");
  EXPECT_EQ(best("start no more than one machine", items), "(not (forn (2) " + some + ")");
  EXPECT_EQ(best("start fewer than three machines", items), "(not (forn (3) " + some + ")");
  EXPECT_EQ(best("start exactly two machines", items), "(and (forn (2) " + some + " (not (forn (3) " + some + "))");
  EXPECT_EQ(best("start exactly one machine", items), "(and (exists " + some + " (not (forn (2) " + some + "))");
  EXPECT_EQ(best("never start any machine", items), "(always (forall (?x) (imply (machine ?x) (not (running ?x)))))");
  EXPECT_EQ(best("no machine should be running", items), "(forall (?x) (imply (machine ?x) (not (running ?x))))");
}

TEST(Mentions, OneOfTwoDifferentThings) {
  const goals::ItemSet items = items_of(kMachines, kTwoMachines);
  EXPECT_EQ(best("oil the press or stop the saw", items), "(or (not (running saw)) (oiled press))");
  EXPECT_EQ(best("start the press or oil the saw", items), "(or (running press) (oiled saw))");
  EXPECT_EQ(best("either oil the press or start it", items), "(or (running press) (oiled press))");
  EXPECT_EQ(best("oil the press or the saw", items), "(or (oiled press) (oiled saw))");
}

constexpr const char* kFerry = R"((define (domain ferry)
  (:requirements :strips :typing :negative-preconditions)
  (:types passenger ship suitcase)
  (:predicates (boarded ?p - passenger ?s - ship) (waiting ?p - passenger) (stowed ?b - suitcase) (covered ?b - suitcase))
  (:action board :parameters (?p - passenger ?s - ship) :precondition (waiting ?p)
    :effect (and (boarded ?p ?s) (not (waiting ?p))))
  (:action leave :parameters (?p - passenger ?s - ship) :precondition (boarded ?p ?s)
    :effect (and (not (boarded ?p ?s)) (waiting ?p)))
  (:action stow :parameters (?b - suitcase) :precondition (not (stowed ?b)) :effect (stowed ?b))
  (:action cover :parameters (?b - suitcase) :precondition (not (covered ?b)) :effect (covered ?b))
  (:action uncover :parameters (?b - suitcase) :precondition (covered ?b) :effect (not (covered ?b)))))";
constexpr const char* kTwoBags = R"((define (problem p) (:domain ferry)
  (:objects smith jones - passenger aurora hope - ship red_bag black_bag - suitcase)
  (:init (waiting smith) (boarded jones aurora) (covered red_bag)) (:goal (and))))";

// One thing is to be done, of one of two: what else it changes is not the other half.
TEST(Mentions, OneOfTwoThingsIsDoneToIt) {
  const goals::ItemSet items = items_of(kFerry, kTwoBags);
  EXPECT_EQ(best("either smith or jones should board the hope", items),
            "(or (boarded smith hope) (boarded jones hope))");
}

TEST(Mentions, WhatIsTakenOffIsNotOnAnyMore) {
  const goals::ItemSet items = items_of(kFerry, kTwoBags);
  EXPECT_EQ(best("take the cover off the red bag", items), "(not (covered red_bag))");
  EXPECT_EQ(best("cover the black bag", items), "(covered black_bag)");
  EXPECT_EQ(best("jones has to get off the aurora", items), "(not (boarded jones aurora))");
}

TEST(Mentions, AKindIsSaidByWhatItsNamesShare) {
  const goals::ItemSet items = items_of(kFerry, kTwoBags);
  EXPECT_EQ(best("load both bags", items), "(forall (?x - suitcase) (stowed ?x))");
  EXPECT_EQ(best("stow the bags", items), "(forall (?x - suitcase) (stowed ?x))");
}

TEST(Mentions, NeverIsSaidOfItsOwnClause) {
  const goals::ItemSet items = items_of(kMachines, kTwoMachines);
  const auto weight = [&](const std::string& instruction, const std::string& text) {
    return weight_of(items, instruction, text).item;
  };
  const std::string said = "oil all machines, but the press should never be put on the shelf";
  EXPECT_GT(weight(said, "(forall (?x) (imply (machine ?x) (oiled ?x)))"),
            weight(said, "(always (forall (?x) (imply (machine ?x) (not (oiled ?x)))))") + 10);
  EXPECT_EQ(best("never oil any machine", items), "(always (forall (?x) (imply (machine ?x) (not (oiled ?x)))))");
  for (const char* any : {"don't oil the press at any time", "oil the press at no time"}) {
    EXPECT_EQ(best(any, items), "(always (not (oiled press)))") << any;
  }
}

TEST(Mentions, HerAndHimAreWhatTheClauseBeforeNames) {
  const goals::ItemSet items = items_of(kMachines, kTwoMachines);
  for (const char* said : {"oil the press and lay her on the shelf", "oil the press, then lay it on the shelf"}) {
    EXPECT_GT(weight_of(items, said, "(on press shelf)").item, weight_of(items, said, "(on saw shelf)").item) << said;
  }
  const char* hers = "oil the press and lay her saw on the shelf";
  EXPECT_LT(weight_of(items, hers, "(on press shelf)").item, weight_of(items, hers, "(on saw shelf)").item);
}

TEST(Mentions, WhatIsUsedNeedNotBeInTheGoal) {
  const goals::ItemSet items = items_of(kMachines, kTwoMachines);
  const goals::Mentions::Weight used = weight_of(items, "oil the press with the saw", "(oiled press)");
  EXPECT_GT(used.end, used.go_on);
  const goals::Mentions::Weight both = weight_of(items, "oil the press and the saw", "(oiled press)");
  EXPECT_LT(both.end, both.go_on);
}

TEST(Mentions, WhatNobodySpokeOfIsFound) {
  const goals::ItemSet items = items_of(kMachines, kTwoMachines);
  const auto unnamed = [&](const std::string& instruction, const std::string& text) {
    const ActionId item = item_saying(items, text);
    return goals::Mentions(instruction, items).unnamed_in({&item, 1});
  };
  EXPECT_EQ(unnamed("oil the press", "(oiled saw)"), "saw");
  EXPECT_EQ(unnamed("oil the press", "(oiled press)"), "");
  EXPECT_EQ(unnamed("oil a machine, and lay the saw on the shelf", "(oiled press)"), "");  // by its kind
  EXPECT_EQ(unnamed("oil it", "(oiled saw)"), "");                                         // nothing is named
}

TEST(Mentions, APartOfANameIsEnoughToBeSpokenOf) {
  const goals::ItemSet items = rooms();
  const auto unnamed = [&](const std::string& text) {
    const ActionId item = item_saying(items, text);
    return goals::Mentions("bring the blood sample to the lab and lock up", items).unnamed_in({&item, 1});
  };
  EXPECT_EQ(unnamed("(locked lab_door)"), "");
  EXPECT_EQ(unnamed("(locked door7)"), "door7");
}

TEST(Mentions, HowManyIsSaidByTheGoalToo) {
  const goals::ItemSet items = items_of(kMachines, kTwoMachines);
  const auto uncounted = [&](const std::string& instruction, std::vector<std::string> texts) {
    std::vector<ActionId> goal;
    for (const std::string& text : texts) goal.push_back(item_saying(items, text));
    return goals::Mentions(instruction, items).uncounted_in(goal);
  };
  EXPECT_EQ(uncounted("oil all machines", {"(oiled press)"}), "machine");
  EXPECT_EQ(uncounted("oil all machines", {"(oiled press)", "(oiled saw)"}), "");
  EXPECT_EQ(uncounted("oil all machines", {"(forall (?x) (imply (machine ?x) (oiled ?x)))"}), "");
  EXPECT_EQ(uncounted("oil a machine", {"(oiled press)"}), "");
}

}  // namespace
}  // namespace metactrl::mentions_test
