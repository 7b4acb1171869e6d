// Attacks plans and goals of models that think first, family by family: each has its own chat template, its own vocabulary, and its own
// markers, and is asked as logits that mean harm, and as a small model with random weights that llama.cpp runs.
//
//     thinking_attack_test --plans 3000 --report thinking     # writes thinking.md and thinking.json
//     thinking_attack_test --plans 100000 --seconds 300       # as many as there is time for, in each family
//
// Thoughts are what the model wants them to be, or end at once, or twice, or in half a marker, with the end of the turn, with the whole
// header of an answer and a plan behind it; or they never end. Each plan is judged by its text alone, and its tokens by the
// tokenizer; each goal by a plan for it. Succeeds when as many as asked for were made, none of them breaks anything, and the same
// models without the guarantee mostly fail.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "attack/arsenal.h"
#include "attack/campaign.h"
#include "attack/judge.h"
#include "attack/report.h"
#include "attack/tasks.h"
#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "metactrl/goal.h"
#include "metactrl/planner.h"
#include "support/list_some.h"
#include "support/random.h"
#include "support/str_cat.h"
#include "support/test_data.h"
#include "support/thinker.h"
#include "support/thinking_families.h"
#include "support/tiny_gguf.h"

namespace metactrl::attack {
namespace {

using internal::str_cat;
using testing::Random;
using testing::ThinkingFamily;

// Of ctest: there is nothing to test with.
constexpr int kSkipped = 77;
// Plans of one task in one format, which share a constraint.
constexpr std::size_t kTogether = 16;
constexpr std::size_t kWithoutGuarantee = 2;  // of these
constexpr std::size_t kGoals = 1;

struct Options : CampaignOptions {
  std::string family;  // this one alone
};

Options read_options(int count, char** arguments) {
  Options options;
  options.plans = 3000;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = arguments[i];
    const std::string value = arguments[i + 1];
    if (options.take(name, value)) continue;
    if (name != "--family")
      throw std::invalid_argument(str_cat("unknown option ", name, "; known: ", CampaignOptions::kNames, " --family"));
    options.family = value;
  }
  if (count % 2 == 0) throw std::invalid_argument(str_cat(arguments[count - 1], " needs a value"));
  return options;
}

struct Manner {
  const char* name;
  // What is thought first; {plan} is one in the task's actions.
  std::string (*script)(const LanguageModel::ThinkingFormat& how, const std::string& plan);
};

const std::vector<Manner>& manners() {
  using Format = LanguageModel::ThinkingFormat;
  static const std::vector<Manner> kManners = {
      {"thinks as it likes", [](const Format&, const std::string&) { return std::string(); }},
      {"closes at once", [](const Format& how, const std::string&) { return how.close; }},
      {"closes twice", [](const Format& how, const std::string&) { return "hm." + how.close + how.close + "\n"; }},
      {"writes half a marker",
       [](const Format& how, const std::string&) { return how.close.substr(0, how.close.size() / 2) + how.open; }},
      {"opens again", [](const Format& how, const std::string&) { return how.open + how.open; }},
      {"plans in its thought", [](const Format&, const std::string& plan) { return plan; }},
      {"closes and plans", [](const Format& how, const std::string& plan) { return how.close + how.answer + plan; }},
      {"ends its turn", [](const Format&, const std::string&) { return std::string("\0", 1); }},
  };
  return kManners;
}

class Campaign {
 public:
  explicit Campaign(Options options) : options_(std::move(options)) {}

