// Attacks the guarantee: plans by random and hostile models over every task there is, in every guidance and mode, each
// judged by its text alone.
//
//     attack_test --plans 100000 --report attack     # the whole attack; writes attack.md and attack.json
//     attack_test --plans 400 --tasks-per-domain 1 --domains 24     # a slice of it
//     VAL_VALIDATE=~/VAL/bin/Validate attack_test --plans 5000 --val-every 1     # VAL judges all instead of a hundredth
//     attack_test --plans 5000 --task pddl21/ --task wild/     # tasks whose names have one of these in them
//     attack_test --plans 5000 --focus thinking     # mostly by models that think first; goals: that write the goal, too
//     attack_test --task 'ipc/gripper p01.pddl' --seed 1 --index 17     # one plan again, with what is wrong with it
//
// The sets of tasks (domains, household, ipc, ...) get as many plans each: the next ones are of the set that has fewest,
// unless it has used up twice its share of the time, and in a set tasks take turns. A task that makes next to nothing in
// its turn is left out of further ones, and the report says so. Succeeds when as many plans as asked for (with
// --seconds, as there was time for) were made from guidance mask up and none of them breaks anything, and when the same
// models without the guarantee mostly fail: an attack that cannot fail proves nothing.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "attack/arsenal.h"
#include "attack/attacker.h"
#include "attack/campaign.h"
#include "attack/report.h"
#include "attack/tasks.h"
#include "metactrl/error.h"
#include "support/str_cat.h"
#include "support/test_data.h"

namespace metactrl::attack {
namespace {

using internal::str_cat;

struct Options : CampaignOptions {
  std::size_t tasks_per_domain = 0;  // 0: all
  std::size_t domains = 0;           // so many of them, spread evenly over the sets; 0: all
  std::size_t val_every = 100;
  Focus focus = Focus::kAll;
  std::vector<std::string> tasks;  // parts of names, any of which will do; none: all
  std::optional<std::size_t> index;
};

Focus read_focus(const std::string& value) {
  if (value == "thinking") return Focus::kThinking;
  if (value == "goals") return Focus::kGoals;
  throw std::invalid_argument("--focus is thinking or goals");
}

Options read_options(int count, char** arguments) {
  Options options;
  options.plans = 400;
  if (const char* report = std::getenv("METACTRL_ATTACK_REPORT"); report != nullptr) options.report = report;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    if (i + 1 >= count) throw std::invalid_argument(name + " needs a value");
    const std::string value = arguments[++i];
    if (options.take(name, value)) continue;
    if (name == "--tasks-per-domain") {
      options.tasks_per_domain = std::stoul(value);
    } else if (name == "--domains") {
      options.domains = std::stoul(value);
    } else if (name == "--val-every") {
      options.val_every = std::max<std::size_t>(1, std::stoul(value));
    } else if (name == "--focus") {
      options.focus = read_focus(value);
    } else if (name == "--task") {
      options.tasks.push_back(value);
    } else if (name == "--index") {
      options.index = std::stoul(value);
    } else {
      throw std::invalid_argument(str_cat("unknown option ", name, "; known: ", CampaignOptions::kNames,
                                          " --tasks-per-domain --domains --val-every --focus --task --index"));
    }
  }
  return options;
}

class Watch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// The same of the processor's time, so that other work on the machine changes nothing.
class Effort {
 public:
  double seconds() const { return static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC; }

 private:
  std::clock_t start_ = std::clock();
};

class Campaign {
 public:
  explicit Campaign(Options options) : options_(std::move(options)) {}

  int run() {
    select_tasks();
    deal();
    while (made_ < options_.plans && !sets_.empty() && !out_of_time()) turn();
    std::string command = str_cat("attack_test --plans ", options_.plans, " --seed ", options_.seed);
    if (options_.tasks_per_domain > 0) command += str_cat(" --tasks-per-domain ", options_.tasks_per_domain);
    if (options_.domains > 0) command += str_cat(" --domains ", options_.domains);
    if (options_.val_every != 100) command += str_cat(" --val-every ", options_.val_every);
    command += to_string(options_.focus);
    for (const std::string& task : options_.tasks) command += str_cat(" --task '", task, "'");
    if (options_.seconds > 0) command += str_cat(" --seconds ", static_cast<int>(options_.seconds));
    publish(report_, options_, command, effort_.seconds());
    return verdict();
  }

