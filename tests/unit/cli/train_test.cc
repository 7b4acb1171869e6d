// metactrl sample, train and hmm, and plan --guidance trained, run as programs.
#include "metactrl/training/train.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/train_start.h"
#include "cluster/join.h"
#include "metactrl/hmm.h"
#include "metactrl/language_model.h"
#include "metactrl/training/corpus.h"
#include "support/command_line.h"
#include "support/naive_hmm.h"
#include "support/test_data.h"
#include "support/vocabularies.h"

namespace metactrl::train_test {
namespace {

using Json = nlohmann::json;
using Result = testing::CommandResult;

constexpr const char* kDomain = R"((define (domain lamps)
  (:requirements :strips :typing :negative-preconditions)
  (:types lamp)
  (:predicates (lit ?l - lamp) (power))
  (:action press :parameters (?l - lamp) :precondition (and (power) (not (lit ?l))) :effect (lit ?l))
  (:action release :parameters (?l - lamp) :precondition (lit ?l) :effect (not (lit ?l)))
  (:action blow-fuse :parameters () :precondition (power) :effect (not (power)))))";
constexpr const char* kProblem = R"((define (problem lamps-1) (:domain lamps) (:objects a b c - lamp)
  (:init (power)) (:goal (and (lit a) (lit b)))))";

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class TrainCli : public testing::CommandLineTest {
 protected:
  void SetUp() override {
    CommandLineTest::SetUp();
    write("d.pddl", kDomain);
    write("p.pddl", kProblem);
  }
  static std::string model() { return "--model random:1 --vocab '" + testing::vocabulary_file("gpt-2") + "'"; }

  // Runs beside the test, which has to wait for it. `file_size` is what its files may grow to.
  pid_t start(const std::string& arguments, rlim_t file_size = RLIM_INFINITY) const {
    const std::string line = command(arguments + " >/dev/null 2>&1");
    const pid_t child = ::fork();
    if (child != 0) return child;
    const struct rlimit limit { file_size, file_size };
    const struct rlimit no_core { 0, 0 };
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0 || ::setrlimit(RLIMIT_CORE, &no_core) != 0) ::_exit(126);
    ::execl("/bin/sh", "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }

  // Plans that press lamps, mostly the first, and then end.
  void write_corpus(const std::string& name, std::size_t records) const {
    CorpusHeader header{"a test", Alphabet::meta({"press", "release", "blow-fuse"}, 3), Alphabet::tokens(10, 0)};
    CorpusWriter writer(path(name), header, false);
    const Alphabet& meta = header.meta;
    for (std::size_t i = 0; i < records; ++i) {
      CorpusRecord record;
      record.prompt = i / 4;
      record.seed = i;
      record.family = static_cast<std::uint32_t>(i % 2);
      record.parsed = i % 10 != 9;
      if (record.parsed) {
        record.actions = 2;
        record.symbols = {meta.action("press"), meta.slot(0), meta.action("press"), meta.slot(i % 3 == 0 ? 2 : 1),
                          meta.end};
        record.tokens = {SymbolId{static_cast<std::uint32_t>(1 + i % 3)}, SymbolId{5}, SymbolId{0}};
      }
      writer.add(record);
    }
  }
};

// What a file says of who made it is shown, however deep it is nested.
TEST_F(TrainCli, WhoMadeAModelIsNoProgram) {
  const Hmm plain = Hmm::uniform(Alphabet::meta({"move"}, 1));
  const std::string deep = std::string(300'000, '[') + std::string(300'000, ']');
  Hmm(plain.alphabet(), 1, {1}, {1}, {plain.emission().begin(), plain.emission().end()}, deep).save(path("deep.hmm"));
  const Result info = run("hmm info deep.hmm");
  EXPECT_EQ(info.code, 0) << info.err;
  EXPECT_TRUE(has(info.out, "made by: [[[")) << info.out.substr(0, 300);
}

TEST_F(TrainCli, TrainsScoresAndPlans) {
  write_corpus("c", 200);
  const Result trained = run("train --corpus c --hidden 24 --stages 100,all --seed 3 --out m.hmm");
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_TRUE(has(trained.err, "24 hidden states, 8 symbols")) << trained.err;
  EXPECT_FALSE(std::filesystem::exists(path("m.hmm.partial")));
  // The same again, with another number of threads.
  ASSERT_EQ(run("train --corpus c --hidden 24 --stages 100,all --seed 3 --threads 3 --out again.hmm").code, 0);
  EXPECT_EQ(read("m.hmm"), read("again.hmm"));

  const Result info = run("hmm info m.hmm --output json");
  ASSERT_EQ(info.code, 0) << info.err;
  const Json parsed = Json::parse(info.out);
  EXPECT_EQ(parsed[0]["hidden"], 24);
  EXPECT_EQ(parsed[0]["actions"], 3);
  EXPECT_EQ(parsed[0]["steps"], 100);
  EXPECT_EQ(parsed[0]["made_by"]["schedule"], "100,all");

  const Result score = run("hmm score m.hmm --corpus c --output json");
  ASSERT_EQ(score.code, 0) << score.err;
  const Json total = Json::parse(score.out)[0]["total"];
  EXPECT_EQ(total["plans"], 180);
  // What is random in a plan is which lamp comes second: h(1/3) = 0.6365 nats.
  EXPECT_GT(total["nats_per_plan"].get<double>(), 0.63);
  EXPECT_LT(total["nats_per_plan"].get<double>(), 1.0);
  EXPECT_NEAR(total["nats_per_action"].get<double>(), total["nats_per_plan"].get<double>() / 2, 1e-9);
  EXPECT_EQ(Json::parse(score.out)[0]["corpora"][0]["families"].size(), 2U);

  for (const char* bridge : {"uniform", "surrogate"}) {
    const Result plan =
        run("plan -d d.pddl -p p.pddl --horizon 6 --guidance trained --hmm m.hmm --output json --bridge " +
            std::string(bridge) + " " + model());
    ASSERT_EQ(plan.code, 0) << plan.err;
    EXPECT_TRUE(has(plan.out, "\"full\"")) << plan.out;
    EXPECT_TRUE(has(plan.out, "trained, exact")) << plan.out;
  }
  // Where there are too many states for a table, the result says what stands in for it.
  const std::string few = "plan -d d.pddl -p p.pddl --guidance trained --hmm m.hmm --max-states 1 " + model();
  const Result text = run(few);
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(has(text.err, "; weights: trained, witness plan only; ")) << text.err;
  const Result json = run(few + " --output json");
  EXPECT_EQ(Json::parse(json.out)["weights"], "trained, witness plan only") << json.out;
}

TEST_F(TrainCli, ScoresTheTokensToo) {
  write_corpus("c", 100);
  ASSERT_EQ(run("train --corpus c --level token --hidden 4 --out t.hmm").code, 0);
  ASSERT_EQ(
      run("train --corpus c --hidden 4 --tie-slots --dropout 0.1 --stages '5,2;5,all' --step-size 0.9 --out m.hmm")
          .code,
      0);
  const Result compared = run("hmm compare t.hmm m.hmm --corpus c");
  ASSERT_EQ(compared.code, 0) << compared.err;
  EXPECT_TRUE(has(compared.out, "t.hmm\n") && has(compared.out, "m.hmm\n")) << compared.out;
  EXPECT_TRUE(has(compared.out, "per action")) << compared.out;
  // A model of tokens cannot rank actions.
  const Result plan = run("plan -d d.pddl -p p.pddl --guidance trained --hmm t.hmm " + model());
  EXPECT_EQ(plan.code, 31);
  EXPECT_TRUE(has(plan.err, "t.hmm: error: is a model of tokens")) << plan.err;
}

// A model of the vocabulary's tokens, as the bridge.
TEST_F(TrainCli, TokensBridge) {
  // The vocabulary, as a corpus of it says.
  ASSERT_EQ(run("sample -d d.pddl -p p.pddl --max-tokens 2 --count 1 --out v " + model()).code, 0);
  const Alphabet tokens = Corpus::load(path("v")).header.tokens;
  EXPECT_NE(tokens.vocabulary, 0U);
  Hmm::random(tokens, 2, 1).save(path("t.hmm"));
  Hmm::random(Alphabet::tokens(10, 0), 2, 1).save(path("other.hmm"));
  Hmm::random(Alphabet::meta({"press"}, 3), 2, 1).save(path("meta.hmm"));
  const std::string options = "plan -d d.pddl -p p.pddl --horizon 6 --bridge hmm " + model() + " --output json ";
  const Result plan = run(options + "--token-hmm t.hmm");
  ASSERT_EQ(plan.code, 0) << plan.err;
  const Json json = Json::parse(plan.out);
  EXPECT_EQ(json["bridge"], "hmm");
  EXPECT_EQ(json["guarantee"], "full");
  // With a model of plans beside it; and explained.
  const Result both = run(options + "--token-hmm t.hmm --guidance trained --hmm meta.hmm");
  EXPECT_EQ(both.code, 0) << both.err;
  EXPECT_TRUE(has(both.out, "trained, exact")) << both.out;
  EXPECT_EQ(run("explain -d d.pddl -p p.pddl --horizon 6 --bridge hmm --token-hmm t.hmm " + model()).code, 0);
  const auto expect = [&](const std::string& more, const std::string& part) {
    const Result result = run(options + more);
    EXPECT_EQ(result.code, 31) << more;
    EXPECT_TRUE(has(result.err, part)) << result.err;
  };
  expect("--token-hmm other.hmm", "another vocabulary");
  expect("--token-hmm meta.hmm", "meta.hmm: error: is a model of actions");
  // A file that was cut off, and one with a number changed.
  const std::string whole = read("t.hmm");
  write("cut.hmm", whole.substr(0, whole.size() - 40));
  expect("--token-hmm cut.hmm", "cut.hmm: error: ");
  write("head.hmm", whole.substr(0, 30));
  expect("--token-hmm head.hmm", "head.hmm: error: ");
  std::string changed = whole;
  changed[changed.size() / 2] = static_cast<char>(changed[changed.size() / 2] ^ 1);
  write("changed.hmm", changed);
  expect("--token-hmm changed.hmm", "changed.hmm: error: ");
}

// The paper's models without training, and what is done with them.
TEST_F(TrainCli, UniformModels) {
  const std::string vocabulary = testing::vocabulary_file("gpt-2");
  ASSERT_EQ(run("hmm uniform --model '" + vocabulary + "' --hidden 3 --out t.hmm").code, 0);
  ASSERT_EQ(run("hmm uniform -d d.pddl -p p.pddl --slots 5 --out m.hmm").code, 0);
  const Hmm tokens = Hmm::load(path("t.hmm"));
  EXPECT_FALSE(tokens.alphabet().is_meta());
  EXPECT_NE(tokens.alphabet().vocabulary, 0U);
  EXPECT_EQ(tokens.num_hidden(), 3U);
  const auto symbols = static_cast<double>(tokens.num_symbols());
  EXPECT_NEAR(tokens.log_likelihood(std::vector<SymbolId>{SymbolId{7}, SymbolId{9}, tokens.alphabet().end}),
              -3 * std::log(symbols), 1e-4);
  const Hmm actions = Hmm::load(path("m.hmm"));
  EXPECT_EQ(actions.alphabet(), Alphabet::meta({"press", "release", "blow-fuse"}, 5));
  EXPECT_NEAR(actions.log_likelihood(std::vector<SymbolId>{SymbolId{0}, actions.alphabet().end}), -2 * std::log(10),
              1e-6);
  // With the alphabet of another.
  ASSERT_EQ(run("hmm uniform m.hmm --hidden 2 --out same.hmm").code, 0);
  EXPECT_EQ(Hmm::load(path("same.hmm")).alphabet(), actions.alphabet());
  // Syntax alone, weighed; and the product of both levels.
  for (const char* guidance : {"--guidance syntax", "--guidance syntax --bridge hmm", "--guidance mask --bridge hmm",
                               "--bridge hmm", "--guidance trained --hmm m.hmm --bridge hmm"}) {
    const Result plan = run("plan -d d.pddl -p p.pddl --horizon 6 --output json --token-hmm t.hmm " + model() + " " +
                            std::string(guidance));
    const bool syntax = has(guidance, "syntax");
    ASSERT_EQ(plan.code, syntax ? 12 : 0) << guidance << plan.err;
    EXPECT_EQ(Json::parse(plan.out)["guarantee"] == "full", !syntax) << guidance << plan.out;
  }
  const auto expect = [&](const std::string& arguments, int code, const std::string& part) {
    const Result result = run("hmm " + arguments);
    EXPECT_EQ(result.code, code) << arguments;
    EXPECT_TRUE(has(result.err, part)) << result.err;
  };
  expect("uniform --out x", 30, "takes --out FILE and one of");
  expect("uniform m.hmm --model pocket --out x", 30, "takes --out FILE and one of");
  expect("uniform m.hmm", 30, "takes --out FILE");
  expect("uniform --model random:1 --out x", 30, "has no vocabulary of its own");
  expect("uniform -d d.pddl --out x", 30, "--problem");
  expect("info m.hmm --slots 3", 30, "--slots is for uniform");
  expect("info", 30, "no model is named");
}

TEST_F(TrainCli, JudgesByWhatItKeptBack) {
  write_corpus("c", 200);  // 50 prompts
  const Result trained = run("train --corpus c --hidden 4 --held-out 5 --out m.hmm");
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_TRUE(has(trained.err, "; on 30 held out: ")) << trained.err;
  const Result score = run("hmm score m.hmm --corpus c --held-out 5 --output json");
  ASSERT_EQ(score.code, 0) << score.err;
  EXPECT_EQ(Json::parse(score.out)[0]["total"]["plans"], 30);
  // One of several corpora may hold none of them.
  write_corpus("small", 8);
  const Result both = run("hmm score m.hmm --corpus small --corpus c --held-out 5 --output json");
  ASSERT_EQ(both.code, 0) << both.err;
  EXPECT_EQ(Json::parse(both.out)[0]["corpora"][0]["plans"], 0);
  EXPECT_EQ(Json::parse(both.out)[0]["total"], Json::parse(score.out)[0]["total"]);
  EXPECT_TRUE(has(run("hmm score m.hmm --corpus small --corpus c --held-out 5").out, "small: no plan to score"));
  // What is done is not done again.
  const Result again = run("train --corpus c --hidden 4 --held-out 5 --resume --out m.hmm");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.err, trained.err);
}

// -log p of what cannot be is infinite, and that of nothing is no number: neither is 0.
TEST_F(TrainCli, ScoresOfTheImpossibleAreNotTheBest) {
  write_corpus("c", 40);
  ASSERT_EQ(run("train --corpus c --hidden 2 --stages 5,all --out fair.hmm").code, 0);
  // Presses the first lamp, then the second, and nothing else.
  const Alphabet meta = Corpus::load(path("c")).header.meta;
  std::vector<float> emission(meta.size * 5, 0.0F);
  const SymbolId written[]{meta.action("press"), meta.slot(0), meta.action("press"), meta.slot(1), meta.end};
  std::vector<float> transition(25, 0.0F);
  for (std::size_t z = 0; z < 5; ++z) {
    emission[static_cast<std::size_t>(written[z]) * 5 + z] = 1;
    transition[z * 5 + std::min<std::size_t>(z + 1, 4)] = 1;
  }
  Hmm(meta, 5, {1, 0, 0, 0, 0}, transition, emission, "a test").save(path("narrow.hmm"));
  const Result compared = run("hmm compare fair.hmm narrow.hmm --corpus c --output json");
  ASSERT_EQ(compared.code, 0) << compared.err;
  const Json json = Json::parse(compared.out);
  EXPECT_EQ(json[0]["total"]["impossible"], 0);
  EXPECT_GT(json[0]["total"]["nats_per_plan"].get<double>(), 0);
  EXPECT_GT(json[1]["total"]["impossible"], 0);
  EXPECT_TRUE(json[1]["total"]["nats_per_plan"].is_null()) << compared.out;
  EXPECT_EQ(json[1]["total"]["without_impossible"]["nats_per_plan"], 0);
  EXPECT_EQ(json[0]["corpora"][0]["families"][1]["family"], 1);
  EXPECT_TRUE(has(run("hmm score narrow.hmm --corpus c").out, "-log p infinite: ")) << "in words, too";
  const Result nothing = run("hmm score fair.hmm --corpus c --held-out 1000");
  EXPECT_EQ(nothing.code, 31);
  EXPECT_TRUE(has(nothing.err, "give a smaller number")) << nothing.err;
  std::filesystem::resize_file(path("c"), std::filesystem::file_size(path("c")) - 3);
  EXPECT_TRUE(has(run("hmm score fair.hmm --corpus c").err, "cut off"));
}

// A model of plans comes back from Ctrl-G's format as one of plans.
TEST_F(TrainCli, ExchangedModelsStillGuide) {
  write_corpus("c", 40);
  ASSERT_EQ(run("train --corpus c --hidden 2 --stages 5,all --out m.hmm").code, 0);
  ASSERT_EQ(run("hmm export m.hmm --out model.safetensors").code, 0);
  ASSERT_EQ(run("hmm import model.safetensors --out back.hmm").code, 0);
  const Result plan = run("plan -d d.pddl -p p.pddl --horizon 6 --guidance trained --hmm back.hmm " + model());
  EXPECT_EQ(plan.code, 0) << plan.err;
}

TEST_F(TrainCli, OverwritesNothingByMistake) {
  write_corpus("c", 40);
  const std::string corpus = read("c");
  const std::string options = "train --corpus c --hidden 2 --stages 1,all --out ";
  const auto expect = [&](const std::string& arguments, int code, const std::string& part) {
    const Result result = run(arguments);
    EXPECT_EQ(result.code, code) << arguments << result.err;
    EXPECT_TRUE(has(result.err, part)) << result.err;
  };
  expect(options + "c", 30, "--out is the corpus");
  expect(options + "./c", 30, "--out is the corpus");
  EXPECT_EQ(read("c"), corpus);
  write("notes.txt", "what I must not forget");
  expect(options + "notes.txt", 31, "is there already");
  EXPECT_EQ(read("notes.txt"), "what I must not forget");
  expect(options + "none/m.hmm", 31, "No such file or directory");
  expect(options + ".", 31, "is a folder");
  expect(options + "/dev/null", 31, "is not an ordinary file");
  EXPECT_FALSE(std::filesystem::exists("/dev/null.partial"));
  ASSERT_EQ(run(options + "m.hmm").code, 0);
  const std::string finished = read("m.hmm");
  expect("train --corpus c --hidden 3 --stages 1,all --resume --out m.hmm", 31, "hidden was 2 and is 3");
  EXPECT_EQ(read("m.hmm"), finished);
  expect(options + "x.hmm --held-out 1", 30, "--held-out 1 keeps back every plan");
  expect("train --corpus c --hidden 2 --stages 18446744073709551615,all --out x.hmm", 30, "cannot read");
  expect("train --corpus c --level token --tie-slots --out x.hmm", 30, "--tie-slots is for --level meta");
  write("x.hmm.partial", "damaged");
  expect(options + "x.hmm --resume", 31, "remove it, and train anew");
}

TEST_F(TrainCli, GoesOnAfterItWasKilled) {
  write_corpus("c", 400);
  // It is killed as soon as there is something to go on with. If it was faster than that, it gets more to do.
  std::string options;
  for (int hidden = 100;
       !std::filesystem::exists(path("killed.hmm.partial")) || std::filesystem::exists(path("killed.hmm"));
       hidden *= 2) {
    ASSERT_LT(hidden, 10'000) << "it always came to its end first";
    std::filesystem::remove(path("killed.hmm"));
    std::filesystem::remove(path("killed.hmm.partial"));
    options = "train --corpus c --hidden " + std::to_string(hidden) + " --stages 60,all --save-every 0 --seed 1 ";
    const pid_t child = start(options + "--out killed.hmm");
    int status = 0;
    bool ended = false;
    while (!ended && !std::filesystem::exists(path("killed.hmm.partial"))) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ended = ::waitpid(child, &status, WNOHANG) == child;
    }
    if (ended) continue;
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
  }
  EXPECT_EQ(run(options + "--out killed.hmm").code, 30);  // --resume is missing
  EXPECT_EQ(run(options + "--dropout 0.5 --resume --out killed.hmm").code, 31);
  const Result resumed = run(options + "--resume --out killed.hmm");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  ASSERT_EQ(run(options + "--out whole.hmm").code, 0);
  EXPECT_EQ(read("killed.hmm"), read("whole.hmm"));
}

TEST_F(TrainCli, JoinsCorporaOfDifferentDomains) {
  write_corpus("a", 100);
  CorpusHeader header{"another", Alphabet::meta({"fly"}, 5), Alphabet::tokens(10, 0)};
  {
    CorpusWriter writer(path("b"), header, false);
    CorpusRecord record;
    record.parsed = true;
    record.actions = 1;
    record.symbols = {header.meta.action("fly"), header.meta.slot(4), header.meta.end};
    record.tokens = {SymbolId{0}};
    for (int i = 0; i < 10; ++i) writer.add(record);
  }
  ASSERT_EQ(run("train --corpus a --corpus b --balance --hidden 12 --held-out 0 --out m.hmm").code, 0);
  const Hmm hmm = Hmm::load(path("m.hmm"));
  EXPECT_EQ(hmm.alphabet(), Alphabet::meta({"blow-fuse", "fly", "press", "release"}, 5));
  // Each corpus has half of the weight: about half of the plans begin with fly, not one in ten.
  double fly = 0;
  for (std::size_t z = 0; z < 12; ++z) fly += hmm.initial()[z] * hmm.emission(hmm.alphabet().action("fly"))[z];
  EXPECT_NEAR(fly, 0.5, 0.2);
}

TEST_F(TrainCli, ExchangesWithCtrlG) {
  Hmm::random(Alphabet::tokens(9, 2), 3, 1).save(path("a.hmm"));
  ASSERT_EQ(run("hmm export a.hmm --out model.safetensors").code, 0);
  EXPECT_EQ(Json::parse(read("config.json"))["eos_token_id"], 2);
  ASSERT_EQ(run("hmm import model.safetensors --out b.hmm").code, 0);
  const Hmm a = Hmm::load(path("a.hmm"));
  const Hmm b = Hmm::load(path("b.hmm"));
  EXPECT_EQ(a.alphabet(), b.alphabet());
  for (std::size_t i = 0; i < a.emission().size(); ++i) EXPECT_NEAR(a.emission()[i], b.emission()[i], 1e-6);
}

TEST_F(TrainCli, SaysWhatIsWrong) {
  write_corpus("c", 20);
  const auto expect = [&](const std::string& arguments, int code, const std::string& part) {
    const Result result = run(arguments);
    EXPECT_EQ(result.code, code) << arguments << "\n" << result.err;
    EXPECT_TRUE(has(result.err, part)) << arguments << "\n" << result.err;
  };
  expect("train --corpus none --out m.hmm", 31, "none: error: cannot be opened");
  expect("train --corpus d.pddl --out m.hmm", 31, "is not a corpus of metactrl");
  expect("train --corpus c --stages 5 --out m.hmm", 30, "cannot read '5'");
  expect("train --corpus c --hidden 0 --out m.hmm", 30, "is not a number from 1");
#ifndef METACTRL_HAS_CUDA
  expect("train --corpus c --device cuda --out m.hmm", 31, "built without CUDA");
#endif
  expect("train --corpus c --precision tf32 --out m.hmm", 30, "is for --device cuda");
  expect("train --corpus c --init kmeans --model random:1 --out m.hmm", 31, "random:1: error: gives no embeddings");
  expect("train --corpus c --init kmeans --model hostile:1 --out m.hmm", 31, "hostile:1: error: gives no embeddings");
  expect("train --corpus c --init kmeans --model none.gguf --out m.hmm", 31, "none.gguf");
  expect("train --corpus c --init kmeans --hidden 1 --out m.hmm", 30, "needs at least two hidden states");
  expect("train --corpus c --model pocket --out m.hmm", 30, "--model belongs to --init kmeans");
  expect("train --corpus c --init best --out m.hmm", 30, "none of random, kmeans");
  expect("hmm info d.pddl", 31, "is not a hidden Markov model of metactrl");
  expect("hmm score c", 30, "--corpus FILE is missing");
  expect("hmm import c", 30, "takes one file and --out FILE");
  expect("hmm scroe c", 30, "did you mean 'score'?");
  expect("sample --count 3 --out x", 30, "give --domain and --problem, or --module and --prompts");
  expect("sample --domain d.pddl --count 3 --out x", 30, "at least one --problem");
  expect("sample -d d.pddl -p none.pddl --count 3 --out x " + model(), 31, "none.pddl");
  const std::string bytes = read("c");
  write("c", bytes.substr(0, bytes.size() - 3));
  const Result cut = run("train --corpus c --hidden 2 --out m.hmm");
  EXPECT_EQ(cut.code, 0);
  EXPECT_TRUE(has(cut.err, "the last record was cut off")) << cut.err;
  write("p1.pddl", "(define (problem one) (:domain lamps) (:objects a - lamp) (:init (power)) (:goal (lit a)))");
  expect("sample -d d.pddl -p p1.pddl --count 3 --out x " + model(), 31, "have no others like them");
}

// A random model writes no plans: each generation is counted, none is kept.
TEST_F(TrainCli, SamplesAreCountedAndGoneOnWith) {
  const std::string options = "sample -d d.pddl -p p.pddl --per-prompt 3 --max-tokens 4 --seed 5 " + model();
  const Result first = run(options + " --count 7 --out a");
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_TRUE(has(first.err, "7 of 7 generations, 0 are plans, 7 could not be read")) << first.err;
  EXPECT_EQ(run(options + " --count 7 --out a").code, 31);  // is there already
  EXPECT_EQ(run(options + " --temperature 2 --count 9 --resume --out a").code, 31);
  const std::string bytes = read("a");
  write("a", bytes.substr(0, bytes.size() - 5));
  ASSERT_EQ(run(options + " --count 12 --resume --out a").code, 0);
  ASSERT_EQ(run(options + " --count 12 --out b").code, 0);
  EXPECT_EQ(read("a"), read("b"));
  const Corpus corpus = Corpus::load(path("a"));
  ASSERT_EQ(corpus.records.size(), 12U);
  EXPECT_EQ(corpus.records[11].prompt, 3U);
  const Result train = run("train --corpus a --out m.hmm");
  EXPECT_EQ(train.code, 31);
  EXPECT_TRUE(has(train.err, "holds no plans")) << train.err;
}

// Weights that were exchanged under the same name are other settings.
TEST_F(TrainCli, SamplesOfOtherWeightsAreNotMixed) {
  if (model_runtime().empty()) GTEST_SKIP() << "built without llama.cpp";
  std::filesystem::copy_file(testing::source_dir() / "models/pocket.gguf", path("m.gguf"));
  const std::string options = "sample -d d.pddl -p p.pddl --max-tokens 2 --model m.gguf --threads 1 --out a ";
  ASSERT_EQ(run(options + "--count 1").code, 0) << read("err");
  ASSERT_EQ(run(options + "--count 2 --resume").code, 0) << read("err");
  std::string bytes = read("m.gguf");
  bytes[bytes.size() - 40] ^= 1;
  write("m.gguf", bytes);
  const Result other = run(options + "--count 3 --resume");
  EXPECT_EQ(other.code, 31);
  EXPECT_TRUE(has(other.err, "model_sha256 was")) << other.err;
}

// Killed between and inside of records; whatever was lost is made again, and nothing comes twice. The system kills whoever
// writes beyond the size that it allows for a file.
TEST_F(TrainCli, SamplingGoesOnAfterItWasKilled) {
  const std::string options = "sample -d d.pddl -p p.pddl --per-prompt 2 --max-tokens 4 --seed 9 " + model();
  ASSERT_EQ(run(options + " --count 1 --out first").code, 0);
  ASSERT_EQ(run(options + " --count 20 --out whole").code, 0);
  const std::uintmax_t first = std::filesystem::file_size(path("first"));
  const std::uintmax_t size = std::filesystem::file_size(path("whole"));
  ASSERT_GT(size, first + 4);
  for (const std::uintmax_t allowed : {first + (size - first) / 4, first + (size - first) / 2, size - 1}) {
    int status = 0;
    ASSERT_GT(::waitpid(start(options + " --count 20 --resume --out killed", allowed), &status, 0), 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << allowed << " of " << size << " bytes";
    EXPECT_EQ(WTERMSIG(status), SIGXFSZ);
    EXPECT_GT(std::filesystem::file_size(path("killed")), 0U);
    EXPECT_LE(std::filesystem::file_size(path("killed")), allowed);
  }
  ASSERT_EQ(run(options + " --count 20 --resume --out killed").code, 0);
  EXPECT_EQ(read("killed"), read("whole"));
}

// Started as one of several, a program without MPI would do all the work several times, into one file.
TEST_F(TrainCli, KnowsWhetherItIsOneOfSeveral) {
  using Environment = std::vector<std::pair<const char*, const char*>>;
  const auto launch_with = [](const Environment& environment) {
    for (const auto& [name, value] : environment) ::setenv(name, value, 1);
    const cluster::Launch launch = cluster::launch();
    for (const auto& [name, value] : environment) ::unsetenv(name);
    return launch;
  };
  EXPECT_FALSE(cluster::launch().by_launcher);
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    EXPECT_TRUE(launch_with({{name, "3"}}).by_mpi) << name;
    EXPECT_EQ(launch_with({{name, "3"}}).rank, 3U) << name;
    EXPECT_EQ(launch_with({{name, "3"}}).size, 0U) << name;
    EXPECT_FALSE(launch_with({{name, "x"}}).by_launcher) << name;
    EXPECT_EQ(launch_with({{name, "3"}}).job, "") << name;
    EXPECT_EQ(launch_with({{name, "3"}, {"PMIX_NAMESPACE", "j7"}}).job, "j7") << name;
    EXPECT_EQ(launch_with({{name, "3"}, {"SLURM_JOB_ID", "5"}, {"SLURM_STEP_ID", "2"}}).job, "5.2") << name;
    EXPECT_FALSE(launch_with({{name, ""}}).by_launcher) << name;
  }
  const auto expect = [&](const Environment& environment, bool mpi) {
    const cluster::Launch launch = launch_with(environment);
    EXPECT_TRUE(launch.by_launcher) << environment[0].first;
    EXPECT_EQ(launch.by_mpi, mpi) << environment[0].first;
    EXPECT_EQ(launch.rank, 5U) << environment[0].first;
    EXPECT_EQ(launch.size, 6U) << environment[0].first;
    EXPECT_EQ(launch.rank_on_machine, 1U) << environment[0].first;
  };
  expect({{"OMPI_COMM_WORLD_RANK", "5"}, {"OMPI_COMM_WORLD_SIZE", "6"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}}, true);
  expect({{"PMI_RANK", "5"}, {"PMI_SIZE", "6"}, {"MPI_LOCALRANKID", "1"}}, true);
  const Environment srun{{"SLURM_PROCID", "5"}, {"SLURM_STEP_NUM_TASKS", "6"}, {"SLURM_LOCALID", "1"}};
  expect(srun, false);
  Environment with_mpi = srun;
  with_mpi.emplace_back("PMIX_RANK", "5");
  expect(with_mpi, true);
  // The script of a job of several tasks is alone until srun starts them.
  EXPECT_FALSE(launch_with({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "6"}}).by_launcher);
  // No rank of so few.
  EXPECT_EQ(launch_with({{"PMI_RANK", "5"}, {"PMI_SIZE", "4"}}).size, 0U);

  write_corpus("c", 20);
  const Result without = run("train --corpus c --out m.hmm", "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2");
  EXPECT_EQ(without.code, 31);
  EXPECT_TRUE(has(without.err, "srun: error:")) << without.err;
  EXPECT_EQ(run("train --corpus c --hidden 2 --stages 1,all --out m.hmm", "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1").code,
            0);
  if (cluster::has_mpi()) return;
  const Result result = run("train --corpus c --out m.hmm", "OMPI_COMM_WORLD_RANK=0");
  EXPECT_EQ(result.code, 31);
  EXPECT_TRUE(has(result.err, "built without MPI")) << result.err;
}

