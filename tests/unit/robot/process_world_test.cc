// Worlds that are programs: good ones, and ones that answer nothing, nonsense or too much.
#include "cli/process_world.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>

#include "cli/world_answer.h"
#include "support/test_data.h"

namespace metactrl::process_world_test {
namespace {

using cli::Json;
using cli::ProcessWorld;
using robot::ChildProcess;

const ChildProcess::Wait kSoon{60, {}};

std::string failure(const std::function<void()>& work) {
  try {
    work();
  } catch (const WorldError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

// Is there a process with this id that is not just waiting to be reaped?
bool alive(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t end = text.rfind(')');
  return end != std::string::npos && end + 2 < text.size() && text[end + 2] != 'Z' && text[end + 2] != 'X';
}

// A signal was sent; the system may take a moment to deliver it.
bool dies(pid_t pid) {
  for (int i = 0; i < 1000 && alive(pid); ++i) ::usleep(10'000);
  return !alive(pid);
}

TEST(ChildProcess, TalksInLines) {
  ChildProcess child("while read -r line; do echo \"got $line\"; done");
  child.write_line("one", kSoon);
  EXPECT_EQ(child.read_line(kSoon), "got one");
  child.write_line("two", kSoon);
  EXPECT_EQ(child.read_line(kSoon), "got two");
}

TEST(ChildProcess, PutsPartialLinesTogether) {
  ChildProcess child("printf 'ab'; sleep 0.1; printf 'cd\\r\\nef\\n'; sleep 0.1; printf '\\n'; cat >/dev/null");
  EXPECT_EQ(child.read_line(kSoon), "abcd");
  EXPECT_EQ(child.read_line(kSoon), "ef");
  EXPECT_EQ(child.read_line(kSoon), "");
}

TEST(ChildProcess, SaysWhyThereIsNoAnswer) {
  EXPECT_EQ(failure([] {
              ChildProcess("exec sleep 100").read_line({0.05, {}});
            }),
            "the world did not answer within 0.05 s");
  EXPECT_EQ(failure([] {
              ChildProcess("exec sleep 100").read_line({0.05, {}, "wait longer"});
            }),
            "the world did not answer within 0.05 s; wait longer");
  EXPECT_EQ(failure([] { ChildProcess("exit 7").read_line(kSoon); }),
            "the world ended without an answer (exit status 7)");
  EXPECT_EQ(failure([] { ChildProcess("kill -9 $$").read_line(kSoon); }),
            "the world ended without an answer (killed by signal 9)");
  EXPECT_EQ(failure([] { ChildProcess("printf half").read_line(kSoon); }),
            "the world ended in the middle of a line (exit status 0)");
  EXPECT_NE(failure([] { ChildProcess("/no/such/program 2>/dev/null").read_line(kSoon); }).find("exit status 127"),
            std::string::npos);
  EXPECT_NE(failure([] { ChildProcess("exec tr '\\0' x </dev/zero").read_line(kSoon); }).find("a line of more than"),
            std::string::npos);
  EXPECT_EQ(failure([] {
              ChildProcess("exec sleep 100").read_line({10, [] { return true; }});
            }),
            "stopped while waiting for the world");
}

TEST(ChildProcess, AWorldThatDoesNotListenIsNoticed) {
  const std::string large(1 << 20, 'x');
  EXPECT_EQ(failure([&] {
              ChildProcess("exec sleep 100").write_line(large, {0.05, {}});
            }),
            "the world did not take a message within 0.05 s");
  EXPECT_NE(failure([&] {
              ChildProcess child("exec 0<&-; echo closed; sleep 100");
              child.read_line(kSoon);
              child.write_line(large, kSoon);
            }).find("closed its input"),
            std::string::npos);
}

TEST(ChildProcess, InheritsNothingButItsPipes) {
  const int leak = ::open("/dev/null", O_RDONLY);  // on purpose without O_CLOEXEC
  ASSERT_GE(leak, 3);
  // The shell's own view, without another process: 0, 1, 2 and perhaps what it opened for the loop.
  ChildProcess child("for f in /proc/$$/fd/*; do printf '%s ' \"${f##*/}=$(readlink $f)\"; done; echo; cat >/dev/null");
  const std::string line = child.read_line(kSoon);
  ::close(leak);
  EXPECT_EQ(line.find("/dev/null"), std::string::npos) << line;
  EXPECT_NE(line.find("0=pipe:"), std::string::npos) << line;
  EXPECT_NE(line.find("1=pipe:"), std::string::npos) << line;
}

TEST(ChildProcess, TheWholeGroupIsGoneAtTheEnd) {
  pid_t first = 0;
  pid_t second = 0;
  {
    // One that ignores SIGTERM, with a child of its own that does, too.
    ChildProcess child("trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo $!; while :; do sleep 1; done");
    second = static_cast<pid_t>(std::stol(child.read_line(kSoon)));
    first = child.group();
    EXPECT_TRUE(alive(first));
    EXPECT_TRUE(alive(second));
  }
  EXPECT_TRUE(dies(first));
  EXPECT_TRUE(dies(second));
  {
    // The first process leaves at once, its child stays.
    ChildProcess child("(while :; do sleep 1; done) >/dev/null & echo $!");
    second = static_cast<pid_t>(std::stol(child.read_line(kSoon)));
  }
  EXPECT_TRUE(dies(second));
}

// --- the protocol ----------------------------------------------------------------------------------------------------

TEST(Protocol, ReadsObservations) {
  const Observation observation = cli::read_observation(
      R"json({"id": 4, "facts": ["(open fridge)", {"fact": "(lit lamp)", "p": 0.25},
          {"one_of": [{"facts": ["(on cup table)"], "p": 0.6}, {"facts": [], "p": 0.4}]}], "unseen": ["egg"], "complete": false})json",
      4);
  ASSERT_EQ(observation.sightings.size(), 3U);
  EXPECT_EQ(observation.sightings[0].alternatives[0].facts[0], "(open fridge)");
  EXPECT_EQ(observation.sightings[0].alternatives[0].probability, 1);
  EXPECT_EQ(observation.sightings[1].alternatives[0].probability, 0.25);
  ASSERT_EQ(observation.sightings[2].alternatives.size(), 2U);
  EXPECT_TRUE(observation.sightings[2].alternatives[1].facts.empty());
  EXPECT_EQ(observation.unseen, (std::vector<std::string>{"egg"}));
  EXPECT_FALSE(observation.complete);
  const Execution execution = cli::read_execution(R"({"id": 5, "done": false, "message": "slipped"})", 5);
  EXPECT_FALSE(execution.done);
  EXPECT_EQ(execution.message, "slipped");
}

TEST(Protocol, EveryWrongAnswerHasAMessage) {
  const std::vector<std::pair<std::string, std::string>> observations{
      {"Traceback (most recent call last):", "not JSON"},
      {"", "not JSON"},
      {"[1, 2]", "not a JSON object"},
      {"{\"facts\": []}", "no \"id\""},
      {"{\"id\": 3, \"facts\": []}", "its \"id\" is 3"},
      {"{\"id\": \"1\", \"facts\": []}", "its \"id\" is \"1\""},
      {"{\"id\": 1}", "needs \"facts\""},
      {"{\"id\": 1, \"facts\": \"(open x)\"}", "needs \"facts\", a list"},
      {"{\"id\": 1, \"facts\": [7]}", "an item of \"facts\""},
      {"{\"id\": 1, \"facts\": [{\"fact\": 7}]}", "an item of \"facts\""},
      {"{\"id\": 1, \"facts\": [{\"fact\": \"(a)\", \"p\": \"much\"}]}", "\"p\" must be a number"},
      {"{\"id\": 1, \"facts\": [{\"one_of\": [{\"facts\": [\"(a)\"]}]}]}", "an item of \"facts\""},
      {"{\"id\": 1, \"facts\": [{\"one_of\": [{\"facts\": [1], \"p\": 1}]}]}", "list of strings"},
      {"{\"id\": 1, \"facts\": [], \"unseen\": \"cup\"}", "\"unseen\" must be a list"},
      {"{\"id\": 1, \"facts\": [], \"complete\": 1}", "true or false"},
      {"{\"error\": \"the arm is in the emergency stop\"}", "the world reports: the arm is in the emergency stop"},
      {"{\"error\": 5}", "the world reports: 5"},
      {"{\"id\": 1, \"facts\": [\"\xff\"]}", "not JSON"},
      {std::string(200'000, '['), "not JSON"},
      {"{\"error\": " + std::string(400'000, '[') + std::string(400'000, ']') + "}", "deeper than JSON should be"},
      {R"({"error": "\u001b[2J\u009bline\nok: fake \u00fc"})",
       "the world reports: \\x1b[2J\\xc2\\x9bline\\nok: fake \xc3\xbc"},
      {"{\"error\": \"" + std::string(900'000, 'm') + "\"}", "mmm..."},
      {"{\"error\": [\"" + std::string(900'000, 'm') + "\"]}", "mmm..."},
      {"{\"facts\": [], \"id\": \"" + std::string(900'000, 'm') + "\"}", "mmm..., but the request's was 1"},
      {"\x1b[2J\xff\x80", "the world answered '\\x1b[2J\\xff\\x80': that is not JSON"},
  };
  for (const auto& [line, expected] : observations) {
    const std::string message = failure([&, text = line] { cli::read_observation(text, 1); });
    EXPECT_NE(message.find(expected), std::string::npos) << line.substr(0, 80) << " -> " << message;
    EXPECT_LT(message.size(), 800U);
    for (const char c : message) EXPECT_TRUE(c >= ' ' || (c & 0x80) != 0) << message;
  }
  EXPECT_NE(failure([] { cli::read_execution("{\"id\": 1}", 1); }).find("needs \"done\""), std::string::npos);
  EXPECT_NE(failure([] { cli::read_execution("{\"id\": 1, \"done\": 1}", 1); }).find("needs \"done\""),
            std::string::npos);
  EXPECT_NE(failure([] { cli::read_execution("{\"id\": 1, \"done\": true, \"message\": 1}", 1); }).find("a string"),
            std::string::npos);
}

// --- in the loop -----------------------------------------------------------------------------------------------------

class ProcessWorldTest : public ::testing::Test {
 protected:
  static std::string file(const std::string& name) { return (testing::source_dir() / name).string(); }

  LoopReport run(const std::string& command, double timeout = 60) {
    ProcessWorld::Options options;
    options.command = command;
    options.timeout = timeout;
    ProcessWorld world(scene_, options);
    LoopOptions loop_options;
    loop_options.plan.guidance = Guidance::kSearch;
    ClosedLoop loop(scene_, loop_options);
    LoopReport report = loop.run(world);
    world.finish(report);
    return report;
  }
  static std::string python(const std::string& arguments) {
    return "exec python3 '" + file("examples/robot_world.py") + "' " + arguments + " 2>/dev/null";
  }

  Scene scene_ = Scene::load(file("domains/tabletop/domain.pddl"), file("domains/tabletop/boxed_tools.pddl"));
};

TEST_F(ProcessWorldTest, ThePythonExampleReachesTheGoal) {
  const LoopReport report = run(python(""));
  EXPECT_EQ(report.end, LoopEnd::kGoalObserved) << report.reason;
  EXPECT_EQ(report.failures, 0U);
  const LoopReport shaky = run(python("--fail 0.4"));
  EXPECT_EQ(shaky.end, LoopEnd::kGoalObserved) << shaky.reason;
  EXPECT_GT(shaky.failures, 0U);
  EXPECT_EQ(shaky.replans + shaky.retries, shaky.failures);
}

TEST_F(ProcessWorldTest, ThePythonExampleMayBeUnsure) {
  const LoopReport report = run(python("--unsure pliers=box_1:0.5,box_2:0.5"));
  EXPECT_TRUE(is_success(report.end)) << report.reason;
  EXPECT_EQ(report.failures, 0U);
  ASSERT_FALSE(report.events.empty());
  EXPECT_EQ(report.events[0].states, 2U);
}

TEST_F(ProcessWorldTest, HostileWorldsEndInAReport) {
  const std::string hello = R"(read -r l; echo '{"id":1,"protocol":1}'; )";
  const std::vector<std::pair<std::string, std::string>> worlds{
      {"exit 3", "exit status 3"},
      {"read -r l; echo hello", "not JSON"},
      {"read -r l; echo '{\"id\":1}'; cat >/dev/null", "\"protocol\": 1"},
      {"read -r l; echo '{\"id\":1,\"protocol\":2}'; cat >/dev/null", "\"protocol\": 1"},
      {"read -r l; echo '{\"id\":1,\"protocol\":1,\"look\":1}'; cat >/dev/null", "\"look\" must be true or false"},
      {hello + "exit 0", "(exit status 0)"},
      {hello + "read -r l; echo '{\"id\":2,\"facts\":[\"(inside pliers box_3)\"]}'; cat >/dev/null",
       "did you mean 'box_1'?"},
      {hello + "read -r l; echo '{\"id\":2,\"facts\":[\"(graspable pliers)\"]}'; cat >/dev/null", "no action changes"},
      {hello + "read -r l; echo '{\"id\":1,\"facts\":[]}'; cat >/dev/null", "the request's was 2"},
      {hello + "read -r l; exec tr '\\0' x </dev/zero", "a line of more than"},
  };
  for (const auto& [command, expected] : worlds) {
    const LoopReport report = run(command);
    EXPECT_EQ(report.end, LoopEnd::kWorldFailed) << command;
    EXPECT_NE(report.reason.find(expected), std::string::npos) << command << " -> " << report.reason;
  }
  const LoopReport slow = run("exec sleep 100", 0.05);
  EXPECT_EQ(slow.end, LoopEnd::kWorldFailed);
  EXPECT_EQ(slow.reason, "the world did not answer within 0.05 s; raise --world-timeout if it needs longer");
  EXPECT_EQ(slow.actions, 0U);
  // It is asked for an action, and leaves or talks nonsense instead of an answer.
  const std::string asked =
      hello + R"(read -r l; echo '{"id":2,"facts":)" + Json(scene_.initial_state()).dump() + "}'; read -r l; ";
  for (const std::string& command :
       {std::string("exit 0"), std::string("echo '{\"id\":3,\"done\":1}'; cat >/dev/null")}) {
    const LoopReport report = run(asked + command);
    EXPECT_EQ(report.end, LoopEnd::kWorldFailed) << report.reason;
    EXPECT_EQ(report.actions, 1U) << report.reason;
    EXPECT_EQ(report.belief.size(), 2U);
    ASSERT_FALSE(report.events.empty());
    EXPECT_FALSE(report.events.back().answered);
    EXPECT_EQ(report.events.back().message, report.reason);
  }
  // It leaves in the middle of the work.
  const LoopReport leaves = run(python("--ends-after 5"));
  EXPECT_EQ(leaves.end, LoopEnd::kWorldFailed);
  EXPECT_GT(leaves.actions, 0U);
}

}  // namespace
}  // namespace metactrl::process_world_test
