// metactrl plan, explain and models, run as programs.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/command_line.h"
#include "support/str_cat.h"
#include "support/test_data.h"
#include "support/tiny_gguf.h"
#include "support/vocabularies.h"

namespace metactrl::plan_test {
namespace {

using internal::str_cat;
using Json = nlohmann::json;
using Result = testing::CommandResult;

// A fuse that must not blow, a lamp that is broken.
constexpr const char* kDomain = R"((define (domain lamps)
  (:requirements :strips :typing :negative-preconditions)
  (:types lamp)
  (:predicates (lit ?l - lamp) (broken ?l - lamp) (power))
  (:action press :parameters (?l - lamp) :precondition (and (power) (not (lit ?l)) (not (broken ?l))) :effect (lit ?l))
  (:action release :parameters (?l - lamp) :precondition (lit ?l) :effect (not (lit ?l)))
  (:action blow-fuse :parameters () :precondition (power) :effect (not (power)))))";

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

class PlanCli : public testing::CommandLineTest {
 protected:
  void SetUp() override {
    CommandLineTest::SetUp();
    write("d.pddl", kDomain);
    write("p.pddl", problem("(and (lit a) (lit b))"));
    write("broken.pddl", problem("(and (lit a) (lit c))"));
  }

  static std::string problem(const std::string& goal) {
    return "(define (problem lamps-1) (:domain lamps) (:objects a b c - lamp) (:init (power) (broken c)) (:goal " +
           goal + "))";
  }
  static std::string vocabulary() { return testing::vocabulary_file("gpt-2"); }

  // With a test model.
  Result plan(const std::string& arguments, const std::string& model = "random:1",
              const std::string& problem = "p.pddl") const {
    return run("plan -d d.pddl -p " + problem + " --model " + model + " --vocab '" + vocabulary() + "' --horizon 6 " +
               arguments);
  }
  // Writes the plan lines to a file and asks the other command.
  Result validate(const std::string& plan_lines, const std::string& problem = "p.pddl") const {
    write("made.plan", plan_lines);
    return run("validate -d d.pddl -p " + problem + " made.plan");
  }
};

// --- output --------------------------------------------------------------------------------------------------------

TEST_F(PlanCli, TextIsThePlanInItsFormat) {
  const Result r = plan("");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out.back(), '\n');
  EXPECT_EQ(validate(r.out).code, 0) << r.out;
  EXPECT_CONTAINS(r.err, "guarantee: full; goals met: 2 of 2; ");
  EXPECT_CONTAINS(r.err, " actions, shortest 2");
  EXPECT_CONTAINS(r.err, "; model calls: ");
  EXPECT_CONTAINS(r.err, "of them forced");
  // A model without weights runs on nothing.
  EXPECT_EQ(r.err.find("; on "), std::string::npos) << r.err;
}

// The cheap way has more actions than the short one.
TEST_F(PlanCli, CostsAreToldBesideTheLeast) {
  write("ways.pddl", R"((define (domain ways) (:requirements :strips :action-costs)
  (:predicates (home) (stop) (office)) (:functions (total-cost) - number)
  (:action taxi :parameters () :precondition (home) :effect (and (office) (not (home)) (increase (total-cost) 20)))
  (:action walk :parameters () :precondition (home) :effect (and (stop) (not (home)) (increase (total-cost) 1)))
  (:action bus :parameters () :precondition (stop) :effect (and (office) (not (stop)) (increase (total-cost) 3)))))");
  const std::string start = "(define (problem p) (:domain ways) (:init (home) (= (total-cost) 0)) (:goal (office)) ";
  write("cheap.pddl", start + "(:metric minimize (total-cost)))");
  write("any.pddl", start + ")");
  const std::string with = " --guidance mask --model hostile:1 --vocab '" + vocabulary() + "' ";
  const Result cheap = run("plan -d ways.pddl -p cheap.pddl" + with);
  EXPECT_EQ(cheap.code, 0) << cheap.err;
  EXPECT_CONTAINS(cheap.err, ", shortest 1, cost ");
  EXPECT_CONTAINS(cheap.err, ", cheapest 4");
  EXPECT_EQ(Json::parse(run("plan -d ways.pddl -p cheap.pddl --output json" + with).out)["best_known"],
            (Json{{"length", 2},
                  {"shortest", false},
                  {"shortest_length", 1},
                  {"cost", 4.0},
                  {"cheapest", true},
                  {"cost_at_least", 4.0}}));
  // What costs more than need be is told how to cost less; what was told so, or costs nothing more, is not.
  const std::string advice = ", cost 20, cheapest 4 (--prefer cheap weighs costs); ";
  std::size_t advised = 0;
  for (int seed = 1; seed <= 3; ++seed) {
    const std::string model = str_cat(" --guidance mask --model random:", seed, " --vocab '", vocabulary(), "'");
    const Result one = run("plan -d ways.pddl -p cheap.pddl" + model);
    const bool dear = one.out.find("taxi") != std::string::npos;
    advised += dear ? 1 : 0;
    EXPECT_EQ(one.err.find(advice) != std::string::npos, dear) << one.err;
    EXPECT_EQ(run("plan -d ways.pddl -p cheap.pddl --prefer cheap:0.001" + model).err.find("weighs costs"),
              std::string::npos);
  }
  EXPECT_GT(advised, 0U);
  EXPECT_LT(advised, 3U);
  // What nobody asks to be small is no bound.
  const Result any = run("plan -d ways.pddl -p any.pddl" + with);
  EXPECT_CONTAINS(any.err, ", shortest 1, cost ");
  EXPECT_CONTAINS(any.err, ", best known 20; ");
}

