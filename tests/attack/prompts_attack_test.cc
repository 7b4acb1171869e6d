// Attacks the answers to the benchmarks' prompts: random and hostile models answer the prompts of all modules under the
// guarantee, and the benchmarks' own rules, as their scorers have them, judge what comes out.
//
//     prompts_attack_test --plans 3000 --report prompts     # writes prompts.md and prompts.json
//     prompts_attack_test --excerpts --plans 100            # of the tasks that ship
//     prompts_attack_test --module beh-as --prompt ID --index 17     # one answer again
//
// What of a task can be reached at all is what the plan of a search without a model reaches: an answer that was held to
// the task must be executed to its end where that plan is, and succeed where that plan does. Modules take turns, each
// with some tasks, and each of these with some answers, one of them without a guarantee: those must mostly fail.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "attack/arsenal.h"
#include "attack/campaign.h"
#include "attack/report.h"
#include "benchmarks/module.h"
#include "benchmarks/reproduce_modules.h"
#include "metactrl/error.h"
#include "support/random.h"
#include "support/str_cat.h"
#include "support/test_data.h"

namespace metactrl::attack {
namespace {

using benchmarks::Answer;
using benchmarks::EvaluateOptions;
using benchmarks::Response;
using benchmarks::TaskScore;
using internal::str_cat;
using testing::Random;

constexpr std::size_t kTasks = 3;    // of a module in its turn
constexpr std::size_t kAnswers = 6;  // to each; the first without a guarantee
constexpr const char* kBytes = "bytes";

struct Options : CampaignOptions {
  bool excerpts = false;
  std::string module;  // this one alone
  std::string prompt;  // this one alone, with `index`
  std::size_t index = 0;
};

Options read_options(int count, char** arguments) {
  Options options;
  options.plans = 1000;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    if (name == "--excerpts") {
      options.excerpts = true;
      continue;
    }
    if (i + 1 >= count) throw std::invalid_argument(name + " needs a value");
    const std::string value = arguments[++i];
    if (options.take(name, value)) continue;
    if (name == "--module") {
      options.module = value;
    } else if (name == "--prompt") {
      options.prompt = value;
    } else if (name == "--index") {
      options.index = std::stoul(value);
    } else {
      throw std::invalid_argument(str_cat("unknown option ", name, "; known: ", CampaignOptions::kNames,
                                          " --excerpts --module --prompt --index"));
    }
  }
  return options;
}

// A module under attack.
struct Target {
  const benchmarks::Module* module = nullptr;
  std::unique_ptr<benchmarks::ReproduceTasks> tasks;
  std::size_t next_task = 0;
  std::map<std::size_t, std::size_t> asked{};  // task -> how often
  std::map<std::size_t, Answer> searched{};
};

// One answer, until it is judged.
struct Attempt {
  std::size_t task = 0;
  std::size_t index = 0;
  Cell cell;
  std::string model;
  std::string vocabulary;
  Answer answer;
};

class Campaign {
 public:
  explicit Campaign(Options options) : options_(std::move(options)) {}