  // One plan, for a person.
  int run_one() {
    select_tasks();
    if (targets_.size() != 1) throw std::invalid_argument(str_cat(targets_.size(), " tasks have such a name"));
    Attacker attacker(targets_[0].files, targets_[0].number, attacker_options(), arsenal_, report_);
    attacker.attack(*options_.index);
    std::cout << report_.markdown("one plan", watch_.seconds());
    return report_.violations().empty() ? 0 : 1;
  }

 private:
  Attacker::Options attacker_options() const { return {options_.seed, options_.val_every, options_.focus}; }

  struct Target {
    TaskFiles files;
    std::size_t number = 0;
    std::size_t next_index = 0;
    std::size_t made = 0;
    bool known = false;  // was attacked before
    bool done = false;   // gives no more plans, or takes too long
  };

  struct Set {
    std::deque<Target> waiting;
    std::size_t made = 0;
    double seconds = 0;
  };

  bool is_wanted(const std::string& name) const {
    return options_.tasks.empty() ||
           std::any_of(options_.tasks.begin(), options_.tasks.end(),
                       [&](const std::string& part) { return name.find(part) != std::string::npos; });
  }

  // The numbers of tasks stay what they are when only some are selected.
  void select_tasks() {
    const TaskList list = find_tasks(testing::source_dir(), testing::data_dir());
    for (const std::string& missing : list.missing) {
      std::cerr << missing << '\n';
      report_.add_note("not there", missing);
    }
    if (arsenal_.real_names().empty()) {
      std::cerr << "no vocabularies of real models; run scripts/llama --vocabularies, or set METACTRL_VOCABS\n";
      report_.add_note("not there", "vocabularies of real models");
    }
    const std::set<std::string> domains = select_domains(list);
    std::map<std::string, std::size_t> per_domain;
    for (std::size_t i = 0; i < list.tasks.size(); ++i) {
      if (!domains.contains(list.tasks[i].family)) continue;
      if (!is_wanted(list.tasks[i].name())) continue;
      if (options_.tasks_per_domain > 0 && ++per_domain[list.tasks[i].family] > options_.tasks_per_domain) continue;
      targets_.push_back({list.tasks[i], i});
    }
  }