TEST_F(PlanCli, SlackSimplifyAndDetours) {
  const std::string with = "plan -d d.pddl -p p.pddl --vocab '" + vocabulary() + "' --guidance mask --output json ";
  const Json tight = Json::parse(run(with + "--model hostile:1 --slack 0").out);
  EXPECT_EQ(tight["plan"].size(), 2U);
  EXPECT_EQ(tight["best_known"], (Json{{"length", 2},
                                       {"shortest", true},
                                       {"shortest_length", 2},
                                       {"cost", 2.0},
                                       {"cheapest", true},
                                       {"cost_at_least", 2.0}}));
  EXPECT_EQ(tight["horizon_rule"], "the best known plan plus slack");
  const Json loose = Json::parse(run(with + "--model random:1 --slack 9 --decode sample").out);
  EXPECT_EQ(loose["horizon"], 11);
  const Result simple = run(with + "--model random:1 --slack 9 --decode sample --simplify");
  const Json json = Json::parse(simple.out);
  EXPECT_EQ(json["plan"].size() + json["left_out"].size(), loose["plan"].size());
  EXPECT_EQ(json["left_out"].size(), loose["needless_steps"].size());
  EXPECT_GT(json["left_out"].size(), 0U);
  EXPECT_EQ(json["valid"], true);
  const Result text = plan("--decode sample --simplify");
  EXPECT_EQ(validate(text.out).code, 0) << text.out;
  const Json direct = Json::parse(run(with + "--model random:1 --slack 9 --decode sample --no-detours").out);
  EXPECT_LE(direct["plan"].size(), 3U);
  EXPECT_EQ(direct["valid"], true);
  const Result both = run(with + "--model random:1 --slack 3 --horizon 9");
  EXPECT_EQ(both.code, 30);
  EXPECT_CONTAINS(both.err, "--horizon excludes --slack");
}

TEST_F(PlanCli, PddlLinesForEveryFormat) {
  for (const char* format : {"pddl", "json", "sentences", "behavior-actions"}) {
    const Result r = plan("--output pddl --format " + std::string(format));
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(validate(r.out).code, 0) << r.out;
    EXPECT_CONTAINS(r.out, "guarantee: full");
  }
}

TEST_F(PlanCli, JsonSaysEverything) {
  const Result r = plan("--output json --format json --instruction 'light the lamps'", "hostile:3");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err, "");
  const Json json = Json::parse(r.out);
  EXPECT_EQ(json["outcome"], "plan");
  EXPECT_EQ(json["guarantee"], "full");
  EXPECT_EQ(json["valid"], true);
  EXPECT_EQ(json["goals"]["met"], Json({"(lit a)", "(lit b)"}));
  EXPECT_EQ(json["goals"]["unmet"], Json::array());
  EXPECT_EQ(json["goals"]["dropped"], Json::array());
  EXPECT_EQ(json["model"], "hostile:3");
  EXPECT_EQ(json["format"], "json");
  EXPECT_EQ(json["guidance"], "uniform");
  EXPECT_EQ(json["tier"], "exact");
  EXPECT_EQ(json["horizon"], 6);
  EXPECT_GT(json["tokens"].get<int>(), 0);
  EXPECT_GT(json["forced_tokens"].get<int>(), 0);
  EXPECT_LT(json["forced_tokens"].get<int>(), json["tokens"].get<int>());
  EXPECT_GT(json["model_calls"].get<int>(), 0);
  EXPECT_LE(json["model_calls"].get<int>(), json["tokens"].get<int>());
  EXPECT_GT(json["prompt_tokens"].get<int>(), 0);
  for (const char* time :
       {"load_task", "load_model", "format", "automaton", "lookahead", "prompt", "decode", "model", "check"}) {
    EXPECT_GE(json["timings"].at(time).get<double>(), 0) << time;
  }
  std::string lines;
  for (const Json& step : json["plan"]) {
    lines += "(" + step["action"].get<std::string>();
    for (const Json& argument : step["arguments"]) lines += " " + argument.get<std::string>();
    lines += ")\n";
  }
  EXPECT_EQ(validate(lines).code, 0) << lines;
  EXPECT_EQ(Json::parse(json["text"].get<std::string>()).size(), json["plan"].size());
}

