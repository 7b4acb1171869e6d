// Runs the program and looks at what it prints and how it ends.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/lamps.h"
#include "support/test_data.h"

namespace metactrl::cli_test {
namespace {

using Json = nlohmann::json;
using Result = testing::CommandResult;

class Cli : public testing::LampsTest {};

// --- usage -----------------------------------------------------------------------------------------------------------

TEST_F(Cli, HelpLeadsToAFirstPlan) {
  const Result r = run("--help");
  EXPECT_EQ(r.code, 0);
  EXPECT_CONTAINS(r.out,
                  "metactrl search --domain domains/tabletop/domain.pddl --problem domains/tabletop/dishwasher.pddl");
  for (const char* command : {"check", "search", "validate", "inspect", "export"}) {
    EXPECT_CONTAINS(r.out, command);
    const Result help = run(std::string(command) + " --help");
    EXPECT_EQ(help.code, 0);
    EXPECT_CONTAINS(help.out, "metactrl " + std::string(command));
    EXPECT_CONTAINS(help.out, "--domain");
  }
  EXPECT_TRUE(r.err.empty()) << r.err;
}

TEST_F(Cli, TheExampleInTheHelpWorks) {
  const std::string tabletop = (testing::source_dir() / "domains/tabletop").string();
  const Result r = run("search --domain '" + tabletop + "/domain.pddl' --problem '" + tabletop + "/dishwasher.pddl'");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out.substr(0, 1), "(");
}

// Every command's help shows how it is used.
TEST_F(Cli, HelpsHaveExamples) {
  const Result all = run("--help");
  std::vector<std::string> commands = {"plan",    "explain", "check",  "search", "validate",
                                       "inspect", "export",  "sample", "corpus"};
  if (testing::has_benchmarks_program()) commands.insert(commands.end(), {"eval", "score", "reproduce", "import"});
  for (const std::string& command : commands) {
    EXPECT_CONTAINS(all.out, "\n  " + command + " ");
    const std::string help = run(command + " --help").out;
    const std::size_t options = help.find("\nOptions:");
    EXPECT_NE(help.find("metactrl " + command + " ", options), std::string::npos) << help;
    // What is named there exists.
    for (std::size_t at = help.find("'metactrl "); at != std::string::npos; at = help.find("'metactrl ", at + 1)) {
      const std::size_t begin = at + 10;
      const std::string other = help.substr(begin, help.find_first_of(" '", begin) - begin);
      if (other.starts_with("--") || other == "COMMAND") continue;
      EXPECT_EQ(run(other + " --help").code, 0) << command << " names " << other;
    }
  }
}

// --- the program of the benchmarks

// A copy of metactrl, alone in a folder bin/: as installed without the benchmarks.
class BenchmarksProgram : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    std::filesystem::create_directories(folder() / "bin");
    std::filesystem::copy_file(testing::program(), folder() / "bin/metactrl");
  }
  // What is called metactrl-benchmarks says how it was called, and ends with 7.
  void install(const std::string& place) const {
    std::filesystem::create_directories((folder() / place).parent_path());
    write(place, "#!/bin/sh\nfor a in \"$@\"; do echo \"<$a>\"; done\ncat\nexit 7\n");
    std::filesystem::permissions(folder() / place, std::filesystem::perms::owner_all);
  }
  Result run_installed(const std::string& arguments, const std::string& before = "") const {
    const std::string command = "cd '" + folder().string() + "' && " + before + " bin/metactrl " + arguments;
    const int status = std::system(("( " + command + " ) >'" + path("out") + "' 2>'" + path("err") + "'").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out"), read("err")};
  }
};

