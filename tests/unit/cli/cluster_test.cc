// metactrl train started by mpirun: the file that one process writes. METACTRL_MPIRUN names what
// starts several of it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "metactrl/training/corpus.h"
#include "support/command_line.h"
#include "support/random.h"
#include "support/test_data.h"

namespace metactrl::cluster_test {
namespace {

using Result = testing::CommandResult;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

class ClusterCli : public testing::CommandLineTest {
 protected:
  void SetUp() override {
    CommandLineTest::SetUp();
    const std::string line = "'" METACTRL_MPIRUN "' --version >'" + path("version") + "' 2>&1";
    // Its mpirun calls itself "Open MPI", its mpiexec "OpenRTE" or "Open MPI".
    if (std::system(line.c_str()) != 0 || !has(read("version"), "(Open")) {
      GTEST_SKIP() << "the options of mpirun here are Open MPI's";
    }
    // A machine without network or shared memory can have an mpirun that starts nothing.
    const std::string nothing = "( " + mpi_command_of(2, "true") + " ) >'" + path("out") + "' 2>&1 </dev/null";
    if (std::system(nothing.c_str()) != 0) GTEST_SKIP() << "mpirun does not work here: " << read("out");
  }

  // Plans of random actions on random objects, hundreds of them distinct: several batches.
  void write_corpus(const std::string& name) const {
    const CorpusHeader header{"a test", Alphabet::meta({"press", "release", "carry"}, 6), Alphabet::tokens(40, 0)};
    CorpusWriter writer(path(name), header, false);
    const Alphabet& meta = header.meta;
    testing::Random random(3);
    for (std::size_t i = 0; i < 700; ++i) {
      CorpusRecord record;
      record.prompt = i / 4;
      record.seed = i;
      record.parsed = true;
      record.actions = static_cast<std::uint32_t>(1 + random.below(6));
      for (std::uint32_t action = 0; action < record.actions; ++action) {
        record.symbols.push_back(SymbolId{static_cast<std::uint32_t>(random.below(3))});
        record.symbols.push_back(meta.slot(random.below(6)));
        for (std::size_t k = 0; k < 3; ++k) {
          record.tokens.push_back(SymbolId{static_cast<std::uint32_t>(1 + random.below(39))});
        }
      }
      record.symbols.push_back(meta.end);
      record.tokens.push_back(SymbolId{0});
      writer.add(record);
    }
  }

  // For a shell that becomes mpirun.
  std::string mpi_command(unsigned processes, const std::string& arguments) const {
    return mpi_command_of(processes, "'" + testing::program() + "' " + arguments);
  }
  std::string mpi_command_of(unsigned processes, const std::string& program) const {
    return "cd '" + folder().string() +
           "' && exec env NO_COLOR=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 '" METACTRL_MPIRUN
           "' --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 --mca odls_base_sigkill_timeout 0 --mca "
           "btl_vader_single_copy_mechanism none -n " +
           std::to_string(processes) + " " + program;
  }
  Result run_mpi(unsigned processes, const std::string& arguments) const {
    const std::string line =
        "( " + mpi_command(processes, arguments) + " ) >'" + path("out") + "' 2>'" + path("err") + "' </dev/null";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out"), read("err")};
  }

