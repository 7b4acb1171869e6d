#include "support/child_process.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace metactrl::internal::child_process_test {
namespace {

TEST(ChildProcess, ArgumentsArePassedAsTheyAre) {
  std::string out;
  const std::string odd = "a b; echo 'c' $HOME \"d\"\n*";
  const ChildResult result = run_child(
      {"printf", "%s|", odd, ""}, {.folder = "", .out = [&](std::string_view piece) { out += piece; }, .go_on = {}});
  EXPECT_EQ(result.code, 0) << result.errors;
  EXPECT_EQ(out, odd + "||");
}

TEST(ChildProcess, CodesAndMessagesComeBack) {
  const ChildResult failed = run_child({"sh", "-c", "echo bad >&2; echo news >&2; exit 7"});
  EXPECT_EQ(failed.code, 7);
  EXPECT_EQ(failed.errors, "bad news");
  EXPECT_EQ(run_child({"sh", "-c", "kill -9 $$"}).code, 128 + 9);
  const ChildResult missing = run_child({"no-such-program-anywhere"});
  EXPECT_EQ(missing.code, 127);
  EXPECT_EQ(missing.errors, "no-such-program-anywhere is not installed");
}

TEST(ChildProcess, MuchOutputDoesNotBlock) {
  std::size_t out = 0;
  const ChildResult result =
      run_child({"sh", "-c", "head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2"},
                {.folder = "", .out = [&](std::string_view piece) { out += piece.size(); }, .go_on = {}});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(out, 3'000'000U);
  EXPECT_LE(result.errors.size(), 2000U);
}

TEST(ChildProcess, ReadsWhatItIsGiven) {
  std::string out;
  ChildOptions options;
  options.out = [&](std::string_view piece) { out += piece; };
  options.in = "first\nsecond" + std::string(1'000'000, 'x');
  EXPECT_EQ(run_child({"cat"}, options).code, 0);
  EXPECT_EQ(out, options.in);
  // A child that does not read is no failure; without anything to read there is the end at once.
  EXPECT_EQ(run_child({"true"}, options).code, 0);
  EXPECT_EQ(run_child({"sh", "-c", "read x && exit 5; exit 6"}).code, 6);
}

TEST(ChildProcess, RunsWhereItIsTold) {
  std::string out;
  run_child({"pwd"}, {.folder = "/", .out = [&](std::string_view piece) { out += piece; }, .go_on = {}});
  EXPECT_EQ(out, "/\n");
}

TEST(ChildProcess, CanBeStopped) {
  int asked = 0;
  const ChildResult result =
      run_child({"sleep", "60"}, {.folder = "", .out = {}, .go_on = [&] { return ++asked < 2; }});
  EXPECT_TRUE(result.stopped);
  EXPECT_NE(result.code, 0);
  // An exception ends the child, too: this returns at once.
  EXPECT_THROW(
      run_child({"sh", "-c", "echo x; sleep 60"},
                {.folder = "", .out = [](std::string_view) { throw std::runtime_error("full"); }, .go_on = {}}),
      std::runtime_error);
}

// Neither what a child started nor one that does not listen keeps this program waiting.
TEST(ChildProcess, IsStoppedWithWhatItStarted) {
  for (const char* script : {"sleep 60; true", "sleep 60 & wait", "trap '' TERM; while true; do sleep 60; done"}) {
    const ChildResult result =
        run_child({"sh", "-c", script}, {.folder = "", .out = {}, .go_on = [] { return false; }});
    EXPECT_TRUE(result.stopped) << script;
    EXPECT_NE(result.code, 0) << script;
  }
}

TEST(ChildProcess, FindsPrograms) {
  EXPECT_FALSE(find_program("sh").empty());
  EXPECT_EQ(find_program("no-such-program-anywhere"), "");
  EXPECT_EQ(find_program(""), "");
  EXPECT_EQ(find_program("/no/such"), "");
  EXPECT_EQ(find_program("/"), "") << "a folder";
}

}  // namespace
}  // namespace metactrl::internal::child_process_test