// Processes of a machine take its GPUs in turn.
TEST(GpuOfProcessTest, GpusAreTakenInTurn) {
  const auto gpus_of = [](unsigned processes, int gpus) {
    std::vector<int> chosen;
    for (unsigned rank = 0; rank < processes; ++rank) chosen.push_back(cluster::gpu_of(rank, gpus));
    return chosen;
  };
  EXPECT_EQ(gpus_of(4, 4), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(gpus_of(2, 4), (std::vector<int>{0, 1}));
  EXPECT_EQ(gpus_of(5, 2), (std::vector<int>{0, 1, 0, 1, 0}));
  EXPECT_EQ(gpus_of(3, 1), (std::vector<int>{0, 0, 0}));  // also when a launcher shows each process one GPU
  EXPECT_EQ(gpus_of(2, 0), (std::vector<int>{0, 0}));     // and the engine says that there is none
}

TEST(TrainStartTest, SymbolsHaveTexts) {
  const Alphabet meta = Alphabet::meta({"press", "wait"}, 2);
  const std::vector<SymbolId> plan{meta.action("press"), meta.slot(1), meta.slot(5), meta.action("wait"),
                                   meta.action("press"), meta.slot(0), meta.end};
  EXPECT_EQ(cli::symbol_texts(meta, plan),
            (std::vector<std::string>{"(press", " ID1", " UNK", ")\n(wait", ")\n(press", " ID0"}));
  EXPECT_TRUE(cli::symbol_texts(meta, std::vector<SymbolId>{meta.end}).empty());
}

// Before any step of training, a start from clusters knows more about plans that it did not see than one at random.
TEST_F(TrainCli, ClustersAreABetterStartThanChance) {
  write_corpus("c", 200);
  SequenceSet training;
  SequenceSet held_out;
  const Corpus corpus = Corpus::load(path("c"));
  const std::vector<bool> kept_back = metactrl::held_out(corpus, 5);
  for (std::size_t i = 0; i < corpus.records.size(); ++i) {
    (kept_back[i] ? held_out : training).add(corpus.records[i].symbols);
  }
  cli::ClusterStart start;
  start.clusters.hidden = 8;
  const auto engine = make_cpu_engine({});
  const Alphabet& alphabet = corpus.header.meta;
  const Hmm clusters = cli::cluster_start(alphabet, training.distinct(), start);
  EXPECT_EQ(clusters.num_hidden(), 8U);
  const double nats = -engine->likelihood(clusters, held_out).log_likelihood / held_out.total_weight();
  double best = 1e300;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Hmm random = Hmm::random(alphabet, 8, seed);
    best = std::min(best, -engine->likelihood(random, held_out).log_likelihood / held_out.total_weight());
  }
  // One of two lamps is all that is random in a plan: 0.64 nats. At random, five symbols of eight.
  EXPECT_LT(nats, 3);
  EXPECT_GT(best, 8);
}