  // The processes whose command line names this file, other than mpirun itself: the ranks, lowest first.
  static std::vector<pid_t> ranks_with(const std::string& file) {
    std::vector<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      std::ifstream stream(entry.path() / "cmdline", std::ios::binary);
      const std::string line{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
      if (line.starts_with(testing::program()) && has(line, file)) found.push_back(std::stoi(name));
    }
    std::sort(found.begin(), found.end());
    return found;
  }
};

TEST_F(ClusterCli, TwoProcessesWriteTheFileOfOne) {
  write_corpus("c");
  const std::string options = "train --corpus c --hidden 9 --held-out 7 --threads 1 --seed 2 ";
  int number = 0;
  for (const char* level : {"meta", "token"}) {
    for (const char* schedule : {"6,all", "'5,150;2,all' --dropout 0.1 --step-size 0.9"}) {
      const std::string name = std::to_string(number++);
      const std::string what = options + "--level " + level + " --stages " + schedule;
      const Result one = run(what + " --out one" + name);
      ASSERT_EQ(one.code, 0) << one.err;
      const Result two = run_mpi(2, what + " --out two" + name);
      ASSERT_EQ(two.code, 0) << two.err;
      EXPECT_EQ(read("two" + name), read("one" + name)) << what;
      // What is said is said once, and is the same but for the file's name; mpirun may have something to say, too.
      std::string expected = one.err;
      expected.replace(expected.find("model is one"), 12, "model is two");
      EXPECT_EQ(count(two.err, expected), 1U) << two.err << "instead of\n" << expected;
      EXPECT_EQ(two.out, "");
    }
  }
  const Result three = run_mpi(3, options + "--stages 6,all --out three");
  ASSERT_EQ(three.code, 0) << three.err;
  EXPECT_EQ(read("three"), read("one0"));
#ifdef METACTRL_HAS_LLAMA
  // The first process alone asks the model where to begin.
  const std::string clusters = options + "--stages 2,all --init kmeans --init-sequences 5 ";
  ASSERT_EQ(run(clusters + "--out clusters1").code, 0);
  const Result begun = run_mpi(2, clusters + "--out clusters2");
  ASSERT_EQ(begun.code, 0) << begun.err;
  EXPECT_EQ(read("clusters1"), read("clusters2"));
#endif
  // What is done is not done again.
  const Result again = run_mpi(2, options + "--stages 6,all --resume --out three");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(count(again.err, "model is three"), 1U) << again.err;
}

TEST_F(ClusterCli, GoesOnAfterOneProcessWasKilled) {
  write_corpus("c");
  const std::string options = "train --corpus c --hidden 70 --stages 30,all --save-every 0 --threads 1 --seed 1 ";
  ASSERT_EQ(run(options + "--out whole.hmm").code, 0);
  for (const std::size_t victim : {0U, 1U}) {
    const std::string out = "killed" + std::to_string(victim) + ".hmm";
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const std::string line = mpi_command(2, options + "--out '" + path(out) + "' >/dev/null 2>&1");
      ::execl("/bin/sh", "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
      ::_exit(127);
    }
    int status = 0;
    bool ended = false;
    while (!ended && !std::filesystem::exists(path(out + ".partial"))) {
      ended = ::waitpid(child, &status, WNOHANG) == child;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (!ended) {
      const std::vector<pid_t> ranks = ranks_with(path(out));
      if (ranks.size() == 2) ::kill(ranks[victim], SIGKILL);
      ::waitpid(child, &status, 0);  // mpirun ends the other
    }
    if (!std::filesystem::exists(path(out))) {
      EXPECT_NE(status, 0);
      if (victim == 0) {
        const Result refused = run_mpi(2, options + "--out " + out);
        EXPECT_EQ(refused.code, 30) << refused.err;
        EXPECT_EQ(count(refused.err, "go on with it by --resume"), 1U) << refused.err;
      }
      // By as many processes, or by one.
      const Result resumed =
          victim == 0 ? run(options + "--resume --out " + out) : run_mpi(2, options + "--resume --out " + out);
      ASSERT_EQ(resumed.code, 0) << resumed.err;
    }
    EXPECT_EQ(read(out), read("whole.hmm"));
  }
}

TEST_F(ClusterCli, AFailureIsSaidOnceAndEndsAll) {
  write_corpus("c");
  const auto expect = [&](const std::string& arguments, int code, const std::string& part) {
    const Result result = run_mpi(2, arguments);
    EXPECT_EQ(result.code, code) << arguments << "\n" << result.err;
    EXPECT_EQ(count(result.err, part), 1U) << arguments << "\n" << result.err;
  };
  expect("train --corpus none --out m.hmm", 31, "none: error: cannot be opened");
  expect("train --corpus c --hidden 0 --out m.hmm", 30, "is not a number from 1");
  expect("train --corpus c --precision tf32 --out m.hmm", 30, "is for --device cuda");
  expect("train --corpus c --hidden 4 --stages 2,all --out no/such/folder/m.hmm", 31, "no/such/folder");
  expect("train --corpus c --hidden 4 --stages 2,all --save-every 0 --out no/such/folder/m.hmm", 31, "no/such/folder");
}

// Each machine has files of its own: one that lacks them, or has others, is named.
TEST_F(ClusterCli, FilesThatDifferAreFound) {
  for (const char* name : {"a", "b", "empty"}) std::filesystem::create_directories(path(name));
  write_corpus("a/c");
  write_corpus("b/c");
  {
    CorpusWriter more(path("b/c"), Corpus::load(path("b/c")).header, true);
    more.add(more.earlier().front());
  }
  const std::string options = "train --corpus c --hidden 4 --stages 2,all --out m.hmm";
  const auto with_second_in = [&](const std::string& name) {
    return run_mpi(1, options + " : -n 1 --wdir '" + path(name) + "' '" + testing::program() + "' " + options);
  };
  write_corpus("c");
  const Result differs = with_second_in("b");
  EXPECT_EQ(differs.code, 31) << differs.err;
  EXPECT_EQ(count(differs.err, "differs between the machines"), 1U) << differs.err;
  const Result missing = with_second_in("empty");
  EXPECT_EQ(missing.code, 31) << missing.err;
  EXPECT_EQ(count(missing.err, "c: error: cannot be opened"), 1U) << missing.err;
  EXPECT_FALSE(std::filesystem::exists(path("m.hmm")));
  // Models are the first machine's: the second needs none.
  const Result same = with_second_in("a");
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_TRUE(std::filesystem::exists(path("m.hmm")));
  EXPECT_FALSE(std::filesystem::exists(path("a/m.hmm")));
}

}  // namespace
}  // namespace metactrl::cluster_test