TEST_F(PlanCli, AFormatOfOnesOwn) {
  write("mine.format",
        "item: \"do {action} {arguments}\"\nitem /0: \"do {action}\"\nseparator: \"; \"\nclose: \"!\"\n");
  const Result r = plan("--format mine.format");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out.substr(0, 3), "do ");
  EXPECT_EQ(r.out.substr(r.out.size() - 2), "!\n");
}

// --- guidance and decoding -----------------------------------------------------------------------------------------

TEST_F(PlanCli, EveryGuaranteedWayOfDecoding) {
  for (const char* guidance : {"mask", "uniform"}) {
    for (const char* decode :
         {"greedy", "sample --temperature 2 --top-p 0.9 --top-k 3 --min-p 0.01", "beam --beam 2", "smc --samples 4"}) {
      for (const char* model : {"random:5", "hostile:5"}) {
        const Result r =
            plan("--output pddl --seed 3 --guidance " + std::string(guidance) + " --decode " + decode, model);
        EXPECT_EQ(r.code, 0) << guidance << ' ' << decode << ' ' << model << r.err;
        EXPECT_EQ(validate(r.out).code, 0) << r.out;
      }
    }
  }
  for (const char* bridge : {"surrogate", "model"}) {
    const Result r = plan("--output pddl --bridge " + std::string(bridge), "hostile:5");
    EXPECT_EQ(r.code, 0) << bridge << r.err;
    EXPECT_EQ(validate(r.out).code, 0) << r.out;
  }
}

TEST_F(PlanCli, SamplesRepeatWithTheirSeed) {
  const Result first = plan("--guidance mask --decode sample --temperature 3 --seed 11");
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out, plan("--guidance mask --decode sample --temperature 3 --seed 11").out);
  std::set<std::string> others;
  for (int seed = 0; seed < 8; ++seed)
    others.insert(plan("--guidance mask --decode sample --temperature 3 --seed " + std::to_string(seed)).out);
  EXPECT_GT(others.size(), 1U);
}

TEST_F(PlanCli, SmcShowsItsParticles) {
  const Result r = plan("--decode smc --samples 4 --output json");
  ASSERT_EQ(r.code, 0) << r.err;
  const Json json = Json::parse(r.out);
  EXPECT_EQ(json["particles"].size(), 4U);
  EXPECT_TRUE(json["log_evidence"].is_number());
  EXPECT_TRUE(json["log_probability"].is_number());
  double total = 0;
  for (const Json& particle : json["particles"]) total += particle["weight"].get<double>();
  EXPECT_NEAR(total, 1, 1e-9);
}

TEST_F(PlanCli, SearchNeedsNeitherModelNorVocabulary) {
  const Result r = run("plan -d d.pddl -p p.pddl --guidance search");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(validate(r.out).code, 0);
  EXPECT_CONTAINS(r.err, "guarantee: full; goals met: 2 of 2; ");
}

TEST_F(PlanCli, WithoutGuidanceTheModelFailsAndIsToldSo) {
  const Result r = plan("--guidance none --max-tokens 30");
  EXPECT_EQ(r.code, 12);
  EXPECT_FALSE(r.out.empty());
  EXPECT_CONTAINS(r.err, "guidance none: ");
  EXPECT_CONTAINS(r.err, "the text is no plan: ");
  EXPECT_CONTAINS(r.err, "guarantee: none; goals met: 0 of 2");
  const Json json = Json::parse(plan("--guidance none --max-tokens 30 --output json", "hostile:2").out);
  EXPECT_EQ(json["valid"], false);
  EXPECT_EQ(json["guarantee"], "none");
  EXPECT_EQ(json["check"]["parsed"], false);
  EXPECT_EQ(json["horizon"], nullptr);
}

TEST_F(PlanCli, FormAloneIsNotEnough) {
  int invalid = 0;
  for (int seed = 0; seed < 6; ++seed) {
    const Result r = plan("--guidance syntax --output json", "random:" + std::to_string(seed));
    const Json json = Json::parse(r.out);
    EXPECT_EQ(json["guarantee"], "syntax only");
    EXPECT_EQ(json["check"]["parsed"], true);
    EXPECT_EQ(r.code, json["valid"].get<bool>() ? 0 : 12);
    if (!json["valid"].get<bool>()) {
      ++invalid;
      EXPECT_FALSE(json["check"]["problem"].get<std::string>().empty());
    }
  }
  EXPECT_GT(invalid, 2);
}

// --- infeasible tasks ----------------------------------------------------------------------------------------------