TEST_F(TrainCli, StartsFromClustersOfAModelsHiddenStates) {
  write_corpus("c", 100);
  const std::string options = "train --corpus c --hidden 6 --stages 3,all --init kmeans --seed 2 ";
  const Result trained = run(options + "--out m.hmm");
  ASSERT_EQ(trained.code, 0) << trained.err;
  ASSERT_EQ(run(options + "--threads 3 --out again.hmm").code, 0);
  EXPECT_EQ(read("m.hmm"), read("again.hmm"));
  const Json made_by = Json::parse(run("hmm info m.hmm --output json").out)[0]["made_by"];
  EXPECT_EQ(made_by["init"], "kmeans");
  EXPECT_EQ(made_by["init_model"], "pocket");
  ASSERT_EQ(run("train --corpus c --hidden 6 --stages 3,all --seed 2 --out random.hmm").code, 0);
  EXPECT_NE(read("m.hmm"), read("random.hmm"));
  // Where parameters were saved, a resumed run goes on with them; with another start it is another training.
  Hmm::load(path("m.hmm")).with_step(1).save(path("half.hmm.partial"));
  EXPECT_EQ(run("train --corpus c --hidden 6 --stages 3,all --seed 2 --resume --out half.hmm").code, 31);
  const Result resumed = run(options + "--resume --out half.hmm");
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(Hmm::load(path("half.hmm")).step(), 3U);
}

