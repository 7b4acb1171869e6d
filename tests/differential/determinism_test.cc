// Equal input, equal output, at any load: answers to the prompts of every benchmark module, made twice, one thread
// alone on a quiet machine and three threads beside eight busy loops, are the same byte for byte; and so is everything
// else that is known about them, but for the seconds and for how often a model was called.
//
// Every run has some of the excerpts that ship, the slow one many prompts of the data sets, and more ways to answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "metactrl/hmm.h"
#include "support/command_line.h"
#include "support/test_data.h"

namespace metactrl::determinism_test {
namespace {

using Json = nlohmann::json;
using testing::Extent;

constexpr unsigned kBusyLoops = 8;

struct Benchmark {
  const char* module;
  const char* folder;
  const char* questions;
  const char* system;  // empty: there is none
};
void PrintTo(const Benchmark& benchmark, std::ostream* out) { *out << benchmark.module; }

// Eight threads that do nothing, as fast as they can.
class BusyLoops {
 public:
  BusyLoops() {
    for (unsigned i = 0; i < kBusyLoops; ++i) {
      threads_.emplace_back([](const std::stop_token& stop) {
        std::atomic<unsigned> count = 0;
        while (!stop.stop_requested()) ++count;
      });
    }
  }

 private:
  std::vector<std::jthread> threads_;
};

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class Determinism : public testing::CommandLineTest, public ::testing::WithParamInterface<Benchmark> {
 protected:
  static bool has_tasks() { return std::string(GetParam().module) == "wah"; }
  static std::filesystem::path source(Extent extent) {
    return testing::data_path(GetParam().folder, extent) / GetParam().questions;
  }

  // At most so many questions, from all over the file.
  void write_questions(Extent extent, std::size_t most) const {
    if (has_tasks()) {
      std::vector<std::string> lines;
      std::istringstream in(content(source(extent)));
      for (std::string line; std::getline(in, line);) lines.push_back(line);
      std::string some;
      const std::size_t count = std::min(most, lines.size());
      for (std::size_t i = 0; i < count; ++i) some += lines[i * lines.size() / count] + "\n";
      write("questions", some);
      return;
    }
    const Json all = Json::parse(content(source(extent)));
    Json some = Json::array();
    const std::size_t count = std::min(most, all.size());
    for (std::size_t i = 0; i < count; ++i) some.push_back(all.at(i * all.size() / count));
    write("questions", some.dump());
  }

  // All answers, and all that is known about them, as text.
  std::string answers(Extent extent, const std::string& way, unsigned jobs) const {
    const std::filesystem::path folder = testing::data_path(GetParam().folder, extent);
    std::string command =
        std::string("eval ") + GetParam().module + " " + way + " --jobs " + std::to_string(jobs) +
        " --out answers.json --report report" +
        (has_tasks() ? " --tasks questions --scenes '" + folder.string() + "'" : std::string(" --prompts questions"));
    if (*GetParam().system != '\0') command += " --system '" + (folder / GetParam().system).string() + "'";
    const testing::CommandResult result = run(command);
    EXPECT_EQ(result.code, 0) << command << "\n" << result.err;
    Json known = Json::parse(read("report/answers.json"));
    for (Json& answer : known.at("answers")) {
      answer.erase("seconds");
      // Each thread's first answer also counts the reading of what all prompts have in common.
      answer.erase("model_calls");
    }
    const std::string all = read("answers.json") + known.dump(1);
    std::filesystem::remove(path("answers.json"));
    std::filesystem::remove_all(path("report"));
    return all;
  }

  void expect_equal(Extent extent, std::size_t most, const std::vector<std::string>& ways) const {
    METACTRL_NEEDS_EXTENT(extent, std::string(GetParam().folder) + "/" + GetParam().questions);
    write_questions(extent, most);
    for (const std::string& way : ways) {
      SCOPED_TRACE(way);
      const std::string quiet = answers(extent, way, 1);
      EXPECT_GT(quiet.size(), 100U);
      const BusyLoops loops;
      EXPECT_EQ(answers(extent, way, 3), quiet);
    }
  }
};

TEST_P(Determinism, BusyLoopsChangeNoByte) {
  // Few states, so that it takes seconds; the slow ones have as many as people get.
  const std::string quick = " --max-states 5000";
  expect_equal(Extent::kExcerpt, 3,
               {"--guidance search" + quick, "--guidance mask --model random:1" + quick,
                "--guidance uniform --model random:1" + quick});
}

// By a model of plans that nobody trained: every number is drawn.
TEST_P(Determinism, BusyLoopsChangeNoByteOfATrainedLookahead) {
  Hmm::random(Alphabet::meta({"walk", "find", "grab", "putback", "putin", "open", "close", "switchon"}, 12), 6, 1)
      .save(path("drawn.hmm"));
  expect_equal(Extent::kExcerpt, 2, {"--guidance trained --hmm drawn.hmm --model random:1 --max-states 5000"});
}

#ifdef METACTRL_HAS_LLAMA
TEST_P(Determinism, SlowBusyLoopsChangeNoByteOfTheModelInTheBox) {
  expect_equal(Extent::kExcerpt, 3, {"--guidance mask"});
}
#endif

TEST_P(Determinism, SlowBusyLoopsChangeNoByteOfManyAnswers) {
  expect_equal(Extent::kWhole, 4, {"--guidance search"});
  // Enumerated once with as many states as people get: more of them tell nothing new about the ways to decode.
  const std::string fewer = " --max-states 100000";
  expect_equal(Extent::kWhole, 4,
               {"--guidance mask --model random:1" + fewer, "--guidance uniform --model random:1" + fewer,
                "--guidance mask --model hostile:1" + fewer});
  expect_equal(Extent::kWhole, 2,
               {"--guidance uniform --model random:1 --decode beam --beam 2" + fewer,
                "--guidance uniform --model random:1 --decode smc --samples 3" + fewer});
}

// An instruction becomes goals to choose from, all of them the model's words, and then a plan for the first of them.
struct Instruction {
  const char* domain;
  const char* words;
};
class GoalDeterminism : public testing::CommandLineTest {
 protected:
  // All that is known of the goals and of the plan, but for the seconds.
  std::string answer(const Instruction& instruction) const {
    const std::string folder = (testing::source_dir() / "tests/data/instructions" / instruction.domain).string();
    const testing::CommandResult result =
        run("plan --domain '" + folder + "/domain.pddl' --problem '" + folder + "/problem.pddl' --instruction '" +
            instruction.words + "' --hypotheses 3 --yes --output json --model random:1 --max-states 5000");
    EXPECT_EQ(result.code, 0) << result.err;
    Json known = Json::parse(result.out);
    EXPECT_EQ(known.at("goal").at("hypotheses").size(), 3U);
    known.at("goal").erase("seconds");
    known.erase("timings");
    return known.dump(1);
  }
};

TEST_F(GoalDeterminism, BusyLoopsChangeNoByteOfAGoalFromWords) {
  for (const Instruction& instruction :
       {Instruction{"hospital", "the chart at the ward"}, Instruction{"kitchen", "the fish not raw"}}) {
    SCOPED_TRACE(instruction.domain);
    const std::string quiet = answer(instruction);
    const BusyLoops loops;
    EXPECT_EQ(answer(instruction), quiet);
  }
}

INSTANTIATE_TEST_SUITE_P(Modules, Determinism,
                         ::testing::Values(Benchmark{"vh-as", "eai_vh", "as_prompts.json", ""},
                                           Benchmark{"vh-sd", "eai_vh", "sd_prompts.json", "sd_system.json"},
                                           Benchmark{"wah", "wah_nl", "tasks.jsonl", ""}));
INSTANTIATE_TEST_SUITE_P(SlowModules, Determinism,
                         ::testing::Values(Benchmark{"beh-as", "eai_beh", "as_prompts.json", ""},
                                           Benchmark{"beh-sd", "eai_beh", "sd_prompts.json", "sd_system.json"}));

}  // namespace
}  // namespace metactrl::determinism_test
