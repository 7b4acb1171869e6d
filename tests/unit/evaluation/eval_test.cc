// metactrl eval and score, run as programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/command_line.h"
#include "support/small_apartment.h"
#include "support/test_data.h"
#include "support/virtualhome_prompts.h"

namespace metactrl::eval_test {
namespace {

using Json = nlohmann::json;
using testing::Flat;
using testing::House;
using testing::living_room;
using Result = testing::CommandResult;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class EvalCli : public testing::CommandLineTest {
 protected:
  void SetUp() override {
    CommandLineTest::SetUp();
    write_prompts({living_room().prompt(), "what?", living_room().prompt()});
  }
  // Their identifiers are 1, 2, ...
  void write_prompts(const std::vector<std::string>& prompts) const {
    Json list = Json::array();
    for (const std::string& prompt : prompts) {
      list.push_back({{"identifier", std::to_string(list.size() + 1)}, {"llm_prompt", prompt}});
    }
    write("p.json", list.dump());
  }
  Result eval(const std::string& more = "", const std::string& module = "vh-as") const {
    return run("eval " + module + " --prompts p.json --guidance search --out r.json " + more);
  }
};

TEST_F(EvalCli, AnswersWhatCanBeReadAndNamesTheRest) {
  const Result result = eval("--report report --jobs 2");
  EXPECT_EQ(result.code, 31) << result.err;
  EXPECT_TRUE(has(result.err, "p.json: prompt '2': prompt: error: the prompt has no line 'Objects in the scene:'"))
      << result.err;
  EXPECT_TRUE(has(result.err, "3 prompts, 2 guarantee full, 1 without an answer")) << result.err;
  const Json answers = Json::parse(read("r.json"));
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0]["identifier"], "1");
  EXPECT_TRUE(has(answers[0]["llm_output"], "SWITCHON"));
  EXPECT_EQ(answers[1]["llm_output"], "");
  EXPECT_EQ(answers[2]["llm_output"], answers[0]["llm_output"]);
  EXPECT_FALSE(std::filesystem::exists(path("r.json.partial")));
  EXPECT_TRUE(has(read("report/report.md"), "VirtualHome, action sequencing"));
  EXPECT_TRUE(Json::accept(read("report/answers.json")));
}