TEST_F(BenchmarksProgram, WithoutItMetactrlSaysHowToGetIt) {
  for (const char* arguments : {"eval vh-as --prompts p.json --out x", "score", "reproduce --help", "import eai",
                                "sample --module=vh-as --prompts p.json --count 1 --out x"}) {
    const Result r = run_installed(arguments);
    EXPECT_EQ(r.code, 30) << arguments;
    EXPECT_EQ(r.out, "");
    EXPECT_CONTAINS(r.err, "needs the program metactrl-benchmarks, which is not installed");
    EXPECT_CONTAINS(r.err, "scripts/build -DMETACTRL_EVALUATION=ON");
    EXPECT_CONTAINS(r.err, "Debian package metactrl-benchmarks");
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  }
  EXPECT_CONTAINS(run_installed("sample --module vh-as").err, "'sample --module' needs");
  // The first process says it for all that mpirun started.
  const Result second = run_installed("eval vh-as", "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1");
  EXPECT_EQ(second.code, 0);
  EXPECT_EQ(second.err, "");

  const Result help = run_installed("--help");
  EXPECT_CONTAINS(help.out, "\nBenchmarks (not installed; ");
  for (const char* command : {"eval", "score", "reproduce", "import", "plan", "sample"}) {
    EXPECT_CONTAINS(help.out, "\n  " + std::string(command) + " ");
  }
  EXPECT_CONTAINS(run_installed("evla").err, "did you mean 'eval'?");
  const Result sample = run_installed("sample --help");
  EXPECT_EQ(sample.code, 0);
  EXPECT_CONTAINS(sample.out, "comes with the program metactrl-benchmarks");
  EXPECT_EQ(sample.out.find("--scenes"), std::string::npos);
  EXPECT_EQ(run_installed("search -d d.pddl -p p.pddl").code, 0);
}

TEST_F(BenchmarksProgram, MetactrlBecomesItWhereverItIs) {
  for (const char* place : {"bin/metactrl-benchmarks", "libexec/metactrl/metactrl-benchmarks"}) {
    install(place);
    const Result r = run_installed("eval 'a b' '' --x", "echo input |");
    EXPECT_EQ(r.code, 7) << place << r.err;
    EXPECT_EQ(r.out, "<eval>\n<a b>\n<>\n<--x>\ninput\n") << place;
    EXPECT_EQ(r.err, "");
    EXPECT_EQ(run_installed("sample --help </dev/null").code, 7) << place;
    EXPECT_EQ(run_installed("sample --count 1 --module vh-as </dev/null").code, 7) << place;
    EXPECT_EQ(run_installed("sample -d d.pddl --count 1 --out x </dev/null").code, 30) << "metactrl can do that itself";
    EXPECT_CONTAINS(run_installed("--help").out, "\nBenchmarks:\n");
    std::filesystem::remove(folder() / place);
  }
  install("bin/metactrl-benchmarks");
  write("bin/metactrl-benchmarks", "#!/no/such/shell\n");
  const Result broken = run_installed("score");
  EXPECT_EQ(broken.code, 30);
  EXPECT_CONTAINS(broken.err, "/bin/metactrl-benchmarks cannot be started: No such file");
}

TEST_F(Cli, Version) {
  const Result r = run("--version");
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.out.substr(0, 9), "metactrl ");
  EXPECT_EQ(r.out.back(), '\n');
}

TEST_F(Cli, WrongUsageIsOneLineWithAHint) {
  const auto expect_usage = [&](const std::string& arguments, const std::string& message) {
    const Result r = run(arguments);
    EXPECT_EQ(r.code, 30) << arguments;
    EXPECT_TRUE(r.out.empty()) << r.out;
    EXPECT_CONTAINS(r.err, message);
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  };
  expect_usage("serch -d d.pddl", "unknown command 'serch' (did you mean 'search'?)");
  expect_usage("search --domian d.pddl", "unknown option '--domian' (did you mean '--domain'?)");
  expect_usage("search", "name --domain FILE and --problem FILE, or --sas FILE");
  expect_usage("search --domain d.pddl", "--problem FILE is missing");
  expect_usage("check --problem p.pddl", "--domain FILE is missing");
  expect_usage("check --problem p.pddl --sas x", "--sas cannot be combined");
  expect_usage("validate -d d.pddl -p p.pddl", "PLAN");
  expect_usage("validate -d d.pddl -p p.pddl one two", "unexpected argument 'two'");
  expect_usage("search -d d.pddl -p p.pddl --max-memory lots", "'lots' is not a size; write it like 512M or 2G");
  expect_usage("search -d d.pddl -p p.pddl --max-states 0", "'0' is not a number from 1");
  expect_usage("search -d d.pddl -p p.pddl --horizon -3", "--horizon");
  expect_usage("search -d d.pddl -p p.pddl --time-limit soon", "--time-limit");
  expect_usage("search --domain", "--domain");
}