TEST_F(PlanCli, InfeasibleIsSaid) {
  const Result r = plan("", "random:1", "broken.pddl");
  EXPECT_EQ(r.code, 10);
  EXPECT_EQ(r.out, "");
  EXPECT_CONTAINS(r.err, "infeasible: ");
  EXPECT_CONTAINS(r.err, "(lit c)");
  const Result json = plan("--output json", "random:1", "broken.pddl");
  EXPECT_EQ(json.code, 10);
  EXPECT_EQ(Json::parse(json.out)["outcome"], "infeasible");
  EXPECT_EQ(Json::parse(json.out)["plan"], nullptr);
  EXPECT_EQ(run("plan -d d.pddl -p p.pddl --guidance search --horizon 1").code, 10);
  EXPECT_EQ(run("plan -d d.pddl -p broken.pddl --guidance search").code, 10);
}

TEST_F(PlanCli, GoalsAreDroppedOnlyOnRequestAndByName) {
  const Result r = plan("--on-infeasible drop-goals --output json", "hostile:1", "broken.pddl");
  EXPECT_EQ(r.code, 0) << r.err;
  const Json json = Json::parse(r.out);
  EXPECT_EQ(json["guarantee"], "goals dropped");
  EXPECT_EQ(json["goals"]["dropped"], Json({"(lit c)"}));
  EXPECT_EQ(json["goals"]["met"], Json({"(lit a)"}));
  EXPECT_EQ(json["check"]["steps_executed"], json["plan"].size());
  const Result text = plan("--on-infeasible drop-goals", "hostile:1", "broken.pddl");
  EXPECT_CONTAINS(text.err, "1 of 2 goals dropped: (lit c)");
}

TEST_F(PlanCli, SyntaxWhereNothingElseIsLeft) {
  const Result r = plan("--on-infeasible syntax --output json", "random:1", "broken.pddl");
  EXPECT_EQ(r.code, 12);
  const Json json = Json::parse(r.out);
  EXPECT_EQ(json["guarantee"], "syntax only");
  EXPECT_CONTAINS(json["reason"].get<std::string>(), "infeasible");
}

TEST_F(PlanCli, UndecidedWithinTheBudget) {
  write("d.pddl", counter_domain());
  write("p.pddl", kCounterProblem);
  const Result r = run("plan -d d.pddl -p p.pddl --guidance search --max-states 2");
  EXPECT_EQ(r.code, 11) << r.err;
  EXPECT_CONTAINS(r.err, "undecided: ");
}

// --- trace ---------------------------------------------------------------------------------------------------------

TEST_F(PlanCli, TheTraceHasEveryDecision) {
  for (const char* decode : {"greedy", "beam", "smc --samples 3"}) {
    const Result r = plan("--output json --trace t.jsonl --decode " + std::string(decode), "hostile:4");
    ASSERT_EQ(r.code, 0) << r.err;
    const Json result = Json::parse(r.out);
    std::vector<Json> events;
    std::istringstream lines(read("t.jsonl"));
    for (std::string line; std::getline(lines, line);) events.push_back(Json::parse(line));
    ASSERT_GE(events.size(), 4U);
    EXPECT_EQ(events.front()["event"], "start");
    EXPECT_EQ(events.back()["event"], "end");
    EXPECT_EQ(events.back()["guarantee"], "full");
    std::size_t steps = 0;
    std::size_t tokens = 0;
    bool fuse_is_safe = true;  // while a lamp is still dark
    std::string text;
    for (const Json& event : events) {
      if (event["event"] == "step") {
        ++steps;
        EXPECT_FALSE(event["candidates"].empty());
        bool chosen_is_allowed = false;
        for (const Json& candidate : event["candidates"]) {
          if (candidate["action"] == event["chosen"]) chosen_is_allowed = candidate["standing"] == "allowed";
          if (candidate["action"] == "(blow-fuse)" && !event["goal_holds"].get<bool>()) {
            fuse_is_safe = fuse_is_safe && candidate["standing"] == "dead end";
          } else if (candidate["standing"] == "allowed") {
            EXPECT_TRUE(candidate["log_weight"].is_number());
          }
        }
        EXPECT_TRUE(chosen_is_allowed) << event;
        EXPECT_TRUE(event["wanted"].is_object());
        EXPECT_EQ(event["wanted"]["allowed"].get<bool>(), event["wanted"]["why_not"] == "");
      }
      if (event["event"] == "token") {
        ++tokens;
        text += event["text"];
        EXPECT_EQ(event["forced"].get<bool>(), event["choices"] == 1);
      }
    }
    EXPECT_TRUE(fuse_is_safe);
    EXPECT_EQ(steps, result["plan"].size());
    EXPECT_EQ(tokens, result["tokens"].get<std::size_t>());
    EXPECT_EQ(text.substr(0, result["text"].get<std::string>().size()), result["text"].get<std::string>());
  }
}