// At the token level the model reads its own tokens, and no other's.
TEST_F(TrainCli, StartsFromClustersOfTokens) {
  const auto vocabulary = load_vocabulary((testing::source_dir() / "models/pocket.gguf").string());
  const auto end = static_cast<std::uint32_t>(vocabulary->end_of_turn().front());
  const Alphabet tokens = Alphabet::tokens(vocabulary->size(), end, vocabulary->fingerprint());
  {
    CorpusWriter writer(path("c"), {"a test", Alphabet::meta({"press"}, 3), tokens}, false);
    for (std::size_t i = 0; i < 30; ++i) {
      CorpusRecord record;
      record.prompt = i;
      record.parsed = true;
      record.actions = 1;
      for (const TokenId token : vocabulary->encode(i % 3 == 0 ? "(press a)\n(press b)\n" : "(press b)\n", "")) {
        record.tokens.push_back(SymbolId{static_cast<std::uint32_t>(token)});
      }
      record.tokens.push_back(tokens.end);
      record.symbols = {SymbolId{0}, SymbolId{1}, SymbolId{5}};
      writer.add(record);
    }
  }
  const std::string options = "train --corpus c --level token --init kmeans --stages 2,all --held-out 0 ";
  const Result trained = run(options + "--hidden 16 --out t.hmm");
  ASSERT_EQ(trained.code, 0) << trained.err;
  ASSERT_EQ(run("train --corpus c --level token --stages 2,all --held-out 0 --hidden 16 --out random.hmm").code, 0);
  const auto nats = [&](const std::string& name) {
    return Json::parse(run("hmm score " + name + " --corpus c --output json").out)[0]["total"]["nats_per_plan"]
        .get<double>();
  };
  // What is random in a plan is whether it has two actions: h(1/3) = 0.64 nats, and a little for what was never seen.
  EXPECT_LT(nats("t.hmm"), 1.5);
  EXPECT_GT(nats("random.hmm"), 4);
  write_corpus("other", 20);
  const Result other = run("train --corpus other --level token --init kmeans --out o.hmm");
  EXPECT_EQ(other.code, 31);
  EXPECT_TRUE(has(other.err, "has another vocabulary than the corpus")) << other.err;
}