TEST_F(Cli, HelpOfACommandIsACommand) {
  EXPECT_EQ(run("help").out, run("--help").out);
  for (const std::string command : {"plan", "search", "sample"}) {
    const Result r = run("help " + command);
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(r.out, run(command + " --help").out);
  }
  if (testing::has_benchmarks_program()) {
    EXPECT_EQ(run("help eval").out, run("eval --help").out);
  }
  const Result unknown = run("help serch");
  EXPECT_EQ(unknown.code, 30);
  EXPECT_CONTAINS(unknown.err, "unknown command 'serch' (did you mean 'search'?)");
  EXPECT_CONTAINS(run("hepl").err, "did you mean 'help'?");
}

// --- output ----------------------------------------------------------------------------------------------------------

TEST_F(Cli, OutIsWhereTheResultGoes) {
  write("plan", "(press a)\n(press b)\n");
  for (const std::string command : {"check", "search", "validate plan", "inspect"}) {
    for (const std::string form : {"text", "json"}) {
      const std::string arguments = command + " -d d.pddl -p p.pddl --output " + form;
      const Result printed = run(arguments);
      const Result written = run(arguments + " -o result");
      EXPECT_EQ(written.code, 0) << written.err;
      EXPECT_EQ(written.out, "") << arguments;
      // Times differ.
      if (form == "json") {
        EXPECT_EQ(Json::parse(read("result")).size(), Json::parse(printed.out).size()) << arguments;
      } else if (command != "inspect") {
        EXPECT_EQ(read("result"), printed.out) << arguments;
      }
    }
  }
  EXPECT_EQ(run("search -d d.pddl -p p.pddl --output pddl").out, run("search -d d.pddl -p p.pddl").out);
  EXPECT_CONTAINS(run("check -d d.pddl -p p.pddl --output pddl").err, "'pddl' is none of text, json");
  const Result lost = run("check -d d.pddl -p p.pddl --out no/such/folder");
  EXPECT_EQ(lost.code, 31);
  EXPECT_CONTAINS(lost.err, "no/such/folder");
}

TEST_F(Cli, OldSpellingsAreUnderstoodWithAWarning) {
  const Result old = run("check -d d.pddl -p p.pddl --json");
  EXPECT_EQ(old.code, 0);
  EXPECT_EQ(old.out, run("check -d d.pddl -p p.pddl --output json").out);
  EXPECT_EQ(old.err,
            "metactrl: warning: 'check --json' is now 'check --output json'; the old spelling goes with the next "
            "release\n");
  const std::string plan = "plan -d d.pddl -p p.pddl -g search ";
  for (const char* form : {"-o pddl", "-opddl", "-o=pddl"}) {
    const Result r = run(plan + form);
    EXPECT_EQ(r.out, "(press a)\n(press b)\n; cost = 2, guarantee: full\n") << r.err;
    EXPECT_CONTAINS(r.err, "warning: 'plan -o pddl' is now 'plan --output pddl'");
  }
  const Result file = run(plan + "-o ./json");
  EXPECT_EQ(file.err.find("warning"), std::string::npos) << file.err;
  EXPECT_EQ(read("json"), run(plan).out);
  EXPECT_CONTAINS(run("run -d d.pddl -p p.pddl -g search --report=r.json").err,
                  "'run --report' is now 'run --report-file'");
  EXPECT_CONTAINS(read("r.json"), "\"episodes\"");
  EXPECT_EQ(run("check --help").out.find("--json"), std::string::npos);
}