TEST_F(PlanCli, ATraceOfFreeText) {
  EXPECT_EQ(plan("--guidance none --max-tokens 10 --trace t.jsonl").code, 12);
  const std::string trace = read("t.jsonl");
  EXPECT_CONTAINS(trace, "\"event\":\"token\"");
  EXPECT_EQ(run("plan -d d.pddl -p p.pddl --guidance search --trace t.jsonl").code, 0);
  EXPECT_CONTAINS(read("t.jsonl"), "\"standing\":\"dead end\"");
  EXPECT_EQ(plan("--trace no/such/folder/t.jsonl").code, 31);
}

// --- explain -------------------------------------------------------------------------------------------------------

TEST_F(PlanCli, ExplainGivesReasons) {
  const std::string task = " -d d.pddl -p p.pddl --horizon 3 --vocab '" + vocabulary() + "' ";
  const Result r = run("explain --model random:2" + task);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_CONTAINS(r.out, "step 1, 3 actions left");
  EXPECT_CONTAINS(r.out, "  allowed   (press ");
  EXPECT_CONTAINS(r.out, "precondition (lit a) is false");
  EXPECT_CONTAINS(r.out, "(blow-fuse)");
  EXPECT_CONTAINS(r.out, "legal, but a dead end");
  EXPECT_CONTAINS(r.out, "  wanted    ");
  EXPECT_CONTAINS(r.out, "full: every step is legal");
  const Result json = run("explain --model random:2 --output json" + task);
  EXPECT_EQ(json.code, 0);
  EXPECT_EQ(Json::parse(json.out).front()["event"], "start");
  EXPECT_EQ(run("explain --model random:2 --output pddl" + task).code, 30);
  const Result syntax = run("explain --guidance syntax --model random:1" + task);
  EXPECT_CONTAINS(syntax.out, "syntax only: ");
  const Result search = run("explain --guidance search -d d.pddl -p p.pddl");
  EXPECT_EQ(search.code, 0) << search.err;
  EXPECT_CONTAINS(search.out, "chosen    (press ");
  const Result none = run("explain --guidance none --max-tokens 10 --model random:1" + task);
  EXPECT_EQ(none.code, 12) << none.err;
  EXPECT_CONTAINS(none.out, "the model wrote:");
}

TEST_F(PlanCli, ExplainGroupsWhatIsTooMuch) {
  std::string objects;
  for (int i = 0; i < 20; ++i) objects += " l" + std::to_string(i);
  write("p.pddl",
        "(define (problem many) (:domain lamps) (:objects" + objects + " - lamp) (:init (power)) (:goal (lit l3)))");
  const Result some = run("explain --guidance search -d d.pddl -p p.pddl");
  EXPECT_EQ(some.code, 0) << some.err;
  EXPECT_CONTAINS(some.out, "release, 20 times, such as (release l0): precondition (lit l0) is false");
  EXPECT_CONTAINS(some.out, "more (--all shows them)");
  const Result all = run("explain --all --guidance search -d d.pddl -p p.pddl");
  EXPECT_CONTAINS(all.out, "(release l19): precondition (lit l19) is false");
  EXPECT_EQ(all.out.find("--all shows"), std::string::npos);
}

TEST_F(PlanCli, ExplainAnInfeasibleTask) {
  const Result r = run("explain --guidance search -d d.pddl -p broken.pddl");
  EXPECT_EQ(r.code, 10);
  EXPECT_CONTAINS(r.out, "no plan: infeasible: ");
  EXPECT_CONTAINS(r.out, "(lit c)");
}

// --- models --------------------------------------------------------------------------------------------------------

TEST_F(PlanCli, ModelsAreListed) {
  std::filesystem::create_directories(folder() / "cache" / "models");
  std::filesystem::copy_file(vocabulary(), folder() / "cache" / "models" / "words.gguf");
  const Result r = run("models");
  EXPECT_EQ(r.code, 0) << r.err;
  for (const char* part : {"Built in:", "words", "random:SEED", "hostile:SEED", "llama.cpp"})
    EXPECT_CONTAINS(r.out, part);
  const Json json = Json::parse(run("models --output json").out);
  EXPECT_TRUE(std::any_of(json["models"].begin(), json["models"].end(),
                          [](const Json& model) { return model["name"] == "words"; }));
  EXPECT_EQ(json["default"], "pocket");
  EXPECT_FALSE(json["runtime"].is_null());
  // By its name, as a vocabulary.
  EXPECT_EQ(run("plan -d d.pddl -p p.pddl --model random:1 --vocab words").code, 0);
}

// --- bad input -----------------------------------------------------------------------------------------------------

