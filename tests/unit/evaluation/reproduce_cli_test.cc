// metactrl reproduce, run as a program on a few tasks of the real benchmarks, those that ship for tests.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "support/command_line.h"
#include "support/test_data.h"

namespace metactrl::reproduce_cli_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Result = testing::CommandResult;

class ReproduceCli : public testing::CommandLineTest {
 protected:
  static fs::path data() { return testing::test_dir() / "data"; }
  Result reproduce(const std::string& out, const std::string& more, const std::string& environment = "") const {
    return run("reproduce --data '" + data().string() + "' --out " + out + " --limit 2 " + more, environment);
  }
  Json tables(const std::string& out) const {
    Json json = Json::parse(read(out + "/tables.json"));
    for (Json& module : json["modules"]) {
      for (Json& row : module["rows"]) row.erase("seconds");
    }
    json.erase("command");
    return json;
  }
};

TEST_F(ReproduceCli, WritesTablesForEveryModule) {
  const Result result = reproduce("a", "--rows search,planner --max-states 10000", "PATH=/no/such/folder");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_CONTAINS(result.out, "| search: search, no model | 100.0 / 100.0 |");
  EXPECT_CONTAINS(result.out, "| search, paper: search, no model | ");
  // The first module is vh-as, which has PDDL of its own; conditions are no actions, so that vh-sd has none.
  EXPECT_CONTAINS(result.out, "| planner: classical planner, the benchmark's PDDL | ");
  EXPECT_CONTAINS(read("a/tables.md"), "The classical planner is a search of our own");
  for (const char* file :
       {"a/tables.md", "a/tables.json", "a/vh-as.svg", "a/beh-sd.svg", "a/answers.jsonl", "a/index.html"}) {
    EXPECT_TRUE(fs::exists(path(file))) << file;
  }
  EXPECT_CONTAINS(read("a/tables.md"),
                  "`metactrl reproduce --data DATA --out OUT --rows search,planner --limit 2 --max-states 10000`");
  const Json json = tables("a");
  ASSERT_EQ(json["modules"].size(), 5U);
  EXPECT_EQ(json["modules"][0]["sample"], 2);
  EXPECT_EQ(json["settings"]["exact_states"], 10'000);
  const Json planner = json["modules"][0]["rows"][0];
  EXPECT_EQ(planner["row"], "planner");
  EXPECT_TRUE(planner["measured"].get<bool>()) << planner;
  EXPECT_EQ(planner["failed"], 0) << planner;
  EXPECT_EQ(json["modules"][1]["rows"][0]["absent"], "n/a");
  // The audit is part of the tables.
  ASSERT_EQ(json["information"].size(), 2U);
  EXPECT_EQ(json["information"][0]["benchmark"], "VirtualHome");
  EXPECT_GT(json["information"][0]["of_things"]["percent"].get<double>(),
            json["information"][1]["of_things"]["percent"].get<double>());
  EXPECT_CONTAINS(read("a/tables.md"), "## What prompts state");
  // Again: nothing to do, the same tables.
  const Result again = reproduce("a", "--rows search,planner --max-states 10000", "PATH=/no/such/folder");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_CONTAINS(again.err, "answers are there already");
  EXPECT_EQ(tables("a"), json);
}

TEST_F(ReproduceCli, LevelOneIsARowBesideTheFormAlone) {
  ASSERT_EQ(run("hmm uniform --model pocket --out t.hmm").code, 0) << read("err");
  const std::string what = "--modules vh-as --rules environment --model pocket --threads 1 ";
  ASSERT_EQ(reproduce("a", what + "--rows syntax").code, 0) << read("err");
  // The first row knows nothing of the model of tokens.
  ASSERT_EQ(reproduce("a", what + "--rows syntax,level1 --token-hmm t.hmm").code, 0) << read("err");
  const Json rows = tables("a")["modules"][0]["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1]["row"], "level1");
  EXPECT_EQ(rows[1]["failed"], 0) << rows[1];
  // A uniform model makes shorter texts worth more, and nothing asks for the goal.
  EXPECT_LT(rows[1]["tokens"].get<int>(), rows[0]["tokens"].get<int>());
  // Another model of tokens is another row, and the same form.
  ASSERT_EQ(run("hmm uniform --model pocket --hidden 2 --out u.hmm").code, 0) << read("err");
  EXPECT_EQ(reproduce("a", what + "--rows level1 --token-hmm u.hmm").code, 31);
  EXPECT_CONTAINS(read("err"), "token_hmm was");
  EXPECT_EQ(reproduce("a", what + "--rows syntax,mask").code, 0) << read("err");
}

TEST_F(ReproduceCli, ShardsJoinToWhatOneRunSays) {
  const std::string what = "--modules vh-as --rules environment --rows syntax,mask --model random:3 --max-tokens 40 ";
  ASSERT_EQ(reproduce("one", what).code, 0) << read("err");
  EXPECT_EQ(reproduce("parts", what + "--shard 2/2").code, 0) << read("err");
  const Result early = reproduce("parts", what + "--merge");
  EXPECT_EQ(early.code, 31);
  EXPECT_CONTAINS(early.err, "answers are missing: vh-as syntax: 1 of 2 missing, vh-as mask: 1 of 2 missing");
  // The tables of what is there, which say so.
  EXPECT_EQ(tables("parts")["missing"].size(), 2U);
  EXPECT_EQ(tables("parts")["modules"][0]["rows"][1]["n"], 1);
  EXPECT_CONTAINS(read("parts/index.html"), "vh-as mask: 1 of 2 missing");
  EXPECT_EQ(reproduce("parts", what + "--shard 1/2").code, 0) << read("err");
  EXPECT_EQ(reproduce("parts", what + "--merge").code, 0) << read("err");
  EXPECT_EQ(tables("parts"), tables("one"));
  const Result none = reproduce("nothing", what + "--merge");
  EXPECT_EQ(none.code, 31);
  EXPECT_CONTAINS(none.err, "answers are missing");
  EXPECT_FALSE(fs::exists(path("nothing/tables.md")));

  // As mpirun starts them, the second one first; the first writes the tables.
  EXPECT_EQ(reproduce("mpi", what, "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2").code, 0) << read("err");
  EXPECT_FALSE(fs::exists(path("mpi/tables.md")));
  EXPECT_EQ(reproduce("mpi", what, "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2").code, 0) << read("err");
  EXPECT_EQ(tables("mpi"), tables("one"));
}

TEST_F(ReproduceCli, RefusesOtherSettingsAndLeavesNothingWhenItCannotStart) {
  ASSERT_EQ(reproduce("a", "--modules vh-as --rows search").code, 0) << read("err");
  const Result other = reproduce("a", "--modules vh-as --rows search --planner-seconds 7");
  EXPECT_EQ(other.code, 31);
  EXPECT_CONTAINS(other.err, "planner_seconds was 30");
  const auto expect = [&](const std::string& more, int code, const std::string& message) {
    const Result r = reproduce("b", more);
    EXPECT_EQ(r.code, code) << more << r.err;
    EXPECT_CONTAINS(r.err, message);
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
    EXPECT_FALSE(fs::exists(path("b"))) << more;
  };
  expect("--rows trained", 30, "needs a hidden Markov model of plans for");
  expect("--rows level1", 30, "needs a hidden Markov model of tokens");
  expect("--rows mask --token-hmm t.hmm", 30, "is for the row 'level1' and for --bridge hmm");
  expect("--rows masc", 30, "did you mean 'mask'?");
  expect("--rows ,", 30, "names no row");
  expect("--rules ,", 30, "names no rules");
  expect("--rules papr", 30, "did you mean 'paper'?");
  expect("--modules vh-xs", 30, "there is no module 'vh-xs'");
  expect("--modules ,", 30, "names no module");
  expect("--shard +1/+2", 30, "not a part of a whole");
  expect("--planner /", 31, "there is no such program");
  expect("--model no-such-model --rows mask", 31, "there is no such model");
  expect("--shard 3/2", 30, "not a part of a whole");
  expect("--shard x", 30, "not a part of a whole");
  expect("--shard 1/2 --merge", 30, "leave out --shard");
  expect("--planner /no/such/driver", 31, "there is no such program");
  expect("--guidance mask", 30, "unknown option '--guidance'");
  const Result empty = run("reproduce --data . --out b");
  EXPECT_EQ(empty.code, 31);
  EXPECT_CONTAINS(empty.err, "holds the tasks of no module");
  const Result missing = run("reproduce --data . --out b --modules vh-sd");
  EXPECT_CONTAINS(missing.err, "is not there, and vh-sd needs it");
  EXPECT_FALSE(fs::exists(path("b")));
}

// Tasks are what answers are judged by: they are read before the first answer, and can be mended after the last.
TEST_F(ReproduceCli, TasksThatCannotBeReadAreSaidFirst) {
  fs::create_directories(path("d"));
  fs::copy(data() / "eai_vh", path("d/eai_vh"));
  for (const fs::directory_entry& file : fs::directory_iterator(path("d/eai_vh"))) {
    fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
  }
  const std::string whole = read("d/eai_vh/as.jsonl");
  const std::string command = "reproduce --data d --modules vh-as --rows search --limit 2 --out ";
  ASSERT_EQ(run(command + "a").code, 0) << read("err");
  const Json expected = tables("a");
  write("d/eai_vh/as.jsonl", "{" + whole);
  const Result broken = run(command + "b");
  EXPECT_EQ(broken.code, 31);
  EXPECT_CONTAINS(broken.err, "as.jsonl:1:");
  EXPECT_FALSE(fs::exists(path("b")));
  fs::rename(path("d/eai_vh/graphs.jsonl"), path("d/graphs"));
  write("d/eai_vh/as.jsonl", whole);
  EXPECT_EQ(run(command + "b").code, 31);
  EXPECT_FALSE(fs::exists(path("b")));
  fs::rename(path("d/graphs"), path("d/eai_vh/graphs.jsonl"));

  // Fewer tasks than prompts: the others are left out, and that is said.
  std::string half;
  std::size_t end = 0;
  for (int line = 0; line < 5; ++line) end = whole.find('\n', end) + 1;
  write("d/eai_vh/as.jsonl", whole.substr(0, end));
  const Result fewer = run(command + "c");
  EXPECT_EQ(fewer.code, 0) << fewer.err;
  EXPECT_CONTAINS(fewer.err, "9 prompts of vh-as are left out");
  EXPECT_EQ(tables("c")["modules"][0]["tasks"], 5);
  write("d/eai_vh/as.jsonl", read("d/eai_vh/sd.jsonl"));
  const Result others = run(command + "e");
  EXPECT_EQ(others.code, 31);
  EXPECT_FALSE(fs::exists(path("e")));

  // Answers that are there do not depend on the tasks.
  write("d/eai_vh/as.jsonl", whole + "\n");
  const Result again = run(command + "a");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(tables("a"), expected);
}

TEST_F(ReproduceCli, PromptsWithoutRoomAreCountedAsSuch) {
  const Result result = reproduce("a", "--rules environment --modules vh-as --rows mask --context 100");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_CONTAINS(result.err, "2 answers had no room in the model's context and are not counted; --prompt compact");
  EXPECT_CONTAINS(result.out, "| no room |");
  EXPECT_EQ(tables("a")["modules"][0]["rows"][0]["no_room"], 2);
  EXPECT_EQ(tables("a")["modules"][0]["rows"][0]["failed"], 0);
}

TEST_F(ReproduceCli, RealModelsAnswerCompactPrompts) {
  const Result result = reproduce("a", "--modules vh-as,vh-sd --rows none,uniform --prompt compact --max-tokens 30");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_CONTAINS(read("a/tables.md"), "Prompts: compact.");
  EXPECT_CONTAINS(read("a/tables.md"), "Model: pocket (SHA-256 ");
}

// A prompt and its answer fill most of this context; two at once must not take room from each other.
TEST_F(ReproduceCli, EachOfSeveralJobsHasAContextOfItsOwn) {
  const Result result = reproduce("a", "--modules vh-as --rows none --context 448 --max-tokens 60 --jobs 2");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(read("a/answers.jsonl").find("cannot go on"), std::string::npos);
}

}  // namespace
}  // namespace metactrl::reproduce_cli_test
