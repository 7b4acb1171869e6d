// Plans to text and back.
#include <gtest/gtest.h>

#include "metactrl/error.h"
#include "metactrl/format.h"
#include "support/named_task.h"
#include "text/plan_reader.h"

namespace metactrl::spelling_test {
namespace {

using testing::named_task;

Task household() {
  return named_task({{"standup", {}},
                     {"walk", {"soap_1002"}},
                     {"grab", {"soap_1002"}},
                     {"putin", {"soap_1002", "washing_machine_1001"}},
                     {"not-open", {"jar_0"}}});
}

PlanFormat simple(const std::string& more = {}) {
  return PlanFormat::parse("item: \"{action}({arguments})\"\nseparator: \",\"\nclose: \".\"\n" + more, "simple.format");
}

std::vector<ActionId> ids(const std::vector<unsigned>& numbers) {
  std::vector<ActionId> out;
  for (const unsigned number : numbers) out.push_back(static_cast<ActionId>(number));
  return out;
}

std::string builtin_text(const std::string& name) {
  const PlanSpelling spelling(PlanFormat::builtin(name), household());
  const std::vector<ActionId> plan = ids({0, 1, 3, 4});
  const std::string text = spelling.render(plan);
  const PlanSpelling::Parsed parsed = spelling.parse(text);
  EXPECT_EQ(parsed.actions, plan);
  EXPECT_TRUE(parsed.complete) << parsed.error;
  return text;
}

std::string error_of(PlanFormat format, const Task& task) {
  try {
    const PlanSpelling spelling(std::move(format), task);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// What planners print: lines, and nothing behind the last one.
TEST(Spelling, TheEndOfTheTextCanBeTheClosing) {
  const PlanSpelling spelling(
      PlanFormat::parse("item: \"({action} {arguments})\"\nseparator: \"\\n\"\nclose: \"\"\n", "lines.format"),
      household());
  const std::vector<ActionId> plan = ids({1, 2});
  const std::string text = "(walk soap_1002)\n(grab soap_1002)";
  EXPECT_EQ(spelling.render(plan), text);
  EXPECT_EQ(spelling.render({}), "");
  EXPECT_TRUE(spelling.parse("").complete);
  EXPECT_TRUE(spelling.parse("").actions.empty());
  EXPECT_TRUE(spelling.parse(" \n").complete);
  for (const std::string blanks : {"", "\n", " ", "\n\n", " \r\n"}) {
    const PlanSpelling::Parsed parsed = spelling.parse(text + blanks);
    EXPECT_TRUE(parsed.complete) << parsed.error;
    EXPECT_EQ(parsed.actions, plan);
  }
  PlanSpelling::Parsed parsed = spelling.parse("(walk soap_1002)");
  EXPECT_EQ(parsed.actions, ids({1}));
  EXPECT_TRUE(parsed.complete);
  parsed = spelling.parse("(walk soap_1002)\n(gr");
  EXPECT_EQ(parsed.actions, ids({1}));
  EXPECT_FALSE(parsed.complete);
  EXPECT_EQ(parsed.error, "");
  parsed = spelling.parse("(walk soap_1002) (grab soap_1002)");
  EXPECT_FALSE(parsed.complete);
  EXPECT_EQ(parsed.actions, ids({}));
  EXPECT_EQ(parsed.error,
            "byte 18: expected nothing more, the plan is complete, found \"(grab soap_1002)\"; read 0 actions");
}

TEST(Spelling, WithAnEmptyClosingTheEmptyPlanMayBeginOthers) {
  const std::string lines = "open: \"Plan: \"\nitem: \"{action} {arguments}\"\nseparator: \", \"\nclose: \"\"\n";
  EXPECT_EQ(error_of(PlanFormat::parse(lines, "f"), household()), "no error");
  EXPECT_NE(error_of(PlanFormat::parse(lines + "empty: \"Plan: walk soap_1002\"\n", "f"), household())
                .find("collides with plans that begin with (walk soap_1002)"),
            std::string::npos);
  EXPECT_NE(error_of(PlanFormat::parse(lines + "empty: \"Plan: walk soap_1002, no\"\n", "f"), household())
                .find("collides with plans that begin with (walk soap_1002)"),
            std::string::npos);
}

TEST(Spelling, Builtins) {
  EXPECT_EQ(builtin_text("pddl"),
            "(standup)\n(walk soap_1002)\n(putin soap_1002 washing_machine_1001)\n(not-open jar_0);\n");
  EXPECT_EQ(builtin_text("json"),
            R"x([{"action": "standup", "arguments": []}, {"action": "walk", "arguments": ["soap_1002"]}, )x"
            R"x({"action": "putin", "arguments": ["soap_1002", "washing_machine_1001"]}, )x"
            R"x({"action": "not-open", "arguments": ["jar_0"]}])x");
  EXPECT_EQ(builtin_text("virtualhome-actions"),
            R"x({"STANDUP": [ ], "WALK": ["soap", "1002"], "PUTIN": ["soap", "1002", "washing_machine", "1001"], )x"
            R"x("NOT-OPEN": ["jar", "0"]})x");
  EXPECT_EQ(builtin_text("virtualhome-subgoals"),
            R"x({"output": ["STANDUP()", "WALK(soap.1002)", "PUTIN(soap.1002, washing_machine.1001)", )x"
            R"x("NOT-OPEN(jar.0)"]})x");
  EXPECT_EQ(
      builtin_text("behavior-actions"),
      R"x([{"action": "STANDUP", "object": ""}, {"action": "WALK", "object": "soap_1002"}, )x"
      R"x({"action": "PUTIN", "object": "soap_1002, washing_machine_1001"}, {"action": "NOT-OPEN", "object": "jar_0"}])x");
  EXPECT_EQ(
      builtin_text("behavior-subgoals"),
      R"x({"output": ["standup()", "walk(soap.1002)", "putin(soap.1002, washing_machine.1001)", "not open(jar.0)"]})x");
  EXPECT_EQ(builtin_text("sentences"),
            "1. standup\n2. walk soap_1002\n3. putin soap_1002 washing_machine_1001\n4. not open jar_0.");
}

TEST(Spelling, EmptyPlans) {
  const std::vector<std::pair<std::string, std::string>> expected{{"pddl", ";\n"},
                                                                  {"json", "[]"},
                                                                  {"virtualhome-actions", "{}"},
                                                                  {"virtualhome-subgoals", R"x({"output": []})x"},
                                                                  {"behavior-actions", "[]"},
                                                                  {"behavior-subgoals", R"x({"output": []})x"},
                                                                  {"sentences", "."}};
  for (const auto& [name, text] : expected) {
    const PlanSpelling spelling(PlanFormat::builtin(name), household());
    EXPECT_EQ(spelling.render({}), text) << name;
    EXPECT_TRUE(spelling.parse(text).complete) << name;
    EXPECT_TRUE(spelling.parse(text).actions.empty()) << name;
  }
}

TEST(Spelling, PddlFormatIsAPddlPlan) {
  const PlanSpelling spelling(PlanFormat::builtin("pddl"), household());
  const std::vector<PlanStep> steps = parse_plan(spelling.render(ids({0, 3})), "plan");
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(to_string(steps[0]), "(standup)");
  EXPECT_EQ(to_string(steps[1]), "(putin soap_1002 washing_machine_1001)");
  EXPECT_TRUE(parse_plan(spelling.render({}), "plan").empty());
}

TEST(Spelling, TheSameKeyMayComeTwice) {
  const PlanSpelling spelling(PlanFormat::builtin("virtualhome-actions"), household());
  const std::string text = R"x({"WALK": ["soap", "1002"], "WALK": ["soap", "1002"]})x";
  EXPECT_EQ(spelling.parse(text).actions, ids({1, 1}));
  EXPECT_EQ(spelling.render(ids({1, 1})), text);
}

TEST(Spelling, TwoSeparators) {
  const PlanSpelling spelling(PlanFormat::builtin("behavior-subgoals"), household());
  const std::vector<std::uint32_t> separators{1, 0};
  const std::string text = spelling.render(ids({1, 4, 2}), separators);
  EXPECT_EQ(text, R"x({"output": ["walk(soap.1002) and not open(jar.0)", "grab(soap.1002)"]})x");
  const PlanSpelling::Parsed parsed = spelling.parse(text);
  EXPECT_EQ(parsed.actions, ids({1, 4, 2}));
  EXPECT_EQ(parsed.separators, separators);
}

TEST(Spelling, Sentences) {
  const Task task = named_task({{"pick-up", {"a"}}, {"stack", {"a", "b"}}, {"wait", {}}});
  const PlanSpelling spelling(PlanFormat::parse("prefix: \"{index}. \"\n"
                                                "item Pick-Up: \"pick up the {1}\"\n"
                                                "item /2: \"under the {2} goes the {1}: {action}\"\n"
                                                "item: \"{action}\"\n"
                                                "action STACK: \"piling\"\n"
                                                "object A: \"red block\"\n"
                                                "object c: \"not there\"\n"
                                                "separator: \".\\n\"\n"
                                                "close: \"!\"\n",
                                                "own.format"),
                              task);
  EXPECT_EQ(spelling.render(ids({0, 1, 2})),
            "1. pick up the red block.\n2. under the b goes the red block: piling.\n3. wait!");
  EXPECT_EQ(spelling.action(static_cast<ActionId>(1)).pieces,
            (std::vector<std::string>{"under the ", "b", " goes the ", "red block", ": piling"}));
  EXPECT_EQ(spelling.action(static_cast<ActionId>(1)).arguments, (std::vector<std::uint32_t>{1, 0}));
  EXPECT_EQ(spelling.action(static_cast<ActionId>(2)).pieces, (std::vector<std::string>{"wait"}));
}

TEST(Spelling, TenItemsHaveTwoDigits) {
  const PlanSpelling spelling(PlanFormat::builtin("sentences"), named_task({{"go", {}}}));
  const std::vector<ActionId> plan(12, ActionId{0});
  const std::string text = spelling.render(plan);
  EXPECT_NE(text.find("\n10. go\n11. go"), std::string::npos);
  EXPECT_EQ(spelling.parse(text).actions, plan);
  EXPECT_FALSE(spelling.parse("1. go\n3. go.").error.empty());
}

TEST(Spelling, EscapesJson) {
  const Task task = named_task({{"say", {"a\"b\\c\n\x02\xc3\xa4"}}, {"say", {"a"}}});
  const PlanSpelling spelling(PlanFormat::builtin("json"), task);
  const std::string text = spelling.render(ids({0}));
  EXPECT_EQ(text, "[{\"action\": \"say\", \"arguments\": [\"a\\\"b\\\\c\\n\\u0002\xc3\xa4\"]}]");
  EXPECT_EQ(spelling.parse(text).actions, ids({0}));
}

TEST(Spelling, NoActionsNoProblem) {
  const PlanSpelling spelling(PlanFormat::builtin("pddl"), named_task({}));
  EXPECT_EQ(spelling.num_actions(), 0U);
  EXPECT_TRUE(spelling.parse(";\n").complete);
  EXPECT_EQ(spelling.parse("(").error, "byte 1: expected \";\\n\", found \"(\"; read 0 actions");
}

TEST(Spelling, RendersOnlyWhatExists) {
  const PlanSpelling spelling(simple(), household());
  EXPECT_THROW(spelling.render(ids({99})), InputError);
  EXPECT_THROW(spelling.render(ids({0, 1}), std::vector<std::uint32_t>{7}), InputError);
  EXPECT_EQ(spelling.render(ids({0, 0, 0}), std::vector<std::uint32_t>{0}), "standup(),standup(),standup().");
}

TEST(Spelling, Moves) {
  PlanSpelling first(simple(), household());
  const PlanSpelling second(std::move(first));
  EXPECT_EQ(second.parse("standup().").actions, ids({0}));
  EXPECT_GT(second.memory_bytes(), 100U);
}

// --- the proof -------------------------------------------------------------------------------------------------------
TEST(Collision, SameText) {
  EXPECT_EQ(error_of(simple("action grab: \"walk\"\n"), household()),
            "plan format 'simple': error: actions (walk soap_1002) and (grab soap_1002) are both written "
            "\"walk(soap_1002)\"; use {action} in their items, or give one of them its own text:  item grab: \"...\"");
  EXPECT_EQ(
      error_of(PlanFormat::parse("item: \"{action} {1}\"\nseparator: \",\"\nclose: \".\"", "f"),
               named_task({{"put", {"a", "b"}}, {"put", {"a", "c"}}})),
      "plan format 'f': error: actions (put a b) and (put a c) are both written \"put a\"; use all arguments in the "
      "item "
      "of 'put', with something between them, and let no two objects have the same text ('object' lines, {name} and "
      "{id})");
}

TEST(Collision, BeginningOfAnother) {
  const PlanFormat format = PlanFormat::parse("item: \"{action} {arguments}\"\nseparator: \", \"\nclose: \".\"", "f");
  EXPECT_EQ(error_of(format, named_task({{"go", {"a"}}, {"take", {"a", "b"}}, {"take", {"b", "a"}}})), "no error");
  EXPECT_EQ(error_of(format, named_task({{"go", {"b"}}, {"go", {"b, c"}}})),
            "plan format 'f': error: actions (go b) and (go b, c) collide: \"go b\" with the separator \", \" is the "
            "beginning of \"go b, c\" with the separator \", \"; a reader could not tell where the first one ends; "
            "put quotes "
            "or brackets around items, or choose separators and a closing that no item goes on with");
  EXPECT_NE(error_of(format, named_task({{"walk", {"light.411"}}, {"walk", {"light"}}}))
                .find("\"walk light\" with the closing \".\" is the beginning of \"walk light.411\""),
            std::string::npos);
}

TEST(Collision, ALongerItemIsNoCollisionInItself) {
  EXPECT_EQ(error_of(PlanFormat::builtin("sentences"), named_task({{"go", {"a"}}, {"go", {"ab"}}, {"go", {"abc"}}})),
            "no error");
}

TEST(Collision, EmptyPlan) {
  EXPECT_EQ(
      error_of(simple("open: \"[\"\nempty: \"[walk(\"\n"), household()),
      "plan format 'simple': error: the empty plan, written \"[walk(\", collides with plans that begin with (walk "
      "soap_1002), written \"[walk(soap_1002),\"...; state another text for the empty plan:  empty: \"...\"");
  EXPECT_NE(error_of(simple("open: \"[[\"\nempty: \"[\"\n"), household()).find("the empty plan"), std::string::npos);
  EXPECT_NE(error_of(simple("empty: \"standup(),and so on\"\n"), household()).find("the empty plan"),
            std::string::npos);
  EXPECT_EQ(error_of(simple("empty: \"standup()...\"\n"), household()).find("no error"), std::string::npos);
  EXPECT_EQ(error_of(simple("empty: \"standup?\"\n"), household()), "no error");
}

TEST(Spelling, ActionsWithoutItem) {
  EXPECT_EQ(
      error_of(PlanFormat::parse("item /1: \"{action} {1}\"\nseparator: \",\"\nclose: \".\"", "f"), household()),
      "plan format 'f': error: action 'standup' with 0 arguments has no item; add a line  item standup: \"...\"  or "
      "one for all actions,  item: \"...\"\n"
      "plan format 'f': error: action 'putin' with 2 arguments has no item; add a line  item putin: \"...\"  or one "
      "for all actions,  item: \"...\"");
  EXPECT_EQ(error_of(PlanFormat::parse("item: \"{action} {2}\"\nseparator: \",\"\nclose: \".\"", "f"),
                     named_task({{"go", {"a"}}})),
            "plan format 'f': error: the item of action 'go', \"{action} {2}\", uses {2}, but the action has 1 "
            "argument; add "
            "a line of its own,  item go: \"...\"  or  item /1: \"...\"");
}

TEST(Spelling, LinesAboutUnknownActions) {
  EXPECT_EQ(
      error_of(simple("item wlak: \"x\"\n"), household()),
      "plan format 'simple': error: the line 'item wlak' is about an action that the domain does not have; did you "
      "mean 'walk'?");
}

TEST(Spelling, ObjectsWithoutId) {
  EXPECT_EQ(
      error_of(PlanFormat::builtin("virtualhome-actions"), named_task({{"walk", {"kitchen"}}})),
      "plan format 'virtualhome-actions': error: object 'kitchen' has no \"_\" that splits it into {name} and {id}; "
      "rename it, or add a line  object kitchen: \"kitchen_1\"");
}

TEST(Spelling, FormatsMadeInCodeAreCheckedToo) {
  PlanFormat format;
  format.name = "coded";
  format.items["*"] = "{acton}";
  format.separators = {","};
  format.close = ",";
  const std::string error = error_of(format, household());
  EXPECT_NE(error.find("plan format 'coded': error: 'close': the closing \",\" and the separator \",\" are the same"),
            std::string::npos);
  EXPECT_NE(error.find("'item *': there is no {acton} here"), std::string::npos);
}

// --- reading ---------------------------------------------------------------------------------------------------------
TEST(Parse, SaysWhatWasExpected) {
  const PlanSpelling spelling(PlanFormat::builtin("pddl"),
                              named_task({{"open", {"cup"}}, {"open", {"dishwasher"}}, {"wait", {}}}));
  const PlanSpelling::Parsed parsed = spelling.parse("(wait)\n(open dishwaser)\n");
  EXPECT_EQ(parsed.error, "byte 21: expected \"her)\", found \"er)\\n\"; read 1 action");
  EXPECT_EQ(parsed.bytes_read, 20U);
  EXPECT_EQ(parsed.actions, ids({2}));
  EXPECT_FALSE(parsed.complete);
  EXPECT_EQ(spelling.parse("(open glass)").error,
            "byte 7: expected \"cup)\" or \"dishwasher)\", found \"glass)\"; read 0 actions");
  EXPECT_EQ(spelling.parse("(wait) ").error, "byte 7: expected \";\\n\" or \"\\n\", found \" \"; read 0 actions");
  EXPECT_EQ(spelling.parse("[").error, "byte 1: expected \"(\" or \";\\n\", found \"[\"; read 0 actions");
  EXPECT_EQ(spelling.parse("(wait)\n(wait);\n\n (").error,
            "byte 18: expected nothing more, the plan is complete, found \"(\"; read 2 actions");
}

TEST(Parse, ShortensLongLists) {
  std::vector<PlanStep> steps;
  for (char c = 'a'; c <= 'z'; ++c) steps.push_back({std::string(1, c), {}});
  EXPECT_EQ(
      PlanSpelling(simple(), named_task(steps)).parse("!").error,
      "byte 1: expected one of \".\", \"a()\", \"b()\", \"c()\", \"d()\", \"e()\" and 21 more, found \"!\"; read 0 "
      "actions");
}

TEST(Parse, BeginningsAreNoErrors) {
  for (const std::string& name : PlanFormat::builtin_names()) {
    const PlanSpelling spelling(PlanFormat::builtin(name), household());
    const std::string text = spelling.render(ids({3, 0, 1}));
    for (std::size_t length = 0; length <= text.size(); ++length) {
      const PlanSpelling::Parsed parsed = spelling.parse(text.substr(0, length));
      EXPECT_EQ(parsed.error, "") << name;
      EXPECT_EQ(parsed.bytes_read, length);
      EXPECT_EQ(parsed.complete, length == text.size()) << name << ' ' << length;
    }
  }
}

TEST(Parse, BlanksMayFollow) {
  const PlanSpelling spelling(simple(), household());
  const PlanSpelling::Parsed parsed = spelling.parse("standup(). \n\t\r\n");
  EXPECT_TRUE(parsed.complete);
  EXPECT_EQ(parsed.bytes_read, 15U);
  EXPECT_FALSE(spelling.parse(" standup().").complete);
}

TEST(Parse, AnActionIsKnownBehindItsSeparator) {
  const PlanSpelling spelling(simple(), named_task({{"a", {}}, {"ab", {}}}));
  text::PlanReader reader(spelling);
  EXPECT_TRUE(reader.read("a()"));
  EXPECT_TRUE(reader.result().actions.empty());
  EXPECT_TRUE(reader.read(","));
  EXPECT_EQ(reader.result().actions, ids({0}));
  EXPECT_TRUE(reader.read("ab("));
  EXPECT_TRUE(reader.read(""));
  EXPECT_TRUE(reader.read(")."));
  EXPECT_TRUE(reader.result().complete);
  EXPECT_FALSE(reader.read("x"));
  EXPECT_FALSE(reader.result().complete);
  EXPECT_FALSE(reader.read(" "));
  EXPECT_EQ(reader.result().bytes_read, 9U);
}

TEST(Parse, ItemsInsideItems) {
  // "a" ends where "a, b" goes on; the separators decide three bytes later.
  const PlanSpelling spelling(PlanFormat::parse("item: \"{action}\"\nseparator: \", c\"\nclose: \", d\"", "f"),
                              named_task({{"a", {}}, {"a, b", {}}, {"a, b, b", {}}}));
  for (const std::vector<unsigned>& plan : std::vector<std::vector<unsigned>>{{0, 1, 2}, {2, 2}, {1, 0}, {0}}) {
    const PlanSpelling::Parsed parsed = spelling.parse(spelling.render(ids(plan)));
    EXPECT_EQ(parsed.actions, ids(plan));
    EXPECT_TRUE(parsed.complete);
  }
}

TEST(Spelling, FortyThousandActions) {
  std::vector<PlanStep> steps;
  for (int i = 0; i < 200; ++i) {
    for (int j = 0; j < 200; ++j)
      steps.push_back({"put-on-top-of", {"object_" + std::to_string(i), "object_" + std::to_string(j)}});
  }
  const PlanSpelling spelling(PlanFormat::builtin("virtualhome-actions"), named_task(steps));
  EXPECT_EQ(spelling.num_actions(), 40000U);
  const std::vector<ActionId> plan = ids({0, 199, 20'000, 39'999});
  const PlanSpelling::Parsed parsed = spelling.parse(spelling.render(plan));
  EXPECT_EQ(parsed.actions, plan);
  EXPECT_TRUE(parsed.complete);
}

}  // namespace
}  // namespace metactrl::spelling_test