TEST_F(PlanCli, BadOptionsListTheGoodOnes) {
  const auto expect = [&](const std::string& arguments, int code, const std::string& message) {
    const Result r = plan(arguments);
    EXPECT_EQ(r.code, code) << arguments << r.err;
    EXPECT_EQ(r.out, "") << arguments;
    EXPECT_CONTAINS(r.err, message);
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  };
  expect("--guidance unifrom", 30, "none, syntax, mask, uniform, trained, search (did you mean 'uniform'?)");
  expect("--decode fast", 30, "'fast' is none of greedy, sample, beam, smc");
  expect("--bridge x", 30, "uniform, surrogate, model, hmm");
  expect("--output xml", 30, "text, json, pddl");
  expect("--on-infeasible cry", 30, "error, drop-goals, syntax");
  expect("--temperature nan", 30, "'nan' is not a number from 0");
  expect("--temperature -1", 30, "'-1' is not a number from 0");
  expect("--temperature inf", 30, "not a number");
  expect("--top-p 0", 30, "not a number");
  expect("--top-p 2", 30, "not a number");
  expect("--top-k -1", 30, "--top-k");
  expect("--min-p 2", 30, "not a number");
  expect("--beam 0", 30, "not a number");
  expect("--samples 0", 30, "not a number");
  expect("--samples many", 30, "not a number");
  expect("--seed -3", 30, "--seed");
  expect("--prompt-file x --raw-prompt-file y", 30, "cannot be combined");
  expect("--prompt-file d.pddl --instruction x", 30, "--instruction");
  expect("--guidence mask", 30, "did you mean '--guidance'?");
  expect("--guidance trained", 30, "needs a hidden Markov model of plans");
  expect("--hmm plans.hmm", 30, "--hmm is for --guidance trained");
  expect("--guidance trained --hmm none.hmm", 31, "none.hmm: error: cannot be opened");
  expect("--lookahead-device gpu", 30, "'gpu' is none of cpu, cuda");
  // Where there is a GPU, and a build that can use it, it is no error.
  if (plan("--lookahead-device cuda").code != 0) expect("--lookahead-device cuda", 31, "use the CPU");
  expect("--bridge hmm", 30, "needs a hidden Markov model of tokens");
  expect("--token-hmm tokens.hmm", 30, "--token-hmm is for --bridge hmm and for --guidance syntax");
  expect("--bridge surrogate --token-hmm tokens.hmm", 30, "--token-hmm is for --bridge hmm");
  expect("--guidance none --bridge surrogate", 30, "--bridge surrogate has nothing to weigh with --guidance none");
  expect("--guidance mask --bridge model", 30, "use uniform or trained");
  expect("--guidance none --token-hmm tokens.hmm", 30, "nothing to weigh with --guidance none");
  expect("--guidance search --bridge hmm --token-hmm tokens.hmm", 30, "nothing to weigh with --guidance search");
  expect("--guidance syntax --token-hmm tokens.hmm --tokens any", 30, "--tokens canonical");
  expect("--bridge hmm --token-hmm none.hmm", 31, "none.hmm: error: cannot be opened");
  expect("--format nope", 31, "there is no plan format 'nope'");
  expect("--format no.format", 31, "no.format");
  expect("--prompt-file no.txt", 31, "no.txt");
  expect("--guidance none --decode smc", 31, "greedy or sample");
}

TEST_F(PlanCli, BadModels) {
  const auto expect = [&](const std::string& arguments, int code, const std::string& message) {
    const Result r = run("plan -d d.pddl -p p.pddl " + arguments);
    EXPECT_EQ(r.code, code) << arguments << r.err;
    EXPECT_CONTAINS(r.err, message);
  };
  write("garbage.gguf", "this is not a model");
  write("truncated.gguf", read(vocabulary()).substr(0, 4000));
  expect("--model no.gguf", 31, "this model file does not exist");
  expect("--model garbage.gguf", 31, "garbage.gguf");
  expect("--model truncated.gguf", 31, "truncated.gguf");
  expect("--model nobody", 31, "there is no such model");
  expect("--model random", 31, "write random:1");
  expect("--model hostile:x", 31, "write hostile:1");
  expect("--model random:1 --vocab no.gguf", 31, "does not exist");
  expect("--model d.pddl --vocab '" + vocabulary() + "'", 30, "--vocab is for the test models");
  expect("--model .", 31, "");
}

TEST_F(PlanCli, PromptsOfOnesOwn) {
  write("prompt.txt", "Light the lamps.\n");
  EXPECT_EQ(plan("--prompt-file prompt.txt").code, 0);
  const Json raw = Json::parse(plan("--raw-prompt-file prompt.txt --output json").out);
  const Json own = Json::parse(plan("--output json").out);
  EXPECT_LT(raw["prompt_tokens"].get<int>(), own["prompt_tokens"].get<int>());
  write("empty.txt", "");
  EXPECT_EQ(plan("--raw-prompt-file empty.txt").code, 31);
}

