// Counting what the attacks did, and telling it.
#ifndef METACTRL_TESTS_ATTACK_REPORT_H_
#define METACTRL_TESTS_ATTACK_REPORT_H_

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "attack/judge.h"

namespace metactrl::attack {

// One way to make a plan.
struct Cell {
  std::string guidance;  // "none", "syntax", "mask", "uniform", "uniform/surrogate", "search", ...
  std::string decode;    // "greedy", "sample", "beam", "smc", "stumble", "-"
  bool guaranteed() const { return guidance != "none" && guidance != "syntax"; }
};

struct Tally {
  std::size_t plans = 0;
  std::array<std::size_t, kNumFaults> faults{};  // by Fault; kNone counts what is valid
  std::size_t actions = 0;
  std::size_t tokens = 0;
  std::size_t model_calls = 0;
  std::size_t particles = 0;  // judged besides the plan itself
  std::size_t asked_val = 0;

  std::size_t valid() const { return faults[0]; }
  std::size_t violations() const { return plans - faults[0]; }
  Tally& operator+=(const Tally& other);
};

struct Violation {
  std::string where;  // enough to make the plan again
  Finding finding;
};

class Report {
 public:
  // `model` and `setting` (format and vocabulary) have tables of their own.
  void add(const std::string& family, const Cell& cell, const std::string& model, const std::string& format,
           const std::string& vocabulary, const Tally& tally);
  // A plan with a guarantee that does not hold. The first hundred are kept.
  void add_violation(Violation violation);
  // A task that gave no plans, under a heading such as "undecided"; the same text counts once.
  void add_note(const std::string& heading, const std::string& text);
  void add_task(const std::string& family) { ++tasks_[family]; }

  Tally guaranteed() const;                          // all cells from mask up
  Tally without(const std::string& guidance) const;  // one guidance, all of the rest
  const std::vector<Violation>& violations() const { return violations_; }

  // `command` and `seconds` are said at the top.
  std::string markdown(const std::string& command, double seconds) const;
  std::string json(const std::string& command, double seconds) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // family, guidance, decode
  std::map<Key, Tally> cells_;
  std::map<std::pair<std::string, std::string>, Tally> models_;  // model, guarantee or the lack of it
  std::map<std::string, Tally> formats_;
  std::map<std::string, Tally> vocabularies_;
  std::map<std::string, std::size_t> tasks_;
  std::map<std::string, std::vector<std::string>> notes_;
  std::vector<Violation> violations_;
};

// What a family of tasks belongs to: "ipc", or of what has parts of several kinds one of them, "pddl21/temporal".
std::string set_of(const std::string& family);

// "12,345"
std::string grouped(std::size_t number);

}  // namespace metactrl::attack

#endif  // METACTRL_TESTS_ATTACK_REPORT_H_