TEST_F(Cli, NoArgumentsShowTheHelp) {
  const Result r = run("");
  EXPECT_EQ(r.code, 30);
  EXPECT_CONTAINS(r.err, "metactrl search");
  EXPECT_TRUE(r.out.empty());
}

// --- bad input -------------------------------------------------------------------------------------------------------

TEST_F(Cli, FilesThatCannotBeRead) {
  write("empty.pddl", "");
  write("garbage.pddl", std::string("\x00\xff\x01(((\x80 garbage", 15));
  for (const char* command : {"check", "search", "inspect", "validate"}) {
    const std::string plan = std::string(command) == "validate" ? " x.plan" : "";
    for (const char* file : {"missing.pddl", ".", "empty.pddl", "garbage.pddl", "/dev/null"}) {
      for (const auto& files : {std::string("-d ") + file + " -p p.pddl", std::string("-d d.pddl -p ") + file,
                                std::string("--sas ") + file}) {
        const Result r = run(std::string(command) + " " + files + plan);
        EXPECT_EQ(r.code, 31) << command << ' ' << files << r.err;
        EXPECT_CONTAINS(r.err, file);
        EXPECT_CONTAINS(r.err, "error");
        EXPECT_TRUE(r.out.empty()) << r.out;
      }
    }
  }
  EXPECT_CONTAINS(run("check -d missing.pddl -p p.pddl").err,
                  "missing.pddl: error: cannot be opened: No such file or directory");
  EXPECT_CONTAINS(run("check -d . -p p.pddl").err, ".: error: is a folder; name a file in it");
}

// Whatever is in a file, or is no file: few lines, none longer than a screen is wide by far, and no bytes that a
// terminal would take for commands.
TEST_F(Cli, OddFilesGetAClearMessage) {
  constexpr std::size_t kSize = 10'000'000;
  std::string noise(kSize, '\0');
  std::uint64_t state = 1;
  for (char& c : noise) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    c = static_cast<char>(state >> 56);
  }
  write("noise", noise);
  write("zeros", std::string(kSize, '\0'));
  write("empty", "");
  write("plan", "(press a)\n(press b)\n");
  std::string words;
  while (words.size() < kSize) words += "once upon a time\n";
  write("words", words);
  for (const char* file : {"noise", "zeros", "words", "empty", "missing", "."}) {
    for (const char* command :
         {"check -d F -p p.pddl", "check -d d.pddl -p F", "check --sas F", "search -d F -p p.pddl",
          "inspect -d d.pddl -p F", "validate -d d.pddl -p p.pddl F", "validate -d F -p p.pddl plan",
          "export bt -d d.pddl -p p.pddl F", "export task --sas F"}) {
      std::string arguments = command;
      arguments.replace(arguments.find(" F") + 1, 1, file);
      // An empty plan is a plan, which does not reach the goal.
      const bool empty_plan = std::string(file) == "empty" && arguments.find("p.pddl empty") != std::string::npos;
      const Result r = run(arguments);
      EXPECT_EQ(r.code, empty_plan ? 12 : 31) << arguments;
      EXPECT_LE(std::count(r.err.begin(), r.err.end(), '\n'), 12) << arguments << '\n' << r.err;
      EXPECT_LE(r.err.size(), 3000U) << arguments;
      EXPECT_TRUE(std::all_of(r.err.begin(), r.err.end(), [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7f); }))
          << arguments;
      EXPECT_EQ(r.err.find("internal"), std::string::npos) << r.err;
    }
  }
}

