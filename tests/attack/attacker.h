// One task under attack: everything is compiled once, then plans are made, one per index.
//
// A plan is a function of (task, seed, index): setting, guidance, bridge, mode, model, temperature and the rest are
// drawn from them, so that a failure can be made again.
#ifndef METACTRL_TESTS_ATTACK_ATTACKER_H_
#define METACTRL_TESTS_ATTACK_ATTACKER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attack/arsenal.h"
#include "attack/judge.h"
#include "attack/report.h"
#include "attack/tasks.h"
#include "metactrl/constraint.h"
#include "metactrl/decoder.h"
#include "metactrl/goal.h"
#include "metactrl/planner.h"
#include "support/random.h"

namespace metactrl::attack {

// What most plans should come from, where the vocabulary is no real model's; now and then.
enum class Focus : std::uint8_t { kAll, kThinking, kGoals };

// The option for it: " --focus goals".
std::string to_string(Focus focus);

class Attacker {
 public:
  struct Options {
    std::uint64_t seed = 1;
    std::size_t val_every = 100;  // VAL judges one of so many plans
    Focus focus = Focus::kAll;
  };
  // Throws InputError when the task cannot be loaded. `number` varies formats and vocabularies from task to task.
  Attacker(const TaskFiles& files, std::size_t number, const Options& options, Arsenal& arsenal, Report& report);
  ~Attacker();
  Attacker(const Attacker&) = delete;
  Attacker& operator=(const Attacker&) = delete;

  // Makes and judges one plan; true when it had a guarantee. A setting that is not solvable gives none, and neither
  // does an attempt that `hurry` ends: it is asked while tokens are decoded, and what was decoded is thrown away.
  bool attack(std::size_t index, const std::function<bool()>& hurry = {});
  // False when no setting can give a plan (known after each was tried).
  bool promising() const;

 private:
  struct Way;
  struct Setting {
    bool tried = false;
    bool solvable = false;
    std::string format;
    std::string vocabulary_name;
    bool real = false;
    std::shared_ptr<const Vocabulary> vocabulary;
    std::shared_ptr<const Constraint> constraint;
    ConstraintOptions options;
    std::optional<Hmm> token_hmm;  // where the bridge can be one
    // Mask and syntax go with every lookahead, and of these one.
    Guidance weighted() const { return options.lookahead.hmm ? Guidance::kTrained : Guidance::kUniform; }
  };
  struct Attempt {
    Cell cell;
    std::string model = "none";
    Finding finding;
    Tally tally;
    bool cancelled = false;
  };
  static constexpr std::size_t kSettings = 5;

  void prepare(std::size_t number);
  void compile(Setting& setting, std::size_t number);
  void refuse(Setting& setting, const Lookahead& lookahead);
  void expect_nothing(const Setting& setting);
  void drop_goals(const Setting& setting);
  Attempt make(const Setting& setting, std::size_t index);
  // Whether the plan `index` comes from this, of which there is one in `period` where nothing is asked for.
  bool takes(const Setting& setting, Focus focus, std::size_t index, std::size_t period) const;
  void make_by_model(const Setting& setting, const Way& way, std::size_t index, testing::Random& random,
                     Attempt& attempt);
  void stumble(const Setting& setting, const Way& way, testing::Random& random, Attempt& attempt);
  void search(const Setting& setting, Attempt& attempt);
  void call_planner(const Setting& setting, std::size_t index, testing::Random& random, Attempt& attempt);
  void think(const Setting& setting, std::size_t index, testing::Random& random, Attempt& attempt);
  void write_goals(const Setting& setting, std::size_t index, testing::Random& random, Attempt& attempt);
  PlanOptions planner_options(const Setting& setting, std::size_t index, testing::Random& random) const;
  void judge_result(const Setting& setting, const PlanResult& result, Attempt& attempt);
  void judge(const Setting& setting, const Generation& generation, Attempt& attempt);
  void judge_times(const std::vector<PlanStep>& steps, Attempt& attempt);
  void judge_particles(const Setting& setting, const Generation& generation, Attempt& attempt) const;
  void record(const Setting& setting, Attempt attempt, const std::string& where);
  // Ends what it watches over, and says so in the attempt, when there is no time left.
  Observer in_a_hurry(Attempt& attempt) const;
  std::string where(std::size_t index) const;

  TaskFiles files_;
  std::size_t number_;
  std::uint64_t seed_;
  Focus focus_;
  Arsenal& arsenal_;
  Report& report_;
  std::string val_;
  std::size_t val_every_;
  bool val_was_silent_ = false;
  Task task_;
  Judge judge_;
  std::optional<GoalProblem> goal_problem_;
  std::shared_ptr<const Vocabulary> goal_words_;  // of which none joins a prompt with what is written behind it
  std::vector<std::string> formats_;              // that can write the task's plans
  std::array<Setting, kSettings> settings_;
  std::size_t judged_ = 0;
  std::function<bool()> hurry_;
};

}  // namespace metactrl::attack

#endif  // METACTRL_TESTS_ATTACK_ATTACKER_H_
