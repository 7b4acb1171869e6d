// metactrl sample with the prompts and tasks of benchmarks, run as a program.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "cli/benchmarks_program.h"
#include "evaluation/commands.h"
#include "metactrl/training/corpus.h"
#include "support/command_line.h"
#include "support/small_apartment.h"
#include "support/test_data.h"
#include "support/virtualhome_prompts.h"
#include "support/vocabularies.h"

namespace metactrl::sample_source_test {
namespace {

using Result = testing::CommandResult;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class SampleCli : public testing::CommandLineTest {
 protected:
  static std::string model() { return "--model random:1 --vocab '" + testing::vocabulary_file("gpt-2") + "'"; }
  // Two, in p.json: a radio may stand in the television's place.
  void write_prompts() {
    testing::House silent = testing::living_room();
    silent.node_goals = "tv is OFF\n";
    const std::string radio = std::regex_replace(silent.prompt(), std::regex(R"(\btv\b)"), "radio");
    const nlohmann::json prompts = {{{"identifier", "1"}, {"llm_prompt", testing::living_room().prompt()}},
                                    {{"identifier", "2"}, {"llm_prompt", radio}}};
    write("p.json", prompts.dump());
  }
};

TEST_F(SampleCli, SaysWhatIsWrong) {
  const auto expect = [&](const std::string& arguments, int code, const std::string& part) {
    const Result result = run(arguments);
    EXPECT_EQ(result.code, code) << arguments << "\n" << result.err;
    EXPECT_TRUE(has(result.err, part)) << arguments << "\n" << result.err;
  };
  expect("sample --module wah --prompts c --count 3 --out x", 30, "wah needs its tasks: --tasks FILE");
  expect("sample --module wah --tasks c --prompts c --count 3 --out x", 30, "are written from its tasks");
  expect("sample --module wah --tasks none.jsonl --count 3 --out x", 31, "none.jsonl");
  expect("sample --module vh-as --prompts c --tasks c --count 3 --out x", 30, "are for --module wah");
  expect("sample --module=waah --prompts c --count 3 --out x", 30, "'waah' is none of vh-as");
  expect("sample --module vh-as --count 3 --out x", 30, "--module and --prompts FILE belong together");
  expect("sample -d d.pddl -p p.pddl --prompt compact --count 3 --out x", 30, "--prompt belongs to --module");
  expect("sample -d d.pddl -p p.pddl --system s --count 3 --out x", 30, "--system belongs to --module");
  expect("sample -d d.pddl -p p.pddl --rules paper --count 3 --out x", 30, "--rules belongs to --module");
  expect("sample -d d.pddl --module wah --tasks c --count 3 --out x", 30, "or --module and --prompts");
}

// Watch-And-Help has tasks and no prompts.
TEST_F(SampleCli, SamplesTasksOfWatchAndHelp) {
  testing::SmallApartment home;
  home.add_task("on", "mug", "kitchentable");
  home.add_task("on", "plate", "coffeetable")["family"] = "another";
  home.write_all();
  const std::string options =
      "sample --module wah --tasks '" + home.tasks_file() + "' --per-prompt 2 --max-tokens 3 " + model();
  const Result first = run(options + " --count 3 --out a");
  ASSERT_EQ(first.code, 0) << first.err;
  ASSERT_EQ(run(options + " --count 6 --resume --out a").code, 0);
  ASSERT_EQ(run(options + " --count 6 --out b").code, 0);
  EXPECT_EQ(read("a"), read("b"));
  const Corpus corpus = Corpus::load(path("a"));
  ASSERT_EQ(corpus.records.size(), 6U);
  EXPECT_EQ(corpus.records[0].family, 1U);
  EXPECT_EQ(corpus.records[2].family, 0U);
  EXPECT_NE(corpus.header.meta.action("putback"), corpus.header.meta.unknown());
}

// A corpus is gone on with only where these words are the same: another order of the keys would end every one there is.
TEST_F(SampleCli, SettingsStayAsTheyAre) {
  const auto made_by = [&](const std::string& options) {
    const Result result = run("sample " + options + " --per-prompt 2 --max-tokens 3 --count 1 --out c " + model());
    EXPECT_EQ(result.code, 0) << result.err;
    const std::string text = Corpus::load(path("c")).header.made_by;
    std::filesystem::remove(path("c"));
    return std::regex_replace(text, std::regex("[0-9a-f]{15,}"), "#");  // without the digests
  };
  const std::string start =
      R"({"sampled_from":"random:1","model":"random:1","temperature":1.0,"top_p":1.0,"seed":0,"max_tokens":3,)"
      R"("per_prompt":2,"slots":49,)";

  const std::string tabletop = (testing::source_dir() / "domains/tabletop").string();
  EXPECT_EQ(made_by("-d '" + tabletop + "/domain.pddl' -p '" + tabletop + "/dishwasher.pddl'"),
            start + R"("domain":"domain.pddl #","problems":["dishwasher.pddl #"],"format":"pddl"})");

  write_prompts();
  EXPECT_EQ(made_by("--module vh-as --prompts p.json --prompt compact"),
            start + R"("module":"vh-as","prompts":"p.json #","system":"#","prompt_style":"compact"})");
  EXPECT_EQ(made_by("--module vh-as --prompts p.json --prompt compact --rules paper"),
            start + R"("module":"vh-as","rules":"paper","prompts":"p.json #","system":"#","prompt_style":"compact"})");

  testing::SmallApartment home;
  home.add_task("on", "mug", "kitchentable");
  home.add_task("on", "plate", "coffeetable");
  home.write_all();
  EXPECT_EQ(made_by("--module wah --tasks '" + home.tasks_file() + "'"), start + R"("module":"wah","tasks":"#"})");
}

// A model for other rules has their actions: by the paper's, plugs are pulled and put in.
TEST_F(SampleCli, TheAlphabetIsThatOfTheRules) {
  write_prompts();
  for (const std::string rules : {"environment", "paper", "literal"}) {
    const Result result =
        run("sample --module vh-as --prompts p.json --per-prompt 2 --max-tokens 3 --count 2 --rules " + rules +
            " --out " + rules + " " + model());
    ASSERT_EQ(result.code, 0) << result.err;
  }
  const Alphabet environment = Corpus::load(path("environment")).header.meta;
  const Alphabet paper = Corpus::load(path("paper")).header.meta;
  EXPECT_NE(paper, environment);
  EXPECT_NE(paper.action("plugin"), paper.unknown()) << ::testing::PrintToString(paper.names);
  EXPECT_NE(Corpus::load(path("literal")).header.made_by, Corpus::load(path("paper")).header.made_by);
}

// What metactrl has no option for itself, it hands over.
TEST(SampleSource, EveryOptionLeadsToTheBenchmarks) {
  CLI::App app;
  app.set_help_flag("");
  evaluation::benchmark_source()->add_options(app);
  ASSERT_FALSE(app.get_options().empty());
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : {option->get_name(), option->get_name() + "=x"}) {
      EXPECT_EQ(cli::needs_benchmarks({"sample", name}), "sample " + option->get_name());
    }
  }
  for (const char* name : {"--domain", "--out", "--max-tokens"}) {
    EXPECT_EQ(cli::needs_benchmarks({"sample", name}), "") << name;
  }
}

}  // namespace
}  // namespace metactrl::sample_source_test