// A model that never stops is stopped in the middle. Nobody outside sees when it begins, so it is given more and more time.
TEST_F(PlanCli, InterruptedWhileItDecodes) {
  const std::string command =
      "plan -d d.pddl -p p.pddl --model random:1 --vocab '" + vocabulary() + "' --guidance none --max-tokens 1000000";
  for (useconds_t microseconds = 100'000; microseconds < 100'000'000; microseconds *= 2) {
    const std::optional<int> code = interrupted_after(microseconds, command);
    ASSERT_FALSE(HasFailure());
    if (!code) continue;
    EXPECT_EQ(*code, 130) << read("err");
    EXPECT_CONTAINS(read("err"), "stopped");
    return;
  }
  FAIL() << "it does not begin to decode";
}

// --- the documentation ---------------------------------------------------------------------------------------------

// Every option of a command's --help is on its page in docs/cli.md, and the other way round.
TEST_F(PlanCli, TheDocumentedOptionsAreTheOptions) {
  const auto options_in = [](const std::string& text) {
    std::set<std::string> options;
    for (std::size_t i = text.find("--"); i != std::string::npos; i = text.find("--", i + 2)) {
      if (i > 0 && (std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0 || text[i - 1] == '-')) continue;
      std::size_t end = i + 2;
      while (end < text.size() && (std::islower(static_cast<unsigned char>(text[end])) != 0 || text[end] == '-')) ++end;
      if (end > i + 3) options.insert(text.substr(i, end - i));
    }
    return options;
  };
  const std::string page = read(testing::source_dir() / "docs/cli.md");
  const auto section = [&](const std::string& command) {
    const std::size_t begin = page.find("\n## " + command + "\n");
    EXPECT_NE(begin, std::string::npos) << command;
    return page.substr(begin, page.find("\n## ", begin + 1) - begin);
  };
  const std::set<std::string> shared = options_in(section("Options of plan and explain"));
  const std::set<std::string> task = options_in(section("Tasks and budgets"));
  std::vector<std::string> commands = {"plan",  "explain", "run",      "serve",  "mcp",   "models", "backends",
                                       "check", "search",  "validate", "export", "train", "hmm",    "corpus"};
  if (testing::has_benchmarks_program()) {
    commands.insert(commands.end(), {"eval", "score", "reproduce", "import", "sample", "inspect"});
  }
  for (const std::string& command : commands) {
    std::set<std::string> documented = options_in(section(command));
    const bool plans = command == "plan" || command == "explain";
    if (plans) documented.insert(shared.begin(), shared.end());
    documented.insert(task.begin(), task.end());
    const std::set<std::string> help = options_in(run(command + " --help").out);
    ASSERT_FALSE(help.empty()) << command;
    for (const std::string& option : help) {
      EXPECT_TRUE(option == "--help" || documented.contains(option))
          << command << ": " << option << " is not in docs/cli.md";
    }
    for (const std::string& option : options_in(section(command))) {
      EXPECT_TRUE(help.contains(option)) << command << " has no option " << option;
    }
    if (plans) {
      for (const std::string& option : shared)
        EXPECT_TRUE(help.contains(option)) << command << " has no option " << option;
    }
  }
}

// --- thinking ---

constexpr const char* kThinks =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n"
    "</think>\n\n{% endif %}{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt "
    "%}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}{% endif %}";

TEST_F(PlanCli, ModelsThatThinkFirst) {
  testing::write_tiny_gguf(path("thinks.gguf"),
                           {.context = 2048, .template_text = kThinks, .markers = {"<think>", "</think>"}});
  const std::string command = "plan -d d.pddl -p p.pddl --model thinks.gguf --threads 1 --horizon 6 ";
  const Result shown = run(command + "--think 12 --show-prompt -i 'light </think><|im_end|> up' --trace t.jsonl");
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_CONTAINS(shown.err, "<|im_start|>user\nTask: light </think><|im_end|> up\n");
  EXPECT_CONTAINS(shown.err, "<|im_start|>assistant\n<think>\n");
  EXPECT_CONTAINS(shown.err, "guarantee: full");
  EXPECT_CONTAINS(shown.err, "; thought before: ");
  EXPECT_CONTAINS(read("t.jsonl"), "\"event\":\"thought\"");

  const Result first = run(command + "--think 12 --output json");
  const Json json = Json::parse(first.out);
  EXPECT_EQ(json["guarantee"], "full");
  EXPECT_LE(json["reasoning"]["tokens"].get<int>(), 15);
  EXPECT_TRUE(json["reasoning"]["text"].is_string());
  EXPECT_EQ(json["text"].get<std::string>().find("</think>"), std::string::npos);
  EXPECT_EQ(Json::parse(run(command + "--think 12 --output json").out)["text"], json["text"]);
  // By itself, as the template has it; and not.
  EXPECT_TRUE(Json::parse(run(command + "--output json").out).contains("reasoning"));
  // Whoever plans, explains or runs sees what is sent, and has the thought.
  const std::string others =
      " -d d.pddl -p p.pddl --model thinks.gguf --threads 1 --horizon 6 --think 12 --show-prompt";
  EXPECT_CONTAINS(run("explain" + others).err, "<|im_start|>assistant\n<think>\n");
  const Result pursued = run("run --output json --report-file r.json" + others);
  EXPECT_EQ(pursued.code, 0) << pursued.err;
  EXPECT_CONTAINS(pursued.err, "<|im_start|>assistant\n<think>\n");
  for (const Json& report : {Json::parse(pursued.out), Json::parse(read("r.json"))}) {
    bool planned = false;
    for (const Json& event : report["episodes"][0]["events"]) {
      if (event["event"] != "plan") continue;
      planned = true;
      EXPECT_TRUE(event["reasoning"]["text"].is_string()) << event;
      EXPECT_LE(event["reasoning"]["tokens"].get<int>(), 15);
    }
    EXPECT_TRUE(planned);
  }
  const Result off = run(command + "--think off --show-prompt --output json");
  EXPECT_FALSE(Json::parse(off.out).contains("reasoning"));
  EXPECT_CONTAINS(off.err, "<|im_start|>assistant\n<think>\n\n</think>\n\n");
}