TEST_F(Cli, AFullDiskIsSaid) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  write("plan", "(press a)\n(press b)\n");
  for (const char* arguments :
       {"check -d d.pddl -p p.pddl", "search -d d.pddl -p p.pddl", "search -d d.pddl -p p.pddl --output json",
        "inspect -d d.pddl -p p.pddl", "validate -d d.pddl -p p.pddl plan", "export bt -d d.pddl -p p.pddl plan",
        "export task -d d.pddl -p p.pddl", "--help", "--version", "models"}) {
    const Result r = run(std::string(arguments) + " >/dev/full");
    EXPECT_EQ(r.code, 31) << arguments;
    EXPECT_CONTAINS(r.err, "standard output: error: cannot be written");
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  }
  for (const char* arguments :
       {"search -d d.pddl -p p.pddl --out /dev/full", "export json -d d.pddl -p p.pddl plan --out /dev/full"}) {
    const Result r = run(arguments);
    EXPECT_EQ(r.code, 31) << arguments;
    EXPECT_CONTAINS(r.err, "/dev/full: error: cannot be written: No space left on device");
  }
}

TEST_F(Cli, MistakesArePrintedWithTheirPlace) {
  write("bad.pddl", "(define (problem x) (:domain lamps)\n (:objects a - lmap)\n (:init (lit z))\n (:goal (lit a)))");
  const Result r = run("search -d d.pddl -p bad.pddl");
  EXPECT_EQ(r.code, 31);
  EXPECT_CONTAINS(r.err, "bad.pddl:2:");
  EXPECT_CONTAINS(r.err, "bad.pddl:3:");
  EXPECT_CONTAINS(r.err, "lmap");
}

// --- check -----------------------------------------------------------------------------------------------------------

TEST_F(Cli, CheckSummarises) {
  const Result r = run("check -d d.pddl -p p.pddl");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, "ok: 2 types, 3 objects, 2 predicates, 2 actions, 6 ground actions; 0 warnings\n");
  const Json json = Json::parse(run("check -d d.pddl -p p.pddl --output json").out);
  EXPECT_EQ(json["errors"], 0);
  EXPECT_EQ(json["ground_actions"], 6);
}

TEST_F(Cli, CheckReportsEverything) {
  write("bad.pddl", "(define (problem x) (:domain lamps)\n (:objects a - lmap)\n (:init (lit z))\n (:goal (lit a)))");
  const Result r = run("check -d d.pddl -p bad.pddl --output json");
  EXPECT_EQ(r.code, 31);
  const Json json = Json::parse(r.out);
  ASSERT_GE(json["errors"].get<int>(), 2);
  EXPECT_EQ(json["diagnostics"][0]["severity"], "error");
  EXPECT_EQ(json["diagnostics"][0]["file"], "bad.pddl");
  EXPECT_EQ(json["diagnostics"][0]["line"], 2);
}

TEST_F(Cli, CheckSaysWhatCanNeverHappen) {
  write("ward.pddl",
        "(define (domain ward) (:requirements :strips :typing) (:types item sink robot)\n"
        " (:predicates (clean ?i - item) (badge ?r - robot) (in ?i - item))\n"
        " (:action wash :parameters (?i - item ?s - sink) :effect (clean ?i))\n"
        " (:action enter :parameters (?r - robot) :precondition (badge ?r) :effect (badge ?r))\n"
        " (:action take :parameters (?i - item) :precondition (badge ?i) :effect (in ?i)))\n");
  write("empty.pddl", "(define (problem x) (:domain ward) (:objects r - robot) (:init) (:goal (and)))\n");
  const Result r = run("check -d ward.pddl -p empty.pddl");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_CONTAINS(r.err, "note: no object is of type 'sink'\n");
  EXPECT_CONTAINS(r.err, "note: no object is of type 'item', so these actions can never be taken: wash, take\n");
  EXPECT_CONTAINS(r.err, "note: action 'enter' can never be taken");
  EXPECT_CONTAINS(r.err, "warning: no action can ever be taken: the task has no ground action");
  EXPECT_CONTAINS(r.err, "empty.pddl:1:72: warning: the goal is empty");
  write("item.pddl", "(define (problem x) (:domain ward) (:objects i - item r - robot) (:init) (:goal (clean i)))\n");
  const Json json = Json::parse(run("check -d ward.pddl -p item.pddl --output json").out);
  EXPECT_EQ(json["notes"][0], "no object is of type 'sink', so these actions can never be taken: wash");
  write("all.pddl",
        "(define (problem x) (:domain ward) (:objects r - robot s - sink) (:init)\n (:goal (forall (?i - item) (clean "
        "?i))))\n");
  EXPECT_CONTAINS(run("check -d ward.pddl -p all.pddl").err,
                  "all.pddl:2:9: warning: the goal holds whatever is done, so the empty plan reaches it");
}

