// metactrl run as a program: what it prints, how it ends, what it leaves behind; and the blocks of docs/closed-loop.md.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/command_line.h"
#include "support/test_data.h"

namespace metactrl::run_test {
namespace {

using Json = nlohmann::json;
using Result = testing::CommandResult;

class RunCli : public testing::CommandLineTest {
 protected:
  // From the root of the source tree; `command` goes through a shell, in which metactrl is the program.
  Result shell(const std::string& command) const {
    const std::string line = "metactrl() { '" + testing::program() + "' \"$@\"; }; cd '" +
                             testing::source_dir().string() + "' && " + command;
    std::ofstream(path("script")) << line << "\n";
    const int status =
        std::system(("sh '" + path("script") + "' >'" + path("out") + "' 2>'" + path("err") + "' </dev/null").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out"), read("err")};
  }
  Result run(const std::string& arguments, const std::string& problem = "dishwasher") const {
    return shell("metactrl run -d domains/tabletop/domain.pddl -p domains/tabletop/" + problem + ".pddl -g search " +
                 arguments);
  }
};

TEST_F(RunCli, StreamsWhatHappensAndEndsAtTheGoal) {
  const Result r = run("");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_CONTAINS(r.out, "observe: as predicted\nplan: 7 actions (");
  EXPECT_CONTAINS(r.out, "act (open dishwasher)\n");
  EXPECT_CONTAINS(r.err, "goal observed: ");
  EXPECT_CONTAINS(r.err, "7 actions, 0 re-plans");
}

// A battery and actions that take time: the report has values and times, and a world may report either.
TEST_F(RunCli, NumbersAndTimesAreInTheReport) {
  const std::string task = "metactrl run -d examples/patrol/domain.pddl -p examples/patrol/two_rooms.pddl -g search ";
  const Result r = shell(task + "--output json");
  ASSERT_EQ(r.code, 0) << r.err;
  const Json episode = Json::parse(r.out)["episodes"][0];
  EXPECT_EQ(episode["end"], "goal observed");
  EXPECT_EQ(episode["belief"][0]["facts"][0], "(= (battery rover) 2)");
  std::vector<std::pair<double, double>> times;
  for (const Json& event : episode["events"]) {
    if (event["event"] == "act") times.emplace_back(event["start"], event["duration"]);
  }
  ASSERT_EQ(times.size(), 6U);
  EXPECT_EQ(times[0], std::pair(0.0, 12.0));
  EXPECT_EQ(times[1], std::pair(12.001, 6.0));

  // A world that sees the battery once, and then only where the robot is.
  std::ofstream(path("world")) << R"py(
import json, sys
sent = 0
at = "home"
done = set()
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "end":
        break
    answer = {"id": request["id"]}
    if request["type"] == "hello":
        answer["protocol"] = 1
        assert "(= (battery rover) 9)" in request["initial_facts"], request
        assert "(= (distance hall lab) 2.5)" in request["fixed_facts"], request
    elif request["type"] == "observe":
        answer["facts"] = ["(at rover %s)" % at] + ["(inspected %s)" % p for p in sorted(done)]
        if sent == 0:
            answer["facts"].append("(= (battery rover) 12)")
        sent += 1
    else:
        if request["action"] == "drive":
            at = request["arguments"][2]
        elif request["action"] == "inspect":
            done.add(request["arguments"][1])
        answer["done"] = True
    print(json.dumps(answer), flush=True)
)py";
  const Result seen = shell(task + "--world \"python3 '" + path("world") + "'\"");
  EXPECT_EQ(seen.code, 0) << seen.err;
  EXPECT_CONTAINS(seen.out,
                  "observe: new: (= (battery rover) 12); gone: (= (battery rover) 9)\nplan: 5 actions (drive");
  EXPECT_CONTAINS(seen.err, "goal believed: ");
}

// Where rollouts are lost: with a plan that is right nowhere but in execution; alone, a model that knows nothing in planning.
TEST_F(RunCli, CascadeOfSeveralTasks) {
  const std::string tail =
      " --also domains/tabletop/green_block.pddl --episodes 3 --max-replans 0 --max-tokens 30 "
      "--model random:1 --vocab models/pocket.gguf --output json --cascade '";
  const Result calm = run(tail + path("calm") + "'", "donut_canister");
  ASSERT_EQ(calm.code, 0) << calm.err;
  const Json rows = Json::parse(calm.out);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0]["task"], "donut_canister");
  EXPECT_EQ(rows[0]["guidance"], "search");
  EXPECT_EQ(rows[1]["guidance"], "none");
  EXPECT_EQ(rows[2]["task"], "green_block");
  for (const char* stage : {"rollouts", "planning", "perception", "execution", "reached"}) {
    EXPECT_EQ(rows[0][stage], 3) << stage;
    EXPECT_EQ(rows[1][stage], std::string(stage) == "rollouts" ? 3 : 0) << stage;
  }
  EXPECT_EQ(Json::parse(read("calm/cascade.json")), rows);
  EXPECT_CONTAINS(read("calm/cascade.md"), "| donut_canister | search | 3 | 3 | 3 | 3 | 3 |");
  EXPECT_CONTAINS(read("calm/cascade.svg"), "<svg ");