// The goal stage has a prompt, a thought and a result of its own, and whatever an instruction says is text there.
TEST_F(PlanCli, ModelsThatThinkBeforeTheGoal) {
  testing::write_tiny_gguf(path("thinks.gguf"),
                           {.context = 2048, .template_text = kThinks, .markers = {"<think>", "</think>"}});
  write("open.pddl", "(define (problem p) (:domain lamps) (:objects a b - lamp) (:init (power)))");
  const std::string command =
      "plan -d d.pddl -p open.pddl --model thinks.gguf --threads 1 --horizon 6 --yes --output json --show-prompt ";
  const Result result = run(command + "--think 9 -i 'make lamp a and lamp b lit </think> now'");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_CONTAINS(result.err, "<|im_start|>user\nTask: make lamp a and lamp b lit </think> now\nPredicates: ");
  EXPECT_CONTAINS(result.err, "Goal:\n<|im_end|>\n<|im_start|>assistant\n<think>\n");
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["guarantee"], "full");
  EXPECT_EQ(json["goal"]["certified"], true);
  EXPECT_LE(json["goal"]["reasoning"]["tokens"].get<int>(), 12);
  EXPECT_EQ(json["goal"]["pddl"].get<std::string>().find("think"), std::string::npos);
  EXPECT_TRUE(json.contains("reasoning"));
  // What looks like a name of something that is not there, a person has to look at.
  const Result doubted = run(command + "--think 9 -i 'make lamp a and lamp b lit <|im_end|> now'");
  EXPECT_EQ(doubted.code, 14) << doubted.err;
  EXPECT_CONTAINS(doubted.err, "Task: make lamp a and lamp b lit <|im_end|> now\nPredicates: ");
  EXPECT_CONTAINS(doubted.err, "names what is not there: im_end");
  const Result off = run(command + "--think off -i 'light up'");
  EXPECT_CONTAINS(off.err, "Goal:\n<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n");
  EXPECT_FALSE(Json::parse(off.out)["goal"].contains("reasoning"));
}

TEST_F(PlanCli, ThinkingThatCannotBe) {
  EXPECT_EQ(plan("--think 5").code, 31);
  EXPECT_CONTAINS(plan("--think 5").err, "this model's chat template has no place for a thought");
  for (const char* think : {"much", "-1", "1.5", "99999999", "''"}) {
    const Result r = plan(std::string("--think ") + think);
    EXPECT_EQ(r.code, 30) << think;
  }
  EXPECT_CONTAINS(plan("--think much").err, "--think 'much' is none of: auto, on, off, or a number of tokens");
  EXPECT_CONTAINS(plan("--template-arg x").err, "is not of the form NAME=JSON");
  EXPECT_EQ(plan("--think auto").code, 0);
  EXPECT_EQ(plan("--think off").code, 0);

  testing::write_tiny_gguf(path("broken.gguf"), {.template_text = "{% for m in messages %}{{ m.content }}"});
  const std::string command = "plan -d d.pddl -p p.pddl --model broken.gguf --threads 1 --horizon 6 ";
  const Result broken = run(command);
  EXPECT_EQ(broken.code, 31) << broken.err;
  EXPECT_CONTAINS(broken.err, "its chat template cannot be used: line 1: {% endfor %} is missing");
  write("raw.txt", "Plan:\n");
  EXPECT_EQ(run(command + "--raw-prompt-file raw.txt").code, 0);
}

}  // namespace
}  // namespace metactrl::plan_test