// The model in the box writes plans.
TEST_F(TrainCli, TheModelInTheBoxGivesACorpus) {
  const std::filesystem::path tabletop = testing::source_dir() / "domains/tabletop";
  const std::string task =
      "-d '" + (tabletop / "domain.pddl").string() + "' -p '" + (tabletop / "dishwasher.pddl").string() + "'";
  const Result sampled =
      run("sample " + task + " --count 12 --per-prompt 4 --temperature 0.7 --max-tokens 120 --out c");
  ASSERT_EQ(sampled.code, 0) << sampled.err;
  const Corpus corpus = Corpus::load(path("c"));
  ASSERT_EQ(corpus.records.size(), 12U);
  for (const CorpusRecord& record : corpus.records) {
    if (!record.parsed) continue;
    EXPECT_EQ(record.symbols.back(), corpus.header.meta.end);
    EXPECT_EQ(record.tokens.back(), corpus.header.tokens.end);
    EXPECT_GE(record.symbols.size(), 1U + record.actions);
  }
  // Prompts that are worked on at once, and a count that ends within a prompt, change nothing, to the last byte.
  const std::string options = "sample " + task + " --per-prompt 4 --temperature 0.7 --max-tokens 120 ";
  ASSERT_EQ(run(options + "--count 6 --jobs 2 --out j").code, 0) << read("err");
  ASSERT_EQ(run(options + "--count 12 --jobs 3 --resume --out j").code, 0) << read("err");
  EXPECT_EQ(read("j"), read("c"));
}