  const Result clumsy = run("--fault action-fails=1" + tail + path("clumsy") + "'", "donut_canister");
  const Json lost = Json::parse(clumsy.out);
  EXPECT_EQ(lost[0]["perception"], 3);
  EXPECT_EQ(lost[0]["execution"], 0);

  EXPECT_EQ(run("--also domains/tabletop/green_block.pddl").code, 30);
  EXPECT_EQ(run("--cascade '" + path("x") + "' --world true").code, 30);
}

TEST_F(RunCli, FaultsLeadToNewPlans) {
  const Result r = run("--fault action-fails=0.3 --fault slip=0.3 --fault found-closed=0.2 --seed 4 --report-file '" +
                       path("report.json") + "'");
  EXPECT_EQ(r.code, 0) << r.err;
  const Json report = Json::parse(read("report.json"));
  EXPECT_EQ(report["world"], "simulated");
  EXPECT_EQ(report["faults"]["slip"], 0.3);
  const Json& episode = report["episodes"][0];
  EXPECT_EQ(episode["end"], "goal observed");
  EXPECT_EQ(episode["goal_is_true"], true);
  EXPECT_GT(episode["replans"], 0);
  EXPECT_EQ(episode["invalid_plans"], 0);
  EXPECT_EQ(episode["belief"].size(), 1U);
  std::size_t acts = 0;
  for (const Json& event : episode["events"]) {
    acts += event["event"] == "act" ? 1 : 0;
    if (event["event"] == "plan") {
      EXPECT_EQ(event["guarantee"], "full");
      EXPECT_EQ(event["holds_in"], event["states"]);
    }
  }
  EXPECT_EQ(acts, episode["actions"]);
  // The same again, word for word.
  const Result again = run("--fault action-fails=0.3 --fault slip=0.3 --fault found-closed=0.2 --seed 4");
  EXPECT_EQ(again.out, r.out);
  const Result other = run("--fault action-fails=0.3 --fault slip=0.3 --fault found-closed=0.2 --seed 5");
  EXPECT_NE(other.out, r.out);
}

TEST_F(RunCli, EpisodesAreSummedUp) {
  const Result r = run("--fault action-fails=0.2 --episodes 20 --seed 10 --output json", "donut_canister");
  EXPECT_EQ(r.code, 0) << r.err;
  const Json report = Json::parse(r.out);
  EXPECT_EQ(report["summary"]["episodes"], 20);
  EXPECT_EQ(report["summary"]["successes"], 20);
  EXPECT_GT(report["summary"]["mean_actions"], 3);
  EXPECT_EQ(report["episodes"][3]["seed"], 13);
  EXPECT_CONTAINS(r.err, "20 episodes: goal reached in 20 (100 %)");
  // Episode 3 of seed 10 is the only one of seed 13.
  const Result one = run("--fault action-fails=0.2 --seed 13 --output json", "donut_canister");
  EXPECT_EQ(Json::parse(one.out)["episodes"][0]["actions"], report["episodes"][3]["actions"]);
}