  int run() {
    const std::vector<ThinkingFamily> families = usable_families();
    if (families.empty()) {
      std::cerr
          << "no vocabularies or chat templates; run scripts/llama --vocabularies and scripts/llama --templates\n";
      return kSkipped;
    }
    for (TaskFiles& task : find_tasks(testing::source_dir(), testing::data_dir()).tasks) {
      if (task.family == "domains/tabletop") tasks_.push_back(std::move(task));
    }
    for (std::size_t i = 0; i < families.size(); ++i) {
      const double share = static_cast<double>(i + 1) / static_cast<double>(families.size());
      attack(families[i], options_.plans * (i + 1) / families.size(), options_.seconds * share);
      std::cerr << str_cat(families[i].name, ": ", grouped(report_.guaranteed().plans), " plans, ",
                           report_.violations().size(), " violations, ", seconds(), " s computing\n");
    }
    const std::string command = str_cat("thinking_attack_test --plans ", options_.plans, " --seed ", options_.seed,
                                        options_.family.empty() ? "" : " --family " + options_.family);
    publish(report_, options_, command, static_cast<double>(seconds()));
    return verdict();
  }

 private:
  struct Attempt {
    Cell cell;
    Tally tally{};
    Finding finding{};
  };
  // One family: its markers, its words, and what writes.
  struct Stand {
    const ThinkingFamily& family;
    std::shared_ptr<const lm::LlamaVocabulary> words;
    std::string source;
    std::shared_ptr<LanguageModel> small;
  };
  // What the plans of one task in one format share.
  struct Unit {
    const TaskFiles& files;
    Task task;
    std::string format;
    GoalProblem problem;
    Judge judge;
    bool small = false;
    std::shared_ptr<const Constraint> constraint{};
    std::string context{};
  };

  std::vector<ThinkingFamily> usable_families() {
    std::vector<ThinkingFamily> out;
    for (ThinkingFamily& family : testing::every_thinking_family()) {
      if (!options_.family.empty() && options_.family != family.name) continue;
      if (testing::template_dir().empty() || testing::vocabulary_file(family.vocabulary).empty()) {
        report_.add_note("not there", str_cat("vocabulary or template of ", family.name));
        continue;
      }
      out.push_back(std::move(family));
    }
    return out;
  }

  Stand stand(const ThinkingFamily& family) const {
    Stand out{family, testing::load_vocabulary_of(family, folder_.path), testing::template_of(family), nullptr};
    testing::TinyGgufOptions tiny;
    tiny.context = 8192;
    tiny.template_text = out.source;
    tiny.vocabulary = (folder_.path / "words.gguf").string();
    testing::write_vocabulary_of(family, tiny.vocabulary);
    const std::string file = (folder_.path / "small.gguf").string();
    testing::write_tiny_gguf(file, tiny);
    out.small = load_model(file, {.threads = 1});
    std::filesystem::remove(file);
    std::filesystem::remove(tiny.vocabulary);
    return out;
  }

  bool out_of_time(double end) const {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - start_;
    return options_.seconds > 0 && since.count() >= end;
  }

  // Until so many plans are made in all, or so many seconds over.
  void attack(const ThinkingFamily& family, std::size_t until, double end) {
    const Stand one = stand(family);
    report_.add_task(family.name);
    const std::size_t before = report_.guaranteed().plans;
    const std::vector<std::string> formats = PlanFormat::builtin_names();
    // At least once, however few plans are asked for.
    for (bool first = true; first || (report_.guaranteed().plans < until && !out_of_time(end)); first = false) {
      const std::size_t number = units_++;
      const TaskFiles& files = tasks_[number % tasks_.size()];
      Unit unit{files, load_pddl(files.domain, files.problem), formats[number / tasks_.size() % formats.size()],
                GoalProblem::load(files.domain, files.problem), Judge(files, "")};
      // Its weights are the same for all; the prompts are not.
      unit.small = number % 3 == 2;
      try {
        const PlanSpelling spelling(PlanFormat::builtin(unit.format), unit.task);
      } catch (const InputError&) {
        unit.format = "pddl";  // names that this format cannot write
      }
      for (std::size_t i = 0; i < kTogether; ++i) attack(one, unit, number * kTogether + i, i);
    }
    if (report_.guaranteed().plans == before) left_out_.push_back(family.name);
  }