  // Runs that end early begin with different tasks of each set.
  void deal() {
    for (const Target& target : targets_) sets_[set_of(target.files.family)].waiting.push_back(target);
    for (auto& [name, set] : sets_) {
      const auto first = static_cast<std::ptrdiff_t>(options_.seed * 7'919 % set.waiting.size());
      std::rotate(set.waiting.begin(), set.waiting.begin() + first, set.waiting.end());
    }
  }

  // As many of each set, spread evenly over it.
  std::set<std::string> select_domains(const TaskList& list) const {
    std::map<std::string, std::set<std::string>> sets;
    for (const TaskFiles& task : list.tasks) sets[set_of(task.family)].insert(task.family);
    std::set<std::string> some;
    std::size_t place = 0;
    for (const auto& [name, all] : sets) {
      const std::size_t share = options_.domains * (place + 1) / sets.size() - options_.domains * place / sets.size();
      const std::size_t wanted = options_.domains == 0 ? all.size() : std::min(share, all.size());
      std::size_t number = 0;
      for (const std::string& domain : all) {
        if (number * wanted / all.size() < (number + 1) * wanted / all.size()) some.insert(domain);
        ++number;
      }
      ++place;
    }
    return some;
  }

  bool out_of_time() const { return options_.seconds > 0 && watch_.seconds() >= options_.seconds; }

  // One that has fewest plans. There is always one that has not used up twice its share.
  std::map<std::string, Set>::iterator next_set() {
    double seconds = 0;
    for (const auto& [name, set] : sets_) seconds += set.seconds;
    const double most = 2 * seconds / static_cast<double>(sets_.size());
    auto next = sets_.end();
    for (auto set = sets_.begin(); set != sets_.end(); ++set) {
      if (set->second.seconds > most) continue;
      if (next == sets_.end() || set->second.made < next->second.made) next = set;
    }
    return next;
  }

  // The first turns of a task are short: they show every domain, and which tasks are slow.
  void turn() {
    const auto next = next_set();
    Set& set = next->second;
    Target target = std::move(set.waiting.front());
    set.waiting.pop_front();
    const std::size_t tasks = set.waiting.size() + 1;
    const std::size_t share = (options_.plans - made_ + sets_.size() * tasks - 1) / (sets_.size() * tasks);
    const Effort effort;
    const std::size_t before = made_;
    attack(target, std::clamp<std::size_t>(share, 1, target.known ? 200 : 30), tasks > 1);
    set.made += made_ - before;
    set.seconds += effort.seconds();
    if (!target.done) set.waiting.push_back(std::move(target));
    if (set.waiting.empty()) sets_.erase(next);
  }

  // `others`: there are more tasks of its set.
  void attack(Target& target, std::size_t quota, bool others) {
    // Some times the share of a run that should take a quarter of an hour. The only one that was asked for has all the
    // time.
    const bool limited = targets_.size() > 1;
    const double slice = limited ? 1 + 0.015 * static_cast<double>(quota) : std::numeric_limits<double>::infinity();
    const Effort effort;
    std::unique_ptr<Attacker> attacker;
    try {
      attacker = std::make_unique<Attacker>(target.files, target.number, attacker_options(), arsenal_, report_);
    } catch (const InputError& error) {
      const std::string what = error.what();
      report_.add_note("refused by the loader", target.files.name() + ": " + what.substr(0, what.find('\n')));
      target.done = true;
      return;
    }
    if (!target.known) report_.add_task(target.files.family);
    target.known = true;
    std::size_t made = 0;
    while (made < quota && attacker->promising() && effort.seconds() < slice && !out_of_time()) {
      if (attacker->attack(target.next_index++, [&] { return effort.seconds() >= slice || out_of_time(); })) ++made;
      if (made_ + made >= options_.plans) break;
      show_progress(made_ + made, target.files.name());
    }
    made_ += made;
    target.made += made;
    if (!attacker->promising()) target.done = true;
    const bool slow = made == 0 || (others && made * 10 < quota);
    if (effort.seconds() >= slice && slow && !out_of_time()) {
      target.done = true;
      report_.add_note("slow, so with fewer plans", str_cat(target.files.name(), ": ", target.made));
    }
  }

  void show_progress(std::size_t made, const std::string& task) {
    if (watch_.seconds() < next_line_) return;
    next_line_ = watch_.seconds() + 15;
    const double rate = static_cast<double>(made) / watch_.seconds();
    std::cerr << str_cat(grouped(made), " of ", grouped(options_.plans), " plans, ", static_cast<int>(rate),
                         " a second, ",
                         rate > 0 ? static_cast<int>(static_cast<double>(options_.plans - made) / rate) : 0,
                         " s left, ", report_.violations().size(), " violations; ", task, "\n");
  }

  int verdict() const {
    CampaignVerdict verdict(report_, options_, out_of_time());
    const Tally all = report_.guaranteed();
    const Tally none = report_.without("none");
    const Tally syntax = report_.without("syntax");
    verdict.expect(none.valid() * 20 <= none.plans,
                   str_cat(none.valid(), " of ", none.plans, " plans are valid without guidance"));
    verdict.expect(syntax.valid() * 2 <= syntax.plans,
                   str_cat(syntax.valid(), " of ", syntax.plans, " plans are valid with guidance syntax"));
    if (options_.plans >= 100) {
      verdict.expect(none.plans > 0 && syntax.plans > 0, "nothing was made without a guarantee to compare with");
    }
    std::cerr << str_cat(grouped(all.plans), " plans with a guarantee, ", grouped(all.violations()), " violations; ",
                         static_cast<int>(watch_.seconds()), " s, ", static_cast<int>(effort_.seconds()),
                         " s of them computing\n");
    return verdict.status();
  }

  Options options_;
  Arsenal arsenal_;
  Report report_;
  std::vector<Target> targets_;      // those that were selected
  std::map<std::string, Set> sets_;  // with what can still be attacked
  std::size_t made_ = 0;             // with a guarantee
  Watch watch_;
  Effort effort_;
  double next_line_ = 15;
};

int run(int count, char** arguments) {
  const Options options = read_options(count, arguments);
  Campaign campaign(options);
  return options.index ? campaign.run_one() : campaign.run();
}

}  // namespace
}  // namespace metactrl::attack

int main(int count, char** arguments) {
  try {
    return metactrl::attack::run(count, arguments);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