TEST_F(RunCli, EndsWithDocumentedCodes) {
  EXPECT_EQ(run("--fault action-fails=1 --max-replans 3").code, 13);
  EXPECT_EQ(run("--fault action-fails=1 --max-actions 2").code, 13);
  // With a world that says nothing the time is over for certain.
  EXPECT_EQ(run("--run-time 0.001 --world-timeout 3600 --world 'while read -r l; do :; done'").code, 21);
  EXPECT_EQ(run("--world 'exit 3'").code, 33);
  EXPECT_EQ(run("--fault slip").code, 30);
  EXPECT_EQ(run("--fault slip=2").code, 30);
  EXPECT_EQ(run("--fault =0.5").code, 30);
  EXPECT_EQ(run("--confidence 2").code, 30);
  EXPECT_EQ(run("--on-infeasible drop-goals").code, 30);
  EXPECT_EQ(run("--world true --fault slip=0.1").code, 30);
  EXPECT_EQ(run("--report-file ''").code, 30);
  // A variable that was not set is no wish for the simulator.
  for (const char* world : {"--world ''", "--world ' '", "--world '' --fault slip=0.1"}) {
    const Result empty = run(world);
    EXPECT_EQ(empty.code, 30) << world;
    EXPECT_EQ(empty.out, "");
    EXPECT_CONTAINS(empty.err, "--world is empty");
  }
  const Result unknown = run("--fault slipp=0.1");
  EXPECT_EQ(unknown.code, 31);
  EXPECT_CONTAINS(unknown.err, "did you mean 'slip'?");
  EXPECT_EQ(run("", "no_such_problem").code, 31);
  EXPECT_EQ(shell("metactrl run -d domains/tabletop/domain.pddl").code, 30);
  // No plan, proven: the hand holds nothing and is not free.
  std::string problem = read(testing::source_dir() / "domains/tabletop/donut_canister.pddl");
  problem.erase(problem.find("(hand-empty)"), 12);
  std::ofstream(path("stuck.pddl")) << problem;
  const Result stuck = shell("metactrl run -d domains/tabletop/domain.pddl -p '" + path("stuck.pddl") + "' -g search");
  EXPECT_EQ(stuck.code, 10);
  EXPECT_CONTAINS(stuck.err, "no plan holds in the believed state, proven");
}

TEST_F(RunCli, AReaderThatLeavesIsNoReasonToLeaveTheWorldBehind) {
  const Result r = shell(
      "{ metactrl run -d domains/tabletop/domain.pddl -p domains/tabletop/dishwasher.pddl -g search "
      "--world 'python3 examples/robot_world.py'; echo $? >'" +
      path("code") + "'; } | true");
  EXPECT_EQ(read("code"), "31\n") << r.err;
}

// A path that cannot be written is no news to get after the robot has moved.
TEST_F(RunCli, TheReportsPathIsCheckedBeforeTheFirstAction) {
  std::filesystem::create_directories(path("folder"));
  for (const std::string& report : {path("none/r.json"), path("folder"), std::string("/dev/full")}) {
    const Result r = run("--report-file '" + report + "' --world 'touch \"" + path("started") + "\"; exit 3'");
    EXPECT_EQ(r.code, 31) << report;
    EXPECT_EQ(r.out, "") << report;
    EXPECT_CONTAINS(r.err, report);
    EXPECT_FALSE(std::filesystem::exists(path("started"))) << report;
  }
  // What was there is still there, and nothing else is.
  std::ofstream(path("folder/old.json")) << "old";
  EXPECT_EQ(run("--report-file '" + path("folder/old.json") + "' --world ''").code, 30);
  EXPECT_EQ(run("--report-file '" + path("folder/old.json") + "' --fault nothing=0.1").code, 31);
  EXPECT_EQ(read("folder/old.json"), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path("folder")), {}), 1);
}