// States are enumerated beyond what a search may look at, so that weights are exact, unless an option says otherwise.
TEST_F(EvalCli, EnumeratesForExactWeights) {
  write_prompts({living_room().prompt()});
  ASSERT_EQ(eval("--report wide").code, 0);
  const Json wide = Json::parse(read("wide/answers.json"));
  EXPECT_EQ(wide["settings"]["max_states"], 10'000);
  EXPECT_EQ(wide["settings"]["exact_states"], 500'000);
  EXPECT_EQ(wide["settings"]["exact_memory"], 1'073'741'824);
  EXPECT_EQ(wide["answers"][0]["weights"], "uniform, exact");
  ASSERT_EQ(eval("--report narrow --max-states 2 --max-memory 64M").code, 0);
  const Json narrow = Json::parse(read("narrow/answers.json"));
  EXPECT_EQ(narrow["settings"]["exact_states"], 2);
  EXPECT_EQ(narrow["settings"]["exact_memory"], 64 << 20);
}

// The two levels of the prompts of a benchmark; prompts that cannot be read are left out.
TEST_F(EvalCli, InspectsTheTwoLevelsOfPrompts) {
  const std::string model =
      " --model random:1 --vocab '" + (testing::source_dir() / "models/pocket.gguf").string() + "'";
  const Result result = run("inspect --module vh-as --prompts p.json --output json --hidden 64" + model);
  ASSERT_EQ(result.code, 0) << result.err;
  const Json table = Json::parse(result.out)[0];
  EXPECT_EQ(table["prompts"], 2);
  EXPECT_EQ(table["uncounted"], 0);
  EXPECT_GT(table["syntax_states"].get<double>(), 10);
  EXPECT_EQ(table["one_level"]["states"].get<double>(),
            table["syntax_states"].get<double>() * table["semantic_states"].get<double>());
  EXPECT_LT(table["joint_states"].get<double>(), table["one_level"]["states"].get<double>());
  EXPECT_GT(table["one_level"]["dp_bytes"].get<double>(), table["two_levels"]["dp_bytes"].get<double>());
  EXPECT_TRUE(has(run("inspect --module vh-as --prompts p.json" + model).out, "| vh-as | "));
  EXPECT_EQ(run("inspect --module wah --prompts p.json" + model).code, 30);
  EXPECT_EQ(run("inspect --module vh-as" + model).code, 30);
  EXPECT_TRUE(
      has(run("inspect --module vh-as --prompts p.json -d d.pddl" + model).err, "give --domain and --problem, or"));
  EXPECT_EQ(run("inspect -d d.pddl -p p.pddl --limit 2").code, 30);
}

// A run that was killed leaves its journal. Here it is a whole one, of a run that could not write its answers.
TEST_F(EvalCli, GoesOnWhereItWasAndOnlyWithTheSameSettings) {
  write_prompts({living_room().prompt(), living_room().prompt()});
  std::filesystem::create_directories(path("r.json"));
  EXPECT_NE(eval().code, 0);
  const std::string journal = read("r.json.partial");
  ASSERT_FALSE(journal.empty());
  std::filesystem::remove_all(path("r.json"));

  for (const char* other : {"--max-states 77", "--on-infeasible error", "--rules paper", "--horizon 9"}) {
    const Result refused = eval(other);
    EXPECT_EQ(refused.code, 31) << other;
    EXPECT_TRUE(has(refused.err, "was begun with other settings")) << refused.err;
  }
  House house = living_room();
  house.node_goals = "tv is OFF\n";
  write_prompts({house.prompt(), house.prompt()});
  EXPECT_TRUE(has(eval().err, "was begun with other settings")) << "other prompts in the same file";
  write_prompts({living_room().prompt(), living_room().prompt()});

  // The first answer is taken as it stands; the second, whose line is cut off, is made anew.
  const std::size_t first_line = journal.find('\n') + 1;
  std::string changed = journal.substr(0, journal.find('\n', first_line) + 20);
  const std::size_t output = changed.find("SWITCHON", first_line);
  ASSERT_NE(output, std::string::npos);
  write("r.json.partial", changed.replace(output, 8, "LOOKAT"));
  const Result resumed = eval("--resume");
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_TRUE(has(resumed.err, "goes on with the 1 answer of r.json.partial")) << resumed.err;
  EXPECT_TRUE(has(resumed.err, "does without '--resume'")) << resumed.err;
  const Json answers = Json::parse(read("r.json"));
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_TRUE(has(answers[0]["llm_output"], "LOOKAT"));
  EXPECT_TRUE(has(answers[1]["llm_output"], "SWITCHON"));
  EXPECT_FALSE(std::filesystem::exists(path("r.json.partial")));
}

TEST_F(EvalCli, ALimitedRunIsGoneOnWith) {
  write_prompts({living_room().prompt(), living_room().prompt(), living_room().prompt()});
  const Result one = eval("--limit 1");
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_TRUE(has(one.err, "1 prompts")) << one.err;
  EXPECT_EQ(Json::parse(read("r.json")).size(), 1U);
  ASSERT_TRUE(std::filesystem::exists(path("r.json.partial")));
  // The first answer is taken as it stands.
  std::string journal = read("r.json.partial");
  const std::size_t output = journal.find("SWITCHON", journal.find('\n'));
  ASSERT_NE(output, std::string::npos);
  write("r.json.partial", journal.replace(output, 8, "LOOKAT"));
  const Result two = eval("--limit 2");
  EXPECT_TRUE(has(two.err, "goes on with the 1 answer")) << two.err;
  EXPECT_EQ(Json::parse(read("r.json")).size(), 2U);
  EXPECT_EQ(eval("--limit 1").code, 0) << "fewer again";
  const Result all = eval();
  EXPECT_TRUE(has(all.err, "goes on with the 2 answers")) << all.err;
  const Json answers = Json::parse(read("r.json"));
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_TRUE(has(answers[0]["llm_output"], "LOOKAT"));
  EXPECT_TRUE(has(answers[2]["llm_output"], "SWITCHON"));
  EXPECT_FALSE(std::filesystem::exists(path("r.json.partial")));
  EXPECT_EQ(eval("--limit -1").code, 30);
  // A part does not take the place of the whole.
  const Result part = eval("--limit 1");
  EXPECT_EQ(part.code, 31);
  EXPECT_TRUE(has(part.err, "holds answers that this run would not give")) << part.err;
  EXPECT_EQ(Json::parse(read("r.json")), answers);
  EXPECT_FALSE(std::filesystem::exists(path("r.json.partial")));
}

TEST_F(EvalCli, TheSystemsPartOfThePromptIsNeededByModelsOnly) {
  write_prompts({Flat().prompt()});
  EXPECT_EQ(eval("", "vh-sd").code, 0);
  const Result missing = run("eval vh-sd --prompts p.json --guidance mask --model random:1 --out r.json");
  EXPECT_EQ(missing.code, 30) << missing.err;
  EXPECT_TRUE(has(missing.err, "--system")) << missing.err;
  write("sd_system.json", "{}");
  EXPECT_TRUE(has(eval("", "vh-sd").err, "has no text 'system_prompt'"));
}

TEST_F(EvalCli, MistakesInFilesAndOptionsAreNamed) {
  EXPECT_EQ(run("eval vh-xx --prompts p.json --out r.json").code, 30);
  EXPECT_EQ(run("eval vh-as --out r.json").code, 30);
  write("p.json", "[{\"identifier\": \"1\"}]");
  const Result bad = eval();
  EXPECT_EQ(bad.code, 31);
  EXPECT_TRUE(has(bad.err, "p.json: error: entry 1 has no text 'llm_prompt'")) << bad.err;
  EXPECT_EQ(run("eval vh-as --prompts no.json --guidance search --out r.json").code, 31);
  EXPECT_EQ(run("score vh-as --tasks no.jsonl --responses no.json").code, 31);
}

// One message, whatever is in the files.
TEST_F(EvalCli, OddFilesGetAClearMessage) {
  write("empty", "");
  write("zeros", std::string(10'000'000, '\0'));
  write("open", "\"" + std::string(10'000'000, 'x'));
  write("bytes", "[\"\xff\xfe\"]");
  write("good.json", "[{\"identifier\": \"1\", \"llm_output\": \"\"}]");
  for (const char* file : {"empty", "zeros", "open", "bytes", "missing", "."}) {
    for (const std::string& arguments : {std::string("score vh-as --tasks t.jsonl --responses ") + file,
                                         std::string("score vh-as --responses good.json --tasks ") + file,
                                         std::string("score beh-as --responses good.json --tasks ") + file,
                                         std::string("eval vh-as --guidance search --out r.json --prompts ") + file}) {
      const Result r = run(arguments);
      EXPECT_EQ(r.code, 31) << arguments;
      EXPECT_LE(std::count(r.err.begin(), r.err.end(), '\n'), 2) << arguments << r.err.substr(0, 500);
      EXPECT_LE(r.err.size(), 1000U) << arguments;
      EXPECT_FALSE(has(r.err, "internal error")) << r.err.substr(0, 500);
    }
  }
}

// Watch-And-Help has tasks instead of prompts.
TEST_F(EvalCli, WritesThePromptsOfABenchmarkWithoutPromptFiles) {
  testing::SmallApartment home;
  home.add_task("on", "apple", "coffeetable");
  home.add_task("on", "pearl", "coffeetable");  // shut in for good
  home.write_all();
  const std::string tasks = " --tasks '" + home.tasks_file() + "' ";
  const Result answered = run("eval wah --guidance search --out r.json --report report" + tasks);
  EXPECT_EQ(answered.code, 0) << answered.err;
  EXPECT_TRUE(has(answered.err, "2 prompts, 1 guarantee full, 1 guarantee goals dropped")) << answered.err;
  EXPECT_TRUE(has(answered.err,
                  "tasks.jsonl: task '2': goal dropped: on(pearl, coffeetable): pearl (34) is in safe (27), which is "
                  "closed and cannot be opened while it is on"))
      << answered.err;
  EXPECT_TRUE(has(read("report/report.md"), "| 2 | on(pearl, coffeetable) | pearl (34) is in safe (27)"));
  EXPECT_TRUE(
      has(Json::parse(read("report/prompts.json"))[0]["llm_prompt"], "Goal, for one and the same coffeetable:"));
  EXPECT_EQ(Json::parse(read("report/answers.json"))["settings"]["goals"], "oracle");

  // The benchmark numbers its tasks.
  Json numbered = Json::parse(read("r.json"));
  for (Json& answer : numbered) answer["identifier"] = std::stoi(answer["identifier"].get<std::string>());
  write("numbered.json", numbered.dump());
  EXPECT_TRUE(has(run("score wah --output json --responses numbered.json" + tasks).out, "\"sr\": 0.5"));

  const Result scored = run("score wah --output json --responses r.json --report report" + tasks);
  EXPECT_EQ(scored.code, 0) << scored.err;
  const Json score = Json::parse(scored.out);
  EXPECT_EQ(score.at("n"), 2);
  EXPECT_EQ(score.at("sr"), 0.5);
  EXPECT_EQ(score.at("ssr"), 0.5);
  EXPECT_EQ(score.at("exec"), 1.0);
  EXPECT_EQ(score.at("do_nothing_ssr"), 0.0);
  EXPECT_EQ(score.at("first_failures").at("GRAB"), 0);
  EXPECT_TRUE(has(read("report/report.md"), "| ssr | 0.500 |")) << read("report/report.md");
  EXPECT_TRUE(has(read("report/index.html"), "The robot is in the bathroom 11.")) << "the prompts are on the page";
  EXPECT_TRUE(has(run("score wah --responses r.json" + tasks).out, "do_nothing_ssr")) << "beside every result";

  // Another goal mode is another run.
  write("r.json.partial", Json({{"settings", {{"module", "wah"}}}}).dump() + "\n");
  EXPECT_TRUE(has(run("eval wah --guidance search --out r.json" + tasks).err, "was begun with other settings"));
}

TEST_F(EvalCli, NamesTheFirstTasksThatCannotBeSolved) {
  testing::SmallApartment home;
  for (int i = 0; i < 13; ++i) home.add_task("on", "unicorn", "coffeetable");
  home.write_all();
  const std::string tasks = " --tasks '" + home.tasks_file() + "' ";
  for (const std::string& choice : {std::string("drop-goals"), std::string("error")}) {
    const Result result = run("eval wah --guidance search --out r.json --on-infeasible " + choice + tasks);
    EXPECT_TRUE(has(result.err, "task '10': ")) << result.err;
    EXPECT_FALSE(has(result.err, "task '11': ")) << result.err;
    EXPECT_TRUE(has(result.err, "the apartment has no unicorn")) << result.err;
    EXPECT_TRUE(has(result.err, "... and 3 more")) << result.err;
  }
}

TEST_F(EvalCli, AFolderThatIsMissingIsNotTakenForAFullDisk) {
  const Result result = run("eval vh-as --prompts p.json --guidance search --out none/r.json");
  EXPECT_EQ(result.code, 31);
  EXPECT_TRUE(has(result.err, "make its folder first")) << result.err;
  EXPECT_FALSE(has(result.err, "make room")) << result.err;
}

TEST_F(EvalCli, PromptsAndTasksAreNotMixedUp) {
  const auto refused = [&](const std::string& arguments, const std::string& message) {
    const Result result = run("eval " + arguments + " --out r.json");
    EXPECT_EQ(result.code, 30) << result.err;
    EXPECT_TRUE(has(result.err, message)) << result.err;
  };
  refused("wah --guidance search", "eval wah needs the tasks: --tasks FILE");
  refused("wah --guidance search --tasks t.jsonl --prompts p.json", "leave out --prompts");
  refused("wah --guidance search --tasks t.jsonl --goals instruction", "guidance search has no model");
  refused("vh-as --guidance search", "eval vh-as needs the prompts: --prompts FILE");
  refused("vh-as --guidance search --prompts p.json --tasks t.jsonl", "--tasks is for benchmarks without one");
  refused("vh-as --guidance search --prompts p.json --instruction-number 2",
          "--instruction-number is for benchmarks without one");
  EXPECT_EQ(run("eval wah --guidance search --tasks no.jsonl --out r.json").code, 31);
}

TEST_F(EvalCli, ScoresWhatEvalAnswered) {
  const std::string data = testing::data_path("eai_vh", testing::Extent::kExcerpt).string();
  for (const std::string module : {"as", "sd"}) {
    const Json prompts = Json::parse(std::ifstream(data + "/" + module + "_prompts.json"));
    write("p.json", Json::array({prompts[0], prompts[1]}).dump());
    EXPECT_EQ(eval("", "vh-" + module).code, 0);
    const Result scored =
        run("score vh-" + module + " --output json --tasks '" + data + "/" + module + ".jsonl' --responses r.json");
    EXPECT_EQ(scored.code, 0) << scored.err;
    const Json score = Json::parse(scored.out);
    // Over the tasks that were answered; and that is said.
    EXPECT_EQ(score.at("n"), 2);
    EXPECT_EQ(score.at("unanswered"), module == "as" ? 11 : 12);
    EXPECT_EQ(score.at("task_success"), 100.0);
    EXPECT_EQ(score.at("execution_success"), 100.0);
    const std::string text =
        run("score vh-" + module + " --tasks '" + data + "/" + module + ".jsonl' --responses r.json").out;
    EXPECT_TRUE(has(text, "all numbers are over the tasks that were answered")) << text;
    EXPECT_FALSE(has(text, "node_goals")) << text;
    EXPECT_FALSE(has(text, "there is no answer")) << text;
  }
}

// Of a run that was stopped there is only the journal, which is judged in the answers' place.
TEST_F(EvalCli, ScoresWhatWasAnsweredSoFar) {
  const std::string data = testing::data_path("eai_vh", testing::Extent::kExcerpt).string();
  const Json prompts = Json::parse(std::ifstream(data + "/as_prompts.json"));
  write("p.json", Json::array({prompts[0], prompts[1]}).dump());
  ASSERT_EQ(eval("--limit 1 --report report").code, 0);
  EXPECT_TRUE(has(read("report/answers.json"), "\"date\": \"20")) << read("report/answers.json");
  std::filesystem::remove(path("r.json"));
  for (const char* file : {"r.json", "r.json.partial"}) {
    const Result scored =
        run("score vh-as --output json --report page --tasks '" + data + "/as.jsonl' --responses " + file);
    EXPECT_EQ(scored.code, 0) << scored.err;
    EXPECT_TRUE(has(scored.err, "r.json.partial is what a run has answered so far")) << scored.err;
    const Json score = Json::parse(scored.out);
    EXPECT_EQ(score.at("n"), 1);
    EXPECT_EQ(score.at("unanswered"), 12);
    EXPECT_TRUE(has(read("page/report.md"), "Guidance search, rules environment")) << read("page/report.md");
    EXPECT_TRUE(has(read("page/report.md"), "Not complete: 12 tasks")) << read("page/report.md");
  }
  EXPECT_EQ(run("score vh-as --tasks '" + data + "/as.jsonl' --responses no.json").code, 31);
}

}  // namespace
}  // namespace metactrl::eval_test
