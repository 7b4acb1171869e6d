#include "support/file_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "metactrl/error.h"
#include "support/files.h"

namespace metactrl::internal::file_lock_test {
namespace {

class FileLockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("metactrl_lock_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file() const { return (folder_ / "lock").string(); }
  // Could somebody else have it now?
  bool is_free() const {
    const int descriptor = ::open(file().c_str(), O_RDWR | O_CLOEXEC);
    EXPECT_GE(descriptor, 0);
    const bool taken = try_lock(descriptor);
    ::close(descriptor);
    return taken;
  }

  std::filesystem::path folder_;
};

// What a writer that was killed left beside a file goes with the next write of it; what somebody writes now stays, and so
// does what is called otherwise.
TEST_F(FileLockTest, LeftoversOfAWriteGoWithTheNext) {
  const std::string target = (folder_ / "plan").string();
  for (const char* name :
       {"plan.part17", "plan.part17-1", "plan.part18", "plan.part", "plan.partial", "plans.part17"}) {
    ::close(::open((folder_ / name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  }
  const int writer = ::open((folder_ / "plan.part18").c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_TRUE(try_lock(writer));
  write_file(target, "(move a b)\n");
  ::close(writer);
  EXPECT_EQ(names_in(folder_.string()),
            (std::vector<std::string>{"plan", "plan.part", "plan.part18", "plan.partial", "plans.part17"}));
  EXPECT_TRUE(names_in(target).empty());  // no folder
  EXPECT_EQ(read_file(target), "(move a b)\n");
}

// Many write one file at a time: each of them succeeds, and nothing is left.
TEST_F(FileLockTest, ManyWriteOneFile) {
  const std::string target = (folder_ / "plan").string();
  std::vector<std::thread> writers;
  std::atomic<int> failed = 0;
  for (int i = 0; i < 6; ++i) {
    writers.emplace_back([&, i] {
      try {
        for (int round = 0; round < 30; ++round) write_file(target, std::string(1000, static_cast<char>('a' + i)));
      } catch (const InputError&) {
        ++failed;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(read_file(target).size(), 1000U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(FileLockTest, IsHeldAsLongAsItLives) {
  {
    const FileLock lock(file());
    EXPECT_TRUE(std::filesystem::exists(file()));
    EXPECT_FALSE(is_free());
  }
  EXPECT_TRUE(is_free());
  EXPECT_TRUE(std::filesystem::exists(file())) << "whoever waits for it has it open";
}

TEST_F(FileLockTest, SaysOnceThatItWaits) {
  auto first = std::make_unique<FileLock>(file());
  int said = 0;
  // The lock becomes free only after the second has said that it waits, so it does wait.
  const FileLock second(file(), [&] {
    ++said;
    first.reset();
  });
  EXPECT_EQ(said, 1);
  EXPECT_FALSE(is_free());
}

TEST_F(FileLockTest, DoesNotSpeakOfWaitingWhenItNeedNot) {
  bool waited = false;
  const FileLock lock(file(), [&] { waited = true; });
  EXPECT_FALSE(waited);
}

TEST_F(FileLockTest, ThreadsTakeTurns) {
  constexpr int kRounds = 200;
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  const auto work = [&] {
    for (int i = 0; i < kRounds; ++i) {
      const FileLock lock(file());
      most = std::max(most.load(), ++inside);
      std::this_thread::yield();
      --inside;
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(most, 1);
}

TEST_F(FileLockTest, IsFreeWhenItsProgramWasKilled) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const FileLock lock(file());
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_FALSE(is_free());
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(is_free());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(FileLockTest, AFileThatCannotBeMadeIsAnInputError) {
  const std::string nowhere = (folder_ / "none" / "lock").string();
  try {
    const FileLock lock(nowhere);
    FAIL() << "it was made";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(nowhere), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("cannot be made"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace metactrl::internal::file_lock_test