TEST_F(RunCli, AReportThatFailsInTheEndLeavesTheClosingLine) {
  // The folder disappears while the robot works.
  std::filesystem::create_directories(path("folder"));
  const Result r = run("--report-file '" + path("folder/r.json") + "' --world \"rmdir '" + path("folder") +
                           "'; exec python3 examples/robot_world.py\"",
                       "donut_canister");
  EXPECT_EQ(r.code, 31);
  EXPECT_CONTAINS(r.out, "act (putin donut canister)\n");
  EXPECT_CONTAINS(r.err, "goal observed: ");
  EXPECT_CONTAINS(r.err, path("folder/r.json"));
  EXPECT_CONTAINS(r.err, "cannot be written");
}

TEST_F(RunCli, OutputThatFailsEndsNeitherTheEpisodeNorTheReport) {
  for (const char* sink : {"| true", "| head -1", ">/dev/full"}) {
    for (const char* json : {"", "--output json"}) {
      std::filesystem::remove(path("r.json"));
      const Result r =
          shell("{ metactrl run -d domains/tabletop/domain.pddl -p domains/tabletop/donut_canister.pddl -g search " +
                std::string(json) + " --report-file '" + path("r.json") + "' --world \"tee '" + path("requests") +
                "' | python3 examples/robot_world.py\"; echo $? >'" + path("code") + "'; } " + sink);
      // A reader that takes one line may leave after the last was written.
      const std::string code = read("code");
      EXPECT_TRUE(code == "31\n" || (std::string(sink) == "| head -1" && code == "0\n")) << sink << code << r.err;
      if (code == "31\n") {
        EXPECT_CONTAINS(r.err, "standard output");
      }
      EXPECT_CONTAINS(r.err, "goal observed: ");
      const Json report = Json::parse(read("r.json"), nullptr, false);
      ASSERT_FALSE(report.is_discarded()) << sink << r.err;
      EXPECT_EQ(report["episodes"][0]["end"], "goal observed");
      EXPECT_EQ(report["episodes"][0]["actions"], 3);
      EXPECT_CONTAINS(read("requests"), "\"type\":\"end\"");
    }
  }
}

TEST_F(RunCli, WithoutReaderAndReportNoOtherEpisodeBegins) {
  const auto episodes = [&](const std::string& report) {
    std::filesystem::remove(path("starts"));
    shell(
        "metactrl run -d domains/tabletop/domain.pddl -p domains/tabletop/donut_canister.pddl -g search --episodes 3 " +
        report + " --world \"echo >>'" + path("starts") + "'; exec python3 examples/robot_world.py\" >/dev/full");
    return read("starts").size();
  };
  EXPECT_EQ(episodes(""), 1U);
  EXPECT_EQ(episodes("--report-file '" + path("r.json") + "'"), 3U);
  EXPECT_EQ(Json::parse(read("r.json"))["summary"]["successes"], 3);
}

// --- a world that says nothing more ----------------------------------------------------------------------------------

// Greets, observes, and does `last` when it is asked for an action.
std::string world_until_action(const std::string& last) {
  return "read -r l; echo '{\"id\":1,\"protocol\":1}'; read -r l; "
         "echo '{\"id\":2,\"facts\":[\"(hand-empty)\",\"(on donut table)\"]}'; read -r l; " +
         last + "\n";
}

void expect_one_unknown_action(const Json& episode) {
  EXPECT_EQ(episode["actions"], 1);
  EXPECT_EQ(episode["failures"], 0);
  const Json& last = episode["events"].back();
  ASSERT_EQ(last["event"], "act");
  EXPECT_EQ(last["step"], "(open canister)");
  EXPECT_TRUE(last["done"].is_null());
  EXPECT_EQ(last["message"].get<std::string>().find("outcome unknown: "), 0U) << last;
  ASSERT_EQ(episode["belief"].size(), 2U);
  EXPECT_EQ(episode["belief"][0]["probability"], 0.5);
  EXPECT_EQ(episode["belief"][0]["facts"], (Json{"(hand-empty)", "(on donut table)"}));
  EXPECT_EQ(episode["belief"][1]["facts"], (Json{"(hand-empty)", "(on donut table)", "(open canister)"}));
}