  int run() {
    open();
    if (!options_.prompt.empty()) return run_one();
    while (report_.guaranteed().plans < options_.plans && !out_of_time()) {
      for (Target& target : targets_) {
        if (!out_of_time()) turn(target);
      }
    }
    const std::string command = str_cat("prompts_attack_test --plans ", options_.plans, " --seed ", options_.seed,
                                        options_.excerpts ? " --excerpts" : "");
    publish(report_, options_, command, static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
    return verdict();
  }

 private:
  void open() {
    for (const benchmarks::Module& module : benchmarks::modules()) {
      if (!options_.module.empty() && options_.module != module.name) continue;
      std::filesystem::path data = options_.excerpts ? testing::test_dir() / "data" : testing::data_dir();
      if (const std::string missing = missing_file(module, data.string()); !missing.empty()) {
        report_.add_note("not there, so tasks are those that ship", missing);
        data = testing::test_dir() / "data";
      }
      Target target{&module, open_tasks(module, data.string())};
      // Runs that end early begin with different tasks.
      target.next_task = options_.seed * 7'919 % target.tasks->identifiers().size();
      targets_.push_back(std::move(target));
    }
    if (targets_.empty()) throw std::invalid_argument("there is no module " + options_.module);
  }

  int run_one() {
    Target& target = targets_.front();
    const std::vector<std::string>& all = target.tasks->identifiers();
    const auto found = std::find(all.begin(), all.end(), options_.prompt);
    if (targets_.size() != 1 || found == all.end())
      throw std::invalid_argument("there is no such prompt; say --module");
    const auto task = static_cast<std::size_t>(found - all.begin());
    std::vector<Attempt> one;
    one.push_back(answer(target, task, options_.index));
    std::cout << one.front().answer.output << '\n' << one.front().answer.reason << '\n';
    judge(target, std::move(one));
    std::cout << report_.markdown("one answer", 0);
    return report_.violations().empty() ? 0 : 1;
  }

  // Answers are judged together: a scorer reads its files each time. It takes one answer to a task.
  void turn(Target& target) {
    const std::size_t count = target.tasks->identifiers().size();
    std::vector<std::size_t> tasks;
    for (std::size_t i = 0; i < std::min(kTasks, count); ++i) tasks.push_back(target.next_task++ % count);
    for (std::size_t number = 0; number < kAnswers; ++number) {
      std::vector<Attempt> attempts;
      for (const std::size_t task : tasks) {
        if (out_of_time()) break;
        attempts.push_back(answer(target, task, target.asked[task]++));
      }
      judge(target, std::move(attempts));
    }
    std::cerr << str_cat(target.module->name, ": ", grouped(report_.guaranteed().plans), " plans in all, ",
                         report_.violations().size(), " violations\n");
  }

  static EvaluateOptions evaluate_options() {
    EvaluateOptions options;
    options.plan.on_infeasible = PlanOptions::OnInfeasible::kDropGoals;
    options.plan.lookahead.exact.states = 10'000;
    options.plan.lookahead.search.states = 10'000;
    return options;
  }

  // A function of seed, task and index.
  Attempt answer(const Target& target, std::size_t task, std::size_t index) {
    Random random(options_.seed * 1'000'003 + task * 104'729 + index * 7'919);
    Attempt attempt;
    attempt.task = task;
    attempt.index = index;
    const bool free = index % kAnswers == 0;
    EvaluateOptions options = evaluate_options();
    PlanOptions& plan = options.plan;
    plan.guidance = free                ? (random.chance(50) ? Guidance::kNone : Guidance::kSyntax)
                    : random.chance(50) ? Guidance::kMask
                                        : Guidance::kUniform;
    plan.bridge = random.chance(50) ? Bridge::kUniform : Bridge::kSurrogate;
    plan.tokenization = random.chance(25) ? Tokenization::kAny : Tokenization::kCanonical;
    plan.generate.mode = random.chance(50) ? DecodeMode::kGreedy : DecodeMode::kSample;
    plan.generate.temperature = random.chance(30) ? 4 : 1;
    plan.generate.seed = random.next();
    plan.generate.max_tokens = 40;  // where nothing holds it
    attempt.cell = {to_string(plan.guidance), to_string(plan.generate.mode)};
    const std::shared_ptr<const Vocabulary> words = vocabulary(random, attempt.vocabulary);
    if (plan.tokenization == Tokenization::kAny) attempt.vocabulary += ", any tokens";
    const ModelKind& kind = model_kinds()[random.below(static_cast<std::uint32_t>(model_kinds().size()))];
    attempt.model = kind.name;
    const std::uint64_t number = random.next();
    const std::unique_ptr<LanguageModel> model =
        kind.hostile ? lm::hostile_model(words, number, kind.malice) : random_model(words, number);
    attempt.answer = target.tasks->answer(task, model.get(), words, options);
    return attempt;
  }

  // Half of them bytes, which every text can be written in, the others those of real models, where there are some.
  std::shared_ptr<const Vocabulary> vocabulary(Random& random, std::string& name) {
    const std::vector<std::string>& real = arsenal_.real_names();
    if (real.empty() || random.chance(50)) {
      name = kBytes;
      return bytes_;
    }
    const std::size_t which = random.below(static_cast<std::uint32_t>(real.size()));
    name = real[which];
    return arsenal_.real(which);
  }

  static std::shared_ptr<const Vocabulary> make_bytes() {
    std::vector<std::string> tokens;
    for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
    tokens.emplace_back("");
    return std::make_shared<TableVocabulary>(tokens, std::vector<TokenId>{TokenId{256}});
  }

  // What the scorer says of these answers, at most one to each task.
  static std::map<std::string, TaskScore> score(const Target& target, const std::vector<Response>& responses) {
    std::map<std::string, TaskScore> found;
    for (TaskScore& task : target.tasks->score(responses).tasks) {
      if (task.answered) found.emplace(task.identifier, std::move(task));
    }
    return found;
  }

  void judge(Target& target, std::vector<Attempt> attempts) {
    const std::vector<std::string>& names = target.tasks->identifiers();
    std::vector<Response> made;
    std::vector<Response> searched;
    for (const Attempt& attempt : attempts) {
      auto known = target.searched.find(attempt.task);
      if (known == target.searched.end()) {
        EvaluateOptions options = evaluate_options();
        options.plan.guidance = Guidance::kSearch;
        known =
            target.searched.emplace(attempt.task, target.tasks->answer(attempt.task, nullptr, nullptr, options)).first;
      }
      searched.push_back({names[attempt.task], known->second.output});
      made.push_back({names[attempt.task], attempt.answer.output});
    }
    const std::map<std::string, TaskScore> reachable = score(target, searched);
    const std::map<std::string, TaskScore> scores = score(target, made);
    for (Attempt& attempt : attempts) {
      const std::string& name = names[attempt.task];
      const auto best = reachable.find(name);
      if (best == reachable.end() || !best->second.scored) {
        report_.add_note("not scored by the benchmark", str_cat(target.module->name, " ", name));
        continue;
      }
      const auto found = scores.find(name);
      record(target, attempt, found == scores.end() ? TaskScore{} : found->second, best->second);
    }
  }

  static Finding finding_of(const Attempt& attempt, const TaskScore& score, const TaskScore& best) {
    const Answer& answer = attempt.answer;
    if (!answer.error.empty()) return {Fault::kException, answer.error, 0};
    const bool free = !attempt.cell.guaranteed();
    if (!free &&
        (answer.outcome != "plan" || answer.guarantee != (answer.goals_dropped.empty() ? "full" : "goals dropped")))
      return {Fault::kUnfinished, str_cat(answer.outcome, ", ", answer.guarantee, ": ", answer.reason), 0};
    // Without a guarantee an answer is right when it succeeds, and not when no answer does.
    const bool executable = free || best.executable;
    const double success = free ? 1 : best.success;
    if (score.executable < executable) return {Fault::kStep, str_cat(score.reason, ": ", answer.output), 0};
    // The evaluator of VirtualHome does not count an answer that happens to be the reference plan.
    if (score.success < success && !score.equals_gold)
      return {Fault::kGoal, str_cat(score.reason, ": ", answer.output), 0};
    return {};
  }

  void record(const Target& target, const Attempt& attempt, const TaskScore& score, const TaskScore& best) {
    const Finding finding = finding_of(attempt, score, best);
    Tally tally;
    tally.plans = 1;
    tally.faults[static_cast<std::size_t>(finding.fault)] = 1;
    tally.actions = attempt.answer.steps.size();
    tally.tokens = attempt.answer.tokens;
    tally.model_calls = attempt.answer.model_calls;
    Cell cell = attempt.cell;
    if (!attempt.answer.goals_dropped.empty() && cell.guaranteed()) cell.guidance += ", goals dropped";
    report_.add(str_cat("prompts/", target.module->name), cell, attempt.model, std::string(target.module->format),
                attempt.vocabulary, tally);
    if (cell.guaranteed() && finding.fault != Fault::kNone) {
      report_.add_violation(
          {str_cat("--module ", target.module->name, " --seed ", options_.seed, " --prompt '",
                   target.tasks->identifiers()[attempt.task], "' --index ", attempt.index, " (", cell.guidance, ", ",
                   cell.decode, ", ", attempt.model, ", ", attempt.vocabulary, ")"),
           finding});
    }
  }

  int verdict() const {
    CampaignVerdict verdict(report_, options_, out_of_time());
    Tally free = report_.without("none");
    free += report_.without("syntax");
    verdict.expect(free.plans > 0 && free.valid() * 4 <= free.plans,
                   str_cat(free.valid(), " of ", free.plans, " answers are right without a guarantee"));
    return verdict.status();
  }

  bool out_of_time() const {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - start_;
    return options_.seconds > 0 && since.count() >= options_.seconds;
  }

  Options options_;
  Arsenal arsenal_;
  Report report_;
  std::shared_ptr<const Vocabulary> bytes_ = make_bytes();
  std::vector<Target> targets_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace
}  // namespace metactrl::attack

int main(int count, char** arguments) {
  try {
    return metactrl::attack::Campaign(metactrl::attack::read_options(count, arguments)).run();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