TEST_F(Cli, SlowATaskThatIsTooLargeIsNoBadInput) {
  std::string objects;
  for (int i = 0; i < 60; ++i) objects += " o" + std::to_string(i);
  write("wide.pddl", "(define (domain w) (:predicates (p))\n (:action a :parameters (?a ?b ?c ?d) :effect (p)))\n");
  write("many.pddl", "(define (problem x) (:domain w) (:objects" + objects + ") (:init) (:goal (p)))\n");
  for (const char* command : {"check", "search"}) {
    const Result r = run(std::string(command) + " -d wide.pddl -p many.pddl");
    EXPECT_EQ(r.code, 20) << r.err;
    EXPECT_CONTAINS(r.err, "more than 5000000 actions");
  }
}

// --- validate --------------------------------------------------------------------------------------------------------

TEST_F(Cli, ValidateNamesTheStepAndThePrecondition) {
  write("bad.plan", "(press a)\n(press a)\n");
  const Result r = run("validate -d d.pddl -p p.pddl bad.plan");
  EXPECT_EQ(r.code, 12);
  EXPECT_EQ(r.out, "invalid: step 2 (press a): precondition (not (lit a)) is false\n");
  const Json json = Json::parse(run("validate -d d.pddl -p p.pddl bad.plan --output json").out);
  EXPECT_EQ(json["valid"], false);
  EXPECT_EQ(json["steps_executed"], 1);
}

TEST_F(Cli, ValidateReadsStandardInput) {
  write("part.plan", "(press b)\n");
  const Result piped = run("validate -d d.pddl -p p.pddl - < part.plan");
  EXPECT_EQ(piped.code, 12);
  EXPECT_EQ(piped.out, "invalid: the goal is not reached: (lit a) does not hold at the end\n");
}

TEST_F(Cli, APlanThatIsNoPlanIsBadInput) {
  write("x.plan", "press a\n");
  const Result r = run("validate -d d.pddl -p p.pddl x.plan");
  EXPECT_EQ(r.code, 31);
  EXPECT_CONTAINS(r.err, "x.plan:1:1: error: expected '('");
  EXPECT_EQ(run("validate -d d.pddl -p p.pddl none.plan").code, 31);
}

// --- inspect ---------------------------------------------------------------------------------------------------------

TEST_F(Cli, InspectCounts) {
  const Result r = run("inspect -d d.pddl -p p.pddl --output json");
  EXPECT_EQ(r.code, 0) << r.err;
  const Json json = Json::parse(r.out);
  EXPECT_EQ(json["objects"], 3);
  EXPECT_EQ(json["ground_actions"], 6);
  EXPECT_EQ(json["reachable_states"], 8);
  EXPECT_EQ(json["edges"], 24);
  EXPECT_EQ(json["goal_relevant_states"], 4);
  EXPECT_EQ(json["shortest_plan_length"], 2);
  EXPECT_EQ(json["verdict"], "solvable");
  EXPECT_EQ(json["tier"], "exact");
}