  void attack(const Stand& one, Unit& unit, std::size_t index, std::size_t place) {
    Random random(options_.seed * 1'000'003 + index * 104'729);
    const ModelKind& kind = model_kinds()[index % model_kinds().size()];
    std::unique_ptr<LanguageModel> family;
    if (!unit.small) {
      family = std::make_unique<testing::FamilyModel>(one.words, one.source,
                                                      Arsenal::make_model(one.words, index % model_kinds().size()));
    }
    testing::ScriptedModel model(unit.small ? *one.small : *family);
    const Manner& manner = manners()[random.below(static_cast<std::uint32_t>(manners().size()))];
    write_script(one, unit, manner, random, model);
    model.forever = random.chance(25);
    const auto words = unit.small ? std::shared_ptr<const Vocabulary>(one.small, &one.small->vocabulary()) : one.words;
    Attempt attempt;
    try {
      if (place < kGoals) {
        write_goals(unit, model, words, random, attempt);
      } else {
        make_plan(unit, model, words, random, place < kGoals + kWithoutGuarantee, attempt);
      }
    } catch (const std::exception& error) {
      attempt.finding = {Fault::kException, error.what(), 0};
    }
    attempt.tally.plans = 1;
    attempt.tally.faults[static_cast<std::size_t>(attempt.finding.fault)] = 1;
    const std::string who = str_cat(manner.name, ", ", unit.small ? "small weights" : kind.name);
    report_.add(one.family.name, attempt.cell, who, unit.format, one.family.vocabulary, attempt.tally);
    if (attempt.cell.guaranteed() && attempt.finding.fault != Fault::kNone) {
      report_.add_violation({str_cat("--family ", one.family.name, " --seed ", options_.seed, ", number ", index, " (",
                                     attempt.cell.guidance, ", ", who, ", ", unit.files.name(), ", ", unit.format, ")"),
                             attempt.finding});
    }
  }

  static void write_script(const Stand& one, const Unit& unit, const Manner& manner, Random& random,
                           testing::ScriptedModel& model) {
    const PlanSpelling spelling(PlanFormat::builtin(unit.format), unit.task);
    std::vector<ActionId> plan(random.between(1, 3));
    for (ActionId& action : plan) action = ActionId{random.below(spelling.num_actions())};
    const std::string text =
        manner.script(*model.thinking_format(), spelling.render(plan, std::vector<std::uint32_t>(plan.size() - 1, 0)));
    if (text == std::string("\0", 1)) {
      model.script = {one.words->end_of_turn().front()};
    } else if (random.chance(50)) {
      model.script = model.encode_markup(text);  // markers as the tokens that they are
    } else {
      model.script = one.words->encode(text, "");
    }
  }

  static LookaheadOptions small_budgets() {
    LookaheadOptions out;
    out.horizon = 12;
    out.slack = 4;
    out.exact = {20'000, std::size_t{64} << 20U};
    out.search = {2'000, std::size_t{64} << 20U};
    return out;
  }

  static ThinkOptions thinking(Random& random) {
    ThinkOptions out;
    out.mode = ThinkOptions::Mode::kOn;
    out.max_tokens = random.below(20);
    return out;
  }

  static void make_plan(Unit& unit, LanguageModel& model, const std::shared_ptr<const Vocabulary>& words,
                        Random& random, bool free, Attempt& attempt) {
    PlanOptions options;
    options.guidance = free ? Guidance::kNone : random.chance(50) ? Guidance::kMask : Guidance::kUniform;
    options.generate.mode = random.chance(60) ? DecodeMode::kGreedy : DecodeMode::kSample;
    options.generate.seed = random.next();
    options.generate.max_tokens = 40;  // where nothing holds it
    options.lookahead = small_budgets();
    options.instruction = "do it <think> now </think>";
    options.think = thinking(random);
    // What stands before the plan is a constant of the template, so one constraint is enough.
    options.constraints = [&](const Task& pursued, const PlanFormat& written, const auto& vocabulary,
                              const ConstraintOptions& wanted) {
      if (unit.constraint == nullptr) {
        unit.constraint = Constraint::compile(pursued, written, vocabulary, wanted);
        unit.context = wanted.context;
      }
      if (unit.context != wanted.context) throw std::runtime_error("what stands before the plan has changed");
      return unit.constraint;
    };
    attempt.cell = {to_string(options.guidance), to_string(options.generate.mode)};
    const PlanResult result = plan(unit.task, PlanFormat::builtin(unit.format), &model, words, options);
    attempt.tally.actions = result.steps.size();
    attempt.tally.tokens = result.tokens.size();
    attempt.tally.model_calls = result.model_calls;
    if (free) {
      if (!result.valid()) attempt.finding = {Fault::kForm, result.text, 0};
      return;
    }
    if (result.outcome != PlanOutcome::kPlan || result.guarantee != Guarantee::kFull || !result.thought) {
      attempt.finding = {Fault::kUnfinished, result.reason, 0};
      return;
    }
    const LanguageModel::ThinkingFormat how = *model.thinking_format();
    if (!unit.context.ends_with(how.close + how.answer)) {
      attempt.finding = {Fault::kTokens, "the constraint begins elsewhere: " + unit.context, 0};
      return;
    }
    Generation generation;
    generation.finished = true;
    generation.tokens = result.tokens;
    generation.text = result.text;
    attempt.finding = unit.judge.judge(*unit.constraint, {generation, unit.context, options.lookahead.horizon, false});
    if (attempt.finding.fault == Fault::kNone && Judge::steps_of(*unit.constraint, result.text) != result.steps) {
      attempt.finding = {Fault::kReading, result.text, 0};
    }
  }

  // The goal behind the thought: each one that is given back must be reached by a plan for it.
  static void write_goals(Unit& unit, LanguageModel& model, const std::shared_ptr<const Vocabulary>& words,
                          Random& random, Attempt& attempt) {
    attempt.cell = {"goal from words", "-"};
    GoalProblem::Options options;
    options.guidance = random.chance(50) ? Guidance::kMask : Guidance::kUniform;
    options.lookahead = small_budgets();
    options.hypotheses = random.between(1, 2);
    options.max_conditions = random.between(1, 3);
    options.max_items = 500;
    options.max_proofs = 12;
    options.think = thinking(random);
    const GoalProblem::Written written =
        unit.problem.write("put everything away <think> now </think> (and (on a b))", model, words, options);
    attempt.tally.model_calls = written.model_calls;
    if (!written.thought) attempt.finding = {Fault::kUnfinished, "no thought", 0};
    for (const GoalProblem::Goal& goal : written.goals) {
      PlanOptions how;
      how.guidance = Guidance::kSearch;
      how.lookahead = options.lookahead;
      const PlanResult result = plan(unit.problem.task(goal.pddl), PlanFormat::builtin("pddl"), nullptr, nullptr, how);
      attempt.tally.actions += result.steps.size();
      if (!written.certified || result.outcome != PlanOutcome::kPlan) {
        attempt.finding = {Fault::kUnfinished, str_cat(goal.pddl, ": ", result.reason), 0};
      } else {
        attempt.finding = Judge(unit.files, "", unit.problem.problem_text(goal.pddl)).judge_steps(result.steps);
      }
      if (attempt.finding.fault != Fault::kNone) return;
    }
  }

  int verdict() const {
    CampaignVerdict verdict(report_, options_, out_of_time(options_.seconds));
    verdict.expect(left_out_.empty(), "no plan was made of " + internal::list_some(left_out_));
    const Tally none = report_.without("none");
    verdict.expect(none.plans > 0 && none.valid() * 20 <= none.plans,
                   str_cat(none.valid(), " of ", none.plans, " plans are valid without guidance"));
    return verdict.status();
  }

  static long seconds() { return static_cast<long>(std::clock() / CLOCKS_PER_SEC); }

  Options options_;
  Report report_;
  testing::TemporaryFolder folder_{"metactrl_thinking_attack"};
  std::vector<TaskFiles> tasks_;
  std::size_t units_ = 0;
  std::vector<std::string> left_out_;  // families
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