// How much a corpus shows, and what the plans that are needed have and it has not.
TEST_F(TrainCli, SaysHowDiverseACorpusIs) {
  write_corpus("c", 30);
  const Result text = run("corpus c");
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(has(text.out, "plans of 30 generations")) << text.out;
  EXPECT_TRUE(has(text.out, "actions by frequency")) << text.out;
  const Json json = Json::parse(run("corpus c --output json").out);
  EXPECT_EQ(json["generations"], 30);
  EXPECT_GT(json["distinct_plans"].get<int>(), 0);
  EXPECT_GE(json["plans"].get<int>(), json["distinct_plans"].get<int>());
  const std::string never = json["by_frequency"].back()["name"];
  const std::string often = json["by_frequency"].front()["name"];
  ASSERT_EQ(json["by_frequency"].back()["times"], 0) << json;
  write("a.json", Json({{{"identifier", "1"}, {"llm_output", "{\"" + never + "\": [], \"" + often + "\": []}"}},
                        {{"identifier", "2"}, {"llm_output", often + "(x) and nothing else"}}})
                      .dump());
  const Json needed = Json::parse(run("corpus c --answers a.json --output json").out)["needed"];
  EXPECT_EQ(needed["never"], Json::array({never}));
  EXPECT_EQ(needed["answers_with_never"], 1);
  EXPECT_EQ(needed["answers"], 2);
  EXPECT_TRUE(
      has(run("corpus c --answers a.json").out, "1 never occur here, and 1 answers have one of them: " + never));
  write("bad.json", "{}");
  EXPECT_EQ(run("corpus c --answers bad.json").code, 31);
  EXPECT_EQ(run("corpus none").code, 31);
  EXPECT_EQ(run("corpus").code, 30);
}

}  // namespace
}  // namespace metactrl::train_test