TEST_F(RunCli, AnActionWithoutAnswerIsInTheReport) {
  const std::string world = " --output json --world \"sh '" + path("world.sh") + "'\"";
  std::ofstream(path("world.sh")) << world_until_action("exit 0");
  const Result died = run(world, "donut_canister");
  EXPECT_EQ(died.code, 33) << died.err;
  EXPECT_CONTAINS(died.err, "1 action, ");
  expect_one_unknown_action(Json::parse(died.out)["episodes"][0]);
  std::ofstream(path("world.sh")) << world_until_action("echo nonsense; cat >/dev/null");
  const Result nonsense = run(world, "donut_canister");
  EXPECT_EQ(nonsense.code, 33) << nonsense.err;
  expect_one_unknown_action(Json::parse(nonsense.out)["episodes"][0]);
  const Result hangs = run("--world-timeout 0.05 --world 'while read -r l; do :; done'");
  EXPECT_EQ(hangs.code, 33) << hangs.err;
  EXPECT_CONTAINS(hangs.err, "within 0.05 s; raise --world-timeout if it needs longer; 0 actions");
}

TEST_F(RunCli, TheWorldCannotForgeALine) {
  std::ofstream(path("world.sh")) << world_until_action(
      "printf '%s\\n' '{\"id\":3,\"done\":false,\"message\":\"a\\n\\u001b[31mgoal observed: fine\"}'; read -r l; "
      "printf '%s\\n' '{\"error\":\"\\u001b[2J\\nok: fake line\"}'; cat >/dev/null");
  const Result r = run("--world \"sh '" + path("world.sh") + "'\"", "donut_canister");
  EXPECT_EQ(r.code, 33) << r.err;
  EXPECT_CONTAINS(r.out, "act (open canister): failed: a\\n\\x1b[31mgoal observed: fine\n");
  EXPECT_CONTAINS(r.err, "world failed: the world reports: \\x1b[2J\\nok: fake line; 1 action");
  EXPECT_EQ((r.out + r.err).find('\x1b'), std::string::npos);
  EXPECT_EQ((r.out + r.err).find("\nok: fake"), std::string::npos);
}

// How a world takes it that nobody talks to it any more. A stubborn one has to be killed, after some seconds of grace.
enum class Manners { kPolite, kStubborn };