TEST_F(Cli, InspectComparesOneLevelWithTwo) {
  const Json json =
      Json::parse(run("inspect -d d.pddl -p p.pddl --output json --hidden 2 --horizon 10").out)["two_levels"];
  // "(press a)\n" and "(release a)\n": the trie shares "(", the two stems and nothing behind the object.
  // States: root, "(", "press " 6, "release " 8, then for each of 6 actions the object and ")": the newline leads to
  // the root.
  EXPECT_EQ(json["syntax_states"], 1 + 1 + 6 + 8 + 6 * 2);
  EXPECT_EQ(json["syntax_edges"], 1 + 6 + 8 + 6 * 3);
  EXPECT_EQ(json["semantic_states"], 4);
  EXPECT_EQ(json["bytes_per_action"], 11);
  EXPECT_EQ(json["token_steps"], 110);
  EXPECT_EQ(json["one_level"]["states"], 28 * 4);
  EXPECT_EQ(json["two_levels"]["states"], 28 + 4);
  EXPECT_EQ(json["one_level"]["dp_bytes"], 110.0 * 28 * 4 * 2 * 4);
  EXPECT_EQ(json["two_levels"]["dp_bytes"], (110.0 * 28 + 10.0 * 4) * 2 * 4);
  EXPECT_EQ(json["one_level"]["operations"], 110.0 * 33 * 4 * 4);
  EXPECT_EQ(json["two_levels"]["operations"], (110.0 * 33 + 10.0 * json["semantic_edges"].get<double>()) * 4);
}

TEST_F(Cli, InspectAsText) {
  const Result r = run("inspect -d d.pddl -p p.pddl");
  EXPECT_EQ(r.code, 0);
  EXPECT_CONTAINS(r.out, "reachable states        8, 24 edges");
  EXPECT_CONTAINS(r.out, "goal-relevant states    4, ");
  EXPECT_CONTAINS(r.out, "Why two levels");
}

// --- SAS -------------------------------------------------------------------------------------------------------------

TEST_F(Cli, SasFilesWorkEverywhere) {
  const std::string sas = "--sas '" + (testing::test_dir() / "fuzz/corpus/sas/delivery.sas").string() + "'";
  EXPECT_EQ(run("check " + sas).out.substr(0, 42), "ok: 4 variables, 5 operators, 1 axiom, 5 g");
  const Result found = run("search " + sas + " --out s.plan");
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_EQ(read("s.plan"),
            "(load parcel truck depot)\n(drive truck depot shop)\n(unload parcel truck shop)\n; 3 actions, cost = 9, "
            "shortest, cheapest\n");
  EXPECT_EQ(run("validate " + sas + " s.plan").out, "valid: 3 actions, cost 9\n");
  EXPECT_EQ(Json::parse(run("inspect " + sas + " --output json").out)["shortest_plan_length"], 3);
}

// As of PDDL files. The first is what a translator makes of a goal that holds already.
TEST_F(Cli, CheckWarnsOfSasFilesThatAskForNothing) {
  const auto sas = [](const std::string& goal, const std::string& operators) {
    return "begin_version\n3\nend_version\nbegin_metric\n0\nend_metric\n1\nbegin_variable\nvar0\n-1\n2\nAtom lit()\n"
           "NegatedAtom lit()\nend_variable\n0\nbegin_state\n0\nend_state\nbegin_goal\n" +
           goal + "end_goal\n" + operators + "0\n";
  };
  const std::string out = "1\nbegin_operator\nout\n0\n1\n0 0 0 1\n0\nend_operator\n";
  const std::string nothing = "no action can ever be taken: the task has no ground action";
  const std::string anyway = "the goal holds whatever is done, so the empty plan reaches it";
  write("trivial.sas", sas("1\n0 0\n", "0\n"));
  const Result trivial = run("check --sas trivial.sas");
  EXPECT_EQ(trivial.code, 0) << trivial.err;
  EXPECT_CONTAINS(trivial.err, "trivial.sas: warning: " + nothing + "; the file has no operator");
  EXPECT_CONTAINS(trivial.err, "trivial.sas: warning: " + anyway);
  EXPECT_CONTAINS(trivial.out, "; 2 warnings\n");
  write("empty.sas", sas("0\n", out));
  EXPECT_EQ(run("check --sas empty.sas").err, "empty.sas: warning: " + anyway + "; the file states no goal\n");
  write("fine.sas", sas("1\n0 0\n", out));  // it holds, and can be undone
  EXPECT_EQ(run("check --sas fine.sas").err, "");
}

}  // namespace
}  // namespace metactrl::cli_test