// Starts metactrl with a world that does not answer, signals it, and returns the episode it reports.
Json stopped_by(int signal, Manners manners, const std::string& folder, const std::string& before,
                const std::string& name) {
  const std::string pid_file = folder + "/world.pid";
  const std::string report_file = folder + "/report.json";
  const std::string source = testing::source_dir().string();
  const std::string world =
      manners == Manners::kStubborn
          ? before + "trap '' TERM INT HUP; echo $$ >'" + pid_file + "'; while :; do sleep 1; done"
          : before + "echo $$ >'" + pid_file + "'; while read -r l; do :; done";
  const pid_t pid = ::fork();
  if (pid == 0) {
    const int null = ::open((folder + "/err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(null, 1);
    ::dup2(null, 2);
    const std::string domain = source + "/domains/tabletop/domain.pddl";
    const std::string problem = source + "/domains/tabletop/" + name + ".pddl";
    ::execl(testing::program().c_str(), "metactrl", "run", "-d", domain.c_str(), "-p", problem.c_str(), "-g", "search",
            "--world", world.c_str(), "--report-file", report_file.c_str(), static_cast<char*>(nullptr));
    ::_exit(99);
  }
  int status = 0;
  std::string text;
  for (; !text.ends_with('\n'); text = testing::read_text(pid_file)) {
    if (::waitpid(pid, &status, WNOHANG) == pid) {
      ADD_FAILURE() << "it ended before its world began: " << testing::read_text(folder + "/err");
      return {};
    }
    ::usleep(1000);
  }
  const auto world_pid = static_cast<pid_t>(std::atol(text.c_str()));
  EXPECT_EQ(::kill(pid, signal), 0);
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 128 + signal) << testing::read_text(folder + "/err");
  const std::string stat = testing::read_text("/proc/" + std::to_string(world_pid) + "/stat");
  EXPECT_TRUE(stat.empty() || stat.find(") Z ") != std::string::npos) << "the world is still there: " << stat;
  const Json report = Json::parse(testing::read_text(report_file), nullptr, false);
  if (report.is_discarded()) return {};
  EXPECT_EQ(report["episodes"][0]["end"], "interrupted");
  return report["episodes"][0];
}

TEST_F(RunCli, InterruptsEndInAReportAndTakeTheWorldAlong) {
  EXPECT_EQ(stopped_by(SIGINT, Manners::kStubborn, folder().string(), "", "dishwasher")["actions"], 0);
}
TEST_F(RunCli, SoDoesTermination) {
  EXPECT_EQ(stopped_by(SIGTERM, Manners::kPolite, folder().string(), "", "dishwasher")["actions"], 0);
}
TEST_F(RunCli, SoDoesHangUp) {
  EXPECT_EQ(stopped_by(SIGHUP, Manners::kPolite, folder().string(), "", "dishwasher")["actions"], 0);
}
TEST_F(RunCli, AnActionThatWasInterruptedIsInTheReport) {
  const Json episode =
      stopped_by(SIGINT, Manners::kPolite, folder().string(), world_until_action(""), "donut_canister");
  ASSERT_FALSE(episode.is_null());
  expect_one_unknown_action(episode);
}

// --- docs/closed-loop.md ---------------------------------------------------------------------------------------------

struct Block {
  std::string kind;
  std::vector<std::string> lines;
};

std::vector<Block> blocks() {
  std::istringstream in(testing::read_text(testing::source_dir() / "docs/closed-loop.md"));
  std::vector<Block> result;
  bool inside = false;
  std::string line;
  while (std::getline(in, line)) {
    if (line.starts_with("```")) {
      if (!inside) result.push_back({line.substr(3), {}});
      inside = !inside;
    } else if (inside) {
      result.back().lines.push_back(line);
    }
  }
  return result;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

// ```sh is a command, ```output right behind it what it prints.
TEST_F(RunCli, TheCommandsOfThePagePrintWhatThePageSays) {
  const std::vector<Block> all = blocks();
  int compared = 0;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    if (all[i].kind != "sh" || all[i + 1].kind != "output") continue;
    const Result r = shell(joined(all[i].lines));
    EXPECT_EQ(r.out, joined(all[i + 1].lines)) << joined(all[i].lines) << r.err;
    ++compared;
  }
  EXPECT_GE(compared, 2);
}

// ```cpp is a part of the example, which is built and run.
TEST_F(RunCli, TheCodeOfThePageIsTheExample) {
  const std::string example = read(testing::source_dir() / "examples/closed_loop.cc");
  int compared = 0;
  for (const Block& block : blocks()) {
    if (block.kind != "cpp") continue;
    EXPECT_NE(example.find(joined(block.lines)), std::string::npos) << joined(block.lines);
    ++compared;
  }
  EXPECT_EQ(compared, 1);
}

// ```protocol is a whole conversation: > from metactrl, < from the world. Both sides are asked for theirs.
TEST_F(RunCli, TheConversationOfThePageIsTheConversation) {
  int compared = 0;
  for (const Block& block : blocks()) {
    if (block.kind != "protocol") continue;
    std::vector<Json> requests;
    std::vector<Json> answers;
    for (const std::string& line : block.lines) {
      ASSERT_TRUE(line.starts_with("> ") || line.starts_with("< ")) << line;
      (line[0] == '>' ? requests : answers).push_back(Json::parse(line.substr(2)));
    }
    const Result r = run(
        "--world \"tee '" + path("requests") + "' | python3 examples/robot_world.py | tee '" + path("answers") + "'\"",
        "donut_canister");
    EXPECT_EQ(r.code, 0) << r.err;
    const auto sent = [&](const std::string& name) {
      std::vector<Json> messages;
      std::istringstream in(read(path(name)));
      std::string line;
      while (std::getline(in, line)) messages.push_back(Json::parse(line));
      return messages;
    };
    EXPECT_EQ(sent("requests"), requests);
    EXPECT_EQ(sent("answers"), answers);
    ++compared;
  }
  EXPECT_EQ(compared, 1);
}

}  // namespace
}  // namespace metactrl::run_test
